//! The stage in which a language model writes reports about communities, where that is wanted: from the bottom up, and
//! only about those whose content changed. What rules say of a community serves until then.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::asking::{self, Asking, Finished, Jobs, Key};
use super::corpus::Corpus;
use super::options::{IndexOptions, ModelReport};
use super::version;
use crate::domain::{Cancellation, CommunityId, PassageId, TopicReport};
use crate::error::Result;
use crate::graph::descriptions::{PackedDescriptions, PackedReport, pack_reports};
use crate::graph::hierarchy::{Hierarchy, Material, Materials, PackedHierarchy};
use crate::graph::mentions::NamedDocument;
use crate::graph::ordinal::{CommunityOrdinal, Ordinal as _, PassageOrdinal, SentenceOrdinal};
use crate::graph::packed::{PackedGraph, PassageGraph};
use crate::llm::prompt::REPORT;
use crate::llm::{ChatModel, ChatRequest};
use crate::skill::{KeptUnusable, PerformOptions, ReportSkill, ReportTask, Skill, Written, chat_request, perform_with};
use crate::store::{GraphReader as _, community_ids};
use crate::workspace::{ModelStage, Records, StoredReport, Workspace, WrittenReport};

/// Members of a community at least that a report is written about: fewer are no topic.
const MEMBERS_MIN: usize = 3;

/// Returns what says whether reports are as this model would write them now.
pub(super) fn writer(model: &str) -> String {
    asking::writer(model, &[REPORT, ReportSkill::SCHEMA].join("\n"))
}

/// A version on its way, as far as reports are made of it.
pub(super) struct Reported<'a> {
    graph: PassageGraph<'a>,
    hierarchy: Hierarchy<'a>,
    materials: Materials<'a>,
    corpus: &'a Corpus<'a>,
    ids: Vec<CommunityId>,
    /// The reports that are there, by community.
    known: FxHashMap<CommunityId, StoredReport>,
}

impl<'a> Reported<'a> {
    pub(super) fn of(
        graph: PassageGraph<'a>,
        (hierarchy, descriptions): (Hierarchy<'a>, Option<&'a PackedDescriptions>),
        (corpus, documents): (&'a Corpus<'a>, &'a [NamedDocument<'a>]),
        records: &Records,
    ) -> Result<Self> {
        let descriptions = descriptions.map(PackedDescriptions::view);
        Ok(Self {
            graph,
            hierarchy,
            materials: Materials::of(graph, hierarchy, descriptions, documents),
            corpus,
            ids: community_ids(&graph, &hierarchy),
            known: records.reports()?.into_iter().map(|it| (it.community, it)).collect(),
        })
    }

    /// Asks a model for the reports whose content changed, those of parts before those of wholes.
    pub(super) async fn write(
        &mut self,
        records: &mut Records,
        model: &Arc<dyn ChatModel>,
        options: &IndexOptions,
    ) -> Result<ModelReport> {
        let writer = writer(model.kept_as());
        let levels: BTreeSet<u32> = self.hierarchy.community_level.items().iter().copied().collect();
        let mut sum = ModelReport { model: model.name().to_owned(), ..ModelReport::default() };
        for level in levels.into_iter().rev() {
            let due = self.due(level, &writer);
            if sum.stopped.is_some() {
                sum.left += due.len() as u64;
                continue;
            }
            let jobs = ReportJobs { total: due.len() as u64, due: due.into_iter() };
            let (_, asked) = asking::run(Reports, jobs, (model, &writer), records, options).await?;
            self.known = records.reports()?.into_iter().map(|it| (it.community, it)).collect();
            add_level(&mut sum, asked);
        }
        records.keep_reports(&self.ids)?;
        Ok(sum)
    }

    /// Returns what a model that is kept as `model` would be asked, as far as reports about parts stay what they are.
    pub(super) fn requests(&self, model: &str) -> Result<Vec<ChatRequest>> {
        let writer = writer(model);
        let levels: BTreeSet<u32> = self.hierarchy.community_level.items().iter().copied().collect();
        let due = levels.into_iter().flat_map(|level| self.due(level, &writer));
        due.map(|job| chat_request::<ReportSkill>(&job.task)).collect()
    }

    /// Returns what a model is to be asked about the communities of a level.
    fn due(&self, level: u32, writer: &str) -> Vec<ReportJob> {
        let on_level = |it: &CommunityOrdinal| {
            self.hierarchy.community_level[*it] == level && self.hierarchy.members(*it).len() >= MEMBERS_MIN
        };
        let parts = self.parts();
        let jobs = self.hierarchy.communities().filter(on_level).map(|it| self.job(it, &parts));
        let is_due = |job: &ReportJob| {
            let known = self.known.get(&job.community);
            !known.is_some_and(|known| known.writer == writer && known.content == job.content)
        };
        jobs.filter(|job| !job.task.sentences.is_empty() && is_due(job)).collect()
    }

    /// Returns what the reports that are there say of communities, as rows of those above them.
    fn parts(&self) -> FxHashMap<CommunityOrdinal, String> {
        let row = |it: CommunityOrdinal| {
            let TopicReport { title, summary, .. } = &self.known.get(&self.ids[it.index()])?.report;
            Some((it, format!("{title}: {summary}")))
        };
        self.hierarchy.communities().filter_map(row).collect()
    }

    fn job(&self, community: CommunityOrdinal, parts: &FxHashMap<CommunityOrdinal, String>) -> ReportJob {
        let Material { entities, relations, parts, sentences } = self.materials.about(community, parts);
        let sentences = sentences.into_iter().map(|sentence| {
            let passage = self.graph.sentence_passage[sentence];
            let first = self.graph.passage_sentences.of(passage).range().start as u32;
            let text = self.materials.sentence(sentence).to_owned();
            (self.corpus.passages[passage.index()].id, sentence.0 - first, text)
        });
        let task = ReportTask { entities, relations, parts, sentences: sentences.collect() };
        let shown: String = ReportSkill::messages(&task).into_iter().map(|it| it.text).collect();
        let mut content = Key::default();
        let size = content.len();
        content.copy_from_slice(&blake3::hash(shown.as_bytes()).as_bytes()[..size]);
        let title = self.hierarchy.title(community).to_owned();
        ReportJob { community: self.ids[community.index()], title, content, task }
    }

    /// Returns the reports that are there as a version has them. What a finding cites and is gone is left out, and so
    /// is a finding of which nothing is left.
    pub(super) fn packed(&self) -> Vec<PackedReport> {
        let passages: FxHashMap<PassageId, PassageOrdinal> =
            self.corpus.passages.iter().map(|it| it.id).zip(self.graph.passages()).collect();
        let cited = |(passage, sentence): &(PassageId, u32)| {
            self.graph.passage_sentences.of(*passages.get(passage)?).nth(*sentence as usize)
        };
        let report = |at: CommunityOrdinal| {
            let TopicReport { title, summary, findings, rating } = &self.known.get(&self.ids[at.index()])?.report;
            let finding = |text: &str, sentences: &[(PassageId, u32)]| {
                let sentences: Vec<SentenceOrdinal> = sentences.iter().filter_map(cited).collect();
                (!sentences.is_empty()).then(|| (text.to_owned(), sentences))
            };
            let findings: Vec<_> = findings.iter().filter_map(|it| finding(&it.text, &it.sentences)).collect();
            (!findings.is_empty()).then(|| PackedReport {
                community: at,
                title: title.clone(),
                summary: summary.clone(),
                rating: f32::from(*rating),
                findings,
            })
        };
        self.hierarchy.communities().filter_map(report).collect()
    }
}

/// Calls `visit` with what reports are made of in the current version; returns nothing where it has no hierarchy, or
/// `records` are ahead of it.
pub(super) fn of_current<T>(
    workspace: &Workspace,
    records: &Records,
    visit: impl FnOnce(&mut Reported<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let snapshot = workspace.snapshot()?;
    let Some(hierarchy) = snapshot.hierarchy() else { return Ok(None) };
    let descriptions = snapshot.descriptions().map(|it| it.to_packed());
    let units = version::units(records)?;
    let corpus = Corpus::of(&units);
    let named = corpus.named();
    if corpus.passages.len() != snapshot.graph().passage_count() {
        return Ok(None);
    }
    let made = (hierarchy, descriptions.as_ref());
    visit(&mut Reported::of(snapshot.graph(), made, (&corpus, &named), records)?).map(Some)
}

/// Adds the reports that are there to the descriptions of a version on its way, once a model has written those that are
/// due, where one is to; returns what came of that too.
pub(super) async fn add(
    (graph, hierarchy, descriptions): (&PackedGraph, &PackedHierarchy, Option<PackedDescriptions>),
    corpus: &Corpus<'_>,
    records: &mut Records,
    (options, reporter): (&IndexOptions, Option<&Arc<dyn ChatModel>>),
) -> Result<(Option<PackedDescriptions>, Option<ModelReport>)> {
    let (named, graph, hierarchy) = (corpus.named(), graph.view(), hierarchy.view());
    let made = (hierarchy, descriptions.as_ref());
    let mut reports = Reported::of(graph, made, (corpus, &named), records)?;
    let asked = if let Some(model) = reporter {
        Some(reports.write(records, model, options).await?)
    } else {
        // What is left of communities that are gone may say what removed documents said.
        records.keep_reports(&reports.ids)?;
        None
    };
    let reports = reports.packed();
    Ok((put(reports, descriptions, &graph, &hierarchy), asked))
}

/// Puts reports into the descriptions of a version, which are made if there are none.
fn put(
    reports: Vec<PackedReport>,
    descriptions: Option<PackedDescriptions>,
    graph: &PassageGraph<'_>,
    hierarchy: &Hierarchy<'_>,
) -> Option<PackedDescriptions> {
    let by_rule = || (!reports.is_empty()).then(|| PackedDescriptions::by_rule(graph, hierarchy));
    let mut descriptions = descriptions.or_else(by_rule)?;
    // Those of the last version may be others.
    pack_reports(reports, &mut descriptions);
    Some(descriptions)
}

/// Adds what came of one level to what came of those below.
fn add_level(sum: &mut ModelReport, level: ModelReport) {
    sum.written += level.written;
    sum.failed.extend(level.failed);
    sum.left += level.left;
    sum.spent.add(&level.spent);
    if sum.stopped.is_none() {
        (sum.stopped, sum.stopped_by) = (level.stopped, level.stopped_by);
    }
    if sum.useless.is_none() {
        sum.useless = level.useless;
    }
}

/// A community that a model is asked about.
struct ReportJob {
    community: CommunityId,
    /// What rules call it.
    title: String,
    content: Key,
    task: ReportTask,
}

/// The communities of one level.
struct ReportJobs {
    total: u64,
    due: std::vec::IntoIter<ReportJob>,
}

impl Jobs<ReportJob> for ReportJobs {
    fn total(&self) -> u64 {
        self.total
    }

    fn next(&mut self, _records: &Records) -> Result<Option<ReportJob>> {
        Ok(self.due.next())
    }

    fn passed_over(&self) -> u64 {
        0
    }
}

/// Asks for reports.
#[derive(Debug, Clone, Copy)]
struct Reports;

impl Asking for Reports {
    type Job = ReportJob;
    type Written = TopicReport;

    const STAGE: ModelStage = ModelStage::Reports;
    const LABEL: &'static str = "writing reports";

    fn key(job: &ReportJob) -> Key {
        *job.community.as_bytes()
    }

    fn name(job: &ReportJob) -> String {
        format!("the topic `{}`", job.title)
    }

    async fn ask(
        &self,
        model: &dyn ChatModel,
        job: &ReportJob,
        unusable: KeptUnusable,
        _cancellation: &Cancellation,
    ) -> Written<TopicReport> {
        Written::of(perform_with::<ReportSkill>(model, &job.task, PerformOptions { listener: None, unusable }).await)
    }

    fn commit(
        &mut self,
        records: &mut Records,
        writer: &str,
        finished: Finished<ReportJob, TopicReport>,
    ) -> Result<()> {
        let written = finished.into_iter().map(|(job, report)| {
            let ReportJob { community, content, title, .. } = job;
            WrittenReport {
                community,
                content,
                report: report.map_err(|why| format!("{title}{}{why}", ModelStage::AFTER_TITLE)),
            }
        });
        records.write_reports(&written.collect::<Vec<_>>(), writer)
    }
}
