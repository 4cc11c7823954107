//! A model with a cache: no request is sent twice.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::reply::{ChatReply, ReplyOrigin};
use super::request::{ChatRequest, RequestKey};
use super::{ChatModel, Replying};
use crate::domain::ChatError;
use crate::error::Result;
use crate::store::ReplyStore;

/// A model whose replies are kept as received, before they are parsed, and reused for free. Of equal concurrent calls,
/// only one is made.
pub struct Cached {
    inner: Arc<dyn ChatModel>,
    store: Arc<dyn ReplyStore>,
    /// Requests in progress; equal ones wait.
    in_flight: Mutex<BTreeMap<RequestKey, Arc<tokio::sync::Mutex<()>>>>,
}

impl Cached {
    /// Keeps a model's replies in a store.
    #[must_use]
    pub fn new(inner: Arc<dyn ChatModel>, store: Arc<dyn ReplyStore>) -> Self {
        Self { inner, store, in_flight: Mutex::default() }
    }

    async fn call(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let key = request.key(self.kept_as());
        let turn = self.turn(key);
        let replied = {
            let _turn = turn.lock().await;
            let kept = if request.is_afresh { None } else { self.kept(key).await? };
            match kept {
                Some(kept) => Ok(kept),
                None => self.ask(key, request).await,
            }
        };
        drop(turn);
        self.forget(key);
        replied
    }

    async fn ask(&self, key: RequestKey, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let reply = self.inner.reply(request).await?;
        let text = serde_json::to_string(&reply).map_err(|error| unkept("keep", error.to_string()))?;
        let is_afresh = request.is_afresh;
        let keep = move |store: &dyn ReplyStore| {
            if is_afresh { store.replace(key.as_bytes(), &text) } else { store.put(key.as_bytes(), &text) }
        };
        // Once begun, it is kept, even if nobody waits for it any more.
        if let Err(error) = self.on_store(keep).await {
            // A paid reply is used anyway.
            tracing::warn!(%error, "a reply was not kept");
        }
        Ok(reply)
    }

    async fn kept(&self, key: RequestKey) -> Result<Option<ChatReply>, ChatError> {
        let text = self.on_store(move |store| store.get(key.as_bytes())).await;
        let Some(text) = text.map_err(|reason| unkept("look for", reason))? else { return Ok(None) };
        let reply: ChatReply = serde_json::from_str(&text).map_err(|error| unkept("read", error.to_string()))?;
        Ok(Some(ChatReply { origin: ReplyOrigin::Cache, ..reply }))
    }

    async fn on_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn ReplyStore) -> Result<T> + Send + 'static,
    ) -> Result<T, String> {
        let store = Arc::clone(&self.store);
        let done = tokio::task::spawn_blocking(move || work(store.as_ref())).await;
        let done = done.map_err(|error| error.to_string())?;
        done.map_err(|error| match std::error::Error::source(&error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        })
    }

    fn turn(&self, key: RequestKey) -> Arc<tokio::sync::Mutex<()>> {
        let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(in_flight.entry(key).or_default())
    }

    /// Lets go of a turn that nobody waits for; one that was dropped while it waited goes with the next of its key.
    fn forget(&self, key: RequestKey) {
        let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        if in_flight.get(&key).is_some_and(|turn| Arc::strong_count(turn) == 1) {
            in_flight.remove(&key);
        }
    }
}

fn unkept(action: &str, reason: String) -> ChatError {
    ChatError::Store { action: action.to_owned(), reason }
}

impl ChatModel for Cached {
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
    use std::time::Duration;

    use super::super::Afresh;
    use super::super::scripted::{Scripted, overloaded, reply, request};
    use super::*;
    use crate::error::Error;

    /// Keeps replies in memory, until it is full.
    #[derive(Default)]
    struct Kept {
        replies: Mutex<BTreeMap<[u8; 32], String>>,
        is_full: bool,
    }

    impl ReplyStore for Kept {
        fn get(&self, key: &[u8; 32]) -> Result<Option<String>> {
            Ok(self.replies.lock().unwrap().get(key).cloned())
        }

        fn put(&self, key: &[u8; 32], reply: &str) -> Result<()> {
            if self.is_full {
                return Err(Error::Internal("full".to_owned()));
            }
            self.replies.lock().unwrap().entry(*key).or_insert_with(|| reply.to_owned());
            Ok(())
        }

        fn replace(&self, key: &[u8; 32], reply: &str) -> Result<()> {
            self.replies.lock().unwrap().insert(*key, reply.to_owned());
            Ok(())
        }
    }

    #[tokio::test]
    async fn what_was_replied_is_not_asked_again_and_a_fault_is() {
        let script = [Err(overloaded(None)), Ok(reply("A.")), Ok(reply("B."))];
        let inner = Arc::new(Scripted::new(script));
        let model = Cached::new(inner.clone(), Arc::new(Kept::default()));
        assert!(model.reply(&request("a")).await.is_err());
        assert_eq!(model.reply(&request("a")).await, Ok(reply("A.")));
        let again = model.reply(&request("a")).await.unwrap();
        assert_eq!(again, ChatReply { origin: ReplyOrigin::Cache, ..reply("A.") });
        assert_eq!(model.reply(&request("b")).await, Ok(reply("B.")));
        assert_eq!(inner.call_count(), 3);
        assert!(model.in_flight.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_reply_that_is_requested_again_replaces_the_kept_one() {
        let inner = Arc::new(Scripted::new([Ok(reply("A.")), Ok(reply("B."))]));
        let model: Arc<dyn ChatModel> = Arc::new(Cached::new(inner.clone(), Arc::new(Kept::default())));
        assert_eq!(model.reply(&request("a")).await, Ok(reply("A.")));
        assert_eq!(Afresh::new(Arc::clone(&model)).reply(&request("a")).await, Ok(reply("B.")));
        assert_eq!(model.reply(&request("a")).await.map(|it| it.text), Ok("B.".to_owned()));
        assert_eq!(inner.call_count(), 2);
    }

    #[tokio::test]
    async fn of_equal_calls_at_one_time_one_is_made() {
        let inner = Arc::new(Scripted::slow(Duration::from_millis(20)));
        let model = Cached::new(inner.clone(), Arc::new(Kept::default()));
        let (a, b) = (request("a"), request("a"));
        let (first, second) = tokio::join!(model.reply(&a), model.reply(&b));
        assert_eq!((first.unwrap().origin, second.unwrap().origin), (ReplyOrigin::Server, ReplyOrigin::Cache));
        assert_eq!(inner.call_count(), 1);
    }

    #[tokio::test]
    async fn a_reply_that_cannot_be_kept_is_used_nevertheless() {
        let kept = Kept { is_full: true, ..Kept::default() };
        let model = Cached::new(Arc::new(Scripted::new([])), Arc::new(kept));
        assert_eq!(model.reply(&request("a")).await, Ok(reply("A.")));
    }
}
