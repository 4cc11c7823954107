//! Shared by local models: the library that runs them, their files, and a pool of sessions for threads.

mod contents;
mod files;
mod pool;
mod runtime;

use std::path::PathBuf;

use crate::error::Result;

pub(super) use files::ModelFiles;
pub(super) use pool::{Lease, Pool};
pub(super) use runtime::{LibrarySearch, environment, library};

/// Word pieces that a model is given of one text, with the two that mark its ends.
pub(super) const TOKENS_MAX: usize = 258;
/// A waiting thread must not use CPU time: there is one text at a time, on one thread.
pub(super) const SESSION_CONFIG: (&str, &str) = ("session.intra_op.allow_spinning", "0");

/// Where a model is, and the library that runs it, as named by the user.
///
/// The folder is trusted: a library beside the model is loaded. What an index names is a
/// [`LocalPlace`](super::LocalPlace), which is not, and cannot be turned into this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPlace {
    /// Folder of the model.
    pub folder: PathBuf,
    /// Library of ONNX Runtime; by default, it is found beside the model or in the usual places.
    pub runtime: Option<PathBuf>,
}

impl ModelPlace {
    /// Returns the library that runs the model, given or found, without loading it.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Runtime`] if there is none.
    pub fn library(&self) -> Result<PathBuf> {
        library(self.search())
    }

    pub(super) fn search(&self) -> LibrarySearch<'_> {
        self.runtime.as_deref().map_or(LibrarySearch::Beside(&self.folder), LibrarySearch::At)
    }
}
