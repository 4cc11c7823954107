//! Clones a database into a workspace: its units are committed unchanged, a version is built from them, and no text
//! that has a vector is embedded again.

use std::path::Path;
use std::sync::Arc;

use tokio::runtime::Handle;

use super::options::IndexOptions;
use super::run::HIERARCHY;
use super::stages::known::Earlier;
use super::stages::vectors::{CorpusVectors, WhenSpent};
use super::version::{self, Past};
use crate::domain::IndexVersion;
use crate::embed::{Embedder, Embeddings, NoEmbedder, StaticTable};
use crate::error::{Error, Result};
use crate::graph::hierarchy::HierarchyPreset;
use crate::graph::matching::{EDGES_MAX, EdgeQuota, MatchOptions};
use crate::graph::vectors::QuantizedVectors;
use crate::neo4j::{Download, Kept, Session, download};
use crate::skill::Performers;
use crate::workspace::{DocumentUnit, Records, StoredReport, Workspace, WrittenReport};

/// Units that are committed together.
const BATCH_UNITS: usize = 256;

/// Creates a workspace in the folder `path` from a database, and returns it with its version.
///
/// # Errors
///
/// [`Error::Database`] if the database cannot be read; [`Error::Option`] if the folder has a finished index;
/// [`Error::Busy`] while another process writes there.
///
/// # Cancel safety
///
/// Once all is read, making the workspace continues when the future is dropped. Killed at any moment, the same call
/// begins again.
pub async fn clone(session: &Session, path: &Path) -> Result<(Workspace, IndexVersion)> {
    let found = download(session).await?;
    let workspace = Workspace::open_or_create(path, &found.pin)?;
    if workspace.status()?.version.is_some() {
        return Err(Error::Option {
            option: "folder for a clone",
            value: path.display().to_string(),
            reason: "it has an index already".to_owned(),
        });
    }
    let (filled, handle) = (workspace.clone(), Handle::current());
    let fill = move || fill(&filled, &found, &handle);
    let version = tokio::task::spawn_blocking(fill).await.map_err(|error| Error::Internal(error.to_string()))??;
    Ok((workspace, version))
}

fn fill(workspace: &Workspace, found: &Download, handle: &Handle) -> Result<IndexVersion> {
    let mut writer = workspace.writer()?;
    // The same collection, so it can be published back to its source.
    if let Some(collection) = found.collection {
        writer.records().set_collection(collection)?;
    }
    // Leftovers of an earlier attempt may be of an older version.
    let stored: Vec<_> = writer.records().documents()?.into_iter().map(|it| it.id).collect();
    writer.records().remove_documents(&stored)?;
    for units in found.units.chunks(BATCH_UNITS) {
        writer.records().commit_units(units)?;
    }
    keep(writer.records(), &found.kept)?;
    let (embedder, earlier): (Arc<dyn Embedder>, Earlier) = match found.pin.embedder.as_str() {
        // They cost less than reading the kept ones.
        StaticTable::NAME => (Performers::built_in().embedder, Earlier::None),
        NoEmbedder::NAME => (Performers::without_embedder().embedder, Earlier::None),
        _ => {
            let vectors = unpack(&found.units, &found.vectors, found.pin.dimension);
            let absent = Absent { name: found.pin.embedder.clone(), dimension: found.pin.dimension };
            (Arc::new(absent), Earlier::Kept(Box::new(vectors.ok_or_else(vectors_missing)?)))
        }
    };
    let matching = MatchOptions { quota: quota(&found.settings), ..MatchOptions::default() };
    let options = IndexOptions { matching, hierarchy: hierarchy(&found.settings), ..IndexOptions::default() };
    let past = Past { earlier, last: None };
    let built = version::build(&mut writer, embedder.as_ref(), (&past, WhenSpent::Fail), (&options, None), handle)?;
    writer.records().set_chunking(&found.settings)?;
    Ok(built.version)
}

/// Keeps records that belong to no unit.
fn keep(records: &mut Records, kept: &Kept) -> Result<()> {
    for of_writer in kept.reports.chunk_by(|a, b| (a.stage(), &a.writer) == (b.stage(), &b.writer)) {
        let written = |it: &StoredReport| {
            let StoredReport { about, content, report, .. } = it.clone();
            WrittenReport { about, content, report: Ok(report) }
        };
        let (stage, writer) = (of_writer[0].stage(), &of_writer[0].writer);
        records.write_reports(stage, &of_writer.iter().map(written).collect::<Vec<_>>(), writer)?;
    }
    kept.types.iter().try_for_each(|types| records.set_proposed_types(types))?;
    records.add_name_pairs(&kept.pairs)?;
    records.add_removed(&kept.removed)
}

fn vectors_missing() -> Error {
    Error::Internal("the vectors of a unit are not those of its texts".to_owned())
}

/// Returns the edges that questions may give, as the settings of an index say it.
pub(super) fn quota(settings: &str) -> EdgeQuota {
    let number = |name: &str| {
        let (_, after) = settings.split_once(name)?;
        after.trim_start().split(|it: char| !it.is_ascii_digit()).next()?.parse().ok()
    };
    match (number("within:"), number("across:")) {
        (Some(within), Some(across)) => {
            EdgeQuota::Split { within: EDGES_MAX.min(within), across: EDGES_MAX.min(across) }
        }
        _ => EdgeQuota::Best,
    }
}

/// Returns how the hierarchy is made, as the settings of an index say it; those of an earlier program say nothing.
pub(super) fn hierarchy(settings: &str) -> HierarchyPreset {
    let mut parts = settings.rsplit("; ");
    let name = parts.nth(1).and_then(|part| part.strip_prefix(HIERARCHY));
    name.and_then(HierarchyPreset::of_name).unwrap_or_default()
}

/// Returns the vectors of a corpus in the order of its ordinals; none if they do not match its texts.
fn unpack(units: &[DocumentUnit], kept: &[Vec<u8>], dimension: usize) -> Option<CorpusVectors> {
    let new = || QuantizedVectors::new(dimension);
    let mut all = CorpusVectors { passages: new(), sentences: new(), incoming: new(), outgoing: new() };
    for (unit, bytes) in units.iter().zip(kept).filter(|(unit, _)| !unit.passages.is_empty()) {
        let sentences = unit.passages.iter().map(|it| it.passage.sentences.len()).sum();
        let questions = unit.passages.iter().flat_map(|it| &it.questions);
        let incoming = questions.filter(|it| it.kind == crate::domain::QuestionKind::Incoming).count();
        let mut rows = bytes.chunks_exact(dimension + 4);
        let fields =
            [(&mut all.passages, unit.passages.len()), (&mut all.sentences, sentences), (&mut all.incoming, incoming)];
        for (field, count) in fields {
            for _ in 0..count {
                field.push_bytes(rows.next()?);
            }
        }
        rows.by_ref().for_each(|row| all.outgoing.push_bytes(row));
        if !rows.remainder().is_empty() {
            return None;
        }
    }
    Some(all)
}

/// The embedder of a clone, which has nothing to embed: its model need not be at hand.
struct Absent {
    name: String,
    dimension: usize,
}

impl Embedder for Absent {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn piece_count(&self, _text: &str) -> usize {
        0
    }

    fn pieces_max(&self) -> usize {
        usize::MAX
    }

    fn is_costly(&self) -> bool {
        true
    }

    fn embed<'a>(&'a self, _texts: &'a [&'a str]) -> Embeddings<'a> {
        Box::pin(async { Err(Error::ModelGone { embedder: self.name.clone() }) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preset_of_the_hierarchy_is_that_of_the_settings() {
        for preset in HierarchyPreset::ALL {
            let settings = format!("rules 2, structure 256, x; y; {HIERARCHY}{}; names 2", preset.name());
            assert_eq!(hierarchy(&settings), preset);
        }
        // From an earlier program, and with an embedder of such a name.
        for settings in ["", "rules 2, structure 256, x; y; names 2", "x; hierarchy by paper; y; z; names 2"] {
            assert_eq!(hierarchy(settings), HierarchyPreset::Usual);
        }
    }

    #[test]
    fn the_edges_of_questions_are_those_of_the_settings() {
        for quota in [EdgeQuota::Best, EdgeQuota::Split { within: 1, across: 12 }] {
            let options = MatchOptions { quota, ..MatchOptions::default() };
            assert_eq!(self::quota(&format!("rules 2, structure 256, x; {options:?}")), quota);
        }
    }
}
