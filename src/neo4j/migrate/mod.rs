//! The schema: numbered migrations, recorded in the database with a checksum of their text.

pub(super) mod earlier;
mod schema;

use std::time::{Duration, Instant};

use neo4rs::{BoltList, BoltType, Row};

use self::schema::{Due, Purpose, Schema};
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

/// Those before them are of the format before this one, which [`earlier`] takes over.
const MIGRATIONS: [Migration; 4] = [
    Migration { number: 4, id: "0004-keys", text: cypher!("migrate/0004-keys") },
    Migration { number: 5, id: "0005-full-text", text: cypher!("migrate/0005-full-text") },
    Migration { number: VECTORS, id: "0006-vectors", text: cypher!("migrate/0006-vectors") },
    Migration { number: 7, id: "0007-duplicates", text: cypher!("migrate/0007-duplicates") },
];
/// The migration that depends on the embedder.
const VECTORS: i64 = 6;

impl Migration {
    /// Returns a checksum of the statements, which comments and spaces do not change.
    fn checksum(&self) -> String {
        let lines = self.text.lines().filter(|line| !line.starts_with("//"));
        let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
        blake3::hash(words.join(" ").as_bytes()).to_hex()[..16].to_owned()
    }

    /// Returns whether it makes constraints, which must be there before anything is written.
    fn makes_keys(self) -> bool {
        self.due().any(|due| due.purpose == Purpose::Unique)
    }

    /// Returns the constraints and indexes that it makes.
    fn due(self) -> impl Iterator<Item = Due> {
        split(self.text).filter_map(Due::of)
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

/// Returns all that is due: vector indexes only where there are vectors.
fn all_due(dimension: usize) -> Vec<Due> {
    MIGRATIONS.iter().filter(|it| it.number != VECTORS || dimension > 0).flat_map(|it| it.due()).collect()
}

/// Returns what was made.
fn due_of(applied: &Applied) -> Vec<Due> {
    MIGRATIONS.iter().filter(|it| applied.0.contains(&it.number)).flat_map(|it| it.due()).collect()
}

/// Refuses a database where constraints or indexes of a user's own are in the way of ours, or of what we write.
pub(super) async fn refuse_others(session: &Session, dimension: usize) -> Result<()> {
    refuse(session, &Schema::read(session).await?, dimension)
}

fn refuse(session: &Session, schema: &Schema, dimension: usize) -> Result<()> {
    match schema.in_the_way(&all_due(dimension)) {
        names if names.is_empty() => Ok(()),
        names => Err(session.error(DatabaseError::InTheWay { names: names.join(", ") })),
    }
}

/// Checks that all that was made is there, and makes the constraints that were never made.
pub(super) async fn prepare(session: &Session, applied: &Applied, dimension: usize) -> Result<()> {
    if !applied.is_empty() {
        let missing = Schema::read(session).await?.lost(&due_of(applied), dimension);
        if !missing.is_empty() {
            return Err(session.error(DatabaseError::Schema { names: missing.join(", ") }));
        }
    }
    for migration in MIGRATIONS.iter().filter(|it| it.makes_keys() && !applied.0.contains(&it.number)) {
        apply(session, migration, dimension).await?;
    }
    Ok(())
}

/// What is wrong with the schema.
#[derive(Debug, Clone, Default)]
pub(super) struct Wrong {
    /// Names of what was made and is not there as it was made.
    pub(super) missing: Vec<&'static str>,
    /// What is not ours and in our way.
    pub(super) others: Vec<String>,
}

/// Returns what is wrong with the schema of a graph whose vectors have this dimension.
pub(super) async fn wrong(session: &Session, applied: &Applied, dimension: usize) -> Result<Wrong> {
    let schema = Schema::read(session).await?;
    let (missing, others) = (schema.missing(&due_of(applied), dimension), schema.in_the_way(&all_due(dimension)));
    Ok(Wrong { missing, others })
}

/// Returns those of our indexes with these names that cannot be asked: not there, not as they should be, not filled.
pub(super) async fn unready(session: &Session, names: &[&str], dimension: usize) -> Result<Vec<&'static str>> {
    let due: Vec<Due> = all_due(dimension).into_iter().filter(|it| names.contains(&it.name)).collect();
    Ok(Schema::read(session).await?.unready(&due, dimension))
}

async fn drop_index(session: &Session, name: &str) -> Result<()> {
    let drop = Statement::new("drop an index that is not whole", cypher!("migrate/drop-index"));
    session.rows(&drop.with("name", name)).await.map(std::mem::drop)
}

/// Drops indexes of ours that have failed or are over other vectors, so that they can be made again, and returns their
/// names.
async fn drop_spoiled(session: &Session, due: &[Due], dimension: usize) -> Result<Vec<String>> {
    let spoiled = Schema::read(session).await?.spoiled(due, dimension);
    for name in &spoiled {
        tracing::debug!(name, "an index that is not whole is dropped");
        drop_index(session, name).await?;
    }
    Ok(spoiled)
}

/// Makes again what was made and is not there any more.
pub(super) async fn restore(session: &Session, applied: &Applied, dimension: usize) -> Result<()> {
    drop_spoiled(session, &due_of(applied), dimension).await?;
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
    let spoiled = drop_spoiled(session, &due_of(&applied), dimension).await?;
    let is_spoiled = |it: Migration| it.due().any(|due| spoiled.iter().any(|name| name == due.name));
    let is_due = |it: Migration| !applied.0.contains(&it.number) || is_spoiled(it);
    let due = |it: &&Migration| is_due(**it) && (it.number != VECTORS || dimension > 0);
    let due: Vec<&Migration> = MIGRATIONS.iter().filter(due).collect();
    for migration in &due {
        apply(session, migration, dimension).await?;
    }
    if due.is_empty() {
        return Ok(None);
    }
    wait_for_indexes(session, due.iter().flat_map(|it| it.due())).await?;
    Ok(Some(began.elapsed()))
}

/// Waits until all indexes that are due can be asked.
pub(super) async fn wait_for_all(session: &Session, dimension: usize) -> Result<()> {
    wait_for_indexes(session, all_due(dimension).into_iter()).await
}

/// Indexes of the user's own are none of ours to wait for.
async fn wait_for_indexes(session: &Session, due: impl Iterator<Item = Due>) -> Result<()> {
    let names = BoltType::List(BoltList { value: due.map(|it| BoltType::from(it.name)).collect() });
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
    let Some(due) = Due::of(text).filter(|due| due.purpose == Purpose::Unique) else { return Ok(false) };
    Ok(!drop_spoiled(session, &[due], 0).await?.is_empty())
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
        assert!(MIGRATIONS.iter().zip(4..).all(|(it, number)| it.number == number));
        let is_unique = |due: Due| due.purpose == Purpose::Unique;
        // What makes keys is applied before the first load, and indexes are made after it.
        assert!(MIGRATIONS.iter().all(|it| it.due().all(|due| is_unique(due) == it.makes_keys())));
        let names: Vec<&str> = MIGRATIONS.iter().flat_map(|it| it.due()).map(|due| due.name).collect();
        assert!(names.contains(&"cairn_leads_to_key") && names.contains(&"cairn_passage_embedding"), "{names:?}");
        assert!(names.iter().all(|name| name.starts_with("cairn_")), "{names:?}");
        assert_eq!(names.len(), 20);
    }

    #[test]
    fn a_checksum_is_of_statements_and_of_nothing_else() {
        let of = |text| Migration { number: 1, id: "", text }.checksum();
        assert_eq!(of("// a\nCREATE  x;\n"), of("CREATE\nx;"));
        assert_ne!(of("CREATE x;"), of("CREATE y;"));
    }
}
