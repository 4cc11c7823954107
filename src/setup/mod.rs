//! Builds embedders, language models within budgets, databases and engines from settings, for any program with a user.
//!
//! [`Setup`] holds the [`Settings`] and informs its user through [`Notices`]; options apply to one request, and
//! override settings.

mod budget;
mod calls;
mod database;
mod embedder;
mod endpoint;
mod engine;
mod key_command;
mod model;
mod notice;
mod options;
mod pinned;
mod web_search;

use std::path::Path;
use std::time::Duration;

pub use budget::parse_budget;
pub use calls::{CallLog, Calls};
pub use model::Probed;
pub use notice::{Notice, Notices};
pub use options::{CallOptions, EngineOptions, FillOptions, ModelOptions, RecordingFiles, RerankOptions};

use crate::config::{ModelRole, Settings};
use crate::error::Result;
use crate::llm::Limits;
use crate::workspace::Workspace;

/// The settings, and the channel for notices to the user.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// The settings.
    pub settings: Settings,
    /// The listener for notices.
    pub notices: Notices,
}

impl Setup {
    /// Opens the index at `path`, its files held as is set.
    ///
    /// # Errors
    ///
    /// As [`Workspace::open`].
    pub fn workspace(&self, path: impl AsRef<Path>) -> Result<Workspace> {
        Ok(Workspace::open(path)?.with_file_access(self.settings.file_access()))
    }

    /// Returns how fast the server of a role may be asked.
    #[must_use]
    pub fn limits(&self, role: ModelRole) -> Limits {
        let model = self.settings.model.for_role(role);
        let usual = Limits::default();
        // Half of the time for a call is left for what takes longer than those before it.
        let latency_max = model.timeout_s.map_or(usual.latency_max, |limit| Some(Duration::from_secs(limit) / 2));
        Limits {
            concurrency: model.concurrency.unwrap_or(usual.concurrency),
            // A given number applies to them.
            concurrency_first: model.concurrency.unwrap_or(usual.concurrency_first),
            latency_max,
            requests_per_minute: model.requests_per_minute,
            tokens_per_minute: model.tokens_per_minute,
        }
    }
}
