//! A server that plays faults, and the client with its layers on each of them.

use std::net::TcpListener;
use std::sync::Arc;

use cairn::domain::ChatError;
use cairn::llm::{
    ChatModel, ChatReply, ChatRequest, Layers, Message, OpenAiModel, Purpose, ReplyForm, Speaker, layered,
};

use super::{ATTEMPTS, check_faults, played};
use crate::support::block_on;
use crate::support::chat::{ChatServer, Play, said};

fn model(url: &str) -> Arc<dyn ChatModel> {
    let (endpoint, retries) = played(url);
    layered(Arc::new(OpenAiModel::new(endpoint).unwrap()), Layers { retries, ..Layers::default() })
}

fn ask(url: &str) -> Result<ChatReply, ChatError> {
    let request = ChatRequest {
        purpose: Purpose::Answer,
        messages: vec![Message { speaker: Speaker::User, text: "Who?".to_owned() }],
        form: ReplyForm::Text,
        temperature: Some(0.0),
        output_tokens_max: 100,
        listener: None,
        is_afresh: false,
        shown: Vec::new(),
        step: 0,
    };
    let model = model(url);
    block_on(async move { model.reply(&request).await })
}

#[test]
fn every_fault_has_its_type_ends_in_time_and_is_tried_again_only_where_it_cost_nothing() {
    let responds = |status, headers, body: &str| Play::Responds(status, headers, body.to_owned());
    let error = r#"{"error": {"message": "as played", "type": "x", "code": 7}}"#;
    let whole = said("A.");
    let cases = [
        (responds(429, "", error), "rate_limited", ATTEMPTS),
        (responds(429, "Retry-After: 0\r\n", error), "rate_limited", ATTEMPTS),
        // Longer than anybody waits.
        (responds(429, "Retry-After: 90\r\n", error), "rate_limited", 1),
        (responds(500, "", "<html>down</html>"), "server", ATTEMPTS),
        (responds(503, "Retry-After: 0\r\n", ""), "server", ATTEMPTS),
        (responds(501, "", error), "request", 1),
        (responds(401, "", error), "key", 1),
        (responds(404, "", error), "request", 1),
        (responds(400, "", r#"{"detail": "too long"}"#), "request", 1),
        (responds(200, "", &whole[..whole.len() / 2]), "malformed", 1),
        (responds(200, "", &format!("{whole}{whole}")), "malformed", 1),
        (responds(200, "", "<html>a portal</html>"), "malformed", 1),
        (responds(200, "", r#"{"choices": []}"#), "malformed", 1),
        (responds(200, "", r#"{"choices": "none"}"#), "malformed", 1),
        (responds(200, "", ""), "malformed", 1),
        (Play::Bytes(10 << 20), "too_large", 1),
        (Play::BreaksOff, "interrupted", 1),
        (Play::Closes, "interrupted", 1),
        (Play::Drips, "timeout", 1),
        (Play::Silent, "timeout", 1),
    ];
    check_faults(cases, |url| ask(url).unwrap_err());
}

#[test]
fn what_a_server_says_of_a_fault_is_repeated_and_bounded() {
    let server = ChatServer::start([Play::Responds(404, "", r#"{"error": {"message": "no such model"}}"#.to_owned())]);
    assert_eq!(ask(&server.url), Err(ChatError::Request { status: 404, message: "no such model".to_owned() }));
    let server = ChatServer::start([Play::Responds(400, "", "a\u{1b}[31m\n".repeat(10_000))]);
    let Err(ChatError::Request { message: said, .. }) = ask(&server.url) else { panic!("refused") };
    assert!(said.chars().count() <= 300 && !said.contains(char::is_control), "{said}");
}

#[test]
fn a_temporary_fault_is_waited_out_and_the_reply_counts_once() {
    let busy = Play::Responds(503, "", String::new());
    let server = ChatServer::start([busy.clone(), busy, Play::Says("A.".to_owned())]);
    let reply = ask(&server.url).unwrap();
    assert_eq!((reply.text.as_str(), reply.model.as_str(), reply.usage.tokens()), ("A.", "played-1", 340));
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn a_server_that_is_not_there_or_leads_elsewhere_is_not_followed() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(matches!(ask(&format!("http://{closed}/v1")), Err(ChatError::Unreachable { .. })));

    let other = ChatServer::start([Play::Says("A.".to_owned())]);
    let location: &'static str = format!("Location: {}/chat/completions\r\n", other.url).leak();
    let server = ChatServer::start([Play::Responds(307, location, String::new())]);
    assert!(matches!(ask(&server.url), Err(ChatError::Request { status: 307, .. })));
    assert_eq!(other.asked().len(), 0);
}

#[test]
fn a_request_says_what_was_asked_for_and_nothing_else() {
    let server = ChatServer::start([Play::Says("A.".to_owned())]);
    ask(&server.url).unwrap();
    let [asked] = server.asked().try_into().unwrap();
    assert!(asked.head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{}", asked.head);
    assert!(!asked.head.to_ascii_lowercase().contains("authorization"), "{}", asked.head);
    let expect = serde_json::json!({
        "model": "played", "messages": [{ "role": "user", "content": "Who?" }], "stream": false,
        "temperature": 0.0, "max_tokens": 100,
    });
    assert_eq!(asked.body, expect);
}
