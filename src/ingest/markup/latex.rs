//! LaTeX: sections, lists and code; commands are replaced by their contents, formulas stay.

use super::{FENCE, Lines};
use crate::ingest::extracted::Extracted;

/// Commands that are headings, and their levels.
const SECTIONS: &[(&str, usize)] = &[
    ("part", 1),
    ("chapter", 1),
    ("section", 2),
    ("subsection", 3),
    ("subsubsection", 4),
    ("paragraph", 5),
    ("subparagraph", 6),
];
/// Environments of code.
const CODE: &[&str] = &["verbatim", "lstlisting", "minted", "Verbatim", "alltt"];
/// Commands that are left out with their arguments: they mean nothing to a reader.
const SILENT: &[&str] = &[
    "label",
    "index",
    "includegraphics",
    "vspace",
    "hspace",
    "bibliography",
    "bibliographystyle",
    "input",
    "include",
    "usepackage",
    "documentclass",
    "pagestyle",
    "thispagestyle",
    "newcommand",
    "renewcommand",
    "setlength",
    "cite",
    "citep",
    "citet",
    "ref",
    "eqref",
    "pageref",
    "autoref",
    "cref",
];

/// Parses a file of LaTeX.
#[expect(clippy::needless_pass_by_value, clippy::unnecessary_wraps, reason = "as all parsers of text are called")]
pub(in crate::ingest) fn parse(text: String) -> Result<Extracted, String> {
    let mut lines = Lines::of(&text);
    let begin = lines.all.iter().position(|line| line.trim_start().starts_with("\\begin{document}"));
    let mut code: Option<String> = None;
    let mut title = None;
    for at in 0..lines.all.len() {
        let line = lines.get(at).unwrap_or_default();
        if let Some(end) = &code {
            if line.trim_start().starts_with(end.as_str()) {
                lines.push(FENCE);
                code = None;
            } else {
                lines.push(line);
            }
            continue;
        }
        if title.is_none() {
            title = argument(line, "title").map(inline).filter(|it| !it.trim().is_empty());
        }
        if begin.is_some_and(|begin| at <= begin) {
            lines.push("");
        } else if let Some(name) = CODE.iter().find(|name| begins(line, name)) {
            lines.push(FENCE);
            code = Some(format!("\\end{{{name}}}"));
        } else {
            plain_line(&mut lines, line);
        }
    }
    if code.is_some() {
        lines.push(FENCE);
    }
    lines.title = title.or(lines.title);
    Ok(lines.finish("text/x-tex"))
}

fn begins(line: &str, environment: &str) -> bool {
    let rest = line.trim_start().strip_prefix("\\begin{").and_then(|it| it.strip_prefix(environment));
    rest.is_some_and(|it| it.starts_with('}'))
}

/// Returns the argument in braces of a command at the beginning of a line, up to the end of the line.
fn argument<'a>(line: &'a str, command: &str) -> Option<&'a str> {
    let rest = line.trim_start().strip_prefix('\\')?.strip_prefix(command)?;
    let rest = rest.strip_prefix('*').unwrap_or(rest);
    // A short form for the table of contents may come first.
    let rest = match rest.strip_prefix('[') {
        Some(short) => short.split_once(']')?.1,
        None => rest,
    };
    let inner = rest.strip_prefix('{')?;
    let mut depth = 1;
    let end = inner.char_indices().find(|(_, it)| {
        depth += match it {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        depth == 0
    });
    inner.get(..end.map_or(inner.len(), |it| it.0))
}

fn plain_line(lines: &mut Lines<'_>, line: &str) {
    let section = SECTIONS.iter().find_map(|(name, level)| Some((*level, argument(line, name)?)));
    match section {
        Some((level, heading)) => lines.push_heading(level, &inline(heading)),
        None => lines.push(&inline(line)),
    }
}

/// Returns a line as readers see it: without comments, and with the contents of commands in their place.
fn inline(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['\\', '%', '~', '{', '}']) {
        shown.push_str(rest.get(..at).unwrap_or_default());
        let sign = rest.as_bytes().get(at).copied().unwrap_or_default();
        rest = rest.get(at + 1..).unwrap_or_default();
        match sign {
            b'%' => return shown,
            b'~' => shown.push(' '),
            b'\\' => rest = command(&mut shown, rest),
            _ => {}
        }
    }
    shown.push_str(rest);
    shown
}

/// Handles a command after its backslash; returns the rest of the line.
fn command<'a>(shown: &mut String, rest: &'a str) -> &'a str {
    let name_bytes = rest.len() - rest.trim_start_matches(|it: char| it.is_ascii_alphabetic()).len();
    let (name, after) = rest.split_at(name_bytes);
    if name.is_empty() {
        // An escaped character, or the end of a table row.
        let mut signs = after.chars();
        match signs.next() {
            Some(sign @ ('%' | '_' | '&' | '#' | '$' | '{' | '}')) => shown.push(sign),
            // The end of the line, or a character without a meaning of its own.
            Some(_) => shown.push(' '),
            None => {}
        }
        return signs.as_str();
    }
    let after = after.strip_prefix('*').unwrap_or(after);
    let silent = |after: &'a str| {
        let after = match after.strip_prefix('[') {
            Some(options) => options.split_once(']').map_or("", |it| it.1),
            None => after,
        };
        match after.strip_prefix('{') {
            Some(inner) => inner.split_once('}').map_or("", |it| it.1),
            None => after,
        }
    };
    match name {
        "item" => {
            shown.push_str("- ");
            after.trim_start()
        }
        "begin" | "end" => silent(after),
        name if SILENT.contains(&name) => silent(after),
        _ => match after.strip_prefix('[') {
            Some(options) => options.split_once(']').map_or("", |it| it.1),
            None => after.strip_prefix(' ').unwrap_or(after),
        },
    }
}
