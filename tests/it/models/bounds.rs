//! Budgets are hard limits, for any text and whatever counts a server reports.

use serde_json::{Value, json};

use super::generating::{index, name_of, written};
use crate::support::chat::{Answers, ChatServer, Play, Reply, Thought, said};
use crate::support::{Cli, CommandOutput};

/// A folder with documents of one kind.
fn notes(text: impl Fn(usize) -> String) -> Cli {
    let cli = Cli::new();
    for number in 0..16 {
        cli.write(&format!("notes/{number}.txt"), format!("Table {number}\n\n{}", text(number)));
    }
    cli
}

#[test]
fn no_budget_of_tokens_is_exceeded_by_texts_that_take_a_token_a_byte() {
    let digits = |number: usize| {
        let numbers = (0..150).map(|it| ((it * 7_919 + number * 104_729) % 1_000_000).to_string());
        numbers.collect::<Vec<String>>().join(" ")
    };
    let amharic = |number: usize| format!("{number} {}", "በአዲስ አበባ ከተማ ውስጥ ብዙ ሰዎች ይኖራሉ። ".repeat(12));
    let texts: [&dyn Fn(usize) -> String; 2] = [&digits, &amharic];
    for text in texts {
        let cli = notes(text);
        // A model with a small vocabulary may need one token per byte.
        let server = ChatServer::start([Play::Thinks(Thought::new(|body| {
            let said = body["messages"].as_array().unwrap().iter().map(|it| it["content"].as_str().unwrap().len());
            Reply { text: written(&name_of(body)), tokens: (said.sum(), 300) }
        }))]);
        for budget in [8_000, 20_000] {
            let said = index(&cli, &server, &["--json", "--budget", &format!("{budget}tok")]).succeeded();
            let report: Value = serde_json::from_str(&said.stdout).unwrap();
            let usage = &report["model"]["spent"]["usage"];
            let spent = usage["input_tokens"].as_u64().unwrap() + usage["output_tokens"].as_u64().unwrap();
            assert!(spent <= budget && spent > 0, "{spent} of {budget}: {report}");
        }
    }
}

#[test]
fn counts_that_cannot_be_true_neither_lift_a_limit_nor_lose_a_reply() {
    for count in [json!(0), json!(u64::MAX), json!(400.0), json!(-1), json!("12")] {
        let cli = notes(|number| format!("Mill {number} was built by Ada Lorne in 18{number:02}."));
        let shown = count.to_string();
        let server = ChatServer::start([Play::Answers(Answers::new(move |body: &Value| {
            let mut reply: Value = serde_json::from_str(&said(&written(&name_of(body)))).unwrap();
            reply["usage"] = json!({ "prompt_tokens": count, "completion_tokens": count });
            reply.to_string()
        }))]);
        let said = index(&cli, &server, &["--json", "--budget", "30000tok"]).succeeded();
        let report: Value = serde_json::from_str(&said.stdout).unwrap();
        let written = report["model"]["written"].as_u64().unwrap();
        assert_eq!(report["model"]["failed"], json!([]), "{shown}");
        // Plausible counts are believed.
        let due = if shown == "400.0" { 16..17 } else { 3..16 };
        assert!(due.contains(&written), "{shown}: {report}");
        assert_eq!(server.asked().len() as u64, written, "{shown}");
    }
}

#[test]
fn letters_that_no_language_has_do_not_exceed_a_budget_though_prose_was_counted_before() {
    let cli = Cli::new();
    for number in 0..60 {
        let letter = |at: usize| char::from(b"qzxjkvwbhg"[(at * at * 31 + at * 7 + number) % 10]);
        let random = (0..200).map(|word| (word * 7..word * 7 + 7).map(letter).collect::<String>());
        let random = random.collect::<Vec<_>>().join(" ");
        let prose = "The harbor mill was built by the river in spring and burned down after a storm. ".repeat(20);
        let text = if number < 20 { prose } else { random };
        cli.write(&format!("notes/{number:02}.txt"), format!("Note {number}\n\n{number} {text}"));
    }
    cli.configure("[model]\nconcurrency = 8");
    // A word counts as one token, but without vowels as one for every two bytes.
    let count = |text: &str| {
        let tokens = |word: &str| if word.contains(['a', 'e', 'i', 'o', 'u']) { 1 } else { word.len().div_ceil(2) };
        text.split_whitespace().map(tokens).sum::<usize>()
    };
    let never = Thought::new(|_| Reply { text: String::new(), tokens: (0, 0) });
    let server = ChatServer::start([Play::Serves(never, 16, count)]);
    let args = ["index", "notes", "--json", "--embedder", "server:e", "--budget", "14000tok"];
    let mut command = cli.command(args);
    let said = CommandOutput::of(command.env("CAIRN_EMBEDDER_URL", &server.url).output().unwrap()).succeeded();
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    let spent = report["vectors"]["spent"]["usage"]["input_tokens"].as_u64().unwrap();
    assert!((10_000..=14_000).contains(&spent), "{report}");
    assert!(report["vectors"]["left"].as_u64() > Some(0), "{report}");
}
