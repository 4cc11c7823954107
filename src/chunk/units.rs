//! The units that are packed into passages: paragraphs or, if these are too long, sentences, words, characters.

use std::ops::Range;

use super::PassageUnit;
use super::sections::{Section, trimmed};
use crate::domain::Cancellation;
use crate::error::Result;
use crate::text::{self, Language};

/// Bytes that a piece stands for at most. Embedders read a long run of letters as one unknown piece, and a passage is
/// to be bounded all the same.
pub(super) const BYTES_PER_PIECE_MAX: usize = 24;
/// Units that are packed together: of a section with more, so many begin with a passage of their own.
const UNITS_MAX: usize = 1 << 20;

/// A part that is not divided any more.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unit {
    /// Its bytes in the document.
    pub(super) span: Range<usize>,
    /// What it takes of a passage's limit; never more than all of it.
    pub(super) pieces: usize,
    /// Whether it is a heading: what follows stays with it.
    pub(super) is_heading: bool,
}

/// What a paragraph is divided into where it is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    Sentences,
    /// Blocks of code, and those at lines.
    Lines,
}

impl Parts {
    pub(super) const fn of(language: Option<Language>) -> Self {
        if language.is_some() { Self::Lines } else { Self::Sentences }
    }
}

/// How the units of one document are made.
pub(super) struct Units<'a> {
    pub(super) text: &'a str,
    /// Pieces of a passage at most.
    pub(super) limit: usize,
    pub(super) unit: PassageUnit,
    pub(super) parts: Parts,
    pub(super) count: &'a dyn Fn(&str) -> usize,
    pub(super) cancellation: &'a Cancellation,
}

/// Takes units that are to be packed together.
pub(super) type Pack<'p> = dyn FnMut(&[Unit]) -> Result<()> + 'p;

/// Units on their way to be packed.
struct Sink<'s, 'p> {
    units: Vec<Unit>,
    pack: &'s mut Pack<'p>,
    cancellation: &'s Cancellation,
}

impl Sink<'_, '_> {
    fn push(&mut self, unit: Unit) -> Result<()> {
        self.cancellation.check()?;
        // A heading goes with what follows.
        if self.units.len() >= UNITS_MAX && self.units.last().is_some_and(|last| !last.is_heading) {
            self.pack()?;
        }
        self.units.push(unit);
        Ok(())
    }

    fn pack(&mut self) -> Result<()> {
        (self.pack)(&self.units)?;
        self.units.clear();
        Ok(())
    }
}

impl Units<'_> {
    /// Returns whether the whole text is short enough to be one passage.
    pub(super) fn may_be_whole(&self) -> bool {
        self.unit != PassageUnit::Sentence && self.text.trim().len().div_ceil(BYTES_PER_PIECE_MAX) <= self.limit
    }

    /// Returns the span of the whole text if it is to be one passage.
    pub(super) fn whole(&self, sections: &[Section]) -> Option<Range<usize>> {
        let whole = trimmed(self.text, 0..self.text.len())?;
        let mut room = self.limit;
        for span in sections.iter().flat_map(|section| section.headings.iter().chain(&section.paragraphs)) {
            room = room.checked_sub(self.pieces(span))?;
        }
        Some(whole)
    }

    /// Hands over the units of a section, in order; nearly always all of them together.
    pub(super) fn of(&self, section: &Section, pack: &mut Pack<'_>) -> Result<()> {
        let mut units = Sink { units: Vec::new(), pack, cancellation: self.cancellation };
        // A heading takes room from the unit that follows. It may not take more than half of it.
        let mut taken = 0;
        for span in &section.headings {
            if let Some(unit) = self.fits(span, (self.limit / 2).saturating_sub(taken)) {
                taken += unit.pieces;
                units.push(Unit { is_heading: true, ..unit })?;
            } else {
                self.push_words(span, self.limit - taken, &mut units)?;
                taken = 0;
            }
        }
        for span in &section.paragraphs {
            match self.unit {
                PassageUnit::Structure => self.push_paragraph(span, self.limit - taken, &mut units)?,
                PassageUnit::Sentence => self.push_sentences(span, self.limit - taken, &mut units)?,
            }
            taken = 0;
        }
        units.pack()
    }

    /// Appends a paragraph, whole if it has at most `room` pieces.
    fn push_paragraph(&self, span: &Range<usize>, room: usize, units: &mut Sink<'_, '_>) -> Result<()> {
        match self.fits(span, room) {
            Some(unit) => units.push(unit),
            None => self.push_sentences(span, room, units),
        }
    }

    /// Appends the sentences of a paragraph; the first has `room`.
    fn push_sentences(&self, span: &Range<usize>, room: usize, units: &mut Sink<'_, '_>) -> Result<()> {
        if self.parts == Parts::Lines {
            return self.push_blocks(span, room, units);
        }
        let paragraph = self.text.get(span.clone()).unwrap_or_default();
        let mut room = room;
        for sentence in text::sentences(paragraph) {
            let span = span.start + sentence.start..span.start + sentence.end;
            match self.fits(&span, room) {
                Some(unit) => units.push(unit)?,
                None => self.push_words(&span, room, units)?,
            }
            room = self.limit;
        }
        Ok(())
    }

    /// Appends the blocks of code; one that is too long as its lines. The first has `room`.
    fn push_blocks(&self, span: &Range<usize>, room: usize, units: &mut Sink<'_, '_>) -> Result<()> {
        let code = self.text.get(span.clone()).unwrap_or_default();
        let mut room = room;
        for block in text::code_blocks(code) {
            let block = span.start + block.start..span.start + block.end;
            if let Some(unit) = self.fits(&block, room) {
                units.push(unit)?;
                room = self.limit;
                continue;
            }
            let mut start = block.start;
            for line in self.text.get(block).unwrap_or_default().split_inclusive('\n') {
                let end = start + line.len();
                if let Some(line) = trimmed(self.text, start..end) {
                    match self.fits(&line, room) {
                        Some(unit) => units.push(unit)?,
                        None => self.push_words(&line, room, units)?,
                    }
                    room = self.limit;
                }
                start = end;
            }
        }
        Ok(())
    }

    /// Appends a long sentence as runs of words that fill `room`, and then the limit.
    fn push_words(&self, span: &Range<usize>, room: usize, units: &mut Sink<'_, '_>) -> Result<()> {
        let mut run = Run { room, limit: self.limit, open: None };
        let sentence = self.text.get(span.clone()).unwrap_or_default();
        let mut start = span.start;
        for word in sentence.split_inclusive(char::is_whitespace) {
            let end = start + word.len();
            if let Some(word) = trimmed(self.text, start..end) {
                match self.fits(&word, self.limit) {
                    Some(unit) => run.push(unit, units)?,
                    None => self.push_characters(&word, &mut run, units)?,
                }
            }
            start = end;
        }
        run.open.map_or(Ok(()), |unit| units.push(unit))
    }

    fn push_characters(&self, span: &Range<usize>, run: &mut Run, units: &mut Sink<'_, '_>) -> Result<()> {
        let word = self.text.get(span.clone()).unwrap_or_default();
        for (at, c) in word.char_indices() {
            let character = span.start + at..span.start + at + c.len_utf8();
            let pieces = self.pieces(&character).clamp(1, self.limit);
            run.push(Unit { span: character, pieces, is_heading: false }, units)?;
        }
        Ok(())
    }

    /// Returns the span as a unit if it has at most `room` pieces.
    fn fits(&self, span: &Range<usize>, room: usize) -> Option<Unit> {
        // What is too long in bytes need not be counted.
        if span.len().div_ceil(BYTES_PER_PIECE_MAX) > room {
            return None;
        }
        let pieces = self.pieces(span);
        (pieces <= room).then(|| Unit { span: span.clone(), pieces, is_heading: false })
    }

    fn pieces(&self, span: &Range<usize>) -> usize {
        let counted = (self.count)(self.text.get(span.clone()).unwrap_or_default());
        counted.max(span.len().div_ceil(BYTES_PER_PIECE_MAX))
    }
}

/// A unit that grows word by word.
struct Run {
    /// Pieces that it may have.
    room: usize,
    /// Pieces that the next may have.
    limit: usize,
    open: Option<Unit>,
}

impl Run {
    fn push(&mut self, unit: Unit, units: &mut Sink<'_, '_>) -> Result<()> {
        match &mut self.open {
            Some(open) if open.pieces + unit.pieces <= self.room => {
                open.span.end = unit.span.end;
                open.pieces += unit.pieces;
            }
            open => {
                let is_first = open.is_none() && unit.pieces <= self.room;
                let full = open.replace(unit);
                self.room = if is_first { self.room } else { self.limit };
                return full.map_or(Ok(()), |full| units.push(full));
            }
        }
        Ok(())
    }
}

/// Returns one span a unit, headings with what follows.
pub(super) fn each(units: &[Unit]) -> Vec<Range<usize>> {
    let ends = units.chunk_by(|before, _| before.is_heading);
    ends.filter_map(|run| Some(run.first()?.span.start..run.last()?.span.end)).collect()
}
