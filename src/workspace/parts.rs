//! Borrowed texts of a version to be written, from the records or from an earlier version.

use crate::domain::{
    Document, DocumentId, Keywords, Metadata, Passage, PassageId, PseudoQuery, QuestionId, QuestionOrigin, Span,
};

/// A document.
#[derive(Debug, Clone, Copy)]
pub struct DocumentPart<'a> {
    /// Its identity.
    pub id: DocumentId,
    /// The id that its source gives it.
    pub source_id: &'a str,
    /// Its title.
    pub title: Option<&'a str>,
    /// Its source.
    pub uri: &'a str,
    /// Its media type.
    pub media_type: &'a str,
    /// Other metadata from its source.
    pub metadata: MetadataPart<'a>,
}

/// The metadata of a document.
#[derive(Debug, Clone, Copy)]
pub enum MetadataPart<'a> {
    /// As the records have it.
    Read(&'a Metadata),
    /// As a version has it.
    Json(&'a str),
}

/// A passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassagePart<'a> {
    /// Its identity.
    pub id: PassageId,
    /// Its bytes in the document's text.
    pub span: Span,
    /// The headings above it.
    pub section: Option<&'a str>,
    /// The page on which it begins.
    pub page: Option<u32>,
    /// The line on which it begins.
    pub line: Option<u32>,
    /// The column in that line.
    pub column: Option<u32>,
    /// Its text.
    pub text: &'a str,
    /// Its sentences, as spans in `text`.
    pub sentences: &'a [Span],
}

/// A question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuestionPart<'a> {
    /// Its identity.
    pub id: QuestionId,
    /// Who wrote it.
    pub origin: QuestionOrigin,
    /// The question.
    pub text: &'a str,
    /// Its keywords, if it was read from the records.
    pub keywords: Option<&'a Keywords>,
    /// The sentence of the passage that it was made from.
    pub sentence: u32,
}

impl<'a> From<&'a Document> for DocumentPart<'a> {
    fn from(document: &'a Document) -> Self {
        let Document { id, source_id, title, uri, media_type, metadata, .. } = document;
        Self { id: *id, source_id, title: title.as_deref(), uri, media_type, metadata: MetadataPart::Read(metadata) }
    }
}

impl<'a> From<&'a Passage> for PassagePart<'a> {
    fn from(passage: &'a Passage) -> Self {
        let Passage { id, span, section, page, line, column, text, sentences, .. } = passage;
        let (id, span, section) = (*id, *span, section.as_deref());
        Self { id, span, section, page: *page, line: *line, column: *column, text, sentences }
    }
}

impl<'a> From<&'a PseudoQuery> for QuestionPart<'a> {
    fn from(question: &'a PseudoQuery) -> Self {
        let PseudoQuery { id, origin, text, keywords, sentence, .. } = question;
        Self { id: *id, origin: *origin, text, keywords: Some(keywords), sentence: *sentence }
    }
}

impl<'a> QuestionPart<'a> {
    /// Returns its keywords, as far as they are known.
    pub fn keywords(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.keywords.into_iter().flat_map(Keywords::iter)
    }
}
