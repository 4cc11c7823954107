//! A regular expression over all texts of a version: the database sends them page by page, and they are compared here,
//! so that it finds what it finds on disk. Cypher's own expressions are Java's, which match other texts and may take
//! exponential time. What every match has word for word is looked for there already, so that few texts are sent.

use std::cmp::Reverse;

use neo4rs::Row;
use rayon::prelude::*;
use regex::Regex;

use super::super::session::Session;
use super::super::statement::{Statement, cypher};
use super::GraphCache;
use super::fetch::beside;
use crate::domain::DatabaseError;
use crate::error::Result;
use crate::store::Scan;

/// Passages whose texts are read in one answer.
const SCANNED_PAGE: usize = 1_000;

/// What an expression matches.
pub(in crate::neo4j) struct Matching<T> {
    /// The passages with most matches, best first; of those with as many, the first in their own order.
    pub(in crate::neo4j) best: Vec<T>,
    /// How many passages match.
    pub(in crate::neo4j) all: usize,
}

/// Returns the best `count` passages that match; `place` reads what a passage is known by, which is none where it is
/// not in the running.
///
/// # Errors
///
/// [`DatabaseError::Changing`] if not all passages of the version are there any more.
pub(in crate::neo4j) async fn scan<T: Ord + Send + 'static>(
    session: &Session,
    cache: &GraphCache,
    scan: &Scan,
    count: usize,
    place: impl Fn(&Row) -> Option<Option<T>>,
) -> Result<Matching<T>> {
    let damaged = || session.damaged("a passage has not all that it should");
    let statement = Statement::new("read all texts", cypher!("read/scan"))
        .with("version", cache.version)
        .with("limit", i64::try_from(SCANNED_PAGE).unwrap_or(i64::MAX))
        .with("literal", scan.literal.as_str());
    let (mut best, mut all, mut read) = (Vec::new(), 0, 0_u64);
    let mut after = String::new();
    loop {
        let rows = session.rows(&statement.clone().with("after", after.as_str())).await?;
        let mut texts = Vec::new();
        for row in &rows {
            let text = row.get::<Option<String>>("text").map_err(|_| damaged())?;
            if let Some(text) = text {
                texts.extend(place(row).ok_or_else(damaged)?.map(|place| (place, text)));
            }
        }
        let found = matching(scan.regex.clone(), texts).await?;
        all += found.len();
        best.extend(found);
        best.sort_unstable();
        best.truncate(count);
        read += rows.len() as u64;
        match rows.last() {
            Some(last) if rows.len() == SCANNED_PAGE => after = last.get("id").map_err(|_| damaged())?,
            _ => break,
        }
    }
    if read != cache.state.counts.passages {
        return Err(session.error(DatabaseError::Changing { attempts: 1 }));
    }
    Ok(Matching { best: best.into_iter().map(|it| it.1).collect(), all })
}

/// Returns the places whose texts match, each with how often.
async fn matching<T: Send + 'static>(regex: Regex, texts: Vec<(T, String)>) -> Result<Vec<(Reverse<usize>, T)>> {
    beside(move || {
        let count = |(place, text): (T, String)| {
            let matches = regex.find_iter(&text).count();
            (matches > 0).then_some((Reverse(matches), place))
        };
        texts.into_par_iter().filter_map(count).collect()
    })
    .await
}
