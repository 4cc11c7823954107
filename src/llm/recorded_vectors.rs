//! Recorded vectors: a line for each call, with an entry for each text.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::recording::{Outcome, Recording};
use crate::domain::{ChatError, Cost, Spent, Usage};

/// Hexadecimal digits of a value.
const DIGITS: usize = 8;

/// One line of a recording: what a call for vectors came to. Neither texts nor key are in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct VectorsLine {
    /// The embedder that was asked.
    pub(super) embedder: String,
    /// The texts, each by its digest.
    texts: Vec<String>,
    /// What came of it.
    #[serde(flatten)]
    outcome: Outcome<VectorsReply>,
}

/// What an embedder replied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct VectorsReply {
    /// One vector a text, as the server sent it: the bits of each value in hexadecimal digits, so that none is rounded.
    vectors: Vec<String>,
    /// What the call read.
    usage: Usage,
    /// What it cost; none where the price was unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost: Option<Cost>,
}

impl Recording {
    /// Writes down what a call for the vectors of `texts` came to.
    pub(crate) fn write_vectors(
        &self,
        embedder: &str,
        texts: &[&str],
        came: Result<(&[Vec<f32>], &Spent), &ChatError>,
    ) -> Result<(), ChatError> {
        let outcome = match came {
            Ok((vectors, spent)) => Outcome::Reply(VectorsReply {
                vectors: vectors.iter().map(|values| written(values)).collect(),
                usage: spent.usage,
                cost: spent.cost.clone(),
            }),
            Err(fault) => Outcome::Fault(fault.clone()),
        };
        let texts = texts.iter().map(|text| digest(text)).collect();
        self.write(&VectorsLine { embedder: embedder.to_owned(), texts, outcome })
    }
}

fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

pub(super) fn written(values: &[f32]) -> String {
    let digits = |value: &f32| {
        let bits = value.to_bits();
        (0..DIGITS).rev().filter_map(move |place| char::from_digit((bits >> (4 * place)) & 0xf, 16))
    };
    values.iter().flat_map(digits).collect()
}

pub(super) fn read(digits: &str) -> Option<Vec<f32>> {
    let value = |digits: &[u8]| {
        let digits = std::str::from_utf8(digits).ok().filter(|it| it.len() == DIGITS)?;
        u32::from_str_radix(digits, 16).ok().map(f32::from_bits)
    };
    digits.as_bytes().chunks(DIGITS).map(value).collect()
}

/// What was recorded of one embedder.
#[derive(Debug, Default)]
pub(crate) struct RecordedVectors {
    /// What came of each text, by its digest.
    texts: FxHashMap<String, Outcome<Made>>,
    /// What each call that was answered came to.
    calls: Vec<Spent>,
    /// Values of the first vector.
    dimension: Option<usize>,
}

/// A vector as a server sent it.
#[derive(Debug)]
pub(crate) struct Made {
    /// Its values.
    pub(crate) values: Vec<f32>,
    /// The call that it came with.
    pub(crate) call: usize,
}

impl RecordedVectors {
    /// Takes up a line; returns what is wrong with it where it cannot be.
    pub(super) fn add(&mut self, line: VectorsLine) -> Result<(), String> {
        match line.outcome {
            Outcome::Fault(fault) => {
                for text in line.texts {
                    // A call that did not go out and was made later has an outcome.
                    self.texts.entry(text).or_insert_with(|| Outcome::Fault(fault.clone())).or_fault(&fault);
                }
            }
            Outcome::Reply(VectorsReply { vectors, usage, cost }) => {
                if vectors.len() != line.texts.len() {
                    return Err(format!("{} vectors for {} texts", vectors.len(), line.texts.len()));
                }
                for (text, digits) in line.texts.into_iter().zip(vectors) {
                    let values = read(&digits).ok_or("a vector is not in digits of 32 bits each")?;
                    self.dimension.get_or_insert(values.len());
                    self.texts.insert(text, Outcome::Reply(Made { values, call: self.calls.len() }));
                }
                self.calls.push(Spent { calls: 1, usage, cost, ..Spent::default() });
            }
        }
        Ok(())
    }

    /// Returns how many values a vector has, where one was recorded.
    pub(crate) const fn dimension(&self) -> Option<usize> {
        self.dimension
    }

    /// Returns the vector of a text, or why it has none; nothing where it was not asked for.
    pub(crate) fn find(&self, text: &str) -> Option<Result<&Made, &ChatError>> {
        self.texts.get(&digest(text)).map(|outcome| match outcome {
            Outcome::Reply(made) => Ok(made),
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

    fn spent(input_tokens: u64) -> Spent {
        Spent { calls: 1, usage: Usage { input_tokens, ..Usage::default() }, ..Spent::default() }
    }

    #[test]
    fn a_vector_is_read_bit_by_bit_as_it_was_written() {
        let values = [0.1, -0.0, f32::MIN_POSITIVE / 3.0, f32::MAX, 1.0 / 3.0, f32::NAN];
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&read(&written(&values)).unwrap()), bits(&values));
        assert_eq!(read(""), Some(Vec::new()));
        for digits in ["3f80000", "3f80000g", "3f80000é", "3f8000003f"] {
            assert_eq!(read(digits), None, "{digits}");
        }
    }

    #[test]
    fn a_texts_result_is_found_whatever_call_it_was_in_and_a_vector_outlives_a_fault() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let recording = Recording::create(&path).unwrap();
        let (busy, spent) = (scripted::overloaded(None), spent(7));
        let vectors = [vec![1.0, 2.0], vec![3.0, 4.0]];
        recording.write_vectors("m", &["a mill", "a harbor"], Err(&busy)).unwrap();
        recording.write_vectors("m", &["a mill", "a hill"], Ok((&vectors, &spent))).unwrap();
        recording.write_vectors("m", &["a mill"], Err(&busy)).unwrap();
        assert!(!std::fs::read_to_string(&path).unwrap().contains("mill"));

        let calls = RecordedCalls::read(&path).unwrap();
        let of = |name: &str, text: &str| {
            calls.vectors(name).find(text).map(|came| came.map(|it| it.values.clone()).map_err(Clone::clone))
        };
        assert_eq!(of("m", "a hill"), Some(Ok(vec![3.0, 4.0])));
        assert_eq!(of("m", "a mill"), Some(Ok(vec![1.0, 2.0])));
        assert_eq!(of("m", "a harbor"), Some(Err(busy)));
        assert_eq!((of("m", "a river"), of("other", "a hill")), (None, None));
        let recorded = calls.vectors("m");
        assert_eq!((recorded.dimension(), recorded.spent(0), recorded.spent(1)), (Some(2), Some(&spent), None));
        assert_eq!(calls.vectors("other").dimension(), None);
    }

    #[test]
    fn a_line_whose_vectors_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let line = |texts: &str, vectors: &str| {
            let usage = r#"{"input_tokens": 1, "output_tokens": 0}"#;
            let reply = format!(r#"{{"vectors": [{vectors}], "usage": {usage}}}"#);
            format!(r#"{{"embedder": "m", "texts": [{texts}], "reply": {reply}}}"#)
        };
        std::fs::write(&path, line(r#""a""#, r#""3f800000""#)).unwrap();
        assert_eq!(RecordedCalls::read(&path).unwrap().vectors("m").dimension(), Some(1));
        for wrong in [line(r#""a""#, r#""3f8""#), line("", r#""3f800000""#), r#"{"embedder": "m"}"#.to_owned()] {
            std::fs::write(&path, &wrong).unwrap();
            assert!(matches!(RecordedCalls::read(&path), Err(Error::Line { line: 1, .. })), "{wrong}");
        }
    }
}
