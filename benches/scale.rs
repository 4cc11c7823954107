//! Cairn at different sizes: a corpus generated from real collections is indexed, opened and asked.
//!
//! ```text
//! cargo bench --bench scale -- COLLECTIONS OUTPUT PASSAGES
//! ```
//!
//! `COLLECTIONS` is a folder of folders with `corpus.jsonl` (`id`, `title`, `text`) and `questions.jsonl`. The first
//! copy of them is unchanged; in each further copy, every word that is mostly capitalized is renamed consistently,
//! letter by letter, so that names keep their frequency and common words stay common. Without arguments, it does
//! nothing: it takes minutes and gigabytes.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use cairn::eval::percentile;
use cairn::{IndexOptions, Performers, QueryEngine, SearchOptions, Sources, Workspace, WorkspaceOptions};
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

/// Questions that are asked.
const QUESTIONS_MAX: usize = 300;

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let [collections, output, passages] = args.as_slice() else {
        println!("nothing done; usage: cargo bench --bench scale -- COLLECTIONS OUTPUT PASSAGES");
        return Ok(());
    };
    let (collections, output) = (Path::new(collections), Path::new(output));
    fs::create_dir_all(output)?;
    let corpus = output.join("corpus.jsonl");
    let questions = generate(collections, &corpus, passages.parse()?)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().build()?;
    runtime.block_on(measure(&corpus, &output.join("index"), &questions))
}

/// Indexes, opens and asks; prints the cost of each.
async fn measure(corpus: &Path, index: &Path, questions: &[String]) -> Result<(), Failure> {
    if index.exists() {
        fs::remove_dir_all(index)?;
    }
    let performers = Performers::built_in();
    let mut workspace = Workspace::open_or_create(index, &WorkspaceOptions::of(&performers))?;
    let (started, cpu) = (Instant::now(), cpu_seconds());
    let sources = Sources::folder(corpus);
    let report = cairn::index(&mut workspace, &sources, &performers, &IndexOptions::default()).await?;
    println!("indexed  {} passages, {} question edges", report.counts.passages, report.counts.edges);
    println!("         {:.1} CPU s, {:.1} s, peak {} MB", cpu_seconds() - cpu, seconds(started), peak_megabytes());
    println!("         {:.0} MB on disk", workspace.status()?.bytes as f64 / 1e6);
    let opened = median((0..5).map(|_| timed(|| QueryEngine::open(&workspace, performers.clone()).map(drop))))?;
    println!("opened   in {opened:.0} ms");
    let engine = QueryEngine::open(&workspace, performers)?;
    for strategy in ["trail", "hybrid", "hop", "layers", "rank"] {
        let options = SearchOptions { strategy: strategy.parse()?, ..SearchOptions::default() };
        let mut times = Vec::new();
        for question in questions {
            let started = Instant::now();
            engine.search(question, &options).await?;
            times.push(seconds(started) * 1e3);
        }
        times.sort_by(f64::total_cmp);
        let [p50, p95, p99] = [500, 950, 990].map(|thousandths| percentile(&times, thousandths));
        println!("{strategy:8} p50 {p50:.1} ms, p95 {p95:.1} ms, p99 {p99:.1} ms");
    }
    Ok(())
}

fn seconds(started: Instant) -> f64 {
    started.elapsed().as_secs_f64()
}

fn timed(run: impl FnOnce() -> cairn::Result<()>) -> cairn::Result<f64> {
    let started = Instant::now();
    run()?;
    Ok(seconds(started) * 1e3)
}

fn median(times: impl Iterator<Item = cairn::Result<f64>>) -> cairn::Result<f64> {
    let mut times = times.collect::<cairn::Result<Vec<f64>>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// Writes `count` records and returns the questions of the collections.
fn generate(collections: &Path, corpus: &Path, count: usize) -> Result<Vec<String>, Failure> {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(collections)?.map(|it| it.map(|it| it.path())).collect::<io::Result<_>>()?;
    folders.sort();
    let (mut records, mut questions) = (Vec::new(), Vec::new());
    for folder in folders.iter().filter(|folder| folder.join("corpus.jsonl").exists()) {
        records.extend(lines(&folder.join("corpus.jsonl"))?);
        questions.extend(lines(&folder.join("questions.jsonl")).unwrap_or_default());
    }
    let names = Names::of(records.iter().map(|record| text(record, "text")));
    let mut out = BufWriter::new(File::create(corpus)?);
    for number in 0..count {
        let (copy, record) = (number / records.len(), &records[number % records.len()]);
        let renamed = |field| names.rename(text(record, field), copy);
        let id = format!("{}#{copy}", text(record, "id"));
        writeln!(out, "{}", json!({ "id": id, "title": renamed("title"), "text": renamed("text") }))?;
    }
    out.flush()?;
    let step = (questions.len() / QUESTIONS_MAX).max(1);
    Ok(questions.iter().step_by(step).map(|it| text(it, "question").to_owned()).collect())
}

fn lines(path: &Path) -> Result<Vec<Value>, Failure> {
    BufReader::new(File::open(path)?).lines().map(|line| Ok(serde_json::from_str(&line?)?)).collect()
}

fn text<'a>(record: &'a Value, field: &str) -> &'a str {
    record[field].as_str().unwrap_or_default()
}

/// How often each word is written in lower case, and how often capitalized.
struct Names(HashMap<String, (u32, u32)>);

const VOWELS: &[u8] = b"aeiou";
const CONSONANTS: &[u8] = b"bcdfghklmnprstvw";

impl Names {
    fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut counts: HashMap<String, (u32, u32)> = HashMap::new();
        for word in texts.flat_map(|text| text.split(|it: char| !it.is_alphabetic())) {
            let cases = counts.entry(word.to_lowercase()).or_default();
            if word.starts_with(char::is_uppercase) { cases.1 += 1 } else { cases.0 += 1 }
        }
        Self(counts)
    }

    /// Returns `text` with the names of copy `copy`; copy 0 is the original.
    fn rename(&self, text: &str, copy: usize) -> String {
        if copy == 0 {
            return text.to_owned();
        }
        let mut renamed = String::with_capacity(text.len());
        for part in text.split_inclusive(|it: char| !it.is_alphabetic()) {
            let word = part.trim_end_matches(|it: char| !it.is_alphabetic());
            let (lower, capitalized) = self.0.get(&word.to_lowercase()).copied().unwrap_or_default();
            if word.starts_with(char::is_uppercase) && word.len() > 2 && 5 * lower <= capitalized {
                renamed.extend(word.chars().enumerate().map(|(at, letter)| shifted(letter, at, copy)));
            } else {
                renamed.push_str(word);
            }
            renamed.push_str(&part[word.len()..]);
        }
        renamed
    }
}

/// Returns another letter of the same kind and case.
fn shifted(letter: char, at: usize, copy: usize) -> char {
    let lower = letter.to_ascii_lowercase();
    let turn = |letters: &[u8], by: usize| {
        let place = letters.iter().position(|it| char::from(*it) == lower)?;
        Some(char::from(letters[(place + by) % letters.len()]))
    };
    let other = if at > 0 { turn(VOWELS, copy) } else { None };
    match other.or_else(|| turn(CONSONANTS, 3 * copy + at)) {
        Some(other) if letter.is_uppercase() => other.to_ascii_uppercase(),
        Some(other) => other,
        None => letter,
    }
}

/// Returns the CPU seconds of this process, user and system, if the system reports them.
fn cpu_seconds() -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS_PER_SECOND
}

/// Returns the peak memory of this process, if the system reports it.
fn peak_megabytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|it| it.parse::<u64>().ok()).unwrap_or_default() / 1024
}
