//! A session: one question, and everything that a strategy may do for it. It retrieves passages with any retriever,
//! asks sub-questions, and performs skills of a language model within the calls and time of the question. Everything
//! that it reads belongs to one version of the index.

mod attempts;
mod batch;
pub(super) mod caller;
pub(super) mod counted;
pub(super) mod deadline;
mod permits;
pub(super) mod query;
pub(super) mod web;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::engine::{QueryEngine, Source, check_embedder};
use super::evidence::exact::{Exact, QuerySyntax};
use super::evidence::filter::shown;
use super::evidence::question::{AskedQuestion, checked, named_passages};
use super::evidence::spelling::respelled;
use super::evidence::{Fields, NAMED_BEARERS_MAX};
use super::options::{RerankedBy, SearchOptions};
use super::retrievers::{Needs, Retriever};
use super::strategies::{Found, Strategy};
use crate::domain::{Calibration, DatabaseError, IndexVersion, ModelWork, RerankWork, Spelling, Spent};
use crate::embed::{Embedder, NoEmbedder, Reranker};
use crate::error::{Error, Result};
use crate::graph::packed::PassageGraph;
use crate::graph::trail::TERMS_MAX;
use crate::skill::Skill;
use crate::store::{DocumentText, GraphReader, GraphSource, Recognized, Scan, Wanted};
use crate::text::{is_stop_word, spelled};
pub(super) use attempts::{ATTEMPTS_MAX, Attempts, PAUSE};
pub use batch::Batch;
use caller::Caller;
use counted::CallCount;
use deadline::Stage;
use permits::Permit;
pub(super) use permits::Permits;
use query::{Query, Ranking};

/// How deep sub-questions of sub-questions go.
pub const DEPTH_MAX: usize = 3;
/// The activity while the current version is looked up.
const VERSION: &str = "reading which version is current";

/// The question as it was put to the version, and what for.
struct Opened {
    needs: Needs,
    count: usize,
    query: Arc<Query>,
}

/// See the top of this file. Clones are of the same question, and share its permit and its version.
#[derive(Clone)]
pub struct Session {
    engine: QueryEngine,
    question: Arc<str>,
    /// Folded names in the question that a language model gave.
    names: Arc<[String]>,
    options: Arc<SearchOptions>,
    top_k: usize,
    /// Whether sentences will be quoted from the passages found.
    is_answer: bool,
    caller: Option<Arc<Caller>>,
    /// Calls to servers of models, those of a reranker among them.
    count: Arc<CallCount>,
    reranking: Arc<Mutex<Option<RerankWork>>>,
    /// Calls to the model that are kept for later.
    calls_kept: u32,
    depth: usize,
    stage: Arc<Stage>,
    version: Arc<OnceLock<IndexVersion>>,
    permit: Arc<Permit>,
    opened: Arc<Mutex<Option<Opened>>>,
}

impl Session {
    /// Starts with a user's question.
    ///
    /// # Errors
    ///
    /// [`Error::Question`] for one without a word or of too many characters, [`Error::Option`] for an option out of
    /// bounds.
    pub(super) fn begin(
        engine: &QueryEngine,
        question: &str,
        options: &SearchOptions,
        caller: Option<Arc<Caller>>,
    ) -> Result<Self> {
        let question = checked(question)?.into();
        options.check()?;
        let own_count = || Arc::new(CallCount::after(0, options.calls_max));
        Ok(Self {
            count: caller.as_ref().map_or_else(own_count, |caller| Arc::clone(caller.count())),
            reranking: Arc::default(),
            engine: engine.clone(),
            question,
            names: Arc::default(),
            top_k: options.top_k,
            options: Arc::new(options.clone()),
            is_answer: false,
            permit: Arc::new(engine.permits.of_question(0, caller.is_some())),
            caller,
            calls_kept: 0,
            depth: 0,
            stage: Arc::default(),
            version: Arc::default(),
            opened: Arc::default(),
        })
    }

    /// Returns the same session before anything was read.
    pub(super) fn afresh(&self) -> Self {
        let permit = Arc::new(self.permit.afresh());
        Self { version: Arc::default(), permit, opened: Arc::default(), ..self.clone() }
    }

    /// Returns it for a question whose answer quotes passages.
    pub(super) fn of_answer(self) -> Self {
        Self { is_answer: true, ..self }
    }

    /// Returns the question, without white space around it.
    #[must_use]
    pub fn question(&self) -> &str {
        &self.question
    }

    /// Returns the number of passages requested.
    #[must_use]
    pub fn top_k(&self) -> usize {
        self.top_k
    }

    /// Returns it with another number of passages requested.
    #[must_use]
    pub fn with_top_k(&self, top_k: usize) -> Self {
        Self { top_k, ..self.clone() }
    }

    /// Returns it with further names of the question, besides those that rules find.
    #[must_use]
    pub fn with_names(&self, names: Vec<String>) -> Self {
        Self { names: names.into(), opened: Arc::default(), ..self.clone() }
    }

    /// Returns one that reserves so many further calls to the language model for later.
    #[must_use]
    pub fn keeping(&self, calls: u32) -> Self {
        Self { calls_kept: self.calls_kept + calls, ..self.clone() }
    }

    /// Returns one that asks no language model, for sub-questions that only retrieve.
    #[must_use]
    pub fn without_model(&self) -> Self {
        Self { caller: None, ..self.clone() }
    }

    /// Returns whether there is a language model, even without calls left.
    #[must_use]
    pub fn has_model(&self) -> bool {
        self.caller.is_some()
    }

    /// Returns whether the language model may be asked once more, with the calls kept that are kept for later.
    #[must_use]
    pub fn may_call(&self) -> bool {
        self.caller.as_ref().is_some_and(|caller| caller.may_call(self.calls_kept))
    }

    /// Returns how many of `wanted` tasks that may call the model run concurrently: only one if calls are limited, so
    /// that the first tasks always get them.
    #[must_use]
    pub fn at_once(&self, wanted: usize) -> usize {
        if self.count.max().is_some() { 1 } else { wanted.max(1) }
    }

    /// Returns the work of the language model so far, and why it is not called any more; none without a model.
    #[must_use]
    pub fn work(&self) -> Option<ModelWork> {
        self.caller.as_ref().map(|caller| caller.work())
    }

    /// Returns what a reranker behind a server scored so far; none if it was not called.
    pub(super) fn reranking(&self) -> Option<RerankWork> {
        self.reranking.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns how many calls to servers of models were made.
    pub(super) fn calls_made(&self) -> u32 {
        self.count.made()
    }

    /// Counts calls of a reranker, all or none; returns whether they fit beside those reserved for later.
    pub(super) fn take_calls(&self, calls: u32) -> bool {
        self.count.take(calls, self.calls_kept)
    }

    /// Subtracts calls of a reranker that were counted but not made.
    pub(super) fn give_back_calls(&self, calls: u32) {
        self.count.give_back(calls);
    }

    /// Records the calls of a reranker and their cost.
    pub(super) fn note_reranking(&self, reranker: &str, passages: u64, spent: &Spent) {
        let mut work = self.reranking.lock().unwrap_or_else(PoisonError::into_inner);
        let work = work.get_or_insert_with(|| RerankWork { reranker: reranker.to_owned(), ..RerankWork::default() });
        work.passages += passages;
        work.spent.add(spent);
    }

    /// Waits for `work` no longer than for the language model; none if it takes longer, after which the model is not
    /// called any more.
    ///
    /// # Cancel safety
    ///
    /// That of `work`.
    pub async fn in_time<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        match &self.caller {
            Some(caller) => caller.in_time(work).await,
            None => Some(work.await),
        }
    }

    /// Sets the current activity, which the error names when the deadline passes.
    pub fn enter(&self, action: &'static str) {
        self.stage.enter(action);
    }

    /// Performs a skill; none if there is no model, it may not be called, or gives nothing usable.
    ///
    /// # Errors
    ///
    /// [`Error::Chat`] for what somebody has to correct.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses a reply in flight, which may have been paid for.
    pub async fn perform<S: Skill>(&self, input: &S::Input) -> Result<Option<S::Output>> {
        let Some(caller) = &self.caller else { return Ok(None) };
        Ok(caller.perform::<S>(input, self.calls_kept).await?.ok())
    }

    /// Retrieves `count` passages for the question.
    ///
    /// # Errors
    ///
    /// If the store cannot be read or has another version by now, the embedder fails, the index lacks what the
    /// retriever needs, or the user must correct something about the language model.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the search and nothing else.
    pub async fn retrieve(&self, retriever: &dyn Retriever, count: usize) -> Result<Ranking> {
        self.enter("waiting for its turn");
        self.permit.acquire().await?;
        let query = self.open(retriever.needs(), count).await?;
        self.enter("finding passages");
        let ranking = retriever.retrieve(self, &query, count).await?;
        tracing::info!(strategy = retriever.name(), passages = ranking.ranked.len(), "found");
        Ok(ranking)
    }

    /// Finds passages for a sub-question with a strategy, within the calls and the time of this question and from the
    /// same version. Several may be asked concurrently: see [`Self::each`].
    ///
    /// # Errors
    ///
    /// [`Error::Question`] for a sub-question without a word or of too many characters, [`Error::Option`] for one
    /// nested deeper than [`DEPTH_MAX`], and errors of the strategy.
    ///
    /// # Cancel safety
    ///
    /// That of the strategy.
    pub async fn ask(&self, question: &str, strategy: &dyn Strategy) -> Result<Found> {
        let question = checked(question)?.into();
        if self.depth == DEPTH_MAX {
            let reason = format!("sub-questions are asked {DEPTH_MAX} deep at most");
            return Err(Error::Option { option: "sub-question", value: self.question.to_string(), reason });
        }
        let depth = self.depth + 1;
        let session = Self {
            question,
            names: Arc::default(),
            is_answer: false,
            depth,
            stage: Arc::default(),
            permit: Arc::new(self.engine.permits.of_question(depth, self.has_model())),
            opened: Arc::default(),
            ..self.clone()
        };
        strategy.find(&session).await
    }

    pub(super) fn calls_kept(&self) -> u32 {
        self.calls_kept
    }

    pub(super) fn caller(&self) -> Option<&Arc<Caller>> {
        self.caller.as_ref()
    }

    pub(super) fn reranker(&self) -> Option<&Arc<dyn Reranker>> {
        self.engine.reranker.as_ref()
    }

    /// Returns the calibration of the reranker, if any, and the minimum probability of a passage.
    pub(super) fn calibration(&self) -> Option<(&Calibration, Option<f32>)> {
        Some((self.options.calibration.as_deref()?, self.options.relevance_min))
    }

    /// Returns the name of the reranker.
    pub(super) fn reranker_name(&self, by: RerankedBy) -> &str {
        self.engine.reranker_name(by).unwrap_or_default()
    }

    pub(super) fn is_answer(&self) -> bool {
        self.is_answer
    }

    pub(super) fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Returns the version that was read; the last one that is known where nothing was.
    pub(super) fn version(&self) -> IndexVersion {
        self.version.get().copied().unwrap_or_else(|| self.engine.version())
    }

    /// Puts the question to the version that the answer is of: the current one, where nothing was read yet.
    ///
    /// # Errors
    ///
    /// If the store cannot be read or has another version by now, or the embedder fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the work and nothing else.
    pub(super) async fn open(&self, needs: Needs, count: usize) -> Result<Arc<Query>> {
        if let Some(query) = self.opened(&needs, count) {
            return Ok(query);
        }
        let QueryEngine { source, embedder, .. } = &self.engine;
        let version = if let Some(version) = self.version.get() {
            *version
        } else {
            self.enter(VERSION);
            let current = source.current().await?;
            // A later version may be of another embedder.
            check_embedder(current.as_ref(), embedder.as_ref())?;
            current.version()
        };
        self.enter("embedding the question");
        let exact = self.exact()?;
        let (text, spellings) = self.respelled(&exact, source.reader()).await?;
        let asked = AskedQuestion::parse(&text, asked_embedder(embedder.as_ref(), &needs)).await?;
        let asked = asked.with_spellings(spellings).with_model_names(self.names.to_vec());
        self.enter("fetching what the question needs");
        let reader = match source {
            Source::Whole(reader) => Arc::clone(reader),
            Source::Asked(source) => {
                let scan = exact.scan.as_ref().filter(|_| needs.scan);
                self.excerpt(source.as_ref(), version, &asked, (&needs, scan), count).await?
            }
        };
        if *self.version.get_or_init(|| version) != version {
            return Err(Error::Database {
                server: "the server".to_owned(),
                source: DatabaseError::Changing { attempts: 1 },
            });
        }
        self.enter("comparing it with every passage");
        let (options, embedder) = (Arc::clone(&self.options), Arc::clone(embedder));
        let opening = move || {
            let question = asked.put_to(reader.graph()).with_known_identifiers(reader.as_ref())?;
            let (allowed, notes) = shown(reader.as_ref(), &options.filters, &exact)?;
            let (filters, fields) = (options.filters.clone(), Fields::default());
            Ok(Query { reader, question, embedder, exact, filters, allowed, notes, fields })
        };
        let query: Result<Query> =
            tokio::task::spawn_blocking(opening).await.map_err(|error| Error::Internal(error.to_string()))?;
        let query = Arc::new(query?);
        let opened = Opened { needs, count, query: Arc::clone(&query) };
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(opened);
        Ok(query)
    }

    /// Returns the exact parts of the query; sub-questions have none.
    fn exact(&self) -> Result<Exact> {
        let syntax = if self.depth == 0 && !self.is_answer { self.options.syntax } else { QuerySyntax::Question };
        Exact::of(&self.question, syntax)
    }

    /// Returns the question as searched for, with corrected words.
    async fn respelled(&self, exact: &Exact, reader: Arc<dyn GraphReader>) -> Result<(String, Vec<Spelling>)> {
        let question = Arc::clone(&self.question);
        if exact.scan.is_some() || !exact.phrases.is_empty() {
            return Ok((question.to_string(), Vec::new()));
        }
        let respelling =
            move || Ok(respelled(&question, reader.as_ref())?.unwrap_or_else(|| (question.to_string(), Vec::new())));
        tokio::task::spawn_blocking(respelling).await.map_err(|error| Error::Internal(error.to_string()))?
    }

    /// Returns the question as prepared for the previous version, if that has everything needed now.
    fn opened(&self, needs: &Needs, count: usize) -> Option<Arc<Query>> {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let known = opened.as_ref()?;
        let is_enough = match &self.engine.source {
            Source::Whole(_) => known.needs.vectors || !needs.vectors,
            Source::Asked(_) => known.needs == *needs && known.count >= count,
        };
        is_enough.then(|| Arc::clone(&known.query))
    }

    /// Returns the part of a store that the question needs.
    async fn excerpt(
        &self,
        source: &dyn GraphSource,
        version: IndexVersion,
        asked: &AskedQuestion,
        (needs, scan): (&Needs, Option<&Scan>),
        count: usize,
    ) -> Result<Arc<dyn GraphReader>> {
        let mut words: Vec<String> = asked.words.iter().filter(|word| !is_stop_word(word)).cloned().collect();
        // In scripts without spaces, a word is a whole clause, whose pairs of characters are searched for.
        words.extend(asked.terms.iter().filter(|term| !term.is_ascii()).cloned());
        // The database does not fold: a word is found there with the accents that it is written with.
        words.extend(spelled(&asked.words, &asked.text).into_iter().filter(|word| !word.is_ascii()));
        words.sort_unstable();
        words.dedup();
        words.truncate(TERMS_MAX);
        let recognize = |graph: PassageGraph<'_>| {
            let asked = asked.clone().put_to(graph);
            let (by_title, by_lead) = named_passages(&asked, graph, NAMED_BEARERS_MAX);
            Recognized {
                keywords: asked.keyword_texts(graph),
                named: by_title.into_keys().chain(by_lead.into_keys()).collect(),
            }
        };
        let filters = &self.options.filters;
        let admits = |document: &DocumentText| filters.iter().all(|filter| filter.admits(document));
        let wanted = Wanted {
            words: &words,
            keywords: needs.keywords.as_ref(),
            vector: &asked.vector.values(0),
            names: &asked.possible_names(),
            recognize: &recognize,
            filter: if filters.is_empty() { None } else { Some(&admits) },
            by_edges: needs.by_edges,
            follow: needs.follow,
            of_all: needs.of_all,
            scan,
            top_k: count,
        };
        source.excerpt(version, wanted).await
    }
}

/// Returns the embedder of a question: none if no vectors are compared and one would cost something, so that words are
/// found while a server is unavailable.
fn asked_embedder<'a>(embedder: &'a dyn Embedder, needs: &Needs) -> &'a dyn Embedder {
    if needs.vectors || !embedder.is_costly() { embedder } else { &NoEmbedder }
}
