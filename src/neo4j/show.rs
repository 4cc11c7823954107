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

/// Returns the link that opens a query in the Browser of a server, whose pages are at `browser`.
#[must_use]
pub fn browser_link(query: &str, browser: &str, target: &Target) -> String {
    let mut link = format!("{}/browser/?dbms={}&cmd=edit&arg=", browser.trim_end_matches('/'), target.address());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_one_word_and_names_the_server() {
        let target = Target::parse("neo4j://host:7000").unwrap();
        let link = browser_link("MATCH (ä)\nRETURN 'x'", "http://host:7474/", &target);
        let expect = "http://host:7474/browser/?dbms=bolt://host:7000&cmd=edit&arg=\
            MATCH%20%28%C3%A4%29%0ARETURN%20%27x%27";
        assert_eq!(link, expect);
    }
}
