//! Skills: one typed thing each that a performer does for indexing or for a strategy. Performers here are rules: they
//! need no model and give the same on every machine.

mod generate;
mod performers;

pub use generate::{INCOMING_MAX, OUTGOING_MAX, generate_by_rule};
pub use performers::Performers;
