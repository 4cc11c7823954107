//! Mixtures of Gaussians with full covariances, by linfa, and their scores.

use linfa::DatasetBase;
use linfa::traits::Fit as _;
use linfa_clustering::{GaussianMixtureModel, GmmInitMethod};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};
use rand_core::{RngCore, impls};

use super::diagonal::{LN_TAU, to_probabilities};

/// Added to each variance, with a first component of variance 1.
const REGULARIZATION: f64 = 1e-3;
/// The change of the mean logarithm of the likelihood below which a fit has converged.
const TOLERANCE: f64 = 1e-2;
const ROUNDS_MAX: u64 = 100;

/// A mixture that was fitted to points.
pub(super) struct Fit {
    /// The most probable part of each point; some numbers may have no point.
    pub(super) parts: Vec<u32>,
    /// The Bayesian information criterion (Schwarz 1978); the lower, the better.
    pub(super) criterion: f64,
}

impl Fit {
    /// Rates a mixture of `parameters` numbers by the sum of the logarithms of the likelihoods of all points.
    pub(super) fn new(parts: Vec<u32>, likelihood: f64, parameters: usize) -> Self {
        let criterion = parameters as f64 * (parts.len() as f64).ln() - 2.0 * likelihood;
        Self { parts, criterion }
    }
}

/// Returns linfa's mixture of `count` Gaussians, each of which begins with the points of a part in `start`; none if it
/// fails, as it does if a part has no point, for a distant point (its sums of exponentials become 0), or if it does not
/// converge.
pub(super) fn full(points: &Array2<f64>, start: &[u32], count: usize) -> Option<Fit> {
    let options = GaussianMixtureModel::params_with_rng(count, Start { parts: start, count, next: 0 });
    let options = options.init_method(GmmInitMethod::Random);
    let options = options.reg_covariance(REGULARIZATION).tolerance(TOLERANCE).max_n_iterations(ROUNDS_MAX);
    let model = options.fit(&DatasetBase::from(points.view())).ok()?;
    // linfa's own predictions divide 0 by 0 for a far point, and panic then: only its parameters are used.
    let components: Option<Vec<Component>> = (0..count).map(|at| Component::of(&model, at)).collect();
    let components = components?;
    let (mut likelihood, mut parts) = (0.0, Vec::with_capacity(points.nrows()));
    let mut logarithms = vec![0.0; count];
    for point in points.rows() {
        for (logarithm, component) in logarithms.iter_mut().zip(&components) {
            *logarithm = component.log_density(point);
        }
        likelihood += to_probabilities(&mut logarithms);
        parts.push(most(&logarithms));
    }
    let columns = points.ncols();
    let parameters = count * (columns + columns * (columns + 1) / 2) + count - 1;
    likelihood.is_finite().then(|| Fit::new(parts, likelihood, parameters))
}

/// Gives linfa a start in the only way that it has for that: as the random numbers by which it divides each point among
/// the parts. Of each point, all are 0 but that of its part. linfa's own k-means starts ten times, which takes most of
/// the time.
#[derive(Clone)]
struct Start<'s> {
    /// The part of each point.
    parts: &'s [u32],
    count: usize,
    /// How many numbers were drawn: one of each point for each part.
    next: usize,
}

impl RngCore for Start<'_> {
    fn next_u64(&mut self) -> u64 {
        let (point, part) = (self.next / self.count, self.next % self.count);
        self.next += 1;
        if self.parts.get(point).is_some_and(|it| *it as usize == part) { u64::MAX } else { 0 }
    }

    fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        impls::fill_bytes_via_next(self, bytes);
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), rand_core::Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
}

/// Returns one Gaussian for points with a mean of 0 in the coordinates of their principal components: its covariances
/// are zero, and it has a closed form.
pub(super) fn single(points: &Array2<f64>) -> Fit {
    let (count, columns) = (points.nrows(), points.ncols());
    let of_column = |column: ArrayView1<f64>| {
        let variance = column.iter().map(|value| value * value).sum::<f64>() / count.max(1) as f64;
        let raised = variance + REGULARIZATION;
        LN_TAU + raised.ln() + variance / raised
    };
    let likelihood = points.axis_iter(Axis(1)).map(of_column).sum::<f64>() * -0.5 * count as f64;
    Fit::new(vec![0; count], likelihood, columns + columns * (columns + 1) / 2)
}

/// Returns the place of the greatest value; the first of several.
pub(super) fn most(values: &[f64]) -> u32 {
    let greater = |best: (u32, f64), (place, value): (u32, &f64)| if *value > best.1 { (place, *value) } else { best };
    (0..).zip(values).fold((0, f64::NEG_INFINITY), greater).0
}

/// One Gaussian of a mixture.
struct Component<'a> {
    mean: ArrayView1<'a, f64>,
    /// The lower triangle `L` for which `L · Lᵀ` is the inverse of the covariances.
    root: Array2<f64>,
    /// The logarithm of its share times its density at the mean.
    height: f64,
}

impl<'a> Component<'a> {
    fn of(model: &'a GaussianMixtureModel<f64>, place: usize) -> Option<Self> {
        let root = lower_root(model.precisions().index_axis(Axis(0), place))?;
        let logarithm = root.diag().iter().map(|value| value.ln()).sum::<f64>();
        let height = model.weights()[place].ln() + logarithm - 0.5 * LN_TAU * root.nrows() as f64;
        Some(Self { mean: model.means().row(place), root, height })
    }

    fn log_density(&self, point: ArrayView1<f64>) -> f64 {
        let mut square = 0.0;
        for column in 0..self.root.ncols() {
            let terms = (column..self.root.nrows()).map(|row| self.root[[row, column]] * (point[row] - self.mean[row]));
            let sum = terms.sum::<f64>();
            square += sum * sum;
        }
        self.height - 0.5 * square
    }
}

/// Returns the lower triangle whose product with its transpose is `matrix` (Cholesky); none if it does not exist.
fn lower_root(matrix: ArrayView2<f64>) -> Option<Array2<f64>> {
    let size = matrix.nrows();
    let mut root = Array2::zeros((size, size));
    for row in 0..size {
        for column in 0..=row {
            let known = (0..column).map(|at| root[[row, at]] * root[[column, at]]).sum::<f64>();
            let left = matrix[[row, column]] - known;
            if row != column {
                root[[row, column]] = left / root[[column, column]];
            } else if left > 0.0 && left.is_finite() {
                root[[row, row]] = left.sqrt();
            } else {
                return None;
            }
        }
    }
    Some(root)
}
