//! Paths: the database finds what the structure in memory gives, as many and as long, and the same where it has no
//! choice.

use std::fs;

use cairn::domain::{GraphPath, PathNode, PathsBy, PathsFound};
use cairn::graph::ordinal::{DocumentOrdinal, MentionOrdinal, Ordinal as _, PassageOrdinal};
use cairn::neo4j::{DatabaseGraph, Session, TraversalOptions, paths as by_cypher};
use cairn::query::{Source, paths as in_memory};
use cairn::store::GraphReader;
use cairn::{Document, ErrorKind, PathEnd, PathOptions, Result, Sources, Workspace};
use serde_json::Value;

use super::published;
use crate::support::neo4j::{database, sized};
use crate::support::{Cli, Random, assert_valid, block_on, harbor, index, left_out, shared_data};

/// Records of a real collection.
const RECORDS: usize = 1_500;
/// Pairs of ends; `--test torture` asks about more.
const PAIRS: usize = 60;
const PAIRS_OF_TORTURE: usize = 2_000;
/// Lengths of the longest path: within 4 steps few of these pairs are joined, within 7 most.
const LENGTHS: [usize; 3] = [4, 6, 7];
const SEED: u64 = 1;

/// Returns the first records of a real collection, or the demo collection where it is missing, and says so.
fn sources() -> Sources {
    let Some(folder) = shared_data("2wiki-hippo") else {
        left_out("the demo collection is asked instead of a real one");
        return Sources::folder(harbor());
    };
    let text = fs::read_to_string(folder.join("corpus.jsonl")).unwrap();
    let document = |line: &str| {
        let record: Value = serde_json::from_str(line).unwrap();
        let text = |field: &str| record[field].as_str().unwrap().to_owned();
        Document::new(text("id"), Some(text("title")), text("text"))
    };
    Sources::documents(text.lines().take(RECORDS).map(document))
}

/// Returns a passage, an entity or a document, each as often; an entity as often as it is mentioned.
fn end(reader: &dyn GraphReader, random: &mut Random) -> PathEnd {
    let graph = reader.graph();
    match random.below(3) {
        0 => PathEnd::Passage(reader.passage_id(PassageOrdinal::at(random.below(graph.passage_count())))),
        1 => PathEnd::Entity(
            graph
                .entity_name(graph.mention_entity[MentionOrdinal::at(random.below(graph.mention_entity.len()))])
                .to_owned(),
        ),
        _ => PathEnd::Document(
            reader.document(DocumentOrdinal::at(random.below(graph.document_count()))).unwrap().source_id,
        ),
    }
}

/// Returns the paths that no tie decides: all, where there are fewer than were asked for, or else those that are
/// shorter than the last.
fn undecided(found: &PathsFound, options: &PathOptions) -> Vec<GraphPath> {
    let last = found.paths.last().map_or(0, |path| path.steps.len());
    let is_full = found.paths.len() == options.paths;
    let mut paths = found.paths.clone();
    paths.retain(|path| !is_full || path.steps.len() < last);
    paths.sort();
    paths
}

fn is_loopless(path: &GraphPath) -> bool {
    let mut nodes: Vec<&PathNode> = path.nodes.iter().collect();
    nodes.sort();
    nodes.dedup();
    nodes.len() == path.nodes.len() && path.steps.len() + 1 == nodes.len()
}

#[test]
fn the_database_and_the_structure_in_memory_agree_on_paths_between_any_two() {
    let Some(database) = database() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    index(&path, &sources());
    let workspace = Workspace::open(&path).unwrap();
    block_on(cairn::neo4j::publish(&workspace, &database.target(), &cairn::neo4j::PublishOptions::default())).unwrap();
    let snapshot = std::sync::Arc::new(workspace.snapshot().unwrap());
    let mut random = Random::new(SEED);
    let pairs = sized(PAIRS, PAIRS_OF_TORTURE);
    block_on(async {
        let session = Session::connect(&database.target()).await.unwrap();
        let on_disk = Source::Whole(snapshot.clone());
        let from_database = Source::Asked(std::sync::Arc::new(
            DatabaseGraph::open(&database.target(), TraversalOptions::default()).await.unwrap(),
        ));
        let (mut asked, mut found_count, mut compared) = (0, 0, 0);
        while asked < pairs {
            let ends = [(); 2].map(|()| end(snapshot.as_ref(), &mut random));
            let options = PathOptions {
                paths: 1 + random.below(5),
                length_max: LENGTHS[random.below(LENGTHS.len())],
                by: [PathsBy::Both, PathsBy::Both, PathsBy::Both, PathsBy::Names, PathsBy::Questions][random.below(5)],
                documents_max: [None, Some(20)][random.below(2)],
            };
            // One that ends where it begins, or by questions at an entity.
            let Ok(held) = in_memory(&on_disk, &ends[0], &ends[1], &options).await else { continue };
            asked += 1;
            let context = || format!("seed {SEED}, pair {asked}: {ends:?}, {options:?}");
            let given = by_cypher(&session, &ends[0], &ends[1], &options).await.unwrap();
            let lengths = |found: &PathsFound| found.paths.iter().map(|path| path.steps.len()).collect::<Vec<_>>();
            assert_eq!(lengths(&given), lengths(&held), "{}", context());
            assert_eq!((&given.from, &given.to), (&held.from, &held.to), "{}", context());
            assert_eq!(undecided(&given, &options), undecided(&held, &options), "{}", context());
            assert!(given.paths.iter().all(is_loopless), "{}", context());
            // What ties decide exists too: with room for all of a length, ours has it.
            if asked % 10 == 0 && !held.paths.is_empty() {
                let length_max = held.paths.last().unwrap().steps.len();
                let all = PathOptions { paths: 100, length_max, ..options };
                let all = in_memory(&on_disk, &ends[0], &ends[1], &all).await.unwrap();
                if all.paths.len() < 100 {
                    assert!(given.paths.iter().all(|path| all.paths.contains(path)), "{}", context());
                    compared += given.paths.len();
                }
                let held_there = in_memory(&from_database, &ends[0], &ends[1], &options).await.unwrap();
                assert_eq!(held_there.paths, held.paths, "{}", context());
            }
            found_count += held.paths.len();
        }
        println!("{asked} pairs compared");
        assert!(found_count > pairs / 2 && compared > pairs / 50, "{found_count} paths, {compared} compared");
    });
}

#[test]
fn a_folder_without_an_index_finds_paths_in_the_database_by_either_way() {
    let Some(database) = database() else { return };
    let cli = Cli::new();
    super::write_harbor(&cli);
    cli.json(&["index", "harbor"]);
    published(&cli, &database);
    let elsewhere = Cli::new();
    for [from, to] in [["Edda Varnholt", "Cornelius Pellam"], ["document:edda varnholt", "document:Cornelius Pellam"]] {
        let ask = ["path", from, to, "--length-max", "4"];
        let here = cli.json(&ask);
        let memory = elsewhere.json(&[&ask[..], &["--neo4j", &database.uri, "--traversal", "memory"]].concat());
        assert_eq!(memory, here);
        let cypher = elsewhere.json(&[&ask[..], &["--neo4j", &database.uri, "--traversal", "cypher"]].concat());
        assert_valid("path", &cypher);
        assert_eq!((&cypher["from"], &cypher["to"]), (&here["from"], &here["to"]));
        assert_eq!(cypher["paths"].as_array().unwrap().len(), here["paths"].as_array().unwrap().len());
    }
    elsewhere.refuses(&["path", "A", "B", "--neo4j", "bolt://127.0.0.1:1"], "unavailable", &["hint: see whether"]);
}

#[test]
fn what_names_nothing_or_too_much_is_refused_alike_by_either_way() {
    let Some(database) = database() else { return };
    let cli = Cli::new();
    let record = |(id, title): (&str, &str)| {
        format!("{{\"id\":\"{id}\",\"title\":\"{title}\",\"text\":\"{title} was built by Ada Lorne.\"}}\n")
    };
    let notes = [("mill", "Harl Mill"), ("one", "Twin Gate"), ("two", "Twin Gate"), ("low", "twin gate")];
    cli.write("notes.jsonl", notes.map(record).concat());
    cli.json(&["index", "notes.jsonl"]);
    published(&cli, &database);
    let workspace = Workspace::open(cli.folder().join(".cairn")).unwrap();
    block_on(async {
        let source = Source::Whole(std::sync::Arc::new(workspace.snapshot().unwrap()));
        let session = Session::connect(&database.target()).await.unwrap();
        let said =
            |found: Result<PathsFound>| found.map(|it| (it.from, it.to)).map_err(|it| (it.kind(), it.to_string()));
        let cases = [
            ("Ada Lornes", "mill", true),
            ("entity:Ada", "mill", true),
            ("document:Harl", "Ada Lorne", true),
            ("document:Twin Gate", "mill", true),
            ("document:twin gate", "mill", false),
            ("document:TWIN GATE", "mill", true),
            ("document:!", "mill", true),
            ("mill", "document:Harl Mill", true),
            ("ffffffffffffffffffffffffffffffff", "mill", true),
            ("passage:ffffffffffffffffffffffffffffffff", "mill", true),
            ("ADA LORNE", "harl mill", false),
            ("Ada Lorne", "one", false),
        ];
        for (from, to, is_refused) in cases {
            let ends: [PathEnd; 2] = [from, to].map(|it| it.parse().unwrap());
            let options = PathOptions::default();
            let held = said(in_memory(&source, &ends[0], &ends[1], &options).await);
            let given = said(by_cypher(&session, &ends[0], &ends[1], &options).await);
            assert_eq!(given, held, "{from}, {to}");
            assert_eq!(held.is_err(), is_refused, "{from}, {to}: {held:?}");
            assert!(held.is_ok() || held.is_err_and(|it| it.0 == ErrorKind::Input), "{from}, {to}");
        }
    });
}
