//! Whether a question asks for a fact or about the whole of something, by its words.
//!
//! A question about the whole begins with a verb that asks for an account ("Describe …"), with `how` and an auxiliary
//! ("How has … changed?"), or with `what` and, soon after, a word such as `role`, `impact` or `themes`. It errs towards
//! facts, which costs nothing. It was made on every other question of four lists; of the rest, it selects 24 of 33
//! questions of ultradomain-mix, and one of 409 of the three bundles of `docs/figures.md`: 96 % of these are right.

use crate::domain::QuestionScope;
use crate::text::{is_stop_word, tokens};

/// Words with which a question begins that asks for an account.
const ACCOUNTS: &[&str] =
    &["describe", "discuss", "explain", "summarize", "summarise", "outline", "compare", "analyze", "analyse"];
/// Words after `how` that ask how something developed or works.
const AUXILIARIES: &[&str] = &["do", "does", "did", "has", "have"];
/// Words after `how` that ask the same only with a cue: else they ask for steps.
const PASSIVES: &[&str] = &["is", "are", "was", "were"];
/// Words after these with which a question asks for instructions.
const DOERS: &[&str] = &["i", "you", "we", "one", "to"];
/// Words close behind `what` that ask for more than a fact.
const CUES: &[&str] = &[
    "significance",
    "role",
    "impact",
    "influence",
    "influences",
    "influenced",
    "affect",
    "affects",
    "contribute",
    "contributes",
    "contribution",
    "contributions",
    "comparison",
    "evolve",
    "evolved",
    "evolution",
    "develop",
    "developed",
    "development",
    "differ",
    "differs",
    "difference",
    "differences",
    "changed",
    "connection",
    "connections",
    "relationship",
    "relation",
    "related",
    "context",
    "outcome",
    "innovation",
    "transition",
    "implications",
    "challenges",
    "themes",
    "theme",
    "topics",
    "overview",
    "summary",
];
/// Words after `what` among which a cue may occur.
const CUES_WITHIN: usize = 5;
/// Words for a collection and questions about all of it, which are not a subject.
const OF_COLLECTION: &[&str] = &[
    "document",
    "documents",
    "collection",
    "corpus",
    "text",
    "texts",
    "file",
    "files",
    "note",
    "notes",
    "archive",
    "index",
    "folder",
    "library",
    "source",
    "sources",
    "material",
    "passages",
    "themes",
    "theme",
    "topics",
    "topic",
    "subjects",
    "subject",
    "overview",
    "summary",
    "main",
    "key",
    "major",
    "central",
    "common",
    "important",
    "whole",
    "entire",
    "cover",
    "covers",
    "covered",
    "contain",
    "contains",
    "discuss",
    "discussed",
    "run",
    "running",
    "recur",
    "recurring",
    "appear",
    "through",
    "give",
    "summarize",
    "summarise",
    "describe",
    "explain",
    "outline",
];

/// Determines what a question asks for.
pub(in crate::query) fn scope_of(question: &str) -> QuestionScope {
    let words = tokens(question);
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    if is_of_collection(&words) {
        return QuestionScope::Collection;
    }
    let is_account = match word(0) {
        "how" if PASSIVES.contains(&word(1)) => words.iter().any(|it| CUES.contains(&it.as_str())),
        "how" => AUXILIARIES.contains(&word(1)) && !DOERS.contains(&word(2)),
        "what" => words.iter().skip(1).take(CUES_WITHIN).any(|it| CUES.contains(&it.as_str())),
        first => ACCOUNTS.contains(&first),
    };
    if is_account { QuestionScope::Subject } else { QuestionScope::Fact }
}

/// Returns whether the question is only about a collection or its contents.
fn is_of_collection(words: &[String]) -> bool {
    let own = || words.iter().map(String::as_str).filter(|word| !is_stop_word(word));
    let is_generic = |word: &str| OF_COLLECTION.contains(&word);
    own().next().is_some() && own().all(is_generic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_about_the_whole_is_distinguished_from_one_about_a_fact() {
        for (question, expect) in [
            ("What are these documents about?", QuestionScope::Collection),
            ("What themes run through the notes?", QuestionScope::Collection),
            ("Summarize the whole collection.", QuestionScope::Collection),
            ("How has the town changed?", QuestionScope::Subject),
            ("How does Ada Lorne relate to Tom Reed?", QuestionScope::Subject),
            ("What is the role of the mill in Eaststead?", QuestionScope::Subject),
            ("Describe the decline of the mills.", QuestionScope::Subject),
            ("How many mills are there?", QuestionScope::Fact),
            ("How is Ada Lorne related to Tom Reed?", QuestionScope::Subject),
            ("How is a gate opened?", QuestionScope::Fact),
            ("How do I stop the mill?", QuestionScope::Fact),
            ("How to stop it", QuestionScope::Fact),
            ("Who built Harl Mill?", QuestionScope::Fact),
            ("What year did the author of the document die?", QuestionScope::Fact),
            ("documents about mills", QuestionScope::Fact),
            ("What is it?", QuestionScope::Fact),
        ] {
            assert_eq!(scope_of(question), expect, "{question}");
        }
    }
}
