//! The published schemas compared with printed values: every field of a value is in its schema, and every field of a
//! schema is in a value.

mod fields;
mod graph;
mod layers;
mod models;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use cairn::domain::{
    Answer, AnswerKind, Arrival, Citation, CollectionId, CorpusId, Document, DocumentId, EdgeId, EntityId, EntryVertex,
    Guess, Hit, HopRound, IndexVersion, Keywords, Ledger, Metadata, NearEqual, Passage, PassageId, Pruned, PseudoQuery,
    QuestionEdge, QuestionKind, Skip, Span, Spelling, Spent, Step, StepKind, Why, Writing,
};
use cairn::eval::{
    AnswerForm, AnswerLine, AnswersReport, Facts, FitReport, FittedCollection, Held, Measured, Question,
    RetrievalReport, Run, Scored, Silence, SweepCell, SweepReport, SweepRow, compare, score, score_answers,
};
use cairn::graph::trail::{VectorKind, WeightSet};
use cairn::index::VectorReport;
use cairn::neo4j::{CheckReport, Finding, GraphStatus, PublishReport};
use cairn::report::{AskedSummary, GraphSummary, LeftOut, ReportSummary, Share, Shown};
use cairn::{IndexCheck, TrailRanker};
use serde_json::{Value, json};

use crate::support::{assert_valid, complaints, schema};
use fields::{open_objects, unused_fields};
use graph::{counts, of_entities, paths_found};
use layers::layers_found;
use models::{
    calibrated, context_report, estimate, extract_report, judge_report, live_report, matrix_report, model_report, part,
    pick, plan, reasoning, reranking, spent_on_model, training_line, training_report, web_result, web_work, work,
    work_report, writing,
};

const NAMES: [&str; 37] = [
    "answer",
    "answer-line",
    "cache",
    "calibration",
    "check",
    "counts",
    "doctor",
    "entities",
    "entities-ask",
    "entities-merges",
    "entities-show",
    "error",
    "estimate",
    "eval-answers",
    "eval-calibrate",
    "eval-compare",
    "eval-context",
    "eval-fit",
    "eval-judge",
    "eval-live",
    "eval-matrix",
    "eval-retrieval",
    "eval-sweep",
    "eval-training-data",
    "export",
    "graph-status",
    "index",
    "path",
    "publish",
    "remove",
    "report",
    "run-line",
    "search",
    "status",
    "topics",
    "training-line",
    "weights",
];

/// Fields that a value may lack.
const OPTIONAL: [(&str, &str); 42] = [
    ("answer", "guess"),
    ("answer", "writing"),
    ("answer-line", "long"),
    ("answer-line", "quotes"),
    ("answer-line", "rule"),
    ("check", "collection"),
    ("counts", "without_vectors"),
    ("doctor", "checks.hint"),
    ("entities-ask", "before"),
    ("estimate", "fits_budget"),
    ("eval-answers", "long_contained"),
    ("eval-answers", "notes"),
    ("eval-answers", "silence"),
    ("eval-answers", "work"),
    ("eval-calibrate", "notes"),
    ("eval-compare", "notes"),
    ("eval-context", "bridges"),
    ("eval-fit", "weights.titled.trees"),
    ("eval-fit", "weights.untitled.trees"),
    ("eval-judge", "notes"),
    ("eval-judge", "spent"),
    ("eval-judge", "stopped"),
    ("eval-live", "fault"),
    ("eval-live", "stopped"),
    ("eval-matrix", "notes"),
    ("eval-retrieval", "notes"),
    ("eval-calibrate", "work"),
    ("eval-retrieval", "work"),
    ("eval-sweep", "notes"),
    ("graph-status", "collection"),
    ("graph-status", "program"),
    ("graph-status", "published"),
    ("index", "described"),
    ("index", "extracted"),
    ("index", "model"),
    ("index", "reported"),
    ("index", "summarized"),
    ("index", "vectors"),
    ("publish", "index_seconds"),
    ("topics", "by_model"),
    ("weights", "titled.trees"),
    ("weights", "untitled.trees"),
];

fn passage_id() -> PassageId {
    PassageId::of(&[b"a"])
}

fn span() -> Span {
    Span { start: 0, end: 1 }
}

fn step() -> Step {
    Step {
        from: passage_id(),
        to: passage_id(),
        kind: StepKind::SharedEntity,
        question: "What is E?".to_owned(),
        entity: Some("e".to_owned()),
        score: 1.5,
        round: 1,
    }
}

fn hit() -> Hit {
    Hit {
        rank: 1,
        passage: passage_id(),
        document: DocumentId::of(&[b"a"]),
        source_id: "a".to_owned(),
        name: "A".to_owned(),
        uri: "a.md".to_owned(),
        section: Some("A › B".to_owned()),
        page: Some(3),
        line: Some(12),
        column: Some(1),
        span: span(),
        text: "A.".to_owned(),
        score: -0.5,
        matches: vec![span()],
        lines: serde_json::from_value(json!([{ "span": span(), "section": "A", "page": 3, "line": 12, "column": 1 }]))
            .unwrap(),
        why: Why { words: vec!["a".to_owned()], missing: vec!["b".to_owned()], is_named: true },
        near_equal: vec![NearEqual { passage: passage_id(), source_id: "b".to_owned(), uri: "b.md".to_owned() }],
        metadata: Metadata::from([("year".to_owned(), "1841".to_owned())]),
        path: vec![step()],
    }
}

fn ledger() -> Ledger {
    Ledger {
        asked: vec!["Who?".to_owned()],
        spellings: vec![Spelling { typed: "Whi".to_owned(), searched: "Who".to_owned() }],
        entry: vec![EntryVertex {
            passage: passage_id(),
            score: 1.0,
            by: "question".to_owned(),
            matched: Some("Who is A?".to_owned()),
        }],
        rounds: vec![HopRound { queue: 1, judged: 2, steps: vec![step()], model: Some(reasoning()) }],
        arrivals: vec![Arrival { passage: passage_id(), count: 1 }],
        pruned: vec![Pruned { passage: passage_id(), score: 0.1 }],
        pruned_count: 1,
        parts: vec![part()],
        plan: Some(plan()),
        layers: Some(Box::new(layers_found())),
        pick: Some(pick()),
        work: Some(work()),
        reranking: Some(reranking()),
        web_work: Some(web_work()),
        web: vec![web_result()],
        notes: vec!["a limit was hit".to_owned()],
    }
}

fn citation() -> Citation {
    Citation {
        document: "A".to_owned(),
        source_id: "a".to_owned(),
        uri: "a.md".to_owned(),
        passage: passage_id(),
        section: Some("A › B".to_owned()),
        page: Some(3),
        line: Some(12),
        column: Some(1),
        span: span(),
        quote: "A.".to_owned(),
        score: 1.0,
    }
}

fn answer() -> Answer {
    let citation = citation();
    Answer {
        question: "Who?".to_owned(),
        kind: AnswerKind::Extractive,
        text: "A.".to_owned(),
        guess: Some(Guess { text: "A".to_owned(), rule: "relation".to_owned() }),
        citations: vec![citation],
        writing: Some(writing()),
        hits: vec![hit()],
        strategy: "trail".to_owned(),
        version: IndexVersion(1),
        ledger: ledger(),
    }
}

fn facts() -> Facts {
    Facts {
        strategy: "trail".to_owned(),
        version: IndexVersion(1),
        embedder: "none".to_owned(),
        corpus_id: CorpusId::of(&[b"a"]),
        corpus: counts(),
        notes: vec!["a note".to_owned()],
    }
}

fn question() -> Question {
    Question {
        id: "1".to_owned(),
        question: "Who?".to_owned(),
        supporting: vec!["a".to_owned()],
        passages: Vec::new(),
        kind: Some("bridge".to_owned()),
        hops: Some(2),
        answers: Vec::new(),
        weight: 1,
    }
}

/// An export holds a document's text in its passages.
fn without_text(document: &Document) -> Value {
    let mut document = json!(document);
    document.as_object_mut().unwrap().remove("text");
    document
}

/// One line of an export for each kind, with every field.
fn export_lines() -> Vec<Value> {
    let mut document = Document::new("a", Some("A".to_owned()), "A.");
    document.metadata = Metadata::from([("year".to_owned(), "1841".to_owned())]);
    let passage = Passage {
        id: passage_id(),
        document: document.id,
        ordinal: 0,
        span: span(),
        section: Some("A".to_owned()),
        page: Some(3),
        line: Some(12),
        column: Some(1),
        text: "A.".to_owned(),
        sentences: vec![span()],
    };
    let keywords: Keywords = ["a"].into_iter().collect();
    let text = "Who is A?".to_owned();
    let question = PseudoQuery::by_rule(passage.id, QuestionKind::Outgoing, text, keywords.clone(), 0);
    let edge = QuestionEdge {
        id: EdgeId::of(&[b"a"]),
        from: passage.id,
        to: passage.id,
        outgoing: question.id,
        incoming: question.id,
        question: "Who is A?".to_owned(),
        keywords,
        similarity: 0.5,
    };
    vec![
        json!({ "document": without_text(&document) }),
        json!({ "passage": passage }),
        json!({ "question": question }),
        json!({ "mention": { "entity": EntityId::of(&[b"a"]), "name": "a", "passage": passage_id(), "sentence": 0,
                             "origin": "both" } }),
        json!({ "entity": { "id": EntityId::of(&[b"a"]), "name": "a", "type": "person", "description": "A.",
                            "origin": "model" } }),
        json!({ "relation_description": { "from": EntityId::of(&[b"a"]), "to": EntityId::of(&[b"b"]),
                                          "description": "A.", "origin": "both" } }),
        json!({ "edge": edge }),
    ]
    .into_iter()
    .chain(graph::hierarchy_lines())
    .collect()
}

/// One line of answers for each form.
fn answer_lines() -> [AnswerLine; 5] {
    use AnswerForm::{Guess, Nothing, Sentence, Short, Written};
    [Short, Written, Guess, Sentence, Nothing].map(|form| AnswerLine {
        question_id: "1".to_owned(),
        strategy: "trail".to_owned(),
        version: IndexVersion(1),
        corpus_id: CorpusId::of(&[b"a"]),
        answer: "A".to_owned(),
        form,
        long: Some("A.".to_owned()),
        rule: Some("relation".to_owned()),
        quotes: vec!["A.".to_owned()],
    })
}

fn vector_report() -> VectorReport {
    let stopped = Some("the budget allows 1 calls".to_owned());
    VectorReport { embedder: "openai:e".to_owned(), made: 1, left: 2, stopped, spent: writing().spent }
}

fn comparison() -> Value {
    let question = question();
    let line = Scored { question: &question, ranked: vec!["a".to_owned()], time_ms: 1.5 }.line(&facts());
    let run = Run { name: "a.jsonl".to_owned(), lines: vec![line] };
    let mut comparison = compare(&run, &run, &[question]).unwrap();
    comparison.notes = vec!["a note".to_owned()];
    json!(comparison)
}

fn sweep() -> SweepReport {
    let cells = vec![SweepCell { top_k: 2, recall: 50.0, f1: 50.0 }];
    let row = SweepRow { n_hop: 1, cells, queue: vec![2.0], judged: 3.0, time_ms: 1.5 };
    SweepReport { facts: facts(), questions: 1, sweep: vec![row] }
}

fn fitted() -> FitReport {
    let question = question();
    let lines = [Scored { question: &question, ranked: vec!["a".to_owned()], time_ms: 1.5 }];
    let Facts { version, embedder, corpus_id, corpus, .. } = facts();
    let name = "a".to_owned();
    let measured = Measured {
        held: Held::Folds,
        ranker: TrailRanker::Boosted,
        collection: name.clone(),
        questions: 1,
        metrics: score(&lines, facts()).metrics,
    };
    FitReport {
        collections: vec![FittedCollection { name, questions: 1, version, embedder, corpus_id, corpus }],
        folds: 2,
        rounds: vec![1],
        measured: vec![measured],
        weights: WeightSet::shipped(VectorKind::BuiltIn).unwrap().clone(),
    }
}

fn check_report() -> Value {
    let mut report = CheckReport::default();
    report.collection = Some(CollectionId::of(&[b"a"]));
    report.checks.push(Finding { check: "counts", offenders: 1, examples: vec!["passages".to_owned()] });
    json!(report)
}

fn publish_report() -> Value {
    let report = PublishReport {
        version: 1,
        source_version: 3,
        counts: counts(),
        index_seconds: Some(0.5),
        ..PublishReport::default()
    };
    json!(report)
}

fn graph_status() -> Value {
    json!(GraphStatus {
        collection: Some(CollectionId::of(&[b"a"])),
        version: 1,
        format: 3,
        published: Some("2026-01-31T12:00:00Z".to_owned()),
        program: Some("cairn 0.1.0".to_owned()),
        embedder: "none".to_owned(),
        is_whole: true,
        counts: counts(),
        server: "5.26.29 community".to_owned(),
    })
}

/// A report's figures; its graph is about both a query and a document, which no real one is.
fn report_summary() -> Value {
    let shown = Shown { shown: 1, total: 2 };
    let summary = ReportSummary {
        version: IndexVersion(1),
        bytes: 4096,
        counts: counts(),
        coverage: vec![Share { what: "documents with a title", has: 1, of: 2 }],
        hubs: shown,
        names: shown,
        topics: shown,
        unanswered: shown,
        left_out: LeftOut { reasons: shown, sources: shown, units_failed: 0, units_pending: 1 },
        questions: vec![AskedSummary { question: "Who?".to_owned(), kind: AnswerKind::Nothing, quotes: 0, hits: 1 }],
        graph: Some(GraphSummary {
            query: Some("Who?".to_owned()),
            document: Some("A".to_owned()),
            passages: shown,
            lines: shown,
        }),
    };
    let mut value = json!(summary);
    value["index"] = json!(".cairn");
    value["out"] = json!("report.html");
    value
}

fn index_report(skip: &Skip) -> Value {
    json!({
        "version": 1, "is_new_version": true, "checkpoints": 2, "counts": counts(), "skips": [skip],
        "seconds": 0.5, "warnings": ["a warning"], "edges_cut": 1, "model": model_report(),
        "extracted": extract_report(), "described": model_report(), "summarized": model_report(),
        "reported": model_report(), "vectors": vector_report(),
        "stages": [{ "stage": "names", "is_taken_over": true, "seconds": 0.5 }],
        "documents": { "added": 1, "changed": 2, "unchanged": 3, "removed": 4, "skipped": 5 },
    })
}

fn kept_replies() -> Value {
    let model = json!({ "model": "m", "replies": 1, "input_tokens": 2, "output_tokens": 3 });
    json!({ "index": ".cairn", "replies": 1, "bytes": 9, "models": [model] })
}

/// Values with every field, for each schema.
fn full() -> BTreeMap<&'static str, Vec<Value>> {
    let question = question();
    let lines = [Scored { question: &question, ranked: vec!["a".to_owned()], time_ms: 1.5 }];
    let answers = answer_lines();
    let asked = [&question; 5];
    let skip = Skip { source: "a.md:3".to_owned(), reason: "not UTF-8".to_owned() };
    let answer = answer();
    let search = json!({ "query": "Who?", "strategy": "trail", "version": 1, "hits": [hit()], "ledger": ledger() });
    let by_model = json!({ "written": 2, "failed": 1, "failures": [skip] });
    let status = json!({
        "index": ".cairn", "version": 1, "is_partial": true, "format": 6,
        "collection": "00112233445566778899aabbccddeeff", "embedder": "none", "created_at": "2026-01-02T03:04:05Z",
        "counts": counts(), "units": { "done": 3, "pending": 0, "failed": 0 }, "skips": [skip], "bytes": 4096,
        "media_types": { "text/plain": 2 }, "left_out": [{ "reason": "r", "count": 1, "examples": ["a.md:3"] }],
        "questions": by_model, "entities": by_model, "descriptions": by_model, "summaries": by_model,
        "reports": by_model, "spent": [spent_on_model()],
    });
    let mut full = BTreeMap::from([
        ("answer", vec![json!(answer)]),
        ("answer-line", answers.iter().map(|line| json!(line)).collect()),
        ("cache", vec![kept_replies()]),
        ("check", vec![check_report(), json!(IndexCheck::default())]),
        ("counts", vec![json!(counts())]),
        (
            "doctor",
            vec![json!({ "checks": [
            { "part": "runtime", "state": "absent", "detail": "it was not found", "hint": "put it there" },
        ] })],
        ),
        ("error", vec![json!({ "error": { "kind": "no_index", "message": "there is none", "hint": "make one" } })]),
        ("estimate", vec![json!(estimate())]),
        (
            "eval-answers",
            vec![json!(AnswersReport {
                work: Some(work_report()),
                silence: Some(Silence::default()),
                ..score_answers(&asked, &answers, facts())
            })],
        ),
        ("eval-calibrate", vec![json!(calibrated(facts()))]),
        ("calibration", vec![json!(calibrated(facts()).calibration)]),
        ("eval-compare", vec![comparison()]),
        ("eval-fit", vec![json!(fitted())]),
        ("eval-judge", vec![json!(judge_report())]),
        ("eval-live", vec![json!(live_report())]),
        ("eval-context", vec![json!(context_report())]),
        ("eval-matrix", vec![json!(matrix_report())]),
        ("eval-sweep", vec![json!(sweep())]),
        ("eval-training-data", vec![json!(training_report())]),
        ("training-line", vec![json!(training_line())]),
        ("weights", vec![json!(WeightSet::shipped(VectorKind::BuiltIn).unwrap())]),
        ("eval-retrieval", vec![json!(RetrievalReport { work: Some(work_report()), ..score(&lines, facts()) })]),
        ("export", export_lines()),
        ("graph-status", vec![graph_status()]),
        ("index", vec![index_report(&skip)]),
        ("path", vec![json!(paths_found())]),
        ("publish", vec![publish_report()]),
        ("report", vec![report_summary()]),
        ("run-line", vec![json!(lines[0].line(&facts()))]),
        ("search", vec![search]),
        ("status", vec![status]),
    ]);
    full.extend(of_entities());
    full
}

#[test]
fn a_value_with_every_field_is_valid_and_uses_every_field_of_its_schema() {
    let full = full();
    assert_eq!(full.keys().copied().collect::<Vec<_>>(), NAMES);
    for (name, values) in full {
        for value in &values {
            assert_valid(name, value);
        }
        let schema = schema(name);
        let unused = unused_fields(&schema, &schema, &values.iter().collect::<Vec<_>>());
        assert!(unused.is_empty(), "fields of schema `{name}` that no value has: {unused:?}");
    }
}

#[test]
fn a_value_with_the_fewest_fields_is_valid() {
    let step = Step { entity: None, ..step() };
    let hit = Hit {
        section: None,
        matches: Vec::new(),
        lines: serde_json::from_value(json!([{ "span": span() }])).unwrap(),
        near_equal: Vec::new(),
        metadata: Metadata::new(),
        path: vec![step],
        ..hit()
    };
    let entry = EntryVertex { passage: passage_id(), score: 1.0, by: "dense".to_owned(), matched: None };
    let ledger = Ledger { entry: vec![entry], ..Ledger::default() };
    let writing = Writing { degraded: None, sentences: Vec::new(), spent: Spent::default(), ..writing() };
    let nothing = Answer {
        kind: AnswerKind::Nothing,
        citations: Vec::new(),
        writing: Some(writing),
        hits: vec![hit],
        ledger,
        ..answer()
    };
    assert_valid("answer", &json!(nothing));
    // Fields that are left out when empty are read as empty.
    assert_eq!(serde_json::from_value::<Answer>(json!(nothing)).unwrap(), nothing);

    assert_valid("eval-retrieval", &json!(score(&[], Facts { notes: Vec::new(), ..facts() })));
    let mut unfinished = full().remove("status").unwrap().remove(0);
    unfinished["version"] = Value::Null;
    unfinished["created_at"] = Value::Null;
    assert_valid("status", &unfinished);
    assert_valid("error", &json!({ "error": { "kind": "internal", "message": "a fault" } }));
    let mut empty = report_summary();
    empty["graph"] = Value::Null;
    assert_valid("report", &empty);
    assert_valid("export", &json!({ "document": without_text(&Document::new("a", None, "")) }));
}

#[test]
fn a_field_too_many_or_too_few_or_of_another_type_is_refused() {
    for (name, values) in full() {
        for value in values {
            let mut more = value.clone();
            more["surprise"] = json!(1);
            assert_ne!(complaints(name, &more), [""; 0], "{name}");
            for field in value.as_object().unwrap().keys() {
                let mut other = value.clone();
                other[field] = json!([[]]);
                assert_ne!(complaints(name, &other), [""; 0], "{name}.{field}");
                let mut fewer = value.clone();
                fewer.as_object_mut().unwrap().remove(field);
                let is_optional = OPTIONAL.contains(&(name, field.as_str()));
                assert_eq!(complaints(name, &fewer).is_empty(), is_optional, "{name} without {field}");
            }
        }
    }
}

#[test]
fn every_object_of_a_schema_is_closed_and_equal_definitions_are_equal() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/api");
    let files: BTreeSet<String> =
        fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(files, NAMES.map(|name| format!("{name}.schema.json")).into());

    let mut definitions: BTreeMap<String, Value> = BTreeMap::new();
    for name in NAMES {
        let schema = schema(name);
        assert_eq!(open_objects(&schema), 0, "objects of schema `{name}` without `additionalProperties`");
        for (key, definition) in schema["$defs"].as_object().into_iter().flatten() {
            let first = definitions.entry(key.clone()).or_insert_with(|| definition.clone());
            assert_eq!(first, definition, "`{key}` of schema `{name}` differs from that of another schema");
        }
    }
    assert_eq!(open_objects(&json!({ "a": [{ "type": "object" }] })), 1);
}
