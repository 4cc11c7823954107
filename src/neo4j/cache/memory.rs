//! The structure in memory: whether to load it, and how a question is followed through it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use neo4rs::Row;
use rustc_hash::FxHashMap;

use super::super::element::Key;
use super::super::session::Session;
use super::{Admitted, Entry, Following, GraphCache, Matching, Subgraph, key, scan};
use crate::domain::Counts;
use crate::error::{Error, Result};
use crate::graph::ordinal::{KeywordOrdinal, Ordinal as _, PassageOrdinal};
use crate::graph::trail::each_neighbor;
use crate::store::{Follow, Wanted};

/// Where the structure of a graph is walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Traversal {
    /// In memory if it fits, else in the database; for a single question in the database, which is faster than reading
    /// the structure, unless a copy is kept.
    #[default]
    Auto,
    /// In memory: the structure is read when the graph is opened.
    Memory,
    /// In the database, by Cypher: nothing is read but for a question, and each takes longer.
    Cypher,
}

impl Traversal {
    /// Every option.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Memory, Self::Cypher];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Memory => "memory",
            Self::Cypher => "cypher",
        }
    }
}

impl fmt::Display for Traversal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Traversal {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|it| it.name() == text).ok_or_else(|| Error::Option {
            option: "traversal",
            value: text.to_owned(),
            reason: format!("expected one of {}", Self::ALL.map(Self::name).join(", ")),
        })
    }
}

/// How a graph in a database is walked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraversalOptions {
    /// Where.
    pub traversal: Traversal,
    /// Bytes of memory that a structure may take, by [`DatabaseGraph::structure_bytes`](super::DatabaseGraph), for
    /// [`Traversal::Auto`] to hold it in memory.
    pub memory_max: u64,
    /// The folder for a copy of the structure, which opens faster; without it, no copy is kept.
    pub cache: Option<PathBuf>,
    /// How many questions are to come.
    pub questions: Questions,
}

/// How many questions a graph is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Questions {
    /// One.
    One,
    /// More than one, or nobody knows.
    #[default]
    Many,
}

impl TraversalOptions {
    /// Default limit of a structure in bytes of memory: that of about a million passages.
    pub const MEMORY_MAX: u64 = 2 << 30;

    /// Returns whether a structure that was read would serve one question and be lost.
    const fn is_once(&self) -> bool {
        matches!(self.questions, Questions::One) && self.cache.is_none()
    }

    /// Returns where a graph of these numbers is walked.
    pub(super) const fn resolved(&self, counts: &Counts) -> Traversal {
        match self.traversal {
            Traversal::Auto if structure_bytes(counts) > self.memory_max || self.is_once() => Traversal::Cypher,
            Traversal::Auto => Traversal::Memory,
            chosen => chosen,
        }
    }
}

impl Default for TraversalOptions {
    fn default() -> Self {
        Self { traversal: Traversal::Auto, memory_max: Self::MEMORY_MAX, cache: None, questions: Questions::Many }
    }
}

/// Returns about how many bytes a structure takes while it is held; to read it takes about as much again.
pub(super) const fn structure_bytes(counts: &Counts) -> u64 {
    let questions = counts.incoming + counts.outgoing;
    400 * counts.documents
        + 300 * counts.passages
        + 12 * counts.sentences
        + 150 * questions
        + 60 * counts.edges
        + 120 * counts.entities
        + 60 * counts.mentions
}

/// Returns what a question needs of a structure in memory.
pub(super) async fn subgraph(session: &Session, cache: &GraphCache, wanted: &Wanted<'_>) -> Result<Subgraph> {
    let structure = &cache.structure;
    let graph = structure.graph.view();
    let recognized = (wanted.recognize)(graph);
    let allowed: Option<Vec<bool>> = wanted.filter.map(|admits| {
        let documents: Vec<bool> = structure.documents.iter().map(admits).collect();
        graph.passage_document.iter().map(|document| documents[document.index()]).collect()
    });
    let admits = |passage: PassageOrdinal| allowed.as_ref().is_none_or(|allowed| allowed[passage.index()]);
    let admitted = allowed.as_ref().map(|allowed| Admitted {
        passages: allowed.iter().filter(|is_allowed| **is_allowed).count(),
        of: allowed.len(),
    });
    if let Some(wanted_text) = wanted.scan.filter(|_| admitted.is_none_or(|it| it.passages > 0)) {
        let place = |row: &Row| Some(structure.numbers.get(&key(row, "id")?).copied().filter(|it| admits(*it)));
        let Matching { best: mut passages, all } = scan(session, cache, wanted_text, wanted.top_k, place).await?;
        passages.sort_unstable();
        return Ok(Subgraph { structure: None, passages, entry: Entry::default(), matching: Some(all) });
    }
    let entry = Entry::ask(session, cache.version, wanted, admitted).await?;
    if admitted.is_some_and(Admitted::is_few) {
        let passages = graph.passages().filter(|passage| admits(*passage)).collect();
        return Ok(Subgraph { structure: None, passages, entry, matching: None });
    }
    let place = |key: &Key| structure.numbers.get(key).copied().filter(|passage| admits(*passage));
    let named = recognized.named.iter().copied().filter(|passage| admits(*passage));
    let keywords: Vec<KeywordOrdinal> =
        recognized.keywords.iter().filter_map(|keyword| graph.keyword(keyword)).collect();
    let shared = |passage: PassageOrdinal| {
        let own = graph.passage_keyword.of(graph.passage_keywords.of(passage));
        keywords.iter().filter(|keyword| own.binary_search(keyword).is_ok()).count() as u32
    };
    let mut following = Following::begin(entry.fused(place, named), wanted.follow);
    while let Some(from) = following.next() {
        let mut found: FxHashMap<PassageOrdinal, f32> = FxHashMap::default();
        for (passage, score) in from {
            let mut visit = |to: PassageOrdinal| {
                if admits(to) {
                    let known = found.entry(to).or_default();
                    *known = known.max(score);
                }
            };
            graph.edge_target.of(graph.passage_edges.of(passage)).iter().for_each(|to| visit(*to));
            if wanted.follow == Follow::Names {
                each_neighbor(graph, passage, &mut visit);
            }
        }
        following.add(found.into_iter().map(|(to, score)| (to, score, shared(to))));
    }
    Ok(Subgraph { structure: None, passages: following.reached(), entry, matching: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_walked_in_the_database() {
        let counts = Counts { passages: 1_000_000, mentions: 10_000_000, ..Counts::default() };
        let options = TraversalOptions::default();
        assert_eq!(options.resolved(&Counts::default()), Traversal::Memory);
        assert_eq!(TraversalOptions { memory_max: 1 << 20, ..options.clone() }.resolved(&counts), Traversal::Cypher);
        let memory = TraversalOptions { traversal: Traversal::Memory, memory_max: 0, ..options.clone() };
        assert_eq!(memory.resolved(&counts), Traversal::Memory);
        let once = TraversalOptions { questions: Questions::One, ..options };
        assert_eq!(once.resolved(&Counts::default()), Traversal::Cypher);
        let kept = TraversalOptions { cache: Some(PathBuf::from("copies")), ..once.clone() };
        assert_eq!(kept.resolved(&Counts::default()), Traversal::Memory);
        let memory = TraversalOptions { traversal: Traversal::Memory, ..once };
        assert_eq!(memory.resolved(&Counts::default()), Traversal::Memory);
    }

    #[test]
    fn a_traversal_mode_is_identified_by_its_name() {
        for traversal in Traversal::ALL {
            assert_eq!(traversal.name().parse::<Traversal>().ok(), Some(traversal));
        }
        assert!("petgraph".parse::<Traversal>().is_err());
    }
}
