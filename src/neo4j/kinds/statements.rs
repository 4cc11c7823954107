//! The statements of each kind: templates under `cypher/`, filled only with names from declarations.

use std::sync::LazyLock;

use super::super::element::EMBEDDING;
use super::super::statement::cypher;
use super::{HIDDEN, Kind};
use crate::domain::{Counted, Counts};

/// The statements of a kind.
#[derive(Debug)]
pub(in crate::neo4j) struct Statements {
    pub(in crate::neo4j) write: String,
    pub(in crate::neo4j) held: String,
    pub(in crate::neo4j) mark: String,
    pub(in crate::neo4j) delete: String,
    pub(in crate::neo4j) contents: String,
}

/// Names the templates that nodes and relationships have each their own form of.
macro_rules! templates {
    ($form:literal) => {
        [
            cypher!(concat!("kind/held-", $form)),
            cypher!(concat!("kind/mark-", $form)),
            cypher!(concat!("kind/delete-", $form)),
            cypher!(concat!("kind/contents-", $form)),
        ]
    };
}

impl Statements {
    pub(super) fn of(kind: Kind) -> Self {
        let (from, to) = kind.ends().map(|(from, to)| (from.key_label(), to.key_label())).unwrap_or_default();
        let labels = kind.labels().join(":");
        let names = [
            ("<labels>", &*labels),
            ("<label>", kind.name()),
            ("<key>", kind.key_label()),
            ("<from>", from),
            ("<to>", to),
        ];
        let filled =
            |template: &str| names.iter().fold(template.to_owned(), |text, (place, name)| text.replace(place, name));
        let [held, mark, delete, contents] = match kind.ends() {
            None => templates!("node"),
            Some(_) => templates!("relationship"),
        }
        .map(filled);
        Self { write: filled(&write(kind)), held, mark, delete, contents }
    }
}

/// Returns the template that writes elements of a kind.
fn write(kind: Kind) -> String {
    let write = match kind.ends() {
        Some(_) => cypher!("kind/write-relationship"),
        None if kind.labels().len() == 1 => cypher!("kind/write-node"),
        None => cypher!("kind/write-labelled-node"),
    };
    [write, if kind.has(EMBEDDING) { cypher!("kind/write-embedding") } else { "" }].concat()
}

/// Deletes nodes of any kind whose key was changed by hand.
pub(in crate::neo4j) static UNKEYED_NODES: LazyLock<String> = LazyLock::new(|| of_all(cypher!("retire/unkeyed-nodes")));
/// Deletes relationships of any kind whose key was changed by hand.
pub(in crate::neo4j) static UNKEYED_RELATIONSHIPS: LazyLock<String> =
    LazyLock::new(|| of_all(cypher!("retire/unkeyed-relationships")));
/// Deletes a part of all nodes.
pub(in crate::neo4j) static DELETE_NODES: LazyLock<String> = LazyLock::new(|| of_all(cypher!("retire/nodes")));

/// Counts our elements.
pub(in crate::neo4j) static OF_OURS: LazyLock<String> = LazyLock::new(|| of_all(cypher!("read/of-ours")));

/// Counts nodes of any kind that are of another version.
pub(in crate::neo4j) static NOTHING_IS_LEFT: LazyLock<String> =
    LazyLock::new(|| of_all(cypher!("check/nothing-is-left")));

/// Counts the nodes of each label and the relationships of each type, ours and others', as the store has them counted.
pub(in crate::neo4j) static COUNTS: LazyLock<String> = LazyLock::new(|| {
    let mut parts: Vec<String> = Vec::new();
    for kind in Kind::ALL {
        let template =
            if kind.ends().is_some() { cypher!("kind/count-relationship") } else { cypher!("kind/count-node") };
        let part = template.replace("<label>", kind.name());
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts.join("UNION ALL\n")
});

/// Compares how many elements each published count counts with how many there are.
pub(in crate::neo4j) static COUNTS_AS_PUBLISHED: LazyLock<String> = LazyLock::new(|| {
    let mut parts: Vec<String> = Vec::new();
    for Counted { name, label, .. } in Counts::default().each() {
        let kinds = || Kind::ALL.into_iter().filter(|kind| kind.counted() == Some(name));
        let Some(first) = kinds().next() else { continue };
        let template =
            if first.ends().is_some() { cypher!("kind/counted-relationships") } else { cypher!("kind/counted-nodes") };
        let part = template.trim_end().replace("<name>", name).replace("<counted>", label);
        parts.push(of_kinds(&part, kinds()));
    }
    cypher!("check/counts").replace("<counts>", &parts.join(",\n"))
});

/// Creates the constraint and the indexes by which publishing finds elements.
pub(in crate::neo4j) static KEYS: LazyLock<String> = LazyLock::new(|| {
    let labels = Kind::ALL.into_iter().filter(|kind| kind.ends().is_none()).map(Kind::key_label);
    let indexes = labels
        .filter(|label| *label != HIDDEN)
        .map(|label| cypher!("kind/index").replace("<label>", label).replace("<name>", &label.to_ascii_lowercase()));
    std::iter::once(cypher!("schema/keys").to_owned()).chain(indexes).collect()
});

/// Puts the labels of all nodes and the types of all relationships into a template.
fn of_all(template: &str) -> String {
    of_kinds(template, Kind::ALL.into_iter())
}

/// Puts the labels and types of kinds into a template.
fn of_kinds(template: &str, kinds: impl Iterator<Item = Kind>) -> String {
    let (mut nodes, mut relationships) = (Vec::new(), Vec::new());
    for kind in kinds {
        let names = if kind.ends().is_some() { &mut relationships } else { &mut nodes };
        if !names.contains(&kind.name()) {
            names.push(kind.name());
        }
    }
    template.replace("<nodes>", &nodes.join("|")).replace("<relationships>", &relationships.join("|"))
}
