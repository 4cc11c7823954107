//! A text given with a title or an address: one document, in any format.

use std::path::Path;

use super::bounds::bound;
use super::formats;
use super::walk::extensions;
use super::{IngestOptions, SourceItem, read_bytes};
use crate::domain::{Document, DocumentId};
use crate::error::{Error, Result};

/// The name of a text whose address reveals no format: it is read as plain text, unless its content says otherwise.
const UNNAMED: &str = "text.txt";

/// Why a file of several documents is refused as one text.
pub(crate) const SEVERAL: &str = "it holds several documents";

/// The name of a text. Its id is its address, or its title if it has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Called {
    /// Its title; otherwise that which its format has, if any.
    pub title: Option<String>,
    /// Its source: a path, or the address of a page. Its extension gives the format if the content does not.
    pub address: Option<String>,
}

/// Returns the document that the bytes of a text are: read as [`read_bytes`] reads a file, and called as `called` says.
///
/// # Errors
///
/// [`Error::Option`] without a title or an address, with one that is too long, and for a text of several documents;
/// [`Error::NoDocuments`] for one that is empty, or cannot be read.
pub fn read_called(called: &Called, bytes: Vec<u8>, options: &IngestOptions) -> Result<Document> {
    let given = |text: &Option<String>| text.as_deref().map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned);
    let (title, address) = (given(&called.title), given(&called.address));
    let Some(source_id) = address.clone().or_else(|| title.clone()) else {
        return Err(refused(String::new(), "a text needs a title or an address".to_owned()));
    };
    let (mut found, mut reason) = (None, None);
    read_bytes(&file_name(address.as_deref().unwrap_or_default()), bytes, options, &mut |item| {
        match item {
            SourceItem::Document(it) if found.is_none() => found = Some(it.document),
            SourceItem::Document(_) => {
                return Err(refused(source_id.clone(), SEVERAL.to_owned()));
            }
            SourceItem::Skip(skip) | SourceItem::Unread { skip, .. } => reason = reason.take().or(Some(skip.reason)),
            SourceItem::Shortened(_) => {}
        }
        Ok(())
    })?;
    let Some(document) = found else {
        let reason = reason.unwrap_or_default();
        return Err(Error::NoDocuments { sources: format!("`{source_id}`: {reason}") });
    };
    let mut document = Document {
        id: DocumentId::of(&[source_id.as_bytes()]),
        uri: source_id.clone(),
        title: title.or(document.title),
        source_id,
        ..document
    };
    // Of a document that is only shortened, the run that indexes it tells.
    bound(&mut document.clone()).map_err(|reason| refused(std::mem::take(&mut document.source_id), reason))?;
    Ok(document)
}

fn refused(value: String, reason: String) -> Error {
    Error::Option { option: "text", value, reason }
}

/// Returns the file name by which a text is read: its address, without what follows the path of a page, if that ends in
/// the extension of a known format.
fn file_name(address: &str) -> String {
    let is_page = address.contains("://");
    let path = if is_page { address.split(['?', '#']).next().unwrap_or_default() } else { address };
    // The name of a host is not the name of a file.
    let is_host = is_page && path.split_once("://").is_some_and(|(_, rest)| !rest.contains('/'));
    let extensions = extensions(Path::new(path));
    let is_known = !is_host && !extensions.is_empty() && formats::find(b"", &extensions).is_some();
    if is_known { path.to_owned() } else { UNNAMED.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(title: &str, address: &str, text: &[u8]) -> Result<Document> {
        let some = |text: &str| Some(text.to_owned());
        let called = Called { title: some(title), address: some(address) };
        read_called(&called, text.to_vec(), &IngestOptions { document_bytes_max: 60, ..IngestOptions::default() })
    }

    #[test]
    fn a_text_is_called_by_its_address_or_else_by_its_title() {
        let page = "https://a.b/c.txt?v=1.md#x";
        for (title, address, text, id, expect) in [
            ("Harl Mill", "", "It stands.", "Harl Mill", "Harl Mill"),
            ("", "notes/a.md", "# Mill\n\nIt stands.", "notes/a.md", "Mill"),
            ("Mine", "notes/a.md", "# Mill\n\nIt stands.", "notes/a.md", "Mine"),
            ("v1.2", " ", "It stands.", "v1.2", "v1.2"),
            ("Mine", page, "It stands.", page, "Mine"),
        ] {
            let found = read(title, address, text.as_bytes()).unwrap();
            assert_eq!(found.id, DocumentId::of(&[id.as_bytes()]), "{title}, {address}");
            let is = (found.source_id.as_str(), found.uri.as_str(), found.title.as_deref());
            assert_eq!(is, (id, id, Some(expect)));
        }
    }

    #[test]
    fn the_format_is_that_of_the_content_or_of_the_extension_but_not_of_a_host() {
        let media_type = |address: &str, text: &str| read("", address, text.as_bytes()).unwrap().media_type;
        assert_eq!(media_type("https://a.b/c.md?x=1", "It stands."), "text/markdown");
        assert_eq!(media_type("notes/v1.2", "It stands."), "text/plain");
        // Org is a format, too.
        assert_eq!(media_type("https://example.org", "It stands."), "text/plain");
        #[cfg(feature = "html")]
        assert_eq!(media_type("https://a.b/c", "<!DOCTYPE html><p>It stands.</p>"), "text/html");
    }

    #[test]
    fn a_text_that_is_not_a_document_is_refused_with_the_reason() {
        let reason = |title: &str, address: &str, text: &[u8]| read(title, address, text).unwrap_err().to_string();
        for (text, expect) in [
            (&b""[..], "it is empty"),
            (b" \n\t", "it is empty"),
            (b"\x7fELF\0\xff", "it is not text"),
            (&[b'a'; 61], "61 bytes; a document may have 60"),
        ] {
            let error = reason("Mill", "", text);
            assert!(error.contains("`Mill`") && error.contains(expect), "{error}");
        }
        assert!(reason(" ", "", b"x").contains("a title or an address"));
        let two = br#"{"id":1,"text":"A."} {"id":2,"text":"B."}"#.map(|it| if it == b' ' { b'\n' } else { it });
        assert!(reason("", "a.jsonl", &two).contains("several documents"));
        let long = reason("", &"a".repeat(2_000), b"x");
        assert!(long.contains("1,024") || long.contains("1024"), "{long}");
    }

    #[test]
    fn text_in_another_encoding_is_decoded() {
        assert_eq!(read("Café", "", b"caf\xe9 ferm\xe9").unwrap().text, "café fermé");
    }
}
