//! Pure algorithms over the graph: no I/O, no clock; seeds and order are arguments.

pub(crate) mod cells;
pub mod duplicates;
pub(crate) mod elements;
pub(crate) mod hop;
pub(crate) mod layout;
pub mod matching;
pub mod mentions;
pub(crate) mod network;
pub mod ordinal;
pub mod packed;
pub(crate) mod paths;
pub(crate) mod scan;
mod structure;
pub(crate) mod top;
pub mod trail;
pub mod vectors;
