//! Upper bounds for the tokens of texts. No model's tokenizer uses more than one token per byte; how many fewer is
//! learned from the counts of servers, by model and kind of text, and remembered.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::files;

/// Counts of a server before they are believed.
const COUNTS_MIN: u32 = 3;
/// How much more than the most that was counted a text of its kind may take.
const MARGIN: f64 = 1.25;
/// Steps by which shares of bytes are distinguished.
const STEPS: u64 = 10;
/// Letters that a word of a language has at most, and its consonants in a row.
const LETTERS_MAX: u64 = 20;
const CONSONANTS_MAX: u64 = 4;
/// Models and kinds that are remembered.
const KINDS_MAX: usize = 1_024;

/// The size and the kind of texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Measured {
    pub(crate) bytes: u64,
    kind: String,
}

impl Measured {
    /// Measures texts: kinds differ by how many of their bytes are neither letters nor spaces, by how many are not
    /// ASCII, by the script of most of those, and by how many of the others are in words that no language has: keys,
    /// codes and the like take many more tokens than prose.
    pub(crate) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut bytes, mut marks, mut foreign, mut odd) = (0_u64, 0_u64, 0_u64, 0_u64);
        let mut blocks: BTreeMap<u32, u64> = BTreeMap::new();
        let mut word = Word::default();
        for c in texts.into_iter().flat_map(str::chars) {
            odd += word.take(c);
            let length = c.len_utf8() as u64;
            bytes += length;
            if !c.is_ascii() {
                foreign += length;
                *blocks.entry(block(c)).or_default() += length;
            } else if !c.is_ascii_alphabetic() && c != ' ' && c != '\n' {
                marks += length;
            }
        }
        odd += word.take(' ');
        let share = |part: u64| (part * STEPS * 2).checked_div(bytes).unwrap_or(0);
        let most = blocks.iter().max_by_key(|(block, count)| (**count, **block)).map_or(0, |(block, _)| *block);
        // Some foreign letters in a text of others say nothing.
        let script = if share(foreign) == 0 { 0 } else { most };
        Self { bytes, kind: format!("{}.{}.{script:x}.{}", share(marks), share(foreign), share(odd)) }
    }
}

/// A word of ASCII letters, while it is read.
#[derive(Default)]
struct Word {
    letters: u64,
    vowels: u64,
    /// Consonants since the last vowel, and the most that there were.
    consonants: (u64, u64),
    /// Whether a capital follows a small letter.
    is_mixed: bool,
    was_small: bool,
}

impl Word {
    /// Takes the next character, and at the end of a word returns its letters if it is like none of a language.
    fn take(&mut self, c: char) -> u64 {
        if !c.is_ascii_alphabetic() {
            let Self { letters, vowels, consonants, is_mixed, .. } = std::mem::take(self);
            let is_odd = is_mixed || letters > LETTERS_MAX || consonants.1 > CONSONANTS_MAX || vowels == 0;
            return if is_odd && letters >= 3 { letters } else { 0 };
        }
        self.letters += 1;
        self.is_mixed |= self.was_small && c.is_ascii_uppercase();
        self.was_small = c.is_ascii_lowercase();
        if matches!(c.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u' | 'y') {
            self.vowels += 1;
            self.consonants.0 = 0;
        } else {
            self.consonants.0 += 1;
            self.consonants.1 = self.consonants.1.max(self.consonants.0);
        }
        0
    }
}

/// Returns the script of a character, about: ideographs and syllables, of which there are many, are one.
const fn block(c: char) -> u32 {
    match c as u32 {
        0x2E80..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF => 0x4E,
        0xAC00..=0xD7AF => 0xAC,
        code => code >> 8,
    }
}

/// A server's token counts for texts of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Ratio {
    /// The most tokens a byte.
    most: f64,
    /// How often it counted.
    counts: u32,
}

/// Servers' token counts, by model and kind of text; remembered in a file, if one is named.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    path: Option<PathBuf>,
    known: Mutex<BTreeMap<String, Ratio>>,
}

impl Bounds {
    /// Remembers in a file. One that cannot be read says nothing.
    pub(super) fn remembered_in(path: &Path) -> Self {
        let bytes = files::read_own(path).ok().flatten().unwrap_or_default();
        let known: BTreeMap<String, Ratio> = serde_json::from_slice(&bytes).unwrap_or_default();
        Self { path: Some(path.to_owned()), known: Mutex::new(known) }
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Ratio>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many tokens texts have at most.
    #[expect(clippy::cast_sign_loss, reason = "neither a number of bytes nor a ratio is negative")]
    pub(super) fn most(&self, model: &str, measured: &Measured) -> u64 {
        let ratio = self.known().get(&key(model, measured)).copied();
        match ratio.filter(|ratio| ratio.counts >= COUNTS_MIN && ratio.most.is_finite() && ratio.most > 0.0) {
            Some(ratio) => (measured.bytes as f64 * ratio.most * MARGIN).ceil() as u64,
            None => measured.bytes,
        }
    }

    /// Learns from a server's token count.
    pub(super) fn learn(&self, model: &str, measured: &Measured, tokens: u64) {
        if measured.bytes == 0 {
            return;
        }
        let mut known = self.known();
        if known.len() >= KINDS_MAX && !known.contains_key(&key(model, measured)) {
            return;
        }
        let ratio = known.entry(key(model, measured)).or_default();
        let before = *ratio;
        ratio.most = ratio.most.max(tokens as f64 / measured.bytes as f64);
        ratio.counts = ratio.counts.saturating_add(1);
        let is_news = ratio.counts == COUNTS_MIN || (ratio.counts > COUNTS_MIN && ratio.most > before.most * 1.02);
        if let Some(path) = self.path.as_ref().filter(|_| is_news)
            && let Err(error) = write(path, &known)
        {
            tracing::debug!(%error, "the counts of a server are not remembered");
        }
    }
}

fn write(path: &Path, known: &BTreeMap<String, Ratio>) -> crate::error::Result<()> {
    let text = serde_json::to_string(known).map_err(|error| crate::error::Error::Internal(error.to_string()))?;
    files::make_folder(path.parent().unwrap_or(Path::new(".")))?;
    files::replace_own(path, text)
}

fn key(model: &str, measured: &Measured) -> String {
    format!("{model} {}", measured.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROSE: &str = "The mill was built by Ada Lorne and burned down twice before anybody bought it again ";

    #[test]
    fn a_byte_is_a_token_until_a_server_says_less_of_texts_of_that_kind() {
        let bounds = Bounds::default();
        let prose = Measured::of([PROSE]);
        let others =
            ["1848 2931 | 77", "በአዲስ አበባ ከተማ", "水磨由艾达建造", "qzkvw xjhbtr pfg dQwXz", "aeiou".repeat(9).as_str()]
                .map(|text| Measured::of([text]));
        for _ in 0..COUNTS_MIN {
            assert_eq!(bounds.most("m", &prose), PROSE.len() as u64);
            bounds.learn("m", &prose, PROSE.len() as u64 / 4);
        }
        let most = bounds.most("m", &prose);
        assert!(most >= PROSE.len() as u64 / 4 && most < PROSE.len() as u64 / 2, "{most}");
        for other in &others {
            assert_eq!(bounds.most("m", other), other.bytes, "{other:?}");
        }
        assert_eq!(bounds.most("n", &prose), PROSE.len() as u64);
        let mut kinds: Vec<&str> = others.iter().map(|it| it.kind.as_str()).chain([prose.kind.as_str()]).collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), 6);
    }

    #[test]
    fn what_was_counted_is_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cairn/tokens.json");
        let (first, prose) = (Bounds::remembered_in(&path), Measured::of([PROSE]));
        (0..COUNTS_MIN).for_each(|_| first.learn("m", &prose, 20));
        assert_eq!(Bounds::remembered_in(&path).most("m", &prose), first.most("m", &prose));
        std::fs::write(&path, "{").unwrap();
        assert_eq!(Bounds::remembered_in(&path).most("m", &prose), PROSE.len() as u64);
    }
}
