//! A graph that the program before this format published, as `tests/data/neo4j-format-2.jsonl` has it: replaced by the
//! next publish, which keeps everything that users added.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use neo4rs::{BoltBytes, BoltList, BoltMap, BoltNull, BoltString, BoltType, ConfigBuilder, Graph, Query};
use serde_json::Value;

use crate::support::bolt::{Cut, Proxy};
use crate::support::neo4j::{Database, bare_database};
use crate::support::{Cli, at_most, block_on, canonical};

use super::held;

/// Publishers that are killed at least while they replace the graph; `--test torture` continues until one was killed at
/// every message.
const KILLS_LEAST: usize = 2;

fn bolt(value: &Value) -> BoltType {
    match value {
        Value::Null => BoltType::Null(BoltNull),
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => integer.into(),
            None => number.as_f64().unwrap().into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => BoltType::List(BoltList { value: items.iter().map(bolt).collect() }),
        Value::Object(map) => {
            if let Some(hex) = map.get("bytes").and_then(Value::as_str) {
                let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
                let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
                return BoltType::Bytes(BoltBytes::new(bytes.into()));
            }
            let mut bolts = BoltMap::new();
            map.iter().for_each(|(name, value)| bolts.put(BoltString::new(name), bolt(value)));
            BoltType::Map(bolts)
        }
    }
}

/// Gives a database the contents that the program before this format wrote for the notes of [`indexed`].
fn load(database: &Database) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/neo4j-format-2.jsonl");
    let lines: Vec<Value> =
        fs::read_to_string(path).unwrap().lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let (schema, elements): (Vec<Value>, Vec<Value>) = lines.into_iter().partition(|it| it.get("schema").is_some());
    let mut rows: BTreeMap<String, Vec<BoltType>> = BTreeMap::new();
    let (nodes, relationships): (Vec<Value>, Vec<Value>) =
        elements.into_iter().partition(|it| it.get("labels").is_some());
    for (number, mut node) in nodes.into_iter().enumerate() {
        let labels: Vec<&str> = node["labels"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let text = format!("UNWIND $rows AS row CREATE (n:{}) SET n = row", labels.join(":"));
        node["properties"]["number"] = number.into();
        rows.entry(format!("1 {text}")).or_default().push(bolt(&node["properties"]));
    }
    for relationship in relationships {
        let kind = relationship["type"].as_str().unwrap();
        let text = format!(
            "UNWIND $rows AS row MATCH (a {{number: row.from}}), (b {{number: row.to}}) \
             CREATE (a)-[r:{kind}]->(b) SET r = row.properties"
        );
        rows.entry(format!("2 {text}")).or_default().push(bolt(&relationship));
    }
    block_on(async {
        let config = ConfigBuilder::default().uri(database.uri.as_str()).user("neo4j").password("").build().unwrap();
        let graph = Graph::connect(config).unwrap();
        for (text, rows) in rows {
            let query = Query::new(text[2..].to_owned()).param("rows", BoltType::List(BoltList { value: rows }));
            let mut stream = graph.execute(query).await.unwrap();
            while stream.next().await.unwrap().is_some() {}
        }
    });
    let schema = schema.iter().map(|it| it["schema"].as_str().unwrap());
    database.run(["MATCH (n) REMOVE n.number"].into_iter().chain(schema).chain(["CALL db.awaitIndexes(60)"]));
}

/// Returns the index that was published.
fn indexed() -> Cli {
    let cli = Cli::new();
    cli.write(
        "harl-mill/mill.txt",
        "Harl Mill\n\nHarl Mill was built by Ada Lorne. It burned in 1911. Who rebuilt Harl Mill?",
    );
    cli.write(
        "harl-mill/ada.txt",
        "Ada Lorne\n\nAda Lorne was born in Eaststead. She built Harl Mill and Toll Tower. Where is Toll Tower?",
    );
    cli.json(&["index", "harl-mill"]);
    cli
}

/// Adds elements that a user may have beside the index.
fn add_own(database: &Database) {
    database.rows("MATCH (p:Passage {title: 'Harl Mill'}) CREATE (:Note {own: true, name: 'mine'})-[:ABOUT]->(p)");
    database.rows("CREATE (:Passage {own: true, name: 'mine'}), (:Change {own: true}), (:Unit {own: true})");
    database.rows("CREATE FULLTEXT INDEX mine FOR (n:Person) ON EACH [n.name]");
}

#[track_caller]
fn assert_taken_over(cli: &Cli, database: &Database) {
    assert!(held(database) == canonical(&cli.folder().join(".cairn")), "the graph is not that of the index");
    assert_eq!(database.count("MATCH (n) WHERE n.own RETURN count(n) AS n"), 4);
    let left = "MATCH (n) WHERE (n:Unit OR n:Lexicon OR n:Change OR n:Migration) AND NOT n:_Cairn AND n.own IS NULL \
        OR n:Migration OR n:Change AND n:_Cairn RETURN count(n) AS n";
    assert_eq!(database.count(left), 0);
    let names = "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' AND NOT name STARTS WITH 'cairn_' \
        RETURN collect(name) AS names";
    assert_eq!(database.rows(names)[0].get::<Vec<String>>("names").unwrap(), ["mine"]);
    cli.run(["check", "--neo4j", &database.uri]).succeeded();
    let found = cli.run(["search", "Where is Toll Tower?", "--neo4j", &database.uri]).succeeded();
    assert!(found.stdout.contains("Ada Lorne"), "{}", found.stdout);
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_graph_of_the_earlier_format_is_replaced_by_the_next_publish_and_what_users_added_beside_it_stays() {
    let Some(database) = bare_database() else { return };
    load(&database);
    add_own(&database);
    let cli = indexed();
    for command in [&["search", "Where is Toll Tower?"][..], &["check"], &["check", "--repair"]] {
        let command = [command, &["--neo4j", &database.uri]].concat();
        cli.refuses(&command, "incompatible", &["has format 2", "hint: publish its index again"]);
    }
    let said = cli.run(["status", "--neo4j", &database.uri]).succeeded();
    assert!(said.stdout.contains("format 2"), "{}", said.stdout);
    // As far as anybody can tell, it is another collection.
    let publish = ["publish", "--neo4j", &database.uri, "--replace"];
    cli.refuses(&publish[..3], "input", &["of another collection"]);
    // The earlier program is publishing.
    database.rows("MATCH (l:Publisher) SET l.owner = 'x', l.shown = 'on `mars`', l.expires = timestamp() + 60000");
    cli.refuses(&publish, "busy", &["another publisher is at work", "on `mars`"]);
    database.rows("MATCH (l:Publisher) SET l.expires = 0");

    let report = cli.json(&publish);
    assert_eq!((report["version"].as_u64(), report["changed"].as_u64()), (Some(2), Some(0)), "{report}");
    assert_eq!(report["detached"].as_u64(), Some(1), "{report}");
    assert_taken_over(&cli, &database);
    let again = cli.json(&publish);
    assert_eq!((again["version"].as_u64(), again["written"].as_u64()), (Some(2), Some(0)), "{again}");
}

mod long_tests {
    use super::*;

    /// Wherever it is killed, readers are refused or see the whole graph, and the next publish gives the same graph.
    #[test]
    #[ignore = "it loads a graph for each kill: `--test torture` runs it"]
    fn after_a_publisher_is_killed_while_replacing_a_graph_the_next_publish_completes_it() {
        let Some(database) = bare_database() else { return };
        let cli = indexed();
        load(&database);
        let whole = Proxy::start_whole(&database.uri);
        cli.run(["publish", "--neo4j", &whole.uri, "--replace"]).succeeded();
        let (messages, began) = (whole.seen(), Instant::now());
        let mut kills = 0;
        // In an order that is spread over all messages; those of the greeting change nothing.
        while kills < messages && (kills < KILLS_LEAST || began.elapsed() < at_most(Duration::ZERO)) {
            let number = 20 + (kills * 89) % (messages - 20);
            kills += 1;
            database.empty();
            load(&database);
            add_own(&database);
            let proxy = Proxy::start(&database.uri, number, Cut::Held);
            let mut publisher = cli
                .command(["publish", "--neo4j", &proxy.uri, "--replace"])
                .stderr(Stdio::null())
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            while proxy.seen() <= number && publisher.try_wait().unwrap().is_none() {
                thread::sleep(Duration::from_millis(5));
            }
            publisher.kill().unwrap();
            publisher.wait().unwrap();
            proxy.release();
            let read = cli.run(["export", "--canonical", "--neo4j", &database.uri]);
            if read.status == Some(0) {
                assert!(read.stdout == cli.canonical(".cairn"), "killed at {number}");
            } else {
                assert_eq!(read.status, Some(6), "killed at {number}: {read:#?}");
            }
            cli.json(&["publish", "--neo4j", &database.uri, "--replace"]);
            assert_taken_over(&cli, &database);
        }
        println!("killed at {kills} of {messages} messages in {:?}", began.elapsed());
        assert!(messages > 60, "only {messages} messages");
    }
}
