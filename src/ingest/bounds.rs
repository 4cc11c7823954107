//! Limits on titles, metadata and the like of a document. The excess is left out and reported; the text stays whole.

use crate::domain::{Document, Metadata};
use crate::text::shortened;

/// Characters of a title at most: it is repeated for every passage and sentence.
pub const TITLE_CHARS_MAX: usize = 300;
/// Bytes of the id that a source gives a document: a longer one is no id, and cannot be shortened.
pub const ID_BYTES_MAX: usize = 1_024;
/// Bytes that say where a document comes from, at most.
pub const URI_BYTES_MAX: usize = 8_192;
/// Metadata of a document at most, by number.
pub const METADATA_MAX: usize = 1_000;
/// Bytes of a key of metadata at most.
pub const KEY_BYTES_MAX: usize = 256;
/// Bytes of a value of metadata at most.
pub const VALUE_BYTES_MAX: usize = 1 << 20;
/// Bytes of all metadata of a document at most.
pub const METADATA_BYTES_MAX: usize = 4 << 20;

/// Brings a document within the limits; returns what was left out.
///
/// # Errors
///
/// Why the document cannot be taken at all.
pub fn bound(document: &mut Document) -> Result<Option<String>, String> {
    for (what, bytes, bytes_max) in
        [("id", document.source_id.len(), ID_BYTES_MAX), ("address", document.uri.len(), URI_BYTES_MAX)]
    {
        if bytes > bytes_max {
            return Err(format!("its {what} has {bytes} bytes; the limit is {bytes_max}"));
        }
    }
    let mut cuts = Vec::new();
    if let Some(short) = document.title.as_deref().and_then(|title| shortened(title.trim(), TITLE_CHARS_MAX)) {
        document.title = Some(short);
        cuts.push(format!("its title is cut to {TITLE_CHARS_MAX} characters"));
    }
    let left_out = bound_metadata(&mut document.metadata);
    if left_out > 0 {
        cuts.push(format!("{left_out} of its metadata entries are too long, or too many, and are left out"));
    }
    Ok((!cuts.is_empty()).then(|| cuts.join(", ")))
}

/// Leaves out entries that are too long or too many, and returns how many.
fn bound_metadata(metadata: &mut Metadata) -> usize {
    let all = metadata.len();
    let (mut count, mut bytes) = (0, 0);
    metadata.retain(|key, value| {
        let with_this = bytes + key.len() + value.len();
        let is_kept = key.len() <= KEY_BYTES_MAX
            && value.len() <= VALUE_BYTES_MAX
            && count < METADATA_MAX
            && with_this <= METADATA_BYTES_MAX;
        if is_kept {
            (count, bytes) = (count + 1, with_this);
        }
        is_kept
    });
    all - metadata.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounded(change: impl FnOnce(&mut Document)) -> (Document, Result<Option<String>, String>) {
        let mut document = Document::new("a", Some("Title".to_owned()), "Text.");
        change(&mut document);
        let said = bound(&mut document);
        (document, said)
    }

    #[test]
    fn an_ordinary_document_stays_as_it_is() {
        let (document, said) = bounded(|it| drop(it.metadata.insert("by".to_owned(), "Zoë".to_owned())));
        assert_eq!((document.metadata.len(), said), (1, Ok(None)));
    }

    #[test]
    fn a_long_title_is_cut_and_that_is_said() {
        for (chars, is_cut) in [(TITLE_CHARS_MAX, false), (TITLE_CHARS_MAX + 1, true)] {
            let (document, said) = bounded(|it| it.title = Some("é".repeat(chars)));
            let title = document.title.unwrap();
            assert_eq!((title.chars().count(), title.ends_with('…')), (TITLE_CHARS_MAX, is_cut));
            assert_eq!(said.unwrap().is_some(), is_cut);
        }
    }

    #[test]
    fn a_long_id_or_address_is_refused() {
        assert!(bounded(|it| it.source_id = "i".repeat(ID_BYTES_MAX)).1.is_ok());
        assert!(bounded(|it| it.source_id = "i".repeat(ID_BYTES_MAX + 1)).1.unwrap_err().contains("its id has 1025"));
        assert!(bounded(|it| it.uri = "i".repeat(URI_BYTES_MAX + 1)).1.is_err());
    }

    #[test]
    fn metadata_beyond_a_limit_is_left_out_and_counted() {
        let entry = |it: &mut Document, key: String, bytes| drop(it.metadata.insert(key, "v".repeat(bytes)));
        for (key, value, left) in
            [(KEY_BYTES_MAX, 1, 1), (KEY_BYTES_MAX + 1, 1, 0), (1, VALUE_BYTES_MAX, 1), (1, VALUE_BYTES_MAX + 1, 0)]
        {
            let (document, said) = bounded(|it| entry(it, "k".repeat(key), value));
            assert_eq!((document.metadata.len(), said.unwrap().is_none()), (left, left == 1));
        }
        let many = bounded(|it| (0..=METADATA_MAX).for_each(|number| entry(it, number.to_string(), 1)));
        assert_eq!(many.0.metadata.len(), METADATA_MAX);
        assert!(many.1.unwrap().unwrap().starts_with("1 of its metadata"));
        let large = bounded(|it| (0..5).for_each(|number| entry(it, number.to_string(), VALUE_BYTES_MAX - 1)));
        assert_eq!(large.0.metadata.len(), 4);
    }
}
