//! The numbered sources that a language model gets for an answer: passages, followed by rows of the levels of the
//! hierarchy. Every citation leads to a passage.

use std::collections::BTreeSet;

use super::shown::Shown;
use crate::domain::{Answer, Citation, ContextLevel, FoundCommunity, FoundEntity, Hit, LayersFound, PassageId};
use crate::skill::{CitedSentence, ShownNote, ShownPassage, best_sentence, is_supported};
use crate::text::{english, terms};

/// Sentences of a row that are quoted for one sentence that cites it.
const QUOTES_MAX: usize = 3;

/// The sources behind the numbers.
#[derive(Debug, Clone)]
pub(super) struct Sources {
    hits: Vec<Hit>,
    rows: Vec<Row>,
    /// Notes on the passages; empty unless a strategy made notes.
    pub(super) notes: Vec<ShownNote>,
}

/// A row of a level, which consists of sentences of passages.
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

    /// Returns the text about an entity or a summary entity: a model's, and the nearest sentence.
    fn of_entity(entity: &FoundEntity) -> Option<Self> {
        let mut row = Self::of(entity.name.clone(), entity.citations().cloned().collect())?;
        let texts = entity.summary.iter().map(|it| it.text.as_str());
        let quoted = entity.sentence.iter().map(|it| it.quote.as_str());
        row.text = texts.chain(quoted).map(str::trim).collect::<Vec<_>>().join("\n");
        Some(row)
    }

    /// Returns the text about a community: a report, and sentences.
    fn of_community(community: &FoundCommunity) -> Option<Self> {
        let mut row = Self::of(community.title.clone(), community.citations().cloned().collect())?;
        let report = community.summary.iter().chain(community.report.iter().map(|it| &it.text)).map(String::as_str);
        let quoted = community.findings.iter().map(|it| it.quote.as_str());
        row.text = report.chain(quoted).map(str::trim).collect::<Vec<_>>().join("\n");
        Some(row)
    }
}

/// A part read together with others: a row, or a note on rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// The passage of the row, or of its first sentence.
    pub(super) passage: PassageId,
    pub(super) name: String,
    pub(super) text: String,
    /// The rows behind it, by their numbers from 0.
    pub(super) places: Vec<usize>,
}

impl Part {
    /// Returns how many tokens it has, as the built-in embedder counts them.
    pub(super) fn tokens(&self) -> usize {
        english().count(&self.name) + english().count(&self.text)
    }
}

impl Sources {
    /// Returns the first passages of an answer, at most `passages_max` and no more than fit in its context, and the
    /// rows of the levels, if it read them.
    pub(super) fn of(answer: &Answer, passages_max: usize) -> Self {
        let layers = answer.ledger.layers.as_deref();
        let fit = layers.and_then(|it| it.context.iter().find(|share| share.level == ContextLevel::Passages));
        let count = fit.map_or(passages_max, |share| passages_max.min(share.rows as usize));
        let Shown { hits, notes } = Shown::of(answer, count);
        Self { hits, rows: layers.map(rows).unwrap_or_default(), notes }
    }

    /// Returns them as a model sees them, in the order of their numbers.
    pub(super) fn shown(&self) -> Vec<ShownPassage> {
        let hits = self.hits.iter().map(|hit| (&hit.name, &hit.text));
        let all = hits.chain(self.rows.iter().map(|row| (&row.name, &row.text)));
        all.map(|(name, text)| ShownPassage { name: name.clone(), text: text.clone() }).collect()
    }

    /// Returns them with their passages, in the order of their numbers.
    pub(super) fn parts(&self) -> Vec<Part> {
        let hits = self.hits.iter().map(|hit| hit.passage);
        let rows = self.rows.iter().filter_map(|row| Some(row.sentences.first()?.passage));
        let part = |((passage, ShownPassage { name, text }), place)| Part { passage, name, text, places: vec![place] };
        hits.chain(rows).zip(self.shown()).zip(0..).map(part).collect()
    }

    #[cfg(test)]
    pub(super) const fn of_hits(hits: Vec<Hit>) -> Self {
        Self { hits, rows: Vec::new(), notes: Vec::new() }
    }

    /// Returns how many tokens they have.
    pub(super) fn tokens(&self) -> usize {
        self.parts().iter().map(Part::tokens).sum()
    }

    /// Returns how many there are.
    pub(super) fn len(&self) -> usize {
        self.hits.len() + self.rows.len()
    }

    /// Returns the quotations for a number, from 0, that a sentence of the answer to `question` cites. Of a passage,
    /// the sentence nearest to the written one is quoted, or all of it if it has none; of a row, as many sentences as
    /// support the written one, the nearest first.
    pub(super) fn cited(&self, place: usize, written: &str, question: &str) -> Option<Cited> {
        let Some(hit) = self.hits.get(place) else {
            return Some(Cited::of_row(&self.row(place)?.sentences, written, question));
        };
        let range = best_sentence(&hit.text, written).unwrap_or(0..hit.text.len());
        let quotes = vec![hit.citation(range.into(), hit.score)];
        Some(Cited { quotes, texts: vec![hit.name.clone(), hit.text.clone()] })
    }

    /// Returns the citations of sentences for a model's check, with the sentences that cite each: passages as they were
    /// shown, and of rows only the quotations of each sentence.
    pub(super) fn checked(
        &self,
        sentences: &[CitedSentence],
        question: &str,
    ) -> (Vec<ShownPassage>, Vec<CitedSentence>) {
        let mut passages = self.shown();
        passages.truncate(self.hits.len());
        let mut cite = |sentence: &CitedSentence| {
            let (hits, rows): (Vec<usize>, Vec<usize>) =
                sentence.passages.iter().copied().partition(|place| *place < self.hits.len());
            let mut places = hits;
            for Cited { quotes, .. } in rows.into_iter().filter_map(|row| self.cited(row, &sentence.text, question)) {
                for Citation { document: name, quote: text, .. } in quotes {
                    places.push(passages.len());
                    passages.push(ShownPassage { name, text });
                }
            }
            CitedSentence { text: sentence.text.clone(), passages: places, web: sentence.web.clone() }
        };
        let sentences = sentences.iter().map(&mut cite).collect();
        (passages, sentences)
    }

    fn row(&self, place: usize) -> Option<&Row> {
        self.rows.get(place.checked_sub(self.hits.len())?)
    }
}

/// The quotations for one number that a sentence cites.
pub(super) struct Cited {
    pub(super) quotes: Vec<Citation>,
    /// The text that may support the sentence: all of a passage, but only the quotations of a row, since the rest of
    /// the row leads to no passage.
    pub(super) texts: Vec<String>,
}

impl Cited {
    fn of_row(sentences: &[Citation], written: &str, question: &str) -> Self {
        let mut missing: BTreeSet<String> = terms(written).into_iter().collect();
        let mut own = Self { quotes: Vec::new(), texts: Vec::new() };
        while own.quotes.len() < QUOTES_MAX && !own.bears_out(written, question) {
            let adds = |it: &Citation| {
                let own: BTreeSet<String> = terms(&it.quote).into_iter().collect();
                own.intersection(&missing).count()
            };
            // The first of equals.
            let nearest = sentences.iter().reduce(|best, next| if adds(next) > adds(best) { next } else { best });
            let Some(nearest) = nearest.filter(|it| own.quotes.is_empty() || adds(it) > 0) else { break };
            let terms: BTreeSet<String> = terms(&nearest.quote).into_iter().collect();
            missing.retain(|term| !terms.contains(term));
            own.texts.extend([nearest.document.clone(), nearest.quote.clone()]);
            own.quotes.push(nearest.clone());
        }
        own
    }

    fn bears_out(&self, written: &str, question: &str) -> bool {
        let texts: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        is_supported(written, question, &texts)
    }
}

/// Returns the rows of the levels: communities first, then relations on bridges, then entities.
fn rows(layers: &LayersFound) -> Vec<Row> {
    let communities = layers.communities.iter().map(Row::of_community);
    let relations = layers.relations.iter().map(|it| {
        let sentence = it.sentence.clone().into_iter().collect();
        Row::of(format!("{} and {}", it.from, it.to), sentence)
    });
    let entities = layers.entities.iter().map(Row::of_entity);
    communities.chain(relations).chain(entities).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Span;
    use crate::query::pieces::fuse::testing::hits;

    fn citation(quote: &str) -> Citation {
        Citation {
            document: "Eaststead".to_owned(),
            source_id: "e".to_owned(),
            uri: "e".to_owned(),
            passage: PassageId::of(&[quote.as_bytes()]),
            section: None,
            page: None,
            line: None,
            column: None,
            span: Span { start: 0, end: quote.len() as u32 },
            quote: quote.to_owned(),
            score: 1.0,
        }
    }

    /// Returns a community and no other source.
    fn community() -> Sources {
        const FINDINGS: [&str; 5] = [
            "Harl Mill was built by Ada Lorne.",
            "Pale Weir burned down in 1850.",
            "Harl Mill closed in 1860.",
            "Ada Lorne taught Tom Reed.",
            "Orn Bridge fell in 1871.",
        ];
        let row = Row::of("Mills of Westmoor".to_owned(), FINDINGS.map(citation).to_vec());
        Sources { hits: Vec::new(), rows: row.into_iter().collect(), notes: Vec::new() }
    }

    /// Returns what is quoted from a community for a sentence, and whether the quotations support it.
    fn quoted(written: &str) -> (Vec<String>, bool) {
        let sources = community();
        let cited = sources.cited(0, written, "What happened there?").expect("it is there");
        let is_borne_out = cited.bears_out(written, "What happened there?");
        (cited.quotes.into_iter().map(|it| it.quote).collect(), is_borne_out)
    }

    #[test]
    fn of_a_row_only_what_is_quoted_bears_a_sentence_out() {
        let (one, two) = ("Harl Mill closed in 1860.", "Harl Mill was built by Ada Lorne.");
        assert_eq!(quoted("Harl Mill closed in 1860."), (vec![one.to_owned()], true));
        // As many as needed, but no more than a reader looks at.
        assert_eq!(
            quoted("Harl Mill, built by Ada Lorne, closed in 1860."),
            (vec![two.to_owned(), one.to_owned()], true)
        );
        let (quotes, is_borne_out) = quoted("Of 1850, 1860 and 1871, Harl Mill saw a fire, Tom Reed and the end.");
        assert_eq!((quotes.len(), is_borne_out), (QUOTES_MAX, false));
        // The title of a community is not a sentence of any document.
        assert!(!quoted("Harl Mill in Westmoor closed in 1860.").1);
        assert!(quoted("Nothing of the kind.").0.len() == 1, "what is cited leads to a passage");
    }

    #[test]
    fn a_model_checks_a_sentence_against_what_it_quotes_of_a_row() {
        let mut sources = community();
        sources.hits = hits(&[("a", 1.0)]);
        let sentence = |text: &str, passages: &[usize]| CitedSentence {
            text: text.to_owned(),
            passages: passages.into(),
            web: Vec::new(),
        };
        let written = [sentence("Harl Mill closed in 1860.", &[1, 0]), sentence("Pale Weir burned in 1850.", &[1])];
        let (passages, sentences) = sources.checked(&written, "What happened there?");
        let texts: Vec<&str> = passages.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, ["", "Harl Mill closed in 1860.", "Pale Weir burned down in 1850."]);
        let places: Vec<&[usize]> = sentences.iter().map(|it| it.passages.as_slice()).collect();
        assert_eq!(places, [&[0, 1][..], &[2]]);
        assert_eq!(passages[1].name, "Eaststead");
    }
}
