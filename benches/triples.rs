//! Indexes a collection with questions made of recorded triples, in the place of those that a model would write, to be
//! measured by `cairn eval`.
//!
//! ```text
//! cargo bench --bench triples -- BUNDLE INDEX
//! ```
//!
//! `BUNDLE` is a folder with `corpus.jsonl` (`id`, `title`, `text`) and `openie.jsonl` (`passage_id`, `entities`,
//! `triples`); `INDEX` is the folder of the index, which must not be there yet.

use std::path::Path;
use std::sync::Arc;

use cairn::eval::TriplesModel;
use cairn::{IndexOptions, Performers, Sources, Workspace, WorkspaceOptions};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let [bundle, index] = args.as_slice() else {
        println!("nothing done; usage: cargo bench --bench triples -- BUNDLE INDEX");
        return Ok(());
    };
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(replay(Path::new(bundle), Path::new(index)))
}

async fn replay(bundle: &Path, index: &Path) -> Result<(), Failure> {
    let corpus = bundle.join("corpus.jsonl");
    let model = TriplesModel::read(&corpus, &bundle.join("openie.jsonl"))?;
    let performers = Performers { model: Some(Arc::new(model)), ..Performers::built_in() };
    let mut workspace = Workspace::open_or_create(index, &WorkspaceOptions::of(&performers))?;
    let report = cairn::index(&mut workspace, &Sources::folder(&corpus), &performers, &IndexOptions::default()).await?;
    let asked = report.model.ok_or("no model was asked")?;
    println!(
        "{} passages with questions of triples, {} with those of rules; {} question edges",
        asked.written,
        asked.failed.len(),
        report.counts.edges
    );
    for skip in asked.failed.iter().take(3) {
        println!("  {}: {}", skip.source, skip.reason);
    }
    Ok(())
}
