//! The hierarchy of a version, in the numbered lists from which elements are made.

use super::element::{Key, Properties, Value};
use crate::domain::PassageId;
use crate::error::Result;
use crate::graph::hierarchy::Hierarchy;
use crate::graph::ordinal::{CommunityOrdinal, EntityOrdinal, Ordinal as _, SentenceOrdinal, SummaryOrdinal};
use crate::graph::packed::PassageGraph;
use crate::store::{GraphReader as _, community_ids, sentence, summary_ids};
use crate::workspace::Snapshot;

/// The hierarchy of a version; empty where an earlier program made the version.
#[derive(Default)]
pub(super) struct HierarchyParts<'a> {
    pub(super) hierarchy: Hierarchy<'a>,
    /// The ends of each relation, its weight, and the sentence that says most of it.
    pub(super) relations: Vec<([EntityOrdinal; 2], f32, Option<SentenceOrdinal>)>,
    /// The key of each community.
    pub(super) communities: Vec<Key>,
    /// Communities within another, and which that is.
    pub(super) nested: Vec<(CommunityOrdinal, CommunityOrdinal)>,
    /// Entities, and the smallest community of each.
    pub(super) members: Vec<(EntityOrdinal, CommunityOrdinal)>,
    /// The key of each summary entity.
    pub(super) summaries: Vec<Key>,
    /// Entities, the summary entities of the first layer that they are in, and how much.
    pub(super) summarized_entities: Vec<(EntityOrdinal, SummaryOrdinal, f32)>,
    /// Summary entities, those of the layer above that they are in, and how much.
    pub(super) summarized_summaries: Vec<(SummaryOrdinal, SummaryOrdinal, f32)>,
}

impl<'a> HierarchyParts<'a> {
    pub(super) fn of(snapshot: &'a Snapshot, graph: &PassageGraph<'_>) -> Self {
        let Some(hierarchy) = snapshot.hierarchy() else { return Self::default() };
        let mut parts = Self {
            relations: hierarchy.relations().collect(),
            communities: community_ids(graph, &hierarchy).iter().map(|id| *id.as_bytes()).collect(),
            nested: hierarchy.communities().filter_map(|it| Some((it, hierarchy.parent(it)?))).collect(),
            members: hierarchy.smallest_communities(),
            summaries: summary_ids(graph, &hierarchy).iter().map(|id| *id.as_bytes()).collect(),
            hierarchy,
            ..Self::default()
        };
        for summary in hierarchy.summaries() {
            let members = hierarchy.summarized(summary);
            if hierarchy.summary_layer[summary] == 1 {
                let entities = members.map(|(member, weight)| (EntityOrdinal(member), summary, weight));
                parts.summarized_entities.extend(entities);
            } else {
                let summaries = members.map(|(member, weight)| (SummaryOrdinal(member), summary, weight));
                parts.summarized_summaries.extend(summaries);
            }
        }
        parts
    }
}

/// A sentence that is quoted: its text, its passage, and its number there.
pub(super) struct Quote {
    pub(super) text: String,
    pub(super) passage: PassageId,
    pub(super) number: u32,
}

impl Quote {
    pub(super) fn of(snapshot: &Snapshot, of: SentenceOrdinal) -> Result<Self> {
        let graph = snapshot.graph();
        let (text, span) = sentence(snapshot, &graph, of)?;
        let first = graph.passage_sentences.of(graph.sentence_passage[of]).range().start;
        Ok(Self {
            text: span.map(|span| span.of(&text.text).to_owned()).unwrap_or_default(),
            passage: text.passage,
            number: (of.index() - first) as u32,
        })
    }

    pub(super) fn all(snapshot: &Snapshot, sentences: &[SentenceOrdinal]) -> Result<Vec<Self>> {
        sentences.iter().map(|it| Self::of(snapshot, *it)).collect()
    }
}

/// Returns the locations of sentences, each as the id of its passage and its number there.
pub(super) fn places_on_one_line(quotes: &[Quote]) -> Value {
    Value::Texts(quotes.iter().map(|it| format!("{} {}", it.passage, it.number)).collect())
}

/// Returns the locations of sentences: the ids of their passages, and their numbers there.
pub(super) fn put_places(properties: &mut Properties, quotes: &[Quote]) {
    properties.put("citations", Value::Texts(quotes.iter().map(|it| it.passage.to_string()).collect()));
    properties.put("cairnSentences", Value::Integers(quotes.iter().map(|it| it.number.into()).collect()));
}
