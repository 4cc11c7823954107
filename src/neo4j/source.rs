//! A version of a workspace as nodes and relationships.

use std::ops::Range;

use super::element::{EMBEDDING, Element, Key, Kind, NO_WORD, Properties, Value};
use crate::domain::{EdgeId, EntityId, QuestionId, Span};
use crate::error::{Error, Result};
use crate::graph::packed::{CUES, CUES_BEFORE, NO_CUE, PassageGraph, entity_flag, row, text_at};
use crate::store::{GraphReader as _, VectorField, Vectors};
use crate::workspace::{DocumentUnit, Records, Snapshot};

/// Characters of a passage that name it.
const NAME_CHARACTERS: usize = 60;
/// What the keys of the lexicon's parts are made of.
const LEXICON: &[u8] = b"lexicon";
/// Terms in a part of the lexicon, about.
const LEXICON_TERMS: usize = 1_024;
/// The stage that units are of.
const STAGE: &str = "passages";

/// A version of a workspace, element by element. Elements of a kind are numbered from 0.
pub(super) struct Source<'a> {
    snapshot: &'a Snapshot,
    records: &'a Records,
    graph: PassageGraph<'a>,
    /// Passages that another of the same document follows.
    followed: Vec<u32>,
    /// Passages and their mentions of one entity.
    mentions: Vec<(u32, Range<u32>)>,
    /// The passage that each question edge leaves.
    edge_from: Vec<u32>,
    /// Names that a passage bears, and how, in the order of passages.
    names: Vec<(u32, u32, u32)>,
    /// In parts.
    lexicon: Vec<LexiconPart>,
    vectors: FieldVectors<'a>,
}

/// The vectors of a version, checked.
struct FieldVectors<'a> {
    passages: Vectors<'a>,
    sentences: Vectors<'a>,
    incoming: Vectors<'a>,
    outgoing: Vectors<'a>,
}

impl<'a> FieldVectors<'a> {
    fn of(snapshot: &'a Snapshot) -> Result<Self> {
        Ok(Self {
            passages: snapshot.vectors(VectorField::Passage)?,
            sentences: snapshot.vectors(VectorField::Sentence)?,
            incoming: snapshot.vectors(VectorField::Incoming)?,
            outgoing: snapshot.outgoing_vectors()?,
        })
    }
}

/// A part of what the whole collection says of single words.
#[derive(Default)]
struct LexiconPart {
    /// Terms with how many passages and sentences have each.
    terms: Vec<(String, u32, u32)>,
    /// Keywords of questions that are no names.
    keywords: Vec<String>,
}

impl<'a> Source<'a> {
    /// # Errors
    ///
    /// If the version cannot be read.
    pub(super) fn new(snapshot: &'a Snapshot, records: &'a Records) -> Result<Self> {
        let graph = snapshot.graph();
        let passages = 0..graph.passage_count() as u32;
        let document = |passage: u32| graph.passage_document.get(passage as usize);
        let followed = passages.clone().filter(|it| document(*it) == document(*it + 1)).collect();
        let mut mentions: Vec<(u32, Range<u32>)> = Vec::new();
        for passage in passages.clone() {
            for mention in row(graph.passage_mentions, passage).map(|it| it as u32) {
                let entity = graph.mention_entity[mention as usize];
                let same = mentions
                    .last_mut()
                    .filter(|(last, found)| *last == passage && graph.mention_entity[found.start as usize] == entity);
                match same {
                    Some((_, found)) => found.end = mention + 1,
                    None => mentions.push((passage, mention..mention + 1)),
                }
            }
        }
        let edge_from = passages.flat_map(|passage| row(graph.passage_edges, passage).map(move |_| passage)).collect();
        let mut names = Vec::new();
        for entity in 0..graph.entity_documents.len() as u32 {
            let bearers = row(graph.entity_bearers, entity);
            names.extend(bearers.map(|it| (graph.bearer_passage[it], entity, graph.bearer_kind[it])));
        }
        names.sort_unstable();
        let (lexicon, vectors) = (lexicon(snapshot)?, FieldVectors::of(snapshot)?);
        Ok(Self { snapshot, records, graph, followed, mentions, edge_from, names, lexicon, vectors })
    }

    /// Returns how many elements of a kind there are.
    pub(super) fn count(&self, kind: Kind) -> u32 {
        let count = match kind {
            Kind::Document | Kind::Unit => self.graph.document_count(),
            Kind::Passage | Kind::PartOf => self.graph.passage_count(),
            Kind::Incoming | Kind::AnsweredBy => self.graph.incoming_passage.len(),
            Kind::Outgoing | Kind::Asks => self.snapshot.outgoing_passages().len(),
            Kind::Entity => self.graph.entity_documents.len(),
            Kind::Lexicon => self.lexicon.len(),
            Kind::Next => self.followed.len(),
            Kind::LeadsTo => self.edge_from.len(),
            Kind::MentionedIn => self.mentions.len(),
            Kind::Names => self.names.len(),
        };
        count as u32
    }

    /// Returns an element.
    pub(super) fn element(&self, kind: Kind, number: u32) -> Result<Element> {
        Ok(match kind {
            Kind::Document => self.document(number)?,
            Kind::Unit => self.unit(number)?,
            Kind::Passage => self.passage(number)?,
            Kind::Incoming => self.incoming(number),
            Kind::Outgoing => self.outgoing(number),
            Kind::Entity => self.entity(number),
            Kind::Lexicon => self.lexicon_part(number),
            Kind::PartOf => {
                let document = self.document_key(self.graph.passage_document[number as usize])?;
                relationship(kind, self.passage_key(number), document)
            }
            Kind::Next => {
                let passage = self.followed[number as usize];
                relationship(kind, self.passage_key(passage), self.passage_key(passage + 1))
            }
            Kind::AnsweredBy => {
                let passage = self.passage_key(self.graph.incoming_passage[number as usize]);
                relationship(kind, *self.snapshot.incoming_id(number).as_bytes(), passage)
            }
            Kind::Asks => {
                let passage = self.passage_key(self.snapshot.outgoing_passages()[number as usize]);
                relationship(kind, passage, *self.snapshot.outgoing_id(number).as_bytes())
            }
            Kind::LeadsTo => self.edge(number),
            Kind::MentionedIn => self.mention(number),
            Kind::Names => self.name(number),
        })
    }

    fn passage_key(&self, passage: u32) -> Key {
        *self.snapshot.passage_id(passage).as_bytes()
    }

    fn document_key(&self, document: u32) -> Result<Key> {
        Ok(*self.snapshot.document(document)?.document.as_bytes())
    }

    fn document(&self, number: u32) -> Result<Element> {
        let document = self.snapshot.document(number)?;
        let mut properties = Properties::default();
        properties.put_text("name", document.caption());
        properties.put_text("sourceId", document.source_id);
        if let Some(title) = document.title {
            properties.put_text("title", title);
        }
        properties.put_text("uri", document.uri);
        properties.put_text("mediaType", document.media_type);
        let passages = row(self.graph.document_passages, number).len();
        properties.put("passages", integer(passages as u32));
        if !document.metadata.is_empty() {
            let metadata =
                serde_json::to_string(&document.metadata).map_err(|error| Error::Internal(error.to_string()))?;
            properties.put_text("metadata", metadata);
        }
        Ok(Element { key: *document.document.as_bytes(), ends: None, properties })
    }

    /// Returns what a workspace needs to go on from, and a reader does not: the text, the marker, the vectors.
    fn unit(&self, number: u32) -> Result<Element> {
        let document = self.snapshot.document(number)?;
        let missing = || Error::Internal(format!("document `{}` is not in the records", document.document));
        let unit = self.records.document_unit(document.document)?.ok_or_else(missing)?;
        let mut properties = Properties::default();
        properties.put_text("name", document.caption());
        properties.put_text("stage", STAGE);
        properties.put_text("content", blake3::Hash::from_bytes(unit.content).to_hex().as_str());
        let DocumentUnit { root, fingerprint, document: whole, passages, .. } = unit;
        if passages.iter().any(|it| it.writer.is_some()) {
            let writers = passages.into_iter().map(|it| it.writer.unwrap_or_default());
            properties.put("writers", Value::Texts(writers.collect()));
        }
        properties.put_text("root", root);
        properties.put_text("fingerprint", fingerprint);
        properties.put_text("text", whole.text);
        properties.put("vectors", Value::Bytes(self.question_vectors(number)));
        Ok(Element { key: *document.document.as_bytes(), ends: None, properties })
    }

    /// Returns the vectors of a passage and of its sentences as the workspace keeps them, each a scale and its codes.
    fn passage_vectors(&self, passage: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        add_vectors(&self.vectors.passages, passage as usize..passage as usize + 1, &mut bytes);
        add_vectors(&self.vectors.sentences, row(self.graph.passage_sentences, passage), &mut bytes);
        bytes
    }

    /// Returns the vectors of a document's questions, in-coming before out-coming ones.
    fn question_vectors(&self, document: u32) -> Vec<u8> {
        let graph = &self.graph;
        let passages = row(graph.document_passages, document);
        let within = |rows: &[u32]| rows[passages.start] as usize..rows[passages.end] as usize;
        let asks = self.snapshot.outgoing_passages();
        let asked = |passage: usize| asks.partition_point(|it| (*it as usize) < passage);
        let mut bytes = Vec::new();
        add_vectors(&self.vectors.incoming, within(graph.passage_incoming), &mut bytes);
        add_vectors(&self.vectors.outgoing, asked(passages.start)..asked(passages.end), &mut bytes);
        bytes
    }

    fn passage(&self, number: u32) -> Result<Element> {
        let graph = &self.graph;
        let document = graph.passage_document[number as usize];
        let passage = self.snapshot.passage(number)?;
        let ordinal = number - graph.document_passages[document as usize];
        let mut properties = Properties::default();
        properties.put_text("name", beginning(&passage.text));
        properties.put_text("title", self.snapshot.document(document)?.caption());
        if let Some(section) = passage.section {
            properties.put_text("section", section);
        }
        properties.put("ordinal", integer(ordinal));
        properties.put("start", integer(passage.span.start));
        properties.put("end", integer(passage.span.end));
        properties.put("sentences", Value::Integers(passage.sentences.iter().flat_map(bounds).collect()));
        properties.put_text("text", passage.text);
        properties.put("keywords", self.keywords(graph.passage_keywords, graph.passage_keyword, number));
        properties.put("length", integer(graph.passage_length[number as usize]));
        let lengths = &graph.sentence_length[row(graph.passage_sentences, number)];
        properties.put("sentenceLengths", Value::Integers(lengths.iter().copied().map(i64::from).collect()));
        properties.put(EMBEDDING, embedding(&self.vectors.passages, number));
        properties.put("vectors", Value::Bytes(self.passage_vectors(number)));
        Ok(Element { key: *passage.passage.as_bytes(), ends: None, properties })
    }

    fn keywords(&self, rows: &[u32], keywords: &[u32], number: u32) -> Value {
        let text = |keyword: &u32| text_at(self.graph.keyword_ends, self.graph.keyword_texts, *keyword).to_owned();
        Value::Texts(keywords[row(rows, number)].iter().map(text).collect())
    }

    fn incoming(&self, number: u32) -> Element {
        let graph = &self.graph;
        let keywords = self.keywords(graph.incoming_keywords, graph.incoming_keyword, number);
        let sentence = graph.incoming_sentence[number as usize];
        let mut properties = question("incoming", self.snapshot.incoming(number), keywords, sentence);
        properties.put_text("origin", self.snapshot.incoming_origin(number).name());
        let passage = graph.incoming_passage[number as usize];
        properties.put("place", integer(number - graph.passage_incoming[passage as usize]));
        properties.put(EMBEDDING, embedding(&self.vectors.incoming, number));
        Element { key: *self.snapshot.incoming_id(number).as_bytes(), ends: None, properties }
    }

    fn outgoing(&self, number: u32) -> Element {
        let graph = &self.graph;
        let keywords = self.keywords(graph.outgoing_keywords, graph.outgoing_keyword, number);
        let sentence = graph.outgoing_sentence[number as usize];
        let mut properties = question("outgoing", self.snapshot.outgoing(number), keywords, sentence);
        properties.put_text("origin", self.snapshot.outgoing_origin(number).name());
        let passages = self.snapshot.outgoing_passages();
        let first = passages.partition_point(|it| *it < passages[number as usize]) as u32;
        properties.put("place", integer(number - first));
        if !self.vectors.outgoing.is_empty() {
            properties.put(EMBEDDING, embedding(&self.vectors.outgoing, number));
        }
        Element { key: *self.snapshot.outgoing_id(number).as_bytes(), ends: None, properties }
    }

    fn entity(&self, number: u32) -> Element {
        let name = self.graph.entity_name(number);
        let flags = self.graph.entity_flags[number as usize];
        let mut properties = Properties::default();
        properties.put_text("name", name);
        properties.put_text("type", "name");
        properties.put("layer", Value::Integer(0));
        properties.put("df", integer(self.graph.entity_documents[number as usize]));
        let count = |rows: &[u32]| integer(row(rows, number).len() as u32);
        properties.put("mentions", count(self.graph.entity_mentions));
        properties.put("bearers", count(self.graph.entity_bearers));
        properties.put("singleInQuestion", Value::Flag(flags & entity_flag::SINGLE_IN_QUESTION != 0));
        properties.put("lowerInQuestion", Value::Flag(flags & entity_flag::LOWER_IN_QUESTION != 0));
        Element { key: *EntityId::of(&[name.as_bytes()]).as_bytes(), ends: None, properties }
    }

    fn lexicon_part(&self, number: u32) -> Element {
        let part = &self.lexicon[number as usize];
        let mut properties = Properties::default();
        properties.put_text("name", format!("terms, part {number}"));
        properties.put("terms", Value::Texts(part.terms.iter().map(|it| it.0.clone()).collect()));
        properties.put("passages", Value::Integers(part.terms.iter().map(|it| it.1.into()).collect()));
        properties.put("sentences", Value::Integers(part.terms.iter().map(|it| it.2.into()).collect()));
        properties.put("keywords", Value::Texts(part.keywords.clone()));
        Element { key: *EntityId::of(&[LEXICON, &number.to_le_bytes()]).as_bytes(), ends: None, properties }
    }

    fn edge(&self, number: u32) -> Element {
        let (graph, at) = (&self.graph, number as usize);
        let (from, to) = (self.passage_key(self.edge_from[at]), self.passage_key(graph.edge_target[at]));
        let (incoming, outgoing) = (graph.edge_incoming[at], graph.edge_outgoing[at]);
        let id = |id: QuestionId| id.to_string();
        let mut properties = Properties::default();
        properties.put_text("question", self.snapshot.incoming(incoming));
        properties.put("keywords", self.keywords(graph.edge_keywords, graph.edge_keyword, number));
        properties.put("similarity", Value::Float(graph.edge_similarity[at].into()));
        properties.put_text("incoming", id(self.snapshot.incoming_id(incoming)));
        properties.put_text("outgoing", id(self.snapshot.outgoing_id(outgoing)));
        Element { key: *EdgeId::of(&[&from, &to]).as_bytes(), ends: Some((from, to)), properties }
    }

    fn mention(&self, number: u32) -> Element {
        let graph = &self.graph;
        let (passage, found) = &self.mentions[number as usize];
        let found = found.start as usize..found.end as usize;
        let name = graph.entity_name(graph.mention_entity[found.start]);
        let first = graph.passage_sentences[*passage as usize];
        let sentences = graph.mention_sentence[found.clone()].iter().map(|it| i64::from(it - first)).collect();
        let entity = *EntityId::of(&[name.as_bytes()]).as_bytes();
        let mut element = relationship(Kind::MentionedIn, entity, self.passage_key(*passage));
        element.properties.put("sentences", Value::Integers(sentences));
        element.properties.put("cues", Value::Texts(found.map(|mention| self.cues(mention)).collect()));
        element
    }

    /// Returns where a name leads: to the passage that speaks for it in a document that bears it.
    fn name(&self, number: u32) -> Element {
        let (passage, entity, kind) = self.names[number as usize];
        let entity = *EntityId::of(&[self.graph.entity_name(entity).as_bytes()]).as_bytes();
        let passage = self.passage_key(passage);
        let mut properties = Properties::default();
        properties.put("kind", integer(kind));
        Element { key: names_key(&entity, &passage, kind), ends: Some((entity, passage)), properties }
    }

    /// Returns the words around a mention: those before it, the nearest first, a bar, those after it; a word that says
    /// nothing is [`NO_WORD`].
    fn cues(&self, mention: usize) -> String {
        let graph = &self.graph;
        let word = |cue: &u32| match *cue {
            NO_CUE => NO_WORD,
            cue => text_at(graph.cue_ends, graph.cue_prefixes, cue),
        };
        let words = |cues: &[u32]| {
            let count = cues.iter().rposition(|cue| *cue != NO_CUE).map_or(0, |last| last + 1);
            cues[..count].iter().map(word).collect::<Vec<_>>().join(" ")
        };
        let (before, after) = graph.mention_cues[mention * CUES..(mention + 1) * CUES].split_at(CUES_BEFORE);
        format!("{} | {}", words(before), words(after)).trim().to_owned()
    }
}

/// Returns the lexicon of a version in parts: a term stays in its part as long as there are about as many terms.
fn lexicon(snapshot: &Snapshot) -> Result<Vec<LexiconPart>> {
    let mut terms = Vec::new();
    snapshot.each_term(&mut |term, passages, sentences| terms.push((term.to_owned(), passages, sentences)))?;
    let count = terms.len().div_ceil(LEXICON_TERMS).next_power_of_two();
    let mut parts: Vec<LexiconPart> = std::iter::repeat_with(LexiconPart::default).take(count).collect();
    let part = |text: &str| {
        let hash = blake3::hash(text.as_bytes());
        usize::from(u16::from_le_bytes([hash.as_bytes()[0], hash.as_bytes()[1]])) % count
    };
    for term in terms {
        parts[part(&term.0)].terms.push(term);
    }
    let graph = snapshot.graph();
    for keyword in 0..graph.keyword_ends.len() as u32 {
        let text = text_at(graph.keyword_ends, graph.keyword_texts, keyword);
        if graph.entity(text).is_none() {
            parts[part(text)].keywords.push(text.to_owned());
        }
    }
    Ok(parts)
}

fn relationship(kind: Kind, from: Key, to: Key) -> Element {
    Element { key: relationship_key(kind, &from, &to), ends: Some((from, to)), properties: Properties::default() }
}

/// Returns the key of a relationship that is the only one of its kind between its ends.
pub(super) fn relationship_key(kind: Kind, from: &Key, to: &Key) -> Key {
    *EdgeId::of(&[kind.name().as_bytes(), from, to]).as_bytes()
}

/// Returns the key of a relationship from a name to a passage.
pub(super) fn names_key(entity: &Key, passage: &Key, kind: u32) -> Key {
    *EdgeId::of(&[Kind::Names.name().as_bytes(), entity, passage, &kind.to_le_bytes()]).as_bytes()
}

fn question(kind: &str, text: &str, keywords: Value, sentence: u32) -> Properties {
    let mut properties = Properties::default();
    properties.put_text("name", text);
    properties.put_text("text", text);
    properties.put("keywords", keywords);
    properties.put_text("kind", kind);
    properties.put("sentence", integer(sentence));
    properties
}

fn integer(value: u32) -> Value {
    Value::Integer(value.into())
}

fn bounds(span: &Span) -> [i64; 2] {
    [span.start.into(), span.end.into()]
}

/// Returns a vector of unit length; none where a text has nothing to embed, since an index takes no zeros.
fn embedding(vectors: &Vectors<'_>, number: u32) -> Value {
    if vectors.is_empty() {
        return Value::Floats(Vec::new());
    }
    let (scale, codes) = (vectors.scales[number as usize], vectors.codes(number));
    if codes.iter().all(|code| *code == 0) {
        return Value::Floats(Vec::new());
    }
    Value::Floats(codes.iter().map(|code| f32::from(*code) * scale).collect())
}

fn add_vectors(vectors: &Vectors<'_>, rows: Range<usize>, bytes: &mut Vec<u8>) {
    if vectors.is_empty() {
        return;
    }
    for row in rows {
        bytes.extend_from_slice(&vectors.scales[row].to_le_bytes());
        bytes.extend_from_slice(bytemuck::cast_slice(vectors.codes(row as u32)));
    }
}

/// Returns the first words of a text on one line, to be shown on a node.
fn beginning(text: &str) -> String {
    let mut name = String::new();
    for word in text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)) {
        if name.chars().count() + word.chars().count() >= NAME_CHARACTERS {
            name.push('…');
            break;
        }
        if !name.is_empty() {
            name.push(' ');
        }
        name.push_str(word);
    }
    if name.is_empty() { text.chars().take(NAME_CHARACTERS).collect() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_is_named_by_its_first_words() {
        assert_eq!(beginning("# Harl Mill\n\nWas built."), "Harl Mill Was built.");
        let long = beginning(&"word ".repeat(30));
        assert!(long.ends_with("word…") && long.chars().count() <= NAME_CHARACTERS, "{long}");
        assert_eq!(beginning("…"), "…");
    }
}
