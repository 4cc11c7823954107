//! Where the texts of a version are in its lexical fields: in a first segment, which an earlier version wrote for all
//! its texts, or in a second one, for texts added since. Some texts of the first may be deleted.
//!
//! A field of two segments is equivalent to one written at once: document frequencies do not count deleted texts.

use std::collections::BTreeMap;

use super::arrays::Elsewhere;
use super::ordinal::{Column, Position};
use super::packed::{back_to_back, equal_texts, text_at};

/// Marks a deleted text.
pub const GONE: u32 = u32::MAX;
/// A field is rewritten once more than one in so many texts of its first segment were deleted or added.
pub(crate) const CHANGED_ONE_IN: usize = 4;

arrays! {
    PackedSegments, Segments;

    /// The passage of each text of the first segment of passages, ascending; [`GONE`] if deleted.
    passage_first: Column<Position, u32> = "passage.first" [below_or_none passages],
    /// The passage that each text of the second segment is, ascending.
    passage_second: Column<Position, u32> = "passage.second" [below passages],
    /// As `passage_first`, of sentences.
    sentence_first: Column<Position, u32> = "sentence.first" [below_or_none sentences],
    /// As `passage_second`, of sentences.
    sentence_second: Column<Position, u32> = "sentence.second" [below sentences],
    /// Terms of deleted texts, in order.
    gone_term_ends: Column<Position, u32> = "gone.term-ends" [ends gone_terms],
    /// Their bytes.
    gone_terms: Column<Position, u8> = "gone.terms" [],
    /// How many deleted passages have each.
    gone_passages: Column<Position, u32> = "gone.passages" [each gone_term_ends],
    /// How many deleted sentences have each.
    gone_sentences: Column<Position, u32> = "gone.sentences" [each gone_term_ends],
}

/// The segments of one field.
#[derive(Debug, Clone, Copy)]
pub struct FieldSegments<'a> {
    /// The current number of each text of the first segment, ascending, or [`GONE`].
    pub first: &'a [u32],
    /// The number of each text of the second segment, ascending.
    pub second: &'a [u32],
    gone_term_ends: &'a [u32],
    gone_terms: &'a [u8],
    gone: &'a [u32],
}

impl<'a> Segments<'a> {
    /// Returns the segments of the field of passages.
    #[must_use]
    pub fn passages(&self) -> FieldSegments<'a> {
        self.field(self.passage_first, self.passage_second, self.gone_passages)
    }

    /// Returns the segments of the field of sentences.
    #[must_use]
    pub fn sentences(&self) -> FieldSegments<'a> {
        self.field(self.sentence_first, self.sentence_second, self.gone_sentences)
    }

    fn field(
        &self,
        first: Column<'a, Position, u32>,
        second: Column<'a, Position, u32>,
        gone: Column<'a, Position, u32>,
    ) -> FieldSegments<'a> {
        let (gone_term_ends, gone_terms) = (self.gone_term_ends.items(), self.gone_terms.items());
        FieldSegments { first: first.items(), second: second.items(), gone_term_ends, gone_terms, gone: gone.items() }
    }

    /// Checks that the segments hold each of so many passages and sentences once.
    ///
    /// # Errors
    ///
    /// The name of an array that breaks a rule, and the rule.
    pub fn check(&self, passages: usize, sentences: usize) -> Result<(), (&'static str, &'static str)> {
        self.check_arrays(Elsewhere { passages, sentences, ..Elsewhere::default() })?;
        if !self.passages().hold(passages) {
            return Err(("passage.first", "and `passage.second` do not hold each passage once, in order"));
        }
        if !self.sentences().hold(sentences) {
            return Err(("sentence.first", "and `sentence.second` do not hold each sentence once, in order"));
        }
        if !self.passages().gone_terms().is_sorted_by(|before, after| before.0 < after.0) {
            return Err(("gone.terms", "is not in order"));
        }
        let fields = [("gone.passages", self.passages()), ("gone.sentences", self.sentences())];
        match fields.iter().find(|(_, field)| !field.counts_what_is_gone()) {
            Some((name, _)) => Err((name, "counts more than is gone")),
            None => Ok(()),
        }
    }
}

impl<'a> FieldSegments<'a> {
    /// Returns whether each of `count` texts is in one of the segments, in order.
    fn hold(&self, count: usize) -> bool {
        let live = self.first.iter().filter(|text| **text != GONE);
        if live.clone().count() + self.second.len() != count {
            return false;
        }
        let are_in_order = live.clone().is_sorted_by(|before, after| before < after)
            && self.second.is_sorted_by(|before, after| before < after);
        let mut is_held = vec![false; count];
        let hold = |text: &u32| is_held.get_mut(*text as usize).is_some_and(|it| !std::mem::replace(it, true));
        are_in_order && live.chain(self.second).all(hold)
    }

    /// Returns whether no term has more deleted texts than there are.
    fn counts_what_is_gone(&self) -> bool {
        let gone = self.first.iter().filter(|text| **text == GONE).count();
        self.gone.iter().all(|count| *count as usize <= gone)
    }

    /// Returns how many deleted texts of the first segment have `term`.
    #[must_use]
    pub fn gone(&self, term: &str) -> u32 {
        let found = equal_texts(self.gone_term_ends, self.gone_terms, term).next();
        found.map_or(0, |at: u32| self.gone[at as usize])
    }

    /// Returns the terms of deleted texts, in order, and how many of these have each.
    pub fn gone_terms(&self) -> impl Iterator<Item = (&'a str, u32)> + use<'a> {
        let Self { gone_term_ends, gone_terms, gone, .. } = *self;
        gone.iter().enumerate().map(move |(at, count)| (text_at(gone_term_ends, gone_terms, at as u32), *count))
    }
}

/// How many deleted texts have each term: passages and sentences.
pub type GoneTerms = BTreeMap<String, [u32; 2]>;

/// What became of the texts of a field since the last version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldChange {
    /// As [`FieldSegments::first`], of the version to come.
    pub first: Vec<u32>,
    /// As [`FieldSegments::second`], of the version to come.
    pub second: Vec<u32>,
    /// Those of the first segment that the last version has and the next has not, by their numbers in the last.
    pub gone: Vec<u32>,
}

impl FieldChange {
    /// Returns the change to a version of `count` texts. `earlier` has the number of each text of the first segment in
    /// the last version, if that has segments, and `now` the number of each text of the last version in the next, or
    /// [`GONE`]. None if so much has changed that rewriting the field is better.
    #[must_use]
    pub fn of(earlier: Option<&[u32]>, now: &[u32], count: usize) -> Option<Self> {
        let whole: Vec<u32>;
        let was = if let Some(was) = earlier {
            was
        } else {
            whole = (0..now.len() as u32).collect();
            &whole
        };
        let next = |was: u32| now.get(was as usize).copied().unwrap_or(GONE);
        let first: Vec<u32> = was.iter().map(|was| next(*was)).collect();
        let mut is_held = vec![false; count];
        for text in first.iter().filter(|text| **text != GONE) {
            *is_held.get_mut(*text as usize)? = true;
        }
        let second: Vec<u32> = (0..count as u32).filter(|text| !is_held[*text as usize]).collect();
        let dead = first.iter().filter(|text| **text == GONE).count();
        let gone = was.iter().copied().filter(|was| *was != GONE && next(*was) == GONE).collect();
        let is_small = (dead + second.len()) * CHANGED_ONE_IN <= first.len();
        is_small.then_some(Self { first, second, gone })
    }
}

impl PackedSegments {
    /// Lays out the segments after a change; `gone` counts the terms of all texts deleted from the first ones.
    #[must_use]
    pub fn of(passages: FieldChange, sentences: FieldChange, gone: &GoneTerms) -> Self {
        let (gone_term_ends, gone_terms) = back_to_back(&gone.keys().collect::<Vec<_>>());
        Self {
            passage_first: passages.first,
            passage_second: passages.second,
            sentence_first: sentences.first,
            sentence_second: sentences.second,
            gone_term_ends,
            gone_terms,
            gone_passages: gone.values().map(|it| it[0]).collect(),
            gone_sentences: gone.values().map(|it| it[1]).collect(),
        }
    }
}

impl Segments<'_> {
    /// Returns the terms of texts deleted earlier.
    #[must_use]
    pub fn all_gone(&self) -> GoneTerms {
        let passages = self.passages();
        let terms = passages.gone_terms().zip(self.gone_sentences.iter());
        terms.map(|((term, passages), sentences)| (term.to_owned(), [passages, *sentences])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(earlier: Option<&[u32]>, now: &[u32], count: usize) -> Option<(Vec<u32>, Vec<u32>, Vec<u32>)> {
        FieldChange::of(earlier, now, count).map(|it| (it.first, it.second, it.gone))
    }

    #[test]
    fn what_is_kept_stays_in_the_first_segment_and_what_comes_is_the_second() {
        let now: Vec<u32> = [0, GONE].into_iter().chain(2..12).collect();
        let (first, second, gone) = change(None, &now, 12).unwrap();
        assert_eq!((first, second, gone), (now.clone(), vec![1], vec![1]));
        // A new text at the front moves all others; those removed before are not counted again.
        let moved: Vec<u32> = (1..13).collect();
        let (first, second, gone) = change(Some(&now), &moved, 13).unwrap();
        assert_eq!(first, [1, GONE].into_iter().chain(3..13).collect::<Vec<_>>());
        assert_eq!((second, gone), (vec![0, 2], vec![]));
    }

    #[test]
    fn a_field_of_which_a_quarter_has_changed_is_written_whole() {
        let now = |gone: u32| (0..16).map(|text| if text < gone { GONE } else { text - gone }).collect::<Vec<u32>>();
        assert!(change(None, &now(4), 12).is_some());
        assert!(change(None, &now(4), 13).is_none());
        assert!(change(None, &now(5), 11).is_none());
        assert!(change(None, &[], 1).is_none());
        // A text that is not in the version is damage, and nothing is taken over.
        assert!(change(None, &now(0), 15).is_none());
    }

    #[test]
    fn segments_that_do_not_hold_each_text_once_and_in_order_are_refused() {
        let gone = GoneTerms::from([("mill".to_owned(), [1, 1]), ("quay".to_owned(), [0, 1])]);
        let change = |first: &[u32], second: &[u32]| FieldChange {
            first: first.to_vec(),
            second: second.to_vec(),
            gone: Vec::new(),
        };
        let packed =
            |first: &[u32], second: &[u32]| PackedSegments::of(change(&[GONE, 0], &[]), change(first, second), &gone);
        let whole = packed(&[0, GONE, 2], &[1, 3]);
        assert_eq!(whole.view().check(1, 4), Ok(()));
        assert_eq!(whole.view().all_gone(), gone);
        let (passages, sentences) = (whole.view().passages(), whole.view().sentences());
        assert_eq!(["mill", "quay", "a", "z"].map(|it| passages.gone(it)), [1, 0, 0, 0]);
        assert_eq!(["mill", "quay", "n"].map(|it| sentences.gone(it)), [1, 1, 0]);
        for (first, second) in [
            (&[0, GONE, 2][..], &[1][..]),
            (&[0, 1, 2], &[2, 3]),
            (&[2, 0, 1], &[3]),
            (&[0, 1, 2], &[4]),
            (&[0, GONE, 1], &[3, 2]),
        ] {
            assert!(packed(first, second).view().check(1, 4).is_err(), "{first:?} {second:?}");
        }
        let mut wrong = whole.clone();
        wrong.gone_terms.reverse();
        assert!(wrong.view().check(1, 4).is_err());
        assert!(whole.view().check(2, 4).is_err());
        let mut wrong = whole.clone();
        wrong.gone_sentences[1] = 2;
        assert_eq!(wrong.view().check(1, 4), Err(("gone.sentences", "counts more than is gone")));
    }
}
