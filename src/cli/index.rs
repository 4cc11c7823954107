//! `cairn index`.

use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use super::index_args::{IndexArgs, QuestionArgs, WalkArgs};
use super::publish::{self, publish_from};
use super::watch::Watch;
use super::{Done, Failure, Surroundings, dry_run, huge_pages, index_model, progress};
use crate::chunk::PASSAGE_TOKENS_MIN;
use crate::chunk::{ChunkOptions, PassageUnit};
use crate::config::{self, ModelRole, Settings};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::hierarchy::HierarchyPreset;
use crate::graph::matching::EDGES_MAX;
use crate::graph::matching::{EdgeQuota, MatchOptions};
use crate::index::{
    EntityTypesBy, ExtractOptions, FailedReplies, IndexOptions, IndexReport, ModelQuestions, MostGone, OtherEmbedder,
    QuestionsBy, ReportsBy, Sources, index, re_embed,
};
use crate::ingest::{IngestOptions, Rows, WalkOptions};
use crate::neo4j::{OtherVectors, PublishOptions};
use crate::skill::{EntityTypes, ExtractCalls, Performers, QuestionCalls};
use crate::text::counted;
use crate::workspace::Workspace;

/// The path that stands for standard input.
pub(super) const STDIN: &str = "-";
/// Skipped sources that are named on a terminal; `cairn status` names all.
const SKIPS_SHOWN_MAX: usize = 10;

/// How long a run that watches waits before it tries an index again that another run writes.
const BUSY_WAIT: Duration = Duration::from_millis(500);

/// Runs `cairn index`.
pub(super) async fn run(args: IndexArgs, surroundings: &Surroundings) -> Done {
    let path = surroundings.index(args.place.index.clone());
    let options = options(&args, surroundings)?;
    let sources = sources(&args, &options)?;
    let names_none = matches!(&sources, Sources::Paths(paths) if paths.is_empty());
    if !(names_none && options.other_embedder == OtherEmbedder::ReEmbed) {
        sources.check()?;
    }
    if args.dry_run {
        return dry_run::run(&args, &path, &sources, &options, surroundings).await;
    }
    // Before the first run: what changes meanwhile is indexed by the next.
    let watch = if args.watch { Some(begin_to_watch(&sources, &options, surroundings)?) } else { None };
    let fill = args.fill_options(options.other_embedder);
    let (workspace, performers) = surroundings.setup.open_to_fill(&path, &fill).await?;
    huge_pages::allow_if_large(&workspace);
    let (sources, warned) = (&sources, Vec::new());
    let (args, path, is_unpublished) = (&args, path.as_path(), false);
    let mut run = Run { args, path, sources, workspace, performers, options, surroundings, warned, is_unpublished };
    match run.once(names_none, Reports::Whole).await {
        // They may come.
        Err(Failure::Library(error @ Error::NoDocuments { .. })) if watch.is_some() => {
            let _status = super::report(surroundings, &error, args.place.json);
        }
        done => done?,
    }
    match watch {
        Some(watch) => run.whenever_files_change(watch).await,
        None => Ok(()),
    }
}

fn begin_to_watch(sources: &Sources, options: &IndexOptions, surroundings: &Surroundings) -> Result<Watch> {
    match sources {
        Sources::Paths(paths) => Watch::begin(paths, &options.ingest.walk, &surroundings.screen),
        Sources::Documents(_) | Sources::Bytes { .. } => Err(Error::Option {
            option: "list of sources",
            value: STDIN.to_owned(),
            reason: "files and folders can be watched, standard input cannot".to_owned(),
        }),
    }
}

/// How much to report about a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reports {
    /// Everything.
    Whole,
    /// A line if it made a version, and problems.
    Changes,
}

/// Runs over the same sources, one or several.
struct Run<'a> {
    args: &'a IndexArgs,
    path: &'a Path,
    sources: &'a Sources,
    workspace: Workspace,
    performers: Performers,
    options: IndexOptions,
    surroundings: &'a Surroundings,
    /// The warnings of the last run.
    warned: Vec<String>,
    /// Whether a version still has to be published.
    is_unpublished: bool,
}

impl Run<'_> {
    async fn once(&mut self, names_none: bool, reports: Reports) -> Done {
        let Self { args, path, sources, workspace, performers, options, surroundings, .. } = self;
        let (sink, bar) = progress::sink(surroundings.screen);
        // Where nobody watches a bar, a version is one line.
        let sink = (reports == Reports::Whole || surroundings.screen.is_watched()).then_some(sink);
        let options = IndexOptions { progress: sink, ..options.clone() };
        let report = if names_none {
            re_embed(workspace, performers, &options).await
        } else {
            index(workspace, sources, performers, &options).await
        };
        drop(bar);
        let report = report?;
        let warned = std::mem::replace(&mut self.warned, report.warnings.clone());
        if !args.place.json {
            surroundings.setup.tell_what_is_unset(workspace)?;
            match reports {
                Reports::Whole => say(&report, path, surroundings),
                Reports::Changes => say_changes(&report, &warned, path, surroundings),
            }
        }
        let names_database = args.database.neo4j.is_some();
        self.is_unpublished |= names_database && report.is_new_version;
        if names_database && (reports == Reports::Whole || self.is_unpublished) {
            let publishing =
                PublishOptions { other_vectors: other_vectors(options.other_embedder), ..PublishOptions::default() };
            let published = publish_from(path, &args.database, publishing, surroundings).await?;
            self.is_unpublished = false;
            if !args.place.json {
                publish::say(&published, &args.database, surroundings);
            }
        }
        if args.place.json && (reports == Reports::Whole || report.is_new_version) {
            surroundings.print_json(&report)?;
        }
        index_model::end(report.model.as_ref())?;
        index_model::end(report.extracted.as_ref().map(|it| &it.asked))?;
        index_model::end(report.described.as_ref())?;
        index_model::end(report.summarized.as_ref())?;
        index_model::end(report.reported.as_ref())
    }

    /// Continues until a stop is requested. A failed run is reported, and the next change starts another.
    async fn whenever_files_change(&mut self, mut watch: Watch) -> Done {
        let Surroundings { screen, cancellation, .. } = self.surroundings;
        screen.note("watching for changes; Ctrl-C ends");
        while watch.changed(cancellation, screen).await? {
            match self.once_free().await {
                Err(Failure::Library(error)) if error.kind() == ErrorKind::Cancelled => break,
                Err(Failure::Library(error)) => {
                    let _status = super::report(self.surroundings, &error, self.args.place.json);
                }
                done => done?,
            }
        }
        Ok(())
    }

    /// Runs as soon as no other run writes the index: nothing reports that one has ended.
    async fn once_free(&mut self) -> Done {
        let Surroundings { screen, cancellation, .. } = self.surroundings;
        let mut is_told = false;
        loop {
            match self.once(false, Reports::Changes).await {
                // The version that is to be published would not be reported again.
                Err(Failure::Library(Error::Busy { .. })) if !self.is_unpublished => {}
                done => return done,
            }
            if !is_told {
                screen.note("another run is writing the index; waiting until it ends");
                is_told = true;
            }
            tokio::time::sleep(BUSY_WAIT).await;
            cancellation.check()?;
        }
    }
}

/// Returns the sources to read; standard input cannot be combined with others.
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
    Ok(Sources::Bytes { name: args.stdin_name.clone(), bytes: read_stdin(options.ingest.document_bytes_max)? })
}

/// Reads standard input: as many bytes as a document may have, plus one to detect an excess.
pub(super) fn read_stdin(bytes_max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(bytes_max + 1).read_to_end(&mut bytes);
    read.map_err(Error::io("read", STDIN))?;
    Ok(bytes)
}

/// Switching the embedder of an index also applies to the published one.
const fn other_vectors(other: OtherEmbedder) -> OtherVectors {
    match other {
        OtherEmbedder::Refuse => OtherVectors::Refuse,
        OtherEmbedder::ReEmbed => OtherVectors::Replace,
    }
}

fn options(args: &IndexArgs, surroundings: &Surroundings) -> Result<IndexOptions> {
    let settings = &surroundings.setup.settings;
    if args.passage_tokens < PASSAGE_TOKENS_MIN {
        return Err(Error::Option {
            option: "number of word pieces",
            value: args.passage_tokens.to_string(),
            reason: format!("`--passage-tokens` must be at least {PASSAGE_TOKENS_MIN}"),
        });
    }
    let asked = &args.language_model.questions;
    Ok(IndexOptions {
        ingest: IngestOptions {
            id_field: args.id_field.clone(),
            title_field: (args.title_field != "none").then(|| args.title_field.clone()),
            text_field: args.text_field.clone(),
            rows: if args.rows { Rows::Each } else { Rows::Together },
            walk: walk(&args.walk),
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
        questions_by: if asked.rule_questions { QuestionsBy::Rule } else { QuestionsBy::Model },
        extract: if asked.extract { Some(extract(asked, settings)?) } else { None },
        summaries_by: if asked.summaries { ReportsBy::Model } else { ReportsBy::Rule },
        reports_by: if asked.reports { ReportsBy::Model } else { ReportsBy::Rule },
        failed_replies: if asked.retry_failed { FailedReplies::AskedAnew } else { FailedReplies::Kept },
        other_embedder: if args.re_embed { OtherEmbedder::ReEmbed } else { OtherEmbedder::Refuse },
        most_gone: if args.remove { MostGone::Remove } else { MostGone::Keep },
        matching: MatchOptions { quota: quota(args.edges_within, args.edges_across)?, ..MatchOptions::default() },
        cancellation: surroundings.cancellation.clone(),
        checkpoints: args.checkpoint.unwrap_or_default(),
        calls_at_once: surroundings.setup.limits(ModelRole::Index).concurrency,
        hierarchy: hierarchy(args.hierarchy.as_ref().or(settings.hierarchy.as_ref()))?,
        ..IndexOptions::default()
    })
}

fn walk(args: &WalkArgs) -> WalkOptions {
    WalkOptions {
        include: args.include.clone(),
        exclude: args.exclude.clone(),
        hidden: args.hidden,
        ignored: args.no_ignore,
        depth_max: args.max_depth.map(|depth| depth as usize),
    }
}

/// Returns the options for extracting entities, with the types from flags or settings.
fn extract(asked: &QuestionArgs, settings: &Settings) -> Result<ExtractOptions> {
    let types = asked.entity_types.as_slice();
    let usual = settings.entity_types.as_deref().unwrap_or_default();
    let types = match if types.is_empty() { usual } else { types } {
        [] => EntityTypesBy::default(),
        [propose] if propose == "propose" => EntityTypesBy::Model,
        named => EntityTypesBy::Named(EntityTypes::parse(named).map_err(|reason| Error::Option {
            option: "list of entity types",
            value: named.join(","),
            reason,
        })?),
    };
    let calls = if asked.separate_relations { ExtractCalls::Separate } else { ExtractCalls::Together };
    Ok(ExtractOptions { types, calls })
}

fn hierarchy(name: Option<&String>) -> Result<HierarchyPreset> {
    let Some(name) = name else { return Ok(HierarchyPreset::default()) };
    HierarchyPreset::of_name(name).ok_or_else(|| Error::Option {
        option: "hierarchy",
        value: name.clone(),
        reason: format!("it is one of {}", HierarchyPreset::ALL.map(HierarchyPreset::name).join(", ")),
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
    screen.note(line(report));
    say_models(report, path, surroundings);
    for warning in &report.warnings {
        surroundings.warn(warning);
    }
    for skip in report.skips.iter().take(SKIPS_SHOWN_MAX) {
        screen.note(format!("skipped {}: {}", skip.source, surroundings.next.with_command(&skip.reason)));
    }
    if report.skips.len() > SKIPS_SHOWN_MAX {
        screen.note(format!(
            "… and {} more; `{}` lists all",
            report.skips.len() - SKIPS_SHOWN_MAX,
            surroundings.next.command("status", path)
        ));
    }
    screen.note(format!("next: {}", surroundings.next.command("ask \"YOUR QUESTION\"", path)));
}

/// Reports what is new after one of several runs: `warned` are the warnings of the previous one.
fn say_changes(report: &IndexReport, warned: &[String], path: &Path, surroundings: &Surroundings) {
    let screen = &surroundings.screen;
    if report.is_new_version {
        screen.note(line(report));
        say_models(report, path, surroundings);
    }
    for warning in report.warnings.iter().filter(|it| !warned.contains(it)) {
        surroundings.warn(warning);
    }
}

/// Reports the work of models and embedders behind servers.
fn say_models(report: &IndexReport, path: &Path, surroundings: &Surroundings) {
    if let Some(model) = &report.model {
        index_model::say(model, path, surroundings);
    }
    if let Some(extracted) = &report.extracted {
        index_model::say_extracted(extracted, path, surroundings);
    }
    let written = [(&report.described, "entity"), (&report.summarized, "cluster"), (&report.reported, "topic")];
    for (written, about) in written {
        if let Some(written) = written {
            index_model::say_reported(written, about, path, surroundings);
        }
    }
    if let Some(vectors) = &report.vectors {
        index_model::say_vectors(vectors, &surroundings.screen);
    }
}

/// Returns the line with the result of a run.
fn line(report: &IndexReport) -> String {
    let (documents, counts) = (&report.documents, &report.counts);
    if !report.is_new_version {
        return format!("nothing changed: {}, version {}", counted(counts.documents, "document"), report.version);
    }
    format!(
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
    )
}
