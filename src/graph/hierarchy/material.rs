//! The material about a community or a cluster for a prompt: whole rows within a limit of tokens. In a community that
//! is too large, reports about its parts replace their members.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Hierarchy;
use super::told::sentences_of;
use super::wording::Wording;
use crate::graph::descriptions::Descriptions;
use crate::graph::mentions::NamedDocument;
use crate::graph::ordinal::{CommunityOrdinal, EntityOrdinal, RelationOrdinal, SentenceOrdinal, SummaryOrdinal};
use crate::graph::packed::PassageGraph;
use crate::text::model_tokens;

/// Tokens of the entities, of the relations, of the parts of a community that are shown to a model, each.
const ROWS_TOKENS_MAX: u64 = 1_000;
/// Tokens of the sentences.
const SENTENCES_TOKENS_MAX: u64 = 2_000;
/// Relations and sentences that are considered.
const ROWS_MAX: usize = 256;

/// The material about a community, or about the cluster of a summary entity.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Material {
    /// Its entities, the most central first; for a cluster, its members.
    pub entities: Vec<String>,
    /// Relations between them, the strongest first.
    pub relations: Vec<String>,
    /// Reports about its parts, if it is too large to be shown completely.
    pub parts: Vec<String>,
    /// Sentences about it, the one that says most first.
    pub sentences: Vec<SentenceOrdinal>,
}

/// A version, and the documents that it was made of.
#[derive(Clone)]
pub struct Materials<'a> {
    wording: Wording<'a>,
    hierarchy: Hierarchy<'a>,
    descriptions: Option<Descriptions<'a>>,
    /// Replacements for some descriptions.
    described: FxHashMap<EntityOrdinal, String>,
}

impl<'a> Materials<'a> {
    /// Returns what rows are taken from.
    #[must_use]
    pub fn of(
        graph: PassageGraph<'a>,
        hierarchy: Hierarchy<'a>,
        descriptions: Option<Descriptions<'a>>,
        documents: &'a [NamedDocument<'a>],
    ) -> Self {
        Self {
            wording: Wording { graph, names: graph, documents },
            hierarchy,
            descriptions,
            described: FxHashMap::default(),
        }
    }

    /// Replaces descriptions of entities in the version.
    pub fn describe(&mut self, described: FxHashMap<EntityOrdinal, String>) {
        self.described = described;
    }

    /// Returns the replaced descriptions, in the order of entities.
    #[must_use]
    pub fn described(&self) -> Vec<(EntityOrdinal, &str)> {
        let mut all: Vec<_> = self.described.iter().map(|(entity, text)| (*entity, text.as_str())).collect();
        all.sort_unstable();
        all
    }

    /// Returns the material about a community. `parts` has a row for each community within it that has a report.
    #[must_use]
    pub fn about(&self, community: CommunityOrdinal, parts: &FxHashMap<CommunityOrdinal, String>) -> Material {
        let members = self.hierarchy.members(community);
        let (entities, is_whole) = within(ROWS_TOKENS_MAX, members.iter().map(|it| self.entity(*it)));
        let (relations, strongest) = self.relations(members);
        let mut material = Material {
            entities,
            relations: within(ROWS_TOKENS_MAX, relations.into_iter()).0,
            parts: Vec::new(),
            sentences: self.sentences(community, &strongest),
        };
        if !is_whole {
            let within_it = |it: &CommunityOrdinal| self.hierarchy.parent(*it) == Some(community);
            let children: Vec<CommunityOrdinal> =
                self.hierarchy.communities().filter(within_it).filter(|it| parts.contains_key(it)).collect();
            let covered: FxHashSet<EntityOrdinal> =
                children.iter().flat_map(|it| self.hierarchy.members(*it)).copied().collect();
            let others = members.iter().filter(|it| !covered.contains(it));
            material.entities = within(ROWS_TOKENS_MAX, others.map(|it| self.entity(*it))).0;
            material.parts = within(ROWS_TOKENS_MAX, children.iter().filter_map(|it| parts.get(it).cloned())).0;
        }
        material
    }

    /// Returns the material about the cluster of a summary entity. `below` has a row for each summary entity of the
    /// layer below that has a summary.
    #[must_use]
    pub fn of_cluster(&self, summary: SummaryOrdinal, below: &FxHashMap<SummaryOrdinal, String>) -> Material {
        let hierarchy = &self.hierarchy;
        let mut members: Vec<(u32, f32)> = hierarchy.summarized(summary).collect();
        members.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let row = |(member, _): &(u32, f32)| {
            if hierarchy.summary_layer[summary] == 1 {
                let entity = EntityOrdinal(*member);
                return (self.entity(entity), sentences_of(&self.wording.graph, entity).first().copied());
            }
            let member = SummaryOrdinal(*member);
            let name = || hierarchy.summary_name(member).to_owned();
            (below.get(&member).cloned().unwrap_or_else(name), hierarchy.sentences(member).first().copied())
        };
        let (rows, firsts): (Vec<String>, Vec<Option<SentenceOrdinal>>) = members.iter().map(row).unzip();
        let sentences = hierarchy.sentences(summary).iter().copied().chain(firsts.into_iter().flatten());
        Material {
            entities: within(ROWS_TOKENS_MAX, rows.into_iter()).0,
            sentences: self.fitting(sentences),
            ..Material::default()
        }
    }

    /// Returns how an entity is written.
    #[must_use]
    pub fn spelling(&self, entity: EntityOrdinal) -> String {
        self.wording.spelling(entity)
    }

    /// Returns the text of a sentence.
    #[must_use]
    pub fn sentence(&self, sentence: SentenceOrdinal) -> &'a str {
        self.wording.sentence(sentence)
    }

    fn entity(&self, entity: EntityOrdinal) -> String {
        let mut row = self.wording.spelling(entity);
        let Some(descriptions) = &self.descriptions else { return row };
        if let Some(kind) = descriptions.entity_type(entity) {
            row = format!("{row} ({kind})");
        }
        let described = self.described.get(&entity).map(String::as_str);
        match described.or_else(|| descriptions.entity_description(entity)) {
            Some(description) => format!("{row}: {description}"),
            None => row,
        }
    }

    /// Returns the relations between members as rows, and the sentences that say them, the strongest first.
    fn relations(&self, members: &[EntityOrdinal]) -> (Vec<String>, Vec<SentenceOrdinal>) {
        let own: FxHashSet<EntityOrdinal> = members.iter().copied().collect();
        let hierarchy = &self.hierarchy;
        let mut inner: Vec<(EntityOrdinal, RelationOrdinal)> = Vec::new();
        for member in members {
            let of_member = hierarchy.entity_relations.of(*member).map(|relation| (*member, relation));
            inner.extend(of_member.filter(|(_, it)| own.contains(&hierarchy.relation_entity[*it])));
        }
        let weight = |it: &(EntityOrdinal, RelationOrdinal)| hierarchy.relation_weight[it.1];
        inner.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(a.cmp(b)));
        inner.truncate(ROWS_MAX);
        let row = |(first, relation): &(EntityOrdinal, RelationOrdinal)| {
            let [first, second] =
                [*first, hierarchy.relation_entity[*relation]].map(|entity| self.wording.spelling(entity));
            match self.descriptions.and_then(|it| it.relation_description(*relation)) {
                Some(description) => format!("{first} – {second}: {description}"),
                None => format!("{first} – {second}"),
            }
        };
        let sentences = inner.iter().map(|it| hierarchy.relation_sentence[it.1]).filter(|it| it.0 != super::NONE);
        (inner.iter().map(row).collect(), sentences.collect())
    }

    /// Returns the findings by rule, then the sentences of the strongest relations, as many as fit.
    fn sentences(&self, community: CommunityOrdinal, strongest: &[SentenceOrdinal]) -> Vec<SentenceOrdinal> {
        self.fitting(self.hierarchy.findings(community).iter().chain(strongest).copied())
    }

    /// Returns sentences, each once, as many as fit.
    fn fitting(&self, sentences: impl Iterator<Item = SentenceOrdinal>) -> Vec<SentenceOrdinal> {
        let (mut kept, mut tokens) = (Vec::new(), 0);
        for sentence in sentences.take(ROWS_MAX) {
            let size = model_tokens(self.sentence(sentence));
            if !kept.contains(&sentence) && tokens + size <= SENTENCES_TOKENS_MAX {
                kept.push(sentence);
                tokens += size;
            }
        }
        kept
    }
}

/// Returns the first rows, whole, that have so many tokens together, and whether these are all.
fn within(tokens_max: u64, rows: impl Iterator<Item = String>) -> (Vec<String>, bool) {
    let (mut kept, mut tokens) = (Vec::new(), 0);
    for row in rows {
        tokens += model_tokens(&row);
        if tokens > tokens_max {
            return (kept, false);
        }
        kept.push(row);
    }
    (kept, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_whole_and_as_many_as_fit() {
        let rows = |count: usize| (0..count).map(|number| format!("row {number} of a table"));
        assert_eq!(within(1_000, rows(3)).0.len(), 3);
        let (kept, is_whole) = within(30, rows(100));
        assert!(!is_whole && kept.len() < 10 && kept.iter().all(|it| it.ends_with("of a table")), "{kept:?}");
        assert_eq!(within(30, rows(0)), (Vec::new(), true));
    }
}
