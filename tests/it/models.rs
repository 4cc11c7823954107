//! Language models: every fault of a server has its type, ends in time and is not paid for twice; and what the program
//! does with a model's replies.

mod asking;
mod bounds;
mod budgets;
mod cache;
mod calibrating;
mod citations;
mod cuts;
mod describing;
mod embedders;
mod extracting;
mod faults;
mod gateways;
pub(crate) mod generating;
mod hostile;
mod judging;
mod killed;
mod live;
mod parts;
mod picking;
mod probing;
mod reasoning;
mod recordings;
mod reporting;
mod reranking;
mod secrets;
mod separate;
mod spending;
mod streaming;
mod strict;
mod summarizing;
mod table;
mod thinking;
mod tls;
mod triples;
mod useless;
mod web;

use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn::QueryEngine;
use cairn::domain::ChatError;
use cairn::llm::{ChatModel, CircuitBreakerOptions, Endpoint, Layers, OpenAiModel, Retries, layered};

use crate::support::chat::{ChatServer, Play, said};

/// Time for a call: every fault ends within it, except for retries.
const TIMEOUT: Duration = Duration::from_millis(1_500);
const ATTEMPTS: u32 = 3;

/// Returns the model `played` of a server, and how often it is retried.
fn played(url: &str) -> (Endpoint, Retries) {
    let retries = Retries { attempts_max: ATTEMPTS, wait_first: Duration::from_millis(1), ..Retries::default() };
    (Endpoint { timeout: TIMEOUT, ..Endpoint::at(url, "played") }, retries)
}

/// What a server can do wrong, whatever the skill.
fn faults() -> Vec<Play> {
    let responds = |status, headers, body: &str| Play::Responds(status, headers, body.to_owned());
    let whole = said("{\"necessary\": [");
    vec![
        responds(429, "", "{}"),
        responds(429, "Retry-After: 90\r\n", "{}"),
        responds(500, "", "<html>down</html>"),
        responds(503, "Retry-After: 0\r\n", ""),
        responds(200, "", "{\"choices\": []}"),
        responds(200, "", "<html>a portal</html>"),
        responds(200, "", ""),
        responds(200, "", &whole[..whole.len() / 2]),
        responds(200, "", &format!("{whole}{whole}")),
        responds(200, "", &whole.replace("\"stop\"", "\"content_filter\"")),
        responds(200, "", &whole.replace("\"stop\"", "\"length\"")),
        Play::Bytes(10 << 20),
        Play::BreaksOff,
        Play::Closes,
        Play::Says(String::new()),
        Play::Says("Passage 2, and step 3.".to_owned()),
        Play::Says("{\"answer\": 2}".to_owned()),
        Play::Says("[1]".to_owned()),
    ]
}

/// Returns an engine with the model of a server and little time.
fn served(engine: &QueryEngine, server: &ChatServer) -> QueryEngine {
    let (endpoint, retries) = played(&server.url);
    let model: Arc<dyn ChatModel> = Arc::new(OpenAiModel::new(endpoint).unwrap());
    // Here, unusable replies must not stop further requests.
    let circuit = CircuitBreakerOptions { useless_max: u32::MAX, ..CircuitBreakerOptions::default() };
    engine.with_model(layered(model, Layers { retries, circuit, ..Layers::default() }))
}

/// Plays each fault to `ask`, which returns the resulting error: it must be of the expected kind, after the expected
/// number of calls.
#[track_caller]
fn check_faults<const N: usize>(cases: [(Play, &str, u32); N], ask: impl Fn(&str) -> ChatError) {
    for (play, kind, attempts) in cases {
        let shown = format!("{play:?}").chars().take(200).collect::<String>();
        let server = ChatServer::start([play]);
        let began = Instant::now();
        let fault = ask(&server.url);
        assert_eq!(fault.kind_name(), kind, "{shown}: {fault}");
        assert_eq!(server.asked().len(), attempts as usize, "{shown}: {fault}");
        // Far more than the time for a call, since other tests run concurrently.
        assert!(began.elapsed() < TIMEOUT * 10, "{shown}: {:?}", began.elapsed());
        assert!(!fault.to_string().contains("127.0.0.1"), "{fault}");
    }
}
