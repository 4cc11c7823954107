//! `cairn path`: the shortest paths between passages, entities and documents of an index, as a user asks for them.

use cairn::domain::{Direction, PathNode, PathStep, PathsBy};
use cairn::{PathEnd, PathOptions};
use serde_json::Value;

use crate::support::{Cli, assert_valid, block_on, engine, harbor};

/// Three mills and their builders: Ada Lorne is in two documents, and a third names both.
const NOTES: [(&str, &str, &str); 5] = [
    ("mill", "Harl Mill", "Harl Mill was built by Ada Lorne."),
    ("tower", "Toll Tower", "Toll Tower was built by Ada Lorne. It stands in Skell Bay."),
    ("bay", "Skell Bay", "Skell Bay is a small town."),
    ("one", "Twin Gate", "Twin Gate is a gate in the north."),
    ("two", "Twin Gate", "Twin Gate is a gate in the south."),
];

fn indexed() -> Cli {
    let cli = Cli::new();
    let record = |(id, title, text): &(&str, &str, &str)| {
        format!("{{\"id\":\"{id}\",\"title\":\"{title}\",\"text\":\"{text}\"}}\n")
    };
    cli.write("notes.jsonl", NOTES.iter().map(record).collect::<String>());
    cli.json(&["index", "notes.jsonl"]);
    cli
}

fn names(path: &Value) -> Vec<&str> {
    path["nodes"].as_array().unwrap().iter().map(|node| node["name"].as_str().unwrap()).collect()
}

#[test]
fn the_shortest_path_comes_first_and_says_what_each_step_is() {
    let cli = indexed();
    let found = cli.json(&["path", "document:Harl Mill", "Skell  BAY", "--by", "names"]);
    assert_valid("path", &found);
    assert_eq!((found["from"]["kind"].as_str(), found["to"]["kind"].as_str()), (Some("document"), Some("entity")));
    let first = &found["paths"][0];
    assert_eq!(names(first), ["Harl Mill", "Harl Mill", "ada lorne", "Toll Tower", "skell bay"]);
    let steps: Vec<(&str, &str)> = first["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| (step["kind"].as_str().unwrap(), step["direction"].as_str().unwrap()))
        .collect();
    let due = [("part_of", "backward"), ("mention", "backward"), ("mention", "forward"), ("mention", "backward")];
    assert_eq!(steps, due);

    let shown = cli.run(["path", "Harl Mill", "Skell Bay", "--by", "names", "--paths", "1"]).succeeded();
    let due = " 1. 4 steps\n    [harl mill] —mentioned in→ Harl Mill ←mentioned in— [ada lorne] \
        —mentioned in→ Toll Tower ←mentioned in— [skell bay]\n";
    assert_eq!(shown.stdout, due);
}

#[test]
fn no_path_within_the_limit_is_reported_and_not_a_failure() {
    let cli = indexed();
    let said = cli.run(["path", "Harl Mill", "Skell Bay", "--by", "names", "--length-max", "3"]).succeeded();
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", "no path of 3 steps or fewer\n"));
    // Ada Lorne is in two documents.
    let args = ["path", "Harl Mill", "Skell Bay", "--by", "names", "--documents-max", "1"];
    assert_eq!(cli.json(&args)["paths"], Value::Array(Vec::new()));
    assert_eq!(
        cli.json(&["path", "Ada Lorne", "tower", "--documents-max", "1"])["paths"][0]["steps"][0]["kind"],
        "mention"
    );
}

#[test]
fn what_names_nothing_or_too_much_is_refused_with_what_is_near() {
    let cli = indexed();
    let refuses = |args: &[&str], words: &[&str]| cli.refuses(&[&["path"], args].concat(), "input", words);
    refuses(&["Ada Lornes", "Harl Mill"], &["`Ada Lornes`", "similar names are `ada lorne`", "hint: give the id"]);
    refuses(&["document:Harl", "Skell Bay"], &["`Harl`", "`Harl Mill`"]);
    refuses(&["document:Twin Gate", "Skell Bay"], &["several documents", "`one`, `two`", "document:ID"]);
    refuses(&["document:TWIN GATE", "Skell Bay"], &["several documents"]);
    refuses(&["Ada Lorne", "entity:ada lorne"], &["where the path begins"]);
    refuses(&["passage:Ada", "Harl Mill"], &["32 hexadecimal digits"]);
    refuses(&[&"0".repeat(32), "Harl Mill"], &["nothing in the index"]);
    refuses(&[&format!("passage:{}", "0".repeat(32)), "Harl Mill"], &["nothing in the index"]);
    refuses(&["entity:", "Harl Mill"], &["give the id"]);
    refuses(&["entity:Ada Lorne", "mill", "--by", "questions"], &["question edges join passages"]);
    refuses(&["Ada Lorne", "mill", "--by", "edges"], &["questions, names, both, relations, all"]);
    refuses(&["Ada Lorne", "mill", "--paths", "0"], &["from 1 to 100"]);
    refuses(&["Ada Lorne", "mill", "--length-max", "13"], &["from 1 to 12"]);
    Cli::new().refuses(&["path", "A", "B"], "no_index", &["hint: make one"]);
    let wrong = [&["path", "Ada Lorne"][..], &["path", "A", "B", "--traversal", "cypher"]];
    for args in wrong {
        assert_eq!(cli.run(args).status, Some(2), "{args:?}");
    }
}

#[test]
fn words_that_name_nothing_stand_for_the_best_passage_that_has_them() {
    let cli = indexed();
    for (end, name) in [("built", "Harl Mill"), ("small town", "Skell Bay"), ("STANDS in", "Toll Tower")] {
        let found = cli.json(&["path", end, "document:mill", "--by", "names"]);
        assert_eq!((&found["from"]["kind"], &found["from"]["name"]), (&"passage".into(), &name.into()), "{end}");
    }
    cli.refuses(&["path", "small bridge", "mill"], "input", &["nothing in the index is called `small bridge`"]);
}

#[test]
fn every_kind_of_edge_is_walked_where_it_is_asked_for() {
    let cli = Cli::new();
    cli.json(&["index", harbor().to_str().unwrap()]);
    let engine = engine(&cli.folder().join(".cairn"));
    let [from, to] = ["document:Edda Varnholt", "document:Cornelius Pellam"].map(|it| it.parse::<PathEnd>().unwrap());
    let options = PathOptions { paths: 20, ..PathOptions::default() };
    let find = |by: PathsBy| block_on(engine.paths(&from, &to, &PathOptions { by, ..options })).unwrap();
    for by in [PathsBy::Questions, PathsBy::Names, PathsBy::Both, PathsBy::All] {
        let found = find(by);
        assert!(!found.paths.is_empty() && found.paths.is_sorted_by_key(|path| path.steps.len()), "{found:#?}");
        for path in &found.paths {
            assert_eq!((&path.nodes[0], path.nodes.last()), (&found.from, Some(&found.to)));
            let mut nodes = path.nodes.clone();
            nodes.sort();
            nodes.dedup();
            assert_eq!((nodes.len(), path.steps.len() + 1), (path.nodes.len(), path.nodes.len()), "{path:#?}");
            for (step, pair) in path.steps.iter().zip(path.nodes.windows(2)) {
                assert!(leads(step, pair, by), "{step:?} {pair:?}");
            }
        }
        // The same again, so nothing is random.
        assert_eq!(find(by), found);
    }
}

/// Returns whether an edge connects two nodes in its direction.
fn leads(step: &PathStep, pair: &[PathNode], by: PathsBy) -> bool {
    let ends = |direction: &Direction| match direction {
        Direction::Forward => [&pair[0], &pair[1]],
        Direction::Backward => [&pair[1], &pair[0]],
    };
    match step {
        PathStep::QuestionEdge { direction, question } => {
            let passages = ends(direction).iter().all(|it| matches!(it, PathNode::Passage { .. }));
            passages && !question.is_empty() && by.has_questions()
        }
        PathStep::Mention { direction, entity } => {
            let [from, to] = ends(direction);
            let is_entity = matches!(from, PathNode::Entity { name, .. } if name == entity);
            is_entity && matches!(to, PathNode::Passage { .. }) && by.has_names()
        }
        PathStep::PartOf { direction } => {
            matches!(ends(direction), [PathNode::Passage { .. }, PathNode::Document { .. }])
        }
        PathStep::RelatesTo { sentence } => {
            let are_entities = pair.iter().all(|it| matches!(it, PathNode::Entity { .. }));
            are_entities && sentence.is_some() && by.has_relations()
        }
    }
}

/// "HTU" is a name of the Harbor Trust Union, for which Petra Quist spoke, and which Mira Stenholm led.
#[test]
fn relations_join_entities_by_any_of_their_names_each_with_its_sentence() {
    let cli = Cli::new();
    for (title, text) in [
        ("Harbor Trust Union", "The Harbor Trust Union (HTU) has an office. Mira Stenholm led the Harbor Trust Union."),
        ("The strike", "Petra Quist spoke for the HTU in May. It was long."),
        ("Mira Stenholm", "Mira Stenholm was an engineer."),
        ("Petra Quist", "Petra Quist was a swimmer."),
    ] {
        cli.write(&format!("notes/{title}.md"), format!("# {title}\n\n{text}"));
    }
    cli.json(&["index", "notes"]);
    let found = cli.json(&["path", "Mira Stenholm", "Petra Quist", "--by", "relations", "--paths", "1"]);
    assert_valid("path", &found);
    let path = &found["paths"][0];
    assert_eq!(names(path), ["mira stenholm", "harbor trust union", "petra quist"], "{found:#}");
    let said = |at: usize| path["steps"][at]["sentence"]["quote"].as_str().unwrap();
    assert_eq!(said(0), "Mira Stenholm led the Harbor Trust Union.");
    assert_eq!(said(1), "Petra Quist spoke for the HTU in May.");
    // Any name of an end gives the same.
    let [by_one, by_other] = ["HTU", "Harbor Trust Union"]
        .map(|name| cli.json(&["path", name, "Petra Quist", "--by", "relations"])["paths"].clone());
    assert_eq!(by_one, by_other);
    assert_eq!(by_one[0]["steps"].as_array().unwrap().len(), 1, "{by_one:#}");
    let same = ["path", "HTU", "Harbor Trust Union", "--by", "all"];
    cli.refuses(&same, "input", &["where the path begins"]);
    let said = cli.run(["path", "Mira Stenholm", "HTU", "--by", "relations", "--paths", "1"]).succeeded();
    assert!(said.stdout.contains("[mira stenholm] —relates to— [harbor trust union]"), "{said:#?}");
    assert!(said.stdout.contains("Mira Stenholm led the Harbor Trust Union. [notes/"), "{said:#?}");
    // With all other edges, it is not longer.
    let all = cli.json(&["path", "Mira Stenholm", "Petra Quist", "--by", "all", "--paths", "1"]);
    assert_eq!(all["paths"][0]["steps"].as_array().unwrap().len(), 2, "{all:#}");
}
