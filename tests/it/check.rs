//! `cairn check`: damage is found and named, repaired if the source exists, and never published.

use std::fs;
use std::path::{Path, PathBuf};

use cairn::{Document, Sources};
use rusqlite::Connection;
use serde_json::Value;

use crate::support::flips::{Flip, Original, Outcome, copy};
use crate::support::forged::mark_lost;
use crate::support::{Cli, Random, assert_valid, files_below, harbor_notes, has_segments, index};

/// Returns the program with an index of two notes.
fn indexed() -> Cli {
    let cli = Cli::new();
    cli.write("notes/mill.md", "# The mill\n\nAda Wren built the mill in 1790. It ground corn for the harbor.");
    cli.write("notes/bridge.md", "# The bridge\n\nTom Hale drew the bridge. Who paid for the bridge is not known.");
    cli.json(&["index", "notes"]);
    cli
}

fn change(cli: &Cli, sql: &str) {
    let records = Connection::open(cli.folder().join(".cairn/cairn.db")).unwrap();
    assert!(records.execute(sql, []).unwrap() > 0, "{sql}");
}

/// Runs the check and returns its report; it must end with `status`.
#[track_caller]
fn check(cli: &Cli, args: &[&str], status: i32) -> Value {
    let said = cli.run([&["check", "--json"], args].concat());
    assert_eq!(said.status, Some(status), "{said:#?}");
    said.has_not_panicked();
    let report = serde_json::from_str(&said.stdout).unwrap();
    assert_valid("check", &report);
    report
}

/// Returns the names of the checks that failed.
fn offended(report: &Value) -> Vec<String> {
    let checks = report["checks"].as_array().unwrap().iter();
    let offended = checks.filter(|it| it["offenders"] != 0);
    offended.map(|it| it["check"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_intact_index_is_reported_as_intact() {
    let cli = indexed();
    let report = check(&cli, &[], 0);
    assert_eq!((offended(&report), &report["version"]), (Vec::new(), &1.into()));
    let checks: Vec<&str> =
        report["checks"].as_array().unwrap().iter().map(|it| it["check"].as_str().unwrap()).collect();
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/commands.md")).unwrap();
    let (_, table) = page.split_once("| check | what must hold |").expect("the page lists the checks");
    let listed = table.lines().skip(2).map_while(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(checks, listed.collect::<Vec<_>>());
    let said = cli.run(["check"]).succeeded();
    assert!(said.stderr.contains("documents                    ok"), "{said:#?}");
    cli.refuses(&["check", "--index", "absent"], "no_index", &["no index at `absent`"]);
}

/// Values that the database accepts, one for every table.
const DAMAGES: [(&str, &str); 17] = [
    ("UPDATE documents SET text = replace(text, 'Ada', 'Eda')", "documents"),
    ("UPDATE documents SET title = 'The mall' WHERE uri LIKE '%mill.md'", "documents"),
    ("UPDATE documents SET metadata = '{\"a\": \"b\"}'", "documents"),
    ("UPDATE documents SET uri = 'elsewhere' WHERE uri LIKE '%mill.md'", "documents"),
    ("UPDATE documents SET id = x'00112233445566778899aabbccddeeff' WHERE uri LIKE '%mill.md'", "documents"),
    ("UPDATE passages SET span_end = span_end - 1", "documents"),
    ("UPDATE passages SET section = 'Another' WHERE passage = 1", "documents"),
    ("DELETE FROM passages WHERE passage = 1", "documents"),
    ("DELETE FROM documents WHERE uri LIKE '%mill.md'", "documents"),
    ("UPDATE questions SET text = 'Who sold the mill?' WHERE question = 1", "documents"),
    ("UPDATE questions SET keywords = '[\"b\"]' WHERE question = 1", "documents"),
    ("UPDATE questions SET origin = 1 WHERE question = 2", "documents"),
    ("UPDATE units SET fingerprint = 'another'", "documents"),
    ("UPDATE units SET key = x'00' WHERE stage = 'passages' AND unit = 1", "documents"),
    ("UPDATE units SET content = x'00112233445566778899aabbccddeeff'", "documents"),
    ("UPDATE versions SET counts = replace(counts, '\"documents\":2', '\"documents\":3')", "manifest-and-versions"),
    ("UPDATE versions SET files = replace(files, 'a', 'b')", "manifest-and-versions"),
];

/// Restores a saved index.
fn restore(cli: &Cli, saved: &Path) {
    fs::remove_dir_all(cli.folder().join(".cairn")).unwrap();
    copy(saved, &cli.folder().join(".cairn"));
}

/// Damages an index in every known way, one after the other, and calls `then` with the change and the check that must
/// fail.
fn damaged(cli: &Cli, then: impl Fn(&str, &str)) {
    let saved = tempfile::tempdir().unwrap();
    copy(&cli.folder().join(".cairn"), saved.path());
    for (sql, offends) in DAMAGES {
        change(cli, sql);
        then(sql, offends);
        restore(cli, saved.path());
    }
}

#[test]
fn damage_to_the_records_is_found_and_is_published_by_no_run() {
    let cli = indexed();
    cli.write("more/new.txt", "Ada Wren bought a lamp.");
    let before = cli.canonical(".cairn");
    damaged(&cli, |sql, offends| {
        let found = offended(&check(&cli, &[], 7));
        assert!(found.contains(&offends.to_owned()), "{sql}: {found:?}");
        // A run with another document, and without the source of the damaged one.
        let said = cli.run(["index", "more"]);
        if offends == "documents" {
            assert_eq!(said.status, Some(7), "{sql}: {said:#?}");
            assert!(said.stderr.contains("damaged"), "{sql}: {said:#?}");
            assert_eq!(cli.canonical(".cairn"), before, "{sql}: the version stays");
        } else {
            // The facts about a version are derived, too.
            said.succeeded();
        }
        // If the sources exist, one run repairs it and says so. A document that is gone, or whose marker is, is rebuilt
        // for that reason.
        let said = cli.run(["index", "notes", "more"]).succeeded();
        let is_marked = !sql.contains("UPDATE units SET fingerprint") && !sql.contains("UPDATE units SET key");
        let is_known = is_marked && !sql.contains("DELETE FROM documents");
        let is_told = offends == "documents" && is_known;
        assert_eq!(said.stderr.contains("rebuilt from"), is_told, "{sql}: {said:#?}");
        assert_eq!(offended(&check(&cli, &[], 0)), [""; 0], "{sql}");
        assert!(cli.canonical(".cairn").contains("Ada Wren built the mill in 1790"), "{sql}");
    });
}

#[test]
fn damage_to_what_a_change_added_to_a_version_is_found_and_repaired() {
    let cli = Cli::new();
    for (name, text) in harbor_notes() {
        cli.write(&format!("notes/{name}"), text);
    }
    cli.json(&["index", "notes"]);
    cli.write("notes/new.md", "# Wren Quay\n\nWren Quay is the quay of Port Halven.");
    cli.json(&["index", "notes"]);
    let before = cli.canonical(".cairn");
    let saved = tempfile::tempdir().unwrap();
    copy(&cli.folder().join(".cairn"), saved.path());
    let version = saved.path().join("versions/2");
    let added = ["text/added-passages", "text/added-sentences"].map(|folder| files_below(&version.join(folder)));
    let mut parts: Vec<PathBuf> = added.into_iter().flatten().chain([version.join("segments.bin")]).collect();
    parts.retain(|path| fs::metadata(path).unwrap().len() > 0);
    assert!(parts.len() > 10, "{parts:?}");
    for part in parts {
        let name = part.strip_prefix(saved.path()).unwrap();
        let mut bytes = fs::read(&part).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(cli.folder().join(".cairn").join(name), bytes).unwrap();
        assert_eq!(offended(&check(&cli, &[], 7)), ["files"], "{name:?}");
        let said = cli.run(["search", "quay"]);
        assert_eq!((said.status, said.stdout.as_str()), (Some(7), ""), "{name:?}: {said:#?}");
        assert_eq!(offended(&check(&cli, &["--repair"], 0)), [""; 0], "{name:?}");
        assert!(cli.canonical(".cairn") == before, "{name:?}");
        restore(&cli, saved.path());
    }
}

#[test]
fn a_repair_restores_what_its_sources_still_contain_and_names_the_rest() {
    let cli = indexed();
    let before = cli.canonical(".cairn");
    damaged(&cli, |sql, _| {
        // Nobody knows the text of a document that is gone.
        let is_lost = sql.contains("DELETE FROM documents");
        let report = check(&cli, &["--repair"], if is_lost { 7 } else { 0 });
        assert_eq!(offended(&report).is_empty(), !is_lost, "{sql}");
        assert_eq!(cli.canonical(".cairn"), before, "{sql}");
    });
    change(&cli, "UPDATE documents SET text = replace(text, 'Ada', 'Eda')");
    cli.write("notes/mill.md", "# The mill\n\nSomething else.");
    let said = cli.run(["check", "--repair"]);
    assert_eq!(said.status, Some(7), "{said:#?}");
    assert!(said.stderr.contains("mill.md") && said.stderr.contains("index`"), "{said:#?}");
    assert_eq!(cli.canonical(".cairn"), before, "the version stays");
}

/// A forged index may name any file as that of a lost document.
#[test]
fn a_repair_takes_no_file_that_an_index_merely_names() {
    let cli = indexed();
    cli.write("notes/secret.txt", "The vault opens with 9731.");
    let id = Document::new("notes/secret.txt", None, String::new()).id;
    mark_lost(&Connection::open(cli.folder().join(".cairn/cairn.db")).unwrap(), id.as_bytes());
    let said = cli.run(["check", "--repair"]);
    assert_eq!(said.status, Some(7), "{said:#?}");
    assert!(said.stderr.contains(&id.to_string()), "{said:#?}");
    let holds_it = || fs::read(cli.folder().join(".cairn/cairn.db")).unwrap().windows(4).any(|it| it == b"9731");
    assert!(!holds_it());
    // Whoever names the folder wants it indexed.
    cli.run(["index", "notes"]).succeeded();
    assert!(cli.canonical(".cairn").contains("9731"));
}

#[test]
fn a_repair_removes_nothing_of_a_document_that_stays_damaged() {
    let cli = indexed();
    let rows = || {
        let records = Connection::open(cli.folder().join(".cairn/cairn.db")).unwrap();
        ["documents", "passages", "questions", "units"].map(|table| {
            records.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0)).unwrap()
        })
    };
    change(&cli, "UPDATE passages SET document = 99 WHERE passage = 1");
    let before = rows();
    for name in ["mill", "bridge"] {
        cli.write(&format!("notes/{name}.md"), "Something else.");
    }
    assert_eq!(cli.run(["check", "--repair"]).status, Some(7));
    assert_eq!(rows(), before);
}

#[test]
fn a_repair_rebuilds_derived_parts_and_touches_nothing_intact() {
    let cli = indexed();
    let before = cli.canonical(".cairn");
    check(&cli, &["--repair"], 0);
    assert_eq!(cli.json(&["status"])["version"], 1);
    let file = cli.folder().join(".cairn/versions/1/vectors.bin");
    let mut bytes = fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&file, bytes).unwrap();
    assert_eq!(offended(&check(&cli, &[], 7)), ["files"]);
    assert_eq!(check(&cli, &["--repair"], 0)["version"], 2);
    assert_eq!(cli.canonical(".cairn"), before);
}

#[test]
fn what_stands_beside_documents_is_forgotten_where_it_is_damaged() {
    let cli = indexed();
    cli.write("notes/x.pdf", "%PDF");
    cli.json(&["index", "notes"]);
    change(&cli, "UPDATE skips SET reason = 'another'");
    assert_eq!(offended(&check(&cli, &[], 7)), ["manifest-and-versions"]);
    let said = cli.run(["check", "--repair"]).succeeded();
    assert!(said.stderr.contains("what the last run left out was damaged"), "{said:#?}");
    assert_eq!(cli.json(&["index", "notes"])["skips"].as_array().unwrap().len(), 1);
    check(&cli, &[], 0);
}

#[test]
fn a_manifest_that_is_damaged_is_named_and_nothing_is_touched() {
    let cli = indexed();
    for sql in ["UPDATE manifest SET dimension = 255", "UPDATE manifest SET collection = x'00', changed = 1"] {
        let path = cli.folder().join(".cairn/cairn.db");
        let whole = fs::read(&path).unwrap();
        change(&cli, sql);
        for args in [&[][..], &["--repair"]] {
            assert!(offended(&check(&cli, args, 7)).contains(&"manifest-and-versions".to_owned()), "{sql}");
        }
        cli.refuses(&["index", "notes"], "corrupt", &["its manifest is not what was written"]);
        assert!(cli.folder().join(".cairn/versions/1/graph.bin").is_file(), "{sql}");
        fs::write(path, whole).unwrap();
    }
}

#[test]
fn a_table_a_trigger_or_a_view_of_somebody_else_is_refused() {
    let made = [
        "CREATE TRIGGER sqlitexx AFTER INSERT ON documents BEGIN DELETE FROM passages; END",
        "CREATE VIEW sqlitexview AS SELECT 1",
        "CREATE TABLE sqlitextable (a)",
        "CREATE INDEX sqlitexindex ON documents (uri)",
        "ALTER TABLE documents ADD COLUMN more TEXT",
    ];
    let whole = indexed();
    for sql in made {
        let cli = Cli::new();
        copy(whole.folder(), cli.folder());
        Connection::open(cli.folder().join(".cairn/cairn.db")).unwrap().execute_batch(sql).unwrap();
        for args in [&["search", "mill"][..], &["index", "notes"], &["status"]] {
            cli.refuses(args, "corrupt", &["its tables are not those of an index"]);
        }
        assert_eq!(offended(&check(&cli, &[], 7)), ["database"], "{sql}");
    }
}

#[test]
fn doctor_does_not_call_a_damaged_index_sound() {
    let cli = indexed();
    cli.run(["doctor"]).succeeded();
    change(&cli, "UPDATE documents SET text = replace(text, 'Ada', 'Eda')");
    let said = cli.run(["doctor"]);
    assert_eq!(said.status, Some(7), "{said:#?}");
    assert!(said.stdout.contains("FAILS   index") && said.stdout.contains("documents"), "{said:#?}");
}

/// Makes an index of the example notes, given as documents.
fn original(folder: &Path) -> Original {
    let document = |(name, text): (String, String)| Document::new(name, None, text);
    let documents: Vec<Document> = harbor_notes().into_iter().take(3).map(document).collect();
    index(folder, &Sources::Documents(documents.clone()));
    Original::of(folder, documents)
}

/// Makes one with more documents, of which one changed after a first version.
fn original_from_a_change(folder: &Path) -> Original {
    let quay = |number: u32| {
        Document::new(format!("quay-{number}"), Some(format!("Quay {number}")), format!("It burned in 18{number}."))
    };
    let mut documents: Vec<Document> = (10..20).map(quay).collect();
    documents.extend(harbor_notes().into_iter().take(1).map(|(name, text)| Document::new(name, None, text)));
    index(folder, &Sources::Documents(documents.clone()));
    documents[0] = Document::new("quay-10", Some("Quay 10".to_owned()), "It was sold to Ada Wren.");
    index(folder, &Sources::Documents(documents.clone()));
    assert!(has_segments(folder, 2), "the version has no segments");
    Original::of(folder, documents)
}

/// Changes bits, half of them in the records, and expects each change to be harmless or found.
fn flip_bits(original: fn(&Path) -> Original, count: usize, seed: u64) -> [usize; 3] {
    let folder = tempfile::tempdir().unwrap();
    let original = original(folder.path());
    let files = original.files();
    let mut random = Random::new(seed);
    let (mut outcomes, mut broken) = ([0; 3], Vec::new());
    for number in 0..count {
        let records = Path::new("cairn.db").to_owned();
        let file = if number % 2 == 0 { records } else { files[random.below(files.len())].clone() };
        let flip = Flip::of(folder.path(), &file, &mut random);
        match original.judge(&flip, number % 4 < 2) {
            Ok(Outcome::Harmless) => outcomes[0] += 1,
            Ok(Outcome::Mended) => outcomes[1] += 1,
            Ok(Outcome::Refused) => outcomes[2] += 1,
            Err(why) => broken.push(format!("{flip:?}: {why}")),
        }
    }
    assert!(broken.is_empty(), "seed {seed}: {} of {count}: {broken:#?}", broken.len());
    outcomes
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_changed_bit_is_harmless_or_found() {
    let count = std::env::var("CAIRN_TEST_FLIPS").ok().and_then(|it| it.parse().ok()).unwrap_or(20);
    for (original, made) in [(original as fn(&Path) -> _, "at once"), (original_from_a_change, "from a change")] {
        let [harmless, mended, refused] = flip_bits(original, count, 16);
        eprintln!("{count} bits of a version made {made}: {harmless} harmless, {mended} mended, {refused} refused");
        assert!(harmless > 0 && mended > 0 && refused > 0, "{made}: {harmless}, {mended}, {refused}");
    }
}
