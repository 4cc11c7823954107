//! Pages as lines of text with their positions.

/// A line of text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) text: String,
    /// Height of the letters, in points; 0 if it is not known.
    pub(super) size: f32,
    /// Distance from the lower edge of the page; 0 if it is not known.
    pub(super) height: f32,
    /// The gap between it and the line before.
    pub(super) before: Gap,
}

/// The gap between two lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// The line follows closely.
    Close,
    /// There is room between them: a paragraph ends.
    Wide,
    /// The line begins elsewhere on the page, as in the next column.
    Jump,
}

impl Line {
    /// Returns a line of which only the text is known.
    pub(super) fn plain(text: &str) -> Self {
        let before = if text.trim().is_empty() { Gap::Wide } else { Gap::Close };
        Self { text: text.trim().to_owned(), size: 0.0, height: 0.0, before }
    }
}

/// A page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Page {
    /// Counted from 1.
    pub(super) number: u32,
    /// In reading order.
    pub(super) lines: Vec<Line>,
}

impl Page {
    /// Returns the number of letters and digits.
    pub(super) fn letters(&self) -> usize {
        self.lines.iter().map(|line| line.text.chars().filter(|char| char.is_alphanumeric()).count()).sum()
    }
}
