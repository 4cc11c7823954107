//! Writes headings, paragraphs, rows and pages as lines of Markdown, the form in which documents are kept.

use crate::domain::{PAGE_END, PositionMark, Positions};

/// Levels of headings.
const LEVELS_MAX: usize = 6;

/// The text so far.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    text: String,
    pages: Vec<PositionMark>,
    /// What the last line was: the lines of lists and tables have no blank lines between them.
    last: Option<Block>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Heading,
    Paragraph,
    Item,
    Row,
}

impl Blocks {
    /// Appends a heading; level 1 is the highest.
    pub(super) fn heading(&mut self, level: usize, text: &str) {
        let text = one_line(text);
        if !text.is_empty() {
            self.begin(Block::Heading);
            self.text.extend(std::iter::repeat_n('#', level.clamp(1, LEVELS_MAX)));
            self.text.push(' ');
            self.text.push_str(&text);
        }
    }

    /// Appends a paragraph, keeping its line breaks.
    pub(super) fn paragraph(&mut self, text: &str) {
        self.block(Block::Paragraph, "", text);
    }

    /// Appends a list item at nesting level `depth`, from 0.
    pub(super) fn item(&mut self, depth: usize, marker: &str, text: &str) {
        self.block(Block::Item, &format!("{}{marker} ", "  ".repeat(depth.min(8))), text);
    }

    /// Appends a row of a table, unless all its cells are empty.
    pub(super) fn row<'a>(&mut self, cells: impl Iterator<Item = &'a str>) {
        let cells: Vec<String> = cells.map(one_line).collect();
        let end = cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
        if end > 0 {
            self.block(Block::Row, "", &cells[..end].join(" | "));
        }
    }

    /// Appends a single line as a row.
    pub(super) fn line(&mut self, text: &str) {
        self.block(Block::Row, "", text);
    }

    /// Begins a page, slide or sheet.
    pub(super) fn page(&mut self, number: u32) {
        if !self.pages.is_empty() {
            self.text.push_str("\n\n");
            self.text.push(PAGE_END);
            self.last = None;
        }
        self.pages.push(PositionMark { offset: self.text.len() as u32, number });
    }

    /// Returns the length of the text in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns the text and its pages, if there are any.
    pub(super) fn finish(self) -> (String, Positions) {
        let positions = if self.pages.is_empty() { Positions::None } else { Positions::Pages(self.pages) };
        (self.text, positions)
    }

    fn block(&mut self, block: Block, before: &str, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.begin(block);
        for (at, line) in text.trim_end().lines().enumerate() {
            if at > 0 {
                self.text.push('\n');
            }
            self.text.push_str(before);
            if before.is_empty() {
                push_plain(&mut self.text, line);
            } else {
                self.text.push_str(line);
            }
        }
    }

    fn begin(&mut self, block: Block) {
        match self.last {
            None => {}
            Some(last) if last == block && matches!(block, Block::Item | Block::Row) => self.text.push('\n'),
            Some(_) => self.text.push_str("\n\n"),
        }
        self.last = Some(block);
    }
}

/// Appends a line of text in such a form that it is not read as a heading.
pub(super) fn push_plain(text: &mut String, line: &str) {
    if is_like_heading(line.trim_start()) {
        text.push('\\');
    }
    text.push_str(line);
}

/// Returns whether a line would be read as a heading.
fn is_like_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    rest.len() < line.len() && (rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// Returns text with one space for each stretch of white space.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_stand_apart_and_lists_and_tables_together() {
        let mut blocks = Blocks::default();
        blocks.heading(1, "The\nmill");
        blocks.paragraph("It stands.\n# no heading");
        blocks.item(0, "-", "wheel");
        blocks.item(1, "-", "axle");
        blocks.row(["name", "", "price"].into_iter());
        blocks.row(["", ""].into_iter());
        blocks.row(["wheel", "a\nb", ""].into_iter());
        blocks.paragraph("  ");
        let (text, positions) = blocks.finish();
        let expect = "# The mill\n\nIt stands.\n\\# no heading\n\n- wheel\n  - axle\n\nname |  | price\nwheel | a b";
        assert_eq!((text.as_str(), positions), (expect, Positions::None));
    }

    #[test]
    fn pages_are_marked_and_separated() {
        let mut blocks = Blocks::default();
        for number in 1..=3 {
            blocks.page(number);
            if number != 2 {
                blocks.paragraph("text");
            }
        }
        let (text, positions) = blocks.finish();
        assert_eq!(text, "text\n\n\x0c\n\n\x0ctext");
        assert_eq!(positions, Positions::Pages(vec![(0, 1).into(), (7, 2).into(), (10, 3).into()]));
    }
}
