//! A question to an index: checked, analyzed, and embedded once for every strategy.

use rustc_hash::FxHashMap;

use crate::domain::Spelling;
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::graph::ordinal::{EntityOrdinal, KeywordOrdinal, PassageOrdinal};
use crate::graph::packed::{PassageGraph, entity_flag, name_kind};
use crate::graph::vectors::QuantizedVectors;
use crate::query::evidence::lexical::distinct;
use crate::store::{GraphReader, TextField};
use crate::text::{
    NameLookup, NameMatch, NameRule, Run, Terms, capitalized_runs, find_names, is_stop_word, stem, tokens,
};

/// Characters of a question at most.
pub const QUESTION_CHARS_MAX: usize = 4_000;
/// Words of a name at most.
const NAME_WORDS_MAX: usize = 12;

/// Weight of an identifier relative to a word: passages with the whole identifier come before those with its words.
const IDENTIFIER_WORTH: f32 = 2.0;
/// Weight of a part of a word in camel case relative to a word.
const PART_WORTH: f32 = 0.5;

/// A question split.
#[derive(Debug, Clone)]
pub struct AskedQuestion {
    /// The question as it is searched for, without white space around it.
    pub text: String,
    /// Its corrected words.
    pub spellings: Vec<Spelling>,
    /// Terms of its words, in order, with repetitions.
    pub terms: Vec<String>,
    /// Whole identifiers in it, and parts of words in camel case, each with its weight relative to a word.
    pub identifiers: Vec<(String, f32)>,
    /// Its distinct terms, in order of appearance, each with its count: at most
    /// [`TERMS_MAX`](crate::graph::trail::TERMS_MAX).
    pub distinct: Vec<(String, f32)>,
    /// Its folded words, in order, stop words among them.
    pub words: Vec<String>,
    /// Names in it that documents of the index have.
    pub names: Vec<NamedEntity>,
    /// Folded names of its capitalized runs, whether or not the index knows them.
    pub capitalized: Vec<String>,
    /// Folded names in it that a language model gave, if one was asked.
    pub model_names: Vec<String>,
    /// Its vector, one row; none without an embedder.
    pub vector: QuantizedVectors,
}

/// A name in a question that the index knows.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedEntity {
    /// The entity.
    pub entity: EntityOrdinal,
    /// Its words in the question.
    pub words: std::ops::Range<usize>,
    /// Its share of the words of the capitalized run around it, which may be part of another name; else 1.
    pub share: f32,
}

/// Returns the question without white space around it.
///
/// # Errors
///
/// [`Error::Question`] if it has no word, or more than [`QUESTION_CHARS_MAX`] characters.
pub(in crate::query) fn checked(question: &str) -> Result<&str> {
    let question = question.trim();
    if tokens(question).is_empty() {
        return Err(Error::Question { reason: "a question needs at least one word".to_owned() });
    }
    let count = question.chars().count();
    if count > QUESTION_CHARS_MAX {
        let reason = format!("a question has at most {QUESTION_CHARS_MAX} characters; this one has {count}");
        return Err(Error::Question { reason });
    }
    Ok(question)
}

impl AskedQuestion {
    /// Analyzes and embeds `question`. The names in it are known only together with an index.
    ///
    /// # Errors
    ///
    /// [`Error::Question`] as in [`checked`]; whatever `embedder` fails with.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing but the vector.
    pub async fn parse(question: &str, embedder: &dyn Embedder) -> Result<Self> {
        let text = checked(question)?.to_owned();
        let capitalized = capitalized_runs(&text, &|_| false).into_iter().map(|run| run.key).collect();
        let mut vector = QuantizedVectors::new(embedder.dimension());
        if embedder.dimension() > 0 {
            for embedding in embedder.embed(&[&text]).await? {
                vector.push(embedding.values());
            }
        }
        let Terms { words: terms, identifiers, parts } = Terms::of(&text);
        let counted = |terms: Vec<String>, worth: f32| terms.into_iter().map(move |term| (term, worth));
        let identifiers = counted(identifiers, IDENTIFIER_WORTH).chain(counted(parts, PART_WORTH));
        let identifiers: Vec<(String, f32)> = identifiers.collect();
        Ok(Self {
            distinct: distinct(&terms, &identifiers),
            terms,
            identifiers,
            words: tokens(&text),
            names: Vec::new(),
            capitalized,
            model_names: Vec::new(),
            vector,
            spellings: Vec::new(),
            text,
        })
    }

    /// Returns it with the names in it that `graph` knows.
    #[must_use]
    pub fn put_to(self, graph: PassageGraph<'_>) -> Self {
        let runs = capitalized_runs(&self.text, &|_| false);
        let mut names = known_names(&self.text, &runs, graph);
        for name in &self.model_names {
            for named in self.model_name(name, graph) {
                if names.iter().all(|known| known.entity != named.entity) {
                    names.push(named);
                }
            }
        }
        Self { names, ..self }
    }

    /// Returns it with corrected words.
    #[must_use]
    pub(in crate::query) fn with_spellings(self, spellings: Vec<Spelling>) -> Self {
        Self { spellings, ..self }
    }

    /// Returns it without identifiers that no passage has; their words replace them.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub(in crate::query) fn with_known_identifiers(mut self, reader: &dyn GraphReader) -> Result<Self> {
        let mut known = Vec::new();
        for (term, worth) in std::mem::take(&mut self.identifiers) {
            if reader.frequency(TextField::Passage, &term)? > 0 {
                known.push((term, worth));
            }
        }
        self.distinct = distinct(&self.terms, &known);
        Ok(Self { identifiers: known, ..self })
    }

    /// Returns it with names from a language model, each a run of its words. They are keywords, and names of documents
    /// if the index knows them as such.
    #[must_use]
    pub(in crate::query) fn with_model_names(mut self, names: Vec<String>) -> Self {
        self.capitalized
            .extend(names.iter().filter(|name| !self.capitalized.contains(name)).cloned().collect::<Vec<_>>());
        Self { model_names: names, ..self }
    }

    /// Returns the entities with documents in the index for a name from a language model.
    fn model_name(&self, name: &str, graph: PassageGraph<'_>) -> Vec<NamedEntity> {
        let words: Vec<&str> = name.split(' ').collect();
        let Some(start) = self.words.windows(words.len()).position(|window| window == words) else {
            return Vec::new();
        };
        let named = |entity| NamedEntity { entity, words: start..start + words.len(), share: 1.0 };
        borne(graph, name).map(named).collect()
    }

    /// Returns every text in it that an index may know as a name or keyword: each run of its words up to the longest
    /// name, its capitalized runs, and its terms.
    #[must_use]
    pub fn possible_names(&self) -> Vec<String> {
        let ends = |first: usize| first + 1..=(first + NAME_WORDS_MAX).min(self.words.len());
        let rows = (0..self.words.len()).flat_map(|first| ends(first).map(move |end| first..end));
        let mut names: Vec<String> = rows.map(|words| self.words[words].join(" ")).collect();
        names.extend(self.capitalized.iter().chain(&self.terms).cloned());
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the folded words outside the names that the index knows, without stop words.
    pub fn residual_words(&self) -> impl Iterator<Item = &str> {
        let outside = |(i, _): &(usize, &String)| !self.names.iter().any(|name| name.words.contains(i));
        self.words.iter().enumerate().filter(outside).map(|(_, word)| word.as_str()).filter(|word| !is_stop_word(word))
    }

    /// Returns its keywords as the index numbers them, ascending.
    #[must_use]
    pub fn keywords(&self, graph: PassageGraph<'_>) -> Vec<KeywordOrdinal> {
        let all = self.keyword_texts(graph).into_iter();
        let mut keywords: Vec<KeywordOrdinal> = all.filter_map(|keyword| graph.keyword(&keyword)).collect();
        keywords.sort_unstable();
        keywords
    }

    /// Returns its keywords, whether or not the index knows them, in order: names whole, other words as stems.
    #[must_use]
    pub fn keyword_texts(&self, graph: PassageGraph<'_>) -> Vec<String> {
        let names = self.names.iter().map(|name| graph.entity_name(name.entity).to_owned());
        let stems = self.residual_words().map(stem);
        let mut all: Vec<String> = names.chain(self.capitalized.iter().cloned()).chain(stems).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

fn known_names(text: &str, runs: &[Run], graph: PassageGraph<'_>) -> Vec<NamedEntity> {
    let flags = |key: &str| graph.entities(key).fold(0, |flags, entity| flags | graph.entity_flags[entity]);
    let single = |key: &str| flags(key) & entity_flag::SINGLE_IN_QUESTION != 0;
    let lower = |key: &str| flags(key) & entity_flag::LOWER_IN_QUESTION != 0;
    let contains = |key: &str| borne(graph, key).next().is_some();
    let lookup = NameLookup { longest: &|_| NAME_WORDS_MAX, contains: &contains, single: &single, lower: &lower };
    let found = find_names(text, NameRule::Question, &lookup).into_iter();
    let share = |it: &NameMatch| {
        let around = runs.iter().find(|run| run.start <= it.start && it.end <= run.end);
        let count = around.map_or(0, |run| tokens(text.get(run.start..run.end).unwrap_or_default()).len());
        if count > it.words.len() { it.words.len() as f32 / count as f32 } else { 1.0 }
    };
    let named = |it: NameMatch| {
        let share = share(&it);
        borne(graph, &it.key).map(move |entity| NamedEntity { entity, share, words: it.words.clone() })
    };
    found.flat_map(named).collect()
}

/// Returns the entities of a folded name that documents have.
fn borne<'a>(graph: PassageGraph<'a>, name: &str) -> impl Iterator<Item = EntityOrdinal> + use<'a> {
    graph.entities(name).filter(move |entity| !graph.entity_bearers.of(*entity).is_empty())
}

/// Returns how strongly the question names each passage: by title, and by another name.
///
/// 1/√(documents with the name), × 0.6 for a name cut at its comma or found by its capitals, × its share of a longer
/// run; names of more than `bearers_max` documents do not count.
#[must_use]
pub(in crate::query) fn named_passages(
    question: &AskedQuestion,
    graph: PassageGraph<'_>,
    bearers_max: usize,
) -> (FxHashMap<PassageOrdinal, f32>, FxHashMap<PassageOrdinal, f32>) {
    let (mut by_title, mut by_lead) = (FxHashMap::default(), FxHashMap::default());
    for name in &question.names {
        let bearers = graph.entity_bearers.of(name.entity);
        let count = bearers.len();
        if count > bearers_max {
            continue;
        }
        for bearer in bearers {
            let kind = graph.bearer_kind[bearer];
            let is_weak = matches!(kind, name_kind::BEFORE_COMMA | name_kind::MAIN | name_kind::FIRST);
            let cut = if is_weak { crate::graph::trail::BEFORE_COMMA_WORTH } else { 1.0 };
            let worth = name.share * cut / (count as f32).sqrt();
            let named = if kind <= name_kind::BARE_TITLE { &mut by_title } else { &mut by_lead };
            for passage in graph.document_passages.of(graph.bearer_document[bearer]) {
                let best: &mut f32 = named.entry(passage).or_insert(0.0);
                *best = best.max(worth);
            }
        }
    }
    (by_title, by_lead)
}
