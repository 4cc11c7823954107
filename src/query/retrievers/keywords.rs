//! `keywords`: passages by a tree of keywords. Words count by BM25 times the weight of their clause; a phrase with
//! adjacent words counts once more; passages with an excluded clause are left out. Scores are the same for every store,
//! since they are computed from postings and texts; a store that must be queried is queried with the tree.

use std::sync::Arc;

use super::{Needs, Retriever, Retrieving};
use crate::domain::Ledger;
use crate::error::Result;
use crate::graph::ordinal::{Ordinal as _, PassageOrdinal};
use crate::graph::top;
use crate::graph::trail::TERMS_MAX;
use crate::query::evidence::lexical::{FieldScores, idf, score};
use crate::query::session::Session;
use crate::query::session::query::{Query, Ranking, on_cpu};
use crate::store::TextField;
use crate::text::{Clause, KeywordQuery, Occur, Terms, tokens};

/// Additional passages whose texts are searched for phrases.
const LOOKED_THROUGH: usize = 100;

/// Ranks by a tree, whatever the question is.
#[derive(Debug, Clone, Default)]
pub struct Keywords {
    /// The keywords.
    pub query: KeywordQuery,
}

impl Retriever for Keywords {
    fn name(&self) -> &'static str {
        "keywords"
    }

    fn needs(&self) -> Needs {
        Needs { vectors: false, keywords: Some(self.query.clone()), ..Needs::default() }
    }

    fn retrieve<'a>(&'a self, _: &'a Session, query: &'a Arc<Query>, count: usize) -> Retrieving<'a> {
        let (own, tree) = (Arc::clone(query), self.query.clone());
        Box::pin(on_cpu(query, move |query| {
            let ranked = ranked(query, &tree, count)?;
            let ledger = Ledger { entry: query.entry(&ranked, "keywords"), ..query.new_ledger() };
            Ok(Ranking { query: own, ranked, paths: rustc_hash::FxHashMap::default(), ledger })
        }))
    }
}

fn ranked(query: &Query, tree: &KeywordQuery, count: usize) -> Result<Vec<(PassageOrdinal, f32)>> {
    let (sought, excluded): (Vec<&Clause>, Vec<&Clause>) =
        tree.clauses().iter().partition(|clause| clause.occur == Occur::Should);
    let scores = scored(query, &sought)?;
    let without = scored(query, &excluded)?;
    let alone = excluded_words(&excluded);
    let is_shown = |passage: &PassageOrdinal| {
        let own = without.terms.get(passage.index()).copied().unwrap_or(0);
        scores.bm25[passage.index()] > 0.0 && alone.iter().all(|word| own & word != *word) && query.is_allowed(*passage)
    };
    let all = query.reader.graph().passages().filter(is_shown);
    let all = all.map(|passage| (passage, scores.bm25[passage.index()]));
    if tree.clauses().iter().all(|clause| clause.words.len() < 2) {
        return Ok(top::best(all, count));
    }
    // Only the texts have positions of words.
    let best = top::best(all, count + LOOKED_THROUGH);
    let passages: Vec<PassageOrdinal> = best.iter().map(|it| it.0).collect();
    query.reader.prepare(&passages)?;
    let worth = phrase_worths(query, &sought)?;
    let mut placed = Vec::with_capacity(best.len());
    for (passage, score) in best {
        let text = tokens(&format!("{}\n{}", query.shown_name(passage)?, query.reader.passage(passage)?.text));
        let has = |clause: &Clause| text.windows(clause.words.len()).any(|window| window == clause.words);
        if excluded.iter().any(|clause| clause.words.len() > 1 && has(clause)) {
            continue;
        }
        let phrases = worth.iter().filter(|(clause, _)| has(clause)).map(|(_, worth)| *worth);
        placed.push((passage, score + phrases.sum::<f32>()));
    }
    Ok(top::best(placed, count))
}

/// Returns the sets of terms that exclude together, one for each excluded clause of one word. A phrase excludes if its
/// words are adjacent.
fn excluded_words(excluded: &[&Clause]) -> Vec<u64> {
    let known = terms(excluded);
    let place = |term: &String| Some(1_u64 << known.iter().position(|(own, _)| own == term)?);
    let words = excluded.iter().filter(|clause| clause.words.len() == 1).flat_map(|clause| &clause.words);
    let sets = words.filter_map(|word| terms_of(word).iter().map(place).sum::<Option<u64>>());
    sets.filter(|set| *set != 0).collect()
}

/// Returns the terms of a word, as the index has them: none of one that says nothing, pairs of characters of one in a
/// script without spaces.
fn terms_of(word: &str) -> Vec<String> {
    let mut terms = Terms::of(word).words;
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// Returns the terms of clauses with their weights.
fn terms(clauses: &[&Clause]) -> Vec<(String, f32)> {
    let mut terms: Vec<(String, f32)> = Vec::new();
    let words = clauses.iter().flat_map(|clause| clause.words.iter().map(|word| (word, clause.boost)));
    for (own, boost) in words.flat_map(|(word, boost)| terms_of(word).into_iter().map(move |term| (term, boost))) {
        if let Some((_, worth)) = terms.iter_mut().find(|(known, _)| *known == own) {
            *worth = worth.max(f32::from(boost));
        } else if terms.len() < TERMS_MAX {
            terms.push((own, f32::from(boost)));
        }
    }
    terms
}

fn scored(query: &Query, clauses: &[&Clause]) -> Result<FieldScores> {
    score(query.reader.as_ref(), TextField::Passage, &terms(clauses))
}

/// Returns the weight of each phrase with adjacent words: that of its rarest word.
fn phrase_worths<'a>(query: &Query, sought: &[&'a Clause]) -> Result<Vec<(&'a Clause, f32)>> {
    let texts = query.reader.counts().passages as usize;
    let mut worths = Vec::new();
    for clause in sought.iter().filter(|clause| clause.words.len() > 1) {
        let mut rarest = usize::MAX;
        for term in clause.words.iter().flat_map(|word| terms_of(word)) {
            rarest = rarest.min(query.reader.frequency(TextField::Passage, &term)?);
        }
        worths.push((*clause, f32::from(clause.boost) * idf(texts, rarest.min(texts))));
    }
    Ok(worths)
}
