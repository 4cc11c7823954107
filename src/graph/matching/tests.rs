//! Matching compared with its brute-force twin, and the effects of its bounds and caps.

use proptest::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::candidates::ByCell;
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
    marks: Marks,
}

impl Side {
    /// Each two passages make a document.
    fn of(questions: &[Question]) -> Self {
        let mut side = Self {
            passage: Vec::new(),
            document: Vec::new(),
            keywords: vec![0],
            keyword: Vec::new(),
            vectors: QuantizedVectors::new(3),
            marks: Marks::default(),
        };
        let mut marks = Vec::new();
        for (name, passage, keywords, vector) in questions {
            let mut keywords = keywords.clone();
            keywords.sort_unstable();
            keywords.dedup();
            let mark = blake3::hash(format!("{name} {passage} {keywords:?}").as_bytes());
            marks.push(u64::from_le_bytes(mark.as_bytes()[..8].try_into().unwrap()));
            side.passage.push(PassageOrdinal(*passage));
            side.document.push(DocumentOrdinal(passage / 2));
            side.keyword.extend(keywords.into_iter().map(KeywordOrdinal));
            side.keywords.push(side.keyword.len() as u32);
            let length = vector.iter().map(|it| it * it).sum::<f32>().sqrt().max(1e-6);
            side.vectors.push(&vector.map(|it| it / length));
        }
        side.marks = Marks::of_all(&marks, Some(&side.vectors.view()));
        side
    }

    fn view<K>(&self) -> Questions<'_, K> {
        Questions {
            passage: Column::new(&self.passage),
            document: Column::new(&self.document),
            keywords: Rows::new(&self.keywords),
            keyword: Column::new(&self.keyword),
            vectors: self.vectors.view(),
            marks: &self.marks.questions,
            vector_marks: &self.marks.vectors,
        }
    }
}

/// A question: its name, its passage, its keywords, its vector.
type Question = (u64, u32, Vec<u32>, [f32; 3]);

fn question() -> impl Strategy<Value = Question> {
    // Some vectors are equal, and some are zeros.
    let few = prop::array::uniform3((0i8..2).prop_map(f32::from));
    let vector = prop_oneof![prop::array::uniform3(-1.0f32..1.0), few];
    (any::<u64>(), 0u32..12, prop::collection::vec(0u32..8, 0..4), vector)
}

fn side() -> impl Strategy<Value = Side> {
    prop::collection::vec(question(), 0..160).prop_map(|questions| Side::of(&questions))
}

/// Questions, and their state after each of three changes: one is removed, replaced, moved to the front or added, or
/// gets another vector.
fn edited() -> impl Strategy<Value = Vec<Side>> {
    let few = prop::array::uniform3((0i8..2).prop_map(f32::from));
    let of_few = prop::collection::vec(
        question().prop_flat_map(move |it| few.clone().prop_map(move |few| (it.0, it.1, it.2.clone(), few))),
        1..200,
    );
    let first = prop_oneof![prop::collection::vec(question(), 1..400), of_few];
    let edit = (any::<prop::sample::Index>(), 0u8..5, question());
    let edits = prop::collection::vec(prop::collection::vec(edit, 0..12), 3);
    (first, edits).prop_map(|(mut questions, edits)| {
        let mut sides = vec![Side::of(&questions)];
        for edits in edits {
            for (place, what, question) in edits {
                let place = place.index(questions.len() + 1).min(questions.len().saturating_sub(1));
                match what {
                    0 if questions.len() > 1 => drop(questions.remove(place)),
                    1 if !questions.is_empty() => questions[place] = question,
                    2 if !questions.is_empty() => questions[place].3 = question.3,
                    3 if !questions.is_empty() => questions[..=place].rotate_right(1),
                    _ => questions.insert(place, question),
                }
            }
            sides.push(Side::of(&questions));
        }
        sides
    })
}

/// Returns the keywords of more than `most` questions.
fn frequent(side: &Side, most: usize) -> Vec<KeywordOrdinal> {
    let count = |keyword: &KeywordOrdinal| side.keyword.iter().filter(|it| *it == keyword).count();
    (0..8).map(KeywordOrdinal).filter(|keyword| count(keyword) > most).collect()
}

const UNBOUNDED: MatchOptions = MatchOptions {
    keyword_frequency_max: usize::MAX,
    neighbors: usize::MAX,
    cell_rows_max: usize::MAX,
    quota: EdgeQuota::Best,
};

/// Compares every pair, but for questions with a vector of zeros, which find only what shares a keyword that is not
/// frequent.
fn brute_force(
    outgoing: &Questions<'_, OutgoingOrdinal>,
    incoming: &Questions<'_, IncomingOrdinal>,
    frequent: &[KeywordOrdinal],
) -> Vec<Matched> {
    let mut all = Vec::new();
    for question in outgoing.passage.ordinals() {
        let asked = outgoing.keywords_of(question);
        let has_vector = outgoing.vectors.codes(question.0).iter().any(|code| *code != 0);
        let mut best: Option<Matched> = None;
        for candidate in incoming.passage.ordinals() {
            if incoming.passage[candidate] == outgoing.passage[question] {
                continue;
            }
            let answered = incoming.keywords_of(candidate);
            let is_shared = |it: &KeywordOrdinal| answered.contains(it) && !frequent.contains(it);
            if !has_vector && !asked.iter().any(is_shared) {
                continue;
            }
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
    fn without_bounds_matching_equals_comparing_every_pair(
        outgoing in side(),
        incoming in side(),
        keyword_frequency_max in prop_oneof![Just(usize::MAX), 0usize..60],
    ) {
        let frequent = frequent(&incoming, keyword_frequency_max);
        let (outgoing, incoming) = (outgoing.view(), incoming.view());
        // Candidates that share only frequent keywords are found by vector, and not all of these are scored.
        let options = MatchOptions { keyword_frequency_max, ..UNBOUNDED };
        let matched = match_questions(&outgoing, &incoming, &options, None, &Cancellation::default()).unwrap();
        let matched: Vec<_> = matched.view().matched().collect();
        prop_assert_eq!(matched, brute_force(&outgoing, &incoming, &frequent));
    }

    #[test]
    fn what_was_matched_earlier_changes_nothing(
        incoming in edited(),
        outgoing in edited(),
        quota in prop_oneof![Just(EdgeQuota::Best), Just(EdgeQuota::Split { within: 1, across: 2 })],
        neighbors in 0usize..60,
        cell_rows_max in prop_oneof![Just(usize::MAX), 1usize..30],
        keyword_frequency_max in 0usize..60,
        has_vectors in prop::bool::weighted(0.9),
        has_cells in prop::bool::weighted(0.9),
    ) {
        let options = MatchOptions { keyword_frequency_max, neighbors, cell_rows_max, quota };
        let stop = Cancellation::default();
        let mut earlier: Option<(&Side, PackedMatches)> = None;
        for (incoming, outgoing) in incoming.iter().zip(&outgoing) {
            let (mut asked, mut answered) = (outgoing.view(), incoming.view());
            if !has_vectors {
                (asked.vectors, answered.vectors) = (Vectors::default(), Vectors::default());
            }
            // An earlier program did not keep the cells of searches.
            let matches = |matches: &PackedMatches| PackedMatches {
                outgoing_cells: if has_cells { matches.outgoing_cells.clone() } else { Vec::new() },
                ..matches.clone()
            };
            let kept = earlier.as_ref().map(|(side, it)| (side, matches(it)));
            let before = kept.as_ref().map(|(side, matches)| Earlier {
                matches: matches.view(),
                incoming: if has_vectors { side.vectors.view() } else { Vectors::default() },
                frequent: frequent(side, keyword_frequency_max),
            });
            let anew = match_questions(&asked, &answered, &options, None, &stop).unwrap();
            let updated = match_questions(&asked, &answered, &options, before.as_ref(), &stop).unwrap();
            prop_assert_eq!(&updated, &anew);
            prop_assert_eq!(anew.view().check(incoming.passage.len(), outgoing.passage.len()), Ok(()));
            earlier = Some((incoming, updated));
        }
    }

    #[test]
    fn what_is_forged_of_an_earlier_matching_breaks_nothing(
        sides in [edited(), edited()],
        numbers in prop::collection::vec((0usize..11, any::<prop::sample::Index>(), any::<u32>()), 1..8),
    ) {
        let options = MatchOptions { keyword_frequency_max: 20, neighbors: 20, ..UNBOUNDED };
        let stop = Cancellation::default();
        let [incoming, outgoing] = &sides;
        let mut before = match_questions(&outgoing[0].view(), &incoming[0].view(), &options, None, &stop).unwrap();
        for (array, place, number) in numbers {
            let questions = before.incoming_mark.len();
            let PackedMatches {
                incoming_cell,
                center,
                matched_incoming,
                outgoing_reach,
                outgoing_cells,
                matched_similarity,
                ..
            } = &mut before;
            let set = |numbers: &mut [u32], below: usize| {
                if !numbers.is_empty() && below > 0 {
                    numbers[place.index(numbers.len())] = number % below as u32;
                }
            };
            let centers = center.len();
            match array {
                0 | 1 => set(incoming_cell, centers),
                2 | 3 => set(bytemuck::cast_slice_mut(center), questions),
                4 | 5 => set(bytemuck::cast_slice_mut(matched_incoming), questions),
                6 if !outgoing_reach.is_empty() => outgoing_reach[0] = f32::from_bits(number),
                7 if !matched_similarity.is_empty() => matched_similarity[0] = f32::from_bits(number),
                8 if !outgoing_cells.is_empty() => {
                    let at = place.index(outgoing_cells.len());
                    outgoing_cells[at] = number as u16;
                }
                9 => drop(outgoing_cells.pop()),
                _ => before.incoming_mark.reverse(),
            }
        }
        if before.view().check(incoming[0].passage.len(), outgoing[0].passage.len()).is_err() {
            return Ok(());
        }
        let vectors = [incoming[0].vectors.view(), Vectors { dimension: 2, ..incoming[0].vectors.view() }];
        for vectors in vectors {
            let earlier = Earlier { matches: before.view(), incoming: vectors, frequent: vec![KeywordOrdinal(9)] };
            let (asked, answered) = (outgoing[1].view(), incoming[1].view());
            let matches = match_questions(&asked, &answered, &options, Some(&earlier), &stop).unwrap();
            prop_assert_eq!(matches.view().check(answered.passage.len(), asked.passage.len()), Ok(()));
            for it in matches.view().matched() {
                prop_assert!(asked.passage[it.outgoing] != answered.passage[it.incoming]);
            }
        }
    }

    #[test]
    fn edges_are_one_a_pair_bounded_a_vertex_and_never_inside_a_passage(outgoing in side(), incoming in side()) {
        let (outgoing, incoming) = (outgoing.view(), incoming.view());
        let options = MatchOptions { quota: EdgeQuota::Split { within: 1, across: 2 }, ..UNBOUNDED };
        let matched = match_questions(&outgoing, &incoming, &options, None, &Cancellation::default()).unwrap();
        let matched: Vec<_> = matched.view().matched().collect();
        let (edges, cut) = edges(&matched, outgoing.passage, incoming.passage, 12);
        let due = of_one_list(&matched, &outgoing, &incoming);
        prop_assert_eq!((&edges, cut), (&due.0, due.1));
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

/// Returns the edges of 12 passages and how many were cut, from one list of all that are matched.
fn of_one_list(
    matched: &[Matched],
    outgoing: &Questions<'_, OutgoingOrdinal>,
    incoming: &Questions<'_, IncomingOrdinal>,
) -> (Vec<PassageEdge>, usize) {
    let edge = |it: &Matched| PassageEdge {
        from: outgoing.passage[it.outgoing],
        to: incoming.passage[it.incoming],
        matched: *it,
    };
    let mut edges: Vec<PassageEdge> = matched.iter().map(edge).collect();
    edges.sort_by(|a, b| {
        let similarity = b.matched.similarity.total_cmp(&a.matched.similarity);
        let numbers = |it: &PassageEdge| (it.to, it.matched.outgoing, it.matched.incoming);
        a.from.cmp(&b.from).then(similarity).then(numbers(a).cmp(&numbers(b)))
    });
    let (mut kept, mut cut): (Vec<PassageEdge>, _) = (Vec::new(), 0);
    let mut seen = FxHashSet::default();
    for edge in edges.into_iter().filter(|it| seen.insert((it.from, it.to))) {
        let exits = kept.iter().filter(|it| it.from == edge.from).count();
        if exits < 3 { kept.push(edge) } else { cut += 1 }
    }
    (kept, cut)
}

#[test]
fn keywords_with_one_bit_in_a_signature_count_each() {
    // Of these two, the bits are one.
    let outgoing = Side::of(&[(0, 0, vec![0, 34], [1.0, 0.0, 0.0])]);
    let incoming = Side::of(&[(0, 1, vec![], [0.9, 0.436, 0.0]), (0, 2, vec![0, 34], [0.2, 0.98, 0.0])]);
    let options = MatchOptions { keyword_frequency_max: 0, ..UNBOUNDED };
    let matched =
        match_questions(&outgoing.view(), &incoming.view(), &options, None, &Cancellation::default()).unwrap();
    assert_eq!(matched.matched_incoming, [IncomingOrdinal(1)]);
    assert_eq!(matched.view().matched().collect::<Vec<_>>(), brute_force(&outgoing.view(), &incoming.view(), &[]));
}

#[test]
fn a_quota_counts_edges_within_and_across_documents() {
    let outgoing = Side::of(&[(0, 0, vec![1], [1.0, 0.0, 0.0])]);
    let incoming = Side::of(&[
        (0, 1, vec![1], [1.0, 0.0, 0.0]),
        (0, 2, vec![1], [1.0, 0.1, 0.0]),
        (0, 2, vec![1], [1.0, 0.0, 0.0]),
        (0, 4, vec![1], [1.0, 0.5, 0.0]),
        (0, 6, vec![], [1.0, 0.5, 0.0]),
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

#[test]
fn visits_are_made_cell_by_cell() {
    let visits = [(3, 0), (1, 0), (3, 1), (0, 2), (1, 2)];
    let mut room = ByCell::default();
    for _ in 0..2 {
        let sorted: Vec<_> = room.sorted(&visits).map(|(cell, places)| (cell, places.to_vec())).collect();
        assert_eq!(sorted, [(0, vec![2]), (1, vec![0, 2]), (3, vec![0, 1])]);
        assert_eq!(room.sorted(&[]).count(), 0);
    }
}
