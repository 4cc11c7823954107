//! Two runs over the same questions: how much better the second is, by paired bootstrap over the questions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};
use std::path::Path;

use serde::Serialize;
use serde::ser::Serializer;

use super::bootstrap::Interval;
use super::metrics::{QuestionScores, scores};
use super::questions::Question;
use super::report::{RunLine, percent};
use super::table::{counted, printable};
use crate::domain::{CorpusId, IndexVersion};
use crate::error::{Error, Result};
use crate::files;

/// Metrics that a table shows.
const SHOWN: [&str; 5] = ["recall@2", "recall@5", "recall@10", "all-gold@5", "ndcg@10"];

/// A run, as it was read from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Its name in a comparison.
    pub name: String,
    /// Its lines, one a question and none twice.
    pub lines: Vec<RunLine>,
}

/// Reads the run in the file at `path`. Empty lines are passed over.
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be read; [`Error::Line`] for the first line that is no line of a run, has the
/// question of an earlier one, or was made by another strategy or from another index than the first.
pub fn read_run(path: &Path) -> Result<Run> {
    let text = files::read_text(path)?;
    let refused = |line: usize, reason: String| Error::Line { path: path.to_owned(), line, reason };
    let mut lines: Vec<RunLine> = Vec::new();
    let mut seen = BTreeSet::new();
    for (text, number) in text.lines().zip(1..).filter(|(text, _)| !text.trim().is_empty()) {
        let line: RunLine = serde_json::from_str(text).map_err(|error| refused(number, error.to_string()))?;
        if !seen.insert(line.question_id.clone()) {
            return Err(refused(
                number,
                format!("the question `{}` was answered by an earlier line", line.question_id),
            ));
        }
        if lines.first().is_some_and(|first| Side::of("", first) != Side::of("", &line)) {
            return Err(refused(
                number,
                "made by another strategy or from another index than the first line".to_owned(),
            ));
        }
        lines.push(line);
    }
    if lines.is_empty() {
        return Err(refused(1, "the file holds no line of a run".to_owned()));
    }
    Ok(Run { name: path.display().to_string(), lines })
}

/// One of the two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Its name.
    pub name: String,
    /// The strategy that made its lists.
    pub strategy: String,
    /// The version of the index that was read.
    pub version: IndexVersion,
    /// The corpus that was read, where the run says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corpus_id: Option<CorpusId>,
    /// The embedder of the index, where the run says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedder: Option<String>,
}

impl Side {
    fn of(name: &str, line: &RunLine) -> Self {
        Self {
            name: name.to_owned(),
            strategy: line.strategy.clone(),
            version: line.version,
            corpus_id: line.corpus_id,
            embedder: line.embedder.clone(),
        }
    }
}

/// One metric of both runs, in percent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Difference {
    /// The mean of the first.
    pub first: f64,
    /// The mean of the second.
    pub second: f64,
    /// Second less first, question by question.
    pub difference: Interval,
    /// Questions for which the second is better.
    pub better: u64,
    /// Questions for which it is worse.
    pub worse: u64,
}

/// Metrics by name, in the order in which they are shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Differences(Vec<(String, Difference)>);

impl Differences {
    /// Returns the metric of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Difference> {
        self.0.iter().find(|(it, _)| it == name).map(|(_, difference)| *difference)
    }
}

impl Serialize for Differences {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, difference)| (name, difference)))
    }
}

/// How some questions fared.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ComparedQuestions {
    /// How many there are.
    pub questions: u64,
    /// Every metric.
    pub metrics: Differences,
}

/// How two runs compare.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The first run.
    pub first: Side,
    /// The second.
    pub second: Side,
    /// All questions.
    pub all: ComparedQuestions,
    /// By the number of documents to join, where the questions say it.
    pub by_hops: BTreeMap<u32, ComparedQuestions>,
    /// By the kind of question, where the questions say it.
    pub by_type: BTreeMap<String, ComparedQuestions>,
    /// Notes for the reader: the runs read different corpora, versions or vectors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Compares two runs over `questions`.
///
/// # Errors
///
/// [`Error::Question`] if one run has a question that the other or the file has not: such runs are not compared.
pub fn compare(first: &Run, second: &Run, questions: &[Question]) -> Result<Comparison> {
    let lists = [first, second].map(|run| {
        run.lines.iter().map(|line| (line.question_id.as_str(), line)).collect::<BTreeMap<&str, &RunLine>>()
    });
    let known: BTreeSet<&str> = questions.iter().map(|question| question.id.as_str()).collect();
    refuse_strangers(first, &second.name, |id| lists[1].contains_key(id))?;
    refuse_strangers(second, &first.name, |id| lists[0].contains_key(id))?;
    refuse_strangers(first, "the file of questions", |id| known.contains(id))?;

    let pairs: Vec<Pair<'_>> = questions
        .iter()
        .filter_map(|question| {
            let of = |list: &BTreeMap<&str, &RunLine>| {
                list.get(question.id.as_str()).map(|line| scores(&line.ranked, &question.supporting))
            };
            Some(Pair { question, first: of(&lists[0])?, second: of(&lists[1])? })
        })
        .collect();
    let side = |run: &Run| {
        let line = run.lines.first().ok_or_else(|| Error::Question { reason: format!("`{}` is empty", run.name) })?;
        Ok::<_, Error>(Side::of(&run.name, line))
    };
    let (first, second) = (side(first)?, side(second)?);
    let mut notes = notes(&first, &second);
    if pairs.len() < questions.len() {
        let left = counted((questions.len() - pairs.len()) as u64, "question");
        notes.push(format!("{left} of the file in neither run"));
    }
    Ok(Comparison {
        first,
        second,
        all: compared(&pairs.iter().collect::<Vec<_>>()),
        by_hops: grouped(&pairs, |question| question.hops),
        by_type: grouped(&pairs, |question| question.kind.clone()),
        notes,
    })
}

/// A question with the scores of both lists.
struct Pair<'a> {
    question: &'a Question,
    first: QuestionScores,
    second: QuestionScores,
}

fn refuse_strangers(run: &Run, other: &str, has: impl Fn(&str) -> bool) -> Result<()> {
    let mut strangers = run.lines.iter().map(|line| line.question_id.as_str()).filter(|id| !has(id));
    let Some(first) = strangers.next() else { return Ok(()) };
    let count = counted(strangers.count() as u64 + 1, "question");
    let reason = format!(
        "`{}` has {count} that {other} has not, such as `{first}`: runs over different questions are not compared",
        run.name
    );
    Err(Error::Question { reason })
}

fn notes(first: &Side, second: &Side) -> Vec<String> {
    let mut notes = Vec::new();
    match (first.corpus_id, second.corpus_id) {
        (Some(a), Some(b)) if a != b => notes.push(
            "the runs read different passages, of another corpus or cut otherwise: the difference is not one of \
             strategies alone"
                .to_owned(),
        ),
        (Some(_), Some(_)) => {}
        _ => notes.push("a run does not say which corpus it read".to_owned()),
    }
    if first.version != second.version {
        notes.push(format!("the runs read the versions {} and {} of an index", first.version, second.version));
    }
    if let (Some(a), Some(b)) = (&first.embedder, &second.embedder)
        && a != b
    {
        notes.push(format!("the indexes have the embedders `{a}` and `{b}`"));
    }
    notes
}

fn grouped<K: Ord>(pairs: &[Pair<'_>], key: impl Fn(&Question) -> Option<K>) -> BTreeMap<K, ComparedQuestions> {
    let mut groups: BTreeMap<K, Vec<&Pair<'_>>> = BTreeMap::new();
    for pair in pairs {
        if let Some(key) = key(pair.question) {
            groups.entry(key).or_default().push(pair);
        }
    }
    groups.into_iter().map(|(key, pairs)| (key, compared(&pairs))).collect()
}

fn compared(pairs: &[&Pair<'_>]) -> ComparedQuestions {
    let named = |scores: &QuestionScores| scores.named().map(|(_, value)| value).collect::<Vec<f64>>();
    let rows: Vec<(Vec<f64>, Vec<f64>)> = pairs.iter().map(|pair| (named(&pair.first), named(&pair.second))).collect();
    let metric = |(i, (name, _)): (usize, (String, f64))| {
        let change = |row: &(Vec<f64>, Vec<f64>)| row.1[i] - row.0[i];
        let count = |is: fn(f64) -> bool| rows.iter().filter(|row| is(change(row))).count() as u64;
        let difference = Difference {
            first: percent(rows.iter().map(|row| row.0[i])).mean,
            second: percent(rows.iter().map(|row| row.1[i])).mean,
            difference: percent(rows.iter().map(change)),
            better: count(|change| change > 0.0),
            worse: count(|change| change < 0.0),
        };
        (name, difference)
    };
    let metrics = QuestionScores::default().named().enumerate().map(metric).collect();
    ComparedQuestions { questions: pairs.len() as u64, metrics: Differences(metrics) }
}

/// As Markdown.
impl Display for Comparison {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (letter, side) in [("A", &self.first), ("B", &self.second)] {
            let embedder = side.embedder.as_deref().unwrap_or("unknown");
            let (name, strategy) = (printable(&side.name), printable(&side.strategy));
            writeln!(out, "{letter}: {name} ({strategy}, version {}, embedder {})", side.version, printable(embedder))?;
        }
        writeln!(out, "\n| questions | metric | A | B | B − A, 95 % | better | worse |")?;
        writeln!(out, "|---|---|--:|--:|--:|--:|--:|")?;
        write_rows(out, &format!("all, {}", self.all.questions), &self.all, &SHOWN)?;
        for (hops, group) in &self.by_hops {
            write_rows(out, &format!("hops {hops}, {}", group.questions), group, &SHOWN[..2])?;
        }
        for (kind, group) in &self.by_type {
            write_rows(out, &format!("type {}, {}", printable(kind), group.questions), group, &SHOWN[..2])?;
        }
        if !self.notes.is_empty() {
            writeln!(out)?;
        }
        self.notes.iter().try_for_each(|note| writeln!(out, "Note: {}.", printable(note)))
    }
}

fn write_rows(out: &mut Formatter<'_>, name: &str, group: &ComparedQuestions, shown: &[&str]) -> fmt::Result {
    for metric in shown {
        let it = group.metrics.get(metric).unwrap_or_default();
        let Interval { mean, low, high } = it.difference;
        writeln!(
            out,
            "| {name} | {metric} | {:.1} | {:.1} | {mean:+.1} ({low:+.1} to {high:+.1}) | {} | {} |",
            it.first, it.second, it.better, it.worse
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn question(id: &str) -> Question {
        Question {
            id: id.to_owned(),
            question: "Who?".to_owned(),
            supporting: vec!["a".to_owned()],
            passages: Vec::new(),
            kind: Some("bridge".to_owned()),
            hops: Some(2),
            answers: Vec::new(),
            weight: 1,
        }
    }

    fn run(name: &str, corpus: &[u8], lists: &[(&str, &str)]) -> Run {
        let line = |(id, first): &(&str, &str)| RunLine {
            question_id: (*id).to_owned(),
            strategy: "trail".to_owned(),
            version: IndexVersion(1),
            corpus_id: Some(CorpusId::of(&[corpus])),
            embedder: Some("none".to_owned()),
            ranked: vec![(*first).to_owned(), "a".to_owned()],
        };
        Run { name: name.to_owned(), lines: lists.iter().map(line).collect() }
    }

    #[test]
    fn a_run_that_finds_more_is_better_by_the_difference() {
        let questions = ["1", "2", "3", "4"].map(question);
        let first = run("a", b"x", &[("1", "a"), ("2", "z"), ("3", "z"), ("4", "z")]);
        let second = run("b", b"x", &[("4", "z"), ("2", "a"), ("3", "a"), ("1", "a")]);
        let comparison = compare(&first, &second, &questions).expect("the same questions");
        let recall = comparison.all.metrics.get("recall@1").expect("a metric");
        assert!((recall.first - 25.0).abs() < 1e-9 && (recall.second - 75.0).abs() < 1e-9, "{recall:?}");
        assert!((recall.difference.mean - 50.0).abs() < 1e-9, "{recall:?}");
        assert_eq!((recall.better, recall.worse), (2, 0));
        assert_eq!(comparison.notes, [""; 0]);
        assert!(comparison.to_string().contains("| hops 2, 4 | recall@5 | 100.0 | 100.0 | +0.0"), "{comparison}");
    }

    #[test]
    fn a_run_compared_with_itself_differs_by_nothing() {
        let questions = ["1", "2"].map(question);
        let run = run("a", b"x", &[("1", "a"), ("2", "z")]);
        let comparison = compare(&run, &run, &questions).expect("the same questions");
        for (name, _) in QuestionScores::default().named() {
            assert_eq!(comparison.all.metrics.get(&name).map(|it| it.difference), Some(Interval::default()), "{name}");
        }
    }

    #[test]
    fn runs_over_different_questions_are_refused() {
        let questions = ["1", "2"].map(question);
        let (both, one) = (run("a", b"x", &[("1", "a"), ("2", "a")]), run("b", b"x", &[("1", "a")]));
        for (first, second) in [(&both, &one), (&one, &both)] {
            let error = compare(first, second, &questions).expect_err("different questions").to_string();
            assert!(error.contains("not compared") && error.contains("`2`"), "{error}");
        }
        let strange = run("c", b"x", &[("7", "a")]);
        assert!(compare(&strange, &strange, &questions).is_err());
    }

    #[test]
    fn another_corpus_is_noted() {
        let questions = ["1", "2"].map(question);
        let comparison = compare(&run("a", b"x", &[("1", "a")]), &run("b", b"y", &[("1", "a")]), &questions);
        let notes = comparison.expect("the same questions").notes;
        assert!(notes[0].contains("different passages"), "{notes:?}");
        assert_eq!(notes[1], "1 question of the file in neither run");
    }

    #[test]
    fn a_file_that_is_not_a_run_is_refused_with_its_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.jsonl");
        let line = r#"{"question_id":"1","strategy":"s","version":1,"ranked":["a"]}"#;
        let other = line.replace("\"s\"", "\"t\"").replace("\"1\"", "\"2\"");
        for (text, expect) in [
            (format!("{line}\n\n{line}"), "line 3: the question `1`"),
            (format!("{line}\n{other}"), "line 2: made by another strategy"),
            ("{}".to_owned(), "line 1: missing field"),
            (String::new(), "line 1: the file holds no line"),
        ] {
            fs::write(&path, text).expect("a file");
            let error = read_run(&path).expect_err("no run").to_string();
            assert!(error.contains(expect), "{error}");
        }
        fs::write(&path, line).expect("a file");
        assert_eq!(read_run(&path).expect("a run").lines[0].corpus_id, None);
    }
}
