//! Ways to rank the passages of an index for a question, no edge followed.

pub(super) mod flat;
