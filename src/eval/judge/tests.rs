//! A scripted judge: wins, ties, failures, and files that cannot be compared.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::*;
use crate::domain::{BudgetKind, Usage};
use crate::error::Error;
use crate::eval::Question;
use crate::llm::{ChatReply, ChatRequest, Finish, ReplyOrigin, Replying};

/// A judge that follows its script and repeats the last line of it.
struct Judge {
    plays: Mutex<VecDeque<Play>>,
    asked: Mutex<Vec<String>>,
}

#[derive(Clone)]
enum Play {
    /// Says which answer is better by all criteria, 1 or 2.
    Prefers(u8),
    /// Prefers the answer that contains this word.
    PrefersWith(&'static str),
    /// Gives a reply that does not fit.
    Chats,
    Fails(ChatError),
}

impl Judge {
    fn of(plays: impl IntoIterator<Item = Play>) -> Self {
        Self { plays: Mutex::new(plays.into_iter().collect()), asked: Mutex::default() }
    }

    fn calls(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

fn said_by_model(text: &str) -> ChatReply {
    ChatReply {
        text: text.to_owned(),
        finish: Finish::Stop,
        usage: Usage::default(),
        model: "judge".to_owned(),
        origin: ReplyOrigin::Server,
        calls: 1,
        cost: None,
    }
}

fn verdict(winner: u8) -> String {
    let one = json!({ "reason": "It says more.", "winner": winner });
    json!({ "comprehensiveness": one, "diversity": one, "empowerment": one, "overall": one }).to_string()
}

impl ChatModel for Judge {
    fn name(&self) -> &'static str {
        "test:judge"
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        let said = request.messages[1].text.clone();
        self.asked.lock().unwrap().push(said.clone());
        let mut plays = self.plays.lock().unwrap_or_else(PoisonError::into_inner);
        let play = if plays.len() > 1 { plays.pop_front() } else { plays.front().cloned() };
        let text = match play.unwrap() {
            Play::Prefers(winner) => Ok(verdict(winner)),
            Play::PrefersWith(word) => {
                let (first, _) = said.split_once("Second answer:").unwrap();
                Ok(verdict(if first.contains(word) { 1 } else { 2 }))
            }
            Play::Chats => Ok("The first is nicer.".to_owned()),
            Play::Fails(error) => Err(error),
        };
        Box::pin(async move { text.map(|text| said_by_model(&text)) })
    }
}

fn questions(ids: &[&str]) -> Vec<Question> {
    let question = |id: &&str| Question {
        id: (*id).to_owned(),
        question: format!("What of {id}?"),
        supporting: Vec::new(),
        passages: Vec::new(),
        kind: None,
        hops: None,
        answers: Vec::new(),
        weight: 1,
    };
    ids.iter().map(question).collect()
}

fn answers(name: &str, answers: &[(&str, &str)]) -> AnswersOf {
    let answers = answers.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect();
    AnswersOf { name: name.to_owned(), answers }
}

fn contest() -> Contest {
    let long = answers("long", &[("1", "A mill and a weir."), ("2", "A mill and a dam."), ("3", "A mill.")]);
    let short = answers("short", &[("1", "A bridge."), ("2", "Stones."), ("3", "A mill. ")]);
    Contest::of(&long, &short, &questions(&["1", "2", "3"])).unwrap()
}

fn overall(report: &JudgeReport) -> CriterionTally {
    report.pairs[0].criteria[&Criterion::Overall]
}

fn budget() -> ChatError {
    let [limit, spent, wanted] = ["2", "2", "1"].map(str::to_owned);
    ChatError::Budget { kind: BudgetKind::Calls, limit, spent, wanted }
}

#[tokio::test]
async fn a_system_wins_where_both_orders_say_so_and_equal_answers_tie_unasked() {
    let judge_model = Judge::of([Play::PrefersWith("mill")]);
    let report = judge(&judge_model, &contest(), &mut VerdictFile::nowhere()).await.unwrap();
    let tally = overall(&report);
    assert_eq!((tally.a_wins, tally.b_wins, tally.ties, judge_model.calls()), (2, 0, 1, 4));
    assert!((tally.a_of_verdicts - 100.0 * 2.5 / 3.0).abs() < 1e-9, "{tally:?}");
    assert_eq!(report.pairs[0].words, Some([4.0, 5.0 / 3.0]));
    assert_eq!(report.notes, ["1 question with equal answers: ties, without asking"]);
    assert!(!report.is_partial && report.failures.is_empty(), "{report:?}");
    let asked = judge_model.asked.lock().unwrap();
    assert!(asked.iter().all(|it| !it.contains("long") && !it.contains("short")), "nobody learns who wrote what");
}

#[tokio::test]
async fn a_judge_that_prefers_a_position_decides_nothing_and_this_is_counted() {
    for (place, expect) in [(1, (2, 0)), (2, (0, 2))] {
        let report = judge(&Judge::of([Play::Prefers(place)]), &contest(), &mut VerdictFile::nowhere()).await.unwrap();
        let tally = overall(&report);
        assert_eq!((tally.a_wins, tally.b_wins, tally.ties), (0, 0, 3));
        assert_eq!((tally.ties_for_first_shown, tally.ties_for_second_shown), expect);
        assert_eq!((tally.a_of_decided, tally.a_score.mean.to_bits()), (None, 50.0_f64.to_bits()));
    }
}

#[tokio::test]
async fn a_judge_that_never_fits_ends_bounded_with_its_failures_counted() {
    let judge_model = Judge::of([Play::Chats]);
    let report = judge(&judge_model, &contest(), &mut VerdictFile::nowhere()).await.unwrap();
    // Two questions in two orders, each asked once and repaired once.
    assert_eq!((judge_model.calls(), report.failures["unusable"].count), (8, 4));
    assert!(report.is_partial && report.to_string().contains("Not judged (unusable): 4 verdicts"), "{report}");
    // The equal pair is a tie nevertheless.
    assert_eq!((report.pairs[0].judged, report.pairs[0].questions, report.useless()), (1, 3, None));
    let mut alone = contest();
    alone.truncate(2);
    let report = judge(&Judge::of([Play::Chats]), &alone, &mut VerdictFile::nowhere()).await.unwrap();
    assert!(matches!(report.useless(), Some(ChatError::Useless { replies: 4, .. })), "{report:?}");
    assert!(report.to_string().contains("| overall | 0 | 0 | 0 | 0, 0 | – |"), "{report}");
}

#[tokio::test]
async fn what_fails_once_is_left_out_and_what_ends_the_calls_ends_the_run() {
    let away = ChatError::Unreachable { reason: "nobody".to_owned() };
    let too_long = ChatError::Request { status: 413, message: "too long".to_owned() };
    let plays = [Play::Fails(away), Play::Fails(too_long), Play::PrefersWith("mill")];
    let report = judge(&Judge::of(plays), &contest(), &mut VerdictFile::nowhere()).await.unwrap();
    assert_eq!(report.failures.keys().collect::<Vec<_>>(), ["request", "unreachable"]);
    assert_eq!((report.pairs[0].judged, report.pairs[0].verdicts, report.is_partial), (2, 4, true));

    let judge_model = Judge::of([Play::Prefers(1), Play::Prefers(2), Play::Prefers(1), Play::Fails(budget())]);
    let report = judge(&judge_model, &contest(), &mut VerdictFile::nowhere()).await.unwrap();
    assert_eq!((judge_model.calls(), report.pairs[0].judged, report.pairs[0].verdicts), (4, 1, 3));
    assert!(report.stopped.as_ref().is_some_and(|why| why.contains("the budget allows 2 calls")), "{report:?}");
    assert_eq!((overall(&report).a_wins, report.useless()), (1, None));

    let key = ChatError::Key { status: 401, message: "no".to_owned() };
    let refused = judge(&Judge::of([Play::Fails(key)]), &contest(), &mut VerdictFile::nowhere()).await;
    assert!(matches!(refused, Err(Error::Chat { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_run_continues_where_it_ended_and_its_file_gives_the_same_without_a_judge() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("verdicts.jsonl");
    let open = |judge: &str| VerdictFile::open(&path, ("long", "short"), judge);
    let first = Judge::of([Play::PrefersWith("mill"), Play::Fails(budget())]);
    let report = judge(&first, &contest(), &mut open("test:judge").unwrap()).await.unwrap();
    assert_eq!((report.pairs[0].verdicts, report.is_partial), (1, true));
    // The verdict that a killed run was writing is requested again.
    let kept = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{kept}{{\"question_id\":\"1\",\"a")).unwrap();
    let second = Judge::of([Play::PrefersWith("mill")]);
    let report = judge(&second, &contest(), &mut open("test:judge").unwrap()).await.unwrap();
    assert_eq!((second.calls(), report.pairs[0].judged), (3, 3));

    let mut read = JudgeReport::of_verdicts(tallied(&read_verdicts(&path).unwrap()));
    read.pairs[0].words = report.pairs[0].words;
    assert_eq!(read.pairs, report.pairs);
    // A changed answer is judged again; another judge has its own file.
    let mut changed = contest();
    changed.questions[0].b = "A bridge and a weir.".to_owned();
    let third = Judge::of([Play::PrefersWith("mill")]);
    judge(&third, &changed, &mut open("test:judge").unwrap()).await.unwrap();
    assert_eq!((third.calls(), read_verdicts(&path).unwrap().len()), (2, 6));
    assert!(open("test:other").unwrap_err().to_string().contains("give another file"));
}

fn lines(path: &Path, lines: &[Value]) {
    std::fs::write(path, lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n\n")).unwrap();
}

#[test]
fn answers_are_read_whole_and_by_system() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers.jsonl");
    let of = |id: &str, system: &str, text: &str| json!({ "question_id": id, "system": system, "answer": text });
    lines(&path, &[of("1", "a", "A."), of("1", "b", "B."), of("2", "a", "")]);
    let read = read_answers_of(&path, Some("a")).unwrap();
    assert_eq!((read.name.as_str(), read.answers["1"].as_str(), read.answers.len()), ("a", "A.", 2));
    let refused = |system| read_answers_of(&path, system).unwrap_err().to_string();
    assert!(refused(None).contains("several systems") && refused(Some("c")).contains("no answer of `c`"));
    lines(&path, &[of("1", "a", "A."), of("1", "a", "B.")]);
    assert!(refused(None).contains("answered by an earlier line"));
    lines(&path, &[of("1", "a", &"a".repeat(ANSWER_BYTES_MAX + 1))]);
    assert!(refused(None).contains("can be compared"));
    lines(&path, &[json!({ "question_id": "1" })]);
    assert!(refused(None).contains("answer"));
    lines(&path, &[]);
    assert!(refused(None).contains("the file has no answer"));
    // The model's text, or else all quotations.
    let own = json!({ "question_id": "1", "answer": "Ada", "long": "Ada built it.", "quotes": ["x"] });
    lines(&path, &[own, json!({ "question_id": "2", "answer": "Ada", "quotes": ["x", "y"] })]);
    let read = read_answers_of(&path, None).unwrap();
    assert_eq!(read.answers.into_values().collect::<Vec<_>>(), ["Ada built it.", "x\ny"]);
    assert_eq!(read.name, path.display().to_string());
}

#[test]
fn answers_to_other_questions_and_of_one_system_are_not_compared() {
    let (both, one) = (answers("a", &[("1", "A."), ("2", "B.")]), answers("b", &[("1", "C.")]));
    let refused = |first: &AnswersOf, second: &AnswersOf, ids: &[&str]| {
        Contest::of(first, second, &questions(ids)).unwrap_err().to_string()
    };
    for (first, second) in [(&both, &one), (&one, &both)] {
        let why = refused(first, second, &["1", "2"]);
        assert!(why.contains("not compared") && why.contains("`2`"), "{why}");
    }
    assert!(
        refused(&one, &AnswersOf { name: "c".to_owned(), ..one.clone() }, &["7"]).contains("the file of questions")
    );
    assert!(refused(&one, &one, &["1"]).contains("both sides are `b`"));
    assert!(refused(&one, &AnswersOf { name: "Tie".to_owned(), ..one.clone() }, &["1"]).contains("not the name"));
}

#[test]
fn verdicts_are_read_as_they_were_published_and_others_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("verdicts.jsonl");
    let of = |first: bool, winner: &str| {
        let winner = json!({
            "Comprehensiveness": winner, "Diversity": winner, "Empowerment": winner, "Overall Winner": winner,
        });
        json!({
            "question_id": "1", "a": "hirag", "b": "kag", "hirag_shown_first": first, "winner": winner, "judge": "j",
        })
    };
    lines(&path, &[of(true, "hirag"), of(false, "tie")]);
    let pair = tallied(&read_verdicts(&path).unwrap()).remove(0);
    let tally = pair.criteria[&Criterion::Diversity];
    assert_eq!((tally.a_wins, tally.ties, tally.a_of_verdicts.to_bits()), (0, 1, 75.0_f64.to_bits()));
    for (wrong, why) in [
        (vec![of(true, "hirag"), of(true, "kag")], "in this order by an earlier line"),
        (vec![of(true, "naive")], "the winner by comprehensiveness is `naive`"),
        (vec![json!({ "a": "x" })], "missing field"),
        (Vec::new(), "no verdict"),
    ] {
        lines(&path, &wrong);
        let refused = read_verdicts(&path).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
    let mut one = of(true, "kag");
    one["winner"].as_object_mut().unwrap().remove("Diversity");
    lines(&path, &[one]);
    assert!(read_verdicts(&path).unwrap_err().to_string().contains("no winner by diversity"));
}
