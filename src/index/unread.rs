//! Runs that read no file: they add and remove documents by hand, renew vectors or the hierarchy, or repair damage.

use super::options::{HierarchyRefresh, IndexOptions, IndexReport, OtherEmbedder, Sources};
use super::run::{Work, start};
use crate::domain::{Document, DocumentId};
use crate::error::Result;
use crate::skill::Performers;
use crate::workspace::Workspace;

/// Adds documents to an index by hand, one or many, or replaces those with the same ids, and makes a version; removals
/// of these are undone. They stay until [`remove`] removes them: no run over files and folders does, and a file of the
/// same id is left out. An existing index keeps its options; a new one is made with `options`. Each call makes a
/// version of the whole index, so pass many documents at once rather than one by one.
///
/// # Errors
///
/// As [`index`](super::index); a document that is left out is not an error, but a skip in the report.
///
/// # Cancel safety
///
/// As [`index`](super::index).
pub async fn add(
    workspace: &mut Workspace,
    documents: impl IntoIterator<Item = Document>,
    performers: &Performers,
    options: &IndexOptions,
) -> Result<IndexReport> {
    start(workspace, Work::Add(Sources::documents(documents)), performers, options).await
}

/// Removes documents by the ids of their sources, with everything made from them, and makes a version. Runs over files
/// and folders leave them out from then on, even if their files change, until the removal is undone by
/// [`Workspace::take_back`] or by adding them with [`Sources::documents`](super::Sources::documents). The index keeps
/// its options.
///
/// # Errors
///
/// As [`index`](super::index); an unknown id is not an error. [`crate::Error::Option`] for a record of a JSON file
/// without an id: another record may be on its line in the next run.
///
/// # Cancel safety
///
/// As [`index`](super::index).
pub async fn remove(
    workspace: &mut Workspace,
    source_ids: &[&str],
    performers: &Performers,
    options: &IndexOptions,
) -> Result<IndexReport> {
    let ids = source_ids.iter().map(|id| DocumentId::of(&[id.as_bytes()])).collect();
    start(workspace, Work::Remove(ids), performers, options).await
}

/// Switches an index to the embedder of `performers`, from its own texts: no source is read. The current version can be
/// read until the new one is complete.
///
/// # Errors
///
/// As [`index`](super::index); [`crate::Error::NoIndex`] for an index without documents.
///
/// # Cancel safety
///
/// As [`index`](super::index).
pub async fn re_embed(
    workspace: &mut Workspace,
    performers: &Performers,
    options: &IndexOptions,
) -> Result<IndexReport> {
    let options = IndexOptions { other_embedder: OtherEmbedder::ReEmbed, ..options.clone() };
    start(workspace, Work::Renew, performers, &options).await
}

/// Finds the communities and layers of the hierarchy again, if anything changed since they were found; no source is
/// read. The options by which the index was made stay as they are.
///
/// # Errors
///
/// As [`index`](super::index); [`crate::Error::NoIndex`] for an index without documents.
///
/// # Cancel safety
///
/// As [`index`](super::index).
pub async fn refresh_hierarchy(
    workspace: &mut Workspace,
    performers: &Performers,
    options: &IndexOptions,
) -> Result<IndexReport> {
    let options = IndexOptions { hierarchy_refresh: HierarchyRefresh::Now, ..options.clone() };
    let performers = Performers { model: None, ..performers.clone() };
    start(workspace, Work::Refresh, &performers, &options).await
}

/// Repairs the faults that [`Workspace::check`] finds in an index: derived parts are rebuilt from the records, and
/// damaged documents from their sources, if these are unchanged. The index keeps its options.
///
/// # Errors
///
/// As [`index`](super::index); [`crate::Error::Corrupt`] with what cannot be repaired, and the index otherwise
/// repaired.
///
/// # Cancel safety
///
/// As [`index`](super::index).
pub async fn repair(workspace: &mut Workspace, performers: &Performers, options: &IndexOptions) -> Result<IndexReport> {
    let performers = Performers { model: None, ..performers.clone() };
    start(workspace, Work::Repair, &performers, options).await
}
