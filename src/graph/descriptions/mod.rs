//! A model's descriptions of the entities and relations of a version, as flat arrays, and who found each: rules, a
//! model, or both. A version without any findings of a model has none.
//!
//! Entities and mentions are those of the [`PassageGraph`], relations those of the [`Hierarchy`] beside it.

mod aspects;
mod build;
mod reports;

use super::arrays::Elsewhere;
use super::hierarchy::Hierarchy;
use super::ordinal::{
    Column, CommunityOrdinal, EntityOrdinal, MentionOrdinal, Ordinal as _, Position, RelationOrdinal, Rows,
    SentenceOrdinal, SummaryOrdinal,
};
use super::packed::{PassageGraph, text_at};
use crate::domain::{FoundByModel, Origin};
pub use aspects::{PackedAspect, pack_aspects};
pub use build::{DESCRIPTION_TOKENS_MAX, describe, long_descriptions, pack_descriptions};
pub use reports::{PackedReport, pack_reports};

/// Bits that say who found something.
pub mod origin {
    /// Rules.
    pub const RULE: u8 = 1;
    /// A language model.
    pub const MODEL: u8 = 2;
}

/// No type.
pub const NONE: u32 = u32::MAX;

arrays! {
    PackedDescriptions, Descriptions;

    /// Who found each mention: bits of [`origin`].
    mention_origin: Column<MentionOrdinal, u8> = "mention.origin" [each mentions],
    /// Who found each entity: bits of [`origin`].
    entity_origin: Column<EntityOrdinal, u8> = "entity.origin" [each entities],
    /// The type of each entity, or [`NONE`].
    entity_type: Column<EntityOrdinal, u32> = "entity.type" [each entities, below_or_none type_ends],
    /// Ends of the types in `types`; they are numbered in order.
    type_ends: Column<u32, u32> = "type.ends" [ends types],
    /// Types of entities, back to back.
    types: Column<Position, u8> = "types" [],
    /// Ends of the description of each entity, in `entity_descriptions`.
    entity_description_ends: Column<EntityOrdinal, u32> = "entity.description-ends"
        [each entities, ends entity_descriptions],
    /// Descriptions of the entities, back to back.
    entity_descriptions: Column<Position, u8> = "entity.descriptions" [],
    /// Who found each relation: bits of [`origin`].
    relation_origin: Column<RelationOrdinal, u8> = "relation.origin" [each relations],
    /// Ends of the description of each relation, in `relation_descriptions`.
    relation_description_ends: Column<RelationOrdinal, u32> = "relation.description-ends"
        [each relations, ends relation_descriptions],
    /// Descriptions of the relations, back to back.
    relation_descriptions: Column<Position, u8> = "relation.descriptions" [],

    /// The community that each report is about, in order.
    report_community: Column<u32, CommunityOrdinal> = "report.community" [below communities],
    /// How much it matters, from 0 to 10.
    report_rating: Column<u32, f32> = "report.rating" [each report_community],
    /// Ends of the titles in `report_titles`.
    report_title_ends: Column<u32, u32> = "report.title-ends" [each report_community, ends report_titles],
    /// Titles of the communities, back to back.
    report_titles: Column<Position, u8> = "report.titles" [],
    /// Ends of their summaries in `report_summaries`.
    report_summary_ends: Column<u32, u32> = "report.summary-ends" [each report_community, ends report_summaries],
    /// Their texts, back to back.
    report_summaries: Column<Position, u8> = "report.summaries" [],
    /// Findings of each report: rows of `finding_ends`.
    report_findings: Rows<u32, u32> = "report.findings" [rows report_community finding_ends],
    /// Ends of the findings in `findings`.
    finding_ends: Column<u32, u32> = "finding.ends" [ends findings],
    /// The findings, back to back.
    findings: Column<Position, u8> = "findings" [],
    /// Sentences of each finding: rows of `finding_sentence`.
    finding_sentences: Rows<u32, Position> = "finding.sentences" [rows finding_ends finding_sentence],
    /// A sentence that supports a finding.
    finding_sentence: Column<Position, SentenceOrdinal> = "finding.sentence" [below sentences],

    /// The summary entity that each aspect is of, in order, those of one in the order of the model.
    aspect_summary: Column<u32, SummaryOrdinal> = "aspect.summary" later [below summaries],
    /// Ends of the names in `aspect_names`.
    aspect_name_ends: Column<u32, u32> = "aspect.name-ends" later [each aspect_summary, ends aspect_names],
    /// Names of the aspects, back to back.
    aspect_names: Column<Position, u8> = "aspect.names" later [],
    /// Ends of the types in `aspect_types`; one without a type has an empty one.
    aspect_type_ends: Column<u32, u32> = "aspect.type-ends" later [each aspect_summary, ends aspect_types],
    /// Types of the aspects, back to back.
    aspect_types: Column<Position, u8> = "aspect.types" later [],
    /// Ends of their descriptions in `aspect_descriptions`.
    aspect_description_ends: Column<u32, u32> = "aspect.description-ends" later
        [each aspect_summary, ends aspect_descriptions],
    /// Their texts, back to back.
    aspect_descriptions: Column<Position, u8> = "aspect.descriptions" later [],
    /// Sentences of each aspect: rows of `aspect_sentence`.
    aspect_sentences: Rows<u32, Position> = "aspect.sentences" later [rows aspect_summary aspect_sentence],
    /// A sentence that supports an aspect.
    aspect_sentence: Column<Position, SentenceOrdinal> = "aspect.sentence" later [below sentences],
}

/// The numbers of elements described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Described {
    /// Entities.
    pub entities: usize,
    /// Mentions.
    pub mentions: usize,
    /// Relations.
    pub relations: usize,
    /// Communities.
    pub communities: usize,
    /// Summary entities.
    pub summaries: usize,
    /// Sentences.
    pub sentences: usize,
}

impl Described {
    /// Returns how much a graph and the hierarchy over it have.
    #[must_use]
    pub fn of(graph: &PassageGraph<'_>, hierarchy: &Hierarchy<'_>) -> Self {
        Self {
            entities: graph.entity_name_ends.len(),
            mentions: graph.mention_entity.len(),
            relations: hierarchy.relation_entity.len(),
            communities: hierarchy.community_level.len(),
            summaries: hierarchy.summary_layer.len(),
            sentences: graph.sentence_count(),
        }
    }
}

/// A model's report about a community.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report<'a> {
    number: u32,
    /// Its name.
    pub title: &'a str,
    /// Its text.
    pub summary: &'a str,
}

/// A model's summary of one aspect that the members of a summary entity have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryAspect<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its type, if it has one of those requested.
    pub kind: Option<&'a str>,
    /// Its text.
    pub description: &'a str,
    /// The sentences that say so.
    pub sentences: &'a [SentenceOrdinal],
}

impl<'a> Descriptions<'a> {
    /// Checks that every array obeys its rules, given the numbers of elements described.
    ///
    /// # Errors
    ///
    /// The name of an array that breaks a rule, and the rule.
    pub fn check(&self, described: Described) -> Result<(), (&'static str, &'static str)> {
        let Described { entities, mentions, relations, communities, summaries, sentences } = described;
        let elsewhere = Elsewhere { entities, sentences, mentions, relations, communities, ..Elsewhere::default() };
        self.check_arrays(Elsewhere { summaries, ..elsewhere })?;
        if !self.report_community.items().is_sorted() {
            return Err(("report.community", "is out of order"));
        }
        if !self.aspect_summary.items().is_sorted() {
            return Err(("aspect.summary", "is out of order"));
        }
        Ok(())
    }

    /// Returns how many entities and relations a model found.
    #[must_use]
    pub fn found_by_model(&self) -> FoundByModel {
        let found = |origins: &[u8]| origins.iter().filter(|bits| read(**bits).has_model()).count() as u64;
        FoundByModel { entities: found(self.entity_origin.items()), relations: found(self.relation_origin.items()) }
    }

    /// Returns a model's report about a community, if there is one.
    #[must_use]
    pub fn report(&self, community: CommunityOrdinal) -> Option<Report<'a>> {
        let number = u32::at(self.report_community.items().binary_search(&community).ok()?);
        let title = text_at(&self.report_title_ends, self.report_titles.items(), number);
        let summary = text_at(&self.report_summary_ends, self.report_summaries.items(), number);
        Some(Report { number, title, summary })
    }

    /// Returns how much a report says that its community matters, from 0 to 10.
    #[must_use]
    pub fn rating(&self, report: Report<'_>) -> f32 {
        self.report_rating[report.number]
    }

    /// Returns the findings of a report, each with the sentences that say so.
    pub fn findings(&self, report: Report<'_>) -> impl Iterator<Item = (&'a str, &'a [SentenceOrdinal])> + '_ {
        self.report_findings.of(report.number).map(|finding| {
            let text = text_at(&self.finding_ends, self.findings.items(), finding);
            (text, self.finding_sentence.of(self.finding_sentences.of(finding)))
        })
    }

    /// Returns a model's summaries of what the members of a summary entity have in common, if any.
    pub fn aspects(&self, summary: SummaryOrdinal) -> impl Iterator<Item = SummaryAspect<'a>> + use<'a> {
        let (of, summaries) = (*self, self.aspect_summary.items());
        let first = summaries.partition_point(|it| *it < summary);
        let count = summaries[first..].partition_point(|it| *it == summary);
        (first..first + count).map(move |at| {
            let number = u32::at(at);
            SummaryAspect {
                name: text_at(&of.aspect_name_ends, of.aspect_names.items(), number),
                kind: said(text_at(&of.aspect_type_ends, of.aspect_types.items(), number)),
                description: text_at(&of.aspect_description_ends, of.aspect_descriptions.items(), number),
                sentences: of.aspect_sentence.of(of.aspect_sentences.of(number)),
            }
        })
    }

    /// Returns how many summary entities have aspects.
    #[must_use]
    pub fn summarized(&self) -> u64 {
        self.aspect_summary.items().chunk_by(|a, b| a == b).count() as u64
    }

    /// Returns who found an entity.
    #[must_use]
    pub fn entity_origin(&self, entity: EntityOrdinal) -> Origin {
        read(self.entity_origin[entity])
    }

    /// Returns who found a mention.
    #[must_use]
    pub fn mention_origin(&self, mention: MentionOrdinal) -> Origin {
        read(self.mention_origin[mention])
    }

    /// Returns who found a relation.
    #[must_use]
    pub fn relation_origin(&self, relation: RelationOrdinal) -> Origin {
        read(self.relation_origin[relation])
    }

    /// Returns the type of an entity: that which most passages give it.
    #[must_use]
    pub fn entity_type(&self, entity: EntityOrdinal) -> Option<&'a str> {
        let kind = Some(self.entity_type[entity]).filter(|kind| *kind != NONE)?;
        Some(text_at(&self.type_ends, self.types.items(), kind))
    }

    /// Returns the description of an entity, at most [`DESCRIPTION_TOKENS_MAX`] tokens; none if no model found it.
    #[must_use]
    pub fn entity_description(&self, entity: EntityOrdinal) -> Option<&'a str> {
        said(text_at(&self.entity_description_ends, self.entity_descriptions.items(), entity))
    }

    /// Returns the description of a relation, as for an entity.
    #[must_use]
    pub fn relation_description(&self, relation: RelationOrdinal) -> Option<&'a str> {
        said(text_at(&self.relation_description_ends, self.relation_descriptions.items(), relation))
    }
}

impl PackedDescriptions {
    /// Returns the descriptions of a version without findings of a model.
    #[must_use]
    pub fn by_rule(graph: &PassageGraph<'_>, hierarchy: &Hierarchy<'_>) -> Self {
        let entities = graph.entity_name_ends.len();
        let relations = hierarchy.relation_entity.len();
        Self {
            mention_origin: vec![origin::RULE; graph.mention_entity.len()],
            entity_origin: vec![origin::RULE; entities],
            entity_type: vec![NONE; entities],
            entity_description_ends: vec![0; entities],
            relation_origin: vec![origin::RULE; relations],
            relation_description_ends: vec![0; relations],
            ..Self::default()
        }
    }
}

fn said(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// Returns who found something; without a bit, a rule did, as in earlier formats.
fn read(bits: u8) -> Origin {
    Origin::of(bits & origin::RULE != 0, bits & origin::MODEL != 0).unwrap_or(Origin::Rule)
}

#[cfg(test)]
mod tests;
