//! Vectors from a server with an `OpenAI`-compatible API: one call for a batch of texts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::connection::Connection;
use super::endpoint::Endpoint;
use super::exchange::Expected;
use super::wire::{self, BYTES_PER_TOKEN_MAX, lenient};
use crate::domain::{ChatError, EmbeddingError};

/// A model behind a server that turns texts into vectors.
pub(crate) struct EmbeddingsServer {
    connection: Connection,
}

/// Vectors as received, one per text, in order.
pub(crate) struct RawVectors {
    pub(crate) vectors: Vec<Vec<f32>>,
    /// Tokens that the server read, if reported.
    pub(crate) tokens: Option<u64>,
}

impl EmbeddingsServer {
    /// Returns the model at an endpoint. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`ChatError::Address`] if address, key or headers have a form that cannot be sent.
    pub(crate) fn new(endpoint: Endpoint) -> Result<Self, ChatError> {
        Ok(Self { connection: Connection::new(endpoint, Expected::vectors())? })
    }

    /// Returns the vectors of texts as the server sends them.
    ///
    /// # Errors
    ///
    /// [`ChatError`] says what went wrong and whether it may have cost something.
    pub(crate) async fn vectors(&self, texts: &[&str]) -> Result<RawVectors, ChatError> {
        let model = &self.connection.endpoint.model;
        let dimensions = self.connection.endpoint.vectors.dimensions;
        let request = WireTexts { model, input: texts, encoding_format: "float", dimensions };
        let client = self.connection.client(None);
        let wire: WireVectors = self.connection.timed(client.embeddings().create_byot(request)).await?;
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let RawVectors { vectors, tokens } = wire.into_vectors(texts.len())?;
        // More than a token a byte, and some around each text, cannot be; nor can next to none.
        let (least, most) = (bytes as u64 / BYTES_PER_TOKEN_MAX, 2 * bytes as u64 + 64 * texts.len() as u64);
        let tokens = tokens.filter(|tokens| (least..=most).contains(tokens));
        Ok(RawVectors { vectors, tokens })
    }
}

/// A request as it is sent.
#[derive(Debug, Serialize)]
struct WireTexts<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<u32>,
}

/// A response as it comes: our own type, which takes what servers really send.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WireVectors {
    data: Vec<WireVector>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<Value>,
}

#[derive(Debug, Serialize, Deserialize)]
struct WireVector {
    #[serde(default)]
    index: Option<usize>,
    /// Values that are not numbers are written as `null`.
    embedding: Vec<Option<f32>>,
}

impl WireVectors {
    /// Returns the vectors of `count` texts, in the order of the texts if the server numbers them.
    fn into_vectors(mut self, count: usize) -> Result<RawVectors, ChatError> {
        if self.data.len() != count {
            let fault = EmbeddingError::Count { actual: self.data.len(), expected: count };
            return Err(ChatError::Vectors { fault });
        }
        if self.data.iter().any(|vector| vector.index.is_some()) {
            self.data.sort_by_key(|vector| vector.index);
            if !self.data.iter().zip(0..).all(|(vector, place)| vector.index == Some(place)) {
                return Err(ChatError::Malformed { reason: "its vectors are not numbered one a text".to_owned() });
            }
        }
        let values = |vector: WireVector| vector.embedding.into_iter().map(|value| value.unwrap_or(f32::NAN)).collect();
        let tokens = self
            .usage
            .as_ref()
            .and_then(|usage| usage.get("prompt_tokens").and_then(wire::whole))
            .filter(|count| *count > 0);
        Ok(RawVectors { vectors: self.data.into_iter().map(values).collect(), tokens })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn vectors(wire: serde_json::Value, count: usize) -> Result<Vec<Vec<f32>>, ChatError> {
        serde_json::from_value::<WireVectors>(wire).unwrap().into_vectors(count).map(|it| it.vectors)
    }

    #[test]
    fn vectors_are_in_the_order_of_their_texts() {
        let [a, b] = [1.0, 2.0].map(|value| json!([value]));
        let bare = json!({ "data": [{ "embedding": a }, { "embedding": b, "object": "x" }], "x": 1 });
        assert_eq!(vectors(bare, 2), Ok(vec![vec![1.0], vec![2.0]]));
        let turned = json!({ "data": [{ "embedding": b, "index": 1 }, { "embedding": a, "index": 0 }] });
        assert_eq!(vectors(turned, 2), Ok(vec![vec![1.0], vec![2.0]]));
        for indexes in [[0, 0], [1, 2]] {
            let data = indexes.map(|index| json!({ "embedding": a, "index": index }));
            assert!(matches!(vectors(json!({ "data": data }), 2), Err(ChatError::Malformed { .. })));
        }
    }

    #[test]
    fn more_or_fewer_vectors_than_texts_are_an_error() {
        let one = json!({ "data": [{ "embedding": [1.0] }] });
        let fault = EmbeddingError::Count { actual: 1, expected: 2 };
        assert_eq!(vectors(one, 2), Err(ChatError::Vectors { fault }));
    }
}
