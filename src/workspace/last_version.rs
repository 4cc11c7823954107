//! The last version, for the one to come: what is made of the same is taken over from it. Each file is opened and
//! checked by itself, so that damage costs no more than what it hit.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::graph_file::{
    DescriptionsFile, GraphFile, HierarchyFile, MatchesFile, NamesFile, ResolutionFile, SegmentsFile, counts_of_names,
    named,
};
use super::lexical_field::LexicalField;
use super::records::{StageMark, VersionRow};
use super::snapshot::{check_counts, text_counts};
use super::stamp::StampedFile;
use super::texts::TextsFile;
use super::vectors::VectorsFile;
use super::version_files::{self, HeldFile, VersionFiles};
use super::versions::{expect_folders, make_added};
use super::{
    ADDED_VECTORS, DESCRIPTIONS, FileAccess, GRAPH, HIERARCHY, MATCHES, NAMES, PASSAGE_TERMS, RESOLUTION, SEGMENTS,
    SENTENCE_TERMS, TEXT, TEXTS, VECTORS, Workspace, version_folder,
};
use crate::domain::{Cancellation, IndexVersion};
use crate::error::{Error, Result};
use crate::files;
use crate::graph::descriptions::{Described, PackedDescriptions};
use crate::graph::hierarchy::Hierarchy;
use crate::graph::matching::Matches;
use crate::graph::mentions::NameStatistics;
use crate::graph::packed::PassageGraph;
use crate::graph::resolution::Resolution;
use crate::graph::segments::Segments;
use crate::store::{TextField, VectorField, Vectors};

/// The last version of an index, part by part. What is damaged is not there.
#[derive(Debug)]
pub struct LastVersion {
    folder: PathBuf,
    row: VersionRow,
    access: FileAccess,
    /// The files that are open.
    held: Mutex<Vec<Arc<HeldFile>>>,
    graph: OnceLock<Option<GraphFile>>,
    texts: OnceLock<Option<TextsFile>>,
    vectors: OnceLock<Option<VectorsFile>>,
    matches: OnceLock<Option<MatchesFile>>,
    names: OnceLock<Option<NamesFile>>,
    hierarchy: OnceLock<Option<HierarchyFile>>,
    resolution: OnceLock<Option<ResolutionFile>>,
}

impl Workspace {
    /// Returns the last version, to take parts of it over; none where there is none, or nothing is known of it.
    #[must_use]
    pub fn last_version(&self) -> Option<LastVersion> {
        let row = intact(self.records().and_then(|records| records.current_version()))??;
        let folder = version_folder(&self.path, row.version);
        intact(VersionFiles::check_names(&folder, &row).and_then(|()| expect_folders(&folder)))?;
        Some(LastVersion {
            folder,
            row,
            access: self.access,
            held: Mutex::default(),
            graph: OnceLock::new(),
            texts: OnceLock::new(),
            vectors: OnceLock::new(),
            matches: OnceLock::new(),
            names: OnceLock::new(),
            hierarchy: OnceLock::new(),
            resolution: OnceLock::new(),
        })
    }
}

impl LastVersion {
    /// Opens what most updates take from it, until a stop is requested; gives back the memory that this took.
    pub fn open(&self, stop: &Cancellation) {
        let parts: [&dyn Fn() -> bool; 5] = [
            &|| self.graph().is_some(),
            &|| self.texts().is_some(),
            &|| self.vectors_file().inspect(|file| file.check_ahead(stop)).is_some(),
            &|| self.matches().is_some(),
            &|| self.names().is_some(),
        ];
        for open in parts.into_iter().take_while(|_| !stop.is_cancelled()) {
            // What is damaged is not there for whoever asks for it.
            let _is_there = open();
        }
        self.release();
    }

    /// Returns its number.
    #[must_use]
    pub fn version(&self) -> IndexVersion {
        self.row.version
    }

    /// Returns of what a stage was made; none where that is not known.
    #[must_use]
    pub fn mark(&self, stage: &str) -> Option<&StageMark> {
        self.row.stages.get(stage)
    }

    /// Returns whether it is of a part of the documents, made on the way of a first run.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.row.is_partial
    }

    /// Returns whether all its texts have vectors, where it has any.
    #[must_use]
    pub fn has_all_vectors(&self) -> bool {
        self.row.counts.without_vectors == 0
    }

    /// Gives back the memory of the arrays that were read so far: little of them is read again at each step of an
    /// update. What is read again is mapped again.
    pub fn release(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|file| file.release());
    }

    /// Returns the graph.
    #[must_use]
    pub fn graph(&self) -> Option<PassageGraph<'_>> {
        self.graph.get_or_init(|| intact(self.open_graph())).as_ref().map(GraphFile::graph)
    }

    /// Returns its texts.
    #[must_use]
    pub(crate) fn texts(&self) -> Option<&TextsFile> {
        let open = || {
            let file = self.held(TEXTS)?;
            file.check()?;
            TextsFile::open(&file, text_counts(&self.row.counts))
        };
        self.texts.get_or_init(|| intact(open())).as_ref()
    }

    /// Returns what its questions were matched with; none of a version that was made before that was kept.
    #[must_use]
    pub fn matches(&self) -> Option<Matches<'_>> {
        let open = || {
            self.row.files.iter().find(|due| due.path == MATCHES)?;
            let file = intact(self.held(MATCHES).and_then(|file| file.check().map(|()| file)))?;
            let counts = text_counts(&self.row.counts);
            intact(MatchesFile::open(&file, counts.incoming, counts.outgoing))
        };
        self.matches.get_or_init(open).as_ref().map(MatchesFile::matches)
    }

    /// Returns what the names of its graph were found by; none of a version that was made before that was kept.
    #[must_use]
    pub fn names(&self) -> Option<NameStatistics<'_>> {
        let graph = self.graph()?;
        let open = || {
            self.row.files.iter().find(|due| due.path == NAMES)?;
            let file = intact(self.held(NAMES).and_then(|file| file.check().map(|()| file)))?;
            intact(NamesFile::open(&file, counts_of_names(&graph)))
        };
        self.names.get_or_init(open).as_ref().map(NamesFile::names)
    }

    /// Returns the hierarchy over the entities of its graph.
    #[must_use]
    pub fn hierarchy(&self) -> Option<Hierarchy<'_>> {
        let graph = self.graph()?;
        let open = || {
            let file = self.held(HIERARCHY)?;
            file.check()?;
            HierarchyFile::open(&file, graph.entity_name_ends.len(), graph.sentence_count())
        };
        self.hierarchy.get_or_init(|| intact(open())).as_ref().map(HierarchyFile::hierarchy)
    }

    /// Returns what a model says of the entities and relations of its graph and hierarchy.
    #[must_use]
    pub fn descriptions(&self) -> Option<PackedDescriptions> {
        let (graph, hierarchy) = (self.graph()?, self.hierarchy()?);
        let open = || {
            let file = self.held(DESCRIPTIONS)?;
            file.check()?;
            DescriptionsFile::open(&file, Described::of(&graph, &hierarchy))
        };
        intact(open()).map(|file| file.descriptions().to_packed())
    }

    /// Returns what the names of its graph stand for.
    #[must_use]
    pub fn resolution(&self) -> Option<Resolution<'_>> {
        let graph = self.graph()?;
        let open = || {
            let file = self.held(RESOLUTION)?;
            file.check()?;
            ResolutionFile::open(&file, named(&graph))
        };
        self.resolution.get_or_init(|| intact(open())).as_ref().map(ResolutionFile::resolution)
    }

    /// Returns the vectors of a field.
    #[must_use]
    pub fn vectors(&self, field: VectorField) -> Option<Vectors<'_>> {
        intact(self.vectors_file()?.vectors(field))
    }

    /// Returns the vectors of out-coming questions; no rows where they were not kept.
    #[must_use]
    pub fn outgoing_vectors(&self) -> Option<Vectors<'_>> {
        intact(self.vectors_file()?.outgoing())
    }

    /// Returns the files of both lexical fields.
    #[must_use]
    pub fn terms(&self) -> Option<HeldTerms> {
        intact(self.open_terms())
    }

    fn open_graph(&self) -> Result<GraphFile> {
        let file = self.held(GRAPH)?;
        file.check()?;
        let counts = text_counts(&self.row.counts);
        let graph = GraphFile::open(&file, counts.outgoing)?;
        check_counts(file.path(), &graph.graph(), counts)?;
        Ok(graph)
    }

    /// Returns the file of its vectors.
    pub(super) fn vectors_file(&self) -> Option<&VectorsFile> {
        let open = || {
            let counts = text_counts(&self.row.counts);
            let counts = [counts.passages, counts.sentences, counts.incoming, counts.outgoing];
            let has_added = self.row.files.iter().any(|due| due.path == ADDED_VECTORS);
            let added = has_added.then(|| self.held(ADDED_VECTORS)).transpose()?;
            VectorsFile::open(&self.held(VECTORS)?, added.as_ref(), self.row.pin.dimension, counts)
        };
        self.vectors.get_or_init(|| intact(open())).as_ref()
    }

    fn open_terms(&self) -> Result<HeldTerms> {
        let counts = text_counts(&self.row.counts);
        let mut files: Vec<Arc<HeldFile>> = Vec::new();
        for due in self.row.files.iter().filter(|due| due.path == SEGMENTS || is_of_terms(&due.path)) {
            let file = HeldFile::open(&self.folder, due, self.access)?;
            file.check()?;
            files.push(Arc::new(file));
        }
        let segments = files.iter().find(|file| file.due().path == SEGMENTS);
        let segments = segments.map(|file| SegmentsFile::open(file, counts.passages, counts.sentences));
        let segments = segments.transpose()?.map(Arc::new);
        let below = |folder: &str| version_files::below(&files, folder);
        // What does not open must not be published again.
        for (field, count) in [(TextField::Passage, counts.passages), (TextField::Sentence, counts.sentences)] {
            LexicalField::open(field, &self.folder, &below, segments.as_ref(), count)?;
        }
        Ok(HeldTerms { files, segments })
    }

    fn held(&self, path: &str) -> Result<Arc<HeldFile>> {
        let missing =
            || Error::Corrupt { path: self.folder.join(path), reason: "the records do not name it".to_owned() };
        let due = self.row.files.iter().find(|due| due.path == path).ok_or_else(missing)?;
        let file = Arc::new(HeldFile::open(&self.folder, due, self.access)?);
        self.held.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&file));
        Ok(file)
    }
}

/// Returns whether a file, by its path in the folder of a version, is one of the text index.
fn is_of_terms(path: &str) -> bool {
    path.strip_prefix(TEXT).is_some_and(|it| it.starts_with('/'))
}

/// The files of the lexical fields of a version, open and checked.
#[derive(Debug)]
pub struct HeldTerms {
    files: Vec<Arc<HeldFile>>,
    segments: Option<Arc<SegmentsFile>>,
}

impl HeldTerms {
    /// Returns what lies where; none where all lies in the first segment of each field.
    #[must_use]
    pub fn segments(&self) -> Option<Segments<'_>> {
        self.segments.as_deref().map(SegmentsFile::segments)
    }

    /// Copies the files into the folder of another version and syncs them; returns what they must be. They are small:
    /// unlike vectors, they are not worth it that damage to one version would be damage to both.
    pub(super) fn copy_to(&self, folder: &Path, stop: &Cancellation) -> Result<Vec<StampedFile>> {
        if self.segments.is_some() {
            make_added(folder)?;
        }
        copy(self.files.iter(), folder, stop)
    }

    /// As [`Self::copy_to`], but only the first segment of each field.
    pub(super) fn copy_first_to(&self, folder: &Path, stop: &Cancellation) -> Result<Vec<StampedFile>> {
        let is_first = |file: &&Arc<HeldFile>| {
            let of = file.due().path.rsplit_once('/').map(|(of, _)| of);
            of.is_some_and(|of| [PASSAGE_TERMS, SENTENCE_TERMS].contains(&of))
        };
        copy(self.files.iter().filter(is_first), folder, stop)
    }
}

fn copy<'f>(
    files: impl Iterator<Item = &'f Arc<HeldFile>>,
    folder: &Path,
    stop: &Cancellation,
) -> Result<Vec<StampedFile>> {
    let copy = |file: &Arc<HeldFile>| {
        stop.check()?;
        let path = folder.join(&file.due().path);
        files::write_own(&path, file.bytes())?;
        files::sync(&path)?;
        Ok(file.due().clone())
    };
    files.map(copy).collect()
}

/// Returns what is whole; what is not is made anew.
fn intact<T>(found: Result<T>) -> Option<T> {
    found.map_err(|error| tracing::warn!(%error, "it is made anew")).ok()
}
