//! Fuses the lists for a question and its parts. The list for the whole question always takes part: parts add to it and
//! never replace it.
//!
//! score(d) = 1/(1 + rank of d for the question) + the best over lists of parts of w · 2⁻ʲ · s(d)/(1 + rank of d there)
//!
//! s(d) is the score of d between the last of its list (0) and the first (1), so a list with an outstanding first
//! passage counts more than one of similar passages; j numbers the forms of one part, the likeliest answers first; w is
//! ½ if a rule guesses the answers, or guessed those in this form, and otherwise 1. Reciprocal rank fusion (Cormack and
//! others, 2009) adds up over all lists; since different parts ask for different facts, only the best of them counts
//! here.
//!
//! Chosen on musique-dev with its gold parts, `trail` with weights fitted on the other bundles; recall in the first 5
//! with a reader that is right four times in five, and with the rule:
//!
//! | | reader | rule |
//! |---|---|---|
//! | no parts | 67.3 | 67.3 |
//! | **as above** | 77.4 | 72.5 |
//! | w 1 where a rule guesses in the reader's place, as in all below | 77.0 | 72.5 |
//! | w ½ for the reader, 1 for the rule | 74.6 | 72.2 |
//! | without s | 76.0 | |
//! | parts found by a walk of one round | 71.8 | |
//! | parts found by `trail` whole | 74.5 | |

use rustc_hash::{FxHashMap, FxHashSet};

use crate::domain::{Hit, PassageId};
use crate::query::options::Preset;

/// The passages found for one form of a part of a question.
#[derive(Clone)]
pub(in crate::query) struct RankedList {
    /// How likely its answers are: 0 for the likeliest.
    pub(in crate::query) form: i32,
    /// Whether a rule guesses answers, or guessed those in it.
    pub(in crate::query) is_guessed: bool,
    /// The query.
    pub(in crate::query) question: String,
    /// The passages, best first.
    pub(in crate::query) hits: Vec<Hit>,
}

/// Returns the passages of all lists, best first, ranked again, none twice. With the settings of the paper, the lists
/// of parts are interleaved, without that of the whole question.
pub(in crate::query) fn fused(whole: Vec<Hit>, parts: Vec<RankedList>, preset: Preset) -> Vec<Hit> {
    if parts.iter().all(|part| part.hits.is_empty()) {
        return whole;
    }
    let mut hits = match preset {
        Preset::Paper => interleaved(parts),
        Preset::Measured => scored(whole, parts),
    };
    for (hit, rank) in hits.iter_mut().zip(1..) {
        hit.rank = rank;
    }
    hits
}

fn by_rank(hit: &Hit) -> f32 {
    1.0 / (1.0 + hit.rank as f32)
}

fn scored(mut whole: Vec<Hit>, parts: Vec<RankedList>) -> Vec<Hit> {
    let mut best: FxHashMap<PassageId, f32> = FxHashMap::default();
    for list in &parts {
        let ends = list.hits.first().zip(list.hits.last()).map(|(first, last)| (first.score, last.score));
        let (high, low) = ends.unwrap_or_default();
        let weight = if list.is_guessed { 0.5 } else { 1.0 };
        for hit in &list.hits {
            // A single passage has the full score.
            let share = if high > low { (hit.score - low) / (high - low) } else { 1.0 };
            let score: &mut f32 = best.entry(hit.passage).or_default();
            *score = score.max(weight * 0.5_f32.powi(list.form) * share * by_rank(hit));
        }
    }
    let part_score = |hit: &Hit| best.get(&hit.passage).copied().unwrap_or_default();
    for hit in &mut whole {
        hit.score = by_rank(hit) + part_score(hit);
    }
    let mut seen: FxHashSet<PassageId> = whole.iter().map(|hit| hit.passage).collect();
    for hit in parts.into_iter().flat_map(|list| list.hits).filter(|hit| seen.insert(hit.passage)) {
        whole.push(Hit { score: part_score(&hit), ..hit });
    }
    whole.sort_by(|a, b| b.score.total_cmp(&a.score));
    whole
}

/// Returns the best of each list, the second of each, and so on, none twice.
pub(in crate::query) fn interleaved(parts: Vec<RankedList>) -> Vec<Hit> {
    let mut lists: Vec<_> = parts.into_iter().map(|list| list.hits.into_iter()).collect();
    let mut seen: FxHashSet<PassageId> = FxHashSet::default();
    let mut all = Vec::new();
    loop {
        let row: Vec<Hit> = lists.iter_mut().filter_map(Iterator::next).collect();
        if row.is_empty() {
            return all;
        }
        all.extend(row.into_iter().filter(|hit| seen.insert(hit.passage)));
    }
}

/// Returns interleaved lists as one: ranked again, with scores by rank alone.
pub(in crate::query) fn by_place(mut hits: Vec<Hit>) -> Vec<Hit> {
    for (hit, rank) in hits.iter_mut().zip(1..) {
        hit.rank = rank;
        hit.score = by_rank(hit);
    }
    hits
}

#[cfg(test)]
pub(in crate::query) mod testing {
    use super::*;
    use crate::domain::{DocumentId, Metadata, Span, Why};

    /// Returns hits of these names and scores.
    pub(in crate::query) fn hits(scored: &[(&str, f32)]) -> Vec<Hit> {
        let hit = |((name, score), rank): (&(&str, f32), u32)| Hit {
            rank,
            passage: PassageId::of(&[name.as_bytes()]),
            document: DocumentId::of(&[name.as_bytes()]),
            name: (*name).to_owned(),
            uri: (*name).to_owned(),
            source_id: (*name).to_owned(),
            section: None,
            page: None,
            line: None,
            column: None,
            span: Span { start: 0, end: 0 },
            text: String::new(),
            score: *score,
            matches: Vec::new(),
            lines: Vec::new(),
            why: Why::default(),
            near_equal: Vec::new(),
            metadata: Metadata::new(),
            path: Vec::new(),
        };
        scored.iter().zip(1..).map(hit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::hits;
    use super::*;

    fn list(form: i32, scored: &[(&str, f32)]) -> RankedList {
        RankedList { form, is_guessed: false, question: String::new(), hits: hits(scored) }
    }

    fn names(hits: &[Hit]) -> String {
        assert!(hits.iter().zip(1..).all(|(hit, rank)| hit.rank == rank), "ranked anew");
        hits.iter().map(|hit| hit.name.as_str()).collect()
    }

    const WHOLE: [(&str, f32); 4] = [("a", 9.0), ("b", 8.0), ("c", 7.0), ("d", 6.0)];

    #[test]
    fn parts_add_to_the_whole_question_by_the_best_of_their_lists() {
        let fuse = |parts| names(&fused(hits(&WHOLE), parts, Preset::Measured));
        assert_eq!(fuse(vec![]), "abcd");
        // `d` is first for one part, and `e`, which the whole question does not find, for another.
        let parts = || vec![list(0, &[("d", 5.0), ("a", 1.0)]), list(0, &[("e", 5.0), ("b", 1.0)])];
        assert_eq!(fuse(parts()), "daebc");
        // So does a list whose answer a rule guessed.
        let guessed = |list| RankedList { is_guessed: true, ..list };
        assert_eq!(fuse(parts().into_iter().map(guessed).collect()), "adbce");
        let [first, second] = <[_; 2]>::try_from(parts()).ok().expect("two parts");
        assert_eq!(fuse(vec![first, guessed(second)]), "dabce");
        // A less likely form counts half.
        assert_eq!(fuse(vec![list(1, &[("e", 5.0), ("d", 1.0)])]), "abced");
        // Two lists that agree do not outweigh one.
        let twice = vec![list(0, &[("d", 5.0), ("c", 1.0)]), list(0, &[("d", 5.0), ("c", 1.0)])];
        assert_eq!(fuse(twice), "dabc");
        // If no passage is much better than the last one, only the first counts for much.
        assert_eq!(fuse(vec![list(0, &[("d", 5.0), ("c", 1.1), ("e", 1.0)])]), "dabce");
    }

    #[test]
    fn with_the_settings_of_the_paper_parts_take_turns() {
        let parts = vec![list(0, &[("a", 2.0), ("b", 1.0)]), list(0, &[("c", 9.0), ("a", 8.0), ("d", 7.0)])];
        assert_eq!(names(&fused(hits(&WHOLE), parts, Preset::Paper)), "acbd");
    }
}
