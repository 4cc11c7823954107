//! Vectors in 8 bits, and their cosines.

use std::ops::Range;

use rayon::prelude::*;

use super::scan::{dot, dots};

/// Rows that one thread compares at a time.
const ROWS_PER_TASK: usize = 4_096;

/// Rows of unit vectors in 8 bits: value = `scales[row]` · `codes[row · dimension + i]`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Vectors<'a> {
    /// Values a vector; 0 where there is no embedder.
    pub dimension: usize,
    /// One scale a row.
    pub scales: &'a [f32],
    /// `dimension` codes a row.
    pub codes: &'a [i8],
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

    /// Appends a vector: its scale is its largest magnitude over 127, so that each value is off by at most half of
    /// that.
    pub fn push(&mut self, values: &[f32]) {
        let largest = values.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
        let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        self.scales.push(scale);
        self.codes.extend(values.iter().map(|value| (value / scale).round() as i8));
    }

    /// Appends a row of other vectors of the same dimension, as it is.
    pub fn push_row(&mut self, other: &Vectors<'_>, row: u32) {
        self.scales.push(other.scales[row as usize]);
        self.codes.extend_from_slice(other.codes(row));
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
        Vectors { dimension: self.dimension, scales: &self.scales, codes: &self.codes }
    }
}

impl<'a> Vectors<'a> {
    /// Returns how many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Returns whether there is nothing to compare.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scales.is_empty() || self.dimension == 0
    }

    /// Returns the codes of one row.
    #[must_use]
    pub fn codes(&self, row: u32) -> &'a [i8] {
        let start = row as usize * self.dimension;
        &self.codes[start..start + self.dimension]
    }

    /// Returns the cosine of a row of these and a row of `other`, of the same dimension; 0 without an embedder.
    #[must_use]
    pub fn cosine(&self, row: u32, other: &Vectors<'_>, other_row: u32) -> f32 {
        if self.dimension == 0 {
            return 0.0;
        }
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

    /// Returns the cosine of every row with row 0 of `query`; empty without an embedder.
    #[must_use]
    pub fn cosines(&self, query: &Vectors<'_>) -> Vec<f32> {
        if self.is_empty() || query.is_empty() {
            return Vec::new();
        }
        let (codes, scale) = (query.codes(0), query.scales[0]);
        let mut cosines = vec![0.0; self.len()];
        let rows = cosines.par_chunks_mut(ROWS_PER_TASK).zip(self.scales.par_chunks(ROWS_PER_TASK));
        let rows = rows.zip(self.codes.par_chunks(ROWS_PER_TASK * self.dimension));
        rows.for_each_init(Vec::new, |sums, ((cosines, scales), rows)| {
            dots(rows, codes, sums);
            for ((cosine, sum), row) in cosines.iter_mut().zip(sums).zip(scales) {
                *cosine = *sum as f32 * row * scale;
            }
        });
        cosines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
