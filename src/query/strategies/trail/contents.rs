//! Lists of contents: passages that name what others say. They match a question that stands in them word for word, so
//! they are held down below the first passage that says as much about it.

use crate::error::Result;
use crate::graph::ordinal::{Ordinal as _, PassageOrdinal};
use crate::query::session::query::Query;
use crate::text::is_contents;

/// Passages in front that are examined.
const IN_FRONT: usize = 10;
/// Share of the words of a list of contents, by idf, that another passage must cover to stand above it.
const COVERED_MIN: f32 = 0.8;

/// Moves each list of contents in front below the next passage that covers nearly as much of the question. Scores stay
/// in order.
///
/// # Errors
///
/// If the store cannot be read.
pub(super) fn held_down(query: &Query, ranked: Vec<(PassageOrdinal, f32)>) -> Result<Vec<(PassageOrdinal, f32)>> {
    let words = query.passage_words()?;
    let mut front = Vec::with_capacity(IN_FRONT);
    for (passage, _) in ranked.iter().take(IN_FRONT) {
        front.push((*passage, is_contents(&query.reader.passage(*passage)?.text)));
    }
    if front.iter().all(|(_, is_contents)| !is_contents) {
        return Ok(ranked);
    }
    let covered = |passage: PassageOrdinal| words.weight(words.terms[passage.index()]);
    // From the last on, so that one that was moved is not met again.
    for at in (0..front.len()).rev() {
        let (list, is_contents) = front[at];
        let says_as_much = |(passage, is_contents): &(PassageOrdinal, bool)| {
            !is_contents && says_as_much(covered(*passage), covered(list))
        };
        if let Some(below) = front[at..].iter().position(says_as_much).filter(|_| is_contents) {
            front[at..=at + below].rotate_left(1);
        }
    }
    let order = front.into_iter().map(|it| it.0).chain(ranked.iter().skip(IN_FRONT).map(|it| it.0));
    Ok(order.zip(&ranked).map(|(passage, (_, score))| (passage, *score)).collect())
}

/// Returns whether a passage that covers `passage` of a question, by idf, says as much about it as a list of contents
/// that covers `list`.
pub(in crate::query) fn says_as_much(passage: f32, list: f32) -> bool {
    passage >= COVERED_MIN * list
}
