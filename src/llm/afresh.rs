//! A model whose kept replies are not read.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashSet;

use super::request::{ChatRequest, RequestKey};
use super::{ChatModel, Replying};

/// A model whose kept replies are not read: it is asked again, and what it replies then is kept in their place. What it
/// replied since is not asked for a second time.
pub struct Afresh {
    inner: Arc<dyn ChatModel>,
    replied: Mutex<FxHashSet<RequestKey>>,
}

impl Afresh {
    /// Asks a model again.
    #[must_use]
    pub fn new(inner: Arc<dyn ChatModel>) -> Self {
        Self { inner, replied: Mutex::default() }
    }

    fn replied(&self) -> std::sync::MutexGuard<'_, FxHashSet<RequestKey>> {
        self.replied.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatModel for Afresh {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn kept_as(&self) -> &str {
        self.inner.kept_as()
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(async {
            let key = request.key(self.kept_as());
            let is_afresh = !self.replied().contains(&key);
            let reply = self.inner.reply(&ChatRequest { is_afresh, ..request.clone() }).await?;
            self.replied().insert(key);
            Ok(reply)
        })
    }

    fn note_use(&self, problem: Option<&str>) {
        self.inner.note_use(problem);
    }
}
