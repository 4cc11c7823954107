//! The optional stage in which a language model finds the entities of passages and the relations between them, passage
//! by passage, of given types or of types that it proposed for the collection.

use std::sync::Arc;

use tokio::runtime::Handle;

use super::asking::{self, Asking, Finished, Key, PassageJob, PassageJobs};
use super::options::{EntityTypesBy, ExtractOptions, ExtractReport, IndexOptions, ModelReport, StoppedBy};
use crate::domain::{Cancellation, ChatError, Extraction};
use crate::error::Result;
use crate::llm::prompt::PROPOSE;
use crate::llm::{ChatModel, ChatRequest};
use crate::skill::{
    Degradation, EntityTypes, ExtractCalls, ExtractTask, GenerateTask, KeptUnusable, PerformOptions, Performed,
    ProposeSkill, ProposeTask, Skill, Written, chat_request, perform_with, sample,
};
use crate::workspace::{ModelStage, ProposedTypes, Records, WrittenExtraction};

/// Returns the identity of entities that this model would find now.
pub(super) fn writer(model: &str, calls: ExtractCalls, types: &EntityTypes) -> String {
    asking::writer(model, &[&calls.texts(), types.listed().as_str()].join("\n"))
}

/// Returns the prompts about a passage, without repairs.
pub(super) fn requests(task: &GenerateTask, calls: ExtractCalls, types: &EntityTypes) -> Result<Vec<ChatRequest>> {
    calls.requests(&ExtractTask { passage: task.clone(), types: types.clone() })
}

/// Returns the types of entities to look for; none if a model is to propose them and has not yet.
pub(super) fn known_types(records: Option<&Records>, options: &ExtractOptions) -> Result<Option<EntityTypes>> {
    match &options.types {
        EntityTypesBy::Named(types) => Ok(Some(types.clone())),
        EntityTypesBy::Model => {
            let proposed = records.map(Records::proposed_types).transpose()?.flatten();
            // An invalid list of types is proposed once more.
            Ok(proposed.and_then(|proposed| EntityTypes::parse(&proposed.types).ok()))
        }
    }
}

/// Asks `model` for the entities of every passage that it was not asked about yet, and keeps them in the records.
pub(super) fn run(
    records: &mut Records,
    model: &Arc<dyn ChatModel>,
    (wanted, options): (&ExtractOptions, &IndexOptions),
    handle: &Handle,
) -> Result<ExtractReport> {
    let mut proposing = ModelReport::default();
    let types = match known_types(Some(records), wanted)? {
        Some(types) => types,
        None => match propose(records, model, options, handle, &mut proposing)? {
            Some(types) => types,
            None => return Ok(ExtractReport { asked: proposing, ..ExtractReport::default() }),
        },
    };
    let writer = writer(model.kept_as(), wanted.calls, &types);
    let jobs = PassageJobs::of(records, ModelStage::Entities, &writer)?;
    let listed = types.iter().map(str::to_owned).collect();
    let entities =
        Entities { types, calls: wanted.calls, counted: ExtractReport { types: listed, ..ExtractReport::default() } };
    let (entities, mut asked) = handle.block_on(asking::run(entities, jobs, (model, &writer), records, options))?;
    asked.spent.add(&proposing.spent);
    Ok(ExtractReport { asked, ..entities.counted })
}

/// Asks `model` for types of entities, and keeps them: the types of a collection stay the same, because other types
/// would repeat all calls. If there are none, `report` says why.
fn propose(
    records: &mut Records,
    model: &Arc<dyn ChatModel>,
    options: &IndexOptions,
    handle: &Handle,
    report: &mut ModelReport,
) -> Result<Option<EntityTypes>> {
    options.cancellation.check()?;
    let (task, passages) = proposal(records)?;
    model.name().clone_into(&mut report.model);
    if passages == 0 {
        return Ok(None);
    }
    let perform = perform_with::<ProposeSkill>(model.as_ref(), &task, PerformOptions::default());
    let Performed { outcome, spent } = handle.block_on(perform)?;
    records.add_spending(model.name(), &spent)?;
    report.spent = spent;
    match outcome {
        Ok(types) => {
            let writer = asking::writer(model.kept_as(), &[PROPOSE, ProposeSkill::SCHEMA].join("\n"));
            let listed = types.iter().map(str::to_owned).collect();
            records.set_proposed_types(&ProposedTypes { writer, types: listed })?;
            Ok(Some(types))
        }
        Err(degradation) => {
            report.left = passages as u64;
            report.stopped = Some(degradation.to_string());
            report.stopped_by = Some(match degradation {
                Degradation::Chat(ChatError::Budget { .. }) => StoppedBy::Budget,
                Degradation::Chat(ChatError::Request { .. }) => StoppedBy::Refused,
                Degradation::Invalid(_) | Degradation::Chat(ChatError::Useless { .. }) => StoppedBy::Useless,
                Degradation::Chat(_) => StoppedBy::Failing,
            });
            Ok(None)
        }
    }
}

/// Returns what types are proposed from: passages of all parts of the collection, and how many it has in all.
fn proposal(records: &Records) -> Result<(ProposeTask, usize)> {
    let documents = records.unwritten(ModelStage::Entities, "")?;
    let all: Vec<_> =
        documents.iter().flat_map(|(document, of)| of.iter().map(|passage| (*document, *passage))).collect();
    let mut passages = Vec::new();
    for (document, wanted) in sample(all.len()).into_iter().map(|at| all[at]) {
        let Some(unit) = records.document_unit(document)? else { continue };
        let found = unit.passages.into_iter().find(|it| it.passage.id == wanted);
        passages.extend(found.map(|it| (wanted, unit.document.name().to_owned(), it.passage.text)));
    }
    Ok((ProposeTask { passages }, all.len()))
}

/// Returns the prompt for types of entities, with the documents present so far.
pub(super) fn proposal_request(records: Option<&Records>) -> Result<ChatRequest> {
    let task = records.map(proposal).transpose()?.map(|it| it.0);
    chat_request::<ProposeSkill>(&task.unwrap_or(ProposeTask { passages: Vec::new() }))
}

/// Asks for entities, and counts what was found.
#[derive(Debug, Clone)]
struct Entities {
    types: EntityTypes,
    calls: ExtractCalls,
    counted: ExtractReport,
}

impl Asking for Entities {
    type Job = PassageJob;
    type Written = Extraction;

    const STAGE: ModelStage = ModelStage::Entities;
    const LABEL: &'static str = "finding entities";

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
    ) -> Written<Extraction> {
        let task = ExtractTask { passage: job.task.clone(), types: self.types.clone() };
        self.calls.find(model, task, unusable, cancellation).await
    }

    fn commit(
        &mut self,
        records: &mut Records,
        writer: &str,
        finished: Finished<PassageJob, Extraction>,
    ) -> Result<()> {
        for found in finished.iter().filter_map(|(_, found)| found.as_ref().ok()) {
            self.counted.entities += found.entities.len() as u64;
            self.counted.relations += found.relations.len() as u64;
            self.counted.dropped.add(found.dropped);
        }
        let written = finished.into_iter().map(|(job, found)| WrittenExtraction { passage: job.passage().id, found });
        records.write_extractions(&written.collect::<Vec<_>>(), writer)
    }
}
