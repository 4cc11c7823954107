//! Pure algorithms over the graph: no I/O, no clock; seeds and order are arguments.

#[macro_use]
mod arrays;
pub(crate) mod bridges;
pub(crate) mod cells;
pub mod descriptions;
pub(crate) mod duplicates;
pub(crate) mod elements;
pub(crate) mod extracted;
pub mod hierarchy;
pub(crate) mod hop;
pub(crate) mod layout;
pub mod leiden;
pub mod matching;
pub mod mentions;
pub mod mixture;
pub(crate) mod network;
pub mod ordinal;
pub mod packed;
pub(crate) mod page_rank;
pub(crate) mod panels;
pub(crate) mod paths;
mod random;
pub(crate) mod relations;
pub mod resolution;
pub(crate) mod scan;
pub mod segments;
mod structure;
pub(crate) mod top;
pub mod trail;
pub mod vectors;
