//! Models that think before they reply.

use serde_json::{Value, json};

use super::asking::{QUESTION, ask, indexed};
use super::generating::{mills, name_of, origins, report_of, written};
use crate::support::CommandOutput;
use crate::support::chat::{Answers, ChatServer, Play, said};

/// Tokens that the model spends on thinking.
const THINKS: u64 = 700;

/// A model that needs room to think or is cut off, and prints its thoughts.
fn thinker(reply: impl Fn(&Value) -> String + Send + Sync + 'static) -> Play {
    Play::Answers(Answers::new(move |body: &Value| {
        let limit = body["max_tokens"].as_u64().unwrap();
        let text = format!("<think>Hm, {{\"a\": 1}} would not do.</think>\n{}", reply(body));
        let mut body: Value = serde_json::from_str(&said(&text)).unwrap();
        body["usage"]["completion_tokens"] = json!(THINKS + 100);
        if limit < THINKS + 100 {
            body["choices"][0]["finish_reason"] = json!("length");
            body["choices"][0]["message"] = json!({ "content": "", "reasoning_content": "Hm" });
        }
        body.to_string()
    }))
}

fn answer(_: &Value) -> String {
    json!({ "can_answer": true, "short": "", "sentences": [{ "text": "Ada Lorne built Harl Mill.", "passages": [1] }] })
        .to_string()
}

fn limits(server: &ChatServer) -> Vec<u64> {
    server.asked().iter().map(|asked| asked.body["max_tokens"].as_u64().unwrap()).collect()
}

#[test]
fn a_model_that_thinks_gets_room_once_it_is_cut_and_that_is_remembered() {
    let (cli, server) = (indexed(), ChatServer::start([thinker(|_| json!({ "passages": [1] }).to_string())]));
    let pick = || {
        let args = ["search", QUESTION, "--model", "played", "--pick", "--json"];
        let said =
            CommandOutput::of(cli.command(args).env("CAIRN_MODEL_URL", &server.url).output().unwrap()).succeeded();
        serde_json::from_str::<Value>(&said.stdout).unwrap()["ledger"].clone()
    };
    let ledger = pick();
    assert_eq!((&ledger["pick"]["picked"].as_array().unwrap().len(), ledger["pick"].get("degraded")), (&1, None));
    // Both calls are reported, with their total cost.
    assert_eq!(ledger["work"]["spent"]["calls"], 2, "{ledger}");
    assert_eq!(limits(&server)[..2], [256, 256 + 4096]);
    let file = std::fs::read_to_string(cli.folder().join(".cache/cairn/servers.json")).unwrap();
    assert!(file.contains("\"thinking_tokens\": 4096"), "{file}");
    pick();
    assert_eq!(server.asked().len(), 2, "what was asked with less room is found all the same");
    server.play([thinker(answer)]);
    let said = ask(&cli, &server, &[]).succeeded();
    assert!(said.stdout.starts_with("Ada Lorne built Harl Mill. [1]"), "{said:#?}");
    assert_eq!(limits(&server)[2..], [1024 + 4096]);
}

#[test]
fn room_to_think_can_be_set_and_what_is_thought_is_not_streamed() {
    let (cli, server) = (indexed(), ChatServer::start([thinker(answer)]));
    let of_answer = "[model.answer]\ntemperature = 0.6\nbody = { top_k = 20 }";
    let set = |tokens| format!("[model]\nthinking_tokens = {tokens}\nreasoning_effort = \"low\"\n{of_answer}");
    cli.configure(set(2000));
    let said = ask(&cli, &server, &["--stream"]).succeeded();
    assert!(said.stdout.starts_with("Ada Lorne built Harl Mill. [1]"), "{said:#?}");
    let body = &server.asked()[0].body;
    assert_eq!(
        (&body["max_tokens"], &body["reasoning_effort"], &body["top_k"]),
        (&json!(3024), &json!("low"), &json!(20))
    );
    assert!((body["temperature"].as_f64().unwrap() - 0.6).abs() < 1e-6, "{body}");
    // At another temperature, the reply may differ, so the model is asked.
    cli.configure(set(3000));
    ask(&cli, &server, &[]).succeeded();
    assert_eq!(server.asked().len(), 1, "room to think is no part of what a reply depends on");
    cli.configure("[model]\nthinking_tokens = 3000");
    ask(&cli, &server, &[]).succeeded();
    assert_eq!(server.asked().len(), 2);

    let pieces =
        ["<think>Hm, \"sentences\": [{\"text\": \"No.\", \"passages\": [1]}]", "</thi", "nk>"].map(str::to_owned);
    let pieces = pieces.into_iter().chain([answer(&Value::Null)]).collect();
    let (cli, server) = (indexed(), ChatServer::start([Play::Streams(pieces, crate::support::chat::Ending::Whole)]));
    let said = ask(&cli, &server, &["--stream"]).succeeded();
    assert!(said.stdout.starts_with("Ada Lorne built Harl Mill. [1]") && !said.stdout.contains("No."), "{said:#?}");
}

#[test]
fn questions_are_written_by_a_model_that_thinks() {
    let (cli, server) = (mills(), ChatServer::start([thinker(|body| written(&name_of(body)))]));
    // A limit that is too low for it.
    cli.configure("[model]\nconcurrency = 1");
    let report = report_of(&cli, &server, &[]);
    assert_eq!((&report["model"]["written"], &report["model"]["failed"]), (&json!(12), &json!([])), "{report}");
    assert!(origins(&cli).values().all(|it| *it == [0, 6]));
}
