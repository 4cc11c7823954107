//! Passages that were found, as they are shown.

use crate::domain::Hit;
use crate::error::Result;
use crate::graph::ordinal::PassageOrdinal;
use crate::query::session::query::Ranking;

/// Returns the passages that were found, in their order, with their documents and the steps that led to them.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn hits(found: &Ranking) -> Result<Vec<Hit>> {
    let query = &found.query;
    let passages: Vec<PassageOrdinal> = found.ranked.iter().map(|it| it.0).collect();
    query.reader.prepare(&passages)?;
    let graph = query.reader.graph();
    let hit = |(&(passage, score), rank): (&(PassageOrdinal, f32), u32)| {
        let shown = query.reader.passage(passage)?;
        let document = query.reader.document(graph.passage_document[passage])?;
        Ok(Hit {
            rank,
            passage: shown.passage,
            document: document.document,
            name: document.title.unwrap_or_else(|| document.source_id.clone()),
            source_id: document.source_id,
            uri: document.uri,
            section: shown.section,
            page: shown.page,
            line: shown.line,
            span: shown.span,
            text: shown.text,
            score,
            metadata: document.metadata,
            path: found.paths.get(&passage).cloned().unwrap_or_default(),
        })
    };
    found.ranked.iter().zip(1..).map(hit).collect()
}
