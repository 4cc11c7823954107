//! What can be wrong with a local model and with the library that runs it.

use std::path::PathBuf;

/// Why the library that runs local models cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// Nobody said where it lies, and it lies in no usual place.
    #[error("it was found neither beside the model nor where libraries usually lie")]
    NotFound,
    /// Nobody but the index says where the model lies, and the library lies in no usual place.
    #[error("it lies in no usual place, and beside a model that only an index names it is not looked for")]
    NotInSystem,
    /// There is nothing at the path that was given.
    #[error("there is no file `{}`", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The file is no ONNX Runtime.
    #[error("`{}` is no ONNX Runtime: {reason}", path.display())]
    NotALibrary {
        /// The file.
        path: PathBuf,
        /// What the loader said.
        reason: String,
    },
    /// The library is too old.
    #[error("`{}` is version {found}; {least} or later is needed", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: String,
        /// The oldest version that would do.
        least: String,
    },
    /// The library does not start.
    #[error("it does not start: {reason}")]
    Start {
        /// What it said.
        reason: String,
    },
}

/// Why a local model cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// There is no such folder.
    #[error("there is no such folder")]
    NoFolder,
    /// A file is missing that every model needs.
    #[error("it has no file `{name}`")]
    MissingFile {
        /// Name of the file.
        name: String,
    },
    /// A file is larger than any model has it.
    #[error("`{name}` has more than {limit} bytes")]
    TooLarge {
        /// Name of the file.
        name: String,
        /// The most bytes that it may have.
        limit: u64,
    },
    /// Several files might be the model.
    #[error("it has several models, {names}, and none is called `model.onnx`")]
    Ambiguous {
        /// Their names.
        names: String,
    },
    /// The runtime or the tokenizer does not take the files.
    #[error("its files cannot be used: {reason}")]
    Unusable {
        /// What was said.
        reason: String,
    },
    /// The model returns something else than is due.
    #[error("its output cannot be used: {reason}")]
    Output {
        /// What is wrong with it.
        reason: String,
    },
}
