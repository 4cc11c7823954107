//! Markdown: front matter and the first heading. The text keeps its length, so positions in it are positions in the
//! file.

use super::extracted::Extracted;
use crate::chunk::underlined_heading;
use crate::domain::{Metadata, Positions};

/// Front matter beyond this is text.
const FRONT_MATTER_BYTES_MAX: usize = 64 << 10;
const FENCE: &str = "---";

/// Parses a Markdown file: front matter becomes metadata, and blanks in the text.
#[expect(clippy::unnecessary_wraps, reason = "as all parsers of text are called")]
pub(super) fn parse(mut text: String) -> Result<Extracted, String> {
    let front = front_matter(&text);
    let (end, mut metadata) = front.unwrap_or_default();
    let blank: String = text[..end].chars().flat_map(blank_of).collect();
    text.replace_range(..end, &blank);
    let title = metadata.remove("title").or_else(|| heading(&text).map(str::to_owned));
    Ok(Extracted { title, text, metadata, positions: Positions::of_lines(), ..Extracted::default() })
}

/// Returns as many blanks as the character has bytes; line ends are kept.
fn blank_of(character: char) -> impl Iterator<Item = char> {
    let blank = if character == '\n' || character == '\r' { character } else { ' ' };
    std::iter::repeat_n(blank, character.len_utf8())
}

/// Returns where front matter ends, and its plain entries; nothing if there is none.
fn front_matter(text: &str) -> Option<(usize, Metadata)> {
    let mut lines = text.split_inclusive('\n');
    let mut end = lines.next().filter(|line| line.trim_end() == FENCE)?.len();
    let mut metadata = Metadata::new();
    for line in lines {
        end += line.len();
        if end > FRONT_MATTER_BYTES_MAX {
            return None;
        }
        if line.trim_end() == FENCE {
            // There may also be text between two rules: without any line `key: value`, it is not front matter.
            return (!metadata.is_empty()).then_some((end, metadata));
        }
        metadata.extend(key_value(line));
    }
    None
}

/// Returns key and value of a line `key: value`; nothing for lists, nested values and comments.
fn key_value(line: &str) -> Option<(String, String)> {
    let (key, value) = line.split_once(':')?;
    let is_key = !key.is_empty() && key.chars().all(|it| it.is_alphanumeric() || it == '_' || it == '-');
    let value = unquoted(value.trim());
    let is_plain = !value.is_empty() && !value.starts_with(['[', '{', '|', '>', '&', '*']);
    (is_key && is_plain).then(|| (key.to_owned(), value.to_owned()))
}

fn unquoted(value: &str) -> &str {
    let inner = |quote| value.strip_prefix(quote).and_then(|rest: &str| rest.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}

/// Returns the first heading of the first level, or else a heading of any level at the beginning of the text.
pub(super) fn heading(text: &str) -> Option<&str> {
    let mut lines = text.lines().skip_while(|line| line.trim().is_empty() || line.trim_start().starts_with("<!--"));
    let (first, second) = (lines.next(), lines.next());
    let begins = || {
        let line = first?;
        let rest = line.trim_start_matches('#');
        let is_heading = (2..=6).contains(&(line.len() - rest.len())) && rest.starts_with(' ');
        let is_underlined = || underlined_heading(line, second.unwrap_or_default()).is_some();
        let title = if is_heading { rest.trim().trim_end_matches('#').trim_end() } else { line.trim() };
        Some(title).filter(|title| !title.is_empty() && (is_heading || is_underlined()))
    };
    first_level(text).or_else(begins)
}

/// Returns the first heading of the first level.
fn first_level(text: &str) -> Option<&str> {
    let mut is_code = false;
    let mut before = "";
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        is_code ^= is_fence;
        if is_code || is_fence {
            before = "";
            continue;
        }
        let underlines = !line.trim().is_empty() && line.trim_end().bytes().all(|byte| byte == b'=');
        if underlines && !before.is_empty() {
            return Some(before);
        }
        if let Some(title) = line.strip_prefix("# ").map(|title| title.trim().trim_end_matches('#').trim_end())
            && !title.is_empty()
        {
            return Some(title);
        }
        before = line.trim();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, title: Option<&str>, metadata: &[(&str, &str)]) {
        let parsed = parse(text.to_owned()).unwrap();
        let expect: Metadata = metadata.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        assert_eq!((parsed.title.as_deref(), &parsed.metadata), (title, &expect), "{text:?}");
        assert_eq!(parsed.text.len(), text.len(), "{text:?}");
        assert_eq!(parsed.text.lines().count(), text.lines().count(), "{text:?}");
    }

    #[test]
    fn the_first_heading_is_the_title_and_stays_in_the_text() {
        check("# The mill\n\nText.", Some("The mill"), &[]);
        check("Text.\n\n## Below\n\n# The mill ##\n", Some("The mill"), &[]);
        check("The mill\n========\n\nText.", Some("The mill"), &[]);
        check("```\n# a comment\n```\nText.", None, &[]);
        check("#hashtag\n", None, &[]);
        check("# \n\n# Second", Some("Second"), &[]);
        check("======\n", None, &[]);
        check("## The mill\n   \nText.\n", Some("The mill"), &[]);
        check("\n## Of mills ##\n\n### Below\n", Some("Of mills"), &[]);
        check("Text.\n\n## Below\n", None, &[]);
        check("<!-- a -->\nThe mill\n---\n\nText.", Some("The mill"), &[]);
        check("- an item\n---\n\nText.", None, &[]);
        check("Text.\n\nBelow\n---\n", None, &[]);
        check("", None, &[]);
        assert_eq!(parse("# The mill\n\nText.".to_owned()).unwrap().text, "# The mill\n\nText.");
    }

    #[test]
    fn front_matter_becomes_metadata_and_blanks() {
        let text = "---\ntitle: \"The mill\"\nyear: 1890\ntags:\n  - a\nlist: [a, b]\nauthor: Zoë\n---\n# Heading\n";
        check(text, Some("The mill"), &[("author", "Zoë"), ("year", "1890")]);
        assert_eq!(parse(text.to_owned()).unwrap().text.trim_start(), "# Heading\n");
        check("---\r\nyear: 1890\r\n---\r\n# Heading\r\n", Some("Heading"), &[("year", "1890")]);
    }

    #[test]
    fn invalid_front_matter_is_text() {
        for (text, title) in [
            ("---\nyear: 1890\n", None),
            ("---\n\nText.\n\n---\n", None),
            ("Text\n---\nyear: 1890\n---\n", Some("Text")),
            ("--- \n---", None),
            ("---", None),
        ] {
            check(text, title, &[]);
            assert_eq!(parse(text.to_owned()).unwrap().text, text);
        }
    }
}
