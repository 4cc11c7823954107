//! Servers whose public documentation differs from `OpenAI`'s in some point, and how they are reached.

use serde_json::{Value, json};

use super::asking::{ask, good, indexed};
use crate::support::chat::{Asked, ChatServer, Play};
use crate::support::{Cli, CommandOutput};

const CANARY: &str = "sk-canary-91f0aa37";

/// Asks the configured model, and returns what the server was sent.
fn asked(cli: &Cli, server: &ChatServer, variables: &[(&str, &str)]) -> Asked {
    let mut command = cli.command(["ask", "Who built Harl Mill?", "--model", "default"]);
    command.envs(variables.iter().copied());
    let said = CommandOutput::of(command.output().unwrap()).succeeded();
    assert!(said.stdout.starts_with("Ada Lorne built Harl Mill. [1]"), "{said:#?}");
    assert!(!said.stderr.contains(CANARY) && !said.stdout.contains(CANARY));
    server.asked().last().unwrap().clone()
}

fn has_header(asked: &Asked, header: &str) -> bool {
    asked.head.lines().any(|line| line.eq_ignore_ascii_case(header))
}

#[test]
fn azure_is_asked_by_its_paths_with_its_header() {
    let (cli, server) = (indexed(), ChatServer::start([good()]));
    let host = server.url.trim_end_matches("/v1");
    cli.configure(format!("[model]\nserver = \"azure\"\nurl = \"{host}/openai/v1\"\nname = \"gpt-team\""));
    let sent = asked(&cli, &server, &[("AZURE_OPENAI_API_KEY", CANARY)]);
    assert!(sent.head.starts_with("POST /openai/v1/chat/completions HTTP/1.1\r\n"), "{}", sent.head);
    assert!(has_header(&sent, &format!("api-key: {CANARY}")) && !sent.head.contains("Bearer"), "{}", sent.head);
    assert_eq!((&sent.body["model"], sent.body.get("max_tokens")), (&json!("gpt-team"), None));
    let schema = &sent.body["response_format"]["json_schema"]["schema"];
    assert!(schema.is_object() && !schema.to_string().contains("maxItems"), "{schema}");

    let settings =
        format!("[model]\nserver = \"azure\"\nurl = \"{host}\"\nname = \"gpt-team\"\napi_version = \"2024-10-21\"");
    cli.configure(settings);
    cli.run(["cache", "clear"]).succeeded();
    let sent = asked(&cli, &server, &[("CAIRN_MODEL_KEY", CANARY)]);
    let path = "POST /openai/deployments/gpt-team/chat/completions?api-version=2024-10-21 HTTP/1.1\r\n";
    assert!(sent.head.starts_with(path) && has_header(&sent, &format!("api-key: {CANARY}")), "{}", sent.head);
}

#[test]
fn other_hosted_servers_are_asked_as_they_say() {
    for (name, path, variable) in [
        ("anthropic", "/v1", "ANTHROPIC_API_KEY"),
        ("gemini", "/v1beta/openai", "GEMINI_API_KEY"),
        ("openrouter", "/api/v1", "OPENROUTER_API_KEY"),
    ] {
        let (cli, server) = (indexed(), ChatServer::start([good()]));
        let url = format!("{}{path}", server.url.trim_end_matches("/v1"));
        cli.configure(format!("[model]\nserver = \"{name}\"\nurl = \"{url}\"\nname = \"m\""));
        let sent = asked(&cli, &server, &[("CAIRN_MODEL_KEY", CANARY), (variable, "sk-not-for-this-address")]);
        assert!(sent.head.starts_with(&format!("POST {path}/chat/completions HTTP/1.1\r\n")), "{}", sent.head);
        assert!(has_header(&sent, &format!("authorization: Bearer {CANARY}")), "{}", sent.head);
        // Anthropic accepts a schema but ignores it: the prompt states it.
        let form = sent.body.get("response_format").is_some();
        assert_eq!((form, sent.body["max_tokens"].is_u64()), (name != "anthropic", true), "{}", sent.body);
    }
}

#[test]
fn each_job_has_the_server_that_is_set_for_it_and_no_secret_of_another() {
    let (cli, usual, own) = (indexed(), ChatServer::start([good()]), ChatServer::start([good()]));
    cli.write(".config/cairn/key", format!("{CANARY}\n"));
    cli.configure(format!(
        "[model]\nurl = \"{}\"\nname = \"usual\"\nkey_file = \"key\"\nheaders = {{ x-team = \"{CANARY}\" }}\n\
         [model.answer]\nurl = \"{}\"\nname = \"own\"\nkey_command = [\"printf\", \"sk-own-5551212\"]\n",
        usual.url, own.url
    ));
    let sent = asked(&cli, &own, &[]);
    assert_eq!(sent.body["model"], "own");
    assert!(has_header(&sent, "authorization: Bearer sk-own-5551212") && !sent.head.contains(CANARY), "{}", sent.head);
    assert!(usual.asked().is_empty());
    let search = ["search", "Who built Harl Mill?", "--model", "default", "--pick"];
    cli.run(search).succeeded();
    let sent = usual.asked()[0].clone();
    assert!(has_header(&sent, &format!("authorization: Bearer {CANARY}")) && sent.body["model"] == "usual");
    assert!(has_header(&sent, &format!("x-team: {CANARY}")), "{}", sent.head);
}

#[test]
fn what_calls_loads_or_sends_is_taken_from_no_file_in_the_current_folder() {
    let (cli, server) = (indexed(), ChatServer::start([good()]));
    for line in [
        "key_command = [\"touch\", \"ran\"]",
        "proxy = \"http://127.0.0.1:1\"",
        "ca_file = \"ca.pem\"",
        "body = { a = 1 }",
        "answer = { url = \"http://127.0.0.1:1/v1\" }",
        "api_version = \"1\"",
    ] {
        cli.write("cairn.toml", format!("[model]\n{line}\n"));
        let said = ask(&cli, &server, &[]);
        assert_eq!(said.status, Some(3), "{line}: {said:#?}");
        assert!(said.stderr.contains("cairn.toml") && said.stderr.contains("may not"), "{line}: {said:#?}");
    }
    assert!(!cli.folder().join("ran").exists() && server.asked().is_empty());
}

#[test]
fn requests_go_through_the_proxy_that_is_set_and_its_password_is_not_shown() {
    let (cli, proxy) = (indexed(), ChatServer::start([good()]));
    let address = proxy.url.trim_start_matches("http://").trim_end_matches("/v1");
    cli.configure("[model]\nurl = \"http://models.invalid/v1\"\nname = \"m\"");
    let sent = asked(&cli, &proxy, &[("CAIRN_PROXY", &format!("http://ada:{CANARY}@{address}"))]);
    assert!(sent.head.starts_with("POST http://models.invalid/v1/chat/completions HTTP/1.1\r\n"), "{}", sent.head);
    assert!(sent.head.to_ascii_lowercase().contains("proxy-authorization: basic "), "{}", sent.head);
    // A variable for other programs has no effect.
    let (cli, server) = (indexed(), ChatServer::start([good()]));
    cli.configure(format!("[model]\nurl = \"{}\"\nname = \"m\"", server.url));
    asked(&cli, &server, &[("HTTP_PROXY", "http://127.0.0.1:1"), ("http_proxy", "http://127.0.0.1:1")]);

    cli.write(".config/cairn/ca.pem", "no certificate");
    cli.configure(format!("[model]\nurl = \"https://{address}/v1\"\nname = \"m\"\nca_file = \"ca.pem\""));
    let said = CommandOutput::of(cli.command(["ask", "Who?", "--model", "default"]).output().unwrap());
    assert!(said.status == Some(3) && said.stderr.contains("certificates"), "{said:#?}");
}

#[test]
fn a_server_without_a_system_role_gets_one_message_and_a_model_with_tools_only_calls_one() {
    let verdict = json!({ "verdict": "yes" });
    let answers = |body: &Value| {
        let text = json!({
            "can_answer": true, "short": "", "sentences": [{ "text": "Ada Lorne built Harl Mill.", "passages": [1] }],
        });
        if body["tools"][0]["function"]["name"] == "answer" { text } else { json!({}) }
    };
    let model = crate::support::chat::Answers::new(move |body: &Value| {
        let said = if body["tools"][0]["function"]["name"] == "probe" { verdict.clone() } else { answers(body) };
        let message = if body.get("tools").is_some() {
            json!({ "content": null, "tool_calls": [{ "function": { "name": "f", "arguments": said.to_string() } }] })
        } else {
            json!({ "content": "Yes." })
        };
        json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] }).to_string()
    });
    let (cli, server) = (indexed(), ChatServer::start([Play::Answers(model)]));
    let probe = ["doctor", "--probe", "--model", "played"];
    let said = CommandOutput::of(cli.command(probe).env("CAIRN_MODEL_URL", &server.url).output().unwrap()).succeeded();
    assert!(said.stdout.contains("calls functions") && said.stdout.contains("these skills work: answer;"), "{said:#?}");
    let said = ask(&cli, &server, &[]).succeeded();
    assert!(said.stdout.starts_with("Ada Lorne built Harl Mill. [1]"), "{said:#?}");
    let sent = server.asked().last().unwrap().clone();
    assert_eq!(sent.body["tool_choice"]["function"]["name"], "answer");
}

#[test]
fn an_embedder_is_told_its_settings_and_batches_shrink_to_what_its_server_takes() {
    const TEXTS_MAX: usize = 10;
    let model = crate::support::chat::Embedding::new(|texts, dimensions| {
        (texts.len() <= TEXTS_MAX).then_some(dimensions.unwrap_or(16))
    });
    let server = ChatServer::start([Play::EmbedsSome(model)]);
    let cli = Cli::new();
    for number in 0..20 {
        cli.write(&format!("notes/{number}.txt"), format!("Mill {number}\n\nMill {number} was built by Ada Lorne."));
    }
    cli.configure(format!(
        "[model.embedder]\nurl = \"{}\"\ndimensions = 8\nquery_prefix = \"query: \"\npassage_prefix = \"passage: \"",
        server.url
    ));
    let report = cli.json(&["index", "notes", "--embedder", "server:e5"]);
    assert_eq!(
        (&report["vectors"]["left"], report["vectors"]["made"].as_u64() > Some(20)),
        (&json!(0), true),
        "{report}"
    );
    let sent = |from: usize| server.asked()[from..].iter().map(|it| it.body["input"].clone()).collect::<Vec<Value>>();
    let all = sent(1);
    assert!(all.iter().flat_map(|it| it.as_array().unwrap()).all(|it| it.as_str().unwrap().starts_with("passage: ")));
    assert!(server.asked().iter().all(|it| it.body["dimensions"] == 8));
    // This is found out once, also for other processes.
    let file = std::fs::read_to_string(cli.folder().join(".cache/cairn/servers.json")).unwrap();
    let texts_max = file.split("\"texts_max\": ").nth(1).unwrap().split(',').next().unwrap();
    assert!((5..=TEXTS_MAX).contains(&texts_max.parse().unwrap()), "{file}");
    for number in 20..60 {
        cli.write(&format!("notes/{number}.txt"), format!("Mill {number}\n\nMill {number} was built by Ann Orr."));
    }
    let before = server.asked().len();
    let report = cli.json(&["index", "notes"]);
    assert_eq!(report["vectors"]["left"], 0);
    assert!(sent(before).iter().all(|it| it.as_array().unwrap().len() <= TEXTS_MAX));
    // The index knows the prefix of questions.
    cli.configure(format!("[model]\nconfirmed = [\"{0}\"]\nembedder_url = \"{0}\"", server.url));
    let before = server.asked().len();
    cli.run(["search", "Who built Mill 3?", "--strategy", "dense"]).succeeded();
    assert_eq!(sent(before), [json!(["query: Who built Mill 3?"])]);
}
