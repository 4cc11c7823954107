//! Word pieces: how an embedder with a BERT vocabulary in lower case reads a text.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// The vocabulary of the embedder in the program, read when it is first used.
static ENGLISH: LazyLock<WordPiece<'static>> =
    LazyLock::new(|| WordPiece::new(include_str!("../embed/static-256i8/vocab.txt")));
/// A longer word is one unknown piece.
const WORD_CHARS_MAX: usize = 100;

/// A vocabulary of word pieces, one a line, numbered from 0; pieces inside a word begin with `##`.
#[derive(Debug, Clone)]
pub(crate) struct WordPiece<'v> {
    /// Pieces that begin a word.
    first: FxHashMap<&'v str, u32>,
    /// Pieces that continue with one, without their `##`.
    inner: FxHashMap<&'v str, u32>,
    /// Bytes of the longest piece.
    piece_bytes_max: usize,
    /// What stands for a word that no pieces make up.
    unknown: Option<u32>,
}

/// Returns the vocabulary of the embedder in the program.
#[must_use]
pub(crate) fn english() -> &'static WordPiece<'static> {
    &ENGLISH
}

/// Returns whether a folded word is one that people write: the vocabulary of the embedder in the program has it whole.
#[must_use]
pub(crate) fn is_written_word(word: &str) -> bool {
    ENGLISH.first.contains_key(word)
}

impl<'v> WordPiece<'v> {
    /// Reads a vocabulary.
    #[must_use]
    pub(crate) fn new(vocab: &'v str) -> Self {
        let mut pieces = Self { first: map(vocab), inner: map(vocab), piece_bytes_max: 0, unknown: None };
        for (number, line) in (0..).zip(vocab.lines()) {
            let inner = line.strip_prefix("##").filter(|it| !it.is_empty());
            pieces.piece_bytes_max = pieces.piece_bytes_max.max(inner.unwrap_or(line).len());
            match inner {
                Some(inner) => pieces.inner.insert(inner, number),
                None => pieces.first.insert(line, number),
            };
        }
        pieces.unknown = pieces.first.get("[UNK]").copied();
        pieces
    }

    /// Appends the pieces of `text`, all of them.
    pub(crate) fn pieces(&self, text: &str, out: &mut Vec<u32>) {
        let mut word = String::new();
        for c in text.chars() {
            if c.is_ascii() {
                self.read(c.to_ascii_lowercase(), &mut word, out);
            } else {
                let letters = std::iter::once(c).nfd().filter(|c| !is_combining_mark(*c));
                letters.flat_map(char::to_lowercase).for_each(|c| self.read(c, &mut word, out));
            }
        }
        self.end_word(&mut word, out);
    }

    /// Returns how many pieces `text` has.
    #[must_use]
    pub(crate) fn count(&self, text: &str) -> usize {
        let mut pieces = Vec::with_capacity(text.len() / 4);
        self.pieces(text, &mut pieces);
        pieces.len()
    }

    fn read(&self, c: char, word: &mut String, out: &mut Vec<u32>) {
        if c.is_alphanumeric() && !is_ideograph(c) {
            word.push(c);
        } else if c.is_whitespace() {
            self.end_word(word, out);
        } else if is_punctuation(c) || is_ideograph(c) {
            self.end_word(word, out);
            word.push(c);
            self.end_word(word, out);
        } else if !is_unseen(c) {
            word.push(c);
        }
    }

    /// Appends the pieces of `word`, the longest first at each place, and clears it.
    fn end_word(&self, word: &mut String, out: &mut Vec<u32>) {
        let known = out.len();
        let mut rest = word.as_str();
        let mut is_known = word.len() <= WORD_CHARS_MAX || word.chars().count() <= WORD_CHARS_MAX;
        while is_known && !rest.is_empty() {
            let pieces = if rest.len() == word.len() { &self.first } else { &self.inner };
            let longest = (1..=rest.len().min(self.piece_bytes_max)).rev().find_map(|bytes| {
                let (piece, after) = rest.split_at_checked(bytes)?;
                pieces.get(piece).map(|number| (*number, after))
            });
            match longest {
                Some((number, after)) => {
                    out.push(number);
                    rest = after;
                }
                None => is_known = false,
            }
        }
        if !is_known {
            out.truncate(known);
            out.extend(self.unknown);
        }
        word.clear();
    }
}

fn map(vocab: &str) -> FxHashMap<&str, u32> {
    FxHashMap::with_capacity_and_hasher(vocab.len() / 8, rustc_hash::FxBuildHasher)
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(c, '¡' | '§' | '«' | '¶' | '·' | '»' | '¿' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}')
        || matches!(c, '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}')
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2ceaf}')
}

/// Returns whether `c` leaves no trace: controls, soft hyphens, marks of width and direction, what could not be read.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fffd}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const VOCAB: &str = "[PAD]\n[UNK]\nun\n##aff\n##able\n,\n東\ncafe\n##s\n##\n#\nunaf";

    fn check(text: &str, expect: &[u32]) {
        let vocab = WordPiece::new(VOCAB);
        let mut pieces = vec![];
        vocab.pieces(text, &mut pieces);
        assert_eq!(pieces, expect, "{text}");
        assert_eq!(vocab.count(text), expect.len());
    }

    #[test]
    fn a_word_falls_into_its_longest_known_pieces() {
        check("", &[]);
        check("Unable,unables Unaff", &[2, 4, 5, 2, 4, 8, 1]);
        check("Cafés CAFE\u{301} ca\u{ad}fe", &[7, 8, 7, 7]);
        check("東東x #", &[6, 6, 1, 10]);
        check("un\u{200b}able un\tun\u{0}", &[2, 4, 2, 2]);
        check(&"un".repeat(60), &[1]);
    }
}
