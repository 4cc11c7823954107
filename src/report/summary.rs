//! A report in figures.

use serde::Serialize;

use super::Listed;
use super::answers::Answered;
use super::around::{Around, Middle};
use super::contents::Contents;
use super::topics::MappedTopic;
use crate::domain::{AnswerKind, Counts, IndexVersion};

/// How much of a list is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// Items that are shown.
    pub shown: u64,
    /// Items that there are.
    pub total: u64,
}

/// How many of a kind have something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Share {
    /// The counts.
    pub what: &'static str,
    /// Those that have it.
    pub has: u64,
    /// All of the kind.
    pub of: u64,
}

/// The result of an example question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AskedSummary {
    /// The question.
    pub question: String,
    /// The source of its answer.
    pub kind: AnswerKind,
    /// Sentences that are quoted.
    pub quotes: u64,
    /// Passages that were found.
    pub hits: u64,
}

/// The size of the graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GraphSummary {
    /// The query that it is around.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The document that it is around.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// Passages within two steps.
    pub passages: Shown,
    /// Lines between those that are shown.
    pub lines: Shown,
}

/// Sources left out of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Reasons.
    pub reasons: Shown,
    /// Sources.
    pub sources: Shown,
    /// Documents whose unit failed.
    pub units_failed: u64,
    /// Documents that are in no version yet.
    pub units_pending: u64,
}

/// The figures of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportSummary {
    /// The version that was read.
    pub version: IndexVersion,
    /// Bytes of the file.
    pub bytes: u64,
    /// How much the version holds.
    pub counts: Counts,
    /// How well it is joined.
    pub coverage: Vec<Share>,
    /// Passages that edges arrive at.
    pub hubs: Shown,
    /// Names that several documents mention.
    pub names: Shown,
    /// Topics that are part of no other.
    pub topics: Shown,
    /// Questions that lead nowhere.
    pub unanswered: Shown,
    /// Sources left out.
    pub left_out: LeftOut,
    /// Example questions.
    pub questions: Vec<AskedSummary>,
    /// The graph; none if the index has no document.
    pub graph: Option<GraphSummary>,
}

/// Returns the figures of a report.
pub(super) fn summary(
    contents: &Contents,
    topics: &Listed<MappedTopic>,
    answers: &[Answered],
    around: Option<&Around>,
    page: &str,
) -> ReportSummary {
    let asked = |it: &Answered| AskedSummary {
        question: it.question.clone(),
        kind: it.kind,
        quotes: it.quotes.len() as u64,
        hits: it.hits.len() as u64,
    };
    let graph = |it: &Around| {
        let (query, document) = match &it.middle {
            Middle::Query(query) => (Some(query.clone()), None),
            Middle::Document(document) => (None, Some(document.clone())),
        };
        GraphSummary { query, document, passages: it.nodes.shown(), lines: it.lines.shown() }
    };
    ReportSummary {
        version: contents.version,
        bytes: page.len() as u64,
        counts: contents.counts,
        coverage: contents.coverage.clone(),
        hubs: contents.hubs.shown(),
        names: contents.names.shown(),
        topics: topics.shown(),
        unanswered: contents.unanswered.shown(),
        left_out: LeftOut {
            reasons: contents.left_out.shown(),
            sources: contents.sources_shown(),
            units_failed: contents.units_failed,
            units_pending: contents.units_pending,
        },
        questions: answers.iter().map(asked).collect(),
        graph: around.map(graph),
    }
}
