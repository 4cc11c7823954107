//! How many tokens a language model takes a text for, about: vocabularies differ, and none of theirs is here.

use super::pieces::english;

/// What a text is made of, as tokenizers of language models part it before they look into their vocabularies.
#[derive(Clone, Copy, PartialEq)]
enum CharClass {
    Letters,
    Digits,
    Marks,
    Space,
}

impl CharClass {
    fn of(letter: char) -> Self {
        match letter {
            it if it.is_alphabetic() => Self::Letters,
            it if it.is_numeric() => Self::Digits,
            it if it.is_whitespace() => Self::Space,
            _ => Self::Marks,
        }
    }
}

/// Returns about how many tokens a text has, neither too many nor too few: the word pieces of each word, a token for
/// three digits, and one for each run of other marks. White space goes with what follows it, but for ends of lines.
#[must_use]
pub(crate) fn model_tokens(text: &str) -> u64 {
    let count = |run: &str| match run.chars().next().map(CharClass::of) {
        Some(CharClass::Letters) => english().count(run) as u64,
        Some(CharClass::Digits) => (run.chars().count() as u64).div_ceil(3),
        Some(CharClass::Marks) => 1,
        Some(CharClass::Space) => u64::from(run.contains('\n')),
        None => 0,
    };
    runs(text).map(count).sum()
}

/// Returns the longest parts of a text that are of one kind.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let kind = CharClass::of(rest.chars().next()?);
        let end = rest.find(|it| CharClass::of(it) != kind).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        Some(run)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_word_pieces_threes_of_digits_and_runs_of_marks() {
        let counts = ["", "the mill", "The\n\nmill", "1841", "{\"a\": 1}", "  "].map(model_tokens);
        assert_eq!(counts, [0, 2, 3, 2, 5, 0]);
    }
}
