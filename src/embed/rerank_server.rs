//! A reranker behind a server, in the form that Cohere, Jina and vLLM share.

use super::rerank::{Reranker, Scores};
use crate::domain::ChatError;
use crate::error::{Error, Result};
use crate::llm::{CircuitBreakerOptions, Endpoint, Guard, Limits, RerankServer, Retries, tokens_estimate};
use crate::telemetry;

/// Texts of one call at most.
const TEXTS_MAX: usize = 100;

/// How a server of scores is asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct RerankServerOptions {
    /// How fast.
    pub limits: Limits,
    /// How often again, where that costs nothing.
    pub retries: Retries,
    /// When it is left alone.
    pub circuit: CircuitBreakerOptions,
}

/// See the top of this file. Calls go out one after the other, no faster than limits allow; one is made again only
/// where the server did nothing, and none while the server is left alone after it failed again and again.
pub struct ServerReranker {
    name: String,
    server: RerankServer,
    guard: Guard,
}

impl ServerReranker {
    /// Returns the reranker at an endpoint. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`Error::RerankerServer`] with [`ChatError::Address`] if address, key or headers have a form that cannot be
    /// sent.
    pub fn new(endpoint: Endpoint, options: RerankServerOptions) -> Result<Self> {
        let name = endpoint.name();
        let guard = Guard::new(options.limits, options.retries, options.circuit);
        match RerankServer::new(endpoint) {
            Ok(server) => Ok(Self { name, server, guard }),
            Err(source) => Err(Error::RerankerServer { reranker: name, source }),
        }
    }

    async fn scores(&self, question: &str, texts: &[String]) -> Result<Vec<f32>, ChatError> {
        let mut scores = Vec::with_capacity(texts.len());
        for texts in texts.chunks(TEXTS_MAX) {
            // A server reads the question once with each text.
            let tokens = texts.iter().map(|text| tokens_estimate(question) + tokens_estimate(text)).sum();
            let replied = self.guard.call(tokens, || Box::pin(self.server.scores(question, texts))).await;
            match &replied {
                Ok(_) => tracing::debug!(operation = telemetry::RERANK, texts = texts.len(), tokens, "replied"),
                Err(error) => {
                    tracing::warn!(operation = telemetry::RERANK, kind = error.kind_name(), "no reply");
                }
            }
            scores.extend(replied?);
        }
        Ok(scores)
    }
}

impl Reranker for ServerReranker {
    fn name(&self) -> &str {
        &self.name
    }

    fn score<'a>(&'a self, question: &'a str, texts: &'a [String]) -> Scores<'a> {
        Box::pin(async move {
            let replied = self.scores(question, texts).await;
            replied.map_err(|source| Error::RerankerServer { reranker: self.name.clone(), source })
        })
    }
}

impl std::fmt::Debug for ServerReranker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerReranker").field("name", &self.name).finish_non_exhaustive()
    }
}
