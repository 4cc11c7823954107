//! Pure algorithms over the graph: no I/O, no clock; seeds and order are arguments.

pub mod packed;
