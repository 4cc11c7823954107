//! Source code without a grammar: its language, its tokens, and which of them are prose.

mod language;
mod lexer;
mod literals;

use std::ops::Range;

pub(crate) use language::Language;
pub(crate) use lexer::{Token, TokenKind, code_tokens};

use super::words::words;

/// Bytes of a block at most: a longer one ends at a line.
const BLOCK_BYTES_MAX: usize = 1_500;
/// Words in comments that mark them for those who write the code, and name nothing.
const MARKS: &[&str] = &["TODO", "FIXME", "XXX", "HACK", "NOTE", "SAFETY", "WARNING"];

/// Returns code with blanks for everything but comments and documentation: every byte of them stays where it is.
///
/// The code capitalizes and repeats words for reasons of its own, and so do notices of copyright.
#[must_use]
pub(crate) fn prose(text: &str, language: Language) -> String {
    let tokens = code_tokens(text, language);
    let open = unopened(text, language);
    let mut kept: Vec<Range<usize>> = Vec::new();
    kept.extend((open > 0).then_some(0..open));
    let mut group: Vec<Range<usize>> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_documentation = token.kind == TokenKind::Text && is_docstring(text, &tokens, at, language);
        if (token.kind != TokenKind::Comment && !is_documentation) || token.start() < open {
            continue;
        }
        let goes_on = group.last().is_some_and(|last| is_beside(text, last.end, token.start()));
        if !goes_on {
            keep(text, &mut group, &mut kept);
        }
        group.push(token.range());
    }
    keep(text, &mut group, &mut kept);
    blanked(text, &kept)
}

/// Moves comments that stand together to those that are kept, unless they are a notice of copyright.
fn keep(text: &str, group: &mut Vec<Range<usize>>, kept: &mut Vec<Range<usize>>) {
    let is_notice = group.iter().any(|span| {
        let said = text.get(span.clone()).unwrap_or_default().to_ascii_lowercase();
        said.contains("copyright") || said.contains("spdx-license")
    });
    if is_notice {
        group.clear();
    }
    kept.append(group);
}

/// Returns whether nothing but the end of one line lies between two places.
fn is_beside(text: &str, end: usize, start: usize) -> bool {
    let between = text.get(end..start).unwrap_or_default();
    between.trim().is_empty() && between.matches('\n').count() <= 1
}

/// Returns whether a string of Python is a statement of its own.
fn is_docstring(text: &str, tokens: &[Token], at: usize, language: Language) -> bool {
    let Some(token) = tokens.get(at).filter(|_| language == Language::Python) else { return false };
    let said = text.get(token.range()).unwrap_or_default();
    let is_long = said.starts_with("\"\"\"") || said.starts_with("'''");
    let before = text.get(..token.start()).unwrap_or_default();
    let opens_line = before.rsplit('\n').next().unwrap_or_default().trim().is_empty();
    let is_argument = at > 0 && tokens.get(at - 1).is_some_and(|it| matches!(it.kind, TokenKind::Mark(b'(' | b',')));
    is_long && opens_line && !is_argument
}

/// Returns where a comment ends that began before the text does, as in a part of a long one.
fn unopened(text: &str, language: Language) -> usize {
    if !language.has_slash_comments() {
        return 0;
    }
    let end = text.find("*/").map_or(text.len(), |at| at + 2);
    let opens = text.find("/*").unwrap_or(text.len());
    let is_part = text.trim_start().starts_with('*');
    let is_said = |line: &&str| line.trim_start().starts_with('*') || line.trim().is_empty();
    let lines = text.split_inclusive('\n').take_while(is_said);
    match (is_part, end <= text.len() && opens >= end && end > 1) {
        (true, true) if text.get(..end).is_some_and(|it| it.ends_with("*/")) => end,
        (true, _) => lines.map(str::len).sum::<usize>().min(opens),
        _ => 0,
    }
}

/// Returns the text with blanks for what is not in `kept`, and for the signs of comments.
fn blanked(text: &str, kept: &[Range<usize>]) -> String {
    let mut shown = String::with_capacity(text.len());
    let blank = |part: &str, shown: &mut String| {
        shown.extend(part.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
    };
    let mut at = 0;
    for span in kept {
        blank(text.get(at..span.start).unwrap_or_default(), &mut shown);
        let said = text.get(span.clone()).unwrap_or_default();
        for line in said.split_inclusive('\n') {
            let rest = line.trim_start().trim_start_matches(['/', '*', '#', '-', '!', '"', '\'', ';']);
            let (signs, rest) = line.split_at(line.len() - rest.len());
            blank(signs, &mut shown);
            let end = rest.trim_end().trim_end_matches(['*', '/', '"', '\'']).len();
            let (rest, close) = rest.split_at(end);
            push_unmarked(rest, &mut shown);
            blank(close, &mut shown);
        }
        at = span.end;
    }
    blank(text.get(at..).unwrap_or_default(), &mut shown);
    shown
}

/// Appends a line of a comment with blanks for words that mark it.
fn push_unmarked(line: &str, shown: &mut String) {
    if !MARKS.iter().any(|mark| line.contains(mark)) {
        return shown.push_str(line);
    }
    let mut at = 0;
    for word in words(line).iter().filter(|word| MARKS.contains(&word.text)) {
        shown.push_str(line.get(at..word.start).unwrap_or_default());
        shown.extend(std::iter::repeat_n(' ', word.end - word.start));
        at = word.end;
    }
    shown.push_str(line.get(at..).unwrap_or_default());
}

/// Returns the blocks of code: what blank lines part, divided at lines where it is long. All but white space is in one.
pub(crate) fn code_blocks(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    let mut open: Option<Range<usize>> = None;
    let mut lines = text.split_inclusive('\n');
    std::iter::from_fn(move || {
        for line in lines.by_ref() {
            let said = line.trim();
            let start = at + line.len() - line.trim_start().len();
            let span = start..start + said.len();
            at += line.len();
            if said.is_empty() {
                if open.is_some() {
                    return open.take();
                }
                continue;
            }
            match &mut open {
                Some(block) if span.end - block.start <= BLOCK_BYTES_MAX => block.end = span.end,
                Some(_) => return open.replace(span),
                None => open = Some(span),
            }
        }
        open.take()
    })
}

#[cfg(test)]
mod tests;
