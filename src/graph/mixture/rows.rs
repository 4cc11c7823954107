//! Vectors as the rows of a matrix, which are read into a buffer one by one.

use std::borrow::Cow;

/// A matrix of `count` rows and `columns` columns, each row times a scale.
pub(super) struct Rows<'a> {
    values: Cow<'a, [f32]>,
    columns: usize,
    /// Of each row; 0 for a row that is read as zeros, whatever its values.
    scales: Vec<f32>,
}

impl<'a> Rows<'a> {
    /// Returns vectors scaled to unit length. One without length, or with a value that is not finite, is all zeros. An
    /// incomplete last vector is left out.
    pub(super) fn unit(vectors: &'a [f32], dimensions: usize) -> Self {
        let scales = match dimensions {
            0 => Vec::new(),
            _ => vectors.chunks_exact(dimensions).map(scale).collect(),
        };
        Self { values: Cow::Borrowed(vectors), columns: dimensions, scales }
    }
}

impl Rows<'static> {
    /// Returns `count` rows with consecutive values.
    pub(super) fn of(values: Vec<f32>, columns: usize, count: usize) -> Self {
        Self { values: Cow::Owned(values), columns, scales: vec![1.0; count] }
    }
}

impl Rows<'_> {
    pub(super) const fn count(&self) -> usize {
        self.scales.len()
    }

    pub(super) const fn columns(&self) -> usize {
        self.columns
    }

    /// Returns a row without its scale.
    pub(super) fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// Writes a row less `mean` into `buffer`; all three have `columns` values.
    pub(super) fn read_centered(&self, row: usize, mean: &[f32], buffer: &mut [f32]) {
        let scale = self.scales[row];
        for ((to, value), mean) in buffer.iter_mut().zip(self.row(row)).zip(mean) {
            *to = if scale == 0.0 { -mean } else { value * scale - mean };
        }
    }

    /// Returns some of the rows, in this order.
    pub(super) fn select(&self, rows: &[u32]) -> Rows<'static> {
        let values = rows.iter().flat_map(|row| self.row(*row as usize)).copied().collect();
        let scales = rows.iter().map(|row| self.scales[*row as usize]).collect();
        Rows { values: Cow::Owned(values), columns: self.columns, scales }
    }
}

/// Returns the factor that scales a vector to unit length.
fn scale(vector: &[f32]) -> f32 {
    let square = vector.iter().map(|value| f64::from(*value) * f64::from(*value)).sum::<f64>();
    let scale = (1.0 / square.sqrt()) as f32;
    if square > 0.0 && scale.is_finite() { scale } else { 0.0 }
}

/// Returns at most `most` numbers below `count`, evenly spread.
pub(super) fn strided(count: usize, most: usize) -> Vec<u32> {
    let taken = count.min(most);
    (0..taken).map(|place| (place * count / taken) as u32).collect()
}
