//! Boosted trees for the candidates of a walk: each tree corrects the sum of those before it.
//!
//! Gradients and second derivatives are those of the listwise loss of the weights: softmax over one gold passage and
//! all other candidates that are not gold, −log of its share averaged over the gold passages. A tree has three levels
//! of the best splits of binned features, over a random part of the features and of the candidates; a leaf adds −G/(H +
//! λ) at a fixed rate (Chen and Guestrin 2016, formulas 5 and 7). Draws are seeded and sums taken in order: the same
//! candidates give the same trees on any number of threads.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::eval::bootstrap::Draws;
use crate::graph::trail::{CandidateFeatures, Forest, TREE_LEAVES, TREE_NODES, Tree};

/// Trees of one sequence.
const TREES: usize = 200;
/// Sequences with random draws of their own, which are averaged: this evens out what the draws alone cause if there are
/// few questions.
const SEQUENCES: usize = 2;
/// Share of a leaf's step that is taken.
const RATE: f64 = 0.1;
/// Minimum candidates in a leaf.
const LEAF_MIN: u32 = 40;
/// Minimum sum of second derivatives in a leaf.
const HESSIAN_MIN: f64 = 1e-2;
/// Penalty on large leaves: λ.
const L2: f64 = 5.0;
/// Maximum bins of a feature.
const BINS_MAX: usize = 255;
/// The seed of the draws.
const SEED: u64 = 0;
/// Features.
const FEATURES: usize = CandidateFeatures::NAMES.len();

/// The candidates of one question.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Group {
    /// Their features.
    pub(super) rows: Vec<[f32; FEATURES]>,
    /// Which of them are gold.
    pub(super) is_gold: Vec<bool>,
    /// The weight of the question relative to others.
    pub(super) weight: f64,
}

/// Fits trees to `groups`; groups without gold candidates, or with nothing else, are ignored.
pub(super) fn fit(groups: &[Group]) -> Result<Forest> {
    let teaches = |group: &&Group| group.is_gold.contains(&true) && group.is_gold.contains(&false);
    let groups: Vec<&Group> = groups.iter().filter(teaches).collect();
    let all: f64 = groups.iter().map(|group| group.weight).sum();
    if groups.is_empty() || all <= 0.0 {
        return Ok(Forest::default());
    }
    let weights: Vec<f64> = groups.iter().map(|group| group.weight * groups.len() as f64 / all).collect();
    let table = Table::of(&groups);
    let mut draws = Draws { state: SEED };
    let mut trees = Vec::with_capacity(SEQUENCES * TREES);
    for _ in 0..SEQUENCES {
        let mut scores = vec![0.0; table.rows];
        for _ in 0..TREES {
            let gradients = gradients(&groups, &weights, &scores);
            let tree = table.tree(&gradients, &mut draws);
            for (row, score) in scores.iter_mut().enumerate() {
                *score += f64::from(tree.leaves[table.leaf(&tree.splits, row)]);
            }
            trees.push(table.written(&tree));
        }
    }
    Forest::try_new(trees).map_err(Error::Internal)
}

/// First and second derivative of the loss by the score of a candidate.
#[derive(Debug, Clone, Copy, Default)]
struct Gradient {
    first: f64,
    second: f64,
}

fn gradients(groups: &[&Group], weights: &[f64], scores: &[f64]) -> Vec<Gradient> {
    let mut gradients = Vec::with_capacity(scores.len());
    let mut rest = scores;
    for (group, weight) in groups.iter().zip(weights) {
        let (own, after) = rest.split_at(group.rows.len());
        group.add_gradients(own, *weight, &mut gradients);
        rest = after;
    }
    gradients
}

impl Group {
    fn add_gradients(&self, scores: &[f64], weight: f64, gradients: &mut Vec<Gradient>) {
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shares: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
        let gold = self.is_gold.iter().filter(|is_gold| **is_gold).count() as f64;
        let others: f64 = shares.iter().zip(&self.is_gold).filter(|it| !it.1).map(|it| it.0).sum::<f64>() + 1e-12;
        let wholes = shares.iter().zip(&self.is_gold).filter(|it| *it.1).map(|it| others + it.0);
        let inverse: f64 = wholes.map(|whole| 1.0 / whole).sum::<f64>() / gold;
        for (share, is_gold) in shares.iter().zip(&self.is_gold) {
            let (first, second) = if *is_gold {
                let chance = share / (others + share);
                ((chance - 1.0) / gold, chance * (1.0 - chance) / gold)
            } else {
                (share * inverse, share * inverse)
            };
            gradients.push(Gradient { first: weight * first, second: weight * second.max(1e-3) });
        }
    }
}

/// Candidates by feature, in bins.
struct Table {
    rows: usize,
    /// The bin of each row, by feature.
    bins: Vec<Vec<u8>>,
    /// The upper bound of each bin but the last, by feature.
    bounds: Vec<Vec<f32>>,
}

/// A split: candidates go left if their bin is at most this one.
#[derive(Debug, Clone, Copy)]
struct Split {
    feature: usize,
    bin: usize,
}

/// A tree over bins; at a node without a split, everything goes left.
struct BinnedTree {
    splits: [Option<Split>; TREE_NODES],
    leaves: [f32; TREE_LEAVES],
}

/// Sums over candidates.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    first: f64,
    second: f64,
    count: u32,
}

impl Table {
    fn of(groups: &[&Group]) -> Self {
        let rows: Vec<&[f32; FEATURES]> = groups.iter().flat_map(|group| &group.rows).collect();
        let binned = |feature: usize| {
            let values: Vec<f32> = rows.iter().map(|row| row[feature]).collect();
            let bounds = bounds(&values);
            let bins = values.iter().map(|value| bounds.partition_point(|bound| bound < value) as u8).collect();
            (bins, bounds)
        };
        let (bins, bounds) = (0..FEATURES).into_par_iter().map(binned).unzip();
        Self { rows: rows.len(), bins, bounds }
    }

    /// Returns the tree that lowers the loss most, level by level.
    fn tree(&self, gradients: &[Gradient], draws: &mut Draws) -> BinnedTree {
        let features = drawn_features(draws);
        // A sample of four fifths of the candidates.
        let rows: Vec<u32> = (0..self.rows as u32).filter(|_| draws.below(5) != 0).collect();
        let mut tree = BinnedTree { splits: [None; TREE_NODES], leaves: [0.0; TREE_LEAVES] };
        let mut parts = vec![rows];
        for level in 0..=TREE_NODES.ilog2() {
            let first = (1 << level) - 1;
            let mut halves = Vec::with_capacity(2 * parts.len());
            for (place, part) in parts.into_iter().enumerate() {
                let split = self.best_split(&part, gradients, &features);
                tree.splits[first + place] = split;
                let (left, right) = part.into_iter().partition(|row| self.goes_left(split, *row as usize));
                halves.extend([left, right]);
            }
            parts = halves;
        }
        for (leaf, part) in tree.leaves.iter_mut().zip(&parts) {
            let sums = sums(part, gradients);
            *leaf = (-RATE * sums.first / (sums.second + L2)) as f32;
        }
        tree
    }

    fn best_split(&self, rows: &[u32], gradients: &[Gradient], features: &[usize]) -> Option<Split> {
        if rows.len() < 2 * LEAF_MIN as usize {
            return None;
        }
        let whole = sums(rows, gradients);
        let best = |feature: &usize| self.best_bin(*feature, rows, gradients, whole);
        let all: Vec<Option<(f64, usize)>> = features.par_iter().map(best).collect();
        let found =
            features.iter().zip(all).filter_map(|(feature, best)| best.map(|(gain, bin)| (gain, *feature, bin)));
        let most = found.fold(None, |most: Option<(f64, usize, usize)>, it| match most {
            Some(known) if known.0 >= it.0 => Some(known),
            _ => Some(it),
        });
        most.map(|(_, feature, bin)| Split { feature, bin })
    }

    /// Returns the gain and the bin of the best split by one feature, if there is one.
    fn best_bin(&self, feature: usize, rows: &[u32], gradients: &[Gradient], whole: Sums) -> Option<(f64, usize)> {
        let mut histogram = vec![Sums::default(); self.bounds[feature].len() + 1];
        let bins = &self.bins[feature];
        for row in rows {
            histogram[usize::from(bins[*row as usize])].add(gradients[*row as usize]);
        }
        let mut left = Sums::default();
        let mut best = None;
        for (bin, sums) in histogram.iter().enumerate().take(self.bounds[feature].len()) {
            left = left.and(sums, 1.0);
            let right = whole.and(&left, -1.0);
            let gain = left.worth() + right.worth() - whole.worth();
            if left.is_enough() && right.is_enough() && gain > best.map_or(0.0, |it: (f64, usize)| it.0) {
                best = Some((gain, bin));
            }
        }
        best
    }

    fn goes_left(&self, split: Option<Split>, row: usize) -> bool {
        split.is_none_or(|split| usize::from(self.bins[split.feature][row]) <= split.bin)
    }

    fn leaf(&self, splits: &[Option<Split>; TREE_NODES], row: usize) -> usize {
        let mut node = 0;
        while node < TREE_NODES {
            node = 2 * node + 1 + usize::from(!self.goes_left(splits[node], row));
        }
        node - TREE_NODES
    }

    /// Returns the tree with values in place of bins.
    fn written(&self, tree: &BinnedTree) -> Tree {
        let feature = |split: &Option<Split>| split.map_or(0, |split| split.feature as u16);
        let threshold =
            |split: &Option<Split>| split.map_or(f32::MAX, |split| rounded(self.bounds[split.feature][split.bin]));
        Tree {
            features: std::array::from_fn(|i| feature(&tree.splits[i])),
            thresholds: std::array::from_fn(|i| threshold(&tree.splits[i])),
            leaves: tree.leaves.map(|leaf| rounded(leaf / SEQUENCES as f32)),
        }
    }
}

impl Sums {
    fn add(&mut self, gradient: Gradient) {
        self.first += gradient.first;
        self.second += gradient.second;
        self.count += 1;
    }

    /// Returns the sums of both, `other` multiplied by `sign`.
    fn and(&self, other: &Self, sign: f64) -> Self {
        let count = if sign > 0.0 { self.count + other.count } else { self.count - other.count };
        Self { first: sign.mul_add(other.first, self.first), second: sign.mul_add(other.second, self.second), count }
    }

    fn worth(&self) -> f64 {
        self.first * self.first / (self.second + L2)
    }

    fn is_enough(&self) -> bool {
        self.count >= LEAF_MIN && self.second >= HESSIAN_MIN
    }
}

/// Returns a number rounded to hundred-thousandths, as trees store it.
fn rounded(value: f32) -> f32 {
    // Adding 0 turns −0 into 0.
    (value * 1e5).round() / 1e5 + 0.0
}

fn sums(rows: &[u32], gradients: &[Gradient]) -> Sums {
    let mut sums = Sums::default();
    for row in rows {
        sums.add(gradients[*row as usize]);
    }
    sums
}

/// Returns a random half of the features, ascending.
fn drawn_features(draws: &mut Draws) -> Vec<usize> {
    let mut features: Vec<usize> = (0..FEATURES).collect();
    for place in 0..FEATURES / 2 {
        features.swap(place, place + draws.below(FEATURES - place));
    }
    features.truncate(FEATURES / 2);
    features.sort_unstable();
    features
}

/// Returns the upper bounds of all bins but the last: bins are equally full, or single values if there are few values.
fn bounds(values: &[f32]) -> Vec<f32> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let mut distinct = sorted.clone();
    distinct.dedup();
    if distinct.len() > BINS_MAX {
        distinct = (1..=BINS_MAX).map(|bin| sorted[bin * (sorted.len() - 1) / BINS_MAX]).collect();
        distinct.dedup();
    }
    // Halfway between two values: a value between them in another collection then counts as the nearer one.
    distinct.windows(2).map(|pair| pair[0].midpoint(pair[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Candidates are gold if feature 0 is large and feature 1 small; feature 2 is noise.
    fn groups(seed: u64) -> Vec<Group> {
        let mut draws = Draws { state: seed };
        let mut value = || draws.below(1_000) as f32 / 1_000.0;
        let mut group = || {
            let mut rows = vec![[0.0; FEATURES]; 20];
            for row in &mut rows {
                (row[0], row[1], row[2]) = (value(), value(), value());
            }
            let best = rows.iter().map(|row| row[0] - row[1]).fold(f32::MIN, f32::max);
            let is_gold = rows.iter().map(|row| row[0] - row[1] >= best).collect();
            Group { rows, is_gold, weight: 1.0 }
        };
        (0..200).map(|_| group()).collect()
    }

    fn features(row: &[f32; FEATURES]) -> CandidateFeatures {
        CandidateFeatures { score: row[0], below_first: row[1], below_fifth: row[2], ..CandidateFeatures::default() }
    }

    /// Returns the share of groups whose best candidate according to the trees is gold.
    fn first_is_gold(forest: &Forest, groups: &[Group]) -> f32 {
        let is_gold = |group: &&Group| {
            let scores = group.rows.iter().map(|row| forest.score(&features(row)));
            let best = scores.zip(&group.is_gold).max_by(|a, b| a.0.total_cmp(&b.0));
            best.is_some_and(|(_, is_gold)| *is_gold)
        };
        groups.iter().filter(is_gold).count() as f32 / groups.len() as f32
    }

    #[test]
    fn trees_find_what_makes_a_candidate_gold_in_questions_that_they_have_not_seen() {
        let forest = fit(&groups(1)).expect("trees");
        let found = first_is_gold(&forest, &groups(2));
        assert!(found > 0.6, "{found}, where chance is 0.05");
    }

    #[test]
    fn the_same_candidates_give_the_same_trees_on_any_number_of_threads() {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            serde_json::to_string(&pool.install(|| fit(&groups(3))).expect("trees")).expect("text")
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn questions_without_gold_or_without_others_teach_nothing() {
        let of = |is_gold: bool| Group { rows: vec![[1.0; FEATURES]; 3], is_gold: vec![is_gold; 3], weight: 1.0 };
        assert!(fit(&[of(true), of(false)]).expect("no trees").is_empty());
        assert!(fit(&[]).expect("no trees").is_empty());
    }

    #[test]
    fn bins_are_bounded_between_values() {
        assert_eq!(bounds(&[2.0, 1.0, 1.0, 4.0]), [1.5, 3.0]);
        let many: Vec<f32> = (0..10_000_u16).map(f32::from).collect();
        let bounds = bounds(&many);
        assert!(bounds.len() < BINS_MAX && bounds.is_sorted(), "{}", bounds.len());
    }

    #[test]
    fn gradients_are_those_of_the_loss() {
        let group = Group { rows: vec![[0.0; FEATURES]; 4], is_gold: vec![true, false, true, false], weight: 1.0 };
        let loss = |scores: &[f64]| {
            let others = scores[1].exp() + scores[3].exp();
            [0, 2].map(|gold| -(scores[gold].exp() / (others + scores[gold].exp())).ln()).iter().sum::<f64>() / 2.0
        };
        let scores = [0.3, -0.2, 1.0, 0.5];
        let mut gradients = Vec::new();
        group.add_gradients(&scores, 1.0, &mut gradients);
        for (at, gradient) in gradients.iter().enumerate() {
            let mut moved = scores;
            moved[at] += 1e-6;
            let slope = (loss(&moved) - loss(&scores)) / 1e-6;
            assert!((slope - gradient.first).abs() < 1e-4, "{at}: {slope} is not {}", gradient.first);
        }
    }
}
