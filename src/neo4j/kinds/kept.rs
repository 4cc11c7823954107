//! Records of a workspace other than documents, for a clone: a model's reports, the types of entities that it proposed,
//! merges and splits of names by hand, and removals.

use super::super::element::{Element, Key, Properties, Type};
use super::documents::json;
use super::{Declaration, HIDDEN};
use crate::domain::{DocumentId, EdgeId, NamePair, RemovedDocument};
use crate::error::Result;
use crate::workspace::{NAME_PAIRS_MAX, ProposedTypes, Records, StoredReport};

/// The kept records, by the name of their node.
const REPORT: &str = "report";
const TYPES: &str = "entity types";
const PAIR: &str = "pair of names";
const REMOVED: &str = "removed document";

/// A record that belongs to no document, as it is published.
pub(in crate::neo4j) struct KeptRecord {
    pub(in crate::neo4j) key: Key,
    name: &'static str,
    pub(in crate::neo4j) json: String,
}

pub(super) const KEPT: Declaration = Declaration {
    labels: &[HIDDEN, "Kept"],
    ends: None,
    properties: properties! { name: Text, json: Text },
    count: |source| source.kept.len(),
    element: |source, number| {
        let KeptRecord { key, name, json } = &source.kept[number as usize];
        let mut properties = Properties::default();
        properties.put_text("name", *name);
        properties.put_text("json", json.as_str());
        Ok(Element { key: *key, ends: None, properties })
    },
};

/// Returns the records of a workspace that belong to no document.
pub(in crate::neo4j) fn kept_records(records: &Records) -> Result<Vec<KeptRecord>> {
    let key = |parts: &[&[u8]]| *EdgeId::of(parts).as_bytes();
    let mut kept = Vec::new();
    for report in records.reports()? {
        let key = key(&[REPORT.as_bytes(), report.about.as_bytes()]);
        kept.push(KeptRecord { key, name: REPORT, json: json(&report)? });
    }
    if let Some(types) = records.proposed_types()? {
        kept.push(KeptRecord { key: key(&[TYPES.as_bytes()]), name: TYPES, json: json(&types)? });
    }
    for pair in records.name_pairs()? {
        let key = key(&[PAIR.as_bytes(), pair.one.as_bytes(), pair.other.as_bytes()]);
        kept.push(KeptRecord { key, name: PAIR, json: json(&pair)? });
    }
    for document in records.removed()? {
        let key = key(&[REMOVED.as_bytes(), document.id.as_bytes()]);
        kept.push(KeptRecord { key, name: REMOVED, json: json(&document)? });
    }
    Ok(kept)
}

/// Records that belong to no document, as they are read back.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    pub(crate) reports: Vec<StoredReport>,
    pub(crate) types: Option<ProposedTypes>,
    pub(crate) pairs: Vec<NamePair>,
    pub(crate) removed: Vec<RemovedDocument>,
}

impl Kept {
    /// Adds the contents of a node; none if Cairn keeps no such records.
    pub(in crate::neo4j) fn add(&mut self, name: &str, json: &str) -> Option<()> {
        match name {
            REPORT => {
                let report: StoredReport = serde_json::from_str(json).ok()?;
                self.reports.push(Some(report).filter(|it| it.report.is_within_limits())?);
            }
            TYPES => self.types = Some(serde_json::from_str(json).ok()?),
            PAIR => {
                let pair: NamePair = serde_json::from_str(json).ok()?;
                self.pairs.push(Some(pair).filter(|it| it.one < it.other && self.pairs.len() < NAME_PAIRS_MAX)?);
            }
            REMOVED => {
                let document: RemovedDocument = serde_json::from_str(json).ok()?;
                // It is taken back by that id.
                let is_its_own = document.id == DocumentId::of(&[document.source_id.as_bytes()]);
                self.removed.push(Some(document).filter(|_| is_its_own)?);
            }
            _ => return None,
        }
        Some(())
    }
}
