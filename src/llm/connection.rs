//! The connection to a server with an `OpenAI`-compatible API: its address, the fields sent with every request, and the
//! client.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_openai::Client;
use async_openai::config::Config;
use async_openai::error::OpenAIError;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, Proxy};
use secrecy::SecretString;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep_until};

use super::endpoint::{Endpoint, Preset};
use super::exchange::{Exchange, Expected, reason};
use super::in_flight::CallsInFlight;
use super::request::Listener;
use crate::domain::{ChatError, RedactedPieces, Redactor};

/// Time for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// The header that names the organization that is charged.
const ORGANIZATION: &str = "openai-organization";

/// The header that Azure takes a key in.
const API_KEY: &str = "api-key";

/// A connection to a server. It sends each request once: redirects are not followed, and only a configured proxy is
/// used.
///
/// Secrets do not come back through it: every message of a server passes [`Connection::redacted`],
/// [`Connection::timed`] or a [`Hearing`] before anything keeps or shows it.
pub(super) struct Connection {
    pub(super) endpoint: Endpoint,
    redactor: Arc<Redactor>,
    client: Client<Address>,
    exchange: Exchange,
    in_flight: CallsInFlight,
}

/// The configuration for the client library: nothing is read from the environment, and no secret is shown.
#[derive(Clone)]
pub(super) struct Address {
    url: String,
    api_version: Option<String>,
    headers: HeaderMap,
    /// The key goes into a header.
    none: SecretString,
}

impl Config for Address {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        self.api_version.iter().map(|version| ("api-version", version.as_str())).collect()
    }

    fn api_base(&self) -> &str {
        &self.url
    }

    fn api_key(&self) -> &SecretString {
        &self.none
    }
}

impl Connection {
    /// Returns the connection to an endpoint whose responses are `expected`. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`ChatError::Address`] if address, key or headers have a form that cannot be sent.
    pub(super) fn new(endpoint: Endpoint, expected: Expected) -> Result<Self, ChatError> {
        let url = checked_url(&endpoint)?;
        // Only a second provider of cryptography is refused, and it is the same.
        let _already_set = rustls::crypto::ring::default_provider().install_default();
        let builder =
            reqwest::Client::builder().connect_timeout(CONNECT).redirect(reqwest::redirect::Policy::none()).no_proxy();
        let proxy = proxy(&endpoint)?;
        // Without encryption no certificates are needed, and there may be none.
        let is_plain = url.scheme() == "http" && proxy.is_none();
        let builder =
            if is_plain { builder.tls_certs_only([]) } else { builder.tls_certs_merge(certificates(&endpoint)?) };
        let builder = proxy.into_iter().fold(builder, reqwest::ClientBuilder::proxy);
        let http = builder.build().map_err(|error| ChatError::Address { reason: reason(error) })?;
        let address = Address {
            url: endpoint.base(),
            api_version: endpoint.api_version.clone(),
            headers: headers(&endpoint)?,
            none: SecretString::default(),
        };
        let redactor = Arc::new(endpoint.redactor());
        let exchange = Exchange { client: http.clone(), redactor: Arc::clone(&redactor), expected, listener: None };
        let client = Client::build(http, address).with_http_service(exchange.clone());
        Ok(Self { endpoint, redactor, client, exchange, in_flight: CallsInFlight::default() })
    }

    /// Returns the client's library, to make calls; `listener` hears replies that come in pieces.
    pub(super) fn client(&self, listener: Option<&Listener>) -> Client<Address> {
        let client = self.client.clone();
        match listener {
            None => client,
            Some(listener) => {
                let exchange = Exchange { listener: Some(listener.clone()), ..self.exchange.clone() };
                client.with_http_service(exchange)
            }
        }
    }

    /// Posts JSON to a path under the address, for which the client's library has no method, and returns the response.
    pub(super) async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, ChatError> {
        let unsendable = |reason: String| ChatError::Address { reason };
        let body = serde_json::to_vec(body).map_err(|error| unsendable(error.to_string()))?;
        let address = self.client.config();
        let request = self.exchange.client.post(address.url(path)).headers(address.headers());
        let request = request.header(CONTENT_TYPE, "application/json").body(body).build();
        self.fetched(request.map_err(|error| unsendable(reason(error)))?).await
    }

    /// Gets JSON from a path under the address, with these values behind it, and returns the response.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str, values: &[(&str, &str)]) -> Result<T, ChatError> {
        let unsendable = |reason: String| ChatError::Address { reason };
        let address = self.client.config();
        let mut url = reqwest::Url::parse(&address.url(path)).map_err(|error| unsendable(error.to_string()))?;
        url.query_pairs_mut().extend_pairs(values);
        let request = self.exchange.client.get(url).headers(address.headers()).header(ACCEPT, "application/json");
        self.fetched(request.build().map_err(|error| unsendable(reason(error)))?).await
    }

    /// Sends a request, and returns the response.
    async fn fetched<T: DeserializeOwned>(&self, request: reqwest::Request) -> Result<T, ChatError> {
        let call = async {
            let response = self.exchange.sent(request).await.map_err(|fault| OpenAIError::Boxed(Box::new(fault)))?;
            response.bytes().await.map_err(OpenAIError::Reqwest)
        };
        let body = self.timed(call).await?;
        serde_json::from_slice(&body).map_err(|error| ChatError::Malformed { reason: error.to_string() })
    }

    /// Returns a server's message without secrets.
    pub(super) fn redacted(&self, said: String) -> String {
        self.redactor.redacted(said)
    }

    /// Returns who hears the pieces of a reply in the place of `listener`, which is told no secret.
    pub(super) fn hearing(&self, listener: &Listener) -> Hearing {
        Hearing { pieces: Arc::new(Mutex::new(self.redactor.pieces())), listener: listener.clone() }
    }

    /// Waits for a response within the timeout of a call, and returns the fault if there is none. The timeout starts
    /// when the last earlier call was answered: a server that takes one at a time serves it only then.
    pub(super) async fn timed<T>(
        &self,
        call: impl Future<Output = Result<T, OpenAIError>> + Send,
    ) -> Result<T, ChatError> {
        let limit = self.endpoint.timeout;
        let (in_flight, mut call) = (self.in_flight.begin(), pin!(call));
        let mut deadline = Instant::now() + limit;
        loop {
            tokio::select! {
                replied = &mut call => {
                    if replied.is_ok() {
                        in_flight.answered();
                    }
                    return replied.map_err(|error| fault(error).with_texts(|text| self.redacted(text)));
                }
                () = in_flight.moved_on() => deadline = Instant::now() + limit,
                () = sleep_until(deadline) => return Err(ChatError::Timeout { limit_ms: limit.as_millis() as u64 }),
            }
        }
    }
}

/// Passes on the pieces of a reply without secrets, even if these are split over several.
pub(super) struct Hearing {
    pieces: Arc<Mutex<RedactedPieces>>,
    listener: Listener,
}

impl Hearing {
    /// Returns who is told each piece as it comes.
    pub(super) fn listener(&self) -> Listener {
        let (pieces, listener) = (Arc::clone(&self.pieces), self.listener.clone());
        Listener::new(move |piece| {
            let told = pieces.lock().unwrap_or_else(PoisonError::into_inner).take(piece);
            if !told.is_empty() {
                listener.tell(&told);
            }
        })
    }

    /// Tells what was held back, once the reply is whole.
    pub(super) fn end(self) {
        let told = self.pieces.lock().unwrap_or_else(PoisonError::into_inner).end();
        if !told.is_empty() {
            self.listener.tell(&told);
        }
    }
}

/// Returns the fault behind an error of the client's library: our own, unless the library has one that it never should.
fn fault(error: OpenAIError) -> ChatError {
    match error {
        OpenAIError::Boxed(source) => match source.downcast::<ChatError>() {
            Ok(fault) => *fault,
            Err(other) => ChatError::Malformed { reason: other.to_string() },
        },
        OpenAIError::Reqwest(error) => ChatError::Interrupted { reason: error.without_url().to_string() },
        // It may hold the reply: only its kind is said.
        OpenAIError::JSONDeserialize(error, _) => ChatError::Malformed { reason: error.to_string() },
        _ => ChatError::Malformed { reason: "the client's library does not take it".to_owned() },
    }
}

fn checked_url(endpoint: &Endpoint) -> Result<reqwest::Url, ChatError> {
    let refused = |reason: &str| Err(ChatError::Address { reason: reason.to_owned() });
    let Ok(url) = reqwest::Url::parse(&endpoint.url) else { return refused("its address is not a URL") };
    match url.scheme() {
        _ if !url.username().is_empty() || url.password().is_some() => {
            refused("a user or password does not belong into an address: other programs could see it")
        }
        _ if endpoint.api_version.is_some() && endpoint.model.contains(|it: char| !is_of_path(it)) => {
            refused("the name of the model cannot be part of an address")
        }
        "http" | "https" if url.query().is_none() && url.fragment().is_none() => Ok(url),
        "http" | "https" => refused("its address has more than a path"),
        _ => refused("the scheme of its address is neither http nor https"),
    }
}

const fn is_of_path(it: char) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.')
}

fn proxy(endpoint: &Endpoint) -> Result<Option<Proxy>, ChatError> {
    // Its address may hold a password, so that it is not repeated.
    let refused = |_| ChatError::Address { reason: "the address of its proxy is none".to_owned() };
    endpoint.proxy.as_ref().map(|proxy| Proxy::all(proxy.text()).map_err(refused)).transpose()
}

fn certificates(endpoint: &Endpoint) -> Result<Vec<Certificate>, ChatError> {
    let Some(pem) = &endpoint.certificates else { return Ok(Vec::new()) };
    let refused = |reason: String| ChatError::Address { reason: format!("the file of certificates: {reason}") };
    let read = Certificate::from_pem_bundle(pem).map_err(|error| refused(error.to_string()))?;
    if read.is_empty() { Err(refused("it has none in PEM".to_owned())) } else { Ok(read) }
}

fn headers(endpoint: &Endpoint) -> Result<HeaderMap, ChatError> {
    let refused = |name: &str| ChatError::Address { reason: format!("the header `{name}` cannot be sent") };
    let value = |name: &str, text: &str| {
        let mut value = HeaderValue::from_str(text).map_err(|_| refused(name))?;
        value.set_sensitive(true);
        Ok(value)
    };
    let mut headers = HeaderMap::new();
    let key = endpoint.key.text();
    if !key.is_empty() {
        match endpoint.preset {
            Some(Preset::Azure) => headers.insert(API_KEY, value(API_KEY, key)?),
            _ => headers.insert(AUTHORIZATION, value("authorization", &format!("Bearer {key}"))?),
        };
    }
    if let Some(organization) = &endpoint.organization {
        headers.insert(ORGANIZATION, value(ORGANIZATION, organization)?);
    }
    for (name, text) in &endpoint.headers {
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused(name))?;
        headers.insert(header, value(name, text.text())?);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Secret;

    fn refusal(endpoint: Endpoint) -> String {
        let refused = Connection::new(endpoint, Expected::reply()).err().expect("refused");
        format!("{refused:?}")
    }

    #[test]
    fn what_cannot_be_sent_is_refused_before_anything_is_and_no_secret_is_repeated() {
        for url in ["", "localhost:8000", "ftp://host/v1", "http://ann:hush@host/v1", "http://host/v1?key=hush"] {
            let said = refusal(Endpoint::at(url, "m"));
            assert!(said.contains("Address") && !said.contains("hush"), "{url}: {said}");
        }
        let said = refusal(Endpoint { key: Secret::new("hush\n"), ..Endpoint::at("http://host/v1", "m") });
        assert!(said.contains("authorization") && !said.contains("hush"), "{said}");
        let headers = vec![("a b".to_owned(), Secret::new("hush"))];
        let said = refusal(Endpoint { headers, ..Endpoint::at("http://host/v1", "m") });
        assert!(said.contains("a b") && !said.contains("hush"), "{said}");
        assert!(Connection::new(Endpoint::at("https://host/v1", "m"), Expected::reply()).is_ok());
    }
}
