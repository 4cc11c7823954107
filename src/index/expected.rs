//! The expected cost of a model's questions, and placeholders for them until they are written.

use rustc_hash::FxHashSet;

use super::asking::{self, Key};
use super::estimate::{AskedModel, StageEstimate};
use super::options::{IndexOptions, ModelQuestions};
use super::{extract, generate, report};
use crate::domain::{
    Document, DocumentId, Passage, PassageId, PseudoQuery, QuestionId, QuestionKind, QuestionOrigin, Usage,
};
use crate::error::Result;
use crate::llm::{ChatRequest, RequestKey};
use crate::skill::{EntityTypes, ExtractCalls, GenerateTask, QuestionCalls};
use crate::text::{model_tokens, tokens_to_english};
use crate::workspace::{DocumentUnit, ModelStage, PassageUnit, Records, WrittenCounts};

/// Tokens of the replies about an English passage, if none was counted yet: ten questions with three keywords each.
const REPLY_TOKENS: u64 = 330;
/// Tokens of a reply with the entities of an English passage, if none was counted yet: seven entities and five
/// relations, with a sentence each and one quoted.
const ENTITIES_TOKENS: u64 = 600;
/// Tokens of a merged description of an entity.
const DESCRIPTION_TOKENS: u64 = 300;
/// Tokens of a reply about a cluster: two summaries of one sentence.
const SUMMARY_TOKENS: u64 = 160;
/// Tokens of a report about a topic: a summary of two sentences, and five findings.
const REPORT_TOKENS: u64 = 300;
/// Tokens of a reply with types of entities.
pub(super) const TYPES_TOKENS: u64 = 40;
/// The share of it in the language of the passage; the rest is JSON syntax.
const SAID_SHARE: f64 = 2.0 / 3.0;
/// Minimum and maximum of a reply relative to the expectation, until some were counted: 6 to 14 questions are requested
/// where 10 are expected, and the length of a question depends on language and model.
const RANGE: [f64; 2] = [0.5, 1.75];
/// In-coming and out-coming questions of such a reply: the middle of the requested range.
const QUESTIONS: [u64; 2] = [4, 6];
/// Tokens of all of them together: about half of a reply. The rest are keywords and JSON syntax.
const QUESTIONS_TOKENS: u64 = REPLY_TOKENS / 2;
/// The number of replies from which their mean is used as the estimate.
const REPLIES_MIN: u64 = 20;

/// The tasks of a model about passages.
#[derive(Debug, Clone)]
pub(super) enum What {
    /// Their questions.
    Questions(QuestionCalls),
    /// Their entities, of these types.
    Entities(ExtractCalls, EntityTypes),
    /// Descriptions of entities, requested one by one.
    Descriptions,
    /// Summaries of clusters, of these types, requested one by one.
    Summaries(EntityTypes),
    /// Reports about topics, requested one by one.
    Reports,
}

impl What {
    const fn stage(&self) -> ModelStage {
        match self {
            Self::Questions(_) => ModelStage::Questions,
            Self::Entities(..) => ModelStage::Entities,
            Self::Descriptions => ModelStage::Descriptions,
            Self::Summaries(_) => ModelStage::Summaries,
            Self::Reports => ModelStage::Reports,
        }
    }

    /// Returns its name in an estimate.
    const fn name(&self) -> &'static str {
        match self {
            Self::Questions(_) => "questions",
            Self::Entities(..) => "entities",
            Self::Descriptions => "descriptions",
            Self::Summaries(_) => "summaries",
            Self::Reports => "reports",
        }
    }

    fn writer(&self, model: &str) -> String {
        match self {
            Self::Questions(calls) => generate::writer(model, *calls),
            Self::Entities(calls, types) => extract::writer(model, *calls, types),
            Self::Descriptions => report::writer_of_descriptions(model),
            Self::Summaries(types) => report::writer_of_summaries(model, types),
            Self::Reports => report::writer_of_reports(model),
        }
    }

    fn requests(&self, task: &GenerateTask) -> Result<Vec<ChatRequest>> {
        match self {
            Self::Questions(calls) => calls.requests(task),
            Self::Entities(calls, types) => extract::requests(task, *calls, types),
            Self::Descriptions | Self::Summaries(_) | Self::Reports => Ok(Vec::new()),
        }
    }

    /// Returns what wrote it of a passage, if a model did.
    fn writer_of<'u>(&self, unit: &'u PassageUnit) -> Option<&'u str> {
        match self {
            Self::Questions(_) => unit.writer.as_deref(),
            Self::Entities(..) => unit.extracted.as_ref().map(|it| it.writer.as_str()),
            Self::Descriptions | Self::Summaries(_) | Self::Reports => None,
        }
    }

    /// Returns the tokens of the reply to each call about an English passage, if none was counted yet.
    pub(super) fn reply_tokens(&self) -> Vec<u64> {
        match self {
            Self::Questions(QuestionCalls::Together) => vec![REPLY_TOKENS],
            Self::Questions(QuestionCalls::Separate) => {
                QUESTIONS.map(|it| REPLY_TOKENS * it / QUESTIONS.iter().sum::<u64>()).to_vec()
            }
            Self::Entities(ExtractCalls::Together, _) => vec![ENTITIES_TOKENS],
            Self::Entities(ExtractCalls::Separate, _) => vec![ENTITIES_TOKENS / 2; 2],
            Self::Descriptions => vec![DESCRIPTION_TOKENS],
            Self::Summaries(_) => vec![SUMMARY_TOKENS],
            Self::Reports => vec![REPORT_TOKENS],
        }
    }
}

/// The running estimate of a stage in which a model is asked about passages.
pub(super) struct Expected<'a> {
    asked: &'a AskedModel,
    what: What,
    writer: String,
    /// Tokens of a reply to each of the calls about a passage.
    reply_tokens: ReplyTokens,
    calls: u64,
    cached: u64,
    usage: Usage,
    /// Calls already counted.
    asked_for: FxHashSet<RequestKey>,
    /// Passages for which the model gave nothing that can be used, and those of them that it is asked about again.
    failed: FxHashSet<Key>,
    afresh: FxHashSet<Key>,
    /// Passages about which the model would write.
    written: FxHashSet<PassageId>,
}

impl<'a> Expected<'a> {
    pub(super) fn of(
        asked: &'a AskedModel,
        what: What,
        records: Option<&Records>,
        options: &IndexOptions,
    ) -> Result<Self> {
        let (stage, writer) = (what.stage(), what.writer(&asked.kept_as));
        let failed = records.map_or(Ok(Vec::new()), |records| records.failed_by(stage, &writer))?;
        let afresh = records.map_or(Ok(FxHashSet::default()), |it| asking::asked_anew(it, stage, &writer, options))?;
        Ok(Self {
            asked,
            reply_tokens: reply_tokens(asked, records, &writer, &what)?,
            writer,
            what,
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

    /// Returns the documents with passages that this model has not written about.
    pub(super) fn unwritten(&self, records: &Records) -> Result<Vec<(DocumentId, Vec<PassageId>)>> {
        records.unwritten(self.what.stage(), &self.writer)
    }

    /// Adds the passages of a document that this writer has not written about.
    pub(super) fn add(&mut self, unit: &DocumentUnit) -> Result<()> {
        let unwritten = unit.passages.iter().filter(|it| self.what.writer_of(it) != Some(&self.writer));
        for passage in unwritten.map(|it| &it.passage).collect::<Vec<_>>() {
            self.add_passage(&unit.document, passage)?;
        }
        Ok(())
    }

    fn add_passage(&mut self, document: &Document, passage: &Passage) -> Result<()> {
        let Some(task) = asking::task(document, passage) else { return Ok(()) };
        let mut is_kept = true;
        let reply_tokens = self.reply_tokens.about(&passage.text);
        for (request, reply_tokens) in self.what.requests(&task)?.iter().zip(reply_tokens) {
            is_kept &= self.add_call(request, reply_tokens, !self.afresh.contains(passage.id.as_bytes()))?;
        }
        // The kept reply about a failed passage would fail again.
        if !is_kept || !self.failed.contains(passage.id.as_bytes()) {
            self.written.insert(passage.id);
        }
        Ok(())
    }

    /// Adds a call; returns whether a kept reply answers it, if one may.
    pub(super) fn add_call(&mut self, request: &ChatRequest, reply_tokens: u64, may_be_kept: bool) -> Result<bool> {
        let key = request.key(&self.asked.kept_as);
        let replies = self.asked.replies.as_ref().filter(|_| may_be_kept);
        let is_kept = replies.map(|replies| replies.get(key.as_bytes())).transpose()?.flatten().is_some();
        // Of equal prompts one is sent.
        if is_kept || !self.asked_for.insert(key) {
            self.cached += 1;
        } else {
            self.calls += 1;
            self.usage.input_tokens += request.input_tokens(self.asked.sends_schema);
            self.usage.output_tokens += reply_tokens;
        }
        Ok(is_kept)
    }

    pub(super) const fn is_nothing(&self) -> bool {
        self.calls + self.cached == 0
    }

    pub(super) fn stage(&self) -> StageEstimate {
        let usage = self.usage;
        let is_guessed = matches!(self.reply_tokens, ReplyTokens::Guessed(_)) && usage.output_tokens > 0;
        let bound = |share: f64| times(usage.output_tokens, share);
        StageEstimate {
            stage: self.what.name().to_owned(),
            model: self.asked.name.clone(),
            calls: self.calls,
            cached: self.cached,
            texts: None,
            usage,
            output_tokens_range: is_guessed.then(|| RANGE.map(bound)),
            cost: self.asked.prices.cost(&self.asked.name, usage),
        }
    }
}

/// Tokens of a reply to each of the calls about a passage.
#[derive(Debug, Clone, PartialEq)]
enum ReplyTokens {
    /// Of English passages, as none of a model were counted yet.
    Guessed(Vec<u64>),
    /// The mean of those that were counted.
    Counted(Vec<u64>),
}

impl ReplyTokens {
    fn about(&self, passage: &str) -> Vec<u64> {
        match self {
            Self::Counted(tokens) => tokens.clone(),
            Self::Guessed(tokens) => {
                let share = SAID_SHARE.mul_add(tokens_to_english(passage), 1.0 - SAID_SHARE);
                tokens.iter().map(|tokens| times(*tokens, share)).collect()
            }
        }
    }
}

#[expect(clippy::cast_sign_loss, reason = "no share is negative")]
fn times(tokens: u64, share: f64) -> u64 {
    (tokens as f64 * share).round() as u64
}

/// Returns the tokens of the reply to each call about a passage: the mean of this writer's, once there are enough, if
/// the model did no other task.
fn reply_tokens(asked: &AskedModel, records: Option<&Records>, writer: &str, what: &What) -> Result<ReplyTokens> {
    let mut tokens = what.reply_tokens();
    let Some(records) = records else { return Ok(ReplyTokens::Guessed(tokens)) };
    let known =
        records.spending()?.into_iter().find(|(model, spent)| *model == asked.name && spent.calls >= REPLIES_MIN);
    let stages = ModelStage::ALL;
    let others = stages.into_iter().filter(|it| *it != what.stage()).map(|it| records.written_counts(it));
    // Replies of one kind say nothing of those of another.
    let is_alone = others.collect::<Result<Vec<_>>>()?.iter().all(|it| *it == WrittenCounts::default());
    if let Some((_, spent)) = known.filter(|_| is_alone)
        && records.is_written_by(what.stage(), writer)?
    {
        tokens.fill(spent.usage.output_tokens / spent.calls);
        return Ok(ReplyTokens::Counted(tokens));
    }
    Ok(ReplyTokens::Guessed(tokens))
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

/// Placeholders for questions that are not written yet: their number and tokens are the means of those that the model
/// wrote, once there are enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StandIns {
    /// In-coming and out-coming questions of a passage.
    questions: [Mean; 2],
    /// Tokens of a question.
    tokens: Mean,
}

impl StandIns {
    /// Returns placeholders for the questions that a writer has not written yet.
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

    /// Adds them to the passages that are to get questions.
    pub(super) fn put(self, units: &mut [DocumentUnit], questions: &Expected<'_>, beside: ModelQuestions) {
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
            column: None,
            section: None,
            text: String::new(),
            sentences: Vec::new(),
        }
    }

    #[test]
    fn a_reply_is_expected_in_the_language_of_its_passage_until_some_were_counted() {
        let guessed = ReplyTokens::Guessed(vec![330]);
        let english = guessed.about("The mill was built by Ada Lorne, who was taught by her uncle.")[0];
        assert_eq!(english, 330);
        assert!(guessed.about("ወንዙ አጠገብ ወፍጮውን ሠራች")[0] > 2 * english);
        assert_eq!(ReplyTokens::Counted(vec![100]).about("ወንዙ አጠገብ"), [100]);
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
            PassageUnit { passage, questions: questions.collect(), writer: Some(writer.to_owned()), extracted: None }
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
