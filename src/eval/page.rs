//! A page of results: tables in Markdown and plots, from what the commands print with `--json`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::plot::{Chart, Series};

/// A result with what it is called, such as the name of its file.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedResult {
    /// What it is called.
    pub name: String,
    /// What a command printed.
    pub value: Value,
}

/// A page with its plots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The tables.
    pub markdown: String,
    /// The plots: file names and SVG documents.
    pub plots: Vec<(&'static str, String)>,
    /// Names of results that are none of the known ones.
    pub unknown: Vec<String>,
}

/// A table: its heading, its columns, and the rows for one result; none if the result is of another kind.
type Table = (&'static str, &'static str, fn(&NamedResult) -> Option<Vec<String>>);

const TABLES: [Table; 7] = [
    (
        "Retrieval",
        "results | strategy | embedder | questions | passages | R@2 | R@5 | R@10 | all gold@5 | nDCG@10 \
         | p50 ms | p99 ms | calls | tokens | cost",
        retrieval_row,
    ),
    (
        "Answers",
        "results | strategy | embedder | questions | EM | F1 | contained | guessed | EM of guesses \
         | calls | tokens | cost",
        answers_row,
    ),
    (
        "Methods",
        "results | method | model | questions | R@2 | R@5 | F1 | EM | F1 of answers | p50 s | calls | tokens | cost",
        live_rows,
    ),
    ("Weights", "results | weights | ranker | collection | R@2 | R@5 | R@10 | all gold@5", fit_rows),
    ("Rounds", "results | strategy | rounds | R@2 | R@4 | R@8 | R@12 | R@16 | R@20 | F1@20 | edges judged", sweep_rows),
    ("Comparisons", "results | A | B | R@2, B − A | R@5, B − A | better at 5 | worse at 5", comparison_row),
    (
        "Judgements",
        "results | A | B | judge | questions | A wins | B wins | ties | A of decided | words of A | words of B",
        judged_rows,
    ),
];

/// Returns the page of `results`, in their order.
#[must_use]
pub fn page(results: &[NamedResult]) -> Page {
    let mut page = Page { markdown: "# Results\n".to_owned(), ..Page::default() };
    let mut known = vec![false; results.len()];
    for (heading, columns, rows) in TABLES {
        let mut lines = Vec::new();
        for (result, known) in results.iter().zip(&mut known) {
            if let Some(rows) = rows(result) {
                *known = true;
                lines.extend(rows);
            }
        }
        if lines.is_empty() {
            continue;
        }
        let rule = columns.split('|').map(|_| "---").collect::<Vec<_>>().join("|");
        // Writing to a string cannot fail.
        let _ok = write!(page.markdown, "\n## {heading}\n\n| {columns} |\n|{rule}|\n{}\n", lines.join("\n"));
        if heading == "Retrieval" {
            page.plots = plots(results);
            for (name, _) in &page.plots {
                let _ok = write!(page.markdown, "\n![{}]({name})\n", name.trim_end_matches(".svg").replace('-', " "));
            }
        }
    }
    page.unknown = results.iter().zip(known).filter(|(_, known)| !known).map(|(it, _)| it.name.clone()).collect();
    page
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or("–")
}

fn count(value: &Value) -> String {
    value.as_u64().map_or_else(|| "–".to_owned(), |count| count.to_string())
}

fn decimal(value: &Value) -> String {
    value.as_f64().map_or_else(|| "–".to_owned(), |value| format!("{value:.1}"))
}

fn mean(value: &Value, metric: &str) -> String {
    decimal(&value[metric]["mean"])
}

fn joined(cells: &[String]) -> String {
    let clean = cells.iter().map(|cell| cell.replace('|', "\\|").replace(char::is_control, " "));
    format!("| {} |", clean.collect::<Vec<_>>().join(" | "))
}

fn is_retrieval(value: &Value) -> bool {
    value["metrics"].is_object() && value["time_ms"].is_object()
}

fn retrieval_row(result: &NamedResult) -> Option<Vec<String>> {
    let value = &result.value;
    let metrics = is_retrieval(value).then(|| &value["metrics"])?;
    let mut cells = facts(result);
    cells.extend([count(&value["questions"]), count(&value["corpus"]["passages"])]);
    cells.extend(["recall@2", "recall@5", "recall@10", "all-gold@5", "ndcg@10"].map(|name| mean(metrics, name)));
    cells.extend(["p50", "p99"].map(|name| decimal(&value["time_ms"][name])));
    cells.extend(spent(&value["work"]["spent"], &value["work"]["questions"]));
    Some(vec![joined(&cells)])
}

fn facts(result: &NamedResult) -> Vec<String> {
    let of = |field| text(&result.value, field).to_owned();
    vec![result.name.clone(), of("strategy"), of("embedder")]
}

fn answers_row(result: &NamedResult) -> Option<Vec<String>> {
    let value = &result.value;
    let all = value["by_form"].is_object().then(|| &value["all"])?;
    let guesses = &value["by_form"]["guess"];
    let mut cells = facts(result);
    cells.push(count(&all["questions"]));
    cells.extend(["exact_match", "f1", "contained"].map(|name| mean(all, name)));
    cells.extend([count(&guesses["questions"]), mean(guesses, "exact_match")]);
    cells.extend(spent(&value["work"]["spent"], &value["work"]["questions"]));
    Some(vec![joined(&cells)])
}

/// Returns a model's calls per question, including kept replies, their tokens, and their cost.
fn spent(spent: &Value, questions: &Value) -> [String; 3] {
    let questions = questions.as_f64().filter(|questions| *questions > 0.0);
    let each = |amount: Option<f64>, decimals: usize| Some(format!("{:.decimals$}", amount? / questions?));
    let sum = |a: &Value, b: &Value| Some(a.as_f64()? + b.as_f64()?);
    let calls = each(sum(&spent["calls"], &spent["cached"]), 2);
    let tokens = each(sum(&spent["usage"]["input_tokens"], &spent["usage"]["output_tokens"]), 0);
    let cost = each(spent["cost"]["amount"].as_f64(), 5).map(|it| format!("{it} {}", text(&spent["cost"], "currency")));
    [calls, tokens, cost].map(|cell| cell.unwrap_or_else(|| "–".to_owned()))
}

fn live_rows(result: &NamedResult) -> Option<Vec<String>> {
    let rows = result.value["rows"].as_array().filter(|_| result.value["spent_on_left"].is_object())?;
    let row = |row: &Value| {
        let mut cells = vec![result.name.clone(), text(row, "row").to_owned(), text(&result.value, "model").to_owned()];
        cells.push(count(&row["questions"]));
        let percents = ["recall_at_2", "recall_at_5", "retrieval_f1", "exact_match", "answer_f1"];
        cells.extend(percents.map(|name| decimal(&row[name])));
        cells.push(decimal(&row["time_ms_p50"].as_f64().map(|time| time / 1_000.0).into()));
        cells.extend(spent(&row["spent"], &row["questions"]));
        joined(&cells)
    };
    Some(rows.iter().map(row).collect())
}

fn fit_rows(result: &NamedResult) -> Option<Vec<String>> {
    let row = |measured: &Value| {
        let mut cells = vec![result.name.clone(), text(measured, "held").replace('_', " ")];
        cells.extend(["ranker", "collection"].map(|name| text(measured, name).to_owned()));
        let metrics = &measured["metrics"];
        cells.extend(["recall@2", "recall@5", "recall@10", "all-gold@5"].map(|name| mean(metrics, name)));
        joined(&cells)
    };
    Some(result.value["measured"].as_array()?.iter().map(row).collect())
}

fn sweep_rows(result: &NamedResult) -> Option<Vec<String>> {
    let row = |row: &Value| {
        let mut cells = vec![result.name.clone(), text(&result.value, "strategy").to_owned(), count(&row["n_hop"])];
        let columns = row["cells"].as_array().map_or(&[][..], Vec::as_slice);
        cells.extend(columns.iter().map(|cell| decimal(&cell["recall"])));
        cells.push(columns.last().map_or_else(|| "–".to_owned(), |cell| decimal(&cell["f1"])));
        cells.push(row["judged"].as_f64().map_or_else(|| "–".to_owned(), |judged| format!("{judged:.0}")));
        joined(&cells)
    };
    Some(result.value["sweep"].as_array()?.iter().map(row).collect())
}

/// Returns the overall verdicts on each pair of systems.
fn judged_rows(result: &NamedResult) -> Option<Vec<String>> {
    let row = |pair: &Value| {
        let mut cells = vec![result.name.clone()];
        cells.extend(["a", "b", "judge"].map(|name| text(pair, name).to_owned()));
        let overall = &pair["criteria"]["overall"];
        cells.push(format!("{} of {}", count(&pair["judged"]), count(&pair["questions"])));
        cells.extend(["a_wins", "b_wins", "ties"].map(|name| count(&overall[name])));
        let decided = &overall["a_of_decided"];
        let of = |field: &str| decided[field].as_f64().map(|it| format!("{it:.1}"));
        let share = || Some(format!("{} ({}–{})", of("mean")?, of("low")?, of("high")?));
        cells.push(share().unwrap_or_else(|| "–".to_owned()));
        cells.extend([0, 1].map(|side| decimal(&pair["words"][side])));
        joined(&cells)
    };
    Some(result.value["pairs"].as_array()?.iter().map(row).collect())
}

fn comparison_row(result: &NamedResult) -> Option<Vec<String>> {
    let value = &result.value;
    let metrics = value["first"].is_object().then(|| &value["all"]["metrics"])?;
    let side = |name: &str| format!("{} ({})", text(&value[name], "name"), text(&value[name], "strategy"));
    let change = |metric: &str| {
        let it = &metrics[metric]["difference"];
        let of = |field: &str| it[field].as_f64().unwrap_or_default();
        format!("{:+.1} ({:+.1} to {:+.1})", of("mean"), of("low"), of("high"))
    };
    let at_5 = |field: &str| count(&metrics["recall@5"][field]);
    let cells = [
        result.name.clone(),
        side("first"),
        side("second"),
        change("recall@2"),
        change("recall@5"),
        at_5("better"),
        at_5("worse"),
    ];
    Some(vec![joined(&cells)])
}

fn plots(results: &[NamedResult]) -> Vec<(&'static str, String)> {
    let retrieval: Vec<&NamedResult> = results.iter().filter(|result| is_retrieval(&result.value)).collect();
    let by_hops = Chart {
        title: "Recall at 5 by the number of documents to join".to_owned(),
        across: "documents to join".to_owned(),
        up: "percent".to_owned(),
        logarithmic: false,
        top: Some(100.0),
        series: retrieval.iter().filter_map(|result| hops_series(result)).collect(),
    };
    let by_size = Chart {
        title: "Time of a question by the size of the index".to_owned(),
        across: "passages".to_owned(),
        up: "ms".to_owned(),
        logarithmic: true,
        top: None,
        series: size_series(&retrieval),
    };
    let charts = [("recall-by-hops.svg", by_hops), ("cost-by-size.svg", by_size)];
    charts.into_iter().filter(|(_, it)| !it.series.is_empty()).map(|(name, chart)| (name, chart.svg())).collect()
}

fn hops_series(result: &NamedResult) -> Option<Series> {
    let hops = result.value["by_hops"].as_object()?;
    let point = |(hops, group): (&String, &Value)| Some((hops.parse().ok()?, group["recall@5"]["mean"].as_f64()?));
    let mut points: Vec<(f64, f64)> = hops.iter().filter_map(point).collect();
    points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    (!points.is_empty()).then(|| Series { name: result.name.clone(), points })
}

/// Returns the median and the 99th percentile of each strategy and embedder.
fn size_series(results: &[&NamedResult]) -> Vec<Series> {
    let mut series: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for result in results {
        let value = &result.value;
        let Some(passages) = value["corpus"]["passages"].as_f64() else { continue };
        for name in ["p50", "p99"] {
            if let Some(time) = value["time_ms"][name].as_f64() {
                let key = format!("{}, {}, {name}", text(value, "strategy"), text(value, "embedder"));
                series.entry(key).or_default().push((passages, time));
            }
        }
    }
    let sorted = |(name, mut points): (String, Vec<(f64, f64)>)| {
        points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        Series { name, points }
    };
    series.into_iter().map(sorted).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_page_has_a_table_for_each_kind_of_result_and_names_the_rest() {
        let interval = json!({ "mean": 50.0, "low": 40.0, "high": 60.0 });
        let retrieval = json!({
            "strategy": "trail", "embedder": "none", "questions": 3, "corpus": { "passages": 100 },
            "metrics": { "recall@2": interval, "recall@5": interval }, "time_ms": { "p50": 1.5, "p99": 3.0 },
            "by_hops": { "2": { "recall@5": interval }, "4": { "recall@5": interval } },
            "work": {
                "questions": 3,
                "spent": { "calls": 5, "cached": 1, "usage": { "input_tokens": 290, "output_tokens": 10 } },
            },
        });
        let live = json!({ "model": "m", "spent_on_left": {}, "rows": [{
            "row": "trail-pick", "questions": 2, "recall_at_2": 50.0, "recall_at_5": 75.0, "retrieval_f1": 20.0,
            "exact_match": 50.0, "answer_f1": 60.0, "time_ms_p50": 1_500.0,
            "spent": { "calls": 4, "cached": 0, "usage": { "input_tokens": 190, "output_tokens": 10 },
                "cost": { "amount": 0.5, "currency": "EUR" } },
        }] });
        let sweep =
            json!({ "strategy": "hop", "sweep": [{ "n_hop": 1, "judged": 7.0, "cells": [{ "recall": 9.5 }] }] });
        let judged = json!({ "pairs": [{
            "a": "hirag", "b": "naive", "judge": "j", "questions": 3, "judged": 2, "words": [20.5, 10.0],
            "criteria": { "overall": { "a_wins": 1, "b_wins": 0, "ties": 1, "a_of_decided": interval } },
        }] });
        let results = [
            NamedResult { name: "j".to_owned(), value: judged },
            NamedResult { name: "a|b".to_owned(), value: retrieval },
            NamedResult { name: "s".to_owned(), value: sweep },
            NamedResult { name: "l".to_owned(), value: live },
            NamedResult { name: "other".to_owned(), value: json!({}) },
        ];
        let page = page(&results);
        assert!(page.markdown.contains("| a\\|b | trail | none | 3 | 100 | 50.0 | 50.0 | – |"), "{}", page.markdown);
        assert!(page.markdown.contains("| 3.0 | 2.00 | 100 | – |"), "{}", page.markdown);
        let methods = "| l | trail-pick | m | 2 | 50.0 | 75.0 | 20.0 | 50.0 | 60.0 | 1.5 | 2.00 | 100 | 0.25000 EUR |";
        assert!(page.markdown.contains(methods), "{}", page.markdown);
        let judgements = "| j | hirag | naive | j | 2 of 3 | 1 | 0 | 1 | 50.0 (40.0–60.0) | 20.5 | 10.0 |";
        assert!(page.markdown.contains(judgements), "{}", page.markdown);
        assert!(page.markdown.contains("## Rounds") && !page.markdown.contains("## Answers"), "{}", page.markdown);
        assert_eq!(page.unknown, ["other"]);
        assert_eq!(page.plots.iter().map(|it| it.0).collect::<Vec<_>>(), ["recall-by-hops.svg", "cost-by-size.svg"]);
    }
}
