//! Extractive answers: the sentences of the passages found that fit the question best, word for word.

use super::strategies::{Found, Query};
use crate::domain::{AnswerKind, Citation, Hit, Span};
use crate::error::Result;
use crate::graph::packed::row;
use crate::graph::top;

/// Passages whose sentences are looked at.
const PASSAGES_MAX: usize = 8;
/// Share of the question's idf that one passage must cover for the index to have anything on it, unless a vector
/// says so.
const COVERED_MIN: f32 = 0.2;
/// Cosine from which a passage is relevant whatever its words.
const COSINE_MIN: f32 = 0.5;
/// What is said when there is nothing.
const NOTHING: &str = "Nothing in this index answers the question.";

/// An answer before it is put together with what was found.
pub(super) struct Extracted {
    pub(super) kind: AnswerKind,
    pub(super) text: String,
    pub(super) citations: Vec<Citation>,
}

/// Quotes the best sentence of each of the best passages, `citations_max` of them.
///
/// # Errors
///
/// If the store cannot be read.
pub(super) fn answer(query: &Query, found: &Found, hits: &[Hit], citations_max: usize) -> Result<Extracted> {
    if !is_relevant(query, found) {
        return Ok(Extracted { kind: AnswerKind::Nothing, text: NOTHING.to_owned(), citations: Vec::new() });
    }
    let mut quoted = Vec::new();
    for (&(passage, score), hit) in found.ranked.iter().zip(hits).take(PASSAGES_MAX) {
        quoted.extend(best_sentence(query, passage, share(found, score), hit)?);
    }
    quoted.sort_by(|a: &Citation, b| b.score.total_cmp(&a.score));
    quoted.truncate(citations_max);
    let text = quoted.iter().map(|citation| citation.quote.as_str()).collect::<Vec<_>>().join("\n");
    Ok(Extracted { kind: AnswerKind::Extractive, text, citations: quoted })
}

fn is_relevant(query: &Query, found: &Found) -> bool {
    let evidence = &query.evidence;
    let whole = evidence.weight(evidence.all_terms()).max(1e-9);
    found.ranked.iter().take(PASSAGES_MAX).any(|&(passage, _)| {
        let cosine = evidence.best_sentence_cosine.get(passage as usize).copied().unwrap_or(0.0);
        evidence.weight(evidence.passage_terms[passage as usize]) / whole >= COVERED_MIN || cosine >= COSINE_MIN
    })
}

/// Returns where a score lies between the worst (0) and the best (1) of what was found.
fn share(found: &Found, score: f32) -> f32 {
    let best = found.ranked.first().map_or(score, |it| it.1);
    let worst = found.ranked.last().map_or(score, |it| it.1);
    if best > worst { (score - worst) / (best - worst) } else { 1.0 }
}

fn best_sentence(query: &Query, passage: u32, share: f32, hit: &Hit) -> Result<Option<Citation>> {
    let shown = query.reader.passage(passage)?;
    let evidence = &query.evidence;
    let whole = evidence.weight(evidence.all_terms()).max(1e-9);
    let numbers = row(query.reader.graph().passage_sentences, passage);
    let sentences = shown.sentences.iter().zip(numbers);
    let scored = sentences.filter(|(span, _)| !span.of(&shown.text).starts_with('#')).map(|(span, number)| {
        let covered = evidence.weight(evidence.sentence_terms[number]) / whole;
        let cosine = query.sentence_cosine.get(number).copied().unwrap_or(0.0).max(0.0);
        (*span, share + covered + 0.5 * cosine)
    });
    let scored: Vec<(Span, f32)> = scored.collect();
    let best = top::best(scored.iter().zip(0..).map(|((_, score), i)| (i, *score)), 1);
    Ok(best.first().map(|(i, score)| cite(hit, scored[*i as usize].0, *score)))
}

fn cite(hit: &Hit, sentence: Span, score: f32) -> Citation {
    Citation {
        document: hit.name.clone(),
        source_id: hit.source_id.clone(),
        uri: hit.uri.clone(),
        passage: hit.passage,
        span: Span { start: hit.span.start + sentence.start, end: hit.span.start + sentence.end },
        quote: sentence.of(&hit.text).to_owned(),
        score,
    }
}
