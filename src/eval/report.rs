//! The scores of a run: means with intervals, in percent, in total and by kind of question, and times. `table` renders
//! them for people.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

use super::bootstrap::{Interval, interval, percentile};
use super::metrics::{QuestionScores, scores};
use super::questions::Question;
use super::work::WorkReport;
use crate::domain::{CorpusId, Counts, IndexVersion};
use crate::error::Result;
use crate::query::{QueryEngine, SearchOptions};

/// The seed of all intervals: a report depends only on its lists.
pub(super) const SEED: u64 = 1;

/// The position of depth 5, which breakdowns use, in [`super::DEPTHS`].
const SLOT_OF_5: usize = 2;

/// One question with the list that was found for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored<'a> {
    /// The question.
    pub question: &'a Question,
    /// The source ids that were found, best first.
    pub ranked: Vec<String>,
    /// How long finding them took, in milliseconds.
    pub time_ms: f64,
}

impl Scored<'_> {
    /// Returns the line of a run file for this question.
    #[must_use]
    pub fn line(&self, facts: &Facts) -> RunLine {
        RunLine {
            question_id: self.question.id.clone(),
            strategy: facts.strategy.clone(),
            version: facts.version,
            corpus_id: Some(facts.corpus_id),
            embedder: Some(facts.embedder.clone()),
            ranked: self.ranked.clone(),
        }
    }
}

/// One line of a run file, to be scored by any program. It holds no time: equal runs are equal files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunLine {
    /// The id of the question.
    pub question_id: String,
    /// The strategy that made the list.
    pub strategy: String,
    /// The version of the index that was read.
    pub version: IndexVersion,
    /// The corpus that was read; unknown where another program wrote the line.
    #[serde(default)]
    pub corpus_id: Option<CorpusId>,
    /// The embedder of the index; unknown where another program wrote the line.
    #[serde(default)]
    pub embedder: Option<String>,
    /// Source ids of documents, best first, none twice.
    pub ranked: Vec<String>,
}

/// What was scored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Facts {
    /// The strategy that made the lists.
    pub strategy: String,
    /// The version of the index that was read.
    pub version: IndexVersion,
    /// The embedder of the index.
    pub embedder: String,
    /// The corpus that was read: equal for equal passages.
    pub corpus_id: CorpusId,
    /// How much the index holds.
    pub corpus: Counts,
    /// What the reader should know: supporting ids that the index does not hold, a part that was left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Facts {
    /// Returns what is known before the first question.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses what was read and nothing else.
    pub async fn of(engine: &QueryEngine, options: &SearchOptions) -> Result<Self> {
        Ok(Self {
            strategy: engine.resolved(options.strategy).to_string(),
            version: engine.version(),
            embedder: engine.embedder().to_owned(),
            corpus_id: engine.corpus().await?,
            corpus: engine.counts(),
            notes: Vec::new(),
        })
    }
}

/// Every metric by its name, such as `recall@5`, `all-gold@5`, `f1@5`, `mrr`, `ndcg@10`; in percent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metrics(Vec<(String, Interval)>);

impl Metrics {
    /// Returns the metric of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Interval> {
        self.iter().find(|(it, _)| *it == name).map(|(_, interval)| interval)
    }

    /// Iterates in the order in which they are shown.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Interval)> {
        self.0.iter().map(|(name, interval)| (name.as_str(), *interval))
    }
}

impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// How the questions of one kind fared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Breakdown {
    /// How many there are.
    pub questions: u64,
    /// Recall at 5, in percent.
    #[serde(rename = "recall@5")]
    pub recall_at_5: Interval,
}

/// Time per question, in milliseconds; each is the time that the share of the questions did not exceed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct TimePerQuestion {
    /// The half.
    pub p50: f64,
    /// 95 %.
    pub p95: f64,
    /// 99 %.
    pub p99: f64,
}

/// What a run of questions scored.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RetrievalReport {
    /// What was scored.
    #[serde(flatten)]
    pub facts: Facts,
    /// How many questions were asked.
    pub questions: u64,
    /// The metrics over all questions.
    pub metrics: Metrics,
    /// By the number of documents to join, where the questions say it.
    pub by_hops: BTreeMap<u32, Breakdown>,
    /// By the kind of question, where the questions say it.
    pub by_type: BTreeMap<String, Breakdown>,
    /// Time per question.
    pub time_ms: TimePerQuestion,
    /// What a language model came to, where one was asked, all questions together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<WorkReport>,
}

/// Returns what `lines`, one a question, scored. Without a line every number is 0.
///
/// # Complexity
///
/// O(lines) time, with 1,000 resamples for each of the metrics and breakdowns.
#[must_use]
pub fn score(lines: &[Scored<'_>], facts: Facts) -> RetrievalReport {
    let all: Vec<QuestionScores> = lines.iter().map(|line| scores(&line.ranked, &line.question.supporting)).collect();
    let mut hops: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let mut types: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (line, scores) in lines.iter().zip(&all) {
        let recall = scores.recall[SLOT_OF_5];
        if let Some(count) = line.question.hops {
            hops.entry(count).or_default().push(recall);
        }
        if let Some(kind) = &line.question.kind {
            types.entry(kind.clone()).or_default().push(recall);
        }
    }
    RetrievalReport {
        facts,
        questions: lines.len() as u64,
        metrics: metrics(&all),
        by_hops: breakdown(hops),
        by_type: breakdown(types),
        time_ms: time_per_question(lines.iter().map(|line| line.time_ms)),
        work: None,
    }
}

fn metrics(all: &[QuestionScores]) -> Metrics {
    let mut columns: Vec<(String, Vec<f64>)> =
        QuestionScores::default().named().map(|(name, _)| (name, Vec::with_capacity(all.len()))).collect();
    for scores in all {
        for ((_, column), (_, value)) in columns.iter_mut().zip(scores.named()) {
            column.push(value);
        }
    }
    Metrics(columns.into_iter().map(|(name, column)| (name, percent(column))).collect())
}

fn breakdown<K: Ord>(groups: BTreeMap<K, Vec<f64>>) -> BTreeMap<K, Breakdown> {
    let row = |values: Vec<f64>| Breakdown { questions: values.len() as u64, recall_at_5: percent(values) };
    groups.into_iter().map(|(key, values)| (key, row(values))).collect()
}

pub(super) fn percent(values: impl IntoIterator<Item = f64>) -> Interval {
    let values: Vec<f64> = values.into_iter().collect();
    interval(&values, SEED).scaled(100.0)
}

pub(super) fn time_per_question(times: impl IntoIterator<Item = f64>) -> TimePerQuestion {
    let mut times: Vec<f64> = times.into_iter().collect();
    times.sort_unstable_by(f64::total_cmp);
    TimePerQuestion { p50: percentile(&times, 500), p95: percentile(&times, 950), p99: percentile(&times, 990) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(id: &str, supporting: &[&str], kind: Option<&str>, hops: Option<u32>) -> Question {
        Question {
            id: id.to_owned(),
            question: "Who?".to_owned(),
            supporting: supporting.iter().map(ToString::to_string).collect(),
            passages: Vec::new(),
            kind: kind.map(ToOwned::to_owned),
            hops,
            answers: Vec::new(),
            weight: 1,
        }
    }

    fn facts() -> Facts {
        Facts {
            strategy: "trail".to_owned(),
            version: IndexVersion(1),
            embedder: "none".to_owned(),
            corpus_id: CorpusId::of(&[b"a"]),
            corpus: Counts::default(),
            notes: Vec::new(),
        }
    }

    fn close(actual: Option<Interval>, mean: f64) -> bool {
        actual.is_some_and(|it| (it.mean - mean).abs() < 1e-9)
    }

    #[test]
    fn a_report_has_the_means_over_all_questions_and_by_kind() {
        let questions = [
            question("1", &["a", "b"], Some("bridge"), Some(2)),
            question("2", &["a"], Some("bridge"), Some(1)),
            question("3", &["c", "d"], None, Some(2)),
        ];
        let lists = [["a", "x", "b"], ["x", "a", "y"], ["x", "y", "z"]];
        let lines: Vec<Scored<'_>> = questions
            .iter()
            .zip(lists)
            .zip([3.0, 1.0, 2.0])
            .map(|((question, list), time_ms)| Scored { question, ranked: list.map(String::from).to_vec(), time_ms })
            .collect();
        let report = score(&lines, facts());

        assert_eq!(report.questions, 3);
        assert!(close(report.metrics.get("recall@1"), 100.0 * 0.5 / 3.0));
        assert!(close(report.metrics.get("recall@5"), 100.0 * 2.0 / 3.0));
        assert!(close(report.metrics.get("all-gold@2"), 100.0 / 3.0));
        assert!(close(report.metrics.get("f1@5"), 100.0 * (0.8 + 0.5) / 3.0));
        assert!(close(report.metrics.get("mrr"), 100.0 * 1.5 / 3.0));
        assert_eq!(report.metrics.iter().count(), 22);
        assert_eq!(report.by_hops.get(&2).map(|it| (it.questions, it.recall_at_5.mean)), Some((2, 50.0)));
        assert_eq!(report.by_type.get("bridge").map(|it| (it.questions, it.recall_at_5.mean)), Some((2, 100.0)));
        assert_eq!(report.by_type.len(), 1);
        assert_eq!(report.time_ms, TimePerQuestion { p50: 2.0, p95: 3.0, p99: 3.0 });
    }

    #[test]
    fn a_report_of_nothing_is_all_zeros() {
        let report = score(&[], facts());
        assert!(report.metrics.iter().all(|(_, it)| it == Interval::default()));
        assert_eq!(report.time_ms, TimePerQuestion::default());
        assert!(report.by_hops.is_empty() && report.by_type.is_empty());
    }

    #[test]
    fn a_report_is_one_object_with_metrics_under_their_names() {
        let question = question("1", &["a"], Some("bridge"), Some(2));
        let lines = [Scored { question: &question, ranked: vec!["a".to_owned()], time_ms: 1.5 }];
        let json = serde_json::to_value(score(&lines, facts())).unwrap_or_default();
        assert_eq!(json["strategy"], "trail");
        assert_eq!(json["metrics"]["recall@5"]["mean"], 100.0);
        assert_eq!(json["by_hops"]["2"]["recall@5"]["low"], 100.0);
        assert_eq!(json["time_ms"]["p95"], 1.5);
        assert_eq!(json.get("notes"), None);
        let line = serde_json::to_string(&lines[0].line(&facts())).unwrap_or_default();
        let corpus = CorpusId::of(&[b"a"]);
        let expect = format!(
            "{{\"question_id\":\"1\",\"strategy\":\"trail\",\"version\":1,\"corpus_id\":\"{corpus}\",\
             \"embedder\":\"none\",\"ranked\":[\"a\"]}}"
        );
        assert_eq!(line, expect);
    }
}
