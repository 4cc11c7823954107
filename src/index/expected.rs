//! What the questions that a model is to write would come to, and what stands for them until they are there.

use rustc_hash::FxHashSet;

use super::estimate::{AskedModel, StageEstimate};
use super::generate;
use super::options::{IndexOptions, ModelQuestions};
use crate::domain::{Document, Passage, PassageId, PseudoQuery, QuestionId, QuestionKind, QuestionOrigin, Usage};
use crate::error::Result;
use crate::llm::RequestKey;
use crate::skill::QuestionCalls;
use crate::text::model_tokens;
use crate::workspace::{DocumentUnit, PassageUnit, Records};

/// Tokens of the replies about a passage where none was counted yet: ten questions with three keywords each.
const REPLY_TOKENS: u64 = 330;
/// In-coming and out-coming questions of such a reply: the middle of what is asked for.
const QUESTIONS: [u64; 2] = [4, 6];
/// Tokens of all of them together: about half of a reply. The rest are keywords, and what makes it JSON.
const QUESTIONS_TOKENS: u64 = REPLY_TOKENS / 2;
/// Replies of a model from which on their mean stands for those to come.
const REPLIES_MIN: u64 = 20;

/// What the stage that writes questions would come to, so far.
pub(super) struct Questions<'a> {
    asked: &'a AskedModel,
    writer: String,
    question_calls: QuestionCalls,
    /// Tokens of a reply to each of the calls about a passage.
    reply_tokens: Vec<u64>,
    calls: u64,
    cached: u64,
    usage: Usage,
    /// What was counted as a call.
    asked_for: FxHashSet<RequestKey>,
    /// Passages for which the model gave nothing that can be used, and those of them that it is asked about anew.
    failed: FxHashSet<PassageId>,
    afresh: FxHashSet<PassageId>,
    /// Passages that get questions.
    written: FxHashSet<PassageId>,
}

impl<'a> Questions<'a> {
    pub(super) fn of(asked: &'a AskedModel, records: Option<&Records>, options: &IndexOptions) -> Result<Self> {
        let question_calls = options.question_calls;
        let writer = generate::writer(&asked.kept_as, question_calls);
        let failed = records.map_or(Ok(Vec::new()), |records| records.failed_by(&writer))?;
        let afresh = records.map_or(Ok(FxHashSet::default()), |it| generate::asked_anew(it, &writer, options))?;
        Ok(Self {
            asked,
            reply_tokens: reply_tokens(asked, records, &writer, question_calls)?,
            writer,
            question_calls,
            calls: 0,
            cached: 0,
            usage: Usage { is_estimated: true, ..Usage::default() },
            asked_for: FxHashSet::default(),
            failed: failed.into_iter().collect(),
            afresh,
            written: FxHashSet::default(),
        })
    }

    pub(super) fn writer(&self) -> &str {
        &self.writer
    }

    /// Adds the passages of a document that have no questions of this writer.
    pub(super) fn add(&mut self, unit: &DocumentUnit) -> Result<()> {
        let unwritten = unit.passages.iter().filter(|it| it.writer.as_ref() != Some(&self.writer));
        for passage in unwritten.map(|it| &it.passage).collect::<Vec<_>>() {
            self.add_passage(&unit.document, passage)?;
        }
        Ok(())
    }

    fn add_passage(&mut self, document: &Document, passage: &Passage) -> Result<()> {
        let Some(task) = generate::task(document, passage) else { return Ok(()) };
        let mut is_kept = true;
        for (request, reply_tokens) in self.question_calls.requests(&task)?.iter().zip(self.reply_tokens.clone()) {
            let key = request.key(&self.asked.kept_as);
            let replies = self.asked.replies.as_ref().filter(|_| !self.afresh.contains(&passage.id));
            let kept = replies.map(|replies| replies.get(key.as_bytes())).transpose()?.flatten();
            is_kept &= kept.is_some();
            // Of equal prompts one is sent.
            if kept.is_some() || !self.asked_for.insert(key) {
                self.cached += 1;
            } else {
                self.calls += 1;
                self.usage.input_tokens += request.input_tokens(self.asked.sends_schema);
                self.usage.output_tokens += reply_tokens;
            }
        }
        // What is kept of a passage that failed is of no use once more.
        if !is_kept || !self.failed.contains(&passage.id) {
            self.written.insert(passage.id);
        }
        Ok(())
    }

    pub(super) fn stage(&self) -> StageEstimate {
        let usage = self.usage;
        StageEstimate {
            stage: "questions".to_owned(),
            model: self.asked.name.clone(),
            calls: self.calls,
            cached: self.cached,
            texts: None,
            usage,
            cost: self.asked.prices.cost(&self.asked.name, usage),
        }
    }
}

/// Returns the tokens of a reply to each of the calls about a passage: the mean of those of this writer, once there are
/// enough.
fn reply_tokens(
    asked: &AskedModel,
    records: Option<&Records>,
    writer: &str,
    question_calls: QuestionCalls,
) -> Result<Vec<u64>> {
    let mut tokens = match question_calls {
        QuestionCalls::Together => vec![REPLY_TOKENS],
        QuestionCalls::Separate => QUESTIONS.map(|it| REPLY_TOKENS * it / QUESTIONS.iter().sum::<u64>()).to_vec(),
    };
    let Some(records) = records else { return Ok(tokens) };
    let known =
        records.spending()?.into_iter().find(|(model, spent)| *model == asked.name && spent.calls >= REPLIES_MIN);
    if let Some((_, spent)) = known
        && records.is_written_by(writer)?
    {
        tokens.fill(spent.usage.output_tokens / spent.calls);
    }
    Ok(tokens)
}

/// A mean, as a sum and of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mean {
    sum: u64,
    count: u64,
}

impl Mean {
    /// Returns the whole part of the mean that the item with this number has, so that all together have the sum.
    const fn share(self, number: u64) -> u64 {
        (number + 1) * self.sum / self.count - number * self.sum / self.count
    }
}

/// What stands for questions that are not written yet: as many, and of as many tokens, as those that the model wrote
/// have in the mean, once there are enough of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StandIns {
    /// In-coming and out-coming questions of a passage.
    questions: [Mean; 2],
    /// Tokens of a question.
    tokens: Mean,
}

impl StandIns {
    /// Returns what stands for questions of a writer beside those that it wrote already.
    pub(super) fn of(units: &[DocumentUnit], writer: &str) -> Self {
        let passages = units.iter().flat_map(|unit| &unit.passages);
        let written: Vec<&PassageUnit> = passages.filter(|it| it.writer.as_deref() == Some(writer)).collect();
        let count = written.len() as u64;
        let questions = written.iter().flat_map(|it| &it.questions).filter(|it| it.origin == QuestionOrigin::Model);
        let (mut sums, mut tokens) = ([0; 2], 0);
        for question in questions {
            sums[usize::from(question.kind == QuestionKind::Outgoing)] += 1;
            tokens += model_tokens(&question.text);
        }
        if count < REPLIES_MIN || sums == [0; 2] {
            let tokens = Mean { sum: QUESTIONS_TOKENS, count: QUESTIONS.iter().sum() };
            return Self { questions: QUESTIONS.map(|sum| Mean { sum, count: 1 }), tokens };
        }
        let tokens = Mean { sum: tokens, count: sums.iter().sum() };
        Self { questions: sums.map(|sum| Mean { sum, count }), tokens }
    }

    /// Puts them into the passages that are to get questions, as these would stand there.
    pub(super) fn put(self, units: &mut [DocumentUnit], questions: &Questions<'_>, beside: ModelQuestions) {
        let passages = units.iter_mut().flat_map(|unit| &mut unit.passages);
        let mut number = 0;
        for (passage, place) in passages.filter(|it| questions.written.contains(&it.passage.id)).zip(0..) {
            passage.questions.retain(|it| beside == ModelQuestions::Beside && it.origin == QuestionOrigin::Rule);
            for (kind, mean) in [QuestionKind::Incoming, QuestionKind::Outgoing].into_iter().zip(self.questions) {
                for _ in 0..mean.share(place) {
                    passage.questions.push(stand_in(&passage.passage, kind, number, self.tokens.share(number)));
                    number += 1;
                }
            }
        }
    }
}

/// Returns a question that is like no other, of so many tokens.
fn stand_in(passage: &Passage, kind: QuestionKind, number: u64, tokens: u64) -> PseudoQuery {
    let mut text = number.to_string();
    let words = tokens.saturating_sub(model_tokens(&text));
    text.extend((0..words).map(|_| " a"));
    PseudoQuery {
        id: QuestionId::of(&[text.as_bytes()]),
        passage: passage.id,
        kind,
        origin: QuestionOrigin::Model,
        text,
        keywords: Vec::new().into(),
        sentence: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{DocumentId, Span};

    fn passage() -> Passage {
        Passage {
            id: PassageId::of(&[b"p"]),
            document: DocumentId::of(&[b"d"]),
            ordinal: 0,
            span: Span { start: 0, end: 0 },
            page: None,
            line: None,
            section: None,
            text: String::new(),
            sentences: Vec::new(),
        }
    }

    #[test]
    fn shares_of_a_mean_come_to_its_sum() {
        let mean = Mean { sum: 47, count: 20 };
        assert_eq!((0..20).map(|number| mean.share(number)).sum::<u64>(), 47);
        assert!((0..40).all(|number| (2..=3).contains(&mean.share(number))));
    }

    fn unit(count: u64, writer: &str) -> DocumentUnit {
        let document = Document::new("d", None, "");
        let written = |number: u64| {
            let texts = [(QuestionKind::Incoming, 2), (QuestionKind::Outgoing, 3)];
            let questions = texts
                .into_iter()
                .flat_map(|(kind, count)| (0..count).map(move |it| stand_in(&passage(), kind, 10 * number + it, 8)));
            let passage = Passage { id: PassageId::of(&[&number.to_le_bytes()]), ..passage() };
            PassageUnit { passage, questions: questions.collect(), writer: Some(writer.to_owned()) }
        };
        DocumentUnit {
            root: String::new(),
            content: [0; 32],
            fingerprint: String::new(),
            document,
            passages: (0..count).map(written).collect(),
        }
    }

    #[test]
    fn questions_to_come_are_as_those_that_the_model_wrote_once_there_are_enough_of_them() {
        let of = |count, writer: &str| {
            let StandIns { questions, tokens } = StandIns::of(&[unit(count, writer)], "w");
            ([questions[0].share(0), questions[1].share(0)], tokens.share(0))
        };
        assert_eq!(of(REPLIES_MIN, "w"), ([2, 3], 8));
        assert_eq!(of(REPLIES_MIN - 1, "w"), ([4, 6], 16));
        assert_eq!(of(REPLIES_MIN, "another"), ([4, 6], 16));
    }

    #[test]
    fn a_stand_in_has_as_many_tokens_as_it_is_to_have_and_is_like_no_other() {
        let texts: Vec<String> =
            (0..2_000).map(|number| stand_in(&passage(), QuestionKind::Incoming, number, 13).text).collect();
        assert!(texts.iter().all(|text| model_tokens(text) == 13));
        assert_eq!(texts.iter().collect::<FxHashSet<_>>().len(), 2_000);
    }
}
