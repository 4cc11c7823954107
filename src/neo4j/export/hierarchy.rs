//! What an export says of the hierarchy over entities, out of the database.

use neo4rs::{BoltMap, Row};

use super::{CanonicalLines, column, id, properties, text};
use crate::domain::{CommunityId, EntityId, PassageId, SummaryId};
use crate::error::Result;
use crate::workspace::{
    Community, CommunityReport, ExportedAspect, Member, Membership, Relation, ReportedFinding, SentencePlace, Summary,
    SummaryDescription,
};

pub(super) fn push_relation(row: &Row, lines: &mut CanonicalLines) -> Option<Result<()>> {
    let passage = row.get::<Option<&str>>("passage").ok()?;
    let evidence = match passage {
        Some(passage) => Some(SentencePlace {
            passage: id(Some(passage), PassageId::from_bytes)?,
            sentence: number(row, "sentence")?,
        }),
        None => None,
    };
    let (from, to) = (column(row, "from", EntityId::from_bytes)?, column(row, "to", EntityId::from_bytes)?);
    Some(lines.push("relation", &Relation { from, to, weight: weight(row)?, evidence }))
}

pub(super) fn push_community(row: &Row, lines: &mut CanonicalLines) -> Option<Result<()>> {
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
    let community = Community {
        id: column(row, "id", CommunityId::from_bytes)?,
        level,
        parent,
        title,
        entities: properties.get("entities").ok()?,
        passages: properties.get("passages").ok()?,
        findings,
    };
    Some(lines.push("community", &community))
}

pub(super) fn push_member(row: &Row, lines: &mut CanonicalLines) -> Option<Result<()>> {
    let entity = column(row, "entity", EntityId::from_bytes)?;
    Some(lines.push("member", &Member { entity, community: column(row, "community", CommunityId::from_bytes)? }))
}

pub(super) fn push_summary(row: &Row, lines: &mut CanonicalLines) -> Option<Result<()>> {
    let properties = properties(row)?;
    let (name, sentences) = by_rule(&properties)?;
    let id = column(row, "id", SummaryId::from_bytes)?;
    Some(lines.push("summary", &Summary { id, layer: properties.get("layer").ok()?, name, sentences }))
}

/// Adds what a model says that a summary entity stands for.
pub(super) fn push_aspects(row: &Row, lines: &mut CanonicalLines) -> Option<Result<()>> {
    let properties = properties(row)?;
    let texts: Vec<String> = properties.get("cairnAspects").ok()?;
    let (aspects, rest) = texts.as_chunks::<3>();
    let cited = cited(&properties)?;
    if !rest.is_empty() || cited.len() != aspects.len() {
        return None;
    }
    let aspects = aspects.iter().zip(cited).map(|([name, kind, description], sentences)| ExportedAspect {
        name,
        kind: Some(kind.as_str()).filter(|kind| !kind.is_empty()),
        description,
        sentences,
    });
    let summary = column(row, "id", SummaryId::from_bytes)?;
    Some(lines.push("summary_description", &SummaryDescription { summary, aspects: aspects.collect() }))
}

pub(super) fn push_membership(row: &Row, lines: &mut CanonicalLines) -> Option<Result<()>> {
    // An entity or a summary entity: an id says of itself the same.
    let member = column(row, "member", EntityId::from_bytes)?;
    let summary = column(row, "summary", SummaryId::from_bytes)?;
    Some(lines.push("membership", &Membership { member, summary, weight: weight(row)? }))
}

pub(super) fn push_report(row: &Row, lines: &mut CanonicalLines) -> Option<Result<()>> {
    let properties = properties(row)?;
    let (title, summary) = (text(&properties, "name")?, text(&properties, "summary")?);
    let texts: Vec<String> = properties.get("findings").ok()?;
    let cited = cited(&properties)?;
    if texts.len() != cited.len() {
        return None;
    }
    let findings = texts.iter().zip(cited).map(|(text, sentences)| ReportedFinding { text, sentences });
    let report = CommunityReport {
        community: column(row, "id", CommunityId::from_bytes)?,
        title: &title,
        summary: &summary,
        rating: properties.get::<f64>("rating").ok()? as f32,
        findings: findings.collect(),
    };
    Some(lines.push("report", &report))
}

/// Returns what rules call a community or a summary entity, and the sentences that they chose; these stand elsewhere if
/// a model wrote about it.
fn by_rule(properties: &BoltMap) -> Option<(String, Vec<SentencePlace>)> {
    match text(properties, "cairnTitle") {
        Some(title) => Some((title, rule_findings(properties)?)),
        None => Some((text(properties, "name")?, places(properties)?)),
    }
}

/// Returns the sentences that each finding or aspect cites.
fn cited(properties: &BoltMap) -> Option<Vec<Vec<SentencePlace>>> {
    let cited: Vec<usize> = properties.get("cairnCited").ok()?;
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
    let places = properties.get::<Option<Vec<String>>>("cairnFindings").ok()?.unwrap_or_default();
    let place = |it: &String| {
        let (passage, sentence) = it.split_once(' ')?;
        Some(SentencePlace { passage: id(Some(passage), PassageId::from_bytes)?, sentence: sentence.parse().ok()? })
    };
    places.iter().map(place).collect()
}

fn weight(row: &Row) -> Option<f32> {
    Some(row.get::<f64>("weight").ok()? as f32)
}

fn number(row: &Row, name: &str) -> Option<u32> {
    row.get::<i64>(name).ok()?.try_into().ok()
}

/// Returns the sentences that are cited; none where passages and numbers are not as many.
fn places(properties: &BoltMap) -> Option<Vec<SentencePlace>> {
    let passages = properties.get::<Option<Vec<String>>>("citations").ok()?.unwrap_or_default();
    let numbers = properties.get::<Option<Vec<u32>>>("cairnSentences").ok()?.unwrap_or_default();
    if passages.len() != numbers.len() {
        return None;
    }
    let place = |(passage, sentence): (&String, u32)| {
        Some(SentencePlace { passage: id(Some(passage), PassageId::from_bytes)?, sentence })
    };
    passages.iter().zip(numbers).map(place).collect()
}
