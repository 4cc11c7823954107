//! Strategies that a model leads round by round: what they do with a model that leads well, and with one that does not.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cairn::domain::{AnsweredBy, ChatError, PlanEnd, Route, StopReason};
use cairn::llm::ChatRequest;
use cairn::query::{KeywordQuery, Keywords, NoisePart, Pipeline, Preset};
use cairn::{AskOptions, SearchOptions, StrategyKind};
use serde_json::{Value, json};

use super::led::{COMPOUND, Led, QUESTION, Says, found, indexed, names, number, options, plan, well};
use crate::support::{Cli, at_once, block_on, engine};

/// Strategies that a model leads.
const LED: [StrategyKind; 3] = [StrategyKind::Level, StrategyKind::Dual, StrategyKind::Noise];

#[test]
fn noise_answers_seed_questions_in_sequence_until_they_suffice() {
    let cli = indexed();
    let model = Led::well();
    let engine = engine(&cli.folder().join(".cairn")).with_model(model.clone());
    let found = found(&engine, QUESTION, &options(StrategyKind::Noise));
    assert_eq!(model.asked(), ["route", "seed", "judge", "read", "enough", "seed", "judge", "read", "enough"]);
    let plan = plan(&found);
    assert_eq!((plan.route, plan.rounds, plan.end), (Some(Route::Complex), 2, PlanEnd::Sufficient));
    let notes: Vec<(&str, &str)> = plan.notes.iter().map(|it| (it.about.as_str(), it.text.as_str())).collect();
    assert_eq!(notes, [("Who was born in Eaststead?", "Ada Lorne"), ("When did the mill of Ada Lorne close?", "1860")]);
    assert_eq!(plan.relevant.len(), 2, "what is beside the point is left out");
    let mut best = names(&found)[..2].to_vec();
    best.sort_unstable();
    assert_eq!(best, ["Ada Lorne", "Harl Mill"]);
    assert!(found.hits.len() == 3 && found.hits.iter().zip(1..).all(|(hit, rank)| hit.rank == rank));
    // The answer is written from the notes, and cites passages.
    let asking = AskOptions { search: options(StrategyKind::Noise), ..AskOptions::default() };
    let answer = block_on(engine.ask(QUESTION, &asking)).unwrap();
    assert_eq!(answer.writing.as_ref().unwrap().short.as_deref(), Some("1860"), "{:?}", answer.writing);
    assert_eq!(answer.citations[0].document, "Harl Mill");
}

#[test]
fn noise_looks_up_the_parts_of_a_compound_question_beside_each_other() {
    let cli = indexed();
    let model = Led::well();
    let plain = engine(&cli.folder().join(".cairn"));
    let engine = plain.with_model(model.clone());
    let of_model = found(&engine, COMPOUND, &options(StrategyKind::Noise));
    assert_eq!(plan(&of_model).route, Some(Route::Compound));
    assert_eq!((model.asked().len(), plan(&of_model).rounds), (6, 1), "{:?}", model.asked());
    let answers: Vec<&str> = of_model.ledger.parts.iter().map(|part| part.answers[0].text.as_str()).collect();
    assert_eq!(answers, ["Ada Lorne", "Tom Reed"]);
    let mut best = names(&of_model)[..2].to_vec();
    best.sort_unstable();
    assert_eq!(best, ["Harl Mill", "Pale Weir"]);
    // By rule, without a model.
    let by_rule = found(&plain, COMPOUND, &options(StrategyKind::Noise));
    assert_eq!((plan(&by_rule).route, by_rule.ledger.parts.len()), (Some(Route::Compound), 2));
    assert!(by_rule.ledger.work.is_none() && plan(&by_rule).relevant.is_empty());
    // Passages with little relevance to a part are not read for it; only a model knows the name Tom Reed.
    let answers =
        |part: usize| by_rule.ledger.parts[part].answers.iter().map(|it| it.text.as_str()).collect::<Vec<_>>();
    assert_eq!((answers(0), answers(1)), (vec!["Ada Lorne"], vec![]));
    let mut best = names(&by_rule)[..2].to_vec();
    best.sort_unstable();
    assert_eq!(best, ["Harl Mill", "Pale Weir"]);
}

/// Returns what `noise` finds without one of its parts, and which requests it makes.
fn found_without(cli: &Cli, part: NoisePart, question: &str, model: &Arc<Led>) -> cairn::SearchResult {
    let engine = engine(&cli.folder().join(".cairn")).with_model(model.clone());
    let noise_without = Some(part);
    found(&engine, question, &SearchOptions { noise_without, ..options(StrategyKind::Noise) })
}

#[test]
fn noise_without_a_part_does_not_ask_for_it_and_does_the_rest() {
    let cli = indexed();
    let without = |part, question| {
        let model = Led::well();
        let found = found_without(&cli, part, question, &model);
        let plan = plan(&found);
        assert_eq!(found.hits.len(), 3, "{part:?}");
        (model.asked().join(" "), plan.route, plan.rounds, plan.end, plan.relevant.len())
    };
    let complex = Some(Route::Complex);
    let two_rounds = "seed judge read enough seed judge read enough".to_owned();
    let ended = (two_rounds, complex, 2, PlanEnd::Sufficient, 2);
    assert_eq!(without(NoisePart::Router, QUESTION), ended);
    // A compound question is not decomposed then.
    let (asked, route, ..) = without(NoisePart::Router, COMPOUND);
    assert!(route == complex && asked.starts_with("seed judge"), "{asked}");
    // The question itself is looked up; a second time would find the same.
    let ended = ("route judge read enough".to_owned(), complex, 1, PlanEnd::NoNewQuestion, 1);
    assert_eq!(without(NoisePart::Refiner, QUESTION), ended);
    let ended = ("route seed read enough seed read enough".to_owned(), complex, 2, PlanEnd::Sufficient, 0);
    assert_eq!(without(NoisePart::Filter, QUESTION), ended);
    let ended = ("route decompose read read".to_owned(), Some(Route::Compound), 1, PlanEnd::Finished, 0);
    assert_eq!(without(NoisePart::Filter, COMPOUND), ended);
    let ended = ("route seed judge read seed judge read seed".to_owned(), complex, 2, PlanEnd::NoNewQuestion, 2);
    assert_eq!(without(NoisePart::Ending, QUESTION), ended);
}

#[test]
fn noise_without_a_filter_reads_what_it_would_have_left_out_and_looks_a_question_up_once() {
    let cli = indexed();
    let shown: Arc<Mutex<Vec<usize>>> = Arc::default();
    let kept = Arc::clone(&shown);
    let says = move |skill: &str, request: &ChatRequest, _: usize| {
        if skill == "read" {
            kept.lock().unwrap().push(request.shown.len());
        }
        Ok(well(skill, request).to_string())
    };
    found_without(&cli, NoisePart::Filter, QUESTION, &Led::by(says));
    assert_eq!(*shown.lock().unwrap(), [3, 3], "all passages that there are");
    // Nothing is judged useless, so that a simple question needs only one look-up.
    let single = Led::by(|skill, request, _| {
        let route = json!({ "route": "single" });
        Ok(if skill == "route" { route } else { well(skill, request) }.to_string())
    });
    let found = found_without(&cli, NoisePart::Filter, QUESTION, &single);
    assert_eq!((single.asked(), plan(&found).end), (vec!["route".to_owned()], PlanEnd::Finished));
}

#[test]
fn noise_without_a_part_stays_within_its_rounds_whatever_it_is_told() {
    let cli = indexed();
    for part in NoisePart::ALL {
        for (name, model) in astray() {
            let found = found_without(&cli, part, QUESTION, &model);
            let (calls, rounds) = (model.asked().len(), plan(&found).rounds);
            assert!(calls <= 20 && rounds <= 5 && found.hits.len() == 3, "{part:?}, {name}: {:?}", model.asked());
        }
        // Without a model, rules continue.
        let plain = engine(&cli.folder().join(".cairn"));
        let noise_without = Some(part);
        let found = found(&plain, QUESTION, &SearchOptions { noise_without, ..options(StrategyKind::Noise) });
        assert!(found.hits.len() == 3 && plan(&found).rounds <= 1, "{part:?}");
    }
    // If a search is told ever more, only the limit on rounds ends it.
    let (_, more) = astray().swap_remove(0);
    assert_eq!(plan(&found_without(&cli, NoisePart::Ending, QUESTION, &more)).end, PlanEnd::Rounds);
    assert!(!more.asked().contains(&"enough".to_owned()), "{:?}", more.asked());
}

#[test]
fn dual_notes_what_it_finds_under_the_entity_that_it_is_about() {
    let cli = indexed();
    let model = Led::well();
    let engine = engine(&cli.folder().join(".cairn")).with_model(model.clone());
    let found = found(&engine, QUESTION, &options(StrategyKind::Dual));
    assert_eq!(model.asked(), ["reason", "seek", "digest", "reason", "seek", "digest", "reason"]);
    let plan = plan(&found);
    assert_eq!((plan.rounds, plan.end, plan.relevant.len()), (2, PlanEnd::Sufficient, 2));
    assert_eq!(plan.missing, ["who was born in Eaststead", "when her mill closed"]);
    assert_eq!(plan.notes.iter().map(|note| note.about.as_str()).collect::<Vec<_>>(), ["the builder", "Harl Mill"]);
    let mut best = names(&found)[..2].to_vec();
    best.sort_unstable();
    assert_eq!(best, ["Ada Lorne", "Harl Mill"]);
    let asking = AskOptions { search: options(StrategyKind::Dual), ..AskOptions::default() };
    let answer = block_on(engine.ask(QUESTION, &asking)).unwrap();
    assert_eq!(answer.writing.as_ref().unwrap().short.as_deref(), Some("1860"), "{:?}", answer.writing);
}

#[test]
fn dual_has_one_heading_for_two_names_of_one_entity() {
    let cli = indexed();
    cli.write("notes/fire.txt", "The fire\n\nThe fire at Harl Mill in 1860 was put out by Dr. Ada Lorne herself.");
    cli.run(["index", "notes"]).succeeded();
    let shown = cli.run(["entities", "show", "Dr Ada Lorne"]).succeeded();
    assert!(shown.stdout.contains("honorific"), "{}", shown.stdout);
    let model = Led::by(|skill, request, _| {
        let needs = |entity: &str| json!({ "needs": [{ "entity": entity, "heading": null, "queries": [entity] }] });
        Ok(match (skill, request.step) {
            ("seek", 0) => needs("Ada Lorne"),
            ("seek", _) => needs("Dr. Ada Lorne"),
            _ => well(skill, request),
        }
        .to_string())
    });
    let engine = engine(&cli.folder().join(".cairn")).with_model(model.clone());
    let found = found(&engine, QUESTION, &options(StrategyKind::Dual));
    // Everything about her was read under the first name.
    assert_eq!(model.asked(), ["reason", "seek", "digest", "reason", "seek", "reason"]);
    assert_eq!(plan(&found).notes.iter().map(|note| note.about.as_str()).collect::<Vec<_>>(), ["Ada Lorne"]);
}

#[test]
fn level_notes_smaller_questions_and_refines_what_finds_nothing() {
    let cli = indexed();
    let model = Led::well();
    let plain = engine(&cli.folder().join(".cairn"));
    let led = found(&plain.with_model(model.clone()), QUESTION, &options(StrategyKind::Level));
    assert_eq!(model.asked(), ["decompose", "digest", "supplement", "digest", "supplement"]);
    assert_eq!((plan(&led).rounds, plan(&led).end, plan(&led).relevant.len()), (2, PlanEnd::Sufficient, 2));
    let mut best = names(&led)[..2].to_vec();
    best.sort_unstable();
    assert_eq!(best, ["Ada Lorne", "Harl Mill"]);
    let asking = AskOptions { search: options(StrategyKind::Level), ..AskOptions::default() };
    let answer = block_on(plain.with_model(model).ask(QUESTION, &asking)).unwrap();
    assert_eq!(answer.writing.as_ref().unwrap().short.as_deref(), Some("1860"), "{:?}", answer.writing);
    // Nothing can be noted about the first look-up: both searchers refine, and read what they had not read before.
    for number in 0..30 {
        let text = format!("Mill {number}\n\nMill {number} of Eaststead was born of an idea, and closed soon.");
        cli.write(&format!("notes/more-{number}.txt"), text);
    }
    cli.run(["index", "notes"]).succeeded();
    let model = Led::by(|skill, request, number| {
        let is_first = skill == "digest" && number < 4;
        let nothing = || json!({ "note": "", "passages": [] });
        Ok(if is_first { nothing() } else { well(skill, request) }.to_string())
    });
    let plain = engine(&cli.folder().join(".cairn"));
    let led = found(&plain.with_model(model.clone()), QUESTION, &options(StrategyKind::Level));
    assert_eq!(model.asked()[..5], ["decompose", "digest", "keywords", "imagine", "digest"]);
    let asked = &led.ledger.parts[0].asked;
    let keywords = r#"text:("harl" "mill" "harl mill" "closed") title:("#;
    assert!(asked.iter().any(|it| it.starts_with(keywords)), "{asked:?}");
    assert!(asked.iter().any(|it| it.ends_with("in the year of the fire.")), "{asked:?}");
}

#[test]
fn a_smaller_question_of_level_takes_no_more_calls_than_the_docs_say() {
    let cli = indexed();
    for number in 0..60 {
        let text = format!("Mill {number}\n\nMill {number} of Eaststead was born of an idea, and closed soon.");
        cli.write(&format!("notes/more-{number}.txt"), text);
    }
    cli.run(["index", "notes"]).succeeded();
    let plain = engine(&cli.folder().join(".cairn"));
    for (preset, most) in [(Preset::Measured, 7), (Preset::Paper, 12)] {
        // No passage says anything about the question, so that the searchers refine as often as they may.
        let model = Led::by(|skill, request, number| {
            Ok(match skill {
                "decompose" => json!({ "parts": [QUESTION] }),
                "digest" => json!({ "note": "", "passages": [] }),
                "refine" => {
                    let word = |of: &str| format!("{of}{number}");
                    json!({ "extend": word("a"), "emphasize": word("b"), "filter": word("c") })
                }
                "imagine" => json!({ "passage": format!("Mill {} closed.", 7 * number) }),
                _ => well(skill, request),
            }
            .to_string())
        });
        let one = SearchOptions { n_hop: Some(1), preset, ..options(StrategyKind::Level) };
        found(&plain.with_model(model.clone()), QUESTION, &one);
        let asked = model.asked();
        let calls = asked.iter().filter(|skill| *skill != "decompose").count();
        assert!(calls <= most && asked.iter().any(|skill| skill == "refine"), "{asked:?}");
        assert!(calls + 2 >= most, "it is no bound that is far from what happens: {asked:?}");
    }
}

#[test]
fn without_a_model_they_find_what_trail_finds() {
    let cli = indexed();
    let engine = engine(&cli.folder().join(".cairn"));
    let trail = found(&engine, QUESTION, &options(StrategyKind::Trail));
    for strategy in LED {
        let own = found(&engine, QUESTION, &options(strategy));
        assert_eq!((own.strategy.as_str(), &own.hits), (strategy.name(), &trail.hits));
        assert!(plan(&own).rounds <= 1 && own.ledger.work.is_none(), "{strategy}");
    }
}

#[test]
fn a_tree_of_keywords_finds_what_it_looks_for_and_leaves_out_what_it_excludes() {
    let cli = indexed();
    let found = finding(&cli);
    let built = KeywordQuery::of_keywords(&["built"]);
    assert_eq!(found(built.extended("Tom Reed")), "Pale Weir, Harl Mill");
    assert_eq!(found(built.extended("mill").and_then(|it| it.emphasized("mill"))), "Harl Mill, Pale Weir");
    assert_eq!(found(built.filtered("weir")), "Harl Mill");
    // Words that are not next to each other exclude nothing.
    assert_eq!(found(built.filtered("Ada Lorne")), "Pale Weir");
    assert_eq!(found(built.filtered("Lorne Ada")).split(", ").count(), 2);
    // A word in a script without spaces is searched for, and excluded, in the form in which it is indexed.
    cli.write("notes/home.txt", "Homes\n\n山田太郎は東京に住む。 It was built there.");
    cli.run(["index", "notes"]).succeeded();
    let found = finding(&cli);
    assert_eq!(found(Some(KeywordQuery::of_keywords(&["山田太郎"]))), "Homes");
    assert_eq!(found(built.filtered("山田太郎")).split(", ").count(), 2);
}

/// Returns a function that finds documents by a tree of keywords.
fn finding(cli: &Cli) -> impl Fn(Option<KeywordQuery>) -> String {
    let engine = engine(&cli.folder().join(".cairn"));
    move |query: Option<KeywordQuery>| {
        let query = query.unwrap();
        let text = query.text();
        let strategy = Pipeline::plain(Arc::new(Keywords { query }));
        let found = block_on(engine.search_with(&text, &strategy, &SearchOptions::default())).unwrap();
        found.hits.into_iter().map(|hit| hit.name).collect::<Vec<_>>().join(", ")
    }
}

/// Replies that are useless to every skill.
fn useless() -> Vec<(&'static str, Arc<Led>)> {
    let says = |name: &'static str, text: String| (name, Led::by(move |_, _, _| Ok(text.clone())));
    let fails = |name, error: ChatError| (name, Led::by(move |_, _, _| Err(error.clone())));
    vec![
        says("prose", "I think that it closed in 1860.".to_owned()),
        says("nothing", String::new()),
        says("an empty object", "{}".to_owned()),
        says("a list", "[1, 2, 3]".to_owned()),
        says("half an object", "{\"next\": \"Who".to_owned()),
        says("a schema of its own", json!({ "thought": "hm", "answer": 42, "missing": 7 }).to_string()),
        says(
            "numbers that are not there",
            json!({
                "necessary": [99], "related": [-1], "passages": [99], "note": "N", "route": 9, "parts": ["#9?"],
                "needs": [{ "entity": "", "heading": 99, "queries": [] }], "answers": [{ "text": "A", "passage": 99 }],
            })
            .to_string(),
        ),
        says("an endless text", "{\"next\": \"".to_owned() + &"who ".repeat(100_000) + "\"}"),
        fails("a timeout", ChatError::Timeout { limit_ms: 1 }),
        fails("a refusal", ChatError::Refused { message: "no".to_owned() }),
        fails("a malformed reply", ChatError::Malformed { reason: "no JSON".to_owned() }),
    ]
}

#[test]
fn a_useless_model_is_soon_given_up_and_results_are_kept() {
    let cli = indexed();
    let plain = engine(&cli.folder().join(".cairn"));
    for strategy in LED {
        for (name, model) in useless() {
            let found = found(&plain.with_model(model.clone()), QUESTION, &options(strategy));
            let calls = model.asked().len();
            assert!((1..=14).contains(&calls), "{strategy}, {name}: {calls} calls: {:?}", model.asked());
            assert_eq!(found.hits.len(), 3, "{strategy}, {name}");
            assert!(plan(&found).notes.iter().all(|note| note.by == AnsweredBy::Rule), "{name}");
            let is_typed = matches!(plan(&found).end, PlanEnd::NoModel | PlanEnd::NothingFound | PlanEnd::Finished);
            assert!(is_typed, "{strategy}, {name}: {:?}", plan(&found).end);
            let work = found.ledger.work.unwrap();
            assert!(work.skills.values().all(|skill| skill.asked == skill.unusable), "{strategy}, {name}: {work:?}");
        }
    }
}

/// A working model's reply to a skill.
type Base = fn(&str, &ChatRequest) -> Value;

/// Leads well, but notes nothing, so that searchers refine.
fn noting_nothing(skill: &str, request: &ChatRequest) -> Value {
    if skill == "digest" { json!({ "note": "", "passages": [] }) } else { well(skill, request) }
}

#[test]
fn one_useless_skill_costs_a_few_calls_and_results_are_kept() {
    let cli = indexed();
    let plain = engine(&cli.folder().join(".cairn"));
    let mut tried = BTreeSet::new();
    for (strategy, base) in LED.into_iter().flat_map(|strategy| [(strategy, well as Base), (strategy, noting_nothing)])
    {
        let model = Led::by(move |skill, request, _| Ok(base(skill, request).to_string()));
        found(&plain.with_model(model.clone()), QUESTION, &options(strategy));
        for skill in model.asked().into_iter().collect::<BTreeSet<String>>() {
            tried.insert(skill.clone());
            for (name, useless) in useless() {
                let broken = skill.clone();
                let model = Led::by(move |skill, request, number| {
                    if skill == broken {
                        (useless.says)(skill, request, number)
                    } else {
                        Ok(base(skill, request).to_string())
                    }
                });
                let found = found(&plain.with_model(model.clone()), QUESTION, &options(strategy));
                let (calls, work) = (model.asked().len(), found.ledger.work.clone().unwrap());
                let what = format!("{strategy}, {skill}, {name}: {:?}", model.asked());
                assert!(calls <= 40 && found.hits.len() == 3, "{what}");
                assert!(matches!(work.stop, StopReason::Finished | StopReason::Failing), "{what}: {:?}", work.stop);
                assert!(
                    work.skills[&skill].unusable > 0 && plan(&found).end != PlanEnd::Irrelevant,
                    "{what}: {work:?}"
                );
            }
        }
    }
    let all = ["decompose", "digest", "enough", "imagine", "judge", "keywords", "read", "reason", "refine", "route"];
    assert!(all.iter().chain(&["seed", "seek", "supplement"]).all(|skill| tried.contains(*skill)), "{tried:?}");
}

/// A model's reply, by skill, request and number.
type Leads = dyn Fn(&str, &ChatRequest, usize) -> Value + Send + Sync;

/// Models whose replies are all well-formed but lead nowhere.
fn astray() -> Vec<(&'static str, Arc<Led>)> {
    let more = |skill: &str, request: &ChatRequest, number: usize| {
        let other = format!("Who built bridge {number}?");
        match skill {
            "seed" => json!({ "next": other }),
            "enough" => json!({ "missing": [other], "enough": false }),
            "supplement" => json!({ "questions": [other], "enough": false }),
            "reason" => json!({ "known": "", "missing": [other], "enough": false }),
            "seek" => json!({ "needs": [{ "entity": other, "heading": 1, "queries": [other] }] }),
            "read" => json!({ "answers": [{ "text": "built", "passage": 1 }] }),
            "digest" => json!({ "note": "Harl Mill was built by Ada Lorne.", "passages": [number_of_mill(request)] }),
            other => well(other, request),
        }
    };
    let same = |skill: &str, request: &ChatRequest, _: usize| match skill {
        "seed" => json!({ "next": "Who was born in Eaststead?" }),
        "enough" => json!({ "missing": ["who"], "enough": false }),
        "supplement" => json!({ "questions": ["Who was born in Eaststead?"], "enough": false }),
        "reason" => json!({ "known": "", "missing": ["who"], "enough": false }),
        "seek" => json!({ "needs": [{ "entity": "E", "heading": null, "queries": ["Who was born in Eaststead?"] }] }),
        other => well(other, request),
    };
    let nothing = move |skill: &str, request: &ChatRequest, number: usize| match skill {
        "judge" => json!({ "necessary": [], "related": [] }),
        "read" => json!({ "answers": [] }),
        "digest" => json!({ "note": "", "passages": [] }),
        other => more(other, request, number),
    };
    let enough = |skill: &str, request: &ChatRequest, _: usize| match skill {
        "enough" | "reason" => json!({ "known": "All.", "missing": [], "enough": true }),
        "supplement" => json!({ "questions": [], "enough": true }),
        "seed" if request.step > 0 => json!({ "next": null }),
        other => well(other, request),
    };
    let led = |says: Box<Leads>| Led::by(move |skill, request, number| Ok(says(skill, request, number).to_string()));
    vec![
        ("always more", led(Box::new(more))),
        ("always the same", led(Box::new(same))),
        ("never anything", led(Box::new(nothing))),
        ("always enough", led(Box::new(enough))),
    ]
}

fn number_of_mill(request: &ChatRequest) -> usize {
    number(request, "Harl Mill").unwrap_or(1)
}

#[test]
fn a_model_that_leads_nowhere_is_followed_for_a_few_rounds_and_the_trace_says_why() {
    let cli = indexed();
    let ruled = engine(&cli.folder().join(".cairn"));
    for strategy in LED {
        for (name, model) in astray() {
            let found = found(&ruled.with_model(model.clone()), QUESTION, &options(strategy));
            let (calls, plan) = (model.asked().len(), plan(&found));
            assert!((2..=30).contains(&calls), "{strategy}, {name}: {calls} calls");
            assert_eq!(found.hits.len(), 3, "{strategy}, {name}");
            let ends: &[PlanEnd] = match name {
                "always more" => &[PlanEnd::Rounds, PlanEnd::NothingFound],
                "always the same" => &[PlanEnd::NoNewQuestion],
                "never anything" => &[PlanEnd::NothingFound],
                // Without notes, nothing is sufficient: the reply is repaired once, and then the rule continues.
                _ => &[PlanEnd::Sufficient],
            };
            assert!(ends.contains(&plan.end), "{strategy}, {name}: {:?} after {:?}", plan.end, model.asked());
        }
    }
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn calls_and_time_end_them_and_what_was_found_by_then_stands() {
    let cli = indexed();
    let plain = engine(&cli.folder().join(".cairn"));
    for strategy in LED {
        let whole = Led::well();
        found(&plain.with_model(whole.clone()), QUESTION, &options(strategy));
        for calls_max in 0..whole.asked().len() as u32 {
            let model = Led::well();
            let search = SearchOptions { calls_max: Some(calls_max), ..options(strategy) };
            let found = found(&plain.with_model(model.clone()), QUESTION, &search);
            assert!(model.asked().len() <= calls_max as usize, "{strategy}: {:?}", model.asked());
            assert_eq!((found.hits.len(), found.ledger.work.unwrap().stop), (3, StopReason::Calls), "{strategy}");
        }
    }
    // A call that is never answered takes the model's share of the time, whichever it is. All of them wait
    // concurrently.
    at_once(LED.into_iter().flat_map(|strategy| [(strategy, 0), (strategy, 2)]), |(strategy, hangs_at)| {
        let says: Box<Says> = Box::new(|skill, request, _| Ok(well(skill, request).to_string()));
        let model = Arc::new(Led { says, hangs_at: Some(hangs_at), asked: Mutex::default() });
        let search = SearchOptions { deadline: Some(Duration::from_secs(6)), ..options(strategy) };
        let found = found(&plain.with_model(model), QUESTION, &search);
        assert_eq!((found.hits.len(), found.ledger.work.unwrap().stop), (3, StopReason::Deadline), "{strategy}");
    });
}

#[test]
fn one_that_is_given_up_at_any_call_leaves_the_engine_as_it_was() {
    let cli = indexed();
    let plain = engine(&cli.folder().join(".cairn"));
    for strategy in LED {
        let whole = Led::well();
        let expected = found(&plain.with_model(whole.clone()), QUESTION, &options(strategy));
        for hangs_at in 0..whole.asked().len() {
            let says: Box<Says> = Box::new(|skill, request, _| Ok(well(skill, request).to_string()));
            let model = Arc::new(Led { says, hangs_at: Some(hangs_at), asked: Mutex::default() });
            let engine = plain.with_model(model.clone());
            let search = options(strategy);
            let given_up = async {
                let searching = engine.search(QUESTION, &search);
                tokio::select! {
                    _ = searching => panic!("it hangs"),
                    () = async {
                        while model.asked.lock().unwrap().len() <= hangs_at {
                            tokio::time::sleep(Duration::from_millis(1)).await;
                        }
                    } => {}
                }
            };
            block_on(given_up);
            let model = Led::well();
            let found = found(&engine.with_model(model), QUESTION, &options(strategy));
            assert_eq!((found.hits, found.ledger.plan), (expected.hits.clone(), expected.ledger.plan.clone()));
        }
    }
}

#[test]
fn what_a_strategy_decides_by_itself_cannot_be_asked_for_beside_it() {
    let cli = indexed();
    let model = Led::well();
    let engine = engine(&cli.folder().join(".cairn")).with_model(model.clone());
    for strategy in LED {
        let picks = SearchOptions { pick: Some(5), ..options(strategy) };
        let names = SearchOptions { entities: true, ..options(strategy) };
        for search in [picks, names] {
            let error = block_on(engine.search(QUESTION, &search)).expect_err("it decides by itself");
            assert!(error.to_string().contains("itself decides"), "{error}");
        }
        let none = SearchOptions { n_hop: Some(0), ..options(strategy) };
        assert_eq!(found(&engine, QUESTION, &none).hits.len(), 3, "no round at all");
    }
    assert!(model.asked().iter().all(|skill| skill == "route"));
}
