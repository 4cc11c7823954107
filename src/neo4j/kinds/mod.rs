//! The kinds of nodes and relationships in the graph, each declared once.
//!
//! A declaration generates the statements that write, compare, retire, delete and check its elements, their rows, and
//! the files of a bulk import. A kind without a declaration here is not published.

/// Declares properties, each with its type.
macro_rules! properties {
    ($($name:ident: $holds:ident),* $(,)?) => { &[$((stringify!($name), Type::$holds)),*] };
}

mod communities;
mod documents;
mod entities;
mod kept;
mod lexicon;
mod passages;
mod questions;
mod statements;
mod summaries;

use std::sync::LazyLock;

pub(super) use self::entities::{borne, borne_text};
pub(crate) use self::kept::Kept;
pub(super) use self::kept::{KeptRecord, kept_records};
pub(super) use self::lexicon::{LexiconPart, parts as lexicon_parts};
pub(super) use self::questions::SIMILARITY_LEAST;
use self::statements::Statements;
pub(super) use self::statements::{
    COUNTS, COUNTS_AS_PUBLISHED, DELETE_NODES, KEYS, NOTHING_IS_LEFT, OF_OURS, UNKEYED_NODES, UNKEYED_RELATIONSHIPS,
};
use super::element::{EMBEDDING, Element, Type, VECTORS};
use super::source::{Elements, Source};
use crate::error::Result;

/// The declaration of a kind.
struct Declaration {
    /// The labels of its nodes, or the type of its relationships. The last one is its own, and names it.
    labels: &'static [&'static str],
    /// The kinds of the nodes that a relationship goes from and to.
    ends: Option<(Kind, Kind)>,
    /// The properties that say what its elements are like. Those that one does not have are removed from it; all others
    /// are their users'.
    properties: &'static [(&'static str, Type)],
    /// How many elements a version has; they are numbered from 0.
    count: fn(&Source<'_>) -> usize,
    element: fn(&Source<'_>, u32) -> Result<Element>,
}

/// Lists the kinds, each with its declaration and the name of the published count, if any, that includes its elements.
macro_rules! kinds {
    ($($kind:ident: $declaration:path $(=> $counted:literal)?,)*) => {
        /// What kinds of elements there are.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(super) enum Kind { $($kind,)* }

        impl Kind {
            /// All of them, in the order in which they are published.
            pub(super) const ALL: [Self; [$(stringify!($kind)),*].len()] = [$(Self::$kind,)*];

            const fn declaration(self) -> &'static Declaration {
                match self { $(Self::$kind => &$declaration,)* }
            }

            /// Returns the name of the published count that includes its elements.
            fn counted(self) -> Option<&'static str> {
                match self { $(Self::$kind => { None$(.or(Some($counted)))? })* }
            }

            /// Returns its statements.
            pub(super) fn statements(self) -> &'static Statements {
                match self { $(Self::$kind => {
                    static STATEMENTS: LazyLock<Statements> = LazyLock::new(|| Statements::of(Kind::$kind));
                    &STATEMENTS
                })* }
            }
        }
    };
}

// Nodes come first, so that relationships find them; of nodes, those that people look at.
kinds! {
    Document: documents::DOCUMENT => "documents",
    Passage: passages::PASSAGE => "passages",
    Incoming: questions::INCOMING => "incoming",
    Outgoing: questions::OUTGOING => "outgoing",
    Entity: entities::ENTITY => "entities",
    Community: communities::COMMUNITY => "communities",
    Summary: summaries::SUMMARY => "summaries",
    Unit: documents::UNIT,
    Lexicon: lexicon::LEXICON,
    Kept: kept::KEPT,
    PartOf: passages::PART_OF,
    Next: passages::NEXT,
    AnsweredBy: questions::ANSWERED_BY,
    Asks: questions::ASKS,
    MatchedWith: questions::MATCHED_WITH,
    LeadsTo: questions::LEADS_TO => "edges",
    MayLeadTo: questions::MAY_LEAD_TO => "edges",
    MentionedIn: entities::MENTIONED_IN,
    Names: entities::NAMES,
    SameAs: entities::SAME_AS,
    DuplicateOf: documents::DUPLICATE_OF,
    RelatesTo: communities::RELATES_TO => "relations",
    InCommunity: communities::IN_COMMUNITY => "members",
    ParentCommunity: communities::PARENT_COMMUNITY,
    SummarizedEntity: summaries::SUMMARIZED_ENTITY => "memberships",
    SummarizedSummary: summaries::SUMMARIZED_SUMMARY => "memberships",
}

/// The label of nodes that only readers of ours need.
const HIDDEN: &str = "_Cairn";

impl Kind {
    /// Returns the kinds of the nodes that a relationship goes from and to.
    pub(super) const fn ends(self) -> Option<(Self, Self)> {
        self.declaration().ends
    }

    /// Returns the labels of its nodes, or the type of its relationships.
    pub(super) const fn labels(self) -> &'static [&'static str] {
        self.declaration().labels
    }

    /// Returns the label by which its nodes are found.
    pub(super) fn key_label(self) -> &'static str {
        if self.labels().contains(&HIDDEN) { HIDDEN } else { self.name() }
    }

    /// Returns the name of the kind: its label or type. Kinds of relationships that go from other nodes may share one.
    pub(super) fn name(self) -> &'static str {
        self.labels().last().copied().unwrap_or_default()
    }

    /// Returns a name that no other kind has.
    pub(super) fn own_name(self) -> String {
        let is_shared = Self::ALL.into_iter().any(|it| it != self && it.name() == self.name());
        match self.ends().filter(|_| is_shared) {
            Some((from, _)) => format!("{} {}", from.name(), self.name()),
            None => self.name().to_owned(),
        }
    }

    /// Returns the names and types of the properties that its elements can have.
    pub(super) const fn properties(self) -> &'static [(&'static str, Type)] {
        self.declaration().properties
    }

    /// Returns whether its elements can have a property.
    pub(super) fn has(self, property: &str) -> bool {
        self.properties().iter().any(|(name, _)| *name == property)
    }

    /// Returns whether its elements carry vectors, which makes them large.
    pub(super) fn has_vectors(self) -> bool {
        self.has(EMBEDDING) || self.has(VECTORS)
    }
}

impl Source<'_> {
    /// Returns how many elements of a kind there are.
    pub(super) fn count(&self, kind: Kind) -> u32 {
        (kind.declaration().count)(self) as u32
    }

    /// Returns an element, as far as the version has it: a unit without its records.
    pub(super) fn of_version(&self, kind: Kind, number: u32) -> Result<Element> {
        (kind.declaration().element)(self, number)
    }
}

impl Elements<'_> {
    /// Returns an element.
    pub(super) fn element(&self, kind: Kind, number: u32) -> Result<Element> {
        let mut element = self.of_version(kind, number)?;
        if kind == Kind::Unit {
            documents::add_records(&self.units, &mut element)?;
        }
        Ok(element)
    }
}

#[cfg(test)]
mod tests;
