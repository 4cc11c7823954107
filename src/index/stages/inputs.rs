//! A digest of what a part of a version is made of.

use crate::graph::ordinal::Ordinal;
use crate::graph::vectors::Vectors;

/// A digest of inputs.
pub(in crate::index) type Digest = blake3::Hash;

/// Bytes that are hashed together: many small pieces cost several times as much one by one.
const HASHED_BYTES: usize = 1 << 16;

/// What a part is made of, each with its length, so that no two lists of inputs are one sequence of bytes.
pub(in crate::index) struct Inputs {
    hasher: blake3::Hasher,
    /// What is to be hashed next.
    waiting: Vec<u8>,
}

impl Inputs {
    pub(in crate::index) fn new() -> Self {
        Self { hasher: blake3::Hasher::new(), waiting: Vec::new() }
    }

    /// Begins with who makes something of them: another release may make something else.
    pub(super) fn of(stage: &str, version: u32) -> Self {
        let mut inputs = Self::new();
        inputs.text(env!("CARGO_PKG_VERSION")).text(stage).number(version as usize);
        inputs
    }

    pub(in crate::index) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len());
        self.add(bytes);
        self
    }

    pub(in crate::index) fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    pub(in crate::index) fn number(&mut self, number: usize) -> &mut Self {
        self.add(&(number as u64).to_le_bytes());
        self
    }

    pub(in crate::index) fn numbers(&mut self, numbers: &[impl Ordinal]) -> &mut Self {
        self.bytes(bytemuck::cast_slice(numbers))
    }

    pub(in crate::index) fn vectors(&mut self, vectors: &Vectors<'_>) -> &mut Self {
        let pieces = vectors.pieces();
        let rows: usize = pieces.iter().map(|(scales, _)| scales.len()).sum();
        self.number(rows * size_of::<f32>());
        for (scales, _) in &pieces {
            self.add(bytemuck::cast_slice(scales));
        }
        self.number(rows * vectors.dimension);
        for (_, codes) in &pieces {
            self.add(bytemuck::cast_slice(codes));
        }
        self
    }

    pub(in crate::index) fn digest(&self) -> Digest {
        self.hasher.clone().update(&self.waiting).finalize()
    }

    /// Adds bytes whose lengths were added before.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        if self.waiting.len() + bytes.len() > HASHED_BYTES {
            self.hasher.update(&self.waiting);
            self.waiting.clear();
        }
        if bytes.len() > HASHED_BYTES {
            self.hasher.update(bytes);
        } else {
            self.waiting.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::vectors::QuantizedVectors;

    #[test]
    fn a_digest_of_vectors_does_not_depend_on_where_they_lie() {
        let mut lists = [(); 3].map(|()| QuantizedVectors::new(2));
        let [all, earlier, added] = &mut lists;
        for row in 0..6_u8 {
            let values = [f32::from(row), 1.0];
            all.push(&values);
            if row % 3 == 1 { added.push(&values) } else { earlier.push(&values) }
        }
        let rows = [0, 4, 1, 2, 5, 3];
        let joined = Vectors { added: added.parts(), rows: Some(&rows), ..earlier.view() };
        let digest = |vectors: &Vectors<'_>| Inputs::new().vectors(vectors).digest();
        assert_eq!(digest(&joined), digest(&all.view()));
        assert_ne!(digest(&earlier.view()), digest(&all.view()));
    }

    #[test]
    fn a_digest_is_of_all_pieces_whatever_their_size() {
        let all: Vec<u8> = (0..3 * HASHED_BYTES).map(|at| (at / 7) as u8).collect();
        let (mut inputs, mut plain, mut rest) = (Inputs::new(), blake3::Hasher::new(), &all[..]);
        for length in [0, 5, HASHED_BYTES - 21, HASHED_BYTES, 1, HASHED_BYTES + 1, 9] {
            let (piece, after) = rest.split_at(length.min(rest.len()));
            inputs.bytes(piece);
            plain.update(&(piece.len() as u64).to_le_bytes()).update(piece);
            assert_eq!(inputs.digest(), plain.finalize(), "{length}");
            rest = after;
        }
    }
}
