//! What the database holds, by key and version.

use neo4rs::Row;

use super::element::unhex;
use super::kinds::Kind;
use super::plan::Held;
use super::session::Session;
use super::statement::Statement;
use crate::error::Result;

/// Reads what the database holds of a kind, of any version.
pub(super) async fn held(session: &Session, kind: Kind) -> Result<Vec<Held>> {
    let mut all = Vec::new();
    let statement = Statement::new("read what is there", &kind.statements().held);
    let read = |row: &Row| {
        let id: &str = row.get("id").ok()?;
        Some(Held {
            key: unhex(id)?,
            since: row.get("since").ok()?,
            until: row.get("until").ok()?,
            // What was changed by hand may have none; then it differs from all that is due.
            digest: row.get::<Option<i64>>("digest").ok()?.unwrap_or_default(),
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
