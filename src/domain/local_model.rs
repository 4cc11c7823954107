//! Errors of a local model and of the library that runs it.

use std::path::PathBuf;

/// Why the library that runs local models cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// No path was given, and it is in none of the usual places.
    #[error("it was found neither beside the model nor in the usual places")]
    NotFound,
    /// Only the index names the folder of the model, and the library is in none of the usual places.
    #[error("it is not in the usual places; Cairn does not look beside a model that only the index names")]
    NotInSystem,
    /// There is nothing at the given path.
    #[error("there is no file `{}`", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The file is not ONNX Runtime.
    #[error("`{}` is not ONNX Runtime: {reason}", path.display())]
    NotALibrary {
        /// The file.
        path: PathBuf,
        /// The loader's message.
        reason: String,
    },
    /// The library is too old.
    #[error("`{}` is version {found}; {least} or later is needed", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: String,
        /// The oldest supported version.
        least: String,
    },
    /// The library does not start.
    #[error("it does not start: {reason}")]
    Start {
        /// Its message.
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
    /// A file is larger than allowed.
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
    /// The runtime or the tokenizer rejects the files.
    #[error("its files cannot be used: {reason}")]
    Unusable {
        /// The error message.
        reason: String,
    },
    /// The output of the model is not as expected.
    #[error("its output cannot be used: {reason}")]
    Output {
        /// Its fault.
        reason: String,
    },
}
