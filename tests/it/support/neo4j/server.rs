//! Servers: fetched once, started by the tests, and ended with them, whatever happens.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use cairn::neo4j::{Session, Target};
use tempfile::TempDir;

use crate::support::{Cli, block_on, harbor, left_out};

/// How long a server may take to answer after it was started.
const START_MAX: Duration = Duration::from_mins(3);
/// How often it is polled.
const POLL: Duration = Duration::from_millis(200);

/// Skips optimizations that do not pay off in a Java process of a few minutes.
const QUICK_JAVA: &str = "-XX:TieredStopAtLevel=1";
/// Lets a server keep query plans although a database was emptied and filled again. Finding them again for each test
/// takes longer than most tests. Plans are also lost when an index is created or dropped.
const KEPT_PLANS: &str = "dbms.cypher.min_replan_interval=1h";
/// Whether the transaction log has its maximum size from the start, which would waste half a gigabyte.
const SMALL_LOG: &str = "db.tx_log.preallocate=false";
/// The extension of files beside the jars in which Java caches their classes: with them, a server starts in half the
/// time.
const CLASSES: &str = "jsa";

/// The file with a server's password in its folder, if it requires one.
pub(crate) const PASSWORD: &str = "password";

/// The setting of a server that refuses unencrypted connections.
pub(crate) const ENCRYPTED: &str = "server.bolt.tls_level=REQUIRED";

/// A server of our own.
pub(crate) struct Server {
    pub(super) home: PathBuf,
    bolt: u16,
    http: u16,
    settings: String,
    /// Options for Java.
    java: String,
    /// Whether its data is deleted with it.
    is_passing: bool,
    running: Option<Running>,
}

/// A running server. Its keeper ends it when the pipe is closed: by us, or because this process ends.
struct Running {
    java: String,
    keeper: Child,
    pipe: ChildStdin,
}

impl Server {
    /// Starts a server with its data in `home`.
    fn start(home: &Path, settings: &str) -> Option<Self> {
        let mut server = Self::new(home, settings, with_classes()?);
        server.resume();
        Some(server)
    }

    /// Starts a server that runs, with its data, as long as this process.
    pub(super) fn start_passing() -> Option<Self> {
        let java = with_classes()?;
        let home = TempDir::new().unwrap().keep();
        let mut server = Self { is_passing: true, ..Self::new(&home, SMALL_LOG, java) };
        server.resume();
        Some(server)
    }

    fn new(home: &Path, settings: &str, java: String) -> Self {
        let [bolt, http] = free_ports();
        let (home, settings) = (home.to_owned(), settings.to_owned());
        Self { home, bolt, http, settings, java, is_passing: false, running: None }
    }

    /// Restarts it on the same data and waits until it answers.
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
            .env("NEO4J_GC", "Serial")
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

    /// Restarts it with other settings.
    pub(crate) fn resume_with(&mut self, settings: &str) {
        settings.clone_into(&mut self.settings);
        self.resume();
    }

    fn wait(&self) {
        let began = Instant::now();
        let target = Target::parse(&self.uri()).unwrap();
        while let Err(error) = block_on(Session::connect(&target)) {
            // A server that requires a password is up, too.
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

    /// Pauses it until [`Self::go_on`]: its connections stay open, and accept data.
    pub(crate) fn pause(&self) {
        self.signal("-STOP");
    }

    /// Resumes it after [`Self::pause`].
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

    /// Returns the address of its own pages.
    pub(super) fn pages(&self) -> String {
        format!("http://127.0.0.1:{}", self.http)
    }

    /// Returns its address, with a scheme that it supports.
    pub(crate) fn uri(&self) -> String {
        let scheme = if self.settings.contains(ENCRYPTED) { "bolt+ssc" } else { "bolt" };
        format!("{scheme}://127.0.0.1:{}", self.bolt)
    }
}

/// Returns `neo4j-admin` for the data in `home`, whose server must not run; none without jars.
pub(crate) fn admin(home: &Path) -> Option<Command> {
    let mut command = Command::new(script());
    command.env("JDK_JAVA_OPTIONS", with_classes()?).arg("admin").arg(lib()).arg(home);
    Some(command)
}

/// Returns `cypher-shell` for a database; none, after reporting it, without Java.
pub(crate) fn shell(uri: &str) -> Option<Command> {
    let Some(jars) = jars() else {
        left_out("it needs cypher-shell: Java 17 and Maven");
        return None;
    };
    let mut command = Command::new(script());
    command.env("JDK_JAVA_OPTIONS", QUICK_JAVA).arg("shell").arg(&jars.lib).args([
        "-a",
        uri,
        "--format",
        "plain",
        "--fail-fast",
    ]);
    Some(command)
}

fn free_ports() -> [u16; 2] {
    // Both are kept until both are known, so that they differ.
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/setup_neo4j.sh")
}

/// Fails if `CAIRN_REQUIRE_NEO4J` forbids leaving anything out.
#[track_caller]
pub(crate) fn require(why: &str) {
    assert!(std::env::var_os("CAIRN_REQUIRE_NEO4J").is_none(), "it is required and cannot be had: {why}");
}

/// Returns the folder for Neo4j's jars.
fn lib() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("neo4j/lib")
}

/// The files for servers.
struct Jars {
    lib: PathBuf,
    /// See [`CLASSES`].
    classes: PathBuf,
}

/// Returns the jars, fetched if they are missing; none if that is not possible, unless `CAIRN_REQUIRE_NEO4J` requires
/// them.
fn jars() -> Option<&'static Jars> {
    static JARS: OnceLock<Option<Jars>> = OnceLock::new();
    let fetch = || {
        let lib = lib();
        fs::create_dir_all(lib.parent().unwrap()).unwrap();
        let fetched = Command::new(script()).arg("fetch").arg(&lib).output();
        let java = Command::new("java").arg("-version").output().ok().filter(|it| it.status.success());
        let why = match (fetched, java) {
            (Ok(output), Some(java)) if output.status.success() => {
                // Another Java, or one that finds the jars elsewhere, would silently ignore the file.
                let read_by = [lib.as_os_str().as_encoded_bytes(), &java.stderr].concat();
                let name = format!("classes-{}", &blake3::hash(&read_by).to_hex()[..16]);
                let classes = lib.join(name).with_extension(CLASSES);
                keep_classes(&lib, &classes);
                return Some(Jars { lib, classes });
            }
            (Ok(output), _) => String::from_utf8_lossy(&output.stderr).into_owned(),
            (Err(error), _) => error.to_string(),
        };
        require(&why);
        None
    };
    JARS.get_or_init(fetch).as_ref()
}

/// Returns options for Java to use the file [`CLASSES`], if there are jars.
fn with_classes() -> Option<String> {
    Some(format!("{QUICK_JAVA} -XX:SharedArchiveFile={}", jars()?.classes.display()))
}

/// Makes the file [`CLASSES`] if it does not exist, with a server that does what others do.
fn keep_classes(lib: &Path, classes: &Path) {
    if classes.exists() {
        return;
    }
    let files = fs::read_dir(lib).unwrap().map(|it| it.unwrap().path());
    for other in files.filter(|it| it.extension().is_some_and(|it| it == CLASSES)) {
        fs::remove_file(other).unwrap();
    }
    let home = TempDir::new().unwrap();
    let unfinished = lib.join(format!("{CLASSES}.tmp-{}", std::process::id()));
    let java = format!("{QUICK_JAVA} -XX:ArchiveClassesAtExit={}", unfinished.display());
    let mut server = Server::new(home.path(), SMALL_LOG, java);
    server.resume();
    let (cli, harbor, uri) = (Cli::new(), harbor().display().to_string(), server.uri());
    for command in [
        &["index", &harbor][..],
        &["publish", "--neo4j", &uri],
        &["publish", "--neo4j", &uri],
        &["search", "Who built Harl Mill?", "--neo4j", &uri, "--traversal", "memory"],
        &["search", "Who built Harl Mill?", "--neo4j", &uri, "--traversal", "cypher"],
        &["check", "--neo4j", &uri],
        &["unpublish", "--neo4j", &uri, "--yes"],
    ] {
        cli.run(command).succeeded();
    }
    server.stop();
    fs::rename(unfinished, classes).unwrap();
}

/// Returns a server that a test may kill; none, after reporting it, if there is none.
pub(crate) fn server(home: &Path, settings: &str) -> Option<Server> {
    let server = Server::start(home, settings);
    if server.is_none() {
        left_out("it needs Neo4j: Java 17 and Maven");
    }
    server
}
