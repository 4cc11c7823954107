//! Headings of Markdown that are underlined, as `CommonMark` says.

/// Bytes of the lines of a heading at most: what is longer is a paragraph above a rule.
const BYTES_MAX: usize = 400;
/// Spaces before an underline, or before what it underlines, at most: what is moved in further is code.
const INDENT_MAX: usize = 3;
/// Elements that stand inside paragraphs; others are blocks of their own.
const INLINE: &[&str] =
    &["a", "b", "br", "code", "del", "em", "i", "img", "ins", "kbd", "mark", "s", "span", "strong", "sub", "sup", "u"];

/// A heading that a line underlines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnderlinedHeading {
    /// 1 or 2.
    pub(crate) level: usize,
    /// It on one line.
    pub(crate) text: String,
    /// The byte of the text above at which it begins.
    pub(super) start: usize,
}

/// What a line is to a paragraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    /// It ends before a paragraph begins.
    Apart,
    /// What follows on it directly is no paragraph of the text, but of a list, a quotation, a table, an element.
    Container,
}

/// Returns the heading at the end of `above` that `line` underlines, if it does. No line of `above` is blank.
pub(crate) fn underlined_heading(above: &str, line: &str) -> Option<UnderlinedHeading> {
    let level = underline(line)?;
    let above = above.strip_suffix('\n').unwrap_or(above);
    // No more is looked at: a long paragraph may be asked for at each of its lines.
    let floor = (above.len().saturating_sub(BYTES_MAX)..above.len()).find(|at| above.is_char_boundary(*at))?;
    let (mut start, mut at) = (above.len(), above.len());
    for one in above[floor..].rsplit('\n') {
        at -= one.len();
        if at == floor && floor > 0 {
            return None;
        }
        match kind(one) {
            Kind::Text => start = at,
            Kind::Apart => break,
            Kind::Container => return None,
        }
        at = at.saturating_sub(1);
    }
    let lines = &above[start..];
    // What is moved in further than its underline is of a list.
    if indent(lines) > indent(line) {
        return None;
    }
    let text = lines.split_whitespace().collect::<Vec<_>>().join(" ");
    text.contains(char::is_alphanumeric).then_some(UnderlinedHeading { level, text, start })
}

/// Returns the level of what a line underlines, if it may underline anything.
fn underline(line: &str) -> Option<usize> {
    let sign = line.trim_start_matches(' ').chars().next()?;
    let level = ['=', '-'].iter().position(|it| *it == sign)? + 1;
    (indent(line) <= INDENT_MAX && line.trim().chars().all(|it| it == sign)).then_some(level)
}

/// Returns the columns before a line's text; a tab is as good as code.
fn indent(line: &str) -> usize {
    let blanks = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
    blanks.map(|byte| if byte == b'\t' { INDENT_MAX + 1 } else { 1 }).sum()
}

fn kind(line: &str) -> Kind {
    let line = line.trim();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at(digits);
    let after = if number.is_empty() { rest.strip_prefix(['-', '*', '+']) } else { rest.strip_prefix(['.', ')']) };
    let is_item = after.is_some_and(|after| after.is_empty() || after.starts_with([' ', '\t']));
    let is_delimiter = line.contains('|') && line.chars().all(|it| "|:- \t".contains(it));
    let is_comment = line.starts_with("<!--");
    if is_rule(line)
        || ["```", "~~~", ":::"].iter().any(|mark| line.starts_with(mark))
        || line.ends_with("-->")
        || (line.starts_with('[') && line.contains("]: "))
    {
        Kind::Apart
    } else if is_item || is_delimiter || is_comment || line.starts_with(['>', '|']) || begins_block(line) {
        Kind::Container
    } else {
        Kind::Text
    }
}

/// Returns whether a line divides texts: `***`, `- - -`.
fn is_rule(line: &str) -> bool {
    let signs = || line.chars().filter(|it| !it.is_whitespace());
    let first = signs().next().filter(|it| ['*', '-', '_'].contains(it));
    first.is_some_and(|first| signs().count() >= 3 && signs().all(|it| it == first))
}

/// Returns whether a line begins with an element that is a block.
fn begins_block(line: &str) -> bool {
    let Some(tag) = line.strip_prefix('<') else { return false };
    let tag = tag.strip_prefix('/').unwrap_or(tag);
    let name = tag.len() - tag.trim_start_matches(|it: char| it.is_ascii_alphanumeric()).len();
    let (name, rest) = tag.split_at(name);
    let is_tag = !name.is_empty() && (rest.is_empty() || rest.starts_with([' ', '\t', '>', '/']));
    is_tag && !INLINE.contains(&name.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_above_an_underline_is_a_heading() {
        let found = |above: &str, line| {
            underlined_heading(above, line).map(|it| (it.level, it.text, above[it.start..].to_owned()))
        };
        for (above, line, level, heading) in [
            ("Title\n", "===", 1, "Title"),
            ("Sub\r\n", "---\r\n", 2, "Sub"),
            ("Sub of two\nlines\n", "-", 2, "Sub of two\nlines\n"),
            ("  Sub\n", "  ---  ", 2, "  Sub"),
            ("```\nls\n```\nSub\n", "---", 2, "Sub"),
            ("***\nSub\n", "---", 2, "Sub"),
            ("<!-- a -->\nSub\n", "---", 2, "Sub"),
            ("[a]: /b\nSub\n", "---", 2, "Sub"),
            ("<a name=\"s\"></a>Sub\n", "---", 2, "<a name=\"s\"></a>Sub"),
            ("<https://example.org>\n", "---", 2, "<https://example.org>"),
            ("1990 was it\n", "---", 2, "1990 was it"),
            ("Ärger\n", "=====", 1, "Ärger"),
        ] {
            let (found_level, text, lines) = found(above, line).expect(above);
            assert_eq!((found_level, lines.trim_end()), (level, heading.trim_end()), "{above:?}");
            assert_eq!(text, heading.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        for (above, line) in [
            ("Title\n", "=== =="),
            ("Title\n", "    ---"),
            ("Title\n", "\t---"),
            ("    ls\n", "---"),
            ("  of an item\n", "---"),
            ("- item\n", "---"),
            ("- item\nwhich goes on\n", "---"),
            ("1. item\n", "---"),
            ("> said\nand on\n", "==="),
            ("a | b\n--- | ---\n1 | 2\n", "---"),
            ("| a |\n", "---"),
            ("<div>\nTitle\n", "---"),
            ("</details>\n", "---"),
            ("<!-- a\n", "---"),
            ("***\n", "---"),
            ("- - -\n", "---"),
            ("...\n", "---"),
            ("", "---"),
        ] {
            assert_eq!(found(above, line), None, "{above:?} {line:?}");
        }
    }

    #[test]
    fn a_long_paragraph_above_a_rule_is_none() {
        for line in ["é", "ab\n"] {
            assert!(underlined_heading(&line.repeat(BYTES_MAX / line.len()), "---").is_some());
            assert_eq!(underlined_heading(&line.repeat(BYTES_MAX / line.len() + 2), "---"), None);
        }
    }
}
