//! Spreadsheets: a row is a line that names its columns, a sheet is a section. Runs in a worker: a small file can claim
//! a billion cells.

use std::io::Cursor;

use calamine::{Data, Range, Reader as _, Sheets, open_workbook_auto_from_rs};

use super::Rows;
use super::blocks::{Blocks, one_line};
use super::extracted::Extracted;
use super::worker::{Give, LeftOut, Piece, Refusal};
use crate::domain::Metadata;

/// Rows of all sheets at most.
const ROWS_MAX: usize = 1_000_000;
/// Columns of a sheet at most.
const COLUMNS_MAX: usize = 1_024;
/// Rows at the top of a sheet in which the names of the columns are looked for.
const HEADER_ROWS: usize = 20;
/// Characters of the name of a column at most.
const NAME_CHARS_MAX: usize = 80;

/// Reads a file.
pub(super) fn read(bytes: &[u8], rows: Rows, give: &mut Give<'_>) -> Result<(), Refusal> {
    let damaged = |error: calamine::Error| {
        let said = error.to_string();
        if said.to_lowercase().contains("password") {
            return Refusal::of_all("it is encrypted: open it with its password, save it without one, then index that");
        }
        Refusal::damaged(format!("it is not a readable spreadsheet: {said}"))
    };
    let mut workbook = open_workbook_auto_from_rs(Cursor::new(bytes)).map_err(damaged)?;
    let media_type = media_type(&workbook);
    let mut whole = Whole { blocks: Blocks::default(), rows: 0, media_type, by_row: rows };
    for name in workbook.sheet_names() {
        // A chart is a sheet without cells.
        let Ok(cells) = workbook.worksheet_range(&name) else { continue };
        whole.sheet(&name, &cells, give)?;
    }
    if whole.rows == 0 {
        return Err(Refusal::of_all("its sheets are empty"));
    }
    if rows == Rows::Each {
        return Ok(());
    }
    let (text, positions) = whole.blocks.finish();
    let extracted =
        Extracted { title: None, text, media_type: media_type.to_owned(), metadata: Metadata::new(), positions };
    give(Piece::Document { within: String::new(), extracted })
}

fn media_type<RS>(workbook: &Sheets<RS>) -> &'static str {
    match workbook {
        Sheets::Xls(_) => "application/vnd.ms-excel",
        Sheets::Ods(_) => "application/vnd.oasis.opendocument.spreadsheet",
        _ => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    }
}

/// The text of a spreadsheet so far.
struct Whole {
    blocks: Blocks,
    rows: usize,
    media_type: &'static str,
    by_row: Rows,
}

impl Whole {
    fn sheet(&mut self, name: &str, cells: &Range<Data>, give: &mut Give<'_>) -> Result<(), Refusal> {
        let rows: Vec<Vec<String>> = cells.rows().take(ROWS_MAX).map(texts).collect();
        let first_row = cells.start().map_or(0, |start| start.0 as usize);
        let is_cut = cells.width() > COLUMNS_MAX || cells.height() > ROWS_MAX;
        let header = header(&rows);
        let names = header.map(|at| rows[at].as_slice()).unwrap_or_default();
        if self.by_row == Rows::Together {
            self.blocks.heading(1, name);
        }
        for (at, row) in rows.iter().enumerate() {
            if Some(at) == header || row.iter().all(String::is_empty) {
                continue;
            }
            if self.rows >= ROWS_MAX {
                break;
            }
            self.rows += 1;
            let text = line(names, row);
            match self.by_row {
                Rows::Together => self.blocks.line(&text),
                Rows::Each => {
                    let within = format!("#{name}:{}", first_row + at + 1);
                    let metadata = Metadata::from([("sheet".to_owned(), name.to_owned())]);
                    let media_type = self.media_type.to_owned();
                    let extracted = Extracted { text, media_type, metadata, ..Extracted::default() };
                    give(Piece::Document { within, extracted })?;
                }
            }
        }
        if is_cut || self.rows >= ROWS_MAX {
            let reason = format!("beyond {COLUMNS_MAX} columns or {ROWS_MAX} rows");
            give(Piece::Left(LeftOut { name: name.to_owned(), reason }))?;
        }
        Ok(())
    }
}

/// Returns the row that names the columns: the first with a name in most columns and another row below it.
fn header(rows: &[Vec<String>]) -> Option<usize> {
    let filled = |row: &[String]| row.iter().filter(|cell| !cell.is_empty()).count();
    let widest = rows.iter().map(|row| filled(row)).max().unwrap_or(0);
    let is_name = |cell: &String| !cell.is_empty() && cell.parse::<f64>().is_err();
    let is_header = |row: &[String]| {
        let named = row.iter().filter(|cell| is_name(cell)).count();
        2 * named > widest && named == filled(row)
    };
    let found = rows.iter().take(HEADER_ROWS).position(|row| is_header(row))?;
    (widest > 1 && found + 1 < rows.len()).then_some(found)
}

/// Returns a row as text: `name: value; name: value`.
fn line(names: &[String], row: &[String]) -> String {
    let cells = row.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
    let cells = cells.map(|(at, cell)| match names.get(at).filter(|name| !name.is_empty()) {
        Some(name) => format!("{}: {cell}", name.chars().take(NAME_CHARS_MAX).collect::<String>()),
        None => cell.clone(),
    });
    cells.collect::<Vec<_>>().join("; ")
}

fn texts(row: &[Data]) -> Vec<String> {
    row.iter().take(COLUMNS_MAX).map(text).collect()
}

fn text(cell: &Data) -> String {
    match cell {
        Data::DateTime(moment) if moment.is_datetime() => date(moment.as_f64(), moment.to_ymd_hms_milli()),
        Data::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => format!("{number:.0}"),
        Data::Float(number) => rounded(*number),
        Data::DateTimeIso(text) => text.trim_end_matches("T00:00:00").to_owned(),
        Data::Error(_) | Data::Empty => String::new(),
        other => one_line(&other.to_string()),
    }
}

/// Returns a number as spreadsheets show it, without the extra digits of binary fractions.
fn rounded(number: f64) -> String {
    let text = format!("{number:.10}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn date(days: f64, (year, month, day, hour, minute, second, _): (u16, u8, u8, u8, u8, u8, u16)) -> String {
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    match (days < 1.0, time.as_str()) {
        (true, _) => time,
        (_, "00:00:00") => format!("{year}-{month:02}-{day:02}"),
        _ => format!("{year}-{month:02}-{day:02} {time}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(all: &[&[&str]]) -> Vec<Vec<String>> {
        all.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
    }

    #[test]
    fn the_row_with_names_is_found() {
        for (all, expect) in [
            (rows(&[&["name", "price"], &["wheel", "3"]]), Some(0)),
            (rows(&[&["Prices of 1802", ""], &["name", "price"], &["wheel", "3"]]), Some(1)),
            (rows(&[&["1", "2"], &["3", "4"]]), None),
            (rows(&[&["name", "price"]]), None),
            (rows(&[&["a"], &["b"]]), None),
            (rows(&[]), None),
        ] {
            assert_eq!(header(&all), expect, "{all:?}");
        }
    }

    #[test]
    fn a_row_names_its_columns() {
        let all = rows(&[&["name", "", "price"], &["wheel", "oak", "3"], &["", "", ""]]);
        assert_eq!(line(&all[0], &all[1]), "name: wheel; oak; price: 3");
        assert_eq!(line(&[], &all[1]), "wheel; oak; 3");
        assert_eq!(line(&all[0], &all[2]), "");
    }

    #[test]
    fn numbers_are_written_as_people_do() {
        for (cell, expect) in [
            (Data::Float(3.0), "3"),
            (Data::Float(0.1 + 0.2), "0.3"),
            (Data::Int(7), "7"),
            (Data::Bool(true), "true"),
            (Data::String(" a\nb ".to_owned()), "a b"),
            (Data::Empty, ""),
        ] {
            assert_eq!(text(&cell), expect);
        }
        assert_eq!(date(45_000.0, (2023, 3, 15, 0, 0, 0, 0)), "2023-03-15");
        assert_eq!(date(0.5, (1899, 12, 31, 12, 0, 0, 0)), "12:00:00");
    }
}
