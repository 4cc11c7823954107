//! Matching on real text: its bounds cost almost no edges.

use cairn::graph::matching::{EdgeQuota, MatchOptions, Matched, Questions, match_questions};
use cairn::graph::ordinal::{
    Column, DocumentOrdinal, KeywordOrdinal, Ordinal as _, OutgoingOrdinal, PassageOrdinal, Rows,
};
use cairn::graph::vectors::QuantizedVectors;

use crate::support::corpus::{Asked, bundles, demo};
use crate::support::shared_data;

/// The number of out-coming questions.
const QUESTIONS: usize = 10_000;
/// Every how many questions one is compared with all in-coming questions.
const NTH: usize = 4;
/// Copies of the demo collection that raise that many questions.
const COPIES: usize = 48;

/// Bounds without effect: every pair is compared.
const EVERY_PAIR: MatchOptions = MatchOptions {
    keyword_frequency_max: usize::MAX,
    neighbors: usize::MAX,
    cell_rows_max: usize::MAX,
    quota: EdgeQuota::Best,
};

/// Candidates are bounded so that matching need not compare every pair. This must not cost edges: of ten thousand
/// out-coming questions, at least 99 in 100 lead to the same passage with the same SIM.
#[test]
fn the_bounds_of_matching_cost_at_most_one_edge_in_a_hundred() {
    let real = shared_data("musique-dev").and_then(|_| bundles(&["musique-dev"]));
    let asked = Asked::of(&real.unwrap_or_else(|| demo(COPIES)), QUESTIONS);
    assert!(asked.outgoing.len() >= QUESTIONS, "only {} questions", asked.outgoing.len());
    let share = share_of_equal_edges(&asked, NTH);
    assert!(share >= 0.99, "{:.2} % of the edges are those of comparing every pair", 100.0 * share);
}

fn share_of_equal_edges(asked: &Asked, nth: usize) -> f64 {
    let (outgoing, incoming) = (asked.outgoing.view(), asked.incoming.view());
    let some = Taken::of(&outgoing, nth);
    let target = |it: &Matched| (it.outgoing, incoming.passage[it.incoming], it.similarity.to_bits());
    let edges = |options: &MatchOptions| -> Vec<_> {
        let stop = cairn::Cancellation::default();
        let matches = match_questions(&some.view(), &incoming, options, None, &stop).unwrap();
        matches.view().matched().map(|it| target(&it)).collect()
    };
    let (all, bounded) = (edges(&EVERY_PAIR), edges(&MatchOptions::default()));
    let equal = all.iter().filter(|edge| bounded.binary_search(edge).is_ok()).count();
    equal as f64 / all.len() as f64
}

/// Some of the questions of one side.
struct Taken {
    passage: Vec<PassageOrdinal>,
    document: Vec<DocumentOrdinal>,
    keywords: Vec<u32>,
    keyword: Vec<KeywordOrdinal>,
    vectors: QuantizedVectors,
    marks: Vec<u64>,
}

impl Taken {
    /// Takes every `nth` question.
    fn of(all: &Questions<'_, OutgoingOrdinal>, nth: usize) -> Self {
        let taken: Vec<OutgoingOrdinal> = all.passage.ordinals().step_by(nth).collect();
        let mut some = Self {
            passage: taken.iter().map(|at| all.passage[*at]).collect(),
            document: taken.iter().map(|at| all.document[*at]).collect(),
            keywords: vec![0],
            keyword: Vec::new(),
            vectors: QuantizedVectors::new(all.vectors.dimension),
            marks: taken.iter().map(|at| all.marks[at.index()]).collect(),
        };
        for at in taken {
            some.keyword.extend_from_slice(all.keywords_of(at));
            some.keywords.push(some.keyword.len() as u32);
            some.vectors.push_row(&all.vectors, at.number());
        }
        some
    }

    fn view(&self) -> Questions<'_, OutgoingOrdinal> {
        Questions {
            passage: Column::new(&self.passage),
            document: Column::new(&self.document),
            keywords: Rows::new(&self.keywords),
            keyword: Column::new(&self.keyword),
            vectors: self.vectors.view(),
            marks: &self.marks,
            // Of out-coming questions, nothing asks for them.
            vector_marks: &[],
        }
    }
}
