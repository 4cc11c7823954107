//! Topics of a collection: communities of entities that are mentioned together.

use serde::{Deserialize, Serialize};

use super::{Citation, IndexVersion, PassageId};

/// Findings of a report at most.
pub const FINDINGS_MAX: usize = 6;
/// Rating of a report at most.
pub const RATING_MAX: u8 = 10;
/// Aspects of a summary at most.
pub const ASPECTS_MAX: usize = 4;
/// Maximum bytes of a text of a report, and sentences of a finding: more than a model may write.
const TEXT_BYTES_MAX: usize = 16 << 10;
const CITED_MAX: usize = 1_024;

/// A language model's report about a topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicReport {
    /// The title, in a few words.
    pub title: String,
    /// The summary, in one to three sentences.
    pub summary: String,
    /// The findings, the most important first.
    pub findings: Vec<ReportFinding>,
    /// How much it matters, from 0 to [`RATING_MAX`].
    pub rating: u8,
}

/// A finding of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportFinding {
    /// Its text, in the model's words.
    pub text: String,
    /// The sentences that say so: each by its passage, and its place there.
    pub sentences: Vec<(PassageId, u32)>,
}

/// A language model's summaries of what the members of a summary entity have in common: `HiRAG`'s summary entities of
/// one cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterSummary {
    /// What joins them, the most important first.
    pub aspects: Vec<Aspect>,
}

/// One aspect that the members of a summary entity have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aspect {
    /// Its name, in a few words.
    pub name: String,
    /// Its type, if it is one of those requested.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Its description, in the model's words.
    pub description: String,
    /// The sentences that say so: each by its passage, and its place there.
    pub sentences: Vec<(PassageId, u32)>,
}

/// A language model's description of an entity, merged from its descriptions in passages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityDescription {
    /// The text.
    pub description: String,
}

/// A language model's text about an element of the hierarchy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WrittenText {
    /// About a community.
    Topic(TopicReport),
    /// About a summary entity.
    Cluster(ClusterSummary),
    /// About an entity.
    Entity(EntityDescription),
}

impl WrittenText {
    /// Returns whether all of it is within its limits.
    #[must_use]
    pub fn is_within_limits(&self) -> bool {
        match self {
            Self::Topic(report) => report.is_within_limits(),
            Self::Cluster(summary) => summary.is_within_limits(),
            Self::Entity(it) => is_short(&it.description),
        }
    }
}

fn is_short(text: &str) -> bool {
    text.len() <= TEXT_BYTES_MAX
}

impl ClusterSummary {
    /// Returns whether all of it is within its limits.
    #[must_use]
    pub fn is_within_limits(&self) -> bool {
        let is_aspect = |it: &Aspect| {
            let texts = [&it.name, &it.description].into_iter().chain(&it.kind);
            texts.into_iter().all(|text| is_short(text)) && (1..=CITED_MAX).contains(&it.sentences.len())
        };
        (1..=ASPECTS_MAX).contains(&self.aspects.len()) && self.aspects.iter().all(is_aspect)
    }
}

impl TopicReport {
    /// Returns whether all of it is within its limits.
    #[must_use]
    pub fn is_within_limits(&self) -> bool {
        let is_finding = |it: &ReportFinding| is_short(&it.text) && (1..=CITED_MAX).contains(&it.sentences.len());
        is_short(&self.title)
            && is_short(&self.summary)
            && (1..=FINDINGS_MAX).contains(&self.findings.len())
            && self.findings.iter().all(is_finding)
            && self.rating <= RATING_MAX
    }
}

/// Which topics are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TopicOptions {
    /// Their subject: topics of the entities named in it, and those above them; by default, all.
    pub about: Option<String>,
}

/// A community of entities that are mentioned together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Topic {
    /// Its level, from 0 for those that are part of no other.
    pub level: u32,
    /// The topic that it is a part of, by its place in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// Its title: that of a model's report, or else the names of its most central entities.
    pub title: String,
    /// How much is written about it, from 0 to 10: `log2(1 + passages)`.
    pub rating: f32,
    /// Entities in it.
    pub entities: u64,
    /// Passages that mention one of them.
    pub passages: u64,
    /// Sentences that together mention as many of its central entities as possible.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Citation>,
    /// A language model's report about it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<WrittenTopic>,
}

/// A report about a topic, as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WrittenTopic {
    /// The title, in a few words.
    pub title: String,
    /// The summary.
    pub summary: String,
    /// How much it matters, from 0 to 10.
    pub rating: f32,
    /// The findings, the most important first.
    pub findings: Vec<WrittenFinding>,
}

/// A finding of a report, as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WrittenFinding {
    /// Its text, in the model's words.
    pub text: String,
    /// The sentences that say so.
    pub citations: Vec<Citation>,
}

/// A layer of summary entities: soft clusters of the layer below.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SummaryLayer {
    /// Its number, from 1.
    pub layer: u32,
    /// Summary entities on it.
    pub summaries: u64,
    /// The share of pairs of the layer below that none of them joins: cluster sparsity (`HiRAG`).
    pub sparsity: f64,
}

/// How much of a hierarchy a language model found, alone or together with rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundByModel {
    /// Entities.
    pub entities: u64,
    /// Relations.
    pub relations: u64,
}

/// The topics of an index: the largest first, those that are part of another behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Topics {
    /// The version of the index.
    pub version: IndexVersion,
    /// Entities that are related to another.
    pub entities: u64,
    /// Pairs of them that share a sentence, where one is the subject of a document that mentions the other, or that a
    /// language model found.
    pub relations: u64,
    /// How many of these a language model found, if one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_model: Option<FoundByModel>,
    /// The layers of summary entities above them; none without vectors.
    pub layers: Vec<SummaryLayer>,
    /// The topics.
    pub topics: Vec<Topic>,
}
