//! `regex`: passages in which a regular expression matches, those with most matches first.

use std::sync::Arc;

use super::{Needs, Retriever, Retrieving};
use crate::domain::Ledger;
use crate::error::{Error, Result};
use crate::query::evidence::exact::matching;
use crate::query::session::Session;
use crate::query::session::query::{Query, Ranking, on_cpu};

/// A pass over the texts of all passages, for a query between slashes; see
/// [`QuerySyntax::Search`](crate::query::QuerySyntax).
#[derive(Debug, Clone, Copy, Default)]
pub struct ByRegex;

impl Retriever for ByRegex {
    fn name(&self) -> &'static str {
        "regex"
    }

    fn needs(&self) -> Needs {
        Needs { vectors: false, ..Needs::default() }
    }

    fn retrieve<'a>(&'a self, _: &'a Session, query: &'a Arc<Query>, count: usize) -> Retrieving<'a> {
        let own = Arc::clone(query);
        Box::pin(on_cpu(query, move |query| ranked(&own, query, count)))
    }
}

fn ranked(own: &Arc<Query>, query: &Query, count: usize) -> Result<Ranking> {
    let refused = |reason: &str| {
        let value = query.question.text.clone();
        Err(Error::Option { option: "query", value, reason: reason.to_owned() })
    };
    if query.reader.excerpt().is_some() {
        return refused("a regular expression is searched for in a workspace: a database is not read whole");
    }
    let Some(regex) = &query.exact.regex else { return refused("it is no regular expression between slashes") };
    let (ranked, all) = matching(query, regex, count)?;
    let mut ledger = Ledger { entry: query.entry(&ranked, "regex"), ..query.new_ledger() };
    if all > ranked.len() {
        ledger.notes.push(format!("{all} passages match; the {} with most matches are shown", ranked.len()));
    }
    Ok(Ranking { query: Arc::clone(own), ranked, paths: rustc_hash::FxHashMap::default(), ledger })
}
