//! Databases of a real Neo4j for tests: on the server that `CAIRN_TEST_NEO4J_URI` names, or on two servers that are
//! fetched and started once per run.

mod server;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};
use std::thread;
use std::time::Duration;

use cairn::neo4j::{PublishOptions, Target, publish};
use cairn::{Document, Sources, Workspace};
use neo4rs::{ConfigBuilder, Graph, Query, Row};
use tempfile::TempDir;

use super::{Cli, block_on, harbor_files, index, left_out};

pub(crate) use server::{ENCRYPTED, PASSWORD, Server, admin, require, server, shell};

/// How often to check whether a server is free.
const POLL: Duration = Duration::from_millis(20);

/// A database that no other test uses while this value lives.
pub(crate) struct Database {
    pub(crate) uri: String,
    /// The address of the server's own pages, if known.
    pub(crate) pages: Option<String>,
    /// A folder that exists as long as the server.
    home: PathBuf,
    turn: MutexGuard<'static, Option<Harbor>>,
}

/// The example collection, which a server keeps between tests that only read it.
struct Harbor {
    /// The folder with the collection and its index.
    cli: Arc<Cli>,
    /// The number of nodes and of relationships.
    counts: [i64; 2],
}

/// A server that tests share, one at a time.
struct Shared {
    turn: Mutex<Option<Harbor>>,
    server: OnceLock<Option<Server>>,
    /// The schema of published graphs, which is kept between tests: creating it takes longer than most of them.
    schema: OnceLock<BTreeSet<String>>,
}

impl Shared {
    const fn new() -> Self {
        Self { turn: Mutex::new(None), server: OnceLock::new(), schema: OnceLock::new() }
    }

    fn server(&'static self) -> Option<&'static Server> {
        self.server.get_or_init(Server::start_passing).as_ref()
    }
}

/// As many as a small machine has cores: a test that waits for its server leaves a core to another.
static SHARED: [Shared; 2] = [Shared::new(), Shared::new()];

/// What a test changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Data,
    /// Constraints and indexes, too. Changing them makes a server forget all query plans, and finding these again takes
    /// longer than most tests: so all tests that do it use the same server if it is free.
    Schema,
}

/// Returns a server that no other test uses, waiting if there is none; the first one if `is_one`.
fn turn(change: Change, is_one: bool) -> (&'static Shared, MutexGuard<'static, Option<Harbor>>) {
    let usable: &[usize] = match change {
        _ if is_one => &[0],
        Change::Data => &[0, 1],
        Change::Schema => &[1, 0],
    };
    loop {
        for shared in usable.iter().map(|it| &SHARED[*it]) {
            match shared.turn.try_lock() {
                Ok(turn) => return (shared, turn),
                // Whatever a failed test leaves is cleared.
                Err(TryLockError::Poisoned(poisoned)) => {
                    shared.turn.clear_poison();
                    let mut turn = poisoned.into_inner();
                    *turn = None;
                    return (shared, turn);
                }
                Err(TryLockError::WouldBlock) => {}
            }
        }
        thread::sleep(POLL);
    }
}

/// Returns a database without nodes, with the constraints and indexes of an earlier publish; none, after reporting it,
/// if there is no server.
pub(crate) fn database() -> Option<Database> {
    clear_database(Change::Data)
}

/// As [`database`], for a test that creates or drops constraints or indexes.
pub(crate) fn database_to_reshape() -> Option<Database> {
    clear_database(Change::Schema)
}

/// As [`database`], without constraints and indexes.
pub(crate) fn bare_database() -> Option<Database> {
    let (mut database, _) = any_database(Change::Schema)?;
    *database.turn = None;
    database.empty();
    Some(database)
}

/// Returns a database with the example collection, and the folder with its files and index, for a test that changes
/// neither.
pub(crate) fn harbor_database() -> Option<(Database, Arc<Cli>)> {
    let (mut database, shared) = any_database(Change::Data)?;
    if let Some(harbor) = database.turn.take_if(|it| database_counts(&database.uri) == it.counts) {
        let cli = Arc::clone(&harbor.cli);
        *database.turn = Some(harbor);
        return Some((database, cli));
    }
    database.clear_for(shared);
    let cli = Cli::new_in(&database.home);
    for (name, text) in harbor_files() {
        cli.write(&format!("harbor/{name}"), text);
    }
    cli.json(&["index", "harbor"]);
    cli.json(&["publish", "--neo4j", &database.uri]);
    let (cli, counts) = (Arc::new(cli), database_counts(&database.uri));
    *database.turn = Some(Harbor { cli: Arc::clone(&cli), counts });
    Some((database, cli))
}

fn database_counts(uri: &str) -> [i64; 2] {
    ["MATCH (n) RETURN count(n) AS n", "MATCH ()-[r]->() RETURN count(r) AS n"]
        .map(|text| rows(uri, text)[0].get("n").unwrap())
}

fn clear_database(change: Change) -> Option<Database> {
    let (mut database, shared) = any_database(change)?;
    database.clear_for(shared);
    Some(database)
}

/// Returns a database as the last test left it.
fn any_database(change: Change) -> Option<(Database, &'static Shared)> {
    let named = std::env::var("CAIRN_TEST_NEO4J_URI").ok();
    let (shared, turn) = turn(change, named.is_some());
    let (uri, pages, home) = if let Some(uri) = named {
        (uri, None, std::env::temp_dir())
    } else {
        let Some(server) = shared.server() else {
            left_out("it needs Neo4j: Java 17 and Maven, or `CAIRN_TEST_NEO4J_URI`");
            return None;
        };
        (server.uri(), Some(server.pages()), server.home.clone())
    };
    Some((Database { uri, pages, home, turn }, shared))
}

/// Publishes an index of one document.
fn publish_one_to(uri: &str) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("index");
    index(&path, &Sources::documents([Document::new("mill", None, "Harl Mill was built by Ada Lorne.")]));
    let workspace = Workspace::open(&path).unwrap();
    block_on(publish(&workspace, &Target::parse(uri).unwrap(), &PublishOptions::default())).unwrap();
}

impl Database {
    /// Returns the rows of a statement.
    #[track_caller]
    pub(crate) fn rows(&self, text: &str) -> Vec<Row> {
        rows(&self.uri, text)
    }

    /// Returns the number that a statement returns as `n`.
    #[track_caller]
    pub(crate) fn count(&self, text: &str) -> i64 {
        self.rows(text)[0].get("n").unwrap()
    }

    /// Runs statements, one after the other.
    pub(crate) fn run<'a>(&self, statements: impl IntoIterator<Item = &'a str>) {
        block_on(async {
            let graph = connect(&self.uri);
            for statement in statements {
                all_rows(&graph, statement).await;
            }
        });
    }

    /// Empties it, including the schema.
    pub(crate) fn empty(&self) {
        self.clear(&BTreeSet::new());
    }

    /// Empties it, except for the schema of published graphs, which is created if it does not exist yet.
    fn clear_for(&mut self, shared: &'static Shared) {
        *self.turn = None;
        let schema = shared.schema.get_or_init(|| {
            self.empty();
            publish_one_to(&self.uri);
            block_on(schema(&connect(&self.uri))).into_iter().map(|(_, made_by)| made_by).collect()
        });
        self.clear(schema);
    }

    /// Empties it, except for the constraints and indexes that these statements create.
    fn clear(&self, kept: &BTreeSet<String>) {
        block_on(async {
            let graph = connect(&self.uri);
            all_rows(&graph, "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS").await;
            for (drop, made_by) in schema(&graph).await {
                if !kept.contains(&made_by) {
                    all_rows(&graph, &drop).await;
                }
            }
        });
    }

    pub(crate) fn target(&self) -> Target {
        Target::parse(&self.uri).unwrap()
    }
}

/// Returns the constraints and indexes of a database: the statement that drops each, and the one that creates it.
async fn schema(graph: &Graph) -> Vec<(String, String)> {
    let mut schema = Vec::new();
    for (list, kind) in [("SHOW CONSTRAINTS", "CONSTRAINT"), ("SHOW INDEXES", "INDEX")] {
        // An index that failed is created again.
        let made_by = if kind == "INDEX" {
            "CASE state WHEN 'FAILED' THEN '' ELSE createStatement END"
        } else {
            "createStatement"
        };
        let list = format!("{list} YIELD * WHERE type <> 'LOOKUP' RETURN name, {made_by} AS madeBy");
        for row in all_rows(graph, &list).await {
            let name: String = row.get("name").unwrap();
            schema.push((format!("DROP {kind} {name} IF EXISTS"), row.get("madeBy").unwrap()));
        }
    }
    schema
}

/// Returns the rows of a statement that is run on its own.
#[track_caller]
pub(crate) fn rows(uri: &str, text: &str) -> Vec<Row> {
    // A connection belongs to the runtime in which it was made.
    block_on(async { all_rows(&connect(uri), text).await })
}

fn connect(uri: &str) -> Graph {
    Graph::connect(ConfigBuilder::default().uri(uri).user("neo4j").password("").build().unwrap()).unwrap()
}

async fn all_rows(graph: &Graph, text: &str) -> Vec<Row> {
    let mut stream = graph.execute(Query::new(text.to_owned())).await.unwrap();
    let mut rows = Vec::new();
    while let Some(row) = stream.next().await.unwrap() {
        rows.push(row);
    }
    rows
}
