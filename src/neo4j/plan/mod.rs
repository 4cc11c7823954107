//! Plans a publish: the difference between the version to publish and the elements in the database. Pure.
//!
//! Elements are visible in a version from `since` on and before `until`. Those of unfinished versions are leftovers of
//! an interrupted publish, and are either reused or deleted.

mod paired;

use rustc_hash::{FxHashMap, FxHashSet};

use self::paired::{Paired, paired};
use super::element::{Element, Key, Place, Since};
use super::kinds::Kind;

/// Changed elements up to which they are changed in place, in the transaction that switches the version. Beyond it
/// they are replaced: new ones are added, the old ones retired.
const IN_PLACE_MAX: usize = 1_000;
/// Bytes of changed elements up to which they are changed in place.
const IN_PLACE_BYTES_MAX: usize = 8 << 20;

/// Elements that are written, retired and deleted up to which that is done in one transaction rather than in batches.
const SMALL_MAX: usize = 2_000;
/// Bytes that are written up to which it is.
const SMALL_BYTES_MAX: usize = 8 << 20;

/// An element that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) key: Key,
    pub(super) digest: i64,
    /// About how many bytes it is on the wire.
    pub(super) bytes: u32,
    pub(super) ends: Option<(Key, Key)>,
}

/// An element that the database holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) key: Key,
    pub(super) since: i64,
    pub(super) until: Option<i64>,
    pub(super) digest: i64,
    /// Of a relationship, what its ends are found by.
    pub(super) ends: Option<[(Key, i64); 2]>,
}

impl Held {
    const fn place(&self) -> Place {
        Place { key: self.key, since: self.since, ends: self.ends }
    }
}

/// One kind: all elements due, by number, and all existing ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Side {
    pub(super) due: Vec<Due>,
    pub(super) held: Vec<Held>,
}

/// What to do for one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Steps {
    /// To be written with the version that is published, by number.
    pub(super) add: Vec<u32>,
    /// To be changed in place, by number.
    pub(super) change: Vec<u32>,
    /// To be retired with the version that is published.
    pub(super) retire: Vec<Place>,
    /// Marked so by an earlier attempt.
    pub(super) marked: Vec<Place>,
    /// Marked as retired, but due after all.
    pub(super) revive: Vec<Place>,
    /// To be deleted before the switch: leftovers that would become visible.
    pub(super) drop: Vec<Place>,
    /// To be deleted after the switch: what earlier versions retired.
    pub(super) delete: Vec<Place>,
    /// The first version of each element that is due, by number.
    pub(super) since: Vec<i64>,
}

impl Steps {
    /// Returns how many elements are written, marked or deleted.
    pub(super) fn count(&self) -> usize {
        // Retired elements are marked, and deleted later.
        let places = [&self.retire, &self.retire, &self.revive, &self.drop, &self.delete];
        self.add.len() + self.change.len() + places.iter().map(|it| it.len()).sum::<usize>()
    }

    /// Returns the elements that no reader sees after the switch.
    pub(super) fn gone(&self) -> Vec<Place> {
        self.retire.iter().chain(&self.marked).chain(&self.delete).copied().collect()
    }

    fn retire(&mut self, held: &Held) {
        let places = if held.until.is_none() { &mut self.retire } else { &mut self.marked };
        places.push(held.place());
    }

    /// Returns whether there is nothing to do.
    pub(super) fn is_empty(&self) -> bool {
        let places = [&self.retire, &self.marked, &self.revive, &self.drop, &self.delete];
        self.add.is_empty() && self.change.is_empty() && places.iter().all(|it| it.is_empty())
    }
}

/// What to do, by kind.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    pub(super) steps: FxHashMap<Kind, Steps>,
    /// The first versions of the nodes that relationships to be written hang on.
    ends: FxHashMap<(Kind, Key), i64>,
}

impl Plan {
    /// Returns what to do for a kind.
    pub(super) fn of(&self, kind: Kind) -> Option<&Steps> {
        self.steps.get(&kind)
    }

    /// Iterates over what to do for each kind, nodes before relationships.
    pub(super) fn each(&self) -> impl DoubleEndedIterator<Item = (Kind, &Steps)> {
        Kind::ALL.into_iter().filter_map(|kind| Some((kind, self.of(kind)?)))
    }

    /// Returns whether it is so little that it is carried out at once.
    pub(super) fn is_small(&self, sides: &FxHashMap<Kind, Side>) -> bool {
        let count: usize = self.steps.values().map(Steps::count).sum();
        let written = self.steps.iter().filter_map(|(kind, steps)| Some((sides.get(kind)?, steps)));
        let bytes = |(side, steps): (&Side, &Steps)| {
            let numbers = steps.add.iter().chain(&steps.change);
            numbers.map(|number| side.due[*number as usize].bytes as usize).sum::<usize>()
        };
        count <= SMALL_MAX && written.map(bytes).sum::<usize>() <= SMALL_BYTES_MAX
    }

    /// Returns the first version of an element of version `own`, and of its ends.
    pub(super) fn since(&self, kind: Kind, element: &Element, own: i64) -> Since {
        let end = |kind: Kind, key: &Key| self.ends.get(&(kind, *key)).copied();
        let ends = kind.ends().zip(element.ends.as_ref());
        let (from, to) = ends.map(|((from, to), (a, b))| (end(from, a), end(to, b))).unwrap_or_default();
        Since { own, from: from.unwrap_or(own), to: to.unwrap_or(own) }
    }
}

/// Whether leftovers of an earlier attempt are of this very plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leftovers {
    Keep,
    Drop,
}

/// How elements are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    InPlace,
    Replace,
}

/// Returns how to change elements of the current version whose contents differ from those due.
pub(super) fn change(sides: &FxHashMap<Kind, Side>, version: i64) -> Change {
    let (mut count, mut bytes) = (0, 0);
    for side in sides.values() {
        for (due, held) in side.due.iter().zip(paired(side, version).held) {
            if held.is_some_and(|held| held.digest != due.digest) {
                count += 1;
                bytes += due.bytes as usize;
            }
        }
    }
    if count <= IN_PLACE_MAX && bytes <= IN_PLACE_BYTES_MAX { Change::InPlace } else { Change::Replace }
}

/// Returns the changes from `version`, which is current, to the next one, with the elements due.
pub(super) fn plan(sides: &FxHashMap<Kind, Side>, version: i64, change: Change, leftovers: Leftovers) -> Plan {
    let mut plan = Plan::default();
    let mut replaced: FxHashSet<(Kind, Key)> = FxHashSet::default();
    for kind in Kind::ALL {
        let Some(side) = sides.get(&kind) else { continue };
        let hangs_on_replaced = |due: &Due| {
            !replaced.is_empty()
                && kind.ends().zip(due.ends).is_some_and(|((from_kind, to_kind), (from, to))| {
                    replaced.contains(&(from_kind, from)) || replaced.contains(&(to_kind, to))
                })
        };
        let paired = paired(side, version);
        let steps = steps(side, &paired, (version, change, leftovers), &hangs_on_replaced);
        if kind.ends().is_none() {
            let due = side.due.iter().zip(&steps.since).zip(&paired.held);
            let new = due.filter(|((_, since), held)| **since > version && held.is_some());
            replaced.extend(new.map(|((due, _), _)| (kind, due.key)));
        }
        plan.steps.insert(kind, steps);
    }
    plan.ends = ends(sides, &plan.steps);
    plan
}

/// Returns the first versions of the nodes that relationships to be written hang on.
fn ends(sides: &FxHashMap<Kind, Side>, steps: &FxHashMap<Kind, Steps>) -> FxHashMap<(Kind, Key), i64> {
    let mut wanted: FxHashSet<(Kind, Key)> = FxHashSet::default();
    for (kind, steps) in steps {
        let (Some((from, to)), Some(side)) = (kind.ends(), sides.get(kind)) else { continue };
        let written = steps.add.iter().chain(&steps.change).filter_map(|number| side.due[*number as usize].ends);
        wanted.extend(written.flat_map(|(a, b)| [(from, a), (to, b)]));
    }
    let mut ends = FxHashMap::default();
    for (kind, steps) in steps.iter().filter(|(kind, _)| !wanted.is_empty() && kind.ends().is_none()) {
        let due = sides.get(kind).into_iter().flat_map(|side| &side.due).zip(&steps.since);
        let wanted = due.filter(|(due, _)| wanted.contains(&(*kind, due.key)));
        ends.extend(wanted.map(|(due, since)| ((*kind, due.key), *since)));
    }
    ends
}

fn steps(
    side: &Side,
    paired: &Paired<'_>,
    (version, change, leftovers): (i64, Change, Leftovers),
    hangs_on_replaced: &dyn Fn(&Due) -> bool,
) -> Steps {
    let next = version + 1;
    let mut steps = Steps { since: Vec::with_capacity(side.due.len()), ..Steps::default() };
    let mut pending: FxHashMap<Key, Held> = FxHashMap::default();
    for held in &side.held {
        if held.since > version {
            // Of one key there may be several: only that of the next version can be taken over.
            let is_kept = leftovers == Leftovers::Keep && held.since == next && held.until.is_none();
            if is_kept {
                pending.insert(held.key, *held);
            } else {
                steps.drop.push(held.place());
            }
        } else if held.until.is_some_and(|until| until <= version) {
            steps.delete.push(held.place());
        }
    }
    for ((due, held), number) in side.due.iter().zip(&paired.held).zip(0..) {
        let is_same = held.is_some_and(|held| held.digest == due.digest);
        let stays = held.filter(|_| (is_same || change == Change::InPlace) && !hangs_on_replaced(due));
        let Some(stays) = stays else {
            steps.since.push(next);
            let written = pending.remove(&due.key).is_some_and(|pending| pending.digest == due.digest);
            if !written {
                steps.add.push(number);
            }
            if let Some(held) = held {
                steps.retire(held);
            }
            continue;
        };
        steps.since.push(stays.since);
        if !is_same {
            steps.change.push(number);
        }
        if stays.until.is_some() {
            steps.revive.push(stays.place());
        }
    }
    // Pending elements that are not due would become visible; live ones that are not due are retired.
    steps.drop.extend(pending.values().map(Held::place));
    paired.others.iter().for_each(|held| steps.retire(held));
    // So that locks are taken in one order.
    let place = |number: &u32| (side.due[*number as usize].ends, side.due[*number as usize].key);
    steps.add.sort_unstable_by_key(place);
    steps.change.sort_unstable_by_key(place);
    let Steps { retire, marked, revive, drop, delete, .. } = &mut steps;
    for places in [retire, marked, revive, drop, delete] {
        places.sort_unstable();
    }
    steps
}

#[cfg(test)]
mod tests;
