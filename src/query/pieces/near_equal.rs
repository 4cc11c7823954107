//! Near-duplicate passages: one is shown, with the number of the others.

use std::hash::{Hash, Hasher as _};
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::domain::{Hit, NearEqual, PassageId};
use crate::error::Result;
use crate::graph::ordinal::PassageOrdinal;
use crate::query::session::query::{Ranking, on_cpu};
use crate::text::{lower, words};

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
    let read = |passage: &PassageOrdinal| {
        let shown = reader.passage(*passage)?;
        Ok((*passage, shown.passage, shingles(&shown.text)))
    };
    let read: Vec<(PassageOrdinal, PassageId, Vec<u64>)> = passages.par_iter().map(read).collect::<Result<_>>()?;
    let mut groups = Groups::default();
    let mut kept: Vec<(PassageId, Vec<u64>)> = Vec::new();
    let mut dropped: FxHashSet<PassageOrdinal> = FxHashSet::default();
    for (passage, id, own) in read {
        match kept.iter().find(|(_, other)| are_alike(&own, other)) {
            Some((better, _)) => {
                let document = reader.document(reader.graph().passage_document[passage])?;
                let near = NearEqual { passage: id, source_id: document.source_id, uri: document.uri };
                groups.entry(*better).or_default().push(near);
                dropped.insert(passage);
            }
            None if kept.len() == count => break,
            None => kept.push((id, own)),
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

/// Returns the shingles of a text, in order; all of it if it has fewer words than a shingle.
fn shingles(text: &str) -> Vec<u64> {
    let words: Vec<u64> = words(&lower(text)).iter().map(|word| hash(word.text)).collect();
    if words.len() < SHINGLE {
        return vec![hash(&words[..])];
    }
    let mut shingles: Vec<u64> = words.windows(SHINGLE).map(hash).collect();
    shingles.sort_unstable();
    shingles.dedup();
    shingles
}

fn hash<T: Hash + ?Sized>(of: &T) -> u64 {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Compares two lists of shingles, each in order.
fn are_alike(one: &[u64], other: &[u64]) -> bool {
    let (small, large) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let is_enough = |both: usize| both as f64 >= ALIKE_MIN * (small.len() + large.len() - both) as f64;
    let (mut both_at_most, mut rest) = (small.len(), large);
    for shingle in small {
        rest = &rest[rest.partition_point(|it| it < shingle)..];
        both_at_most -= usize::from(rest.first() != Some(shingle));
        if !is_enough(both_at_most) {
            return false;
        }
    }
    is_enough(both_at_most)
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
