//! Reads the contents of a workspace from the database: units with their texts, passages and questions, and vectors.

use std::collections::BTreeMap;

use neo4rs::{BoltMap, BoltType, Row};

use super::element::{VECTORS, unhex};
use super::export::{read_document, read_passage, read_question};
use super::kinds::{Kept, Kind};
use super::reader::{Reading, read_whole};
use super::session::Session;
use super::state::IndexState;
use super::statement::cypher;
use crate::domain::{CollectionId, Counts, Document, DocumentId, PassageId, Positions, PseudoQuery, QuestionKind};
use crate::error::Result;
use crate::workspace::{DocumentUnit, Extracted, PassageUnit, WorkspaceOptions};

/// The contents of a workspace.
#[derive(Debug, Clone)]
pub struct Download {
    /// The collection that it is an index of; none where an earlier program published it.
    pub collection: Option<CollectionId>,
    /// The embedder that made the vectors.
    pub pin: WorkspaceOptions,
    /// Fingerprint of the options that passages and edges were made with.
    pub settings: String,
    /// How much the version holds.
    pub counts: Counts,
    /// The units, in the order of a workspace.
    pub units: Vec<DocumentUnit>,
    /// Records that belong to no unit.
    pub(crate) kept: Kept,
    /// The vectors of each unit, as the workspace keeps them: of passages, sentences, in-coming and out-coming
    /// questions, each a scale and its codes.
    pub vectors: Vec<Vec<u8>>,
}

/// Reads the contents of a workspace.
///
/// # Errors
///
/// [`Error::Database`](crate::Error::Database) if there is no index or it cannot be read.
///
/// # Cancel safety
///
/// Safe: nothing is changed.
pub async fn download(session: &Session) -> Result<Download> {
    let (_, download) = read_whole(session, async |reading| {
        let state = IndexState::read_current(session).await?;
        let mut parts = Parts::default();
        parts.read(session, reading).await?;
        let kept = std::mem::take(&mut parts.kept);
        let (units, vectors) = parts.assemble(state.dimension).map_err(|reason| session.damaged(reason))?;
        let IndexState { collection, embedder, dimension, settings, counts, .. } = state;
        Ok(Download {
            collection,
            pin: WorkspaceOptions { embedder, dimension },
            settings,
            counts,
            units,
            kept,
            vectors,
        })
    })
    .await?;
    Ok(download)
}

/// Contents of a unit besides its document.
struct Marker {
    root: String,
    content: [u8; 32],
    fingerprint: String,
    positions: Positions,
    text: String,
    vectors: Vec<u8>,
    /// For each passage, the writer of its model-made questions; empty without any. None if no model wrote any.
    writers: Vec<String>,
    /// For each passage, a model's extraction, as JSON; empty without one. None if no model was asked.
    extractions: Vec<String>,
}

/// Adds a row; none if it is incomplete.
type Add = fn(&mut Parts, &Row) -> Option<()>;

/// Returns the bytes of a property, empty if absent; none if it has another type.
pub(super) fn bytes(property: Option<&BoltType>) -> Option<Vec<u8>> {
    match property {
        Some(BoltType::Bytes(bytes)) => Some(bytes.value.to_vec()),
        Some(BoltType::Null(_)) | None => Some(Vec::new()),
        Some(_) => None,
    }
}

/// Returns a list of texts, empty if absent; none if the property has another type.
fn texts(properties: &BoltMap, name: &str) -> Option<Vec<String>> {
    if properties.value.contains_key(name) { properties.get(name).ok() } else { Some(Vec::new()) }
}

/// All rows read, by owner.
#[derive(Default)]
struct Parts {
    /// By the ids that the sources give, then by id: the order of a workspace.
    documents: BTreeMap<(String, DocumentId), Document>,
    markers: BTreeMap<DocumentId, Marker>,
    kept: Kept,
    passages: BTreeMap<DocumentId, Vec<PassageUnit>>,
    /// Those of each passage and of its sentences.
    passage_vectors: BTreeMap<PassageId, Vec<u8>>,
    /// In-coming before out-coming ones, each in their order.
    questions: BTreeMap<PassageId, BTreeMap<(QuestionKind, i64), PseudoQuery>>,
}

impl Parts {
    async fn read(&mut self, session: &Session, reading: &Reading<'_>) -> Result<()> {
        let parts: [(&'static str, Add); 7] = [
            (&Kind::Document.statements().contents, Self::add_document),
            (&Kind::Unit.statements().contents, Self::add_marker),
            (cypher!("read/kept"), Self::add_kept),
            (cypher!("read/passages"), Self::add_passage),
            (cypher!("read/vectors"), Self::add_passage_vectors),
            (cypher!("read/incoming"), |parts, row| parts.add_question(row, QuestionKind::Incoming)),
            (cypher!("read/outgoing"), |parts, row| parts.add_question(row, QuestionKind::Outgoing)),
        ];
        for (text, add) in parts {
            let mut visit =
                |row: &Row| add(self, row).ok_or_else(|| session.damaged("an element has not all that it should"));
            reading.rows("read the graph", text, &mut visit).await?;
        }
        Ok(())
    }

    fn add_document(&mut self, row: &Row) -> Option<()> {
        let shown = read_document(row, "id")?;
        let document = Document {
            id: shown.document,
            source_id: shown.source_id,
            title: shown.title,
            uri: shown.uri,
            media_type: shown.media_type,
            text: String::new(),
            positions: Positions::None,
            metadata: shown.metadata,
        };
        self.documents.insert((document.source_id.clone(), document.id), document);
        Some(())
    }

    fn add_marker(&mut self, row: &Row) -> Option<()> {
        let properties: BoltMap = row.get("properties").ok()?;
        let text = |name: &str| properties.get::<String>(name).ok();
        let vectors = bytes(properties.value.get(VECTORS))?;
        let marker = Marker {
            root: text("root")?,
            content: *blake3::Hash::from_hex(text("content")?).ok()?.as_bytes(),
            fingerprint: text("fingerprint")?,
            positions: match text("positions") {
                Some(positions) => serde_json::from_str(&positions).ok()?,
                None => Positions::None,
            },
            text: text("text")?,
            vectors,
            writers: texts(&properties, "writers")?,
            extractions: texts(&properties, "extractions")?,
        };
        let id: String = row.get("id").ok()?;
        self.markers.insert(DocumentId::from_bytes(unhex(&id)?), marker);
        Some(())
    }

    fn add_kept(&mut self, row: &Row) -> Option<()> {
        self.kept.add(row.get("name").ok()?, row.get("json").ok()?)
    }

    fn add_passage(&mut self, row: &Row) -> Option<()> {
        let passage = read_passage(row)?;
        self.passages.entry(passage.document).or_default().push(PassageUnit {
            passage,
            questions: Vec::new(),
            writer: None,
            extracted: None,
        });
        Some(())
    }

    fn add_passage_vectors(&mut self, row: &Row) -> Option<()> {
        let (id, vectors): (String, BoltType) = (row.get("id").ok()?, row.get("vectors").ok()?);
        self.passage_vectors.insert(PassageId::from_bytes(unhex(&id)?), bytes(Some(&vectors))?);
        Some(())
    }

    fn add_question(&mut self, row: &Row, kind: QuestionKind) -> Option<()> {
        let question = read_question(row, kind)?;
        let [place, _]: [u32; 2] = row.get::<BoltMap>("properties").ok()?.get("cairnPlace").ok()?;
        self.questions.entry(question.passage).or_default().insert((kind, place.into()), question);
        Some(())
    }

    /// Assembles the contents by owner.
    fn assemble(mut self, dimension: usize) -> Result<(Vec<DocumentUnit>, Vec<Vec<u8>>), String> {
        let (mut units, mut all_vectors) = (Vec::new(), Vec::new());
        for ((_, id), document) in std::mem::take(&mut self.documents) {
            let marker = self.markers.remove(&id).ok_or_else(|| format!("document `{id}` has no unit"))?;
            let Marker { root, content, fingerprint, positions, text, vectors, writers, extractions } = marker;
            let (mut own, mut of_sentences) = (Vec::new(), Vec::new());
            let mut passages = self.passages.remove(&id).unwrap_or_default();
            passages.sort_by_key(|it| it.passage.ordinal);
            let (mut writers, mut extractions) = (writers.into_iter(), extractions.into_iter());
            for unit in &mut passages {
                unit.writer = writers.next().filter(|writer| !writer.is_empty());
                if let Some(json) = extractions.next().filter(|it| !it.is_empty()) {
                    let extracted: Option<Extracted> = serde_json::from_str(&json).ok();
                    unit.extracted = extracted.filter(|it| it.found.is_of(&unit.passage.text));
                    if unit.extracted.is_none() {
                        return Err(format!("passage `{}` lacks the model's extraction", unit.passage.id));
                    }
                }
                let vectors = self.passage_vectors.remove(&unit.passage.id).unwrap_or_default();
                let (passage, sentences) = vectors.split_at(vectors.len().min(dimension + size_of::<f32>()));
                own.extend_from_slice(passage);
                of_sentences.extend_from_slice(sentences);
                unit.questions = self.questions.remove(&unit.passage.id).unwrap_or_default().into_values().collect();
            }
            let document = Document { text, positions, ..document };
            units.push(DocumentUnit { root, content, fingerprint, document, passages });
            all_vectors.push([own, of_sentences, vectors].concat());
        }
        Ok((units, all_vectors))
    }
}
