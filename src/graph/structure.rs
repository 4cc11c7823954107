//! The rules that the arrays of a packed graph obey, so that a walk can index without checks.

use super::ordinal::{CueOrdinal, Ordinal};
use super::packed::{CUES, NO_CUE};

/// Nothing, or the rule that an array breaks.
type Kept = Result<(), &'static str>;

const LENGTH: &str = "has another length than it should";
const ROWS: &str = "does not bound its rows";
const RANGE: &str = "names something that is not there";
const TEXT: &str = "is not text";

fn holds(rule: &'static str, is_kept: bool) -> Kept {
    if is_kept { Ok(()) } else { Err(rule) }
}

/// There is an item for each of `count` elements.
pub(super) fn each<T>(items: &[T], count: usize) -> Kept {
    holds(LENGTH, items.len() == count)
}

/// Each item is the ordinal of one of `count` elements.
pub(super) fn below<V: Ordinal>(items: &[V], count: usize) -> Kept {
    // The largest first, compared once: a loop without a branch.
    let largest = items.iter().copied().max();
    holds(RANGE, largest.is_none_or(|largest| largest.index() < count))
}

/// Each item is the ordinal of one of `count` elements, or of none.
pub(super) fn below_or_none<V: Ordinal>(items: &[V], count: usize) -> Kept {
    holds(RANGE, items.iter().all(|item| item.number() == u32::MAX || item.index() < count))
}

/// Bounds the row that each of `count` owners has of `items`. Rows of nothing may be left out whole: an empty index has
/// none.
pub(super) fn rows(rows: &[u32], count: usize, items: usize) -> Kept {
    if rows.is_empty() && count == 0 {
        return holds(ROWS, items == 0);
    }
    each(rows, count + 1)?;
    let is_bounded = rows.first() == Some(&0) && rows.last().is_some_and(|last| *last as usize == items);
    holds(ROWS, is_bounded && rows.is_sorted())
}

/// Around each of `mentions` there are so many of `cues`, or none.
pub(super) fn around(items: &[CueOrdinal], mentions: usize, cues: usize) -> Kept {
    each(items, mentions * CUES)?;
    holds(RANGE, items.iter().all(|cue| *cue == NO_CUE || cue.index() < cues))
}

/// Bounds texts stored back to back.
pub(super) fn ends(ends: &[u32], texts: &[u8]) -> Kept {
    holds(ROWS, ends.is_sorted() && ends.last().map_or(0, |last| *last as usize) == texts.len())?;
    let Ok(all) = std::str::from_utf8(texts) else { return Err(TEXT) };
    holds(TEXT, ends.iter().all(|end| all.is_char_boundary(*end as usize)))
}
