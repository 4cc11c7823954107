//! A model behind a server that speaks as `OpenAI`'s.

use std::sync::Arc;
use std::time::Duration;

use async_openai::Client;
use async_openai::config::Config;
use async_openai::error::OpenAIError;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::SecretString;

use super::endpoint::Endpoint;
use super::exchange::{Exchange, reason};
use super::reply::ChatReply;
use super::request::ChatRequest;
use super::wire::{WireReply, WireRequest};
use super::{ChatModel, Replying};
use crate::domain::ChatError;
use crate::error::{Error, Result};

/// Time for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// The header that names the organization that is charged.
const ORGANIZATION: &str = "openai-organization";

/// A model behind a server that speaks as `OpenAI`'s. It sends each request once: redirects are not followed, no proxy
/// is used, and trying again is up to [`Retrying`](super::Retrying).
pub struct OpenAiModel {
    name: String,
    endpoint: Arc<Endpoint>,
    client: Client<Address>,
}

/// What the client's library asks for: nothing is read from the environment, and nothing that is secret is shown.
#[derive(Clone)]
struct Address {
    url: String,
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
        Vec::new()
    }

    fn api_base(&self) -> &str {
        &self.url
    }

    fn api_key(&self) -> &SecretString {
        &self.none
    }
}

impl OpenAiModel {
    /// Returns the model at an endpoint. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`Error::Chat`] with [`ChatError::Address`] if address, key or headers have a form that cannot be sent.
    pub fn new(endpoint: Endpoint) -> Result<Self> {
        let name = endpoint.name();
        Self::build(endpoint).map_err(|source| Error::Chat { model: name, source })
    }

    fn build(endpoint: Endpoint) -> Result<Self, ChatError> {
        let url = checked_url(&endpoint)?;
        // Only a second provider of cryptography is refused, and it is the same.
        let _already_set = rustls::crypto::ring::default_provider().install_default();
        let builder =
            reqwest::Client::builder().connect_timeout(CONNECT).redirect(reqwest::redirect::Policy::none()).no_proxy();
        // Without encryption no certificates are needed, and there may be none.
        let builder = if url.scheme() == "http" { builder.tls_certs_only([]) } else { builder };
        let http = builder.build().map_err(|error| ChatError::Address { reason: reason(error) })?;
        let address =
            Address { url: endpoint.url.clone(), headers: headers(&endpoint)?, none: SecretString::default() };
        let endpoint = Arc::new(endpoint);
        let exchange = Exchange { client: http.clone(), endpoint: Arc::clone(&endpoint) };
        let client = Client::build(http, address).with_http_service(exchange);
        Ok(Self { name: endpoint.name(), endpoint, client })
    }

    async fn call(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let endpoint = &self.endpoint;
        let wire = WireRequest::of(request, &endpoint.model, endpoint.form, endpoint.tokens_field());
        let replied = tokio::time::timeout(endpoint.timeout, self.client.chat().create_byot(wire)).await;
        let limit_ms = endpoint.timeout.as_millis() as u64;
        let replied: Result<WireReply, OpenAIError> = replied.map_err(|_| ChatError::Timeout { limit_ms })?;
        replied.map_err(fault)?.into_reply(request, &endpoint.model)
    }
}

impl ChatModel for OpenAiModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(self.call(request))
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
    let Ok(url) = reqwest::Url::parse(&endpoint.url) else { return refused("its address is no URL") };
    match url.scheme() {
        _ if !url.username().is_empty() || url.password().is_some() => {
            refused("a user or password does not belong into an address: other programs could see it")
        }
        "http" | "https" if url.query().is_none() && url.fragment().is_none() => Ok(url),
        "http" | "https" => refused("its address has more than a path"),
        _ => refused("the scheme of its address is neither http nor https"),
    }
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
        headers.insert(AUTHORIZATION, value("authorization", &format!("Bearer {key}"))?);
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
        let refused = OpenAiModel::new(endpoint).err().expect("refused");
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
        assert!(OpenAiModel::new(Endpoint::at("https://host/v1", "m")).is_ok());
    }
}
