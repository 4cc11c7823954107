//! A model whose calls are written down, to be replayed.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::reply::ChatReply;
use super::request::{ChatRequest, Purpose};
use super::{ChatModel, Replying};
use crate::domain::ChatError;
use crate::error::{Error, Result};

/// One line of a recording: what a call came to. Neither prompt nor key is in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Line {
    /// The key of the request, in hexadecimal digits.
    pub(super) key: String,
    /// The model that was asked.
    pub(super) model: String,
    /// What for.
    pub(super) purpose: Purpose,
    /// What came of it.
    #[serde(flatten)]
    pub(super) outcome: Outcome,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Reply(ChatReply),
    Fault(ChatError),
}

impl Outcome {
    /// Returns whether no call went out, because of what others took or came to.
    pub(super) const fn is_not_made(&self) -> bool {
        matches!(self, Self::Fault(ChatError::Budget { .. } | ChatError::CircuitOpen { .. }))
    }
}

/// A model whose calls are written down, one JSON object a line, as each ends.
pub struct Recorded {
    inner: Arc<dyn ChatModel>,
    file: Mutex<File>,
}

impl Recorded {
    /// Writes a model's calls into a new file, which only its owner may read.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file is there already or cannot be made.
    pub fn create(inner: Arc<dyn ChatModel>, path: &Path) -> Result<Self> {
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(Error::io("make", path))?;
        Ok(Self { inner, file: Mutex::new(file) })
    }

    fn write(&self, line: &Line) -> Result<(), ChatError> {
        let failed = |reason: String| ChatError::Store { action: "record".to_owned(), reason };
        let mut text = serde_json::to_string(line).map_err(|error| failed(error.to_string()))?;
        text.push('\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(text.as_bytes()).map_err(|error| failed(error.to_string()))
    }
}

impl ChatModel for Recorded {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(async move {
            let replied = self.inner.reply(request).await;
            let outcome = match &replied {
                Ok(reply) => Outcome::Reply(reply.clone()),
                Err(fault) => Outcome::Fault(fault.clone()),
            };
            let (key, model) = (request.key(self.name()).to_string(), self.name().to_owned());
            self.write(&Line { key, model, purpose: request.purpose, outcome })?;
            replied
        })
    }
}
