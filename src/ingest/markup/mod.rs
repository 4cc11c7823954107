//! Markup languages: reStructuredText, `AsciiDoc`, Org and LaTeX, by our own rules.
//!
//! A line stays a line: headings become Markdown headings, code is fenced with backticks, lines without text become
//! blank, so line numbers in the text are those in the file.

mod asciidoc;
mod latex;
mod org;
mod rst;

pub(super) use asciidoc::parse as asciidoc;
pub(super) use latex::parse as latex;
pub(super) use org::parse as org;
pub(super) use rst::{is_like as is_like_rst, parse as rst};

use super::extracted::Extracted;
use crate::domain::{Metadata, Positions};

/// The line before and after code.
const FENCE: &str = "```";
/// Levels of headings.
const LEVELS_MAX: usize = 6;

/// The lines of a file, and the text that they become.
struct Lines<'a> {
    all: Vec<&'a str>,
    out: String,
    title: Option<String>,
    metadata: Metadata,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        Self {
            all: text.lines().collect(),
            out: String::with_capacity(text.len() + 64),
            title: None,
            metadata: Metadata::new(),
        }
    }

    fn get(&self, number: usize) -> Option<&'a str> {
        self.all.get(number).copied()
    }

    fn is_blank(&self, number: usize) -> bool {
        self.get(number).is_none_or(|line| line.trim().is_empty())
    }

    /// Returns the next line from `number` on that is not blank.
    fn next_text(&self, number: usize) -> Option<usize> {
        (number..self.all.len()).find(|it| !self.is_blank(*it))
    }

    /// Writes a line.
    fn push(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    fn push_blank(&mut self, count: usize) {
        (0..count).for_each(|_| self.out.push('\n'));
    }

    /// Writes a heading; the first is the title.
    fn push_heading(&mut self, level: usize, text: &str) {
        if self.title.is_none() && !text.trim().is_empty() {
            self.title = Some(text.trim().to_owned());
        }
        let signs = "#".repeat(level.clamp(1, LEVELS_MAX));
        self.push(&format!("{signs} {}", text.trim()));
    }

    fn finish(self, media_type: &str) -> Extracted {
        let Self { out, title, metadata, .. } = self;
        Extracted { title, text: out, media_type: media_type.to_owned(), metadata, positions: Positions::of_lines() }
    }
}

/// Returns the indentation of a line.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

#[cfg(test)]
mod tests;
