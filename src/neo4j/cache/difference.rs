//! From one version to a later one: what is new or changed is read, what was taken away is known from the changes that
//! the database keeps, and all else is taken from the structure in memory.

use neo4rs::{BoltType, Row};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::changes::removed;
use super::super::element::Key;
use super::super::kinds::{Kind, edge_key, names_key};
use super::super::reader::Reading;
use super::super::session::Session;
use super::super::source::relationship_key;
use super::super::state::IndexState;
use super::super::statement::{Statement, cypher};
use super::GraphCache;
use super::load::{LOADED, LoadedKind, PassageRow, QuestionRow, Rows, Structure, Texts, counted};
use crate::domain::EntityId;
use crate::error::Result;
use crate::graph::elements::{MentionElement, PassageElement, QuestionElement};
use crate::graph::ordinal::{CueOrdinal, EntityOrdinal, Ordinal as _, PassageOrdinal};
use crate::graph::packed::{CUES, NO_CUE, row, text_at};

/// Elements that are not taken from memory.
#[derive(Default)]
struct Gone(FxHashSet<(Kind, Key)>);

impl Gone {
    fn has(&self, kind: Kind, key: Key) -> bool {
        self.0.contains(&(kind, key))
    }
}

/// Returns the structure of the version of `state`, made from that of an earlier version; none where the database does
/// not know what lies between them.
pub(super) async fn read(
    session: &Session,
    reading: &Reading<'_>,
    known: &GraphCache,
    state: &IndexState,
) -> Result<Option<Structure>> {
    let Some(mut gone) = changes(reading, known, state).await? else { return Ok(None) };
    let mut arrived: Vec<(LoadedKind, Vec<Row>)> = Vec::new();
    for part in LOADED {
        let statement = reading.after(Statement::new("read what is new", part.text), known.version);
        let rows = session.rows(&statement).await?;
        for row in &rows {
            let keys = (part.keys)(row).ok_or_else(|| session.damaged("an element has not all that it should"))?;
            gone.0.extend(keys.into_iter().map(|key| (part.kind, key)));
        }
        arrived.push((part, rows));
    }
    let structure = merge(&known.structure, &gone, &arrived).map(|rows| rows.into_structure(session));
    // Where it does not come out as it should, nothing is known but that it has to be read whole.
    Ok(structure.and_then(Result::ok).and_then(|structure| counted(session, structure, state.counts).ok()))
}

/// Returns what the versions since `known` took away; none where their chain is not whole.
async fn changes(reading: &Reading<'_>, known: &GraphCache, state: &IndexState) -> Result<Option<Gone>> {
    let mut gone = Gone::default();
    let (mut version, mut source) = (known.version, known.state.source.clone());
    let mut is_whole = true;
    let mut visit = |row: &Row| {
        let read = || {
            let BoltType::Bytes(bytes) = row.get::<BoltType>("removed").ok()? else { return None };
            Some((row.get::<i64>("version").ok()?, row.get::<String>("previous").ok()?, removed(&bytes.value)?))
        };
        let next = read().filter(|(next, previous, _)| *next == version + 1 && *previous == source);
        match next.zip(row.get::<String>("source").ok()) {
            Some(((next, _, removed), own)) => {
                (version, source) = (next, own);
                gone.0.extend(removed);
            }
            None => is_whole = false,
        }
        Ok(())
    };
    reading.rows_after("read what changed", cypher!("read/changes"), known.version, &mut visit).await?;
    let is_there = is_whole && version == reading.version && version == state.version && source == state.source;
    Ok(is_there.then_some(gone))
}

/// Puts what is left of a structure together with what arrived; none where that does not fit together.
fn merge(known: &Structure, gone: &Gone, arrived: &[(LoadedKind, Vec<Row>)]) -> Option<Rows> {
    let mut rows = Rows::default();
    let left = Left { known, gone };
    left.documents(&mut rows);
    let entities = left.entities(&mut rows);
    for (part, arrived) in arrived {
        arrived.iter().try_for_each(|row| (part.add)(&mut rows, row))?;
    }
    let entities: Vec<Option<u32>> =
        entities.iter().map(|(key, own)| own.or_else(|| rows.entities.get(key).copied())).collect();
    left.passages(&mut rows)?;
    left.questions(Kind::Incoming, &mut rows);
    left.questions(Kind::Outgoing, &mut rows);
    left.names_and_mentions(&entities, &mut rows)?;
    left.edges(&mut rows);
    Some(rows)
}

/// What is left of a structure.
struct Left<'a> {
    known: &'a Structure,
    gone: &'a Gone,
}

impl Left<'_> {
    fn documents(&self, rows: &mut Rows) {
        let stays = |key: &Key| !self.gone.has(Kind::Document, *key);
        rows.documents.extend(self.known.documents.iter().filter(|it| stays(it.document.as_bytes())).cloned());
    }

    /// Returns the key of each entity, and its number now if it is left as it was.
    fn entities(&self, rows: &mut Rows) -> Vec<(Key, Option<u32>)> {
        let graph = self.known.graph.view();
        let entity = |number: EntityOrdinal| {
            let name = graph.entity_name(number);
            let key = *EntityId::of(&[name.as_bytes()]).as_bytes();
            if self.gone.has(Kind::Entity, key) {
                return (key, None);
            }
            let own = rows.elements.entities.number(name);
            rows.elements.entity_flags.push(graph.entity_flags[number]);
            rows.entities.insert(key, own);
            (key, Some(own))
        };
        graph.entity_documents.ordinals().map(entity).collect()
    }

    fn passages(&self, rows: &mut Rows) -> Option<()> {
        let graph = self.known.graph.view();
        for ((id, since), number) in self.known.passages.iter().zip(graph.passages()) {
            if self.gone.has(Kind::Passage, *id) {
                continue;
            }
            let document = graph.passage_document[number];
            let element = PassageElement {
                length: graph.passage_length[number],
                sentence_lengths: graph.sentence_length.of(graph.passage_sentences.of(number)).to_vec(),
                ..PassageElement::default()
            };
            rows.passages.push(PassageRow {
                id: *id,
                since: *since,
                document: *self.known.documents.get(document.index())?.document.as_bytes(),
                ordinal: (number.index() - graph.document_passages.of(document).range().start) as u32,
                element,
            });
        }
        Some(())
    }

    fn questions(&self, kind: Kind, rows: &mut Rows) {
        let graph = self.known.graph.view();
        let (texts, passages, sentences, ends, keywords): (&Texts, &[PassageOrdinal], &[u32], &[u32], _) =
            if kind == Kind::Incoming {
                let (passages, rows) = (graph.incoming_passage.items(), graph.incoming_keywords.items());
                (&self.known.incoming, passages, graph.incoming_sentence.items(), rows, graph.incoming_keyword)
            } else {
                let (passages, rows) = (&self.known.outgoing_passages, graph.outgoing_keywords.items());
                (&self.known.outgoing, passages, graph.outgoing_sentence.items(), rows, graph.outgoing_keyword)
            };
        let mut first = 0;
        for (passage, number) in passages.iter().zip(0u32..) {
            if number == 0 || passages[number as usize - 1] != *passage {
                first = number;
            }
            let id = texts.ids[number as usize];
            if self.gone.has(kind, id) {
                continue;
            }
            let own = keywords.items()[row(ends, number)].iter();
            let keyword = |it| text_at(&graph.keyword_ends, graph.keyword_texts.items(), it);
            let keywords = own.map(|it| rows.elements.keywords.number(keyword(*it))).collect();
            let question = QuestionRow {
                id,
                passage: self.known.passages[passage.index()].0,
                place: number - first,
                text: text_at(&texts.ends, &texts.bytes, number).to_owned(),
                element: QuestionElement { passage: PassageOrdinal(0), sentence: sentences[number as usize], keywords },
            };
            let all = if kind == Kind::Incoming { &mut rows.incoming } else { &mut rows.outgoing };
            all.push(question);
        }
    }

    fn names_and_mentions(&self, entities: &[Option<u32>], rows: &mut Rows) -> Option<()> {
        let graph = self.known.graph.view();
        let mut cues: FxHashMap<CueOrdinal, u32> = FxHashMap::default();
        for (entity, own) in graph.entity_documents.ordinals().zip(entities) {
            let key = *EntityId::of(&[graph.entity_name(entity).as_bytes()]).as_bytes();
            for bearer in graph.entity_bearers.of(entity) {
                let (passage, _) = self.known.passages[graph.bearer_passage[bearer].index()];
                let kind = graph.bearer_kind[bearer];
                if !self.gone.has(Kind::Names, names_key(&key, &passage, kind)) {
                    rows.names.push((passage, ((*own)?, kind)));
                }
            }
            let mut last: Option<(PassageOrdinal, bool)> = None;
            for posting in graph.entity_mentions.of(entity) {
                let (passage, mention) = (graph.posting_passage[posting], graph.posting_mention[posting]);
                let id = self.known.passages[passage.index()].0;
                let is_gone = match last {
                    Some((same, is_gone)) if same == passage => is_gone,
                    _ => self.gone.has(Kind::MentionedIn, relationship_key(Kind::MentionedIn, &key, &id)),
                };
                last = Some((passage, is_gone));
                if is_gone {
                    continue;
                }
                let first = graph.passage_sentences.of(passage).range().start as u32;
                let sentence = graph.mention_sentence[mention].0 - first;
                let mut around = [None; CUES];
                for (cue, known) in around.iter_mut().zip(graph.cues(mention)) {
                    if *known != NO_CUE {
                        let text = || text_at(&graph.cue_ends, graph.cue_prefixes.items(), *known);
                        *cue = Some(*cues.entry(*known).or_insert_with(|| rows.elements.cues.number(text())));
                    }
                }
                rows.mentions
                    .push((id, MentionElement { passage: PassageOrdinal(0), entity: (*own)?, sentence, cues: around }));
            }
        }
        Some(())
    }

    fn edges(&self, rows: &mut Rows) {
        let graph = self.known.graph.view();
        let id = |passage: PassageOrdinal| self.known.passages[passage.index()].0;
        for passage in graph.passages() {
            for edge in graph.passage_edges.of(passage) {
                let (from, to) = (id(passage), id(graph.edge_target[edge]));
                if !self.gone.has(Kind::LeadsTo, edge_key(&from, &to)) {
                    let incoming = self.known.incoming.ids[graph.edge_incoming[edge].index()];
                    let outgoing = self.known.outgoing.ids[graph.edge_outgoing[edge].index()];
                    rows.edges.push(([from, to, incoming, outgoing], graph.edge_similarity[edge]));
                }
            }
        }
    }
}
