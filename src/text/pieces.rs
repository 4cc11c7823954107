//! Word pieces: how an embedder with a BERT vocabulary in lower case reads a text.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

const ENGLISH_PIECES: &str = include_str!("../embed/static-256i8/vocab.txt");
/// The vocabulary of the embedder in the program, read when it is first used.
static ENGLISH: LazyLock<WordPiece<'static>> = LazyLock::new(|| WordPiece::new(ENGLISH_PIECES));
/// A longer word is one unknown piece.
const WORD_CHARS_MAX: usize = 100;

/// A vocabulary of word pieces, one a line, numbered from 0; pieces inside a word begin with `##`.
#[derive(Debug, Clone)]
pub(crate) struct WordPiece<'v> {
    /// Those that begin a word.
    first: Pieces<'v>,
    /// Those that continue one, without their `##`.
    inner: Pieces<'v>,
    /// What stands for a word that no pieces make up.
    unknown: Option<u32>,
}

/// Pieces by their texts.
#[derive(Debug, Clone)]
struct Pieces<'v> {
    numbers: FxHashMap<&'v str, u32>,
    /// The lengths of pieces that begin with the same bytes, by a hash of these: bit `n` for `n` bytes, the last bit
    /// for that many or more.
    lengths: Vec<u32>,
}

/// Bytes at the beginning of a piece that say how long it may be; shorter pieces are looked up.
const BEGINNING: usize = 4;
/// Bits of their hash.
const BEGINNING_BITS: u32 = 15;
/// The last bit of a set of lengths.
const LONG: usize = 31;

/// Returns the vocabulary of the embedder in the program.
#[must_use]
pub(crate) fn english() -> &'static WordPiece<'static> {
    &ENGLISH
}

/// Returns whether a folded word is one that people write: the vocabulary of the embedder in the program has it whole.
#[must_use]
pub(crate) fn is_written_word(word: &str) -> bool {
    ENGLISH.first.numbers.contains_key(word)
}

impl<'v> WordPiece<'v> {
    /// Reads a vocabulary.
    #[must_use]
    pub(crate) fn new(vocab: &'v str) -> Self {
        let mut pieces = Self { first: Pieces::with_room(vocab), inner: Pieces::with_room(vocab), unknown: None };
        for (number, line) in (0..).zip(vocab.lines()) {
            match line.strip_prefix("##").filter(|it| !it.is_empty()) {
                Some(inner) => pieces.inner.insert(inner, number),
                None => pieces.first.insert(line, number),
            }
        }
        pieces.unknown = pieces.first.numbers.get("[UNK]").copied();
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
            let longest = pieces.longest_of(rest);
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

impl<'v> Pieces<'v> {
    fn with_room(vocab: &str) -> Self {
        let numbers = FxHashMap::with_capacity_and_hasher(vocab.len() / 8, rustc_hash::FxBuildHasher);
        Self { numbers, lengths: vec![0; 1 << BEGINNING_BITS] }
    }

    fn insert(&mut self, piece: &'v str, number: u32) {
        if let Some(slot) = slot(piece) {
            self.lengths[slot] |= 1 << piece.len().min(LONG);
        }
        self.numbers.insert(piece, number);
    }

    /// Returns the number of the longest piece that `text` begins with, and the rest of the text.
    fn longest_of<'t>(&self, text: &'t str) -> Option<(u32, &'t str)> {
        let piece = |bytes: usize| {
            let (piece, rest) = text.split_at_checked(bytes)?;
            self.numbers.get(piece).map(|number| (*number, rest))
        };
        let lengths = slot(text).map_or(0, |slot| self.lengths[slot]);
        if lengths >> LONG > 0
            && let Some(found) = (LONG..=text.len()).rev().find_map(piece)
        {
            return Some(found);
        }
        let mut left = lengths & !(u32::MAX << (text.len() + 1).min(LONG));
        while let Some(bytes) = left.checked_ilog2() {
            if let Some(found) = piece(bytes as usize) {
                return Some(found);
            }
            left &= !(1 << bytes);
        }
        (1..BEGINNING.min(text.len() + 1)).rev().find_map(piece)
    }
}

/// Returns a hash of the first bytes of a text; none for one that is shorter.
fn slot(text: &str) -> Option<usize> {
    let hash = u32::from_le_bytes(*text.as_bytes().first_chunk::<BEGINNING>()?).wrapping_mul(0x9E37_79B1);
    Some((hash >> (32 - BEGINNING_BITS)) as usize)
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
    fn the_longest_piece_is_found_whatever_others_begin_with() {
        let long = "a".repeat(300);
        let vocab = format!("ab\nabc\n{long}\né\néte");
        let pieces = WordPiece::new(&vocab);
        let of = |text: &str| pieces.first.longest_of(text).map(|(number, rest)| (number, rest.to_owned()));
        assert_eq!(of("abd"), Some((0, "d".to_owned())));
        assert_eq!(of("abcabc"), Some((1, "abc".to_owned())));
        assert_eq!(of(&format!("{long}b")), Some((2, "b".to_owned())));
        assert_eq!(of("ét"), Some((3, "t".to_owned())));
        assert_eq!(of("étex"), Some((4, "x".to_owned())));
        assert_eq!([of("a"), of("xyz"), of("")], [None, None, None]);
        let lengths = 29..34;
        let vocab: Vec<String> = lengths.clone().step_by(2).map(|bytes| "a".repeat(bytes)).collect();
        let (vocab, text) = (vocab.join("\n"), "a".repeat(40));
        let pieces = WordPiece::new(&vocab);
        let found = lengths.map(|bytes| pieces.first.longest_of(&text[..bytes]).map(|(_, rest)| rest.len()));
        assert_eq!(found.collect::<Vec<_>>(), [Some(0), Some(1), Some(0), Some(1), Some(0)]);
        for (number, piece) in (0..).zip(ENGLISH_PIECES.lines()) {
            let whole = piece.strip_prefix("##").filter(|it| !it.is_empty());
            let (list, text) =
                if let Some(inner) = whole { (&english().inner, inner) } else { (&english().first, piece) };
            assert_eq!(list.longest_of(text), (!text.is_empty()).then_some((number, "")), "{piece}");
        }
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

    proptest::proptest! {
        #[test]
        fn the_longest_piece_is_that_of_a_plain_search(
            pieces in proptest::collection::vec("[aé]{1,3}[abé]{0,3}", 1..30),
            text in "[aé]{0,3}[abé]{0,6}",
        ) {
            let mut known = Pieces::with_room("");
            (0..).zip(&pieces).for_each(|(number, piece)| known.insert(piece, number));
            let begins = pieces.iter().filter(|piece| text.starts_with(piece.as_str()));
            let longest = begins.max_by_key(|piece| piece.len()).map(|piece| &text[piece.len()..]);
            proptest::prop_assert_eq!(known.longest_of(&text).map(|(_, rest)| rest), longest);
        }
    }
}
