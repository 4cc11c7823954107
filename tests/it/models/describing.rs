//! Descriptions of entities about which passages say more than is kept, condensed by the model; and separate calls for
//! entities and relations.

use serde_json::{Value, json};

use super::generating::{COUNT, index, mills, name_of, report_of, status_of};
use crate::support::chat::{ChatServer, Play, Reply, Thought};
use crate::support::{Cli, assert_valid};

const EXTRACT: &[&str] = &["--extract", "--rule-questions"];
const WHOLE: &str = "Ada Lorne built twelve mills, Harl Mill first.";

/// Returns a model's description of the builder in the note about a mill: many words, each in no other note.
fn said_of_ada(mill: &str) -> String {
    let words: Vec<String> =
        (0..30).map(|number| format!("{}{number}", mill.replace(' ', "").to_lowercase())).collect();
    format!("Ada Lorne built twelve mills, {mill} among them: {}.", words.join(" "))
}

fn entities(mill: &str) -> Value {
    json!([
        { "name": mill, "type": "place", "description": format!("{mill} burned.") },
        { "name": "Ada Lorne", "type": "person", "description": said_of_ada(mill) },
    ])
}

fn relations(mill: &str) -> Value {
    json!([{ "source": "Ada Lorne", "target": mill, "description": "She built it.", "strength": 8,
        "evidence": format!("{mill} was built by Ada Lorne") }])
}

/// A model that condenses descriptions to `whole`.
fn plays(whole: &'static str) -> Play {
    Play::Thinks(Thought::new(move |body| {
        let text = match skill(body) {
            "extract" => {
                let mill = name_of(body);
                json!({ "entities": entities(&mill), "relations": relations(&mill) })
            }
            "name" => json!({ "entities": entities(&name_of(body)) }),
            "relate" => json!({ "relations": relations(&name_of(body)) }),
            "describe" => json!({ "description": whole }),
            "summarize" => json!({ "summaries": [
                { "name": "Mills", "type": "place", "description": "They burned.", "sentences": [1] },
            ] }),
            "report" => json!({ "title": "Mills", "summary": "They burned.", "rating": 3,
                "findings": [{ "text": "They burned.", "sentences": [1] }] }),
            other => panic!("{other}"),
        };
        Reply { text: text.to_string(), tokens: (500, 100) }
    }))
}

fn skill(body: &Value) -> &str {
    body["response_format"]["json_schema"]["name"].as_str().unwrap()
}

#[track_caller]
fn lines(cli: &Cli, kind: &str) -> Vec<Value> {
    let text = cli.canonical(".cairn");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter_map(|line| line.get(kind).cloned()).collect()
}

#[track_caller]
fn description_of_ada(cli: &Cli) -> String {
    let ada = lines(cli, "entity").into_iter().find(|it| it["name"] == "ada lorne").unwrap();
    ada["description"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_too_long_to_be_kept_is_put_together_once() {
    let (cli, server) = (mills(), ChatServer::start([plays(WHOLE)]));
    let report = report_of(&cli, &server, EXTRACT);
    assert_eq!(report["described"]["written"], 1, "{report}");
    assert_eq!(server.asked().len(), COUNT + 1);
    assert_eq!(description_of_ada(&cli), WHOLE);
    assert_eq!(status_of(&cli)["descriptions"], json!({ "written": 1, "failed": 0, "failures": [] }));
    let shown = cli.run(["status"]).succeeded().stdout;
    assert!(shown.contains("descriptions of 1 entity by a language model"), "{shown}");

    // It is paid for once, with or without a model, and again if the descriptions change.
    let version = report["version"].clone();
    let again = report_of(&cli, &server, EXTRACT);
    assert_eq!((&again["version"], server.asked().len()), (&version, COUNT + 1));
    cli.write("notes/zeal.txt", "Zeal Mill\n\nZeal Mill stands in Vell.");
    cli.run(["index", "notes"]).succeeded();
    assert_eq!(description_of_ada(&cli), WHOLE);
    server.play([plays("Ada Lorne built Harl Mill among twelve mills.")]);
    cli.write("notes/00.txt", "Harl Mill\n\nHarl Mill was built by Ada Lorne in 1811. It burned down thrice.");
    cli.run(["remove", "notes/11.txt"]).succeeded();
    let report = report_of(&cli, &server, EXTRACT);
    assert_eq!(report["described"]["written"], 1, "{report}");
    assert_eq!(description_of_ada(&cli), "Ada Lorne built Harl Mill among twelve mills.");
    cli.run(["check"]).succeeded();
}

#[test]
fn topics_are_written_from_condensed_descriptions_and_paid_for_once() {
    let (cli, server) = (mills(), ChatServer::start([plays(WHOLE)]));
    let all = [EXTRACT, &["--summaries", "--reports"]].concat();
    let report = report_of(&cli, &server, &all);
    assert!(report["reported"]["written"].as_u64() > Some(0) && report["summarized"]["written"].as_u64() > Some(0));
    for asked in server.asked().iter().filter(|it| ["report", "summarize"].contains(&skill(&it.body))) {
        let said = asked.body["messages"][1]["content"].as_str().unwrap();
        assert!(said.contains(WHOLE) && !said.contains(&said_of_ada("Harl Mill")), "{said}");
    }
    // The documents are the same, whether their hierarchy is taken over or rebuilt.
    let (asked, exported) = (server.asked().len(), cli.canonical(".cairn"));
    report_of(&cli, &server, &all);
    std::fs::remove_dir_all(cli.folder().join(".cairn/versions")).unwrap();
    report_of(&cli, &server, &all);
    assert_eq!((server.asked().len(), cli.canonical(".cairn") == exported), (asked, true));
}

#[test]
fn what_no_passage_says_is_refused_and_rules_keep_as_much_as_fits() {
    let (cli, server) = (mills(), ChatServer::start([plays("Ada Lorne was crowned in 1066 by Tom Reed.")]));
    let said = index(&cli, &server, EXTRACT);
    assert!(said.stderr.contains("says what is not said of the entity"), "{said:#?}");
    let kept = description_of_ada(&cli);
    assert!(kept.starts_with("Ada Lorne built twelve mills, Harl Mill among them") && kept.len() < 4_000, "{kept}");
    let status = status_of(&cli);
    let failure = &status["descriptions"]["failures"][0];
    assert_eq!(failure["source"], "the entity `Ada Lorne`", "{status}");
    // An unusable reply is not paid for again.
    let asked = server.asked().len();
    index(&cli, &server, EXTRACT);
    assert_eq!(server.asked().len(), asked);
}

#[test]
fn entities_and_relations_can_be_asked_for_in_separate_calls() {
    let (cli, server) = (mills(), ChatServer::start([plays(WHOLE)]));
    let separate = [EXTRACT, &["--separate-relations"]].concat();
    let dry = [&separate[..], &["--dry-run", "--json"]].concat();
    let estimate: Value = serde_json::from_str(&index(&cli, &server, &dry).succeeded().stdout).unwrap();
    assert_valid("estimate", &estimate);
    assert_eq!((&estimate["stages"][0]["calls"], server.asked().len()), (&json!(2 * COUNT), 0));
    let report = report_of(&cli, &server, &separate);
    let asked: Vec<String> = server.asked().iter().map(|it| skill(&it.body).to_owned()).collect();
    let count = |name: &str| asked.iter().filter(|it| *it == name).count();
    assert_eq!((count("name"), count("relate"), count("extract")), (COUNT, COUNT, 0), "{asked:?}");
    assert_eq!((&report["extracted"]["entities"], &report["extracted"]["relations"]), (&json!(24), &json!(12)));
    let found = (lines(&cli, "entity"), lines(&cli, "relation_description"));
    // One call finds the same.
    let (other, server) = (mills(), ChatServer::start([plays(WHOLE)]));
    report_of(&other, &server, EXTRACT);
    assert_eq!((lines(&other, "entity"), lines(&other, "relation_description")), found);
}
