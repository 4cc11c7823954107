//! A graph of the format before this one, taken over in place: nodes and relationships of its users stay as they are.
//!
//! That format knew its elements by properties that a user's own may have too (`since`, `until`), and its indexes by
//! names that a user may have given (`passage_text`). The first write makes the graph one that the earlier program
//! refuses, and readers of this one wait for; then every element gets the names that only we use; the last write takes
//! the traces of the earlier format away. Killed anywhere, whoever comes next finds the traces and goes on.

use neo4rs::{BoltType, Row};

use super::super::batch::{Rows, Work};
use super::super::lease::{Lease, Owner};
use super::super::session::Session;
use super::super::state::IndexState;
use super::super::statement::{Statement, cypher, split};
use super::Schema;
use super::schema::Due;
use crate::domain::DatabaseError;
use crate::error::Result;

/// Elements whose identities are held at one time.
const HELD_MAX: i64 = 200_000;
/// Bytes of the identity of an element, about.
const ELEMENT_BYTES: usize = 48;

/// What the earlier program made, to be dropped where it is still that.
const MADE: [&str; 3] =
    [cypher!("migrate/0001-constraints"), cypher!("migrate/0002-full-text"), cypher!("migrate/0003-vectors")];

/// What names the elements to convert, and what converts them.
const PARTS: [(&str, &str); 2] = [
    (cypher!("migrate/earlier/nodes"), cypher!("migrate/earlier/convert-nodes")),
    (cypher!("migrate/earlier/relationships"), cypher!("migrate/earlier/convert-relationships")),
];

/// Returns whether the graph is of the format before this one, or was left on the way from there.
pub(in crate::neo4j) async fn is_there(session: &Session) -> Result<bool> {
    let statement = Statement::new("look for an earlier format", cypher!("migrate/earlier/traces"));
    let rows = session.rows(&statement).await?;
    Ok(rows.first().and_then(|row| row.get::<i64>("traces").ok()).unwrap_or_default() > 0)
}

/// Returns where the index of a graph of the earlier format stands, if there is one.
pub(in crate::neo4j) async fn state(session: &Session) -> Result<Option<IndexState>> {
    let rows = session.rows(&Statement::new("read the index", cypher!("migrate/earlier/state"))).await?;
    rows.first().map(|row| IndexState::of(session, row)).transpose()
}

/// Refuses a database where constraints or indexes of a user's own are in the way of ours, once what the earlier
/// program made is dropped.
pub(in crate::neo4j) async fn refuse_others(session: &Session, dimension: usize) -> Result<()> {
    let schema = Schema::read(session).await?;
    let drops = schema.made_as(&made());
    super::refuse(session, &schema.without(&drops), dimension)
}

/// Makes a graph of the earlier format one of this format, and returns the lease that it was done under.
pub(in crate::neo4j) async fn take_over(session: &Session, owner: Owner) -> Result<Lease> {
    for text in split(cypher!("migrate/0004-keys")).take(1) {
        session.rows(&Statement::new("make the constraints and indexes", text)).await?;
    }
    begin(session, &owner).await?;
    let mut lease = Lease::take(session, owner).await?;
    drop_made(session).await?;
    for (found, convert) in PARTS {
        loop {
            let elements = elements(session, found).await?;
            if elements.is_empty() {
                break;
            }
            let mut rows = Rows::new(&mut lease, Work::convert(convert));
            for element in elements {
                rows.push(BoltType::from(element), ELEMENT_BYTES).await?;
            }
            rows.finish().await?;
        }
    }
    let last = [cypher!("migrate/earlier/forget-changes"), cypher!("migrate/earlier/end")];
    lease.write(last.map(|text| Statement::new("end the conversion", text)).into()).await?;
    Ok(lease)
}

async fn begin(session: &Session, owner: &Owner) -> Result<()> {
    let statement = Statement::new("begin the conversion", cypher!("migrate/earlier/begin"));
    let rows = session.rows(&statement.with("owner", owner.id())).await?;
    let is_busy = |row: &Row| row.get::<bool>("busy").unwrap_or_default();
    match rows.iter().find(|row| is_busy(row)) {
        None => Ok(()),
        Some(row) => {
            let owner = row.get("owner").unwrap_or_default();
            Err(session.error(DatabaseError::Publishing { owner }))
        }
    }
}

/// Drops what the earlier program made. What a user has given one of its names is not that.
async fn drop_made(session: &Session) -> Result<()> {
    let drops = Schema::read(session).await?.made_as(&made());
    for (text, names) in
        [(cypher!("migrate/drop-constraint"), drops.constraints), (cypher!("migrate/drop-index"), drops.indexes)]
    {
        for name in names {
            session.rows(&Statement::new("drop what an earlier program made", text).with("name", name)).await?;
        }
    }
    Ok(())
}

fn made() -> Vec<Due> {
    MADE.into_iter().flat_map(split).filter_map(Due::of).collect()
}

async fn elements(session: &Session, text: &'static str) -> Result<Vec<String>> {
    let mut elements = Vec::new();
    let mut visit = |row: &Row| {
        elements.extend(row.get::<String>("element").ok());
        Ok(())
    };
    let statement = Statement::new("read what is of the earlier format", text).with("limit", HELD_MAX);
    session.for_each_row(&statement, &mut visit).await?;
    Ok(elements)
}
