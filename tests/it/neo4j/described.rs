//! What a language model found and wrote, and what names stand for, written to the database and read back.

use serde_json::{Value, json};

use super::{held, published};
use crate::models::generating::{index, mills, name_of, status_of, written};
use crate::support::chat::{ChatServer, Play, Reply, Thought};
use crate::support::neo4j::database;
use crate::support::{Cli, canonical};

const BY_MODEL: &[&str] = &["--extract", "--entity-types", "propose", "--summaries", "--reports"];

/// A model that performs each skill of indexing.
fn model() -> Play {
    Play::Thinks(Thought::new(|body| {
        let entity =
            |name: &str, kind: &str| json!({ "name": name, "type": kind, "description": format!("A {kind}.") });
        let text = match body["response_format"]["json_schema"]["name"].as_str().unwrap() {
            "extract" => {
                let name = name_of(body);
                let relation = json!({ "source": "Ada Lorne", "target": name, "description": "She built it.",
                    "strength": 8, "evidence": format!("{name} was built by Ada Lorne") });
                let entities = [entity(&name, "mill"), entity("Ada Lorne", "person")];
                json!({ "entities": entities, "relations": [relation] })
            }
            "summarize" => {
                let said = |name: &str, kind: &str, sentences: &[u32]| {
                    let description = "They are in Vell.";
                    json!({ "name": name, "type": kind, "description": description, "sentences": sentences })
                };
                json!({ "summaries": [said("Mills of Vell", "mill", &[1, 2]), said("Builders", "", &[1])] })
            }
            "propose" => json!({ "types": ["person", "mill"] }),
            "report" => json!({ "title": "Ada Lorne and her mills", "summary": "She built mills.", "rating": 7,
                "findings": [{ "text": "She built two.", "sentences": [1, 2] },
                    { "text": "One.", "sentences": [1] }] }),
            _ => return Reply { text: written(&name_of(body)), tokens: (500, 100) },
        };
        Reply { text: text.to_string(), tokens: (500, 100) }
    }))
}

pub(super) fn described() -> (Cli, ChatServer) {
    let (cli, server) = (mills(), ChatServer::start([model()]));
    cli.write("notes/union.txt", "Mill Trust Union\n\nThe Mill Trust Union (MTU) was led by Ada Lorne.");
    cli.write("notes/strike.txt", "The strike\n\nTom Reed spoke for the MTU at Harl Mill, and so did Ada Lorne.");
    cli.write("notes/gone.txt", "Gone Mill\n\nGone Mill was built by Tom Reed.");
    index(&cli, &server, BY_MODEL).succeeded();
    cli.run(["remove", "notes/gone.txt"]).succeeded();
    cli.run(["entities", "split", "Harl Mill", "Pale Mill"]).succeeded();
    index(&cli, &server, BY_MODEL).succeeded();
    (cli, server)
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn what_a_model_found_and_wrote_is_seen_in_the_database_and_is_whole_in_a_clone() {
    let Some(database) = database() else { return };
    let (cli, server) = described();
    published(&cli, &database);
    assert!(held(&database) == canonical(&cli.folder().join(".cairn")), "the graph is not that of the index");
    let seen = [
        "MATCH (e:Entity {name: 'Ada Lorne', type: 'person', typeOrigin: 'model', description: 'A person.'}) \
         WHERE e.origin = 'both' RETURN count(e) AS n",
        "MATCH (:Entity)-[r:RELATES_TO {description: 'She built it.'}]-(:Entity {name: 'Harl Mill'}) \
         WHERE r.sentence CONTAINS 'Ada Lorne' AND r.origin = 'both' RETURN count(r) AS n",
        "MATCH (c:Community {name: 'Ada Lorne and her mills', summary: 'She built mills.', origin: 'model'}) \
         WHERE c.rating = 7.0 AND c.findings = ['She built two.', 'One.'] RETURN count(c) AS n",
        "MATCH (:Entity)-[:SUMMARIZED_BY]->(s:Summary {name: 'Mills of Vell; Builders', origin: 'model'}) \
         WHERE s.types = ['mill'] AND s.description STARTS WITH 'Mills of Vell: They are in Vell.' \
         AND size(s.citations) >= 2 RETURN count(s) AS n",
        "CALL db.index.fulltext.queryNodes('cairn_summary_text', 'builders vell') YIELD node RETURN count(node) AS n",
        "MATCH (:Entity {name: 'MTU'})-[r:SAME_AS]->(e:Entity {name: 'Mill Trust Union'}) \
         WHERE 'MTU' IN e.aliases AND r.reason IN ['parenthesis', 'acronym'] RETURN count(r) AS n",
        "CALL db.index.fulltext.queryNodes('cairn_community_text', 'built two') YIELD node RETURN count(node) AS n",
        "CALL db.index.fulltext.queryNodes('cairn_entity_text', 'person') YIELD node RETURN count(node) AS n",
    ];
    for text in seen {
        assert!(database.count(text) > 0, "{text}");
    }
    let state = &database.rows("MATCH (i:Index) RETURN i.reports AS reports, i.entitiesByModel AS entities")[0];
    assert!(database.count("MATCH (i:Index) RETURN i.summariesByModel AS n") > 0);
    assert!(state.get::<i64>("reports").unwrap() > 0 && state.get::<i64>("entities").unwrap() > 10);
    cli.run(["check", "--neo4j", &database.uri]).succeeded();

    cli.run(["clone", &database.uri, "cloned"]).succeeded();
    assert!(cli.canonical("cloned") == cli.canonical(".cairn"), "the clone is another index");
    let of = |what: &[&str], folder: &str| -> Value {
        let said = cli.run([what, &["--index", folder, "--json"]].concat()).succeeded();
        serde_json::from_str(&said.stdout).unwrap()
    };
    for what in [&["topics"][..], &["entities", "merges"], &["entities", "list"], &["remove", "--list"]] {
        let [one, other] = [".cairn", "cloned"].map(|folder| {
            let mut said = of(what, folder);
            said["version"] = Value::Null;
            said
        });
        assert_eq!(one, other, "{what:?}");
    }
    cli.run(["check", "--index", "cloned"]).succeeded();
    // It is paid for: a run over the same documents makes no requests.
    let (asked, status) = (server.asked().len(), status_of(&cli));
    index(&cli, &server, &[BY_MODEL, &["--index", "cloned"]].concat()).succeeded();
    assert_eq!((server.asked().len(), status_of(&cli)), (asked, status));

    // A new report replaces the previous one, and nothing else is touched.
    let other = json!({ "title": "Mills", "summary": "Mills.", "rating": 1,
        "findings": [{ "text": "Mills.", "sentences": [1] }] });
    server.play([Play::Thinks(Thought::new(move |body| {
        let is_report = body["response_format"]["json_schema"]["name"] == "report";
        let text = if is_report { other.to_string() } else { written(&name_of(body)) };
        Reply { text, tokens: (500, 100) }
    }))]);
    cli.write("notes/00.txt", "Harl Mill\n\nHarl Mill was built by Ada Lorne and Tom Reed in 1810, for Ann Orr.");
    index(&cli, &server, &["--reports"]).succeeded();
    published(&cli, &database);
    assert!(held(&database) == canonical(&cli.folder().join(".cairn")), "the graph is not that of the index");
    assert_eq!(database.count("MATCH (c:Community {name: 'Mills'}) RETURN count(c) AS n"), 1);
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn what_no_passage_says_is_not_taken_out_of_a_database() {
    let Some(database) = database() else { return };
    let (cli, _server) = described();
    published(&cli, &database);
    for damage in [
        "MATCH (u:Unit) WHERE u.extractions IS NOT NULL \
         SET u.extractions = [it IN u.extractions | replace(it, '\"start\":', '\"start\":9')]",
        "MATCH (k:Kept {name: 'report'}) SET k.json = replace(k.json, '\"rating\":7', '\"rating\":70')",
        "MATCH (k:Kept {name: 'report'}) SET k.json = replace(k.json, '\"aspects\":[', '\"aspects\":[],\"x\":[')",
        "MATCH (k:Kept {name: 'entity types'}) SET k.json = '['",
        "MATCH (k:Kept {name: 'pair of names'}) SET k.name = 'order'",
        "MATCH (k:Kept {name: 'pair of names'}) SET k.json = replace(k.json, 'harl mill', 'zeal mill')",
        "MATCH (k:Kept {name: 'removed document'}) SET k.json = replace(k.json, 'notes/gone.txt', 'notes/00.txt')",
    ] {
        database.rows(damage);
        let said = cli.run(["clone", &database.uri, "cloned"]);
        assert!(said.status != Some(0) && said.stderr.contains("--repair"), "{damage}: {said:#?}");
        assert!(!cli.folder().join("cloned").exists(), "{damage}");
        cli.run(["check", "--neo4j", &database.uri, "--repair"]).succeeded();
    }
    cli.run(["clone", &database.uri, "cloned"]).succeeded();
}
