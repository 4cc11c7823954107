//! A reranker behind a server, in the form that Cohere, Jina and vLLM share.

use std::sync::Arc;

use super::account::{Account, Payer};
use super::rerank::{Reranker, Scored, Scores};
use crate::domain::{ChatError, Spent, Usage};
use crate::error::{Error, Result};
use crate::llm::{
    CircuitBreakerOptions, Endpoint, Guard, Limits, Measured, Meter, Recording, RerankServer, Retries, tokens_estimate,
};
use crate::telemetry;

/// Texts of one call at most.
const TEXTS_MAX: usize = 100;

/// Returns how many calls scoring so many texts takes.
pub(super) fn calls(texts: usize) -> u32 {
    u32::try_from(texts.div_ceil(TEXTS_MAX)).unwrap_or(u32::MAX)
}

/// How a server of scores is asked.
#[derive(Debug, Clone, Default)]
pub struct RerankServerOptions {
    /// How fast.
    pub limits: Limits,
    /// Retries of calls that cost nothing.
    pub retries: Retries,
    /// When it is left alone.
    pub circuit: CircuitBreakerOptions,
    /// The budget and the cost of calls: on a meter that may be shared.
    pub meter: Arc<Meter>,
    /// Where its calls are recorded, if anywhere.
    pub recording: Option<Arc<Recording>>,
}

/// See the top of this file. Calls are sent one after the other, within rate limits; one is repeated only if the server
/// did nothing, and none is sent while the circuit breaker is open or if it does not fit into a budget.
pub struct ServerReranker {
    name: String,
    server: RerankServer,
    guard: Guard,
    account: Account,
    recording: Option<Arc<Recording>>,
}

impl ServerReranker {
    /// Returns the reranker at an endpoint. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`Error::RerankerServer`] with [`ChatError::Address`] if address, key or headers have a form that cannot be
    /// sent, with [`ChatError::NoPrice`] for a budget of money and a model without a price.
    pub fn new(endpoint: Endpoint, options: RerankServerOptions) -> Result<Self> {
        let name = endpoint.name();
        let RerankServerOptions { limits, retries, circuit, meter, recording } = options;
        let server = meter.check(&name).and_then(|()| RerankServer::new(endpoint));
        let server = server.map_err(|source| Error::RerankerServer { reranker: name.clone(), source })?;
        let account = Account::new(name.clone(), meter);
        Ok(Self { name, server, guard: Guard::new(limits, retries, circuit), account, recording })
    }

    /// Returns the scores of texts, and adds the cost of each call to `all`.
    async fn scores(&self, question: &str, texts: &[String], all: &mut Spent) -> Result<Vec<f32>, ChatError> {
        let mut scores = Vec::with_capacity(texts.len());
        for texts in texts.chunks(TEXTS_MAX) {
            let came = self.call(question, texts).await;
            if let Some(recording) = &self.recording {
                let came = came.as_ref().map(|(scores, spent)| (scores.as_slice(), spent));
                recording.write_scores(&self.name, (question, texts), came)?;
            }
            match came {
                Ok((came, spent)) => {
                    all.add(&spent);
                    scores.extend(came);
                }
                Err(fault) => {
                    all.add(&Spent::on(&fault));
                    return Err(fault);
                }
            }
        }
        Ok(scores)
    }

    async fn call(&self, question: &str, texts: &[String]) -> Result<(Vec<f32>, Spent), ChatError> {
        // A server reads the question once with each text.
        let tokens = texts.iter().map(|text| tokens_estimate(question) + tokens_estimate(text)).sum();
        let measured = Measured::of(texts.iter().flat_map(|text| [question, text.as_str()]));
        let reserved = self.account.reserve(&measured, texts.len()).await?;
        match self.guard.call(tokens, || Box::pin(self.server.scores(question, texts))).await {
            Ok(came) => {
                let is_estimated = came.tokens.is_none();
                let usage = Usage { input_tokens: came.tokens.unwrap_or(tokens), output_tokens: 0, is_estimated };
                let (texts, tokens) = (texts.len(), usage.input_tokens);
                tracing::debug!(operation = telemetry::RERANK, texts, tokens, "replied");
                self.account.learn(&measured, usage);
                Ok((came.scores, self.account.settle(reserved, usage, Payer::Question)))
            }
            Err(error) => {
                tracing::warn!(operation = telemetry::RERANK, kind = error.kind_name(), "no reply");
                self.account.fail(reserved, &error, Payer::Question);
                Err(error)
            }
        }
    }
}

impl Reranker for ServerReranker {
    fn name(&self) -> &str {
        &self.name
    }

    fn calls(&self, texts: usize) -> u32 {
        calls(texts)
    }

    fn score<'a>(&'a self, question: &'a str, texts: &'a [String]) -> Scores<'a> {
        Box::pin(async move {
            let mut spent = Spent::default();
            let scores = self.scores(question, texts, &mut spent).await;
            let fault = |source| Error::RerankerServer { reranker: self.name.clone(), source };
            Scored { scores: scores.map_err(fault), spent }
        })
    }
}

impl std::fmt::Debug for ServerReranker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerReranker").field("name", &self.name).finish_non_exhaustive()
    }
}
