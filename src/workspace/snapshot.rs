//! One version of an index, open: the files of the version, mapped and checked. After that, it reads no records, and
//! later runs do not affect it, even if its files are deleted.

use std::path::Path;
use std::sync::Arc;

use super::graph_file::{DescriptionsFile, GraphFile, HierarchyFile, ResolutionFile, SegmentsFile, named};
use super::lexical_field::LexicalField;
use super::records::{Seal, VersionRow};
use super::texts::{TextCounts, TextsFile};
use super::vectors::VectorsFile;
use super::version_files::VersionFiles;
use super::{ADDED_VECTORS, DESCRIPTIONS, FileAccess, GRAPH, HIERARCHY, RESOLUTION, SEGMENTS, TEXTS, VECTORS};
use crate::domain::{Counts, DocumentId, HierarchyCounts, IndexVersion, PassageId, QuestionId, QuestionOrigin};
use crate::error::{Error, Result};
use crate::graph::descriptions::{Described, Descriptions};
use crate::graph::hierarchy::Hierarchy;
use crate::graph::ordinal::{Column, DocumentOrdinal, IncomingOrdinal, OutgoingOrdinal, PassageOrdinal};
use crate::graph::packed::PassageGraph;
use crate::graph::resolution::Resolution;
use crate::store::{DocumentText, GraphReader, Networks, PassageText, TextField, VectorField, Vectors};

/// One version of a workspace, immutable and self-contained.
#[derive(Debug)]
pub struct Snapshot {
    version: IndexVersion,
    counts: Counts,
    embedder: String,
    fingerprint: [u8; 32],
    files: VersionFiles,
    graph: GraphFile,
    /// None of a version that was made before there were any.
    hierarchy: Option<HierarchyFile>,
    /// None if no model found anything.
    descriptions: Option<DescriptionsFile>,
    /// None of a version that was made before there was any.
    resolution: Option<ResolutionFile>,
    texts: TextsFile,
    vectors: VectorsFile,
    passage_terms: LexicalField,
    sentence_terms: LexicalField,
    networks: Networks,
}

impl Snapshot {
    /// Opens the version that `row` describes, whose files are in `folder`.
    pub(super) fn open(folder: &Path, row: &VersionRow, access: FileAccess) -> Result<Self> {
        let files = VersionFiles::open(folder, row, access)?;
        let file = |path| files.file(path);
        let counts = text_counts(&row.counts);
        // Each is looked through as a whole, so both at the same time.
        let (graph, texts) =
            rayon::join(|| GraphFile::open(&file(GRAPH)?, counts.outgoing), || TextsFile::open(&file(TEXTS)?, counts));
        let (graph, texts) = (graph?, texts?);
        check_counts(&folder.join(GRAPH), &graph.graph(), counts)?;
        let of = (graph.graph().entity_name_ends.len(), graph.graph().sentence_count());
        let hierarchy = files.find(HIERARCHY).map(|file| HierarchyFile::open(&file, of.0, of.1)).transpose()?;
        let described = hierarchy.as_ref().zip(files.find(DESCRIPTIONS));
        let descriptions = described.map(|(hierarchy, file)| {
            DescriptionsFile::open(&file, Described::of(&graph.graph(), &hierarchy.hierarchy()))
        });
        let names = named(&graph.graph());
        let resolution = files.find(RESOLUTION).map(|file| ResolutionFile::open(&file, names)).transpose()?;
        let segments = files.find(SEGMENTS).map(|file| SegmentsFile::open(&file, counts.passages, counts.sentences));
        let segments = segments.transpose()?.map(Arc::new);
        let below = |name: &str| files.below(name);
        let terms = |field, count| LexicalField::open(field, folder, &below, segments.as_ref(), count);
        let passage_terms = terms(TextField::Passage, counts.passages)?;
        let sentence_terms = terms(TextField::Sentence, counts.sentences)?;
        let mut all_counts = row.counts;
        if let Some(file) = hierarchy.as_ref().filter(|_| row.counts.hierarchy == HierarchyCounts::default()) {
            // An earlier program did not count it.
            all_counts.hierarchy = file.hierarchy().counts();
        }
        let vector_counts = [counts.passages, counts.sentences, counts.incoming, counts.outgoing];
        let added = files.find(ADDED_VECTORS);
        Ok(Self {
            version: row.version,
            counts: all_counts,
            embedder: row.pin.embedder.clone(),
            fingerprint: fingerprint(row),
            graph,
            hierarchy,
            descriptions: descriptions.transpose()?,
            resolution,
            texts,
            vectors: VectorsFile::open(&file(VECTORS)?, added.as_ref(), row.pin.dimension, vector_counts)?,
            passage_terms,
            sentence_terms,
            networks: Networks::default(),
            files,
        })
    }

    /// Checks every byte of every file against what was written. Opening leaves out vectors, which are checked when
    /// they are used.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if a file is not what was written.
    pub fn check(&self) -> Result<()> {
        self.files.check()?;
        [VectorField::Passage, VectorField::Sentence, VectorField::Incoming]
            .into_iter()
            .try_for_each(|field| self.vectors.vectors(field).map(drop))?;
        self.vectors.outgoing().map(drop)
    }

    /// Does so, and reads all that a search would read of the words too.
    pub(super) fn check_as_read(&self) -> Result<()> {
        self.check()?;
        self.passage_terms.check()?;
        self.sentence_terms.check()
    }

    /// Returns a hash of the contents of the version: equal for equal versions made in the same way.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    /// Returns how many passages there are; they are numbered from 0.
    #[must_use]
    pub fn passage_count(&self) -> u32 {
        self.counts.passages as u32
    }

    /// Returns how many documents there are; they are numbered from 0.
    #[must_use]
    pub fn document_count(&self) -> u32 {
        self.counts.documents as u32
    }

    /// Returns the identity of a document.
    pub(crate) fn document_id(&self, document: DocumentOrdinal) -> DocumentId {
        self.texts.document_id(document)
    }

    /// Returns the seal of a document, if the version has it.
    pub(crate) fn seal(&self, document: DocumentOrdinal) -> Option<Seal> {
        self.texts.seal(document)
    }

    /// Returns the identity of an in-coming question.
    #[must_use]
    pub fn incoming_id(&self, question: IncomingOrdinal) -> QuestionId {
        self.texts.incoming_id(question)
    }

    /// Returns the identity of an out-coming question.
    #[must_use]
    pub fn outgoing_id(&self, question: OutgoingOrdinal) -> QuestionId {
        self.texts.outgoing_id(question)
    }

    /// Returns who wrote an in-coming question.
    #[must_use]
    pub fn incoming_origin(&self, question: IncomingOrdinal) -> QuestionOrigin {
        self.texts.incoming_origin(question)
    }

    /// Returns who wrote an out-coming question.
    #[must_use]
    pub fn outgoing_origin(&self, question: OutgoingOrdinal) -> QuestionOrigin {
        self.texts.outgoing_origin(question)
    }

    /// Returns the vectors of out-coming questions, by ordinal; none if they were not kept.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if they are not what was written.
    pub fn outgoing_vectors(&self) -> Result<Vectors<'_>> {
        self.vectors.outgoing()
    }

    /// Calls `visit` with every term of the version, how many passages have it, and how many sentences.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the files cannot be read.
    pub fn each_term(&self, visit: &mut dyn FnMut(&str, u32, u32)) -> Result<()> {
        let mut terms = Vec::new();
        self.passage_terms.each_term(&mut |term, passages| terms.push((term.to_owned(), passages)))?;
        for (term, passages) in terms {
            visit(&term, passages, self.sentence_terms.frequency(&term)? as u32);
        }
        Ok(())
    }

    /// Returns the passage of each out-coming question.
    #[must_use]
    pub fn outgoing_passages(&self) -> Column<'_, OutgoingOrdinal, PassageOrdinal> {
        self.texts.outgoing_passages()
    }
}

impl GraphReader for Snapshot {
    fn version(&self) -> IndexVersion {
        self.version
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn embedder(&self) -> &str {
        &self.embedder
    }

    fn graph(&self) -> PassageGraph<'_> {
        self.graph.graph()
    }

    fn hierarchy(&self) -> Option<Hierarchy<'_>> {
        self.hierarchy.as_ref().map(HierarchyFile::hierarchy)
    }

    fn descriptions(&self) -> Option<Descriptions<'_>> {
        self.descriptions.as_ref().map(DescriptionsFile::descriptions)
    }

    fn resolution(&self) -> Option<Resolution<'_>> {
        self.resolution.as_ref().map(ResolutionFile::resolution)
    }

    fn networks(&self) -> Option<&Networks> {
        Some(&self.networks)
    }

    fn vectors(&self, field: VectorField) -> Result<Vectors<'_>> {
        self.vectors.vectors(field)
    }

    fn postings(&self, field: TextField, term: &str, visit: &mut dyn FnMut(u32, u32)) -> Result<()> {
        match field {
            TextField::Passage => self.passage_terms.postings(term, visit),
            TextField::Sentence => self.sentence_terms.postings(term, visit),
        }
    }

    fn frequency(&self, field: TextField, term: &str) -> Result<usize> {
        match field {
            TextField::Passage => self.passage_terms.frequency(term),
            TextField::Sentence => self.sentence_terms.frequency(term),
        }
    }

    fn passage(&self, passage: PassageOrdinal) -> Result<PassageText> {
        if passage.0 >= self.passage_count() {
            return Err(Error::Internal(format!("there is no passage {passage}")));
        }
        self.texts.passage(passage, self.graph.passage_sentences().of(passage))
    }

    fn passage_id(&self, passage: PassageOrdinal) -> PassageId {
        self.texts.passage_id(passage)
    }

    fn document(&self, document: DocumentOrdinal) -> Result<DocumentText> {
        self.texts.document(document)
    }

    fn incoming(&self, question: IncomingOrdinal) -> &str {
        self.texts.incoming(question)
    }

    fn outgoing(&self, question: OutgoingOrdinal) -> &str {
        self.texts.outgoing(question)
    }
}

fn fingerprint(row: &VersionRow) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for part in row.files.iter().flat_map(|file| [&file.path, &file.stamp.blake3]).chain([&row.pin.embedder]) {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// Returns how much of each the files of a version must hold.
pub(super) fn text_counts(counts: &Counts) -> TextCounts {
    let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    TextCounts {
        documents: count(counts.documents),
        passages: count(counts.passages),
        sentences: count(counts.sentences),
        incoming: count(counts.incoming),
        outgoing: count(counts.outgoing),
    }
}

/// Checks that a graph, whose file is `path`, has so many of each.
pub(super) fn check_counts(path: &Path, graph: &PassageGraph<'_>, counts: TextCounts) -> Result<()> {
    let found = [graph.document_count(), graph.passage_count(), graph.sentence_count(), graph.incoming_passage.len()];
    if found == [counts.documents, counts.passages, counts.sentences, counts.incoming] {
        return Ok(());
    }
    Err(Error::Corrupt {
        path: path.to_owned(),
        reason: "it holds another number of passages than its version".to_owned(),
    })
}
