//! Names of passages in a report: document, headings and, if these are ambiguous, number.

use std::collections::BTreeMap;

use crate::domain::PassageId;
use crate::error::Result;
use crate::graph::ordinal::{Ordinal as _, PassageOrdinal};
use crate::store::{DocumentText, GraphReader};
use crate::text::clipped;
use crate::workspace::Snapshot;

/// Characters of a name.
const NAME_CHARS_MAX: usize = 120;

/// Returns the name of a document.
pub(super) fn document_name(document: &DocumentText) -> String {
    clipped(document.title.as_deref().unwrap_or(&document.source_id), NAME_CHARS_MAX)
}

/// Returns the name of a passage.
pub(super) fn passage_name(snapshot: &Snapshot, passage: PassageOrdinal) -> Result<String> {
    let graph = snapshot.graph();
    let document = graph.passage_document[passage];
    let name = document_name(&snapshot.document(document)?);
    let of_document = graph.document_passages.of(document);
    if of_document.len() < 2 {
        return Ok(name);
    }
    let section = snapshot.passage(passage)?.section;
    let below = section.as_deref().map_or("", |it| it.strip_prefix(name.as_str()).unwrap_or(it));
    let below = clipped(below.trim_start_matches(" › "), NAME_CHARS_MAX);
    // Passages under one heading follow each other.
    let beside = [passage.0.checked_sub(1), passage.0.checked_add(1)].into_iter().flatten();
    let beside = beside.map(PassageOrdinal).filter(|it| of_document.contains(*it));
    let sections: Vec<_> = beside.map(|it| Ok(snapshot.passage(it)?.section)).collect::<Result<_>>()?;
    let is_alone = section.is_some() && sections.iter().all(|it| *it != section);
    let name = if below.is_empty() { name } else { format!("{name} › {below}") };
    let number = passage.index() - of_document.clone().range().start + 1;
    Ok(if is_alone { name } else { format!("{name} ({number} of {})", of_document.len()) })
}

/// Returns the numbers of passages by their ids, for those of `wanted` that exist.
pub(super) fn numbers(snapshot: &Snapshot, wanted: &[PassageId]) -> BTreeMap<PassageId, PassageOrdinal> {
    let mut wanted = wanted.to_vec();
    wanted.sort_unstable();
    let all = snapshot.graph().passages().map(|passage| (snapshot.passage_id(passage), passage));
    all.filter(|(id, _)| wanted.binary_search(id).is_ok()).collect()
}
