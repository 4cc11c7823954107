//! A report as plain text for a terminal of 80 columns.

use std::fmt::{self, Display, Formatter, Write};

use super::bootstrap::Interval;
use super::metrics::DEPTHS;
use super::report::{Breakdown, RetrievalReport};

/// Width of a mean with its interval and the space after it, in columns.
pub(super) const CELL_COLUMNS: usize = 22;

/// Width of the labels before the cells, in columns.
pub(super) const LABEL_COLUMNS: usize = 10;

impl RetrievalReport {
    /// Returns the report as lines of plain text, the last one ended.
    #[must_use]
    pub fn table(&self) -> String {
        self.to_string()
    }

    fn write_depths(&self, out: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{:<LABEL_COLUMNS$}{:<CELL_COLUMNS$}{:<CELL_COLUMNS$}retrieval F1",
            "first k", "recall", "all gold"
        )?;
        for depth in DEPTHS {
            let cells = ["recall", "all-gold", "f1"].map(|name| self.metrics.get(&format!("{name}@{depth}")));
            write_row(out, &depth, &cells)?;
        }
        Ok(())
    }
}

impl Display for RetrievalReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let corpus = &self.facts.corpus;
        writeln!(
            out,
            "{} · {} · {}, {} · version {}",
            printable(&self.facts.strategy),
            counted(self.questions, "question"),
            counted(corpus.documents, "document"),
            counted(corpus.passages, "passage"),
            self.facts.version
        )?;
        writeln!(out, "percent, with 95 % intervals over the questions\n")?;
        self.write_depths(out)?;
        writeln!(out)?;
        for (label, name) in [("MRR", "mrr"), ("nDCG@10", "ndcg@10")] {
            write_row(out, &label, &[self.metrics.get(name)])?;
        }
        write_groups(out, "hops", self.by_hops.iter())?;
        write_groups(out, "type", self.by_type.iter())?;
        let time = &self.time_ms;
        writeln!(out, "\ntime per question: p50 {:.1} ms, p95 {:.1} ms, p99 {:.1} ms", time.p50, time.p95, time.p99)?;
        if let Some(work) = &self.work {
            write!(out, "{work}")?;
        }
        for note in &self.facts.notes {
            writeln!(out, "note: {}", printable(note))?;
        }
        Ok(())
    }
}

pub(super) fn write_row(out: &mut Formatter<'_>, label: &dyn Display, cells: &[Option<Interval>]) -> fmt::Result {
    let mut row = format!("{:<LABEL_COLUMNS$}", label.to_string());
    for cell in cells {
        write!(row, "{:<CELL_COLUMNS$}", cell.map(shown).unwrap_or_default())?;
    }
    writeln!(out, "{}", row.trim_end())
}

fn write_groups<'a, K: Display + 'a>(
    out: &mut Formatter<'_>,
    by: &str,
    groups: impl ExactSizeIterator<Item = (K, &'a Breakdown)>,
) -> fmt::Result {
    if groups.len() == 0 {
        return Ok(());
    }
    writeln!(out, "\nrecall@5 by {by}")?;
    for (key, group) in groups {
        let recall = shown(group.recall_at_5);
        let count = counted(group.questions, "question");
        writeln!(out, "{recall:<CELL_COLUMNS$}{}, {count}", printable(&key.to_string()))?;
    }
    Ok(())
}

pub(super) fn shown(interval: Interval) -> String {
    format!("{:.1} ({:.1}–{:.1})", interval.mean, interval.low, interval.high)
}

pub(super) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Names may come from other people's files: control characters in them must not reach the terminal.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(|it| if it.is_control() { char::REPLACEMENT_CHARACTER } else { it }).collect()
}

#[cfg(test)]
mod tests {
    use crate::domain::{CorpusId, Counts, IndexVersion};
    use crate::eval::{Facts, Question, Scored, score};

    #[test]
    fn a_table_shows_every_figure_and_no_control_character() {
        let question = Question {
            id: "1".to_owned(),
            question: "Who?".to_owned(),
            supporting: vec!["a".to_owned(), "b".to_owned()],
            passages: Vec::new(),
            kind: Some("bridge\u{1b}[31m".to_owned()),
            hops: Some(2),
            answers: Vec::new(),
            weight: 1,
        };
        let ranked = vec!["a".to_owned(), "x".to_owned(), "b".to_owned()];
        let lines = [Scored { question: &question, ranked, time_ms: 2.25 }];
        let facts = Facts {
            strategy: "trail".to_owned(),
            version: IndexVersion(3),
            embedder: "none".to_owned(),
            corpus_id: CorpusId::of(&[b"a"]),
            corpus: Counts { documents: 3, passages: 4, ..Counts::default() },
            notes: vec!["1 supporting id is not in the index".to_owned()],
        };
        let expect = "\
trail · 1 question · 3 documents, 4 passages · version 3
percent, with 95 % intervals over the questions

first k   recall                all gold              retrieval F1
1         50.0 (50.0–50.0)      0.0 (0.0–0.0)         66.7 (66.7–66.7)
2         50.0 (50.0–50.0)      0.0 (0.0–0.0)         50.0 (50.0–50.0)
5         100.0 (100.0–100.0)   100.0 (100.0–100.0)   80.0 (80.0–80.0)
10        100.0 (100.0–100.0)   100.0 (100.0–100.0)   80.0 (80.0–80.0)
20        100.0 (100.0–100.0)   100.0 (100.0–100.0)   80.0 (80.0–80.0)

MRR       100.0 (100.0–100.0)
nDCG@10   92.0 (92.0–92.0)

recall@5 by hops
100.0 (100.0–100.0)   2, 1 question

recall@5 by type
100.0 (100.0–100.0)   bridge\u{fffd}[31m, 1 question

time per question: p50 2.2 ms, p95 2.2 ms, p99 2.2 ms
note: 1 supporting id is not in the index
";
        assert_eq!(score(&lines, facts).table(), expect);
    }
}
