//! Relations that questions ask for, and how passages state them.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use super::prose::Prose;
use crate::text::{Run, is_stop_word};

/// A relation such as `director`.
pub(super) struct Relation {
    name: &'static str,
    /// Words of a question that ask for it.
    asked: Vec<&'static str>,
    stated: Vec<Statement>,
}

struct Statement {
    /// Words before the name.
    phrase: Vec<&'static str>,
    /// Whether the name after the next `and` is meant.
    second: bool,
}

#[derive(Default)]
struct Relations {
    simple: Vec<Relation>,
    /// Words of a question, and the relations that they join.
    chains: Vec<(Vec<&'static str>, Vec<&'static str>)>,
}

static RELATIONS: LazyLock<Relations> = LazyLock::new(|| {
    let mut relations = Relations::default();
    for line in include_str!("relations.txt").lines().filter(|line| !line.starts_with('#')) {
        let Some((left, right)) = line.split_once(':') else { continue };
        if let Some(words) = left.strip_prefix("= ") {
            relations.chains.push((words.split(' ').collect(), right.split_whitespace().collect()));
            continue;
        }
        let (asked, stated) = right.split_once('|').unwrap_or((right, ""));
        let statement = |text: &'static str| {
            let text = text.trim();
            let bare = text.strip_prefix('+').unwrap_or(text);
            Statement { phrase: bare.split(' ').collect(), second: text.starts_with('+') }
        };
        let (asked, stated) = (asked.split_whitespace().collect(), stated.split(';').map(statement).collect());
        relations.simple.push(Relation { name: left, asked, stated });
    }
    relations
});

/// Returns the relations that `words`, folded words of a question, ask for, in order.
pub(super) fn asked(words: &[&str]) -> Vec<&'static Relation> {
    asked_groups(words).into_iter().flatten().collect()
}

/// The same, with the relations together that one word or phrase joins.
pub(super) fn asked_groups(words: &[&str]) -> Vec<Vec<&'static Relation>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let rest = &words[at..];
        if let Some((chain, joined)) = RELATIONS.chains.iter().find(|(chain, _)| rest.starts_with(chain)) {
            found.push(joined.iter().filter_map(|name| named(name)).collect());
            at += chain.len();
            continue;
        }
        found.extend(RELATIONS.simple.iter().find(|relation| relation.asked.contains(&rest[0])).map(|it| vec![it]));
        at += 1;
    }
    found
}

static PLAIN: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| {
    let lines = include_str!("plain.txt").lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect()
});

/// Returns whether every one of `words` says something that the rules know: else a question asks for more than they
/// can tell.
pub(super) fn explains(words: &[&str]) -> bool {
    let in_chain = |word: &&str| RELATIONS.chains.iter().any(|(chain, _)| chain.contains(word));
    let asked = |word: &&str| RELATIONS.simple.iter().any(|relation| relation.asked.contains(word));
    words.iter().all(|word| is_stop_word(word) || PLAIN.contains(word) || asked(word) || in_chain(word))
}

fn named(name: &str) -> Option<&'static Relation> {
    RELATIONS.simple.iter().find(|relation| relation.name == name)
}

impl Relation {
    /// Returns the name that a text states.
    pub(super) fn stated<'b>(&self, prose: &'b Prose<'_>) -> Option<&'b Run> {
        self.stated.iter().find_map(|statement| {
            if statement.second {
                prose.second_name_after(&statement.phrase)
            } else {
                prose.name_after(&statement.phrase)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(question: &str) -> Vec<&'static str> {
        asked(&question.split(' ').collect::<Vec<_>>()).iter().map(|it| it.name).collect()
    }

    #[test]
    fn a_question_asks_for_relations_in_its_order() {
        assert_eq!(names("who is the spouse of the director of film"), ["spouse", "director"]);
        assert_eq!(names("who is the maternal grandfather of"), ["mother", "father"]);
        assert_eq!(names("s father in law"), ["spouse", "father"]);
        assert_eq!(names("when was it"), [""; 0]);
    }

    #[test]
    fn a_question_with_a_word_that_no_rule_knows_is_not_explained() {
        assert!(explains(&["when", "did", "s", "mother", "in", "law", "die"]));
        assert!(!explains(&["who", "owns", "the", "label"]));
    }

    #[test]
    fn every_chain_joins_relations_that_there_are() {
        for (words, joined) in &RELATIONS.chains {
            assert!(joined.iter().all(|name| named(name).is_some()), "{words:?}");
        }
        assert!(RELATIONS.simple.iter().all(|it| !it.asked.is_empty() && !it.stated.is_empty()));
    }

    #[test]
    fn a_passage_states_a_relation_before_the_name() {
        let prose = Prose::of("He was the second son of Emperor Lothair I and Ermengarde of Tours.");
        let stated = |name: &str| named(name).and_then(|it| it.stated(&prose)).map(|run| run.key.as_str());
        assert_eq!(stated("mother"), Some("ermengarde of tours"));
        assert_eq!(stated("director"), None);
    }
}
