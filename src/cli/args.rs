//! What may be typed: commands, flags, their help.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand};

use super::eval_args::EvalCommand;

/// Turns a document collection into a graph of passages and questions, and walks it to answer questions that no single
/// passage answers. Works offline: no service, no key, no download.
#[derive(Debug, Parser)]
#[command(name = "cairn", version, about, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Start with `cairn demo`, or with `cairn index FOLDER` and `cairn ask \"QUESTION\"`.\n\
    Exit status: 0 done, 2 wrong usage, 3 wrong input, 4 no index there, 5 index busy, 6 index of another format or \
    embedder, 7 index damaged, 8 refused by the system, 9 fault of this program, 130 interrupted.")]
pub(super) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(super) command: Command,
    /// Show the log; twice for more.
    #[arg(short, long, global = true, action = ArgAction::Count, display_order = 900)]
    pub(super) verbose: u8,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Read documents into an index, or bring an index up to date with them.
    Index(IndexArgs),
    /// Find passages.
    Search(SearchArgs),
    /// Answer a question with cited sentences.
    Ask(AskArgs),
    /// Say what an index holds and whether anything is missing.
    Status(PlaceArgs),
    /// Write an index as sorted JSON lines, equal for equal indexes.
    Export(ExportArgs),
    /// Measure on questions with known supporting documents and answers.
    #[command(subcommand)]
    Eval(EvalCommand),
    /// Index a small collection about an invented island and ask it three questions.
    Demo,
}

/// Where the index is and how to print.
#[derive(Debug, Clone, Args)]
pub(super) struct PlaceArgs {
    /// Folder of the index [default: `.cairn`, or `CAIRN_INDEX`].
    #[arg(long, value_name = "DIR")]
    pub(super) index: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// `cairn index`.
#[derive(Debug, Args)]
pub(super) struct IndexArgs {
    /// Files and folders: .txt, .md, .json, .jsonl. Documents of these that are gone are removed from the index.
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Where and how.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Field of a JSON record that identifies it.
    #[arg(long, value_name = "FIELD", default_value = "id")]
    pub(super) id_field: String,
    /// Field that is its title; `none` if there is none: then no document has a title.
    #[arg(long, value_name = "FIELD", default_value = "title")]
    pub(super) title_field: String,
    /// Field that is its text.
    #[arg(long, value_name = "FIELD", default_value = "text")]
    pub(super) text_field: String,
    /// Word pieces of a passage at most.
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub(super) passage_tokens: usize,
    /// Make every sentence a passage.
    #[arg(long)]
    pub(super) sentence_passages: bool,
    /// Question edges inside its document that a question may give [default: one edge, wherever it is best].
    #[arg(long, value_name = "N")]
    pub(super) edges_within: Option<usize>,
    /// Question edges to other documents that each question may give.
    #[arg(long, value_name = "N")]
    pub(super) edges_across: Option<usize>,
    /// What makes vectors: `builtin`, or `none` for an index without.
    #[arg(long, value_name = "NAME", default_value = "builtin")]
    pub(super) embedder: String,
}

/// How to search.
#[derive(Debug, Clone, Args)]
pub(super) struct FindArgs {
    /// lexical, dense, hybrid, hop, trail, auto.
    #[arg(long, value_name = "S", default_value = "auto")]
    pub(super) strategy: String,
    /// Passages to return.
    #[arg(long, value_name = "K", default_value_t = 10)]
    pub(super) top_k: usize,
    /// Rounds of a traversal [default: the strategy's own].
    #[arg(long, value_name = "N")]
    pub(super) n_hop: Option<u32>,
    /// Only documents whose metadata has this value; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) filter: Vec<String>,
    /// Run the strategy with the settings of its paper.
    #[arg(long)]
    pub(super) paper: bool,
    /// Weights of `trail`, as `cairn eval fit` writes them [default: the program's own].
    #[arg(long, value_name = "FILE")]
    pub(super) weights: Option<PathBuf>,
}

/// `cairn search`.
#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// What to look for.
    pub(super) query: String,
    /// Where and how.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// How to search.
    #[command(flatten)]
    pub(super) find: FindArgs,
}

/// `cairn ask`.
#[derive(Debug, Args)]
pub(super) struct AskArgs {
    /// The question.
    pub(super) question: String,
    /// Where and how.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// How to search.
    #[command(flatten)]
    pub(super) find: FindArgs,
    /// Show where the search entered, which edges it took, and what it dropped.
    #[arg(long)]
    pub(super) explain: bool,
}

/// `cairn export`.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Folder of the index [default: `.cairn`, or `CAIRN_INDEX`].
    #[arg(long, value_name = "DIR")]
    pub(super) index: Option<PathBuf>,
    /// The canonical form: one JSON object a line, sorted.
    #[arg(long, required = true)]
    pub(super) canonical: bool,
}
