//! Secrets (passwords and keys), which are never shown, and their removal from other texts.

use std::fmt;

/// Minimum characters of a secret to be redacted: shorter ones occur in ordinary text by chance.
const SECRET_CHARS_MIN: usize = 8;
/// The replacement for a secret.
const MARK: &str = "[secret]";

/// A text that is never shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text, for its recipient only.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Removes secrets from text before it is kept or shown, both as they are and as JSON escapes them in a string. Secrets
/// of fewer than 8 characters stay.
#[derive(Clone, Default)]
pub(crate) struct Redactor {
    secrets: Vec<Vec<char>>,
}

impl Redactor {
    /// Returns what takes these secrets out.
    pub(crate) fn of<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let secrets = secrets.into_iter().map(|secret| secret.trim().chars().collect::<Vec<char>>());
        Self { secrets: secrets.filter(|secret| secret.len() >= SECRET_CHARS_MIN).collect() }
    }

    /// Returns a whole text without the secrets.
    pub(crate) fn redacted(&self, text: String) -> String {
        if self.secrets.is_empty() { text } else { self.scanned(&text, Extent::Whole).0 }
    }

    /// Returns what takes the secrets out of a text that comes in pieces.
    pub(crate) fn pieces(&self) -> RedactedPieces {
        RedactedPieces { redactor: self.clone(), held: String::new() }
    }

    /// Returns the text without the secrets, up to where an incomplete one may begin, and the length of the text
    /// processed. If several begin at one position, the longest counts, in pieces as in a whole.
    fn scanned(&self, text: &str, extent: Extent) -> (String, usize) {
        let mut redacted = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(first) = text[at..].chars().next() {
            let found =
                self.secrets.iter().flat_map(|secret| [plain(&text[at..], secret), in_json(&text[at..], secret)]);
            let (longest, may_begin) = found.fold((0, false), |(longest, may_begin), found| match found {
                Found::Whole(length) => (longest.max(length), may_begin),
                Found::Begin => (longest, true),
                Found::Nothing => (longest, may_begin),
            });
            if may_begin && extent == Extent::Begin {
                break;
            }
            if longest > 0 {
                redacted.push_str(MARK);
                at += longest;
            } else {
                redacted.push(first);
                at += first.len_utf8();
            }
        }
        (redacted, at)
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

/// Takes secrets out of a text that comes in pieces. A piece is held back as long as a secret may begin in it.
#[derive(Debug)]
pub(crate) struct RedactedPieces {
    redactor: Redactor,
    held: String,
}

impl RedactedPieces {
    /// Takes the next piece, and returns the text that may be passed on now, possibly none.
    pub(crate) fn take(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let (told, length) = self.redactor.scanned(&self.held, Extent::Begin);
        self.held.drain(..length);
        told
    }

    /// Returns the text held back, at the end.
    pub(crate) fn end(&mut self) -> String {
        self.redactor.redacted(std::mem::take(&mut self.held))
    }
}

/// How much of a text has arrived.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    Begin,
}

/// The beginning of a text.
enum Found {
    /// The secret, in so many bytes.
    Whole(usize),
    /// A part of it, up to the end of the text.
    Begin,
    Nothing,
}

/// Returns whether a text begins with a secret as it is.
fn plain(text: &str, secret: &[char]) -> Found {
    let mut rest = text.chars();
    for due in secret {
        match rest.next() {
            None => return Found::Begin,
            Some(c) if c == *due => {}
            Some(_) => return Found::Nothing,
        }
    }
    Found::Whole(text.len() - rest.as_str().len())
}

/// Returns whether a text begins with a secret as a string of JSON has it.
fn in_json(text: &str, secret: &[char]) -> Found {
    let mut rest = text;
    for due in secret {
        match json_char(rest) {
            None => return Found::Begin,
            Some((Some(c), length)) if c == *due => rest = &rest[length..],
            Some(_) => return Found::Nothing,
        }
    }
    Found::Whole(text.len() - rest.len())
}

/// Returns the first character of a JSON string, none for an invalid escape, and its length; none if the text is
/// incomplete.
fn json_char(text: &str) -> Option<(Option<char>, usize)> {
    let mut chars = text.chars();
    let first = chars.next()?;
    if first != '\\' {
        return Some((Some(first), first.len_utf8()));
    }
    let simple = |c: char| Some((Some(c), 2));
    match chars.next()? {
        'b' => simple('\u{8}'),
        'f' => simple('\u{c}'),
        'n' => simple('\n'),
        'r' => simple('\r'),
        't' => simple('\t'),
        'u' => {
            let digits = text.get(2..6);
            if digits.is_none() && chars.as_str().chars().all(|it| it.is_ascii_hexdigit()) {
                return None;
            }
            let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
            Some((code.and_then(char::from_u32), 6))
        }
        c @ ('"' | '\\' | '/') => simple(c),
        _ => Some((None, 1)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_secret_is_taken_out_of_what_others_say() {
        let redactor = Redactor::of(["sk-12345678", " sk-12345678-90 ", "qu\"ote\\d/1"]);
        for (text, expect) in [
            ("wrong key `sk-12345678`, sk-12345678", "wrong key `[secret]`, [secret]"),
            ("sk-12345678-90, sk-12345678-9", "[secret], [secret]-9"),
            (r#"{"a": "sk\u002d12345678 \u0073k-12345678"}"#, r#"{"a": "[secret] [secret]"}"#),
            (r#"qu"ote\d/1 "qu\"ote\\d/1" "qu\u0022ote\\d\/1""#, r#"[secret] "[secret]" "[secret]""#),
            ("sk-1234567", "sk-1234567"),
            (r"sk\u00", r"sk\u00"),
            (r"sk\u00é2 \q", r"sk\u00é2 \q"),
        ] {
            assert_eq!(redactor.redacted(text.to_owned()), expect, "{text}");
        }
        assert!(!format!("{redactor:?} {:?} {:?}", redactor.pieces(), Secret::new("hush")).contains("hush"));
    }

    #[test]
    fn a_short_secret_is_not_redacted_in_unrelated_text() {
        let redactor = Redactor::of(["1", "", "1234567"]);
        assert_eq!(redactor.redacted("1 of 1234567".to_owned()), "1 of 1234567");
    }

    proptest! {
        #[test]
        fn pieces_come_to_what_the_whole_does_and_none_of_them_tells_a_secret(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "abcd-abcd", "abcd-", "abcd", "-", "\\u002d", "\\", "u002d", "x", "é", "abcd-abcd-abcd",
                    "\\u0061bcd",
                ]),
                0..12,
            ),
            cuts in prop::collection::vec(1_usize..5, 1..60),
        ) {
            let redactor = Redactor::of(["abcd-abcd", "abcd-abcd-abcd"]);
            let text = parts.concat();
            let mut pieces = redactor.pieces();
            let (mut told, mut rest, mut cuts) = (String::new(), text.as_str(), cuts.into_iter().cycle());
            while !rest.is_empty() {
                let length = rest.char_indices().nth(cuts.next().unwrap()).map_or(rest.len(), |(at, _)| at);
                told.push_str(&pieces.take(&rest[..length]));
                prop_assert!(!told.contains("abcd-abcd") && !told.contains("abcd\\u002dabcd"));
                rest = &rest[length..];
            }
            told.push_str(&pieces.end());
            prop_assert_eq!(told, redactor.redacted(text));
        }
    }
}
