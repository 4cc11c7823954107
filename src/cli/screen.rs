//! The terminal: data to stdout, everything else to stderr. The only file that writes to either.
//!
//! All output passes through here and is escaped here: text from documents, file names and servers cannot control a
//! terminal. Highlighted text is a [`Styled`], whose styles are chosen by this program and become codes only when it is
//! written, so no text can bring its own codes. Text is also escaped in files and pipes, because a terminal may show
//! them later; JSON keeps its values, with its own escapes.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::ops::Range;

use clap::error::ErrorKind as UsageKind;
use console::Term;
use indicatif::{ProgressDrawTarget, TermLike};

use crate::text::{json_escape, terminal_escape, terminal_line};
use crate::workspace::is_contained;

/// Columns at which text is wrapped on a terminal: wider lines are hard to read.
const COLUMNS: usize = 80;
/// Indentation of the further lines of a message, so that none of them looks like a line of this program.
const INDENT: &str = "  ";
/// Maximum redraws of a bar per second.
const BAR_HZ: u8 = 20;

/// The style of a part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Plain,
    Strong,
    Faint,
    /// A word that matches the query.
    Marked,
}

impl Look {
    /// Returns the code for a terminal, if any.
    const fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Strong => Some("1"),
            Self::Faint => Some("2"),
            Self::Marked => Some("1;31"),
        }
    }
}

/// Text with highlighted parts. The text may come from anybody: it is escaped when it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Styled(Vec<(Look, String)>);

impl Styled {
    /// Returns this with more after it.
    #[must_use]
    pub(super) fn and(mut self, more: impl Into<Self>) -> Self {
        self.0.extend(more.into().0);
        self
    }

    /// Returns what is written for it.
    fn written(&self, has_looks: bool) -> String {
        let mut written = String::new();
        for (look, text) in &self.0 {
            let text = terminal_line(text);
            // Writing to a string cannot fail.
            let _written = match look.code().filter(|_| has_looks) {
                Some(code) => write!(written, "\u{1b}[{code}m{text}\u{1b}[0m"),
                None => write!(written, "{text}"),
            };
        }
        written
    }
}

impl From<String> for Styled {
    fn from(text: String) -> Self {
        Self(vec![(Look::Plain, text)])
    }
}

impl From<&str> for Styled {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for Styled {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

impl From<Cow<'_, str>> for Styled {
    fn from(text: Cow<'_, str>) -> Self {
        text.into_owned().into()
    }
}

/// A stream of this process.
#[derive(Debug, Clone, Copy)]
enum Standard {
    Output,
    Error,
}

/// A stream, and whether it ends at a terminal.
#[derive(Debug, Clone, Copy)]
struct Stream {
    standard: Standard,
    is_terminal: bool,
    has_looks: bool,
}

impl Stream {
    fn new(standard: Standard, no_color: bool) -> Self {
        let is_terminal = match standard {
            Standard::Output => io::stdout().is_terminal(),
            Standard::Error => io::stderr().is_terminal(),
        };
        Self { standard, is_terminal, has_looks: is_terminal && !no_color }
    }

    /// Writes one line: line breaks in it are escaped.
    fn line(self, text: &Styled) -> io::Result<()> {
        self.put(&format!("{}\n", text.written(self.has_looks)))
    }

    /// Writes text of several lines.
    fn lines(self, text: &str) -> io::Result<()> {
        let text = terminal_escape(text);
        self.put(&if text.ends_with('\n') { text } else { Cow::Owned(format!("{text}\n")) })
    }

    /// Writes escaped text in one piece.
    fn put(self, escaped: &str) -> io::Result<()> {
        match self.standard {
            Standard::Output => io::stdout().write_all(escaped.as_bytes()),
            Standard::Error => io::stderr().write_all(escaped.as_bytes()),
        }
    }
}

/// Takes the output of this process for frames; output of libraries goes to stderr from now on.
///
/// # Errors
///
/// If the system refuses, or has no such streams.
#[cfg(unix)]
pub(super) fn take_output() -> io::Result<std::fs::File> {
    let output = rustix::io::dup(io::stdout())?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(output.into())
}

#[cfg(not(unix))]
pub(super) fn take_output() -> io::Result<std::fs::File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Where a command writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Screen {
    output: Stream,
    errors: Stream,
}

impl Screen {
    /// Returns the streams of this process; `no_color` forbids colors.
    #[must_use]
    pub(super) fn new(no_color: bool) -> Self {
        Self { output: Stream::new(Standard::Output, no_color), errors: Stream::new(Standard::Error, no_color) }
    }

    /// Asks for confirmation on a terminal, and returns whether the answer is yes; without a terminal, it is no.
    #[must_use]
    pub(super) fn confirmed(&self, question: &str) -> bool {
        if !io::stdin().is_terminal() {
            return false;
        }
        self.note(question);
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).is_ok() && answer.trim() == "yes"
    }

    /// Returns whether stdout is a terminal.
    pub(super) const fn is_terminal(&self) -> bool {
        self.output.is_terminal
    }

    /// Returns whether stderr is a terminal.
    pub(super) const fn is_watched(&self) -> bool {
        self.errors.is_terminal
    }

    /// Writes a line of data.
    ///
    /// # Errors
    ///
    /// If stdout is closed.
    pub(super) fn line(&self, text: impl Into<Styled>) -> io::Result<()> {
        self.output.line(&text.into())
    }

    /// Writes a table, or other text of several lines.
    ///
    /// # Errors
    ///
    /// If stdout is closed.
    pub(super) fn lines(&self, text: &str) -> io::Result<()> {
        self.output.lines(text)
    }

    /// Writes JSON, with exact values everywhere.
    ///
    /// # Errors
    ///
    /// If stdout is closed.
    pub(super) fn json(&self, json: &str) -> io::Result<()> {
        self.output.put(&format!("{}\n", json_escape(json)))
    }

    /// Writes lines of JSON whose bytes are compared: only on a terminal are control characters escaped.
    ///
    /// # Errors
    ///
    /// If stdout is closed.
    pub(super) fn exact_json(&self, lines: impl IntoIterator<Item = String>) -> io::Result<()> {
        let mut out = BufWriter::new(io::stdout().lock());
        for line in lines {
            let line = if self.is_terminal() { json_escape(&line) } else { Cow::Borrowed(line.as_str()) };
            writeln!(out, "{line}")?;
        }
        out.flush()
    }

    /// Writes text from a document, wrapped on a terminal and on one line elsewhere, `indent` columns from the left.
    ///
    /// # Errors
    ///
    /// If stdout is closed.
    pub(super) fn wrapped(&self, text: &str, indent: usize) -> io::Result<()> {
        let columns = if self.is_terminal() { COLUMNS.saturating_sub(indent) } else { usize::MAX };
        wrap(&terminal_line(text), columns).iter().try_for_each(|line| self.line(format!("{:indent$}{line}", "")))
    }

    /// Writes text from a document as [`Self::wrapped`] does, with some parts of it marked; `marks` are bytes of it, in
    /// order.
    ///
    /// # Errors
    ///
    /// If stdout is closed.
    pub(super) fn wrapped_marked(&self, text: &str, marks: &[Range<usize>], indent: usize) -> io::Result<()> {
        let columns = if self.is_terminal() { COLUMNS.saturating_sub(indent) } else { usize::MAX };
        let mut from = 0;
        for line in wrap(text, columns) {
            let mut styled = Styled::from(" ".repeat(indent));
            let mut at = from;
            for mark in marks.iter().filter(|mark| mark.end > from && mark.start < from + line.len()) {
                let (start, end) = (mark.start.max(at), mark.end.min(from + line.len()));
                let [plain, marked] = [at..start, start..end].map(|part| text.get(part).unwrap_or_default().to_owned());
                styled = styled.and(plain).and(Styled(vec![(Look::Marked, marked)]));
                at = end.max(at);
            }
            let end = from + line.len();
            self.line(styled.and(text.get(at..end).unwrap_or_default()))?;
            // What the line was broken at.
            from = end + 1;
        }
        Ok(())
    }

    /// Writes a line of text from documents, cut to the width of a terminal.
    ///
    /// # Errors
    ///
    /// If stdout is closed.
    pub(super) fn clipped(&self, text: &str) -> io::Result<()> {
        let text = terminal_line(text);
        match text.char_indices().nth(COLUMNS).filter(|_| self.is_terminal()) {
            Some(_) => self.line(text.chars().take(COLUMNS - 1).chain(['…']).collect::<String>()),
            None => self.line(text),
        }
    }

    /// Writes a line for people; failures are ignored, since there is nowhere to report them.
    pub(super) fn note(&self, text: impl Into<Styled>) {
        let _closed = self.errors.line(&text.into());
    }

    /// Writes a message for people, whose further lines are indented; failures are ignored.
    pub(super) fn message(&self, text: &str) {
        let text = text.trim_end().replace('\n', &format!("\n{INDENT}"));
        let _closed = self.errors.lines(&text);
    }

    /// Writes JSON for programs that read stderr; failures are ignored.
    pub(super) fn json_note(&self, json: &str) {
        let _closed = self.errors.put(&format!("{}\n", json_escape(json)));
    }

    /// Writes help or a usage error; failures are ignored.
    pub(super) fn usage(&self, said: &clap::Error) {
        let stream = if said.use_stderr() { self.errors } else { self.output };
        let text = said.render();
        let is_own = matches!(
            said.kind(),
            UsageKind::DisplayHelp | UsageKind::DisplayVersion | UsageKind::DisplayHelpOnMissingArgumentOrSubcommand
        );
        // Help holds this program's own text alone, and its codes are the library's; what is wrong repeats what was
        // typed.
        let _closed = if is_own && stream.has_looks {
            stream.put(&text.ansi().to_string())
        } else {
            stream.lines(&text.to_string())
        };
    }

    /// Prints panics through this screen, because their messages may contain text of a document.
    pub(super) fn tell_panics(self) {
        std::panic::set_hook(Box::new(move |panic| {
            // It is caught, and told as what it is.
            if is_contained() {
                return;
            }
            let thread = std::thread::current();
            let backtrace = std::backtrace::Backtrace::capture();
            self.message(&format!("thread '{}' {panic}", thread.name().unwrap_or("<unnamed>")));
            if backtrace.status() == std::backtrace::BacktraceStatus::Captured {
                self.message(&format!("stack backtrace:\n{backtrace}"));
            }
        }));
    }

    /// Prints the log through this screen, at the given verbosity.
    pub(super) fn tell_log(self, verbose: u8) {
        let level = match verbose {
            0 => return,
            1 => tracing::Level::INFO,
            2 => tracing::Level::DEBUG,
            _ => tracing::Level::TRACE,
        };
        let subscriber = tracing_subscriber::fmt().with_max_level(level).with_writer(move || Log(self.errors));
        // A second subscriber is refused; the first one continues.
        let _set = subscriber.with_ansi(false).with_target(false).try_init();
    }

    /// Returns where a bar is drawn: nowhere, unless stderr is a terminal.
    pub(super) fn bar(&self) -> ProgressDrawTarget {
        if self.is_watched() {
            ProgressDrawTarget::term_like_with_hz(Box::new(BarTerminal(self.errors)), BAR_HZ)
        } else {
            ProgressDrawTarget::hidden()
        }
    }

    /// Returns emphasized text.
    #[must_use]
    pub(super) fn strong(&self, text: impl Into<String>) -> Styled {
        Styled(vec![(Look::Strong, text.into())])
    }

    /// Returns faint text.
    #[must_use]
    pub(super) fn faint(&self, text: impl Into<String>) -> Styled {
        Styled(vec![(Look::Faint, text.into())])
    }
}

/// The log: each write is an event, on one line.
#[derive(Debug, Clone, Copy)]
struct Log(Stream);

impl Write for Log {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        self.0.line(&text.strip_suffix('\n').unwrap_or(&text).into())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The terminal for a bar, which moves the cursor by calls: its writes are only text.
#[derive(Debug)]
struct BarTerminal(Stream);

impl BarTerminal {
    fn moved(&self, count: usize, direction: char) -> io::Result<()> {
        if count == 0 { Ok(()) } else { self.0.put(&format!("\u{1b}[{count}{direction}")) }
    }
}

impl TermLike for BarTerminal {
    fn width(&self) -> u16 {
        Term::stderr().size().1
    }

    fn height(&self) -> u16 {
        Term::stderr().size().0
    }

    fn move_cursor_up(&self, count: usize) -> io::Result<()> {
        self.moved(count, 'A')
    }

    fn move_cursor_down(&self, count: usize) -> io::Result<()> {
        self.moved(count, 'B')
    }

    fn move_cursor_right(&self, count: usize) -> io::Result<()> {
        self.moved(count, 'C')
    }

    fn move_cursor_left(&self, count: usize) -> io::Result<()> {
        self.moved(count, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.0.line(&text.into())
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        // To the begin of the line is the one move that comes as text.
        self.0.put(&if text == "\r" { Cow::Borrowed(text) } else { terminal_line(text) })
    }

    fn clear_line(&self) -> io::Result<()> {
        self.0.put("\r\u{1b}[2K")
    }

    fn flush(&self) -> io::Result<()> {
        Ok(())
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

    #[test]
    fn looks_are_codes_of_this_program_and_text_brings_none() {
        let line = Styled::from("1. ").and(Styled(vec![(Look::Strong, "a\u{1b}[31m\nb".to_owned())])).and("\u{9b}0m");
        assert_eq!(line.written(true), "1. \u{1b}[1ma�[31m�b\u{1b}[0m�0m");
        assert_eq!(line.written(false), "1. a�[31m�b�0m");
    }
}
