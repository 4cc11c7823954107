//! Answers with citations, and the passages that a search finds.

use serde::{Deserialize, Serialize};

use super::position::{column_behind, line_behind, location, page_behind};
use super::{DocumentId, IndexVersion, Ledger, Metadata, PassageId, Span, Spent, Step};

/// One passage found, with the path that led to it.
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
    /// The name of the document.
    pub name: String,
    /// The source of the document.
    pub uri: String,
    /// The headings above the passage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// The page of the document's file on which the passage begins, if the file has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The line of the document's file on which the passage begins, if the file has lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column in that line, from 1, in characters (Unicode code points), if the text has the lines of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The passage's bytes in the document.
    pub span: Span,
    /// The passage's text.
    pub text: String,
    /// The score, on the strategy's own scale. It orders this list only; scores of different lists cannot be compared,
    /// unless a calibration made them probabilities that the passage is needed.
    pub score: f32,
    /// The byte ranges of the text that contain words of the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<Span>,
    /// The lines of the text that match the question best, best first, three at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<MatchedLine>,
    /// Which words of the question the passage has.
    #[serde(default)]
    pub why: Why,
    /// Near-duplicates of the passage that were also found for the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near_equal: Vec<NearEqual>,
    /// The document's metadata.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
    /// The steps that led to it from an entry vertex, in order; empty if it is an entry vertex.
    pub path: Vec<Step>,
}

/// A line of a passage that has words of a question, and the place where the first of them stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchedLine {
    /// Its bytes in the passage's text.
    pub span: Span,
    /// The headings above it, as far as they are known: if not, those above the passage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// The page of the document's file, if the file has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The line of the document's file, if the file has lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column in that line, from 1, in characters (Unicode code points), if the text has the lines of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

/// Which words of a question a passage has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Why {
    /// Words of the question, as asked, that occur in some form in the passage or in the title of its document.
    pub words: Vec<String>,
    /// Words of the question that do not occur there.
    pub missing: Vec<String>,
    /// Whether the question names its document.
    pub is_named: bool,
}

/// A near-duplicate of a passage that is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearEqual {
    /// The passage.
    pub passage: PassageId,
    /// The id that the source gives its document.
    pub source_id: String,
    /// The source of its document.
    pub uri: String,
}

impl Hit {
    /// Quotes a part of its text; `part` is in bytes from the beginning of the passage.
    #[must_use]
    pub fn citation(&self, part: Span, score: f32) -> Citation {
        let (page, line, column) = self.place(part.start);
        Citation {
            document: self.name.clone(),
            source_id: self.source_id.clone(),
            uri: self.uri.clone(),
            passage: self.passage,
            section: self.section.clone(),
            page,
            line,
            column,
            span: Span { start: self.span.start + part.start, end: self.span.start + part.end },
            quote: part.of(&self.text).to_owned(),
            score,
        }
    }

    /// Returns a line of its text that stands below the headings `section`; its first match begins at byte `at`.
    #[must_use]
    pub(crate) fn matched_line(&self, span: Span, section: Option<String>, at: u32) -> MatchedLine {
        let (page, line, column) = self.place(at);
        MatchedLine { span, section, page, line, column }
    }

    /// Returns the page, the line and the column of a byte of its text.
    fn place(&self, at: u32) -> (Option<u32>, Option<u32>, Option<u32>) {
        let before = self.text.get(..at as usize).unwrap_or_default();
        (
            self.page.map(|page| page_behind(page, before)),
            self.line.map(|line| line_behind(line, before)),
            self.column.map(|column| column_behind(column, before)),
        )
    }

    /// Returns the place in a form that programs open: `book.pdf#page=3`, `notes.md:12`, or the file alone.
    #[must_use]
    pub fn location(&self) -> String {
        location(&self.uri, self.page, self.line)
    }

    /// Returns the place of the line that matches best, in the form of [`Hit::location`]; that of the passage if no
    /// line matches.
    #[must_use]
    pub fn matched_location(&self) -> String {
        let best = self.lines.first();
        location(&self.uri, best.map_or(self.page, |it| it.page), best.map_or(self.line, |it| it.line))
    }
}

/// The kind of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AnswerKind {
    /// Sentences of the collection, word for word.
    Extractive,
    /// Sentences of several topics of the collection, word for word, because the question is about the whole.
    Overview,
    /// Sentences that a language model wrote, each with citations.
    Written,
    /// Nothing in the index is relevant, or nothing that was found answers.
    Nothing,
}

/// A quotation that supports an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Citation {
    /// The name of the document.
    pub document: String,
    /// The id that the source gives the document.
    pub source_id: String,
    /// The source of the document.
    pub uri: String,
    /// The passage.
    pub passage: PassageId,
    /// The headings above the passage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// The page of the document's file on which the quotation begins, if the file has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The line of the document's file on which the quotation begins, if the file has lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column in that line, from 1, in characters (Unicode code points), if the text has the lines of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The quoted bytes in the document's text.
    pub span: Span,
    /// The quoted text, word for word.
    pub quote: String,
    /// The gain of the sentence over those chosen before it; only comparable within the answer.
    pub score: f32,
}

impl Citation {
    /// Returns the place in a form that programs open: `book.pdf#page=3`, `notes.md:12`, or the file alone.
    #[must_use]
    pub fn location(&self) -> String {
        location(&self.uri, self.page, self.line)
    }
}

/// A short answer that a named rule read from the quoted passages, without a model: a guess, to be checked against
/// them.
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
    /// Its citations, as indices into the answer's.
    pub citations: Vec<usize>,
    /// The web results that it cites, by their numbers in the ledger.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub web: Vec<u32>,
    /// Whether the passages that it cites support it. By rule, they contain its names, its numbers and most of its
    /// words; otherwise, a model judges ([`Writing::checked_by`]).
    pub is_supported: bool,
}

/// Who decides whether its citations support a sentence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CitationCheck {
    /// A rule, by words.
    #[default]
    Rule,
    /// A language model, in one more call.
    Model,
}

/// The part of a language model in an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Writing {
    /// The model that was asked.
    pub model: String,
    /// The short answer, if the model gave one whose names and numbers occur in its sentences or in the passages that
    /// they cite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short: Option<String>,
    /// The sentences that it wrote; empty if it abstained or gave nothing usable.
    pub sentences: Vec<WrittenSentence>,
    /// Who checked the citations.
    pub checked_by: CitationCheck,
    /// Why sentences are quoted instead of written, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
    /// The calls, tokens and money spent.
    pub spent: Spent,
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The question as it was asked.
    pub question: String,
    /// The kind of the answer.
    pub kind: AnswerKind,
    /// The answer: the best sentences, or a message if there is none.
    pub text: String,
    /// A short answer, if a rule found one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guess: Option<Guess>,
    /// The quotations: first those at the end of the longest paths, then the best.
    pub citations: Vec<Citation>,
    /// The part of a language model in it, if one was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writing: Option<Writing>,
    /// The passages that were found, best first.
    pub hits: Vec<Hit>,
    /// The strategy that found them.
    pub strategy: String,
    /// The version of the index that was read.
    pub version: IndexVersion,
    /// The record of the search: questions, entry vertices, steps and dropped passages.
    pub ledger: Ledger,
}
