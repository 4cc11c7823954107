//! The contents of an index, how well it is connected, its open questions, and what was left out.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::names::{document_name, passage_name};
use super::summary::Share;
use super::{Listed, Shown};
use crate::domain::{Counts, IndexVersion};
use crate::error::Result;
use crate::graph::ordinal::{EntityOrdinal, Ordinal as _, OutgoingOrdinal, PassageOrdinal};
use crate::store::{GraphReader, VectorField};
use crate::text::clipped;
use crate::workspace::{Snapshot, Status};

/// Passages that most edges arrive at.
const HUBS_MAX: usize = 20;
/// Names that most documents mention.
const NAMES_MAX: usize = 20;
/// Questions without an answer.
const UNANSWERED_MAX: usize = 50;
/// Reasons for which something was left out.
const REASONS_MAX: usize = 20;
/// Sources that were left out for one reason.
const SOURCES_MAX: usize = 20;
/// Characters of a question, of a source, of a reason.
pub(super) const LINE_CHARS_MAX: usize = 300;

/// The part of a report that does not depend on questions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Contents {
    pub(super) version: IndexVersion,
    pub(super) created_at: Option<String>,
    pub(super) embedder: String,
    pub(super) dimension: usize,
    pub(super) counts: Counts,
    pub(super) vectors: Vectors,
    pub(super) coverage: Vec<Share>,
    pub(super) hubs: Listed<Hub>,
    pub(super) names: Listed<MentionedName>,
    pub(super) unanswered: Listed<Unanswered>,
    pub(super) left_out: Listed<Reason>,
    /// Sources that were left out, for all reasons.
    pub(super) sources_left_out: u64,
    pub(super) units_failed: u64,
    pub(super) units_pending: u64,
    pub(super) is_changed: bool,
}

/// How many of each have a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Vectors {
    pub(super) passages: u64,
    pub(super) sentences: u64,
    pub(super) incoming: u64,
}

/// A passage at which question edges arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hub {
    pub(super) passage: PassageOrdinal,
    pub(super) name: String,
    pub(super) uri: String,
    pub(super) arriving: u64,
    pub(super) leaving: u64,
}

/// A name that several documents mention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MentionedName {
    pub(super) name: String,
    pub(super) documents: u64,
    pub(super) mentions: u64,
}

/// An out-coming question that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unanswered {
    pub(super) question: String,
    /// The first document that asks it.
    pub(super) document: String,
    /// Passages that ask it.
    pub(super) passages: u64,
}

/// A reason for which sources were left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reason {
    pub(super) reason: String,
    pub(super) sources: Listed<String>,
}

/// Reads the contents of a version for a report.
pub(super) fn gather(snapshot: &Snapshot, status: &Status) -> Result<Contents> {
    let joints = Joints::of(snapshot);
    let unanswered = unanswered(snapshot, &joints)?;
    let is_same = status.version == Some(snapshot.version());
    let length = |field| snapshot.vectors(field).map(|vectors| vectors.len() as u64);
    let vectors = Vectors {
        passages: length(VectorField::Passage)?,
        sentences: length(VectorField::Sentence)?,
        incoming: length(VectorField::Incoming)?,
    };
    let none = Vectors { passages: 0, sentences: 0, incoming: 0 };
    let vectors = if status.dimension == 0 { none } else { vectors };
    Ok(Contents {
        version: snapshot.version(),
        // A run that ended meanwhile made another version.
        created_at: status.created_at.clone().filter(|_| is_same),
        embedder: snapshot.embedder().to_owned(),
        dimension: status.dimension,
        counts: snapshot.counts(),
        coverage: coverage(snapshot, &joints, vectors.passages),
        vectors,
        hubs: hubs(snapshot, &joints)?,
        names: names(snapshot),
        unanswered,
        left_out: left_out(status),
        sources_left_out: status.skips.len() as u64,
        units_failed: status.units_failed,
        units_pending: status.units_pending,
        is_changed: status.is_changed,
    })
}

/// What question edges join.
struct Joints {
    arriving: Vec<u64>,
    leaving: Vec<u64>,
    is_answered: Vec<bool>,
    is_answering: Vec<bool>,
    is_joined: Vec<bool>,
}

impl Joints {
    fn of(snapshot: &Snapshot) -> Self {
        let graph = snapshot.graph();
        let counts = snapshot.counts();
        let mut joints = Self {
            arriving: vec![0; graph.passage_count()],
            leaving: vec![0; graph.passage_count()],
            is_answered: vec![false; counts.outgoing as usize],
            is_answering: vec![false; counts.incoming as usize],
            is_joined: vec![false; graph.document_count()],
        };
        for passage in graph.passages() {
            for edge in graph.passage_edges.of(passage) {
                let target = graph.edge_target[edge];
                joints.leaving[passage.index()] += 1;
                joints.arriving[target.index()] += 1;
                joints.is_answered[graph.edge_outgoing[edge].index()] = true;
                joints.is_answering[graph.edge_incoming[edge].index()] = true;
                let [from, to] = [passage, target].map(|it| graph.passage_document[it].index());
                if from != to {
                    (joints.is_joined[from], joints.is_joined[to]) = (true, true);
                }
            }
        }
        joints
    }
}

fn coverage(snapshot: &Snapshot, joints: &Joints, vectors: u64) -> Vec<Share> {
    let graph = snapshot.graph();
    let counts = snapshot.counts();
    let count = |has: &dyn Fn(PassageOrdinal) -> bool| graph.passages().filter(|it| has(*it)).count() as u64;
    let mut asks = vec![false; graph.passage_count()];
    for passage in snapshot.outgoing_passages().items() {
        asks[passage.index()] = true;
    }
    let true_count = |list: &[bool]| list.iter().filter(|it| **it).count() as u64;
    let (arriving, leaving) = (&joints.arriving, &joints.leaving);
    let share = |what, has, of| Share { what, has, of };
    vec![
        share("documents with a title", counts.titled, counts.documents),
        share("documents joined to another by a question edge", true_count(&joints.is_joined), counts.documents),
        share("passages that mention a name", count(&|it| !graph.passage_mentions.of(it).is_empty()), counts.passages),
        share(
            "passages that answer a question",
            count(&|it| !graph.passage_incoming.of(it).is_empty()),
            counts.passages,
        ),
        share("passages that raise a question", count(&|it| asks[it.index()]), counts.passages),
        share("passages that an edge leaves", count(&|it| leaving[it.index()] > 0), counts.passages),
        share("passages that an edge arrives at", count(&|it| arriving[it.index()] > 0), counts.passages),
        share(
            "passages without any edge",
            count(&|it| leaving[it.index()] == 0 && arriving[it.index()] == 0),
            counts.passages,
        ),
        share("passages with a vector", vectors, counts.passages),
        share("questions raised that lead somewhere", true_count(&joints.is_answered), counts.outgoing),
        share("questions answered that an edge leads to", true_count(&joints.is_answering), counts.incoming),
    ]
}

fn hubs(snapshot: &Snapshot, joints: &Joints) -> Result<Listed<Hub>> {
    let all = snapshot.graph().passages();
    let mut passages: Vec<PassageOrdinal> = all.filter(|it| joints.arriving[it.index()] > 0).collect();
    let total = passages.len() as u64;
    passages.sort_by_key(|it| {
        let (arriving, leaving) = (joints.arriving[it.index()], joints.leaving[it.index()]);
        (Reverse(arriving), Reverse(leaving), *it)
    });
    let hub = |&passage: &PassageOrdinal| {
        let document = snapshot.document(snapshot.graph().passage_document[passage])?;
        Ok(Hub {
            passage,
            name: passage_name(snapshot, passage)?,
            uri: clipped(&document.uri, LINE_CHARS_MAX),
            arriving: joints.arriving[passage.index()],
            leaving: joints.leaving[passage.index()],
        })
    };
    let items = passages.iter().take(HUBS_MAX).map(hub).collect::<Result<_>>()?;
    Ok(Listed { items, total })
}

fn names(snapshot: &Snapshot) -> Listed<MentionedName> {
    let graph = snapshot.graph();
    let documents = graph.entity_documents;
    let mut entities: Vec<EntityOrdinal> = documents.ordinals().filter(|it| documents[*it] > 1).collect();
    let mentions = |entity: EntityOrdinal| graph.entity_mentions.of(entity).len() as u64;
    entities.sort_by_key(|it| (Reverse(documents[*it]), Reverse(mentions(*it)), *it));
    let named = |&entity: &EntityOrdinal| MentionedName {
        name: clipped(graph.entity_name(entity), LINE_CHARS_MAX),
        documents: u64::from(documents[entity]),
        mentions: mentions(entity),
    };
    Listed { items: entities.iter().take(NAMES_MAX).map(named).collect(), total: entities.len() as u64 }
}

/// Returns the questions that lead nowhere, each once: those that most passages ask first, then in order.
fn unanswered(snapshot: &Snapshot, joints: &Joints) -> Result<Listed<Unanswered>> {
    let asked_by = snapshot.outgoing_passages();
    let open = asked_by.ordinals().filter(|it| !joints.is_answered[it.index()]);
    let mut by_text: FxHashMap<&str, (u64, OutgoingOrdinal)> = FxHashMap::default();
    for question in open {
        by_text.entry(snapshot.outgoing(question)).or_insert((0, question)).0 += 1;
    }
    let total = by_text.len() as u64;
    let mut questions: Vec<(u64, OutgoingOrdinal)> = by_text.into_values().collect();
    questions.sort_unstable_by_key(|&(count, first)| (Reverse(count), first));
    let item = |&(passages, first): &(u64, OutgoingOrdinal)| {
        let document = snapshot.graph().passage_document[asked_by[first]];
        Ok(Unanswered {
            question: clipped(snapshot.outgoing(first), LINE_CHARS_MAX),
            document: document_name(&snapshot.document(document)?),
            passages,
        })
    };
    let items = questions.iter().take(UNANSWERED_MAX).map(item).collect::<Result<_>>()?;
    Ok(Listed { items, total })
}

fn left_out(status: &Status) -> Listed<Reason> {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for skip in &status.skips {
        by_reason.entry(&skip.reason).or_default().push(&skip.source);
    }
    let mut reasons: Vec<_> = by_reason.into_iter().collect();
    reasons.sort_by_key(|(reason, sources)| (Reverse(sources.len()), *reason));
    let reason = |(reason, sources): (&str, Vec<&str>)| Reason {
        reason: clipped(reason, LINE_CHARS_MAX),
        sources: Listed {
            items: sources.iter().take(SOURCES_MAX).map(|it| clipped(it, LINE_CHARS_MAX)).collect(),
            total: sources.len() as u64,
        },
    };
    let total = reasons.len() as u64;
    Listed { items: reasons.into_iter().take(REASONS_MAX).map(reason).collect(), total }
}

impl Contents {
    /// Returns how many sources that were left out are named.
    pub(super) fn sources_shown(&self) -> Shown {
        let shown = self.left_out.items.iter().map(|it| it.sources.items.len() as u64).sum();
        Shown { shown, total: self.sources_left_out }
    }
}
