//! Terminal output in the documentation is that of the program: every `$ cairn …` on a page is run, in order, and its
//! output compared with the lines that follow.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Cli, CommandOutput, harbor};

/// A command on a page, with the output that the page shows.
struct Transcript {
    command: String,
    shown: String,
}

/// Returns the transcripts of a page: in fenced blocks, from a line with `$ ` to the next, or to the end of the block.
fn transcripts(page: &str) -> Vec<Transcript> {
    let mut found = Vec::new();
    for block in page.split("```").skip(1).step_by(2) {
        for part in format!("\n{block}").split("\n$ ").skip(1) {
            let (command, shown) = part.split_once('\n').unwrap_or((part, ""));
            found.push(Transcript { command: command.to_owned(), shown: shown.to_owned() });
        }
    }
    found
}

/// Returns text without what differs between runs, or between terminal and file: line breaks, times, dates, sizes, ids.
fn steady(text: &str) -> String {
    let word = |word: &str| {
        let digits = word.trim_end_matches([',', ';', ')']);
        let is_measured = digits.contains('.') && digits.chars().all(|char| char.is_ascii_digit() || char == '.');
        let is_time = word.len() == 20 && word.ends_with('Z') && word.contains('T');
        let is_id = word.len() == 32 && word.bytes().all(|it| it.is_ascii_hexdigit());
        if is_measured || is_time || is_id { "#".to_owned() } else { word.to_owned() }
    };
    text.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// Returns whether `text` matches what a page shows, where `…` stands for anything.
fn is_shown(text: &str, shown: &str) -> bool {
    let (text, shown) = (steady(text), steady(shown));
    let mut rest = text.as_str();
    let mut is_first = true;
    for part in shown.split('…').map(str::trim) {
        match rest.find(part) {
            Some(at) if at == 0 || !is_first => rest = &rest[at + part.len()..],
            _ => return false,
        }
        is_first = false;
    }
    rest.trim().is_empty() || shown.ends_with('…')
}

/// Returns what a command line prints to standard output, with `redirected` appended to it.
#[track_caller]
fn run(cli: &Cli, command: &str, redirected: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_cairn"));
    let path = std::env::join_paths(
        std::iter::once(program.parent().unwrap().to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{{ {command}\n}} {redirected}")]).current_dir(cli.folder()).env_clear();
    let said = CommandOutput::of(shell.env("HOME", cli.folder()).env("PATH", path.unwrap()).output().unwrap());
    said.stdout.replace(cli.folder().to_str().unwrap(), "~")
}

#[test]
fn what_is_shown_is_compared_word_for_word_but_for_what_is_measured() {
    for (text, shown, expect) in [
        ("a b\nc", "a\nb c", true),
        ("a b", "a", false),
        ("a", "a b", false),
        ("a x b y", "a … b …", true),
        ("a x b y", "a … c …", false),
        ("x a", "a", false),
        ("took 0.1 s", "took 12.7 s", true),
        ("took 0.1 s", "took 12.7 m", false),
        ("of 2026-11-23T02:26:46Z", "of 2020-01-01T00:00:00Z", true),
        ("id 2e38898bdac22b1ca4f46795538037f1", "id 00112233445566778899aabbccddeeff", true),
        ("id 2e38898bdac22b1ca4f46795538037f1", "id 2e38", false),
    ] {
        assert_eq!(is_shown(text, shown), expect, "{text}: {shown}");
    }
    let page = "a\n```text\n$ x 1\none\ntwo\n$ y\n```\nb\n```sh\nz\n```\n";
    let found: Vec<_> = transcripts(page).into_iter().map(|it| (it.command, it.shown)).collect();
    assert_eq!(found, [("x 1".to_owned(), "one\ntwo".to_owned()), ("y".to_owned(), String::new())]);
}

#[cfg(unix)]
#[test]
fn the_page_of_commands_shows_what_they_print() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/commands.md")).unwrap();
    // A page shows data only, or all output: each has its own folder, in which commands are run once.
    let folders = ["", "2>&1"].map(|redirected| (Cli::new(), redirected));
    for (cli, _) in &folders {
        std::os::unix::fs::symlink(harbor().parent().unwrap(), cli.folder().join("examples")).unwrap();
    }
    let transcripts = transcripts(&page);
    assert!(transcripts.len() > 8, "the page is no longer read");
    for Transcript { command, shown } in transcripts {
        let printed = folders.each_ref().map(|(cli, redirected)| run(cli, &command, redirected));
        let is_true = printed.iter().any(|text| is_shown(text, &shown));
        assert!(is_true, "`{command}` prints\n{}\nand the page shows\n{shown}", printed.join("\nor\n"));
    }
}
