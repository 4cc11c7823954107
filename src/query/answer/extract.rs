//! Extractive answers: sentences of the passages found that answer the question together, word for word.
//!
//! Sentences are chosen one after the other: each for what it says itself, and for what it covers of the question
//! that those before it leave open. So the sentence at the end of a way is chosen beside the one where the way
//! begins, though it shares few words with the question. The worths below were chosen by hand on the demo collection
//! and on the visible questions of three public ones; no answer is read when a question is asked.

use rustc_hash::FxHashSet;

use crate::domain::{AnswerKind, Citation, Hit, PassageId, Span};
use crate::error::Result;
use crate::graph::ordinal::{EntityOrdinal, Ordinal as _, PassageOrdinal, SentenceOrdinal};
use crate::query::evidence::PassageWords;
use crate::query::session::query::{Query, Ranking};
use crate::text::{terms, tokens};

/// Passages whose sentences are looked at.
const PASSAGES_MAX: usize = 8;
/// Sentences of one passage that are quoted at most.
const SENTENCES_MAX: usize = 2;
/// Share of the question's idf that one passage must cover, where the index knows a name of the question.
const COVERED_MIN: f32 = 0.2;
/// What coverage and cosine must come to together, where it knows none.
const FIT_MIN: f32 = 0.85;
/// What coverage must come to where there are no vectors either.
const COVERED_ALONE_MIN: f32 = 0.4;
/// What is said when there is nothing.
const NOTHING: &str = "No passage was found that is likely to answer the question.";

/// Worth of the passage's own score, the best being 1.
const SHARE: f32 = 0.6;
/// Worth of what a sentence covers of the question that no chosen one does, its title included.
const UNCOVERED: f32 = 2.0;
/// Worth of what it covers by its own words.
const COVERED: f32 = 0.3;
/// Worth of a name that the question does not have, where it asks for one.
const NAME: f32 = 0.3;
/// Worth of a number, where it asks for one.
const NUMBER: f32 = 1.0;
/// Worth of the name along which a way goes on from here.
const LINK: f32 = 0.25;
/// Worth of lying on a way.
const REACHED: f32 = 0.3;
/// Worth of the sentence that says what the passage is about.
const FIRST: f32 = 0.1;
/// Price of a second sentence of one passage.
const AGAIN: f32 = 0.25;

/// An answer before it is put together with what was found.
pub(in crate::query) struct Extracted {
    pub(in crate::query) kind: AnswerKind,
    pub(in crate::query) text: String,
    pub(in crate::query) citations: Vec<Citation>,
}

impl Extracted {
    /// Returns what is said when there is nothing.
    fn nothing() -> Self {
        Self { kind: AnswerKind::Nothing, text: NOTHING.to_owned(), citations: Vec::new() }
    }
}

/// Quotes the `citations_max` sentences that answer best together, those at the end of a way first.
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
    let mut chosen = choose(found.query.passage_words()?, candidates(found, hits)?, citations_max);
    chosen.sort_by_key(|(candidate, _)| std::cmp::Reverse(candidate.hit.path.len()));
    let citations: Vec<Citation> = chosen.iter().map(|(it, score)| it.hit.citation(it.span, *score)).collect();
    let text = citations.iter().map(|citation| citation.quote.as_str()).collect::<Vec<_>>().join("\n");
    Ok(Extracted { kind: AnswerKind::Extractive, text, citations })
}

/// Returns whether the passages found have anything to do with the question: a name of it that the index knows, or else
/// enough of its words and of its meaning.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn is_relevant(found: &Ranking) -> Result<bool> {
    let query = &found.query;
    let words = query.passage_words()?;
    let read = || found.ranked.iter().take(PASSAGES_MAX).map(|it| it.0);
    let covered = read().map(|passage| words.weight(words.terms[passage.index()]) / words.whole()).fold(0.0, f32::max);
    if !query.entities().is_empty() && covered >= COVERED_MIN {
        return Ok(true);
    }
    let cosines = read().map(|passage| query.best_sentence_cosine_of(passage)).collect::<Result<Vec<_>>>()?;
    Ok(match cosines.into_iter().collect::<Option<Vec<f32>>>() {
        None => covered >= COVERED_ALONE_MIN,
        Some(cosines) => covered + cosines.into_iter().fold(0.0, f32::max) >= FIT_MIN,
    })
}

/// A sentence that may be quoted.
struct Candidate<'a> {
    hit: &'a Hit,
    /// In the text of its passage.
    span: Span,
    /// Terms of the question in it and in its title.
    terms: u64,
    /// What it is worth whatever else is quoted.
    worth: f32,
}

/// Returns the sentences of the best passages, passage by passage; headings are none.
fn candidates<'a>(found: &Ranking, hits: &'a [Hit]) -> Result<Vec<Candidate<'a>>> {
    let query = &found.query;
    let reading = Reading::of(query, hits)?;
    let sentence_terms = &query.sentence_words()?.terms;
    let mut candidates = Vec::new();
    for (&(passage, score), hit) in found.ranked.iter().zip(hits).take(PASSAGES_MAX) {
        let spans = query.reader.passage(passage)?.sentences;
        let numbers = query.reader.graph().passage_sentences.of(passage);
        let sentences = spans.into_iter().zip(numbers).filter(|(span, _)| !span.of(&hit.text).starts_with('#'));
        let passage_worth = SHARE * share(found, score) + if hit.path.is_empty() { 0.0 } else { REACHED };
        for (i, (span, number)) in sentences.enumerate() {
            let first = if i == 0 { FIRST } else { 0.0 };
            let worth = passage_worth + first + reading.worth(span.of(&hit.text), passage, number, hit.passage);
            candidates.push(Candidate { hit, span, terms: sentence_terms[number.index()], worth });
        }
    }
    Ok(candidates)
}

/// Returns where a score lies between the worst (0) and the best (1) of what was found.
fn share(found: &Ranking, score: f32) -> f32 {
    let best = found.ranked.first().map_or(score, |it| it.1);
    let worst = found.ranked.last().map_or(score, |it| it.1);
    if best > worst { (score - worst) / (best - worst) } else { 1.0 }
}

/// What sentences are read for.
struct Reading<'a> {
    query: &'a Query,
    words: &'a PassageWords,
    asks_number: bool,
    /// Names along which ways leave passages.
    links: FxHashSet<(PassageId, String)>,
}

impl<'a> Reading<'a> {
    fn of(query: &'a Query, hits: &[Hit]) -> Result<Self> {
        let steps = hits.iter().flat_map(|hit| &hit.path);
        let links = steps.filter_map(|step| Some((step.from, tokens(step.entity.as_deref()?).join(" ")))).collect();
        Ok(Self { query, words: query.passage_words()?, asks_number: asks_number(&query.question.words), links })
    }

    /// Returns what a sentence is worth for what it says itself.
    fn worth(&self, sentence: &str, passage: PassageOrdinal, number: SentenceOrdinal, id: PassageId) -> f32 {
        let (graph, named) = (self.query.reader.graph(), self.query.entities());
        let asked = &self.query.question.distinct;
        let own = terms(sentence).into_iter().filter_map(|term| asked.iter().position(|it| it.0 == term));
        let own = own.fold(0, |bits, term| bits | 1 << term);
        let mentions = graph.passage_mentions.of(passage);
        let mentions = mentions.filter(|mention| graph.mention_sentence[*mention] == number);
        let entities: Vec<EntityOrdinal> = mentions.map(|mention| graph.mention_entity[mention]).collect();
        let leads_on = |entity: &EntityOrdinal| self.links.contains(&(id, graph.entity_name(*entity).to_owned()));
        let (has_asked, asked) = if self.asks_number {
            (sentence.bytes().any(|byte| byte.is_ascii_digit()), NUMBER)
        } else {
            (entities.iter().any(|entity| !named.contains(entity)), NAME)
        };
        let flag = |is: bool, worth: f32| if is { worth } else { 0.0 };
        COVERED * self.words.weight(own) / self.words.whole()
            + flag(has_asked, asked)
            + flag(entities.iter().any(leads_on), LINK)
    }
}

/// Returns whether a question of these folded words asks for a date or a number, or for what dates decide.
fn asks_number(words: &[String]) -> bool {
    const ALONE: &[&str] = &["when", "older", "younger", "oldest", "youngest", "earlier"];
    const AFTER_HOW: &[&str] = &["many", "much", "long", "old", "tall", "far", "high", "big", "large", "deep", "wide"];
    const AFTER_WHICH: &[&str] = &["year", "date", "day", "month", "decade", "century"];
    const BEFORE_FIRST: &[&str] = &["born", "died"];
    let pair = |pair: &[String]| match pair {
        [first, second] => match first.as_str() {
            "how" => AFTER_HOW.contains(&second.as_str()),
            "what" | "which" => AFTER_WHICH.contains(&second.as_str()),
            first => second == "first" && BEFORE_FIRST.contains(&first),
        },
        _ => false,
    };
    words.iter().any(|word| ALONE.contains(&word.as_str())) || words.windows(2).any(pair)
}

/// Chooses `count` sentences, each the best beside those chosen before it; ties go to the better passage.
fn choose<'a>(words: &PassageWords, mut candidates: Vec<Candidate<'a>>, count: usize) -> Vec<(Candidate<'a>, f32)> {
    let whole = words.whole();
    let mut chosen: Vec<(Candidate<'a>, f32)> = Vec::new();
    let mut covered = 0;
    while chosen.len() < count {
        let quoted = |hit: &Hit| chosen.iter().filter(|(it, _)| it.hit.passage == hit.passage).count();
        let mut best: Option<(usize, f32)> = None;
        for (i, candidate) in candidates.iter().enumerate() {
            let times = quoted(candidate.hit);
            let new = UNCOVERED * words.weight(candidate.terms & !covered) / whole;
            let score = candidate.worth + new - AGAIN * times as f32;
            if times < SENTENCES_MAX && best.is_none_or(|(_, most)| score > most) {
                best = Some((i, score));
            }
        }
        let Some((i, score)) = best else { break };
        let candidate = candidates.remove(i);
        covered |= candidate.terms;
        chosen.push((candidate, score));
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_for_a_date_or_an_amount_asks_for_a_number() {
        for (question, expect) in [
            ("When was the bridge opened?", true),
            ("In what year did it close?", true),
            ("How long is the river?", true),
            ("Who died first, A or B?", true),
            ("Who was older, A or B?", true),
            ("How did she study?", false),
            ("Which bridge did he design?", false),
            ("Which was opened first?", false),
        ] {
            assert_eq!(asks_number(&tokens(question)), expect, "{question}");
        }
    }
}
