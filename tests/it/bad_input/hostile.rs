//! Documents of hostile shapes: each is indexed or left out with a reason, none of its text is lost, and every step
//! takes time linear in its size.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn::domain::Document;
use cairn::{Cancellation, Error, IndexOptions, Sources};
use serde_json::Value;

use super::skips;
use crate::support::hostile::{SHAPES, Shape};
use crate::support::{Cli, index_with, workspace};

/// Bytes of a shape here; the torture test uses more.
const BYTES: usize = 48 << 10;
/// A step that takes quadratic time would take minutes; a linear one takes a second.
const FAR_TOO_LONG: Duration = Duration::from_mins(1);

fn indexed(shape: &Shape, bytes: usize) -> (tempfile::TempDir, cairn::Result<cairn::IndexReport>) {
    let folder = tempfile::tempdir().unwrap();
    let file = shape.write(folder.path(), bytes).unwrap();
    let report = index_with(&folder.path().join("index"), &Sources::folder(file), &IndexOptions::default());
    (folder, report)
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_document_of_any_shape_is_indexed_or_left_out_with_a_reason() {
    assert!(SHAPES.len() >= 35);
    for shape in SHAPES {
        let start = Instant::now();
        let (folder, report) = indexed(shape, BYTES);
        assert!(start.elapsed() < FAR_TOO_LONG, "{}: {:?}", shape.name, start.elapsed());
        match report {
            Ok(report) => {
                assert!(report.counts.documents > 0 && report.counts.passages > 0, "{}", shape.name);
                let shown = workspace(&folder.path().join("index")).status().unwrap();
                assert_eq!(shown.counts, report.counts, "{}", shape.name);
            }
            Err(Error::NoDocuments { sources }) => {
                assert!(
                    ["json-deep", "json-id", "html-ends", "html-attributes"].contains(&shape.name),
                    "{}: {sources}",
                    shape.name
                );
                assert!(sources.contains("skipped"), "{}: {sources}", shape.name);
            }
            Err(error) => panic!("{}: {error}", shape.name),
        }
    }
}

#[test]
fn a_run_is_stopped_inside_a_document_at_every_stage() {
    let prose = SHAPES.iter().find(|shape| shape.name == "prose").unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (number, stage) in ["reading", "finding names", "embedding", "matching questions", "writing"].iter().enumerate()
    {
        // Large enough to be stopped while it is read, and no larger than that for the later stages.
        let bytes = if *stage == "reading" { 3 << 20 } else { 512 << 10 };
        let file = prose.write(folder.path(), bytes).unwrap();
        let path = folder.path().join(format!("index-{number}"));
        let (cancellation, wanted) = (Cancellation::default(), *stage);
        let stop = cancellation.clone();
        let sink = move |progress: cairn::Progress| {
            if progress.stage == wanted {
                stop.cancel();
            }
        };
        let options = IndexOptions { progress: Some(Arc::new(sink)), cancellation, ..IndexOptions::default() };
        let stopped = index_with(&path, &Sources::folder(&file), &options);
        assert!(matches!(stopped, Err(Error::Cancelled)), "{stage}: {stopped:?}");
        let status = workspace(&path).status().unwrap();
        assert_eq!((status.version, status.counts.passages), (None, 0), "{stage}");
        // An unfinished document leaves nothing behind, a finished one everything.
        assert_eq!(status.units_pending, u64::from(*stage != "reading"), "{stage}");
    }
}

#[test]
fn what_a_limit_leaves_out_of_a_document_is_told_and_its_text_is_whole() {
    let cli = Cli::new();
    let title = "Mill ".repeat(100);
    let record = format!(r#"{{"id":"a","title":"{title}","{}":"x","text":"The mill stands."}}"#, "k".repeat(300));
    cli.write("notes/a.jsonl", record);
    cli.write("notes/b.md", format!("Short.\n\n# {}\n\n{}", "Tarn ".repeat(100), "It runs by the mill. ".repeat(200)));
    let report = cli.json(&["index", "notes"]);
    assert_eq!(skips(&report), [""; 0]);
    let warnings = report["warnings"].as_array().unwrap();
    let said = warnings.iter().filter_map(Value::as_str).find(|it| it.starts_with("limits were reached")).unwrap();
    for part in [
        "but no text is left out",
        "its title is cut to 300 characters",
        "1 of its metadata entries are too long",
        "`notes/b.md`: ",
        "headings are shortened",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // Unchanged documents are not indexed again.
    assert_eq!(cli.json(&["index", "notes"])["documents"]["unchanged"], 2);
}

#[test]
fn a_record_of_too_many_values_is_left_out_and_the_next_is_read() {
    let cli = Cli::new();
    let many = format!(r#"{{"id":"many","text":"x","values":[{}1]}}"#, "1,".repeat(300_000));
    let good = r#"{"id":"good","text":"The mill stands."}"#;
    cli.write("notes/a.jsonl", format!("{many}\n{good}\n"));
    cli.write("notes/b.json", format!("[{},{}]", many.replace("many", "more"), good.replace("good", "well")));
    let report = cli.json(&["index", "notes"]);
    assert_eq!(report["documents"]["added"], 2);
    let reason = "a record of more than 262144 values";
    assert_eq!(skips(&report), [format!("notes/a.jsonl:1: {reason}"), format!("notes/b.json, item 1: {reason}")]);
}

#[test]
fn documents_that_a_program_hands_over_have_the_limits_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let documents = [
        Document::new("a".repeat(2_000), None, "The mill stands."),
        Document::new("b", Some("Mill ".repeat(100)), "The mill runs."),
    ];
    let report =
        index_with(&folder.path().join("index"), &Sources::documents(documents), &IndexOptions::default()).unwrap();
    assert_eq!((report.counts.documents, report.skips.len()), (1, 1));
    assert!(report.skips[0].reason.contains("its id has 2000 bytes") && report.skips[0].source.len() < 200);
    assert!(report.warnings.iter().any(|it| it.contains("`b`: its title is cut")), "{:?}", report.warnings);
}

#[test]
fn an_emptied_folder_keeps_its_documents_until_removal_is_confirmed() {
    let cli = Cli::new();
    cli.write("disk/a.txt", "The mill stands.");
    cli.write("disk/b.txt", "The mill runs.");
    cli.write("notes/c.txt", "The river runs.");
    cli.json(&["index", "disk", "notes"]);
    for name in ["a", "b"] {
        fs::remove_file(cli.folder().join(format!("disk/{name}.txt"))).unwrap();
    }
    let report = cli.json(&["index", "disk", "notes"]);
    assert_eq!((&report["documents"]["removed"], &report["documents"]["unchanged"]), (&0.into(), &3.into()));
    let warning = report["warnings"][0].as_str().unwrap();
    for part in ["2 of the 2 documents", "/disk`", "kept"] {
        assert!(warning.contains(part), "{part}: {warning}");
    }
    let said = cli.run(["index", "disk", "notes"]).succeeded().stderr;
    assert!(said.contains("looks the same; `") && said.contains("index PATH --remove` removes them"), "{said}");
    let report = cli.json(&["index", "disk", "notes", "--remove"]);
    assert_eq!((&report["documents"]["removed"], &report["counts"]["documents"]), (&2.into(), &1.into()));
    assert_eq!(
        report["warnings"].as_array().unwrap().iter().filter(|it| it.to_string().contains("looks the same")).count(),
        0
    );
}

#[test]
fn most_of_a_folder_is_removed_only_on_request_and_a_few_documents_at_once() {
    let cli = Cli::new();
    let write = |number: usize| drop(cli.write(&format!("notes/{number}.txt"), format!("Mill {number} stands.")));
    let remove = |number: usize| fs::remove_file(cli.folder().join(format!("notes/{number}.txt"))).unwrap();
    (0..21).for_each(write);
    cli.json(&["index", "notes"]);
    (0..10).for_each(remove);
    assert_eq!(cli.json(&["index", "notes"])["documents"]["removed"], 10, "10 of 21");
    (0..10).for_each(write);
    cli.json(&["index", "notes"]);
    (0..11).for_each(remove);
    let report = cli.json(&["index", "notes"]);
    assert_eq!((&report["documents"]["removed"], &report["counts"]["documents"]), (&0.into(), &21.into()));
    assert_eq!(cli.json(&["index", "notes", "--remove"])["documents"]["removed"], 11);
}
