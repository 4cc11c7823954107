//! Languages with brackets: a sequence of statements, and those inside the brackets of containers.

use std::ops::Range;

use super::statement::{Statement, Within};
use super::{DEPTH_MAX, Definition, LARGE_BYTES};
use crate::text::{Language, Token, TokenKind};

/// Returns the definitions of a text with these tokens.
pub(super) fn definitions(text: &str, tokens: &[Token], language: Language) -> Vec<Definition> {
    let code = Code { text, tokens, partners: partners(tokens), language };
    code.definitions(0..tokens.len(), 0, Within::File)
}

/// Code, with the place of the other bracket of each.
pub(super) struct Code<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: &'a [Token],
    partners: Vec<u32>,
    pub(super) language: Language,
}

/// Returns, for each opening bracket, the token that closes it, and 0 for everything else. What is not closed stands
/// alone.
fn partners(tokens: &[Token]) -> Vec<u32> {
    let mut partners = vec![0; tokens.len()];
    let mut open: Vec<(usize, u8)> = Vec::new();
    // How many of each kind are open, so that a stray one is known without a look at all of them.
    let mut counts = [0_u32; 3];
    let kind = |mark: u8| usize::from(mark == b'[') + 2 * usize::from(mark == b'{');
    for (at, token) in tokens.iter().enumerate() {
        let TokenKind::Mark(mark) = token.kind else { continue };
        let opening = match mark {
            b'(' | b'[' | b'{' => {
                open.push((at, mark));
                counts[kind(mark)] += 1;
                continue;
            }
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            _ => continue,
        };
        // A curly bracket closes what is open in it; others close nothing beyond one.
        while counts[kind(opening)] > 0 {
            let Some((first, found)) = open.pop() else { break };
            if found != opening && found == b'{' {
                open.push((first, found));
                break;
            }
            counts[kind(found)] -= 1;
            if found == opening {
                partners[first] = at as u32;
                break;
            }
        }
    }
    partners
}

impl Code<'_> {
    /// Returns the token that closes the bracket at `at`, if it is one.
    pub(super) fn partner(&self, at: usize) -> Option<usize> {
        self.partners.get(at).map(|it| *it as usize).filter(|it| *it > at)
    }

    pub(super) fn token(&self, at: usize) -> Option<Token> {
        self.tokens.get(at).copied()
    }

    pub(super) fn is(&self, at: usize, mark: u8) -> bool {
        self.token(at).is_some_and(|it| it.is(mark))
    }

    /// Returns the word at `at`; nothing where there is another token.
    pub(super) fn word(&self, at: usize) -> &str {
        self.token(at).filter(|it| it.kind == TokenKind::Word).map_or("", |it| self.slice(it.range()))
    }

    pub(super) fn slice(&self, span: Range<usize>) -> &str {
        self.text.get(span).unwrap_or_default()
    }

    /// Returns how many lines end between two tokens side by side.
    pub(super) fn lines_between(&self, before: usize, after: usize) -> usize {
        let (Some(before), Some(after)) = (self.token(before), self.token(after)) else { return 0 };
        self.slice(before.end()..after.start()).bytes().filter(|it| *it == b'\n').count()
    }

    /// Returns the definitions among the tokens of `range`.
    fn definitions(&self, range: Range<usize>, depth: usize, within: Within) -> Vec<Definition> {
        let mut found = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let Some(token) = self.token(at) else { break };
            match token.kind {
                TokenKind::Comment => at += 1,
                TokenKind::Directive => {
                    found.extend(self.directive(at, range.start));
                    at += 1;
                }
                _ => {
                    let statement = Statement::read(self, at..range.end, within);
                    let end = statement.end.max(at + 1);
                    self.define(&statement, range.start, depth, within, &mut found);
                    at = end;
                }
            }
        }
        found
    }

    fn define(&self, statement: &Statement, floor: usize, depth: usize, within: Within, found: &mut Vec<Definition>) {
        let bytes = self.bytes(statement);
        let body = statement.body.and_then(|open| Some(open + 1..self.partner(open)?));
        let is_deep = depth >= DEPTH_MAX;
        let Some(name) = statement.name(self) else {
            // A module of JavaScript may be one call with a function in it.
            let wrapped = statement.wrapped(self).filter(|_| bytes.len() > LARGE_BYTES && !is_deep);
            found.extend(wrapped.into_iter().flat_map(|body| self.definitions(body, depth + 1, Within::Function)));
            return;
        };
        let inner = match (body, statement.is_type) {
            (Some(body), true) if !is_deep => self.definitions(body, depth + 1, Within::Type),
            (Some(body), false) if self.language == Language::JavaScript && bytes.len() > LARGE_BYTES && !is_deep => {
                self.definitions(body, depth + 1, Within::Function)
            }
            _ => Vec::new(),
        };
        // A bracket around nothing that is defined is none.
        let is_bare = (name.is_empty() || within == Within::Function) && inner.is_empty() && name.is_empty();
        if !is_bare {
            found.push(Definition { span: self.lead(statement.start, floor)..bytes.end, name, inner });
        }
    }

    /// Returns the bytes of a statement, with a comment that ends its last line.
    fn bytes(&self, statement: &Statement) -> Range<usize> {
        let last = statement.end.max(statement.start + 1) - 1;
        let is_comment = self.token(last + 1).is_some_and(|it| it.kind == TokenKind::Comment);
        let end = if is_comment && self.lines_between(last, last + 1) == 0 { last + 1 } else { last };
        let start = self.token(statement.start).map_or(0, Token::start);
        start..self.token(end).map_or(start, Token::end)
    }

    /// Returns where the comment begins that stands right above a token, or the token, looking no farther than `floor`.
    fn lead(&self, first: usize, floor: usize) -> usize {
        let mut start = first;
        while start > floor && self.token(start - 1).is_some_and(|it| it.kind == TokenKind::Comment) {
            let comment = start - 1;
            let is_own_line = comment == 0 || comment == floor || self.lines_between(comment - 1, comment) > 0;
            let said = self.token(comment).map_or("", |it| self.slice(it.range()));
            let is_of_file = self.language == Language::Rust && (said.starts_with("//!") || said.starts_with("/*!"));
            if !is_own_line || is_of_file || self.lines_between(comment, start) > 1 {
                break;
            }
            start = comment;
        }
        self.token(start).map_or(0, Token::start)
    }

    /// Returns a macro of C that has several lines.
    fn directive(&self, at: usize, floor: usize) -> Option<Definition> {
        let token = self.token(at)?;
        let said = self.slice(token.range()).strip_prefix('#')?.trim_start().strip_prefix("define")?.trim_start();
        let length = said.bytes().take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count();
        let name = said.get(..length).filter(|name| !name.is_empty() && said.contains('\n'))?;
        Some(Definition { span: self.lead(at, floor)..token.end(), name: name.to_owned(), inner: Vec::new() })
    }
}
