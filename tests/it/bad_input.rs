//! Bad input through the program: each case is a clear error or a named, counted skip, says what was kept and what to
//! do, never panics and loses nothing.

mod damage;
mod hostile;
mod kept;

use std::fs;

use cairn::Workspace;
use cairn::workspace::INDEX_FORMAT;
use serde_json::{Value, json};

use crate::support::{Cli, CommandOutput, assert_valid, files_below, left_out};

/// A program in a folder with an index of two documents.
fn indexed() -> Cli {
    let cli = Cli::new();
    cli.write("notes/mill.md", "# Mill\n\nThe mill of Ada Lorne stands by the river Tarn. It was built in 1890.");
    cli.write("notes/tarn.txt", "Tarn\n\nThe Tarn is a river. Ada Lorne mapped it in 1889.");
    cli.json(&["index", "notes"]);
    cli
}

/// Returns what a run left out, as `source: reason`, after checking that the report is valid and its count right.
#[track_caller]
fn skips(report: &Value) -> Vec<String> {
    assert_valid("index", report);
    let skips = report["skips"].as_array().unwrap();
    assert_eq!(report["documents"]["skipped"], skips.len());
    skips.iter().map(|it| format!("{}: {}", it["source"].as_str().unwrap(), it["reason"].as_str().unwrap())).collect()
}

#[test]
fn a_source_that_is_missing_or_holds_nothing_changes_nothing() {
    let cli = indexed();
    let before = cli.canonical(".cairn");
    fs::create_dir(cli.folder().join("empty")).unwrap();
    cli.write("pictures/a.png", b"\x89PNG");
    cli.write("blank/a.txt", " \n");
    let next = "hint: ";
    cli.refuses(&["index", "absent"], "input", &["no file or folder `absent`", "nothing was changed", next]);
    cli.refuses(&["index", "notes", "absent"], "input", &["`absent`", "nothing was changed"]);
    cli.refuses(&["index", "empty"], "input", &["no document", "`empty`", "index was left as it was", next]);
    cli.refuses(&["index", "pictures"], "input", &["no document", "1 file .png: unsupported kind of file", next]);
    cli.refuses(&["index", "blank"], "input", &["no document", "blank/a.txt: it is empty", next]);
    cli.refuses(&["index", "absent", "--index", "new"], "input", &["`absent`"]);
    assert!(!cli.folder().join("new").exists(), "a run that cannot begin makes no index");
    assert_eq!(cli.canonical(".cairn"), before);
}

#[test]
fn what_cannot_be_read_is_named_and_counted_and_the_rest_is_indexed() {
    let cli = Cli::new();
    cli.write("notes/good.md", "# Mill\n\nThe mill stands.");
    cli.write("notes/empty.md", "");
    cli.write("notes/latin.txt", b"caf\xe9 ferm\xe9");
    cli.write("notes/sixteen.txt", b"\xff\xfea\0b\0");
    cli.write("notes/binary.txt", b"\x7fELF\0\0\xff\xfe");
    cli.write("notes/nul.txt", "a\0b. A line with a zero byte is text.");
    cli.write("notes/broken.json", "[{\"id\": 1, \"text\": \"One.\"}, {\"id\"");
    let lines = [
        r#"{"id": "x", "title": "X", "text": "The x stands."}"#,
        "no json",
        r#"{"id": "y"}"#,
        r#"{"id": [4], "text": "t"}"#,
        r#"{"id": "x", "text": "again"}"#,
        r#"{"id": "z", "text": ""}"#,
        "[1]",
    ];
    cli.write("notes/records.jsonl", lines.join("\n"));
    let report = cli.json(&["index", "notes"]);
    let expect = [
        "notes/binary.txt: it is not text",
        "notes/broken.json:1: not JSON: EOF while parsing an object at column 33; the records before it were read",
        "notes/empty.md: it is empty",
        "notes/records.jsonl:2: not JSON: expected ident at column 2",
        "notes/records.jsonl:3: no field `text`",
        "notes/records.jsonl:4: field `id` is neither text nor a number",
        "notes/records.jsonl:5: id `x` was already used by notes/records.jsonl:1",
        "notes/records.jsonl:6: field `text` is empty",
        "notes/records.jsonl:7: not a JSON object",
    ];
    assert_eq!(skips(&report), expect);
    assert_eq!((&report["documents"]["added"], &report["version"]), (&json!(6), &json!(1)));
    let status = cli.json(&["status"]);
    assert_eq!(status["skips"], report["skips"]);
    // On a terminal, the first ones are named.
    let said = cli.run(["index", "notes"]).succeeded();
    assert!(said.stderr.contains("skipped notes/binary.txt: it is not text"), "{said:#?}");
    let hit = &cli.json(&["search", "mill stands"])["hits"][0];
    assert_eq!(hit["source_id"], "notes/good.md");
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_document_of_50_mb_is_indexed_or_named() {
    let cli = Cli::new();
    cli.write("notes/good.md", "# Mill\n\nThe mill stands.");
    let mut large = String::with_capacity(51 << 20);
    // Words without an end of sentence, and one word of 1 MB: no place to divide the text.
    large.push_str(&"x".repeat(1 << 20));
    while large.len() < 50 << 20 {
        large.push_str(&"\n".repeat(1 << 20));
    }
    cli.write("notes/large.txt", &large);
    let record = json!({ "id": "larger", "text": "y ".repeat(33 << 20) });
    cli.write("notes/larger.jsonl", record.to_string());
    let report = cli.json(&["index", "notes"]);
    assert_eq!(report["documents"]["added"], 2);
    assert_eq!(skips(&report).len(), 1);
    assert!(skips(&report)[0].starts_with("notes/larger.jsonl:1: 692"), "{report}");
}

#[test]
fn a_question_of_any_characters_is_answered_or_refused() {
    let cli = indexed();
    let long = "who ".repeat(25_000);
    for (question, words) in [
        ("", "at least one word"),
        (" \t\n", "at least one word"),
        ("?!… — \"\"", "at least one word"),
        (long.as_str(), "at most 4000 characters; this one has 99999"),
    ] {
        cli.refuses(&["search", question], "input", &[words]);
        cli.refuses(&["ask", question], "input", &[words]);
    }
    for question in [
        "a:b OR (",
        "AND OR NOT + - && || ! ( ) { } [ ] ^ \" ~ * ? : \\ / mill",
        "\"mill",
        "mill~0.5^3 [a TO b]",
        "title:mill AND *",
        "🏔️ mill 👩‍🚀",
        "誰が橋を設計しましたか",
        "Кто построил мост? من بنى الجسر",
        "mi\u{7}ll \u{1b}[31mred\u{202e} \u{200b}",
        "e\u{301}".repeat(900).as_str(),
        "x".repeat(4_000).as_str(),
        "'; DROP TABLE documents; --",
        "%s%n ${HOME} $(id) `id`",
    ] {
        for strategy in ["lexical", "dense", "hybrid", "hop", "trail", "rank", "layers", "auto"] {
            let found = cli.json(&["search", "--strategy", strategy, "--", question]);
            assert_valid("search", &found);
            assert_eq!(found["query"], question.trim());
        }
        let said = cli.run(["ask", "--explain", "--", question]).succeeded();
        said.has_not_panicked();
        assert_valid("answer", &cli.json(&["ask", "--", question]));
    }
}

#[test]
fn an_unusable_option_says_what_could_be_used() {
    let cli = indexed();
    let all = "lexical, dense, hybrid, hop, trail, rank, layers, level, dual, noise, auto";
    cli.refuses(&["search", "mill", "--strategy", "guess"], "input", &["`guess` is not a valid strategy", all]);
    cli.refuses(&["ask", "mill", "--strategy", ""], "input", &["strategy", all]);
    cli.refuses(&["search", "mill", "--top-k", "0"], "input", &["`0`", "top-k", "between 1 and"]);
    cli.refuses(&["search", "mill", "--top-k", "1000001"], "input", &["top-k", "between 1 and"]);
    cli.refuses(&["ask", "mill", "--n-hop", "99"], "input", &["n-hop"]);
    cli.refuses(&["ask", "mill", "--layers", "wide"], "input", &["`wide`", "local, global, bridge, no-bridge, full"]);
    cli.refuses(&["ask", "mill", "--layers-entry", "roof"], "input", &["`roof`", "entities, passages, both"]);
    cli.refuses(&["ask", "mill", "--context-tokens", "0"], "input", &["number of tokens", "from 1 to"]);
    cli.refuses(&["search", "mill", "--filter", "kind"], "input", &["KEY=VALUE"]);
    cli.refuses(&["index", "notes", "--passage-tokens", "1"], "input", &["word pieces", "at least"]);
    cli.refuses(&["index", "notes", "--edges-across", "1000"], "input", &["edges", "at most"]);
    cli.refuses(&["index", "notes", "--embedder", "other"], "input", &["`other`", "builtin, none"]);
    for args in
        [&["search", "mill", "--top-k", "-1"][..], &["search", "mill", "--top-k", "many"], &["index"], &["find"]]
    {
        let said = cli.run(args);
        assert_eq!((said.status, said.stdout.as_str()), (Some(2), ""), "{args:?}: {said:#?}");
        assert!(said.stderr.starts_with("error: ") && said.stderr.contains("--help"), "{said:#?}");
    }
}

#[test]
fn a_place_without_an_index_is_named_and_left_as_it_is() {
    let cli = indexed();
    let make = "index PATH";
    cli.write("file", "a file");
    cli.write("other/letter.txt", "mine");
    fs::create_dir(cli.folder().join("empty")).unwrap();
    for command in [&["search", "mill"][..], &["ask", "mill"], &["status"]] {
        let at = |place: &'static str| [command, &["--index", place]].concat();
        cli.refuses(&at("absent"), "no_index", &["no index at `absent`", make]);
        cli.refuses(&at("empty"), "no_index", &["no index at `empty`", make]);
        cli.refuses(&at("other"), "no_index", &["no index at `other`", make]);
        cli.refuses(&at("file"), "input", &["`file` is not an index: it is a file", "--index DIR"]);
        cli.refuses(&at("file/below"), "no_index", &["no index at `file/below`"]);
    }
    let said = cli.run(["export", "--canonical", "--index", "absent"]);
    assert_eq!((said.status, said.stdout.as_str()), (Some(4), ""), "{said:#?}");
    let said = cli.run(["export", "--canonical", "lines.txt"]);
    assert_eq!(said.status, Some(2), "the lines are printed, and only files for an import have a folder: {said:#?}");
    let kept = "nothing was changed";
    cli.refuses(&["index", "notes", "--index", "file"], "input", &["`file` is not an index", kept]);
    cli.refuses(&["index", "notes", "--index", "other"], "input", &["it holds `letter.txt`", kept]);
    assert_eq!(fs::read(cli.folder().join("file")).unwrap(), b"a file");
    let left: Vec<_> = fs::read_dir(cli.folder().join("other")).unwrap().collect();
    assert_eq!(left.len(), 1);
    assert!(!cli.folder().join("absent").exists());
}

#[test]
fn an_index_that_was_begun_and_never_finished_says_so() {
    let cli = Cli::new();
    cli.write("notes/a.txt", " ");
    cli.refuses(&["index", "notes"], "input", &["no document"]);
    let verdict = ["no finished version yet", "create the first with `", "index PATH`; documents read so far are kept"];
    for command in [&["search", "mill"][..], &["ask", "mill"], &["topics"]] {
        cli.refuses(command, "no_index", &[&["the index at `.cairn` has"][..], &verdict].concat());
    }
    let said = cli.run(["status"]).succeeded().stdout;
    assert!(verdict.iter().all(|word| said.contains(word)), "{said}");
    let status = cli.json(&["status"]);
    assert_valid("status", &status);
    assert_eq!(status["version"], Value::Null);
}

#[test]
fn status_and_ask_agree_on_whether_there_is_an_index() {
    let cli = Cli::new();
    cli.write("file", "a file");
    cli.write("other/thesis.txt", "It is no index.");
    cli.write("begun/lock", "");
    fs::create_dir(cli.folder().join("empty")).unwrap();
    for index in ["file", "other", "begun", "empty", "nowhere", "file/below"] {
        let refused = |args: &[&str]| {
            let said = cli.run([args, &["--index", index]].concat());
            assert_ne!(said.status, Some(0), "{said:#?}");
            (said.status, said.stdout, said.stderr)
        };
        assert_eq!(refused(&["status"]), refused(&["ask", "Who built the mill?"]), "{index}");
    }
}

#[test]
fn an_index_of_another_format_or_embedder_is_left_alone() {
    let cli = indexed();
    let before = cli.canonical(".cairn");
    let change =
        |sql: &str| rusqlite::Connection::open(cli.folder().join(".cairn/cairn.db")).unwrap().execute_batch(sql);
    change("PRAGMA user_version = 99").unwrap();
    let format = format!("format 99; this program reads format {INDEX_FORMAT}");
    let words = [format.as_str(), "use the program that made it, or index the documents"];
    for args in [&["search", "mill"][..], &["ask", "mill"], &["status"], &["index", "notes"]] {
        cli.refuses(args, "incompatible", &words);
    }
    change(&format!("PRAGMA user_version = {INDEX_FORMAT}")).unwrap();
    assert_eq!(cli.canonical(".cairn"), before);

    let words = ["made with the embedder `static-256i8", "`none", "use the embedder of the index", "--re-embed"];
    cli.refuses(&["index", "notes", "--embedder", "none"], "incompatible", &words);
    // What is pinned is protected by its digest, too.
    change("UPDATE manifest SET embedder = 'from-afar'").unwrap();
    for args in [&["search", "mill"][..], &["index", "notes"]] {
        cli.refuses(args, "corrupt", &["its manifest is not what was written", "see what is damaged"]);
    }
    change("UPDATE manifest SET embedder = 'static-256i8'").unwrap();
    assert_eq!(cli.canonical(".cairn"), before);
}

#[test]
fn a_second_writer_is_told_to_wait_and_readers_are_not_disturbed() {
    let cli = indexed();
    let workspace = Workspace::open(cli.folder().join(".cairn")).unwrap();
    let writer = workspace.writer().unwrap();
    let words = [
        "another run is writing the index at `.cairn`",
        "wait for it to end",
        "searches still read the last finished version",
    ];
    cli.refuses(&["index", "notes"], "busy", &words);
    assert_eq!(cli.json(&["search", "mill"])["version"], 1);
    drop(writer);
    assert_eq!(cli.json(&["index", "notes"])["version"], 1);
}

#[test]
fn a_name_with_control_characters_does_not_steer_a_terminal() {
    let cli = Cli::new();
    cli.write("notes/a.jsonl", "{\"id\": \"\\u001b[2J\", \"text\": \"The mill\\u0007 stands.\"}\nx");
    let said = cli.run(["index", "notes"]).succeeded();
    assert!(!said.stderr.contains('\u{1b}'), "{said:#?}");
    // If the output is not a terminal, data is printed as it is.
    let found = cli.json(&["search", "mill"]);
    assert_eq!(found["hits"][0]["source_id"], "\u{1b}[2J");
}

/// Runs the program as a user without privileges, because tests in a container may run as root.
#[cfg(unix)]
#[test]
fn what_the_system_refuses_is_named() {
    use std::os::unix::fs::PermissionsExt as _;

    let cli = indexed();
    let mode = |name: &str, mode: u32| {
        fs::set_permissions(cli.folder().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("", 0o777);
    cli.write("notes/secret.txt", "Nobody reads it.");
    cli.write("closed/a.txt", "Nobody reads it.");
    mode("notes/secret.txt", 0);
    mode("closed", 0);
    let run = |args: &[&str]| as_nobody(&cli, args);
    let Some(said) = run(&["index", "notes", "--index", "new", "--json"]) else { return };
    let report: Value = serde_json::from_str(&said.succeeded().stdout).unwrap();
    let refused = "notes/secret.txt: cannot be read: Permission denied";
    assert!(skips(&report)[0].starts_with(refused), "{report}");
    assert_eq!(report["documents"]["added"], 2);

    let check = |args: &[&str], status, words: &[&str]| {
        let said = run(args).unwrap();
        assert_eq!((said.status, said.stdout.as_str()), (Some(status), ""), "{args:?}: {said:#?}");
        for word in words {
            assert!(said.stderr.contains(word), "{word}: {said:#?}");
        }
    };
    check(&["index", "closed", "--index", "new"], 3, &["no document", "closed: cannot be read: Permission denied"]);
    check(&["index", "closed/a.txt", "--index", "new"], 8, &["closed/a.txt", "Permission denied", "hint: "]);
    // An index that may be read but not written.
    mode(".cairn/lock", 0o444);
    check(&["index", "notes"], 8, &["cannot write `.cairn/lock`: Permission denied", "hint: "]);
    assert_eq!(run(&["search", "mill"]).unwrap().status, Some(0));
    mode(".cairn", 0);
    check(&["search", "mill"], 8, &["Permission denied", "hint: "]);
    check(&["index", "notes"], 8, &["Permission denied", "hint: "]);
    mode(".cairn", 0o755);
    mode("closed", 0o755);
}

/// Runs the program as a user without privileges; none if that is not possible.
#[cfg(unix)]
fn as_nobody(cli: &Cli, args: &[&str]) -> Option<CommandOutput> {
    use std::os::unix::fs::MetadataExt as _;
    use std::os::unix::process::CommandExt as _;

    const NOBODY: u32 = 65_534;
    let mut command = cli.command(args);
    if fs::metadata(cli.folder()).unwrap().uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    match command.output() {
        Ok(output) => Some(CommandOutput::of(output)),
        Err(error) => {
            left_out(&format!("the program cannot be run as another user: {error}"));
            None
        }
    }
}
