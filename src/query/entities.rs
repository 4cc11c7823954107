//! The entities of an index: which names stand for them, and why names were merged.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::topics::{ENTITIES_MIN, quoted, title};
use crate::domain::{
    Citation, EntitiesShown, EntityId, EntityList, EntityOptions, EntityShown, EntityType, ListedEntity, NameMerge,
    NameMerges, NamePair, Origin, RelatedEntity,
};
use crate::error::{Error, Result};
use crate::graph::ordinal::{EntityOrdinal, Ordinal as _, PassageOrdinal};
use crate::graph::packed::PackedGraph;
use crate::graph::resolution::{Merge, PackedResolution, resolved};
use crate::store::{GraphReader, spelling};
use crate::text::{folded, near};

/// Sentences that are shown of an entity.
const MENTIONS_MAX: usize = 10;
/// Entities that are shown as related to one.
const RELATIONS_MAX: usize = 20;
/// Topics that are shown of an entity.
const TOPICS_MAX: usize = 10;

/// Returns a name as an index knows it: its words folded, joined by one space.
#[must_use]
pub fn folded_name(name: &str) -> String {
    folded(name)
}

/// The entities of a version, ready to be listed and shown. An index of an earlier release has no merges.
pub struct EntityIndex<'a> {
    reader: &'a dyn GraphReader,
    resolution: PackedResolution,
    /// Mentions by entity.
    things: PackedGraph,
    /// Merges by entity.
    merges: BTreeMap<EntityOrdinal, Vec<Merge>>,
}

impl<'a> EntityIndex<'a> {
    /// Looks at the names of a version. Complexity: a pass over its names and mentions.
    #[must_use]
    pub fn of(reader: &'a dyn GraphReader) -> Self {
        let graph = reader.graph();
        let apart = || PackedResolution::of_names(graph.entity_name_ends.len());
        let resolution = reader.resolution().map_or_else(apart, |it| it.to_packed());
        let things = resolved(&graph, &resolution.view());
        let mut merges: BTreeMap<EntityOrdinal, Vec<Merge>> = BTreeMap::new();
        for merge in resolution.view().merges() {
            merges.entry(merge.entity).or_default().push(merge);
        }
        Self { reader, resolution, things, merges }
    }

    /// Returns the first of the requested entities, those in the most passages first, and their total number.
    ///
    /// # Errors
    ///
    /// Whatever the store fails with.
    ///
    /// # Complexity
    ///
    /// A read of a passage for each entity that is returned.
    pub fn list(&self, options: &EntityOptions, entities_max: usize) -> Result<(EntityList, u64)> {
        let text = options.text.as_deref().map(folded);
        let is_asked = |entity: &EntityOrdinal| {
            let has_text = text.as_deref().is_none_or(|text| self.has_text(*entity, text));
            let is_of_type = options.of_type.as_deref().is_none_or(|name| self.type_name(*entity) == Some(name));
            self.is_thing(*entity) && has_text && is_of_type
        };
        let all = EntityOrdinal::first(self.things.entity_documents.len());
        let mut asked: Vec<(Reverse<usize>, EntityOrdinal)> =
            all.filter(is_asked).map(|it| (Reverse(self.passages(it).len()), it)).collect();
        asked.sort_unstable();
        let count = asked.len() as u64;
        let listed = asked.into_iter().take(entities_max).map(|(_, entity)| self.listed(entity));
        let list = EntityList {
            version: self.reader.version(),
            names: self.things.entity_documents.len() as u64,
            merged: self.merges.values().flatten().map(|it| it.name).collect::<BTreeSet<_>>().len() as u64,
            entities: listed.collect::<Result<_>>()?,
        };
        Ok((list, count))
    }

    /// Returns the details of the entities that a name stands for, those in the most passages first.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`] if nothing has that name; whatever the store fails with.
    pub fn show(&self, name: &str) -> Result<EntitiesShown> {
        let mut things = self.resolution.view().referents(self.named(name)?);
        things.retain(|it| self.is_thing(*it));
        things.sort_by_key(|it| (Reverse(self.passages(*it).len()), *it));
        let entities = things.into_iter().map(|it| self.shown(it)).collect::<Result<_>>()?;
        Ok(EntitiesShown { version: self.reader.version(), entities })
    }

    /// Returns every merge, and the merges and splits by hand.
    ///
    /// # Errors
    ///
    /// Whatever the store fails with.
    pub fn merges(&self, asked: Vec<NamePair>) -> Result<NameMerges> {
        let merges = self.resolution.view();
        let merges = merges.merges().map(|it| self.merge(&it)).collect::<Result<_>>()?;
        Ok(NameMerges { version: self.reader.version(), merges, asked })
    }

    /// Returns the entity of a name, however it is written.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`] if nothing has that name.
    pub fn named(&self, name: &str) -> Result<EntityOrdinal> {
        let graph = self.reader.graph();
        let names = || graph.entity_documents.ordinals().map(|entity| graph.entity_name(entity));
        graph.entity(&folded(name)).ok_or_else(|| Error::Unknown { name: name.to_owned(), near: near(name, names()) })
    }

    /// Returns whether an entity is mentioned or is the subject of a document.
    fn is_thing(&self, entity: EntityOrdinal) -> bool {
        let things = self.things.view();
        !things.entity_mentions.of(entity).is_empty() || !things.entity_bearers.of(entity).is_empty()
    }

    fn has_text(&self, entity: EntityOrdinal, text: &str) -> bool {
        let graph = self.reader.graph();
        let mut names = self.merges.get(&entity).into_iter().flatten().map(|it| it.name);
        graph.entity_name(entity).contains(text) || names.any(|name| graph.entity_name(name).contains(text))
    }

    /// Returns the type that a model gives an entity, or else the one that a rule does.
    fn type_name(&self, entity: EntityOrdinal) -> Option<&'a str> {
        let by_model = self.reader.descriptions().and_then(|it| it.entity_type(entity));
        by_model.or_else(|| self.resolution.view().type_of(entity).map(|it| it.0.name()))
    }

    fn passages(&self, entity: EntityOrdinal) -> Vec<PassageOrdinal> {
        let things = self.things.view();
        let mut passages = things.posting_passage.of(things.entity_mentions.of(entity)).to_vec();
        passages.dedup();
        passages
    }

    fn id(&self, entity: EntityOrdinal) -> EntityId {
        EntityId::of(&[self.reader.graph().entity_name(entity).as_bytes()])
    }

    fn listed(&self, entity: EntityOrdinal) -> Result<ListedEntity> {
        let merges = self.merges.get(&entity).into_iter().flatten().filter(|it| it.document.is_none());
        Ok(ListedEntity {
            id: self.id(entity),
            name: self.spelling(entity)?,
            entity_type: self.type_name(entity).map(str::to_owned),
            aliases: merges.map(|it| self.spelling(it.name)).collect::<Result<_>>()?,
            passages: self.passages(entity).len() as u64,
        })
    }

    fn spelling(&self, entity: EntityOrdinal) -> Result<String> {
        spelling(self.reader, entity)
    }

    fn shown(&self, entity: EntityOrdinal) -> Result<EntityShown> {
        let merges = self.merges.get(&entity).into_iter().flatten().map(|it| self.merge(it));
        Ok(EntityShown {
            listed: self.listed(entity)?,
            of_type: self.entity_type(entity)?,
            merges: merges.collect::<Result<_>>()?,
            mentions: self.mentions(entity)?,
            relations: self.relations(entity)?,
            topics: self.topics(entity),
        })
    }

    fn entity_type(&self, entity: EntityOrdinal) -> Result<Option<EntityType>> {
        if let Some(name) = self.reader.descriptions().and_then(|it| it.entity_type(entity)) {
            return Ok(Some(EntityType { name: name.to_owned(), origin: Origin::Model, evidence: None }));
        }
        let Some((kind, sentence)) = self.resolution.view().type_of(entity) else { return Ok(None) };
        let evidence = sentence.map(|it| quoted(self.reader, it)).transpose()?.flatten();
        Ok(Some(EntityType { name: kind.name().to_owned(), origin: Origin::Rule, evidence }))
    }

    fn merge(&self, merge: &Merge) -> Result<NameMerge> {
        let document = merge.document.map(|it| Ok::<_, Error>(self.reader.document(it)?.source_id)).transpose()?;
        Ok(NameMerge {
            name: self.spelling(merge.name)?,
            entity: self.spelling(merge.entity)?,
            with: self.spelling(merge.beside)?,
            reason: merge.reason.name().to_owned(),
            document,
        })
    }

    /// Returns the first sentence of each of the first passages that mention an entity.
    fn mentions(&self, entity: EntityOrdinal) -> Result<Vec<Citation>> {
        let things = self.things.view();
        let mut seen = BTreeSet::new();
        let postings = things.entity_mentions.of(entity);
        let first = postings.filter(|posting| seen.insert(things.posting_passage[*posting]));
        let sentences = first.take(MENTIONS_MAX).map(|it| things.mention_sentence[things.posting_mention[it]]);
        sentences.filter_map(|it| quoted(self.reader, it).transpose()).collect()
    }

    fn relations(&self, entity: EntityOrdinal) -> Result<Vec<RelatedEntity>> {
        let Some(hierarchy) = self.reader.hierarchy() else { return Ok(Vec::new()) };
        let of_entity = hierarchy.relations().filter_map(|([one, other], weight, sentence)| match entity {
            it if it == one => Some((other, weight, sentence)),
            it if it == other => Some((one, weight, sentence)),
            _ => None,
        });
        let mut related: Vec<_> = of_entity.collect();
        related.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        related.truncate(RELATIONS_MAX);
        let shown = |(other, weight, sentence): (EntityOrdinal, f32, Option<_>)| {
            let evidence = sentence.map(|it| quoted(self.reader, it)).transpose()?.flatten();
            Ok(RelatedEntity { id: self.id(other), name: self.spelling(other)?, weight, evidence })
        };
        related.into_iter().map(shown).collect()
    }

    fn topics(&self, entity: EntityOrdinal) -> Vec<String> {
        let Some(hierarchy) = self.reader.hierarchy() else { return Vec::new() };
        let has_it = |it: &_| hierarchy.members(*it).len() >= ENTITIES_MIN && hierarchy.members(*it).contains(&entity);
        let topics = hierarchy.communities().filter(has_it).take(TOPICS_MAX);
        topics.map(|it| title(self.reader, hierarchy, it).to_owned()).collect()
    }
}
