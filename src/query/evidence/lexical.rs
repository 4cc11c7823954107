//! BM25 over the terms of a question, and which texts have which terms.

use crate::error::Result;
use crate::graph::packed::PassageGraph;
use crate::graph::trail::TERMS_MAX;
use crate::store::{GraphReader, TextField};

/// Saturation of term counts (Robertson).
const K1: f32 = 1.2;
/// Share of length normalization.
const B: f32 = 0.75;

/// The evidence of a question's terms about the texts of one field, by ordinal.
#[derive(Debug, Clone, Default)]
pub(in crate::query) struct FieldScores {
    /// BM25.
    pub bm25: Vec<f32>,
    /// Which terms each text has, one bit a term.
    pub terms: Vec<u64>,
    /// Texts that have each term.
    pub frequencies: Vec<usize>,
}

/// Returns the distinct terms of a question with the count of each, in order of appearance, followed by further ones
/// with their weights; at most [`TERMS_MAX`].
#[must_use]
pub(in crate::query) fn distinct(terms: &[String], further: &[(String, f32)]) -> Vec<(String, f32)> {
    let mut distinct: Vec<(String, f32)> = Vec::new();
    for term in terms {
        if let Some((_, count)) = distinct.iter_mut().find(|(text, _)| text == term) {
            *count += 1.0;
        } else if distinct.len() < TERMS_MAX {
            distinct.push((term.clone(), 1.0));
        }
    }
    for (term, worth) in further {
        if distinct.len() < TERMS_MAX && distinct.iter().all(|(text, _)| text != term) {
            distinct.push((term.clone(), *worth));
        }
    }
    distinct
}

/// Returns ln(1 + (N − df + ½)/(df + ½)).
#[must_use]
pub(in crate::query) fn idf(texts: usize, frequency: usize) -> f32 {
    let (texts, frequency) = (texts as f32, frequency as f32);
    (1.0 + (texts - frequency + 0.5) / (frequency + 0.5)).ln()
}

/// Scores every text of `field` for `terms` and their counts in the question.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn score(
    reader: &dyn GraphReader,
    field: TextField,
    terms: &[(String, f32)],
) -> Result<FieldScores> {
    let lengths = lengths(reader.graph(), field);
    let average = reader.mean_length(field);
    let texts = count(reader, field);
    let mut scores = FieldScores {
        bm25: vec![0.0; lengths.len()],
        terms: vec![0; lengths.len()],
        frequencies: Vec::with_capacity(terms.len()),
    };
    let mut postings: Vec<(u32, u32)> = Vec::new();
    for (number, (term, count)) in terms.iter().enumerate() {
        postings.clear();
        reader.postings(field, term, &mut |text, frequency| postings.push((text, frequency)))?;
        // Of a store that has to be asked, not all that have a term are at hand.
        let frequency = reader.frequency(field, term)?;
        let worth = idf(texts, frequency) * count * (K1 + 1.0);
        for &(text, frequency) in &postings {
            let text = text as usize;
            let norm = K1 * (1.0 - B + B * lengths[text] as f32 / average.max(1e-9));
            scores.bm25[text] += worth * frequency as f32 / (frequency as f32 + norm);
            scores.terms[text] |= 1 << number;
        }
        scores.frequencies.push(frequency);
    }
    Ok(scores)
}

/// Returns how many texts of a field the version has.
pub(in crate::query) fn count(reader: &dyn GraphReader, field: TextField) -> usize {
    let counts = reader.counts();
    let count = match field {
        TextField::Passage => counts.passages,
        TextField::Sentence => counts.sentences,
    };
    count as usize
}

fn lengths(graph: PassageGraph<'_>, field: TextField) -> &[u32] {
    match field {
        TextField::Passage => graph.passage_length.items(),
        TextField::Sentence => graph.sentence_length.items(),
    }
}

/// Divides by the largest, so that the best is 1.
pub(in crate::query) fn normalize(scores: &mut [f32]) {
    let best = scores.iter().copied().fold(0.0, f32::max) + 1e-9;
    for score in scores {
        *score /= best;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_term_counts_as_often_as_it_stands() {
        let terms = ["a", "b", "a"].map(str::to_owned);
        assert_eq!(distinct(&terms, &[]), [("a".to_owned(), 2.0), ("b".to_owned(), 1.0)]);
        let many: Vec<String> = (0..100).map(|i| i.to_string()).collect();
        assert_eq!(distinct(&many, &[]).len(), TERMS_MAX);
        let further = [("b".to_owned(), 2.0), ("c".to_owned(), 2.0)];
        assert_eq!(distinct(&terms, &further)[2..], [("c".to_owned(), 2.0)]);
    }

    #[test]
    fn a_rare_term_says_more() {
        assert!(idf(100, 1) > idf(100, 50));
        assert!(idf(100, 100) > 0.0);
    }
}
