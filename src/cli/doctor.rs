//! `cairn doctor`: what works here, what does not, and what to do about it. It changes nothing, except that `--probe`
//! remembers its findings about a server.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;

use super::args::DoctorArgs;
use super::{Done, Surroundings, probe};
use crate::config::SettingsFiles;
use crate::embed::{EmbedderChoice, ModelPlace, OnnxEmbedder};
use crate::error::{Error, ErrorKind, Result};
use crate::setup::Calls;
use crate::store::GraphReader as _;
use crate::text::counted;
use crate::workspace::Workspace;

/// The state of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// It works.
    Works,
    /// It is absent, and nothing present needs it.
    Absent,
    /// It is needed and does not work.
    Fails,
}

/// A part that was checked.
#[derive(Debug, Serialize)]
struct Check {
    part: &'static str,
    state: State,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// The exit status of the command.
    #[serde(skip)]
    fault: Option<Error>,
}

impl Check {
    fn works(part: &'static str, detail: String) -> Self {
        Self { part, state: State::Works, detail, hint: None, fault: None }
    }

    /// A part with an error is absent where that is no fault.
    fn of_error(part: &'static str, error: Error, is_absent: bool, surroundings: &Surroundings) -> Self {
        let state = if is_absent { State::Absent } else { State::Fails };
        let (detail, hint) = (error.with_causes(), surroundings.next.after(&error));
        Self { part, state, detail, hint, fault: (!is_absent).then_some(error) }
    }
}

/// Runs `cairn doctor`.
pub(super) async fn run(args: &DoctorArgs, surroundings: &Surroundings) -> Done {
    let path = surroundings.index(args.place.index.clone());
    let (workspace, index) = index(&path, surroundings);
    let workspace = workspace.as_ref();
    let mut checks = vec![
        program(),
        settings(surroundings),
        index,
        embedder(workspace, args, surroundings).await,
        runtime(workspace, args, surroundings),
    ];
    if let Some(asked) = &args.model {
        checks.extend(models(asked, surroundings).await);
    }
    if args.place.json {
        surroundings.print_json(&json!({ "checks": checks }))?;
    } else {
        show(&checks, surroundings)?;
    }
    checks.into_iter().find_map(|check| check.fault).map_or(Ok(()), |fault| Err(fault.into()))
}

fn show(checks: &[Check], surroundings: &Surroundings) -> Done {
    let screen = &surroundings.screen;
    for check in checks {
        let state = match check.state {
            State::Works => "works",
            State::Absent => "absent",
            State::Fails => "FAILS",
        };
        screen.line(format!("{state:7} {:9} {}", check.part, check.detail))?;
        if let Some(hint) = &check.hint {
            screen.line(format!("{:17} → {hint}", ""))?;
        }
    }
    Ok(())
}

fn program() -> Check {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let detail = format!("cairn {} on {cores} cores", env!("CARGO_PKG_VERSION"));
    Check::works("program", detail)
}

/// Says which files were read; one that cannot be used ends any command before this.
fn settings(surroundings: &Surroundings) -> Check {
    let SettingsFiles { own, usual, found } = &surroundings.setup.settings.files;
    let read: Vec<String> = own.iter().chain(found).map(|path| path.display().to_string()).collect();
    if read.is_empty() {
        let missing = usual.as_ref().map_or_else(
            || "no cairn.toml here".to_owned(),
            |usual| format!("neither {} nor cairn.toml here", usual.display()),
        );
        let detail = format!("{missing}; flags and environment are used");
        return Check { state: State::Absent, ..Check::works("settings", detail) };
    }
    let found = if found.is_some() { " (found here, so not for models, servers or libraries)" } else { "" };
    Check::works("settings", format!("from {}{found}", read.join(" and ")))
}

/// Checks the index, every byte of it: one that is damaged must not be said to work.
fn index(path: &Path, surroundings: &Surroundings) -> (Option<Workspace>, Check) {
    let failed = |error: Error| {
        let is_absent = error.kind() == ErrorKind::NoIndex;
        Check::of_error("index", error, is_absent, surroundings)
    };
    let workspace = match surroundings.workspace(path) {
        Ok(workspace) => workspace,
        Err(error) => return (None, failed(error)),
    };
    let whole = workspace.check().and_then(|report| {
        let snapshot = workspace.snapshot()?;
        if report.is_whole() { Ok(snapshot) } else { Err(report.error(path)) }
    });
    let check = whole.map_or_else(failed, |snapshot| {
        let (version, documents) = (snapshot.version(), counted(snapshot.document_count(), "document"));
        let detail = format!("{}: version {version}, {documents}, records and files as written", path.display());
        Check::works("index", detail)
    });
    (Some(workspace), check)
}

/// Embeds a word with the embedder of the index, or with that of a new one.
async fn embedder(workspace: Option<&Workspace>, args: &DoctorArgs, surroundings: &Surroundings) -> Check {
    let (setup, models, calls) = (&surroundings.setup, args.models.options(), Calls::default());
    let worked: Result<String> = async {
        let performers = match workspace {
            Some(workspace) => setup.to_read(workspace, &models, &calls).await,
            None => setup.for_new_index(&models, &calls).await,
        };
        let embedder = performers?.embedder;
        if embedder.dimension() > 0 {
            embedder.embed(&["harbor"]).await?;
        }
        Ok(format!("{}, {} values per vector", embedder.name(), embedder.dimension()))
    }
    .await;
    worked.map_or_else(
        |error| Check::of_error("embedder", error, false, surroundings),
        |detail| Check::works("embedder", detail),
    )
}

/// Probes the servers of a language model.
async fn models(asked: &str, surroundings: &Surroundings) -> Vec<Check> {
    let check = |(detail, fault): (String, Option<Error>)| match fault {
        None => Check::works("model", detail),
        Some(fault) => Check { detail, ..Check::of_error("model", fault, false, surroundings) },
    };
    match probe::run(asked, surroundings).await {
        Ok(probed) => probed.into_iter().map(check).collect(),
        Err(error) => vec![Check::of_error("model", error, false, surroundings)],
    }
}

/// Looks for the library that runs local models.
fn runtime(workspace: Option<&Workspace>, args: &DoctorArgs, surroundings: &Surroundings) -> Check {
    let (setup, models) = (&surroundings.setup, args.models.options());
    let given = setup.runtime(&models);
    let is_needed = uses_model(workspace, args, surroundings) || given.is_some();
    let library = match model_folder(args, surroundings) {
        Some(folder) => ModelPlace { folder, runtime: given }.library(),
        None => setup.confirmed(&models).library(),
    };
    match library {
        Ok(library) => Check::works("runtime", format!("ONNX Runtime at {}", library.display())),
        Err(error) => Check::of_error("runtime", error, !is_needed, surroundings),
    }
}

/// Returns whether the index or the options need a local model.
fn uses_model(workspace: Option<&Workspace>, args: &DoctorArgs, surroundings: &Surroundings) -> bool {
    let pinned = workspace.and_then(|workspace| workspace.embedder().ok());
    let is_pinned = pinned.as_deref().is_some_and(OnnxEmbedder::is_name);
    is_pinned || model_folder(args, surroundings).is_some()
}

/// Returns the folder of the requested model.
fn model_folder(args: &DoctorArgs, surroundings: &Surroundings) -> Option<PathBuf> {
    let asked = args.models.embedder.as_deref().or(surroundings.setup.settings.embedder.as_deref())?;
    match asked.parse() {
        Ok(EmbedderChoice::Onnx(folder)) => Some(folder),
        _ => None,
    }
}
