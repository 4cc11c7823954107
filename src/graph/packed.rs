//! The structure of an index as flat arrays, which a snapshot maps from disk and a cache fills from a database.
//!
//! Elements are identified by [ordinal](super::ordinal). Lists of lists are in compressed rows: `rows[i]..rows[i + 1]`
//! bounds the items of `i`. The only texts are names and keywords, which queries look up.

use super::arrays::Elsewhere;
use super::ordinal::{
    BearerOrdinal, Column, CueOrdinal, DocumentOrdinal, EdgeOrdinal, EntityOrdinal, IncomingOrdinal, KeywordOrdinal,
    MentionOrdinal, Ordinal, Ordinals, OutgoingOrdinal, PassageOrdinal, Position, PostingOrdinal, Rows,
    SentenceOrdinal,
};
use crate::domain::Counts;

/// How a passage has a name; smaller is stronger.
pub mod name_kind {
    /// The document's title.
    pub const TITLE: u32 = 0;
    /// The title without a parenthesis at its end.
    pub const BARE_TITLE: u32 = 1;
    /// The title up to its comma: often a place, shared by many.
    pub const BEFORE_COMMA: u32 = 2;
    /// The subject of the first sentence, or another name that the sentence gives to it.
    pub const LEAD: u32 = 3;
    /// The run that a document without title and subject capitalizes most.
    pub const MAIN: u32 = 4;
    /// The run that it capitalizes first.
    pub const FIRST: u32 = 5;
}

/// Bits of [`PackedGraph::entity_flags`].
pub mod entity_flag {
    /// A name of one word that a question may use capitalised: rarely a common word.
    pub const SINGLE_IN_QUESTION: u32 = 1;
    /// A name of several words that a question may use in lower case: texts rarely do.
    pub const LOWER_IN_QUESTION: u32 = 2;
}

/// Words kept before a mention.
pub const CUES_BEFORE: usize = 8;
/// Words kept after a mention.
pub const CUES_AFTER: usize = 3;
/// Words kept around a mention.
pub const CUES: usize = CUES_BEFORE + CUES_AFTER;
/// No word.
pub const NO_CUE: CueOrdinal = CueOrdinal(u32::MAX);

arrays! {
    PackedGraph, PassageGraph;

    /// Passages of document `d`: passages are numbered document by document.
    document_passages: Rows<DocumentOrdinal, PassageOrdinal> = "document.passages" [rows documents passage_document],
    /// The document of each passage.
    passage_document: Column<PassageOrdinal, DocumentOrdinal> = "passage.document" [below documents],
    /// Sentences of passage `p`: sentences are numbered passage by passage.
    passage_sentences: Rows<PassageOrdinal, SentenceOrdinal> = "passage.sentences"
        [rows passage_document sentence_passage],
    /// The passage of each sentence.
    sentence_passage: Column<SentenceOrdinal, PassageOrdinal> = "sentence.passage" [below passage_document],
    /// Terms in each passage's lexical field (title twice, text once).
    passage_length: Column<PassageOrdinal, u32> = "passage.length" [each passage_document],
    /// Terms in each sentence's lexical field (title once, sentence once).
    sentence_length: Column<SentenceOrdinal, u32> = "sentence.length" [each sentence_passage],

    /// Ends of the entity names in `entity_names`; entities are numbered in the order of their folded names,
    /// and several may have one.
    entity_name_ends: Column<EntityOrdinal, u32> = "entity.name-ends" [ends entity_names],
    /// Folded names of entities, words joined by one space, back to back.
    entity_names: Column<Position, u8> = "entity.names" [],
    /// Documents that mention each entity.
    entity_documents: Column<EntityOrdinal, u32> = "entity.documents" [each entity_name_ends],
    /// Bits of [`entity_flag`].
    entity_flags: Column<EntityOrdinal, u32> = "entity.flags" [each entity_name_ends],
    /// Bearers of each entity's name: rows of `bearer_document`.
    entity_bearers: Rows<EntityOrdinal, BearerOrdinal> = "entity.bearers" [rows entity_name_ends bearer_document],
    /// The document with the name.
    bearer_document: Column<BearerOrdinal, DocumentOrdinal> = "bearer.document" [below documents],
    /// The passage that speaks for the name in that document.
    bearer_passage: Column<BearerOrdinal, PassageOrdinal> = "bearer.passage"
        [each bearer_document, below passage_document],
    /// How it has it: [`name_kind`].
    bearer_kind: Column<BearerOrdinal, u32> = "bearer.kind" [each bearer_document],
    /// Names of each document: rows of `own_entity`.
    document_own: Rows<DocumentOrdinal, Position> = "document.own" [rows documents own_entity],
    /// A name of the document: entities whose mention in it is a mention of itself.
    own_entity: Column<Position, EntityOrdinal> = "own.entity" [below entity_name_ends],

    /// Mentions in each passage: rows of `mention_entity`, ordered by entity, then sentence.
    passage_mentions: Rows<PassageOrdinal, MentionOrdinal> = "passage.mentions" [rows passage_document mention_entity],
    /// The entity mentioned.
    mention_entity: Column<MentionOrdinal, EntityOrdinal> = "mention.entity" [below entity_name_ends],
    /// The sentence, numbered over the whole index.
    mention_sentence: Column<MentionOrdinal, SentenceOrdinal> = "mention.sentence"
        [each mention_entity, below sentence_passage],
    /// Cues around each mention, [`CUES`] a mention: the nearest word before first, then the words after; [`NO_CUE`]
    /// pads.
    mention_cues: Column<Position, CueOrdinal> = "mention.cues" [around mention_entity cue_ends],
    /// Where each entity is mentioned: rows of `posting_mention`.
    entity_mentions: Rows<EntityOrdinal, PostingOrdinal> = "entity.mentions" [rows entity_name_ends posting_mention],
    /// The mention, as an index into `mention_entity`; ordered by passage.
    posting_mention: Column<PostingOrdinal, MentionOrdinal> = "posting.mention" [below mention_entity],
    /// The passage of each posting.
    posting_passage: Column<PostingOrdinal, PassageOrdinal> = "posting.passage"
        [each posting_mention, below passage_document],
    /// Ends of the cue prefixes in `cue_prefixes`; cues are numbered in order.
    cue_ends: Column<CueOrdinal, u32> = "cue.ends" [ends cue_prefixes],
    /// Stem prefixes of the words around mentions, back to back.
    cue_prefixes: Column<Position, u8> = "cue.prefixes" [],

    /// In-coming questions of each passage: they are numbered passage by passage.
    passage_incoming: Rows<PassageOrdinal, IncomingOrdinal> = "passage.incoming"
        [rows passage_document incoming_passage],
    /// The passage that answers each in-coming question.
    incoming_passage: Column<IncomingOrdinal, PassageOrdinal> = "incoming.passage" [below passage_document],
    /// Keywords of each in-coming question: rows of `incoming_keyword`.
    incoming_keywords: Rows<IncomingOrdinal, Position> = "incoming.keywords" [rows incoming_passage incoming_keyword],
    /// A keyword of an in-coming question.
    incoming_keyword: Column<Position, KeywordOrdinal> = "incoming.keyword" [below keyword_ends],
    /// The sentence of its passage that each in-coming question was made from.
    incoming_sentence: Column<IncomingOrdinal, u32> = "incoming.sentence" [each incoming_passage],
    /// The sentence of its passage that each out-coming question was made from.
    outgoing_sentence: Column<OutgoingOrdinal, u32> = "outgoing.sentence" [each outgoing],
    /// Keywords of each out-coming question: rows of `outgoing_keyword`.
    outgoing_keywords: Rows<OutgoingOrdinal, Position> = "outgoing.keywords" [rows outgoing outgoing_keyword],
    /// A keyword of an out-coming question.
    outgoing_keyword: Column<Position, KeywordOrdinal> = "outgoing.keyword" [below keyword_ends],
    /// Ends of the keywords in `keyword_texts`; keywords are numbered in order.
    keyword_ends: Column<KeywordOrdinal, u32> = "keyword.ends" [ends keyword_texts],
    /// Keywords, back to back.
    keyword_texts: Column<Position, u8> = "keyword.texts" [],
    /// Keywords of each passage (of its names, mentions and questions): rows of `passage_keyword`.
    passage_keywords: Rows<PassageOrdinal, Position> = "passage.keywords" [rows passage_document passage_keyword],
    /// A keyword of a passage, ascending in each row.
    passage_keyword: Column<Position, KeywordOrdinal> = "passage.keyword" [below keyword_ends],

    /// Question edges that leave each passage: rows of `edge_target`, best first.
    passage_edges: Rows<PassageOrdinal, EdgeOrdinal> = "passage.edges" [rows passage_document edge_target],
    /// The passage that an edge leads to.
    edge_target: Column<EdgeOrdinal, PassageOrdinal> = "edge.target" [below passage_document],
    /// The in-coming question of an edge.
    edge_incoming: Column<EdgeOrdinal, IncomingOrdinal> = "edge.incoming" [each edge_target, below incoming_passage],
    /// The out-coming question of an edge.
    edge_outgoing: Column<EdgeOrdinal, OutgoingOrdinal> = "edge.outgoing" [each edge_target, below outgoing],
    /// SIM of an edge's questions.
    edge_similarity: Column<EdgeOrdinal, f32> = "edge.similarity" [each edge_target],
    /// Keywords of each edge, of both its questions: rows of `edge_keyword`.
    edge_keywords: Rows<EdgeOrdinal, Position> = "edge.keywords" [rows edge_target edge_keyword],
    /// A keyword of an edge, ascending in each row.
    edge_keyword: Column<Position, KeywordOrdinal> = "edge.keyword" [below keyword_ends],
}

/// Returns the items of `owner` in an array in which they begin at `rows[owner]`.
#[must_use]
pub fn row<K: Ordinal>(rows: &[u32], owner: K) -> std::ops::Range<usize> {
    rows[owner.index()] as usize..rows[owner.index() + 1] as usize
}

/// Returns the ends of texts laid back to back, and their bytes.
#[must_use]
pub fn back_to_back<T: AsRef<str>>(texts: &[T]) -> (Vec<u32>, Vec<u8>) {
    let mut bytes = Vec::new();
    let mut ends = Vec::with_capacity(texts.len());
    for text in texts {
        bytes.extend_from_slice(text.as_ref().as_bytes());
        ends.push(bytes.len() as u32);
    }
    (ends, bytes)
}

/// Returns one of the texts stored back to back.
#[must_use]
pub fn text_at<'a, K: Ordinal>(ends: &[u32], texts: &'a [u8], at: K) -> &'a str {
    std::str::from_utf8(bytes_at(ends, texts, at)).unwrap_or_default()
}

/// Texts stored back to back, checked all at once: [`text_at`] checks each whenever it is read.
#[derive(Debug, Clone, Copy)]
pub struct TextList<'a, K> {
    ends: Column<'a, K, u32>,
    texts: &'a str,
}

impl<'a, K: Ordinal> TextList<'a, K> {
    /// Returns the texts that end at `ends`; each is empty if not all are text.
    #[must_use]
    pub fn of(ends: Column<'a, K, u32>, texts: &'a [u8]) -> Self {
        Self { ends, texts: std::str::from_utf8(texts).unwrap_or_default() }
    }

    /// Returns a text.
    #[must_use]
    pub fn get(&self, at: K) -> &'a str {
        let start = at.index().checked_sub(1).map_or(0, |before| self.ends.items()[before] as usize);
        self.texts.get(start..self.ends[at] as usize).unwrap_or_default()
    }

    /// Returns whether each comes after the one before it.
    #[must_use]
    pub fn is_ascending(&self) -> bool {
        self.ends.ordinals().map(|at| self.get(at)).is_sorted_by(|one, next| one < next)
    }
}

/// Returns the bytes of one of the texts stored back to back: they order texts as the texts themselves do.
pub(super) fn bytes_at<'a, K: Ordinal>(ends: &[u32], texts: &'a [u8], at: K) -> &'a [u8] {
    let start = at.index().checked_sub(1).map_or(0, |before| ends[before] as usize);
    &texts[start..ends[at.index()] as usize]
}

/// Returns those equal to `text` among sorted texts stored back to back.
#[must_use]
pub fn equal_texts<K: Ordinal>(ends: &[u32], texts: &[u8], text: &str) -> Ordinals<K> {
    let (text, mut low, mut high) = (text.as_bytes(), 0, ends.len() as u32);
    while low < high {
        let middle = low.midpoint(high);
        if bytes_at(ends, texts, middle) < text {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let equal = (low..ends.len() as u32).take_while(|at| bytes_at(ends, texts, *at) == text);
    Ordinals::between(low, low + equal.count() as u32)
}

impl<'a> PassageGraph<'a> {
    /// Checks that every array keeps its rules, of a graph whose edges name `outgoing` out-coming questions.
    ///
    /// # Errors
    ///
    /// The name of an array that breaks a rule, and the rule.
    pub fn check(&self, outgoing: usize) -> Result<(), (&'static str, &'static str)> {
        self.check_arrays(Elsewhere { documents: self.document_count(), outgoing, ..Elsewhere::default() })
    }

    /// Returns how many passages there are.
    #[must_use]
    pub fn passage_count(&self) -> usize {
        self.passage_document.len()
    }

    /// Counts what it has: all but titles, raised questions and the hierarchy.
    pub(crate) fn counts(&self) -> Counts {
        Counts {
            documents: self.document_count() as u64,
            passages: self.passage_count() as u64,
            sentences: self.sentence_count() as u64,
            incoming: self.incoming_passage.len() as u64,
            edges: self.edge_target.len() as u64,
            entities: self.entity_name_ends.len() as u64,
            mentions: self.mention_entity.len() as u64,
            ..Counts::default()
        }
    }

    /// Returns how many documents there are.
    #[must_use]
    pub fn document_count(&self) -> usize {
        self.document_passages.items().len().saturating_sub(1)
    }

    /// Returns the documents.
    #[must_use]
    pub fn documents(&self) -> Ordinals<DocumentOrdinal> {
        DocumentOrdinal::first(self.document_count())
    }

    /// Returns the passages.
    #[must_use]
    pub fn passages(&self) -> Ordinals<PassageOrdinal> {
        self.passage_document.ordinals()
    }

    /// Returns how many sentences there are.
    #[must_use]
    pub fn sentence_count(&self) -> usize {
        self.sentence_passage.len()
    }

    /// Returns the folded name of an entity.
    #[must_use]
    pub fn entity_name(&self, entity: EntityOrdinal) -> &'a str {
        text_at(&self.entity_name_ends, self.entity_names.items(), entity)
    }

    /// Returns the folded names of all entities, to read many of them.
    #[must_use]
    pub fn names(&self) -> TextList<'a, EntityOrdinal> {
        TextList::of(self.entity_name_ends, self.entity_names.items())
    }

    /// Returns the entities of a folded name, which are consecutive.
    #[must_use]
    pub fn entities(&self, name: &str) -> Ordinals<EntityOrdinal> {
        equal_texts(&self.entity_name_ends, &self.entity_names, name)
    }

    /// Returns the first entity of a folded name.
    #[must_use]
    pub fn entity(&self, name: &str) -> Option<EntityOrdinal> {
        self.entities(name).next()
    }

    /// Returns the first entity of each name of another graph, as [`Self::entity`] does for one. Both have their names
    /// in order, so that none is searched for.
    #[must_use]
    pub fn entities_of(&self, other: &PassageGraph<'_>) -> Vec<Option<EntityOrdinal>> {
        let mut next = self.entity_name_ends.ordinals().peekable();
        let own = |entity: EntityOrdinal| bytes_at(&self.entity_name_ends, self.entity_names.items(), entity);
        let find = |entity| {
            let name = bytes_at(&other.entity_name_ends, other.entity_names.items(), entity);
            while next.next_if(|it| own(*it) < name).is_some() {}
            next.peek().copied().filter(|it| own(*it) == name)
        };
        other.entity_name_ends.ordinals().map(find).collect()
    }

    /// Returns the words around a mention: the nearest word before first, then the words after; [`NO_CUE`] pads. A
    /// graph [by entities](super::resolution::resolved) has none.
    #[must_use]
    pub fn cues(&self, mention: MentionOrdinal) -> &'a [CueOrdinal] {
        let start = mention.index() * CUES;
        self.mention_cues.items().get(start..start + CUES).unwrap_or_default()
    }

    /// Returns the ordinal of a cue prefix.
    #[must_use]
    pub fn cue(&self, prefix: &str) -> Option<CueOrdinal> {
        equal_texts(&self.cue_ends, &self.cue_prefixes, prefix).next()
    }

    /// Returns the ordinal of a keyword.
    #[must_use]
    pub fn keyword(&self, text: &str) -> Option<KeywordOrdinal> {
        equal_texts(&self.keyword_ends, &self.keyword_texts, text).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_come_back_as_the_arrays_they_were() {
        let packed = PackedGraph {
            passage_document: [0, 0, 1].map(DocumentOrdinal).into(),
            edge_similarity: vec![0.5],
            ..PackedGraph::default()
        };
        let sections = packed.sections();
        let find = |name: &str| sections.iter().find(|(it, _)| *it == name).map(|(_, bytes)| *bytes);
        assert_eq!(PassageGraph::from_sections(find), Ok(packed.view()));
        assert_eq!(PassageGraph::from_sections(|_| None), Err("document.passages"));
    }

    #[test]
    fn a_text_is_found_among_texts_in_order() {
        let (ends, texts) = (vec![1, 3, 6], b"abbccc");
        let found = |text| equal_texts::<KeywordOrdinal>(&ends, texts, text);
        let list = TextList::<KeywordOrdinal>::of(Column::new(&ends), texts);
        assert_eq!([0, 1, 2].map(|at| list.get(KeywordOrdinal(at))), ["a", "bb", "ccc"]);
        assert!(list.is_ascending());
        assert!(!TextList::<KeywordOrdinal>::of(Column::new(&ends), b"bbbaaa").is_ascending());
        assert!(!TextList::<KeywordOrdinal>::of(Column::new(&[1, 2]), b"aa").is_ascending());
        assert_eq!(TextList::<KeywordOrdinal>::of(Column::new(&ends), b"ab\xffccc").get(KeywordOrdinal(0)), "");
        assert_eq!(found("bb").collect::<Vec<_>>(), [1]);
        assert_eq!(["a", "b", "d"].map(|text| found(text).len()), [1, 0, 0]);
        assert_eq!(text_at(&ends, texts, KeywordOrdinal(2)), "ccc");
    }

    #[test]
    fn several_entities_may_have_one_name() {
        let packed = PackedGraph {
            entity_name_ends: vec![1, 3, 5, 6],
            entity_names: b"abbbbc".to_vec(),
            ..PackedGraph::default()
        };
        let graph = packed.view();
        assert_eq!(graph.entities("bb").collect::<Vec<_>>(), [1, 2]);
        assert_eq!(graph.entity("bb"), Some(EntityOrdinal(1)));
        assert!(graph.entities("b").is_empty());
    }
}
