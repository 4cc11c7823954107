//! Contains panics of a library that trusts the file it reads: a file with a forged checksum is damaged, not a fault of
//! this program.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::error::{Error, Result};

thread_local! {
    static IS_CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether a panic of this thread is caught and becomes an error, so that it need not be printed.
pub(crate) fn is_contained() -> bool {
    IS_CONTAINED.get()
}

/// Reads the file at `path` with a library that may panic on its contents.
///
/// # Errors
///
/// Errors of `read`, and [`Error::Corrupt`] if it panics.
pub(super) fn contained<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    let outer = IS_CONTAINED.replace(true);
    // Its unfinished state is dropped with its reader.
    let done = catch_unwind(AssertUnwindSafe(read));
    IS_CONTAINED.set(outer);
    done.unwrap_or_else(|_| {
        let reason = "it holds what no text index does".to_owned();
        Err(Error::Corrupt { path: path.to_owned(), reason })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn a_panic_becomes_an_error_and_is_not_printed() {
        let path = Path::new("text");
        let read = |is_right: bool| {
            contained(path, || {
                assert!(is_contained());
                assert!(contained(path, || Ok(is_contained()))?);
                assert!(is_contained() && is_right);
                Ok(7)
            })
        };
        assert_eq!(read(true).unwrap(), 7);
        assert_eq!(read(false).unwrap_err().kind(), ErrorKind::Corrupt);
        assert!(!is_contained());
    }
}
