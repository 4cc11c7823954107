//! A model behind a server that speaks as `OpenAI`'s.

use super::connection::{Connection, Hearing};
use super::endpoint::Endpoint;
use super::exchange::Expected;
use super::reply::ChatReply;
use super::request::ChatRequest;
use super::wire::{self, WireReply};
use super::{ChatModel, Replying};
use crate::domain::ChatError;
use crate::error::{Error, Result};

/// A model behind a server that speaks as `OpenAI`'s. It sends each request once: redirects are not followed,
/// and trying again is up to [`Guarded`](super::Guarded).
pub struct OpenAiModel {
    name: String,
    kept_as: String,
    connection: Connection,
}

impl OpenAiModel {
    /// Returns the model at an endpoint. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`Error::Chat`] with [`ChatError::Address`] if address, key or headers have a form that cannot be sent.
    pub fn new(endpoint: Endpoint) -> Result<Self> {
        let (name, kept_as) = (endpoint.name(), endpoint.kept_as());
        match Connection::new(endpoint, Expected::reply()) {
            Ok(connection) => Ok(Self { name, kept_as, connection }),
            Err(source) => Err(Error::Chat { model: name, source }),
        }
    }

    async fn call(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let endpoint = &self.connection.endpoint;
        let wire = wire::request(request, endpoint);
        let hearing = request.listener.as_ref().filter(|_| endpoint.streams);
        let hearing = hearing.map(|listener| self.connection.hearing(listener));
        let client = self.connection.client(hearing.as_ref().map(Hearing::listener).as_ref());
        let reply: WireReply = self.connection.timed(client.chat().create_byot(wire)).await?;
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
