//! Which of many texts have one of some names: nearly all have none, and are passed over word by word.

use rustc_hash::FxHashMap;

use super::fold::push_folded;
use super::words::{FoldedWords, words};

/// Bits of the filter for each name, so that one word in about so many passes it by chance.
const BITS_A_NAME: usize = 1_024;
/// Bits of the filter at most.
const BITS_MAX: usize = 1 << 23;

/// Finds texts that have one of some names, each given by its folded words joined by one space.
pub(crate) struct WordSieve {
    /// The names by the rarest of their words.
    names: FxHashMap<String, Vec<Sought>>,
    /// A bit for the hash of each of these words, where they are ASCII.
    bits: Vec<u64>,
}

/// A name that texts may have.
struct Sought {
    name: String,
    /// The place of its rarest word, and how many words it has.
    place: usize,
    words: usize,
}

impl WordSieve {
    /// Returns the sieve for some names; `frequency` says of a folded word how often texts have it.
    pub(crate) fn of(names: impl IntoIterator<Item = String>, frequency: &dyn Fn(&str) -> u64) -> Self {
        let mut by_word: FxHashMap<String, Vec<Sought>> = FxHashMap::default();
        for name in names {
            let rarest = name.split(' ').enumerate().min_by_key(|(_, word)| frequency(word));
            let Some((place, word)) = rarest.map(|(place, word)| (place, word.to_owned())) else { continue };
            let words = name.split(' ').count();
            by_word.entry(word).or_default().push(Sought { name, place, words });
        }
        let bits = (by_word.len() * BITS_A_NAME).next_power_of_two().clamp(u64::BITS as usize, BITS_MAX);
        let mut sieve = Self { names: by_word, bits: vec![0; bits / u64::BITS as usize] };
        for word in sieve.names.keys() {
            let bit = bit_of(word, bits);
            sieve.bits[bit / u64::BITS as usize] |= 1 << (bit % u64::BITS as usize);
        }
        sieve
    }

    /// Returns whether it finds nothing in any text.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns whether a text may have one of the names, however it writes them; mostly it then does.
    pub(crate) fn finds(&self, text: &str) -> bool {
        if self.is_empty() {
            return false;
        }
        let (mut folded, mut may_have) = (String::new(), false);
        for word in words(text).iter().filter(|word| !word.text.is_ascii() || self.may_be(word.text)) {
            folded.clear();
            push_folded(word.text, &mut folded);
            // One sign may stand for several words, as in Arabic: no name can be told from it.
            if folded.contains(' ') {
                return true;
            }
            may_have |= self.names.contains_key(&folded);
        }
        may_have && self.finds_whole(text)
    }

    fn may_be(&self, word: &str) -> bool {
        let bit = bit_of(word, self.bits.len() * u64::BITS as usize);
        self.bits[bit / u64::BITS as usize] >> (bit % u64::BITS as usize) & 1 == 1
    }

    /// Returns whether all words of one of the names stand side by side.
    fn finds_whole(&self, text: &str) -> bool {
        let folded = FoldedWords::of(text);
        let stands = |at: usize, sought: &Sought| {
            let Some(first) = at.checked_sub(sought.place) else { return false };
            folded.key(first..first + sought.words) == sought.name
        };
        (0..folded.words.len()).any(|at| {
            let names = self.names.get(folded.word(at)).map_or(&[][..], Vec::as_slice);
            names.iter().any(|name| stands(at, name))
        })
    }
}

/// Returns the bit of a word in a filter of so many, a power of two; capitals of ASCII are as lower case.
fn bit_of(word: &str, bits: usize) -> usize {
    // FNV-1a; its high bits are mixed best.
    let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ (hash >> 32)) as usize & (bits - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_where_the_words_of_a_name_stand_side_by_side() {
        let names = ["harl mill", "capek", "the low tide"].map(str::to_owned);
        // "mill" is rarer than "harl", "tide" than "the low".
        let frequency = |word: &str| if ["mill", "tide", "capek"].contains(&word) { 1 } else { 9 };
        let sieve = WordSieve::of(names, &frequency);
        for text in ["HARL-Mill", "they saw Čapek", "at the low tide, it", "mill; Harl mill"] {
            assert!(sieve.finds(text), "{text}");
        }
        for text in ["", "mill", "the mill of Harl", "low tide", "capeks", "tide"] {
            assert!(!sieve.finds(text), "{text}");
        }
        assert!(sieve.finds("\u{fdfa}"), "the sign of four words");
        let none = WordSieve::of([], &frequency);
        assert!(none.is_empty() && !none.finds("Harl Mill"));
    }
}
