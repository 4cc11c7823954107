//! Weights of `trail` from a file.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};
use crate::graph::trail::WeightSet;

/// Reads the weights in the file at `path`, as a fit writes them.
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be read; [`Error::Line`] if it holds something else, or a weight that is no finite
/// number.
pub fn read_weights(path: &Path) -> Result<WeightSet> {
    let bytes = fs::read(path).map_err(Error::io("read", path))?;
    let refused = |line: usize, reason: String| Error::Line { path: path.to_owned(), line, reason };
    let weights: WeightSet =
        serde_json::from_slice(&bytes).map_err(|error| refused(error.line().max(1), error.to_string()))?;
    if !weights.is_finite() {
        return Err(refused(1, "a weight is no finite number".to_owned()));
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<WeightSet> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("weights.json");
        fs::write(&path, text).expect("a file");
        read_weights(&path)
    }

    #[test]
    fn the_weights_of_the_program_can_be_read_from_a_file() {
        let built_in = WeightSet::built_in().expect("weights");
        let text = serde_json::to_string_pretty(built_in).expect("text");
        assert_eq!(read(&text).ok().as_ref(), Some(built_in));
        assert!(read(&text.replacen("3.0", "1e39", 1)).is_err());
    }

    #[test]
    fn what_holds_no_weights_is_refused_with_its_line() {
        let error = read("{\n\"titled\": 1}").expect_err("no weights").to_string();
        assert!(error.contains("line 2"), "{error}");
        assert!(matches!(read_weights(Path::new("no/such/file")), Err(Error::Io { .. })));
    }
}
