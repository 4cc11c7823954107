//! Documents that are read in separate processes: what is kept of each format, and what happens to harmful files and to
//! killed processes.
#![cfg(unix)]

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Cli, Random, assert_valid, documents};

/// Returns what a run left out, as `source: reason`.
fn skips(report: &Value) -> Vec<String> {
    assert_valid("index", report);
    let said = |it: &Value| format!("{}: {}", it["source"].as_str().unwrap(), it["reason"].as_str().unwrap());
    report["skips"].as_array().unwrap().iter().map(said).collect()
}

fn found(cli: &Cli, question: &str) -> Value {
    let found = cli.json(&["search", question, "--top-k", "1"]);
    assert_valid("search", &found);
    found["hits"][0].clone()
}

#[test]
fn a_document_of_each_format_is_read_and_can_be_cited() {
    let cli = Cli::new();
    for (name, bytes) in documents::all() {
        cli.write(&format!("notes/{name}"), bytes);
    }
    let report = cli.json(&["index", "notes"]);
    assert_eq!(skips(&report), Vec::<String>::new());
    let mut names: Vec<String> = cli
        .canonical(".cairn")
        .lines()
        .filter_map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["document"]["source_id"].as_str().map(str::to_owned)
        })
        .collect();
    names.sort();
    names.dedup();
    let expect = [
        "notes/a.docx",
        "notes/a.eml",
        "notes/a.eml!parts.csv",
        "notes/a.epub",
        "notes/a.odt",
        "notes/a.pdf",
        "notes/a.tar!a/notes.txt",
        "notes/a.txt.gz!a.txt",
        "notes/a.xlsx",
        "notes/a.zip!a/notes.txt",
        "notes/a.zip!b.pdf",
        "notes/b.tar.gz!a/notes.txt",
        "notes/b.tar.gz!b.pdf",
    ];
    assert_eq!(names, expect);
}

#[test]
fn a_passage_of_a_pdf_has_its_page() {
    let cli = Cli::new();
    let far = ["The axle of Harl Mill was made of oak by Bert Wick."; 40];
    cli.write("a.pdf", documents::pdf(&[&["The wheel was made of elm by Anna Roe."; 40], &far]));
    cli.json(&["index", "a.pdf"]);
    let hit = found(&cli, "Who made the axle?");
    assert_eq!((&hit["source_id"], &hit["page"]), (&"a.pdf".into(), &2.into()), "{hit}");
}

#[test]
fn a_row_names_its_columns_and_is_a_document_where_that_is_asked_for() {
    let cli = Cli::new();
    cli.write("a.xlsx", documents::xlsx(&[&["part", "price"], &["wheel", "30"], &["axle", "4"]]));
    cli.json(&["index", "a.xlsx"]);
    let hit = found(&cli, "price of the wheel");
    assert!(hit["text"].as_str().unwrap().ends_with("part: wheel; price: 30\npart: axle; price: 4"), "{hit}");
    let report = cli.json(&["index", "a.xlsx", "--rows", "--index", "rows"]);
    assert_eq!(report["counts"]["documents"], 2, "{report}");
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn what_does_harm_is_left_out_with_its_reason_and_others_are_read() {
    let cli = Cli::new();
    for (name, bytes) in documents::hostile() {
        cli.write(&format!("notes/{name}"), bytes);
    }
    cli.write("notes/z.txt", "Harl Mill stands by the river.");
    cli.write("notes/z.pdf", documents::pdf(&[&["The mill of Harl was built in 1802 by Anna Roe."; 5]]));
    let began = Instant::now();
    let report = cli.json(&["index", "notes"]);
    assert!(began.elapsed() < Duration::from_mins(4), "{:?}", began.elapsed());
    let skips = skips(&report);
    for (name, reason) in [
        ("bomb.zip", "64 MiB|bytes"),
        ("bomb.gz", "bytes"),
        ("nested.zip", "nested in more than"),
        ("bomb.docx", ""),
        ("deep.docx", ""),
        ("endless.pdf", ""),
        ("huge-sheet.xlsx", ""),
        ("encrypted.pdf", "encrypted"),
    ] {
        let is_it = |skip: &&String| skip.contains(name) && reason.split('|').any(|it| skip.contains(it));
        assert!(skips.iter().any(|skip| is_it(&skip)), "{name}: {skips:#?}");
    }
    let export = cli.canonical(".cairn");
    assert!(export.contains("notes/z.pdf") && export.contains("notes/z.txt"), "{skips:#?}");
    assert!(!export.contains("root:"), "an entity was followed");
    assert!(!cli.folder().join("outside.txt").exists() && !cli.folder().join("notes/outside.txt").exists());
}

#[test]
fn damaged_files_are_read_or_named_and_others_are_unharmed() {
    let cli = Cli::new();
    let mut random = Random::new(18);
    let originals = documents::all();
    for round in 0..40 {
        let (name, bytes) = &originals[round % originals.len()];
        let is_packed = random.below(2) == 0;
        let damaged = if is_packed {
            documents::damaged_inside(bytes, &mut random)
        } else {
            documents::damaged(bytes, &mut random)
        };
        cli.write(&format!("notes/{round:02}-{name}"), damaged);
    }
    cli.write("notes/z.pdf", &originals[0].1);
    let said = cli.run(["index", "notes", "--json"]);
    said.has_not_panicked();
    let report: Value = serde_json::from_str(&said.succeeded().stdout).unwrap();
    let (export, skips) = (cli.canonical(".cairn"), skips(&report));
    for round in 0..40 {
        let name = format!("notes/{round:02}-");
        assert!(export.contains(&name) || skips.iter().any(|skip| skip.starts_with(&name)), "{name}: {skips:#?}");
    }
    assert!(export.contains("notes/z.pdf"));
    // The result for a file depends only on the file.
    cli.json(&["index", "notes", "--index", "again"]);
    assert_eq!(cli.canonical("again"), export);
}

#[cfg(target_os = "linux")]
#[test]
fn workers_that_are_killed_change_nothing() {
    let cli = Cli::new();
    let page = ["Harl Mill was designed by Anna Roe in 1802 and stands by the river Tarn."; 30];
    for at in 0..12 {
        cli.write(&format!("notes/{at:02}.pdf"), documents::pdf(&vec![&page[..]; 20 + at]));
    }
    cli.json(&["index", "notes", "--index", "whole"]);
    let mut child = cli.command(["index", "notes", "--index", "killed", "--json"]).spawn().unwrap();
    let mut kills = 0;
    while child.try_wait().unwrap().is_none() {
        for worker in children_of(child.id()) {
            kills += usize::from(kill(worker));
        }
        std::thread::sleep(Duration::from_millis(120));
    }
    assert!(kills > 0, "no worker was seen");
    assert!(child.wait().unwrap().success());
    assert_eq!(cli.canonical("killed"), cli.canonical("whole"), "after {kills} kills");
}

#[cfg(target_os = "linux")]
fn children_of(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_child = |number: &u32| {
        let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        // After the name, which may contain anything, come the state and the parent.
        let after = stat.rsplit(')').next().unwrap_or_default();
        after.split_whitespace().nth(1) == Some(parent.to_string().as_str())
    };
    numbers.filter(is_child).collect()
}

#[cfg(target_os = "linux")]
fn kill(process: u32) -> bool {
    std::process::Command::new("kill").args(["-9", &process.to_string()]).status().is_ok_and(|status| status.success())
}

#[test]
fn without_a_worker_program_such_files_are_refused_with_a_reason() {
    let cli = Cli::new();
    let path = cli.write("a.pdf", documents::pdf(&[&["The mill of Harl was built in 1802 by Anna Roe."]]));
    cli.write("b.txt", "Harl Mill stands by the river.");
    let mut refused = Vec::new();
    let options = cairn::ingest::IngestOptions::default();
    cairn::ingest::read_sources(&[path], &options, &mut |item| {
        if let cairn::ingest::SourceItem::Unread { skip, .. } = item {
            refused.push(skip.reason);
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(refused, ["such files are read only in a separate process, and no worker program was named"]);
}

#[test]
fn a_worker_opens_nothing_and_starts_nothing() {
    let cli = Cli::new();
    // Its input is not a job, so it only sends its greeting.
    let mut child = cli
        .command(["worker"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.stdout.ends_with(concat!("cairn worker ", env!("CARGO_PKG_VERSION")).as_bytes()), "{output:?}");
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("error: "), "{output:?}");
}

#[test]
fn a_converter_of_the_user_reads_other_kinds_under_limits() {
    let cli = Cli::new();
    cli.configure("[ingest.convert]\ndjvu = [\"cat\", \"{}\"]\nslow = [\"sleep\", \"{}\"]\nbad = [\"false\", \"{}\"]");
    cli.write("notes/a.djvu", "Harl Mill was built by Anna Roe.\n\x0cIt stands by the river.");
    cli.write("notes/b.bad", "text");
    let report = cli.json(&["index", "notes"]);
    let skips = skips(&report);
    assert!(matches!(&skips[..], [it] if it.contains("notes/b.bad") && it.contains("`false`")), "{skips:?}");
    assert_eq!(found(&cli, "Who built Harl Mill?")["source_id"], "notes/a.djvu");
    // It replaces the parser of the format, and pages are kept.
    cli.configure("[ingest.convert]\npdf = [\"cat\", \"{}\"]\ndjvu = [\"cat\", \"{}\"]");
    let lines = "A line that no reader of PDF finds.\n".repeat(100);
    cli.write("notes/c.pdf", format!("%PDF-1.7\n{lines}\x0c{lines}Pale Hill was painted by Ida Marr."));
    cli.json(&["index", "notes"]);
    let hit = found(&cli, "Who painted Pale Hill?");
    assert_eq!((&hit["source_id"], &hit["page"]), (&"notes/c.pdf".into(), &2.into()), "{hit}");
    // The file in the current folder may not name one.
    cli.write("cairn.toml", "[ingest.convert]\ndjvu = [\"cat\", \"{}\"]");
    cli.refuses(&["index", "notes"], "input", &["ingest.convert"]);
}
