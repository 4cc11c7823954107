//! The only place that talks to the driver: explicit transactions, retried as a whole.
//!
//! The driver's own method of running a statement repeats writes with an unknown outcome, and a dropped transaction
//! keeps its locks. So every statement runs in an explicit transaction, every error rolls back explicitly, and a write
//! runs in its own task, which a cancelled caller does not interrupt. If a transaction cannot be ended, its connection
//! is closed, which ends it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use neo4rs::{Config, ConfigBuilder, Error as DriverError, Graph, Row, Txn};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::retry::{self, Remedy, meaning, remedy, wait};
use super::statement::{Statement, cypher};
use super::target::Target;
use crate::domain::{DatabaseError, Redactor};
use crate::error::{Error, Result};

/// How long to wait for a server.
#[derive(Debug, Clone, Copy)]
struct Patience {
    /// For a transaction to begin, with all that it takes to be connected.
    begin: Duration,
    /// For a statement to be answered, and for the driver for each message.
    answer: Duration,
    /// For a transaction that is tried again.
    budget: Duration,
}

/// For the greeting. A running server never takes longer to greet, but the first request may be slow.
const GREETING: Patience = Patience::of_seconds(4, 10, 0);
/// For a question: a user waits.
const ASKING: Patience = Patience::of_seconds(4, 30, 4);
/// For everything else: an index is filled, a graph is deleted.
const PUBLISHING: Patience = Patience::of_seconds(60, 5 * 60, 60);

impl Patience {
    const fn of_seconds(begin: u64, answer: u64, budget: u64) -> Self {
        let [begin, answer, budget] =
            [Duration::from_secs(begin), Duration::from_secs(answer), Duration::from_secs(budget)];
        Self { begin, answer, budget }
    }
}

/// How long a rollback may take.
const ROLLBACK: Duration = Duration::from_secs(5);
/// Rows that the server sends at once.
const FETCH_ROWS: usize = 5_000;
/// Connections of a session, and so concurrent transactions; others wait their turn, first come, first served.
const CONNECTIONS_MAX: usize = 4;
/// The oldest server that knows all that is used.
const SERVER_LEAST: (u32, u32) = (5, 23);

/// A database that answers.
#[derive(Clone)]
pub struct Session {
    connections: Arc<Connections>,
    shown: String,
    database: Option<String>,
    patience: Patience,
    /// The redactor of the password in the server's messages.
    redactor: Redactor,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("server", &self.shown).finish_non_exhaustive()
    }
}

/// The outcome of a transaction.
pub(super) enum Outcome {
    /// It is committed; the rows of each statement.
    Done(Vec<Vec<Row>>),
    /// Its first statement returned nothing: it was not to continue, and was rolled back.
    Refused,
    /// It was committed by an attempt whose answer was lost.
    WasDone,
    /// A statement returned so many fewer rows than were due, and it was rolled back.
    Missing(usize),
}

/// Why a transaction failed in the end.
pub(super) struct Failed {
    pub(super) remedy: Remedy,
    pub(super) error: Error,
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Self {
        failed.error
    }
}

impl Session {
    /// Connects, and checks that the server will do.
    ///
    /// # Errors
    ///
    /// [`Error::Database`] if the server does not respond, user or password are refused, or the server is too old.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is changed.
    pub async fn connect(target: &Target) -> Result<Self> {
        Self::greet(target).await?;
        Self::open(target, PUBLISHING)
    }

    /// Connects to ask questions: as [`Self::connect`], but with shorter timeouts, because a user waits.
    pub(super) async fn connect_to_ask(target: &Target) -> Result<Self> {
        Self::greet(target).await?;
        Self::open(target, ASKING)
    }

    async fn greet(target: &Target) -> Result<()> {
        // Where another crate brings a second provider, the driver could not choose; a provider that is set stays.
        let _already_set = rustls::crypto::ring::default_provider().install_default();
        Self::open(target, GREETING)?.check_server().await
    }

    fn open(target: &Target, patience: Patience) -> Result<Self> {
        let mut config = ConfigBuilder::default()
            .uri(target.address())
            .user(&target.user)
            .password(target.password.text())
            .fetch_size(FETCH_ROWS)
            .max_connections(CONNECTIONS_MAX)
            .connection_timeout(patience.answer);
        if let Some(database) = &target.database {
            config = config.db(database.as_str());
        }
        let (shown, redactor) = (target.shown().to_owned(), Redactor::of([target.password.text()]));
        let connections = config.build().and_then(Connections::new).map_err(|error| {
            let source = meaning(&error, "connect", target.database.as_deref(), &redactor);
            Error::Database { server: shown.clone(), source }
        })?;
        Ok(Self { connections: Arc::new(connections), shown, database: target.database.clone(), patience, redactor })
    }

    async fn check_server(&self) -> Result<()> {
        let statement = Statement::new(retry::GREETING, cypher!("read/server"));
        let rows = self.rows(&statement).await?;
        let version: String = rows.first().and_then(|row| row.get("version").ok()).unwrap_or_default();
        let mut parts = version.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
        let found = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
        if found >= SERVER_LEAST {
            return Ok(());
        }
        let least = format!("{}.{}", SERVER_LEAST.0, SERVER_LEAST.1);
        let version = self.redactor.redacted(version);
        let found = if version.is_empty() { "of an unknown version".to_owned() } else { version };
        Err(self.error(DatabaseError::TooOld { found, least }))
    }

    /// Returns an error of this database.
    pub(super) fn error(&self, source: DatabaseError) -> Error {
        Error::Database { server: self.shown.clone(), source }
    }

    pub(super) fn damaged(&self, reason: impl Into<String>) -> Error {
        self.error(DatabaseError::Damaged { reason: reason.into() })
    }

    fn failed(&self, error: &DriverError, action: &'static str) -> Failed {
        let source = meaning(error, action, self.database.as_deref(), &self.redactor);
        Failed { remedy: remedy(error), error: self.error(source) }
    }

    /// Returns the rows of a statement that changes nothing, or nothing that must not be done twice.
    pub(super) async fn rows(&self, statement: &Statement) -> Result<Vec<Row>> {
        match self.write(vec![statement.clone()], None).await? {
            Outcome::Done(mut rows) => Ok(rows.pop().unwrap_or_default()),
            Outcome::Refused | Outcome::WasDone | Outcome::Missing(_) => Ok(Vec::new()),
        }
    }

    /// Returns the rows of several such statements, one after the other in one transaction.
    pub(super) async fn rows_of_each(&self, statements: Vec<Statement>) -> Result<Vec<Vec<Row>>> {
        match self.write(statements, None).await? {
            Outcome::Done(rows) => Ok(rows),
            Outcome::Refused | Outcome::WasDone | Outcome::Missing(_) => Ok(Vec::new()),
        }
    }

    /// Calls `visit` with every row of a statement that changes nothing. It is retried as long as no row has arrived.
    pub(super) async fn for_each_row(
        &self,
        statement: &Statement,
        visit: &mut (dyn FnMut(&Row) -> Result<()> + Send),
    ) -> Result<()> {
        let began = Instant::now();
        let mut attempt = 0;
        loop {
            let mut rows = 0_u64;
            let error = match self.visit_rows(statement, &mut rows, visit).await {
                Ok(visited) => return visited,
                Err(error) => error,
            };
            let failed = self.failed(&error, statement.action);
            let pause = wait(attempt);
            if rows > 0 || failed.remedy != Remedy::Retry || began.elapsed() + pause > self.patience.budget {
                return Err(failed.error);
            }
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }

    async fn visit_rows(
        &self,
        statement: &Statement,
        count: &mut u64,
        visit: &mut (dyn FnMut(&Row) -> Result<()> + Send),
    ) -> Result<Result<()>, DriverError> {
        let mut checkout = self.connections.checkout().await?;
        let mut transaction = checkout.begin(self.patience).await?;
        let visited = async {
            let mut rows = transaction.execute(statement.query()).await?;
            while let Some(row) = rows.next(transaction.handle()).await? {
                *count += 1;
                if let Err(error) = visit(&row) {
                    return Ok(Err(error));
                }
            }
            Ok(Ok(()))
        };
        let visited: Result<Result<()>, DriverError> = visited.await;
        match visited {
            Ok(Ok(())) => checkout.commit(transaction).await.map(Ok),
            refused => {
                checkout.roll_back(transaction).await;
                refused
            }
        }
    }

    /// Runs statements in one transaction, and retries it as a whole if that may help.
    ///
    /// With `batch`, the first statement says whether to continue: it returns the number of the batch that was
    /// committed last, and no row if this is no longer the publisher. So a batch whose commit has an unknown outcome is
    /// sent again, and found done if it was.
    pub(super) async fn write(&self, statements: Vec<Statement>, batch: Option<i64>) -> Result<Outcome, Failed> {
        let statements: Arc<[Statement]> = statements.into();
        let action = statements.last().map_or("do nothing", |it| it.action);
        let began = Instant::now();
        let mut attempt = 0;
        loop {
            let ended = self.run_once(Arc::clone(&statements), batch).await;
            let failed = match ended {
                Ok(Ok(outcome)) => return Ok(outcome),
                Ok(Err(error)) => self.failed(&error, action),
                Err(error) => Failed { remedy: Remedy::GiveUp, error: Error::Internal(error.to_string()) },
            };
            let pause = wait(attempt);
            if failed.remedy != Remedy::Retry || began.elapsed() + pause > self.patience.budget {
                return Err(failed);
            }
            tracing::debug!(attempt, action, error = %failed.error, "a transaction is tried again");
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }

    /// A waiting caller may be cancelled; a transaction that has begun is always ended.
    async fn run_once(
        &self,
        statements: Arc<[Statement]>,
        batch: Option<i64>,
    ) -> Result<Result<Outcome, DriverError>, tokio::task::JoinError> {
        let mut checkout = match self.connections.checkout().await {
            Ok(checkout) => checkout,
            Err(error) => return Ok(Err(error)),
        };
        let patience = self.patience;
        tokio::spawn(async move { checkout.run(&statements, batch, patience).await }).await
    }
}

/// The connections of a session: a pool of the driver, and its permits.
struct Connections {
    config: Config,
    pool: Mutex<Pool>,
    permits: Arc<Semaphore>,
}

/// A pool, and how many there were before it.
struct Pool {
    graph: Graph,
    number: u64,
}

impl Connections {
    fn new(config: Config) -> Result<Self, DriverError> {
        let pool = Mutex::new(Pool { graph: Graph::connect(config.clone())?, number: 0 });
        Ok(Self { config, pool, permits: Arc::new(Semaphore::new(CONNECTIONS_MAX)) })
    }

    /// Waits for a free connection. No holder of one waits for another.
    async fn checkout(self: &Arc<Self>) -> Result<Checkout, DriverError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| DriverError::ConnectionError)?;
        Ok(Checkout { connections: Arc::clone(self), begun_in: None, _permit: permit })
    }

    /// Replaces the pool of this number. Connections of the old one are closed: idle ones now, those in use when their
    /// transaction ends. The driver cannot close a single one.
    fn replace(&self, number: u64) {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if pool.number != number {
            return;
        }
        match Graph::connect(self.config.clone()) {
            Ok(graph) => *pool = Pool { graph, number: number + 1 },
            Err(error) => tracing::debug!(%error, "a pool of connections was not replaced"),
        }
    }
}

/// A connection to run one transaction. If it ends before the transaction did, the server would keep the transaction,
/// with its locks, as long as the connection is in the pool, so the pool is replaced.
struct Checkout {
    connections: Arc<Connections>,
    /// The pool of the transaction that was begun and has not ended.
    begun_in: Option<u64>,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Checkout {
    fn drop(&mut self) {
        if let Some(number) = self.begun_in {
            self.connections.replace(number);
        }
    }
}

impl Checkout {
    /// The driver itself waits without end for a peer that takes a connection and says nothing.
    async fn begin(&mut self, patience: Patience) -> Result<Txn, DriverError> {
        // Not kept longer than this: a pool that is replaced is to close its connections at once.
        let graph = {
            let pool = self.connections.pool.lock().unwrap_or_else(PoisonError::into_inner);
            self.begun_in = Some(pool.number);
            pool.graph.clone()
        };
        timeout(patience.begin, graph.start_txn()).await.map_err(|_| DriverError::ConnectionTimedOut)?
    }

    async fn commit(&mut self, transaction: Txn) -> Result<(), DriverError> {
        transaction.commit().await?;
        self.begun_in = None;
        Ok(())
    }

    /// Ends a transaction that failed. After refusing a statement, a server accepts no rollback and keeps the locks
    /// until the connection is reused or closed; but a user without write permission has none.
    async fn give_up(&mut self, transaction: Txn, error: &DriverError) {
        if matches!(meaning(error, "read", None, &Redactor::default()), DatabaseError::ReadOnly { .. }) {
            self.begun_in = None;
            return;
        }
        self.roll_back(transaction).await;
    }

    async fn roll_back(&mut self, transaction: Txn) {
        let ended = timeout(ROLLBACK, transaction.rollback()).await;
        if matches!(ended, Ok(Ok(()))) {
            self.begun_in = None;
        } else {
            tracing::debug!("a rollback was not answered");
        }
    }

    async fn run(
        &mut self,
        statements: &[Statement],
        batch: Option<i64>,
        patience: Patience,
    ) -> Result<Outcome, DriverError> {
        let mut transaction = self.begin(patience).await?;
        let mut results = Vec::with_capacity(statements.len());
        for (number, statement) in statements.iter().enumerate() {
            let rows = timeout(patience.answer, rows_of(&mut transaction, statement)).await;
            let rows = match rows.unwrap_or(Err(DriverError::ConnectionTimedOut)) {
                Ok(rows) => rows,
                Err(error) => {
                    self.give_up(transaction, &error).await;
                    return Err(error);
                }
            };
            if let Some(batch) = batch.filter(|_| number == 0) {
                let previous = rows.first().map(|row| row.get::<i64>("previous").unwrap_or_default());
                if previous.is_none_or(|previous| previous >= batch) {
                    self.roll_back(transaction).await;
                    return Ok(if previous.is_none() { Outcome::Refused } else { Outcome::WasDone });
                }
            }
            if let Some(missing) = statement.missing(&rows) {
                self.roll_back(transaction).await;
                return Ok(Outcome::Missing(missing));
            }
            results.push(rows);
        }
        self.commit(transaction).await?;
        Ok(Outcome::Done(results))
    }
}

async fn rows_of(transaction: &mut Txn, statement: &Statement) -> Result<Vec<Row>, DriverError> {
    let began = Instant::now();
    let mut stream = transaction.execute(statement.query()).await?;
    let mut rows = Vec::new();
    while let Some(row) = stream.next(transaction.handle()).await? {
        rows.push(row);
    }
    let (action, elapsed) = (statement.action, began.elapsed());
    tracing::debug!(action, rows = rows.len(), ?elapsed, "a statement was answered");
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::sync::mpsc::{Receiver, channel};
    use std::thread;

    use super::*;
    use crate::error::ErrorKind;

    const BRIEF: Patience =
        Patience { begin: Duration::from_secs(5), answer: Duration::from_millis(50), budget: Duration::ZERO };
    const SUCCESS: [u8; 7] = [0, 3, 0xB1, 0x70, 0xA0, 0, 0];

    /// Starts a server that greets, begins a transaction, and then sends `answer` and nothing more; reports which of
    /// its connections are closed.
    fn server(answer: Vec<u8>) -> (Target, Receiver<usize>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = Target::parse(&format!("bolt://{}", listener.local_addr().unwrap())).unwrap();
        let (closed, is_closed) = channel();
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let (answer, closed) = (answer.clone(), closed.clone());
                thread::spawn(move || {
                    serve(stream.unwrap(), &answer);
                    // Nobody listens any more after a test has ended.
                    let _sent = closed.send(number);
                });
            }
        });
        (target, is_closed)
    }

    fn serve(mut stream: TcpStream, answer: &[u8]) {
        stream.read_exact(&mut [0; 20]).unwrap();
        stream.write_all(&[0, 0, 4, 4]).unwrap();
        for _ in 0..2 {
            read_message(&mut stream);
            stream.write_all(&SUCCESS).unwrap();
        }
        stream.write_all(answer).unwrap();
        // Until the connection ends, in whatever manner.
        let _read = stream.read_to_end(&mut Vec::new());
    }

    fn read_message(stream: &mut TcpStream) {
        loop {
            let mut length = [0; 2];
            stream.read_exact(&mut length).unwrap();
            let length = u16::from_be_bytes(length);
            if length == 0 {
                return;
            }
            stream.read_exact(&mut vec![0; usize::from(length)]).unwrap();
        }
    }

    #[tokio::test]
    async fn a_transaction_that_cannot_be_ended_loses_its_connection_and_its_turn() {
        for (answer, kind) in
            [(Vec::new(), ErrorKind::Unavailable), (refusal("Neo.ClientError.Statement.EntityNotFound"), ErrorKind::Io)]
        {
            let (target, is_closed) = server(answer);
            let session = Session::open(&target, BRIEF).unwrap();
            // Another transaction continues in the meantime: it may wait for locks of the first one.
            let mut other = session.connections.checkout().await.unwrap();
            let _transaction = other.begin(BRIEF).await.unwrap();
            let error = session.rows(&Statement::new("read", "RETURN 1")).await.unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            let closed = tokio::task::spawn_blocking(move || is_closed.recv_timeout(Duration::from_mins(1)));
            assert_eq!(closed.await.unwrap(), Ok(1));
            assert_eq!(session.connections.permits.available_permits(), CONNECTIONS_MAX - 1);
        }
    }

    #[tokio::test]
    async fn a_reader_who_is_refused_a_lock_keeps_the_connections() {
        let (target, _closed) = server(refusal("Neo.ClientError.Security.Forbidden"));
        let session = Session::open(&target, BRIEF).unwrap();
        session.rows(&Statement::new("read", "RETURN 1")).await.unwrap_err();
        assert_eq!(session.connections.pool.lock().unwrap().number, 0);
    }

    /// Returns the messages of a server that refuses a statement and ignores the following ones.
    fn refusal(code: &str) -> Vec<u8> {
        const IGNORED: [u8; 6] = [0, 2, 0xB0, 0x7E, 0, 0];
        let text = |text: &str| [&[0xD0, text.len() as u8], text.as_bytes()].concat();
        let fields = [text("code"), text(code), text("message"), text("no")].concat();
        let failure = [&[0xB1, 0x7F, 0xA2], &fields[..]].concat();
        [&[0, failure.len() as u8], &failure[..], &[0, 0], &IGNORED, &IGNORED].concat()
    }
}
