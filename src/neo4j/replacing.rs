//! Refuses to replace another index, before anything is written.

use neo4rs::Row;
use rustc_hash::FxHashSet;

use super::element::{Key, unhex};
use super::session::Session;
use super::state::IndexState;
use super::statement::{Statement, cypher};
use crate::domain::{CollectionId, DatabaseError};
use crate::error::Result;

/// What to do if the database has an index of another collection, or one that would lose more than half of its
/// documents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OtherIndex {
    /// Refuse.
    #[default]
    Refuse,
    /// Replace it.
    Replace,
}

/// An index: its collection, if known, and its documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Side<C> {
    pub(super) collection: C,
    pub(super) documents: FxHashSet<Key>,
}

/// Returns why `given` must not replace the existing index, if so.
pub(super) fn refusal(held: &Side<Option<CollectionId>>, given: &Side<CollectionId>) -> Option<DatabaseError> {
    let gone = held.documents.difference(&given.documents).count();
    let is_other = held.collection.is_some_and(|it| it != given.collection);
    let is_refused = !held.documents.is_empty() && (is_other || 2 * gone > held.documents.len());
    is_refused.then_some(DatabaseError::OtherIndex {
        documents: held.documents.len() as u64,
        gone: gone as u64,
        held: held.collection,
        given_documents: given.documents.len() as u64,
        given: given.collection,
    })
}

/// Returns the documents of the version of `state`, in whichever format.
pub(super) async fn held(session: &Session, state: &IndexState) -> Result<Side<Option<CollectionId>>> {
    let mut documents = FxHashSet::default();
    let mut visit = |row: &Row| {
        documents.extend(row.get::<String>("id").ok().as_deref().and_then(unhex));
        Ok(())
    };
    let statement = Statement::new("read the documents", cypher!("read/documents-there"));
    session.for_each_row(&statement.with("version", state.version), &mut visit).await?;
    Ok(Side { collection: state.collection, documents })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(numbers: std::ops::Range<u16>) -> FxHashSet<Key> {
        let key = |number: u16| {
            let mut key = [0; 16];
            key[..2].copy_from_slice(&number.to_le_bytes());
            key
        };
        numbers.map(key).collect()
    }

    /// Returns how many documents would be lost, if the replacement is refused.
    fn gone(held: (Option<u8>, u16), given: (u8, std::ops::Range<u16>)) -> Option<u64> {
        let collection = |it: u8| CollectionId::of(&[&[it]]);
        let held = Side { collection: held.0.map(collection), documents: documents(0..held.1) };
        let given = Side { collection: collection(given.0), documents: documents(given.1) };
        match refusal(&held, &given)? {
            DatabaseError::OtherIndex { gone, .. } => Some(gone),
            error => panic!("{error}"),
        }
    }

    #[test]
    fn more_than_half_of_the_documents_are_not_removed_silently() {
        // Three existing documents in place of eight hundred.
        assert_eq!(gone((Some(1), 800), (1, 0..3)), Some(797));
        assert_eq!(gone((None, 800), (1, 0..3)), Some(797));
        assert_eq!(gone((None, 2), (1, 5..9)), Some(2));
        // None at all.
        assert_eq!(gone((Some(1), 4), (1, 0..0)), Some(4));
        // Half of them, and less.
        assert_eq!(gone((Some(1), 4), (1, 2..9)), None);
        assert_eq!(gone((None, 4), (1, 1..4)), None);
    }

    #[test]
    fn another_collection_is_refused_though_it_has_the_same_documents() {
        assert_eq!(gone((Some(1), 4), (2, 0..9)), Some(0));
        assert_eq!(gone((Some(1), 4), (1, 0..9)), None);
        // If there is nothing, nothing is lost.
        assert_eq!(gone((Some(1), 0), (2, 0..3)), None);
    }
}
