//! Opens the last version while documents are still read: most of that is checking that its files are what was written.

use std::thread::{self, JoinHandle};

use crate::workspace::{LastVersion, Workspace};

/// The last version on its way.
#[derive(Default)]
pub(super) struct Ahead(Option<JoinHandle<Option<LastVersion>>>);

impl Ahead {
    /// Begins to open the last version, unless that has begun.
    pub(super) fn begin(&mut self, workspace: &Workspace) {
        if self.0.is_none() {
            let workspace = workspace.clone();
            let open = move || {
                let last = workspace.last_version()?;
                last.open();
                Some(last)
            };
            // Without a thread, it is opened later.
            self.0 = thread::Builder::new().spawn(open).ok();
        }
    }

    /// Returns the last version, opened as far as that has begun.
    pub(super) fn take(&mut self, workspace: &Workspace) -> Option<LastVersion> {
        let opened = self.0.take().and_then(|thread| thread.join().ok().flatten());
        // A checkpoint may have come after it.
        opened.filter(|last| workspace.is_current(last)).or_else(|| workspace.last_version())
    }
}

impl Drop for Ahead {
    /// Waits for it: a run that has ended reads no files.
    fn drop(&mut self) {
        self.0.take().map(JoinHandle::join);
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
        ahead.begin(&workspace);
        let first = ahead.take(&workspace).unwrap();
        assert!(workspace.is_current(&first));
        ahead.begin(&workspace);
        publish(&mut workspace.writer().unwrap());
        assert!(!workspace.is_current(&first));
        let second = ahead.take(&workspace).unwrap();
        assert!(workspace.is_current(&second));
        // Nobody has begun.
        assert!(ahead.take(&workspace).is_some_and(|it| workspace.is_current(&it)));
    }

    #[test]
    fn no_version_is_opened_where_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let options = WorkspaceOptions { embedder: "none".to_owned(), dimension: 0 };
        let workspace = Workspace::open_or_create(folder.path(), &options).unwrap();
        let mut ahead = Ahead::default();
        ahead.begin(&workspace);
        assert!(ahead.take(&workspace).is_none());
    }
}
