//! The lines of a passage that match a question best: those whose words weigh most.

use crate::chunk::section_at;
use crate::domain::{Hit, MatchedLine, Span};

/// Lines of a passage at most.
const LINES_MAX: usize = 3;

/// What decides on a line.
struct Line {
    span: Span,
    /// Where its first match begins.
    first: u32,
    weight: f32,
    is_heading: bool,
}

/// Returns the lines of a hit that match best by `weigh`, best first; of equal ones, text comes before headings. A line
/// that is only the name of the document, which every hit shows, is left out if another matches.
///
/// `media_type` is that of the document if the hit is all of it: then lines have sections of their own.
pub(super) fn best_lines(
    hit: &Hit,
    media_type: Option<&str>,
    weigh: &dyn Fn(&str, &[Span]) -> f32,
) -> Vec<MatchedLine> {
    let mut lines = matching_lines(hit, weigh);
    lines.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.is_heading.cmp(&b.is_heading)));
    if lines.first().is_some_and(|best| best.weight > 0.0) {
        lines.retain(|line| line.weight > 0.0);
    }
    lines.truncate(LINES_MAX);
    let matched = |line: Line| hit.matched_line(line.span, section(hit, media_type, line.first), line.first);
    lines.into_iter().map(matched).collect()
}

/// Returns the lines in which matches begin, in their order.
fn matching_lines(hit: &Hit, weigh: &dyn Fn(&str, &[Span]) -> f32) -> Vec<Line> {
    let mut lines = Vec::new();
    let (mut start, mut rest) = (0, hit.matches.as_slice());
    for line in hit.text.split_inclusive('\n') {
        let end = start + line.len();
        let (inside, after) = rest.split_at(rest.partition_point(|it| it.range().start < end));
        if let Some(first) = inside.first() {
            let text = line.trim_end();
            let is_name = text.trim_matches(|c: char| c == '#' || c.is_whitespace()) == hit.name;
            lines.push(Line {
                span: Span::from(start..start + text.len()),
                first: first.start,
                weight: if is_name { 0.0 } else { weigh(text, inside) },
                is_heading: text.trim_start().starts_with('#'),
            });
        }
        (start, rest) = (end, after);
    }
    lines
}

/// Returns the headings above a byte of a hit, as far as its text has them, and otherwise those above the hit.
fn section(hit: &Hit, media_type: Option<&str>, at: u32) -> Option<String> {
    let own = hit.section.as_deref();
    let has_positions = hit.line.is_some() || hit.page.is_some();
    let inner = media_type.and_then(|it| section_at(&hit.text, it, has_positions, at as usize));
    let is_below = |inner: &String| {
        own.is_none_or(|own| inner.strip_prefix(own).is_some_and(|below| below.is_empty() || below.starts_with(" › ")))
    };
    inner.filter(is_below).or_else(|| hit.section.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::pieces::fuse::testing::hits;

    /// Returns a hit in the document `Mill` with `text`, in which `words` match.
    fn hit(text: &str, words: &[&str]) -> Hit {
        let places = words.iter().flat_map(|word| text.match_indices(word));
        let mut matches: Vec<Span> = places.map(|(at, word)| Span::from(at..at + word.len())).collect();
        matches.sort_unstable();
        let hit = hits(&[("Mill", 1.0)]).remove(0);
        Hit { text: text.to_owned(), matches, line: Some(5), column: Some(1), ..hit }
    }

    /// Checks which lines are the best, with the line and column of each; a word weighs as much as it has letters.
    #[track_caller]
    fn check(text: &str, words: &[&str], expect: &[(&str, u32, u32)]) {
        let weight = |line: &str| words.iter().filter(|it| line.contains(**it)).map(|it| it.len()).sum::<usize>();
        let best = best_lines(&hit(text, words), None, &|line, _| weight(line) as f32);
        let shown = best.iter().map(|it| (it.span.of(text), it.line.unwrap(), it.column.unwrap()));
        assert_eq!(shown.collect::<Vec<_>>(), expect, "{text}");
    }

    #[test]
    fn the_lines_whose_words_weigh_most_come_first() {
        check("", &["a"], &[]);
        check("It stands.", &["mill"], &[]);
        check("It is a\n\n  old mill.  \n", &["mill"], &[("  old mill.", 7, 7)]);
        let lines = [("a mill by a river", 6, 3), ("river", 7, 1), ("a mill", 5, 3)];
        check("a mill\na mill by a river\nriver\r\nmill\n", &["mill", "river"], &lines);
    }

    #[test]
    fn a_heading_counts_like_text_unless_it_is_the_name_of_the_document() {
        check("# Mill\n\nThe Mill turns.", &["Mill"], &[("The Mill turns.", 7, 5)]);
        check("# Mill\n\nIt turns.", &["Mill"], &[("# Mill", 5, 3)]);
        check("A page.\n\n## A slow page\n", &["page", "slow"], &[("## A slow page", 7, 6), ("A page.", 5, 3)]);
        check("## A page\n\nThis page.", &["page"], &[("This page.", 7, 6), ("## A page", 5, 6)]);
    }

    #[test]
    fn a_line_of_a_whole_document_has_the_headings_above_it() {
        let text = "# Use\n\nCall it.\n\n## Closing\n\nIt ends.\n\n```\n# ends\n```\n";
        let hit = Hit { section: Some("Use".to_owned()), ..hit(text, &["ends", "Call"]) };
        let sections = |hit: &Hit, media_type: Option<&str>| {
            let lines = best_lines(hit, media_type, &|_, _| 1.0);
            lines.into_iter().map(|line| line.section.unwrap_or_default()).collect::<Vec<_>>()
        };
        assert_eq!(sections(&hit, Some("text/markdown")), ["Use", "Use › Closing", "Use › Closing"]);
        assert_eq!(sections(&hit, Some("text/x-python")), ["Use"; 3]);
        assert_eq!(sections(&hit, None), ["Use"; 3]);
        let other = Hit { section: Some("Usage › More".to_owned()), ..hit };
        assert_eq!(sections(&other, Some("text/markdown")), ["Usage › More"; 3]);
    }
}
