//! The place of a passage: its order, and the key by which the database finds it.

use neo4rs::{BoltType, Row};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::cache::{key, ordinal};
use super::super::element::{Key, short};
use super::super::session::Session;
use super::super::statement::{Statement, cypher};
use super::ids;
use crate::error::Result;

/// The place of a passage. Places have the order of the passages of an index.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    /// The id that its source gives its document.
    pub(super) source_id: String,
    pub(super) document: Key,
    pub(super) ordinal: u32,
    pub(super) key: Key,
    pub(super) since: i64,
}

impl Place {
    /// Parses the place in a row; none if incomplete.
    pub(super) fn read(row: &Row) -> Option<Self> {
        Some(Self {
            source_id: row.get("source").ok()?,
            document: key(row, "document")?,
            ordinal: ordinal(row)?,
            key: key(row, "id")?,
            since: row.get("since").ok()?,
        })
    }
}

/// Returns the places of passages that are in `version`, and maybe of others.
pub(super) async fn of(session: &Session, version: i64, keys: &FxHashSet<Key>) -> Result<FxHashMap<Key, Place>> {
    let places = read(session, version, cypher!("walk/places"), short(keys)).await?;
    Ok(places.into_iter().map(|place| (place.key, place)).collect())
}

/// Returns the places of all passages of documents.
pub(super) async fn of_documents(session: &Session, version: i64, keys: &FxHashSet<Key>) -> Result<Vec<Place>> {
    read(session, version, cypher!("walk/places-of-documents"), ids(keys)).await
}

async fn read(session: &Session, version: i64, text: &'static str, ids: BoltType) -> Result<Vec<Place>> {
    let statement = Statement::new("find passages", text).with("version", version).with("ids", ids);
    let rows = session.rows(&statement).await?;
    let damaged = || session.damaged("a passage has not all that it should");
    rows.iter().map(|row| Place::read(row).ok_or_else(damaged)).collect()
}
