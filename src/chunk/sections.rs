//! The structure of a text: sections under headings, and the paragraphs in them.

use std::ops::Range;

use super::plain_headings::{PlainHeading, plain_heading, rule};
use super::setext::{UnderlinedHeading, underlined_heading};
use crate::text::shortened;

/// Characters of a heading in the section of a passage at most. The text has it whole.
pub const HEADING_CHARS_MAX: usize = 160;
/// Spaces before a heading at most.
const INDENT_MAX: usize = 3;
/// Paragraphs that are handed over together: a section with more comes in parts.
const PARAGRAPHS_MAX: usize = 1 << 20;

/// Paragraphs under one heading, or a part of very many.
#[derive(Debug, PartialEq)]
pub(super) struct Section {
    /// The headings above, outermost first, none longer than it may be.
    pub(super) path: Vec<String>,
    /// Lines of the headings that open it; more than one where a heading has no text of its own.
    pub(super) headings: Vec<Range<usize>>,
    /// Its paragraphs, trimmed.
    pub(super) paragraphs: Vec<Range<usize>>,
}

/// The sections of a text that have something in them, in order.
pub(super) struct Sections<'a> {
    text: &'a str,
    /// Where the next line begins.
    at: usize,
    /// Whether headings open no more sections.
    is_flat: bool,
    /// Headings that are shortened in the sections of passages.
    pub(super) cut: u64,
    /// Levels and texts of the headings above.
    path: Vec<(usize, String)>,
    headings: Vec<Range<usize>>,
    paragraphs: Vec<Range<usize>>,
    /// The lines of the paragraph that is being read.
    open: Option<Range<usize>>,
    /// What counts as a heading.
    headings_are: Headings,
    /// What ends the fenced block that is being read: inside, neither blank lines nor number signs say anything.
    fence: Option<&'static str>,
}

/// What counts as a heading of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Headings {
    /// Each line of the form.
    All,
    /// These, and paragraphs that are underlined.
    Markdown,
    /// Those that stand alone between blank lines: in plain text, others are comments. So do those that plain text has
    /// of its own.
    Apart,
}

impl<'a> Sections<'a> {
    pub(super) fn of(text: &'a str, headings_are: Headings) -> Self {
        Self {
            text,
            at: 0,
            is_flat: false,
            cut: 0,
            path: Vec::new(),
            headings: Vec::new(),
            paragraphs: Vec::new(),
            open: None,
            fence: None,
            headings_are,
        }
    }

    /// Lets no heading open a section from here on: each is a paragraph.
    pub(super) fn ignore_headings(&mut self) {
        self.is_flat = true;
        self.path.clear();
    }

    /// Reads a line; returns the section that it ends, if it ends one.
    fn read(&mut self, line: &str, start: usize) -> Option<Section> {
        let span = start..start + line.len();
        let is_fenced = self.fence.is_some();
        if let Some(mark) = self.fence_mark(line) {
            self.fence = if is_fenced { None } else { Some(mark) };
        } else if !is_fenced && line.trim().is_empty() {
            self.end_paragraph();
            return (self.paragraphs.len() >= PARAGRAPHS_MAX).then(|| self.end_section()).flatten();
        } else if let Some((level, heading)) = heading(line).filter(|_| !is_fenced && self.may_be_heading()) {
            return self.read_heading(level, heading, span);
        } else if let Some((UnderlinedHeading { level, text, .. }, first)) = self.underlined_heading(line) {
            return self.read_heading(level, &text, first..span.end);
        } else if let Some((PlainHeading { level, text, .. }, span)) = self.plain_heading(start) {
            self.at = span.end;
            return self.read_heading(level, &text, span);
        }
        let first = self.open.as_ref().map_or(start, |open| open.start);
        self.open = Some(first..span.end);
        None
    }

    /// Returns the mark of a line that begins a fenced block, or ends the one that is being read.
    fn fence_mark(&self, line: &str) -> Option<&'static str> {
        let marks = if self.headings_are == Headings::Markdown { &["```", "~~~"][..] } else { &["```"] };
        let mark = marks.iter().find(|mark| line.trim_start().starts_with(**mark))?;
        self.fence.is_none_or(|open| open == *mark).then_some(mark)
    }

    /// Returns the heading of Markdown that the line that is read underlines, and where it begins: the rest above is
    /// left open.
    fn underlined_heading(&mut self, line: &str) -> Option<(UnderlinedHeading, usize)> {
        let open = self.open.clone().filter(|_| self.headings_are == Headings::Markdown && self.fence.is_none())?;
        let heading = underlined_heading(self.text.get(open.clone())?, line)?;
        let first = open.start + heading.start;
        self.open = (first > open.start).then_some(open.start..first);
        Some((heading, first))
    }

    /// Returns whether the line that is read may be a heading, by where it stands.
    fn may_be_heading(&self) -> bool {
        if self.headings_are != Headings::Apart {
            return true;
        }
        let rest = self.text.get(self.at..).unwrap_or_default();
        self.open.is_none() && rest.split('\n').next().is_none_or(|line| line.trim().is_empty())
    }

    /// Returns the heading of plain text that begins at `start`, with all of its lines and the rule above it.
    fn plain_heading(&mut self, start: usize) -> Option<(PlainHeading, Range<usize>)> {
        if self.headings_are != Headings::Apart || self.fence.is_some() {
            return None;
        }
        let is_first = self.path.is_empty() && self.paragraphs.is_empty() && self.open.is_none();
        let below = match &self.open {
            Some(open) => Some(rule(self.text.get(open.clone())?)?),
            None => None,
        };
        let rest = self.text.get(start..)?;
        let heading = plain_heading(rest, below, is_first)?;
        let length: usize = rest.split_inclusive('\n').take(heading.lines).map(str::len).sum();
        let first = self.open.take().map_or(start, |open| open.start);
        Some((heading, first..start + length))
    }

    fn read_heading(&mut self, level: usize, heading: &str, line: Range<usize>) -> Option<Section> {
        self.end_paragraph();
        if self.is_flat {
            self.paragraphs.extend(trimmed(self.text, line));
            return (self.paragraphs.len() >= PARAGRAPHS_MAX).then(|| self.end_section()).flatten();
        }
        let before = if self.paragraphs.is_empty() { None } else { self.end_section() };
        self.path.retain(|(above, _)| *above < level);
        let heading = match shortened(heading, HEADING_CHARS_MAX) {
            Some(short) => {
                self.cut += 1;
                short
            }
            None => heading.to_owned(),
        };
        self.path.push((level, heading));
        self.headings.extend(trimmed(self.text, line));
        before
    }

    fn end_paragraph(&mut self) {
        self.paragraphs.extend(self.open.take().and_then(|span| trimmed(self.text, span)));
    }

    /// Takes what was read since the last section, if there is anything.
    fn end_section(&mut self) -> Option<Section> {
        self.end_paragraph();
        if self.headings.is_empty() && self.paragraphs.is_empty() {
            return None;
        }
        Some(Section {
            path: self.path.iter().map(|(_, heading)| heading.clone()).filter(|it| !it.is_empty()).collect(),
            headings: std::mem::take(&mut self.headings),
            paragraphs: std::mem::take(&mut self.paragraphs),
        })
    }
}

impl Iterator for Sections<'_> {
    type Item = Section;

    fn next(&mut self) -> Option<Section> {
        let text = self.text;
        while let Some(rest) = text.get(self.at..).filter(|rest| !rest.is_empty()) {
            let line = rest.split_inclusive('\n').next().unwrap_or(rest);
            let start = self.at;
            self.at += line.len();
            let section = self.read(line, start);
            if section.is_some() {
                return section;
            }
        }
        self.end_section()
    }
}

/// Returns the level and the text of a Markdown heading. What is moved in further is code, such as what a
/// superuser types.
fn heading(line: &str) -> Option<(usize, &str)> {
    let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
    if indent > INDENT_MAX || line[..indent].contains('\t') {
        return None;
    }
    let line = line.trim();
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let is_heading = (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with(char::is_whitespace));
    is_heading.then(|| (level, rest.trim_end_matches('#').trim()))
}

/// Returns the span without white space at its ends, if anything is left.
pub(super) fn trimmed(text: &str, span: Range<usize>) -> Option<Range<usize>> {
    let raw = text.get(span.clone())?;
    let start = span.start + raw.len() - raw.trim_start().len();
    let trimmed = raw.trim();
    (!trimmed.is_empty()).then(|| start..start + trimmed.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[(&str, &[&str], &[&str])]) {
        let sections: Vec<Section> = Sections::of(text, Headings::All).collect();
        let texts = |spans: &[Range<usize>]| spans.iter().map(|span| &text[span.clone()]).collect::<Vec<_>>();
        let actual: Vec<_> =
            sections.iter().map(|it| (it.path.join("/"), texts(&it.headings), texts(&it.paragraphs))).collect();
        let expect: Vec<_> = expect.iter().map(|(path, a, b)| ((*path).to_owned(), a.to_vec(), b.to_vec())).collect();
        assert_eq!(actual, expect, "{text}");
    }

    #[test]
    fn headings_open_sections_and_blank_lines_end_paragraphs() {
        check("", &[]);
        check(" \n\n", &[]);
        check("a\nb\n \nc\r\n\r\nd", &[("", &[], &["a\nb", "c", "d"])]);
        check(
            "x\n# A\n\n## B ##\ny\n### C\nz\n# D\n",
            &[
                ("", &[], &["x"]),
                ("A/B", &["# A", "## B ##"], &["y"]),
                ("A/B/C", &["### C"], &["z"]),
                ("D", &["# D"], &[]),
            ],
        );
        check("#hashtag\n####### seven", &[("", &[], &["#hashtag\n####### seven"])]);
        check("   # A\nRun\n\n    # reboot\n\n\t# halt", &[("A", &["# A"], &["Run", "# reboot", "# halt"])]);
    }

    #[test]
    fn a_long_heading_is_shortened_in_paths_and_whole_in_the_text() {
        for (chars, cut) in [(HEADING_CHARS_MAX, 0), (HEADING_CHARS_MAX + 1, 1)] {
            let text = format!("# {}\nText.\n## Below\nMore.", "é".repeat(chars));
            let mut sections = Sections::of(&text, Headings::All);
            let read: Vec<Section> = sections.by_ref().collect();
            assert_eq!(sections.cut, cut);
            assert!(read.iter().all(|section| section.path[0].chars().count() == HEADING_CHARS_MAX));
            assert_eq!(read[0].path[0].ends_with('…'), cut == 1);
            assert_eq!(read[0].headings[0].len(), 2 + 2 * chars);
        }
    }

    #[test]
    fn headings_of_a_flat_text_are_paragraphs() {
        let mut sections = Sections::of("# A\nb\n# C\nd\n\n# E\nf", Headings::All);
        assert_eq!(sections.next().unwrap().path, ["A"]);
        sections.ignore_headings();
        let rest = sections.next().unwrap();
        assert_eq!((rest.path.len(), rest.headings.len(), rest.paragraphs.len()), (0, 1, 3));
        assert_eq!(sections.next(), None);
    }

    #[test]
    fn in_plain_text_a_heading_stands_apart() {
        let paths = |text: &str| -> Vec<String> {
            Sections::of(text, Headings::Apart).map(|section| section.path.join("/")).collect()
        };
        assert_eq!(paths("# A\n\nb\n\n# a comment\nc = 1\nd\n# another\n\ne"), ["A"]);
        assert_eq!(paths("# one comment\n# and more\n\na"), [""]);
        assert_eq!(paths("a\n\n# B"), ["", "B"]);
        assert_eq!(
            paths("a\n\n7.5. Backups\n\nb\n\n7.5.1. How\noften?\n\nc\n\n7.6. Ends"),
            ["", "Backups", "Backups/How often?", "Ends"]
        );
        assert_eq!(paths("a\n==========\nb\n\nc"), [""]);
        assert_eq!(paths("A manual\n===\nx\n\nOf use\n===\n\nIt runs\n---\nz"), ["A manual"]);
        assert_eq!(paths("It is round.\n===\nx"), [""]);
        assert_eq!(paths("NAME\n----\na\n\nUSE\n---\nb"), ["NAME", "USE"]);
        assert_eq!(
            paths("a\n\n==========\n*1* Folds *folds*\n\nb\n\n----------\nOpening\n\nc"),
            ["", "Folds", "Folds/Opening"]
        );
    }

    #[test]
    fn in_markdown_an_underlined_paragraph_is_a_heading() {
        let sections = |text: &'static str| -> Vec<(String, Vec<&str>, Vec<&str>)> {
            let texts = |spans: &[Range<usize>]| spans.iter().map(|span| &text[span.clone()]).collect();
            let all = Sections::of(text, Headings::Markdown);
            all.map(|it| (it.path.join("/"), texts(&it.headings), texts(&it.paragraphs))).collect()
        };
        assert_eq!(
            sections("A\n===\nx\n\nB of\nit\n----\ny\n## C\nz\n***\nD\n---\n"),
            [
                ("A".to_owned(), vec!["A\n==="], vec!["x"]),
                ("A/B of it".to_owned(), vec!["B of\nit\n----"], vec!["y"]),
                ("A/C".to_owned(), vec!["## C"], vec!["z\n***"]),
                ("A/D".to_owned(), vec!["D\n---"], vec![]),
            ]
        );
        let fenced = "~~~\nA\n---\n```\n# b\n~~~\n\n```\nA\n---\n~~~\n```\n\n- a\n---\n\n---\n";
        assert!(sections(fenced).iter().all(|it| it.0.is_empty()), "{:?}", sections(fenced));
        let all: Vec<Section> = Sections::of("A\n---\nx", Headings::All).collect();
        assert!(all[0].path.is_empty(), "a text of another format");
    }

    #[test]
    fn a_fenced_block_is_one_paragraph() {
        check(
            "```sh\n# no heading\n\nls\n```\n# A\nb",
            &[("", &[], &["```sh\n# no heading\n\nls\n```"]), ("A", &["# A"], &["b"])],
        );
    }
}
