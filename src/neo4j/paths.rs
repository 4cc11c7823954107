//! The shortest paths between two nodes, found by the database itself, without holding any of the graph in memory.

use std::collections::{BTreeMap, BTreeSet};

use neo4rs::{BoltList, BoltMap, BoltType, Row};

use super::download::bytes;
use super::reader::Reading;
use super::session::Session;
use super::spans::Spans;
use super::statement::{Statement, cypher};
use crate::domain::{
    Direction, DocumentId, EntityId, GraphPath, IndexVersion, PassageId, PathEnd, PathNode, PathOptions, PathSentence,
    PathStep, PathsBy, PathsFound, Span,
};
use crate::error::{Error, Result};
use crate::text::{ALIKE_CHARS_MIN, folded, near};

/// Documents of one title that an error names.
const AMONG_MAX: usize = 5;

/// Returns the shortest paths between two passages, entities or documents of the current version, shorter ones first.
/// Their number and lengths are those of [`QueryEngine::paths`](crate::QueryEngine::paths); if there are more of one
/// length than requested, the database chooses.
///
/// # Errors
///
/// [`Error::Unknown`] if an end names nothing, [`Error::Ambiguous`] if it names several documents, [`Error::Option`]
/// for an option out of bounds, [`PathsBy::All`], or equal ends, [`Error::Database`] if there is no index or it cannot
/// be read.
///
/// # Cancel safety
///
/// Safe: nothing is changed.
pub async fn paths(session: &Session, from: &PathEnd, to: &PathEnd, options: &PathOptions) -> Result<PathsFound> {
    options.check([from, to])?;
    options.by.check_for_cypher()?;
    let mut attempt = 0;
    loop {
        attempt += 1;
        let reading = Reading::begin(session).await?;
        let found = of_version(session, &reading, [from, to], options).await;
        if let Some(found) = reading.end(found, attempt).await? {
            return Ok(found);
        }
    }
}

async fn of_version(
    session: &Session,
    reading: &Reading<'_>,
    [from, to]: [&PathEnd; 2],
    options: &PathOptions,
) -> Result<PathsFound> {
    let ends = [resolve(session, reading, from, options.by).await?, resolve(session, reading, to, options.by).await?];
    if ends[0] == ends[1] {
        return Err(to.same());
    }
    let rows = session.rows(&statement(reading, &ends, options)).await?;
    let damaged = || session.damaged("a path has not all that it should");
    let mut paths = rows.iter().map(|row| path(row).ok_or_else(damaged)).collect::<Result<Vec<GraphPath>>>()?;
    if options.by.has_relations() {
        quote(session, reading, &rows, &mut paths).await?;
    }
    paths.sort_by_key(|path| path.steps.len());
    let ([from, to], version) = (ends, IndexVersion(reading.version.cast_unsigned()));
    Ok(PathsFound { from, to, version, by: options.by, length_max: options.length_max, paths })
}

fn statement(reading: &Reading<'_>, ends: &[PathNode; 2], options: &PathOptions) -> Statement {
    let [from, to] = ends.each_ref().map(id);
    let kinds: &[&str] = match options.by {
        PathsBy::Questions => &["PART_OF", "LEADS_TO", "MAY_LEAD_TO"],
        PathsBy::Names => &["PART_OF", "MENTIONED_IN"],
        PathsBy::Both => &["PART_OF", "LEADS_TO", "MAY_LEAD_TO", "MENTIONED_IN"],
        // Those of the statement; what is both was refused.
        PathsBy::Relations | PathsBy::All => &[],
    };
    let text = if options.by.has_relations() { cypher!("read/bridges") } else { cypher!("read/paths") };
    let statement = Statement::new("find paths", text)
        .with_literal("$paths", options.paths)
        .with_literal("$length_max", options.length_max)
        .with("ends", texts([from.as_str(), to.as_str()]))
        .with("from", from)
        .with("to", to)
        .with("documentsMax", options.documents_max.map_or(i64::MAX, i64::from))
        .with("version", reading.version);
    if kinds.is_empty() { statement } else { statement.with("kinds", texts(kinds.iter().copied())) }
}

/// Puts into relations the sentences that say so, out of the passages that rows name.
async fn quote(session: &Session, reading: &Reading<'_>, rows: &[Row], paths: &mut [GraphPath]) -> Result<()> {
    let damaged = || session.damaged("a relation has not all that it should");
    let place = |step: &BoltMap| {
        let passage = step.get::<Option<String>>("passage").ok().flatten()?;
        Some((passage, step.get::<u32>("sentence").ok()?))
    };
    let of_path = |row: &Row| Some(row.get::<Vec<BoltMap>>("steps").ok()?.iter().map(place).collect());
    let places: Vec<Vec<Option<(String, u32)>>> =
        rows.iter().map(|row| of_path(row).ok_or_else(damaged)).collect::<Result<_>>()?;
    let passages: BTreeSet<&str> = places.iter().flatten().flatten().map(|it| it.0.as_str()).collect();
    let statement = Statement::new("read what is said", cypher!("read/said")).with("version", reading.version);
    let found = session.rows(&statement.with("passages", texts(passages.iter().copied()))).await?;
    let mut said: BTreeMap<String, EvidenceText> = BTreeMap::new();
    for row in &found {
        let (id, passage) = EvidenceText::read(row).ok_or_else(damaged)?;
        said.insert(id, passage);
    }
    for (path, places) in paths.iter_mut().zip(&places) {
        for (step, place) in path.steps.iter_mut().zip(places) {
            if let (PathStep::RelatesTo { sentence }, Some((passage, number))) = (step, place) {
                let said = said.get(passage).and_then(|it| it.sentence(passage.parse().ok()?, *number));
                *sentence = Some(said.ok_or_else(damaged)?);
            }
        }
    }
    Ok(())
}

/// A passage that says something.
struct EvidenceText {
    text: String,
    sentences: Vec<Span>,
    uri: String,
    page: Option<u32>,
    line: Option<u32>,
}

impl EvidenceText {
    fn read(row: &Row) -> Option<(String, Self)> {
        let Spans { sentences, .. } = Spans::read(&bytes(row.get::<BoltType>("spans").ok().as_ref())?)?;
        let (text, uri) = (row.get("text").ok()?, row.get("uri").ok()?);
        let (page, line) = (row.get("page").ok()?, row.get("line").ok()?);
        Some((row.get("id").ok()?, Self { text, sentences, uri, page, line }))
    }

    fn sentence(&self, passage: PassageId, number: u32) -> Option<PathSentence> {
        let span = *self.sentences.get(number as usize)?;
        Some(PathSentence::of(passage, &self.text, span, (&self.uri, self.page, self.line)))
    }
}

fn texts<'a>(items: impl IntoIterator<Item = &'a str>) -> BoltType {
    BoltType::List(BoltList { value: items.into_iter().map(BoltType::from).collect() })
}

fn id(node: &PathNode) -> String {
    match node {
        PathNode::Passage { id, .. } => id.to_string(),
        PathNode::Entity { id, .. } => id.to_string(),
        PathNode::Document { id, .. } => id.to_string(),
    }
}

fn path(row: &Row) -> Option<GraphPath> {
    let nodes: Vec<BoltMap> = row.get("nodes").ok()?;
    let nodes: Vec<PathNode> = nodes.iter().map(node).collect::<Option<_>>()?;
    let steps: Vec<BoltMap> = row.get("steps").ok()?;
    let ends = nodes.windows(2).filter_map(|pair| Some((pair.first()?, pair.last()?)));
    let steps = steps.iter().zip(ends).map(|(step, (from, to))| read_step(step, from, to));
    Some(GraphPath { steps: steps.collect::<Option<_>>()?, nodes })
}

fn node(map: &BoltMap) -> Option<PathNode> {
    let (id, name): (String, String) = (map.get("id").ok()?, map.get("name").ok()?);
    Some(match map.get::<String>("kind").ok()?.as_str() {
        "passage" => PathNode::Passage { id: id.parse().ok()?, name, section: map.get("section").ok() },
        "entity" => PathNode::Entity { id: id.parse().ok()?, name },
        "document" => PathNode::Document { id: id.parse().ok()?, name },
        _ => return None,
    })
}

/// Reads the step from one node to the next.
fn read_step(map: &BoltMap, from: &PathNode, to: &PathNode) -> Option<PathStep> {
    let is_forward = map.get::<String>("from").ok()? == id(from);
    let direction = if is_forward { Direction::Forward } else { Direction::Backward };
    Some(match map.get::<String>("kind").ok()?.as_str() {
        "LEADS_TO" | "MAY_LEAD_TO" => PathStep::QuestionEdge { direction, question: map.get("question").ok()? },
        "MENTIONED_IN" => {
            let entity = if is_forward { from } else { to }.name().to_owned();
            PathStep::Mention { direction, entity }
        }
        "PART_OF" => PathStep::PartOf { direction },
        "RELATES_TO" => PathStep::RelatesTo { sentence: None },
        _ => return None,
    })
}

/// Returns the node that `end` names.
async fn resolve(session: &Session, reading: &Reading<'_>, end: &PathEnd, by: PathsBy) -> Result<PathNode> {
    let find = Finding { session, version: reading.version, by };
    let entity_id = |name: &str| EntityId::of(&[folded(name).as_bytes()]).to_string();
    let (name, found) = match end {
        PathEnd::Passage(id) => (id.to_string(), find.passage(&id.to_string()).await?),
        PathEnd::Entity(name) => (name.clone(), find.entity(&entity_id(name)).await?),
        PathEnd::Document(name) => (name.clone(), find.document(name).await?),
        PathEnd::Named(name) => {
            let mut found = find.passage(&name.to_lowercase()).await?;
            if found.is_none() && by.has_entities() {
                found = find.entity(&entity_id(name)).await?;
            }
            if found.is_none() {
                found = find.document(name).await?;
            }
            (name.clone(), found)
        }
    };
    match found {
        Some(found) => Ok(found),
        None => Err(find.unknown(name, end, by).await?),
    }
}

/// Looks for nodes of one version.
struct Finding<'a> {
    session: &'a Session,
    version: i64,
    by: PathsBy,
}

impl Finding<'_> {
    fn statement(&self, text: &'static str) -> Statement {
        Statement::new("find an end of a path", text).with("version", self.version)
    }

    async fn by_id(&self, id: &str) -> Result<Option<PathNode>> {
        self.node(cypher!("read/path-end"), id).await
    }

    /// Returns the entity of a name; where relations are walked, which join what names stand for, that.
    async fn entity(&self, id: &str) -> Result<Option<PathNode>> {
        if self.by.has_relations() { self.node(cypher!("read/stands-for"), id).await } else { self.by_id(id).await }
    }

    async fn node(&self, text: &'static str, id: &str) -> Result<Option<PathNode>> {
        let rows = self.session.rows(&self.statement(text).with("id", id)).await?;
        rows.first().map(|row| self.read(row)).transpose()
    }

    fn read(&self, row: &Row) -> Result<PathNode> {
        let map = row.to::<BoltMap>().ok();
        map.and_then(|map| node(&map)).ok_or_else(|| self.session.damaged("a node has not all that it should"))
    }

    async fn passage(&self, id: &str) -> Result<Option<PathNode>> {
        Ok(self.by_id(id).await?.filter(|node| matches!(node, PathNode::Passage { .. })))
    }

    /// Returns the document with this id in its source, or else the one with this title, or else the one with this
    /// title in other capitals.
    async fn document(&self, name: &str) -> Result<Option<PathNode>> {
        if let Some(found) = self.by_id(&DocumentId::of(&[name.as_bytes()]).to_string()).await? {
            return Ok(Some(found));
        }
        let mut titled = self.session.rows(&self.statement(cypher!("read/path-end-titled")).with("name", name)).await?;
        let is_exact = |row: &Row| row.get::<String>("title").is_ok_and(|title| title == name);
        if titled.iter().any(is_exact) {
            titled.retain(is_exact);
        }
        if titled.len() > 1 {
            let among = titled.iter().take(AMONG_MAX).filter_map(|row| row.get("source").ok()).collect();
            return Err(Error::Ambiguous { name: name.to_owned(), among });
        }
        titled.first().map(|row| self.read(row)).transpose()
    }

    /// Returns the error of a name that nothing has.
    async fn unknown(&self, name: String, end: &PathEnd, by: PathsBy) -> Result<Error> {
        let (entities, documents) = match end {
            PathEnd::Passage(_) => (false, false),
            PathEnd::Entity(_) => (true, false),
            PathEnd::Document(_) => (false, true),
            PathEnd::Named(_) => (by.has_entities(), true),
        };
        let beginning: String = folded(&name).chars().take(ALIKE_CHARS_MIN).collect();
        if beginning.is_empty() {
            return Ok(Error::Unknown { name, near: Vec::new() });
        }
        let statement = self
            .statement(cypher!("read/path-end-near"))
            .with("beginning", beginning)
            .with("entities", entities)
            .with("documents", documents);
        let rows = self.session.rows(&statement).await?;
        let near = near(&name, rows.iter().filter_map(|row| row.get::<String>("name").ok()));
        Ok(Error::Unknown { name, near })
    }
}
