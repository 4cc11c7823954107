//! What every text that a regular expression matches has word for word.

/// Returns a text that stands in every match of `pattern`, the longest that is told without taking the expression
/// apart; empty where none is. `pattern` is an expression that can be read, matched with capitals and small letters
/// told apart.
pub(super) fn literal_in(pattern: &str) -> String {
    // Either side of a bar is enough for a match; `(?` may change what everything behind it means.
    if pattern.contains('|') || pattern.contains("(?") {
        return String::new();
    }
    let mut runs = Runs::default();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some(escaped) if escaped.is_ascii_punctuation() && !matches!(escaped, '<' | '>') => runs.push(escaped),
                // What follows these is no text: the number of a character, the name of a class.
                Some('x' | 'u' | 'U' | 'p' | 'P') | None => return String::new(),
                Some(_) => runs.end(),
            },
            '[' => {
                runs.end();
                if !skip_class(&mut rest) {
                    return String::new();
                }
            }
            '(' => runs.open(),
            ')' => runs.close(),
            // What is repeated may be repeated again, any number of times.
            '*' | '?' | '+' => runs.end_without_last(),
            '{' => {
                runs.end_without_last();
                rest.by_ref().find(|c| *c == '}');
            }
            '.' | '^' | '$' => runs.end(),
            c => runs.push(c),
        }
    }
    runs.end();
    runs.longest
}

/// Goes to the end of a class of characters; returns whether it is one without another in it.
fn skip_class(rest: &mut std::str::Chars<'_>) -> bool {
    let negated = rest.as_str().strip_prefix('^').map(str::chars);
    *rest = negated.unwrap_or_else(|| rest.clone());
    // A bracket that comes first stands for itself.
    let mut is_first = true;
    while let Some(c) = rest.next() {
        match c {
            ']' if !is_first => return true,
            '\\' => drop(rest.next()),
            '[' => return false,
            _ => {}
        }
        is_first = false;
    }
    false
}

/// Characters that stand one after the other, outside of every group.
#[derive(Default)]
struct Runs {
    own: String,
    longest: String,
    depth: usize,
}

impl Runs {
    fn push(&mut self, c: char) {
        if self.depth == 0 {
            self.own.push(c);
        }
    }

    /// Ends a run.
    fn end(&mut self) {
        if self.own.len() > self.longest.len() {
            self.longest = std::mem::take(&mut self.own);
        }
        self.own.clear();
    }

    /// Ends a run whose last character may be missing.
    fn end_without_last(&mut self) {
        self.own.pop();
        self.end();
    }

    fn open(&mut self) {
        self.end();
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;

    use super::*;

    #[test]
    fn the_longest_text_that_every_match_has_is_found() {
        for (pattern, literal) in [
            ("concrete arch of [0-9]+ feet", "concrete arch of "),
            ("gc\\.\\w+Expire", "Expire"),
            ("ab+c", "a"),
            ("ab+*c", "a"),
            ("abc?d", "ab"),
            ("abc{0,2}d", "ab"),
            ("(abc)?de", "de"),
            ("^# Größe$", "# Größe"),
            ("[]a]bc", "bc"),
            ("\\bmill\\b", "mill"),
            ("a|b", ""),
            ("(?i)mill", ""),
            ("\\x41bc", ""),
            ("\\p{Greek}bc", ""),
            ("[a[b]]cd", ""),
            (".*", ""),
        ] {
            assert!(Regex::new(pattern).is_ok(), "{pattern}");
            assert_eq!(literal_in(pattern), literal, "{pattern}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn every_text_that_matches_has_it(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "a", "b", "c", "ab", "é", ".", "*", "+", "?", "??", "{0,1}", "{2}", "{1,}", "(", ")", "[", "]",
                    "^", "$", "\\b", "\\w", "\\.", "\\\\", "\\[", "\\b{start}", "\\x61", "\\p{L}", "[ab]", "[^a]",
                    "[]c]", "[^^]", "[^]a]", "(]ab)?", "[a\\]b]", "(ab)", "(a|b)", "|", "-", "&&", "\\<", "\\A", " ",
                ]),
                0..9,
            ),
            texts in prop::collection::vec("[abcé. \\[\\]\\\\&-]{0,12}", 12),
        ) {
            let pattern = parts.concat();
            if let Ok(regex) = Regex::new(&pattern) {
                let literal = literal_in(&pattern);
                for text in texts.iter().filter(|text| regex.is_match(text)) {
                    prop_assert!(text.contains(&literal), "/{pattern}/ matches {text:?} without {literal:?}");
                }
            }
        }
    }
}
