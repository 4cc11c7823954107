//! `auto` with calls to spend: when it continues step by step, how many calls that takes, and what it reports.

use std::sync::{Arc, Mutex};

use cairn::domain::{AnsweredBy, PlanEnd, StopReason};
use cairn::query::{Reading, RerankedBy};
use cairn::{AskOptions, SearchOptions, SearchResult};
use serde_json::{Value, json};

use super::led::{Led, QUESTION, found, indexed, names, plan, well};
use crate::support::{block_on, engine};

/// Calls for a question that is decomposed, takes two more steps, and is picked from.
const CALLS: [&str; 11] =
    ["decompose", "read", "seed", "judge", "read", "enough", "seed", "judge", "read", "enough", "pick"];

fn within(calls: u32) -> SearchOptions {
    SearchOptions { calls_max: Some(calls), ..SearchOptions::default() }
}

/// Returns a model that leads well, but finds no answer the first time it reads.
fn at_first_unable() -> Arc<Led> {
    Led::by(|skill, request, number| {
        let nothing = || json!({ "answers": [] });
        Ok(if skill == "read" && number == 1 { nothing() } else { well(skill, request) }.to_string())
    })
}

/// Returns the note of `auto` on its steps.
fn note(found: &SearchResult) -> String {
    let notes: Vec<&String> = found.ledger.notes.iter().filter(|note| note.starts_with("`auto`")).collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    notes[0].clone()
}

#[test]
fn it_continues_from_its_results_if_a_part_has_no_answer() {
    let cli = indexed();
    let model = at_first_unable();
    let engine = engine(&cli.folder().join(".cairn")).with_model(model.clone());
    let found = found(&engine, QUESTION, &within(20));
    assert_eq!(model.asked(), CALLS);
    assert_eq!(note(&found), "`auto`: the answer to part 1 is a guess, so it went on step by step");
    assert_eq!((plan(&found).rounds, plan(&found).end), (2, PlanEnd::Sufficient));
    // The parts, followed by the steps: what was found before is not found again.
    let parts: Vec<&str> = found.ledger.parts.iter().map(|part| part.text.as_str()).collect();
    let first = "Who was born in Eaststead?";
    assert_eq!(parts, [first, "When did the mill of #1 close?", first, "When did the mill of Ada Lorne close?"]);
    assert_eq!(found.ledger.parts[0].answers[0].by, AnsweredBy::Rule);
    assert_eq!(found.ledger.asked.iter().filter(|it| *it == QUESTION).count(), 1, "{:?}", found.ledger.asked);
    assert_eq!((names(&found)[0], found.hits.len()), ("Harl Mill", 3), "what was picked is first");
}

#[test]
fn it_makes_no_more_calls_than_it_may_and_begins_no_step_that_it_cannot_end() {
    let cli = indexed();
    let plain = engine(&cli.folder().join(".cairn"));
    for calls in 3..=12 {
        let model = at_first_unable();
        let found = found(&plain.with_model(model.clone()), QUESTION, &within(calls));
        let asked = model.asked();
        assert!(asked.len() <= calls as usize, "{calls}: {asked:?}");
        assert_eq!(asked.last().map(String::as_str), Some("pick"), "{calls}: a call is kept for it");
        let stop = found.ledger.work.as_ref().unwrap().stop;
        assert_eq!(stop, if calls < 11 { StopReason::Calls } else { StopReason::Finished }, "{calls}");
        let says = note(&found);
        if calls < 7 {
            assert_eq!(asked, ["decompose", "read", "pick"], "{calls}");
            assert_eq!(says, "`auto`: the answer to part 1 is a guess, and too few calls are left to go on");
        } else {
            assert!(says.ends_with("so it went on step by step") && plan(&found).rounds > 0, "{calls}: {says}");
        }
    }
}

#[test]
fn it_takes_no_more_steps_than_the_parts_require() {
    let cli = indexed();
    let plain = engine(&cli.folder().join(".cairn"));
    let model = Led::well();
    let answered = found(&plain.with_model(model.clone()), QUESTION, &within(20));
    assert_eq!(model.asked(), ["decompose", "read", "pick"]);
    assert_eq!(note(&answered), "`auto`: every part that another needs was answered");
    assert!(answered.ledger.plan.is_none());
    let whole = Led::by(|skill, request, _| {
        let parts = || json!({ "parts": [QUESTION] });
        Ok(if skill == "decompose" { parts() } else { well(skill, request) }.to_string())
    });
    let not_parted = found(&plain.with_model(whole.clone()), QUESTION, &within(20));
    assert_eq!(whole.asked(), ["decompose", "pick"]);
    assert_eq!(note(&not_parted), "`auto`: the question was not taken apart");
    assert!(not_parted.ledger.parts.is_empty());
}

#[test]
fn what_a_model_answered_is_a_step_that_was_taken() {
    let cli = indexed();
    let three = |skill: &str, number: usize, otherwise: Value| match (skill, number) {
        ("decompose", _) => {
            let parts = ["Who was born in Eaststead?", "Which mill of Eaststead did #1 build?", "When did #2 close?"];
            json!({ "parts": parts })
        }
        ("read", 2) => json!({ "answers": [] }),
        _ => otherwise,
    };
    let model = Led::by(move |skill, request, number| Ok(three(skill, number, well(skill, request)).to_string()));
    let engine = engine(&cli.folder().join(".cairn")).with_model(model.clone());
    let found = found(&engine, QUESTION, &within(20));
    assert_eq!(model.asked(), ["decompose", "read", "read", "seed", "judge", "read", "enough", "pick"]);
    assert_eq!(found.ledger.parts[3].text, "When did the mill of Ada Lorne close?");
}

#[test]
fn it_continues_with_a_model_that_judges_what_was_found() {
    let cli = indexed();
    let model = at_first_unable_beside_judge();
    let engine = engine(&cli.folder().join(".cairn")).with_model(model.clone());
    let judged = SearchOptions {
        decompose: Some(Reading::Model),
        pick: Some(20),
        rerank: Some(10),
        reranked_by: RerankedBy::Model,
        ..within(20)
    };
    let found = found(&engine, QUESTION, &judged);
    assert_eq!(model.asked()[0], "judge");
    assert_eq!(model.asked()[1..], CALLS);
    assert!(note(&found).ends_with("so it went on step by step"));
}

/// Returns the model that fails at first, with a judge that is asked before it.
fn at_first_unable_beside_judge() -> Arc<Led> {
    Led::by(|skill, request, number| {
        let nothing = || json!({ "answers": [] });
        Ok(if skill == "read" && number == 2 { nothing() } else { well(skill, request) }.to_string())
    })
}

#[test]
fn an_answer_is_written_from_what_it_picked_at_the_end() {
    let cli = indexed();
    let told: Arc<Mutex<String>> = Arc::default();
    let kept = Arc::clone(&told);
    let model = Led::by(move |skill, request, number| {
        if skill == "conclude" {
            kept.lock().unwrap().clone_from(&request.messages[1].text);
        }
        Ok(match (skill, number) {
            ("read", 1) => json!({ "answers": [] }),
            ("pick", _) => json!({ "passages": [super::led::number(request, "Pale Weir")] }),
            _ => well(skill, request),
        }
        .to_string())
    });
    let engine = engine(&cli.folder().join(".cairn")).with_model(model);
    let asking = AskOptions { search: within(20), ..AskOptions::default() };
    let answer = block_on(engine.ask(QUESTION, &asking)).unwrap();
    let told = told.lock().unwrap();
    let shown: Vec<&str> = ["[1] Pale Weir", "[2] ", "[3] "].into_iter().filter(|it| told.contains(it)).collect();
    assert_eq!(shown.len(), 3, "what it picked, and then what it found relevant: {told}");
    assert_eq!(answer.writing.unwrap().short.as_deref(), Some("1860"));
}
