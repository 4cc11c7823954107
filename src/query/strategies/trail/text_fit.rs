//! What the texts of candidates say to a question, beyond what the structure of an index holds.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Result;
use crate::graph::ordinal::PassageOrdinal;
use crate::graph::trail::TextFit;
use crate::query::evidence::lexical;
use crate::query::session::query::Query;
use crate::store::TextField;
use crate::text::{lead_name, terms};

/// A name that is so small a part of the question as this counts in full; less is damped.
const NAME_SHARE: f32 = 0.4;

/// Returns what the text of each passage says.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn text_fits(query: &Query, passages: &[PassageOrdinal]) -> Result<Vec<TextFit>> {
    let asked = Asked::of(query)?;
    query.reader.prepare(passages)?;
    let mut names = Names { query, worth: asked.worth.clone() };
    passages.iter().map(|passage| fit(query, &asked, &mut names, *passage)).collect()
}

fn fit(query: &Query, asked: &Asked, names: &mut Names<'_>, passage: PassageOrdinal) -> Result<TextFit> {
    let text = query.reader.passage(passage)?.text;
    let document = query.reader.graph().passage_document[passage];
    let title = query.reader.document(document)?.title;
    let name = terms(title.as_deref().or_else(|| lead_name(&text)).unwrap_or_default());
    let body = terms(&text);
    Ok(TextFit { name_covered: names.covered(&name, asked)?, bigrams: asked.bigrams([&name, &body]) })
}

/// The terms of a question and their idf.
struct Asked {
    worth: FxHashMap<String, f32>,
    whole: f32,
    /// Pairs of neighboring terms.
    pairs: FxHashSet<(String, String)>,
}

impl Asked {
    fn of(query: &Query) -> Result<Self> {
        let distinct = query.question.distinct.iter().map(|(term, _)| term.clone());
        let worth: FxHashMap<String, f32> = distinct.zip(query.passage_words()?.idf.iter().copied()).collect();
        let pairs = query.question.terms.windows(2).filter_map(|pair| match pair {
            [first, second] => Some((first.clone(), second.clone())),
            _ => None,
        });
        Ok(Self { whole: worth.values().sum(), pairs: pairs.collect(), worth })
    }

    /// Returns the share of the question's pairs that stand in one of `lists`, by idf.
    fn bigrams(&self, lists: [&[String]; 2]) -> f32 {
        let worth = |pair: &(String, String)| {
            let of = |term: &String| self.worth.get(term).copied().unwrap_or(0.0);
            of(&pair.0) + of(&pair.1)
        };
        let whole: f32 = self.pairs.iter().map(worth).sum();
        let stands = |pair: &&(String, String)| {
            lists.iter().any(|list| list.windows(2).any(|it| it[0] == pair.0 && it[1] == pair.1))
        };
        if whole > 0.0 { self.pairs.iter().filter(stands).map(worth).sum::<f32>() / whole } else { 0.0 }
    }
}

/// What the terms of names are worth, as far as they were looked up.
struct Names<'a> {
    query: &'a Query,
    worth: FxHashMap<String, f32>,
}

impl Names<'_> {
    /// Returns Σ idf(name ∩ question)/Σ idf(name), damped where the question is much more than the name.
    fn covered(&mut self, name: &[String], asked: &Asked) -> Result<f32> {
        let (mut covered, mut whole) = (0.0, 0.0);
        for term in name.iter().collect::<FxHashSet<_>>() {
            let worth = self.worth(term)?;
            whole += worth;
            if asked.worth.contains_key(term) {
                covered += worth;
            }
        }
        if covered <= 0.0 || whole <= 0.0 {
            return Ok(0.0);
        }
        Ok(covered / whole * (covered / (NAME_SHARE * asked.whole).max(1e-9)).min(1.0).sqrt())
    }

    fn worth(&mut self, term: &str) -> Result<f32> {
        if let Some(worth) = self.worth.get(term) {
            return Ok(*worth);
        }
        let reader = &self.query.reader;
        let frequency = reader.frequency(TextField::Passage, term)?;
        let worth = lexical::idf(lexical::count(reader.as_ref(), TextField::Passage), frequency.max(1));
        self.worth.insert(term.to_owned(), worth);
        Ok(worth)
    }
}
