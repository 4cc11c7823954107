//! Escapes untrusted text for a terminal: documents, file names, messages of servers.
//!
//! A terminal obeys control characters, reorders words for bidirectional controls, and hides many other characters, so
//! what is seen is not what is copied. All of these are escaped. Ordinary text stays, even if it needs characters that
//! are invisible by themselves: Persian and the scripts of India between letters, emoji between their parts.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The replacement for an escaped character.
const REPLACEMENT: char = '\u{fffd}';
/// Emoji whose parts are tag characters: the flags of England, Scotland and Wales.
const TAGGED_FLAGS: [&str; 3] = [
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];
const ZERO_WIDTH_NON_JOINER: char = '\u{200c}';
const ZERO_WIDTH_JOINER: char = '\u{200d}';

/// Returns `text` without characters that control a terminal, change the reading direction or are invisible, but with
/// its line feeds and tabs. Carriage returns before a line feed and soft hyphens are removed, the others replaced.
#[must_use]
pub(crate) fn terminal_escape(text: &str) -> Cow<'_, str> {
    escaped(text, true)
}

/// Returns `text` as [`terminal_escape`] does, on one line: line feeds and tabs are replaced too, so that no text can
/// begin a line that it does not belong on.
#[must_use]
pub(crate) fn terminal_line(text: &str) -> Cow<'_, str> {
    escaped(text, false)
}

fn escaped(text: &str, keeps_lines: bool) -> Cow<'_, str> {
    if !text.contains(|c| is_suspect(c) || (!keeps_lines && matches!(c, '\n' | '\t'))) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(flag) = TAGGED_FLAGS.iter().find(|flag| rest.starts_with(**flag)) {
            escaped.push_str(flag);
            (before, rest) = (None, &rest[flag.len()..]);
            continue;
        }
        rest = &rest[c.len_utf8()..];
        let after = rest.chars().next();
        let shown = match c {
            '\r' if keeps_lines && after == Some('\n') => continue,
            '\u{ad}' => continue,
            '\n' | '\t' if keeps_lines => c,
            '\n' | '\t' => REPLACEMENT,
            c if is_suspect(c) && !belongs(before, c, after) => REPLACEMENT,
            c => c,
        };
        escaped.push(shown);
        before = Some(shown);
    }
    Cow::Owned(escaped)
}

/// Returns the beginning of `text` and `…`, `chars_max` characters in all; none if it is not longer.
#[must_use]
pub(crate) fn shortened(text: &str, chars_max: usize) -> Option<String> {
    // Characters have a byte at least.
    if text.len() <= chars_max || text.chars().nth(chars_max).is_none() {
        return None;
    }
    let kept: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    Some(kept.trim_end().to_owned() + "…")
}

/// Returns the beginning of a text on one line, with `…` if it is longer than `chars_max`.
#[must_use]
pub(crate) fn clipped(text: &str, chars_max: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        if count > 0 {
            line.push(' ');
            count += 1;
        }
        for c in word.chars() {
            if count >= chars_max {
                line.truncate(line.trim_end().len());
                line.push('…');
                return line;
            }
            line.push(c);
            count += 1;
        }
    }
    line
}

/// Returns the words of `text` on one line, without characters that control a terminal or change the reading direction.
#[must_use]
pub(crate) fn one_line(text: &str) -> String {
    let parts = text.split(|it: char| it.is_whitespace() || is_steering(it));
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns the words of `text` on one line, as [`one_line`], without any invisible character, even if a script needs
/// it.
#[must_use]
pub(crate) fn visible_line(text: &str) -> String {
    let is_seen = |it: &char| !is_suspect(*it) || it.is_control() || it.is_whitespace();
    one_line(&text.chars().filter(is_seen).collect::<String>())
}

/// Returns JSON of the same value without characters that control a terminal, change the reading direction or are
/// invisible: inside strings, they are written as `\uXXXX`.
#[must_use]
pub(crate) fn json_escape(json: &str) -> Cow<'_, str> {
    if !json.contains(is_suspect) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if is_suspect(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _written = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// Returns whether a character controls a terminal or changes the reading direction anywhere.
fn is_steering(c: char) -> bool {
    let is_control = c.is_control() && c != '\n' && c != '\t';
    let is_bidirectional =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}');
    is_control || is_bidirectional
}

/// Returns whether a character controls, changes direction, or is invisible where it does not belong.
fn is_suspect(c: char) -> bool {
    if matches!(c, '\n' | '\t' | ' '..='~') {
        return false;
    }
    let is_filler = matches!(c, '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}');
    let is_format = matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}');
    let is_general =
        matches!(c, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}');
    // Selectors of variants, and with the tags what Unicode keeps for more of their kind.
    let is_selector = matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}');
    let is_of_notation = matches!(c, '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}');
    c.is_control() || is_filler || is_format || is_general || is_selector || is_of_notation
}

/// Returns whether an otherwise invisible character shapes the one before it.
fn belongs(before: Option<char>, c: char, after: Option<char>) -> bool {
    let Some(before) = before.filter(|it| *it != REPLACEMENT) else { return false };
    match c {
        ZERO_WIDTH_JOINER if is_pictograph(before) || is_style(before) => after.is_some_and(is_pictograph),
        ZERO_WIDTH_JOINER | ZERO_WIDTH_NON_JOINER => is_of_joining_script(before),
        // Only one after the character that it shapes: more could carry a hidden text.
        '\u{180b}'..='\u{180d}' | '\u{180f}' => matches!(before, '\u{1820}'..='\u{18aa}'),
        '\u{fe0e}' | '\u{fe0f}' => is_pictograph(before) || matches!(before, '#' | '*' | '0'..='9' | '©' | '®'),
        '\u{fe00}'..='\u{fe0d}' => !before.is_ascii() && !is_suspect(before) && !before.is_whitespace(),
        '\u{e0100}'..='\u{e01ef}' => is_ideograph(before),
        _ => false,
    }
}

fn is_style(c: char) -> bool {
    matches!(c, '\u{fe0e}' | '\u{fe0f}')
}

/// Returns whether a character is a pictograph or a symbol that has the form of one.
fn is_pictograph(c: char) -> bool {
    let is_symbol = matches!(c, '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{2bff}');
    let is_eastern = matches!(c, '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}');
    is_symbol || is_eastern || matches!(c, '\u{1f000}'..='\u{1faff}')
}

/// Returns whether a character is of a script whose letters join: Arabic and its kin, those of India and their kin, and
/// Mongolian.
fn is_of_joining_script(c: char) -> bool {
    let is_western = matches!(c, '\u{620}'..='\u{8ff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}');
    let is_eastern = matches!(c, '\u{900}'..='\u{dff}' | '\u{f00}'..='\u{109f}' | '\u{1780}'..='\u{18af}');
    let is_further = matches!(c, '\u{1900}'..='\u{1cff}' | '\u{a840}'..='\u{abff}' | '\u{10a00}'..='\u{11fff}');
    let is_there = is_western || is_eastern || is_further || matches!(c, '\u{1e900}'..='\u{1e95f}');
    is_there && !is_suspect(c)
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns whether a character must never be printed.
    fn never_leaves(c: char) -> bool {
        let is_hidden = matches!(c, '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2065}' | '\u{feff}');
        is_steering(c) || is_hidden || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e001f}')
    }

    #[test]
    fn a_long_text_is_shortened_to_its_beginning() {
        for (text, expect) in [("", None), ("abc", None), ("äöü", None), ("abcd", Some("ab…")), ("a bcd", Some("a…"))]
        {
            assert_eq!(shortened(text, 3).as_deref(), expect, "{text}");
        }
    }

    #[test]
    fn a_text_is_clipped_between_characters_on_one_line() {
        assert_eq!(clipped(" é\n é  é ", 5), "é é é");
        assert_eq!(clipped("é é é", 4), "é é…");
        assert_eq!(clipped("", 4), "");
    }

    #[test]
    fn nothing_that_hides_is_left_in_a_visible_line() {
        let hidden = "\u{ad}\u{34f}\u{61c}\u{115f}\u{180e}\u{200d}\u{202e}\u{2060}\
            \u{3164}\u{fe0f}\u{feff}\u{ffa0}\u{fff9}\u{e0041}\u{e0100}\u{e01ef}";
        for c in hidden.chars() {
            assert_eq!(visible_line(&format!(" a{c}b \n{c}c\u{1b}d\u{2028}e")), "ab c d e", "{c:?}");
        }
    }

    #[test]
    fn what_steers_turns_or_hides_does_not_leave() {
        for (text, expect) in [
            ("a\tb\nč", "a\tb\nč"),
            ("a\r\nb\rc", "a\nb\u{fffd}c"),
            ("\u{1b}[2J\u{7f}\u{9b}1m\u{85}", "\u{fffd}[2J\u{fffd}\u{fffd}1m\u{fffd}"),
            ("x\u{202e}y\u{2066}z\u{61c}\u{200f}", "x\u{fffd}y\u{fffd}z\u{fffd}\u{fffd}"),
            ("a\u{e0041}b\u{e007f}", "a\u{fffd}b\u{fffd}"),
            ("a\u{200b}b\u{2028}c\u{2029}d\u{feff}e\u{fff9}f\u{2063}g", "a�b�c�d�e�f�g"),
            ("so\u{ad}so", "soso"),
            // A joiner or a selector where no script needs it, and repeated ones.
            ("a\u{200d}b\u{200c}c\u{fe0f}d\u{e0100}", "a�b�c�d�"),
            ("⛵\u{fe0f}\u{fe0f}\u{fe01}", "⛵\u{fe0f}��"),
            ("漢\u{e0101}\u{e0102}", "漢\u{e0101}�"),
            ("می\u{200c}\u{200c}", "می\u{200c}�"),
        ] {
            assert_eq!(terminal_escape(text), expect, "{text:?}");
        }
        assert!(matches!(terminal_escape("plain"), Cow::Borrowed(_)));
        assert_eq!(terminal_line("a\nnext: b\tc\r\n"), "a�next: b�c��");
        assert_eq!(one_line(" a\u{1b}\n b\u{202e}"), "a b");
    }

    #[test]
    fn ordinary_text_of_any_script_leaves_as_it_is() {
        for text in [
            "می\u{200c}خواهم کتاب\u{200c}ها را بخوانم",
            "مرحبا بالعالم، שלום עולם",
            "क\u{94d}\u{200d}ष और क\u{94d}\u{200c}ष",
            "👩\u{200d}👩\u{200d}👧 👩🏽\u{200d}🚀 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3} 🇩🇪",
            TAGGED_FLAGS[0],
            "葛\u{e0100}城 ⊨\u{fe00} ᠠ\u{180b}",
            "e\u{301}ệ ﷺ ½ “quoted” — ok",
        ] {
            assert_eq!(terminal_escape(text), text, "{text:?}");
        }
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({ "a\u{202e}": ["\u{9b}31m\u{e0041}", "\u{1b}[0m", "می\u{200c}خواهم", "😀 ä"] });
        let json = value.to_string();
        let escaped = json_escape(&json);
        assert!(escaped.contains("\\u009b31m\\udb40\\udc41") && escaped.contains("😀 ä"), "{escaped}");
        assert!(!escaped.contains(is_suspect));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
    }

    fn any_text() -> impl Strategy<Value = String> {
        let odd = prop::sample::select(vec![
            '\u{1b}',
            '\u{9b}',
            '\u{202e}',
            '\u{200d}',
            '\u{200c}',
            '\u{fe0f}',
            '\u{e0041}',
            '\u{1f3f4}',
            '👩',
            'ب',
            'a',
            '\n',
            '\r',
            '\t',
            '\u{ad}',
        ]);
        prop::collection::vec(prop_oneof![odd, any::<char>()], 0..40).prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn control_characters_are_escaped_and_escaping_twice_changes_nothing(text in any_text()) {
            let (lines, line) = (terminal_escape(&text), terminal_line(&text));
            prop_assert!(!lines.contains(never_leaves) && !line.contains(never_leaves));
            prop_assert!(!line.contains(['\n', '\t']));
            prop_assert!(!one_line(&text).contains(is_steering) && !visible_line(&text).contains(is_suspect));
            prop_assert_eq!(terminal_escape(&lines), lines.as_ref());
            prop_assert_eq!(terminal_line(&line), line.as_ref());
            let json = serde_json::to_string(&text).unwrap();
            let escaped = json_escape(&json);
            prop_assert!(!escaped.contains(never_leaves));
            prop_assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
        }
    }
}
