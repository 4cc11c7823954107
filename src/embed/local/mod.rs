//! What local models share: the library that runs them, their files, and sessions that threads take turns with.

mod files;
mod pool;
mod runtime;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::Result;

pub(super) use files::ModelFiles;
pub(super) use pool::{Lease, Pool};
pub(super) use runtime::environment;

/// Word pieces that a model is given of one text, with the two that mark its ends.
pub(super) const TOKENS_MAX: usize = 258;
/// A thread that waits must not burn a core: there is one text at a time, on one thread.
pub(super) const SESSION_CONFIG: (&str, &str) = ("session.intra_op.allow_spinning", "0");

/// Where a model lies, and the library that runs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelPlace {
    /// Folder of the model.
    pub folder: PathBuf,
    /// Library of ONNX Runtime; looked for beside the model and in the usual places where none is given.
    pub runtime: Option<PathBuf>,
}

impl ModelPlace {
    /// Returns the library that runs the model: as it is given, or where it is found. It is not loaded.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Runtime`] if there is none.
    pub fn library(&self) -> Result<PathBuf> {
        runtime::library(self)
    }
}
