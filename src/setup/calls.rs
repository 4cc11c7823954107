//! Calls of one command or request to servers of models: how they are counted, and whether they are recorded or
//! replayed.

use std::sync::Arc;

use super::options::RecordingFiles;
use crate::config::LanguageModel;
use crate::error::Result;
use crate::llm::{Endpoint, Meter, RecordedCalls, Recording};

/// How one command or request makes calls.
#[derive(Debug, Clone, Default)]
pub struct Calls {
    /// Their counter.
    pub meter: Arc<Meter>,
    /// Whether they are written down, or made at all.
    pub log: CallLog,
}

/// Whether calls are written down, or made at all.
#[derive(Debug, Clone, Default)]
pub enum CallLog {
    /// They are made, and not written down.
    #[default]
    None,
    /// They are written down.
    Recorded(Arc<Recording>),
    /// None is made: the results come from a file.
    Replayed(Arc<RecordedCalls>),
}

impl CallLog {
    /// Makes, or reads, the file that was named, if one was.
    pub(super) fn open(files: &RecordingFiles) -> Result<Self> {
        Ok(match (&files.record, &files.replay) {
            (_, Some(path)) => Self::Replayed(Arc::new(RecordedCalls::read(path)?)),
            (Some(path), None) => Self::Recorded(Arc::new(Recording::create(path)?)),
            (None, None) => Self::None,
        })
    }

    /// Returns an endpoint with its key, unless no server is called.
    pub(super) fn with_key(&self, endpoint: Endpoint, settings: &LanguageModel) -> Result<Endpoint> {
        if self.is_replayed() { Ok(endpoint) } else { super::endpoint::with_key(endpoint, settings) }
    }

    /// Returns whether no server is called.
    pub(super) const fn is_replayed(&self) -> bool {
        matches!(self, Self::Replayed(_))
    }

    /// Returns where calls are written down.
    pub(super) fn recording(&self) -> Option<Arc<Recording>> {
        match self {
            Self::Recorded(recording) => Some(Arc::clone(recording)),
            Self::None | Self::Replayed(_) => None,
        }
    }
}
