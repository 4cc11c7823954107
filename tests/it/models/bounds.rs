//! Budgets are hard: a text of any kind, and whatever a server says that it counted.

use serde_json::{Value, json};

use super::generating::{index, name_of, written};
use crate::support::Cli;
use crate::support::chat::{Answers, ChatServer, Play, Reply, Thought, said};

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
        // As many tokens as a model with a small vocabulary takes, which is one a byte.
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
    for count in [json!(0), json!(u64::MAX), json!(12.0), json!(-1), json!("12")] {
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
        // What can be true is believed.
        let due = if shown == "12.0" { 16..17 } else { 3..16 };
        assert!(due.contains(&written), "{shown}: {report}");
        assert_eq!(server.asked().len() as u64, written, "{shown}");
    }
}
