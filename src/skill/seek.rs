//! `seek`: the entities to look up to find what is missing, each with its queries: `DualRAG`'s entity identifier.
//! Without a model, the missing piece itself is the query.

use serde::Deserialize;

use super::answer::place;
use super::lenient;
use super::model::Skill;
use super::outline::{NotedHeading, block, lines};
use crate::llm::prompt::{self, SEEK};
use crate::llm::{Message, Purpose};
use crate::text::{one_line, tokens};

/// Maximum entities looked up in one round.
pub const NEEDS_MAX: usize = 4;
/// Queries for each of them at most.
pub const QUERIES_MAX: usize = 3;
/// Characters of a name at most.
const ENTITY_CHARS_MAX: usize = 200;
/// Characters of a query at most.
const QUERY_CHARS_MAX: usize = 500;

/// A question, and the pieces missing for its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeekTask {
    /// The question.
    pub question: String,
    /// The round, from 0.
    pub round: u32,
    /// The notes so far, under their headings.
    pub outline: Vec<NotedHeading>,
    /// What is missing.
    pub missing: Vec<String>,
    /// Earlier queries.
    pub asked: Vec<String>,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct SeekReply {
    needs: Vec<NeedReply>,
}

#[derive(Debug, Deserialize)]
struct NeedReply {
    #[serde(default, deserialize_with = "lenient::text")]
    entity: String,
    #[serde(default, deserialize_with = "lenient::number_or_none")]
    heading: Option<i64>,
    #[serde(default, deserialize_with = "lenient::texts")]
    queries: Vec<String>,
}

/// Something to look up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// Its subject.
    pub entity: String,
    /// The place of the heading that is about the same, from 0.
    pub heading: Option<usize>,
    /// What to search for: at least one query.
    pub queries: Vec<String>,
}

/// The skill. It gives the entities to look up, each once.
#[derive(Debug, Clone, Copy)]
pub struct SeekSkill;

impl Skill for SeekSkill {
    type Input = SeekTask;
    type Reply = SeekReply;
    type Output = Vec<Need>;

    const NAME: &'static str = "seek";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/seek.schema.json");
    const PURPOSE: Purpose = Purpose::Reason;
    const OUTPUT_TOKENS_MAX: u32 = 768;

    fn messages(task: &SeekTask) -> Vec<Message> {
        let (question, outline) = (one_line(&task.question), block(&task.outline));
        let missing = lines(&task.missing, "It is not known what is missing.");
        let asked = lines(&task.asked, "Nothing.");
        let missing = format!("Missing:\n{missing}\n\nSearched for before:\n{asked}");
        let mark = prompt::mark(&[&question, &outline, &missing]);
        let places = [
            ("mark", mark.as_str()),
            ("question", question.as_str()),
            ("outline", outline.as_str()),
            ("missing", missing.as_str()),
            ("needs_max", &NEEDS_MAX.to_string()),
            ("queries_max", &QUERIES_MAX.to_string()),
        ];
        prompt::messages(SEEK, &places)
    }

    fn step(task: &SeekTask) -> u32 {
        task.round
    }

    fn check(task: &SeekTask, reply: SeekReply) -> Result<Vec<Need>, String> {
        let mut needs: Vec<Need> = Vec::new();
        let mut problem = "it looks up nothing".to_owned();
        for (need, number) in reply.needs.into_iter().zip(1..) {
            match checked(task, need) {
                Ok(need) => join(&mut needs, need),
                // Valid ones are kept without the invalid ones.
                Err(why) => problem = format!("need {number} {why}"),
            }
        }
        needs.truncate(NEEDS_MAX);
        if needs.is_empty() { Err(problem) } else { Ok(needs) }
    }
}

fn checked(task: &SeekTask, NeedReply { entity, heading, queries }: NeedReply) -> Result<Need, String> {
    let entity = one_line(&entity);
    if tokens(&entity).is_empty() || entity.chars().count() > ENTITY_CHARS_MAX {
        return Err(format!("is about nothing, or takes more than {ENTITY_CHARS_MAX} characters to say it"));
    }
    let is_query = |it: &String| !tokens(it).is_empty() && it.chars().count() <= QUERY_CHARS_MAX;
    let queries: Vec<String> = queries.iter().map(|it| one_line(it)).filter(is_query).collect();
    if queries.is_empty() {
        return Err(format!("has no query of at most {QUERY_CHARS_MAX} characters"));
    }
    // An unknown heading only means that the entity is new.
    let heading = heading.and_then(|number| place(number, task.outline.len()));
    Ok(Need { entity, heading, queries: queries.into_iter().take(QUERIES_MAX).collect() })
}

/// Adds a need; one about the same entity as another adds its queries to it.
fn join(needs: &mut Vec<Need>, need: Need) {
    let same = |it: &&mut Need| {
        tokens(&it.entity) == tokens(&need.entity) || need.heading.is_some() && it.heading == need.heading
    };
    match needs.iter_mut().find(same) {
        Some(known) => {
            known.heading = known.heading.or(need.heading);
            known.queries.extend(need.queries);
            known.queries.truncate(QUERIES_MAX);
        }
        None => needs.push(need),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn task() -> SeekTask {
        let outline =
            vec![NotedHeading { name: "Harl Mill".to_owned(), notes: vec!["Built by Ada Lorne.".to_owned()] }];
        let missing = vec!["when she was\nborn".to_owned()];
        SeekTask { question: "When?".to_owned(), round: 1, outline, missing, asked: vec!["Harl Mill".to_owned()] }
    }

    fn checked(needs: &Value) -> Result<Vec<Need>, String> {
        SeekSkill::check(&task(), serde_json::from_value(json!({ "needs": needs })).map_err(|it| it.to_string())?)
    }

    #[test]
    fn a_model_sees_what_is_missing_and_what_was_searched_for() {
        let said = &SeekSkill::messages(&task())[1].text;
        let expect = "Missing:\n- when she was born\n\nSearched for before:\n- Harl Mill\n===";
        assert!(said.contains(expect), "{said}");
        assert_eq!(SeekSkill::step(&task()), 1);
    }

    #[test]
    fn what_is_about_the_same_thing_is_looked_up_once() {
        let need = |entity: &str, heading: Value, queries: &[&str]| {
            let queries = json!(queries);
            json!({ "entity": entity, "heading": heading, "queries": queries })
        };
        let said = checked(&json!([
            need("Ada  Lorne", json!(null), &["When was Ada Lorne born?"]),
            need("ada lorne", json!(9), &["Ada Lorne's birth", "Ada's birth", "Ada"]),
            need("the mill", json!("1"), &["When did Harl Mill burn?"]),
            need("Harl Mill", json!(1), &["Harl Mill fire"]),
            need("", json!(1), &["Who?"]),
            need("Vell", json!(null), &["?"]),
        ]))
        .unwrap();
        let [ada, mill] = &said[..] else { panic!("{said:?}") };
        assert_eq!((ada.entity.as_str(), ada.heading, ada.queries.len()), ("Ada Lorne", None, QUERIES_MAX));
        assert_eq!(
            (mill.heading, &mill.queries[..]),
            (Some(0), &["When did Harl Mill burn?".to_owned(), "Harl Mill fire".to_owned()][..])
        );
        let many: Vec<Value> = (0..9).map(|it| need(&format!("E{it}"), json!(null), &["q"])).collect();
        assert_eq!(checked(&json!(many)).unwrap().len(), NEEDS_MAX);
    }

    #[test]
    fn a_reply_that_looks_up_nothing_is_refused_with_what_is_wrong() {
        assert_eq!(checked(&json!([])).unwrap_err(), "it looks up nothing");
        let long = "a".repeat(201);
        for (need, why) in [
            (json!({ "entity": "A", "queries": [] }), "need 1 has no query"),
            (json!({ "entity": "A", "queries": ["a ".repeat(300)] }), "need 1 has no query"),
            (json!({ "entity": long, "queries": ["q"] }), "need 1 is about nothing"),
            (json!({ "queries": ["q"] }), "invalid type"),
        ] {
            let said = checked(&json!([need])).unwrap_err();
            assert!(said.starts_with(why) || need.get("entity").is_none(), "{said}");
        }
    }
}
