//! The two products that take most of the time, written so that the compiler can vectorize them: `WIDTH` sums at a
//! time, each in the order of the terms, without fused operations, so that every machine gets the same.

/// Returns the sums of `row[i] · columns[i]`: a row times a matrix of `WIDTH` columns.
pub(super) fn times<const WIDTH: usize>(row: &[f32], columns: &[[f32; WIDTH]]) -> [f32; WIDTH] {
    let mut sums = [0.0; WIDTH];
    for (value, column) in row.iter().zip(columns) {
        for (sum, other) in sums.iter_mut().zip(column) {
            *sum += value * other;
        }
    }
    sums
}

/// Adds `row[i] · factors` to `sums[i]`: a transposed row times a row of `WIDTH` columns.
pub(super) fn add_outer<const WIDTH: usize>(sums: &mut [[f32; WIDTH]], row: &[f32], factors: &[f32; WIDTH]) {
    for (sum, value) in sums.iter_mut().zip(row) {
        for (sum, factor) in sum.iter_mut().zip(factors) {
            *sum += value * factor;
        }
    }
}
