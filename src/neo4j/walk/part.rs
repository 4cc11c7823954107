//! The structure of the passages that a question has reached.

use neo4rs::{BoltList, BoltType, Row};

use super::super::cache::{Rows, Structure};
use super::super::element::key_row;
use super::super::session::Session;
use super::super::statement::{Statement, cypher};
use super::place::Place;
use crate::error::Result;
use crate::store::Follow;

/// Adds what a row is; none where it has not all that it should.
type Add = fn(&mut Rows, &Row) -> Option<()>;
type Statements = &'static [(&'static str, Add)];

/// What every strategy compares.
const PASSAGES: Statements =
    &[(cypher!("walk/documents"), Rows::add_document), (cypher!("walk/passages"), Rows::add_part_passage)];
/// Question edges and what they join.
const QUESTIONS: Statements = &[
    (cypher!("walk/incoming"), Rows::add_incoming),
    (cypher!("walk/outgoing"), Rows::add_outgoing),
    (cypher!("walk/edges"), Rows::add_edge),
];
/// Names and mentions, entities before what refers to them.
const NAMES: Statements = &[
    (cypher!("walk/entities"), Rows::add_entity),
    (cypher!("walk/names"), Rows::add_name),
    (cypher!("walk/mentions"), Rows::add_mention),
];

/// Reads the structure of passages, as much of it as is followed, into `rows`.
pub(super) async fn read(
    session: &Session,
    version: i64,
    follow: Follow,
    places: &[Place],
    mut rows: Rows,
) -> Result<Structure> {
    let named = if follow == Follow::Names { NAMES } else { &[] };
    let questions = if follow == Follow::Nothing { &[] } else { QUESTIONS };
    let (passages, named, questions) = tokio::try_join!(
        ask(session, version, PASSAGES, places),
        ask(session, version, named, places),
        ask(session, version, questions, places),
    )?;
    for (add, found) in passages.into_iter().chain(named).chain(questions) {
        for row in &found {
            add(&mut rows, row).ok_or_else(|| session.damaged("an element has not all that it should"))?;
        }
    }
    rows.into_structure(session)
}

async fn ask(
    session: &Session,
    version: i64,
    statements: Statements,
    places: &[Place],
) -> Result<Vec<(Add, Vec<Row>)>> {
    let keys = places.iter().map(|place| BoltType::Map(key_row(&place.key, place.since)));
    let keys = BoltType::List(BoltList { value: keys.collect() });
    if statements.is_empty() {
        return Ok(Vec::new());
    }
    let statement = |(text, _): &(&'static str, Add)| {
        Statement::new("read a part", text).with("version", version).with("passages", keys.clone())
    };
    let answers = session.rows_of_each(statements.iter().map(statement).collect()).await?;
    Ok(statements.iter().map(|it| it.1).zip(answers).collect())
}
