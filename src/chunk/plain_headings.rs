//! Headings of plain text: underlined, or apart from what follows, and below a rule or with a number of several parts.

/// Characters of a line of one character, at least, for it to be a rule.
const RULE_CHARS_MIN: usize = 10;
/// Bytes of a rule, with white space, at most: a whole paragraph may be asked for.
const RULE_BYTES_MAX: usize = 400;
/// Characters of a line that underlines a heading, at least; how many it may have more or less than the heading.
const UNDERLINE_CHARS_MIN: usize = 3;
const UNDERLINE_OFF_MAX: usize = 2;
/// What a heading does not end with, unless a line of its length underlines it.
const ENDS: [char; 4] = ['.', ',', ';', ':'];
/// Characters of a heading at most.
const CHARS_MAX: usize = 120;
/// Parts of a number at most: what has more is an address, a version or a date.
const PARTS_MAX: usize = 6;

/// A heading at the beginning of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlainHeading {
    /// 1 is the outermost.
    pub(super) level: usize,
    /// It without its number and the marks of editors around it.
    pub(super) text: String,
    /// Lines that it takes.
    pub(super) lines: usize,
}

/// Returns the level of what stands below a rule, if a line is one.
pub(super) fn rule(line: &str) -> Option<usize> {
    if line.len() > RULE_BYTES_MAX {
        return None;
    }
    let line = line.trim();
    let first = line.chars().next().filter(|c| matches!(c, '=' | '-' | '#' | '*' | '~' | '_'))?;
    let is_rule = line.chars().count() >= RULE_CHARS_MIN && line.chars().all(|c| c == first);
    is_rule.then_some(if first == '=' { 1 } else { 2 })
}

/// Returns the level of a heading that a line underlines, if it does; what a document begins with may be longer than
/// its underline.
fn underlined(heading: &str, line: &str, is_first: bool) -> Option<usize> {
    let line = line.trim_end();
    let first = line.chars().next()?;
    let level = ['=', '-', '~', '^'].iter().position(|c| *c == first)? + 1;
    let (count, chars) = (line.chars().count(), heading.chars().count());
    let is_title = is_first && count < chars && !heading.ends_with(ENDS);
    let is_of_length = count >= UNDERLINE_CHARS_MIN && (count.abs_diff(chars) <= UNDERLINE_OFF_MAX || is_title);
    (is_of_length && line.chars().all(|c| c == first)).then_some(level)
}

/// Returns the heading that a text begins with, if it is one; `below` is the level by the rule above it, if there is
/// one, and `is_first` says whether nothing else is above it.
pub(super) fn plain_heading(text: &str, below: Option<usize>, is_first: bool) -> Option<PlainHeading> {
    let mut lines = text.lines();
    let first = lines.next()?.trim_end();
    if first.starts_with(char::is_whitespace) || rule(first).is_some() {
        return None;
    }
    let found = |level: usize, heading: &str, lines: usize| {
        let text = bare(heading);
        let is_heading = text.contains(char::is_alphabetic) && heading.chars().count() <= CHARS_MAX;
        is_heading.then_some(PlainHeading { level, text, lines })
    };
    let next = lines.next();
    if let Some(level) = next.and_then(|line| underlined(first, line, is_first)) {
        return found(level, first, 2);
    }
    let parts = number_parts(first);
    let level = below.or_else(|| parts.filter(|parts| (2..=PARTS_MAX).contains(parts)))?;
    let ends =
        |heading: &str, next: Option<&str>| next.is_none_or(|line| line.trim().is_empty()) && !heading.ends_with(ENDS);
    // A long one goes on in the next line.
    match next.filter(|line| parts.is_some() && line.starts_with(char::is_alphanumeric)) {
        Some(more) if number_parts(more).is_none() => {
            let heading = format!("{first} {}", more.trim());
            if ends(&heading, lines.next()) { found(level, &heading, 2) } else { None }
        }
        _ if ends(first, next) => found(level, first, 1),
        _ => None,
    }
}

/// Returns of how many parts the number is that a line begins with, with text behind it: two of `7.5. Backups`.
fn number_parts(line: &str) -> Option<usize> {
    let (number, _) = line.split_once(char::is_whitespace)?;
    let number = number.strip_suffix('.').unwrap_or(number);
    let parts: Vec<&str> = number.split('.').collect();
    let is_number = |part: &&str| (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.iter().all(is_number).then_some(parts.len())
}

/// Returns a heading without its number, and without the marks that an editor jumps to (`*07.5*`).
fn bare(heading: &str) -> String {
    let is_mark = |word: &&str| word.len() > 2 && word.starts_with('*') && word.ends_with('*');
    let mut words: Vec<&str> = heading.split_whitespace().filter(|word| !is_mark(word)).collect();
    if number_parts(heading).is_some() && words.len() > 1 {
        words.remove(0);
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_has_a_number_of_several_parts_or_stands_below_a_rule() {
        let found = |text: &str, below| plain_heading(text, below, false).map(|it| (it.level, it.text, it.lines));
        let is = |level, text: &str, lines| Some((level, text.to_owned(), lines));
        assert_eq!(found("7.5. Backups\n\nText.", None), is(2, "Backups", 1));
        assert_eq!(found("3.1.4  Overview of it\n\n   Text.", None), is(3, "Overview of it", 1));
        assert_eq!(found("2.3. Where do I\nget it?\n\nText.", None), is(2, "Where do I get it?", 2));
        assert_eq!(found("*04.7*\tUsing the clipboard\n\nIf", Some(1)), is(1, "Using the clipboard", 1));
        assert_eq!(found("7. The folder *the-folder*\n\nIf", Some(1)), is(1, "The folder", 1));
        assert_eq!(found("Changes", Some(2)), is(2, "Changes", 1));
        assert_eq!(found("NAME\n----\ngit-add", None), is(2, "NAME", 2));
        assert_eq!(found("7.5. Ärger:\n===========\n", None), is(1, "Ärger:", 2));
        for text in [
            "7. Open the file\n\nText.",
            "7.5. Backups\n7.6. Restoring\n",
            "2.5 litres are left.\n\n",
            " 7.5. Backups\n\nText.",
            "1.2.3\n\nText",
            "2024.10.01 It rained\n\n",
            "Backups\n\nText.",
            "Name\n---------\n",
            "Name  Size\n----  ----\n",
        ] {
            assert_eq!(found(text, None), None, "{text}");
        }
        assert_eq!(found("----------\n\nText", Some(1)), None);
        assert_eq!(found("A line\nand another\n", Some(1)), None);
    }

    #[test]
    fn what_a_document_begins_with_may_be_longer_than_its_underline() {
        let found = |text: &str, is_first| plain_heading(text, None, is_first).map(|it| (it.level, it.text));
        assert_eq!(found("Gasket manual\n=====\nText", true), Some((1, "Gasket manual".to_owned())));
        for (text, is_first) in [
            ("Gasket manual\n=====\nText", false),
            ("It is round.\n===\nText", true),
            ("Gasket manual\n==\nText", true),
            ("Gasket\n============\nText", true),
        ] {
            assert_eq!(found(text, is_first), None, "{text}");
        }
    }

    #[test]
    fn a_rule_is_a_line_of_one_character() {
        assert_eq!(
            [rule("=========="), rule(" ---------- "), rule("---"), rule("=====-====")],
            [Some(1), Some(2), None, None]
        );
    }
}
