//! Documents to passages: nothing lost, nothing twice, and an edit changes no more than the passages around it.
//!
//! It knows the structure of plain text and Markdown. It reads no files and embeds nothing: who calls says how pieces
//! are counted.

mod pack;
mod sections;
mod units;

use rustc_hash::FxHashMap;

use crate::domain::{Document, Passage, PassageId, Span};
use crate::text;
use pack::pack;
use sections::{Section, sections};
use units::Units;

/// What becomes a passage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PassageUnit {
    /// Paragraphs of one section, joined up to the limit.
    #[default]
    Structure,
    /// Each sentence.
    Sentence,
}

/// How documents are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkOptions {
    /// Word pieces of a passage at most, its title and the `. ` between included, so that a vector sees all of it.
    pub passage_pieces_max: usize,
    /// What becomes a passage.
    pub unit: PassageUnit,
}

impl Default for ChunkOptions {
    fn default() -> Self {
        Self { passage_pieces_max: 256, unit: PassageUnit::Structure }
    }
}

/// Returns the passages of `document`, in order. They cover every character but white space once; a document without
/// any has none, and one that fits is one passage.
///
/// `count` says how many word pieces a text has; texts side by side have the sum. Where the document changes, only the
/// passages there change, and rarely the next ones: where passages begin depends on nothing farther off.
///
/// # Complexity
///
/// Linear in the document; each part of it is counted at most once as a paragraph, as a sentence and as words.
#[must_use]
pub fn passages(document: &Document, options: &ChunkOptions, count: &dyn Fn(&str) -> usize) -> Vec<Passage> {
    let text = document.text.as_str();
    let limit = pieces_left(document, options, count);
    let sections = sections(text);
    let units = Units { text, limit, unit: options.unit, count };
    let spans = match units.whole(&sections) {
        Some(whole) => vec![(whole, common_path(&sections))],
        None => sections.iter().flat_map(|section| section_spans(&units, section)).collect(),
    };

    let mut equal_texts: FxHashMap<&str, u32> = FxHashMap::default();
    let mut passages = Vec::with_capacity(spans.len());
    for (ordinal, (span, path)) in (0..).zip(spans) {
        let span = Span::from(span);
        let passage_text = span.of(text);
        let nth = equal_texts.entry(passage_text).or_default();
        passages.push(Passage {
            id: PassageId::of(&[document.id.as_bytes(), passage_text.as_bytes(), &nth.to_le_bytes()]),
            document: document.id,
            ordinal,
            span,
            section: (!path.is_empty()).then(|| path.join(" › ")),
            text: passage_text.to_owned(),
            sentences: text::sentences(passage_text).into_iter().map(Span::from).collect(),
        });
        *nth += 1;
    }
    passages
}

/// Returns how many pieces the title leaves to the text: at least half, for a title that long is no title.
fn pieces_left(document: &Document, options: &ChunkOptions, count: &dyn Fn(&str) -> usize) -> usize {
    let title = document.title.as_deref().map_or("", str::trim);
    let title_pieces = if title.is_empty() { 0 } else { count(&format!("{title}. ")) };
    let pieces_max = options.passage_pieces_max;
    pieces_max.saturating_sub(title_pieces).max(pieces_max / 2).max(1)
}

type SpanUnder<'a> = (std::ops::Range<usize>, &'a [String]);

fn section_spans<'a>(units: &Units<'_>, section: &'a Section) -> Vec<SpanUnder<'a>> {
    let parts = units.of(section);
    let spans = match units.unit {
        PassageUnit::Structure => pack(units.text, &parts, units.limit),
        PassageUnit::Sentence => units::each(&parts),
    };
    spans.into_iter().map(|span| (span, section.path.as_slice())).collect()
}

/// Returns the headings that all sections stand under.
fn common_path(sections: &[Section]) -> &[String] {
    let Some((first, others)) = sections.split_first() else { return &[] };
    let shared = others.iter().fold(first.path.len(), |shared, section| {
        let alike = first.path.iter().zip(&section.path).take_while(|(a, b)| a == b).count();
        shared.min(alike)
    });
    first.path.get(..shared).unwrap_or_default()
}

#[cfg(test)]
mod tests;
