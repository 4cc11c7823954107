//! A model for unit tests: it gives scripted replies, and counts calls.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::reply::{ChatReply, Finish, ReplyOrigin};
use super::request::{ChatRequest, Message, Purpose, ReplyForm, Speaker};
use super::{ChatModel, Replying};
use crate::domain::{ChatError, Usage};

/// Replies with what is due next, and with `A.` when nothing is.
pub(crate) struct Scripted {
    due: Mutex<VecDeque<Result<ChatReply, ChatError>>>,
    /// How long a reply takes.
    pub(super) latency: Duration,
    /// When each call came.
    pub(super) calls: Mutex<Vec<Instant>>,
}

impl Scripted {
    pub(crate) fn new(due: impl IntoIterator<Item = Result<ChatReply, ChatError>>) -> Self {
        Self { due: Mutex::new(due.into_iter().collect()), latency: Duration::ZERO, calls: Mutex::default() }
    }

    pub(super) fn slow(latency: Duration) -> Self {
        Self { latency, ..Self::new([]) }
    }

    pub(super) fn call_count(&self) -> usize {
        held(&self.calls).len()
    }
}

impl ChatModel for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn reply<'a>(&'a self, _request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(async move {
            held(&self.calls).push(Instant::now());
            sleep(self.latency).await;
            let due = held(&self.due).pop_front();
            due.unwrap_or_else(|| Ok(reply("A.")))
        })
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A reply of 10 tokens to a prompt of 20.
pub(super) fn reply(text: &str) -> ChatReply {
    ChatReply {
        text: text.to_owned(),
        finish: Finish::Stop,
        usage: Usage { input_tokens: 20, output_tokens: 10, is_estimated: false },
        model: "scripted".to_owned(),
        origin: ReplyOrigin::Server,
        calls: 1,
        cost: None,
    }
}

/// A request of one message, for 100 tokens at most.
pub(super) fn request(text: &str) -> ChatRequest {
    ChatRequest {
        purpose: Purpose::Answer,
        messages: vec![Message { speaker: Speaker::User, text: text.to_owned() }],
        form: ReplyForm::Text,
        temperature: Some(0.0),
        output_tokens_max: 100,
        listener: None,
        is_afresh: false,
        shown: Vec::new(),
        step: 0,
    }
}

/// A fault that costs nothing.
pub(super) fn overloaded(retry_after_ms: Option<u64>) -> ChatError {
    ChatError::RateLimited { retry_after_ms, message: "later".to_owned() }
}
