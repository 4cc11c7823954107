//! The vectors of a version: passages, sentences, and questions of both sides.

use crate::domain::{Embedding, Passage, PseudoQuery};
use crate::embed::{Embedder, Titled, embed_passages, embed_sentences};
use crate::error::Result;
use crate::graph::vectors::QuantizedVectors;

/// Texts embedded in one call: enough to keep every core busy, few enough to stay small.
const BATCH: usize = 2_048;

/// Returns one vector a passage; `title(i)` is the title of passage `i`.
pub(super) async fn passages<'a>(
    embedder: &dyn Embedder,
    passages: &[&'a Passage],
    title: &(dyn Fn(usize) -> Option<&'a str> + Sync),
) -> Result<QuantizedVectors> {
    let texts: Vec<Titled<'_>> =
        passages.iter().enumerate().map(|(i, passage)| Titled { title: title(i), text: &passage.text }).collect();
    let mut vectors = QuantizedVectors::new(embedder.dimension());
    for batch in texts.chunks(BATCH) {
        push(&mut vectors, &embed_passages(embedder, batch).await?);
    }
    Ok(vectors)
}

/// Returns one vector a sentence.
pub(super) async fn sentences<'a>(
    embedder: &dyn Embedder,
    passages: &[&'a Passage],
    title: &(dyn Fn(usize) -> Option<&'a str> + Sync),
) -> Result<QuantizedVectors> {
    let sentences = passages.iter().enumerate().flat_map(|(i, passage)| {
        let titled = move |text| Titled { title: title(i), text };
        passage.sentences.iter().map(move |sentence| titled(sentence.of(&passage.text)))
    });
    let texts: Vec<Titled<'_>> = sentences.collect();
    let mut vectors = QuantizedVectors::new(embedder.dimension());
    for batch in texts.chunks(BATCH) {
        push(&mut vectors, &embed_sentences(embedder, batch).await?);
    }
    Ok(vectors)
}

/// Returns one vector a question.
pub(super) async fn questions(embedder: &dyn Embedder, questions: &[&PseudoQuery]) -> Result<QuantizedVectors> {
    let texts: Vec<&str> = questions.iter().map(|question| question.text.as_str()).collect();
    let mut vectors = QuantizedVectors::new(embedder.dimension());
    for batch in texts.chunks(BATCH) {
        push(&mut vectors, &embedder.embed(batch).await?);
    }
    Ok(vectors)
}

fn push(vectors: &mut QuantizedVectors, embeddings: &[Embedding]) {
    for embedding in embeddings {
        vectors.push(embedding.values());
    }
}
