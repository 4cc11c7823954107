//! What a workspace guarantees, on a tiny index made by hand.

use super::*;
use crate::domain::{Document, Keywords, Passage, PassageId, Positions, PseudoQuery, QuestionKind, Span};
use crate::graph::hierarchy::PackedHierarchy;
use crate::graph::ordinal::{DocumentOrdinal, IncomingOrdinal, Ordinal as _, OutgoingOrdinal, PassageOrdinal, listed};
use crate::graph::packed::{CUES, NO_CUE, PackedGraph, PassageGraph};
use crate::graph::resolution::PackedResolution;
use crate::graph::vectors::QuantizedVectors;
use crate::store::{GraphReader, TextField, VectorField};

const DIMENSION: usize = 4;

mod damage;

/// Returns a document with these passages, each with an in-coming and an out-coming question and one sentence.
pub(super) fn unit_of(source_id: &str, title: Option<&str>, texts: &[&str]) -> DocumentUnit {
    let document = Document::new(source_id, title.map(str::to_owned), texts.join(" "));
    let mut passages = Vec::new();
    let mut start = 0;
    for (ordinal, text) in texts.iter().enumerate() {
        let id = PassageId::of(&[document.id.as_bytes(), text.as_bytes()]);
        let question =
            |kind, text: String| PseudoQuery::by_rule(id, kind, text, ["key"].into_iter().collect::<Keywords>(), 0);
        let questions = vec![
            question(QuestionKind::Incoming, format!("What says {text}?")),
            question(QuestionKind::Outgoing, format!("What follows {text}?")),
        ];
        let passage = Passage {
            id,
            document: document.id,
            ordinal: ordinal as u32,
            span: Span::from(start..start + text.len()),
            section: None,
            page: None,
            line: None,
            column: None,
            text: (*text).to_owned(),
            sentences: vec![Span::from(0..text.len())],
        };
        start += text.len() + 1;
        passages.push(PassageUnit { passage, questions, writer: None, extracted: None });
    }
    DocumentUnit {
        root: "/root".to_owned(),
        content: *blake3::hash(document.text.as_bytes()).as_bytes(),
        fingerprint: format!("fingerprint of {source_id}"),
        document,
        passages,
    }
}

/// Passages and sentences have the same terms.
impl<F: Fn(usize, &mut String) + Sync> FieldTerms for F {
    fn passage(&self, passage: usize, terms: &mut String) {
        self(passage, terms);
    }

    fn sentence(&self, sentence: usize, terms: &mut String) {
        self(sentence, terms);
    }
}

/// Returns a graph with this many passages in each document: each has a sentence, a question of each kind, a mention
/// and a keyword, and an edge to the next one.
fn graph_of(documents: &[u32]) -> PackedGraph {
    let passages: u32 = documents.iter().sum();
    let ones: Vec<u32> = (0..=passages).collect();
    let each: Vec<u32> = (0..passages).collect();
    let next: Vec<u32> = each.iter().map(|passage| (passage + 1) % passages.max(1)).collect();
    let rows = std::iter::once(0).chain(documents.iter().scan(0, |sum, count| {
        *sum += count;
        Some(*sum)
    }));
    let all = passages as usize;
    let nothing = vec![0; all];
    PackedGraph {
        document_passages: rows.collect(),
        passage_document: (0..)
            .zip(documents)
            .flat_map(|(it, count)| vec![DocumentOrdinal(it); *count as usize])
            .collect(),
        passage_sentences: ones.clone(),
        sentence_passage: listed(&each),
        passage_length: vec![3; all],
        sentence_length: vec![2; all],
        entity_name_ends: vec![5],
        entity_names: b"caf\xc3\xa9".to_vec(),
        entity_documents: vec![documents.len() as u32],
        entity_flags: vec![0],
        entity_bearers: vec![0, 1],
        bearer_document: listed(&[0]),
        bearer_passage: listed(&[0]),
        bearer_kind: vec![0],
        document_own: (0..=documents.len()).map(|document| u32::from(document > 0)).collect(),
        own_entity: listed(&[0]),
        passage_mentions: ones.clone(),
        mention_entity: listed(&nothing),
        mention_sentence: listed(&each),
        mention_cues: vec![NO_CUE; all * CUES],
        entity_mentions: vec![0, passages],
        posting_mention: listed(&each),
        posting_passage: listed(&each),
        cue_ends: vec![3],
        cue_prefixes: b"bui".to_vec(),
        passage_incoming: ones.clone(),
        incoming_passage: listed(&each),
        incoming_keywords: ones.clone(),
        incoming_keyword: listed(&nothing),
        incoming_sentence: vec![0; passages as usize],
        outgoing_sentence: vec![0; passages as usize],
        outgoing_keywords: (0..=passages).collect(),
        outgoing_keyword: listed(&nothing),
        keyword_ends: vec![3, 7],
        keyword_texts: b"keylock".to_vec(),
        passage_keywords: ones.clone(),
        passage_keyword: listed(&nothing),
        passage_edges: ones.clone(),
        edge_target: listed(&next),
        edge_incoming: listed(&next),
        edge_outgoing: listed(&each),
        edge_similarity: vec![0.5; all],
        edge_keywords: ones,
        edge_keyword: listed(&nothing),
    }
}

fn options() -> WorkspaceOptions {
    WorkspaceOptions { embedder: "embedder".to_owned(), dimension: DIMENSION }
}

/// Publishes the records.
pub(crate) fn publish(writer: &mut Writer) -> IndexVersion {
    publish_with(writer, &|passage, vectors| vectors.push(&[1.0, -0.5, 0.0, passage.text.len() as f32]))
}

/// Publishes it with these vectors.
fn publish_with(writer: &mut Writer, push: &dyn Fn(&PassagePart<'_>, &mut QuantizedVectors)) -> IndexVersion {
    let mut units = Vec::new();
    writer
        .records()
        .for_each_document_unit(&mut |unit| {
            units.push(unit);
            Ok(())
        })
        .unwrap();
    let documents: Vec<DocumentPart<'_>> = units.iter().map(|unit| (&unit.document).into()).collect();
    let with_questions: Vec<&PassageUnit> = units.iter().flat_map(|unit| &unit.passages).collect();
    let passages: Vec<PassagePart<'_>> = with_questions.iter().map(|unit| (&unit.passage).into()).collect();
    let mut questions = ReadQuestions::default();
    for unit in &with_questions {
        questions.push(unit.questions.clone());
    }
    let [incoming, outgoing] =
        [QuestionKind::Incoming, QuestionKind::Outgoing].map(|kind| QuestionParts::of_all(questions.of(kind)));
    let of_passages = questions.of(QuestionKind::Outgoing).of_passages().iter();
    let outgoing_passages: Vec<PassageOrdinal> = PassageOrdinal::first(with_questions.len())
        .zip(of_passages)
        .flat_map(|(passage, count)| std::iter::repeat_n(passage, *count as usize))
        .collect();
    let counts: Vec<u32> = units.iter().map(|unit| unit.passages.len() as u32).collect();
    let graph = graph_of(&counts);
    let mut vectors = QuantizedVectors::new(DIMENSION);
    for passage in &passages {
        push(passage, &mut vectors);
    }
    let terms = |ordinal: usize, terms: &mut String| terms.push_str(passages[ordinal].text);
    let begun = writer.begin_version(&TextParts {
        documents: &documents,
        originals: &DocumentOrdinal::first(documents.len()).collect::<Vec<_>>(),
        bands: &vec![[0; 16]; documents.len()],
        seals: &vec![Some([7; 16]); documents.len()],
        passages: &passages,
        incoming: &incoming,
        outgoing: &outgoing,
        outgoing_passages: &outgoing_passages,
        passage_vectors: vectors.view(),
        sentence_vectors: vectors.view(),
        incoming_vectors: vectors.view(),
        outgoing_vectors: vectors.view(),
        terms: Terms::Made(&terms),
        last: None,
    });
    publish_graph(writer, begun.unwrap(), &graph).unwrap()
}

/// Publishes a begun version with a graph.
fn publish_graph(writer: &mut Writer, mut begun: BegunVersion, graph: &PackedGraph) -> Result<IndexVersion> {
    begun.write_graph(&graph.view(), None)?;
    publish_rest(writer, begun, graph)
}

fn publish_rest(writer: &mut Writer, begun: BegunVersion, graph: &PackedGraph) -> Result<IndexVersion> {
    let parts = VersionParts {
        created_at: "2030-01-01T00:00:00Z",
        graph,
        hierarchy: &PackedHierarchy::without_relations(graph.entity_name_ends.len()),
        names: None,
        descriptions: None,
        resolution: &PackedResolution::of_names(graph.entity_name_ends.len()),
        without_vectors: 0,
        stages: &StageMarks::new(),
    };
    writer.publish_version(begun, &parts).map(|it| it.0)
}

/// Begins a version without texts.
fn begin_empty(writer: &mut Writer) -> BegunVersion {
    let none = QuantizedVectors::new(DIMENSION);
    let no_terms = |_: usize, _: &mut String| {};
    let begun = writer.begin_version(&TextParts {
        documents: &[],
        originals: &[],
        bands: &[],
        seals: &[],
        passages: &[],
        incoming: &QuestionParts::default(),
        outgoing: &QuestionParts::default(),
        outgoing_passages: &[],
        passage_vectors: none.view(),
        sentence_vectors: none.view(),
        incoming_vectors: none.view(),
        outgoing_vectors: none.view(),
        terms: Terms::Made(&no_terms),
        last: None,
    });
    begun.unwrap()
}

/// Makes an index of two documents with three passages.
pub(crate) fn indexed(path: &Path) -> Workspace {
    let workspace = Workspace::open_or_create(path, &options()).unwrap();
    let mut writer = workspace.writer().unwrap();
    let mut first = unit_of("notes/a.md", Some("Café"), &["Paris river.", "river bridge bridge"]);
    first.document.metadata.insert("year".to_owned(), "1890".to_owned());
    first.passages[1].passage.section = Some("Top › Below".to_owned());
    first.document.positions = Positions::of_lines();
    writer.records().commit_units(&[first, unit_of("notes/b.md", None, &["A bridge."])]).unwrap();
    assert_eq!(publish(&mut writer), IndexVersion(1));
    workspace
}

/// Changes a section of a file of the current version, whose checksums are right afterwards.
pub(crate) fn forge(workspace: &Workspace, (file, section): (&str, &str), change: impl Fn(&mut [u8])) {
    let mut writer = workspace.writer().unwrap();
    let mut row = writer.records().current_version().unwrap().unwrap();
    let path = version_folder(workspace.path(), row.version).join(file);
    let range = sections::Sections::read(&path).unwrap().range(section).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    change(&mut bytes[range]);
    std::fs::write(&path, bytes).unwrap();
    row.files.iter_mut().find(|it| it.path == file).unwrap().stamp = stamp::Stamp::of(&path).unwrap();
    writer.records().finish_version(&row, records::LastFiles::Gone).unwrap();
}

/// Reads everything from a snapshot.
fn read_whole(snapshot: &Snapshot) -> Vec<String> {
    let mut found = vec![format!("{} {:?} {}", snapshot.version(), snapshot.counts(), snapshot.embedder())];
    found.extend(snapshot.graph().documents().map(|it| format!("{:?}", snapshot.document(it).unwrap())));
    found.extend(snapshot.graph().passages().map(|it| format!("{:?}", snapshot.passage(it).unwrap())));
    found.extend(snapshot.graph().incoming_passage.ordinals().map(|it| snapshot.incoming(it).to_owned()));
    found.extend(snapshot.outgoing_passages().ordinals().map(|it| snapshot.outgoing(it).to_owned()));
    found.push(format!("{:?}", snapshot.graph()));
    for field in [VectorField::Passage, VectorField::Sentence, VectorField::Incoming] {
        found.push(format!("{:?}", snapshot.vectors(field).unwrap()));
    }
    for field in [TextField::Passage, TextField::Sentence] {
        for term in ["bridge", "river", "A", "absent"] {
            let mut postings = Vec::new();
            snapshot.postings(field, term, &mut |ordinal, count| postings.push((ordinal, count))).unwrap();
            found.push(format!("{term} {postings:?}"));
        }
    }
    found
}

#[test]
fn a_version_comes_back_as_it_was_published() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(folder.path());
    let snapshot = Workspace::open(workspace.path()).unwrap().snapshot().unwrap();
    assert_eq!(snapshot.version(), IndexVersion(1));
    let counts = snapshot.counts();
    assert_eq!((counts.documents, counts.titled, counts.passages, counts.sentences), (2, 1, 3, 3));
    assert_eq!((counts.incoming, counts.outgoing, counts.edges, counts.entities, counts.mentions), (3, 3, 3, 1, 3));
    assert_eq!(snapshot.graph(), graph_of(&[2, 1]).view());
    let passage = snapshot.passage(PassageOrdinal(1)).unwrap();
    assert_eq!((passage.text.as_str(), passage.section.as_deref()), ("river bridge bridge", Some("Top › Below")));
    assert_eq!((passage.page, passage.line, passage.column), (None, Some(1), Some(14)));
    assert_eq!((passage.span, passage.sentences), (Span { start: 13, end: 32 }, vec![Span { start: 0, end: 19 }]));
    assert_eq!(passage.passage, snapshot.passage_id(PassageOrdinal(1)));
    let document = snapshot.document(DocumentOrdinal(0)).unwrap();
    assert_eq!((document.title.as_deref(), document.source_id.as_str()), (Some("Café"), "notes/a.md"));
    assert_eq!(document.metadata.get("year").map(String::as_str), Some("1890"));
    assert_eq!(snapshot.document(DocumentOrdinal(1)).unwrap().title, None);
    assert_eq!(snapshot.incoming(IncomingOrdinal(2)), "What says A bridge.?");
    assert_eq!(snapshot.outgoing(OutgoingOrdinal(0)), "What follows Paris river.?");
    let unit = workspace.records().unwrap().document_unit(document.document).unwrap().unwrap();
    assert_eq!(snapshot.incoming_id(IncomingOrdinal(1)), unit.passages[1].questions[0].id);
    assert_eq!(snapshot.outgoing_id(OutgoingOrdinal(1)), unit.passages[1].questions[1].id);
    assert_eq!(*snapshot.outgoing_passages(), [0, 1, 2]);
    let mut postings = Vec::new();
    snapshot.postings(TextField::Passage, "bridge", &mut |ordinal, count| postings.push((ordinal, count))).unwrap();
    assert_eq!(postings, [(1, 2)]);
    let vectors = snapshot.vectors(VectorField::Passage).unwrap();
    assert_eq!((vectors.dimension, vectors.scales.len(), vectors.codes[3]), (DIMENSION, 3, 127));
    assert!(snapshot.passage(PassageOrdinal(3)).is_err() && snapshot.document(DocumentOrdinal(2)).is_err());
    assert_eq!((snapshot.incoming(IncomingOrdinal(3)), snapshot.outgoing(OutgoingOrdinal(u32::MAX))), ("", ""));
}

#[test]
fn a_reader_still_reads_its_version_after_two_more() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(folder.path());
    let snapshot = workspace.snapshot().unwrap();
    let before = read_whole(&snapshot);
    let mut writer = workspace.writer().unwrap();
    for (version, text) in [(2, "Changed."), (3, "Changed again.")] {
        writer.records().commit_units(&[unit_of("notes/b.md", None, &[text])]).unwrap();
        assert_eq!(publish(&mut writer), IndexVersion(version));
    }
    assert!([1, 2].iter().all(|version| !version_folder(folder.path(), IndexVersion(*version)).exists()));
    assert_eq!(read_whole(&snapshot), before);
    assert_eq!(workspace.snapshot().unwrap().passage(PassageOrdinal(2)).unwrap().text, "Changed again.");
}

#[test]
fn a_version_stays_while_somebody_opens_it_and_no_longer() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(folder.path());
    let mut writer = workspace.writer().unwrap();
    let places =
        |versions: [u64; 3]| versions.map(|version| version_folder(folder.path(), IndexVersion(version)).exists());
    let in_use = files::use_folder(&version_folder(folder.path(), IndexVersion(1)));
    assert!(in_use.is_some());
    publish(&mut writer);
    assert_eq!(places([1, 2, 3]), [true, true, false]);
    drop(in_use);
    publish(&mut writer);
    assert_eq!(places([1, 2, 3]), [false, false, true]);
    // An exclusive lock on the folder does not stop readers: they look up the version again.
    let _claimed = files::claim_folder(&version_folder(folder.path(), IndexVersion(3)));
    assert_eq!(workspace.snapshot().unwrap().version(), IndexVersion(3));
}

#[test]
fn a_version_that_is_replaced_while_it_is_opened_gives_way_to_the_current_one() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(folder.path());
    let records = workspace.records().unwrap();
    let row = records.current_version().unwrap().unwrap();
    let mut writer = workspace.writer().unwrap();
    publish(&mut writer);
    publish(&mut writer);
    assert!(!version_folder(folder.path(), row.version).exists());
    assert_eq!(workspace.open_version(&records, row).unwrap().version(), IndexVersion(3));
}

#[test]
fn an_index_without_documents_opens() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open_or_create(folder.path(), &options()).unwrap();
    assert!(matches!(workspace.snapshot(), Err(Error::NoVersion { .. })));
    let mut writer = workspace.writer().unwrap();
    let begun = begin_empty(&mut writer);
    publish_graph(&mut writer, begun, &PackedGraph::default()).unwrap();
    assert_eq!(workspace.snapshot().unwrap().counts(), Counts::default());
}

#[test]
fn a_version_that_would_not_open_is_not_published() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(folder.path());
    let mut writer = workspace.writer().unwrap();
    let wrong = PackedGraph { own_entity: listed(&[7]), ..PackedGraph::default() };
    for graph in [wrong, graph_of(&[1])] {
        let begun = begin_empty(&mut writer);
        assert!(matches!(publish_graph(&mut writer, begun, &graph), Err(Error::Internal(_))));
    }
    let begun = begin_empty(&mut writer);
    assert!(matches!(publish_rest(&mut writer, begun, &PackedGraph::default()), Err(Error::Internal(_))));
    let mut begun = begin_empty(&mut writer);
    let none = PackedGraph::default();
    begun.write_graph(&none.view(), None).unwrap();
    assert!(matches!(begun.write_graph(&none.view(), None), Err(Error::Internal(_))));
    let _left = begin_empty(&mut writer);
    assert_eq!(std::fs::read_dir(folder.path().join(VERSIONS)).unwrap().count(), 2);
    writer.discard();
    assert_eq!(std::fs::read_dir(folder.path().join(VERSIONS)).unwrap().count(), 1);
    drop(writer);
    assert_eq!(workspace.snapshot().unwrap().version(), IndexVersion(1));
    drop(workspace.writer().unwrap());
    assert_eq!(std::fs::read_dir(folder.path().join(VERSIONS)).unwrap().count(), 1);
}

#[test]
fn what_a_killed_run_leaves_is_cleared_and_the_last_version_stays() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(folder.path());
    let versions = folder.path().join(VERSIONS);
    for leftover in [".tmp-2", "2", ".tmp-9"] {
        std::fs::create_dir_all(versions.join(leftover).join("text")).unwrap();
        std::fs::write(versions.join(leftover).join("graph.bin"), "half").unwrap();
    }
    assert_eq!(workspace.snapshot().unwrap().version(), IndexVersion(1));
    let mut writer = workspace.writer().unwrap();
    assert_eq!(std::fs::read_dir(&versions).unwrap().count(), 1);
    std::fs::create_dir_all(versions.join("2").join("text")).unwrap();
    writer.records().commit_units(&[unit_of("notes/b.md", None, &["Changed."])]).unwrap();
    assert_eq!(publish(&mut writer), IndexVersion(2));
    assert_eq!(workspace.snapshot().unwrap().version(), IndexVersion(2));
}

#[test]
fn what_a_killed_creation_leaves_is_taken_for_ours_and_cleared() {
    let folder = tempfile::tempdir().unwrap();
    let left = ["cairn.db-new", "cairn.db-new-journal", "cairn.db-new-wal", "cairn.db-new-shm"];
    let leave = || left.map(|name| std::fs::write(folder.path().join(name), "half").unwrap());
    let are_left = || left.map(|name| folder.path().join(name).exists());
    leave();
    let workspace = indexed(folder.path());
    assert_eq!(are_left(), [false; 4]);
    leave();
    drop(workspace.writer().unwrap());
    assert_eq!(are_left(), [false; 4]);
    assert_eq!(workspace.snapshot().unwrap().version(), IndexVersion(1));
    // A foreign file with such a name is not removed.
    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join("cairn.db-newer"), "mine").unwrap();
    assert!(matches!(Workspace::open_or_create(other.path(), &options()), Err(Error::NotAnIndex { .. })));
    assert_eq!(std::fs::read(other.path().join("cairn.db-newer")).unwrap(), b"mine");
}

/// With mapped files, SIGBUS would end this process.
#[test]
fn a_version_read_into_memory_still_works_when_its_files_are_cut() {
    let folder = tempfile::tempdir().unwrap();
    let before = read_whole(&indexed(folder.path()).snapshot().unwrap());
    let workspace = Workspace::open(folder.path()).unwrap().with_file_access(FileAccess::Read);
    let snapshot = workspace.snapshot().unwrap();
    for entry in walkdir::WalkDir::new(folder.path().join(VERSIONS)).into_iter().map(Result::unwrap) {
        if entry.file_type().is_file() {
            std::fs::write(entry.path(), "").unwrap();
        }
    }
    assert_eq!(read_whole(&snapshot), before);
    assert!(snapshot.check().is_ok());
    let found = workspace.check().unwrap().checks;
    assert!(found.iter().any(|it| it.check == "files" && it.offenders > 10), "{found:?}");
}

#[test]
fn a_second_writer_is_busy_and_readers_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(folder.path());
    let mut writer = workspace.writer().unwrap();
    assert!(matches!(workspace.writer(), Err(Error::Busy { .. })));
    writer.records().commit_units(&[unit_of("c", None, &["New."])]).unwrap();
    let reader = Workspace::open(folder.path()).unwrap();
    assert_eq!(reader.snapshot().unwrap().counts().documents, 2);
    assert!(reader.status().unwrap().is_changed);
    drop(writer);
    assert!(workspace.writer().is_ok());
}

#[test]
fn a_status_says_what_waits_for_a_version() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(folder.path());
    let status = workspace.status().unwrap();
    assert_eq!((status.units_done, status.units_pending, status.units_failed), (2, 0, 0));
    assert_eq!((status.version, status.is_changed), (Some(IndexVersion(1)), false));
    assert_eq!((status.embedder.as_str(), status.dimension, status.format), ("embedder", DIMENSION, INDEX_FORMAT));
    assert_eq!(status.created_at.as_deref(), Some("2030-01-01T00:00:00Z"));
    assert!(status.bytes > 10_000);
    let mut writer = workspace.writer().unwrap();
    writer.records().commit_units(&[unit_of("notes/b.md", None, &["Changed."])]).unwrap();
    let status = workspace.status().unwrap();
    assert_eq!((status.units_done, status.units_pending, status.is_changed), (1, 1, true));
    assert_eq!(status.counts.documents, 2);
}

#[test]
fn an_index_is_made_in_an_empty_or_missing_folder_only() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("a/b");
    assert!(matches!(Workspace::open(&missing), Err(Error::NoIndex { .. })));
    assert!(Workspace::open_or_create(&missing, &options()).is_ok());
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    assert!(matches!(Workspace::open(&empty), Err(Error::NoIndex { .. })));
    assert!(Workspace::open_or_create(&empty, &options()).is_ok());
    let foreign = folder.path().join("foreign");
    std::fs::create_dir_all(foreign.join("versions/1.2")).unwrap();
    assert!(matches!(Workspace::open_or_create(&foreign, &options()), Err(Error::NotAnIndex { .. })));
    assert!(matches!(Workspace::open(&foreign), Err(Error::NoIndex { .. })));
    let file = folder.path().join("file");
    std::fs::write(&file, "text").unwrap();
    for path in [file.clone(), file.join("below")] {
        assert!(Workspace::open(&path).is_err() && Workspace::open_or_create(&path, &options()).is_err());
    }
    assert!(matches!(Workspace::open_or_create(&file, &options()), Err(Error::NotAnIndex { .. })));
    assert_eq!(std::fs::read(&file).unwrap(), b"text");
}

#[test]
fn an_index_of_another_embedder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(indexed(folder.path()));
    assert!(Workspace::open_or_create(folder.path(), &options()).is_ok());
    for (embedder, dimension) in [("other", DIMENSION), ("embedder", DIMENSION + 1)] {
        let options = WorkspaceOptions { embedder: embedder.to_owned(), dimension };
        assert!(matches!(Workspace::open_or_create(folder.path(), &options), Err(Error::Embedder { .. })));
    }
}
