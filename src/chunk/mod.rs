//! Splits documents into passages: nothing is lost or repeated, and an edit changes only the passages around it.
//!
//! It knows the structure of plain text, Markdown and source code. It reads no files and embeds nothing: the caller
//! says how word pieces are counted.

mod pack;
mod plain_headings;
mod sections;
mod setext;
mod source;
mod units;

use std::ops::Range;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::domain::{Cancellation, Document, Lines, Passage, PassageId, Span};
use crate::error::Result;
use crate::text::{self, Language};
use pack::pack;
pub use sections::HEADING_CHARS_MAX;
use sections::{Headings, Section, Sections};
pub(crate) use setext::underlined_heading;
use units::{Parts, Units};

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

/// Maximum passages into which a document is divided by structure. The rest is divided by size alone, without regard to
/// headings and sentences.
pub const PASSAGES_MAX: usize = 98_304;
/// Minimum of the option for word pieces of a passage: fewer would cut sentences to pieces.
pub const PASSAGE_TOKENS_MIN: usize = 16;
/// Word pieces of a passage at least, where passages are divided by size alone.
const COARSE_PIECES_MIN: usize = 256;
/// Maximum sentences of a document: each passage has an even share of them.
pub const SENTENCES_MAX: usize = 524_288;
/// Characters of the section of a passage at most: the headings above it, joined.
pub const SECTION_CHARS_MAX: usize = 400;
/// Passages between two looks at whether to continue.
const LOOK_EVERY: usize = 1_024;

/// A document, divided.
#[derive(Debug, Clone, PartialEq)]
pub struct Division {
    /// Its passages, in order. They cover every character but white space once.
    pub passages: Vec<Passage>,
    /// What limits left out of them: never text.
    pub cuts: Cuts,
}

/// Effects of limits when a document was divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cuts {
    /// Headings, and sections of passages, that are shortened.
    pub headings: u64,
    /// Passages that were divided by size alone.
    pub coarse: u64,
    /// Sentences joined to the previous one.
    pub sentences: u64,
}

/// Returns the passages of `document`, as [`divide`] makes them.
#[must_use]
pub fn passages(document: &Document, options: &ChunkOptions, count: &dyn Fn(&str) -> usize) -> Vec<Passage> {
    // No stop is requested.
    divide(document, options, count, &Cancellation::default()).map(|division| division.passages).unwrap_or_default()
}

/// Divides `document` into passages, in order. They cover every character but white space once; a document without any
/// has none, and one that fits is one passage.
///
/// `count` returns the number of word pieces of a text, which adds up for adjacent texts. A change of the document
/// affects only the passages there, and rarely the next ones: where passages begin depends on nothing farther away.
///
/// # Errors
///
/// [`Error::Cancelled`](crate::Error::Cancelled) once a stop was requested.
///
/// # Complexity
///
/// Linear in the document; each part of it is counted at most once as a paragraph, as a sentence and as words.
pub fn divide(
    document: &Document,
    options: &ChunkOptions,
    count: &dyn Fn(&str) -> usize,
    cancellation: &Cancellation,
) -> Result<Division> {
    let limit = pieces_left(document, options, count);
    let text = document.text.as_str();
    let language = Language::of_media_type(&document.media_type);
    let units = Units { text, limit, unit: options.unit, parts: Parts::of(language), count, cancellation };
    let headings = headings(&document.media_type, !document.positions.is_none());
    let mut spans = Spans { units, headings, found: Vec::new(), coarse_from: None, shortened: 0 };
    match language {
        Some(language) => spans.find_in(source::sections(text, &document.source_id, language))?,
        None => spans.find()?,
    }
    let Spans { found, coarse_from, shortened, .. } = spans;
    let coarse = coarse_from.map_or(0, |from| found.len() - from) as u64;
    let mut cuts = Cuts { headings: shortened, coarse, sentences: 0 };

    let sentences_max = (SENTENCES_MAX / found.len().max(1)).max(1);
    let mut equal_texts: FxHashMap<&str, u32> = FxHashMap::default();
    let mut passages = Vec::with_capacity(found.len());
    let mut lines = Lines::of(&document.positions, &document.text);
    for (ordinal, (span, path)) in (0..).zip(found) {
        if passages.len().is_multiple_of(LOOK_EVERY) {
            cancellation.check()?;
        }
        let span = Span::from(span);
        let text = span.of(&document.text);
        let place = lines.at(span.start);
        let nth = equal_texts.entry(text).or_default();
        passages.push(Passage {
            id: PassageId::of(&[document.id.as_bytes(), text.as_bytes(), &nth.to_le_bytes()]),
            document: document.id,
            ordinal,
            span,
            section: (!path.is_empty()).then(|| path.to_string()),
            page: document.positions.page_at(span.start),
            line: place.map(|it| it.line),
            column: place.and_then(|it| it.column),
            text: text.to_owned(),
            sentences: sentences(text, language, sentences_max, &mut cuts),
        });
        *nth += 1;
    }
    Ok(Division { passages, cuts })
}

/// Returns whether source code of this media type defines anything.
pub(crate) fn defines(text: &str, media_type: &str) -> bool {
    Language::of_media_type(media_type).is_some_and(|language| source::defines(text, language))
}

/// Returns what counts as a heading: a file of plain text has number signs for other ends too, a record is Markdown as
/// often as not.
fn headings(media_type: &str, has_positions: bool) -> Headings {
    match media_type {
        "text/plain" if has_positions => Headings::Apart,
        "text/markdown" => Headings::Markdown,
        _ => Headings::All,
    }
}

/// Returns the headings above a byte of the text of a document, as in the sections of its passages; none of source
/// code. `has_positions` says whether the document's file has lines or pages.
///
/// Complexity: linear in the text.
#[must_use]
pub(crate) fn section_at(text: &str, media_type: &str, has_positions: bool, at: usize) -> Option<String> {
    if Language::of_media_type(media_type).is_some() {
        return None;
    }
    let begins = |section: &Section| section.headings.first().or(section.paragraphs.first()).map_or(0, |it| it.start);
    let sections = Sections::of(text, headings(media_type, has_positions));
    let path = sections.take_while(|section| begins(section) <= at).last()?.path.join(" › ");
    (!path.is_empty()).then(|| text::shortened(&path, SECTION_CHARS_MAX).unwrap_or(path))
}

/// Returns the first `most` sentences of a passage, or blocks of code; the last of them continues to its end.
fn sentences(text: &str, language: Option<Language>, most: usize, cuts: &mut Cuts) -> Vec<Span> {
    let mut spans: Vec<Span> = match language {
        Some(_) => text::code_blocks(text).map(Span::from).collect(),
        None => text::sentences(text).map(Span::from).collect(),
    };
    let end = spans.last().map(|last| last.end);
    cuts.sentences += spans.len().saturating_sub(most) as u64;
    spans.truncate(most);
    if let (Some(last), Some(end)) = (spans.last_mut(), end) {
        last.end = end;
    }
    spans.shrink_to_fit();
    spans
}

/// Returns how many pieces the title leaves for the text: at least half, since a longer title is not one.
fn pieces_left(document: &Document, options: &ChunkOptions, count: &dyn Fn(&str) -> usize) -> usize {
    let title = document.title.as_deref().map_or("", str::trim);
    let title_pieces = if title.is_empty() { 0 } else { count(&format!("{title}. ")) };
    let pieces_max = options.passage_pieces_max;
    pieces_max.saturating_sub(title_pieces).max(pieces_max / 2).max(1)
}

/// The spans of the passages of a document, each with its section.
struct Spans<'a> {
    units: Units<'a>,
    headings: Headings,
    found: Vec<(Range<usize>, Rc<str>)>,
    /// The first passage that was divided by size alone.
    coarse_from: Option<usize>,
    /// Headings and sections that were shortened.
    shortened: u64,
}

impl Spans<'_> {
    fn find(&mut self) -> Result<()> {
        let text = self.units.text;
        if self.units.may_be_whole() {
            let mut all = Sections::of(text, self.headings);
            let sections: Vec<Section> = Iterator::by_ref(&mut all).collect();
            if let Some(whole) = self.units.whole(&sections) {
                self.shortened += all.cut;
                let path = self.path(common_path(&sections));
                self.found.push((whole, path));
                return Ok(());
            }
        }
        let mut sections = Sections::of(text, self.headings);
        while let Some(section) = sections.next() {
            self.divide(&section)?;
            if self.coarse_from.is_some() {
                sections.ignore_headings();
            }
        }
        self.shortened += sections.cut;
        Ok(())
    }

    /// Divides the sections of source code: each begins a passage, however short the document is.
    fn find_in(&mut self, sections: Vec<Section>) -> Result<()> {
        let mut sections = sections.into_iter();
        while let Some(section) = sections.next() {
            self.divide(&section)?;
            if self.coarse_from.is_some() {
                let paragraphs = sections.by_ref().flat_map(|it| it.paragraphs).collect();
                self.divide(&Section { path: Vec::new(), headings: Vec::new(), paragraphs })?;
            }
        }
        Ok(())
    }

    fn divide(&mut self, section: &Section) -> Result<()> {
        let path = self.path(&section.path);
        let (found, coarse_from) = (&mut self.found, &mut self.coarse_from);
        let (text, limit, unit) = (self.units.text, self.units.limit, self.units.unit);
        let coarse = limit.max(COARSE_PIECES_MIN);
        self.units.of(section, &mut |units| {
            if coarse_from.is_some() {
                found.extend(pack(text, units, coarse).into_iter().map(|span| (span, Rc::clone(&path))));
                return Ok(());
            }
            let mut spans = match unit {
                PassageUnit::Structure => pack(text, units, limit),
                PassageUnit::Sentence => units::each(units),
            };
            let room = PASSAGES_MAX.saturating_sub(found.len());
            let rest = spans.get(room).map(|span| span.start);
            spans.truncate(room);
            found.extend(spans.into_iter().map(|span| (span, Rc::clone(&path))));
            if let Some(start) = rest {
                *coarse_from = Some(found.len());
                let first = units.partition_point(|unit| unit.span.start < start);
                let spans = pack(text, &units[first..], coarse);
                found.extend(spans.into_iter().map(|span| (span, Rc::clone(&path))));
            }
            Ok(())
        })?;
        if self.coarse_from.is_some() {
            (self.units.limit, self.units.unit) = (coarse, PassageUnit::Structure);
        }
        Ok(())
    }

    /// Joins the headings above a passage.
    fn path(&mut self, headings: &[String]) -> Rc<str> {
        let joined = headings.join(" › ");
        match text::shortened(&joined, SECTION_CHARS_MAX) {
            Some(short) => {
                self.shortened += 1;
                short.into()
            }
            None => joined.into(),
        }
    }
}

/// Returns the headings above all sections.
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
