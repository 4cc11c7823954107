//! Web searches through a server with `SearXNG`'s JSON API: one request per query. Results are text by strangers: they
//! are cut and stripped of characters that could deceive; only addresses of web pages are kept.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::connection::Connection;
use super::endpoint::Endpoint;
use super::exchange::Expected;
use crate::domain::{ChatError, Secret};
use crate::text::{clipped, visible_line};

/// Where it is, behind the address of the server.
const PATH: &str = "/search";
/// Time for a search, from its first byte to its last.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Results of a search that are kept.
pub(super) const RESULTS_MAX: usize = 5;
/// Results that are examined to find enough usable ones.
const LOOKED_AT_MAX: usize = 100;
/// Characters of a query, of a title, of an address, and of a snippet.
const QUERY_CHARS_MAX: usize = 400;
const TITLE_CHARS_MAX: usize = 200;
const ADDRESS_CHARS_MAX: usize = 2_000;
const SNIPPET_CHARS_MAX: usize = 500;

/// The future of a [`SearchTool`]: pages, the best first.
pub type Searching<'a> = Pin<Box<dyn Future<Output = Result<Vec<WebPage>, ChatError>> + Send + 'a>>;

/// A page as a search engine shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebPage {
    /// Its title, on one line.
    pub title: String,
    /// Its address, with `http` or `https`.
    pub address: String,
    /// Its excerpt, on one line; it may be empty.
    pub snippet: String,
}

impl WebPage {
    /// Returns it bounded, and without characters that could deceive; none if its address is not that of a page, or if
    /// it is empty.
    pub(crate) fn cleaned(self) -> Option<Self> {
        let title = clipped(&visible_line(&self.title), TITLE_CHARS_MAX);
        let snippet = clipped(&visible_line(&self.snippet), SNIPPET_CHARS_MAX);
        let address = address(&self.address)?;
        (!title.is_empty() || !snippet.is_empty()).then_some(Self { title, address, snippet })
    }
}

/// Searches the web. Its results are text by strangers, which a search always cleans.
pub trait SearchTool: Send + Sync {
    /// Returns its name, as a note says it.
    fn name(&self) -> &str;

    /// Searches for a query; an error says why there are no results.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the search and nothing else.
    fn search<'a>(&'a self, query: &'a str) -> Searching<'a>;
}

/// A server with `SearXNG`'s JSON API. Redirects are not followed, and a search is made once.
pub struct WebServer {
    name: String,
    connection: Connection,
}

impl WebServer {
    /// Returns the server at an address, with a key if it wants one. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`ChatError::Address`] if address or key have a form that cannot be sent.
    pub fn new(address: &str, key: Secret) -> Result<Self, ChatError> {
        let base = address.trim_end_matches('/');
        let endpoint = Endpoint::at(base.strip_suffix(PATH).unwrap_or(base), "");
        let endpoint = Endpoint { key, timeout: TIMEOUT, ..endpoint };
        let name = endpoint.name().trim_end_matches(':').to_owned();
        Ok(Self { name, connection: Connection::new(endpoint, Expected::web_results())? })
    }

    /// Returns it with another time for a search than 10 seconds.
    #[must_use]
    pub fn within(mut self, timeout: Duration) -> Self {
        self.connection.endpoint.timeout = timeout;
        self
    }

    async fn pages(&self, query: &str) -> Result<Vec<WebPage>, ChatError> {
        let query = clipped(&visible_line(query), QUERY_CHARS_MAX);
        let wire: WireResults = self.connection.get(PATH, &[("q", query.as_str()), ("format", "json")]).await?;
        Ok(pages(&wire, |text| self.connection.redacted(text)))
    }
}

impl SearchTool for WebServer {
    fn name(&self) -> &str {
        &self.name
    }

    fn search<'a>(&'a self, query: &'a str) -> Searching<'a> {
        Box::pin(self.pages(query))
    }
}

impl std::fmt::Debug for WebServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebServer").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A response as it comes; each result may be anything.
#[derive(Debug, Deserialize)]
pub(super) struct WireResults {
    results: Vec<Value>,
}

/// Returns the first results that can be used, none twice.
fn pages(wire: &WireResults, redacted: impl Fn(String) -> String) -> Vec<WebPage> {
    let mut seen = BTreeSet::new();
    let page = |result: &Value| {
        // As a reader would see it: what is secret may be split by what is not seen.
        let text = |field: &str| redacted(visible_line(result.get(field).and_then(Value::as_str).unwrap_or_default()));
        let address = redacted(result.get("url")?.as_str()?.to_owned());
        WebPage { title: text("title"), address, snippet: text("content") }.cleaned()
    };
    let looked_at = wire.results.iter().take(LOOKED_AT_MAX).filter_map(page);
    looked_at.filter(|page| seen.insert(page.address.clone())).take(RESULTS_MAX).collect()
}

/// Returns the address of a web page, spelt in ASCII; none of anything else.
fn address(text: &str) -> Option<String> {
    let url = Url::parse(text.trim()).ok()?;
    let is_page = matches!(url.scheme(), "http" | "https") && url.has_host();
    let is_open = url.username().is_empty() && url.password().is_none();
    let address = String::from(url);
    (is_page && is_open && address.len() <= ADDRESS_CHARS_MAX).then_some(address)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(results: &Value) -> Vec<WebPage> {
        pages(&serde_json::from_value(json!({ "query": "q", "results": results })).unwrap(), |text| text)
    }

    #[test]
    fn results_are_kept_as_they_come_and_none_twice() {
        let of = |url: &str| json!({ "title": "Harl\n Mill", "url": url, "content": "Built\tby Ada.", "engine": "x" });
        let pages = found(&json!([of("https://a.example/mill"), of("https://a.example/mill"), of("HTTP://B.example")]));
        let addresses: Vec<&str> = pages.iter().map(|page| page.address.as_str()).collect();
        assert_eq!(addresses, ["https://a.example/mill", "http://b.example/"]);
        assert_eq!((pages[0].title.as_str(), pages[0].snippet.as_str()), ("Harl Mill", "Built by Ada."));
    }

    #[test]
    fn invalid_results_and_addresses_of_no_page_are_left_out() {
        let of = |url: &str| json!({ "title": "t", "url": url });
        let none = ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "ftp://a.example", "//a", "", " "];
        for url in none.into_iter().chain(["https://ann:hush@a.example/", "http://"]) {
            assert_eq!(found(&json!([of(url)])), [], "{url}");
        }
        let wrong = json!([1, null, "x", [], {}, { "url": 7 }, { "url": "https://a.example" }, { "title": "t" },
            { "title": ["t"], "content": 3, "url": "https://a.example" }]);
        assert_eq!(found(&wrong), []);
        assert_eq!(found(&json!([of(&format!("https://a.example/{}", "a".repeat(2_000)))])), []);
        assert_eq!(found(&json!([of("https://a.example/\u{202e}x y")]))[0].address, "https://a.example/%E2%80%AEx%20y");
    }

    #[test]
    fn what_strangers_write_is_bounded_and_has_nothing_hidden() {
        let many: Vec<Value> = (0..10_000).map(|it| json!({ "title": "t", "url": format!("http://a/{it}") })).collect();
        assert_eq!(found(&json!(many)).len(), RESULTS_MAX);
        let text = format!("\u{1b}[2J\u{202e}evil\u{200b} \u{7}{}", "x ".repeat(2_000));
        let page = &found(&json!([{ "title": text, "content": text, "url": "http://a" }]))[0];
        assert!(page.title.starts_with("[2Jevil x") && page.title.ends_with('…'), "{}", page.title);
        assert!(
            page.title.chars().count() <= TITLE_CHARS_MAX + 1 && page.snippet.chars().count() <= SNIPPET_CHARS_MAX + 1
        );
        assert!(!page.snippet.contains(char::is_control) && !page.snippet.contains('\u{202e}'));
        let soft = "Say\u{ad}\u{61c}\u{180e}\u{3164}\u{fe0f}\u{fff9}\u{e0100}\u{e01ef}so";
        let page = &found(&json!([{ "title": soft, "content": soft, "url": "http://a" }]))[0];
        assert_eq!((page.title.as_str(), page.snippet.as_str()), ("Sayso", "Sayso"));
        for page in found(&json!([{ "title": text, "content": text, "url": "http://a/\u{e9}" }])) {
            assert_eq!(page.clone().cleaned(), Some(page), "what is clean stays as it is");
        }
    }

    #[test]
    fn an_unusable_address_is_refused_and_no_secret_is_printed() {
        for address in ["", "localhost:8888", "file:///etc", "http://ann:hush@host", "http://host/?key=hush"] {
            let refused = WebServer::new(address, Secret::default()).unwrap_err();
            assert!(matches!(refused, ChatError::Address { .. }) && !refused.to_string().contains("hush"), "{refused}");
        }
        let server = WebServer::new("http://localhost:8888/search/", Secret::new("hush hush")).unwrap();
        assert_eq!(server.name(), "localhost:8888");
        assert!(!format!("{server:?}").contains("hush"));
    }
}
