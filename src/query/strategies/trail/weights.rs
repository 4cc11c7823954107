//! Weights of `trail`: the built-in ones, by embedder of the index, and those of a file.

use std::path::Path;

use crate::embed::{NoEmbedder, StaticTable};
use crate::error::{Error, Result};
use crate::files;
use crate::graph::trail::{VectorKind, WeightSet};

/// Bytes of a file of weights at most.
const WEIGHTS_BYTES_MAX: u64 = 64 << 20;

/// Reads the weights in the file at `path`, as a fit writes them.
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be read; [`Error::Line`] if its contents are invalid, or a weight is not a finite
/// number.
pub fn read_weights(path: &Path) -> Result<WeightSet> {
    let weights: WeightSet = files::read_json(path, WEIGHTS_BYTES_MAX)?;
    if weights.is_finite() {
        return Ok(weights);
    }
    let reason = "a weight is not a finite number".to_owned();
    Err(Error::Line { path: path.to_owned(), line: 1, reason })
}

/// Returns the weights that come with the program for an index with the vectors of `embedder`.
///
/// # Errors
///
/// [`Error::Internal`] never happens with the weights as they are.
pub fn shipped_weights(embedder: &str) -> Result<&'static WeightSet> {
    let weights = WeightSet::shipped(vector_kind(embedder));
    weights.ok_or_else(|| Error::Internal("the weights cannot be read".to_owned()))
}

/// Returns where vectors come from whose embedder has that name.
fn vector_kind(embedder: &str) -> VectorKind {
    match embedder {
        NoEmbedder::NAME => VectorKind::Without,
        StaticTable::NAME => VectorKind::BuiltIn,
        _ => VectorKind::Model,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn weights_are_chosen_by_the_embedder_of_the_index() {
        assert_eq!(vector_kind("none"), VectorKind::Without);
        assert_eq!(vector_kind("static-256i8"), VectorKind::BuiltIn);
        assert_eq!(vector_kind("onnx:model@0123456789abcdef"), VectorKind::Model);
    }

    fn read(text: &str) -> Result<WeightSet> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("weights.json");
        std::fs::write(&path, text).expect("a file");
        read_weights(&path)
    }

    #[test]
    fn the_weights_of_the_program_can_be_read_from_a_file() {
        let built_in = shipped_weights(StaticTable::NAME).expect("weights");
        let text = serde_json::to_string_pretty(built_in).expect("text");
        assert_eq!(read(&text).ok().as_ref(), Some(built_in));
        assert!(read(&text.replacen("3.0", "1e39", 1)).is_err());
    }

    #[test]
    fn a_file_without_weights_is_refused_with_its_line() {
        let error = read("{\n\"titled\": 1}").expect_err("no weights").to_string();
        assert!(error.contains("line 2"), "{error}");
        assert!(matches!(read_weights(Path::new("no/such/file")), Err(Error::Io { .. })));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("weights.json");
        File::create(&path).and_then(|file| file.set_len(WEIGHTS_BYTES_MAX + 1)).expect("a file");
        assert!(read_weights(&path).expect_err("too large").to_string().contains("more than 67108864 bytes"));
    }
}
