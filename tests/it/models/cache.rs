//! `cairn cache`: kept replies can be counted, exported, and deleted.

use rusqlite::Connection;
use serde_json::Value;

use super::asking::{ask, good, indexed};
use crate::support::chat::{ChatServer, Play};
use crate::support::{Cli, assert_valid};

#[track_caller]
fn stats(cli: &Cli) -> Value {
    let said = cli.run(["cache", "stats", "--json"]).succeeded();
    let stats = serde_json::from_str(&said.stdout).unwrap();
    assert_valid("cache", &stats);
    stats
}

#[test]
fn replies_are_counted_exported_and_deleted() {
    let (cli, server) = (indexed(), ChatServer::start([good(), good(), Play::Silent]));
    let none = stats(&cli);
    assert_eq!(none["replies"], 0);
    assert!(!cli.folder().join(".cairn/replies.db").exists(), "looking makes nothing");

    let first = ask(&cli, &server, &[]).succeeded();
    ask(&cli, &server, &["--top-k", "1"]).succeeded();
    let kept = stats(&cli);
    let model = serde_json::json!({ "model": "played-1", "replies": 2, "input_tokens": 600, "output_tokens": 80 });
    assert_eq!((&kept["replies"], &kept["models"]), (&2.into(), &serde_json::json!([model])));
    let shown = cli.run(["cache", "stats"]).succeeded().stdout;
    assert!(shown.contains("played-1: 2 replies, 600 tokens read, 80 written"), "{shown}");

    cli.run(["cache", "export", "replies.jsonl"]).succeeded();
    assert_eq!(cli.run(["cache", "export", "replies.jsonl"]).status, Some(8), "a file is not written over");
    let text = std::fs::read_to_string(cli.folder().join("replies.jsonl")).unwrap();
    assert!(text.lines().count() == 2 && !text.contains("Who built"), "{text}");
    let said = cli.run(["cache", "clear"]).succeeded();
    assert!(said.stderr.contains("2 replies deleted"), "{said:#?}");
    assert_eq!(stats(&cli)["replies"], 0);

    // If one line is invalid, nothing is taken from the file.
    cli.write("broken.jsonl", format!("{text}{{}}\n"));
    let said = cli.run(["cache", "import", "broken.jsonl"]);
    assert!(said.status == Some(3) && said.stderr.contains("line 3"), "{said:#?}");
    assert_eq!(stats(&cli)["replies"], 0);
    cli.run(["cache", "import", "replies.jsonl"]).succeeded();
    let again = cli.run(["cache", "import", "replies.jsonl"]).succeeded();
    assert!(again.stderr.contains("0 replies added, 2 already kept"), "{again:#?}");
    let answered = ask(&cli, &server, &["--max-calls", "0"]).succeeded();
    assert_eq!((answered.stdout, server.asked().len()), (first.stdout, 2));
    assert_eq!(cli.run(["cache", "stats", "--index", "nowhere"]).status, Some(4));
}

#[test]
fn a_reply_that_is_damaged_is_found_by_a_check_and_never_used() {
    let (cli, server) = (indexed(), ChatServer::start([good(), good()]));
    let first = ask(&cli, &server, &[]).succeeded();
    cli.run(["check"]).succeeded();
    let replies = Connection::open(cli.folder().join(".cairn/replies.db")).unwrap();
    assert_eq!(replies.execute("UPDATE replies SET reply = replace(reply, 'Ada', 'Eda')", []), Ok(1));
    drop(replies);
    // Nothing depends on it, and nothing can restore it.
    for args in [&["check"][..], &["check", "--repair"]] {
        let said = cli.run(args);
        assert_eq!(said.status, Some(7), "{said:#?}");
        for words in ["a reply is not what was written", "replies.db", "hint: remove the file"] {
            assert!(said.stderr.contains(words), "{words}: {said:#?}");
        }
    }
    let again = ask(&cli, &server, &[]).succeeded();
    assert_eq!((again.stdout, server.asked().len()), (first.stdout, 2));
    cli.run(["check"]).succeeded();
}
