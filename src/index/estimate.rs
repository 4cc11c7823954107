//! What a run would ask of a language model, from the real prompts of the real documents: nothing is written, and
//! nobody is asked.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::generate;
use super::options::{DocumentCounts, IndexOptions, Sources};
use super::plan::{Plan, Verdict};
use super::run::{fingerprint, unit};
use crate::domain::{Cost, Document, DocumentId, Passage, Skip, Usage};
use crate::embed::Embedder;
use crate::error::Result;
use crate::ingest::{SourceDocument, SourceItem};
use crate::llm::{Prices, RequestKey};
use crate::skill::{GenerateSkill, chat_request};
use crate::store::ReplyStore;
use crate::workspace::{DocumentUnit, Records, Workspace};

/// Tokens of a whole reply to `generate` where none was counted yet: ten questions with three keywords each.
const REPLY_TOKENS: u64 = 330;
/// Replies of a model from which on their mean stands for those to come.
const REPLIES_MIN: u64 = 20;

/// The model that would be asked.
#[derive(Clone)]
pub struct AskedModel {
    /// Its name, with its server's.
    pub name: String,
    /// What it costs, as far as that is known.
    pub prices: Prices,
    /// Whether it is sent the schema of a reply, and so reads that too.
    pub sends_schema: bool,
    /// Where its replies are kept: what is there costs nothing.
    pub replies: Option<Arc<dyn ReplyStore>>,
}

/// What a run would come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The model.
    pub model: String,
    /// What would become of the documents.
    pub documents: DocumentCounts,
    /// What would be asked, stage by stage.
    pub stages: Vec<StageEstimate>,
    /// What would be left out, and why.
    pub skips: Vec<Skip>,
}

/// What a stage would ask of a model. Replies that have to be repaired, one call more each, are not foreseen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageEstimate {
    /// Its name: `questions`.
    pub stage: String,
    /// Calls.
    pub calls: u64,
    /// Calls that kept replies answer, for nothing.
    pub cached: u64,
    /// What the former would read and write.
    pub usage: Usage,
    /// What they would cost; none where the price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// Says what [`index()`](super::index()) would ask of a model with the same sources and options. `workspace` is the
/// index as it is, if there is one.
///
/// # Errors
///
/// Those of reading the sources and the index.
pub fn estimate(
    workspace: Option<&Workspace>,
    sources: &Sources,
    embedder: &dyn Embedder,
    asked: &AskedModel,
    options: &IndexOptions,
) -> Result<Estimate> {
    sources.check()?;
    let records = workspace.map(Workspace::records).transpose()?;
    let stored = records.as_ref().map(Records::documents).transpose()?.unwrap_or_default();
    let fingerprint = fingerprint(&options.chunk, embedder);
    let mut plan = Plan::new(stored, fingerprint.clone());
    let mut counting = Counting::of(asked, records.as_ref(), options)?;
    let (mut changed, mut skips) = (FxHashSet::default(), Vec::new());
    let roots = sources.visit(&options.ingest, &mut |item| {
        match item {
            SourceItem::Skip(skip) => skips.push(skip),
            SourceItem::Unread { source, skip } => {
                plan.note_unread(source);
                skips.push(skip);
            }
            SourceItem::Document(found) => {
                let verdict = plan.judge(found.document.id, &found.root, &found.content);
                if matches!(verdict, Verdict::Added | Verdict::Changed) {
                    changed.insert(found.document.id);
                    counting.add_changed(found, &fingerprint, embedder)?;
                }
            }
        }
        Ok(())
    })?;
    let unseen = plan.unseen(&roots);
    changed.extend(unseen.gone.iter().copied());
    counting.add_unwritten(&changed)?;
    let documents = DocumentCounts {
        removed: unseen.gone.len() as u64,
        unchanged: plan.counts.unchanged + unseen.kept,
        skipped: skips.len() as u64,
        ..plan.counts
    };
    let stages = vec![counting.stage()];
    Ok(Estimate { model: asked.name.clone(), documents, stages, skips })
}

/// What the stage that writes questions would come to, so far.
struct Counting<'a> {
    asked: &'a AskedModel,
    records: Option<&'a Records>,
    options: &'a IndexOptions,
    writer: String,
    /// Tokens of a reply.
    reply_tokens: u64,
    calls: u64,
    cached: u64,
    input_tokens: u64,
    /// What was counted as a call.
    asked_for: FxHashSet<RequestKey>,
}

impl<'a> Counting<'a> {
    fn of(asked: &'a AskedModel, records: Option<&'a Records>, options: &'a IndexOptions) -> Result<Self> {
        let spending = records.map(Records::spending).transpose()?.unwrap_or_default();
        let known = spending.into_iter().find(|(model, spent)| *model == asked.name && spent.calls >= REPLIES_MIN);
        let reply_tokens = known.map_or(REPLY_TOKENS, |(_, spent)| spent.usage.output_tokens / spent.calls);
        let asked_for = FxHashSet::default();
        let writer = generate::writer(&asked.name);
        Ok(Self { asked, records, options, writer, reply_tokens, calls: 0, cached: 0, input_tokens: 0, asked_for })
    }

    fn add_changed(&mut self, found: SourceDocument, fingerprint: &str, embedder: &dyn Embedder) -> Result<()> {
        let mut unit = unit(found, fingerprint.to_owned(), embedder, &self.options.chunk);
        if let Some(old) = self.unit(unit.document.id)? {
            generate::keep_written(&mut unit, old);
        }
        let unwritten = unit.passages.iter().filter(|it| it.writer.as_ref() != Some(&self.writer));
        for passage in unwritten.map(|it| it.passage.clone()).collect::<Vec<_>>() {
            self.add(&unit.document, &passage)?;
        }
        Ok(())
    }

    /// Adds the passages of documents that would stay as they are.
    fn add_unwritten(&mut self, others: &FxHashSet<DocumentId>) -> Result<()> {
        let Some(records) = self.records else { return Ok(()) };
        for (document, passages) in records.unwritten(&self.writer)? {
            if others.contains(&document) {
                continue;
            }
            let Some(unit) = self.unit(document)? else { continue };
            for passage in unit.passages.iter().filter(|it| passages.contains(&it.passage.id)) {
                self.add(&unit.document, &passage.passage)?;
            }
        }
        Ok(())
    }

    fn unit(&self, document: DocumentId) -> Result<Option<DocumentUnit>> {
        self.records.map_or(Ok(None), |records| records.document_unit(document))
    }

    fn add(&mut self, document: &Document, passage: &Passage) -> Result<()> {
        let Some(task) = generate::task(document, passage) else { return Ok(()) };
        let request = chat_request::<GenerateSkill>(&task)?;
        let key = request.key(&self.asked.name);
        let kept = self.asked.replies.as_ref().map(|replies| replies.get(key.as_bytes())).transpose()?.flatten();
        // Of equal prompts one is sent.
        if kept.is_some() || !self.asked_for.insert(key) {
            self.cached += 1;
        } else {
            self.calls += 1;
            self.input_tokens += request.input_tokens(self.asked.sends_schema);
        }
        Ok(())
    }

    fn stage(&self) -> StageEstimate {
        let output_tokens = self.calls * self.reply_tokens;
        let usage = Usage { input_tokens: self.input_tokens, output_tokens, is_estimated: true };
        let cost = self.asked.prices.cost(&self.asked.name, usage);
        StageEstimate { stage: "questions".to_owned(), calls: self.calls, cached: self.cached, usage, cost }
    }
}
