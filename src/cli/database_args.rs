//! The arguments of commands that use Neo4j.

use std::path::PathBuf;

use clap::Args;

use super::args::{NEO4J, PlaceArgs};

/// Which Neo4j to use, and how to log in. The environment and the settings supply the rest.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = NEO4J)]
pub(super) struct DatabaseArgs {
    /// Neo4j server: `bolt://HOST:PORT`, `neo4j+s://HOST` and the like [default for `publish`: `CAIRN_NEO4J_URI`; other
    /// commands use Neo4j only if this is given].
    #[arg(long, value_name = "URI")]
    pub(super) neo4j: Option<String>,
    /// How to log in.
    #[command(flatten)]
    pub(super) login: LoginArgs,
}

/// A graph in Neo4j to read, and how.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = NEO4J)]
pub(super) struct GraphArgs {
    /// The server and the login.
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
    /// Where to walk the graph: `memory`, `cypher` (in Neo4j), or `auto` [default: `CAIRN_NEO4J_TRAVERSAL`, or auto].
    #[arg(long, value_name = "WHERE", requires = "neo4j")]
    pub(super) traversal: Option<String>,
    /// Megabytes of memory that the graph may use with `--traversal auto` [default: `CAIRN_NEO4J_MEMORY`, or 2048].
    #[arg(long, value_name = "MB", requires = "neo4j")]
    pub(super) memory: Option<String>,
    /// Folder for a copy of the graph's structure, which opens faster [default: `CAIRN_NEO4J_CACHE`, or no copy].
    #[arg(long, value_name = "DIR", requires = "neo4j")]
    pub(super) cache: Option<PathBuf>,
}

/// The database on a server, and how to log in.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = NEO4J)]
pub(super) struct LoginArgs {
    /// Name of the database [default: `CAIRN_NEO4J_DATABASE`, or the server's default].
    #[arg(long, value_name = "NAME")]
    pub(super) database: Option<String>,
    /// User name [default: `CAIRN_NEO4J_USER`, or `neo4j`].
    #[arg(long, value_name = "NAME")]
    pub(super) user: Option<String>,
    /// File whose first line is the password [default: `CAIRN_NEO4J_PASSWORD_FILE`, or the password in
    /// `CAIRN_NEO4J_PASSWORD`].
    #[arg(long, value_name = "FILE")]
    pub(super) password_file: Option<PathBuf>,
}

/// `cairn publish`.
#[derive(Debug, Args)]
pub(super) struct PublishArgs {
    /// The index and the output format.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Replace vectors made by another embedder, and the vector indexes over them.
    #[arg(long)]
    pub(super) re_embed: bool,
    /// Replace an index of another collection, or one that would lose more than half of its documents.
    #[arg(long)]
    pub(super) replace: bool,
    /// The server to publish to.
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
}

/// `cairn status`.
#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// The index and the output format.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// The graph in Neo4j to show instead of an index on disk.
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
}

/// `cairn unpublish`.
#[derive(Debug, Args)]
pub(super) struct UnpublishArgs {
    /// Do not ask for confirmation.
    #[arg(long)]
    pub(super) yes: bool,
    /// The server to delete from.
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
}

/// `cairn clone`.
#[derive(Debug, Args)]
pub(super) struct CloneArgs {
    /// Neo4j server: `bolt://HOST:PORT`, `neo4j+s://HOST` and the like.
    pub(super) uri: String,
    /// Folder of the new index.
    pub(super) dir: PathBuf,
    /// How to log in.
    #[command(flatten)]
    pub(super) login: LoginArgs,
}
