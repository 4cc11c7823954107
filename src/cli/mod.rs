//! The command line: passes arguments to the library, and results to the terminal. The only place that prints.

mod add;
mod args;
mod ask;
mod cache;
mod check;
mod clone;
mod database_args;
mod deadline;
mod demo;
mod doctor;
mod dry_run;
mod entities;
mod eval;
mod eval_args;
mod eval_judge;
mod explain;
mod export;
mod hints;
mod huge_pages;
mod index;
mod index_args;
mod index_model;
mod layers_args;
mod next;
mod options;
mod path;
mod probe;
mod progress;
mod publish;
mod remove;
mod report;
mod screen;
mod show;
mod snippet;
mod status;
mod streamed;
mod topics;
mod watch;
mod worker;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Parser as _;
use serde::Serialize;
use serde_json::json;
use tokio::runtime::Handle;

use crate::config::Settings;
use crate::domain::Cancellation;
use crate::error::{Error, ErrorKind};
use crate::query::QueryEngine;
use crate::setup::{Calls, Notices, Setup};
use crate::workspace::Workspace;
use args::{Cli, Command, ModelArgs};
use deadline::Alarm;
use next::Next;
use screen::Screen;

/// How a command may end other than in success.
#[derive(Debug)]
enum Failure {
    /// The library says no.
    Library(Error),
    /// stdout is closed, or cannot be written.
    Output(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

type Done = Result<(), Failure>;

/// What every command has at hand.
struct Surroundings {
    setup: Setup,
    screen: Screen,
    next: Next,
    /// Requested by Ctrl-C.
    cancellation: Cancellation,
    /// Ends what takes too long.
    alarm: Alarm,
}

/// What the thread of a command may need for its stack: as much as the first thread of a program has.
const STACK_BYTES: usize = 8 << 20;

/// Runs the program on its arguments and returns its exit status.
#[must_use]
pub fn main() -> u8 {
    huge_pages::refuse();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            Screen::new(Settings::refuse_colors()).usage(&error);
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    if let Command::Worker(args) = &cli.command {
        return worker::run(args);
    }
    let (mut settings, refused) = match Settings::read(cli.config.as_deref()) {
        Ok(settings) => (settings, None),
        Err(error) => (Settings::default(), Some(error)),
    };
    settings.no_mmap |= cli.no_mmap;
    let screen = Screen::new(settings.no_color);
    screen.tell_panics();
    screen.tell_log(cli.verbose);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            screen.note(format!("error: cannot start threads: {error}"));
            return exit_status(ErrorKind::Io);
        }
    };
    let next = Next::new(settings.index(None));
    let (cancellation, alarm) = (Cancellation::default(), Alarm::default());
    let notices = Notices::to(move |notice| screen.note(format!("note: {notice}")));
    let setup = Setup { settings, notices };
    let surroundings = Arc::new(Surroundings { setup, screen, next, cancellation, alarm });
    if let Some(error) = refused {
        return report(&surroundings, &error, wants_json(&cli.command));
    }
    let status = runtime.block_on(run_until_interrupted(cli.command, &surroundings));
    // Work that was told to stop now is not waited for: killed at any moment, an index stays readable. Nor is the
    // runtime taken from under it: that would end its thread with a panic just before the program ends.
    std::mem::forget(runtime);
    status
}

/// Runs a command. The first Ctrl-C asks a run that writes to stop after the work in hand; the second, or the first
/// during anything else, stops at once.
async fn run_until_interrupted(command: Command, surroundings: &Arc<Surroundings>) -> u8 {
    let json = wants_json(&command);
    let is_patient = matches!(command, Command::Index(_) | Command::Publish(_) | Command::Check(_));
    let screen = &surroundings.screen;
    let interrupted = async {
        if is_patient && tokio::signal::ctrl_c().await.is_ok() {
            screen.note("finishing the work in progress; press Ctrl-C again to stop now");
            surroundings.cancellation.cancel();
        }
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let done = tokio::select! {
        // First, so that a signal finds its handler from the start.
        biased;
        () = interrupted => return exit_status(ErrorKind::Cancelled),
        late = surroundings.alarm.rang() => Err(late.into()),
        done = on_own_thread(command, surroundings) => done,
    };
    match done {
        Ok(()) => 0,
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(Failure::Output(error)) => {
            screen.note(format!("error: cannot write the output: {error}"));
            exit_status(ErrorKind::Io)
        }
        Err(Failure::Library(error)) => report(surroundings, &error, json),
    }
}

/// Runs a command on its own thread: whatever it waits for, signals and the alarm are handled here.
async fn on_own_thread(command: Command, surroundings: &Arc<Surroundings>) -> Done {
    let (tell, told) = tokio::sync::oneshot::channel();
    let (handle, surroundings) = (Handle::current(), Arc::clone(surroundings));
    let work = move || {
        // Nothing listens once the program is to end.
        let _heard = tell.send(handle.block_on(run(command, &surroundings)));
    };
    std::thread::Builder::new().name("command".to_owned()).stack_size(STACK_BYTES).spawn(work)?;
    told.await.unwrap_or_else(|_| Err(Error::Internal("the command ended without a result".to_owned()).into()))
}

async fn run(command: Command, surroundings: &Surroundings) -> Done {
    match command {
        Command::Index(args) => index::run(args, surroundings).await,
        Command::Search(args) => ask::search(args, surroundings).await,
        Command::Ask(args) => ask::ask(*args, surroundings).await,
        Command::Path(args) => path::run(&args, surroundings).await,
        Command::Add(args) => add::run(&args, surroundings).await,
        Command::Remove(args) => remove::run(&args, surroundings).await,
        Command::Topics(args) => topics::run(&args, surroundings).await,
        Command::Entities(command) => entities::run(&command, surroundings),
        Command::Status(args) => status::run(&args, surroundings).await,
        Command::Unpublish(args) => publish::unpublish(&args, surroundings).await,
        Command::Cache(command) => cache::run(&command, surroundings),
        Command::Publish(args) => publish::run(&args, surroundings).await,
        Command::Clone(args) => clone::run(args, surroundings).await,
        Command::Check(args) => check::run(&args, surroundings).await,
        Command::Export(args) => export::run(&args, surroundings).await,
        Command::Report(args) => report::run(args, surroundings).await,
        Command::Eval(command) => Box::pin(eval::run(command, surroundings)).await,
        Command::Doctor(args) => doctor::run(&args, surroundings).await,
        Command::Demo => Box::pin(demo::run(surroundings)).await,
        // It ran before there were surroundings.
        Command::Worker(_) => Ok(()),
    }
}

fn wants_json(command: &Command) -> bool {
    match command {
        Command::Index(args) => args.place.json,
        Command::Search(args) => args.place.json,
        Command::Ask(args) => args.place.json,
        Command::Path(args) => args.place.json,
        Command::Add(args) => args.place.json,
        Command::Remove(args) => args.place.json,
        Command::Topics(args) => args.place.json,
        Command::Entities(command) => command.place().json,
        Command::Status(args) => args.place.json,
        Command::Publish(args) => args.place.json,
        Command::Check(args) => args.place.json,
        Command::Report(args) => args.place.json,
        Command::Eval(command) => command.json(),
        Command::Cache(command) => command.json(),
        Command::Doctor(args) => args.place.json,
        Command::Clone(_) | Command::Unpublish(_) | Command::Export(_) | Command::Demo | Command::Worker(_) => false,
    }
}

/// Says what happened and what to do, and returns the exit status of the error's kind.
fn report(surroundings: &Surroundings, error: &Error, json: bool) -> u8 {
    let screen = &surroundings.screen;
    let message = error.with_causes();
    let hint = surroundings.next.after(error);
    if json {
        let mut value = json!({ "kind": kind_name(error.kind()), "message": message });
        if let (Some(hint), Some(object)) = (hint, value.as_object_mut()) {
            object.insert("hint".to_owned(), json!(hint));
        }
        screen.json_note(&json!({ "error": value }).to_string());
    } else {
        screen.message(&format!("error: {message}"));
        if let Some(hint) = hint {
            screen.note(format!("hint: {hint}"));
        }
    }
    exit_status(error.kind())
}

const fn exit_status(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Input => 3,
        ErrorKind::NoIndex => 4,
        ErrorKind::Busy => 5,
        ErrorKind::Incompatible => 6,
        ErrorKind::Corrupt => 7,
        ErrorKind::Io => 8,
        ErrorKind::Internal => 9,
        ErrorKind::Unavailable => 10,
        ErrorKind::Deadline => 11,
        ErrorKind::Cancelled => 130,
    }
}

const fn kind_name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Input => "input",
        ErrorKind::NoIndex => "no_index",
        ErrorKind::Busy => "busy",
        ErrorKind::Incompatible => "incompatible",
        ErrorKind::Corrupt => "corrupt",
        ErrorKind::Io => "io",
        ErrorKind::Internal => "internal",
        ErrorKind::Unavailable => "unavailable",
        ErrorKind::Deadline => "deadline",
        ErrorKind::Cancelled => "cancelled",
    }
}

impl Surroundings {
    fn index(&self, asked: Option<PathBuf>) -> PathBuf {
        self.setup.settings.index(asked)
    }

    /// Opens an index, its files held as is set.
    fn workspace(&self, path: impl AsRef<Path>) -> crate::Result<Workspace> {
        self.setup.workspace(path)
    }

    /// Writes a warning of a run, with the command that helps.
    fn warn(&self, warning: &str) {
        self.screen.note(format!("warning: {}", self.next.with_command(warning)));
    }

    fn print_json(&self, value: &impl Serialize) -> Done {
        let text = serde_json::to_string(value).map_err(|error| Error::Internal(error.to_string()))?;
        Ok(self.screen.json(&text)?)
    }
}

/// Opens an index with the requested embedder or else its own.
async fn open(path: &Path, models: &ModelArgs, surroundings: &Surroundings) -> Result<QueryEngine, Error> {
    let workspace = surroundings.workspace(path)?;
    let performers = surroundings.setup.to_read(&workspace, &models.options(), &Calls::default()).await?;
    QueryEngine::open(&workspace, performers)
}
