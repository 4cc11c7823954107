//! `cairn search` as users type it: identifiers, phrases, regular expressions, typing errors, filters, languages
//! without spaces, near-duplicate passages.

use serde_json::{Value, json};

use crate::support::{Cli, assert_valid};

/// Sections of a manual: one has an identifier as a whole, others have its words.
const MANUAL: [(&str, &str, &str); 8] = [
    ("log", "Logging", "Set RUST_LOG to debug to see more. The log grows."),
    ("rust", "Rust", "Iron turns to rust. A log of wood does not rust, and a log floats. Rust and log, log and rust."),
    ("wal", "Write-ahead log", "wal_level says how much is written. The default is replica."),
    ("level", "Levels", "The level of the wal file, the level of the lake: a level is no wal, and a wal no level."),
    ("reflog", "Reflog", "gc.reflogExpire is 90 days by default."),
    ("hook", "Hooks", "Type git commit --no-verify to skip the hooks."),
    ("rfc", "Words of duty", "The words MUST and SHOULD are those of RFC 2119."),
    ("code", "Deadlock", "A deadlock is reported as 40P01, and one of the two is rolled back."),
];

fn indexed(records: &[(&str, &str, &str)]) -> Cli {
    let cli = Cli::new();
    let record = |(id, title, text): &(&str, &str, &str)| {
        let kind = format!("page of {id}");
        json!({ "id": id, "title": title, "text": text, "kind": kind, "pages": id.len() }).to_string()
    };
    cli.write("manual.jsonl", records.iter().map(record).collect::<Vec<_>>().join("\n"));
    cli.json(&["index", "manual.jsonl"]);
    cli
}

fn found(cli: &Cli, args: &[&str]) -> Vec<String> {
    let result = cli.json(&[&["search"], args].concat());
    assert_valid("search", &result);
    result["hits"].as_array().unwrap().iter().map(|hit| hit["source_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn identifiers_are_found_whole_first_and_by_their_words_next() {
    let cli = indexed(&MANUAL);
    for (query, first) in [
        ("RUST_LOG", "log"),
        ("wal_level", "wal"),
        ("walLevel", "wal"),
        ("gc.reflogExpire", "reflog"),
        ("reflog expire", "reflog"),
        ("the --no-verify", "hook"),
        ("RFC 2119", "rfc"),
        ("40P01", "code"),
    ] {
        for strategy in ["lexical", "auto"] {
            assert_eq!(found(&cli, &[query, "--strategy", strategy])[0], first, "{query} {strategy}");
        }
    }
    assert_eq!(found(&cli, &["wal_level", "--strategy", "lexical"])[1], "level");
}

#[test]
fn a_phrase_stands_word_for_word_and_a_regular_expression_matches() {
    let cli = indexed(&MANUAL);
    assert_eq!(found(&cli, &["\"the level of the wal\""]), ["level"]);
    assert_eq!(found(&cli, &["where is the \"commit  --NO-VERIFY\""]), ["hook"]);
    assert_eq!(found(&cli, &["\"wal level\""]), [""; 0]);
    let said = cli.run(["search", "\"wal level\""]).succeeded();
    assert!(said.stderr.contains("no passage has “wal level” word for word"), "{said:#?}");

    assert_eq!(found(&cli, &["/[0-9]{2}P[0-9]{2}/"]), ["code"]);
    assert_eq!(found(&cli, &["/LOG/"]), ["log"]);
    assert_eq!(found(&cli, &["/\\blog\\b/i", "--top-k", "1"]), ["rust"]);
    assert_eq!(found(&cli, &["/log/i", "--filter", "id=rust"]), ["rust"]);
    let result = cli.json(&["search", "/40P01/"]);
    let (hit, text) = (&result["hits"][0], MANUAL[7].2);
    let at = text.find("40P01").unwrap();
    assert_eq!(hit["matches"], json!([{ "start": at, "end": at + 5 }]));
    cli.refuses(&["search", "/(/"], "input", &["regular expression"]);
}

#[test]
fn a_typing_error_is_corrected_and_this_is_reported() {
    let cli = indexed(&MANUAL);
    for query in ["deadlokc", "daedlock", "deadlck", "deadllock"] {
        assert_eq!(found(&cli, &[query])[0], "code", "{query}");
    }
    let result = cli.json(&["search", "deadlokc"]);
    assert_eq!(result["ledger"]["spellings"], json!([{ "typed": "deadlokc", "searched": "deadlock" }]));
    let said = cli.run(["ask", "How is a daedlock reported?"]).succeeded();
    assert!(said.stdout.contains("40P01"), "{said:#?}");
    assert!(said.stderr.contains("searched for “deadlock” instead of “daedlock”"), "{said:#?}");
    // Ordinary words and numbers are left alone.
    for query in ["Who painted it?", "40P02", "rust"] {
        assert_eq!(cli.json(&["search", query])["ledger"]["spellings"], Value::Null, "{query}");
    }
}

#[test]
fn a_hit_shows_the_lines_that_match_and_says_what_it_lacks() {
    let cli = indexed(&MANUAL);
    let said = cli.run(["search", "deadlock hooks", "--strategy", "lexical", "--top-k", "2"]).succeeded();
    assert!(said.stdout.contains("\n    A deadlock is reported as 40P01"), "{said:#?}");
    assert!(said.stdout.contains("1 of 2 words of the question; not: hooks"), "{said:#?}");
    let hit = &cli.json(&["search", "deadlock hooks", "--top-k", "1"])["hits"][0];
    assert_eq!(hit["why"]["words"].as_array().unwrap().len() + hit["why"]["missing"].as_array().unwrap().len(), 2);
}

#[test]
fn a_hit_leads_to_the_line_that_matches_best() {
    let cli = Cli::new();
    let faq = "# Questions\n\n## How do I log in?\n\nOpen the page.\n\n## Why is the page slow?\n\nIt is cold.\n";
    cli.write("faq.md", faq);
    cli.write("other.md", "# Other\n\nA text about nothing.\n");
    cli.json(&["index", "faq.md", "other.md"]);
    let query = "Why is the page slow?";
    let said = cli.run(["search", query, "--top-k", "1"]).succeeded();
    let due = " 1. Questions › Why is the page slow?  faq.md:7\n    Open the page.\n    ## Why is the page slow?\n";
    assert!(said.stdout.starts_with(due), "{said:#?}");
    let hit = &cli.json(&["search", query, "--top-k", "1"])["hits"][0];
    let (start, word) = (faq.find("## Why").unwrap(), faq.find("page slow").unwrap());
    assert_eq!((&hit["section"], &hit["line"]), (&json!("Questions"), &json!(1)));
    let due = json!({
        "span": { "start": start, "end": start + "## Why is the page slow?".len() },
        "section": "Questions › Why is the page slow?",
        "line": 7,
        "column": word - start + 1,
    });
    assert_eq!(hit["lines"][0], due);
}

#[test]
fn how_far_a_walk_went_is_only_in_an_explanation_of_what_was_found() {
    let cli = indexed(&MANUAL);
    let said = cli.run(["search", "deadlock"]).succeeded();
    assert_eq!(said.stderr, "");
    let said = cli.run(["search", "deadlock", "--explain"]).succeeded();
    assert!(said.stdout.contains("\nEntered at\n") && said.stdout.contains("\nwalk of 3 rounds:"), "{said:#?}");
    let said = cli.run(["search", "\"wal level\"", "--explain"]).succeeded();
    assert!(said.stderr.contains("nothing found\n") && !said.stdout.contains("walk of"), "{said:#?}");
}

#[test]
fn a_hit_says_which_words_it_has_of_scripts_without_spaces_and_of_identifiers() {
    let cli = indexed(&[
        ("backup", "备份", "备份每天自动进行,保存三十天。"),
        ("rfc", "Words of duty", "The words MUST and SHOULD are those of RFC2119."),
        ("wall", "防火墙", "防火墙的日志。"),
    ]);
    for (query, has, lacks) in [
        ("备份保存", &["备份", "保存"][..], &[][..]),
        ("备份密码", &["备份"], &["密码"]),
        ("RFC 2119", &["RFC", "2119"], &[]),
    ] {
        let hit = &cli.json(&["search", query, "--strategy", "lexical"])["hits"][0];
        assert_eq!((&hit["why"]["words"], &hit["why"]["missing"]), (&json!(has), &json!(lacks)), "{query}");
    }
}

#[test]
fn filters_take_forms_and_comparisons_and_say_what_there_is() {
    let cli = indexed(&MANUAL);
    let ids = |filter: &str| {
        let mut ids = found(&cli, &["log level", "--strategy", "dense", "--filter", filter]);
        ids.sort_unstable();
        ids
    };
    assert_eq!(ids("uri=*#w*"), ["wal"]);
    assert_eq!(ids("kind=page of r?"), [""; 0]);
    assert_eq!(ids("kind=page of r??"), ["rfc"]);
    assert_eq!(ids("pages>=5"), ["level", "reflog"]);
    assert_eq!(ids("pages<4"), ["log", "rfc", "wal"]);
    assert_eq!(ids("kind!=page of *").len(), 0);
    let said = cli.run(["search", "log", "--filter", "kind=letter"]).succeeded();
    assert!(
        said.stderr.contains("no document matches `kind=letter`: values of `kind` are `page of code`"),
        "{said:#?}"
    );
    let said = cli.run(["search", "log", "--filter", "sort=letter"]).succeeded();
    assert!(said.stderr.contains("no document has the field `sort`; there are `id`, `kind`, `pages`"), "{said:#?}");
    cli.refuses(&["search", "log", "--filter", "kind"], "input", &["KEY=VALUE"]);
}

#[test]
fn names_in_scripts_without_spaces_are_found() {
    let cli = indexed(&[
        ("yamada", "人物", "山田太郎は東京で生まれた。医者である。"),
        ("suzuki", "人物", "鈴木花子は大阪で生まれた。教師である。"),
        ("beijing", "城市", "首都是北京。长江很长。"),
        ("seoul", "도시", "홍길동은 서울에서 태어났다."),
        ("moscow", "Город", "Библиотека находится в старом городе Москве."),
        ("cairo", "مدينة", "المكتبة في مدينة القاهرة."),
    ]);
    for (query, first) in [
        ("山田太郎", "yamada"),
        ("鈴木花子はどこで生まれた?", "suzuki"),
        ("北京", "beijing"),
        ("홍길동", "seoul"),
        ("서울", "seoul"),
        ("библиотеки", "moscow"),
        ("مكتبة", "cairo"),
    ] {
        assert_eq!(found(&cli, &[query, "--strategy", "lexical"])[0], first, "{query}");
    }
}

#[test]
fn of_passages_that_are_nearly_equal_one_is_shown() {
    let text = |version: u8| {
        let words: Vec<String> = (0..60).map(|it| format!("word{it}")).collect();
        format!("The mill of Harl grinds {} in version {version}.", words.join(" "))
    };
    let [one, two, three] = [1, 2, 3].map(text);
    let cli = indexed(&[
        ("one", "Mill", &one),
        ("two", "Mill", &two),
        ("three", "Mill", &three),
        ("other", "Other", "A mill of another place."),
    ]);
    let result = cli.json(&["search", "mill of Harl", "--strategy", "lexical"]);
    let hits = result["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 2, "{result:#}");
    assert_eq!(hits[0]["near_equal"].as_array().unwrap().len(), 2);
    let said = cli.run(["search", "mill of Harl", "--strategy", "lexical"]).succeeded();
    assert!(said.stdout.contains("and 2 near-duplicates: manual.jsonl#"), "{said:#?}");
}
