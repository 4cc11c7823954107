//! The spelling of entities: their ids come from folded names, but people search for names as they read them.

use super::{GraphReader, sentence};
use crate::error::Result;
use crate::graph::ordinal::EntityOrdinal;
use crate::text::{as_written, is_linking_word};

/// Bearers of a name, and mentions of it, that are checked for its spelling.
const LOOKED_AT_MAX: usize = 3;

/// Returns the spelling of an entity: in the title of a document with its name, or else in its first mention in a text
/// at hand. Without either, its words are capitalized, since a database provides few texts for a question.
///
/// # Errors
///
/// If the store cannot be read.
pub(crate) fn spelling(reader: &dyn GraphReader, entity: EntityOrdinal) -> Result<String> {
    let graph = reader.graph();
    let name = graph.entity_name(entity);
    for bearer in graph.entity_bearers.of(entity).take(LOOKED_AT_MAX) {
        let title = reader.document(graph.bearer_document[bearer])?.title;
        if let Some(written) = title.as_deref().and_then(|title| as_written(title, name)) {
            return Ok(written);
        }
    }
    let at_hand = graph.entity_mentions.of(entity).filter(|posting| reader.has(graph.posting_passage[*posting]));
    for posting in at_hand.take(LOOKED_AT_MAX) {
        let (passage, span) = sentence(reader, &graph, graph.mention_sentence[graph.posting_mention[posting]])?;
        if let Some(written) = span.and_then(|span| as_written(span.of(&passage.text), name)) {
            return Ok(written);
        }
    }
    Ok(capitalized(name))
}

fn capitalized(folded: &str) -> String {
    let capitalize = |word: &str| {
        let mut chars = word.chars();
        match chars.next() {
            Some(first) if !is_linking_word(word) => first.to_uppercase().chain(chars).collect(),
            _ => word.to_owned(),
        }
    };
    folded.split(' ').map(capitalize).collect::<Vec<String>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folded_name_is_shown_with_capitals() {
        assert_eq!(capitalized("duke of port aven"), "Duke of Port Aven");
    }
}
