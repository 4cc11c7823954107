//! The results of asking a model, reply by reply.

use std::collections::VecDeque;
use std::sync::Mutex;

use serde::Deserialize;

use super::*;
use crate::domain::{BudgetKind, Cost, Usage};
use crate::llm::{Finish, Replying};

/// A skill that returns a number from 1 to 9.
struct Pick;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Picked {
    number: u32,
}

impl Skill for Pick {
    type Input = ();
    type Reply = Picked;
    type Output = u32;
    const NAME: &'static str = "pick";
    const SCHEMA: &'static str = "{}";
    const PURPOSE: Purpose = Purpose::Reason;
    const OUTPUT_TOKENS_MAX: u32 = 20;

    fn messages((): &()) -> Vec<Message> {
        prompt::messages("Pick.", &[])
    }

    fn check((): &(), reply: Picked) -> Result<u32, String> {
        if (1..=9).contains(&reply.number) {
            Ok(reply.number)
        } else {
            Err(format!("{} is out of range", reply.number))
        }
    }
}

/// Gives its replies in order, and records requests.
struct ScriptedModel {
    due: Mutex<VecDeque<Result<ChatReply, ChatError>>>,
    asked: Mutex<Vec<ChatRequest>>,
}

impl ChatModel for ScriptedModel {
    fn name(&self) -> &'static str {
        "said"
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        self.asked.lock().unwrap().push(request.clone());
        let due = self.due.lock().unwrap().pop_front().unwrap();
        Box::pin(async move { due })
    }
}

#[expect(clippy::unnecessary_wraps, reason = "as a model replies")]
fn reply(text: &str) -> Result<ChatReply, ChatError> {
    Ok(ChatReply {
        text: text.to_owned(),
        finish: Finish::Stop,
        usage: Usage { input_tokens: 10, output_tokens: 5, is_estimated: false },
        model: "said".to_owned(),
        origin: ReplyOrigin::Server,
        calls: 1,
        cost: None,
    })
}

async fn pick(
    due: impl IntoIterator<Item = Result<ChatReply, ChatError>>,
) -> (Result<Performed<u32>>, Vec<ChatRequest>) {
    let said = ScriptedModel { due: Mutex::new(due.into_iter().collect()), asked: Mutex::default() };
    let performed = perform::<Pick>(&said, &()).await;
    (performed, said.asked.into_inner().unwrap())
}

#[tokio::test]
async fn a_reply_is_read_whatever_stands_around_its_object() {
    for text in ["{\"number\": 3}", "Sure! Here it is:\n```json\n{\"number\": 3}\n```\nAnything else?"] {
        let (performed, asked) = pick([reply(text)]).await;
        let performed = performed.unwrap();
        assert_eq!((performed.outcome, performed.spent.calls, asked.len()), (Ok(3), 1, 1), "{text}");
    }
}

#[tokio::test]
async fn a_model_is_told_once_what_was_wrong() {
    for (text, problem) in [
        ("three", "no JSON object"),
        ("{\"number\": ", "its JSON is broken"),
        ("{\"number\": 3} {\"number\": 4}", "more than one JSON object"),
        ("{\"digit\": 3}", "does not fit the schema"),
        ("{\"number\": 30}", "30 is out of range"),
    ] {
        let (performed, asked) = pick([reply(text), reply("{\"number\": 4}")]).await;
        let performed = performed.unwrap();
        assert_eq!((&performed.outcome, performed.spent.calls), (&Ok(4), 2), "{text}");
        assert_eq!(performed.spent.usage.tokens(), 30);
        // Both may repeat text of a document.
        let [repair] = asked[1].messages.as_slice() else { panic!("{asked:?}") };
        let mark = repair.text.lines().find(|line| line.starts_with("=== ")).unwrap();
        let parts: Vec<&str> = repair.text.split(&format!("{mark}\n")).collect();
        let [before, said, repeated, after] = parts[..] else { panic!("{}", repair.text) };
        assert!(before.starts_with("Pick.\n\n") && said.contains(problem), "{}", repair.text);
        assert!(repeated.trim() == text.trim() && !after.contains(problem), "{}", repair.text);

        let (performed, _) = pick([reply(text), reply(text)]).await;
        let Err(Degradation::Invalid(why)) = performed.unwrap().outcome else { panic!("{text}") };
        assert!(why.contains(problem), "{why}");
    }
}

#[tokio::test]
async fn a_useless_kept_reply_is_requested_again_unless_it_is_to_stay() {
    let kept = |text| reply(text).map(|reply| ChatReply { origin: ReplyOrigin::Cache, ..reply });
    let (performed, asked) = pick([kept("three"), reply("{\"number\": 4}")]).await;
    let performed = performed.unwrap();
    assert_eq!((performed.outcome, performed.spent.calls, performed.spent.cached), (Ok(4), 1, 1));
    assert_eq!(asked.iter().map(|it| it.is_afresh).collect::<Vec<_>>(), [false, true]);
    assert_eq!(asked[0].messages, asked[1].messages);
    // The same for a reply that was cut off or declined.
    let cut = kept("{").map(|reply| ChatReply { finish: Finish::Length, ..reply });
    assert_eq!(pick([cut, reply("{\"number\": 4}")]).await.0.unwrap().outcome, Ok(4));
    // If no call is possible, the kept reply is all there is.
    let spent = ChatError::Budget { kind: BudgetKind::Calls, limit: "1".into(), spent: "1".into(), wanted: "1".into() };
    let (performed, _) = pick([kept("three"), Err(spent.clone()), Err(spent)]).await;
    assert!(matches!(performed.unwrap().outcome, Err(Degradation::Invalid(why)) if why.contains("no JSON object")));

    let said = ScriptedModel { due: Mutex::new([kept("three"), kept("four")].into()), asked: Mutex::default() };
    let stays = PerformOptions { unusable: KeptUnusable::Stays, ..PerformOptions::default() };
    let performed = perform_with::<Pick>(&said, &(), stays).await.unwrap();
    assert!(performed.outcome.is_err() && performed.spent.cached == 2, "{performed:?}");
}

#[tokio::test]
async fn a_reply_is_one_whatever_object_is_beside_it_and_not_what_stands_in_a_broken_one() {
    let read = |text: &str| only_reply::<Picked>(text).map(|it| it.number);
    assert_eq!(read("I think {of nothing} and then {\"a\": 1}: {\"number\": 3}"), Ok(3));
    assert!(read("{\"numbers\": [{\"number\": 3}").unwrap_err().contains("broken"));
    assert!(read("{\"number\": 3} or {\"number\": 4}").unwrap_err().contains("more than one"));
}

#[tokio::test]
async fn a_failed_call_that_may_have_cost_something_is_counted() {
    let (performed, _) = pick([Err(ChatError::Timeout { limit_ms: 5 })]).await;
    assert_eq!(performed.unwrap().spent, Spent { lost: 1, ..Spent::default() });
}

#[tokio::test]
async fn a_reply_that_declines_or_is_cut_is_not_requested_again() {
    for finish in [Finish::Refusal, Finish::Length] {
        let cut = reply("{\"number\": 3}").map(|reply| ChatReply { finish, ..reply });
        let (performed, asked) = pick([cut]).await;
        let performed = performed.unwrap();
        assert!(matches!(performed.outcome, Err(Degradation::Chat(_))), "{performed:?}");
        assert_eq!((performed.spent.calls, asked.len()), (1, 1));
    }
}

#[tokio::test]
async fn a_passing_fault_is_an_outcome_and_one_to_correct_an_error() {
    let timeout = ChatError::Timeout { limit_ms: 5 };
    let (performed, _) = pick([Err(timeout.clone())]).await;
    assert_eq!(performed.unwrap().outcome, Err(Degradation::Chat(timeout.clone())));
    let (performed, _) = pick([reply("three"), Err(timeout)]).await;
    let performed = performed.unwrap();
    assert_eq!(performed.spent.calls, 1);
    assert!(matches!(performed.outcome, Err(Degradation::Invalid(why)) if why.contains("no JSON object")));
    let (performed, _) = pick([Err(ChatError::Key { status: 401, message: "no".to_owned() })]).await;
    assert!(matches!(performed, Err(Error::Chat { source: ChatError::Key { .. }, .. })));
}

#[tokio::test]
async fn what_was_kept_costs_nothing_and_one_unknown_price_makes_the_sum_unknown() {
    let priced = |amount| {
        let cost = Some(Cost { amount, currency: "EUR".to_owned() });
        reply("three").map(|reply| ChatReply { cost, ..reply })
    };
    let spent = |due: Vec<Result<ChatReply, ChatError>>| async { pick(due).await.0.unwrap().spent };
    let kept = reply("three").map(|reply| ChatReply { origin: ReplyOrigin::Cache, ..reply });
    let part_kept = spent(vec![kept, priced(2.0), priced(1.0)]).await;
    assert_eq!((part_kept.calls, part_kept.cached, part_kept.usage.tokens()), (2, 1, 30));
    assert_eq!(part_kept.cost.map(|cost| cost.amount), Some(3.0));
    assert_eq!(spent(vec![priced(1.0), priced(2.0)]).await.cost.map(|cost| cost.amount), Some(3.0));
    assert_eq!(spent(vec![priced(1.0), reply("three")]).await.cost, None);
    assert_eq!(spent(vec![reply("three"), priced(1.0)]).await.cost, None);
}
