//! Results of a web search: never passages, and never quoted as documents.

use serde::{Deserialize, Serialize};

/// The web searches for one question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebWork {
    /// The server that was asked.
    pub server: String,
    /// Requests for which it was asked, those that failed among them.
    pub searches: u32,
    /// Requests that failed.
    pub failed: u32,
}

/// A result of a web search, as far as an answer may use it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebResult {
    /// Its number, from 1: `[w1]`.
    pub number: u32,
    /// The query.
    pub asked: String,
    /// The title of the page, as the search engine gives it.
    pub title: String,
    /// The address of the page, with `http` or `https`.
    pub address: String,
    /// The search engine's excerpt of the page; it may be empty.
    pub snippet: String,
}
