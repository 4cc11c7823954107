//! Answering from the database: the structure of a version in memory, texts and vectors fetched for each question.
//!
//! What a question compares lies in the database: its full-text and vector indexes say where to enter, the structure
//! says what can be reached from there, and the texts of these passages come in one answer. They make an [`Excerpt`],
//! which strategies read as they read any store. Scores of passages outside of it are 0.

mod entry;
mod excerpt;
mod fetch;
mod load;

use std::sync::{Arc, RwLock};

use tokio::sync::Mutex;

use super::element::Key;
use super::reader::{Reading, version};
use super::session::Session;
use super::state::IndexState;
use super::statement::{Statement, cypher};
use super::target::Target;
use crate::domain::{Counts, DatabaseError, IndexVersion, PassageId};
use crate::error::{Error, Result};
use crate::graph::packed::{PassageGraph, text_at};
use crate::store::{
    DocumentText, Excerpting, GraphReader, GraphSource, PassageText, TextField, VectorField, Vectors, Wanted,
};
use excerpt::Excerpt;
use fetch::Fetcher;
use load::Structure;

/// Values of a vector at most: more than any embedder has.
const DIMENSION_MAX: usize = 1 << 16;

/// The index in a database, to be asked questions. It may be shared by any number of tasks of the runtime that it was
/// opened in.
///
/// The structure of the version is kept in memory. Every question looks whether another version was published, and then
/// reads the structure anew.
pub struct DatabaseGraph {
    session: Session,
    current: Arc<RwLock<Arc<GraphCache>>>,
    /// Held while the structure is read anew.
    reading: Arc<Mutex<()>>,
}

/// The structure of one version in memory, and what was fetched of its texts.
struct GraphCache {
    version: i64,
    state: IndexState,
    structure: Structure,
    fetcher: Fetcher,
}

impl DatabaseGraph {
    /// Connects, and reads the structure of the version that is there.
    ///
    /// # Errors
    ///
    /// [`Error::Database`] if nobody answers, or there is no index or one that cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is changed.
    pub async fn open(target: &Target) -> Result<Self> {
        let session = Session::connect_to_ask(target).await?;
        let cache = load(&session).await?;
        Ok(Self { session, current: Arc::new(RwLock::new(Arc::new(cache))), reading: Arc::default() })
    }

    fn current(&self) -> Arc<GraphCache> {
        // A lock is poisoned by a panic of another thread only, and what it holds is whole.
        Arc::clone(&self.current.read().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Returns whether the database still holds what was read: the same version, published from the same index, since a
    /// database that was emptied counts from 1 again.
    async fn is_current(&self) -> Result<bool> {
        let current = self.current();
        if version(&self.session).await? != current.version {
            return Ok(false);
        }
        let rows = self.session.rows(&Statement::new("read the index", cypher!("read/source"))).await?;
        let source = rows.first().and_then(|row| row.get::<String>("source").ok());
        Ok(source.is_some_and(|source| source == current.state.source))
    }

    /// Returns the structure of the version that the database holds now.
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
        let loaded = tokio::spawn(async move {
            let _reading = reading;
            let cache = Arc::new(load(&session).await?);
            *current.write().unwrap_or_else(std::sync::PoisonError::into_inner) = Arc::clone(&cache);
            Ok(cache)
        });
        loaded.await.map_err(|error| Error::Internal(error.to_string()))?
    }
}

impl DatabaseGraph {
    /// Returns what an error of asking an index means: that it is not there, or is not filled yet, where that is so.
    async fn without_index(&self, error: Error) -> Error {
        if !matches!(&error, Error::Database { source: DatabaseError::Statement { .. }, .. }) {
            return error;
        }
        let online = self.session.rows(&Statement::new("read the schema", cypher!("read/indexes-filled"))).await;
        let Ok(online) = online else { return error };
        let online: Vec<String> = online.iter().filter_map(|row| row.get("name").ok()).collect();
        let missing: Vec<&str> =
            entry::INDEXES.into_iter().filter(|name| !online.iter().any(|it| it == name)).collect();
        if missing.is_empty() {
            return error;
        }
        self.session.error(DatabaseError::Schema { names: missing.join(", ") })
    }
}

async fn load(session: &Session) -> Result<GraphCache> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let reading = Reading::begin(session).await?;
        let (version, found) = (reading.version, read(session, &reading).await);
        if let Some((state, structure)) = reading.end(found, attempt).await? {
            return Ok(GraphCache { version, state, structure, fetcher: Fetcher::new(session.clone()) });
        }
    }
}

async fn read(session: &Session, reading: &Reading<'_>) -> Result<(IndexState, Structure)> {
    let state = IndexState::read(session).await?.ok_or_else(|| session.error(DatabaseError::NoIndex))?;
    if state.dimension > DIMENSION_MAX {
        return Err(session.damaged(format!("its vectors have {} values", state.dimension)));
    }
    let structure = load::load(session, reading, state.counts).await?;
    Ok((state, structure))
}

impl GraphSource for DatabaseGraph {
    fn reader(&self) -> Arc<dyn GraphReader> {
        self.current()
    }

    fn refresh(&self) -> Excerpting<'_> {
        Box::pin(async { Ok(self.refreshed().await? as Arc<dyn GraphReader>) })
    }

    fn excerpt<'a>(&'a self, version: IndexVersion, wanted: Wanted<'a>) -> Excerpting<'a> {
        Box::pin(async move {
            let cache = self.current();
            if cache.version() != version {
                return Err(self.session.error(DatabaseError::Changing { attempts: 1 }));
            }
            let entry = match entry::enter(&self.session, &cache, &wanted).await {
                Err(error) => return Err(self.without_index(error).await),
                Ok(entry) => entry,
            };
            let reached = entry::reach(&cache, &entry, &wanted);
            let fetched = cache.fetcher.fetch(&cache.structure, &reached).await?;
            Ok(Arc::new(Excerpt::new(cache, fetched, &entry.incoming)) as Arc<dyn GraphReader>)
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

    fn vectors(&self, _field: VectorField) -> Vectors<'_> {
        Vectors::default()
    }

    fn postings(&self, _field: TextField, _term: &str, _visit: &mut dyn FnMut(u32, u32)) -> Result<()> {
        Ok(())
    }

    fn frequency(&self, field: TextField, term: &str) -> Result<usize> {
        let (passages, sentences) = self.structure.terms.get(term).copied().unwrap_or_default();
        Ok(match field {
            TextField::Passage => passages,
            TextField::Sentence => sentences,
        } as usize)
    }

    fn passage(&self, passage: u32) -> Result<PassageText> {
        Err(Error::Internal(format!("the text of passage {passage} was not fetched")))
    }

    fn passage_id(&self, passage: u32) -> PassageId {
        PassageId::from_bytes(self.key(passage))
    }

    fn document(&self, document: u32) -> Result<DocumentText> {
        let known = self.structure.documents.get(document as usize).cloned();
        known.ok_or_else(|| Error::Internal(format!("there is no document {document}")))
    }

    fn incoming(&self, question: u32) -> &str {
        text_at(&self.structure.incoming.ends, &self.structure.incoming.bytes, question)
    }

    fn outgoing(&self, question: u32) -> &str {
        text_at(&self.structure.outgoing.ends, &self.structure.outgoing.bytes, question)
    }
}

impl GraphCache {
    fn key(&self, passage: u32) -> Key {
        self.structure.passages[passage as usize].0
    }
}
