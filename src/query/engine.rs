//! The query engine: one version of an index, and the performers that answer questions from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tracing::Instrument as _;

use super::answer::write::{self, SentenceSink};
use super::answer::{Quoted, quoted, room};
use super::evidence::exact::{Exact, QuerySyntax};
use super::evidence::scope::scope_of;
use super::options::{RerankedBy, SearchOptions, StrategyKind};
use super::pieces::rerank::RULE;
use super::retrievers::by_regex::ByRegex;
use super::retrievers::retriever;
use super::session::caller::{Caller, until};
use super::session::counted::CallCount;
use super::session::query::Query;
use super::session::{Attempts, Permits, Session};
use super::strategies::chosen::strategy;
use super::strategies::pipeline::Pipeline;
use super::strategies::{Found, Strategy};
use crate::domain::{
    Answer, AnswerKind, CitationCheck, CorpusId, Counts, Hit, IndexVersion, Ledger, PassageId, QuestionScope,
};
use crate::embed::{Embedder, Reranker};
use crate::error::{Error, Result};
use crate::llm::{ChatModel, SearchTool};
use crate::neo4j::{DatabaseGraph, Target, TraversalOptions};
use crate::skill::Performers;
use crate::store::{DocumentText, GraphReader, GraphSource, documents, passage_ids};
use crate::telemetry;
use crate::workspace::Workspace;

/// Options of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct AskOptions {
    /// How to search.
    pub search: SearchOptions,
    /// The largest number of quotations in an answer, if sentences are quoted.
    pub citations_max: usize,
    /// The largest number of passages shown to a language model that writes the answer.
    pub passages_max: usize,
    /// The largest number of tokens of passages, rows and web results in one call, as the built-in embedder counts
    /// them. Rows of `layers` beyond that are read in groups first, each of which becomes a note, as far as calls
    /// suffice; the answer is written from the notes. The last web results are left out. None: everything in one call,
    /// and in groups, or without web results, only if the server refuses that as too long.
    pub prompt_tokens_max: Option<usize>,
    /// Who checks the citations of a language model's sentences: a rule, or the model in one more call. If the model
    /// gives no usable verdict, the rule decides, and a note in the ledger says why.
    pub citation_check: CitationCheck,
    /// A function that receives the sentences of a language model while it writes.
    pub sentences: Option<SentenceSink>,
}

impl AskOptions {
    /// Returns how many calls to a language model are reserved for writing the answer.
    pub(in crate::query) fn calls_after(&self) -> u32 {
        1 + u32::from(self.citation_check == CitationCheck::Model)
    }
}

impl Default for AskOptions {
    fn default() -> Self {
        let (search, citation_check) = (SearchOptions::default(), CitationCheck::default());
        Self { search, citations_max: 3, passages_max: 8, prompt_tokens_max: None, citation_check, sentences: None }
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
    /// The record of the search: questions, entry vertices, steps and dropped passages.
    pub ledger: Ledger,
}

impl SearchResult {
    /// Returns the passages as numbered blocks for a prompt of the caller's, as many whole ones as fit in `bytes_max`.
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

/// Answers questions from one version of an index; any number of tasks can share it.
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
    pub(super) source: Source,
    pub(super) embedder: Arc<dyn Embedder>,
    pub(super) reranker: Option<Arc<dyn Reranker>>,
    pub(super) permits: Arc<Permits>,
    model: Option<Arc<dyn ChatModel>>,
    pub(super) web: Option<Arc<dyn SearchTool>>,
}

/// The source of an engine.
#[derive(Clone)]
pub enum Source {
    /// A store that holds all of one version.
    Whole(Arc<dyn GraphReader>),
    /// A store that is queried and may move on to another version.
    Asked(Arc<dyn GraphSource>),
}

impl Source {
    pub(super) fn reader(&self) -> Arc<dyn GraphReader> {
        match self {
            Self::Whole(reader) => Arc::clone(reader),
            Self::Asked(source) => source.reader(),
        }
    }

    /// Returns the current version, as far as it is known without a question, with its levels.
    pub(super) async fn with_levels(&self) -> Result<Arc<dyn GraphReader>> {
        match self {
            Self::Whole(reader) => Ok(Arc::clone(reader)),
            Self::Asked(source) => source.with_levels().await,
        }
    }

    /// Returns the current version, as far as it is known without a question.
    pub(super) async fn current(&self) -> Result<Arc<dyn GraphReader>> {
        match self {
            Self::Whole(reader) => Ok(Arc::clone(reader)),
            Self::Asked(source) => source.refresh().await,
        }
    }
}

/// Share of the time for a question that a language model may take in all.
const MODEL_TIME: f64 = 0.9;
/// Share of the time for an answer that a language model may take before it answers.
const ASK_TIME: f64 = 0.5;
impl QueryEngine {
    /// Opens the last finished version of a workspace. The engine keeps reading that version when later ones appear.
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
        Self::of(Source::Whole(reader), performers)
    }

    /// Answers from an index that was published to Neo4j, without a workspace. The structure of the graph is read now
    /// and kept in memory; texts are read from the database as questions need them. When another version is published,
    /// the next question is answered from that version. The engine is bound to the runtime in which it is opened.
    ///
    /// # Errors
    ///
    /// [`Error::Database`] if there is no index or it cannot be read, [`Error::Embedder`] if it was made with another
    /// embedder.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is changed.
    pub async fn open_neo4j(target: &Target, performers: Performers) -> Result<Self> {
        Self::over_source(Arc::new(DatabaseGraph::open(target, TraversalOptions::default()).await?), performers)
    }

    /// Answers from any store that is queried, such as a database.
    ///
    /// # Errors
    ///
    /// [`Error::Embedder`] if the index was made with another embedder.
    pub fn over_source(source: Arc<dyn GraphSource>, performers: Performers) -> Result<Self> {
        Self::of(Source::Asked(source), performers)
    }

    fn of(source: Source, performers: Performers) -> Result<Self> {
        let Performers { embedder, reranker, model, web } = performers;
        check_embedder(source.reader().as_ref(), embedder.as_ref())?;
        Ok(Self { source, embedder, reranker, permits: Arc::default(), model, web })
    }

    /// Returns an engine that answers from the same store with another language model.
    #[must_use]
    pub fn with_model(&self, model: Arc<dyn ChatModel>) -> Self {
        Self { model: Some(model), ..self.clone() }
    }

    /// Returns the language model, if there is one.
    pub(crate) fn model(&self) -> Option<&Arc<dyn ChatModel>> {
        self.model.as_ref()
    }

    /// Returns the name of the reranker, as in a [`Calibration`](crate::domain::Calibration), if there is one.
    #[must_use]
    pub fn reranker_name(&self, by: RerankedBy) -> Option<&str> {
        match by {
            RerankedBy::Reranker => self.reranker.as_ref().map(|reranker| reranker.name()),
            RerankedBy::Model => self.model.as_ref().map(|model| model.name()),
            RerankedBy::Rule => Some(RULE),
        }
    }

    /// Returns whether reranked passages are scored by a server.
    pub(crate) fn has_server_reranker(&self) -> bool {
        self.reranker.as_ref().is_some_and(|reranker| reranker.calls(1) > 0)
    }

    /// Returns the version that the engine reads.
    #[must_use]
    pub fn version(&self) -> IndexVersion {
        self.source.reader().version()
    }

    /// Returns how much it holds.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.source.reader().counts()
    }

    /// Returns the name of the embedder that made the vectors.
    #[must_use]
    pub fn embedder(&self) -> &str {
        self.embedder.name()
    }

    /// Returns the identity of the corpus: equal for the same passages, whatever the version and the embedder.
    ///
    /// # Complexity
    ///
    /// O(passages · log passages) time.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future only loses the query.
    pub async fn corpus(&self) -> Result<CorpusId> {
        let mut passages = match &self.source {
            Source::Whole(reader) => passage_ids(reader.as_ref()),
            Source::Asked(source) => source.passages().await?,
        };
        passages.sort_unstable();
        let parts: Vec<&[u8]> = passages.iter().map(|passage| passage.as_bytes().as_slice()).collect();
        Ok(CorpusId::of(&parts))
    }

    /// Finds passages for a query.
    ///
    /// # Errors
    ///
    /// [`Error::Question`] for a query without a word or with too many characters, [`Error::Option`] for an option out
    /// of bounds, [`Error::Deadline`] if it takes longer than [`SearchOptions::deadline`], and any error of the store
    /// or the embedder.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the search and nothing else.
    pub async fn search(&self, query: &str, options: &SearchOptions) -> Result<SearchResult> {
        if Exact::of(query.trim(), options.syntax)?.scan.is_some() {
            return self.searched(query, &Pipeline::plain(Arc::new(ByRegex)), options, None).await;
        }
        let options = &self.routed(query, options).planned(0, self.model.is_some())?;
        let caller = self.caller(options.may_ask_model(), options, MODEL_TIME);
        self.searched(query, strategy(options).as_ref(), options, caller).await
    }

    /// Finds passages for a query by any strategy. From `options`, the filters, the number of passages, and the limits
    /// on time and calls apply; the strategy can use the language model of the performers, if there is one.
    ///
    /// # Errors
    ///
    /// As [`Self::search`], and any error of the strategy.
    ///
    /// # Cancel safety
    ///
    /// That of the strategy.
    pub async fn search_with(
        &self,
        query: &str,
        strategy: &dyn Strategy,
        options: &SearchOptions,
    ) -> Result<SearchResult> {
        self.searched(query, strategy, options, self.caller(true, options, MODEL_TIME)).await
    }

    async fn searched(
        &self,
        query: &str,
        strategy: &dyn Strategy,
        options: &SearchOptions,
        caller: Option<Arc<Caller>>,
    ) -> Result<SearchResult> {
        let span = tracing::info_span!(telemetry::QUERY, strategy = strategy.name());
        let begun = Session::begin(self, query, options, caller)?;
        let searched = async {
            let mut attempts = Attempts::default();
            loop {
                let session = begun.afresh();
                let found = strategy.find(&session).await;
                let Some(Found { mut hits, mut ledger, .. }) = attempts.settled(&session, found).await? else {
                    continue;
                };
                hits.truncate(options.top_k);
                room::divide(&mut ledger, &hits, hits.len());
                ledger.work = session.work();
                ledger.reranking = session.reranking();
                let (query, version) = (session.question().to_owned(), session.version());
                return Ok(SearchResult { query, strategy: strategy.name().to_owned(), version, hits, ledger });
            }
        };
        begun.stage().within(options.deadline, searched.instrument(span)).await
    }

    /// Answers a question with sentences of the collection, word for word, each cited. If the performers have a
    /// language model, it writes sentences from the passages found, each with citations. If the model gives nothing
    /// usable, sentences are quoted and the answer says why.
    ///
    /// # Errors
    ///
    /// As [`Self::search`]; [`Error::Chat`] if something about the model has to be corrected.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the answer, and a reply of a model in progress, which may have been paid for.
    pub async fn ask(&self, question: &str, options: &AskOptions) -> Result<Answer> {
        let search = self.routed(question, &options.search);
        let search = &search.planned(self.calls_after(options), self.model.is_some())?;
        let caller = self.caller(search.may_ask_model(), search, ASK_TIME);
        self.answered(question, strategy(search).as_ref(), options, search, caller).await
    }

    /// Answers a question from what any strategy finds, as [`Self::ask`] does; see [`Self::search_with`].
    ///
    /// # Errors
    ///
    /// As [`Self::ask`], and any error of the strategy.
    ///
    /// # Cancel safety
    ///
    /// As [`Self::ask`].
    pub async fn ask_with(&self, question: &str, strategy: &dyn Strategy, options: &AskOptions) -> Result<Answer> {
        let calls_max = options.search.calls_max.map(|calls| calls.saturating_sub(self.calls_after(options)));
        let search = &SearchOptions { calls_max, ..options.search.clone() };
        self.answered(question, strategy, options, search, self.caller(true, search, ASK_TIME)).await
    }

    /// Answers with the options `search`, which reserve calls for the written answer.
    async fn answered(
        &self,
        question: &str,
        strategy: &dyn Strategy,
        options: &AskOptions,
        search: &SearchOptions,
        caller: Option<Arc<Caller>>,
    ) -> Result<Answer> {
        let span = tracing::info_span!(telemetry::QUERY, strategy = strategy.name());
        let until = until(search, MODEL_TIME);
        let begun = Session::begin(self, question, search, caller)?.of_answer();
        let answered = async {
            let mut attempts = Attempts::default();
            let mut answer = loop {
                let session = begun.afresh();
                let answer = extracted(&session, strategy, options.citations_max).await;
                if let Some(answer) = attempts.settled(&session, answer).await? {
                    break answer;
                }
            };
            room::divide(&mut answer.ledger, &answer.hits, options.passages_max);
            let Some(model) = &self.model else { return Ok(answer) };
            begun.enter("waiting for the language model");
            let count = CallCount::after(begun.calls_made(), options.search.calls_max);
            let writer = Caller::new(Arc::clone(model), Arc::new(count), until);
            Box::pin(write::written(&writer, answer, options)).await
        };
        begun.stage().within(search.deadline, answered.instrument(span)).await
    }

    /// Returns the model for one question, if it is to be asked.
    fn caller(&self, is_asked: bool, options: &SearchOptions, time_share: f64) -> Option<Arc<Caller>> {
        let model = self.model.as_ref().filter(|_| is_asked)?;
        let count = Arc::new(CallCount::after(0, options.calls_max));
        Some(Arc::new(Caller::new(Arc::clone(model), count, until(options, time_share))))
    }

    /// Returns how many calls are reserved for the written answer, if there is one.
    fn calls_after(&self, options: &AskOptions) -> u32 {
        if self.model.is_some() { options.calls_after() } else { 0 }
    }

    /// Returns a question with its evidence in this version, before the strategy of its options runs.
    ///
    /// # Errors
    ///
    /// As [`Self::search`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the work and nothing else.
    pub async fn query(&self, question: &str, options: &SearchOptions) -> Result<Arc<Query>> {
        let session = Session::begin(self, question, options, None)?;
        let needs = retriever(options.strategy, options).needs();
        session.stage().within(options.deadline, session.open(needs, options.top_k)).await
    }

    /// Returns the names of the documents of `passages`: a ledger lists passages by id, including those that were
    /// dropped. An id that the version does not have is left out.
    ///
    /// Complexity: a pass over the ids of all passages.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future only loses the query.
    pub async fn names(&self, passages: &BTreeSet<PassageId>) -> Result<BTreeMap<PassageId, String>> {
        let name =
            |(passage, document): (PassageId, DocumentText)| (passage, document.title.unwrap_or(document.source_id));
        Ok(self.documents(passages).await?.into_iter().map(name).collect())
    }

    /// Returns the documents of those `passages` that the version has.
    ///
    /// Complexity: a pass over the ids of all passages.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future only loses the query.
    pub async fn documents(&self, passages: &BTreeSet<PassageId>) -> Result<Vec<(PassageId, DocumentText)>> {
        match &self.source {
            Source::Whole(reader) => documents(reader.as_ref(), passages),
            Source::Asked(source) => source.documents(passages).await,
        }
    }

    /// Returns options with `layers` in place of `auto` for a question about the whole, if the index has communities.
    fn routed(&self, question: &str, options: &SearchOptions) -> SearchOptions {
        let is_open = options.strategy == StrategyKind::Auto && options.syntax == QuerySyntax::Question;
        let is_of_whole = || scope_of(question) != QuestionScope::Fact;
        let strategy =
            if is_open && is_of_whole() && self.has_communities() { StrategyKind::Layers } else { options.strategy };
        SearchOptions { strategy, ..options.clone() }
    }

    fn has_communities(&self) -> bool {
        match &self.source {
            Source::Whole(reader) => {
                reader.excerpt().is_none() && reader.hierarchy().is_some_and(|it| !it.communities().is_empty())
            }
            Source::Asked(source) => source.has_communities(),
        }
    }

    /// Returns the strategy that `auto` stands for if a question asks for a fact: `trail`.
    #[must_use]
    pub fn resolved(&self, kind: StrategyKind) -> StrategyKind {
        if kind == StrategyKind::Auto { StrategyKind::Trail } else { kind }
    }
}

/// Returns an answer that quotes the passages found by a strategy.
async fn extracted(session: &Session, strategy: &dyn Strategy, citations_max: usize) -> Result<Answer> {
    let found = strategy.find(session).await?;
    let (Quoted { sentences, guess }, note) = quoted(session, &found, citations_max).await?;
    let Found { mut hits, mut ledger, .. } = found;
    hits.truncate(session.top_k());
    ledger.notes.extend(note);
    let is_nothing = sentences.kind == AnswerKind::Nothing;
    ledger.work = session.work().filter(|work| !is_nothing || !work.skills.is_empty());
    ledger.reranking = session.reranking();
    Ok(Answer {
        question: session.question().to_owned(),
        kind: sentences.kind,
        text: sentences.text,
        guess,
        citations: sentences.citations,
        writing: None,
        hits,
        strategy: strategy.name().to_owned(),
        version: session.version(),
        ledger,
    })
}

pub(super) fn check_embedder(reader: &dyn GraphReader, embedder: &dyn Embedder) -> Result<()> {
    if reader.embedder() == embedder.name() {
        return Ok(());
    }
    Err(Error::Embedder { index: reader.embedder().to_owned(), given: embedder.name().to_owned() })
}
