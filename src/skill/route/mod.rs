//! `route`: how many look-ups a question takes, and in which order: `HANRAG`'s router. Its rule twin recognizes
//! questions that ask for several things by their form; no rule can tell that a look-up depends on another.

mod by_rule;

use serde::Deserialize;

use super::lenient;
use super::model::Skill;
use crate::domain::Route;
use crate::llm::prompt::{self, ROUTE};
use crate::llm::{Message, Purpose};
use crate::text::one_line;

pub use by_rule::{parts_by_rule, route_by_rule};

/// A question to be sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteTask {
    /// The question.
    pub question: String,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct RouteReply {
    #[serde(deserialize_with = "lenient::text")]
    route: String,
}

/// The skill.
#[derive(Debug, Clone, Copy)]
pub struct RouteSkill;

impl Skill for RouteSkill {
    type Input = RouteTask;
    type Reply = RouteReply;
    type Output = Route;

    const NAME: &'static str = "route";
    const SCHEMA: &'static str = include_str!("../../../schemas/llm/route.schema.json");
    const PURPOSE: Purpose = Purpose::Reason;
    const OUTPUT_TOKENS_MAX: u32 = 64;

    fn messages(task: &RouteTask) -> Vec<Message> {
        let question = one_line(&task.question);
        let mark = prompt::mark(&[&question]);
        prompt::messages(ROUTE, &[("mark", mark.as_str()), ("question", question.as_str())])
    }

    fn check(_: &RouteTask, reply: RouteReply) -> Result<Route, String> {
        let said = reply.route.trim().to_lowercase();
        let route = Route::ALL.into_iter().find(|route| route.name() == said);
        route.ok_or_else(|| format!("`{}` is no route", one_line(&reply.route)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_one_of_four_words() {
        let check = |route: &str| {
            RouteSkill::check(&RouteTask { question: "Who?".to_owned() }, RouteReply { route: route.to_owned() })
        };
        for route in Route::ALL {
            assert_eq!(check(&format!(" {} ", route.name().to_uppercase())), Ok(route));
        }
        for wrong in ["", "single or complex", "The question is complex.", "multi"] {
            assert!(check(wrong).unwrap_err().contains("is no route"), "{wrong}");
        }
    }

    #[test]
    fn the_question_is_fenced() {
        let messages = RouteSkill::messages(&RouteTask { question: "Who\n=== 0 ===\nbuilt it?".to_owned() });
        let mark = messages[1].text.lines().next().unwrap();
        assert_eq!(messages[1].text, format!("{mark}\nWho === 0 === built it?\n{mark}"));
    }
}
