//! Answers with citations, and the passages that a search finds.

use serde::{Deserialize, Serialize};

use super::{DocumentId, IndexVersion, Ledger, Metadata, PassageId, Span, Step};

/// One passage found, with the way that led to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// Place in the list, from 1.
    pub rank: u32,
    /// The passage.
    pub passage: PassageId,
    /// Its document.
    pub document: DocumentId,
    /// The id that the source gives the document.
    pub source_id: String,
    /// What the document is called.
    pub name: String,
    /// Where the document came from.
    pub uri: String,
    /// The headings above the passage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// The passage's bytes in the document.
    pub span: Span,
    /// The passage's text.
    pub text: String,
    /// The score, on the strategy's own scale; it orders the list and means nothing beside it.
    pub score: f32,
    /// The document's metadata.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
    /// The steps that led to it from an entry vertex, first step first; empty where it is one.
    pub path: Vec<Step>,
}

/// Where an answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AnswerKind {
    /// Sentences of the collection, word for word.
    Extractive,
    /// Nothing in the index is relevant.
    Nothing,
}

/// A quotation that supports an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Citation {
    /// What the document is called.
    pub document: String,
    /// The id that the source gives the document.
    pub source_id: String,
    /// Where the document came from.
    pub uri: String,
    /// The passage.
    pub passage: PassageId,
    /// The quoted bytes in the document's text.
    pub span: Span,
    /// The quoted text, word for word.
    pub quote: String,
    /// What the sentence adds to those chosen before it; it means nothing beside them.
    pub score: f32,
}

/// A short answer that a named rule read off the quoted passages, without a model: a guess, to be checked against them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guess {
    /// The short answer.
    pub text: String,
    /// The rule that guessed it.
    pub rule: String,
}

/// What a question gets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The question as it was asked.
    pub question: String,
    /// Where the answer comes from.
    pub kind: AnswerKind,
    /// The answer: the best sentences, or what is said when there is nothing.
    pub text: String,
    /// A short answer, where a rule has one to offer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guess: Option<Guess>,
    /// The quotations behind it: those that most steps led to first, then the best.
    pub citations: Vec<Citation>,
    /// The passages that were found, best first.
    pub hits: Vec<Hit>,
    /// The strategy that found them.
    pub strategy: String,
    /// The version of the index that was read.
    pub version: IndexVersion,
    /// What was asked, entered, walked and dropped.
    pub ledger: Ledger,
}
