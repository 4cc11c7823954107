//! The values of the field, in the words of the glossary. No I/O, no clock, no async.

mod answer;
mod backoff;
mod calibration;
mod chat;
mod database;
mod document;
mod edge;
mod embedding;
mod entity;
mod extraction;
mod id;
mod layers;
mod ledger;
mod left_out;
mod local_model;
mod passage;
mod path;
mod plan;
mod position;
mod progress;
mod question;
mod secret;
mod topic;
mod version;
mod web;

pub use answer::{
    Answer, AnswerKind, Citation, CitationCheck, Guess, Hit, MatchedLine, NearEqual, Why, Writing, WrittenSentence,
};
pub use backoff::Backoff;
pub use calibration::{Calibration, logistic};
pub use chat::{BudgetKind, ChatError, Cost, Spent, Usage};
pub use database::DatabaseError;
pub use document::{Document, Metadata, RemovedDocument};
pub use edge::QuestionEdge;
pub use embedding::{Embedding, EmbeddingError};
pub use entity::{
    EntitiesShown, EntityList, EntityOptions, EntityShown, EntityType, ListedEntity, NameMerge, NameMerges, NamePair,
    NameVerdict, NamesAsked, RelatedEntity,
};
pub use extraction::{
    Dropped, ENTITIES_MAX, ExtractedEntity, ExtractedRelation, Extraction, Origin, RELATIONS_MAX, STRENGTH_MAX,
};
pub use id::{
    CollectionId, CommunityId, CorpusId, DocumentId, EdgeId, EntityId, ParseIdError, PassageId, QuestionId, SubjectId,
    SummaryId,
};
pub use layers::{
    ContextLevel, ContextShare, FoundBridge, FoundCommunity, FoundEntity, FoundRelation, LayersEntry, LayersFound,
    LayersMode, QuestionScope,
};
pub use ledger::{
    AnsweredBy, Arrival, EntryVertex, HopRound, Judgement, Ledger, ModelWork, Pick, Pruned, RerankWork, RoundReasoning,
    SkillCalls, Spelling, Step, StepKind, StopReason, SubAnswer, SubQuestionTrace, Verdict,
};
pub use left_out::{LeftOut, left_out};
pub use local_model::{ModelError, RuntimeError};
pub use passage::{Passage, Span};
pub use path::{
    Direction, GraphPath, PATH_LENGTH_MAX, PATHS_MAX, PathEnd, PathNode, PathOptions, PathSentence, PathStep, PathsBy,
    PathsFound,
};
pub use plan::{Plan, PlanEnd, PlanNote, Route};
pub use position::{LinePlace, Lines, PAGE_END, PositionMark, Positions, location};
pub use progress::{Cancellation, Progress, ProgressSink};
pub use question::{Keywords, PseudoQuery, QuestionKind, QuestionOrigin};
pub use secret::Secret;
pub(crate) use secret::{RedactedPieces, Redactor};
pub use topic::{
    ASPECTS_MAX, Aspect, ClusterSummary, EntityDescription, FINDINGS_MAX, FoundByModel, RATING_MAX, ReportFinding,
    SummaryLayer, Topic, TopicOptions, TopicReport, Topics, WrittenFinding, WrittenText, WrittenTopic,
};
pub(crate) use version::Counted;
pub use version::{Counts, HierarchyCounts, IndexVersion, Skip};
pub use web::{WebResult, WebWork};
