//! A configuration file found in the current folder: it may have come with the folder, from anybody.
//!
//! It may set only the fields of [`Found`]: how to index and search there. The type that it is parsed as has no values
//! for keys that decide what is loaded, called or sent, only their position in the file, with which they are refused.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

use super::own::{self, Listed};
use crate::error::{Error, Result};

const NEEDS_TRUST: &str = "decides what is loaded, called or sent, which a file found in the current folder may not";
const NO_MODEL: &str = "may be `builtin` or `none` in a file found in the current folder, and no model or server";
const NO_FILE: &str = "names something else than a file";
const OUTSIDE: &str = "leads out of the folder of the file, or along a link, which a file found there may not";

/// The settings of such a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// The folder of the index, below that of the file.
    pub(super) index: Option<PathBuf>,
    /// `builtin` or `none`.
    pub(super) embedder: Option<String>,
    /// How the hierarchy of an index is made, by name.
    pub(super) hierarchy: Option<String>,
    /// The weights of `trail`, in a file below the folder of this one.
    pub(super) weights: Option<PathBuf>,
    /// Seconds for an answer, as they are written.
    pub(super) deadline: Option<String>,
    /// Types of entities that a model looks for.
    pub(super) entity_types: Option<Vec<String>>,
    /// Whether files of an index are read and not mapped.
    pub(super) no_mmap: bool,
}

/// A parsed file: for keys that it may not have, only their positions.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::zero_sized_map_values, reason = "a table is read as a map, of which only the keys are wanted")]
struct File {
    index: Option<Spanned<PathBuf>>,
    embedder: Option<Spanned<String>>,
    hierarchy: Option<String>,
    weights: Option<Spanned<PathBuf>>,
    deadline: Option<f64>,
    entity_types: Option<Listed>,
    #[serde(default)]
    no_mmap: bool,
    onnx_runtime: Option<Spanned<IgnoredAny>>,
    models: Option<Spanned<IgnoredAny>>,
    #[serde(default)]
    neo4j: BTreeMap<Spanned<String>, IgnoredAny>,
    #[serde(default)]
    model: BTreeMap<Spanned<String>, IgnoredAny>,
    #[serde(default)]
    ingest: BTreeMap<Spanned<String>, IgnoredAny>,
    #[serde(default)]
    web_search: BTreeMap<Spanned<String>, IgnoredAny>,
}

/// Reads a file; paths in it are meant from its folder.
pub(super) fn read(path: &Path) -> Result<Found> {
    // A link may lead to any file of the user's, and errors would show a line of it.
    if path.is_symlink() || !path.is_file() {
        return Err(Error::Settings { path: path.to_owned(), reason: "it is not a regular file".to_owned() });
    }
    let text = own::text(path)?;
    let file: File = toml::from_str(&text).map_err(|error| {
        let reason = error.to_string().trim_end().to_owned();
        Error::Settings { path: path.to_owned(), reason }
    })?;
    let refused = |key: &str, at: usize, reason| {
        let line = text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
        Error::FoundSettings { path: path.to_owned(), line, key: key.to_owned(), reason }
    };
    if let Some((at, key)) = file.first_that_needs_trust() {
        return Err(refused(&key, at, NEEDS_TRUST));
    }
    if let Some(embedder) = &file.embedder
        && !matches!(embedder.get_ref().as_str(), "builtin" | "none")
    {
        return Err(refused("embedder", embedder.span().start, NO_MODEL));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let inside = |key, asked: Option<Spanned<PathBuf>>| match asked {
        Some(asked) if !is_below(folder, asked.get_ref()) => Err(refused(key, asked.span().start, OUTSIDE)),
        asked => Ok(asked.map(|asked| folder.join(asked.into_inner()))),
    };
    let at = file.weights.as_ref().map_or(0, |it| it.span().start);
    let weights = inside("weights", file.weights)?;
    // A pipe would never end.
    if weights.as_ref().is_some_and(|path| path.exists() && !path.is_file()) {
        return Err(refused("weights", at, NO_FILE));
    }
    Ok(Found {
        index: inside("index", file.index)?,
        embedder: file.embedder.map(Spanned::into_inner),
        hierarchy: file.hierarchy,
        weights,
        deadline: file.deadline.map(|seconds| seconds.to_string()),
        entity_types: file.entity_types.map(Listed::into_list),
        no_mmap: file.no_mmap,
    })
}

impl File {
    /// Returns the first key that only the user may set, and its position.
    fn first_that_needs_trust(&self) -> Option<(usize, String)> {
        let single = [("onnx_runtime", &self.onnx_runtime), ("models", &self.models)];
        let single = single.into_iter().filter_map(|(key, it)| Some((it.as_ref()?.span().start, key.to_owned())));
        let tables = [
            ("neo4j", &self.neo4j),
            ("model", &self.model),
            ("ingest", &self.ingest),
            ("web_search", &self.web_search),
        ];
        let in_tables = tables.into_iter().flat_map(|(table, keys)| {
            keys.keys().map(move |key| (key.span().start, format!("{table}.{}", key.get_ref())))
        });
        single.chain(in_tables).min()
    }
}

/// Returns whether a path leads from a folder to a place below it, without a link.
fn is_below(folder: &Path, path: &Path) -> bool {
    let mut place = folder.to_owned();
    path.components().all(|component| {
        place.push(component);
        let is_link = || std::fs::symlink_metadata(&place).is_ok_and(|it| it.is_symlink());
        match component {
            Component::Normal(_) => !is_link(),
            Component::CurDir => true,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Found> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(own::NAME);
        std::fs::write(&path, text).unwrap();
        let found = read(&path)?;
        let cut = |path: PathBuf| path.strip_prefix(folder.path()).unwrap().to_owned();
        Ok(Found { index: found.index.map(cut), weights: found.weights.map(cut), ..found })
    }

    #[test]
    fn it_says_how_to_index_and_search() {
        let text = "index = \"./kept/notes.cairn\"\nembedder = \"none\"\nhierarchy = \"paper\"\nweights = \"w.json\"\n\
                    deadline = 2.5\nno_mmap = true\nentity_types = [\"mill\"]\n[model]\n";
        let expected = Found {
            index: Some(PathBuf::from("kept/notes.cairn")),
            embedder: Some("none".to_owned()),
            hierarchy: Some("paper".to_owned()),
            weights: Some(PathBuf::from("w.json")),
            deadline: Some("2.5".to_owned()),
            entity_types: Some(vec!["mill".to_owned()]),
            no_mmap: true,
        };
        assert_eq!(read_text(text).unwrap(), expected);
        assert_eq!(read_text("").unwrap(), Found::default());
    }

    /// Every key that the user's own file may have but a found one may not, as somebody would write it.
    #[test]
    fn whatever_is_loaded_called_or_sent_is_refused_with_its_line() {
        let top = ["onnx_runtime = \"x\"", "models = \"x\"", "embedder = \"onnx:x\"", "embedder = \"openai:m\""];
        let neo4j = ["uri", "database", "user", "password", "password_file", "traversal", "memory", "cache", "browser"];
        let model = [
            "server",
            "url",
            "embedder_url",
            "confirmed",
            "name",
            "index",
            "reason",
            "answer",
            "reranker",
            "key",
            "key_file",
            "organization",
            "headers",
            "form",
            "timeout_s",
            "concurrency",
            "requests_per_minute",
            "tokens_per_minute",
            "prices",
        ];
        let top = top.into_iter().map(|line| (line.split(' ').next().unwrap().to_owned(), format!("\n{line}")));
        let in_table =
            |table: &'static str| move |key: &str| (format!("{table}.{key}"), format!("[{table}]\n{key} = 1"));
        let inline = |(key, _): (String, String)| (key.clone(), format!("\n{key} = {{ a = \"hush\" }}"));
        let tables: Vec<_> = neo4j.map(in_table("neo4j")).into_iter().chain(model.map(in_table("model"))).collect();
        let tables = tables.into_iter().chain(["convert"].map(in_table("ingest")));
        let tables: Vec<_> = tables.chain(["url", "key_file"].map(in_table("web_search"))).collect();
        let cases: Vec<_> = top.chain(tables.clone()).chain(tables.into_iter().map(inline)).collect();
        for (key, text) in cases {
            let error = read_text(&text).unwrap_err();
            let Error::FoundSettings { line: 2, key: said, .. } = &error else { panic!("{text}: {error:?}") };
            assert_eq!(*said, key);
            assert!(!error.to_string().contains("hush"), "{error}");
        }
    }

    #[test]
    fn no_path_leads_out_of_its_folder() {
        for path in ["..", "../x", "a/../../x", "/x", "a/../x"] {
            for key in ["index", "weights"] {
                let error = read_text(&format!("{key} = \"{path}\"")).unwrap_err();
                assert!(matches!(&error, Error::FoundSettings { line: 1, key: it, .. } if it == key), "{error:?}");
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn no_path_leads_along_a_link() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/", folder.path().join("link")).unwrap();
        assert!(!is_below(folder.path(), Path::new("link")) && !is_below(folder.path(), Path::new("link/tmp")));
        assert!(is_below(folder.path(), Path::new("./not/there")));
    }

    #[test]
    fn weights_are_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("w")).unwrap();
        let path = folder.path().join(own::NAME);
        std::fs::write(&path, "\nweights = \"w\"").unwrap();
        let error = read(&path).unwrap_err();
        assert!(matches!(&error, Error::FoundSettings { line: 2, reason: NO_FILE, .. }), "{error:?}");
    }

    #[test]
    fn invalid_settings_and_special_files_are_refused() {
        let said = |text: &str| read_text(text).unwrap_err().to_string();
        assert!(said("indx = \"x\"").contains("indx"));
        assert!(said("index = 3").contains("line 1"));
        assert!(said(&format!("#{}", "x".repeat(1 << 20))).contains("more than 1048576 bytes"));
        assert!(read(Path::new("/")).unwrap_err().to_string().contains("not a regular file"));
    }
}
