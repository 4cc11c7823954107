//! How well the texts of candidates fit a question, beyond the structure of the index.

use rustc_hash::{FxHashMap, FxHashSet};

use super::text_form::{is_listing, text_form};
use crate::error::Result;
use crate::graph::ordinal::PassageOrdinal;
use crate::graph::trail::TextFit;
use crate::query::evidence::lexical;
use crate::query::session::query::Query;
use crate::store::{DocumentText, PassageText, TextField};
use crate::text::{lead_name, terms};

/// A name that is so small a part of the question as this counts in full; less is damped.
const NAME_SHARE: f32 = 0.4;
/// Terms of a line that may be a heading at most.
const LINE_TERMS_MAX: usize = 12;
/// Share of the question that is in a line that may be its heading, at least.
const LINE_SHARE_MIN: f32 = 0.3;
/// Window of terms that count as near each other.
const NEAR_TERMS: usize = 16;

/// Returns how well the text of each passage fits.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn text_fits(query: &Query, passages: &[PassageOrdinal]) -> Result<Vec<TextFit>> {
    let asked = Asked::of(query)?;
    query.reader.prepare(passages)?;
    let mut names = Names { query, worth: asked.worth.clone() };
    passages.iter().map(|passage| fit(query, &asked, &mut names, *passage)).collect()
}

fn fit(query: &Query, asked: &Asked, names: &mut Names<'_>, passage: PassageOrdinal) -> Result<TextFit> {
    let PassageText { text, section, .. } = query.reader.passage(passage)?;
    let DocumentText { title, source_id, .. } =
        query.reader.document(query.reader.graph().passage_document[passage])?;
    let name = terms(title.as_deref().or_else(|| lead_name(&text)).unwrap_or_default());
    let lines: Vec<Vec<String>> = text.lines().map(terms).filter(|line| !line.is_empty()).collect();
    let body: Vec<&str> = lines.iter().flatten().map(String::as_str).collect();
    let above = section.as_deref().unwrap_or_default();
    let heading = terms(above.rsplit(" › ").next().unwrap_or_default());
    let headings: FxHashSet<String> = terms(above).into_iter().chain(name.iter().cloned()).collect();
    let mut fit = TextFit {
        name_covered: names.covered(&name, asked)?,
        bigrams: asked.bigrams([&name.iter().map(String::as_str).collect::<Vec<_>>(), &body]),
        heading_fit: names.fit(&heading, asked)?.0,
        headings_asked: asked.share(headings.iter().map(String::as_str)),
        phrase: asked.phrase(&body),
        near: asked.near(&body),
        rarest: asked.rarest(&body),
        listing: if is_listing(&source_id) || is_listing(above) { 1.0 } else { 0.0 },
        ..text_form(&text)
    };
    for (place, line) in lines.iter().enumerate().filter(|(_, line)| line.len() <= LINE_TERMS_MAX) {
        // A heading covers most of the question, or the question most of the heading.
        if asked.share(line.iter().map(String::as_str)) >= LINE_SHARE_MIN {
            let (both, covered) = names.fit(line, asked)?;
            if both > fit.line_fit {
                let opens = if place == 0 { 1.0 } else { 0.0 };
                (fit.line_fit, fit.line_covered, fit.line_opens) = (both, covered, opens);
            }
        }
    }
    Ok(fit)
}

/// The terms of a question and their idf.
struct Asked {
    worth: FxHashMap<String, f32>,
    whole: f32,
    /// Its terms in order.
    terms: Vec<String>,
    /// Pairs of neighboring terms.
    pairs: FxHashSet<(String, String)>,
}

impl Asked {
    fn of(query: &Query) -> Result<Self> {
        let distinct = query.question.distinct.iter().map(|(term, _)| term.clone());
        let worth: FxHashMap<String, f32> = distinct.zip(query.passage_words()?.idf.iter().copied()).collect();
        let pairs = query.question.terms.windows(2).filter_map(|pair| match pair {
            [first, second] => Some((first.clone(), second.clone())),
            _ => None,
        });
        Ok(Self { whole: worth.values().sum(), pairs: pairs.collect(), terms: query.question.terms.clone(), worth })
    }

    /// Returns the share of the question that is among `terms`, by idf.
    fn share<'a>(&self, terms: impl Iterator<Item = &'a str>) -> f32 {
        let own: FxHashSet<&str> = terms.collect();
        let covered: f32 = self.worth.iter().filter(|it| own.contains(it.0.as_str())).map(|it| it.1).sum();
        covered / self.whole.max(1e-9)
    }

    /// Returns the share of the longest run of terms in `body` that is also in the question, by idf.
    fn phrase(&self, body: &[&str]) -> f32 {
        let worth = |term: &String| self.worth.get(term).copied().unwrap_or(0.0);
        let whole: f32 = self.terms.iter().map(worth).sum();
        let mut best = 0.0f32;
        // By position in the question: the value of the run that ends there and at the last position of the body.
        let mut rows = vec![0.0f32; self.terms.len() + 1];
        for term in body {
            for place in (0..self.terms.len()).rev() {
                let row = if self.terms[place] == *term { rows[place] + worth(&self.terms[place]) } else { 0.0 };
                rows[place + 1] = row;
                best = best.max(row);
            }
        }
        best / whole.max(1e-9)
    }

    /// Returns the largest share of the question within [`NEAR_TERMS`] of `body`, by idf.
    fn near(&self, body: &[&str]) -> f32 {
        let found: Vec<(usize, &str, f32)> = body
            .iter()
            .enumerate()
            .filter_map(|(place, term)| self.worth.get(*term).map(|worth| (place, *term, *worth)))
            .collect();
        let mut best = 0.0f32;
        for (first, (start, _, _)) in found.iter().enumerate() {
            let mut seen: Vec<&str> = Vec::new();
            let mut sum = 0.0;
            for (_, term, worth) in found[first..].iter().take_while(|it| it.0 < start + NEAR_TERMS) {
                if !seen.contains(term) {
                    seen.push(term);
                    sum += worth;
                }
            }
            best = best.max(sum);
        }
        best / self.whole.max(1e-9)
    }

    /// Returns 1 if the rarest term occurs in `body`.
    fn rarest(&self, body: &[&str]) -> f32 {
        let rarest = self.worth.iter().max_by(|a, b| a.1.total_cmp(b.1).then_with(|| b.0.cmp(a.0)));
        if rarest.is_some_and(|(term, _)| body.contains(&term.as_str())) { 1.0 } else { 0.0 }
    }

    /// Returns the share of the question's pairs that occur in one of `lists`, by idf.
    fn bigrams(&self, lists: [&[&str]; 2]) -> f32 {
        let worth = |pair: &(String, String)| {
            let of = |term: &String| self.worth.get(term).copied().unwrap_or(0.0);
            of(&pair.0) + of(&pair.1)
        };
        let whole: f32 = self.pairs.iter().map(worth).sum();
        let stands = |pair: &&(String, String)| {
            lists.iter().any(|list| list.windows(2).any(|it| it[0] == pair.0 && it[1] == pair.1))
        };
        if whole > 0.0 { self.pairs.iter().filter(stands).map(worth).sum::<f32>() / whole } else { 0.0 }
    }
}

/// Weights of the terms of names, as far as they were looked up.
struct Names<'a> {
    query: &'a Query,
    worth: FxHashMap<String, f32>,
}

impl Names<'_> {
    /// Returns Σ idf(name ∩ question)/Σ idf(name), damped if the question is much longer than the name.
    fn covered(&mut self, name: &[String], asked: &Asked) -> Result<f32> {
        let (mut covered, mut whole) = (0.0, 0.0);
        for term in name.iter().collect::<FxHashSet<_>>() {
            let worth = self.worth(term)?;
            whole += worth;
            if asked.worth.contains_key(term) {
                covered += worth;
            }
        }
        if covered <= 0.0 || whole <= 0.0 {
            return Ok(0.0);
        }
        Ok(covered / whole * (covered / (NAME_SHARE * asked.whole).max(1e-9)).min(1.0).sqrt())
    }

    /// Returns how well a heading fits the question, as the harmonic mean of the share of each in the other, and the
    /// share of the heading.
    fn fit(&mut self, heading: &[String], asked: &Asked) -> Result<(f32, f32)> {
        let (mut covered, mut whole) = (0.0, 0.0);
        for term in heading.iter().collect::<FxHashSet<_>>() {
            let worth = self.worth(term)?;
            whole += worth;
            if asked.worth.contains_key(term) {
                covered += worth;
            }
        }
        if covered <= 0.0 {
            return Ok((0.0, 0.0));
        }
        Ok((2.0 * covered / (whole + asked.whole), covered / whole))
    }

    fn worth(&mut self, term: &str) -> Result<f32> {
        if let Some(worth) = self.worth.get(term) {
            return Ok(*worth);
        }
        let reader = &self.query.reader;
        let frequency = reader.frequency(TextField::Passage, term)?;
        let worth = lexical::idf(lexical::count(reader.as_ref(), TextField::Passage), frequency.max(1));
        self.worth.insert(term.to_owned(), worth);
        Ok(worth)
    }
}
