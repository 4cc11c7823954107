//! What to type into Neo4j Browser to see the path of an answer.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::statement::cypher;
use super::target::Target;
use crate::domain::{Answer, EntityId};

/// Returns the Cypher that shows the passages that an answer quotes, and the steps that led to them.
///
/// It has no parameters, so that it can be pasted. What is put into it are ids, which are made of digits alone: nothing
/// of a document becomes part of a query.
#[must_use]
pub fn answer_cypher(answer: &Answer) -> String {
    let cited: BTreeSet<String> = answer.citations.iter().map(|it| it.passage.to_string()).collect();
    let mut steps = BTreeSet::new();
    for hit in answer.hits.iter().filter(|hit| cited.contains(&hit.passage.to_string())) {
        for step in &hit.path {
            // A step names the entity as people write it; its id is that of the folded name.
            let folded = |name: &String| crate::text::tokens(name).join(" ");
            let entity = step.entity.as_ref().map(folded);
            let entity = entity.map_or_else(String::new, |it| EntityId::of(&[it.as_bytes()]).to_string());
            steps.insert(format!("['{}', '{}', '{entity}']", step.from, step.to));
        }
    }
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    cypher!("show/answer")
        .replace("$steps", &list(steps.into_iter().collect()))
        .replace("$passages", &list(cited.into_iter().map(|id| format!("'{id}'")).collect()))
        .trim_end()
        .to_owned()
}

/// The port of a server's Browser, unless it was set otherwise.
const BROWSER_PORT: u16 = 7474;

/// Returns the link that opens a query in the Browser of a server. `browser` is where its pages are; where it names the
/// server too, by `?dbms=`, the server has another address there than here, as behind a container.
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
        // Of a container, which knows the server by another name.
        let other = link(Some("http://localhost:7474/browser/?dbms=bolt://localhost:7687"));
        assert!(
            other.starts_with("http://localhost:7474/browser/?dbms=bolt://localhost:7687&cmd=edit&arg="),
            "{other}"
        );
    }
}
