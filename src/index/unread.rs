//! Runs that read no file: they add and remove documents by hand, renew vectors or the hierarchy, or repair damage.

use super::options::{HierarchyRefresh, IndexOptions, IndexReport, OtherEmbedder, Sources};
use super::run::{Work, start};
use crate::domain::{Document, DocumentId};
use crate::error::Result;
use crate::skill::Performers;
use crate::workspace::Workspace;

/// Adds documents to an index by hand, one or many, or replaces those of the same ids, and makes a version; what was
/// removed is taken back. They stay until [`remove`] removes them: no run over files and folders does, and a file of
/// the same id is left out. The options by which the index was made stay as they are; a new one is made by `options`.
/// A version is made of the whole index each time, so hand over many documents at once rather than one by one.
///
/// # Errors
///
/// As [`index`](super::index); a document that is left out is no error, but a skip in the report.
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

/// Removes documents by the ids that their sources give them, with everything made from them, and makes a version. A
/// run over files and folders leaves them out from then on, also if their files change, until they are taken back: by
/// [`Workspace::take_back`], or by handing them over with [`Sources::documents`](super::Sources::documents). The
/// options by which the index was made stay as they are.
///
/// # Errors
///
/// As [`index`](super::index); an id that the index does not hold is no error. [`crate::Error::Option`] for a record of
/// a JSON file that has no id of its own: its line, which stands for one, may be another's in the next run.
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

/// Gives an index the embedder of `performers`, from the texts that it holds: no source is read. The version that is
/// there can be read until the new one is whole.
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

/// Finds the communities and layers of the hierarchy anew, if anything changed since they were found; no source is
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

/// Makes good what [`Workspace::check`] finds wrong with an index: what is derived is made anew from the records, and
/// documents that are damaged from their sources, where these are still what they were. The options by which the index
/// was made stay as they are.
///
/// # Errors
///
/// As [`index`](super::index); [`crate::Error::Corrupt`] with what cannot be made good, and the index otherwise
/// repaired.
///
/// # Cancel safety
///
/// As [`index`](super::index).
pub async fn repair(workspace: &mut Workspace, performers: &Performers, options: &IndexOptions) -> Result<IndexReport> {
    let performers = Performers { model: None, ..performers.clone() };
    start(workspace, Work::Repair, &performers, options).await
}
