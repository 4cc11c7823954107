//! Statements: Cypher from a file under `cypher/`, and its parameters.

use std::borrow::Cow;

use neo4rs::{BoltList, BoltMap, BoltString, BoltType, Query, Row};

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
    /// The number that it must return as `rows`.
    due: Option<usize>,
}

impl Statement {
    pub(super) fn new(action: &'static str, text: &'static str) -> Self {
        Self { action, text: Cow::Borrowed(text), parameters: BoltMap::new(), due: None }
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

    /// Has its transaction rolled back unless it returns this number as `rows`.
    pub(super) fn with_due(mut self, rows: usize) -> Self {
        self.due = Some(rows);
        self
    }

    /// Returns how many rows are missing from what it returned.
    pub(super) fn missing(&self, returned: &[Row]) -> Option<usize> {
        let count = returned.first().and_then(|row| row.get::<i64>("rows").ok()).unwrap_or_default();
        let missing = self.due?.saturating_sub(usize::try_from(count).unwrap_or_default());
        (missing > 0).then_some(missing)
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
