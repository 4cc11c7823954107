//! Vectors in 8 bits, and their cosines.

use std::ops::Range;

use rayon::prelude::*;

use super::scan::{dot, dots};

/// Rows that one thread compares at a time.
const ROWS_PER_TASK: usize = 4_096;

/// In [`Vectors::rows`]: this item has no vector here.
pub const NO_ROW: u32 = u32::MAX;

/// Rows of unit vectors in 8 bits: value = `scales[row]` · `codes[row · dimension + i]`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Vectors<'a> {
    /// Values per vector; 0 without an embedder.
    pub dimension: usize,
    /// One scale a row.
    pub scales: &'a [f32],
    /// `dimension` codes a row.
    pub codes: &'a [i8],
    /// The row of each item, or [`NO_ROW`], where only some items have one; else item `i` has row `i`.
    pub rows: Option<&'a [u32]>,
}

/// Rows of unit vectors in 8 bits, owned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QuantizedVectors {
    /// Values a vector.
    pub dimension: usize,
    /// One scale a row.
    pub scales: Vec<f32>,
    /// `dimension` codes a row.
    pub codes: Vec<i8>,
}

impl QuantizedVectors {
    /// Returns an empty list of vectors of `dimension` values.
    #[must_use]
    pub const fn new(dimension: usize) -> Self {
        Self { dimension, scales: Vec::new(), codes: Vec::new() }
    }

    /// Returns an empty list of vectors of `dimension` values, with room for so many.
    #[must_use]
    pub fn with_capacity(dimension: usize, rows: usize) -> Self {
        Self { dimension, scales: Vec::with_capacity(rows), codes: Vec::with_capacity(rows * dimension) }
    }

    /// Appends a vector: its scale is its largest magnitude over 127, so that each value is off by at most half of
    /// that.
    pub fn push(&mut self, values: &[f32]) {
        let largest = values.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
        let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        self.scales.push(scale);
        self.codes.extend(values.iter().map(|value| rounded(value / scale)));
    }

    /// Appends a row as it is kept: a scale in four bytes, the least first, and `dimension` codes.
    pub fn push_bytes(&mut self, row: &[u8]) {
        let (scale, codes) = row.split_at(size_of::<f32>());
        let mut bytes = [0; size_of::<f32>()];
        bytes.copy_from_slice(scale);
        self.scales.push(f32::from_le_bytes(bytes));
        self.codes.extend(codes.iter().map(|code| code.cast_signed()));
    }

    /// Appends a row of other vectors of the same dimension, as it is.
    pub fn push_row(&mut self, other: &Vectors<'_>, row: u32) {
        self.scales.push(other.scales[row as usize]);
        self.codes.extend_from_slice(other.codes(row));
    }

    /// Returns the values of a row; none without an embedder.
    #[must_use]
    pub fn values(&self, row: u32) -> Vec<f32> {
        let view = self.view();
        if view.is_empty() {
            return Vec::new();
        }
        view.codes(row).iter().map(|code| f32::from(*code) * self.scales[row as usize]).collect()
    }

    /// Returns how many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Returns whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scales.is_empty()
    }

    /// Returns the vectors as a reader sees them.
    #[must_use]
    pub fn view(&self) -> Vectors<'_> {
        Vectors { dimension: self.dimension, scales: &self.scales, codes: &self.codes, rows: None }
    }
}

/// Rounds a number, halves away from zero. Adding a half is exact in 64 bits; `f32::round` is a call for each value
/// where a program runs on every processor.
fn rounded(value: f32) -> i8 {
    (f64::from(value) + 0.5_f64.copysign(f64::from(value))) as i8
}

impl<'a> Vectors<'a> {
    /// Returns how many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.map_or(self.scales.len(), <[u32]>::len)
    }

    /// Returns whether there is nothing to compare.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0 || self.dimension == 0
    }

    /// Returns the row of an item; none if it has no vector here.
    fn row(&self, item: u32) -> Option<u32> {
        self.rows.map_or(Some(item), |rows| Some(rows[item as usize]).filter(|row| *row != NO_ROW))
    }

    /// Returns the codes of one row.
    #[must_use]
    pub fn codes(&self, row: u32) -> &'a [i8] {
        let start = row as usize * self.dimension;
        &self.codes[start..start + self.dimension]
    }

    /// Returns the cosine of an item of these and one of `other`, of the same dimension; 0 without an embedder, and if
    /// one has no vector here.
    #[must_use]
    pub fn cosine(&self, item: u32, other: &Vectors<'_>, other_item: u32) -> f32 {
        if self.dimension == 0 {
            return 0.0;
        }
        let (Some(row), Some(other_row)) = (self.row(item), other.row(other_item)) else { return 0.0 };
        let product = dot(self.codes(row), other.codes(other_row)) as f32;
        product * self.scales[row as usize] * other.scales[other_row as usize]
    }

    /// Puts the cosines of one row of these and `rows` of `other`, of the same dimension, into `cosines`.
    pub fn each_cosine(&self, row: u32, other: &Vectors<'_>, rows: Range<usize>, cosines: &mut Vec<f32>) {
        cosines.clear();
        if self.dimension == 0 {
            return;
        }
        let mut sums = Vec::new();
        let codes = &other.codes[rows.start * self.dimension..rows.end * self.dimension];
        dots(codes, self.codes(row), &mut sums);
        let scale = self.scales[row as usize];
        cosines.extend(sums.iter().zip(&other.scales[rows]).map(|(sum, other)| *sum as f32 * scale * other));
    }

    /// Returns the cosine of every item with row 0 of `query`, 0 if it has no vector here; empty without an embedder.
    #[must_use]
    pub fn cosines(&self, query: &Vectors<'_>) -> Vec<f32> {
        if self.is_empty() || query.is_empty() {
            return Vec::new();
        }
        let (codes, scale) = (query.codes(0), query.scales[0]);
        let mut cosines = vec![0.0; self.scales.len()];
        let rows = cosines.par_chunks_mut(ROWS_PER_TASK).zip(self.scales.par_chunks(ROWS_PER_TASK));
        let rows = rows.zip(self.codes.par_chunks(ROWS_PER_TASK * self.dimension));
        rows.for_each_init(Vec::new, |sums, ((cosines, scales), rows)| {
            dots(rows, codes, sums);
            for ((cosine, sum), row) in cosines.iter_mut().zip(sums).zip(scales) {
                *cosine = *sum as f32 * row * scale;
            }
        });
        let Some(items) = self.rows else { return cosines };
        items.iter().map(|row| cosines.get(*row as usize).copied().unwrap_or(0.0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_as_the_standard_library_rounds_them() {
        let halves = (-256_i16..=256).map(|it| f32::from(it) / 2.0);
        let near = halves.flat_map(|it| [it, it.next_up(), it.next_down()]).chain([f32::NAN, 0.499_999_97, -0.0]);
        for value in near.chain((0..9_999).map(|it| (it as f32).sin() * 127.0)) {
            assert_eq!(rounded(value), value.round() as i8, "{value}");
        }
    }

    #[test]
    fn an_item_without_a_vector_is_close_to_nothing() {
        let mut vectors = QuantizedVectors::new(2);
        vectors.push(&[0.6, 0.8]);
        let (dense, rows) = (vectors.view(), [NO_ROW, 0]);
        let some = Vectors { rows: Some(&rows), ..dense };
        assert_eq!(some.len(), 2);
        assert_eq!(some.cosines(&dense), [0.0, dense.cosines(&dense)[0]]);
        assert_eq!(some.cosine(0, &dense, 0).to_bits(), 0);
        assert_eq!(some.cosine(1, &dense, 0).to_bits(), dense.cosine(0, &dense, 0).to_bits());
        let none = [NO_ROW; 3];
        let nothing = Vectors { dimension: 2, rows: Some(&none), ..Vectors::default() };
        assert_eq!(nothing.cosines(&dense), [0.0; 3]);
    }

    #[test]
    fn a_cosine_in_eight_bits_is_close_to_the_exact_one() {
        let mut vectors = QuantizedVectors::new(3);
        vectors.push(&[0.6, 0.8, 0.0]);
        vectors.push(&[0.0, 0.6, -0.8]);
        vectors.push(&[0.0, 0.0, 0.0]);
        let view = vectors.view();
        assert!((view.cosine(0, &view, 1) - 0.48).abs() < 0.01);
        assert!(view.cosine(0, &view, 2).abs() < f32::EPSILON);
        assert!((view.cosines(&view)[0] - 1.0).abs() < 0.01);
    }
}
