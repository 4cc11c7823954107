//! ONNX Runtime, loaded on first use. A process keeps the first one that it loaded.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ort::LoadDynamicError;
use ort::environment::Environment;

use crate::domain::RuntimeError;
use crate::error::{Error, Result};

/// Where systems keep libraries.
#[cfg(not(windows))]
const FOLDERS: &[&str] = &[
    "/usr/local/lib",
    "/usr/lib",
    "/usr/lib64",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/opt/onnxruntime/lib",
    "/opt/homebrew/lib",
    "/opt/local/lib",
];
/// Where systems keep libraries: on Windows a path like the others would be one that anybody may make.
#[cfg(windows)]
const FOLDERS: &[&str] = &[];

const LIBRARY: &str = if cfg!(windows) {
    "onnxruntime.dll"
} else if cfg!(target_os = "macos") {
    "libonnxruntime.dylib"
} else {
    "libonnxruntime.so"
};

static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);

/// Where to find the library. Loading it runs its code, so none of these ever comes from an index.
#[derive(Debug, Clone, Copy)]
pub(in crate::embed) enum LibrarySearch<'a> {
    /// This file.
    At(&'a Path),
    /// In the folder of a model that was named, the one above it, or where systems keep libraries.
    Beside(&'a Path),
    /// Where systems keep libraries.
    System,
}

/// Returns the environment of ONNX Runtime, and loads the library if that was not done before.
pub(in crate::embed) fn environment(search: LibrarySearch<'_>) -> Result<Environment> {
    let library = library(search)?;
    let mut environment = ENVIRONMENT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(environment) = environment.as_ref() {
        return Ok(environment.clone());
    }
    let fault = |source| Error::Runtime { source };
    let builder = ort::init_from(&library).map_err(|error| fault(load_error(&library, error)))?;
    let started = builder.build().map_err(|error| fault(RuntimeError::Start { reason: error.to_string() }))?;
    Ok(environment.insert(started).clone())
}

/// Returns the library. It is not loaded.
pub(in crate::embed) fn library(search: LibrarySearch<'_>) -> Result<PathBuf> {
    let fault = |source| Error::Runtime { source };
    let in_system = || FOLDERS.iter().map(Path::new).find_map(library_in);
    match search {
        LibrarySearch::At(path) if path.is_file() => {
            // A bare name would be searched for elsewhere.
            std::path::absolute(path).map_err(Error::io("find", path))
        }
        LibrarySearch::At(path) => Err(fault(RuntimeError::Missing { path: path.to_owned() })),
        LibrarySearch::Beside(folder) => {
            let folder = std::path::absolute(folder).map_err(Error::io("find", folder))?;
            let beside = [Some(folder.as_path()), folder.parent()];
            let found = beside.into_iter().flatten().find_map(library_in).or_else(in_system);
            found.ok_or_else(|| fault(RuntimeError::NotFound))
        }
        LibrarySearch::System => in_system().ok_or_else(|| fault(RuntimeError::NotInSystem)),
    }
}

/// Returns the library in a folder; if there is none without a version in its name, the last one with a version.
fn library_in(folder: &Path) -> Option<PathBuf> {
    let plain = folder.join(LIBRARY);
    if plain.is_file() {
        return Some(plain);
    }
    let entries = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let versioned = format!("{LIBRARY}.");
    let named = |path: &PathBuf| path.file_name().is_some_and(|it| it.to_string_lossy().starts_with(&versioned));
    entries.filter(named).max()
}

fn load_error(library: &Path, error: LoadDynamicError) -> RuntimeError {
    let path = library.to_owned();
    match error {
        LoadDynamicError::Dlopen { error, .. } => RuntimeError::NotALibrary { path, reason: error.to_string() },
        LoadDynamicError::BadVersion { version_str, .. } => {
            RuntimeError::Version { path, found: version_str, least: format!("1.{}", ort::MINOR_VERSION) }
        }
        LoadDynamicError::MissingApi { .. } | LoadDynamicError::InvalidVersionString => {
            RuntimeError::NotALibrary { path, reason: "it is another library".to_owned() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_found_beside_the_model_with_or_without_a_version_in_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model");
        std::fs::create_dir(&model).unwrap();
        let place = LibrarySearch::Beside(&model);
        for name in [format!("{LIBRARY}.1.24.0"), format!("{LIBRARY}.1.25.0"), LIBRARY.to_owned()] {
            std::fs::write(folder.path().join(&name), "").unwrap();
            assert_eq!(library(place).unwrap(), folder.path().join(&name));
        }
        std::fs::write(model.join(LIBRARY), "").unwrap();
        assert_eq!(library(place).unwrap(), model.join(LIBRARY));
    }

    #[test]
    fn a_library_that_is_not_there_is_an_error_before_anything_is_loaded() {
        let path = PathBuf::from("no-such-library");
        let error = environment(LibrarySearch::At(&path)).unwrap_err();
        assert!(matches!(error, Error::Runtime { source: RuntimeError::Missing { path: it } } if it == path));
    }
}
