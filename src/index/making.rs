//! Makes documents into units and commits these: while one batch is written, the next is made.

use std::mem;

use rayon::prelude::*;

use super::generate;
use super::run::Run;
use super::unit::{Batch, MadeUnit, unit};
use crate::domain::Cancellation;
use crate::error::Result;
use crate::ingest::SourceDocument;
use crate::workspace::{DocumentUnit, Records};

/// Bytes of text that a run still turns into units after a stop: that takes a moment.
const FINISHED_BYTES_MAX: usize = 1 << 20;

impl Run {
    /// Makes the units of documents and commits them.
    pub(super) fn make_all(&mut self, found: Vec<SourceDocument>) -> Result<()> {
        self.making(|run, batch| {
            for source in found {
                batch.push(source);
                if batch.is_full() {
                    run.make(batch)?;
                }
            }
            Ok(())
        })
    }

    /// Has `fill` make batches; makes what is left of the last one. Whatever was made is committed, even if it fails.
    pub(super) fn making<T>(&mut self, fill: impl FnOnce(&mut Self, &mut Batch) -> Result<T>) -> Result<T> {
        let mut batch = Batch::default();
        let filled = fill(self, &mut batch);
        let made = if filled.is_ok() { self.make(&mut batch) } else { Ok(()) };
        let committed = self.commit();
        let filled = filled?;
        made.and(committed).map(|()| filled)
    }

    /// Makes the units of a batch, and meanwhile commits those made before. If documents come slowly, these are
    /// committed, too. After a stop, a small batch is finished; of a large one, the finished units are kept.
    pub(super) fn make(&mut self, batch: &mut Batch) -> Result<()> {
        let is_slow = batch.is_old();
        let Batch { documents: found, bytes, .. } = mem::take(batch);
        let patient = Cancellation::default();
        let cancellation = if bytes <= FINISHED_BYTES_MAX { &patient } else { &self.options.cancellation };
        let fingerprint = self.fingerprint();
        let (embedder, chunk) = (self.embedder.as_ref(), &self.options.chunk);
        let unit_of = |found| unit(found, fingerprint.clone(), embedder, chunk, cancellation);
        let (before, records) = (mem::take(&mut self.made), self.writer.records());
        let (mut made, mut committed) = (Vec::new(), Ok(()));
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| made = found.into_par_iter().map(unit_of).collect());
            committed = commit(records, before);
        });
        let kept = self.keep(made);
        committed?;
        kept?;
        if is_slow { self.commit() } else { Ok(()) }
    }

    /// Keeps what was made for the next commit; if the run was stopped, commits it.
    fn keep(&mut self, made: Vec<Result<MadeUnit>>) -> Result<()> {
        let mut stopped = None;
        for made in made {
            match made {
                Ok(MadeUnit { unit, cut }) => {
                    if let Some(what) = cut {
                        self.shortened.note(&unit.document.uri, &what);
                    }
                    self.made.push(unit);
                }
                Err(error) => stopped = Some(error),
            }
        }
        tracing::debug!(documents = self.made.len(), "units made");
        let Some(stopped) = stopped else { return Ok(()) };
        self.commit()?;
        Err(stopped)
    }

    /// Commits the units that were made, each whole.
    pub(super) fn commit(&mut self) -> Result<()> {
        commit(self.writer.records(), mem::take(&mut self.made))
    }
}

/// Commits units; questions that a model wrote about passages that are still there are kept.
fn commit(records: &mut Records, mut units: Vec<DocumentUnit>) -> Result<()> {
    if units.is_empty() {
        return Ok(());
    }
    let is_written = records.has_written()?;
    for unit in units.iter_mut().filter(|_| is_written) {
        if let Some(old) = records.document_unit(unit.document.id)? {
            generate::keep_written(unit, old);
        }
    }
    records.commit_units(&units)
}
