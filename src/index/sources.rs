//! Where documents come from, item by item.

use std::path::PathBuf;

use rustc_hash::FxHashSet;

use super::options::Sources;
use super::plan::HANDED_OVER;
use crate::domain::{Document, DocumentId, Skip};
use crate::error::{Error, Result};
use crate::ingest::{
    IngestOptions, SourceDocument, SourceItem, bound, content_hash, read_bytes, read_sources, root_name,
};
use crate::text::shortened;

/// Characters of an id that is too long which name the document in the report.
const ID_SHOWN_MAX: usize = 100;

impl Sources {
    /// Returns a folder, or a file, as the source.
    #[must_use]
    pub fn folder(path: impl Into<PathBuf>) -> Self {
        Self::Paths(vec![path.into()])
    }

    /// Returns documents, as [`Document::new`] makes them, as the source.
    #[must_use]
    pub fn documents(documents: impl IntoIterator<Item = Document>) -> Self {
        Self::Documents(documents.into_iter().collect())
    }

    /// Checks what can be checked before anything is opened.
    ///
    /// # Errors
    ///
    /// [`Error::MissingPath`] for a missing path, [`Error::Option`] if no path is given.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Documents(_) | Self::Bytes { .. } => Ok(()),
            Self::Paths(paths) if paths.is_empty() => Err(Error::Option {
                option: "list of sources",
                value: String::new(),
                reason: "it names at least one file or folder".to_owned(),
            }),
            Self::Paths(paths) => paths.iter().try_for_each(|path| match path.try_exists() {
                Ok(true) => Ok(()),
                Ok(false) => Err(Error::MissingPath { path: path.clone() }),
                Err(error) => Err(Error::io("look at", path)(error)),
            }),
        }
    }

    /// Returns the error that they contain no document, with the reason if there is a single one.
    pub(super) fn no_documents(&self, skips: &[Skip]) -> Error {
        let mut named = match self {
            Self::Paths(paths) => {
                paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
            }
            Self::Documents(_) => "the given documents".to_owned(),
            Self::Bytes { name, .. } => format!("`{name}`"),
        };
        if let Some(first) = skips.first() {
            let more = skips.len() - 1;
            named = format!("{named}; skipped {}: {}", first.source, first.reason);
            if more > 0 {
                named = format!("{named}, and {more} more");
            }
        }
        Error::NoDocuments { sources: named }
    }

    /// Hands every item to `visit`, and returns the roots that were read whole.
    pub(super) fn visit(
        &self,
        ingest: &IngestOptions,
        visit: &mut dyn FnMut(SourceItem) -> Result<()>,
    ) -> Result<FxHashSet<String>> {
        match self {
            Self::Paths(paths) => {
                read_sources(paths, ingest, visit)?;
                paths.iter().map(|path| root_name(path)).collect()
            }
            Self::Documents(documents) => {
                documents.iter().try_for_each(|document| handed_over(document.clone(), visit))?;
                Ok(FxHashSet::default())
            }
            Self::Bytes { name, bytes } => {
                read_bytes(name, bytes.clone(), ingest, visit)?;
                Ok(FxHashSet::default())
            }
        }
    }
}

fn handed_over(mut document: Document, visit: &mut dyn FnMut(SourceItem) -> Result<()>) -> Result<()> {
    if document.text.trim().is_empty() {
        return visit(SourceItem::Skip(Skip { source: document.source_id, reason: "it has no text".to_owned() }));
    }
    if document.id != DocumentId::of(&[document.source_id.as_bytes()]) {
        let source = shortened(&document.source_id, ID_SHOWN_MAX).unwrap_or(document.source_id);
        let reason = "its `id` is not that of its `source_id`, from which `Document::new` derives it".to_owned();
        return visit(SourceItem::Skip(Skip { source, reason }));
    }
    match bound(&mut document) {
        Err(reason) => {
            let source = shortened(&document.source_id, ID_SHOWN_MAX).unwrap_or(document.source_id);
            return visit(SourceItem::Skip(Skip { source, reason }));
        }
        Ok(None) => {}
        Ok(Some(reason)) => visit(SourceItem::Shortened(Skip { source: document.source_id.clone(), reason }))?,
    }
    let (root, content) = (HANDED_OVER.to_owned(), content_hash(&document));
    visit(SourceItem::Document(SourceDocument { root, content, document }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever copies a document under another name might have two of one id.
    #[test]
    fn a_document_whose_id_is_that_of_another_source_is_left_out() {
        let good = Document::new("a", None, "Ada.");
        let bad = Document { source_id: "b".to_owned(), ..good.clone() };
        let mut found = Vec::new();
        let roots = Sources::documents([good, bad]).visit(&IngestOptions::default(), &mut |item| {
            found.push(match item {
                SourceItem::Document(it) => it.document.source_id,
                SourceItem::Skip(skip) => format!("{}: {}", skip.source, skip.reason),
                _ => String::new(),
            });
            Ok(())
        });
        assert!(roots.unwrap().is_empty());
        assert_eq!(found, ["a", "b: its `id` is not that of its `source_id`, from which `Document::new` derives it"]);
    }
}
