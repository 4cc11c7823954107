//! One run: its seed, how often each part tries, and how cases are shared among threads.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::program::path;
use crate::support::Random;

/// Maximum offenders of a part that are shown.
const SHOWN_MAX: usize = 12;
/// Maximum characters of each.
const SHOWN_CHARS_MAX: usize = 300;
/// How often a long part reports its progress.
const SAID_EVERY_SECONDS: u64 = 60;

/// The settings of all parts.
pub(crate) struct Run {
    /// `CAIRN_TORTURE_SEED`, or the time.
    pub(crate) seed: u64,
    /// `CAIRN_TORTURE_THREADS`, or as many as there are cores.
    pub(crate) threads: usize,
}

/// The result of a part.
#[derive(Default)]
pub(crate) struct Tally {
    /// What was tried, each with its count.
    pub(crate) done: Vec<(&'static str, u64)>,
    /// How often the promise was broken.
    pub(crate) offender_count: u64,
    /// The first of these, each with what it takes to reproduce it.
    pub(crate) offenders: Vec<String>,
    /// What was not tried, and why.
    pub(crate) left_out: Vec<String>,
}

impl Tally {
    /// Counts what was tried.
    pub(crate) fn count(&mut self, what: &'static str, times: u64) {
        match self.done.iter_mut().find(|(it, _)| *it == what) {
            Some((_, count)) => *count += times,
            None => self.done.push((what, times)),
        }
    }

    /// Notes a broken promise.
    pub(crate) fn offend(&mut self, what: impl Display) {
        let what: String = without_places(&what.to_string()).chars().take(SHOWN_CHARS_MAX).collect();
        println!("  OFFENDER: {what}");
        self.offender_count += 1;
        if self.offenders.len() < SHOWN_MAX {
            self.offenders.push(what);
        }
    }

    /// Notes what was not tried, and why.
    pub(crate) fn leave_out(&mut self, what: impl Display) {
        let what = what.to_string();
        println!("  LEFT OUT: {what}");
        if !self.left_out.contains(&what) {
            self.left_out.push(what);
        }
    }

    /// Adds the results of cases.
    pub(crate) fn add(&mut self, other: Self) {
        other.done.into_iter().for_each(|(what, times)| self.count(what, times));
        self.offender_count += other.offender_count;
        let room = SHOWN_MAX - self.offenders.len();
        self.offenders.extend(other.offenders.into_iter().take(room));
        let new = other.left_out.into_iter().filter(|it| !self.left_out.contains(it)).collect::<Vec<_>>();
        self.left_out.extend(new);
    }
}

impl Run {
    /// Reads the settings.
    pub(crate) fn from_environment() -> Self {
        let time = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs());
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        Self { seed: set("SEED").unwrap_or_else(time), threads: set("THREADS").map_or_else(cores, |it| it as usize) }
    }

    /// Returns how often something is tried: `CAIRN_TORTURE_` and `name`, or else `usual`.
    #[expect(clippy::unused_self, reason = "counts belong to a run")]
    pub(crate) fn count(&self, name: &str, usual: u64) -> u64 {
        set(name).unwrap_or(usual)
    }

    /// Returns the random generator of case `number` of `part`: the same for the same seed, whatever else is run.
    pub(crate) fn random(&self, part: &str, number: u64) -> Random {
        let hash = blake3::hash(format!("{} {part} {number}", self.seed).as_bytes());
        Random::new(u64::from_le_bytes(*hash.as_bytes().first_chunk().unwrap()))
    }

    /// Tries the cases of `part`, several at a time, and adds up their results. A case that panics is an offender.
    pub(crate) fn each(&self, part: &str, cases: u64, case: impl Fn(u64, &mut Random, &mut Tally) + Sync) -> Tally {
        let (next, sum, began) = (AtomicU64::new(0), Mutex::new(Tally::default()), Instant::now());
        let said = AtomicU64::new(0);
        let work = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= cases {
                    break;
                }
                let mut tally = Tally::default();
                let mut random = self.random(part, number);
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| case(number, &mut random, &mut tally))) {
                    let said = panic.downcast_ref::<String>().cloned();
                    tally.offend(format!("case {number}: {}", said.unwrap_or_else(|| "it panicked".to_owned())));
                }
                sum.lock().unwrap().add(tally);
                let minutes = began.elapsed().as_secs() / SAID_EVERY_SECONDS;
                if said.fetch_max(minutes, Ordering::Relaxed) < minutes {
                    println!("  {number} of {cases} after {minutes} min");
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..self.threads.max(1) {
                scope.spawn(work);
            }
        });
        sum.into_inner().unwrap()
    }
}

/// Returns output without paths of this machine, which do not belong on a report card: those of the program, of the
/// repository, of the folders of cases.
fn without_places(text: &str) -> String {
    let text = text.replace(&path().display().to_string(), "cairn").replace(env!("CARGO_MANIFEST_DIR"), "REPOSITORY");
    let folders = std::env::temp_dir().join(".tmp").to_string_lossy().into_owned();
    let mut parts = text.split(&folders);
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(part.len());
        shown = shown + "FOLDER" + &part[end..];
    }
    without_registry(&shown)
}

/// Returns output in which sources of dependencies are named by the folder of their crate.
fn without_registry(text: &str) -> String {
    const SOURCES: &str = "/registry/src/";
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(SOURCES) {
        let path = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        shown += &before[..path];
        rest = after.split_once('/').map_or(after, |(_registry, file)| file);
    }
    shown + rest
}

fn set(name: &str) -> Option<u64> {
    let name = format!("CAIRN_TORTURE_{name}");
    let value = std::env::var(&name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is `{value}`, which is no number")))
}
