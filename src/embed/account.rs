//! Accounts for the calls of an embedder behind a server: estimate, budget and total.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashSet;

use crate::domain::{ChatError, Spent, Usage};
use crate::llm::{Measured, Meter, Reserved, SetAside, tokens_estimate};
use crate::text::model_tokens;

/// Texts of a call at most.
pub(super) const TEXTS_MAX: usize = 64;
/// Tokens that a server may add to a text, before and behind it.
const TOKENS_PER_TEXT: u64 = 4;
/// Tokens of a call at most, as they are estimated; a text that has more goes alone.
pub(super) const TOKENS_MAX: u64 = 16_384;

/// The cost of an embedder's calls.
#[derive(Debug)]
pub struct Account {
    model: String,
    meter: Arc<Meter>,
    spent: Mutex<Spent>,
    /// The calls that the model needs first.
    opening: &'static [&'static str],
    /// Texts of a call at most.
    texts_max: usize,
}

/// The purpose of a call, which decides who pays for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Payer {
    /// A run that fills an index.
    Run,
    /// A question.
    Question,
}

impl Account {
    pub(super) fn new(model: String, meter: Arc<Meter>) -> Self {
        Self { model, meter, spent: Mutex::default(), opening: &[], texts_max: TEXTS_MAX }
    }

    /// Returns the account of a model whose server takes so many texts in a call.
    pub(super) fn of_texts(self, texts_max: usize) -> Self {
        Self { texts_max, ..self }
    }

    /// Returns the account of a model that is still to be asked this before anything else.
    pub(super) fn unopened(self, opening: &'static [&'static str]) -> Self {
        Self { opening, ..self }
    }

    /// Returns the name that the model has in a table of prices.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns whether there is a limit on spending.
    #[must_use]
    pub fn has_budget(&self) -> bool {
        self.meter.budget().is_limit()
    }

    /// Estimates the cost of the vectors of texts, requested together: equal texts are sent once, texts without words
    /// not at all.
    #[must_use]
    pub fn expected(&self, texts: &[&str]) -> Spent {
        let mut seen = FxHashSet::default();
        let sent: Vec<&str> = texts.iter().filter(|it| is_sent(it) && seen.insert(**it)).copied().collect();
        let input_tokens = sent.iter().map(|text| model_tokens(text)).sum();
        let usage = Usage { input_tokens, output_tokens: 0, is_estimated: true };
        let calls = batches(&sent, self.texts_max).len() as u64;
        Spent { calls, usage, cost: self.meter.cost(&self.model, usage), ..Spent::default() }
    }

    /// Estimates the cost of opening the embedder, if it is not open yet.
    #[must_use]
    pub fn expected_opening(&self) -> Spent {
        self.expected(self.opening)
    }

    /// Reserves a part of the budget for calls expected to cost about `expected`, until the value is dropped.
    #[must_use]
    pub fn set_aside(&self, expected: &Spent) -> SetAside {
        self.meter.set_aside(&self.model, expected.calls, expected.usage)
    }

    /// Returns the cost of opening the embedder and of [`embed_partly`](super::Embedder::embed_partly) since the last
    /// call of this function, without vectors of questions.
    #[must_use]
    pub fn take_spent(&self) -> Spent {
        std::mem::take(&mut *self.spent())
    }

    /// Learns from how many tokens the server counted in texts.
    pub(super) fn learn(&self, measured: &Measured, usage: Usage) {
        if !usage.is_estimated {
            self.meter.learn(&self.model, measured, usage.input_tokens);
        }
    }

    /// Returns a call for texts that fits into the budget.
    ///
    /// # Errors
    ///
    /// [`ChatError::Budget`] for one that does not, [`ChatError::NoPrice`] for a budget of money and a model without a
    /// price.
    pub(super) async fn reserve(&self, measured: &Measured, texts: usize) -> Result<Reserved, ChatError> {
        let added = TOKENS_PER_TEXT * texts as u64;
        self.meter.reserve(&self.model, self.meter.most(&self.model, measured, added, 0)).await
    }

    /// Counts the cost of a call, and returns it.
    pub(super) fn settle(&self, reserved: Reserved, usage: Usage, payer: Payer) -> Spent {
        let spent = Spent { calls: 1, usage, cost: reserved.settle(usage), ..Spent::default() };
        self.count(&spent, payer);
        spent
    }

    /// Counts a call that ended in a fault.
    pub(super) fn fail(&self, reserved: Reserved, fault: &ChatError, payer: Payer) {
        reserved.fail(fault);
        self.count(&Spent::on(fault), payer);
    }

    /// Counts the cost of a call by purpose, and against no budget.
    pub(super) fn count(&self, spent: &Spent, payer: Payer) {
        if payer == Payer::Run {
            self.spent().add(spent);
        }
    }

    fn spent(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a text is sent to a server: one without words has a vector of zeros.
pub(super) fn is_sent(text: &str) -> bool {
    !text.trim().is_empty()
}

/// Parts texts into batches, each of as many as a call may have.
pub(super) fn batches<'a, 'b>(texts: &'b [&'a str], texts_max: usize) -> Vec<&'b [&'a str]> {
    let mut batches = Vec::new();
    let mut rest = texts;
    while !rest.is_empty() {
        let mut tokens = 0;
        let fits = |text: &&&str| {
            tokens += tokens_estimate(text);
            tokens <= TOKENS_MAX
        };
        let (batch, after) = rest.split_at(rest.iter().take(texts_max.max(1)).take_while(fits).count().max(1));
        batches.push(batch);
        rest = after;
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::{Budget, Price, Prices};

    #[test]
    fn batches_are_bounded_by_texts_and_by_tokens_and_lose_none() {
        let long = "a".repeat(3 * TOKENS_MAX as usize / 2);
        let mut texts = vec!["a"; TEXTS_MAX + 1];
        texts.extend([long.as_str(); 3]);
        let sizes: Vec<usize> = batches(&texts, TEXTS_MAX).iter().map(|batch| batch.len()).collect();
        assert_eq!(sizes, [TEXTS_MAX, 2, 2]);
        let longer = long.repeat(3);
        assert_eq!(batches(&[longer.as_str(), "a"], TEXTS_MAX).len(), 2);
        assert!(batches(&[], TEXTS_MAX).is_empty());
    }

    #[test]
    fn estimates_count_and_price_distinct_texts_with_words() {
        let price = Price { input: 1e6, output: None };
        let prices = Prices { currency: "EUR".to_owned(), models: [("a".to_owned(), price)].into() };
        let account = |model: &str| {
            let meter = Meter::new(Budget::default(), prices.clone());
            Account::new(model.to_owned(), Arc::new(meter))
        };
        let expected = account("a").expected(&["a mill", "a mill", " \n", "a harbor"]);
        assert_eq!((expected.calls, expected.usage.input_tokens), (1, 4));
        assert_eq!(expected.cost.map(|cost| cost.amount), Some(4.0));
        let nothing = account("a").expected(&[]);
        assert_eq!((nothing.calls, nothing.cost.map(|cost| cost.amount)), (0, Some(0.0)));
        let many: Vec<String> = (0..130).map(|number| format!("number {number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!((account("b").expected(&many).calls, account("b").expected(&many).cost), (3, None));
    }

    #[tokio::test]
    async fn spending_is_reported_once_and_without_questions() {
        let account = Account::new("a".to_owned(), Arc::default());
        let usage = Usage { input_tokens: 7, ..Usage::default() };
        for payer in [Payer::Run, Payer::Question] {
            account.settle(account.reserve(&Measured::of(["nine bytes"]), 1).await.unwrap(), usage, payer);
        }
        assert_eq!(account.take_spent(), Spent { calls: 1, usage, ..Spent::default() });
        assert_eq!(account.take_spent(), Spent::default());
    }
}
