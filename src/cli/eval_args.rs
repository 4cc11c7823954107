//! The arguments of `cairn eval`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::args::{
    LANGUAGE_MODEL, LANGUAGE_MODELS, ModelArgs, ModelCallArgs, PlaceArgs, ReasonArgs, RecordingArgs, SEARCHING,
    SearchModelArgs,
};
use super::database_args::GraphArgs;
use super::layers_args::LayersArgs;
use crate::query::LayersOptions;

/// `cairn eval`.
#[derive(Debug, Subcommand)]
pub(super) enum EvalCommand {
    /// Score retrieval: recall, F1 and rank of the documents that each question needs.
    Retrieval(EvalRetrievalArgs),
    /// Score answers: exact match and F1, as the official scripts compute them.
    Answers(AskAllArgs),
    /// Compare two runs over the same questions.
    Compare(EvalCompareArgs),
    /// Fit the scores of a reranker to the probability that a passage is needed, measured on held-out questions.
    Calibrate(EvalRetrievalArgs),
    /// Compare strategies over several indexes, each with its questions.
    Matrix(EvalMatrixArgs),
    /// Score a traversal for each number of rounds and of passages returned.
    Sweep(EvalSweepArgs),
    /// Fit the weights of `trail` to questions with known supporting documents.
    Fit(EvalFitArgs),
    /// Score every method of the `HopRAG` paper and ours with a real model, within a budget if you set one.
    Live(EvalLiveArgs),
    /// Score contexts: how much of published answers is in the text that a model would read.
    Context(EvalContextArgs),
    /// Compare two files of answers with a language model, each pair in both orders, or count earlier verdicts.
    Judge(EvalJudgeArgs),
    /// Write training examples for a model: calls of the skills of `dual` or `noise`, from questions whose answer was
    /// reached.
    TrainingData(EvalTrainingArgs),
    /// Write tables and plots from results printed with `--json`.
    Report(EvalReportArgs),
}

impl EvalCommand {
    /// Returns whether JSON was asked for.
    pub(super) fn json(&self) -> bool {
        match self {
            Self::Retrieval(args) | Self::Calibrate(args) => args.asked.place.json,
            Self::Answers(args) => args.place.json,
            Self::Compare(args) => args.json,
            Self::Matrix(args) => args.json,
            Self::Sweep(args) => args.place.json,
            Self::Fit(args) => args.json,
            Self::Live(args) => args.place.json,
            Self::Context(args) => args.place.json,
            Self::Judge(args) => args.json,
            Self::TrainingData(args) => args.asked.place.json,
            Self::Report(_) => false,
        }
    }
}

/// `cairn eval retrieval`.
#[derive(Debug, Args)]
pub(super) struct EvalRetrievalArgs {
    /// The questions, and how they are asked.
    #[command(flatten)]
    pub(super) asked: AskAllArgs,
    /// Replace the model with a simulated judge that knows the labels and is right with this probability, 0 to 1.
    #[arg(long, value_name = "P", conflicts_with = "model", group = LANGUAGE_MODEL, help_heading = LANGUAGE_MODELS)]
    pub(super) simulate: Option<f64>,
    /// Seed that decides which verdicts of the simulated judge are wrong.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "simulate", help_heading = LANGUAGE_MODELS)]
    pub(super) seed: u64,
    /// Replay recorded replies of models: parts of questions (`subquestions` or `decomposition`) and `entities`,
    /// matched by `question_id` or `id`.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "model", group = LANGUAGE_MODEL,
        help_heading = LANGUAGE_MODELS)]
    pub(super) recorded: Vec<PathBuf>,
}

/// `cairn eval answers`, and the flags that `cairn eval retrieval` shares with it.
#[derive(Debug, Args)]
pub(super) struct AskAllArgs {
    /// Questions, one JSON object per line: id, question, supporting (document ids) or passages, answers.
    #[arg(long, value_name = "FILE")]
    pub(super) questions: PathBuf,
    /// The index and the output format.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// lexical, dense, hybrid, hop, trail, rank, layers, level, dual, noise, or auto. `level`, `dual` and `noise` call
    /// the language model of `--model` several times. `auto` is `trail`, or `layers` for a question about the whole,
    /// with help of the language model if `--model` and `--max-calls` are given.
    #[arg(long, value_name = "S", default_value = "auto", help_heading = SEARCHING)]
    pub(super) strategy: String,
    /// Rounds of a traversal [default: depends on the strategy].
    #[arg(long, value_name = "N", help_heading = SEARCHING)]
    pub(super) n_hop: Option<u32>,
    /// Use the settings of the paper that the strategy comes from.
    #[arg(long, help_heading = SEARCHING)]
    pub(super) paper: bool,
    /// With `--paper`, where `hop` enters: at 20 different `passages`, or by the 20 best question `edges`, several of
    /// which may lead to one passage.
    #[arg(long, value_name = "WHERE", default_value = "passages", requires = "paper", help_heading = SEARCHING)]
    pub(super) paper_entry: String,
    /// Weights of `trail`, written by `cairn eval fit` [default: `CAIRN_WEIGHTS`, or the built-in weights].
    #[arg(long, value_name = "FILE", help_heading = SEARCHING)]
    pub(super) weights: Option<PathBuf>,
    /// How `trail` ranks its best passages: linear or boosted [default: boosted if the weights have trees].
    #[arg(long, value_name = "NAME", help_heading = SEARCHING)]
    pub(super) trail_ranker: Option<String>,
    /// Time limit for each question [default: `CAIRN_DEADLINE`, or no limit].
    #[arg(long, value_name = "SECONDS", help_heading = SEARCHING)]
    pub(super) deadline: Option<String>,
    /// Write the results to this file, one line per question; for `calibrate`, the curve, to use with `--calibration`.
    #[arg(long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// What `layers` gathers.
    #[command(flatten)]
    pub(super) layers: LayersArgs,
    /// The embedder and the reranker.
    #[command(flatten)]
    pub(super) models: SearchModelArgs,
    /// What the language model, or its stand-in, does.
    #[command(flatten)]
    pub(super) reason: ReasonArgs,
    /// The language model.
    #[command(flatten)]
    pub(super) call: ModelCallArgs,
    /// Answer from Neo4j instead of an index on disk.
    #[command(flatten)]
    pub(super) graph: GraphArgs,
}

/// `cairn eval training-data`.
#[derive(Debug, Args)]
pub(super) struct EvalTrainingArgs {
    /// Write the examples to this file, one line per call.
    #[arg(long, value_name = "FILE")]
    pub(super) examples: PathBuf,
    /// The questions, and how they are asked: as in the run with `--record` whose file `--replay` reads.
    #[command(flatten)]
    pub(super) asked: AskAllArgs,
}

/// `cairn eval compare`.
#[derive(Debug, Args)]
pub(super) struct EvalCompareArgs {
    /// A run, written by `cairn eval retrieval --output`.
    #[arg(value_name = "RUN_A")]
    pub(super) first: PathBuf,
    /// Another run over the same questions.
    #[arg(value_name = "RUN_B")]
    pub(super) second: PathBuf,
    /// The questions of both runs.
    #[arg(long, value_name = "FILE")]
    pub(super) questions: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// `cairn eval sweep`.
#[derive(Debug, Args)]
pub(super) struct EvalSweepArgs {
    /// Questions, one JSON object per line: id, question, supporting (document ids).
    #[arg(long, value_name = "FILE")]
    pub(super) questions: PathBuf,
    /// The index and the output format.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// hop or trail.
    #[arg(long, value_name = "S", default_value = "trail")]
    pub(super) strategy: String,
    /// Use the settings of the paper that the strategy comes from.
    #[arg(long)]
    pub(super) paper: bool,
    /// With `--paper`, where `hop` enters: at 20 different `passages`, or by the 20 best question `edges`, several of
    /// which may lead to one passage.
    #[arg(long, value_name = "WHERE", default_value = "passages", requires = "paper")]
    pub(super) paper_entry: String,
    /// Weights of `trail`, written by `cairn eval fit` [default: `CAIRN_WEIGHTS`, or the built-in weights].
    #[arg(long, value_name = "FILE")]
    pub(super) weights: Option<PathBuf>,
    /// How `trail` ranks its best passages: linear or boosted [default: boosted if the weights have trees].
    #[arg(long, value_name = "NAME")]
    pub(super) trail_ranker: Option<String>,
    /// The embedder and the reranker.
    #[command(flatten)]
    pub(super) models: ModelArgs,
}

/// `cairn eval fit`.
#[derive(Debug, Args)]
pub(super) struct EvalFitArgs {
    /// Questions of each index, one JSON object per line: id, question, supporting (document ids) or passages.
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(super) questions: Vec<PathBuf>,
    /// Folders of the indexes, in the order of the question files.
    #[arg(long, value_name = "DIR", required = true, num_args = 1..)]
    pub(super) index: Vec<PathBuf>,
    /// Write the weights to this file.
    #[arg(long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Number of folds for cross-validation over the questions; 1 skips it.
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(super) folds: usize,
    /// Also score each index with weights fitted on the others.
    #[arg(long)]
    pub(super) leave_one_out: bool,
    /// Rounds of the walk after which edges are learned.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,3")]
    pub(super) rounds: Vec<u32>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
    /// The embedder and the reranker.
    #[command(flatten)]
    pub(super) models: ModelArgs,
}

/// `cairn eval matrix`.
#[derive(Debug, Args)]
pub(super) struct EvalMatrixArgs {
    /// Questions of each index, one JSON object per line: id, question, supporting (document ids) or passages.
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(super) questions: Vec<PathBuf>,
    /// Folders of the indexes, in the order of the question files.
    #[arg(long, value_name = "DIR", required = true, num_args = 1..)]
    pub(super) index: Vec<PathBuf>,
    /// Strategies; with `+pick`, the model picks from the results, and `noise-PART` leaves out the router, the refiner,
    /// the filter or the ending of `noise`. The others are compared with the first.
    #[arg(long, value_name = "S", value_delimiter = ',', default_value = "trail,trail+pick,level,dual,noise")]
    pub(super) strategies: Vec<String>,
    /// Replace the model with a simulated one that knows the labels and is right with this probability, 0 to 1; each is
    /// a row of its own.
    #[arg(long, value_name = "P", value_delimiter = ',')]
    pub(super) simulate: Vec<f64>,
    /// Seed that decides which verdicts of the simulated model are wrong.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
    /// Replay recorded replies of models, as in `cairn eval retrieval`.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(super) recorded: Vec<PathBuf>,
    /// Maximum number of calls to the model per question.
    #[arg(long, value_name = "N")]
    pub(super) max_calls: Option<u32>,
    /// Call this language model too, as in `cairn ask --model`: each strategy that it leads, or whose answers it
    /// writes, has a row of its own.
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// Spending limit for the model: `2.50USD`, `1e6tok`, `5000calls`; may be repeated [default: no limit].
    #[arg(long, value_name = "LIMIT", requires = "model")]
    pub(super) budget: Vec<String>,
    /// Write an HTML page with tables and plots to this file too.
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
    /// Whether calls to the model are recorded or replayed.
    #[command(flatten)]
    pub(super) recording: RecordingArgs,
    /// The embedder and the reranker.
    #[command(flatten)]
    pub(super) models: ModelArgs,
}

/// `cairn eval live`.
#[derive(Debug, Args)]
pub(super) struct EvalLiveArgs {
    /// Questions, one JSON object per line: id, question, supporting (document ids), answers.
    #[arg(long, value_name = "FILE")]
    pub(super) questions: PathBuf,
    /// The index and the output format.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// The language model, as in `cairn ask --model`.
    #[arg(long, value_name = "NAME")]
    pub(super) model: String,
    /// Spending limit for the model: `2.50USD`, `1e6tok`, `5000calls`; may be repeated [default: no limit]. When it is
    /// reached, the run ends; the same command continues it. Question vectors made by a server are not counted.
    #[arg(long, value_name = "LIMIT")]
    pub(super) budget: Vec<String>,
    /// Folder for the results of each method; an existing run is continued.
    #[arg(long, value_name = "DIR")]
    pub(super) output: PathBuf,
    /// Methods to run [default: all].
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) rows: Vec<String>,
    /// Number of questions to ask, from the first [default: all].
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// The embedder and the reranker.
    #[command(flatten)]
    pub(super) models: ModelArgs,
    /// Answer from Neo4j instead of an index on disk.
    #[command(flatten)]
    pub(super) graph: GraphArgs,
}

/// `cairn eval context`.
#[derive(Debug, Args)]
pub(super) struct EvalContextArgs {
    /// Questions, one JSON object per line: id, question.
    #[arg(long, value_name = "FILE")]
    pub(super) questions: PathBuf,
    /// Answers to them, one JSON object per line: `question_id`, `answer`, and `system` if there are several.
    #[arg(long, value_name = "FILE")]
    pub(super) answers: PathBuf,
    /// The index and the output format.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Strategies; `layers:MODE` for one mode of `layers`. The others are compared with the first.
    #[arg(
        long,
        value_name = "S",
        value_delimiter = ',',
        default_value = "hybrid,trail,layers,layers:no-bridge,layers:local,layers:global,layers:bridge"
    )]
    pub(super) strategies: Vec<String>,
    /// Tokens of a context.
    #[arg(long, value_name = "N", default_value_t = LayersOptions::default().tokens)]
    pub(super) context_tokens: usize,
    /// Write the answers given without a model to this file, one line per question and strategy, for `cairn eval
    /// judge`.
    #[arg(long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// The embedder and the reranker.
    #[command(flatten)]
    pub(super) models: ModelArgs,
}

/// `cairn eval judge`.
#[derive(Debug, Args)]
pub(super) struct EvalJudgeArgs {
    /// Answers, one JSON object per line: `question_id`, `answer`, and `system` if there are several; `cairn eval
    /// answers --output` writes them.
    #[arg(value_name = "ANSWERS_A", required_unless_present = "verdicts", requires = "second")]
    pub(super) first: Option<PathBuf>,
    /// Other answers to the same questions.
    #[arg(value_name = "ANSWERS_B")]
    pub(super) second: Option<PathBuf>,
    /// The questions of both files, one JSON object per line: id, question.
    #[arg(long, value_name = "FILE", required_unless_present = "verdicts")]
    pub(super) questions: Option<PathBuf>,
    /// The two systems to compare, if a file has answers of several.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(super) systems: Vec<String>,
    /// The language model that judges, as in `cairn ask --model`.
    #[arg(long, value_name = "NAME", required_unless_present = "verdicts")]
    pub(super) model: Option<String>,
    /// Spending limit for the model: `2.50USD`, `1e6tok`, `5000calls`; may be repeated [default: no limit].
    #[arg(long, value_name = "LIMIT")]
    pub(super) budget: Vec<String>,
    /// Number of questions to judge, from the first [default: all].
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Write each verdict to this file; an existing run is continued.
    #[arg(long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Count the verdicts in this file instead of asking a model.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["first", "second", "questions", "model", "budget", "limit", "output", "record", "replay"]
    )]
    pub(super) verdicts: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
    /// Whether calls are recorded or replayed.
    #[command(flatten)]
    pub(super) recording: RecordingArgs,
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
