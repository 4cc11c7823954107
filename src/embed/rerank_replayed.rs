//! Replays a recorded reranker behind a server, without calling it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::replayed::beginning;
use super::rerank::{Reranker, Scored, Scores};
use super::rerank_server::calls;
use crate::domain::{ChatError, Spent};
use crate::error::Error;
use crate::llm::{Endpoint, RecordedCalls, RecordedScores};

/// A reranker whose scores come from a recording, text by text, however they were grouped in calls. Its cost is that of
/// those calls.
pub struct ReplayedReranker {
    name: String,
    recorded: Arc<RecordedScores>,
    /// Texts requested.
    texts: AtomicU64,
}

impl ReplayedReranker {
    /// Returns the reranker at an endpoint as it was recorded, which may be not at all.
    #[must_use]
    pub fn new(endpoint: &Endpoint, calls: &RecordedCalls) -> Self {
        let name = endpoint.name();
        Self { recorded: calls.scores(&name), name, texts: AtomicU64::new(0) }
    }

    fn scores(&self, question: &str, texts: &[String], spent: &mut Spent) -> Result<Vec<f32>, ChatError> {
        let (mut scores, mut calls) = (Vec::with_capacity(texts.len()), BTreeSet::new());
        for text in texts {
            let number = self.texts.fetch_add(1, Ordering::Relaxed) + 1;
            let missing = || ChatError::ScoreNotRecorded { number, beginning: beginning(text) };
            let found = self.recorded.find(question, text).ok_or_else(missing)?;
            let (score, call) = found.map_err(|fault| {
                spent.add(&Spent::on(fault));
                fault.clone()
            })?;
            if calls.insert(call)
                && let Some(of_call) = self.recorded.spent(call)
            {
                spent.add(of_call);
            }
            scores.push(score);
        }
        Ok(scores)
    }
}

impl Reranker for ReplayedReranker {
    fn name(&self) -> &str {
        &self.name
    }

    fn calls(&self, texts: usize) -> u32 {
        calls(texts)
    }

    fn score<'a>(&'a self, question: &'a str, texts: &'a [String]) -> Scores<'a> {
        let mut spent = Spent::default();
        let scores = self.scores(question, texts, &mut spent);
        let scores = scores.map_err(|source| Error::RerankerServer { reranker: self.name.clone(), source });
        Box::pin(std::future::ready(Scored { scores, spent }))
    }
}

impl std::fmt::Debug for ReplayedReranker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReplayedReranker").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Usage;
    use crate::llm::{Preset, Recording};

    #[tokio::test]
    async fn scores_are_found_in_whatever_calls_they_came_and_each_call_is_counted_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let recording = Recording::create(&path).unwrap();
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let usage = Usage { input_tokens: 7, ..Usage::default() };
        let spent = Spent { calls: 1, usage, ..Spent::default() };
        recording.write_scores("vllm:m", ("who?", &texts(&["a", "b"])), Ok((&[0.5, 0.25], &spent))).unwrap();
        recording.write_scores("vllm:m", ("who?", &texts(&["c"])), Ok((&[-1.0], &spent))).unwrap();
        let calls = RecordedCalls::read(&path).unwrap();
        let reranker = ReplayedReranker::new(&Endpoint::of(Preset::Vllm, "m"), &calls);
        let came = reranker.score("who?", &texts(&["c", "b", "a"])).await;
        assert_eq!((came.scores.unwrap(), came.spent.calls), (vec![-1.0, 0.25, 0.5], 2));
        assert_eq!(reranker.score("who?", &texts(&["a"])).await.spent, spent);
        let missing = reranker.score("who?", &texts(&["a", "d"])).await;
        let Err(Error::RerankerServer { source, .. }) = missing.scores else { panic!("{missing:?}") };
        assert_eq!(source, ChatError::ScoreNotRecorded { number: 6, beginning: "d".to_owned() });
        assert_eq!(missing.spent.calls, 1);
        assert_eq!((reranker.calls(0), reranker.calls(100), reranker.calls(101)), (0, 1, 2));
    }
}
