//! One HTML file about an index, which opens without a network: its contents, how well it is connected, open questions,
//! what was left out, answers to example questions with their paths, and a graph to explore.
//!
//! The file depends only on the version, its records and the questions: equal input gives an equal file. Every list in
//! it has a limit and says how many entries are beyond it.

mod answers;
mod around;
mod contents;
mod html;
mod names;
mod page;
mod summary;
mod topics;

use std::sync::Arc;

pub use summary::{AskedSummary, GraphSummary, LeftOut, ReportSummary, Share, Shown};

use crate::error::{Error, Result};
use crate::query::{AskOptions, QueryEngine, SearchOptions};
use crate::skill::Performers;
use crate::store::GraphReader;
use crate::workspace::Workspace;

/// Example questions of a report at most.
pub const QUESTIONS_MAX: usize = 20;

/// The middle of the graph of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// The results of a search.
    Query(String),
    /// A document, by the id that its source gives it, by its title, or by its id in the index.
    Document(String),
}

/// Options of a report.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportOptions {
    /// Example questions, [`QUESTIONS_MAX`] at most.
    pub questions: Vec<String>,
    /// The middle of the graph; by default, the first question, or else the largest hub.
    pub about: Option<About>,
    /// How to search.
    pub search: SearchOptions,
}

/// A report.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The file.
    pub page: String,
    /// Its summary.
    pub summary: ReportSummary,
}

/// Part of a list, and how long it is in all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Listed<T> {
    items: Vec<T>,
    total: u64,
}

impl<T> Listed<T> {
    /// Keeps the first `count` of all.
    fn first(mut all: Vec<T>, count: usize) -> Self {
        let total = all.len() as u64;
        all.truncate(count);
        Self { items: all, total }
    }

    fn shown(&self) -> Shown {
        Shown { shown: self.items.len() as u64, total: self.total }
    }
}

/// Makes a report on the last finished version of an index. `performers` is awaited where something is to be asked, so
/// that an index whose model is not at hand can be reported on.
///
/// # Errors
///
/// [`Error::NoIndex`] if no run has finished yet, [`Error::Option`] for too many questions or a document that is not
/// there, and whatever asking fails with.
///
/// # Cancel safety
///
/// Dropping the future loses the report and nothing else.
pub async fn report(
    workspace: &Workspace,
    performers: impl Future<Output = Result<Performers>>,
    options: &ReportOptions,
) -> Result<Report> {
    if options.questions.len() > QUESTIONS_MAX {
        let reason = format!("a report has {QUESTIONS_MAX} at most");
        return Err(Error::Option {
            option: "number of questions",
            value: options.questions.len().to_string(),
            reason,
        });
    }
    let snapshot = Arc::new(workspace.snapshot()?);
    let status = workspace.status()?;
    let about = match &options.about {
        Some(About::Document(name)) => Err(around::document(snapshot.as_ref(), name)?),
        Some(About::Query(query)) => Ok(Some(query)),
        None => Ok(options.questions.first()),
    };
    let is_asked = !options.questions.is_empty() || matches!(about, Ok(Some(_)));
    let engine = if is_asked {
        let reader = Arc::clone(&snapshot) as Arc<dyn GraphReader>;
        Some(QueryEngine::over(reader, performers.await?)?)
    } else {
        None
    };
    let contents = contents::gather(snapshot.as_ref(), &status)?;
    let (mut answers, mut around) = (Vec::new(), None);
    if let Some(engine) = &engine {
        let asking = AskOptions { search: options.search.clone(), ..AskOptions::default() };
        answers = answers::ask(engine, snapshot.as_ref(), &options.questions, &asking).await?;
        if let Ok(Some(query)) = about {
            around = Some(around::of_query(engine, snapshot.as_ref(), query, &options.search).await?);
        }
    }
    let around = match (around, about) {
        (Some(around), _) => Some(around),
        (None, Err(document)) => Some(around::of_document(snapshot.as_ref(), document)?),
        (None, Ok(_)) => around::of_largest_hub(snapshot.as_ref(), &contents.hubs)?,
    };
    let topics = topics::gather(snapshot.as_ref())?;
    let page = page::page(&contents, &topics, &answers, around.as_ref())?;
    let summary = summary::summary(&contents, &topics, &answers, around.as_ref(), &page);
    Ok(Report { page, summary })
}
