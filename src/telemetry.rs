//! The names of spans and of fields that recur in logs. A span a unit, a query, an outside call; never document text.

/// A run of the indexer.
pub const INDEX: &str = "index";
/// A question to an index.
pub const QUERY: &str = "query";
/// A search for paths between two nodes.
pub const PATHS: &str = "paths";
/// Opening one version of an index.
pub const OPEN: &str = "open";
/// A call to a language model. Its fields are OpenTelemetry's for generative models, as far as they are settled.
pub const CHAT: &str = "chat";
/// A call for vectors, named as OpenTelemetry does.
pub const EMBEDDINGS: &str = "embeddings";
/// A call for the scores of passages.
pub const RERANK: &str = "rerank";
