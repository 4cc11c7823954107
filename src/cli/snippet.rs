//! Excerpts of passages: the lines that match best, or else the beginning.

use std::ops::Range;

use crate::domain::{MatchedLine, Span};

/// Maximum characters of a line, and of a passage that begins a list.
const CHARS_MAX: usize = 240;
/// Minimum bytes shown before the first match of a long line.
const BEFORE_BYTES: usize = 60;

/// A line of an excerpt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShownLine {
    /// Its text, with one space where there is white space.
    pub(super) text: String,
    /// The highlighted byte ranges.
    pub(super) marks: Vec<Range<usize>>,
}

/// Returns the best lines of a passage as they are shown, in the order of its text; if it has none, its beginning.
pub(super) fn shown_lines(text: &str, best: &[MatchedLine], matches: &[Span]) -> Vec<ShownLine> {
    if best.is_empty() {
        return beginning(text).into_iter().collect();
    }
    let mut spans: Vec<Range<usize>> = best.iter().map(|line| line.span.range()).collect();
    spans.sort_unstable_by_key(|span| span.start);
    spans.into_iter().map(|span| shown(text, span, matches)).collect()
}

fn is_inside(part: &Span, whole: &Range<usize>) -> bool {
    let part = part.range();
    whole.start <= part.start && part.end <= whole.end
}

/// Returns the beginning of a passage, without the headings that its name already shows.
fn beginning(text: &str) -> Option<ShownLine> {
    let is_told = |line: &str| line.trim().is_empty() || line.starts_with('#');
    let told: usize = text.split_inclusive('\n').take_while(|line| is_told(line)).map(str::len).sum();
    let start = if told >= text.trim_end().len() { 0 } else { told };
    (!text.trim().is_empty()).then(|| shown(text, start..text.len(), &[]))
}

/// Returns a part of a passage, cut for display.
fn shown(text: &str, span: Range<usize>, matches: &[Span]) -> ShownLine {
    let inside: Vec<Range<usize>> = matches.iter().filter(|it| is_inside(it, &span)).map(|it| it.range()).collect();
    let mut from = span.start;
    if let Some(first) = inside
        .first()
        .filter(|first| text[span.clone()].chars().count() > CHARS_MAX && first.start > span.start + BEFORE_BYTES)
    {
        let wanted = first.start - BEFORE_BYTES;
        let before = text.get(span.start..first.start).unwrap_or_default();
        let space = before.char_indices().find(|(at, c)| span.start + at >= wanted && c.is_whitespace());
        from = space.map_or(first.start, |(at, _)| span.start + at);
    }
    let mut line = ShownLine { text: String::new(), marks: Vec::new() };
    if from > span.start {
        line.text.push('…');
    }
    let mut count = 0;
    let mut mark: Option<usize> = None;
    for (at, c) in text.get(from..span.end).unwrap_or_default().char_indices() {
        let at = from + at;
        let is_marked = inside.iter().any(|it| it.contains(&at));
        if let Some(start) = mark.filter(|_| !is_marked || inside.iter().any(|it| it.start == at)) {
            line.marks.push(start..line.text.len());
            mark = None;
        }
        if count == CHARS_MAX {
            line.text.push('…');
            break;
        }
        if c.is_whitespace() {
            if line.text.is_empty() || line.text.ends_with([' ', '…']) {
                continue;
            }
            line.text.push(' ');
        } else {
            if is_marked && mark.is_none() {
                mark = Some(line.text.len());
            }
            line.text.push(c);
        }
        count += 1;
    }
    if let Some(start) = mark {
        let end = line.text.trim_end_matches('…').len();
        line.marks.push(start..end);
    }
    line.text.truncate(line.text.trim_end().len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines shown of a text in which `words` match; those of its lines that have any are the best.
    fn lines(text: &str, words: &[&str]) -> Vec<String> {
        let places = words.iter().flat_map(|word| text.match_indices(word));
        let mut matches: Vec<Span> = places.map(|(at, it)| Span::from(at..at + it.len())).collect();
        matches.sort_unstable();
        let mut best = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let span = Span::from(start..start + line.len());
            let shown = MatchedLine { span, section: None, page: None, line: None, column: None };
            best.extend(words.iter().any(|word| line.contains(word)).then_some(shown));
            start += line.len();
        }
        let marked = |line: &ShownLine| {
            let mut text = line.text.clone();
            for mark in line.marks.iter().rev() {
                text.insert(mark.end, ']');
                text.insert(mark.start, '[');
            }
            text
        };
        shown_lines(text, &best, &matches).iter().map(marked).collect()
    }

    #[test]
    fn the_matches_in_the_lines_are_marked() {
        let text = "# Mill\n\nIt is by the  river.\nNothing.\nA mill by a river, old mill.\n";
        assert_eq!(lines(text, &["mill", "river"]), ["It is by the [river].", "A [mill] by a [river], old [mill]."]);
        assert_eq!(lines(text, &["Mill"]), ["# [Mill]"]);
    }

    #[test]
    fn a_long_line_is_cut_around_its_first_word() {
        let text = format!("{} needle {}", "hay ".repeat(100), "straw ".repeat(100));
        let [line] = &lines(&text, &["needle"])[..] else { panic!("one line") };
        assert!(line.starts_with("…hay") && line.contains("[needle]") && line.ends_with('…'), "{line}");
        assert!(line.chars().count() < CHARS_MAX + 10);
    }

    #[test]
    fn without_a_word_it_is_how_the_passage_begins() {
        assert_eq!(lines("# Mill\n\n## Today\n\nIt stands.", &[]), ["It stands."]);
        assert_eq!(lines("# Mill", &[]), ["# Mill"]);
        assert_eq!(lines(&"é\n".repeat(300), &[])[0].chars().count(), CHARS_MAX + 1);
        assert_eq!(lines("", &[]), [""; 0]);
    }
}
