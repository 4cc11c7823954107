//! Verdicts on pairs of answers, one line per order: in our form, and as `HiRAG` published them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::files;
use crate::skill::Criterion;

/// What stands for a winner where neither answer is better.
pub const TIE: &str = "tie";

/// What a judge said of one pair, shown in one order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictLine {
    /// The id of the question.
    pub question_id: String,
    /// The first system.
    pub a: String,
    /// The second.
    pub b: String,
    /// Whether the judge saw the answer of `a` before that of `b`.
    #[serde(alias = "hirag_shown_first")]
    pub a_shown_first: bool,
    /// `a`, `b` or `tie` by each criterion.
    pub winner: BTreeMap<Criterion, String>,
    /// Why, in the words of the judge.
    #[serde(default)]
    pub explanation: BTreeMap<Criterion, String>,
    /// Who judged.
    pub judge: String,
    /// A digest of question, answers and order: what has changed is judged again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
}

/// What identifies a verdict: the question, the systems, the judge, and which was shown first.
type Place = (String, String, String, String, bool);

impl VerdictLine {
    fn place(&self) -> Place {
        let Self { question_id, a, b, judge, a_shown_first, .. } = self.clone();
        (a, b, judge, question_id, a_shown_first)
    }

    fn check(&self) -> Result<(), String> {
        if self.a == self.b || [&self.a, &self.b].iter().any(|name| name.eq_ignore_ascii_case(TIE)) {
            return Err(format!("`{}` and `{}` are not two systems", self.a, self.b));
        }
        for criterion in Criterion::ALL {
            match self.winner.get(&criterion) {
                Some(winner) if [&self.a, &self.b].contains(&winner) || winner == TIE => {}
                Some(winner) => return Err(format!("the winner by {} is `{winner}`", criterion.name())),
                None => return Err(format!("there is no winner by {}", criterion.name())),
            }
        }
        Ok(())
    }
}

/// Reads verdicts from the file at `path`. Empty lines and unknown fields are passed over; of a pair that was judged
/// again because it had changed, the last verdict counts.
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be read; [`Error::Line`] for a line that is no verdict, names another winner than
/// its systems or a tie, or judges what an earlier line has judged, and if there is no verdict.
pub fn read_verdicts(path: &Path) -> Result<Vec<VerdictLine>> {
    let lines = parsed(path, &files::read_text(path)?)?;
    if lines.is_empty() {
        let reason = "the file has no verdict".to_owned();
        return Err(Error::Line { path: path.to_owned(), line: 1, reason });
    }
    Ok(lines.into_values().collect())
}

fn parsed(path: &Path, text: &str) -> Result<BTreeMap<Place, VerdictLine>> {
    let refused = |line: usize, reason: String| Error::Line { path: path.to_owned(), line, reason };
    let mut lines: BTreeMap<Place, VerdictLine> = BTreeMap::new();
    for (text, number) in text.lines().zip(1..).filter(|(text, _)| !text.trim().is_empty()) {
        let line: VerdictLine = serde_json::from_str(text).map_err(|error| refused(number, error.to_string()))?;
        line.check().map_err(|reason| refused(number, reason))?;
        let earlier = lines.get(&line.place());
        if earlier.is_some_and(|it| it.asked.is_none() || it.asked == line.asked) {
            let id = &line.question_id;
            return Err(refused(number, format!("the question `{id}` was judged in this order by an earlier line")));
        }
        lines.insert(line.place(), line);
    }
    Ok(lines)
}

/// The verdicts of one judge on two systems, as they are and as they come; in a file, where one is named.
#[derive(Debug)]
pub struct VerdictFile {
    file: Option<(PathBuf, File)>,
    lines: BTreeMap<(String, bool), VerdictLine>,
}

impl VerdictFile {
    /// Returns one that is kept nowhere.
    #[must_use]
    pub const fn nowhere() -> Self {
        Self { file: None, lines: BTreeMap::new() }
    }

    /// Opens the file at `path`, or makes it. A line that was being written when a run was killed is cut off.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be read or written; [`Error::Line`] as [`read_verdicts`]; [`Error::Option`] where its
    /// verdicts are on other systems, or of another judge.
    pub fn open(path: &Path, (a, b): (&str, &str), judge: &str) -> Result<Self> {
        let bytes = files::read_own(path)?.unwrap_or_default();
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let text = std::str::from_utf8(&bytes[..whole]).map_err(|error| {
            let invalid = std::io::Error::new(std::io::ErrorKind::InvalidData, error);
            Error::io("read", path)(invalid)
        })?;
        let lines = parsed(path, text)?;
        let other =
            lines.values().find(|line| (line.a.as_str(), line.b.as_str(), line.judge.as_str()) != (a, b, judge));
        if let Some(VerdictLine { a, b, judge, .. }) = other {
            return Err(Error::Option {
                option: "output",
                value: path.display().to_string(),
                reason: format!("it has verdicts of `{judge}` on `{a}` and `{b}`; give another file"),
            });
        }
        let file = files::append_own_after(path, whole as u64)?;
        let lines = lines.into_values().map(|line| ((line.question_id.clone(), line.a_shown_first), line)).collect();
        Ok(Self { file: Some((path.to_owned(), file)), lines })
    }

    /// Returns the verdict on a question in an order, unless it was asked otherwise.
    pub(super) fn verdict(&self, question_id: &str, a_shown_first: bool, asked: &str) -> Option<&VerdictLine> {
        let line = self.lines.get(&(question_id.to_owned(), a_shown_first))?;
        (line.asked.as_deref() == Some(asked)).then_some(line)
    }

    pub(super) fn has(&self, question_id: &str, a_shown_first: bool, asked: &str) -> bool {
        self.verdict(question_id, a_shown_first, asked).is_some()
    }

    pub(super) fn add(&mut self, line: VerdictLine) -> Result<()> {
        if let Some((path, file)) = &mut self.file {
            let mut text = serde_json::to_string(&line).map_err(|error| Error::Internal(error.to_string()))?;
            text.push('\n');
            file.write_all(text.as_bytes()).map_err(Error::io("write", path.as_path()))?;
        }
        self.lines.insert((line.question_id.clone(), line.a_shown_first), line);
        Ok(())
    }
}
