//! The terminal: data to stdout, everything else to stderr, and nothing from a document that could steer it.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write};

use crate::text::terminal_escape;

/// Where a command writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Screen {
    color: bool,
    escape: bool,
    /// Whether a person watches stderr.
    pub(super) watched: bool,
}

impl Screen {
    /// Returns the terminal of this process; `no_color` forbids colors.
    #[must_use]
    pub(super) fn new(no_color: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        Self { color: terminal && !no_color, escape: terminal, watched: io::stderr().is_terminal() }
    }

    /// Writes a line of data.
    ///
    /// # Errors
    ///
    /// If stdout is closed.
    pub(super) fn line(&self, text: impl AsRef<str>) -> io::Result<()> {
        writeln!(io::stdout(), "{}", text.as_ref())
    }

    /// Writes a line for people. Nobody is left to tell if that fails.
    pub(super) fn note(&self, text: impl AsRef<str>) {
        let _closed = writeln!(io::stderr(), "{}", text.as_ref());
    }

    /// Returns text from a document or a name as it may be shown.
    #[must_use]
    pub(super) fn shown<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.escape { terminal_escape(text) } else { Cow::Borrowed(text) }
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
