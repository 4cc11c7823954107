//! The Cypher that shows the path of an answer in Neo4j Browser.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::statement::cypher;
use super::target::Target;
use crate::domain::{Answer, EntityId, LayersFound};

/// Maximum communities shown, the most relevant first.
const COMMUNITIES_MAX: usize = 4;
/// Steps of bridges that are shown at most.
const BRIDGE_STEPS_MAX: usize = 24;

/// Returns the Cypher that shows a person something of any graph first: few enough passages to be read.
#[must_use]
pub fn overview_cypher() -> &'static str {
    cypher!("show/overview").trim_end()
}

/// Returns the Cypher that shows the passages that an answer quotes, and the steps that led to them; of `layers`, also
/// what joins key entities, and the first communities.
///
/// It has no parameters, so that it can be pasted. It contains ids, which consist of digits: no text of a document
/// becomes part of a query.
#[must_use]
pub fn answer_cypher(answer: &Answer) -> String {
    let cited: BTreeSet<String> = answer.citations.iter().map(|it| it.passage.to_string()).collect();
    let mut steps = BTreeSet::new();
    for hit in answer.hits.iter().filter(|hit| cited.contains(&hit.passage.to_string())) {
        for step in &hit.path {
            let entity = step.entity.as_deref().map_or_else(String::new, entity_id);
            steps.insert(format!("['{}', '{}', '{entity}']", step.from, step.to));
        }
    }
    let mut query = cypher!("show/answer")
        .replace("$steps", &list(steps))
        .replace("$passages", &list(cited.into_iter().map(|id| format!("'{id}'"))));
    if let Some(layers) = answer.ledger.layers.as_deref() {
        query.push_str(&levels(layers));
    }
    query.trim_end().to_owned()
}

/// Returns what shows the levels that were found.
fn levels(layers: &LayersFound) -> String {
    let paths = layers.bridges.iter().flat_map(|bridge| &bridge.paths);
    let mut seen = BTreeSet::new();
    let steps = paths.flat_map(|path| path.windows(2)).map(|step| {
        let ids: Vec<String> = step.iter().map(|name| format!("'{}'", entity_id(name))).collect();
        format!("[{}]", ids.join(", "))
    });
    let steps: Vec<String> = steps.filter(|step| seen.insert(step.clone())).take(BRIDGE_STEPS_MAX).collect();
    let communities = layers.communities.iter().take(COMMUNITIES_MAX).map(|community| {
        let keys = community.keys.iter().map(|name| format!(", '{}'", entity_id(name)));
        format!("['{}'{}]", community.id, keys.collect::<String>())
    });
    cypher!("show/levels").replace("$bridges", &list(steps)).replace("$communities", &list(communities))
}

/// Returns the id of an entity that is named as people write it; the id is that of the folded name.
fn entity_id(name: &str) -> String {
    EntityId::of(&[crate::text::tokens(name).join(" ").as_bytes()]).to_string()
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<String>>().join(", "))
}

/// The port of a server's Browser, unless it was set otherwise.
const BROWSER_PORT: u16 = 7474;

/// Returns the link that opens a query in the Browser of a server. `browser` is the address of its pages; if it also
/// names the server, by `?dbms=`, the server has another address there than here, as with a container.
#[must_use]
pub fn browser_link(query: &str, browser: Option<&str>, target: &Target) -> String {
    let usual = || format!("http://{}:{BROWSER_PORT}", target.host());
    let browser = browser.map_or_else(usual, str::to_owned);
    let mut link = match browser.split_once("?dbms=") {
        Some((pages, server)) => format!("{}?dbms={server}", pages_of(pages)),
        None => format!("{}?dbms={}", pages_of(&browser), target.address()),
    };
    link.push_str("&cmd=edit&arg=");
    for byte in query.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            link.push(byte.into());
        } else {
            // Writing to a string cannot fail.
            let _written = write!(link, "%{byte:02X}");
        }
    }
    link
}

/// Returns the address of the Browser's page, of one that may end before it.
fn pages_of(address: &str) -> String {
    format!("{}/browser/", address.trim_end_matches('/').trim_end_matches("/browser"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_one_word_and_names_the_server() {
        let target = Target::parse("neo4j://host:7000").unwrap();
        let link = |browser| browser_link("MATCH (ä)\nRETURN 'x'", browser, &target);
        let expect = "http://host:7474/browser/?dbms=bolt://host:7000&cmd=edit&arg=\
            MATCH%20%28%C3%A4%29%0ARETURN%20%27x%27";
        assert_eq!(link(Some("http://host:7474/")), expect);
        assert_eq!(link(None), expect);
        // From inside a container, which knows the server by another name.
        let other = link(Some("http://localhost:7474/browser/?dbms=bolt://localhost:7687"));
        assert!(
            other.starts_with("http://localhost:7474/browser/?dbms=bolt://localhost:7687&cmd=edit&arg="),
            "{other}"
        );
    }
}
