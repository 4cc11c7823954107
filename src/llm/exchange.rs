//! One HTTP request and its response, on behalf of the client library. The status is checked before the body is read,
//! the body is bounded and read here, and every failure gets its type: the library itself would retry three times, lose
//! the status of errors with an unusual body, and log bodies that it cannot parse.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, Request, Response, StatusCode};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use tower_service::Service;

use super::embeddings::WireVectors;
use super::pieces::Pieces;
use super::request::Listener;
use super::rerank::WireScores;
use super::web_search::WireResults;
use super::wire::WireReply;
use crate::domain::{ChatError, Redactor};

/// Bytes of a reply.
const REPLY_BYTES_MAX: usize = 4 << 20;
/// Bytes of the vectors of one call: those of many texts, each value in up to two dozen digits.
const VECTORS_BYTES_MAX: usize = 32 << 20;
/// Bytes of the scores of one call: servers may send the texts back.
const SCORES_BYTES_MAX: usize = 8 << 20;
/// Bytes of the results of one web search.
const RESULTS_BYTES_MAX: usize = 1 << 20;
/// Characters of what a server says that are repeated.
const SAID_CHARS_MAX: usize = 300;
/// How long more is waited for once a reply is whole: counts of a stream, and the end of the connection.
const AFTERWARDS: Duration = Duration::from_secs(2);
/// How often a body that is still coming is looked at, whether it is whole.
const LOOKS_MAX: u32 = 64;
/// The longest wait that a server is believed to ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_hours(1);

/// What a good response is.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    bytes_max: usize,
    check: fn(&[u8]) -> serde_json::Result<()>,
}

impl Expected {
    /// Returns that it is the reply of a model.
    pub(super) fn reply() -> Self {
        Self { bytes_max: REPLY_BYTES_MAX, check: checked::<WireReply> }
    }

    /// Returns that it is vectors.
    pub(super) fn vectors() -> Self {
        Self { bytes_max: VECTORS_BYTES_MAX, check: checked::<WireVectors> }
    }

    /// Returns that it is scores.
    pub(super) fn scores() -> Self {
        Self { bytes_max: SCORES_BYTES_MAX, check: checked::<WireScores> }
    }

    /// Returns that it is results of a web search.
    pub(super) fn web_results() -> Self {
        Self { bytes_max: RESULTS_BYTES_MAX, check: checked::<WireResults> }
    }
}

fn checked<T: DeserializeOwned>(body: &[u8]) -> serde_json::Result<()> {
    serde_json::from_slice::<T>(body).map(drop)
}

/// Sends requests, and returns responses that are known to be what is expected.
#[derive(Clone)]
pub(super) struct Exchange {
    pub(super) client: Client,
    pub(super) redactor: Arc<Redactor>,
    pub(super) expected: Expected,
    /// Who hears a reply that comes in pieces.
    pub(super) listener: Option<Listener>,
}

impl Service<HttpRequestFactory> for Exchange {
    type Response = Response;
    type Error = OpenAIError;
    type Future = Pin<Box<dyn Future<Output = Result<Response, OpenAIError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OpenAIError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        let exchange = self.clone();
        Box::pin(async move { exchange.exchange(factory).await.map_err(|error| OpenAIError::Boxed(Box::new(error))) })
    }
}

impl Exchange {
    async fn exchange(&self, factory: HttpRequestFactory) -> Result<Response, ChatError> {
        let unsendable = |reason: String| ChatError::Address { reason };
        let request = factory.build().await.map_err(|error| unsendable(error.to_string()))?;
        self.sent(request).await
    }

    /// Sends a request, and returns the response once it is known to be what is expected.
    pub(super) async fn sent(&self, request: Request) -> Result<Response, ChatError> {
        let sent = self.client.execute(request).await;
        let mut response = sent.map_err(|error| self.not_sent(error))?;
        let status = response.status();
        let bytes_max = self.expected.bytes_max;
        if !status.is_success() {
            let body = body(&mut response, bytes_max).await;
            // What came before it broke or grew too long says enough.
            let (Ok(body) | Err((body, _))) = body;
            return Err(self.refusal(status, response.headers(), &body));
        }
        let body = match self.listener.as_ref().filter(|_| is_in_pieces(response.headers())) {
            Some(listener) => pieces(&mut response, bytes_max, listener).await?,
            None => match self.whole_body(&mut response).await {
                Ok(body) => body,
                // What broke after it was whole cost the same.
                Err((body, Broken::Connection(_))) if (self.expected.check)(&body).is_ok() => body,
                Err((_, broken)) => return Err(broken.fault(bytes_max)),
            },
        };
        if let Some(fault) = self.fault_within(&body, response.headers()) {
            return Err(fault);
        }
        let malformed = |reason: String| ChatError::Malformed { reason };
        (self.expected.check)(&body).map_err(|error| malformed(format!("it is no reply: {error}")))?;
        let checked = http::Response::builder().status(status).body(body);
        checked.map(Response::from).map_err(|error| malformed(error.to_string()))
    }

    fn not_sent(&self, error: reqwest::Error) -> ChatError {
        if error.is_builder() {
            return ChatError::Address { reason: reason(error) };
        }
        if error.is_connect() {
            return ChatError::Unreachable { reason: reason(error) };
        }
        // The server had the request, or part of it.
        ChatError::Interrupted { reason: reason(error) }
    }

    /// Reads a body up to its limit; one that is whole is not waited for any longer, though the connection stays open.
    async fn whole_body(&self, response: &mut Response) -> Result<Vec<u8>, (Vec<u8>, Broken)> {
        let (mut body, mut looks) = (Vec::new(), 0);
        loop {
            // What ends like a reply is looked at, some times.
            let may_be_whole = body.trim_ascii_end().ends_with(b"}") && looks < LOOKS_MAX;
            looks += u32::from(may_be_whole);
            let is_whole = may_be_whole && (self.expected.check)(&body).is_ok();
            match chunk(response, is_whole.then_some(AFTERWARDS)).await {
                Ok(None) => return Ok(body),
                Ok(Some(chunk)) if body.len() + chunk.as_ref().len() > self.expected.bytes_max => {
                    return Err((body, Broken::TooLarge));
                }
                Ok(Some(chunk)) => body.extend_from_slice(chunk.as_ref()),
                Err(error) => return Err((body, Broken::Connection(error))),
            }
        }
    }

    /// Returns the fault that a good status hides: some gateways say it in the body alone.
    fn fault_within(&self, body: &[u8], headers: &HeaderMap) -> Option<ChatError> {
        let faulty = serde_json::from_slice::<Faulty>(body).ok();
        // Gemini's are in a list.
        let faulty = faulty.or_else(|| serde_json::from_slice::<[Faulty; 1]>(body).ok().map(|[faulty]| faulty));
        let Faulty { error, choices: None, data: None } = faulty? else { return None };
        let error = error.filter(|error| !error.is_null())?;
        let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        let status = status.filter(|code| (400..600).contains(code)).and_then(|code| StatusCode::from_u16(code).ok());
        Some(match status {
            Some(status) => self.refusal(status, headers, body),
            None => ChatError::Malformed { reason: format!("the server says: {}", self.said(body)) },
        })
    }

    fn refusal(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ChatError {
        let said = self.said(body);
        let retry_after_ms = retry_after(headers).map(|wait| wait.as_millis() as u64);
        match status.as_u16() {
            status @ (401 | 403) => ChatError::Key { status, message: said },
            429 => ChatError::RateLimited { retry_after_ms, message: said },
            // It has no such thing, and will not have it later.
            501 => ChatError::Request { status: 501, message: said },
            // The server gave up waiting for the request, or will take it later.
            status @ (408 | 425 | 500..) => ChatError::Server { status, retry_after_ms, message: said },
            status => ChatError::Request { status, message: said },
        }
    }

    /// Returns what a server says about an error, on one line, without what is secret.
    fn said(&self, body: &[u8]) -> String {
        let text = String::from_utf8_lossy(body);
        let message = serde_json::from_str::<Value>(&text).ok().and_then(|value| {
            let value = value.get(0).unwrap_or(&value);
            let error = value.get("error").unwrap_or(value);
            let message = error.get("message").or_else(|| value.get("detail")).unwrap_or(error);
            message.as_str().map(str::to_owned)
        });
        // Whole, before it is cut: half a key is not found.
        let said = self.redactor.redacted(message.unwrap_or_else(|| text.into_owned()));
        let words = said.split(|it: char| it.is_whitespace() || it.is_control()).filter(|word| !word.is_empty());
        let said = words.collect::<Vec<_>>().join(" ");
        if said.is_empty() { "nothing".to_owned() } else { said.chars().take(SAID_CHARS_MAX).collect() }
    }
}

/// What may stand in the place of a reply.
#[derive(Deserialize)]
struct Faulty {
    error: Option<Value>,
    choices: Option<IgnoredAny>,
    data: Option<IgnoredAny>,
}

enum Broken {
    TooLarge,
    Connection(reqwest::Error),
}

impl Broken {
    fn fault(self, bytes_max: usize) -> ChatError {
        match self {
            Self::TooLarge => ChatError::TooLarge { bytes_max },
            Self::Connection(error) => ChatError::Interrupted { reason: reason(error) },
        }
    }
}

/// Returns whether a reply comes in pieces: a server may send it in one though it was asked for pieces.
fn is_in_pieces(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// Reads a reply that comes in pieces, up to a limit of bytes, and returns it in one.
async fn pieces(response: &mut Response, bytes_max: usize, listener: &Listener) -> Result<Vec<u8>, ChatError> {
    let (mut pieces, mut bytes) = (Pieces::default(), 0);
    while !pieces.is_done() {
        // All is said: only counts may follow.
        let patience = pieces.is_finished().then_some(AFTERWARDS);
        let chunk = match chunk(response, patience).await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => break,
            Err(_) if pieces.is_finished() => break,
            Err(error) => return Err(Broken::Connection(error).fault(bytes_max)),
        };
        bytes += chunk.as_ref().len();
        if bytes > bytes_max {
            return Err(Broken::TooLarge.fault(bytes_max));
        }
        pieces.take(chunk.as_ref(), listener)?;
    }
    pieces.end(listener);
    pieces.whole()
}

/// Returns the next bytes of a body; none at its end, or where nothing comes for as long as there is patience.
async fn chunk(response: &mut Response, patience: Option<Duration>) -> reqwest::Result<Option<impl AsRef<[u8]>>> {
    match patience {
        Some(patience) => tokio::time::timeout(patience, response.chunk()).await.unwrap_or(Ok(None)),
        None => response.chunk().await,
    }
}

/// Reads a body up to its limit; what was read is returned in any case.
async fn body(response: &mut Response, bytes_max: usize) -> Result<Vec<u8>, (Vec<u8>, Broken)> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(None) => return Ok(body),
            Ok(Some(chunk)) if body.len() + chunk.len() > bytes_max => return Err((body, Broken::TooLarge)),
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Err(error) => return Err((body, Broken::Connection(error))),
        }
    }
}

/// Returns what an error of the transport says, with its causes and without the address.
pub(super) fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut reason = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        reason = format!("{reason}: {cause}");
        source = cause.source();
    }
    reason
}

/// Returns how long a server asks to wait, in seconds or until a date: as its own clock says, where it gives the time.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok();
    let asked = text(RETRY_AFTER)?;
    let wait = if let Ok(seconds) = asked.trim().parse::<f64>() {
        Duration::try_from_secs_f64(seconds).ok()?
    } else {
        let now = text(DATE).and_then(time_of).unwrap_or_else(SystemTime::now);
        // What is over needs no wait.
        time_of(asked)?.duration_since(now).unwrap_or_default()
    };
    Some(wait.min(RETRY_AFTER_MAX))
}

/// Returns the time that a date of HTTP means.
fn time_of(date: &str) -> Option<SystemTime> {
    httpdate::parse_http_date(date.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_until_a_date_is_that_of_the_servers_clock() {
        let wait = |date: Option<&str>, until: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, until.parse().unwrap());
            date.map(|date| headers.insert(DATE, date.parse().unwrap()));
            retry_after(&headers)
        };
        let until = "Wed, 21 Oct 2026 07:28:00 GMT";
        assert_eq!(wait(Some("Wed, 21 Oct 2026 07:27:30 GMT"), until), Some(Duration::from_secs(30)));
        assert_eq!(wait(Some("Wed, 21 Oct 2026 07:28:30 GMT"), until), Some(Duration::ZERO));
        assert_eq!(wait(None, "Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        assert_eq!(wait(None, "Fri, 31 Dec 9999 23:59:59 GMT"), Some(RETRY_AFTER_MAX));
    }

    #[test]
    fn a_wait_is_read_in_seconds_and_bounded() {
        let wait = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, value.parse().unwrap());
            retry_after(&headers)
        };
        assert_eq!(wait("2"), Some(Duration::from_secs(2)));
        assert_eq!(wait(" 0.5 "), Some(Duration::from_millis(500)));
        assert_eq!(wait("99999999"), Some(RETRY_AFTER_MAX));
        for none in ["-1", "soon", "NaN", "Wed, 21 Oct 2026"] {
            assert_eq!(wait(none), None, "{none}");
        }
    }
}
