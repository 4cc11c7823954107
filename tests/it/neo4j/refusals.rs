//! What publishing refuses, and that it changes nothing then.

use std::process::Stdio;

use crate::support::neo4j::{bare_database, database, database_to_reshape, server};
use crate::support::{Cli, sized};

use super::{assert_whole, indexed_mill, published, when_up, write_harbor};

/// How often two publishers contend for a database; `--test torture` lets them do so more often.
const TAKEN_ROUNDS: usize = 1;
const TAKEN_ROUNDS_OF_TORTURE: usize = 20;

#[test]
fn an_address_where_no_neo4j_is_is_refused() {
    let cli = indexed_mill();
    cli.refuses(&["publish"], "input", &["--neo4j URI"]);
    cli.refuses(&["publish", "--neo4j", "http://localhost"], "input", &["its scheme is none of", "hint: "]);
    cli.refuses(&["publish", "--neo4j", "bolt://u:hush@host"], "input", &["does not belong there"]);
    // Nobody listens on a port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for scheme in ["bolt", "bolt+s", "neo4j+ssc"] {
        let uri = format!("{scheme}://{free}");
        cli.refuses(&["publish", "--neo4j", &uri], "unavailable", &["cannot be reached", "hint: check that"]);
    }
}

#[test]
fn a_database_that_is_not_there_or_not_ours_is_left_alone() {
    let Some(database) = bare_database() else { return };
    let cli = indexed_mill();
    let publish = |more: &[&'static str]| [&["publish", "--neo4j", &database.uri], more].concat();
    let missing = publish(&["--database", "nowhere"]);
    cli.refuses(&missing, "input", &["has no database `nowhere`", "the only one in the Community edition"]);
    cli.refuses(&publish(&["--database", "System"]), "input", &["`system`", "where Neo4j keeps users"]);
    cli.refuses(&publish(&["--password-file", "nowhere"]), "input", &["`nowhere`", "its first line is to be"]);
    // Encryption that the server does not support.
    let encrypted = database.uri.replace("bolt://", "bolt+ssc://");
    cli.refuses(
        &["publish", "--neo4j", &encrypted],
        "unavailable",
        &["closes the connection", "does not support it (`bolt://`)"],
    );

    database.rows("CREATE (:Person {name: 'Ann'})-[:KNOWS]->(:Person {name: 'Ben'})");
    cli.refuses(&publish(&[]), "input", &["holds 2 nodes and no index of Cairn", "hint: name an empty database"]);
    assert_eq!(database.count("MATCH (n) RETURN count(n) AS n"), 2);
    assert_eq!(database.rows("SHOW CONSTRAINTS").len(), 0);
    let said = cli.run(["export", "--canonical", "--neo4j", &database.uri]);
    assert!(said.status == Some(4) && said.stderr.contains("holds no index of Cairn"), "{said:#?}");
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn what_users_add_stays_and_another_index_is_refused() {
    let Some(database) = database() else { return };
    let cli = indexed_mill();
    published(&cli, &database);
    database.rows("MATCH (p:Passage) WITH p LIMIT 1 CREATE (:Note {name: 'mine'})-[:ABOUT]->(p)");
    database.rows("CREATE (:Document {name: 'a document of my own'})");
    cli.write("notes/more.txt", "Toll Tower\n\nToll Tower stands in Eaststead.");
    cli.json(&["index", "notes"]);
    published(&cli, &database);
    assert_eq!(database.count("MATCH (:Note)-[:ABOUT]->(:Passage) RETURN count(*) AS n"), 1);
    assert_eq!(database.count("MATCH (d:Document) WHERE d.id IS NULL RETURN count(d) AS n"), 1);

    let other = Cli::new();
    other.write("other/a.txt", "Another text about another place.");
    other.json(&["index", "other"]);
    other.refuses(
        &["publish", "--neo4j", &database.uri],
        "input",
        &["with 2 documents, 2 of which would be removed", "--replace"],
    );
    assert_eq!(database.count("MATCH (p:Passage)-[:PART_OF]->(:Document) RETURN count(DISTINCT p) AS n"), 2);
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_newer_format_is_refused_and_a_changed_schema_is_repaired() {
    let Some(database) = database_to_reshape() else { return };
    let cli = indexed_mill();
    published(&cli, &database);
    let publish = ["publish", "--neo4j", &database.uri];
    database.rows("DROP INDEX cairn_passage_id");
    database.rows("DROP INDEX cairn_passage_text");
    let said = cli.run(["search", "Who built Harl Mill?", "--neo4j", &database.uri]);
    assert!(said.status == Some(7) && said.stderr.contains("cairn_passage_text"), "{said:#?}");
    cli.json(&publish);
    cli.run(["check", "--neo4j", &database.uri]).succeeded();
    database.rows("MATCH (i:Index) SET i.format = 4");
    cli.refuses(&publish, "incompatible", &["format 4"]);
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn another_embedder_is_refused_until_vectors_are_to_be_replaced() {
    let Some(database) = database_to_reshape() else { return };
    let cli = indexed_mill();
    published(&cli, &database);
    cli.json(&["index", "--re-embed", "--embedder", "none"]);
    cli.refuses(
        &["publish", "--neo4j", &database.uri],
        "incompatible",
        &["its vectors are from `static-256i8, 256 values`", "--re-embed"],
    );
    cli.json(&["publish", "--neo4j", &database.uri, "--re-embed"]);
    assert_whole(&cli, &database);
    assert_eq!(database.count("MATCH (n) WHERE n.embedding IS NOT NULL RETURN count(n) AS n"), 0);
    cli.json(&["index", "--re-embed", "--embedder", "builtin"]);
    cli.json(&["publish", "--neo4j", &database.uri, "--re-embed"]);
    assert_whole(&cli, &database);
    assert!(database.count("MATCH (p:Passage) WHERE p.embedding IS NOT NULL RETURN count(p) AS n") > 0);
    let online = "SHOW INDEXES YIELD name, state WHERE name = 'cairn_passage_embedding' RETURN count(*) AS n";
    assert_eq!(database.count(online), 1);
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_second_publisher_waits_its_turn() {
    let Some(database) = database() else { return };
    let cli = indexed_mill();
    published(&cli, &database);
    cli.write("notes/more.txt", "Toll Tower\n\nToll Tower stands in Eaststead.");
    cli.json(&["index", "notes"]);
    let publish = ["publish", "--neo4j", &database.uri];
    database.rows("MATCH (l:Publisher) SET l.owner = 'x', l.shown = 'on `mars`', l.expires = timestamp() + 65000");
    cli.refuses(&publish, "busy", &["another publisher is at work", "on `mars`, with a lease of 6"]);
    database.rows("MATCH (l:Publisher) SET l.expires = 0");
    cli.json(&publish);
    assert_whole(&cli, &database);
}

/// Keys are unique because there is one writer at a time: a publisher that wrongly believes to hold the lease writes
/// nothing.
#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn publishers_that_take_the_lease_from_each_other_write_nothing_twice() {
    let Some(database) = database() else { return };
    let cli = Cli::new();
    write_harbor(&cli);
    cli.json(&["index", "harbor"]);
    published(&cli, &database);
    cli.run(["clone", &database.uri, "other"]).succeeded();
    let publish = |index: &'static str| cli.command(["publish", "--index", index, "--neo4j", &database.uri]);
    for _ in 0..sized(TAKEN_ROUNDS, TAKEN_ROUNDS_OF_TORTURE) {
        database.rows("MATCH (n) DETACH DELETE n");
        let mut publishers = [".cairn", "other"]
            .map(|index| publish(index).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        while publishers.iter_mut().any(|it| it.try_wait().unwrap().is_none()) {
            database.rows("MATCH (l:Publisher) SET l.expires = 0");
        }
        let statuses = publishers.map(|mut it| it.wait().unwrap().code());
        assert!(statuses.iter().all(|it| [Some(0), Some(5)].contains(it)), "{statuses:?}");
        let twice = "MATCH (n) WITH labels(n) AS labels, n.id AS id, n.cairnSince AS since, count(*) AS times \
            WHERE times > 1 RETURN count(*) AS n";
        assert_eq!(database.count(twice), 0);
        assert!(publish(".cairn").output().unwrap().status.success());
        assert_whole(&cli, &database);
    }
}

#[test]
fn changes_that_are_in_no_version_are_not_published() {
    let cli = indexed_mill();
    let mut writer = cairn::Workspace::open(cli.folder().join(".cairn")).unwrap().writer().unwrap();
    let document = writer.records().documents().unwrap()[0].id;
    writer.records().remove_documents(&[document]).unwrap();
    drop(writer);
    cli.refuses(&["publish", "--neo4j", "bolt://localhost"], "input", &["changes that no version contains yet"]);
}

mod long_tests {
    use super::*;

    #[test]
    #[ignore = "it starts a server of its own: `--test torture` runs it"]
    fn a_database_that_takes_no_writes_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let Some(mut server) = server(home.path(), "") else { return };
        let cli = indexed_mill();
        let uri = server.uri();
        cli.json(&["publish", "--neo4j", &uri]);

        // A database that was killed has to write before it can be read.
        server.stop();
        server.resume_with("server.databases.default_to_read_only=true");
        let export = || cli.run(["export", "--canonical", "--neo4j", &uri]);
        let exported = when_up(&export).succeeded().stdout;
        assert!(exported == cli.canonical(".cairn"));
        cli.write("notes/more.txt", "Toll Tower\n\nToll Tower stands in Eaststead.");
        cli.json(&["index", "notes"]);
        cli.refuses(&["publish", "--neo4j", &uri], "io", &["does not accept writes"]);
    }

    #[test]
    #[ignore = "it starts a server of its own: `--test torture` runs it"]
    fn a_batch_that_is_too_large_for_the_server_is_halved() {
        let home = tempfile::tempdir().unwrap();
        let Some(server) = server(home.path(), "db.memory.transaction.max=2m") else { return };
        let cli = Cli::new();
        write_harbor(&cli);
        cli.json(&["index", "harbor"]);
        let said = cli.run(["publish", "--neo4j", &server.uri(), "-vv"]).succeeded();
        assert!(said.stderr.contains("a batch is sent in parts"), "{}", said.stderr);
        let exported = cli.run(["export", "--canonical", "--neo4j", &server.uri()]).succeeded().stdout;
        assert!(exported == cli.canonical(".cairn"));
    }
}
