//! `cairn entities`: what names stand for, why, and what users correct.

use serde_json::Value;

use crate::support::{Cli, assert_valid};

/// Two people with the same name, a person and a city, and variants of names.
fn indexed() -> Cli {
    let cli = Cli::new();
    for (title, text) in [
        (
            "Jordan Vale (architect)",
            "Jordan Vale (born 1921) was an architect. Vale drew the Heron Bridge with Mira Stenholm.",
        ),
        ("Jordan Vale (swimmer)", "Jordan Vale is a swimmer. She won the Lunn Regatta with Petra Quist."),
        ("Heron Bridge", "The Heron Bridge is a bridge in Marlow. Jordan Vale drew it, and Mira Stenholm built it."),
        ("Marlow", "Marlow is a city. Ada Marlow was born in Marlow, and so was Petra Quist."),
        ("Ada Marlow", "Ada Marlow was a painter. Marlow gave her pictures to Dr. Mira Stenholm."),
        ("Harbor Trust Union", "The Harbor Trust Union (HTU) was founded by Petra Quist. Mira Stenholm led it."),
        ("The strike", "Petra Quist spoke for the HTU in St. Brannoc, and Mira Stenholm spoke in Saint Brannoc."),
    ] {
        cli.write(&format!("notes/{title}.md"), format!("# {title}\n\n{text}"));
    }
    cli.json(&["index", "notes"]);
    cli
}

/// Returns what `cairn entities` prints as JSON.
#[track_caller]
fn entities(cli: &Cli, args: &[&str]) -> Value {
    let said = cli.run([&["entities"], args, &["--json"]].concat()).succeeded();
    serde_json::from_str(&said.stdout).unwrap()
}

fn shown<'a>(found: &'a Value, key: &str) -> Vec<&'a str> {
    found["entities"].as_array().unwrap().iter().map(|it| it[key].as_str().unwrap_or_default()).collect()
}

#[test]
fn entities_are_listed_with_their_other_names_and_types() {
    let cli = indexed();
    let all = entities(&cli, &["list"]);
    assert_valid("entities", &all);
    assert_eq!(shown(&all, "name")[0], "Mira Stenholm", "{all:#}");
    let of = |text: &str| entities(&cli, &["list", text]);
    let union = of("trust union");
    assert!(union["entities"][0]["aliases"].as_array().unwrap().contains(&"HTU".into()), "{union:#}");
    // Any of its names identifies it.
    assert_eq!(of("htu")["entities"][0]["id"], union["entities"][0]["id"]);
    assert_eq!(shown(&of("heron"), "type"), ["place"]);
    let people = entities(&cli, &["list", "--type", "person"]);
    assert!(shown(&people, "name").contains(&"Ada Marlow") && !shown(&people, "name").contains(&"Heron Bridge"));
    let said = cli.run(["entities", "list", "trust"]).succeeded();
    assert!(said.stdout.contains("Harbor Trust Union") && said.stdout.contains("also HTU"), "{said:#?}");
}

#[test]
fn a_name_stands_for_several_entities_where_documents_mean_different_things() {
    let cli = indexed();
    let found = entities(&cli, &["show", "Jordan VALE"]);
    assert_valid("entities-show", &found);
    let names = shown(&found, "name");
    let both = ["Jordan Vale (architect)", "Jordan Vale (swimmer)"];
    assert!(both.iter().all(|it| names.contains(it)), "{found:#}");
    let architect = &found["entities"][names.iter().position(|it| *it == both[0]).unwrap()];
    let sources: Vec<&str> =
        architect["mentions"].as_array().unwrap().iter().map(|it| it["source_id"].as_str().unwrap()).collect();
    assert!(sources.iter().any(|it| it.ends_with("Heron Bridge.md")), "a document means him: {architect:#}");
    assert!(!sources.iter().any(|it| it.ends_with("(swimmer).md")), "{architect:#}");
    let marlow = entities(&cli, &["show", "Marlow"]);
    assert_eq!(shown(&marlow, "name").len(), 2, "the city, and the painter where she is meant: {marlow:#}");
    let said = cli.run(["entities", "show", "Nobody"]);
    assert!(said.status != Some(0) && said.stderr.contains("Nobody"), "{said:#?}");
}

#[test]
fn a_users_verdict_on_names_is_applied_kept_and_undone() {
    let cli = indexed();
    let merges = entities(&cli, &["merges"]);
    assert_valid("entities-merges", &merges);
    let has = |merges: &Value, name: &str, reason: &str| {
        let all = merges["merges"].as_array().unwrap();
        all.iter().any(|it| it["name"] == name && it["reason"] == reason)
    };
    assert!(has(&merges, "HTU", "parenthesis") && has(&merges, "St. Brannoc", "spelling"), "{merges:#}");

    let asked = entities(&cli, &["split", "HTU", "Harbor Trust Union"]);
    assert_valid("entities-ask", &asked);
    entities(&cli, &["merge", "Petra Quist", "Heron Bridge"]);
    assert_eq!(cli.json(&["index", "notes"])["is_new_version"], true);
    let merges = entities(&cli, &["merges"]);
    assert!(!has(&merges, "HTU", "parenthesis") && !has(&merges, "HTU", "acronym"), "{merges:#}");
    assert!(has(&merges, "Petra Quist", "asked"), "{merges:#}");
    assert_eq!(merges["asked"].as_array().unwrap().len(), 2);
    let quist = entities(&cli, &["show", "Petra Quist"]);
    assert_eq!(shown(&quist, "name"), ["Heron Bridge"], "{quist:#}");

    // A later run keeps it, and the opposite correction undoes it.
    cli.write("notes/new.md", "# News\n\nThe HTU met Petra Quist.");
    cli.json(&["index", "notes"]);
    assert!(has(&entities(&cli, &["merges"]), "Petra Quist", "asked"));
    entities(&cli, &["merge", "HTU", "Harbor Trust Union"]);
    let asked = entities(&cli, &["split", "Petra Quist", "Heron Bridge"]);
    assert_eq!(asked["before"], "same");
    cli.json(&["index", "notes"]);
    let merges = entities(&cli, &["merges"]);
    assert!(has(&merges, "HTU", "asked") && !has(&merges, "Petra Quist", "asked"), "{merges:#}");
    assert!(cli.json(&["check"])["damaged"].as_array().is_none_or(Vec::is_empty));
    let said = cli.run(["entities", "merge", "HTU", "htu"]);
    assert!(said.status == Some(3) && said.stderr.contains("the same name"), "{said:#?}");
}

#[test]
fn topics_about_another_name_are_those_of_its_entity() {
    let cli = indexed();
    let of = |about: &str| cli.json(&["topics", "--about", about])["topics"].clone();
    assert_eq!(of("HTU"), of("Harbor Trust Union"));
    assert_ne!(of("HTU"), serde_json::json!([]));
}
