//! Pure algorithms over the graph: no I/O, no clock; seeds and order are arguments.

pub mod cells;
pub mod elements;
pub mod hop;
pub mod layout;
pub mod matching;
pub mod mentions;
pub mod network;
pub mod packed;
pub mod paths;
pub mod scan;
mod structure;
pub mod top;
pub mod trail;
pub mod vectors;
