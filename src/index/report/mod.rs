//! The optional stages in which a language model writes about the hierarchy: merged descriptions of entities with many
//! of them; summaries of clusters, layer by layer; and reports about communities, from the bottom up. It is asked only
//! about those whose content changed; elsewhere, the text of rules is used.

mod due;

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::asking;
use super::corpus::Corpus;
use super::options::{EntityTypesBy, ExtractOptions, IndexOptions, ModelReport, ReportsBy, StoppedBy};
use super::{extract, units};
use crate::domain::{ClusterSummary, EntityId, PassageId, SubjectId, TopicReport, WrittenText};
use crate::error::Result;
use crate::graph::descriptions::{
    PackedAspect, PackedDescriptions, PackedReport, describe, long_descriptions, pack_aspects, pack_reports,
};
use crate::graph::hierarchy::{Hierarchy, Material, Materials, PackedHierarchy};
use crate::graph::mentions::NamedDocument;
use crate::graph::ordinal::{
    CommunityOrdinal, EntityOrdinal, Ordinal as _, PassageOrdinal, SentenceOrdinal, SummaryOrdinal,
};
use crate::graph::packed::{PackedGraph, PassageGraph};
use crate::graph::resolution::{EntityGraph, PackedResolution, Resolution, resolved};
use crate::llm::{ChatModel, ChatRequest};
use crate::skill::{DescribeSkill, DescribeTask, EntityTypes, ReportSkill, ReportTask, SummarizeSkill, SummarizeTask};
use crate::store::{GraphReader as _, community_ids, summary_ids};
use crate::workspace::{Records, StoredReport, Workspace};
use due::{AllDue, By, Due, Reporting};
pub(super) use due::{writer_of_descriptions, writer_of_reports, writer_of_summaries};

/// Minimum members of a community or a cluster to be written about: fewer are not a topic.
const MEMBERS_MIN: usize = 3;

/// The parts of a version in progress that are written about.
pub(super) struct Reported<'a> {
    graph: PassageGraph<'a>,
    hierarchy: Hierarchy<'a>,
    materials: Materials<'a>,
    corpus: &'a Corpus<'a>,
    /// What communities and summary entities are known by.
    communities: Vec<SubjectId>,
    summaries: Vec<SubjectId>,
    /// Entities with more descriptions than are kept, each with its descriptions.
    long: Vec<(EntityOrdinal, Vec<&'a str>)>,
    /// Texts written already.
    known: FxHashMap<SubjectId, StoredReport>,
}

/// A version in progress: its graph, the entities of names, and the hierarchy over it with its texts.
#[derive(Clone, Copy)]
pub(super) struct DraftVersion<'a> {
    pub(super) graph: PassageGraph<'a>,
    pub(super) resolution: Option<Resolution<'a>>,
    pub(super) hierarchy: Hierarchy<'a>,
    pub(super) descriptions: Option<&'a PackedDescriptions>,
}

impl<'a> DraftVersion<'a> {
    pub(super) fn of(
        graph: &'a PackedGraph,
        resolution: &'a PackedResolution,
        hierarchy: &'a PackedHierarchy,
        descriptions: Option<&'a PackedDescriptions>,
    ) -> Self {
        let (graph, resolution, hierarchy) = (graph.view(), Some(resolution.view()), hierarchy.view());
        Self { graph, resolution, hierarchy, descriptions }
    }

    /// Returns the entities with more descriptions than are kept.
    fn long<'d>(&self, documents: &[NamedDocument<'d>]) -> Vec<(EntityOrdinal, Vec<&'d str>)> {
        let mut passages = documents.iter().flat_map(|it| &it.passages);
        let (Some(resolution), true) = (self.resolution, passages.any(|it| it.extraction.is_some())) else {
            return Vec::new();
        };
        let entities = resolved(&self.graph, &resolution);
        let graph = EntityGraph { names: self.graph, entities: entities.view(), resolution: Some(resolution) };
        long_descriptions(&graph, documents)
    }
}

/// The results of asking a model.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    /// To put descriptions of entities together.
    pub(super) described: Option<ModelReport>,
    /// For summaries of clusters.
    pub(super) summarized: Option<ModelReport>,
    /// For reports about communities.
    pub(super) reported: Option<ModelReport>,
}

impl Asked {
    /// Returns whether anything was written.
    pub(super) fn is_any(&self) -> bool {
        [&self.described, &self.summarized, &self.reported].into_iter().flatten().any(|it| it.written > 0)
    }
}

/// Returns whether a model is to write about the hierarchy.
pub(super) fn is_wanted(options: &IndexOptions) -> bool {
    [options.summaries_by, options.reports_by].contains(&ReportsBy::Model) || options.extract.is_some()
}

/// Returns the types that a summary of a cluster may have: those of entities.
pub(super) fn summary_types(records: &Records, options: &IndexOptions) -> Result<EntityTypes> {
    let by_model = ExtractOptions { types: EntityTypesBy::Model, ..ExtractOptions::default() };
    let wanted = options.extract.as_ref().unwrap_or(&by_model);
    Ok(extract::known_types(Some(records), wanted)?.unwrap_or_default())
}

impl<'a> Reported<'a> {
    pub(super) fn of(made: DraftVersion<'a>, corpus: &'a Corpus<'a>, records: &Records) -> Result<Self> {
        let DraftVersion { graph, hierarchy, .. } = made;
        let descriptions = made.descriptions.map(PackedDescriptions::view);
        let mut reported = Self {
            graph,
            hierarchy,
            materials: Materials::of(graph, hierarchy, descriptions, &corpus.named),
            corpus,
            communities: community_ids(&graph, &hierarchy).into_iter().map(SubjectId::from).collect(),
            summaries: summary_ids(&graph, &hierarchy).into_iter().map(SubjectId::from).collect(),
            long: made.long(&corpus.named),
            known: FxHashMap::default(),
        };
        reported.read(records)?;
        Ok(reported)
    }

    fn read(&mut self, records: &Records) -> Result<()> {
        self.known = records.reports()?.into_iter().map(|it| (it.about, it)).collect();
        let description = |long: &(EntityOrdinal, Vec<&str>)| {
            let known = self.known.get(&self.entity(long.0))?;
            match &known.report {
                // It may repeat a removed document.
                WrittenText::Entity(_) if known.content != self.described(long).content => None,
                WrittenText::Entity(it) => Some((long.0, it.description.clone())),
                WrittenText::Topic(_) | WrittenText::Cluster(_) => None,
            }
        };
        // Texts about the hierarchy are based on the descriptions of entities.
        self.materials.describe(self.long.iter().filter_map(description).collect());
        Ok(())
    }

    /// Asks a model for the requested texts that are due, those about parts first.
    pub(super) async fn write(
        &mut self,
        records: &mut Records,
        model: &Arc<dyn ChatModel>,
        options: &IndexOptions,
    ) -> Result<Asked> {
        let mut asked = Asked::default();
        if options.extract.is_some() {
            let writer = writer_of_descriptions(model.kept_as());
            let due = |it: &Self, _| it.entities_due(&writer);
            let described = self.write_all::<DescribeSkill>(vec![0], due, (model, &writer), records, options).await?;
            // Most collections have no such entity.
            asked.described = Some(described).filter(|_| !self.long.is_empty());
        }
        if options.summaries_by == ReportsBy::Model {
            let types = summary_types(records, options)?;
            let writer = writer_of_summaries(model.kept_as(), &types);
            let due = |it: &Self, layer: u32| it.clusters_due(layer, &writer, &types);
            let layers = self.layers();
            asked.summarized =
                Some(self.write_all::<SummarizeSkill>(layers, due, (model, &writer), records, options).await?);
        }
        if options.reports_by == ReportsBy::Model {
            let writer = writer_of_reports(model.kept_as());
            let due = |it: &Self, level: u32| it.topics_due(level, &writer);
            let levels = self.levels();
            asked.reported =
                Some(self.write_all::<ReportSkill>(levels, due, (model, &writer), records, options).await?);
        }
        records.keep_reports(&self.subjects())?;
        Ok(asked)
    }

    async fn write_all<S: Reporting>(
        &mut self,
        steps: Vec<u32>,
        due: impl Fn(&Self, u32) -> Vec<Due<S>>,
        (model, writer): (&Arc<dyn ChatModel>, &str),
        records: &mut Records,
        options: &IndexOptions,
    ) -> Result<ModelReport> {
        let mut sum = ModelReport { model: model.name().to_owned(), ..ModelReport::default() };
        for step in steps {
            let due = due(self, step);
            if sum.stopped.is_some() {
                sum.left += due.len() as u64;
                continue;
            }
            let (_, asked) = asking::run(By::<S>::skill(), AllDue::of(due), (model, writer), records, options).await?;
            self.read(records)?;
            add_step(&mut sum, asked);
        }
        // Results of one step show that the model is usable.
        if sum.written > 0 && sum.stopped_by != Some(StoppedBy::Useless) {
            sum.useless = None;
        }
        Ok(sum)
    }

    /// Returns the prompts for reports of a model with the identity `model`, assuming that reports about parts do not
    /// change.
    pub(super) fn report_requests(&self, model: &str) -> Result<Vec<ChatRequest>> {
        let writer = writer_of_reports(model);
        let due = self.levels().into_iter().flat_map(|level| self.topics_due(level, &writer));
        due.map(|due| due.request()).collect()
    }

    /// Returns the prompts for merging descriptions.
    pub(super) fn description_requests(&self, model: &str) -> Result<Vec<ChatRequest>> {
        self.entities_due(&writer_of_descriptions(model)).iter().map(Due::request).collect()
    }

    /// Returns the prompts for summaries, assuming that those of lower layers do not change.
    pub(super) fn summary_requests(&self, model: &str, types: &EntityTypes) -> Result<Vec<ChatRequest>> {
        let writer = writer_of_summaries(model, types);
        let due = self.layers().into_iter().flat_map(|layer| self.clusters_due(layer, &writer, types));
        due.map(|due| due.request()).collect()
    }

    /// Returns the levels of communities, the lowest first.
    fn levels(&self) -> Vec<u32> {
        let levels: BTreeSet<u32> = self.hierarchy.community_level.items().iter().copied().collect();
        levels.into_iter().rev().collect()
    }

    /// Returns the layers of summary entities, the lowest first.
    fn layers(&self) -> Vec<u32> {
        let layers: BTreeSet<u32> = self.hierarchy.summary_layer.items().iter().copied().collect();
        layers.into_iter().collect()
    }

    /// Returns all that may be written about.
    fn subjects(&self) -> Vec<SubjectId> {
        let entities = self.long.iter().map(|it| self.entity(it.0));
        self.communities.iter().chain(&self.summaries).copied().chain(entities).collect()
    }

    fn entity(&self, entity: EntityOrdinal) -> SubjectId {
        EntityId::of(&[self.graph.entity_name(entity).as_bytes()]).into()
    }

    /// Returns the tasks of a model about entities.
    fn entities_due(&self, writer: &str) -> Vec<Due<DescribeSkill>> {
        self.long.iter().map(|it| self.described(it)).filter(|it| self.is_due(it, writer)).collect()
    }

    fn described(&self, (entity, said): &(EntityOrdinal, Vec<&str>)) -> Due<DescribeSkill> {
        let name = self.materials.spelling(*entity);
        let descriptions = said.iter().map(|&it| it.to_owned()).collect();
        Due::of(self.entity(*entity), &name.clone(), DescribeTask { name, descriptions })
    }

    fn is_due<S: Reporting>(&self, due: &Due<S>, writer: &str) -> bool {
        let known = self.known.get(&due.about);
        !known.is_some_and(|known| known.writer == writer && known.content == due.content)
    }

    /// Returns the tasks of a model about the communities of a level.
    fn topics_due(&self, level: u32, writer: &str) -> Vec<Due<ReportSkill>> {
        let on_level = |it: &CommunityOrdinal| {
            self.hierarchy.community_level[*it] == level && self.hierarchy.members(*it).len() >= MEMBERS_MIN
        };
        let parts = self.parts();
        let due = self.hierarchy.communities().filter(on_level).filter_map(|it| self.topic(it, &parts));
        due.filter(|it| self.is_due(it, writer)).collect()
    }

    /// Returns the tasks of a model about the clusters of a layer.
    fn clusters_due(&self, layer: u32, writer: &str, types: &EntityTypes) -> Vec<Due<SummarizeSkill>> {
        let on_layer = |it: &SummaryOrdinal| {
            self.hierarchy.summary_layer[*it] == layer && self.hierarchy.summarized(*it).count() >= MEMBERS_MIN
        };
        let below = self.below();
        let due = self.hierarchy.summaries().filter(on_layer).filter_map(|it| self.cluster(it, &below, types));
        due.filter(|it| self.is_due(it, writer)).collect()
    }

    /// Returns the existing reports about communities, as rows for those above them.
    fn parts(&self) -> FxHashMap<CommunityOrdinal, String> {
        let row = |it: CommunityOrdinal| {
            let TopicReport { title, summary, .. } = self.report(it)?;
            Some((it, format!("{title}: {summary}")))
        };
        self.hierarchy.communities().filter_map(row).collect()
    }

    /// Returns the existing summaries of clusters, as rows for those above them.
    fn below(&self) -> FxHashMap<SummaryOrdinal, String> {
        let row = |it: SummaryOrdinal| {
            let aspects = self.summary(it)?.aspects.iter().map(|it| format!("{}: {}", it.name, it.description));
            Some((it, aspects.collect::<Vec<_>>().join(" ")))
        };
        self.hierarchy.summaries().filter_map(row).collect()
    }

    fn report(&self, community: CommunityOrdinal) -> Option<&TopicReport> {
        match &self.known.get(&self.communities[community.index()])?.report {
            WrittenText::Topic(report) => Some(report),
            WrittenText::Cluster(_) | WrittenText::Entity(_) => None,
        }
    }

    fn summary(&self, summary: SummaryOrdinal) -> Option<&ClusterSummary> {
        match &self.known.get(&self.summaries[summary.index()])?.report {
            WrittenText::Cluster(summary) => Some(summary),
            WrittenText::Topic(_) | WrittenText::Entity(_) => None,
        }
    }

    fn topic(
        &self,
        community: CommunityOrdinal,
        parts: &FxHashMap<CommunityOrdinal, String>,
    ) -> Option<Due<ReportSkill>> {
        let Material { entities, relations, parts, sentences } = self.materials.about(community, parts);
        let task = ReportTask { entities, relations, parts, sentences: self.places(&sentences)? };
        Some(Due::of(self.communities[community.index()], self.hierarchy.title(community), task))
    }

    fn cluster(
        &self,
        summary: SummaryOrdinal,
        below: &FxHashMap<SummaryOrdinal, String>,
        types: &EntityTypes,
    ) -> Option<Due<SummarizeSkill>> {
        let Material { entities, sentences, .. } = self.materials.of_cluster(summary, below);
        let task = SummarizeTask { types: types.clone(), members: entities, sentences: self.places(&sentences)? };
        Some(Due::of(self.summaries[summary.index()], self.hierarchy.summary_name(summary), task))
    }

    /// Returns sentences with their positions; none if there are none to show.
    fn places(&self, sentences: &[SentenceOrdinal]) -> Option<Vec<(PassageId, u32, String)>> {
        let place = |sentence: &SentenceOrdinal| {
            let passage = self.graph.sentence_passage[*sentence];
            let first = self.graph.passage_sentences.of(passage).range().start as u32;
            let text = self.materials.sentence(*sentence).to_owned();
            (self.corpus.passages[passage.index()].id, sentence.0 - first, text)
        };
        (!sentences.is_empty()).then(|| sentences.iter().map(place).collect())
    }

    /// Returns the texts in the form of a version. Citations that are gone are left out, and so are findings and
    /// aspects without any citation left.
    fn packed(&self) -> (Vec<PackedReport>, Vec<PackedAspect>) {
        let passages: FxHashMap<PassageId, PassageOrdinal> =
            self.corpus.passages.iter().map(|it| it.id).zip(self.graph.passages()).collect();
        let cited = |sentences: &[(PassageId, u32)]| {
            let ordinal = |(passage, sentence): &(PassageId, u32)| {
                self.graph.passage_sentences.of(*passages.get(passage)?).nth(*sentence as usize)
            };
            let sentences: Vec<SentenceOrdinal> = sentences.iter().filter_map(ordinal).collect();
            (!sentences.is_empty()).then_some(sentences)
        };
        let report = |at: CommunityOrdinal| {
            let TopicReport { title, summary, findings, rating } = self.report(at)?;
            let findings: Vec<_> =
                findings.iter().filter_map(|it| Some((it.text.clone(), cited(&it.sentences)?))).collect();
            (!findings.is_empty()).then(|| PackedReport {
                community: at,
                title: title.clone(),
                summary: summary.clone(),
                rating: f32::from(*rating),
                findings,
            })
        };
        let aspects = |at: SummaryOrdinal| {
            let aspects = self.summary(at).map(|it| it.aspects.as_slice()).unwrap_or_default();
            let aspect = aspects.iter().filter_map(|it| {
                Some(PackedAspect {
                    summary: at,
                    name: it.name.clone(),
                    kind: it.kind.clone().unwrap_or_default(),
                    description: it.description.clone(),
                    sentences: cited(&it.sentences)?,
                })
            });
            aspect.collect::<Vec<_>>()
        };
        let reports = self.hierarchy.communities().filter_map(report).collect();
        (reports, self.hierarchy.summaries().flat_map(aspects).collect())
    }
}

impl Reported<'_> {
    /// Adds the texts to the descriptions of a version, which are created if there are none.
    fn put(&self, descriptions: Option<PackedDescriptions>) -> Option<PackedDescriptions> {
        let (reports, aspects) = self.packed();
        let is_any = !reports.is_empty() || !aspects.is_empty();
        let by_rule = || is_any.then(|| PackedDescriptions::by_rule(&self.graph, &self.hierarchy));
        let mut descriptions = descriptions.or_else(by_rule)?;
        // Those of the last version may be others.
        pack_reports(reports, &mut descriptions);
        pack_aspects(aspects, &mut descriptions);
        describe(&self.materials.described(), &mut descriptions);
        Some(descriptions)
    }
}

/// Calls `visit` with the parts of the current version that are written about; returns none if it has no hierarchy, or
/// `records` are ahead of it.
pub(super) fn of_current<T>(
    workspace: &Workspace,
    records: &Records,
    visit: impl FnOnce(&mut Reported<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let snapshot = workspace.snapshot()?;
    let Some(hierarchy) = snapshot.hierarchy() else { return Ok(None) };
    let descriptions = snapshot.descriptions().map(|it| it.to_packed());
    let units = units::read(records)?;
    let corpus = Corpus::of(&units);
    let passages = corpus.passages.iter().map(|it| it.id);
    if !passages.eq(snapshot.graph().passages().map(|it| snapshot.passage_id(it))) {
        return Ok(None);
    }
    let (graph, resolution) = (snapshot.graph(), snapshot.resolution());
    let made = DraftVersion { graph, resolution, hierarchy, descriptions: descriptions.as_ref() };
    visit(&mut Reported::of(made, &corpus, records)?).map(Some)
}

/// Returns the descriptions of a version in progress with all texts, after a model has written those due, if it is to;
/// and the results.
pub(super) async fn add(
    made: DraftVersion<'_>,
    corpus: &Corpus<'_>,
    records: &mut Records,
    (options, reporter): (&IndexOptions, Option<&Arc<dyn ChatModel>>),
) -> Result<(Option<PackedDescriptions>, Option<Asked>)> {
    if reporter.is_none() && made.descriptions.is_none() && !records.has_reports()? {
        return Ok((None, None));
    }
    let mut reports = Reported::of(made, corpus, records)?;
    let asked = if let Some(model) = reporter {
        Some(reports.write(records, model, options).await?)
    } else {
        // Texts about communities that are gone may repeat removed documents.
        records.keep_reports(&reports.subjects())?;
        None
    };
    Ok((reports.put(made.descriptions.cloned()), asked))
}

/// Adds the results of one level or layer to those below.
fn add_step(sum: &mut ModelReport, step: ModelReport) {
    sum.written += step.written;
    sum.failed.extend(step.failed);
    sum.left += step.left;
    sum.spent.add(&step.spent);
    if sum.stopped.is_none() {
        (sum.stopped, sum.stopped_by) = (step.stopped, step.stopped_by);
    }
    if sum.useless.is_none() {
        sum.useless = step.useless;
    }
}
