//! The result of a parser for one file, or for one document in it.

use serde::{Deserialize, Serialize};

use crate::domain::{Metadata, Positions};

/// A document, taken out of its format. Its text is kept as the document's text, so that every quotation and place is
/// one of it.
///
/// The text is Markdown in the respects that matter: headings are lines that begin with `#`, blank lines separate
/// paragraphs, rows of tables are lines, and code is fenced with three backticks. A
/// [`PAGE_END`](crate::domain::PAGE_END) separates two pages; one at the beginning of a line does not divide a
/// paragraph.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extracted {
    /// Its title, if it has one.
    pub title: Option<String>,
    /// Its text, whole.
    pub text: String,
    /// Its media type, such as `text/html`; empty for that of its format.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub media_type: String,
    /// Its other metadata.
    #[serde(default)]
    pub metadata: Metadata,
    /// How positions in the text map to the file.
    #[serde(default)]
    pub positions: Positions,
}

/// One of several documents of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The suffix to the name of the file: `#3`, `!a/b.html`; empty if it is the whole file.
    pub address: String,
    /// The document, or why there is none.
    pub content: Result<Extracted, String>,
}
