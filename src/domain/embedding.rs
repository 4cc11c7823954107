//! Dense representations of fixed dimension and unit length.

use serde::{Deserialize, Serialize};

/// Why a vector is not an embedding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EmbeddingError {
    /// The vector has another length than the embedder's dimension.
    #[error("an embedding has {actual} values; the embedder's dimension is {expected}")]
    Dimension {
        /// The actual number of values.
        actual: usize,
        /// The expected number of values.
        expected: usize,
    },
    /// A value is NaN or infinite.
    #[error("an embedding has a value that is not finite at position {position}")]
    NotFinite {
        /// The position of the first such value.
        position: usize,
    },
    /// There are more or fewer vectors than texts.
    #[error("{actual} vectors for {expected} texts")]
    Count {
        /// The actual number of vectors.
        actual: usize,
        /// The expected number of vectors.
        expected: usize,
    },
    /// A text with words has a vector of zeros, which is similar to nothing.
    #[error("an embedding of a text with words has nothing but zeros")]
    Zero,
}

/// A vector of unit length, or of zeros for a text with nothing to embed.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding(Box<[f32]>);

impl Embedding {
    /// Returns `values` scaled to unit length; zeros stay zeros, and are similar to nothing.
    ///
    /// # Errors
    ///
    /// [`EmbeddingError`] if the length is not `dimension` or a value is not finite.
    pub fn try_new(mut values: Vec<f32>, dimension: usize) -> Result<Self, EmbeddingError> {
        if values.len() != dimension {
            return Err(EmbeddingError::Dimension { actual: values.len(), expected: dimension });
        }
        if let Some(position) = values.iter().position(|value| !value.is_finite()) {
            return Err(EmbeddingError::NotFinite { position });
        }
        let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
        if length > 0.0 {
            for value in &mut values {
                *value /= length;
            }
        }
        Ok(Self(values.into()))
    }

    /// Returns the values.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.0
    }

    /// Returns the cosine similarity, in \[−1, 1\].
    #[must_use]
    pub fn cosine(&self, other: &Self) -> f32 {
        self.0.iter().zip(&other.0).map(|(a, b)| a * b).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_embedding_has_unit_length_and_finite_values() {
        let embedding = Embedding::try_new(vec![3.0, 4.0], 2);
        assert_eq!(embedding.map(|it| it.values().to_vec()), Ok(vec![0.6, 0.8]));
        assert_eq!(Embedding::try_new(vec![1.0], 2), Err(EmbeddingError::Dimension { actual: 1, expected: 2 }));
        assert_eq!(Embedding::try_new(vec![0.0, f32::NAN], 2), Err(EmbeddingError::NotFinite { position: 1 }));
        assert_eq!(Embedding::try_new(vec![0.0; 2], 2).map(|it| it.values().to_vec()), Ok(vec![0.0; 2]));
    }
}
