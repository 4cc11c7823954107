//! The tree keeps its own rules: sizes, imports, who prints, who reads the environment, what is unsafe, which words are
//! used. Each test shows first that its rule refuses what it should, then that the tree keeps it.

mod disk;
mod docker;
mod imports;
mod limits;
mod network;
mod programs;
mod source;

use std::fs;
use std::path::Path;
use std::process::Command;

use source::{Source, files, item_end, relative, root, rust_files, tokens};

/// Everything that is compiled.
const ALL: [&str; 4] = ["src", "tests", "benches", "examples"];
const SRC: [&str; 1] = ["src"];

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 70;
const LINE_COLUMNS_MAX: usize = 120;

/// The files that may hold unsafe code, each with its proof: the mapping of a vector file, the dispatch of its scan.
const UNSAFE_FILES: [&str; 2] = ["src/workspace/mapping.rs", "src/graph/scan.rs"];

/// The file that writes to the streams of the process.
const SCREEN: &str = "src/cli/screen.rs";

/// Words that say nothing of what a thing is for.
const EMPTY_WORDS: [&str; 6] = ["manager", "managers", "helper", "helpers", "util", "utils"];
/// Words that say too little, or that no other program uses in this sense.
const OUT_WORDS: [&str; 12] =
    ["aloud", "heard", "said", "sparing", "sparingly", "spoken", "thing", "things", "turn", "turns", "way", "ways"];

/// Phrases that the documentation and the command line do not use: each has a shorter or more usual one.
const OUT_PHRASES: [&str; 13] = [
    "anew",
    "at one time",
    "bear out",
    "bears out",
    "borne out",
    "broken off",
    "came to",
    "for ever",
    "in vain",
    "made good",
    "put together",
    "smaller question",
    "smaller questions",
];

/// A rule: what breaks it in a file, as lines and reasons.
type Rule = fn(&Source) -> Vec<(usize, String)>;

/// Shows that `rule` refuses each of `bad` and accepts each of `good`, then that `sources` follow it.
#[track_caller]
fn check(rule: Rule, sources: &[Source], bad: &[(&str, &str)], good: &[(&str, &str)]) {
    for (path, text) in bad {
        assert!(!rule(&Source::new(path, text)).is_empty(), "the rule lets pass, in {path}: {text}");
    }
    for (path, text) in good {
        assert_eq!(rule(&Source::new(path, text)), [], "the rule refuses, in {path}: {text}");
    }
    let found: Vec<String> = sources
        .iter()
        .flat_map(|source| rule(source).into_iter().map(|(line, why)| format!("{}:{line}: {why}", source.path)))
        .collect();
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn every_file_opens_with_what_it_is_for() {
    let rule: Rule = |source| {
        let opens = source.text.lines().next().and_then(|line| line.strip_prefix("//! ")).is_some();
        if opens { Vec::new() } else { vec![(1, "opens without `//!` and what it is for".to_owned())] }
    };
    check(
        rule,
        &rust_files(&ALL),
        &[("src/a.rs", "use b;"), ("src/a.rs", "\n//! A."), ("src/a.rs", "//!\n")],
        &[("src/a.rs", "//! A.\nuse b;")],
    );
}

#[test]
fn files_functions_and_lines_are_of_a_size_to_be_read() {
    let long_file = "//\n".repeat(FILE_LINES_MAX + 1);
    let body = |lines: usize| format!("fn f(x: [u8; 2]) {{\n{}}}", "a(|| { \"}\" });\n".repeat(lines - 2));
    let (long, fits) = (body(FUNCTION_LINES_MAX + 1), body(FUNCTION_LINES_MAX));
    let wide = "é".repeat(LINE_COLUMNS_MAX + 1);
    check(
        sizes,
        &rust_files(&ALL),
        &[("src/a.rs", &long_file), ("src/a.rs", &long), ("src/a.rs", &wide)],
        &[
            ("src/a.rs", &fits),
            ("src/a.rs", &wide[2..]),
            ("src/a.rs", &format!("type F = fn();\ntrait T {{ fn f(); }}\n{fits}")),
        ],
    );
}

fn sizes(source: &Source) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let line_count = source.text.lines().count();
    if line_count > FILE_LINES_MAX {
        found.push((1, format!("{line_count} lines; the limit is {FILE_LINES_MAX}")));
    }
    let tokens = tokens(&source.code);
    for (at, pair) in tokens.windows(2).enumerate() {
        if pair[0].text != "fn" || pair[1].text == "(" {
            continue;
        }
        let Some(last) = item_end(&tokens[at..]) else { continue };
        let length = last.line - pair[0].line + 1;
        if length > FUNCTION_LINES_MAX {
            found.push((
                pair[0].line,
                format!("`{}` has {length} lines; the limit is {FUNCTION_LINES_MAX}", pair[1].text),
            ));
        }
    }
    for (line_index, line) in source.text.lines().enumerate() {
        let columns = line.chars().count();
        if columns > LINE_COLUMNS_MAX {
            found.push((line_index + 1, format!("{columns} columns; the limit is {LINE_COLUMNS_MAX}")));
        }
    }
    found
}

#[test]
fn modules_use_only_what_stands_before_them() {
    check(
        imports::against_the_order,
        &rust_files(&SRC),
        &[
            ("src/domain/id.rs", "use crate::text::X;"),
            ("src/query/engine.rs", "#[cfg(test)]\nmod tests { use crate::index::run; }"),
            ("src/helpers.rs", "fn f() {}"),
        ],
        &[
            ("src/text/stem.rs", "// crate::cli\nuse crate::domain::X;\nconst A: &str = \"crate::cli\";"),
            ("src/lib.rs", "pub use crate::query::X;"),
        ],
    );
}

#[test]
fn only_the_screen_prints_so_that_nothing_leaves_unescaped() {
    let rule: Rule = |source| {
        if source.path == SCREEN {
            return Vec::new();
        }
        let mut found = prints(source, |name, near| match name {
            "print" | "println" | "eprint" | "eprintln" | "dbg" => near(1) == "!",
            "stdout" | "stderr" | "Stdout" | "Stderr" | "StdoutLock" | "StderrLock" => near(-1) != ".",
            _ => false,
        });
        // Output by libraries: the log, panics, progress bars, errors in commands.
        found.extend(prints(&source.without_tests(), |name, near| match name {
            "tracing_subscriber" | "set_hook" | "console" | "ProgressDrawTarget" | "MultiProgress" => true,
            "ProgressBar" => near(2).starts_with("new") || near(2) == "no_length",
            "parse" | "parse_from" => near(-2) == "Cli",
            "print" | "exit" => near(-1) == "." && near(1) == "(",
            _ => false,
        }));
        found
    };
    check(
        rule,
        &rust_files(&SRC),
        &[
            ("src/query/a.rs", "fn f() { println!(); }"),
            ("src/cli/mod.rs", "fn f() { println!(); }"),
            ("src/main.rs", "fn main() { eprintln!(); }"),
            ("src/query/a.rs", "fn f() { std::io::stderr().lock() }"),
            ("src/cli/mod.rs", "fn f() { g(io::stdout) }"),
            ("src/cli/mod.rs", "use std::io::Stderr;"),
            ("src/cli/mod.rs", "fn f() { tracing_subscriber::fmt().init() }"),
            ("src/cli/mod.rs", "fn f(error: clap::Error) { error.print() }"),
            ("src/cli/mod.rs", "fn f(error: clap::Error) { error.exit() }"),
            ("src/cli/mod.rs", "fn f() { Cli::parse() }"),
            ("src/cli/progress.rs", "fn f() { ProgressBar::new_spinner() }"),
            ("src/cli/mod.rs", "fn f() { std::panic::set_hook(g) }"),
            ("src/lib.rs", "#[cfg(test)]\nmod tests { fn f() { dbg!(1) } }"),
        ],
        &[
            (SCREEN, "fn f() { io::stdout() }"),
            ("src/cli/mod.rs", "fn f() { Cli::try_parse(); ProgressBar::with_draw_target(None, g()); \"a\".parse() }"),
            ("src/llm/a.rs", "#[cfg(test)]\nmod tests { fn f() { tracing_subscriber::fmt() } }"),
            ("src/query/a.rs", "/// println!()\nfn print() { write!(out, \"println!\") }"),
        ],
    );
}

/// Returns the tokens that print, judging by the tokens at given distances.
fn prints(source: &Source, is_printing: fn(&str, &dyn Fn(isize) -> String) -> bool) -> Vec<(usize, String)> {
    let tokens = tokens(&source.code);
    let found = tokens.iter().enumerate().filter(|(at, token)| {
        let near =
            |far: isize| at.checked_add_signed(far).and_then(|at| tokens.get(at)).map_or("", |it| it.text).to_owned();
        is_printing(token.text, &near)
    });
    found.map(|(_, token)| (token.line, format!("`{}` prints; only the screen does", token.text))).collect()
}

/// Returns the places where a token and the one after it satisfy `refused`.
fn pairs(source: &Source, refused: impl Fn(&str, &str) -> bool, why: &str) -> Vec<(usize, String)> {
    let tokens = tokens(&source.code);
    let found = tokens.windows(2).filter(|pair| refused(pair[0].text, pair[1].text));
    found.map(|pair| (pair[0].line, format!("`{}{}` {why}", pair[0].text, pair[1].text))).collect()
}

#[test]
fn only_the_configuration_reads_the_environment() {
    check(
        environment,
        &rust_files(&SRC),
        &[
            ("src/embed/a.rs", "fn f() { std::env::var(\"A\"); }"),
            ("src/embed/a.rs", "use std::env;"),
            ("src/embed/a.rs", "use std::{fs, env};"),
            ("src/cli/mod.rs", "use std::env::{args_os, var};"),
            ("src/cli/mod.rs", "fn f() { env::vars() }"),
            ("src/main.rs", "fn main() { option_env!(\"A\"); env::temp_dir() }"),
        ],
        &[
            ("src/config/mod.rs", "fn f() { std::env::var(\"A\"); }"),
            ("src/cli/mod.rs", "#[arg(env = \"CAIRN_INDEX\")] x: u8; fn f() { std::env::args_os() }"),
            ("src/embed/a.rs", "const A: &str = env!(\"CARGO_PKG_VERSION\"); fn f(env: u8) { g(env) }"),
        ],
    );
}

fn environment(source: &Source) -> Vec<(usize, String)> {
    if source.path.starts_with("src/config/") || source.path == "src/config.rs" {
        return Vec::new();
    }
    let reads_arguments = source.path.starts_with("src/cli/") || source.path == "src/main.rs";
    let tokens = tokens(&source.code);
    let text = |at: usize| tokens.get(at).map_or("", |it| it.text);
    let mut found = Vec::new();
    let mut is_use = false;
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "use" => is_use = true,
            ";" => is_use = false,
            _ => {}
        }
        let is_module = token.text == "env" && (is_use || text(at + 1) == "::");
        let is_arguments = reads_arguments && matches!(text(at + 2), "args" | "args_os");
        if is_module && !is_arguments {
            found.push((token.line, "reads the environment; only `config` does".to_owned()));
        }
    }
    found
}

#[test]
fn only_main_ends_the_program() {
    let rule: Rule = |source| {
        if source.path == "src/main.rs" {
            return Vec::new();
        }
        let tokens = tokens(&source.code);
        let ends = |at: usize| tokens[at..].iter().take(8).any(|it| matches!(it.text, "exit" | "abort"));
        let found = tokens.iter().enumerate().filter(|(at, it)| {
            it.text == "process" && tokens.get(at + 1).is_some_and(|next| next.text == "::") && ends(at + 2)
        });
        found.map(|(_, it)| (it.line, "ends the program; only `main` does".to_owned())).collect()
    };
    check(
        rule,
        &rust_files(&SRC),
        &[
            ("src/cli/mod.rs", "fn f() { std::process::exit(1) }"),
            ("src/cli/mod.rs", "use std::process::{Command, exit};"),
            ("src/cli/mod.rs", "fn f() { process::abort() }"),
        ],
        &[("src/main.rs", "fn main() { std::process::exit(1) }"), ("src/cli/mod.rs", "use std::process::ExitCode;")],
    );
}

#[test]
fn unsafe_code_stays_in_the_files_that_prove_it() {
    let rule: Rule = |source| {
        if UNSAFE_FILES.contains(&source.path.as_str()) {
            return Vec::new();
        }
        let found = tokens(&source.code).into_iter().filter(|it| it.text == "unsafe");
        found.map(|it| (it.line, format!("unsafe code outside {UNSAFE_FILES:?}"))).collect()
    };
    check(
        rule,
        &rust_files(&ALL),
        &[("src/a.rs", "fn f() { unsafe { g() } }"), ("tests/a.rs", "unsafe fn f() {}")],
        &[
            (UNSAFE_FILES[0], "fn f() { unsafe { g() } }"),
            ("src/a.rs", "#![deny(unsafe_code)] // unsafe\nconst A: &str = \"unsafe\";"),
        ],
    );
}

#[test]
fn nothing_panics_on_purpose_outside_tests() {
    let rule: Rule = |source| {
        let refused = |name: &str, sign: &str| match name {
            "unwrap" => sign == "(",
            "todo" | "unimplemented" => sign == "!",
            _ => false,
        };
        pairs(&source.without_tests(), refused, "panics: return an error")
    };
    check(
        rule,
        &rust_files(&SRC),
        &[("src/a.rs", "fn f() { g().unwrap() }"), ("src/a.rs", "fn f() { todo!() }")],
        &[
            ("src/a.rs", "fn f() { g().unwrap_or_default() }\n#[cfg(test)]\nmod tests { fn f() { g().unwrap() } }"),
            ("src/a/tests.rs", "fn f() { g().unwrap() }"),
            ("src/a.rs", "/// g().unwrap()\nfn f() {}"),
        ],
    );
}

#[test]
fn the_core_does_no_input_or_output_and_reads_no_clock() {
    let rule: Rule = |source| {
        let is_core =
            ["domain", "text", "chunk", "graph"].iter().any(|it| source.path.starts_with(&format!("src/{it}/")));
        if !is_core {
            return Vec::new();
        }
        let refused = ["fs", "net", "SystemTime", "Instant", "tokio", "rusqlite", "tantivy", "tracing"];
        let source = source.without_tests();
        let found = tokens(&source.code).into_iter().filter(|it| refused.contains(&it.text));
        found.map(|it| (it.line, format!("`{}` in the core: take what it gives as an argument", it.text))).collect()
    };
    check(
        rule,
        &rust_files(&SRC),
        &[("src/graph/a.rs", "use std::time::Instant;"), ("src/text/a.rs", "fs::read(x)")],
        &[("src/ingest/a.rs", "use std::fs;"), ("src/graph/a.rs", "// std::fs\nuse std::fmt;")],
    );
}

#[test]
fn names_say_what_a_thing_is_for() {
    let rule: Rule = |source| {
        let tokens = tokens(&source.code);
        let declared = tokens.windows(2).filter(|pair| {
            matches!(pair[0].text, "struct" | "enum" | "trait" | "type" | "fn" | "mod" | "union")
                && words(pair[1].text).iter().any(|word| EMPTY_WORDS.contains(&word.as_str()))
        });
        declared.map(|pair| (pair[1].line, format!("`{}` says nothing of what it is for", pair[1].text))).collect()
    };
    check(
        rule,
        &rust_files(&ALL),
        &[
            ("src/a.rs", "struct IndexManager;"),
            ("src/a.rs", "fn text_utils() {}"),
            ("src/a.rs", "mod helpers;"),
            ("src/a.rs", "trait UTILOfAll {}"),
        ],
        &[("src/a.rs", "struct Utility; fn manage() {} // fn helper()\nconst A: &str = \"fn helper\";")],
    );
}

#[test]
fn public_names_types_and_files_are_in_the_words_of_the_field() {
    let rule: Rule = |source| {
        let tokens = tokens(&source.code);
        let texts: Vec<&str> = tokens.iter().map(|it| it.text).collect();
        let named = tokens.iter().enumerate().filter(|(at, token)| {
            let is_type = token.text.starts_with(char::is_uppercase) && token.text.contains(char::is_lowercase);
            is_out(token.text) && (is_type || is_public(&texts[..*at]))
        });
        named.map(|(_, token)| (token.line, format!("`{}`: use the word of the field", token.text))).collect()
    };
    check(
        rule,
        &rust_files(&SRC),
        &[
            ("src/a.rs", "enum Said {}"),
            ("src/a.rs", "enum Kind { Thing }"),
            ("src/a.rs", "pub fn perform_aloud() {}"),
            ("src/a.rs", "enum Fault { InTheWay { names: String } }"),
            ("src/a.rs", "pub(super) fn in_the_way() {}"),
            ("src/a.rs", "pub(in crate::b) const fn turns() {}"),
            ("src/a.rs", "pub mod spoken;"),
            ("src/a.rs", "struct A { pub said: u8 }"),
        ],
        &[
            ("src/a.rs", "fn said(way: u8) { let mut turns = Nothing; } // Said\nconst A: &str = \"Thing\";"),
            ("src/a.rs", "pub fn always(said: u8) -> Something { something(way) }"),
        ],
    );

    assert!(is_out("src/llm/turns.rs") && is_out("src/a/thing_words.txt") && !is_out("src/a/something.rs"));
    let paths = files(&root().join("src"));
    let found: Vec<String> = paths.iter().map(|path| relative(path)).filter(|path| is_out(path)).collect();
    assert!(found.is_empty(), "use the words of the field: {found:?}");
}

#[test]
fn the_documentation_and_the_command_line_are_in_plain_words() {
    assert_eq!(out_phrases("It is made\nanew, `for ever`."), ["anew", "for ever"]);
    assert!(out_phrases("He came. To make a new one is good.").is_empty());

    let of_type = |path: &Path, extension: &str| path.extension().is_some_and(|it| it == extension);
    let pages = files(&root().join("docs")).into_iter().filter(|path| of_type(path, "md"));
    let above = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| of_type(path, "md"));
    let code = files(&root().join("src/cli")).into_iter().chain([root().join("src/error.rs")]);
    let found: Vec<(String, Vec<&str>)> = pages
        .chain(above)
        .chain(code)
        .map(|path| (relative(&path), out_phrases(&fs::read_to_string(&path).unwrap())))
        .filter(|(_, phrases)| !phrases.is_empty())
        .collect();
    assert!(found.is_empty(), "use plain words for these phrases: {found:?}");
}

/// Returns the refused phrases in a text, including those across line ends, but not across sentences.
fn out_phrases(text: &str) -> Vec<&'static str> {
    let is_mark = |letter: char| letter.is_whitespace() || "/`\",;*\\".contains(letter);
    let text = text.to_lowercase().replace(['.', ':', '(', ')'], " . ");
    let words: Vec<&str> = text.split(is_mark).filter(|it| !it.is_empty()).collect();
    let spaced = format!(" {} ", words.join(" "));
    OUT_PHRASES.iter().copied().filter(|phrase| spaced.contains(&format!(" {phrase} "))).collect()
}

fn is_out(name: &str) -> bool {
    words(name).iter().any(|word| OUT_WORDS.contains(&word.as_str()))
}

/// Returns whether an item or a field after `before` is declared public.
fn is_public(before: &[&str]) -> bool {
    const KEYWORDS: [&str; 10] = ["async", "const", "enum", "fn", "mod", "static", "struct", "trait", "type", "unsafe"];
    let mut rest = before.iter().rev().copied().skip_while(|it| KEYWORDS.contains(it));
    match rest.next() {
        Some("pub") => true,
        Some(")") => rest.skip_while(|it| *it != "(").nth(1) == Some("pub"),
        _ => false,
    }
}

/// Returns the words of a name, in lower case: those of `HTTPServer` are `http` and `server`.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        let ends_capitals = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        let begins = letter.is_uppercase() && at > 0 && (letters[at - 1].is_lowercase() || ends_capitals);
        if begins || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase().filter(|it| it.is_alphanumeric()));
        }
    }
    words
}

#[test]
fn every_test_file_is_run() {
    let undeclared = |path: &str, read: &dyn Fn(&str) -> Option<String>| {
        let name = path.strip_suffix("/mod.rs").or(path.strip_suffix(".rs")).unwrap();
        let (folder, name) = name.rsplit_once('/').unwrap();
        let parents = match folder {
            "tests/it" | "tests/torture" => vec![format!("{folder}/main.rs")],
            _ => vec![format!("{folder}.rs"), format!("{folder}/mod.rs")],
        };
        !parents.iter().filter_map(|parent| read(parent)).any(|text| {
            let code = Source::new("", &text).code;
            tokens(&code).windows(2).any(|pair| pair[0].text == "mod" && pair[1].text == name)
        })
    };
    let main_only = |path: &str| (path == "tests/it/main.rs").then(|| "mod tidy; // mod ask;".to_owned());
    assert!(undeclared("tests/it/ask.rs", &main_only));
    assert!(undeclared("tests/it/tidy/source.rs", &main_only));
    assert!(undeclared("tests/torture/tidy.rs", &main_only));
    assert!(!undeclared("tests/it/tidy.rs", &main_only));

    let read = |path: &str| fs::read_to_string(root().join(path)).ok();
    let paths = rust_files(&["tests/it", "tests/torture"]).into_iter().map(|it| it.path);
    let paths = paths.filter(|it| !it.ends_with("/main.rs"));
    let found: Vec<String> = paths.filter(|path| undeclared(path, &read)).collect();
    assert!(found.is_empty(), "declared nowhere, and so never run: {found:?}");
}

#[test]
fn every_schema_is_json_of_the_2020_12_dialect() {
    let dialect = "https://json-schema.org/draft/2020-12/schema";
    let is_schema =
        |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok_and(|schema| schema["$schema"] == dialect);
    assert!(!is_schema("{") && !is_schema("{}") && is_schema(&format!(r#"{{"$schema": "{dialect}"}}"#)));

    let paths = files(&root().join("schemas"));
    let found: Vec<String> = paths
        .iter()
        .filter(|path| {
            !path.to_string_lossy().ends_with(".schema.json") || !is_schema(&fs::read_to_string(path).unwrap())
        })
        .map(|path| relative(path))
        .collect();
    assert!(found.is_empty(), "no schema: {found:?}");
}

#[test]
fn no_file_names_a_place_on_one_machine() {
    assert!(names_a_machine(concat!("see /ho", "me/ann/notes")) && names_a_machine(concat!("C:\\Us", "ers\\ann")));
    assert!(names_a_machine(concat!("(/wo", "rk/a)")) && names_a_machine(concat!("\"/ro", "ot/a\"")));
    assert!(
        !names_a_machine("https://example.com/home/ann") && !names_a_machine("src/root/a ../shared/data target/work/")
    );

    let tracked = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output();
    let paths = match tracked {
        Ok(output) if output.status.success() => {
            let names = String::from_utf8(output.stdout).unwrap();
            names.split_terminator('\0').map(|name| root().join(name)).collect()
        }
        // Not a checkout, only the sources: check all of them.
        _ => files(root()),
    };
    // Files that are not text, or were deleted without a commit, name nothing.
    let found: Vec<String> = paths
        .iter()
        .filter(|path| fs::read_to_string(path).is_ok_and(|text| names_a_machine(&text)))
        .map(|path| relative(path))
        .collect();
    assert!(found.is_empty(), "paths of one machine in {found:?}");
}

fn names_a_machine(text: &str) -> bool {
    let folders = [
        concat!("/ho", "me/"),
        concat!("/Us", "ers/"),
        concat!("/ro", "ot/"),
        concat!("/wo", "rk/"),
        concat!("C:\\Us", "ers\\"),
    ];
    folders.iter().any(|folder| {
        text.match_indices(folder).any(|(at, _)| {
            // A path that continues a name is another one: a URL, a folder of the repository.
            text[..at].chars().next_back().is_none_or(|it| !it.is_alphanumeric() && !".-_".contains(it))
        })
    })
}
