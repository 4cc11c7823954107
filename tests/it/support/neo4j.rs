//! A real Neo4j for the tests: the one that `CAIRN_TEST_NEO4J_URI` names, or one that is fetched and started once a run
//! and ends with it, however that ends.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use cairn::neo4j::{PublishOptions, Session, Target, publish};
use cairn::{Document, Sources, Workspace};
use neo4rs::{ConfigBuilder, Graph, Query, Row};
use tempfile::TempDir;

use super::{block_on, index, left_out};

/// How long a server may take to answer after it was started.
const START_MAX: Duration = Duration::from_mins(3);
/// How often it is asked meanwhile.
const POLL: Duration = Duration::from_millis(200);

/// What a Java that runs for minutes does without.
const QUICK_JAVA: &str = "-XX:TieredStopAtLevel=1";
/// Lets a server keep how it runs a statement, though a database that was emptied and filled again has changed much.
/// Found out anew by each test, that takes longer than most of them. It is also lost when an index is made or dropped.
const KEPT_PLANS: &str = "dbms.cypher.min_replan_interval=1h";
/// The file beside the jars that keeps what Java makes of their classes: with it, a server starts in half the time.
const CLASSES: &str = "classes.jsa";

/// The file in a server's folder with its password, where it is to ask for one.
pub(crate) const PASSWORD: &str = "password";

/// The setting of a server that takes no connection without encryption.
pub(crate) const ENCRYPTED: &str = "server.bolt.tls_level=REQUIRED";

/// A server of our own.
pub(crate) struct Server {
    home: PathBuf,
    bolt: u16,
    http: u16,
    settings: String,
    /// Options for Java.
    java: String,
    /// Whether its data go with it.
    is_passing: bool,
    running: Option<Running>,
}

/// A server that runs. Whoever keeps it alive ends it when the pipe is closed: by us, or by the end of this process.
struct Running {
    java: String,
    keeper: Child,
    pipe: ChildStdin,
}

impl Server {
    /// Starts a server whose data lie in `home`.
    pub(crate) fn start(home: &Path, settings: &str) -> Option<Self> {
        let mut server = Self::new(home, settings, with_classes()?);
        server.resume();
        Some(server)
    }

    /// Starts a server that lives, with its data, as long as this process.
    fn start_passing() -> Option<Self> {
        let java = with_classes()?;
        let home = TempDir::new().unwrap().keep();
        let mut server = Self { is_passing: true, ..Self::new(&home, "", java) };
        server.resume();
        Some(server)
    }

    fn new(home: &Path, settings: &str, java: String) -> Self {
        let [bolt, http] = free_ports();
        let (home, settings) = (home.to_owned(), settings.to_owned());
        Self { home, bolt, http, settings, java, is_passing: false, running: None }
    }

    /// Starts it again on the same data and waits until it answers.
    pub(crate) fn resume(&mut self) {
        let script = script();
        let lib = lib();
        let keep = r#""$0" run "$1" "$2" "$3" "$4" >"$2/server.log" 2>&1 & echo $!
            read -r how; [ "$how" = stop ] && kill $! && wait $!; kill -9 $! 2>/dev/null; { wait $!; } 2>/dev/null
            [ -z "$5" ] || rm -rf "$2""#;
        fs::create_dir_all(&self.home).unwrap();
        let password = self.home.join(PASSWORD);
        let mut keeper = Command::new("bash");
        keeper.env("JDK_JAVA_OPTIONS", &self.java);
        if password.exists() {
            keeper.env("NEO4J_PASSWORD_FILE", password);
        }
        let mut keeper = keeper
            .args(["-c", keep])
            .args([&script, &lib, &self.home])
            .args([self.bolt.to_string(), self.http.to_string()])
            .arg(if self.is_passing { "passing" } else { "" })
            .env("NEO4J_HEAP", "768m")
            .env("NEO4J_PAGECACHE", "256m")
            .env("NEO4J_SETTINGS", format!("{KEPT_PLANS}\n{}", self.settings))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let pipe = keeper.stdin.take().unwrap();
        let mut java = String::new();
        BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut java).unwrap();
        self.running = Some(Running { java: java.trim().to_owned(), keeper, pipe });
        self.wait();
    }

    /// Starts it again with other settings.
    pub(crate) fn resume_with(&mut self, settings: &str) {
        settings.clone_into(&mut self.settings);
        self.resume();
    }

    fn wait(&self) {
        let began = Instant::now();
        let target = Target::parse(&self.uri()).unwrap();
        while let Err(error) = block_on(Session::connect(&target)) {
            // A server that asks for a password answers too.
            if error.kind() == cairn::ErrorKind::Input {
                return;
            }
            let log = || fs::read_to_string(self.home.join("server.log")).unwrap_or_default();
            assert!(began.elapsed() < START_MAX, "Neo4j does not start: {error}\n{}", log());
            thread::sleep(POLL);
        }
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(&mut self) {
        let mut running = self.running.take().unwrap();
        let status = Command::new("kill").args(["-9", &running.java]).status().unwrap();
        assert!(status.success());
        drop(running.pipe);
        running.keeper.wait().unwrap();
    }

    /// Stops it from doing anything, until [`Self::go_on`]: its connections stay, and take what comes.
    pub(crate) fn pause(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on after [`Self::pause`].
    pub(crate) fn go_on(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let java = &self.running.as_ref().unwrap().java;
        assert!(Command::new("kill").args([signal, java]).status().unwrap().success());
    }

    /// Ends it as an operator would.
    pub(crate) fn stop(&mut self) {
        let mut running = self.running.take().unwrap();
        running.pipe.write_all(b"stop\n").unwrap();
        running.keeper.wait().unwrap();
    }

    /// Returns its address, of a scheme that it takes.
    pub(crate) fn uri(&self) -> String {
        let scheme = if self.settings.contains(ENCRYPTED) { "bolt+ssc" } else { "bolt" };
        format!("{scheme}://127.0.0.1:{}", self.bolt)
    }
}

/// Returns `neo4j-admin` on the data in `home`, whose server must be stopped.
pub(crate) fn admin(home: &Path) -> Command {
    let mut command = Command::new(script());
    command.arg("admin").arg(lib()).arg(home);
    command
}

/// Returns `cypher-shell` for a database; none, and says so, where there is no Java.
pub(crate) fn shell(uri: &str) -> Option<Command> {
    let Some(lib) = jars() else {
        left_out("it needs cypher-shell: Java 17 and Maven");
        return None;
    };
    let mut command = Command::new(script());
    command.arg("shell").arg(lib).args(["-a", uri, "--format", "plain", "--fail-fast"]);
    Some(command)
}

fn free_ports() -> [u16; 2] {
    // Both are held until both are known, so that they differ.
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/setup_neo4j.sh")
}

/// Fails where `CAIRN_REQUIRE_NEO4J` says that nothing about Neo4j may be left out.
#[track_caller]
pub(crate) fn require(why: &str) {
    assert!(std::env::var_os("CAIRN_REQUIRE_NEO4J").is_none(), "it is required and cannot be had: {why}");
}

/// Returns the folder for Neo4j's jars.
fn lib() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("neo4j/lib")
}

/// Returns the folder with Neo4j's jars, fetched where they are not there yet; says what is left out where they cannot
/// be had, unless `CAIRN_REQUIRE_NEO4J` says that they must.
fn jars() -> Option<PathBuf> {
    static JARS: OnceLock<Option<PathBuf>> = OnceLock::new();
    let fetch = || {
        let lib = lib();
        fs::create_dir_all(lib.parent().unwrap()).unwrap();
        let fetched = Command::new(script()).arg("fetch").arg(&lib).output();
        let java = Command::new("java").arg("-version").output().is_ok_and(|it| it.status.success());
        let why = match fetched {
            Ok(output) if output.status.success() && java => {
                keep_classes(&lib);
                return Some(lib);
            }
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => error.to_string(),
        };
        require(&why);
        None
    };
    JARS.get_or_init(fetch).clone()
}

/// Returns options for a Java that uses the file [`CLASSES`], where there are jars.
fn with_classes() -> Option<String> {
    Some(format!("{QUICK_JAVA} -XX:SharedArchiveFile={}", jars()?.join(CLASSES).display()))
}

/// Makes the file [`CLASSES`] where it is not there yet, by a server that does all that others do.
fn keep_classes(lib: &Path) {
    if lib.join(CLASSES).exists() {
        return;
    }
    let home = TempDir::new().unwrap();
    let unfinished = lib.join(format!("{CLASSES}.tmp-{}", std::process::id()));
    let java = format!("{QUICK_JAVA} -XX:ArchiveClassesAtExit={}", unfinished.display());
    let mut server = Server::new(home.path(), "", java);
    server.resume();
    publish_one_to(&server.uri());
    server.stop();
    fs::rename(unfinished, lib.join(CLASSES)).unwrap();
}

/// Publishes an index of one document.
fn publish_one_to(uri: &str) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("index");
    index(&path, &Sources::documents([Document::new("mill", None, "Harl Mill was built by Ada Lorne.")]));
    let workspace = Workspace::open(&path).unwrap();
    block_on(publish(&workspace, &Target::parse(uri).unwrap(), &PublishOptions::default())).unwrap();
}

/// A database, empty, and nobody else's while this value lives.
pub(crate) struct Database {
    pub(crate) uri: String,
    /// Where the server's own pages are, if that is known.
    pub(crate) pages: Option<String>,
    _turn: MutexGuard<'static, ()>,
}

/// Returns how long a test goes on that could go on for much longer: as long as usual, or `CAIRN_TEST_MINUTES`, which
/// `--test torture` sets.
pub(crate) fn at_most(usual: Duration) -> Duration {
    let said = std::env::var("CAIRN_TEST_MINUTES").ok().and_then(|minutes| minutes.parse().ok());
    said.map_or(usual, Duration::from_mins)
}

/// Returns one of two sizes of what a test tries: `usual`, or `tortured` where `--test torture` runs it.
pub(crate) fn sized<T>(usual: T, tortured: T) -> T {
    if at_most(Duration::ZERO).is_zero() { usual } else { tortured }
}

/// A server that tests share, one at a time.
struct Shared {
    turn: Mutex<()>,
    server: OnceLock<Option<Server>>,
    /// The schema of what is published, which stays from test to test: to make it takes longer than most of them.
    schema: OnceLock<BTreeSet<String>>,
}

impl Shared {
    const fn new() -> Self {
        Self { turn: Mutex::new(()), server: OnceLock::new(), schema: OnceLock::new() }
    }

    fn server(&'static self) -> Option<&'static Server> {
        self.server.get_or_init(Server::start_passing).as_ref()
    }
}

/// As many as there are cores on a small machine: a test that waits for its server leaves a core to another.
static SHARED: [Shared; 2] = [Shared::new(), Shared::new()];

/// Returns a server that nobody else uses meanwhile, waiting where there is none; the first where `is_one`.
fn turn(is_one: bool) -> (&'static Shared, MutexGuard<'static, ()>) {
    let usable = if is_one { &SHARED[..1] } else { &SHARED[..] };
    loop {
        for shared in usable {
            // A test that failed leaves nothing that is not cleared.
            match shared.turn.try_lock() {
                Ok(turn) => return (shared, turn),
                Err(TryLockError::Poisoned(poisoned)) => return (shared, poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        thread::sleep(POLL);
    }
}

/// Returns a database without nodes, whose constraints and indexes are those of an earlier publish; none, and says so,
/// where there is no server.
pub(crate) fn database() -> Option<Database> {
    let (database, shared) = any_database()?;
    let schema = shared.schema.get_or_init(|| {
        database.empty();
        publish_one_to(&database.uri);
        block_on(schema(&connect(&database.uri))).into_iter().map(|(_, made_by)| made_by).collect()
    });
    database.clear(schema);
    Some(database)
}

/// Returns a database without nodes, constraints and indexes, as [`database`] does.
pub(crate) fn bare_database() -> Option<Database> {
    let (database, _) = any_database()?;
    database.empty();
    Some(database)
}

/// Returns a database as the last test left it.
fn any_database() -> Option<(Database, &'static Shared)> {
    let named = std::env::var("CAIRN_TEST_NEO4J_URI").ok();
    let (shared, turn) = turn(named.is_some());
    let (uri, pages) = if let Some(uri) = named {
        (uri, None)
    } else {
        let Some(server) = shared.server() else {
            left_out("it needs Neo4j: Java 17 and Maven, or `CAIRN_TEST_NEO4J_URI`");
            return None;
        };
        (server.uri(), Some(format!("http://127.0.0.1:{}", server.http)))
    };
    Some((Database { uri, pages, _turn: turn }, shared))
}

/// Returns a server of our own that a test may kill; none, and says so, where there is none to be had.
pub(crate) fn server(home: &Path, settings: &str) -> Option<Server> {
    let server = Server::start(home, settings);
    if server.is_none() {
        left_out("it needs Neo4j: Java 17 and Maven");
    }
    server
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

    /// Empties it, schema and all.
    pub(crate) fn empty(&self) {
        self.clear(&BTreeSet::new());
    }

    /// Empties it, but for the constraints and indexes that these statements make.
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

/// Returns the constraints and indexes of a database: the statement that drops each, and the one that makes it.
async fn schema(graph: &Graph) -> Vec<(String, String)> {
    let mut schema = Vec::new();
    for (list, kind) in [("SHOW CONSTRAINTS", "CONSTRAINT"), ("SHOW INDEXES", "INDEX")] {
        // An index that failed is made anew.
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
    // A connection belongs to the runtime that it was made in.
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
