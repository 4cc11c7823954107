//! Electronic books: chapters in reading order. Runs in a worker.

use std::collections::HashMap;
use std::io::Cursor;

use rbook::Epub;

use super::blocks::one_line;
use super::extracted::Extracted;
use super::html;
use super::worker::{Give, LeftOut, Piece, Refusal};
use crate::domain::{Metadata, Positions};

/// Bytes of a chapter at most.
const CHAPTER_BYTES_MAX: usize = 32 << 20;
/// Bytes of a book's text at most.
const TEXT_BYTES_MAX: usize = 128 << 20;

/// Reads a book.
pub(super) fn read(bytes: &[u8], give: &mut Give<'_>) -> Result<(), Refusal> {
    let book = Epub::read(Cursor::new(bytes.to_vec()))
        .map_err(|error| Refusal::damaged(format!("it is not a readable book: {error}")))?;
    let labels = labels(&book);
    let (mut text, mut unread, mut chapters) = (String::new(), 0, 0);
    let mut reader = book.reader();
    while let Some(chapter) = reader.read_next() {
        chapters += 1;
        let Ok(chapter) = chapter else {
            unread += 1;
            continue;
        };
        let entry = chapter.manifest_entry();
        let content = chapter.content();
        if content.len() > CHAPTER_BYTES_MAX || text.len() > TEXT_BYTES_MAX {
            unread += 1;
            continue;
        }
        // A page with only a picture has no text.
        let Ok(Extracted { text: chapter_text, .. }) = html::parse(content.to_owned()) else { continue };
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        if let Some(label) = labels.get(entry.href().path().as_str())
            && !chapter_text.trim_start().starts_with('#')
        {
            text.push_str("# ");
            text.push_str(label);
            text.push_str("\n\n");
        }
        text.push_str(chapter_text.trim());
    }
    if text.trim().is_empty() {
        return Err(Refusal::damaged("none of its chapters holds text that can be read: it may be encrypted"));
    }
    if unread > 0 {
        let reason = format!("{unread} of its {chapters} chapters cannot be read");
        give(Piece::Left(LeftOut { name: String::new(), reason }))?;
    }
    let title = book.metadata().title().map(|title| one_line(title.value())).filter(|title| !title.is_empty());
    let media_type = "application/epub+zip".to_owned();
    let extracted = Extracted { title, text, media_type, metadata: metadata(&book), positions: Positions::None };
    give(Piece::Document { within: String::new(), extracted })
}

/// Returns the titles that the table of contents gives to the files of the book.
fn labels(book: &Epub) -> HashMap<String, String> {
    let mut labels = HashMap::new();
    let Some(contents) = book.toc().contents() else { return labels };
    for entry in contents.flatten() {
        let label = one_line(entry.label());
        if let Some(file) = entry.manifest_entry()
            && !label.is_empty()
        {
            labels.entry(file.href().path().as_str().to_owned()).or_insert(label);
        }
    }
    labels
}

fn metadata(book: &Epub) -> Metadata {
    let said = book.metadata();
    let authors: Vec<String> = said.creators().map(|it| one_line(it.value())).take(20).collect();
    let all = [
        ("author", Some(authors.join(", "))),
        ("language", said.language().map(|it| it.value().to_owned())),
        ("publisher", said.publishers().next().map(|it| one_line(it.value()))),
        ("description", said.description().map(|it| one_line(it.value()))),
    ];
    let said = all.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    said.filter(|(_, value)| !value.is_empty()).collect()
}
