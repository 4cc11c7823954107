//! The user's own configuration: trusted, so it may decide what is loaded and which servers are called.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::model::FileModel;
use super::{Database, Settings, folder_of};
use crate::error::{Error, Result};
use crate::files;
use crate::ingest::PLACEHOLDER;

/// The name of a file with settings.
pub(super) const NAME: &str = "cairn.toml";
/// Bytes of a file with settings at most.
pub(super) const SETTINGS_BYTES_MAX: u64 = 1 << 20;

/// The prefix of a local model's folder.
const LOCAL_MODEL: &str = "onnx:";

/// Keys of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    index: Option<PathBuf>,
    embedder: Option<String>,
    hierarchy: Option<String>,
    weights: Option<PathBuf>,
    onnx_runtime: Option<PathBuf>,
    models: Option<PathBuf>,
    deadline: Option<f64>,
    entity_types: Option<Listed>,
    #[serde(default)]
    no_mmap: bool,
    #[serde(default)]
    neo4j: Neo4j,
    #[serde(default)]
    model: FileModel,
    #[serde(default)]
    ingest: Ingest,
    #[serde(default)]
    web_search: WebSearch,
}

/// Keys about web searches.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WebSearch {
    url: Option<String>,
    key_file: Option<PathBuf>,
    /// Only to be refused with a reason.
    key: Option<serde::de::IgnoredAny>,
}

/// A list, or the one text that it would have.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Listed {
    One(String),
    Several(Vec<String>),
}

impl Listed {
    pub(super) fn into_list(self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one],
            Self::Several(several) => several,
        }
    }
}

/// Keys about reading documents.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ingest {
    #[serde(default)]
    convert: BTreeMap<String, Vec<String>>,
}

impl Ingest {
    /// Returns the commands, by extension in lower case and without its dot; or which of them names no file.
    fn converters(self) -> std::result::Result<BTreeMap<String, Vec<String>>, String> {
        let checked = self.convert.into_iter().map(|(extension, command)| {
            let key = extension.trim_start_matches('.').to_lowercase();
            if command.iter().skip(1).any(|argument| argument.contains(PLACEHOLDER)) && !key.is_empty() {
                return Ok((key, command));
            }
            let form = "a program, then arguments, one of which contains `{}`";
            Err(format!("`ingest.convert` of `{extension}` is not a command: {form}"))
        });
        checked.collect()
    }
}

/// Keys about the database.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Neo4j {
    uri: Option<String>,
    database: Option<String>,
    user: Option<String>,
    password_file: Option<PathBuf>,
    traversal: Option<String>,
    memory: Option<u64>,
    cache: Option<PathBuf>,
    browser: Option<String>,
    /// Only to be refused with a reason.
    password: Option<serde::de::IgnoredAny>,
}

/// Returns the path of the default file: in the user's configuration folder, if there is one.
pub(super) fn usual(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    Some(folder_of(variable, "XDG_CONFIG_HOME", ".config")?.join(NAME))
}

/// Reads the text of a file with settings.
pub(super) fn text(path: &Path) -> Result<String> {
    files::read_text_up_to(path, SETTINGS_BYTES_MAX)?.ok_or_else(|| {
        let reason = format!("it has more than {SETTINGS_BYTES_MAX} bytes");
        Error::Settings { path: path.to_owned(), reason }
    })
}

/// Reads a file that is trusted; paths in it are meant from its folder.
pub(super) fn read(path: &Path) -> Result<Settings> {
    let text = text(path)?;
    let refuse = |reason: String| Error::Settings { path: path.to_owned(), reason };
    let file: File = toml::from_str(&text).map_err(|error| refuse(error.to_string().trim_end().to_owned()))?;
    if file.neo4j.password.is_some() {
        return Err(refuse("a password does not belong there: name a file with `password_file`".to_owned()));
    }
    if file.model.has_key() || file.web_search.key.is_some() {
        return Err(refuse("a key does not belong there: name a file with `key_file`".to_owned()));
    }
    if let Some(problem) = file.model.problem() {
        return Err(refuse(problem));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let from_folder = |path: PathBuf| folder.join(path);
    let embedder = file.embedder.map(|embedder| match embedder.strip_prefix(LOCAL_MODEL) {
        Some(model) => format!("{LOCAL_MODEL}{}", folder.join(model).display()),
        None => embedder,
    });
    Ok(Settings {
        index: file.index.map(from_folder),
        embedder,
        hierarchy: file.hierarchy,
        weights: file.weights.map(from_folder),
        onnx_runtime: file.onnx_runtime.map(from_folder),
        models: file.models.map(from_folder),
        deadline: file.deadline.map(|seconds| seconds.to_string()),
        entity_types: file.entity_types.map(Listed::into_list),
        neo4j: Database {
            uri: file.neo4j.uri,
            name: file.neo4j.database,
            user: file.neo4j.user,
            password: None,
            password_file: file.neo4j.password_file.map(from_folder),
            traversal: file.neo4j.traversal,
            memory: file.neo4j.memory.map(|megabytes| megabytes.to_string()),
            cache: file.neo4j.cache.map(from_folder),
            browser: file.neo4j.browser,
        },
        model: file.model.settings(folder),
        no_mmap: file.no_mmap,
        converters: file.ingest.converters().map_err(refuse)?,
        web_search: super::WebSearch { url: file.web_search.url, key_file: file.web_search.key_file.map(from_folder) },
        ..Settings::default()
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read_text(text: &str) -> Result<Settings> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        fs::write(&path, text).unwrap();
        let mut settings = read(&path)?;
        let cut = |path: PathBuf| path.strip_prefix(folder.path()).map_or(path.clone(), Path::to_owned);
        settings.index = settings.index.map(cut);
        settings.weights = settings.weights.map(cut);
        settings.neo4j.password_file = settings.neo4j.password_file.map(cut);
        let place = format!("{}/", folder.path().display());
        settings.embedder = settings.embedder.map(|it| it.replace(&place, "FOLDER/"));
        Ok(settings)
    }

    #[test]
    fn paths_are_meant_from_the_folder_of_the_file() {
        let settings = read_text(
            "index = \"notes.cairn\"\nembedder = \"onnx:model\"\nweights = \"/w.json\"\n\
             [neo4j]\nuri = \"bolt://h\"\ndatabase = \"d\"\nuser = \"u\"\npassword_file = \"secret\"",
        );
        let path = |path: &str| Some(PathBuf::from(path));
        let neo4j = Database {
            uri: Some("bolt://h".to_owned()),
            name: Some("d".to_owned()),
            user: Some("u".to_owned()),
            password: None,
            password_file: path("secret"),
            ..Database::default()
        };
        let expected = Settings {
            index: path("notes.cairn"),
            embedder: Some("onnx:FOLDER/model".to_owned()),
            weights: path("/w.json"),
            neo4j,
            ..Settings::default()
        };
        assert_eq!(settings.unwrap(), expected);
        assert_eq!(read_text("embedder = \"none\"").unwrap().embedder.as_deref(), Some("none"));
        assert_eq!(read_text("deadline = 2").unwrap().deadline.as_deref(), Some("2"));
        let types = |text| read_text(text).unwrap().entity_types.unwrap();
        assert_eq!(types("entity_types = [\"person\", \"mill\"]"), ["person", "mill"]);
        assert_eq!(types("entity_types = \"propose\""), ["propose"]);
        assert_eq!(read_text("deadline = 2.5").unwrap().deadline.as_deref(), Some("2.5"));
    }

    #[test]
    fn converters_are_commands_that_take_a_file() {
        let settings = read_text("[ingest.convert]\n\".DJVU\" = [\"djvutxt\", \"{}\"]").unwrap();
        assert_eq!(settings.converters["djvu"], ["djvutxt", "{}"]);
        for text in ["djvu = []", "djvu = [\"djvutxt\"]", "djvu = [\"{}\"]", "\"\" = [\"a\", \"{}\"]"] {
            let error = read_text(&format!("[ingest.convert]\n{text}")).unwrap_err().to_string();
            assert!(error.contains("ingest.convert"), "{error}");
        }
    }

    #[test]
    fn what_is_misspelt_or_secret_is_refused() {
        let said = |text| read_text(text).unwrap_err().to_string();
        assert!(said("indx = \"x\"").contains("indx"), "{}", said("indx = \"x\""));
        assert!(said("index = 3").contains("line 1"), "{}", said("index = 3"));
        assert!(said("[neo4j]\npassword = \"hush\"").contains("password_file"));
        assert!(!said("[neo4j]\npassword = \"hush\"").contains("hush"));
        assert!(said("[model]\nkey = \"hush\"").contains("key_file"));
        assert!(!said("[model]\nkey = \"hush\"").contains("hush"));
        assert!(said("[model]\nnme = \"m\"").contains("nme"));
        assert!(said("[web_search]\nkey = \"hush\"").contains("key_file"));
        let set = read_text("[web_search]\nurl = \"http://h\"\nkey_file = \"/k\"").unwrap().web_search;
        assert_eq!((set.url.as_deref(), set.key_file), (Some("http://h"), Some(PathBuf::from("/k"))));
    }
}
