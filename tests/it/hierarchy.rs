//! The hierarchy over the entities of an index: relations, communities, layers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cairn::graph::hierarchy::Hierarchy;
use cairn::graph::mixture::{MixtureOptions, SoftClusters, soft_clusters};
use cairn::graph::ordinal::{EntityOrdinal, Ordinal};
use cairn::store::GraphReader as _;
use cairn::{Cancellation, Workspace};
use serde_json::Value;

use crate::support::{Cli, shared_data};

/// Indexes the demo collection.
fn of_harbor() -> Cli {
    let cli = Cli::new();
    let harbor = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/harbor");
    cli.json(&["index", harbor.to_str().unwrap()]);
    cli
}

/// Returns the summary entities of a layer, by the number of their members.
fn sizes(hierarchy: &Hierarchy<'_>, layer: u32) -> Vec<usize> {
    let on_layer = hierarchy.summaries().filter(|it| hierarchy.summary_layer[*it] == layer);
    on_layer.map(|it| hierarchy.summary_members.of(it).len()).collect()
}

#[test]
fn relations_are_stated_by_sentences_and_communities_are_nested() {
    let cli = of_harbor();
    let snapshot = Workspace::open(cli.folder().join(".cairn")).unwrap().snapshot().unwrap();
    let (graph, hierarchy) = (snapshot.graph(), snapshot.hierarchy().unwrap());
    let [bridge, river] = ["heron bridge", "ashlin river"].map(|name| graph.entity(name).unwrap());
    let ends = BTreeSet::from([bridge, river]);
    let found = hierarchy.relations().find(|it| BTreeSet::from(it.0) == ends);
    let (_, weight, sentence) = found.expect("they share a sentence");
    let passage = snapshot.passage(graph.sentence_passage[sentence.unwrap()]).unwrap();
    assert!(
        weight > 0.0 && passage.text.contains("Heron Bridge") && passage.text.contains("Ashlin River"),
        "{passage:?}"
    );

    for community in hierarchy.communities() {
        let members: BTreeSet<&EntityOrdinal> = hierarchy.members(community).iter().collect();
        assert!(members.len() >= 2 && !hierarchy.title(community).is_empty());
        if let Some(parent) = hierarchy.parent(community) {
            assert!(members.is_subset(&hierarchy.members(parent).iter().collect()), "{community}");
        }
    }
}

#[test]
fn layers_summarize_every_entity_that_has_a_vector_and_shrink() {
    let cli = of_harbor();
    let snapshot = Workspace::open(cli.folder().join(".cairn")).unwrap().snapshot().unwrap();
    let hierarchy = snapshot.hierarchy().unwrap();
    let first = sizes(&hierarchy, 1);
    assert!(first.len() > 1 && first.iter().all(|size| *size > 0), "{first:?}");
    let related: BTreeSet<u32> = hierarchy.relations().flat_map(|it| it.0).map(Ordinal::number).collect();
    let of_first = hierarchy.summaries().filter(|it| hierarchy.summary_layer[*it] == 1);
    let rows = of_first.flat_map(|it| hierarchy.summary_members.of(it));
    let members: BTreeSet<u32> = rows.map(|row| hierarchy.summary_member[row]).collect();
    assert!(related.is_subset(&members), "{:?}", related.difference(&members));
    for layer in 2.. {
        let [below, above] = [layer - 1, layer].map(|it| sizes(&hierarchy, it).len());
        assert!(2 * above <= below, "{layer}");
        if above == 0 {
            break;
        }
    }
    for summary in hierarchy.summaries() {
        let weights = hierarchy.summary_weight.of(hierarchy.summary_members.of(summary));
        assert!(weights.iter().all(|weight| (0.0..=1.0).contains(weight)));
        assert!(!hierarchy.summary_name(summary).is_empty());
    }
    let sparsity = hierarchy.sparsity(1, members.len());
    assert!((0.0..1.0).contains(&sparsity), "{sparsity}");
}

#[test]
fn an_index_without_vectors_has_communities_and_no_layers() {
    let cli = Cli::new();
    cli.write("notes/a.txt", "Harl Mill\n\nHarl Mill was built by Ada Lorne. Ada Lorne sold Harl Mill to Tom Reed.");
    cli.write("notes/b.txt", "Ada Lorne\n\nAda Lorne taught Tom Reed at Harl Mill.");
    cli.json(&["index", "notes", "--embedder", "none"]);
    let snapshot = Workspace::open(cli.folder().join(".cairn")).unwrap().snapshot().unwrap();
    let hierarchy = snapshot.hierarchy().unwrap();
    assert!(!hierarchy.communities().is_empty() && hierarchy.summaries().is_empty());
}

/// Returns how many lines of an export are of each kind.
fn kinds(canonical: &str) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for line in canonical.lines() {
        let line: BTreeMap<String, Value> = serde_json::from_str(line).unwrap();
        *counts.entry(line.into_keys().next().unwrap()).or_insert(0) += 1;
    }
    counts
}

#[test]
fn status_and_export_have_as_much_of_the_hierarchy_as_the_version() {
    let cli = of_harbor();
    let snapshot = Workspace::open(cli.folder().join(".cairn")).unwrap().snapshot().unwrap();
    let due = snapshot.hierarchy().unwrap().counts();
    assert!(due.relations > 100 && due.communities > 3 && due.summaries > 1 && due.memberships >= due.summaries);
    let status = cli.json(&["status"]);
    assert_eq!(status["counts"]["hierarchy"], serde_json::to_value(due).unwrap());
    let said = cli.run(["status"]).succeeded().stdout;
    assert!(
        said.contains(&format!("hierarchy  {} relations, {} communities", due.relations, due.communities)),
        "{said}"
    );
    let exported = kinds(&cli.canonical(".cairn"));
    let counts = [due.relations, due.communities, due.members, due.summaries, due.memberships];
    for (kind, count) in ["relation", "community", "member", "summary", "membership"].into_iter().zip(counts) {
        assert_eq!(exported[kind], count, "{kind}");
    }
    let checked = cli.json(&["check"]);
    assert!(checked["checks"].as_array().unwrap().iter().all(|it| it["offenders"] == 0), "{checked}");
}

#[test]
fn the_preset_of_the_paper_is_asked_for_remembered_and_kept_by_a_repair() {
    let cli = of_harbor();
    let usual = cli.canonical(".cairn");
    let harbor = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/harbor").display().to_string();
    let report = cli.json(&["index", &harbor, "--hierarchy", "paper"]);
    let made: Vec<&str> = report["stages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["is_taken_over"] == false)
        .map(|it| it["stage"].as_str().unwrap())
        .collect();
    assert_eq!((made, report["documents"]["changed"].as_u64()), (vec!["hierarchy"], Some(0)), "{report}");
    let paper = cli.canonical(".cairn");
    // Communities of ten and of one, and everything else unchanged.
    let (now, before) = (kinds(&paper), kinds(&usual));
    assert!(now["community"] > before["community"], "{now:?}");
    assert_eq!((now["relation"], now["edge"]), (before["relation"], before["edge"]));

    let set = cli.command(["index", &harbor, "--json"]).env("CAIRN_HIERARCHY", "paper").output().unwrap();
    let set: Value = serde_json::from_slice(&set.stdout).unwrap();
    assert_eq!((set["version"].as_u64(), set["is_new_version"].as_bool()), (Some(2), Some(false)), "{set}");
    std::fs::remove_file(cli.folder().join(".cairn/versions/2/hierarchy.bin")).unwrap();
    cli.run(["check", "--repair"]).succeeded();
    assert_eq!(cli.canonical(".cairn"), paper);
    cli.write("cairn.toml", "hierarchy = \"paper\"");
    assert_eq!(cli.json(&["index", &harbor])["is_new_version"], false);
    cli.json(&["index", &harbor, "--hierarchy", "default"]);
    assert_eq!(cli.canonical(".cairn"), usual);
    cli.refuses(&["index", &harbor, "--hierarchy", "papers"], "input", &["`papers` is not a valid hierarchy", "paper"]);
}

/// The chunks of a story, which RAPTOR has put into seven clusters.
#[test]
fn the_chunks_of_a_story_are_clustered() {
    let Some(data) = shared_data("cinderella-raptor") else { return };
    let bytes = std::fs::read(data.join("node_embeddings.f32le")).unwrap();
    let vectors: Vec<f32> = bytes.chunks_exact(4).map(|it| f32::from_le_bytes([it[0], it[1], it[2], it[3]])).collect();
    let clusters = |members_max| -> SoftClusters {
        let options = MixtureOptions { members_max, ..MixtureOptions::default() };
        soft_clusters(&vectors[..33 * 1_536], 1_536, &options, &Cancellation::default()).unwrap()
    };
    let [all, small] = [256, 7].map(clusters);
    assert!((2..=8).contains(&all.count) && all.rows.len() == 34, "{}", all.count);
    assert!((5..=12).contains(&small.count), "{}", small.count);
}

/// Records of mills in groups of thirty that are near each other, as JSON lines; `first` is the text of the first one.
fn many_mills(first: &str) -> String {
    let name = |number: usize| {
        let letter = |at: u32| char::from(b'a' + (number / 26_usize.pow(at) % 26) as u8);
        format!("Q{}{}{} Mill", letter(0), letter(1), letter(2))
    };
    let record = |number: usize| {
        let near = (1..4).map(|step| format!("It is near {}.", name(number / 30 * 30 + (number + step) % 30)));
        let text = if number == 0 { first.to_owned() } else { near.collect::<Vec<_>>().join(" ") };
        let line = serde_json::json!({ "id": number.to_string(), "title": name(number), "text": text });
        format!("{line}\n")
    };
    (0..2_100).map(record).collect()
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn topics_of_a_large_collection_are_kept_while_little_changes_and_recomputed_on_request() {
    let cli = Cli::new();
    let index = |first: &str| {
        cli.write("mills.jsonl", many_mills(first));
        cli.json(&["index", "mills.jsonl"])
    };
    index("It is near Qbaa Mill.");
    let found = |cli: &Cli| cli.json(&["status"])["counts"]["hierarchy"].clone();
    let line = |cli: &Cli| {
        let said = cli.run(["status"]).succeeded().stdout;
        said.lines().find(|line| line.starts_with("hierarchy")).unwrap().to_owned()
    };
    let first = found(&cli);
    assert!(first.get("versions").is_none() && !line(&cli).contains("old"), "{first}");
    index("It is near Qbaa Mill and Zeal Weir. Zeal Weir is near Qcaa Mill.");
    let second = found(&cli);
    assert_eq!((&second["versions"], &second["communities"]), (&Value::from(1), &first["communities"]), "{second}");
    assert!(line(&cli).contains("topics and layers are 1 version old"), "{}", line(&cli));
    // Sentences are those of the current version.
    let about = cli.json(&["topics", "--about", "Zeal Weir"]);
    assert_eq!(about["version"], 2, "{about}");

    let version = |cli: &Cli| cli.json(&["status"])["version"].clone();
    let said = cli.run(["topics", "--refresh"]).succeeded();
    assert!(said.stderr.contains("topics and layers were recomputed; version 3"), "{said:#?}");
    assert!(found(&cli).get("versions").is_none() && !line(&cli).contains("old"));
    let clean = Cli::new();
    clean.write("mills.jsonl", many_mills("It is near Qbaa Mill and Zeal Weir. Zeal Weir is near Qcaa Mill."));
    clean.json(&["index", "mills.jsonl"]);
    assert!(cli.canonical(".cairn") == clean.canonical(".cairn"), "a refreshed hierarchy is that of a clean build");
    let said = cli.run(["topics", "--refresh"]).succeeded();
    assert!(said.stderr.contains("nothing changed since"), "{said:#?}");
    assert_eq!(version(&cli), 3);
    // The next run over the same documents makes no version.
    assert_eq!(index("It is near Qbaa Mill and Zeal Weir. Zeal Weir is near Qcaa Mill.")["is_new_version"], false);
}
