//! Options of one request, which override settings.

use std::path::PathBuf;

use crate::config::{Database, ModelRole};
use crate::error::{Error, Result};
use crate::index::OtherEmbedder;
use crate::llm::Preset;
use crate::neo4j::Questions;
use crate::query::{RerankedBy, SearchOptions};

/// Which embedder, and what runs it.
#[derive(Debug, Clone, Default)]
pub struct ModelOptions {
    /// The embedder, as [`EmbedderChoice`](crate::embed::EmbedderChoice) parses it; by default, that of the index.
    pub embedder: Option<String>,
    /// The library of ONNX Runtime.
    pub onnx_runtime: Option<PathBuf>,
}

/// Files of calls.
#[derive(Debug, Clone, Default)]
pub struct RecordingFiles {
    /// The file to write calls down in.
    pub record: Option<PathBuf>,
    /// The file to take them from; no server is called then.
    pub replay: Option<PathBuf>,
}

/// The language model, and its budget.
#[derive(Debug, Clone, Default)]
pub struct CallOptions {
    /// The model: `SERVER:MODEL`, a model of the configured server, or `default`. By default, none.
    pub model: Option<String>,
    /// Calls at most.
    pub calls_max: Option<u64>,
    /// Tokens at most, read and written.
    pub tokens_max: Option<u64>,
    /// Whether calls are written down or taken from a file.
    pub recording: RecordingFiles,
}

/// Default number of passages to rerank.
const RERANK_DEFAULT: usize = 20;
/// What names the language model as the reranker.
const RERANKED_BY_MODEL: &str = "model";
/// What names the rule as the reranker.
const RERANKED_BY_RULE: &str = "rule";
/// The prefix of the folder of a cross-encoder.
const LOCAL_RERANKER: &str = "onnx";
/// The prefix of a reranker of the configured server.
const SET_SERVER: &str = "server";

/// The reranker.
#[derive(Debug, Clone, Default)]
pub struct RerankOptions {
    /// `onnx:DIR`, a cross-encoder in a folder, `SERVER:MODEL`, one behind a server, `model`, the language model,
    /// or `rule`.
    pub reranker: Option<String>,
    /// Passages that it judges.
    pub rerank: Option<usize>,
}

/// A requested reranker.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RerankerChoice {
    /// The language model.
    Model,
    /// A rule.
    Rule,
    /// The cross-encoder in a folder.
    Onnx(PathBuf),
    /// One behind a server: that of a name, or the one that is set.
    Server { preset: Option<Preset>, model: String },
}

impl RerankOptions {
    /// Sets the reranker and the number of passages in `options`.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for an unknown reranker.
    pub fn apply(&self, options: &mut SearchOptions) -> Result<()> {
        options.reranked_by = match self.choice()? {
            Some(RerankerChoice::Model) => RerankedBy::Model,
            Some(RerankerChoice::Rule) => RerankedBy::Rule,
            _ => RerankedBy::Reranker,
        };
        options.rerank = self.rerank.or_else(|| self.reranker.is_some().then_some(RERANK_DEFAULT));
        Ok(())
    }

    /// Returns the requested reranker.
    pub(super) fn choice(&self) -> Result<Option<RerankerChoice>> {
        let Some(asked) = self.reranker.as_deref() else { return Ok(None) };
        if asked == RERANKED_BY_MODEL {
            return Ok(Some(RerankerChoice::Model));
        }
        if asked == RERANKED_BY_RULE {
            return Ok(Some(RerankerChoice::Rule));
        }
        let named = asked.split_once(':').filter(|(_, named)| !named.is_empty());
        let choice = named.and_then(|(kind, named)| {
            Some(match kind {
                LOCAL_RERANKER => RerankerChoice::Onnx(PathBuf::from(named)),
                SET_SERVER => RerankerChoice::Server { preset: None, model: named.to_owned() },
                _ => RerankerChoice::Server { preset: Some(kind.parse().ok()?), model: named.to_owned() },
            })
        });
        let servers = || Preset::ALL.map(Preset::name).join(", ");
        let refused = || Error::Option {
            option: "reranker",
            value: asked.to_owned(),
            reason: format!(
                "expected {LOCAL_RERANKER}:DIR, {RERANKED_BY_MODEL}, {RERANKED_BY_RULE}, or SERVER:MODEL, where \
                 SERVER is {} or {SET_SERVER}, the one that is set",
                servers()
            ),
        };
        choice.map(Some).ok_or_else(refused)
    }
}

/// Which index a question is put to, and with which models.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// The folder of the index; by default, the configured one.
    pub index: Option<PathBuf>,
    /// The database to search instead. One that is only set is for publishing.
    pub database: Option<Database>,
    /// How many questions are to come.
    pub questions: Questions,
    /// Which embedder.
    pub models: ModelOptions,
    /// The reranker.
    pub rerank: RerankOptions,
    /// The web search server, by address, or `default` for the configured one; by default, none.
    pub web_search: Option<String>,
    /// Which language model.
    pub call: CallOptions,
    /// The job of the language model.
    pub role: ModelRole,
}

/// How an index is opened to be filled, or made.
#[derive(Debug, Clone, Default)]
pub struct FillOptions {
    /// Which embedder.
    pub models: ModelOptions,
    /// The language model that writes questions, as [`CallOptions::model`].
    pub model: Option<String>,
    /// What its model and its embedder may spend together, as [`parse_budget`](super::parse_budget) reads it.
    pub budget: Vec<String>,
    /// Whether calls are written down or taken from a file.
    pub recording: RecordingFiles,
    /// What becomes of an index that was made with another embedder.
    pub other_embedder: OtherEmbedder,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(reranker: Option<&str>, rerank: Option<usize>) -> Result<(RerankedBy, Option<usize>)> {
        let mut options = SearchOptions::default();
        RerankOptions { reranker: reranker.map(str::to_owned), rerank }.apply(&mut options)?;
        Ok((options.reranked_by, options.rerank))
    }

    #[test]
    fn a_reranker_judges_so_many_passages_and_nobody_does_where_none_is_named() {
        assert_eq!(applied(None, None).unwrap(), (RerankedBy::Reranker, None));
        assert_eq!(applied(Some("model"), None).unwrap(), (RerankedBy::Model, Some(RERANK_DEFAULT)));
        for reranker in ["onnx:cross", "server:BAAI/bge:v2", "vllm:m"] {
            assert_eq!(applied(Some(reranker), Some(5)).unwrap(), (RerankedBy::Reranker, Some(5)));
        }
    }

    #[test]
    fn a_reranker_that_does_not_exist_is_refused() {
        for name in ["onnx:", "cross", "", "server:", "cohere:rerank-v3.5"] {
            let error = applied(Some(name), None).unwrap_err();
            assert!(matches!(error, Error::Option { option: "reranker", .. }), "{name}: {error}");
        }
    }
}
