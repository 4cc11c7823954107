//! Arguments of what works with Neo4j.

use std::path::PathBuf;

use clap::Args;

use super::args::{NEO4J, PlaceArgs};

/// Which Neo4j, and who asks. What is not given is read from the environment or the file with settings.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = NEO4J)]
pub(super) struct DatabaseArgs {
    /// Neo4j: `bolt://HOST:PORT`, `neo4j+s://HOST` and the like [default of `publish`: `CAIRN_NEO4J_URI`; other
    /// commands use Neo4j only where this is given].
    #[arg(long, value_name = "URI")]
    pub(super) neo4j: Option<String>,
    /// Who asks.
    #[command(flatten)]
    pub(super) login: LoginArgs,
}

/// A graph in Neo4j to read, and how.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = NEO4J)]
pub(super) struct GraphArgs {
    /// Which.
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
    /// Where the graph is walked: memory, cypher (in Neo4j), or auto: in memory where it fits [default:
    /// `CAIRN_NEO4J_TRAVERSAL`, or auto].
    #[arg(long, value_name = "WHERE", requires = "neo4j")]
    pub(super) traversal: Option<String>,
    /// Megabytes of memory that the graph may take [default: `CAIRN_NEO4J_MEMORY`, or 2048].
    #[arg(long, value_name = "MB", requires = "neo4j")]
    pub(super) memory: Option<String>,
    /// Folder to keep a copy of the graph's structure in, from which it is opened faster [default:
    /// `CAIRN_NEO4J_CACHE`, or none is kept].
    #[arg(long, value_name = "DIR", requires = "neo4j")]
    pub(super) cache: Option<PathBuf>,
}

/// Which database of a server, and who asks.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = NEO4J)]
pub(super) struct LoginArgs {
    /// Name of the database [default: `CAIRN_NEO4J_DATABASE`, or the server's own].
    #[arg(long, value_name = "NAME")]
    pub(super) database: Option<String>,
    /// User [default: `CAIRN_NEO4J_USER`, or `neo4j`].
    #[arg(long, value_name = "NAME")]
    pub(super) user: Option<String>,
    /// File whose first line is the password [default: `CAIRN_NEO4J_PASSWORD_FILE`, or what
    /// `CAIRN_NEO4J_PASSWORD` says].
    #[arg(long, value_name = "FILE")]
    pub(super) password_file: Option<PathBuf>,
}

/// `cairn publish`.
#[derive(Debug, Args)]
pub(super) struct PublishArgs {
    /// Where and how.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// Where to.
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
    /// Replace vectors of another embedder, and the indexes over them.
    #[arg(long)]
    pub(super) re_embed: bool,
    /// Replace an index of another collection, or one of which more than half of the documents would go.
    #[arg(long)]
    pub(super) replace: bool,
}

/// `cairn status`.
#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// Where and how.
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// What Neo4j holds, instead of an index on disk.
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
}

/// `cairn unpublish`.
#[derive(Debug, Args)]
pub(super) struct UnpublishArgs {
    /// From where.
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
    /// Do not ask first.
    #[arg(long)]
    pub(super) yes: bool,
}

/// `cairn clone`.
#[derive(Debug, Args)]
pub(super) struct CloneArgs {
    /// Neo4j: `bolt://HOST:PORT`, `neo4j+s://HOST` and the like.
    pub(super) uri: String,
    /// Folder of the index to make.
    pub(super) dir: PathBuf,
    /// Who asks.
    #[command(flatten)]
    pub(super) login: LoginArgs,
}
