//! `keywords`: passages by a tree of keywords. Words count by BM25 times what their clause counts; a phrase whose words
//! stand beside each other counts once more; what has an excluded clause is left out. The same for every store, since
//! it is computed from postings and texts.

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
use crate::text::{Clause, KeywordQuery, Occur, term, tokens};

/// Passages whose texts are looked through for phrases, beside those that are asked for.
const LOOKED_THROUGH: usize = 100;

/// Ranks by a tree, whatever the question is.
#[derive(Debug, Clone, Default)]
pub struct Keywords {
    /// What is looked for.
    pub query: KeywordQuery,
}

impl Retriever for Keywords {
    fn name(&self) -> &'static str {
        "keywords"
    }

    fn needs(&self) -> Needs {
        Needs { vectors: false, ..Needs::default() }
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
    // A word alone excludes by itself; a phrase where its words stand beside each other.
    let words = terms(&excluded);
    let place = |clause: &Clause| {
        let [word] = clause.words.as_slice() else { return None };
        words.iter().position(|(own, _)| *own == term(word))
    };
    let alone: u64 = excluded.iter().filter_map(|clause| place(clause)).fold(0, |bits, place| bits | 1 << place);
    let is_shown = |passage: &PassageOrdinal| {
        scores.bm25[passage.index()] > 0.0
            && without.terms.get(passage.index()).is_none_or(|own| own & alone == 0)
            && query.is_allowed(*passage)
    };
    let all = query.reader.graph().passages().filter(is_shown);
    let best = top::best(all.map(|passage| (passage, scores.bm25[passage.index()])), count + LOOKED_THROUGH);
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

/// Returns the terms of clauses with what they count.
fn terms(clauses: &[&Clause]) -> Vec<(String, f32)> {
    let mut terms: Vec<(String, f32)> = Vec::new();
    for (word, boost) in clauses.iter().flat_map(|clause| clause.words.iter().map(|word| (word, clause.boost))) {
        let own = term(word);
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

/// Returns what each phrase counts where its words stand beside each other: as much as its rarest word.
fn phrase_worths<'a>(query: &Query, sought: &[&'a Clause]) -> Result<Vec<(&'a Clause, f32)>> {
    let texts = query.reader.counts().passages as usize;
    let mut worths = Vec::new();
    for clause in sought.iter().filter(|clause| clause.words.len() > 1) {
        let mut rarest = usize::MAX;
        for word in &clause.words {
            rarest = rarest.min(query.reader.frequency(TextField::Passage, &term(word))?);
        }
        worths.push((*clause, f32::from(clause.boost) * idf(texts, rarest.min(texts))));
    }
    Ok(worths)
}
