//! A real Neo4j: what publishing writes and refuses, interruptions, which must not damage anything, and answers from
//! the database.

mod again;
mod answering;
mod beside;
mod browser;
mod cuts;
mod described;
mod disk;
mod earlier;
mod edits;
mod faults;
mod going_back;
mod graphrag;
mod keywords;
mod kills;
mod levels;
mod load;
mod outages;
mod paths;
mod readers;
mod refusals;
mod shown;
mod tls;
mod unpublish;
mod walking;

use std::fs;
use std::time::{Duration, Instant};

use cairn::neo4j::{PublishOptions, PublishReport, Session, canonical_lines, publish};
use cairn::{Document, Sources, Workspace};

use crate::support::neo4j::{Database, bare_database, database, harbor_database};
use crate::support::{Cli, CommandOutput, assert_valid, block_on, canonical, harbor_files, index};

/// Writes the collection of the examples into a folder of its own.
pub(super) fn write_harbor(cli: &Cli) {
    for (name, text) in harbor_files() {
        cli.write(&format!("harbor/{name}"), text);
    }
}

/// Returns an index of one document.
pub(super) fn indexed_mill() -> Cli {
    let cli = Cli::new();
    cli.write("notes/mill.txt", "Harl Mill\n\nHarl Mill was built by Ada Lorne. She was born in Eaststead.");
    cli.json(&["index", "notes"]);
    cli
}

/// Publishes the index of `cli` through the library.
#[track_caller]
pub(super) fn published(cli: &Cli, database: &Database) -> PublishReport {
    let workspace = Workspace::open(cli.folder().join(".cairn")).unwrap();
    block_on(publish(&workspace, &database.target(), &PublishOptions::default())).unwrap()
}

/// Returns the canonical form of the contents of a database.
#[track_caller]
pub(super) fn held(database: &Database) -> Vec<String> {
    block_on(async { canonical_lines(&Session::connect(&database.target()).await?).await }).unwrap()
}

/// Checks that any tool sees the contents of the index of `cli`, and nothing else.
#[track_caller]
pub(super) fn assert_whole(cli: &Cli, database: &Database) {
    assert!(held(database) == canonical(&cli.folder().join(".cairn")), "the graph is not that of the index");
    let left = "MATCH (i:Index) WITH i.version AS v \
        CALL (v) { MATCH (n) WHERE n.cairnUntil IS NOT NULL OR n.cairnSince > v RETURN count(n) AS a } \
        CALL (v) { MATCH ()-[r]->() WHERE r.cairnUntil IS NOT NULL OR r.cairnSince > v RETURN count(r) AS b } \
        RETURN a + b AS n";
    assert_eq!(database.count(left), 0, "something of other versions is left");
    let counts = "MATCH (i:Index) RETURN i.passages = COUNT { MATCH (:Passage) } \
        AND i.passages = COUNT { MATCH (:Passage)-[:PART_OF]->(:Document) } \
        AND i.edges = COUNT { MATCH ()-[:LEADS_TO|MAY_LEAD_TO]->() } AND i.entities = COUNT { MATCH (:Entity) } \
        AND i.incoming = COUNT { MATCH (:Incoming)-[:ANSWERED_BY]->(:Passage) } \
        AND i.outgoing = COUNT { MATCH (:Passage)-[:ASKS]->(:Outgoing) } AND i.state = 'whole' \
        AND NOT EXISTS { MATCH (s:Summary) WHERE NOT EXISTS { (s)<-[:SUMMARIZED_BY]-() } } AS whole";
    assert!(database.rows(counts)[0].get::<bool>("whole").unwrap(), "another number of elements than counted");
}

#[test]
fn what_is_published_is_what_the_index_holds_and_each_version_replaces_the_last() {
    let Some(database) = bare_database() else { return };
    let cli = Cli::new();
    write_harbor(&cli);
    cli.json(&["index", "harbor"]);
    let report = cli.json(&["publish", "--neo4j", &database.uri]);
    assert_valid("publish", &report);
    assert!(report["written"].as_u64().unwrap() > 1_000 && report["version"] == 1, "{report}");
    assert!(report["index_seconds"].is_number(), "{report}");
    assert_whole(&cli, &database);

    let again = cli.json(&["publish", "--neo4j", &database.uri]);
    assert_eq!((again["written"].as_u64(), again["version"].as_u64()), (Some(0), Some(1)), "{again}");

    // One document changes, one is added, one is removed.
    let (name, text) = harbor_files().remove(1);
    cli.write(&format!("harbor/{name}"), format!("An earlier line about Heron Bridge.\n\n{text}"));
    cli.write("harbor/new.txt", "Toll Tower\n\nToll Tower was built by Ada Lorne in 1911.");
    fs::remove_file(cli.folder().join("harbor").join(&harbor_files()[2].0)).unwrap();
    let said = cli.run(["index", "harbor", "--neo4j", &database.uri]).succeeded();
    assert!(said.stderr.contains("published version 2 as 2 of the graph"), "{}", said.stderr);
    assert_whole(&cli, &database);
    assert_eq!(database.count("SHOW INDEXES YIELD state WHERE state <> 'ONLINE' RETURN count(*) AS n"), 0);
    let exported = cli.run(["export", "--canonical", "--neo4j", &database.uri]).succeeded().stdout;
    assert!(exported == cli.canonical(".cairn"));
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn every_node_has_a_name_and_vectors_and_texts_are_found() {
    let Some((database, _cli)) = harbor_database() else { return };
    assert_eq!(database.count("MATCH (n) WHERE n.name IS NULL OR n.name = '' RETURN count(n) AS n"), 0);
    let near = "MATCH (p:Passage) WITH p LIMIT 1 \
        CALL db.index.vector.queryNodes('cairn_passage_embedding', 10, p.embedding) YIELD node, score \
        RETURN count(CASE WHEN node = p AND score > 0.99 THEN 1 END) AS n";
    assert_eq!(database.count(near), 1);
    let found =
        "CALL db.index.fulltext.queryNodes('cairn_incoming_text', 'heron bridge') YIELD node RETURN count(*) AS n";
    assert!(database.count(found) > 0);
    let edges = "CALL db.index.fulltext.queryRelationships('cairn_leads_to_text', 'bridge') YIELD relationship \
        RETURN count(*) AS n";
    assert!(database.count(edges) > 0);
}

/// More changes than fit into the transaction that switches versions: elements are replaced with everything attached to
/// them.
#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn many_changes_at_once_replace_what_was_there() {
    let Some(database) = database() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let documents = |edition: u32| {
        let document = |number: u32| {
            let text =
                format!("Mill {number} was built by Ada Lorne. It stands by Heron Bridge. {}", "Old. ".repeat(3));
            let title = if edition == 1 { format!("Mill {number}") } else { format!("Mill {number} of Harl") };
            Document::new(format!("mill-{number}"), Some(title), text)
        };
        Sources::documents((0..200).map(document))
    };
    let workspace = || Workspace::open(&path).unwrap();
    let options = PublishOptions::default();
    index(&path, &documents(1));
    let first = block_on(publish(&workspace(), &database.target(), &options)).unwrap();
    index(&path, &documents(2));
    let second = block_on(publish(&workspace(), &database.target(), &options)).unwrap();
    assert_eq!((first.version, second.version, second.changed), (1, 2, 0), "{second:?}");
    assert!(second.written > 1_000 && second.deleted > 1_000, "{second:?}");
    assert!(held(&database) == canonical(&path));
    assert_eq!(database.count("MATCH (n) WHERE n.cairnUntil IS NOT NULL RETURN count(n) AS n"), 0);
}

/// Runs a command until the database is up, which is some time after its server responds.
pub(super) fn when_up(command: &dyn Fn() -> CommandOutput) -> CommandOutput {
    let began = Instant::now();
    loop {
        let said = command();
        if said.status != Some(10) || began.elapsed() > Duration::from_mins(1) {
            return said;
        }
    }
}
