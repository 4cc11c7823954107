//! Languages divided by indentation: in Python it has meaning; in Ruby, Lua and shells it is convention.

use super::{DEPTH_MAX, Definition, LARGE_BYTES};
use crate::text::{Language, Token, TokenKind};

/// A line on which a statement begins, or a comment stands alone.
struct Line<'a> {
    start: usize,
    end: usize,
    indent: usize,
    text: &'a str,
    is_comment: bool,
    /// Whether it follows the line before it without a blank one between.
    is_beside: bool,
}

/// A definition that continues.
struct Open {
    start: usize,
    /// Where its last line of code ended.
    end: usize,
    indent: usize,
    name: String,
    is_type: bool,
    inner: Vec<Definition>,
}

/// Returns the definitions of a text with these tokens.
pub(super) fn definitions(text: &str, tokens: &[Token], language: Language) -> Vec<Definition> {
    let lines = lines(text, tokens, language);
    let mut found = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    // Where the comment or decorator begins that belongs to what comes next.
    let mut lead: Option<(usize, usize)> = None;
    for line in &lines {
        if line.is_comment {
            let goes_on = line.is_beside && lead.is_some_and(|it| it.1 == line.indent);
            lead = lead.filter(|_| goes_on).or(Some((line.start, line.indent)));
            continue;
        }
        let lead_here = lead.take().filter(|it| line.is_beside && it.1 == line.indent).map(|it| it.0);
        if language == Language::Python && line.text.starts_with('@') {
            close(&mut open, line, language, &mut found);
            lead = Some((lead_here.unwrap_or(line.start), line.indent));
            continue;
        }
        close(&mut open, line, language, &mut found);
        let defined = defined(line.text, language).filter(|_| open.len() < DEPTH_MAX);
        if let Some((name, is_type)) = defined {
            let start = lead_here.unwrap_or(line.start);
            open.push(Open { start, end: line.end, indent: line.indent, name, is_type, inner: Vec::new() });
        }
        for it in &mut open {
            it.end = line.end;
        }
    }
    while let Some(last) = open.pop() {
        finish(last, &mut open, &mut found);
    }
    found
}

/// Ends the definitions that do not continue with `line`.
fn close(open: &mut Vec<Open>, line: &Line<'_>, language: Language, found: &mut Vec<Definition>) {
    while let Some(mut last) = open.pop_if(|it| line.indent <= it.indent) {
        if last.indent == line.indent && goes_on(line.text, language) {
            open.push(last);
            return;
        }
        if last.indent == line.indent && closes(line.text, language) {
            last.end = line.end;
        }
        finish(last, open, found);
    }
}

fn finish(last: Open, open: &mut [Open], found: &mut Vec<Definition>) {
    let is_large = last.end - last.start > LARGE_BYTES;
    let inner = if last.is_type || is_large { last.inner } else { Vec::new() };
    let definition = Definition { span: last.start..last.end, name: last.name, inner };
    match open.last_mut() {
        Some(outer) => outer.inner.push(definition),
        None => found.push(definition),
    }
}

/// Returns whether a line ends what began at its column.
fn closes(line: &str, language: Language) -> bool {
    match language {
        Language::Shell => line.starts_with('}') || line.starts_with(')'),
        Language::Ruby | Language::Lua => {
            line.strip_prefix("end").is_some_and(|rest| !rest.starts_with(|it: char| it.is_alphanumeric() || it == '_'))
        }
        _ => false,
    }
}

/// Returns whether a line stands at the column of what it is a part of.
fn goes_on(line: &str, language: Language) -> bool {
    match language {
        Language::Shell => line.starts_with('{') || line.starts_with('('),
        Language::Ruby => ["rescue", "ensure", "else"].iter().any(|it| line.starts_with(it)),
        _ => false,
    }
}

/// Returns what a line defines, and whether that is a type.
fn defined(line: &str, language: Language) -> Option<(String, bool)> {
    let until = |text: &str, ends: &[char]| {
        let name =
            text.trim_start().split(|it: char| it.is_whitespace() || ends.contains(&it)).next().unwrap_or_default();
        Some(name.to_owned()).filter(|name| !name.is_empty())
    };
    match language {
        Language::Python => {
            if let Some(rest) = line.strip_prefix("class ") {
                return Some((until(rest, &['(', ':'])?, true));
            }
            let rest = line.strip_prefix("async ").unwrap_or(line).trim_start().strip_prefix("def ")?;
            Some((until(rest, &['(', ':'])?, false))
        }
        Language::Ruby => {
            for word in ["class ", "module "] {
                if let Some(rest) = line.strip_prefix(word) {
                    return Some((until(rest, &['<', ';'])?, true));
                }
            }
            let rest = line
                .strip_prefix("def ")
                .or_else(|| line.split_once(" def ").filter(|it| !it.0.contains(' ')).map(|it| it.1))?;
            Some((until(rest, &['(', ';'])?, false))
        }
        Language::Lua => {
            let rest = line.strip_prefix("local ").unwrap_or(line);
            if let Some(rest) = rest.strip_prefix("function ") {
                return Some((until(rest, &['('])?, false));
            }
            let (name, value) = rest.split_once('=')?;
            let is_function =
                value.trim_start().strip_prefix("function").is_some_and(|it| it.trim_start().starts_with('('));
            Some((name.trim().to_owned(), false)).filter(|_| is_function && !name.contains('('))
        }
        Language::Shell => {
            if let Some(rest) = line.strip_prefix("function ") {
                return Some((until(rest, &['(', '{'])?, false));
            }
            let (name, rest) = line.split_once('(')?;
            let name = name.trim_end();
            let is_name = !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || "_-:.+@".contains(it));
            (is_name && rest.trim_start().starts_with(')')).then(|| (name.to_owned(), false))
        }
        _ => None,
    }
}

/// Returns the lines on which a statement begins or a comment stands alone.
fn lines<'a>(text: &'a str, tokens: &[Token], language: Language) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    let mut at = 0;
    let mut token = 0;
    let mut depth = 0_u32;
    // Where the last token that was passed ends: a line that begins before is inside it.
    let mut covered = 0;
    let mut is_beside = false;
    for line in text.split_inclusive('\n') {
        let (start, said) = (at + line.len() - line.trim_start().len(), line.trim());
        at += line.len();
        if said.is_empty() {
            is_beside &= start < covered;
            continue;
        }
        let is_inside = start < covered || depth > 0 || continues(text, at - line.len());
        let first = tokens.get(token).copied();
        while let Some(it) = tokens.get(token).filter(|it| it.start() < at) {
            covered = covered.max(it.end());
            if language == Language::Python {
                match it.kind {
                    TokenKind::Mark(b'(' | b'[' | b'{') => depth += 1,
                    TokenKind::Mark(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            token += 1;
        }
        if is_inside {
            // What continues is part of the line that it began on.
            if let Some(last) = lines.last_mut().filter(|it: &&mut Line<'_>| !it.is_comment) {
                last.end = start + said.len();
            }
            is_beside = true;
            continue;
        }
        let indent = columns(line);
        // A bracket that was never closed ends where a definition begins at the left.
        let is_comment = first.is_some_and(|it| it.kind == TokenKind::Comment && it.start() <= start);
        lines.push(Line { start, end: start + said.len(), indent, text: said, is_comment, is_beside });
        is_beside = true;
    }
    lines
}

/// Returns whether the line before `start` says that it continues.
fn continues(text: &str, start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    before.strip_suffix('\n').is_some_and(|it| it.trim_end_matches('\r').ends_with('\\'))
}

/// Returns how many columns a line is moved in; a tab goes to the next eighth.
fn columns(line: &str) -> usize {
    let blank = line.bytes().take_while(|it| matches!(it, b' ' | b'\t'));
    blank.fold(0, |column, it| if it == b'\t' { (column / 8 + 1) * 8 } else { column + 1 })
}
