//! Loads the structure of a version, or of a part of it, from the database: no texts except questions, no vectors.

use std::sync::{Mutex, PoisonError};

use neo4rs::{BoltType, Row};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::download::bytes;
use super::super::element::{Key, NO_WORD, unhex};
use super::super::export::read_document;
use super::super::kinds::{Kind, borne};
use super::super::reader::Reading;
use super::super::session::Session;
use super::super::spans::Spans;
use super::super::statement::cypher;
use crate::domain::{Counts, DocumentId, Metadata};
use crate::error::Result;
use crate::graph::elements::{EdgeElement, Elements, EntityTotals, MentionElement, PassageElement, QuestionElement};
use crate::graph::ordinal::{Ordinal, PassageOrdinal};
use crate::graph::packed::{CUES, CUES_BEFORE, PackedGraph, back_to_back};
use crate::store::DocumentText;

/// The structure of a version, or of a part of it.
#[derive(Debug, Default)]
pub(in crate::neo4j) struct Structure {
    pub(in crate::neo4j) graph: PackedGraph,
    pub(in crate::neo4j) documents: Vec<DocumentText>,
    /// Key and first version of each passage, by which the database finds it.
    pub(in crate::neo4j) passages: Vec<(Key, i64)>,
    /// The number of each passage.
    pub(in crate::neo4j) numbers: FxHashMap<Key, PassageOrdinal>,
    pub(in crate::neo4j) incoming: Texts,
    pub(in crate::neo4j) outgoing: Texts,
    /// The passage that asks each out-coming question.
    pub(in crate::neo4j) outgoing_passages: Vec<PassageOrdinal>,
}

/// Statistics of single words over the whole version.
#[derive(Debug, Default)]
pub(in crate::neo4j) struct Lexicon {
    /// Passages and sentences that have each term.
    pub(in crate::neo4j) terms: FxHashMap<String, (u32, u32)>,
    /// Keywords of questions that are not names.
    pub(in crate::neo4j) keywords: FxHashSet<String>,
}

/// Questions: their texts back to back, and their keys.
#[derive(Debug, Default)]
pub(in crate::neo4j) struct Texts {
    pub(in crate::neo4j) ids: Vec<Key>,
    pub(in crate::neo4j) ends: Vec<u32>,
    pub(in crate::neo4j) bytes: Vec<u8>,
}

/// Reads the structure of the version that `reading` reads, which holds as much as `counts` says.
pub(super) async fn load(session: &Session, reading: &Reading<'_>, counts: Counts) -> Result<Structure> {
    let rows = Mutex::new(Rows::with_room(counts));
    // Names and mentions come after the entities that they refer to. Independent kinds are read concurrently: one is
    // parsed while the other is fetched. On several threads it took longer, because the server's work is the same.
    let parts: [LoadedPart; 8] = [
        (cypher!("read/structure-entities"), Rows::add_entity),
        (cypher!("read/structure-names"), Rows::add_name),
        (cypher!("read/structure-mentions"), Rows::add_mentions),
        (cypher!("read/structure-incoming"), Rows::add_incoming),
        (&Kind::Document.statements().contents, Rows::add_document),
        (cypher!("read/structure-passages"), Rows::add_passage),
        (cypher!("read/structure-outgoing"), Rows::add_outgoing),
        (cypher!("read/structure-edges"), Rows::add_edges),
    ];
    let (named, rest) = parts.split_at(NAMED_PARTS);
    let (some, others) = rest.split_at(rest.len() / 2);
    tokio::try_join!(
        read_parts(session, reading, named, &rows),
        read_parts(session, reading, some, &rows),
        read_parts(session, reading, others, &rows)
    )?;
    let rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
    counted(session, rows.into_structure(session)?, counts)
}

async fn read_parts(session: &Session, reading: &Reading<'_>, parts: &[LoadedPart], rows: &Mutex<Rows>) -> Result<()> {
    for (text, add) in parts {
        let mut visit = |row: &Row| {
            let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
            add(&mut rows, row).ok_or_else(|| session.damaged("an element has not all that it should"))
        };
        reading.rows("read the structure", text, &mut visit).await?;
    }
    Ok(())
}

/// Makes sure that a structure holds as much as `counts` says.
fn counted(session: &Session, structure: Structure, counts: Counts) -> Result<Structure> {
    let (graph, outgoing) = (structure.graph.view(), structure.outgoing.ends.len());
    let held = [graph.document_count(), graph.passage_count(), graph.sentence_count(), structure.incoming.ends.len()];
    let held = [&held[..], &[outgoing, graph.edge_target.len(), graph.entity_documents.len()]].concat();
    let due = [counts.documents, counts.passages, counts.sentences, counts.incoming, counts.outgoing, counts.edges];
    if held.into_iter().ne(due.into_iter().chain([counts.entities]).map(|it| it as usize)) {
        return Err(session.damaged("it holds another number of elements than was published"));
    }
    Ok(structure)
}

/// Maximum elements of a kind for which room is reserved in advance; the counts may have been changed by hand.
const ROOM_MAX: u64 = 1 << 24;

/// Parts that are of entities.
const NAMED_PARTS: usize = 3;

/// A part of a structure: reads the elements of a kind and adds a row; none if the row is incomplete.
type LoadedPart = (&'static str, fn(&mut Rows, &Row) -> Option<()>);

/// Reads the lexicon of the version that `reading` reads.
pub(super) async fn load_lexicon(session: &Session, reading: &Reading<'_>) -> Result<Lexicon> {
    let mut lexicon = Lexicon::default();
    let mut visit =
        |row: &Row| lexicon.add(row).ok_or_else(|| session.damaged("a part of its lexicon has not all that it should"));
    reading.rows("read the lexicon", cypher!("read/structure-lexicon"), &mut visit).await?;
    Ok(lexicon)
}

impl Lexicon {
    fn add(&mut self, row: &Row) -> Option<()> {
        let terms: Vec<String> = list(row, "terms")?;
        let (passages, sentences): (Vec<u32>, Vec<u32>) = (list(row, "passages")?, list(row, "sentences")?);
        self.terms.extend(terms.into_iter().zip(passages.into_iter().zip(sentences)));
        self.keywords.extend(list::<String>(row, "keywords")?);
        Some(())
    }
}

pub(super) struct PassageRow {
    pub(super) id: Key,
    pub(super) since: i64,
    pub(super) document: Key,
    pub(super) ordinal: u32,
    pub(super) element: PassageElement,
}

pub(super) struct QuestionRow {
    pub(super) id: Key,
    pub(super) passage: Key,
    pub(super) place: u32,
    pub(super) text: String,
    pub(super) element: QuestionElement,
}

/// What was read, not yet in order.
#[derive(Default)]
pub(in crate::neo4j) struct Rows {
    pub(super) elements: Elements,
    pub(super) documents: Vec<DocumentText>,
    pub(super) entities: FxHashMap<Key, u32>,
    pub(super) passages: Vec<PassageRow>,
    pub(super) incoming: Vec<QuestionRow>,
    pub(super) outgoing: Vec<QuestionRow>,
    pub(super) mentions: Vec<(Key, MentionElement)>,
    /// Passages with an entity whose name each has, and how.
    pub(super) names: Vec<(Key, (u32, u32))>,
    /// From, to, in-coming and out-coming question, SIM.
    pub(super) edges: Vec<([Key; 4], f32)>,
}

pub(in crate::neo4j) fn key(row: &Row, name: &str) -> Option<Key> {
    unhex(row.get(name).ok()?)
}

pub(in crate::neo4j) fn number(row: &Row, name: &str) -> Option<u32> {
    row.get::<i64>(name).ok()?.try_into().ok()
}

/// Returns the number of the passage of a row within its document; people count from 1.
pub(in crate::neo4j) fn ordinal(row: &Row) -> Option<u32> {
    number(row, "position")?.checked_sub(1)
}

/// Returns the positions of the passage of a row and its sentences.
pub(super) fn spans(row: &Row) -> Option<Spans> {
    Spans::read(&bytes(row.get::<BoltType>("spans").ok().as_ref())?)
}

/// Returns the sentence of a mention, and the words around it.
pub(in crate::neo4j) fn mentioned(mention: &str) -> Option<(u32, &str)> {
    let (sentence, around) = mention.split_once(' ').unwrap_or((mention, ""));
    Some((sentence.parse().ok()?, around))
}

fn list<'a, T: serde::Deserialize<'a>>(row: &'a Row, name: &str) -> Option<Vec<T>> {
    Some(row.get::<Option<Vec<T>>>(name).ok()?.unwrap_or_default())
}

/// A question of a list: key, place and sentence, text, keywords.
type QuestionItem<'a> = (&'a str, [u32; 2], &'a str, Option<Vec<&'a str>>);

impl QuestionRow {
    /// Reads a question of `passage`.
    fn read(
        (id, [place, sentence], text, keywords): QuestionItem<'_>,
        passage: Key,
        elements: &mut Elements,
    ) -> Option<Self> {
        let keywords = keywords.unwrap_or_default().into_iter().map(|keyword| elements.keywords.number(keyword));
        let element = QuestionElement { passage: PassageOrdinal(0), sentence, keywords: keywords.collect() };
        Some(Self { id: unhex(id)?, passage, place, text: text.to_owned(), element })
    }
}

/// Reads the questions of a passage.
fn questions(row: &Row, elements: &mut Elements, found: &mut Vec<QuestionRow>) -> Option<()> {
    let passage = key(row, "passage")?;
    for question in list::<QuestionItem<'_>>(row, "questions")? {
        found.push(QuestionRow::read(question, passage, elements)?);
    }
    Some(())
}

/// An edge of a list: its target, SIM, and its questions: the one answered there, and the one asked.
type EdgeItem<'a> = (&'a str, f64, QuestionItem<'a>, QuestionItem<'a>);

/// An entity of a list: key, and the sentences that mention it with the words around it in each.
type MentionItem<'a> = (&'a str, Option<Vec<&'a str>>);

/// A passage of a list: key, the sentences that mention an entity with the words around it in each, and how the
/// passage is named by it.
type PlaceItem<'a> = (&'a str, Option<Vec<&'a str>>, Option<&'a str>);

impl Rows {
    /// Begins a version that holds as much as `counts` says: lists that grow would need twice the memory for a while.
    fn with_room(counts: Counts) -> Self {
        let mut rows = Self::default();
        let room = |count: u64| usize::try_from(count.min(ROOM_MAX)).unwrap_or_default();
        rows.incoming.reserve_exact(room(counts.incoming));
        rows.outgoing.reserve_exact(room(counts.outgoing));
        rows.mentions.reserve_exact(room(counts.mentions));
        rows.edges.reserve_exact(room(counts.edges));
        rows
    }

    /// Begins a part of a version, where `keywords` are known of too.
    pub(in crate::neo4j) fn of_part(keywords: Vec<String>) -> Self {
        let mut rows = Self::default();
        rows.elements.totals = Some(Vec::new());
        for keyword in keywords {
            rows.elements.keywords.number(&keyword);
        }
        rows
    }

    pub(in crate::neo4j) fn add_document(&mut self, row: &Row) -> Option<()> {
        self.documents.push(read_document(row, "id")?);
        Some(())
    }

    /// Of a part, an entity may come twice.
    pub(in crate::neo4j) fn add_entity(&mut self, row: &Row) -> Option<()> {
        let number = self.add_known(row)?;
        self.entities.insert(key(row, "id")?, number);
        Some(())
    }

    /// Adds the data of an entity, and returns its number.
    fn add_known(&mut self, row: &Row) -> Option<u32> {
        let number = self.elements.entities.number(row.get("folded").ok()?);
        let is_new = number as usize == self.elements.entity_flags.len();
        if !is_new {
            // Two of one name would shift the data of the others.
            return self.elements.totals.is_some().then_some(number);
        }
        self.elements.entity_flags.push(self::number(row, "flags")?);
        if let Some(totals) = &mut self.elements.totals {
            totals.push(EntityTotals {
                documents: self::number(row, "documents")?,
                bearers: self::number(row, "bearers")?,
            });
        }
        Some(number)
    }

    pub(in crate::neo4j) fn add_name(&mut self, row: &Row) -> Option<()> {
        let entity = *self.entities.get(&key(row, "entity")?)?;
        self.names.push((key(row, "passage")?, (entity, borne(row.get("kind").ok()?)?)));
        Some(())
    }

    /// Adds an entity of a part, with its mentions and named passages there.
    pub(in crate::neo4j) fn add_part_entity(&mut self, row: &Row) -> Option<()> {
        let entity = self.add_known(row)?;
        for (passage, mentions, kind) in list::<PlaceItem<'_>>(row, "places")? {
            let passage = unhex(passage)?;
            self.mention(passage, entity, mentions.unwrap_or_default())?;
            if let Some(kind) = kind {
                self.names.push((passage, (entity, borne(kind)?)));
            }
        }
        Some(())
    }

    pub(in crate::neo4j) fn add_incoming(&mut self, row: &Row) -> Option<()> {
        questions(row, &mut self.elements, &mut self.incoming)
    }

    fn add_outgoing(&mut self, row: &Row) -> Option<()> {
        questions(row, &mut self.elements, &mut self.outgoing)
    }

    /// Adds a passage of a part with its document; its keywords cannot be derived from its other elements.
    pub(in crate::neo4j) fn add_part_passage(&mut self, row: &Row) -> Option<()> {
        self.add_passage(row)?;
        self.documents.push(read_document(row, "document")?);
        let keywords: Vec<&str> = list(row, "keywords")?;
        let keywords = keywords.into_iter().map(|keyword| self.elements.keywords.number(keyword)).collect();
        self.passages.last_mut()?.element.keywords = keywords;
        Some(())
    }

    pub(in crate::neo4j) fn add_passage(&mut self, row: &Row) -> Option<()> {
        let Spans { length, sentence_lengths, .. } = spans(row)?;
        let element = PassageElement { length, sentence_lengths, ..PassageElement::default() };
        let (id, since) = (key(row, "id")?, row.get("since").ok()?);
        self.passages.push(PassageRow { id, since, document: key(row, "document")?, ordinal: ordinal(row)?, element });
        Some(())
    }

    pub(in crate::neo4j) fn add_mentions(&mut self, row: &Row) -> Option<()> {
        let passage = key(row, "passage")?;
        for (entity, mentions) in list::<MentionItem<'_>>(row, "mentions")? {
            let entity = *self.entities.get(&unhex(entity)?)?;
            self.mention(passage, entity, mentions.unwrap_or_default())?;
        }
        Some(())
    }

    /// Adds mentions of an entity in a passage.
    fn mention(&mut self, passage: Key, entity: u32, mentions: Vec<&str>) -> Option<()> {
        for mention in mentions {
            let (sentence, around) = mentioned(mention)?;
            let cues = self.cues(around);
            self.mentions.push((passage, MentionElement { passage: PassageOrdinal(0), entity, sentence, cues }));
        }
        Some(())
    }

    /// Reads the words around a mention: those before it, a bar, those after it.
    fn cues(&mut self, around: &str) -> [Option<u32>; CUES] {
        let mut cues = [None; CUES];
        let (before, after) = around.split_once('|').unwrap_or((around, ""));
        for (words, first, end) in [(before, 0, CUES_BEFORE), (after, CUES_BEFORE, CUES)] {
            for (word, place) in words.split_whitespace().zip(first..end).filter(|it| it.0 != NO_WORD) {
                cues[place] = Some(self.elements.cues.number(word));
            }
        }
        cues
    }

    fn add_edges(&mut self, row: &Row) -> Option<()> {
        let from = key(row, "passage")?;
        for (to, incoming, outgoing, similarity) in list::<(&str, &str, &str, f64)>(row, "edges")? {
            self.edges.push(([from, unhex(to)?, unhex(incoming)?, unhex(outgoing)?], similarity as f32));
        }
        Some(())
    }

    /// Adds the edges of a passage of a part with the questions that they join.
    pub(in crate::neo4j) fn add_part_edges(&mut self, row: &Row) -> Option<()> {
        let from = key(row, "passage")?;
        for (to, similarity, answered, asked) in list::<EdgeItem<'_>>(row, "edges")? {
            let to = unhex(to)?;
            let answered = QuestionRow::read(answered, to, &mut self.elements)?;
            let asked = QuestionRow::read(asked, from, &mut self.elements)?;
            self.edges.push(([from, to, answered.id, asked.id], similarity as f32));
            self.incoming.push(answered);
            self.outgoing.push(asked);
        }
        Some(())
    }

    /// Lays everything out, and checks it: the graph may have been changed by hand, and a walk indexes without checks.
    pub(in crate::neo4j) fn into_structure(self, session: &Session) -> Result<Structure> {
        let structure = self.assemble().ok_or_else(|| session.damaged("a relationship refers to a missing element"))?;
        let kept = structure.graph.view().check(structure.outgoing.ends.len());
        kept.map_err(|(part, why)| session.damaged(format!("`{part}` {why}")))?;
        Ok(structure)
    }

    /// Brings everything into the order of a workspace and lays it out; none where something is missing.
    fn assemble(mut self) -> Option<Structure> {
        self.order_documents()?;
        let numbers = numbered(self.passages.iter().map(|it| it.id));
        if self.elements.totals.is_some() {
            // Edges and questions that lead out of a part do not belong to it, nor do passages that were not requested.
            self.edges.retain(|([_, to, ..], _)| numbers.contains_key(to));
            self.incoming.retain(|it| numbers.contains_key(&it.passage));
            self.names.retain(|(passage, _)| numbers.contains_key(passage));
            self.mentions.retain(|(passage, _)| numbers.contains_key(passage));
        }
        let (incoming, incoming_numbers) = order_questions(&mut self.incoming, &numbers)?;
        let (outgoing, outgoing_numbers) = order_questions(&mut self.outgoing, &numbers)?;
        let outgoing_passages = self.outgoing.iter().map(|it| it.element.passage).collect();
        let mut elements = self.elements;
        let mut passages: Vec<(Key, i64)> = self.passages.iter().map(|it| (it.id, it.since)).collect();
        elements.passages = self.passages.into_iter().map(|it| it.element).collect();
        for (passage, name) in self.names {
            elements.passages[numbers.get(&passage)?.index()].names.push(name);
        }
        elements.incoming = self.incoming.into_iter().map(|it| it.element).collect();
        elements.outgoing = self.outgoing.into_iter().map(|it| it.element).collect();
        let lengths: Vec<usize> = elements.passages.iter().map(|it| it.sentence_lengths.len()).collect();
        let mention = |(passage, it): (Key, MentionElement)| {
            let passage: PassageOrdinal = *numbers.get(&passage)?;
            ((it.sentence as usize) < lengths[passage.index()]).then_some(MentionElement { passage, ..it })
        };
        elements.mentions = self.mentions.into_iter().map(mention).collect::<Option<_>>()?;
        let edge = |([from, to, incoming, outgoing], similarity): ([Key; 4], f32)| {
            Some(EdgeElement {
                from: *numbers.get(&from)?,
                to: *numbers.get(&to)?,
                incoming: *incoming_numbers.get(&incoming)?,
                outgoing: *outgoing_numbers.get(&outgoing)?,
                similarity,
            })
        };
        elements.edges = self.edges.into_iter().map(edge).collect::<Option<_>>()?;
        let mut documents = self.documents;
        if elements.totals.is_some() {
            passages.push((Key::default(), 0));
            documents.push(beyond());
        }
        let graph = elements.pack();
        Some(Structure { graph, documents, passages, numbers, incoming, outgoing, outgoing_passages })
    }

    /// Documents by the ids that their sources give them, passages document by document; documents without a passage
    /// have no number.
    fn order_documents(&mut self) -> Option<()> {
        let with_passages: rustc_hash::FxHashSet<Key> = self.passages.iter().map(|it| it.document).collect();
        self.documents.retain(|it| with_passages.contains(it.document.as_bytes()));
        self.documents.sort_unstable_by(|a, b| (&a.source_id, a.document).cmp(&(&b.source_id, b.document)));
        self.documents.dedup_by_key(|it| it.document);
        let numbers = numbered(self.documents.iter().map(|it| *it.document.as_bytes()));
        for passage in &mut self.passages {
            passage.element.document = *numbers.get(&passage.document)?;
        }
        self.passages.sort_unstable_by_key(|it| (it.element.document, it.ordinal));
        self.elements.documents = self.documents.len() as u32;
        Some(())
    }
}

/// Returns the ordinals of elements in this order.
fn numbered<K: Ordinal>(keys: impl ExactSizeIterator<Item = Key>) -> FxHashMap<Key, K> {
    let ordinals = K::first(keys.len());
    keys.zip(ordinals).collect()
}

/// The placeholder for the documents outside a part.
fn beyond() -> DocumentText {
    DocumentText {
        document: DocumentId::from_bytes(Key::default()),
        source_id: String::new(),
        title: None,
        uri: String::new(),
        media_type: String::new(),
        metadata: Metadata::new(),
        duplicate_of: None,
    }
}

/// Brings questions into the order of their passages, and returns their texts and numbers.
fn order_questions<K: Ordinal>(
    questions: &mut Vec<QuestionRow>,
    passages: &FxHashMap<Key, PassageOrdinal>,
) -> Option<(Texts, FxHashMap<Key, K>)> {
    for question in questions.iter_mut() {
        question.element.passage = *passages.get(&question.passage)?;
    }
    questions.sort_unstable_by_key(|it| (it.element.passage, it.place));
    // In a part, one may have been requested twice.
    questions.dedup_by_key(|it| it.id);
    let texts: Vec<&str> = questions.iter().map(|it| it.text.as_str()).collect();
    let (ends, bytes) = back_to_back(&texts);
    let ids: Vec<Key> = questions.iter().map(|it| it.id).collect();
    let numbers = numbered(ids.iter().copied());
    Some((Texts { ids, ends, bytes }, numbers))
}
