//! The plan, applied to a database in memory and interrupted at any point.

use super::super::element::Properties;
use super::*;
use proptest::prelude::*;

fn key(number: u8) -> Key {
    [number; 16]
}

/// A database as the plan sees it: elements by kind, key and version.
#[derive(Debug, Clone, Default, PartialEq)]
struct Store {
    version: i64,
    elements: std::collections::BTreeMap<(Kind, Key, i64), Stored>,
}

#[derive(Debug, Clone, PartialEq)]
struct Stored {
    until: Option<i64>,
    digest: i64,
    /// The ends of a relationship, each with the version since which it exists.
    ends: Option<[(Key, i64); 2]>,
}

/// A graph to publish: passages and edges between them, with contents.
#[derive(Debug, Clone)]
struct Graph {
    passages: std::collections::BTreeMap<u8, i64>,
    edges: std::collections::BTreeMap<(u8, u8), i64>,
}

type Visible = std::collections::BTreeMap<(Kind, Key), (i64, Option<[Key; 2]>)>;

impl Store {
    fn sides(&self, graph: &Graph) -> FxHashMap<Kind, Side> {
        let held = |kind: Kind| {
            let of_kind = self.elements.iter().filter(|((it, ..), _)| *it == kind);
            let held = |((_, key, since), stored): (&(Kind, Key, i64), &Stored)| Held {
                key: *key,
                since: *since,
                until: stored.until,
                digest: stored.digest,
                ends: stored.ends,
            };
            of_kind.map(held).collect()
        };
        let passages =
            graph.passages.iter().map(|(it, digest)| Due { key: key(*it), digest: *digest, bytes: 1, ends: None });
        let edges = graph.edges.iter().map(|((from, to), digest)| Due {
            key: edge_key(*from, *to),
            digest: *digest,
            bytes: 1,
            ends: Some((key(*from), key(*to))),
        });
        FxHashMap::from_iter([
            (Kind::Passage, Side { due: passages.collect(), held: held(Kind::Passage) }),
            (Kind::LeadsTo, Side { due: edges.collect(), held: held(Kind::LeadsTo) }),
        ])
    }

    /// Returns what a reader of the current version sees.
    fn visible(&self) -> Visible {
        let sees = |since: i64, until: Option<i64>| since <= self.version && until.is_none_or(|it| it > self.version);
        let mut visible = Visible::new();
        for ((kind, key, since), stored) in &self.elements {
            if sees(*since, stored.until) {
                for (end, end_since) in stored.ends.iter().flatten() {
                    let end = &self.elements[&(Kind::Passage, *end, *end_since)];
                    assert!(sees(*since, end.until), "a relationship that is seen hangs on a node that is not");
                }
                let ends = stored.ends.map(|ends| ends.map(|(key, _)| key));
                let before = visible.insert((*kind, *key), (stored.digest, ends));
                assert!(before.is_none(), "{key:?} is seen twice");
            }
        }
        visible
    }

    /// Takes the steps of a publish, at most `steps_max` of them; returns whether it was finished.
    fn publish(&mut self, graph: &Graph, change: Change, leftovers: Leftovers, steps_max: usize) -> bool {
        let sides = self.sides(graph);
        let plan = plan(&sides, self.version, change, leftovers);
        let next = self.version + 1;
        let mut left = steps_max;
        let mut step = || {
            left = left.saturating_sub(1);
            left > 0
        };
        let before = self.visible();
        for kind in [Kind::LeadsTo, Kind::Passage] {
            for Place { key, since, .. } in &plan.steps[&kind].drop {
                if !step() {
                    return false;
                }
                self.remove(kind, *key, *since);
                assert_eq!(self.visible(), before);
            }
        }
        for kind in [Kind::Passage, Kind::LeadsTo] {
            for number in &plan.steps[&kind].add {
                if !step() {
                    return false;
                }
                self.write(kind, &sides[&kind].due[*number as usize], &plan, next);
                assert_eq!(self.visible(), before);
            }
            let steps = &plan.steps[&kind];
            for (Place { key, since, .. }, until) in
                steps.retire.iter().map(|it| (it, Some(next))).chain(steps.revive.iter().map(|it| (it, None)))
            {
                if !step() {
                    return false;
                }
                self.elements.get_mut(&(kind, *key, *since)).unwrap().until = until;
                assert_eq!(self.visible(), before);
            }
        }
        for kind in [Kind::Passage, Kind::LeadsTo] {
            for number in &plan.steps[&kind].change {
                let number = *number as usize;
                self.write(kind, &sides[&kind].due[number], &plan, plan.steps[&kind].since[number]);
            }
        }
        self.version = next;
        let now = self.visible();
        for kind in [Kind::LeadsTo, Kind::Passage] {
            let steps = &plan.steps[&kind];
            for Place { key, since, .. } in &steps.gone() {
                if !step() {
                    return false;
                }
                self.remove(kind, *key, *since);
                assert_eq!(self.visible(), now);
            }
        }
        true
    }

    fn write(&mut self, kind: Kind, due: &Due, plan: &Plan, since: i64) {
        let element = Element { key: due.key, ends: due.ends, properties: Properties::default() };
        let Since { from: from_since, to: to_since, .. } = plan.since(kind, &element, since);
        let ends = due.ends.map(|(from, to)| [(from, from_since), (to, to_since)]);
        if let Some(old) = self.elements.get(&(kind, due.key, since)) {
            assert_eq!(old.ends, ends, "a relationship is not moved");
        }
        // A write replaces the whole element, including a mark of retirement.
        self.elements.insert((kind, due.key, since), Stored { until: None, digest: due.digest, ends });
    }

    /// Removes an element, with everything attached to it, as the database does.
    fn remove(&mut self, kind: Kind, key: Key, since: i64) {
        self.elements.remove(&(kind, key, since));
        if kind == Kind::Passage {
            self.elements.retain(|_, it| !it.ends.is_some_and(|ends| ends.contains(&(key, since))));
        }
    }
}

impl Graph {
    fn visible(&self) -> Visible {
        let passages = self.passages.iter().map(|(it, digest)| ((Kind::Passage, key(*it)), (*digest, None)));
        let edges = self.edges.iter().map(|((from, to), digest)| {
            ((Kind::LeadsTo, edge_key(*from, *to)), (*digest, Some([key(*from), key(*to)])))
        });
        passages.chain(edges).collect()
    }
}

fn edge_key(from: u8, to: u8) -> Key {
    let mut key = [0; 16];
    (key[0], key[1], key[2]) = (1, from, to);
    key
}

fn graphs() -> impl Strategy<Value = Graph> {
    let passages = prop::collection::btree_map(2..8_u8, 0..3_i64, 0..6);
    let edges = prop::collection::btree_map((2..8_u8, 2..8_u8), 0..3_i64, 0..10);
    (passages, edges).prop_map(|(passages, mut edges)| {
        edges.retain(|(from, to), _| passages.contains_key(from) && passages.contains_key(to));
        Graph { passages, edges }
    })
}

proptest! {
    /// Whatever was published before, and wherever that was interrupted, a publish that may finish gives exactly the
    /// new graph; and no reader ever sees a state in between.
    #[test]
    fn a_publish_that_may_finish_gives_exactly_the_new_graph(
        attempts in prop::collection::vec((graphs(), any::<bool>(), 1..40_usize), 0..5),
        last in graphs(),
    ) {
        let mut store = Store::default();
        let mut begun: Option<(i64, Graph, Change)> = None;
        for (graph, in_place, steps_max) in attempts {
            let change = if in_place { Change::InPlace } else { Change::Replace };
            let is_same = begun.as_ref().is_some_and(|(version, it, how)| {
                *version == store.version && it.visible() == graph.visible() && *how == change
            });
            let leftovers = if is_same { Leftovers::Keep } else { Leftovers::Drop };
            begun = Some((store.version, graph.clone(), change));
            store.publish(&graph, change, leftovers, steps_max);
            // The same once more, from where it stopped.
            if begun.as_ref().is_some_and(|(version, ..)| *version == store.version) {
                store.publish(&graph, change, Leftovers::Keep, steps_max);
            }
        }
        for change in [Change::InPlace, Change::Replace] {
            let mut store = store.clone();
            prop_assert!(store.publish(&last, change, Leftovers::Drop, usize::MAX));
            prop_assert_eq!(store.visible(), last.visible());
            prop_assert_eq!(store.elements.len(), last.visible().len(), "something is left");
            let sides = store.sides(&last);
            let again = plan(&sides, store.version, change, Leftovers::Drop);
            prop_assert!(again.steps.values().all(Steps::is_empty));
        }
    }
}
