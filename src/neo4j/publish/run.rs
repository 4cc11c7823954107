//! A publish that holds the lease.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use neo4rs::BoltType;
use rustc_hash::FxHashMap;

use super::super::batch::{Rows, SizedRow, Work, bare, send_at_once};
use super::super::check::CheckReport;
use super::super::element::{Place, put};
use super::super::held::held;
use super::super::kinds::{Kind, UNKEYED_NODES, UNKEYED_RELATIONSHIPS};
use super::super::lease::Lease;
use super::super::plan::{self, Change, Due, Held, Leftovers, Plan, Side, Steps};
use super::super::published::{self, Origin, Published};
use super::super::replacing;
use super::super::retry::Remedy;
use super::super::schema;
use super::super::session::{Failed, Session};
use super::super::source::Elements;
use super::super::state::{IndexState, Phase};
use super::super::statement::{Statement, cypher};
use super::{PublishOptions, PublishReport, refuse_other, state, told};
use crate::domain::CollectionId;
use crate::error::Result;
use crate::store::GraphReader as _;
use crate::workspace::{Manifest, Snapshot};

type Sides = FxHashMap<Kind, Side>;
type Dues = FxHashMap<Kind, Vec<Due>>;

/// A publish in hand.
pub(super) struct Run<'a> {
    pub(super) session: Session,
    pub(super) lease: Lease,
    pub(super) snapshot: &'a Snapshot,
    pub(super) elements: Elements<'a>,
    pub(super) source_hash: String,
    pub(super) manifest: Manifest,
    pub(super) given: replacing::Side<CollectionId>,
    pub(super) options: &'a PublishOptions,
    /// Known faults of the published graph.
    pub(super) repairs: Option<&'a CheckReport>,
    /// The published state, and where it is kept.
    pub(super) published: Option<Published>,
    pub(super) published_path: PathBuf,
    /// The name of this one.
    pub(super) publish: String,
    pub(super) done: u64,
    pub(super) total: u64,
    /// Relationships of others' that went.
    pub(super) detached: u64,
}

impl Run<'_> {
    /// `due` are the elements of the version, by kind.
    pub(super) async fn run(&mut self, due: Dues, began: Instant) -> Result<PublishReport> {
        // Read again: another may have published before the lease was taken.
        let state = IndexState::read(&self.session).await?;
        let mut report = PublishReport {
            source_version: self.snapshot.version().0,
            counts: self.snapshot.counts(),
            ..PublishReport::default()
        };
        let version = state.as_ref().map_or(0, |state| state.version);
        let is_whole = |state: &IndexState| state.is_whole_of(self.manifest.collection, &self.source_hash);
        let is_there = state.as_ref().is_some_and(is_whole);
        if is_there && self.repairs.is_none() {
            report.version = version.cast_unsigned();
        } else {
            self.renew(due, state.as_ref(), version, &mut report).await?;
        }
        report.seconds = began.elapsed().as_secs_f64();
        let (options, done, total) = (self.options, self.done, self.total);
        let tell = move || told(options, "filling indexes", done, total);
        let filled = schema::make_all(&self.session, self.manifest.dimension, &tell).await?;
        report.index_seconds = filled.as_ref().map(Duration::as_secs_f64);
        Ok(report)
    }

    async fn renew(
        &mut self,
        due: Dues,
        state: Option<&IndexState>,
        version: i64,
        report: &mut PublishReport,
    ) -> Result<()> {
        if self.repairs.is_some() {
            let unkeyed = [UNKEYED_RELATIONSHIPS.as_str(), UNKEYED_NODES.as_str()];
            let delete = |text| Statement::new("delete what has no key", text);
            self.lease.write(unkeyed.map(delete).into()).await?;
        }
        // Elements of an earlier format are not due, whatever their digest.
        let is_earlier = state.is_some_and(IndexState::is_earlier);
        let sides = self.compare(due, state, is_earlier).await?;
        if let Some(state) = state {
            self.refuse_other(&sides, state)?;
        }
        let change = if is_earlier { Change::Replace } else { plan::change(&sides, version) };
        let name = format!("{} {version} {change:?}", self.source_hash);
        let leftovers = if self.lease.plan == name { Leftovers::Keep } else { Leftovers::Drop };
        let plan = plan::plan(&sides, version, change, leftovers);
        self.total = plan.steps.values().map(|it| it.count() as u64).sum();
        let is_same = state.is_some() && plan.steps.values().all(Steps::is_empty);
        let next = if is_same { version } else { version + 1 };
        self.drop_leftovers(&plan).await?;
        if !(plan.is_small(&sides) && self.carry_out_at_once(&plan, next, report).await?) {
            if leftovers == Leftovers::Drop {
                self.lease.set_plan(&name).await?;
            }
            report.written = self.add(&plan, next).await?;
            (report.changed, report.deleted) = self.switch_and_delete(&plan, next).await?;
        }
        report.detached = self.detached;
        report.version = next.cast_unsigned();
        self.remember(&sides, &plan).await;
        Ok(())
    }

    /// Keeps the published state for the next publish, which works without it if this fails.
    async fn remember(&self, sides: &Sides, plan: &Plan) {
        let kept = match Origin::of(&self.session, &self.publish, &self.lease).await {
            Ok(origin) => published::write(&self.published_path, &origin, (sides, &self.elements.seals), plan),
            Err(error) => Err(error),
        };
        if let Err(error) = kept {
            tracing::warn!(%error, "the published state is not kept, so the next publish reads it back");
        }
    }

    /// Returns the elements due and the existing ones.
    async fn compare(&mut self, mut due: Dues, state: Option<&IndexState>, is_earlier: bool) -> Result<Sides> {
        let published = self.published.take().filter(|_| self.repairs.is_none() && !is_earlier);
        let mut known = match published {
            Some(published) => published.confirmed(&self.session, state, &self.lease).await?,
            None => None,
        };
        tracing::debug!(is_known = known.is_some(), "comparing");
        let mut sides = Sides::default();
        for kind in Kind::ALL {
            let mut held = match &mut known {
                Some(known) => known.remove(&kind).unwrap_or_default(),
                None => held(&self.session, kind).await?,
            };
            // Whatever its digest says, its contents are others.
            let is_other = |key| is_earlier || self.repairs.is_some_and(|found| found.suspects.contains(&(kind, key)));
            held.iter_mut().filter(|it| is_other(it.key)).for_each(|it| it.digest = !it.digest);
            let due = due.remove(&kind).unwrap_or_default();
            sides.insert(kind, Side { due, held });
        }
        Ok(sides)
    }

    /// Repeats the refusals from before the lease was taken.
    fn refuse_other(&self, sides: &Sides, state: &IndexState) -> Result<()> {
        let held = sides.get(&Kind::Document).map_or(&[][..], |side| &side.held);
        let is_live =
            |held: &&Held| held.since <= state.version && held.until.is_none_or(|until| until > state.version);
        let documents = held.iter().filter(is_live).map(|held| held.key).collect();
        let held = replacing::Side { collection: state.collection, documents };
        refuse_other(&self.session, self.options, &held, &self.given)
    }

    async fn drop_leftovers(&mut self, plan: &Plan) -> Result<()> {
        for (kind, steps) in plan.each().rev() {
            self.at_places("clearing", Work::delete(kind), &steps.drop, None).await?;
        }
        Ok(())
    }

    /// Writes new elements, nodes before relationships.
    async fn add(&mut self, plan: &Plan, next: i64) -> Result<u64> {
        let mut written = 0;
        // A look at any nodes of a graph, as a click on `*` in Neo4j Browser, shows those that were written first.
        let numbers = |kind: Kind| plan.of(kind).map(|steps| steps.add.clone()).unwrap_or_default();
        let (mut documents, mut passages) = (numbers(Kind::Document), numbers(Kind::Passage));
        let early = self.elements.together(&mut documents, &mut passages, SHOWN_DOCUMENTS);
        let parts = [(Kind::Document, early.0), (Kind::Passage, early.1)].into_iter();
        let parts = parts.chain([(Kind::Document, documents), (Kind::Passage, passages)]);
        let others = Kind::ALL.into_iter().filter(|kind| !matches!(kind, Kind::Document | Kind::Passage));
        for (kind, numbers) in parts.chain(others.map(|kind| (kind, numbers(kind)))) {
            let mut rows = Rows::new(&mut self.lease, Work::write(kind));
            for number in numbers {
                let element = self.elements.element(kind, number)?;
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

    /// Marks retired elements, and removes marks from elements that are due after all.
    async fn mark(&mut self, plan: &Plan, next: i64) -> Result<()> {
        for (kind, steps) in plan.each() {
            self.at_places("retiring", Work::mark(kind), &steps.retire, Some(next)).await?;
            self.at_places("retiring", Work::mark(kind), &steps.revive, None).await?;
        }
        Ok(())
    }

    /// Makes the version current, then deletes retired elements; returns how many were changed and deleted.
    async fn switch_and_delete(&mut self, plan: &Plan, next: i64) -> Result<(u64, u64)> {
        self.mark(plan, next).await?;
        Ok((self.switch(plan, next).await?, self.delete(plan).await?))
    }

    /// Carries out the whole plan in one transaction. Returns whether it did: a server with little memory may refuse.
    async fn carry_out_at_once(&mut self, plan: &Plan, next: i64, report: &mut PublishReport) -> Result<bool> {
        self.tell("writing")?;
        let rows = |parts: &[(Work, Vec<SizedRow>)]| parts.iter().map(|(_, rows)| rows.len() as u64).sum::<u64>();
        let mut parts = self.rows_of(plan, |steps| &steps.add, |_, _| next)?;
        let written = rows(&parts);
        parts.extend(self.changes(plan)?);
        let changed = rows(&parts) - written;
        let at = |places: &[Place]| places.iter().map(|place| (place_row(place, None), place.wire_bytes())).collect();
        for (kind, steps) in plan.each() {
            parts.push((Work::mark(kind), at(&steps.revive)));
        }
        let before = rows(&parts);
        for (kind, steps) in plan.each().rev() {
            parts.push((Work::delete(kind), at(&steps.gone())));
        }
        let deleted = rows(&parts) - before;
        let switch = self.state(next, Phase::Whole).switch();
        match send_at_once(&mut self.lease, parts, switch).await {
            Err(Failed { remedy: Remedy::Split, .. }) => return Ok(false),
            sent => self.detached += sent?,
        }
        self.done += written + changed + deleted;
        (report.written, report.changed, report.deleted) = (written, changed, deleted);
        Ok(true)
    }

    /// Returns the rows of elements changed in place, by kind.
    fn changes(&self, plan: &Plan) -> Result<Vec<(Work, Vec<SizedRow>)>> {
        self.rows_of(plan, |steps| &steps.change, |steps, number| steps.since[number as usize])
    }

    /// Returns rows that write elements, by kind: `numbers` says which, and `since` the first version of each.
    fn rows_of(
        &self,
        plan: &Plan,
        numbers: impl Fn(&Steps) -> &[u32],
        since: impl Fn(&Steps, u32) -> i64,
    ) -> Result<Vec<(Work, Vec<SizedRow>)>> {
        let rows = |(kind, steps): (Kind, &Steps)| {
            let row = |number: &u32| {
                let element = self.elements.element(kind, *number)?;
                let since = plan.since(kind, &element, since(steps, *number));
                let bytes = element.wire_bytes();
                Ok((element.into_row(kind, since), bytes))
            };
            Ok((Work::write(kind), numbers(steps).iter().map(row).collect::<Result<_>>()?))
        };
        plan.each().filter(|(_, steps)| !numbers(steps).is_empty()).map(rows).collect()
    }

    fn state(&self, next: i64, phase: Phase) -> IndexState {
        let made_of = (self.source_hash.clone(), self.publish.clone());
        state(next, phase, made_of, &self.manifest, self.snapshot)
    }

    /// Makes the version the current one, in one transaction with all that changes in place.
    async fn switch(&mut self, plan: &Plan, next: i64) -> Result<u64> {
        self.tell("switching")?;
        let parts = self.changes(plan)?;
        let changed = parts.iter().map(|(_, rows)| rows.len() as u64).sum();
        let mut statements: Vec<Statement> = parts.into_iter().map(|(work, rows)| work.statement(bare(rows))).collect();
        let is_clear = plan.steps.values().all(|steps| steps.gone().is_empty());
        let phase = if is_clear { Phase::Whole } else { Phase::Clearing };
        statements.push(self.state(next, phase).switch());
        self.lease.write(statements).await?;
        self.done += changed;
        Ok(changed)
    }

    /// Deletes elements that no reader sees any more, relationships before nodes.
    async fn delete(&mut self, plan: &Plan) -> Result<u64> {
        let mut deleted = 0;
        for (kind, steps) in plan.each().rev() {
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
            self.done += rows.push(place_row(place, until), place.wire_bytes()).await? as u64;
            told(self.options, stage, self.done, self.total)?;
        }
        let finished = rows.finish().await?;
        self.done += finished.rows as u64;
        self.detached += finished.torn;
        Ok(())
    }

    fn tell(&self, stage: &'static str) -> Result<()> {
        told(self.options, stage, self.done, self.total)
    }
}

/// Documents that are written first, together with their passages.
const SHOWN_DOCUMENTS: usize = 6;

/// Returns the row with the key of an element, and its last version.
fn place_row(place: &Place, until: Option<i64>) -> BoltType {
    let mut row = place.into_row();
    put(&mut row, "until", until.into());
    BoltType::Map(row)
}
