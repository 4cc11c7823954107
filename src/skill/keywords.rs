//! `keywords`: the keywords of a question, and `refine`: one keyword for each change of a tree of keywords, to improve
//! the search: `LevelRAG`'s sparse searcher. Without a model, the words of a question are its keywords.

use serde::Deserialize;

use super::lenient;
use super::model::Skill;
use super::pick::FoundPassage;
use crate::domain::PassageId;
use crate::llm::prompt::{self, KEYWORDS, REFINE};
use crate::llm::{Message, Purpose};
use crate::text::{Clause, KeywordQuery, Occur, one_line, tokens};

/// Keywords of a question at most.
const KEYWORDS_MAX: usize = 8;
/// Words of a keyword at most.
const KEYWORD_WORDS_MAX: usize = 8;

/// A question whose keywords are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeywordsTask {
    /// The question.
    pub question: String,
    /// Which question it is, from 0.
    pub number: u32,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct KeywordsReply {
    #[serde(deserialize_with = "lenient::texts")]
    keywords: Vec<String>,
}

/// The skill. It gives the query of the keywords.
#[derive(Debug, Clone, Copy)]
pub struct KeywordsSkill;

impl Skill for KeywordsSkill {
    type Input = KeywordsTask;
    type Reply = KeywordsReply;
    type Output = KeywordQuery;

    const NAME: &'static str = "keywords";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/keywords.schema.json");
    const PURPOSE: Purpose = Purpose::Reason;
    const OUTPUT_TOKENS_MAX: u32 = 256;

    fn messages(task: &KeywordsTask) -> Vec<Message> {
        let question = one_line(&task.question);
        let mark = prompt::mark(&[&question]);
        let places =
            [("mark", mark.as_str()), ("question", question.as_str()), ("keywords_max", &KEYWORDS_MAX.to_string())];
        prompt::messages(KEYWORDS, &places)
    }

    fn step(task: &KeywordsTask) -> u32 {
        task.number
    }

    fn check(_: &KeywordsTask, reply: KeywordsReply) -> Result<KeywordQuery, String> {
        let kept: Vec<String> = reply.keywords.iter().filter_map(|it| keyword(it)).take(KEYWORDS_MAX).collect();
        if kept.is_empty() {
            return Err(format!("it has no keyword of 1 to {KEYWORD_WORDS_MAX} words"));
        }
        Ok(KeywordQuery::of_keywords(&kept))
    }
}

/// A search by keywords that found nothing of use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefineTask {
    /// The question.
    pub question: String,
    /// Which refinement it is, from 0.
    pub number: u32,
    /// What was searched for.
    pub query: KeywordQuery,
    /// The best of what was found.
    pub passages: Vec<FoundPassage>,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct RefineReply {
    #[serde(default, deserialize_with = "lenient::text")]
    extend: String,
    #[serde(default, deserialize_with = "lenient::text")]
    emphasize: String,
    #[serde(default, deserialize_with = "lenient::text")]
    filter: String,
}

/// The skill. It gives the queries that the changes make of that of the task, each another one.
#[derive(Debug, Clone, Copy)]
pub struct RefineSkill;

impl Skill for RefineSkill {
    type Input = RefineTask;
    type Reply = RefineReply;
    type Output = Vec<KeywordQuery>;

    const NAME: &'static str = "refine";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/refine.schema.json");
    const PURPOSE: Purpose = Purpose::Reason;
    const OUTPUT_TOKENS_MAX: u32 = 128;

    fn messages(task: &RefineTask) -> Vec<Message> {
        let line = |clause: &Clause| {
            let sign = if clause.occur == Occur::MustNot { "not " } else { "" };
            let boost = if clause.boost > 1 { format!(" {}", clause.boost) } else { String::new() };
            format!("- {sign}{}{boost}", clause.words.join(" "))
        };
        let keywords = task.query.clauses().iter().map(line).collect::<Vec<_>>().join("\n");
        let passages = task.passages.iter().zip(1..).map(|(passage, number)| passage.block(number));
        let passages = passages.collect::<Vec<_>>().join("\n\n");
        let question = one_line(&task.question);
        let mark = prompt::mark(&[&question, &keywords, &passages]);
        let places = [
            ("mark", mark.as_str()),
            ("question", question.as_str()),
            ("keywords", keywords.as_str()),
            ("passages", passages.as_str()),
        ];
        prompt::messages(REFINE, &places)
    }

    fn shown(task: &RefineTask) -> Vec<PassageId> {
        task.passages.iter().map(|passage| passage.passage).collect()
    }

    fn step(task: &RefineTask) -> u32 {
        task.number
    }

    fn check(task: &RefineTask, reply: RefineReply) -> Result<Vec<KeywordQuery>, String> {
        let [extend, emphasize, filter] = [&reply.extend, &reply.emphasize, &reply.filter].map(|it| keyword(it));
        let made = [
            extend.and_then(|it| task.query.extended(&it)),
            emphasize.and_then(|it| task.query.emphasized(&it)),
            filter.and_then(|it| task.query.filtered(&it)),
        ];
        let mut queries: Vec<KeywordQuery> = Vec::new();
        for query in made.into_iter().flatten().filter(|query| *query != task.query) {
            if !queries.contains(&query) {
                queries.push(query);
            }
        }
        if queries.is_empty() { Err("none of the keywords changes the search".to_owned()) } else { Ok(queries) }
    }
}

/// Returns what is said as one keyword; none where it is no keyword.
fn keyword(said: &str) -> Option<String> {
    let words = tokens(said).len();
    (1..=KEYWORD_WORDS_MAX).contains(&words).then(|| one_line(said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_make_a_query_and_essays_do_not() {
        let task = KeywordsTask { question: "Who?".to_owned(), number: 0 };
        let check = |keywords: &[&str]| {
            let keywords = keywords.iter().map(|it| (*it).to_owned()).collect();
            KeywordsSkill::check(&task, KeywordsReply { keywords }).map(|it| it.text())
        };
        let said = check(&["Northern\nLights", "\"director\"^2", "-film", "?", "a b c d e f g h i"]);
        assert_eq!(said.unwrap(), "northern lights director 2 film");
        assert!(check(&["?", "a b c d e f g h i"]).is_err() && check(&[]).is_err());
    }

    #[test]
    fn a_search_is_refined_by_changes_of_its_tree() {
        let query = KeywordQuery::of_keywords(&["Harl Mill", "fire"]);
        let task = RefineTask { question: "Who?".to_owned(), number: 1, query, passages: Vec::new() };
        let check = |extend: &str, emphasize: &str, filter: &str| {
            let [extend, emphasize, filter] = [extend, emphasize, filter].map(str::to_owned);
            let made = RefineSkill::check(&task, RefineReply { extend, emphasize, filter })?;
            let query = &task.query;
            let expect = [query.extended("builder"), query.emphasized("harl mill"), query.filtered("weir")];
            Ok::<_, String>(made.into_iter().map(Some).eq(expect))
        };
        assert_eq!(check("builder", "harl mill", "weir"), Ok(true));
        assert_eq!(check("fire", "", "").unwrap_err(), "none of the keywords changes the search");
        let said = &RefineSkill::messages(&task)[1].text;
        assert!(said.contains("- harl mill\n- fire\n==="), "{said}");
    }
}
