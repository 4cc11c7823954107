//! Recordings: files with the results of calls to servers, one JSON object per line.
//!
//! A chat call is found again by the key of its request, a vector by its text, a score by question and text, a web
//! search by its query. Neither prompts nor texts nor queries nor keys are in the file.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::recorded::ChatLine;
use super::recorded_scores::{RecordedScores, ScoresLine};
use super::recorded_searches::SearchLine;
use super::recorded_vectors::{RecordedVectors, VectorsLine};
use crate::domain::ChatError;
use crate::error::{Error, Result};
use crate::files::{self, Readers};

/// The field by which a line about vectors is told from one about a chat.
const EMBEDDER: &str = "embedder";
/// The field by which a line about scores is told from one about a chat.
const RERANKER: &str = "reranker";
/// The field by which a line about a web search is told from one about a chat.
const WEB_SEARCH: &str = "web_search";

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome<T> {
    Reply(T),
    Fault(ChatError),
}

impl<T> Outcome<T> {
    /// Takes the place of what came of the same before, where that was no call at all.
    pub(super) fn or_fault(&mut self, fault: &ChatError) {
        if self.is_not_made() {
            *self = Self::Fault(fault.clone());
        }
    }

    /// Returns whether no call went out, because of what others took or came to.
    pub(super) const fn is_not_made(&self) -> bool {
        matches!(self, Self::Fault(ChatError::Budget { .. } | ChatError::CircuitOpen { .. }))
    }
}

/// What came of calls that are due to be replayed, by key. Equal calls get what they got then, in order, and after that
/// the last again.
pub(super) struct Due<T>(Mutex<BTreeMap<String, VecDeque<Outcome<T>>>>);

impl<T: Clone> Due<T> {
    pub(super) fn of(calls: impl Iterator<Item = (String, Outcome<T>)>) -> Self {
        let mut outcomes: BTreeMap<String, VecDeque<Outcome<T>>> = BTreeMap::new();
        for (key, outcome) in calls {
            let due = outcomes.entry(key).or_default();
            // A call that did not go out and was made later has an outcome; when it did not was a matter of time.
            if due.back().is_some_and(Outcome::is_not_made) {
                due.pop_back();
            }
            due.push_back(outcome);
        }
        Self(Mutex::new(outcomes))
    }

    /// Returns what comes of the next call; nothing where there was none.
    pub(super) fn next(&self, key: &str) -> Option<Result<T, ChatError>> {
        let mut outcomes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = outcomes.get_mut(key)?;
        let outcome = if due.len() > 1 { due.pop_front() } else { due.front().cloned() };
        outcome.map(|outcome| match outcome {
            Outcome::Reply(reply) => Ok(reply),
            Outcome::Fault(fault) => Err(fault),
        })
    }
}

/// A file into which calls are written, each as it ends. A chat model, an embedder, a reranker and who searches the web
/// may share one.
#[derive(Debug)]
pub struct Recording {
    file: Mutex<File>,
}

impl Recording {
    /// Makes a new file, which only its owner may read.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] if the file is there already, [`Error::Io`] if it cannot be made.
    pub fn create(path: &Path) -> Result<Self> {
        let file = files::create_new(path, Readers::Owner).map_err(|error| match error {
            Error::Io { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => Error::Option {
                option: "new file for a recording",
                value: path.display().to_string(),
                reason: "there is a file of that name, which is not overwritten; name another, or remove it".to_owned(),
            },
            error => error,
        })?;
        Ok(Self { file: Mutex::new(file) })
    }

    pub(super) fn write(&self, line: &impl Serialize) -> Result<(), ChatError> {
        let failed = |reason: String| ChatError::Store { action: "record".to_owned(), reason };
        let mut text = serde_json::to_string(line).map_err(|error| failed(error.to_string()))?;
        text.push('\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(text.as_bytes()).map_err(|error| failed(error.to_string()))
    }
}

/// What was recorded.
#[derive(Debug, Default)]
pub struct RecordedCalls {
    pub(super) chat: Vec<ChatLine>,
    vectors: BTreeMap<String, Arc<RecordedVectors>>,
    scores: BTreeMap<String, Arc<RecordedScores>>,
    pub(super) searches: Vec<SearchLine>,
}

impl RecordedCalls {
    /// Reads a recording.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be read, [`Error::Line`] for a line that is none of a recording.
    pub fn read(path: &Path) -> Result<Self> {
        let file = files::open(path)?;
        let (mut chat, mut vectors) = (Vec::new(), BTreeMap::<String, RecordedVectors>::new());
        let (mut scores, mut searches) = (BTreeMap::<String, RecordedScores>::new(), Vec::new());
        for (line, number) in BufReader::new(file).lines().zip(1..) {
            let line = line.map_err(Error::io("read", path))?;
            let refused =
                |reason: String| Error::Line { path: path.to_owned(), line: number, reason: no_call(&reason) };
            match Line::read(&line).map_err(|error| refused(error.to_string()))? {
                Line::Chat(line) => chat.push(line),
                Line::Search(line) => searches.push(line),
                Line::Vectors(line) => {
                    vectors.entry(line.embedder.clone()).or_default().add(line).map_err(refused)?;
                }
                Line::Scores(line) => {
                    scores.entry(line.reranker.clone()).or_default().add(line).map_err(refused)?;
                }
            }
        }
        let vectors = vectors.into_iter().map(|(name, it)| (name, Arc::new(it))).collect();
        let scores = scores.into_iter().map(|(name, it)| (name, Arc::new(it))).collect();
        Ok(Self { chat, vectors, scores, searches })
    }

    /// Returns what was recorded of the reranker called `name`, which may be nothing.
    pub(crate) fn scores(&self, name: &str) -> Arc<RecordedScores> {
        self.scores.get(name).map(Arc::clone).unwrap_or_default()
    }

    /// Returns what was recorded of the embedder called `name`, which may be nothing.
    pub(crate) fn vectors(&self, name: &str) -> Arc<RecordedVectors> {
        self.vectors.get(name).map(Arc::clone).unwrap_or_default()
    }
}

fn no_call(reason: &str) -> String {
    format!("it is not a recorded call: {reason}")
}

/// A line, by what it is about.
enum Line {
    Chat(ChatLine),
    Vectors(VectorsLine),
    Scores(ScoresLine),
    Search(SearchLine),
}

impl Line {
    fn read(text: &str) -> serde_json::Result<Self> {
        let value: Value = serde_json::from_str(text)?;
        if value.get(EMBEDDER).is_some() {
            return serde_json::from_value(value).map(Self::Vectors);
        }
        if value.get(RERANKER).is_some() {
            return serde_json::from_value(value).map(Self::Scores);
        }
        if value.get(WEB_SEARCH).is_some() {
            return serde_json::from_value(value).map(Self::Search);
        }
        serde_json::from_value(value).map(Self::Chat)
    }
}
