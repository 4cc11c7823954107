//! Compares several strategies over several collections: each answers the same questions of a collection, and is
//! compared with the first, question by question. Figures of different collections are never averaged, because their
//! questions differ. Comparisons that make no sense are refused.

mod html;
mod run;

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use super::bootstrap::Interval;
use super::fit::Collection;
use super::recorded::RecordedReplies;
use super::stand_in::StandIn;
use super::table::{counted, printable};
use crate::domain::{CorpusId, Cost, IndexVersion};
use crate::error::{Error, Result};
use crate::query::{PICK_DEFAULT, SearchOptions};
pub use run::LiveModel;
use run::{Leader, Run, differences, run};

/// Maximum cells of a matrix: methods times collections.
const CELLS_MAX: usize = 1_000;
/// Suffix of a method whose passages a model picks from.
const PICKED: &str = "+pick";
/// Separates the name of a strategy from that of the part left out of it.
const WITHOUT: char = '-';
/// The leader of a method that uses rules only.
const NO_MODEL: &str = "no model";

/// A strategy as a matrix names it.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixMethod {
    /// Its name: that of a strategy, with `+pick` where a model picks from what it finds, and `-PART` where a part of
    /// the strategy is left out.
    pub name: String,
    /// How it finds passages.
    pub search: SearchOptions,
}

impl MatrixMethod {
    /// Reads a name, with a number of calls that a question may take.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] if there is no such strategy, it has no such part, or nothing can be picked for it.
    pub fn parse(name: &str, calls_max: Option<u32>) -> Result<Self> {
        let (found_by, pick) =
            name.strip_suffix(PICKED).map_or((name, None), |found_by| (found_by, Some(PICK_DEFAULT)));
        let (strategy, part) =
            found_by.split_once(WITHOUT).map_or((found_by, None), |(strategy, part)| (strategy, Some(part)));
        let (strategy, noise_without) = (strategy.parse()?, part.map(str::parse).transpose()?);
        let search = SearchOptions { strategy, pick, calls_max, noise_without, ..SearchOptions::default() };
        search.check()?;
        Ok(Self { name: name.to_owned(), search })
    }

    /// Returns whether it uses a model.
    fn asks_model(&self, calls_max: Option<u32>) -> bool {
        let is_auto = self.search.strategy == crate::query::StrategyKind::Auto;
        self.search.may_ask_model() || is_auto && calls_max.is_some()
    }
}

/// Who leads the methods of a matrix that a language model may lead.
#[derive(Debug, Clone, Default)]
pub struct MatrixOptions {
    /// How often each simulated judge is right; none where only recorded replies are said again.
    pub accuracies: Vec<f64>,
    /// What the errors of judges are drawn from.
    pub seed: u64,
    /// What was recorded of real models.
    pub recorded: RecordedReplies,
    /// A real model; none is asked otherwise.
    pub live: Option<LiveModel>,
}

/// How one method fared on the questions of a collection.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MatrixRow {
    /// The method.
    pub method: String,
    /// Who led it: `no model`; `live:MODEL`, a real model, or `replayed:MODEL`, the same from a recording; `recorded`,
    /// where single replies of models were said again; or `simulated:P`, which knows the labels and is right with
    /// probability P.
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
    /// Recall at 5 less that of the first row, question by question; none for the first row, and where the two cannot
    /// be compared. In a row without a part of a strategy, less that of the whole one, led by the same, if that is
    /// before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Interval>,
    /// Exact match of the answers, in percent: of a real model's short one, or else of a rule's guess or the first
    /// sentence that is quoted. None where no question has answers to compare with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact_match: Option<Interval>,
    /// F1 over the words of the same answers, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_f1: Option<Interval>,
    /// Calls a question.
    pub calls: f64,
    /// Steps a question: rounds of look-ups, as a strategy that is led plans them. None where nobody was led so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<f64>,
    /// Tokens a question, read and written.
    pub tokens: f64,
    /// Money a question; none where nobody was paid, or a price is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
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

/// Asks each method the questions of each collection: once without a model, and if the method uses a model, once for
/// each leader. A real model takes part in every method whose answers are compared.
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
    let (mut report, mut is_of_parts) = (MatrixReport::default(), false);
    for collection in collections {
        let mut runs: Vec<Run> = Vec::new();
        for method in methods {
            for leader in leaders(method, options, has_answers(collection)) {
                let own = run(collection, method, &leader).await?;
                let whole = whole(&runs, method, &own);
                is_of_parts |= whole.is_some();
                runs.push(compared(own, whole.or(runs.first()), &mut report.notes));
            }
        }
        let Some(first) = runs.first() else { continue };
        report.tables.push(MatrixTable {
            collection: collection.name.clone(),
            questions: collection.questions.len() as u64,
            version: first.facts.version,
            corpus_id: first.facts.corpus_id,
            embedder: first.facts.embedder.clone(),
            rows: runs.into_iter().map(|run| run.row).collect(),
        });
    }
    report.notes.extend(notes(&report.tables));
    if is_of_parts {
        let what = "a strategy without one of its parts is compared with the complete one, led by the same model, \
            instead of the first row";
        report.notes.push(what.to_owned());
    }
    Ok(report)
}

/// Returns the run of the whole strategy with the same leader, for a run with a part left out.
fn whole<'a>(runs: &'a [Run], method: &MatrixMethod, own: &Run) -> Option<&'a Run> {
    let (strategy, _) = method.name.split_once(WITHOUT)?;
    runs.iter().find(|run| run.row.method == strategy && run.row.led_by == own.row.led_by)
}

fn has_answers(collection: &Collection) -> bool {
    collection.questions.iter().any(|question| !question.answers.is_empty())
}

/// Compares a run with the first one of its collection, or notes why it is not compared.
fn compared(mut run: Run, first: Option<&Run>, notes: &mut Vec<String>) -> Run {
    let name = format!("{} led by {}", run.row.method, run.row.led_by);
    if let Some((count, why)) = &run.ended_early {
        let (questions, what) = (counted(*count, "question"), "could not be asked all that it was to be asked");
        notes.push(format!("{name} is not compared: for {questions}, the model {what} ({why})"));
    }
    let Some(first) = first else { return run };
    let is_whole = run.ended_early.is_none() && first.ended_early.is_none();
    if !is_comparable(&first.row.led_by, &run.row.led_by) {
        let first = &first.row.led_by;
        notes.push(format!(
            "{name} is not compared with the first row, which is led by {first}: only equals are \
            compared"
        ));
    } else if is_whole {
        run.row.difference = Some(differences(&first.recalls, &run.recalls));
    }
    run
}

/// Returns whether the difference between two rows is due to the method: if both have the same leader, or one has none.
/// A simulated model knows what a real one has to find out.
fn is_comparable(first: &str, own: &str) -> bool {
    first == own || [first, own].contains(&NO_MODEL)
}

/// Returns the notes on tables.
fn notes(tables: &[MatrixTable]) -> Vec<String> {
    let rows = || tables.iter().flat_map(|table| &table.rows);
    let mut notes = Vec::new();
    if rows().any(|row| row.led_by.starts_with("simulated")) {
        let what = "a simulated model knows the labels, and errs independently of the texts: no real model is so";
        notes.push(what.to_owned());
    }
    if rows().any(|row| row.exact_match.is_some()) {
        let what = "EM and F1 score the short answer of a real model in rows that one leads, and elsewhere a rule's \
            guess or the first quoted sentence";
        notes.push(what.to_owned());
    }
    if rows().any(|row| row.led_by.starts_with("replayed")) {
        notes.push("the time of a replayed model is that of reading the recording".to_owned());
    }
    notes
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

/// Returns the first name that occurs twice.
fn twice<'a>(names: &[&'a str]) -> Option<&'a str> {
    let mut rest = names.iter().enumerate();
    rest.find(|(place, name)| names[..*place].contains(name)).map(|(_, name)| *name)
}

/// Returns the leaders of a method, in order: none, each simulated model, and a real model. If answers are compared, a
/// real model writes them for every method.
fn leaders(method: &MatrixMethod, options: &MatrixOptions, has_answers: bool) -> Vec<Leader> {
    let stand_in = |accuracy| {
        let (seed, recorded) = (options.seed, options.recorded.clone());
        Leader::StandIn(Box::new(StandIn { accuracy, seed, recorded }))
    };
    let asks_model = method.asks_model(method.search.calls_max);
    let mut all = if method.search.asks_model() { Vec::new() } else { vec![Leader::Nobody] };
    if asks_model {
        all.extend(options.accuracies.iter().map(|accuracy| stand_in(Some(*accuracy))));
        if options.accuracies.is_empty() && !options.recorded.is_empty() {
            all.push(stand_in(None));
        }
    }
    if asks_model || has_answers {
        all.extend(options.live.clone().map(Leader::Live));
    }
    all
}

/// Returns the cell of a difference.
fn difference(row: &MatrixRow) -> String {
    row.difference.map_or_else(String::new, |it| format!("{:+.1} ({:+.1} to {:+.1})", it.mean, it.low, it.high))
}

/// Returns the cell of steps.
fn steps_cell(row: &MatrixRow) -> String {
    row.steps.map_or_else(String::new, |steps| format!("{steps:.2}"))
}

/// Returns the cell of a cost.
fn cost(row: &MatrixRow) -> String {
    row.cost.as_ref().map_or_else(String::new, |cost| format!("{:.5} {}", cost.amount, printable(&cost.currency)))
}

/// As Markdown.
impl Display for MatrixReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for table in &self.tables {
            let (name, embedder) = (printable(&table.collection), printable(&table.embedder));
            let MatrixTable { questions, version, .. } = table;
            let questions = counted(*questions, "question");
            writeln!(out, "## {name}: {questions}, version {version}, embedder {embedder}\n")?;
            write_rows(out, &table.rows)?;
            writeln!(out)?;
        }
        self.notes.iter().try_for_each(|note| writeln!(out, "Note: {}.", printable(note)))
    }
}

/// Writes the rows, with those columns that are not empty in all of them.
fn write_rows(out: &mut Formatter<'_>, rows: &[MatrixRow]) -> fmt::Result {
    let has_answers = rows.iter().any(|row| row.exact_match.is_some());
    let is_paid = rows.iter().any(|row| row.tokens > 0.0);
    let has_steps = rows.iter().any(|row| row.steps.is_some());
    let mean = |it: Option<Interval>| it.map_or_else(String::new, |it| format!("{:.1}", it.mean));
    let when = |is: bool, text: &str| if is { text.to_owned() } else { String::new() };
    let (answers, paid) = (when(has_answers, " EM | F1 |"), when(is_paid, " tokens | cost |"));
    let steps = when(has_steps, " steps |");
    writeln!(
        out,
        "| strategy | led by | R@2 | R@5 | all gold@5 | R@5 − first, 95 % |{answers} calls |{steps}{paid} ms p50 |"
    )?;
    let (answers, paid) = (when(has_answers, "--:|--:|"), when(is_paid, "--:|--:|"));
    writeln!(out, "|---|---|--:|--:|--:|--:|{answers}--:|{}{paid}--:|", when(has_steps, "--:|"))?;
    for row in rows {
        let answers = format!(" {} | {} |", mean(row.exact_match), mean(row.answer_f1));
        let paid = format!(" {:.0} | {} |", row.tokens, cost(row));
        writeln!(
            out,
            "| {} | {} | {:.1} | {:.1} | {:.1} | {} |{} {:.2} |{}{} {:.0} |",
            printable(&row.method),
            printable(&row.led_by),
            row.recall_at_2.mean,
            row.recall_at_5.mean,
            row.all_gold_at_5.mean,
            difference(row),
            when(has_answers, &answers),
            row.calls,
            when(has_steps, &format!(" {} |", steps_cell(row))),
            when(is_paid, &paid),
            row.time_ms_p50,
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::report::Facts;
    use crate::llm::scripted::Scripted;
    use crate::query::NoisePart;

    /// Returns a row.
    pub(super) fn row(method: &str, led_by: &str, calls: f64) -> MatrixRow {
        let share = Interval { mean: 50.0, low: 40.0, high: 60.0 };
        MatrixRow {
            method: method.to_owned(),
            led_by: led_by.to_owned(),
            recall_at_2: share,
            recall_at_5: share,
            all_gold_at_5: share,
            difference: None,
            exact_match: None,
            answer_f1: None,
            calls,
            steps: None,
            tokens: 0.0,
            cost: None,
            time_ms_p50: 1.0,
        }
    }

    /// Returns a table without rows.
    pub(super) fn table(collection: &str) -> MatrixTable {
        MatrixTable {
            collection: collection.to_owned(),
            questions: 2,
            version: IndexVersion(1),
            corpus_id: CorpusId::of(&[]),
            embedder: "none".to_owned(),
            rows: Vec::new(),
        }
    }

    fn run_of(led_by: &str, ended_early: Option<(u64, String)>) -> Run {
        let facts = Facts {
            strategy: "noise".to_owned(),
            version: IndexVersion(1),
            embedder: "none".to_owned(),
            corpus_id: CorpusId::of(&[]),
            corpus: crate::domain::Counts::default(),
            notes: Vec::new(),
        };
        Run { row: row("noise", led_by, 1.0), recalls: vec![1.0, 1.0], facts, ended_early }
    }

    #[test]
    fn a_row_is_compared_with_an_equal_and_where_its_model_was_asked_to_the_end() {
        let differs = |first: Run, own: Run| {
            let mut notes = Vec::new();
            let own = compared(own, Some(&first), &mut notes);
            (own.row.difference.is_some(), notes.join(" "))
        };
        let whole = |led_by| run_of(led_by, None);
        for (first, own) in
            [(NO_MODEL, "simulated:0.8"), (NO_MODEL, "live:m"), ("live:m", "live:m"), ("live:m", NO_MODEL)]
        {
            assert_eq!(differs(whole(first), whole(own)), (true, String::new()), "{first} {own}");
        }
        let pairs = [("simulated:0.8", "live:m"), ("simulated:0.8", "simulated:0.9"), ("live:m", "replayed:m")];
        for (first, own) in pairs {
            let (is_compared, note) = differs(whole(first), whole(own));
            assert!(!is_compared && note.contains("only equals"), "{first} {own}: {note}");
        }
        let early = || run_of("live:m", Some((3, "its time is used up".to_owned())));
        let (is_compared, note) = differs(whole(NO_MODEL), early());
        assert!(!is_compared && note.contains("for 3 questions") && note.contains("its time is used up"), "{note}");
        assert!(!differs(early(), whole(NO_MODEL)).0);
    }

    #[test]
    fn a_strategy_without_a_part_is_compared_with_the_whole_one_led_by_the_same() {
        let named = |method: &str, led_by| {
            let run = run_of(led_by, None);
            Run { row: row(method, led_by, 1.0), ..run }
        };
        let runs = [named("trail", NO_MODEL), named("noise", NO_MODEL), named("noise", "simulated:0.8")];
        let found = |method: &str, led_by| {
            let own = named(method, led_by);
            let whole = whole(&runs, &MatrixMethod::parse(method, None).unwrap(), &own)?;
            Some((whole.row.method.clone(), whole.row.led_by.clone()))
        };
        for led_by in [NO_MODEL, "simulated:0.8"] {
            assert_eq!(found("noise-filter", led_by), Some(("noise".to_owned(), led_by.to_owned())));
        }
        assert_eq!(found("noise-filter", "simulated:0.9"), None, "none is led by the same");
        assert_eq!(found("noise", NO_MODEL).or(found("trail+pick", "simulated:0.8")), None);
    }

    #[test]
    fn a_table_has_only_columns_that_are_not_empty() {
        let plain = MatrixReport {
            tables: vec![MatrixTable { rows: vec![row("a", NO_MODEL, 0.0)], ..table("c") }],
            notes: vec![],
        };
        let said = plain.to_string();
        assert!(!said.contains("EM") && !said.contains("cost") && !said.contains("steps"), "{said}");
        let cost = Some(Cost { amount: 0.5, currency: "EUR".to_owned() });
        let share = Some(Interval { mean: 25.0, low: 0.0, high: 50.0 });
        let row_of_model = MatrixRow { exact_match: share, answer_f1: share, ..row("b", "live:m", 2.0) };
        let paid = MatrixRow { tokens: 90.0, cost, steps: Some(1.5), ..row_of_model };
        let tables = vec![MatrixTable { rows: vec![row("a", NO_MODEL, 0.0), paid], ..table("c") }];
        let said = MatrixReport { tables, notes: vec![] }.to_string();
        assert!(
            said.contains("| b | live:m | 50.0 | 50.0 | 50.0 |  | 25.0 | 25.0 | 2.00 | 1.50 | 90 | 0.50000 EUR | 1 |"),
            "{said}"
        );
        let columns: Vec<usize> =
            said.lines().filter(|it| it.starts_with('|')).map(|it| it.matches('|').count()).collect();
        assert_eq!(columns, [14; 4], "{said}");
    }

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
    fn a_method_may_be_noise_without_one_of_its_parts() {
        assert_eq!(MatrixMethod::parse("noise", None).unwrap().search.noise_without, None);
        for part in NoisePart::ALL {
            let method = MatrixMethod::parse(&format!("noise-{}", part.name()), None).unwrap();
            assert_eq!(
                (method.search.strategy, method.search.noise_without),
                (crate::query::StrategyKind::Noise, Some(part))
            );
        }
        let refused = |name: &str| MatrixMethod::parse(name, None).expect_err(name).to_string();
        let known = "`judge` is not a valid part to leave out: `noise` has router, refiner, filter, ending";
        assert_eq!(refused("noise-judge"), known);
        let other = "`filter` is not a valid part to leave out: `dual` has no such part, only `noise` has";
        assert_eq!(refused("dual-filter"), other);
        assert!(refused("fastest-filter").contains("strategy") && refused("noise-").contains("router"));
        assert!(refused("noise-filter+pick").contains("itself decides"));
        assert!(refused("noise-filter-ending").contains("`filter-ending`"), "one part at a time");
    }

    #[test]
    fn each_method_is_led_by_nobody_and_by_all_who_stand_in_and_by_a_model() {
        let options = MatrixOptions { accuracies: vec![0.8, 0.9], ..MatrixOptions::default() };
        let led_where = |name: &str, calls_max, options: &MatrixOptions, has_answers| {
            let all = leaders(&MatrixMethod::parse(name, calls_max).unwrap(), options, has_answers);
            all.iter().map(Leader::label).collect::<Vec<_>>().join(" ")
        };
        let led = |name: &str, calls_max, options: &MatrixOptions| led_where(name, calls_max, options, false);
        assert_eq!(led("trail", None, &options), "no model");
        assert_eq!(led("noise", None, &options), "no model simulated:0.8 simulated:0.9");
        assert_eq!(led("trail+pick", None, &options), "simulated:0.8 simulated:0.9");
        assert_eq!(
            (led("auto", None, &options), led("auto", Some(9), &options)),
            ("no model".to_owned(), "no model simulated:0.8 simulated:0.9".to_owned())
        );
        assert_eq!(led("noise", None, &MatrixOptions::default()), "no model");
        let live = |is_replayed| {
            let model = std::sync::Arc::new(Scripted::new([]));
            MatrixOptions { live: Some(LiveModel { model, is_replayed }), ..MatrixOptions::default() }
        };
        assert_eq!(led("noise", None, &live(false)), "no model live:scripted");
        assert_eq!(led("noise", None, &live(true)), "no model replayed:scripted");
        assert_eq!(
            (led("trail", None, &live(false)), led_where("trail", None, &live(false), true)),
            ("no model".to_owned(), "no model live:scripted".to_owned())
        );
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
