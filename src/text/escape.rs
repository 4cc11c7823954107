//! Text from documents on its way to a terminal.

use std::borrow::Cow;

/// What stands in for a character that may not leave.
const REPLACEMENT: char = '\u{fffd}';

/// Returns `text` without characters that steer a terminal or turn the reading direction: no control character but
/// line feed and tab, no bidirectional control. Carriage returns before a line feed go, the rest is replaced.
#[must_use]
pub fn terminal_escape(text: &str) -> Cow<'_, str> {
    if !text.contains(is_steering) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            c if is_steering(c) => escaped.push(REPLACEMENT),
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

/// Returns the beginning of `text` and `…`, `chars_max` characters in all; nothing where it has no more than that.
#[must_use]
pub fn shortened(text: &str, chars_max: usize) -> Option<String> {
    // Characters have a byte at least.
    if text.len() <= chars_max || text.chars().nth(chars_max).is_none() {
        return None;
    }
    let kept: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    Some(kept.trim_end().to_owned() + "…")
}

/// Returns the words of `text` on one line, without characters that steer a terminal or turn the reading direction.
#[must_use]
pub fn one_line(text: &str) -> String {
    let parts = text.split(|it: char| it.is_whitespace() || is_steering(it));
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn is_steering(c: char) -> bool {
    let is_control = c.is_control() && c != '\n' && c != '\t';
    let is_bidirectional =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}');
    is_control || is_bidirectional
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_shortened_to_its_beginning() {
        for (text, expect) in [("", None), ("abc", None), ("äöü", None), ("abcd", Some("ab…")), ("a bcd", Some("a…"))]
        {
            assert_eq!(shortened(text, 3).as_deref(), expect, "{text}");
        }
    }

    #[test]
    fn what_steers_a_terminal_does_not_leave() {
        for (text, expect) in [
            ("a\tb\nč", "a\tb\nč"),
            ("a\r\nb\rc", "a\nb\u{fffd}c"),
            ("\u{1b}[2J\u{7f}\u{9b}1m", "\u{fffd}[2J\u{fffd}\u{fffd}1m"),
            ("x\u{202e}y\u{2066}z\u{61c}\u{200f}", "x\u{fffd}y\u{fffd}z\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(terminal_escape(text), expect);
        }
        assert!(matches!(terminal_escape("plain"), Cow::Borrowed(_)));
    }
}
