//! The indexer: sources to units of work, units to a version, switched at once.
//!
//! A document is a unit: its passages and questions are committed together with their marker. Whatever depends on the
//! whole corpus (names, mentions, matching, statistics) is built for each version, as of the records alone: what is
//! taken from the last version only saves work.

mod ahead;
mod asking;
mod batch;
mod checkpoint;
mod clock;
mod clone;
mod corpus;
mod estimate;
mod expected;
mod extract;
mod generate;
mod making;
mod mend;
mod options;
mod plan;
mod report;
mod run;
mod shortened;
mod sources;
mod stages;
mod unit;
mod units;
mod unread;
mod version;
mod warnings;

pub use batch::DocumentBatch;
pub use clone::clone;
pub use estimate::{AskedModel, CHANGES_NAMED_MAX, Changes, Estimate, StageEstimate, estimate};
pub use options::{
    Checkpoints, DocumentCounts, EntityTypesBy, ExtractOptions, ExtractReport, FailedReplies, HierarchyRefresh,
    IndexOptions, IndexReport, ModelQuestions, ModelReport, MostGone, OtherEmbedder, QuestionsBy, ReportsBy, Sources,
    StageReport, StoppedBy, VectorReport,
};
pub(crate) use plan::{ADDED, REMOVED};
pub use run::index;
pub use unread::{add, re_embed, refresh_hierarchy, remove, repair};
pub(crate) use warnings::{CONVERTED, UNMOUNTED};
