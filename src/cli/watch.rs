//! `cairn index --watch`: which files changed, and when it is time to index them.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use notify::event::ModifyKind;
use notify::{Event, EventKind, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::watch;
use tokio::time::timeout;

use super::screen::Screen;
use crate::domain::Cancellation;
use crate::error::{Error, Result};
use crate::ingest::{Territory, WalkOptions};

/// How long nothing changes before a run begins: an editor writes a file in several steps.
const QUIET: Duration = Duration::from_millis(500);
/// How long a run is put off at most while files go on changing.
const PUT_OFF_MAX: Duration = Duration::from_secs(10);
/// How often a request to stop is looked for.
const TICK: Duration = Duration::from_millis(100);
/// How often folders are looked through where the system cannot tell of changes.
const POLL: Duration = Duration::from_secs(5);

/// Files and folders under watch.
pub(super) struct Watch {
    paths: Vec<PathBuf>,
    walk: WalkOptions,
    changes: watch::Receiver<Changes>,
    /// The changes of the paths themselves that are known.
    roots: u64,
    /// It watches until it is dropped.
    _watcher: Box<dyn Watcher + Send>,
}

/// What watchers tell.
#[derive(Debug, Clone, Copy, Default)]
struct Changes {
    /// A number that changes with the files: however many changes come, none takes room.
    files: u64,
    /// The same for what is watched itself: another folder may lie in its place, which nobody watches.
    roots: u64,
}

impl Watch {
    /// Begins to watch.
    ///
    /// # Errors
    ///
    /// If a path is not there or cannot be watched.
    pub(super) fn begin(paths: &[PathBuf], walk: &WalkOptions, screen: &Screen) -> Result<Self> {
        let found = |path: &PathBuf| path.canonicalize().map_err(|_| Error::MissingPath { path: path.clone() });
        let roots = paths.iter().map(found).collect::<Result<Vec<PathBuf>>>()?;
        let (tell, changes) = watch::channel(Changes::default());
        // A link below a root is not followed, and what lies behind it changes nothing.
        let config = notify::Config::default().with_follow_symlinks(false);
        let by_system = watcher::<RecommendedWatcher>(&roots, walk, tell.clone(), config);
        let watcher: Box<dyn Watcher + Send> = match by_system {
            Ok(watcher) => Box::new(watcher),
            Err(error) => {
                screen.note(format!("note: {error}; looking for changes every {} s instead", POLL.as_secs()));
                let polled = watcher::<PollWatcher>(&roots, walk, tell, config.with_poll_interval(POLL));
                Box::new(polled.map_err(refused)?)
            }
        };
        Ok(Self { paths: paths.to_vec(), walk: walk.clone(), changes, roots: 0, _watcher: watcher })
    }

    /// Waits until files changed and are left alone again; false where a stop was asked for.
    ///
    /// # Errors
    ///
    /// If what is watched cannot be watched any more.
    pub(super) async fn changed(&mut self, cancellation: &Cancellation, screen: &Screen) -> Result<bool> {
        let ended = || Error::Internal("the watcher of changes ended".to_owned());
        loop {
            if cancellation.is_cancelled() {
                return Ok(false);
            }
            if let Ok(told) = timeout(TICK, self.changes.changed()).await {
                told.map_err(|_| ended())?;
                break;
            }
        }
        let began = Instant::now();
        while began.elapsed() < PUT_OFF_MAX {
            match timeout(QUIET, self.changes.changed()).await {
                Ok(told) => told.map_err(|_| ended())?,
                Err(_) => break,
            }
        }
        self.begin_anew(cancellation, screen).await
    }

    /// Begins anew where a path itself came or went, once all of them are there.
    async fn begin_anew(&mut self, cancellation: &Cancellation, screen: &Screen) -> Result<bool> {
        let roots = self.changes.borrow_and_update().roots;
        let are_there = || self.paths.iter().all(|path| path.exists());
        if roots == self.roots && are_there() {
            return Ok(!cancellation.is_cancelled());
        }
        if !are_there() {
            screen.note("waiting until every PATH exists again");
        }
        while !self.paths.iter().all(|path| path.exists()) {
            if cancellation.is_cancelled() {
                return Ok(false);
            }
            tokio::time::sleep(TICK).await;
        }
        *self = Self::begin(&self.paths, &self.walk, screen)?;
        Ok(!cancellation.is_cancelled())
    }
}

/// Makes a watcher of one kind.
fn watcher<W: Watcher>(
    roots: &[PathBuf],
    walk: &WalkOptions,
    tell: watch::Sender<Changes>,
    config: notify::Config,
) -> notify::Result<W> {
    let mut own: Vec<Territory> = roots.iter().map(|root| Territory::of(root, walk)).collect();
    let named = roots.to_vec();
    let heard = move |event: notify::Result<Event>| {
        let Ok(event) = event else { return tell.send_modify(|it| it.files = it.files.wrapping_add(1)) };
        // A change of what a folder holds is told of the folder too, which stays.
        let goes = matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)));
        if goes && event.paths.iter().any(|path| named.contains(path)) {
            tell.send_modify(|it| it.roots = it.roots.wrapping_add(1));
        } else if matters(&event, &mut own) {
            tell.send_modify(|it| it.files = it.files.wrapping_add(1));
        }
    };
    let mut watcher = W::new(heard, config)?;
    for root in roots {
        // Editors put another file in the place of one: its folder stays.
        let (place, mode) = match root.parent() {
            Some(parent) if root.is_file() => (parent, RecursiveMode::NonRecursive),
            _ => (root.as_path(), RecursiveMode::Recursive),
        };
        watcher.watch(place, mode)?;
    }
    Ok(watcher)
}

/// Returns whether a run would find something else after an event. One that says that others were lost always matters.
fn matters(event: &Event, roots: &mut [Territory]) -> bool {
    let is_change = !matches!(event.kind, EventKind::Access(_));
    event.need_rescan() || is_change && event.paths.iter().any(|path| roots.iter_mut().any(|root| root.has(path)))
}

fn refused(error: notify::Error) -> Error {
    let path = error.paths.first().cloned().unwrap_or_default();
    Error::io("watch", &path)(std::io::Error::other(error))
}
