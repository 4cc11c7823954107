//! Word and `PowerPoint`: paragraphs, headings, lists, tables, notes; slides are pages.

use undoc::model::RevisionType;
use undoc::{Block, Document, ErrorKind, FormatType, ListType, Metadata as Properties, Paragraph, Section, Table};

use super::{encrypted, plain};
use crate::domain::Metadata;
use crate::ingest::blocks::{Blocks, one_line};
use crate::ingest::extracted::Extracted;
use crate::ingest::worker::{Give, Parser, Piece, Refusal};

/// Tables inside cells of tables at most.
const TABLE_DEPTH_MAX: usize = 8;

/// Reads a file.
pub(in crate::ingest) fn read(bytes: &[u8], parser: Parser, give: &mut Give<'_>) -> Result<(), Refusal> {
    let extracted = match parser {
        Parser::First => whole(bytes)?,
        Parser::Fallback => plain::read(bytes)?,
    };
    if extracted.text.trim().is_empty() {
        return Err(Refusal::damaged("no text is found in it"));
    }
    give(Piece::Document { within: String::new(), extracted })
}

fn whole(bytes: &[u8]) -> Result<Extracted, Refusal> {
    let document = undoc::parse_bytes(bytes).map_err(|error| match error.kind() {
        ErrorKind::Encrypted => encrypted(),
        _ => Refusal::damaged(format!("it cannot be parsed: {error}")),
    })?;
    let mut blocks = Blocks::default();
    let has_slides = matches!(document.format, FormatType::Pptx | FormatType::Ppt);
    for (section_index, section) in document.sections.iter().enumerate() {
        if has_slides {
            blocks.page(section_index as u32 + 1);
            slide_title(section, &mut blocks);
        }
        all_of(&section.content, &mut blocks);
        let notes = section.notes.iter().flatten().map(text_of).filter(|text| !text.trim().is_empty());
        for (at, note) in notes.enumerate() {
            if at == 0 {
                blocks.paragraph("Notes:");
            }
            blocks.paragraph(&note);
        }
    }
    let (text, positions) = blocks.finish();
    let title = document.metadata.title.clone().filter(|title| !title.trim().is_empty());
    let title = title.or_else(|| first_heading(&document));
    let media_type = media_type(document.format).to_owned();
    Ok(Extracted { title, text, media_type, metadata: metadata(document.metadata), positions })
}

fn media_type(format: FormatType) -> &'static str {
    match format {
        FormatType::Pptx => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        FormatType::Ppt => "application/vnd.ms-powerpoint",
        FormatType::Doc => "application/msword",
        _ => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    }
}

/// Writes the title of a slide that does not begin with it.
fn slide_title(section: &Section, blocks: &mut Blocks) {
    let Some(name) = section.name.as_deref() else { return };
    let says_it = |block: &Block| matches!(block, Block::Paragraph(it) if one_line(&text_of(it)) == one_line(name));
    match section.content.iter().position(says_it) {
        Some(_) => {}
        None => blocks.heading(1, name),
    }
}

fn first_heading(document: &Document) -> Option<String> {
    let blocks = document.sections.iter().flat_map(|section| &section.content);
    let mut headings = blocks.filter_map(|block| match block {
        Block::Paragraph(it) if level(it).is_some() => Some(one_line(&text_of(it))),
        _ => None,
    });
    headings.find(|heading| !heading.is_empty())
}

fn metadata(properties: Properties) -> Metadata {
    let Properties { author, subject, description, keywords, created, modified, .. } = properties;
    let keywords = (!keywords.is_empty()).then(|| keywords.join(", "));
    let day = |date: Option<String>| date.and_then(|date| date.get(..10).map(str::to_owned));
    let all = [
        ("author", author),
        ("subject", subject),
        ("description", description),
        ("keywords", keywords),
        ("created", day(created)),
        ("modified", day(modified)),
    ];
    let present = all.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    present.filter(|(_, value)| !value.trim().is_empty()).collect()
}

fn all_of(all: &[Block], blocks: &mut Blocks) {
    for block in all {
        match block {
            Block::Paragraph(it) => paragraph(it, blocks),
            Block::Table(it) => table(it, blocks, 0),
            Block::Note { label, content } => {
                let text: Vec<String> = content.iter().map(text_of).collect();
                blocks.paragraph(&format!("[{label}] {}", text.join("\n")));
            }
            Block::Image { alt_text: Some(alt), .. } if alt.split_whitespace().count() > 3 => blocks.paragraph(alt),
            Block::Image { .. } | Block::PageBreak | Block::SectionBreak => {}
        }
    }
}

fn paragraph(it: &Paragraph, blocks: &mut Blocks) {
    let text = text_of(it);
    if let Some(level) = level(it) {
        return blocks.heading(level, &text);
    }
    match &it.list_info {
        Some(list) => {
            let marker = match (list.list_type, list.number) {
                (ListType::Numbered, Some(number)) => format!("{number}."),
                _ => "-".to_owned(),
            };
            blocks.item(usize::from(list.level), &marker, &text);
        }
        None => blocks.paragraph(&text),
    }
}

/// Returns the level of a heading, by its style or else by the name of the style: `heading 2`.
fn level(it: &Paragraph) -> Option<usize> {
    let by_name = || it.style_name.as_deref()?.to_lowercase().strip_prefix("heading ")?.trim().parse().ok();
    if it.is_heading() { Some(usize::from(it.heading.level())) } else { by_name() }
}

fn table(it: &Table, blocks: &mut Blocks, depth: usize) {
    if let Some(caption) = &it.caption {
        blocks.paragraph(caption);
    }
    for row in &it.rows {
        let cells: Vec<String> =
            row.cells.iter().map(|cell| cell.content.iter().map(text_of).collect::<Vec<_>>().join(" ")).collect();
        blocks.row(cells.iter().map(String::as_str));
        for inner in row.cells.iter().flat_map(|cell| &cell.nested_tables) {
            if depth < TABLE_DEPTH_MAX {
                table(inner, blocks, depth + 1);
            }
        }
    }
}

/// Returns the text of a paragraph with all tracked changes accepted.
fn text_of(it: &Paragraph) -> String {
    let mut text = String::new();
    for run in it.runs.iter().filter(|run| run.revision != RevisionType::Deleted) {
        text.push_str(&run.text);
        if let Some(label) = &run.note {
            text.push('[');
            text.push_str(label);
            text.push(']');
        }
        if run.line_break {
            text.push('\n');
        }
    }
    text
}
