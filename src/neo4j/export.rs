//! The canonical form of the version in the database: the same lines as from its workspace.

mod hierarchy;

use neo4rs::{BoltMap, BoltType, Row};

use self::hierarchy::{
    push_aspects, push_community, push_member, push_membership, push_relation, push_report, push_summary,
};
pub(super) use self::hierarchy::{
    read_aspects, read_community, read_member, read_membership, read_relation, read_report, read_summary,
};
use super::cache::{mentioned, ordinal};
use super::download::bytes;
use super::element::unhex;
use super::kinds::Kind;
use super::reader::{Reading, read_whole};
use super::session::Session;
use super::spans::Spans;
use super::state::IndexState;
use super::statement::cypher;
use crate::domain::{
    DocumentId, EdgeId, EntityId, Keywords, Metadata, Origin, Passage, PassageId, PseudoQuery, QuestionEdge,
    QuestionId, QuestionKind, QuestionOrigin,
};
use crate::error::Result;
use crate::store::DocumentText;
use crate::text::plural;
use crate::workspace::{CanonicalLines, DescribedEntity, Mention, RelationDescription};

/// Returns the documents, passages, questions, mentions, edges and hierarchy of the version in the database, as
/// [`Snapshot::canonical_lines`](crate::workspace::Snapshot::canonical_lines) does of a workspace.
///
/// # Errors
///
/// [`Error::Database`](crate::Error::Database) if there is no index, it cannot be read, or new versions are published
/// faster than one is read.
///
/// # Cancel safety
///
/// Safe: nothing is changed.
pub async fn canonical_lines(session: &Session) -> Result<Vec<String>> {
    let (_, lines) = read_whole(session, async |reading| read_lines(session, reading).await).await?;
    Ok(lines.sorted())
}

/// A part of the export: its name, that of its count, its statement, and the line made from a row.
type Part = (&'static str, &'static str, &'static str, fn(&Row, &mut CanonicalLines) -> Option<Result<()>>);

async fn read_lines(session: &Session, reading: &Reading<'_>) -> Result<CanonicalLines> {
    let state = IndexState::read_current(session).await?;
    let parts: [Part; 15] = [
        ("document", "documents", &Kind::Document.statements().contents, |row, lines| {
            Some(lines.push_document(&read_document(row, "id")?))
        }),
        ("passage", "passages", cypher!("read/passages"), |row, lines| {
            Some(lines.push("passage", &read_passage(row)?))
        }),
        ("question", "incoming", cypher!("read/incoming"), |row, lines| {
            Some(lines.push("question", &read_question(row, QuestionKind::Incoming)?))
        }),
        ("question", "outgoing", cypher!("read/outgoing"), |row, lines| {
            Some(lines.push("question", &read_question(row, QuestionKind::Outgoing)?))
        }),
        ("mention", "mentions", cypher!("read/mentions"), push_mentions),
        ("edge", "edges", cypher!("read/edges"), |row, lines| Some(lines.push("edge", &read_edge(row)?))),
        ("relation", "relations", cypher!("read/relations"), push_relation),
        ("community", "communities", cypher!("read/communities"), push_community),
        ("member", "members", cypher!("read/members"), push_member),
        ("summary", "summaries", &Kind::Summary.statements().contents, push_summary),
        ("membership", "memberships", cypher!("read/memberships"), push_membership),
        ("described entity", "entitiesByModel", cypher!("read/described"), |row, lines| {
            Some(lines.push("entity", &described(row)?))
        }),
        ("described relation", "relationsByModel", cypher!("read/described-relations"), |row, lines| {
            Some(lines.push("relation_description", &described_relation(row)?))
        }),
        ("report", "reports", cypher!("read/reports"), push_report),
        ("summary description", "summariesByModel", cypher!("read/summary-descriptions"), push_aspects),
    ];
    let mut lines = CanonicalLines::default();
    for (name, counted, text, push) in parts {
        let before = lines.len();
        let mut visit = |row: &Row| {
            let incomplete = || Err(session.damaged(format!("a {name} has not all that it should")));
            push(row, &mut lines).unwrap_or_else(incomplete)
        };
        reading.rows("read the graph", text, &mut visit).await?;
        // While an element is deleted, a read may miss the mark that it is no longer in the version.
        if Some((lines.len() - before) as u64) != state.count(counted) {
            return Err(session.damaged(format!("it holds another number of {} than was published", plural(name))));
        }
    }
    Ok(lines)
}

/// Returns the id in a column or property.
pub(super) fn id<T>(text: Option<&str>, of: impl FnOnce([u8; 16]) -> T) -> Option<T> {
    text.and_then(unhex).map(of)
}

pub(super) fn column<T>(row: &Row, name: &str, of: impl FnOnce([u8; 16]) -> T) -> Option<T> {
    id(row.get(name).ok(), of)
}

fn properties(row: &Row) -> Option<BoltMap> {
    row.get("properties").ok()
}

fn text(properties: &BoltMap, name: &str) -> Option<String> {
    properties.get::<Option<String>>(name).ok().flatten()
}

/// Returns the shown properties of the document whose key is in column `id` of a row.
pub(super) fn read_document(row: &Row, id: &str) -> Option<DocumentText> {
    let properties = properties(row)?;
    let metadata = match text(&properties, "metadata") {
        Some(metadata) => serde_json::from_str(&metadata).ok()?,
        None => Metadata::new(),
    };
    Some(DocumentText {
        document: column(row, id, DocumentId::from_bytes)?,
        source_id: text(&properties, "sourceId")?,
        title: text(&properties, "title"),
        uri: text(&properties, "uri")?,
        media_type: text(&properties, "mediaType")?,
        metadata,
        duplicate_of: text(&properties, "duplicateOf").as_deref().and_then(unhex).map(DocumentId::from_bytes),
    })
}

/// Returns the passage of a row.
pub(super) fn read_passage(row: &Row) -> Option<Passage> {
    let Spans { own, sentences, .. } = Spans::read(&bytes(row.get::<BoltType>("spans").ok().as_ref())?)?;
    Some(Passage {
        id: column(row, "id", PassageId::from_bytes)?,
        document: column(row, "document", DocumentId::from_bytes)?,
        ordinal: ordinal(row)?,
        span: own,
        section: row.get("section").ok()?,
        page: row.get("page").ok()?,
        line: row.get("line").ok()?,
        column: row.get("column").ok()?,
        text: row.get("text").ok()?,
        sentences,
    })
}

/// Returns the question of a row.
pub(super) fn read_question(row: &Row, kind: QuestionKind) -> Option<PseudoQuery> {
    let properties = properties(row)?;
    let origin = QuestionOrigin::of_name(&text(&properties, "origin")?)?;
    Some(PseudoQuery {
        id: column(row, "id", QuestionId::from_bytes)?,
        passage: column(row, "passage", PassageId::from_bytes)?,
        kind,
        origin,
        text: text(&properties, "name")?,
        keywords: keywords(&properties)?,
        sentence: properties.get::<[u32; 2]>("cairnPlace").ok()?[1],
    })
}

fn keywords(properties: &BoltMap) -> Option<Keywords> {
    Some(properties.get::<Option<Vec<String>>>("keywords").ok()?.unwrap_or_default().into())
}

fn push_mentions(row: &Row, lines: &mut CanonicalLines) -> Option<Result<()>> {
    let (entity, passage) = (column(row, "id", EntityId::from_bytes)?, column(row, "passage", PassageId::from_bytes)?);
    let name: &str = row.get("name").ok()?;
    let mentions: Vec<&str> = row.get("mentions").ok()?;
    let sentences = mentions.into_iter().map(|it| Some(mentioned(it)?.0)).collect::<Option<Vec<u32>>>()?;
    let origins: Option<Vec<&str>> = row.get("origins").ok()?;
    let origins: Vec<Option<Origin>> = match origins {
        Some(origins) => origins.into_iter().map(|it| Origin::of_name(it).map(Some)).collect::<Option<_>>()?,
        None => vec![None; sentences.len()],
    };
    if origins.len() != sentences.len() {
        return None;
    }
    let mut push = |(sentence, origin)| lines.push("mention", &Mention { entity, name, passage, sentence, origin });
    Some(sentences.into_iter().zip(origins).try_for_each(&mut push))
}

fn described(row: &Row) -> Option<DescribedEntity<'_>> {
    Some(DescribedEntity {
        id: column(row, "id", EntityId::from_bytes)?,
        name: row.get("name").ok()?,
        kind: row.get("type").ok()?,
        description: row.get("description").ok()?,
        origin: Origin::of_name(row.get("origin").ok()?)?,
    })
}

fn described_relation(row: &Row) -> Option<RelationDescription<'_>> {
    Some(RelationDescription {
        from: column(row, "from", EntityId::from_bytes)?,
        to: column(row, "to", EntityId::from_bytes)?,
        description: row.get("description").ok()?,
        origin: Origin::of_name(row.get("origin").ok()?)?,
    })
}

fn read_edge(row: &Row) -> Option<QuestionEdge> {
    let properties = properties(row)?;
    let (from, to) = (column(row, "from", PassageId::from_bytes)?, column(row, "to", PassageId::from_bytes)?);
    Some(QuestionEdge {
        id: EdgeId::of(&[from.as_bytes(), to.as_bytes()]),
        from,
        to,
        outgoing: id(text(&properties, "cairnOutgoing").as_deref(), QuestionId::from_bytes)?,
        incoming: id(text(&properties, "cairnIncoming").as_deref(), QuestionId::from_bytes)?,
        question: text(&properties, "question")?,
        keywords: keywords(&properties)?,
        similarity: properties.get::<f64>("similarity").ok()? as f32,
    })
}
