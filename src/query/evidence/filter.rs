//! Metadata filters: documents that may be shown, and through which a walk may go.

use crate::domain::Metadata;
use crate::error::{Error, Result};
use crate::graph::ordinal::{DocumentOrdinal, Ordinal as _};
use crate::store::{DocumentText, GraphReader};

/// A condition on a document: a field of its metadata, or `id`, `uri`, `title`, `type`, has this value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// The field.
    pub key: String,
    /// Its value.
    pub value: String,
}

impl Filter {
    /// Reads `KEY=VALUE`.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] if there is no `=`, or nothing before it.
    pub fn parse(text: &str) -> Result<Self> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                Ok(Self { key: key.trim().to_owned(), value: value.trim().to_owned() })
            }
            _ => Err(Error::Option {
                option: "filter",
                value: text.to_owned(),
                reason: "it has the form KEY=VALUE".to_owned(),
            }),
        }
    }

    pub(in crate::query) fn admits(&self, document: &DocumentText) -> bool {
        let known = match self.key.as_str() {
            "id" => Some(document.source_id.as_str()),
            "uri" => Some(document.uri.as_str()),
            "title" => document.title.as_deref(),
            "type" => Some(document.media_type.as_str()),
            _ => None,
        };
        let metadata: &Metadata = &document.metadata;
        metadata.get(&self.key).map(String::as_str).or(known) == Some(self.value.as_str())
    }
}

/// Returns which passages are in the running: those at hand of documents that meet every filter; `None` where all are.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn allowed(reader: &dyn GraphReader, filters: &[Filter]) -> Result<Option<Vec<bool>>> {
    let graph = reader.graph();
    let at_hand = reader.excerpt().map(|passages| {
        let mut at_hand = vec![false; graph.passage_count()];
        for passage in passages {
            at_hand[passage.index()] = true;
        }
        at_hand
    });
    if filters.is_empty() {
        return Ok(at_hand);
    }
    let admitted = |document: DocumentOrdinal| {
        let document = reader.document(document)?;
        Ok::<bool, Error>(filters.iter().all(|filter| filter.admits(&document)))
    };
    let mut documents: Vec<Option<bool>> = vec![None; graph.document_count()];
    let mut allowed = at_hand.unwrap_or_else(|| vec![true; graph.passage_count()]);
    for (allowed, document) in allowed.iter_mut().zip(graph.passage_document.items()).filter(|it| *it.0) {
        let known = &mut documents[document.index()];
        *allowed = match *known {
            Some(is_admitted) => is_admitted,
            None => *known.insert(admitted(*document)?),
        };
    }
    Ok(Some(allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_a_key_and_a_value() {
        let filter = Filter::parse("kind = person").expect("a filter");
        assert_eq!((filter.key.as_str(), filter.value.as_str()), ("kind", "person"));
        assert_eq!(Filter::parse("a=b=c").expect("a filter").value, "b=c");
        for text in ["kind", "=person", ""] {
            assert!(Filter::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn metadata_goes_before_what_every_document_has() {
        let mut document = DocumentText {
            document: crate::domain::DocumentId::of(&[b"a"]),
            source_id: "a".to_owned(),
            title: None,
            uri: "a.md".to_owned(),
            media_type: "text/markdown".to_owned(),
            metadata: Metadata::new(),
            duplicate_of: None,
        };
        let filter = Filter::parse("type=text/markdown").expect("a filter");
        assert!(filter.admits(&document));
        document.metadata.insert("type".to_owned(), "letter".to_owned());
        assert!(!filter.admits(&document));
    }
}
