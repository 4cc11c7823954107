//! Eigenvectors of small symmetric matrices, and orthogonal columns.

/// Sweeps at most; some six are enough for fifty columns.
const SWEEPS_MAX: usize = 30;

/// Returns the eigenvalues of a symmetric matrix of `size` rows, largest first, each with its eigenvector (Jacobi's
/// method, by rows; Golub and Van Loan, section 8.5). Takes `O(size³)` a sweep.
pub(super) fn eigen(mut matrix: Vec<f64>, size: usize) -> Vec<(f64, Vec<f64>)> {
    let mut vectors = vec![0.0; size * size];
    for place in 0..size {
        vectors[place * size + place] = 1.0;
    }
    let total: f64 = matrix.iter().map(|value| value * value).sum();
    for _ in 0..SWEEPS_MAX {
        let pairs = (0..size).flat_map(|a| (a + 1..size).map(move |b| (a, b)));
        let rest: f64 = pairs.clone().map(|(a, b)| matrix[a * size + b] * matrix[a * size + b]).sum();
        if rest <= total * 1e-24 {
            break;
        }
        pairs.for_each(|pair| rotate(&mut matrix, &mut vectors, size, pair));
    }
    let mut found: Vec<(f64, Vec<f64>)> =
        (0..size).map(|at| (matrix[at * size + at], vectors[at * size..(at + 1) * size].to_vec())).collect();
    found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    found
}

/// Makes `matrix[a, b]` zero by a rotation, and rotates the rows of `vectors` with it.
fn rotate(matrix: &mut [f64], vectors: &mut [f64], size: usize, (a, b): (usize, usize)) {
    let off = matrix[a * size + b];
    if off == 0.0 {
        return;
    }
    let ratio = (matrix[b * size + b] - matrix[a * size + a]) / (2.0 * off);
    let slope = ratio.signum() / (ratio.abs() + (ratio * ratio + 1.0).sqrt());
    let along = 1.0 / (slope * slope + 1.0).sqrt();
    let across = slope * along;
    let turn = |values: &mut [f64], a: usize, b: usize| {
        let (first, second) = (values[a], values[b]);
        values[a] = along * first - across * second;
        values[b] = across * first + along * second;
    };
    for place in 0..size {
        turn(matrix, a * size + place, b * size + place);
        turn(vectors, a * size + place, b * size + place);
    }
    for place in 0..size {
        turn(matrix, place * size + a, place * size + b);
    }
}

/// Makes the columns of a matrix orthogonal and of unit length (modified Gram and Schmidt, twice). A column that
/// depends on those before it becomes zero.
pub(super) fn orthonormalize<const WIDTH: usize>(matrix: &mut [[f32; WIDTH]]) {
    let mut columns: Vec<Vec<f64>> =
        (0..WIDTH).map(|column| matrix.iter().map(|row| f64::from(row[column])).collect()).collect();
    for place in 0..WIDTH {
        let (before, after) = columns.split_at_mut(place);
        let Some(column) = after.first_mut() else { break };
        let length = dot(column, column).sqrt();
        for other in before.iter().chain(before.iter()) {
            let share = dot(column, other);
            column.iter_mut().zip(other).for_each(|(value, other)| *value -= share * other);
        }
        let left = dot(column, column).sqrt();
        // After rounding, no direction is left.
        let scale = if left > 1e-6 * length && left > f64::MIN_POSITIVE { 1.0 / left } else { 0.0 };
        for value in column {
            *value *= scale;
        }
    }
    for (place, row) in matrix.iter_mut().enumerate() {
        for (value, column) in row.iter_mut().zip(&columns) {
            *value = column[place] as f32;
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
