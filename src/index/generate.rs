//! The stage in which a language model, if one is named, writes the questions of passages: after the rules, passage by
//! passage.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tokio::runtime::Handle;

use super::asking::{self, Asking, Finished, Key, PassageJob, PassageJobs};
use super::options::{IndexOptions, ModelQuestions, ModelReport};
use crate::domain::{Cancellation, Document, Passage, PassageId, PseudoQuery, QuestionKind, QuestionOrigin};
use crate::error::Result;
use crate::llm::ChatModel;
use crate::skill::{KeptUnusable, QuestionCalls, Written, generate_by_rule};
use crate::workspace::{DocumentUnit, ModelStage, PassageUnit, Records, WrittenQuestions};

/// Returns the identity of questions that this model would write now.
pub(super) fn writer(model: &str, calls: QuestionCalls) -> String {
    asking::writer(model, &calls.texts())
}

/// Returns the questions of a passage that a model wrote `written` of, in-coming ones first.
pub(super) fn joined(
    document: &Document,
    passage: &Passage,
    written: Vec<PseudoQuery>,
    beside: ModelQuestions,
) -> Vec<PseudoQuery> {
    let mut questions = match beside {
        ModelQuestions::Instead => Vec::new(),
        ModelQuestions::Beside => generate_by_rule(document, passage),
    };
    // One that a rule makes too is the model's, so that it is still there when those of rules are taken away.
    questions.retain(|known| !written.iter().any(|it| it.id == known.id));
    questions.extend(written);
    questions.sort_by_key(|it| it.kind != QuestionKind::Incoming);
    questions
}

/// Gives unchanged passages the model's earlier questions, so a change elsewhere in the document causes no call.
pub(super) fn keep_written(unit: &mut DocumentUnit, old: DocumentUnit) {
    if unit.document.name() != old.document.name() {
        return;
    }
    let written = old.passages.into_iter().filter(|it| it.writer.is_some() || it.extracted.is_some());
    let mut written: FxHashMap<PassageId, PassageUnit> = written.map(|it| (it.passage.id, it)).collect();
    for passage in &mut unit.passages {
        let Some(old) = written.remove(&passage.passage.id) else { continue };
        if old.passage.section != passage.passage.section {
            continue;
        }
        passage.extracted = old.extracted;
        if old.writer.is_none() {
            continue;
        }
        let is_beside = old.questions.iter().any(|it| it.origin == QuestionOrigin::Rule);
        let beside = if is_beside { ModelQuestions::Beside } else { ModelQuestions::Instead };
        let written = old.questions.into_iter().filter(|it| it.origin == QuestionOrigin::Model).collect();
        passage.questions = joined(&unit.document, &passage.passage, written, beside);
        passage.writer = old.writer;
    }
}

/// Asks `model` for the questions of every passage that has none of it, and keeps them in the records.
pub(super) fn run(
    records: &mut Records,
    model: &Arc<dyn ChatModel>,
    options: &IndexOptions,
    handle: &Handle,
) -> Result<ModelReport> {
    let questions = Questions { calls: options.question_calls, beside: options.model_questions };
    let writer = writer(model.kept_as(), questions.calls);
    rejoin(records, &writer, questions.beside)?;
    let jobs = PassageJobs::of(records, ModelStage::Questions, &writer)?;
    let (_, report) = handle.block_on(asking::run(questions, jobs, (model, &writer), records, options))?;
    Ok(report)
}

/// Asks for questions.
#[derive(Debug, Clone, Copy)]
struct Questions {
    calls: QuestionCalls,
    beside: ModelQuestions,
}

impl Asking for Questions {
    type Job = PassageJob;
    type Written = Vec<PseudoQuery>;

    const STAGE: ModelStage = ModelStage::Questions;
    const LABEL: &'static str = "asking the model";

    fn key(job: &PassageJob) -> Key {
        job.key()
    }

    fn name(job: &PassageJob) -> String {
        job.name()
    }

    async fn ask(
        &self,
        model: &dyn ChatModel,
        job: &PassageJob,
        unusable: KeptUnusable,
        cancellation: &Cancellation,
    ) -> Written<Vec<PseudoQuery>> {
        self.calls.write(model, job.task.clone(), unusable, cancellation).await
    }

    fn commit(
        &mut self,
        records: &mut Records,
        writer: &str,
        finished: Finished<PassageJob, Vec<PseudoQuery>>,
    ) -> Result<()> {
        let written = finished.into_iter().map(|(job, written)| {
            let questions = written.map(|written| joined(&job.document, job.passage(), written, self.beside));
            WrittenQuestions { passage: job.passage().id, questions }
        });
        records.write_questions(&written.collect::<Vec<_>>(), writer)
    }
}

/// Adds rule-made questions to passages with questions of this writer, or removes them, as currently requested.
fn rejoin(records: &mut Records, writer: &str, beside: ModelQuestions) -> Result<()> {
    for (id, passages) in records.written_otherwise(writer, beside == ModelQuestions::Beside)? {
        let Some(DocumentUnit { document, passages: units, .. }) = records.document_unit(id)? else { continue };
        let mut changed = Vec::new();
        for PassageUnit { passage, questions, .. } in units.into_iter().filter(|it| passages.contains(&it.passage.id)) {
            let written = questions.iter().filter(|it| it.origin == QuestionOrigin::Model).cloned().collect();
            let joined = joined(&document, &passage, written, beside);
            // Of some passages rules make no question.
            if joined != questions {
                changed.push(WrittenQuestions { passage: passage.id, questions: Ok(joined) });
            }
        }
        if !changed.is_empty() {
            records.write_questions(&changed, writer)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{ChunkOptions, passages};

    #[test]
    fn a_question_that_a_rule_makes_too_is_the_models_and_stays_without_those_of_rules() {
        let text = "Teutberga (died 11 November 875) was a queen of Lotharingia by marriage to Lothair II.";
        let document = Document::new("queen", Some("Teutberga".to_owned()), text);
        let passage = &passages(&document, &ChunkOptions::default(), &|text| text.split_whitespace().count())[0];
        let by_rule = generate_by_rule(&document, passage);
        let written: Vec<PseudoQuery> =
            by_rule.iter().take(2).map(|it| PseudoQuery { origin: QuestionOrigin::Model, ..it.clone() }).collect();
        let beside = joined(&document, passage, written.clone(), ModelQuestions::Beside);
        assert_eq!(beside.len(), by_rule.len());
        let kept: Vec<PseudoQuery> = beside.into_iter().filter(|it| it.origin == QuestionOrigin::Model).collect();
        assert_eq!(kept, written);
        assert_eq!(joined(&document, passage, kept, ModelQuestions::Instead), written);
    }
}
