//! Which of the needed passages a ranked list contains.

use serde::Deserialize;

use super::questions::Question;

/// A passage that a question asks for: any that has one of some texts.
///
/// Texts and not ids, so that a label outlives a change of how documents are divided.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldPassage {
    /// The source id of its document; any where none is given.
    #[serde(default)]
    pub document: Option<String>,
    /// Texts of which it has at least one, as whole words; white space of any kind and length is the same.
    pub texts: Vec<String>,
}

impl GoldPassage {
    /// Returns whether a passage of this document with this text, as [`flat`] gives it, is one that is asked for.
    #[must_use]
    pub fn is(&self, source_id: &str, flat_text: &str) -> bool {
        let here = self.document.as_deref().is_none_or(|document| document == source_id);
        here && self.texts.iter().any(|text| stands_in(text, flat_text))
    }

    /// Returns what it is called among the `supporting` ids of its question.
    pub(super) fn label(&self, number: usize) -> String {
        format!("{}#{number}", self.document.as_deref().unwrap_or_default())
    }
}

/// Returns a text with its white space as single spaces.
#[must_use]
pub fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// Returns whether `part` occurs in `text` without a letter, digit or underscore next to it.
fn stands_in(part: &str, text: &str) -> bool {
    let continues = |it: char| it.is_alphanumeric() || it == '_';
    let begins = part.chars().next().is_some_and(continues);
    let ends = part.chars().next_back().is_some_and(continues);
    text.match_indices(part).any(|(start, found)| {
        let before = text[..start].chars().next_back().is_some_and(continues);
        let after = text[start + found.len()..].chars().next().is_some_and(continues);
        !(begins && before || ends && after)
    })
}

impl Question {
    /// Returns a list of passages as the list that is scored: labels of what the question asks for where a passage has
    /// it for the first time, and `other` where it does not. A passage that has two of them takes two places.
    pub(super) fn labelled<'a>(
        &self,
        passages: impl Iterator<Item = (&'a str, &'a str)>,
        other: impl Fn(usize) -> String,
    ) -> Vec<String> {
        let mut missing: Vec<usize> = (0..self.passages.len()).collect();
        let mut labels = Vec::new();
        for (place, (source_id, text)) in passages.enumerate() {
            let text = flat(text);
            let before = labels.len();
            missing.retain(|number| {
                let is_found = self.passages[*number].is(source_id, &text);
                if is_found {
                    labels.push(self.passages[*number].label(*number));
                }
                !is_found
            });
            if labels.len() == before {
                labels.push(other(place));
            }
        }
        labels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gold(document: Option<&str>, texts: &[&str]) -> GoldPassage {
        GoldPassage {
            document: document.map(ToOwned::to_owned),
            texts: texts.iter().map(|it| (*it).to_owned()).collect(),
        }
    }

    #[test]
    fn a_gold_passage_has_one_of_the_texts_as_whole_words() {
        let gold = gold(None, &["wal_level", "a second line"]);
        assert!(gold.is("any.md", "set `wal_level` first"));
        assert!(gold.is("any.md", &flat("not wal_levels but\n  a second\tline")));
        assert!(!gold.is("any.md", "max_wal_level or wal_levels"));
    }

    #[test]
    fn a_gold_passage_may_be_asked_of_one_document() {
        let gold = gold(Some("a.md"), &["x"]);
        assert!(gold.is("a.md", "an x") && !gold.is("b.md", "an x"));
    }

    #[test]
    fn a_list_of_passages_is_labelled_where_it_has_gold_for_the_first_time() {
        let text = br#"{"id":"1","question":"?!","passages":[{"texts":["one"]},{"document":"b","texts":["two"]}]}"#;
        let questions = super::super::parse_questions(std::path::Path::new("q"), text).expect("a question");
        assert_eq!(questions[0].supporting, ["#0", "b#1"]);
        let list = [("a", "two"), ("a", "one"), ("b", "one"), ("b", "two and one")];
        let labels = questions[0].labelled(list.into_iter(), |place| place.to_string());
        assert_eq!(labels, ["0", "#0", "2", "b#1"]);
    }
}
