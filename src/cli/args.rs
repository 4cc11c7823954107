//! The command line: commands, flags, and their help.

use std::{ffi::OsString, path::PathBuf};

use clap::{ArgAction, ArgGroup, Args, Parser, Subcommand};

use super::add::AddArgs;
use super::cache::CacheCommand;
use super::database_args::{CloneArgs, DatabaseArgs, GraphArgs, PublishArgs, StatusArgs, UnpublishArgs};
use super::entities::EntitiesCommand;
use super::eval_args::EvalCommand;
use super::index_args::IndexArgs;
use super::layers_args::LayersArgs;
use super::remove::RemoveArgs;
use super::topics::TopicsArgs;
use crate::query::WEB_SEARCHES_MAX;

/// The group of flags that select a language model; flags that need one require this group.
pub(super) const LANGUAGE_MODEL: &str = "language-model";
/// The group of flags that name a model that may be behind a server, so that calls are counted.
const CALLED: &str = "called";
/// Headings in the help. Flags without a heading are listed first, so the most used flags have none.
pub(super) const DOCUMENTS: &str = "Documents and passages";
pub(super) const SEARCHING: &str = "Searching";
const MODELS: &str = "Embedder and reranker";
pub(super) const LANGUAGE_MODELS: &str = "Language model";
pub(super) const NEO4J: &str = "Neo4j";

/// Turns a collection of documents into a graph of passages and questions, and walks it to answer questions that no
/// single passage answers. Works offline: no service, no key, no download.
#[derive(Debug, Parser)]
#[command(name = "cairn", bin_name = "cairn", version, about, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Start with `cairn demo`, or with `cairn index FOLDER` and `cairn ask \"QUESTION\"`.\n\
    Exit status: 0 success, 2 wrong usage, 3 invalid input, 4 no index, 5 index busy, 6 index of another format or \
    embedder, 7 index damaged, 8 operating system or Neo4j error, 9 internal error, 10 server unavailable, \
    11 deadline passed, 130 interrupted.")]
pub(super) struct Cli {
    /// The command.
    #[command(subcommand)]
    pub(super) command: Command,
    /// Read settings from this file only, and trust it [default: `CAIRN_CONFIG`, or your own
    /// `~/.config/cairn/cairn.toml` plus the keys of `./cairn.toml` that need no trust].
    #[arg(long, global = true, value_name = "FILE", display_order = 899)]
    pub(super) config: Option<PathBuf>,
    /// Read index files into memory instead of mapping them, so that another program that truncates one does no harm;
    /// always done on network file systems [default: `CAIRN_NO_MMAP`, or `no_mmap` in the settings].
    #[arg(long, global = true, display_order = 898)]
    pub(super) no_mmap: bool,
    /// Show the log; repeat for more detail.
    #[arg(short, long, global = true, action = ArgAction::Count, display_order = 900)]
    pub(super) verbose: u8,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Index documents, or update an existing index.
    Index(IndexArgs),
    /// Add a text from standard input to an index, under a title or an address; later runs keep it.
    Add(AddArgs),
    /// Remove documents from an index, also from later runs; `--undo` allows them again.
    Remove(RemoveArgs),
    /// Find passages.
    Search(SearchArgs),
    /// Answer a question with cited sentences.
    Ask(Box<AskArgs>),
    /// Show the shortest paths between two passages, entities or documents.
    Path(PathArgs),
    /// Show the topics of an index, the largest first.
    Topics(TopicsArgs),
    /// List and show the entities of an index and why names were merged; merge and split names.
    #[command(subcommand)]
    Entities(EntitiesCommand),
    /// Show what an index contains and what was left out, or with `--neo4j` what is published there.
    Status(StatusArgs),
    /// Publish an index to Neo4j, so that the graph there matches the index.
    Publish(PublishArgs),
    /// Delete everything that Cairn wrote to Neo4j, and nothing else. Asks first.
    Unpublish(UnpublishArgs),
    /// Create an index from a graph in Neo4j.
    Clone(CloneArgs),
    /// Check an index, or with `--neo4j` a published graph, for damage; `--repair` fixes it.
    Check(CheckArgs),
    /// Export an index as sorted JSON lines, equal for equal indexes, or as files for a bulk import.
    Export(ExportArgs),
    /// Write one HTML page about an index: its content, open questions, answers with their paths, and the graph.
    Report(ReportArgs),
    /// Measure on questions with known supporting documents and answers.
    #[command(subcommand)]
    Eval(EvalCommand),
    /// Show, export, import or delete the replies of language models that an index keeps.
    #[command(subcommand)]
    Cache(CacheCommand),
    /// Show what works on this machine, what does not, and how to fix it.
    Doctor(DoctorArgs),
    /// Index a small collection about an invented island and ask it three questions.
    Demo,
    /// Read documents for another process, which sends instructions on standard input.
    #[command(hide = true)]
    Worker(WorkerArgs),
}

/// `cairn worker`, which `cairn index` starts to read documents.
#[derive(Debug, Args)]
pub(super) struct WorkerArgs {
    /// Set limits, then replace this process with the given program.
    #[arg(long, requires = "command")]
    pub(super) converter: bool,
    /// The program and its arguments.
    #[arg(last = true, requires = "converter")]
    pub(super) command: Vec<OsString>,
}

/// The index and the output format.
#[derive(Debug, Clone, Args)]
pub(super) struct PlaceArgs {
    /// Folder of the index [default: `CAIRN_INDEX`, or `.cairn`].
    #[arg(long, value_name = "DIR")]
    pub(super) index: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// Whether calls to servers are recorded or replayed.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = LANGUAGE_MODELS)]
pub(super) struct RecordingArgs {
    /// Record calls to the model and to an embedder and reranker behind a server, and web searches, in a new file for
    /// `--replay`.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub(super) record: Option<PathBuf>,
    /// Replay calls from a recording instead of calling a server.
    #[arg(long, value_name = "FILE")]
    pub(super) replay: Option<PathBuf>,
}

/// The embedder of a command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = MODELS)]
pub(super) struct ModelArgs {
    /// Embedder: `builtin`, `none`, `onnx:DIR` for a model in a folder, or `SERVER:MODEL` with openai, ollama, vllm,
    /// llama.cpp, litellm, azure, gemini, openrouter, or server, the configured one [default: that of the index, or
    /// `CAIRN_EMBEDDER`, or `builtin`].
    #[arg(long, value_name = "NAME")]
    pub(super) embedder: Option<String>,
    /// Library of ONNX Runtime, 1.24 or later [default: `CAIRN_ONNX_RUNTIME`, or beside a model that you name, or the
    /// usual library folders].
    #[arg(long, value_name = "FILE")]
    pub(super) onnx_runtime: Option<PathBuf>,
}

/// The embedder and the reranker of a search.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = MODELS)]
#[command(group = ArgGroup::new(CALLED).args(["model", "reranker"]).multiple(true))]
pub(super) struct SearchModelArgs {
    /// The embedder and the reranker.
    #[command(flatten)]
    pub(super) models: ModelArgs,
    /// Rerank the passages found: `onnx:DIR` with a cross-encoder in a folder, `SERVER:MODEL` with one behind a server
    /// that has `/rerank`, `model` with one call to the language model, `rule` by shared words.
    #[arg(long, value_name = "NAME", requires_if("model", LANGUAGE_MODEL))]
    pub(super) reranker: Option<String>,
    /// Number of passages to rerank; never fewer than are returned [default: 20].
    #[arg(long, value_name = "N", requires = "reranker")]
    pub(super) rerank: Option<usize>,
}

/// What a language model does in a search.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = LANGUAGE_MODELS)]
pub(super) struct ReasonArgs {
    /// Ask the model, in one call, which of the 20 best passages are needed; these come first.
    #[arg(long, requires = LANGUAGE_MODEL)]
    pub(super) pick: bool,
    /// Split the question with the model, in one call, and search for each part too. Parts that other parts need are
    /// answered by `model`, one call each, or by `rule` [default without a value: model].
    #[arg(long, value_name = "READER", num_args = 0..=1, require_equals = true, default_missing_value = "model",
        requires = LANGUAGE_MODEL)]
    pub(super) decompose: Option<String>,
    /// How a traversal judges its steps: by `similarity`, or by the model with `judge-edges` (`hop`, `trail`), `choose`
    /// or `judge-nodes` (`hop` only).
    #[arg(long, value_name = "HOW", default_value = "similarity",
        requires_ifs = ["judge-edges", "judge-nodes", "choose"].map(|how| (how, LANGUAGE_MODEL)))]
    pub(super) reason: String,
    /// Ask the model, in one call, which entities the question names.
    #[arg(long, requires = LANGUAGE_MODEL)]
    pub(super) entities: bool,
}

/// How to search.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = SEARCHING)]
pub(super) struct FindArgs {
    /// lexical, dense, hybrid, hop, trail, rank, layers, level, dual, noise, or auto. `level`, `dual` and `noise` call
    /// the language model of `--model` several times. `auto` is `trail`, or `layers` for a question about the whole,
    /// with help of the language model if `--model` and `--max-calls` are given.
    #[arg(long, value_name = "S", default_value = "auto")]
    pub(super) strategy: String,
    /// Number of passages to return.
    #[arg(long, value_name = "K", default_value_t = 10)]
    pub(super) top_k: usize,
    /// Rounds of a traversal [default: depends on the strategy].
    #[arg(long, value_name = "N")]
    pub(super) n_hop: Option<u32>,
    /// Search only documents whose metadata has this value; may be repeated. Also `KEY!=VALUE`, `<`, `<=`, `>`, `>=`;
    /// `*` and `?` in a value stand for any characters and for one.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) filter: Vec<String>,
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
    /// Convert scores of `--reranker` to probabilities that a passage is needed, with a file that `cairn eval
    /// calibrate` wrote for this reranker. Not with `--decompose`, nor if a language model leads the search [default:
    /// scores keep the reranker's own scale].
    #[arg(long, value_name = "FILE", requires = "reranker")]
    pub(super) calibration: Option<PathBuf>,
    /// Return only passages with at least this probability, 0 to 1; the best is always returned [default: all].
    #[arg(long, value_name = "P", requires = "calibration")]
    pub(super) relevance_min: Option<f32>,
    /// With `level`, search the web too, through a server with the JSON API of `SearXNG` at this address, or `default`,
    /// the configured one. The question and its parts are sent there [default: no web search].
    #[arg(long, value_name = "URL")]
    pub(super) web_search: Option<String>,
    /// Maximum number of web searches per question, including those that fail; `--max-calls` does not count them. At
    /// most 8, one per sub-question.
    #[arg(long, value_name = "N", requires = "web_search", default_value_t = WEB_SEARCHES_MAX)]
    pub(super) web_searches: u32,
    /// Time limit for an answer, including opening the index [default: `CAIRN_DEADLINE`, or no limit].
    #[arg(long, value_name = "SECONDS")]
    pub(super) deadline: Option<String>,
    #[command(flatten)]
    pub(super) layers: LayersArgs,
    /// What the language model does.
    #[command(flatten)]
    pub(super) reason: ReasonArgs,
}

/// `cairn doctor`.
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// The index and the output format.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Ask the server of `--model` what it can do, try each skill, and remember the results; makes about 25 small
    /// calls.
    #[arg(long, requires = "model")]
    pub(super) probe: bool,
    /// The language model, as in `cairn ask --model`.
    #[arg(long, value_name = "NAME", requires = "probe")]
    pub(super) model: Option<String>,
    /// The embedder and the reranker.
    #[command(flatten)]
    pub(super) models: ModelArgs,
}

/// `cairn search`.
#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// What to search for.
    pub(super) query: String,
    /// The index and the output format.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Show where the search entered the graph, which edges it took, and what it dropped.
    #[arg(long)]
    pub(super) explain: bool,
    /// How to search.
    #[command(flatten)]
    pub(super) find: FindArgs,
    /// The embedder and the reranker.
    #[command(flatten)]
    pub(super) models: SearchModelArgs,
    /// The language model.
    #[command(flatten)]
    pub(super) call: ModelCallArgs,
    /// Search in Neo4j instead of an index on disk.
    #[command(flatten)]
    pub(super) graph: GraphArgs,
}

/// The language model to ask, and its budget.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = LANGUAGE_MODELS)]
#[command(group = ArgGroup::new(LANGUAGE_MODEL).args(["model"]).multiple(true))]
pub(super) struct ModelCallArgs {
    /// The language model to ask: `SERVER:MODEL` with openai, ollama, vllm, llama.cpp, litellm, azure, anthropic,
    /// gemini or openrouter; a model of the configured server; or `default`, the configured model [default: no model is
    /// asked].
    #[arg(long, value_name = "NAME", display_order = 0)]
    pub(super) model: Option<String>,
    /// Maximum number of calls per question, to the model and to a reranker behind a server. `auto` uses one or two
    /// calls to pick passages, and with three or more also splits the question; `ask` reserves one for the answer.
    /// Without this flag, `auto` calls the model only for the answer and for other flags.
    #[arg(long, value_name = "N", requires = CALLED)]
    pub(super) max_calls: Option<u64>,
    /// Maximum number of tokens, read and written, for all questions together; a call that might exceed it is not made.
    #[arg(long, value_name = "N", requires = CALLED)]
    pub(super) max_tokens: Option<u64>,
    /// Whether calls are recorded or replayed.
    #[command(flatten)]
    pub(super) recording: RecordingArgs,
}

impl ModelCallArgs {
    /// Returns how many calls a question may take. 0 gives none: the command's budget then prevents calls, and kept
    /// replies are still read.
    pub(super) fn calls_max(&self) -> Option<u32> {
        self.max_calls.filter(|calls| *calls > 0).map(|calls| u32::try_from(calls).unwrap_or(u32::MAX))
    }
}

/// `cairn ask`.
#[derive(Debug, Args)]
pub(super) struct AskArgs {
    /// The question.
    pub(super) question: String,
    /// The index and the output format.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Show where the search entered the graph, which edges it took, and what it dropped.
    #[arg(long)]
    pub(super) explain: bool,
    /// How to search.
    #[command(flatten)]
    pub(super) find: FindArgs,
    /// The embedder and the reranker.
    #[command(flatten)]
    pub(super) models: SearchModelArgs,
    /// The language model.
    #[command(flatten)]
    pub(super) call: ModelCallArgs,
    /// Ask the model, in one more call, whether citations support each sentence [default: a rule compares words].
    #[arg(long, requires = "model", conflicts_with = "stream", help_heading = LANGUAGE_MODELS)]
    pub(super) check_citations: bool,
    /// Maximum number of tokens of passages, rows and web results in one call to the model. Rows of `layers` beyond
    /// that are read in groups first, one call each, within `--max-calls`; web results are left out [default: no limit,
    /// unless the server refuses the call as too long].
    #[arg(long, value_name = "N", requires = "model", help_heading = LANGUAGE_MODELS)]
    pub(super) prompt_tokens: Option<usize>,
    /// Whether sentences are printed as they arrive.
    #[command(flatten)]
    pub(super) stream: StreamArgs,
    /// Answer from Neo4j instead of an index on disk.
    #[command(flatten)]
    pub(super) graph: GraphArgs,
    /// Print the Cypher that shows the path of the answer in Neo4j Browser, and a link that opens it there.
    #[arg(long, conflicts_with = "json", help_heading = NEO4J)]
    pub(super) cypher: bool,
    /// Address of Neo4j Browser, for the link [default: `CAIRN_NEO4J_BROWSER`, or port 7474 of the server].
    #[arg(long, value_name = "URL", requires = "cypher", help_heading = NEO4J)]
    pub(super) browser: Option<String>,
}

/// Whether the sentences of a language model are printed as they arrive.
#[derive(Debug, Args)]
#[command(next_help_heading = LANGUAGE_MODELS)]
pub(super) struct StreamArgs {
    /// Print the sentences of a language model as they arrive [default: on a terminal].
    #[arg(long, requires = "model", conflicts_with = "json")]
    stream: bool,
    /// Print all sentences at the end, even on a terminal.
    #[arg(long, requires = "model", conflicts_with = "stream", help_heading = LANGUAGE_MODELS)]
    no_stream: bool,
}

impl StreamArgs {
    /// Returns whether they are, given the default.
    pub(super) const fn or(&self, usual: bool) -> bool {
        self.stream || (usual && !self.no_stream)
    }
}

/// `cairn path`.
#[derive(Debug, Args)]
pub(super) struct PathArgs {
    /// Start of the paths: the id of a passage, else the name of an entity, else the title or id of a document.
    /// `passage:ID`, `entity:NAME` and `document:NAME` say which one you mean.
    #[arg(value_name = "A")]
    pub(super) from: String,
    /// End of the paths, given in the same form.
    #[arg(value_name = "B")]
    pub(super) to: String,
    /// The index and the output format.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Number of paths to show, from 1 to 100.
    #[arg(long, value_name = "K", default_value_t = 3)]
    pub(super) paths: usize,
    /// Maximum number of steps in a path, from 1 to 12.
    #[arg(long, value_name = "N", default_value_t = 6)]
    pub(super) length_max: usize,
    /// Edges to follow: questions, names, both, relations (between entities), or all.
    #[arg(long, value_name = "E", default_value = "both")]
    pub(super) by: String,
    /// Skip entities that more than this many documents mention [default: no limit].
    #[arg(long, value_name = "N")]
    pub(super) documents_max: Option<u32>,
    /// Look in Neo4j instead of an index on disk.
    #[command(flatten)]
    pub(super) graph: GraphArgs,
}

/// `cairn check`.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The index, and how to print.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Rebuild damaged parts from the records and the documents; with `--neo4j`, recreate missing constraints and
    /// indexes, and republish elements that differ from the index.
    #[arg(long)]
    pub(super) repair: bool,
    /// The graph in Neo4j to check instead.
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
    /// The models of the index, for `--repair`.
    #[command(flatten)]
    pub(super) models: ModelArgs,
}

/// `cairn export`.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Folder of the index [default: `CAIRN_INDEX`, or `.cairn`].
    #[arg(long, value_name = "DIR", conflicts_with = "neo4j")]
    pub(super) index: Option<PathBuf>,
    /// Write the canonical form: one JSON object per line, sorted.
    #[arg(long, required_unless_present = "format", conflicts_with = "format")]
    pub(super) canonical: bool,
    /// Write files for `neo4j-admin database import` to the folder OUT.
    #[arg(long, value_name = "FORMAT", value_parser = ["neo4j-import"], requires = "out", conflicts_with = "neo4j")]
    pub(super) format: Option<String>,
    /// Folder for the files.
    #[arg(value_name = "OUT", requires = "format", conflicts_with = "canonical")]
    pub(super) out: Option<PathBuf>,
    /// The graph in Neo4j to export instead.
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
}

/// `cairn report`.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The index and the output format.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// File to write.
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    pub(super) out: PathBuf,
    /// A question to answer on the page, with the paths to the passages found; may be repeated.
    #[arg(long, value_name = "TEXT")]
    pub(super) question: Vec<String>,
    /// Draw the graph around the results of this search [default: the first question, or the largest hub].
    #[arg(long, value_name = "TEXT", conflicts_with = "document")]
    pub(super) about: Option<String>,
    /// Draw the graph around this document, given by id or title.
    #[arg(long, value_name = "NAME")]
    pub(super) document: Option<String>,
    /// The embedder and the reranker.
    #[command(flatten)]
    pub(super) models: ModelArgs,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_printed_as_they_arrive_on_a_terminal_by_default() {
        let streams = |flags: &[&str], usual: bool| {
            let typed = [&["cairn", "ask", "Who?", "--model", "m"], flags].concat();
            let Command::Ask(args) = Cli::try_parse_from(typed).unwrap().command else { panic!("no question") };
            args.stream.or(usual)
        };
        for (flags, expect) in [(&[][..], [false, true]), (&["--stream"], [true; 2]), (&["--no-stream"], [false; 2])] {
            assert_eq!([false, true].map(|usual| streams(flags, usual)), expect, "{flags:?}");
        }
        for refused in [&["--model", "m", "--stream", "--no-stream"][..], &["--no-stream"]] {
            assert!(Cli::try_parse_from([&["cairn", "ask", "Who?"], refused].concat()).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn what_needs_a_language_model_is_refused_without_one() {
        let ask = ["cairn", "ask", "Who?"];
        let eval = ["cairn", "eval", "retrieval", "--questions", "q"];
        let is_taken = |words: &[&[&str]]| Cli::try_parse_from(words.concat()).is_ok();
        for flags in [
            &["--pick"][..],
            &["--decompose"],
            &["--decompose=rule"],
            &["--entities"],
            &["--reason", "choose"],
            &["--reason", "judge-edges"],
            &["--reranker", "model"],
        ] {
            assert!(!is_taken(&[&ask, flags]) && !is_taken(&[&eval, flags]), "{flags:?}");
            assert!(is_taken(&[&ask, flags, &["--model", "m"]]), "{flags:?}");
            assert!(is_taken(&[&eval, flags, &["--simulate", "0.9"]]), "{flags:?}");
            assert!(is_taken(&[&eval, flags, &["--recorded", "r"]]), "{flags:?}");
        }
        for flags in [&["--reason", "similarity"][..], &["--reranker", "onnx:DIR"]] {
            assert!(is_taken(&[&ask, flags]), "{flags:?}");
        }
    }

    /// A heading of arguments that a command shares with others must not go on to its own.
    #[test]
    fn flags_of_databases_and_embedders_are_below_their_own_headings_and_no_others() {
        fn check(command: &clap::Command) {
            for argument in command.get_arguments() {
                let flag = argument.get_long().unwrap_or_default();
                let due = match flag {
                    "neo4j" | "database" | "user" | "password-file" | "traversal" | "memory" | "cache" | "cypher"
                    | "browser" => Some(NEO4J),
                    "embedder" | "onnx-runtime" | "reranker" | "rerank" => Some(MODELS),
                    _ => None,
                };
                let heading = argument.get_help_heading().filter(|it| [NEO4J, MODELS].contains(it));
                assert_eq!(heading, due, "`{}` of `{}`", argument.get_id(), command.get_name());
            }
            for subcommand in command.get_subcommands() {
                check(subcommand);
            }
        }
        check(&<Cli as clap::CommandFactory>::command());
    }

    #[test]
    fn help_says_first_what_is_used_most() {
        let help = |command: &str| {
            let mut cli = <Cli as clap::CommandFactory>::command();
            cli.build();
            cli.find_subcommand_mut(command).unwrap().render_long_help().to_string()
        };
        let headings = |help: &str| {
            let lines = help.lines().filter(|line| line.ends_with(':') && !line.starts_with(' '));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let searching = ["Arguments:", "Options:", "Searching:", "Language model:", "Embedder and reranker:", "Neo4j:"];
        let [arguments, options, _, language_model, embedder, neo4j] = searching;
        let indexing = [arguments, options, "Documents and passages:", embedder, language_model, neo4j];
        for (command, expect) in [("ask", &searching[..]), ("search", &searching), ("index", &indexing)] {
            assert_eq!(headings(&help(command)), expect, "{command}");
        }
        let ask = help("ask");
        let (first, rest) = ask.split_once("Searching:").unwrap();
        let searching = rest.split_once("Language model:").unwrap().0;
        assert!(first.contains("--explain"));
        assert!(["--strategy", "--weights", "--trail-ranker", "--deadline"].iter().all(|it| searching.contains(it)));
    }
}
