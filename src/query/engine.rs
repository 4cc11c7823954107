//! The query engine: one version of an index, and the performers that a question needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tracing::Instrument as _;

use super::evidence::gather;
use super::extract;
use super::filter;
use super::options::{SearchOptions, StrategyKind};
use super::question::{AskedQuestion, checked};
use super::rerank;
use super::short;
use super::strategies::{Found, Query, strategy};
use crate::domain::{Answer, AnswerKind, CorpusId, Counts, Hit, IndexVersion, Ledger, PassageId};
use crate::embed::{Embedder, Reranker};
use crate::error::{Error, Result};
use crate::skill::Performers;
use crate::store::GraphReader;
use crate::telemetry;
use crate::workspace::Workspace;

/// What a question may be told, beside how to search.
#[derive(Debug, Clone, PartialEq)]
pub struct AskOptions {
    /// How to search.
    pub search: SearchOptions,
    /// Quotations in an answer at most.
    pub citations_max: usize,
}

impl Default for AskOptions {
    fn default() -> Self {
        Self { search: SearchOptions::default(), citations_max: 3 }
    }
}

/// The passages that a search found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchResult {
    /// The query as it was asked.
    pub query: String,
    /// The strategy that found them.
    pub strategy: String,
    /// The version of the index that was read.
    pub version: IndexVersion,
    /// The passages, best first.
    pub hits: Vec<Hit>,
    /// What was asked, entered, walked and dropped.
    pub ledger: Ledger,
}

impl SearchResult {
    /// Returns the passages as numbered blocks for somebody else's prompt, as many whole ones as fit in `bytes_max`.
    #[must_use]
    pub fn context(&self, bytes_max: usize) -> String {
        let mut context = String::new();
        for hit in &self.hits {
            let mut block = String::new();
            // Writing to a string cannot fail.
            let _ok = write!(block, "[{}] {} ({})\n{}\n\n", hit.rank, hit.name, hit.uri, hit.text.trim());
            if context.len() + block.len() > bytes_max {
                break;
            }
            context.push_str(&block);
        }
        context
    }
}

/// Answers questions from one version of an index; it may be shared by any number of tasks.
///
/// # Examples
///
/// ```no_run
/// # async fn ask() -> cairn::Result<()> {
/// use cairn::{AskOptions, Performers, QueryEngine, Workspace};
///
/// let workspace = Workspace::open("notes.cairn")?;
/// let engine = QueryEngine::open(&workspace, Performers::built_in())?;
/// let answer = engine.ask("Who taught the engineer of Heron Bridge?", &AskOptions::default()).await?;
/// for citation in &answer.citations {
///     println!("{}: {}", citation.document, citation.quote);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct QueryEngine {
    reader: Arc<dyn GraphReader>,
    embedder: Arc<dyn Embedder>,
    reranker: Option<Arc<dyn Reranker>>,
}

impl QueryEngine {
    /// Opens the last finished version of a workspace. The engine goes on reading that version while later ones appear.
    ///
    /// # Errors
    ///
    /// [`Error::NoIndex`] if no run has finished yet, [`Error::Embedder`] if the index was made with another embedder,
    /// [`Error::Corrupt`] if part of it is missing or damaged.
    pub fn open(workspace: &Workspace, performers: Performers) -> Result<Self> {
        Self::over(Arc::new(workspace.snapshot()?), performers)
    }

    /// Answers from any store.
    ///
    /// # Errors
    ///
    /// [`Error::Embedder`] if the index was made with another embedder.
    pub fn over(reader: Arc<dyn GraphReader>, performers: Performers) -> Result<Self> {
        let Performers { embedder, reranker } = performers;
        if reader.embedder() != embedder.name() {
            return Err(Error::Embedder { index: reader.embedder().to_owned(), given: embedder.name().to_owned() });
        }
        Ok(Self { reader, embedder, reranker })
    }

    /// Returns the version that is read.
    #[must_use]
    pub fn version(&self) -> IndexVersion {
        self.reader.version()
    }

    /// Returns how much it holds.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.reader.counts()
    }

    /// Returns the name of the embedder that made the vectors.
    #[must_use]
    pub fn embedder(&self) -> &str {
        self.reader.embedder()
    }

    /// Returns the identity of the corpus: equal for the same passages, whatever the version and the embedder.
    ///
    /// # Complexity
    ///
    /// O(passages · log passages) time.
    #[must_use]
    pub fn corpus(&self) -> CorpusId {
        let count = self.reader.graph().passage_count() as u32;
        let mut passages: Vec<_> = (0..count).map(|passage| self.reader.passage_id(passage)).collect();
        passages.sort_unstable();
        let parts: Vec<&[u8]> = passages.iter().map(|passage| passage.as_bytes().as_slice()).collect();
        CorpusId::of(&parts)
    }

    /// Finds passages for a query.
    ///
    /// # Errors
    ///
    /// [`Error::Question`] for a query without a word or of too many characters, [`Error::Option`] for an option out of
    /// bounds, and whatever the store or the embedder fails with.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the search and nothing else.
    pub async fn search(&self, query: &str, options: &SearchOptions) -> Result<SearchResult> {
        let span = tracing::info_span!(telemetry::QUERY, strategy = options.strategy.name());
        let (query, found) = self.find(query, options).instrument(span).await?;
        let hits = hits(&query, &found)?;
        Ok(SearchResult {
            query: query.question.text.clone(),
            strategy: self.resolved(options.strategy).to_string(),
            version: self.version(),
            hits,
            ledger: found.ledger,
        })
    }

    /// Answers a question with sentences of the collection, word for word, each cited.
    ///
    /// # Errors
    ///
    /// As [`Self::search`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the answer and nothing else.
    pub async fn ask(&self, question: &str, options: &AskOptions) -> Result<Answer> {
        let span = tracing::info_span!(telemetry::QUERY, strategy = options.search.strategy.name());
        let (query, found) = self.find(question, &options.search).instrument(span).await?;
        let hits = hits(&query, &found)?;
        let extracted = extract::answer(&query, &found, &hits, options.citations_max)?;
        let guess = if extracted.kind == AnswerKind::Nothing { None } else { short::guess(&query, &found)? };
        Ok(Answer {
            question: query.question.text.clone(),
            kind: extracted.kind,
            text: extracted.text,
            guess,
            citations: extracted.citations,
            hits,
            strategy: self.resolved(options.search.strategy).to_string(),
            version: self.version(),
            ledger: found.ledger,
        })
    }

    async fn find(&self, question: &str, options: &SearchOptions) -> Result<(Arc<Query>, Found)> {
        let reranker = rerank::requested(self.reranker.as_deref(), options)?;
        let query = self.query(question, options).await?;
        let kind = self.resolved(options.strategy);
        let mut found = strategy(kind).find(Arc::clone(&query)).await?;
        if let Some(reranker) = reranker {
            rerank::apply(reranker, &query, &mut found, options.top_k).await?;
        }
        tracing::info!(strategy = kind.name(), passages = found.ranked.len(), "found");
        Ok((query, found))
    }

    /// Returns a question with all that it says about this version, before any strategy is asked.
    ///
    /// # Errors
    ///
    /// As [`Self::search`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the work and nothing else.
    pub async fn query(&self, question: &str, options: &SearchOptions) -> Result<Arc<Query>> {
        checked(question)?;
        options.check()?;
        let asked = AskedQuestion::parse(question, self.reader.graph(), self.embedder.as_ref()).await?;
        let (reader, embedder) = (Arc::clone(&self.reader), Arc::clone(&self.embedder));
        let options = SearchOptions { top_k: options.top_k.max(options.rerank.unwrap_or(0)), ..options.clone() };
        let prepare = move || {
            let allowed = filter::allowed(reader.as_ref(), &options.filters)?;
            let gathered = gather(reader.as_ref(), &asked, allowed)?;
            Ok(Query {
                reader,
                question: asked,
                options,
                evidence: gathered.evidence,
                sentence_cosine: gathered.sentence_cosine,
                embedder,
            })
        };
        let prepared: Result<Query> =
            tokio::task::spawn_blocking(prepare).await.map_err(|error| Error::Internal(error.to_string()))?;
        Ok(Arc::new(prepared?))
    }

    /// Returns what the documents of `passages` are called: a ledger names passages by their ids, also those that were
    /// dropped. An id that the version does not hold is left out.
    ///
    /// Complexity: a pass over the ids of all passages.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn names(&self, passages: &BTreeSet<PassageId>) -> Result<BTreeMap<PassageId, String>> {
        let graph = self.reader.graph();
        let numbered = (0..graph.passage_count() as u32).map(|number| (number, self.reader.passage_id(number)));
        let name = |(number, id): (u32, PassageId)| {
            let document = self.reader.document(graph.passage_document[number as usize])?;
            Ok((id, document.title.unwrap_or(document.source_id)))
        };
        numbered.filter(|(_, id)| passages.contains(id)).map(name).collect()
    }

    /// Returns the strategy that `auto` stands for here: `trail`, while there is no language model.
    #[must_use]
    pub fn resolved(&self, kind: StrategyKind) -> StrategyKind {
        strategy(kind).kind()
    }
}

fn hits(query: &Query, found: &Found) -> Result<Vec<Hit>> {
    let graph = query.reader.graph();
    let hit = |(&(passage, score), rank): (&(u32, f32), u32)| {
        let shown = query.reader.passage(passage)?;
        let document = query.reader.document(graph.passage_document[passage as usize])?;
        Ok(Hit {
            rank,
            passage: shown.passage,
            document: document.document,
            name: document.title.unwrap_or_else(|| document.source_id.clone()),
            source_id: document.source_id,
            uri: document.uri,
            section: shown.section,
            span: shown.span,
            text: shown.text,
            score,
            metadata: document.metadata,
            path: found.paths.get(&passage).cloned().unwrap_or_default(),
        })
    };
    found.ranked.iter().zip(1..).map(hit).collect()
}
