//! The pieces of a passage that may be quoted: sentences, whole code blocks, and a line that ends in a colon together
//! with what follows.

use std::ops::Range;

use crate::domain::Span;
use crate::text::is_block_start;

/// Bytes of code that is quoted whole at most.
const CODE_BYTES_MAX: usize = 1_500;
/// Maximum bytes of a quotation that is not only code.
const JOINED_BYTES_MAX: usize = 700;

/// A piece of a passage that may be quoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// Its bytes in the passage.
    pub(super) span: Range<usize>,
    /// Its sentences, as places in the passage's list.
    pub(super) sentences: Range<usize>,
    /// Whether it is code, or has some after what announces it.
    pub(super) has_code: bool,
    /// The nearest heading above it in the passage, and the number of pieces in between.
    pub(super) under: Option<(Range<usize>, usize)>,
}

/// Returns the pieces of a passage with these sentences, in order. Headings, and sentences without a word, are not
/// pieces.
pub(super) fn pieces(text: &str, sentences: &[Span]) -> Vec<Piece> {
    let blocks = code_blocks(text);
    let mut pieces: Vec<Piece> = Vec::new();
    let mut under: Option<(Range<usize>, usize)> = None;
    let mut at = 0;
    while at < sentences.len() {
        let mut span = sentences[at].range();
        let first = at;
        at += 1;
        let block = blocks.iter().find(|block| block.start < span.end && span.start < block.end);
        if let Some(block) = block {
            span = span.start.min(block.start)..span.end.max(block.end);
            while sentences.get(at).is_some_and(|next| next.range().start < span.end) {
                span.end = span.end.max(sentences[at].range().end);
                at += 1;
            }
        }
        let said = text.get(span.clone()).unwrap_or_default();
        if block.is_none() && is_heading(text, &span) {
            under = Some((span, 0));
            continue;
        }
        if !said.contains(char::is_alphanumeric) {
            continue;
        }
        let piece = Piece { span, sentences: first..at, has_code: block.is_some(), under: under.clone() };
        if let Some((_, distance)) = &mut under {
            *distance += 1;
        }
        match pieces.last_mut().filter(|last| announces(text, last, &piece)) {
            Some(last) => {
                last.span.end = piece.span.end;
                last.sentences.end = piece.sentences.end;
                last.has_code |= piece.has_code;
            }
            None => pieces.push(piece),
        }
    }
    pieces
}

/// Returns whether a piece only introduces the next one, or is a list whose next item that is.
fn announces(text: &str, piece: &Piece, next: &Piece) -> bool {
    let said = text.get(piece.span.clone()).unwrap_or_default();
    let bytes = next.span.end - piece.span.start;
    let follows = text.get(next.span.clone()).unwrap_or_default();
    let has_room = bytes <= if next.has_code { CODE_BYTES_MAX } else { JOINED_BYTES_MAX };
    let is_item = |text: &str| is_block_start(text) && !text.starts_with(['#', '|']);
    let last_line = said.rsplit('\n').next().unwrap_or_default();
    let goes_on = said.contains('\n') && is_item(last_line.trim_start()) && is_item(follows) && !is_item(said);
    has_room && (said.trim_end().ends_with(':') || goes_on)
}

/// Returns whether a sentence is a heading: by its signs, or underlined.
fn is_heading(text: &str, span: &Range<usize>) -> bool {
    let said = text.get(span.clone()).unwrap_or_default();
    if said.starts_with('#') || said.starts_with("..") || (said.starts_with('=') && said.contains("= ")) {
        return true;
    }
    let below = text.get(span.end..).unwrap_or_default();
    let underline = below.strip_prefix('\n').or_else(|| below.strip_prefix("\r\n"));
    let is_rule = |line: &str| {
        let line = line.trim();
        let first = line.chars().next();
        line.len() >= 3 && first.is_some_and(|first| "=-~^\"'`*+#".contains(first) && line.chars().all(|c| c == first))
    };
    let is_above_rule = underline.and_then(|below| below.lines().next()).is_some_and(is_rule);
    let with_rule = said.lines().nth(1).is_some_and(is_rule) && said.lines().count() == 2;
    (is_above_rule && !said.contains('\n')) || with_rule
}

/// Returns the code of a text: between fences, or lines that are set in by four columns after an empty line, as
/// Markdown and reStructuredText have it. Long code is divided like text.
fn code_blocks(text: &str) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let (mut fenced, mut indented): (Option<usize>, Option<Range<usize>>) = (None, None);
    let (mut at, mut is_after_blank) = (0, true);
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.trim_end().len());
        at += line.len();
        let is_blank = line.trim().is_empty();
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") || line.trim_end() == "----" {
            match fenced.take() {
                Some(open) => blocks.push(open..end),
                None => fenced = Some(start),
            }
        } else if fenced.is_none() {
            let is_set_in = line.starts_with("    ") || line.starts_with('\t');
            let is_item = is_block_start(line.trim_start());
            match &mut indented {
                Some(block) if is_set_in => block.end = end,
                Some(_) if is_blank => {}
                Some(_) => blocks.extend(indented.take()),
                None if is_set_in && is_after_blank && !is_item && looks_like_code(line) => indented = Some(start..end),
                None => {}
            }
        }
        is_after_blank = is_blank;
    }
    blocks.extend(indented);
    blocks.retain(|block| block.len() <= CODE_BYTES_MAX);
    blocks.sort_unstable_by_key(|block| block.start);
    blocks
}

/// Returns whether an indented line is code rather than prose.
fn looks_like_code(line: &str) -> bool {
    let line = line.trim();
    let is_said = line.ends_with(['.', ',', ';']) && line.split_whitespace().count() > 6;
    let has_marks = line.contains(['(', ')', '=', '{', '}', '$', '<', '>', '/', '_', '|', '`', ';', '#', '[', '-']);
    !is_said && (has_marks || line.split_whitespace().count() <= 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let sentences: Vec<Span> = crate::text::sentences(text).map(Span::from).collect();
        let pieces = pieces(text, &sentences);
        assert_eq!(pieces.iter().map(|piece| &text[piece.span.clone()]).collect::<Vec<_>>(), expect);
        assert!(pieces.windows(2).all(|pair| pair[0].sentences.end <= pair[1].sentences.start));
    }

    #[test]
    fn code_is_one_piece_with_what_announces_it() {
        check(
            "It is simple. Run:\n\n```\nmill stop\n\nmill start. Now\n```\n\nThat is all.",
            &["It is simple.", "Run:\n\n```\nmill stop\n\nmill start. Now\n```", "That is all."],
        );
        check("Type this::\n\n    $ a -b\n    $ c\n\nDone.", &["Type this::\n\n    $ a -b\n    $ c", "Done."]);
    }

    #[test]
    fn a_list_goes_with_what_announces_it() {
        check(
            "Steps are:\n\n1. Open it.\n2. Close it.\n\nNo more.",
            &["Steps are:\n\n1. Open it.\n2. Close it.", "No more."],
        );
    }

    #[test]
    fn headings_are_no_pieces_but_say_what_stands_below() {
        let text = "# Mill\n\nIt stands. It turns.\n\nWhy?\n----\n\nIt rains.";
        let sentences: Vec<Span> = crate::text::sentences(text).map(Span::from).collect();
        let pieces = pieces(text, &sentences);
        let under = pieces.iter().map(|it| it.under.clone().map(|(span, far)| (&text[span], far)));
        assert_eq!(under.collect::<Vec<_>>(), [Some(("# Mill", 0)), Some(("# Mill", 1)), Some(("Why?\n----", 0))]);
    }
}
