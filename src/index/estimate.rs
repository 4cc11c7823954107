//! Estimates what a run would do with the documents, and its calls to models behind servers, from the real prompts and
//! texts: nothing is written, and no server is called.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::corpus::Corpus;
use super::expected::{Expected, StandIns, TYPES_TOKENS, What};
use super::options::{DocumentCounts, IndexOptions, OtherEmbedder, QuestionsBy, ReportsBy, Sources};
use super::plan::{Plan, Verdict, added_by_hand, removed_by_hand};
use super::report::Reported;
use super::stages::known::Earlier;
use super::stages::vectors;
use super::unit::{MadeUnit, fingerprint, unit};
use super::units::CorpusUnits;
use super::{extract, generate, report, warnings};
use crate::domain::{Cost, DocumentId, Skip, Spent, Usage};
use crate::embed::{Account, Embedder};
use crate::error::{Error, Result};
use crate::ingest::{SourceDocument, SourceItem};
use crate::llm::{ChatRequest, Prices};
use crate::store::ReplyStore;
use crate::workspace::{DocumentUnit, Records, Workspace, WorkspaceOptions};

/// The model that would be asked.
#[derive(Clone)]
pub struct AskedModel {
    /// Its name, with its server's.
    pub name: String,
    /// The identity under which its replies are kept: its name, and everything else they depend on.
    pub kept_as: String,
    /// Its price, if known.
    pub prices: Prices,
    /// Whether it is sent the schema of a reply, and so reads that too.
    pub sends_schema: bool,
    /// The store of its replies: kept ones cost nothing.
    pub replies: Option<Arc<dyn ReplyStore>>,
}

/// Documents of each kind that an estimate names; [`DocumentCounts`] counts all.
pub const CHANGES_NAMED_MAX: usize = 10_000;

/// The addresses of the documents that a run would change, at most [`CHANGES_NAMED_MAX`] of each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// New documents, in the order in which they are read.
    pub added: Vec<String>,
    /// Documents whose content or settings changed, in the order in which they are read.
    pub changed: Vec<String>,
    /// Documents that would go, by address.
    pub removed: Vec<String>,
}

impl Changes {
    fn note(&mut self, verdict: Verdict, uri: &str) {
        let named = match verdict {
            Verdict::Added => &mut self.added,
            Verdict::Changed => &mut self.changed,
            Verdict::Unchanged | Verdict::Moved | Verdict::Removed | Verdict::ByHand => return,
        };
        if named.len() < CHANGES_NAMED_MAX {
            named.push(uri.to_owned());
        }
    }
}

/// The estimate of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Changes to the documents.
    pub documents: DocumentCounts,
    /// Which documents would change.
    pub changes: Changes,
    /// Calls and costs, stage by stage.
    pub stages: Vec<StageEstimate>,
    /// Whether all of it fits into the budget that was named, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fits_budget: Option<bool>,
    /// Sources that would be left out, and why.
    pub skips: Vec<Skip>,
    /// Warnings before the run.
    pub warnings: Vec<String>,
}

impl Estimate {
    /// Returns what all stages come to together.
    #[must_use]
    pub fn sum(&self) -> Spent {
        let mut all = Spent::default();
        for StageEstimate { calls, usage, cost, .. } in &self.stages {
            all.add(&Spent { calls: *calls, usage: *usage, cost: cost.clone(), ..Spent::default() });
        }
        all
    }
}

/// The calls of a stage to a model. Repairs, one more call each, are not included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageEstimate {
    /// Its name: `questions`, `entities`, `descriptions`, `summaries`, `reports` or `vectors`.
    pub stage: String,
    /// The model, with its server.
    pub model: String,
    /// Calls.
    pub calls: u64,
    /// Calls that kept replies answer, for nothing.
    pub cached: u64,
    /// Texts that would get a vector, if the stage makes vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texts: Option<u64>,
    /// Tokens of the calls, in and out.
    pub usage: Usage,
    /// Minimum and maximum tokens of the replies, if none were counted yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens_range: Option<[u64; 2]>,
    /// Their cost; none if the price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// Estimates what [`index()`](super::index()) would do with the documents, and its calls to a model, if one is named,
/// and to an embedder behind a server, with the same sources and options; without a path, and with
/// [`OtherEmbedder::ReEmbed`], the same for [`re_embed`](super::re_embed). `workspace` is the current index, if there
/// is one. Nothing is written.
///
/// # Errors
///
/// Errors of reading the sources and the index; [`Error::NoDocuments`] if the run would end with that;
/// [`Error::Embedder`] for an index of another embedder; [`Error::Cancelled`].
pub fn estimate(
    workspace: Option<&Workspace>,
    sources: &Sources,
    embedder: &dyn Embedder,
    asked: Option<&AskedModel>,
    options: &IndexOptions,
) -> Result<Estimate> {
    let names_none = matches!(sources, Sources::Paths(paths) if paths.is_empty());
    let is_renewal = options.other_embedder == OtherEmbedder::ReEmbed;
    if !(is_renewal && names_none) {
        sources.check()?;
    }
    check_embedder(workspace, embedder, is_renewal)?;
    let records = workspace.map(Workspace::records).transpose()?;
    let stored = records.as_ref().map(Records::documents_by_id).transpose()?.unwrap_or_default();
    let records = records.as_ref();
    let fingerprint = fingerprint(&options.chunk, embedder);
    let removed = records.map(Records::removed).transpose()?.unwrap_or_default();
    let known = stored.len();
    let mut plan = Plan::new(stored, fingerprint.clone()).without(&removed, sources);
    let reports = reports(workspace, asked, records, options)?;
    let asked = asked.map_or(Ok([None, None]), |asked| expected(asked, records, options))?;
    let account = embedder.account();
    let mut coming = Coming { records, embedder, options, fingerprint, asked, reports, account, units: Vec::new() };
    let (mut changed, mut skips, mut named, mut seen) = (FxHashSet::default(), Vec::new(), Changes::default(), 0);
    let roots = sources.visit(&options.ingest, &mut |item| {
        options.cancellation.check()?;
        match item {
            SourceItem::Skip(skip) => skips.push(skip),
            SourceItem::Shortened(_) => {}
            SourceItem::Unread { source, skip } => {
                plan.note_unread(source);
                skips.push(skip);
            }
            SourceItem::Document(found) => {
                seen += 1;
                let verdict = plan.judge(found.document.id, &found.root, &found.content);
                named.note(verdict, &found.document.uri);
                match verdict {
                    Verdict::Added | Verdict::Changed => {
                        changed.insert(found.document.id);
                        coming.add_changed(found)?;
                    }
                    Verdict::Removed => skips.push(removed_by_hand(&found.document.uri)),
                    Verdict::ByHand => skips.push(added_by_hand(&found.document.uri)),
                    Verdict::Unchanged | Verdict::Moved => {}
                }
            }
        }
        Ok(())
    })?;
    if !names_none && seen == 0 && (known == 0 || !roots.is_empty()) {
        return Err(sources.no_documents(&skips));
    }
    let unseen = plan.unseen(&roots, options.most_gone);
    named.removed = plan.addresses(&unseen.gone, CHANGES_NAMED_MAX);
    changed.extend(unseen.gone.iter().copied());
    let renewed = coming.add_others(&changed)?;
    let documents = DocumentCounts {
        changed: plan.counts.changed + renewed,
        removed: unseen.gone.len() as u64,
        unchanged: (plan.counts.unchanged + unseen.kept).saturating_sub(renewed),
        skipped: skips.len() as u64,
        ..plan.counts
    };
    let warnings = warnings::of_reading((&plan, &unseen), &roots, (&skips, seen));
    Ok(Estimate { documents, changes: named, stages: coming.stages(workspace)?, fits_budget: None, skips, warnings })
}

/// Refuses an index of another embedder, unless it is to be embedded again.
fn check_embedder(workspace: Option<&Workspace>, embedder: &dyn Embedder, is_renewal: bool) -> Result<()> {
    let pinned = workspace.map(Workspace::embedder).transpose()?;
    match pinned.filter(|it| !is_renewal && it != embedder.name()) {
        Some(index) => Err(Error::Embedder { index, given: embedder.name().to_owned() }),
        None => Ok(()),
    }
}

/// Returns the tasks of the model: questions and entities.
fn expected<'a>(
    asked: &'a AskedModel,
    records: Option<&Records>,
    options: &IndexOptions,
) -> Result<[Option<Expected<'a>>; 2]> {
    let of = |what| Expected::of(asked, what, records, options);
    let is_by_model = options.questions_by == QuestionsBy::Model;
    let questions = is_by_model.then(|| of(What::Questions(options.question_calls))).transpose()?;
    let Some(wanted) = &options.extract else { return Ok([questions, None]) };
    let types = extract::known_types(records, wanted)?;
    let is_proposed = types.is_none();
    let mut entities = of(What::Entities(wanted.calls, types.unwrap_or_default()))?;
    if is_proposed {
        entities.add_call(&extract::proposal_request(records)?, TYPES_TOKENS, true)?;
    }
    Ok([questions, Some(entities)])
}

/// Returns the estimate for descriptions, summaries and reports, based on the hierarchy of the current version, since
/// the next one is unknown.
fn reports<'a>(
    workspace: Option<&Workspace>,
    asked: Option<&'a AskedModel>,
    records: Option<&Records>,
    options: &IndexOptions,
) -> Result<Vec<Expected<'a>>> {
    let Some(asked) = asked else { return Ok(Vec::new()) };
    let version = workspace.map(Workspace::status).transpose()?.and_then(|it| it.version);
    let current = workspace.zip(records).filter(|_| version.is_some());
    let mut all = Vec::new();
    let mut add = |what: What, requests: &dyn Fn(&Reported<'_>) -> Result<Vec<ChatRequest>>| -> Result<()> {
        // Most collections have no entity with such long descriptions.
        let is_rare = matches!(what, What::Descriptions);
        let tokens = what.reply_tokens().into_iter().sum();
        let mut expected = Expected::of(asked, what, records, options)?;
        if let Some((workspace, records)) = current {
            let requests = report::of_current(workspace, records, |it| requests(it))?;
            for request in requests.unwrap_or_default() {
                expected.add_call(&request, tokens, true)?;
            }
        }
        if !is_rare || !expected.is_nothing() {
            all.push(expected);
        }
        Ok(())
    };
    if options.extract.is_some() {
        add(What::Descriptions, &|it| it.description_requests(&asked.kept_as))?;
    }
    if options.summaries_by == ReportsBy::Model {
        let types = records.map(|it| report::summary_types(it, options)).transpose()?.unwrap_or_default();
        add(What::Summaries(types.clone()), &|it| it.summary_requests(&asked.kept_as, &types))?;
    }
    if options.reports_by == ReportsBy::Model {
        add(What::Reports, &|it| it.report_requests(&asked.kept_as))?;
    }
    Ok(all)
}

/// The input of the next version, so far.
struct Coming<'a> {
    records: Option<&'a Records>,
    embedder: &'a dyn Embedder,
    options: &'a IndexOptions,
    fingerprint: String,
    /// The estimates of the stages for questions and for entities, if wanted.
    asked: [Option<Expected<'a>>; 2],
    /// The estimates for descriptions, summaries and reports, if wanted.
    reports: Vec<Expected<'a>>,
    /// The counter of calls for vectors, if they are counted.
    account: Option<&'a Account>,
    /// Its documents, if their vectors cost something.
    units: Vec<DocumentUnit>,
}

impl Coming<'_> {
    /// Returns whether no document would cause a call, whatever it contains.
    fn asks_nobody(&self) -> bool {
        self.account.is_none() && self.asked.iter().all(Option::is_none)
    }

    fn add_changed(&mut self, found: SourceDocument) -> Result<()> {
        if self.asks_nobody() {
            return Ok(());
        }
        let (fingerprint, cancellation) = (self.fingerprint.clone(), &self.options.cancellation);
        let MadeUnit { mut unit, .. } = unit(found, fingerprint, self.embedder, &self.options.chunk, cancellation)?;
        if let Some(old) = self.unit(unit.document.id)? {
            generate::keep_written(&mut unit, old);
        }
        self.add(unit)
    }

    /// Adds the documents that no source brought again; returns how many are rebuilt all the same, since the embedder
    /// is another.
    fn add_others(&mut self, changed: &FxHashSet<DocumentId>) -> Result<u64> {
        let Some(records) = self.records else { return Ok(0) };
        let is_renewal = self.options.other_embedder == OtherEmbedder::ReEmbed;
        let mut renewed = 0;
        if self.account.is_some() || is_renewal {
            records.for_each_document_unit(&mut |unit| {
                if changed.contains(&unit.document.id) {
                    return Ok(());
                }
                if is_renewal && unit.fingerprint != self.fingerprint {
                    renewed += 1;
                    let DocumentUnit { root, content, document, .. } = unit;
                    return self.add_changed(SourceDocument { root, content, document });
                }
                self.add(unit)
            })?;
        } else {
            let unwritten = self.asked.iter().flatten().map(|it| it.unwritten(records)).collect::<Result<Vec<_>>>()?;
            let mut seen = changed.clone();
            for (document, _) in unwritten.into_iter().flatten() {
                if seen.insert(document) {
                    self.unit(document)?.map_or(Ok(()), |unit| self.add(unit))?;
                }
            }
        }
        Ok(renewed)
    }

    fn unit(&self, document: DocumentId) -> Result<Option<DocumentUnit>> {
        self.records.map_or(Ok(None), |records| records.document_unit(document))
    }

    fn add(&mut self, mut unit: DocumentUnit) -> Result<()> {
        for asked in self.asked.iter_mut().flatten() {
            asked.add(&unit)?;
        }
        if self.account.is_some() {
            unit.document.text = String::new();
            self.units.push(unit);
        }
        Ok(())
    }

    fn stages(mut self, workspace: Option<&Workspace>) -> Result<Vec<StageEstimate>> {
        let asked = self.asked.iter().flatten().chain(&self.reports);
        let mut stages: Vec<StageEstimate> = asked.map(Expected::stage).collect();
        let Some(account) = self.account else { return Ok(stages) };
        if let [Some(questions), _] = &self.asked {
            StandIns::of(&self.units, questions.writer()).put(&mut self.units, questions, self.options.model_questions);
        }
        // In the order of a run, because it determines which texts are embedded together.
        self.units.sort_by(|a, b| {
            (&a.document.source_id, a.document.id.as_bytes()).cmp(&(&b.document.source_id, b.document.id.as_bytes()))
        });
        let pin = WorkspaceOptions::of_embedder(self.embedder);
        let (earlier, kept) = match workspace {
            Some(workspace) => {
                (Earlier::of(workspace, &pin, None)?, workspace.fresh_vectors(&pin).keys(self.embedder.dimension())?)
            }
            None => (Earlier::None, Vec::new()),
        };
        let mut units = CorpusUnits::default();
        self.units.into_iter().for_each(|unit| units.add(unit));
        let (mut spent, texts) = vectors::expected(account, &Corpus::of(&units).texts(), &earlier, &kept);
        spent.add(&account.expected_opening());
        stages.push(StageEstimate {
            stage: "vectors".to_owned(),
            model: account.model().to_owned(),
            calls: spent.calls,
            cached: 0,
            texts: Some(texts),
            usage: spent.usage,
            output_tokens_range: None,
            cost: spent.cost,
        });
        Ok(stages)
    }
}
