//! What may be typed after `cairn eval`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::args::{LANGUAGE_MODEL, ModelArgs, ModelCallArgs, PlaceArgs, ReasonArgs, SEARCHING, SearchModelArgs};
use super::database_args::GraphArgs;

/// `cairn eval`.
#[derive(Debug, Subcommand)]
pub(super) enum EvalCommand {
    /// Recall, precision and rank of the documents that questions need.
    Retrieval(EvalRetrievalArgs),
    /// Exact match and F1 of answers, as the official scripts compute them.
    Answers(AskAllArgs),
    /// Say how much better one run is than another on the same questions.
    Compare(EvalCompareArgs),
    /// Recall, F1 and queues of a traversal by the number of its rounds and of the documents kept.
    Sweep(EvalSweepArgs),
    /// Fit the weights of `trail` to questions with known supporting documents.
    Fit(EvalFitArgs),
    /// Put questions to a real model by every method of the `HopRAG` paper and by ours, within a budget if there is
    /// one.
    Live(EvalLiveArgs),
    /// Write tables and plots of results that were printed with --json.
    Report(EvalReportArgs),
}

impl EvalCommand {
    /// Returns whether JSON was asked for.
    pub(super) fn json(&self) -> bool {
        match self {
            Self::Retrieval(args) => args.asked.place.json,
            Self::Answers(args) => args.place.json,
            Self::Compare(args) => args.json,
            Self::Sweep(args) => args.place.json,
            Self::Fit(args) => args.json,
            Self::Live(args) => args.place.json,
            Self::Report(_) => false,
        }
    }
}

/// `cairn eval retrieval`.
#[derive(Debug, Args)]
pub(super) struct EvalRetrievalArgs {
    /// What is asked, and how.
    #[command(flatten)]
    pub(super) asked: AskAllArgs,
    /// Replace the model with a simulated judge that knows the labels and is right with this probability, 0 to 1.
    #[arg(long, value_name = "P", conflicts_with = "model", group = LANGUAGE_MODEL)]
    pub(super) simulate: Option<f64>,
    /// Changes which verdicts of that judge are wrong.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "simulate")]
    pub(super) seed: u64,
    /// Replay what models said earlier: parts of questions (`subquestions` or `decomposition`) and `entities`, matched
    /// by `question_id` or `id`.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "model", group = LANGUAGE_MODEL)]
    pub(super) recorded: Vec<PathBuf>,
}

/// `cairn eval answers`, and what `cairn eval retrieval` has too.
#[derive(Debug, Args)]
pub(super) struct AskAllArgs {
    /// Questions, one JSON object a line: id, question, supporting (ids of documents), answers.
    #[arg(long, value_name = "FILE")]
    pub(super) questions: PathBuf,
    /// Where and how.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// lexical, dense, hybrid, hop, trail, or auto, as `cairn ask` takes them.
    #[arg(long, value_name = "S", default_value = "auto", help_heading = SEARCHING)]
    pub(super) strategy: String,
    /// Rounds of a traversal [default: the strategy's own].
    #[arg(long, value_name = "N", help_heading = SEARCHING)]
    pub(super) n_hop: Option<u32>,
    /// Run the strategy with the settings of its paper.
    #[arg(long, help_heading = SEARCHING)]
    pub(super) paper: bool,
    /// Where `hop` enters with these settings: by the 20 best `edges`, several of which may lead to one passage, or at
    /// 20 different `passages`.
    #[arg(long, value_name = "WHERE", default_value = "passages", requires = "paper", help_heading = SEARCHING)]
    pub(super) paper_entry: String,
    /// Which models.
    #[command(flatten)]
    pub(super) models: SearchModelArgs,
    /// Weights of `trail`, as `cairn eval fit` writes them [default: `CAIRN_WEIGHTS`, or the program's own].
    #[arg(long, value_name = "FILE", help_heading = SEARCHING)]
    pub(super) weights: Option<PathBuf>,
    /// linear or boosted: what ranks the best passages of `trail` [default: boosted where the weights have trees].
    #[arg(long, value_name = "NAME", help_heading = SEARCHING)]
    pub(super) trail_ranker: Option<String>,
    /// Time for each question [default: `CAIRN_DEADLINE`, or no limit].
    #[arg(long, value_name = "SECONDS", help_heading = SEARCHING)]
    pub(super) deadline: Option<String>,
    /// Write what was found, one line a question.
    #[arg(long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// What a language model does: that of `--model`, or what stands in for it.
    #[command(flatten)]
    pub(super) reason: ReasonArgs,
    /// Which language model.
    #[command(flatten)]
    pub(super) call: ModelCallArgs,
    /// Answer from Neo4j instead of an index on disk.
    #[command(flatten)]
    pub(super) graph: GraphArgs,
}

/// `cairn eval compare`.
#[derive(Debug, Args)]
pub(super) struct EvalCompareArgs {
    /// A run, as `cairn eval retrieval --output` writes it.
    #[arg(value_name = "RUN_A")]
    pub(super) first: PathBuf,
    /// Another run over the same questions.
    #[arg(value_name = "RUN_B")]
    pub(super) second: PathBuf,
    /// The questions of both.
    #[arg(long, value_name = "FILE")]
    pub(super) questions: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// `cairn eval sweep`.
#[derive(Debug, Args)]
pub(super) struct EvalSweepArgs {
    /// Questions, one JSON object a line: id, question, supporting (ids of documents).
    #[arg(long, value_name = "FILE")]
    pub(super) questions: PathBuf,
    /// Where and how.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// hop or trail.
    #[arg(long, value_name = "S", default_value = "trail")]
    pub(super) strategy: String,
    /// Run the strategy with the settings of its paper.
    #[arg(long)]
    pub(super) paper: bool,
    /// Where `hop` enters with these settings: by the 20 best `edges`, several of which may lead to one passage, or at
    /// 20 different `passages`.
    #[arg(long, value_name = "WHERE", default_value = "passages", requires = "paper")]
    pub(super) paper_entry: String,
    /// Which models.
    #[command(flatten)]
    pub(super) models: ModelArgs,
    /// Weights of `trail`, as `cairn eval fit` writes them [default: `CAIRN_WEIGHTS`, or the program's own].
    #[arg(long, value_name = "FILE")]
    pub(super) weights: Option<PathBuf>,
    /// linear or boosted: what ranks the best passages of `trail` [default: boosted where the weights have trees].
    #[arg(long, value_name = "NAME")]
    pub(super) trail_ranker: Option<String>,
}

/// `cairn eval fit`.
#[derive(Debug, Args)]
pub(super) struct EvalFitArgs {
    /// Questions of each index, one JSON object a line: id, question, supporting (ids of documents).
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(super) questions: Vec<PathBuf>,
    /// Folders of the indexes, in the order of the questions.
    #[arg(long, value_name = "DIR", required = true, num_args = 1..)]
    pub(super) index: Vec<PathBuf>,
    /// Write the weights.
    #[arg(long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Score each part of the questions with weights fitted on the others; 1 leaves that out.
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(super) folds: usize,
    /// Score each index with weights fitted on the others.
    #[arg(long)]
    pub(super) leave_one_out: bool,
    /// Rounds of a walk after which edges are learned from.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,3")]
    pub(super) rounds: Vec<u32>,
    /// Which models.
    #[command(flatten)]
    pub(super) models: ModelArgs,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// `cairn eval live`.
#[derive(Debug, Args)]
pub(super) struct EvalLiveArgs {
    /// Questions, one JSON object a line: id, question, supporting (ids of documents), answers.
    #[arg(long, value_name = "FILE")]
    pub(super) questions: PathBuf,
    /// Where and how.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// The language model to ask, as `cairn ask --model` takes it.
    #[arg(long, value_name = "NAME")]
    pub(super) model: String,
    /// What the model may spend: `2.50USD`, `1e6tok`, `5000calls`; more than one may be given [default: no limit]. At
    /// the limit the run ends, and the same command goes on. Vectors of questions, where a server makes them, are not
    /// counted.
    #[arg(long, value_name = "LIMIT")]
    pub(super) budget: Vec<String>,
    /// Folder of the lines of every method; a run goes on with what is there.
    #[arg(long, value_name = "DIR")]
    pub(super) output: PathBuf,
    /// Methods to run [default: all].
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) rows: Vec<String>,
    /// Questions to ask, from the first on [default: all].
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Which models.
    #[command(flatten)]
    pub(super) models: ModelArgs,
    /// Answer from Neo4j instead of an index on disk.
    #[command(flatten)]
    pub(super) graph: GraphArgs,
}

/// `cairn eval report`.
#[derive(Debug, Args)]
pub(super) struct EvalReportArgs {
    /// JSON files, or folders of them.
    #[arg(required = true, value_name = "PATH")]
    pub(super) results: Vec<PathBuf>,
    /// Folder to write to.
    #[arg(long, value_name = "DIR", default_value = "docs")]
    pub(super) output: PathBuf,
}
