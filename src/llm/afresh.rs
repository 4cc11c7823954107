//! A model whose kept replies are not read.

use std::sync::Arc;

use super::request::ChatRequest;
use super::{ChatModel, Replying};

/// A model whose kept replies are not read: it is asked anew, and what it replies then is kept in their place.
pub struct Afresh {
    inner: Arc<dyn ChatModel>,
}

impl Afresh {
    /// Asks a model anew.
    #[must_use]
    pub fn new(inner: Arc<dyn ChatModel>) -> Self {
        Self { inner }
    }
}

impl ChatModel for Afresh {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(async { self.inner.reply(&ChatRequest { is_afresh: true, ..request.clone() }).await })
    }
}
