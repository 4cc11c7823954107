//! The stand-in for a model that leads a strategy in rounds: the recorded parts of a question, one after the other,
//! each with the answers to earlier parts that are known by then.

use serde_json::{Value, json};

use super::recorded::RecordedPart;
use super::stand_in::{Draw, block};
use crate::domain::Route;
use crate::llm::ChatRequest;
use crate::skill::SubQuestion;
use crate::text::tokens;

/// A request, and what was recorded about its question.
pub(super) struct Planning<'a> {
    pub(super) draw: &'a Draw,
    /// The parts; at least one.
    pub(super) parts: &'a [RecordedPart],
    pub(super) request: &'a ChatRequest,
}

/// Returns the simulated reply to a skill; none if the skill is not simulated.
pub(super) fn planned(skill: &str, asked: &Planning<'_>) -> Option<Value> {
    let step = asked.request.step as usize;
    let is_right = asked.draw.is_right(&format!("{skill} {step}"));
    let is_over = step >= asked.parts.len();
    match skill {
        "route" => {
            let right = asked.route();
            let other = Route::ALL.into_iter().filter(|route| *route != right);
            let other = other.cycle().nth(asked.draw.number("route") as usize % (Route::ALL.len() - 1));
            Some(json!({ "route": if is_right { right } else { other? }.name() }))
        }
        "seed" => Some(json!({ "next": asked.next(step) })),
        "enough" => Some(json!({ "missing": [], "enough": is_over == is_right })),
        "supplement" => {
            let is_enough = is_over == is_right;
            let questions: Vec<String> = asked.next(step).into_iter().filter(|_| !is_enough).collect();
            Some(json!({ "questions": questions, "enough": is_enough }))
        }
        "reason" => {
            let is_enough = is_over == is_right && step > 0;
            let missing: Vec<String> = asked.next(step).into_iter().filter(|_| !is_enough).collect();
            let is_enough = is_enough || missing.is_empty();
            Some(json!({ "known": "", "missing": missing, "enough": is_enough }))
        }
        "seek" => {
            let query = asked.next(step)?;
            Some(json!({ "needs": [{ "entity": query, "heading": null, "queries": [query] }] }))
        }
        "digest" => Some(asked.digest(is_right)),
        _ => None,
    }
}

impl Planning<'_> {
    fn route(&self) -> Route {
        match self.parts {
            [_] => Route::Single,
            parts if parts.iter().all(|part| SubQuestion::new(&part.question).needs.is_empty()) => Route::Compound,
            _ => Route::Complex,
        }
    }

    fn prompt(&self) -> &str {
        self.request.messages.last().map_or("", |message| message.text.as_str())
    }

    /// Returns the part at `step`, with those answers to earlier parts that the request contains; none after the last.
    fn next(&self, step: usize) -> Option<String> {
        let prompt = tokens(self.prompt());
        let known = |place: usize| {
            let answer = self.parts.get(place)?.answer.as_str();
            let words = tokens(answer);
            let is_known = !words.is_empty() && prompt.windows(words.len()).any(|window| window == words);
            Some(if is_known { answer } else { "" })
        };
        let part = SubQuestion::new(&self.parts.get(step)?.question);
        part.filled(known).filter(|text| !tokens(text).is_empty())
    }

    /// Returns a note with the first recorded answer that one of the passages shown contains.
    fn digest(&self, is_right: bool) -> Value {
        let prompt = self.prompt();
        let blocks = (1..=self.request.shown.len()).filter_map(|number| Some((number, tokens(block(prompt, number)?))));
        let about = prompt.lines().find_map(|line| line.strip_prefix("About: ")).map(tokens).unwrap_or_default();
        let shown: Vec<(usize, Vec<String>)> = blocks.collect();
        let has = |words: &[String], text: &[String]| {
            !words.is_empty() && text.windows(words.len()).any(|window| window == words)
        };
        for part in self.parts.iter().filter(|_| is_right) {
            let words = tokens(&part.answer);
            // The subject of the note names the answer to an earlier part.
            let place = shown.iter().find(|(_, text)| has(&words, text)).filter(|_| !has(&words, &about));
            if let Some((number, _)) = place {
                return json!({ "note": part.answer, "passages": [number] });
            }
        }
        json!({ "note": "", "passages": [] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::{Message, Purpose, ReplyForm, Speaker};

    fn asked(said: &str, step: u32) -> ChatRequest {
        ChatRequest {
            purpose: Purpose::Reason,
            messages: vec![Message { speaker: Speaker::User, text: said.to_owned() }],
            form: ReplyForm::Text,
            temperature: None,
            output_tokens_max: 100,
            listener: None,
            is_afresh: false,
            shown: Vec::new(),
            step,
        }
    }

    fn part(question: &str, answer: &str) -> RecordedPart {
        RecordedPart { question: question.to_owned(), answer: answer.to_owned() }
    }

    #[test]
    fn recorded_parts_are_asked_one_after_the_other_with_the_answers_that_are_known() {
        let draw = Draw { accuracy: 1.0, seed: 1, question: "1".to_owned() };
        let parts = [part("Who built Harl Mill?", "Ada Lorne"), part("When was #1 born?", "1801")];
        let reply = |skill: &str, said: &str, step: u32| {
            let request = asked(said, step);
            planned(skill, &Planning { draw: &draw, parts: &parts, request: &request }).unwrap()
        };
        assert_eq!(reply("route", "", 0)["route"], "complex");
        assert_eq!(reply("seed", "Nothing.", 0)["next"], "Who built Harl Mill?");
        assert_eq!(reply("seed", "Answer: ada lorne", 1)["next"], "When was Ada Lorne born?");
        assert_eq!(reply("seed", "Answer: Tom Reed", 1)["next"], "When was  born?");
        assert_eq!(reply("seed", "Answer: 1801", 2)["next"], Value::Null);
        assert_eq!(
            (reply("enough", "", 1)["enough"].clone(), reply("enough", "", 2)["enough"].clone()),
            (json!(false), json!(true))
        );
        assert_eq!(reply("reason", "- Ada Lorne", 1)["missing"], json!(["When was Ada Lorne born?"]));
        assert_eq!(reply("reason", "- 1801", 2)["enough"], true);
    }
}
