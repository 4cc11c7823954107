//! Names and mentions as flat arrays.

use super::find::{Mention, PassageMentions};
use super::{Mentioned, NamedDocument, Names, PackedNameStatistics};
use crate::graph::elements::{Interned, own_names, postings};
use crate::graph::ordinal::{
    CueOrdinal, DocumentOrdinal, EntityOrdinal, Ordinal as _, PassageOrdinal, SentenceOrdinal,
};
use crate::graph::packed::{CUES, NO_CUE, PackedGraph, PassageGraph, back_to_back, entity_flag, row};
use crate::text::is_stop_word;

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
    /// Names of several words where passages have them in lower case, and where those of each passage end.
    lower: Vec<u32>,
    lower_ends: Vec<u32>,
    /// Passages with more mentions than they may have.
    cut: Vec<PassageOrdinal>,
}

impl Found {
    /// Starts with the names that documents bear: they are entities whether or not they are mentioned.
    pub(super) fn of(names: &Names) -> Self {
        let mut keys = Interned::default();
        for key in names.bearers.keys() {
            keys.number(key);
        }
        let (ends, mentions) = (Vec::new(), Vec::new());
        let (lower, lower_ends, cut) = (Vec::new(), Vec::new(), Vec::new());
        Self { keys, cues: Interned::default(), ends, mentions, lower, lower_ends, cut }
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
        self.lower.extend(found.lower.iter().map(|key| self.keys.number(key)));
        self.lower_ends.push(self.lower.len() as u32);
        if found.is_cut {
            self.cut.push(PassageOrdinal::at(self.ends.len()));
        }
        self.ends.push(self.mentions.len() as u32);
    }
}

/// Numbers entities and cues in order, and lays out bearers, own names, mentions and postings; returns who found each
/// mention, and by what.
pub(super) fn mentions(
    names: &Names,
    found: Found,
    mut statistics: PackedNameStatistics,
    packed: &mut PackedGraph,
) -> Mentioned {
    let (entities, entity_places) = found.keys.sorted();
    let (cues, cue_places) = found.cues.sorted();
    (packed.entity_name_ends, packed.entity_names) = back_to_back(&entities);
    (packed.cue_ends, packed.cue_prefixes) = back_to_back(&cues);
    drop((entities, cues));
    let mentions = rows_of_mentions(found.mentions, &found.ends, (&entity_places, &cue_places), packed);
    statistics.passage_lower = std::iter::once(0).chain(found.lower_ends).collect();
    statistics.lower_entity = found.lower.iter().map(|key| entity_places[*key as usize]).collect();
    statistics.passage_cut = found.cut;
    finish(names, &mut statistics, packed);
    Mentioned { origins: mentions.iter().map(|mention| mention.origin).collect(), statistics }
}

/// Lays out what follows from mentions and from what documents bear.
pub(super) fn finish(names: &Names, statistics: &mut PackedNameStatistics, packed: &mut PackedGraph) {
    let entities = packed.entity_name_ends.len();
    statistics.add_shared(&names.shared);
    let graph = packed.view();
    let (posted, borne) = rayon::join(|| postings(entities, &graph), || bearers(names, &graph));
    *packed = std::mem::take(packed).or(posted).or(borne);
    flags(names, &statistics.lower_counts(entities), packed);
}

/// Says which names a question may use how.
fn flags(names: &Names, lower: &[u32], packed: &mut PackedGraph) {
    let graph = packed.view();
    let keys = graph.names();
    let flag = |entity: EntityOrdinal| {
        let key = keys.get(entity);
        if !key.contains(' ') {
            return if names.cases.is_name_in_question(key) { entity_flag::SINGLE_IN_QUESTION } else { 0 };
        }
        let telling = key.split(' ').filter(|word| !is_stop_word(word)).count();
        let mentioned = graph.entity_mentions.of(entity).len() as u32;
        let is_rarely_lower = LOWER_SHARE * lower[entity.index()] <= mentioned + 1;
        if telling >= 2 && is_rarely_lower { entity_flag::LOWER_IN_QUESTION } else { 0 }
    };
    packed.entity_flags = graph.entity_name_ends.ordinals().map(flag).collect();
}

/// Returns the documents that bear each name, and the names of each document.
fn bearers(names: &Names, graph: &PassageGraph<'_>) -> PackedGraph {
    let keys = graph.names();
    let mut borne = PackedGraph { entity_bearers: vec![0], ..PackedGraph::default() };
    for entity in graph.entity_name_ends.ordinals() {
        for &(document, kind) in names.bearers.get(keys.get(entity)).map_or(&[][..], Vec::as_slice) {
            borne.bearer_document.push(DocumentOrdinal(document));
            borne.bearer_passage.push(PassageOrdinal(graph.document_passages.items()[document as usize]));
            borne.bearer_kind.push(kind as u32);
        }
        borne.entity_bearers.push(borne.bearer_document.len() as u32);
    }
    (borne.document_own, borne.own_entity) = own_names(graph.document_count(), &borne.view());
    borne
}

fn rows_of_mentions(
    mut mentions: Vec<Mention>,
    ends: &[u32],
    (entities, cues): (&[EntityOrdinal], &[CueOrdinal]),
    packed: &mut PackedGraph,
) -> Vec<Mention> {
    packed.passage_mentions = std::iter::once(0).chain(ends.iter().copied()).collect();
    // There may be millions.
    packed.mention_entity.reserve_exact(mentions.len());
    packed.mention_sentence.reserve_exact(mentions.len());
    packed.mention_cues.reserve_exact(CUES * mentions.len());
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
