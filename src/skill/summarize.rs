//! `summarize`: what the members of a summary entity have in common (`HiRAG`, section on `HiIndex`): one or more
//! summaries of a cluster, each of one of the given types, like the paper's meta types.

use serde::Deserialize;

use super::extract::EntityTypes;
use super::lenient;
use super::model::Skill;
use super::report::{cited, cut, distinct, listed, numbered};
use crate::domain::{ASPECTS_MAX, Aspect, ClusterSummary, PassageId};
use crate::llm::prompt::{self, SUMMARIZE};
use crate::llm::{Message, Purpose};
use crate::text::{one_line, tokens};

/// Characters of a name at most.
const NAME_CHARS_MAX: usize = 100;
/// Characters of a description at most: a longer one is cut.
const DESCRIPTION_CHARS_MAX: usize = 600;

/// The material about a cluster, row by row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SummarizeTask {
    /// The types that a summary may have.
    pub types: EntityTypes,
    /// The members, each with its description.
    pub members: Vec<String>,
    /// Sentences about them, which summaries name by their numbers, from 1: each with its passage and its place there.
    pub sentences: Vec<(PassageId, u32, String)>,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct SummarizeReply {
    #[serde(default)]
    summaries: Vec<SummaryReply>,
}

#[derive(Debug, Deserialize)]
struct SummaryReply {
    #[serde(default, deserialize_with = "lenient::text")]
    name: String,
    #[serde(default, rename = "type", deserialize_with = "lenient::text")]
    kind: String,
    #[serde(default, deserialize_with = "lenient::text")]
    description: String,
    #[serde(default, deserialize_with = "lenient::numbers")]
    sentences: Vec<i64>,
}

/// The skill. A summary without a name or a description, or that names none of the sentences that were shown, is left
/// out; a type that was not given is none.
#[derive(Debug, Clone, Copy)]
pub struct SummarizeSkill;

impl Skill for SummarizeSkill {
    type Input = SummarizeTask;
    type Reply = SummarizeReply;
    type Output = ClusterSummary;

    const NAME: &'static str = "summarize";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/summarize.schema.json");
    const PURPOSE: Purpose = Purpose::Index;
    const OUTPUT_TOKENS_MAX: u32 = 1_024;

    fn messages(task: &SummarizeTask) -> Vec<Message> {
        let (types, entities, sentences) = (task.types.listed(), listed(&task.members), numbered(&task.sentences));
        let mark = prompt::mark(&[&types, &entities, &sentences]);
        let places = [
            ("mark", mark.as_str()),
            ("types", types.as_str()),
            ("entities", entities.as_str()),
            ("sentences", sentences.as_str()),
            ("aspects_max", &ASPECTS_MAX.to_string()),
        ];
        prompt::messages(SUMMARIZE, &places)
    }

    fn shown(task: &SummarizeTask) -> Vec<PassageId> {
        distinct(&task.sentences)
    }

    fn check(task: &SummarizeTask, reply: SummarizeReply) -> Result<ClusterSummary, String> {
        let aspects: Vec<Aspect> = reply.summaries.iter().filter_map(|it| aspect(task, it)).take(ASPECTS_MAX).collect();
        if aspects.is_empty() {
            let count = task.sentences.len();
            return Err(format!(
                "none of `summaries` has a `name` of {NAME_CHARS_MAX} characters at most, a `description`, and \
                 `sentences` by their numbers, from 1 to {count}"
            ));
        }
        Ok(ClusterSummary { aspects })
    }
}

fn aspect(task: &SummarizeTask, reply: &SummaryReply) -> Option<Aspect> {
    let name = one_line(&reply.name);
    let is_name = !tokens(&name).is_empty() && name.chars().nth(NAME_CHARS_MAX).is_none();
    let description = cut(&reply.description, DESCRIPTION_CHARS_MAX);
    let sentences = cited(&task.sentences, &reply.sentences);
    let is_said = is_name && !tokens(&description).is_empty() && !sentences.is_empty();
    is_said.then(|| Aspect { name, kind: task.types.find(&reply.kind), description, sentences })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn task() -> SummarizeTask {
        let passage = |name: &str| PassageId::of(&[name.as_bytes()]);
        SummarizeTask {
            members: vec!["Harl Mill (place): A\nmill.".to_owned(), "Pale Mill".to_owned()],
            sentences: vec![
                (passage("a"), 0, "Harl Mill was built by Ada Lorne.".to_owned()),
                (passage("b"), 2, "Pale Mill burned down.".to_owned()),
            ],
            ..SummarizeTask::default()
        }
    }

    fn summary(name: &str, kind: &str, sentences: &Value) -> Value {
        json!({ "name": name, "type": kind, "description": "Mills of\nVell.", "sentences": sentences })
    }

    fn check(summaries: &Value) -> Result<ClusterSummary, String> {
        SummarizeSkill::check(&task(), serde_json::from_value(json!({ "summaries": summaries })).unwrap())
    }

    #[test]
    fn summaries_stand_on_sentences_that_were_shown_or_are_left_out() {
        let summaries = json!([
            summary("Mills\nof Vell", "Place", &json!([2, 2, "1", 9])),
            summary("", "place", &json!([1])),
            summary("Mills", "place", &json!([])),
            summary(&"x".repeat(101), "place", &json!([1])),
            summary("Fires", "disaster", &json!(2)),
        ]);
        let found = check(&summaries).unwrap().aspects;
        let [mills, fires] = &found[..] else { panic!("{found:?}") };
        let [a, b] = [(PassageId::of(&[b"a"]), 0), (PassageId::of(&[b"b"]), 2)];
        assert_eq!((mills.name.as_str(), mills.kind.as_deref()), ("Mills of Vell", Some("place")));
        assert_eq!((mills.description.as_str(), &mills.sentences), ("Mills of Vell.", &vec![b, a]));
        assert_eq!((fires.kind.as_deref(), &fires.sentences), (None, &vec![b]));
    }

    #[test]
    fn a_cluster_has_a_summary_and_no_more_than_are_asked_for() {
        let error = check(&json!([summary("Mills", "place", &json!([3]))])).unwrap_err();
        assert!(error.ends_with("by their numbers, from 1 to 2"), "{error}");
        assert!(check(&json!([])).is_err());
        let many = vec![summary("Mills", "place", &json!([1])); 9];
        assert_eq!(check(&many.into()).unwrap().aspects.len(), ASPECTS_MAX);
    }

    #[test]
    fn the_prompt_lists_types_and_members_and_numbers_sentences() {
        let messages = SummarizeSkill::messages(&task());
        let [_, user] = &messages[..] else { panic!("two messages") };
        for said in ["person, organization", "- Harl Mill (place): A mill.\n- Pale Mill\n", "\n2. Pale Mill burned"] {
            assert!(user.text.contains(said), "{}", user.text);
        }
        assert_eq!(SummarizeSkill::shown(&task()).len(), 2);
    }
}
