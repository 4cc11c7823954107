//! What a question asks for, apart from the words with which it asks.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use super::lexicon::is_stop_word;
use super::segments::is_unspaced;
use super::terms::terms;
use super::words::tokens;

/// Words of a question in a language other than English by which it is told.
const WORDS_MIN: usize = 2;

#[derive(Default)]
struct AskingWords {
    english: FxHashSet<&'static str>,
    /// What `how` asks for.
    after_how: FxHashSet<&'static str>,
    /// What stands before and after an apostrophe: `don't`, `I'm`.
    contracted: FxHashSet<&'static str>,
    others: Vec<FxHashSet<&'static str>>,
    /// Of scripts without spaces between words, the longest first.
    parts: Vec<&'static str>,
}

static ASKING_WORDS: LazyLock<AskingWords> = LazyLock::new(|| {
    let mut asking = AskingWords::default();
    let file = include_str!("asking_words.txt").lines().filter(|line| !line.starts_with('#'));
    for (language, words) in file.filter_map(|line| line.split_once(':')) {
        let words = words.split_whitespace();
        match language {
            "*" => asking.parts = words.collect(),
            "en" => asking.english = words.collect(),
            "how" => asking.after_how = words.collect(),
            "'" => asking.contracted = words.collect(),
            _ => asking.others.push(words.collect()),
        }
    }
    asking.parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
    asking
});

/// Returns the [`terms`] of a question without those of the words with which it asks: pronouns, words such as `how
/// many`, and in other languages articles and auxiliaries. All of them if nothing else is left.
#[must_use]
pub(crate) fn telling_terms(question: &str) -> Vec<String> {
    let all = terms(question);
    let mut telling = terms(&without_parts(&without_words(question)));
    // Between parts that are left out, a character may stand alone that is no term of the question.
    telling.retain(|term| all.contains(term));
    if telling.is_empty() { all } else { telling }
}

/// Leaves the words out with which a question asks in the language that it is in.
fn without_words(question: &str) -> String {
    let pieces: Vec<(&str, Vec<String>)> = question.split_whitespace().map(|piece| (piece, tokens(piece))).collect();
    let asking = language(&pieces.iter().flat_map(|(_, words)| words));
    // A word inside an identifier or a path is a part of it.
    let is_identifier = |piece: &str| {
        piece.trim_matches(|c: char| !c.is_alphanumeric()).contains(|c: char| !c.is_alphanumeric() && !"'’".contains(c))
    };
    let mut telling = Vec::with_capacity(pieces.len());
    let (mut is_inside, mut is_after_how) = (false, false);
    for (piece, words) in &pieces {
        // Inside a question, a capital begins a name: `Frau Weit`.
        let is_name = is_inside && piece.starts_with(char::is_uppercase) && piece.chars().count() > 1;
        let is_contracted = piece.contains(['\'', '’']);
        let is_empty = |word: &String| {
            let word = word.as_str();
            let further = &*ASKING_WORDS;
            asking.contains(word)
                || is_stop_word(word)
                || (is_after_how && further.after_how.contains(word))
                || (is_contracted && further.contracted.contains(word))
        };
        if is_name || is_identifier(piece) || words.is_empty() || !words.iter().all(is_empty) {
            telling.push(*piece);
        }
        is_inside = true;
        is_after_how = words.last().is_some_and(|word| word == "how");
    }
    telling.join(" ")
}

/// Returns the asking words of the language that has most of these words; those of English if no other has more.
fn language<'a>(words: &(impl Iterator<Item = &'a String> + Clone)) -> &'static FxHashSet<&'static str> {
    let count = |list: &FxHashSet<&str>| words.clone().filter(|word| list.contains(word.as_str())).count();
    let asking = &*ASKING_WORDS;
    let english = words.clone().filter(|word| is_stop_word(word) || asking.english.contains(word.as_str())).count();
    let mut best = (english.max(WORDS_MIN - 1), &asking.english);
    for list in &asking.others {
        let found = count(list);
        if found > best.0 {
            best = (found, list);
        }
    }
    best.1
}

fn without_parts(question: &str) -> String {
    let mut question = question.to_owned();
    if question.contains(is_unspaced) {
        for part in &ASKING_WORDS.parts {
            if question.contains(part) {
                question = question.replace(part, " ");
            }
        }
    }
    question
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_says_what_a_question_is_about() {
        let questions = [
            ("How do I install my kestrel?", "instal kestrel"),
            ("Why don't we rotate our logs?", "rotat log"),
            ("How much were the flights?", "flight"),
            ("How long is the long table?", "long tabl"),
            ("When did the war of the den end?", "war den end"),
            ("Who won, and where's the Don in the US?", "won don us"),
            ("What is in my.cnf?", "my cnf mycnf"),
            ("Wer hat den Kessel eingebaut?", "kessel eingebaut"),
            ("Wer ist Frau Weit?", "frau weit"),
            ("Combien de litres dans la chaudière ?", "litr chaudier"),
            ("¿Dónde está la caldera?", "caldera"),
            ("来年の予算はいくらですか?", "来年 予算"),
            ("备份保存多少天?", "备份 份保 保存"),
            ("회사는 언제 설립되었는가?", "회사 사는 설립 립되 되었"),
            ("Who are you?", "you"),
            ("多少钱?", "多少 少钱"),
            ("인가 서버는 무엇입니까?", "인가 서버 버는"),
            ("幾何学とは何ですか", "幾何 何学"),
        ];
        let told = questions.map(|(question, _)| (question, telling_terms(question).join(" ")));
        assert_eq!(told, questions.map(|(question, telling)| (question, telling.to_owned())));
    }
}
