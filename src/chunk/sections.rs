//! The structure of a text: sections under headings, and the paragraphs in them.

use std::ops::Range;

/// Paragraphs under one heading.
#[derive(Debug, PartialEq)]
pub(super) struct Section {
    /// The headings above, outermost first.
    pub(super) path: Vec<String>,
    /// Lines of the headings that open it; more than one where a heading has no text of its own.
    pub(super) headings: Vec<Range<usize>>,
    /// Its paragraphs, trimmed.
    pub(super) paragraphs: Vec<Range<usize>>,
}

/// Returns the sections of `text` that have something in them, in order.
pub(super) fn sections(text: &str) -> Vec<Section> {
    let mut reader = Reader::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        reader.read(text, line, start);
        start += line.len();
    }
    reader.end_section(text);
    reader.sections
}

#[derive(Default)]
struct Reader {
    sections: Vec<Section>,
    /// Levels and texts of the headings above.
    path: Vec<(usize, String)>,
    headings: Vec<Range<usize>>,
    paragraphs: Vec<Range<usize>>,
    /// The lines of the paragraph that is being read.
    open: Option<Range<usize>>,
    /// Inside a fenced block, neither blank lines nor number signs say anything.
    is_fenced: bool,
}

impl Reader {
    fn read(&mut self, text: &str, line: &str, start: usize) {
        let span = start..start + line.len();
        if line.trim_start().starts_with("```") {
            self.is_fenced = !self.is_fenced;
        } else if !self.is_fenced && line.trim().is_empty() {
            return self.end_paragraph(text);
        } else if let Some((level, heading)) = heading(line).filter(|_| !self.is_fenced) {
            return self.open_section(text, level, heading, span);
        }
        let first = self.open.as_ref().map_or(start, |open| open.start);
        self.open = Some(first..span.end);
    }

    fn open_section(&mut self, text: &str, level: usize, heading: &str, line: Range<usize>) {
        self.end_paragraph(text);
        if !self.paragraphs.is_empty() {
            self.end_section(text);
        }
        self.path.retain(|(above, _)| *above < level);
        self.path.push((level, heading.to_owned()));
        self.headings.extend(trimmed(text, line));
    }

    fn end_paragraph(&mut self, text: &str) {
        self.paragraphs.extend(self.open.take().and_then(|span| trimmed(text, span)));
    }

    fn end_section(&mut self, text: &str) {
        self.end_paragraph(text);
        if self.headings.is_empty() && self.paragraphs.is_empty() {
            return;
        }
        self.sections.push(Section {
            path: self.path.iter().map(|(_, heading)| heading.clone()).filter(|it| !it.is_empty()).collect(),
            headings: std::mem::take(&mut self.headings),
            paragraphs: std::mem::take(&mut self.paragraphs),
        });
    }
}

/// Returns the level and the text of a Markdown heading.
fn heading(line: &str) -> Option<(usize, &str)> {
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
        let sections = sections(text);
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
    }

    #[test]
    fn a_fenced_block_is_one_paragraph() {
        check(
            "```sh\n# no heading\n\nls\n```\n# A\nb",
            &[("", &[], &["```sh\n# no heading\n\nls\n```"]), ("A", &["# A"], &["b"])],
        );
    }
}
