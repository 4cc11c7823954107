//! Matching against its brute-force twin, and what its bounds and caps do.

use proptest::prelude::*;
use rustc_hash::FxHashMap;

use super::*;
use crate::graph::vectors::QuantizedVectors;

/// A side of random questions, owned.
#[derive(Debug, Clone)]
struct Side {
    passage: Vec<PassageOrdinal>,
    document: Vec<DocumentOrdinal>,
    keywords: Vec<u32>,
    keyword: Vec<KeywordOrdinal>,
    vectors: QuantizedVectors,
    marks: Vec<u64>,
}

impl Side {
    /// Each question: its passage, its keywords, its vector; two passages make a document.
    fn of(questions: &[(u32, Vec<u32>, [f32; 3])]) -> Self {
        let mut side = Self {
            passage: Vec::new(),
            document: Vec::new(),
            keywords: vec![0],
            keyword: Vec::new(),
            vectors: QuantizedVectors::new(3),
            marks: Vec::new(),
        };
        for (passage, keywords, vector) in questions {
            let mut keywords = keywords.clone();
            keywords.sort_unstable();
            keywords.dedup();
            let name = blake3::hash(format!("{passage} {keywords:?}").as_bytes());
            side.marks.push(u64::from_le_bytes(name.as_bytes()[..8].try_into().unwrap()));
            side.passage.push(PassageOrdinal(*passage));
            side.document.push(DocumentOrdinal(passage / 2));
            side.keyword.extend(keywords.into_iter().map(KeywordOrdinal));
            side.keywords.push(side.keyword.len() as u32);
            let length = vector.iter().map(|it| it * it).sum::<f32>().sqrt().max(1e-6);
            side.vectors.push(&vector.map(|it| it / length));
        }
        side
    }

    fn view<K>(&self) -> Questions<'_, K> {
        Questions {
            passage: Column::new(&self.passage),
            document: Column::new(&self.document),
            keywords: Rows::new(&self.keywords),
            keyword: Column::new(&self.keyword),
            vectors: self.vectors.view(),
            marks: &self.marks,
        }
    }
}

/// A passage, keywords, a vector.
type Question = (u32, Vec<u32>, [f32; 3]);

fn question() -> impl Strategy<Value = Question> {
    // Some vectors are equal.
    let vector = prop_oneof![prop::array::uniform3(-1.0f32..1.0), prop::array::uniform3((-1i8..2).prop_map(f32::from))];
    (0u32..12, prop::collection::vec(0u32..8, 0..4), vector)
}

fn side() -> impl Strategy<Value = Side> {
    prop::collection::vec(question(), 0..160).prop_map(|questions| Side::of(&questions))
}

/// Questions, and what is done to them: at a place, one is removed, becomes another, goes to the front, or comes.
fn edited() -> impl Strategy<Value = [Vec<Question>; 2]> {
    let edit = (any::<prop::sample::Index>(), 0u8..4, question());
    (prop::collection::vec(question(), 1..400), prop::collection::vec(edit, 0..12)).prop_map(|(before, edits)| {
        let mut after = before.clone();
        for (place, what, question) in edits {
            let place = place.index(before.len()).min(after.len().saturating_sub(1));
            match what {
                0 if !after.is_empty() => drop(after.remove(place)),
                1 if !after.is_empty() => after[place] = question,
                2 if !after.is_empty() => after[..=place].rotate_right(1),
                _ => after.insert(place, question),
            }
        }
        [before, after]
    })
}

/// Returns the keywords that more than `most` questions have.
fn frequent(side: &Side, most: usize) -> Vec<KeywordOrdinal> {
    let count = |keyword: &KeywordOrdinal| side.keyword.iter().filter(|it| *it == keyword).count();
    (0..8).map(KeywordOrdinal).filter(|keyword| count(keyword) > most).collect()
}

const UNBOUNDED: MatchOptions =
    MatchOptions { keyword_frequency_max: usize::MAX, neighbors: usize::MAX, quota: EdgeQuota::Best };

/// Compares every pair.
fn brute_force(outgoing: &Questions<'_, OutgoingOrdinal>, incoming: &Questions<'_, IncomingOrdinal>) -> Vec<Matched> {
    let mut all = Vec::new();
    for question in outgoing.passage.ordinals() {
        let asked = outgoing.keywords_of(question);
        let mut best: Option<Matched> = None;
        for candidate in incoming.passage.ordinals() {
            if incoming.passage[candidate] == outgoing.passage[question] {
                continue;
            }
            let answered = incoming.keywords_of(candidate);
            let cosine = outgoing.vectors.cosine(question.0, &incoming.vectors, candidate.0);
            let similarity = f32::midpoint(jaccard(asked, answered), cosine);
            if similarity > best.map_or(0.0, |best| best.similarity) {
                best = Some(Matched { outgoing: question, incoming: candidate, similarity });
            }
        }
        all.extend(best);
    }
    all
}

proptest! {
    #[test]
    fn without_bounds_matching_equals_comparing_every_pair(outgoing in side(), incoming in side()) {
        let (outgoing, incoming) = (outgoing.view(), incoming.view());
        let matched = match_questions(&outgoing, &incoming, &UNBOUNDED, None, &Cancellation::default()).unwrap();
        let matched: Vec<_> = matched.view().matched().collect();
        prop_assert_eq!(matched, brute_force(&outgoing, &incoming));
    }

    #[test]
    fn what_was_matched_earlier_changes_nothing(
        incoming in edited(),
        outgoing in edited(),
        quota in prop_oneof![Just(EdgeQuota::Best), Just(EdgeQuota::Split { within: 1, across: 2 })],
        neighbors in 1usize..60,
        keyword_frequency_max in 0usize..60,
    ) {
        let options = MatchOptions { keyword_frequency_max, neighbors, quota };
        let [(incoming, old_incoming), (outgoing, old_outgoing)] =
            [incoming, outgoing].map(|[before, after]| (Side::of(&after), Side::of(&before)));
        let stop = Cancellation::default();
        let before = match_questions(&old_outgoing.view(), &old_incoming.view(), &options, None, &stop).unwrap();
        let earlier = Earlier {
            matches: before.view(),
            incoming: old_incoming.vectors.view(),
            frequent: frequent(&old_incoming, keyword_frequency_max),
        };
        let (outgoing, incoming) = (outgoing.view(), incoming.view());
        let anew = match_questions(&outgoing, &incoming, &options, None, &stop).unwrap();
        let updated = match_questions(&outgoing, &incoming, &options, Some(&earlier), &stop).unwrap();
        prop_assert_eq!(&updated, &anew);
        prop_assert_eq!(anew.view().check(incoming.passage.len(), outgoing.passage.len()), Ok(()));
    }

    #[test]
    fn edges_are_one_a_pair_bounded_a_vertex_and_never_inside_a_passage(outgoing in side(), incoming in side()) {
        let (outgoing, incoming) = (outgoing.view(), incoming.view());
        let options = MatchOptions { quota: EdgeQuota::Split { within: 1, across: 2 }, ..UNBOUNDED };
        let matched = match_questions(&outgoing, &incoming, &options, None, &Cancellation::default()).unwrap();
        let matched: Vec<_> = matched.view().matched().collect();
        let (edges, cut) = edges(&matched, outgoing.passage, incoming.passage, 12);
        let mut exits: FxHashMap<PassageOrdinal, usize> = FxHashMap::default();
        let mut pairs: Vec<_> = edges.iter().map(|edge| (edge.from, edge.to)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        prop_assert_eq!(pairs.len(), edges.len());
        for edge in &edges {
            prop_assert!(edge.from != edge.to);
            *exits.entry(edge.from).or_default() += 1;
        }
        prop_assert!(exits.values().all(|count| *count <= 3), "⌈ln 12⌉ = 3");
        prop_assert!(cut + edges.len() <= matched.len());
        for matched in &matched {
            prop_assert!(exits.contains_key(&outgoing.passage[matched.outgoing]), "a vertex keeps an exit");
        }
    }
}

#[test]
fn a_quota_counts_edges_within_and_across_documents() {
    let outgoing = Side::of(&[(0, vec![1], [1.0, 0.0, 0.0])]);
    let incoming = Side::of(&[
        (1, vec![1], [1.0, 0.0, 0.0]),
        (2, vec![1], [1.0, 0.1, 0.0]),
        (2, vec![1], [1.0, 0.0, 0.0]),
        (4, vec![1], [1.0, 0.5, 0.0]),
        (6, vec![], [1.0, 0.5, 0.0]),
    ]);
    let passages = |quota| {
        let options = MatchOptions { quota, ..UNBOUNDED };
        let stop = Cancellation::default();
        let matches = match_questions(&outgoing.view(), &incoming.view(), &options, None, &stop).unwrap();
        matches.matched_incoming.iter().map(|it| incoming.passage[it.index()]).collect::<Vec<_>>()
    };
    assert_eq!(passages(EdgeQuota::Best), [1]);
    assert_eq!(passages(EdgeQuota::Split { within: 0, across: 2 }), [2, 4]);
    assert_eq!(passages(EdgeQuota::Split { within: 3, across: 1 }), [1, 2]);
}
