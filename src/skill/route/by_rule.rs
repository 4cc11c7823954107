//! The rule twin of `route`, and of `decompose` for questions that ask for several things: a question is divided where
//! one question ends and another begins, or before an interrogative behind `and`. A pronoun in a later part is replaced
//! by the only name of the first; if a part cannot be understood without the others, the question stays whole. English
//! only: other questions stay whole.

use crate::domain::Route;
use crate::text::{capitalized_runs, one_line, terms, tokens};

/// Parts that a rule divides a question into at most.
const PARTS_MAX: usize = super::super::decompose::PARTS_MAX;
const INTERROGATIVES: &[&str] = &["who", "whom", "whose", "when", "where", "why", "how", "what", "which"];
/// Words by which a clause may depend on an earlier one.
const RELATIVES: &[&str] = &["who", "whom", "whose", "which", "that", "where", "when"];
const SUBJECTS: &[&str] = &["he", "she", "it", "they", "him", "her", "them"];
const POSSESSIVES: &[&str] = &["his", "its", "their", "hers", "theirs"];

/// Returns the route of a question without a model: [`Route::Compound`] if it has parts, and otherwise
/// [`Route::Single`].
#[must_use]
pub fn route_by_rule(question: &str) -> Route {
    if parts_by_rule(question).len() > 1 { Route::Compound } else { Route::Single }
}

/// Returns the self-contained parts of a question that asks for several facts; the question itself if it asks for one.
#[must_use]
pub fn parts_by_rule(question: &str) -> Vec<String> {
    let question = one_line(question);
    let divided = [sentences(&question), coordinated(&question)].into_iter().find(|parts| parts.len() > 1);
    let whole = || vec![question.clone()];
    let Some(parts) = divided.filter(|parts| parts.len() <= PARTS_MAX) else { return whole() };
    understood(&parts).unwrap_or_else(whole)
}

/// Returns the questions that a text consists of, where it has nothing else.
fn sentences(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split_inclusive("? ").map(str::trim).filter(|part| !part.is_empty()).collect();
    let asks = |part: &&str| part.ends_with('?') || starts_with_interrogative(part);
    if parts.iter().all(asks) { parts.into_iter().map(str::to_owned).collect() } else { vec![text.to_owned()] }
}

/// Returns the clauses of a question that are joined by `and` before an interrogative.
fn coordinated(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = divided(rest) {
        parts.push(format!("{}?", before.trim_end_matches([',', ' ', '?'])));
        rest = after;
    }
    parts.push(rest.to_owned());
    // The first interrogative may stand behind a preposition.
    let depends = |part: &String| tokens(part).iter().skip(2).any(|word| RELATIVES.contains(&word.as_str()));
    let is_whole = |part: &String| starts_with_interrogative(part) && !depends(part);
    if parts.iter().all(is_whole) { parts } else { vec![text.to_owned()] }
}

/// Divides a text at the first `and` before an interrogative.
fn divided(text: &str) -> Option<(&str, &str)> {
    let is_cut = |(at, _): &(usize, &str)| text.get(at + " and ".len()..).is_some_and(starts_with_interrogative);
    let (at, and) = text.match_indices(" and ").find(is_cut)?;
    Some((text.get(..at)?, text.get(at + and.len()..)?))
}

fn starts_with_interrogative(text: &str) -> bool {
    let words: Vec<String> = tokens(text).into_iter().take(2).collect();
    let is_one = |word: Option<&String>| word.is_some_and(|word| INTERROGATIVES.contains(&word.as_str()));
    let has_preposition =
        words.first().is_some_and(|word| ["in", "at", "on", "for", "by", "from", "to"].contains(&word.as_str()));
    is_one(words.first()) || has_preposition && is_one(words.get(1))
}

/// Returns parts with pronouns replaced by names; none if one is not self-contained.
fn understood(parts: &[String]) -> Option<Vec<String>> {
    let first = parts.first()?;
    let runs = capitalized_runs(first, &|_| false);
    let is_name = |run: &&crate::text::Run| !INTERROGATIVES.contains(&run.key.as_str());
    let mut names = runs.iter().filter(is_name).filter_map(|run| name_of(first.get(run.start..run.end)?, &run.key));
    let name = names.next().filter(|_| names.next().is_none());
    let resolved = |part: &String| {
        let part = with_name(part, name.as_deref())?;
        (!terms(&part).is_empty()).then(|| capitalized(&part))
    };
    let rest = parts[1..].iter().map(resolved).collect::<Option<Vec<String>>>()?;
    Some(std::iter::once(first.clone()).chain(rest).collect())
}

/// Returns the words of a run that its key has: without an interrogative that opens it.
fn name_of(text: &str, key: &str) -> Option<String> {
    let words: Vec<&str> = text.split(' ').collect();
    let own = key.split(' ').count().min(words.len());
    Some(words.get(words.len() - own..)?.join(" ").trim_end_matches(['?', ',', '.']).to_owned())
}

/// Returns a part with its pronouns replaced by a name; none if it has one and there is no name.
fn with_name(part: &str, name: Option<&str>) -> Option<String> {
    let mut words = Vec::new();
    for word in part.split(' ') {
        let bare = word.trim_end_matches(['?', ',', '.', '!']);
        let (folded, mark) = (bare.to_lowercase(), &word[bare.len()..]);
        let is_subject = SUBJECTS.contains(&folded.as_str());
        let is_possessive = POSSESSIVES.contains(&folded.as_str());
        if !is_subject && !is_possessive {
            words.push(word.to_owned());
            continue;
        }
        // "Her" is both: before a mark or at the end, it is not a possessive.
        let owns = is_possessive || folded == "her" && mark.is_empty() && !part.ends_with(word);
        words.push(format!("{}{}{mark}", name?, if owns { "'s" } else { "" }));
    }
    Some(words.join(" "))
}

fn capitalized(part: &str) -> String {
    let mut chars = part.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_asks_for_several_things_is_divided_where_each_is_understood() {
        let divided: [(&str, &[&str]); 5] = [
            ("Who built Harl Mill and who built Pale Weir?", &["Who built Harl Mill?", "Who built Pale Weir?"]),
            (
                "When was Ada Lorne born? When did she retire?",
                &["When was Ada Lorne born?", "When did Ada Lorne retire?"],
            ),
            (
                "What honours did Ada Lorne win, and where was her mill?",
                &["What honours did Ada Lorne win?", "Where was Ada Lorne's mill?"],
            ),
            (
                "Who founded Vell and in which year was it founded?",
                &["Who founded Vell?", "In which year was Vell founded?"],
            ),
            (
                "When was Vell founded and when was Eaststead founded and when was Orn founded?",
                &["When was Vell founded?", "When was Eaststead founded?", "When was Orn founded?"],
            ),
        ];
        for (question, expect) in divided {
            assert_eq!(parts_by_rule(question), expect, "{question}");
            assert_eq!(route_by_rule(question), Route::Compound);
        }
    }

    #[test]
    fn a_question_stays_whole_where_it_asks_for_one_thing_or_a_part_hangs_on_another() {
        for question in [
            "Who built Harl Mill?",
            "Who directed the film whose star was born in Vell and who died in Orn?",
            "Who is the man who built Harl Mill and who was born in Vell?",
            "Were Ada Lorne and Tom Reed born in the same town?",
            "When did they meet and where did he live?",
            "Who taught Ada Lorne and Tom Reed, and where did he live?",
            "What is a weir and when?",
            "Ada Lorne built it. When?",
            "Wer baute die Mühle und wann wurde sie gebaut?",
            "",
            " and who ",
        ] {
            assert_eq!(parts_by_rule(question).len(), 1, "{question}: {:?}", parts_by_rule(question));
            assert_eq!(route_by_rule(question), Route::Single, "{question}");
        }
    }
}
