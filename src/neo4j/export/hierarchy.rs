//! Reads the hierarchy over entities from the database, for exports and for answers.

use neo4rs::{BoltMap, Row};
use serde::Deserialize;

use super::{CanonicalLines, column, id, properties, text};
use crate::domain::{CommunityId, EntityId, PassageId, SummaryId};
use crate::error::Result;
use crate::workspace::{
    Community, CommunityReport, ExportedAspect, Member, Membership, Relation, ReportedFinding, SentencePlace, Summary,
    SummaryDescription,
};

pub(super) fn push_relation(row: &Row, lines: &mut CanonicalLines) -> Option<Result<()>> {
    Some(lines.push("relation", &read_relation(row)?))
}

/// Returns the relation of a row.
pub(in crate::neo4j) fn read_relation(row: &Row) -> Option<Relation> {
    let passage = row.get::<Option<&str>>("passage").ok()?;
    let evidence = match passage {
        Some(passage) => Some(SentencePlace {
            passage: id(Some(passage), PassageId::from_bytes)?,
            sentence: number(row, "sentence")?,
        }),
        None => None,
    };
    let (from, to) = (column(row, "from", EntityId::from_bytes)?, column(row, "to", EntityId::from_bytes)?);
    Some(Relation { from, to, weight: weight(row)?, evidence })
}

pub(super) fn push_community(row: &Row, lines: &mut CanonicalLines) -> Option<Result<()>> {
    Some(lines.push("community", &read_community(row)?))
}

/// Returns the community of a row, as rules describe it.
pub(in crate::neo4j) fn read_community(row: &Row) -> Option<Community> {
    let (properties, parents) = (properties(row)?, row.get::<Vec<&str>>("parents").ok()?);
    let level: u32 = properties.get("level").ok()?;
    // While it is taken away, its place in another may be missing.
    if parents.len() != usize::from(level > 0) {
        return None;
    }
    let parent = match parents.first() {
        Some(parent) => Some(id(Some(parent), CommunityId::from_bytes)?),
        None => None,
    };
    let (title, findings) = by_rule(&properties)?;
    Some(Community {
        id: column(row, "id", CommunityId::from_bytes)?,
        level,
        parent,
        title,
        entities: properties.get("entities").ok()?,
        passages: properties.get("passages").ok()?,
        findings,
    })
}

pub(super) fn push_member(row: &Row, lines: &mut CanonicalLines) -> Option<Result<()>> {
    Some(lines.push("member", &read_member(row)?))
}

/// Returns the entity of a row with its smallest community.
pub(in crate::neo4j) fn read_member(row: &Row) -> Option<Member> {
    let entity = column(row, "entity", EntityId::from_bytes)?;
    Some(Member { entity, community: column(row, "community", CommunityId::from_bytes)? })
}

pub(super) fn push_summary(row: &Row, lines: &mut CanonicalLines) -> Option<Result<()>> {
    Some(lines.push("summary", &read_summary(row)?))
}

/// Returns the summary entity of a row.
pub(in crate::neo4j) fn read_summary(row: &Row) -> Option<Summary> {
    let properties = properties(row)?;
    let (name, sentences) = by_rule(&properties)?;
    let id = column(row, "id", SummaryId::from_bytes)?;
    Some(Summary { id, layer: properties.get("layer").ok()?, name, sentences })
}

pub(super) fn push_aspects(row: &Row, lines: &mut CanonicalLines) -> Option<Result<()>> {
    Some(lines.push("summary_description", &read_aspects(row)?))
}

/// Returns a model's summaries of the summary entity of a row.
pub(in crate::neo4j) fn read_aspects(row: &Row) -> Option<SummaryDescription> {
    let properties = properties(row)?;
    let texts: Vec<String> = listed(&properties, "cairnAspects")?;
    let (aspects, rest) = texts.as_chunks::<3>();
    let cited = cited(&properties)?;
    if !rest.is_empty() || cited.len() != aspects.len() {
        return None;
    }
    let aspects = aspects.iter().zip(cited).map(|([name, kind, description], sentences)| ExportedAspect {
        name: name.clone(),
        kind: Some(kind.clone()).filter(|kind| !kind.is_empty()),
        description: description.clone(),
        sentences,
    });
    Some(SummaryDescription { summary: column(row, "id", SummaryId::from_bytes)?, aspects: aspects.collect() })
}

pub(super) fn push_membership(row: &Row, lines: &mut CanonicalLines) -> Option<Result<()>> {
    Some(lines.push("membership", &read_membership(row)?))
}

/// Returns the member in a row: an entity or a summary entity, told apart by its id.
pub(in crate::neo4j) fn read_membership(row: &Row) -> Option<Membership<EntityId>> {
    let member = column(row, "member", EntityId::from_bytes)?;
    let summary = column(row, "summary", SummaryId::from_bytes)?;
    Some(Membership { member, summary, weight: weight(row)? })
}

pub(super) fn push_report(row: &Row, lines: &mut CanonicalLines) -> Option<Result<()>> {
    Some(lines.push("report", &read_report(row)?))
}

/// Returns a model's report about the community of a row.
pub(in crate::neo4j) fn read_report(row: &Row) -> Option<CommunityReport> {
    let properties = properties(row)?;
    let texts: Vec<String> = listed(&properties, "findings")?;
    let cited = cited(&properties)?;
    if texts.len() != cited.len() {
        return None;
    }
    let findings = texts.into_iter().zip(cited).map(|(text, sentences)| ReportedFinding { text, sentences });
    Some(CommunityReport {
        community: column(row, "id", CommunityId::from_bytes)?,
        title: text(&properties, "name")?,
        summary: text(&properties, "summary")?,
        rating: properties.get::<f64>("rating").ok()? as f32,
        findings: findings.collect(),
    })
}

/// Returns the rules' title of a community or a summary entity, and the sentences that they chose; these are in other
/// properties if a model wrote about it.
fn by_rule(properties: &BoltMap) -> Option<(String, Vec<SentencePlace>)> {
    match text(properties, "cairnTitle") {
        Some(title) => Some((title, rule_findings(properties)?)),
        None => Some((text(properties, "name")?, places(properties)?)),
    }
}

/// Returns the sentences that each finding or aspect cites.
fn cited(properties: &BoltMap) -> Option<Vec<Vec<SentencePlace>>> {
    let cited: Vec<usize> = listed(properties, "cairnCited")?;
    let mut places = places(properties)?;
    if cited.iter().try_fold(0_usize, |sum, it| sum.checked_add(*it))? != places.len() {
        return None;
    }
    let take = |cited| {
        let rest = places.split_off(cited);
        std::mem::replace(&mut places, rest)
    };
    Some(cited.into_iter().map(take).collect())
}

/// Returns the sentences that rules chose for a community or a summary entity about which a model wrote.
fn rule_findings(properties: &BoltMap) -> Option<Vec<SentencePlace>> {
    let places = listed::<String>(properties, "cairnFindings")?;
    let place = |it: &String| {
        let (passage, sentence) = it.split_once(' ')?;
        Some(SentencePlace { passage: id(Some(passage), PassageId::from_bytes)?, sentence: sentence.parse().ok()? })
    };
    places.iter().map(place).collect()
}

fn weight(row: &Row) -> Option<f32> {
    Some(row.get::<f64>("weight").ok()? as f32)
}

/// Returns a list property, empty if absent: empty ones are not written.
fn listed<'a, T: Deserialize<'a>>(properties: &'a BoltMap, name: &str) -> Option<Vec<T>> {
    if properties.value.contains_key(name) { properties.get(name).ok() } else { Some(Vec::new()) }
}

fn number(row: &Row, name: &str) -> Option<u32> {
    row.get::<i64>(name).ok()?.try_into().ok()
}

/// Returns the sentences that are cited; none where passages and numbers are not as many.
fn places(properties: &BoltMap) -> Option<Vec<SentencePlace>> {
    let passages = listed::<String>(properties, "citations")?;
    let numbers = listed::<u32>(properties, "cairnSentences")?;
    if passages.len() != numbers.len() {
        return None;
    }
    let place = |(passage, sentence): (&String, u32)| {
        Some(SentencePlace { passage: id(Some(passage), PassageId::from_bytes)?, sentence })
    };
    passages.iter().zip(numbers).map(place).collect()
}
