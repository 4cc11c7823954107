//! What is set of the language model that may be asked.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::set;

/// The variable that `OpenAI`'s own programs read the key from.
const OPENAI_KEY: &str = "OPENAI_API_KEY";

/// What is set of the language model that may be asked; none is asked but by a command that says so.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct LanguageModel {
    /// `model.server`: openai, ollama, vllm, llama.cpp or litellm.
    pub server: Option<String>,
    /// `CAIRN_MODEL_URL`, `model.url`: where the server is, up to `/v1`.
    pub url: Option<String>,
    /// `CAIRN_EMBEDDER_URL`, `model.embedder_url`: where the server of embedders is, if that is another.
    pub embedder_url: Option<String>,
    /// `model.confirmed`: addresses of servers that an index may name as those of its embedder.
    pub confirmed: Vec<String>,
    /// `CAIRN_MODEL`, `model.name`: the model that `--model default` means.
    pub name: Option<String>,
    /// `CAIRN_MODEL_KEY`: the key; an empty one is none.
    pub key: Option<String>,
    /// `OPENAI_API_KEY`: the key for `OpenAI`'s own server, and for no other.
    pub openai_key: Option<String>,
    /// `CAIRN_MODEL_KEY_FILE`, `model.key_file`: the file whose first line is the key.
    pub key_file: Option<PathBuf>,
    /// `model.organization`: who is charged.
    pub organization: Option<String>,
    /// `model.headers`: further headers.
    pub headers: BTreeMap<String, String>,
    /// `model.index`, `model.reason`, `model.answer`: the models that `--model default` means instead where a model
    /// makes an index, finds passages, or answers.
    pub roles: BTreeMap<ModelRole, String>,
    /// `model.form`: how the server is told which form a reply is to have.
    pub form: Option<String>,
    /// `model.timeout_s`: seconds for a call.
    pub timeout_s: Option<u64>,
    /// `model.concurrency`: calls at one time.
    pub concurrency: Option<usize>,
    /// `model.requests_per_minute`.
    pub requests_per_minute: Option<u32>,
    /// `model.tokens_per_minute`.
    pub tokens_per_minute: Option<u32>,
    /// `CAIRN_PRICES`, `model.prices`: the price table.
    pub prices: Option<PathBuf>,
}

/// What a model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModelRole {
    /// To make an index.
    Index,
    /// To find passages.
    Reason,
    /// To answer.
    Answer,
}

impl fmt::Debug for LanguageModel {
    /// Leaves keys and the values of headers out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LanguageModel")
            .field("server", &self.server)
            .field("name", &self.name)
            .field("key_file", &self.key_file)
            .field("headers", &self.headers.keys())
            .field("prices", &self.prices)
            .finish_non_exhaustive()
    }
}

impl LanguageModel {
    /// Returns the model that is set for a role.
    #[must_use]
    pub fn name_for(&self, role: ModelRole) -> Option<&str> {
        self.roles.get(&role).or(self.name.as_ref()).map(String::as_str)
    }

    /// Returns what the environment says, and what the file says of the rest.
    pub(super) fn of(variable: &dyn Fn(&str) -> Option<OsString>, file: Self) -> Self {
        let text = |name| set(variable, name).map(|value| value.to_string_lossy().into_owned());
        let path = |name| set(variable, name).map(PathBuf::from);
        let key = text("CAIRN_MODEL_KEY");
        // A key in the environment goes before a file that the file names.
        let usual_file = if key.is_some() { None } else { file.key_file };
        Self {
            url: text("CAIRN_MODEL_URL").or(file.url),
            embedder_url: text("CAIRN_EMBEDDER_URL").or(file.embedder_url),
            name: text("CAIRN_MODEL").or(file.name),
            key,
            openai_key: text(OPENAI_KEY),
            key_file: path("CAIRN_MODEL_KEY_FILE").or(usual_file),
            prices: path("CAIRN_PRICES").or(file.prices),
            ..file
        }
    }
}

/// What the file may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileModel {
    server: Option<String>,
    url: Option<String>,
    embedder_url: Option<String>,
    #[serde(default)]
    confirmed: Vec<String>,
    name: Option<String>,
    index: Option<String>,
    reason: Option<String>,
    answer: Option<String>,
    /// Only to be refused with a reason.
    key: Option<serde::de::IgnoredAny>,
    key_file: Option<PathBuf>,
    organization: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    form: Option<String>,
    timeout_s: Option<u64>,
    concurrency: Option<usize>,
    requests_per_minute: Option<u32>,
    tokens_per_minute: Option<u32>,
    prices: Option<PathBuf>,
}

impl FileModel {
    pub(super) const fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Paths are meant from `folder`.
    pub(super) fn settings(self, folder: &Path) -> LanguageModel {
        let roles =
            [(ModelRole::Index, self.index), (ModelRole::Reason, self.reason), (ModelRole::Answer, self.answer)];
        LanguageModel {
            server: self.server,
            url: self.url,
            embedder_url: self.embedder_url,
            confirmed: self.confirmed,
            name: self.name,
            key: None,
            openai_key: None,
            key_file: self.key_file.map(|path| folder.join(path)),
            roles: roles.into_iter().filter_map(|(role, name)| Some((role, name?))).collect(),
            organization: self.organization,
            headers: self.headers,
            form: self.form,
            timeout_s: self.timeout_s,
            concurrency: self.concurrency,
            requests_per_minute: self.requests_per_minute,
            tokens_per_minute: self.tokens_per_minute,
            prices: self.prices.map(|path| folder.join(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_goes_before_the_file_and_no_key_is_shown() {
        let says = |name: &str| match name {
            "CAIRN_MODEL" => Some(OsString::from("ollama:llama3.2")),
            "CAIRN_MODEL_KEY" | OPENAI_KEY => Some(OsString::from("hush")),
            _ => None,
        };
        let headers = BTreeMap::from([("x-team".to_owned(), "hush".to_owned())]);
        let file = LanguageModel {
            name: Some("other".to_owned()),
            key_file: Some(PathBuf::from("key")),
            timeout_s: Some(5),
            headers,
            ..LanguageModel::default()
        };
        let model = LanguageModel::of(&says, file.clone());
        assert_eq!(model.name.as_deref(), Some("ollama:llama3.2"));
        assert_eq!((model.key.as_deref(), &model.key_file, model.timeout_s), (Some("hush"), &None, Some(5)));
        assert!(!format!("{model:?}").contains("hush"));
        assert_eq!(LanguageModel::of(&|_| None, file.clone()), file);
    }
}
