//! Scores from a reranking server, in the form that Cohere, Jina and vLLM share: one call for a batch of texts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::connection::Connection;
use super::endpoint::Endpoint;
use super::exchange::Expected;
use super::wire::{self, BYTES_PER_TOKEN_MAX, lenient};
use crate::domain::ChatError;

/// Where it is, behind the address of the endpoint.
const PATH: &str = "/rerank";

/// A reranker behind a server.
pub(crate) struct RerankServer {
    connection: Connection,
}

/// Scores as they came, one a text, in order.
pub(crate) struct RawScores {
    pub(crate) scores: Vec<f32>,
    /// Tokens that the server read, where it says so.
    pub(crate) tokens: Option<u64>,
}

impl RerankServer {
    /// Returns the reranker at an endpoint. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`ChatError::Address`] if address, key or headers have a form that cannot be sent.
    pub(crate) fn new(endpoint: Endpoint) -> Result<Self, ChatError> {
        Ok(Self { connection: Connection::new(endpoint, Expected::scores())? })
    }

    /// Returns how well each text answers a question, in the order of the texts; higher is better.
    ///
    /// # Errors
    ///
    /// [`ChatError`] says what went wrong and whether it may have cost something.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the call, which may have been paid for.
    pub(crate) async fn scores(&self, question: &str, texts: &[String]) -> Result<RawScores, ChatError> {
        let request = WireTexts { model: &self.connection.endpoint.model, query: question, documents: texts };
        let wire: WireScores = self.connection.post(PATH, &request).await?;
        let RawScores { scores, tokens } = wire.into_scores(texts.len())?;
        let of_texts: usize = texts.iter().map(String::len).sum();
        let bytes = of_texts + question.len() * texts.len();
        // More than a token a byte, and some around each text, cannot be; nor can next to none.
        let (least, most) = (of_texts as u64 / BYTES_PER_TOKEN_MAX, 2 * bytes as u64 + 64 * texts.len() as u64);
        Ok(RawScores { scores, tokens: tokens.filter(|tokens| (least..=most).contains(tokens)) })
    }
}

/// A request as it is sent: what all of these servers take.
#[derive(Debug, Serialize)]
struct WireTexts<'a> {
    model: &'a str,
    query: &'a str,
    documents: &'a [String],
}

/// A response as it comes. Texts that a server sends back with their scores are not read.
#[derive(Debug, Deserialize)]
pub(super) struct WireScores {
    results: Vec<WireScore>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct WireScore {
    index: usize,
    relevance_score: f32,
}

impl WireScores {
    /// Returns the scores of `count` texts, in the order of the texts: servers send the best first.
    fn into_scores(self, count: usize) -> Result<RawScores, ChatError> {
        let malformed = |reason: &str| ChatError::Malformed { reason: reason.to_owned() };
        let count_of = |name| self.usage.as_ref().and_then(|usage| usage.get(name).and_then(wire::whole));
        let tokens = count_of("prompt_tokens").or_else(|| count_of("total_tokens")).filter(|count| *count > 0);
        let mut scores = vec![None; count];
        for WireScore { index, relevance_score } in self.results {
            let score = scores.get_mut(index).ok_or_else(|| malformed("it scores a text that it was not sent"))?;
            if score.replace(relevance_score).is_some() {
                return Err(malformed("it scores a text twice"));
            }
        }
        let scores: Option<Vec<f32>> = scores.into_iter().map(|score| score.filter(|it| it.is_finite())).collect();
        let scores = scores.ok_or_else(|| malformed("it does not score every text with a number"))?;
        Ok(RawScores { scores, tokens })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn scores(results: &Value, count: usize) -> Result<Vec<f32>, ChatError> {
        let wire = serde_json::from_value::<WireScores>(json!({ "id": "x", "results": results, "usage": "some" }));
        wire.unwrap().into_scores(count).map(|came| came.scores)
    }

    #[test]
    fn tokens_are_what_the_server_says_that_it_read() {
        let tokens = |usage: Value| {
            let wire = serde_json::from_value::<WireScores>(json!({ "results": [], "usage": usage }));
            wire.unwrap().into_scores(0).unwrap().tokens
        };
        assert_eq!(tokens(json!({ "total_tokens": 9 })), Some(9));
        assert_eq!(tokens(json!({ "total_tokens": 9, "prompt_tokens": 8 })), Some(8));
        assert_eq!((tokens(json!(null)), tokens(json!({ "total_tokens": 0 })), tokens(json!(7))), (None, None, None));
    }

    #[test]
    fn scores_are_in_the_order_of_their_texts() {
        let best_first = json!([
            { "index": 1, "relevance_score": 0.9, "document": { "text": "echoed" } },
            { "index": 0, "relevance_score": -3.5 },
        ]);
        assert_eq!(scores(&best_first, 2), Ok(vec![-3.5, 0.9]));
        assert_eq!(scores(&json!([]), 0), Ok(vec![]));
    }

    #[test]
    fn each_text_has_one_score_and_no_other_has_any() {
        let of = |index: usize, score: f64| json!({ "index": index, "relevance_score": score });
        for (results, why) in [
            (json!([of(0, 0.5)]), "every text"),
            (json!([of(0, 0.5), of(0, 0.6)]), "twice"),
            (json!([of(0, 0.5), of(2, 0.6)]), "not sent"),
            (json!([of(0, 0.5), of(1, 1e300)]), "with a number"),
        ] {
            let fault = scores(&results, 2).unwrap_err();
            assert!(fault.to_string().contains(why), "{fault}");
        }
    }
}
