//! The part of an export that a language model found and wrote: entities, relations and reports, by id.

use serde::Serialize;

use super::CanonicalLines;
use super::hierarchy::SentencePlace;
use crate::domain::{CommunityId, EntityId, Origin, SummaryId};
use crate::error::Result;
use crate::graph::descriptions::Descriptions;
use crate::graph::hierarchy::Hierarchy;
use crate::graph::ordinal::{Ordinal as _, SentenceOrdinal};
use crate::store::{GraphReader as _, community_ids, summary_ids};
use crate::workspace::Snapshot;

/// An entity that a model found.
#[derive(Debug, Serialize)]
pub(crate) struct DescribedEntity<'a> {
    pub(crate) id: EntityId,
    pub(crate) name: &'a str,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<&'a str>,
    pub(crate) origin: Origin,
}

/// A model's description of a relation.
#[derive(Debug, Serialize)]
pub(crate) struct RelationDescription<'a> {
    pub(crate) from: EntityId,
    pub(crate) to: EntityId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<&'a str>,
    pub(crate) origin: Origin,
}

/// A model's report about a community.
#[derive(Debug, Serialize)]
pub(crate) struct CommunityReport {
    pub(crate) community: CommunityId,
    pub(crate) title: String,
    pub(crate) summary: String,
    pub(crate) rating: f32,
    pub(crate) findings: Vec<ReportedFinding>,
}

/// A model's summary of what the members of a summary entity have in common.
#[derive(Debug, Serialize)]
pub(crate) struct SummaryDescription {
    pub(crate) summary: SummaryId,
    pub(crate) aspects: Vec<ExportedAspect>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ExportedAspect {
    pub(crate) name: String,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    pub(crate) description: String,
    pub(crate) sentences: Vec<SentencePlace>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ReportedFinding {
    pub(crate) text: String,
    pub(crate) sentences: Vec<SentencePlace>,
}

impl Snapshot {
    /// Adds the entities and relations that a model found, with its descriptions.
    pub(super) fn export_descriptions(&self, lines: &mut CanonicalLines) -> Result<()> {
        let (graph, known) = (self.graph(), self.hierarchy().zip(self.descriptions()));
        let Some((hierarchy, descriptions)) = known else { return Ok(()) };
        let by_model = |origin: Origin| Some(origin).filter(|it| it.has_model());
        for entity in graph.entity_documents.ordinals() {
            let Some(origin) = by_model(descriptions.entity_origin(entity)) else { continue };
            let described = DescribedEntity {
                id: self.entity_id(entity),
                name: graph.entity_name(entity),
                kind: descriptions.entity_type(entity),
                description: descriptions.entity_description(entity),
                origin,
            };
            lines.push("entity", &described)?;
        }
        for first in graph.entity_documents.ordinals() {
            for relation in hierarchy.entity_relations.of(first) {
                let Some(origin) = by_model(descriptions.relation_origin(relation)) else { continue };
                let described = RelationDescription {
                    from: self.entity_id(first),
                    to: self.entity_id(hierarchy.relation_entity[relation]),
                    description: descriptions.relation_description(relation),
                    origin,
                };
                lines.push("relation_description", &described)?;
            }
        }
        self.export_reports(&hierarchy, &descriptions, lines)?;
        self.export_aspects(&hierarchy, &descriptions, lines)
    }

    fn export_aspects(
        &self,
        hierarchy: &Hierarchy<'_>,
        descriptions: &Descriptions<'_>,
        lines: &mut CanonicalLines,
    ) -> Result<()> {
        let ids = summary_ids(&self.graph(), hierarchy);
        for summary in hierarchy.summaries() {
            let aspects = descriptions.aspects(summary).map(|it| ExportedAspect {
                name: it.name.to_owned(),
                kind: it.kind.map(str::to_owned),
                description: it.description.to_owned(),
                sentences: self.sentence_places(it.sentences),
            });
            let aspects: Vec<ExportedAspect> = aspects.collect();
            if !aspects.is_empty() {
                lines.push("summary_description", &SummaryDescription { summary: ids[summary.index()], aspects })?;
            }
        }
        Ok(())
    }

    fn export_reports(
        &self,
        hierarchy: &Hierarchy<'_>,
        descriptions: &Descriptions<'_>,
        lines: &mut CanonicalLines,
    ) -> Result<()> {
        let ids = community_ids(&self.graph(), hierarchy);
        let finding = |(text, sentences): (&str, &[SentenceOrdinal])| ReportedFinding {
            text: text.to_owned(),
            sentences: self.sentence_places(sentences),
        };
        for community in hierarchy.communities() {
            let Some(report) = descriptions.report(community) else { continue };
            let line = CommunityReport {
                community: ids[community.index()],
                title: report.title.to_owned(),
                summary: report.summary.to_owned(),
                rating: descriptions.rating(report),
                findings: descriptions.findings(report).map(finding).collect(),
            };
            lines.push("report", &line)?;
        }
        Ok(())
    }
}
