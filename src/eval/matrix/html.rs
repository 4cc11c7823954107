//! A matrix as one self-contained HTML page: tables, and plots of recall against calls. It runs no script and loads
//! nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{MatrixReport, MatrixRow, MatrixTable, NO_MODEL, difference};
use crate::eval::bootstrap::Interval;
use crate::eval::plot::{Chart, Series, escaped};
use crate::eval::table::counted;

const PAGE: &str = include_str!("page.html");
/// The placeholder in the template.
const CONTENT: &str = "{{content}}";
const PROGRAM: &str = "{{program}}";
const COLUMNS: [&str; 13] = [
    "strategy",
    "led by",
    "R@2",
    "R@5",
    "all gold@5",
    "R@5 − first, 95 %",
    "EM",
    "F1",
    "calls",
    "steps",
    "tokens",
    "cost",
    "ms p50",
];

impl MatrixReport {
    /// Returns the page. All names are escaped.
    #[must_use]
    pub fn html(&self) -> String {
        let mut content = String::new();
        for table in &self.tables {
            // Writing to a string cannot fail.
            let _ok = write_table(&mut content, table);
        }
        for note in &self.notes {
            let _ok = writeln!(content, "<p class=\"note\">Note: {}.</p>", escaped(note));
        }
        PAGE.replacen(PROGRAM, env!("CARGO_PKG_VERSION"), 1).replacen(CONTENT, &content, 1)
    }
}

fn write_table(out: &mut String, table: &MatrixTable) -> std::fmt::Result {
    let MatrixTable { collection, questions, version, embedder, .. } = table;
    writeln!(out, "<section>\n<h2>{}</h2>", escaped(collection))?;
    writeln!(out, "<p>{}, version {version}, embedder {}</p>", counted(*questions, "question"), escaped(embedder))?;
    out.push_str("<table>\n<thead><tr>");
    for column in COLUMNS {
        write!(out, "<th scope=\"col\">{column}</th>")?;
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        write!(out, "<tr><th scope=\"row\">{}</th>", escaped(&row.method))?;
        for cell in cells(row) {
            write!(out, "<td>{}</td>", escaped(&cell))?;
        }
        out.push_str("</tr>\n");
    }
    writeln!(out, "</tbody>\n</table>\n<figure>\n{}</figure>\n</section>", chart(table).svg())
}

/// Returns the cells of a row that follow the method.
fn cells(row: &MatrixRow) -> [String; 12] {
    let share = |it: Interval| format!("{:.1} ({:.1} to {:.1})", it.mean, it.low, it.high);
    [
        row.led_by.clone(),
        share(row.recall_at_2),
        share(row.recall_at_5),
        share(row.all_gold_at_5),
        difference(row),
        row.exact_match.map_or_else(String::new, share),
        row.answer_f1.map_or_else(String::new, share),
        format!("{:.2}", row.calls),
        super::steps_cell(row),
        format!("{:.0}", row.tokens),
        super::cost(row),
        format!("{:.0}", row.time_ms_p50),
    ]
}

/// Returns recall at 5 against calls: one line for each method and kind of leader, so that simulated and real models
/// are never on one line.
fn chart(table: &MatrixTable) -> Chart {
    let mut lines: BTreeMap<(usize, String), Vec<(f64, f64)>> = BTreeMap::new();
    let mut methods: Vec<&str> = Vec::new();
    for row in &table.rows {
        let place = methods.iter().position(|method| *method == row.method).unwrap_or_else(|| {
            methods.push(&row.method);
            methods.len() - 1
        });
        let kind = row.led_by.split(':').next().unwrap_or(NO_MODEL);
        let name = format!("{}, {kind}", row.method);
        lines.entry((place, name)).or_default().push((row.calls, row.recall_at_5.mean));
    }
    let sorted = |((_, name), mut points): ((usize, String), Vec<(f64, f64)>)| {
        points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        Series { name, points }
    };
    Chart {
        title: "Recall at 5 against calls".to_owned(),
        across: "calls per question".to_owned(),
        up: "percent".to_owned(),
        logarithmic: false,
        top: Some(100.0),
        series: lines.into_iter().map(sorted).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{row, table};
    use super::*;

    #[test]
    fn a_page_is_whole_escaped_and_has_a_plot_for_each_collection() {
        let rows = vec![
            row("trail", NO_MODEL, 0.0),
            row("noise", "simulated:0.9", 3.0),
            row("noise", "live:m", 2.0),
            row("noise-filter", "simulated:0.9", 1.5),
        ];
        let hostile = MatrixTable { rows, ..table("<script>alert(1)</script>\u{1b}{{content}}") };
        let notes = vec!["a & b".to_owned()];
        let report = MatrixReport { tables: vec![hostile, table("b")], notes };
        let html = report.html();
        assert!(html.starts_with("<!doctype html>") && html.trim_end().ends_with("</html>"), "{html}");
        assert!(!html.contains("<script") && !html.contains('\u{1b}'), "{html}");
        assert!(html.contains("&lt;script&gt;alert(1)") && html.contains("Note: a &amp; b."), "{html}");
        assert_eq!((html.matches("<svg").count(), html.matches("{{content}}").count()), (2, 1));
        assert!(html.contains("noise, simulated") && html.contains("noise, live"), "{html}");
        assert!(html.contains("noise-filter, simulated") && report.to_string().contains("| noise-filter |"), "{html}");
        assert!(
            html.contains("default-src 'none'") && !html.contains("<link") && !html.contains("src=\"http"),
            "{html}"
        );
    }

    #[test]
    fn points_of_a_real_model_are_on_no_line_of_a_simulated_one() {
        let rows =
            vec![row("noise", "simulated:0.9", 3.0), row("noise", "simulated:0.8", 2.0), row("noise", "live:m", 2.5)];
        let chart = chart(&MatrixTable { rows, ..table("a") });
        let lines: Vec<(&str, usize)> = chart.series.iter().map(|it| (it.name.as_str(), it.points.len())).collect();
        assert_eq!(lines, [("noise, live", 1), ("noise, simulated", 2)]);
        assert!(chart.series[1].points.is_sorted_by(|a, b| a.0 < b.0));
    }
}
