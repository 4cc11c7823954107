//! Reads the hierarchy over the entities of a version, the entities that its names stand for, and a model's reports on
//! its communities from the database, by the rows of an export, with the same layout as in an index.
//!
//! Few strategies use them, and reading them takes about half as long as reading the structure, so they are read on
//! first use. Types, and a model's descriptions of entities and relations, are not included, because no strategy uses
//! them.

use std::sync::{Mutex, PoisonError};

use neo4rs::Row;
use rustc_hash::FxHashMap;

use super::super::element::Key;
use super::super::export::{
    column, id, read_aspects, read_community, read_member, read_membership, read_relation, read_report, read_summary,
};
use super::super::kinds::Kind;
use super::super::reader::Reading;
use super::super::session::Session;
use super::super::state::IndexState;
use super::super::statement::cypher;
use super::GraphCache;
use super::load::Structure;
use crate::domain::{DatabaseError, DocumentId, EntityId, HierarchyCounts};
use crate::error::Result;
use crate::graph::descriptions::{
    Described, PackedAspect, PackedDescriptions, PackedReport, pack_aspects, pack_reports,
};
use crate::graph::hierarchy::{CommunityElement, HierarchyElements, PackedHierarchy, RelationElement, SummaryElement};
use crate::graph::ordinal::{CommunityOrdinal, DocumentOrdinal, EntityOrdinal, Ordinal as _, SentenceOrdinal};
use crate::graph::packed::PassageGraph;
use crate::graph::resolution::{Merge, PackedResolution, Reason};
use crate::store::Networks;
use crate::workspace::{
    Community, CommunityReport, ExportedAspect, Member, Membership, Relation, SentencePlace, Summary,
    SummaryDescription,
};

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Levels {
    pub(super) hierarchy: PackedHierarchy,
    pub(super) resolution: PackedResolution,
    /// None if no model wrote a report.
    pub(super) descriptions: Option<PackedDescriptions>,
    pub(super) networks: Networks,
}

/// Reads the levels of the version that `cache` is of.
///
/// # Errors
///
/// [`DatabaseError::Changing`] if the database holds another version by now.
pub(super) async fn load(session: &Session, cache: &GraphCache) -> Result<Levels> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let reading = Reading::begin(session).await?;
        if reading.version != cache.version {
            return Err(session.error(DatabaseError::Changing { attempts: attempt }));
        }
        let found = Box::pin(read(session, &reading, cache)).await;
        if let Some(levels) = reading.end(found, attempt).await? {
            return Ok(levels);
        }
    }
}

async fn read(session: &Session, reading: &Reading<'_>, cache: &GraphCache) -> Result<Levels> {
    let rows = Mutex::new(LevelRows::default());
    let parts: [Part; 8] = [
        (cypher!("read/relations"), |rows, row| put(&mut rows.relations, read_relation(row))),
        (cypher!("read/communities"), |rows, row| put(&mut rows.communities, read_community(row))),
        (cypher!("read/members"), |rows, row| put(&mut rows.members, read_member(row))),
        (&Kind::Summary.statements().contents, |rows, row| put(&mut rows.summaries, read_summary(row))),
        (cypher!("read/memberships"), |rows, row| put(&mut rows.memberships, read_membership(row))),
        (cypher!("read/reports"), |rows, row| put(&mut rows.reports, read_report(row))),
        (cypher!("read/summary-descriptions"), |rows, row| put(&mut rows.aspects, read_aspects(row))),
        (cypher!("read/same-as"), |rows, row| put(&mut rows.same, read_same(row))),
    ];
    let (relations, others) = parts.split_at(RELATION_PARTS);
    tokio::try_join!(read_parts(session, reading, relations, &rows), read_parts(session, reading, others, &rows))?;
    let rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
    rows.into_levels(session, &cache.structure, &cache.state)
}

async fn read_parts(session: &Session, reading: &Reading<'_>, parts: &[Part], rows: &Mutex<LevelRows>) -> Result<()> {
    for (text, add) in parts {
        let mut visit = |row: &Row| {
            let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
            add(&mut rows, row).ok_or_else(|| session.damaged("an element has not all that it should"))
        };
        reading.rows("read the hierarchy", text, &mut visit).await?;
    }
    Ok(())
}

/// Reads the elements of a kind and adds a row; none if the row is incomplete.
type Part = (&'static str, fn(&mut LevelRows, &Row) -> Option<()>);

/// Parts that are relations: they are most of it.
const RELATION_PARTS: usize = 1;

fn put<T>(rows: &mut Vec<T>, row: Option<T>) -> Option<()> {
    rows.push(row?);
    Some(())
}

/// A name that stands for an entity, everywhere or in these documents.
struct Same {
    name: EntityId,
    entity: EntityId,
    reason: Reason,
    documents: Vec<DocumentId>,
}

fn read_same(row: &Row) -> Option<Same> {
    let texts = |name: &str| Some(row.get::<Option<Vec<String>>>(name).ok()?.unwrap_or_default());
    let (sources, documents) = (texts("sources")?, texts("documents")?);
    // If there are many, all are listed by id; sources are for people.
    let documents = if documents.is_empty() {
        sources.iter().map(|source| DocumentId::of(&[source.as_bytes()])).collect()
    } else {
        documents.iter().map(|it| id(Some(it), DocumentId::from_bytes)).collect::<Option<_>>()?
    };
    Some(Same {
        name: column(row, "name", EntityId::from_bytes)?,
        entity: column(row, "entity", EntityId::from_bytes)?,
        reason: Reason::of_name(row.get("reason").ok()?)?,
        documents,
    })
}

/// The rows read, not yet sorted.
#[derive(Default)]
struct LevelRows {
    relations: Vec<Relation>,
    communities: Vec<Community>,
    members: Vec<Member>,
    summaries: Vec<Summary>,
    memberships: Vec<Membership<EntityId>>,
    reports: Vec<CommunityReport>,
    aspects: Vec<SummaryDescription>,
    same: Vec<Same>,
}

impl LevelRows {
    /// Lays everything out, and checks it: the graph may have been changed by hand.
    fn into_levels(self, session: &Session, structure: &Structure, state: &IndexState) -> Result<Levels> {
        let levels =
            self.assemble(structure).ok_or_else(|| session.damaged("its hierarchy refers to a missing element"))?;
        levels.check(structure).map_err(|(part, why)| session.damaged(format!("`{part}` {why}")))?;
        let written = levels.descriptions.as_ref();
        let written = written.map_or([0; 2], |it| [it.report_community.len() as u64, it.view().summarized()]);
        // How old it is says the database alone.
        let HierarchyCounts { versions, changed, .. } = state.counts.hierarchy;
        let counts = HierarchyCounts { versions, changed, ..levels.hierarchy.view().counts() };
        if (counts, &written[..]) != (state.counts.hierarchy, &state.by_model[2..]) {
            return Err(session.damaged("its hierarchy holds another number of elements than was published"));
        }
        Ok(levels)
    }

    fn assemble(self, structure: &Structure) -> Option<Levels> {
        let known = Known::of(structure);
        let graph = structure.graph.view();
        let entities = graph.entity_name_ends.len();
        let mut elements = HierarchyElements::default();
        let relations = self.relations.into_iter().map(|it| known.relation(it));
        elements.relations = relations.collect::<Option<_>>()?;
        let communities = places(self.communities.iter().map(|it| *it.id.as_bytes()));
        for community in self.communities {
            let parent = match community.parent {
                Some(parent) => Some(*communities.get(parent.as_bytes())?),
                None => None,
            };
            elements.communities.push(CommunityElement {
                level: community.level,
                parent,
                title: community.title,
                passages: community.passages.try_into().ok()?,
                findings: known.sentences(&community.findings)?,
                members: Vec::new(),
            });
        }
        for Member { entity, community } in self.members {
            elements.communities[*communities.get(community.as_bytes())?].members.push(known.entity(entity)?);
        }
        let summaries = places(self.summaries.iter().map(|it| *it.id.as_bytes()));
        for Summary { layer, name, sentences, .. } in self.summaries {
            let sentences = known.sentences(&sentences)?;
            elements.summaries.push(SummaryElement { layer, name, sentences, members: Vec::new() });
        }
        for Membership { member, summary, weight } in self.memberships {
            let summary = &mut elements.summaries[*summaries.get(summary.as_bytes())?];
            let member = match summary.layer {
                1 => known.entity(member)?.0,
                _ => (*summaries.get(member.as_bytes())?).try_into().ok()?,
            };
            summary.members.push((member, weight));
        }
        let (hierarchy, ordinals, of_summaries) = elements.pack(entities)?;
        let merges = self.same.iter().flat_map(|it| known.merges(it)).collect::<Option<Vec<Merge>>>()?;
        let resolution = PackedResolution::of_merges(entities, merges)?;
        let report = |it: CommunityReport| {
            let community = ordinals[*communities.get(it.community.as_bytes())?];
            known.report(it, community)
        };
        let reports = self.reports.into_iter().map(report).collect::<Option<Vec<PackedReport>>>()?;
        let mut aspects = Vec::new();
        for SummaryDescription { summary, aspects: own } in self.aspects {
            let summary = of_summaries[*summaries.get(summary.as_bytes())?];
            for ExportedAspect { name, kind, description, sentences } in own {
                let (kind, sentences) = (kind.unwrap_or_default(), known.sentences(&sentences)?);
                aspects.push(PackedAspect { summary, name, kind, description, sentences });
            }
        }
        let described = |reports, aspects| {
            let mut packed = PackedDescriptions::by_rule(&graph, &hierarchy.view());
            pack_reports(reports, &mut packed);
            pack_aspects(aspects, &mut packed);
            packed
        };
        let is_any = !reports.is_empty() || !aspects.is_empty();
        let descriptions = is_any.then(|| described(reports, aspects));
        Some(Levels { hierarchy, resolution, descriptions, networks: Networks::default() })
    }
}

impl Levels {
    /// Checks that every array obeys its rules, for a structure.
    ///
    /// # Errors
    ///
    /// The name of an array that breaks a rule, and the rule.
    pub(super) fn check(&self, structure: &Structure) -> Result<(), (&'static str, &'static str)> {
        let graph = structure.graph.view();
        let [entities, documents, sentences] =
            [graph.entity_name_ends.len(), graph.document_count(), graph.sentence_count()];
        self.hierarchy.view().check(entities, sentences)?;
        self.resolution.view().check(entities, documents, sentences)?;
        let described = Described::of(&graph, &self.hierarchy.view());
        self.descriptions.as_ref().map_or(Ok(()), |it| it.view().check(described))
    }
}

/// Returns the place of each key.
fn places(keys: impl Iterator<Item = Key>) -> FxHashMap<Key, usize> {
    keys.zip(0..).collect()
}

/// The elements of a structure by id.
struct Known<'a> {
    structure: &'a Structure,
    graph: PassageGraph<'a>,
    entities: FxHashMap<Key, EntityOrdinal>,
    documents: FxHashMap<Key, DocumentOrdinal>,
}

impl<'a> Known<'a> {
    fn of(structure: &'a Structure) -> Self {
        let graph = structure.graph.view();
        let key = |entity| *EntityId::of(&[graph.entity_name(entity).as_bytes()]).as_bytes();
        let entities = graph.entity_name_ends.ordinals().map(|entity| (key(entity), entity)).collect();
        let documents = structure.documents.iter().map(|it| *it.document.as_bytes());
        let documents = documents.zip(DocumentOrdinal::first(structure.documents.len())).collect();
        Self { structure, graph, entities, documents }
    }

    fn entity(&self, id: EntityId) -> Option<EntityOrdinal> {
        self.entities.get(id.as_bytes()).copied()
    }

    fn sentence(&self, place: &SentencePlace) -> Option<SentenceOrdinal> {
        let passage = *self.structure.numbers.get(place.passage.as_bytes())?;
        self.graph.passage_sentences.of(passage).nth(place.sentence as usize)
    }

    fn sentences(&self, places: &[SentencePlace]) -> Option<Vec<SentenceOrdinal>> {
        places.iter().map(|it| self.sentence(it)).collect()
    }

    fn relation(&self, Relation { from, to, weight, evidence }: Relation) -> Option<RelationElement> {
        let sentence = match evidence {
            Some(place) => Some(self.sentence(&place)?),
            None => None,
        };
        Some(RelationElement { ends: [self.entity(from)?, self.entity(to)?], weight, sentence })
    }

    /// Returns the merges of a name into an entity: one, or one for each document.
    fn merges(&self, same: &Same) -> Vec<Option<Merge>> {
        let merge = |document| {
            let (name, entity) = (self.entity(same.name)?, self.entity(same.entity)?);
            Some(Merge { name, entity, beside: entity, document, reason: same.reason })
        };
        let in_document = |it: &DocumentId| merge(Some(*self.documents.get(it.as_bytes())?));
        if same.documents.is_empty() { vec![merge(None)] } else { same.documents.iter().map(in_document).collect() }
    }

    fn report(&self, it: CommunityReport, community: CommunityOrdinal) -> Option<PackedReport> {
        let finding = |it: crate::workspace::ReportedFinding| Some((it.text, self.sentences(&it.sentences)?));
        let CommunityReport { title, summary, rating, findings, .. } = it;
        let findings = findings.into_iter().map(finding).collect::<Option<_>>()?;
        Some(PackedReport { community, title, summary, rating, findings })
    }
}
