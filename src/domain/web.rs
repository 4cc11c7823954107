//! What a search of the web returned: never a passage, and never quoted as a document.

use serde::{Deserialize, Serialize};

/// A result of a search of the web, as far as an answer may use it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebResult {
    /// Its number, from 1: `[w1]`.
    pub number: u32,
    /// What was searched for.
    pub asked: String,
    /// The title of the page, as the search engine gives it.
    pub title: String,
    /// The address of the page, with `http` or `https`.
    pub address: String,
    /// What the search engine quotes of the page; it may be empty.
    pub snippet: String,
}
