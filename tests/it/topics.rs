//! `cairn topics`: what an index is about.

use serde_json::Value;

use crate::support::{Cli, assert_valid};

/// Two unrelated worlds, and an isolated note.
pub(super) fn two_worlds() -> Cli {
    let cli = Cli::new();
    let mills = [
        ("Harl Mill", "Harl Mill was built by Ada Lorne. Ada Lorne and Tom Reed ran Harl Mill in Eaststead."),
        ("Pale Mill", "Pale Mill was built by Ada Lorne. Tom Reed sold Pale Mill to Bertha Quill."),
        ("Ada Lorne", "Ada Lorne was born in Eaststead. She taught Tom Reed and Bertha Quill."),
        ("Eaststead", "Eaststead has two mills, Harl Mill and Pale Mill. Tom Reed lives in Eaststead."),
    ];
    let ships = [
        (
            "Grey Heron",
            "The Grey Heron sailed to Port Vane under Captain Olm. Captain Olm lost the Grey Heron at Skerry.",
        ),
        ("White Tern", "The White Tern sailed to Port Vane. Captain Olm had owned the White Tern before Ines Marr."),
        ("Port Vane", "Port Vane is a harbor. Ines Marr built Port Vane, and Captain Olm ruled it."),
        ("Ines Marr", "Ines Marr was born in Port Vane. Ines Marr owned the White Tern and the Grey Heron."),
    ];
    for (title, text) in mills.iter().chain(&ships) {
        cli.write(&format!("notes/{title}.txt"), format!("{title}\n\n{text}"));
    }
    cli.write("notes/lone.txt", "A note\n\nnothing of interest is said in here.");
    cli.json(&["index", "notes"]);
    cli
}

fn titles(found: &Value) -> Vec<&str> {
    found["topics"].as_array().unwrap().iter().map(|topic| topic["title"].as_str().unwrap()).collect()
}

#[test]
fn topics_are_communities_with_a_title_and_a_sentence_of_their_own() {
    let cli = two_worlds();
    let found = cli.json(&["topics"]);
    assert_valid("topics", &found);
    let titles = titles(&found);
    assert_eq!(titles.len(), 2, "{found:#}");
    let of = |words: &[&str]| titles.iter().filter(|title| words.iter().any(|word| title.contains(word))).count();
    assert_eq!((of(&["Mill", "Lorne", "Reed"]), of(&["Heron", "Olm", "Vane", "Marr"])), (1, 1), "{titles:?}");
    for topic in found["topics"].as_array().unwrap() {
        let sentence = &topic["findings"][0];
        let uri = sentence["uri"].as_str().unwrap();
        let text = std::fs::read_to_string(cli.folder().join("notes").join(uri.rsplit('/').next().unwrap())).unwrap();
        assert!(text.contains(sentence["quote"].as_str().unwrap()), "{sentence}");
        assert!(topic["title"].as_str().unwrap().split(", ").any(|name| text.contains(name)), "{topic}");
    }
    assert_eq!(cli.json(&["topics"]), found, "the same each time");

    let said = cli.run(["topics"]).succeeded();
    assert!(said.stdout.starts_with(" 1. ") && titles.iter().all(|title| said.stdout.contains(title)), "{said:#?}");
    assert!(said.stdout.contains(".txt:3]") && said.stderr.contains("2 topics on this level"), "{said:#?}");
}

#[test]
fn a_sentence_that_is_broken_in_its_file_is_shown_on_one_line() {
    let cli = Cli::new();
    for name in ["Harl Mill", "Pale Mill", "Orn Mill"] {
        let text = format!("{name}\n\n{name} was built\n  by Ada Lorne for\nTom Reed and Bertha Quill.");
        cli.write(&format!("notes/{name}.txt"), text);
    }
    cli.json(&["index", "notes"]);
    let related = ["path", "Ada Lorne", "Tom Reed", "--by", "relations"];
    for args in [&["topics"][..], &["entities", "show", "Ada Lorne"], &related] {
        let said = cli.run(args).succeeded().stdout;
        assert!(said.contains("was built by Ada Lorne for Tom Reed") && !said.contains('\u{fffd}'), "{args:?}: {said}");
    }
}

#[test]
fn topics_about_a_name_are_those_that_it_belongs_to() {
    let cli = two_worlds();
    for (about, word) in [("who is CAPTAIN OLM?", "Olm"), ("Tom Reed's mills", "Reed")] {
        let found = cli.json(&["topics", "--about", about]);
        let [topic] = found["topics"].as_array().unwrap().as_slice() else { panic!("{found:#}") };
        assert!(topic["passages"].as_u64() >= Some(3) && found.to_string().contains(word), "{found:#}");
    }
    assert_eq!(cli.json(&["topics", "--about", "nobody"])["topics"], serde_json::json!([]));
    for (flags, why) in [
        (["--about", "nobody"], "no topic has a name that occurs in `nobody`"),
        (["--level", "99"], "no topic is on level 99; the last level is "),
    ] {
        let said = cli.run([&["topics"][..], &flags].concat()).succeeded();
        assert!(said.stderr.contains(why), "{said:#?}");
    }
    let deep = cli.run(["topics", "--level", "7"]).succeeded();
    assert!(deep.stdout.is_empty() && deep.stderr.contains("0 topics on this level"), "{deep:#?}");
}

#[test]
fn an_index_without_names_has_no_topics_and_says_so() {
    let cli = Cli::new();
    assert_eq!(cli.run(["topics"]).status, Some(4));
    cli.write("notes/a.txt", "nothing of interest is said in here.");
    cli.json(&["index", "notes"]);
    assert_eq!(cli.json(&["topics"])["topics"], serde_json::json!([]));
}

/// A name in every passage, a list of a thousand names, and names in scripts without capitals.
#[test]
fn hubs_lists_and_other_scripts_have_topics_with_titles() {
    let cli = Cli::new();
    for number in 0..200 {
        let text = format!("Hub {number}\n\nNorth Hub met Person Num{number} and Person Num{}.", (number + 1) % 200);
        cli.write(&format!("notes/{number}.txt"), text);
    }
    let list: Vec<String> = (0..1_000).map(|number| format!("Place Num{number}")).collect();
    cli.write("notes/list.txt", format!("A list\n\nThere are {}.", list.join(", ")));
    cli.write("notes/zh.txt", "水磨\n\n水磨由艾达建造。艾达住在东城。东城有水磨。");
    cli.write("notes/ar.txt", "الطاحونة\n\nبنت آدا الطاحونة عند النهر. تعيش آدا في المدينة.");
    cli.json(&["index", "notes"]);
    let found = cli.json(&["topics"]);
    assert_valid("topics", &found);
    assert!(!titles(&found).is_empty());
    assert!(titles(&found).iter().all(|title| !title.is_empty()));
}
