//! The web search server, from options and settings.

use std::sync::Arc;

use super::Setup;
use super::calls::CallLog;
use super::endpoint::{DEFAULT, first_line};
use super::options::EngineOptions;
use crate::domain::Secret;
use crate::error::{Error, Result};
use crate::llm::{RecordedSearches, ReplayedSearches, SearchTool, WebServer};

impl Setup {
    /// Returns the web search, if requested.
    pub(super) fn web_search(&self, options: &EngineOptions, log: &CallLog) -> Result<Option<Arc<dyn SearchTool>>> {
        let Some(asked) = options.web_search.as_deref() else { return Ok(None) };
        let refused = |reason: String| Error::Option { option: "web search", value: shown(asked).to_owned(), reason };
        let set = &self.settings.web_search;
        let unset = || refused("set `url` in `[web_search]` of your own cairn.toml, or `CAIRN_WEB_SEARCH`".to_owned());
        let address = if asked == DEFAULT { set.url.as_deref().ok_or_else(unset)? } else { asked };
        // A key goes to the server that it is set for, and to no other.
        let is_own = set.url.as_deref() == Some(address) && !log.is_replayed();
        let key_file = set.key_file.as_deref().filter(|_| is_own);
        let key = key_file.map(first_line).transpose()?.unwrap_or_else(Secret::default);
        let server = WebServer::new(address, key).map_err(|fault| Error::Option {
            option: "web search",
            value: shown(address).to_owned(),
            reason: fault.to_string(),
        })?;
        Ok(Some(match log {
            CallLog::None => Arc::new(server),
            CallLog::Recorded(recording) => Arc::new(RecordedSearches::new(Arc::new(server), Arc::clone(recording))),
            CallLog::Replayed(recorded) => Arc::new(ReplayedSearches::of(server.name(), recorded)),
        }))
    }
}

/// Returns an address without anything that may be a key or a password.
fn shown(address: &str) -> &str {
    // A password may hold any of the others.
    if address.contains('@') { "the address" } else { address.split(['?', '#']).next().unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_an_address_is_shown_that_may_be_secret() {
        for (address, expect) in [
            ("http://host/search", "http://host/search"),
            ("http://host/?key=hush", "http://host/"),
            ("http://host#hush", "http://host"),
            ("http://ann:hush@host", "the address"),
            ("http://ann:hu?sh@host", "the address"),
        ] {
            assert_eq!(shown(address), expect, "{address}");
        }
    }
}
