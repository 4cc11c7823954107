//! Phrases: words that stand in a text in a row.

use unicode_normalization::UnicodeNormalization as _;

use super::fold::push_folded;
use super::segments::{is_indexed_whole, is_unspaced, segments};
use super::terms::Terms;

/// Marks that do not count between words: quotation marks, apostrophes, back quotes, asterisks and brackets.
const MARKS: &str = "\"'`*()[]{}“”„‟‘’‚‛«»‹›「」『』《》〈〉【】〔〕〖〗";

/// The lower-case form of Σ, but for the end of a word.
const SIGMA: char = 'σ';
const FINAL_SIGMA: char = 'ς';

/// A phrase that is looked for word for word.
#[derive(Debug, Clone)]
pub(crate) struct Phrase {
    /// As it is written, with single spaces.
    pub(crate) written: String,
    compared: String,
}

/// A text in the form in which phrases are found in it: folded, in lower case, with single spaces, and without marks
/// that do not count. In scripts without spaces between words it is not folded, for what looks like an accent there
/// tells syllables apart.
#[derive(Debug)]
pub(crate) struct Compared(String);

impl Phrase {
    /// Returns a phrase; none without a letter or digit.
    #[must_use]
    pub(crate) fn of(written: &str) -> Option<Self> {
        let Compared(compared) = Compared::of(written);
        let written = written.split_whitespace().collect::<Vec<_>>().join(" ");
        compared.contains(char::is_alphanumeric).then_some(Self { written, compared })
    }

    /// Returns terms that every text has in which the phrase stands; none where the phrase may be part of words whose
    /// terms are others.
    #[must_use]
    pub(crate) fn terms(&self) -> Vec<String> {
        // What follows a capital sigma in the text decides what it becomes in a term.
        if self.compared.contains(SIGMA) {
            return Vec::new();
        }
        let mut terms = Terms::of(&self.written).words;
        // Beside another character, one by itself is half of a pair.
        let is_single = |term: &str| term.chars().count() == 1 && term.contains(is_unspaced);
        terms.retain(|term| !is_single(term) && !term.contains(is_indexed_whole));
        terms
    }

    /// Returns whether the phrase stands in a text: neither end of it inside a word, unless words there are not told
    /// apart by spaces.
    #[must_use]
    pub(crate) fn is_in(&self, Compared(text): &Compared) -> bool {
        let phrase = self.compared.as_str();
        let first_bytes = phrase.chars().next().map_or(1, char::len_utf8);
        let mut from = 0;
        while let Some(at) = text.get(from..).and_then(|rest| rest.find(phrase)).map(|found| from + found) {
            let (before, after) = (&text[..at], &text[at + phrase.len()..]);
            let begins_a_word = may_part(before.chars().next_back(), phrase.chars().next());
            if begins_a_word && may_part(after.chars().next(), phrase.chars().next_back()) {
                return true;
            }
            from = at + first_bytes;
        }
        false
    }
}

/// Returns whether a phrase may end at `inner`, which stands beside `outer`.
fn may_part(outer: Option<char>, inner: Option<char>) -> bool {
    let (Some(outer), Some(inner)) = (outer, inner) else { return true };
    !outer.is_alphanumeric()
        || !inner.is_alphanumeric()
        || is_unspaced(outer)
        || is_unspaced(inner)
        || is_indexed_whole(inner)
}

impl Compared {
    /// Complexity: linear in the text.
    #[must_use]
    pub(crate) fn of(text: &str) -> Self {
        let letters = if text.is_ascii() { text.to_ascii_lowercase() } else { letters(text) };
        let mut compared = String::with_capacity(letters.len());
        let (mut last, mut is_after_space, mut is_after_mark) = (None::<char>, false, false);
        for c in letters.chars() {
            if c.is_whitespace() {
                is_after_space = true;
            } else if MARKS.contains(c) {
                is_after_mark = true;
            } else {
                let parts = is_after_mark && c.is_alphanumeric() && last.is_some_and(char::is_alphanumeric);
                if last.is_some() && (is_after_space || parts) {
                    compared.push(' ');
                }
                compared.push(if c == FINAL_SIGMA { SIGMA } else { c });
                (last, is_after_space, is_after_mark) = (Some(c), false, false);
            }
        }
        Self(compared)
    }
}

/// Returns a text in composed letters: in lower case and folded but for those of scripts without spaces.
fn letters(text: &str) -> String {
    let composed: String = text.nfkc().collect();
    let mut letters = String::with_capacity(composed.len());
    for segment in segments(&composed) {
        if segment.contains(is_unspaced) {
            letters.push_str(segment);
        } else {
            push_folded(segment, &mut letters);
        }
    }
    letters
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::terms;

    fn has(text: &str, phrase: &str) -> bool {
        Phrase::of(phrase).is_some_and(|phrase| phrase.is_in(&Compared::of(text)))
    }

    #[track_caller]
    fn check(phrase: &str, texts: &[&str], others: &[&str]) {
        for text in texts {
            assert!(has(text, phrase), "“{phrase}” is in {text:?}");
        }
        for text in others {
            assert!(!has(text, phrase), "“{phrase}” is not in {text:?}");
        }
    }

    #[test]
    fn a_phrase_is_not_found_inside_a_longer_word() {
        check(
            "commit --no-verify",
            &["Use git commit\n  --no-verify."],
            &["commit no verify", "commit --no-verifying"],
        );
        check("WAL_LEVEL", &["A (wal_level) here", "wal_levels wal_level"], &["wal_levels", "wal level"]);
        check("0.0", &["10.0.0.1"], &["10.0.1"]);
        check("Čapek", &["Karel Capek"], &["Capeks"]);
        assert!(Phrase::of("").is_none() && Phrase::of("--").is_none() && Phrase::of("“*”").is_none());
    }

    #[test]
    fn marks_around_words_do_not_count() {
        let texts = ["The ``wal_level`` determines", "*wal_level* (determines", "[wal_level]\n“determines”"];
        check("wal_level determines", &texts, &["wal_level, determines", "wal_leveldetermines"]);
        check("`wal_level` determines", &["wal_level determines"], &[]);
        check("foo, bar", &["`foo`, **bar**"], &["foo bar"]);
        check("call foo now", &["call foo() now", "call (foo) now"], &["call foonow"]);
        check("don't", &["Don’t!", "don't"], &["dont"]);
        check("foobar", &[], &["foo`bar", "foo(bar)"]);
    }

    #[test]
    fn a_phrase_may_be_a_part_of_what_has_no_spaces_between_words() {
        check("東京大学", &["山田太郎は東京大学で物理学を学び"], &["東京の大学", "東京"]);
        check("防火墙的日志", &["一次。防火墙的日志保存在"], &["防火墙日志"]);
        check("サーバーの更新", &["鈴木花子さんがサーバーの更新に", "ｻｰﾊﾞｰの更新"], &["サーハーの更新"]);
        check("김철수", &["그는 김철수는 부산에서", "김철수"], &["김철순"]);
        check("2020", &["東京2020は"], &["東京20201"]);
        check("東京20", &["東京20"], &["東京2020"]);
        check("ความดัน", &["ความดันควรอยู่ระหว่าง"], &[]);
        check("Linux", &["使用Linux系统"], &["Linuxคือ", "Linuxes"]);
    }

    #[test]
    fn terms_are_those_that_each_text_with_the_phrase_has() {
        for (phrase, expect) in [
            ("the *Heron* Bridges", &["heron", "bridg"][..]),
            ("写了红楼梦", &["红楼", "楼梦"]),
            ("サーバー", &["サー", "ーバ", "バー"]),
            ("日", &[]),
            ("ความดัน of Linux", &["linux"]),
        ] {
            assert_eq!(Phrase::of(phrase).unwrap().terms(), expect, "{phrase}");
        }
    }

    #[test]
    fn a_sigma_is_found_whatever_follows_it() {
        let phrase = Phrase::of("ΟΔΟΣ").unwrap();
        for text in ["ΟΔΟΣ", "οδος", "ΟΔΟΣ.α", "ΟΔΟΣ-2", "η ΟΔΟΣ του"] {
            assert!(phrase.is_in(&Compared::of(text)), "{text}");
            let known = terms(text);
            assert!(phrase.terms().iter().all(|term| known.contains(term)), "{text}");
        }
        let pieces = Phrase::of("aкнигаΣ.aa").unwrap();
        assert!(pieces.is_in(&Compared::of("aкнигаΣ.aa東")));
        assert!(pieces.terms().iter().all(|term| terms("aкнигаΣ.aa東").contains(term)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]

        #[test]
        fn every_text_with_a_phrase_has_its_terms(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "a", "bc", "Bridges", "é", "e\u{301}", "2", "ﬁ", " ", " ", "\n", "_", "-", ".", "'", "`", "*", "(",
                    "]", "東", "京", "的", "。", "は", "です", "カ", "ﾊ", "ﾞ", "か\u{3099}", "김", "수", "\u{1100}",
                    "\u{1161}", "ราย", "คือ", "книга", "Σ", "「", "」",
                ]),
                1..16,
            ),
            (from, count) in (0..12_usize, 1..8_usize),
        ) {
            let text = pieces.concat();
            let phrase: String = pieces.iter().skip(from).take(count).copied().collect();
            if let Some(phrase) = Phrase::of(&phrase).filter(|phrase| phrase.is_in(&Compared::of(&text))) {
                let known = terms(&text);
                for term in phrase.terms() {
                    prop_assert!(known.contains(&term), "{:?} is in {text:?}, which lacks {term:?}", phrase.written);
                }
            }
        }
    }
}
