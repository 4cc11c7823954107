//! What a language model is shown to answer from, by number: passages, and behind them rows of the levels of the
//! hierarchy. Whatever it cites leads to a passage.

use super::shown::Shown;
use crate::domain::{Answer, Citation, ContextLevel, Hit, LayersFound};
use crate::skill::{ShownNote, ShownPassage, best_sentence};
use crate::text::terms;

/// What stands behind the numbers.
#[derive(Debug, Clone)]
pub(super) struct Sources {
    hits: Vec<Hit>,
    rows: Vec<Row>,
    /// What was noted of the passages on the way; empty, unless a strategy noted something.
    pub(super) notes: Vec<ShownNote>,
}

/// A row of a level: what it says is sentences of passages.
#[derive(Debug, Clone)]
struct Row {
    name: String,
    sentences: Vec<Citation>,
    text: String,
}

impl Row {
    fn of(name: String, sentences: Vec<Citation>) -> Option<Self> {
        let text = sentences.iter().map(|it| it.quote.trim()).collect::<Vec<_>>().join("\n");
        (!sentences.is_empty()).then_some(Self { name, sentences, text })
    }
}

impl Sources {
    /// Returns the first passages of an answer, `passages_max` at most and no more than its context has room for, and
    /// what the levels say, where it read them.
    pub(super) fn of(answer: &Answer, passages_max: usize) -> Self {
        let layers = answer.ledger.layers.as_deref();
        let fit = layers.and_then(|it| it.context.iter().find(|share| share.level == ContextLevel::Passages));
        // One passage is shown, whatever room there is.
        let count = fit.map_or(passages_max, |share| passages_max.min((share.rows as usize).max(1)));
        let Shown { hits, notes } = Shown::of(answer, count);
        Self { hits, rows: layers.map(rows).unwrap_or_default(), notes }
    }

    /// Returns them as a model sees them, in the order of their numbers.
    pub(super) fn shown(&self) -> Vec<ShownPassage> {
        let hits = self.hits.iter().map(|hit| (&hit.name, &hit.text));
        let all = hits.chain(self.rows.iter().map(|row| (&row.name, &row.text)));
        all.map(|(name, text)| ShownPassage { name: name.clone(), text: text.clone() }).collect()
    }

    /// Returns how many there are.
    pub(super) fn len(&self) -> usize {
        self.hits.len() + self.rows.len()
    }

    /// Returns the name and the text behind a number, from 0.
    pub(super) fn texts(&self, place: usize) -> Option<[&str; 2]> {
        let hit = self.hits.get(place).map(|hit| [hit.name.as_str(), hit.text.as_str()]);
        hit.or_else(|| self.row(place).map(|row| [row.name.as_str(), row.text.as_str()]))
    }

    /// Quotes the sentence behind a number that is nearest to what was written; of a passage without one, all of it.
    pub(super) fn cite(&self, place: usize, written: &str) -> Option<Citation> {
        if let Some(hit) = self.hits.get(place) {
            let range = best_sentence(&hit.text, written).unwrap_or(0..hit.text.len());
            return Some(hit.citation(range.into(), hit.score));
        }
        let wanted = terms(written);
        let shared = |quote: &str| terms(quote).iter().filter(|term| wanted.contains(term)).count();
        let said = self.row(place)?.sentences.iter();
        // The first of equals.
        said.reduce(|best, next| if shared(&next.quote) > shared(&best.quote) { next } else { best }).cloned()
    }

    fn row(&self, place: usize) -> Option<&Row> {
        self.rows.get(place.checked_sub(self.hits.len())?)
    }
}

/// Returns what the levels say: communities first, then relations on bridges, then entities.
fn rows(layers: &LayersFound) -> Vec<Row> {
    let communities = layers.communities.iter().map(|it| Row::of(it.title.clone(), it.findings.clone()));
    let relations = layers.relations.iter().map(|it| {
        let sentence = it.sentence.clone().into_iter().collect();
        Row::of(format!("{} and {}", it.from, it.to), sentence)
    });
    let entities = layers.entities.iter().map(|it| Row::of(it.name.clone(), it.sentence.clone().into_iter().collect()));
    communities.chain(relations).chain(entities).flatten().collect()
}
