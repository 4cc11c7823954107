//! The statements of each kind: templates under `cypher/`, with the names of declarations put in, and nothing else.

use std::sync::LazyLock;

use super::super::element::EMBEDDING;
use super::super::statement::cypher;
use super::Kind;

/// The statements of a kind.
#[derive(Debug)]
pub(in crate::neo4j) struct Statements {
    pub(in crate::neo4j) write: String,
    pub(in crate::neo4j) held: String,
    pub(in crate::neo4j) mark: String,
    pub(in crate::neo4j) delete: String,
    pub(in crate::neo4j) contents: String,
}

impl Statements {
    pub(super) fn of(kind: Kind) -> Self {
        if kind.ends().is_some() { Self::of_relationship(kind) } else { Self::of_node(kind) }
    }

    fn of_node(kind: Kind) -> Self {
        let (label, key) = (kind.name(), kind.key_label());
        let of = |template: &str| {
            template.replace("<labels>", &kind.labels().join(":")).replace("<label>", label).replace("<key>", key)
        };
        let mut write =
            if label == key { cypher!("kind/write-node") } else { cypher!("kind/write-labelled-node") }.to_owned();
        if kind.has(EMBEDDING) {
            write.push_str(cypher!("kind/write-embedding"));
        }
        Self {
            write: of(&write),
            held: of(cypher!("kind/held-node")),
            mark: of(cypher!("kind/mark-node")),
            delete: of(cypher!("kind/delete-node")),
            contents: of(cypher!("kind/contents-node")),
        }
    }

    fn of_relationship(kind: Kind) -> Self {
        let (from, to) = kind.ends().map(|(from, to)| (from.key_label(), to.key_label())).unwrap_or_default();
        let of = |template: &str| template.replace("<type>", kind.name()).replace("<from>", from).replace("<to>", to);
        Self {
            write: of(cypher!("kind/write-relationship")),
            held: of(cypher!("kind/held-relationship")),
            mark: of(cypher!("kind/mark-relationship")),
            delete: of(cypher!("kind/delete-relationship")),
            contents: of(cypher!("kind/contents-relationship")),
        }
    }
}

/// Deletes nodes of any kind whose key was changed by hand.
pub(in crate::neo4j) static UNKEYED_NODES: LazyLock<String> = LazyLock::new(|| of_all(cypher!("retire/unkeyed-nodes")));
/// Deletes relationships of any kind whose key was changed by hand.
pub(in crate::neo4j) static UNKEYED_RELATIONSHIPS: LazyLock<String> =
    LazyLock::new(|| of_all(cypher!("retire/unkeyed-relationships")));
/// Counts nodes of any kind that are of another version.
pub(in crate::neo4j) static NOTHING_IS_LEFT: LazyLock<String> =
    LazyLock::new(|| of_all(cypher!("check/nothing-is-left")));

/// Puts the labels of all nodes and the types of all relationships into a template.
fn of_all(template: &str) -> String {
    let (mut nodes, mut relationships) = (Vec::new(), Vec::new());
    for kind in Kind::ALL {
        let names = if kind.ends().is_some() { &mut relationships } else { &mut nodes };
        if !names.contains(&kind.key_label()) {
            names.push(kind.key_label());
        }
    }
    template.replace("<nodes>", &nodes.join("|")).replace("<relationships>", &relationships.join("|"))
}
