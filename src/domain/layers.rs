//! The findings of `layers` on the levels of the hierarchy, and the options that select them: `HiRAG`'s local, global
//! and bridge knowledge.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Citation, CommunityId, WrittenFinding};
use crate::error::{Error, Result};

/// Which levels of knowledge are gathered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayersMode {
    /// Entities that are near the question.
    Local,
    /// The communities that these are in.
    Global,
    /// The shortest paths between key entities of these communities.
    Bridge,
    /// Entities and communities, without what joins them: an ablation of the paper.
    NoBridge,
    /// All three.
    #[default]
    Full,
}

impl LayersMode {
    /// Every mode.
    pub const ALL: [Self; 5] = [Self::Local, Self::Global, Self::Bridge, Self::NoBridge, Self::Full];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Global => "global",
            Self::Bridge => "bridge",
            Self::NoBridge => "no-bridge",
            Self::Full => "full",
        }
    }

    /// Returns whether `level` is gathered: one of the first three.
    #[must_use]
    pub fn has(self, level: Self) -> bool {
        self == Self::Full || self == level || self == Self::NoBridge && level != Self::Bridge
    }
}

impl FromStr for LayersMode {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|it| it.name() == text).ok_or_else(|| Error::Option {
            option: "mode of `layers`",
            value: text.to_owned(),
            reason: format!("expected one of {}", Self::ALL.map(Self::name).join(", ")),
        })
    }
}

/// How the hierarchy is entered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayersEntry {
    /// The entities and summary entities that are nearest to the question, by words and vectors.
    Entities,
    /// Those that the passages mention that `trail` finds.
    Passages,
    /// Both together.
    #[default]
    Both,
}

impl LayersEntry {
    /// Every entry.
    pub const ALL: [Self; 3] = [Self::Entities, Self::Passages, Self::Both];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Entities => "entities",
            Self::Passages => "passages",
            Self::Both => "both",
        }
    }
}

impl FromStr for LayersEntry {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|it| it.name() == text).ok_or_else(|| Error::Option {
            option: "entry of `layers`",
            value: text.to_owned(),
            reason: format!("expected one of {}", Self::ALL.map(Self::name).join(", ")),
        })
    }
}

/// The scope of a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionScope {
    /// A fact.
    #[default]
    Fact,
    /// An account of something that it names or describes.
    Subject,
    /// What all documents are about.
    Collection,
}

/// An entity or summary entity by which the hierarchy was entered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundEntity {
    /// Its name.
    pub name: String,
    /// Its layer, from 0 for what documents mention.
    pub layer: u32,
    /// How near it is to the question, on a scale of this search.
    pub score: f32,
    /// A language model's summary of it, if it is a summary entity.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summary: Vec<WrittenFinding>,
    /// The sentence about it that is nearest to the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentence: Option<Citation>,
}

impl FoundEntity {
    /// Returns the sentences that say something of it: those that a model cites, then the nearest.
    pub fn citations(&self) -> impl Iterator<Item = &Citation> {
        self.summary.iter().flat_map(|it| &it.citations).chain(&self.sentence)
    }
}

/// A community that some of these are in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundCommunity {
    /// Its id.
    pub id: CommunityId,
    /// Its title, as in a list of topics.
    pub title: String,
    /// Its level, from 0 for those that are part of no other.
    pub level: u32,
    /// How many of the entities are in it.
    pub hits: u32,
    /// How much is written about it, from 0 to 10.
    pub rating: f32,
    /// Its key entities: the members that are nearest to the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// The summary of a model's report; none if a filter leaves out documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The findings of that report, each with the sentences that support it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub report: Vec<WrittenFinding>,
    /// Without a report, sentences about it; then for each key entity, the sentence nearest to the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Citation>,
}

impl FoundCommunity {
    /// Returns all sentences behind its texts.
    pub fn citations(&self) -> impl Iterator<Item = &Citation> {
        self.report.iter().flat_map(|it| &it.citations).chain(&self.findings)
    }
}

/// Two key entities that follow each other, and what joins them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundBridge {
    /// The first.
    pub from: String,
    /// The second.
    pub to: String,
    /// The entities of each shortest path, both ends among them; empty if they are further apart than was looked.
    pub paths: Vec<Vec<String>>,
}

/// A relation between two entities on bridges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundRelation {
    /// One.
    pub from: String,
    /// The other.
    pub to: String,
    /// How much says that they have to do with each other.
    pub weight: f32,
    /// The sentence that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentence: Option<Citation>,
}

/// The share of one level in the context, in whole rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextShare {
    /// The level: `local`, `global`, `bridge` or `passages`.
    pub level: ContextLevel,
    /// Tokens that it may take.
    pub tokens_max: u32,
    /// Tokens that it takes.
    pub tokens: u32,
    /// Rows that are kept.
    pub rows: u32,
    /// Rows for which there was no room.
    pub cut: u32,
}

/// A part of the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextLevel {
    /// Entities.
    Local,
    /// Communities.
    Global,
    /// Relations on bridges.
    Bridge,
    /// Passages.
    Passages,
}

impl fmt::Display for ContextLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Local => "entities",
            Self::Global => "communities",
            Self::Bridge => "relations",
            Self::Passages => "passages",
        })
    }
}

/// The findings of `layers` besides passages, as much as fits in its budget.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LayersFound {
    /// Which levels were gathered.
    pub mode: LayersMode,
    /// How the hierarchy was entered.
    pub entry: LayersEntry,
    /// The scope of the question, by rule.
    pub scope: QuestionScope,
    /// The entities and summary entities, the nearest first.
    pub entities: Vec<FoundEntity>,
    /// The communities that these are in: those with the most of them first, then by rating.
    pub communities: Vec<FoundCommunity>,
    /// What joins key entities, pair by pair.
    pub bridges: Vec<FoundBridge>,
    /// The relations among all entities on bridges, those that have most to do with the question first.
    pub relations: Vec<FoundRelation>,
    /// The share of each level in the context.
    pub context: Vec<ContextShare>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_and_entries_are_known_by_their_names() {
        for mode in LayersMode::ALL {
            assert_eq!(mode.name().parse::<LayersMode>().ok(), Some(mode));
        }
        for entry in LayersEntry::ALL {
            assert_eq!(entry.name().parse::<LayersEntry>().ok(), Some(entry));
        }
        let error = "wide".parse::<LayersMode>().expect_err("no mode");
        assert!(error.to_string().contains("local, global, bridge, no-bridge, full"), "{error}");
        assert!("roof".parse::<LayersEntry>().is_err());
        assert!(LayersMode::Full.has(LayersMode::Bridge) && !LayersMode::Local.has(LayersMode::Global));
        assert!(LayersMode::NoBridge.has(LayersMode::Global) && !LayersMode::NoBridge.has(LayersMode::Bridge));
    }
}
