//! What a question may use while it is answered: a language model within bounds, and time.

pub(super) mod asking;
pub(super) mod caller;
pub(super) mod deadline;
