//! Names and mentions as flat arrays.

use rustc_hash::FxHashMap;

use super::find::{Mention, PassageMentions};
use super::{NamedDocument, Names};
use crate::domain::Span;
use crate::graph::elements::{Interned, pack_own, postings};
use crate::graph::ordinal::{
    CueOrdinal, DocumentOrdinal, EntityOrdinal, Ordinal as _, PassageOrdinal, SentenceOrdinal,
};
use crate::graph::packed::{NO_CUE, PackedGraph, back_to_back, entity_flag, name_kind, row};
use crate::text::{NameKind, is_stop_word};

/// Numbers documents, passages and sentences.
pub fn pack_structure(documents: &[NamedDocument<'_>], packed: &mut PackedGraph) {
    packed.document_passages.push(0);
    packed.passage_sentences.push(0);
    for (document, number) in documents.iter().zip(DocumentOrdinal::first(documents.len())) {
        for passage in &document.passages {
            let this = PassageOrdinal::at(packed.passage_document.len());
            packed.passage_document.push(number);
            packed.sentence_passage.extend(passage.sentences.iter().map(|_| this));
            packed.passage_sentences.push(packed.sentence_passage.len() as u32);
        }
        packed.document_passages.push(packed.passage_document.len() as u32);
    }
}

/// A name of several words that stands in lower case less than once in so many times may do so in a question.
const LOWER_SHARE: u32 = 5;

/// Mentions by number, passage after passage.
pub(super) struct Found {
    keys: Interned<EntityOrdinal>,
    cues: Interned<CueOrdinal>,
    /// Where the mentions of each passage end.
    ends: Vec<u32>,
    mentions: Vec<Mention>,
    /// How often names of several words stand in lower case.
    lower: FxHashMap<String, u32>,
}

impl Found {
    /// Starts with the names that documents bear: they are entities whether or not they are mentioned.
    pub(super) fn of(names: &Names) -> Self {
        let mut keys = Interned::default();
        for key in names.bearers.keys() {
            keys.number(key);
        }
        Self { keys, cues: Interned::default(), ends: Vec::new(), mentions: Vec::new(), lower: FxHashMap::default() }
    }

    /// Adds the mentions of the next passage.
    pub(super) fn add(&mut self, found: PassageMentions) {
        let keys: Vec<u32> = found.keys.into_iter().map(|key| self.keys.number(&key)).collect();
        // Of the words of a passage, those around mentions.
        let mut cues = vec![None; found.cues.len()];
        for mention in found.mentions {
            let numbered = mention.cues.map(|cue| {
                let cue = cue? as usize;
                Some(*cues[cue].get_or_insert_with(|| self.cues.number(&found.cues[cue])))
            });
            self.mentions.push(Mention { key: keys[mention.key as usize], cues: numbered, ..mention });
        }
        for key in found.lower {
            *self.lower.entry(key).or_default() += 1;
        }
        self.ends.push(self.mentions.len() as u32);
    }
}

/// Numbers entities and cues in order, and lays out bearers, own names, mentions and postings; returns where each
/// mention stands, and who found it.
pub(super) fn mentions(names: &Names, found: Found, packed: &mut PackedGraph) -> (Vec<Span>, Vec<u8>) {
    let (entities, entity_places) = found.keys.sorted();
    let (cues, cue_places) = found.cues.sorted();
    (packed.entity_name_ends, packed.entity_names) = back_to_back(&entities);
    (packed.cue_ends, packed.cue_prefixes) = back_to_back(&cues);
    bearers(names, &entities, packed);
    let mentions = rows_of_mentions(found.mentions, &found.ends, (&entity_places, &cue_places), packed);
    postings(entities.len(), packed);
    flags(names, &found.lower, &entities, packed);
    (mentions.iter().map(|mention| mention.span).collect(), mentions.iter().map(|mention| mention.origin).collect())
}

/// Says which names a question may use how.
fn flags(names: &Names, lower: &FxHashMap<String, u32>, entities: &[String], packed: &mut PackedGraph) {
    let mentioned = packed.entity_mentions.windows(2).map(|ends| ends[1] - ends[0]);
    let flags = entities.iter().zip(mentioned).map(|(key, mentioned)| {
        if !key.contains(' ') {
            return if names.cases.is_name_in_question(key) { entity_flag::SINGLE_IN_QUESTION } else { 0 };
        }
        let telling = key.split(' ').filter(|word| !is_stop_word(word)).count();
        let lower = lower.get(key).copied().unwrap_or(0);
        let is_rarely_lower = LOWER_SHARE * lower <= mentioned + 1;
        if telling >= 2 && is_rarely_lower { entity_flag::LOWER_IN_QUESTION } else { 0 }
    });
    packed.entity_flags = flags.collect();
}

fn bearers(names: &Names, entities: &[String], packed: &mut PackedGraph) {
    packed.entity_bearers.push(0);
    for key in entities {
        for &(document, kind) in names.bearers.get(key).map_or(&[][..], Vec::as_slice) {
            packed.bearer_document.push(DocumentOrdinal(document));
            packed.bearer_passage.push(PassageOrdinal(packed.document_passages[document as usize]));
            packed.bearer_kind.push(number_of(kind));
        }
        packed.entity_bearers.push(packed.bearer_document.len() as u32);
    }
    pack_own(packed);
}

const fn number_of(kind: NameKind) -> u32 {
    match kind {
        NameKind::Title => name_kind::TITLE,
        NameKind::BareTitle => name_kind::BARE_TITLE,
        NameKind::BeforeComma => name_kind::BEFORE_COMMA,
        NameKind::Lead => name_kind::LEAD,
        NameKind::Main => name_kind::MAIN,
        NameKind::First => name_kind::FIRST,
    }
}

fn rows_of_mentions(
    mut mentions: Vec<Mention>,
    ends: &[u32],
    (entities, cues): (&[EntityOrdinal], &[CueOrdinal]),
    packed: &mut PackedGraph,
) -> Vec<Mention> {
    packed.passage_mentions = std::iter::once(0).chain(ends.iter().copied()).collect();
    for passage in PassageOrdinal::first(ends.len()) {
        let first = packed.passage_sentences[passage.index()];
        let own = &mut mentions[row(&packed.passage_mentions, passage)];
        own.sort_by_key(|mention| (entities[mention.key as usize], mention.sentence));
        for mention in own {
            packed.mention_entity.push(entities[mention.key as usize]);
            packed.mention_sentence.push(SentenceOrdinal(first + mention.sentence));
            packed.mention_cues.extend(mention.cues.map(|cue| cue.map_or(NO_CUE, |cue| cues[cue as usize])));
        }
    }
    mentions
}
