//! The hierarchy over the entities of a version, as flat arrays: relations, summary layers of soft clusters, and
//! communities on levels, each with its texts (`HiRAG`, section on `HiIndex`).
//!
//! Entities and sentences are those of the [`PassageGraph`](super::packed::PassageGraph) beside it.

mod build;
mod carried;
mod elements;
mod layers;
mod material;
mod naming;
mod preset;
mod told;
mod untouched;
mod wording;

use super::arrays::Elsewhere;
use super::ordinal::{
    Column, CommunityOrdinal, EntityOrdinal, Ordinal as _, Ordinals, Position, RelationOrdinal, Rows, SentenceOrdinal,
    SummaryOrdinal,
};
use super::packed::text_at;
use crate::domain::{CommunityId, HierarchyCounts};
pub use build::{HierarchyOptions, pack_hierarchy, pack_hierarchy_after};
pub use carried::{DRIFT_MAX, Earlier, HierarchyAge};
pub(crate) use elements::{CommunityElement, HierarchyElements, RelationElement, SummaryElement};
pub use layers::{LastLayer, LayerOptions, cluster_sparsity};
pub use material::{Material, Materials};
pub use preset::HierarchyPreset;
pub(crate) use told::Told;
pub use untouched::Moved;

/// Levels of communities, and layers of summary entities, that a file may have.
const LEVELS_MAX: u32 = 64;
/// No sentence, or no community.
pub const NONE: u32 = u32::MAX;

arrays! {
    PackedHierarchy, Hierarchy;

    /// Relations of each entity with those after it: rows of `relation_entity`.
    entity_relations: Rows<EntityOrdinal, RelationOrdinal> = "entity.relations" [rows entities relation_entity],
    /// The other entity of each relation.
    relation_entity: Column<RelationOrdinal, EntityOrdinal> = "relation.entity" [below entities],
    /// How much says that they have to do with each other.
    relation_weight: Column<RelationOrdinal, f32> = "relation.weight" [each relation_entity],
    /// The sentence that says most of it, or [`NONE`].
    relation_sentence: Column<RelationOrdinal, SentenceOrdinal> = "relation.sentence"
        [each relation_entity, below_or_none sentences],

    /// The level of each community, from 0 for those in no other; they are ordered by level.
    community_level: Column<CommunityOrdinal, u32> = "community.level" [],
    /// The community that each is a part of, or [`NONE`].
    community_parent: Column<CommunityOrdinal, CommunityOrdinal> = "community.parent"
        [each community_level, below_or_none community_level],
    /// Members of each community: rows of `community_member`.
    community_members: Rows<CommunityOrdinal, Position> = "community.members" [rows community_level community_member],
    /// An entity of a community, the most central first.
    community_member: Column<Position, EntityOrdinal> = "community.member" [below entities],
    /// Passages that mention a member.
    community_passages: Column<CommunityOrdinal, u32> = "community.passages" [each community_level],
    /// Ends of the titles in `community_titles`.
    community_title_ends: Column<CommunityOrdinal, u32> = "community.title-ends"
        [each community_level, ends community_titles],
    /// Titles of the communities, back to back.
    community_titles: Column<Position, u8> = "community.titles" [],
    /// Findings of each community: rows of `community_finding`.
    community_findings: Rows<CommunityOrdinal, Position> = "community.findings"
        [rows community_level community_finding],
    /// A sentence about a community, the most informative first.
    community_finding: Column<Position, SentenceOrdinal> = "community.finding" [below sentences],

    /// The layer of each summary entity, from 1; they are ordered by layer.
    summary_layer: Column<SummaryOrdinal, u32> = "summary.layer" [],
    /// Ends of the names in `summary_names`.
    summary_name_ends: Column<SummaryOrdinal, u32> = "summary.name-ends" [each summary_layer, ends summary_names],
    /// Names of the summary entities, back to back.
    summary_names: Column<Position, u8> = "summary.names" [],
    /// The members of each: rows of `summary_member`.
    summary_members: Rows<SummaryOrdinal, Position> = "summary.members" [rows summary_layer summary_member],
    /// A member: an entity on layer 1, above it a summary entity of the layer below.
    summary_member: Column<Position, u32> = "summary.member" [],
    /// How much of it belongs to the summary entity, from 0 to 1.
    summary_weight: Column<Position, f32> = "summary.weight" [each summary_member],
    /// Sentences of each summary entity: rows of `summary_sentence`.
    summary_sentences: Rows<SummaryOrdinal, Position> = "summary.sentences" [rows summary_layer summary_sentence],
    /// A sentence about it, the most informative first.
    summary_sentence: Column<Position, SentenceOrdinal> = "summary.sentence" [below sentences],

    /// Vectors of the summary entities, for the next version.
    summary_vector: Column<Position, f32> = "summary.vector" later [],
    /// So many entities of each that it represents, the most central first, or [`NONE`], for the next version.
    summary_central: Column<Position, EntityOrdinal> = "summary.central" later [below_or_none entities],
    /// How central each of them is.
    summary_centrality: Column<Position, f64> = "summary.centrality" later [],

    /// When communities and clusters were found: see [`HierarchyAge`].
    made: Column<u32, u32> = "made" later [],
}

impl<'a> Hierarchy<'a> {
    /// Returns the vector of a summary entity, if vectors of `dimension` values are kept.
    pub(super) fn mean(&self, summary: SummaryOrdinal, dimension: usize) -> Option<&'a [f32]> {
        let all = self.summary_vector.items();
        let is_whole = all.len() == self.summary_layer.len() * dimension;
        all.get(summary.index() * dimension..)?.get(..dimension).filter(|_| is_whole)
    }

    /// Checks that every array obeys its rules, for a graph with so many `entities` and `sentences`.
    ///
    /// # Errors
    ///
    /// The name of an array that breaks a rule, and the rule.
    pub fn check(&self, entities: usize, sentences: usize) -> Result<(), (&'static str, &'static str)> {
        self.check_arrays(Elsewhere { entities, sentences, ..Elsewhere::default() })?;
        if !matches!(self.made.items(), [] | [_, _, _, _]) {
            return Err(("made", "has another length"));
        }
        let levels = [("community.level", self.community_level.items()), ("summary.layer", self.summary_layer.items())];
        for (name, levels) in levels {
            if !levels.is_sorted() || levels.last().is_some_and(|last| *last > LEVELS_MAX) {
                return Err((name, "is out of order"));
            }
        }
        let is_before = |at: CommunityOrdinal| {
            let parent = self.community_parent[at];
            let above = self.community_level.find(parent).copied();
            match self.community_level[at] {
                0 => parent.0 == NONE,
                level => parent < at && above.is_some_and(|above| above + 1 == level),
            }
        };
        if !self.communities().all(is_before) {
            return Err(("community.parent", "is not on the level above"));
        }
        let is_below = |at: SummaryOrdinal| {
            let layer = self.summary_layer[at];
            let mut members = self.summary_members.of(at).map(|member| self.summary_member[member]);
            match layer {
                0 => false,
                1 => members.all(|member| (member as usize) < entities),
                _ => members.all(|member| {
                    member < at.0 && self.summary_layer.find(SummaryOrdinal(member)) == Some(&(layer - 1))
                }),
            }
        };
        if !self.summaries().all(is_below) {
            return Err(("summary.member", "is not on the layer below"));
        }
        Ok(())
    }

    /// Returns the counts.
    #[must_use]
    pub fn counts(&self) -> HierarchyCounts {
        let on_top = self.communities().take_while(|it| self.community_level[*it] == 0);
        let made = HierarchyAge::of(self).unwrap_or_default();
        HierarchyCounts {
            relations: self.relation_entity.len() as u64,
            versions: made.versions.into(),
            changed: made.changed.into(),
            communities: self.community_level.len() as u64,
            levels: self.community_level.last().map_or(0, |last| u64::from(*last) + 1),
            // Those below are parts of these, and none is in two of one level.
            members: on_top.map(|it| self.members(it).len() as u64).sum(),
            summaries: self.summary_layer.len() as u64,
            layers: self.summary_layer.last().map_or(0, |last| u64::from(*last)),
            memberships: self.summary_member.len() as u64,
        }
    }

    /// Returns the communities, level by level.
    #[must_use]
    pub fn communities(&self) -> Ordinals<CommunityOrdinal> {
        self.community_level.ordinals()
    }

    /// Returns the summary entities, layer by layer.
    #[must_use]
    pub fn summaries(&self) -> Ordinals<SummaryOrdinal> {
        self.summary_layer.ordinals()
    }

    /// Returns the community that one is a part of.
    #[must_use]
    pub fn parent(&self, community: CommunityOrdinal) -> Option<CommunityOrdinal> {
        Some(self.community_parent[community]).filter(|parent| parent.0 != NONE)
    }

    /// Returns the title of a community.
    #[must_use]
    pub fn title(&self, community: CommunityOrdinal) -> &'a str {
        text_at(&self.community_title_ends, self.community_titles.items(), community)
    }

    /// Returns how much a community is written about, from 0 to 10: `log2(1 + passages)`, of the passages that mention
    /// a member. It depends on no other community, so that a change elsewhere leaves it as it is.
    #[must_use]
    pub fn rating(&self, community: CommunityOrdinal) -> f32 {
        (f64::from(self.community_passages[community]) + 1.0).log2().min(10.0) as f32
    }

    /// Returns the members of a community, the most central first.
    #[must_use]
    pub fn members(&self, community: CommunityOrdinal) -> &'a [EntityOrdinal] {
        self.community_member.of(self.community_members.of(community))
    }

    /// Returns the sentences about a community, the most informative first.
    #[must_use]
    pub fn findings(&self, community: CommunityOrdinal) -> &'a [SentenceOrdinal] {
        self.community_finding.of(self.community_findings.of(community))
    }

    /// Returns the cluster sparsity of a layer, over so many entities or summary entities below it: see
    /// [`cluster_sparsity`].
    #[must_use]
    pub fn sparsity(&self, layer: u32, below: usize) -> f64 {
        let on_layer = self.summaries().filter(|it| self.summary_layer[*it] == layer);
        cluster_sparsity(on_layer.map(|it| self.summary_members.of(it).len()), below)
    }

    /// Returns the name of a summary entity.
    #[must_use]
    pub fn summary_name(&self, summary: SummaryOrdinal) -> &'a str {
        text_at(&self.summary_name_ends, self.summary_names.items(), summary)
    }

    /// Returns the sentences about a summary entity, the most informative first.
    #[must_use]
    pub fn sentences(&self, summary: SummaryOrdinal) -> &'a [SentenceOrdinal] {
        self.summary_sentence.of(self.summary_sentences.of(summary))
    }

    /// Returns the members of a summary entity, each with its weight: entities on layer 1, above it summary entities of
    /// the layer below.
    pub fn summarized(&self, summary: SummaryOrdinal) -> impl Iterator<Item = (u32, f32)> + use<'a> {
        let (members, weights) = (self.summary_member, self.summary_weight);
        self.summary_members.of(summary).map(move |at| (members[at], weights[at]))
    }

    /// Returns the smallest community of each entity that is in one, in the order of entities.
    #[must_use]
    pub fn smallest_communities(&self) -> Vec<(EntityOrdinal, CommunityOrdinal)> {
        let entities = self.community_member.items().iter().map(|it| it.index() + 1).max().unwrap_or(0);
        let mut found = vec![CommunityOrdinal(NONE); entities];
        // Those of deeper levels come later.
        for community in self.communities() {
            self.members(community).iter().for_each(|member| found[member.index()] = community);
        }
        EntityOrdinal::first(entities).zip(found).filter(|(_, community)| community.0 != NONE).collect()
    }

    /// Returns the relations, each as its ends, its weight, and the sentence that says most of it.
    pub fn relations(&self) -> impl Iterator<Item = ([EntityOrdinal; 2], f32, Option<SentenceOrdinal>)> + '_ {
        let owners = EntityOrdinal::first(self.entity_relations.items().len().saturating_sub(1));
        owners.flat_map(move |owner| {
            self.entity_relations.of(owner).map(move |relation| {
                let sentence = Some(self.relation_sentence[relation]).filter(|it| it.0 != NONE);
                ([owner, self.relation_entity[relation]], self.relation_weight[relation], sentence)
            })
        })
    }
}

/// Returns the id of a community: of its level, and of its members in any order.
#[must_use]
pub fn community_id<'a>(level: u32, names: impl Iterator<Item = &'a str>) -> CommunityId {
    let mut names: Vec<&[u8]> = names.map(str::as_bytes).collect();
    names.sort_unstable();
    let level = level.to_le_bytes();
    let parts: Vec<&[u8]> = std::iter::once(&level[..]).chain(names).collect();
    CommunityId::of(&parts)
}

#[cfg(test)]
impl PackedHierarchy {
    /// Returns the hierarchy of so many entities that have nothing to do with each other.
    pub(crate) fn without_relations(entities: usize) -> Self {
        Self { entity_relations: vec![0; entities + 1], ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed() -> PackedHierarchy {
        PackedHierarchy {
            entity_relations: vec![0, 1, 1, 1],
            relation_entity: vec![EntityOrdinal(2)],
            relation_weight: vec![1.5],
            relation_sentence: vec![SentenceOrdinal(NONE)],
            community_level: vec![0, 1],
            community_parent: [NONE, 0].map(CommunityOrdinal).into(),
            community_members: vec![0, 2, 3],
            community_member: [2, 0, 2].map(EntityOrdinal).into(),
            community_passages: vec![2, 1],
            community_title_ends: vec![1, 3],
            community_titles: b"abc".to_vec(),
            community_findings: vec![0, 1, 1],
            community_finding: vec![SentenceOrdinal(0)],
            summary_layer: vec![1, 2],
            summary_name_ends: vec![1, 2],
            summary_names: b"xy".to_vec(),
            summary_members: vec![0, 1, 2],
            summary_member: vec![2, 0],
            summary_weight: vec![1.0, 1.0],
            summary_sentences: vec![0, 0, 0],
            summary_sentence: Vec::new(),
            made: HierarchyAge { entities: 3, relations: 1, changed: 2, versions: 4 }.packed(),
            ..PackedHierarchy::default()
        }
    }

    #[test]
    fn a_hierarchy_is_read_by_ordinal() {
        let packed = packed();
        let hierarchy = packed.view();
        assert_eq!(hierarchy.check(3, 1), Ok(()));
        let [top, part] = [0, 1].map(CommunityOrdinal);
        assert_eq!((hierarchy.title(part), hierarchy.parent(part), hierarchy.parent(top)), ("bc", Some(top), None));
        assert_eq!((hierarchy.members(top), hierarchy.findings(part).len()), (&[2, 0].map(EntityOrdinal)[..], 0));
        assert_eq!(hierarchy.relations().collect::<Vec<_>>(), [([0, 2].map(EntityOrdinal), 1.5, None)]);
        assert_eq!(hierarchy.summary_name(SummaryOrdinal(1)), "y");
        assert_eq!(hierarchy.summarized(SummaryOrdinal(0)).collect::<Vec<_>>(), [(2, 1.0)]);
        // One is in the part, the other only in the whole.
        assert_eq!(hierarchy.smallest_communities(), [(EntityOrdinal(0), top), (EntityOrdinal(2), part)]);
        let counts = HierarchyCounts {
            relations: 1,
            communities: 2,
            levels: 2,
            members: 2,
            summaries: 2,
            layers: 2,
            memberships: 2,
            versions: 4,
            changed: 2,
        };
        assert_eq!(hierarchy.counts(), counts);
        assert_eq!(PackedHierarchy::default().view().check(0, 0), Ok(()));
        assert_eq!(PackedHierarchy::default().view().counts(), HierarchyCounts::default());
    }

    #[test]
    fn what_names_nothing_or_stands_on_another_level_is_found() {
        type Damage = fn(&mut PackedHierarchy);
        let broken: [(&str, Damage); 10] = [
            ("relation.entity", |it| it.relation_entity[0] = EntityOrdinal(3)),
            ("relation.sentence", |it| it.relation_sentence[0] = SentenceOrdinal(1)),
            ("community.parent", |it| it.community_parent[1] = CommunityOrdinal(1)),
            ("community.parent", |it| it.community_parent[0] = CommunityOrdinal(0)),
            ("community.parent", |it| it.community_level[1] = 2),
            ("community.level", |it| it.community_level = vec![1, 0]),
            ("summary.layer", |it| it.summary_layer[1] = LEVELS_MAX + 1),
            ("community.title-ends", |it| it.community_title_ends = vec![3]),
            ("summary.member", |it| it.summary_member[1] = 1),
            ("summary.member", |it| it.summary_member[0] = 3),
        ];
        for (name, damage) in broken {
            let mut packed = packed();
            damage(&mut packed);
            assert_eq!(packed.view().check(3, 1).map_err(|it| it.0), Err(name));
        }
    }
}
