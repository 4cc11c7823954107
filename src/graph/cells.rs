//! Near neighbors of vectors by cells: each row is in the cell of its nearest center, and a search reads the cells with
//! the nearest centers.
//!
//! The centers are some 2√n of the n rows: those whose vectors have the smallest hashes. This sample depends only on
//! the vectors, and adding or removing rows seldom changes it. How many cells a search reads depends on n alone, in
//! steps. Nothing is random: equal vectors give equal cells.

use std::ops::Range;

use rayon::prelude::*;

use super::panels::{CosineRoom, Panels};
use super::scan::{first_at_least, maxima, put_scaled};
use super::vectors::{QuantizedVectors, Vectors};
use crate::domain::Cancellation;
use crate::error::Result;

/// In lists of cells: a row without a cell.
pub(crate) const NO_CELL: u32 = u32::MAX;
/// Centers for each of √n. More find better neighbors among as many rows, and take longer to compare with.
const CENTERS_PER_ROOT: usize = 2;
/// Rows that one thread finds the nearest centers of at a time.
const ROWS_PER_TASK: usize = 64;
/// Rows of a query from which on the members of a cell are copied, to be compared with all of them.
const CELL_COPIED_MIN: usize = 8;
/// Bits of the number of rows that say how many centers there are: so that it changes in steps of 14 to 25 %.
const SIGNIFICANT_BITS: u32 = 3;

/// How many centers there are, and how many cells a search looks into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fineness {
    pub(crate) centers: usize,
    pub(crate) probes: usize,
}

impl Fineness {
    /// Returns the fineness for `rows` rows if a search is to examine at least `wanted` of them.
    pub(crate) fn of(rows: usize, wanted: usize) -> Self {
        let insignificant = rows.checked_ilog2().unwrap_or(0).saturating_sub(SIGNIFICANT_BITS - 1);
        let rows = rows >> insignificant << insignificant;
        let centers = (CENTERS_PER_ROOT * rows.isqrt()).min(rows);
        let probes = wanted.saturating_mul(centers).div_ceil(rows.max(1)).min(centers);
        Self { centers, probes }
    }

    /// Returns whether a search looks into all of so many cells.
    pub(crate) fn reaches_all(self, centers: usize) -> bool {
        centers <= self.probes
    }
}

/// Which cells searches look into, by the places of the centers, as far as that is known.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    /// Cells of each search; 0 if none is known.
    width: usize,
    cells: Vec<u16>,
}

/// In place of the cells of a search of which they are not known.
const UNKNOWN: u16 = u16::MAX;

impl Looked {
    /// Returns the cells of so many searches of this fineness, each as `put` writes it, which returns whether it did.
    /// Nothing is known of searches that look into all of the cells.
    pub(crate) fn of(
        searches: usize,
        centers: usize,
        fineness: Fineness,
        put: impl Fn(usize, &mut [u16]) -> bool + Sync,
    ) -> Self {
        let is_some = !fineness.reaches_all(centers) && centers < usize::from(UNKNOWN);
        let width = if is_some { fineness.probes } else { 0 };
        let mut cells = vec![0; searches * width];
        if width > 0 {
            let put = |(search, own): (usize, &mut [u16])| {
                if !put(search, own) {
                    own.fill(UNKNOWN);
                }
            };
            cells.par_chunks_mut(width).enumerate().for_each(put);
        }
        Self { width, cells }
    }

    /// Returns whether nothing is known of any search.
    pub(crate) fn is_empty(&self) -> bool {
        self.width == 0
    }

    /// Returns the cells of a search, if they are known.
    pub(crate) fn find(&self, search: usize) -> Option<&[u16]> {
        let own = self.cells.get(search * self.width..)?.get(..self.width)?;
        own.first().filter(|first| **first != UNKNOWN).map(|_| own)
    }

    /// Puts the cells of a search.
    pub(crate) fn put(&mut self, search: usize, cells: &[u16]) {
        let own = &mut self.cells[search * self.width..][..self.width];
        // Equally near ones may be more.
        if cells.len() == own.len() { own.copy_from_slice(cells) } else { own.fill(UNKNOWN) }
    }

    /// Returns the cells of all searches, one after the other.
    pub(crate) fn into_cells(self) -> Vec<u16> {
        self.cells
    }
}

/// Returns 64 bits that say what vector a row has.
pub(crate) fn hash(vectors: &Vectors<'_>, row: u32) -> u64 {
    let (eights, rest) = vectors.codes(row).as_chunks::<8>();
    let mixed = |hash: u64, word: u64| {
        let product = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        product ^ (product >> 29)
    };
    let word = |codes: &[i8; 8]| u64::from_le_bytes(codes.map(i8::cast_unsigned));
    let start = mixed(0x2545_f491_4f6c_dd1d, vectors.scale(row).to_bits().into());
    let hash = eights.iter().fold(start, |hash, codes| mixed(hash, word(codes)));
    rest.iter().fold(hash, |hash, code| mixed(hash, code.cast_unsigned().into()))
}

/// Returns the rows whose vectors are the centers, at most `count`, in the order of their `hashes`; the first row of
/// those with one vector.
pub(crate) fn centers(hashes: &[u64], count: usize) -> Vec<u32> {
    let mut rows: Vec<(u64, u32)> = hashes.iter().copied().zip(0..).collect();
    rows.sort_unstable();
    rows.dedup_by_key(|it| it.0);
    rows.truncate(count);
    rows.into_iter().map(|it| it.1).collect()
}

/// Returns the center that is nearest to each of `rows`; of equally near ones the first.
///
/// # Errors
///
/// [`Error::Cancelled`](crate::Error::Cancelled) once a stop was requested.
pub(crate) fn nearest(
    vectors: &Vectors<'_>,
    rows: &[u32],
    centers: &Panels,
    cancellation: &Cancellation,
) -> Result<Vec<u32>> {
    let nearest = |(sums, products): &mut (Vec<i32>, Vec<f32>), rows: &[u32]| {
        let mut found = Vec::with_capacity(rows.len());
        if !cancellation.is_cancelled() {
            centers.each_product((vectors, rows), 0..centers.len(), sums, |_, sums| {
                put_scaled(sums, (1.0, centers.scales()), products);
                found.push(best(products));
            });
        }
        found
    };
    let found = rows.par_chunks(ROWS_PER_TASK).map_init(Default::default, nearest).flatten_iter().collect();
    cancellation.check()?;
    Ok(found)
}

/// Returns the place of the largest value, the first of several; 0 if none is a number.
fn best(values: &[f32]) -> u32 {
    place_of(values, &maxima(values))
}

/// Returns the place of the largest value, given the largest of each lane.
fn place_of(values: &[f32], maxima: &[f32]) -> u32 {
    let largest = maxima.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    first_at_least(values, largest).map_or(0, |place| place as u32)
}

/// Returns these rows of `vectors`, in this order.
pub(crate) fn rows(vectors: &Vectors<'_>, rows: &[u32]) -> QuantizedVectors {
    let mut picked = QuantizedVectors::new(vectors.dimension);
    for row in rows {
        picked.push_row(vectors, *row);
    }
    picked
}

/// A search for a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Search {
    /// The nearest center.
    pub(crate) nearest: u32,
    /// The cosine of the last center whose cell it looks into.
    pub(crate) reach: f32,
    /// The places of these centers, as far as 16 bits say them; none if it looks into all, or into none.
    pub(crate) cells: Vec<u16>,
}

/// Returns the search for each of `rows` of `query`. If it reads all cells, it reaches everything; a vector of zeros is
/// near nothing and reaches nothing.
pub(crate) fn searches(
    query: &Vectors<'_>,
    rows: &[u32],
    centers: &Panels,
    fineness: Fineness,
    room: &mut CosineRoom,
) -> Vec<Search> {
    let mut found = Vec::with_capacity(rows.len());
    let mut kept = Vec::new();
    centers.each_cosine((query, rows), 0..centers.len(), room, |place, cosines| {
        let (nearest, reach) = if query.codes(rows[place]).iter().all(|code| *code == 0) {
            (0, f32::INFINITY)
        } else if fineness.reaches_all(centers.len()) {
            (best(cosines), f32::NEG_INFINITY)
        } else {
            largest(cosines, fineness.probes, &mut kept)
        };
        let mut cells = Vec::new();
        if reach.is_finite() {
            each_at_least(cosines, reach, |cell| cells.extend(u16::try_from(cell)));
        }
        found.push(Search { nearest, reach, cells });
    });
    found
}

/// Returns the place of the largest value, the first of several, and the `count`-th largest; infinity if fewer values
/// are numbers.
fn largest(values: &[f32], count: usize, kept: &mut Vec<f32>) -> (u32, f32) {
    let mut maxima = maxima(values);
    let place = place_of(values, &maxima);
    let nth = |values: &mut [f32]| *values.select_nth_unstable_by(count - 1, |a, b| b.total_cmp(a)).1;
    kept.clear();
    if count <= maxima.len() {
        // At least `count` values, one in each of `count` lanes, reach this.
        let least = nth(&mut maxima);
        each_at_least(values, least, |place| kept.push(values[place]));
    } else {
        kept.extend(values.iter().filter(|value| !value.is_nan()));
    }
    (place, if kept.len() < count { f32::INFINITY } else { nth(kept) })
}

/// Calls `visit` with the place of each value that is not less than `least`, in order.
fn each_at_least(values: &[f32], least: f32, mut visit: impl FnMut(usize)) {
    let mut next = 0;
    while let Some(found) = first_at_least(&values[next..], least) {
        next += found + 1;
        visit(next - 1);
    }
}

/// Rows in cells.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cells<'a> {
    /// Of cells that have members.
    centers: Panels,
    /// The cell of each center, or [`NO_CELL`] if it has no members.
    places: Vec<u32>,
    /// Members of cell `c`: rows of `members`.
    starts: Vec<u32>,
    /// Rows, ascending in each cell.
    members: Vec<u32>,
    vectors: Vectors<'a>,
    /// The members' vectors, stored contiguously if cells are visited so often that copying them once pays.
    copied: Option<Panels>,
}

impl<'a> Cells<'a> {
    /// Sorts some rows of `vectors`, each with its cell, into cells around `centers`.
    pub(crate) fn of(
        vectors: Vectors<'a>,
        mut members: Vec<(u32, u32)>,
        centers: &QuantizedVectors,
        is_copied: bool,
    ) -> Self {
        members.sort_unstable_by_key(|(row, cell)| (*cell, *row));
        let mut cells = Self { vectors, ..Self::default() };
        let mut populated = Vec::new();
        cells.starts.push(0);
        for own in members.chunk_by(|a, b| a.1 == b.1) {
            populated.push(own[0].1);
            cells.members.extend(own.iter().map(|it| it.0));
            cells.starts.push(cells.members.len() as u32);
        }
        cells.places = vec![NO_CELL; centers.len()];
        (0..).zip(&populated).for_each(|(cell, center)| cells.places[*center as usize] = cell);
        cells.centers = Panels::of(&centers.view(), &populated);
        cells.copied = is_copied.then(|| Panels::of(&vectors, &cells.members));
        cells
    }

    /// Returns the rows, cell by cell, to which places refer.
    #[must_use]
    pub(crate) fn members(&self) -> &[u32] {
        &self.members
    }

    /// Appends to `visits` the cells that searches for `rows` of `query` look into, each with the place of the row:
    /// those whose centers have a cosine in `range`.
    pub(crate) fn within(
        &self,
        (query, rows): (&Vectors<'_>, &[u32]),
        range: impl Fn(usize) -> Range<f32>,
        room: &mut CosineRoom,
        visits: &mut Vec<(u32, usize)>,
    ) {
        self.centers.each_cosine((query, rows), 0..self.centers.len(), room, |place, cosines| {
            let range = range(place);
            each_at_least(cosines, range.start, |cell| {
                visits.extend(range.contains(&cosines[cell]).then_some((cell as u32, place)));
            });
        });
    }

    /// Returns the cell around a center, if it has members.
    pub(crate) fn around(&self, center: u16) -> Option<u32> {
        self.places.get(usize::from(center)).copied().filter(|cell| *cell != NO_CELL)
    }

    /// Calls `visit` for each of `rows` of `query` in turn: with its place among them, the places of the rows of a cell
    /// among [`Self::members`], and its cosine with each.
    pub(crate) fn visit(
        &self,
        cell: u32,
        (query, rows): (&Vectors<'_>, &[u32]),
        room: &mut CosineRoom,
        mut visit: impl FnMut(usize, Range<usize>, &[f32]),
    ) {
        let places = self.starts[cell as usize] as usize..self.starts[cell as usize + 1] as usize;
        let visit_all = |row, cosines: &[f32]| visit(row, places.clone(), cosines);
        if let Some(copied) = &self.copied {
            return copied.each_cosine((query, rows), places.clone(), room, visit_all);
        }
        if rows.len() >= CELL_COPIED_MIN {
            let copied = Panels::of(&self.vectors, &self.members[places.clone()]);
            return copied.each_cosine((query, rows), 0..copied.len(), room, visit_all);
        }
        let mut cosines = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            let members = self.members[places.clone()].iter();
            cosines.clear();
            cosines.extend(members.map(|member| query.cosine(*row, &self.vectors, *member)));
            visit(place, places.clone(), &cosines);
        }
    }
}

/// Returns which rows searches examine in their cells, given the cell of each and 64 bits that identify it: all, except
/// that in cells with more than `rows_max` rows only those with the smallest bits are examined.
pub(crate) fn members(cells: &[u32], names: &[u64], rows_max: usize) -> Vec<bool> {
    let count = cells.iter().filter(|cell| **cell != NO_CELL).max().map_or(0, |most| *most as usize + 1);
    let mut sizes = vec![0_usize; count];
    let mut is_member: Vec<bool> = cells.iter().map(|cell| *cell != NO_CELL).collect();
    cells.iter().filter(|cell| **cell != NO_CELL).for_each(|cell| sizes[*cell as usize] += 1);
    let is_full = |cell: u32| cell != NO_CELL && sizes[cell as usize] > rows_max;
    if sizes.iter().all(|size| *size <= rows_max) {
        return is_member;
    }
    let mut crowded: Vec<(u32, u64, usize)> = cells
        .iter()
        .zip(names)
        .enumerate()
        .filter(|(_, (cell, _))| is_full(**cell))
        .map(|(row, (cell, name))| (*cell, *name, row))
        .collect();
    crowded.sort_unstable();
    for own in crowded.chunk_by(|a, b| a.0 == b.0) {
        own.iter().skip(rows_max).for_each(|(_, _, row)| is_member[*row] = false);
    }
    is_member
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER: fn() -> Cancellation = Cancellation::default;

    fn circle(count: usize) -> QuantizedVectors {
        let mut vectors = QuantizedVectors::new(2);
        for i in 0..count {
            let angle = i as f32 * std::f32::consts::TAU / count as f32;
            vectors.push(&[angle.cos(), angle.sin()]);
        }
        vectors
    }

    /// Returns the rows that a search near a row looks at.
    fn looked_at(vectors: &QuantizedVectors, row: u32, wanted: usize, is_copied: bool) -> Vec<u32> {
        let view = vectors.view();
        let fineness = Fineness::of(view.len(), wanted);
        let hashes: Vec<u64> = (0..view.len() as u32).map(|row| hash(&view, row)).collect();
        let around = rows(&view, &centers(&hashes, fineness.centers));
        let all: Vec<u32> = (0..view.len() as u32).collect();
        let centers = Panels::of_all(&around);
        let places = nearest(&view, &all, &centers, &NEVER()).unwrap();
        let cells = Cells::of(view, all.into_iter().zip(places).collect(), &around, is_copied);
        let (mut near, mut found, mut room) = (Vec::new(), Vec::new(), CosineRoom::default());
        let Search { reach, .. } = searches(&view, &[row], &centers, fineness, &mut room).remove(0);
        cells.within((&view, &[row]), |_| reach..f32::INFINITY, &mut room, &mut near);
        for (cell, _) in near {
            cells.visit(cell, (&view, &[row]), &mut room, |_, places, cosines| {
                for (place, cosine) in places.zip(cosines) {
                    assert_eq!(cosine.to_bits(), view.cosine(row, &view, cells.members()[place]).to_bits());
                    found.push(cells.members()[place]);
                }
            });
        }
        found.sort_unstable();
        found
    }

    #[test]
    fn the_nearest_row_is_seen_without_looking_at_all() {
        let vectors = circle(400);
        for row in [0, 77, 399] {
            let seen = looked_at(&vectors, row, 60, true);
            assert!(seen.contains(&row), "{row}: {seen:?}");
            assert!(seen.len() < 200, "{}", seen.len());
            assert_eq!(seen, looked_at(&vectors, row, 60, false));
        }
    }

    #[test]
    fn the_cells_of_a_search_are_known_unless_it_looks_into_all_or_more_are_equally_near() {
        let fineness = Fineness { centers: 4, probes: 2 };
        let search = |centers: &[[f32; 2]]| {
            let mut vectors = QuantizedVectors::new(2);
            centers.iter().chain(&[[1.0, 0.0]]).for_each(|it| vectors.push(it));
            let (view, row) = (vectors.view(), centers.len() as u32);
            let around = Panels::of_all(&rows(&view, &(0..row).collect::<Vec<_>>()));
            searches(&view, &[row], &around, fineness, &mut CosineRoom::default()).remove(0)
        };
        let Search { nearest, cells, .. } = search(&[[0.0, 1.0], [1.0, 0.1], [-1.0, 0.0], [1.0, 0.5]]);
        assert_eq!((nearest, &cells[..]), (1, &[1, 3][..]));
        let equal = search(&[[0.0, 1.0], [1.0, 0.1], [0.6, 0.8], [0.6, 0.8]]).cells;
        assert_eq!(equal, [1, 2, 3]);
        assert!(search(&[[0.0, 1.0], [1.0, 0.1]]).cells.is_empty());
        let mut looked = Looked::of(3, 4, fineness, |search, own| {
            own.fill(7);
            search == 2
        });
        looked.put(1, &cells);
        assert_eq!([0, 1, 2].map(|it| looked.find(it)), [None, Some(&[1, 3][..]), Some(&[7, 7][..])]);
        looked.put(1, &equal);
        assert_eq!((looked.find(1), looked.find(3)), (None, None));
        let nothing = Looked::of(3, 2, fineness, |_, _| true);
        assert!(nothing.is_empty() && nothing.find(0).is_none());
        assert!(nothing.into_cells().is_empty());
    }

    #[test]
    fn every_row_is_seen_once_where_all_are_wanted() {
        let mut vectors = circle(401);
        assert_eq!(looked_at(&vectors, 3, usize::MAX, true), (0..401).collect::<Vec<_>>());
        (0..100).for_each(|_| vectors.push(&[0.0, 0.0]));
        assert_eq!(looked_at(&vectors, 3, usize::MAX, false), (0..501).collect::<Vec<_>>());
        assert!(looked_at(&vectors, 450, usize::MAX, false).is_empty(), "zeros are near nothing");
    }

    #[test]
    fn centers_are_the_same_whatever_lies_between_them_and_change_one_by_one() {
        let vectors = circle(300);
        let hashes: Vec<u64> = (0..300).map(|row| hash(&vectors.view(), row)).collect();
        let all = centers(&hashes, 16);
        let of = |rows: &[u32], hashes: &[u64]| rows.iter().map(|row| hashes[*row as usize]).collect::<Vec<_>>();
        let others: Vec<u64> = hashes.iter().copied().filter(|hash| *hash != hashes[all[3] as usize]).collect();
        let (before, after) = (of(&all, &hashes), of(&centers(&others, 16), &others));
        assert!(before.is_sorted());
        assert_eq!(after[..3], before[..3]);
        assert_eq!(after[3..15], before[4..]);
        // Equal vectors make one center.
        assert_eq!(centers(&[7, 7, 5, 7], 3), [2, 0]);
    }

    #[test]
    fn the_best_value_is_the_first_of_the_largest() {
        let plain = |values: &[f32]| {
            let mut best = (0, f32::NEG_INFINITY);
            for (place, value) in (0..).zip(values) {
                if *value > best.1 {
                    best = (place, *value);
                }
            }
            best.0
        };
        for count in [0, 1, 15, 63, 64, 65, 129, 200] {
            for step in [1, 3, 5, 7] {
                let values: Vec<f32> = (0..count).map(|i| ((i * step) % 11) as f32 - 5.0).collect();
                assert_eq!(best(&values), plain(&values), "{values:?}");
            }
        }
        assert_eq!(best(&[-0.0, 0.0, f32::NAN, 0.0]), 0);
        assert_eq!(best(&[f32::NAN, -2.0, -1.0, f32::NAN, -1.0]), 2);
        assert_eq!(best(&[f32::NAN; 20]), 0);
    }

    #[test]
    fn the_nth_largest_value_is_that_of_a_sorted_list() {
        let mut room = Vec::new();
        for (step, modulus) in [(7, 101), (5, 6), (100, 101), (0, 1)] {
            let values: Vec<f32> = (0..300).map(|i| ((i * step) % modulus) as f32 - 50.0).collect();
            let mut sorted = values.clone();
            sorted.sort_unstable_by(|a, b| b.total_cmp(a));
            for count in [1, 2, 12, 64, 65, 299, 300] {
                let place = values.iter().position(|value| *value >= sorted[0]).unwrap() as u32;
                let found = largest(&values, count, &mut room);
                assert_eq!(found, (place, sorted[count - 1]), "{step} {modulus} {count}");
            }
        }
        assert_eq!(largest(&[f32::NAN, 1.0, f32::NAN], 2, &mut room), (1, f32::INFINITY));
    }

    #[test]
    fn how_fine_cells_are_changes_in_steps() {
        assert_eq!(Fineness::of(0, 10), Fineness { centers: 0, probes: 0 });
        assert_eq!(Fineness::of(1_000, usize::MAX), Fineness { centers: 58, probes: 58 });
        assert_eq!(Fineness::of(896, 100), Fineness::of(1_023, 100));
        assert_ne!(Fineness::of(1_023, 100), Fineness::of(1_024, 100));
        for rows in [7_000, 30_000, 1_000_000] {
            let Fineness { centers, probes } = Fineness::of(rows, 6_144);
            assert!(probes * rows / centers >= 6_144, "{rows}");
        }
    }

    #[test]
    fn of_a_crowded_cell_so_many_are_looked_at_and_they_are_named() {
        let cells = [0, 0, 1, 0, NO_CELL, 1];
        assert_eq!(members(&cells, &[9, 3, 1, 5, 0, 2], 2), [false, true, true, true, false, true]);
        assert_eq!(members(&cells, &[9, 3, 1, 5, 0, 2], 3), [true, true, true, true, false, true]);
        assert!(members(&[], &[], 3).is_empty());
    }
}
