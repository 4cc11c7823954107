//! The built-in embedder: a table of word-piece vectors in the binary. No download, no model, no state.

use std::sync::LazyLock;

use rayon::prelude::*;

use super::{Embedder, Embeddings};
use crate::domain::{Embedding, EmbeddingError};
use crate::error::Error;
use crate::text::english;

const NAME: &str = "static-256i8";
const DIMENSION: usize = 256;
const PIECES_MAX: usize = 256;
/// Texts that one thread embeds at a time; fewer are not worth a thread.
const TEXTS_PER_TASK: usize = 64;

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(include_bytes!("static-256i8/table.bin")));

/// One row a piece: `scales[piece]` · `codes[piece]`.
struct Table {
    scales: Vec<f32>,
    codes: &'static [[i8; DIMENSION]],
}

impl Table {
    /// Reads scales as little-endian `f32`, then codes: what a row takes says how many there are.
    fn read(bytes: &'static [u8]) -> Self {
        let rows = bytes.len() / (size_of::<f32>() + DIMENSION);
        let (scales, codes) = bytes.split_at(rows * size_of::<f32>());
        let (scales, _) = scales.as_chunks::<{ size_of::<f32>() }>();
        let (codes, _) = bytemuck::cast_slice(codes).as_chunks();
        Self { scales: scales.iter().map(|it| f32::from_le_bytes(*it)).collect(), codes }
    }

    fn sum(&self, pieces: &[u32]) -> Vec<f32> {
        let mut sum = vec![0.0; DIMENSION];
        for piece in pieces.iter().map(|it| *it as usize) {
            let (Some(scale), Some(codes)) = (self.scales.get(piece), self.codes.get(piece)) else { continue };
            for (value, code) in sum.iter_mut().zip(codes) {
                *value += scale * f32::from(*code);
            }
        }
        sum
    }
}

/// The embedder `static-256i8`: the sum of the rows of a text's word pieces, at unit length.
#[derive(Debug, Clone, Copy, Default)]
pub struct StaticTable;

impl StaticTable {
    /// The name that an index made with it is pinned to.
    pub const NAME: &'static str = NAME;

    /// Returns the vectors of `texts`, in order; a text without words has zeros.
    ///
    /// # Errors
    ///
    /// [`Error::Embedding`] never happens with the table as it is: its values are finite.
    pub fn vectors(self, texts: &[&str]) -> Result<Vec<Embedding>, Error> {
        let embedded = texts.par_iter().with_min_len(TEXTS_PER_TASK).map_init(Vec::new, |pieces, text| {
            pieces.clear();
            embed_one(text, pieces)
        });
        embedded
            .collect::<Result<_, EmbeddingError>>()
            .map_err(|source| Error::Embedding { embedder: NAME.to_owned(), source })
    }
}

fn embed_one(text: &str, pieces: &mut Vec<u32>) -> Result<Embedding, EmbeddingError> {
    english().pieces(text, pieces);
    pieces.truncate(PIECES_MAX);
    Embedding::try_new(TABLE.sum(pieces), DIMENSION)
}

impl Embedder for StaticTable {
    fn name(&self) -> &str {
        NAME
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn piece_count(&self, text: &str) -> usize {
        english().count(text)
    }

    fn pieces_max(&self) -> usize {
        PIECES_MAX
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> Embeddings<'a> {
        Box::pin(std::future::ready(self.vectors(texts)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Embedding {
        StaticTable.vectors(&[text]).unwrap().remove(0)
    }

    #[test]
    fn vectors_are_those_that_the_table_was_fitted_for() {
        let long = format!("{}tail", "word ".repeat(300));
        for (text, pieces, expect) in [
            (
                "Who directed the film?",
                5,
                [0.05056, 0.29336, -0.273_595, 0.237_678, 0.154_968, 0.186_026, 0.283_332, -0.031_367],
            ),
            (
                "Teutberga was a queen of Lotharingia by marriage to Lothair II.",
                19,
                [0.324_597, -0.184_388, 0.093_917, 0.275_536, 0.083_149, -0.048_314, -0.058_811, 0.102],
            ),
            (
                "Čapek's café, naïve & co-operative: 1,234.5 €",
                18,
                [-0.055_298, -0.059_425, 0.082_373, 0.05755, -0.07874, -0.040_913, 0.131_761, 0.162_179],
            ),
            (
                "antidisestablishmentarianism xqzzyx",
                12,
                [0.135_385, 0.005_607, 0.077_504, 0.076_784, 0.092_486, -0.045_332, -0.045_006, -0.14286],
            ),
            (
                long.as_str(),
                301,
                [0.128_374, -0.092_866, -0.042_336, 0.137_934, 0.10106, -0.135_202, 0.027_314, -0.102_426],
            ),
        ] {
            assert_eq!(StaticTable.piece_count(text), pieces, "{text}");
            let embedding = one(text);
            for (value, expect) in embedding.values().iter().zip(expect) {
                assert!((value - expect).abs() < 2e-6, "{text}: {value} {expect}");
            }
            assert!((embedding.cosine(&embedding) - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn texts_of_one_meaning_are_closer_than_others() {
        let question = one("Who directed the film?");
        assert!(question.cosine(&one("The movie's director")) > 0.5);
        assert!(question.cosine(&one("Rivers flow into the sea")) < 0.2);
    }

    #[test]
    fn a_text_without_words_has_zeros() {
        for text in ["", " \n\t", "\u{200b}"] {
            assert!(one(text).values().iter().all(|value| value.abs() < f32::EPSILON), "{text:?}");
        }
        assert!(StaticTable.vectors(&[]).unwrap().is_empty());
    }

    #[test]
    fn many_texts_keep_their_order() {
        let texts: Vec<String> = (0..1000).map(|number| format!("number {number}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let vectors = StaticTable.vectors(&texts).unwrap();
        assert_eq!(vectors.len(), 1000);
        assert!(texts.iter().zip(&vectors).step_by(97).all(|(text, vector)| one(text) == *vector));
    }
}
