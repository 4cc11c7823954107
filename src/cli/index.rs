//! `cairn index`.

use std::io::Read as _;
use std::path::Path;

use super::args::IndexArgs;
use super::publish::{self, publish_from};
use super::{Done, Surroundings, index_model, progress};
use crate::chunk::PASSAGE_TOKENS_MIN;
use crate::chunk::{ChunkOptions, PassageUnit};
use crate::config::{self, ModelRole, Settings};
use crate::error::{Error, Result};
use crate::graph::matching::EDGES_MAX;
use crate::graph::matching::{EdgeQuota, MatchOptions};
use crate::index::{
    FailedReplies, IndexOptions, IndexReport, ModelQuestions, MostGone, OtherEmbedder, Sources, index, re_embed,
};
use crate::ingest::{IngestOptions, Rows};
use crate::neo4j::{OtherVectors, PublishOptions};
use crate::skill::QuestionCalls;
use crate::text::counted;

/// The path that stands for standard input.
const STDIN: &str = "-";
/// Skipped sources that are named on a terminal; `cairn status` names all.
const SKIPS_SHOWN_MAX: usize = 10;

/// Runs `cairn index`.
pub(super) async fn run(args: IndexArgs, surroundings: &Surroundings) -> Done {
    let path = surroundings.index(args.place.index.clone());
    let (sink, bar) = progress::sink(surroundings.screen);
    let cancellation = surroundings.cancellation.clone();
    let options = IndexOptions {
        progress: Some(sink),
        cancellation,
        calls_at_once: surroundings.setup.limits(ModelRole::Index).concurrency,
        ..options(&args, &surroundings.setup.settings)?
    };
    let sources = sources(&args, &options)?;
    let names_none = matches!(&sources, Sources::Paths(paths) if paths.is_empty());
    if !(names_none && options.other_embedder == OtherEmbedder::ReEmbed) {
        sources.check()?;
    }
    if args.language_model.dry_run {
        drop(bar);
        return index_model::dry_run(&args, &path, &sources, &options, surroundings).await;
    }
    let fill = args.fill_options(options.other_embedder);
    let (mut workspace, performers) = surroundings.setup.open_to_fill(&path, &fill).await?;
    let report = if names_none {
        re_embed(&mut workspace, &performers, &options).await
    } else {
        index(&mut workspace, &sources, &performers, &options).await
    };
    drop(bar);
    let report = report?;
    let names_database = args.database.neo4j.is_some();
    if !args.place.json {
        surroundings.setup.tell_what_is_unset(&workspace)?;
        say(&report, &path, surroundings);
    }
    if names_database {
        let publishing =
            PublishOptions { other_vectors: other_vectors(options.other_embedder), ..PublishOptions::default() };
        let published = publish_from(&path, &args.database, publishing, surroundings).await?;
        if !args.place.json {
            publish::say(&published, &args.database, surroundings);
        }
    }
    if args.place.json {
        surroundings.print_json(&report)?;
    }
    index_model::end(report.model.as_ref())
}

/// Returns what is to be read: standard input stands alone.
fn sources(args: &IndexArgs, options: &IndexOptions) -> Result<Sources> {
    if !args.paths.iter().any(|path| path.as_os_str() == STDIN) {
        return Ok(Sources::Paths(args.paths.clone()));
    }
    if args.paths.len() > 1 {
        return Err(Error::Option {
            option: "list of sources",
            value: STDIN.to_owned(),
            reason: "standard input is read alone, without files and folders".to_owned(),
        });
    }
    let bytes_max = options.ingest.document_bytes_max;
    let mut bytes = Vec::new();
    // One byte more than a document may have tells that there are too many.
    let read = std::io::stdin().lock().take(bytes_max + 1).read_to_end(&mut bytes);
    read.map_err(Error::io("read", STDIN))?;
    Ok(Sources::Bytes { name: args.stdin_name.clone(), bytes })
}

/// Who gives an index another embedder means the published one too.
const fn other_vectors(other: OtherEmbedder) -> OtherVectors {
    match other {
        OtherEmbedder::Refuse => OtherVectors::Refuse,
        OtherEmbedder::ReEmbed => OtherVectors::Replace,
    }
}

fn options(args: &IndexArgs, settings: &Settings) -> Result<IndexOptions> {
    if args.passage_tokens < PASSAGE_TOKENS_MIN {
        return Err(Error::Option {
            option: "limit of word pieces",
            value: args.passage_tokens.to_string(),
            reason: format!("it is at least {PASSAGE_TOKENS_MIN}"),
        });
    }
    let asked = &args.language_model.questions;
    Ok(IndexOptions {
        ingest: IngestOptions {
            id_field: args.id_field.clone(),
            title_field: (args.title_field != "none").then(|| args.title_field.clone()),
            text_field: args.text_field.clone(),
            rows: if args.rows { Rows::Each } else { Rows::Together },
            worker: config::own_program(),
            converters: settings.converters.clone(),
            ..IngestOptions::default()
        },
        chunk: ChunkOptions {
            passage_pieces_max: args.passage_tokens,
            unit: if args.sentence_passages { PassageUnit::Sentence } else { PassageUnit::Structure },
        },
        model_questions: if asked.keep_rule_questions { ModelQuestions::Beside } else { ModelQuestions::Instead },
        question_calls: if asked.separate_questions { QuestionCalls::Separate } else { QuestionCalls::Together },
        failed_replies: if asked.retry_failed { FailedReplies::AskedAnew } else { FailedReplies::Kept },
        other_embedder: if args.re_embed { OtherEmbedder::ReEmbed } else { OtherEmbedder::Refuse },
        most_gone: if args.remove { MostGone::Remove } else { MostGone::Keep },
        matching: MatchOptions { quota: quota(args.edges_within, args.edges_across)?, ..MatchOptions::default() },
        ..IndexOptions::default()
    })
}

fn quota(within: Option<usize>, across: Option<usize>) -> Result<EdgeQuota> {
    if within.is_none() && across.is_none() {
        return Ok(EdgeQuota::Best);
    }
    let quota = (within.unwrap_or(0), across.unwrap_or(0));
    match quota {
        (within, across) if within.max(across) > EDGES_MAX => Err(Error::Option {
            option: "number of edges",
            value: within.max(across).to_string(),
            reason: format!("it is at most {EDGES_MAX}"),
        }),
        (within, across) => Ok(EdgeQuota::Split { within, across }),
    }
}

fn say(report: &IndexReport, path: &Path, surroundings: &Surroundings) {
    let screen = &surroundings.screen;
    let (documents, counts) = (&report.documents, &report.counts);
    if report.is_new_version {
        screen.note(format!(
            "{} ({} added, {} changed, {} removed), {}, {}, {}, version {}, {:.1} s",
            counted(counts.documents, "document"),
            documents.added,
            documents.changed,
            documents.removed,
            counted(counts.passages, "passage"),
            counted(counts.incoming + counts.outgoing, "question"),
            counted(counts.edges, "question edge"),
            report.version,
            report.seconds
        ));
    } else {
        let documents = counted(counts.documents, "document");
        screen.note(format!("nothing changed: {documents}, version {}", report.version));
    }
    if let Some(model) = &report.model {
        index_model::say(model, path, surroundings);
    }
    if let Some(vectors) = &report.vectors {
        index_model::say_vectors(vectors, screen);
    }
    for warning in &report.warnings {
        screen.note(format!("warning: {warning}"));
    }
    for skip in report.skips.iter().take(SKIPS_SHOWN_MAX) {
        screen.note(format!("skipped {}: {}", skip.source, skip.reason));
    }
    if report.skips.len() > SKIPS_SHOWN_MAX {
        screen.note(format!(
            "… and {} more; `{}` names all",
            report.skips.len() - SKIPS_SHOWN_MAX,
            surroundings.next.command("status", path)
        ));
    }
    screen.note(format!("next: {}", surroundings.next.command("ask \"YOUR QUESTION\"", path)));
}
