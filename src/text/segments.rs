//! Scripts: which have no spaces between words, where one script ends and the next begins, and which have a stemmer.

use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};

/// Characters that stand between words of Chinese more often than in one, and say nothing alone.
const BETWEEN: &[char] = &['的', '了', '是', '吗', '呢', '谁', '么', '什', '誰'];
/// Pairs and single characters that ask or that only tie words together.
const EMPTY: &[&str] = &[
    "何", "です", "ます", "した", "して", "する", "いる", "ある", "から", "まで", "この", "その", "では", "には",
    "とは", "どこ", "いつ", "なぜ", "だれ", "なに", "でし", "まし", "しま", "した", "すか", "たか", "哪里", "哪个",
    "怎样", "为何",
];

/// A script as far as terms are made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Han,
    Hiragana,
    Katakana,
    Hangul,
    Spaced,
}

fn script(c: char) -> Script {
    match u32::from(c) {
        0x3005 | 0x3007 | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff => Script::Han,
        0x3041..=0x309f => Script::Hiragana,
        0x30a0..=0x30ff | 0x31f0..=0x31ff | 0xff66..=0xff9f => Script::Katakana,
        0x1100..=0x11ff | 0x3130..=0x318f | 0xa960..=0xa97f | 0xac00..=0xd7ff => Script::Hangul,
        _ => Script::Spaced,
    }
}

/// Returns whether `c` is of a script in which words are not told apart by spaces, or not by them alone.
#[must_use]
pub(super) fn is_unspaced(c: char) -> bool {
    script(c) != Script::Spaced
}

/// Returns whether `c` is of a script without spaces between words whose runs of letters are terms as they are: Thai,
/// Lao, Burmese and Khmer.
#[must_use]
pub(super) fn is_indexed_whole(c: char) -> bool {
    matches!(u32::from(c), 0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0xa9e0..=0xa9ff | 0xaa60..=0xaa7f)
}

/// Returns the parts of a word that are of one script each, in order.
pub(super) fn segments(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let first = script(rest.chars().next()?);
        let end = rest.find(|c| script(c) != first).unwrap_or(rest.len());
        let (segment, after) = rest.split_at(end);
        rest = after;
        Some(segment)
    })
}

/// Appends the pairs of neighboring characters of a segment; one character by itself is a term, unless it is a particle
/// of Japanese.
pub(super) fn push_pairs(segment: &str, terms: &mut Vec<String>) {
    terms.extend(pairs(segment).into_iter().map(|pair| segment[pair].to_owned()));
}

/// Returns where the terms of a segment stand, as [`push_pairs`] appends them.
pub(super) fn pairs(segment: &str) -> Vec<Range<usize>> {
    let mut pairs = Vec::new();
    let mut run_start = 0;
    for run in segment.split_inclusive(BETWEEN) {
        let begin = run_start;
        run_start += run.len();
        let run = run.trim_end_matches(BETWEEN);
        let mut ends = run.char_indices().map(|(at, c)| (at, at + c.len_utf8()));
        let Some((_, first_end)) = ends.next() else { continue };
        if first_end == run.len() {
            let is_particle = run.chars().all(|c| script(c) == Script::Hiragana);
            pairs.extend((!is_particle && !EMPTY.contains(&run)).then(|| begin..begin + first_end));
            continue;
        }
        let mut start = 0;
        for (next, end) in ends {
            if !EMPTY.contains(&&run[start..end]) {
                pairs.push(begin + start..begin + end);
            }
            start = next;
        }
    }
    pairs
}

/// Returns the stem of a folded word of Russian, Arabic or Greek, told by its script.
#[must_use]
pub(super) fn stem(word: &str) -> Option<String> {
    let algorithm = match u32::from(word.chars().next()?) {
        0x0370..=0x03ff => Algorithm::Greek,
        0x0400..=0x04ff => Algorithm::Russian,
        0x0600..=0x06ff => Algorithm::Arabic,
        _ => return None,
    };
    // Folding takes the breve off a letter with which endings of Russian are written: adjectives keep a vowel more.
    Some(Stemmer::create(algorithm).stem(word).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_divided_where_its_script_changes() {
        assert_eq!(segments("東京2020は").collect::<Vec<_>>(), ["東京", "2020", "は"]);
        assert_eq!(segments("word").collect::<Vec<_>>(), ["word"]);
        assert_eq!(segments("").count(), 0);
    }

    #[test]
    fn pairs_do_not_reach_over_words_that_say_nothing() {
        let pairs = |segment: &str| {
            let mut terms = Vec::new();
            push_pairs(segment, &mut terms);
            terms
        };
        assert_eq!(pairs("写了红楼梦"), ["写", "红楼", "楼梦"]);
        assert_eq!(pairs("は"), [""; 0]);
        assert_eq!(pairs("何"), [""; 0]);
        assert_eq!(pairs("のんびり"), ["のん", "んび", "びり"]);
    }
}
