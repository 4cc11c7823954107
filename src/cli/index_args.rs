//! The arguments of `cairn index`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::args::{DOCUMENTS, LANGUAGE_MODELS, ModelArgs, PlaceArgs, RecordingArgs};
use super::database_args::DatabaseArgs;
use crate::index::Checkpoints;

/// `cairn index`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags, each for itself")]
pub(super) struct IndexArgs {
    /// Files and folders to index: text, Markdown, HTML, tables, notebooks, JSON and more (docs/formats.md). Documents
    /// that are gone from these paths are removed from the index. `-` reads one file from standard input and removes
    /// nothing.
    #[arg(required_unless_present = "re_embed", value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// The index and the output format.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Name of the file read from standard input: it becomes the document id, and its extension suggests the format.
    #[arg(long, value_name = "NAME", default_value = "stdin", help_heading = DOCUMENTS)]
    pub(super) stdin_name: String,
    /// Which files of a folder are read.
    #[command(flatten)]
    pub(super) walk: WalkArgs,
    /// Make each table row a document.
    #[arg(long, help_heading = DOCUMENTS)]
    pub(super) rows: bool,
    /// JSON field that identifies a record. A record without `id` takes its file and line, `a.jsonl:12`; without a
    /// field that you name here, it is skipped.
    #[arg(long, value_name = "FIELD", default_value = "id", help_heading = DOCUMENTS)]
    pub(super) id_field: String,
    /// JSON field with the title; with `none`, no document has a title, including text and Markdown files.
    #[arg(long, value_name = "FIELD", default_value = "title", help_heading = DOCUMENTS)]
    pub(super) title_field: String,
    /// JSON field with the text.
    #[arg(long, value_name = "FIELD", default_value = "text", help_heading = DOCUMENTS)]
    pub(super) text_field: String,
    /// Maximum number of word pieces in a passage.
    #[arg(long, value_name = "N", default_value_t = 256, help_heading = DOCUMENTS)]
    pub(super) passage_tokens: usize,
    /// Make each sentence a passage.
    #[arg(long, help_heading = DOCUMENTS)]
    pub(super) sentence_passages: bool,
    /// Question edges per question inside its document; 0 if only `--edges-across` is given [default: one edge, to the
    /// best match anywhere].
    #[arg(long, value_name = "N", help_heading = DOCUMENTS)]
    pub(super) edges_within: Option<usize>,
    /// Question edges per question to other documents; 0 if only `--edges-within` is given.
    #[arg(long, value_name = "N", help_heading = DOCUMENTS)]
    pub(super) edges_across: Option<usize>,
    /// How to find topics and layers: `default`, or `paper`, as `HiRAG` does [default: `CAIRN_HIERARCHY` or `default`].
    #[arg(long, value_name = "PRESET", help_heading = DOCUMENTS)]
    pub(super) hierarchy: Option<String>,
    /// Remove documents that are gone even if that is most of a PATH. Without it they are kept, because an unmounted
    /// folder looks the same.
    #[arg(long)]
    pub(super) remove: bool,
    /// Show which documents would be added, changed, removed and skipped, and the calls and cost of a model and an
    /// embedder behind a server; change nothing.
    #[arg(long, conflicts_with_all = ["record", "replay", "neo4j"])]
    pub(super) dry_run: bool,
    /// Keep running, and index again whenever files below a PATH change; Ctrl-C ends.
    #[arg(long, conflicts_with_all = ["re_embed", "dry_run"])]
    pub(super) watch: bool,
    /// How often a first run publishes what it has read so far, so that it can be searched: `5m`, `90s`, `never`
    /// [default: every 5 minutes, once 10,000 documents were read].
    #[arg(long, value_name = "DURATION", value_parser = checkpoints)]
    pub(super) checkpoint: Option<Checkpoints>,
    /// Switch the index to another embedder; without a PATH, from the texts in the index.
    #[arg(long)]
    pub(super) re_embed: bool,
    /// The embedder and the reranker.
    #[command(flatten)]
    pub(super) models: ModelArgs,
    /// The language model.
    #[command(flatten)]
    pub(super) language_model: IndexModelArgs,
    /// Publish to Neo4j when done.
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
}

/// Parses the interval of checkpoints: `never`, or a number of `ms`, `s`, `m` or `h`.
fn checkpoints(text: &str) -> Result<Checkpoints, String> {
    if text == "never" {
        return Ok(Checkpoints::Never);
    }
    let unit = text.trim_start_matches(|it: char| it.is_ascii_digit() || it == '.');
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        _ => return Err("it is `never`, or a number with ms, s, m or h: `5m`, `90s`".to_owned()),
    };
    let number = text.strip_suffix(unit).and_then(|number| number.parse::<f64>().ok());
    let duration = number.and_then(|number| Duration::try_from_secs_f64(number * seconds).ok());
    duration.map(Checkpoints::Every).ok_or_else(|| "it is not a duration".to_owned())
}

/// Which files of a folder are read.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = DOCUMENTS)]
pub(super) struct WalkArgs {
    /// Read only files that a glob matches, in the syntax of `.gitignore`: `*.md`, `/docs/**/*.rst`; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(super) include: Vec<String>,
    /// Skip files and folders that a glob matches; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(super) exclude: Vec<String>,
    /// Read hidden files and folders too.
    #[arg(long)]
    pub(super) hidden: bool,
    /// Read files that `.gitignore` or `.ignore` excludes too.
    #[arg(long)]
    pub(super) no_ignore: bool,
    /// Read files at most N levels below a PATH; 1 reads those directly in it [default: all].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) max_depth: Option<u32>,
}

/// The language model that writes questions, and its budget.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = LANGUAGE_MODELS)]
pub(super) struct IndexModelArgs {
    /// Write the questions of passages with a language model: `SERVER:MODEL` with openai, ollama, vllm, llama.cpp,
    /// litellm, azure, anthropic, gemini or openrouter; a model of the configured server; or `default`, the configured
    /// model [default: rules write them].
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// Spending limit for the model and an embedder behind a server together: `2.50USD`, `1e6tok`, `5000calls`; may be
    /// repeated. When it is reached, the run indexes the finished work and ends; the next run continues.
    #[arg(long, value_name = "LIMIT", conflicts_with = "replay")]
    pub(super) budget: Vec<String>,
    /// How it writes them.
    #[command(flatten)]
    pub(super) questions: QuestionArgs,
    /// Whether calls are recorded or replayed.
    #[command(flatten)]
    pub(super) recording: RecordingArgs,
}

/// How a language model writes questions.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = LANGUAGE_MODELS)]
#[expect(clippy::struct_excessive_bools, reason = "flags, each for itself")]
pub(super) struct QuestionArgs {
    /// Keep the questions written by rules beside those of the model.
    #[arg(long, requires = "model")]
    pub(super) keep_rule_questions: bool,
    /// Ask for the questions that a passage answers and those that it raises in separate calls; doubles the calls.
    #[arg(long, requires = "model")]
    pub(super) separate_questions: bool,
    /// Find entities of passages and the relations between them with the model, too: one more call per passage.
    #[arg(long, requires = "model")]
    pub(super) extract: bool,
    /// Types of these entities, as in `person,place`, or `propose`: the model proposes types from a sample of passages,
    /// once per index [default: person, organization, place, event, work, product, technology, concept].
    #[arg(long, value_name = "TYPES", value_delimiter = ',', requires = "extract")]
    pub(super) entity_types: Vec<String>,
    /// Ask for the entities of a passage and for the relations between them in separate calls; up to twice the calls.
    #[arg(long, requires = "extract")]
    pub(super) separate_relations: bool,
    /// Leave questions to rules; the model only finds entities, or writes summaries or reports.
    #[arg(long, conflicts_with_all = ["keep_rule_questions", "separate_questions"], requires = "model")]
    pub(super) rule_questions: bool,
    /// Summarize with the model what the entities of each cluster of at least three have in common, layer by layer;
    /// existing summaries are renewed only if their content changed. Summaries have the types of entities.
    #[arg(long, requires = "model")]
    pub(super) summaries: bool,
    /// Write a report with the model about each topic of at least three entities that `cairn topics` lists; existing
    /// reports are renewed only if their content changed.
    #[arg(long, requires = "model")]
    pub(super) reports: bool,
    /// Ask again about passages for which the model gave no usable reply, instead of reading the kept replies again at
    /// no cost.
    #[arg(long, requires = "model")]
    pub(super) retry_failed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_has_a_unit() {
        let every = |millis| Ok(Checkpoints::Every(Duration::from_millis(millis)));
        for (text, expect) in
            [("5m", every(300_000)), ("1.5s", every(1_500)), ("20ms", every(20)), ("1h", every(3_600_000))]
        {
            assert_eq!(checkpoints(text), expect);
        }
        assert_eq!(checkpoints("never"), Ok(Checkpoints::Never));
        for text in ["", "5", "m", "-5m", "5 m", "1.2.3s", "NaNs", "99999999999999999999999h"] {
            assert!(checkpoints(text).is_err(), "{text}");
        }
    }
}
