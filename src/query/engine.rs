//! The query engine: one version of an index, and the performers that a question needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use tracing::Instrument as _;

use super::answer::hits::hits;
use super::answer::write::{self, SentenceSink};
use super::answer::{Quoted, quoted, requoted};
use super::evidence::filter::allowed;
use super::evidence::question::{AskedQuestion, checked, named_passages};
use super::evidence::{NAMED_BEARERS_MAX, gather};
use super::options::{Preset, SearchOptions, StrategyKind};
use super::pieces::rerank;
use super::session::caller::{Caller, until};
use super::session::deadline::Stage;
use super::strategies::{Found, Query, on_cpu, strategy};
use crate::domain::{
    Answer, AnswerKind, CitationCheck, CorpusId, Counts, DatabaseError, Hit, IndexVersion, Ledger, PassageId,
};
use crate::embed::{Embedder, NoEmbedder, Reranker};
use crate::error::{Error, Result};
use crate::graph::packed::PassageGraph;
use crate::graph::trail::TERMS_MAX;
use crate::llm::ChatModel;
use crate::neo4j::{DatabaseGraph, Target, TraversalOptions};
use crate::skill::{EntitiesSkill, EntitiesTask, Performers};
use crate::store::{DocumentText, GraphReader, GraphSource, Spoken, Wanted, documents, passage_ids};
use crate::telemetry;
use crate::text::is_stop_word;
use crate::workspace::Workspace;

/// What a question may be told, beside how to search.
#[derive(Debug, Clone, PartialEq)]
pub struct AskOptions {
    /// How to search.
    pub search: SearchOptions,
    /// Quotations in an answer at most, where sentences are quoted.
    pub citations_max: usize,
    /// Passages that a language model is shown at most, where one writes.
    pub passages_max: usize,
    /// Who checks what a language model's sentences cite: a rule, or the model by one call more. Where the model gives
    /// no verdict that can be used, the rule's holds, and a note of the ledger says why.
    pub citation_check: CitationCheck,
    /// Who is told sentences of a language model while it writes, if anybody.
    pub sentences: Option<SentenceSink>,
}

impl Default for AskOptions {
    fn default() -> Self {
        let (search, citation_check) = (SearchOptions::default(), CitationCheck::default());
        Self { search, citations_max: 3, passages_max: 8, citation_check, sentences: None }
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
    pub(super) source: Source,
    embedder: Arc<dyn Embedder>,
    reranker: Option<Arc<dyn Reranker>>,
    /// Who may be answered now.
    turns: Arc<Semaphore>,
    /// The same for questions that a language model is asked about while passages are looked for: they take long, and
    /// hold up no other.
    led_turns: Arc<Semaphore>,
    pub(super) model: Option<Arc<dyn ChatModel>>,
}

/// Questions that an engine works on at one time, each with memory for scores of every sentence; others wait for their
/// turn, first come first served.
const AT_ONCE_MAX: usize = 32;

/// Where an engine reads.
#[derive(Clone)]
pub enum Source {
    /// A store that holds all of one version.
    Whole(Arc<dyn GraphReader>),
    /// One that has to be asked, and may go on to another version.
    Asked(Arc<dyn GraphSource>),
}

impl Source {
    fn reader(&self) -> Arc<dyn GraphReader> {
        match self {
            Self::Whole(reader) => Arc::clone(reader),
            Self::Asked(source) => source.reader(),
        }
    }

    /// Returns the version that is current, as far as it can be told without a question.
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
/// What is said of a question that waits for the answer which version is current.
const VERSION: &str = "reading which version is current";
/// How often a question is asked again because another version was published meanwhile.
pub(super) const ATTEMPTS_MAX: u32 = 4;
/// How long to wait before that, for the first time.
pub(super) const PAUSE: Duration = Duration::from_millis(50);

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
        Self::of(Source::Whole(reader), performers)
    }

    /// Answers from an index that was published to Neo4j, without a workspace. The structure of the graph is read now
    /// and kept in memory; texts come from the database as questions need them. When another version is published, the
    /// next question is answered from that. The engine belongs to the runtime that it is opened in.
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

    /// Answers from any store that has to be asked.
    ///
    /// # Errors
    ///
    /// [`Error::Embedder`] if the index was made with another embedder.
    pub fn over_source(source: Arc<dyn GraphSource>, performers: Performers) -> Result<Self> {
        Self::of(Source::Asked(source), performers)
    }

    fn of(source: Source, performers: Performers) -> Result<Self> {
        let Performers { embedder, reranker, model } = performers;
        check_embedder(source.reader().as_ref(), embedder.as_ref())?;
        let [turns, led_turns] = [(); 2].map(|()| Arc::new(Semaphore::new(AT_ONCE_MAX)));
        Ok(Self { source, embedder, reranker, turns, led_turns, model })
    }

    /// Returns an engine that answers from the same store with another language model.
    #[must_use]
    pub fn with_model(&self, model: Arc<dyn ChatModel>) -> Self {
        Self { model: Some(model), ..self.clone() }
    }

    /// Returns the version that is read.
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
    /// Dropping the future loses what was read and nothing else.
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
    /// [`Error::Question`] for a query without a word or of too many characters, [`Error::Option`] for an option out of
    /// bounds, [`Error::Deadline`] where it takes longer than [`SearchOptions::deadline`] says, and whatever the store
    /// or the embedder fails with.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the search and nothing else.
    pub async fn search(&self, query: &str, options: &SearchOptions) -> Result<SearchResult> {
        let span = tracing::info_span!(telemetry::QUERY, strategy = options.strategy.name());
        let finish = |_: &Query, _: &Found, hits: Vec<Hit>| Ok(hits);
        let stage = Stage::default();
        let searched = async {
            let options = &self.planned(options, 0)?;
            let caller = self.caller(options, MODEL_TIME);
            let (query, found, hits) = self.find(query, options, caller.as_ref(), finish, &stage).await?;
            let mut result = SearchResult {
                query: query.question.text.clone(),
                strategy: self.resolved(options.strategy).to_string(),
                version: query.reader.version(),
                hits,
                ledger: found.ledger.clone(),
            };
            if let Some(caller) = &caller {
                let SearchResult { version, hits, ledger, .. } = &mut result;
                self.reasoned(caller, *version, hits, ledger, options, &stage).await?;
            }
            Ok(result)
        };
        stage.within(options.deadline, searched.instrument(span)).await
    }

    /// Answers a question with sentences of the collection, word for word, each cited; or, where the performers have a
    /// language model, with sentences that it writes from what was found, each with what it cites. Where the model
    /// gives nothing that can be used, sentences are quoted and the answer says why.
    ///
    /// # Errors
    ///
    /// As [`Self::search`]; [`Error::Chat`] if something about the model has to be corrected.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the answer, and a model's reply in flight, which may have been paid for.
    pub async fn ask(&self, question: &str, options: &AskOptions) -> Result<Answer> {
        let span = tracing::info_span!(telemetry::QUERY, strategy = options.search.strategy.name());
        let (citations_max, strategy) = (options.citations_max, self.resolved(options.search.strategy).to_string());
        let finish = move |query: &Query, found: &Found, hits: Vec<Hit>| {
            let Quoted { sentences, guess } = quoted(query, found, &hits, citations_max)?;
            Ok(Answer {
                question: query.question.text.clone(),
                kind: sentences.kind,
                text: sentences.text,
                guess,
                citations: sentences.citations,
                writing: None,
                hits,
                strategy: strategy.clone(),
                version: query.reader.version(),
                ledger: found.ledger.clone(),
            })
        };
        let stage = Stage::default();
        let answered = async {
            let search =
                &self.planned(&options.search, 1 + u32::from(options.citation_check == CitationCheck::Model))?;
            let caller = self.caller(search, ASK_TIME);
            let until = until(&options.search, MODEL_TIME);
            let (query, found, mut answer) = self.find(question, search, caller.as_ref(), finish, &stage).await?;
            // What a question is put to an index with is large: it does not wait for a model that it does not need.
            let is_rearranged = search.decompose.is_some() || search.pick.is_some();
            let asked = is_rearranged.then_some((query, found));
            if let Some(caller) = caller.as_ref().filter(|_| answer.kind == AnswerKind::Nothing) {
                answer.ledger.work = Some(caller.work()).filter(|work| !work.skills.is_empty());
                answer.hits.truncate(search.top_k);
            }
            if let Some(caller) = caller.as_ref().filter(|_| answer.kind != AnswerKind::Nothing) {
                let Answer { version, hits, ledger, .. } = &mut answer;
                self.reasoned(caller, *version, hits, ledger, search, &stage).await?;
                if let Some((query, found)) = asked {
                    stage.enter("quoting what was found");
                    answer = requoted(&query, found, answer, citations_max).await?;
                }
            }
            let Some(model) = &self.model else { return Ok(answer) };
            stage.enter("waiting for the language model");
            let writer = Caller::after(caller.as_deref(), Arc::clone(model), options.search.calls_max, until);
            write::written(&writer.bounded(), answer, options).await
        };
        stage.within(options.search.deadline, answered.instrument(span)).await
    }

    /// Asks a question, and again where another version was published meanwhile, so that all of what is returned is of
    /// one; `finish` makes of the passages what is asked for, where waiting holds up no other task.
    pub(super) async fn find<T: Send + 'static>(
        &self,
        question: &str,
        options: &SearchOptions,
        caller: Option<&Arc<Caller>>,
        finish: impl Fn(&Query, &Found, Vec<Hit>) -> Result<T> + Clone + Send + 'static,
        stage: &Stage,
    ) -> Result<(Arc<Query>, Arc<Found>, T)> {
        stage.enter("waiting for its turn");
        let turns = if caller.is_some() { &self.led_turns } else { &self.turns };
        let _turn = turns.acquire().await.map_err(|error| Error::Internal(error.to_string()))?;
        let mut attempt = 0;
        loop {
            attempt += 1;
            let found = self.find_once(question, options, caller, finish.clone(), stage).await;
            stage.enter(VERSION);
            let server = match found {
                Err(Error::Database { server, source: DatabaseError::Changing { .. } }) => server,
                // It may have been read while it was about to be taken away.
                Err(Error::Database { server, source: DatabaseError::Damaged { .. } }) if attempt < ATTEMPTS_MAX => {
                    server
                }
                // A model is not asked again: what was read is of one version, which was current when it was asked.
                Ok((query, ..)) if caller.is_none() && !self.is_current(&query).await? => "the server".to_owned(),
                found => return found,
            };
            if attempt == ATTEMPTS_MAX {
                return Err(Error::Database { server, source: DatabaseError::Changing { attempts: attempt } });
            }
            tokio::time::sleep(PAUSE * attempt).await;
        }
    }

    /// Returns whether what a query read is of the version that is current now.
    async fn is_current(&self, query: &Query) -> Result<bool> {
        Ok(self.source.current().await?.version() == query.reader.version())
    }

    async fn find_once<T: Send + 'static>(
        &self,
        question: &str,
        options: &SearchOptions,
        caller: Option<&Arc<Caller>>,
        finish: impl FnOnce(&Query, &Found, Vec<Hit>) -> Result<T> + Send + 'static,
        stage: &Stage,
    ) -> Result<(Arc<Query>, Arc<Found>, T)> {
        let reranker = rerank::requested(self.reranker.as_deref(), caller, options)?;
        let query = self.prepare(question, options, caller, stage).await?;
        let kind = self.resolved(options.strategy);
        stage.enter("finding passages");
        let mut found = strategy(kind).find(Arc::clone(&query)).await?;
        if let Some(reranker) = reranker {
            stage.enter("judging passages again");
            rerank::apply(reranker, &query, &mut found, options.kept_count()).await?;
        }
        tracing::info!(strategy = kind.name(), passages = found.ranked.len(), "found");
        let found = Arc::new(found);
        let ranked = Arc::clone(&found);
        stage.enter("quoting what was found");
        let finished = on_cpu(&query, move |query| {
            let hits = hits(query, &ranked)?;
            finish(query, &ranked, hits)
        });
        Ok((Arc::clone(&query), found, finished.await?))
    }

    /// Returns a question with all that it says about this version, before the strategy of its options is asked.
    ///
    /// # Errors
    ///
    /// As [`Self::search`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the work and nothing else.
    pub async fn query(&self, question: &str, options: &SearchOptions) -> Result<Arc<Query>> {
        let stage = Stage::default();
        stage.within(options.deadline, self.prepare(question, options, None, &stage)).await
    }

    async fn prepare(
        &self,
        question: &str,
        options: &SearchOptions,
        caller: Option<&Arc<Caller>>,
        stage: &Stage,
    ) -> Result<Arc<Query>> {
        checked(question)?;
        options.check()?;
        stage.enter(VERSION);
        let current = self.source.current().await?;
        // A later version may be of another embedder.
        check_embedder(current.as_ref(), self.embedder.as_ref())?;
        stage.enter("embedding the question");
        let asked = AskedQuestion::parse(question, self.asked_embedder(options.strategy)).await?;
        let asked = named(asked, options, caller, stage).await?;
        stage.enter("fetching what the question needs");
        let reader = match &self.source {
            Source::Whole(reader) => Arc::clone(reader),
            Source::Asked(source) => self.excerpt(source.as_ref(), current.version(), &asked, options).await?,
        };
        let (embedder, caller) = (Arc::clone(&self.embedder), caller.cloned());
        let options = SearchOptions { top_k: options.found_count(), ..options.clone() };
        let prepare = move || {
            let asked = asked.put_to(reader.graph());
            let allowed = allowed(reader.as_ref(), &options.filters)?;
            let gathered = gather(reader.as_ref(), &asked, allowed)?;
            Ok(Query {
                reader,
                question: asked,
                options,
                evidence: gathered.evidence,
                sentence_cosine: gathered.sentence_cosine,
                embedder,
                caller,
            })
        };
        stage.enter("comparing it with every passage");
        let prepared: Result<Query> =
            tokio::task::spawn_blocking(prepare).await.map_err(|error| Error::Internal(error.to_string()))?;
        Ok(Arc::new(prepared?))
    }

    /// Returns who embeds a question: nobody where its strategy compares no vectors and one would cost something, so
    /// that words are found while the server of a model is away.
    fn asked_embedder(&self, kind: StrategyKind) -> &dyn Embedder {
        let is_needed = strategy(kind).needs_vectors() || !self.embedder.is_costly();
        if is_needed { self.embedder.as_ref() } else { &NoEmbedder }
    }

    /// Returns the part of a store that a question needs.
    async fn excerpt(
        &self,
        source: &dyn GraphSource,
        version: IndexVersion,
        asked: &AskedQuestion,
        options: &SearchOptions,
    ) -> Result<Arc<dyn GraphReader>> {
        let mut words: Vec<String> = asked.words.iter().filter(|word| !is_stop_word(word)).cloned().collect();
        words.sort_unstable();
        words.dedup();
        words.truncate(TERMS_MAX);
        let spoken = |graph: PassageGraph<'_>| {
            let asked = asked.clone().put_to(graph);
            let (by_title, by_lead) = named_passages(&asked, graph, NAMED_BEARERS_MAX);
            Spoken {
                keywords: asked.keyword_texts(graph),
                named: by_title.into_keys().chain(by_lead.into_keys()).collect(),
            }
        };
        let admits = |document: &DocumentText| options.filters.iter().all(|filter| filter.admits(document));
        let wanted = Wanted {
            words: &words,
            vector: &asked.vector.values(0),
            names: &asked.possible_names(),
            spoken: &spoken,
            filter: if options.filters.is_empty() { None } else { Some(&admits) },
            by_edges: options.preset == Preset::Paper,
            follow: strategy(self.resolved(options.strategy)).follows(),
            top_k: options.found_count(),
        };
        source.excerpt(version, wanted).await
    }

    /// Returns what the documents of `passages` are called: a ledger names passages by their ids, also those that were
    /// dropped. An id that the version does not hold is left out.
    ///
    /// Complexity: a pass over the ids of all passages.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses what was read and nothing else.
    pub async fn names(&self, passages: &BTreeSet<PassageId>) -> Result<BTreeMap<PassageId, String>> {
        let name =
            |(passage, document): (PassageId, DocumentText)| (passage, document.title.unwrap_or(document.source_id));
        Ok(self.documents(passages).await?.into_iter().map(name).collect())
    }

    /// Returns the documents of `passages`, as far as the version holds them.
    ///
    /// Complexity: a pass over the ids of all passages.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses what was read and nothing else.
    pub async fn documents(&self, passages: &BTreeSet<PassageId>) -> Result<Vec<(PassageId, DocumentText)>> {
        match &self.source {
            Source::Whole(reader) => documents(reader.as_ref(), passages),
            Source::Asked(source) => source.documents(passages).await,
        }
    }

    /// Returns the strategy that `auto` stands for: `trail`.
    #[must_use]
    pub fn resolved(&self, kind: StrategyKind) -> StrategyKind {
        strategy(kind).kind()
    }
}

/// Returns a question with what a language model says that it names, where one is to be asked.
async fn named(
    asked: AskedQuestion,
    options: &SearchOptions,
    caller: Option<&Arc<Caller>>,
    stage: &Stage,
) -> Result<AskedQuestion> {
    let kept = options.calls_after_strategy();
    let Some(caller) = caller.filter(|caller| options.entities && caller.may_call(kept)) else { return Ok(asked) };
    stage.enter("waiting for the language model to name");
    let task = EntitiesTask { question: asked.text.clone() };
    let names = caller.perform::<EntitiesSkill>(&task, kept).await?;
    Ok(asked.with_told(names.unwrap_or_default()))
}

fn check_embedder(reader: &dyn GraphReader, embedder: &dyn Embedder) -> Result<()> {
    if reader.embedder() == embedder.name() {
        return Ok(());
    }
    Err(Error::Embedder { index: reader.embedder().to_owned(), given: embedder.name().to_owned() })
}
