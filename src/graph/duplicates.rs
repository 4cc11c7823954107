//! Near-duplicate documents: versions of one text, pages that exist in several places. A signature of their word
//! sequences reveals them.
//!
//! A signature is a `MinHash` of one permutation (Li, Owen and Zhang, 2012): the smallest hash of shingles in each of
//! `BINS` ranges, empty ranges filled from their neighbours as Shrivastava (2017) densifies them. The share of equal
//! bins estimates the share of shingles that two documents have in common.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Words per shingle.
const SHINGLE_WORDS: usize = 4;
/// Shingles of a document at least: of fewer, chance decides.
const SHINGLES_MIN: usize = 24;
/// Numbers of a signature.
const BINS: usize = 128;
/// Of these, numbers that have to be equal for two documents to be compared.
const BAND: usize = 8;
/// Bands of a signature.
const BANDS: usize = BINS / BAND;
/// Equal numbers of two signatures from which on documents are nearly equal: nine in ten shingles in common.
const EQUAL_MIN: usize = 115;
/// Documents of one band that are compared with the first of it.
const BAND_DOCUMENTS_MAX: usize = 64;

/// A hash of each band of a signature, by which signatures to compare are found; zeros for a document with too little
/// text.
pub(crate) type Bands = [u32; BANDS];

/// The signature of a document; none for one with too little text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Signature(Option<Box<[u32; BINS]>>);

impl Signature {
    /// Returns the signature of a text, given in parts.
    ///
    /// # Complexity
    ///
    /// Linear in the text.
    #[must_use]
    pub(crate) fn of<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut bins = [u32::MAX; BINS];
        let mut window = [0_u64; SHINGLE_WORDS];
        let mut count = 0_usize;
        for word in parts.into_iter().flat_map(words) {
            window.rotate_left(1);
            window[SHINGLE_WORDS - 1] = hash(word);
            count += 1;
            if count < SHINGLE_WORDS {
                continue;
            }
            let shingle = window.iter().fold(0, |all, word| mixed(all ^ *word));
            let (bin, rank) = ((shingle >> 32) as usize % BINS, shingle as u32);
            bins[bin] = bins[bin].min(rank.min(u32::MAX - 1));
        }
        if count < SHINGLES_MIN + SHINGLE_WORDS - 1 {
            return Self(None);
        }
        Self(Some(Box::new(filled(bins))))
    }

    /// Returns its bands.
    #[must_use]
    pub(crate) fn bands(&self) -> Bands {
        let mut bands = [0; BANDS];
        for (band, numbers) in bands.iter_mut().zip(self.0.iter().flat_map(|numbers| numbers.chunks_exact(BAND))) {
            *band = (numbers.iter().fold(0, |all, number| mixed(all ^ u64::from(*number))) >> 32) as u32;
        }
        bands
    }

    /// Returns whether two documents are nearly equal.
    fn is_near(&self, other: &Self) -> bool {
        let both = self.0.iter().zip(&other.0);
        both.into_iter().any(|(own, other)| own.iter().zip(&**other).filter(|(a, b)| a == b).count() >= EQUAL_MIN)
    }
}

/// Returns the words of a text without regard to case: letters and digits.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Returns a hash of a word that is the same on every machine.
fn hash(word: &str) -> u64 {
    let fold = |all: u64, byte: u8| (all ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    mixed(word.bytes().map(|it| it.to_ascii_lowercase()).fold(0xcbf2_9ce4_8422_2325, fold))
}

/// Spreads a number over all bits (the finalizer of `SplitMix64`).
const fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Fills bins that have nothing from such as have something, found by the number of the bin alone.
fn filled(bins: [u32; BINS]) -> [u32; BINS] {
    let mut full = bins;
    for (number, bin) in full.iter_mut().enumerate() {
        let mut attempt = 0_u64;
        while *bin == u32::MAX && attempt < 100 * BINS as u64 {
            attempt += 1;
            let donor = mixed(mixed(number as u64 + 1) ^ attempt) as usize % BINS;
            if bins[donor] != u32::MAX {
                *bin = bins[donor].wrapping_add(attempt as u32) & 0x7fff_ffff;
            }
        }
    }
    full
}

/// Returns for each document the first one, by number, that it is a near-duplicate of; itself if there is none before
/// it. `signature` returns that of a document by its number, and is called for those that share a band with another.
///
/// Documents are compared only with firsts, so that a chain of small changes does not join distant documents.
///
/// # Complexity
///
/// O(documents · log documents), as long as few of different documents agree in a band.
#[must_use]
pub(crate) fn originals(bands: &[Bands], signature: impl Fn(u32) -> Signature + Sync) -> Vec<u32> {
    let mut originals: Vec<u32> = (0..bands.len() as u32).collect();
    let shared = sharing(bands);
    let signatures: FxHashMap<u32, Signature> = shared.par_iter().map(|number| (*number, signature(*number))).collect();
    let mut firsts: FxHashMap<(usize, u32), Vec<u32>> = FxHashMap::default();
    for number in shared {
        let keys = || bands[number as usize].into_iter().enumerate();
        let mut candidates: Vec<u32> = keys().filter_map(|key| firsts.get(&key)).flatten().copied().collect();
        candidates.sort_unstable();
        candidates.dedup();
        let own = &signatures[&number];
        if let Some(first) = candidates.into_iter().find(|first| own.is_near(&signatures[first])) {
            originals[number as usize] = first;
            continue;
        }
        for key in keys() {
            let firsts = firsts.entry(key).or_default();
            if firsts.len() < BAND_DOCUMENTS_MAX {
                firsts.push(number);
            }
        }
    }
    originals
}

/// Returns the documents that share a band with another, in order.
fn sharing(bands: &[Bands]) -> Vec<u32> {
    let of_band = |place: usize| {
        let has_text = |it: &(&Bands, u32)| *it.0 != [0; BANDS];
        let mut keys: Vec<(u32, u32)> =
            bands.iter().zip(0..).filter(has_text).map(|(bands, number)| (bands[place], number)).collect();
        keys.sort_unstable();
        let shared = keys.chunk_by(|one, other| one.0 == other.0).filter(|same| same.len() > 1);
        shared.flatten().map(|it| it.1).collect::<Vec<u32>>()
    };
    let mut sharing: Vec<u32> = (0..BANDS).into_par_iter().flat_map_iter(of_band).collect();
    sharing.sort_unstable();
    sharing.dedup();
    sharing
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text of invented words that depends only on its number.
    fn text(seed: u64, words: usize) -> Vec<String> {
        (0..words as u64).map(|at| format!("w{}", mixed(seed * 1_000_003 + at) % 5_000)).collect()
    }

    fn of(words: &[String]) -> Signature {
        Signature::of([words.join(" ").as_str()])
    }

    fn firsts(signatures: &[Signature]) -> Vec<u32> {
        let bands: Vec<Bands> = signatures.iter().map(Signature::bands).collect();
        originals(&bands, |number| signatures[number as usize].clone())
    }

    /// The exact share of common shingles.
    fn shared(a: &[String], b: &[String]) -> f64 {
        let shingles = |words: &[String]| {
            words.windows(SHINGLE_WORDS).map(<[String]>::to_vec).collect::<std::collections::BTreeSet<_>>()
        };
        let (a, b) = (shingles(a), shingles(b));
        a.intersection(&b).count() as f64 / a.union(&b).count() as f64
    }

    #[test]
    fn a_signature_estimates_what_is_in_common() {
        for (seed, changes) in [(1, 0), (2, 3), (3, 12), (4, 40), (5, 120)] {
            let before = text(seed, 800);
            let mut after = before.clone();
            for at in 0..changes {
                after[at * 800 / changes.max(1)] = format!("new{at}");
            }
            let (a, b) = (of(&before), of(&after));
            let (a, b) = (a.0.unwrap(), b.0.unwrap());
            let equal = a.iter().zip(&*b).filter(|(a, b)| a == b).count();
            let (estimate, truth) = (equal as f64 / BINS as f64, shared(&before, &after));
            assert!((estimate - truth).abs() < 0.12, "{changes}: {estimate} of {truth}");
        }
    }

    #[test]
    fn versions_of_one_text_are_of_the_first_and_others_of_themselves() {
        let first = text(1, 600);
        let mut second = first.clone();
        second.extend(text(9, 10));
        let mut far = first.clone();
        far.truncate(300);
        let other = text(2, 600);
        let short = text(1, 10);
        let signatures = [of(&other), of(&first), of(&short), of(&second), of(&far), of(&short), of(&first)];
        assert_eq!(firsts(&signatures), [0, 1, 2, 1, 4, 5, 1]);
        assert!(firsts(&[]).is_empty());
    }

    #[test]
    fn case_marks_and_separators_of_a_text_do_not_matter() {
        let words = text(1, 100);
        let whole = of(&words);
        let upper = Signature::of([words.join("\n* ").to_uppercase().as_str()]);
        let parts = Signature::of([words[..50].join(" ").as_str(), words[50..].join(" ").as_str()]);
        assert_eq!(whole, upper);
        assert_eq!(whole, parts);
    }

    #[test]
    fn many_equal_documents_take_no_longer_each() {
        let one = of(&text(1, 200));
        let all = vec![one; 20_000];
        assert!(firsts(&all).iter().all(|it| *it == 0));
    }
}
