//! An engine on Neo4j under load: the questions of a bundle, asked by 1, 4, 16 and 64 concurrent tasks.
//!
//! ```text
//! CAIRN_NEO4J_URI=bolt://… cargo bench --bench load -- QUESTIONS [STRATEGY]
//! ```
//!
//! `QUESTIONS` is the `questions.jsonl` of the published collection; `STRATEGY` is `trail` by default.
//! `CAIRN_NEO4J_DATABASE`, `CAIRN_NEO4J_USER` and `CAIRN_NEO4J_PASSWORD` are those of the program. Without a database,
//! it does nothing. Memory is the peak of this process while a number of tasks asked, or since its start if the system
//! cannot reset the peak.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use cairn::config::Settings;
use cairn::eval::{percentile, read_questions};
use cairn::neo4j::{Secret, Target};
use cairn::{Performers, QueryEngine, SearchOptions};

type Failure = Box<dyn std::error::Error>;

/// Questions for each number of tasks.
const QUESTIONS_MAX: usize = 300;
/// Concurrent tasks.
const TASKS: [usize; 4] = [1, 4, 16, 64];

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let database = Settings::read(None)?.neo4j;
    let ([questions, strategy @ ..], Some(uri)) = (args.as_slice(), &database.uri) else {
        println!("nothing done; usage: CAIRN_NEO4J_URI=URI cargo bench --bench load -- QUESTIONS [STRATEGY]");
        return Ok(());
    };
    let mut target = Target::parse(uri)?;
    target.database = database.name;
    target.user = database.user.unwrap_or(target.user);
    target.password = Secret::new(database.password.unwrap_or_default());
    let strategy = strategy.first().map_or("trail", String::as_str).parse()?;
    let options = SearchOptions { strategy, ..SearchOptions::default() };
    let all = read_questions(Path::new(questions))?;
    let step = all.len().div_ceil(QUESTIONS_MAX).max(1);
    let questions = all.into_iter().step_by(step).map(|it| it.question).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(&target, questions, options))
}

/// Opens an engine, asks everything once to load the texts into memory, then once with each number of tasks.
async fn measure(target: &Target, questions: Arc<[String]>, options: SearchOptions) -> Result<(), Failure> {
    let started = Instant::now();
    let engine = QueryEngine::open_neo4j(target, Performers::built_in()).await?;
    let (passages, seconds) = (engine.counts().passages, started.elapsed().as_secs_f64());
    println!("{}: {passages} passages, opened in {seconds:.1} s", options.strategy);
    ask_all(&engine, &questions, &options, 1).await?;
    println!("tasks  questions  a second   p50 ms   p99 ms  longest ms  peak MB");
    for tasks in TASKS {
        forget_peak();
        let started = Instant::now();
        let times = ask_all(&engine, &questions, &options, tasks).await?;
        let rate = times.len() as f64 / started.elapsed().as_secs_f64();
        let [p50, p99, longest] = [500, 990, 1_000].map(|thousandths| percentile(&times, thousandths));
        let (count, peak) = (times.len(), peak_megabytes());
        println!("{tasks:>5}  {count:>9}  {rate:>8.1}  {p50:>7.1}  {p99:>7.1}  {longest:>10.1}  {peak:>7}");
    }
    Ok(())
}

/// Asks every question once, with this many concurrent tasks, and returns how long each took, in milliseconds,
/// ascending.
async fn ask_all(
    engine: &QueryEngine,
    questions: &Arc<[String]>,
    options: &SearchOptions,
    tasks: usize,
) -> Result<Vec<f64>, Failure> {
    let next = Arc::new(AtomicUsize::new(0));
    let ask = |_| ask_next(engine.clone(), Arc::clone(questions), options.clone(), Arc::clone(&next));
    let asking: Vec<_> = (0..tasks).map(|task| tokio::spawn(ask(task))).collect();
    let mut times = Vec::new();
    for task in asking {
        times.extend(task.await??);
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// Asks the next question as long as there is one.
async fn ask_next(
    engine: QueryEngine,
    questions: Arc<[String]>,
    options: SearchOptions,
    next: Arc<AtomicUsize>,
) -> cairn::Result<Vec<f64>> {
    let mut times = Vec::new();
    while let Some(question) = questions.get(next.fetch_add(1, Ordering::Relaxed)) {
        let started = Instant::now();
        engine.search(question, &options).await?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times)
}

/// Resets the peak of memory, if the system allows it.
fn forget_peak() {
    const PEAK: &str = "5";
    // Only Linux has this file; elsewhere, the peak is that since the start.
    let _refused = fs::write("/proc/self/clear_refs", PEAK);
}

/// Returns the peak memory of this process, if the system reports it.
fn peak_megabytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|it| it.parse::<u64>().ok()).unwrap_or_default() / 1024
}
