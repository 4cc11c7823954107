//! A run: read, plan, commit units, build a version.

use std::sync::Arc;
use std::time::Instant;

use rustc_hash::FxHashSet;
use tokio::runtime::Handle;

use super::ahead::Ahead;
use super::corpus::Corpus;
use super::mend::{Mended, Trust};
use super::options::{
    DocumentCounts, ExtractReport, HierarchyRefresh, IndexOptions, IndexReport, ModelReport, OtherEmbedder,
    QuestionsBy, Sources, StageReport, VectorReport,
};
use super::plan::{HANDED_OVER, Plan, Verdict, added_by_hand, removed_by_hand};
use super::report::{self, Reported};
use super::shortened::Shortened;
use super::stages;
use super::stages::known::Earlier;
use super::stages::vectors::{self, WhenSpent};
use super::unit::{Batch, fingerprint};
use super::version::{self, Built, Past};
use super::{extract, generate, mend, units, warnings};
use crate::domain::{Counts, DocumentId, IndexVersion, Progress, Skip};
use crate::embed::Embedder;
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::{SourceDocument, SourceItem, is_of_record_without_id};
use crate::llm::{ChatModel, SetAside};
use crate::skill::Performers;
use crate::store::GraphReader as _;
use crate::telemetry;
use crate::workspace::{
    DocumentUnit, Extent, IndexCheck, LastVersion, StoredDocument, Workspace, WorkspaceOptions, Writer,
};

/// The prefix of the preset of the hierarchy in the settings of an index.
pub(super) const HIERARCHY: &str = "hierarchy by ";

/// Brings a workspace up to date with its sources, and makes a version of it if anything changed.
///
/// Documents are compared by content: only new and changed ones are indexed, and nothing is done if nothing changed.
/// Sources that cannot be read are left out, named in the report, and do not stop the run; their earlier documents are
/// kept.
///
/// # Errors
///
/// [`Error::MissingPath`] and [`Error::NoDocuments`] with the index left as it was; [`Error::Busy`] while another run
/// writes; [`Error::Embedder`] for an index of another embedder; [`Error::Chat`] if something about the language model
/// has to be corrected, and [`Error::Cancelled`], both with finished units kept.
///
/// # Cancel safety
///
/// The run continues when the future is dropped; [`IndexOptions::cancellation`] stops it. Killed at any moment, the
/// last finished version stays readable and finished units are kept.
///
/// # Examples
///
/// ```no_run
/// # async fn run() -> cairn::Result<()> {
/// use cairn::{IndexOptions, Performers, Sources, Workspace, WorkspaceOptions};
///
/// let performers = Performers::built_in();
/// let mut workspace = Workspace::open_or_create("notes.cairn", &WorkspaceOptions::of(&performers))?;
/// let report = cairn::index(&mut workspace, &Sources::folder("notes"), &performers, &IndexOptions::default()).await?;
/// println!("{} passages", report.counts.passages);
/// # Ok(())
/// # }
/// ```
pub async fn index(
    workspace: &mut Workspace,
    sources: &Sources,
    performers: &Performers,
    options: &IndexOptions,
) -> Result<IndexReport> {
    sources.check()?;
    let work = Work::Read(sources.clone());
    start(workspace, work, performers, options).await
}

/// The task of a run before it makes a version.
pub(super) enum Work {
    Read(Sources),
    Add(Sources),
    Remove(Vec<DocumentId>),
    AddAndRemove(Sources, Vec<DocumentId>),
    Renew,
    Refresh,
    Repair,
}

pub(super) async fn start(
    workspace: &mut Workspace,
    work: Work,
    performers: &Performers,
    options: &IndexOptions,
) -> Result<IndexReport> {
    let pinned = workspace.embedder()?;
    let (embedder, model) = (Arc::clone(&performers.embedder), performers.model.clone());
    if pinned != embedder.name() && options.other_embedder == OtherEmbedder::Refuse {
        return Err(Error::Embedder { index: pinned, given: embedder.name().to_owned() });
    }
    let (workspace, options, handle) = (workspace.clone(), options.clone(), Handle::current());
    let span = tracing::info_span!(telemetry::INDEX);
    let run = move || {
        let _entered = span.entered();
        let mut writer = workspace.writer()?;
        writer.stop_by(&options.cancellation);
        let (skips, warnings, started) = (Vec::new(), Vec::new(), Instant::now());
        let run = Run {
            workspace,
            writer,
            embedder,
            model,
            written: None,
            extracted: None,
            asked: None,
            vectors: None,
            stages: Vec::new(),
            options,
            skips,
            warnings,
            started,
            shortened: Shortened::default(),
            made: Vec::new(),
            checkpoints: 0,
            ahead: Ahead::default(),
        };
        run.run(&work, &handle)
    };
    tokio::task::spawn_blocking(run).await.map_err(|error| Error::Internal(error.to_string()))?
}

/// The result: documents, the version and its counts, and how many edges were left out if one was made.
type Done = (DocumentCounts, IndexVersion, Counts, Option<u64>);

/// A run in hand.
pub(super) struct Run {
    pub(super) workspace: Workspace,
    pub(super) writer: Writer,
    pub(super) embedder: Arc<dyn Embedder>,
    model: Option<Arc<dyn ChatModel>>,
    /// The results of asking it.
    written: Option<ModelReport>,
    /// Its findings in passages.
    extracted: Option<ExtractReport>,
    /// Its texts about the hierarchy.
    asked: Option<report::Asked>,
    /// The results of an embedder behind a server.
    vectors: Option<VectorReport>,
    /// The stages of its version.
    stages: Vec<StageReport>,
    pub(super) options: IndexOptions,
    skips: Vec<Skip>,
    warnings: Vec<String>,
    /// Documents of which a limit left something out.
    pub(super) shortened: Shortened,
    /// Units that are not committed yet.
    pub(super) made: Vec<DocumentUnit>,
    /// Checkpoints that it made.
    pub(super) checkpoints: u64,
    pub(super) started: Instant,
    pub(super) ahead: Ahead,
}

impl Run {
    /// Does the work. If records turn out to be damaged, they are rebuilt from the sources at hand, and the work is
    /// repeated; damage without a source ends the run, and the current version stays.
    fn run(mut self, work: &Work, handle: &Handle) -> Result<IndexReport> {
        let mut mended = Mended::default();
        if matches!(work, Work::Repair) {
            let sources = self.remembered_sources()?;
            self.keep_settings()?;
            mended = self.mend(&sources, Trust::Unchanged)?.ok_or_else(|| self.beyond_repair())?;
        }
        let done = match self.attempt(work, handle) {
            Err(error) if error.kind() == ErrorKind::Corrupt && mended.left.is_empty() => {
                let sources = match work {
                    Work::Read(it) | Work::Add(it) | Work::AddAndRemove(it, _) => std::slice::from_ref(it),
                    _ => &[],
                };
                tracing::warn!(%error, "the records are damaged");
                // The damage is reported, unless it can be repaired.
                let Ok(Some(found)) = self.mend(sources, Trust::AsItIs) else { return Err(error) };
                if !found.is_changed && found.left.is_empty() {
                    return Err(error);
                }
                mended = found;
                if let Some(error) = self.left(&mended) {
                    return Err(error);
                }
                (self.skips, self.warnings) = (Vec::new(), Vec::new());
                self.attempt(work, handle)
            }
            done => done,
        };
        if let Some(error) = self.left(&mended) {
            return Err(error);
        }
        self.warnings.extend(mend::warning(&mended));
        self.warnings
            .extend(mended.notes.iter().map(|it| format!("{it} was damaged in the records, and is forgotten")));
        let (documents, version, counts, cut) = done?;
        Ok(self.report(version, documents, counts, cut))
    }

    fn attempt(&mut self, work: &Work, handle: &Handle) -> Result<Done> {
        let is_removal = matches!(work, Work::Remove(_));
        let extent = self.extent(work)?;
        if is_removal || matches!(work, Work::Refresh | Work::Add(_) | Work::AddAndRemove(..)) {
            self.keep_settings()?;
        }
        let documents = match work {
            Work::Read(sources) | Work::Add(sources) => self.read(sources, handle)?,
            Work::Remove(ids) => self.remove(ids)?,
            Work::AddAndRemove(sources, ids) => {
                let (gone, _) = self.removable(ids)?;
                let counts = self.read(sources, handle)?;
                self.forget(&gone)?;
                DocumentCounts { removed: gone.len() as u64, ..counts }
            }
            Work::Renew | Work::Refresh | Work::Repair => self.unread()?,
        };
        let documents = self.renew(documents)?;
        if let Some(model) = self.model.clone().filter(|_| !is_removal) {
            let _for_vectors = self.set_aside()?;
            self.ask(&model, handle)?;
        }
        let check = if matches!(work, Work::Repair) { Some(self.workspace.check()?) } else { None };
        let is_current = check.as_ref().is_none_or(IndexCheck::is_whole) && self.is_up_to_date(&documents)?;
        if is_current && !self.is_reported_anew(is_removal, handle)? {
            self.note_opening()?;
            self.writer.records().set_model_place(self.embedder.place())?;
            let current = self.writer.records().current()?;
            let (version, counts) = current.unwrap_or((IndexVersion(0), Counts::default()));
            return Ok((documents, version, counts, None));
        }
        let when_spent = self.when_spent()?;
        // Parts with intact checksums but wrong contents must not be reused.
        let is_sound = check.is_none_or(|check| check.blames_files_alone());
        let last = if is_sound { self.last_version()? } else { None };
        // Once per run: items without a usable reply are not asked about again.
        let reporter = self.reporter(is_removal).filter(|_| self.asked.is_none());
        let built = self.build(last, (when_spent, reporter.as_ref()), extent, handle)?;
        if built.passages_cut > 0 {
            self.warnings
                .push(format!("{} passages of very long documents have more names than are kept", built.passages_cut));
        }
        self.vectors = self.embedder.account().is_some().then_some(built.vectors);
        self.stages = built.stages;
        self.asked = built.asked.or_else(|| self.asked.take());
        Ok((documents, built.version, built.counts, Some(built.edges_cut)))
    }

    /// Returns which documents the version contains: if a first run did not read all of them, a run that reads no
    /// sources does not change that.
    fn extent(&mut self, work: &Work) -> Result<Extent> {
        let records = self.writer.records();
        if matches!(work, Work::Read(_)) || !records.awaits_documents() {
            return Ok(Extent::Whole);
        }
        // Without a version, texts given directly may be the only documents.
        let is_begun =
            records.manifest()?.current.is_some() || records.documents()?.iter().any(|it| &*it.root != HANDED_OVER);
        Ok(if is_begun { Extent::Partial } else { Extent::Whole })
    }

    /// Builds a version from the records, after `last`.
    pub(super) fn build(
        &mut self,
        last: Option<Arc<LastVersion>>,
        (when_spent, reporter): (WhenSpent, Option<&Arc<dyn ChatModel>>),
        extent: Extent,
        handle: &Handle,
    ) -> Result<Built> {
        let pin = self.pin();
        self.writer.set_embedder(pin);
        self.writer.set_extent(extent);
        let past = Past { earlier: self.earlier(last.as_ref())?, last };
        let (embedder, options) = (self.embedder.as_ref(), (&self.options, reporter));
        let built = version::build(&mut self.writer, embedder, (&past, when_spent), options, handle)
            .inspect_err(|_| self.writer.discard())?;
        let settings = self.settings();
        self.writer.records().set_chunking(&settings)?;
        self.writer.records().set_model_place(self.embedder.place())?;
        Ok(built)
    }

    /// Has a model write questions and find entities, as the options say.
    fn ask(&mut self, model: &Arc<dyn ChatModel>, handle: &Handle) -> Result<()> {
        let (records, options) = (self.writer.records(), &self.options);
        if options.questions_by == QuestionsBy::Model {
            self.written = Some(generate::run(records, model, options, handle)?);
        }
        if let Some(wanted) = &options.extract {
            self.extracted = Some(extract::run(records, model, (wanted, options), handle)?);
        }
        Ok(())
    }

    /// Returns the model that writes about the hierarchy, if any.
    fn reporter(&self, is_removal: bool) -> Option<Arc<dyn ChatModel>> {
        let is_wanted = report::is_wanted(&self.options) && !is_removal;
        self.model.clone().filter(|_| is_wanted)
    }

    /// Has a model write about the hierarchy of the current version, if requested; returns whether it wrote anything.
    fn is_reported_anew(&mut self, is_removal: bool, handle: &Handle) -> Result<bool> {
        let Some(model) = self.reporter(is_removal) else { return Ok(false) };
        let known = self.workspace.records()?;
        let (records, options) = (self.writer.records(), &self.options);
        let write = |reports: &mut Reported<'_>| handle.block_on(reports.write(records, &model, options));
        // A version without topics is rebuilt.
        let Some(asked) = report::of_current(&self.workspace, &known, write)? else { return Ok(true) };
        let is_new = asked.is_any();
        self.asked = Some(asked);
        Ok(is_new)
    }

    /// Reserves the cost of vectors of existing texts from the budget while a model writes questions, because the rest
    /// of an index needs these vectors.
    fn set_aside(&mut self) -> Result<Option<SetAside>> {
        let embedder = Arc::clone(&self.embedder);
        let Some(account) = embedder.account().filter(|account| account.has_budget()) else { return Ok(None) };
        let units = units::read(self.writer.records())?;
        let kept = self.workspace.fresh_vectors(&self.pin()).keys(embedder.dimension())?;
        let (expected, _) = vectors::expected(account, &Corpus::of(&units).texts(), &self.earlier(None)?, &kept);
        Ok(Some(account.set_aside(&expected)))
    }

    /// Counts the cost of opening the embedder, if nothing was embedded.
    fn note_opening(&mut self) -> Result<()> {
        let embedder = Arc::clone(&self.embedder);
        let Some(account) = embedder.account() else { return Ok(()) };
        let spent = account.take_spent();
        self.writer.records().add_spending(embedder.name(), &spent)?;
        self.vectors = Some(VectorReport { embedder: embedder.name().to_owned(), spent, ..VectorReport::default() });
        Ok(())
    }

    /// Returns what to do with the version if the budget is spent: a complete one is not replaced by an incomplete one
    /// of another embedder.
    fn when_spent(&mut self) -> Result<WhenSpent> {
        let manifest = self.writer.records().manifest()?;
        let is_other = manifest.current.is_some() && manifest.pin() != self.pin();
        Ok(if is_other { WhenSpent::Fail } else { WhenSpent::GoOn })
    }

    /// Returns whether the current version is whole and is that of the records and of the settings.
    fn is_up_to_date(&mut self, documents: &DocumentCounts) -> Result<bool> {
        let manifest = self.writer.records().manifest()?;
        if manifest.pin() != self.pin() {
            return Ok(false);
        }
        let untouched = documents.added + documents.changed + documents.removed == 0 && !manifest.is_changed;
        if !untouched || manifest.chunking.as_deref() != Some(&self.settings()) {
            return Ok(false);
        }
        match self.workspace.snapshot().and_then(|snapshot| snapshot.check().map(|()| snapshot)) {
            Ok(snapshot) => {
                let counts = snapshot.counts();
                let is_old = counts.hierarchy.versions > 0;
                let is_due = is_old && self.options.hierarchy_refresh == HierarchyRefresh::Now;
                Ok(counts.without_vectors == 0 && !is_due)
            }
            // The records have all that a version is made of.
            Err(error) if matches!(error.kind(), ErrorKind::NoIndex | ErrorKind::Corrupt) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Reports the result; `cut` is how many edges were left out of the version, if one was made.
    fn report(self, version: IndexVersion, documents: DocumentCounts, counts: Counts, cut: Option<u64>) -> IndexReport {
        let report::Asked { described, summarized, reported } = self.asked.unwrap_or_default();
        IndexReport {
            version,
            is_new_version: cut.is_some(),
            checkpoints: self.checkpoints,
            documents: DocumentCounts { skipped: self.skips.len() as u64, ..documents },
            counts,
            edges_cut: cut.unwrap_or(0),
            warnings: (self.warnings.into_iter())
                .chain(warnings::of_shortened(&self.shortened))
                .chain(warnings::of_counts(&counts))
                .chain(warnings::of_foreign(self.writer.foreign()))
                .collect(),
            skips: self.skips,
            model: self.written,
            extracted: self.extracted,
            described,
            summarized,
            reported,
            vectors: self.vectors,
            stages: self.stages,
            seconds: self.started.elapsed().as_secs_f64(),
        }
    }

    pub(super) fn fingerprint(&self) -> String {
        fingerprint(&self.options.chunk, self.embedder.as_ref())
    }

    /// Returns the version before, if its vectors can be taken over.
    fn earlier(&self, last: Option<&Arc<LastVersion>>) -> Result<Earlier> {
        Earlier::of(&self.workspace, &self.pin(), last)
    }

    fn pin(&self) -> WorkspaceOptions {
        WorkspaceOptions::of_embedder(self.embedder.as_ref())
    }

    /// Returns everything that a version depends on besides the units.
    fn settings(&self) -> String {
        let hierarchy = self.options.hierarchy.name();
        let matching = &self.options.matching;
        format!("{}; {matching:?}; {HIERARCHY}{hierarchy}; {}", self.fingerprint(), stages::versions())
    }

    fn read(&mut self, sources: &Sources, handle: &Handle) -> Result<DocumentCounts> {
        if self.writer.records().manifest()?.current.is_none() {
            // Whatever follows a first run that does not end continues with its settings.
            let settings = self.settings();
            self.writer.records().set_chunking(&settings)?;
        }
        let stored = self.writer.records().documents_by_id()?;
        let known = stored.len();
        let removed = self.writer.records().removed()?;
        let mut plan = Plan::new(stored, self.fingerprint()).without(&removed, sources);
        let (mut schedule, mut seen) = (self.schedule(), 0u64);
        let ingest = self.options.ingest.clone();
        let read = |run: &mut Self, batch: &mut Batch| {
            sources.visit(&ingest, &mut |item| {
                if run.options.cancellation.is_cancelled() {
                    run.make(batch)?;
                    return Err(Error::Cancelled);
                }
                seen += u64::from(matches!(item, SourceItem::Document(_)));
                run.visit(item, seen, (&mut plan, batch));
                if batch.is_full() {
                    run.make(batch)?;
                    run.checkpoint(&mut schedule, seen, handle)?;
                }
                Ok(())
            })
        };
        let roots = self.making(read)?;
        if seen == 0 && (known == 0 || !roots.is_empty()) {
            return Err(sources.no_documents(&self.skips));
        }
        let unseen = plan.unseen(&roots, self.options.most_gone);
        self.warnings.extend(warnings::of_reading((&plan, &unseen), &roots, (&self.skips, seen)));
        self.writer.records().remove_documents(&unseen.gone)?;
        self.writer.records().take_back(&plan.taken_back)?;
        self.writer.records().set_skips(&self.skips)?;
        let unchanged = plan.counts.unchanged + unseen.kept;
        Ok(DocumentCounts { removed: unseen.gone.len() as u64, unchanged, ..plan.counts })
    }

    /// Plans what to do with an item, the `seen`-th document if it is one, and adds a document to the batch if its unit
    /// is to be made.
    fn visit(&mut self, item: SourceItem, seen: u64, (plan, batch): (&mut Plan, &mut Batch)) {
        match item {
            SourceItem::Skip(skip) => self.skips.push(skip),
            SourceItem::Shortened(skip) => self.shortened.note(&skip.source, &skip.reason),
            SourceItem::Unread { source, skip } => {
                plan.note_unread(source);
                self.skips.push(skip);
            }
            SourceItem::Document(found) => {
                self.tell("reading", seen);
                match plan.judge(found.document.id, &found.root, &found.content) {
                    Verdict::Unchanged => {}
                    Verdict::Removed => self.skips.push(removed_by_hand(&found.document.uri)),
                    Verdict::ByHand => self.skips.push(added_by_hand(&found.document.uri)),
                    Verdict::Added | Verdict::Changed | Verdict::Moved => {
                        self.writer.records().expect_write();
                        self.ahead.begin(&self.workspace);
                        batch.push(found);
                    }
                }
            }
        }
    }

    fn remove(&mut self, ids: &[DocumentId]) -> Result<DocumentCounts> {
        let (gone, stored) = self.removable(ids)?;
        self.forget(&gone)?;
        let unchanged = (stored - gone.len()) as u64;
        Ok(DocumentCounts { removed: gone.len() as u64, unchanged, ..DocumentCounts::default() })
    }

    /// Returns those of these documents that the index has, and how many it has in all.
    fn removable(&mut self, ids: &[DocumentId]) -> Result<(Vec<DocumentId>, usize)> {
        let stored = self.writer.records().documents()?;
        // A record inserted above it would take over its id, and would be left out instead.
        let is_by_place = |it: &&StoredDocument| {
            ids.contains(&it.id) && &*it.root != HANDED_OVER && it.id == DocumentId::of(&[it.uri.as_bytes()])
        };
        if let Some(record) = stored.iter().filter(is_by_place).find(|it| is_of_record_without_id(&it.uri)) {
            let reason = "a record without an id is known by its line, and a later run could leave out another for it; \
                          give it an id and index it again, or delete it from its file";
            return Err(Error::Option { option: "document", value: record.uri.clone(), reason: reason.to_owned() });
        }
        let stored: FxHashSet<DocumentId> = stored.into_iter().map(|it| it.id).collect();
        let mut gone: Vec<DocumentId> = ids.iter().filter(|id| stored.contains(id)).copied().collect();
        gone.sort_unstable();
        gone.dedup();
        Ok((gone, stored.len()))
    }

    fn forget(&mut self, documents: &[DocumentId]) -> Result<()> {
        self.writer.records().remember_removed(documents)?;
        self.writer.records().remove_documents(documents)?;
        Ok(())
    }

    /// Counts the existing documents if no source is read.
    fn unread(&mut self) -> Result<DocumentCounts> {
        let unchanged = self.writer.records().documents()?.len() as u64;
        if unchanged == 0 {
            return Err(Error::NoIndex { path: self.workspace.path().to_owned() });
        }
        Ok(DocumentCounts { unchanged, ..DocumentCounts::default() })
    }

    /// If the embedder changes, rebuilds the units made for another one that no source provided: where a passage ends
    /// depends on how word pieces are counted.
    fn renew(&mut self, counts: DocumentCounts) -> Result<DocumentCounts> {
        if self.options.other_embedder == OtherEmbedder::Refuse {
            return Ok(counts);
        }
        let fingerprint = self.fingerprint();
        let stored = self.writer.records().documents()?;
        let old = stored.into_iter().filter(|it| it.fingerprint.as_deref() != Some(fingerprint.as_str()));
        let renew = |run: &mut Self, batch: &mut Batch| {
            let mut renewed = 0;
            for StoredDocument { id, root, content, .. } in old {
                if run.options.cancellation.is_cancelled() {
                    return Err(Error::Cancelled);
                }
                let Some(unit) = run.writer.records().document_unit(id)? else { continue };
                batch.push(SourceDocument { root: root.to_string(), content, document: unit.document });
                renewed += 1;
                if batch.is_full() {
                    run.make(batch)?;
                }
            }
            Ok(renewed)
        };
        let renewed = self.making(renew)?;
        Ok(DocumentCounts {
            changed: counts.changed + renewed,
            unchanged: counts.unchanged.saturating_sub(renewed),
            ..counts
        })
    }

    pub(super) fn tell(&self, stage: &'static str, done: u64) {
        if let Some(progress) = &self.options.progress {
            progress(Progress { stage, done, total: 0 });
        }
    }
}
