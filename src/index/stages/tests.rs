//! For each change: which stages run, and that the result equals that of the same records without a previous version.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::domain::{
    Document, ExtractedEntity, ExtractedRelation, Extraction, PseudoQuery, QuestionKind, ReportFinding, Span,
    TopicReport, WrittenText,
};
use crate::embed::{Embedder, Embeddings, StaticTable};
use crate::graph::hierarchy::HierarchyPreset;
use crate::graph::matching::{EdgeQuota, MatchOptions};
use crate::graph::ordinal::PassageOrdinal;
use crate::index::plan::HANDED_OVER;
use crate::index::unit::{fingerprint, unit};
use crate::index::{IndexReport, OtherEmbedder, Sources, index, re_embed, remove, repair};
use crate::ingest::{SourceDocument, content_hash};
use crate::skill::Performers;
use crate::store::{GraphReader as _, TextField, VectorField, community_ids};
use crate::workspace::sections::Sections;
use crate::workspace::tests::forge;
use crate::workspace::{
    DocumentUnit, ModelStage, Workspace, WorkspaceOptions, WrittenExtraction, WrittenQuestions, WrittenReport,
};

/// The built-in table under another name; counts the texts that it embeds.
#[derive(Default)]
struct Counting {
    /// Whether its vectors are worth keeping as they arrive.
    is_costly: bool,
    texts: AtomicU64,
}

impl Embedder for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn dimension(&self) -> usize {
        StaticTable.dimension()
    }

    fn piece_count(&self, text: &str) -> usize {
        StaticTable.piece_count(text)
    }

    fn pieces_max(&self) -> usize {
        StaticTable.pieces_max()
    }

    fn is_costly(&self) -> bool {
        self.is_costly
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> Embeddings<'a> {
        self.texts.fetch_add(texts.len() as u64, Ordering::Relaxed);
        StaticTable.embed(texts)
    }
}

const NAMES: &str = "names";
const VECTORS: [&str; 4] = ["passage-vectors", "sentence-vectors", "incoming-vectors", "outgoing-vectors"];
const MATCHING: &str = "matching";
const RESOLUTION: &str = "resolution";
const HIERARCHY: &str = "hierarchy";
const TERMS: &str = "terms";

/// An index, and its sources.
struct Indexed {
    folder: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
    performers: Performers,
    options: IndexOptions,
    documents: Vec<Document>,
}

impl Indexed {
    /// Makes an index of some notes of the demo collection.
    fn new(embedder: Arc<dyn Embedder>) -> Self {
        let harbor = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/harbor");
        let names = ["agnes-tollamy", "edda-varnholt", "heron-bridge", "joachim-varnholt", "port-halven", "sarrow"];
        let document = |name: &&str| {
            let text = fs::read_to_string(harbor.join(format!("{name}.md"))).unwrap();
            let title = text.lines().next().map(|line| line.trim_start_matches(['#', ' ']).to_owned());
            Document::new(*name, title, text)
        };
        let indexed = Self {
            folder: tempfile::tempdir().unwrap(),
            runtime: tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap(),
            performers: Performers::with_embedder(embedder),
            options: IndexOptions::default(),
            documents: names.iter().map(document).collect(),
        };
        let pin = WorkspaceOptions::of(&indexed.performers);
        Workspace::open_or_create(indexed.path("index"), &pin).unwrap();
        assert_eq!(taken_over(&indexed.update("index")), [""; 0]);
        indexed
    }

    fn path(&self, place: &str) -> PathBuf {
        self.folder.path().join(place)
    }

    fn workspace(&self, place: &str) -> Workspace {
        Workspace::open(self.path(place)).unwrap()
    }

    fn update(&self, place: &str) -> IndexReport {
        self.run(place, &Sources::Documents(self.documents.clone()))
    }

    fn run(&self, place: &str, sources: &Sources) -> IndexReport {
        let (mut workspace, options) = (self.workspace(place), &self.options);
        self.runtime.block_on(index(&mut workspace, sources, &self.performers, options)).unwrap()
    }

    /// Makes the unit of a document.
    fn unit(&self, document: Document) -> DocumentUnit {
        let (embedder, chunk) = (self.performers.embedder.as_ref(), &self.options.chunk);
        let found = SourceDocument { root: HANDED_OVER.to_owned(), content: content_hash(&document), document };
        unit(found, fingerprint(chunk, embedder), embedder, chunk, &self.options.cancellation).unwrap().unit
    }

    fn remove(&self, place: &str, ids: &[&str]) -> IndexReport {
        let (mut workspace, options) = (self.workspace(place), &self.options);
        self.runtime.block_on(remove(&mut workspace, ids, &self.performers, options)).unwrap()
    }

    /// Updates the index with `update`: exactly these stages run, and the result equals that of the same records
    /// without a previous version.
    #[track_caller]
    fn check_with(&self, update: impl Fn(&str) -> IndexReport, made: &[&str]) {
        let report = self.compare(update);
        let ran: Vec<&str> = report.stages.iter().filter(|it| !it.is_taken_over).map(|it| it.stage.as_str()).collect();
        assert_eq!(ran, made, "{:?}", taken_over(&report));
    }

    /// Updates the index with `update`: the result equals that of the same records without a previous version.
    #[track_caller]
    fn compare(&self, update: impl Fn(&str) -> IndexReport) -> IndexReport {
        let clean = self.path("clean");
        let _gone = fs::remove_dir_all(&clean);
        copy(&self.path("index"), &clean);
        for version in fs::read_dir(clean.join("versions")).unwrap() {
            fs::remove_dir_all(version.unwrap().path()).unwrap();
        }
        let [report, anew] = ["index", "clean"].map(&update);
        assert_eq!(taken_over(&anew), [""; 0]);
        assert_eq!((report.counts, report.edges_cut), (anew.counts, anew.edges_cut));
        let [index, clean] = ["index", "clean"].map(|place| self.workspace(place).snapshot().unwrap());
        assert_eq!(index.canonical_lines().unwrap(), clean.canonical_lines().unwrap());
        assert_eq!(terms(&index), terms(&clean));
        assert_eq!(postings(&index), postings(&clean));
        assert!(self.workspace("index").check().unwrap().is_whole());
        assert_eq!(vectors(&index), vectors(&clean));
        for name in ["graph.bin", "matches.bin", "names.bin", "texts.bin"] {
            let [index, clean] = [("index", &report), ("clean", &anew)].map(|(place, report)| {
                fs::read(self.path(place).join("versions").join(report.version.to_string()).join(name)).ok()
            });
            // With a model that lists entities, nothing is left for the next version.
            assert!(index == clean && (index.is_some() || name == "names.bin"), "{name}");
        }
        report
    }

    #[track_caller]
    fn check(&self, made: &[&str]) {
        self.check_with(|place| self.update(place), made);
    }

    /// Damages a file of the current version.
    fn damage(&self, name: &str) {
        let version = self.workspace("index").status().unwrap().version.unwrap();
        let path = self.path("index").join("versions").join(version.to_string()).join(name);
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(path, bytes).unwrap();
    }
}

fn taken_over(report: &IndexReport) -> Vec<&str> {
    report.stages.iter().filter(|it| it.is_taken_over).map(|it| it.stage.as_str()).collect()
}

fn terms(snapshot: &crate::workspace::Snapshot) -> Vec<(String, u32, u32)> {
    let mut terms = Vec::new();
    snapshot.each_term(&mut |term, passages, sentences| terms.push((term.to_owned(), passages, sentences))).unwrap();
    terms
}

/// Returns the vectors of all texts, wherever they lie.
fn vectors(snapshot: &crate::workspace::Snapshot) -> [Vec<(u32, Vec<i8>)>; 4] {
    let [passages, sentences, incoming] =
        [VectorField::Passage, VectorField::Sentence, VectorField::Incoming].map(|it| snapshot.vectors(it).unwrap());
    [passages, sentences, incoming, snapshot.outgoing_vectors().unwrap()].map(|field| {
        (0..field.len() as u32).map(|item| (field.scale(item).to_bits(), field.codes(item).to_vec())).collect()
    })
}

/// Returns which passages and sentences have each term, and how often.
fn postings(snapshot: &crate::workspace::Snapshot) -> Vec<[Vec<(u32, u32)>; 2]> {
    let of = |(term, ..): (String, u32, u32)| {
        [TextField::Passage, TextField::Sentence].map(|field| {
            let mut postings = Vec::new();
            snapshot.postings(field, &term, &mut |text, count| postings.push((text, count))).unwrap();
            assert_eq!(postings.len(), snapshot.frequency(field, &term).unwrap(), "{term}");
            postings
        })
    };
    terms(snapshot).into_iter().map(of).collect()
}

pub(super) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(path, to).unwrap();
        }
    }
}

/// Every stage.
fn all() -> Vec<&'static str> {
    [&[NAMES, RESOLUTION], &VECTORS[..], &[MATCHING, HIERARCHY, TERMS]].concat()
}

fn embedders() -> [Arc<dyn Embedder>; 2] {
    [Arc::new(StaticTable), Arc::new(Counting { is_costly: true, ..Counting::default() })]
}

#[test]
fn other_edges_are_matched_and_nothing_else_is_made() {
    for embedder in embedders() {
        let mut indexed = Indexed::new(embedder);
        let before = indexed.workspace("index").snapshot().unwrap().canonical_lines().unwrap();
        let quota = EdgeQuota::Split { within: 1, across: 2 };
        indexed.options.matching = MatchOptions { quota, ..MatchOptions::default() };
        indexed.check(&[MATCHING]);
        assert_ne!(indexed.workspace("index").snapshot().unwrap().canonical_lines().unwrap(), before);
    }
}

#[test]
fn another_preset_makes_another_hierarchy_and_nothing_else() {
    let mut indexed = Indexed::new(Arc::new(StaticTable));
    indexed.options.hierarchy = HierarchyPreset::Paper;
    indexed.check(&[HIERARCHY]);
}

#[test]
fn what_only_describes_a_document_makes_no_stage_run() {
    let mut indexed = Indexed::new(Arc::new(StaticTable));
    indexed.documents[1].metadata.insert("year".to_owned(), "1911".to_owned());
    indexed.check(&[]);
}

#[test]
fn a_document_that_comes_changes_or_goes_makes_all_stages_run() {
    for embedder in embedders() {
        let mut indexed = Indexed::new(embedder);
        indexed.documents.push(Document::new("mill", Some("The mill".to_owned()), "Ada Wren built the mill in 1790."));
        indexed.check(&all());
        indexed.documents[0].title = Some("Another title".to_owned());
        // Questions by rule name the subject of a document, as its title does.
        indexed.check(&all());
    }
}

/// An edit, and how many documents it adds, changes and removes.
type Edit<'e> = (&'e dyn Fn(&Indexed) -> IndexReport, [u64; 3]);

#[test]
fn fields_of_which_little_changed_are_kept_and_say_what_those_of_a_clean_build_say() {
    let mut indexed = Indexed::new(Arc::new(StaticTable));
    let note = |number: usize, text: &str| {
        let text = format!("Mill {number} stands at the quay. {text} Its wheel turned until 18{number:02}.");
        Document::new(format!("note-{number}"), Some(format!("Mill {number}")), text)
    };
    indexed.documents.extend((0..40).map(|it| note(it, "Ada Wren built it.")));
    indexed.check(&all());
    // Whether terms and vectors are those of an earlier version with later ones added.
    let added = |indexed: &Indexed| {
        let version = indexed.workspace("index").status().unwrap().version.unwrap();
        let folder = indexed.path("index").join("versions").join(version.to_string());
        ["segments.bin", "added-vectors.bin"].map(|name| folder.join(name).exists())
    };
    assert_eq!(added(&indexed), [false; 2]);
    let put = |indexed: &Indexed, document: Document| {
        indexed.compare(|place| indexed.run(place, &Sources::documents([document.clone()])))
    };
    let remove = |indexed: &Indexed, ids: &[&str]| indexed.compare(|place| indexed.remove(place, ids));
    let edits: [Edit<'_>; 8] = [
        (&|all| put(all, note(2, "Ada Wren painted the heron twice.")), [0, 1, 0]),
        (&|all| put(all, note(50, "A granary burned beside it.")), [1, 0, 0]),
        (&|all| remove(all, &["note-12", "sarrow"]), [0, 0, 2]),
        // Again, so that the additions go.
        (&|all| put(all, note(2, "Nobody painted it.")), [0, 1, 0]),
        (&|all| put(all, Document { title: Some("Another mill".to_owned()), ..note(3, "It is new.") }), [0, 1, 0]),
        (&|all| remove(all, &["note-50"]), [0, 0, 1]),
        (&|all| put(all, Document::new("a", Some("Mill 9".to_owned()), "Mill 9 stands at the quay.")), [1, 0, 0]),
        (&|all| remove(all, &["note-9", "note-2"]), [0, 0, 2]),
    ];
    for (edit, due) in edits {
        let documents = edit(&indexed).documents;
        assert_eq!([documents.added, documents.changed, documents.removed], due);
        assert_eq!(added(&indexed), [true; 2]);
    }
    let files = ["segments.bin", "text/added-passages/meta.json", "text/sentences/meta.json"].map(|name| (name, 0));
    for (name, whole) in files.into_iter().chain(["vectors.bin", "added-vectors.bin"].map(|name| (name, 1))) {
        indexed.damage(name);
        let mut workspace = indexed.workspace("index");
        indexed.runtime.block_on(repair(&mut workspace, &indexed.performers, &indexed.options)).unwrap();
        assert!(workspace.check().unwrap().is_whole() && !added(&indexed)[whole], "{name}");
        put(&indexed, note(4, &format!("It was sold after {name}.")));
        assert_eq!(added(&indexed), [true; 2], "{name}");
    }
    let many: Vec<String> = (20..35).map(|number| format!("note-{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(remove(&indexed, &many).documents.removed, 15);
    assert_eq!(added(&indexed), [false; 2]);
}

#[test]
fn unchanged_texts_are_not_embedded_again() {
    for is_costly in [false, true] {
        let embedder = Arc::new(Counting { is_costly, ..Counting::default() });
        let mut indexed = Indexed::new(embedder.clone());
        let counted = || embedder.texts.swap(0, Ordering::Relaxed);
        counted();
        indexed.documents[2].text.push_str(" Ada Wren painted it in 1790.");
        indexed.update("index");
        let changed = counted();
        for version in fs::read_dir(indexed.path("index").join("versions")).unwrap() {
            fs::remove_dir_all(version.unwrap().path()).unwrap();
        }
        indexed.update("index");
        let all = counted();
        assert!(0 < changed && 3 * changed < all, "{changed} of {all}");
    }
}

#[test]
fn questions_that_a_model_wrote_leave_names_terms_and_vectors_of_texts_as_they_are() {
    for embedder in embedders() {
        let indexed = Indexed::new(embedder);
        let mut writer = indexed.workspace("index").writer().unwrap();
        let (_, passages) = writer.records().unwritten(ModelStage::Questions, "a model").unwrap().swap_remove(0);
        let question = |kind, text: &str| {
            PseudoQuery::by_model(passages[0], kind, text.to_owned(), ["heron bridge"].into_iter().collect(), 0)
        };
        let questions = vec![
            question(QuestionKind::Incoming, "Who painted the Heron Bridge?"),
            question(QuestionKind::Outgoing, "When was the Heron Bridge built?"),
        ];
        let written = WrittenQuestions { passage: passages[0], questions: Ok(questions) };
        writer.records().write_questions(&[written], "a model").unwrap();
        drop(writer);
        indexed.check(&[&VECTORS[2..], &[MATCHING]].concat());
    }
}

#[test]
fn entities_that_a_model_found_change_names_and_hierarchy_and_nothing_else() {
    let indexed = Indexed::new(Arc::new(StaticTable));
    let mut writer = indexed.workspace("index").writer().unwrap();
    let (document, passages) = writer.records().unwritten(ModelStage::Entities, "a model").unwrap().swap_remove(0);
    let unit = writer.records().document_unit(document).unwrap().unwrap();
    let text = &unit.passages[0].passage.text;
    let entity = |name: &str| ExtractedEntity {
        name: name.to_lowercase(),
        kind: Some("person".to_owned()),
        description: format!("{name} is in the notes."),
        spans: vec![Span::from(text.find(name).unwrap()..text.find(name).unwrap() + name.len())],
    };
    let words = text.split_whitespace().filter(|word| word.chars().all(char::is_alphanumeric));
    let words: Vec<&str> = words.filter(|word| word.len() > 5).collect();
    let evidence = Span { start: 0, end: 9 };
    let relation = ExtractedRelation { ends: [0, 1], description: "They meet.".to_owned(), strength: 7, evidence };
    let found = Extraction {
        entities: vec![entity(words[0]), entity(words.iter().find(|it| **it != words[0]).unwrap())],
        relations: vec![relation],
        ..Extraction::default()
    };
    let written = WrittenExtraction { passage: passages[0], found: Ok(found) };
    writer.records().write_extractions(&[written], "a model").unwrap();
    drop(writer);
    indexed.check(&[NAMES, RESOLUTION, HIERARCHY]);
    let lines = indexed.workspace("index").snapshot().unwrap().canonical_lines().unwrap();
    assert!(lines.iter().any(|it| it.contains("They meet.")) && lines.iter().any(|it| it.contains("is in the notes")));
    let repair = |place: &str| {
        let mut workspace = indexed.workspace(place);
        indexed.runtime.block_on(repair(&mut workspace, &indexed.performers, &indexed.options)).unwrap()
    };
    indexed.damage("descriptions.bin");
    indexed.check_with(repair, &[NAMES, HIERARCHY]);
    write_report(&indexed);
    indexed.check(&[]);
    // A model's extractions and reports are taken over.
    let options = MatchOptions { quota: EdgeQuota::Split { within: 1, across: 1 }, ..MatchOptions::default() };
    let indexed = Indexed { options: IndexOptions { matching: options, ..IndexOptions::default() }, ..indexed };
    indexed.check(&[MATCHING]);
    let lines = indexed.workspace("index").snapshot().unwrap().canonical_lines().unwrap();
    assert_eq!(lines.iter().filter(|it| it.starts_with("{\"report\":")).count(), 1);
}

/// Keeps a report about a community of the current version.
fn write_report(indexed: &Indexed) {
    let workspace = indexed.workspace("index");
    let snapshot = workspace.snapshot().unwrap();
    let community = community_ids(&snapshot.graph(), &snapshot.hierarchy().unwrap())[0];
    let passage = snapshot.passage(PassageOrdinal(0)).unwrap().passage;
    let finding = ReportFinding { text: "There is more.".to_owned(), sentences: vec![(passage, 0)] };
    let report = TopicReport { title: "A".to_owned(), summary: "A.".to_owned(), rating: 4, findings: vec![finding] };
    let written = WrittenReport { about: community.into(), content: [7; 16], report: Ok(WrittenText::Topic(report)) };
    workspace.writer().unwrap().records().write_reports(ModelStage::Reports, &[written], "a model").unwrap();
}

#[test]
fn another_embedder_rebuilds_vectors_and_matching() {
    let mut indexed = Indexed::new(Arc::new(StaticTable));
    indexed.options.other_embedder = OtherEmbedder::ReEmbed;
    // Vectors stay the same in the first case.
    let cases: [(Performers, &[&str]); 3] = [
        (Performers::with_embedder(Arc::new(Counting::default())), &[]),
        (Performers::without_embedder(), &[MATCHING, HIERARCHY]),
        (Performers::built_in(), &[MATCHING, HIERARCHY]),
    ];
    for (performers, others) in cases {
        let renew = |place: &str| {
            let mut workspace = indexed.workspace(place);
            indexed.runtime.block_on(re_embed(&mut workspace, &performers, &indexed.options)).unwrap()
        };
        indexed.check_with(renew, &[&VECTORS[..], others].concat());
    }
}

#[test]
fn a_repair_rebuilds_damaged_parts_and_what_depends_on_them() {
    for embedder in embedders() {
        let indexed = Indexed::new(embedder);
        let repair = |place: &str| {
            let mut workspace = indexed.workspace(place);
            indexed.runtime.block_on(repair(&mut workspace, &indexed.performers, &indexed.options)).unwrap()
        };
        // Text lengths are stored with the graph.
        indexed.damage("graph.bin");
        indexed.check_with(repair, &[NAMES, RESOLUTION, HIERARCHY, TERMS]);
        indexed.damage("matches.bin");
        indexed.check_with(repair, &[MATCHING]);
        indexed.damage("names.bin");
        // It also has what documents say of names.
        indexed.check_with(repair, &[NAMES, RESOLUTION]);
        indexed.damage("resolution.bin");
        indexed.check_with(repair, &[RESOLUTION]);
        indexed.damage("hierarchy.bin");
        indexed.check_with(repair, &[HIERARCHY]);
        indexed.damage("texts.bin");
        indexed.check_with(repair, &[]);
        indexed.damage("text/passages/meta.json");
        indexed.check_with(repair, &[TERMS]);
        // A small file of vectors is a single block. Equal vectors match equally.
        indexed.damage("vectors.bin");
        indexed.check_with(repair, &VECTORS);
    }
}

/// The records of documents that did not change are not read for a version, but for a few, others each time.
#[test]
fn documents_of_the_last_version_are_compared_with_the_records_in_turn() {
    let mut indexed = Indexed::new(Arc::new(StaticTable));
    let note = |id: String| Document::new(id, None, "Mill 7 stands at the quay. Ada Wren built it in 1790.");
    indexed.documents = (0..600).map(|number| note(format!("note-{number:03}"))).collect();
    indexed.update("index");
    let records = rusqlite::Connection::open(indexed.path("index").join("cairn.db")).unwrap();
    let damage = "UPDATE passages SET section = 'x' WHERE document IN \
                  (SELECT document FROM documents WHERE source_id = 'note-200')";
    assert_eq!(records.execute(damage, []).unwrap(), 1);
    drop(records);
    let put = |id: &str| {
        let (mut workspace, sources) = (indexed.workspace("index"), Sources::documents([note(id.to_owned())]));
        indexed.runtime.block_on(index(&mut workspace, &sources, &indexed.performers, &indexed.options))
    };
    let lines = || indexed.workspace("index").snapshot().unwrap().canonical_lines().unwrap();
    let of_note = |lines: &[String]| lines.iter().filter(|it| it.contains("note-200")).cloned().collect::<Vec<_>>();
    let before = lines();
    assert_eq!(put("zy").unwrap().documents.added, 1);
    assert_eq!(of_note(&lines()), of_note(&before));
    assert!(matches!(put("zz"), Err(Error::Corrupt { .. })));
    assert!(!indexed.workspace("index").check().unwrap().is_whole());
}

/// Returns a note that says how often it was edited.
fn edited(number: u32, edit: u32) -> Document {
    let text = format!("Mill {} stands at the quay. Ada Wren built it in {edit}.", number % 50);
    let mut note =
        Document::new(format!("note-{number:03}"), number.is_multiple_of(3).then(|| "A mill".to_owned()), text);
    note.metadata.insert("edit".to_owned(), edit.to_string());
    note
}

/// More than are read in each run. Some changes wait in the records, where damage says that a version has them.
#[test]
fn many_documents_are_as_a_clean_build_makes_them_after_random_edits() {
    const NOTES: u32 = 700;
    let mut indexed = Indexed::new(Arc::new(StaticTable));
    indexed.documents = (0..NOTES).map(|number| edited(number, 1700)).collect();
    indexed.update("index");
    let mut state = 7_u64;
    let mut random = |below: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % below
    };
    for round in 1..=2 {
        let waits = random(NOTES);
        let gone = edited((waits + 1 + random(500)) % NOTES, 0).id;
        let mut writer = indexed.workspace("index").writer().unwrap();
        writer.records().commit_units(&[indexed.unit(edited(waits, 1800 + round))]).unwrap();
        writer.records().remove_documents(&[gone]).unwrap();
        drop(writer);
        let records = rusqlite::Connection::open(indexed.path("index").join("cairn.db")).unwrap();
        assert!(records.execute("UPDATE units SET version = 0", []).unwrap() > 500);
        drop(records);
        // All vectors seem to be the same, and then metadata are no JSON any more.
        let forged = [("matches.bin", "incoming.vector"), ("texts.bin", "document.metadata")][round as usize - 1];
        forge(&indexed.workspace("index"), forged, |bytes| bytes.fill(b'x'));
        let numbers = [random(NOTES), random(NOTES), NOTES + round].into_iter().filter(|number| *number != waits);
        let edits: Vec<Document> = numbers.map(|number| edited(number, 1900 + round)).collect();
        indexed.compare(|place| indexed.run(place, &Sources::Documents(edits.clone())));
        let lines = indexed.workspace("index").snapshot().unwrap().canonical_lines().unwrap();
        for (number, edit) in [(waits, 1800 + round), (NOTES + round, 1900 + round)] {
            let text = format!("built it in {edit}.");
            assert!(lines.iter().any(|line| line.contains(&text)), "{number} in round {round}");
        }
    }
}

/// If no stage version is raised, indexes keep earlier results of a stage.
#[test]
fn of_equal_inputs_each_version_of_a_stage_makes_the_same() {
    let indexed = Indexed::new(Arc::new(Counting { is_costly: true, ..Counting::default() }));
    let snapshot = indexed.workspace("index").snapshot().unwrap();
    let mut found = Inputs::new();
    let mut sections = crate::store::GraphReader::graph(&snapshot).sections();
    let hierarchy = crate::store::GraphReader::hierarchy(&snapshot).unwrap();
    // Layers depend on how a processor rounds.
    sections.extend(hierarchy.sections().into_iter().filter(|it| !it.0.starts_with("summary.")));
    sections.extend(crate::store::GraphReader::resolution(&snapshot).unwrap().sections());
    let last = indexed.workspace("index").last_version().unwrap();
    sections.extend(last.names().unwrap().sections());
    let texts = Sections::read(&indexed.path("index").join("versions/1/texts.bin")).unwrap();
    sections.sort_unstable();
    for (name, bytes) in sections.into_iter().chain(texts.iter()) {
        found.text(name).bytes(bytes);
    }
    for (term, passages, sentences) in terms(&snapshot) {
        found.text(&term).number(passages as usize).number(sentences as usize);
    }
    found.vectors(&snapshot.outgoing_vectors().unwrap());
    let raised = StageKind::ALL.map(|stage| stage.info().version);
    assert_eq!(
        (raised, found.digest().to_hex().as_str()),
        ([1, 4, 2, 1, 1, 1, 1, 2, 6, 2, 1], "bde70215fa3d233d401b15c8de52c1584551f9f3385df3b1f6e1f26037b63351"),
        "stages make something else of these notes: raise the version of each that does in `StageKind::info`, unless \
         its inputs are others (the notes, or questions by other `RULES`) or there are more arrays, and say both here"
    );
}

#[test]
fn of_two_tasks_one_that_fails_stops_the_other_before_its_next_stage_and_damage_is_what_is_reported() {
    let options = IndexOptions::default();
    let damage = || Error::Corrupt { path: "graph.bin".into(), reason: "it is damaged".to_owned() };
    let refused = || Error::Internal("a server refused it".to_owned());
    let first = [StageKind::Names, StageKind::PassageVectors];
    let begin = || Stages::begin(None, &options).unwrap();
    let kind = |result: Result<((), ())>| result.unwrap_err().kind();

    let stages = begin();
    let has_failed = || stages.has_failed.load(Ordering::Relaxed);
    let goes_on = || {
        while !has_failed() {
            thread::yield_now();
        }
        stages.enter(StageKind::Hierarchy)
    };
    assert_eq!(kind(stages.beside(first, goes_on, || Err::<(), _>(refused()))), ErrorKind::Internal);
    assert_eq!(kind(begin().beside(first, || Err::<(), _>(refused()), || Err::<(), _>(damage()))), ErrorKind::Corrupt);
    assert_eq!(kind(begin().beside(first, || Err::<(), _>(damage()), || Err::<(), _>(refused()))), ErrorKind::Corrupt);
    let both = begin().beside(first, || Ok(1), || Ok(2));
    assert_eq!(both.unwrap(), (1, 2));
}
