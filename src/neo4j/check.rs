//! Checks that the graph is what was published: its schema, its invariants, and the digest of every element.

use neo4rs::{BoltMap, Row};
use rustc_hash::FxHashSet;
use serde::Serialize;

use super::element::{Key, digest, unbolt, unhex};
use super::kinds::{COUNTS_AS_PUBLISHED, Kind, NOTHING_IS_LEFT};
use super::reader::{Reading, read_whole};
use super::schema;
use super::session::Session;
use super::source::relationship_key;
use super::state::IndexState;
use super::statement::cypher;
use crate::domain::CollectionId;
use crate::error::Result;

/// Offenders that are named.
const EXAMPLES_MAX: usize = 5;

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Name of the check.
    pub check: &'static str,
    /// How much offends.
    pub offenders: u64,
    /// Some of it: ids, or names.
    pub examples: Vec<String>,
}

/// The results of all checks of a graph.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// The version that was checked.
    pub version: u64,
    /// The collection that it is an index of; none where an earlier program published it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collection: Option<CollectionId>,
    /// Every check, in order.
    pub checks: Vec<Finding>,
    /// Elements whose contents are not what was published.
    #[serde(skip)]
    pub(super) suspects: FxHashSet<(Kind, Key)>,
}

/// The check of constraints and indexes.
const SCHEMA: &str = "schema";

impl CheckReport {
    /// Returns whether constraints or indexes are not as they should be: [`restore`](super::restore()) makes them
    /// again.
    #[must_use]
    pub fn lacks_schema(&self) -> bool {
        self.checks.iter().any(|finding| finding.check == SCHEMA && finding.offenders > 0)
    }

    /// Returns whether nothing was found.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.checks.iter().all(|finding| finding.offenders == 0)
    }
}

/// Invariants, each a statement that counts what offends.
const INVARIANTS: [(&str, &str); 9] = [
    ("passages-in-one-document", cypher!("check/passages-in-one-document")),
    ("passages-in-order", cypher!("check/passages-in-order")),
    ("questions-of-one-passage", cypher!("check/questions-of-one-passage")),
    ("edges-between-two-passages", cypher!("check/edges-between-two-passages")),
    ("entities-are-mentioned", cypher!("check/entities-are-mentioned")),
    ("communities-within-one", cypher!("check/communities-within-one")),
    ("summaries-of-the-layer-below", cypher!("check/summaries-of-the-layer-below")),
    ("documents-have-units", cypher!("check/documents-have-units")),
    ("vectors-of-one-dimension", cypher!("check/vectors-of-one-dimension")),
];

/// Checks the index that a database holds.
///
/// # Errors
///
/// [`Error::Database`](crate::Error::Database) if there is no index or it cannot be read. Faults are not errors, but
/// part of the report.
///
/// # Cancel safety
///
/// Safe: nothing is changed.
pub async fn check(session: &Session) -> Result<CheckReport> {
    // First, since a graph of an earlier format is to be taken over before it is checked.
    Reading::begin(session).await?;
    let (version, mut report) = read_whole(session, async |reading| {
        let state = IndexState::read_current(session).await?;
        let mut report = CheckReport { collection: state.collection, ..CheckReport::default() };
        let schema::Wrong { missing, others } = schema::wrong(session, state.dimension).await?;
        let examples: Vec<String> = missing.into_iter().map(str::to_owned).chain(others).collect();
        report.checks.push(Finding { check: SCHEMA, offenders: examples.len() as u64, examples });
        let of_kinds = [("counts", COUNTS_AS_PUBLISHED.as_str()), ("nothing-is-left", NOTHING_IS_LEFT.as_str())];
        for (name, text) in INVARIANTS.into_iter().chain(of_kinds) {
            report.checks.push(ask(session, reading, name, text).await?);
        }
        check_contents(reading, &mut report).await?;
        Ok(report)
    })
    .await?;
    report.version = version.0;
    Ok(report)
}

async fn ask(session: &Session, reading: &Reading<'_>, check: &'static str, text: &'static str) -> Result<Finding> {
    let mut finding = None;
    let mut visit = |row: &Row| {
        let offenders = row.get::<i64>("offenders").map(i64::cast_unsigned);
        let examples = row.get::<Vec<Option<String>>>("examples");
        finding = offenders.ok().zip(examples.ok());
        Ok(())
    };
    reading.rows("check the graph", text, &mut visit).await?;
    let (offenders, examples) =
        finding.ok_or_else(|| session.damaged(format!("the check `{check}` cannot be made")))?;
    Ok(Finding { check, offenders, examples: examples.into_iter().flatten().collect() })
}

/// Computes the digest of every element again.
async fn check_contents(reading: &Reading<'_>, report: &mut CheckReport) -> Result<()> {
    let mut finding = Finding { check: "contents", offenders: 0, examples: Vec::new() };
    for kind in Kind::ALL {
        let mut visit = |row: &Row| {
            let key = key_of(kind, row);
            if key.is_some() && is_as_written(kind, row).unwrap_or(false) {
                return Ok(());
            }
            finding.offenders += 1;
            if finding.examples.len() < EXAMPLES_MAX {
                finding.examples.push(format!("{} {}", kind.name(), shown(row)));
            }
            report.suspects.extend(key.map(|key| (kind, key)));
            Ok(())
        };
        reading.rows("check the graph", &kind.statements().contents, &mut visit).await?;
    }
    report.checks.push(finding);
    Ok(())
}

/// Returns the key of the element of a row; none where it has none that is written.
fn key_of(kind: Kind, row: &Row) -> Option<Key> {
    let column = |name: &str| unhex(row.get::<&str>(name).ok()?);
    match kind.ends() {
        None => column("id"),
        Some(_) => Some(relationship_key(&column("from")?, &column("to")?)),
    }
}

/// Returns what a row is known by: its id, or those of its ends.
fn shown(row: &Row) -> String {
    let column = |name: &str| row.get::<Option<String>>(name).ok().flatten();
    let ids = ["id", "from", "to"].map(column);
    ids.into_iter().flatten().collect::<Vec<String>>().join(" to ")
}

/// Returns whether the properties of a row that an element of `kind` can have are those of the digest that was written
/// with them; none where they are of types that are never written. Others are its users' own.
fn is_as_written(kind: Kind, row: &Row) -> Option<bool> {
    if kind.properties().is_empty() {
        return Some(true);
    }
    let stored: i64 = row.get("digest").ok()?;
    let properties: BoltMap = row.get("properties").ok()?;
    let own = properties.value.into_iter().filter(|(name, _)| kind.has(&name.value));
    let mut values = Vec::new();
    for (name, value) in own {
        values.push((name.value, unbolt(value)?));
    }
    Some(digest(values.iter().map(|(name, value)| (name.as_str(), value)).collect()) == stored)
}
