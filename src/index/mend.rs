//! Repairs damaged records from the sources. What cannot be rebuilt is reported, and nothing else is touched.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use super::clone;
use super::options::Sources;
use super::run::Run;
use super::unit::unit_name;
use crate::chunk::{PASSAGE_TOKENS_MIN, PassageUnit as PassageUnitKind};
use crate::domain::DocumentId;
use crate::error::{Error, Result};
use crate::ingest::{SourceDocument, SourceItem};
use crate::workspace::DamagedUnit;

/// Documents that are named.
const SHOWN_MAX: usize = 3;

/// Sources from which documents can be rebuilt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// The current text of a source, as a run reads it.
    AsItIs,
    /// The text of a source, if it is unchanged.
    Unchanged,
}

/// The result of repairs.
#[derive(Debug, Default)]
pub(super) struct Mended {
    /// Documents that were rebuilt.
    pub(super) made: Vec<String>,
    /// Documents that stay damaged.
    pub(super) left: Vec<String>,
    /// Damaged records that were dropped.
    pub(super) notes: Vec<String>,
    /// Whether anything was done.
    pub(super) is_changed: bool,
}

impl Run {
    /// Rebuilds damaged records from `sources`; returns the result, or none if no repair is possible.
    pub(super) fn mend(&mut self, sources: &[Sources], trust: Trust) -> Result<Option<Mended>> {
        let records = self.writer.records();
        // Without it, the correct state of the rest is unknown.
        records.manifest()?;
        let has_faults = !records.database_faults().is_empty();
        if has_faults && !records.remake_indexes() {
            return Ok(None);
        }
        let notes = records.forget_damaged()?;
        let mut mended = Mended { is_changed: has_faults || !notes.is_empty(), notes, ..Mended::default() };
        let survey = records.survey();
        let mut found = self.find(sources, &survey.documents, trust)?;
        let (mut remade, mut batch) = (Vec::new(), Vec::new());
        for damaged in survey.documents {
            match found.remove(&damaged.id) {
                Some(source) => {
                    mended.made.push(damaged.name.clone());
                    batch.push(source);
                    remade.push(damaged);
                }
                None => mended.left.push(damaged.name),
            }
        }
        // An orphaned row may belong to a document that is left, and stays with it.
        let has_strays = mended.left.is_empty() && !survey.strays.is_empty();
        if remade.is_empty() && !has_strays {
            return Ok(Some(mended));
        }
        mended.is_changed = true;
        self.writer.records().remove_damaged(&remade)?;
        if has_strays || (mended.left.is_empty() && !remade.is_empty()) {
            self.writer.records().remove_strays()?;
        }
        self.make_all(batch)?;
        Ok(Some(mended))
    }

    /// Returns the sources of the documents in the index that still exist.
    pub(super) fn remembered_sources(&mut self) -> Result<Vec<Sources>> {
        let documents = self.writer.records().documents()?;
        let roots: BTreeSet<String> = documents.into_iter().map(|it| it.root.to_string()).collect();
        let is_there = |root: &String| !root.is_empty() && Path::new(root).exists();
        Ok(roots.into_iter().filter(is_there).map(|root| Sources::Paths(vec![root.into()])).collect())
    }

    /// Takes over the options that the index was made with, if it was made.
    pub(super) fn keep_settings(&mut self) -> Result<()> {
        let Some(settings) = self.writer.records().manifest()?.chunking else { return Ok(()) };
        self.options.matching.quota = clone::quota(&settings);
        self.options.hierarchy = clone::hierarchy(&settings);
        if let Some((unit, pieces)) = chunking(&settings) {
            (self.options.chunk.unit, self.options.chunk.passage_pieces_max) = (unit, pieces);
        }
        Ok(())
    }

    /// Returns the error of records whose database is damaged itself.
    pub(super) fn beyond_repair(&mut self) -> Error {
        let faults = self.writer.records().database_faults();
        let reason = faults.into_iter().next().unwrap_or_else(|| "it cannot be written".to_owned());
        Error::Corrupt { path: self.writer.records_path(), reason }
    }

    pub(super) fn left(&self, mended: &Mended) -> Option<Error> {
        left(mended, self.writer.records_path())
    }

    /// Returns the damaged documents that sources can restore.
    fn find(
        &mut self,
        sources: &[Sources],
        damaged: &[DamagedUnit],
        trust: Trust,
    ) -> Result<FxHashMap<DocumentId, SourceDocument>> {
        let wanted: FxHashMap<DocumentId, Option<[u8; 32]>> = damaged.iter().map(|it| (it.id, it.content)).collect();
        let mut found = FxHashMap::default();
        if wanted.is_empty() {
            return Ok(found);
        }
        let (ingest, cancellation) = (self.options.ingest.clone(), self.options.cancellation.clone());
        for sources in sources {
            sources.visit(&ingest, &mut |item| {
                if cancellation.is_cancelled() {
                    return Err(Error::Cancelled);
                }
                let SourceItem::Document(source) = item else { return Ok(()) };
                // The text of a lost document is unknown, and an index from somebody else may name any file as its
                // source.
                let is_it = |known: &Option<[u8; 32]>| trust == Trust::AsItIs || *known == Some(source.content);
                if wanted.get(&source.document.id).is_some_and(is_it) {
                    // The first of an id counts, as in every run.
                    found.entry(source.document.id).or_insert(source);
                }
                Ok(())
            })?;
        }
        Ok(found)
    }
}

/// Returns what passages are cut by, as a fingerprint says it.
fn chunking(settings: &str) -> Option<(PassageUnitKind, usize)> {
    let (unit, pieces) = settings.split(", ").nth(1)?.split_once(' ')?;
    let unit = [PassageUnitKind::Structure, PassageUnitKind::Sentence].into_iter().find(|it| unit_name(*it) == unit)?;
    Some((unit, pieces.parse().ok().map(|pieces: usize| pieces.max(PASSAGE_TOKENS_MIN))?))
}

/// Says which documents were damaged and are rebuilt.
pub(super) fn warning(mended: &Mended) -> Option<String> {
    let documents = listed(&mended.made)?;
    Some(format!("{documents} damaged in the records and rebuilt from the source"))
}

/// Returns the error of documents that are damaged and that no source at hand has.
fn left(mended: &Mended, path: PathBuf) -> Option<Error> {
    let documents = listed(&mended.left)?;
    let reason = format!("{documents} damaged, and no source in this run has its text");
    Some(Error::Corrupt { path, reason })
}

fn listed(names: &[String]) -> Option<String> {
    let distinct: FxHashSet<&str> = names.iter().map(String::as_str).collect();
    let mut shown: Vec<&str> = distinct.into_iter().collect();
    shown.sort_unstable();
    let (count, verb) = (names.len(), if names.len() == 1 { "document was" } else { "documents were" });
    let more = count.saturating_sub(SHOWN_MAX);
    shown.truncate(SHOWN_MAX);
    let names = shown.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
    let names = if more > 0 { format!("{names} and {more} more") } else { names };
    (count > 0).then(|| format!("{names}: {count} {verb}"))
}
