//! A model whose calls are counted, and end where a budget does.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::prices::Prices;
use super::reply::ChatReply;
use super::request::ChatRequest;
use super::{ChatModel, Replying};
use crate::domain::{BudgetKind, ChatError, Usage};

/// What may be spent; what is not said is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// Calls.
    pub calls: Option<u64>,
    /// Tokens, read and written.
    pub tokens: Option<u64>,
    /// Money, in the currency of the price table.
    pub cost: Option<f64>,
}

/// What was spent, and what calls in flight may come to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Tally {
    calls: u64,
    tokens: u64,
    cost: f64,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.tokens += other.tokens;
        self.cost += other.cost;
    }

    fn take_back(&mut self, other: Self) {
        self.calls -= other.calls;
        self.tokens -= other.tokens;
        self.cost = (self.cost - other.cost).max(0.0);
    }
}

/// A model whose calls are counted and priced, and end where a budget does: a call goes out only if the most that it
/// may come to fits beside what is spent and what calls in flight may come to. So no number of calls at one time spends
/// more than the budget, but for what a server counts otherwise than the estimate.
pub struct Metered {
    inner: Arc<dyn ChatModel>,
    budget: Budget,
    prices: Prices,
    tally: Mutex<Tally>,
}

/// A call in flight. Where nobody hears how it ended, it is taken to have cost what it may.
struct Reserved<'a> {
    metered: &'a Metered,
    most: Tally,
    is_settled: bool,
}

impl Reserved<'_> {
    fn settle(mut self, spent: Tally) {
        let mut tally = self.metered.tally();
        tally.take_back(self.most);
        tally.add(spent);
        self.is_settled = true;
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if !self.is_settled {
            tracing::debug!(tokens = self.most.tokens, "a call that may have cost something is counted as if it had");
        }
    }
}

impl Metered {
    /// Counts a model's calls and holds them to a budget.
    #[must_use]
    pub fn new(inner: Arc<dyn ChatModel>, budget: Budget, prices: Prices) -> Self {
        Self { inner, budget, prices, tally: Mutex::default() }
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of(&self, usage: Usage) -> Result<Tally, ChatError> {
        let cost = self.prices.cost(self.name(), usage).map(|cost| cost.amount);
        if cost.is_none() && self.budget.cost.is_some() {
            return Err(ChatError::NoPrice { model: self.name().to_owned() });
        }
        Ok(Tally { calls: 1, tokens: usage.tokens(), cost: cost.unwrap_or_default() })
    }

    fn reserve(&self, request: &ChatRequest) -> Result<Reserved<'_>, ChatError> {
        let output_tokens = u64::from(request.output_tokens_max);
        let most = Usage { input_tokens: request.input_tokens_estimate(), output_tokens, is_estimated: true };
        let most = self.of(most)?;
        let mut tally = self.tally();
        let refused =
            |kind, limit: String, spent: String, wanted: String| Err(ChatError::Budget { kind, limit, spent, wanted });
        if let Some(limit) = self.budget.calls.filter(|limit| tally.calls + most.calls > *limit) {
            return refused(BudgetKind::Calls, limit.to_string(), tally.calls.to_string(), most.calls.to_string());
        }
        if let Some(limit) = self.budget.tokens.filter(|limit| tally.tokens + most.tokens > *limit) {
            return refused(BudgetKind::Tokens, limit.to_string(), tally.tokens.to_string(), most.tokens.to_string());
        }
        if let Some(limit) = self.budget.cost.filter(|limit| tally.cost + most.cost > *limit) {
            let shown = |amount: f64| format!("{amount:.6} {}", self.prices.currency);
            return refused(BudgetKind::Cost, shown(limit), shown(tally.cost), shown(most.cost));
        }
        tally.add(most);
        Ok(Reserved { metered: self, most, is_settled: false })
    }

    async fn call(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let reserved = self.reserve(request)?;
        match self.inner.reply(request).await {
            Ok(reply) => {
                let spent = self.of(reply.usage)?;
                reserved.settle(spent);
                let cost = self.prices.cost(self.name(), reply.usage);
                Ok(ChatReply { cost, ..reply })
            }
            Err(error) => {
                if !error.may_have_cost() {
                    reserved.settle(Tally::default());
                }
                Err(error)
            }
        }
    }
}

impl ChatModel for Metered {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(self.call(request))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::Price;
    use super::super::scripted::{Scripted, overloaded, request};
    use super::*;

    fn prices() -> Prices {
        let price = Price { input: 1e4, output: 1e5 };
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
            let model = Metered::new(inner.clone(), budget, prices());
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
        let model = Arc::new(Metered::new(inner.clone(), budget, Prices::default()));
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let model = Arc::clone(&model);
            calls.spawn(async move { kind(&model.reply(&request("a")).await) });
        }
        let refused = calls.join_all().await.into_iter().flatten().count();
        assert_eq!((refused, inner.call_count()), (17, 3));
        assert_eq!(*model.tally(), Tally { calls: 3, tokens: 90, cost: 0.0 });
    }

    #[tokio::test]
    async fn a_call_that_did_nothing_is_not_counted_and_one_that_may_have_cost_is() {
        let script = [Err(overloaded(None)), Err(ChatError::Timeout { limit_ms: 1 })];
        let model = Metered::new(Arc::new(Scripted::new(script)), Budget::default(), Prices::default());
        assert!(model.reply(&request("a")).await.is_err());
        assert_eq!(*model.tally(), Tally::default());
        assert!(model.reply(&request("a")).await.is_err());
        assert_eq!(*model.tally(), Tally { calls: 1, tokens: 109, cost: 0.0 });
    }

    #[tokio::test]
    async fn an_unknown_price_is_unknown_and_no_budget_of_money_is_kept_on_it() {
        let model = Metered::new(Arc::new(Scripted::new([])), Budget::default(), Prices::default());
        assert_eq!(model.reply(&request("a")).await.unwrap().cost, None);
        let inner = Arc::new(Scripted::new([]));
        let budget = Budget { cost: Some(1.0), ..Budget::default() };
        let model = Metered::new(inner.clone(), budget, Prices::default());
        assert!(matches!(model.reply(&request("a")).await, Err(ChatError::NoPrice { .. })));
        assert_eq!(inner.call_count(), 0);
    }
}
