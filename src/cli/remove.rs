//! `cairn remove`.

use std::collections::BTreeSet;

use clap::Args;
use serde_json::json;

use super::args::{ModelArgs, PlaceArgs};
use super::{Done, Surroundings, huge_pages, progress};
use crate::domain::RemovedDocument;
use crate::error::{Error, Result};
use crate::graph::ordinal::{DocumentOrdinal, Ordinal as _};
use crate::index::{self, IndexOptions, IndexReport};
use crate::setup::Calls;
use crate::store::GraphReader as _;
use crate::text::{counted, is_of_form, near};
use crate::workspace::Workspace;

/// Documents named if the one meant does not exist.
const CLOSE_MAX: usize = 5;

/// `cairn remove`.
#[derive(Debug, Args)]
pub(super) struct RemoveArgs {
    /// Where and how.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// The documents: the id or address of each, or a pattern in which `*` stands for any characters and `?` for one.
    #[arg(value_name = "DOCUMENT", required_unless_present = "list")]
    documents: Vec<String>,
    /// List the documents that were removed.
    #[arg(long, conflicts_with_all = ["documents", "undo"])]
    list: bool,
    /// Undo a removal: the next `cairn index` of the folder indexes the document. A text that was added by hand is
    /// gone: add it again, which also undoes the removal.
    #[arg(long)]
    undo: bool,
    /// The models of the index.
    #[command(flatten)]
    models: ModelArgs,
}

/// Runs `cairn remove`.
pub(super) async fn run(args: &RemoveArgs, surroundings: &Surroundings) -> Done {
    let workspace = surroundings.workspace(surroundings.index(args.place.index.clone()))?;
    if args.list {
        let removed = workspace.removed()?;
        let count = counted(removed.len() as u64, "removed document");
        return show(args, &removed, &count, surroundings);
    }
    if args.undo {
        let chosen = chosen(&workspace.removed()?, &args.documents)?;
        let ids: Vec<&str> = chosen.iter().map(|it| it.source_id.as_str()).collect();
        workspace.take_back(&ids)?;
        let count = counted(chosen.len() as u64, "document");
        let said = format!(
            "took back {count}: the next `cairn index` that finds them indexes them; texts that were added by hand are \
             added again with `cairn add`"
        );
        return show(args, &chosen, &said, surroundings);
    }
    let chosen = chosen(&indexed(&workspace)?, &args.documents)?;
    let report = remove(workspace, args, &chosen, surroundings).await?;
    if args.place.json {
        return surroundings.print_json(&report);
    }
    let screen = &surroundings.screen;
    chosen.iter().try_for_each(|it| screen.line(&it.uri))?;
    report.warnings.iter().for_each(|it| surroundings.warn(it));
    let (removed, left) = (report.documents.removed, counted(report.counts.documents, "document"));
    screen.note(format!("removed {}; version {} has {left}", counted(removed, "document"), report.version));
    screen.note("`cairn index` leaves them out from now on; `cairn remove --undo` takes them back");
    Ok(())
}

async fn remove(
    mut workspace: Workspace,
    args: &RemoveArgs,
    chosen: &[RemovedDocument],
    surroundings: &Surroundings,
) -> Result<IndexReport> {
    huge_pages::allow_if_large(&workspace);
    let performers = surroundings.setup.to_fill(&workspace, &args.models.options(), &Calls::default()).await?;
    let (sink, bar) = progress::sink(surroundings.screen);
    let options = IndexOptions {
        progress: Some(sink),
        cancellation: surroundings.cancellation.clone(),
        ..IndexOptions::default()
    };
    let ids: Vec<&str> = chosen.iter().map(|it| it.source_id.as_str()).collect();
    let report = index::remove(&mut workspace, &ids, &performers, &options).await;
    drop(bar);
    report
}

fn show(args: &RemoveArgs, documents: &[RemovedDocument], said: &str, surroundings: &Surroundings) -> Done {
    if args.place.json {
        return surroundings.print_json(&json!({ "documents": documents }));
    }
    documents.iter().try_for_each(|it| surroundings.screen.line(&it.uri))?;
    surroundings.screen.note(said);
    Ok(())
}

/// Returns the documents of the current version.
fn indexed(workspace: &Workspace) -> Result<Vec<RemovedDocument>> {
    let snapshot = workspace.snapshot()?;
    let documents = DocumentOrdinal::first(snapshot.graph().document_count()).map(|number| {
        let document = snapshot.document(number)?;
        Ok(RemovedDocument { id: document.document, source_id: document.source_id, uri: document.uri })
    });
    documents.collect()
}

/// Returns the matching `documents`, each once.
///
/// # Errors
///
/// [`Error::Option`] for a pattern that matches none.
fn chosen(documents: &[RemovedDocument], forms: &[String]) -> Result<Vec<RemovedDocument>> {
    let mut places = BTreeSet::new();
    for form in forms {
        let is_meant = |it: &RemovedDocument| is_of_form(&it.source_id, form) || is_of_form(&it.uri, form);
        let meant: Vec<usize> = (0..documents.len()).filter(|at| is_meant(&documents[*at])).collect();
        if meant.is_empty() {
            return Err(unknown(documents, form));
        }
        places.extend(meant);
    }
    Ok(places.into_iter().map(|at| documents[at].clone()).collect())
}

/// Returns the error that no document has this id or address, with those that contain it in theirs.
fn unknown(documents: &[RemovedDocument], form: &str) -> Error {
    let has_it = documents.iter().filter(|it| it.uri.contains(form) || it.source_id.contains(form));
    let mut close: Vec<String> = has_it.map(|it| it.uri.clone()).take(CLOSE_MAX).collect();
    if close.is_empty() {
        close = near(form, documents.iter().map(|it| &it.uri));
    }
    let there = close.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
    let there = if there.is_empty() { String::new() } else { format!("; close to it: {there}") };
    let reason = format!("no document has this id or address{there}; nothing was removed or taken back");
    Error::Option { option: "document", value: form.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::DocumentId;

    #[test]
    fn documents_are_meant_by_id_address_or_form_and_what_means_none_is_an_error() {
        let document = |source_id: &str, uri: &str| RemovedDocument {
            id: DocumentId::of(&[source_id.as_bytes()]),
            source_id: source_id.to_owned(),
            uri: uri.to_owned(),
        };
        let all = [document("notes/a.md", "notes/a.md"), document("7", "notes/b.jsonl#7"), document("x", "y/x.md")];
        let meant = |forms: &[&str]| {
            let forms: Vec<String> = forms.iter().map(|it| (*it).to_owned()).collect();
            chosen(&all, &forms).map(|it| it.into_iter().map(|it| it.source_id).collect::<Vec<_>>())
        };
        assert_eq!(meant(&["7"]).unwrap(), ["7"]);
        assert_eq!(meant(&["notes/*", "notes/a.md"]).unwrap(), ["notes/a.md", "7"]);
        assert_eq!(meant(&["?"]).unwrap(), ["7", "x"]);
        let error = |forms: &[&str]| meant(forms).unwrap_err().to_string();
        assert!(error(&["x", "a.md"]).contains("`notes/a.md`"), "{}", error(&["a.md"]));
        assert!(error(&["notes/c.md"]).contains("`notes/a.md`"), "{}", error(&["notes/c.md"]));
    }
}
