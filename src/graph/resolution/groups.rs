//! Groups of merged names: a forest of names, with pairs that stay apart.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Reason;
use crate::graph::ordinal::EntityOrdinal;

/// Maximum names that rules merge into one entity: more suggest a wrong rule.
pub const NAMES_MAX: usize = 64;

/// Names being merged into entities.
pub(super) struct Groups {
    parent: Vec<u32>,
    size: Vec<u32>,
    /// Of the roots that have any: names that stay apart from one of theirs.
    apart: FxHashMap<u32, Vec<u32>>,
    /// The merges that joined two groups.
    joined: Vec<(EntityOrdinal, EntityOrdinal, Reason)>,
}

impl Groups {
    /// Starts with every name as a separate entity, with pairs that stay apart.
    pub(super) fn new(count: usize, apart: &[(EntityOrdinal, EntityOrdinal)]) -> Self {
        let mut groups = Self {
            parent: (0..count as u32).collect(),
            size: vec![1; count],
            apart: FxHashMap::default(),
            joined: Vec::new(),
        };
        for (one, other) in apart {
            groups.apart.entry(one.0).or_default().push(other.0);
            groups.apart.entry(other.0).or_default().push(one.0);
        }
        groups
    }

    /// Returns the number of the group of a name.
    pub(super) fn find(&mut self, name: u32) -> u32 {
        let mut root = name;
        while self.parent[root as usize] != root {
            root = self.parent[root as usize];
        }
        let mut at = name;
        while self.parent[at as usize] != root {
            at = std::mem::replace(&mut self.parent[at as usize], root);
        }
        root
    }

    /// Merges the groups of two names, unless two of their names stay apart or rules would merge too many; returns
    /// whether they are one now.
    pub(super) fn join(&mut self, one: EntityOrdinal, other: EntityOrdinal, reason: Reason) -> bool {
        let (mut big, mut small) = (self.find(one.0), self.find(other.0));
        if big == small {
            return true;
        }
        if self.size[big as usize] < self.size[small as usize] {
            (big, small) = (small, big);
        }
        let size = self.size[big as usize] + self.size[small as usize];
        if (reason != Reason::Asked && size as usize > NAMES_MAX) || self.stay_apart(big, small) {
            return false;
        }
        self.parent[small as usize] = big;
        self.size[big as usize] = size;
        if let Some(apart) = self.apart.remove(&small) {
            self.apart.entry(big).or_default().extend(apart);
        }
        self.joined.push((one, other, reason));
        true
    }

    fn stay_apart(&mut self, one: u32, other: u32) -> bool {
        let count = |root: &u32| self.apart.get(root).map_or(0, Vec::len);
        let (few, many) = if count(&one) <= count(&other) { (one, other) } else { (other, one) };
        let names = self.apart.get(&few).cloned().unwrap_or_default();
        names.into_iter().any(|name| self.find(name) == many)
    }

    /// Returns the names of each group of several, in order.
    pub(super) fn several(&mut self) -> Vec<Vec<EntityOrdinal>> {
        let mut names: Vec<u32> = self.joined.iter().flat_map(|(one, other, _)| [one.0, other.0]).collect();
        names.sort_unstable();
        names.dedup();
        let mut rooted: Vec<(u32, EntityOrdinal)> =
            names.into_iter().map(|name| (self.find(name), EntityOrdinal(name))).collect();
        rooted.sort_unstable();
        let several = rooted.chunk_by(|a, b| a.0 == b.0);
        several.map(|group| group.iter().map(|it| it.1).collect()).collect()
    }

    /// Returns for each name except `things`, one per group, the name that it was merged with, and why.
    pub(super) fn merged_with(&self, things: &[EntityOrdinal]) -> FxHashMap<EntityOrdinal, (EntityOrdinal, Reason)> {
        let mut beside: FxHashMap<EntityOrdinal, Vec<(EntityOrdinal, Reason)>> = FxHashMap::default();
        for (one, other, reason) in &self.joined {
            beside.entry(*one).or_default().push((*other, *reason));
            beside.entry(*other).or_default().push((*one, *reason));
        }
        let mut ways = FxHashMap::default();
        let ends: FxHashSet<EntityOrdinal> = things.iter().copied().collect();
        let mut waiting: Vec<EntityOrdinal> = things.to_vec();
        while let Some(name) = waiting.pop() {
            for (next, reason) in beside.remove(&name).unwrap_or_default() {
                if !ends.contains(&next) && !ways.contains_key(&next) {
                    ways.insert(next, (name, reason));
                    waiting.push(next);
                }
            }
        }
        ways
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(number: u32) -> EntityOrdinal {
        EntityOrdinal(number)
    }

    #[test]
    fn what_is_merged_with_the_same_is_one_unless_it_stays_apart() {
        let mut groups = Groups::new(6, &[(name(0), name(3))]);
        assert!(groups.join(name(0), name(1), Reason::Spelling));
        assert!(groups.join(name(2), name(3), Reason::Acronym));
        assert!(!groups.join(name(1), name(2), Reason::Asked), "0 and 3 stay apart");
        assert!(groups.join(name(1), name(4), Reason::Asked));
        assert_eq!(groups.several(), [vec![name(0), name(1), name(4)], vec![name(2), name(3)]]);
        let ways = groups.merged_with(&[name(0), name(3)]);
        assert_eq!(ways[&name(4)], (name(1), Reason::Asked));
        assert_eq!(ways[&name(2)], (name(3), Reason::Acronym));
        assert_eq!(ways.len(), 3);
    }

    #[test]
    fn rules_merge_no_more_than_so_many() {
        let mut groups = Groups::new(NAMES_MAX + 2, &[]);
        let joined: Vec<bool> =
            (1..=NAMES_MAX as u32).map(|it| groups.join(name(0), name(it), Reason::Spelling)).collect();
        assert_eq!(joined.iter().filter(|it| !**it).count(), 1);
        assert!(groups.join(name(0), name(NAMES_MAX as u32 + 1), Reason::Asked), "a user may");
    }
}
