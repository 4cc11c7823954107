//! Several strategies over several collections, each put the same questions of a collection, with the difference of
//! each to the first, question by question. Figures of different collections are never put together: they are of other
//! questions. What is not comparable is refused.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use super::bootstrap::Interval;
use super::fit::Collection;
use super::metrics::scores;
use super::recorded::RecordedReplies;
use super::report::{RetrievalReport, RunLine, percent};
use super::retrieval::retrieval;
use super::stand_in::StandIn;
use super::table::printable;
use crate::domain::{CorpusId, IndexVersion};
use crate::error::{Error, Result};
use crate::query::{PICK_DEFAULT, SearchOptions};

/// Methods and collections of a matrix at most.
const CELLS_MAX: usize = 1_000;
/// What the name of a method ends with whose passages a model picks from.
const PICKED: &str = "+pick";
/// Where in [`super::DEPTHS`] the depth 5 stands.
const SLOT_OF_5: usize = 2;

/// A strategy as a matrix names it.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixMethod {
    /// Its name: that of a strategy, with `+pick` where a model picks from what it finds.
    pub name: String,
    /// How it finds passages.
    pub search: SearchOptions,
}

impl MatrixMethod {
    /// Reads a name, with a number of calls that a question may take.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] if there is no such strategy, or nothing can be picked for it.
    pub fn parse(name: &str, calls_max: Option<u32>) -> Result<Self> {
        let (strategy, pick) =
            name.strip_suffix(PICKED).map_or((name, None), |strategy| (strategy, Some(PICK_DEFAULT)));
        let search = SearchOptions { strategy: strategy.parse()?, pick, calls_max, ..SearchOptions::default() };
        search.check()?;
        Ok(Self { name: name.to_owned(), search })
    }

    /// Returns whether a model has a part in it.
    fn asks_model(&self, calls_max: Option<u32>) -> bool {
        let is_auto = self.search.strategy == crate::query::StrategyKind::Auto;
        self.search.may_ask_model() || is_auto && calls_max.is_some()
    }
}

/// Who stands in for a language model in a matrix.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MatrixOptions {
    /// How often each simulated judge is right; none where only recorded replies are said again.
    pub accuracies: Vec<f64>,
    /// What the errors of judges are drawn from.
    pub seed: u64,
    /// What was recorded of real models.
    pub recorded: RecordedReplies,
}

/// How one method fared on the questions of a collection.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MatrixRow {
    /// The method.
    pub method: String,
    /// Who led it: `no model`, `recorded`, or `simulated:P`, which knows the labels and is right with probability P.
    pub led_by: String,
    /// Recall at 2, in percent.
    #[serde(rename = "recall@2")]
    pub recall_at_2: Interval,
    /// Recall at 5, in percent.
    #[serde(rename = "recall@5")]
    pub recall_at_5: Interval,
    /// The share of questions of which every supporting document is among the first 5, in percent.
    #[serde(rename = "all-gold@5")]
    pub all_gold_at_5: Interval,
    /// Recall at 5 less that of the first row, question by question; none for the first row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Interval>,
    /// Calls a question.
    pub calls: f64,
    /// Time for a question that half of them do not exceed, in milliseconds.
    pub time_ms_p50: f64,
}

/// How every method fared on one collection.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MatrixTable {
    /// The collection.
    pub collection: String,
    /// Its questions.
    pub questions: u64,
    /// The version of its index that was read.
    pub version: IndexVersion,
    /// Its corpus.
    pub corpus_id: CorpusId,
    /// The embedder of its index.
    pub embedder: String,
    /// A row for each method, and for each who led it.
    pub rows: Vec<MatrixRow>,
}

/// See the top of this file.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MatrixReport {
    /// A table for each collection.
    pub tables: Vec<MatrixTable>,
    /// What the reader should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Puts the questions of each collection to each method: once without a model, and where a model has a part in it, once
/// for each who stands in for one.
///
/// # Errors
///
/// [`Error::Option`] for no method, one that is named twice, two collections of one name, or too many; the first error
/// of an engine.
///
/// # Cancel safety
///
/// Dropping the future loses the measurement and nothing else.
pub async fn matrix(
    collections: &[Collection],
    methods: &[MatrixMethod],
    options: &MatrixOptions,
) -> Result<MatrixReport> {
    let names: Vec<&str> = collections.iter().map(|it| it.name.as_str()).collect();
    check(&names, &methods.iter().map(|it| it.name.as_str()).collect::<Vec<_>>())?;
    let mut report = MatrixReport::default();
    for collection in collections {
        let mut rows: Vec<(MatrixRow, Vec<f64>)> = Vec::new();
        let mut facts = None;
        for method in methods {
            for stand_in in stand_ins(method, options) {
                let led_by = stand_in.as_ref().map_or_else(|| "no model".to_owned(), led_by);
                let Collection { engine, questions, .. } = collection;
                let search = of_leader(&method.search, stand_in.is_some());
                let (lines, scored) = retrieval(engine, questions, &search, stand_in).await?;
                let recalls = recalls(collection, &lines);
                let difference = rows.first().map(|(_, first)| differences(first, &recalls));
                rows.push((row(method, led_by, &scored, difference), recalls));
                facts.get_or_insert(scored.facts);
            }
        }
        let Some(facts) = facts else { continue };
        report.tables.push(MatrixTable {
            collection: collection.name.clone(),
            questions: collection.questions.len() as u64,
            version: facts.version,
            corpus_id: facts.corpus_id,
            embedder: facts.embedder,
            rows: rows.into_iter().map(|(row, _)| row).collect(),
        });
    }
    if report.tables.iter().flat_map(|table| &table.rows).any(|row| row.led_by.starts_with("simulated")) {
        let what = "a simulated model knows the labels, and errs independently of the texts: no real model is so";
        report.notes.push(what.to_owned());
    }
    Ok(report)
}

/// Checks the names of collections and methods.
fn check(collections: &[&str], methods: &[&str]) -> Result<()> {
    let refused =
        |value: &str, reason: String| Err(Error::Option { option: "matrix", value: value.to_owned(), reason });
    if methods.is_empty() || collections.is_empty() {
        return refused("", "it needs a strategy and a collection at least".to_owned());
    }
    if methods.len() * collections.len() > CELLS_MAX {
        let count = (methods.len() * collections.len()).to_string();
        return refused(&count, format!("strategies times collections are {CELLS_MAX} at most"));
    }
    if let Some(name) = twice(methods) {
        return refused(name, "a strategy is named twice".to_owned());
    }
    if let Some(name) = twice(collections) {
        return refused(name, "an index is named twice: its figures would be of different questions".to_owned());
    }
    Ok(())
}

/// Returns the first name that is there twice.
fn twice<'a>(names: &[&'a str]) -> Option<&'a str> {
    let mut rest = names.iter().enumerate();
    rest.find(|(place, name)| names[..*place].contains(name)).map(|(_, name)| *name)
}

/// Returns who leads a method, one after the other: nobody, and each who stands in for a model.
fn stand_ins(method: &MatrixMethod, options: &MatrixOptions) -> Vec<Option<StandIn>> {
    let stand_in = |accuracy| StandIn { accuracy, seed: options.seed, recorded: options.recorded.clone() };
    let mut all = if method.search.asks_model() { Vec::new() } else { vec![None] };
    if method.asks_model(method.search.calls_max) {
        all.extend(options.accuracies.iter().map(|accuracy| Some(stand_in(Some(*accuracy)))));
        if options.accuracies.is_empty() && !options.recorded.is_empty() {
            all.push(Some(stand_in(None)));
        }
    }
    all
}

/// Returns how a method searches: without a model, no calls are counted.
fn of_leader(search: &SearchOptions, is_led: bool) -> SearchOptions {
    SearchOptions { calls_max: search.calls_max.filter(|_| is_led), ..search.clone() }
}

fn led_by(stand_in: &StandIn) -> String {
    stand_in.accuracy.map_or_else(|| "recorded".to_owned(), |accuracy| format!("simulated:{accuracy}"))
}

/// Returns recall at 5 of each question, in the order of the questions.
fn recalls(collection: &Collection, lines: &[RunLine]) -> Vec<f64> {
    let recall =
        |(question, line): (&super::Question, &RunLine)| scores(&line.ranked, &question.supporting).recall[SLOT_OF_5];
    collection.questions.iter().zip(lines).map(recall).collect()
}

fn differences(first: &[f64], own: &[f64]) -> Interval {
    percent(own.iter().zip(first).map(|(own, first)| own - first))
}

fn row(method: &MatrixMethod, led_by: String, scored: &RetrievalReport, difference: Option<Interval>) -> MatrixRow {
    let metric = |name| scored.metrics.get(name).unwrap_or_default();
    MatrixRow {
        method: method.name.clone(),
        led_by,
        recall_at_2: metric("recall@2"),
        recall_at_5: metric("recall@5"),
        all_gold_at_5: metric("all-gold@5"),
        difference,
        calls: scored.work.as_ref().map_or(0.0, |work| work.calls_per_question),
        time_ms_p50: scored.time_ms.p50,
    }
}

/// As Markdown.
impl Display for MatrixReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for table in &self.tables {
            let (name, embedder) = (printable(&table.collection), printable(&table.embedder));
            let MatrixTable { questions, version, .. } = table;
            writeln!(out, "## {name}: {questions} questions, version {version}, embedder {embedder}\n")?;
            writeln!(out, "| strategy | led by | R@2 | R@5 | all gold@5 | R@5 − first, 95 % | calls | ms p50 |")?;
            writeln!(out, "|---|---|--:|--:|--:|--:|--:|--:|")?;
            for row in &table.rows {
                let difference = row
                    .difference
                    .map_or_else(String::new, |it| format!("{:+.1} ({:+.1} to {:+.1})", it.mean, it.low, it.high));
                writeln!(
                    out,
                    "| {} | {} | {:.1} | {:.1} | {:.1} | {difference} | {:.2} | {:.0} |",
                    printable(&row.method),
                    printable(&row.led_by),
                    row.recall_at_2.mean,
                    row.recall_at_5.mean,
                    row.all_gold_at_5.mean,
                    row.calls,
                    row.time_ms_p50,
                )?;
            }
            writeln!(out)?;
        }
        self.notes.iter().try_for_each(|note| writeln!(out, "Note: {}.", printable(note)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_a_strategy_and_may_be_picked_from() {
        let picked = MatrixMethod::parse("trail+pick", Some(3)).unwrap();
        assert_eq!((picked.search.pick, picked.search.calls_max), (Some(PICK_DEFAULT), Some(3)));
        assert_eq!(MatrixMethod::parse("noise", None).unwrap().search.pick, None);
        for wrong in ["", "+pick", "fastest", "noise+pick"] {
            assert!(MatrixMethod::parse(wrong, None).is_err(), "{wrong}");
        }
    }

    #[test]
    fn each_method_is_led_by_nobody_and_by_all_who_stand_in() {
        let options = MatrixOptions { accuracies: vec![0.8, 0.9], ..MatrixOptions::default() };
        let led = |name: &str, calls_max, options: &MatrixOptions| {
            let all = stand_ins(&MatrixMethod::parse(name, calls_max).unwrap(), options);
            all.iter().map(|it| it.as_ref().map_or_else(|| "-".to_owned(), led_by)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(led("trail", None, &options), "-");
        assert_eq!(led("noise", None, &options), "- simulated:0.8 simulated:0.9");
        assert_eq!(led("trail+pick", None, &options), "simulated:0.8 simulated:0.9");
        assert_eq!(
            (led("auto", None, &options), led("auto", Some(9), &options)),
            ("-".to_owned(), "- simulated:0.8 simulated:0.9".to_owned())
        );
        assert_eq!(led("noise", None, &MatrixOptions::default()), "-");
    }

    #[test]
    fn what_is_not_comparable_is_refused() {
        let refused = |collections: &[&str], methods: &[&str]| match check(collections, methods) {
            Err(Error::Option { value, reason, .. }) => format!("{value}: {reason}"),
            other => panic!("{other:?}"),
        };
        assert!(check(&["a", "b"], &["trail", "hop"]).is_ok());
        assert!(refused(&[], &["trail"]).contains("at least") && refused(&["a"], &[]).contains("at least"));
        assert_eq!(refused(&["a"], &["hop", "trail", "hop"]), "hop: a strategy is named twice");
        assert!(refused(&["a", "b", "a"], &["trail"]).starts_with("a: an index is named twice"));
        let many: Vec<String> = (0..=CELLS_MAX).map(|it| it.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(refused(&["a"], &many).contains("1000 at most") && check(&["a"], &many[1..]).is_ok());
        assert!((differences(&[0.0, 1.0], &[1.0, 1.0]).mean - 50.0).abs() < 1e-9);
    }
}
