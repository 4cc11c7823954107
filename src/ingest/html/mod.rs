//! Pages of HTML and XHTML: the main part, as text with its headings, lists, tables and code.
//!
//! A page is read once, tag by tag, without building a tree: time and memory are linear in its size, however deeply its
//! elements are nested and however many attributes they have. Nothing that it links to is ever opened.

mod elements;
mod page;
mod writer;

#[cfg(test)]
mod tests;

use html5gum::Tokenizer;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};

use super::extracted::Extracted;
use crate::domain::{Metadata, Positions};
use page::{Page, Strip};

/// If a page has less text than this share of what was left out as the same on every page, that is read after all.
const KEPT_PERCENT_MIN: usize = 10;
/// If a page has more bytes than this for each byte of text, it counts as having no text.
const BYTES_PER_TEXT_MAX: usize = 400;
/// This many bytes of text are enough for a page of any size.
const TEXT_BYTES_MIN: usize = 200;

/// Returns whether the first bytes of a file are those of a page.
pub(super) fn is_recognized_by(head: &[u8]) -> bool {
    let mut head = head;
    // An XML declaration and comments may come first.
    while let Some(rest) = head.strip_prefix(b"<?").or_else(|| head.strip_prefix(b"<!--")) {
        let end = if head.starts_with(b"<?") { &b"?>"[..] } else { &b"-->"[..] };
        let Some(at) = rest.windows(end.len()).position(|it| it == end) else { return false };
        head = rest.get(at + end.len()..).unwrap_or_default().trim_ascii_start();
    }
    let begins = |with: &[u8]| head.get(..with.len()).is_some_and(|it| it.eq_ignore_ascii_case(with));
    begins(b"<!doctype html") || begins(b"<html") || begins(b"<head>") || begins(b"<body")
}

/// Reads the main part of a page.
#[expect(clippy::needless_pass_by_value, reason = "as all parsers of text are called")]
pub(super) fn parse(html: String) -> Result<Extracted, String> {
    let mut page = read(&html, Strip::Margins);
    if page.writer.out.len() * 100 < page.left_out * KEPT_PERCENT_MIN {
        page = read(&html, Strip::Hidden);
    }
    let parts = page.main_part();
    let text = match parts.as_slice() {
        [whole] if *whole == (0..page.writer.out.len()) => None,
        parts => {
            let texts = parts.iter().filter_map(|part| page.writer.out.get(part.clone())).map(str::trim);
            Some(texts.filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n\n"))
        }
    };
    let heading = page.heading(&parts);
    let text = text.unwrap_or_else(|| std::mem::take(&mut page.writer.out));
    if page.leads_on && text.len() < TEXT_BYTES_MIN {
        return Err("it only redirects to another page".to_owned());
    }
    if text.len() < TEXT_BYTES_MIN && text.len() * BYTES_PER_TEXT_MAX < html.len() || text.trim().is_empty() {
        return Err(format!("no text: {} bytes of text in {} bytes of HTML", text.trim().len(), html.len()));
    }
    let page_title = one_line(&page.title);
    let title = heading.or_else(|| Some(page_title.clone()).filter(|it| !it.is_empty()));
    let mut metadata = Metadata::new();
    let is_other_title = title.as_ref() != Some(&page_title);
    for (key, value) in [
        ("language", page.language.as_str()),
        ("description", page.description.as_str()),
        ("author", page.author.as_str()),
        ("page_title", if is_other_title { page_title.as_str() } else { "" }),
    ] {
        if !value.trim().is_empty() {
            metadata.insert(key.to_owned(), value.trim().to_owned());
        }
    }
    Ok(Extracted { title, text, media_type: String::new(), metadata, positions: Positions::None })
}

fn read(html: &str, strip: Strip) -> Page {
    let is_xml = html.trim_start().starts_with("<?xml");
    let mut page = Page::new(strip, is_xml);
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: html5gum::Span<()>| -> Option<()> {
        page.take(&event);
        None
    });
    // In XHTML, an empty script or title does not swallow what follows.
    emitter.naively_switch_states(!is_xml);
    // Reading from memory cannot fail, and all results go to the emitter.
    Tokenizer::new_with_emitter(html, emitter).for_each(drop);
    page.finish();
    page
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
