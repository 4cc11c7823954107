//! Which live element of the database each one due is.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::{Held, Key, Side};

/// How many live elements are looked through for one due before all are. Both lists are mostly in the same order, and
/// what a changed document had lies together.
const NEAR: usize = 64;

/// Elements that readers of a version see, by what is due.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Paired<'a> {
    /// That of each element due, by number; none if it is new.
    pub(super) held: Vec<Option<&'a Held>>,
    /// Those that are not due.
    pub(super) others: Vec<&'a Held>,
}

/// Returns what readers of `version` see. No key is due twice.
pub(super) fn paired(side: &Side, version: i64) -> Paired<'_> {
    let is_live = |held: &&Held| held.since <= version && held.until.is_none_or(|until| until > version);
    let mut live = side.held.iter().filter(is_live);
    let mut near: VecDeque<&Held> = VecDeque::with_capacity(NEAR);
    let (mut held, mut others) = (Vec::with_capacity(side.due.len()), Vec::<&Held>::new());
    for due in &side.due {
        near.extend(live.by_ref().take(NEAR - near.len()));
        let found = near.iter().position(|it| it.key == due.key);
        others.extend(near.drain(..found.unwrap_or_default()));
        held.push(found.and_then(|_| near.pop_front()));
    }
    others.extend(near.into_iter().chain(live));
    if !others.is_empty() {
        let mut rest: FxHashMap<Key, &Held> = others.iter().map(|it| (it.key, *it)).collect();
        for (due, held) in side.due.iter().zip(&mut held) {
            let found = rest.remove(&due.key);
            *held = held.or(found);
        }
        others.retain(|it| rest.contains_key(&it.key));
    }
    Paired { held, others }
}

#[cfg(test)]
mod tests {
    use super::super::Due;
    use super::*;

    fn side(due: &[u32], live: &[u32]) -> Side {
        let key = |number: u32| {
            let mut key = [0; 16];
            key[..4].copy_from_slice(&number.to_be_bytes());
            key
        };
        let due = due.iter().map(|it| Due { key: key(*it), digest: 0, bytes: 1, ends: None });
        let held = |number: u32| Held { key: key(number), since: 1, until: None, digest: 0, ends: None };
        // What is not live yet, and no longer.
        let unseen = [Held { since: 6, ..held(1) }, Held { until: Some(4), ..held(1) }];
        Side { due: due.collect(), held: live.iter().map(|it| held(*it)).chain(unseen).collect() }
    }

    /// Returns the numbers of those that are not due, after a check of the others.
    fn others_of(due: &[u32], live: &[u32]) -> Vec<u32> {
        let side = side(due, live);
        let Paired { held, others } = paired(&side, 5);
        for ((due, held), number) in side.due.iter().zip(&held).zip(due) {
            assert_eq!(held.map(|it| it.key), live.contains(number).then_some(due.key), "{number}");
        }
        assert_eq!(held.len(), due.len());
        others.iter().map(|it| u32::from_be_bytes(it.key[..4].try_into().unwrap())).collect()
    }

    #[test]
    fn each_element_is_paired_wherever_it_lies() {
        let all: Vec<u32> = (0..1_000).collect();
        let backwards: Vec<u32> = all.iter().rev().copied().collect();
        let moved: Vec<u32> = all[300..].iter().chain(&all[..300]).copied().collect();
        for live in [&all, &backwards, &moved] {
            assert_eq!(others_of(&all, live), [0; 0]);
            assert_eq!(others_of(live, &all), [0; 0]);
        }
        assert_eq!(others_of(&[], &all), all);
        assert_eq!(others_of(&all, &[]), [0; 0]);
    }

    #[test]
    fn elements_that_came_or_went_are_told_from_those_that_stay() {
        let before: Vec<u32> = (0..1_000).collect();
        // More went than are looked through.
        let after: Vec<u32> = (0..100).chain(2_000..2_200).chain(300..1_000).collect();
        assert_eq!(others_of(&after, &before), (100..300).collect::<Vec<_>>());
        assert_eq!(others_of(&before, &after), (2_000..2_200).collect::<Vec<_>>());
    }
}
