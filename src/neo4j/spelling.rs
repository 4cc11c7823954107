//! Names as documents write them: entities are known by folded words, and people look for what they read.

use crate::error::Result;
use crate::graph::ordinal::{MentionOrdinal, Ordinal as _};
use crate::graph::packed::PassageGraph;
use crate::store::{GraphReader as _, written_in_title};
use crate::text::as_written;
use crate::workspace::Snapshot;

/// Returns how each entity is written: in the title of a document that bears it, or else where it is mentioned first.
pub(super) fn spellings(snapshot: &Snapshot) -> Result<Vec<String>> {
    let graph = snapshot.graph();
    let entities = graph.entity_documents.ordinals();
    let mut found: Vec<Option<String>> =
        entities.map(|entity| written_in_title(snapshot, entity)).collect::<Result<_>>()?;
    in_texts(snapshot, &graph, &mut found)?;
    let all = found.into_iter().zip(graph.entity_documents.ordinals());
    Ok(all.map(|(spelling, entity)| spelling.unwrap_or_else(|| graph.entity_name(entity).to_owned())).collect())
}

fn in_texts(snapshot: &Snapshot, graph: &PassageGraph<'_>, found: &mut [Option<String>]) -> Result<()> {
    for passage in graph.passages() {
        let is_sought = |mention: &MentionOrdinal| found[graph.mention_entity[*mention].index()].is_none();
        let sought: Vec<MentionOrdinal> = graph.passage_mentions.of(passage).filter(is_sought).collect();
        if sought.is_empty() {
            continue;
        }
        let shown = snapshot.passage(passage)?;
        let first = graph.passage_sentences.of(passage).range().start;
        for mention in sought {
            let entity = graph.mention_entity[mention];
            let sentence = shown.sentences.get(graph.mention_sentence[mention].index() - first);
            let text = sentence.and_then(|span| shown.text.get(span.start as usize..span.end as usize));
            let spelling = text.and_then(|it| as_written(it, graph.entity_name(entity)));
            if let Some(spelling) = spelling {
                found[entity.index()] = Some(spelling.to_owned());
            }
        }
    }
    Ok(())
}
