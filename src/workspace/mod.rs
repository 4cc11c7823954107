//! A folder that is an index. Its records are the system of record; next to them are the files of its versions, which
//! are derived from the records, immutable, and replaced as a whole.
//!
//! ```text
//! DIR/cairn.db             records (SQLite)
//! DIR/lock                 held by the one writer
//! DIR/replies.db           replies of language models that were paid for; only where one was asked
//! DIR/vectors.part         vectors of a version that is not written yet; only while it is made, or was broken off
//! DIR/versions/7/          files of version 7: graph.bin, hierarchy.bin, texts.bin, vectors.bin,
//!                          text/{passages,sentences}/, and descriptions.bin where a model found entities
//! ```
//!
//! Any number of processes read the last finished version while one writes the next. A reader maps the files and closes
//! the records, so no later run can affect it.

mod check;
mod contained;
mod database;
mod export;
mod fresh_vectors;
#[cfg(any(test, fuzzing))]
mod fuzzed;
mod graph_file;
mod hardening;
mod last_version;
mod lexical_field;
mod lock;
mod mapping;
mod parts;
mod read_questions;
mod records;
mod replies;
pub(crate) mod sections;
mod snapshot;
mod stamp;
mod text_files;
mod text_index;
mod texts;
mod vectors;
mod version_files;
mod versions;
mod writer;

use std::collections::{BTreeMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub use check::{IndexCheck, IndexFinding};
pub(crate) use contained::is_contained;
pub(crate) use export::{
    CanonicalLines, Community, CommunityReport, DescribedEntity, ExportedAspect, Member, Membership, Mention, Relation,
    RelationDescription, ReportedFinding, SentencePlace, Summary, SummaryDescription,
};
pub(crate) use fresh_vectors::{FreshVectors, VectorKey};
#[cfg(any(test, fuzzing))]
pub(crate) use fuzzed::open_file;
pub(crate) use last_version::{HeldTerms, LastVersion};
use lock::Lock;
#[cfg(test)]
pub(crate) use parts::MetadataPart;
#[cfg(test)]
pub(crate) use parts::QuestionPart;
pub(crate) use parts::{DocumentPart, PassagePart, QuestionParts, QuestionsOfVersion};
pub(crate) use read_questions::ReadQuestions;
pub(crate) use records::DamagedUnit;
use records::VersionRow;
pub use records::WrittenCounts;
pub(crate) use records::{
    DocumentUnit, Extracted, ListedUnit, Manifest, ModelStage, NAME_PAIRS_MAX, NO_SEAL, PassageUnit, ProposedTypes,
    Records, Seal, StageMark, StageMarks, StoredDocument, StoredReport, Units, WrittenExtraction, WrittenQuestions,
    WrittenReport,
};
pub(crate) use replies::Replies;
pub use snapshot::Snapshot;
pub(crate) use texts::TextsFile;
pub(crate) use writer::{BegunVersion, Extent, FieldTerms, Terms, TextParts, VersionParts, Writer};

use crate::domain::{CollectionId, Counts, DocumentId, IndexVersion, RemovedDocument, Skip, Spent};
use crate::embed::{Embedder, EmbedderPlace};
use crate::error::{Error, Result};
use crate::files;
use crate::skill::Performers;
use crate::telemetry;

/// The meaning of records and files; raised whenever either changes.
pub const INDEX_FORMAT: u32 = 7;
/// The oldest format that is still read: the first writer that opens such an index brings it to [`INDEX_FORMAT`].
pub const INDEX_FORMAT_MIN: u32 = 3;

const RECORDS: &str = "cairn.db";
const VERSIONS: &str = "versions";
const LOCK: &str = "lock";
const REPLIES: &str = "replies.db";
const FRESH_VECTORS: &str = "vectors.part";
const PUBLISHED: &str = "published.bin";
const GRAPH: &str = "graph.bin";
const HIERARCHY: &str = "hierarchy.bin";
const DESCRIPTIONS: &str = "descriptions.bin";
const RESOLUTION: &str = "resolution.bin";
const MATCHES: &str = "matches.bin";
const NAMES: &str = "names.bin";
const TEXTS: &str = "texts.bin";
const VECTORS: &str = "vectors.bin";
/// Vectors made later, and the row of each text, in a version that shares the rest with an earlier one.
const ADDED_VECTORS: &str = "added-vectors.bin";
/// The folder of the lexical fields.
const TEXT: &str = "text";
const PASSAGE_TERMS: &str = "text/passages";
const SENTENCE_TERMS: &str = "text/sentences";
/// Terms of later texts, and the segments, in a version that shares the rest with an earlier one.
const ADDED_PASSAGE_TERMS: &str = "text/added-passages";
const ADDED_SENTENCE_TERMS: &str = "text/added-sentences";
const SEGMENTS: &str = "segments.bin";
/// How often opening is tried again because the version was replaced meanwhile.
const OPEN_ATTEMPTS_MAX: usize = 4;

/// How the files of a version are held while it is open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FileAccess {
    /// Mapped if they are on a local disk, otherwise read. If another program truncates a mapped file while it is open,
    /// SIGBUS ends the process. Mapped files take no memory that others could not have.
    #[default]
    Auto,
    /// Read into memory when the version is opened. Later changes to the files do not affect an open version.
    Read,
}

/// The pins of a new index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceOptions {
    /// Name of the embedder.
    pub embedder: String,
    /// Values of its vectors.
    pub dimension: usize,
}

impl WorkspaceOptions {
    /// Returns the pin of an index that these performers fill.
    #[must_use]
    pub fn of(performers: &Performers) -> Self {
        Self::of_embedder(performers.embedder.as_ref())
    }

    /// Returns the pin of an index whose vectors `embedder` makes.
    #[must_use]
    pub fn of_embedder(embedder: &dyn Embedder) -> Self {
        Self { embedder: embedder.name().to_owned(), dimension: embedder.dimension() }
    }

    /// Returns the error of an index with this pin that another embedder is to fill.
    fn refusal(&self, given: &Self) -> Error {
        // One model may give vectors of several lengths; else the names say it all.
        let is_named = self.embedder != given.embedder;
        let name = |pin: &Self| {
            if is_named { pin.embedder.clone() } else { format!("{} of {} values", pin.embedder, pin.dimension) }
        };
        Error::Embedder { index: name(self), given: name(given) }
    }
}

/// The state of an index.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    /// The last finished version.
    pub version: Option<IndexVersion>,
    /// When it was made, according to the run that made it.
    pub created_at: Option<String>,
    /// The counts of that version.
    pub counts: Counts,
    /// The collection that it is an index of.
    pub collection: CollectionId,
    /// Format of the index: that of this program, or an older one that the next run upgrades.
    pub format: u32,
    /// Name of the embedder that it is pinned to.
    pub embedder: String,
    /// Values of a vector.
    pub dimension: usize,
    /// Units that are done and in a version.
    pub units_done: u64,
    /// Units that are done and wait for a version.
    pub units_pending: u64,
    /// Units that failed.
    pub units_failed: u64,
    /// Passages about which a language model was asked.
    pub questions: WrittenCounts,
    /// Passages for which it gave nothing usable, and why.
    pub unwritten: Vec<Skip>,
    /// Passages whose entities a language model was asked to find.
    pub entities: WrittenCounts,
    /// Passages for which it gave nothing usable, and why.
    pub unextracted: Vec<Skip>,
    /// Entities whose descriptions a language model was asked to merge.
    pub descriptions: WrittenCounts,
    /// Entities for which it gave nothing usable, and why.
    pub undescribed: Vec<Skip>,
    /// Clusters of entities that a language model was asked to summarize.
    pub summaries: WrittenCounts,
    /// Clusters for which it gave nothing usable, and why.
    pub unsummarized: Vec<Skip>,
    /// Topics about which a language model was asked for a report.
    pub reports: WrittenCounts,
    /// Topics for which it gave nothing usable, and why.
    pub unreported: Vec<Skip>,
    /// The cost of models for the index, by model.
    pub spending: Vec<(String, Spent)>,
    /// Whether the version is a checkpoint with a part of the documents, of a first run that continues or was stopped.
    pub is_partial: bool,
    /// Whether documents were added, changed or removed since the version was made, or it is of a part of them.
    pub is_changed: bool,
    /// Documents of each media type.
    pub media_types: BTreeMap<String, u64>,
    /// Sources that the last run left out.
    pub skips: Vec<Skip>,
    /// Bytes of the folder, all files together.
    pub bytes: u64,
}

/// A folder that is an index.
#[derive(Debug, Clone)]
pub struct Workspace {
    path: PathBuf,
    access: FileAccess,
}

impl Workspace {
    /// Opens the index in the folder `path`.
    ///
    /// # Errors
    ///
    /// If there is none, or one that this program cannot read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_at(path.as_ref())
    }

    fn open_at(path: &Path) -> Result<Self> {
        match std::fs::metadata(path) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Err(Error::NoIndex { path: path.to_owned() });
            }
            Err(error) => return Err(Error::io("open", path)(error)),
            Ok(metadata) if !metadata.is_dir() => return Err(not_an_index(path, "it is a file")),
            Ok(_) => {}
        }
        if !is_there(&path.join(RECORDS))? {
            let is_index = is_there(&path.join(VERSIONS))? && is_there(&path.join(LOCK))?;
            return Err(if is_index {
                Error::Corrupt { path: path.join(RECORDS), reason: "it is not there".to_owned() }
            } else {
                Error::NoIndex { path: path.to_owned() }
            });
        }
        let workspace = Self { path: path.to_owned(), access: FileAccess::default() };
        workspace.records()?;
        Ok(workspace)
    }

    /// Opens the index in the folder `path`, or makes one there if the folder is empty or missing.
    ///
    /// # Errors
    ///
    /// If the folder holds something else, or an index of another format or embedder.
    pub fn open_or_create(path: impl AsRef<Path>, options: &WorkspaceOptions) -> Result<Self> {
        let path = path.as_ref();
        if is_there(&path.join(RECORDS))? {
            let workspace = Self::open(path)?;
            let pin = workspace.records()?.manifest()?.pin();
            return if pin == *options { Ok(workspace) } else { Err(pin.refusal(options)) };
        }
        check_is_free(path)?;
        files::make_folder(path)?;
        let _lock = Lock::take(path)?;
        if !is_there(&path.join(RECORDS))? {
            Records::create(&path.join(RECORDS), options)?;
            files::sync(path)?;
        }
        Ok(Self { path: path.to_owned(), access: FileAccess::default() })
    }

    /// Checks that [`Self::open_or_create`] would open an index in the folder `path`, or could make one. It writes
    /// nothing.
    ///
    /// # Errors
    ///
    /// As [`Self::open_or_create`].
    pub fn check_place(path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        if is_there(&path.join(RECORDS))? { Self::open(path).map(drop) } else { check_is_free(path) }
    }

    /// Returns the same index, whose files are accessed as `access` says.
    #[must_use]
    pub fn with_file_access(self, access: FileAccess) -> Self {
        Self { access, ..self }
    }

    /// Returns the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the replies of language models that were paid for, to read and to write them.
    ///
    /// # Errors
    ///
    /// As [`Replies::open`].
    pub(crate) fn replies(&self) -> Result<Replies> {
        Replies::open(&self.path.join(REPLIES))
    }

    /// Opens the replies that are kept, if any ever were.
    ///
    /// # Errors
    ///
    /// As [`Replies::open`].
    pub(crate) fn kept_replies(&self) -> Result<Option<Replies>> {
        if is_there(&self.path.join(REPLIES))? { self.replies().map(Some) } else { Ok(None) }
    }

    /// Opens the replies that are kept, if any ever were, to read them.
    ///
    /// # Errors
    ///
    /// As [`Replies::open`].
    pub(crate) fn replies_to_read(&self) -> Result<Option<Replies>> {
        let path = self.path.join(REPLIES);
        if is_there(&path)? { Replies::open_to_read(&path).map(Some) } else { Ok(None) }
    }

    /// Returns where vectors of an embedder with this pin are kept until a version has them.
    #[must_use]
    pub fn fresh_vectors(&self, pin: &WorkspaceOptions) -> FreshVectors {
        FreshVectors::new(self.path.join(FRESH_VECTORS), pin)
    }

    /// Returns the name of the embedder that the index is pinned to.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn embedder(&self) -> Result<String> {
        Ok(self.records()?.manifest()?.embedder)
    }

    /// Returns where the model of the embedder was when the index was made, if it has one, according to the index. Only
    /// what the caller has [`Confirmed`](crate::embed::Confirmed) can be used.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn model_place(&self) -> Result<Option<EmbedderPlace>> {
        self.records()?.model_place()
    }

    /// Opens the records, to read them; writing goes through [`Self::writer`].
    ///
    /// # Errors
    ///
    /// If they are damaged or of another format.
    pub fn records(&self) -> Result<Records> {
        Records::open_to_read(&self.path.join(RECORDS))
    }

    /// Returns the removed documents, which runs leave out.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn removed(&self) -> Result<Vec<RemovedDocument>> {
        self.records()?.removed()
    }

    /// Undoes the removal of documents, by the ids of their sources: the next run that finds them indexes them. Ids
    /// that were not removed are ignored.
    ///
    /// # Errors
    ///
    /// If the records cannot be written; [`Error::Busy`] while another process writes there.
    pub fn take_back(&self, source_ids: &[&str]) -> Result<()> {
        let ids: Vec<DocumentId> = source_ids.iter().map(|id| DocumentId::of(&[id.as_bytes()])).collect();
        self.writer()?.records().take_back(&ids)
    }

    /// Returns the state of the index.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn status(&self) -> Result<Status> {
        let records = self.records()?;
        self.status_of(&records).map_err(|error| records.looked_at_again(error))
    }

    fn status_of(&self, records: &Records) -> Result<Status> {
        let manifest = records.manifest()?;
        let units = records.unit_counts()?;
        let current = records.current_version()?;
        Ok(Status {
            version: current.as_ref().map(|row| row.version),
            counts: current.as_ref().map(|row| row.counts).unwrap_or_default(),
            is_partial: current.as_ref().is_some_and(|row| row.is_partial),
            created_at: current.map(|row| row.created_at),
            collection: manifest.collection,
            format: records.format(),
            embedder: manifest.embedder,
            dimension: manifest.dimension,
            units_done: units.done,
            units_pending: units.pending,
            units_failed: units.failed,
            questions: records.written_counts(ModelStage::Questions)?,
            unwritten: records.unwritten_reasons(ModelStage::Questions)?,
            entities: records.written_counts(ModelStage::Entities)?,
            unextracted: records.unwritten_reasons(ModelStage::Entities)?,
            descriptions: records.written_counts(ModelStage::Descriptions)?,
            undescribed: records.unreported_reasons(ModelStage::Descriptions)?,
            summaries: records.written_counts(ModelStage::Summaries)?,
            unsummarized: records.unreported_reasons(ModelStage::Summaries)?,
            reports: records.written_counts(ModelStage::Reports)?,
            unreported: records.unreported_reasons(ModelStage::Reports)?,
            spending: records.spending()?,
            is_changed: manifest.is_changed,
            media_types: records.media_types()?,
            skips: records.skips()?,
            bytes: bytes_of(&self.path),
        })
    }

    /// Returns how many bytes its records take.
    pub(crate) fn records_bytes(&self) -> u64 {
        std::fs::metadata(self.path.join(RECORDS)).map_or(0, |records| records.len())
    }

    /// Opens the last finished version.
    ///
    /// # Errors
    ///
    /// [`Error::NoVersion`] if no run was finished yet; [`Error::Corrupt`] if a file of the version is not what was
    /// written.
    pub fn snapshot(&self) -> Result<Snapshot> {
        let _entered = tracing::info_span!(telemetry::OPEN).entered();
        let records = self.records()?;
        let current = records.current_version().map_err(|error| records.looked_at_again(error))?;
        self.open_version(&records, current.ok_or_else(|| self.no_version())?)
    }

    /// Opens the version of `row`, or a later one: between reading the row and opening the files, other runs may have
    /// finished and removed them.
    fn open_version(&self, records: &Records, mut row: VersionRow) -> Result<Snapshot> {
        let mut attempts = 1;
        loop {
            let folder = version_folder(&self.path, row.version);
            let _in_use = files::use_folder(&folder);
            let opened = Snapshot::open(&folder, &row, self.access);
            let Err(error) = opened else { return opened };
            let now = records.current_version().map_err(|error| records.looked_at_again(error))?;
            let now = now.ok_or_else(|| self.no_version())?;
            if now.version == row.version || attempts == OPEN_ATTEMPTS_MAX {
                return Err(error);
            }
            row = now;
            attempts += 1;
        }
    }

    fn no_version(&self) -> Error {
        Error::NoVersion { path: self.path.clone() }
    }

    /// Takes the right to write.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if another process, or another part of this one, has it.
    pub fn writer(&self) -> Result<Writer> {
        let lock = Lock::take(&self.path)?;
        let records = Records::open_to_write(&self.path.join(RECORDS))?;
        Writer::new(&self.path, lock, records)
    }
}

/// Returns the folder of a version of the index in `path`.
fn version_folder(path: &Path, version: IndexVersion) -> PathBuf {
    path.join(VERSIONS).join(version.to_string())
}

fn is_there(path: &Path) -> Result<bool> {
    path.try_exists().or_else(|error| {
        // Below a file there is nothing.
        if error.kind() == ErrorKind::NotADirectory { Ok(false) } else { Err(Error::io("open", path)(error)) }
    })
}

fn not_an_index(path: &Path, reason: impl Into<String>) -> Error {
    Error::NotAnIndex { path: path.to_owned(), reason: reason.into() }
}

/// Checks that an index can be created in `path`: nothing is there except leftovers of a killed or damaged index.
fn check_is_free(path: &Path) -> Result<()> {
    let entries = match std::fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => return Err(not_an_index(path, "it is a file")),
        Err(error) => return Err(Error::io("read", path)(error)),
    };
    for entry in entries {
        let entry = entry.map_err(Error::io("read", path))?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_ours = match name.as_ref() {
            LOCK | FRESH_VECTORS => true,
            VERSIONS => versions::holds_versions(&entry.path())?,
            name => database::is_file_of(name, RECORDS) || database::is_file_of(name, REPLIES),
        };
        if !is_ours {
            return Err(not_an_index(path, format!("it holds `{}`", name.escape_debug())));
        }
    }
    Ok(())
}

/// Returns the bytes of all files below `path`, of one with two names once; files that disappear in the meantime do not
/// count.
fn bytes_of(path: &Path) -> u64 {
    let mut seen = HashSet::new();
    let files = walkdir::WalkDir::new(path).into_iter().filter_map(|entry| {
        let entry = entry.ok()?;
        Some((files::identity_of_own(entry.path()), entry.metadata().ok().filter(std::fs::Metadata::is_file)?))
    });
    files.filter(|(identity, _)| identity.is_none_or(|it| seen.insert(it))).map(|(_, metadata)| metadata.len()).sum()
}

#[cfg(test)]
pub(crate) mod tests;
