//! A model that replays a recording and calls no server.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::recording::{Due, RecordedCalls};
use super::reply::ChatReply;
use super::request::ChatRequest;
use super::{ChatModel, Replying};
use crate::domain::ChatError;
use crate::error::Result;

/// A model that says what was recorded. Equal calls get what they got then, in order, and after that the last again.
pub struct Replayed {
    name: String,
    kept_as: String,
    due: Due<ChatReply>,
    calls: AtomicU64,
}

impl Replayed {
    /// Reads what was recorded of the model called `name`.
    ///
    /// # Errors
    ///
    /// As [`RecordedCalls::read`].
    pub fn open(name: &str, path: &Path) -> Result<Self> {
        Ok(Self::of(name, &RecordedCalls::read(path)?))
    }

    /// Returns the model called `name` as it was recorded.
    #[must_use]
    pub fn of(name: &str, recorded: &RecordedCalls) -> Self {
        Self::of_kept(name, name, recorded)
    }

    /// Returns the same of a model whose replies are kept under another name.
    #[must_use]
    pub fn of_kept(name: &str, kept_as: &str, recorded: &RecordedCalls) -> Self {
        let due = Due::of(recorded.chat.iter().map(|line| (line.key.clone(), line.outcome.clone())));
        Self { name: name.to_owned(), kept_as: kept_as.to_owned(), due, calls: AtomicU64::new(0) }
    }

    fn said(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let key = request.key(&self.kept_as).to_string();
        let missing =
            || ChatError::NotRecorded { number, purpose: request.purpose.name().to_owned(), key: key.clone() };
        self.due.next(&key).unwrap_or_else(|| Err(missing()))
    }
}

impl ChatModel for Replayed {
    fn name(&self) -> &str {
        &self.name
    }

    fn kept_as(&self) -> &str {
        &self.kept_as
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(async move { self.said(request) })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::Recorded;
    use super::super::scripted::{Scripted, overloaded, reply, request};
    use super::*;
    use crate::error::Error;

    #[tokio::test]
    async fn a_replay_says_what_was_recorded_and_names_the_call_that_it_does_not_have() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let script = [Ok(reply("A.")), Err(overloaded(Some(5))), Ok(reply("B."))];
        let model = Recorded::create(Arc::new(Scripted::new(script.clone())), &path).unwrap();
        let (first, second) = (request("the first prompt"), request("the second prompt"));
        assert_eq!(model.reply(&first).await, script[0]);
        assert_eq!(model.reply(&second).await, script[1]);
        assert_eq!(model.reply(&second).await, script[2]);
        assert!(Recorded::create(Arc::new(Scripted::new([])), &path).is_err(), "a recording is not written over");
        assert!(!std::fs::read_to_string(&path).unwrap().contains("prompt"));

        let replay = Replayed::open("scripted", &path).unwrap();
        assert_eq!(replay.reply(&second).await, script[1]);
        assert_eq!(replay.reply(&first).await, script[0]);
        assert_eq!(replay.reply(&second).await, script[2]);
        assert_eq!(replay.reply(&second).await, script[2]);
        let missing = replay.reply(&request("another")).await.unwrap_err();
        assert!(missing.to_string().starts_with("call 5 (for `answer`, key "), "{missing}");
        let other = Replayed::open("other", &path).unwrap();
        assert!(matches!(other.reply(&first).await, Err(ChatError::NotRecorded { number: 1, .. })));
    }

    #[test]
    fn a_line_that_is_no_call_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        std::fs::write(&path, "{\"key\": 1}\n").unwrap();
        assert!(matches!(Replayed::open("m", &path), Err(Error::Line { line: 1, .. })));
    }
}
