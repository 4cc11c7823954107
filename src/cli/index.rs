//! `cairn index`.

use std::path::Path;

use super::args::IndexArgs;
use super::calls::{CallLog, Calls};
use super::publish::{self, publish_from};
use super::{Done, Surroundings, endpoint, index_model, models, pinned, progress, writer};
use crate::chunk::PASSAGE_TOKENS_MIN;
use crate::chunk::{ChunkOptions, PassageUnit};
use crate::error::{Error, Result};
use crate::graph::matching::EDGES_MAX;
use crate::graph::matching::{EdgeQuota, MatchOptions};
use crate::index::{
    FailedReplies, IndexOptions, IndexReport, ModelQuestions, MostGone, OtherEmbedder, Sources, index, re_embed,
};
use crate::ingest::IngestOptions;
use crate::neo4j::{OtherVectors, PublishOptions};
use crate::skill::{Performers, QuestionCalls};
use crate::workspace::{Workspace, WorkspaceOptions};

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
        calls_at_once: endpoint::limits(&surroundings.settings.model).concurrency,
        ..options(&args)?
    };
    let sources = Sources::Paths(args.paths.clone());
    let names_none = matches!(&sources, Sources::Paths(paths) if paths.is_empty());
    if !(names_none && options.other_embedder == OtherEmbedder::ReEmbed) {
        sources.check()?;
    }
    if args.language_model.dry_run {
        drop(bar);
        return index_model::dry_run(&args, &path, &sources, &options, surroundings);
    }
    let (mut workspace, performers) = open(&path, options.other_embedder, &args, surroundings)?;
    let report = if names_none {
        re_embed(&mut workspace, &performers, &options).await
    } else {
        index(&mut workspace, &sources, &performers, &options).await
    };
    drop(bar);
    let report = report?;
    let names_database = args.database.neo4j.is_some();
    if !args.place.json {
        pinned::say_what_is_unset(&workspace, surroundings)?;
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
    if args.place.json { surroundings.print_json(&report) } else { Ok(()) }
}

/// Who gives an index another embedder means the published one too.
const fn other_vectors(other: OtherEmbedder) -> OtherVectors {
    match other {
        OtherEmbedder::Refuse => OtherVectors::Refuse,
        OtherEmbedder::ReEmbed => OtherVectors::Replace,
    }
}

/// Opens the index, or makes it, with the embedder that was asked for or else its own, and with the model.
fn open(
    path: &Path,
    other: OtherEmbedder,
    args: &IndexArgs,
    surroundings: &Surroundings,
) -> Result<(Workspace, Performers)> {
    let found = match surroundings.workspace(path) {
        Ok(workspace) => Some(workspace),
        // Records that are gone are made anew; records that are damaged are refused below, as they were here.
        Err(Error::NoIndex { .. } | Error::Corrupt { .. }) if other == OtherEmbedder::Refuse => None,
        Err(error) => return Err(error),
    };
    let language_model = &args.language_model;
    let meter = writer::index_meter(language_model, surroundings)?;
    let calls = Calls { meter, log: CallLog::open(&language_model.recording)? };
    let performers = match &found {
        Some(workspace) => pinned::to_fill(workspace, &args.models, &calls, surroundings)?,
        None => models::for_new_index(&args.models, &calls, surroundings)?,
    };
    let workspace = match found {
        Some(workspace) if other == OtherEmbedder::ReEmbed => workspace,
        _ => Workspace::open_or_create(path, &WorkspaceOptions::of(&performers))?
            .with_file_access(surroundings.settings.file_access()),
    };
    let model = writer::index_model(language_model, workspace.path(), &calls, surroundings)?;
    let performers = Performers { model, ..performers };
    calls.log.say_if_idle(&performers, surroundings);
    Ok((workspace, performers))
}

fn options(args: &IndexArgs) -> Result<IndexOptions> {
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
            "{} documents ({} added, {} changed, {} removed), {} passages, {} questions, {} question edges, \
             version {}, {:.1} s",
            counts.documents,
            documents.added,
            documents.changed,
            documents.removed,
            counts.passages,
            counts.incoming + counts.outgoing,
            counts.edges,
            report.version,
            report.seconds
        ));
    } else {
        screen.note(format!("nothing changed: {} documents, version {}", counts.documents, report.version));
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
