//! Where the model of an embedder is, as an index remembers it, and how much of this a caller allows.
//!
//! An index is a folder that people move and share, and its contents come from whoever made it. So none of this is used
//! unasked: a folder and an address can be read from here only as far as the caller [`Confirmed`] them. A library,
//! which is code, is not remembered at all.

use std::path::{Component, Path, PathBuf, Prefix};

use serde::{Deserialize, Serialize};

use super::local::{LibrarySearch, library};
use crate::error::{Error, Result};
use crate::llm::{Endpoint, Preset};

/// Where the model of an embedder is: kept beside an index as a hint for later questions. No key is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EmbedderPlace {
    /// On this machine.
    Local(LocalPlace),
    /// Behind a server.
    Server(ServerPlace),
}

/// A folder with a model, to be opened by [`OnnxEmbedder::open_remembered`](super::OnnxEmbedder::open_remembered).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalPlace {
    folder: PathBuf,
}

/// A model behind a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerPlace {
    /// The server, where it is known by its name.
    server: Option<String>,
    /// Its address, up to `/v1`.
    url: String,
    /// The model, as the server names it.
    model: String,
}

/// How much a caller allows of what an index remembers about its embedder; by default nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confirmed {
    /// Whether a model may be loaded from the folder that an index names, if its checksum is that in the index: it is
    /// then the model with which the index was made, by whoever made it.
    pub model_folder: bool,
    /// Library of ONNX Runtime for such a model; by default, it is found in the library folders of the system, never in
    /// a folder that an index names.
    pub runtime: Option<PathBuf>,
    /// Addresses of servers, up to `/v1`, that texts and questions may be sent to.
    pub servers: Vec<String>,
}

impl Confirmed {
    /// Checks that an endpoint that an index names may be asked.
    ///
    /// # Errors
    ///
    /// [`Error::Unconfirmed`] if its address is not among [`Self::servers`].
    pub fn check(&self, endpoint: &Endpoint) -> Result<()> {
        let is_confirmed = self.servers.iter().any(|url| url.trim_end_matches('/') == endpoint.url);
        let refused = || Error::Unconfirmed { embedder: endpoint.name(), url: endpoint.url.clone() };
        is_confirmed.then_some(()).ok_or_else(refused)
    }

    /// Returns the library that would run a model that an index names. It is not loaded.
    ///
    /// # Errors
    ///
    /// [`Error::Runtime`] if there is none.
    pub fn library(&self) -> Result<PathBuf> {
        library(self.search())
    }

    pub(super) fn search(&self) -> LibrarySearch<'_> {
        self.runtime.as_deref().map_or(LibrarySearch::System, LibrarySearch::At)
    }
}

impl LocalPlace {
    /// Returns the place of a folder, as a whole path.
    #[must_use]
    pub fn of(folder: &Path) -> Self {
        Self { folder: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()) }
    }

    /// Returns the folder, if it may be accessed: only absolute paths are ever remembered, so this program wrote no
    /// other, and accessing a network share would reveal the user to another machine.
    pub(super) fn folder(&self, confirmed: &Confirmed) -> Option<&Path> {
        let is_here = match self.folder.components().next() {
            Some(Component::Prefix(prefix)) => matches!(prefix.kind(), Prefix::Disk(_) | Prefix::VerbatimDisk(_)),
            _ => true,
        };
        Some(self.folder.as_path()).filter(|folder| confirmed.model_folder && is_here && folder.is_absolute())
    }
}

/// Returns an address without user and password. No server is called there; a recording may be replayed.
fn without_credentials(url: &str) -> String {
    match reqwest::Url::parse(url) {
        Ok(mut parsed) if !parsed.username().is_empty() || parsed.password().is_some() => {
            // An address without a host has no place for either.
            let _gone = parsed.set_password(None).and_then(|()| parsed.set_username(""));
            parsed.to_string()
        }
        _ => url.to_owned(),
    }
}

impl ServerPlace {
    /// Returns where an endpoint is.
    #[must_use]
    pub fn of(endpoint: &Endpoint) -> Self {
        let server = endpoint.preset.map(|preset| preset.name().to_owned());
        Self { server, url: without_credentials(&endpoint.url), model: endpoint.model.clone() }
    }

    /// Returns the name to which an index with this embedder is pinned.
    #[must_use]
    pub fn name(&self) -> String {
        self.unchecked().name()
    }

    /// Returns the endpoint, without a key, if it may be asked.
    ///
    /// # Errors
    ///
    /// As [`Confirmed::check`].
    pub fn endpoint(&self, confirmed: &Confirmed) -> Result<Endpoint> {
        let endpoint = self.unchecked();
        confirmed.check(&endpoint).map(|()| endpoint)
    }

    /// Returns the endpoint for a use without calls.
    pub(crate) fn unchecked(&self) -> Endpoint {
        let preset: Option<Preset> = self.server.as_deref().and_then(|name| name.parse().ok());
        let endpoint = Endpoint::at(&self.url, &self.model);
        preset.map_or(endpoint.clone(), |preset| endpoint.with_preset(preset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Secret;

    fn read(text: &str) -> EmbedderPlace {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_password_in_an_address_is_not_remembered() {
        for (url, expect) in [
            ("http://ada:hush@host:8000/v1", "http://host:8000/v1"),
            ("http://ada@host/v1", "http://host/v1"),
            ("http://host/v1", "http://host/v1"),
            ("no address", "no address"),
        ] {
            assert_eq!(ServerPlace::of(&Endpoint::at(url, "m")).url, expect);
        }
    }

    #[test]
    fn a_place_is_read_as_it_was_written_and_holds_no_key() {
        let endpoint = Endpoint { key: Secret::new("hush"), ..Endpoint::of(Preset::Vllm, "bge-m3") };
        let place = EmbedderPlace::Server(ServerPlace::of(&endpoint));
        let text = serde_json::to_string(&place).unwrap();
        assert!(!text.contains("hush"), "{text}");
        assert_eq!(read(&text), place);
        let EmbedderPlace::Server(place) = place else { panic!("{place:?}") };
        assert_eq!(place.name(), "vllm:bge-m3");
    }

    #[test]
    fn a_library_that_an_index_names_is_not_even_read() {
        let place = read(r#"{"folder": "/models/a", "runtime": "/models/a/evil.so"}"#);
        assert_eq!(place, EmbedderPlace::Local(LocalPlace { folder: PathBuf::from("/models/a") }));
        let written = serde_json::to_string(&EmbedderPlace::Local(LocalPlace::of(Path::new("/models/a")))).unwrap();
        assert_eq!(written, r#"{"folder":"/models/a"}"#);
    }

    #[test]
    fn a_folder_is_looked_into_only_where_that_is_confirmed_and_the_path_is_whole() {
        let (no, yes) = (Confirmed::default(), Confirmed { model_folder: true, ..Confirmed::default() });
        let place = LocalPlace::of(Path::new("models/a"));
        assert!(place.folder.is_absolute(), "{place:?}");
        assert_eq!((place.folder(&no), place.folder(&yes)), (None, Some(place.folder.as_path())));
        for relative in ["models/a", "../a", ""] {
            assert_eq!(LocalPlace { folder: PathBuf::from(relative) }.folder(&yes), None, "{relative}");
        }
    }

    #[test]
    fn an_address_is_given_out_only_where_it_is_confirmed() {
        let place = ServerPlace::of(&Endpoint::of(Preset::OpenAi, "m"));
        let confirmed = |url: &str| Confirmed { servers: vec![url.to_owned()], ..Confirmed::default() };
        for no in [Confirmed::default(), confirmed("https://api.openai.com"), confirmed("https://api.openai.com/v1x")] {
            let error = place.endpoint(&no).unwrap_err();
            assert!(
                matches!(&error, Error::Unconfirmed { embedder, url }
                if embedder == "openai:m" && url == Preset::OpenAi.url()),
                "{error:?}"
            );
        }
        for yes in [Preset::OpenAi.url(), "https://api.openai.com/v1/"] {
            assert_eq!(place.endpoint(&confirmed(yes)).unwrap(), Endpoint::of(Preset::OpenAi, "m"));
        }
    }
}
