//! A model that gets room to think: a reply that is cut at its limit is requested again with a higher one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::reply::{ChatReply, Finish};
use super::request::ChatRequest;
use super::{ChatModel, Replying, thinking};
use crate::domain::{ChatError, Cost};

/// Additional tokens for a model after a reply was cut.
pub const THINKING_TOKENS: u32 = 4_096;
/// Additional tokens after a reply was cut before it began, because the model was still thinking.
const THINKING_TOKENS_MORE: u32 = 16_384;

/// How much room a model has to think before it replies.
#[derive(Clone, Default)]
pub struct Room {
    /// Additional tokens, from settings or findings.
    pub tokens: u32,
    /// Whether the user has set them, so that they do not change.
    pub is_set: bool,
    /// Hears once that a model needs more, to remember how much.
    pub learnt: Option<Arc<dyn Fn(u32) + Send + Sync>>,
}

impl std::fmt::Debug for Room {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Room").field("tokens", &self.tokens).finish_non_exhaustive()
    }
}

/// A model with room to think. The limit of a request applies to the visible reply; the room in addition is raised if a
/// reply is cut, once or, for a model that only thought, twice, and stays so for later requests.
pub struct Roomy {
    inner: Arc<dyn ChatModel>,
    room: Room,
    tokens: AtomicU32,
}

impl Roomy {
    /// Gives a model room.
    #[must_use]
    pub fn new(inner: Arc<dyn ChatModel>, room: Room) -> Self {
        let tokens = AtomicU32::new(room.tokens);
        Self { inner, room, tokens }
    }

    async fn call(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let mut given = self.tokens.load(Ordering::Relaxed);
        let mut reply = self.inner.reply(&with_room(request, given)).await?;
        while let Some(more) = room_after(&reply, given).filter(|_| !self.room.is_set) {
            // Another call may have found out meanwhile.
            let more = more.max(self.tokens.load(Ordering::Relaxed));
            // The cut reply is all there is, and was paid for.
            let Ok(longer) = self.inner.reply(&with_room(request, more)).await else { break };
            if longer.finish != Finish::Length || more == THINKING_TOKENS {
                self.learn(more);
            }
            (reply, given) = (both(&reply, longer), more);
        }
        Ok(reply)
    }

    /// Gives all calls from now on so much room: a server took that, and more than the first step has helped.
    fn learn(&self, tokens: u32) {
        if self.tokens.fetch_max(tokens, Ordering::Relaxed) < tokens {
            tracing::info!(tokens, "replies are cut, so that the model gets more room");
            if let Some(learnt) = &self.room.learnt {
                learnt(tokens);
            }
        }
    }
}

/// Returns how much room a model gets after a reply for which it had `given`; nothing where more would not help.
fn room_after(reply: &ChatReply, given: u32) -> Option<u32> {
    let only_thought = thinking::without_thoughts(&reply.text).trim().is_empty();
    let most = if only_thought && given >= THINKING_TOKENS { THINKING_TOKENS_MORE } else { THINKING_TOKENS };
    (reply.finish == Finish::Length && given < most).then_some(most)
}

fn with_room(request: &ChatRequest, tokens: u32) -> ChatRequest {
    ChatRequest { output_tokens_max: request.output_tokens_max.saturating_add(tokens), ..request.clone() }
}

/// Returns a reply with what the call before it came to as well.
fn both(first: &ChatReply, second: ChatReply) -> ChatReply {
    let (one, other) = (first.usage, second.usage);
    let cost = match (&first.cost, second.cost) {
        (Some(first), Some(Cost { amount, currency })) => Some(Cost { amount: first.amount + amount, currency }),
        _ => None,
    };
    let usage = crate::domain::Usage {
        input_tokens: one.input_tokens.saturating_add(other.input_tokens),
        output_tokens: one.output_tokens.saturating_add(other.output_tokens),
        is_estimated: one.is_estimated || other.is_estimated,
    };
    ChatReply { usage, calls: first.calls + second.calls, cost, ..second }
}

impl ChatModel for Roomy {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn kept_as(&self) -> &str {
        self.inner.kept_as()
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(self.call(request))
    }

    fn note_use(&self, problem: Option<&str>) {
        self.inner.note_use(problem);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::super::scripted::{reply, request};
    use super::*;
    use crate::domain::Usage;

    /// Thinks for this many tokens before it replies, and prints its thoughts or does not.
    struct Thinker {
        tokens: u32,
        thought: &'static str,
        limits: Mutex<Vec<u32>>,
    }

    impl ChatModel for Thinker {
        fn name(&self) -> &'static str {
            "thinker"
        }

        fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
            self.limits.lock().unwrap().push(request.output_tokens_max);
            let is_cut = request.output_tokens_max < self.tokens;
            let finish = if is_cut { Finish::Length } else { Finish::Stop };
            let text = if is_cut { self.thought } else { "A." };
            Box::pin(async move { Ok(ChatReply { finish, ..reply(text) }) })
        }
    }

    fn roomy(tokens: u32, thought: &'static str) -> (Arc<Thinker>, Roomy, Arc<Mutex<Vec<u32>>>) {
        let inner = Arc::new(Thinker { tokens, thought, limits: Mutex::default() });
        let heard = Arc::new(Mutex::new(Vec::new()));
        let writer = Arc::clone(&heard);
        let learnt: Arc<dyn Fn(u32) + Send + Sync> = Arc::new(move |tokens| writer.lock().unwrap().push(tokens));
        let model = Roomy::new(inner.clone(), Room { learnt: Some(learnt), ..Room::default() });
        (inner, model, heard)
    }

    #[tokio::test]
    async fn a_model_that_thinks_gets_room_once_and_keeps_it() {
        let (inner, model, heard) = roomy(800, "A");
        let first = model.reply(&request("a")).await.unwrap();
        assert_eq!((first.finish, first.calls), (Finish::Stop, 2));
        assert_eq!(first.usage, Usage { input_tokens: 40, output_tokens: 20, is_estimated: false });
        assert_eq!(model.reply(&request("b")).await.unwrap().calls, 1);
        let more = 100 + THINKING_TOKENS;
        assert_eq!(
            (inner.limits.lock().unwrap().as_slice(), heard.lock().unwrap().as_slice()),
            ([100, more, more].as_slice(), [THINKING_TOKENS].as_slice())
        );
    }

    #[tokio::test]
    async fn one_that_only_thought_gets_more_room_once_more() {
        for thought in ["", "<think>Hm"] {
            let (inner, model, heard) = roomy(9_000, thought);
            let reply = model.reply(&request("a")).await.unwrap();
            assert_eq!((reply.finish, reply.calls), (Finish::Stop, 3));
            let limits = [100, 100 + THINKING_TOKENS, 100 + THINKING_TOKENS_MORE];
            assert_eq!(inner.limits.lock().unwrap().as_slice(), limits);
            assert_eq!(heard.lock().unwrap().as_slice(), [THINKING_TOKENS, THINKING_TOKENS_MORE]);
        }
        // What did not help is not remembered.
        let (inner, model, heard) = roomy(u32::MAX, "");
        assert_eq!(model.reply(&request("a")).await.unwrap().finish, Finish::Length);
        assert_eq!(inner.limits.lock().unwrap().len(), 3);
        assert_eq!(heard.lock().unwrap().as_slice(), [THINKING_TOKENS]);
    }

    #[tokio::test]
    async fn room_that_is_set_stays() {
        let (inner, model, _) = roomy(9_000, "");
        let model = Roomy { room: Room { is_set: true, ..Room::default() }, ..model };
        assert_eq!(model.reply(&request("a")).await.unwrap().finish, Finish::Length);
        assert_eq!(inner.limits.lock().unwrap().as_slice(), [100]);
    }

    #[tokio::test]
    async fn one_that_never_comes_to_an_end_is_not_asked_a_third_time() {
        let (inner, model, _) = roomy(u32::MAX, "A");
        for calls in [2, 3, 4] {
            assert_eq!(model.reply(&request("a")).await.unwrap().finish, Finish::Length);
            assert_eq!(inner.limits.lock().unwrap().len(), calls);
        }
    }
}
