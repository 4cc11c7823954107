//! Language models: every fault of a server has its type, ends in time and is not paid for twice; and what the program
//! makes of what a model says.

mod asking;
mod cache;
mod citations;
mod embedders;
mod faults;
pub(crate) mod generating;
mod hostile;
mod probing;
mod secrets;
mod spending;
mod streaming;
