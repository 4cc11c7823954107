//! What may be typed: commands, flags, their help.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, ArgGroup, Args, Parser, Subcommand};

use super::cache::CacheCommand;
use super::database_args::{CloneArgs, DatabaseArgs, GraphArgs, PublishArgs, StatusArgs, UnpublishArgs};
use super::eval_args::EvalCommand;

/// The group of flags that say who answers as a language model; what needs one requires it.
pub(super) const LANGUAGE_MODEL: &str = "language-model";
/// Headings of help, under which flags stand that are for one purpose. What is used most stands above them.
const DOCUMENTS: &str = "Documents and passages";
pub(super) const SEARCHING: &str = "Searching";
const MODELS: &str = "Embedder and reranker";
const LANGUAGE_MODELS: &str = "Language model";
pub(super) const NEO4J: &str = "Neo4j";

/// Turns a document collection into a graph of passages and questions, and walks it to answer questions that no single
/// passage answers. Works offline: no service, no key, no download.
#[derive(Debug, Parser)]
#[command(name = "cairn", bin_name = "cairn", version, about, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Start with `cairn demo`, or with `cairn index FOLDER` and `cairn ask \"QUESTION\"`.\n\
    Exit status: 0 done, 2 wrong usage, 3 wrong input, 4 no index there, 5 index busy, 6 index of another format or \
    embedder, 7 index damaged, 8 refused by the system, 9 fault of this program, 10 server not reached, \
    11 deadline passed, 130 interrupted.")]
pub(super) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(super) command: Command,
    /// File with settings, which is trusted, and the only one that is read [default: `CAIRN_CONFIG`, or your own,
    /// `~/.config/cairn/cairn.toml`, and of `cairn.toml` in this folder what needs no trust].
    #[arg(long, global = true, value_name = "FILE", display_order = 899)]
    pub(super) config: Option<PathBuf>,
    /// Read the files of an index into memory instead of mapping them, as is done on file systems of other machines:
    /// whoever cuts one of them meanwhile does no harm [default: `CAIRN_NO_MMAP`, or `no_mmap` of the settings].
    #[arg(long, global = true, display_order = 898)]
    pub(super) no_mmap: bool,
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
    Ask(Box<AskArgs>),
    /// Show the shortest paths between two passages, entities or documents.
    Path(PathArgs),
    /// Say what an index holds and whether anything is missing, or with `--neo4j` what is published there.
    Status(StatusArgs),
    /// Publish an index to Neo4j: the graph there becomes that of the index.
    Publish(PublishArgs),
    /// Take an index out of Neo4j again: all that Cairn wrote there is deleted, and nothing else. Asks first.
    Unpublish(UnpublishArgs),
    /// Make an index of what Neo4j holds, to go on from there.
    Clone(CloneArgs),
    /// Check that an index is what was written, or with `--neo4j` what was published, and with `--repair` make it so.
    Check(CheckArgs),
    /// Write an index as sorted JSON lines, equal for equal indexes, or as files for a bulk import.
    Export(ExportArgs),
    /// Write one HTML file about an index: what it holds, what it leaves open, answers with their paths, and the graph.
    Report(ReportArgs),
    /// Measure on questions with known supporting documents and answers.
    #[command(subcommand)]
    Eval(EvalCommand),
    /// Look at, take along or forget the replies of language models that an index keeps.
    #[command(subcommand)]
    Cache(CacheCommand),
    /// Say what works here, what does not, and what to do about it.
    Doctor(DoctorArgs),
    /// Index a small collection about an invented island and ask it three questions.
    Demo,
    /// Read documents for another process, which says on standard input what to do.
    #[command(hide = true)]
    Worker(WorkerArgs),
}

/// What `cairn index` starts to read documents.
#[derive(Debug, Args)]
pub(super) struct WorkerArgs {
    /// Set limits, then become the program that follows.
    #[arg(long, requires = "command")]
    pub(super) converter: bool,
    /// The program and its arguments.
    #[arg(last = true, requires = "converter")]
    pub(super) command: Vec<OsString>,
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
#[expect(clippy::struct_excessive_bools, reason = "flags, each for itself")]
pub(super) struct IndexArgs {
    /// Files and folders: text, Markdown, HTML, tables, notebooks, JSON and more (docs/formats.md). Documents of these
    /// that are gone are removed from the index. `-` reads one file from standard input, and removes nothing.
    #[arg(required_unless_present = "re_embed", value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Where and how.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// What the file from standard input is called: the id of its document, and what tells its format.
    #[arg(long, value_name = "NAME", default_value = "stdin", help_heading = DOCUMENTS)]
    pub(super) stdin_name: String,
    /// Make each row of a table a document.
    #[arg(long, help_heading = DOCUMENTS)]
    pub(super) rows: bool,
    /// Field of a JSON record that identifies it.
    #[arg(long, value_name = "FIELD", default_value = "id", help_heading = DOCUMENTS)]
    pub(super) id_field: String,
    /// Field that is its title; `none` if there is none: then no document has a title, files of text neither.
    #[arg(long, value_name = "FIELD", default_value = "title", help_heading = DOCUMENTS)]
    pub(super) title_field: String,
    /// Field that is its text.
    #[arg(long, value_name = "FIELD", default_value = "text", help_heading = DOCUMENTS)]
    pub(super) text_field: String,
    /// Word pieces of a passage at most.
    #[arg(long, value_name = "N", default_value_t = 256, help_heading = DOCUMENTS)]
    pub(super) passage_tokens: usize,
    /// Make every sentence a passage.
    #[arg(long, help_heading = DOCUMENTS)]
    pub(super) sentence_passages: bool,
    /// Question edges inside its document that a question may give; 0 where only `--edges-across` is given [default:
    /// one edge, wherever it is best].
    #[arg(long, value_name = "N", help_heading = DOCUMENTS)]
    pub(super) edges_within: Option<usize>,
    /// Question edges to other documents that each question may give; 0 where only `--edges-within` is given.
    #[arg(long, value_name = "N", help_heading = DOCUMENTS)]
    pub(super) edges_across: Option<usize>,
    /// Remove documents that are gone also where that is most of what a PATH held; without it they are kept, for a
    /// folder that is not mounted looks the same.
    #[arg(long)]
    pub(super) remove: bool,
    /// Give the index another embedder; without a PATH, from the texts that it holds.
    #[arg(long)]
    pub(super) re_embed: bool,
    /// Which models.
    #[command(flatten)]
    pub(super) models: ModelArgs,
    /// Which language model.
    #[command(flatten)]
    pub(super) language_model: IndexModelArgs,
    /// Publish to Neo4j when done.
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
}

/// Which language model writes questions, and for how much.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = LANGUAGE_MODELS)]
pub(super) struct IndexModelArgs {
    /// Let a language model write the questions of passages: `SERVER:MODEL` with openai, ollama, vllm, llama.cpp,
    /// litellm, azure, anthropic, gemini or openrouter; a model of the server that is set; or `default`, the one
    /// that is set [default: rules make them].
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// What it and an embedder behind a server may spend together: `2.50USD`, `1e6tok`, `5000calls`; more than one may
    /// be given. At the limit the run ends, what is done is indexed, and the next run goes on.
    #[arg(long, value_name = "LIMIT", conflicts_with = "replay")]
    pub(super) budget: Vec<String>,
    /// How it writes them.
    #[command(flatten)]
    pub(super) questions: QuestionArgs,
    /// Say what the model, and an embedder behind a server, would be asked and what that would cost, and do nothing.
    #[arg(long, conflicts_with_all = ["record", "replay", "neo4j"])]
    pub(super) dry_run: bool,
    /// Whether calls are written down or taken from a file.
    #[command(flatten)]
    pub(super) recording: RecordingArgs,
}

/// How a language model writes questions.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = LANGUAGE_MODELS)]
pub(super) struct QuestionArgs {
    /// Keep the questions of rules beside those of the model.
    #[arg(long, requires = "model")]
    pub(super) keep_rule_questions: bool,
    /// Ask for the questions that a passage answers and for those that it raises in a call each, twice the calls.
    #[arg(long, requires = "model")]
    pub(super) separate_questions: bool,
    /// Ask anew about passages for which the model gave nothing that can be used; else replies that are kept of them
    /// are read again, for nothing.
    #[arg(long, requires = "model")]
    pub(super) retry_failed: bool,
}

/// Whether calls to servers are written down or taken from a file.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = LANGUAGE_MODELS)]
pub(super) struct RecordingArgs {
    /// Write the calls to the model, and to an embedder behind a server, into a new file, to be replayed.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub(super) record: Option<PathBuf>,
    /// Take these calls from such a file, and ask nobody.
    #[arg(long, value_name = "FILE")]
    pub(super) replay: Option<PathBuf>,
}

/// Which models a command works with.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = MODELS)]
pub(super) struct ModelArgs {
    /// What makes vectors: `builtin`, `none`, `onnx:DIR` for the model in a folder, or `SERVER:MODEL` with openai,
    /// ollama, vllm, llama.cpp, litellm, azure, gemini, openrouter, or server, the one that is set [default: that of
    /// the index, or `CAIRN_EMBEDDER`, or `builtin`].
    #[arg(long, value_name = "NAME")]
    pub(super) embedder: Option<String>,
    /// Library of ONNX Runtime, 1.24 or later [default: `CAIRN_ONNX_RUNTIME`, or beside a model that you name, or where
    /// libraries usually lie].
    #[arg(long, value_name = "FILE")]
    pub(super) onnx_runtime: Option<PathBuf>,
}

/// Which models a search works with.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = MODELS)]
pub(super) struct SearchModelArgs {
    /// Which models.
    #[command(flatten)]
    pub(super) models: ModelArgs,
    /// Judge again what was found: with the cross-encoder in a folder, `onnx:DIR`, or by one call of the language
    /// model, `model`.
    #[arg(long, value_name = "NAME", requires_if("model", LANGUAGE_MODEL))]
    pub(super) reranker: Option<String>,
    /// Passages that it judges, at least those to return [default: 20].
    #[arg(long, value_name = "N", requires = "reranker")]
    pub(super) rerank: Option<usize>,
}

/// What a language model does in a search.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = LANGUAGE_MODELS)]
pub(super) struct ReasonArgs {
    /// Let the model pick, by one call, which of the 20 best passages are needed; they come first.
    #[arg(long, requires = LANGUAGE_MODEL)]
    pub(super) pick: bool,
    /// Let the model take the question apart, by one call, and look for each part too. Parts that others need are
    /// answered by `model`, one call each, or by `rule` [default without a value: model].
    #[arg(long, value_name = "READER", num_args = 0..=1, require_equals = true, default_missing_value = "model",
        requires = LANGUAGE_MODEL)]
    pub(super) decompose: Option<String>,
    /// What a traversal judges its steps by: `similarity`, or the model by `judge-edges` (`hop`, `trail`), or by
    /// `choose` or `judge-nodes` (with `--strategy hop`).
    #[arg(long, value_name = "HOW", default_value = "similarity",
        requires_ifs = ["judge-edges", "judge-nodes", "choose"].map(|how| (how, LANGUAGE_MODEL)))]
    pub(super) reason: String,
    /// Let the model say, by one call, what the question names.
    #[arg(long, requires = LANGUAGE_MODEL)]
    pub(super) entities: bool,
}

/// How to search.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = SEARCHING)]
pub(super) struct FindArgs {
    /// lexical, dense, hybrid, hop, trail, or auto: `trail`, and what the model of `--model` can add to it within
    /// `--max-calls`.
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
    /// Where `hop` enters with these settings: by the 20 best `edges`, several of which may lead to one passage, or at
    /// 20 different `passages`.
    #[arg(long, value_name = "WHERE", default_value = "passages", requires = "paper")]
    pub(super) paper_entry: String,
    /// Weights of `trail`, as `cairn eval fit` writes them [default: `CAIRN_WEIGHTS`, or the program's own].
    #[arg(long, value_name = "FILE")]
    pub(super) weights: Option<PathBuf>,
    /// linear or boosted: what ranks the best passages of `trail` [default: boosted where the weights have trees].
    #[arg(long, value_name = "NAME")]
    pub(super) trail_ranker: Option<String>,
    /// Time for an answer, from opening the index on [default: `CAIRN_DEADLINE`, or no limit].
    #[arg(long, value_name = "SECONDS")]
    pub(super) deadline: Option<String>,
    /// What the model of `--model` does.
    #[command(flatten)]
    pub(super) reason: ReasonArgs,
}

/// `cairn doctor`.
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Where and how.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Ask the server of `--model` what it can do, try each skill, and remember what was found out, by some 15
    /// small calls.
    #[arg(long, requires = "model")]
    pub(super) probe: bool,
    /// The language model, as `cairn ask --model` takes it.
    #[arg(long, value_name = "NAME", requires = "probe")]
    pub(super) model: Option<String>,
    /// Which models.
    #[command(flatten)]
    pub(super) models: ModelArgs,
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
    /// Which models.
    #[command(flatten)]
    pub(super) models: SearchModelArgs,
    /// Which language model.
    #[command(flatten)]
    pub(super) call: ModelCallArgs,
    /// Search in Neo4j instead of an index on disk.
    #[command(flatten)]
    pub(super) graph: GraphArgs,
}

/// Which language model is asked, and what it may spend.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = LANGUAGE_MODELS)]
#[command(group = ArgGroup::new(LANGUAGE_MODEL).args(["model"]).multiple(true))]
pub(super) struct ModelCallArgs {
    /// The language model to ask: `SERVER:MODEL` with openai, ollama, vllm, llama.cpp, litellm, azure, anthropic,
    /// gemini or openrouter; a model of the server that is set; or `default`, the one that is set [default: none is
    /// asked].
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// Calls to the model at most, for each question. `auto` makes the best of them: one picks, three or more take the
    /// question apart as well; `ask` keeps one for the answer. Without it, `auto` asks the model for nothing but what
    /// other flags ask for, and the answer.
    #[arg(long, value_name = "N", requires = "model")]
    pub(super) max_calls: Option<u64>,
    /// Tokens at most, read and written, for all questions together; a call that might take more is not made.
    #[arg(long, value_name = "N", requires = "model")]
    pub(super) max_tokens: Option<u64>,
    /// Whether calls are written down or taken from a file.
    #[command(flatten)]
    pub(super) recording: RecordingArgs,
}

impl ModelCallArgs {
    /// Returns how many calls a question may take; none where no call may be made at all, which the budget of the
    /// command sees to, so that kept replies are still read.
    pub(super) fn calls_max(&self) -> Option<u32> {
        self.max_calls.filter(|calls| *calls > 0).map(|calls| u32::try_from(calls).unwrap_or(u32::MAX))
    }
}

/// `cairn ask`.
#[derive(Debug, Args)]
pub(super) struct AskArgs {
    /// The question.
    pub(super) question: String,
    /// Where and how.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Show where the search entered, which edges it took, and what it dropped.
    #[arg(long)]
    pub(super) explain: bool,
    /// How to search.
    #[command(flatten)]
    pub(super) find: FindArgs,
    /// Which models.
    #[command(flatten)]
    pub(super) models: SearchModelArgs,
    /// Which language model.
    #[command(flatten)]
    pub(super) call: ModelCallArgs,
    /// Let the model judge, by one call more, whether what its sentences cite bears them out [default: a rule looks at
    /// words].
    #[arg(long, requires = "model", conflicts_with = "stream", help_heading = LANGUAGE_MODELS)]
    pub(super) check_citations: bool,
    /// Whether sentences are printed as they come.
    #[command(flatten)]
    pub(super) stream: StreamArgs,
    /// Answer from Neo4j instead of an index on disk.
    #[command(flatten)]
    pub(super) graph: GraphArgs,
    /// Print the Cypher that shows the path of the answer in Neo4j Browser, and a link that opens it there.
    #[arg(long, conflicts_with = "json", help_heading = NEO4J)]
    pub(super) cypher: bool,
    /// Neo4j Browser, for the link [default: `CAIRN_NEO4J_BROWSER`, or port 7474 of the server].
    #[arg(long, value_name = "URL", requires = "cypher", help_heading = NEO4J)]
    pub(super) browser: Option<String>,
}

/// Whether the sentences of a language model are printed as they come.
#[derive(Debug, Args)]
#[command(next_help_heading = LANGUAGE_MODELS)]
pub(super) struct StreamArgs {
    /// Print the sentences of a language model as they come [default: on a terminal].
    #[arg(long, requires = "model", conflicts_with = "json")]
    stream: bool,
    /// Print them when all have come, also on a terminal.
    #[arg(long, requires = "model", conflicts_with = "stream", help_heading = LANGUAGE_MODELS)]
    no_stream: bool,
}

impl StreamArgs {
    /// Returns whether they are, where that is usual or not.
    pub(super) const fn or(&self, usual: bool) -> bool {
        self.stream || (usual && !self.no_stream)
    }
}

/// `cairn path`.
#[derive(Debug, Args)]
pub(super) struct PathArgs {
    /// Where the paths begin: the id of a passage, else the name of an entity, else the title or the id of a document.
    /// `passage:ID`, `entity:NAME` and `document:NAME` say which is meant.
    #[arg(value_name = "A")]
    pub(super) from: String,
    /// Where they end.
    #[arg(value_name = "B")]
    pub(super) to: String,
    /// Where and how.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Ways to show, from 1 to 100.
    #[arg(long, value_name = "K", default_value_t = 3)]
    pub(super) paths: usize,
    /// Steps of a path at most, from 1 to 12.
    #[arg(long, value_name = "N", default_value_t = 6)]
    pub(super) length_max: usize,
    /// questions, names, both: what is walked along.
    #[arg(long, value_name = "E", default_value = "both")]
    pub(super) by: String,
    /// Pass through no entity that more documents than this mention [default: no bound].
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
    /// Which graph to check instead.
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
    /// The models of the index, for `--repair`.
    #[command(flatten)]
    pub(super) models: ModelArgs,
    /// Make damaged parts anew, from the records and the documents; with `--neo4j`, make constraints and indexes again
    /// that are missing, and publish anew what differs from the index.
    #[arg(long)]
    pub(super) repair: bool,
}

/// `cairn export`.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Folder of the index [default: `.cairn`, or `CAIRN_INDEX`].
    #[arg(long, value_name = "DIR", conflicts_with = "neo4j")]
    pub(super) index: Option<PathBuf>,
    /// From where instead.
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
    /// The canonical form: one JSON object a line, sorted.
    #[arg(long, required_unless_present = "format", conflicts_with = "format")]
    pub(super) canonical: bool,
    /// Files for `neo4j-admin database import`, into the folder OUT.
    #[arg(long, value_name = "FORMAT", value_parser = ["neo4j-import"], requires = "out", conflicts_with = "neo4j")]
    pub(super) format: Option<String>,
    /// Where files are written.
    #[arg(value_name = "OUT", requires = "format")]
    pub(super) out: Option<PathBuf>,
}

/// `cairn report`.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// Where and how.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// File to write.
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    pub(super) out: PathBuf,
    /// A question to show the answer of, with the paths that lead there; may be repeated.
    #[arg(long, value_name = "TEXT")]
    pub(super) question: Vec<String>,
    /// Draw the graph around what is found for this [default: the first question, or else the largest hub].
    #[arg(long, value_name = "TEXT", conflicts_with = "document")]
    pub(super) about: Option<String>,
    /// Draw the graph around this document: its id or its title.
    #[arg(long, value_name = "NAME")]
    pub(super) document: Option<String>,
    /// Which models.
    #[command(flatten)]
    pub(super) models: ModelArgs,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_printed_as_they_come_on_a_terminal_unless_somebody_says_otherwise() {
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
