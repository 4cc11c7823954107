//! `cairn index --watch`: detects changed files and decides when to index them.

use std::io;
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

/// Quiet time before a run: an editor writes a file in several steps.
const QUIET: Duration = Duration::from_millis(500);
/// Maximum delay of a run while files keep changing.
const PUT_OFF_MAX: Duration = Duration::from_secs(10);
/// How often to check for a request to stop.
const TICK: Duration = Duration::from_millis(100);
/// Why folders are compared.
const FULL: &str = "the system watches no more folders";
/// How often to check whether a path that is a link leads elsewhere.
const LINKS: Duration = Duration::from_secs(1);
/// How often folders are compared if the system cannot report changes.
const POLL: Duration = Duration::from_secs(5);

/// Files and folders under watch.
pub(super) struct Watch {
    paths: Vec<PathBuf>,
    /// Where they are, without links: one that is a link may lead elsewhere later.
    places: Vec<PathBuf>,
    walk: WalkOptions,
    changes: watch::Receiver<Changes>,
    /// The known changes of the paths themselves.
    roots: u64,
    /// The watcher, which watches until it is dropped.
    _watcher: Box<dyn Watcher + Send>,
}

/// Messages of watchers.
#[derive(Debug, Clone, Copy, Default)]
struct Changes {
    /// A number that changes with the files: any number of changes takes no room.
    files: u64,
    /// The same for the watched paths themselves: another folder may take the place of one, which is not watched yet.
    roots: u64,
    /// Whether the system watches no further folder: changes in those that come are not reported.
    is_full: bool,
}

impl Changes {
    /// Notes that a watcher failed: anything may have changed.
    fn fail(&mut self, error: &notify::Error) {
        self.files = self.files.wrapping_add(1);
        self.is_full |= matches!(error.kind, notify::ErrorKind::MaxFilesWatch);
    }
}

impl Watch {
    /// Starts watching.
    ///
    /// # Errors
    ///
    /// If a path is missing or cannot be watched.
    pub(super) fn begin(paths: &[PathBuf], walk: &WalkOptions, screen: &Screen) -> Result<Self> {
        match Self::by::<RecommendedWatcher>(paths, walk)? {
            Ok(watch) => Ok(watch),
            Err(error) if matches!(error.kind, notify::ErrorKind::PathNotFound) => Err(missing(error)),
            Err(error) => Self::polling(paths, walk, &error.to_string(), screen),
        }
    }

    /// Starts comparing files every few seconds, for this `reason`.
    fn polling(paths: &[PathBuf], walk: &WalkOptions, reason: &str, screen: &Screen) -> Result<Self> {
        screen.note(format!("note: {reason}; looking for changes every {} s instead", POLL.as_secs()));
        Self::by::<PollWatcher>(paths, walk)?.map_err(refused)
    }

    /// Starts watching by a watcher of one kind. Fails if a path is missing; within, if the watcher refuses.
    fn by<W: Watcher + Send + 'static>(paths: &[PathBuf], walk: &WalkOptions) -> Result<notify::Result<Self>> {
        let found = |path: &PathBuf| path.canonicalize().map_err(|_| Error::MissingPath { path: path.clone() });
        let places = paths.iter().map(found).collect::<Result<Vec<PathBuf>>>()?;
        let (tell, changes) = watch::channel(Changes::default());
        // A link below a root is not followed, and what lies behind it changes nothing.
        let config = notify::Config::default().with_follow_symlinks(false).with_poll_interval(POLL);
        let watcher = watcher::<W>(&places, walk, tell, config);
        let (paths, walk) = (paths.to_vec(), walk.clone());
        Ok(watcher.map(|watcher| Self { paths, places, walk, changes, roots: 0, _watcher: Box::new(watcher) }))
    }

    /// Waits until files have changed and are quiet again; false if a stop was requested.
    ///
    /// # Errors
    ///
    /// If the paths cannot be watched any more.
    pub(super) async fn changed(&mut self, cancellation: &Cancellation, screen: &Screen) -> Result<bool> {
        let ended = || Error::Internal("the watcher of changes ended".to_owned());
        let mut looked = Instant::now();
        loop {
            if cancellation.is_cancelled() {
                return Ok(false);
            }
            if let Ok(told) = timeout(TICK, self.changes.changed()).await {
                told.map_err(|_| ended())?;
                break;
            }
            if looked.elapsed() >= LINKS {
                if self.leads_elsewhere() {
                    break;
                }
                looked = Instant::now();
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

    /// Returns whether a path is a link that leads elsewhere now.
    fn leads_elsewhere(&self) -> bool {
        let has_moved = |(path, place): (&PathBuf, &PathBuf)| path.canonicalize().is_ok_and(|now| now != *place);
        self.paths.iter().zip(&self.places).any(has_moved)
    }

    /// Restarts if a path itself appeared or disappeared, once all of them exist.
    async fn begin_anew(&mut self, cancellation: &Cancellation, screen: &Screen) -> Result<bool> {
        let Changes { roots, is_full, .. } = *self.changes.borrow_and_update();
        let are_there = || self.paths.iter().all(|path| path.exists());
        if is_full && are_there() {
            *self = Self::polling(&self.paths, &self.walk, FULL, screen)?;
            return Ok(!cancellation.is_cancelled());
        }
        if roots == self.roots && are_there() && !self.leads_elsewhere() {
            return Ok(!cancellation.is_cancelled());
        }
        if !are_there() {
            screen.note("waiting until every PATH exists again");
        }
        while !cancellation.is_cancelled() {
            match Self::begin(&self.paths, &self.walk, screen) {
                // One may go just now.
                Err(Error::MissingPath { .. }) => tokio::time::sleep(TICK).await,
                begun => {
                    *self = begun?;
                    return Ok(!cancellation.is_cancelled());
                }
            }
        }
        Ok(false)
    }
}

/// Creates a watcher of one kind.
fn watcher<W: Watcher>(
    roots: &[PathBuf],
    walk: &WalkOptions,
    tell: watch::Sender<Changes>,
    config: notify::Config,
) -> notify::Result<W> {
    let mut own: Vec<Territory> = roots.iter().map(|root| Territory::of(root, walk)).collect();
    let named = roots.to_vec();
    let heard = move |event: notify::Result<Event>| {
        let event = match event {
            Ok(event) => event,
            Err(error) if is_closed(&error) => return,
            Err(error) => return tell.send_modify(|it| it.fail(&error)),
        };
        // A change inside a folder is also reported for the folder, which stays.
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

/// Returns whether an error says of a folder only that it may not be read, as is said each time that it is compared.
fn is_closed(error: &notify::Error) -> bool {
    matches!(&error.kind, notify::ErrorKind::Io(error) if error.kind() == io::ErrorKind::PermissionDenied)
}

/// Returns whether an event may change the result of a run. One that says that others were lost always may.
fn matters(event: &Event, roots: &mut [Territory]) -> bool {
    let is_change = !matches!(event.kind, EventKind::Access(_));
    event.need_rescan() || is_change && event.paths.iter().any(|path| roots.iter_mut().any(|root| root.has(path)))
}

fn missing(error: notify::Error) -> Error {
    Error::MissingPath { path: error.paths.into_iter().next().unwrap_or_default() }
}

fn refused(error: notify::Error) -> Error {
    let path = error.paths.first().cloned().unwrap_or_default();
    Error::io("watch", &path)(std::io::Error::other(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limit of the system is not ours to lower, so that the watcher's message is sent in its place.
    #[tokio::test]
    async fn a_watcher_that_is_full_is_replaced_by_one_that_polls() {
        let folder = tempfile::tempdir().unwrap();
        let (paths, screen) = ([folder.path().to_owned()], Screen::new(true));
        let (tell, changes) = watch::channel(Changes::default());
        let begun = Watch::begin(&paths, &WalkOptions::default(), &screen).unwrap();
        let mut watch = Watch { changes, ..begun };
        tell.send_modify(|it| it.fail(&notify::Error::generic("a fault")));
        assert!(watch.changed(&Cancellation::default(), &screen).await.unwrap());
        assert!(watch.changes.same_channel(&tell.subscribe()), "it is still the same watcher");
        tell.send_modify(|it| it.fail(&notify::Error::new(notify::ErrorKind::MaxFilesWatch)));
        assert!(watch.changed(&Cancellation::default(), &screen).await.unwrap());
        assert!(!watch.changes.same_channel(&tell.subscribe()), "it is another");
        std::fs::write(folder.path().join("a.md"), "# Mill").unwrap();
        let (never, patience) = (Cancellation::default(), Duration::from_mins(1));
        assert!(timeout(patience, watch.changed(&never, &screen)).await.unwrap().unwrap(), "it reports changes still");
    }
}
