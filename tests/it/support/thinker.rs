//! A language model inside the test, which replies to skills by rules that depend only on the request.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cairn::domain::Usage;
use cairn::llm::{ChatModel, ChatReply, ChatRequest, Finish, ReplyForm, ReplyOrigin, Replying};
use serde_json::{Value, json};

/// How it replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Habit {
    /// It chooses the first step, judges every third passage needed and every fourth related, names two words at a
    /// time, picks every fifth passage, and reads the name of the first one.
    Some,
    /// It declines every step, finds no passage useful, names nothing.
    None,
    /// It accepts everything, without end.
    All,
}

/// The model. The time for a reply varies.
pub(crate) struct Thinker {
    habit: Habit,
    calls: AtomicUsize,
    /// Changes which calls take longer.
    shift: u64,
}

impl Thinker {
    pub(crate) fn new(habit: Habit, shift: u64) -> Self {
        Self { habit, shift, calls: AtomicUsize::new(0) }
    }

    /// Returns how often it was asked.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    fn reply(&self, request: &ChatRequest) -> Value {
        let ReplyForm::Json { name, .. } = &request.form else { panic!("no skill") };
        let every = |number: usize| (1..=request.shown.len()).filter(|it| it % number == 0).collect::<Vec<usize>>();
        let words: Vec<&str> = request.messages[1].text.lines().nth(1).unwrap_or_default().split(' ').collect();
        match (*name, self.habit) {
            ("choose", Habit::None) => json!({ "step": null }),
            ("choose", _) => json!({ "step": 1 }),
            ("judge", Habit::None) => json!({ "necessary": [], "related": [] }),
            ("judge", Habit::All) => json!({ "necessary": every(1), "related": [] }),
            ("judge", Habit::Some) => {
                let (third, fourth) = (every(3), every(4));
                let fourth: Vec<_> = fourth.into_iter().filter(|it| !third.contains(it)).collect();
                json!({ "necessary": third, "related": fourth })
            }
            ("pick", _) => json!({ "passages": every(5) }),
            ("decompose", _) => json!({ "parts": [words.join(" "), "Who built #1?"] }),
            ("read", _) => {
                let title = request.messages[1].text.lines().find_map(|line| line.strip_prefix("[1] "));
                json!({ "answers": [{ "text": title, "passage": 1 }] })
            }
            ("entities", Habit::None) => json!({ "entities": [] }),
            ("entities", _) => json!({ "entities": words.rchunks(2).map(|it| it.join(" ")).collect::<Vec<_>>() }),
            // It writes nothing, so sentences are quoted.
            ("answer", _) => json!({}),
            (other, _) => panic!("nobody asks for {other}"),
        }
    }
}

impl ChatModel for Thinker {
    fn name(&self) -> &'static str {
        "thinker"
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            let length = request.messages.iter().map(|it| it.text.len() as u64).sum::<u64>();
            tokio::time::sleep(Duration::from_millis((length + self.shift) % 7)).await;
            let (text, usage) = (self.reply(request).to_string(), Usage::default());
            let model = self.name().to_owned();
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
