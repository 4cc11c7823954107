//! Publishes the last version of a workspace to the database.
//!
//! New elements are added under the number of the next version, where no reader looks; retired ones are marked with the
//! same number; one transaction switches the version and makes changes in place; then retired elements are deleted.
//! Each step can be repeated: the next publish continues an interrupted one. A small change is made in one transaction.

mod due;
mod run;

use std::panic::resume_unwind;
use std::thread;
use std::time::Instant;

use serde::Serialize;
use tokio::runtime::Handle;

use self::run::Run;
use super::check::CheckReport;
use super::kinds::{KeptRecord, Kind, kept_records};
use super::lease::{Lease, Owner};
use super::published::{Published, new_publish};
use super::replacing::{self, OtherIndex};
use super::schema;
use super::session::Session;
use super::source::Elements;
use super::state::{GRAPH_FORMAT, IndexState, Phase};
use super::statement::{Statement, cypher};
use super::target::Target;
use crate::domain::{Cancellation, CollectionId, Counts, DatabaseError, FoundByModel, Progress, ProgressSink};
use crate::error::{Error, ErrorKind, Result};
use crate::store::GraphReader as _;
use crate::workspace::{Manifest, Records, Snapshot, StoredDocument, Workspace};

/// What to do if the database holds vectors of another embedder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OtherVectors {
    /// Refuse.
    #[default]
    Refuse,
    /// Replace them, and the indexes over them.
    Replace,
}

/// How to publish.
#[derive(Clone, Default)]
pub struct PublishOptions {
    /// What to do if the database holds vectors of another embedder.
    pub other_vectors: OtherVectors,
    /// What to do if the database has an index of another collection, or one that would lose more than half of its
    /// documents.
    pub other_index: OtherIndex,
    /// The listener for progress.
    pub progress: Option<ProgressSink>,
    /// How to stop: between two batches.
    pub cancellation: Cancellation,
}

impl std::fmt::Debug for PublishOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { other_vectors, other_index, .. } = self;
        let mut shown = f.debug_struct("PublishOptions");
        shown.field("other_vectors", other_vectors).field("other_index", other_index).finish_non_exhaustive()
    }
}

/// The result of publishing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct PublishReport {
    /// The version that the database holds now: its own count, raised by each publish that changes something.
    pub version: u64,
    /// The version of the workspace that it was published from.
    pub source_version: u64,
    /// Nodes and relationships that were written.
    pub written: u64,
    /// Nodes and relationships that were changed in place.
    pub changed: u64,
    /// Nodes and relationships that were deleted.
    pub deleted: u64,
    /// Relationships of others' that hung on nodes that were deleted, and went with them.
    pub detached: u64,
    /// How much the version holds.
    pub counts: Counts,
    /// How long it took until everything was committed.
    pub seconds: f64,
    /// How long indexes took to be filled after that, if they were created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_seconds: Option<f64>,
}

/// Makes the graph in a database equal to the last version of a workspace.
///
/// # Errors
///
/// [`Error::Database`] with the cause; readers of the database see the last complete version. [`Error::Busy`] while the
/// index is written, [`Error::Unfinished`] if it has changes that are in no version yet, [`Error::Cancelled`], after
/// which the next publish continues.
///
/// # Cancel safety
///
/// Publishing continues when the future is dropped; [`PublishOptions::cancellation`] stops it. Killed at any moment,
/// the next publish continues from there.
pub async fn publish(workspace: &Workspace, target: &Target, options: &PublishOptions) -> Result<PublishReport> {
    let (workspace, target, options, handle) = (workspace.clone(), target.clone(), options.clone(), Handle::current());
    // Between the calls of the driver it computes and reads files.
    let run = move || run(&handle, &workspace, &target, &options, None);
    tokio::task::spawn_blocking(run).await.map_err(|error| Error::Internal(error.to_string()))?
}

/// Repairs the faults that a check found: recreates missing parts of the schema, and republishes elements that differ.
///
/// # Errors
///
/// As [`publish`](fn@publish).
///
/// # Cancel safety
///
/// As [`publish`](fn@publish).
pub async fn repair(
    workspace: &Workspace,
    target: &Target,
    found: &CheckReport,
    options: &PublishOptions,
) -> Result<PublishReport> {
    let (workspace, target, options, handle) = (workspace.clone(), target.clone(), options.clone(), Handle::current());
    let found = found.clone();
    let run = move || run(&handle, &workspace, &target, &options, Some(&found));
    tokio::task::spawn_blocking(run).await.map_err(|error| Error::Internal(error.to_string()))?
}

/// Computes and reads files; waits for the server by `handle`.
fn run(
    handle: &Handle,
    workspace: &Workspace,
    target: &Target,
    options: &PublishOptions,
    repairs: Option<&CheckReport>,
) -> Result<PublishReport> {
    let began = Instant::now();
    // The records are not written while they are read, and no other publisher runs here.
    let mut writer = workspace.writer()?;
    let published_path = writer.published_path();
    let records: &Records = writer.records();
    let snapshot = workspace.snapshot()?;
    let manifest = records.manifest()?;
    if manifest.is_changed || snapshot.counts().without_vectors > 0 {
        return Err(Error::Unfinished { path: workspace.path().to_owned() });
    }
    let (found, listed) = beside(|| handle.block_on(There::find(target)), |failed| listed(records, &snapshot, failed));
    let ((session, there), (source_hash, documents, kept)) = (found?, listed?);
    if let Some(version) = there.version_of(&source_hash, &manifest).filter(|_| repairs.is_none())
        && handle.block_on(schema::is_ready(&session, manifest.dimension))?
    {
        let (source_version, counts) = (snapshot.version().0, snapshot.counts());
        let seconds = began.elapsed().as_secs_f64();
        return Ok(PublishReport { version, source_version, counts, seconds, ..PublishReport::default() });
    }
    let documents = documents.iter().map(|it| *it.id.as_bytes()).collect();
    let given = replacing::Side { collection: manifest.collection, documents };
    let mut published = None;
    let elements = rayon::in_place_scope(|scope| {
        scope.spawn(|_| published = Published::read(&published_path, there.state.as_ref()));
        Elements::new(&snapshot, records, kept)
    })?;
    told(options, "comparing", 0, 0)?;
    let take = || {
        let owner = Owner::of(workspace);
        handle.block_on(there.take(&session, owner, published.as_ref(), &manifest, &given, options))
    };
    // A repair trusts nothing that is remembered.
    let known = published.as_ref().filter(|_| repairs.is_none()).map(Published::units).unwrap_or_default();
    let (lease, due) = beside(take, |refused| due::due(&elements, &known, [&options.cancellation, refused]));
    let lease = lease?;
    let mut run = Run {
        session,
        lease,
        snapshot: &snapshot,
        elements,
        source_hash,
        manifest,
        given,
        options,
        repairs,
        published,
        published_path,
        publish: new_publish(),
        done: 0,
        total: 0,
        detached: 0,
    };
    let report = match due {
        Ok(due) => handle.block_on(run.run(due, began)),
        Err(error) => Err(error),
    };
    // If the server does not respond, the lease expires by itself; waiting twice would not help.
    if report.as_ref().err().is_none_or(|error| error.kind() != ErrorKind::Unavailable) {
        handle.block_on(run.lease.give_back());
    }
    report
}

/// Returns what is published of the records, after the fingerprint of all that is published.
fn listed(
    records: &Records,
    snapshot: &Snapshot,
    stop: &Cancellation,
) -> Result<(String, Vec<StoredDocument>, Vec<KeptRecord>)> {
    let (documents, kept) = (records.documents()?, kept_records(records)?);
    stop.check()?;
    Ok((source_hash(snapshot, &documents, &kept), documents, kept))
}

/// Runs `ask` on a thread of its own while this one runs `make`, which is cancelled if `ask` fails.
fn beside<A: Send, M>(
    ask: impl FnOnce() -> Result<A> + Send,
    make: impl FnOnce(&Cancellation) -> Result<M>,
) -> (Result<A>, Result<M>) {
    let failed = &Cancellation::default();
    thread::scope(|scope| {
        let asked = scope.spawn(|| ask().inspect_err(|_| failed.cancel()));
        let done = make(failed);
        (asked.join().unwrap_or_else(|panic| resume_unwind(panic)), done)
    })
}

/// The contents of the database before anything is written.
struct There {
    state: Option<IndexState>,
}

impl There {
    async fn find(target: &Target) -> Result<(Session, Self)> {
        let session = Session::connect(target).await?;
        let state = IndexState::read(&session).await?;
        Ok((session, Self { state }))
    }

    /// Returns the version that it holds, if it is all that this source has to publish.
    fn version_of(&self, source_hash: &str, manifest: &Manifest) -> Option<u64> {
        let state = self.state.as_ref().filter(|state| state.is_whole_of(manifest.collection, source_hash))?;
        Some(state.version.cast_unsigned())
    }

    /// Refuses a publish that is not allowed there. Returns whether the existing vectors are to be replaced.
    async fn refuse(
        &self,
        session: &Session,
        published: Option<&Published>,
        manifest: &Manifest,
        given: &replacing::Side<CollectionId>,
        options: &PublishOptions,
    ) -> Result<bool> {
        match &self.state {
            Some(state) => {
                let held = match published {
                    Some(it) => replacing::Side { collection: state.collection, documents: it.documents() },
                    None => replacing::held(session, state).await?,
                };
                refuse_other(session, options, &held, given)?;
            }
            None => refuse_foreign(session).await?,
        }
        let renews_vectors = check_embedder(session, self.state.as_ref(), manifest, options.other_vectors)?;
        schema::refuse_others(session, manifest.dimension).await?;
        Ok(renews_vectors)
    }

    /// Takes the lease, unless [refused](Self::refuse); ensures that written elements can be found, and drops indexes
    /// over vectors that are to be replaced.
    async fn take(
        &self,
        session: &Session,
        owner: Owner,
        published: Option<&Published>,
        manifest: &Manifest,
        given: &replacing::Side<CollectionId>,
        options: &PublishOptions,
    ) -> Result<Lease> {
        let renews_vectors = self.refuse(session, published, manifest, given, options).await?;
        if self.state.as_ref().is_some_and(IndexState::is_earlier) {
            session.rows(&Statement::new("begin the upgrade", cypher!("schema/begin-upgrade"))).await?;
        }
        schema::make_keys(session).await?;
        let lease = Lease::take(session, owner).await?;
        let dropped = if renews_vectors { schema::drop_vectors(session).await } else { Ok(()) };
        match dropped {
            Ok(()) => Ok(lease),
            Err(error) => {
                lease.give_back().await;
                Err(error)
            }
        }
    }
}

/// Refuses to replace an index, unless requested.
fn refuse_other(
    session: &Session,
    options: &PublishOptions,
    held: &replacing::Side<Option<CollectionId>>,
    given: &replacing::Side<CollectionId>,
) -> Result<()> {
    match replacing::refusal(held, given).filter(|_| options.other_index == OtherIndex::Refuse) {
        Some(refusal) => Err(session.error(refusal)),
        None => Ok(()),
    }
}

/// Refuses a database that is not empty and has no published index.
async fn refuse_foreign(session: &Session) -> Result<()> {
    if !session.rows(&Statement::new("read the lease", cypher!("read/lease"))).await?.is_empty() {
        return Ok(());
    }
    let rows = session.rows(&Statement::new("count what is there", cypher!("read/foreign"))).await?;
    match rows.first().and_then(|row| row.get::<i64>("nodes").ok()).unwrap_or_default() {
        0 => Ok(()),
        nodes => Err(session.error(DatabaseError::Foreign { nodes: nodes.cast_unsigned() })),
    }
}

/// Returns whether the vectors in the database are to be replaced.
fn check_embedder(
    session: &Session,
    state: Option<&IndexState>,
    manifest: &Manifest,
    other: OtherVectors,
) -> Result<bool> {
    let Some(state) = state else { return Ok(false) };
    if state.embedder == manifest.embedder && state.dimension == manifest.dimension {
        return Ok(false);
    }
    let name = |embedder: &str, dimension: usize| format!("{embedder}, {dimension} values");
    match other {
        OtherVectors::Replace => Ok(true),
        OtherVectors::Refuse => Err(session.error(DatabaseError::Embedder {
            held: name(&state.embedder, state.dimension),
            given: name(&manifest.embedder, manifest.dimension),
        })),
    }
}

/// Raised whenever this program makes other elements of the same source, or other digests of these: then a graph of
/// before is published again.
const ELEMENTS: u32 = 2;

/// Returns a fingerprint of all that is published: of the files of the version, of the units, and of what this program
/// publishes of them.
pub(super) fn source_hash(snapshot: &Snapshot, documents: &[StoredDocument], kept: &[KeptRecord]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&snapshot.fingerprint()).update(&ELEMENTS.to_le_bytes());
    for document in documents {
        let fingerprint = document.fingerprint.as_deref().unwrap_or_default();
        hasher.update(document.id.as_bytes()).update(&document.content);
        for text in [&*document.root, fingerprint] {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
    }
    for KeptRecord { key, json, .. } in kept {
        hasher.update(key).update(&(json.len() as u64).to_le_bytes()).update(json.as_bytes());
    }
    add_names(&mut hasher);
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Returns a fingerprint of what this program publishes of any source.
pub(super) fn elements_hash() -> String {
    let mut hasher = blake3::Hasher::new();
    add_names(hasher.update(&ELEMENTS.to_le_bytes()));
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Adds the names of all kinds and their properties.
fn add_names(hasher: &mut blake3::Hasher) {
    for kind in Kind::ALL {
        let properties = kind.properties().iter().map(|(name, _)| *name);
        for name in std::iter::once(&*kind.own_name()).chain(properties) {
            hasher.update(name.as_bytes()).update(b"\n");
        }
    }
}

/// Returns the state of a database that holds nothing but this version.
pub(super) fn first_state(source_hash: String, manifest: &Manifest, snapshot: &Snapshot) -> IndexState {
    state(1, Phase::Whole, (source_hash, String::new()), manifest, snapshot)
}

/// `made_of` is the fingerprint of the source, and the publish.
fn state(
    version: i64,
    phase: Phase,
    (source, publish): (String, String),
    manifest: &Manifest,
    snapshot: &Snapshot,
) -> IndexState {
    let Manifest { collection, embedder, dimension, chunking, .. } = manifest.clone();
    let (settings, collection) = (chunking.unwrap_or_default(), Some(collection));
    let (graph, counts) = (snapshot.graph(), snapshot.counts());
    let sum = |lengths: &[u32]| lengths.iter().map(|length| u64::from(*length)).sum();
    let terms = [sum(&graph.passage_length), sum(&graph.sentence_length)];
    let format = GRAPH_FORMAT;
    let by_model = snapshot.descriptions().map_or([0; 4], |it| {
        let FoundByModel { entities, relations } = it.found_by_model();
        [entities, relations, it.report_community.len() as u64, it.summarized()]
    });
    IndexState {
        format,
        version,
        collection,
        source,
        publish,
        embedder,
        dimension,
        settings,
        phase,
        counts,
        terms,
        by_model,
    }
}

/// Reports progress, unless a stop was requested.
fn told(options: &PublishOptions, stage: &'static str, done: u64, total: u64) -> Result<()> {
    if options.cancellation.is_cancelled() {
        return Err(Error::Cancelled);
    }
    if let Some(progress) = &options.progress {
        progress(Progress { stage, done, total });
    }
    Ok(())
}
