//! A folder for what a target writes, one for the whole run.

use std::path::Path;
use std::sync::OnceLock;

use tempfile::TempDir;

static FOLDER: OnceLock<TempDir> = OnceLock::new();

/// Calls an entry with the folder; a fuzzer ignores the result.
pub fn in_a_folder(entry: impl FnOnce(&Path) -> bool) {
    let folder = FOLDER.get_or_init(|| TempDir::new().expect("a folder can be made"));
    let _is_accepted = entry(folder.path());
}
