//! The vectors of a version: passages, sentences, and questions of both sides.
//!
//! A model takes longer over them than everything else together. So what the version before says of equal texts is
//! taken over, each batch is kept as it comes until the version is there, and between batches a run can be stopped.
//! Where a budget is spent, the texts that are left have vectors of zeros, which are like no other, for the time being.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::domain::{ChatError, Passage, Progress, PseudoQuery, Spent};
use crate::embed::{
    Account, Embedded, Embedder, Titled, embed_passages, embed_sentences, expected_passages, expected_sentences,
};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::packed::row;
use crate::graph::vectors::{QuantizedVectors, Vectors};
use crate::index::options::{IndexOptions, VectorReport};
use crate::store::{GraphReader as _, VectorField};
use crate::workspace::{FreshVectors, Records, Snapshot, VectorKey, Workspace, WorkspaceOptions};

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
pub(in crate::index) struct Texts<'a> {
    passages: Vec<Titled<'a>>,
    sentences: Vec<Titled<'a>>,
    incoming: Vec<Titled<'a>>,
    outgoing: Vec<Titled<'a>>,
}

impl<'a> Texts<'a> {
    /// `titles` are those of the passages, one each.
    pub(in crate::index) fn of(
        passages: &[&'a Passage],
        titles: &[Option<&'a str>],
        [incoming, outgoing]: [&[&'a PseudoQuery]; 2],
    ) -> Self {
        let bare = |question: &&'a PseudoQuery| Titled { title: None, text: &question.text };
        let mut texts = Self {
            passages: Vec::with_capacity(passages.len()),
            sentences: Vec::new(),
            incoming: incoming.iter().map(bare).collect(),
            outgoing: outgoing.iter().map(bare).collect(),
        };
        for (passage, &title) in passages.iter().zip(titles) {
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
pub(in crate::index) struct CorpusVectors {
    pub(in crate::index) passages: QuantizedVectors,
    pub(in crate::index) sentences: QuantizedVectors,
    pub(in crate::index) incoming: QuantizedVectors,
    pub(in crate::index) outgoing: QuantizedVectors,
}

/// Vectors that are there already, of the same embedder.
pub(in crate::index) enum Earlier {
    /// None.
    None,
    /// Those of an earlier version.
    Version(Box<Snapshot>),
    /// Those of this very corpus, kept elsewhere.
    Kept(Box<CorpusVectors>),
}

impl Earlier {
    /// Returns the current version, if its vectors are worth having for an embedder with this pin.
    pub(in crate::index) fn of(workspace: &Workspace, embedder: &dyn Embedder, pin: &WorkspaceOptions) -> Result<Self> {
        if !embedder.is_costly() || workspace.records()?.manifest()?.pin() != *pin {
            return Ok(Self::None);
        }
        // One that cannot be opened is made anew, vectors and all.
        Ok(workspace.snapshot().map_or(Self::None, |snapshot| Self::Version(Box::new(snapshot))))
    }
}

/// What becomes of a version where the budget is spent before all its texts have vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::index) enum WhenSpent {
    /// It is made all the same: what has no vector is found by words.
    GoOn,
    /// It is not made: there is one with all its vectors, of another embedder.
    Fail,
}

/// Where vectors and what they came to are kept as they come.
pub(in crate::index) struct Keeper<'a> {
    pub(in crate::index) fresh: FreshVectors,
    pub(in crate::index) records: &'a mut Records,
}

/// Returns one vector a text, and what that came to; those that are made are kept by `keeper`, where there is one.
pub(in crate::index) async fn embed(
    embedder: &dyn Embedder,
    texts: &Texts<'_>,
    earlier: &Earlier,
    mut keeper: Option<Keeper<'_>>,
    when_spent: WhenSpent,
    options: &IndexOptions,
) -> Result<(CorpusVectors, VectorReport)> {
    let left = keeper.as_mut().map(|keeper| keeper.fresh.take_up(embedder.dimension())).transpose()?;
    let mut known = match earlier {
        Earlier::None => Known::default(),
        Earlier::Version(snapshot) => Known::of(snapshot)?,
        Earlier::Kept(vectors) => Known::of_texts(texts, vectors),
    };
    if let Some((keys, vectors)) = &left {
        known.0.extend(keys.iter().zip(0..).map(|(key, row)| (*key, (vectors.view(), row))));
    }
    let report = VectorReport { embedder: embedder.name().to_owned(), ..VectorReport::default() };
    let mut stage = Stage { embedder, known, keeper, when_spent, options, done: 0, total: texts.len(), report };
    let vectors = CorpusVectors {
        passages: stage.embed(Kind::Passage, &texts.passages).await?,
        sentences: stage.embed(Kind::Sentence, &texts.sentences).await?,
        incoming: stage.embed(Kind::Question, &texts.incoming).await?,
        outgoing: stage.embed(Kind::Question, &texts.outgoing).await?,
    };
    Ok((vectors, stage.report))
}

/// Returns about what [`embed`] would come to on an account, and how many texts it would make vectors of. `kept` says
/// of what there are vectors beside those of `earlier`.
pub(in crate::index) fn expected(
    account: &Account,
    texts: &Texts<'_>,
    earlier: &Earlier,
    kept: &[VectorKey],
) -> Result<(Spent, u64)> {
    let known = match earlier {
        Earlier::Version(snapshot) => Known::of(snapshot)?,
        Earlier::None | Earlier::Kept(_) => Known::default(),
    };
    let kept: FxHashSet<&VectorKey> = kept.iter().collect();
    let (mut expected, mut count) = (account.expected(&[]), 0);
    for (kind, texts) in [
        (Kind::Passage, &texts.passages),
        (Kind::Sentence, &texts.sentences),
        (Kind::Question, &texts.incoming),
        (Kind::Question, &texts.outgoing),
    ] {
        let is_missing = |text: &&Titled<'_>| known.find(kind, **text).is_none() && !kept.contains(&key(kind, **text));
        let missing: Vec<Titled<'_>> = texts.iter().filter(is_missing).copied().collect();
        count += missing.len() as u64;
        for batch in missing.chunks(BATCH_OF_MODEL) {
            expected.add(&match kind {
                Kind::Passage => expected_passages(account, batch),
                Kind::Sentence | Kind::Question => expected_sentences(account, batch),
            });
        }
    }
    Ok((expected, count))
}

/// Embedding as a stage of a run.
struct Stage<'a> {
    embedder: &'a dyn Embedder,
    known: Known<'a>,
    keeper: Option<Keeper<'a>>,
    when_spent: WhenSpent,
    options: &'a IndexOptions,
    done: usize,
    total: usize,
    report: VectorReport,
}

impl Stage<'_> {
    async fn embed(&mut self, kind: Kind, texts: &[Titled<'_>]) -> Result<QuantizedVectors> {
        let known: Vec<Option<Place<'_>>> = texts.iter().map(|text| self.known.find(kind, *text)).collect();
        let missing: Vec<Titled<'_>> =
            texts.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(text, _)| *text).collect();
        self.done += texts.len() - missing.len();
        let fresh = self.missing(kind, &missing).await?;
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

    /// Makes vectors, as far as the budget goes.
    async fn missing(&mut self, kind: Kind, missing: &[Titled<'_>]) -> Result<QuantizedVectors> {
        let dimension = self.embedder.dimension();
        let (mut fresh, nothing) = (QuantizedVectors::new(dimension), vec![0.0; dimension]);
        let batch = if self.embedder.is_costly() { BATCH_OF_MODEL } else { BATCH };
        for batch in missing.chunks(batch) {
            self.tell()?;
            let Embedded { vectors, fault } = match kind {
                _ if self.report.stopped.is_some() => Embedded { vectors: vec![None; batch.len()], fault: None },
                Kind::Passage => embed_passages(self.embedder, batch).await,
                Kind::Sentence | Kind::Question => embed_sentences(self.embedder, batch).await,
            };
            let first = fresh.len();
            for vector in &vectors {
                fresh.push(vector.as_ref().map_or(nothing.as_slice(), |vector| vector.values()));
            }
            let came = (first as u32..).zip(batch).zip(&vectors).filter(|(_, vector)| vector.is_some());
            let came: Vec<(u32, VectorKey)> = came.map(|((row, text), _)| (row, key(kind, *text))).collect();
            self.keep(&came, &fresh)?;
            self.report.made += came.len() as u64;
            self.report.left += (batch.len() - came.len()) as u64;
            // What came was paid for, and is kept by now.
            match fault {
                Some(Error::EmbedderServer { source: fault @ ChatError::Budget { .. }, .. })
                    if self.when_spent == WhenSpent::GoOn =>
                {
                    self.report.stopped = Some(fault.to_string());
                }
                Some(fault) => return Err(fault),
                None => {}
            }
            self.done += batch.len();
        }
        Ok(fresh)
    }

    /// Keeps vectors that came, each a row of `fresh`, and what the calls since the last time came to.
    fn keep(&mut self, came: &[(u32, VectorKey)], fresh: &QuantizedVectors) -> Result<()> {
        let spent = self.embedder.account().map(Account::take_spent).unwrap_or_default();
        self.report.spent.add(&spent);
        let Some(Keeper { fresh: kept, records }) = &mut self.keeper else { return Ok(()) };
        let mut rows = QuantizedVectors::new(fresh.dimension);
        for (row, _) in came {
            rows.push_row(&fresh.view(), *row);
        }
        let keys: Vec<VectorKey> = came.iter().map(|(_, key)| *key).collect();
        if !keys.is_empty() {
            kept.keep(&keys, &rows.view())?;
        }
        records.add_spending(self.embedder.name(), &spent)
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

/// Returns the vectors of a field that are what was written; none of one that was damaged, which is made anew.
fn intact(found: Result<Vectors<'_>>) -> Result<Vectors<'_>> {
    match found {
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            tracing::warn!(%error, "vectors of the version before are made anew");
            Ok(Vectors::default())
        }
        found => found,
    }
}

/// The vectors of an earlier version, by what they stand for.
#[derive(Default)]
struct Known<'a>(FxHashMap<VectorKey, Place<'a>>);

impl<'a> Known<'a> {
    fn of(snapshot: &'a Snapshot) -> Result<Self> {
        let mut known = Self::default();
        let graph = snapshot.graph();
        let field = |field| intact(snapshot.vectors(field));
        let (passages, sentences) = (field(VectorField::Passage)?, field(VectorField::Sentence)?);
        let (incoming, outgoing) = (field(VectorField::Incoming)?, intact(snapshot.outgoing_vectors())?);
        for passage in 0..snapshot.passage_count() {
            let shown = snapshot.passage(passage)?;
            let document = snapshot.document(graph.passage_document[passage as usize])?;
            let title = document.title.as_deref();
            known.add_made(Kind::Passage, Titled { title, text: &shown.text }, (passages, passage));
            for (span, sentence) in shown.sentences.iter().zip(row(graph.passage_sentences, passage)) {
                known.add_made(
                    Kind::Sentence,
                    Titled { title, text: span.of(&shown.text) },
                    (sentences, sentence as u32),
                );
            }
        }
        let mut ask = |text, place| known.add_made(Kind::Question, Titled { title: None, text }, place);
        (0..incoming.len() as u32).for_each(|number| ask(snapshot.incoming(number), (incoming, number)));
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

    /// Adds a vector, unless it is one of zeros: what it stands for has none yet, or no word.
    fn add_made(&mut self, kind: Kind, text: Titled<'_>, place: Place<'a>) {
        let (vectors, row) = place;
        if !vectors.is_empty() && vectors.codes(row).iter().any(|code| *code != 0) {
            self.add(kind, text, place);
        }
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
