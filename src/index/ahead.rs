//! Opens the last version while documents are still read: most of that is checking that its files are what was written.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use super::run::Run;
use crate::domain::{Cancellation, IndexVersion};
use crate::error::Result;
use crate::workspace::{LastVersion, Workspace};

/// The last version on its way.
#[derive(Default)]
pub(super) struct Ahead {
    thread: Option<JoinHandle<Option<LastVersion>>>,
    stop: Cancellation,
}

impl Ahead {
    /// Begins to open the last version, unless that has begun.
    pub(super) fn begin(&mut self, workspace: &Workspace) {
        if self.thread.is_none() {
            let (workspace, stop, span) = (workspace.clone(), self.stop.clone(), tracing::Span::current());
            let open = move || {
                let _entered = span.entered();
                let last = workspace.last_version()?;
                last.open(&stop);
                Some(last)
            };
            // Without a thread, it is opened later.
            self.thread = thread::Builder::new().spawn(open).ok();
        }
    }

    /// Returns the last version, which is the `current` one, opened as far as that has begun.
    pub(super) fn take(&mut self, workspace: &Workspace, current: Option<IndexVersion>) -> Option<LastVersion> {
        let opened = self.thread.take().and_then(|thread| thread.join().ok().flatten());
        // A checkpoint may have come after it.
        opened.filter(|last| Some(last.version()) == current).or_else(|| workspace.last_version())
    }
}

impl Drop for Ahead {
    /// Waits for it to stop: a run that has ended reads no files.
    fn drop(&mut self) {
        self.stop.cancel();
        self.thread.take().map(JoinHandle::join);
    }
}

impl Run {
    /// Returns the last version.
    pub(super) fn last_version(&mut self) -> Result<Option<Arc<LastVersion>>> {
        let current = self.writer.records().manifest()?.current;
        Ok(self.ahead.take(&self.workspace, current).map(Arc::new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::WorkspaceOptions;
    use crate::workspace::tests::{indexed, publish};

    #[test]
    fn the_version_that_was_opened_ahead_is_used_unless_another_came_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = indexed(folder.path());
        let mut ahead = Ahead::default();
        let begin = |ahead: &mut Ahead| {
            ahead.begin(&workspace);
            while !ahead.thread.as_ref().unwrap().is_finished() {
                thread::yield_now();
            }
        };
        begin(&mut ahead);
        let [one, two] = [1, 2].map(IndexVersion);
        let take = |ahead: &mut Ahead, current| ahead.take(&workspace, Some(current)).unwrap().version();
        assert_eq!(take(&mut ahead, one), one);
        begin(&mut ahead);
        assert_eq!(publish(&mut workspace.writer().unwrap()), two);
        assert_eq!(take(&mut ahead, two), two);
        // Nobody has begun.
        assert_eq!(take(&mut ahead, two), two);
    }

    #[test]
    fn no_version_is_opened_where_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let options = WorkspaceOptions { embedder: "none".to_owned(), dimension: 0 };
        let workspace = Workspace::open_or_create(folder.path(), &options).unwrap();
        let mut ahead = Ahead::default();
        ahead.begin(&workspace);
        assert!(ahead.take(&workspace, None).is_none());
    }
}
