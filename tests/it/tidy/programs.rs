//! Programs are started in a few files, which show everything that is ever run.

use super::source::{Source, rust_files, tokens};
use super::{Rule, SRC, check};

/// The worker that reads documents, and the user's own converters and programs for keys.
const FILES: [&str; 3] = ["src/ingest/worker/process.rs", "src/ingest/worker/convert.rs", "src/setup/key_command.rs"];

fn starts(source: &Source) -> Vec<(usize, String)> {
    if FILES.contains(&source.path.as_str()) {
        return Vec::new();
    }
    let code = source.without_tests();
    let tokens = tokens(&code.code);
    let is_start = |at: usize| {
        let named: Vec<&str> = tokens[at..].iter().map(|it| it.text).take_while(|it| *it != ";").take(12).collect();
        tokens[at].text == "process" && named.contains(&"Command")
    };
    let found = (0..tokens.len()).filter(|at| is_start(*at));
    found.map(|at| (tokens[at].line, format!("starts programs; only {FILES:?} do"))).collect()
}

#[test]
fn programs_are_started_in_few_files() {
    let rule: Rule = starts;
    check(
        rule,
        &rust_files(&SRC),
        &[
            ("src/cli/a.rs", "use std::process::Command;"),
            ("src/cli/a.rs", "use std::process::{Child, Command};"),
            ("src/llm/a.rs", "fn f() { std::process::Command::new(x) }"),
        ],
        &[
            (FILES[0], "use std::process::Command;"),
            ("src/cli/a.rs", "use std::process::ExitCode; use super::args::Command;"),
            ("src/cli/a.rs", "#[cfg(test)]\nmod tests { use std::process::Command; }"),
        ],
    );
}
