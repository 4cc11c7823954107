//! What to reuse of an earlier matching: which questions are matched again, and what the others are compared with.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::candidates::Scored;
use super::{Earlier, Matches, Questions};
use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::cells::{self, Fineness, NO_CELL};
use crate::graph::ordinal::{IncomingOrdinal, KeywordOrdinal, Ordinal, OutgoingOrdinal};
use crate::graph::panels::Panels;
use crate::graph::scan::{dot, dots};
use crate::graph::top;
use crate::graph::vectors::{QuantizedVectors, Vectors};

/// A question that is not there, or not any more.
const GONE: u32 = u32::MAX;

/// An earlier matching, and the questions of it that are still there.
pub(super) struct Surviving<'a> {
    earlier: &'a Earlier<'a>,
    /// The earlier number of each in-coming question, or [`GONE`], and the inverse.
    incoming: Vec<u32>,
    now: Vec<u32>,
    /// The earlier number of each out-coming question, or [`GONE`].
    outgoing: Vec<u32>,
}

impl<'a> Surviving<'a> {
    /// `incoming` and `outgoing` are the marks that there are now.
    pub(super) fn of(earlier: &'a Earlier<'a>, incoming: &[u64], outgoing: &[u64]) -> Self {
        let incoming = surviving(&earlier.matches.incoming_mark, incoming);
        let mut now = vec![GONE; earlier.matches.incoming_mark.len()];
        for (row, before) in (0..).zip(&incoming).filter(|(_, before)| **before != GONE) {
            now[*before as usize] = row;
        }
        Self { earlier, incoming, now, outgoing: surviving(&earlier.matches.outgoing_mark, outgoing) }
    }

    /// Returns the matches of a question.
    pub(super) fn kept(&self, question: OutgoingOrdinal) -> Vec<Scored> {
        let matches = &self.earlier.matches;
        let own = matches.outgoing_matched.of(OutgoingOrdinal(self.outgoing[question.index()]));
        let now = |place| (IncomingOrdinal(self.now[matches.matched_incoming[place].index()]), place);
        own.map(now).map(|(incoming, place)| (incoming, matches.matched_similarity[place])).collect()
    }
}

/// Returns the place among `before` of each of `now`, or [`GONE`]. Places ascend: a moved question counts as another,
/// so that equally good candidates keep their order.
fn surviving(before: &[u64], now: &[u64]) -> Vec<u32> {
    let head = before.iter().zip(now).take_while(|(a, b)| a == b).count();
    let (rest_before, rest_now) = (&before[head..], &now[head..]);
    let tail = rest_before.iter().rev().zip(rest_now.iter().rev()).take_while(|(a, b)| a == b).count();
    let middle = &rest_before[..rest_before.len() - tail];
    let mut places: FxHashMap<u64, u32> = FxHashMap::default();
    for (place, mark) in (head as u32..).zip(middle) {
        // Of two indistinguishable ones, neither is recognized.
        places.entry(*mark).and_modify(|it| *it = GONE).or_insert(place);
    }
    let mut least = head as u32;
    let mut found: Vec<u32> = (0..head as u32).collect();
    for mark in &rest_now[..rest_now.len() - tail] {
        let place = places.get(mark).copied().filter(|place| *place != GONE && *place >= least);
        least = place.map_or(least, |place| place + 1);
        found.push(place.unwrap_or(GONE));
    }
    found.extend((before.len() - tail..before.len()).map(|it| it as u32));
    found
}

/// In-coming questions in cells.
pub(super) struct Placed {
    /// The rows whose vectors are the centers, and these vectors.
    pub(super) centers: Vec<u32>,
    pub(super) vectors: QuantizedVectors,
    /// The cell of each.
    pub(super) cells: Vec<u32>,
    /// Whether it is examined there: a limited number of each cell is.
    is_member: Vec<bool>,
    rows_max: usize,
    /// The centers added or removed.
    changed: QuantizedVectors,
    /// For each earlier center its place now, or [`GONE`].
    moved: Vec<u32>,
}

impl Placed {
    pub(super) fn of(
        incoming: &Questions<'_, IncomingOrdinal>,
        (fineness, rows_max): (Fineness, usize),
        earlier: Option<&Surviving<'_>>,
        cancellation: &Cancellation,
    ) -> Result<Self> {
        let centers = cells::centers(incoming.vector_marks, fineness.centers);
        let vectors = cells::rows(&incoming.vectors, &centers);
        let mut placed = Self {
            vectors,
            cells: vec![NO_CELL; incoming.passage.len()],
            is_member: Vec::new(),
            rows_max,
            changed: QuantizedVectors::new(incoming.vectors.dimension),
            moved: Vec::new(),
            centers,
        };
        if !placed.centers.is_empty() {
            let unknown: Vec<u32> = match earlier {
                Some(earlier) => placed.take_over(incoming, earlier, cancellation),
                None => (0..incoming.passage.len() as u32).collect(),
            };
            let found = cells::nearest(&incoming.vectors, &unknown, &Panels::of_all(&placed.vectors), cancellation)?;
            unknown.iter().zip(found).for_each(|(row, cell)| placed.cells[*row as usize] = cell);
        }
        placed.is_member = cells::members(&placed.cells, incoming.marks, rows_max);
        Ok(placed)
    }

    /// Keeps the cells of questions that still exist, unless a new center is nearer; returns the others.
    fn take_over(
        &mut self,
        incoming: &Questions<'_, IncomingOrdinal>,
        surviving: &Surviving<'_>,
        cancellation: &Cancellation,
    ) -> Vec<u32> {
        let Earlier { matches, incoming: before, .. } = surviving.earlier;
        let marks = incoming.vector_marks;
        let places: FxHashMap<u64, u32> = self.centers.iter().map(|row| marks[*row as usize]).zip(0..).collect();
        let place = |row: &IncomingOrdinal| places.get(&cells::hash(before, row.0)).copied().unwrap_or(GONE);
        self.moved = matches.center.iter().map(place).collect();
        for (row, _) in matches.center.iter().zip(&self.moved).filter(|it| *it.1 == GONE) {
            self.changed.push_row(before, row.0);
        }
        let mut is_known = vec![false; self.centers.len()];
        self.moved.iter().filter(|it| **it != GONE).for_each(|it| is_known[*it as usize] = true);
        let came: Vec<u32> = (0..).zip(&is_known).filter(|it| !it.1).map(|it| it.0).collect();
        let new = cells::rows(&self.vectors.view(), &came);
        (0..new.len() as u32).for_each(|row| self.changed.push_row(&new.view(), row));

        let nearest = |sums: &mut Vec<i32>, (row, before): (u32, &u32)| {
            let kept = self.moved_cell(matches, *before)?;
            if came.is_empty() || cancellation.is_cancelled() {
                return Some(kept);
            }
            let codes = incoming.vectors.codes(row);
            let product = |sum: i32, center: u32| sum as f32 * self.vectors.scales[center as usize];
            let mut best = (kept, product(dot(self.vectors.view().codes(kept), codes), kept));
            dots(&new.codes, codes, sums);
            for (sum, center) in sums.iter().zip(&came) {
                let found = (*center, product(*sum, *center));
                if top::best_first(&found, &best).is_lt() {
                    best = found;
                }
            }
            Some(best.0)
        };
        let rows = (0..incoming.passage.len() as u32).into_par_iter().zip(&surviving.incoming);
        let known: Vec<Option<u32>> = rows.map_init(Vec::new, nearest).collect();
        self.cells = known.iter().map(|cell| cell.unwrap_or(NO_CELL)).collect();
        (0..).zip(&known).filter(|it| it.1.is_none()).map(|it| it.0).collect()
    }

    /// Returns the place that the center of a question of an earlier matching has now, if both are still there.
    fn moved_cell(&self, matches: &Matches<'_>, before: u32) -> Option<u32> {
        let cell = *matches.incoming_cell.get(before as usize)?;
        self.moved.get(cell as usize).copied().filter(|cell| *cell != GONE)
    }

    /// Puts the cells that an earlier matching looked into for a question, by the centers that there are now, if all of
    /// them are still there; returns whether they are.
    pub(super) fn put_cells(&self, surviving: &Surviving<'_>, question: usize, cells: &mut [u16]) -> bool {
        let before = surviving.outgoing[question] as usize;
        let all = surviving.earlier.matches.outgoing_cells.items();
        let own = all.get(before.saturating_mul(cells.len())..).and_then(|it| it.get(..cells.len()));
        let now = |cell: &u16| self.moved.get(usize::from(*cell)).and_then(|it| u16::try_from(*it).ok());
        let put = |(cell, before): (&mut u16, &u16)| now(before).map(|now| *cell = now);
        own.is_some_and(|own| cells.iter_mut().zip(own).all(|it| put(it).is_some()))
    }

    /// Returns whether an in-coming question is examined by a search of this reach.
    pub(super) fn is_within(
        &self,
        incoming: IncomingOrdinal,
        (vectors, question): (&Vectors<'_>, u32),
        reach: f32,
    ) -> bool {
        let cell = self.cells[incoming.index()];
        self.is_member[incoming.index()] && vectors.cosine(question, &self.vectors.view(), cell) >= reach
    }

    /// Returns the rows that are examined, each with its cell.
    pub(super) fn members(&self) -> Vec<(u32, u32)> {
        let members = (0..).zip(&self.cells).zip(&self.is_member).filter(|it| *it.1);
        members.map(|((row, cell), _)| (row, *cell)).collect()
    }
}

/// The work after a change.
pub(super) struct Difference {
    /// Questions to compare with all candidates, ascending.
    pub(super) anew: Vec<OutgoingOrdinal>,
    /// Questions that keep their matches, unless one of `added` is better, ascending.
    pub(super) kept: Vec<OutgoingOrdinal>,
    /// Questions of which a match is examined elsewhere, or that look into other cells than before, ascending.
    pub(super) shifted: Vec<OutgoingOrdinal>,
    /// The reach of the kept ones, and the earlier reach of the shifted ones; unspecified for the others.
    pub(super) reach: Vec<f32>,
    pub(super) added: Added,
}

/// What a change does to a question: a kept one has the reach that it has now, a shifted one that of before.
#[derive(Clone, Copy)]
enum Effect {
    Anew,
    Kept(f32),
    Shifted(f32),
}

/// In-coming questions that may be new candidates.
#[derive(Default)]
pub(super) struct Added {
    /// Those that are examined in another cell than before, each with that cell.
    pub(super) members: Vec<(u32, u32)>,
    /// Those that are new, ascending.
    pub(super) questions: Vec<IncomingOrdinal>,
}

impl Difference {
    pub(super) fn of(
        outgoing: &Questions<'_, OutgoingOrdinal>,
        incoming: &Questions<'_, IncomingOrdinal>,
        (placed, frequent, fineness): (&Placed, &[KeywordOrdinal], Fineness),
        surviving: Option<&Surviving<'_>>,
        cancellation: &Cancellation,
    ) -> Result<Self> {
        let all = || outgoing.passage.ordinals();
        let reach = vec![f32::NEG_INFINITY; all().len()];
        let Some(surviving) = surviving else {
            let (kept, shifted) = (Vec::new(), Vec::new());
            return Ok(Self { anew: all().collect(), kept, shifted, reach, added: Added::default() });
        };
        let matches = &surviving.earlier.matches;
        // The old and new cell of an in-coming question: searches of these cells found it or find it.
        let was_member = cells::members(&matches.incoming_cell, &matches.incoming_mark, placed.rows_max);
        let is_where_it_was = |row: u32, before: u32| {
            let cell = Some(placed.cells[row as usize]).filter(|cell| *cell != NO_CELL);
            placed.moved_cell(matches, before) == cell && placed.is_member[row as usize] == was_member[before as usize]
        };
        let stays = |(row, before): (u32, &u32)| *before != GONE && is_where_it_was(row, *before);
        let stays: Vec<bool> = (0..).zip(&surviving.incoming).map(stays).collect();
        let is_new = |question: &IncomingOrdinal| surviving.incoming[question.index()] == GONE;
        let added = Added {
            members: placed.members().into_iter().filter(|(row, _)| !stays[*row as usize]).collect(),
            questions: IncomingOrdinal::first(stays.len()).filter(is_new).collect(),
        };
        let looks_at_all = fineness.reaches_all(placed.centers.len());
        let toggled = toggled(&surviving.earlier.frequent, frequent);
        let effect = |cosines: &mut Vec<f32>, question: OutgoingOrdinal| {
            let before = surviving.outgoing[question.index()];
            if before == GONE || cancellation.is_cancelled() {
                return Effect::Anew;
            }
            let reach = matches.outgoing_reach[OutgoingOrdinal(before)];
            let own = matches.outgoing_matched.of(OutgoingOrdinal(before));
            let mut own = own.map(|place| surviving.now[matches.matched_incoming[place].index()]);
            // The file of the last version may be forged: no question is matched inside its own passage.
            let is_elsewhere = |now| incoming.passage[IncomingOrdinal(now)] != outgoing.passage[question];
            let has_all = own.clone().all(|now| now != GONE && is_elsewhere(now));
            if !has_all || outgoing.keywords_of(question).iter().any(|it| toggled.binary_search(it).is_ok()) {
                return Effect::Anew;
            }
            placed.changed.put_cosines((&outgoing.vectors, question.0), cosines);
            if own.any(|now| !stays[now as usize]) || cosines.iter().any(|cosine| *cosine >= reach) {
                return Effect::Shifted(reach);
            }
            Effect::Kept(if looks_at_all && reach.is_finite() { f32::NEG_INFINITY } else { reach })
        };
        let all = 0..all().len() as u32;
        let effects = all.into_par_iter().map_init(Vec::new, |cosines, it| effect(cosines, OutgoingOrdinal(it)));
        let effects: Vec<Effect> = effects.collect();
        cancellation.check()?;
        let mut difference = Self { anew: Vec::new(), kept: Vec::new(), shifted: Vec::new(), reach, added };
        for (question, effect) in outgoing.passage.ordinals().zip(effects) {
            let (questions, reach) = match effect {
                Effect::Anew => (&mut difference.anew, f32::NEG_INFINITY),
                Effect::Kept(reach) => (&mut difference.kept, reach),
                Effect::Shifted(reach) => (&mut difference.shifted, reach),
            };
            questions.push(question);
            difference.reach[question.index()] = reach;
        }
        Ok(difference)
    }
}

/// Returns the union of two ascending lists, ascending.
fn toggled(before: &[KeywordOrdinal], now: &[KeywordOrdinal]) -> Vec<KeywordOrdinal> {
    let gone = before.iter().filter(|it| now.binary_search(it).is_err());
    let came = now.iter().filter(|it| before.binary_search(it).is_err());
    let mut toggled: Vec<KeywordOrdinal> = gone.chain(came).copied().collect();
    toggled.sort_unstable();
    toggled
}
