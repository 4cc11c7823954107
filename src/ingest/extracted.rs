//! The result of a parser for one file, or for one document in it.

use serde::{Deserialize, Serialize};

use crate::domain::{Metadata, Positions};

/// A document, taken out of its format. Its text is kept as the document's text, so that every quotation and place is
/// one of it.
///
/// The text is Markdown as far as it matters: headings are lines that begin with `#`, blank lines part paragraphs, rows
/// of tables are lines, and code stands between lines of three backticks. A
/// [`PAGE_END`](crate::domain::PAGE_END) stands between two pages; one at the beginning of a line divides no paragraph.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extracted {
    /// What it is called, where it says so.
    pub title: Option<String>,
    /// Its text, whole.
    pub text: String,
    /// Its media type, such as `text/html`; empty for that of its format.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub media_type: String,
    /// What else it says of itself.
    #[serde(default)]
    pub metadata: Metadata,
    /// How places in the text are told in the file.
    #[serde(default)]
    pub positions: Positions,
}

/// One of several documents of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// What is added to the name of the file to name it: `#3`, `!a/b.html`; empty where it is all of the file.
    pub address: String,
    /// The document, or why there is none.
    pub content: Result<Extracted, String>,
}
