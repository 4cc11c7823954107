//! The vectors of a version: passages, sentences, and questions of both sides.
//!
//! A model takes longer over them than everything else together. So what the version before says of equal texts is
//! taken over, each batch is kept as it comes until the version is there, and between batches a run can be stopped.

use rustc_hash::FxHashMap;

use super::options::IndexOptions;
use crate::domain::{Passage, Progress, PseudoQuery};
use crate::embed::{Embedded, Embedder, Titled, embed_passages, embed_sentences};
use crate::error::{Error, Result};
use crate::graph::packed::row;
use crate::graph::vectors::{QuantizedVectors, Vectors};
use crate::store::{GraphReader as _, VectorField};
use crate::workspace::{FreshVectors, Snapshot, VectorKey};

/// Texts embedded in one call: enough to keep every core busy, few enough to stay small.
const BATCH: usize = 2_048;
/// The same where a text takes milliseconds: a stop is not to wait for thousands.
const BATCH_OF_MODEL: usize = 256;

/// What a vector stands for: equal texts of different kinds may have different vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Passage = 1,
    Sentence = 2,
    Question = 3,
}

/// The texts of a corpus that have vectors, in the order of their ordinals.
pub(super) struct Texts<'a> {
    passages: Vec<Titled<'a>>,
    sentences: Vec<Titled<'a>>,
    incoming: Vec<Titled<'a>>,
    outgoing: Vec<Titled<'a>>,
}

impl<'a> Texts<'a> {
    /// `title(i)` is the title of passage `i`.
    pub(super) fn of(
        passages: &[&'a Passage],
        title: &dyn Fn(usize) -> Option<&'a str>,
        [incoming, outgoing]: [&[&'a PseudoQuery]; 2],
    ) -> Self {
        let bare = |question: &&'a PseudoQuery| Titled { title: None, text: &question.text };
        let mut texts = Self {
            passages: Vec::with_capacity(passages.len()),
            sentences: Vec::new(),
            incoming: incoming.iter().map(bare).collect(),
            outgoing: outgoing.iter().map(bare).collect(),
        };
        for (number, passage) in passages.iter().enumerate() {
            let title = title(number);
            texts.passages.push(Titled { title, text: &passage.text });
            let sentences = passage.sentences.iter();
            texts.sentences.extend(sentences.map(|it| Titled { title, text: it.of(&passage.text) }));
        }
        texts
    }

    fn len(&self) -> usize {
        self.passages.len() + self.sentences.len() + self.incoming.len() + self.outgoing.len()
    }
}

/// The vectors of a corpus.
pub(super) struct CorpusVectors {
    pub(super) passages: QuantizedVectors,
    pub(super) sentences: QuantizedVectors,
    pub(super) incoming: QuantizedVectors,
    pub(super) outgoing: QuantizedVectors,
}

/// Vectors that are there already, of the same embedder.
pub(super) enum Earlier {
    /// None.
    None,
    /// Those of an earlier version.
    Version(Box<Snapshot>),
    /// Those of this very corpus, kept elsewhere.
    Kept(Box<CorpusVectors>),
}

/// Returns one vector a text; those that are made are kept in `fresh`, where that is given.
pub(super) async fn embed(
    embedder: &dyn Embedder,
    texts: &Texts<'_>,
    earlier: &Earlier,
    mut fresh: Option<FreshVectors>,
    options: &IndexOptions,
) -> Result<CorpusVectors> {
    let left = fresh.as_mut().map(|fresh| fresh.take_up(embedder.dimension())).transpose()?;
    let mut known = match earlier {
        Earlier::None => Known::default(),
        Earlier::Version(snapshot) => Known::of(snapshot)?,
        Earlier::Kept(vectors) => Known::of_texts(texts, vectors),
    };
    if let Some((keys, vectors)) = &left {
        known.0.extend(keys.iter().zip(0..).map(|(key, row)| (*key, (vectors.view(), row))));
    }
    let mut stage = Stage { embedder, known, fresh, options, done: 0, total: texts.len() };
    Ok(CorpusVectors {
        passages: stage.embed(Kind::Passage, &texts.passages).await?,
        sentences: stage.embed(Kind::Sentence, &texts.sentences).await?,
        incoming: stage.embed(Kind::Question, &texts.incoming).await?,
        outgoing: stage.embed(Kind::Question, &texts.outgoing).await?,
    })
}

/// Embedding as a stage of a run.
struct Stage<'a> {
    embedder: &'a dyn Embedder,
    known: Known<'a>,
    fresh: Option<FreshVectors>,
    options: &'a IndexOptions,
    done: usize,
    total: usize,
}

impl Stage<'_> {
    async fn embed(&mut self, kind: Kind, texts: &[Titled<'_>]) -> Result<QuantizedVectors> {
        let known: Vec<Option<Place<'_>>> = texts.iter().map(|text| self.known.find(kind, *text)).collect();
        let missing: Vec<Titled<'_>> =
            texts.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(text, _)| *text).collect();
        self.done += texts.len() - missing.len();
        let mut fresh = QuantizedVectors::new(self.embedder.dimension());
        let batch = if self.embedder.is_costly() { BATCH_OF_MODEL } else { BATCH };
        for batch in missing.chunks(batch) {
            self.tell()?;
            let Embedded { vectors, fault } = match kind {
                Kind::Passage => embed_passages(self.embedder, batch).await,
                Kind::Sentence | Kind::Question => embed_sentences(self.embedder, batch).await,
            };
            for vector in vectors.iter().flatten() {
                fresh.push(vector.values());
            }
            if let Some(kept) = &mut self.fresh {
                let came = batch.iter().zip(&vectors).filter(|(_, vector)| vector.is_some());
                let keys: Vec<VectorKey> = came.map(|(text, _)| key(kind, *text)).collect();
                kept.keep(&keys, &fresh.view())?;
            }
            // What came was paid for, and is kept by now.
            if let Some(fault) = fault {
                return Err(fault);
            }
            self.done += batch.len();
        }
        if missing.len() == texts.len() {
            return Ok(fresh);
        }
        let mut all = QuantizedVectors::new(fresh.dimension);
        let mut rows = 0..;
        for place in known {
            match place {
                Some((vectors, row)) => all.push_row(&vectors, row),
                None => rows.by_ref().take(1).for_each(|row| all.push_row(&fresh.view(), row)),
            }
        }
        Ok(all)
    }

    /// Tells of progress, unless a stop was asked for.
    fn tell(&self) -> Result<()> {
        if self.options.cancellation.is_cancelled() {
            return Err(Error::Cancelled);
        }
        if let Some(progress) = &self.options.progress {
            progress(Progress { stage: "embedding", done: self.done as u64, total: self.total as u64 });
        }
        Ok(())
    }
}

/// Where a vector lies.
type Place<'a> = (Vectors<'a>, u32);

/// The vectors of an earlier version, by what they stand for.
#[derive(Default)]
struct Known<'a>(FxHashMap<VectorKey, Place<'a>>);

impl<'a> Known<'a> {
    fn of(snapshot: &'a Snapshot) -> Result<Self> {
        let mut known = Self::default();
        let graph = snapshot.graph();
        let [passages, sentences, incoming] =
            [VectorField::Passage, VectorField::Sentence, VectorField::Incoming].map(|field| snapshot.vectors(field));
        for passage in 0..snapshot.passage_count() {
            let shown = snapshot.passage(passage)?;
            let document = snapshot.document(graph.passage_document[passage as usize])?;
            let title = document.title.as_deref();
            known.add(Kind::Passage, Titled { title, text: &shown.text }, (passages, passage));
            for (span, sentence) in shown.sentences.iter().zip(row(graph.passage_sentences, passage)) {
                known.add(Kind::Sentence, Titled { title, text: span.of(&shown.text) }, (sentences, sentence as u32));
            }
        }
        let mut ask = |text, place| known.add(Kind::Question, Titled { title: None, text }, place);
        (0..incoming.len() as u32).for_each(|number| ask(snapshot.incoming(number), (incoming, number)));
        let outgoing = snapshot.outgoing_vectors();
        (0..outgoing.len() as u32).for_each(|number| ask(snapshot.outgoing(number), (outgoing, number)));
        Ok(known)
    }

    fn of_texts(texts: &Texts<'_>, vectors: &'a CorpusVectors) -> Self {
        let mut known = Self::default();
        let fields = [
            (Kind::Passage, &texts.passages, &vectors.passages),
            (Kind::Sentence, &texts.sentences, &vectors.sentences),
            (Kind::Question, &texts.incoming, &vectors.incoming),
            (Kind::Question, &texts.outgoing, &vectors.outgoing),
        ];
        for (kind, texts, vectors) in fields {
            let rows = 0..vectors.len() as u32;
            texts.iter().zip(rows).for_each(|(text, row)| known.add(kind, *text, (vectors.view(), row)));
        }
        known
    }

    fn add(&mut self, kind: Kind, text: Titled<'_>, place: Place<'a>) {
        self.0.insert(key(kind, text), place);
    }

    fn find(&self, kind: Kind, text: Titled<'_>) -> Option<Place<'a>> {
        if self.0.is_empty() { None } else { self.0.get(&key(kind, text)).copied() }
    }
}

fn key(kind: Kind, Titled { title, text }: Titled<'_>) -> VectorKey {
    let mut hasher = blake3::Hasher::new();
    // No title and an empty one are the same to an embedder; a length keeps title and text apart.
    let title = title.unwrap_or_default();
    hasher.update(&[kind as u8]).update(&(title.len() as u64).to_le_bytes()).update(title.as_bytes());
    *hasher.update(text.as_bytes()).finalize().as_bytes()
}
