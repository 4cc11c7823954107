//! Replays a recorded embedder behind a server, without calling it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashSet;

use super::account::{Account, Payer, is_sent};
use super::place::{EmbedderPlace, ServerPlace};
use super::server::{PIECES_MAX, PROBE, embedding, unusable};
use super::{Came, Embedded, Embedder, Embeddings, PartlyEmbedded, StaticTable};
use crate::domain::{ChatError, Embedding};
use crate::error::{Error, Result};
use crate::llm::{Endpoint, RecordedCalls, RecordedVectors, VectorSettings};
use crate::text::one_line;

/// Characters of a text by which one that is missing is named.
const BEGINNING_CHARS: usize = 60;

/// An embedder whose vectors come from a recording, text by text, however they were grouped in calls. Its account has
/// the cost of those calls.
pub struct ReplayedEmbedder {
    name: String,
    dimension: usize,
    place: EmbedderPlace,
    account: Account,
    settings: VectorSettings,
    recorded: Arc<RecordedVectors>,
    replay: Mutex<Replay>,
}

/// How far a replay has come.
#[derive(Debug, Default)]
struct Replay {
    /// Texts requested.
    texts: u64,
    /// Recorded calls that are counted.
    calls: FxHashSet<usize>,
}

impl ReplayedEmbedder {
    /// Returns the embedder at an endpoint as it was recorded, with the length that its vectors had then.
    ///
    /// # Errors
    ///
    /// [`Error::EmbedderServer`] if nothing of it was recorded, or no more than that it could not be asked.
    pub fn open(endpoint: &Endpoint, calls: &RecordedCalls) -> Result<Self> {
        let embedder = Self::pinned(endpoint, 0, calls);
        for text in PROBE {
            match embedder.vector(text, Payer::Run) {
                // A run that knew the length of the vectors did not ask for it.
                Err(ChatError::VectorNotRecorded { .. }) if embedder.recorded.dimension().is_some() => {}
                came => drop(came.map_err(|source| embedder.fault(source))?),
            }
        }
        embedder.replay().texts = 0;
        Ok(embedder)
    }

    /// Returns the recorded embedder at an endpoint; if it has no vector, its dimension is `dimension`.
    #[must_use]
    pub fn pinned(endpoint: &Endpoint, dimension: usize, calls: &RecordedCalls) -> Self {
        let name = endpoint.embedder_name();
        let recorded = calls.vectors(&name);
        Self {
            dimension: recorded.dimension().unwrap_or(dimension),
            place: EmbedderPlace::Server(ServerPlace::of(endpoint)),
            account: Account::new(endpoint.name(), Arc::default()),
            settings: endpoint.vectors.clone(),
            name,
            recorded,
            replay: Mutex::default(),
        }
    }

    /// Returns the vectors that were recorded, and the first fault: texts without words have zeros, as they had then.
    fn vectors(&self, texts: &[&str], payer: Payer) -> Embedded {
        let empty = match Embedding::try_new(vec![0.0; self.dimension], self.dimension) {
            Ok(empty) => empty,
            Err(fault) => return Embedded::failed(texts.len(), self.fault(unusable(fault))),
        };
        let mut fault = None;
        let mut vector = |text: &&str| {
            if !is_sent(text) {
                return Some(empty.clone());
            }
            let sent = format!("{}{text}", self.settings.prefix(payer == Payer::Question));
            match self.vector(&sent, payer) {
                Ok(vector) => Some(vector),
                Err(error) => {
                    fault.get_or_insert(error);
                    None
                }
            }
        };
        let vectors = texts.iter().map(&mut vector).collect();
        Embedded { vectors, fault: fault.map(|fault| self.fault(fault)) }
    }

    /// Returns the vector of a text; its call is counted with the first vector of the call.
    fn vector(&self, text: &str, payer: Payer) -> Result<Embedding, ChatError> {
        let mut replay = self.replay();
        replay.texts += 1;
        let found = self.recorded.find(text);
        let missing = || ChatError::VectorNotRecorded { number: replay.texts, beginning: beginning(text) };
        let made = found.ok_or_else(missing)?.map_err(Clone::clone)?;
        if replay.calls.insert(made.call)
            && let Some(spent) = self.recorded.spent(made.call)
        {
            self.account.count(spent, payer);
        }
        embedding(made.values.clone(), self.dimension)
    }

    fn replay(&self) -> MutexGuard<'_, Replay> {
        self.replay.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fault(&self, source: ChatError) -> Error {
        Error::EmbedderServer { embedder: self.name.clone(), source }
    }
}

/// Returns how a text begins, in one line.
pub(super) fn beginning(text: &str) -> String {
    let line = one_line(text);
    let shown: String = line.chars().take(BEGINNING_CHARS).collect();
    if shown.len() < line.len() { format!("{}…", shown.trim_end()) } else { shown }
}

impl Embedder for ReplayedEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    /// Counts as the embedder that was recorded does.
    fn piece_count(&self, text: &str) -> usize {
        StaticTable.piece_count(text)
    }

    fn pieces_max(&self) -> usize {
        PIECES_MAX
    }

    fn is_costly(&self) -> bool {
        true
    }

    fn place(&self) -> Option<&EmbedderPlace> {
        Some(&self.place)
    }

    fn account(&self) -> Option<&Account> {
        Some(&self.account)
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> Embeddings<'a> {
        Box::pin(async { self.vectors(texts, Payer::Question).whole() })
    }

    fn embed_partly<'a>(&'a self, texts: &'a [&'a str], _: &'a mut Came<'_>) -> PartlyEmbedded<'a> {
        Box::pin(async { self.vectors(texts, Payer::Run) })
    }
}

impl std::fmt::Debug for ReplayedEmbedder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReplayedEmbedder")
            .field("name", &self.name)
            .field("dimension", &self.dimension)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Spent, Usage};
    use crate::llm::Recording;

    /// Returns recorded calls, each with some texts, whose vectors have three values.
    fn recorded(calls: &[&[&str]]) -> RecordedCalls {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let recording = Recording::create(&path).unwrap();
        let spent = spent(1);
        for texts in calls {
            let vectors: Vec<Vec<f32>> = texts.iter().map(|text| vec![3.0, 4.0, text.len() as f32]).collect();
            recording.write_vectors("vllm:m", texts, Ok((&vectors, &spent))).unwrap();
        }
        let fault = ChatError::Key { status: 401, message: "no".to_owned() };
        recording.write_vectors("vllm:m", &["refused"], Err(&fault)).unwrap();
        RecordedCalls::read(&path).unwrap()
    }

    fn spent(calls: u64) -> Spent {
        let usage = Usage { input_tokens: 7 * calls, ..Usage::default() };
        Spent { calls, usage, ..Spent::default() }
    }

    fn endpoint() -> Endpoint {
        Endpoint::of(crate::llm::Preset::Vllm, "m")
    }

    #[tokio::test]
    async fn vectors_are_found_by_text_in_whatever_calls_they_came_and_calls_are_counted_once() {
        let calls = recorded(&[PROBE, &["a", "bb"], &["ccc"]]);
        let embedder = ReplayedEmbedder::open(&endpoint(), &calls).unwrap();
        assert_eq!((embedder.name(), embedder.dimension()), ("vllm:m", 3));
        let vectors = embedder.embed_partly(&["ccc", " ", "a", "ccc"], &mut |_| ()).await.whole().unwrap();
        let due = |last: f32| embedding(vec![3.0, 4.0, last], 3).unwrap();
        assert_eq!((&vectors[0], &vectors[2], &vectors[3]), (&due(3.0), &due(1.0), &due(3.0)));
        assert_eq!(vectors[1].values(), [0.0; 3]);
        assert_eq!(embedder.embed(&["bb"]).await.unwrap(), [due(2.0)]);
        assert_eq!(embedder.account().unwrap().take_spent(), spent(3));
    }

    #[tokio::test]
    async fn a_text_that_was_not_recorded_is_named_by_its_number_and_its_beginning() {
        let embedder = ReplayedEmbedder::open(&endpoint(), &recorded(&[PROBE, &["a"]])).unwrap();
        let long = format!(
            "A  mill
by the river{}",
            " and so on".repeat(20)
        );
        let part = embedder.embed_partly(&["a", &long, "other", "a"], &mut |_| ()).await;
        assert_eq!(part.vectors.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false, true]);
        let Some(Error::EmbedderServer { source, .. }) = part.fault else { panic!("{part:?}") };
        let said = source.to_string();
        assert!(said.starts_with("the vector of text 2 (`A mill by the river and so on"), "{said}");
        assert!(said.ends_with("…`) is not in the recording") && said.len() < 140, "{said}");
        let fault = embedder.embed(&["refused"]).await.unwrap_err();
        assert!(matches!(fault, Error::EmbedderServer { source: ChatError::Key { .. }, .. }), "{fault:?}");
    }

    #[test]
    fn the_length_of_vectors_is_that_of_the_recording() {
        let dimension =
            |calls: &[&[&str]]| ReplayedEmbedder::open(&endpoint(), &recorded(calls)).map(|it| it.dimension);
        // An index with a pinned embedder does not ask it for the dimension.
        assert_eq!(dimension(&[&["a"]]).unwrap(), 3);
        assert!(matches!(
            dimension(&[]),
            Err(Error::EmbedderServer { source: ChatError::VectorNotRecorded { number: 1, .. }, .. })
        ));
        let pinned = |calls| ReplayedEmbedder::pinned(&endpoint(), 5, &recorded(calls)).dimension;
        assert_eq!((pinned(&[&["a"]]), pinned(&[])), (3, 5));
    }
}
