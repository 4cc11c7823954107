//! Servers that are not what they should be, and connections that are cut.

use std::time::{Duration, Instant};

use cairn::neo4j::{PublishOptions, Target, publish};
use cairn::{Document, Sources, Workspace};

use crate::support::bolt::{Answer, Cut, Proxy, peer, unanswered};
use crate::support::neo4j::database;
use crate::support::{Cli, at_most, at_once, block_on, canonical, index};

use super::{assert_whole, held};

/// Connections that are cut at least; `--test torture` continues until all messages were covered.
const CUTS_LEAST: usize = 8;

#[test]
fn a_server_that_is_too_old_or_refuses_is_distinguished_from_a_missing_one() {
    let cli = Cli::new();
    cli.write("notes/mill.txt", "Harl Mill\n\nHarl Mill was built by Ada Lorne.");
    cli.json(&["index", "notes"]);
    let refuses = |answer, kind: &str, words: &[&str]| {
        cli.refuses(&["publish", "--neo4j", &peer(answer)], kind, words);
    };
    refuses(Answer::Version("5.22.0"), "incompatible", &["it is Neo4j 5.22.0; 5.23 or later", "hint: use Neo4j 5.26"]);
    refuses(Answer::Version("4.4.40"), "incompatible", &["it is Neo4j 4.4.40"]);
    refuses(Answer::Version("none"), "incompatible", &["it is Neo4j none"]);
    refuses(Answer::Closes, "unavailable", &["cannot be reached", "closes the connection at once"]);
    let code = "Neo.ClientError.Security.Unauthorized";
    refuses(Answer::Refuses(code), "input", &["refuses the user or the password"]);
    let code = "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase";
    refuses(Answer::Refuses(code), "io", &["does not accept writes"]);
    let code = "Neo.TransientError.General.MemoryPoolOutOfMemoryError";
    refuses(Answer::Refuses(code), "io", &["too little memory", "hint: give the server more"]);
    let code = "Neo.DatabaseError.General.UnknownError";
    refuses(
        Answer::Refuses(code),
        "io",
        &["it had an internal fault when asked to say its version", code, "full disk"],
    );
}

#[test]
fn a_server_that_does_not_answer_is_reported_within_five_seconds() {
    let cli = Cli::new();
    let (dropping, _queue) = unanswered();
    at_once(["bolt://127.0.0.1:1".to_owned(), peer(Answer::Silent), dropping], |uri| {
        let began = Instant::now();
        let said = cli.run(["ask", "Who built Harl Mill?", "--neo4j", &uri]);
        assert!(said.status == Some(10) && said.stderr.contains("cannot be reached"), "{uri}: {said:#?}");
        assert!(said.stderr.contains("hint: check that the server runs"), "{uri}: {said:#?}");
        assert!(began.elapsed() < Duration::from_secs(5), "{uri}: {:?}", began.elapsed());
    });
}

/// Wherever a connection is cut, publishing continues by itself, and the result is complete, without duplicates.
#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_connection_may_be_cut_at_any_message() {
    let Some(database) = database() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let edition = |number: usize| {
        let text = format!("Harl Mill was built by Ada Lorne in {}. She was born in Eaststead.", 1800 + number % 7);
        let name = format!("note-{}", number % 3);
        Sources::documents([
            Document::new("mill", Some("Harl Mill".to_owned()), text),
            Document::new(&name, Some(name.clone()), "Eaststead lies by the river."),
        ])
    };
    index(&path, &edition(0));
    let workspace = Workspace::open(&path).unwrap();
    let publish_to =
        |uri: &str| block_on(publish(&workspace, &Target::parse(uri).unwrap(), &PublishOptions::default()));
    publish_to(&database.uri).unwrap();
    index(&path, &edition(1));
    let whole = Proxy::start_whole(&database.uri);
    publish_to(&whole.uri).unwrap();
    let (messages, began) = (whole.seen(), Instant::now());
    let mut cuts = 0;
    // In an order that is spread over all messages, so that a slow machine covers all kinds, too.
    let stride = (messages * 5 / 8..2 * messages).find(|stride| greatest_divisor(*stride, messages) == 1).unwrap();
    while cuts < messages && (cuts < CUTS_LEAST || began.elapsed() < at_most(Duration::ZERO)) {
        let number = cuts * stride % messages;
        cuts += 1;
        index(&path, &edition(cuts + 1));
        let cut = if cuts % 2 == 0 { Cut::After } else { Cut::Before };
        let proxy = Proxy::start(&database.uri, number, cut);
        // The first messages are a greeting, which is not repeated for long.
        if let Err(error) = publish_to(&proxy.uri) {
            assert_eq!(error.kind(), cairn::ErrorKind::Unavailable, "cut {cut:?} {number}: {error:?}");
            publish_to(&database.uri).unwrap();
        }
        assert!(held(&database) == canonical(&path), "cut {cut:?} {number}");
        let left = "MATCH (n) WHERE n.cairnUntil IS NOT NULL RETURN count(n) AS n";
        assert_eq!(database.count(left), 0, "cut {cut:?} {number}");
    }
    println!("{cuts} connections cut, at as many of {messages} messages, in {:?}", began.elapsed());
    assert!(messages > 40, "only {messages} messages");
}

/// A small change is one transaction; what a server has no memory for at once is written in steps.
#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_small_change_that_is_refused_for_want_of_memory_is_made_in_steps() {
    let Some(database) = database() else { return };
    let cli = Cli::new();
    let proxy = Proxy::start_whole(&database.uri);
    let publish = |edition: i64| {
        let text = format!("Harl Mill\n\nHarl Mill was built by Ada Lorne in {}.", 1800 + edition);
        cli.write("notes/mill.txt", text);
        cli.json(&["index", "notes"]);
        let said = cli.run(["publish", "--neo4j", &proxy.uri, "-vvv"]).succeeded().stderr;
        assert_whole(&cli, &database);
        assert_eq!(database.count("MATCH (i:Index) RETURN i.version AS n"), edition);
        ["note the plan", "note the state"].map(|it| said.contains(it))
    };
    assert_eq!(publish(1), [false, false], "one transaction");
    proxy.after(0, Cut::Refused);
    assert_eq!(publish(2), [true, true], "steps");
    assert_eq!(publish(3), [false, false], "one transaction");
}

fn greatest_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}
