//! `OpenDocument` text and slides: headings, paragraphs, lists, tables, notes; slides are pages.

use quick_xml::events::BytesStart;

use super::encrypted;
use super::package::Package;
use super::xml::{Token, attribute, tokens};
use crate::domain::Metadata;
use crate::ingest::blocks::Blocks;
use crate::ingest::extracted::Extracted;
use crate::ingest::worker::{Give, Piece, Refusal};

/// Spaces and cells that one element stands for, at most.
const REPEATED_MAX: usize = 64;

/// Reads a file.
pub(in crate::ingest) fn read(bytes: &[u8], give: &mut Give<'_>) -> Result<(), Refusal> {
    let mut package = Package::open(bytes)?;
    if package.text("META-INF/manifest.xml")?.is_some_and(|manifest| manifest.contains("encryption-data")) {
        return Err(encrypted());
    }
    let content = package.text("content.xml")?.ok_or_else(|| Refusal::damaged("there is no text in it"))?;
    let mut walk = Walk::default();
    tokens(&content, &mut |token| walk.take(&token))?;
    let (text, positions) = walk.blocks.finish();
    if text.trim().is_empty() {
        return Err(Refusal::damaged("no text is found in it"));
    }
    let mut metadata = match package.text("meta.xml")? {
        Some(meta) => parse_metadata(&meta)?,
        None => Metadata::new(),
    };
    let media_type = package.text("mimetype")?.map(|it| it.trim().to_owned());
    let known = |it: &String| it.starts_with("application/vnd.oasis.opendocument.") && it.len() < 100;
    let media_type = media_type.filter(known).unwrap_or("application/vnd.oasis.opendocument.text".to_owned());
    let title = metadata.remove("title").or(walk.title);
    give(Piece::Document {
        within: String::new(),
        extracted: Extracted { title, text, media_type, metadata, positions },
    })
}

/// Parses the metadata of the file.
fn parse_metadata(xml: &str) -> Result<Metadata, Refusal> {
    const KEPT: [(&str, &str); 6] = [
        ("title", "title"),
        ("subject", "subject"),
        ("description", "description"),
        ("creator", "author"),
        ("initial-creator", "author"),
        ("creation-date", "created"),
    ];
    let mut metadata = Metadata::new();
    let mut key = None;
    tokens(xml, &mut |token| match token {
        Token::Start(name, _) => key = KEPT.iter().find(|it| it.0 == name).map(|it| it.1),
        Token::End(_) => key = None,
        Token::Text(text) => {
            if let Some(key) = key {
                let text = if key == "created" { text.get(..10).unwrap_or(text) } else { text };
                metadata.entry(key.to_owned()).or_default().push_str(text);
            }
        }
    })?;
    metadata.retain(|_, value| !value.trim().is_empty());
    Ok(metadata)
}

/// The state of the walk through a document.
#[derive(Default)]
struct Walk {
    blocks: Blocks,
    /// The current paragraph.
    text: String,
    /// Paragraphs that others inside them interrupted, such as notes.
    outer: Vec<String>,
    title: Option<String>,
    /// The level, if the current paragraph is a heading.
    heading: Option<usize>,
    /// Depth of open lists.
    lists: usize,
    /// Open table rows, each with its cells.
    rows: Vec<Vec<String>>,
    /// How often the current cell is repeated.
    repeated: usize,
    slides: u32,
    /// Open elements whose text does not belong to the document's.
    silent: usize,
    notes: Vec<String>,
}

/// Elements whose text does not belong to the document's.
const SILENT: [&str; 7] =
    ["tracked-changes", "annotation", "forms", "note-citation", "scripts", "table-of-content", "alphabetical-index"];

impl Walk {
    fn take(&mut self, token: &Token<'_>) {
        match *token {
            Token::Start(name, _) if SILENT.contains(&name) => self.silent += 1,
            Token::End(name) if SILENT.contains(&name) => self.silent = self.silent.saturating_sub(1),
            _ if self.silent > 0 => {}
            Token::Start(name, element) => self.start(name, element),
            Token::End(name) => self.end(name),
            Token::Text(text) => {
                // Line ends in the file are white space.
                self.text.extend(text.chars().map(|char| if matches!(char, '\n' | '\r' | '\t') { ' ' } else { char }));
            }
        }
    }

    fn start(&mut self, name: &str, element: &BytesStart<'_>) {
        let number = |name: &str| attribute(element, name).and_then(|it| it.parse::<usize>().ok());
        match name {
            "h" => {
                self.text.clear();
                self.heading = Some(number("outline-level").unwrap_or(1));
            }
            "p" => self.text.clear(),
            "s" => self.text.extend(std::iter::repeat_n(' ', number("c").unwrap_or(1).min(REPEATED_MAX))),
            "tab" => self.text.push('\t'),
            "line-break" => self.text.push('\n'),
            "list" => self.lists += 1,
            "table-row" => self.rows.push(Vec::new()),
            "table-cell" => {
                self.repeated = number("number-columns-repeated").unwrap_or(1);
                if let Some(row) = self.rows.last_mut() {
                    row.push(String::new());
                }
            }
            "note" => {
                let label = format!("[{}]", self.notes.len() + 1);
                self.text.push_str(&label);
                self.outer.push(std::mem::take(&mut self.text));
            }
            // A slide, not a page of notes.
            "page" => {
                self.slides += 1;
                self.blocks.page(self.slides);
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "h" | "p" => self.end_paragraph(),
            "list" => self.lists = self.lists.saturating_sub(1),
            "table-cell" => {
                let (repeated, row) = (self.repeated.min(REPEATED_MAX), self.rows.last_mut());
                if let Some(row) = row
                    && let Some(cell) = row.last().cloned()
                {
                    row.extend(std::iter::repeat_n(cell, repeated.saturating_sub(1)));
                }
                self.repeated = 1;
            }
            "table-row" => {
                let cells = self.rows.pop().unwrap_or_default();
                match self.rows.last_mut().and_then(|row| row.last_mut()) {
                    Some(outer) => outer.push_str(&cells.join(" ")),
                    None => self.blocks.row(cells.iter().map(String::as_str)),
                }
            }
            "note" => self.text = self.outer.pop().unwrap_or_default(),
            "text" | "presentation" => {
                for (at, note) in std::mem::take(&mut self.notes).iter().enumerate() {
                    self.blocks.paragraph(&format!("[{}] {note}", at + 1));
                }
            }
            _ => {}
        }
    }

    fn end_paragraph(&mut self) {
        let text = std::mem::take(&mut self.text);
        let text = text.trim();
        let heading = self.heading.take();
        if !self.outer.is_empty() {
            self.notes.push(text.to_owned());
        } else if let Some(cell) = self.rows.last_mut().and_then(|row| row.last_mut()) {
            if !cell.is_empty() && !text.is_empty() {
                cell.push(' ');
            }
            cell.push_str(text);
        } else if let Some(level) = heading {
            if self.title.is_none() && !text.is_empty() {
                self.title = Some(text.to_owned());
            }
            self.blocks.heading(level, text);
        } else if self.lists > 0 {
            self.blocks.item(self.lists - 1, "-", text);
        } else {
            self.blocks.paragraph(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_keeps_its_structure() {
        let xml = "<office:body><office:text><text:tracked-changes><text:p>gone</text:p></text:tracked-changes>\
            <text:table-of-content><text:index-body><text:p>The mill 1</text:p></text:index-body>\
            </text:table-of-content>\
            <text:h text:outline-level=\"2\">The mill</text:h>\
            <text:p>It<text:s text:c=\"2\"/>stands &lt;here&gt;<text:note><text:note-citation>1</text:note-citation>\
            <text:note-body><text:p>By the river.</text:p></text:note-body></text:note>.</text:p>\
            <text:list><text:list-item><text:p>wheel</text:p></text:list-item></text:list>\
            <table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>\
            <table:table-cell table:number-columns-repeated=\"2\"><text:p>b</text:p></table:table-cell>\
            </table:table-row></table:table></office:text></office:body>";
        let mut walk = Walk::default();
        tokens(xml, &mut |token| walk.take(&token)).unwrap();
        assert_eq!(walk.title.as_deref(), Some("The mill"));
        let expect = "## The mill\n\nIt  stands <here>[1].\n\n- wheel\n\na | b | b\n\n[1] By the river.";
        assert_eq!(walk.blocks.finish().0, expect);
    }
}
