//! Folders as they lie on disk: what of them is read, what is said of the rest, and where a citation leads.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Cli, CommandOutput, assert_valid};

const PAGE: &str = "<!DOCTYPE html><html lang=en><head><title>Harl Mill | Arden</title></head><body><nav>Home</nav>\
    <main><h1>Harl Mill</h1><p>It grinds rye.</p><h2>Builder</h2><p>Ada Wren built the mill at Arden in 1799.</p>\
    </main><footer>Imprint</footer></body></html>";

fn hit(cli: &Cli, question: &str) -> Value {
    let found = cli.json(&["search", question]);
    assert_valid("search", &found);
    found["hits"][0].clone()
}

#[test]
fn formats_of_documentation_become_documents_with_sections_and_lines() {
    let cli = Cli::new();
    cli.write("docs/mill.html", PAGE);
    cli.write("docs/page-without-a-name", PAGE.replace("Harl", "Tarn").replace("Wren", "Lorne"));
    let rst =
        ".. highlight:: c\n\nThe bridge\n==========\n\nText.\n\nToll\n----\n\nTom Hale takes the toll of the bridge.\n";
    cli.write("docs/bridge.rst.txt", rst);
    cli.write("docs/kings.csv", "Name,Reign\nOldric,1203\nBerthold,1240\n");
    cli.write("docs/latin.txt", b"Le ch\xe2teau de Br\xe9val est ferm\xe9 \xe0 cette heure.");
    cli.write("docs/code.txt", "# set the level of the weir\nlevel = 3\n\nThe weir of Arden is old.\n");
    let report = cli.json(&["index", "docs"]);
    assert_eq!((&report["documents"]["added"], &report["skips"]), (&json!(6), &json!([])), "{report}");

    let mill = hit(&cli, "Who built Harl Mill?");
    assert_eq!((&mill["uri"], &mill["name"]), (&json!("docs/mill.html"), &json!("Harl Mill")), "{mill}");
    assert_eq!((&mill["line"], &mill["metadata"]["language"]), (&Value::Null, &json!("en")));
    assert!(!mill["text"].as_str().unwrap().contains("Imprint"));
    let toll = hit(&cli, "Who takes the toll of the bridge?");
    assert_eq!((&toll["uri"], &toll["line"]), (&json!("docs/bridge.rst.txt"), &json!(3)), "{toll}");
    assert_eq!(hit(&cli, "When did Berthold reign?")["line"], 2);
    assert_eq!(hit(&cli, "château de Bréval")["metadata"]["encoding"], "windows-1252");
    assert_eq!(hit(&cli, "the weir of Arden")["section"], Value::Null);

    let answer = cli.json(&["ask", "Who takes the toll of the bridge?"]);
    assert_valid("answer", &answer);
    let quote = answer["citations"].as_array().unwrap().iter().find(|it| it["uri"] == "docs/bridge.rst.txt").unwrap();
    assert_eq!(quote["line"], 11, "{answer}");
    let said = cli.run(["ask", "Who takes the toll of the bridge?"]).succeeded();
    assert!(said.stdout.contains("docs/bridge.rst.txt:11"), "{said:#?}");

    let status = cli.json(&["status"]);
    assert_valid("status", &status);
    let types = json!({ "text/csv": 1, "text/html": 2, "text/plain": 2, "text/x-rst": 1 });
    assert_eq!(status["media_types"], types);
}

#[test]
fn a_row_of_a_table_may_be_a_document() {
    let cli = Cli::new();
    cli.write("kings.csv", "Name,Reign\nOldric,1203\nBerthold,1240\n");
    assert_eq!(cli.json(&["index", "kings.csv", "--rows"])["documents"]["added"], 2);
    let king = hit(&cli, "When did Berthold reign?");
    assert_eq!((&king["uri"], &king["name"], &king["line"]), (&json!("kings.csv#3"), &json!("Berthold"), &json!(3)));
}

#[test]
fn a_folder_of_which_little_is_read_says_so_and_status_groups_why() {
    let cli = Cli::new();
    cli.write("docs/mill.html", PAGE);
    cli.write("docs/style.css", "p {}");
    for name in ["a", "b", "c"] {
        cli.write(&format!("docs/{name}.djvu"), "AT&TFORM");
    }
    cli.write("docs/empty.md", " ");
    cli.write("docs/app.html", format!("<html><div id=app></div><script>{}</script>", "x".repeat(9_000)));
    cli.write("docs/old.html", "<meta http-equiv=refresh content='0; url=mill.html'><p>Moved");
    let said = cli.run(["index", "docs"]).succeeded();
    let warning = "warning: less than half of what was found was read, 1 of 7; left out: 3 not a kind that is read";
    assert!(said.stderr.contains(warning), "{said:#?}");
    let status = cli.json(&["status"]);
    assert_valid("status", &status);
    let groups: Vec<(&str, u64)> = status["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["reason"].as_str().unwrap(), it["count"].as_u64().unwrap()))
        .collect();
    let page = "no text: 0 bytes of text in 9041 bytes of HTML";
    let expect = [("not a kind that is read", 4), ("it is empty", 1), ("it only leads to another page", 1), (page, 1)];
    assert_eq!(groups, expect);
    let shown = cli.run(["status"]).succeeded().stdout;
    assert!(shown.contains("left out   4: not a kind that is read (1 file .css, 3 files .djvu)"), "{shown}");
    assert!(shown.contains("kinds      1 text/html"), "{shown}");
}

#[test]
fn standard_input_is_a_source() {
    let cli = Cli::new();
    let piped = |args: &[&str], input: &str| {
        let mut command = cli.command(args);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut program = command.spawn().unwrap();
        program.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        CommandOutput::of(program.wait_with_output().unwrap())
    };
    piped(&["index", "-"], PAGE).succeeded();
    assert_eq!(hit(&cli, "Who built Harl Mill?")["uri"], "stdin");
    let records = r#"{"id":"x","text":"Tom Hale keeps the weir."}"#;
    piped(&["index", "-", "--stdin-name", "a.jsonl"], records).succeeded();
    assert_eq!(hit(&cli, "Who keeps the weir?")["uri"], "a.jsonl#x");
    assert_eq!(cli.json(&["status"])["counts"]["documents"], 2, "nothing is removed");
    let said = piped(&["index", "-", "other"], "Text.");
    assert!(said.status == Some(3) && said.stderr.contains("standard input is read alone"), "{said:#?}");
    let said = piped(&["index", "-", "--index", "new"], "");
    assert!(said.status == Some(3) && said.stderr.contains("`stdin`"), "{said:#?}");
}
