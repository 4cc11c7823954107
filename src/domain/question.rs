//! Pseudo-queries: what a passage answers and what it raises (`HopRAG`, section 3.2).

use std::borrow::Cow;

use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{PassageId, QuestionId};

/// Which side of a passage a pseudo-query is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuestionKind {
    /// The passage answers it.
    Incoming,
    /// The passage raises it and does not answer it.
    Outgoing,
}

/// Who wrote a pseudo-query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum QuestionOrigin {
    /// A rule.
    Rule,
    /// A language model.
    Model,
}

impl QuestionOrigin {
    /// All of them; the place of each is the number that files keep.
    const ALL: [Self; 2] = [Self::Rule, Self::Model];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Model => "model",
        }
    }

    /// Returns the origin with this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|origin| origin.name() == name)
    }

    /// Returns its number in files.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Returns the origin with this number.
    #[must_use]
    pub fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

/// The sparse representation of a question or passage: folded names and stems, sorted and without duplicates.
///
/// There are millions of them with few keywords each, so they are one text: each keyword ends with a line feed, and has
/// none itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Keywords(Box<str>);

impl Keywords {
    /// Returns the Jaccard index |A ∩ B| / |A ∪ B|; 0 if both are empty.
    #[must_use]
    pub fn jaccard(&self, other: &Self) -> f32 {
        let shared = self.iter().filter(|keyword| other.iter().any(|it| it == *keyword)).count();
        let all = self.len() + other.len() - shared;
        if all == 0 { 0.0 } else { shared as f32 / all as f32 }
    }

    /// Iterates in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split_terminator(END)
    }

    /// Returns how many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.bytes().filter(|byte| *byte == END as u8).count()
    }

    /// Returns whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn of(mut keywords: Vec<Cow<'_, str>>) -> Self {
        for keyword in keywords.iter_mut().filter(|it| it.contains(END)) {
            *keyword = Cow::Owned(keyword.replace(END, " "));
        }
        keywords.sort_unstable();
        keywords.dedup();
        let mut all = String::with_capacity(keywords.iter().map(|it| it.len() + END.len_utf8()).sum());
        for keyword in keywords {
            all.push_str(&keyword);
            all.push(END);
        }
        Self(all.into())
    }
}

/// What ends each of [`Keywords`].
const END: char = '\n';

impl From<Vec<String>> for Keywords {
    /// A line feed in a keyword becomes a space.
    fn from(keywords: Vec<String>) -> Self {
        keywords.into_iter().collect()
    }
}

impl<'de> Deserialize<'de> for Keywords {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// A keyword, borrowed from the input unless it has escapes.
        #[derive(Deserialize)]
        struct Keyword<'a>(#[serde(borrow)] Cow<'a, str>);

        let keywords = Vec::<Keyword<'de>>::deserialize(deserializer)?;
        Ok(Self::of(keywords.into_iter().map(|it| it.0).collect()))
    }
}

impl Serialize for Keywords {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = serializer.serialize_seq(Some(self.len()))?;
        self.iter().try_for_each(|keyword| all.serialize_element(keyword))?;
        all.end()
    }
}

impl<S: Into<String>> FromIterator<S> for Keywords {
    fn from_iter<I: IntoIterator<Item = S>>(keywords: I) -> Self {
        Self::of(keywords.into_iter().map(|it| Cow::Owned(it.into())).collect())
    }
}

/// A question about a passage, with its own keywords.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PseudoQuery {
    /// Identity: of the passage, the kind and the text.
    pub id: QuestionId,
    /// The passage that answers or raises it.
    pub passage: PassageId,
    /// Whether the passage answers or raises it.
    pub kind: QuestionKind,
    /// Who wrote it.
    pub origin: QuestionOrigin,
    /// The question, readable on its own.
    pub text: String,
    /// Its keywords.
    pub keywords: Keywords,
    /// The sentence of the passage that it was made from, from 0.
    pub sentence: u32,
}

impl PseudoQuery {
    /// Returns a question made by rule from one sentence of a passage.
    #[must_use]
    pub fn by_rule(passage: PassageId, kind: QuestionKind, text: String, keywords: Keywords, sentence: u32) -> Self {
        let side = [kind as u8];
        let id = QuestionId::of(&[passage.as_bytes(), &side, text.as_bytes()]);
        Self { id, passage, kind, origin: QuestionOrigin::Rule, text, keywords, sentence }
    }

    /// Returns a question that a model wrote, nearest to one sentence of the passage. Its identity is that of an equal
    /// one made by rule.
    #[must_use]
    pub fn by_model(passage: PassageId, kind: QuestionKind, text: String, keywords: Keywords, sentence: u32) -> Self {
        Self { origin: QuestionOrigin::Model, ..Self::by_rule(passage, kind, text, keywords, sentence) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jaccard_counts_what_is_shared_over_what_there_is() {
        let a: Keywords = ["x", "y"].into_iter().collect();
        let b: Keywords = ["y", "z"].into_iter().collect();
        assert!((a.jaccard(&b) - 1.0 / 3.0).abs() < 1e-6);
        assert!((Keywords::default().jaccard(&Keywords::default())).abs() < f32::EPSILON);
    }

    #[test]
    fn keywords_are_a_sorted_set_that_json_keeps() {
        let keywords: Keywords = ["mill", "", "é ü", "mill", "two\nlines"].into_iter().collect();
        assert_eq!(keywords.iter().collect::<Vec<_>>(), ["", "mill", "two lines", "é ü"]);
        assert_eq!((keywords.len(), keywords.is_empty()), (4, false));
        let json = serde_json::to_string(&keywords).unwrap();
        assert_eq!(json, r#"["","mill","two lines","é ü"]"#);
        assert_eq!(serde_json::from_str::<Keywords>(&json).unwrap(), keywords);
        let (none, empty): (Keywords, Keywords) = (Keywords::default(), [""].into_iter().collect());
        assert_eq!((none.len(), none.is_empty(), empty.len(), empty.is_empty()), (0, true, 1, false));
    }
}
