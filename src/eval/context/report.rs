//! The measurements of contexts, as tables.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use super::super::bootstrap::Interval;
use super::super::report::{percent, time_per_question};
use super::super::table::{counted, printable};
use super::gathered::{Level, covered};
use crate::domain::{CorpusId, IndexVersion};

/// The measurements of one context; shares from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    pub(super) time_ms: f64,
    pub(super) documents: Option<f64>,
    pub(super) words: f64,
    pub(super) diversity: f64,
    pub(super) redundancy: f64,
    pub(super) tokens: u64,
    pub(super) overview_documents: Option<f64>,
    pub(super) overview_words: f64,
    pub(super) overview_length: usize,
    pub(super) levels: Level,
}

/// What one method came to, means over the questions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContextRow {
    /// The method.
    pub method: String,
    /// The share of the documents that answers draw on, each as often as sentences do, in percent.
    pub documents: Interval,
    /// That less the first row's, question by question; none for the first row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents_difference: Option<Interval>,
    /// The share of the terms of answers that stand in the context, those of the question left out, in percent.
    pub words: Interval,
    /// That less the first row's, question by question; none for the first row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words_difference: Option<Interval>,
    /// How many documents it would be if all had an equal part in the context.
    pub diversity: f64,
    /// The share of sequences of five words that stood there before, in percent.
    pub redundancy: f64,
    /// Tokens of the context, as the built-in embedder counts them.
    pub tokens: f64,
    /// What is answered from it without a model.
    pub overview: OverviewFigures,
    /// Time for an answer that half of the questions do not exceed, in milliseconds.
    pub time_ms_p50: f64,
}

/// What is answered without a model, means over the questions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OverviewFigures {
    /// Questions to which something is answered, in percent.
    pub answered: f64,
    /// Documents that answers draw on and that it cites, in percent.
    pub documents: Interval,
    /// Terms of answers that stand in it, in percent.
    pub words: Interval,
    /// Its length in words.
    pub length: f64,
}

impl ContextRow {
    pub(super) fn of(method: &str, all: &[Measured], first: Option<&[Measured]>) -> Self {
        let mean = |value: fn(&Measured) -> f64| all.iter().map(value).sum::<f64>() / all.len().max(1) as f64;
        let difference = |value: fn(&Measured) -> Option<f64>| {
            let pairs = all.iter().zip(first?);
            Some(percent(pairs.filter_map(|(own, first)| Some(value(own)? - value(first)?))))
        };
        Self {
            method: method.to_owned(),
            documents: percent(all.iter().filter_map(|it| it.documents)),
            documents_difference: difference(|it| it.documents),
            words: percent(all.iter().map(|it| it.words)),
            words_difference: difference(|it| Some(it.words)),
            diversity: mean(|it| it.diversity),
            redundancy: 100.0 * mean(|it| it.redundancy),
            tokens: mean(|it| it.tokens as f64),
            overview: OverviewFigures {
                answered: 100.0 * mean(|it| f64::from(u8::from(it.overview_length > 0))),
                documents: percent(all.iter().filter_map(|it| it.overview_documents)),
                words: percent(all.iter().map(|it| it.overview_words)),
                length: mean(|it| it.overview_length as f64),
            },
            time_ms_p50: time_per_question(all.iter().map(|it| it.time_ms)).p50,
        }
    }
}

/// How much of what the local and the global level say is on bridges too: `HiRAG`, Table 7.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BridgeCoverage {
    /// Terms of the local level that the bridge level has, in percent.
    pub local: Interval,
    /// Those of the global level.
    pub global: Interval,
    /// Questions with a bridge, in percent; of the others nothing is covered.
    pub bridged: f64,
}

impl BridgeCoverage {
    /// Measures it on the contexts of three modes for the same questions.
    pub(super) fn of(local: &[Measured], global: &[Measured], bridge: &[Measured]) -> Self {
        let bridged = bridge.iter().filter(|it| !it.levels.bridge.is_empty()).count();
        let of = |level: &[Measured], terms: fn(&Level) -> &BTreeSet<String>| {
            let pairs = level.iter().zip(bridge).filter(|(own, _)| !terms(&own.levels).is_empty());
            percent(pairs.map(|(own, bridge)| covered(terms(&own.levels), &bridge.levels.bridge)))
        };
        Self {
            local: of(local, |it| &it.local),
            global: of(global, |it| &it.global),
            bridged: 100.0 * bridged as f64 / bridge.len().max(1) as f64,
        }
    }
}

/// See the top of this file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContextReport {
    /// The version of the index that was read.
    pub version: IndexVersion,
    /// Its corpus.
    pub corpus_id: CorpusId,
    /// Its embedder.
    pub embedder: String,
    /// Questions with an answer.
    pub questions: u64,
    /// Who answered them.
    pub systems: Vec<String>,
    /// Tokens that a context may have.
    pub tokens: u64,
    /// Sentences of answers that say enough to be placed in a document.
    pub sentences: u64,
    /// Those that were placed.
    pub sentences_placed: u64,
    /// A row for each method.
    pub rows: Vec<ContextRow>,
    /// How much bridges cover, where the local, the global and the bridge mode of `layers` are among the methods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bridges: Option<BridgeCoverage>,
    /// What the reader should know.
    pub notes: Vec<String>,
}

/// As Markdown.
impl Display for ContextReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self { questions, systems, version, tokens, sentences, sentences_placed, .. } = self;
        let systems_count = counted(systems.len() as u64, "system");
        writeln!(out, "{} answered by {systems_count}, version {version}", counted(*questions, "question"))?;
        writeln!(
            out,
            "Contexts of {tokens} tokens; {sentences_placed} of {sentences} sentences placed in a document\n"
        )?;
        writeln!(
            out,
            "| context | documents | − first, 95 % | words | − first, 95 % | diversity | repeated | tokens |"
        )?;
        writeln!(out, "|---|--:|--:|--:|--:|--:|--:|--:|")?;
        let difference = |it: Option<Interval>| {
            it.map_or_else(String::new, |it| format!("{:+.1} ({:+.1} to {:+.1})", it.mean, it.low, it.high))
        };
        for row in &self.rows {
            let differences = [row.documents_difference, row.words_difference].map(difference);
            let [of_documents, of_words] = &differences;
            writeln!(
                out,
                "| {} | {:.1} | {of_documents} | {:.1} | {of_words} | {:.1} | {:.1} % | {:.0} |",
                printable(&row.method),
                row.documents.mean,
                row.words.mean,
                row.diversity,
                row.redundancy,
                row.tokens,
            )?;
        }
        writeln!(out, "\n| answer without a model | given | documents | words | its words | ms p50 |")?;
        writeln!(out, "|---|--:|--:|--:|--:|--:|")?;
        for ContextRow { method, overview, time_ms_p50, .. } in &self.rows {
            let OverviewFigures { answered, documents, words, length } = overview;
            let (method, documents, words) = (printable(method), documents.mean, words.mean);
            writeln!(
                out,
                "| {method} | {answered:.1} % | {documents:.1} | {words:.1} | {length:.0} | {time_ms_p50:.0} |"
            )?;
        }
        if let Some(BridgeCoverage { local, global, bridged }) = &self.bridges {
            writeln!(out, "\nBridges have {:.1} % of the terms of the local level", local.mean)?;
            writeln!(
                out,
                "and {:.1} % of those of the global level; {bridged:.1} % of the questions have one.",
                global.mean
            )?;
        }
        writeln!(out)?;
        self.notes.iter().try_for_each(|note| writeln!(out, "Note: {}.", printable(note)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(documents: Option<f64>, levels: Level) -> Measured {
        Measured {
            time_ms: 1.0,
            documents,
            words: 0.5,
            diversity: 2.0,
            redundancy: 0.1,
            tokens: 100,
            overview_documents: None,
            overview_words: 0.25,
            overview_length: 0,
            levels,
        }
    }

    #[test]
    fn questions_that_draw_on_no_document_are_in_no_mean_of_documents() {
        let none = Level::default;
        let first = [measured(Some(0.5), none()), measured(None, none())];
        let row = ContextRow::of("layers", &[measured(Some(1.0), none()), measured(None, none())], Some(&first));
        assert_eq!((row.documents.mean, row.documents_difference.map(|it| it.mean)), (100.0, Some(50.0)));
        assert_eq!((row.words.mean, row.overview.answered, row.tokens), (50.0, 0.0, 100.0));
        assert!(ContextRow::of("layers", &first, None).documents_difference.is_none());
    }

    #[test]
    fn bridges_cover_what_they_say_too() {
        let terms = |text: &str| crate::text::terms(text).into_iter().collect();
        let local = [measured(None, Level { local: terms("mill weir"), ..Level::default() })];
        let global = [measured(None, Level { global: terms("mill corn flour ship"), ..Level::default() })];
        let bridge = [measured(None, Level { bridge: terms("the mill ground corn"), ..Level::default() })];
        let coverage = BridgeCoverage::of(&local, &global, &bridge);
        assert_eq!((coverage.local.mean, coverage.global.mean, coverage.bridged), (50.0, 50.0, 100.0));
        let nothing = BridgeCoverage::of(&local, &global, &[measured(None, Level::default())]);
        assert_eq!((nothing.local.mean, nothing.bridged), (0.0, 0.0));
    }
}
