//! Real folders: what is read, what is reported about the rest, and where a citation leads.

use serde_json::{Value, json};

use crate::support::{Cli, assert_valid};

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
    cli.write("docs/latin.txt", b"   Le ch\xe2teau de Br\xe9val est ferm\xe9 \xe0 cette heure.");
    cli.write("docs/code.txt", "# set the level of the weir\nlevel = 3\n\nThe weir of Arden is old.\n");
    let report = cli.json(&["index", "docs"]);
    assert_eq!((&report["documents"]["added"], &report["skips"]), (&json!(6), &json!([])), "{report}");

    let mill = hit(&cli, "Who built Harl Mill?");
    assert_eq!((&mill["uri"], &mill["name"]), (&json!("docs/mill.html"), &json!("Harl Mill")), "{mill}");
    assert_eq!((&mill["line"], &mill["metadata"]["language"]), (&Value::Null, &json!("en")));
    assert!(!mill["text"].as_str().unwrap().contains("Imprint"));
    let toll = hit(&cli, "Who takes the toll of the bridge?");
    assert_eq!((&toll["uri"], &toll["line"]), (&json!("docs/bridge.rst.txt"), &json!(3)), "{toll}");
    assert_eq!((&toll["column"], &hit(&cli, "château de Bréval")["column"]), (&json!(1), &json!(4)));
    let king = hit(&cli, "When did Berthold reign?");
    // A table is rewritten: its columns are not those of the file.
    assert_eq!((&king["line"], &king["column"]), (&json!(2), &Value::Null));
    assert_eq!(hit(&cli, "château de Bréval")["metadata"]["encoding"], "windows-1252");
    assert_eq!(hit(&cli, "the weir of Arden")["section"], Value::Null);

    let answer = cli.json(&["ask", "Who takes the toll of the bridge?"]);
    assert_valid("answer", &answer);
    let quote = answer["citations"].as_array().unwrap().iter().find(|it| it["uri"] == "docs/bridge.rst.txt").unwrap();
    assert_eq!((&quote["line"], &quote["column"]), (&json!(11), &json!(1)), "{answer}");
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
    let warning = "warning: less than half of what was found was read, 1 of 7; left out: 3 unsupported kind of file";
    assert!(said.stderr.contains(warning), "{said:#?}");
    assert!(said.stderr.contains("status` lists what was left out"), "{said:#?}");
    let status = cli.json(&["status"]);
    assert_valid("status", &status);
    let groups: Vec<(&str, u64)> = status["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["reason"].as_str().unwrap(), it["count"].as_u64().unwrap()))
        .collect();
    let page = "no text: 0 bytes of text in 9041 bytes of HTML";
    let redirects = "it only redirects to another page";
    let expect = [("unsupported kind of file", 4), ("it is empty", 1), (redirects, 1), (page, 1)];
    assert_eq!(groups, expect);
    let shown = cli.run(["status"]).succeeded().stdout;
    assert!(shown.contains("left out   4: unsupported kind of file (3 files .djvu, 1 file .css)"), "{shown}");
    assert!(shown.contains("kinds      1 text/html"), "{shown}");
}

#[test]
fn standard_input_is_a_source() {
    let cli = Cli::new();
    let piped = |args: &[&str], input: &str| cli.run_with_input(args, input);
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

#[test]
fn a_definition_of_source_code_is_a_passage_that_can_be_cited() {
    let cli = Cli::new();
    let code = "//! Mills.\n\nuse std::fmt;\n\n/// A mill of Arden.\npub struct Mill;\n\nimpl Mill {\
                \n    /// Turns the wheel of Ada Wren by `degrees`.\n    pub fn turn_wheel(&self, degrees: u32) {\
                \n        self.stop();\n    }\n\n    fn stop(&self) {}\n}\n";
    cli.write("src/mill.rs", code);
    cli.write(
        "src/weir",
        "#!/usr/bin/env python3\n\ndef open_gate(gate):\n    \"\"\"Opens a gate.\"\"\"\n    gate.Open()\n",
    );
    cli.write("src/data.js", "setIndex({a: 1});\n");
    let report = cli.json(&["index", "src"]);
    assert_eq!(report["documents"]["added"], 2, "{report}");
    assert_eq!(report["skips"][0]["reason"], "a script that defines nothing");

    let turn = hit(&cli, "turn_wheel");
    assert_eq!((&turn["uri"], &turn["line"]), (&json!("src/mill.rs"), &json!(8)), "{turn}");
    assert_eq!(turn["section"], "src/mill.rs › impl Mill › turn_wheel");
    let text = turn["text"].as_str().unwrap();
    assert!(text.starts_with("impl Mill {\n    /// Turns") && text.ends_with("self.stop();\n    }"), "{text}");
    let gate = hit(&cli, "How is a gate opened?");
    assert_eq!(
        (&gate["uri"], &gate["section"], &gate["line"]),
        (&json!("src/weir"), &json!("src/weir › open_gate"), &json!(3))
    );
    let said = cli.run(["search", "turn_wheel"]).succeeded();
    assert!(said.stdout.contains("src/mill.rs › impl Mill › turn_wheel"), "{said:#?}");

    let types = json!({ "text/x-python": 1, "text/x-rust": 1 });
    assert_eq!(cli.json(&["status"])["media_types"], types);
}

#[test]
fn of_versions_of_one_text_one_is_shown_with_how_many_more() {
    let cli = Cli::new();
    let lines: Vec<String> = (1..=8)
        .map(|it| {
            format!("- Step {it}: open gate {it} of Harl Mill, wait for wheel {it}, and note level {it} in the book.")
        })
        .collect();
    for version in 1..=3 {
        let text = format!("# Harl Mill\n\nHow to start version {version} of the mill.\n\n{}\n", lines.join("\n"));
        cli.write(&format!("docs/v{version}/README.md"), text);
    }
    cli.write("docs/weir.md", "# The weir\n\nThe weir of Harl Mill holds the water back.\n");
    assert_eq!(cli.json(&["index", "docs"])["documents"]["added"], 4, "all are kept");
    let found = cli.json(&["search", "open the gates of Harl Mill", "--strategy", "lexical"]);
    assert_valid("search", &found);
    let hits: Vec<&Value> = found["hits"].as_array().unwrap().iter().collect();
    let readmes: Vec<&&Value> = hits.iter().filter(|it| it["uri"].as_str().unwrap().ends_with("README.md")).collect();
    assert_eq!(readmes.len(), 1, "{found:#}");
    assert_eq!(readmes[0]["near_equal"].as_array().unwrap().len(), 2, "{found:#}");
    let said = cli.run(["search", "open the gates of Harl Mill", "--strategy", "lexical"]).succeeded();
    assert!(said.stdout.contains("and 2 near-duplicates: docs/v"), "{said:#?}");
}
