//! Extractive answers: sentences of the passages found that together answer the question, word for word.
//!
//! Pieces of text are chosen one after the other, each by its own relevance and by how much it covers of what earlier
//! ones leave open. So the sentence at the end of a path is chosen together with the one at its beginning, though it
//! shares few words with the question.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::asked::Asked;
use super::pieces::{Piece, pieces};
use super::relevance::is_relevant;
use crate::domain::{AnswerKind, Citation, Hit, PassageId, Span};
use crate::error::Result;
use crate::graph::ordinal::{EntityOrdinal, Ordinal as _, PassageOrdinal};
use crate::graph::trail::Trust;
use crate::query::evidence::PassageWords;
use crate::query::session::query::{Query, Ranking};
use crate::query::strategies::trail::says_as_much;
use crate::text::{is_contents, terms, tokens};

/// Passages whose pieces are considered.
const PASSAGES_MAX: usize = 8;
/// Pieces of one passage that are quoted at most.
const PIECES_MAX: usize = 3;
/// Maximum bytes of adjacent pieces quoted as one.
const JOINED_BYTES_MAX: usize = 400;
/// Letters and digits of a piece that says something at least.
const SHORT_CHARS: usize = 20;
/// Maximum path length that counts.
const STEPS_FULL: usize = 2;
/// Assumed distance in pieces of a heading above the passage, since it is unknown.
const FAR: usize = 2;
/// The text if there is no answer.
const NOTHING: &str = "No passage was found that is likely to answer the question.";

// Weights of the signs of a piece, see [`Signs`]. They were chosen by a search over questions with known answers on the
// demo and on documents of ten kinds, and rounded; docs/figures.md has the results there and elsewhere.
const SHARE: f32 = 1.9;
const OWN: f32 = 1.3;
const HEADING: f32 = 1.5;
const BEFORE: f32 = 0.3;
const COSINE: f32 = 0.25;
const FIT: f32 = 0.7;
const FIRST: f32 = 0.05;
const ASKS: f32 = -0.6;
const SHORT: f32 = -0.2;
const LINK: f32 = 0.2;
const REACHED: f32 = 1.2;
/// Weight of the part of the question that a piece, its title and heading cover and no chosen piece does.
const UNCOVERED: f32 = 1.9;
/// Price of a piece of a list of contents: another says what it names.
const CONTENTS: f32 = 3.0;
/// Price of each further piece of one passage.
const AGAIN: f32 = 0.1;
/// Score of a piece at the end of a path that is quoted before better ones at least, as a share of the best.
const END_SHARE_MIN: f32 = 0.5;

/// An answer before it is combined with what was found.
pub(in crate::query) struct Extracted {
    pub(in crate::query) kind: AnswerKind,
    pub(in crate::query) text: String,
    pub(in crate::query) citations: Vec<Citation>,
}

impl Extracted {
    /// Returns the text if there is no answer.
    fn nothing() -> Self {
        Self { kind: AnswerKind::Nothing, text: NOTHING.to_owned(), citations: Vec::new() }
    }
}

/// Quotes the `citations_max` sentences that together answer best, those at the end of a path first if steps count and
/// they are not worth much less.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn answer(found: &Ranking, hits: &[Hit], citations_max: usize) -> Result<Extracted> {
    if !is_relevant(found)? {
        return Ok(Extracted::nothing());
    }
    sentences(found, hits, citations_max)
}

/// Does the same whatever they have to do with the question.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn sentences(found: &Ranking, hits: &[Hit], citations_max: usize) -> Result<Extracted> {
    let is_walk_needed = is_walk_needed(&found.query, hits)?;
    let mut chosen = choose(found.query.passage_words()?, candidates(found, hits, is_walk_needed)?, citations_max);
    if is_walk_needed {
        put_ends_first(&mut chosen);
    }
    let citations: Vec<Citation> =
        chosen.iter().map(|(it, score)| it.hit.citation(Span::from(it.span.clone()), *score)).collect();
    let text = citations.iter().map(|citation| citation.quote.as_str()).collect::<Vec<_>>().join("\n");
    Ok(Extracted { kind: AnswerKind::Extractive, text, citations })
}

/// Puts what stands at the end of a path first, the longest path first, unless it is worth much less than the best.
fn put_ends_first(chosen: &mut [(Candidate<'_>, f32)]) {
    let least = chosen.first().map_or(0.0, |best| END_SHARE_MIN * best.1);
    let steps = |(candidate, score): &(Candidate<'_>, f32)| if *score < least { 0 } else { candidate.hit.path.len() };
    chosen.sort_by_key(|it| std::cmp::Reverse(steps(it)));
}

/// A piece that may be quoted.
struct Candidate<'a> {
    hit: &'a Hit,
    /// In the text of its passage.
    span: Range<usize>,
    /// Its place among the pieces of its passage.
    place: usize,
    /// Terms of the question in it, in its title and in its heading.
    terms: u64,
    /// Its own value, whatever else is quoted.
    worth: f32,
}

/// Returns whether some passages were reached by steps, and these count. Where one passage covers a question that names
/// nothing, what a path leads to is rarely the answer.
fn is_walk_needed(query: &Query, hits: &[Hit]) -> Result<bool> {
    let is_any_reached = hits.iter().take(PASSAGES_MAX).any(|hit| !hit.path.is_empty());
    Ok(is_any_reached && !matches!(Trust::of(&query.evidence()?), Trust::Covered(_)))
}

/// Returns the pieces of the best passages, passage by passage.
fn candidates<'a>(found: &Ranking, hits: &'a [Hit], is_walk_needed: bool) -> Result<Vec<Candidate<'a>>> {
    let query = &found.query;
    let reading = Reading::of(query, hits)?;
    let lists = needless_lists(found, hits)?;
    let mut candidates = Vec::new();
    for (&(passage, score), hit) in found.ranked.iter().zip(hits).take(PASSAGES_MAX) {
        let share = share(found, score);
        let sentences = query.reader.passage(passage)?.sentences;
        let pieces = pieces(&hit.text, &sentences);
        let price = if lists.contains(&passage) { CONTENTS } else { 0.0 };
        for (place, piece) in pieces.iter().enumerate() {
            let before = place.checked_sub(1).map(|before| &pieces[before]);
            let (signs, terms) = reading.signs(hit, passage, piece, before)?;
            let first = if place == 0 { 1.0 } else { 0.0 };
            let steps = if is_walk_needed { hit.path.len().min(STEPS_FULL) } else { 0 };
            let reached = steps as f32 / STEPS_FULL as f32;
            let signs = Signs { share, first, reached, ..signs };
            candidates.push(Candidate { hit, span: piece.span.clone(), place, terms, worth: signs.worth() - price });
        }
    }
    Ok(candidates)
}

/// Returns the lists of contents among the best passages that another of them says as much as.
fn needless_lists(found: &Ranking, hits: &[Hit]) -> Result<Vec<PassageOrdinal>> {
    let words = found.query.passage_words()?;
    let read = || found.ranked.iter().map(|it| it.0).zip(hits).take(PASSAGES_MAX);
    let lists: Vec<PassageOrdinal> = read().filter(|it| is_contents(&it.1.text)).map(|it| it.0).collect();
    let covered = |passage: PassageOrdinal| words.weight(words.terms[passage.index()]);
    let others = read().map(|it| it.0).filter(|passage| !lists.contains(passage));
    let most = others.map(covered).fold(0.0, f32::max);
    Ok(lists.into_iter().filter(|list| says_as_much(most, covered(*list))).collect())
}

/// Returns a score scaled between the worst (0) and the best (1) of the passages found.
fn share(found: &Ranking, score: f32) -> f32 {
    let best = found.ranked.first().map_or(score, |it| it.1);
    let worst = found.ranked.last().map_or(score, |it| it.1);
    if best > worst { (score - worst) / (best - worst) } else { 1.0 }
}

/// The signs by which a piece is weighed; each is between 0 and 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Signs {
    /// The passage's own score between the worst and the best.
    share: f32,
    /// Share of the question's idf that its own words cover.
    own: f32,
    /// That of the heading above it, the less the farther it is.
    heading: f32,
    /// That of the piece before it.
    before: f32,
    /// Cosine with the question.
    cosine: f32,
    /// How much it has the form of the answer.
    fit: f32,
    /// Whether it opens its passage.
    first: f32,
    /// Whether it asks something itself.
    asks: f32,
    /// Whether it is too short to say much.
    short: f32,
    /// Whether the path continues from here, along a name in it.
    link: f32,
    /// How far a path leads to its passage.
    reached: f32,
}

impl Signs {
    fn worth(self) -> f32 {
        SHARE * self.share
            + OWN * self.own
            + HEADING * self.heading
            + BEFORE * self.before
            + COSINE * self.cosine
            + FIT * self.fit
            + FIRST * self.first
            + ASKS * self.asks
            + SHORT * self.short
            + LINK * self.link
            + REACHED * self.reached
    }
}

/// What pieces are read for.
struct Reading<'a> {
    query: &'a Query,
    words: &'a PassageWords,
    asked: Asked,
    /// Terms of the question by what they are.
    bits: FxHashMap<&'a str, u64>,
    /// Names along which ways leave passages.
    links: FxHashSet<(PassageId, String)>,
}

impl<'a> Reading<'a> {
    fn of(query: &'a Query, hits: &[Hit]) -> Result<Self> {
        let steps = hits.iter().flat_map(|hit| &hit.path);
        let links = steps.filter_map(|step| Some((step.from, tokens(step.entity.as_deref()?).join(" ")))).collect();
        let distinct = &query.question.distinct;
        let bits = distinct.iter().zip(0..).map(|((term, _), number)| (term.as_str(), 1 << number)).collect();
        let asked = Asked::of(&query.question.words);
        Ok(Self { query, words: query.passage_words()?, asked, bits, links })
    }

    /// Returns which terms of the question a text has.
    fn bits(&self, text: &str) -> u64 {
        terms(text).iter().filter_map(|term| self.bits.get(term.as_str())).fold(0, |all, bit| all | bit)
    }

    fn covered(&self, bits: u64) -> f32 {
        self.words.weight(bits) / self.words.whole()
    }

    /// Returns the signs of a piece, and the terms of the question that it covers with its title and heading.
    fn signs(&self, hit: &Hit, passage: PassageOrdinal, piece: &Piece, before: Option<&Piece>) -> Result<(Signs, u64)> {
        let query = self.query;
        let graph = query.reader.graph();
        let text = hit.text.get(piece.span.clone()).unwrap_or_default();
        let of = |span: &Range<usize>| self.bits(hit.text.get(span.clone()).unwrap_or_default());
        let (heading, distance) = match &piece.under {
            Some((heading, distance)) => (of(heading), *distance),
            None => (self.bits(hit.section.as_deref().unwrap_or_default()), FAR),
        };
        let own = self.bits(text);
        let (_, from) = graph.passage_sentences.of(passage).split_at(piece.sentences.start);
        let (sentences, _) = from.split_at(piece.sentences.len());
        let (mut title, mut cosine) = (0, 0.0f32);
        for sentence in sentences.clone() {
            title |= query.sentence_words()?.terms[sentence.index()];
            cosine = cosine.max(query.sentence_cosine_of(sentence)?.unwrap_or(0.0));
        }
        let mentions = graph.passage_mentions.of(passage);
        let mentions = mentions.filter(|mention| sentences.contains(graph.mention_sentence[*mention]));
        let entities: Vec<EntityOrdinal> = mentions.map(|mention| graph.mention_entity[mention]).collect();
        let leads_on =
            |entity: &EntityOrdinal| self.links.contains(&(hit.passage, graph.entity_name(*entity).to_owned()));
        let flag = |is: bool| if is { 1.0 } else { 0.0 };
        let signs = Signs {
            own: self.covered(own),
            heading: self.covered(heading) / (1.0 + distance as f32),
            before: before.map_or(0.0, |before| self.covered(of(&before.span))),
            cosine,
            fit: self.asked.fit(text, &query.question.distinct),
            asks: flag(text.trim_end().ends_with('?')),
            short: flag(text.chars().filter(|c| c.is_alphanumeric()).count() < SHORT_CHARS),
            link: flag(entities.iter().any(leads_on)),
            ..Signs::default()
        };
        Ok((signs, own | title | heading))
    }
}

/// Chooses pieces until there are `count` quotations, each the best given those chosen before it; ties go to the better
/// passage. Adjacent pieces make one quotation if it is short.
fn choose<'a>(words: &PassageWords, mut candidates: Vec<Candidate<'a>>, count: usize) -> Vec<(Candidate<'a>, f32)> {
    let whole = words.whole();
    let mut chosen: Vec<(Candidate<'a>, f32)> = Vec::new();
    let mut covered = 0;
    let mut times: FxHashMap<PassageId, usize> = FxHashMap::default();
    loop {
        let mut best: Option<(usize, f32)> = None;
        for (i, candidate) in candidates.iter().enumerate() {
            let times = times.get(&candidate.hit.passage).copied().unwrap_or(0);
            let new = UNCOVERED * words.weight(candidate.terms & !covered) / whole;
            let score = candidate.worth + new - AGAIN * times as f32;
            if times < PIECES_MAX && best.is_none_or(|(_, most)| score > most) {
                best = Some((i, score));
            }
        }
        let Some((i, score)) = best else { return chosen };
        let beside = chosen.iter_mut().find(|(it, _)| it.joins(&candidates[i]));
        if let Some((beside, _)) = beside {
            let candidate = candidates.remove(i);
            beside.span = beside.span.start.min(candidate.span.start)..beside.span.end.max(candidate.span.end);
            beside.place = beside.place.max(candidate.place);
            covered |= candidate.terms;
            *times.entry(candidate.hit.passage).or_default() += 1;
        } else if chosen.len() < count {
            let candidate = candidates.remove(i);
            covered |= candidate.terms;
            *times.entry(candidate.hit.passage).or_default() += 1;
            chosen.push((candidate, score));
        } else {
            return chosen;
        }
    }
}

impl Candidate<'_> {
    /// Returns whether `next` follows this one, and both are short enough to be one quotation.
    fn joins(&self, next: &Candidate<'_>) -> bool {
        let bytes = next.span.end.saturating_sub(self.span.start);
        self.hit.passage == next.hit.passage && next.place == self.place + 1 && bytes <= JOINED_BYTES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Step, StepKind};
    use crate::query::pieces::fuse::testing::hits;

    /// Checks the order of quotations, each with its score and how many steps led to it.
    #[track_caller]
    fn check(chosen: &[(&str, f32, usize)], expect: &[&str]) {
        let mut found = hits(&chosen.iter().map(|it| (it.0, it.1)).collect::<Vec<_>>());
        for (hit, (_, _, steps)) in found.iter_mut().zip(chosen) {
            let to = hit.passage;
            let step = Step {
                from: to,
                to,
                kind: StepKind::QuestionEdge,
                question: String::new(),
                entity: None,
                score: 1.0,
                round: 1,
            };
            hit.path = vec![step; *steps];
        }
        let of = |hit| Candidate { hit, span: 0..0, place: 0, terms: 0, worth: 0.0 };
        let mut pieces: Vec<_> = found.iter().map(|hit| (of(hit), hit.score)).collect();
        put_ends_first(&mut pieces);
        assert_eq!(pieces.iter().map(|it| it.0.hit.name.as_str()).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn the_end_of_a_path_comes_first_unless_it_is_worth_much_less() {
        check(&[], &[]);
        check(&[("mill", 4.0, 0), ("ada", 3.0, 1), ("eaststead", 2.0, 2)], &["eaststead", "ada", "mill"]);
        check(&[("mill", 4.0, 0), ("ada", 3.0, 1), ("eaststead", 1.9, 2)], &["ada", "mill", "eaststead"]);
        check(&[("mill", 4.0, 0), ("weir", 1.5, 1), ("ada", 1.0, 2)], &["mill", "weir", "ada"]);
    }
}
