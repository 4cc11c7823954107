//! The ends of a path: what a name refers to in an index.

use crate::domain::{PassageId, PathEnd, PathsBy};
use crate::error::{Error, Result};
use crate::graph::network::Node;
use crate::graph::ordinal::{DocumentOrdinal, Ordinal as _, PassageOrdinal};
use crate::graph::top;
use crate::query::evidence::lexical;
use crate::store::{DocumentText, GraphReader, TextField};
use crate::text::{Terms, folded, lower, near, term, tokens};

/// Documents of one title that an error names.
const AMONG_MAX: usize = 5;
/// Passages at most that are read for one that has all words of a name.
const PASSAGES_READ_MAX: usize = 100;

/// Returns the node that `end` names. An entity cannot be an end of paths that follow only questions.
///
/// # Errors
///
/// [`Error::Unknown`] if nothing has that name, [`Error::Ambiguous`] if several documents do, and whatever the store
/// fails with.
pub(super) fn resolve(reader: &dyn GraphReader, end: &PathEnd, by: PathsBy) -> Result<Node> {
    match end {
        PathEnd::Passage(id) => passage(reader, *id).ok_or_else(|| unknown(id.to_string(), [""; 0])),
        PathEnd::Entity(name) => {
            let graph = reader.graph();
            let names = || graph.entity_documents.ordinals().map(|entity| graph.entity_name(entity));
            entity(reader, name, by).ok_or_else(|| unknown(name.clone(), names()))
        }
        PathEnd::Document(name) => {
            document(reader, name)?.map_or_else(|| Err(unknown(name.clone(), titles(reader)?)), Ok)
        }
        PathEnd::Named(name) => {
            let named = name.parse().ok().and_then(|id| passage(reader, id)).or_else(|| entity(reader, name, by));
            if let Some(named) = named {
                return Ok(named);
            }
            if let Some(named) = document(reader, name)? {
                return Ok(named);
            }
            if let Some(named) = identifier(reader, name)? {
                return Ok(named);
            }
            if let Some(named) = words(reader, name)? {
                return Ok(named);
            }
            let graph = reader.graph();
            let mut known = titles(reader)?;
            if by.has_entities() {
                let entities = graph.entity_documents.ordinals();
                known.extend(entities.map(|entity| graph.entity_name(entity).to_owned()));
            }
            Err(unknown(name.clone(), known))
        }
    }
}

fn unknown<S: AsRef<str>>(name: String, names: impl IntoIterator<Item = S>) -> Error {
    let near = near(&name, names);
    Error::Unknown { name, near }
}

fn passage(reader: &dyn GraphReader, id: PassageId) -> Option<Node> {
    reader.graph().passages().find(|passage| reader.passage_id(*passage) == id).map(Node::Passage)
}

/// Returns the entity of a name; if relations are walked, the one that the name stands for.
fn entity(reader: &dyn GraphReader, name: &str, by: PathsBy) -> Option<Node> {
    let entity = reader.graph().entity(&folded(name)).filter(|_| by.has_entities())?;
    let resolution = reader.resolution().filter(|_| by.has_relations());
    Some(Node::Entity(resolution.map_or(entity, |it| it.entity_canonical[entity])))
}

/// Returns the document with this id in its source, or else the one with this title, or else the one with this title in
/// other capitals.
fn document(reader: &dyn GraphReader, name: &str) -> Result<Option<Node>> {
    let lower = name.to_lowercase();
    let mut titled: [Vec<(DocumentOrdinal, String)>; 2] = [Vec::new(), Vec::new()];
    for number in reader.graph().documents() {
        let DocumentText { source_id, title, .. } = reader.document(number)?;
        if source_id == name {
            return Ok(Some(Node::Document(number)));
        }
        match title {
            Some(title) if title == name => titled[0].push((number, source_id)),
            Some(title) if title.to_lowercase() == lower => titled[1].push((number, source_id)),
            _ => {}
        }
    }
    for titled in titled {
        match &titled[..] {
            [] => {}
            [(number, _)] => return Ok(Some(Node::Document(*number))),
            several => {
                let among = several.iter().take(AMONG_MAX).map(|it| it.1.clone()).collect();
                return Err(Error::Ambiguous { name: name.to_owned(), among });
            }
        }
    }
    Ok(None)
}

/// Returns the first passage that contains an identifier most often: `wal_level`, `--no-verify`.
fn identifier(reader: &dyn GraphReader, name: &str) -> Result<Option<Node>> {
    let mut best: Option<(u32, u32)> = None;
    for term in Terms::of(name).identifiers {
        reader.postings(TextField::Passage, &term, &mut |passage, count| {
            if best.is_none_or(|(_, most)| count > most) {
                best = Some((passage, count));
            }
        })?;
        if best.is_some() {
            break;
        }
    }
    Ok(best.map(|(passage, _)| Node::Passage(PassageOrdinal(passage))))
}

/// Returns the passage that a search for the words of a name finds first among those that have all of them as they are
/// written, or as identifiers: `40P01`, `maxConnections`, `RFC2119` for `RFC 2119`.
fn words(reader: &dyn GraphReader, name: &str) -> Result<Option<Node>> {
    let asked = lexical::distinct(&Terms::of(name).words, &[]);
    if asked.is_empty() {
        return Ok(None);
    }
    let found = lexical::score(reader, TextField::Passage, &asked)?;
    let whole = found.terms.iter().map(|terms| terms.count_ones() as usize == asked.len());
    let scored = whole.zip(&found.bm25).enumerate().filter(|(_, (is_whole, _))| *is_whole);
    let scored = scored.map(|(number, (_, score))| (PassageOrdinal::at(number), *score));
    let candidates: Vec<PassageOrdinal> = top::best(scored, PASSAGES_READ_MAX).into_iter().map(|it| it.0).collect();
    reader.prepare(&candidates)?;
    let words = tokens(name);
    for passage in candidates {
        let text = reader.passage(passage)?.text;
        let (written, identifiers) = (lower(&text), Terms::of(&text).identifiers);
        if words.iter().all(|word| written.contains(word.as_str()) || identifiers.contains(&term(word))) {
            return Ok(Some(Node::Passage(passage)));
        }
    }
    Ok(None)
}

fn titles(reader: &dyn GraphReader) -> Result<Vec<String>> {
    let documents = reader.graph().documents();
    documents.map(|number| Ok(reader.document(number)?.caption().to_owned())).collect()
}
