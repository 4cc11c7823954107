//! Runs every method that `HopRAG` (section 4) compares, and ours, on a bundle of questions with a real model: what
//! each finds, the model's answers, and the cost. Each question of each method is a line of a file; a run that ends
//! early, at its budget or by force, continues from there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::answers::answered_by;
use super::live_report::{LiveReport, figures};
use super::questions::Question;
use super::retrieval::documents;
use crate::domain::{Answer, ChatError, CorpusId, IndexVersion, Spent};
use crate::error::{Error, Result};
use crate::files;
use crate::llm::{ChatModel, ChatRequest, Replying};
use crate::query::{
    AskOptions, PICK_DEFAULT, Preset, QueryEngine, Reading, Reasoning, RerankedBy, SearchOptions, StrategyKind,
};

/// Passages that an answer is written from: the paper's.
const TOP_K: usize = 20;
/// Rounds of a walk: the paper's.
const N_HOP: u32 = 4;

/// A method: a row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveRow {
    /// Its name, and that of its file.
    pub name: String,
    /// The tables of the paper that have it, or none where it is ours.
    pub tables: &'static str,
    /// How it finds passages; as many are shown to who answers.
    pub search: SearchOptions,
}

/// Returns every method, in the order in which they are run: those that cost least first.
#[must_use]
pub fn live_rows() -> Vec<LiveRow> {
    let search = |strategy| SearchOptions { strategy, top_k: TOP_K, ..SearchOptions::default() };
    let row = |name: &str, tables, search: SearchOptions| LiveRow { name: name.to_owned(), tables, search };
    // A model that leads the walk also finds the names in the question.
    let hop = |reasoning, top_k, n_hop| SearchOptions {
        preset: Preset::Paper,
        reasoning,
        entities: reasoning != Reasoning::Similarity,
        top_k,
        n_hop: Some(n_hop),
        ..search(StrategyKind::Hop)
    };
    let taken_apart =
        SearchOptions { preset: Preset::Paper, decompose: Some(Reading::Rule), ..search(StrategyKind::Hybrid) };
    let reranked =
        SearchOptions { rerank: Some(2 * TOP_K), reranked_by: RerankedBy::Model, ..search(StrategyKind::Hybrid) };
    let picked = SearchOptions { pick: Some(PICK_DEFAULT), ..search(StrategyKind::Trail) };
    let mut rows = vec![
        row("bm25", "1, 2, 5", search(StrategyKind::Lexical)),
        row("dense", "1, 2, 5", search(StrategyKind::Dense)),
        row("bm25-dense", "1, 2", search(StrategyKind::Hybrid)),
        row("trail", "", search(StrategyKind::Trail)),
        row("hop", "", search(StrategyKind::Hop)),
        row("hop-paper-similarity", "5", hop(Reasoning::Similarity, TOP_K, N_HOP)),
        row("decomposition", "1, 2", taken_apart),
        row("rerank", "1, 2", reranked),
        row("trail-pick", "", picked.clone()),
        row("trail-decompose-pick", "", SearchOptions { decompose: Some(Reading::Model), ..picked }),
        row("hop-paper", "1, 2, 5", hop(Reasoning::Choose, TOP_K, N_HOP)),
    ];
    for top_k in [2, 4, 8, 12, 16] {
        rows.push(row(&format!("hop-paper-top-{top_k}"), "3", hop(Reasoning::Choose, top_k, N_HOP)));
    }
    for n_hop in 1..N_HOP {
        rows.push(row(&format!("hop-paper-hops-{n_hop}"), "4", hop(Reasoning::Choose, TOP_K, n_hop)));
    }
    rows
}

/// What one method came to for one question: a line of its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LiveLine {
    /// The id of the question.
    pub question_id: String,
    /// A digest of the question and of how its passages were found: what is asked otherwise is asked again.
    pub asked: String,
    /// The version of the index that was read.
    pub version: IndexVersion,
    /// Its embedder.
    pub embedder: String,
    /// The corpus that was read.
    pub corpus_id: CorpusId,
    /// The model that was asked.
    pub model: String,
    /// Source ids of documents that were found, best first, none twice.
    pub ranked: Vec<String>,
    /// The answer that is scored.
    pub answer: String,
    /// Why the model wrote none, where it gave nothing that can be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
    /// What the model gave nothing for that can be used while passages were looked for: how often.
    pub unusable: u32,
    /// Calls that found passages, kept replies among them.
    pub finding_calls: u64,
    /// What all calls came to.
    pub spent: Spent,
    /// How long it took, in milliseconds.
    pub time_ms: f64,
}

/// Asks every method of `rows` every question for which `folder` has no line yet, and returns the results of all lines.
/// `tell` is called when a method begins.
///
/// # Errors
///
/// [`Error::Option`] where lines in `folder` are of another collection or model; [`Error::Io`] and [`Error::Line`]
/// where they cannot be read or written; [`Error::Chat`] if something about the model has to be corrected. What was
/// asked before stays in the files.
///
/// # Cancel safety
///
/// Dropping the future loses the question that is being asked and nothing else.
pub async fn live(
    engine: &QueryEngine,
    model: Arc<dyn ChatModel>,
    questions: &[Question],
    rows: &[LiveRow],
    folder: &Path,
    tell: &(dyn Fn(&str, usize) + Sync),
) -> Result<LiveReport> {
    files::make_folder(folder)?;
    let watched = Arc::new(Watched { inner: model, trouble: Mutex::default() });
    let engine = engine.with_model(Arc::clone(&watched) as Arc<dyn ChatModel>);
    let mut report = LiveReport {
        version: engine.version(),
        embedder: engine.embedder().to_owned(),
        corpus_id: engine.corpus().await?,
        corpus: engine.counts(),
        model: watched.name().to_owned(),
        rows: Vec::new(),
        left: 0,
        spent_on_left: Spent::default(),
        fault: None,
        stopped: None,
    };
    for row in rows {
        let mut file = LineFile::open(folder, row, &report)?;
        let left = questions.iter().filter(|question| file.line(question, row).is_none()).count();
        tell(&row.name, left);
        for question in questions {
            if report.stopped.is_some() || file.line(question, row).is_some() {
                continue;
            }
            let line = asked(&engine, question, row, &report).await?;
            match watched.trouble() {
                None if line.version != report.version => {
                    report.spent_on_left.add(&line.spent);
                    report.stopped = Some(format!("version {} of the index was published meanwhile", line.version));
                }
                None => file.add(line)?,
                // What the server failed to do is requested again when the run continues.
                Some(Trouble { why, is_end }) => {
                    report.spent_on_left.add(&line.spent);
                    *(if is_end { &mut report.stopped } else { &mut report.fault }) = Some(why);
                }
            }
        }
        let lines: Vec<(&Question, &LiveLine)> =
            questions.iter().filter_map(|question| Some((question, file.line(question, row)?))).collect();
        report.left += (questions.len() - lines.len()) as u64;
        report.rows.extend(figures(row, &lines));
    }
    Ok(report)
}

async fn asked(engine: &QueryEngine, question: &Question, row: &LiveRow, report: &LiveReport) -> Result<LiveLine> {
    let began = Instant::now();
    let options = AskOptions { search: row.search.clone(), passages_max: row.search.top_k, ..AskOptions::default() };
    let answer = engine.ask(&question.question, &options).await?;
    let time_ms = began.elapsed().as_secs_f64() * 1_000.0;
    let Answer { hits, ledger, writing, .. } = &answer;
    let mut spent = Spent::default();
    spent.add(&ledger.work.as_ref().map(|work| work.spent.clone()).unwrap_or_default());
    let finding_calls = spent.calls + spent.cached;
    spent.add(&writing.as_ref().map(|writing| writing.spent.clone()).unwrap_or_default());
    Ok(LiveLine {
        question_id: question.id.clone(),
        asked: digest(question, row),
        version: answer.version,
        embedder: report.embedder.clone(),
        corpus_id: report.corpus_id,
        model: report.model.clone(),
        unusable: ledger.work.as_ref().map_or(0, |work| work.skills.values().map(|it| it.unusable).sum()),
        ranked: documents(hits),
        degraded: writing.as_ref().and_then(|writing| writing.degraded.clone()),
        answer: answered_by(answer.clone()).0,
        finding_calls,
        spent,
        time_ms,
    })
}

/// Returns a digest of a question and of how its passages are found.
fn digest(question: &Question, row: &LiveRow) -> String {
    let asked = format!("{}\n{:?}", question.question, row.search);
    blake3::hash(asked.as_bytes()).to_hex()[..16].to_owned()
}

/// The lines of one method, written before and during this run.
struct LineFile {
    path: PathBuf,
    file: File,
    lines: BTreeMap<String, LiveLine>,
}

impl LineFile {
    fn open(folder: &Path, row: &LiveRow, report: &LiveReport) -> Result<Self> {
        let path = folder.join(format!("{}.jsonl", row.name));
        let bytes = files::read_own(&path)?.unwrap_or_default();
        let text = String::from_utf8(bytes)
            .map_err(|error| Error::io("read", &path)(std::io::Error::new(std::io::ErrorKind::InvalidData, error)))?;
        let mut lines = BTreeMap::new();
        // The line that a killed run was writing is incomplete; its question is asked again.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        for (line, number) in text[..whole].lines().zip(1..) {
            let line: LiveLine = serde_json::from_str(line).map_err(|error| Error::Line {
                path: path.clone(),
                line: number,
                reason: error.to_string(),
            })?;
            let is_of_index = (line.corpus_id, line.version) == (report.corpus_id, report.version);
            if !is_of_index || line.embedder != report.embedder || line.model != report.model {
                return Err(Error::Option {
                    option: "output",
                    value: folder.display().to_string(),
                    reason: format!(
                        "its lines are of version {} of an index, with `{}` and `{}`; give another folder",
                        line.version, line.embedder, line.model
                    ),
                });
            }
            lines.insert(line.question_id.clone(), line);
        }
        let file = files::append_own_after(&path, whole as u64)?;
        Ok(Self { path, file, lines })
    }

    /// Returns the line of a question, unless the question or the method has changed since.
    fn line(&self, question: &Question, row: &LiveRow) -> Option<&LiveLine> {
        self.lines.get(&question.id).filter(|line| line.asked == digest(question, row))
    }

    fn add(&mut self, line: LiveLine) -> Result<()> {
        let mut text = serde_json::to_string(&line).map_err(|error| Error::Internal(error.to_string()))?;
        text.push('\n');
        self.file.write_all(text.as_bytes()).map_err(Error::io("write", &self.path))?;
        self.lines.insert(line.question_id.clone(), line);
        Ok(())
    }
}

/// Why a model could not answer.
struct Trouble {
    why: String,
    /// Whether nothing more may be asked.
    is_end: bool,
}

/// A model that remembers why it could not answer.
struct Watched {
    inner: Arc<dyn ChatModel>,
    trouble: Mutex<Option<Trouble>>,
}

impl Watched {
    /// Returns the trouble since the last call of this function.
    fn trouble(&self) -> Option<Trouble> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn remember(&self, error: &ChatError) {
        let is_end =
            matches!(error, ChatError::Budget { .. } | ChatError::CircuitOpen { .. } | ChatError::Useless { .. });
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if (is_end || error.is_of_server()) && !trouble.as_ref().is_some_and(|it| it.is_end) {
            *trouble = Some(Trouble { why: error.to_string(), is_end });
        }
    }
}

impl ChatModel for Watched {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn kept_as(&self) -> &str {
        self.inner.kept_as()
    }

    fn note_use(&self, problem: Option<&str>) {
        self.inner.note_use(problem);
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(async move { self.inner.reply(request).await.inspect_err(|error| self.remember(error)) })
    }
}
