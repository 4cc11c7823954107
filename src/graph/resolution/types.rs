//! The types of entities, by cues in sentences and in their own words.

use std::collections::BTreeMap;

use super::standing::Cue;
use crate::graph::ordinal::{EntityOrdinal, SentenceOrdinal};
use crate::graph::packed::{PassageGraph, name_kind};
use crate::text::{NameType, type_of_name, type_of_noun};

/// Cues of one entity that are counted at most.
pub const CUES_MAX: usize = 256;

/// A type with the sentence that has the cue; none if the name has it.
pub(super) type Typed = (NameType, Option<SentenceOrdinal>);

/// Cues for the types of entities.
pub(super) struct Types {
    said: BTreeMap<EntityOrdinal, Vec<Typed>>,
}

impl Types {
    /// Collects cues from sentences, in the order of the text, from the parentheses of titles, and from names
    /// themselves.
    pub(super) fn of(graph: &PassageGraph<'_>, cues: impl Iterator<Item = Cue>) -> Self {
        let mut types = Self { said: BTreeMap::new() };
        let names = graph.names();
        for entity in graph.entity_documents.ordinals() {
            let name = names.get(entity);
            let said = of_title(graph, (entity, name)).or_else(|| type_of_name(name));
            types.said.extend(said.map(|kind| (entity, vec![(kind, None)])));
        }
        for (entity, kind, sentence) in cues {
            types.add(entity, (kind, Some(sentence)));
        }
        types
    }

    fn add(&mut self, entity: EntityOrdinal, typed: Typed) {
        let said = self.said.entry(entity).or_default();
        if said.len() < CUES_MAX {
            said.push(typed);
        }
    }

    /// Returns the type of an entity: the one of more than half of its cues.
    pub(super) fn of_entity(&self, entity: EntityOrdinal) -> Option<Typed> {
        most(self.said.get(&entity)?)
    }

    /// Returns whether two entities have different types.
    pub(super) fn differ(&self, one: EntityOrdinal, other: EntityOrdinal) -> bool {
        let types = self.of_entity(one).zip(self.of_entity(other));
        types.is_some_and(|(one, other)| one.0 != other.0)
    }

    /// Applies the cues of a name to its entity.
    pub(super) fn merge(&mut self, name: EntityOrdinal, thing: EntityOrdinal) {
        for typed in self.said.get(&name).cloned().unwrap_or_default() {
            self.add(thing, typed);
        }
    }

    /// Returns the types of all entities that have one.
    pub(super) fn all(&self) -> impl Iterator<Item = (EntityOrdinal, Typed)> {
        self.said.iter().filter_map(|(entity, said)| Some((*entity, most(said)?)))
    }
}

fn most(said: &[Typed]) -> Option<Typed> {
    let count = |kind| said.iter().filter(|it| it.0 == kind).count();
    let kind = NameType::ALL.into_iter().find(|kind| 2 * count(*kind) > said.len())?;
    let of_kind = || said.iter().filter(|it| it.0 == kind);
    // A sentence is more convincing to show than the name.
    of_kind().find(|it| it.1.is_some()).or_else(|| of_kind().next()).copied()
}

/// Returns the type in the parenthesis at the end of a title: `Low Tide (1927 film)`.
fn of_title(graph: &PassageGraph<'_>, (entity, name): (EntityOrdinal, &str)) -> Option<NameType> {
    let bearers = graph.entity_bearers.of(entity).filter(|it| graph.bearer_kind[*it] == name_kind::TITLE);
    let mut owns = bearers.flat_map(|bearer| {
        let document = graph.bearer_document[bearer];
        graph.own_entity.of(graph.document_own.of(document)).iter().map(move |own| (document, *own))
    });
    let bare = owns.find_map(|(document, own)| {
        let mut bearers = graph.entity_bearers.of(own);
        let is_bare =
            bearers.any(|it| graph.bearer_document[it] == document && graph.bearer_kind[it] == name_kind::BARE_TITLE);
        is_bare.then(|| graph.entity_name(own))
    })?;
    name.strip_prefix(bare)?.split(' ').rev().find_map(type_of_noun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_half_of_what_is_said_decides() {
        let said = |kinds: &[(NameType, Option<u32>)]| {
            let said: Vec<Typed> = kinds.iter().map(|(kind, at)| (*kind, at.map(SentenceOrdinal))).collect();
            most(&said)
        };
        let (place, person) = (NameType::Place, NameType::Person);
        assert_eq!(
            said(&[(place, None), (place, Some(3)), (person, Some(1))]),
            Some((place, Some(SentenceOrdinal(3))))
        );
        assert_eq!(said(&[(place, None), (person, Some(1))]), None);
        assert_eq!(said(&[(person, None)]), Some((person, None)));
    }
}
