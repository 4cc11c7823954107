//! Paths: the database finds as many as the structure in memory, of the same lengths, and the same ones if there is no
//! choice.

use std::collections::BTreeSet;
use std::fs;

use cairn::domain::{GraphPath, PathNode, PathsBy, PathsFound};
use cairn::graph::ordinal::{DocumentOrdinal, EntityOrdinal, MentionOrdinal, Ordinal as _, PassageOrdinal};
use cairn::neo4j::{DatabaseGraph, Session, TraversalOptions, paths as by_cypher};
use cairn::query::{Source, paths as in_memory};
use cairn::store::GraphReader;
use cairn::workspace::Snapshot;
use cairn::{Document, ErrorKind, PathEnd, PathOptions, Result, Sources, Workspace};
use serde_json::Value;

use super::published;
use crate::support::neo4j::{Database, database, harbor_database};
use crate::support::{Cli, Random, assert_valid, block_on, harbor, index, left_out, shared_data, sized};

/// Records of a real collection; `--test torture` takes more.
const RECORDS: usize = 300;
const RECORDS_OF_TORTURE: usize = 1_500;
/// Pairs of ends; `--test torture` asks about more.
const PAIRS: usize = 40;
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
    Sources::documents(text.lines().take(sized(RECORDS, RECORDS_OF_TORTURE)).map(document))
}

/// Returns a passage, an entity or a document, equally often; entities in proportion to their mentions.
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

/// Returns the paths that do not depend on ties: all of them if fewer were found than requested, or else those shorter
/// than the last.
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
#[ignore = "slow: `.ci/run` runs it"]
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
            // A path that ends where it begins, or one by questions that ends at an entity.
            let Ok(held) = in_memory(&on_disk, &ends[0], &ends[1], &options).await else { continue };
            asked += 1;
            let context = || format!("seed {SEED}, pair {asked}: {ends:?}, {options:?}");
            let given = by_cypher(&session, &ends[0], &ends[1], &options).await.unwrap();
            let lengths = |found: &PathsFound| found.paths.iter().map(|path| path.steps.len()).collect::<Vec<_>>();
            assert_eq!(lengths(&given), lengths(&held), "{}", context());
            assert_eq!((&given.from, &given.to), (&held.from, &held.to), "{}", context());
            assert_eq!(undecided(&given, &options), undecided(&held, &options), "{}", context());
            assert!(given.paths.iter().all(is_loopless), "{}", context());
            // Paths chosen among ties exist as well: with room for all of a length, ours includes them.
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
    let Some((database, cli)) = harbor_database() else { return };
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
    elsewhere.refuses(&["path", "A", "B", "--neo4j", "bolt://127.0.0.1:1"], "unavailable", &["hint: check that"]);
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

/// Entities between which paths over relations are searched: those with relations, each equally likely.
fn related(kept: &Snapshot) -> Vec<String> {
    let (graph, hierarchy) = (kept.graph(), kept.hierarchy().unwrap());
    let entities: BTreeSet<EntityOrdinal> = hierarchy.relations().flat_map(|it| it.0).collect();
    entities.into_iter().map(|it| graph.entity_name(it).to_owned()).collect()
}

/// Returns the pairs of names that relations of a version join.
fn pairs_of(kept: &Snapshot) -> BTreeSet<[String; 2]> {
    let (graph, hierarchy) = (kept.graph(), kept.hierarchy().unwrap());
    let both = |ends: [EntityOrdinal; 2]| {
        let [one, other] = ends.map(|it| graph.entity_name(it).to_owned());
        [[one.clone(), other.clone()], [other, one]]
    };
    hierarchy.relations().flat_map(|it| both(it.0)).collect()
}

fn names(path: &GraphPath) -> Vec<&str> {
    path.nodes.iter().map(PathNode::name).collect()
}

/// Returns whether the database has every step of a path.
fn is_there(database: &Database, path: &GraphPath) -> bool {
    let names: Vec<String> = names(path).into_iter().map(|it| format!("'{}'", it.replace('\'', "\\'"))).collect();
    let steps = format!(
        "WITH [{}] AS names UNWIND range(1, size(names) - 1) AS i \
         WITH names, i MATCH (a:Entity {{folded: names[i - 1]}}) \
         WHERE EXISTS {{ (a)-[:RELATES_TO]-(:Entity {{folded: names[i]}}) }} \
         RETURN count(i) AS n",
        names.join(", ")
    );
    usize::try_from(database.count(&steps)).ok() == Some(path.steps.len())
}

/// A real collection, two islands, and the demo: what is too far apart in one is connected in another.
#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn bridges_by_cypher_are_as_many_and_as_long_as_in_memory_and_each_is_one_there_too() {
    let Some(database) = database() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (number, sources) in [Sources::folder(harbor()), two_islands(), sources()].into_iter().enumerate() {
        let path = folder.path().join(number.to_string());
        index(&path, &sources);
        let workspace = Workspace::open(&path).unwrap();
        database.rows("MATCH (n) DETACH DELETE n");
        block_on(cairn::neo4j::publish(&workspace, &database.target(), &cairn::neo4j::PublishOptions::default()))
            .unwrap();
        let kept = std::sync::Arc::new(workspace.snapshot().unwrap());
        let joined = compare_bridges(&database, &kept, sized(BRIDGES, BRIDGES_OF_TORTURE));
        println!("graph {number}: {joined:?} joined");
        assert!(joined.0 > 0 && joined.1 > 0, "graph {number}: {joined:?}");
    }
}

/// Pairs of entities of each graph; `--test torture` asks about 1,000 of all.
const BRIDGES: usize = 20;
const BRIDGES_OF_TORTURE: usize = 340;

fn two_islands() -> Sources {
    let text = |one: &str, other: &str| format!("{one} was built by {other}. {other} left {one} to Tom Reed.");
    let of = |name: &str, one: &str, other: &str| Document::new(name, Some(one.to_owned()), text(one, other));
    Sources::documents([
        of("mill", "Harl Mill", "Ada Lorne"),
        of("weir", "Pale Weir", "Ben Orr"),
        Document::new("port", Some("Port Vane".to_owned()), "Port Vane was ruled by Captain Olm, who met Ines Marr."),
        Document::new("ship", Some("Grey Ship".to_owned()), "Ines Marr sold the Grey Ship to Captain Olm."),
    ])
}

/// Finds bridges on disk, over the structure of the database, and by Cypher, and returns how many pairs were connected
/// and how many were not.
fn compare_bridges(database: &Database, kept: &std::sync::Arc<Snapshot>, pairs: usize) -> (usize, usize) {
    let (all, related) = (related(kept), pairs_of(kept));
    let mut random = Random::new(SEED);
    let (mut apart, mut found) = (0, Vec::new());
    block_on(async {
        let session = Session::connect(&database.target()).await.unwrap();
        let on_disk = Source::Whole(kept.clone());
        let from_database = Source::Asked(std::sync::Arc::new(
            DatabaseGraph::open(&database.target(), TraversalOptions::default()).await.unwrap(),
        ));
        for asked in 0..pairs {
            let ends = [(); 2].map(|()| PathEnd::Entity(all[random.below(all.len())].clone()));
            let options = PathOptions {
                paths: 1 + random.below(4),
                length_max: 1 + random.below(6),
                by: PathsBy::Relations,
                documents_max: [None, Some(25), Some(2)][random.below(3)],
            };
            let context = || format!("seed {SEED}, pair {asked}: {ends:?}, {options:?}");
            // One that ends where it begins.
            let Ok(held) = in_memory(&on_disk, &ends[0], &ends[1], &options).await else { continue };
            let given = by_cypher(&session, &ends[0], &ends[1], &options).await.unwrap();
            let lengths = |found: &PathsFound| found.paths.iter().map(|path| path.steps.len()).collect::<Vec<_>>();
            assert_eq!(lengths(&given), lengths(&held), "{}", context());
            assert_eq!((&given.from, &given.to), (&held.from, &held.to), "{}", context());
            assert_eq!(undecided(&given, &options), undecided(&held, &options), "{}", context());
            for path in &given.paths {
                let names = names(path);
                let is_step = |pair: &[&str]| related.contains(&[pair[0].to_owned(), pair[1].to_owned()]);
                assert!(is_loopless(path) && names.windows(2).all(is_step), "{}: {path:?}", context());
            }
            let from_there = in_memory(&from_database, &ends[0], &ends[1], &options).await.unwrap();
            assert_eq!(from_there.paths, held.paths, "{}", context());
            let all = PathOptions { by: PathsBy::All, ..options };
            let [one, other] = [&on_disk, &from_database].map(|it| in_memory(it, &ends[0], &ends[1], &all));
            assert_eq!(one.await.unwrap().paths, other.await.unwrap().paths, "{}", context());
            apart += usize::from(held.paths.is_empty());
            found.extend(Some(held.paths).filter(|it| !it.is_empty()));
        }
    });
    for path in found.iter().flatten() {
        assert!(is_there(database, path), "{path:?}");
    }
    (found.len(), apart)
}

#[test]
fn paths_over_relations_are_drawn_from_the_database_as_from_the_index() {
    let Some((database, cli)) = harbor_database() else { return };
    let elsewhere = Cli::new();
    let ask = ["path", "Edda Varnholt", "Sarrow", "--paths", "1", "--by"];
    for by in ["relations", "all"] {
        let here = cli.json(&[&ask[..], &[by]].concat());
        let there = elsewhere.json(&[&ask[..], &[by, "--traversal", "memory", "--neo4j", &database.uri]].concat());
        assert_valid("path", &there);
        assert_eq!(there["paths"], here["paths"], "{by}");
        // When Neo4j itself walks, it does so for one question, and chooses among paths of equal length.
        let there = elsewhere.json(&[&ask[..], &[by, "--neo4j", &database.uri]].concat());
        assert_valid("path", &there);
        let steps = |found: &Value| found["paths"][0]["steps"].as_array().unwrap().len();
        assert_eq!(steps(&there), steps(&here), "{by}");
    }
    let cypher = [&ask[..], &["all", "--traversal", "cypher", "--neo4j", &database.uri]].concat();
    elsewhere.refuses(&cypher, "input", &["--traversal memory"]);
}
