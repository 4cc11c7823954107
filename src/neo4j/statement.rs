//! Statements: Cypher from a file under `cypher/`, and its parameters.

use std::borrow::Cow;

use neo4rs::{BoltList, BoltMap, BoltString, BoltType, Query};

/// Returns the text of a file under `cypher/`.
macro_rules! cypher {
    ($name:expr) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/cypher/", $name, ".cypher"))
    };
}
pub(super) use cypher;

/// A statement with its parameters. Statements are in the program; all external values are parameters.
#[derive(Clone)]
pub(super) struct Statement {
    /// Its purpose, for errors.
    pub(super) action: &'static str,
    text: Cow<'static, str>,
    parameters: BoltMap,
}

impl Statement {
    pub(super) fn new(action: &'static str, text: &'static str) -> Self {
        Self { action, text: Cow::Borrowed(text), parameters: BoltMap::new() }
    }

    /// Replaces `place` in the text by a number: Cypher allows no parameter there.
    pub(super) fn with_literal(mut self, place: &str, value: usize) -> Self {
        self.text = Cow::Owned(self.text.replace(place, &value.to_string()));
        self
    }

    /// Adds a parameter.
    pub(super) fn with(mut self, name: &str, value: impl Into<BoltType>) -> Self {
        self.parameters.put(BoltString::new(name), value.into());
        self
    }

    /// Adds the parameter `rows`.
    pub(super) fn with_rows(self, rows: Vec<BoltType>) -> Self {
        self.with("rows", BoltType::List(BoltList { value: rows }))
    }

    /// Returns the driver's form.
    pub(super) fn query(&self) -> Query {
        Query::new(self.text.clone().into_owned()).with_params(self.parameters.clone())
    }
}

/// Returns the statements of a file with several, which end in `;` at the end of a line.
pub(super) fn split(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.split(";\n").map(str::trim).filter(|statement| !statement.is_empty())
}
