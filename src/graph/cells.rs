//! Near neighbors of vectors by cells: each row lies in the cell of its nearest center, and a search looks into the
//! cells whose centers are nearest until it has seen as many rows as it was told to.
//!
//! √n cells of n rows, around rows taken at even steps and moved to the middle of their cells once. No chance is
//! involved: equal vectors give equal cells.

use std::ops::Range;

use rayon::prelude::*;

use super::scan::dots;
use super::top;
use super::vectors::{QuantizedVectors, Vectors};
use crate::domain::Cancellation;
use crate::error::Result;

/// Cells that are put in order before all are: a search seldom looks into more.
const CELLS_RANKED_FIRST: usize = 32;
/// Rows of a cell at most. Where more lie around one center, as equal ones do, they take turns in cells of their own,
/// so that no search is bound to look at all of them.
const CELL_ROWS_MAX: usize = 16_384;
/// Rows that one thread finds the nearest cells of at a time.
const ROWS_PER_TASK: usize = 64;

/// Rows in cells.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cells {
    centers: QuantizedVectors,
    /// Members of cell `c`: rows of `members`.
    starts: Vec<u32>,
    /// Rows, ascending in each cell.
    members: Vec<u32>,
    /// Their vectors, in the same order, so that a cell is read from one place.
    vectors: QuantizedVectors,
}

impl Cells {
    /// Sorts all rows of `vectors` into cells.
    ///
    /// Complexity: 2 · n · √n products of vectors.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`](crate::Error::Cancelled) once a stop was asked for.
    pub(crate) fn of(vectors: &Vectors<'_>, cancellation: &Cancellation) -> Result<Self> {
        Self::with_rows_max(vectors, CELL_ROWS_MAX, cancellation)
    }

    fn with_rows_max(vectors: &Vectors<'_>, rows_max: usize, cancellation: &Cancellation) -> Result<Self> {
        if vectors.is_empty() {
            return Ok(Self::default());
        }
        let count = vectors.len().isqrt();
        let mut centers = QuantizedVectors::new(vectors.dimension);
        for center in 0..count {
            centers.push_row(vectors, (center * vectors.len() / count) as u32);
        }
        let centers = means(vectors, &nearest(vectors, &centers, cancellation)?, &centers);
        let nearest = nearest(vectors, &centers, cancellation)?;
        let mut members: Vec<u32> = (0..vectors.len() as u32).collect();
        members.sort_by_key(|row| nearest[*row as usize]);
        let (mut starts, mut center_of) = (vec![0], Vec::new());
        for around in members.chunk_by(|a, b| nearest[*a as usize] == nearest[*b as usize]) {
            for rows in around.chunks(rows_max) {
                starts.push(starts.last().copied().unwrap_or_default() + rows.len() as u32);
                center_of.push(nearest[rows[0] as usize]);
            }
        }
        Ok(Self { centers: rows(&centers.view(), &center_of), vectors: rows(vectors, &members), starts, members })
    }

    /// Returns the cell whose center is nearest to each row of `query`; the first where there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`](crate::Error::Cancelled) once a stop was asked for.
    pub(crate) fn nearest(&self, query: &Vectors<'_>, cancellation: &Cancellation) -> Result<Vec<u32>> {
        nearest(query, &self.centers, cancellation)
    }

    /// Appends to `cells` those that are nearest to row `row` of `query`, nearest first, until they hold `wanted` rows.
    pub(crate) fn near(&self, query: &Vectors<'_>, row: u32, wanted: usize, cells: &mut Vec<u32>) {
        let centers = self.centers.view();
        let mut cosines = Vec::new();
        query.each_cosine(row, &centers, 0..centers.len(), &mut cosines);
        let (mut taken, mut seen, mut ranked) = (0, 0, CELLS_RANKED_FIRST);
        while taken < cosines.len() && seen < wanted {
            for (cell, _) in top::best_of(&cosines, ranked).into_iter().skip(taken) {
                if seen >= wanted {
                    break;
                }
                seen += self.rows(cell).len();
                cells.push(cell);
            }
            taken = ranked;
            ranked = cosines.len();
        }
    }

    /// Returns the rows, cell by cell: what places stand for.
    #[must_use]
    pub(crate) fn members(&self) -> &[u32] {
        &self.members
    }

    /// Calls `visit` with the place of every row of a cell among [`Self::members`] and its cosine with row `row` of
    /// `query`; `cosines` is room to work in.
    pub(crate) fn visit(
        &self,
        cell: u32,
        query: &Vectors<'_>,
        row: u32,
        cosines: &mut Vec<f32>,
        mut visit: impl FnMut(usize, f32),
    ) {
        let rows = self.rows(cell);
        query.each_cosine(row, &self.vectors.view(), rows.clone(), cosines);
        for (place, cosine) in rows.zip(cosines) {
            visit(place, *cosine);
        }
    }

    fn rows(&self, cell: u32) -> Range<usize> {
        self.starts[cell as usize] as usize..self.starts[cell as usize + 1] as usize
    }
}

/// Returns these rows of `vectors`, in this order.
fn rows(vectors: &Vectors<'_>, rows: &[u32]) -> QuantizedVectors {
    let mut picked = QuantizedVectors::new(vectors.dimension);
    for row in rows {
        picked.push_row(vectors, *row);
    }
    picked
}

/// Returns the nearest center of each row; of equal ones the first.
fn nearest(vectors: &Vectors<'_>, centers: &QuantizedVectors, cancellation: &Cancellation) -> Result<Vec<u32>> {
    let centers = centers.view();
    let nearest = |sums: &mut Vec<i32>, row: u32| {
        if cancellation.is_cancelled() {
            return 0;
        }
        dots(centers.codes, vectors.codes(row), sums);
        let mut best = (f32::NEG_INFINITY, 0);
        for ((sum, scale), center) in sums.iter().zip(centers.scales).zip(0..) {
            let product = *sum as f32 * scale;
            if product > best.0 {
                best = (product, center);
            }
        }
        best.1
    };
    let rows = (0..vectors.len() as u32).into_par_iter().with_min_len(ROWS_PER_TASK);
    let found = rows.map_init(Vec::new, nearest).collect();
    cancellation.check()?;
    Ok(found)
}

/// Returns the mean of the rows of each cell, at unit length; the old center where that is nothing.
fn means(vectors: &Vectors<'_>, cell_of: &[u32], centers: &QuantizedVectors) -> QuantizedVectors {
    let dimension = vectors.dimension;
    let mut sums = vec![0.0f32; centers.len() * dimension];
    for (row, cell) in (0u32..).zip(cell_of) {
        let sum = &mut sums[*cell as usize * dimension..(*cell as usize + 1) * dimension];
        let scale = vectors.scales[row as usize];
        sum.iter_mut().zip(vectors.codes(row)).for_each(|(sum, code)| *sum += scale * f32::from(*code));
    }
    let mut means = QuantizedVectors::new(dimension);
    for (cell, sum) in (0u32..).zip(sums.chunks_exact_mut(dimension)) {
        let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
        if length > 0.0 {
            for value in sum.iter_mut() {
                *value /= length;
            }
            means.push(sum);
        } else {
            means.push_row(&centers.view(), cell);
        }
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(count: usize) -> QuantizedVectors {
        let mut vectors = QuantizedVectors::new(2);
        for i in 0..count {
            let angle = i as f32 * std::f32::consts::TAU / count as f32;
            vectors.push(&[angle.cos(), angle.sin()]);
        }
        vectors
    }

    fn near(cells: &Cells, vectors: &QuantizedVectors, row: u32, wanted: usize) -> Vec<u32> {
        let (mut rows, mut near, mut cosines) = (Vec::new(), Vec::new(), Vec::new());
        cells.near(&vectors.view(), row, wanted, &mut near);
        for cell in near {
            cells.visit(cell, &vectors.view(), row, &mut cosines, |place, _| rows.push(cells.members()[place]));
        }
        rows.sort_unstable();
        rows
    }

    #[test]
    fn the_nearest_row_is_seen_without_looking_at_all() {
        let vectors = circle(400);
        let cells = Cells::of(&vectors.view(), &Cancellation::default()).unwrap();
        for row in [0, 77, 399] {
            let rows = near(&cells, &vectors, row, 60);
            assert!(rows.contains(&row) && rows.contains(&((row + 1) % 400)), "{row}: {rows:?}");
            assert!(rows.len() < 200, "{}", rows.len());
        }
    }

    #[test]
    fn every_row_is_seen_once_where_all_are_wanted() {
        let vectors = circle(401);
        let cells = Cells::of(&vectors.view(), &Cancellation::default()).unwrap();
        assert_eq!(near(&cells, &vectors, 3, usize::MAX), (0..401).collect::<Vec<_>>());
    }

    #[test]
    fn equal_vectors_lie_in_cells_of_bounded_size_and_others_where_they_lay() {
        let mut vectors = circle(40);
        (0..100).for_each(|_| vectors.push(&[1.0, 0.0]));
        let cells_of = |rows_max| Cells::with_rows_max(&vectors.view(), rows_max, &Cancellation::default()).unwrap();
        let (bounded, unbounded) = (cells_of(16), cells_of(1_000));
        assert_eq!(bounded.members(), unbounded.members());
        assert!(bounded.starts.windows(2).all(|it| it[1] > it[0] && it[1] - it[0] <= 16), "{:?}", bounded.starts);
        assert!(unbounded.starts.windows(2).any(|it| it[1] - it[0] > 100), "{:?}", unbounded.starts);
        let rows = near(&bounded, &vectors, 139, 20);
        assert!(rows.len() <= 32, "{}", rows.len());
        assert_eq!(near(&bounded, &vectors, 20, 3), near(&unbounded, &vectors, 20, 3));
        assert_eq!(near(&bounded, &vectors, 139, usize::MAX), (0..140).collect::<Vec<_>>());
    }

    #[test]
    fn equal_vectors_and_no_vectors_are_no_trouble() {
        let mut same = QuantizedVectors::new(2);
        (0..100).for_each(|_| same.push(&[0.0, 0.0]));
        assert_eq!(near(&Cells::of(&same.view(), &Cancellation::default()).unwrap(), &same, 0, 5).len(), 100);
        assert!(near(&Cells::of(&Vectors::default(), &Cancellation::default()).unwrap(), &same, 0, 5).is_empty());
    }
}
