//! `regex`: passages that a regular expression matches, those with most matches first.

use std::sync::Arc;

use super::{Needs, Retriever, Retrieving};
use crate::domain::Ledger;
use crate::error::{Error, Result};
use crate::query::evidence::exact::matching;
use crate::query::pieces::near_equal;
use crate::query::session::Session;
use crate::query::session::query::{Query, Ranking, on_cpu};

/// A pass over the texts of all passages, for a query between slashes; see
/// [`QuerySyntax::Search`](crate::query::QuerySyntax). A database sends them for that.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByRegex;

impl Retriever for ByRegex {
    fn name(&self) -> &'static str {
        "regex"
    }

    fn needs(&self) -> Needs {
        Needs { vectors: false, scan: true, ..Needs::default() }
    }

    fn room(&self) -> usize {
        // A database is not read twice.
        near_equal::ROOM
    }

    fn retrieve<'a>(&'a self, session: &'a Session, query: &'a Arc<Query>, count: usize) -> Retrieving<'a> {
        let (own, shown) = (Arc::clone(query), session.top_k());
        Box::pin(on_cpu(query, move |query| ranked(&own, query, count, shown)))
    }
}

fn ranked(own: &Arc<Query>, query: &Query, count: usize, shown: usize) -> Result<Ranking> {
    let Some(scan) = &query.exact.scan else {
        let value = query.question.text.clone();
        let reason = "it is not a regular expression between slashes".to_owned();
        return Err(Error::Option { option: "query", value, reason });
    };
    let (ranked, at_hand) = matching(query, &scan.regex, count)?;
    let all = query.reader.matching().unwrap_or(at_hand);
    let mut ledger = Ledger { entry: query.entry(&ranked, "regex"), ..query.new_ledger() };
    if all > shown {
        ledger.notes.push(format!("{all} passages match; those with most matches are shown"));
    }
    Ok(Ranking { query: Arc::clone(own), ranked, paths: rustc_hash::FxHashMap::default(), ledger })
}
