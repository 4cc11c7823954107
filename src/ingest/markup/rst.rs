//! reStructuredText: titles by their underlines, directives, literal blocks, roles.

use super::{FENCE, Lines, indent};
use crate::ingest::extracted::Extracted;

/// Directives whose contents are code.
const CODE: &[&str] =
    &["code-block", "sourcecode", "code", "parsed-literal", "productionlist", "doctest", "testcode", "ipython"];
/// Directives that are left out with their contents: they mean nothing to a reader.
const SILENT: &[&str] = &[
    "toctree",
    "index",
    "raw",
    "contents",
    "meta",
    "testsetup",
    "testcleanup",
    "include",
    "literalinclude",
    "highlight",
    "module",
    "currentmodule",
    "py:module",
    "py:currentmodule",
    "sectionauthor",
    "moduleauthor",
    "codeauthor",
    "default-role",
    "role",
    "tabularcolumns",
    "image",
    "sectnum",
];
/// Directives that are replaced by a word.
const NAMED: &[(&str, &str)] = &[
    ("versionadded", "New in version"),
    ("versionchanged", "Changed in version"),
    ("deprecated", "Deprecated since version"),
    ("seealso", "See also:"),
    ("note", "Note:"),
    ("warning", "Warning:"),
    ("tip", "Tip:"),
    ("hint", "Hint:"),
    ("important", "Important:"),
    ("caution", "Caution:"),
    ("danger", "Danger:"),
    ("attention", "Attention:"),
    ("error", "Error:"),
    ("todo", "Todo:"),
    ("class", "class"),
    ("py:class", "class"),
    ("exception", "exception"),
    ("py:exception", "exception"),
];
/// An underline shorter than its title must have at least this many characters.
const UNDERLINE_MIN: usize = 4;
/// How many bytes decide whether a text is in this format.
const LOOKED_AT: usize = 8_192;

/// Returns whether a text is in this format: it has a directive, and a title with an underline.
pub(in crate::ingest) fn is_like(text: &str) -> bool {
    let end = (0..=LOOKED_AT.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    let lines: Vec<&str> = text.get(..end).unwrap_or_default().lines().collect();
    let has_directive = lines.iter().any(|line| line.starts_with(".. ") && directive(line).is_some());
    has_directive && lines.windows(2).any(|two| is_title(two[0]) && is_underline(two[1], two[0]))
}

/// Parses a file of reStructuredText.
#[expect(clippy::needless_pass_by_value, clippy::unnecessary_wraps, reason = "as all parsers of text are called")]
pub(in crate::ingest) fn parse(text: String) -> Result<Extracted, String> {
    let mut lines = Lines::of(&text);
    let mut levels: Vec<(char, bool)> = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at = match heading(&lines, at, &mut levels) {
            Some((level, title, taken, before)) => {
                lines.push_blank(before);
                lines.push_heading(level, &inline(title));
                lines.push_blank(taken - before - 1);
                at + taken
            }
            None if line.trim_start().starts_with("..") => explicit(&mut lines, at),
            None if line.trim_end().ends_with("::") => {
                let shown = line.trim_end().strip_suffix(':').unwrap_or(line);
                let shown = if shown.trim() == ":" { "" } else { shown };
                let base = indent(line);
                code(&mut lines, at, base, "", &inline(shown))
            }
            None => {
                lines.push(&inline(line));
                at + 1
            }
        };
    }
    Ok(lines.finish("text/x-rst"))
}

/// Returns the character of which a line consists, if it consists of only one.
fn adornment(line: &str) -> Option<char> {
    let line = line.trim_end();
    let first = line.chars().next().filter(char::is_ascii_punctuation)?;
    (line.len() >= 2 && line != "::" && line != ".." && line.chars().all(|it| it == first)).then_some(first)
}

fn is_title(line: &str) -> bool {
    !line.trim().is_empty() && indent(line) == 0 && adornment(line).is_none()
}

fn is_underline(line: &str, title: &str) -> bool {
    let length = line.trim_end().len();
    adornment(line).is_some() && (length >= UNDERLINE_MIN || length >= title.trim().chars().count())
}

/// Returns the level and text of the heading at a line, how many lines it takes, and how many of these precede its
/// text.
fn heading<'a>(lines: &Lines<'a>, at: usize, levels: &mut Vec<(char, bool)>) -> Option<(usize, &'a str, usize, usize)> {
    if at > 0 && !lines.is_blank(at - 1) && lines.get(at - 1).and_then(adornment).is_none() {
        return None;
    }
    let first = lines.get(at)?;
    let (title, sign, has_line_above) = if let Some(sign) = adornment(first) {
        let (title, below) = (lines.get(at + 1)?, lines.get(at + 2)?);
        let fits = !title.trim().is_empty() && below.trim_end() == first.trim_end();
        (fits && adornment(title).is_none() && is_underline(below, title)).then_some((title, sign, true))?
    } else {
        let below = lines.get(at + 1)?;
        (is_title(first) && is_underline(below, first)).then_some((first, adornment(below)?, false))?
    };
    let style = (sign, has_line_above);
    let level = levels.iter().position(|it| *it == style).unwrap_or_else(|| {
        levels.push(style);
        levels.len() - 1
    });
    Some((level + 1, title, if has_line_above { 3 } else { 2 }, usize::from(has_line_above)))
}

/// Returns the name and the argument of a directive.
fn directive(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix(".. ")?.trim_start();
    let (name, argument) = rest.split_once("::")?;
    let is_name = name.starts_with(|it: char| it.is_ascii_alphabetic())
        && name.chars().all(|it| it.is_ascii_alphanumeric() || "-_:.+".contains(it));
    (is_name && (argument.is_empty() || argument.starts_with(char::is_whitespace))).then_some((name, argument.trim()))
}

/// Handles a directive, a comment, a target or a footnote; returns where to continue.
fn explicit(lines: &mut Lines<'_>, at: usize) -> usize {
    let line = lines.get(at).unwrap_or_default();
    let base = indent(line);
    let Some((name, argument)) = directive(line) else {
        let rest = line.trim_start().strip_prefix("..").unwrap_or_default().trim_start();
        if rest.starts_with('[') {
            lines.push(&inline(rest));
            return at + 1;
        }
        if !line.trim_start().starts_with(".. ") && line.trim() != ".." {
            lines.push(&inline(line));
            return at + 1;
        }
        // A target is a single line; a comment continues as long as lines are indented.
        let end = if rest.is_empty() || rest.starts_with('_') { at + 1 } else { end_of_block(lines, at + 1, base) };
        lines.push_blank(end - at);
        return end;
    };
    if CODE.contains(&name) {
        let language = if name == "productionlist" || name == "parsed-literal" { "" } else { argument };
        return code(lines, at, base, language, "");
    }
    if SILENT.contains(&name) {
        let end = end_of_block(lines, at + 1, base);
        lines.push_blank(end - at);
        return end;
    }
    let word = NAMED.iter().find(|it| it.0 == name).map_or("", |it| it.1);
    let shown = if name == "figure" { String::new() } else { inline(format!("{word} {argument}").trim()) };
    lines.push(&format!("{}{shown}", " ".repeat(base)));
    skip_options(lines, at + 1, base)
}

/// Blanks the options below a directive; returns where to continue.
fn skip_options(lines: &mut Lines<'_>, from: usize, base: usize) -> usize {
    let is_option = |line: &str| indent(line) > base && line.trim_start().starts_with(':');
    let count = lines.all.iter().skip(from).take_while(|line| is_option(line)).count();
    lines.push_blank(count);
    from + count
}

/// Returns the end of the block from `from` on: its lines are indented deeper than `base`, and its last one is not
/// blank.
fn end_of_block(lines: &Lines<'_>, from: usize, base: usize) -> usize {
    let mut end = from;
    for at in from..lines.all.len() {
        match lines.get(at) {
            Some(line) if line.trim().is_empty() => {}
            Some(line) if indent(line) > base => end = at + 1,
            _ => break,
        }
    }
    end
}

/// Writes the line at `at` as `shown`, and the block below as code; returns where to continue.
fn code(lines: &mut Lines<'_>, at: usize, base: usize, language: &str, shown: &str) -> usize {
    lines.push(shown);
    let from = skip_options(lines, at + 1, base);
    let Some(first) = lines.next_text(from).filter(|first| indent(lines.all[*first]) > base && *first > from) else {
        return from;
    };
    let end = end_of_block(lines, first, base);
    let left = (first..end).filter(|it| !lines.is_blank(*it)).map(|it| indent(lines.all[it])).min().unwrap_or(0);
    lines.push_blank(first - from - 1);
    lines.push(&format!("{FENCE}{}", language.split_whitespace().next().unwrap_or_default()));
    for number in first..end {
        let line = lines.get(number).unwrap_or_default();
        lines.push(line.get(left.min(line.len())..).unwrap_or(line));
    }
    if lines.is_blank(end) {
        lines.push(FENCE);
        return end + 1;
    }
    // Nothing separates it from what follows, so the last line of code ends it.
    let kept = lines.out.trim_end_matches('\n').len();
    lines.out.truncate(kept);
    lines.out.push(' ');
    lines.push(FENCE);
    end
}

/// Returns a line as readers see it: without roles and link targets.
fn inline(line: &str) -> String {
    if !line.contains('`') {
        return line.to_owned();
    }
    let mut shown = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let (before, after) = (rest.get(..at).unwrap_or_default(), rest.get(at..).unwrap_or_default());
        shown.push_str(before);
        let ticks = after.len() - after.trim_start_matches('`').len();
        let mark = after.get(..ticks.min(2)).unwrap_or_default();
        let inner = after.get(mark.len()..).unwrap_or_default();
        let Some(end) = inner.find(mark) else {
            shown.push_str(after);
            return shown;
        };
        let text = inner.get(..end).unwrap_or_default();
        rest = inner.get(end + mark.len()..).unwrap_or_default();
        if mark == "``" {
            shown.extend(["`", text, "`"]);
            continue;
        }
        let is_role = drop_role(&mut shown);
        rest = rest.strip_prefix("__").or_else(|| rest.strip_prefix('_')).unwrap_or(rest);
        let name = match text.rsplit_once(" <") {
            Some((name, target)) if target.ends_with('>') => name,
            _ => text.trim_start_matches(['~', '!']),
        };
        let tick = if is_role && !text.contains(" <") { "`" } else { "" };
        shown.extend([tick, name, tick]);
    }
    shown.push_str(rest);
    shown
}

/// Removes the name of a role from the end of what is shown; returns whether there was one.
fn drop_role(shown: &mut String) -> bool {
    let Some(name) = shown.strip_suffix(':') else { return false };
    let start = name.trim_end_matches(|it: char| it.is_ascii_alphanumeric() || "-_:.+".contains(it)).len();
    let role = name.get(start..).unwrap_or_default();
    let is_role = role.len() > 1 && role.starts_with(':');
    if is_role {
        shown.truncate(start);
    }
    is_role
}
