//! Source code: kept as it is, line by line. Definitions are recognized later, when it is divided.

use super::extracted::{Extracted, Part};
use super::formats::Input;
use super::reader::parse_text;
use crate::chunk;
use crate::domain::Positions;

/// Smallest size of a file that is checked for being minified, in bytes.
const PACKED_BYTES_MIN: usize = 4_096;
/// Maximum average line length in bytes: nobody writes longer lines.
const LINE_BYTES_MAX: usize = 400;

/// Parses a file of source code; its path is its title, because others refer to it by that.
pub(super) fn parse(input: Input<'_>) -> Result<Vec<Part>, String> {
    let Input { name, bytes, media_type, .. } = input;
    let extracted = parse_text(bytes, |text| {
        if is_packed(&text) {
            return Err("its lines are too long for hand-written code: it is minified or generated".to_owned());
        }
        Ok(Extracted { text, positions: Positions::of_lines(), ..Extracted::default() })
    })?;
    // Saved web pages come with scripts of data, by the thousand.
    let is_script = media_type == "text/javascript";
    if is_script && !extracted.text.trim().is_empty() && !chunk::defines(&extracted.text, media_type) {
        return Err("a script that defines nothing".to_owned());
    }
    let content = Ok(Extracted { title: Some(name.to_owned()), ..extracted });
    Ok(vec![Part { address: String::new(), content }])
}

fn is_packed(text: &str) -> bool {
    text.len() >= PACKED_BYTES_MIN && text.len() / text.lines().count().max(1) > LINE_BYTES_MAX
}

/// Returns whether the first line of a file names one of these programs as its interpreter.
pub(super) fn is_run_by(head: &[u8], programs: &[&str]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let Some(command) = line.strip_prefix(b"#!").and_then(|it| std::str::from_utf8(it).ok()) else { return false };
    let mut words = command.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = words.find(|word| *word != "env" && !word.starts_with('-')).unwrap_or_default();
    programs.contains(&program.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::IngestOptions;

    fn parsed(text: &str, media_type: &'static str) -> Result<Extracted, String> {
        let options = IngestOptions::default();
        let input = Input { name: "mill/wheel", bytes: text.as_bytes().to_vec(), options: &options, media_type };
        parse(input).and_then(|mut parts| parts.remove(0).content)
    }

    #[test]
    fn code_is_kept_as_it_is_and_called_by_its_path() {
        let code = "/// Turns.\nfn turn() {}\n";
        let extracted = parsed(code, "text/x-rust").unwrap();
        assert_eq!((extracted.title.as_deref(), extracted.text.as_str()), (Some("mill/wheel"), code));
        assert_eq!(extracted.positions.line_at(&extracted.text, 11), Some(2));
    }

    #[test]
    fn what_is_made_for_machines_is_left_out() {
        let long = "x = 1; ".repeat(1_000);
        assert!(parsed(&long, "text/x-c").unwrap_err().contains("minified"));
        assert!(parsed(&long.replace("; ", ";\n"), "text/x-c").is_ok());
        assert_eq!(
            parsed("addIndex({wheel: 1});\n", "text/javascript"),
            Err("a script that defines nothing".to_owned())
        );
        assert!(parsed("function turn() {}\n", "text/javascript").is_ok());
    }

    #[test]
    fn the_first_line_says_what_runs_a_file() {
        for (head, expect) in [
            ("#!/bin/sh\n", true),
            ("#!/usr/bin/env -S bash -e\n", true),
            ("#! /usr/bin/bash\n", true),
            ("#!/usr/bin/python3.11\n", false),
            ("sh\n", false),
            ("#!", false),
        ] {
            assert_eq!(is_run_by(head.as_bytes(), &["sh", "bash"]), expect, "{head}");
        }
        assert!(is_run_by(b"#!/usr/bin/python3.11\n", &["python"]));
    }
}
