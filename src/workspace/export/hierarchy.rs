//! The hierarchy in an export: relations, communities and layers, by id.

use serde::Serialize;

use super::CanonicalLines;
use crate::domain::{CommunityId, EntityId, PassageId, SummaryId};
use crate::error::Result;
use crate::graph::hierarchy::Hierarchy;
use crate::graph::ordinal::{EntityOrdinal, Ordinal as _, SentenceOrdinal};
use crate::store::{GraphReader as _, community_ids, summary_ids};
use crate::workspace::Snapshot;

/// A sentence of a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct SentencePlace {
    pub(crate) passage: PassageId,
    pub(crate) sentence: u32,
}

/// Two entities that have to do with each other.
#[derive(Debug, Serialize)]
pub(crate) struct Relation {
    pub(crate) from: EntityId,
    pub(crate) to: EntityId,
    pub(crate) weight: f32,
    /// The sentence that says most of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) evidence: Option<SentencePlace>,
}

/// A community; its members are lines of their own.
#[derive(Debug, Serialize)]
pub(crate) struct Community {
    pub(crate) id: CommunityId,
    pub(crate) level: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<CommunityId>,
    pub(crate) title: String,
    pub(crate) entities: u64,
    pub(crate) passages: u64,
    pub(crate) findings: Vec<SentencePlace>,
}

/// An entity, and the smallest community that it is in.
#[derive(Debug, Serialize)]
pub(crate) struct Member {
    pub(crate) entity: EntityId,
    pub(crate) community: CommunityId,
}

/// A summary entity.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    pub(crate) id: SummaryId,
    pub(crate) layer: u32,
    pub(crate) name: String,
    pub(crate) sentences: Vec<SentencePlace>,
}

/// A member, its summary entity, and its weight.
#[derive(Debug, Serialize)]
pub(crate) struct Membership<M: Serialize> {
    pub(crate) member: M,
    pub(crate) summary: SummaryId,
    pub(crate) weight: f32,
}

impl Snapshot {
    pub(super) fn export_hierarchy(&self, lines: &mut CanonicalLines) -> Result<()> {
        let Some(hierarchy) = self.hierarchy() else { return Ok(()) };
        for ([from, to], weight, said) in hierarchy.relations() {
            let [from, to] = [from, to].map(|it| self.entity_id(it));
            let evidence = said.map(|it| self.sentence_place(it));
            lines.push("relation", &Relation { from, to, weight, evidence })?;
        }
        self.export_communities(&hierarchy, lines)?;
        self.export_summaries(&hierarchy, lines)
    }

    fn export_communities(&self, hierarchy: &Hierarchy<'_>, lines: &mut CanonicalLines) -> Result<()> {
        let ids = community_ids(&self.graph(), hierarchy);
        for community in hierarchy.communities() {
            let line = Community {
                id: ids[community.index()],
                level: hierarchy.community_level[community],
                parent: hierarchy.parent(community).map(|parent| ids[parent.index()]),
                title: hierarchy.title(community).to_owned(),
                entities: hierarchy.members(community).len() as u64,
                passages: u64::from(hierarchy.community_passages[community]),
                findings: self.sentence_places(hierarchy.findings(community)),
            };
            lines.push("community", &line)?;
        }
        for (entity, community) in hierarchy.smallest_communities() {
            lines.push("member", &Member { entity: self.entity_id(entity), community: ids[community.index()] })?;
        }
        Ok(())
    }

    fn export_summaries(&self, hierarchy: &Hierarchy<'_>, lines: &mut CanonicalLines) -> Result<()> {
        let ids = summary_ids(&self.graph(), hierarchy);
        for summary in hierarchy.summaries() {
            let (id, layer) = (ids[summary.index()], hierarchy.summary_layer[summary]);
            let name = hierarchy.summary_name(summary).to_owned();
            let sentences = self.sentence_places(hierarchy.sentences(summary));
            lines.push("summary", &Summary { id, layer, name, sentences })?;
            for (member, weight) in hierarchy.summarized(summary) {
                if layer == 1 {
                    let member = self.entity_id(EntityOrdinal(member));
                    lines.push("membership", &Membership { member, summary: id, weight })?;
                } else {
                    let member = ids[member as usize];
                    lines.push("membership", &Membership { member, summary: id, weight })?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn entity_id(&self, entity: EntityOrdinal) -> EntityId {
        EntityId::of(&[self.graph().entity_name(entity).as_bytes()])
    }

    pub(super) fn sentence_places(&self, sentences: &[SentenceOrdinal]) -> Vec<SentencePlace> {
        sentences.iter().map(|it| self.sentence_place(*it)).collect()
    }

    fn sentence_place(&self, sentence: SentenceOrdinal) -> SentencePlace {
        let graph = self.graph();
        let passage = graph.sentence_passage[sentence];
        let first = graph.passage_sentences.of(passage).range().start;
        SentencePlace { passage: self.passage_id(passage), sentence: (sentence.index() - first) as u32 }
    }
}
