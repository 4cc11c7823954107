//! Documents that a program adds and removes together.

use std::collections::BTreeMap;

use super::options::{IndexOptions, IndexReport, Sources};
use super::run::{Work, start};
use crate::domain::{Document, DocumentId};
use crate::error::Result;
use crate::skill::Performers;
use crate::workspace::Workspace;

/// Documents to add and to remove by hand that make one version: what [`add`](super::add) and [`remove`](super::remove)
/// do, at the cost of one call. The last call about an id counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DocumentBatch {
    /// By id: the document to add, or none to remove it.
    changes: BTreeMap<DocumentId, Option<Document>>,
}

impl DocumentBatch {
    /// Returns a batch without documents.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a document, or replaces the one with its id.
    pub fn add(&mut self, document: Document) {
        // One with the id of another source is left out by the run, and must not take the place of that one here.
        self.changes.insert(DocumentId::of(&[document.source_id.as_bytes()]), Some(document));
    }

    /// Removes a document by the id of its source; an unknown id is not an error.
    pub fn remove(&mut self, source_id: &str) {
        self.changes.insert(DocumentId::of(&[source_id.as_bytes()]), None);
    }

    /// Returns how many documents it adds or removes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Returns whether it changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Applies all changes and makes a version. The batch stays as it is, so that it can be committed again after an
    /// error; its documents are copied.
    ///
    /// # Errors
    ///
    /// As [`add`](super::add) and [`remove`](super::remove).
    ///
    /// # Cancel safety
    ///
    /// As [`index`](super::index).
    pub async fn commit(
        &self,
        workspace: &mut Workspace,
        performers: &Performers,
        options: &IndexOptions,
    ) -> Result<IndexReport> {
        let added = Sources::documents(self.changes.values().flatten().cloned());
        let gone = |(id, document): (&DocumentId, &Option<Document>)| document.is_none().then_some(*id);
        let removed: Vec<DocumentId> = self.changes.iter().filter_map(gone).collect();
        let work = match removed.len() {
            0 => Work::Add(added),
            removals if removals == self.len() => Work::Remove(removed),
            _ => Work::AddAndRemove(added, removed),
        };
        start(workspace, work, performers, options).await
    }
}
