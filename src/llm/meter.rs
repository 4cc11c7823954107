//! Counts the cost of calls against a budget, shared by chat models and embedders.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::bound::{Bounds, Measured};
use super::prices::Prices;
use crate::domain::{BudgetKind, ChatError, Cost, Spent, Usage};

/// A budget; absent values are unlimited.
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

    /// Returns whether so much may be spent; unknown costs may not, if money is limited.
    #[must_use]
    pub fn fits(&self, spent: &Spent) -> bool {
        let is_within = |limit: Option<u64>, spent: u64| limit.is_none_or(|limit| spent <= limit);
        let cost = spent.cost.as_ref().map_or(f64::INFINITY, |cost| cost.amount);
        is_within(self.calls, spent.calls)
            && is_within(self.tokens, spent.usage.tokens())
            && self.cost.is_none_or(|limit| cost <= limit)
    }
}

/// An amount spent, or allowed.
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

/// The most that a call may come to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Most {
    /// As far as was learnt from what servers counted in such texts.
    pub(crate) learnt: Usage,
    /// For certain: no tokenizer takes more than one token for a byte.
    pub(crate) certain: Usage,
}

/// The amount spent, plus the maximum of calls in flight.
#[derive(Debug, Default)]
struct State {
    tally: Tally,
    /// Calls in flight, and their possible excess over the learned estimate.
    in_flight: usize,
    beyond: Tally,
}

/// Counts and prices calls, within a budget: a call is sent only if its maximum, the amount spent, and the maximum of
/// calls in flight fit together, so concurrent calls cannot exceed the budget. Texts that no server counted are assumed
/// to have one token per byte, the most possible; a call that fits only by a learned estimate is sent alone, so at most
/// one call can cost more. Use one meter for everything that shares a budget.
#[derive(Debug, Default)]
pub struct Meter {
    budget: Budget,
    prices: Prices,
    state: Mutex<State>,
    /// Notified whenever a call in flight ends.
    ended: Notify,
    bounds: Bounds,
}

impl Meter {
    /// Returns a meter on which nothing is spent yet.
    #[must_use]
    pub fn new(budget: Budget, prices: Prices) -> Self {
        Self { budget, prices, ..Self::default() }
    }

    /// Returns it with servers' earlier token counts from a file, to which new counts are added.
    #[must_use]
    pub fn remembering_in(self, path: &Path) -> Self {
        Self { bounds: Bounds::remembered_in(path), ..self }
    }

    /// Returns the most that a call to the model called `model` may come to that says texts, with so many tokens around
    /// them, and may be told so many.
    pub(crate) fn most(&self, model: &str, measured: &Measured, added: u64, output_tokens: u64) -> Most {
        let usage = |tokens: u64| Usage { input_tokens: tokens + added, output_tokens, is_estimated: true };
        let learnt = self.bounds.most(model, measured);
        Most { learnt: usage(learnt), certain: usage(learnt.max(measured.bytes)) }
    }

    /// Learns from how many tokens a server counted.
    pub(crate) fn learn(&self, model: &str, measured: &Measured, tokens: u64) {
        self.bounds.learn(model, measured, tokens);
    }

    /// Returns the budget.
    #[must_use]
    pub const fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Returns the cost of a call to the model called `model`, if its price is known.
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

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of(&self, model: &str, calls: u64, usage: Usage) -> Result<Tally, ChatError> {
        let cost = self.cost(model, usage).map(|cost| cost.amount);
        if cost.is_none() && self.budget.cost.is_some() {
            return Err(ChatError::NoPrice { model: model.to_owned() });
        }
        Ok(Tally { calls, tokens: usage.tokens(), cost: cost.unwrap_or_default() })
    }

    /// Reserves the maximum of a call to the model called `model`. If that is only an estimate from other texts, waits
    /// until no other call is in flight.
    ///
    /// # Errors
    ///
    /// [`ChatError::Budget`] if that does not fit, [`ChatError::NoPrice`] for a budget of money and a model without a
    /// price.
    pub(crate) async fn reserve(self: &Arc<Self>, model: &str, most: Most) -> Result<Reserved, ChatError> {
        let learnt = self.of(model, 1, most.learnt)?;
        let mut beyond = self.of(model, 1, most.certain)?;
        beyond.take_back(learnt);
        loop {
            let mut ended = std::pin::pin!(self.ended.notified());
            ended.as_mut().enable();
            if let Some(reserved) = self.try_reserve(model, learnt, beyond)? {
                return Ok(reserved);
            }
            ended.await;
        }
    }

    /// Reserves the maximum of a call; none if calls in flight have to end first.
    fn try_reserve(self: &Arc<Self>, model: &str, most: Tally, beyond: Tally) -> Result<Option<Reserved>, ChatError> {
        let mut state = self.state();
        self.check_room(&state.tally, &most)?;
        let mut certain = most;
        certain.add(beyond);
        certain.add(state.beyond);
        if state.in_flight > 0 && self.check_room(&state.tally, &certain).is_err() {
            return Ok(None);
        }
        state.tally.add(most);
        state.beyond.add(beyond);
        state.in_flight += 1;
        Ok(Some(Reserved { meter: Arc::clone(self), model: model.to_owned(), most, beyond, is_settled: false }))
    }

    /// Checks that so much more may be spent.
    fn check_room(&self, tally: &Tally, most: &Tally) -> Result<(), ChatError> {
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
        Ok(())
    }

    /// Reserves the expected cost of later calls, or the rest if that is less, until the value is dropped.
    pub(crate) fn set_aside(self: &Arc<Self>, model: &str, calls: u64, usage: Usage) -> SetAside {
        let wanted = self.of(model, calls, usage).unwrap_or_default();
        let tally = &mut self.state().tally;
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

/// A call in flight. If its end is not reported, its maximum counts as its cost.
pub(crate) struct Reserved {
    meter: Arc<Meter>,
    model: String,
    most: Tally,
    beyond: Tally,
    is_settled: bool,
}

impl Reserved {
    /// Counts the cost of a call. If the server does not report it, the maximum stays counted.
    pub(crate) fn settle(self, usage: Usage) -> Option<Cost> {
        let cost = self.meter.cost(&self.model, usage);
        if !usage.is_estimated {
            // A price that was known before is known now.
            let spent = self.meter.of(&self.model, 1, usage).unwrap_or_default();
            self.replace(spent);
        }
        cost
    }

    /// Counts a call without a reply: as nothing, or at its maximum.
    pub(crate) fn fail(self, error: &ChatError) {
        if !error.may_have_cost() {
            self.replace(Tally::default());
        }
    }

    fn replace(mut self, spent: Tally) {
        let tally = &mut self.meter.state().tally;
        tally.take_back(self.most);
        tally.add(spent);
        self.is_settled = true;
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if !self.is_settled {
            tracing::debug!(tokens = self.most.tokens, "a call that may have cost something is counted as if it had");
        }
        let mut state = self.meter.state();
        if !self.is_settled {
            state.tally.add(self.beyond);
        }
        state.beyond.take_back(self.beyond);
        state.in_flight -= 1;
        drop(state);
        self.meter.ended.notify_waiters();
    }
}

/// A reserved part of a budget, until it is dropped.
#[derive(Debug)]
pub struct SetAside {
    meter: Arc<Meter>,
    held: Tally,
}

impl Drop for SetAside {
    fn drop(&mut self) {
        self.meter.state().tally.take_back(self.held);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::super::Price;
    use super::*;

    fn usage(input_tokens: u64) -> Usage {
        Usage { input_tokens, ..Usage::default() }
    }

    /// Returns the result of a future that is ready at once.
    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    /// Reserves a call with an exact bound.
    fn reserve(meter: &Arc<Meter>, model: &str, tokens: u64) -> Result<Reserved, ChatError> {
        let most = Most { learnt: usage(tokens), certain: usage(tokens) };
        now(meter.reserve(model, most)).unwrap()
    }

    fn meter(budget: Budget) -> Arc<Meter> {
        let price = Price { input: 1e6, output: None };
        let prices = Prices { currency: "EUR".to_owned(), models: [("a".to_owned(), price)].into() };
        Arc::new(Meter::new(budget, prices))
    }

    #[test]
    fn all_that_share_a_meter_share_its_budget() {
        let meter = meter(Budget { tokens: Some(100), ..Budget::default() });
        let first = reserve(&meter, "a", 60).unwrap();
        assert!(matches!(reserve(&meter, "b", 50), Err(ChatError::Budget { .. })));
        assert!((first.settle(usage(10)).unwrap().amount - 10.0).abs() < 1e-9);
        reserve(&meter, "b", 90).unwrap().fail(&ChatError::Timeout { limit_ms: 1 });
        assert!(matches!(reserve(&meter, "a", 1), Err(ChatError::Budget { .. })));
    }

    #[test]
    fn reserved_budget_is_not_spent_by_others_nor_exceeded() {
        let budget = Budget { calls: Some(5), tokens: Some(100), cost: Some(50.0) };
        let meter = meter(budget);
        let aside = meter.set_aside("a", 2, usage(30));
        assert!(matches!(reserve(&meter, "a", 30), Err(ChatError::Budget { kind: BudgetKind::Cost, .. })));
        reserve(&meter, "a", 20).unwrap().settle(usage(20));
        drop(aside);
        reserve(&meter, "a", 30).unwrap().settle(usage(0));
        let all = meter.set_aside("a", 1_000, usage(1_000));
        assert_eq!(all.held, Tally { calls: 3, tokens: 80, cost: 30.0 });
        assert!(reserve(&meter, "a", 0).is_err());
        drop(all);
        assert_eq!(meter.state().tally, Tally { calls: 2, tokens: 20, cost: 20.0 });
    }

    #[test]
    fn a_call_whose_bound_was_only_learnt_waits_for_the_others_where_it_could_exceed_the_budget() {
        let meter = meter(Budget { tokens: Some(100), ..Budget::default() });
        let learnt = Most { learnt: usage(20), certain: usage(80) };
        let first = now(meter.reserve("a", learnt)).unwrap().unwrap();
        let mut second = Box::pin(meter.reserve("a", learnt));
        assert!(now(&mut second).is_none());
        assert!(reserve(&meter, "a", 81).is_err());
        // It cost more than earlier calls, so the waiting one does not fit any more.
        first.settle(usage(85));
        assert!(matches!(now(second), Some(Err(ChatError::Budget { .. }))));
        assert!(reserve(&meter, "a", 15).is_ok());
        // A dropped reservation is counted, and lets others continue.
        let state = meter.state();
        assert_eq!((state.in_flight, state.beyond, state.tally.tokens), (0, Tally::default(), 100));
    }

    #[test]
    fn a_budget_of_money_takes_no_call_whose_price_is_unknown() {
        let meter = meter(Budget { cost: Some(1.0), ..Budget::default() });
        assert!(matches!(reserve(&meter, "b", 0), Err(ChatError::NoPrice { .. })));
        assert!(meter.check("a").is_ok() && meter.check("b").is_err());
        assert_eq!(meter.state().tally, Tally::default());
    }
}
