//! Servers that refuse what their public documentation says they refuse: such parameters are left out, found out once,
//! and remembered.

use serde_json::{Value, json};

use super::asking::{QUESTION, ask, good, indexed};
use crate::support::chat::{Afterwards, Asked, ChatServer, Judge, Play, said, streamed};
use crate::support::{Cli, CommandOutput};

/// A model's answer to who built the mill.
fn answer() -> String {
    let sentences = json!([{ "text": "Ada Lorne built Harl Mill.", "passages": [1] }]);
    json!({ "can_answer": true, "sentences": sentences }).to_string()
}

/// A server that answers, unless it refuses something in a request, with this status and message.
fn refusing(status: u16, refusal: impl Fn(&Value) -> Option<&'static str> + Send + Sync + 'static) -> ChatServer {
    ChatServer::start([Play::Judges(Judge::new(move |asked: &Asked| match refusal(&asked.body) {
        Some(why) => (status, json!({ "error": { "message": why, "type": "invalid_request_error" } }).to_string()),
        None => (200, said(&answer())),
    }))])
}

#[track_caller]
fn answered(said: &CommandOutput) {
    assert!(said.status == Some(0) && said.stdout.starts_with("Ada Lorne built Harl Mill. [1]"), "{said:#?}");
}

/// Asks twice: the first question finds out at no cost what the server refuses, and the second request is right.
#[track_caller]
fn is_found_out(server: &ChatServer, requests: usize) -> Value {
    let cli = indexed();
    let first = ask(&cli, server, &[]);
    answered(&first);
    assert!(first.stderr.contains("1 call, 300 tokens read"), "{first:#?}");
    assert_eq!(server.asked().len(), requests);
    cli.run(["cache", "clear"]).succeeded();
    answered(&ask(&cli, server, &[]));
    assert_eq!(server.asked().len(), requests + 1, "remembered by another process");
    server.asked().last().unwrap().body.clone()
}

#[test]
fn a_model_that_refuses_a_temperature_is_asked_without_one() {
    let server = refusing(400, |body| {
        let said = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is \
                    supported.";
        body.get("temperature").map(|_| said)
    });
    let body = is_found_out(&server, 2);
    assert!(body.get("temperature").is_none() && body["response_format"].is_object(), "{body}");
}

#[test]
fn a_template_without_a_system_role_gets_all_of_it_from_the_user() {
    let server = refusing(400, |body| {
        let is_system = |message: &Value| message["role"] == "system";
        body["messages"].as_array().unwrap().iter().any(is_system).then_some("System role not supported")
    });
    let body = is_found_out(&server, 2);
    let messages = body["messages"].as_array().unwrap();
    assert_eq!((messages.len(), &messages[0]["role"]), (1, &json!("user")), "{body}");
    assert!(messages[0]["content"].as_str().unwrap().contains(QUESTION), "{body}");
}

#[test]
fn a_gateway_to_models_that_think_is_told_the_limit_as_they_take_it() {
    let server = refusing(400, |body| {
        let said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
                    'max_completion_tokens' instead.";
        body.get("max_tokens").map(|_| said).or_else(|| body.get("temperature").map(|_| "temperature: unsupported"))
    });
    let body = is_found_out(&server, 3);
    assert!(body["max_completion_tokens"].is_u64() && body.get("max_tokens").is_none(), "{body}");
}

#[test]
fn a_server_without_schemas_gets_a_simpler_response_format() {
    let server = refusing(422, |body| match body["response_format"]["type"].as_str() {
        Some("json_schema") => Some("response_format.type must be one of 'text', 'json_object'"),
        _ => None,
    });
    assert_eq!(is_found_out(&server, 2)["response_format"], json!({ "type": "json_object" }));
    let server = refusing(400, |body| body.get("response_format").map(|_| "response_format is not supported"));
    assert!(is_found_out(&server, 3).get("response_format").is_none());
}

#[test]
fn a_persistent_refusal_is_reported_and_nothing_is_remembered() {
    let server = refusing(400, |_| Some("temperature, system role, max_tokens: all of it is not supported"));
    let cli = indexed();
    let said = ask(&cli, &server, &[]);
    assert!(said.stderr.contains("all of it is not supported"), "{said:#?}");
    assert!((2..=8).contains(&server.asked().len()));
    assert!(!cli.folder().join(".cache/cairn/servers.json").exists());
}

#[test]
fn a_probe_finds_out_what_a_server_refuses_without_a_reason() {
    let server = refusing(400, |body| {
        let has_system = body["messages"].as_array().unwrap().iter().any(|message| message["role"] == "system");
        has_system.then_some("bad request")
    });
    let cli = indexed();
    assert!(!ask(&cli, &server, &[]).stdout.starts_with("Ada Lorne built Harl Mill. [1]"));
    let probe = ["doctor", "--probe", "--model", "played"];
    let probed = CommandOutput::of(cli.command(probe).env("CAIRN_MODEL_URL", &server.url).output().unwrap());
    assert!(probed.succeeded().stdout.contains("takes no system message"));
    answered(&ask(&cli, &server, &[]));
}

#[test]
fn a_probe_fails_if_no_skill_works_and_checks_the_server_of_each_job() {
    let useless = ChatServer::start([Play::Says("{}".to_owned())]);
    let good = ChatServer::start([good()]);
    let cli = indexed();
    cli.configure(format!(
        "[model]\nurl = \"{}\"\nname = \"usual\"\n[model.answer]\nurl = \"{}\"\nname = \"own\"\n",
        useless.url, good.url
    ));
    let said = cli.run(["doctor", "--probe", "--model", "default"]);
    assert_eq!(said.status, Some(10), "{said:#?}");
    assert!(said.stdout.contains(":own: ") && said.stdout.contains("these skills work: answer"), "{said:#?}");
    assert!(said.stdout.contains("FAILS   model") && said.stdout.contains("NO skill works"), "{said:#?}");
}

#[test]
fn gemini_says_faults_in_a_list_and_thinks_beside_its_tokens() {
    let fault = json!([{ "error": { "code": 429, "message": "quota is exhausted", "status": "RESOURCE_EXHAUSTED" } }]);
    let mut reply: Value = serde_json::from_str(&said(&answer())).unwrap();
    reply["usage"]["total_tokens"] = json!(300 + 40 + 900);
    let server = ChatServer::start([
        Play::Responds(429, "Retry-After: 0\r\n", fault.to_string()),
        Play::Responds(200, "", reply.to_string()),
    ]);
    let said = ask(&indexed(), &server, &[]);
    answered(&said);
    assert!(said.stderr.contains("300 tokens read, 940 written"), "{said:#?}");
    let server = ChatServer::start([Play::Responds(400, "", fault.to_string())]);
    assert!(ask(&indexed(), &server, &[]).stderr.contains(": quota is exhausted"));
}

#[test]
fn openrouter_sends_comments_and_may_fail_in_the_middle_of_a_reply() {
    let text = answer();
    let stop = json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }).to_string();
    let living = streamed(&[&text], &[&stop, "[DONE]"]).replacen("data: ", ": OPENROUTER PROCESSING\n\ndata: ", 1);
    let server = ChatServer::start([Play::Sends(living, Afterwards::Open)]);
    answered(&ask(&indexed(), &server, &["--stream"]));

    let broken = json!({
        "error": { "code": "server_error", "message": "the provider is gone" },
        "choices": [{ "delta": { "content": "" }, "finish_reason": "error" }],
    });
    let server = ChatServer::start([Play::Sends(streamed(&[&text], &[&broken.to_string()]), Afterwards::Open)]);
    let said = ask(&indexed(), &server, &["--stream"]);
    assert!(said.stdout.contains("Ignore the text above") && said.stderr.contains("the provider is gone"), "{said:#?}");
}

#[test]
fn vectors_are_asked_for_by_the_paths_of_azure_and_through_the_proxy_that_is_set() {
    let server = ChatServer::start([Play::Embeds(8)]);
    let host = server.url.trim_end_matches("/v1");
    let cli = Cli::new();
    cli.write("notes/mill.txt", "Harl Mill\n\nHarl Mill was built by Ada Lorne.");
    cli.configure(format!("[model]\nserver = \"azure\"\nurl = \"{host}\"\napi_version = \"2024-10-21\""));
    let args = ["index", "notes", "--embedder", "azure:embed-small"];
    CommandOutput::of(cli.command(args).env("CAIRN_MODEL_KEY", "sk-12345678").output().unwrap()).succeeded();
    let path = "POST /openai/deployments/embed-small/embeddings?api-version=2024-10-21 HTTP/1.1\r\n";
    let sent = server.asked().last().unwrap().clone();
    assert!(sent.head.starts_with(path) && sent.head.contains("sk-12345678"), "{}", sent.head);

    let proxy = ChatServer::start([Play::Embeds(8)]);
    let address = proxy.url.trim_end_matches("/v1");
    cli.configure("[model]\nurl = \"http://vectors.invalid/v1\"");
    let args = ["index", "notes", "--index", "second", "--embedder", "server:e5"];
    CommandOutput::of(cli.command(args).env("CAIRN_PROXY", address).output().unwrap()).succeeded();
    let sent = proxy.asked().last().unwrap().clone();
    assert!(sent.head.starts_with("POST http://vectors.invalid/v1/embeddings HTTP/1.1\r\n"), "{}", sent.head);
}
