//! Boosted trees as a table, which rerank the candidates of a walk.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::features::CandidateFeatures;

/// Levels of splits in a tree.
const LEVELS: usize = 3;
/// Splits of a tree.
pub const TREE_NODES: usize = (1 << LEVELS) - 1;
/// Leaves of a tree.
pub const TREE_LEAVES: usize = 1 << LEVELS;

/// A tree of three levels, laid out as a heap: below split `i` are `2i + 1` and `2i + 2`, and the last level splits
/// into the leaves. A split that decides nothing has the largest threshold and always goes left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tree {
    /// The feature of each split.
    pub features: [u16; TREE_NODES],
    /// Values up to this go left.
    pub thresholds: [f32; TREE_NODES],
    /// The addition of each leaf.
    pub leaves: [f32; TREE_LEAVES],
}

/// Trees whose sum is a candidate's score, over [`CandidateFeatures`].
///
/// Its text form names the features that it was fitted with, so that it can be read by a program with others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ForestText", into = "ForestText")]
pub struct Forest {
    trees: Arc<[Tree]>,
}

/// A forest as it is written: splits count in `features`, and a tree is a line of its splits, as `FEATURE:THRESHOLD` or
/// `-`, and its leaves.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ForestText {
    features: Vec<String>,
    trees: Vec<String>,
}

impl Forest {
    /// Makes a forest of trees whose features are numbered as in [`CandidateFeatures::NAMES`].
    ///
    /// # Errors
    ///
    /// A sentence, if a tree splits by a feature that does not exist, or has a number that is not finite.
    pub fn try_new(trees: Vec<Tree>) -> Result<Self, String> {
        for tree in &trees {
            if let Some(unknown) = tree.features.iter().find(|it| usize::from(**it) >= CandidateFeatures::NAMES.len()) {
                return Err(format!("a tree splits by feature {unknown}, which does not exist"));
            }
            if !tree.thresholds.iter().chain(&tree.leaves).all(|value| value.is_finite()) {
                return Err("a tree has a number that is not finite".to_owned());
            }
        }
        Ok(Self { trees: trees.into() })
    }

    /// Returns whether there is no tree.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    /// Returns the sum of all trees.
    #[must_use]
    pub fn score(&self, features: &CandidateFeatures) -> f32 {
        let values = features.values();
        self.trees.iter().map(|tree| tree.value(&values)).sum()
    }
}

impl Tree {
    /// Returns the addition of the tree for a candidate with these values.
    #[must_use]
    pub fn value(&self, values: &[f32]) -> f32 {
        let mut node = 0;
        for _ in 0..LEVELS {
            let goes_right = values[usize::from(self.features[node])] > self.thresholds[node];
            node = 2 * node + 1 + usize::from(goes_right);
        }
        self.leaves[node - TREE_NODES]
    }
}

impl TryFrom<ForestText> for Forest {
    type Error = String;

    fn try_from(text: ForestText) -> Result<Self, String> {
        let number = |name: &String| {
            let known = CandidateFeatures::NAMES.iter().position(|it| it == name);
            known.map(|number| number as u16).ok_or_else(|| format!("there is no feature `{name}`"))
        };
        let numbers = text.features.iter().map(number).collect::<Result<Vec<u16>, String>>()?;
        let read = |line: &String| Tree::parse(line, &numbers).ok_or_else(|| format!("`{line}` is not a tree"));
        Self::try_new(text.trees.iter().map(read).collect::<Result<_, String>>()?)
    }
}

impl Tree {
    /// Reads a line; `features` are the numbers of those that it counts in.
    fn parse(line: &str, features: &[u16]) -> Option<Self> {
        let mut tree =
            Self { features: [0; TREE_NODES], thresholds: [f32::MAX; TREE_NODES], leaves: [0.0; TREE_LEAVES] };
        let mut parts = line.split(' ');
        for (feature, threshold) in tree.features.iter_mut().zip(&mut tree.thresholds) {
            let split = parts.next()?;
            if split != "-" {
                let (by, at) = split.split_once(':')?;
                (*feature, *threshold) = (*features.get(by.parse::<usize>().ok()?)?, at.parse().ok()?);
            }
        }
        for leaf in &mut tree.leaves {
            *leaf = parts.next()?.parse().ok()?;
        }
        parts.next().is_none().then_some(tree)
    }

    fn line(&self) -> String {
        let split = |(feature, threshold): (&u16, &f32)| {
            if *threshold < f32::MAX { format!("{feature}:{threshold}") } else { "-".to_owned() }
        };
        let splits = self.features.iter().zip(&self.thresholds).map(split);
        splits.chain(self.leaves.iter().map(ToString::to_string)).collect::<Vec<_>>().join(" ")
    }
}

impl From<Forest> for ForestText {
    fn from(forest: Forest) -> Self {
        let features = CandidateFeatures::NAMES.iter().map(|name| (*name).to_owned()).collect();
        Self { features, trees: forest.trees.iter().map(Tree::line).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits by feature 0 at 0.5, and on the right by feature 1 at 2.
    fn tree() -> Tree {
        let mut thresholds = [f32::MAX; TREE_NODES];
        (thresholds[0], thresholds[2]) = (0.5, 2.0);
        Tree { features: [0, 0, 1, 0, 0, 0, 0], thresholds, leaves: [1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 4.0, 0.0] }
    }

    #[test]
    fn a_candidate_falls_into_one_leaf_of_each_tree() {
        let forest = Forest::try_new(vec![tree(), tree()]).expect("a forest");
        let score = |score, below_first| {
            forest.score(&CandidateFeatures { score, below_first, ..CandidateFeatures::default() }).to_bits()
        };
        assert_eq!(score(0.5, 9.0), 2.0f32.to_bits());
        assert_eq!(score(0.6, 2.0), 4.0f32.to_bits());
        assert_eq!(score(0.6, 2.1), 8.0f32.to_bits());
    }

    #[test]
    fn a_forest_is_written_with_the_names_of_its_features() {
        let forest = Forest::try_new(vec![tree()]).expect("a forest");
        let text = serde_json::to_string(&forest).expect("text");
        assert_eq!(serde_json::from_str::<Forest>(&text).ok(), Some(forest.clone()));
        let renamed = text.replacen("\"score\",\"below_first\"", "\"below_first\",\"score\"", 1);
        assert_ne!(serde_json::from_str::<Forest>(&renamed).ok(), Some(forest));
        let error = serde_json::from_str::<Forest>(&text.replacen("\"score\"", "\"luck\"", 1)).expect_err("unknown");
        assert!(error.to_string().contains("there is no feature `luck`"), "{error}");
    }

    #[test]
    fn a_table_that_cannot_be_is_refused() {
        let with = |change: fn(&mut Tree)| {
            let mut tree = tree();
            change(&mut tree);
            Forest::try_new(vec![tree])
        };
        assert!(with(|tree| tree.features[6] = 999).is_err());
        assert!(with(|tree| tree.leaves[0] = f32::NAN).is_err());
        let text = serde_json::to_string(&Forest::try_new(vec![tree()]).expect("a forest")).expect("text");
        for (from, to) in [("0:0.5", "999:0.5"), ("0:0.5", "0:half"), ("0:0.5 ", ""), ("0:0.5", "0:0.5 1")] {
            let broken = text.replacen(from, to, 1);
            assert_ne!(broken, text);
            assert!(serde_json::from_str::<Forest>(&broken).is_err(), "{broken}");
        }
    }
}
