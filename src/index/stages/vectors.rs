//! The vectors of a version: passages, sentences, and questions of both sides.
//!
//! What the version before says of equal texts is taken over. A model takes longer over the others than everything
//! else together: so those of each call are kept as they come until the version is there, and between batches a run
//! can be stopped.
//! Where a budget is spent, the texts that are left have vectors of zeros, which are like no other, for the time being.

use rustc_hash::FxHashSet;

use super::difference::Difference;
use super::keeping::{Coming, Keeper, Rows, kept_title, title_key};
use super::known::{Earlier, Known, key};
use super::{Digest, Inputs, Made, Stage, StageKind};
use crate::domain::{ChatError, Embedding as Vector, Progress, Spent};
use crate::embed::{
    Account, Embedded, Embedder, TitleVectors, Titled, embed_passages, embed_sentences, expected_passages,
    expected_sentences, titles,
};
use crate::error::{Error, Result};
use crate::graph::vectors::{QuantizedVectors, Vectors};
use crate::index::options::{IndexOptions, VectorReport};
use crate::store::VectorField;
use crate::workspace::{LastVersion, PassagePart, QuestionParts, VectorKey};

/// Texts embedded in one call: enough to keep every core busy, few enough to stay small.
const BATCH: usize = 2_048;
/// The same where a text takes milliseconds: a stop is not to wait for thousands.
const BATCH_OF_MODEL: usize = 256;

/// What a vector stands for: equal texts of different kinds may have different vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Passage = 1,
    Sentence = 2,
    Question = 3,
}

/// What has vectors, a field each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::index) enum Field {
    Passages,
    Sentences,
    Incoming,
    Outgoing,
}

impl Field {
    pub(super) const ALL: [Self; 4] = [Self::Passages, Self::Sentences, Self::Incoming, Self::Outgoing];

    pub(super) const fn kind(self) -> Kind {
        match self {
            Self::Passages => Kind::Passage,
            Self::Sentences => Kind::Sentence,
            Self::Incoming | Self::Outgoing => Kind::Question,
        }
    }
}

/// The texts of a corpus that have vectors, in the order of their ordinals. They are read where they are: there may be
/// millions.
pub(in crate::index) struct Texts<'a> {
    passages: &'a [PassagePart<'a>],
    /// The title of each passage.
    titles: Vec<Option<&'a str>>,
    /// How many sentences come before each passage, and how many there are.
    sentences_before: Vec<usize>,
    incoming: &'a QuestionParts<'a>,
    outgoing: &'a QuestionParts<'a>,
}

impl<'a> Texts<'a> {
    /// `titles` are those of the passages, one each.
    pub(in crate::index) fn of(
        passages: &'a [PassagePart<'a>],
        titles: Vec<Option<&'a str>>,
        [incoming, outgoing]: [&'a QuestionParts<'a>; 2],
    ) -> Self {
        let (mut sentences_before, mut count) = (Vec::with_capacity(passages.len() + 1), 0);
        sentences_before.push(count);
        for passage in passages {
            count += passage.sentences.len();
            sentences_before.push(count);
        }
        Self { passages, titles, sentences_before, incoming, outgoing }
    }

    pub(super) fn len(&self, field: Field) -> usize {
        match field {
            Field::Passages => self.passages.len(),
            Field::Sentences => self.sentences_before[self.passages.len()],
            Field::Incoming => self.incoming.len(),
            Field::Outgoing => self.outgoing.len(),
        }
    }

    /// Returns the text of this number of a field.
    pub(super) fn get(&self, field: Field, number: usize) -> Titled<'a> {
        let bare = |questions: &QuestionParts<'a>| Titled { title: None, text: questions.get(number).text };
        match field {
            Field::Passages => Titled { title: self.titles[number], text: self.passages[number].text },
            Field::Sentences => {
                let passage = self.sentences_before.partition_point(|before| *before <= number) - 1;
                let PassagePart { text, sentences, .. } = self.passages[passage];
                let sentence = sentences[number - self.sentences_before[passage]];
                Titled { title: self.titles[passage], text: sentence.of(text) }
            }
            Field::Incoming => bare(self.incoming),
            Field::Outgoing => bare(self.outgoing),
        }
    }

    pub(super) fn of_field(&self, field: Field) -> impl Iterator<Item = Titled<'a>> {
        (0..self.len(field)).map(move |number| self.get(field, number))
    }
}

/// The vectors of a corpus.
pub(in crate::index) struct CorpusVectors {
    pub(in crate::index) passages: QuantizedVectors,
    pub(in crate::index) sentences: QuantizedVectors,
    pub(in crate::index) incoming: QuantizedVectors,
    pub(in crate::index) outgoing: QuantizedVectors,
}

impl CorpusVectors {
    pub(super) fn of_field(&self, field: Field) -> &QuantizedVectors {
        match field {
            Field::Passages => &self.passages,
            Field::Sentences => &self.sentences,
            Field::Incoming => &self.incoming,
            Field::Outgoing => &self.outgoing,
        }
    }
}

/// The vectors of a field.
pub(in crate::index) enum FieldVectors<'v> {
    /// Made of its texts.
    Made(QuantizedVectors),
    /// Where an earlier version has them.
    TakenOver(Vectors<'v>),
    /// Some where an earlier version has them first, others made or taken from elsewhere: the row of each text among
    /// both, those after these.
    Joined { first: Vectors<'v>, added: QuantizedVectors, rows: Vec<u32> },
}

impl FieldVectors<'_> {
    pub(in crate::index) fn view(&self) -> Vectors<'_> {
        match self {
            Self::Made(vectors) => vectors.view(),
            Self::TakenOver(vectors) => *vectors,
            Self::Joined { first, added, rows } => Vectors { added: added.parts(), rows: Some(rows), ..*first },
        }
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

/// Returns about what embedding would come to on an account, and how many texts it would make vectors of. `kept` says
/// of what there are vectors beside those of `earlier`.
pub(in crate::index) fn expected(
    account: &Account,
    texts: &Texts<'_>,
    earlier: &Earlier,
    kept: &[VectorKey],
) -> (Spent, u64) {
    let known = earlier.known(texts);
    let kept: FxHashSet<&VectorKey> = kept.iter().collect();
    let (mut expected, mut count) = (account.expected(&[]), 0);
    for field in Field::ALL {
        let kind = field.kind();
        let is_missing = |text: &Titled<'_>| known.find(kind, *text).is_none() && !kept.contains(&key(kind, *text));
        let missing: Vec<Titled<'_>> = texts.of_field(field).filter(is_missing).collect();
        count += missing.len() as u64;
        for batch in missing.chunks(BATCH_OF_MODEL) {
            expected.add(&match kind {
                Kind::Passage => {
                    let mut titles = titles(batch);
                    titles.retain(|title| !kept.contains(&title_key(title, 0)));
                    expected_passages(account, batch, &titles)
                }
                Kind::Sentence | Kind::Question => expected_sentences(account, batch),
            });
        }
    }
    (expected, count)
}

/// Makes the vectors of a field.
pub(in crate::index) struct EmbedField<'s, 'c, 'k> {
    field: Field,
    embedding: &'s mut Embedding<'c, 'k>,
}

impl<'v, 'c: 'v> Stage<'v> for EmbedField<'_, 'c, '_> {
    type Part = FieldVectors<'v>;

    fn kind(&self) -> StageKind {
        match self.field {
            Field::Passages => StageKind::PassageVectors,
            Field::Sentences => StageKind::SentenceVectors,
            Field::Incoming => StageKind::IncomingVectors,
            Field::Outgoing => StageKind::OutgoingVectors,
        }
    }

    fn inputs(&self, inputs: &mut Inputs) {
        self.embedding.inputs(self.field, inputs);
    }

    fn take_over(&self, last: &'v LastVersion) -> Option<FieldVectors<'v>> {
        let vectors = match self.field {
            Field::Passages => last.vectors(VectorField::Passage),
            Field::Sentences => last.vectors(VectorField::Sentence),
            Field::Incoming => last.vectors(VectorField::Incoming),
            Field::Outgoing => last.outgoing_vectors(),
        }?;
        let size = (self.embedding.embedder.dimension(), self.embedding.texts.len(self.field));
        ((vectors.dimension, vectors.len()) == size).then_some(FieldVectors::TakenOver(vectors))
    }

    async fn make(self) -> Result<Made<FieldVectors<'v>>> {
        let left = self.embedding.report.left;
        let part = self.embedding.embed(self.field).await?;
        Ok(Made { part, cut: 0, is_whole: self.embedding.report.left == left })
    }
}

/// The making of vectors, field after field.
pub(in crate::index) struct Embedding<'c, 'k> {
    embedder: &'c dyn Embedder,
    texts: &'c Texts<'c>,
    /// Digest of the texts of passages and sentences.
    digest: Digest,
    earlier: &'c Earlier,
    difference: Option<&'c Difference<'c>>,
    /// What is there already, once that was looked for.
    known: Option<Known<'c>>,
    keeper: Option<Keeper<'k>>,
    when_spent: WhenSpent,
    options: &'c IndexOptions,
    done: usize,
    total: usize,
    report: VectorReport,
}

impl<'c, 'k> Embedding<'c, 'k> {
    /// `keeper` keeps vectors as they are made, where there is one.
    pub(in crate::index) fn new(
        embedder: &'c dyn Embedder,
        (texts, digest): (&'c Texts<'c>, Digest),
        (earlier, difference): (&'c Earlier, Option<&'c Difference<'c>>),
        keeper: Option<Keeper<'k>>,
        when_spent: WhenSpent,
        options: &'c IndexOptions,
    ) -> Self {
        let total = Field::ALL.iter().map(|field| texts.len(*field)).sum();
        let report = VectorReport { embedder: embedder.name().to_owned(), ..VectorReport::default() };
        let (known, done) = (None, 0);
        Self { embedder, texts, digest, earlier, difference, known, keeper, when_spent, options, done, total, report }
    }

    /// Returns the stage of a field.
    pub(in crate::index) fn field(&mut self, field: Field) -> EmbedField<'_, 'c, 'k> {
        EmbedField { field, embedding: self }
    }

    /// Adds what the vectors of a field depend on. An embedder is its name: that changes whenever its vectors do.
    fn inputs<'i>(&self, field: Field, inputs: &'i mut Inputs) -> &'i mut Inputs {
        inputs.text(self.embedder.name()).number(self.embedder.dimension());
        if matches!(field, Field::Passages | Field::Sentences) {
            return inputs.bytes(self.digest.as_bytes());
        }
        let questions = if field == Field::Incoming { self.texts.incoming } else { self.texts.outgoing };
        inputs.bytes(bytemuck::cast_slice(&questions.lengths()));
        questions.texts().for_each(|texts| inputs.add(texts));
        inputs
    }

    /// Returns one vector a text of a field.
    async fn embed(&mut self, field: Field) -> Result<FieldVectors<'c>> {
        let known = match self.known.take() {
            Some(known) => known,
            None => self.look_up()?,
        };
        let places = known.places(field, self.texts);
        let missing = places.iter().enumerate().filter(|(_, place)| place.is_none());
        let missing: Vec<Titled<'_>> = missing.map(|(text, _)| self.texts.get(field, text)).collect();
        let before = Field::ALL.iter().take_while(|it| **it != field);
        self.done = before.map(|it| self.texts.len(*it)).sum::<usize>() + places.len() - missing.len();
        let made = self.missing(field.kind(), &missing, &known).await?;
        let is_all = missing.len() == places.len();
        let vectors = if is_all { FieldVectors::Made(made) } else { known.joined(field, &places, made) };
        self.known = Some(known);
        Ok(vectors)
    }

    /// Returns what is there already: in an earlier version, and of a run that was broken off.
    fn look_up(&mut self) -> Result<Known<'c>> {
        let mut known = match self.earlier {
            // A text that moved to another document may have a vector already; one that costs little is simply made
            // again.
            Earlier::Version(last) if !self.embedder.is_costly() => Known::beside(last, self.difference),
            earlier => earlier.known(self.texts),
        };
        if let Some(keeper) = &mut self.keeper {
            let (keys, vectors) = keeper.fresh.take_up(self.embedder.dimension())?;
            known.add_kept(&keys, vectors);
        }
        Ok(known)
    }

    /// Returns what all of it came to.
    pub(in crate::index) fn finish(self) -> VectorReport {
        self.report
    }

    /// Makes vectors, as far as the budget goes.
    async fn missing(&mut self, kind: Kind, missing: &[Titled<'_>], known: &Known<'_>) -> Result<QuantizedVectors> {
        let dimension = self.embedder.dimension();
        let (mut fresh, nothing) = (QuantizedVectors::with_room(dimension, missing.len()), vec![0.0; dimension]);
        let batch = if self.embedder.is_costly() { BATCH_OF_MODEL } else { BATCH };
        for batch in missing.chunks(batch) {
            self.tell()?;
            let Embedded { vectors, fault } = match kind {
                _ if self.report.stopped.is_some() => Embedded { vectors: vec![None; batch.len()], fault: None },
                Kind::Passage => self.passages(batch, known).await?,
                Kind::Sentence | Kind::Question => self.sentences(kind, batch).await?,
            };
            for vector in &vectors {
                fresh.push(vector.as_ref().map_or(nothing.as_slice(), |vector| vector.values()));
            }
            let came = vectors.iter().flatten().count();
            self.report.made += came as u64;
            self.report.left += (batch.len() - came) as u64;
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

    /// Embeds passages, after those of their titles that are not kept.
    async fn passages(&mut self, batch: &[Titled<'_>], known: &Known<'_>) -> Result<Embedded> {
        let embedder = self.embedder;
        let (mut vectors, mut due) = (TitleVectors::default(), Vec::new());
        for title in titles(batch) {
            match kept_title(known, title) {
                Some(values) => drop(vectors.insert(title, values)),
                None => due.push(title),
            }
        }
        let mut coming = self.coming(due.len(), |place, vector, rows| rows.push_title(due[place], vector));
        let made = embedder.embed_partly(&due, &mut |came| coming.keep(came)).await;
        coming.finish(&made)?;
        match made.whole() {
            Ok(made) => vectors.extend(due.into_iter().zip(made.iter().map(|vector| vector.values().to_vec()))),
            Err(fault) => return Ok(Embedded::failed(batch.len(), fault)),
        }
        let add = |place: usize, vector: &Vector, rows: &mut Rows| rows.push(key(Kind::Passage, batch[place]), vector);
        let mut coming = self.coming(batch.len(), add);
        let made = embed_passages(embedder, batch, &vectors, &mut |came| coming.keep(came)).await;
        coming.finish(&made)?;
        Ok(made)
    }

    async fn sentences(&mut self, kind: Kind, batch: &[Titled<'_>]) -> Result<Embedded> {
        let embedder = self.embedder;
        let add = |place: usize, vector: &Vector, rows: &mut Rows| rows.push(key(kind, batch[place]), vector);
        let mut coming = self.coming(batch.len(), add);
        let made = embed_sentences(embedder, batch, &mut |came| coming.keep(came)).await;
        coming.finish(&made)?;
        Ok(made)
    }

    /// Returns where the vectors of `count` texts go; `add` adds what is kept of one.
    fn coming<F: Fn(usize, &Vector, &mut Rows)>(&mut self, count: usize, add: F) -> Coming<'_, 'k, F> {
        Coming {
            embedder: self.embedder,
            keeper: self.keeper.as_mut(),
            spent: &mut self.report.spent,
            is_kept: vec![false; count],
            add,
            fault: None,
        }
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
