//! A digest of what a part of a version is made of.

use crate::graph::ordinal::Ordinal;
use crate::graph::vectors::Vectors;

/// A digest of inputs.
pub(in crate::index) type Digest = blake3::Hash;

/// What a part is made of, each with its length, so that no two lists of inputs are one sequence of bytes.
pub(in crate::index) struct Inputs(blake3::Hasher);

impl Inputs {
    pub(in crate::index) fn new() -> Self {
        Self(blake3::Hasher::new())
    }

    /// Begins with who makes something of them: another release may make something else.
    pub(super) fn of(stage: &str, version: u32) -> Self {
        let mut inputs = Self::new();
        inputs.text(env!("CARGO_PKG_VERSION")).text(stage).number(version as usize);
        inputs
    }

    pub(in crate::index) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len());
        self.0.update(bytes);
        self
    }

    pub(in crate::index) fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    pub(in crate::index) fn number(&mut self, number: usize) -> &mut Self {
        self.0.update(&(number as u64).to_le_bytes());
        self
    }

    pub(in crate::index) fn numbers(&mut self, numbers: &[impl Ordinal]) -> &mut Self {
        self.bytes(bytemuck::cast_slice(numbers))
    }

    pub(in crate::index) fn vectors(&mut self, vectors: &Vectors<'_>) -> &mut Self {
        self.bytes(bytemuck::cast_slice(vectors.scales)).bytes(bytemuck::cast_slice(vectors.codes))
    }

    pub(in crate::index) fn digest(&self) -> Digest {
        self.0.finalize()
    }
}
