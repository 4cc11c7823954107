//! The schema: numbered migrations, recorded in the database with a checksum of their text.

use std::time::{Duration, Instant};

use neo4rs::{BoltList, BoltType, Row};

use super::session::Session;
use super::statement::{Statement, cypher, split};
use crate::domain::DatabaseError;
use crate::error::{Error, Result};

/// How often the state of indexes is looked at.
const POLL: Duration = Duration::from_millis(200);

/// A step of the schema.
#[derive(Debug, Clone, Copy)]
struct Migration {
    number: i64,
    id: &'static str,
    text: &'static str,
}

const MIGRATIONS: [Migration; 3] = [
    Migration { number: 1, id: "0001-constraints", text: cypher!("migrate/0001-constraints") },
    Migration { number: 2, id: "0002-full-text", text: cypher!("migrate/0002-full-text") },
    Migration { number: VECTORS, id: "0003-vectors", text: cypher!("migrate/0003-vectors") },
];
/// What must be there before anything is written.
const CONSTRAINTS: i64 = 1;
/// The migration that depends on the embedder.
const VECTORS: i64 = 3;

impl Migration {
    /// Returns a checksum of the statements, which comments and spaces do not change.
    fn checksum(&self) -> String {
        let lines = self.text.lines().filter(|line| !line.starts_with("//"));
        let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
        blake3::hash(words.join(" ").as_bytes()).to_hex()[..16].to_owned()
    }

    /// Returns the names of the constraints and indexes that it makes.
    fn names(self) -> impl Iterator<Item = &'static str> {
        split(self.text).filter_map(made_by)
    }
}

/// What was migrated.
#[derive(Debug, Clone, Default)]
pub(super) struct Applied(Vec<i64>);

impl Applied {
    /// Returns whether nothing was: then the database never held an index.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Reads what was migrated.
///
/// Refuses a migration that this program does not know, or knows otherwise.
pub(super) async fn applied(session: &Session) -> Result<Applied> {
    let rows = session.rows(&Statement::new("read the migrations", cypher!("read/migrations"))).await?;
    let mut applied = Applied::default();
    for row in rows {
        let read = |row: &Row| Some((row.get("number").ok()?, row.get("id").ok()?, row.get("checksum").ok()?));
        let (number, id, checksum): (i64, String, String) =
            read(&row).ok_or_else(|| session.damaged("its migrations cannot be read"))?;
        let refuse = |found: String| {
            let known = format!("up to `{}`", MIGRATIONS[MIGRATIONS.len() - 1].id);
            Err(session.error(DatabaseError::Format { found, known }))
        };
        match MIGRATIONS.iter().find(|it| it.number == number) {
            None => return refuse(format!("the migration `{id}`")),
            Some(known) if known.checksum() != checksum => return refuse(format!("another migration `{id}`")),
            Some(_) => applied.0.push(number),
        }
    }
    Ok(applied)
}

/// Makes the constraints, if they were never made; else checks that all that was made is there.
pub(super) async fn prepare(session: &Session, applied: &Applied) -> Result<()> {
    if !applied.0.contains(&CONSTRAINTS) {
        return apply(session, &MIGRATIONS[0], 0).await;
    }
    let missing = missing(session, applied).await?;
    if missing.is_empty() {
        return Ok(());
    }
    Err(session.error(DatabaseError::Schema { names: missing.join(", ") }))
}

/// Returns the names of those of our indexes whose server could not fill or keep them: it answers nothing from them.
pub(super) async fn failed(session: &Session) -> Result<Vec<&'static str>> {
    let rows = session.rows(&Statement::new("read the schema", cypher!("read/indexes-failed"))).await?;
    let names: Vec<String> = rows.iter().filter_map(|row| row.get("name").ok()).collect();
    let ours = MIGRATIONS.iter().flat_map(|it| it.names());
    Ok(ours.filter(|name| names.iter().any(|it| it == name)).collect())
}

/// Drops indexes that have failed, so that they can be made again, and returns their names.
async fn drop_failed(session: &Session) -> Result<Vec<&'static str>> {
    let failed = failed(session).await?;
    for name in &failed {
        let drop = Statement::new("drop an index that has failed", cypher!("migrate/drop-index"));
        session.rows(&drop.with("name", *name)).await?;
    }
    Ok(failed)
}

/// Returns the names of what was made and is not there any more.
pub(super) async fn missing(session: &Session, applied: &Applied) -> Result<Vec<&'static str>> {
    let mut names: Vec<String> = Vec::new();
    for text in [cypher!("read/constraints"), cypher!("read/indexes")] {
        let rows = session.rows(&Statement::new("read the schema", text)).await?;
        names.extend(rows.iter().filter_map(|row| row.get::<String>("name").ok()));
    }
    let made = MIGRATIONS.iter().filter(|it| applied.0.contains(&it.number));
    Ok(made.flat_map(|it| it.names()).filter(|name| !names.iter().any(|it| it == name)).collect())
}

/// Makes again what was made and is not there any more.
pub(super) async fn restore(session: &Session, applied: &Applied, dimension: usize) -> Result<()> {
    drop_failed(session).await?;
    for migration in MIGRATIONS.iter().filter(|it| applied.0.contains(&it.number)) {
        apply(session, migration, dimension).await?;
    }
    Ok(())
}

/// Makes the indexes that are not made yet or have failed, and waits until they can be asked; returns how long that
/// took, if any were made.
pub(super) async fn make_indexes(session: &Session, dimension: usize) -> Result<Option<Duration>> {
    let began = Instant::now();
    let applied = applied(session).await?;
    let failed = drop_failed(session).await?;
    let is_due = |it: Migration| !applied.0.contains(&it.number) || it.names().any(|name| failed.contains(&name));
    let due = |it: &&Migration| is_due(**it) && (it.number != VECTORS || dimension > 0);
    let due: Vec<&Migration> = MIGRATIONS.iter().filter(due).collect();
    for migration in &due {
        apply(session, migration, dimension).await?;
    }
    if due.is_empty() {
        return Ok(None);
    }
    // Indexes of the user's own are none of ours to wait for.
    let names = due.iter().flat_map(|it| it.names()).map(BoltType::from).collect();
    wait_for_indexes(session, BoltType::List(BoltList { value: names })).await?;
    Ok(Some(began.elapsed()))
}

async fn wait_for_indexes(session: &Session, names: BoltType) -> Result<()> {
    loop {
        let statement = Statement::new("wait for the indexes", cypher!("read/indexes-online"));
        let rows = session.rows(&statement.with("names", names.clone())).await?;
        let waiting = rows.first().and_then(|row| row.get::<i64>("waiting").ok()).unwrap_or_default();
        let failed: Vec<String> = rows.first().and_then(|row| row.get("failed").ok()).unwrap_or_default();
        if !failed.is_empty() {
            return Err(session.error(DatabaseError::Unfilled { names: failed.join(", ") }));
        }
        if waiting == 0 {
            return Ok(());
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Drops the vector indexes: those to come are of another dimension.
pub(super) async fn drop_vectors(session: &Session) -> Result<()> {
    for statement in split(cypher!("migrate/drop-vectors")) {
        session.rows(&Statement::new("drop the vector indexes", statement)).await?;
    }
    let statement = Statement::new("note the migration", cypher!("write/migration-undone")).with("number", VECTORS);
    session.rows(&statement).await.map(drop)
}

fn is_name_taken(error: &Error) -> bool {
    let Error::Database { source: DatabaseError::Statement { code, .. }, .. } = error else { return false };
    code.ends_with("Schema.IndexWithNameAlreadyExists")
}

/// Drops what a server leaves that is killed while it makes a constraint: the constraint's index, on its own and in the
/// way of the next attempt. Returns whether there was one.
async fn drop_leftover(session: &Session, text: &'static str) -> Result<bool> {
    let Some(name) = made_by(text).filter(|_| text.starts_with("CREATE CONSTRAINT")) else { return Ok(false) };
    let read = Statement::new("read the schema", cypher!("read/index-without-constraint")).with("name", name);
    if session.rows(&read).await?.is_empty() {
        return Ok(false);
    }
    tracing::debug!(name, "an index without its constraint is dropped");
    let drop = Statement::new("drop an index without its constraint", cypher!("migrate/drop-index"));
    session.rows(&drop.with("name", name)).await?;
    Ok(true)
}

/// Returns the name of the constraint or index that a statement makes.
fn made_by(statement: &'static str) -> Option<&'static str> {
    let mut words = statement.split_whitespace().skip_while(|word| *word != "CONSTRAINT" && *word != "INDEX");
    words.nth(1)
}

async fn apply(session: &Session, migration: &Migration, dimension: usize) -> Result<()> {
    // Schema and data do not change in one transaction; what is made twice is made once.
    for text in split(migration.text) {
        let statement = Statement::new("make the constraints and indexes", text)
            .with("dimension", (dimension as u64).cast_signed());
        let Err(error) = session.rows(&statement).await else { continue };
        if !(is_name_taken(&error) && drop_leftover(session, text).await?) {
            return Err(error);
        }
        session.rows(&statement).await?;
    }
    let statement = Statement::new("note the migration", cypher!("write/migration"))
        .with("id", migration.id)
        .with("number", migration.number)
        .with("checksum", migration.checksum());
    session.rows(&statement).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_are_numbered_and_name_what_they_make() {
        assert!(MIGRATIONS.iter().zip(1..).all(|(it, number)| it.number == number));
        let names: Vec<&str> = MIGRATIONS.iter().flat_map(|it| it.names()).collect();
        assert!(names.contains(&"cairn_leads_to") && names.contains(&"passage_embedding"), "{names:?}");
        assert_eq!(names.len(), 22);
    }

    #[test]
    fn a_checksum_is_of_statements_and_of_nothing_else() {
        let of = |text| Migration { number: 1, id: "", text }.checksum();
        assert_eq!(of("// a\nCREATE  x;\n"), of("CREATE\nx;"));
        assert_ne!(of("CREATE x;"), of("CREATE y;"));
    }
}
