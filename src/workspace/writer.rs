//! The one writer of a workspace: records to fill, and versions to publish.
//!
//! A version is written to its own folder under a name that no reader opens, synced, renamed, and only then made
//! current by one transaction of the records. The next run removes the leftovers of a killed one.

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use super::fresh_vectors::FreshVectors;
use super::last_version::{HeldTerms, LastVersion};
use super::lock::Lock;
use super::parts::{DocumentPart, PassagePart, QuestionParts};
use super::records::{LastFiles, Records, Seal, StageMarks, VersionRow};
use super::stamp::{Stamp, StampedFile};
use super::text_index::{self, TermsOf};
use super::texts::{self, Texts};
use super::versions::{VersionFile, Versions, make_added};
use super::{
    ADDED_PASSAGE_TERMS, ADDED_SENTENCE_TERMS, DESCRIPTIONS, FRESH_VECTORS, GRAPH, HIERARCHY, MATCHES, NAMES,
    PASSAGE_TERMS, PUBLISHED, RECORDS, RESOLUTION, SEGMENTS, SENTENCE_TERMS, TEXTS, WorkspaceOptions, database,
    graph_file, vectors,
};
use crate::domain::{Cancellation, Counts, IndexVersion};
use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::graph::descriptions::PackedDescriptions;
use crate::graph::duplicates::Bands;
use crate::graph::hierarchy::PackedHierarchy;
use crate::graph::matching::PackedMatches;
use crate::graph::mentions::PackedNameStatistics;
use crate::graph::ordinal::{DocumentOrdinal, PassageOrdinal};
use crate::graph::packed::{PackedGraph, PassageGraph};
use crate::graph::resolution::PackedResolution;
use crate::graph::segments::PackedSegments;
use crate::store::Vectors;

/// The texts of a version, their vectors and their terms. Lists are in the order of their ordinals, which are those of
/// its graph.
pub struct TextParts<'a> {
    /// The documents.
    pub documents: &'a [DocumentPart<'a>],
    /// For each document, the first that it is a near-duplicate of, by number; itself if there is none before it.
    pub originals: &'a [DocumentOrdinal],
    /// By what near-duplicates of each document are found.
    pub bands: &'a [Bands],
    /// For each document, what the records say of it, for the next version; none if that must not go by it.
    pub seals: &'a [Option<Seal>],
    /// The passages, document by document.
    pub passages: &'a [PassagePart<'a>],
    /// The in-coming questions, passage by passage.
    pub incoming: &'a QuestionParts<'a>,
    /// The out-coming questions, passage by passage.
    pub outgoing: &'a QuestionParts<'a>,
    /// The passage of each of these.
    pub outgoing_passages: &'a [PassageOrdinal],
    /// One vector a passage.
    pub passage_vectors: Vectors<'a>,
    /// One vector a sentence.
    pub sentence_vectors: Vectors<'a>,
    /// One vector an in-coming question.
    pub incoming_vectors: Vectors<'a>,
    /// One vector per out-coming question: searches need none, but the next version does.
    pub outgoing_vectors: Vectors<'a>,
    /// The lexical fields.
    pub terms: Terms<'a>,
    /// The version before: vectors that lie in its file may be shared with it.
    pub last: Option<&'a LastVersion>,
}

/// The rest of a version: what is found over its graph, and that, which is written already.
pub struct VersionParts<'a> {
    /// When, as it is to be shown; the caller has the clock.
    pub created_at: &'a str,
    /// The structure.
    pub graph: &'a PackedGraph,
    /// What its names were found by, for the next version.
    pub names: Option<&'a PackedNameStatistics>,
    /// The hierarchy over its entities.
    pub hierarchy: &'a PackedHierarchy,
    /// A model's descriptions of entities and relations, if it was asked.
    pub descriptions: Option<&'a PackedDescriptions>,
    /// The entities of its names.
    pub resolution: &'a PackedResolution,
    /// Passages, sentences and questions that have a vector of zeros until a later version.
    pub without_vectors: u64,
    /// The inputs of each part, by stage: a later version reuses parts with equal inputs.
    pub stages: &'a StageMarks,
}

/// A version whose texts are written, and then its graph.
#[derive(Debug)]
pub struct BegunVersion {
    version: IndexVersion,
    folder: PathBuf,
    files: Vec<StampedFile>,
    sizes: TextSizes,
    /// What the graph that is written holds.
    graph: Option<Counts>,
}

/// How many there are of each.
#[derive(Debug)]
struct TextSizes {
    documents: usize,
    titled: usize,
    passages: usize,
    sentences: usize,
    incoming: usize,
    outgoing: usize,
}

/// Returns the terms of texts, separated by spaces, by their numbers in a field. Each is requested once, in order.
pub trait FieldTerms: Sync {
    /// Appends those of a passage.
    fn passage(&self, passage: usize, terms: &mut String);

    /// Appends those of a sentence.
    fn sentence(&self, sentence: usize, terms: &mut String);
}

/// The lexical fields of a version.
#[derive(Clone, Copy)]
pub enum Terms<'a> {
    /// Of every text.
    Made(&'a dyn FieldTerms),
    /// The fields of an earlier version, plus later changes.
    Changed {
        /// Those of the earlier version.
        earlier: &'a HeldTerms,
        /// The segments.
        segments: &'a PackedSegments,
        /// Those of the second segments.
        added: &'a dyn FieldTerms,
    },
    /// As an earlier version has them.
    TakenOver(&'a HeldTerms),
}

impl TextParts<'_> {
    /// Returns how many there are, if its lists agree.
    fn sizes(&self) -> Result<TextSizes> {
        let sizes = TextSizes {
            documents: self.documents.len(),
            titled: self.documents.iter().filter(|document| document.title.is_some()).count(),
            passages: self.passages.len(),
            sentences: self.passages.iter().map(|passage| passage.sentences.len()).sum(),
            incoming: self.incoming.len(),
            outgoing: self.outgoing.len(),
        };
        expect([
            ("bands", self.bands.len(), sizes.documents),
            ("seals", self.seals.len(), sizes.documents),
            ("originals", self.originals.len(), sizes.documents),
            ("passage_vectors", self.passage_vectors.len(), sizes.passages),
            ("sentence_vectors", self.sentence_vectors.len(), sizes.sentences),
            ("incoming_vectors", self.incoming_vectors.len(), sizes.incoming),
            ("outgoing_passages", self.outgoing_passages.len(), sizes.outgoing),
            ("outgoing_vectors", self.outgoing_vectors.len(), sizes.outgoing),
        ])?;
        Ok(sizes)
    }
}

/// Fails if a part has another size than it must have: a version that does not open must not be published.
fn expect<const N: usize>(sizes: [(&str, usize, usize); N]) -> Result<()> {
    match sizes.into_iter().find(|(_, given, due)| given != due) {
        Some((part, given, due)) => Err(Error::Internal(format!("a version with {given} {part} instead of {due}"))),
        None => Ok(()),
    }
}

impl BegunVersion {
    /// Returns how much of each the version has with these parts.
    fn counts(&self, parts: &VersionParts<'_>) -> Counts {
        Counts {
            titled: self.sizes.titled as u64,
            outgoing: self.sizes.outgoing as u64,
            hierarchy: parts.hierarchy.view().counts(),
            without_vectors: parts.without_vectors,
            ..parts.graph.view().counts()
        }
    }

    /// Writes the graph, and for the next version what its questions are `matched` with, while the hierarchy over the
    /// graph may still be in the making.
    ///
    /// # Errors
    ///
    /// If it is not of these texts or cannot be written, or if one is written already.
    pub fn write_graph(&mut self, graph: &PassageGraph<'_>, matched: Option<&PackedMatches>) -> Result<()> {
        self.check(graph)?;
        if self.graph.replace(graph.counts()).is_some() {
            return Err(Error::Internal("a version with two graphs".to_owned()));
        }
        let TextSizes { incoming, outgoing, .. } = self.sizes;
        self.files.push(file(GRAPH, graph_file::write(&self.folder.join(GRAPH), graph, outgoing)?));
        if let Some(matched) = matched {
            let stamp = graph_file::write_matches(&self.folder.join(MATCHES), matched, incoming, outgoing)?;
            self.files.push(file(MATCHES, stamp));
        }
        Ok(())
    }

    /// Checks that a graph is of these texts.
    fn check(&self, graph: &PassageGraph<'_>) -> Result<()> {
        expect([
            ("documents", self.sizes.documents, graph.document_count()),
            ("passages", self.sizes.passages, graph.passage_count()),
            ("sentences", self.sizes.sentences, graph.sentence_count()),
            ("incoming", self.sizes.incoming, graph.incoming_passage.len()),
        ])
    }
}

/// Which documents a version contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Of all.
    Whole,
    /// Of those that a first run has read so far.
    Partial,
}

/// The right to write a workspace, until it is dropped.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    /// The embedder of the versions to come.
    pin: WorkspaceOptions,
    /// Which documents they contain.
    extent: Extent,
    // Before the lock: the records are closed before another writer may open them.
    records: Records,
    versions: Versions,
    foreign: Vec<PathBuf>,
    cancellation: Cancellation,
    _lock: Lock,
}

impl Writer {
    pub(super) fn new(path: &Path, lock: Lock, records: Records) -> Result<Self> {
        let pin = records.manifest()?.pin();
        let versions = Versions::make(path)?;
        let mut writer = Self {
            path: path.to_owned(),
            pin,
            extent: Extent::Whole,
            records,
            versions,
            foreign: Vec::new(),
            cancellation: Cancellation::default(),
            _lock: lock,
        };
        database::remove_unfinished(&path.join(RECORDS))?;
        writer.clear_leftovers()?;
        Ok(writer)
    }

    /// Allows a request to stop to end the current write, which is then rolled back.
    pub fn stop_by(&mut self, cancellation: &Cancellation) {
        self.cancellation = cancellation.clone();
        self.records.stop_by(cancellation);
    }

    /// Returns the records, to read and to write.
    pub fn records(&mut self) -> &mut Records {
        &mut self.records
    }

    /// Returns the path of the records.
    #[must_use]
    pub fn records_path(&self) -> PathBuf {
        self.path.join(RECORDS)
    }

    /// Returns where a publisher keeps the published state for the next publish.
    #[must_use]
    pub fn published_path(&self) -> PathBuf {
        self.path.join(PUBLISHED)
    }

    /// Returns files among the versions that are not part of an index. They stay.
    #[must_use]
    pub fn foreign(&self) -> &[PathBuf] {
        &self.foreign
    }

    /// Gives the versions to come another embedder. The index changes to it with the first of them and not before.
    pub fn set_embedder(&mut self, pin: WorkspaceOptions) {
        self.pin = pin;
    }

    /// Sets which documents the next versions contain.
    pub fn set_extent(&mut self, extent: Extent) {
        self.extent = extent;
    }

    /// Returns where vectors of the next version are kept until it exists.
    #[must_use]
    pub fn fresh_vectors(&self) -> FreshVectors {
        FreshVectors::new(self.path.join(FRESH_VECTORS), &self.pin)
    }

    /// Begins a version: writes its texts, while its graph may still be in the making.
    ///
    /// # Errors
    ///
    /// If the parts do not belong together or cannot be written.
    pub fn begin_version(&mut self, texts: &TextParts<'_>) -> Result<BegunVersion> {
        let sizes = texts.sizes()?;
        self.clear_leftovers()?;
        let version = self.records.next_version()?;
        let folder = self.versions.begin(version)?;
        let files = write_texts(&folder, self.pin.dimension, (texts, &sizes), &self.cancellation)?;
        Ok(BegunVersion { version, folder, files, sizes, graph: None })
    }

    /// Removes a version that was begun, if that is possible; the next run does it otherwise.
    pub fn discard(&self) {
        if let Err(error) = self.versions.clear_unfinished() {
            tracing::debug!(%error, "an unfinished version stays for now");
        }
    }

    /// Writes the rest of a version whose graph is written, and makes it current; returns its number and its counts.
    ///
    /// Readers of other versions are not disturbed. The previous version is kept only if a reader is opening it.
    ///
    /// # Errors
    ///
    /// If the parts do not belong together or cannot be written, and [`Error::Cancelled`]; then the current version is
    /// the one that was.
    pub fn publish_version(&mut self, begun: BegunVersion, parts: &VersionParts<'_>) -> Result<(IndexVersion, Counts)> {
        if begun.graph != Some(parts.graph.view().counts()) {
            return Err(Error::Internal("a version whose graph is not the one that is written".to_owned()));
        }
        let counts = begun.counts(parts);
        let BegunVersion { version, folder, mut files, .. } = begun;
        files.extend(write_arrays(&folder, parts)?);
        self.cancellation.check()?;
        self.versions.finish(&folder, version)?;
        let row = VersionRow {
            version,
            pin: self.pin.clone(),
            created_at: parts.created_at.to_owned(),
            counts,
            files,
            is_partial: self.extent == Extent::Partial,
            stages: parts.stages.clone(),
        };
        // Whoever opens the last version has it in use until all its files are open.
        let last = self.records.manifest()?.current.and_then(|last| self.versions.claim(last));
        self.records.finish_version(&row, if last.is_some() { LastFiles::Gone } else { LastFiles::Kept })?;
        self.clear_leftovers()?;
        // Its contents are in the version; a leftover file is useless but harmless.
        let _gone = files::remove_own(&self.path.join(FRESH_VECTORS));
        Ok((version, counts))
    }

    /// Removes the folders of unused versions: those that the records do not name.
    fn clear_leftovers(&mut self) -> Result<()> {
        let kept = match self.records.kept_versions() {
            // Without knowing which versions are in use, none that was finished is removed.
            Err(error) if error.kind() == ErrorKind::Corrupt => return self.versions.clear_unfinished(),
            kept => kept?,
        };
        self.foreign = self.versions.clear(&kept)?;
        for path in &self.foreign {
            tracing::warn!(path = %path.display(), "it is not part of an index, and stays");
        }
        Ok(())
    }
}

/// Writes the texts of a version to `folder` and syncs them; returns the stamps of the files.
fn write_texts(
    folder: &Path,
    dimension: usize,
    (parts, sizes): (&TextParts<'_>, &TextSizes),
    stop: &Cancellation,
) -> Result<Vec<StampedFile>> {
    let TextParts { documents, originals, bands, seals, passages, incoming, outgoing, outgoing_passages, .. } = *parts;
    let vectors = [parts.passage_vectors, parts.sentence_vectors, parts.incoming_vectors, parts.outgoing_vectors];
    let texts = Texts { documents, originals, bands, seals, passages, incoming, outgoing, outgoing_passages };
    let (terms, (texts, vectors)) = beside(
        || write_terms(folder, (parts.terms, sizes), stop),
        || {
            beside(
                || texts::write(&folder.join(TEXTS), &texts),
                || vectors::write(folder, dimension, &vectors, parts.last.and_then(LastVersion::vectors_file)),
            )
        },
    );
    let mut files = terms?;
    files.push(file(TEXTS, texts?));
    files.extend(vectors?);
    Ok(files)
}

/// Writes files at the same time, so that the disk is not waited for file after file: the second on a thread of its
/// own, since those of the pool are for work that does not wait.
fn beside<A, B: Send>(one: impl FnOnce() -> A, other: impl FnOnce() -> B + Send) -> (A, B) {
    thread::scope(|scope| {
        let other = scope.spawn(other);
        (one(), other.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

fn file(path: &str, stamp: Stamp) -> StampedFile {
    StampedFile { path: path.to_owned(), stamp, blocks: None }
}

/// Writes the arrays of files that are over the graph.
fn write_arrays(folder: &Path, parts: &VersionParts<'_>) -> Result<Vec<StampedFile>> {
    let mut files = vec![
        file(HIERARCHY, graph_file::write_hierarchy(&folder.join(HIERARCHY), parts.hierarchy, parts.graph)?),
        file(RESOLUTION, graph_file::write_resolution(&folder.join(RESOLUTION), parts.resolution, parts.graph)?),
    ];
    if let Some(names) = parts.names {
        files.push(file(NAMES, graph_file::write_names(&folder.join(NAMES), names, parts.graph)?));
    }
    if let Some(descriptions) = parts.descriptions {
        let path = folder.join(DESCRIPTIONS);
        files.push(file(
            DESCRIPTIONS,
            graph_file::write_descriptions(&path, descriptions, parts.graph, parts.hierarchy)?,
        ));
    }
    Ok(files)
}

/// Gives a file the user's default permissions: the text index creates some through temporary files, which only the
/// user can read.
fn share(path: &Path) -> Result<()> {
    if path.extension().is_none_or(|extension| extension != "json") {
        return Ok(());
    }
    let bytes = files::read(path)?;
    files::remove_own(path)?;
    files::write_own(path, bytes)
}

/// Writes the lexical fields.
fn write_terms(
    folder: &Path,
    (terms, sizes): (Terms<'_>, &TextSizes),
    stop: &Cancellation,
) -> Result<Vec<StampedFile>> {
    let write = |names: [&str; 2], counts: [usize; 2], terms: &dyn FieldTerms| {
        let write = |field: usize, of: &TermsOf<'_>| write_field(folder, names[field], counts[field], of, stop);
        let (passages, sentences) = beside(
            || write(0, &|passage, text| terms.passage(passage, text)),
            || write(1, &|sentence, text| terms.sentence(sentence, text)),
        );
        Ok([passages?, sentences?].concat())
    };
    match terms {
        Terms::Made(terms) => write([PASSAGE_TERMS, SENTENCE_TERMS], [sizes.passages, sizes.sentences], terms),
        Terms::Changed { earlier, segments, added } => {
            make_added(folder)?;
            let mut files = earlier.copy_first_to(folder, stop)?;
            let counts = [segments.passage_second.len(), segments.sentence_second.len()];
            files.extend(write([ADDED_PASSAGE_TERMS, ADDED_SENTENCE_TERMS], counts, added)?);
            let counts = (sizes.passages, sizes.sentences);
            let stamp = graph_file::write_segments(&folder.join(SEGMENTS), segments, counts)?;
            files.push(StampedFile { path: SEGMENTS.to_owned(), stamp, blocks: None });
            Ok(files)
        }
        Terms::TakenOver(held) => held.copy_to(folder, stop),
    }
}

/// Writes one lexical field into a folder of its own.
fn write_field(
    folder: &Path,
    name: &str,
    count: usize,
    terms: &TermsOf<'_>,
    stop: &Cancellation,
) -> Result<Vec<StampedFile>> {
    let inner = folder.join(name);
    text_index::write(&inner, count, terms, stop)?;
    let mut files = Vec::new();
    for (path, _) in files::entries_of_own(&inner)? {
        share(&path)?;
        files::sync(&path)?;
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        let path_in_version = format!("{name}/{file_name}");
        // Only files that a reader accepts as part of a version are recorded.
        if VersionFile::parse(&path_in_version).is_none() {
            return Err(Error::Internal(format!("the text index wrote `{path_in_version}`")));
        }
        files.push(StampedFile { path: path_in_version, stamp: Stamp::of(&path)?, blocks: None });
    }
    Ok(files)
}
