//! Questions rewritten along a walk: the part that a passage has answered is replaced by the entity that it leads to.
//!
//! "When did the director of the film die?" becomes, from the passage of the film, "when die" and the director's name:
//! closer to the passage that answers it than the question as it was asked.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::error::Result;
use crate::graph::ordinal::PassageOrdinal;
use crate::graph::trail::{Candidates, Leap, Substituted};
use crate::graph::vectors::QuantizedVectors;
use crate::query::session::query::Query;
use crate::store::VectorField;
use crate::text::{is_stop_word, term, terms};

/// Questions that are asked again at most.
const QUESTIONS: usize = 10;
/// Stop words that indicate the kind of answer.
const INTERROGATIVES: [&str; 6] = ["who", "when", "where", "what", "which", "how"];

/// A question in which the start of an edge is replaced by its target.
pub(in crate::query) struct Question {
    leap: Leap,
    text: String,
}

/// Returns the questions of the strongest leaps; none without an embedder.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn questions(query: &Query, candidates: &Candidates) -> Result<Vec<Question>> {
    if query.embedder.dimension() == 0 {
        return Ok(Vec::new());
    }
    let leaps = candidates.leaps(QUESTIONS).into_iter();
    leaps.map(|leap| Ok(Question { leap, text: text(query, &leap)? })).collect()
}

fn text(query: &Query, leap: &Leap) -> Result<String> {
    let graph = query.reader.graph();
    let document = query.reader.document(graph.passage_document[leap.from])?;
    let known: FxHashSet<String> = terms(document.title.as_deref().unwrap_or_default()).into_iter().collect();
    let entity = graph.entity_name(leap.entity);
    let is_open = |word: &&String| {
        let own = term(word);
        let bit = query.question.distinct.iter().position(|(term, _)| *term == own);
        let is_answered = known.contains(&own) || bit.is_some_and(|bit| leap.terms >> bit & 1 == 1);
        let is_idle = is_stop_word(word) && !INTERROGATIVES.contains(&word.as_str());
        !is_answered && !is_idle && !entity.split(' ').any(|own| own == word.as_str())
    };
    let open = query.question.words.iter().filter(is_open).map(String::as_str);
    Ok(open.chain([entity]).collect::<Vec<_>>().join(" "))
}

/// Returns the vectors of questions.
///
/// # Errors
///
/// Whatever the embedder fails with.
///
/// # Cancel safety
///
/// Dropping the future loses the vectors and nothing else.
pub(in crate::query) async fn embedded(query: &Query, questions: &[Question]) -> Result<QuantizedVectors> {
    let mut vectors = QuantizedVectors::new(query.embedder.dimension());
    if questions.is_empty() {
        return Ok(vectors);
    }
    let texts: Vec<&str> = questions.iter().map(|question| question.text.as_str()).collect();
    for embedding in query.embedder.embed(&texts).await? {
        vectors.push(embedding.values());
    }
    Ok(vectors)
}

/// Returns how close the best passages are to questions.
///
/// Complexity: questions · sentences of the candidates' pool.
pub(in crate::query) fn compared(
    query: &Query,
    candidates: &Candidates,
    questions: Vec<Question>,
    vectors: &QuantizedVectors,
) -> Result<Vec<Substituted>> {
    let sentences = query.reader.vectors(VectorField::Sentence)?;
    if sentences.is_empty() {
        return Ok(Vec::new());
    }
    let (graph, asked) = (query.reader.graph(), vectors.view());
    let compared = |(question, at): (Question, u32)| {
        let best = |passage: &PassageOrdinal| {
            let own = graph.passage_sentences.of(*passage);
            own.map(|sentence| sentences.cosine(sentence.0, &asked, at)).fold(-1.0, f32::max)
        };
        Substituted { leap: question.leap, cosines: candidates.pool().iter().map(best).collect() }
    };
    let numbers = 0..questions.len() as u32;
    Ok(questions.into_par_iter().zip(numbers).map(compared).collect())
}
