//! Plain text: the first line may be the title.

use super::extracted::Extracted;
use super::markup;
use crate::domain::Positions;

/// Maximum characters of a first line that is taken as the title.
const TITLE_CHARS_MAX: usize = 100;

/// Characters of the line below a title at least; how many it has more or less than the title where it says by itself
/// that this is one.
const UNDERLINE_CHARS_MIN: usize = 3;
const UNDERLINE_OFF_MAX: usize = 2;

/// Beginnings of lines that are comments, directives or other markup, not titles.
const NO_TITLES: &[&str] = &[".. ", "#!", "# ", "//", "/*", "<", "%", "--", ";", "\\"];

/// Parses a file of plain text, or of reStructuredText if it looks like that.
pub(super) fn parse(text: String) -> Result<Extracted, String> {
    if markup::is_like_rst(&text) {
        return markup::rst(text);
    }
    let title = title(&text).map(str::to_owned);
    Ok(Extracted { title, text, positions: Positions::of_lines(), ..Extracted::default() })
}

/// Returns the title that a text begins with: an underlined line, or one that looks like a title.
fn title(text: &str) -> Option<&str> {
    let mut lines = text.lines().skip_while(|line| line.trim().is_empty());
    let (first, next) = (lines.next()?.trim(), lines.next()?.trim());
    let (title, underline) = match adornment(first) {
        Some(_) => (next, lines.clone().next().map(str::trim).filter(|line| adornment(line) == adornment(first))),
        None => (first, Some(next).filter(|line| adornment(line).is_some())),
    };
    let is_title = match underline {
        Some(line) => line.len().abs_diff(title.chars().count()) <= UNDERLINE_OFF_MAX || !is_sentence(title),
        None => next.is_empty() && lines.any(|line| !line.trim().is_empty()) && !is_sentence(title),
    };
    let is_short = title.chars().nth(TITLE_CHARS_MAX).is_none();
    let is_other = NO_TITLES.iter().any(|start| title.starts_with(start));
    (is_title && is_short && !is_other && title.contains(char::is_alphanumeric)).then_some(title)
}

/// Returns the sign of which a line above or below a title consists.
fn adornment(line: &str) -> Option<char> {
    let sign = line.chars().next().filter(|it| ['=', '-', '~', '^'].contains(it))?;
    (line.len() >= UNDERLINE_CHARS_MIN && line.chars().all(|it| it == sign)).then_some(sign)
}

/// Returns whether a line ends as sentences do, or goes on.
fn is_sentence(line: &str) -> bool {
    line.ends_with(['.', '!', '?', ':', ';', ',', '…', '。'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_underlined_line_at_the_beginning_is_the_title() {
        for (text, expect) in [
            ("Gasket manual\n=====\nIt is round.", Some("Gasket manual")),
            ("\nGasket\n------\nIt is round.", Some("Gasket")),
            ("What is it?\r\n===========\r\n", Some("What is it?")),
            ("===============\n My Boxed Title\n===============\n\nText.", Some("My Boxed Title")),
            ("It is round.\n---\nSo it is.", None),
            ("Name  Size\n----  ----\n", None),
            ("# a comment\n-----------\n", None),
            ("====\nIt is round\n----\n", None),
            ("It is round\nand old\n=======\n", None),
            ("====\n====\n====\n", None),
            ("a\n-\n", None),
        ] {
            assert_eq!(title(text), expect, "{text:?}");
        }
    }

    #[test]
    fn a_short_line_that_stands_apart_is_the_title() {
        let long = "x".repeat(TITLE_CHARS_MAX + 1);
        for (text, expect) in [
            ("The mill\n\nIt stands by the river.", Some("The mill")),
            ("\n  The mill \r\n\r\nIt stands.", Some("The mill")),
            ("The mill\nIt stands.", None),
            ("The mill stands.\n\nIt is old.", None),
            ("The mill", None),
            ("The mill\n\n  \n", None),
            ("-----\n\nText.", None),
            (".. SPDX-License-Identifier: MIT\n\nText.", None),
            ("# a comment\n\nText.", None),
            ("", None),
            (&format!("{long}\n\nText."), None),
            (&format!("{}\n\nText.", &long[1..]), Some(&long[1..])),
        ] {
            assert_eq!(title(text), expect, "{text:?}");
        }
    }
}
