//! Recorded web searches: each is written when it ends, and replayed from a recording.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::recording::{Due, Outcome, RecordedCalls, Recording};
use super::web_search::{SearchTool, Searching, WebPage};
use crate::domain::ChatError;
use crate::text::clipped;

/// Characters of a query that is not in a recording, in an error.
const BEGINNING_CHARS: usize = 40;

/// One line of a recording: what a web search came to. Neither query nor key are in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SearchLine {
    /// Who searched.
    web_search: String,
    /// The query, by its digest.
    query: String,
    /// What came of it: pages without what is secret, as they were about to be read.
    #[serde(flatten)]
    outcome: Outcome<Vec<WebPage>>,
}

fn digest(query: &str) -> String {
    blake3::hash(query.as_bytes()).to_hex().to_string()
}

/// Someone who searches the web and whose searches are written down.
pub struct RecordedSearches {
    inner: Arc<dyn SearchTool>,
    recording: Arc<Recording>,
}

impl RecordedSearches {
    /// Writes searches into a recording, which others may share.
    #[must_use]
    pub fn new(inner: Arc<dyn SearchTool>, recording: Arc<Recording>) -> Self {
        Self { inner, recording }
    }
}

impl SearchTool for RecordedSearches {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn search<'a>(&'a self, query: &'a str) -> Searching<'a> {
        Box::pin(async move {
            let found = self.inner.search(query).await;
            let outcome = match &found {
                Ok(pages) => Outcome::Reply(pages.clone()),
                Err(fault) => Outcome::Fault(fault.clone()),
            };
            self.recording.write(&SearchLine { web_search: self.name().to_owned(), query: digest(query), outcome })?;
            found
        })
    }
}

/// Someone who searches the web as it was recorded, and asks nobody. Equal queries get what they got then, in order,
/// and after that the last again.
pub struct ReplayedSearches {
    name: String,
    due: Due<Vec<WebPage>>,
    searches: AtomicU64,
}

impl ReplayedSearches {
    /// Returns what was recorded of the one called `name`, which may be nothing.
    #[must_use]
    pub fn of(name: &str, recorded: &RecordedCalls) -> Self {
        let own = recorded.searches.iter().filter(|line| line.web_search == name);
        let due = Due::of(own.map(|line| (line.query.clone(), line.outcome.clone())));
        Self { name: name.to_owned(), due, searches: AtomicU64::new(0) }
    }
}

impl SearchTool for ReplayedSearches {
    fn name(&self) -> &str {
        &self.name
    }

    /// Returns the pages that were recorded, or [`ChatError::SearchNotRecorded`].
    fn search<'a>(&'a self, query: &'a str) -> Searching<'a> {
        Box::pin(async move {
            let number = self.searches.fetch_add(1, Ordering::Relaxed) + 1;
            let missing = || ChatError::SearchNotRecorded { number, beginning: clipped(query, BEGINNING_CHARS) };
            self.due.next(&digest(query)).unwrap_or_else(|| Err(missing()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::scripted::overloaded;
    use super::*;
    use crate::error::Error;

    /// Finds one page for each query, and nothing the second time.
    #[derive(Default)]
    struct Scripted(AtomicU64);

    impl SearchTool for Scripted {
        fn name(&self) -> &'static str {
            "web"
        }

        fn search<'a>(&'a self, query: &'a str) -> Searching<'a> {
            let page =
                WebPage { title: "t".to_owned(), address: "http://a/".to_owned(), snippet: query.to_uppercase() };
            let number = self.0.fetch_add(1, Ordering::Relaxed);
            Box::pin(async move { if number == 1 { Err(overloaded(None)) } else { Ok(vec![page]) } })
        }
    }

    #[tokio::test]
    async fn a_search_is_found_by_who_searched_and_by_its_query_and_one_that_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let recording = Arc::new(Recording::create(&path).unwrap());
        let web = RecordedSearches::new(Arc::new(Scripted::default()), recording);
        let mut first = Vec::new();
        for query in ["a mill", "a weir", "a weir"] {
            first.push(web.search(query).await);
        }
        assert!(first[0].is_ok() && first[1].is_err() && first[2].is_ok());
        assert!(!std::fs::read_to_string(&path).unwrap().contains("a mill"), "the query is not kept");

        let calls = RecordedCalls::read(&path).unwrap();
        let replay = ReplayedSearches::of("web", &calls);
        for (query, expect) in [("a weir", 1), ("a mill", 0), ("a weir", 2), ("a weir", 2)] {
            assert_eq!(replay.search(query).await, first[expect], "{query}");
        }
        let missing = replay.search("a hill far away, and what else there is of it").await.unwrap_err();
        assert!(missing.to_string().starts_with("web search 5 (`a hill far away, and what else"), "{missing}");
        let other = ReplayedSearches::of("other", &calls);
        assert!(matches!(other.search("a mill").await, Err(ChatError::SearchNotRecorded { number: 1, .. })));
    }

    #[test]
    fn a_line_that_is_no_search_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let page = r#"{"title": "t", "address": "a"}"#;
        for wrong in
            [r#"{"web_search": "w"}"#.to_owned(), format!(r#"{{"web_search": "w", "query": "q", "reply": [{page}]}}"#)]
        {
            std::fs::write(&path, &wrong).unwrap();
            assert!(matches!(RecordedCalls::read(&path), Err(Error::Line { line: 1, .. })), "{wrong}");
        }
    }
}
