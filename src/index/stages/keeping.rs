//! Vectors are kept as they come, call by call, so that a run that is killed repeats no call but those under way.
//!
//! That of a title has a share in those of its passages, and no version has it. It is kept too, but whole: what is
//! blended with it later is what it would have been without a kill.

use super::known::Known;
use crate::domain::{Embedding, Spent};
use crate::embed::{Account, Embedded, Embedder};
use crate::error::{Error, Result};
use crate::graph::vectors::QuantizedVectors;
use crate::workspace::{FreshVectors, Records, VectorKey};

/// Rows that hold the values of one vector as they are, a byte of each value for a code.
const WHOLE_ROWS: usize = size_of::<f32>();
/// What the keys of titles begin with, beside those of what a version has.
const TITLE: u8 = 4;

/// Where vectors and what they came to are kept as they come.
pub(in crate::index) struct Keeper<'a> {
    pub(in crate::index) fresh: FreshVectors,
    pub(in crate::index) records: &'a mut Records,
}

/// Vectors to keep, one a key.
pub(super) struct Rows {
    keys: Vec<VectorKey>,
    vectors: QuantizedVectors,
}

impl Rows {
    fn new(dimension: usize) -> Self {
        Self { keys: Vec::new(), vectors: QuantizedVectors::new(dimension) }
    }

    pub(super) fn push(&mut self, key: VectorKey, vector: &Embedding) {
        self.keys.push(key);
        self.vectors.push(vector.values());
    }

    pub(super) fn push_title(&mut self, title: &str, vector: &Embedding) {
        let bytes: Vec<u8> = vector.values().iter().flat_map(|value| value.to_le_bytes()).collect();
        for (row, codes) in bytes.chunks_exact(self.vectors.dimension.max(1)).enumerate() {
            self.keys.push(title_key(title, row));
            self.vectors.push_bytes(&[&1f32.to_le_bytes()[..], codes].concat());
        }
    }
}

/// Returns the key of a row of a title.
pub(super) fn title_key(title: &str, row: usize) -> VectorKey {
    let mut hasher = blake3::Hasher::new();
    *hasher.update(&[TITLE, row as u8]).update(title.as_bytes()).finalize().as_bytes()
}

/// Returns the values of the vector of a title, where all of it was kept.
pub(super) fn kept_title(known: &Known<'_>, title: &str) -> Option<Vec<f32>> {
    let rows = (0..WHOLE_ROWS).map(|row| known.codes(&title_key(title, row))).collect::<Option<Vec<&[i8]>>>()?;
    let bytes: Vec<u8> = rows.concat().into_iter().map(i8::cast_unsigned).collect();
    let values: Vec<f32> = bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    values.iter().all(|value| value.is_finite()).then_some(values)
}

/// Texts whose vectors are under way.
pub(super) struct Coming<'s, 'c, F> {
    pub(super) embedder: &'s dyn Embedder,
    /// None keeps nothing.
    pub(super) keeper: Option<&'s mut Keeper<'c>>,
    pub(super) spent: &'s mut Spent,
    /// Which of them are kept.
    pub(super) is_kept: Vec<bool>,
    /// Adds what is kept of one, by its place.
    pub(super) add: F,
    /// Why something was not kept.
    pub(super) fault: Option<Error>,
}

impl<F: Fn(usize, &Embedding, &mut Rows)> Coming<'_, '_, F> {
    /// Keeps vectors that came, and what the calls since the last time came to.
    pub(super) fn keep(&mut self, came: &[(usize, &Embedding)]) {
        let spent = self.embedder.account().map(Account::take_spent).unwrap_or_default();
        self.spent.add(&spent);
        let Some(Keeper { fresh, records }) = self.keeper.as_deref_mut() else { return };
        let mut rows = Rows::new(self.embedder.dimension());
        for (place, vector) in came {
            if !std::mem::replace(&mut self.is_kept[*place], true) {
                (self.add)(*place, vector, &mut rows);
            }
        }
        let kept = if rows.keys.is_empty() { Ok(()) } else { fresh.keep(&rows.keys, &rows.vectors.view()) };
        if let Err(fault) = kept.and_then(|()| records.add_spending(self.embedder.name(), &spent)) {
            self.fault.get_or_insert(fault);
        }
    }

    /// Keeps what was not told as it came.
    ///
    /// # Errors
    ///
    /// Whatever was not kept before or now.
    pub(super) fn finish(mut self, embedded: &Embedded) -> Result<()> {
        let all = embedded.vectors.iter().enumerate();
        self.keep(&all.filter_map(|(place, vector)| Some((place, vector.as_ref()?))).collect::<Vec<_>>());
        self.fault.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vector_of_a_title_comes_back_bit_by_bit_where_all_of_it_was_kept() {
        let vector = Embedding::try_new(vec![0.1, -0.7, 1e-7, 0.3, 0.0], 5).unwrap();
        let mut rows = Rows::new(5);
        rows.push([9; 32], &vector);
        rows.push_title("Harl Mill", &vector);
        let known = |count: usize| {
            let mut known = Known::default();
            known.add_kept(&rows.keys[..count], rows.vectors.clone());
            known
        };
        let whole = known(1 + WHOLE_ROWS);
        assert_eq!(kept_title(&whole, "Harl Mill").as_deref(), Some(vector.values()));
        assert_eq!(kept_title(&whole, "Pale Hill"), None);
        // Cut by a kill while it was written.
        assert_eq!(kept_title(&known(WHOLE_ROWS), "Harl Mill"), None);
        // A value that is not a number is not accepted.
        let mut rows = Rows::new(1);
        rows.keys.extend((0..WHOLE_ROWS).map(|row| title_key("A", row)));
        f32::NAN.to_le_bytes().iter().for_each(|byte| rows.vectors.push_bytes(&[0, 0, 0, 0, *byte]));
        let mut known = Known::default();
        known.add_kept(&rows.keys, rows.vectors);
        assert_eq!(kept_title(&known, "A"), None);
    }
}
