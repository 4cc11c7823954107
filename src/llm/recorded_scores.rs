//! Recorded scores of a reranker: a line for each call, with an entry for each pair of question and text.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::recorded_vectors::{read, written};
use super::recording::{Outcome, Recording};
use crate::domain::{ChatError, Cost, Spent, Usage};

/// One line of a recording: what a call for scores came to. Neither question nor texts nor key are in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ScoresLine {
    /// The reranker that was asked.
    pub(super) reranker: String,
    /// The texts, each by a digest of it with the question.
    pairs: Vec<String>,
    /// What came of it.
    #[serde(flatten)]
    outcome: Outcome<ScoresReply>,
}

/// What a reranker replied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ScoresReply {
    /// One score a text, as the server sent it: the bits of each in hexadecimal digits, so that none is rounded.
    scores: String,
    /// What the call read.
    usage: Usage,
    /// What it cost; none where the price was unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost: Option<Cost>,
}

impl Recording {
    /// Writes down what a call for the scores of `texts` came to.
    pub(crate) fn write_scores(
        &self,
        reranker: &str,
        (question, texts): (&str, &[String]),
        came: Result<(&[f32], &Spent), &ChatError>,
    ) -> Result<(), ChatError> {
        let reply = |(scores, spent): (&[f32], &Spent)| {
            Outcome::Reply(ScoresReply { scores: written(scores), usage: spent.usage, cost: spent.cost.clone() })
        };
        let outcome = came.map_or_else(|fault| Outcome::Fault(fault.clone()), reply);
        let pairs = texts.iter().map(|text| digest(question, text)).collect();
        self.write(&ScoresLine { reranker: reranker.to_owned(), pairs, outcome })
    }
}

fn digest(question: &str, text: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(question.len() as u64).to_le_bytes());
    hasher.update(question.as_bytes());
    hasher.update(text.as_bytes());
    hasher.finalize().to_hex().to_string()
}

/// What was recorded of one reranker.
#[derive(Debug, Default)]
pub(crate) struct RecordedScores {
    /// What came of each text with its question: a score, and the call that it came with.
    pairs: FxHashMap<String, Outcome<(f32, usize)>>,
    /// What each call that was answered came to.
    calls: Vec<Spent>,
}

impl RecordedScores {
    /// Takes up a line; returns what is wrong with it where it cannot be.
    pub(super) fn add(&mut self, line: ScoresLine) -> Result<(), String> {
        match line.outcome {
            Outcome::Fault(fault) => {
                for pair in line.pairs {
                    self.pairs.entry(pair).or_insert_with(|| Outcome::Fault(fault.clone())).or_fault(&fault);
                }
            }
            Outcome::Reply(ScoresReply { scores, usage, cost }) => {
                let scores = read(&scores).ok_or("its scores are not in digits of 32 bits each")?;
                if scores.len() != line.pairs.len() {
                    return Err(format!("{} scores for {} texts", scores.len(), line.pairs.len()));
                }
                let call = self.calls.len();
                self.pairs
                    .extend(line.pairs.into_iter().zip(scores).map(|(it, score)| (it, Outcome::Reply((score, call)))));
                self.calls.push(Spent { calls: 1, usage, cost, ..Spent::default() });
            }
        }
        Ok(())
    }

    /// Returns the score of a text for a question with the call that it came with, or why it has none; nothing where
    /// it was not asked for.
    pub(crate) fn find(&self, question: &str, text: &str) -> Option<Result<(f32, usize), &ChatError>> {
        self.pairs.get(&digest(question, text)).map(|outcome| match outcome {
            Outcome::Reply(scored) => Ok(*scored),
            Outcome::Fault(fault) => Err(fault),
        })
    }

    /// Returns what a call came to.
    pub(crate) fn spent(&self, call: usize) -> Option<&Spent> {
        self.calls.get(call)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RecordedCalls, scripted};
    use super::*;
    use crate::error::Error;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_score_is_found_by_question_and_text_and_outlives_a_fault() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let recording = Recording::create(&path).unwrap();
        let busy = scripted::overloaded(None);
        let usage = Usage { input_tokens: 7, ..Usage::default() };
        let spent = Spent { calls: 1, usage, ..Spent::default() };
        recording.write_scores("r", ("who?", &texts(&["mill", "weir"])), Err(&busy)).unwrap();
        recording.write_scores("r", ("who?", &texts(&["mill", "hill"])), Ok((&[0.1, -1.0 / 3.0], &spent))).unwrap();
        recording.write_scores("r", ("who?", &texts(&["mill"])), Err(&busy)).unwrap();
        let written = std::fs::read_to_string(&path).unwrap();
        assert!(!written.contains("mill") && !written.contains("who"), "{written}");
        let calls = RecordedCalls::read(&path).unwrap();
        let of =
            |name: &str, question, text| calls.scores(name).find(question, text).map(|it| it.map_err(Clone::clone));
        assert_eq!(of("r", "who?", "mill"), Some(Ok((0.1, 0))));
        assert_eq!(of("r", "who?", "hill"), Some(Ok((-1.0 / 3.0, 0))));
        assert_eq!(of("r", "who?", "weir"), Some(Err(busy)));
        assert_eq!((of("r", "why?", "hill"), of("other", "who?", "hill"), of("r", "who?m", "ill")), (None, None, None));
        let recorded = calls.scores("r");
        assert_eq!((recorded.spent(0), recorded.spent(1)), (Some(&spent), None));
    }

    #[test]
    fn a_line_whose_scores_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let line = |scores: &str| {
            let usage = r#"{"input_tokens": 1, "output_tokens": 0}"#;
            format!(r#"{{"reranker": "r", "pairs": ["a"], "reply": {{"scores": "{scores}", "usage": {usage}}}}}"#)
        };
        std::fs::write(&path, line("3f800000")).unwrap();
        assert!(RecordedCalls::read(&path).unwrap().scores("r").spent(0).is_some());
        for wrong in [line("3f8"), line("3f8000003f800000"), r#"{"reranker": "r"}"#.to_owned()] {
            std::fs::write(&path, &wrong).unwrap();
            assert!(matches!(RecordedCalls::read(&path), Err(Error::Line { line: 1, .. })), "{wrong}");
        }
    }
}
