//! Matching: every out-coming question with the in-coming question that answers it best, over the whole corpus.
//!
//! SIM = (Jaccard(k⁺, k⁻) + cos(v⁺, v⁻)) / 2 (`HopRAG`, Eq. 1). SIM is exact; what is bounded is candidates: the
//! in-coming questions that share a keyword which is not too frequent, and the nearest by vector. With the bounds
//! lifted the result is that of comparing every pair.
//!
//! Most out-coming questions ask for something that no passage of the corpus is about. Their best match is one of many
//! that are about equally far, so that it takes thousands of candidates by vector to find it: they are cheap.

use rayon::prelude::*;

use super::cells::Cells;
use super::ordinal::{
    Column, DocumentOrdinal, IncomingOrdinal, KeywordOrdinal, Ordinal, OutgoingOrdinal, PassageOrdinal, Position, Rows,
};
use super::packed::row;
use super::top;
use super::vectors::Vectors;
use crate::domain::Cancellation;
use crate::error::Result;

/// Questions of one side; keywords ascend in each row.
#[derive(Debug, Clone, Copy)]
pub struct Questions<'a, K> {
    /// The passage of each question.
    pub passage: Column<'a, K, PassageOrdinal>,
    /// The document of each question.
    pub document: Column<'a, K, DocumentOrdinal>,
    /// Rows of `keyword`.
    pub keywords: Rows<'a, K, Position>,
    /// Keywords, numbered over both sides together.
    pub keyword: Column<'a, Position, KeywordOrdinal>,
    /// Vectors; without an embedder their dimension is 0.
    pub vectors: Vectors<'a>,
}

impl<'a, K: Ordinal> Questions<'a, K> {
    /// Returns the keywords of a question.
    #[must_use]
    pub fn keywords_of(&self, question: K) -> &'a [KeywordOrdinal] {
        self.keyword.of(self.keywords.of(question))
    }
}

/// Edges that an out-coming question may give within its document, and across documents, at most.
pub const EDGES_MAX: usize = 64;

/// How many edges an out-coming question may give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeQuota {
    /// One, to the best passage wherever it is (the paper's rule).
    Best,
    /// So many inside the document and so many across documents, each to the best passages there.
    Split {
        /// Edges to other passages of the same document.
        within: usize,
        /// Edges to passages of other documents.
        across: usize,
    },
}

/// The bounds of matching.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MatchOptions {
    /// In-coming questions up to which a keyword brings candidates.
    pub keyword_frequency_max: usize,
    /// Candidates by vector.
    pub neighbors: usize,
    /// Edges a question.
    pub quota: EdgeQuota,
}

impl Default for MatchOptions {
    fn default() -> Self {
        Self { keyword_frequency_max: 256, neighbors: 6_144, quota: EdgeQuota::Best }
    }
}

/// An out-coming question and an in-coming one that answers it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matched {
    /// The out-coming question.
    pub outgoing: OutgoingOrdinal,
    /// The in-coming question.
    pub incoming: IncomingOrdinal,
    /// Their SIM.
    pub similarity: f32,
}

/// Returns the matches of every out-coming question, by ascending question, best first.
///
/// A question is never matched inside its own passage, nor where SIM is not above 0.
///
/// Complexity: for n questions O(n · (`keyword_frequency_max` + `neighbors` + √n)).
///
/// # Errors
///
/// [`Error::Cancelled`](crate::Error::Cancelled) once a stop was asked for.
pub fn match_questions(
    outgoing: &Questions<'_, OutgoingOrdinal>,
    incoming: &Questions<'_, IncomingOrdinal>,
    options: &MatchOptions,
    cancellation: &Cancellation,
) -> Result<Vec<Matched>> {
    let cells = Cells::of(&incoming.vectors, cancellation)?;
    let signatures = cells.members().iter().map(|it| signature(incoming.keywords_of(IncomingOrdinal(*it))));
    let signatures: Vec<u64> = signatures.collect();
    let postings = Postings::of(incoming);
    let matching =
        Matching { outgoing, incoming, postings: &postings, cells: &cells, signatures: &signatures, options };
    // Neighbors in this order look into the same cells, which are read from memory once for all of them.
    let mut order: Vec<OutgoingOrdinal> = outgoing.passage.ordinals().collect();
    if !outgoing.vectors.is_empty() && !incoming.vectors.is_empty() {
        let nearest = cells.nearest(&outgoing.vectors, cancellation)?;
        order.sort_by_key(|question| nearest[question.index()]);
    }
    let room = || Room { last: vec![None; incoming.passage.len()], ..Room::default() };
    let groups = order.par_chunks(GROUP).with_min_len(GROUPS_PER_TASK);
    let of_group = |room: &mut Room, group: &[OutgoingOrdinal]| {
        if cancellation.is_cancelled() { Vec::new() } else { matching.matches(group, room) }
    };
    let mut matched: Vec<Matched> = groups.map_init(room, of_group).flatten_iter().collect();
    cancellation.check()?;
    // Best first within a question, as they were found.
    matched.sort_by_key(|it| it.outgoing);
    Ok(matched)
}

/// Out-coming questions that look into cells together.
const GROUP: usize = 64;
/// Groups that one thread matches at a time; fewer are not worth a table of what was scored.
const GROUPS_PER_TASK: usize = 4;

/// Returns a set of 64 bits that has the bit of every keyword.
fn signature(keywords: &[KeywordOrdinal]) -> u64 {
    keywords.iter().fold(0, |bits, keyword| bits | signature_bit(*keyword))
}

const fn signature_bit(keyword: KeywordOrdinal) -> u64 {
    // The upper bits of a product by an odd number with mixed bits (Fibonacci hashing).
    1 << (keyword.0.wrapping_mul(0x9e37_79b9) >> 26)
}

/// In-coming questions by keyword.
struct Postings {
    /// The questions of keyword `k`: rows of `questions`.
    starts: Vec<u32>,
    questions: Vec<IncomingOrdinal>,
}

impl Postings {
    fn of(incoming: &Questions<'_, IncomingOrdinal>) -> Self {
        let count = incoming.keyword.iter().max().map_or(0, |most| most.index() + 1);
        let mut starts = vec![0; count + 1];
        incoming.keyword.iter().for_each(|keyword| starts[keyword.index() + 1] += 1);
        (0..count).for_each(|keyword| starts[keyword + 1] += starts[keyword]);
        let (mut next, mut questions) = (starts.clone(), vec![IncomingOrdinal(0); incoming.keyword.len()]);
        for question in incoming.passage.ordinals() {
            for keyword in incoming.keywords_of(question) {
                let place = &mut next[keyword.index()];
                questions[*place as usize] = question;
                *place += 1;
            }
        }
        Self { starts, questions }
    }

    /// Returns the questions that have a keyword, ascending.
    fn of_keyword(&self, keyword: KeywordOrdinal) -> &[IncomingOrdinal] {
        if keyword.index() + 1 < self.starts.len() { &self.questions[row(&self.starts, keyword)] } else { &[] }
    }
}

struct Matching<'a> {
    outgoing: &'a Questions<'a, OutgoingOrdinal>,
    incoming: &'a Questions<'a, IncomingOrdinal>,
    postings: &'a Postings,
    cells: &'a Cells,
    /// The keywords of each in-coming question as a set of bits, by place in the cells.
    signatures: &'a [u64],
    options: &'a MatchOptions,
}

/// What a thread needs to match groups of questions.
#[derive(Default)]
struct Room {
    /// The last out-coming question that each in-coming one was scored for by a keyword.
    last: Vec<Option<OutgoingOrdinal>>,
    /// The cells that the questions of a group look into, each with the place of the question in its group.
    visits: Vec<(u32, usize)>,
    cells: Vec<u32>,
    cosines: Vec<f32>,
}

/// An in-coming question with its SIM.
type Scored = (IncomingOrdinal, f32);

/// An out-coming question while its candidates are scored.
struct Asking {
    question: OutgoingOrdinal,
    /// The signature of its frequent keywords: all that a candidate shares with it that no keyword brought.
    frequent: u64,
    /// What the Jaccard index of such a candidate is at most if it shares one of them.
    jaccard_max: f32,
    /// Candidates that may be kept: the best so far where one is wanted, else all, some perhaps twice.
    kept: Vec<Scored>,
}

impl Matching<'_> {
    /// Returns the matches of a group of questions, question by question.
    fn matches(&self, group: &[OutgoingOrdinal], room: &mut Room) -> Vec<Matched> {
        let mut group: Vec<Asking> = group.iter().map(|question| self.by_keyword(*question, room)).collect();
        if !self.outgoing.vectors.is_empty() && !self.incoming.vectors.is_empty() {
            self.by_vector(&mut group, room);
        }
        let matched = group.into_iter().flat_map(|Asking { question, kept, .. }| {
            let kept = self.within_quota(question, kept).into_iter();
            kept.map(move |(incoming, similarity)| Matched { outgoing: question, incoming, similarity })
        });
        matched.collect()
    }

    /// Scores the candidates that share a keyword with a question.
    fn by_keyword(&self, question: OutgoingOrdinal, room: &mut Room) -> Asking {
        let asked = self.outgoing.keywords_of(question);
        let mut asking = Asking { question, frequent: 0, jaccard_max: 0.0, kept: Vec::new() };
        let mut frequent_count = 0;
        for keyword in asked {
            let posting = self.postings.of_keyword(*keyword);
            if posting.len() > self.options.keyword_frequency_max {
                frequent_count += 1;
                asking.frequent |= signature_bit(*keyword);
                continue;
            }
            for &incoming in posting {
                if room.last[incoming.index()].replace(question) != Some(question) {
                    let cosine = self.outgoing.vectors.cosine(question.0, &self.incoming.vectors, incoming.0);
                    self.offer(&mut asking, incoming, cosine);
                }
            }
        }
        // What is left shares frequent keywords at most, which bounds its Jaccard index: few are worth comparing.
        if frequent_count > 0 {
            asking.jaccard_max = frequent_count as f32 / asked.len() as f32;
        }
        asking
    }

    /// Scores the candidates near the questions of a group, cell by cell.
    fn by_vector(&self, group: &mut [Asking], room: &mut Room) {
        let Room { visits, cells, cosines, .. } = room;
        visits.clear();
        for (place, asking) in group.iter().enumerate() {
            cells.clear();
            self.cells.near(&self.outgoing.vectors, asking.question.0, self.options.neighbors, cells);
            visits.extend(cells.iter().map(|cell| (*cell, place)));
        }
        visits.sort_unstable();
        for &(cell, place) in visits.iter() {
            let asking = &mut group[place];
            self.cells.visit(cell, &self.outgoing.vectors, asking.question.0, cosines, |place, cosine| {
                let shares = self.signatures[place] & asking.frequent != 0;
                let jaccard_max = if shares { asking.jaccard_max } else { 0.0 };
                if f32::midpoint(jaccard_max, cosine) >= self.floor(asking) {
                    self.offer(asking, IncomingOrdinal(self.cells.members()[place]), cosine);
                }
            });
        }
    }

    /// Returns the SIM below which nothing can be kept any more.
    fn floor(&self, asking: &Asking) -> f32 {
        match self.options.quota {
            EdgeQuota::Best => asking.kept.first().map_or(0.0, |best| best.1),
            EdgeQuota::Split { .. } => 0.0,
        }
    }

    /// Scores a candidate, unless it is of the passage that asks.
    fn offer(&self, asking: &mut Asking, incoming: IncomingOrdinal, cosine: f32) {
        if self.incoming.passage[incoming] == self.outgoing.passage[asking.question] {
            return;
        }
        let (asked, answered) = (self.outgoing.keywords_of(asking.question), self.incoming.keywords_of(incoming));
        let candidate = (incoming, f32::midpoint(jaccard(asked, answered), cosine));
        if candidate.1 <= 0.0 {
            return;
        }
        match (self.options.quota, asking.kept.first_mut()) {
            (EdgeQuota::Best, Some(best)) => {
                if top::best_first(&candidate, best).is_lt() {
                    *best = candidate;
                }
            }
            (EdgeQuota::Best, None) | (EdgeQuota::Split { .. }, _) => asking.kept.push(candidate),
        }
    }

    /// Returns those of `scored` that the quota lets a question keep, best first.
    fn within_quota(&self, question: OutgoingOrdinal, scored: Vec<Scored>) -> Vec<Scored> {
        let EdgeQuota::Split { within, across } = self.options.quota else { return scored };
        let document = self.outgoing.document[question];
        let (inside, outside): (Vec<_>, Vec<_>) =
            scored.into_iter().partition(|(it, _)| self.incoming.document[*it] == document);
        let mut kept = self.best_passages(inside, within);
        kept.extend(self.best_passages(outside, across));
        kept.sort_unstable_by(top::best_first);
        kept
    }

    /// Returns the best questions of the `count` best passages.
    fn best_passages(&self, mut scored: Vec<Scored>, count: usize) -> Vec<Scored> {
        scored.sort_unstable_by(top::best_first);
        let mut kept: Vec<Scored> = Vec::new();
        for (incoming, similarity) in scored {
            if kept.len() == count {
                break;
            }
            let passage = self.incoming.passage[incoming];
            if kept.iter().all(|(it, _)| self.incoming.passage[*it] != passage) {
                kept.push((incoming, similarity));
            }
        }
        kept
    }
}

/// Returns |A ∩ B| / |A ∪ B| of two ascending lists; 0 where both are empty.
#[must_use]
pub fn jaccard(a: &[KeywordOrdinal], b: &[KeywordOrdinal]) -> f32 {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                i += 1;
                j += 1;
            }
        }
    }
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f32 / all as f32 }
}

/// An edge of the passage graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassageEdge {
    /// The passage that asks.
    pub from: PassageOrdinal,
    /// The passage that answers.
    pub to: PassageOrdinal,
    /// The questions.
    pub matched: Matched,
}

/// Returns the edges of the passage graph: one for a pair of passages, and the ⌈ln n⌉ best exits of each passage (so
/// that n passages have O(n log n) edges in all), at least one; by ascending passage, best first. Also returns how many
/// exits were cut.
#[must_use]
pub fn edges(
    matched: &[Matched],
    outgoing: &Questions<'_, OutgoingOrdinal>,
    incoming: &Questions<'_, IncomingOrdinal>,
    passages: usize,
) -> (Vec<PassageEdge>, usize) {
    let exits = exits_max(passages);
    let mut edges: Vec<PassageEdge> = matched
        .iter()
        .map(|matched| PassageEdge {
            from: outgoing.passage[matched.outgoing],
            to: incoming.passage[matched.incoming],
            matched: *matched,
        })
        .collect();
    edges.sort_unstable_by(|a, b| (a.from, a.to).cmp(&(b.from, b.to)).then(better(a, b)));
    edges.dedup_by_key(|edge| (edge.from, edge.to));
    edges.sort_unstable_by(|a, b| a.from.cmp(&b.from).then(better(a, b)));
    let all = edges.len();
    let kept: Vec<_> =
        edges.chunk_by(|a, b| a.from == b.from).flat_map(|vertex| vertex.iter().take(exits).copied()).collect();
    let cut = all - kept.len();
    (kept, cut)
}

/// Returns ⌈ln n⌉, at least 1.
fn exits_max(passages: usize) -> usize {
    let mut exits = 1;
    while (exits as f64).exp() < passages as f64 {
        exits += 1;
    }
    exits
}

/// Orders by similarity, best first, then by numbers, so that ties do not depend on how the edges were found.
fn better(a: &PassageEdge, b: &PassageEdge) -> std::cmp::Ordering {
    let numbers = |edge: &PassageEdge| (edge.to, edge.matched.outgoing, edge.matched.incoming);
    b.matched.similarity.total_cmp(&a.matched.similarity).then_with(|| numbers(a).cmp(&numbers(b)))
}

#[cfg(test)]
mod tests;
