//! Metadata filters: documents that may be shown, and through which a walk may go.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use crate::domain::Metadata;
use crate::error::{Error, Result};
use crate::graph::ordinal::{DocumentOrdinal, Ordinal as _};
use crate::query::evidence::exact::{Exact, NO_PHRASE, with_phrases};
use crate::store::{DocumentText, GraphReader};
use crate::text::is_of_form;

/// Fields that are named to a reader whose filter nothing meets, and values of a field.
const NAMED_MAX: usize = 8;
/// Documents that are read for that.
const READ_MAX: usize = 10_000;

/// How a value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// It equals this, or matches this pattern: `*` stands for any characters, `?` for one.
    Equal,
    /// It is not.
    Unequal,
    /// It is less. Two numbers are compared as numbers, other values letter by letter, as dates are written.
    Less,
    /// It is not more.
    AtMost,
    /// It is more.
    More,
    /// It is not less.
    AtLeast,
}

impl Comparison {
    /// Every comparison as it is written, longer ones first.
    const ALL: [(&'static str, Self); 6] = [
        ("!=", Self::Unequal),
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("=", Self::Equal),
        ("<", Self::Less),
        (">", Self::More),
    ];
}

/// A condition on a document: how a field of its metadata, or its `id`, `uri`, `title` or `type`, compares to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// The field.
    pub key: String,
    /// How it is compared.
    pub comparison: Comparison,
    /// With what.
    pub value: String,
}

impl Filter {
    /// Reads `KEY=VALUE`, or another comparison: `!=`, `<`, `<=`, `>`, `>=`. In the value of the first two, `*` stands
    /// for any characters, slashes among them, and `?` for one; a backslash before either makes it an ordinary one.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] if there is no comparison, or nothing before it.
    pub fn parse(text: &str) -> Result<Self> {
        let at = text.char_indices().map(|(at, _)| at);
        let mut found = at.filter_map(|at| {
            let (key, rest) = text.split_at(at);
            Comparison::ALL.iter().find_map(|(sign, it)| Some((key.trim(), *it, rest.strip_prefix(sign)?.trim())))
        });
        match found.next() {
            Some((key, comparison, value)) if !key.is_empty() => {
                Ok(Self { key: key.to_owned(), comparison, value: value.to_owned() })
            }
            _ => Err(Error::Option {
                option: "filter",
                value: text.to_owned(),
                reason: "it has the form KEY=VALUE, or another of !=, <, <=, >, >= in the middle".to_owned(),
            }),
        }
    }

    pub(in crate::query) fn admits(&self, document: &DocumentText) -> bool {
        let Some(known) = known(&self.key, document) else { return self.comparison == Comparison::Unequal };
        let order = || compared(known, &self.value);
        match self.comparison {
            Comparison::Equal => is_of_form(known, &self.value),
            Comparison::Unequal => !is_of_form(known, &self.value),
            Comparison::Less => order() == Ordering::Less,
            Comparison::AtMost => order() != Ordering::Greater,
            Comparison::More => order() == Ordering::Greater,
            Comparison::AtLeast => order() != Ordering::Less,
        }
    }
}

impl Display for Filter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let sign = Comparison::ALL.iter().find(|it| it.1 == self.comparison).map_or("", |it| it.0);
        write!(f, "{}{sign}{}", self.key, self.value)
    }
}

/// Returns the value of a field: of the metadata, or of what every document has.
fn known<'a>(key: &str, document: &'a DocumentText) -> Option<&'a str> {
    let metadata: &Metadata = &document.metadata;
    metadata.get(key).map(String::as_str).or(match key {
        "id" => Some(document.source_id.as_str()),
        "uri" => Some(document.uri.as_str()),
        "title" => document.title.as_deref(),
        "type" => Some(document.media_type.as_str()),
        _ => None,
    })
}

fn compared(known: &str, value: &str) -> Ordering {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    match number(known).zip(number(value)) {
        Some((known, value)) => known.total_cmp(&value),
        None => known.cmp(value),
    }
}

/// Returns a note that no document matches `filters`, with existing values of the field, or fields. None if one does.
///
/// # Errors
///
/// If the store cannot be read.
fn unmet(reader: &dyn GraphReader, filters: &[Filter]) -> Result<Option<String>> {
    let documents = DocumentOrdinal::first(reader.graph().document_count().min(READ_MAX));
    let documents = documents.map(|document| reader.document(document)).collect::<Result<Vec<_>>>()?;
    if documents.iter().any(|document| filters.iter().all(|filter| filter.admits(document))) {
        return Ok(None);
    }
    let written = filters.iter().map(|filter| format!("`{filter}`")).collect::<Vec<_>>().join(" and ");
    let alone = filters.iter().find(|filter| !documents.iter().any(|document| filter.admits(document)));
    let Some(filter) = alone else { return Ok(Some(format!("{UNMET} {written} together"))) };
    let values: BTreeSet<&str> = documents.iter().filter_map(|document| known(&filter.key, document)).collect();
    let listed = |all: &BTreeSet<&str>| {
        let named: Vec<String> = all.iter().take(NAMED_MAX).map(|it| format!("`{it}`")).collect();
        let more = if all.len() > NAMED_MAX { ", …" } else { "" };
        format!("{}{more}", named.join(", "))
    };
    let there = if values.is_empty() {
        let keys = documents.iter().flat_map(|document| document.metadata.keys().map(String::as_str));
        let keys: BTreeSet<&str> = keys.chain(["id", "uri", "title", "type"]).collect();
        format!("no document has the field `{}`; there are {}", filter.key, listed(&keys))
    } else {
        format!("values of `{}` are {}", filter.key, listed(&values))
    };
    Ok(Some(format!("{UNMET} {written}: {there}")))
}

/// How a note begins that says that no document matches the filters.
pub const UNMET: &str = "no document matches";

/// Returns which passages may be shown, if not all may, and a note if none may.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn shown(
    reader: &dyn GraphReader,
    filters: &[Filter],
    exact: &Exact,
) -> Result<(Option<Vec<bool>>, Vec<String>)> {
    let is_none = |allowed: &Option<Vec<bool>>| allowed.as_ref().is_some_and(|all| !all.contains(&true));
    let mut allowed = allowed(reader, filters)?;
    // Where texts were scanned, documents meet the filters, and none of their passages matches.
    if is_none(&allowed) && !filters.is_empty() && reader.matching().is_none() {
        return Ok((allowed, unmet(reader, filters)?.into_iter().collect()));
    }
    let mut notes = Vec::new();
    if !exact.phrases.is_empty() {
        allowed = with_phrases(reader, &exact.phrases, allowed)?;
        if is_none(&allowed) {
            let phrases: Vec<String> = exact.phrases.iter().map(|phrase| format!("“{}”", phrase.written)).collect();
            notes.push(format!("{NO_PHRASE} {} word for word", phrases.join(" and ")));
        }
    }
    Ok((allowed, notes))
}

/// Returns which passages are in the running: those at hand of documents that meet every filter; `None` where all are.
///
/// # Errors
///
/// If the store cannot be read.
fn allowed(reader: &dyn GraphReader, filters: &[Filter]) -> Result<Option<Vec<bool>>> {
    let count = reader.graph().passage_count();
    let at_hand = reader.excerpt().map(|passages| {
        let mut at_hand = vec![false; count];
        for passage in passages {
            at_hand[passage.index()] = true;
        }
        at_hand
    });
    if filters.is_empty() {
        return Ok(at_hand);
    }
    meeting(reader, filters, at_hand.unwrap_or_else(|| vec![true; count])).map(Some)
}

/// Returns which passages are of documents that meet every filter, at hand or not; `None` where all are.
///
/// # Errors
///
/// If the store cannot be read.
pub(super) fn admitted(reader: &dyn GraphReader, filters: &[Filter]) -> Result<Option<Vec<bool>>> {
    if filters.is_empty() {
        return Ok(None);
    }
    meeting(reader, filters, vec![true; reader.graph().passage_count()]).map(Some)
}

/// Returns which of some passages are of documents that meet every filter.
fn meeting(reader: &dyn GraphReader, filters: &[Filter], mut passages: Vec<bool>) -> Result<Vec<bool>> {
    let graph = reader.graph();
    let meets = |document: DocumentOrdinal| {
        let document = reader.document(document)?;
        Ok::<bool, Error>(filters.iter().all(|filter| filter.admits(&document)))
    };
    let mut documents: Vec<Option<bool>> = vec![None; graph.document_count()];
    for (meeting, document) in passages.iter_mut().zip(graph.passage_document.items()).filter(|it| *it.0) {
        let known = &mut documents[document.index()];
        *meeting = match *known {
            Some(is_met) => is_met,
            None => *known.insert(meets(*document)?),
        };
    }
    Ok(passages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_a_key_and_a_value() {
        let filter = Filter::parse("kind = person").expect("a filter");
        assert_eq!((filter.key.as_str(), filter.value.as_str()), ("kind", "person"));
        assert_eq!(Filter::parse("a=b=c").expect("a filter").value, "b=c");
        for (text, comparison) in
            [("a>=b", Comparison::AtLeast), ("a!=b", Comparison::Unequal), ("a<b", Comparison::Less)]
        {
            let filter = Filter::parse(text).expect("a filter");
            assert_eq!((filter.key.as_str(), filter.comparison, filter.value.as_str()), ("a", comparison, "b"));
            assert_eq!(filter.to_string(), text);
        }
        for text in ["kind", "=person", ""] {
            assert!(Filter::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_dates_as_they_are_written() {
        assert_eq!(compared("9", "10"), Ordering::Less);
        assert_eq!(compared("2024-05-01", "2024-11-01"), Ordering::Less);
        assert_eq!(compared("v9", "v10"), Ordering::Greater);
    }

    #[test]
    fn metadata_takes_precedence_over_built_in_keys() {
        let mut document = DocumentText {
            document: crate::domain::DocumentId::of(&[b"a"]),
            source_id: "a".to_owned(),
            title: None,
            uri: "a.md".to_owned(),
            media_type: "text/markdown".to_owned(),
            metadata: Metadata::new(),
            duplicate_of: None,
        };
        let filter = Filter::parse("type=text/markdown").expect("a filter");
        assert!(filter.admits(&document));
        document.metadata.insert("type".to_owned(), "letter".to_owned());
        assert!(!filter.admits(&document));
    }
}
