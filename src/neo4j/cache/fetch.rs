//! Texts and vectors of passages, fetched in one reply and kept as long as there is room.

use std::collections::hash_map::Entry as Slot;
use std::hash::BuildHasher as _;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use neo4rs::{BoltType, Row};
use rayon::prelude::*;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::super::download::bytes;
use super::super::element::{Key, short};
use super::super::session::Session;
use super::super::spans::Spans;
use super::super::statement::{Statement, cypher};
use super::load::{Structure, key, spans};
use crate::domain::{DatabaseError, PassageId};
use crate::error::{Error, Result};
use crate::graph::ordinal::{Ordinal as _, PassageOrdinal};
use crate::store::PassageText;
use crate::text::terms;

/// Bytes of texts and vectors that are kept.
const KEPT_BYTES: usize = 64 << 20;

/// A passage with all that a question compares of it.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) shown: PassageText,
    /// Its vector and those of its sentences, each a scale and its codes.
    pub(super) vectors: Vec<u8>,
    /// The terms of its lexical field and how often it has each.
    pub(super) terms: Terms,
    /// The same of each of its sentences.
    pub(super) sentences: Vec<Terms>,
}

/// Terms with how often each is there, by their hashes: hundreds of passages are searched for each term of a question,
/// and numbers are compared sooner than texts. Of billions of terms, hardly two have one hash of 64 bits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Terms(Vec<(u64, u32)>);

impl Terms {
    fn of(mut hashes: Vec<u64>) -> Self {
        hashes.sort_unstable();
        let same = hashes.chunk_by(|a, b| a == b);
        Self(same.filter_map(|same| Some((*same.first()?, same.len() as u32))).collect())
    }

    /// Returns how often a term is there, if it is, by its [`hash`].
    pub(super) fn count(&self, hash: u64) -> Option<u32> {
        self.0.binary_search_by_key(&hash, |it| it.0).ok().map(|place| self.0[place].1)
    }
}

/// Returns the hash of a term.
pub(super) fn hash(term: &str) -> u64 {
    FxBuildHasher.hash_one(term)
}

fn hashes(text: &str) -> Vec<u64> {
    terms(text).iter().map(|term| hash(term)).collect()
}

/// Passages with their numbers, ascending.
pub(super) type Fetchings = Vec<(PassageOrdinal, Arc<Fetched>)>;

/// Fetches passages of one version, however they are numbered.
pub(super) struct Fetcher {
    session: Session,
    kept: Mutex<Kept>,
}

impl Fetcher {
    pub(super) fn new(session: Session) -> Self {
        Self { session, kept: Mutex::default() }
    }

    /// Returns passages: those that are not kept come in one answer.
    ///
    /// # Errors
    ///
    /// [`DatabaseError::Changing`] if one is not there any more.
    pub(super) async fn fetch(
        &self,
        version: i64,
        structure: &Structure,
        passages: &[PassageOrdinal],
    ) -> Result<Fetchings> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found: FxHashMap<PassageOrdinal, Arc<Fetched>> = {
            let mut kept = kept();
            passages
                .iter()
                .filter_map(|passage| Some((*passage, kept.get(structure.passages[passage.index()].0)?)))
                .collect()
        };
        let missing: Vec<PassageOrdinal> = passages.iter().copied().filter(|it| !found.contains_key(it)).collect();
        if !missing.is_empty() {
            let keys = short(missing.iter().map(|passage| &structure.passages[passage.index()].0));
            let statement = Statement::new("read texts", cypher!("read/texts"));
            let rows = self.session.rows(&statement.with("passages", keys).with("version", version)).await?;
            let known = rows.iter().filter_map(|row| Some((row, *structure.numbers.get(&key(row, "id")?)?)));
            let read = known.map(|(row, number)| Raw::read(structure, number, row)).collect::<Option<Vec<Raw>>>();
            let damaged = || self.session.damaged("a passage has not all that it should");
            for (passage, fetched) in taken_apart(read.ok_or_else(damaged)?).await?.ok_or_else(damaged)? {
                let fetched = Arc::new(fetched);
                kept().put(*fetched.shown.passage.as_bytes(), Arc::clone(&fetched));
                found.insert(passage, fetched);
            }
        }
        let one = |passage: &PassageOrdinal| Some((*passage, Arc::clone(found.get(passage)?)));
        let all = passages.iter().map(one).collect::<Option<Fetchings>>();
        all.ok_or_else(|| self.session.error(DatabaseError::Changing { attempts: 1 }))
    }
}

/// Takes texts apart, which takes longer than fetching them.
async fn taken_apart(raw: Vec<Raw>) -> Result<Option<Vec<(PassageOrdinal, Fetched)>>> {
    beside(move || raw.into_par_iter().map(Raw::take_apart).collect()).await
}

/// Computes where it holds up no other task. Not on a blocking thread: one of these may wait for it, and where all of
/// them did, none were left to do it.
pub(super) async fn beside<T: Send + 'static>(compute: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    rayon::spawn(move || {
        // Nothing waits for it any more if the question was given up.
        let _given_up = sender.send(compute());
    });
    receiver.await.map_err(|error| Error::Internal(error.to_string()))
}

/// A passage as it comes.
struct Raw {
    number: PassageOrdinal,
    title: Option<String>,
    shown: PassageText,
    vectors: Vec<u8>,
}

impl Raw {
    fn read(structure: &Structure, number: PassageOrdinal, row: &Row) -> Option<Self> {
        let (key, _) = structure.passages[number.index()];
        let document = &structure.documents[structure.graph.passage_document[number.index()].index()];
        let Spans { own, sentences, .. } = spans(row)?;
        let shown = PassageText {
            passage: PassageId::from_bytes(key),
            span: own,
            section: row.get::<Option<String>>("section").ok()?,
            page: row.get("page").ok()?,
            line: row.get("line").ok()?,
            column: row.get("column").ok()?,
            text: row.get("text").ok()?,
            sentences,
        };
        let vectors = bytes(row.get::<BoltType>("vectors").ok().as_ref())?;
        Some(Self { number, title: document.title.clone(), shown, vectors })
    }

    fn take_apart(self) -> Option<(PassageOrdinal, Fetched)> {
        let Self { number, title, shown, vectors } = self;
        let title = title.as_deref().map(hashes).unwrap_or_default();
        let mut whole = [title.clone(), title.clone()].concat();
        let mut sentences = Vec::with_capacity(shown.sentences.len());
        for span in &shown.sentences {
            let own = hashes(shown.text.get(span.start as usize..span.end as usize)?);
            whole.extend_from_slice(&own);
            sentences.push(Terms::of([&title[..], &own].concat()));
        }
        Some((number, Fetched { shown, vectors, terms: Terms::of(whole), sentences }))
    }
}

impl Fetched {
    /// Returns about how much memory it takes.
    fn bytes(&self) -> usize {
        let terms = self.terms.0.len() + self.sentences.iter().map(|it| it.0.len()).sum::<usize>();
        self.shown.text.len() + self.vectors.len() + terms * size_of::<(u64, u32)>() + 200
    }
}

/// Recently fetched data in two generations; the older is dropped when the younger is full.
#[derive(Default)]
struct Kept {
    young: FxHashMap<Key, Arc<Fetched>>,
    old: FxHashMap<Key, Arc<Fetched>>,
    young_bytes: usize,
}

impl Kept {
    fn get(&mut self, passage: Key) -> Option<Arc<Fetched>> {
        if let Some(found) = self.young.get(&passage) {
            return Some(Arc::clone(found));
        }
        let found = self.old.remove(&passage)?;
        self.put(passage, Arc::clone(&found));
        Some(found)
    }

    fn put(&mut self, passage: Key, fetched: Arc<Fetched>) {
        if let Slot::Vacant(slot) = self.young.entry(passage) {
            self.young_bytes += fetched.bytes();
            slot.insert(fetched);
        }
        if self.young_bytes > KEPT_BYTES / 2 {
            self.old = mem::take(&mut self.young);
            self.young_bytes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Span;

    fn passage(text: &str) -> Fetched {
        let whole = Span { start: 0, end: text.len() as u32 };
        let shown = PassageText {
            passage: PassageId::of(&[text.as_bytes()]),
            span: whole,
            section: None,
            page: None,
            line: None,
            column: None,
            text: text.to_owned(),
            sentences: vec![whole],
        };
        let raw = Raw { number: PassageOrdinal(0), title: Some("Harl Mill".to_owned()), shown, vectors: Vec::new() };
        raw.take_apart().unwrap().1
    }

    #[test]
    fn a_title_counts_twice_in_a_passage_and_once_in_a_sentence() {
        let passage = passage("The mill burned.");
        assert_eq!(passage.terms.count(hash("mill")), Some(3));
        assert_eq!(passage.sentences[0].count(hash("mill")), Some(2));
        assert_eq!(passage.terms.count(hash("weir")), None);
    }

    #[test]
    fn what_is_asked_for_again_stays_when_the_older_half_goes() {
        let mut kept = Kept::default();
        let large = "mill ".repeat(KEPT_BYTES / 8 / 5);
        kept.put([0; 16], Arc::new(passage(&large)));
        for number in 1..12 {
            assert!(kept.get([0; 16]).is_some(), "{number}");
            kept.put([number; 16], Arc::new(passage(&large)));
        }
        assert!(kept.get([1; 16]).is_none());
        assert!(kept.young.len() + kept.old.len() <= 10);
    }
}
