//! Entity resolution: which names stand for one entity. Rules find names; an entity may have several.
//!
//! A name is merged with another over the whole corpus, or in some documents alone: "Lund" is Ada Lund in a document
//! about her, and a name that several documents have as a title means, in each, that document's subject. One of the
//! names of an entity stands for all of them; it depends only on the names, so it stays the same as documents are added
//! and removed. Every merge has a reason. Names keep their numbers and mentions: [`resolved`] gives a view of the
//! mentions by entity.
//!
//! Candidates are found within documents and by blocks of names with equal parts, never by comparing all pairs. The
//! names, their types, and the company that they keep decide.

mod across;
mod apply;
mod clues;
mod company;
mod decide;
mod groups;
mod shared;
mod standing;
mod types;
mod within;

use super::arrays::Elsewhere;
use super::ordinal::{Column, DocumentOrdinal, EntityOrdinal, Ordinal as _, Position, Rows, SentenceOrdinal};
pub use crate::text::NameType;
pub use across::BLOCK_MAX;
pub use apply::{EntityGraph, resolved};
pub use clues::{Clues, EarlierClues};
pub use company::PASSAGES_MAX;
pub use decide::pack_resolution;
pub use groups::NAMES_MAX;
pub use shared::{BEARERS_MAX, READERS_MAX};
pub use types::CUES_MAX;

/// No sentence.
pub const NONE: u32 = u32::MAX;

arrays! {
    PackedResolution, Resolution;

    /// The entity that each name stands for by default: usually itself.
    entity_canonical: Column<EntityOrdinal, EntityOrdinal> = "entity.thing" [each entities, below entities],
    /// Why, by the code of a [`Reason`]; 0 if it is itself.
    entity_reason: Column<EntityOrdinal, u32> = "entity.reason" [each entity_canonical],
    /// The name with which it was merged for this reason, or itself.
    entity_beside: Column<EntityOrdinal, EntityOrdinal> = "entity.beside"
        [each entity_canonical, below entity_canonical],
    /// Documents in which each name stands for another entity: rows of `scoped_document`.
    entity_scoped: Rows<EntityOrdinal, Position> = "entity.scoped" [rows entity_canonical scoped_document],
    /// Such a document, ascending in each row.
    scoped_document: Column<Position, DocumentOrdinal> = "scoped.document" [below documents],
    /// The entity that it stands for there.
    scoped_canonical: Column<Position, EntityOrdinal> = "scoped.thing" [each scoped_document, below entity_canonical],
    /// Why, by the code of a [`Reason`].
    scoped_reason: Column<Position, u32> = "scoped.reason" [each scoped_document],
    /// The type of each entity, by the code of a [`NameType`]; 0 without a cue.
    entity_type: Column<EntityOrdinal, u32> = "entity.type" [each entity_canonical],
    /// The sentence with the cue, or [`NONE`] if the name has it.
    entity_type_sentence: Column<EntityOrdinal, SentenceOrdinal> = "entity.type-sentence"
        [each entity_canonical, below_or_none sentences],
}

/// Why two names stand for one entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Reason {
    /// They were merged by hand.
    Asked = 1,
    /// They are spellings of one name: "St. Louis" and "Saint Louis".
    Spelling = 2,
    /// One is the other behind a title: "Dr. Ada Lund".
    Honorific = 3,
    /// A document gives one in a parenthesis behind the other: "Harbor Trust Union (HTU)".
    Parenthesis = 4,
    /// One is the first letters of the other.
    Acronym = 5,
    /// A document has both.
    Document = 6,
    /// One is the last name of the other.
    LastName = 7,
    /// One has a letter, or nothing, for a first or middle name of the other.
    Initials = 8,
    /// One word differs by one letter, and they keep the same company.
    Misspelling = 9,
    /// Several documents have the name, and this one is meant.
    Bearer = 10,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Asked,
        Self::Spelling,
        Self::Honorific,
        Self::Parenthesis,
        Self::Acronym,
        Self::Document,
        Self::LastName,
        Self::Initials,
        Self::Misspelling,
        Self::Bearer,
    ];

    /// Returns the word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Spelling => "spelling",
            Self::Honorific => "honorific",
            Self::Parenthesis => "parenthesis",
            Self::Acronym => "acronym",
            Self::Document => "document",
            Self::LastName => "last name",
            Self::Initials => "initials",
            Self::Misspelling => "misspelling",
            Self::Bearer => "bearer",
        }
    }

    /// Returns the reason of a word for it.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Returns the reason of a code in a version; none for 0 and for unknown codes.
    #[must_use]
    pub fn of_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|it| *it as u32 == code)
    }
}

/// A name merged into another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merge {
    /// The entity of the name.
    pub name: EntityOrdinal,
    /// The entity that it stands for.
    pub entity: EntityOrdinal,
    /// The entity of the name that it was merged with.
    pub beside: EntityOrdinal,
    /// The document in which it does; none if it does everywhere.
    pub document: Option<DocumentOrdinal>,
    /// Why.
    pub reason: Reason,
}

impl Resolution<'_> {
    /// Checks that every array obeys its rules, for a graph with so many elements.
    ///
    /// # Errors
    ///
    /// The name of an array that breaks a rule, and the rule.
    pub fn check(
        &self,
        entities: usize,
        documents: usize,
        sentences: usize,
    ) -> Result<(), (&'static str, &'static str)> {
        self.check_arrays(Elsewhere { documents, entities, sentences, ..Elsewhere::default() })?;
        let stands = |thing: &EntityOrdinal| self.entity_canonical[*thing] == *thing;
        if !self.entity_canonical.iter().all(stands) {
            return Err(("entity.thing", "names an entity that does not exist"));
        }
        if !self.scoped_canonical.iter().all(stands) {
            return Err(("scoped.thing", "names an entity that does not exist"));
        }
        let is_sorted = |entity| self.scoped_document.of(self.entity_scoped.of(entity)).is_sorted_by(|a, b| a < b);
        if !self.entity_canonical.ordinals().all(is_sorted) {
            return Err(("scoped.document", "is out of order"));
        }
        Ok(())
    }

    /// Returns the entity of the name `entity` in a document.
    #[must_use]
    pub fn canonical(&self, entity: EntityOrdinal, document: DocumentOrdinal) -> EntityOrdinal {
        let scoped = self.entity_scoped.of(entity);
        match self.scoped_document.of(scoped.clone()).binary_search(&document) {
            Ok(at) => self.scoped_canonical.of(scoped)[at],
            Err(_) => self.entity_canonical[entity],
        }
    }

    /// Returns every entity that a name stands for, in order: the default one, and those in some documents.
    #[must_use]
    pub fn referents(&self, entity: EntityOrdinal) -> Vec<EntityOrdinal> {
        let mut things = self.scoped_canonical.of(self.entity_scoped.of(entity)).to_vec();
        things.push(self.entity_canonical[entity]);
        things.sort_unstable();
        things.dedup();
        things
    }

    /// Returns the type of an entity, and the sentence with the cue, unless its name has it.
    #[must_use]
    pub fn type_of(&self, entity: EntityOrdinal) -> Option<(NameType, Option<SentenceOrdinal>)> {
        let sentence = Some(self.entity_type_sentence[entity]).filter(|it| it.0 != NONE);
        Some((NameType::of_code(self.entity_type[entity])?, sentence))
    }

    /// Returns every merge: those that hold everywhere and then those that hold in a document, each by name.
    pub fn merges(&self) -> impl Iterator<Item = Merge> + '_ {
        let everywhere = self.entity_canonical.ordinals().filter_map(|name| {
            let (thing, beside) = (self.entity_canonical[name], self.entity_beside[name]);
            let reason = Reason::of_code(self.entity_reason[name]).filter(|_| thing != name)?;
            Some(Merge { name, entity: thing, beside, document: None, reason })
        });
        let scoped = self.entity_canonical.ordinals().flat_map(move |name| {
            self.entity_scoped.of(name).filter_map(move |at| {
                let (thing, document) = (self.scoped_canonical[at], Some(self.scoped_document[at]));
                let reason = Reason::of_code(self.scoped_reason[at])?;
                Some(Merge { name, entity: thing, beside: thing, document, reason })
            })
        });
        everywhere.chain(scoped)
    }
}

impl PackedResolution {
    /// Returns the resolution of so many names by these merges, without types; none if one refers to a missing name.
    pub(crate) fn of_merges(entities: usize, mut merges: Vec<Merge>) -> Option<Self> {
        let mut packed = Self::of_names(entities);
        merges.sort_by_key(|it| (it.name, it.document));
        merges.dedup_by_key(|it| (it.name, it.document));
        for Merge { name, entity, beside, document, reason } in merges {
            if name.index().max(entity.index()).max(beside.index()) >= entities {
                return None;
            }
            if let Some(document) = document {
                packed.entity_scoped[name.index() + 1] += 1;
                packed.scoped_document.push(document);
                packed.scoped_canonical.push(entity);
                packed.scoped_reason.push(reason as u32);
            } else {
                packed.entity_canonical[name.index()] = entity;
                packed.entity_reason[name.index()] = reason as u32;
                packed.entity_beside[name.index()] = beside;
            }
        }
        for at in 0..entities {
            packed.entity_scoped[at + 1] += packed.entity_scoped[at];
        }
        Some(packed)
    }

    /// Returns the resolution of so many names, each of which is a separate entity.
    #[must_use]
    pub fn of_names(entities: usize) -> Self {
        Self {
            entity_canonical: EntityOrdinal::first(entities).collect(),
            entity_reason: vec![0; entities],
            entity_beside: EntityOrdinal::first(entities).collect(),
            entity_scoped: vec![0; entities + 1],
            entity_type: vec![0; entities],
            entity_type_sentence: vec![SentenceOrdinal(NONE); entities],
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests;
