//! Short answers without a model, by named rules: a date, a place, a name, a country, yes or no. A rule may find
//! nothing. Its result is a guess, to be read beside the quoted sentences.
//!
//! `dates`, `same-country`: compare two entities that the question joins by `or` or `and`. `date`, `place`, `country`,
//! `relation`: start from the one entity that the question names and follow the relations that it asks about, as
//! passages state them or as the walk went.

mod countries;
mod dates;
mod prose;
mod relations;
mod rules;

use std::ops::Range;

use crate::domain::Guess;
use crate::error::Result;
use crate::graph::ordinal::{DocumentOrdinal, EntityOrdinal, PassageOrdinal};
use crate::graph::packed::PassageGraph;
use crate::query::evidence::question::AskedQuestion;
use crate::query::session::query::{Query, Ranking};
use crate::text::{strip_parenthesis, words};
use prose::Prose;
use relations::Relation;

/// Passages of a document that are read.
const PASSAGES_READ: usize = 3;

/// Returns a short answer, if a rule has one.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn guess(found: &Ranking) -> Result<Option<Guess>> {
    let query = found.query.as_ref();
    let asked = Asked { query, found, graph: query.reader.graph(), question: &query.question };
    let guess = match asked.pair() {
        Some(pair) => asked.compared(&pair)?,
        None => asked.followed()?,
    };
    Ok(guess.filter(|guess| !guess.text.trim().is_empty()))
}

/// An entity that the question names: its words, and its document.
struct Named {
    words: Range<usize>,
    document: DocumentOrdinal,
}

/// The end of a chain of relations.
struct End {
    /// The name there, as written; none if the chain is empty.
    name: Option<String>,
    /// Its document, if the index has one.
    document: Option<DocumentOrdinal>,
}

struct Asked<'a> {
    query: &'a Query,
    found: &'a Ranking,
    graph: PassageGraph<'a>,
    question: &'a AskedQuestion,
}

impl Asked<'_> {
    fn word(&self, at: usize) -> &str {
        self.question.words.get(at).map_or("", String::as_str)
    }

    /// Returns the words of the question outside `names`, each name in its place.
    fn outside(&self, names: &[&Range<usize>]) -> Vec<&str> {
        let is_outside = |at: &usize| !names.iter().any(|name| name.contains(at));
        (0..self.question.words.len()).filter(is_outside).map(|at| self.word(at)).collect()
    }

    /// Returns the two entities that the question joins.
    fn pair(&self) -> Option<[Named; 2]> {
        let names: Vec<Named> = self.named();
        names.windows(2).find_map(|pair| {
            let between: Vec<&str> = (pair[0].words.end..pair[1].words.start).map(|at| self.word(at)).collect();
            let joins = between.iter().any(|word| matches!(*word, "or" | "and"));
            (joins && between.len() <= 6 && pair[0].document != pair[1].document)
                .then(|| [&pair[0], &pair[1]].map(|it| Named { words: it.words.clone(), document: it.document }))
        })
    }

    /// Returns the entities named in the question that have a document.
    fn named(&self) -> Vec<Named> {
        let names = self.question.names.iter();
        names
            .filter_map(|name| Some(Named { words: name.words.clone(), document: self.bearer(name.entity)? }))
            .collect()
    }

    /// Returns the document with a name: of several, the one ranked best.
    fn bearer(&self, entity: EntityOrdinal) -> Option<DocumentOrdinal> {
        let bearers = self.graph.entity_bearers.of(entity).map(|it| self.graph.bearer_document[it]);
        let place = |document: &DocumentOrdinal| {
            let own = self.graph.document_passages.of(*document);
            self.found.ranked.iter().position(|(passage, _)| own.contains(*passage)).unwrap_or(usize::MAX)
        };
        bearers.min_by_key(|document| (place(document), *document))
    }

    /// Returns the beginning of a document.
    fn text(&self, document: DocumentOrdinal) -> Result<String> {
        let passages: Vec<PassageOrdinal> = self.graph.document_passages.of(document).take(PASSAGES_READ).collect();
        self.query.reader.prepare(&passages)?;
        let texts: Result<Vec<String>> =
            passages.iter().map(|passage| Ok(self.query.reader.passage(*passage)?.text)).collect();
        Ok(texts?.join("\n"))
    }

    /// Returns a name as the question writes it.
    fn written(&self, name: &Range<usize>) -> String {
        let words = words(&self.question.text);
        let span = words.get(name.start).zip(words.get(name.end - 1)).map(|(first, last)| first.start..last.end);
        let text = span.and_then(|span| {
            // A parenthesis that the name opens belongs to it.
            let closed = self.question.text.get(span.end..)?.starts_with(')');
            let inside = self.question.text.get(span.clone())?.contains('(');
            self.question.text.get(span.start..span.end + usize::from(closed && inside))
        });
        text.unwrap_or_default().to_owned()
    }

    /// Follows relations from a document: as its text states them, and else as the walk went from it.
    fn follow(&self, start: DocumentOrdinal, chain: &[&Relation]) -> Result<Option<End>> {
        let mut end = End { name: None, document: Some(start) };
        for relation in chain {
            let Some(document) = end.document else { return Ok(None) };
            let text = self.text(document)?;
            let own = self.graph.own_entity.of(self.graph.document_own.of(document));
            let is_own = |key: &str| self.graph.entities(key).any(|entity| own.contains(&entity));
            let prose = Prose::of(&text).without(is_own);
            let stated = relation.stated(&prose).map(|run| End {
                name: text.get(run.start..run.end).map(str::to_owned),
                document: self.graph.entities(&run.key).find_map(|entity| self.bearer(entity)),
            });
            end = match stated {
                Some(stated) if stated.document.is_some() => stated,
                stated => match (self.walked_from(document)?, stated) {
                    (Some(walked), None) => walked,
                    (_, Some(stated)) => stated,
                    (None, None) => return Ok(None),
                },
            };
        }
        Ok(Some(end))
    }

    /// Returns the best document that the walk reached from `document`.
    fn walked_from(&self, document: DocumentOrdinal) -> Result<Option<End>> {
        let own = self.graph.document_passages.of(document);
        let from: Vec<_> = own.map(|passage| self.query.reader.passage_id(passage)).collect();
        let reached = |passage: &&PassageOrdinal| {
            let path = self.found.paths.get(passage);
            path.and_then(|path| path.last()).is_some_and(|step| from.contains(&step.from))
        };
        let Some(passage) = self.found.ranked.iter().map(|(passage, _)| passage).find(reached) else {
            return Ok(None);
        };
        let target = self.graph.passage_document[*passage];
        let title = self.query.reader.document(target)?.title;
        let name = title.map(|title| strip_parenthesis(&title).to_owned());
        Ok(name.map(|name| End { name: Some(name), document: Some(target) }))
    }
}
