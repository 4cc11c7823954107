//! Scoring of ranked lists against questions with known supporting documents. Who makes the lists does not matter
//! here: an engine of this library, or a file written by another program.

mod bootstrap;
mod metrics;
mod questions;
mod report;
//mod retrieval;
mod table;

pub use bootstrap::{Interval, RESAMPLES, interval, percentile};
pub use metrics::{DEPTHS, QuestionScores, scores};
pub use questions::{Question, parse_questions, read_questions};
pub use report::{Breakdown, Facts, Metrics, RetrievalReport, RunLine, Scored, TimePerQuestion, score};
//pub use retrieval::retrieval;
