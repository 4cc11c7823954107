//! The structure of the passages that a question has reached.

use neo4rs::{BoltList, BoltType, Row};
use rustc_hash::FxHashSet;

use super::super::cache::{Rows, Structure, key};
use super::super::element::{Key, short};
use super::super::session::Session;
use super::super::statement::{Statement, cypher};
use super::place::Place;
use crate::error::Result;
use crate::store::Follow;

/// The kind of a row of a part.
#[derive(Clone, Copy)]
struct RowKind {
    /// Adds it; none if incomplete.
    add: fn(&mut Rows, &Row) -> Option<()>,
    /// The column of the passage that it is of.
    of: Option<&'static str>,
}

type Statements = &'static [(&'static str, RowKind)];
type Answers = Vec<(RowKind, Vec<Row>)>;

/// What every strategy compares.
const PASSAGES: Statements = &[(cypher!("walk/passages"), RowKind { add: Rows::add_part_passage, of: Some("id") })];
/// Names, and where each is mentioned.
const NAMES: Statements = &[(cypher!("walk/names"), RowKind { add: Rows::add_part_entity, of: None })];
const INCOMING: RowKind = RowKind { add: Rows::add_incoming, of: Some("passage") };
const EDGES: RowKind = RowKind { add: Rows::add_part_edges, of: Some("passage") };

/// The parts of the structure of passages that are read.
pub(super) struct Asked<'a> {
    pub(super) follow: Follow,
    pub(super) places: &'a [Place],
    /// In-coming questions are read that have one of these.
    pub(super) keywords: &'a [String],
    /// In-coming questions that were found.
    pub(super) found: Vec<&'a Key>,
}

/// Reads a part of the structure into `rows`. Of questions, those that a walk compares are read: those of edges between
/// these passages, with a keyword of the question, or found by an index.
pub(super) async fn read(session: &Session, version: i64, asked: &Asked<'_>, mut rows: Rows) -> Result<Structure> {
    let passages: FxHashSet<Key> = asked.places.iter().map(|place| place.key).collect();
    let keys = short(&passages);
    let statement = |text| Statement::new("read a part", text).with("version", version).with("passages", keys.clone());
    let named = if asked.follow == Follow::Names { NAMES } else { &[] };
    let (own, named, questions) = tokio::try_join!(
        ask(session, PASSAGES, &statement),
        ask(session, named, &statement),
        ask_questions(session, version, asked, &statement),
    )?;
    for (RowKind { add, of }, found) in own.into_iter().chain(named).chain(questions) {
        // Others may have been found by the first digits of a key.
        let is_asked = |row: &&Row| of.is_none_or(|of| key(row, of).is_some_and(|key| passages.contains(&key)));
        for row in found.iter().filter(is_asked) {
            add(&mut rows, row).ok_or_else(|| session.damaged("an element has not all that it should"))?;
        }
    }
    rows.into_structure(session)
}

async fn ask(
    session: &Session,
    statements: Statements,
    statement: &(impl Fn(&'static str) -> Statement + Sync),
) -> Result<Answers> {
    if statements.is_empty() {
        return Ok(Vec::new());
    }
    let answers = session.rows_of_each(statements.iter().map(|it| statement(it.0)).collect()).await?;
    Ok(statements.iter().map(|it| it.1).zip(answers).collect())
}

/// Asks for the edges with the questions that they join, and for the in-coming questions that were found or have a
/// keyword.
async fn ask_questions(
    session: &Session,
    version: i64,
    asked: &Asked<'_>,
    statement: &(impl Fn(&'static str) -> Statement + Sync),
) -> Result<Answers> {
    if asked.follow == Follow::Nothing {
        return Ok(Vec::new());
    }
    let keywords: Vec<BoltType> = asked.keywords.iter().map(|it| it.as_str().into()).collect();
    let about =
        statement(cypher!("walk/incoming-about")).with("keywords", BoltType::List(BoltList { value: keywords }));
    let found = Statement::new("read a part", cypher!("walk/incoming"))
        .with("version", version)
        .with("ids", short(asked.found.iter().copied()));
    let edges = statement(cypher!("walk/edges"));
    let (edges, about, found) = tokio::try_join!(session.rows(&edges), session.rows(&about), session.rows(&found))?;
    Ok(vec![(INCOMING, found), (INCOMING, about), (EDGES, edges)])
}
