//! Packs units into passages, so that an edit stays local.
//!
//! Filling passages one after the other would move every boundary after an edit. So boundaries are first found by
//! content: a unit begins a passage if its hash is the smallest of all units that begin within half a passage before
//! and after. This depends on nothing farther away. Only between such boundaries are passages filled one after the
//! other.

use std::ops::Range;

use super::units::{BYTES_PER_PIECE_MAX, Unit};

/// Returns the spans of the passages that `units` of one section are packed to, each of at most `limit` pieces.
pub(super) fn pack(text: &str, units: &[Unit], limit: usize) -> Vec<Range<usize>> {
    let starts = running_starts(units);
    let fits = starts.last().is_none_or(|all| *all <= limit);
    let boundaries = if fits { vec![false; units.len()] } else { boundaries(text, units, &starts, limit / 2) };

    let mut spans = Vec::new();
    let mut open: Option<(Range<usize>, usize)> = None;
    for (unit, is_boundary) in units.iter().zip(boundaries) {
        match &mut open {
            Some((span, pieces)) if !is_boundary && has_room(span, *pieces, unit, limit) => {
                span.end = unit.span.end;
                *pieces += unit.pieces;
            }
            _ => spans.extend(open.replace((unit.span.clone(), unit.pieces)).map(|(span, _)| span)),
        }
    }
    spans.extend(open.map(|(span, _)| span));
    spans
}

/// Returns whether a passage has room for `unit`. White space between units counts too, if there is very much of it.
fn has_room(span: &Range<usize>, pieces: usize, unit: &Unit, limit: usize) -> bool {
    pieces + unit.pieces <= limit && (unit.span.end - span.start).div_ceil(BYTES_PER_PIECE_MAX) <= limit
}

/// Returns how many pieces stand before each unit, and before the end.
fn running_starts(units: &[Unit]) -> Vec<usize> {
    let sums = units.iter().scan(0, |sum, unit| {
        *sum += unit.pieces;
        Some(*sum)
    });
    std::iter::once(0).chain(sums).collect()
}

/// Returns, for each unit, whether it begins a passage by its content.
fn boundaries(text: &str, units: &[Unit], starts: &[usize], reach: usize) -> Vec<bool> {
    let hashes: Vec<u64> = units.iter().map(|unit| hash(text.get(unit.span.clone()).unwrap_or_default())).collect();
    let all = starts.last().copied().unwrap_or_default();
    let places: Vec<(usize, u64)> = starts.iter().copied().zip(hashes).collect();
    let is_boundary = |(index, (start, hash)): (usize, &(usize, u64))| {
        let follows_heading = index > 0 && units.get(index - 1).is_some_and(|unit| unit.is_heading);
        if follows_heading || *start < reach || all - start < reach {
            return false;
        }
        let (before, after) = places.split_at(index);
        let mut near_before = before.iter().rev().take_while(|it| start - it.0 <= reach);
        let mut near_after = after.iter().skip(1).take_while(|it| it.0 - start <= reach);
        // Of equal texts the first counts.
        near_before.all(|it| it.1 > *hash) && near_after.all(|it| it.1 >= *hash)
    };
    places.iter().enumerate().map(is_boundary).collect()
}

/// Returns a number that is the same on every machine, for equal texts.
fn hash(text: &str) -> u64 {
    let digest = blake3::hash(text.as_bytes());
    digest.as_bytes().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packs words of one piece each, limited to `limit` pieces.
    fn packed(text: &str, limit: usize) -> Vec<&str> {
        let units: Vec<Unit> = text
            .split(' ')
            .scan(0, |at, word| {
                let span = *at..*at + word.len();
                *at = span.end + 1;
                Some(Unit { span, pieces: 1, is_heading: word.starts_with('#') })
            })
            .collect();
        pack(text, &units, limit).into_iter().map(|span| &text[span]).collect()
    }

    #[test]
    fn what_fits_is_one_passage() {
        assert_eq!(packed("a b c", 3), ["a b c"]);
        assert!(pack("", &[], 3).is_empty());
    }

    #[test]
    fn passages_hold_at_most_the_limit_and_equal_texts_do_no_harm() {
        let same = vec!["x"; 50].join(" ");
        assert!(packed(&same, 8).iter().all(|passage| passage.len() <= 15));
    }

    #[test]
    fn boundaries_do_not_depend_on_what_is_far_off() {
        let words: Vec<String> = (0..200).map(|number| format!("w{number}")).collect();
        let before = words.join(" ");
        let mut edited = words;
        edited.insert(100, "new".to_owned());
        let edited = edited.join(" ");
        let (before, after) = (packed(&before, 10), packed(&edited, 10));
        let kept = before.iter().filter(|passage| after.contains(passage)).count();
        assert!(before.len() - kept <= 3, "{} of {}", kept, before.len());
    }
}
