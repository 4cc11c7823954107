//! What a version is made of, stage by stage.

pub(super) mod matching;
pub(super) mod terms;
pub(super) mod vectors;
