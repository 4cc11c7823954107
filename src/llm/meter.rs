//! What calls come to, counted against what may be spent: by all that share it, chat models and embedders alike.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::bound::{Bounds, Measured};
use super::prices::Prices;
use crate::domain::{BudgetKind, ChatError, Cost, Spent, Usage};

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

impl Budget {
    /// Returns whether anything is limited.
    #[must_use]
    pub const fn is_limit(&self) -> bool {
        self.calls.is_some() || self.tokens.is_some() || self.cost.is_some()
    }

    /// Returns whether so much may be spent; what nobody knows the cost of may not, where money is limited.
    #[must_use]
    pub fn fits(&self, spent: &Spent) -> bool {
        let is_within = |limit: Option<u64>, spent: u64| limit.is_none_or(|limit| spent <= limit);
        let cost = spent.cost.as_ref().map_or(f64::INFINITY, |cost| cost.amount);
        is_within(self.calls, spent.calls)
            && is_within(self.tokens, spent.usage.tokens())
            && self.cost.is_none_or(|limit| cost <= limit)
    }
}

/// What was spent, or may be.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Tally {
    calls: u64,
    tokens: u64,
    cost: f64,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.cost += other.cost;
    }

    fn take_back(&mut self, other: Self) {
        self.calls = self.calls.saturating_sub(other.calls);
        self.tokens = self.tokens.saturating_sub(other.tokens);
        self.cost = (self.cost - other.cost).max(0.0);
    }
}

/// Counts and prices calls, and holds them to a budget: a call goes out only if the most that it may come to fits in
/// beside what is spent and what calls in flight may come to. So no number of calls at one time spends more than that.
/// What nobody counted yet is taken for a token a byte, the most that there can be. Whatever is to stay within one
/// budget together has one meter.
#[derive(Debug, Default)]
pub struct Meter {
    budget: Budget,
    prices: Prices,
    tally: Mutex<Tally>,
    bounds: Bounds,
}

impl Meter {
    /// Returns a meter on which nothing is spent yet.
    #[must_use]
    pub fn new(budget: Budget, prices: Prices) -> Self {
        Self { budget, prices, tally: Mutex::default(), bounds: Bounds::default() }
    }

    /// Returns it with what servers counted before, which a file remembers, and with what they count from now on.
    #[must_use]
    pub fn remembering_in(self, path: &Path) -> Self {
        Self { bounds: Bounds::remembered_in(path), ..self }
    }

    /// Returns how many tokens the model called `model` takes texts for at most.
    pub(crate) fn tokens_max(&self, model: &str, measured: &Measured) -> u64 {
        self.bounds.most(model, measured)
    }

    /// Learns from how many tokens a server counted.
    pub(crate) fn learn(&self, model: &str, measured: &Measured, tokens: u64) {
        self.bounds.learn(model, measured, tokens);
    }

    /// Returns what may be spent.
    #[must_use]
    pub const fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Returns what a call to the model called `model` costs, where its price is known.
    #[must_use]
    pub fn cost(&self, model: &str, usage: Usage) -> Option<Cost> {
        self.prices.cost(model, usage)
    }

    /// Checks that the budget can be kept on calls to the model called `model`.
    ///
    /// # Errors
    ///
    /// [`ChatError::NoPrice`] for a budget of money and a model without a price.
    pub(crate) fn check(&self, model: &str) -> Result<(), ChatError> {
        self.of(model, 0, Usage::default()).map(drop)
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of(&self, model: &str, calls: u64, usage: Usage) -> Result<Tally, ChatError> {
        let cost = self.cost(model, usage).map(|cost| cost.amount);
        if cost.is_none() && self.budget.cost.is_some() {
            return Err(ChatError::NoPrice { model: model.to_owned() });
        }
        Ok(Tally { calls, tokens: usage.tokens(), cost: cost.unwrap_or_default() })
    }

    /// Sets aside what a call to the model called `model` may come to at most.
    ///
    /// # Errors
    ///
    /// [`ChatError::Budget`] if that does not fit, [`ChatError::NoPrice`] for a budget of money and a model without a
    /// price.
    pub(crate) fn reserve(self: &Arc<Self>, model: &str, most: Usage) -> Result<Reserved, ChatError> {
        let most = self.of(model, 1, most)?;
        let mut tally = self.tally();
        let refused =
            |kind, limit: String, spent: String, wanted: String| Err(ChatError::Budget { kind, limit, spent, wanted });
        if let Some(limit) = self.budget.calls.filter(|limit| tally.calls.saturating_add(most.calls) > *limit) {
            return refused(BudgetKind::Calls, limit.to_string(), tally.calls.to_string(), most.calls.to_string());
        }
        if let Some(limit) = self.budget.tokens.filter(|limit| tally.tokens.saturating_add(most.tokens) > *limit) {
            return refused(BudgetKind::Tokens, limit.to_string(), tally.tokens.to_string(), most.tokens.to_string());
        }
        if let Some(limit) = self.budget.cost.filter(|limit| tally.cost + most.cost > *limit) {
            let shown = |amount: f64| format!("{amount:.6} {}", self.prices.currency);
            return refused(BudgetKind::Cost, shown(limit), shown(tally.cost), shown(most.cost));
        }
        tally.add(most);
        Ok(Reserved { meter: Arc::clone(self), model: model.to_owned(), most, is_settled: false })
    }

    /// Sets aside what later calls are expected to come to, or all that is left where that is less, until the value is
    /// dropped.
    pub(crate) fn set_aside(self: &Arc<Self>, model: &str, calls: u64, usage: Usage) -> SetAside {
        let wanted = self.of(model, calls, usage).unwrap_or_default();
        let mut tally = self.tally();
        let left = |limit: Option<u64>, spent: u64| limit.map_or(u64::MAX, |limit| limit.saturating_sub(spent));
        let cost_left = self.budget.cost.map_or(f64::INFINITY, |limit| (limit - tally.cost).max(0.0));
        let held = Tally {
            calls: wanted.calls.min(left(self.budget.calls, tally.calls)),
            tokens: wanted.tokens.min(left(self.budget.tokens, tally.tokens)),
            cost: wanted.cost.min(cost_left),
        };
        tally.add(held);
        SetAside { meter: Arc::clone(self), held }
    }
}

/// A call in flight. Where nobody says how it ended, it is taken to have cost what it may.
pub(crate) struct Reserved {
    meter: Arc<Meter>,
    model: String,
    most: Tally,
    is_settled: bool,
}

impl Reserved {
    /// Counts what a call came to. Where the server did not say, what it may have come to at most stays counted.
    pub(crate) fn settle(self, usage: Usage) -> Option<Cost> {
        let cost = self.meter.cost(&self.model, usage);
        // A price that was known before is known now.
        let spent = self.meter.of(&self.model, 1, usage).unwrap_or_default();
        let spent = if usage.is_estimated { self.most } else { spent };
        self.replace(spent);
        cost
    }

    /// Counts a call that there is no reply to: as nothing, or as the most that it may have cost.
    pub(crate) fn fail(self, error: &ChatError) {
        if !error.may_have_cost() {
            self.replace(Tally::default());
        }
    }

    fn replace(mut self, spent: Tally) {
        let mut tally = self.meter.tally();
        tally.take_back(self.most);
        tally.add(spent);
        drop(tally);
        self.is_settled = true;
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if !self.is_settled {
            tracing::debug!(tokens = self.most.tokens, "a call that may have cost something is counted as if it had");
        }
    }
}

/// Part of a budget that is kept for later, until it is dropped.
#[derive(Debug)]
pub struct SetAside {
    meter: Arc<Meter>,
    held: Tally,
}

impl Drop for SetAside {
    fn drop(&mut self) {
        self.meter.tally().take_back(self.held);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Price;
    use super::*;

    fn usage(input_tokens: u64) -> Usage {
        Usage { input_tokens, ..Usage::default() }
    }

    fn meter(budget: Budget) -> Arc<Meter> {
        let price = Price { input: 1e6, output: None };
        let prices = Prices { currency: "EUR".to_owned(), models: [("a".to_owned(), price)].into() };
        Arc::new(Meter::new(budget, prices))
    }

    #[test]
    fn all_that_share_a_meter_share_its_budget() {
        let meter = meter(Budget { tokens: Some(100), ..Budget::default() });
        let first = meter.reserve("a", usage(60)).unwrap();
        assert!(matches!(meter.reserve("b", usage(50)), Err(ChatError::Budget { .. })));
        assert!((first.settle(usage(10)).unwrap().amount - 10.0).abs() < 1e-9);
        meter.reserve("b", usage(90)).unwrap().fail(&ChatError::Timeout { limit_ms: 1 });
        assert!(matches!(meter.reserve("a", usage(1)), Err(ChatError::Budget { .. })));
    }

    #[test]
    fn what_is_set_aside_is_spent_by_nobody_else_and_never_more_than_there_is() {
        let budget = Budget { calls: Some(5), tokens: Some(100), cost: Some(50.0) };
        let meter = meter(budget);
        let aside = meter.set_aside("a", 2, usage(30));
        assert!(matches!(meter.reserve("a", usage(30)), Err(ChatError::Budget { kind: BudgetKind::Cost, .. })));
        meter.reserve("a", usage(20)).unwrap().settle(usage(20));
        drop(aside);
        meter.reserve("a", usage(30)).unwrap().settle(usage(0));
        let all = meter.set_aside("a", 1_000, usage(1_000));
        assert_eq!(all.held, Tally { calls: 3, tokens: 80, cost: 30.0 });
        assert!(meter.reserve("a", usage(0)).is_err());
        drop(all);
        assert_eq!(*meter.tally(), Tally { calls: 2, tokens: 20, cost: 20.0 });
    }

    #[test]
    fn a_budget_of_money_takes_no_call_whose_price_is_unknown() {
        let meter = meter(Budget { cost: Some(1.0), ..Budget::default() });
        assert!(matches!(meter.reserve("b", usage(0)), Err(ChatError::NoPrice { .. })));
        assert!(meter.check("a").is_ok() && meter.check("b").is_err());
        assert_eq!(*meter.tally(), Tally::default());
    }
}
