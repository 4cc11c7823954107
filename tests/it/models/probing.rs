//! `cairn doctor --probe`: a server's capabilities are found out, remembered, and respected.

use serde_json::{Value, json};

use super::asking::{ask, good, indexed};
use crate::support::chat::{ChatServer, Ending, Play, said};
use crate::support::{Cli, CommandOutput, assert_valid};

const CANARY: &str = "sk-canary-77e0c2d9";

fn probe(cli: &Cli, server: &ChatServer) -> CommandOutput {
    let mut command = cli.command(["doctor", "--json", "--probe", "--model", "played"]);
    command.env("CAIRN_MODEL_URL", &server.url).env("CAIRN_MODEL_KEY", CANARY);
    CommandOutput::of(command.output().unwrap())
}

fn says(text: &str) -> Play {
    Play::Says(text.to_owned())
}

fn streams() -> Play {
    Play::Streams(vec!["Yes.".to_owned()], Ending::Whole)
}

fn fails() -> Play {
    Play::Responds(500, "", r#"{"error": {"message": "1 validation error"}}"#.to_owned())
}

fn refuses() -> Play {
    Play::Responds(400, "", r#"{"error": "unsupported value"}"#.to_owned())
}

#[test]
fn what_a_server_can_do_is_found_out_and_the_next_question_keeps_to_it() {
    let kept = || says(r#"{"verdict": "yes"}"#);
    let cases = [
        (vec![says("Yes."), kept()], "follows a JSON schema, takes", Some("json_schema"), true),
        // The server accepts the schema but does not follow it.
        (vec![says("Yes."), says("Yes."), says(r#"{"wet": true}"#)], "has a JSON mode", Some("json_object"), true),
        (vec![says("Yes."), refuses(), says("Yes."), refuses()], "neither", None, true),
        (vec![says("Yes."), refuses(), refuses(), says("Yes.")], "neither", None, true),
        // llama-cpp-python's server refuses parameters that it does not know like this.
        (vec![says("Yes."), fails(), says(r#"{"wet": true}"#)], "has a JSON mode", Some("json_object"), true),
        (vec![refuses(), says("Yes."), kept()], "follows a JSON schema, refuses", Some("json_schema"), false),
    ];
    for (plays, says_of_it, form, takes_temperature) in cases {
        let (cli, server) = (indexed(), ChatServer::start(plays.into_iter().chain([streams(), good()])));
        let probed = probe(&cli, &server).succeeded();
        let value: Value = serde_json::from_str(&probed.stdout).unwrap();
        assert_valid("doctor", &value);
        let check = value["checks"].as_array().unwrap().last().unwrap().clone();
        assert!(check["part"] == "model" && check["detail"].as_str().unwrap().contains(says_of_it), "{check}");
        // Skills work if the server gives valid replies to them.
        assert!(
            check["detail"]
                .as_str()
                .unwrap()
                .contains("these skills work: answer, conclude, answer_web; these do not: generate"),
            "{check}"
        );
        let calls = server.asked().len();

        ask(&cli, &server, &[]).succeeded();
        let body = &server.asked()[calls].body;
        assert_eq!(body["response_format"].get("type").and_then(Value::as_str), form, "{body}");
        assert_eq!(body.get("temperature"), takes_temperature.then_some(&json!(0.0)), "{body}");
        let file = std::fs::read_to_string(cli.folder().join(".cache/cairn/servers.json")).unwrap();
        assert!(file.contains(":played at http://127.0.0.1") && !file.contains(CANARY), "{file}");
    }
}

#[test]
fn a_reply_that_is_cut_is_given_more_room_and_says_nothing_about_the_form() {
    let cut = || Play::Responds(200, "", said(r#"{"verdict": "yes"#).replace("\"stop\"", "\"length\""));
    let [kept, object] = [r#"{"verdict": "yes"}"#, r#"{"wet": true}"#].map(|text| move || says(text));
    let cases = [
        (vec![cut(), kept()], "follows a JSON schema", "json_schema"),
        (vec![cut(), cut(), object()], "has a JSON mode", "json_object"),
        (vec![cut(), refuses(), object()], "has a JSON mode", "json_object"),
        // As without a probe.
        (vec![cut(), cut(), cut(), cut()], "its form is unknown", "json_schema"),
        (vec![cut(), cut(), refuses(), refuses()], "its form is unknown", "json_schema"),
    ];
    for (plays, says_of_form, form) in cases {
        let plays = [says("Yes.")].into_iter().chain(plays).chain([streams(), good()]);
        let (cli, server) = (indexed(), ChatServer::start(plays));
        let probed = probe(&cli, &server).succeeded();
        assert!(probed.stdout.contains(says_of_form), "{probed:#?}");
        let calls = server.asked().len();
        let limits: Vec<_> = server.asked().iter().map(|it| it.body["max_tokens"].as_u64().unwrap()).collect();
        assert!(limits.starts_with(&[512, 512, 4096]), "{limits:?}");
        ask(&cli, &server, &[]).succeeded();
        assert_eq!(server.asked()[calls].body["response_format"]["type"], form);
    }
}

#[test]
fn a_server_that_does_not_stream_is_not_asked_to() {
    let broken = Play::Streams(vec!["Yes.".to_owned()], Ending::Broken);
    for (play, expect) in [(streams(), true), (says("Yes."), false), (refuses(), false), (broken, false)] {
        let plays = [says("Yes."), says(r#"{"verdict": "yes"}"#), play, good()];
        let (cli, server) = (indexed(), ChatServer::start(plays));
        let probed = probe(&cli, &server).succeeded();
        let said_of_it = if expect { "it used, streams" } else { "does not stream" };
        assert!(probed.stdout.contains(said_of_it), "{probed:#?}");
        assert_eq!(server.asked()[2].body["stream"], true);
        let calls = server.asked().len();
        let answer = ask(&cli, &server, &["--stream"]).succeeded();
        assert!(answer.stdout.starts_with("Ada Lorne built Harl Mill. [1]"), "{answer:#?}");
        assert_eq!(server.asked()[calls].body["stream"], expect);
    }
}

#[test]
fn settings_take_precedence_over_what_was_found_out() {
    let (cli, server) =
        (indexed(), ChatServer::start([says("Yes."), refuses(), refuses(), refuses(), streams(), good()]));
    probe(&cli, &server).succeeded();
    let calls = server.asked().len();
    cli.configure("[model]\nform = \"object\"");
    ask(&cli, &server, &[]).succeeded();
    assert_eq!(server.asked()[calls].body["response_format"]["type"], "json_object");
}

#[test]
fn a_server_that_does_not_reply_is_reported_as_failing() {
    let (cli, server) = (Cli::new(), ChatServer::start([refuses()]));
    let said = probe(&cli, &server);
    assert_eq!((said.status, server.asked().len()), (Some(3), 4), "{said:#?}");
    assert!(said.stdout.contains("unsupported value"), "{said:#?}");
    let server = ChatServer::start([fails()]);
    assert_eq!((probe(&cli, &server).status, server.asked().len()), (Some(10), 4));
    let server = ChatServer::start([Play::Responds(503, "", String::new())]);
    assert_eq!(probe(&cli, &server).status, Some(10));
    assert!(!cli.folder().join(".cache/cairn/servers.json").exists());
    assert_eq!(cli.run(["doctor", "--probe"]).status, Some(2));
}
