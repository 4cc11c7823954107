//! Configuration: the environment, and files called `cairn.toml`. The only place that reads either.
//!
//! The environment and the user's own file are trusted. A file found in the current folder may come from somebody else,
//! with the folder: it is parsed as a type that has no field for what is loaded, called or sent.
//!
//! A flag takes precedence over the environment, then a found file, the user's own file, and the default.

mod found;
mod model;
mod own;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::workspace::FileAccess;
use found::Found;

pub use model::{LanguageModel, ModelRole};

/// The default folder of an index.
pub const INDEX_DEFAULT: &str = ".cairn";
/// The variable that refuses colors, whatever it says.
const NO_COLOR: &str = "NO_COLOR";

/// Settings from the environment and the files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// The files that were read.
    pub files: SettingsFiles,
    /// `CAIRN_INDEX`, `index`: the folder of the index.
    pub index: Option<PathBuf>,
    /// `CAIRN_EMBEDDER`, `embedder`: the embedder of a new index, and the place of an older one's model.
    pub embedder: Option<String>,
    /// `CAIRN_HIERARCHY`, `hierarchy`: how the hierarchy of an index is made, by name.
    pub hierarchy: Option<String>,
    /// `CAIRN_WEIGHTS`, `weights`: the weights of `trail`.
    pub weights: Option<PathBuf>,
    /// `CAIRN_ONNX_RUNTIME`, `onnx_runtime`: the library that runs local models.
    pub onnx_runtime: Option<PathBuf>,
    /// `CAIRN_MODELS`, `models`: the folder of downloaded models.
    pub models: Option<PathBuf>,
    /// The folder of this program in the user's cache folder, if there is one.
    pub caches: Option<PathBuf>,
    /// `CAIRN_DEADLINE`, `deadline`: seconds for an answer, as they are written.
    pub deadline: Option<String>,
    /// `CAIRN_ENTITY_TYPES`, `entity_types`: the types of entities that a model looks for, as they are written.
    pub entity_types: Option<Vec<String>>,
    /// The database that an index is published to.
    pub neo4j: Database,
    /// The language model that may be asked.
    pub model: LanguageModel,
    /// `CAIRN_NO_MMAP`, `no_mmap`: read the files of an index instead of mapping them.
    pub no_mmap: bool,
    /// `NO_COLOR`: no colors on a terminal.
    pub no_color: bool,
    /// `ingest.convert`: programs that convert files to text, by extension.
    pub converters: BTreeMap<String, Vec<String>>,
    /// The web search server, for questions that request it.
    pub web_search: WebSearch,
}

/// A server that searches the web.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebSearch {
    /// `CAIRN_WEB_SEARCH`, `web_search.url`: its address.
    pub url: Option<String>,
    /// `web_search.key_file`: the file whose first line is its key; none for no key.
    pub key_file: Option<PathBuf>,
}

/// Returns the path of this program, so that it can start itself again; none if the system does not provide it.
#[must_use]
pub fn own_program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// Returns the environment of a user's own converter: where programs are, and the language; no keys and passwords.
#[must_use]
pub fn converter_environment() -> Vec<(OsString, OsString)> {
    let kept = ["PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE"];
    kept.iter().filter_map(|name| Some(((*name).into(), std::env::var_os(name)?))).collect()
}

/// Which files with settings were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettingsFiles {
    /// The user's own, or the one that was named: trusted.
    pub own: Option<PathBuf>,
    /// The path of the user's own file, if the user has a configuration folder.
    pub usual: Option<PathBuf>,
    /// The one in the current folder.
    pub found: Option<PathBuf>,
}

/// Settings of the database to which an index is published.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Database {
    /// `CAIRN_NEO4J_URI`, `neo4j.uri`: its address.
    pub uri: Option<String>,
    /// `CAIRN_NEO4J_DATABASE`, `neo4j.database`: its name.
    pub name: Option<String>,
    /// `CAIRN_NEO4J_USER`, `neo4j.user`: the user.
    pub user: Option<String>,
    /// `CAIRN_NEO4J_PASSWORD`: the password; an empty one is none.
    pub password: Option<String>,
    /// `CAIRN_NEO4J_PASSWORD_FILE`, `neo4j.password_file`: the file whose first line is the password.
    pub password_file: Option<PathBuf>,
    /// `CAIRN_NEO4J_TRAVERSAL`, `neo4j.traversal`: where its graph is walked to answer.
    pub traversal: Option<String>,
    /// `CAIRN_NEO4J_MEMORY`, `neo4j.memory`: megabytes of memory that the graph may take.
    pub memory: Option<String>,
    /// `CAIRN_NEO4J_CACHE`, `neo4j.cache`: the folder for copies of its structure.
    pub cache: Option<PathBuf>,
    /// `CAIRN_NEO4J_BROWSER`, `neo4j.browser`: where its Browser is, for links.
    pub browser: Option<String>,
}

impl Database {
    /// Returns these settings, with defaults from `usual`.
    #[must_use]
    pub fn or(&self, usual: &Self) -> Self {
        // A password, or the file of one, goes before both of the other.
        let says_password = self.password.is_some() || self.password_file.is_some();
        let of = if says_password { self } else { usual };
        Self {
            uri: self.uri.clone().or_else(|| usual.uri.clone()),
            name: self.name.clone().or_else(|| usual.name.clone()),
            user: self.user.clone().or_else(|| usual.user.clone()),
            password: of.password.clone(),
            password_file: of.password_file.clone(),
            traversal: self.traversal.clone().or_else(|| usual.traversal.clone()),
            memory: self.memory.clone().or_else(|| usual.memory.clone()),
            cache: self.cache.clone().or_else(|| usual.cache.clone()),
            browser: self.browser.clone().or_else(|| usual.browser.clone()),
        }
    }
}

impl std::fmt::Debug for Database {
    /// Leaves the password out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { uri, name, user, password: _, password_file, traversal, memory, cache, browser } = self;
        f.debug_struct("Database")
            .field("uri", uri)
            .field("name", name)
            .field("user", user)
            .field("password_file", password_file)
            .field("traversal", traversal)
            .field("memory", memory)
            .field("cache", cache)
            .field("browser", browser)
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// Reads the environment of this process, and the file that `asked` or `CAIRN_CONFIG` names. If neither names one,
    /// reads the user's own, `cairn/cairn.toml` in the configuration folder, and `cairn.toml` in the current folder, if
    /// they exist.
    ///
    /// # Errors
    ///
    /// [`Error::Settings`](crate::Error::Settings) if a file is invalid,
    /// [`Error::FoundSettings`](crate::Error::FoundSettings) if the one in the current folder sets what it may not,
    /// [`Error::Io`](crate::Error::Io) if one cannot be read.
    pub fn read(asked: Option<&Path>) -> Result<Self> {
        let variable = |name: &str| std::env::var_os(name);
        Self::read_from(&variable, asked, Path::new(own::NAME))
    }

    fn read_from(variable: &dyn Fn(&str) -> Option<OsString>, asked: Option<&Path>, found: &Path) -> Result<Self> {
        let named = asked.map(Path::to_owned).or_else(|| set(variable, "CAIRN_CONFIG").map(PathBuf::from));
        let usual = own::usual(variable);
        // A named file is the only one that is read; it may also be the one that would be found.
        let found = Some(found).filter(|path| named.is_none() && path.exists());
        let own = named.or_else(|| usual.clone().filter(|path| path.exists()));
        let found = found.filter(|found| !own.as_ref().is_some_and(|own| is_same(found, own)));
        let files = SettingsFiles { usual, found: found.map(Path::to_owned), own };
        let own = files.own.as_deref().map(own::read).transpose()?.unwrap_or_default();
        let found = files.found.as_deref().map(found::read).transpose()?.unwrap_or_default();
        Ok(Self { files, ..Self::of(variable, found, own) })
    }

    /// Returns the settings of the environment, with defaults from the files.
    fn of(variable: &dyn Fn(&str) -> Option<OsString>, found: Found, own: Self) -> Self {
        let path = |name| set(variable, name).map(PathBuf::from);
        let text = |name| set(variable, name).map(|value| value.to_string_lossy().into_owned());
        let password = text("CAIRN_NEO4J_PASSWORD");
        // A password in the environment goes before a file that the file names.
        let usual_file = if password.is_some() { None } else { own.neo4j.password_file };
        Self {
            files: own.files,
            index: path("CAIRN_INDEX").or(found.index).or(own.index),
            embedder: text("CAIRN_EMBEDDER").or(found.embedder).or(own.embedder),
            hierarchy: text("CAIRN_HIERARCHY").or(found.hierarchy).or(own.hierarchy),
            weights: path("CAIRN_WEIGHTS").or(found.weights).or(own.weights),
            onnx_runtime: path("CAIRN_ONNX_RUNTIME").or(own.onnx_runtime),
            models: path("CAIRN_MODELS").or(own.models).or_else(|| Some(caches(variable)?.join("models"))),
            caches: caches(variable),
            deadline: text("CAIRN_DEADLINE").or(found.deadline).or(own.deadline),
            entity_types: (text("CAIRN_ENTITY_TYPES").map(|it| it.split(',').map(str::to_owned).collect()))
                .or(found.entity_types)
                .or(own.entity_types),
            neo4j: Database {
                uri: text("CAIRN_NEO4J_URI").or(own.neo4j.uri),
                name: text("CAIRN_NEO4J_DATABASE").or(own.neo4j.name),
                user: text("CAIRN_NEO4J_USER").or(own.neo4j.user),
                password,
                password_file: path("CAIRN_NEO4J_PASSWORD_FILE").or(usual_file),
                traversal: text("CAIRN_NEO4J_TRAVERSAL").or(own.neo4j.traversal),
                memory: text("CAIRN_NEO4J_MEMORY").or(own.neo4j.memory),
                cache: path("CAIRN_NEO4J_CACHE").or(own.neo4j.cache),
                browser: text("CAIRN_NEO4J_BROWSER").or(own.neo4j.browser),
            },
            model: LanguageModel::of(variable, own.model),
            no_color: set(variable, NO_COLOR).is_some(),
            no_mmap: set(variable, "CAIRN_NO_MMAP").is_some() || found.no_mmap || own.no_mmap,
            converters: own.converters,
            // The key is that of the server in the file.
            web_search: text("CAIRN_WEB_SEARCH")
                .map_or(own.web_search, |url| WebSearch { url: Some(url), key_file: None }),
        }
    }

    /// Returns whether the environment forbids colors, for output before settings are read.
    #[must_use]
    pub fn refuse_colors() -> bool {
        set(&|name| std::env::var_os(name), NO_COLOR).is_some()
    }

    /// Returns the folder of the index: requested, configured, or `.cairn`.
    #[must_use]
    pub fn index(&self, asked: Option<PathBuf>) -> PathBuf {
        asked.or_else(|| self.index.clone()).unwrap_or_else(|| PathBuf::from(INDEX_DEFAULT))
    }

    /// Returns how the files of an index are held while it is open.
    #[must_use]
    pub fn file_access(&self) -> FileAccess {
        if self.no_mmap { FileAccess::Read } else { FileAccess::Auto }
    }

    /// Returns the file that remembers what servers of models can do; none if the user has no cache folder.
    #[must_use]
    pub fn servers(&self) -> Option<PathBuf> {
        self.caches.as_ref().map(|folder| folder.join("servers.json"))
    }

    /// Returns the file that remembers how servers count tokens; none if the user has no cache folder.
    #[must_use]
    pub fn token_counts(&self) -> Option<PathBuf> {
        self.caches.as_ref().map(|folder| folder.join("tokens.json"))
    }
}

/// Returns a variable that says something.
fn set(variable: &dyn Fn(&str) -> Option<OsString>, name: &str) -> Option<OsString> {
    variable(name).filter(|value| !value.is_empty())
}

fn caches(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    folder_of(variable, "XDG_CACHE_HOME", ".cache")
}

/// Returns the folder of this program in the one that a variable names, or in `usual` in the user's own. A path that is
/// not whole says nothing, as the XDG specification has it: it would lead into whatever folder is current.
fn folder_of(variable: &dyn Fn(&str) -> Option<OsString>, name: &str, usual: &str) -> Option<PathBuf> {
    let whole = |name| set(variable, name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = whole(name).or_else(|| Some(whole("HOME")?.join(usual)));
    Some(folder?.join("cairn"))
}

/// Returns whether two paths lead to one file.
fn is_same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(says: &'static [(&str, &str)], own: Settings) -> Settings {
        let variable = |name: &str| says.iter().find(|it| it.0 == name).map(|it| OsString::from(it.1));
        Settings::of(&variable, Found::default(), own)
    }

    #[test]
    fn precedence_is_flag_environment_found_file_own_file() {
        let own = Settings { index: Some(PathBuf::from("own")), ..Settings::default() };
        let settings = of(&[("CAIRN_INDEX", "there")], own.clone());
        assert_eq!(settings.index(Some(PathBuf::from("here"))), PathBuf::from("here"));
        assert_eq!(settings.index(None), PathBuf::from("there"));
        let found = Found { index: Some(PathBuf::from("found")), ..Found::default() };
        assert_eq!(Settings::of(&|_| None, found.clone(), own.clone()).index(None), PathBuf::from("found"));
        let set = |name: &str| (name == "CAIRN_INDEX").then(|| OsString::from("there"));
        assert_eq!(Settings::of(&set, found, own.clone()).index(None), PathBuf::from("there"));
        assert_eq!(of(&[], own).index(None), PathBuf::from("own"));
        assert_eq!(of(&[], Settings::default()).index(None), PathBuf::from(INDEX_DEFAULT));
    }

    /// Reads settings in a folder with the user's own file and one to be found; `sets` are variables in addition to the
    /// user's folder.
    fn read(own: &str, found: &str, sets: &[(&str, &str)], asked: Option<&str>) -> (Result<Settings>, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(path.join(".config/cairn")).unwrap();
        for (name, text) in [(".config/cairn/cairn.toml", own), ("cairn.toml", found), ("other.toml", "index = \"o\"")]
        {
            if !text.is_empty() {
                std::fs::write(path.join(name), text).unwrap();
            }
        }
        let variable = |name: &str| match sets.iter().find(|it| it.0 == name) {
            Some((_, value)) => Some(OsString::from(value)),
            None => (name == "HOME").then(|| path.clone().into_os_string()),
        };
        let asked = asked.map(|name| path.join(name));
        (Settings::read_from(&variable, asked.as_deref(), &path.join("cairn.toml")), path)
    }

    #[test]
    fn the_users_own_file_and_a_found_one_are_both_read_and_a_named_one_alone() {
        let own = "deadline = 2\nonnx_runtime = \"/lib/own.so\"\nindex = \"own\"";
        let (settings, path) = read(own, "index = \"found\"", &[], None);
        let settings = settings.unwrap();
        let expected = SettingsFiles {
            own: Some(path.join(".config/cairn/cairn.toml")),
            usual: Some(path.join(".config/cairn/cairn.toml")),
            found: Some(path.join("cairn.toml")),
        };
        assert_eq!(settings.files, expected);
        assert_eq!(settings.index, Some(path.join("found")));
        assert_eq!((settings.deadline.as_deref(), settings.onnx_runtime), (Some("2"), Some("/lib/own.so".into())));

        let (settings, path) = read(own, "onnx_runtime = \"x\"", &[], Some("other.toml"));
        let settings = settings.unwrap();
        assert_eq!((settings.files.own, settings.files.found), (Some(path.join("other.toml")), None));
        assert_eq!((settings.index, settings.onnx_runtime), (Some(path.join("o")), None));
        // A file that is named explicitly is trusted, even if it would have been found.
        let (settings, path) = read("", "onnx_runtime = \"x\"", &[], Some("cairn.toml"));
        assert_eq!(settings.unwrap().onnx_runtime, Some(path.join("x")));
    }

    #[test]
    fn a_settings_folder_that_is_not_an_absolute_path_is_ignored() {
        let (settings, path) = read("deadline = 2", "", &[("XDG_CONFIG_HOME", ".config")], None);
        assert_eq!(settings.unwrap().files.own, Some(path.join(".config/cairn/cairn.toml")));
        let nowhere = [("XDG_CONFIG_HOME", ".config"), ("XDG_CACHE_HOME", "."), ("HOME", ".")];
        let settings = read("deadline = 2", "", &nowhere, None).0.unwrap();
        assert_eq!(settings, Settings::default());
    }

    #[test]
    fn in_the_folder_of_the_users_own_file_no_other_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cairn/cairn.toml");
        std::fs::create_dir(folder.path().join("cairn")).unwrap();
        std::fs::write(&path, "onnx_runtime = \"/lib/own.so\"").unwrap();
        let home = |name: &str| (name == "XDG_CONFIG_HOME").then(|| folder.path().as_os_str().to_owned());
        let settings = Settings::read_from(&home, None, &folder.path().join("cairn/../cairn/cairn.toml")).unwrap();
        assert_eq!((settings.files.own, settings.files.found), (Some(path), None));
    }

    #[test]
    fn a_password_is_not_shown_and_takes_precedence_over_a_password_file_in_the_settings() {
        let neo4j = Database { password_file: Some(PathBuf::from("secret")), ..Database::default() };
        let file = Settings { neo4j, ..Settings::default() };
        let settings = of(&[("CAIRN_NEO4J_PASSWORD", "hush")], file.clone());
        assert_eq!(settings.neo4j.password.as_deref(), Some("hush"));
        assert_eq!(settings.neo4j.password_file, None);
        assert!(!format!("{settings:?}").contains("hush"));
        assert_eq!(of(&[], file).neo4j.password_file, Some(PathBuf::from("secret")));
    }

    #[test]
    fn requested_values_take_precedence_over_settings_and_one_password_over_both_of_the_other() {
        let usual = Database {
            uri: Some("bolt://set".to_owned()),
            user: Some("set".to_owned()),
            password: Some("hush".to_owned()),
            ..Database::default()
        };
        let asked = Database {
            uri: Some("bolt://asked".to_owned()),
            password_file: Some(PathBuf::from("secret")),
            ..Database::default()
        };
        let meant = asked.or(&usual);
        assert_eq!((meant.uri.as_deref(), meant.user.as_deref()), (Some("bolt://asked"), Some("set")));
        assert_eq!((meant.password, meant.password_file), (None, asked.password_file));
        assert_eq!(Database::default().or(&usual), usual);
    }

    #[test]
    fn an_empty_variable_says_nothing() {
        let settings = Settings::of(&|_| Some(OsString::new()), Found::default(), Settings::default());
        assert_eq!(settings, Settings::default());
    }
}
