//! The result of matching, as a version keeps it for the next, so that the cost of an update follows the change.

use super::difference::Placed;
use super::{MatchOptions, Matched, Questions, VERSION};
use crate::graph::arrays::Elsewhere;
use crate::graph::cells::{Fineness, Looked};
use crate::graph::elements::rows;
use crate::graph::ordinal::{Column, IncomingOrdinal, KeywordOrdinal, OutgoingOrdinal, Position, Rows};
use crate::graph::vectors::Vectors;

arrays! {
    PackedMatches, Matches;

    /// A 64-bit hash of the options and the size that decide the candidates: one item.
    settings: Column<Position, u64> = "settings" [],
    /// 64 bits that say which question each in-coming one is, with its keywords and vector.
    incoming_mark: Column<IncomingOrdinal, u64> = "incoming.mark" [each incoming],
    /// 64 bits that say what vector each has. None without vectors.
    incoming_vector: Column<IncomingOrdinal, u64> = "incoming.vector" later [],
    /// The cell of each, by the place of its center; [`u32::MAX`] without vectors.
    incoming_cell: Column<IncomingOrdinal, u32> = "incoming.cell" [each incoming_mark, below_or_none center],
    /// The in-coming questions whose vectors are the centers.
    center: Column<u32, IncomingOrdinal> = "center" [below incoming_mark],
    /// As `incoming_mark`, of each out-coming question.
    outgoing_mark: Column<OutgoingOrdinal, u64> = "outgoing.mark" [each outgoing],
    /// The cosine of the last center whose cell was looked into for each.
    outgoing_reach: Column<OutgoingOrdinal, f32> = "outgoing.reach" [each outgoing_mark],
    /// The cells that were looked into for each, by the places of their centers, as many for each; [`u16::MAX`] where
    /// they are not known: for a vector of zeros, or if more are equally near. None if these were all of the cells, or
    /// if there are more than 16 bits say.
    outgoing_cells: Column<Position, u16> = "outgoing.cells" later [],
    /// The matches of each: rows of `matched_incoming`.
    outgoing_matched: Rows<OutgoingOrdinal, Position> = "outgoing.matched" [rows outgoing_mark matched_incoming],
    /// The in-coming question, best first in each row.
    matched_incoming: Column<Position, IncomingOrdinal> = "matched.incoming" [below incoming_mark],
    /// Their SIM.
    matched_similarity: Column<Position, f32> = "matched.similarity" [each matched_incoming],
}

impl PackedMatches {
    pub(super) fn of(
        matched: &[Matched],
        (outgoing, incoming): (&Questions<'_, OutgoingOrdinal>, &Questions<'_, IncomingOrdinal>),
        placed: Placed,
        (reach, looked): (Vec<f32>, Looked),
        settings: u64,
    ) -> Self {
        Self {
            settings: vec![settings],
            incoming_mark: incoming.marks.to_vec(),
            incoming_vector: incoming.vector_marks.to_vec(),
            incoming_cell: placed.cells,
            center: placed.centers.into_iter().map(IncomingOrdinal).collect(),
            outgoing_mark: outgoing.marks.to_vec(),
            outgoing_reach: reach,
            outgoing_cells: looked.into_cells(),
            outgoing_matched: rows(matched.iter().map(|it| it.outgoing), outgoing.marks.len()),
            matched_incoming: matched.iter().map(|it| it.incoming).collect(),
            matched_similarity: matched.iter().map(|it| it.similarity).collect(),
        }
    }
}

impl Matches<'_> {
    /// Checks that the arrays belong together, and to so many in-coming and out-coming questions.
    ///
    /// # Errors
    ///
    /// The name of an array that breaks a rule, and the rule.
    pub fn check(&self, incoming: usize, outgoing: usize) -> Result<(), (&'static str, &'static str)> {
        let is_number = |values: &[f32]| values.iter().all(|value| !value.is_nan());
        for (name, values) in
            [("outgoing.reach", self.outgoing_reach.items()), ("matched.similarity", self.matched_similarity.items())]
        {
            if !is_number(values) {
                return Err((name, "has a value that is not a number"));
            }
        }
        self.check_arrays(Elsewhere { incoming, outgoing, ..Elsewhere::default() })
    }

    /// Returns every match, by ascending out-coming question, best first.
    pub fn matched(&self) -> impl Iterator<Item = Matched> + use<'_> {
        let Self { outgoing_matched, matched_incoming, matched_similarity, .. } = *self;
        self.outgoing_mark.ordinals().flat_map(move |outgoing| {
            let matched = move |place| Matched {
                outgoing,
                incoming: matched_incoming[place],
                similarity: matched_similarity[place],
            };
            outgoing_matched.of(outgoing).map(matched)
        })
    }
}

/// The matching of an earlier version.
#[derive(Debug, Clone)]
pub struct Earlier<'a> {
    /// The result of matching.
    pub matches: Matches<'a>,
    /// The vectors of its in-coming questions.
    pub incoming: Vectors<'a>,
    /// Keywords that were too frequent to bring candidates, ascending, by the numbers that they have now.
    pub frequent: Vec<KeywordOrdinal>,
}

impl Earlier<'_> {
    /// Returns whether the same is a candidate now as it was then.
    pub(super) fn is_made_by(&self, settings: u64, dimension: usize) -> bool {
        let has_vectors =
            self.incoming.len() == self.matches.incoming_mark.len() && self.incoming.dimension == dimension;
        (has_vectors || self.matches.center.is_empty()) && self.matches.settings.items() == [settings]
    }
}

/// Returns a 64-bit hash of everything that decides the candidates, except the questions.
pub(super) fn settings(options: &MatchOptions, fineness: Fineness, dimension: usize) -> u64 {
    let text = format!("{VERSION} {options:?} {fineness:?} {dimension}");
    let mut bytes = [0; size_of::<u64>()];
    bytes.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..size_of::<u64>()]);
    u64::from_le_bytes(bytes)
}
