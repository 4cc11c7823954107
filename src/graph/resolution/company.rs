//! The company of names: which other names occur near them.

use crate::graph::ordinal::{DocumentOrdinal, EntityOrdinal, PassageOrdinal};
use crate::graph::packed::PassageGraph;

/// Passages that are read for the company of a name, and of a document.
pub const PASSAGES_MAX: usize = 32;
/// Names that two keep company with in common, at least, before that says anything.
const SHARED_MIN: usize = 2;
/// The share of the smaller company that both must have in common.
const SHARE_MIN: f64 = 0.15;

/// Names in order.
pub(super) type Names = Vec<EntityOrdinal>;

/// Returns the passages that mention a name, in order.
pub(super) fn passages<'g>(graph: &PassageGraph<'g>, name: EntityOrdinal) -> impl Iterator<Item = PassageOrdinal> + 'g {
    let (postings, passages) = (graph.entity_mentions.of(name), graph.posting_passage);
    let mut last = None;
    postings.map(move |posting| passages[posting]).filter(move |passage| last.replace(*passage) != Some(*passage))
}

/// Returns the names in the first of some passages.
pub(super) fn of(graph: &PassageGraph<'_>, passages: impl Iterator<Item = PassageOrdinal>) -> Names {
    names(graph, passages.take(PASSAGES_MAX))
}

/// Returns the names of a document.
pub(super) fn of_document(graph: &PassageGraph<'_>, document: DocumentOrdinal) -> Names {
    names(graph, graph.document_passages.of(document).take(PASSAGES_MAX))
}

fn names(graph: &PassageGraph<'_>, passages: impl Iterator<Item = PassageOrdinal>) -> Names {
    let mut names: Names =
        passages.flat_map(|it| graph.mention_entity.of(graph.passage_mentions.of(it))).copied().collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns how much two companies have in common, without names in `apart`: the number of names, and their weight,
/// larger for names in fewer documents.
pub(super) fn shared(graph: &PassageGraph<'_>, one: &Names, other: &Names, apart: &[EntityOrdinal]) -> (usize, f64) {
    let common = one.iter().filter(|it| other.binary_search(it).is_ok());
    let common: Vec<EntityOrdinal> = common.copied().filter(|it| !speaks_of(graph, *it, apart)).collect();
    (common.len(), common.iter().map(|it| says(graph, *it)).sum())
}

/// Returns whether two names keep the same company.
pub(super) fn is_same(graph: &PassageGraph<'_>, one: EntityOrdinal, other: EntityOrdinal) -> bool {
    let [a, b] = [one, other].map(|name| of(graph, passages(graph, name)));
    let (count, common) = shared(graph, &a, &b, &[one, other]);
    let all = |names: &Names| -> f64 {
        names.iter().filter(|it| !speaks_of(graph, **it, &[one, other])).map(|it| says(graph, *it)).sum()
    };
    count >= SHARED_MIN && common >= SHARE_MIN * all(&a).min(all(&b))
}

/// Returns the place of the one of some companies with which a company has clearly the most in common.
pub(super) fn nearest(
    graph: &PassageGraph<'_>,
    company: &Names,
    others: &[(EntityOrdinal, Names)],
    apart: &[EntityOrdinal],
) -> Option<usize> {
    let mut common: Vec<(usize, (usize, f64))> =
        others.iter().map(|(_, it)| shared(graph, company, it, apart)).enumerate().collect();
    common.sort_by(|a, b| b.1.1.total_cmp(&a.1.1).then(a.0.cmp(&b.0)));
    let (at, (count, most)) = *common.first()?;
    let next = common.get(1).map_or(0.0, |it| it.1.1);
    (count >= SHARED_MIN && most >= 2.0 * next).then_some(at)
}

/// Returns whether a name is one of some, or a word of theirs.
fn speaks_of(graph: &PassageGraph<'_>, name: EntityOrdinal, some: &[EntityOrdinal]) -> bool {
    let word = graph.entity_name(name);
    some.contains(&name) || some.iter().any(|it| graph.entity_name(*it).split(' ').any(|part| part == word))
}

/// Returns the weight of a name by the number of documents that have it: 0 if most do.
fn says(graph: &PassageGraph<'_>, name: EntityOrdinal) -> f64 {
    let documents = f64::from(graph.entity_documents[name].max(1));
    (graph.document_count() as f64 / documents).ln().max(0.0)
}
