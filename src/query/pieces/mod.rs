//! The pieces that strategies compose: each takes a session and the results so far, and returns new results.

pub(super) mod calibrated;
pub(super) mod decompose;
pub(super) mod entities;
pub(super) mod fuse;
pub(super) mod low_level;
pub(super) mod near_equal;
pub(super) mod noted;
pub(super) mod part;
pub(super) mod pick;
pub(super) mod read_by_rule;
pub(super) mod relevance;
pub(super) mod rerank;
pub(super) mod smaller;
