//! The passages found, in the form in which they are shown.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::domain::{Hit, Span, Why};
use crate::error::Result;
use crate::graph::ordinal::{Ordinal as _, PassageOrdinal};
use crate::query::session::query::{Query, Ranking};
use crate::store::{DocumentText, PassageText};
use crate::text::{is_stop_word, term, term_spans, words};

/// Returns the passages that were found, in their order, with their documents and the steps that led to them.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn hits(found: &Ranking) -> Result<Vec<Hit>> {
    let query = &found.query;
    let passages: Vec<PassageOrdinal> = found.ranked.iter().map(|it| it.0).collect();
    query.reader.prepare(&passages)?;
    let graph = query.reader.graph();
    let asked = Asked::of(query);
    let hit = |(place, &(passage, score)): (usize, &(PassageOrdinal, f32))| {
        let shown = query.reader.passage(passage)?;
        let document = query.reader.document(graph.passage_document[passage])?;
        Ok(Hit {
            rank: place as u32 + 1,
            matches: asked.matches(&shown.text),
            why: asked.why(passage)?,
            score,
            path: found.paths.get(&passage).cloned().unwrap_or_default(),
            ..unasked(shown, document)
        })
    };
    found.ranked.par_iter().enumerate().map(hit).collect()
}

/// Returns a passage in the form in which it is shown if no question led to it.
pub(in crate::query) fn unasked(shown: PassageText, document: DocumentText) -> Hit {
    Hit {
        rank: 1,
        passage: shown.passage,
        document: document.document,
        name: document.title.unwrap_or_else(|| document.source_id.clone()),
        source_id: document.source_id,
        uri: document.uri,
        section: shown.section,
        page: shown.page,
        line: shown.line,
        column: shown.column,
        span: shown.span,
        text: shown.text,
        score: 0.0,
        matches: Vec::new(),
        why: Why::default(),
        near_equal: Vec::new(),
        metadata: document.metadata,
        path: Vec::new(),
    }
}

/// The terms to find in the texts of passages.
struct Asked<'a> {
    query: &'a Query,
    terms: FxHashSet<&'a str>,
    /// The words of the question as it has them, each once, with the bits of their terms.
    words: Vec<(String, u64)>,
}

impl<'a> Asked<'a> {
    fn of(query: &'a Query) -> Self {
        let mut asked: Vec<(String, u64)> = Vec::new();
        for word in words(&query.question.text) {
            let folded = crate::text::folded(word.text);
            let own = term(&folded);
            let bit = query.question.distinct.iter().position(|(term, _)| *term == own);
            let Some(bit) = bit.map(|bit| 1 << bit).filter(|_| !is_stop_word(&folded)) else { continue };
            if asked.iter().all(|it| it.1 != bit) {
                asked.push((word.text.to_owned(), bit));
            }
        }
        let terms = query.question.distinct.iter().map(|it| it.0.as_str()).collect();
        Self { query, terms, words: asked }
    }

    fn matches(&self, text: &str) -> Vec<Span> {
        let exact = &self.query.exact;
        let spans =
            if exact.scan.is_some() { exact.spans(text) } else { term_spans(text, &|term| self.terms.contains(term)) };
        spans.into_iter().map(Span::from).collect()
    }

    fn why(&self, passage: PassageOrdinal) -> Result<Why> {
        if self.query.exact.scan.is_some() {
            return Ok(Why::default());
        }
        let own = self.query.passage_words()?.terms[passage.index()];
        let (has, misses): (Vec<_>, Vec<_>) = self.words.iter().partition(|(_, bit)| own & bit != 0);
        let texts = |words: Vec<&(String, u64)>| words.into_iter().map(|it| it.0.clone()).collect();
        Ok(Why { words: texts(has), missing: texts(misses), is_named: self.query.names_passage(passage) })
    }
}
