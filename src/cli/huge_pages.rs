//! Whether the system gives the process huge pages. The allocator asks for them, and each is cleared whole, however
//! little of it is used: only a large index gains.

use crate::workspace::Workspace;

/// Bytes of the records of an index whose runs gain from them.
const LARGE_BYTES_MIN: u64 = 256 << 20;

/// Refuses them, to programs that the process starts as well.
pub(super) fn refuse() {
    set_refused(true);
}

/// Allows them after all, if the process works on a large index.
pub(super) fn allow_if_large(workspace: &Workspace) {
    if workspace.records_bytes() >= LARGE_BYTES_MIN {
        set_refused(false);
    }
}

#[cfg(target_os = "linux")]
fn set_refused(is_refused: bool) {
    // Either is right.
    let _otherwise_slower = rustix::thread::disable_transparent_huge_pages(is_refused);
}

#[cfg(not(target_os = "linux"))]
const fn set_refused(_is_refused: bool) {}
