//! The one place that talks to the driver: explicit transactions, tried again as a whole.
//!
//! The driver's own way to run a statement repeats writes whose outcome is unknown, and a transaction of its that is
//! dropped keeps its locks. So every statement runs in an explicit transaction, every error rolls back by hand, and a
//! write runs in a task of its own, which a caller that goes away does not interrupt.

use std::sync::Arc;
use std::time::{Duration, Instant};

use neo4rs::{ConfigBuilder, Error as DriverError, Graph, Row, Txn};

use super::retry::{self, Remedy, meaning, remedy, wait};
use super::statement::{Statement, cypher};
use super::target::Target;
use crate::domain::DatabaseError;
use crate::error::{Error, Result};

/// How long the server may take to answer the first time.
const GREETING: Duration = Duration::from_secs(10);
/// How long one statement may take: the driver's limit for a connection is its limit for every answer.
const ANSWER: Duration = Duration::from_mins(5);
/// How long a rollback may take.
const ROLLBACK: Duration = Duration::from_secs(5);
/// How long a transaction is tried again.
const BUDGET: Duration = Duration::from_mins(1);
/// Rows that the server sends at once.
const FETCH_ROWS: usize = 5_000;
const CONNECTIONS_MAX: usize = 4;
/// The oldest server that knows all that is used.
const SERVER_LEAST: (u32, u32) = (5, 23);

/// A database that answers.
#[derive(Clone)]
pub struct Session {
    graph: Graph,
    shown: String,
    database: Option<String>,
    budget: Duration,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("server", &self.shown).finish_non_exhaustive()
    }
}

/// What a transaction came to.
pub(super) enum Outcome {
    /// It is committed; the rows of each statement.
    Done(Vec<Vec<Row>>),
    /// Its first statement returned nothing: it was not to go on, and was rolled back.
    Refused,
    /// It was committed by an attempt whose answer was lost.
    WasDone,
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
    /// [`Error::Database`] if nobody answers, user or password are refused, or the server is too old.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is changed.
    pub async fn connect(target: &Target) -> Result<Self> {
        // Where another crate brings a second provider, the driver could not choose; a provider that is set stays.
        let _already_set = rustls::crypto::ring::default_provider().install_default();
        let greeting = Self::open(target, GREETING, Duration::ZERO)?;
        greeting.check_server().await?;
        Self::open(target, ANSWER, BUDGET)
    }

    fn open(target: &Target, answer: Duration, budget: Duration) -> Result<Self> {
        let mut config = ConfigBuilder::default()
            .uri(target.address())
            .user(&target.user)
            .password(target.password.text())
            .fetch_size(FETCH_ROWS)
            .max_connections(CONNECTIONS_MAX)
            .connection_timeout(answer);
        if let Some(database) = &target.database {
            config = config.db(database.as_str());
        }
        let shown = target.shown().to_owned();
        let graph = config.build().and_then(Graph::connect).map_err(|error| {
            let source = meaning(&error, "connect", target.database.as_deref());
            Error::Database { server: shown.clone(), source }
        })?;
        Ok(Self { graph, shown, database: target.database.clone(), budget })
    }

    async fn check_server(&self) -> Result<()> {
        let statement = Statement::new(retry::GREETING, cypher!("read/server"));
        // The driver itself waits without end for a peer that takes a connection and says nothing.
        let answered = tokio::time::timeout(GREETING, self.rows(&statement)).await;
        let silent = || self.failed(&DriverError::ConnectionTimedOut, retry::GREETING).error;
        let rows = answered.unwrap_or_else(|_| Err(silent()))?;
        let version: String = rows.first().and_then(|row| row.get("version").ok()).unwrap_or_default();
        let mut parts = version.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
        let found = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
        if found >= SERVER_LEAST {
            return Ok(());
        }
        let least = format!("{}.{}", SERVER_LEAST.0, SERVER_LEAST.1);
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
        let source = meaning(error, action, self.database.as_deref());
        Failed { remedy: remedy(error), error: self.error(source) }
    }

    /// Returns the rows of a statement that changes nothing, or nothing that must not be done twice.
    pub(super) async fn rows(&self, statement: &Statement) -> Result<Vec<Row>> {
        match self.write(vec![statement.clone()], None).await? {
            Outcome::Done(mut rows) => Ok(rows.pop().unwrap_or_default()),
            Outcome::Refused | Outcome::WasDone => Ok(Vec::new()),
        }
    }

    /// Calls `visit` with every row of a statement that changes nothing. It is tried again as long as no row came.
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
            if rows > 0 || failed.remedy != Remedy::Retry || began.elapsed() + pause > self.budget {
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
        let mut transaction = self.graph.start_txn().await?;
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
            Ok(Ok(())) => transaction.commit().await.map(Ok),
            refused => {
                roll_back(transaction).await;
                refused
            }
        }
    }

    /// Runs statements in one transaction, and the whole of it again where that may help.
    ///
    /// With `batch`, the first statement says whether to go on: it returns the number of the batch that was committed
    /// last, and no row where this is no longer the publisher. So a batch whose commit has an unknown outcome is sent
    /// again, and found done if it was.
    pub(super) async fn write(&self, statements: Vec<Statement>, batch: Option<i64>) -> Result<Outcome, Failed> {
        let statements: Arc<[Statement]> = statements.into();
        let action = statements.last().map_or("do nothing", |it| it.action);
        let began = Instant::now();
        let mut attempt = 0;
        loop {
            let (graph, sent) = (self.graph.clone(), Arc::clone(&statements));
            let ended = tokio::spawn(async move { run_once(&graph, &sent, batch).await }).await;
            let failed = match ended {
                Ok(Ok(outcome)) => return Ok(outcome),
                Ok(Err(error)) => self.failed(&error, action),
                Err(error) => Failed { remedy: Remedy::GiveUp, error: Error::Internal(error.to_string()) },
            };
            let pause = wait(attempt);
            if failed.remedy != Remedy::Retry || began.elapsed() + pause > self.budget {
                return Err(failed);
            }
            tracing::debug!(attempt, action, error = %failed.error, "a transaction is tried again");
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }
}

async fn run_once(graph: &Graph, statements: &[Statement], batch: Option<i64>) -> Result<Outcome, DriverError> {
    let mut transaction = graph.start_txn().await?;
    let mut results = Vec::with_capacity(statements.len());
    for (number, statement) in statements.iter().enumerate() {
        let rows = match rows_of(&mut transaction, statement).await {
            Ok(rows) => rows,
            Err(error) => {
                roll_back(transaction).await;
                return Err(error);
            }
        };
        if let Some(batch) = batch.filter(|_| number == 0) {
            let previous = rows.first().map(|row| row.get::<i64>("previous").unwrap_or_default());
            if previous.is_none_or(|previous| previous >= batch) {
                roll_back(transaction).await;
                return Ok(if previous.is_none() { Outcome::Refused } else { Outcome::WasDone });
            }
        }
        results.push(rows);
    }
    transaction.commit().await?;
    Ok(Outcome::Done(results))
}

async fn rows_of(transaction: &mut Txn, statement: &Statement) -> Result<Vec<Row>, DriverError> {
    let mut stream = transaction.execute(statement.query()).await?;
    let mut rows = Vec::new();
    while let Some(row) = stream.next(transaction.handle()).await? {
        rows.push(row);
    }
    Ok(rows)
}

/// Ends a transaction that failed. Where even that fails, the connection is gone, and the server ends it by itself.
async fn roll_back(transaction: Txn) {
    let ended = tokio::time::timeout(ROLLBACK, transaction.rollback()).await;
    if !matches!(ended, Ok(Ok(()))) {
        tracing::debug!("a rollback was not answered");
    }
}
