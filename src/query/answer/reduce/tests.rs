//! A scripted model that reads rows in groups: its citations, and what is reported if calls or the model fail.

use std::sync::{Arc, Mutex};

use serde_json::json;

use super::*;
use crate::domain::{BudgetKind, Usage};
use crate::llm::{ChatModel, ChatReply, ChatRequest, Finish, ReplyForm, ReplyOrigin, Replying};
use crate::query::pieces::fuse::testing::hits;
use crate::query::session::counted::CallCount;

const QUESTION: &str = "What became of the mills?";

/// A model that notes the first row of each group and answers with all notes; it refuses groups with too many rows, and
/// fails after some calls.
struct Scripted {
    rows_max: usize,
    chats: bool,
    budget: usize,
    asked: Mutex<Vec<(&'static str, usize)>>,
}

impl Scripted {
    fn new() -> Self {
        Self { rows_max: usize::MAX, chats: false, budget: usize::MAX, asked: Mutex::default() }
    }

    fn reply_to(&self, request: &ChatRequest) -> Result<String, ChatError> {
        let ReplyForm::Json { name, .. } = &request.form else { panic!("a form") };
        let blocks = request.messages[1].text.split("\n[").skip(1);
        let rows: Vec<&str> = blocks.map(|block| block.lines().nth(1).unwrap()).collect();
        let mut asked = self.asked.lock().unwrap();
        asked.push((*name, rows.len()));
        if asked.len() > self.budget {
            let [limit, spent, wanted] = ["9 tokens", "9", "9"].map(str::to_owned);
            return Err(ChatError::Budget { kind: BudgetKind::Tokens, limit, spent, wanted });
        }
        if *name == "digest" && rows.len() > self.rows_max {
            return Err(ChatError::Request { status: 413, message: "too long".to_owned() });
        }
        if *name == "digest" && self.chats {
            return Ok("The mills closed, all of them.".to_owned());
        }
        if *name == "digest" {
            return Ok(json!({ "note": rows[0], "passages": [1] }).to_string());
        }
        let sentences: Vec<_> =
            rows.iter().zip(1..).map(|(row, number)| json!({ "text": row, "passages": [number] })).collect();
        Ok(json!({ "can_answer": true, "short": "", "sentences": sentences }).to_string())
    }
}

impl ChatModel for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        let said = self.reply_to(request);
        Box::pin(async move {
            let text = said?;
            let letters: Vec<char> = text.chars().collect();
            for (piece, listener) in
                letters.chunks(7).flat_map(|piece| request.listener.iter().map(move |it| (piece, it)))
            {
                listener.tell(&piece.iter().collect::<String>());
            }
            Ok(ChatReply {
                text,
                finish: Finish::Stop,
                usage: Usage::default(),
                model: "scripted".to_owned(),
                origin: ReplyOrigin::Server,
                calls: 1,
                cost: None,
            })
        })
    }
}

fn sources(count: usize) -> Sources {
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut hits = hits(&names.map(|name| (name, 1.0))[..count]);
    for (hit, number) in hits.iter_mut().zip(11..) {
        hit.text = format!("The mill of {} closed in 18{number}.", hit.name);
    }
    Sources::of_hits(hits)
}

/// Returns the tokens of this many rows, and a few more, since rows differ by one or two.
fn room(rows: usize) -> usize {
    tokens(&sources(rows).parts()) + 4
}

/// Returns the rows that each sentence of the answer cites, the notes, and the requests with their numbers of rows.
async fn answered(
    model: Scripted,
    calls_max: Option<u32>,
    room: usize,
) -> (Option<Vec<Vec<usize>>>, String, Vec<(&'static str, usize)>) {
    let model = Arc::new(model);
    let count = Arc::new(CallCount::after(0, calls_max));
    let caller = Caller::new(Arc::clone(&model) as Arc<dyn ChatModel>, count, None);
    let Reduced { performed, notes } = answer(&caller, QUESTION, &sources(6), (room, 1), None).await.unwrap();
    let asked = model.asked.lock().unwrap().clone();
    let replies = asked.iter().filter(|(skill, rows)| *skill != "digest" || *rows <= model.rows_max).count();
    assert_eq!(performed.spent.calls as usize, replies.min(model.budget), "every reply is counted");
    let cited = |written: WrittenAnswer| written.sentences.into_iter().map(|it| it.passages).collect();
    (performed.outcome.ok().map(cited), notes.join("; "), asked)
}

#[tokio::test]
async fn rows_become_notes_and_these_an_answer_that_cites_rows() {
    let (cited, notes, asked) = answered(Scripted::new(), None, room(3)).await;
    assert_eq!(cited, Some(vec![vec![0], vec![3]]));
    assert_eq!(asked, [("digest", 3), ("digest", 3), ("answer", 2)]);
    assert_eq!(notes, "the answer was written from 2 notes on 6 rows");
}

#[tokio::test]
async fn sentences_of_the_answer_are_passed_on_as_they_arrive_with_their_rows_and_notes_are_not() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&heard);
    let sink = SentenceSink::new(move |it| told.lock().unwrap().push((it.text.clone(), it.citations.clone())));
    let sources = sources(6);
    let caller = Caller::new(Arc::new(Scripted::new()), Arc::new(CallCount::after(0, None)), None);
    answer(&caller, QUESTION, &sources, (room(3), 1), Some(&sink)).await.unwrap();
    let expect = ["The mill of a closed in 1811.", "The mill of d closed in 1814."].map(str::to_owned);
    assert_eq!(*heard.lock().unwrap(), expect.into_iter().zip([vec![0], vec![1]]).collect::<Vec<_>>());
}

#[tokio::test]
async fn notes_that_are_too_many_become_fewer_and_lead_to_the_same_rows() {
    let (cited, notes, asked) = answered(Scripted::new(), None, room(2)).await;
    assert_eq!(cited, Some(vec![vec![0], vec![4]]));
    assert_eq!(asked[3..], [("digest", 2), ("digest", 1), ("answer", 2)]);
    assert_eq!(notes, "the answer was written from 5 notes on 6 rows");
}

#[tokio::test]
async fn if_calls_run_out_the_answer_uses_what_was_read_and_says_so() {
    let (cited, notes, asked) = answered(Scripted::new(), Some(2), room(3)).await;
    assert_eq!((cited, asked.len()), (Some(vec![vec![0]]), 2));
    assert!(notes.contains("3 rows were not read for the answer: no more calls are left"), "{notes}");
    // With one call there are no notes, and the answer is written from the first rows.
    let (cited, notes, asked) = answered(Scripted::new(), Some(1), room(3)).await;
    assert_eq!((cited, asked), (Some(vec![vec![0], vec![1], vec![2]]), vec![("answer", 3)]));
    assert!(notes.contains("6 rows were not read") && notes.contains("no room for 3 of 6"), "{notes}");
    // A budget of tokens ends them, too; the answer then fails, and quotations are returned.
    let budget = Scripted { budget: 1, ..Scripted::new() };
    let (cited, notes, asked) = answered(budget, None, room(3)).await;
    assert!(cited.is_none() && notes.contains("3 rows were not read for the answer: the budget allows"), "{notes}");
    assert!(asked.len() <= 4, "{asked:?}");
}

#[tokio::test]
async fn a_group_that_is_too_long_for_the_server_is_read_in_halves() {
    let (cited, notes, asked) = answered(Scripted { rows_max: 2, ..Scripted::new() }, None, room(4)).await;
    assert_eq!(cited, Some(vec![vec![0], vec![2], vec![4]]));
    assert_eq!(asked, [("digest", 4), ("digest", 2), ("digest", 2), ("digest", 2), ("answer", 3)]);
    assert!(!notes.contains("not read"), "{notes}");
}

#[tokio::test]
async fn notes_of_no_use_are_repaired_once_and_the_first_rows_are_answered_from() {
    let (cited, notes, asked) = answered(Scripted { chats: true, ..Scripted::new() }, None, room(3)).await;
    assert_eq!(cited, Some(vec![vec![0], vec![1], vec![2]]));
    assert_eq!(asked.iter().map(|it| it.0).collect::<Vec<_>>(), ["digest", "digest", "digest", "digest", "answer"]);
    assert!(notes.contains("6 rows were not read for the answer: the model's reply cannot be used"), "{notes}");
}

#[test]
fn a_note_cites_the_rows_that_support_it_or_all_that_were_read() {
    let parts = sources(3).parts();
    let read: Vec<&Part> = parts.iter().collect();
    let places = |text: &str| part(QUESTION, text.to_owned(), &read).places;
    assert_eq!(places("The mill of b closed in 1812."), [1]);
    assert_eq!(places("The mill of a closed in 1811, and that of c in 1813."), [0, 1, 2]);
}

#[test]
fn groups_are_of_whole_rows_in_their_order() {
    let parts = sources(6).parts();
    let sizes = |room: usize| groups(&parts, room).iter().map(|group| group.len()).collect::<Vec<_>>();
    assert_eq!((sizes(room(4)), sizes(0), sizes(usize::MAX)), (vec![4, 2], vec![1; 6], vec![6]));
}
