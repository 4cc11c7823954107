//! The content hash of a document, over everything in its source.

use crate::domain::{Document, Positions};

/// Returns the hash of everything that the source says about a document; only equal documents have equal hashes.
#[must_use]
pub fn content_hash(document: &Document) -> [u8; 32] {
    let Document { id: _, source_id, title, uri, media_type, text, positions, metadata } = document;
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &str| {
        // Each part with its length, so that different lists of parts never give the same bytes.
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
    let (kind, marks) = match positions {
        Positions::None => ("", &[][..]),
        Positions::Lines(marks) => ("lines", &marks[..]),
        Positions::Pages(marks) => ("pages", &marks[..]),
    };
    // Without marks, the hash is the one from before documents had positions.
    if !marks.is_empty() {
        add(kind);
        for mark in marks {
            hasher.update(&mark.offset.to_le_bytes()).update(&mark.number.to_le_bytes());
        }
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_changes_with_every_part() {
        let document = Document::new("a", None, "text");
        let changes: [fn(&mut Document); 9] = [
            |it| it.source_id.push('x'),
            |it| it.title = Some(String::new()),
            |it| it.uri.push('x'),
            |it| it.media_type.push('x'),
            |it| it.text.push('x'),
            |it| drop(it.metadata.insert("a".to_owned(), "bc".to_owned())),
            |it| drop(it.metadata.insert("ab".to_owned(), "c".to_owned())),
            |it| it.positions = Positions::of_lines(),
            |it| it.positions = Positions::Pages(vec![(0, 1).into()]),
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
