//! 64 bits that say which question it is, and what decides its matches.

use rayon::prelude::*;

use crate::graph::cells;
use crate::graph::vectors::Vectors;

/// The marks of the questions of one side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    /// 64 bits for each that say which question it is, what keywords it has, and, if both sides have vectors, what
    /// vector, whatever its number.
    pub questions: Vec<u64>,
    /// Those of its vector alone, of in-coming ones; none if a side has no vectors.
    pub vectors: Vec<u64>,
}

impl Marks {
    /// Joins the marks of questions, with their keywords, with those of their vectors, if both sides have these.
    #[must_use]
    pub fn of_all(own: &[u64], vectors: Option<&Vectors<'_>>) -> Self {
        Self::of(own.len(), vectors, |_| None, || (), |(), question| own[question])
    }

    /// Joins the marks that `own` returns of questions, with their keywords, with those of their vectors, if both sides
    /// have these. Where both are `known` of an earlier matching, neither is computed.
    pub fn of<R>(
        count: usize,
        vectors: Option<&Vectors<'_>>,
        known: impl Fn(usize) -> Option<(u64, u64)> + Sync,
        room: impl Fn() -> R + Sync + Send,
        own: impl Fn(&mut R, usize) -> u64 + Sync,
    ) -> Self {
        let mark = |room: &mut R, question: usize| {
            known(question).unwrap_or_else(|| with_vector(own(room, question), vectors, question as u32))
        };
        let (questions, vectors_of) = (0..count).into_par_iter().map_init(room, mark).unzip();
        Self { questions, vectors: if vectors.is_some() { vectors_of } else { Vec::new() } }
    }
}

/// Joins the mark of a question, with its keywords, with that of its vector, if it has one; returns this, too.
#[must_use]
pub fn with_vector(mark: u64, vectors: Option<&Vectors<'_>>, row: u32) -> (u64, u64) {
    let Some(vectors) = vectors else { return (mark, 0) };
    let vector = cells::hash(vectors, row);
    (vector.rotate_left(17) ^ mark, vector)
}
