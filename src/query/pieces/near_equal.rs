//! Near-duplicate passages: one is shown, with the number of the others.

use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::domain::{Hit, NearEqual, PassageId};
use crate::error::Result;
use crate::graph::ordinal::PassageOrdinal;
use crate::query::session::query::{Ranking, on_cpu};
use crate::text::tokens;

/// Additional passages retrieved to replace near-duplicates.
pub(in crate::query) const ROOM: usize = 10;
/// Number of best passages among which near-duplicates are found.
const COMPARED_MAX: usize = 100;
/// Words that are compared as one.
const SHINGLE: usize = 4;
/// Jaccard index from which two passages are near-duplicates.
const ALIKE_MIN: f64 = 0.8;

/// Near-duplicates, by the passage that is shown.
pub(in crate::query) type Groups = FxHashMap<PassageId, Vec<NearEqual>>;

/// Keeps the best `count` passages, without near-duplicates of better ones.
///
/// Complexity: O(passages²) comparisons of those that are compared.
///
/// # Errors
///
/// If the store cannot be read.
///
/// # Cancel safety
///
/// Dropping the future only loses the results.
pub(in crate::query) async fn grouped(ranking: Ranking, count: usize) -> Result<(Ranking, Groups)> {
    let query = Arc::clone(&ranking.query);
    on_cpu(&query, move |_| grouped_now(ranking, count)).await
}

fn grouped_now(mut ranking: Ranking, count: usize) -> Result<(Ranking, Groups)> {
    let reader = &ranking.query.reader;
    let compared = ranking.ranked.len().min(COMPARED_MAX);
    let passages: Vec<PassageOrdinal> = ranking.ranked[..compared].iter().map(|it| it.0).collect();
    reader.prepare(&passages)?;
    let mut groups = Groups::default();
    let mut kept: Vec<(PassageId, FxHashSet<u64>)> = Vec::new();
    let mut dropped: FxHashSet<PassageOrdinal> = FxHashSet::default();
    for passage in passages {
        let shown = reader.passage(passage)?;
        let own = shingles(&shown.text);
        match kept.iter().find(|(_, other)| are_alike(&own, other)) {
            Some((better, _)) => {
                let document = reader.document(reader.graph().passage_document[passage])?;
                let near = NearEqual { passage: shown.passage, source_id: document.source_id, uri: document.uri };
                groups.entry(*better).or_default().push(near);
                dropped.insert(passage);
            }
            None if kept.len() == count => break,
            None => kept.push((shown.passage, own)),
        }
    }
    ranking.ranked.retain(|(passage, _)| !dropped.contains(passage));
    ranking.ranked.truncate(count);
    Ok((ranking, groups))
}

/// Notes the near-duplicates of each hit.
pub(in crate::query) fn tell(hits: &mut [Hit], mut groups: Groups) {
    for hit in hits {
        hit.near_equal = groups.remove(&hit.passage).unwrap_or_default();
    }
}

/// Returns the shingles of a text; all of it if it has fewer words than a shingle.
fn shingles(text: &str) -> FxHashSet<u64> {
    let words = tokens(text);
    let hash = |words: &[String]| {
        let mut hasher = FxHasher::default();
        words.hash(&mut hasher);
        hasher.finish()
    };
    if words.len() < SHINGLE {
        FxHashSet::from_iter([hash(&words)])
    } else {
        words.windows(SHINGLE).map(hash).collect()
    }
}

fn are_alike(one: &FxHashSet<u64>, other: &FxHashSet<u64>) -> bool {
    let (small, large) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    if (small.len() as f64) < ALIKE_MIN * large.len() as f64 {
        return false;
    }
    let both = small.iter().filter(|shingle| large.contains(*shingle)).count();
    both as f64 >= ALIKE_MIN * (small.len() + large.len() - both) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_alike_where_few_words_differ() {
        let text = |number: usize| {
            format!("The mill on the river {number} was built of stone by {}", "two brothers and ".repeat(12))
        };
        let alike = |one: &str, other: &str| are_alike(&shingles(one), &shingles(other));
        let words = |from: usize| (from..from + 60).map(|it| format!("w{it}")).collect::<Vec<_>>().join(" ");
        assert!(alike(&words(0), &words(2)));
        assert!(!alike(&words(0), &words(20)));
        assert!(alike("Short one.", "short one") && !alike("Short one.", "Short two."));
        assert!(!alike("", "a") && alike("", ""));
        assert!(alike(&text(1), &text(1)));
    }
}
