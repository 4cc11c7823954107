//! Assembles lines from characters and their positions on a page.
//!
//! A file gives the position of each character, but seldom the ends of words and lines. A line ends where the next
//! character is lower or higher, or too far left; a space is a gap of a tenth of the letters' height. All of this is
//! measured along the direction of writing, so rotated pages read like others.

use pdf_extract::{MediaBox, OutputDev, OutputError, Transform};

use super::page::{Gap, Line, Page};

/// A gap between two characters counts as a space from this size on, in heights of a letter.
const SPACE: f64 = 0.1;
/// How much higher or lower a character must be to begin another line: if it is farther left, and otherwise.
const LINE: f64 = 0.5;
const FAR_LINE: f64 = 1.5;
/// How much lower a line must be to begin another paragraph.
const PARAGRAPH: f64 = 1.8;
/// Bytes of all lines at most: a page can draw the same text again and again.
const BYTES_MAX: usize = 96 << 20;

/// Collects the characters of pages into lines.
#[derive(Default)]
pub(super) struct Characters {
    pages: Vec<Page>,
    line: Line,
    /// Where the last character ends, and its height, along the direction of writing.
    last: Option<Place>,
    /// Whether the next character begins a piece of text.
    begins: bool,
    bytes: usize,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    end: f64,
    height: f64,
    size: f64,
    direction: (f64, f64),
}

impl Default for Line {
    fn default() -> Self {
        Self { text: String::new(), size: 0.0, height: 0.0, before: Gap::Jump }
    }
}

impl Characters {
    /// Returns the pages; the last one may be incomplete.
    pub(super) fn finish(mut self) -> Vec<Page> {
        self.end_line();
        self.pages
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let text = line.text.trim();
        if let Some(page) = self.pages.last_mut()
            && !text.is_empty()
        {
            page.lines.push(Line { text: text.to_owned(), ..line });
        }
    }

    /// Returns the gap before a character that begins a piece of text.
    fn gap(&self, start: f64, place: Place) -> Option<Gap> {
        let Some(last) = self.last else { return Some(Gap::Jump) };
        let turned = (last.direction.0 - place.direction.0).abs() + (last.direction.1 - place.direction.1).abs();
        if turned > 0.1 {
            return Some(Gap::Jump);
        }
        let lower = last.height - place.height;
        let is_far = lower.abs() > place.size * FAR_LINE;
        let is_next = start < last.end && lower.abs() > place.size * LINE;
        let size = place.size.max(last.size);
        match lower {
            _ if !is_far && !is_next => None,
            lower if lower < 0.0 || lower > size * 8.0 => Some(Gap::Jump),
            lower if lower > size * PARAGRAPH => Some(Gap::Wide),
            _ => Some(Gap::Close),
        }
    }
}

impl OutputDev for Characters {
    fn begin_page(
        &mut self,
        page_num: u32,
        _media_box: &MediaBox,
        _art_box: Option<(f64, f64, f64, f64)>,
    ) -> Result<(), OutputError> {
        self.end_line();
        self.pages.push(Page { number: page_num, lines: Vec::new() });
        self.last = None;
        Ok(())
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        self.end_line();
        Ok(())
    }

    fn output_character(
        &mut self,
        trm: &Transform,
        width: f64,
        _spacing: f64,
        font_size: f64,
        char: &str,
    ) -> Result<(), OutputError> {
        let along = trm.m11.hypot(trm.m12);
        let size = trm.m21.hypot(trm.m22) * font_size.abs();
        let direction = if along > 0.0 { (trm.m11 / along, trm.m12 / along) } else { (1.0, 0.0) };
        let start = trm.m31 * direction.0 + trm.m32 * direction.1;
        let height = trm.m32 * direction.0 - trm.m31 * direction.1;
        let end = start + width * along * font_size.abs();
        let place = Place { end, height, size, direction };
        if self.begins {
            if let Some(gap) = self.gap(start, place) {
                self.end_line();
                self.line.before = gap;
            } else if self.last.is_some_and(|last| start > last.end + size * SPACE) && !self.line.text.ends_with(' ') {
                self.line.text.push(' ');
            }
        }
        self.bytes += char.len();
        if self.bytes > BYTES_MAX {
            return Err(OutputError::FormatError(std::fmt::Error));
        }
        self.line.text.push_str(char);
        self.line.size = self.line.size.max(size as f32);
        self.line.height = height as f32;
        self.begins = false;
        self.last = Some(place);
        Ok(())
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        self.begins = true;
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        Ok(())
    }
}
