//! The passages found, in the form in which they are shown.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::lines::best_lines;
use crate::domain::{Hit, Span, Why};
use crate::error::Result;
use crate::graph::ordinal::{Ordinal as _, PassageOrdinal};
use crate::query::evidence::PassageWords;
use crate::query::session::query::{Query, Ranking};
use crate::store::{DocumentText, PassageText};
use crate::text::{Initials, asked_words, composed, each_term_among, telling_terms, term_spans};

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
    let asked = Asked::of(query)?;
    let hit = |(place, &(passage, score)): (usize, &(PassageOrdinal, f32))| {
        let shown = query.reader.passage(passage)?;
        let of = graph.passage_document[passage];
        let document = query.reader.document(of)?;
        let is_whole = graph.document_passages.of(of).len() == 1;
        let media_type = is_whole.then(|| document.media_type.clone());
        let hit = Hit {
            rank: place as u32 + 1,
            matches: asked.matches(&shown.text),
            why: asked.why(passage),
            score,
            path: found.paths.get(&passage).cloned().unwrap_or_default(),
            ..unasked(shown, document)
        };
        let weigh = |line: &str, inside: &[Span]| asked.weight(&hit.text, line, inside);
        let lines = best_lines(&hit, media_type.as_deref(), &weigh);
        Ok(Hit { lines, ..hit })
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
        lines: Vec::new(),
        why: Why::default(),
        near_equal: Vec::new(),
        metadata: document.metadata,
        path: Vec::new(),
    }
}

/// The terms to find in the texts of passages.
struct Asked<'a> {
    query: &'a Query,
    /// Which passages have which terms; none if a regular expression is searched for.
    passages: Option<&'a PassageWords>,
    /// The terms, by number.
    terms: FxHashMap<&'a str, usize>,
    initials: Initials,
    /// The question in the form in which it has its words.
    text: String,
    /// The words of the question, each once, with the bits of their terms. Parts of words may overlap.
    words: Vec<(Range<usize>, u64)>,
}

impl<'a> Asked<'a> {
    /// # Errors
    ///
    /// If the store cannot be read.
    fn of(query: &'a Query) -> Result<Self> {
        let text = composed(&query.question.text).into_owned();
        let terms: FxHashMap<&str, usize> =
            query.question.distinct.iter().map(|(term, _)| term.as_str()).zip(0..).collect();
        let telling: FxHashSet<String> = telling_terms(&text).into_iter().collect();
        let mut words: Vec<(Range<usize>, u64)> = Vec::new();
        let mut seen = FxHashSet::default();
        for word in asked_words(&text) {
            // Parts of words with which the question only asks are none of its own.
            let says = |term: &&String| !word.is_part || telling.contains(*term);
            let numbers = word.terms.iter().filter(says).filter_map(|term| terms.get(term.as_str()));
            let bits = numbers.fold(0, |bits, number| bits | 1 << number);
            if bits != 0 && seen.insert(word.terms.first().cloned()) {
                words.push((word.span, bits));
            }
        }
        let passages = if query.exact.scan.is_some() { None } else { Some(query.passage_words()?.as_ref()) };
        let initials = Initials::of(terms.keys().copied());
        Ok(Self { query, passages, terms, initials, text, words })
    }

    fn matches(&self, text: &str) -> Vec<Span> {
        let is_wanted = |term: &str| self.terms.contains_key(term);
        let spans = match self.passages {
            Some(_) => term_spans(text, &self.initials, &is_wanted),
            None => self.query.exact.spans(text),
        };
        spans.into_iter().map(Span::from).collect()
    }

    /// Returns how much of the question a line of `text` has: its terms by their weight, or of a regular expression,
    /// how many different texts match at `inside`.
    fn weight(&self, text: &str, line: &str, inside: &[Span]) -> f32 {
        let Some(passages) = self.passages else {
            return inside.iter().map(|it| it.of(text).to_lowercase()).collect::<FxHashSet<_>>().len() as f32;
        };
        let mut has = 0;
        let bit = |term: &str| self.terms.get(term).map_or(0, |number| 1 << number);
        each_term_among(line, &self.initials, &mut |term| has |= term.map_or(0, bit));
        passages.weight(has)
    }

    fn why(&self, passage: PassageOrdinal) -> Why {
        let Some(passages) = self.passages else { return Why::default() };
        let (words, missing) = told(&self.text, &self.words, passages.terms[passage.index()]);
        Why { words, missing, is_named: self.query.names_passage(passage) }
    }
}

/// Returns the words of a question of which a passage has a term, and those of which it has none; `own` is the bits of
/// its terms. Parts of words that overlap are one, and a part is not missing if it overlaps one that the passage has.
fn told(question: &str, words: &[(Range<usize>, u64)], own: u64) -> (Vec<String>, Vec<String>) {
    let (has, mut lacks): (Vec<_>, Vec<_>) = words.iter().partition(|(_, bits)| own & bits != 0);
    lacks.retain(|(span, _)| has.iter().all(|(it, _)| it.end <= span.start || span.end <= it.start));
    let texts = |words: Vec<&(Range<usize>, u64)>| {
        let mut spans: Vec<Range<usize>> = Vec::new();
        for (span, _) in words {
            match spans.last_mut().filter(|last| span.start < last.end) {
                Some(last) => last.end = span.end,
                None => spans.push(span.clone()),
            }
        }
        spans.into_iter().map(|span| question[span].to_owned()).collect()
    };
    (texts(has), texts(lacks))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks what is told of a question if a passage has those of its words whose bits are in `own`.
    #[track_caller]
    fn check(question: &str, own: u64, has: &[&str], lacks: &[&str]) {
        let spans = asked_words(question).into_iter().map(|word| word.span);
        let words: Vec<(Range<usize>, u64)> = spans.zip((0..).map(|number| 1 << number)).collect();
        let (words, missing) = told(question, &words, own);
        assert_eq!((words.join(" "), missing.join(" ")), (has.join(" "), lacks.join(" ")), "{question}");
    }

    #[test]
    fn parts_of_words_that_overlap_are_told_as_one() {
        check("old mills", 0b01, &["old"], &["mills"]);
        check("old mills", 0b11, &["old", "mills"], &[]);
        check("备份保存天数", 0b1_1111, &["备份保存天数"], &[]);
        check("备份保存天数", 0b0_0101, &["备份", "保存"], &["天数"]);
        check("备份保存天数", 0, &[], &["备份保存天数"]);
        check("北京 大学", 0b01, &["北京"], &["大学"]);
    }
}
