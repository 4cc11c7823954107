//! Answers with citations, and the passages that a search finds.

use serde::{Deserialize, Serialize};

use super::position::{line_behind, location, page_behind};
use super::{DocumentId, IndexVersion, Ledger, Metadata, PassageId, Span, Spent, Step};

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
    /// The page of the document's file on which the passage begins, where that has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The line of the document's file on which the passage begins, where that has lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The passage's bytes in the document.
    pub span: Span,
    /// The passage's text.
    pub text: String,
    /// The score, on the strategy's own scale; it orders the list and means nothing beside it.
    pub score: f32,
    /// Where words of the question stand in the text, as bytes in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<Span>,
    /// What of the question it has.
    #[serde(default)]
    pub why: Why,
    /// Passages that are nearly equal to it, and were found for the question too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near_equal: Vec<NearEqual>,
    /// The document's metadata.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
    /// The steps that led to it from an entry vertex, first step first; empty where it is one.
    pub path: Vec<Step>,
}

/// What of a question a passage has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Why {
    /// Words of the question that stand in it or in the title of its document, as they were asked, in some form.
    pub words: Vec<String>,
    /// Words of the question that do not.
    pub missing: Vec<String>,
    /// Whether the question names its document.
    pub is_named: bool,
}

/// A passage that is nearly equal to one that is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearEqual {
    /// The passage.
    pub passage: PassageId,
    /// The id that the source gives its document.
    pub source_id: String,
    /// Where its document came from.
    pub uri: String,
}

impl Hit {
    /// Quotes a part of its text; `part` is in bytes from the beginning of the passage.
    #[must_use]
    pub fn citation(&self, part: Span, score: f32) -> Citation {
        let before = self.text.get(..part.start as usize).unwrap_or_default();
        Citation {
            document: self.name.clone(),
            source_id: self.source_id.clone(),
            uri: self.uri.clone(),
            passage: self.passage,
            section: self.section.clone(),
            page: self.page.map(|page| page_behind(page, before)),
            line: self.line.map(|line| line_behind(line, before)),
            span: Span { start: self.span.start + part.start, end: self.span.start + part.end },
            quote: part.of(&self.text).to_owned(),
            score,
        }
    }

    /// Returns where to turn to: `book.pdf#page=3`, `notes.md:12`, or the file alone.
    #[must_use]
    pub fn location(&self) -> String {
        location(&self.uri, self.page, self.line)
    }
}

/// Where an answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AnswerKind {
    /// Sentences of the collection, word for word.
    Extractive,
    /// Sentences that a language model wrote, each with what it cites.
    Written,
    /// Nothing in the index is relevant, or nothing that was found answers.
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
    /// The headings above the passage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// The page of the document's file on which the quotation begins, where that has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The line of the document's file on which the quotation begins, where that has lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The quoted bytes in the document's text.
    pub span: Span,
    /// The quoted text, word for word.
    pub quote: String,
    /// What the sentence adds to those chosen before it; it means nothing beside them.
    pub score: f32,
}

impl Citation {
    /// Returns where to turn to: `book.pdf#page=3`, `notes.md:12`, or the file alone.
    #[must_use]
    pub fn location(&self) -> String {
        location(&self.uri, self.page, self.line)
    }
}

/// A short answer that a named rule read off the quoted passages, without a model: a guess, to be checked against them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guess {
    /// The short answer.
    pub text: String,
    /// The rule that guessed it.
    pub rule: String,
}

/// A sentence that a language model wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenSentence {
    /// The sentence.
    pub text: String,
    /// What it cites: places in the answer's citations, from 0.
    pub citations: Vec<usize>,
    /// Whether the passages that it cites bear it out: by rule, its names, its numbers and most of its words are there;
    /// or as a model judges ([`Writing::checked_by`]).
    pub is_supported: bool,
}

/// Who says whether a sentence is borne out by what it cites.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CitationCheck {
    /// A rule, by words.
    #[default]
    Rule,
    /// A language model, by one call more.
    Model,
}

/// What a language model had to do with an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Writing {
    /// The model that was asked.
    pub model: String,
    /// The answer alone, in a few words, where it gave one whose names and numbers are in its sentences or in what
    /// they cite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short: Option<String>,
    /// What it wrote; nothing where it abstained or gave nothing that could be used.
    pub sentences: Vec<WrittenSentence>,
    /// Who checked what they cite.
    pub checked_by: CitationCheck,
    /// Why sentences are quoted instead of written, where that is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
    /// What it came to.
    pub spent: Spent,
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
    /// What a language model had to do with it, where one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writing: Option<Writing>,
    /// The passages that were found, best first.
    pub hits: Vec<Hit>,
    /// The strategy that found them.
    pub strategy: String,
    /// The version of the index that was read.
    pub version: IndexVersion,
    /// What was asked, entered, walked and dropped.
    pub ledger: Ledger,
}
