//! Publishing: the database is made to hold the last version of a workspace.
//!
//! What is new is added under the number of the version to come, where no reader looks; what is gone is marked with the
//! same number; one transaction switches the version, and with it changes what is to be changed in place; then what is
//! gone is deleted. Each step can be taken again: a publish that was broken off anywhere is taken up by the next.

use std::time::{Duration, Instant};

use neo4rs::BoltType;
use rustc_hash::FxHashMap;
use serde::Serialize;
use tokio::runtime::Handle;

use super::batch::{Rows, Work};
use super::check::CheckReport;
use super::element::{Place, put};
use super::held::held;
use super::kinds::{KeptRecord, Kind, UNKEYED_NODES, UNKEYED_RELATIONSHIPS, kept_records};
use super::lease::{Lease, Owner};
use super::plan::{self, Change, Due, Held, Leftovers, Plan, Side};
use super::replacing::{self, OtherIndex};
use super::schema;
use super::session::Session;
use super::source::Source;
use super::state::{GRAPH_FORMAT, IndexState, Phase};
use super::statement::{Statement, cypher};
use super::target::Target;
use crate::domain::{Cancellation, CollectionId, Counts, DatabaseError, FoundByModel, Progress, ProgressSink};
use crate::error::{Error, ErrorKind, Result};
use crate::store::GraphReader as _;
use crate::workspace::{Manifest, Records, Snapshot, Workspace};

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
    /// What to do if the database holds an index of another collection, or one of which more than half of the documents
    /// would go.
    pub other_index: OtherIndex,
    /// Who is told of progress.
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

/// What publishing came to.
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
    /// How long it took until all was committed.
    pub seconds: f64,
    /// How long indexes took to be filled after that, where they were made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_seconds: Option<f64>,
}

/// Makes the graph in a database equal to the last version of a workspace.
///
/// # Errors
///
/// [`Error::Database`] with what the matter is; readers of the database see the last version that was published whole.
/// [`Error::Busy`] while the index is written, [`Error::Unfinished`] if it has changes that are in no version yet,
/// [`Error::Cancelled`] with what was written kept for the next publish.
///
/// # Cancel safety
///
/// Publishing goes on when the future is dropped; [`PublishOptions::cancellation`] stops it. Killed at any moment, the
/// next publish goes on from there.
pub async fn publish(workspace: &Workspace, target: &Target, options: &PublishOptions) -> Result<PublishReport> {
    let (workspace, target, options, handle) = (workspace.clone(), target.clone(), options.clone(), Handle::current());
    // Between the calls of the driver it computes and reads files.
    let run = move || handle.block_on(run(&workspace, &target, &options, None));
    tokio::task::spawn_blocking(run).await.map_err(|error| Error::Internal(error.to_string()))?
}

/// Makes good what a check found: what is missing in the schema is made again, what differs is published anew.
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
    let run = move || handle.block_on(run(&workspace, &target, &options, Some(&found)));
    tokio::task::spawn_blocking(run).await.map_err(|error| Error::Internal(error.to_string()))?
}

async fn run(
    workspace: &Workspace,
    target: &Target,
    options: &PublishOptions,
    repairs: Option<&CheckReport>,
) -> Result<PublishReport> {
    let began = Instant::now();
    // Nobody writes the records while they are read, and nobody else publishes from here.
    let mut writer = workspace.writer()?;
    let records: &Records = writer.records();
    let snapshot = workspace.snapshot()?;
    let manifest = records.manifest()?;
    if manifest.is_changed || snapshot.counts().without_vectors > 0 {
        return Err(Error::Unfinished { path: workspace.path().to_owned() });
    }
    let session = Session::connect(target).await?;
    let there = There::read(&session).await?;
    let documents = records.documents()?.into_iter().map(|it| *it.id.as_bytes()).collect();
    let given = replacing::Side { collection: manifest.collection, documents };
    let renews_vectors = there.refuse(&session, &manifest, &given, options).await?;
    let lease = there.take(&session, Owner::of(workspace)).await?;
    if renews_vectors {
        schema::drop_vectors(&session).await?;
    }
    let source = Source::new(&snapshot, records)?;
    let source_hash = source_hash(&snapshot, records)?;
    let mut run = Run {
        session,
        lease,
        snapshot: &snapshot,
        source,
        source_hash,
        manifest,
        given,
        options,
        repairs,
        done: 0,
        total: 0,
        detached: 0,
    };
    let report = run.run(began).await;
    // Where nobody answers, the lease ends by itself; nobody waits for that twice.
    if report.as_ref().err().is_none_or(|error| error.kind() != ErrorKind::Unavailable) {
        run.lease.give_back().await;
    }
    report
}

/// What the database holds before anything is written.
struct There {
    state: Option<IndexState>,
}

impl There {
    async fn read(session: &Session) -> Result<Self> {
        Ok(Self { state: IndexState::read(session).await? })
    }

    /// Refuses what must not be published there. Returns whether the vectors that are there are to be replaced.
    async fn refuse(
        &self,
        session: &Session,
        manifest: &Manifest,
        given: &replacing::Side<CollectionId>,
        options: &PublishOptions,
    ) -> Result<bool> {
        match &self.state {
            Some(state) => refuse_other(session, options, &replacing::held(session, state).await?, given)?,
            None => refuse_foreign(session).await?,
        }
        let renews_vectors = check_embedder(session, self.state.as_ref(), manifest, options.other_vectors)?;
        schema::refuse_others(session, manifest.dimension).await?;
        Ok(renews_vectors)
    }

    /// Takes the right to publish, and makes sure that what is written is found.
    async fn take(&self, session: &Session, owner: Owner) -> Result<Lease> {
        if self.state.as_ref().is_some_and(IndexState::is_earlier) {
            session.rows(&Statement::new("begin the upgrade", cypher!("schema/begin-upgrade"))).await?;
        }
        schema::make_keys(session).await?;
        Lease::take(session, owner).await
    }
}

/// Refuses to replace an index, unless that is asked for.
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

/// Refuses a database that nobody ever published to and that is not empty.
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

/// Returns a fingerprint of all that is published: of the files of the version, of the units, and of what this program
/// publishes of them.
pub(super) fn source_hash(snapshot: &Snapshot, records: &Records) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&snapshot.fingerprint());
    for document in records.documents()? {
        let fingerprint = document.fingerprint.unwrap_or_default();
        hasher.update(document.id.as_bytes()).update(&document.content);
        for text in [&document.root, &fingerprint] {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
    }
    for KeptRecord { key, json, .. } in kept_records(records)? {
        hasher.update(&key).update(&(json.len() as u64).to_le_bytes()).update(json.as_bytes());
    }
    for kind in Kind::ALL {
        let properties = kind.properties().iter().map(|(name, _)| *name);
        for name in std::iter::once(&*kind.own_name()).chain(properties) {
            hasher.update(name.as_bytes()).update(b"\n");
        }
    }
    Ok(hasher.finalize().to_hex()[..32].to_owned())
}

/// Returns the state of a database that holds nothing but this version.
pub(super) fn first_state(source_hash: String, manifest: &Manifest, snapshot: &Snapshot) -> IndexState {
    state(1, Phase::Whole, source_hash, manifest, snapshot)
}

fn state(version: i64, phase: Phase, source: String, manifest: &Manifest, snapshot: &Snapshot) -> IndexState {
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
    IndexState { format, version, collection, source, embedder, dimension, settings, phase, counts, terms, by_model }
}

type Sides = FxHashMap<Kind, Side>;

/// A publish in hand.
struct Run<'a> {
    session: Session,
    lease: Lease,
    snapshot: &'a Snapshot,
    source: Source<'a>,
    source_hash: String,
    manifest: Manifest,
    given: replacing::Side<CollectionId>,
    options: &'a PublishOptions,
    /// What is known to be wrong with what is there.
    repairs: Option<&'a CheckReport>,
    done: u64,
    total: u64,
    /// Relationships of others' that went.
    detached: u64,
}

impl Run<'_> {
    async fn run(&mut self, began: Instant) -> Result<PublishReport> {
        // Read again: until the lease was taken, another may have published.
        let state = IndexState::read(&self.session).await?;
        let mut report = PublishReport {
            source_version: self.snapshot.version().0,
            counts: self.snapshot.counts(),
            ..PublishReport::default()
        };
        let version = state.as_ref().map_or(0, |state| state.version);
        let is_there = state.as_ref().is_some_and(|state| {
            let is_of_this = state.collection == Some(self.manifest.collection) && state.source == self.source_hash;
            is_of_this && state.phase == Phase::Whole && !state.is_earlier()
        });
        if is_there && self.repairs.is_none() {
            report.version = version.cast_unsigned();
        } else {
            self.renew(state.as_ref(), version, &mut report).await?;
        }
        report.seconds = began.elapsed().as_secs_f64();
        let (options, done, total) = (self.options, self.done, self.total);
        let tell = move || told(options, "filling indexes", done, total);
        let filled = schema::make_all(&self.session, self.manifest.dimension, &tell).await?;
        report.index_seconds = filled.as_ref().map(Duration::as_secs_f64);
        Ok(report)
    }

    async fn renew(&mut self, state: Option<&IndexState>, version: i64, report: &mut PublishReport) -> Result<()> {
        self.tell("comparing")?;
        if self.repairs.is_some() {
            let unkeyed = [UNKEYED_RELATIONSHIPS.as_str(), UNKEYED_NODES.as_str()];
            let delete = |text| Statement::new("delete what has no key", text);
            self.lease.write(unkeyed.map(delete).into()).await?;
        }
        // What an earlier format wrote is no part of what is due, whatever its digest.
        let is_earlier = state.is_some_and(IndexState::is_earlier);
        let sides = self.compare(is_earlier).await?;
        if let Some(state) = state {
            self.refuse_other(&sides, state)?;
        }
        let change = if is_earlier { Change::Replace } else { plan::change(&sides, version) };
        let name = format!("{} {version} {change:?}", self.source_hash);
        let leftovers = if self.lease.plan == name { Leftovers::Keep } else { Leftovers::Drop };
        let plan = plan::plan(&sides, version, change, leftovers);
        self.total = plan.steps.values().map(|it| it.count() as u64).sum();
        let is_same = state.is_some() && plan.steps.values().all(plan::Steps::is_empty);
        let next = if is_same { version } else { version + 1 };
        self.drop_leftovers(&plan).await?;
        if leftovers == Leftovers::Drop {
            self.lease.set_plan(&name).await?;
        }
        report.written = self.add(&plan, next).await?;
        self.mark(&plan, next).await?;
        report.changed = self.switch(&plan, next).await?;
        report.deleted = self.delete(&plan).await?;
        report.detached = self.detached;
        report.version = next.cast_unsigned();
        Ok(())
    }

    /// Returns what is due and what is there.
    async fn compare(&self, is_earlier: bool) -> Result<Sides> {
        let mut sides = Sides::default();
        for kind in Kind::ALL {
            let mut held = held(&self.session, kind).await?;
            // Whatever its digest says, its contents are others.
            let is_other = |key| is_earlier || self.repairs.is_some_and(|found| found.suspects.contains(&(kind, key)));
            held.iter_mut().filter(|it| is_other(it.key)).for_each(|it| it.digest = !it.digest);
            let mut due = Vec::with_capacity(self.source.count(kind) as usize);
            for number in 0..self.source.count(kind) {
                let element = self.source.element(kind, number)?;
                due.push(Due {
                    key: element.key,
                    digest: element.properties.digest(),
                    bytes: element.wire_bytes() as u32,
                    ends: element.ends,
                });
            }
            self.check_cancelled()?;
            sides.insert(kind, Side { due, held });
        }
        Ok(sides)
    }

    /// Refuses what is there by now, as before the lease was taken.
    fn refuse_other(&self, sides: &Sides, state: &IndexState) -> Result<()> {
        let held = sides.get(&Kind::Document).map_or(&[][..], |side| &side.held);
        let is_live =
            |held: &&Held| held.since <= state.version && held.until.is_none_or(|until| until > state.version);
        let documents = held.iter().filter(is_live).map(|held| held.key).collect();
        let held = replacing::Side { collection: state.collection, documents };
        refuse_other(&self.session, self.options, &held, &self.given)
    }

    async fn drop_leftovers(&mut self, plan: &Plan) -> Result<()> {
        for kind in Kind::ALL.into_iter().rev() {
            let places = plan.of(kind).map(|steps| steps.drop.clone()).unwrap_or_default();
            self.at_places("clearing", Work::delete(kind), &places, None).await?;
        }
        Ok(())
    }

    /// Writes what is new, nodes before relationships.
    async fn add(&mut self, plan: &Plan, next: i64) -> Result<u64> {
        let mut written = 0;
        // A look at any nodes of a graph, as a click on `*` in Neo4j Browser, shows those that were written first.
        let numbers = |kind: Kind| plan.of(kind).map(|steps| steps.add.clone()).unwrap_or_default();
        let (mut documents, mut passages) = (numbers(Kind::Document), numbers(Kind::Passage));
        let early = self.source.together(&mut documents, &mut passages, SHOWN_DOCUMENTS);
        let parts = [(Kind::Document, early.0), (Kind::Passage, early.1)].into_iter();
        let parts = parts.chain([(Kind::Document, documents), (Kind::Passage, passages)]);
        let others = Kind::ALL.into_iter().filter(|kind| !matches!(kind, Kind::Document | Kind::Passage));
        for (kind, numbers) in parts.chain(others.map(|kind| (kind, numbers(kind)))) {
            let mut rows = Rows::new(&mut self.lease, Work::write(kind));
            for number in numbers {
                let element = self.source.element(kind, number)?;
                let bytes = element.wire_bytes();
                let since = plan.since(kind, &element, next);
                self.done += rows.push(element.into_row(kind, since), bytes).await? as u64;
                written += 1;
                told(self.options, "writing", self.done, self.total)?;
            }
            self.done += rows.finish().await?.rows as u64;
        }
        Ok(written)
    }

    /// Marks what is gone, and takes marks back from what is due after all.
    async fn mark(&mut self, plan: &Plan, next: i64) -> Result<()> {
        for kind in Kind::ALL {
            let Some(steps) = plan.of(kind) else { continue };
            self.at_places("retiring", Work::mark(kind), &steps.retire, Some(next)).await?;
            self.at_places("retiring", Work::mark(kind), &steps.revive, None).await?;
        }
        Ok(())
    }

    /// Makes the version the current one, in one transaction with all that changes in place.
    async fn switch(&mut self, plan: &Plan, next: i64) -> Result<u64> {
        self.tell("switching")?;
        let mut statements = Vec::new();
        let mut changed = 0;
        for kind in Kind::ALL {
            let Some(steps) = plan.of(kind).filter(|steps| !steps.change.is_empty()) else { continue };
            let mut rows = Vec::with_capacity(steps.change.len());
            for number in &steps.change {
                let element = self.source.element(kind, *number)?;
                let own = plan.of(kind).and_then(|it| it.since.get(&element.key)).copied().unwrap_or(next);
                rows.push(element.clone().into_row(kind, plan.since(kind, &element, own)));
            }
            changed += rows.len() as u64;
            statements.push(Work::write(kind).statement(rows));
        }
        let is_clear = plan.steps.values().all(|steps| steps.gone().is_empty());
        let phase = if is_clear { Phase::Whole } else { Phase::Clearing };
        let state = state(next, phase, self.source_hash.clone(), &self.manifest, self.snapshot);
        statements.push(state.switch());
        self.lease.write(statements).await?;
        self.done += changed;
        Ok(changed)
    }

    /// Deletes what no reader sees any more, relationships before nodes.
    async fn delete(&mut self, plan: &Plan) -> Result<u64> {
        let mut deleted = 0;
        for kind in Kind::ALL.into_iter().rev() {
            let Some(steps) = plan.of(kind) else { continue };
            let mut places = steps.gone();
            places.sort_unstable();
            deleted += places.len() as u64;
            self.at_places("deleting", Work::delete(kind), &places, None).await?;
        }
        let statement = Statement::new("note the state", cypher!("write/state")).with("state", Phase::Whole.text());
        self.lease.write(vec![statement]).await?;
        Ok(deleted)
    }

    async fn at_places(&mut self, stage: &'static str, work: Work, places: &[Place], until: Option<i64>) -> Result<()> {
        let mut rows = Rows::new(&mut self.lease, work);
        for place in places {
            let mut row = place.into_row();
            put(&mut row, "until", until.into());
            self.done += rows.push(BoltType::Map(row), PLACE_BYTES).await? as u64;
            told(self.options, stage, self.done, self.total)?;
        }
        let finished = rows.finish().await?;
        self.done += finished.rows as u64;
        self.detached += finished.torn;
        Ok(())
    }

    fn check_cancelled(&self) -> Result<()> {
        if self.options.cancellation.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    fn tell(&self, stage: &'static str) -> Result<()> {
        told(self.options, stage, self.done, self.total)
    }
}

/// Documents that are written first, together with their passages.
const SHOWN_DOCUMENTS: usize = 6;

/// Bytes of a row that names an element, about.
const PLACE_BYTES: usize = 64;

/// Tells of progress, unless a stop was asked for.
fn told(options: &PublishOptions, stage: &'static str, done: u64, total: u64) -> Result<()> {
    if options.cancellation.is_cancelled() {
        return Err(Error::Cancelled);
    }
    if let Some(progress) = &options.progress {
        progress(Progress { stage, done, total });
    }
    Ok(())
}
