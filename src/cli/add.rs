//! `cairn add`.

use clap::{ArgGroup, Args};

use super::args::{ModelArgs, PlaceArgs};
use super::{Done, Surroundings, huge_pages, index, progress};
use crate::config;
use crate::domain::Document;
use crate::error::{Error, Result};
use crate::index::{self as indexer, IndexOptions, IndexReport};
use crate::ingest::{Called, IngestOptions, read_called};
use crate::setup::FillOptions;
use crate::text::counted;

/// `cairn add`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("called").required(true).multiple(true).args(["title", "address"]))]
pub(super) struct AddArgs {
    /// Where and how.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// `-`: the text is read from standard input, in any format that `cairn index` reads.
    #[arg(value_name = "-")]
    source: String,
    /// Title of the text; also its id if it has no address.
    #[arg(long, value_name = "TITLE")]
    title: Option<String>,
    /// Address of the text, a path or a URL, which is its id: a text of the same id is replaced. Its extension gives
    /// the format if the content does not.
    #[arg(long, value_name = "ADDRESS")]
    address: Option<String>,
    /// The models of the index.
    #[command(flatten)]
    models: ModelArgs,
}

/// Runs `cairn add`.
pub(super) async fn run(args: &AddArgs, surroundings: &Surroundings) -> Done {
    if args.source != index::STDIN {
        return Err(Error::Option {
            option: "source",
            value: args.source.clone(),
            reason: "a text is added from standard input, `-`; `cairn index PATH` indexes files and folders".to_owned(),
        }
        .into());
    }
    let ingest = IngestOptions { worker: config::own_program(), ..IngestOptions::default() };
    let called = Called { title: args.title.clone(), address: args.address.clone() };
    let document = read_called(&called, index::read_stdin(ingest.document_bytes_max)?, &ingest)?;
    let uri = document.uri.clone();
    let report = add(args, document, surroundings).await?;
    if args.place.json {
        return surroundings.print_json(&report);
    }
    let screen = &surroundings.screen;
    screen.line(uri)?;
    report.warnings.iter().for_each(|it| surroundings.warn(it));
    let documents = &report.documents;
    let done = match (documents.added, documents.changed) {
        (0, 0) if report.is_new_version => "it now counts as added by hand",
        (0, 0) => "nothing changed",
        (0, _) => "replaced",
        _ => "added",
    };
    let count = counted(report.counts.documents, "document");
    screen.note(format!("{done}; version {} has {count}", report.version));
    screen.note("no later `cairn index` replaces or removes it; `cairn remove` does");
    Ok(())
}

async fn add(args: &AddArgs, document: Document, surroundings: &Surroundings) -> Result<IndexReport> {
    let path = surroundings.index(args.place.index.clone());
    let fill = FillOptions { models: args.models.options(), ..FillOptions::default() };
    let (mut workspace, performers) = surroundings.setup.open_to_fill(&path, &fill).await?;
    huge_pages::allow_if_large(&workspace);
    let (sink, bar) = progress::sink(surroundings.screen);
    let options = IndexOptions {
        progress: Some(sink),
        cancellation: surroundings.cancellation.clone(),
        ..IndexOptions::default()
    };
    let report = indexer::add(&mut workspace, [document], &performers, &options).await;
    drop(bar);
    report
}
