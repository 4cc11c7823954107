//! Turns documents into units, and fingerprints what passages and questions depend on.

use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::warnings;
use crate::chunk::{self, ChunkOptions, PassageUnit as PassageUnitKind};
use crate::domain::{Cancellation, Passage};
use crate::embed::Embedder;
use crate::error::Result;
use crate::ingest::SourceDocument;
use crate::skill::RuleQuestions;
use crate::workspace::{DocumentUnit, PassageUnit};

/// Version of the rules that make passages and questions: raised when they make others of the same text.
const RULES: u32 = 7;
/// Documents that are worked on together.
const BATCH_DOCUMENTS: usize = 2_048;
/// Approximate bytes of text that are processed together.
const BATCH_BYTES: usize = 4 << 20;
/// How long documents wait for others: these may be slow to read.
const BATCH_TIME: Duration = Duration::from_secs(5);

/// Returns what the passages and questions of a document depend on besides its content.
pub(super) fn fingerprint(chunk: &ChunkOptions, embedder: &dyn Embedder) -> String {
    let unit = unit_name(chunk.unit);
    format!("rules {RULES}, {unit} {}, {}", chunk.passage_pieces_max, embedder.name())
}

pub(super) const fn unit_name(unit: PassageUnitKind) -> &'static str {
    match unit {
        PassageUnitKind::Structure => "structure",
        PassageUnitKind::Sentence => "sentence",
    }
}

/// A unit, and what limits left out of it.
pub(super) struct MadeUnit {
    pub(super) unit: DocumentUnit,
    pub(super) cut: Option<String>,
}

/// Makes the unit of a document: its passages, and the questions that they answer and raise.
pub(super) fn unit(
    found: SourceDocument,
    fingerprint: String,
    embedder: &dyn Embedder,
    options: &ChunkOptions,
    cancellation: &Cancellation,
) -> Result<MadeUnit> {
    let SourceDocument { root, document, content } = found;
    let division = chunk::divide(&document, options, &|text| embedder.piece_count(text), cancellation)?;
    let rules = RuleQuestions::of(&document, division.passages.len());
    let with_questions = |passage: Passage| {
        cancellation.check()?;
        Ok(PassageUnit { questions: rules.of_passage(&passage), passage, writer: None, extracted: None })
    };
    // There may be only one document.
    let passages: Vec<PassageUnit> = division.passages.into_par_iter().map(with_questions).collect::<Result<_>>()?;
    let cut = warnings::of_cuts(&division.cuts, rules.are_cut());
    Ok(MadeUnit { unit: DocumentUnit { root, content, fingerprint, document, passages }, cut })
}

/// Documents that wait to be made into units together.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) documents: Vec<SourceDocument>,
    pub(super) bytes: usize,
    /// When the first one came.
    began: Option<Instant>,
}

impl Batch {
    pub(super) fn push(&mut self, found: SourceDocument) {
        self.bytes += found.document.text.len();
        self.documents.push(found);
        self.began.get_or_insert_with(Instant::now);
    }

    pub(super) fn is_full(&self) -> bool {
        self.documents.len() >= BATCH_DOCUMENTS || self.bytes >= BATCH_BYTES || self.is_old()
    }

    /// Returns whether its documents have waited long enough for others.
    pub(super) fn is_old(&self) -> bool {
        self.began.is_some_and(|began| began.elapsed() >= BATCH_TIME)
    }
}
