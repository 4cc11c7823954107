//! A model that leads as well as the papers assume, and its collection.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use cairn::domain::{ChatError, PassageId, Plan, Usage};
use cairn::llm::{
    ChatModel, ChatReply, ChatRequest, Finish, Message, Purpose, ReplyForm, ReplyOrigin, Replying, Speaker,
};
use cairn::{QueryEngine, SearchOptions, SearchResult, StrategyKind};
use serde_json::{Value, json};

use crate::support::chat::{Play, Reply, Thought};
use crate::support::{Cli, block_on};

/// A question that does not name its second step.
pub(crate) const QUESTION: &str = "When did the mill close whose builder was born in Eaststead?";
pub(super) const COMPOUND: &str = "Who built Harl Mill and who built Pale Weir?";

pub(crate) fn indexed() -> Cli {
    let cli = Cli::new();
    cli.write("notes/mill.txt", "Harl Mill\n\nHarl Mill was built by Ada Lorne. Harl Mill closed in 1860.");
    cli.write("notes/ada.txt", "Ada Lorne\n\nAda Lorne, a builder and engineer, was born in Eaststead in 1801.");
    cli.write("notes/weir.txt", "Pale Weir\n\nPale Weir was built by Tom Reed. It burned down in 1850.");
    cli.run(["index", "notes"]).succeeded();
    cli
}

/// A model's reply to a skill at its `n`th request.
pub(super) type Says = dyn Fn(&str, &ChatRequest, usize) -> Result<String, ChatError> + Send + Sync;

/// A model that replies by a rule.
pub(super) struct Led {
    pub(super) says: Box<Says>,
    /// The call that is never answered.
    pub(super) hangs_at: Option<usize>,
    pub(super) asked: Mutex<Vec<String>>,
}

impl Led {
    pub(super) fn by(
        says: impl Fn(&str, &ChatRequest, usize) -> Result<String, ChatError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { says: Box::new(says), hangs_at: None, asked: Mutex::default() })
    }

    /// Returns one that leads well.
    pub(super) fn well() -> Arc<Self> {
        Self::by(|skill, request, _| Ok(well(skill, request).to_string()))
    }

    /// Returns the skills that were requested, in order.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl ChatModel for Led {
    fn name(&self) -> &'static str {
        "led"
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        let ReplyForm::Json { name, .. } = &request.form else { panic!("no skill") };
        let number = {
            let mut asked = self.asked.lock().unwrap();
            asked.push((*name).to_owned());
            asked.len() - 1
        };
        Box::pin(async move {
            if self.hangs_at == Some(number) {
                std::future::pending::<()>().await;
            }
            tokio::task::yield_now().await;
            let text = (self.says)(name, request, number)?;
            let (usage, model) = (Usage::default(), self.name().to_owned());
            Ok(ChatReply {
                text,
                finish: Finish::Stop,
                usage,
                model,
                origin: ReplyOrigin::Server,
                calls: 1,
                cost: None,
            })
        })
    }
}

/// Returns the number under which a passage of a document is shown, if it is.
pub(super) fn number(request: &ChatRequest, name: &str) -> Option<usize> {
    let said = &request.messages[1].text;
    (1..=request.shown.len()).find(|number| said.contains(&format!("\n[{number}] {name}\n")))
}

/// Returns a server's replies as a model that leads well, except where `also` gives another reply to a skill and its
/// prompt.
pub(crate) fn serves(also: impl Fn(&str, &str) -> Option<Value> + Send + Sync + 'static) -> Play {
    let steps: Mutex<BTreeMap<String, u32>> = Mutex::default();
    Play::Thinks(Thought::new(move |body| {
        let skill = body["response_format"]["json_schema"]["name"].as_str().unwrap().to_owned();
        let step = {
            let mut steps = steps.lock().unwrap();
            let step = steps.entry(skill.clone()).or_default();
            *step += 1;
            *step - 1
        };
        let message = |number: usize| body["messages"][number]["content"].as_str().unwrap().to_owned();
        let request = ChatRequest {
            purpose: Purpose::Reason,
            messages: (0..2).map(|it| Message { speaker: Speaker::User, text: message(it) }).collect(),
            form: ReplyForm::Text,
            temperature: None,
            output_tokens_max: 1_000,
            listener: None,
            is_afresh: false,
            shown: (0..20_u8).map(|it| PassageId::of(&[&[it]])).collect(),
            // A supplement is requested from the first round on.
            step: step + u32::from(skill == "supplement"),
        };
        let said = also(&skill, &message(1)).unwrap_or_else(|| well(&skill, &request));
        Reply { text: said.to_string(), tokens: (50, 5) }
    }))
}

/// Leads as well as the papers assume.
pub(super) fn well(skill: &str, request: &ChatRequest) -> Value {
    let said = &request.messages[1].text;
    let of = |name: &str| number(request, name);
    let is_known = |what: &str| said.contains(what);
    match skill {
        "decompose" if is_known("whose builder") => {
            json!({ "parts": ["Who was born in Eaststead?", "When did the mill of #1 close?"] })
        }
        "supplement" if request.step == 1 => {
            json!({ "questions": ["When did the mill of Ada Lorne close?"], "enough": false })
        }
        "supplement" => json!({ "questions": [], "enough": true }),
        "keywords" => json!({ "keywords": ["Harl Mill", "closed"] }),
        "refine" => json!({ "extend": "mill", "emphasize": "closed", "filter": "weir" }),
        "imagine" => json!({ "passage": "The mill closed in the year of the fire." }),
        "route" if is_known(" and who ") => json!({ "route": "compound" }),
        "route" => json!({ "route": "complex" }),
        "decompose" => json!({ "parts": ["Who built Harl Mill?", "Who built Pale Weir?"] }),
        "seed" if request.step == 0 => json!({ "next": "Who was born in Eaststead?" }),
        "seed" => json!({ "next": "When did the mill of Ada Lorne close?" }),
        "judge" if is_known("Question: Who was born") => json!({ "necessary": [of("Ada Lorne")], "related": [] }),
        "judge" if is_known("Pale Weir?") => json!({ "necessary": [of("Pale Weir")], "related": [] }),
        "judge" => json!({ "necessary": [of("Harl Mill")], "related": [] }),
        "read" if is_known("Question: When") => json!({ "answers": [{ "text": "1860", "passage": of("Harl Mill") }] }),
        "read" if is_known("Question: Who built Pale") => json!({ "answers": [{ "text": "Tom Reed", "passage": 1 }] }),
        "read" => json!({ "answers": [{ "text": "Ada Lorne", "passage": 1 }] }),
        "enough" => json!({ "missing": [], "enough": request.step > 1 }),
        "reason" if request.step == 0 => {
            json!({ "known": "", "missing": ["who was born in Eaststead"], "enough": false })
        }
        "reason" if request.step == 1 => {
            json!({ "known": "Ada Lorne was.", "missing": ["when her mill closed"], "enough": false })
        }
        "reason" => json!({ "known": "It closed in 1860.", "missing": [], "enough": true }),
        "seek" if request.step == 0 => {
            json!({ "needs": [{ "entity": "the builder", "heading": null, "queries": ["born in Eaststead"] }] })
        }
        "seek" => {
            json!({ "needs": [{ "entity": "Harl Mill", "heading": null, "queries": ["mill built by Ada Lorne"] }] })
        }
        "digest" if request.step == 0 => {
            json!({ "note": "Ada Lorne was born in Eaststead.", "passages": [of("Ada Lorne")] })
        }
        "digest" => json!({ "note": "Harl Mill closed in 1860.", "passages": [of("Harl Mill")] }),
        "conclude" => {
            let sentence = json!({ "text": "Harl Mill closed in 1860.", "passages": [of_shown(said, "Harl Mill")] });
            json!({ "can_answer": true, "short": "1860", "sentences": [sentence] })
        }
        "pick" => json!({ "passages": [of("Harl Mill")] }),
        // It writes nothing, so sentences are quoted.
        "answer" => json!({}),
        other => panic!("nobody asks for {other}"),
    }
}

/// Returns the number of a passage in a prompt whose request does not list the passages it shows.
pub(crate) fn of_shown(said: &str, name: &str) -> Option<usize> {
    (1..=8).find(|number| said.contains(&format!("\n[{number}] {name}\n")))
}

pub(super) fn options(strategy: StrategyKind) -> SearchOptions {
    SearchOptions { strategy, ..SearchOptions::default() }
}

pub(super) fn found(engine: &QueryEngine, question: &str, options: &SearchOptions) -> SearchResult {
    block_on(engine.search(question, options)).unwrap()
}

pub(super) fn plan(found: &SearchResult) -> Plan {
    found.ledger.plan.clone().unwrap()
}

pub(super) fn names(found: &SearchResult) -> Vec<&str> {
    found.hits.iter().map(|hit| hit.name.as_str()).collect()
}
