//! The second parser of Word and `PowerPoint` files: only paragraphs and rows, in the order of the files inside.

use super::package::Package;
use super::xml::{Token, tokens};
use crate::domain::Metadata;
use crate::ingest::blocks::Blocks;
use crate::ingest::extracted::Extracted;
use crate::ingest::worker::Refusal;

/// Reads a file.
pub(super) fn read(bytes: &[u8]) -> Result<Extracted, Refusal> {
    let mut package = Package::open(bytes)?;
    let mut blocks = Blocks::default();
    let (media_type, names) = match package.text("word/document.xml")? {
        Some(xml) => {
            paragraphs(&xml, &mut blocks)?;
            let notes = ["word/footnotes.xml", "word/endnotes.xml"].map(str::to_owned).to_vec();
            ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", notes)
        }
        None => ("application/vnd.openxmlformats-officedocument.presentationml.presentation", Vec::new()),
    };
    for name in names {
        if let Some(xml) = package.text(&name)? {
            paragraphs(&xml, &mut blocks)?;
        }
    }
    for (number, name) in slides(&package.names()) {
        if let Some(xml) = package.text(&name)? {
            blocks.page(number);
            paragraphs(&xml, &mut blocks)?;
        }
    }
    let (text, positions) = blocks.finish();
    Ok(Extracted { title: None, text, media_type: media_type.to_owned(), metadata: Metadata::new(), positions })
}

/// Returns the slides by their numbers.
fn slides(names: &[String]) -> Vec<(u32, String)> {
    let number = |name: &String| {
        let number = name.strip_prefix("ppt/slides/slide")?.strip_suffix(".xml")?.parse().ok()?;
        Some((number, name.clone()))
    };
    let mut slides: Vec<(u32, String)> = names.iter().filter_map(number).collect();
    slides.sort_unstable();
    slides.dedup_by_key(|slide| slide.0);
    slides
}

fn paragraphs(xml: &str, blocks: &mut Blocks) -> Result<(), Refusal> {
    let (mut text, mut cells, mut is_text) = (String::new(), Vec::new(), false);
    let mut rows = 0_usize;
    tokens(xml, &mut |token| match token {
        Token::Start("t", _) => is_text = true,
        Token::End("t") => is_text = false,
        Token::Start("tab", _) => text.push('\t'),
        Token::Start("br" | "cr", _) => text.push('\n'),
        Token::Start("tr", _) => rows += 1,
        Token::Text(said) if is_text => text.push_str(said),
        // The paragraphs of a row are its cells.
        Token::End("p") if rows > 0 => text.push(' '),
        Token::End("p") => blocks.paragraph(&std::mem::take(&mut text)),
        Token::End("tc") => cells.push(std::mem::take(&mut text)),
        Token::End("tr") => {
            rows = rows.saturating_sub(1);
            blocks.row(std::mem::take(&mut cells).iter().map(String::as_str));
        }
        _ => {}
    })?;
    blocks.paragraph(&text);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_and_rows_are_distinguished() {
        let xml = "<w:body><w:p><w:r><w:t>One &amp; </w:t><w:t>two</w:t></w:r></w:p><w:tbl><w:tr>\
            <w:tc><w:p><w:t>a</w:t></w:p></w:tc><w:tc><w:p><w:t>b</w:t></w:p></w:tc></w:tr></w:tbl>\
            <w:p><w:instrText>HYPERLINK</w:instrText><w:t>End</w:t></w:p></w:body>";
        let mut blocks = Blocks::default();
        paragraphs(xml, &mut blocks).unwrap();
        assert_eq!(blocks.finish().0, "One & two\n\na | b\n\nEnd");
    }

    #[test]
    fn slides_stand_in_the_order_of_their_numbers() {
        let names = ["ppt/slides/slide10.xml", "ppt/slides/slide2.xml", "ppt/slides/slideX.xml"].map(str::to_owned);
        assert_eq!(slides(&names).iter().map(|it| it.0).collect::<Vec<_>>(), [2, 10]);
    }
}
