//! Leiden at different sizes: modularity, communities, levels, time and memory.
//!
//! ```text
//! cargo bench --bench communities -- [GRAPH [NAME=VALUE …]]
//! ```
//!
//! `GRAPH` is a file with one edge per line (`a b weight`, vertices numbered from 0; `# n` on the first line gives
//! their number), or a random graph: `lfr:VERTICES` has known communities (after Lancichinetti, Fortunato, Radicchi
//! 2008: degrees and sizes follow power laws, 40 % of the edges of a vertex lead out of its community),
//! `power:VERTICES` has none, only degrees that follow a power law (Chung and Lu 2002), and weights. Options: `rounds`,
//! `seed`, `max` (members of a community), `resolution`, `quality` (`modularity`, or `cpm`), `runs` (of which the least
//! time counts), `labels` (a file for the community of each vertex) and `edges` (a file for the edges). Without a
//! graph, it uses both with a hundred thousand and with a million vertices. `communities.py` compares it with `igraph`
//! and `leidenalg`.

#![expect(clippy::cast_sign_loss, reason = "what is cast is drawn from positive ranges")]

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};

use cairn::Cancellation;
use cairn::graph::leiden::{LeidenOptions, Quality, WeightedGraph, levels, modularity, partition};

type Failure = Box<dyn std::error::Error>;
type Edge = (u32, u32, f32);

/// The share of the edges of a vertex that lead out of its community.
const MIXING: f64 = 0.4;
/// The mean degree of a random graph with communities, and of one without.
const DEGREE_MEAN: [f64; 2] = [10.5, 12.0];

fn main() -> Result<(), Failure> {
    // `cargo test --benches` runs a benchmark without this argument.
    let is_smoke = std::env::args().all(|argument| argument != "--bench");
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let Some((graph, options)) = args.split_first() else {
        let sizes: &[u32] = if is_smoke { &[1_000] } else { &[100_000, 1_000_000] };
        for size in sizes {
            measure(&format!("lfr:{size}"), &Asked::default())?;
            measure(&format!("power:{size}"), &Asked::default())?;
        }
        return Ok(());
    };
    measure(graph, &Asked::of(options)?)
}

/// The options on the command line.
struct Asked {
    leiden: LeidenOptions,
    runs: usize,
    labels: Option<String>,
    edges: Option<String>,
}

impl Default for Asked {
    fn default() -> Self {
        Self { leiden: LeidenOptions::default(), runs: 1, labels: None, edges: None }
    }
}

impl Asked {
    fn of(options: &[String]) -> Result<Self, Failure> {
        let mut asked = Self::default();
        for option in options {
            let (name, value) = option.split_once('=').ok_or("an option is NAME=VALUE")?;
            match name {
                "rounds" => asked.leiden.rounds_max = value.parse()?,
                "seed" => asked.leiden.seed = value.parse()?,
                "max" => asked.leiden.members_max = value.parse()?,
                "resolution" => asked.leiden.resolution = value.parse()?,
                "quality" if value == "modularity" => asked.leiden.quality = Quality::Modularity,
                "quality" if value == "cpm" => asked.leiden.quality = Quality::ConstantPotts,
                "runs" => asked.runs = value.parse()?,
                "labels" => asked.labels = Some(value.to_owned()),
                "edges" => asked.edges = Some(value.to_owned()),
                _ => return Err(format!("no option `{option}`").into()),
            }
        }
        Ok(asked)
    }
}

/// Finds communities and their levels; prints them and their cost.
fn measure(name: &str, asked: &Asked) -> Result<(), Failure> {
    let (count, edges) = match name.split_once(':') {
        Some(("lfr", count)) => (count.parse()?, with_communities(count.parse()?, asked.leiden.seed)),
        Some(("power", count)) => (count.parse()?, without_communities(count.parse()?, asked.leiden.seed)),
        _ => read(name)?,
    };
    if let Some(path) = &asked.edges {
        write(path, count, &edges)?;
    }
    let (base, built_at) = (megabytes("VmRSS:"), cpu_seconds());
    let graph = WeightedGraph::of_edges(count as usize, &edges);
    let building = cpu_seconds() - built_at;
    let mut least = f64::INFINITY;
    let mut communities = Vec::new();
    for _ in 0..asked.runs.max(1) {
        let begun = cpu_seconds();
        communities = partition(&graph, &asked.leiden, &Cancellation::default())?;
        least = least.min(cpu_seconds() - begun);
    }
    let peak = megabytes("VmHWM:");
    let quality = modularity(&graph, &communities, 1.0);
    let found = communities.iter().max().map_or(0, |most| most + 1);
    println!("{name}: {count} vertices, {} edges, {building:.2} CPU s to build", edges.len());
    println!("  modularity {quality:.6}, {found} communities, {least:.3} CPU s, peak {peak} MB, {base} before");
    if let Some(path) = &asked.labels {
        let lines: Vec<String> = communities.iter().map(u32::to_string).collect();
        fs::write(path, lines.join("\n"))?;
    }
    let begun = cpu_seconds();
    let all = levels(&graph, &asked.leiden, &Cancellation::default())?;
    let taken = cpu_seconds() - begun;
    let depth = all.iter().map(|community| community.level as usize + 1).max().unwrap_or_default();
    let mut on_levels = vec![0; depth];
    for community in &all {
        on_levels[community.level as usize] += 1;
    }
    println!("  levels {depth}, communities on each {on_levels:?}, {taken:.3} CPU s, peak {} MB", megabytes("VmHWM:"));
    Ok(())
}

/// Reads edges and the number of vertices.
fn read(path: &str) -> Result<(u32, Vec<Edge>), Failure> {
    let (mut count, mut edges) = (0, Vec::new());
    for line in BufReader::new(File::open(path)?).lines() {
        let line = line?;
        if let Some(named) = line.strip_prefix('#') {
            count = count.max(named.trim().parse()?);
            continue;
        }
        let mut fields = line.split_whitespace();
        let (Some(from), Some(to)) = (fields.next(), fields.next()) else { continue };
        let (from, to) = (from.parse::<u32>()?, to.parse::<u32>()?);
        count = count.max(from.max(to) + 1);
        edges.push((from, to, fields.next().map_or(Ok(1.0), str::parse)?));
    }
    Ok((count, edges))
}

fn write(path: &str, count: u32, edges: &[Edge]) -> Result<(), Failure> {
    let mut out = BufWriter::new(File::create(path)?);
    writeln!(out, "# {count}")?;
    for (from, to, weight) in edges {
        writeln!(out, "{from} {to} {weight}")?;
    }
    Ok(out.flush()?)
}

/// Draws a graph with communities of 20 to 1,000 vertices; a share [`MIXING`] of the edges of each vertex lead out of
/// its community.
fn with_communities(count: u32, seed: u64) -> Vec<Edge> {
    let mut random = SplitMix64(seed);
    let mut order: Vec<u32> = (0..count).collect();
    shuffle(&mut order, &mut random);
    let [mean, _] = DEGREE_MEAN;
    let degrees = degrees(count, mean, (2.5, 100.0), &mut random);
    let (mut edges, mut outside) = (Vec::new(), Vec::new());
    let mut rest: &[u32] = &order;
    while !rest.is_empty() {
        let size = (power(&mut random, 1.5, (20.0, 1_000.0)) as usize).min(rest.len());
        let (community, others) = rest.split_at(size);
        rest = others;
        let mut inside = Vec::new();
        for vertex in community {
            for _ in 0..degrees[*vertex as usize] {
                if random.unit() < MIXING { outside.push(*vertex) } else { inside.push(*vertex) }
            }
        }
        pair(&mut inside, &mut random, &mut edges);
    }
    pair(&mut outside, &mut random, &mut edges);
    merged(edges)
}

/// Draws a graph whose degrees follow a power law, as do the weights of its edges, from 1 to 100.
fn without_communities(count: u32, seed: u64) -> Vec<Edge> {
    let mut random = SplitMix64(seed);
    let [_, mean] = DEGREE_MEAN;
    let degrees = degrees(count, mean, (2.5, f64::from(count).sqrt() * 3.0), &mut random);
    let mut ends: Vec<u32> = (0..count).flat_map(|vertex| (0..degrees[vertex as usize]).map(move |_| vertex)).collect();
    let mut edges = Vec::new();
    pair(&mut ends, &mut random, &mut edges);
    for edge in &mut edges {
        edge.2 = power(&mut random, 2.0, (1.0, 100.0)).floor() as f32;
    }
    merged(edges)
}

/// Draws degrees that follow a power law with this exponent, maximum and mean.
fn degrees(count: u32, mean: f64, (exponent, most): (f64, f64), random: &mut SplitMix64) -> Vec<u32> {
    let drawn: Vec<f64> = (0..count).map(|_| power(random, exponent, (1.0, most))).collect();
    let factor = mean * f64::from(count) / drawn.iter().sum::<f64>();
    drawn.iter().map(|degree| random.rounded(degree * factor)).collect()
}

/// Draws a number in a range that follows a power law.
fn power(random: &mut SplitMix64, exponent: f64, (least, most): (f64, f64)) -> f64 {
    let flat = 1.0 - exponent;
    let (low, high) = (f64::powf(least, flat), f64::powf(most, flat));
    random.unit().mul_add(high - low, low).powf(flat.recip())
}

/// Joins pairs of edge ends at random.
fn pair(ends: &mut [u32], random: &mut SplitMix64, edges: &mut Vec<Edge>) {
    shuffle(ends, random);
    edges.extend(ends.as_chunks::<2>().0.iter().map(|[from, to]| (*from.min(to), *from.max(to), 1.0)));
}

/// Returns edges without loops, and only one between any two vertices.
fn merged(mut edges: Vec<Edge>) -> Vec<Edge> {
    edges.retain(|(from, to, _)| from != to);
    edges.sort_unstable_by_key(|(from, to, weight)| (*from, *to, weight.to_bits()));
    edges.dedup_by_key(|(from, to, _)| (*from, *to));
    edges
}

fn shuffle(values: &mut [u32], random: &mut SplitMix64) {
    for last in (1..values.len()).rev() {
        values.swap(last, (random.unit() * (last + 1) as f64) as usize);
    }
}

/// The generator of Steele, Lea, Flood 2014.
struct SplitMix64(u64);

impl SplitMix64 {
    /// Returns a number from 0 to 1, exclusive.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((value ^ (value >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns one of the two integers next to a value; the nearer one is likelier.
    fn rounded(&mut self, value: f64) -> u32 {
        (value + self.unit()) as u32
    }
}

/// Returns the CPU seconds of all threads of this process, if the system reports them.
fn cpu_seconds() -> f64 {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let statistics = threads.filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok());
    let nanoseconds = statistics.filter_map(|it| it.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.sum::<f64>() / 1e9
}

/// Returns a memory figure of this process by its name in the system, if the system reports it.
fn megabytes(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.split_whitespace().next().and_then(|it| it.parse::<u64>().ok()).unwrap_or_default() / 1024
}
