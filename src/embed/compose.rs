//! Which texts are embedded for a passage and for a sentence.
//!
//! A title says what a passage is about, but is lost in a long text, so it has its own share in the passage's vector.
//! Nothing else helps retrieval with a small embedder as much.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Account, Came, Embedded, Embedder};
use crate::domain::{Embedding, Spent};
use crate::error::{Error, Result};

/// Share of the title's vector in a passage's.
pub const TITLE_SHARE: f32 = 0.4;

/// A passage's or sentence's text with the title of its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Titled<'a> {
    /// The title, if there is one.
    pub title: Option<&'a str>,
    /// The text.
    pub text: &'a str,
}

impl<'a> Titled<'a> {
    fn title(self) -> Option<&'a str> {
        self.title.map(str::trim).filter(|title| !title.is_empty())
    }
}

/// Returns the text that is embedded for a passage: `title. text`.
#[must_use]
pub fn passage_text(passage: Titled<'_>) -> String {
    passage.title().map_or_else(|| passage.text.to_owned(), |title| format!("{title}. {}", passage.text))
}

/// Returns the text that is embedded for a sentence: `title: sentence`.
#[must_use]
pub fn sentence_text(sentence: Titled<'_>) -> String {
    sentence.title().map_or_else(|| sentence.text.to_owned(), |title| format!("{title}: {}", sentence.text))
}

/// Values of the vectors of titles.
pub type TitleVectors<'a> = FxHashMap<&'a str, Vec<f32>>;

/// Returns the titles of passages, none twice. Their vectors go first, so that no passage is paid for whose vector
/// cannot be made.
#[must_use]
pub fn titles<'a>(passages: &[Titled<'a>]) -> Vec<&'a str> {
    let mut seen = FxHashSet::default();
    passages.iter().filter_map(|passage| passage.title()).filter(|title| seen.insert(*title)).collect()
}

/// Returns the vectors of passages, in order: normalise(0.4 · v(title) + 0.6 · v(title. text)), and v(text) without a
/// title. `titles` has those of [`titles`]. If some fail, the others are still returned; `came` receives them as they
/// arrive.
///
/// # Cancel safety
///
/// As [`Embedder::embed_partly`].
pub async fn embed_passages(
    embedder: &dyn Embedder,
    passages: &[Titled<'_>],
    titles: &TitleVectors<'_>,
    came: &mut Came<'_>,
) -> Embedded {
    let wholes: Vec<String> = passages.iter().map(|passage| passage_text(*passage)).collect();
    let texts: Vec<&str> = wholes.iter().map(String::as_str).collect();
    let vector = |place: usize, whole: &Embedding| match passages[place].title() {
        None => Ok(whole.clone()),
        Some(title) => blend(embedder, titles.get(title).map_or(&[], Vec::as_slice), whole),
    };
    let mut blended = |wholes: &[(usize, &Embedding)]| {
        // A fault is reported at the end.
        let blends = wholes.iter().filter_map(|(place, whole)| Some((*place, vector(*place, whole).ok()?)));
        let blends: Vec<(usize, Embedding)> = blends.collect();
        came(&blends.iter().map(|(place, vector)| (*place, vector)).collect::<Vec<_>>());
    };
    let mut made = embedder.embed_partly(&texts, &mut blended).await;
    for (place, whole) in made.vectors.iter_mut().enumerate() {
        match whole.as_ref().map(|whole| vector(place, whole)).transpose() {
            Ok(blended) => *whole = blended,
            Err(fault) => {
                *whole = None;
                made.fault.get_or_insert(fault);
            }
        }
    }
    made
}

/// Returns the vectors of sentences, in order: v(title: sentence), and v(sentence) without a title. If some fail, the
/// others are still returned; `came` receives them as they arrive.
///
/// # Cancel safety
///
/// As [`Embedder::embed_partly`].
pub async fn embed_sentences(embedder: &dyn Embedder, sentences: &[Titled<'_>], came: &mut Came<'_>) -> Embedded {
    let texts: Vec<String> = sentences.iter().map(|sentence| sentence_text(*sentence)).collect();
    embedder.embed_partly(&texts.iter().map(String::as_str).collect::<Vec<_>>(), came).await
}

/// Returns about what [`embed_passages`] would come to on an account, with the vectors of these titles before it.
#[must_use]
pub fn expected_passages(account: &Account, passages: &[Titled<'_>], titles: &[&str]) -> Spent {
    let mut expected = account.expected(titles);
    let wholes: Vec<String> = passages.iter().map(|passage| passage_text(*passage)).collect();
    expected.add(&account.expected(&wholes.iter().map(String::as_str).collect::<Vec<_>>()));
    expected
}

/// Returns about what [`embed_sentences`] would come to on an account.
#[must_use]
pub fn expected_sentences(account: &Account, sentences: &[Titled<'_>]) -> Spent {
    let texts: Vec<String> = sentences.iter().map(|sentence| sentence_text(*sentence)).collect();
    account.expected(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

fn blend(embedder: &dyn Embedder, title: &[f32], whole: &Embedding) -> Result<Embedding> {
    let values = title.iter().zip(whole.values());
    let values = values.map(|(title, whole)| TITLE_SHARE * title + (1.0 - TITLE_SHARE) * whole).collect();
    Embedding::try_new(values, embedder.dimension())
        .map_err(|source| Error::Embedding { embedder: embedder.name().to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::super::{Embeddings, PartlyEmbedded, StaticTable};
    use super::*;

    /// Embeds titles, and then passages.
    async fn embed(embedder: &dyn Embedder, passages: &[Titled<'_>]) -> Embedded {
        let titles = titles(passages);
        let vectors = match embedder.embed_partly(&titles, &mut |_| ()).await.whole() {
            Ok(vectors) => vectors,
            Err(fault) => return Embedded::failed(passages.len(), fault),
        };
        let vectors = titles.into_iter().zip(vectors.iter().map(|vector| vector.values().to_vec())).collect();
        embed_passages(embedder, passages, &vectors, &mut |_| ()).await
    }

    fn titled<'a>(title: &'a str, text: &'a str) -> Titled<'a> {
        Titled { title: Some(title), text }
    }

    #[tokio::test]
    async fn a_title_has_a_share_of_its_own_in_a_passage_vector() {
        let bare = Titled { title: None, text: "It is red." };
        let passages = [titled("Mars", "It is red."), titled("Mars", "It is cold."), bare, titled(" ", "It is red.")];
        let vectors = embed(&StaticTable, &passages).await.whole().unwrap();
        let parts = StaticTable.vectors(&["Mars", "Mars. It is red.", "Mars. It is cold.", "It is red."]).unwrap();
        for (index, whole) in [(0, 1), (1, 2)] {
            let values = parts[0].values().iter().zip(parts[whole].values()).map(|(t, w)| 0.4 * t + 0.6 * w).collect();
            let expect = Embedding::try_new(values, 256).unwrap();
            assert!((vectors[index].cosine(&expect) - 1.0).abs() < 1e-5);
        }
        assert_eq!(vectors[2], parts[3]);
        assert_eq!(vectors[3], parts[3]);
    }

    #[tokio::test]
    async fn titles_that_come_back_are_found_again() {
        let passages = [titled("A", "x"), titled("B", "x"), titled("A", "x")];
        let vectors = embed(&StaticTable, &passages).await.whole().unwrap();
        assert_eq!(vectors[0], vectors[2]);
        assert_ne!(vectors[0], vectors[1]);
    }

    #[tokio::test]
    async fn a_sentence_is_embedded_with_its_title_before_it() {
        let vectors =
            embed_sentences(&StaticTable, &[titled("Mars", "It is red.")], &mut |_| ()).await.whole().unwrap();
        assert_eq!(vectors, StaticTable.vectors(&["Mars: It is red."]).unwrap());
        assert!(embed_sentences(&StaticTable, &[], &mut |_| ()).await.vectors.is_empty());
    }

    /// The built-in embedder, except that it refuses one text.
    struct Refusing(&'static str);

    impl Embedder for Refusing {
        fn name(&self) -> &'static str {
            "refusing"
        }

        fn dimension(&self) -> usize {
            StaticTable.dimension()
        }

        fn piece_count(&self, text: &str) -> usize {
            StaticTable.piece_count(text)
        }

        fn pieces_max(&self) -> usize {
            StaticTable.pieces_max()
        }

        fn embed<'a>(&'a self, texts: &'a [&'a str]) -> Embeddings<'a> {
            Box::pin(async { self.embed_partly(texts, &mut |_| ()).await.whole() })
        }

        fn embed_partly<'a>(&'a self, texts: &'a [&'a str], came: &'a mut Came<'_>) -> PartlyEmbedded<'a> {
            let vectors = StaticTable.vectors(texts).unwrap().into_iter().zip(texts);
            let vectors: Vec<_> = vectors.map(|(vector, text)| (*text != self.0).then_some(vector)).collect();
            let is_refused = vectors.iter().any(Option::is_none);
            // One call per text.
            for (place, vector) in vectors.iter().enumerate() {
                if let Some(vector) = vector {
                    came(&[(place, vector)]);
                }
            }
            let fault = is_refused.then(|| Error::Internal("refused".to_owned()));
            Box::pin(std::future::ready(Embedded { vectors, fault }))
        }
    }

    #[tokio::test]
    async fn a_text_that_fails_takes_no_other_with_it_and_without_titles_nothing_is_asked() {
        let passages = [titled("A", "x"), titled("B", "x"), titled("B", "y"), titled("A", "z")];
        let whole = embed(&StaticTable, &passages).await.whole().unwrap();
        let part = embed(&Refusing("B. x"), &passages).await;
        assert!(part.fault.is_some());
        let [a, _, b, c] = <[_; 4]>::try_from(whole).unwrap().map(Some);
        assert_eq!(part.vectors, [a, None, b, c]);
        let none = embed(&Refusing("A"), &passages).await;
        assert!(none.fault.is_some() && none.vectors == [None, None, None, None]);
        let sentences = embed_sentences(&Refusing("A: x"), &passages, &mut |_| ()).await;
        assert_eq!(sentences.vectors.iter().filter(|vector| vector.is_some()).count(), 3);
    }
    #[tokio::test]
    async fn vectors_passed_on_as_they_arrive_are_those_returned() {
        let passages = [titled("A", "x"), Titled { title: None, text: "x" }, titled("B", "x"), titled("A", "y")];
        let titles: TitleVectors<'_> = [("A", vec![1.0; 256]), ("B", vec![-1.0; 256])].into_iter().collect();
        let mut told = vec![None; passages.len()];
        let mut came = |came: &[(usize, &Embedding)]| {
            for (place, vector) in came {
                told[*place] = Some((*vector).clone());
            }
        };
        let embedded = embed_passages(&Refusing("B. x"), &passages, &titles, &mut came).await;
        assert_eq!(embedded.vectors.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, false, true]);
        assert_eq!(told, embedded.vectors);
        // A title without a vector makes its passages fail.
        let none = embed_passages(&StaticTable, &passages, &TitleVectors::default(), &mut |_| ()).await;
        assert!(none.fault.is_some());
        assert_eq!(none.vectors.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, false, false]);
    }
}
