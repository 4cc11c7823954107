//! The parts of printed values that are about language models.

use std::collections::BTreeMap;

use cairn::domain::{
    AnsweredBy, Calibration, CitationCheck, Cost, Dropped, Judgement, Ledger, ModelWork, Pick, Plan, PlanEnd, PlanNote,
    RerankWork, RoundReasoning, Route, SkillCalls, Skip, Spent, StopReason, SubAnswer, SubQuestionTrace, Usage,
    Verdict, WebResult, WebWork, Writing, WrittenSentence,
};
use cairn::eval::{
    BridgeCoverage, CalibrationReport, ContextReport, ContextRow, Facts, FailedVerdicts, Interval, JudgeReport, KeptAt,
    LiveFigures, LiveReport, MatrixReport, MatrixRow, MatrixTable, OverviewFigures, Quality, TrainingLine,
    TrainingMessage, TrainingReport, VerdictLine, WorkReport, tallied,
};
use cairn::index::{Changes, DocumentCounts, Estimate, ExtractReport, ModelReport, StageEstimate, StoppedBy};
use cairn::skill::Criterion;
use serde_json::{Value, json};

use super::{facts, passage_id};

pub(super) fn reasoning() -> RoundReasoning {
    let judgement = |from, verdict| Judgement { from, passage: passage_id(), verdict };
    let verdicts = vec![
        judgement(Some(passage_id()), Verdict::Necessary),
        judgement(None, Verdict::Related),
        judgement(None, Verdict::Irrelevant),
    ];
    RoundReasoning { asked: 3, declined: 1, degraded: 1, verdicts }
}

pub(super) fn pick() -> Pick {
    let degraded = Some("it was away".to_owned());
    Pick { model: "openai:m".to_owned(), shown: 20, picked: vec![passage_id()], degraded }
}

pub(super) fn plan() -> Plan {
    let note = PlanNote {
        about: "Who?".to_owned(),
        text: "A".to_owned(),
        by: AnsweredBy::Model,
        passages: vec![passage_id()],
        round: 1,
    };
    Plan {
        route: Some(Route::Complex),
        routed_by: Some(AnsweredBy::Rule),
        rounds: 2,
        missing: vec!["when".to_owned()],
        notes: vec![note],
        relevant: vec![passage_id()],
        end: PlanEnd::NoNewQuestion,
    }
}

pub(super) fn part() -> SubQuestionTrace {
    let answer = |by| SubAnswer { text: "A".to_owned(), by, passage: passage_id() };
    let answers = [AnsweredBy::Model, AnsweredBy::Rule].map(answer).into();
    SubQuestionTrace { text: "Who?".to_owned(), asked: vec!["Who?".to_owned()], answers, found: vec![passage_id()] }
}

pub(super) fn work() -> ModelWork {
    let calls = SkillCalls { asked: 2, unusable: 1, last: Some("it was away".to_owned()) };
    let (model, skills) = ("openai:m".to_owned(), [("read".to_owned(), calls)].into());
    ModelWork { model, skills, stop: StopReason::Deadline, spent: writing().spent }
}

pub(super) fn work_report() -> WorkReport {
    let mut report = WorkReport::default();
    let ledger = Ledger { work: Some(work()), reranking: Some(reranking()), ..Ledger::default() };
    report.add(&ledger, Some(&writing()));
    report
}

pub(super) fn web_result() -> WebResult {
    let [asked, title, snippet] = ["Who?", "A", "A."].map(str::to_owned);
    WebResult { number: 1, asked, title, address: "https://a.example/".to_owned(), snippet }
}

pub(super) fn web_work() -> WebWork {
    WebWork { server: "localhost:8888".to_owned(), searches: 2, failed: 1 }
}

pub(super) fn reranking() -> RerankWork {
    RerankWork { reranker: "vllm:r".to_owned(), passages: 20, spent: writing().spent }
}

pub(super) fn writing() -> Writing {
    let sentence = WrittenSentence { text: "A.".to_owned(), citations: vec![0], web: vec![1], is_supported: true };
    let cost = Some(Cost { amount: 0.5, currency: "EUR".to_owned() });
    let usage = Usage { input_tokens: 2, output_tokens: 1, is_estimated: true };
    Writing {
        model: "openai:m".to_owned(),
        short: Some("A".to_owned()),
        sentences: vec![sentence],
        checked_by: CitationCheck::Model,
        degraded: Some("it was away".to_owned()),
        spent: Spent { calls: 1, cached: 1, lost: 1, usage, cost },
    }
}

pub(super) fn live_report() -> LiveReport {
    let row = LiveFigures {
        row: "hop-paper".to_owned(),
        tables: "1, 2, 5".to_owned(),
        questions: 1,
        recall_at_2: 50.0,
        recall_at_5: 50.0,
        retrieval_f1: 50.0,
        exact_match: 0.0,
        answer_f1: 50.0,
        finding_calls: 20.5,
        degraded: 1,
        unusable: 1,
        spent: writing().spent,
        time_ms_p50: 1.5,
    };
    let Facts { version, embedder, corpus_id, corpus, .. } = facts();
    let (model, stopped) = ("openai:m".to_owned(), Some("the budget allows 1 calls".to_owned()));
    LiveReport {
        version,
        embedder,
        corpus_id,
        corpus,
        model,
        rows: vec![row],
        left: 2,
        spent_on_left: writing().spent,
        fault: Some("it was away".to_owned()),
        stopped,
    }
}

pub(super) fn judge_report() -> JudgeReport {
    let winner = Criterion::ALL.map(|criterion| (criterion, "a".to_owned()));
    let line = |a_shown_first| VerdictLine {
        question_id: "1".to_owned(),
        a: "a".to_owned(),
        b: "b".to_owned(),
        a_shown_first,
        winner: winner.clone().into(),
        explanation: BTreeMap::new(),
        judge: "openai:m".to_owned(),
        asked: None,
    };
    let mut report = JudgeReport::of_verdicts(tallied(&[line(true), line(false)]));
    report.pairs[0].words = Some([20.5, 10.0]);
    JudgeReport {
        is_partial: true,
        failures: [("unusable".to_owned(), FailedVerdicts { count: 1, last: "no JSON".to_owned() })].into(),
        stopped: Some("the budget allows 1 calls".to_owned()),
        spent: Some(writing().spent),
        notes: vec!["1 question of the file without answers".to_owned()],
        ..report
    }
}

pub(super) fn context_report() -> ContextReport {
    let share = Interval { mean: 50.0, low: 40.0, high: 60.0 };
    let row = ContextRow {
        method: "layers:local".to_owned(),
        documents: share,
        documents_difference: Some(share),
        words: share,
        words_difference: Some(share),
        diversity: 1.5,
        redundancy: 2.5,
        tokens: 900.0,
        overview: OverviewFigures { answered: 100.0, documents: share, words: share, length: 40.0 },
        time_ms_p50: 1.5,
    };
    let Facts { version, embedder, corpus_id, .. } = facts();
    ContextReport {
        version,
        corpus_id,
        embedder,
        questions: 2,
        systems: vec!["one".to_owned()],
        tokens: 1_000,
        sentences: 9,
        sentences_placed: 7,
        rows: vec![row],
        bridges: Some(BridgeCoverage { local: share, global: share, bridged: 50.0 }),
        notes: vec!["a proxy".to_owned()],
    }
}

pub(super) fn matrix_report() -> MatrixReport {
    let Facts { version, embedder, corpus_id, .. } = facts();
    let share = Interval { mean: 50.0, low: 40.0, high: 60.0 };
    let row = MatrixRow {
        method: "trail+pick".to_owned(),
        led_by: "simulated:0.8".to_owned(),
        recall_at_2: share,
        recall_at_5: share,
        all_gold_at_5: share,
        difference: Some(share),
        exact_match: Some(share),
        answer_f1: Some(share),
        calls: 1.5,
        steps: Some(1.5),
        tokens: 90.0,
        cost: Some(Cost { amount: 0.5, currency: "EUR".to_owned() }),
        time_ms_p50: 1.5,
    };
    let (collection, rows) = ("notes".to_owned(), vec![row]);
    let table = MatrixTable { collection, questions: 2, version, corpus_id, embedder, rows };
    MatrixReport { tables: vec![table], notes: vec!["a simulated model".to_owned()] }
}

pub(super) fn training_line() -> TrainingLine {
    let [question_id, strategy, skill, model] = ["1", "dual", "reason", "vllm:m"].map(str::to_owned);
    let message = |role: &str| TrainingMessage { role: role.to_owned(), content: "A.".to_owned() };
    let messages = ["system", "user", "assistant"].map(message).into();
    TrainingLine { question_id, strategy, skill, step: 0, model, messages }
}

pub(super) fn training_report() -> TrainingReport {
    let examples = [("reason".to_owned(), 3)].into();
    TrainingReport { strategy: "dual".to_owned(), questions: 2, reached: 1, examples, unusable: 1 }
}

/// The report on a model that was asked for questions, ended by a budget.
pub(super) fn model_report() -> ModelReport {
    let failed = vec![Skip { source: "a.md, passage 1".to_owned(), reason: "the model declines".to_owned() }];
    let stopped = Some("the budget allows 1 calls".to_owned());
    ModelReport {
        model: "openai:m".to_owned(),
        written: 1,
        failed,
        left: 2,
        stopped,
        stopped_by: Some(StoppedBy::Budget),
        useless: None,
        spent: writing().spent,
    }
}

pub(super) fn extract_report() -> ExtractReport {
    ExtractReport {
        asked: model_report(),
        types: vec!["person".to_owned()],
        entities: 3,
        relations: 2,
        dropped: Dropped { entities: 1, relations: 0 },
    }
}

/// What was spent on one model, as the status shows it.
pub(super) fn spent_on_model() -> Value {
    let mut value = json!(writing().spent);
    value["model"] = json!("openai:m");
    value
}

pub(super) fn estimate() -> Estimate {
    let Spent { usage, cost, .. } = writing().spent;
    let stage = StageEstimate {
        stage: "vectors".to_owned(),
        model: "openai:m".to_owned(),
        calls: 2,
        cached: 1,
        texts: Some(3),
        usage,
        output_tokens_range: Some([1, 4]),
        cost,
    };
    let skips = vec![Skip { source: "a.md:3".to_owned(), reason: "not UTF-8".to_owned() }];
    Estimate {
        documents: DocumentCounts::default(),
        changes: Changes { added: vec!["a.md".to_owned()], ..Changes::default() },
        stages: vec![stage],
        fits_budget: Some(true),
        skips,
        warnings: vec!["w".to_owned()],
    }
}

/// The report on calibrating a reranker.
pub(super) fn calibrated(facts: Facts) -> CalibrationReport {
    let calibration =
        Calibration { reranker: "rule".to_owned(), slope: 2.0, intercept: -1.0, questions: 2, passages: 40 };
    let quality = Quality { passages: 20, needed: 0.1, log_loss: 0.3, brier: 0.1, calibration_error: 0.0 };
    let (held_out, in_sample, constant) = (quality, quality, quality);
    let kept = KeptAt { relevance_min: 0.5, passages: 1.5, needed_kept: 0.9, kept_needed: 0.5, only_best: 0.1 };
    let (kept, work) = (vec![kept], Some(work_report()));
    CalibrationReport { facts, questions: 2, unscored: 1, calibration, held_out, in_sample, constant, kept, work }
}
