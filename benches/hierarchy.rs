//! The hierarchy of entities at different sizes: relations, communities and layers, their CPU seconds and memory, how
//! they grow, how well planted clusters are found, and how soon a stop takes effect.
//!
//! ```text
//! cargo bench --bench hierarchy -- [stage [ENTITIES …]] [planted [VECTORS …]] [stop [VERTICES]]
//! ```
//!
//! `stage` makes the whole hierarchy of random documents: each is about an entity and names five others, in one
//! sentence each and mostly of its own group, so that there are about five relations per entity. `planted` clusters
//! vectors around known centers, and compares the result with k-means with as many clusters. `stop` asks Leiden and the
//! mixture to stop in the middle of their work. Without arguments, it does all of them, at ten thousand and a hundred
//! thousand; CPU seconds are those of all threads, if the system reports them.

#![allow(dead_code, reason = "tests use more of what is planted")]

#[path = "../src/graph/mixture/planted.rs"]
mod planted;

use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, Instant};

use cairn::Cancellation;
use cairn::domain::Span;
use cairn::graph::hierarchy::{HierarchyPreset, pack_hierarchy};
use cairn::graph::leiden::{LeidenOptions, WeightedGraph, levels};
use cairn::graph::mentions::{NamedDocument, NamedPassage, pack_mentions};
use cairn::graph::mixture::{MixtureOptions, SoftClusters, soft_clusters};
use cairn::graph::packed::PackedGraph;
use cairn::graph::vectors::QuantizedVectors;
use planted::{PlantedOptions, Random, adjusted_rand};
use rayon::prelude::*;

type Failure = Box<dyn std::error::Error>;

/// Entities named in each document, one per sentence.
const NAMED: usize = 5;
/// Entities of a group, whose documents name each other.
const GROUP: u32 = 40;
/// The share of names that come from any group.
const OUTSIDE: f64 = 0.1;
/// Values of a vector.
const DIMENSION: usize = 256;
/// The sizes at which growth is measured.
const SIZES: [u32; 2] = [10_000, 100_000];
const PLANTED: [usize; 3] = [1_000, 10_000, 100_000];
/// Rounds of k-means alone.
const MEAN_ROUNDS: usize = 20;
/// When a stop is requested, after the work began.
const STOP_AFTER: Duration = Duration::from_millis(500);

fn main() -> Result<(), Failure> {
    // `cargo test --benches` runs a benchmark without this argument.
    let is_smoke = std::env::args().all(|argument| argument != "--bench");
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let numbers: Vec<usize> = args.iter().filter_map(|arg| arg.parse().ok()).collect();
    let asks = |word: &str| args.iter().all(|arg| arg.parse::<usize>().is_ok()) || args.iter().any(|arg| arg == word);
    let sizes = |usual: &[usize], smoke: usize| match (numbers.is_empty(), is_smoke) {
        (false, _) => numbers.clone(),
        (true, true) => vec![smoke],
        (true, false) => usual.to_vec(),
    };
    if asks("stage") {
        stage(&sizes(&SIZES.map(|size| size as usize), 500))?;
    }
    if asks("planted") {
        for count in sizes(&PLANTED, 500) {
            measure_planted(count)?;
        }
    }
    if asks("stop") {
        for count in sizes(&[1_000_000], 2_000) {
            measure_stop(count);
        }
    }
    Ok(())
}

/// Makes the hierarchy at each size, and reports how its cost grows from the first to the last.
fn stage(sizes: &[usize]) -> Result<(), Failure> {
    println!("| entities | relations | communities on levels | summaries on layers | CPU s | MB above what is given |");
    println!("|---:|---:|---|---|---:|---:|");
    let costs = sizes.iter().map(|size| made(*size as u32)).collect::<Result<Vec<f64>, Failure>>()?;
    if let ([first, .., last], [least, .., most]) = (&costs[..], sizes) {
        let exponent = (last / first).ln() / (*most as f64 / *least as f64).ln();
        println!("\nIts cost grows with the number of entities to the power of {exponent:.2}.");
    }
    Ok(())
}

/// Makes the hierarchy of a random collection; returns the CPU seconds.
fn made(count: u32) -> Result<f64, Failure> {
    let drawn: Vec<Drawn> = (0..count).map(|number| Drawn::of(number, count)).collect();
    let named: Vec<NamedDocument<'_>> = drawn.iter().map(Drawn::named).collect();
    let (mut packed, go_on) = (PackedGraph::default(), Cancellation::default());
    pack_mentions(&named, &mut packed, None, &go_on)?;
    let vectors = sentence_vectors(&drawn);
    let (options, base, begun) = (HierarchyPreset::default().options(), reset_peak(), cpu_seconds());
    let made = pack_hierarchy(packed.view(), &named, &vectors.view(), &options, &go_on)?;
    let (seconds, peak) = (cpu_seconds() - begun, megabytes("VmHWM:"));
    let hierarchy = made.view();
    let per = |numbers: &[u32]| {
        let counts = numbers.chunk_by(PartialEq::eq).map(|same| same.len().to_string());
        counts.collect::<Vec<_>>().join(", ")
    };
    println!(
        "| {} | {} | {} | {} | {seconds:.2} | {} |",
        packed.entity_name_ends.len(),
        hierarchy.counts().relations,
        per(&made.community_level),
        per(&made.summary_layer),
        peak.saturating_sub(base)
    );
    Ok(seconds)
}

/// A document about an entity.
struct Drawn {
    title: String,
    text: String,
    sentences: Vec<Span>,
    group: u32,
}

/// Returns a number from 0 to `count`, exclusive.
#[expect(clippy::cast_sign_loss, reason = "the product is not negative")]
fn below(random: &mut Random, count: u32) -> u32 {
    ((random.unit() * f64::from(count)) as u32).min(count - 1)
}

impl Drawn {
    fn of(number: u32, count: u32) -> Self {
        let mut random = Random(u64::from(number));
        let mut below = |count: u32| below(&mut random, count);
        let (title, group) = (name(number), number / GROUP);
        let (mut text, mut sentences) = (String::new(), Vec::new());
        for _ in 0..NAMED {
            let is_outside = f64::from(below(1_000)) < OUTSIDE * 1_000.0;
            let other = if is_outside { below(count) } else { (group * GROUP + below(GROUP)).min(count - 1) };
            let start = text.len() as u32;
            let _written = write!(text, "{title} was seen with {} by the river. ", name(other));
            sentences.push(Span { start, end: text.len() as u32 - 1 });
        }
        Self { title, text, sentences, group }
    }

    fn named(&self) -> NamedDocument<'_> {
        let passage =
            NamedPassage { text: &self.text, sentences: &self.sentences, media_type: "text/plain", extraction: None };
        NamedDocument { title: Some(&self.title), passages: vec![passage] }
    }
}

/// Returns a name of two words that is unique to this number.
fn name(number: u32) -> String {
    format!("{} {}", word(number / 400), word(400 + number % 400))
}

/// Returns a capitalized word made of syllables.
fn word(mut number: u32) -> String {
    const FIRST: [&str; 10] = ["Ba", "De", "Fi", "Go", "Hu", "Ka", "Le", "Mi", "No", "Ru"];
    const NEXT: [&str; 10] = ["lan", "mer", "nis", "pol", "quar", "ras", "sen", "til", "von", "zek"];
    let mut word = FIRST[number as usize % 10].to_owned();
    loop {
        number /= 10;
        word.push_str(NEXT[number as usize % 10]);
        if number < 10 {
            return word;
        }
    }
}

/// Returns a vector for each sentence, near that of its group.
fn sentence_vectors(drawn: &[Drawn]) -> QuantizedVectors {
    let mut vectors = QuantizedVectors::new(DIMENSION);
    for (number, document) in (0..).zip(drawn) {
        let around = |seed: u64, spread: f32, center: &[f32]| -> Vec<f32> {
            let mut random = Random(seed);
            center.iter().map(|value| value + spread * (random.unit() as f32 - 0.5)).collect()
        };
        let center = around(u64::from(document.group) << 32 | 1, 2.0, &[0.0; DIMENSION]);
        for sentence in 0..document.sentences.len() as u64 {
            let mut vector = around(number << 8 | sentence, 2.0, &center);
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            for value in &mut vector {
                *value /= length;
            }
            vectors.push(&vector);
        }
    }
    vectors
}

/// Clusters planted vectors, and reports how well the clusters agree with the planted ones.
fn measure_planted(count: usize) -> Result<(), Failure> {
    let (topics, groups_per_topic) = match count {
        0..=1_000 => (20, 2),
        1_001..=20_000 => (20, 10),
        _ => (40, 10),
    };
    let options = PlantedOptions { count, dimensions: 384, topics, groups_per_topic, noise: 1.0, seed: 7 };
    let drawn = planted::planted(options);
    let begun = cpu_seconds();
    let mixture = MixtureOptions { members_max: usize::MAX, ..MixtureOptions::default() };
    let found = soft_clusters(&drawn.vectors, options.dimensions, &mixture, &Cancellation::default())?;
    let (seconds, begun) = (cpu_seconds() - begun, cpu_seconds());
    let alone = k_means(&drawn.vectors, options.dimensions, found.count);
    println!(
        "{count} vectors of {} groups: adjusted Rand {:.3}, {} clusters and {:.2} memberships, {seconds:.2} CPU s; \
         k-means with as many {:.3} in {:.2} CPU s",
        topics * groups_per_topic,
        adjusted_rand(&most_probable(&found), &drawn.groups),
        found.count,
        found.cluster.len() as f64 / count as f64,
        adjusted_rand(&alone, &drawn.groups),
        cpu_seconds() - begun,
    );
    Ok(())
}

fn most_probable(found: &SoftClusters) -> Vec<u32> {
    found.rows[..found.rows.len() - 1].iter().map(|begin| found.cluster[*begin as usize]).collect()
}

/// Returns the cluster of each vector by k-means (Lloyd 1982) from evenly spread vectors.
fn k_means(vectors: &[f32], dimensions: usize, count: usize) -> Vec<u32> {
    let rows: Vec<&[f32]> = vectors.chunks_exact(dimensions).collect();
    let mut means: Vec<Vec<f32>> = (0..count).map(|at| rows[at * rows.len() / count].to_vec()).collect();
    let mut nearest: Vec<u32> = Vec::new();
    for _ in 0..MEAN_ROUNDS {
        let halves: Vec<f32> = means.iter().map(|mean| mean.iter().map(|it| it * it).sum::<f32>() / 2.0).collect();
        let of_row = |row: &&[f32]| {
            let fit = |mean: &Vec<f32>| row.iter().zip(mean).map(|(a, b)| a * b).sum::<f32>();
            let fits = means.iter().zip(&halves).map(|(mean, half)| fit(mean) - half);
            let best = (0..).zip(fits).fold((0, f32::NEG_INFINITY), |best, it| if it.1 > best.1 { it } else { best });
            best.0
        };
        let found: Vec<u32> = rows.par_iter().map(of_row).collect();
        if found == nearest {
            break;
        }
        nearest = found;
        let mut counts = vec![0.0_f32; count];
        let mut sums = vec![vec![0.0_f32; dimensions]; count];
        for (row, mean) in rows.iter().zip(&nearest) {
            counts[*mean as usize] += 1.0;
            sums[*mean as usize].iter_mut().zip(*row).for_each(|(sum, value)| *sum += value);
        }
        for ((mean, sum), count) in means.iter_mut().zip(sums).zip(counts).filter(|it| it.1 > 0.0) {
            mean.iter_mut().zip(sum).for_each(|(value, sum)| *value = sum / count);
        }
    }
    nearest
}

/// Asks Leiden and the mixture to stop, and reports how long they continue.
fn measure_stop(count: usize) {
    let mut random = Random(3);
    let mut any = || below(&mut random, count as u32);
    let edges: Vec<(u32, u32, f32)> = (0..5 * count as u32).map(|at| (at % count as u32, any(), 1.0)).collect();
    let graph = WeightedGraph::of_edges(count, &edges);
    went_on("Leiden", count, |stop| levels(&graph, &LeidenOptions::default(), stop).is_err());
    let mut random = Random(5);
    let vectors: Vec<f32> = (0..count * 64).map(|_| random.unit() as f32 - 0.5).collect();
    went_on("the mixture", count, |stop| soft_clusters(&vectors, 64, &MixtureOptions::default(), stop).is_err());
}

fn went_on(name: &str, count: usize, work: impl Fn(&Cancellation) -> bool + Sync) {
    let stop = Cancellation::default();
    let (stopped, seconds) = std::thread::scope(|scope| {
        let working = scope.spawn(|| work(&stop));
        std::thread::sleep(STOP_AFTER);
        stop.cancel();
        let asked = Instant::now();
        (working.join().unwrap_or_default(), asked.elapsed().as_secs_f64())
    });
    if stopped {
        println!("{name} of {count} went on for {seconds:.3} s after it was asked to stop");
    } else {
        println!("{name} of {count} had ended before it was asked to stop");
    }
}

/// Returns the CPU seconds of all threads of this process, if the system reports them.
fn cpu_seconds() -> f64 {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let statistics = threads.filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok());
    let nanoseconds = statistics.filter_map(|it| it.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.sum::<f64>() / 1e9
}

/// Resets the peak of memory if the system allows it, and returns the memory in use.
fn reset_peak() -> u64 {
    let _forgotten = fs::write("/proc/self/clear_refs", "5");
    megabytes("VmRSS:")
}

/// Returns a memory figure of this process by its name in the system, if the system reports it.
fn megabytes(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.split_whitespace().next().and_then(|it| it.parse::<u64>().ok()).unwrap_or_default() / 1024
}
