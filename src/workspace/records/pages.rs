//! The check of the pages of a database before its first write: a used page that counts as free would be overwritten.

use std::path::Path;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::{Connection, InterruptHandle};

use super::connection;
use crate::error::{Error, Result};

/// The result if no page is used twice.
pub(super) const WHOLE: &str = "ok";
/// Between two requests to stop.
const PAUSE: Duration = Duration::from_millis(1);

/// Looks for pages that are used twice; returns [`WHOLE`], or the first fault.
pub(super) fn check(connection: &Connection) -> rusqlite::Result<String> {
    connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
}

/// A check on a thread and a connection of its own. It is stopped when dropped.
pub(super) struct PageCheck {
    interrupt: InterruptHandle,
    thread: Option<JoinHandle<rusqlite::Result<String>>>,
}

impl PageCheck {
    /// Begins the check of the database at `path`, which nobody changes until it ends.
    pub(super) fn begin(path: &Path) -> Result<Self> {
        let connection = connection::open_beside(path).map_err(Error::records("open"))?;
        let interrupt = connection.get_interrupt_handle();
        let thread = thread::Builder::new().spawn(move || check(&connection)).map_err(Error::io("read", path))?;
        Ok(Self { interrupt, thread: Some(thread) })
    }

    /// Waits for the result; returns whether the database is whole.
    pub(super) fn finish(mut self) -> bool {
        let said = self.thread.take().and_then(|thread| thread.join().ok());
        said.is_some_and(|said| said.is_ok_and(|said| said == WHOLE))
    }
}

impl Drop for PageCheck {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        // One that has not begun yet does not notice.
        while !thread.is_finished() {
            self.interrupt.interrupt();
            thread::sleep(PAUSE);
        }
    }
}

impl std::fmt::Debug for PageCheck {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("PageCheck").finish_non_exhaustive()
    }
}
