//! Answers from the database: texts and vectors are fetched for each question; the structure of a version is in memory
//! or, if it does not fit, in the database.
//!
//! The database's full-text and vector indexes determine where a question enters, the structure what can be reached
//! from there, and the texts of these passages arrive in one reply. They make an [`Excerpt`], which strategies read
//! like any store; passages outside it cannot be found. If the structure stays in the database, Cypher walks it there
//! ([`super::walk`]), and the excerpt has the structure of its own passages.

mod copy;
mod entry;
mod excerpt;
mod fetch;
mod levels;
mod load;
mod memory;
mod scan;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use tokio::sync::Mutex;

use super::element::Key;
use super::paths::paths;
use super::reader::{Reading, current};
use super::schema;
use super::session::Session;
use super::state::IndexState;
use super::target::Target;
use super::walk;
use crate::domain::{Counts, DatabaseError, IndexVersion, PassageId, PathEnd, PathOptions, PathsFound};
use crate::error::{Error, Result};
use crate::graph::descriptions::{Descriptions, PackedDescriptions};
use crate::graph::hierarchy::Hierarchy;
use crate::graph::ordinal::{DocumentOrdinal, IncomingOrdinal, Ordinal as _, OutgoingOrdinal, PassageOrdinal};
use crate::graph::packed::{PassageGraph, text_at};
use crate::graph::resolution::Resolution;
use crate::store::{
    Asking, DocumentText, Excerpting, GraphReader, GraphSource, Networks, OfAll, PassageText, TextField, VectorField,
    Vectors, Wanted, documents, passage_ids,
};
use copy::Copies;
pub(super) use entry::{Admitted, Entry, Following};
use excerpt::Excerpt;
use fetch::Fetcher;
use levels::Levels;
pub(super) use load::{Lexicon, Rows, Structure, key, mentioned, number, ordinal};
pub use memory::{Questions, Traversal, TraversalOptions};
pub(super) use scan::{Matching, scan};

/// Values of a vector at most: more than any embedder has.
const DIMENSION_MAX: usize = 1 << 16;

/// The index in a database, to be asked questions. It may be shared by any number of tasks of the runtime that it was
/// opened in.
///
/// The data in memory is of one version. Every question checks whether another version was published, and if so, reads
/// it again.
pub struct DatabaseGraph {
    session: Session,
    options: Arc<TraversalOptions>,
    copies: Option<Copies>,
    current: Arc<RwLock<Arc<GraphCache>>>,
    /// Held while a version is read.
    reading: Arc<Mutex<()>>,
}

/// The cached data of one version: its numbers, its structure or a part of it, and texts fetched. Clones share it.
#[derive(Clone)]
pub(super) struct GraphCache {
    pub(super) version: i64,
    pub(super) state: Arc<IndexState>,
    pub(super) structure: Arc<Structure>,
    pub(super) lexicon: Arc<Lexicon>,
    fetcher: Arc<Fetcher>,
    /// Where the structure is walked.
    traversal: Traversal,
    read_from: ReadFrom,
    networks: Arc<Networks>,
    /// The levels, once somebody asked for them.
    kept_levels: Arc<OnceLock<Arc<Levels>>>,
    /// The same, for who asked for them.
    levels: Option<Arc<Levels>>,
}

/// What the structure of a version was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadFrom {
    /// The database, all of it.
    Database,
    /// The copy in the folder that was named.
    Copy,
    /// Nothing was read: it stays in the database.
    Nothing,
}

impl DatabaseGraph {
    /// Connects, and reads the structure of the current version, if it is to be in memory.
    ///
    /// # Errors
    ///
    /// [`Error::Database`] if the server does not respond, or there is no index or one that cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is changed.
    pub async fn open(target: &Target, options: TraversalOptions) -> Result<Self> {
        let copies = options.cache.as_ref().map(|folder| Copies::of(target, folder)).transpose()?;
        let session = Session::connect_to_ask(target).await?;
        let loading = Loading { session: &session, options: &options, copies: copies.as_ref() };
        let cache = Arc::new(loading.load().await?);
        let current = Arc::new(RwLock::new(cache));
        Ok(Self { session, options: Arc::new(options), copies, current, reading: Arc::default() })
    }

    /// Returns where the version that was read last is walked: in memory or in the database.
    #[must_use]
    pub fn traversal(&self) -> Traversal {
        self.current().traversal
    }

    /// Returns the source of the structure of the version that was read last.
    #[must_use]
    pub fn read_from(&self) -> ReadFrom {
        self.current().read_from
    }

    /// Returns about how many bytes of memory the structure of the version that was read last takes or would take.
    #[must_use]
    pub fn structure_bytes(&self) -> u64 {
        memory::structure_bytes(&self.current().state.counts)
    }

    fn current(&self) -> Arc<GraphCache> {
        // A lock is poisoned by a panic of another thread only, and what it holds is whole.
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns whether the database still holds what was read: the same version, published from the same index, since a
    /// database that was emptied counts from 1 again.
    async fn is_current(&self) -> Result<bool> {
        let known = self.current();
        let (version, source) = current(&self.session).await?;
        Ok(version == known.version && source == known.state.source)
    }

    /// Returns what is kept of the version that the database holds now.
    async fn refreshed(&self) -> Result<Arc<GraphCache>> {
        if self.is_current().await? {
            return Ok(self.current());
        }
        let reading = Arc::clone(&self.reading).lock_owned().await;
        // Another task may have read it meanwhile.
        if self.is_current().await? {
            return Ok(self.current());
        }
        // In a task of its own: a question may have less time than this takes, and the next one is to find it read.
        let (session, current) = (self.session.clone(), Arc::clone(&self.current));
        let (options, copies) = (Arc::clone(&self.options), self.copies.clone());
        let loaded = tokio::spawn(async move {
            let _reading = reading;
            let loading = Loading { session: &session, options: &options, copies: copies.as_ref() };
            let cache = Arc::new(loading.load().await?);
            *current.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&cache);
            Ok(cache)
        });
        loaded.await.map_err(|error| Error::Internal(error.to_string()))?
    }

    /// Returns what is kept of a version, with its levels: read now, where nobody asked for them before.
    async fn leveled(&self, cache: &Arc<GraphCache>) -> Result<Arc<GraphCache>> {
        let with =
            |levels: &Arc<Levels>| Arc::new(GraphCache { levels: Some(Arc::clone(levels)), ..(**cache).clone() });
        if let Some(levels) = cache.kept_levels.get() {
            return Ok(with(levels));
        }
        let reading = Arc::clone(&self.reading).lock_owned().await;
        // Another task may have read them meanwhile.
        if let Some(levels) = cache.kept_levels.get() {
            return Ok(with(levels));
        }
        // In a task of its own: see `refreshed`.
        let (session, cache, copies) = (self.session.clone(), Arc::clone(cache), self.copies.clone());
        let loaded = tokio::spawn(async move {
            let _reading = reading;
            let levels = Arc::new(levels_of(&session, &cache, copies.as_ref()).await?);
            Ok(Arc::clone(cache.kept_levels.get_or_init(|| levels)))
        });
        loaded.await.map_err(|error| Error::Internal(error.to_string()))?.map(|levels| with(&levels))
    }

    /// Returns what an error of asking an index means: that it is not there, or is not filled yet, where that is so.
    async fn without_index(&self, error: Error) -> Error {
        if !matches!(&error, Error::Database { source: DatabaseError::Statement { .. }, .. }) {
            return error;
        }
        let dimension = self.current().state.dimension;
        match schema::unready(&self.session, &entry::INDEXES, dimension).await {
            Ok(missing) if !missing.is_empty() => {
                self.session.error(DatabaseError::Schema { names: missing.join(", ") })
            }
            _ => error,
        }
    }

    async fn excerpt_of(&self, cache: Arc<GraphCache>, wanted: &Wanted<'_>) -> Result<Excerpt> {
        let walked = match cache.traversal {
            Traversal::Cypher => walk::subgraph(&self.session, &cache, wanted).await,
            Traversal::Auto | Traversal::Memory => memory::subgraph(&self.session, &cache, wanted).await,
        };
        let Subgraph { structure, passages, entry, matching } = match walked {
            Err(error) => return Err(self.without_index(error).await),
            Ok(subgraph) => subgraph,
        };
        let cache = structure.map_or_else(|| Arc::clone(&cache), |structure| Arc::new(cache.with(structure)));
        let fetched = cache.fetcher.fetch(cache.version, &cache.structure, &passages).await?;
        let questions = cache.numbered(entry.questions);
        Ok(Excerpt::new(cache, fetched, &questions).scanned(matching))
    }
}

/// Returns the levels out of a copy that is kept, or else out of the database, and then keeps a copy.
async fn levels_of(session: &Session, cache: &GraphCache, copies: Option<&Copies>) -> Result<Levels> {
    if let Some(levels) = copies.and_then(|copies| copies.read_levels(&cache.state, &cache.structure)) {
        return Ok(levels);
    }
    let levels = levels::load(session, cache).await?;
    if let Some(copies) = copies {
        copies.write_levels(&cache.state, &levels)?;
    }
    Ok(levels)
}

/// What a question needs of a version.
pub(super) struct Subgraph {
    /// The structure of the part, where not all of it is in memory.
    pub(super) structure: Option<Structure>,
    /// The passages, by number there, ascending.
    pub(super) passages: Vec<PassageOrdinal>,
    pub(super) entry: Entry,
    /// How many passages match what all texts were scanned for.
    pub(super) matching: Option<usize>,
}

/// What a version is read with.
struct Loading<'a> {
    session: &'a Session,
    options: &'a TraversalOptions,
    copies: Option<&'a Copies>,
}

impl Loading<'_> {
    /// Reads the version that is current.
    async fn load(&self) -> Result<GraphCache> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let reading = Reading::begin(self.session).await?;
            let found = self.read(&reading).await;
            if let Some(cache) = reading.end(found, attempt).await? {
                return Ok(cache);
            }
        }
    }

    async fn read(&self, reading: &Reading<'_>) -> Result<GraphCache> {
        let session = self.session;
        let state = IndexState::read_current(session).await?;
        if state.dimension > DIMENSION_MAX {
            return Err(session.damaged(format!("its vectors have {} values", state.dimension)));
        }
        let traversal = self.options.resolved(&state.counts);
        let (structure, lexicon, read_from) = match traversal {
            Traversal::Cypher => (Structure::default(), load::load_lexicon(session, reading).await?, ReadFrom::Nothing),
            Traversal::Auto | Traversal::Memory => self.read_structure(reading, &state).await?,
        };
        Ok(GraphCache {
            version: reading.version,
            state: Arc::new(state),
            structure: Arc::new(structure),
            lexicon: Arc::new(lexicon),
            fetcher: Arc::new(Fetcher::new(session.clone())),
            traversal,
            read_from,
            networks: Arc::default(),
            kept_levels: Arc::default(),
            levels: None,
        })
    }

    /// Returns the structure out of a copy that is kept, or else out of the database, and then keeps a copy.
    async fn read_structure(
        &self,
        reading: &Reading<'_>,
        state: &IndexState,
    ) -> Result<(Structure, Lexicon, ReadFrom)> {
        let session = self.session;
        if let Some((structure, lexicon)) = self.copies.and_then(|copies| copies.read(state)) {
            return Ok((structure, lexicon, ReadFrom::Copy));
        }
        let structure = Box::pin(load::load(session, reading, state.counts)).await?;
        let lexicon = load::load_lexicon(session, reading).await?;
        // A version that was switched meanwhile is not what was read.
        let is_of_state = state.version == reading.version && current(session).await?.0 == reading.version;
        if let Some(copies) = self.copies.filter(|_| is_of_state) {
            copies.write(state, &structure, &lexicon)?;
        }
        Ok((structure, lexicon, ReadFrom::Database))
    }
}

impl GraphSource for DatabaseGraph {
    fn reader(&self) -> Arc<dyn GraphReader> {
        self.current()
    }

    fn refresh(&self) -> Excerpting<'_> {
        Box::pin(async { Ok(self.refreshed().await? as Arc<dyn GraphReader>) })
    }

    fn with_levels(&self) -> Excerpting<'_> {
        Box::pin(async {
            let cache = self.refreshed().await?;
            if cache.traversal == Traversal::Cypher {
                return Err(Error::Option {
                    option: "traversal",
                    value: cache.traversal.to_string(),
                    reason: "its levels are read into memory: open it to be walked there".to_owned(),
                });
            }
            Ok(self.leveled(&cache).await? as Arc<dyn GraphReader>)
        })
    }

    fn has_communities(&self) -> bool {
        let cache = self.current();
        cache.traversal != Traversal::Cypher && cache.state.counts.hierarchy.communities > 0
    }

    fn excerpt<'a>(&'a self, version: IndexVersion, wanted: Wanted<'a>) -> Excerpting<'a> {
        Box::pin(async move {
            let cache = self.current();
            if cache.version() != version {
                return Err(self.session.error(DatabaseError::Changing { attempts: 1 }));
            }
            let reads_levels = wanted.of_all == OfAll::Levels && cache.traversal != Traversal::Cypher;
            let cache = if reads_levels { self.leveled(&cache).await? } else { cache };
            Ok(Arc::new(self.excerpt_of(cache, &wanted).await?) as Arc<dyn GraphReader>)
        })
    }

    fn paths<'a>(&'a self, [from, to]: [&'a PathEnd; 2], options: PathOptions) -> Option<Asking<'a, PathsFound>> {
        let walks = self.traversal() == Traversal::Cypher;
        walks.then(|| Box::pin(async move { paths(&self.session, from, to, &options).await }) as Asking<'a, PathsFound>)
    }

    fn passages(&self) -> Asking<'_, Vec<PassageId>> {
        Box::pin(async {
            let cache = self.current();
            match cache.traversal {
                Traversal::Cypher => walk::passage_ids(&self.session, cache.version).await,
                Traversal::Auto | Traversal::Memory => Ok(passage_ids(cache.as_ref())),
            }
        })
    }

    fn documents<'a>(&'a self, passages: &'a BTreeSet<PassageId>) -> Asking<'a, Vec<(PassageId, DocumentText)>> {
        Box::pin(async move {
            let cache = self.current();
            match cache.traversal {
                Traversal::Cypher => walk::documents(&self.session, cache.version, passages).await,
                Traversal::Auto | Traversal::Memory => documents(cache.as_ref(), passages),
            }
        })
    }
}

/// The structure alone: as if no passage had a text.
impl GraphReader for GraphCache {
    fn version(&self) -> IndexVersion {
        IndexVersion(self.version.cast_unsigned())
    }

    fn counts(&self) -> Counts {
        self.state.counts
    }

    fn embedder(&self) -> &str {
        &self.state.embedder
    }

    fn graph(&self) -> PassageGraph<'_> {
        self.structure.graph.view()
    }

    fn hierarchy(&self) -> Option<Hierarchy<'_>> {
        self.levels.as_ref().map(|levels| levels.hierarchy.view())
    }

    fn descriptions(&self) -> Option<Descriptions<'_>> {
        self.levels.as_ref()?.descriptions.as_ref().map(PackedDescriptions::view)
    }

    fn resolution(&self) -> Option<Resolution<'_>> {
        self.levels.as_ref().map(|levels| levels.resolution.view())
    }

    fn networks(&self) -> Option<&Networks> {
        // What they are made of depends on what names stand for.
        Some(self.levels.as_ref().map_or(&*self.networks, |levels| &levels.networks))
    }

    fn is_all(&self) -> bool {
        self.traversal != Traversal::Cypher
    }

    fn has(&self, _passage: PassageOrdinal) -> bool {
        false
    }

    fn vectors(&self, _field: VectorField) -> Result<Vectors<'_>> {
        Ok(Vectors { dimension: self.state.dimension, ..Vectors::default() })
    }

    fn postings(&self, _field: TextField, _term: &str, _visit: &mut dyn FnMut(u32, u32)) -> Result<()> {
        Ok(())
    }

    fn frequency(&self, field: TextField, term: &str) -> Result<usize> {
        let (passages, sentences) = self.lexicon.terms.get(term).copied().unwrap_or_default();
        Ok(match field {
            TextField::Passage => passages,
            TextField::Sentence => sentences,
        } as usize)
    }

    fn mean_length(&self, field: TextField) -> f32 {
        let ([passages, sentences], counts) = (self.state.terms, &self.state.counts);
        let (terms, texts) = match field {
            TextField::Passage => (passages, counts.passages),
            TextField::Sentence => (sentences, counts.sentences),
        };
        terms as f32 / texts.max(1) as f32
    }

    fn passage(&self, passage: PassageOrdinal) -> Result<PassageText> {
        Err(Error::Internal(format!("the text of passage {passage} was not fetched")))
    }

    fn passage_id(&self, passage: PassageOrdinal) -> PassageId {
        PassageId::from_bytes(self.key(passage))
    }

    fn document(&self, document: DocumentOrdinal) -> Result<DocumentText> {
        let known = self.structure.documents.get(document.index()).cloned();
        known.ok_or_else(|| Error::Internal(format!("there is no document {document}")))
    }

    fn incoming(&self, question: IncomingOrdinal) -> &str {
        text_at(&self.structure.incoming.ends, &self.structure.incoming.bytes, question)
    }

    fn outgoing(&self, question: OutgoingOrdinal) -> &str {
        text_at(&self.structure.outgoing.ends, &self.structure.outgoing.bytes, question)
    }
}

impl GraphCache {
    fn key(&self, passage: PassageOrdinal) -> Key {
        self.structure.passages[passage.index()].0
    }

    /// Returns what is kept, with the structure of a part.
    fn with(&self, structure: Structure) -> Self {
        Self { structure: Arc::new(structure), networks: Arc::default(), ..self.clone() }
    }

    /// Returns in-coming questions by number, each with its vector; those that are not there are left out.
    fn numbered(&self, questions: Vec<(Key, Key, Vec<f32>)>) -> Vec<(IncomingOrdinal, Vec<f32>)> {
        let graph = self.structure.graph.view();
        let number = |passage: Key, question: Key| {
            let mut own = graph.passage_incoming.of(*self.structure.numbers.get(&passage)?);
            own.find(|it| self.structure.incoming.ids[it.index()] == question)
        };
        let numbered =
            questions.into_iter().filter_map(|(passage, question, vector)| Some((number(passage, question)?, vector)));
        numbered.collect()
    }
}
