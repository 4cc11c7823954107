//! Publishing again: what the previous publish wrote is not read back, unless it may have changed since.

use std::fs;

use super::{assert_whole, held};
use crate::support::Cli;
use crate::support::neo4j::{Database, database};

/// Writes two documents, each asking what the other answers.
fn write_notes(cli: &Cli) {
    for (name, text) in [
        ("mill", "Harl Mill\n\nHarl Mill was built by Ada Lorne. It burned in 1911. Who rebuilt Harl Mill?"),
        ("ada", "Ada Lorne\n\nAda Lorne was born in Eaststead. She built Harl Mill. Where is Toll Tower?"),
    ] {
        cli.write(&format!("notes/{name}.txt"), text);
    }
}

fn published_notes(database: &Database) -> Cli {
    let cli = Cli::new();
    write_notes(&cli);
    cli.json(&["index", "notes"]);
    cli.json(&["publish", "--neo4j", &database.uri]);
    cli
}

/// Changes a document, indexes, publishes, and returns whether the keys in the database were read back.
#[track_caller]
fn reads_back(cli: &Cli, database: &Database, edition: usize) -> bool {
    cli.write("notes/new.txt", format!("Toll Tower\n\nToll Tower was built by Ada Lorne in {}.", 1900 + edition));
    cli.json(&["index", "notes"]);
    let said = cli.run(["publish", "--neo4j", &database.uri, "-vvv"]).succeeded();
    assert_whole(cli, database);
    let [is_known, is_unknown] = ["is_known=true", "is_known=false"].map(|it| said.stderr.contains(it));
    assert!(is_known != is_unknown, "{}", said.stderr);
    is_unknown
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_publish_after_one_reads_no_keys_back() {
    let Some(database) = database() else { return };
    let cli = published_notes(&database);
    for edition in 0..3 {
        assert!(!reads_back(&cli, &database, edition), "edition {edition}");
    }
    // Nor after several versions that were not published, nor after a publish without changes.
    cli.write("notes/other.txt", "Heron Inn\n\nHeron Inn stands by the river Tarn.");
    cli.json(&["index", "notes"]);
    cli.json(&["remove", "notes/other.txt"]);
    assert!(!reads_back(&cli, &database, 3));
    let said = cli.run(["publish", "--neo4j", &database.uri, "-vvv"]).succeeded().stderr;
    assert!(said.contains("nothing changed") && !said.contains("take the lease"), "{said}");
    assert!(!reads_back(&cli, &database, 4));
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn the_records_of_unchanged_documents_are_not_read_again() {
    let Some(database) = database() else { return };
    let cli = published_notes(&database);
    cli.write("notes/mill.txt", "Harl Mill\n\nHarl Mill was built by Ida Marsh.");
    cli.json(&["index", "notes"]);
    let records = rusqlite::Connection::open(cli.folder().join(".cairn/cairn.db")).unwrap();
    let damaged = records.execute("UPDATE documents SET text = text || 'x' WHERE source_id LIKE '%ada%'", []);
    assert_eq!(damaged.unwrap(), 1);
    cli.run(["publish", "--neo4j", &database.uri]).succeeded();
    let units =
        |end: &str| database.count(&format!("MATCH (u:Unit) WHERE u.text ENDS WITH '{end}' RETURN count(u) AS n"));
    assert_eq!(["Ida Marsh.", "Toll Tower?", "Toll Tower?x"].map(units), [1, 1, 0]);
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn foreign_deletions_and_additions_are_noticed_and_repaired() {
    let Some(database) = database() else { return };
    let cli = published_notes(&database);
    for (edition, change) in [
        "MATCH (e:Entity) WITH e LIMIT 1 DETACH DELETE e",
        "MATCH ()-[r:LEADS_TO|MAY_LEAD_TO]->() WITH r LIMIT 1 DELETE r",
        "MATCH (u:Unit) WITH u LIMIT 1 DETACH DELETE u",
    ]
    .into_iter()
    .enumerate()
    {
        database.rows(change);
        assert!(reads_back(&cli, &database, edition), "{change}");
        assert!(!reads_back(&cli, &database, edition + 10), "{change}");
    }
    // A user's element with one of our labels might be ours.
    database.rows("CREATE (:Community {name: 'a topic of my own'})");
    assert!(reads_back(&cli, &database, 20));
    assert!(!reads_back(&cli, &database, 21));
    assert_eq!(database.count("MATCH (c:Community) WHERE c.id IS NULL RETURN count(c) AS n"), 1);
}

/// Nothing that is counted tells that something of ours has another key now.
#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_relationship_without_its_end_ends_a_publish_before_readers_see_it() {
    let Some(database) = database() else { return };
    let cli = published_notes(&database);
    let other = "0123456789abcdef0123456789abcdef";
    let changed = format!("MATCH (e:Entity {{name: 'Ada Lorne'}}) SET e.id = '{other}' RETURN count(*) AS n");
    assert_eq!(database.count(&changed), 1);
    cli.write("notes/new.txt", "Toll Tower\n\nToll Tower was built by Ada Lorne in 1920.");
    cli.json(&["index", "notes"]);
    let said = cli.run(["publish", "--neo4j", &database.uri, "-vvv"]);
    assert!(said.status != Some(0) && said.stderr.contains("are not there"), "{said:#?}");
    assert!(said.stderr.contains("is_known=true"), "{said:#?}");
    assert_eq!(database.count("MATCH (i:Index) RETURN i.version AS n"), 1);
    let is_new = "MATCH (d:Document) WHERE d.name CONTAINS 'Toll Tower' RETURN count(d) AS n";
    assert_eq!(database.count(is_new), 0);
    // The next one reads what is there, and puts it right.
    cli.run(["publish", "--neo4j", &database.uri]).succeeded();
    assert_whole(&cli, &database);
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn what_another_published_meanwhile_is_read_back() {
    let Some(database) = database() else { return };
    let cli = published_notes(&database);
    // A copy of the index, with what it remembers; both publish in turns.
    let copied = Cli::new();
    write_notes(&copied);
    copied.run(["clone", &database.uri, ".cairn"]).succeeded();
    let kept = ".cairn/published.bin";
    fs::copy(cli.folder().join(kept), copied.folder().join(kept)).unwrap();
    assert!(!reads_back(&copied, &database, 1), "nobody published since");
    assert!(reads_back(&cli, &database, 2), "the copy did");
    assert!(reads_back(&copied, &database, 3), "the first did");
    assert!(!reads_back(&copied, &database, 4));
    // A repair trusts nothing that is remembered, nor does the publish after it.
    let before = held(&database);
    database.rows("MATCH (p:Passage) WITH p LIMIT 1 SET p.text = 'changed by hand'");
    copied.run(["check", "--repair", "--neo4j", &database.uri]).succeeded();
    assert!(held(&database) == before);
    assert!(!reads_back(&copied, &database, 5), "a repair remembers what it left");
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_damaged_file_or_one_of_an_earlier_publish_is_not_used() {
    let Some(database) = database() else { return };
    let cli = published_notes(&database);
    let path = cli.folder().join(".cairn/published.bin");
    let earlier = fs::read(&path).unwrap();
    assert!(!reads_back(&cli, &database, 1));
    fs::write(&path, &earlier).unwrap();
    assert!(reads_back(&cli, &database, 2));
    let mut damaged = fs::read(&path).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs::write(&path, &damaged).unwrap();
    assert!(reads_back(&cli, &database, 3));
    fs::remove_file(&path).unwrap();
    assert!(reads_back(&cli, &database, 4));
    assert!(!reads_back(&cli, &database, 5));
}
