//! What the records guarantee: documents are replaced as a whole, nothing of the old ones is left, and everything is
//! read back unchanged.

use rustc_hash::FxHashMap;

use super::*;
use crate::domain::{
    ASPECTS_MAX, Aspect, ClusterSummary, Cost, DocumentId, ExtractedEntity, Extraction, Keywords, NamePair,
    NameVerdict, PassageId, PseudoQuery, QuestionKind, ReportFinding, Span, Spent, SubjectId, TopicReport, Usage,
    WrittenText,
};
use crate::error::ErrorKind;
use crate::workspace::tests::unit_of;

fn records(folder: &Path) -> Records {
    let path = folder.join("cairn.db");
    if !path.exists() {
        Records::create(&path, &WorkspaceOptions { embedder: "embedder".to_owned(), dimension: 8 }).unwrap();
    }
    Records::open_to_write(&path).unwrap()
}

fn units(records: &Records) -> Vec<DocumentUnit> {
    let mut units = Vec::new();
    records
        .for_each_document_unit(&mut |unit| {
            units.push(unit);
            Ok(())
        })
        .unwrap();
    units
}

fn count(records: &Records, table: &str) -> u32 {
    records.connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

#[test]
fn units_come_back_as_they_were_by_source_id() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = records(folder.path());
    let mut second = unit_of("b", Some("Beta"), &["One sentence.", "Another one. And more."]);
    second.document.metadata.insert("year".to_owned(), "1890 \"x\"".to_owned());
    second.passages[1].passage.section = Some("Top › Below".to_owned());
    let first = unit_of("a", None, &["Ein Satz mit é und 東京."]);
    records.commit_units(&[second.clone(), first.clone()]).unwrap();
    assert_eq!(units(&records), [first.clone(), second.clone()]);
    assert_eq!(records.document_unit(second.document.id).unwrap(), Some(second));
    assert_eq!(records.document_unit(DocumentId::of(&[b"none"])).unwrap(), None);
    assert_eq!(records.unit(first.document.id).unwrap(), Some(first.fingerprint));
}

#[test]
fn a_unit_replaced_leaves_no_rows_of_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = records(folder.path());
    let old = unit_of("a", Some("Old"), &["One.", "Two.", "Three."]);
    let other = unit_of("b", None, &["Other."]);
    records.commit_units(&[old, other.clone()]).unwrap();
    let new = unit_of("a", None, &["Two.", "Four."]);
    records.commit_units(std::slice::from_ref(&new)).unwrap();
    assert_eq!(units(&records), [new.clone(), other.clone()]);
    let questions = [&new, &other].iter().flat_map(|it| &it.passages).map(|it| it.questions.len()).sum::<usize>();
    let expect = [("documents", 2), ("passages", 3), ("questions", questions as u32), ("units", 2)];
    for (table, rows) in expect {
        assert_eq!(count(&records, table), rows, "{table}");
    }
}

#[test]
fn documents_removed_are_gone_with_all_that_was_made_from_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = records(folder.path());
    let (gone, kept) = (unit_of("a", None, &["One.", "Two."]), unit_of("b", None, &["Three."]));
    records.commit_units(&[gone.clone(), kept.clone()]).unwrap();
    let absent = DocumentId::of(&[b"absent"]);
    assert_eq!(records.remove_documents(&[gone.document.id, absent]).unwrap(), 1);
    assert_eq!(units(&records), [kept]);
    assert_eq!(records.unit(gone.document.id).unwrap(), None);
    assert_eq!(count(&records, "questions"), 2);
}

/// Looking through the whole database takes a second for some hundred thousand documents.
#[test]
fn the_database_is_looked_through_before_a_change_and_not_for_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = records(folder.path());
    records.commit_units(&[]).unwrap();
    assert_eq!(records.remove_documents(&[]).unwrap(), 0);
    assert!(!records.is_looked_through);
    records.commit_units(&[unit_of("a", None, &["One."])]).unwrap();
    assert!(records.is_looked_through);
}

#[test]
fn nothing_is_written_to_a_database_with_a_lost_page_whether_or_not_a_write_was_expected() {
    const PAGE: usize = 4_096;
    let folder = tempfile::tempdir().unwrap();
    records(folder.path()).commit_units(&[unit_of("a", None, &["One."])]).unwrap();
    let path = folder.path().join("cairn.db");
    let whole = std::fs::read(&path).unwrap();
    let mut damaged = whole.clone();
    // One more page, which nothing uses, and their number in the header.
    damaged.extend_from_within(..PAGE);
    let pages = (damaged.len() / PAGE) as u32;
    damaged[28..32].copy_from_slice(&pages.to_be_bytes());
    for (bytes, is_whole) in [(&damaged, false), (&whole, true)] {
        for is_expected in [true, false] {
            std::fs::write(&path, bytes).unwrap();
            let mut records = records(folder.path());
            if is_expected {
                records.expect_write();
                assert!(records.page_check.is_some());
            }
            let written = records.set_chunking("passages of 100 tokens").map_err(|error| error.kind());
            assert_eq!(written, if is_whole { Ok(()) } else { Err(ErrorKind::Corrupt) });
            assert_eq!(records.is_looked_through, is_whole);
            records.expect_write();
            assert_eq!(records.page_check.is_some(), !is_whole && !is_expected, "it is begun once");
        }
    }
}

#[test]
fn an_inconsistent_unit_is_refused_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = records(folder.path());
    let good = unit_of("a", None, &["One."]);
    let mut bad = unit_of("b", None, &["Two."]);
    bad.passages[0].passage.span = Span { start: 0, end: 2 };
    let error = records.commit_units(&[good, bad]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert_eq!(units(&records), []);
    assert!(!records.manifest().unwrap().is_changed);
}

#[test]
fn documents_are_listed_with_the_fingerprint_of_what_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = records(folder.path());
    let (done, failed) = (unit_of("a", None, &["One."]), unit_of("b", None, &["Two."]));
    records.commit_units(&[done.clone(), failed.clone()]).unwrap();
    records.fail_unit(failed.document.id, "another", "too long").unwrap();
    let mut listed = records.documents().unwrap();
    listed.sort_by(|a, b| b.fingerprint.cmp(&a.fingerprint));
    let stored = |unit: &DocumentUnit, fingerprint| StoredDocument {
        id: unit.document.id,
        root: unit.root.as_str().into(),
        uri: unit.document.uri.clone(),
        content: unit.content,
        fingerprint,
    };
    assert_eq!(listed, [stored(&done, Some(done.fingerprint.as_str().into())), stored(&failed, None)]);
    let counts = records.unit_counts().unwrap();
    assert_eq!((counts.done, counts.pending, counts.failed), (0, 1, 1));
}

#[test]
fn skips_and_options_of_the_last_run_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = records(folder.path());
    let skip = |source: &str| Skip { source: source.to_owned(), reason: "not UTF-8".to_owned() };
    records.set_skips(&[skip("a"), skip("b")]).unwrap();
    records.set_skips(&[skip("c")]).unwrap();
    assert_eq!(records.skips().unwrap(), [skip("c")]);
    records.set_chunking("256 pieces").unwrap();
    let manifest = records.manifest().unwrap();
    assert_eq!(manifest.chunking.as_deref(), Some("256 pieces"));
    assert_eq!((manifest.current, manifest.is_changed, manifest.dimension), (None, false, 8));
}

#[test]
fn a_verdict_on_two_names_is_kept_in_either_order_until_the_opposite_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = records(folder.path());
    let pair = |one: &str, other: &str, verdict| NamePair { one: one.to_owned(), other: other.to_owned(), verdict };
    assert_eq!(records.set_name_pair(pair("lund", "ada lund", NameVerdict::Same)).unwrap(), None);
    assert!(records.manifest().unwrap().is_changed);
    let before = records.set_name_pair(pair("ada lund", "lund", NameVerdict::Apart)).unwrap();
    assert_eq!(before, Some(NameVerdict::Same));
    assert_eq!(records.name_pairs().unwrap(), [pair("ada lund", "lund", NameVerdict::Apart)]);
    for damage in ["UPDATE name_pairs SET verdict = 0", "UPDATE name_pairs SET verdict = 7"] {
        records.connection.execute(damage, []).unwrap();
        assert_eq!(records.name_pairs().unwrap_err().kind(), ErrorKind::Corrupt, "{damage}");
    }
    assert_eq!(records.forget_damaged().unwrap(), ["merges and splits of names"]);
    assert_eq!(records.name_pairs().unwrap(), []);
}

#[test]
fn an_error_of_the_visitor_ends_the_reading() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = records(folder.path());
    records.commit_units(&[unit_of("a", None, &["One."]), unit_of("b", None, &["Two."])]).unwrap();
    let mut seen = 0;
    let ended = records.for_each_document_unit(&mut |_| {
        seen += 1;
        Err(Error::Cancelled)
    });
    assert!(matches!(ended, Err(Error::Cancelled)));
    assert_eq!(seen, 1);
}

#[test]
fn foreign_or_damaged_databases_are_corrupt_and_other_formats_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cairn.db");
    for contents in [&b""[..], b"SQLite format 3\0 and then nothing", &[0x55; 8192]] {
        std::fs::write(&path, contents).unwrap();
        for opened in [Records::open_to_read(&path), Records::open_to_write(&path)] {
            assert_eq!(opened.unwrap_err().kind(), ErrorKind::Corrupt, "{}", contents.len());
        }
    }
    std::fs::remove_file(&path).unwrap();
    drop(records(folder.path()));
    Connection::open(&path).unwrap().pragma_update(None, "user_version", INDEX_FORMAT + 1).unwrap();
    let error = Records::open_to_read(&path).unwrap_err();
    let is_newer = |found| found == INDEX_FORMAT + 1;
    assert!(matches!(error, Error::Format { found, supported: INDEX_FORMAT, .. } if is_newer(found)), "{error}");
}

#[test]
fn a_row_that_was_damaged_is_corrupt() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = records(folder.path());
    records.commit_units(&[unit_of("a", None, &["One."])]).unwrap();
    let damages = [
        "UPDATE documents SET metadata = 'no object'",
        "UPDATE documents SET text = 'x', metadata = '{}'",
        "UPDATE documents SET text = 'One.', id = x'00'",
        "UPDATE questions SET kind = 9",
    ];
    for damage in damages {
        records.connection.execute(damage, []).unwrap();
        let error = records.for_each_document_unit(&mut |_| Ok(())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{damage}: {error}");
    }
    records.connection.execute("DELETE FROM manifest", []).unwrap();
    assert_eq!(records.manifest().unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn questions_keep_their_side_and_keywords() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = records(folder.path());
    let mut unit = unit_of("a", None, &["One."]);
    let passage: PassageId = unit.passages[0].passage.id;
    let keywords: Keywords = ["é", "a \"quoted\" one"].into_iter().collect();
    let question = PseudoQuery::by_rule(passage, QuestionKind::Outgoing, "Why?".to_owned(), keywords, 0);
    unit.passages[0].questions = vec![question];
    records.commit_units(std::slice::from_ref(&unit)).unwrap();
    assert_eq!(units(&records), [unit]);
}

#[test]
fn what_is_spent_adds_up_by_model_and_calls_of_unknown_price_make_the_sum_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let mut written = records(folder.path());
    let usage = Usage { input_tokens: 7, output_tokens: 2, is_estimated: false };
    let cost = Cost { amount: 0.5, currency: "EUR".to_owned() };
    let call = Spent { calls: 1, usage, cost: Some(cost.clone()), ..Spent::default() };
    let kept = Spent { cached: 3, ..Spent::default() };
    for (model, spent) in [("a", &call), ("a", &kept), ("a", &call), ("b", &call), ("c", &Spent::default())] {
        written.add_spending(model, spent).unwrap();
    }
    written.add_spending("b", &Spent { cost: None, ..call.clone() }).unwrap();
    for (model, lost) in [("a", 1), ("d", 1), ("a", 2)] {
        written.add_spending(model, &Spent { lost, ..Spent::default() }).unwrap();
    }
    // As seen by a process after another one was killed.
    let read = Records::open_to_read(&folder.path().join("cairn.db")).unwrap().spending().unwrap();
    let twice = Usage { input_tokens: 14, output_tokens: 4, is_estimated: false };
    let sum = Some(Cost { amount: 1.0, ..cost });
    let due = [
        ("a".to_owned(), Spent { calls: 2, cached: 3, lost: 3, usage: twice, cost: sum }),
        ("b".to_owned(), Spent { calls: 2, usage: twice, ..Spent::default() }),
        ("d".to_owned(), Spent { lost: 1, ..Spent::default() }),
    ];
    assert_eq!(read, due);
    // Everything else waits for the disk as before.
    let mode: i64 = written.connection.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap();
    assert_eq!(mode, 2);
}

#[test]
fn a_change_waits_for_whoever_holds_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = records(folder.path());
    let mut other = rusqlite::Connection::open(folder.path().join("cairn.db")).unwrap();
    let (held, is_held) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let _transaction = other.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
            held.send(()).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(50));
        });
        is_held.recv().unwrap();
        records.commit_units(&[unit_of("a", None, &["One."])]).unwrap();
    });
    assert_eq!(units(&records).len(), 1);
}

#[test]
fn passages_that_a_writer_failed_at_are_listed_until_it_wrote_their_questions() {
    const STAGE: ModelStage = ModelStage::Questions;
    let folder = tempfile::tempdir().unwrap();
    let mut records = records(folder.path());
    let unit = unit_of("a", None, &["One.", "Two."]);
    records.commit_units(std::slice::from_ref(&unit)).unwrap();
    let ids: Vec<PassageId> = unit.passages.iter().map(|it| it.passage.id).collect();
    let failed = |passage| WrittenQuestions { passage, questions: Err("no JSON".to_owned()) };
    records.write_questions(&[failed(ids[0]), failed(ids[1])], "w").unwrap();
    assert_eq!((records.failed_by(STAGE, "w").unwrap().len(), records.failed_by(STAGE, "v").unwrap().len()), (2, 0));
    let written = WrittenQuestions { passage: ids[0], questions: Ok(Vec::new()) };
    records.write_questions(&[written], "w").unwrap();
    assert_eq!(records.failed_by(STAGE, "w").unwrap(), [*ids[1].as_bytes()]);
}

/// Returns a model's extraction from a passage with this text: its first word.
fn extraction_of(text: &str) -> Extraction {
    let word = text.split([' ', '.']).next().unwrap();
    let entity = ExtractedEntity {
        name: word.to_lowercase(),
        kind: Some("number".to_owned()),
        description: "A \"number\".".to_owned(),
        spans: vec![Span::from(0..word.len())],
    };
    Extraction { entities: vec![entity], ..Extraction::default() }
}

#[test]
fn what_a_model_found_stays_with_its_passage_and_goes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = records(folder.path());
    let mut unit = unit_of("a", None, &["One.", "Two."]);
    records.commit_units(std::slice::from_ref(&unit)).unwrap();
    let stage = ModelStage::Entities;
    assert_eq!(records.unwritten(stage, "w").unwrap()[0].1.len(), 2);
    let ids: Vec<PassageId> = unit.passages.iter().map(|it| it.passage.id).collect();
    let found = extraction_of("One.");
    let written = [
        WrittenExtraction { passage: ids[0], found: Ok(found.clone()) },
        WrittenExtraction { passage: ids[1], found: Err("no JSON".to_owned()) },
        WrittenExtraction { passage: PassageId::of(&[b"gone"]), found: Ok(found.clone()) },
    ];
    records.write_extractions(&written, "w").unwrap();
    unit.passages[0].extracted = Some(Extracted { writer: "w".to_owned(), found });
    assert_eq!(units(&records), [unit.clone()]);
    assert_eq!(records.unwritten(stage, "w").unwrap(), [(unit.document.id, vec![ids[1]])]);
    assert_eq!(records.failed_by(stage, "w").unwrap(), [*ids[1].as_bytes()]);
    assert_eq!(records.written_counts(stage).unwrap(), WrittenCounts { written: 1, failed: 1 });
    assert_eq!(records.unwritten_reasons(stage).unwrap()[0].reason, "no JSON");
    assert_eq!(records.written_counts(ModelStage::Questions).unwrap(), WrittenCounts::default());

    // Committed as a whole, it is there again; once removed, nothing is left.
    records.commit_units(std::slice::from_ref(&unit)).unwrap();
    assert_eq!(units(&records), [unit.clone()]);
    records.remove_documents(&[unit.document.id]).unwrap();
    assert_eq!((count(&records, "extractions"), count(&records, "units")), (0, 0));
    assert!(records.survey().strays.is_empty());
}

#[test]
fn what_a_model_found_and_was_damaged_is_corrupt() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = records(folder.path());
    let mut unit = unit_of("a", None, &["One."]);
    unit.passages[0].extracted = Some(Extracted { writer: "w".to_owned(), found: extraction_of("One.") });
    // An extraction that no passage supports is not accepted, whatever its digest.
    let mut foreign = unit_of("b", None, &["Two."]);
    foreign.passages[0].extracted = Some(Extracted { writer: "w".to_owned(), found: extraction_of("Thousands.") });
    records.commit_units(&[foreign.clone()]).unwrap();
    assert_eq!(records.document_unit(foreign.document.id).unwrap_err().kind(), ErrorKind::Corrupt);
    records.remove_documents(&[foreign.document.id]).unwrap();
    for damage in [
        "UPDATE extractions SET found = replace(found, 'one', 'two')",
        "UPDATE units SET fingerprint = 'v' WHERE stage = 'entities'",
        "DELETE FROM extractions",
        "DELETE FROM units WHERE stage = 'entities'",
    ] {
        records.commit_units(std::slice::from_ref(&unit)).unwrap();
        records.connection.execute(damage, []).unwrap();
        let error = records.document_unit(unit.document.id).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{damage}: {error}");
        assert_eq!(records.survey().documents.len(), 1, "{damage}");
    }
}

#[test]
fn types_and_reports_are_kept_and_damaged_ones_are_found_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = records(folder.path());
    let types = ProposedTypes { writer: "w".to_owned(), types: vec!["mill".to_owned()] };
    records.set_proposed_types(&types).unwrap();
    assert_eq!(records.proposed_types().unwrap(), Some(types));
    let [one, two] = ["one", "two"].map(|name| SubjectId::of(&[name.as_bytes()]));
    let report = WrittenText::Topic(TopicReport {
        title: "Mills".to_owned(),
        summary: "About mills.".to_owned(),
        findings: vec![ReportFinding {
            text: "There are two.".to_owned(),
            sentences: vec![(PassageId::of(&[b"p"]), 1)],
        }],
        rating: 3,
    });
    let written = |about, report| WrittenReport { about, content: [7; 16], report };
    let all =
        [written(one, Ok(report.clone())), written(two, Err(format!("Wheels: two{}no JSON", ModelStage::AFTER_TITLE)))];
    records.write_reports(ModelStage::Reports, &all, "w").unwrap();
    let stored = StoredReport { about: one, content: [7; 16], writer: "w".to_owned(), report };
    assert_eq!(records.reports().unwrap(), [stored]);
    let failed = |what: &str| Skip { source: format!("the {what} `Wheels: two`"), reason: "no JSON".to_owned() };
    assert_eq!(records.unreported_reasons(ModelStage::Reports).unwrap(), [failed("topic")]);
    assert!(records.survey().strays.is_empty() && records.survey().rows.is_empty());

    records.connection.execute("UPDATE reports SET report = replace(report, 'two', 'six')", []).unwrap();
    records.connection.execute("UPDATE entity_types SET types = '[\"planet\"]'", []).unwrap();
    assert_eq!(records.reports().unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(records.proposed_types().unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(records.survey().rows.len(), 2);
    assert_eq!(records.forget_damaged().unwrap().len(), 2);
    assert_eq!((records.reports().unwrap(), records.proposed_types().unwrap()), (Vec::new(), None));
    records.write_reports(ModelStage::Reports, &all, "w").unwrap();
    records.keep_reports(&[two]).unwrap();
    let left = |records: &Records| {
        let reasons = [ModelStage::Reports, ModelStage::Summaries].map(|it| records.unreported_reasons(it).unwrap());
        (records.reports().unwrap().len(), reasons.map(|it| it.len()))
    };
    assert_eq!(left(&records), (0, [1, 0]));

    // A text about clusters is kept as well.
    let aspect = Aspect {
        name: "Mills".to_owned(),
        kind: Some("place".to_owned()),
        description: "They grind.".to_owned(),
        sentences: vec![(PassageId::of(&[b"p"]), 1)],
    };
    let summary = |aspects| WrittenText::Cluster(ClusterSummary { aspects });
    let all = [written(one, Ok(summary(vec![aspect.clone()]))), written(two, Err("Wheels: two\nno JSON".to_owned()))];
    records.write_reports(ModelStage::Summaries, &all, "w").unwrap();
    assert_eq!(records.reports().unwrap()[0].stage(), ModelStage::Summaries);
    assert_eq!(records.unreported_reasons(ModelStage::Summaries).unwrap(), [failed("cluster")]);
    assert_eq!((left(&records), records.survey().strays.len()), ((1, [1, 1]), 0));
    records.keep_reports(&[one]).unwrap();
    assert_eq!(left(&records), (1, [0, 0]));
    // More than a model may say cannot be what was written.
    let all = [written(one, Ok(summary(vec![aspect; ASPECTS_MAX + 1])))];
    records.write_reports(ModelStage::Summaries, &all, "w").unwrap();
    assert_eq!(records.reports().unwrap_err().kind(), ErrorKind::Corrupt);
}

/// Returns an index of many documents, their seals in its version, and the document that changed since.
fn changed_since(folder: &Path) -> (FxHashMap<DocumentId, Seal>, DocumentUnit) {
    let mut records = records(folder);
    let all: Vec<DocumentUnit> =
        (0..40).map(|it| unit_of(&format!("n{it:02}"), None, &["One sentence.", "Another."])).collect();
    records.commit_units(&all).unwrap();
    let mut seals = FxHashMap::default();
    let sealed = records.each_unit(None, &mut |unit| {
        let ListedUnit::Read(unit, seal) = unit else { panic!() };
        seals.insert(unit.document.id, seal.unwrap());
        Ok(())
    });
    sealed.unwrap();
    records.connection.execute("UPDATE units SET version = 1", []).unwrap();
    let changed = unit_of("n17", None, &["One sentence.", "It is another now."]);
    records.commit_units(std::slice::from_ref(&changed)).unwrap();
    (seals, changed)
}

/// Returns the documents that are not as the version has them, if each is there once.
fn read_after(records: &Records, seals: &FxHashMap<DocumentId, Seal>, compared: usize) -> Result<Vec<DocumentUnit>> {
    let (mut seen, mut read) = (Vec::new(), Vec::new());
    records.each_unit(Some((&|id| seals.get(&id).copied(), compared)), &mut |unit| {
        match unit {
            ListedUnit::AsInVersion(id) => seen.push(id),
            ListedUnit::Read(unit, _) => {
                seen.push(unit.document.id);
                read.push(*unit);
            }
        }
        Ok(())
    })?;
    seen.sort_unstable();
    let mut due: Vec<DocumentId> = seals.keys().copied().collect();
    due.sort_unstable();
    assert_eq!(seen, due);
    Ok(read)
}

#[test]
fn what_changed_is_read_whatever_the_markers_say_of_versions() {
    let folder = tempfile::tempdir().unwrap();
    let (seals, changed) = changed_since(folder.path());
    let mut records = records(folder.path());
    for version in ["NULL", "0", "1", "9"] {
        records.connection.execute(&format!("UPDATE units SET version = {version}"), []).unwrap();
        assert_eq!(read_after(&records, &seals, 0).unwrap(), std::slice::from_ref(&changed), "{version}");
    }
    // Some are read although they have their seals, and those without seals are read.
    assert_eq!(read_after(&records, &seals, 10).unwrap().len(), 11);
    let known = |(id, seal): (&DocumentId, &Seal)| (*id, if id.as_bytes()[0] % 2 == 0 { *seal } else { [1; 16] });
    let some: FxHashMap<DocumentId, Seal> = seals.iter().map(known).collect();
    let unknown = some.iter().filter(|(id, seal)| **seal == [1; 16] && **id != changed.document.id).count();
    assert_eq!(read_after(&records, &some, 0).unwrap().len(), unknown + 1);
    // Where a model wrote, all is read, and has no seals there.
    let written = WrittenQuestions { passage: changed.passages[0].passage.id, questions: Ok(Vec::new()) };
    records.write_questions(&[written], "w").unwrap();
    assert_eq!(read_after(&records, &seals, 0).unwrap().len(), seals.len());
    let mut unsealed = Vec::new();
    let sealed = records.each_unit(None, &mut |unit| {
        if let ListedUnit::Read(unit, None) = unit {
            unsealed.push(unit.document.id);
        }
        Ok(())
    });
    sealed.unwrap();
    assert_eq!(unsealed, [changed.document.id]);
}

#[test]
fn a_marker_that_was_damaged_or_is_lost_makes_no_document_pass_for_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let (seals, changed) = changed_since(folder.path());
    let records = records(folder.path());
    records.connection.execute_batch("CREATE TEMP TABLE saved AS SELECT * FROM units WHERE unit = 3").unwrap();
    for damage in [
        "UPDATE units SET fingerprint = 'another' WHERE unit = 3",
        "UPDATE units SET key = x'00112233445566778899aabbccddeeff' WHERE unit = 3",
        "UPDATE units SET stage = 'passagez' WHERE unit = 3",
        "UPDATE units SET content = NULL WHERE unit = 3",
        "UPDATE units SET digest = x'' WHERE unit = 3",
        "UPDATE units SET state = 2 WHERE unit = 3",
        "DELETE FROM units WHERE unit = 3",
    ] {
        records.connection.execute_batch(damage).unwrap();
        let error = read_after(&records, &seals, 0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{damage}: {error}");
        records.connection.execute_batch("DELETE FROM units WHERE unit = 3").unwrap();
        records.connection.execute_batch("INSERT INTO units SELECT * FROM saved").unwrap();
        assert_eq!(read_after(&records, &seals, 0).unwrap(), std::slice::from_ref(&changed), "{damage}");
    }
}

/// The database's own check before a write does not compare its indexes with the tables.
#[test]
fn damage_to_an_index_of_the_database_hides_no_change() {
    let folder = tempfile::tempdir().unwrap();
    let (seals, changed) = changed_since(folder.path());
    let path = folder.path().join("cairn.db");
    let of_ids = "SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND name LIKE 'sqlite_autoindex_%' \
                  AND tbl_name IN ('documents', 'units')";
    let (pages, page_bytes) = {
        let records = records(folder.path());
        records.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let pages: Vec<usize> = records.read_all(of_ids, |row| row.get::<_, u32>(0).map(|it| it as usize)).unwrap();
        (pages, records.connection.pragma_query_value(None, "page_size", |row| row.get::<_, u32>(0)).unwrap() as usize)
    };
    assert_eq!(pages.len(), 2);
    let whole = std::fs::read(&path).unwrap();
    let mut unnoticed = 0;
    for page in pages {
        let used = |at: &usize| whole[*at] != 0;
        for at in ((page - 1) * page_bytes..page * page_bytes).filter(used).step_by(11) {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            std::fs::write(&path, damaged).unwrap();
            let read = Records::open_to_read(&path).and_then(|records| read_after(&records, &seals, 0));
            match read {
                Ok(read) => assert_eq!(read, std::slice::from_ref(&changed), "{at}"),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{at}: {error}"),
            }
            unnoticed += usize::from(Records::open_to_read(&path).is_ok());
        }
    }
    assert!(unnoticed > 50, "{unnoticed}");
}
