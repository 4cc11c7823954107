//! Partitions of graphs with known communities, and properties of every partition.

use super::*;

fn partition(graph: &WeightedGraph, options: &LeidenOptions) -> Vec<u32> {
    super::partition(graph, options, &Cancellation::default()).unwrap()
}

fn levels(graph: &WeightedGraph, options: &LeidenOptions) -> Vec<Community> {
    super::levels(graph, options, &Cancellation::default()).unwrap()
}

/// Cliques of `size` vertices in a ring, joined by one edge each.
fn ring_of_cliques(cliques: u32, size: u32) -> WeightedGraph {
    let mut edges = Vec::new();
    for clique in 0..cliques {
        let first = clique * size;
        edges.extend((first..first + size).flat_map(|a| (a + 1..first + size).map(move |b| (a, b, 1.0))));
        edges.push((first, (first + size) % (cliques * size), 1.0));
    }
    WeightedGraph::of_edges((cliques * size) as usize, &edges)
}

/// A random graph with more edges within groups of `group` vertices.
fn planted(vertices: u32, group: u32, seed: u64) -> WeightedGraph {
    let mut random = SplitMix64::new(seed);
    let mut below = |count: u32| random.below(count);
    let mut edges = Vec::new();
    for vertex in 0..vertices {
        let first = vertex / group * group;
        edges.extend((0..6).map(|_| (vertex, first + below(group.min(vertices - first)), 1.0)));
        edges.extend((0..2).map(|_| (vertex, below(vertices), 0.5)));
    }
    WeightedGraph::of_edges(vertices as usize, &edges)
}

fn is_connected(graph: &WeightedGraph, members: &[u32]) -> bool {
    let mut groups = vec![u32::MAX; graph.vertex_count()];
    for member in members {
        groups[*member as usize] = 0;
    }
    let found = connected(graph, &groups);
    members.iter().all(|member| found[*member as usize] == found[members[0] as usize])
}

#[test]
fn cliques_are_communities() {
    let graph = ring_of_cliques(12, 5);
    for quality in [Quality::Modularity, Quality::ConstantPotts] {
        let resolution = if quality == Quality::Modularity { 1.0 } else { 0.5 };
        let found = partition(&graph, &LeidenOptions { quality, resolution, ..LeidenOptions::default() });
        let due: Vec<u32> = (0..60).map(|vertex| vertex / 5).collect();
        assert_eq!(found, due, "{quality:?}");
    }
}

#[test]
fn a_seed_gives_one_partition_and_every_community_of_every_level_is_connected() {
    for seed in 0..20 {
        let graph = planted(400, 20, seed);
        let options = LeidenOptions { seed, ..LeidenOptions::default() };
        let all = levels(&graph, &options);
        assert_eq!(all, levels(&graph, &options));
        assert!(all.iter().all(|community| is_connected(&graph, &community.members)), "seed {seed}");
        // On each level, communities are divided completely.
        for (number, community) in (0..).zip(&all) {
            let mut inside: Vec<u32> =
                all.iter().filter(|it| it.parent == Some(number)).flat_map(|it| it.members.clone()).collect();
            inside.sort_unstable();
            assert!(inside.is_empty() || inside == community.members, "seed {seed}");
        }
        let mut top: Vec<u32> = all.iter().filter(|it| it.level == 0).flat_map(|it| it.members.clone()).collect();
        top.sort_unstable();
        assert!(top.into_iter().eq(0..400), "seed {seed}: everybody is in one community");
    }
}

#[test]
fn refinement_divides_communities_into_connected_ones() {
    for seed in 0..20 {
        let graph = planted(400, 20, seed);
        let strengths = (0..400).map(|vertex| graph.strength(vertex)).collect();
        let (graph, resolution) = (graph.with_sizes(strengths), 1.0 / (2.0 * graph.total()));
        let mut random = SplitMix64::new(seed);
        // Two halves that are connected no better than by chance.
        let halves: Vec<u32> = (0..400).map(|vertex| vertex % 2).collect();
        let go_on = Cancellation::default();
        let mut parts = refine(&graph, &halves, (resolution, 0.01), &mut random, &go_on).unwrap();
        let count = renumber(&mut parts);
        assert!((2..400).contains(&count), "seed {seed}: {count}");
        for part in members(&parts, count) {
            assert!(part.iter().all(|vertex| vertex % 2 == part[0] % 2), "seed {seed}: a part of two communities");
            assert!(is_connected(&graph, &part), "seed {seed}");
        }
        // Before the last step, which would divide disconnected parts.
        let mut communities: Vec<u32> = (0..400).collect();
        round(&graph, &mut communities, (resolution, 0.01), &mut random, &go_on).unwrap();
        let count = renumber(&mut communities);
        assert!(members(&communities, count).iter().all(|members| is_connected(&graph, members)), "seed {seed}");
    }
}

#[test]
fn no_round_loses_and_one_without_a_gain_is_not_the_last() {
    let mut gains_later = 0;
    for seed in 0..20 {
        // Without groups, many partitions are almost as good as the best one.
        let graph = planted(60, 60, seed);
        let after = |rounds_max| {
            let options = LeidenOptions { rounds_max, seed, ..LeidenOptions::default() };
            modularity(&graph, &partition(&graph, &options), 1.0)
        };
        let qualities: Vec<f64> = (1..=10).map(after).collect();
        assert!(qualities.is_sorted_by(|earlier, later| *later > earlier - 1e-12), "seed {seed}: {qualities:?}");
        let gains = |from: usize, to: usize| qualities[to] > qualities[from] + 1e-9;
        gains_later += usize::from((2..10).any(|round| gains(round - 1, round) && !gains(round - 2, round - 1)));
    }
    assert!(gains_later > 0);
}

#[test]
fn levels_are_the_same_on_any_number_of_threads() {
    let graph = planted(2_000, 100, 3);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| levels(&graph, &LeidenOptions::default()))
    };
    let one = on(1);
    assert!(one.iter().any(|community| community.level > 1));
    assert!([2, 7].into_iter().all(|threads| on(threads) == one));
}

#[test]
fn planted_groups_are_found() {
    let graph = planted(1_000, 50, 7);
    let found = partition(&graph, &LeidenOptions::default());
    let due: Vec<u32> = (0..1_000).map(|vertex| vertex / 50).collect();
    assert!(modularity(&graph, &found, 1.0) >= modularity(&graph, &due, 1.0));
}

#[test]
fn what_has_no_edges_or_is_in_other_components_is_in_communities_too() {
    assert!(partition(&WeightedGraph::of_edges(0, &[]), &LeidenOptions::default()).is_empty());
    assert!(levels(&WeightedGraph::of_edges(0, &[]), &LeidenOptions::default()).is_empty());
    assert_eq!(partition(&WeightedGraph::of_edges(3, &[]), &LeidenOptions::default()), [0, 1, 2]);
    let edges = [(0, 1, 1.0), (2, 3, 1.0), (4, 4, 1.0), (9, 1, 1.0), (0, 1, f32::NAN), (2, 4, -1.0)];
    assert_eq!(partition(&WeightedGraph::of_edges(5, &edges), &LeidenOptions::default()), [0, 0, 1, 1, 2]);
}

#[test]
fn a_graph_around_some_vertices_has_the_neighbors_of_these_alone() {
    let edges = [(0, 1, 1.0), (1, 2, 2.0), (2, 2, 1.0), (0, 2, 0.5)];
    let around = WeightedGraph::around(3, edges.iter().copied(), |vertex| vertex == 2);
    let whole = WeightedGraph::of_edges(3, &edges);
    assert_eq!(around.neighbors(2), whole.neighbors(2));
    assert_eq!([0, 1].map(|it| around.neighbors(it).len()), [0, 0]);
    assert_eq!([0, 1, 2].map(|it| whole.neighbors(it).len()), [2, 2, 2]);
}

#[test]
fn a_star_and_a_clique_that_cannot_be_divided_stay_whole() {
    let star: Vec<(u32, u32, f32)> = (1..1_000).map(|leaf| (0, leaf, 1.0)).collect();
    let all = levels(&WeightedGraph::of_edges(1_000, &star), &LeidenOptions::default());
    assert_eq!((all.len(), all[0].members.len()), (1, 1_000));
    let clique: Vec<(u32, u32, f32)> = (0..60).flat_map(|a| (a + 1..60).map(move |b| (a, b, 1.0))).collect();
    let all = levels(&WeightedGraph::of_edges(60, &clique), &LeidenOptions::default());
    assert_eq!(all.len(), 1);
}

/// Each edge weighs twice as much as the next: every partition separates the heaviest pair.
#[test]
fn levels_are_bounded_even_if_each_divides_little() {
    let edges: Vec<(u32, u32, f32)> =
        (0..240_u16).map(|at| (at.into(), u32::from(at) + 1, 0.6_f32.powi(at.into()))).collect();
    let all = levels(&WeightedGraph::of_edges(241, &edges), &LeidenOptions { members_max: 1, ..Default::default() });
    let depth = all.iter().map(|it| it.level + 1).max().unwrap();
    assert!((3..=64).contains(&depth), "{depth}");
}

#[test]
fn a_star_of_a_hundred_thousand_edges_and_a_large_clique_are_searched_in_good_time() {
    let star: Vec<(u32, u32, f32)> = (1..=100_000).map(|leaf| (0, leaf, 1.0)).collect();
    let all = levels(&WeightedGraph::of_edges(100_001, &star), &LeidenOptions::default());
    assert_eq!((all.len(), all[0].members.len()), (1, 100_001));
    let clique: Vec<(u32, u32, f32)> = (0..1_000).flat_map(|a| (a + 1..1_000).map(move |b| (a, b, 1.0))).collect();
    let all = levels(&WeightedGraph::of_edges(1_000, &clique), &LeidenOptions::default());
    assert_eq!((all.len(), all[0].members.len()), (1, 1_000));
}

#[test]
fn the_modularity_of_two_halves_is_what_its_definition_says() {
    // Two triangles and an edge between them: 6 of 7 edges within, each half with 7 of 14 ends.
    let edges = [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0), (3, 4, 1.0), (4, 5, 1.0), (3, 5, 1.0), (2, 3, 1.0)];
    let graph = WeightedGraph::of_edges(6, &edges);
    for randomness in [0.0, 0.01] {
        let found = partition(&graph, &LeidenOptions { randomness, ..LeidenOptions::default() });
        assert_eq!(found, [0, 0, 0, 1, 1, 1]);
    }
    let found = [0, 0, 0, 1, 1, 1];
    assert!((modularity(&graph, &found, 1.0) - (6.0 / 7.0 - 0.5)).abs() < 1e-6);
}

/// Every step checks for a stop at every vertex, so that none continues for long.
#[test]
fn a_stop_ends_every_step() {
    let (graph, options, stop) = (planted(400, 20, 5), LeidenOptions::default(), Cancellation::default());
    stop.cancel();
    let is_stopped = |error: crate::error::Error| matches!(error, crate::error::Error::Cancelled);
    assert!(is_stopped(super::levels(&graph, &options, &stop).unwrap_err()));
    assert!(is_stopped(super::partition(&graph, &options, &stop).unwrap_err()));
    let (mut communities, mut random): (Vec<u32>, _) = ((0..400).collect(), SplitMix64::new(1));
    assert!(is_stopped(move_vertices(&graph, &mut communities, 1e-6, &mut random, &stop).unwrap_err()));
    assert!(is_stopped(refine(&graph, &[0; 400], (1e-6, 0.01), &mut random, &stop).unwrap_err()));
    assert!(is_stopped(graph.aggregated(&communities, 400, &stop).unwrap_err()));
}
