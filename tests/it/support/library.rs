//! The library as its users see it: indexes are made and read in this process.

use std::future::Future;
use std::path::Path;

use cairn::{IndexOptions, IndexReport, Performers, QueryEngine, Result, Sources, Workspace, WorkspaceOptions};

/// Runs a future to its end.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap().block_on(future)
}

/// Opens the index at `path`, or creates one.
pub(crate) fn workspace(path: &Path) -> Workspace {
    Workspace::open_or_create(path, &WorkspaceOptions::of(&Performers::built_in())).unwrap()
}

/// Brings the index at `path` up to date with `sources`.
pub(crate) fn index_with(path: &Path, sources: &Sources, options: &IndexOptions) -> Result<IndexReport> {
    block_on(cairn::index(&mut workspace(path), sources, &Performers::built_in(), options))
}

/// The same with default options.
#[track_caller]
pub(crate) fn index(path: &Path, sources: &Sources) -> IndexReport {
    index_with(path, sources, &IndexOptions::default()).unwrap()
}

/// Returns the canonical form of the last version of the index at `path`.
#[track_caller]
pub(crate) fn canonical(path: &Path) -> Vec<String> {
    Workspace::open(path).unwrap().snapshot().unwrap().canonical_lines().unwrap()
}

/// Opens an engine over the last version of the index at `path`.
#[track_caller]
pub(crate) fn engine(path: &Path) -> QueryEngine {
    QueryEngine::open(&Workspace::open(path).unwrap(), Performers::built_in()).unwrap()
}
