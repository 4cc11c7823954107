//! The shortest paths between two nodes, found by the database itself: nothing of the graph is held in memory.

use neo4rs::{BoltList, BoltMap, BoltType, Row};

use super::reader::Reading;
use super::session::Session;
use super::statement::{Statement, cypher};
use crate::domain::{
    Direction, DocumentId, EntityId, GraphPath, IndexVersion, PathEnd, PathNode, PathOptions, PathStep, PathsBy,
    PathsFound,
};
use crate::error::{Error, Result};
use crate::text::{ALIKE_CHARS_MIN, folded, near};

/// Documents of one title that an error names.
const AMONG_MAX: usize = 5;

/// Returns the shortest paths between two passages, entities or documents of the version that is current, shorter ones
/// first. They are as many and as long as [`QueryEngine::paths`](crate::QueryEngine::paths) finds; among those of one
/// length, where there are more than were asked for, the database chooses.
///
/// # Errors
///
/// [`Error::Unknown`] if an end names nothing, [`Error::Ambiguous`] if it names several documents, [`Error::Option`]
/// for an option out of bounds, relations, or ends that are one, [`Error::Database`] if there is no index or it cannot
/// be read.
///
/// # Cancel safety
///
/// Safe: nothing is changed.
pub async fn paths(session: &Session, from: &PathEnd, to: &PathEnd, options: &PathOptions) -> Result<PathsFound> {
    options.check([from, to])?;
    options.by.check_for_database()?;
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
    paths.sort_by_key(|path| path.steps.len());
    let ([from, to], version) = (ends, IndexVersion(reading.version.cast_unsigned()));
    Ok(PathsFound { from, to, version, by: options.by, length_max: options.length_max, paths })
}

fn statement(reading: &Reading<'_>, ends: &[PathNode; 2], options: &PathOptions) -> Statement {
    let [from, to] = ends.each_ref().map(id);
    let kinds: &[&str] = match options.by {
        PathsBy::Questions => &["PART_OF", "LEADS_TO", "MAY_LEAD_TO"],
        PathsBy::Names => &["PART_OF", "MENTIONED_IN"],
        // Relations were refused.
        PathsBy::Both | PathsBy::Relations | PathsBy::All => &["PART_OF", "LEADS_TO", "MAY_LEAD_TO", "MENTIONED_IN"],
    };
    Statement::new("find paths", cypher!("read/paths"))
        .with_literal("$paths", options.paths)
        .with_literal("$length_max", options.length_max)
        .with("ends", texts([from.as_str(), to.as_str()]))
        .with("from", from)
        .with("to", to)
        .with("kinds", texts(kinds.iter().copied()))
        .with("documentsMax", options.documents_max.map_or(i64::MAX, i64::from))
        .with("version", reading.version)
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
        _ => return None,
    })
}

/// Returns the node that `end` names.
async fn resolve(session: &Session, reading: &Reading<'_>, end: &PathEnd, by: PathsBy) -> Result<PathNode> {
    let find = Finding { session, version: reading.version };
    let entity_id = |name: &str| EntityId::of(&[folded(name).as_bytes()]).to_string();
    let (name, found) = match end {
        PathEnd::Passage(id) => (id.to_string(), find.passage(&id.to_string()).await?),
        PathEnd::Entity(name) => (name.clone(), find.by_id(&entity_id(name)).await?),
        PathEnd::Document(name) => (name.clone(), find.document(name).await?),
        PathEnd::Named(name) => {
            let mut found = find.passage(&name.to_lowercase()).await?;
            if found.is_none() && by.has_names() {
                found = find.by_id(&entity_id(name)).await?;
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
}

impl Finding<'_> {
    fn statement(&self, text: &'static str) -> Statement {
        Statement::new("find an end of a path", text).with("version", self.version)
    }

    async fn by_id(&self, id: &str) -> Result<Option<PathNode>> {
        let rows = self.session.rows(&self.statement(cypher!("read/path-end")).with("id", id)).await?;
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
            PathEnd::Named(_) => (by.has_names(), true),
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
