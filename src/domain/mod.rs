//! The values of the field, in the words of the glossary. No I/O, no clock, no async.

mod answer;
mod backoff;
mod chat;
mod database;
mod document;
mod edge;
mod embedding;
mod id;
mod ledger;
mod left_out;
mod local_model;
mod passage;
mod path;
mod position;
mod progress;
mod question;
mod secret;
mod version;

pub use answer::{Answer, AnswerKind, Citation, CitationCheck, Guess, Hit, NearEqual, Why, Writing, WrittenSentence};
pub use backoff::Backoff;
pub use chat::{BudgetKind, ChatError, Cost, Spent, Usage};
pub use database::DatabaseError;
pub use document::{Document, Metadata};
pub use edge::QuestionEdge;
pub use embedding::{Embedding, EmbeddingError};
pub use id::{CollectionId, CorpusId, DocumentId, EdgeId, EntityId, ParseIdError, PassageId, QuestionId};
pub use ledger::{
    AnsweredBy, Arrival, EntryVertex, HopRound, Judgement, Ledger, ModelWork, Pick, Pruned, RoundReasoning, SkillCalls,
    Spelling, Step, StepKind, StopReason, SubAnswer, SubQuestionTrace, Verdict,
};
pub use left_out::{LeftOut, left_out};
pub use local_model::{ModelError, RuntimeError};
pub use passage::{Passage, Span};
pub use path::{
    Direction, GraphPath, PATH_LENGTH_MAX, PATHS_MAX, PathEnd, PathNode, PathOptions, PathStep, PathsBy, PathsFound,
};
pub use position::{Lines, PAGE_END, PositionMark, Positions, location};
pub use progress::{Cancellation, Progress, ProgressSink};
pub use question::{Keywords, PseudoQuery, QuestionKind, QuestionOrigin};
pub use secret::Secret;
pub(crate) use secret::{RedactedPieces, Redactor};
pub use version::{Counts, IndexVersion, Skip};
