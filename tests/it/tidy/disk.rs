//! Files and folders are opened, created, renamed and removed in one module, which follows no link where none is
//! allowed.

use super::source::{Source, rust_files, tokens};
use super::{Rule, SRC, check};

/// That module.
const HOME: &str = "src/files/";
/// Opens documents that a walk has found, which skips links, pipes and devices.
const DOCUMENTS: &str = "src/ingest/";

/// Functions and types that change the disk, whatever they are called on.
const CHANGES: [&str; 12] = [
    "remove_dir",
    "remove_dir_all",
    "remove_file",
    "create_dir",
    "create_dir_all",
    "hard_link",
    "soft_link",
    "symlink",
    "set_len",
    "set_permissions",
    "OpenOptions",
    "DirBuilder",
];
/// The same, when called on one of these.
const CHANGES_OF: [(&str, &str); 7] = [
    ("fs", "rename"),
    ("fs", "write"),
    ("fs", "copy"),
    ("File", "create"),
    ("File", "create_new"),
    ("File", "create_buffered"),
    ("File", "options"),
];
/// Functions that open a file for reading, and would wait if it is a pipe.
const READS_OF: [(&str, &str); 4] =
    [("fs", "read"), ("fs", "read_to_string"), ("File", "open"), ("File", "open_buffered")];

fn around(source: &Source) -> Vec<(usize, String)> {
    if source.path.starts_with(HOME) {
        return Vec::new();
    }
    let source = source.without_tests();
    let tokens = tokens(&source.code);
    let is_read = |pair: &(&str, &str)| READS_OF.contains(pair) && !source.path.starts_with(DOCUMENTS);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let on = match at.checked_sub(2) {
            Some(before) if tokens[before + 1].text == "::" => tokens[before].text,
            _ => "",
        };
        let pair = (on, token.text);
        if CHANGES.contains(&token.text) || CHANGES_OF.contains(&pair) || is_read(&pair) {
            found.push((token.line, format!("`{}` outside `{HOME}`: use what is there", token.text)));
        }
    }
    found
}

#[test]
fn files_are_accessed_by_one_module() {
    let rule: Rule = around;
    check(
        rule,
        &rust_files(&SRC),
        &[
            ("src/workspace/a.rs", "fn f() { std::fs::remove_dir_all(path) }"),
            ("src/workspace/a.rs", "use std::fs::remove_file;"),
            ("src/neo4j/a.rs", "fn f() { fs::rename(a, b) }"),
            ("src/cli/a.rs", "fn f() { std::fs::write(a, b) }"),
            ("src/cli/a.rs", "fn f() { File::create(a) }"),
            ("src/llm/a.rs", "fn f() { File::options().append(true) }"),
            ("src/eval/a.rs", "fn f() { file.set_len(3) }"),
            ("src/query/a.rs", "fn f() { fs::read_to_string(path) }"),
            ("src/ingest/a.rs", "fn f() { fs::write(path, text) }"),
        ],
        &[
            ("src/files/mod.rs", "fn f() { std::fs::remove_file(path) }"),
            ("src/ingest/a.rs", "fn f() { File::open(path) }"),
            ("src/domain/a.rs", "#[serde(rename = \"a\")] struct A; fn f() { files::write(a, b); text.write(b) }"),
            ("src/cli/a.rs", "#[cfg(test)]\nmod tests { fn f() { std::fs::remove_dir_all(path) } }"),
        ],
    );
}
