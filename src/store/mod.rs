//! The interface of a store to queries: one version of an index, wherever it is stored.

mod hierarchy_ids;
mod networks;
mod replies;
mod spelling;

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::domain::{Counts, DocumentId, IndexVersion, Metadata, PassageId, PathEnd, PathOptions, PathsFound, Span};
use crate::error::Result;
use crate::graph::descriptions::Descriptions;
use crate::graph::hierarchy::Hierarchy;
use crate::graph::ordinal::{
    DocumentOrdinal, IncomingOrdinal, Ordinal as _, OutgoingOrdinal, PassageOrdinal, SentenceOrdinal,
};
use crate::graph::packed::PassageGraph;
use crate::graph::resolution::Resolution;
pub use crate::graph::vectors::Vectors;
use crate::text::KeywordQuery;
pub use crate::text::terms;
pub(crate) use hierarchy_ids::{community_ids, id_of_community, summary_ids};
pub use networks::Networks;
pub use replies::ReplyStore;
pub(crate) use spelling::spelling;

/// A field with its own statistics: how many texts there are and how long they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextField {
    /// A passage: its title twice, its text once.
    Passage,
    /// A sentence: its title once, itself once.
    Sentence,
}

/// Elements with vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VectorField {
    /// A passage.
    Passage,
    /// A sentence.
    Sentence,
    /// An in-coming question.
    Incoming,
}

/// The texts shown of a passage.
#[derive(Debug, Clone, PartialEq)]
pub struct PassageText {
    /// Identity of the passage.
    pub passage: PassageId,
    /// Its bytes in the document's text.
    pub span: Span,
    /// The headings above it.
    pub section: Option<String>,
    /// The page of its document's file on which it begins, if that has pages.
    pub page: Option<u32>,
    /// The line of its document's file on which it begins, if that has lines.
    pub line: Option<u32>,
    /// The column in that line, where the text has the lines of the file.
    pub column: Option<u32>,
    /// Its text.
    pub text: String,
    /// Its sentences, as spans in `text`.
    pub sentences: Vec<Span>,
}

/// The texts shown of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DocumentText {
    /// Identity of the document.
    pub document: DocumentId,
    /// The id that its source gives it.
    pub source_id: String,
    /// Its title.
    pub title: Option<String>,
    /// Its source.
    pub uri: String,
    /// Its media type.
    pub media_type: String,
    /// Other metadata from its source.
    pub metadata: Metadata,
    /// The first document that it is a near-duplicate of, if any: the same for all of its duplicates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<DocumentId>,
}

impl DocumentText {
    /// Returns its name: its title, or else the id from its source.
    #[must_use]
    pub fn caption(&self) -> &str {
        self.title.as_deref().filter(|title| !title.is_empty()).unwrap_or(&self.source_id)
    }
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

    /// Returns the hierarchy over its entities, if at hand.
    fn hierarchy(&self) -> Option<Hierarchy<'_>> {
        None
    }

    /// Returns a model's descriptions of its entities and relations, if there are any at hand.
    fn descriptions(&self) -> Option<Descriptions<'_>> {
        None
    }

    /// Returns the entities of its names, if at hand; if not, each name is a separate entity.
    fn resolution(&self) -> Option<Resolution<'_>> {
        None
    }

    /// Returns where networks over the whole version are kept; none where each question makes its own.
    fn networks(&self) -> Option<&Networks> {
        None
    }

    /// Returns the vectors of a field, one a passage, sentence or in-coming question, by ordinal.
    ///
    /// # Errors
    ///
    /// If they are not what was written: a damaged vector is never compared.
    fn vectors(&self, field: VectorField) -> Result<Vectors<'_>>;

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

    /// Returns the mean number of terms of the texts of `field`, over all of the version.
    fn mean_length(&self, field: TextField) -> f32 {
        let graph = self.graph();
        mean(match field {
            TextField::Passage => graph.passage_length.items(),
            TextField::Sentence => graph.sentence_length.items(),
        })
    }

    /// Returns the passages whose texts and vectors are at hand, ascending; none where all of the version are. Nothing
    /// else is in the running.
    fn excerpt(&self) -> Option<Vec<PassageOrdinal>> {
        None
    }

    /// Returns how many passages of the version match what it was scanned for, where that is what made the excerpt: see
    /// [`Wanted::scan`].
    fn matching(&self) -> Option<usize> {
        None
    }

    /// Returns whether the structure is that of all of the version; an excerpt may have that of its own passages alone.
    fn is_all(&self) -> bool {
        true
    }

    /// Returns whether the texts of a passage are at hand.
    fn has(&self, #[expect(unused_variables, reason = "named for the docs")] passage: PassageOrdinal) -> bool {
        true
    }

    /// Returns an excerpt of the same version, with the same numbers, that also has the texts and vectors of these
    /// passages; none if it would be the same. Called where waiting blocks no other task.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, or holds another version by now.
    fn with(
        &self,
        #[expect(unused_variables, reason = "named for the docs")] passages: &[PassageOrdinal],
    ) -> Result<Option<Arc<dyn GraphReader>>> {
        Ok(None)
    }

    /// Fetches the texts of `passages`, in one reply if the store is a server. Called where waiting blocks no other
    /// task.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    fn prepare(
        &self,
        #[expect(unused_variables, reason = "named for the docs")] passages: &[PassageOrdinal],
    ) -> Result<()> {
        Ok(())
    }

    /// Returns the texts shown of a passage.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, or has to ask and the passage was not made ready.
    fn passage(&self, passage: PassageOrdinal) -> Result<PassageText>;

    /// Returns the identity of a passage.
    fn passage_id(&self, passage: PassageOrdinal) -> PassageId;

    /// Returns the texts shown of a document.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    fn document(&self, document: DocumentOrdinal) -> Result<DocumentText>;

    /// Returns the text of an in-coming question.
    fn incoming(&self, question: IncomingOrdinal) -> &str;

    /// Returns the text of an out-coming question.
    fn outgoing(&self, question: OutgoingOrdinal) -> &str;
}

/// Returns the identities of all passages of a version.
#[must_use]
pub fn passage_ids(reader: &dyn GraphReader) -> Vec<PassageId> {
    reader.graph().passages().map(|passage| reader.passage_id(passage)).collect()
}

/// Returns the documents of those passages that exist. Complexity: a pass over the ids of all passages.
///
/// # Errors
///
/// If the store cannot be read.
pub fn documents(reader: &dyn GraphReader, passages: &BTreeSet<PassageId>) -> Result<Vec<(PassageId, DocumentText)>> {
    let graph = reader.graph();
    let ordinals = graph.passages();
    let numbered = ordinals.map(|passage| (graph.passage_document[passage], reader.passage_id(passage)));
    let asked = numbered.filter(|(_, id)| passages.contains(id));
    asked.map(|(document, id)| Ok((id, reader.document(document)?))).collect()
}

/// Returns the passage of a sentence, and the sentence as a span in its text; no span if the passage has no such
/// sentence.
///
/// # Errors
///
/// If the store cannot be read.
pub(crate) fn sentence(
    reader: &dyn GraphReader,
    graph: &PassageGraph<'_>,
    sentence: SentenceOrdinal,
) -> Result<(PassageText, Option<Span>)> {
    let passage = graph.sentence_passage[sentence];
    let text = reader.passage(passage)?;
    let first = graph.passage_sentences.of(passage).range().start;
    let span = sentence.index().checked_sub(first).and_then(|number| text.sentences.get(number)).copied();
    Ok((text, span))
}

/// Returns the mean of counts; 0 of none.
pub(crate) fn mean(counts: &[u32]) -> f32 {
    counts.iter().map(|count| u64::from(*count)).sum::<u64>() as f32 / counts.len().max(1) as f32
}

/// The edges that a strategy walks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Follow {
    /// None: passages are only found by themselves.
    Nothing,
    /// Question edges.
    Questions,
    /// Names and shared entities, and question edges.
    Names,
}

/// Structures of the whole version that a strategy reads, besides the passages of an excerpt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OfAll {
    /// Nothing.
    Nothing,
    /// Which passages share names.
    Names,
    /// That, the hierarchy over the entities, and the entities of names.
    Levels,
}

/// The parts of a question that a structure recognizes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recognized {
    /// Its keywords, whether or not the structure has them.
    pub keywords: Vec<String>,
    /// Passages of documents that it names.
    pub named: Vec<PassageOrdinal>,
}

/// What the texts of all passages are searched for.
#[derive(Debug, Clone)]
pub struct Scan {
    /// The regular expression.
    pub regex: Regex,
    /// What every text that it matches has word for word; empty where that is not known.
    pub literal: String,
}

/// What a question needs from a store that is queried.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Its folded words, without stop words.
    pub words: &'a [String],
    /// The keywords by which it enters passages, instead of its words.
    pub keywords: Option<&'a KeywordQuery>,
    /// Its vector; empty without an embedder.
    pub vector: &'a [f32],
    /// Every text in it that may be a folded name.
    pub names: &'a [String],
    /// Reads it against a structure that has the documents of these names.
    pub recognize: &'a (dyn Fn(PassageGraph<'_>) -> Recognized + Sync),
    /// Whether a document may be shown; none where all may.
    pub filter: Option<&'a (dyn Fn(&DocumentText) -> bool + Sync)>,
    /// Whether it enters by question edges too.
    pub by_edges: bool,
    /// The edges along which it is followed. Without question edges here or above, no in-coming question is compared,
    /// and none has a vector.
    pub follow: Follow,
    /// Structures read of the whole version.
    pub of_all: OfAll,
    /// What all texts are searched for. The excerpt then is the passages with most matches, as many as are asked for.
    pub scan: Option<&'a Scan>,
    /// Number of passages requested.
    pub top_k: usize,
}

/// The reply of a store.
pub type Asking<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// A store to come.
pub type Excerpting<'a> = Asking<'a, Arc<dyn GraphReader>>;

/// A store that has to be asked: it brings for each question an excerpt with the texts, vectors and structure that the
/// question needs.
pub trait GraphSource: Send + Sync {
    /// Returns the version that was read last: its numbers, and its structure if it is kept. Its passages have no text,
    /// its vectors are empty.
    fn reader(&self) -> Arc<dyn GraphReader>;

    /// Returns the current version, without texts.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future only loses the query.
    fn refresh(&self) -> Excerpting<'_>;

    /// Returns the current version, without texts, with the hierarchy over its entities and the entities of names, if
    /// it has them.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, or walks the structure itself.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing that was read.
    fn with_levels(&self) -> Excerpting<'_>;

    /// Returns whether the version that was read last has communities that strategies can read.
    fn has_communities(&self) -> bool;

    /// Returns the part of `version` that a question needs.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, or holds another version by now.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future only loses the query.
    fn excerpt<'a>(&'a self, version: IndexVersion, wanted: Wanted<'a>) -> Excerpting<'a>;

    /// Returns the shortest paths between two nodes, if the store itself finds them; none if the caller must use its
    /// structure.
    fn paths<'a>(
        &'a self,
        #[expect(unused_variables, reason = "named for the docs")] ends: [&'a PathEnd; 2],
        #[expect(unused_variables, reason = "named for the docs")] options: PathOptions,
    ) -> Option<Asking<'a, PathsFound>> {
        None
    }

    /// Returns the identities of all passages.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future only loses the query.
    fn passages(&self) -> Asking<'_, Vec<PassageId>>;

    /// Returns the documents of those passages that exist.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future only loses the query.
    fn documents<'a>(&'a self, passages: &'a BTreeSet<PassageId>) -> Asking<'a, Vec<(PassageId, DocumentText)>>;
}
