//! What makes a document another one: a hash of all that its source says.

use crate::domain::Document;

/// Returns the hash of all that the source of a document says; equal only for equal documents.
#[must_use]
pub fn content_hash(document: &Document) -> [u8; 32] {
    let Document { id: _, source_id, title, uri, media_type, text, metadata } = document;
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &str| {
        // With its length, so that no two lists of parts are one sequence of bytes.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    };
    add(if title.is_some() { "titled" } else { "untitled" });
    for part in [source_id, title.as_deref().unwrap_or_default(), uri, media_type, text] {
        add(part);
    }
    for (key, value) in metadata {
        add(key);
        add(value);
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_changes_with_every_part() {
        let document = Document::new("a", None, "text");
        let changes: [fn(&mut Document); 7] = [
            |it| it.source_id.push('x'),
            |it| it.title = Some(String::new()),
            |it| it.uri.push('x'),
            |it| it.media_type.push('x'),
            |it| it.text.push('x'),
            |it| drop(it.metadata.insert("a".to_owned(), "bc".to_owned())),
            |it| drop(it.metadata.insert("ab".to_owned(), "c".to_owned())),
        ];
        let mut hashes = vec![content_hash(&document)];
        for change in changes {
            let mut other = document.clone();
            change(&mut other);
            hashes.push(content_hash(&other));
        }
        let count = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), count);
        assert_eq!(content_hash(&document), content_hash(&document.clone()));
    }
}
