//! What reaches a terminal: either stream may be one without the other, and documents, names and servers cannot control
//! it. And suggested commands can be pasted.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{Cli, left_out};

/// A text with every kind of control, direction and hidden character.
const HOSTILE: &str =
    "Mill \u{1b}[31mred\u{9b}2J\u{7f}\u{202e}turned\u{2066}\u{e0041}\u{e0042}hidden\u{200b}\u{2028}end";

/// Which stream of the program is a terminal; the other is a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Terminal {
    Output,
    Errors,
}

/// The output of a run with one terminal: what the terminal got, and what the file got.
#[derive(Debug)]
struct Seen {
    terminal: String,
    file: String,
}

fn word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Runs the program with one stream on a terminal; none if there is no `script` to make one.
fn seen(cli: &Cli, terminal: Terminal, args: &[&str]) -> Option<Seen> {
    let redirected = match terminal {
        Terminal::Output => "2> file.out",
        Terminal::Errors => "> file.out",
    };
    let words: Vec<String> = [&[env!("CARGO_BIN_EXE_cairn")], args].concat().into_iter().map(word).collect();
    cli.write("run.sh", format!("{} {redirected}", words.join(" ")));
    let mut script = Command::new("/usr/bin/script");
    script.args(["-q", "-e", "-c", "sh run.sh", "/dev/null"]).current_dir(cli.folder());
    script.env_clear().env("HOME", cli.folder()).env("PATH", "/usr/bin:/bin").env("SHELL", "/bin/sh");
    let Ok(output) = script.stdin(std::process::Stdio::null()).output() else {
        left_out("it needs `script`, which gives a program a terminal");
        return None;
    };
    let terminal = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(Seen { terminal, file: fs::read_to_string(cli.folder().join("file.out")).unwrap() })
}

/// Fails if a text contains any control character other than the codes of this program.
#[track_caller]
fn assert_harmless(text: &str, what: &str) {
    let mut own = text.replace("\r\n", "\n");
    for code in ["\u{1b}[1m", "\u{1b}[1;31m", "\u{1b}[2m", "\u{1b}[0m", "\u{1b}[2K", "\u{1b}[1A", "\r"] {
        own = own.replace(code, "");
    }
    let steers = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            || matches!(c, '\u{e0000}'..='\u{e007f}')
    };
    assert!(!own.contains(steers), "{what}: {own:?}");
}

/// A folder with documents whose names, titles and texts are hostile; one of them is left out because of its contents.
fn hostile() -> Cli {
    let cli = Cli::new();
    let record = serde_json::json!({ "id": HOSTILE, "title": HOSTILE, "text": format!("Ada Lorne built {HOSTILE}.") });
    cli.write("notes/a.jsonl", record.to_string());
    cli.write("notes/b.txt", format!("{HOSTILE}\n\n{HOSTILE} was painted by Bertha Quill. Who was Ada Lorne?"));
    cli.write(&format!("notes/{HOSTILE}.txt"), b"\xff\xfe\xfa");
    cli.write("notes/x\nnext: sh run.sh.txt", b"\xff\xfe\xfa");
    cli
}

#[cfg(target_os = "linux")]
#[test]
fn no_escape_reaches_a_terminal_on_stderr_while_stdout_is_a_file() {
    let cli = hostile();
    let named = format!("{HOSTILE} index");
    let calls: [&[&str]; 6] = [
        &["index", "notes", "--index", &named],
        &["index", HOSTILE],
        &["index", HOSTILE, "--json"],
        &["ask", HOSTILE, "--index", &named, "--strategy", "lexical"],
        &["ask", "zzz qqq", "--index", &named],
        &["index", "notes", &format!("--{HOSTILE}")],
    ];
    for args in calls {
        let Some(seen) = seen(&cli, Terminal::Errors, args) else { return };
        assert!(!seen.terminal.is_empty(), "{args:?}");
        assert_harmless(&seen.terminal, &format!("{args:?}"));
        assert_harmless(&seen.file, &format!("{args:?}"));
        if args == calls[0] {
            assert!(seen.terminal.contains("skipped") && seen.terminal.contains("\u{fffd}[31mred"), "{seen:#?}");
            // No name begins a new line.
            let forged = seen.terminal.lines().any(|line| line.trim_start().starts_with("next: sh"));
            assert!(!forged && seen.terminal.contains("next: sh run.sh"), "{seen:#?}");
        }
        if args.contains(&"--json") {
            let line = seen.terminal.lines().find(|line| line.starts_with('{')).unwrap();
            let error: Value = serde_json::from_str(line).unwrap();
            assert!(error["error"]["message"].as_str().unwrap().contains(HOSTILE), "{error}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn no_escape_reaches_a_terminal_on_stdout_and_json_keeps_its_value() {
    let cli = hostile();
    cli.run(["index", "notes"]);
    let question = "Who built the mill?";
    let calls: [&[&str]; 9] = [
        &["search", question],
        &["ask", question, "--explain"],
        &["ask", question, "--cypher"],
        &["path", &format!("document:{HOSTILE}"), "Ada Lorne"],
        &["status"],
        &["doctor"],
        &["search", question, "--json"],
        &["export", "--canonical"],
        &["report", "--out", "\u{9b}31m page.html"],
    ];
    for args in calls {
        let plain = cli.run(args);
        let Some(seen) = seen(&cli, Terminal::Output, args) else { return };
        assert!(!seen.terminal.is_empty(), "{args:?}: {seen:#?}");
        assert_harmless(&seen.terminal, &format!("{args:?}"));
        assert_harmless(&seen.file, &format!("{args:?}"));
        if matches!(args[0], "export") || args.contains(&"--json") {
            let values = |text: &str| -> Vec<Value> {
                let without_times = |line: &str| {
                    let mut value: Value = serde_json::from_str(line).unwrap();
                    value.as_object_mut().unwrap().retain(|name, _| name != "ledger");
                    value
                };
                text.lines().map(without_times).collect()
            };
            assert_eq!(values(&seen.terminal), values(&plain.stdout), "{args:?}");
            assert!(plain.stdout.contains("hidden"), "{plain:#?}");
        } else {
            // What is in a file now, a terminal may show later.
            assert_harmless(&plain.stdout, &format!("{args:?}"));
        }
    }
    // The bytes of the canonical form are compared: in a file, they are unchanged.
    assert!(cli.canonical(".cairn").contains("\u{202e}turned"));
}

#[cfg(target_os = "linux")]
#[test]
fn the_log_and_a_bar_are_as_harmless_as_what_is_printed() {
    let cli = hostile();
    let Some(shown) = seen(&cli, Terminal::Errors, &["index", "notes", "-vv"]) else { return };
    assert_harmless(&shown.terminal, "the log");
    assert!(shown.terminal.contains("INFO"), "{shown:#?}");
    for number in 0..300 {
        cli.write(&format!("notes/{number}.txt"), format!("Mill {number}\n\nMill {number} was built by Ada Lorne."));
    }
    let Some(drawn) = seen(&cli, Terminal::Errors, &["index", "notes"]) else { return };
    assert_harmless(&drawn.terminal, "a bar");
    assert!(drawn.terminal.contains("[=") && drawn.terminal.contains("302 documents"), "{drawn:#?}");
}

#[test]
fn all_lines_of_a_message_but_the_first_are_indented() {
    let cli = Cli::new();
    let said = cli.run(["index", "no such\nhint: run evil\r\nfolder"]);
    let left: Vec<&str> = said.stderr.lines().filter(|line| !line.starts_with("  ")).collect();
    assert_eq!(left.len(), 2, "{said:#?}");
    assert!(left[0].starts_with("error: ") && left[1].starts_with("hint: check the path"), "{said:#?}");
    cli.write("cairn.toml", "[model]\nserver = \n");
    let said = cli.run(["status"]);
    let left = said.stderr.lines().filter(|line| !line.starts_with("  ")).count();
    assert!(left == 2 && said.stderr.lines().count() > 3, "{said:#?}");
}

/// Runs a suggested command as a user would paste it; the program must be found under the name by which it was called.
fn pasted(cli: &Cli, command: &str) -> std::process::Output {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).current_dir(cli.folder()).env_clear().env("HOME", cli.folder());
    shell.env("PATH", "/usr/bin:/bin").output().unwrap()
}

#[cfg(unix)]
#[test]
fn a_suggested_command_does_what_it_says_and_nothing_else() {
    let cli = Cli::new();
    cli.write("notes/mill.txt", "Harl Mill\n\nHarl Mill was built by Ada Lorne.");
    let names = ["my notes", "$(touch pwned)", "`touch pwned`", "it's; touch pwned", "a\"b$HOME", "-x", "~", "*"];
    for name in names {
        let said = cli.run(["index", "notes", &format!("--index={name}")]).succeeded();
        let next = said.stderr.lines().find_map(|line| line.strip_prefix("next: ")).unwrap();
        let done = pasted(&cli, &next.replace("YOUR QUESTION", "Who built Harl Mill?"));
        assert!(done.status.success() && !done.stdout.is_empty(), "{name}: {next}: {done:?}");

        // A question is a word of the suggested command, too.
        let said = cli.run(["ask", &format!("--index={name}"), "--", name]);
        let Some((_, offered)) = said.stderr.lines().find_map(|line| line.split_once("nearest passages anyway: "))
        else {
            continue;
        };
        let done = pasted(&cli, offered);
        assert!(done.status.success(), "{name}: {offered}: {done:?}");
    }
    assert!(!cli.folder().join("pwned").exists());
    assert!(Path::new(&cli.folder().join("it's; touch pwned")).is_dir());
    // A name that cannot be shown is not part of a command.
    let said = cli.run(["index", "notes", "--index", "a\u{202e}\nb"]).succeeded();
    assert!(said.stderr.contains("--index DIR"), "{said:#?}");
}
