//! Source code: a definition is a section of its own, with the comment above it.
//!
//! Definitions are recognized by brackets or, in languages without them, by indentation, and by words such as `fn`;
//! there is no grammar. Everything else stays text, and nothing is lost.

mod braces;
mod indents;
mod naming;
mod statement;
mod words;

use std::ops::Range;

use super::sections::{HEADING_CHARS_MAX, Section, trimmed};
use crate::text::{Language, Token, TokenKind, code_blocks, code_tokens, shortened};

/// Maximum bytes of a file that is searched for definitions.
const OUTLINE_BYTES_MAX: usize = 8 << 20;
/// Maximum nesting of definitions: deeper ones are part of the last.
const DEPTH_MAX: usize = 16;
/// Bytes of a function at least in which others are definitions of their own.
const LARGE_BYTES: usize = 6_000;
/// Bytes of the line that opens a class or the like, where it goes with what comes first in it, at most.
const HEAD_BYTES_MAX: usize = 200;
/// Characters of the name of a definition at most.
const NAME_CHARS_MAX: usize = 80;

/// A function, a type, or what holds some of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Definition {
    /// Its bytes, with the comment above it.
    pub(super) span: Range<usize>,
    /// Its name; empty for a bracket around others.
    pub(super) name: String,
    /// The definitions in it.
    pub(super) inner: Vec<Definition>,
}

/// Returns the sections of the code of the file `path`, in order: each definition, and the code in between.
///
/// Complexity: linear in the text, for each definition around.
pub(super) fn sections(text: &str, path: &str, language: Language) -> Vec<Section> {
    let path = shortened(path, HEADING_CHARS_MAX).unwrap_or_else(|| path.to_owned());
    let (tokens, definitions) = definitions(text, language);
    let mut outline = Outline { text, tokens: &tokens, path: vec![path], depth: 0, sections: Vec::new() };
    outline.add(0..text.len(), definitions);
    outline.sections
}

/// Returns whether the code defines anything.
pub(super) fn defines(text: &str, language: Language) -> bool {
    !definitions(text, language).1.is_empty()
}

/// Returns the tokens of a text, and its definitions; none of one that is too large.
fn definitions(text: &str, language: Language) -> (Vec<Token>, Vec<Definition>) {
    if text.len() > OUTLINE_BYTES_MAX {
        return (Vec::new(), Vec::new());
    }
    let tokens = code_tokens(text, language);
    let definitions = match language {
        Language::Python | Language::Ruby | Language::Shell | Language::Lua => {
            indents::definitions(text, &tokens, language)
        }
        _ => braces::definitions(text, &tokens, language),
    };
    (tokens, definitions)
}

/// Sections as they are combined.
struct Outline<'a> {
    text: &'a str,
    tokens: &'a [Token],
    path: Vec<String>,
    /// Number of enclosing definitions.
    depth: usize,
    sections: Vec<Section>,
}

impl Outline<'_> {
    /// Adds the contents of `span`, which include `definitions`.
    fn add(&mut self, span: Range<usize>, definitions: Vec<Definition>) {
        let start = span.start;
        let mut at = start;
        for Definition { span, name, inner } in definitions {
            let gap = at..span.start.max(at);
            let mut span = gap.end..span.end.max(gap.end);
            at = span.end;
            // A separate comment belongs to the code after it, unless it is about the file; so does the line that opens
            // a container.
            let is_head = gap.start == start && self.depth > 0 && self.is_bare_head(&gap);
            if is_head || !(self.has_code(&gap) || gap.start == 0) {
                span.start = gap.start;
            } else {
                self.push_rest(gap);
            }
            if !name.is_empty() {
                self.path.push(shortened(&name, NAME_CHARS_MAX).unwrap_or(name.clone()));
            }
            if inner.is_empty() {
                self.push(trimmed(self.text, span).into_iter().collect());
            } else {
                self.depth += 1;
                self.add(span, inner);
                self.depth -= 1;
            }
            if !name.is_empty() {
                self.path.pop();
            }
        }
        let rest = at..span.end.max(at);
        match (self.has_code(&rest), trimmed(self.text, rest.clone()), self.sections.last_mut()) {
            (false, Some(rest), Some(last)) if at > 0 => {
                if let Some(paragraph) = last.paragraphs.last_mut() {
                    paragraph.end = rest.end;
                }
            }
            _ => self.push_rest(rest),
        }
    }

    /// Returns whether there is a word of code, not only brackets and comments.
    fn has_code(&self, span: &Range<usize>) -> bool {
        let first = self.tokens.partition_point(|token| token.start() < span.start);
        let own = self.tokens.iter().skip(first).take_while(|token| token.start() < span.end);
        let says = |it: &Token| match it.kind {
            TokenKind::Word => self.text.get(it.range()) != Some("end"),
            TokenKind::Text | TokenKind::Directive => true,
            TokenKind::Comment | TokenKind::Mark(_) => false,
        };
        own.into_iter().any(says)
    }

    /// Returns whether the beginning of a definition only repeats its name.
    fn is_bare_head(&self, span: &Range<usize>) -> bool {
        let first = self.tokens.partition_point(|token| token.start() < span.start);
        let mut own = self.tokens.iter().skip(first).take_while(|token| token.start() < span.end);
        let said = self.text.get(span.clone()).unwrap_or_default().trim();
        said.len() <= HEAD_BYTES_MAX
            && !said.contains("\n\n")
            && own.all(|it| !matches!(it.kind, TokenKind::Comment | TokenKind::Mark(b';')) && !is_long(self.text, *it))
    }

    fn push_rest(&mut self, span: Range<usize>) {
        let text = self.text.get(span.clone()).unwrap_or_default();
        self.push(code_blocks(text).map(|it| span.start + it.start..span.start + it.end).collect());
    }

    fn push(&mut self, paragraphs: Vec<Range<usize>>) {
        if !paragraphs.is_empty() {
            self.sections.push(Section { path: self.path.clone(), headings: Vec::new(), paragraphs });
        }
    }
}

/// Returns whether a token has several lines, as documentation has.
fn is_long(text: &str, token: Token) -> bool {
    token.kind == TokenKind::Text
        && text.get(token.range()).is_some_and(|it| it.contains('\n') || it.starts_with("\"\"\""))
}

#[cfg(test)]
mod tests;
