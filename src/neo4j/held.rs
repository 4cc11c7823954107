//! The elements in the database, by key and version.

use neo4rs::Row;

use super::element::{Properties, unhex};
use super::kinds::Kind;
use super::plan::Held;
use super::session::Session;
use super::source::relationship_key;
use super::statement::Statement;
use crate::error::Result;

/// Reads the elements of a kind in the database, of any version.
pub(super) async fn held(session: &Session, kind: Kind) -> Result<Vec<Held>> {
    let mut all = Vec::new();
    let statement = Statement::new("read what is there", &kind.statements().held);
    let (has_digest, nothing) = (!kind.properties().is_empty(), Properties::default().digest());
    let read = |row: &Row| {
        let key_of = |name: &str| unhex(row.get::<&str>(name).ok()?);
        let ends = match kind.ends() {
            None => None,
            Some(_) => Some([(key_of("from")?, row.get("fromSince").ok()?), (key_of("to")?, row.get("toSince").ok()?)]),
        };
        Some(Held {
            key: ends.map_or_else(|| key_of("id"), |[(from, _), (to, _)]| Some(relationship_key(&from, &to)))?,
            ends,
            since: row.get("since").ok()?,
            until: row.get("until").ok()?,
            // An element changed by hand may have none, and then differs from all that are due.
            digest: if has_digest { row.get::<Option<i64>>("digest").ok()?.unwrap_or_default() } else { nothing },
        })
    };
    let mut visit = |row: &Row| {
        // One whose key was changed by hand is nothing that is due; a check finds it.
        all.extend(read(row));
        Ok(())
    };
    session.for_each_row(&statement, &mut visit).await?;
    Ok(all)
}
