//! What an export says of the hierarchy over entities, out of the database.

use neo4rs::{BoltMap, Row};

use super::{CanonicalLines, column, id, properties, text};
use crate::domain::{CommunityId, EntityId, PassageId, SummaryId};
use crate::error::Result;
use crate::workspace::{
    Community, CommunityReport, Member, Membership, Relation, ReportedFinding, SentencePlace, Summary,
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
    // What rules say of it stands elsewhere if a model wrote a report.
    let (title, findings) = match text(&properties, "cairnTitle") {
        Some(title) => (title, rule_findings(&properties)?),
        None => (text(&properties, "name")?, places(&properties)?),
    };
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
    let summary = Summary {
        id: column(row, "id", SummaryId::from_bytes)?,
        layer: properties.get("layer").ok()?,
        name: text(&properties, "name")?,
        sentences: places(&properties)?,
    };
    Some(lines.push("summary", &summary))
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
    let (texts, cited): (Vec<String>, Vec<usize>) =
        (properties.get("findings").ok()?, properties.get("cairnCited").ok()?);
    let mut places = places(&properties)?;
    if texts.len() != cited.len() || cited.iter().try_fold(0_usize, |sum, it| sum.checked_add(*it))? != places.len() {
        return None;
    }
    let findings = texts.iter().zip(cited).map(|(text, cited)| {
        let rest = places.split_off(cited);
        ReportedFinding { text, sentences: std::mem::replace(&mut places, rest) }
    });
    let report = CommunityReport {
        community: column(row, "id", CommunityId::from_bytes)?,
        title: &title,
        summary: &summary,
        rating: properties.get::<f64>("rating").ok()? as f32,
        findings: findings.collect(),
    };
    Some(lines.push("report", &report))
}

/// Returns the sentences that rules chose for a community about which a model wrote a report.
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
