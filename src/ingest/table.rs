//! Tables: values separated by commas, tabs or semicolons. A row is a line of text with the names of its columns.

use super::extracted::{Extracted, Part};
use super::formats::Input;
use super::{Rows, encoding, encoding::Decoded};
use crate::domain::{Metadata, PositionMark, Positions};

/// Columns of a table that are distinguished.
const COLUMNS_MAX: usize = 1_024;
/// Maximum rows that are documents of their own.
const ROWS_MAX: usize = 1_000_000;

/// Parses a table with values separated by commas, or by semicolons if the first line has more of them.
pub(super) fn commas(input: Input<'_>) -> Result<Vec<Part>, String> {
    parse(input, None)
}

/// Parses a table with values separated by tabs.
pub(super) fn tabs(input: Input<'_>) -> Result<Vec<Part>, String> {
    parse(input, Some(b'\t'))
}

fn parse(input: Input<'_>, delimiter: Option<u8>) -> Result<Vec<Part>, String> {
    let Decoded { text, encoding } = encoding::decode(input.bytes)?;
    let delimiter = delimiter.unwrap_or_else(|| guessed(&text));
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(text.as_bytes());
    let names: Vec<String> = {
        let header = reader.headers().map_err(|error| format!("not a table: {error}"))?;
        header.iter().take(COLUMNS_MAX).map(one_line).collect()
    };
    if names.iter().all(String::is_empty) {
        return Err("it is empty".to_owned());
    }
    let metadata = |encoding: Option<&str>| -> Metadata {
        encoding.map(|name| ("encoding".to_owned(), name.to_owned())).into_iter().collect()
    };
    let mut whole = Whole::default();
    let (mut parts, mut bytes) = (Vec::new(), 0);
    let mut record = csv::StringRecord::new();
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return Err(format!("not a table: {error}")),
        }
        let line = record.position().map_or(1, |it| line_of(&text, it));
        let row = row(&names, &record);
        if row.is_empty() {
            continue;
        }
        bytes += row.len() as u64;
        if bytes > input.options.document_bytes_max {
            let bytes_max = input.options.document_bytes_max;
            return Err(format!("including its column names, it has more than {bytes_max} bytes"));
        }
        match input.options.rows {
            Rows::Together => whole.push(&row, line),
            Rows::Each if parts.len() >= ROWS_MAX => return Err(format!("more than {ROWS_MAX} rows")),
            Rows::Each => {
                let positions = Positions::Lines(vec![PositionMark { offset: 0, number: line }]);
                let title = record.get(0).map(one_line).filter(|it| !it.is_empty());
                let metadata = metadata(encoding);
                let content = Ok(Extracted { title, text: row, media_type: String::new(), metadata, positions });
                parts.push(Part { address: format!("#{line}"), content });
            }
        }
    }
    if input.options.rows == Rows::Each && !parts.is_empty() {
        return Ok(parts);
    }
    let Whole { text, marks, .. } = whole;
    // If a table has only names, they are its text.
    let (text, marks) = if text.is_empty() {
        (format!("| {} |", names.join(" | ")), vec![PositionMark { offset: 0, number: 1 }])
    } else {
        (text, marks)
    };
    let positions = Positions::Lines(marks);
    let content =
        Ok(Extracted { title: None, text, media_type: String::new(), metadata: metadata(encoding), positions });
    Ok(vec![Part { address: String::new(), content }])
}

/// Returns the line on which a row begins: the reader reports where it began to look, which may be before blank lines.
fn line_of(text: &str, position: &csv::Position) -> u32 {
    let rest = text.as_bytes().get(position.byte() as usize..).unwrap_or_default();
    let blank = rest.iter().take_while(|it| matches!(it, b'\n' | b'\r')).filter(|it| **it == b'\n').count();
    (position.line() + blank as u64) as u32
}

/// All rows, one per line.
#[derive(Default)]
struct Whole {
    text: String,
    marks: Vec<PositionMark>,
    /// The line number of the next row, unless another is given.
    next: u32,
}

impl Whole {
    fn push(&mut self, row: &str, line: u32) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        if self.marks.is_empty() || line != self.next {
            self.marks.push(PositionMark { offset: self.text.len() as u32, number: line });
        }
        self.text.push_str(row);
        self.next = line.saturating_add(1);
    }
}

/// Returns a row as a line: each value with the name of its column.
fn row(names: &[String], record: &csv::StringRecord) -> String {
    let mut row = String::new();
    for (number, value) in record.iter().take(COLUMNS_MAX).enumerate() {
        let value = one_line(value);
        if value.is_empty() {
            continue;
        }
        row.push_str(if row.is_empty() { "| " } else { " | " });
        if let Some(name) = names.get(number).filter(|name| !name.is_empty()) {
            row.push_str(name);
            row.push_str(": ");
        }
        row.push_str(&value);
    }
    if !row.is_empty() {
        row.push_str(" |");
    }
    row
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the separator of the values in the first line.
fn guessed(text: &str) -> u8 {
    let first = text.lines().next().unwrap_or_default();
    let count = |sign: char| first.matches(sign).count();
    let (commas, semicolons, tabs) = (count(','), count(';'), count('\t'));
    if tabs > commas && tabs > semicolons {
        b'\t'
    } else if semicolons > commas {
        b';'
    } else {
        b','
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::IngestOptions;

    fn parts(bytes: &[u8], rows: Rows) -> Result<Vec<Part>, String> {
        let options = IngestOptions { rows, document_bytes_max: 100, ..IngestOptions::default() };
        commas(Input { name: "a.csv", bytes: bytes.to_vec(), options: &options, media_type: "text/csv" })
    }

    fn whole(bytes: &[u8]) -> (String, Positions) {
        let parts = parts(bytes, Rows::Together).unwrap();
        let [Part { address, content: Ok(table) }] = parts.as_slice() else { panic!("{parts:?}") };
        assert_eq!(address, "");
        (table.text.clone(), table.positions.clone())
    }

    fn lines(marks: &[(u32, u32)]) -> Positions {
        Positions::Lines(marks.iter().copied().map(PositionMark::from).collect())
    }

    #[test]
    fn a_row_is_a_line_with_the_names_of_its_columns() {
        let (text, positions) = whole(b"Name,Year\nHarl,1799\n\"Tom\n Hale\",\n\nAda,1800,x\n");
        assert_eq!(text, "| Name: Harl | Year: 1799 |\n| Name: Tom Hale |\n| Name: Ada | Year: 1800 | x |");
        assert_eq!(positions, lines(&[(0, 2), (47, 6)]));
        assert_eq!(whole(b"a;b\n1;2,5\n").0, "| a: 1 | b: 2,5 |");
        assert_eq!(whole(b"a\tb\n1\t2\n").0, "| a: 1 | b: 2 |");
        assert_eq!(whole(b"Name,Year\n").0, "| Name | Year |");
        assert_eq!(whole(b"Name\nZo\xeb est ferm\xe9\n").0, "| Name: Zoë est fermé |");
    }

    #[test]
    fn a_row_may_be_a_document() {
        let parts = parts(b"Name,Year\nHarl,1799\nAda,1800\n", Rows::Each).unwrap();
        let shown = |part: &Part| {
            let row = part.content.clone().unwrap();
            (part.address.clone(), row.title.unwrap(), row.text, row.positions)
        };
        let row = |line: u32, name: &str, year: u32| {
            (format!("#{line}"), name.to_owned(), format!("| Name: {name} | Year: {year} |"), lines(&[(0, line)]))
        };
        assert_eq!(parts.iter().map(shown).collect::<Vec<_>>(), [row(2, "Harl", 1799), row(3, "Ada", 1800)]);
    }

    #[test]
    fn names_of_columns_do_not_make_a_table_larger_than_a_document() {
        let large = format!("{}\n{}", "n".repeat(40), "1\n".repeat(9));
        assert_eq!(
            parts(large.as_bytes(), Rows::Together).unwrap_err(),
            "including its column names, it has more than 100 bytes"
        );
        assert_eq!(parts(b"", Rows::Together).unwrap_err(), "it is empty");
    }
}
