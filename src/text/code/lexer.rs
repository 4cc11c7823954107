//! Splits code into tokens: whole comments and strings, words, and every other sign alone. It is linear, and an
//! unclosed token ends with its line.

use std::ops::Range;

use super::Language;
use super::literals::{self, Heredoc};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Comment,
    /// A line for another program, such as a preprocessor, with those that continue it.
    Directive,
    /// A string, or another literal with signs in it that mean nothing.
    Text,
    Word,
    /// A sign of one byte.
    Mark(u8),
}

/// A part of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    start: u32,
    end: u32,
}

impl Token {
    pub(crate) const fn start(self) -> usize {
        self.start as usize
    }

    pub(crate) const fn end(self) -> usize {
        self.end as usize
    }

    pub(crate) const fn range(self) -> Range<usize> {
        self.start()..self.end()
    }

    pub(crate) const fn is(self, mark: u8) -> bool {
        matches!(self.kind, TokenKind::Mark(it) if it == mark)
    }
}

/// Strings without an end that are looked for to the end of a text; then none over several lines is looked for.
const FAILURES_MAX: u32 = 64;

/// Returns the tokens of `text`, in order: all but white space is in one.
///
/// Complexity: linear in the text.
#[must_use]
pub(crate) fn code_tokens(text: &str, language: Language) -> Vec<Token> {
    let mut lexer =
        Lexer { text, language, at: 0, tokens: Vec::with_capacity(text.len() / 5), heredocs: Vec::new(), failures: 0 };
    lexer.run();
    lexer.tokens
}

pub(super) struct Lexer<'a> {
    pub(super) text: &'a str,
    pub(super) language: Language,
    pub(super) at: usize,
    pub(super) tokens: Vec<Token>,
    /// What begins on the next line.
    pub(super) heredocs: Vec<Heredoc>,
    failures: u32,
}

impl Lexer<'_> {
    fn run(&mut self) {
        if self.language == Language::Php {
            self.skip_page(0);
        }
        while let Some(byte) = self.byte(self.at) {
            if byte == b'\n' {
                self.read_heredocs();
            } else if byte.is_ascii_whitespace() {
                self.at += 1;
            } else if let Some(end) = self.comment_end(byte) {
                self.push(TokenKind::Comment, end);
            } else if self.language.directive() == Some(byte) && self.opens_line() {
                let end = self.directive_end();
                self.push(TokenKind::Directive, end);
            } else if self.language == Language::Php && self.rest().starts_with("?>") {
                self.skip_page(self.at + 2);
            } else if let Some(end) = literals::end(self, byte) {
                self.push(TokenKind::Text, end);
            } else if is_word(byte) {
                let length = self.rest().bytes().take_while(|it| is_word(*it)).count();
                self.push(TokenKind::Word, self.at + length);
            } else {
                self.push(TokenKind::Mark(byte), self.at + 1);
            }
        }
    }

    /// Takes what lies before the next piece of PHP, from `from` on.
    fn skip_page(&mut self, from: usize) {
        let rest = self.text.get(from..).unwrap_or_default();
        let end = rest.find("<?").map_or(self.text.len(), |at| from + at + 2);
        let end = if self.text.get(end..).is_some_and(|it| it.starts_with("php")) { end + 3 } else { end };
        self.push(TokenKind::Text, end);
    }

    fn push(&mut self, kind: TokenKind, end: usize) {
        let end = end.max(self.at + 1).min(self.text.len());
        if end > self.at {
            self.tokens.push(Token { kind, start: self.at as u32, end: end as u32 });
        }
        self.at = end;
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    pub(super) fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns where a text begins at `from` or later, looking to the end; after many failures nothing is found.
    pub(super) fn find(&mut self, from: usize, wanted: &str) -> Option<usize> {
        if self.failures >= FAILURES_MAX {
            return None;
        }
        let found = self.text.get(from..).and_then(|rest| rest.find(wanted)).map(|at| from + at);
        self.failures += u32::from(found.is_none());
        found
    }

    /// Notes that something was looked for to the end, and not found.
    pub(super) const fn fail(&mut self) {
        self.failures += 1;
    }

    pub(super) const fn may_look(&self) -> bool {
        self.failures < FAILURES_MAX
    }

    pub(super) fn line_end(&self, from: usize) -> usize {
        self.text.get(from..).and_then(|rest| rest.find('\n')).map_or(self.text.len(), |at| from + at)
    }

    /// Returns whether nothing but white space stands before on the line.
    fn opens_line(&self) -> bool {
        let before = self.text.get(..self.at).unwrap_or_default();
        let blank = before.len() - before.trim_end_matches([' ', '\t']).len();
        let start = self.at - blank;
        start == 0 || self.byte(start - 1) == Some(b'\n')
    }

    fn is_after_space(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.byte(at));
        before.is_none_or(|it| it.is_ascii_whitespace() || matches!(it, b';' | b'(' | b')'))
    }

    fn comment_end(&mut self, byte: u8) -> Option<usize> {
        let language = self.language;
        let next = self.byte(self.at + 1);
        match (byte, next) {
            (b'/', Some(b'/')) if language.has_slash_comments() => Some(self.php_line_end()),
            (b'/', Some(b'*')) if language.has_slash_comments() || language == Language::Sql => self.block_end(),
            (b'#', Some(b'!')) if self.at == 0 && self.byte(2) != Some(b'[') => Some(self.line_end(0)),
            (b'#', _) if language == Language::Python => Some(self.line_end(self.at)),
            (b'#', _) if matches!(language, Language::Ruby | Language::Shell) && self.is_after_space() => {
                Some(self.line_end(self.at))
            }
            (b'#', next) if language == Language::Php && next != Some(b'[') => Some(self.php_line_end()),
            (b'-', Some(b'-')) if language == Language::Lua => Some(self.lua_comment_end()),
            (b'-', Some(b'-')) if language == Language::Sql => Some(self.line_end(self.at)),
            (b'=', Some(b'b')) if language == Language::Ruby && self.rest().starts_with("=begin") => {
                if !self.opens_line() {
                    return None;
                }
                let end = self.find(self.at, "\n=end");
                Some(self.line_end(end.map_or(self.at, |end| end + 1)))
            }
            _ => None,
        }
    }

    /// Returns the end of the line, or of the piece of PHP.
    fn php_line_end(&self) -> usize {
        let end = self.line_end(self.at);
        if self.language != Language::Php {
            return end;
        }
        self.text.get(self.at..end).and_then(|line| line.find("?>")).map_or(end, |at| self.at + at)
    }

    fn lua_comment_end(&mut self) -> usize {
        let line = self.line_end(self.at);
        match literals::long_bracket(self.text, self.at + 2) {
            Some((start, close)) => self.find(start, &close).map_or(line, |end| end + close.len()),
            None => line,
        }
    }

    fn block_end(&mut self) -> Option<usize> {
        let start = self.at + 2;
        if !self.language.nests_comments() {
            let end = self.find(start, "*/").map(|end| end + 2);
            return end.or_else(|| Some(self.line_end(self.at)));
        }
        if !self.may_look() {
            return None;
        }
        let bytes = self.text.as_bytes();
        let (mut depth, mut at) = (1, start);
        while let Some(byte) = bytes.get(at) {
            match (byte, bytes.get(at + 1)) {
                (b'/', Some(b'*')) => (depth, at) = (depth + 1, at + 2),
                (b'*', Some(b'/')) => (depth, at) = (depth - 1, at + 2),
                _ => at += 1,
            }
            if depth == 0 {
                return Some(at);
            }
        }
        self.fail();
        Some(self.line_end(self.at))
    }

    fn directive_end(&self) -> usize {
        let mut end = self.line_end(self.at);
        while end < self.text.len() && self.text.get(..end).is_some_and(|it| it.trim_end_matches('\r').ends_with('\\'))
        {
            end = self.line_end(end + 1);
        }
        end
    }

    /// Goes on to the next line, behind the strings that the last one announced. Such a string begins with the end of
    /// its line.
    fn read_heredocs(&mut self) {
        let mut is_behind = false;
        for heredoc in std::mem::take(&mut self.heredocs) {
            if let Some(end) = literals::heredoc_end(self, &heredoc) {
                self.push(TokenKind::Text, end);
                is_behind = true;
            }
        }
        self.at += usize::from(!is_behind);
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}
