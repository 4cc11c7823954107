//! The report card: each promise, what was tried to break it and how often, how often it broke, and what was not tried.
//! `RELIABILITY.md` contains it as printed here, unedited.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::Suite;
use crate::program::is_for_release;
use crate::run::{Run, Tally};

/// The name of its file in the build folder.
const FILE: &str = "torture.md";

/// The results of the parts of a run.
pub(crate) struct Card {
    head: String,
    rows: Vec<Row>,
    /// Parts without a row, and why.
    not_run: Vec<(&'static str, &'static str)>,
}

struct Row {
    name: &'static str,
    promise: &'static str,
    tally: Tally,
    took: Duration,
}

impl Card {
    pub(crate) fn new(run: &Run) -> Self {
        let said = |program: &str, args: &[&str]| {
            let output = Command::new(program).args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
            let text = String::from_utf8(output.stdout).ok()?;
            output.status.success().then(|| text.trim().to_owned())
        };
        let unknown = || "not known".to_owned();
        let commit = said("git", &["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(unknown);
        let is_changed =
            said("git", &["status", "--porcelain", "--untracked-files=no"]).is_some_and(|it| !it.is_empty());
        let date = said("date", &["-u", "+%Y-%m-%d"]).unwrap_or_else(unknown);
        let system = said("uname", &["-sm"]).unwrap_or_else(unknown);
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let build = if is_for_release() { "for release" } else { "with debug assertions" };
        let head = format!(
            "Date: {date}. Commit: {commit}{}. Seed: {}. Machine: {system}, {cores} cores{}. Built {build}.",
            if is_changed { ", with changes" } else { "" },
            run.seed,
            memory().map_or_else(String::new, |gib| format!(", {gib} GiB of memory")),
        );
        Self { head, rows: Vec::new(), not_run: Vec::new() }
    }

    pub(crate) fn add(&mut self, part: &Suite, tally: Tally, took: Duration) {
        let done = done(&tally);
        println!("  {done}; {} offenders; {:.0} s", tally.offender_count, took.as_secs_f64());
        self.not_run.retain(|(name, _)| *name != part.name);
        self.rows.push(Row { name: part.name, promise: part.promise, tally, took });
    }

    /// Notes why a part has no row, unless it gets one.
    pub(crate) fn leave_out(&mut self, part: &Suite, why: &'static str) {
        self.not_run.push((part.name, why));
    }

    pub(crate) fn has_offenders(&self) -> bool {
        self.rows.iter().any(|row| row.tally.offender_count > 0)
    }

    /// Returns the card as Markdown.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{}\n\n| Promise | Tried | Broken | Time |\n| --- | --- | ---: | ---: |\n", self.head);
        for row in &self.rows {
            let (name, promise, minutes) = (row.name, row.promise, row.took.as_secs_f64() / 60.0);
            let broken = row.tally.offender_count;
            writeln!(text, "| **{name}**: {promise} | {} | {broken} | {minutes:.1} min |", done(&row.tally)).unwrap();
        }
        text += "\nBroken promises:\n\n";
        let shown = |row: &Row| {
            let lines = row.tally.offenders.iter().map(|it| format!("- `{}`: {}\n", row.name, in_a_line(it)));
            let more = row.tally.offender_count.saturating_sub(row.tally.offenders.len() as u64);
            let more = (more > 0).then(|| format!("- `{}`: {more} more\n", row.name));
            lines.chain(more).collect::<String>()
        };
        let broken: String = self.rows.iter().map(shown).collect();
        text += if broken.is_empty() { "- none\n" } else { &broken };
        text += "\nNot run:\n\n";
        let mut not_run = String::new();
        for row in &self.rows {
            for why in &row.tally.left_out {
                writeln!(not_run, "- `{}`: {}", row.name, in_a_line(why)).unwrap();
            }
        }
        for (name, why) in &self.not_run {
            writeln!(not_run, "- `{name}`: {why}").unwrap();
        }
        text += if not_run.is_empty() { "- nothing was left out\n" } else { &not_run };
        text
    }

    /// Writes the card into the build folder and returns the path.
    pub(crate) fn write(&self) -> PathBuf {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join(FILE);
        fs::write(&path, self.text()).unwrap();
        path
    }
}

fn done(tally: &Tally) -> String {
    let each = tally.done.iter().map(|(what, times)| format!("{} {what}", grouped(*times)));
    let all = each.collect::<Vec<_>>().join(", ");
    if all.is_empty() { "nothing".to_owned() } else { all }
}

/// Returns a number with commas between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the output of a program in a form that stays on its line and is plain text in Markdown.
fn in_a_line(text: &str) -> String {
    let text: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    format!("`{}`", text.replace('`', "'"))
}

fn memory() -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()?.div_ceil(1 << 20))
}
