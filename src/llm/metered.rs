//! A model whose calls are counted, within a budget.

use std::sync::Arc;

use super::meter::Meter;
use super::reply::ChatReply;
use super::request::ChatRequest;
use super::{ChatModel, Replying};
use crate::domain::ChatError;

/// A model whose calls are counted and priced, and end where the budget of a [`Meter`] does.
pub struct Metered {
    inner: Arc<dyn ChatModel>,
    meter: Arc<Meter>,
}

impl Metered {
    /// Counts a model's calls on a meter.
    #[must_use]
    pub fn new(inner: Arc<dyn ChatModel>, meter: Arc<Meter>) -> Self {
        Self { inner, meter }
    }

    async fn call(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let (measured, added) = request.measured();
        let most = self.meter.most(self.name(), &measured, added, request.output_tokens_max.into());
        let reserved = self.meter.reserve(self.name(), most).await?;
        match self.inner.reply(request).await {
            Ok(reply) => {
                if !reply.usage.is_estimated {
                    self.meter.learn(self.name(), &measured, reply.usage.input_tokens);
                }
                Ok(ChatReply { cost: reserved.settle(reply.usage), ..reply })
            }
            Err(error) => {
                reserved.fail(&error);
                Err(error)
            }
        }
    }
}

impl ChatModel for Metered {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn kept_as(&self) -> &str {
        self.inner.kept_as()
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(self.call(request))
    }

    fn note_use(&self, problem: Option<&str>) {
        self.inner.note_use(problem);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::scripted::{Scripted, overloaded, request};
    use super::super::{Budget, Price, Prices};
    use super::*;
    use crate::domain::BudgetKind;

    fn metered(inner: &Arc<Scripted>, budget: Budget, prices: Prices) -> Metered {
        Metered::new(inner.clone(), Arc::new(Meter::new(budget, prices)))
    }

    fn prices() -> Prices {
        let price = Price { input: 1e4, output: Some(1e5) };
        Prices { currency: "EUR".to_owned(), models: [("scripted".to_owned(), price)].into() }
    }

    fn kind(replied: &Result<ChatReply, ChatError>) -> Option<BudgetKind> {
        match replied {
            Err(ChatError::Budget { kind, .. }) => Some(*kind),
            _ => None,
        }
    }

    #[tokio::test]
    async fn a_budget_ends_calls_by_number_by_tokens_and_by_money() {
        // A call takes 30 tokens and 1.2 EUR, and may take 109 tokens and 10.09 EUR.
        let most = request("a").tokens_max_estimate();
        assert_eq!(most, 109);
        let budgets = [
            (Budget { calls: Some(3), ..Budget::default() }, BudgetKind::Calls),
            (Budget { tokens: Some(60 + most), ..Budget::default() }, BudgetKind::Tokens),
            (Budget { cost: Some(2.0 * 1.2 + 10.1), ..Budget::default() }, BudgetKind::Cost),
        ];
        for (budget, expect) in budgets {
            let inner = Arc::new(Scripted::new([]));
            let model = metered(&inner, budget, prices());
            for _ in 0..3 {
                let cost = model.reply(&request("a")).await.unwrap().cost.unwrap();
                assert!((cost.amount - 1.2).abs() < 1e-9 && cost.currency == "EUR");
            }
            assert_eq!(kind(&model.reply(&request("a")).await), Some(expect));
            assert_eq!(inner.call_count(), 3);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn calls_at_one_time_stay_within_the_budget_together() {
        let inner = Arc::new(Scripted::slow(Duration::from_secs(1)));
        let budget = Budget { tokens: Some(109 * 3 + 50), ..Budget::default() };
        let model = Arc::new(metered(&inner, budget, Prices::default()));
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let model = Arc::clone(&model);
            calls.spawn(async move { kind(&model.reply(&request("a")).await) });
        }
        let refused = calls.join_all().await.into_iter().flatten().count();
        assert_eq!((refused, inner.call_count()), (17, 3));
        // What concurrent calls did not use is available again.
        assert_eq!(kind(&model.reply(&request("a")).await), None);
    }

    #[tokio::test]
    async fn a_call_that_did_nothing_is_not_counted_and_one_that_may_have_cost_is() {
        let script = [Err(overloaded(None)), Err(ChatError::Timeout { limit_ms: 1 })];
        let inner = Arc::new(Scripted::new(script));
        let model = metered(&inner, Budget { calls: Some(1), ..Budget::default() }, Prices::default());
        for _ in 0..2 {
            assert_eq!(kind(&model.reply(&request("a")).await), None);
        }
        assert_eq!((kind(&model.reply(&request("a")).await), inner.call_count()), (Some(BudgetKind::Calls), 2));
    }

    #[tokio::test]
    async fn an_unknown_price_is_unknown_and_no_budget_of_money_is_kept_on_it() {
        let model = metered(&Arc::new(Scripted::new([])), Budget::default(), Prices::default());
        assert_eq!(model.reply(&request("a")).await.unwrap().cost, None);
        let inner = Arc::new(Scripted::new([]));
        let budget = Budget { cost: Some(1.0), ..Budget::default() };
        let model = metered(&inner, budget, Prices::default());
        assert!(matches!(model.reply(&request("a")).await, Err(ChatError::NoPrice { .. })));
        assert_eq!(inner.call_count(), 0);
    }
}
