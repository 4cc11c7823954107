//! The terminal: data to stdout, everything else to stderr, and nothing from a document that could steer it.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write};

use crate::text::terminal_escape;

/// Columns that text is wrapped at on a terminal: wider lines are hard to read on any.
const COLUMNS: usize = 80;

/// Where a command writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Screen {
    color: bool,
    /// Whether stdout is a terminal: text is escaped and wrapped.
    terminal: bool,
    /// Whether a person watches stderr.
    pub(super) watched: bool,
}

impl Screen {
    /// Returns the terminal of this process; `no_color` forbids colors.
    #[must_use]
    pub(super) fn new(no_color: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        Self { color: terminal && !no_color, terminal, watched: io::stderr().is_terminal() }
    }

    /// Returns whether a person watches stdout.
    pub(super) const fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Writes a line of data.
    ///
    /// # Errors
    ///
    /// If stdout is closed.
    pub(super) fn line(&self, text: impl AsRef<str>) -> io::Result<()> {
        writeln!(io::stdout(), "{}", text.as_ref())
    }

    /// Writes text from a document, wrapped on a terminal and on one line elsewhere, `indent` columns from the left.
    ///
    /// # Errors
    ///
    /// If stdout is closed.
    pub(super) fn wrapped(&self, text: &str, indent: usize) -> io::Result<()> {
        let columns = if self.terminal { COLUMNS.saturating_sub(indent) } else { usize::MAX };
        wrap(&self.shown(text), columns).iter().try_for_each(|line| self.line(format!("{:indent$}{line}", "")))
    }

    /// Writes a line of text from documents, cut on a terminal where it is too wide for it.
    ///
    /// # Errors
    ///
    /// If stdout is closed.
    pub(super) fn clipped(&self, text: &str) -> io::Result<()> {
        let text = self.shown(text);
        match text.char_indices().nth(COLUMNS).filter(|_| self.terminal) {
            Some(_) => self.line(text.chars().take(COLUMNS - 1).chain(['…']).collect::<String>()),
            None => self.line(text),
        }
    }

    /// Writes a line for people. Nobody is left to tell if that fails.
    pub(super) fn note(&self, text: impl AsRef<str>) {
        let _closed = writeln!(io::stderr(), "{}", text.as_ref());
    }

    /// Returns text from a document or a name as it may be shown.
    #[must_use]
    pub(super) fn shown<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.terminal { terminal_escape(text) } else { Cow::Borrowed(text) }
    }

    /// Returns text that stands out.
    #[must_use]
    pub(super) fn strong(&self, text: &str) -> String {
        self.styled(text, "1")
    }

    /// Returns text that stands back.
    #[must_use]
    pub(super) fn faint(&self, text: &str) -> String {
        self.styled(text, "2")
    }

    fn styled(&self, text: &str, code: &str) -> String {
        if self.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// Breaks text at spaces into lines of at most `columns` characters; a longer word has a line of its own.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut width = 0;
    for word in text.split(' ') {
        let count = word.chars().count();
        if let Some(line) = lines.last_mut().filter(|_| width + 1 + count <= columns) {
            line.push(' ');
            line.push_str(word);
            width += 1 + count;
        } else {
            lines.push(word.to_owned());
            width = count;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_lose_no_word() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("außerordentlich a b", 3), ["außerordentlich", "a b"]);
        assert_eq!(wrap("one two", usize::MAX), ["one two"]);
        assert_eq!(wrap("", 10), [""]);
    }
}
