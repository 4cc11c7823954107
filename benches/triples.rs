//! Indexes a collection for `cairn eval`, with questions made from recorded triples in place of a model's; or, with
//! `entities`, with the entities and relations of triples and questions by rule.
//!
//! ```text
//! cargo bench --bench triples -- BUNDLE INDEX [entities]
//! ```
//!
//! `BUNDLE` is a folder with `corpus.jsonl` (`id`, `title`, `text`) and `openie.jsonl` (`passage_id`, `entities`,
//! `triples`); `INDEX` is the folder of the index, which must not exist yet.

use std::path::Path;
use std::sync::Arc;

use cairn::eval::TriplesModel;
use cairn::{ExtractOptions, IndexOptions, Performers, QuestionsBy, Sources, Workspace, WorkspaceOptions};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let (bundle, index, options) = match args.as_slice() {
        [bundle, index] => (bundle, index, IndexOptions::default()),
        [bundle, index, what] if what == "entities" => {
            let (questions_by, extract) = (QuestionsBy::Rule, Some(ExtractOptions::default()));
            (bundle, index, IndexOptions { questions_by, extract, ..IndexOptions::default() })
        }
        _ => {
            println!("nothing done; usage: cargo bench --bench triples -- BUNDLE INDEX [entities]");
            return Ok(());
        }
    };
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(replay(
        Path::new(bundle),
        Path::new(index),
        &options,
    ))
}

async fn replay(bundle: &Path, index: &Path, options: &IndexOptions) -> Result<(), Failure> {
    let corpus = bundle.join("corpus.jsonl");
    let model = TriplesModel::read(&corpus, &bundle.join("openie.jsonl"))?;
    let performers = Performers { model: Some(Arc::new(model)), ..Performers::built_in() };
    let mut workspace = Workspace::open_or_create(index, &WorkspaceOptions::of(&performers))?;
    let report = cairn::index(&mut workspace, &Sources::folder(&corpus), &performers, options).await?;
    if let Some(found) = &report.extracted {
        println!(
            "{} entities and {} relations in {} passages; {} and {} dropped",
            found.entities, found.relations, found.asked.written, found.dropped.entities, found.dropped.relations
        );
    }
    let Some(asked) = report.model.or(report.extracted.map(|it| it.asked)) else {
        return Err("no model was asked".into());
    };
    println!(
        "{} passages with what triples say, {} with what rules do; {} question edges",
        asked.written,
        asked.failed.len(),
        report.counts.edges
    );
    for skip in asked.failed.iter().take(3) {
        println!("  {}: {}", skip.source, skip.reason);
    }
    Ok(())
}
