//! Matching: every out-coming question with the in-coming question that answers it best, over the whole corpus.
//!
//! SIM = (Jaccard(k⁺, k⁻) + cos(v⁺, v⁻)) / 2 (`HopRAG`, Eq. 1). SIM is exact; only the candidates are bounded: the
//! in-coming questions that share a keyword that is not too frequent, and the nearest by vector. Without bounds, the
//! result is that of comparing every pair.
//!
//! Most out-coming questions ask about something that no passage of the corpus covers. Their best match is one of many
//! that are about equally far, so finding it takes thousands of candidates by vector, which are cheap.

mod candidates;
mod difference;
mod edges;
mod kept;
mod marks;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::cells::{self, Cells, Fineness, Looked, Search};
use super::ordinal::{
    Column, DocumentOrdinal, IncomingOrdinal, KeywordOrdinal, Ordinal, OutgoingOrdinal, PassageOrdinal, Position, Rows,
};
use super::panels::{CosineRoom, Panels};
use super::vectors::{QuantizedVectors, Vectors};
use crate::domain::Cancellation;
use crate::error::Result;
pub use candidates::jaccard;
use candidates::{Postings, Reach, Scored, Scoring};
use difference::{Difference, Placed, Surviving};
pub use edges::{PassageEdge, edges};
pub use kept::{Earlier, Matches, PackedMatches};
pub use marks::{Marks, with_vector};

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
    /// 64 bits for each that say which question it is and what decides its matches: see [`Marks::questions`].
    pub marks: &'a [u64],
    /// 64 bits that say what vector each in-coming one has: see [`Marks::vectors`].
    pub vector_marks: &'a [u64],
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
    /// Candidates by vector, on average: all those of so many cells. 0 for none.
    pub neighbors: usize,
    /// In-coming questions around one center that are candidates by vector.
    pub cell_rows_max: usize,
    /// Edges a question.
    pub quota: EdgeQuota,
}

impl Default for MatchOptions {
    fn default() -> Self {
        Self { keyword_frequency_max: 256, neighbors: 6_144, cell_rows_max: 4_096, quota: EdgeQuota::Best }
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

/// Raised with whatever makes another question a candidate, or scores it otherwise: then all are matched again.
pub const VERSION: u32 = 2;

/// Returns what every out-coming question is matched with.
///
/// A question is never matched inside its own passage, nor if SIM is not above 0. The `earlier` matching saves work and
/// does not change the result: a question that still exists keeps its matches if nothing that they depend on changed,
/// and is compared only with new candidates.
///
/// Complexity: for n questions O(n · (`keyword_frequency_max` + `neighbors` + √n)); where m of them changed, that with
/// m for n, and at most n · m besides.
///
/// # Errors
///
/// [`Error::Cancelled`](crate::Error::Cancelled) once a stop was asked for.
pub fn match_questions(
    outgoing: &Questions<'_, OutgoingOrdinal>,
    incoming: &Questions<'_, IncomingOrdinal>,
    options: &MatchOptions,
    earlier: Option<&Earlier<'_>>,
    cancellation: &Cancellation,
) -> Result<PackedMatches> {
    let has_vectors = !outgoing.vectors.is_empty() && !incoming.vectors.is_empty();
    let in_cells = if has_vectors && options.neighbors > 0 { incoming.passage.len() } else { 0 };
    let fineness = Fineness::of(in_cells, options.neighbors);
    let settings = kept::settings(options, fineness, incoming.vectors.dimension);
    let earlier = earlier.filter(|it| it.is_made_by(settings, incoming.vectors.dimension));
    let earlier = earlier.map(|it| Surviving::of(it, incoming.marks, outgoing.marks));
    let cells = (fineness, options.cell_rows_max);
    let placed = Placed::of(incoming, cells, earlier.as_ref(), cancellation)?;
    let postings = Postings::of(incoming, incoming.passage.ordinals());
    let frequent = postings.frequent(options.keyword_frequency_max);
    let known = (&placed, &frequent[..], fineness);
    let difference = Difference::of(outgoing, incoming, known, earlier.as_ref(), cancellation)?;
    let Difference { mut anew, kept, shifted, mut reach, added } = difference;
    let before = |question| earlier.as_ref().map_or_else(Vec::new, |it| it.kept(question));

    // Those that look into other cells than before are compared with what is in these. Those that would not find all
    // their matches again are matched anew.
    let examined = reach.clone();
    let mut looked = Looked::of(outgoing.passage.len(), placed.centers.len(), fineness, |question, cells| {
        earlier.as_ref().is_some_and(|it| placed.put_cells(it, question, cells))
    });
    let shifted = by_nearest_center(&shifted, outgoing, (&placed.vectors, fineness), (&mut reach, &mut looked));
    let unknown = unknown(&kept, &reach, &looked);
    by_nearest_center(&unknown, outgoing, (&placed.vectors, fineness), (&mut reach, &mut looked));
    let finds = |question: OutgoingOrdinal, it: IncomingOrdinal| {
        let (asked, answered) = (outgoing.keywords_of(question), incoming.keywords_of(it));
        placed.is_within(it, (&outgoing.vectors, question.0), reach[question.index()])
            || postings.share(asked, answered, options.keyword_frequency_max)
    };
    let finds_all = |question: &OutgoingOrdinal| before(*question).iter().all(|it| finds(*question, it.0));
    let (shifted, others): (Vec<_>, Vec<_>) = shifted.into_par_iter().partition(finds_all);
    anew.extend(others);
    let is_copied = anew.len() + shifted.len() > COPIED_MIN;
    let cells = Cells::of(incoming.vectors, placed.members(), &placed.vectors, is_copied);
    let anew = by_nearest_center(&anew, outgoing, (&placed.vectors, fineness), (&mut reach, &mut looked));
    cancellation.check()?;
    let score =
        |candidates, cells, reach| Scoring::of((outgoing, incoming), (candidates, &postings), (cells, reach), options);
    let all = Reach { least: &reach, examined: None, looked: &looked, centers: &placed.vectors };
    let scoring = score(&postings, &cells, all);
    let mut matched = scoring.matches(&anew, |_| Vec::new(), cancellation)?;
    let others = Reach { examined: Some(&examined), ..all };
    let shifted_matches = scoring.with(&Postings::default(), others).matches(&shifted, before, cancellation)?;

    // All but those that are matched anew keep their matches, unless a new candidate is better.
    let cells = Cells::of(incoming.vectors, added.members, &placed.vectors, true);
    let added = Postings::of(incoming, added.questions);
    let scoring = score(&added, &cells, all);
    matched.extend(scoring.matches(&kept, before, cancellation)?);
    let best = by_question(shifted_matches);
    let best = |question| best.get(&question).cloned().unwrap_or_default();
    matched.extend(scoring.matches(&shifted, best, cancellation)?);
    // Best first within a question, as they were found.
    matched.sort_by_key(|it| it.outgoing);
    Ok(PackedMatches::of(&matched, (outgoing, incoming), placed, (reach, looked), settings))
}

/// Returns the questions of which it is not known which cells they look into: an earlier program did not keep that, and
/// it is not kept where too many centers are equally near.
fn unknown(questions: &[OutgoingOrdinal], reach: &[f32], looked: &Looked) -> Vec<OutgoingOrdinal> {
    let is_unknown = |it: &&OutgoingOrdinal| looked.find(it.index()).is_none() && reach[it.index()].is_finite();
    questions.iter().filter(|_| !looked.is_empty()).filter(is_unknown).copied().collect()
}

/// Returns matches by question, as they come.
fn by_question(matched: Vec<Matched>) -> FxHashMap<OutgoingOrdinal, Vec<Scored>> {
    let mut found: FxHashMap<OutgoingOrdinal, Vec<Scored>> = FxHashMap::default();
    for Matched { outgoing, incoming, similarity } in matched {
        found.entry(outgoing).or_default().push((incoming, similarity));
    }
    found
}

/// Questions to match from which on all vectors in cells are copied once, and not those of a cell for each group.
const COPIED_MIN: usize = 16_384;
/// Questions whose nearest centers one thread finds at a time.
const QUESTIONS_PER_TASK: usize = 64;
/// Questions whose searches are held at a time.
const QUESTIONS_AT_ONCE: usize = 1 << 16;

/// Puts how far each of these questions reaches into `reach`, and which cells it looks into. Returns them by their
/// nearest centers: neighbors in this order look into the same cells, which are read from memory once for all of them.
fn by_nearest_center(
    questions: &[OutgoingOrdinal],
    outgoing: &Questions<'_, OutgoingOrdinal>,
    (centers, fineness): (&QuantizedVectors, Fineness),
    (reach, looked): (&mut [f32], &mut Looked),
) -> Vec<OutgoingOrdinal> {
    if centers.is_empty() {
        return questions.to_vec();
    }
    let centers = Panels::of_all(centers);
    let of_some = |room: &mut CosineRoom, questions: &[OutgoingOrdinal]| {
        let rows: Vec<u32> = questions.iter().map(|question| question.0).collect();
        cells::searches(&outgoing.vectors, &rows, &centers, fineness, room)
    };
    let mut ordered: Vec<(u32, OutgoingOrdinal)> = Vec::with_capacity(questions.len());
    for questions in questions.chunks(QUESTIONS_AT_ONCE) {
        let some = questions.par_chunks(QUESTIONS_PER_TASK).map_init(CosineRoom::default, of_some);
        let found: Vec<Vec<Search>> = some.collect();
        for (question, search) in questions.iter().zip(found.iter().flatten()) {
            reach[question.index()] = search.reach;
            looked.put(question.index(), &search.cells);
            ordered.push((search.nearest, *question));
        }
    }
    ordered.sort_unstable();
    ordered.into_iter().map(|it| it.1).collect()
}

#[cfg(test)]
mod tests;
