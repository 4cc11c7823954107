//! The place of a part of a document's text in its file, by line or by page.

use serde::{Deserialize, Serialize};

/// The mark at the end of a page in the text of a document, by which the page of a part follows from the part before.
pub const PAGE_END: char = '\x0c';

/// A position in the text with a known line or page in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u32)", into = "(u32, u32)")]
pub struct PositionMark {
    /// The first byte in the text.
    pub offset: u32,
    /// The line or page that begins there, from 1.
    pub number: u32,
}

impl From<(u32, u32)> for PositionMark {
    fn from((offset, number): (u32, u32)) -> Self {
        Self { offset, number }
    }
}

impl From<PositionMark> for (u32, u32) {
    fn from(mark: PositionMark) -> Self {
        (mark.offset, mark.number)
    }
}

/// How places in the text of a document map to its file. Marks are in the order of their offsets, which are distinct.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Positions {
    /// The file has neither lines nor pages.
    #[default]
    None,
    /// By line: the number of the last mark, and one more for each line that ended since.
    Lines(Vec<PositionMark>),
    /// By page, slide or sheet: the number of the last mark. A [`PAGE_END`] separates two pages.
    Pages(Vec<PositionMark>),
}

impl Positions {
    /// Returns the lines of a text that is unchanged from its file.
    #[must_use]
    pub fn of_lines() -> Self {
        Self::Lines(vec![PositionMark { offset: 0, number: 1 }])
    }

    /// Returns whether there are none.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// Returns the page of a byte of `text`, if there are pages.
    #[must_use]
    pub fn page_at(&self, offset: u32) -> Option<u32> {
        match self {
            Self::Pages(marks) => last_before(marks, offset).map(|mark| mark.number),
            Self::None | Self::Lines(_) => None,
        }
    }

    /// Returns the line of a byte of `text`, if there are lines.
    ///
    /// # Complexity
    ///
    /// Linear in the distance between the byte and the last mark before it; use [`Lines`] for many bytes.
    #[must_use]
    pub fn line_at(&self, text: &str, offset: u32) -> Option<u32> {
        Lines::of(self, text).at(offset).map(|place| place.line)
    }

    /// Returns whether the text has the lines of its file, from the first on.
    fn are_lines_of_text(&self) -> bool {
        matches!(self, Self::Lines(marks) if matches!(marks[..], [PositionMark { offset: 0, number: 1 }]))
    }
}

/// A place in a file that has lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinePlace {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters (Unicode code points). None if lines of the text are not those of the file, as
    /// in a table.
    pub column: Option<u32>,
}

fn last_before(marks: &[PositionMark], offset: u32) -> Option<PositionMark> {
    let after = marks.partition_point(|mark| mark.offset <= offset);
    marks.get(after.checked_sub(1)?).copied()
}

/// The lines of a text, for look-ups in ascending order: all of them together read the text once.
#[derive(Debug)]
pub struct Lines<'a> {
    positions: &'a Positions,
    text: &'a str,
    /// The last byte looked up, and its line.
    last: Option<PositionMark>,
    /// The column of that byte.
    column: u32,
}

impl<'a> Lines<'a> {
    /// Returns the lines of `text`.
    #[must_use]
    pub const fn of(positions: &'a Positions, text: &'a str) -> Self {
        Self { positions, text, last: None, column: 1 }
    }

    /// Returns the place of a byte, if there are lines.
    pub fn at(&mut self, offset: u32) -> Option<LinePlace> {
        let Positions::Lines(marks) = self.positions else { return None };
        let mark = last_before(marks, offset)?;
        let last = self.last.filter(|last| mark.offset <= last.offset && last.offset <= offset);
        let (from, column) = last.map_or((mark, 1), |last| (last, self.column));
        let between = self.text.get(from.offset as usize..offset as usize)?;
        let line = line_behind(from.number, between);
        self.column = column_behind(column, between);
        self.last = Some(PositionMark { offset, number: line });
        Some(LinePlace { line, column: self.positions.are_lines_of_text().then_some(self.column) })
    }
}

/// Returns the page of a part after `before`, which begins on `page`.
pub(super) fn page_behind(page: u32, before: &str) -> u32 {
    page.saturating_add(before.matches(PAGE_END).count() as u32)
}

/// Returns the line of a part after `before`, which begins on `line`.
pub(super) fn line_behind(line: u32, before: &str) -> u32 {
    line.saturating_add(before.bytes().filter(|byte| *byte == b'\n').count() as u32)
}

/// Returns the column of a part after `before`, which begins in `column`.
pub(super) fn column_behind(column: u32, before: &str) -> u32 {
    match before.rsplit_once('\n') {
        Some((_, line)) => 1 + line.chars().count() as u32,
        None => column.saturating_add(before.chars().count() as u32),
    }
}

/// Returns a place in a file in a form that programs open: `book.pdf#page=3`, `notes.md:12`, or the file alone.
#[must_use]
pub fn location(uri: &str, page: Option<u32>, line: Option<u32>) -> String {
    match (page, line) {
        (Some(page), _) => format!("{uri}#page={page}"),
        (None, Some(line)) => format!("{uri}:{line}"),
        (None, None) => uri.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marks(all: &[(u32, u32)]) -> Vec<PositionMark> {
        all.iter().copied().map(PositionMark::from).collect()
    }

    #[test]
    fn a_line_is_that_of_the_mark_and_one_more_for_each_end_since() {
        let text = "a\nb\nfar\noff";
        let positions = Positions::Lines(marks(&[(0, 3), (4, 90)]));
        let found: Vec<_> = [0, 2, 3, 4, 8].map(|offset| positions.line_at(text, offset)).into();
        assert_eq!(found, [Some(3), Some(4), Some(4), Some(90), Some(91)]);
        assert_eq!((positions.page_at(4), positions.line_at(text, 99)), (None, None));
        assert_eq!(Positions::Lines(marks(&[(4, 2)])).line_at(text, 1), None);
    }

    #[test]
    fn a_column_counts_characters_where_the_text_has_the_lines_of_its_file() {
        let (whole, table) = (Positions::of_lines(), Positions::Lines(marks(&[(0, 2)])));
        let mut lines = Lines::of(&whole, "Ärger 山\nb");
        let found: Vec<_> = [0, 2, 7, 11, 12].map(|offset| lines.at(offset).map(|it| (it.line, it.column))).into();
        assert_eq!(found, [(1, 1), (1, 2), (1, 7), (2, 1), (2, 2)].map(|(line, column)| Some((line, Some(column)))));
        assert_eq!(Lines::of(&table, "a: b").at(3), Some(LinePlace { line: 2, column: None }));
    }

    #[test]
    fn a_page_is_that_of_the_last_mark() {
        let positions = Positions::Pages(marks(&[(0, 1), (10, 2), (20, 4)]));
        let found: Vec<_> = [0, 9, 10, 25].map(|offset| positions.page_at(offset)).into();
        assert_eq!(found, [Some(1), Some(1), Some(2), Some(4)]);
        assert_eq!((positions.line_at("text", 0), Positions::None.page_at(0)), (None, None));
    }

    #[test]
    fn a_part_is_told_its_place_by_what_stands_before() {
        assert_eq!((page_behind(3, "a\x0cb\x0c"), line_behind(7, "a\nb\r\n")), (5, 9));
        assert_eq!((column_behind(7, "Ärger "), column_behind(7, "a\nÄrger "), column_behind(7, "a\n")), (13, 7, 1));
        assert_eq!(location("a.pdf", Some(3), None), "a.pdf#page=3");
        assert_eq!(location("a.md", None, Some(12)), "a.md:12");
        assert_eq!(location("a.html", None, None), "a.html");
    }

    #[test]
    fn positions_are_kept_as_short_json() {
        let positions = Positions::Pages(marks(&[(0, 1), (10, 2)]));
        let json = serde_json::to_string(&positions).unwrap();
        assert_eq!(json, r#"{"pages":[[0,1],[10,2]]}"#);
        assert_eq!(serde_json::from_str::<Positions>(&json).unwrap(), positions);
    }

    proptest! {
        #[test]
        fn lines_in_order_are_the_lines_one_by_one(
            text in "[a\n]{0,60}",
            mut asked in prop::collection::vec(0u32..60, 0..20),
        ) {
            asked.sort_unstable();
            for positions in [Positions::of_lines(), Positions::Lines(marks(&[(0, 1), (7, 40), (30, 2)]))] {
                let mut lines = Lines::of(&positions, &text);
                for &offset in &asked {
                    prop_assert_eq!(lines.at(offset), Lines::of(&positions, &text).at(offset));
                }
            }
        }
    }
}
