//! The search terms of a text: stems of its words; whole identifiers, and the parts of names in camel case; pairs of
//! neighboring characters in scripts without spaces between words.

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

use super::fold::push_folded;
use super::identifiers::{Identifier, humps, identifiers, identifiers_among};
use super::lexicon::{is_stop_word, shared_stem, stem};
use super::segments;
use super::words::{Word, lower, words};

/// The terms of a text, those of its words apart from those that only help to find identifiers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Terms of its words, in order, with repetitions.
    pub(crate) words: Vec<String>,
    /// Identifiers whole.
    pub(crate) identifiers: Vec<String>,
    /// Parts of words in camel case.
    pub(crate) parts: Vec<String>,
}

/// Returns the terms that `text` is searched by: stems of its words without stop words, and then its identifiers whole
/// and in parts, so that both who knows an identifier and who knows a word of it finds it.
#[must_use]
pub fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    each_term_among(text, &Initials::ALL, &mut |term| terms.extend(term.map(str::to_owned)));
    terms
}

/// Visits the [`terms`] of `text`, in their order, but only `None` for those in ASCII that do not begin with one of
/// `initials`: they need no stem.
pub(crate) fn each_term_among(text: &str, initials: &Initials, visit: &mut dyn FnMut(Option<&str>)) {
    each_of_words(text, initials, visit);
    let identifiers = identifiers(text);
    let parts = identifiers.iter().flat_map(|it| &it.parts).filter(|part| !is_stop_word(part));
    for word in identifiers.iter().filter_map(|it| it.whole.as_ref()).chain(parts) {
        visit(initials.may_begin(word).then(|| shared_stem(word)).as_deref());
    }
}

/// Visits the terms of the words of `text`.
fn each_of_words(text: &str, initials: &Initials, visit: &mut dyn FnMut(Option<&str>)) {
    if !text.is_ascii() && text.contains(segments::is_unspaced) {
        for term in unspaced(text) {
            visit(Some(&term));
        }
    } else {
        each_of_spaced(text, initials, visit);
    }
}

fn each_of_spaced(text: &str, initials: &Initials, visit: &mut dyn FnMut(Option<&str>)) {
    let mut folded = String::new();
    for run in text.split(is_boundary) {
        if run.is_ascii() {
            for word in run.split(|c: char| !c.is_ascii_alphanumeric()) {
                folded.clear();
                folded.push_str(word);
                folded.make_ascii_lowercase();
                visit_word(&folded, initials, visit);
            }
        } else {
            for word in words(&lower(run)) {
                visit_word(word.text, initials, visit);
            }
        }
    }
}

/// Returns whether what is before and after `c` can be folded and put in lower case apart. A capital sigma looks beyond
/// the marks that Unicode calls case-ignorable for the end of its word.
fn is_boundary(c: char) -> bool {
    c.is_ascii() && !c.is_ascii_alphanumeric() && !matches!(c, '\'' | '.' | ':' | '^' | '`')
}

/// Visits the term of a folded word, unless it is a stop word.
fn visit_word(word: &str, initials: &Initials, visit: &mut dyn FnMut(Option<&str>)) {
    if !word.is_empty() && !is_stop_word(word) {
        visit(initials.may_begin(word).then(|| shared_term(word)).as_deref());
    }
}

/// The first letters of terms that are looked for: a word in ASCII has a stem that begins as it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Initials([bool; 128]);

impl Initials {
    const ALL: Self = Self([true; 128]);

    /// Returns the first letters of `terms`.
    pub(crate) fn of<'a>(terms: impl IntoIterator<Item = &'a str>) -> Self {
        let mut initials = [false; 128];
        for first in terms.into_iter().filter_map(|term| term.bytes().next()) {
            if let Some(is_one) = initials.get_mut(usize::from(first)) {
                *is_one = true;
            }
        }
        Self(initials)
    }

    /// Returns whether the term of a folded word may be one of those looked for.
    fn may_begin(&self, word: &str) -> bool {
        let first = word.bytes().next().map_or(0, usize::from);
        !word.is_ascii() || self.0.get(first).copied().unwrap_or_default()
    }
}

impl Terms {
    /// Returns the terms of a text.
    #[must_use]
    pub(crate) fn of(text: &str) -> Self {
        let mut terms = Self::default();
        each_of_words(text, &Initials::ALL, &mut |term| terms.words.extend(term.map(str::to_owned)));
        for Identifier { whole, parts, .. } in identifiers(text) {
            terms.identifiers.extend(whole.map(|whole| stem(&whole)));
            terms.parts.extend(parts.iter().filter(|part| !is_stop_word(part)).map(|part| stem(part)));
        }
        terms
    }
}

/// Returns where `text` has words or whole identifiers of which a term is wanted, in order, without overlap. Terms that
/// are wanted begin with one of `initials`.
#[must_use]
pub(crate) fn term_spans(text: &str, initials: &Initials, is_wanted: &dyn Fn(&str) -> bool) -> Vec<Range<usize>> {
    let is_whole = |it: &Identifier| it.whole.as_deref().is_some_and(|whole| is_wanted(&shared_stem(whole)));
    let words = words(text);
    let wholes = identifiers_among(text, &words).into_iter().filter(is_whole);
    let wholes: Vec<Range<usize>> = wholes.map(|it| it.span).collect();
    let words = word_spans(&words, &Wanted { initials, is_wanted });
    if wholes.is_empty() {
        return words;
    }
    let mut all = [wholes, words].concat();
    all.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    all.dedup_by(|span, before| span.start < before.end);
    all
}

/// The terms that are looked for in a text.
struct Wanted<'a> {
    initials: &'a Initials,
    is_wanted: &'a dyn Fn(&str) -> bool,
}

impl Wanted<'_> {
    /// Returns whether a term of a word is wanted; `folded` is room for the folded word.
    fn is_of(&self, word: &str, folded: &mut String) -> bool {
        let is_one =
            |word: &str| self.initials.may_begin(word) && !is_stop_word(word) && (self.is_wanted)(&shared_term(word));
        folded.clear();
        push_folded(word, folded);
        is_one(folded) || humps(word).iter().any(|part| is_one(part))
    }
}

/// Returns where words are of which a term is wanted, in order, without overlap.
fn word_spans(words: &[Word<'_>], wanted: &Wanted<'_>) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut folded = String::new();
    for word in words {
        if word.text.contains(segments::is_unspaced) {
            let mut start = word.start;
            for segment in segments::segments(word.text) {
                spans_of_segment(segment, start, wanted, &mut spans);
                start += segment.len();
            }
        } else if wanted.is_of(word.text, &mut folded) {
            spans.push(word.start..word.end);
        }
    }
    spans
}

/// Appends where a segment at `start` has wanted pairs; pairs that overlap are one span.
fn spans_of_segment(segment: &str, start: usize, wanted: &Wanted<'_>, spans: &mut Vec<Range<usize>>) {
    if !segment.contains(segments::is_unspaced) {
        spans.extend(wanted.is_of(segment, &mut String::new()).then(|| start..start + segment.len()));
        return;
    }
    for pair in segments::pairs(segment).into_iter().filter(|pair| (wanted.is_wanted)(&segment[pair.clone()])) {
        let pair = start + pair.start..start + pair.end;
        match spans.last_mut().filter(|last| last.end >= pair.start) {
            Some(last) => last.end = pair.end,
            None => spans.push(pair),
        }
    }
}

/// A word of a question, or a part of one in a script without spaces between words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AskedWord {
    /// Its bytes in the question; those of parts overlap.
    pub(crate) span: Range<usize>,
    /// Its own term, and those of the identifiers that it stands in.
    pub(crate) terms: Vec<String>,
    /// Whether it is a pair of characters, or one by itself.
    pub(crate) is_part: bool,
}

/// Returns the words of a question that are not stop words, in order, each with its terms. The question is to be
/// [`composed`].
#[must_use]
pub(crate) fn asked_words(question: &str) -> Vec<AskedWord> {
    let mut asked = Vec::new();
    for word in words(question) {
        let mut start = word.start;
        for segment in segments::segments(word.text) {
            if segment.contains(segments::is_unspaced) {
                let part = |pair: Range<usize>| AskedWord {
                    span: start + pair.start..start + pair.end,
                    terms: vec![segment[pair].to_owned()],
                    is_part: true,
                };
                asked.extend(segments::pairs(segment).into_iter().map(part));
            } else {
                let folded = lower(segment);
                let span = start..start + segment.len();
                let word = AskedWord { span, terms: vec![term(&folded)], is_part: false };
                asked.extend((!is_stop_word(&folded)).then_some(word));
            }
            start += segment.len();
        }
    }
    for Identifier { whole, span, .. } in identifiers(question) {
        let first = asked.partition_point(|word| word.span.start < span.start);
        let inside = asked[first..].iter_mut().take_while(|word| word.span.end <= span.end);
        inside.for_each(|word| word.terms.extend(whole.as_deref().map(stem)));
    }
    asked
}

/// Returns a text in the form of which the terms of scripts without spaces between words are made: folding takes the
/// syllables of Korean and the voiced sounds of Japanese apart.
#[must_use]
pub(crate) fn composed(text: &str) -> Cow<'_, str> {
    use unicode_normalization::UnicodeNormalization as _;

    if text.is_ascii() || !text.contains(segments::is_unspaced) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfkc().collect())
}

/// Returns the term of a folded word: its stem, by the rules of the language that its script is mostly used for.
#[must_use]
pub(crate) fn term(word: &str) -> String {
    shared_term(word).as_ref().to_owned()
}

fn shared_term(word: &str) -> Rc<str> {
    segments::stem(word).map_or_else(|| shared_stem(word), Rc::from)
}

/// Returns the terms of the words of a text in which some have no spaces between.
fn unspaced(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    for Word { text: word, .. } in words(&composed(text)) {
        for segment in segments::segments(word) {
            if segment.contains(segments::is_unspaced) {
                segments::push_pairs(segment, &mut terms);
            } else {
                each_of_spaced(segment, &Initials::ALL, &mut |term| terms.extend(term.map(str::to_owned)));
            }
        }
    }
    terms
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_stem_begins_as_its_word_does(word in "[-_]{0,2}[a-z0-9]{1,12}") {
            prop_assert_eq!(shared_term(&word).bytes().next(), word.bytes().next());
        }

        #[test]
        fn words_are_those_of_the_folded_text(text in r"([aZ9 .:'_’™½ΣϹé\u{301}-]|\PC){0,24}") {
            prop_assert_eq!(by_runs(&text), of_whole(&text));
        }
    }

    fn by_runs(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_of_spaced(text, &Initials::ALL, &mut |term| found.extend(term.map(str::to_owned)));
        found
    }

    fn of_whole(text: &str) -> Vec<String> {
        let lower = lower(text);
        let words = words(&lower).into_iter().filter(|word| !is_stop_word(word.text));
        words.map(|word| term(word.text)).collect()
    }

    #[test]
    fn what_is_around_a_sigma_decides_on_it() {
        for text in ["AΣ.b", "cΣ'b", "AΣ`:^b", "AΣ. b", "AΣ_b", "AΣ-b", "ΟΔΟΣ", "Foo™ 1½.x"] {
            assert_eq!(by_runs(text), of_whole(text), "{text}");
        }
        assert_eq!([by_runs("AΣ.b"), by_runs("AΣ_b")], [["aσ", "b"], ["aς", "b"]]);
    }

    #[test]
    fn terms_with_other_initials_are_visited_without_a_name() {
        let visited = |text: &str, wanted: &[&str]| {
            let mut visited = Vec::new();
            each_term_among(text, &Initials::of(wanted.iter().copied()), &mut |term| {
                visited.push(term.unwrap_or("?").to_owned());
            });
            visited.join(" ")
        };
        assert_eq!(visited("Mills of the river", &["mill", ""]), "mill ?");
        assert_eq!(visited("Čapek's café", &["cafe"]), "capek cafe");
        assert_eq!(visited("set gc.reflogExpire", &["reflog"]), "? ? reflogexpir ? reflog ?");
        assert_eq!(visited("山田 set", &["x"]), "山田 set");
        assert_eq!(visited("книги", &["x"]), terms("книги").join(" "));
    }

    fn check(text: &str, expect: &[&str]) {
        assert_eq!(terms(text), expect, "{text}");
    }

    #[test]
    fn terms_are_stems_without_stop_words() {
        check("Who directed the Films of Čapek?", &["direct", "film", "capek"]);
    }

    #[test]
    fn identifiers_are_terms_whole_beside_their_words() {
        check("Set RUST_LOG to debug.", &["set", "rust", "log", "debug", "rustlog"]);
        check("`wal_level`", &["wal", "level", "wallevel"]);
        check("git commit --no-verify", &["git", "commit", "verifi", "--noverifi"]);
        check("gc.reflogExpire", &["gc", "reflogexpir", "gcreflogexpir", "reflog", "expir"]);
        check("see RFC 2119", &["see", "rfc", "2119", "rfc2119"]);
        check("error 40P01", &["error", "40p01"]);
    }

    #[test]
    fn prose_has_no_identifiers() {
        for text in ["A well-known film-maker, e.g. in the U.S. of 1990-91; and/or", "He said: no... McDonald's 3 sons"]
        {
            assert_eq!(Terms::of(text).identifiers, [""; 0], "{text}");
        }
    }

    #[test]
    fn words_without_spaces_between_are_found_by_pairs_of_characters() {
        check("山田太郎は東京に住む。", &["山田", "田太", "太郎", "東京", "住"]);
        check("ﾗｰﾒﾝとカレー", &["ラー", "ーメ", "メン", "カレ", "レー"]);
        check("首都是北京", &["首都", "北京"]);
        check("홍길동은 서울에서", &["홍길", "길동", "동은", "서울", "울에", "에서"]);
        check("東京2020 Olympics", &["東京", "2020", "olymp"]);
    }

    #[test]
    fn words_are_found_where_they_stand() {
        let spans = |text: &str, query: &str| {
            let wanted = terms(query);
            let spans = term_spans(text, &Initials::of(wanted.iter().map(String::as_str)), &|term| {
                wanted.iter().any(|it| it == term)
            });
            spans.into_iter().map(|span| text[span].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(spans("The Bridges of Čapek, bridging", "bridge capek"), ["Bridges", "Čapek", "bridging"]);
        assert_eq!(spans("set gc.reflogExpire now", "reflog"), ["reflogExpire"]);
        assert_eq!(spans("私は山田太郎です", "山田太郎"), ["山田太郎"]);
        assert_eq!(spans("写了红楼梦", "写红"), [""; 0]);
        assert_eq!(spans("写了红楼梦", "写"), ["写"]);
        assert_eq!(spans("no", "yes"), [""; 0]);
        assert_eq!(spans("as in RFC 2119 and", "RFC2119"), ["RFC 2119"]);
        assert_eq!(spans("as in RFC2119 and", "RFC 2119"), ["RFC2119"]);
        assert_eq!(spans("git commit --no-verify, verified", "--no-verify"), ["--no-verify", "verified"]);
        assert_eq!(spans("Set wal_level and wal.", "wal_level"), ["wal_level", "wal"]);
    }

    #[test]
    fn words_of_a_question_have_the_terms_by_which_they_are_found() {
        let asked = |question: &str| {
            let words = asked_words(question).into_iter();
            let shown = |word: AskedWord| format!("{}={}", &question[word.span], word.terms.join("+"));
            words.map(shown).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(asked("Who built the Mills?"), "built=built Mills=mill");
        assert_eq!(asked("RFC 2119 says"), "RFC=rfc+rfc2119 2119=2119+rfc2119 says=say");
        assert_eq!(asked("RFC2119"), "RFC2119=rfc2119");
        assert_eq!(asked("东京大学1998年"), "东京=东京 京大=京大 大学=大学 1998=1998 年=年");
        assert_eq!(asked(""), "");
        assert_eq!(asked(&composed("ﾗｰﾒﾝ")), "ラー=ラー ーメ=ーメ メン=メン");
    }

    #[test]
    fn words_of_other_scripts_have_stems_of_their_own() {
        assert_eq!(terms("книги"), terms("книга"));
        assert_eq!(terms("المدرسة"), terms("مدرسة"));
    }
}
