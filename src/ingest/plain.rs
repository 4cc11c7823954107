//! Plain text: the first line may be the title.

use super::extracted::Extracted;
use super::markup;
use crate::domain::Positions;

/// Maximum characters of a first line that is taken as the title.
const TITLE_CHARS_MAX: usize = 100;

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

/// Returns the first line if it looks like a title: short, before an empty line, and not ending like a sentence.
fn title(text: &str) -> Option<&str> {
    let mut lines = text.lines().skip_while(|line| line.trim().is_empty());
    let first = lines.next()?.trim();
    let next = lines.next()?;
    let is_apart = next.trim().is_empty() && lines.any(|line| !line.trim().is_empty());
    let is_short = first.chars().nth(TITLE_CHARS_MAX).is_none();
    let is_other = NO_TITLES.iter().any(|start| first.starts_with(start));
    let is_sentence = first.ends_with(['.', '!', '?', ':', ';', ',', '…', '。']);
    (is_apart && is_short && !is_sentence && !is_other && first.contains(char::is_alphanumeric)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

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
