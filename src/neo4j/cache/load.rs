//! The structure of a version out of the database: no text but questions, no vectors.

use neo4rs::Row;
use rustc_hash::FxHashMap;

use super::super::element::{Key, NO_WORD, unhex};
use super::super::export::read_document;
use super::super::reader::Reading;
use super::super::session::Session;
use super::super::statement::cypher;
use crate::domain::Counts;
use crate::error::Result;
use crate::graph::elements::{EdgeElement, Elements, MentionElement, PassageElement, QuestionElement, flags};
use crate::graph::packed::{CUES, CUES_BEFORE, NO_CUE, PackedGraph, back_to_back};
use crate::store::DocumentText;
use crate::workspace::structure::check;

/// The structure of a version.
#[derive(Debug)]
pub(super) struct Structure {
    pub(super) graph: PackedGraph,
    pub(super) documents: Vec<DocumentText>,
    /// Key and first version of each passage: what the database finds it by.
    pub(super) passages: Vec<(Key, i64)>,
    /// The number of each passage.
    pub(super) numbers: FxHashMap<Key, u32>,
    pub(super) incoming: Texts,
    pub(super) outgoing: Texts,
    /// Passages and sentences that have each term.
    pub(super) terms: FxHashMap<String, (u32, u32)>,
}

/// Texts, back to back.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) ends: Vec<u32>,
    pub(super) bytes: Vec<u8>,
}

/// Reads the structure of the version that `reading` reads, which holds as much as `counts` says.
pub(super) async fn load(session: &Session, reading: &Reading<'_>, counts: Counts) -> Result<Structure> {
    let mut rows = Rows::default();
    for (text, add) in PARTS {
        let mut visit =
            |row: &Row| add(&mut rows, row).ok_or_else(|| session.damaged("an element has not all that it should"));
        reading.rows("read the structure", text, &mut visit).await?;
    }
    let structure = rows.assemble().ok_or_else(|| session.damaged("a relationship leads to what is not there"))?;
    let outgoing = structure.outgoing.ends.len();
    // Somebody may have changed it by hand; whoever walks it indexes without looking.
    check(&structure.graph.view(), outgoing).map_err(|(part, why)| session.damaged(format!("`{part}` {why}")))?;
    let graph = structure.graph.view();
    let held = [graph.document_count(), graph.passage_count(), graph.sentence_count(), structure.incoming.ends.len()];
    let held = [&held[..], &[outgoing, graph.edge_target.len(), graph.entity_documents.len()]].concat();
    let due = [counts.documents, counts.passages, counts.sentences, counts.incoming, counts.outgoing, counts.edges];
    if held.into_iter().ne(due.into_iter().chain([counts.entities]).map(|it| it as usize)) {
        return Err(session.damaged("it holds another number of elements than was published"));
    }
    Ok(structure)
}

/// Adds what a row is; none where it has not all that it should.
type Add = fn(&mut Rows, &Row) -> Option<()>;

const PARTS: [(&str, Add); 8] = [
    (cypher!("read/documents"), Rows::add_document),
    (cypher!("read/structure-entities"), Rows::add_entity),
    (cypher!("read/structure-passages"), Rows::add_passage),
    (cypher!("read/structure-incoming"), |rows, row| {
        rows.incoming.push(question(row, &mut rows.elements)?);
        Some(())
    }),
    (cypher!("read/structure-outgoing"), |rows, row| {
        rows.outgoing.push(question(row, &mut rows.elements)?);
        Some(())
    }),
    (cypher!("read/structure-mentions"), Rows::add_mention),
    (cypher!("read/structure-edges"), Rows::add_edge),
    (cypher!("read/structure-lexicon"), Rows::add_terms),
];

struct PassageRow {
    id: Key,
    since: i64,
    document: Key,
    ordinal: u32,
    element: PassageElement,
}

struct QuestionRow {
    id: Key,
    passage: Key,
    place: u32,
    text: String,
    element: QuestionElement,
}

/// What was read, not yet in order.
#[derive(Default)]
struct Rows {
    elements: Elements,
    documents: Vec<DocumentText>,
    entities: FxHashMap<Key, u32>,
    passages: Vec<PassageRow>,
    incoming: Vec<QuestionRow>,
    outgoing: Vec<QuestionRow>,
    mentions: Vec<(Key, MentionElement)>,
    /// From, to, in-coming and out-coming question, SIM.
    edges: Vec<([Key; 4], f32)>,
    terms: FxHashMap<String, (u32, u32)>,
}

fn key(row: &Row, name: &str) -> Option<Key> {
    unhex(row.get(name).ok()?)
}

fn number(row: &Row, name: &str) -> Option<u32> {
    row.get::<i64>(name).ok()?.try_into().ok()
}

fn list<T: serde::de::DeserializeOwned>(row: &Row, name: &str) -> Option<Vec<T>> {
    Some(row.get::<Option<Vec<T>>>(name).ok()?.unwrap_or_default())
}

fn question(row: &Row, elements: &mut Elements) -> Option<QuestionRow> {
    let keywords: Vec<String> = list(row, "keywords")?;
    let keywords = keywords.into_iter().map(|keyword| elements.keywords.number(keyword)).collect();
    let element = QuestionElement { passage: 0, sentence: number(row, "sentence")?, keywords };
    let text = row.get("text").ok()?;
    Some(QuestionRow {
        id: key(row, "id")?,
        passage: key(row, "passage")?,
        place: number(row, "place")?,
        text,
        element,
    })
}

impl Rows {
    fn add_document(&mut self, row: &Row) -> Option<()> {
        self.documents.push(read_document(row)?);
        Some(())
    }

    fn add_entity(&mut self, row: &Row) -> Option<()> {
        let number = self.elements.entities.number(row.get("name").ok()?);
        // Two of one name would shift what is known of the others.
        (number as usize == self.elements.entity_flags.len()).then_some(())?;
        self.entities.insert(key(row, "id")?, number);
        let flag = |name| row.get::<bool>(name).ok();
        self.elements.entity_flags.push(flags(flag("single")?, flag("lower")?));
        Some(())
    }

    fn add_passage(&mut self, row: &Row) -> Option<()> {
        let (names, kinds): (Vec<String>, Vec<u32>) = (list(row, "names")?, list(row, "kinds")?);
        let names = names.into_iter().zip(kinds).map(|(name, kind)| (self.elements.entities.number(name), kind));
        let element = PassageElement {
            document: 0,
            length: number(row, "length")?,
            sentence_lengths: list(row, "sentences")?,
            names: names.collect(),
        };
        let (id, since) = (key(row, "id")?, row.get("since").ok()?);
        self.passages.push(PassageRow {
            id,
            since,
            document: key(row, "document")?,
            ordinal: number(row, "ordinal")?,
            element,
        });
        Some(())
    }

    fn add_mention(&mut self, row: &Row) -> Option<()> {
        let (passage, entity) = (key(row, "passage")?, *self.entities.get(&key(row, "entity")?)?);
        let (sentences, cues): (Vec<u32>, Vec<String>) = (list(row, "sentences")?, list(row, "cues")?);
        for (sentence, around) in sentences.into_iter().zip(cues) {
            let cues = self.cues(&around);
            self.mentions.push((passage, MentionElement { passage: 0, entity, sentence, cues }));
        }
        Some(())
    }

    /// Reads the words around a mention: those before it, a bar, those after it.
    fn cues(&mut self, around: &str) -> [u32; CUES] {
        let mut cues = [NO_CUE; CUES];
        let (before, after) = around.split_once('|').unwrap_or((around, ""));
        for (words, first, end) in [(before, 0, CUES_BEFORE), (after, CUES_BEFORE, CUES)] {
            for (word, place) in words.split_whitespace().zip(first..end).filter(|it| it.0 != NO_WORD) {
                cues[place] = self.elements.cues.number(word.to_owned());
            }
        }
        cues
    }

    fn add_edge(&mut self, row: &Row) -> Option<()> {
        let ends = [key(row, "from")?, key(row, "to")?, key(row, "incoming")?, key(row, "outgoing")?];
        self.edges.push((ends, row.get::<f64>("similarity").ok()? as f32));
        Some(())
    }

    fn add_terms(&mut self, row: &Row) -> Option<()> {
        let terms: Vec<String> = list(row, "terms")?;
        let (passages, sentences): (Vec<u32>, Vec<u32>) = (list(row, "passages")?, list(row, "sentences")?);
        self.terms.extend(terms.into_iter().zip(passages.into_iter().zip(sentences)));
        Some(())
    }

    /// Brings everything into the order of a workspace and lays it out; none where something is missing.
    fn assemble(mut self) -> Option<Structure> {
        self.order_documents()?;
        let numbers: FxHashMap<Key, u32> = self.passages.iter().map(|it| it.id).zip(0..).collect();
        let (incoming, incoming_numbers) = order_questions(&mut self.incoming, &numbers)?;
        let (outgoing, outgoing_numbers) = order_questions(&mut self.outgoing, &numbers)?;
        let mut elements = self.elements;
        let passages = self.passages.iter().map(|it| (it.id, it.since)).collect();
        elements.passages = self.passages.into_iter().map(|it| it.element).collect();
        elements.incoming = self.incoming.into_iter().map(|it| it.element).collect();
        elements.outgoing = self.outgoing.into_iter().map(|it| it.element).collect();
        let lengths: Vec<usize> = elements.passages.iter().map(|it| it.sentence_lengths.len()).collect();
        let mention = |(passage, it): (Key, MentionElement)| {
            let passage = *numbers.get(&passage)?;
            ((it.sentence as usize) < lengths[passage as usize]).then_some(MentionElement { passage, ..it })
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
        let (documents, terms) = (self.documents, self.terms);
        Some(Structure { graph: elements.pack(), documents, passages, numbers, incoming, outgoing, terms })
    }

    /// Documents by the ids that their sources give them, passages document by document; documents without a passage
    /// have no number.
    fn order_documents(&mut self) -> Option<()> {
        let with_passages: rustc_hash::FxHashSet<Key> = self.passages.iter().map(|it| it.document).collect();
        self.documents.retain(|it| with_passages.contains(it.document.as_bytes()));
        self.documents.sort_unstable_by(|a, b| (&a.source_id, a.document).cmp(&(&b.source_id, b.document)));
        let numbers: FxHashMap<Key, u32> = self.documents.iter().map(|it| *it.document.as_bytes()).zip(0..).collect();
        for passage in &mut self.passages {
            passage.element.document = *numbers.get(&passage.document)?;
        }
        self.passages.sort_unstable_by_key(|it| (it.element.document, it.ordinal));
        self.elements.documents = self.documents.len() as u32;
        Some(())
    }
}

/// Brings questions into the order of their passages, and returns their texts and numbers.
fn order_questions(
    questions: &mut [QuestionRow],
    passages: &FxHashMap<Key, u32>,
) -> Option<(Texts, FxHashMap<Key, u32>)> {
    for question in questions.iter_mut() {
        question.element.passage = *passages.get(&question.passage)?;
    }
    questions.sort_unstable_by_key(|it| (it.element.passage, it.place));
    let texts: Vec<&str> = questions.iter().map(|it| it.text.as_str()).collect();
    let (ends, bytes) = back_to_back(&texts);
    Some((Texts { ends, bytes }, questions.iter().map(|it| it.id).zip(0..).collect()))
}
