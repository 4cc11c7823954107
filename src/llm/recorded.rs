//! A model whose calls are recorded for replay.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::recording::{Outcome, Recording};
use super::reply::ChatReply;
use super::request::{ChatRequest, Purpose};
use super::{ChatModel, Replying};
use crate::error::Result;

/// One line of a recording: what a call came to. Neither prompt nor key is in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ChatLine {
    /// The key of the request, in hexadecimal digits.
    pub(super) key: String,
    /// The model that was asked.
    pub(super) model: String,
    /// What for.
    pub(super) purpose: Purpose,
    /// What came of it.
    #[serde(flatten)]
    pub(super) outcome: Outcome<ChatReply>,
}

/// A model whose calls are written down, as each ends.
pub struct Recorded {
    inner: Arc<dyn ChatModel>,
    recording: Arc<Recording>,
}

impl Recorded {
    /// Writes a model's calls into a recording, which others may share.
    #[must_use]
    pub fn new(inner: Arc<dyn ChatModel>, recording: Arc<Recording>) -> Self {
        Self { inner, recording }
    }

    /// Writes a model's calls into a new file, which only its owner may read.
    ///
    /// # Errors
    ///
    /// As [`Recording::create`].
    pub fn create(inner: Arc<dyn ChatModel>, path: &Path) -> Result<Self> {
        Ok(Self::new(inner, Arc::new(Recording::create(path)?)))
    }
}

impl ChatModel for Recorded {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn kept_as(&self) -> &str {
        self.inner.kept_as()
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(async move {
            let replied = self.inner.reply(request).await;
            let outcome = match &replied {
                Ok(reply) => Outcome::Reply(reply.clone()),
                Err(fault) => Outcome::Fault(fault.clone()),
            };
            let (key, model) = (request.key(self.kept_as()).to_string(), self.name().to_owned());
            self.recording.write(&ChatLine { key, model, purpose: request.purpose, outcome })?;
            replied
        })
    }

    fn note_use(&self, problem: Option<&str>) {
        self.inner.note_use(problem);
    }
}
