//! Excerpts of passages: the lines with words of the question, or else the beginning.

use std::ops::Range;

use crate::domain::Span;

/// Maximum number of lines.
const LINES_MAX: usize = 3;
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

/// Returns the lines of a passage with the most different matches, in their order; headings only if no other line
/// matches, since the name of a passage shows them. Without a match, the beginning of the passage.
pub(super) fn shown_lines(text: &str, matches: &[Span]) -> Vec<ShownLine> {
    let mut lines: Vec<(usize, usize, Range<usize>)> = Vec::new();
    let mut start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let span = start..start + line.trim_end().len();
        start += line.len();
        let mut words: Vec<String> =
            matches.iter().filter(|it| is_inside(it, &span)).map(|it| it.of(text).to_lowercase()).collect();
        words.sort_unstable();
        words.dedup();
        if !words.is_empty() {
            let worth = if line.trim_start().starts_with('#') { 0 } else { words.len() };
            lines.push((worth, number, span));
        }
    }
    lines.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    if lines.iter().any(|line| line.0 > 0) {
        lines.retain(|line| line.0 > 0);
    }
    lines.truncate(LINES_MAX);
    lines.sort_by_key(|line| line.1);
    if lines.is_empty() {
        return beginning(text).into_iter().collect();
    }
    lines.into_iter().map(|(_, _, span)| shown(text, span, matches)).collect()
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

    fn spans(text: &str, words: &[&str]) -> Vec<Span> {
        let mut spans: Vec<Span> = words
            .iter()
            .flat_map(|word| text.match_indices(word).map(|(at, it)| Span::from(at..at + it.len())))
            .collect();
        spans.sort_unstable();
        spans
    }

    fn lines(text: &str, words: &[&str]) -> Vec<String> {
        let marked = |line: &ShownLine| {
            let mut text = line.text.clone();
            for mark in line.marks.iter().rev() {
                text.insert(mark.end, ']');
                text.insert(mark.start, '[');
            }
            text
        };
        shown_lines(text, &spans(text, words)).iter().map(marked).collect()
    }

    #[test]
    fn the_lines_with_most_words_are_shown_in_their_order() {
        let text = "# Mill\n\nIt is by the river.\nThe mill turns.\nNothing.\nA mill by a river, old mill.\n";
        assert_eq!(
            lines(text, &["mill", "river"]),
            ["It is by the [river].", "The [mill] turns.", "A [mill] by a [river], old [mill]."]
        );
        assert_eq!(lines(text, &["turns"]), ["The mill [turns]."]);
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

    #[test]
    fn words_of_headings_are_shown_where_no_other_line_has_any() {
        assert_eq!(lines("# Mill\n\nIt stands.", &["Mill"]), ["# [Mill]"]);
    }
}
