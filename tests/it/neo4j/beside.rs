//! What users have beside an index: nodes, relationships, properties, indexes and constraints of their own, including
//! some with names that are ours. It is neither read as ours nor removed, and anything that conflicts with ours is
//! refused first.

use std::path::Path;

use cairn::neo4j::{PublishOptions, publish};
use cairn::{Document, IndexOptions, Performers, Sources, Workspace, remove};

use crate::support::neo4j::{Database, bare_database, database, database_to_reshape};
use crate::support::{Cli, block_on, index};

use super::answering::{QUESTIONS, published_harbor};
use super::going_back::offending;
use super::{held, indexed_mill, published};

/// Nodes and relationships of a user, each marked `own`, with labels, types and properties that an index has, too.
const OWN: [&str; 12] = [
    "MATCH (p:Passage) WITH p LIMIT 1 CREATE (:Passage {own: true, id: 'x', since: 1, digest: 1, name: 'mine', \
     title: 'mine', text: 'Heron Bridge was opened by its engineer', keywords: ['heron bridge'], \
     embedding: p.embedding}), (:Passage {own: true, id: 'x', since: 1, until: 2})",
    "CREATE (:Document {own: true, id: 'x', since: 1}), (:Document {own: true, id: 'x', since: 1, until: 9})",
    "MATCH (q:Incoming) WITH q LIMIT 1 CREATE (:Question:Incoming {own: true, since: 1, name: q.name, \
     keywords: q.keywords, embedding: q.embedding})",
    "CREATE (:Question:Outgoing {own: true, since: 1}), \
     (:Entity {own: true, since: 1, name: 'Heron Bridge', folded: 'heron bridge'})",
    "CREATE (:Lexicon {own: true, since: 1, terms: ['x']}), (:Unit {own: true, since: 1, text: 'mine'})",
    "CREATE (:Change {own: true, version: 0}), (:Change {own: true, version: 99})",
    "CREATE (:Index {own: true, id: 'mine'}), (:Index {own: true, id: 'mine'})",
    "CREATE (:Publisher {own: true, id: 'cairn', name: 'Penguin'}), (:Migration {own: true, number: 99, id: '0099'})",
    "MATCH (a:Passage)-[:NEXT|LEADS_TO]->(b:Passage) WITH a, b LIMIT 1 CREATE (a)-[:LEADS_TO {own: true, since: 1, \
     question: 'Heron Bridge', keywords: ['heron bridge']}]->(b), (a)-[:NEXT {own: true, since: 1}]->(b)",
    "MATCH (p:Passage)-[:PART_OF]->(d:Document) WITH p, d LIMIT 3 CREATE (p)-[:PART_OF {own: true, since: 1}]->(d)",
    "MATCH (e:Entity)-[:MENTIONED_IN]->(p:Passage) WITH e, p LIMIT 3 \
     CREATE (e)-[:MENTIONED_IN {own: true, since: 1}]->(p)",
    "MATCH (p:Passage) WITH p LIMIT 1 MATCH (q:Question) WITH p, q LIMIT 2 \
     CREATE (p)-[:ASKS {own: true, since: 1}]->(q), \
     (q)-[:ANSWERED_BY {own: true, since: 1}]->(p)",
];

fn owned(database: &Database) -> [i64; 2] {
    ["MATCH (n) WHERE n.own RETURN count(n) AS n", "MATCH ()-[r]->() WHERE r.own RETURN count(r) AS n"]
        .map(|text| database.count(text))
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn what_users_have_under_names_of_ours_is_neither_read_nor_checked_nor_deleted() {
    let Some(database) = database() else { return };
    let (cli, _workspace) = published_harbor(&database);
    let uri = &database.uri;
    let ask = |question: &str, way: &str| {
        cli.run(["search", question, "--neo4j", uri, "--traversal", way]).succeeded().stdout
    };
    let answers = || QUESTIONS.map(|question| ["memory", "cypher"].map(|way| ask(question, way)));
    let before = answers();
    for text in OWN {
        database.rows(text);
    }
    let own = owned(&database);
    assert_eq!(own[0], 15);
    assert!(own[1] >= 10, "{own:?}");
    cli.run(["check", "--neo4j", uri]).succeeded();
    assert!(held(&database).join("\n") + "\n" == cli.canonical(".cairn"));
    assert!(answers() == before);
    cli.run(["clone", uri, "cloned"]).succeeded();
    assert_eq!(cli.canonical("cloned"), cli.canonical(".cairn"));

    // Few changes, made in place, and another version.
    cli.write("harbor/new.txt", "Toll Tower\n\nToll Tower was built by Ada Lorne in 1911.");
    cli.json(&["index", "harbor"]);
    published(&cli, &database);
    assert_eq!(owned(&database), own);
    cli.run(["check", "--neo4j", uri]).succeeded();
    // A repair does not touch anything of theirs.
    database.rows("MATCH (p:Passage) WHERE p.own IS NULL WITH p LIMIT 1 SET p.text = 'other'");
    cli.run(["check", "--neo4j", uri, "--repair"]).succeeded();
    assert_eq!(owned(&database), own);
    assert!(held(&database).join("\n") + "\n" == cli.canonical(".cairn"));
}

/// So many that the first results of a database index are all theirs.
#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_users_own_passages_do_not_displace_ours_in_an_answer() {
    let Some(database) = database() else { return };
    let (cli, _workspace) = published_harbor(&database);
    let question = "When was Heron Bridge opened?";
    let search = || cli.run(["search", question, "--neo4j", &database.uri, "--strategy", "lexical"]).succeeded().stdout;
    let before = search();
    database.rows(
        "UNWIND range(1, 2000) AS number \
         CREATE (:Passage {own: true, text: 'Heron Bridge opened: when was Heron Bridge opened?'})",
    );
    assert!(search() == before);
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn properties_that_users_have_added_stay_through_repairs_and_changes_and_are_no_damage() {
    let Some(database) = database() else { return };
    let (cli, _workspace) = published_harbor(&database);
    let uri = &database.uri;
    database.rows("MATCH (n) SET n.mine = 'kept'");
    database.rows("MATCH ()-[r]->() SET r.mine = 'kept'");
    let kept = || {
        [
            "MATCH (n) WHERE n.mine IS NULL RETURN count(n) AS n",
            "MATCH ()-[r]->() WHERE r.mine IS NULL RETURN count(r) AS n",
        ]
        .map(|text| database.count(text))
    };
    cli.run(["check", "--neo4j", uri]).succeeded();
    database.rows("MATCH (p:Passage) WITH p LIMIT 3 SET p.text = 'other', p.section = 'other', p.embedding = null");
    database.rows("MATCH ()-[r:LEADS_TO]->() WITH r LIMIT 2 SET r.question = 'other'");
    cli.run(["check", "--neo4j", uri, "--repair"]).succeeded();
    assert!(held(&database).join("\n") + "\n" == cli.canonical(".cairn"));
    assert_eq!(kept(), [0, 0]);
    // An element whose key was changed by hand is still ours, although its key does not find it.
    database.rows("MATCH (p:Passage) WITH p LIMIT 1 SET p.id = 'x'");
    let said = cli.run(["check", "--neo4j", uri]);
    assert!(said.status == Some(7) && said.stderr.contains("contents"), "{said:#?}");
    cli.run(["check", "--neo4j", uri, "--repair"]).succeeded();
    assert!(held(&database).join("\n") + "\n" == cli.canonical(".cairn"));
}

#[test]
fn relationships_of_users_to_a_removed_passage_are_counted() {
    let Some(database) = database() else { return };
    let cli = Cli::new();
    cli.write("notes/mill.txt", "Harl Mill\n\nHarl Mill was built by Ada Lorne.");
    cli.write("notes/tower.txt", "Toll Tower\n\nToll Tower stands in Eaststead.");
    cli.json(&["index", "notes"]);
    published(&cli, &database);
    database.rows(
        "MATCH (a:Passage {title: 'Toll Tower'}), (b:Passage {title: 'Harl Mill'}) \
         CREATE (n:Note {own: true})-[:ABOUT]->(a), (a)-[:LIKE]->(b), (n)-[:ABOUT]->(b)",
    );
    std::fs::remove_file(cli.folder().join("notes/tower.txt")).unwrap();
    cli.json(&["index", "notes"]);
    let report = published(&cli, &database);
    assert_eq!(report.detached, 2, "{report:?}");
    assert_eq!(database.count("MATCH (n:Note)-[:ABOUT]->(:Passage) RETURN count(n) AS n"), 1);
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_users_own_indexes_are_left_alone_or_refused_before_anything_is_written() {
    let Some(database) = bare_database() else { return };
    let cli = indexed_mill();
    let publish = ["publish", "--neo4j", &database.uri];
    // Names that an earlier format of the graph had.
    database.rows("CREATE FULLTEXT INDEX passage_text FOR (n:Person) ON EACH [n.name]");
    let in_the_way = [
        ("CREATE VECTOR INDEX mine FOR (n:Passage) ON (n.embedding)", "`mine` of Passage(embedding)"),
        (
            "CREATE FULLTEXT INDEX mine FOR (n:Passage) ON EACH [n.title, n.text, n.keywords]",
            "`mine` of Passage(title, text, keywords)",
        ),
    ];
    for (statement, named) in in_the_way {
        database.rows(statement);
        cli.refuses(&publish, "input", &["not Cairn's conflict with those of Cairn", named, "hint: drop them"]);
        assert_eq!(database.count("MATCH (n) RETURN count(n) AS n"), 0);
        assert_eq!(database.rows("SHOW CONSTRAINTS").len(), 0);
        database.rows("DROP INDEX mine");
    }
    // One that does the job of ours, and one with a name of ours, which is removed.
    database.rows("CREATE INDEX mine FOR (n:Passage) ON (n.title)");
    database.rows("CREATE FULLTEXT INDEX cairn_passage_text FOR (n:Person) ON EACH [n.title]");
    published(&cli, &database);
    let again = published(&cli, &database);
    assert!(again.index_seconds.is_none(), "{again:?}");
    let mine = "SHOW INDEXES YIELD name, labelsOrTypes WHERE name = 'mine' OR labelsOrTypes = ['Person'] \
        RETURN collect(name) AS names";
    let mut names = database.rows(mine)[0].get::<Vec<String>>("names").unwrap();
    names.sort();
    assert_eq!(names, ["mine", "passage_text"]);
    let found = cli.run(["search", "Who built Harl Mill?", "--neo4j", &database.uri]).succeeded();
    assert!(found.stdout.contains("Harl Mill"), "{}", found.stdout);
    assert_eq!(database.count("SHOW INDEXES YIELD name WHERE name = 'passage_text' RETURN count(*) AS n"), 1);
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_users_constraint_on_our_elements_is_named_before_anything_is_written() {
    let Some(database) = bare_database() else { return };
    let cli = indexed_mill();
    let publish = ["publish", "--neo4j", &database.uri];
    // On a property that we do not write.
    database.rows("CREATE CONSTRAINT my_number FOR (p:Passage) REQUIRE p.myNumber IS UNIQUE");
    for (statement, named) in [
        ("CREATE CONSTRAINT one_title FOR (p:Passage) REQUIRE p.title IS UNIQUE", "`one_title` of Passage(title)"),
        (
            "CREATE CONSTRAINT one_title FOR (q:Question) REQUIRE (q.name, q.origin) IS UNIQUE",
            "`one_title` of Question(name, origin)",
        ),
        (
            "CREATE CONSTRAINT one_title FOR ()-[r:LEADS_TO]-() REQUIRE r.question IS UNIQUE",
            "`one_title` of LEADS_TO(question)",
        ),
        ("CREATE CONSTRAINT one_title FOR (d:Document) REQUIRE d.id IS UNIQUE", "`one_title` of Document(id)"),
    ] {
        database.rows(statement);
        cli.refuses(&publish, "input", &["not Cairn's conflict with those of Cairn", named, "DROP CONSTRAINT"]);
        assert_eq!(database.count("MATCH (n) RETURN count(n) AS n"), 0);
        assert_eq!(database.rows("SHOW CONSTRAINTS").len(), 2);
        database.rows("DROP CONSTRAINT one_title");
    }
    published(&cli, &database);
    database.rows("CREATE CONSTRAINT one_title FOR (d:Document) REQUIRE d.uri IS UNIQUE");
    let said = cli.run(["check", "--neo4j", &database.uri]);
    assert!(said.status == Some(7) && said.stderr.contains("`one_title` of Document(uri)"), "{said:#?}");
    assert_eq!(database.count("SHOW CONSTRAINTS YIELD name WHERE name = 'my_number' RETURN count(*) AS n"), 1);
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn what_is_missing_in_the_schema_is_made_again_without_an_index_on_disk() {
    let Some(database) = database_to_reshape() else { return };
    let cli = indexed_mill();
    published(&cli, &database);
    let uri = &database.uri;
    let elsewhere = Cli::new();
    // One of each kind.
    let missing = ["cairn_passage_text", "cairn_passage_embedding", "cairn_passage_id", "cairn_own"];
    for name in missing {
        database.rows(&format!("DROP {} {name}", if name == "cairn_own" { "CONSTRAINT" } else { "INDEX" }));
    }
    let said = elsewhere.run(["check", "--neo4j", uri]);
    assert!(said.status == Some(7) && missing.iter().all(|it| said.stderr.contains(it)), "{said:#?}");
    assert_eq!(offending(&elsewhere, uri), ["schema"]);
    let said = elsewhere.run(["check", "--neo4j", uri, "--repair"]).succeeded();
    assert!(said.stderr.contains("recreated: "), "{}", said.stderr);
    for name in missing {
        assert!(said.stderr.contains(name), "{}", said.stderr);
    }
    // With our name and on the right property, but not as it should be.
    database.rows("DROP INDEX cairn_passage_embedding");
    database.rows(
        "CREATE VECTOR INDEX cairn_passage_embedding FOR (n:Passage) ON (n.embedding) \
         OPTIONS {indexConfig: {`vector.dimensions`: 3, `vector.similarity_function`: 'euclidean'}}",
    );
    let question = ["search", "Who built Harl Mill?", "--neo4j", uri];
    cli.refuses(&question, "corrupt", &["cairn_passage_embedding"]);
    elsewhere.run(["check", "--neo4j", uri, "--repair"]).succeeded();
    cli.run(question).succeeded();
    // Differences from the index can only be repaired with the index.
    database.rows("MATCH (p:Passage) WITH p LIMIT 1 SET p.text = 'other'");
    assert_eq!(elsewhere.run(["check", "--neo4j", uri, "--repair"]).status, Some(4));
    assert!(cli.run(["check", "--neo4j", uri, "--repair"]).succeeded().stderr.contains("contents"));
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn an_index_of_few_documents_replaces_one_of_many_only_on_request() {
    let Some(database) = database() else { return };
    let folder = tempfile::tempdir().unwrap();
    let documents = |numbers: std::ops::Range<usize>| {
        let text = |number: usize| format!("Mill {number} was built by Ada Lorne. It stands by the river.");
        let document = |number| Document::new(format!("mill-{number}"), Some(format!("Mill {number}")), text(number));
        Sources::documents(numbers.map(document))
    };
    let cli = Cli::new();
    let [many, few] = ["many", "few"].map(|name| folder.path().join(name));
    index(&many, &documents(0..40));
    index(&few, &documents(0..3));
    let workspace = Workspace::open(&many).unwrap();
    block_on(publish(&workspace, &database.target(), &PublishOptions::default())).unwrap();
    let before = held(&database);
    let collection =
        |path: &Path| Workspace::open(path).unwrap().records().unwrap().manifest().unwrap().collection.to_string();
    let [held_id, given] = [collection(&many), collection(&few)];
    let [many, few] = [many, few].map(|path| path.to_str().unwrap().to_owned());
    let words = [
        &format!("of another collection, `{held_id}`, with 40 documents, 37 of which would be removed")[..],
        &format!("this one has 3, of the collection `{given}`"),
        "hint: publish with `--replace`",
    ];
    cli.refuses(&["publish", "--index", &few, "--neo4j", &database.uri], "input", &words);
    // It has all of the documents and more, but is another collection.
    let more = folder.path().join("more");
    index(&more, &documents(0..50));
    let words = ["of another collection", "0 of which would be removed; this one has 50"];
    cli.refuses(&["publish", "--index", more.to_str().unwrap(), "--neo4j", &database.uri], "input", &words);
    // The same collection, with most of its documents gone.
    let ids: Vec<String> = (0..30).map(|number| format!("mill-{number}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut workspace = workspace;
    block_on(remove(&mut workspace, &ids, &Performers::built_in(), &IndexOptions::default())).unwrap();
    let words =
        ["of the same collection with 40 documents, 30 of which would be removed; this one has 10", "--replace"];
    cli.refuses(&["publish", "--index", &many, "--neo4j", &database.uri], "input", &words);
    assert!(held(&database) == before);

    cli.json(&["publish", "--index", &few, "--neo4j", &database.uri, "--replace"]);
    assert_eq!(database.count("MATCH (d:Document) RETURN count(d) AS n"), 3);
    let named = format!("MATCH (i:Index {{collection: '{given}'}}) RETURN count(i) AS n");
    assert_eq!(database.count(&named), 1);
    // A clone belongs to the same collection.
    cli.run(["clone", &database.uri, "cloned"]).succeeded();
    assert_eq!(collection(&cli.folder().join("cloned")), given);
    cli.json(&["publish", "--index", "cloned", "--neo4j", &database.uri]);
    let said = cli.run(["check", "--neo4j", &database.uri]).succeeded();
    assert!(said.stderr.contains(&format!("collection {given}")), "{}", said.stderr);
}
