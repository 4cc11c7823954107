//! `AsciiDoc`: headings, code blocks, attributes of the header.

use super::{FENCE, Lines};
use crate::ingest::extracted::Extracted;

/// The kind of a block between two equal lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Code,
    Comment,
}

/// Parses a file of `AsciiDoc`.
#[expect(clippy::needless_pass_by_value, clippy::unnecessary_wraps, reason = "as all parsers of text are called")]
pub(in crate::ingest) fn parse(text: String) -> Result<Extracted, String> {
    let mut lines = Lines::of(&text);
    let mut open: Option<(Block, &str)> = None;
    let mut language = String::new();
    for at in 0..lines.all.len() {
        let line = lines.get(at).unwrap_or_default().trim_end();
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
    let is_silent = line.starts_with("//") || line.starts_with("include::") || line.starts_with("ifdef::");
    let is_silent = is_silent || line.starts_with("endif::") || line.starts_with("image::");
    // The title of a block.
    let title = line.strip_prefix('.').filter(|it| it.starts_with(char::is_alphanumeric));
    lines.push(if is_silent { "" } else { title.unwrap_or(line) });
}
