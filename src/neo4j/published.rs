//! The published state of a database, kept beside the index: the next publish computes its difference from it, without
//! reading keys back.
//!
//! It is used only while the database names that publish, nobody has held the lease since, and the numbers of nodes and
//! relationships of each kind are unchanged. A check finds manual changes that none of these reveals.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::element::{Key, Properties};
use super::kinds::{COUNTS, Kind};
use super::lease::Lease;
use super::plan::{Due, Held, Plan, Side};
use super::publish::elements_hash;
use super::session::Session;
use super::source::relationship_key;
use super::state::{GRAPH_FORMAT, IndexState};
use super::statement::Statement;
use super::whole_file::{self, section};
use crate::error::{Error, Result};
use crate::workspace::sections::Sections;
use crate::workspace::{NO_SEAL, Seal};

/// How many nodes or relationships a database has, by label or type.
pub(super) type KindCounts = BTreeMap<String, i64>;

/// Of what this is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origin {
    format: i64,
    /// Fingerprint of what the program publishes of any source.
    #[serde(default)]
    elements: String,
    /// Which publish left it.
    publish: String,
    /// The lease that the publish held.
    epoch: i64,
    counts: KindCounts,
}

impl Origin {
    /// Returns the state published by the holder of `lease`, with the database's current counts.
    pub(super) async fn of(session: &Session, publish: &str, lease: &Lease) -> Result<Self> {
        let (publish, epoch) = (publish.to_owned(), lease.epoch);
        Ok(Self { format: GRAPH_FORMAT, elements: elements_hash(), publish, epoch, counts: counts(session).await? })
    }
}

/// Returns a name for a publish that no other has.
pub(super) fn new_publish() -> String {
    // Seeded by the system.
    [0, 1].map(|half| format!("{:016x}", RandomState::new().hash_one(half))).concat()
}

async fn counts(session: &Session) -> Result<KindCounts> {
    let rows = session.rows(&Statement::new("count what is there", COUNTS.as_str())).await?;
    let count = |row: &neo4rs::Row| Some((row.get("name").ok()?, row.get("count").ok()?));
    Ok(rows.iter().filter_map(count).collect())
}

/// The published state of a database, by kind.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Published {
    origin: Origin,
    held: FxHashMap<Kind, Vec<Held>>,
    /// Of each unit, the seal of its document and its size on the wire; empty if they were not kept.
    sealed: Vec<(Seal, u32)>,
}

/// Units as they were published, by the seals of their documents: what has the same seal has the same unit.
pub(super) type KnownUnits = FxHashMap<(Key, Seal), Due>;

impl Published {
    /// Reads the published state that a database names; none if another or none is kept, if a program with fewer kinds
    /// kept it, or if it is damaged.
    pub(super) fn read(path: &Path, state: Option<&IndexState>) -> Option<Self> {
        let publish = state.map(|state| &state.publish).filter(|it| !it.is_empty())?;
        let sections = Sections::read(path).ok()?;
        let origin: Origin = serde_json::from_slice(section(&sections, ORIGIN)?).ok()?;
        if origin.format != GRAPH_FORMAT || origin.publish != *publish || !has_all_kinds(&sections) {
            return None;
        }
        let held = if whole_file::is_whole(&sections) { held(&sections) } else { None };
        if held.is_none() {
            tracing::warn!(path = %path.display(), "the published state is read back, because its file is damaged");
        }
        Some(Self { origin, held: held?, sealed: sealed(&sections).unwrap_or_default() })
    }

    /// Returns the published units of documents with seals; none if this program publishes other elements.
    pub(super) fn units(&self) -> KnownUnits {
        let Self { origin, held, sealed } = self;
        let units = held.get(&Kind::Unit).filter(|_| origin.elements == elements_hash()).into_iter().flatten();
        let known = |(held, (seal, bytes)): (&Held, &(Seal, u32))| {
            ((held.key, *seal), Due { key: held.key, digest: held.digest, bytes: *bytes, ends: None })
        };
        units.zip(sealed).filter(|(_, (seal, _))| *seal != NO_SEAL).map(known).collect()
    }

    /// Returns the documents.
    pub(super) fn documents(&self) -> FxHashSet<Key> {
        self.held.get(&Kind::Document).into_iter().flatten().map(|held| held.key).collect()
    }

    /// Returns the elements in the database by kind, if they are still in the published state, to the publisher with
    /// `lease`.
    pub(super) async fn confirmed(
        self,
        session: &Session,
        state: Option<&IndexState>,
        lease: &Lease,
    ) -> Result<Option<FxHashMap<Kind, Vec<Held>>>> {
        let Origin { publish, epoch, counts, .. } = &self.origin;
        let is_next = state.is_some_and(|it| it.publish == *publish) && epoch + 1 == lease.epoch;
        let is_so = is_next && *counts == self::counts(session).await?;
        Ok(is_so.then_some(self.held))
    }
}

/// The section that identifies the file, and the suffixes of others.
const ORIGIN: &str = "published.origin";
const KEYS: &str = "keys";
const ENDS: &str = "ends";
const SINCE: &str = "since";
const DIGESTS: &str = "digests";
const SEALS: &str = "seals";
const SIZES: &str = "sizes";

/// Keeps the published state: all elements due, with their first versions from `plan`.
///
/// Of each node it keeps the key, of each relationship the numbers of its ends, of both a version and a digest, and of
/// units the `seals` of their documents, by number.
pub(super) fn write(
    path: &Path,
    origin: &Origin,
    (sides, seals): (&FxHashMap<Kind, Side>, &[Option<Seal>]),
    plan: &Plan,
) -> Result<()> {
    let json = serde_json::to_vec(origin).map_err(|error| Error::Internal(error.to_string()))?;
    let nodes = Kind::ALL.into_par_iter().filter(|kind| kind.ends().is_none());
    let numbers: Numbers = nodes.filter_map(|kind| Some((kind, numbers(&sides.get(&kind)?.due)))).collect();
    let parts = |kind: Kind| match (sides.get(&kind), plan.of(kind)) {
        (Some(Side { due, .. }), Some(steps)) => parts(kind, (due, seals), &steps.since, &numbers),
        _ => Ok(Vec::new()),
    };
    let parts: Vec<Vec<(String, Vec<u8>)>> = Kind::ALL.into_par_iter().map(parts).collect::<Result<_>>()?;
    let parts = parts.iter().flatten().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    whole_file::write(path, &[(ORIGIN, json.as_slice())].into_iter().chain(parts).collect::<Vec<_>>())
}

/// The number of each node of a kind, by its key.
type Numbers = FxHashMap<Kind, FxHashMap<Key, u32>>;

fn numbers(due: &[Due]) -> FxHashMap<Key, u32> {
    due.iter().map(|due| due.key).zip(0..).collect()
}

/// Returns the sections of a kind.
fn parts(
    kind: Kind,
    (due, seals): (&[Due], &[Option<Seal>]),
    since: &[i64],
    numbers: &Numbers,
) -> Result<Vec<(String, Vec<u8>)>> {
    let wrong = |what: &str| Error::Internal(format!("what was published has {what}"));
    let mut parts = Vec::new();
    let mut add = |part: &str, bytes: Vec<u8>| parts.push((section_name(kind, part), bytes));
    match kind.ends() {
        None => add(KEYS, due.iter().flat_map(|due| due.key).collect()),
        Some((from, to)) => {
            let number = |kind: Kind, key: Option<&Key>| numbers.get(&kind)?.get(key?).copied();
            let pairs = due.iter().map(|due| {
                let ends = due.ends.as_ref();
                Some([number(from, ends.map(|it| &it.0))?, number(to, ends.map(|it| &it.1))?])
            });
            let pairs: Vec<[u32; 2]> =
                pairs.collect::<Option<_>>().ok_or_else(|| wrong("a relationship without its ends"))?;
            add(ENDS, bytemuck::cast_slice(&pairs).to_vec());
        }
    }
    let since = since.iter().map(|since| u32::try_from(*since).ok());
    let since: Vec<u32> = since.collect::<Option<_>>().ok_or_else(|| wrong("an element of no version"))?;
    add(SINCE, bytemuck::cast_slice(&since).to_vec());
    if has_digests(kind) {
        add(DIGESTS, due.iter().flat_map(|due| due.digest.to_ne_bytes()).collect());
    }
    if kind == Kind::Unit && seals.len() == due.len() {
        add(SEALS, seals.iter().flat_map(|seal| seal.unwrap_or(NO_SEAL)).collect());
        add(SIZES, due.iter().flat_map(|due| due.bytes.to_ne_bytes()).collect());
    }
    Ok(parts)
}

/// Returns the state kept by [`write()`]; none if it is inconsistent.
fn held(sections: &Sections) -> Option<FxHashMap<Kind, Vec<Held>>> {
    let mut all: FxHashMap<Kind, Vec<Held>> = FxHashMap::default();
    for kind in Kind::ALL {
        let part = |part: &str| section(sections, &section_name(kind, part));
        let since: &[u32] = bytemuck::try_cast_slice(part(SINCE)?).ok()?;
        let digests: &[i64] = if has_digests(kind) { bytemuck::try_cast_slice(part(DIGESTS)?).ok()? } else { &[] };
        let nothing = Properties::default().digest();
        if has_digests(kind) && digests.len() != since.len() {
            return None;
        }
        let held = |(number, (key, ends)): (usize, (Key, _))| Held {
            key,
            since: since[number].into(),
            until: None,
            digest: digests.get(number).copied().unwrap_or(nothing),
            ends,
        };
        // Into lists of their final size: they are large.
        let of_kind: Vec<Held> = match kind.ends() {
            None => {
                let keys: &[Key] = bytemuck::try_cast_slice(part(KEYS)?).ok()?;
                keys.iter().map(|key| (*key, None)).enumerate().take(since.len()).map(held).collect()
            }
            Some((from, to)) => {
                let pairs: &[[u32; 2]] = bytemuck::try_cast_slice(part(ENDS)?).ok()?;
                let [from, to] = [all.get(&from)?, all.get(&to)?];
                if pairs.iter().any(|[a, b]| *a as usize >= from.len() || *b as usize >= to.len()) {
                    return None;
                }
                let end = |nodes: &[Held], number: u32| (nodes[number as usize].key, nodes[number as usize].since);
                let read = |[a, b]: &[u32; 2]| {
                    let (a, b) = (end(from, *a), end(to, *b));
                    (relationship_key(&a.0, &b.0), Some([a, b]))
                };
                pairs.par_iter().map(read).enumerate().take(since.len()).map(held).collect()
            }
        };
        if of_kind.len() != since.len() {
            return None;
        }
        all.insert(kind, of_kind);
    }
    Some(all)
}

/// Returns the seals of documents and the sizes of their units.
fn sealed(sections: &Sections) -> Option<Vec<(Seal, u32)>> {
    let part = |part: &str| section(sections, &section_name(Kind::Unit, part));
    let seals: &[Seal] = bytemuck::try_cast_slice(part(SEALS)?).ok()?;
    let sizes: &[u32] = bytemuck::try_cast_slice(part(SIZES)?).ok()?;
    (seals.len() == sizes.len()).then(|| seals.iter().copied().zip(sizes.iter().copied()).collect())
}

/// Returns whether a file has the sections of every kind: one of an earlier program may lack some.
fn has_all_kinds(sections: &Sections) -> bool {
    let has = |kind, part| sections.range(&section_name(kind, part)).is_some();
    Kind::ALL.into_iter().all(|kind| has(kind, SINCE) && (!has_digests(kind) || has(kind, DIGESTS)))
}

fn section_name(kind: Kind, part: &str) -> String {
    format!("{}.{part}", kind.own_name())
}

/// Returns whether elements of a kind differ in more than their keys.
const fn has_digests(kind: Kind) -> bool {
    !kind.properties().is_empty()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::plan::{Change, Leftovers, plan};
    use super::*;

    fn state(publish: &str) -> IndexState {
        IndexState::of_notes(4, publish)
    }

    fn origin(publish: &str) -> Origin {
        let counts = [("Passage".to_owned(), 2)].into_iter().collect();
        Origin { format: GRAPH_FORMAT, elements: elements_hash(), publish: publish.to_owned(), epoch: 7, counts }
    }

    /// Two passages, one of which was there before, and an edge between them.
    fn sides() -> FxHashMap<Kind, Side> {
        let mut sides: FxHashMap<Kind, Side> = Kind::ALL.into_iter().map(|kind| (kind, Side::default())).collect();
        let due = |key: Key, ends| Due { key, digest: i64::from(key[0]), bytes: 1, ends };
        let (a, b) = ([1; 16], [2; 16]);
        let passages = Side {
            due: vec![due(a, None), due(b, None)],
            held: vec![Held { key: a, since: 3, until: None, digest: 1, ends: None }],
        };
        let edge = due(relationship_key(&b, &a), Some((b, a)));
        sides.insert(Kind::Passage, passages);
        sides.insert(Kind::Unit, Side { due: vec![due([3; 16], None), due([4; 16], None)], held: Vec::new() });
        sides.insert(Kind::LeadsTo, Side { due: vec![edge], held: Vec::new() });
        sides
    }

    /// Those of one of the two units.
    fn seals() -> [Option<Seal>; 2] {
        [Some([9; 16]), None]
    }

    fn kept(folder: &Path) -> std::path::PathBuf {
        let (path, sides) = (folder.join("published.bin"), sides());
        let plan = plan(&sides, 4, Change::InPlace, Leftovers::Drop);
        write(&path, &origin("b"), (&sides, &seals()), &plan).unwrap();
        path
    }

    #[test]
    fn what_was_published_comes_back_as_the_database_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = kept(folder.path());
        let published = Published::read(&path, Some(&state("b"))).expect("it is of this publish");
        let sides = sides();
        let [a, b] = [0, 1].map(|it| sides[&Kind::Passage].due[it].key);
        let held = |key, since, digest, ends| Held { key, since, until: None, digest, ends };
        assert_eq!(published.held[&Kind::Passage], [held(a, 3, 1, None), held(b, 5, 2, None)]);
        let edge = sides[&Kind::LeadsTo].due[0];
        assert_eq!(published.held[&Kind::LeadsTo], [held(edge.key, 5, edge.digest, Some([(b, 5), (a, 3)]))]);
        assert!(published.held[&Kind::Document].is_empty() && published.documents().is_empty());
        assert_eq!(published.origin, origin("b"));
        // Another publish, none, and one without a name.
        for state in [Some(state("c")), None, Some(state(""))] {
            assert_eq!(Published::read(&path, state.as_ref()), None);
        }
    }

    #[test]
    fn units_are_known_by_their_seals_as_long_as_they_are_made_in_the_same_way() {
        let folder = tempfile::tempdir().unwrap();
        let path = kept(folder.path());
        let mut published = Published::read(&path, Some(&state("b"))).unwrap();
        let unit = sides()[&Kind::Unit].due[0];
        assert_eq!(published.units(), [((unit.key, [9; 16]), unit)].into_iter().collect());
        published.origin.elements.clear();
        assert!(published.units().is_empty());
    }

    #[test]
    fn a_file_with_a_changed_byte_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = kept(folder.path());
        let (whole, intact) = (fs::read(&path).unwrap(), Published::read(&path, Some(&state("b"))).unwrap());
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0xff;
            fs::write(&path, &changed).unwrap();
            // Only the padding between two sections may change.
            let read = Published::read(&path, Some(&state("b")));
            assert!(read.is_none_or(|it| it == intact), "{at}");
        }
        fs::remove_file(&path).unwrap();
        assert_eq!(Published::read(&path, Some(&state("b"))), None);
    }

    /// Returns the sections of a file, without their checksum.
    fn parts(path: &Path) -> Vec<(String, Vec<u8>)> {
        let sections = Sections::read(path).unwrap();
        let parts = sections.iter().filter(|it| it.0 != "copy.checksum");
        parts.map(|(name, bytes)| (name.to_owned(), bytes.to_vec())).collect()
    }

    fn write_parts(path: &Path, parts: &[(String, Vec<u8>)]) {
        let parts: Vec<_> = parts.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
        whole_file::write(path, &parts).unwrap();
    }

    #[test]
    fn a_file_without_a_kind_is_that_of_an_earlier_program_and_not_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let path = kept(folder.path());
        let has_all = |path: &Path| has_all_kinds(&Sections::read(path).unwrap());
        assert!(has_all(&path));
        let all = parts(&path);
        for lacks in ["Summary.", "IN_COMMUNITY.", "LEADS_TO.digests"] {
            write_parts(&path, &all.iter().filter(|it| !it.0.starts_with(lacks)).cloned().collect::<Vec<_>>());
            assert!(!has_all(&path), "{lacks}");
            assert_eq!(Published::read(&path, Some(&state("b"))), None);
        }
    }

    #[test]
    fn forged_endpoint_numbers_and_lists_of_other_lengths_are_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = kept(folder.path());
        let parts = parts(&path);
        let forge = |name: &str, forge: &dyn Fn(&mut Vec<u8>)| {
            let mut parts = parts.clone();
            forge(&mut parts.iter_mut().find(|it| it.0 == name).expect("a section").1);
            write_parts(&path, &parts);
            Published::read(&path, Some(&state("b")))
        };
        assert!(forge("Passage.keys", &|_| ()).is_some());
        assert_eq!(forge("LEADS_TO.ends", &|bytes| bytes[0] = 2), None);
        assert_eq!(forge("LEADS_TO.ends", &|bytes| bytes.clear()), None);
        assert_eq!(forge("Passage.keys", &|bytes| bytes.truncate(16)), None);
        assert_eq!(forge("Passage.digests", &|bytes| bytes.truncate(8)), None);
        assert_eq!(forge("Passage.since", &|bytes| bytes.truncate(3)), None);
    }

    #[test]
    fn every_publish_has_a_name_of_its_own() {
        let [one, other] = [new_publish(), new_publish()];
        assert!(one != other && one.len() == 32, "{one} {other}");
    }
}
