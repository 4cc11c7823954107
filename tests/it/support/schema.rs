//! Checks of what the program prints against the schemas that it publishes.

use std::error::Error;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// Reads schemas that others refer to by file name.
struct Beside;

impl jsonschema::Retrieve for Beside {
    fn retrieve(&self, uri: &jsonschema::Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        let name = uri.path().as_str().trim_start_matches('/').strip_suffix(".schema.json");
        Ok(schema(name.ok_or_else(|| format!("`{uri}` names no schema"))?))
    }
}

/// Returns the schema `schemas/api/NAME.schema.json`.
#[track_caller]
pub(crate) fn schema(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/api").join(format!("{name}.schema.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("no schema `{name}`: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("schema `{name}`: {error}"))
}

/// Returns the violations of a schema by `value`, each with its place.
#[track_caller]
pub(crate) fn complaints(name: &str, value: &Value) -> Vec<String> {
    let options = jsonschema::options().with_base_uri("schemas:/").with_retriever(Beside);
    let validator = options.build(&schema(name)).unwrap_or_else(|error| panic!("schema `{name}`: {error}"));
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Fails unless `value` is valid by this schema.
#[track_caller]
pub(crate) fn assert_valid(name: &str, value: &Value) {
    let complaints = complaints(name, value);
    assert!(complaints.is_empty(), "against schema `{name}`:\n{}\nin {value:#}", complaints.join("\n"));
}
