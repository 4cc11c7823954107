//! What a store offers to a query: one version of an index, read from wherever it lies.

mod replies;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::domain::{Counts, DocumentId, IndexVersion, Metadata, PassageId, Span};
use crate::error::Result;
use crate::graph::packed::PassageGraph;
pub use crate::graph::vectors::Vectors;
pub use replies::ReplyStore;

/// A field with its own statistics: how many texts there are and how long they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextField {
    /// A passage: its title twice, its text once.
    Passage,
    /// A sentence: its title once, itself once.
    Sentence,
}

/// What has a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VectorField {
    /// A passage.
    Passage,
    /// A sentence.
    Sentence,
    /// An in-coming question.
    Incoming,
}

/// What is shown of a passage.
#[derive(Debug, Clone, PartialEq)]
pub struct PassageText {
    /// Identity of the passage.
    pub passage: PassageId,
    /// Its bytes in the document's text.
    pub span: Span,
    /// The headings above it.
    pub section: Option<String>,
    /// Its text.
    pub text: String,
    /// Its sentences, as spans in `text`.
    pub sentences: Vec<Span>,
}

/// What is shown of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentText {
    /// Identity of the document.
    pub document: DocumentId,
    /// The id that its source gives it.
    pub source_id: String,
    /// Its title.
    pub title: Option<String>,
    /// Where it came from.
    pub uri: String,
    /// Its media type.
    pub media_type: String,
    /// What else its source says of it.
    pub metadata: Metadata,
}

/// One version of an index, immutable. Everything is named by ordinal, as in [`PassageGraph`].
pub trait GraphReader: Send + Sync {
    /// Returns the version.
    fn version(&self) -> IndexVersion;

    /// Returns how much it holds.
    fn counts(&self) -> Counts;

    /// Returns the name of the embedder that made the vectors.
    fn embedder(&self) -> &str;

    /// Returns the structure.
    fn graph(&self) -> PassageGraph<'_>;

    /// Returns the vectors of a field, one a passage, sentence or in-coming question, by ordinal.
    fn vectors(&self, field: VectorField) -> Vectors<'_>;

    /// Calls `visit` with the ordinal and the count of every text of `field` that has `term`, by ascending ordinal.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    fn postings(&self, field: TextField, term: &str, visit: &mut dyn FnMut(u32, u32)) -> Result<()>;

    /// Returns how many texts of `field` have `term`.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    fn frequency(&self, field: TextField, term: &str) -> Result<usize>;

    /// Makes ready what is shown of `passages`, all in one answer where a store has to ask for it. Called where waiting
    /// holds up no other task.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    fn prepare(&self, #[expect(unused_variables, reason = "named for the docs")] passages: &[u32]) -> Result<()> {
        Ok(())
    }

    /// Returns what is shown of a passage.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, or has to ask and the passage was not made ready.
    fn passage(&self, passage: u32) -> Result<PassageText>;

    /// Returns the identity of a passage.
    fn passage_id(&self, passage: u32) -> PassageId;

    /// Returns what is shown of a document.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    fn document(&self, document: u32) -> Result<DocumentText>;

    /// Returns the text of an in-coming question.
    fn incoming(&self, question: u32) -> &str;

    /// Returns the text of an out-coming question.
    fn outgoing(&self, question: u32) -> &str;
}

/// What a question needs of a store that has to be asked.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Its folded words, without stop words.
    pub words: &'a [String],
    /// Its vector; empty without an embedder.
    pub vector: &'a [f32],
    /// Its keywords, as the version numbers them.
    pub keywords: &'a [u32],
    /// Passages of documents that it names.
    pub named: &'a [u32],
    /// Which passages may be shown, by number; all where there is no filter.
    pub allowed: Option<&'a [bool]>,
}

impl Wanted<'_> {
    /// Returns whether a passage may be shown.
    #[must_use]
    pub fn admits(&self, passage: u32) -> bool {
        self.allowed.is_none_or(|allowed| allowed[passage as usize])
    }
}

/// A store to come.
pub type Excerpting<'a> = Pin<Box<dyn Future<Output = Result<Arc<dyn GraphReader>>> + Send + 'a>>;

/// A store that has to be asked: it holds the structure of a version, and brings for each question an excerpt with the
/// texts and vectors that the question needs.
pub trait GraphSource: Send + Sync {
    /// Returns the structure that was read last. Its passages have no text, its vectors are empty.
    fn reader(&self) -> Arc<dyn GraphReader>;

    /// Returns the structure of the version that is current now.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses what was read and nothing else.
    fn refresh(&self) -> Excerpting<'_>;

    /// Returns the part of `version` that a question needs.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, or holds another version by now.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses what was read and nothing else.
    fn excerpt<'a>(&'a self, version: IndexVersion, wanted: Wanted<'a>) -> Excerpting<'a>;
}
