//! `AsciiDoc`: headings of one line and of two, code blocks, attributes of the header.

use super::{FENCE, Lines};
use crate::ingest::extracted::Extracted;

/// The kind of a block between two equal lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Code,
    Comment,
}

/// Signs that underline a title, by its level.
const UNDERLINES: [char; 5] = ['=', '-', '~', '^', '+'];
/// Characters of an underline at least; how many it may have more or less than its title.
const UNDERLINE_CHARS_MIN: usize = 3;
const UNDERLINE_OFF_MAX: usize = 1;

/// Parses a file of `AsciiDoc`.
#[expect(clippy::needless_pass_by_value, clippy::unnecessary_wraps, reason = "as all parsers of text are called")]
pub(in crate::ingest) fn parse(text: String) -> Result<Extracted, String> {
    let mut lines = Lines::of(&text);
    let mut open: Option<(Block, &str)> = None;
    let mut language = String::new();
    let mut is_underline = false;
    for at in 0..lines.all.len() {
        let line = lines.get(at).unwrap_or_default().trim_end();
        if std::mem::take(&mut is_underline) {
            lines.push("");
            continue;
        }
        if let Some(level) = title_level(&lines, at).filter(|_| open.is_none()) {
            lines.push_heading(level, line);
            is_underline = true;
            continue;
        }
        match (open, delimiter(line)) {
            (Some((block, start)), _) if line == start => {
                lines.push(if block == Block::Code { FENCE } else { "" });
                open = None;
            }
            (Some((Block::Code, _)), _) => lines.push(line),
            (Some((Block::Comment, _)), _) => lines.push(""),
            (None, Some(block)) => {
                let shown = if block == Block::Code { format!("{FENCE}{language}") } else { String::new() };
                lines.push(&shown);
                language.clear();
                open = Some((block, line));
            }
            (None, None) => plain_line(&mut lines, line, &mut language),
        }
    }
    if open.is_some_and(|it| it.0 == Block::Code) {
        lines.push(FENCE);
    }
    Ok(lines.finish("text/asciidoc"))
}

/// Returns the level of the title of two lines that begins at a line, if one does: where a block may begin, over an
/// underline of about its length.
fn title_level(lines: &Lines<'_>, at: usize) -> Option<usize> {
    let (title, underline) = (lines.get(at)?.trim_end(), lines.get(at + 1)?.trim_end());
    let sign = underline.chars().next()?;
    let level = UNDERLINES.iter().position(|it| *it == sign)? + 1;
    // What has no other bytes has as many characters as bytes.
    let is_underline = underline.len() >= UNDERLINE_CHARS_MIN && underline.chars().all(|it| it == sign);
    let is_title = !title.starts_with(['.', '[', ':', ' ', '\t']) && title.contains(char::is_alphanumeric);
    if !is_underline || !is_title || is_silent(title) || !may_begin_block(lines, at) {
        return None;
    }
    (title.chars().count().abs_diff(underline.len()) <= UNDERLINE_OFF_MAX).then_some(level)
}

/// Returns whether no paragraph goes on at a line, by the line before it.
fn may_begin_block(lines: &Lines<'_>, at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|it| lines.get(it)).map(str::trim_end) else { return true };
    let is_attribute = before.starts_with(':') || (before.starts_with('[') && before.ends_with(']'));
    let is_line_of_signs = before.len() >= UNDERLINE_CHARS_MIN && !before.contains(char::is_alphanumeric);
    before.is_empty() || is_attribute || is_line_of_signs || is_silent(before)
}

/// Returns whether a line shows nothing.
fn is_silent(line: &str) -> bool {
    ["//", "include::", "ifdef::", "endif::", "image::"].iter().any(|it| line.starts_with(it))
}

fn delimiter(line: &str) -> Option<Block> {
    let is_of = |sign: char| line.len() >= 4 && line.chars().all(|it| it == sign);
    if is_of('-') || is_of('.') {
        return Some(Block::Code);
    }
    is_of('/').then_some(Block::Comment)
}

fn plain_line(lines: &mut Lines<'_>, line: &str, language: &mut String) {
    let signs = line.len() - line.trim_start_matches('=').len();
    let rest = line.get(signs..).unwrap_or_default();
    if (1..=6).contains(&signs) && rest.starts_with(' ') && !rest.trim().is_empty() {
        return lines.push_heading(signs, rest.trim());
    }
    if let Some(attributes) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        let mut parts = attributes.split(',').map(str::trim);
        if parts.next().is_some_and(|it| it.starts_with("source")) {
            let named = parts.next().filter(|it| it.chars().all(char::is_alphanumeric));
            named.unwrap_or_default().clone_into(language);
        }
        return lines.push("");
    }
    if let Some((name, value)) = line.strip_prefix(':').and_then(|it| it.split_once(':')) {
        let is_name = !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || "-_!".contains(it));
        if is_name {
            if matches!(name, "author" | "description" | "keywords" | "revdate") && !value.trim().is_empty() {
                lines.metadata.insert(name.to_owned(), value.trim().to_owned());
            }
            return lines.push("");
        }
    }
    // The title of a block.
    let title = line.strip_prefix('.').filter(|it| it.starts_with(char::is_alphanumeric));
    lines.push(if is_silent(line) { "" } else { title.unwrap_or(line) });
}
