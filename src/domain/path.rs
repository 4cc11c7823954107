//! Paths between two nodes of the graph: their ends, the edges that they may follow, and the result.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::position::{line_behind, location, page_behind};
use super::{DocumentId, EntityId, IndexVersion, PassageId, Span};
use crate::error::{Error, Result};

/// The largest number of paths per request.
pub const PATHS_MAX: usize = 100;
/// The largest number of edges per path.
pub const PATH_LENGTH_MAX: usize = 12;

/// The end of a path, as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathEnd {
    /// A passage.
    Passage(PassageId),
    /// The entity with this name, in any spelling.
    Entity(String),
    /// The document with this id in its source, or this title. A path may begin in any of its passages.
    Document(String),
    /// The id of a passage, or else the name of an entity, or else a document, or else an identifier or words, which
    /// stand for the passage that has them.
    Named(String),
}

impl PathEnd {
    /// Returns the error for equal ends.
    pub(crate) fn same(&self) -> Error {
        Error::Option {
            option: "other end of a path",
            value: self.to_string(),
            reason: "it is where the path begins".to_owned(),
        }
    }
}

/// As it was named, without the word before it.
impl fmt::Display for PathEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passage(id) => id.fmt(f),
            Self::Entity(name) | Self::Document(name) | Self::Named(name) => name.fmt(f),
        }
    }
}

impl FromStr for PathEnd {
    type Err = Error;

    /// Reads `passage:ID`, `entity:NAME`, `document:NAME`, or any of the three without the word before it.
    fn from_str(text: &str) -> Result<Self> {
        let refused =
            |reason: &str| Error::Option { option: "end of a path", value: text.to_owned(), reason: reason.to_owned() };
        if let Some(id) = text.strip_prefix("passage:") {
            return id.parse().map(Self::Passage).map_err(|_| refused("the id of a passage has 32 hexadecimal digits"));
        }
        let (name, end): (&str, fn(String) -> Self) = match text.split_once(':') {
            Some(("entity", name)) => (name, Self::Entity),
            Some(("document", name)) => (name, Self::Document),
            _ => (text, Self::Named),
        };
        if name.trim().is_empty() {
            return Err(refused("give the id of a passage, or the name of an entity or of a document"));
        }
        Ok(end(name.trim().to_owned()))
    }
}

/// Which edges paths may follow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathsBy {
    /// Question edges between passages.
    Questions,
    /// Mentions of entities in passages.
    Names,
    /// Both.
    #[default]
    Both,
    /// Relations between entities, which stand for all of their names.
    Relations,
    /// Question edges, mentions of entities by any of their names, and relations.
    All,
}

impl PathsBy {
    /// Returns whether it includes question edges.
    #[must_use]
    pub const fn has_questions(self) -> bool {
        matches!(self, Self::Questions | Self::Both | Self::All)
    }

    /// Returns whether it includes mentions.
    #[must_use]
    pub const fn has_names(self) -> bool {
        matches!(self, Self::Names | Self::Both | Self::All)
    }

    /// Returns whether it includes relations.
    #[must_use]
    pub const fn has_relations(self) -> bool {
        matches!(self, Self::Relations | Self::All)
    }

    /// Returns whether an entity can be an end.
    #[must_use]
    pub const fn has_entities(self) -> bool {
        self.has_names() || self.has_relations()
    }

    /// Checks that a database that walks the graph itself supports such paths.
    ///
    /// # Errors
    ///
    /// [`Error::WalkedByNeo4j`] for those that join mentions of all names of an entity with relations.
    pub(crate) fn check_for_cypher(self) -> Result<()> {
        if self != Self::All {
            return Ok(());
        }
        let needed = format!("a path by `{}`, unlike one by `{}`,", self.name(), Self::Relations.name());
        Err(Error::WalkedByNeo4j { needed })
    }

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Questions => "questions",
            Self::Names => "names",
            Self::Both => "both",
            Self::Relations => "relations",
            Self::All => "all",
        }
    }
}

impl FromStr for PathsBy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let all = [Self::Questions, Self::Names, Self::Both, Self::Relations, Self::All];
        all.into_iter().find(|it| it.name() == text).ok_or_else(|| Error::Option {
            option: "kind of edges",
            value: text.to_owned(),
            reason: format!("expected one of {}", all.map(Self::name).join(", ")),
        })
    }
}

/// Which paths to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathOptions {
    /// Paths to find, from 1 to [`PATHS_MAX`].
    pub paths: usize,
    /// The largest number of edges of a path, from 1 to [`PATH_LENGTH_MAX`].
    pub length_max: usize,
    /// Which edges the paths may follow.
    pub by: PathsBy,
    /// The largest number of documents that may mention an entity on a path, because a name that occurs everywhere
    /// means little. No limit by default; the ends are not limited.
    pub documents_max: Option<u32>,
}

impl Default for PathOptions {
    fn default() -> Self {
        Self { paths: 3, length_max: 6, by: PathsBy::default(), documents_max: None }
    }
}

impl PathOptions {
    /// Checks the bounds, and that paths of this kind can lead to `ends`.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for the first value that is out of them, and for an entity where only question edges are
    /// walked.
    pub fn check(&self, ends: [&PathEnd; 2]) -> Result<()> {
        for (option, value, max) in
            [("number of paths", self.paths, PATHS_MAX), ("length of a path", self.length_max, PATH_LENGTH_MAX)]
        {
            if !(1..=max).contains(&value) {
                let reason = format!("give one from 1 to {max}");
                return Err(Error::Option { option, value: value.to_string(), reason });
            }
        }
        for end in ends {
            if let (PathEnd::Entity(name), false) = (end, self.by.has_entities()) {
                return Err(Error::Option {
                    option: "end of a path by questions",
                    value: name.clone(),
                    reason: "question edges join passages: name a passage or a document".to_owned(),
                });
            }
        }
        Ok(())
    }
}

/// A node of the graph, as a path shows it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PathNode {
    /// A passage.
    Passage {
        /// Its identity.
        id: PassageId,
        /// The name of its document.
        name: String,
        /// The headings above it.
        #[serde(skip_serializing_if = "Option::is_none")]
        section: Option<String>,
    },
    /// An entity.
    Entity {
        /// Its identity.
        id: EntityId,
        /// Its folded name.
        name: String,
    },
    /// A document that is an end of the path.
    Document {
        /// Its identity.
        id: DocumentId,
        /// Its name.
        name: String,
    },
}

impl PathNode {
    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Passage { name, .. } | Self::Entity { name, .. } | Self::Document { name, .. } => name,
        }
    }
}

/// The direction of an edge, seen from the beginning of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Along the path: from the node before the edge to the node after it.
    Forward,
    /// Against it.
    Backward,
}

/// An edge of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PathStep {
    /// A question edge, from the passage that asks to the one that answers.
    QuestionEdge {
        /// Its direction.
        direction: Direction,
        /// The question that the passage answers.
        question: String,
    },
    /// A mention, from the entity to the passage.
    Mention {
        /// Its direction.
        direction: Direction,
        /// The name of the entity.
        entity: String,
    },
    /// From a passage to the document that it is part of.
    PartOf {
        /// Its direction.
        direction: Direction,
    },
    /// A relation between two entities, which has no direction.
    RelatesTo {
        /// The sentence that states it; none if unknown.
        #[serde(skip_serializing_if = "Option::is_none")]
        sentence: Option<PathSentence>,
    },
}

/// A sentence that says that two entities have to do with each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PathSentence {
    /// The sentence, word for word.
    pub quote: String,
    /// The passage that has it.
    pub passage: PassageId,
    /// The document and the page, line or heading there, as a citation has it.
    pub location: String,
}

impl PathSentence {
    /// Returns a part of the text of a passage that begins on this page or line of its document.
    #[must_use]
    pub fn of(passage: PassageId, text: &str, part: Span, (uri, page, line): (&str, Option<u32>, Option<u32>)) -> Self {
        let before = text.get(..part.start as usize).unwrap_or_default();
        let (page, line) = (page.map(|it| page_behind(it, before)), line.map(|it| line_behind(it, before)));
        Self { quote: part.of(text).to_owned(), passage, location: location(uri, page, line) }
    }
}

/// A path: a node, followed by steps that each lead to another node.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GraphPath {
    /// Its nodes, one more than steps, without repetition.
    pub nodes: Vec<PathNode>,
    /// The edges between them.
    pub steps: Vec<PathStep>,
}

/// The shortest paths between two nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathsFound {
    /// Their start.
    pub from: PathNode,
    /// Their end.
    pub to: PathNode,
    /// The version of the index that was read.
    pub version: IndexVersion,
    /// Which edges the paths may follow.
    pub by: PathsBy,
    /// The largest number of edges of a path.
    pub length_max: usize,
    /// The paths, shortest first; empty if the two are further apart.
    pub paths: Vec<GraphPath>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_says_what_it_is_or_leaves_it_open() {
        let id = PassageId::of(&[b"a"]);
        let parsed = |text: &str| text.parse::<PathEnd>().unwrap();
        assert_eq!(parsed(&format!("passage:{id}")), PathEnd::Passage(id));
        assert_eq!(parsed("entity:Anna Roe"), PathEnd::Entity("Anna Roe".to_owned()));
        assert_eq!(parsed("document: a: b "), PathEnd::Document("a: b".to_owned()));
        assert_eq!(parsed("Mission: Harl"), PathEnd::Named("Mission: Harl".to_owned()));
        for refused in ["", " ", "entity:", "document: ", "passage:Anna Roe"] {
            assert!(matches!(refused.parse::<PathEnd>(), Err(Error::Option { .. })), "{refused}");
        }
    }

    #[test]
    fn options_out_of_their_bounds_are_refused() {
        let options = PathOptions::default();
        let [entity, other] = [PathEnd::Entity("a".to_owned()), PathEnd::Named("b".to_owned())];
        options.check([&entity, &other]).unwrap();
        for refused in [
            PathOptions { paths: 0, ..options },
            PathOptions { paths: PATHS_MAX + 1, ..options },
            PathOptions { length_max: 0, ..options },
            PathOptions { length_max: PATH_LENGTH_MAX + 1, ..options },
            PathOptions { by: PathsBy::Questions, ..options },
        ] {
            assert!(matches!(refused.check([&other, &entity]), Err(Error::Option { .. })), "{refused:?}");
        }
        assert!("edges".parse::<PathsBy>().is_err());
    }

    #[test]
    fn a_sentence_stands_on_the_line_that_it_begins_on() {
        let (passage, text) = (PassageId::of(&[b"a"]), "One.\n\nTwo stood here.");
        let said = PathSentence::of(passage, text, Span { start: 6, end: 21 }, ("notes.md", None, Some(3)));
        assert_eq!((said.quote.as_str(), said.location.as_str()), ("Two stood here.", "notes.md:5"));
        let said = PathSentence::of(passage, text, Span { start: 0, end: 4 }, ("book.pdf", Some(2), None));
        assert_eq!((said.quote.as_str(), said.location.as_str()), ("One.", "book.pdf#page=2"));
    }
}
