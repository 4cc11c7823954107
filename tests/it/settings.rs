//! Settings: the user's own `cairn.toml`, a found one, and what takes precedence over both.

use cairn::graph::trail::{Forest, TrailWeights, VectorKind, WeightSet};

use crate::support::Cli;

const MILL: &str = "Harl Mill\n\nHarl Mill was built by Ada Lorne. She was born in Eaststead.";

#[test]
fn a_file_names_the_index_and_a_flag_goes_before_it() {
    let cli = Cli::new();
    cli.write("notes/mill.txt", MILL);
    cli.write("cairn.toml", "index = \"kept/here.cairn\"");
    let said = cli.run(["index", "notes"]).succeeded();
    assert!(cli.folder().join("kept/here.cairn/cairn.db").is_file(), "{said:#?}");
    cli.run(["search", "who built Harl Mill"]).succeeded();
    cli.refuses(&["status", "--index", "elsewhere"], "no_index", &["elsewhere"]);
    assert!(cli.run(["doctor"]).succeeded().stdout.contains("works   settings  from cairn.toml (found here"));

    // The user's own file has lower precedence.
    let own = cli.configure("index = \"elsewhere\"\n[neo4j]\nuri = \"bolt://127.0.0.1:1\"");
    cli.run(["status"]).succeeded();
    let said = cli.run(["doctor"]).succeeded().stdout;
    assert!(said.contains(&format!("works   settings  from {} and cairn.toml (found", own.display())), "{said}");
    cli.refuses(&["publish"], "unavailable", &["127.0.0.1:1"]);
    std::fs::remove_file(&own).unwrap();

    cli.write("other/other.toml", "index = \"../kept/here.cairn\"");
    std::fs::remove_file(cli.folder().join("cairn.toml")).unwrap();
    cli.refuses(&["status"], "no_index", &[".cairn"]);
    cli.run(["status", "--config", "other/other.toml"]).succeeded();
}

#[test]
fn a_file_with_an_unknown_setting_is_refused() {
    let cli = Cli::new();
    cli.configure("[neo4j]\nport = 7687");
    cli.refuses(&["status"], "input", &["cairn.toml` cannot be used", "line 2", "port", "hint: correct the file"]);
    cli.configure("[neo4j]\npassword = \"hush\"");
    cli.refuses(&["status"], "input", &["password_file"]);
    cli.configure("");
    cli.write("cairn.toml", "indx = \"a\"");
    cli.refuses(&["status"], "input", &["`cairn.toml` cannot be used", "line 1", "indx", "hint: correct the file"]);
    cli.refuses(&["status", "--config", "nowhere.toml"], "io", &["nowhere.toml"]);
}

#[test]
fn a_deadline_is_taken_from_the_flag_the_environment_or_the_file() {
    let cli = Cli::new();
    cli.write("notes/mill.txt", MILL);
    cli.run(["index", "notes"]).succeeded();
    let ask = ["ask", "who built Harl Mill"];
    // Too short to open anything.
    cli.refuses(&[&ask[..], &["--deadline", "0.000001"]].concat(), "deadline", &["opening the index", "hint: give it"]);
    cli.refuses(&[&ask[..], &["--deadline", "soon"]].concat(), "input", &["`soon` is not a valid deadline", "seconds"]);
    cli.write("cairn.toml", "deadline = 0.000001");
    cli.refuses(&ask, "deadline", &["no answer within 1.0µs"]);
    cli.refuses(&["search", "who built Harl Mill"], "deadline", &["--deadline SECONDS"]);
    let set = cli.command(ask).env("CAIRN_DEADLINE", "60").output().unwrap();
    assert!(set.status.success(), "{set:?}");
    cli.run([&ask[..], &["--deadline", "60"]].concat()).succeeded();
}

#[test]
fn weights_and_the_database_are_taken_from_the_file() {
    let cli = Cli::new();
    cli.write("notes/mill.txt", MILL);
    cli.run(["index", "notes"]).succeeded();
    let shipped = WeightSet::shipped(VectorKind::BuiltIn).unwrap();
    let bare = |weights: &TrailWeights| TrailWeights { trees: Forest::default(), ..weights.clone() };
    let bare = WeightSet { titled: bare(&shipped.titled), untitled: bare(&shipped.untitled) };
    cli.write("sub/w.json", serde_json::to_string(&bare).unwrap());
    cli.write(
        "sub/cairn.toml",
        "weights = \"w.json\"\n[neo4j]\nuri = \"bolt://127.0.0.1:1\"\npassword_file = \"none\"",
    );
    let search = ["search", "who built Harl Mill", "--trail-ranker", "boosted"];
    cli.run(search).succeeded();
    let with_file = [&search[..], &["--config", "sub/cairn.toml"]].concat();
    cli.refuses(&with_file, "input", &["have no trees", "eval fit` makes some"]);
    cli.refuses(&["publish", "--config", "sub/cairn.toml"], "input", &["sub/none"]);
    cli.write("sub/none", "hush\n");
    cli.refuses(&["publish", "--config", "sub/cairn.toml"], "unavailable", &["127.0.0.1:1"]);
}
