//! PDF: the text of pages, line by line, assembled into paragraphs and headings. Runs only in a worker: its parsers
//! panic on damaged files, and on some intact ones.

mod characters;
mod layout;
mod lighten;
mod outline;
mod page;

use std::panic::{AssertUnwindSafe, catch_unwind};

use pdf_extract::{Dictionary, Document, Object, ObjectId, decode_text_string, output_doc, output_doc_page};

use super::extracted::Extracted;
use super::worker::{Give, LeftOut, Parser, Piece, Refusal};
use crate::domain::Metadata;
use crate::text::counted;
use characters::Characters;
use page::{Line, Page};

/// Minimum letters per page, over all pages, of a file with text: scanners add fewer to each page.
const LETTERS_PER_PAGE_MIN: usize = 16;
/// The key that says how a file is encrypted, and the reason given for such files.
const ENCRYPT: &[u8] = b"/Encrypt";
const ENCRYPTED: &str =
    "it is encrypted: decrypt it first (`qpdf --decrypt --password=PASSWORD IN.pdf OUT.pdf`), then index the result";
/// Pages at most.
const PAGES_MAX: usize = 100_000;

/// Reads a file.
pub(super) fn read(bytes: &[u8], parser: Parser, give: &mut Give<'_>) -> Result<(), Refusal> {
    let mut document = open(bytes)?;
    let found: Vec<(u32, ObjectId)> = document.get_pages().into_iter().collect();
    if found.is_empty() && bytes.windows(ENCRYPT.len()).any(|it| it == ENCRYPT) {
        return Err(Refusal::of_all(ENCRYPTED));
    }
    if found.is_empty() {
        return Err(Refusal::damaged("no pages are found in it: it may be damaged or cut off"));
    }
    if found.len() > PAGES_MAX {
        return Err(Refusal::of_all(format!("{} pages; a PDF may have {PAGES_MAX}", found.len())));
    }
    let pages = match parser {
        Parser::First => pages(&mut document, bytes, &found)?,
        Parser::Fallback => one_by_one(&mut document, &found, plain_page),
    };
    let letters: usize = pages.iter().map(Page::letters).sum();
    if letters < LETTERS_PER_PAGE_MIN * pages.len() {
        let pages = counted(pages.len() as u64, "page");
        let reason = format!("needs OCR: {letters} letters on {pages} (`ocrmypdf IN.pdf OUT.pdf` adds them)");
        return Err(Refusal::damaged(reason));
    }
    let blank = pages.iter().filter(|page| page.letters() == 0).count();
    if 2 * blank > pages.len() {
        let reason = format!("{blank} of its {} pages hold no text: they may need OCR", pages.len());
        give(Piece::Left(LeftOut { name: String::new(), reason }))?;
    }
    // The outline may be what killed the first worker.
    let entries = match parser {
        Parser::First => guarded(|| outline::entries(&document)).unwrap_or_default(),
        Parser::Fallback => Vec::new(),
    };
    let laid_out = layout::lay_out(pages, &entries);
    let metadata = guarded(|| metadata(&document)).unwrap_or_default();
    let title = metadata.get("title").filter(|title| is_title(title)).cloned().or(laid_out.title);
    let mut metadata = metadata;
    metadata.remove("title");
    let extracted = Extracted {
        title,
        text: laid_out.text,
        media_type: "application/pdf".to_owned(),
        metadata,
        positions: laid_out.positions,
    };
    give(Piece::Document { within: String::new(), extracted })
}

fn open(bytes: &[u8]) -> Result<Document, Refusal> {
    let mut document = match Document::load_mem(bytes) {
        Ok(document) => document,
        Err(error) => {
            let said = error.to_string();
            let is_encrypted = ["password", "crypt"].iter().any(|word| said.to_lowercase().contains(word));
            let damaged = || Refusal::damaged(format!("it is not a readable PDF: {said}"));
            return Err(if is_encrypted { Refusal::of_all(ENCRYPTED) } else { damaged() });
        }
    };
    // Many files are encrypted with an empty password, only to prevent changes.
    if document.is_encrypted() && document.decrypt("").is_err() {
        return Err(Refusal::of_all(ENCRYPTED));
    }
    Ok(document)
}

/// Returns the pages, read by the parser that keeps positions and sizes; a page on which it fails is read by the other
/// one.
fn pages(document: &mut Document, bytes: &[u8], found: &[(u32, ObjectId)]) -> Result<Vec<Page>, Refusal> {
    // What this does not reach is only read more slowly.
    guarded(|| lighten::lighten(document));
    let mut characters = Characters::default();
    // Reading all pages at once is faster, but ends at the first page that fails.
    let all = guarded(|| output_doc(document, &mut characters));
    let mut pages = characters.finish();
    if matches!(all, Some(Ok(()))) {
        return Ok(pages);
    }
    // The last page is incomplete.
    pages.pop();
    let rest = &found[pages.len()..];
    let read = one_by_one(document, rest, |document, number| {
        let mut characters = Characters::default();
        let read = guarded(|| output_doc_page(document, &mut characters, 1));
        let page = characters.finish().pop().filter(|_| matches!(read, Some(Ok(()))));
        page.map(|page| Page { number, ..page })
    });
    let failed: Vec<(u32, ObjectId)> =
        rest.iter().zip(&read).filter(|(_, page)| page.is_none()).map(|(place, _)| *place).collect();
    // The other parser needs what was left out for the first one.
    *document = Document::new();
    *document = open(bytes)?;
    let mut plain = one_by_one(document, &failed, plain_page).into_iter();
    pages.extend(read.into_iter().filter_map(|page| page.or_else(|| plain.next())));
    Ok(pages)
}

/// Reads each page as the only one of its document: to find a page, the parsers go through all before it.
fn one_by_one<T>(
    document: &mut Document,
    found: &[(u32, ObjectId)],
    mut read: impl FnMut(&Document, u32) -> T,
) -> Vec<T> {
    let point = |document: &mut Document, tree: Object| {
        // A document without a catalog has no pages.
        if let Ok(catalog) = document.catalog_mut() {
            catalog.set("Pages", tree);
        }
    };
    let whole = document.catalog().and_then(|catalog| catalog.get(b"Pages")).cloned().unwrap_or(Object::Null);
    let tree = document.new_object_id();
    point(document, tree.into());
    let mut all = Vec::with_capacity(found.len());
    for (number, id) in found {
        let alone = [
            ("Type", Object::Name(b"Pages".to_vec())),
            ("Kids", Object::Array(vec![Object::Reference(*id)])),
            ("Count", Object::Integer(1)),
        ];
        document.objects.insert(tree, Dictionary::from_iter(alone).into());
        all.push(read(document, *number));
    }
    point(document, whole);
    all
}

/// Returns the only page of a document, read by the parser that keeps only the order of the text.
fn plain_page(document: &Document, number: u32) -> Page {
    let chunks = guarded(|| document.extract_text_chunks(&[1])).unwrap_or_default();
    let text: String = chunks.into_iter().flatten().collect();
    Page { number, lines: text.lines().map(Line::plain).collect() }
}

/// Calls a parser that may panic.
fn guarded<T>(parser: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(parser)).ok()
}

/// The file's metadata keys that are kept.
const KEPT: [(&[u8], &str); 4] =
    [(b"Title", "title"), (b"Author", "author"), (b"Subject", "subject"), (b"Keywords", "keywords")];

fn metadata(document: &Document) -> Metadata {
    let said = |info: &Dictionary, key: &[u8]| -> Option<String> {
        let value = document.dereference(info.get(key).ok()?).ok()?.1;
        let text = decode_text_string(value).ok()?;
        let text = text.trim_matches(|char: char| char.is_whitespace() || char == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    };
    let info = document.trailer.get(b"Info").ok().and_then(|info| document.dereference(info).ok());
    let Some(Object::Dictionary(info)) = info.map(|(_, info)| info) else { return Metadata::new() };
    let mut metadata: Metadata =
        KEPT.iter().filter_map(|(key, name)| Some(((*name).to_owned(), said(info, key)?))).collect();
    if let Some(date) = said(info, b"CreationDate").as_deref().and_then(day) {
        metadata.insert("created".to_owned(), date);
    }
    metadata
}

/// Returns the date in a timestamp such as `D:20240131120000Z`.
fn day(date: &str) -> Option<String> {
    let digits = date.strip_prefix("D:").unwrap_or(date);
    let part = |from: usize, to: usize| digits.get(from..to).filter(|it| it.bytes().all(|it| it.is_ascii_digit()));
    Some(format!("{}-{}-{}", part(0, 4)?, part(4, 6)?, part(6, 8)?))
}

/// Many programs write the name of a file, or their own name, as the title.
fn is_title(title: &str) -> bool {
    const NAMES: [&str; 9] = [".doc", ".docx", ".dvi", ".tex", ".pdf", ".indd", ".qxd", ".ps", ".odt"];
    let lower = title.to_lowercase();
    let is_name = NAMES.iter().any(|it| lower.ends_with(it)) || lower.starts_with("microsoft word - ");
    !is_name && !lower.starts_with("untitled") && title.chars().any(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use pdf_extract::Stream;

    use super::*;

    #[test]
    fn a_title_is_not_a_file_name() {
        for name in ["report.dvi", "Microsoft Word - Plan", "untitled", "Untitled-3", "2024"] {
            assert!(!is_title(name), "{name}");
        }
        assert!(is_title("The mills of the Tarn"));
    }

    fn dictionary(kind: &str, entries: &[(&str, Object)]) -> Dictionary {
        let kind = ("Type", Object::Name(kind.into()));
        [kind].iter().chain(entries).cloned().collect()
    }

    /// Returns a file with these pages, given as what they draw.
    fn file(contents: &[&str]) -> Vec<u8> {
        let mut document = Document::with_version("1.5");
        let tree = document.new_object_id();
        let named = |name: &str| Object::Name(name.into());
        let font = dictionary("Font", &[("Subtype", named("Type1")), ("BaseFont", named("Helvetica"))]);
        let fonts = dictionary("Fonts", &[("F", document.add_object(font).into())]);
        let resources: Object = dictionary("Resources", &[("Font", fonts.into())]).into();
        let mut pages: Vec<Object> = Vec::new();
        for content in contents {
            let content = Stream::new(Dictionary::new(), content.as_bytes().to_vec());
            let entries = [
                ("Parent", tree.into()),
                ("Contents", document.add_object(content).into()),
                ("Resources", resources.clone()),
                ("MediaBox", vec![0.into(), 0.into(), 600.into(), 800.into()].into()),
            ];
            pages.push(document.add_object(dictionary("Page", &entries)).into());
        }
        let count = Object::from(pages.len() as u32);
        document.objects.insert(tree, dictionary("Pages", &[("Kids", pages.into()), ("Count", count)]).into());
        let catalog = document.add_object(dictionary("Catalog", &[("Pages", tree.into())]));
        document.trailer.set("Root", catalog);
        let mut bytes = Vec::new();
        document.save_to(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_page_that_one_parser_fails_on_is_read_by_the_other_in_its_place() {
        let drawn = |text: &str| format!("BT /F 12 Tf 9 9 Td ({text}) Tj ET");
        let [first, third] = [drawn("The first"), drawn("The third")];
        let bytes = file(&[&first, "BT /F 12 Tf 9 9 Td (The second) Tj [1] Tj ET", &third]);
        let mut document = open(&bytes).unwrap();
        let found: Vec<(u32, ObjectId)> = document.get_pages().into_iter().collect();
        let pages = pages(&mut document, &bytes, &found).unwrap();
        let texts: Vec<(u32, &str)> = pages.iter().map(|page| (page.number, page.lines[0].text.as_str())).collect();
        assert_eq!(texts, [(1, "The first"), (2, "The second"), (3, "The third")]);
        assert_eq!(document.get_pages().into_iter().collect::<Vec<_>>(), found);
    }

    #[test]
    fn a_date_gives_its_day() {
        assert_eq!(day("D:20240131120000+01'00'").as_deref(), Some("2024-01-31"));
        assert_eq!(day("20240131").as_deref(), Some("2024-01-31"));
        assert_eq!((day("D:2024"), day("Mon Jan 31")), (None, None));
    }
}
