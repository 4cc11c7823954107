//! One publisher at a time: a lease in the database, which every write checks.
//!
//! Each write is a numbered batch; its number is kept with the lease in the same transaction. A publisher that was
//! paused beyond its lease finds that another took over, and changes nothing.

use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;

use super::retry::Remedy;
use super::session::{Failed, Outcome, Session};
use super::statement::{Statement, cypher};
use crate::domain::DatabaseError;
use crate::error::Result;
use crate::files;
use crate::workspace::Workspace;

/// How long a lease holds after the last write: longer than a batch takes, short enough to wait for.
const LEASE_MS: i64 = 30_000;

/// The identity of a publisher: the same for all that publish from one workspace, only one of which runs at a time.
#[derive(Debug, Clone)]
pub(super) struct Owner {
    id: String,
    shown: String,
}

impl Owner {
    /// Returns the publisher of a workspace; the caller holds its lock.
    pub(super) fn of(workspace: &Workspace) -> Self {
        let path = workspace.path().canonicalize().unwrap_or_else(|_| workspace.path().to_owned());
        Self::named(&path.display().to_string())
    }

    /// Returns the publisher that repairs a database without a workspace: this process only.
    pub(super) fn of_process() -> Self {
        let process = std::process::id();
        // Seeded by the system: processes of several containers may have one number.
        Self::named(&format!("process {process} {}", RandomState::new().hash_one(process)))
    }

    fn named(name: &str) -> Self {
        let read = |path: &str| files::read_text(Path::new(path)).unwrap_or_default().trim().to_owned();
        let (machine, host) = (read("/etc/machine-id"), read("/proc/sys/kernel/hostname"));
        let id = blake3::hash(format!("{machine}\n{host}\n{name}").as_bytes()).to_hex();
        let shown = if host.is_empty() { "on another machine".to_owned() } else { format!("on `{host}`") };
        Self { id: id.to_string(), shown }
    }
}

/// The right to publish.
pub(super) struct Lease {
    session: Session,
    owner: Owner,
    /// How many have held the lease up to this one.
    pub(super) epoch: i64,
    batch: i64,
    /// The pending batch of the previous publisher.
    pub(super) plan: String,
}

impl Lease {
    /// Takes the lease, at once or not at all. One that the same owner left behind is taken over.
    pub(super) async fn take(session: &Session, owner: Owner) -> Result<Self> {
        let statement = Statement::new("take the lease", cypher!("write/take-lease"))
            .with("owner", owner.id.as_str())
            .with("shown", owner.shown.as_str())
            .with("lease_ms", LEASE_MS);
        let rows = session.rows(&statement).await?;
        let Some(row) = rows.first() else {
            let statement = Statement::new("read the lease", cypher!("read/lease"));
            let rows = session.rows(&statement).await?;
            let owner = rows.first().and_then(|row| row.get("shown").ok()).unwrap_or_default();
            let left_ms = rows.first().and_then(|row| row.get::<i64>("left_ms").ok()).unwrap_or_default();
            let seconds = left_ms.max(0).cast_unsigned().div_ceil(1_000);
            return Err(session.error(DatabaseError::Publishing { owner, seconds }));
        };
        let unreadable = |_| session.damaged("its publisher cannot be read");
        let epoch = row.get("epoch").map_err(unreadable)?;
        let plan = row.get("plan").map_err(unreadable)?;
        Ok(Self { session: session.clone(), owner, epoch, batch: 0, plan })
    }

    /// Returns the statements of the next batch: the check of the lease first.
    pub(super) fn batch(&mut self, statements: Vec<Statement>) -> Batch {
        self.batch += 1;
        let hold = Statement::new("hold the lease", cypher!("write/hold-lease"))
            .with("owner", self.owner.id.as_str())
            .with("epoch", self.epoch)
            .with("lease_ms", LEASE_MS)
            .with("batch", self.batch);
        let statements = std::iter::once(hold).chain(statements).collect();
        Batch { session: self.session.clone(), number: self.batch, statements }
    }

    /// Writes what is to be written whole.
    pub(super) async fn write(&mut self, statements: Vec<Statement>) -> Result<()> {
        Ok(self.batch(statements).send().await.map(drop)?)
    }

    /// Describes the pending work.
    pub(super) async fn set_plan(&mut self, plan: &str) -> Result<()> {
        let statement = Statement::new("note the plan", cypher!("write/set-plan")).with("plan", plan);
        self.write(vec![statement]).await?;
        plan.clone_into(&mut self.plan);
        Ok(())
    }

    /// Gives the lease back. If that fails it ends by itself.
    pub(super) async fn give_back(self) {
        let statement = Statement::new("give the lease back", cypher!("write/give-lease"))
            .with("owner", self.owner.id.as_str())
            .with("epoch", self.epoch);
        if let Err(error) = self.session.rows(&statement).await {
            tracing::debug!(%error, "the lease was not given back");
        }
    }
}

/// A batch, ready to be sent.
pub(super) struct Batch {
    session: Session,
    number: i64,
    statements: Vec<Statement>,
}

impl Batch {
    /// Sends it. Returns the first number of each statement's first row after the check, as `rows`: none if the batch
    /// was found done.
    pub(super) async fn send(self) -> Result<Option<Vec<i64>>, Failed> {
        let Self { session, number, statements } = self;
        match session.write(statements, Some(number)).await? {
            Outcome::Done(results) => {
                let count = |rows: &Vec<neo4rs::Row>| rows.first().and_then(|row| row.get("rows").ok()).unwrap_or(-1);
                Ok(Some(results.iter().skip(1).map(count).collect()))
            }
            Outcome::WasDone => Ok(None),
            Outcome::Refused => Err(Failed { remedy: Remedy::GiveUp, error: session.error(DatabaseError::Overtaken) }),
            Outcome::Missing(rows) => {
                let error = session.damaged(format!("the ends of {rows} relationships are not there"));
                Err(Failed { remedy: Remedy::GiveUp, error })
            }
        }
    }
}
