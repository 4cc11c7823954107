//! Patterns with wildcards: `*` stands for any characters, `?` for one; a backslash escapes either.

/// Returns whether `text` is of the form that `form` describes.
///
/// Complexity: O(text · form), without recursion: a wildcard goes back to the last one alone.
#[must_use]
pub(crate) fn is_of_form(text: &str, form: &str) -> bool {
    let (text, form): (Vec<char>, Vec<Sign>) = (text.chars().collect(), signs(form));
    let (mut at, mut sign) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while at < text.len() {
        let fits = match form.get(sign) {
            Some(Sign::Any) => {
                retry = Some((at, sign));
                sign += 1;
                continue;
            }
            Some(Sign::One) => true,
            Some(Sign::Letter(letter)) => *letter == text[at],
            None => false,
        };
        if fits {
            at += 1;
            sign += 1;
        } else if let Some((from, any)) = retry {
            retry = Some((from + 1, any));
            (at, sign) = (from + 1, any + 1);
        } else {
            return false;
        }
    }
    form[sign..].iter().all(|sign| matches!(sign, Sign::Any))
}

/// A part of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Letter(char),
    One,
    Any,
}

fn signs(form: &str) -> Vec<Sign> {
    let mut signs = Vec::new();
    let mut chars = form.chars().peekable();
    while let Some(c) = chars.next() {
        signs.push(match c {
            '*' => Sign::Any,
            '?' => Sign::One,
            '\\' if matches!(chars.peek(), Some('*' | '?')) => Sign::Letter(chars.next().unwrap_or('\\')),
            letter => Sign::Letter(letter),
        });
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_stands_for_texts() {
        for (text, form, expect) in [
            ("notes/2024/a.md", "notes/*.md", true),
            ("notes/a.md", "notes/?.md", true),
            ("notes/ab.md", "notes/?.md", false),
            ("a*b", r"a\*b", true),
            ("acb", r"a\*b", false),
            ("aaab", "*a*b", true),
            ("aaac", "*a*b", false),
            ("", "*", true),
            ("a", "", false),
        ] {
            assert_eq!(is_of_form(text, form), expect, "{text} {form}");
        }
    }
}
