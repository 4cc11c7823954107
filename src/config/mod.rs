//! What the surroundings say: the only place that reads the environment.

use std::ffi::OsString;
use std::path::PathBuf;

/// The folder of an index where nothing else is said.
pub const INDEX_DEFAULT: &str = ".cairn";

/// What the environment says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// `CAIRN_INDEX`: the folder of the index.
    pub index: Option<PathBuf>,
    /// `CAIRN_EMBEDDER`: the embedder of a new index, and where the model of an older one lies.
    pub embedder: Option<String>,
    /// `CAIRN_ONNX_RUNTIME`: the library that runs local models.
    pub onnx_runtime: Option<PathBuf>,
    /// `CAIRN_MODELS`: where models that were downloaded lie; `models` in the user's folder for caches, or else here.
    pub models: PathBuf,
    /// `CAIRN_NEO4J_URI`, `_DATABASE`, `_USER`, `_PASSWORD`: the database that an index is published to.
    pub database: Database,
    /// `NO_COLOR`: no colors on a terminal.
    pub no_color: bool,
}

/// What the environment says of the database that an index is published to.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Database {
    /// Where it is.
    pub uri: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Who asks.
    pub user: Option<String>,
    /// The password; an empty one is none.
    pub password: Option<String>,
}

impl std::fmt::Debug for Database {
    /// Leaves the password out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { uri, name, user, password: _ } = self;
        f.debug_struct("Database").field("uri", uri).field("name", name).field("user", user).finish_non_exhaustive()
    }
}

impl Environment {
    /// Reads the environment of this process.
    #[must_use]
    pub fn read() -> Self {
        Self::of(&|name| std::env::var_os(name))
    }

    fn of(variable: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        let text = |name| set(name).map(|value| value.to_string_lossy().into_owned());
        Self {
            index: set("CAIRN_INDEX").map(PathBuf::from),
            embedder: text("CAIRN_EMBEDDER"),
            onnx_runtime: set("CAIRN_ONNX_RUNTIME").map(PathBuf::from),
            models: models(&set),
            database: Database {
                uri: text("CAIRN_NEO4J_URI"),
                name: text("CAIRN_NEO4J_DATABASE"),
                user: text("CAIRN_NEO4J_USER"),
                password: text("CAIRN_NEO4J_PASSWORD"),
            },
            no_color: set("NO_COLOR").is_some(),
        }
    }

    /// Returns the folder of the index: what was asked for, or the environment's, or `.cairn`.
    #[must_use]
    pub fn index(&self, asked: Option<PathBuf>) -> PathBuf {
        asked.or_else(|| self.index.clone()).unwrap_or_else(|| PathBuf::from(INDEX_DEFAULT))
    }
}

fn models(set: &dyn Fn(&'static str) -> Option<OsString>) -> PathBuf {
    let named = set("CAIRN_MODELS").map(PathBuf::from);
    let caches =
        || set("XDG_CACHE_HOME").map(PathBuf::from).or_else(|| Some(PathBuf::from(set("HOME")?).join(".cache")));
    named.or_else(|| Some(caches()?.join("cairn/models"))).unwrap_or_else(|| PathBuf::from("models"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_goes_before_the_environment_and_that_before_the_default() {
        let environment = Environment::of(&|name| (name == "CAIRN_INDEX").then(|| OsString::from("there")));
        assert_eq!(environment.index(Some(PathBuf::from("here"))), PathBuf::from("here"));
        assert_eq!(environment.index(None), PathBuf::from("there"));
        assert_eq!(Environment::of(&|_| None).index(None), PathBuf::from(INDEX_DEFAULT));
    }

    #[test]
    fn a_password_is_not_shown() {
        let environment = Environment::of(&|name| (name == "CAIRN_NEO4J_PASSWORD").then(|| OsString::from("hush")));
        assert_eq!(environment.database.password.as_deref(), Some("hush"));
        assert!(!format!("{environment:?}").contains("hush"));
    }

    #[test]
    fn an_empty_variable_says_nothing() {
        let environment = Environment::of(&|_| Some(OsString::new()));
        assert_eq!(environment, Environment { models: PathBuf::from("models"), ..Environment::default() });
    }
}
