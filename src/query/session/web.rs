//! Web searches for a question, one for each sub-question; their results are numbered consecutively.

use std::time::Duration;

use super::Session;
use crate::domain::{ChatError, Ledger, WebResult, WebWork};
use crate::error::{Error, Result};
use crate::llm::WebPage;

/// How a note begins that says why the web was not searched.
pub const UNSEARCHED: &str = "the web was not searched";
/// Share of the time for a question that a search may take without a model.
const TIME: f64 = 0.5;

/// Web results that an answer may use, of all searches together.
const RESULTS_MAX: usize = 20;

/// The result of a web search.
pub(in crate::query) struct WebFound {
    server: String,
    asked: String,
    pages: std::result::Result<Vec<WebPage>, String>,
}

impl WebFound {
    /// Returns whether the search failed because the server was unavailable.
    pub(in crate::query) fn is_failed(&self) -> bool {
        self.pages.is_err()
    }

    /// Notes the search, and the results that are not there yet, or why there are none.
    pub(in crate::query) fn note(self, ledger: &mut Ledger) {
        let failed = u32::from(self.is_failed());
        let work = ledger.web_work.get_or_insert_with(|| WebWork { server: self.server, ..WebWork::default() });
        work.searches += 1;
        work.failed += failed;
        let pages = match self.pages {
            Ok(pages) => pages,
            Err(why) => return ledger.notes.push(why),
        };
        for WebPage { title, address, snippet } in pages {
            if ledger.web.len() < RESULTS_MAX && ledger.web.iter().all(|it| it.address != address) {
                let (number, asked) = (ledger.web.len() as u32 + 1, self.asked.clone());
                ledger.web.push(WebResult { number, asked, title, address, snippet });
            }
        }
    }
}

impl Session {
    /// Returns whether there is a web search.
    pub(in crate::query) fn has_web(&self) -> bool {
        self.engine.web.is_some()
    }

    /// Searches the web, if there is a web search, within the time of a model, or half of the remaining time.
    ///
    /// # Errors
    ///
    /// [`Error::WebSearch`] if the search is not in a recording, or cannot be written into one. Other faults are noted.
    pub(in crate::query) async fn searched_web(&self, asked: &str) -> Result<Option<WebFound>> {
        let Some(web) = self.engine.web.as_ref() else { return Ok(None) };
        let failed = |why: &str| format!("{UNSEARCHED} for `{asked}`, by {}: {why}", web.name());
        let limit =
            self.options.deadline.filter(|_| self.caller.is_none()).map_or(Duration::MAX, |it| it.mul_f64(TIME));
        let searched = async { tokio::time::timeout(limit, web.search(asked)).await.ok() };
        let server = web.name().to_owned();
        let pages = match self.in_time(searched).await.flatten() {
            None => Err(failed("there was no time left")),
            Some(Err(source @ (ChatError::SearchNotRecorded { .. } | ChatError::Store { .. }))) => {
                return Err(Error::WebSearch { server, source });
            }
            Some(Err(fault)) => Err(failed(&fault.to_string())),
            Some(Ok(pages)) => Ok(pages.into_iter().filter_map(WebPage::cleaned).collect::<Vec<_>>()),
        };
        tracing::info!(pages = pages.as_ref().map_or(0, Vec::len), "searched the web");
        Ok(Some(WebFound { server, asked: asked.to_owned(), pages }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_running_numbers_and_no_address_twice() {
        let page =
            |address: usize| WebPage { title: "t".to_owned(), address: address.to_string(), snippet: String::new() };
        let found = |pages| WebFound { server: "s".to_owned(), asked: "q".to_owned(), pages };
        let mut ledger = Ledger::default();
        for from in [0, 2, 4, 100, 110, 120] {
            found(Ok((from..from + 4).map(page).collect())).note(&mut ledger);
        }
        let numbers: Vec<u32> = ledger.web.iter().map(|it| it.number).collect();
        assert_eq!(numbers, (1..=RESULTS_MAX as u32).collect::<Vec<_>>());
        let addresses: Vec<&str> = ledger.web.iter().take(9).map(|it| it.address.as_str()).collect();
        assert_eq!(addresses, ["0", "1", "2", "3", "4", "5", "6", "7", "100"]);
        let failed = found(Err("away".to_owned()));
        assert!(failed.is_failed());
        failed.note(&mut ledger);
        assert_eq!(ledger.notes, ["away"]);
        assert_eq!(ledger.web_work, Some(WebWork { server: "s".to_owned(), searches: 7, failed: 1 }));
    }
}
