//! A document: one input file or record, whole.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{DocumentId, Positions};

/// What a source says about a document besides its text; filters compare it.
pub type Metadata = BTreeMap<String, String>;

/// One input file or record, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Identity, derived from `source_id`.
    pub id: DocumentId,
    /// The id that the source gives it: the `id` of a record, the relative path of a file.
    pub source_id: String,
    /// Its title, if the source has one. It counts as a name of the document.
    pub title: Option<String>,
    /// Its source, for people: a relative path, with `#id` for a record in a file.
    pub uri: String,
    /// Its media type, such as `text/markdown`.
    pub media_type: String,
    /// The text, whole.
    pub text: String,
    /// How places in the text map to its file.
    #[serde(default, skip_serializing_if = "Positions::is_none")]
    pub positions: Positions,
    /// The remaining fields of the source.
    pub metadata: Metadata,
}

/// A document removed from an index by hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedDocument {
    /// Its identity.
    pub id: DocumentId,
    /// The id that the source gives it.
    pub source_id: String,
    /// Its source, for people.
    pub uri: String,
}

impl Document {
    /// Returns a document of plain text under the id that its source gives it.
    #[must_use]
    pub fn new(source_id: impl Into<String>, title: Option<String>, text: impl Into<String>) -> Self {
        let source_id = source_id.into();
        Self {
            id: DocumentId::of(&[source_id.as_bytes()]),
            uri: source_id.clone(),
            source_id,
            title,
            media_type: "text/plain".to_owned(),
            text: text.into(),
            positions: Positions::None,
            metadata: Metadata::new(),
        }
    }

    /// Returns the title, or else the name that the source gives it.
    #[must_use]
    pub fn name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.source_id)
    }
}
