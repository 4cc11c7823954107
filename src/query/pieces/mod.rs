//! What strategies are put together from.

pub(super) mod decompose;
pub(super) mod fuse;
pub(super) mod pick;
pub(super) mod read_by_rule;
pub(super) mod rerank;
