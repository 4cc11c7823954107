//! What the surroundings say: the environment, and the file `cairn.toml`. The only place that reads either.
//!
//! A flag goes before the environment, that before the file, and that before the default.

mod file;
mod model;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::workspace::FileAccess;

pub use model::{LanguageModel, ModelRole};

/// The folder of an index where nothing else is said.
pub const INDEX_DEFAULT: &str = ".cairn";

/// What the environment and the file say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The file that was read.
    pub file: Option<PathBuf>,
    /// `CAIRN_INDEX`, `index`: the folder of the index.
    pub index: Option<PathBuf>,
    /// `CAIRN_EMBEDDER`, `embedder`: the embedder of a new index, and where the model of an older one lies.
    pub embedder: Option<String>,
    /// `CAIRN_WEIGHTS`, `weights`: the weights of `trail`.
    pub weights: Option<PathBuf>,
    /// `CAIRN_ONNX_RUNTIME`, `onnx_runtime`: the library that runs local models.
    pub onnx_runtime: Option<PathBuf>,
    /// `CAIRN_MODELS`, `models`: where models that were downloaded lie.
    pub models: Option<PathBuf>,
    /// The folder of this program in the user's folder for caches, if there is one.
    pub caches: Option<PathBuf>,
    /// `CAIRN_DEADLINE`, `deadline`: seconds for an answer, as they are written.
    pub deadline: Option<String>,
    /// The database that an index is published to.
    pub neo4j: Database,
    /// The language model that may be asked.
    pub model: LanguageModel,
    /// `CAIRN_NO_MMAP`, `no_mmap`: read the files of an index instead of mapping them.
    pub no_mmap: bool,
    /// `NO_COLOR`: no colors on a terminal.
    pub no_color: bool,
}

/// What is said of the database that an index is published to.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Database {
    /// `CAIRN_NEO4J_URI`, `neo4j.uri`: where it is.
    pub uri: Option<String>,
    /// `CAIRN_NEO4J_DATABASE`, `neo4j.database`: its name.
    pub name: Option<String>,
    /// `CAIRN_NEO4J_USER`, `neo4j.user`: who asks.
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
}

impl std::fmt::Debug for Database {
    /// Leaves the password out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { uri, name, user, password: _, password_file, traversal, memory, cache } = self;
        f.debug_struct("Database")
            .field("uri", uri)
            .field("name", name)
            .field("user", user)
            .field("password_file", password_file)
            .field("traversal", traversal)
            .field("memory", memory)
            .field("cache", cache)
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// Reads the environment of this process, and the file that `asked` or `CAIRN_CONFIG` names, or else `cairn.toml`
    /// in the current folder, if there is one.
    ///
    /// # Errors
    ///
    /// [`Error::Settings`](crate::Error::Settings) if the file says what is no setting,
    /// [`Error::Io`](crate::Error::Io) if it cannot be read.
    pub fn read(asked: Option<&Path>) -> Result<Self> {
        let variable = |name: &str| std::env::var_os(name);
        let named = asked.map(Path::to_owned).or_else(|| set(&variable, "CAIRN_CONFIG").map(PathBuf::from));
        let usual = || Some(PathBuf::from(file::NAME)).filter(|path| path.exists());
        let file = named.or_else(usual).map(|path| file::read(&path)).transpose()?;
        Ok(Self::of(&variable, file.unwrap_or_default()))
    }

    /// Returns what the environment says, and what the file says of the rest.
    fn of(variable: &dyn Fn(&str) -> Option<OsString>, file: Self) -> Self {
        let path = |name| set(variable, name).map(PathBuf::from);
        let text = |name| set(variable, name).map(|value| value.to_string_lossy().into_owned());
        let password = text("CAIRN_NEO4J_PASSWORD");
        // A password in the environment goes before a file that the file names.
        let usual_file = if password.is_some() { None } else { file.neo4j.password_file };
        Self {
            file: file.file,
            index: path("CAIRN_INDEX").or(file.index),
            embedder: text("CAIRN_EMBEDDER").or(file.embedder),
            weights: path("CAIRN_WEIGHTS").or(file.weights),
            onnx_runtime: path("CAIRN_ONNX_RUNTIME").or(file.onnx_runtime),
            models: path("CAIRN_MODELS").or(file.models).or_else(|| Some(caches(variable)?.join("models"))),
            caches: caches(variable),
            deadline: text("CAIRN_DEADLINE").or(file.deadline),
            neo4j: Database {
                uri: text("CAIRN_NEO4J_URI").or(file.neo4j.uri),
                name: text("CAIRN_NEO4J_DATABASE").or(file.neo4j.name),
                user: text("CAIRN_NEO4J_USER").or(file.neo4j.user),
                password,
                password_file: path("CAIRN_NEO4J_PASSWORD_FILE").or(usual_file),
                traversal: text("CAIRN_NEO4J_TRAVERSAL").or(file.neo4j.traversal),
                memory: text("CAIRN_NEO4J_MEMORY").or(file.neo4j.memory),
                cache: path("CAIRN_NEO4J_CACHE").or(file.neo4j.cache),
            },
            model: LanguageModel::of(variable, file.model),
            no_mmap: set(variable, "CAIRN_NO_MMAP").is_some() || file.no_mmap,
            no_color: set(variable, "NO_COLOR").is_some(),
        }
    }

    /// Returns the folder of the index: what was asked for, or what is set, or `.cairn`.
    #[must_use]
    pub fn index(&self, asked: Option<PathBuf>) -> PathBuf {
        asked.or_else(|| self.index.clone()).unwrap_or_else(|| PathBuf::from(INDEX_DEFAULT))
    }

    /// Returns how the files of an index are held while it is open.
    #[must_use]
    pub fn file_access(&self) -> FileAccess {
        if self.no_mmap { FileAccess::Read } else { FileAccess::Auto }
    }

    /// Returns the file that remembers what servers of models can do; none where the user has no folder for caches.
    #[must_use]
    pub fn servers(&self) -> Option<PathBuf> {
        self.caches.as_ref().map(|folder| folder.join("servers.json"))
    }

    /// Returns where models that were downloaded lie: what is set, or `models` in the user's folder for caches, or else
    /// here.
    #[must_use]
    pub fn models(&self) -> PathBuf {
        self.models.clone().unwrap_or_else(|| PathBuf::from("models"))
    }
}

/// Returns a variable that says something.
fn set(variable: &dyn Fn(&str) -> Option<OsString>, name: &str) -> Option<OsString> {
    variable(name).filter(|value| !value.is_empty())
}

fn caches(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = set(variable, "XDG_CACHE_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| Some(PathBuf::from(set(variable, "HOME")?).join(".cache")));
    Some(folder?.join("cairn"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(says: &'static [(&str, &str)], file: Settings) -> Settings {
        let variable = |name: &str| says.iter().find(|it| it.0 == name).map(|it| OsString::from(it.1));
        Settings::of(&variable, file)
    }

    #[test]
    fn a_flag_goes_before_the_environment_that_before_the_file_and_that_before_the_default() {
        let file = Settings { index: Some(PathBuf::from("in-file")), ..Settings::default() };
        let settings = of(&[("CAIRN_INDEX", "there")], file.clone());
        assert_eq!(settings.index(Some(PathBuf::from("here"))), PathBuf::from("here"));
        assert_eq!(settings.index(None), PathBuf::from("there"));
        assert_eq!(of(&[], file).index(None), PathBuf::from("in-file"));
        assert_eq!(of(&[], Settings::default()).index(None), PathBuf::from(INDEX_DEFAULT));
    }

    #[test]
    fn a_password_is_not_shown_and_goes_before_a_file_of_the_file() {
        let neo4j = Database { password_file: Some(PathBuf::from("secret")), ..Database::default() };
        let file = Settings { neo4j, ..Settings::default() };
        let settings = of(&[("CAIRN_NEO4J_PASSWORD", "hush")], file.clone());
        assert_eq!(settings.neo4j.password.as_deref(), Some("hush"));
        assert_eq!(settings.neo4j.password_file, None);
        assert!(!format!("{settings:?}").contains("hush"));
        assert_eq!(of(&[], file).neo4j.password_file, Some(PathBuf::from("secret")));
    }

    #[test]
    fn an_empty_variable_says_nothing() {
        let settings = Settings::of(&|_| Some(OsString::new()), Settings::default());
        assert_eq!(settings, Settings::default());
    }
}
