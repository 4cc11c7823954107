//! Training examples for a smaller model: the prompts of a strategy's skills and a model's replies, from questions
//! whose accepted answer was reached. They are made by asking the questions again, usually from a recording, since a
//! recording has no prompts.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::answers::answered_by;
use super::exact::answer_scores;
use super::questions::Question;
use super::table::{counted, printable};
use crate::error::{Error, Result};
use crate::llm::{ChatModel, ChatReply, ChatRequest, Finish, ReplyForm, Replying, Speaker};
use crate::query::{AskOptions, QueryEngine, SearchOptions, StrategyKind};

/// Returns the skills of a strategy that its paper trains: `DualRAG`'s reasoner, identifier and summarizer, `HANRAG`'s
/// router, refiner and discriminators.
const fn skills_of(strategy: StrategyKind) -> Option<&'static [&'static str]> {
    match strategy {
        StrategyKind::Dual => Some(&["reason", "seek", "digest"]),
        StrategyKind::Noise => Some(&["route", "seed", "judge", "enough"]),
        _ => None,
    }
}

/// One line of a file of examples: a call, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrainingLine {
    /// The id of the question.
    pub question_id: String,
    /// The strategy.
    pub strategy: String,
    /// The skill.
    pub skill: String,
    /// Which of its kind it is for the question, from 0: the round, or the part of the question.
    pub step: u32,
    /// The model that replied.
    pub model: String,
    /// What was said: by the system, by the user, and last what the model replied.
    pub messages: Vec<TrainingMessage>,
}

/// A message, in the form that programs for fine-tuning read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrainingMessage {
    /// Who says it: `system`, `user` or `assistant`.
    pub role: String,
    /// What is said.
    pub content: String,
}

/// What was exported.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TrainingReport {
    /// The strategy.
    pub strategy: String,
    /// Questions that have an accepted answer.
    pub questions: u64,
    /// Those of them whose answer was an accepted one, word for word but for spelling: examples are of these.
    pub reached: u64,
    /// Examples, by skill.
    pub examples: BTreeMap<String, u64>,
    /// Skills of questions that were reached of which a reply could not be used, so that none of theirs is exported.
    pub unusable: u64,
}

/// Puts every question that has an accepted answer to the language model of `engine` by a strategy, and returns
/// examples of those whose answer is reached: of each call of a trained skill the last reply that could be used.
///
/// # Errors
///
/// [`Error::Option`] for a strategy that has no trained skills, or an engine without a language model;
/// [`Error::Question`] if no question has an answer; the first error of the engine, such as a call that a recording
/// lacks.
///
/// # Cancel safety
///
/// Dropping the future loses the examples and nothing else.
pub async fn training_data(
    engine: &QueryEngine,
    questions: &[Question],
    search: &SearchOptions,
) -> Result<(Vec<TrainingLine>, TrainingReport)> {
    let strategy = search.strategy.name().to_owned();
    let refused = |reason: &str| {
        let (value, reason) = (strategy.clone(), reason.to_owned());
        Error::Option { option: "strategy to train for", value, reason }
    };
    let skills = skills_of(search.strategy).ok_or_else(|| refused("expected `dual` or `noise`"))?;
    let model = engine.model().ok_or_else(|| refused("there is no language model whose replies could be exported"))?;
    let answered: Vec<&Question> = questions.iter().filter(|question| !question.answers.is_empty()).collect();
    if answered.is_empty() {
        return Err(Error::Question { reason: "no question has `answers` to compare with".to_owned() });
    }
    let options = AskOptions { search: search.clone(), ..AskOptions::default() };
    let mut report = TrainingReport { questions: answered.len() as u64, ..TrainingReport::default() };
    let mut lines = Vec::new();
    for question in answered {
        let tapped = Arc::new(Tapped { inner: Arc::clone(model), heard: Mutex::default() });
        let asked = engine.with_model(Arc::clone(&tapped) as Arc<dyn ChatModel>);
        let answer = asked.ask(&question.question, &options).await?;
        let work = answer.ledger.work.clone().unwrap_or_default();
        if answer_scores(&answered_by(answer).0, &question.answers).exact < 1.0 {
            continue;
        }
        report.reached += 1;
        let is_unusable = |skill: &str| work.skills.get(skill).is_some_and(|calls| calls.unusable > 0);
        report.unusable += skills.iter().filter(|skill| is_unusable(skill)).count() as u64;
        let usable: Vec<&str> = skills.iter().copied().filter(|skill| !is_unusable(skill)).collect();
        for example in tapped.examples(&usable) {
            *report.examples.entry(example.skill.to_owned()).or_default() += 1;
            lines.push(TrainingLine {
                question_id: question.id.clone(),
                strategy: strategy.clone(),
                skill: example.skill.to_owned(),
                step: example.step,
                model: model.name().to_owned(),
                messages: example.messages,
            });
        }
    }
    Ok((lines, TrainingReport { strategy, ..report }))
}

/// A call with a usable reply.
struct Example {
    skill: &'static str,
    step: u32,
    messages: Vec<TrainingMessage>,
}

/// A model that records requests and replies, for one question.
struct Tapped {
    inner: Arc<dyn ChatModel>,
    heard: Mutex<Vec<(ChatRequest, ChatReply)>>,
}

impl Tapped {
    /// Returns the calls of some skills, in the order of the skills and by step. A repaired reply takes the place of
    /// the first one.
    fn examples(&self, skills: &[&str]) -> Vec<Example> {
        let mut examples: BTreeMap<(usize, u32, String), Example> = BTreeMap::new();
        for (request, reply) in self.heard.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let ReplyForm::Json { name, .. } = &request.form else { continue };
            let Some(place) = skills.iter().position(|skill| skill == name) else { continue };
            if reply.finish != Finish::Stop {
                continue;
            }
            // Anything after that is a request for a repair.
            let asked: Vec<_> = request.messages.iter().take_while(|it| it.speaker != Speaker::Assistant).collect();
            let key = asked.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n");
            let of = |speaker: Speaker, content: &str| {
                let role = match speaker {
                    Speaker::System => "system",
                    Speaker::User => "user",
                    Speaker::Assistant => "assistant",
                };
                TrainingMessage { role: role.to_owned(), content: content.to_owned() }
            };
            let messages = asked.iter().map(|message| of(message.speaker, &message.text));
            let messages = messages.chain([of(Speaker::Assistant, &reply.text)]).collect();
            examples.insert((place, request.step, key), Example { skill: name, step: request.step, messages });
        }
        examples.into_values().collect()
    }
}

impl ChatModel for Tapped {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn kept_as(&self) -> &str {
        self.inner.kept_as()
    }

    fn note_use(&self, problem: Option<&str>) {
        self.inner.note_use(problem);
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(async move {
            let reply = self.inner.reply(request).await?;
            let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
            heard.push((request.clone(), reply.clone()));
            Ok(reply)
        })
    }
}

impl Display for TrainingReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self { strategy, questions, reached, examples, unusable } = self;
        writeln!(
            out,
            "{}: the answer to {reached} of {} was reached",
            printable(strategy),
            counted(*questions, "question")
        )?;
        for (skill, count) in examples {
            writeln!(out, "  {skill}: {}", counted(*count, "example"))?;
        }
        if *unusable > 0 {
            writeln!(out, "  left out {unusable} times: a skill with a reply that could not be used")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::domain::Usage;
    use crate::llm::scripted::Scripted;
    use crate::llm::{Message, Purpose, ReplyOrigin};

    fn message(speaker: Speaker, text: &str) -> Message {
        Message { speaker, text: text.to_owned() }
    }

    fn call(
        name: &'static str,
        step: u32,
        messages: Vec<Message>,
        text: &str,
        finish: Finish,
    ) -> (ChatRequest, ChatReply) {
        let request = ChatRequest {
            purpose: Purpose::Reason,
            messages,
            form: ReplyForm::Json { name, schema: Value::Null },
            temperature: None,
            output_tokens_max: 9,
            listener: None,
            is_afresh: false,
            shown: Vec::new(),
            step,
        };
        let (usage, model, origin) = (Usage::default(), "m".to_owned(), ReplyOrigin::Server);
        (request, ChatReply { text: text.to_owned(), finish, usage, model, origin, calls: 1, cost: None })
    }

    #[test]
    fn examples_are_calls_of_the_skills_in_order_and_a_repair_takes_the_place_of_what_it_repairs() {
        let asked = |text: &str| vec![message(Speaker::System, "s"), message(Speaker::User, text)];
        let mut repair = asked("a");
        repair.extend([message(Speaker::Assistant, "wrong"), message(Speaker::User, "mend it")]);
        let heard = vec![
            call("seek", 0, asked("x"), "0", Finish::Stop),
            call("reason", 1, asked("b"), "2", Finish::Stop),
            call("reason", 0, asked("a"), "wrong", Finish::Stop),
            call("answer", 0, asked("z"), "9", Finish::Stop),
            call("reason", 0, repair, "1", Finish::Stop),
            call("reason", 2, asked("c"), "cut", Finish::Length),
        ];
        let tapped = Tapped { inner: Arc::new(Scripted::new([])), heard: Mutex::new(heard) };
        let said = |skills: &[&str]| {
            let of = |it: Example| {
                let [system, user, assistant] = it.messages.try_into().unwrap();
                assert_eq!([system.role, user.role, assistant.role], ["system", "user", "assistant"]);
                format!("{} {} {} {}", it.skill, it.step, user.content, assistant.content)
            };
            tapped.examples(skills).into_iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(said(&["reason", "seek", "digest"]), ["reason 0 a 1", "reason 1 b 2", "seek 0 x 0"]);
        assert_eq!(said(&["digest"]), [""; 0]);
    }
}
