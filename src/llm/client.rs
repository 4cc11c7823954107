//! A model behind a server with an `OpenAI`-compatible API.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::adapted::Attempts;
use super::connection::{Connection, Hearing};
use super::endpoint::Endpoint;
use super::exchange::Expected;
use super::reply::ChatReply;
use super::request::ChatRequest;
use super::wire::WireReply;
use super::{ChatModel, Replying};
use crate::domain::ChatError;
use crate::error::{Error, Result};

/// The listener for fields that a server rejects.
type Learnt = Arc<dyn Fn(&Endpoint) + Send + Sync>;

/// A model behind a server with an `OpenAI`-compatible API. It sends each request once: redirects are not followed, and
/// trying again is up to [`Guarded`](super::Guarded). Only a request that the server refuses for a field that it does
/// not take, as some models refuse a temperature, goes out again without it, and so do all later ones.
pub struct OpenAiModel {
    name: String,
    kept_as: String,
    connection: Connection,
    /// As the server is spoken to.
    adapted: Mutex<Endpoint>,
    learnt: Option<Learnt>,
}

impl OpenAiModel {
    /// Returns the model at an endpoint. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`Error::Chat`] with [`ChatError::Address`] if address, key or headers have a form that cannot be sent.
    pub fn new(endpoint: Endpoint) -> Result<Self> {
        let (name, kept_as) = (endpoint.name(), endpoint.kept_as());
        let adapted = Mutex::new(endpoint.clone());
        match Connection::new(endpoint, Expected::reply()) {
            Ok(connection) => Ok(Self { name, kept_as, connection, adapted, learnt: None }),
            Err(source) => Err(Error::Chat { model: name, source }),
        }
    }

    /// Returns it with a listener that remembers the fields that its server rejects.
    #[must_use]
    pub fn remembering(self, learnt: impl Fn(&Endpoint) + Send + Sync + 'static) -> Self {
        Self { learnt: Some(Arc::new(learnt)), ..self }
    }

    /// Returns the effective endpoint, without the fields that the server rejects.
    pub(super) fn endpoint(&self) -> Endpoint {
        self.adapted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn call(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let usual = self.endpoint();
        let mut attempts = Attempts::new(request, usual.clone());
        loop {
            match self.send(request, &attempts.body, &attempts.endpoint).await {
                Ok(reply) => {
                    if attempts.endpoint != usual {
                        self.adopt(&attempts.endpoint, &usual);
                    }
                    return Ok(reply);
                }
                Err(refusal) if attempts.leave_out(&refusal) => {}
                Err(fault) => return Err(fault),
            }
        }
    }

    /// Leaves out from now on the fields that an endpoint lacks, and those that other calls found in the meantime.
    fn adopt(&self, found: &Endpoint, usual: &Endpoint) {
        tracing::info!(model = self.name, "the server refuses part of a request, which is left out from now on");
        let mut adapted = self.adapted.lock().unwrap_or_else(PoisonError::into_inner);
        *adapted = adapted.clone().without(found, usual);
        if let Some(learnt) = &self.learnt {
            learnt(&adapted);
        }
    }

    async fn send(&self, request: &ChatRequest, body: &Value, endpoint: &Endpoint) -> Result<ChatReply, ChatError> {
        let hearing = request.listener.as_ref().filter(|_| endpoint.streams);
        let hearing = hearing.map(|listener| self.connection.hearing(listener));
        let client = self.connection.client(hearing.as_ref().map(Hearing::listener).as_ref());
        let reply: WireReply = self.connection.timed(client.chat().create_byot(body)).await?;
        if let Some(hearing) = hearing {
            hearing.end();
        }
        let reply = reply.into_reply(request, &endpoint.model)?;
        let redacted = |said| self.connection.redacted(said);
        Ok(ChatReply { text: redacted(reply.text), model: redacted(reply.model), ..reply })
    }
}

impl ChatModel for OpenAiModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn kept_as(&self) -> &str {
        &self.kept_as
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(self.call(request))
    }
}
