//! How well the texts of candidates fit a question, beyond the structure of the index.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::text_form::{is_listing, text_form};
use crate::error::Result;
use crate::graph::ordinal::PassageOrdinal;
use crate::graph::trail::TextFit;
use crate::query::evidence::lexical;
use crate::query::session::query::Query;
use crate::store::{DocumentText, PassageText, TextField};
use crate::text::{Initials, each_term_among, lead_name, terms};

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
    let names = || Names { query, asked: &asked, worth: FxHashMap::default() };
    passages.par_iter().map_init(names, |names, passage| fit(query, &asked, names, *passage)).collect()
}

fn fit(query: &Query, asked: &Asked, names: &mut Names<'_>, passage: PassageOrdinal) -> Result<TextFit> {
    let PassageText { text, section, .. } = query.reader.passage(passage)?;
    let DocumentText { title, source_id, .. } =
        query.reader.document(query.reader.graph().passage_document[passage])?;
    let name = title.as_deref().or_else(|| lead_name(&text)).unwrap_or_default();
    let above = section.as_deref().unwrap_or_default();
    let heading = above.rsplit(" › ").next().unwrap_or_default();
    let (name_terms, body) = (asked.places(name), Body::of(&text, asked));
    let headings = [asked.places(above), name_terms.clone()].concat();
    let mut fit = TextFit {
        name_covered: names.covered(name)?,
        bigrams: asked.bigrams([&name_terms, &body.terms]),
        heading_fit: names.fit(heading)?.0,
        headings_asked: asked.share(&headings),
        phrase: asked.phrase(&body.terms),
        near: asked.near(&body.terms),
        rarest: asked.rarest(&body.terms),
        listing: if is_listing(&source_id) || is_listing(above) { 1.0 } else { 0.0 },
        ..text_form(&text)
    };
    for (place, (line, own)) in body.lines.into_iter().enumerate().filter(|(_, it)| it.1.len() <= LINE_TERMS_MAX) {
        // A heading covers most of the question, or the question most of the heading.
        if asked.share(&body.terms[own]) >= LINE_SHARE_MIN {
            let (both, covered) = names.fit(line)?;
            if both > fit.line_fit {
                let opens = if place == 0 { 1.0 } else { 0.0 };
                (fit.line_fit, fit.line_covered, fit.line_opens) = (both, covered, opens);
            }
        }
    }
    Ok(fit)
}

/// The place of a term among those of a question; none of one that it lacks.
type Place = Option<u16>;

/// The terms of a text as the question has them.
struct Body<'t> {
    terms: Vec<Place>,
    /// The lines with terms, with those of each.
    lines: Vec<(&'t str, Range<usize>)>,
}

impl<'t> Body<'t> {
    fn of(text: &'t str, asked: &Asked) -> Self {
        let mut body = Self { terms: Vec::with_capacity(text.len() / 8), lines: Vec::new() };
        for line in text.lines() {
            let start = body.terms.len();
            asked.each_place(line, &mut |place| body.terms.push(place));
            if body.terms.len() > start {
                body.lines.push((line, start..body.terms.len()));
            }
        }
        body
    }
}

/// The terms of a question and their idf.
struct Asked {
    places: FxHashMap<String, u16>,
    initials: Initials,
    /// The idf of each term; 0 of those after the first `weighed`.
    worth: Vec<f32>,
    weighed: usize,
    whole: f32,
    /// Its terms in order.
    terms: Vec<Place>,
    /// Pairs of neighboring terms, each once.
    pairs: Vec<[Place; 2]>,
    /// The term with the highest idf.
    rarest: Place,
}

impl Asked {
    fn of(query: &Query) -> Result<Self> {
        let idf = &query.passage_words()?.idf;
        let (distinct, terms) = (&query.question.distinct, &query.question.terms);
        let mut asked = Self {
            places: FxHashMap::default(),
            initials: Initials::of(distinct.iter().map(|it| &it.0).chain(terms).map(String::as_str)),
            worth: idf.clone(),
            weighed: idf.len(),
            whole: idf.iter().sum(),
            terms: Vec::new(),
            pairs: Vec::new(),
            rarest: None,
        };
        for ((term, _), place) in distinct.iter().zip(0..) {
            asked.places.insert(term.clone(), place);
        }
        for term in terms {
            let next = asked.worth.len() as u16;
            let place = *asked.places.entry(term.clone()).or_insert(next);
            if place == next {
                asked.worth.push(0.0);
            }
            asked.terms.push(Some(place));
        }
        asked.pairs = asked.terms.array_windows().copied().collect();
        asked.pairs.sort_unstable();
        asked.pairs.dedup();
        let rarest = distinct.iter().zip(idf).max_by(|a, b| a.1.total_cmp(b.1).then(b.0.0.cmp(&a.0.0)));
        asked.rarest = rarest.and_then(|((term, _), _)| asked.place(term));
        Ok(asked)
    }

    fn place(&self, term: &str) -> Place {
        self.places.get(term).copied()
    }

    /// Returns the places of the terms of a text.
    fn places(&self, text: &str) -> Vec<Place> {
        let mut places = Vec::new();
        self.each_place(text, &mut |place| places.push(place));
        places
    }

    /// Visits the place of each term of a text.
    fn each_place(&self, text: &str, visit: &mut dyn FnMut(Place)) {
        each_term_among(text, &self.initials, &mut |term| visit(term.and_then(|term| self.place(term))));
    }

    fn worth(&self, place: Place) -> f32 {
        place.map_or(0.0, |place| self.worth[usize::from(place)])
    }

    /// Returns the share of the question that is among `terms`, by idf.
    fn share(&self, terms: &[Place]) -> f32 {
        let mut own: Vec<u16> = terms.iter().copied().flatten().collect();
        own.sort_unstable();
        own.dedup();
        own.into_iter().map(|place| self.worth(Some(place))).sum::<f32>() / self.whole.max(1e-9)
    }

    /// Returns the share of the longest run of terms in `body` that is also in the question, by idf.
    fn phrase(&self, body: &[Place]) -> f32 {
        let whole: f32 = self.terms.iter().map(|place| self.worth(*place)).sum();
        let mut best = 0.0f32;
        // By position in the question: the value of the run that ends there and at the last position of the body.
        let mut rows = vec![0.0f32; self.terms.len() + 1];
        let mut is_open = false;
        for term in body {
            if term.is_none() && !is_open {
                continue;
            }
            is_open = term.is_some();
            for place in (0..self.terms.len()).rev() {
                let row = if self.terms[place] == *term { rows[place] + self.worth(*term) } else { 0.0 };
                rows[place + 1] = row;
                best = best.max(row);
            }
        }
        best / whole.max(1e-9)
    }

    /// Returns the largest share of the question within [`NEAR_TERMS`] of `body`, by idf.
    fn near(&self, body: &[Place]) -> f32 {
        let found: Vec<(usize, u16)> = body.iter().zip(0..).filter_map(|(place, at)| Some((at, (*place)?))).collect();
        let mut best = 0.0f32;
        for (first, (start, _)) in found.iter().enumerate() {
            let mut seen: Vec<u16> = Vec::new();
            let mut sum = 0.0;
            for (_, place) in found[first..].iter().take_while(|it| it.0 < start + NEAR_TERMS) {
                if !seen.contains(place) {
                    seen.push(*place);
                    sum += self.worth(Some(*place));
                }
            }
            best = best.max(sum);
        }
        best / self.whole.max(1e-9)
    }

    /// Returns 1 if the rarest term occurs in `body`.
    fn rarest(&self, body: &[Place]) -> f32 {
        if self.rarest.is_some() && body.contains(&self.rarest) { 1.0 } else { 0.0 }
    }

    /// Returns the share of the question's pairs that occur in one of `lists`, by idf.
    fn bigrams(&self, lists: [&[Place]; 2]) -> f32 {
        let worth = |pair: &[Place; 2]| self.worth(pair[0]) + self.worth(pair[1]);
        let whole: f32 = self.pairs.iter().map(worth).sum();
        let stands = |pair: &&[Place; 2]| lists.iter().any(|list| list.array_windows().any(|it| it == *pair));
        if whole > 0.0 { self.pairs.iter().filter(stands).map(worth).sum::<f32>() / whole } else { 0.0 }
    }
}

/// Weights of the terms of names, as far as they were looked up.
struct Names<'a> {
    query: &'a Query,
    asked: &'a Asked,
    worth: FxHashMap<String, f32>,
}

impl Names<'_> {
    /// Returns Σ idf(name ∩ question)/Σ idf(name), damped if the question is much longer than the name.
    fn covered(&mut self, name: &str) -> Result<f32> {
        let (covered, whole) = self.sums(name)?;
        if covered <= 0.0 || whole <= 0.0 {
            return Ok(0.0);
        }
        Ok(covered / whole * (covered / (NAME_SHARE * self.asked.whole).max(1e-9)).min(1.0).sqrt())
    }

    /// Returns how well a heading fits the question, as the harmonic mean of the share of each in the other, and the
    /// share of the heading.
    fn fit(&mut self, heading: &str) -> Result<(f32, f32)> {
        let (covered, whole) = self.sums(heading)?;
        if covered <= 0.0 {
            return Ok((0.0, 0.0));
        }
        Ok((2.0 * covered / (whole + self.asked.whole), covered / whole))
    }

    /// Returns the idf of the terms of a name that the question has, and of all.
    fn sums(&mut self, name: &str) -> Result<(f32, f32)> {
        let (mut covered, mut whole) = (0.0, 0.0);
        for term in terms(name).into_iter().collect::<FxHashSet<_>>() {
            let place = self.asked.place(&term).filter(|place| usize::from(*place) < self.asked.weighed);
            let worth = self.worth(term)?;
            whole += worth;
            if place.is_some() {
                covered += worth;
            }
        }
        Ok((covered, whole))
    }

    fn worth(&mut self, term: String) -> Result<f32> {
        if let Some(worth) = self.worth.get(&term) {
            return Ok(*worth);
        }
        let reader = &self.query.reader;
        let frequency = reader.frequency(TextField::Passage, &term)?;
        let worth = lexical::idf(lexical::count(reader.as_ref(), TextField::Passage), frequency.max(1));
        self.worth.insert(term, worth);
        Ok(worth)
    }
}
