//! Versions of an index, and their counts.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A counter raised when a run finishes; a query reads one version from start to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IndexVersion(pub u64);

impl fmt::Display for IndexVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How much one version of an index holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Documents.
    pub documents: u64,
    /// Documents that have a title.
    pub titled: u64,
    /// Passages.
    pub passages: u64,
    /// Sentences of passages.
    pub sentences: u64,
    /// In-coming questions.
    pub incoming: u64,
    /// Out-coming questions.
    pub outgoing: u64,
    /// Question edges.
    pub edges: u64,
    /// Entities of layer 0: names and mentions by rule.
    pub entities: u64,
    /// Mentions of entities in sentences.
    pub mentions: u64,
    /// The hierarchy over the entities; nothing of it in a version of an earlier program.
    #[serde(default)]
    pub hierarchy: HierarchyCounts,
    /// Passages, sentences and questions whose vector is missing because the budget was spent: they are found by words
    /// and names until a later run makes it.
    #[serde(default, skip_serializing_if = "is_none")]
    pub without_vectors: u64,
}

/// The counts of the hierarchy of a version.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HierarchyCounts {
    /// Relations between two entities.
    pub relations: u64,
    /// Communities on all levels.
    pub communities: u64,
    /// Levels of communities.
    pub levels: u64,
    /// Entities that are in a community.
    pub members: u64,
    /// Summary entities on all layers.
    pub summaries: u64,
    /// Layers of summary entities.
    pub layers: u64,
    /// Places of entities in summary entities, and of these in those above: one may have several.
    pub memberships: u64,
    /// Versions since communities and layers were found.
    #[serde(default, skip_serializing_if = "is_none")]
    pub versions: u64,
    /// Entities added or removed since.
    #[serde(default, skip_serializing_if = "is_none")]
    pub changed: u64,
}

/// One of the counts of a version.
pub(crate) struct Counted<'c> {
    /// Its name in a published graph.
    pub(crate) name: &'static str,
    /// Its name for users.
    pub(crate) label: &'static str,
    pub(crate) count: &'c mut u64,
    /// Whether early programs did not publish it.
    pub(crate) is_later: bool,
}

impl Counts {
    /// Returns all but that of missing vectors, in the order in which they are published.
    pub(crate) fn each(&mut self) -> [Counted<'_>; 18] {
        let hierarchy = &mut self.hierarchy;
        let counted = |name, label, count| Counted { name, label, count, is_later: false };
        let later = |name, label, count| Counted { name, label, count, is_later: true };
        [
            counted("documents", "documents", &mut self.documents),
            counted("titled", "documents with a title", &mut self.titled),
            counted("passages", "passages", &mut self.passages),
            counted("sentences", "sentences", &mut self.sentences),
            counted("incoming", "answered questions", &mut self.incoming),
            counted("outgoing", "raised questions", &mut self.outgoing),
            counted("edges", "edges", &mut self.edges),
            counted("entities", "entities", &mut self.entities),
            counted("mentions", "mentions", &mut self.mentions),
            later("relations", "relations", &mut hierarchy.relations),
            later("communities", "communities", &mut hierarchy.communities),
            later("levels", "levels of communities", &mut hierarchy.levels),
            later("members", "entities in communities", &mut hierarchy.members),
            later("summaries", "summary entities", &mut hierarchy.summaries),
            later("layers", "layers", &mut hierarchy.layers),
            later("memberships", "places in summary entities", &mut hierarchy.memberships),
            later("hierarchyVersions", "versions since topics were found", &mut hierarchy.versions),
            later("hierarchyChanged", "entities changed since topics were found", &mut hierarchy.changed),
        ]
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_none(count: &u64) -> bool {
    *count == 0
}

/// A source, or a part of one, that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skip {
    /// The source that was left out: a relative path, with `:line` for a line of a file.
    pub source: String,
    /// Why, for people.
    pub reason: String,
}
