//! Summaries of what the members of summary entities have in common, as arrays.

use super::PackedDescriptions;
use crate::graph::ordinal::{SentenceOrdinal, SummaryOrdinal};
use crate::graph::packed::back_to_back;

/// A model's summary of one aspect that the members of a summary entity have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedAspect {
    /// The summary entity.
    pub summary: SummaryOrdinal,
    /// Its name.
    pub name: String,
    /// Its type; empty if it has none.
    pub kind: String,
    /// Its text.
    pub description: String,
    /// The sentences that say so.
    pub sentences: Vec<SentenceOrdinal>,
}

/// Gives descriptions these aspects in place of those that they have.
pub fn pack_aspects(mut aspects: Vec<PackedAspect>, packed: &mut PackedDescriptions) {
    // Those of one stay in order.
    aspects.sort_by_key(|it| it.summary);
    packed.aspect_summary = aspects.iter().map(|it| it.summary).collect();
    packed.aspect_sentence.clear();
    packed.aspect_sentences = vec![0];
    for aspect in &aspects {
        packed.aspect_sentence.extend(&aspect.sentences);
        packed.aspect_sentences.push(packed.aspect_sentence.len() as u32);
    }
    let texts = |of: fn(&PackedAspect) -> &str| back_to_back(&aspects.iter().map(of).collect::<Vec<_>>());
    (packed.aspect_name_ends, packed.aspect_names) = texts(|it| &it.name);
    (packed.aspect_type_ends, packed.aspect_types) = texts(|it| &it.kind);
    (packed.aspect_description_ends, packed.aspect_descriptions) = texts(|it| &it.description);
}
