//! What can go wrong between this program and a language model, and what a call costs.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::embedding::EmbeddingError;

/// The unit of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetKind {
    /// Calls.
    Calls,
    /// Tokens, read and written.
    Tokens,
    /// Money.
    Cost,
}

impl fmt::Display for BudgetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Calls => "calls",
            Self::Tokens => "tokens",
            Self::Cost => "money",
        })
    }
}

/// Why a language model gave nothing usable. No variant holds a prompt or a key; one holds the beginning of a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChatError {
    /// The address, a header or the key has a form that cannot be sent.
    #[error("{reason}")]
    Address {
        /// Its fault.
        reason: String,
    },
    /// The server rejects the key (401, 403).
    #[error("the server refuses the key (status {status}): {message}")]
    Key {
        /// The status.
        status: u16,
        /// The server's message.
        #[serde(rename = "said")]
        message: String,
    },
    /// The server rejects the request (another 4xx, or 501): for example, there is no such model, or the request is too
    /// long.
    #[error("the server refuses the request (status {status}): {message}")]
    Request {
        /// The status.
        status: u16,
        /// The server's message.
        #[serde(rename = "said")]
        message: String,
    },
    /// Too many requests (429).
    #[error("the server accepts no more requests for now (status 429): {message}")]
    RateLimited {
        /// How long to wait, as the server says, in milliseconds.
        retry_after_ms: Option<u64>,
        /// The server's message.
        #[serde(rename = "said")]
        message: String,
    },
    /// The server has a fault (5xx except 501).
    #[error("the server has a fault (status {status}): {message}")]
    Server {
        /// The status.
        status: u16,
        /// How long to wait, as the server says, in milliseconds.
        retry_after_ms: Option<u64>,
        /// The server's message.
        #[serde(rename = "said")]
        message: String,
    },
    /// No connection can be made.
    #[error("it cannot be reached: {reason}")]
    Unreachable {
        /// Why not.
        reason: String,
    },
    /// The connection broke after the request was sent: the reply may have been paid for.
    #[error("the connection broke before the reply was complete: {reason}")]
    Interrupted {
        /// What broke.
        reason: String,
    },
    /// No complete reply within the time for a call: it may have been paid for.
    #[error("no complete reply within {limit_ms} ms")]
    Timeout {
        /// The time for a call.
        limit_ms: u64,
    },
    /// The reply has too many bytes.
    #[error("the reply has more than {bytes_max} bytes")]
    TooLarge {
        /// The limit.
        bytes_max: usize,
    },
    /// The reply is not that of a model, or does not have the requested form.
    #[error("the reply cannot be read: {reason}")]
    Malformed {
        /// Its fault.
        reason: String,
    },
    /// The reply does not hold usable vectors of the texts.
    #[error("its vectors cannot be used: {fault}")]
    Vectors {
        /// Their fault.
        fault: EmbeddingError,
    },
    /// The model declines the request.
    #[error("the model declines: {message}")]
    Refused {
        /// Its message.
        #[serde(rename = "said")]
        message: String,
    },
    /// The reply ends at the limit of tokens.
    #[error("the reply was cut at its limit of {tokens_max} tokens, not counting room to think")]
    Truncated {
        /// The limit of the visible reply.
        tokens_max: u32,
    },
    /// The call does not fit into the budget.
    #[error("the budget allows {limit} {kind}; {spent} are spent or set aside, and this call may take {wanted} more")]
    Budget {
        /// The unit.
        kind: BudgetKind,
        /// The budget.
        limit: String,
        /// The amount spent, including the maximum of calls in progress and the reserve for vectors.
        spent: String,
        /// The maximum of the call.
        wanted: String,
    },
    /// The budget is in money, but the model has no price.
    #[error("the price of `{model}` is unknown, so a budget in money cannot be kept")]
    NoPrice {
        /// The model.
        model: String,
    },
    /// None of the last replies was usable, so the model is not called any more.
    #[error("the model gave no usable reply, {replies} times in a row; the last: {last}")]
    Useless {
        /// Replies in a row.
        replies: u32,
        /// The fault of the last reply, and its beginning.
        last: String,
    },
    /// The model failed repeatedly, and is not called for a while.
    #[error("it failed {failures} times in a row and is not called for {wait_ms} ms; the last fault: {last}")]
    CircuitOpen {
        /// Failures in a row.
        failures: u32,
        /// Milliseconds until the next attempt.
        wait_ms: u64,
        /// The last failure.
        last: String,
    },
    /// A recording does not have the reply.
    #[error("call {number} (for `{purpose}`, key {key}) is not in the recording")]
    NotRecorded {
        /// The call, from 1, in the order in which they were made.
        number: u64,
        /// Its purpose.
        purpose: String,
        /// Its key.
        key: String,
    },
    /// A recording does not have a reranker's score of a text.
    #[error("the score of text {number} (`{beginning}`) is not in the recording")]
    ScoreNotRecorded {
        /// The text, from 1, in the order requested.
        number: u64,
        /// How it begins, in one line.
        beginning: String,
    },
    /// A recording does not have a web search.
    #[error("web search {number} (`{beginning}`) is not in the recording")]
    SearchNotRecorded {
        /// The search, from 1, in the order in which they were made.
        number: u64,
        /// How its query begins, in one line.
        beginning: String,
    },
    /// A recording does not have the vector of a text.
    #[error("the vector of text {number} (`{beginning}`) is not in the recording")]
    VectorNotRecorded {
        /// The text, from 1, in the order requested.
        number: u64,
        /// How it begins, in one line.
        beginning: String,
    },
    /// Kept replies, or a recording, cannot be read.
    #[error("cannot {action} replies: {reason}")]
    Store {
        /// The action that failed.
        action: String,
        /// Why not.
        reason: String,
    },
}

impl ChatError {
    /// Returns the same fault with `change` applied to its texts.
    #[must_use]
    pub(crate) fn with_texts(mut self, change: impl Fn(String) -> String) -> Self {
        for text in self.texts() {
            *text = change(std::mem::take(text));
        }
        self
    }

    /// Returns the texts that a server, or something else, put into it.
    fn texts(&mut self) -> Vec<&mut String> {
        match self {
            Self::Address { reason }
            | Self::Unreachable { reason }
            | Self::Interrupted { reason }
            | Self::Malformed { reason } => vec![reason],
            Self::Key { message, .. }
            | Self::Request { message, .. }
            | Self::RateLimited { message, .. }
            | Self::Server { message, .. }
            | Self::Refused { message } => vec![message],
            Self::Store { action, reason } => vec![action, reason],
            Self::CircuitOpen { last, .. } | Self::Useless { last, .. } => vec![last],
            Self::NoPrice { model } => vec![model],
            Self::Budget { limit, spent, wanted, .. } => vec![limit, spent, wanted],
            Self::NotRecorded { purpose, key, .. } => vec![purpose, key],
            Self::VectorNotRecorded { beginning, .. }
            | Self::ScoreNotRecorded { beginning, .. }
            | Self::SearchNotRecorded { beginning, .. } => vec![beginning],
            Self::Timeout { .. } | Self::TooLarge { .. } | Self::Vectors { .. } | Self::Truncated { .. } => Vec::new(),
        }
    }

    /// Returns whether the same call may succeed later and certainly cost nothing now. Other calls are not retried, so
    /// that nothing is paid for twice.
    #[must_use]
    pub const fn is_free_to_retry(&self) -> bool {
        match self {
            Self::Server { status, .. } => !is_of_gateway(*status),
            Self::RateLimited { .. } | Self::Unreachable { .. } => true,
            _ => false,
        }
    }

    /// Returns whether the server may charge for the call all the same.
    #[must_use]
    pub const fn may_have_cost(&self) -> bool {
        match self {
            Self::Server { status, .. } => is_of_gateway(*status),
            Self::Interrupted { .. }
            | Self::Timeout { .. }
            | Self::TooLarge { .. }
            | Self::Malformed { .. }
            | Self::Vectors { .. } => true,
            _ => false,
        }
    }

    /// Returns whether the server may be overloaded, so that fewer concurrent calls would help.
    #[must_use]
    pub const fn is_overload(&self) -> bool {
        matches!(self, Self::RateLimited { .. } | Self::Timeout { .. } | Self::Server { status: 503, .. })
    }

    /// Returns whether the fault lies with the server rather than with the call: such faults in a row open a circuit.
    #[must_use]
    pub const fn is_of_server(&self) -> bool {
        self.is_free_to_retry() || self.may_have_cost()
    }

    /// Returns whether a person has to change something before the call can succeed.
    #[must_use]
    pub const fn needs_correction(&self) -> bool {
        matches!(
            self,
            Self::Address { .. }
                | Self::Key { .. }
                | Self::Request { .. }
                | Self::NoPrice { .. }
                | Self::NotRecorded { .. }
                | Self::VectorNotRecorded { .. }
                | Self::ScoreNotRecorded { .. }
                | Self::SearchNotRecorded { .. }
                | Self::Store { .. }
        )
    }

    /// Returns whether the server rejects only this request, for example because it is too long, and may accept others.
    #[must_use]
    pub const fn is_of_request(&self) -> bool {
        matches!(self, Self::Request { status: 400 | 413 | 422, .. })
    }

    /// Returns how long the server asks to wait.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after_ms: Some(ms), .. } | Self::Server { retry_after_ms: Some(ms), .. } => {
                Some(Duration::from_millis(*ms))
            }
            _ => None,
        }
    }

    /// Returns the name of its kind, for logs.
    #[must_use]
    pub const fn kind_name(&self) -> &'static str {
        match self {
            Self::Address { .. } => "address",
            Self::Key { .. } => "key",
            Self::Request { .. } => "request",
            Self::RateLimited { .. } => "rate_limited",
            Self::Server { .. } => "server",
            Self::Unreachable { .. } => "unreachable",
            Self::Interrupted { .. } => "interrupted",
            Self::Timeout { .. } => "timeout",
            Self::TooLarge { .. } => "too_large",
            Self::Malformed { .. } => "malformed",
            Self::Vectors { .. } => "vectors",
            Self::Refused { .. } => "refused",
            Self::Truncated { .. } => "truncated",
            Self::Budget { .. } => "budget",
            Self::NoPrice { .. } => "no_price",
            Self::CircuitOpen { .. } => "circuit_open",
            Self::Useless { .. } => "useless",
            Self::NotRecorded { .. } => "not_recorded",
            Self::VectorNotRecorded { .. } => "vector_not_recorded",
            Self::ScoreNotRecorded { .. } => "score_not_recorded",
            Self::SearchNotRecorded { .. } => "search_not_recorded",
            Self::Store { .. } => "store",
        }
    }
}

/// Returns whether a status says that a gateway gave up on the server behind it, which may have done the work: 502 and
/// 504, and what content delivery networks have for the same (520 to 527, 598, 599).
const fn is_of_gateway(status: u16) -> bool {
    matches!(status, 502 | 504 | 520..=527 | 598 | 599)
}

/// Tokens that a call read and wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub input_tokens: u64,
    /// Tokens of the reply.
    pub output_tokens: u64,
    /// Whether they were estimated here, because the server did not report them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_estimated: bool,
}

impl Usage {
    /// Returns the tokens read and written in total.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// An amount of money.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// How much.
    pub amount: f64,
    /// The currency, as in the price table.
    pub currency: String,
}

/// What calls to a model cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Calls that were answered by the server.
    pub calls: u64,
    /// Calls that were answered from kept replies, at no cost.
    pub cached: u64,
    /// Calls that ended without a reply after they were sent, cut off or timed out; their cost is unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: u64,
    /// The tokens of the calls that the server answered.
    pub usage: Usage,
    /// Their cost; none if a price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl fmt::Display for Spent {
    /// Says it in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = if self.cached > 0 { format!(", {} from kept replies", self.cached) } else { String::new() };
        let lost = match self.lost {
            0 => String::new(),
            1 => ", 1 call without a reply that may have cost something".to_owned(),
            lost => format!(", {lost} calls without a reply that may have cost something"),
        };
        if self.calls == 0 {
            return write!(f, "0 calls{kept}{lost}");
        }
        let Usage { input_tokens, output_tokens, is_estimated } = self.usage;
        let about = if is_estimated { "about " } else { "" };
        let calls = if self.calls == 1 { "call" } else { "calls" };
        write!(f, "{} {calls}{kept}{lost}, {about}{input_tokens} tokens read, {output_tokens} written, ", self.calls)?;
        match &self.cost {
            Some(cost) => write!(f, "{:.6} {}", cost.amount, cost.currency),
            None => f.write_str("price unknown"),
        }
    }
}

impl Spent {
    /// Returns the cost of a call that ended in a fault.
    #[must_use]
    pub fn on(fault: &ChatError) -> Self {
        Self { lost: u64::from(fault.may_have_cost()), ..Self::default() }
    }

    /// Adds the cost of other calls. One unknown price makes the sum unknown.
    pub fn add(&mut self, other: &Self) {
        self.cost = match (self.cost.take(), &other.cost) {
            (own, _) if other.calls == 0 => own,
            (None, cost) if self.calls == 0 => cost.clone(),
            (Some(own), Some(cost)) if own.currency == cost.currency => {
                Some(Cost { amount: own.amount + cost.amount, ..own })
            }
            _ => None,
        };
        self.calls += other.calls;
        self.cached += other.cached;
        self.lost += other.lost;
        self.usage = Usage {
            input_tokens: self.usage.input_tokens.saturating_add(other.usage.input_tokens),
            output_tokens: self.usage.output_tokens.saturating_add(other.usage.output_tokens),
            is_estimated: self.usage.is_estimated || other.usage.is_estimated,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_may_have_been_paid_for_is_never_repeated() {
        let reason = || "x".to_owned();
        let server = |status| ChatError::Server { status, retry_after_ms: None, message: reason() };
        for error in [
            server(502),
            server(504),
            server(524),
            ChatError::Interrupted { reason: reason() },
            ChatError::Timeout { limit_ms: 1 },
            ChatError::TooLarge { bytes_max: 1 },
            ChatError::Malformed { reason: reason() },
        ] {
            assert!(error.may_have_cost() && !error.is_free_to_retry(), "{error}");
        }
        let limited = ChatError::RateLimited { retry_after_ms: Some(1500), message: reason() };
        for free in [&limited, &server(500), &server(503), &server(529)] {
            assert!(free.is_free_to_retry() && !free.may_have_cost());
        }
        assert_eq!(limited.retry_after(), Some(Duration::from_millis(1500)));
        assert!(ChatError::Key { status: 401, message: reason() }.needs_correction());
    }
}
