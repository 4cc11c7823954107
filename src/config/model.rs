//! Settings of the language model.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::value::MapAccessDeserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::set;
use crate::llm::Preset;

/// Fields of a request that are not for settings.
const FIELDS_OF_REQUESTS: [&str; 5] = ["model", "messages", "stream", "stream_options", "input"];

/// Settings of the language model, which only commands that request it call.
#[derive(Clone, Default, PartialEq)]
pub struct LanguageModel {
    /// `model.server`: a server that is known by its name.
    pub server: Option<String>,
    /// `CAIRN_MODEL_URL`, `model.url`: the address of the server, up to `/v1`.
    pub url: Option<String>,
    /// `model.api_version`: the version of Azure's API, if its address names none.
    pub api_version: Option<String>,
    /// `CAIRN_EMBEDDER_URL`, `model.embedder_url`: the address of the server of embedders, if different.
    pub embedder_url: Option<String>,
    /// `model.confirmed`: addresses of servers that an index may name as those of its embedder.
    pub confirmed: Vec<String>,
    /// `CAIRN_MODEL`, `model.name`: the model that `--model default` means.
    pub name: Option<String>,
    /// `CAIRN_MODEL_KEY`: the key; an empty one is none.
    pub key: Option<String>,
    /// `OPENAI_API_KEY` and the like: the keys for servers that are known by their names, and for no others.
    pub own_keys: BTreeMap<&'static str, String>,
    /// `CAIRN_MODEL_KEY_FILE`, `model.key_file`: the file whose first line is the key.
    pub key_file: Option<PathBuf>,
    /// `model.key_command`: a program and its arguments that print the key.
    pub key_command: Vec<String>,
    /// `model.organization`: the organization that is billed.
    pub organization: Option<String>,
    /// `model.headers`: further headers.
    pub headers: BTreeMap<String, String>,
    /// `model.index`, `model.reason`, `model.answer`, `model.embedder`, `model.reranker`: different settings for a
    /// model that makes an index, finds passages, answers, makes vectors, or reranks.
    pub roles: BTreeMap<ModelRole, Self>,
    /// `model.form`: how the server is told the form of a reply.
    pub form: Option<String>,
    /// `model.timeout_s`: seconds for a call.
    pub timeout_s: Option<u64>,
    /// `model.concurrency`: calls at once.
    pub concurrency: Option<usize>,
    /// `model.requests_per_minute`.
    pub requests_per_minute: Option<u32>,
    /// `model.tokens_per_minute`.
    pub tokens_per_minute: Option<u32>,
    /// `model.temperature`.
    pub temperature: Option<f32>,
    /// `model.reasoning_effort`: how much the model is to think, as its server says it.
    pub reasoning_effort: Option<String>,
    /// `model.thinking_tokens`: tokens for thinking, in addition to those of a reply.
    pub thinking_tokens: Option<u32>,
    /// `model.body`: further fields of each request.
    pub body: Map<String, Value>,
    /// `CAIRN_PROXY`, `model.proxy`: the proxy that requests go through.
    pub proxy: Option<String>,
    /// `model.ca_file`: certificates that are trusted in addition to those of the system.
    pub ca_file: Option<PathBuf>,
    /// `model.embedder.dimensions`: values of a vector.
    pub dimensions: Option<u32>,
    /// `model.embedder.query_prefix`: the prefix of a question.
    pub query_prefix: Option<String>,
    /// `model.embedder.passage_prefix`: the prefix of texts in an index.
    pub passage_prefix: Option<String>,
    /// `model.embedder.texts_max`: texts of a call for vectors at most.
    pub texts_max: Option<usize>,
    /// `CAIRN_PRICES`, `model.prices`: the price table.
    pub prices: Option<PathBuf>,
}

/// The role of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModelRole {
    /// To make an index.
    Index,
    /// To find passages.
    Reason,
    /// To answer.
    Answer,
    /// To make vectors.
    Embedder,
    /// To rerank passages.
    Reranker,
}

impl ModelRole {
    /// Returns its name in a file with settings.
    const fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Reason => "reason",
            Self::Answer => "answer",
            Self::Embedder => "embedder",
            Self::Reranker => "reranker",
        }
    }
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
    pub fn name_for(&self, role: ModelRole) -> Option<String> {
        self.for_role(role).name
    }

    /// Returns the settings for a role, with defaults from those for all. If it names its own server or address, it
    /// gets nothing that belongs to the other: no key, no headers, no organization.
    #[must_use]
    pub fn for_role(&self, role: ModelRole) -> Self {
        let Some(own) = self.roles.get(&role).cloned() else { return self.clone() };
        let usual = if own.server.is_some() || own.url.is_some() { self.without_place() } else { self.clone() };
        let says_key = own.key_file.is_some() || !own.key_command.is_empty();
        let key_of = if says_key { &own } else { &usual };
        let (key, key_file, key_command) = (key_of.key.clone(), key_of.key_file.clone(), key_of.key_command.clone());
        Self {
            key,
            key_file,
            key_command,
            server: own.server.or(usual.server),
            url: own.url.or(usual.url),
            api_version: own.api_version.or(usual.api_version),
            name: own.name.or(usual.name),
            organization: own.organization.or(usual.organization),
            headers: joined(usual.headers, own.headers),
            form: own.form.or(usual.form),
            timeout_s: own.timeout_s.or(usual.timeout_s),
            concurrency: own.concurrency.or(usual.concurrency),
            requests_per_minute: own.requests_per_minute.or(usual.requests_per_minute),
            tokens_per_minute: own.tokens_per_minute.or(usual.tokens_per_minute),
            temperature: own.temperature.or(usual.temperature),
            reasoning_effort: own.reasoning_effort.or(usual.reasoning_effort),
            thinking_tokens: own.thinking_tokens.or(usual.thinking_tokens),
            body: if own.body.is_empty() { usual.body } else { own.body },
            proxy: own.proxy.or(usual.proxy),
            ca_file: own.ca_file.or(usual.ca_file),
            dimensions: own.dimensions,
            query_prefix: own.query_prefix,
            passage_prefix: own.passage_prefix,
            texts_max: own.texts_max,
            ..usual
        }
    }

    /// Returns it without a server, and without everything that belongs to one.
    #[must_use]
    pub fn without_place(&self) -> Self {
        Self { server: None, url: None, api_version: None, embedder_url: None, ..self.without_secrets() }
    }

    /// Returns it without what only the server that is set may be given.
    #[must_use]
    pub fn without_secrets(&self) -> Self {
        Self {
            key: None,
            key_file: None,
            key_command: Vec::new(),
            organization: None,
            headers: BTreeMap::new(),
            ..self.clone()
        }
    }

    /// Returns the settings of the environment, with defaults from the file.
    pub(super) fn of(variable: &dyn Fn(&str) -> Option<OsString>, file: Self) -> Self {
        let text = |name| set(variable, name).map(|value| value.to_string_lossy().into_owned());
        let path = |name| set(variable, name).map(PathBuf::from);
        let (key, key_file) = (text("CAIRN_MODEL_KEY"), path("CAIRN_MODEL_KEY_FILE"));
        // A key in the environment goes before a file or a command that the file names.
        let says_key = key.is_some() || key_file.is_some();
        let (usual_file, key_command) = if says_key { (None, Vec::new()) } else { (file.key_file, file.key_command) };
        let mut roles = file.roles;
        // An address in the environment goes before that of the file, which its key and headers belong to.
        if let Some(role) = roles.get_mut(&ModelRole::Embedder)
            && text("CAIRN_EMBEDDER_URL").is_some()
        {
            *role = role.without_place();
        }
        let own_keys = Preset::ALL.iter().filter_map(|preset| Some((preset.name(), text(preset.key_variable()?)?)));
        Self {
            url: text("CAIRN_MODEL_URL").or(file.url),
            embedder_url: text("CAIRN_EMBEDDER_URL").or(file.embedder_url),
            name: text("CAIRN_MODEL").or(file.name),
            key,
            own_keys: own_keys.collect(),
            key_file: key_file.or(usual_file),
            key_command,
            roles,
            proxy: text("CAIRN_PROXY").or(file.proxy),
            prices: path("CAIRN_PRICES").or(file.prices),
            ..file
        }
    }
}

fn joined(mut usual: BTreeMap<String, String>, own: BTreeMap<String, String>) -> BTreeMap<String, String> {
    usual.extend(own);
    usual
}

/// Keys of the file: for all models, or for one role, which has a name or its own table.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FileModel {
    server: Option<String>,
    url: Option<String>,
    api_version: Option<String>,
    embedder_url: Option<String>,
    confirmed: Vec<String>,
    name: Option<String>,
    index: Option<FileRole>,
    reason: Option<FileRole>,
    answer: Option<FileRole>,
    embedder: Option<FileRole>,
    reranker: Option<FileRole>,
    /// Only to be refused with a reason.
    key: Option<IgnoredAny>,
    key_file: Option<PathBuf>,
    key_command: Vec<String>,
    organization: Option<String>,
    headers: BTreeMap<String, String>,
    form: Option<String>,
    timeout_s: Option<u64>,
    concurrency: Option<usize>,
    requests_per_minute: Option<u32>,
    tokens_per_minute: Option<u32>,
    temperature: Option<f32>,
    reasoning_effort: Option<String>,
    thinking_tokens: Option<u32>,
    body: Map<String, Value>,
    proxy: Option<String>,
    ca_file: Option<PathBuf>,
    dimensions: Option<u32>,
    query_prefix: Option<String>,
    passage_prefix: Option<String>,
    texts_max: Option<usize>,
    prices: Option<PathBuf>,
}

/// The value of a role in the file: the name of a model, or a table.
#[derive(Debug)]
struct FileRole(Box<FileModel>);

impl<'de> Deserialize<'de> for FileRole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrTable)
    }
}

struct NameOrTable;

impl<'de> Visitor<'de> for NameOrTable {
    type Value = FileRole;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a model, or a table")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<FileRole, E> {
        Ok(FileRole(Box::new(FileModel { name: Some(name.to_owned()), ..FileModel::default() })))
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<FileRole, A::Error> {
        FileModel::deserialize(MapAccessDeserializer::new(table)).map(|model| FileRole(Box::new(model)))
    }
}

impl FileModel {
    /// Returns whether the file itself contains a key, for all models or for a role.
    pub(super) fn has_key(&self) -> bool {
        self.key.is_some() || self.roles().any(|(_, FileRole(role))| role.has_key())
    }

    /// Returns why it cannot be meant, if so.
    pub(super) fn problem(&self) -> Option<String> {
        if self.has_settings_of_embedder() {
            return Some("`dimensions`, prefixes and `texts_max` belong into `[model.embedder]`".to_owned());
        }
        if let Some(field) = FIELDS_OF_REQUESTS.iter().find(|field| self.body.contains_key(**field)) {
            return Some(format!("`{field}` in `body` would replace a part of every request"));
        }
        for (role, FileRole(model)) in self.roles() {
            let is_nested = model.roles().next().is_some() || model.prices.is_some() || !model.confirmed.is_empty();
            if is_nested || model.embedder_url.is_some() {
                return Some(format!("`[model.{}]` says what belongs into `[model]`", role.name()));
            }
            let vectors =
                if role == ModelRole::Embedder { None } else { Some(()).filter(|()| model.has_settings_of_embedder()) };
            let body = Self { body: model.body.clone(), ..Self::default() };
            if let Some(problem) = vectors.map(|()| "it makes no vectors".to_owned()).or_else(|| body.problem()) {
                return Some(format!("`[model.{}]`: {problem}", role.name()));
            }
        }
        None
    }

    const fn has_settings_of_embedder(&self) -> bool {
        self.dimensions.is_some()
            || self.query_prefix.is_some()
            || self.passage_prefix.is_some()
            || self.texts_max.is_some()
    }

    fn roles(&self) -> impl Iterator<Item = (ModelRole, &FileRole)> {
        let roles = [
            (ModelRole::Index, &self.index),
            (ModelRole::Reason, &self.reason),
            (ModelRole::Answer, &self.answer),
            (ModelRole::Embedder, &self.embedder),
            (ModelRole::Reranker, &self.reranker),
        ];
        roles.into_iter().filter_map(|(role, model)| Some((role, model.as_ref()?)))
    }

    /// Paths are meant from `folder`.
    pub(super) fn settings(self, folder: &Path) -> LanguageModel {
        let roles = [
            (ModelRole::Index, self.index),
            (ModelRole::Reason, self.reason),
            (ModelRole::Answer, self.answer),
            (ModelRole::Embedder, self.embedder),
            (ModelRole::Reranker, self.reranker),
        ];
        let roles = roles.into_iter().filter_map(|(role, model)| Some((role, model?.0.settings(folder)))).collect();
        LanguageModel {
            server: self.server,
            url: self.url,
            api_version: self.api_version,
            embedder_url: self.embedder_url,
            confirmed: self.confirmed,
            name: self.name,
            key: None,
            own_keys: BTreeMap::new(),
            key_file: self.key_file.map(|path| folder.join(path)),
            key_command: self.key_command,
            roles,
            organization: self.organization,
            headers: self.headers,
            form: self.form,
            timeout_s: self.timeout_s,
            concurrency: self.concurrency,
            requests_per_minute: self.requests_per_minute,
            tokens_per_minute: self.tokens_per_minute,
            temperature: self.temperature,
            reasoning_effort: self.reasoning_effort,
            thinking_tokens: self.thinking_tokens,
            body: self.body,
            proxy: self.proxy,
            ca_file: self.ca_file.map(|path| folder.join(path)),
            dimensions: self.dimensions,
            query_prefix: self.query_prefix,
            passage_prefix: self.passage_prefix,
            texts_max: self.texts_max,
            prices: self.prices.map(|path| folder.join(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_takes_precedence_over_the_file_and_no_key_is_shown() {
        let says = |name: &str| match name {
            "CAIRN_MODEL" => Some(OsString::from("ollama:llama3.2")),
            "CAIRN_MODEL_KEY" | "OPENAI_API_KEY" => Some(OsString::from("hush")),
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
        assert_eq!(model.own_keys, BTreeMap::from([("openai", "hush".to_owned())]));
        assert_eq!(LanguageModel::of(&|_| None, file.clone()), file);
    }

    fn read(text: &str) -> Result<LanguageModel, String> {
        let file: FileModel = toml::from_str(text).map_err(|error| error.to_string())?;
        file.problem().map_or_else(|| Ok(file.settings(Path::new("/own"))), Err)
    }

    #[test]
    fn a_role_says_what_differs_and_one_with_a_server_of_its_own_takes_no_secret_of_the_other() {
        let text = "server = \"vllm\"\nkey_file = \"key\"\nheaders = { a = \"1\" }\nname = \"m\"\n\
            reason = \"small\"\n[answer]\ntemperature = 0.6\nbody = { top_k = 20 }\nheaders = { b = \"2\" }\n\
            [embedder]\nurl = \"http://vectors/v1\"\ndimensions = 256\n";
        let settings = read(text).unwrap();
        assert_eq!(
            (settings.name_for(ModelRole::Reason), settings.name_for(ModelRole::Index)),
            (Some("small".to_owned()), Some("m".to_owned()))
        );
        let answer = settings.for_role(ModelRole::Answer);
        assert_eq!((answer.temperature, answer.key_file.is_some(), answer.headers.len()), (Some(0.6), true, 2));
        assert_eq!(answer.body.get("top_k"), Some(&Value::from(20)));
        let embedder = settings.for_role(ModelRole::Embedder);
        assert_eq!((embedder.url.as_deref(), embedder.dimensions), (Some("http://vectors/v1"), Some(256)));
        assert!(embedder.key_file.is_none() && embedder.headers.is_empty() && embedder.server.is_none());
    }

    #[test]
    fn a_setting_without_meaning_at_its_place_is_refused() {
        for (text, why) in [
            ("dimensions = 5", "`[model.embedder]`"),
            ("[answer]\nprices = \"p\"", "`[model.answer]` says"),
            ("[answer]\ntexts_max = 5", "`[model.answer]`: it makes no vectors"),
            ("[index.answer]\nname = \"m\"", "`[model.index]` says"),
            ("[index]\nbody = { stream = true }", "`stream` in `body`"),
            ("index = 5", "the name of a model, or a table"),
            ("[index]\nkeyfile = \"k\"", "unknown field `keyfile`"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
        }
        let file: FileModel = toml::from_str("[embedder]\nkey = \"hush\"").unwrap();
        assert!(file.has_key());
    }
}
