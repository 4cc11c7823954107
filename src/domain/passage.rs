//! A passage: a contiguous piece of a document, the unit of retrieval.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

use super::{DocumentId, PassageId};

/// A half-open range of bytes in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Pod, Zeroable)]
#[repr(C)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the span as a range for slicing.
    #[must_use]
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns the part of `text` that it covers, or an empty text if its ends are not character boundaries inside
    /// `text`.
    #[must_use]
    pub fn of(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or_default()
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self { start: range.start as u32, end: range.end as u32 }
    }
}

/// A contiguous piece of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// Identity: of the document, the text, and the count among equal texts.
    pub id: PassageId,
    /// The document that it is part of.
    pub document: DocumentId,
    /// Its place in the document, from 0.
    pub ordinal: u32,
    /// Its bytes in the document's text.
    pub span: Span,
    /// The headings above it, outermost first, joined by ` › `.
    pub section: Option<String>,
    /// The page of its file on which it begins, if the file has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The line of its file on which it begins, if the file has lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column in that line, from 1, in characters (Unicode code points), if the text has the lines of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Its text.
    pub text: String,
    /// Its sentences, as spans in `text`, in order, without overlap.
    pub sentences: Vec<Span>,
}
