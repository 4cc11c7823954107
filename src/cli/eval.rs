//! `cairn eval`.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::args::{ModelArgs, ModelCallArgs, SearchModelArgs};
use super::ask::{ranker, reasoned, weights};
use super::deadline::deadline;
use super::eval_args::{
    AskAllArgs, EvalCommand, EvalCompareArgs, EvalContextArgs, EvalFitArgs, EvalLiveArgs, EvalMatrixArgs,
    EvalReportArgs, EvalRetrievalArgs, EvalSweepArgs, EvalTrainingArgs,
};
use super::{Done, Failure, Surroundings, eval_judge, open, options as typed};
use crate::config::ModelRole;
use crate::error::{Error, Result};
use crate::eval::{
    self, Collection, ContextMethod, FitOptions, LiveModel, LiveRow, MatrixMethod, MatrixOptions, NamedResult, StandIn,
    WorkReport, read_answers, read_asked, read_questions, read_recorded, read_run,
};
use crate::files;
use crate::neo4j::Questions;
use crate::query::{N_HOP_MAX, Preset, QueryEngine, SearchOptions};
use crate::setup::RecordingFiles;
use crate::text::counted;

/// Runs `cairn eval`.
pub(super) async fn run(command: EvalCommand, surroundings: &Surroundings) -> Done {
    match command {
        EvalCommand::Retrieval(args) => retrieval(args, surroundings).await,
        EvalCommand::Answers(args) => answers(args, surroundings).await,
        EvalCommand::Compare(args) => compare(&args, surroundings),
        EvalCommand::Calibrate(args) => calibrate(args, surroundings).await,
        EvalCommand::Matrix(args) => matrix(args, surroundings).await,
        EvalCommand::Sweep(args) => sweep(args, surroundings).await,
        EvalCommand::Fit(args) => fit(args, surroundings).await,
        EvalCommand::Live(args) => live(args, surroundings).await,
        EvalCommand::Context(args) => context(args, surroundings).await,
        EvalCommand::Judge(args) => eval_judge::run(&args, surroundings).await,
        EvalCommand::TrainingData(args) => training_data(args, surroundings).await,
        EvalCommand::Report(args) => report(&args, surroundings),
    }
}

async fn retrieval(args: EvalRetrievalArgs, surroundings: &Surroundings) -> Done {
    let stand_in = stand_in(&args)?;
    let args = args.asked;
    let options = options(&args, surroundings)?;
    let questions = read_questions(&args.questions)?;
    let engine = open_to_search(&args, ModelRole::Reason, surroundings).await?;
    let output = args.output.as_deref().map(Output::create).transpose()?;
    let (lines, report) = eval::retrieval(&engine, &questions, &options, stand_in).await?;
    if let Some(output) = output {
        output.write_lines(&lines)?;
    }
    if args.place.json {
        surroundings.print_json(&report)?;
    } else {
        show(surroundings, &report.table())?;
    }
    end(report.work.as_ref(), &args.call)
}

async fn calibrate(args: EvalRetrievalArgs, surroundings: &Surroundings) -> Done {
    let (stand_in, asked) = (stand_in(&args)?, args.asked);
    let options = options(&asked, surroundings)?;
    let questions = read_questions(&asked.questions)?;
    let engine = open_to_search(&asked, ModelRole::Reason, surroundings).await?;
    let output = asked.output.as_deref().map(Output::create).transpose()?;
    let report = eval::calibrate(&engine, &questions, &options, stand_in).await?;
    if let Some(output) = output {
        let text = serde_json::to_string_pretty(&report.calibration).map_err(|it| Error::Internal(it.to_string()))?;
        output.write(&format!("{text}\n"))?;
    }
    if asked.place.json {
        surroundings.print_json(&report)?;
    } else {
        show(surroundings, &report.to_string())?;
    }
    end(report.work.as_ref(), &asked.call)
}

/// Ends an evaluation with an error if the named model gave nothing usable: the printed figures are those of Cairn
/// without it.
fn end(work: Option<&WorkReport>, call: &ModelCallArgs) -> Done {
    match (work.and_then(WorkReport::useless), &call.model) {
        (Some(source), Some(model)) => Err(Error::Chat { model: model.clone(), source }.into()),
        _ => Ok(()),
    }
}

async fn answers(args: AskAllArgs, surroundings: &Surroundings) -> Done {
    let options = options(&args, surroundings)?;
    let questions = read_questions(&args.questions)?;
    let engine = open_to_search(&args, ModelRole::Answer, surroundings).await?;
    let output = args.output.as_deref().map(Output::create).transpose()?;
    let (lines, report) = eval::answers(&engine, &questions, &options).await?;
    if let Some(output) = output {
        output.write_lines(&lines)?;
    }
    if args.place.json {
        surroundings.print_json(&report)?;
    } else {
        show(surroundings, &report.to_string())?;
    }
    end(report.work.as_ref(), &args.call)
}

async fn training_data(args: EvalTrainingArgs, surroundings: &Surroundings) -> Done {
    let EvalTrainingArgs { asked, examples } = args;
    let options = options(&asked, surroundings)?;
    let questions = read_questions(&asked.questions)?;
    let engine = open_to_search(&asked, ModelRole::Answer, surroundings).await?;
    let output = Output::create(&examples)?;
    let (lines, report) = eval::training_data(&engine, &questions, &options).await?;
    output.write_lines(&lines)?;
    if asked.place.json {
        return surroundings.print_json(&report);
    }
    show(surroundings, &report.to_string())
}

async fn open_to_search(args: &AskAllArgs, role: ModelRole, surroundings: &Surroundings) -> Result<QueryEngine> {
    let call = of_all_questions(&args.call);
    let place = typed::engine(args.place.index.clone(), &args.graph, &args.models, &call, (role, Questions::Many));
    Box::pin(surroundings.setup.engine(&place)).await
}

fn options(args: &AskAllArgs, surroundings: &Surroundings) -> Result<SearchOptions> {
    let options = SearchOptions {
        calls_max: args.call.calls_max(),
        strategy: args.strategy.parse()?,
        layers: args.layers.options()?,
        preset: preset(args.paper),
        paper_entry: args.paper_entry.parse()?,
        n_hop: args.n_hop,
        weights: weights(args.weights.as_deref(), surroundings)?,
        trail_ranker: ranker(args.trail_ranker.as_deref())?,
        deadline: deadline(args.deadline.as_deref(), surroundings)?,
        ..reasoned(&args.reason, &args.models)?
    };
    options.check()?;
    Ok(options)
}

/// Returns the call options for all questions together: the number of calls applies to each question, unless it is 0.
fn of_all_questions(call: &ModelCallArgs) -> ModelCallArgs {
    ModelCallArgs { max_calls: call.max_calls.filter(|calls| *calls == 0), ..call.clone() }
}

/// Returns the stand-in for a model, if there is one.
fn stand_in(args: &EvalRetrievalArgs) -> Result<Option<StandIn>> {
    if args.simulate.is_none() && args.recorded.is_empty() {
        return Ok(None);
    }
    StandIn { accuracy: args.simulate, seed: args.seed, recorded: read_recorded(&args.recorded)? }.check().map(Some)
}

const fn preset(paper: bool) -> Preset {
    if paper { Preset::Paper } else { Preset::Measured }
}

fn compare(args: &EvalCompareArgs, surroundings: &Surroundings) -> Done {
    let questions = read_questions(&args.questions)?;
    let comparison = eval::compare(&read_run(&args.first)?, &read_run(&args.second)?, &questions)?;
    if args.json {
        return surroundings.print_json(&comparison);
    }
    show(surroundings, &comparison.to_string())
}

async fn sweep(args: EvalSweepArgs, surroundings: &Surroundings) -> Done {
    let options = SearchOptions {
        strategy: args.strategy.parse()?,
        preset: preset(args.paper),
        paper_entry: args.paper_entry.parse()?,
        weights: weights(args.weights.as_deref(), surroundings)?,
        trail_ranker: ranker(args.trail_ranker.as_deref())?,
        ..SearchOptions::default()
    };
    let questions = read_questions(&args.questions)?;
    let engine = open(&surroundings.index(args.place.index), &args.models, surroundings).await?;
    let report = eval::sweep(&engine, &questions, &options).await?;
    if args.place.json {
        return surroundings.print_json(&report);
    }
    show(surroundings, &report.to_string())
}

async fn fit(args: EvalFitArgs, surroundings: &Surroundings) -> Done {
    if let Some(rounds) = args.rounds.iter().find(|rounds| !(1..=N_HOP_MAX).contains(*rounds)) {
        return Err(Failure::Library(Error::Option {
            option: "number of rounds",
            value: rounds.to_string(),
            reason: format!("it must be between 1 and {N_HOP_MAX}"),
        }));
    }
    let collections = collections(&args.questions, &args.index, &args.models, surroundings).await?;
    let options = FitOptions {
        folds: args.folds,
        leave_one_out: args.leave_one_out,
        rounds: args.rounds,
        ..FitOptions::default()
    };
    let report = eval::fit(&collections, &options).await?;
    if let Some(path) = &args.output {
        let text = serde_json::to_string_pretty(&report.weights).map_err(|it| Error::Internal(it.to_string()))?;
        files::write(path, text + "\n")?;
    }
    if args.json {
        return surroundings.print_json(&report);
    }
    show(surroundings, &report.to_string())
}

/// Opens indexes, each with its questions.
async fn collections(
    questions: &[PathBuf],
    indexes: &[PathBuf],
    models: &ModelArgs,
    surroundings: &Surroundings,
) -> Result<Vec<Collection>, Failure> {
    if questions.len() != indexes.len() {
        return Err(Failure::Library(Error::Option {
            option: "list of indexes",
            value: indexes.len().to_string(),
            reason: format!("there are {} files of questions, and each needs its index", questions.len()),
        }));
    }
    let mut collections = Vec::new();
    for (questions, index) in questions.iter().zip(indexes) {
        let name = index.display().to_string();
        let engine = open(index, models, surroundings).await?;
        collections.push(Collection { name, engine, questions: read_questions(questions)? });
    }
    Ok(collections)
}

async fn matrix(args: EvalMatrixArgs, surroundings: &Surroundings) -> Done {
    let calls_max = args.max_calls.filter(|calls| *calls > 0);
    let methods =
        args.strategies.iter().map(|name| MatrixMethod::parse(name, calls_max)).collect::<Result<Vec<_>>>()?;
    let collections = collections(&args.questions, &args.index, &args.models, surroundings).await?;
    let recorded = read_recorded(&args.recorded)?;
    // Replies are neither kept nor taken from those that are: calls and times are the model's.
    let model = |name: &String| surroundings.setup.answer_model(name, &args.budget, &args.recording.files(), None);
    let model = args.model.as_ref().map(model).transpose()?;
    let live = model.map(|model| LiveModel { model, is_replayed: args.recording.replay.is_some() });
    let options = MatrixOptions { accuracies: args.simulate, seed: args.seed, recorded, live };
    let page = args.html.as_deref().map(Output::create).transpose()?;
    let report = eval::matrix(&collections, &methods, &options).await?;
    if let Some(page) = page {
        page.write(&report.html())?;
    }
    if args.json {
        return surroundings.print_json(&report);
    }
    show(surroundings, &report.to_string())
}

async fn context(args: EvalContextArgs, surroundings: &Surroundings) -> Done {
    let methods = args.strategies.iter().map(|name| ContextMethod::parse(name, args.context_tokens));
    let methods = methods.collect::<Result<Vec<_>>>()?;
    let (questions, answers) = (read_asked(&args.questions)?, read_answers(&args.answers)?);
    let engine = open(&surroundings.index(args.place.index), &args.models, surroundings).await?;
    let output = args.output.as_deref().map(Output::create).transpose()?;
    let (lines, report) = eval::context(&engine, &questions, &answers, &methods, args.context_tokens).await?;
    if let Some(output) = output {
        output.write_lines(&lines)?;
    }
    if args.place.json {
        return surroundings.print_json(&report);
    }
    show(surroundings, &report.to_string())
}

async fn live(args: EvalLiveArgs, surroundings: &Surroundings) -> Done {
    let rows = live_rows(&args.rows)?;
    let mut questions = read_questions(&args.questions)?;
    questions.truncate(args.limit.unwrap_or(usize::MAX));
    let index = surroundings.index(args.place.index.clone());
    let models = SearchModelArgs { models: args.models, reranker: None, rerank: None };
    let none = ModelCallArgs::default();
    let place = typed::engine(args.place.index, &args.graph, &models, &none, (ModelRole::Answer, Questions::Many));
    let engine = Box::pin(surroundings.setup.engine(&place)).await?;
    let kept = args.graph.database.neo4j.is_none().then_some(index.as_path());
    let model = surroundings.setup.answer_model(&args.model, &args.budget, &RecordingFiles::default(), kept)?;
    let screen = surroundings.screen;
    let tell = |row: &str, left: usize| screen.note(format!("{row}: {} to ask", counted(left, "question")));
    let report = eval::live(&engine, model, &questions, &rows, &args.output, &tell).await?;
    if args.place.json {
        return surroundings.print_json(&report);
    }
    show(surroundings, &report.to_string())
}

/// Returns the methods with these names; all if none is given.
fn live_rows(names: &[String]) -> Result<Vec<LiveRow>> {
    let all = eval::live_rows();
    let known = || all.iter().map(|row| row.name.as_str()).collect::<Vec<_>>().join(", ");
    let unknown = names.iter().find(|name| all.iter().all(|row| row.name != **name));
    if let Some(name) = unknown {
        return Err(Error::Option {
            option: "row",
            value: name.clone(),
            reason: format!("expected one of {}", known()),
        });
    }
    Ok(all.into_iter().filter(|row| names.is_empty() || names.contains(&row.name)).collect())
}

fn report(args: &EvalReportArgs, surroundings: &Surroundings) -> Done {
    let mut results = Vec::new();
    for path in result_files(&args.results)? {
        let bytes = files::read(&path)?;
        let value = serde_json::from_slice(&bytes).map_err(|error| Error::Line {
            path: path.clone(),
            line: error.line().max(1),
            reason: error.to_string(),
        })?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        results.push(NamedResult { name, value });
    }
    let page = eval::page(&results);
    for name in &page.unknown {
        surroundings.screen.note(format!("left out `{name}`: not what `cairn eval` prints with --json"));
    }
    files::make_folder(&args.output)?;
    let tables = ("results.md", page.markdown);
    for (name, text) in page.plots.into_iter().chain([tables]) {
        let path = args.output.join(name);
        files::write_own(&path, text)?;
        surroundings.screen.line(path.display().to_string())?;
    }
    Ok(())
}

/// Returns the named files and the JSON files of the named folders, each folder sorted.
fn result_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mut inside = Vec::new();
        for entry in fs::read_dir(path).map_err(Error::io("read", path))? {
            let entry = entry.map_err(Error::io("read", path))?.path();
            if entry.extension().is_some_and(|it| it == "json") {
                inside.push(entry);
            }
        }
        inside.sort_unstable();
        files.extend(inside);
    }
    Ok(files)
}

fn show(surroundings: &Surroundings, text: &str) -> Done {
    Ok(surroundings.screen.lines(text)?)
}

/// A file for results, created before the first question is asked, so that a wrong path does not lose paid results.
struct Output {
    path: PathBuf,
    file: File,
}

impl Output {
    fn create(path: &Path) -> Result<Self> {
        Ok(Self { path: path.to_owned(), file: files::create(path)? })
    }

    fn write(mut self, text: &str) -> Result<()> {
        self.file.write_all(text.as_bytes()).map_err(Error::io("write", &self.path))
    }

    fn write_lines(self, lines: &[impl Serialize]) -> Result<()> {
        let write = || -> std::io::Result<()> {
            let mut out = BufWriter::new(self.file);
            for line in lines {
                serde_json::to_writer(&mut out, line)?;
                out.write_all(b"\n")?;
            }
            out.flush()
        };
        write().map_err(Error::io("write", &self.path))
    }
}
