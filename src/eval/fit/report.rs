//! The report of a fit, for programs and for people.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use super::{Collection, FitOptions};
use crate::domain::{CorpusId, Counts, IndexVersion};
use crate::eval::report::{Facts, Metrics};
use crate::eval::table::{counted, printable};
use crate::graph::trail::WeightSet;
use crate::query::TrailRanker;

/// Metrics that a table shows.
const SHOWN: [&str; 4] = ["recall@2", "recall@5", "recall@10", "all-gold@5"];

/// A collection that weights were fitted on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FittedCollection {
    /// What it is called.
    pub name: String,
    /// How many questions it has.
    pub questions: u64,
    /// The version of the index that was read.
    pub version: IndexVersion,
    /// The embedder of the index.
    pub embedder: String,
    /// The corpus that was read.
    pub corpus_id: CorpusId,
    /// How much the index holds.
    pub corpus: Counts,
}

/// Which questions the weights had seen that a list was made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// The weights that come with the program.
    BuiltIn,
    /// All of them, these questions too.
    InSample,
    /// Other questions of all collections.
    Folds,
    /// Other collections.
    LeaveOneOut,
}

impl Held {
    const fn shown(self) -> &'static str {
        match self {
            Self::BuiltIn => "weights of the program",
            Self::InSample => "fitted on these questions",
            Self::Folds => "fitted on other questions",
            Self::LeaveOneOut => "fitted on other collections",
        }
    }
}

/// What one collection scored.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// Which questions the weights had seen.
    pub held: Held,
    /// What ranked the best passages.
    pub ranker: TrailRanker,
    /// The collection's name.
    pub collection: String,
    /// How many questions were asked.
    pub questions: u64,
    /// The metrics over them.
    pub metrics: Metrics,
}

/// What a fit found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FitReport {
    /// The collections.
    pub collections: Vec<FittedCollection>,
    /// Parts into which the questions fell.
    pub folds: u32,
    /// The rounds after which edges were learned from.
    pub rounds: Vec<u32>,
    /// What the collections scored.
    pub measured: Vec<Measured>,
    /// The weights, fitted on everything.
    pub weights: WeightSet,
}

impl FitReport {
    pub(super) fn of(collections: &[Collection], facts: &[Facts], options: &FitOptions, weights: WeightSet) -> Self {
        let fitted = collections.iter().zip(facts).map(|(it, facts)| FittedCollection {
            name: it.name.clone(),
            questions: it.questions.len() as u64,
            version: it.engine.version(),
            embedder: it.engine.embedder().to_owned(),
            corpus_id: facts.corpus_id,
            corpus: it.engine.counts(),
        });
        Self {
            collections: fitted.collect(),
            folds: options.folds as u32,
            rounds: options.rounds.clone(),
            measured: Vec::new(),
            weights,
        }
    }
}

impl Display for FitReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for collection in &self.collections {
            writeln!(
                out,
                "{} · {} · {} · {} · embedder {}",
                printable(&collection.name),
                counted(collection.questions, "question"),
                counted(collection.corpus.documents, "document"),
                counted(collection.corpus.titled, "title"),
                printable(&collection.embedder)
            )?;
        }
        for held in [Held::BuiltIn, Held::InSample, Held::Folds, Held::LeaveOneOut] {
            let mut rows = self.measured.iter().filter(|it| it.held == held).peekable();
            if rows.peek().is_some() {
                writeln!(out, "\n{}, percent\n{}", held.shown(), SHOWN.map(|name| format!("{name:>10}")).join(" "))?;
            }
            for row in rows {
                let cells = SHOWN.map(|name| format!("{:>10.1}", row.metrics.get(name).unwrap_or_default().mean));
                let ranker = row.ranker.name();
                writeln!(out, "{}  {ranker:<7}  {}", cells.join(" "), printable(&row.collection))?;
            }
        }
        Ok(())
    }
}
