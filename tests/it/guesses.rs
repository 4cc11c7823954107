//! Short answers by rule, through the program: what each rule reads, and when none applies.

use serde_json::{Value, json};

use crate::support::Cli;

/// What the program reads: id, title, text.
const RECORDS: [(&str, &str, &str); 6] = [
    (
        "1",
        "The Long Quay",
        "The Long Quay is a 1951 Italian drama film directed by Marta Bellini. It was shot in \
         Genoa.",
    ),
    (
        "2",
        "Marta Bellini",
        "Marta Bellini (4 May 1910, Turin – 12 June 1988) was an Italian film director. She was the \
         daughter of Paolo Bellini and his wife Anna Grassi. She died in Rome.",
    ),
    ("3", "Salt and Iron", "Salt and Iron is a 1963 drama film directed by Henri Duval."),
    (
        "4",
        "Henri Duval",
        "Henri Duval (born 9 March 1922) was a French film director. He was born in Lyon and died \
         in Nice.",
    ),
    ("5", "Paolo Bellini", "Paolo Bellini (1870 – 1941) was an Italian engineer. He built the mole of Ancona."),
    ("6", "Ancona Mole", "The mole of Ancona was finished on 3 July 1902 after nine years of work by convicts."),
];

#[test]
fn each_rule_reads_what_passages_state() {
    let cli = Cli::new();
    let record = |(id, title, text): &(&str, &str, &str)| json!({ "id": id, "title": title, "text": text }).to_string();
    cli.write("records.jsonl", RECORDS.iter().map(record).collect::<Vec<_>>().join("\n"));
    cli.run(["index", "records.jsonl"]).succeeded();
    for (question, expect) in [
        ("Which film came out first, Salt and Iron or The Long Quay?", Some(("dates", "The Long Quay"))),
        (
            "Which film has the director who was born later, The Long Quay or Salt and Iron?",
            Some(("dates", "Salt and Iron")),
        ),
        ("Are Marta Bellini and Henri Duval of the same nationality?", Some(("same-country", "no"))),
        ("When did the director of film The Long Quay die?", Some(("date", "12 June 1988"))),
        ("Where was the director of Salt and Iron born?", Some(("place", "Lyon"))),
        ("What nationality is the director of Salt and Iron?", Some(("country", "French"))),
        ("Which country is the director of Salt and Iron from?", Some(("country", "France"))),
        ("Who is Marta Bellini's mother?", Some(("relation", "Anna Grassi"))),
        ("Who is the father of the director of The Long Quay?", Some(("relation", "Paolo Bellini"))),
        ("Who owns the rights of The Long Quay?", None),
        ("Why did Marta Bellini leave?", None),
    ] {
        let said = cli.run(["ask", question, "--json"]).succeeded();
        let answer: Value = serde_json::from_str(&said.stdout).unwrap();
        let guess = answer["guess"].as_object().map(|it| (it["rule"].as_str().unwrap(), it["text"].as_str().unwrap()));
        assert_eq!(guess, expect, "{question}");
    }
    let shown = cli.run(["ask", "Who is Marta Bellini's mother?"]).succeeded().stdout;
    assert!(shown.contains("Guess, by the rule `relation`: Anna Grassi"), "{shown}");
}
