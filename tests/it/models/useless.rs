//! Models with unusable replies only: their cost is limited and reported, and the run continues without them.

use serde_json::{Value, json};

use super::asking::{ask, good as answers, indexed};
use super::generating::{good, index, mills, origins, report_of, status_of, two_mills};
use crate::support::chat::{ChatServer, Play, said};
use crate::support::{CommandOutput, assert_valid};

/// Maximum calls that are paid for without a usable reply: eight replies, those under way, and one more for each that
/// is cut off.
const PAID_MAX: usize = 2 * (8 + 8);

/// Enough documents for many calls.
fn many_mills() -> crate::support::Cli {
    let cli = mills();
    for number in 0..60 {
        cli.write(&format!("notes/more-{number}.txt"), format!("New Mill {number} was built by Ann Orr in 1801."));
    }
    cli
}

#[test]
fn a_run_stops_after_several_useless_replies_and_continues_where_it_was() {
    let call = json!({ "function": { "name": "f", "arguments": "{}" } });
    let tool = json!({ "choices": [{ "message": { "content": null, "tool_calls": [call] } }] });
    let useless = [
        (Play::Says("no questions".to_owned()), "no JSON object"),
        (Play::Responds(200, "", said("{\"answered\": [").replace("\"stop\"", "\"length\"")), "was cut"),
        (Play::Responds(200, "", said("").replace("\"stop\"", "\"content_filter\"")), "declines"),
        (Play::Responds(200, "", tool.to_string()), "does not fit"),
    ];
    for (play, why) in useless {
        let (cli, server) = (many_mills(), ChatServer::start([play]));
        let stopped = index(&cli, &server, &["--json"]);
        assert_eq!(stopped.status, Some(10), "{stopped:#?}");
        assert!(stopped.stderr.contains("gave no usable reply, ") && stopped.stderr.contains(why), "{stopped:#?}");
        assert!(server.asked().len() <= PAID_MAX, "{why}: {}", server.asked().len());
        let report: Value = serde_json::from_str(&stopped.stdout).unwrap();
        assert_valid("index", &report);
        assert_eq!((&report["model"]["stopped_by"], &report["model"]["written"]), (&json!("useless"), &json!(0)));
        // Everything is indexed as without a model.
        assert!(origins(&cli).values().all(|it| it[0] > 0 && it[1] == 0));
        let (asked, failed) = (server.asked().len(), report["model"]["failed"].as_array().unwrap().len());

        server.play([good()]);
        let report = report_of(&cli, &server, &[]);
        assert_eq!(report["model"]["left"], 0, "{report}");
        // Passages that were asked about twice keep what they had.
        let still = report["model"]["failed"].as_array().unwrap().len();
        assert!((1..=failed).contains(&still), "{why}: {still} of {failed}");
        assert!(server.asked().len() <= asked + 72, "{why}");
        let report = report_of(&cli, &server, &["--retry-failed"]);
        assert_eq!(report["model"]["failed"], json!([]), "{why}");
        assert_eq!(status_of(&cli)["questions"]["failed"], 0);
    }
}

#[test]
fn a_useless_kept_reply_is_requested_again_once_its_server_works() {
    for play in [
        Play::Says("I will not say.".to_owned()),
        Play::Responds(200, "", said("{\"can").replace("\"stop\"", "\"length\"")),
    ] {
        let (cli, server) = (indexed(), ChatServer::start([play]));
        let first = ask(&cli, &server, &[]).succeeded();
        assert!(!first.stdout.contains("Ada Lorne built Harl Mill. [1]"), "{first:#?}");
        let asked = server.asked().len();
        server.play([answers()]);
        // The same if only one call is allowed: the kept reply counts as one.
        let second = ask(&cli, &server, &["--max-calls", "1"]).succeeded();
        assert!(second.stdout.starts_with("Ada Lorne built Harl Mill. [1]"), "{second:#?}");
        assert_eq!(server.asked().len(), asked + 1);
        ask(&cli, &server, &[]).succeeded();
        assert_eq!(server.asked().len(), asked + 1, "what is of use is kept in its place");
    }
}

#[test]
fn a_command_fails_if_every_reply_of_the_model_was_useless() {
    let server = ChatServer::start([Play::Says("As a model, I think so.".to_owned())]);
    // With fewer passages than unusable replies that end a run.
    let cli = two_mills();
    let few = index(&cli, &server, &[]);
    assert_eq!(few.status, Some(10), "{few:#?}");
    assert!(few.stderr.contains("gave no usable reply"), "{few:#?}");
    assert!(origins(&cli).values().all(|it| it[0] > 0 && it[1] == 0));

    let cli = indexed();
    let question = json!({ "id": "1", "question": "Who built Harl Mill?", "answers": ["Ada Lorne"],
        "supporting": ["notes/mill.txt"] });
    cli.write("q.jsonl", question.to_string());
    for more in [&["answers"][..], &["retrieval", "--pick"]] {
        let args = [&["eval"], more, &["--questions", "q.jsonl", "--model", "played"]].concat();
        let said = CommandOutput::of(cli.command(args).env("CAIRN_MODEL_URL", &server.url).output().unwrap());
        assert_eq!(said.status, Some(10), "{said:#?}");
        // What was found without the model is printed nevertheless.
        assert!(!said.stdout.is_empty() && said.stderr.contains("gave no usable reply"), "{said:#?}");
    }
}
