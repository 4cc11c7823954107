//! The existing constraints and indexes: whether ours cover what they should, and which of others conflict with ours.

use neo4rs::Row;

use super::super::element::MARKS;
use super::super::kinds::Kind;
use super::super::session::Session;
use super::super::statement::{Statement, cypher};
use crate::error::Result;

/// How full-text indexes take words apart.
const ANALYZER: &str = "english";
/// How vector indexes compare.
const SIMILARITY: &str = "COSINE";

/// The kind of a constraint or index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Keeps two elements of one key apart.
    Unique,
    /// Finds elements by a value.
    Value,
    /// Finds texts by words.
    Text,
    /// Finds vectors.
    Vector,
}

impl Purpose {
    /// Returns the type of the index, as the server names it.
    const fn index_type(self) -> &'static str {
        match self {
            Self::Unique | Self::Value => "RANGE",
            Self::Text => "FULLTEXT",
            Self::Vector => "VECTOR",
        }
    }
}

/// A constraint or index that a statement makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) name: &'static str,
    pub(super) purpose: Purpose,
    label: &'static str,
    properties: Vec<&'static str>,
}

impl Due {
    /// Parses a statement under `cypher/schema`; none if it creates nothing.
    pub(super) fn of(statement: &'static str) -> Option<Self> {
        let (made, rest) = statement.split_once(" IF NOT EXISTS")?;
        let (purpose, name) = [
            ("CREATE CONSTRAINT ", Purpose::Unique),
            ("CREATE FULLTEXT INDEX ", Purpose::Text),
            ("CREATE VECTOR INDEX ", Purpose::Vector),
            ("CREATE INDEX ", Purpose::Value),
        ]
        .into_iter()
        .find_map(|(words, purpose)| Some((purpose, made.rsplit_once(words)?.1)))?;
        let (label, rest) = rest.split_once(':')?.1.split_once([')', ']'])?;
        let (_, covered) = rest.split_once(" REQUIRE ").or_else(|| rest.split_once(" ON "))?;
        let covered = covered.split(" IS ").next()?.split("OPTIONS").next()?;
        let words = covered.split(|it: char| !it.is_ascii_alphanumeric() && it != '.');
        let properties = words.filter_map(|word| Some(word.split_once('.')?.1)).collect();
        Some(Self { name, purpose, label, properties })
    }

    fn covers(&self, labels: &[String], properties: &[String]) -> bool {
        labels.len() == 1 && labels[0] == self.label && self.properties.iter().eq(properties)
    }
}

/// An existing constraint.
#[derive(Debug, Clone, Default)]
struct Constraint {
    name: String,
    is_unique: bool,
    labels: Vec<String>,
    properties: Vec<String>,
}

impl Constraint {
    fn is(&self, due: &Due) -> bool {
        due.purpose == Purpose::Unique && self.is_unique && due.covers(&self.labels, &self.properties)
    }

    /// Returns whether it may cause a publish to be refused. Constraints on properties that we never write do not
    /// affect us, and no two of our elements have the same key.
    fn hinders(&self) -> bool {
        let mut written: Vec<&str> = Vec::new();
        for kind in Kind::ALL.into_iter().filter(|kind| self.labels.iter().any(|it| kind.labels().contains(&&**it))) {
            let id = kind.ends().is_none().then_some("id");
            written.extend(kind.properties().iter().map(|(name, _)| *name).chain(MARKS).chain(id));
        }
        if written.is_empty() {
            return false;
        }
        let has = |name: &str| self.properties.iter().any(|it| it == name);
        let is_written = self.properties.iter().all(|it| written.contains(&it.as_str()));
        !self.is_unique || (is_written && !(has("id") && has("cairnSince")))
    }

    fn shown(&self) -> String {
        format!("`{}` of {}({})", self.name, self.labels.join("|"), self.properties.join(", "))
    }
}

/// An existing index.
#[derive(Debug, Clone, Default)]
struct Index {
    name: String,
    kind: String,
    labels: Vec<String>,
    properties: Vec<String>,
    state: String,
    /// The constraint that it belongs to.
    constraint: Option<String>,
    dimension: Option<i64>,
    similarity: Option<String>,
    analyzer: Option<String>,
}

impl Index {
    fn covers(&self, due: &Due) -> bool {
        self.kind == due.purpose.index_type() && due.covers(&self.labels, &self.properties)
    }

    /// Returns whether it is what it should be.
    fn is(&self, due: &Due, dimension: usize) -> bool {
        let is_set = match due.purpose {
            Purpose::Unique | Purpose::Value => true,
            Purpose::Text => self.analyzer.as_deref() == Some(ANALYZER),
            Purpose::Vector => {
                self.dimension == i64::try_from(dimension).ok()
                    && self.similarity.as_deref().is_some_and(|it| it.eq_ignore_ascii_case(SIMILARITY))
            }
        };
        self.covers(due) && is_set && self.state != "FAILED"
    }

    fn shown(&self) -> String {
        format!("`{}` of {}({})", self.name, self.labels.join("|"), self.properties.join(", "))
    }
}

/// All constraints and indexes of a database.
#[derive(Debug, Clone, Default)]
pub(super) struct Schema {
    constraints: Vec<Constraint>,
    indexes: Vec<Index>,
}

/// Constraints and indexes to drop, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Drops {
    pub(super) constraints: Vec<String>,
    pub(super) indexes: Vec<String>,
}

impl Schema {
    pub(super) async fn read(session: &Session) -> Result<Self> {
        let unreadable = || session.damaged("its constraints and indexes cannot be read");
        let statement = |text| Statement::new("read the schema", text);
        let texts = |row: &Row, name| row.get::<Option<Vec<String>>>(name).ok().map(Option::unwrap_or_default);
        let constraint = |row: &Row| {
            let kind: String = row.get("type").ok()?;
            let is_unique = kind.ends_with("UNIQUENESS");
            let (labels, properties) = (texts(row, "labels")?, texts(row, "properties")?);
            Some(Constraint { name: row.get("name").ok()?, is_unique, labels, properties })
        };
        let index = |row: &Row| {
            Some(Index {
                name: row.get("name").ok()?,
                kind: row.get("type").ok()?,
                labels: texts(row, "labels")?,
                properties: texts(row, "properties")?,
                state: row.get("state").ok()?,
                constraint: row.get("constraint").ok()?,
                dimension: row.get("dimensions").ok()?,
                similarity: row.get("similarity").ok()?,
                analyzer: row.get("analyzer").ok()?,
            })
        };
        let rows = session.rows(&statement(cypher!("read/constraints"))).await?;
        let constraints = rows.iter().map(constraint).collect::<Option<_>>().ok_or_else(unreadable)?;
        let rows = session.rows(&statement(cypher!("read/indexes"))).await?;
        let indexes = rows.iter().map(index).collect::<Option<_>>().ok_or_else(unreadable)?;
        Ok(Self { constraints, indexes })
    }

    fn has(&self, due: &Due, dimension: usize) -> bool {
        match due.purpose {
            // Whatever its name: it does the same.
            Purpose::Unique => self.constraints.iter().any(|it| it.is(due)),
            Purpose::Value => self.indexes.iter().any(|it| it.is(due, dimension)),
            // These are asked by name.
            Purpose::Text | Purpose::Vector => {
                self.indexes.iter().any(|it| it.name == due.name && it.is(due, dimension))
            }
        }
    }

    /// Returns the names of those due that are missing or wrong.
    pub(super) fn missing(&self, due: &[Due], dimension: usize) -> Vec<&'static str> {
        due.iter().filter(|it| !self.has(it, dimension)).map(|it| it.name).collect()
    }

    /// Returns the names of those due that cannot be queried now.
    pub(super) fn unready(&self, due: &[Due], dimension: usize) -> Vec<&'static str> {
        let serves = |due: &Due, it: &Index| it.name == due.name || (due.purpose == Purpose::Value && it.covers(due));
        let is_online = |due: &&Due| self.indexes.iter().any(|it| serves(due, it) && it.state == "ONLINE");
        due.iter().filter(|it| !(self.has(it, dimension) && is_online(it))).map(|it| it.name).collect()
    }

    /// Returns those with our names that are wrong but can be rebuilt: indexes that have failed or are over other
    /// vectors, and leftovers of a server that was killed while it created their constraint.
    pub(super) fn spoiled(&self, due: &[Due], dimension: usize) -> Vec<String> {
        let is_spoiled = |due: &Due, index: &Index| {
            let is_left = due.purpose == Purpose::Unique && index.constraint.is_none();
            index.name == due.name && index.covers(due) && (is_left || !index.is(due, dimension))
        };
        let indexes = self.indexes.iter().filter(|it| it.constraint.is_none());
        indexes.filter(|index| due.iter().any(|due| is_spoiled(due, index))).map(|it| it.name.clone()).collect()
    }

    /// Returns the user's own constraints and indexes that prevent something due from being created or written, for
    /// display.
    pub(super) fn conflicts(&self, due: &[Due]) -> Vec<String> {
        let is_other = |constraint: &&Constraint| constraint.hinders() && !due.iter().any(|due| constraint.is(due));
        let blocks = |index: &&Index| {
            let does_the_same = |due: &Due| due.purpose != Purpose::Value && index.covers(due);
            index.constraint.is_none() && due.iter().any(does_the_same)
        };
        let others = self.constraints.iter().filter(|it| !is_ours(&it.name));
        let constraints = others.filter(is_other).map(Constraint::shown);
        let others = self.indexes.iter().filter(|it| !is_ours(&it.name));
        constraints.chain(others.filter(blocks).map(Index::shown)).collect()
    }

    /// Returns those with our names that match nothing due.
    pub(super) fn outdated(&self, due: &[Due]) -> Drops {
        let is_due = |constraint: &&Constraint| due.iter().any(|due| due.name == constraint.name && constraint.is(due));
        let covers_due = |index: &&Index| due.iter().any(|due| due.name == index.name && index.covers(due));
        self.ours(|constraint| !is_due(constraint), |index| !covers_due(index))
    }

    /// Returns all that has a name of ours.
    pub(super) fn all_of_ours(&self) -> Drops {
        self.ours(|_| true, |_| true)
    }

    fn ours(&self, constraint: impl Fn(&&Constraint) -> bool, index: impl Fn(&&Index) -> bool) -> Drops {
        let constraints = self.constraints.iter().filter(|it| is_ours(&it.name)).filter(constraint);
        let indexes = self.indexes.iter().filter(|it| it.constraint.is_none() && is_ours(&it.name)).filter(index);
        Drops {
            constraints: constraints.map(|it| it.name.clone()).collect(),
            indexes: indexes.map(|it| it.name.clone()).collect(),
        }
    }
}

/// Returns whether a constraint or index has a name that only we give.
fn is_ours(name: &str) -> bool {
    name.starts_with(super::PREFIX)
}

#[cfg(test)]
mod tests;
