//! Pure algorithms over the graph: no I/O, no clock; seeds and order are arguments.

pub mod forest;
pub mod matching;
pub mod packed;
pub mod top;
pub mod trail;
pub mod vectors;
