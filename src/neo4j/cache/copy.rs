//! Copies of a structure and of its levels in a folder of the user's, from which a version is opened without reading it
//! again.
//!
//! One file of each per database, replaced when another version was read. Nothing in it is trusted: if it is missing,
//! damaged or of another version, the structure is read from the database.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::super::element::Key;
use super::super::state::{GRAPH_FORMAT, IndexState};
use super::super::target::Target;
use super::super::whole_file::{self, section};
use super::levels::Levels;
use super::load::{Lexicon, Structure, Texts};
use crate::error::{Error, Result};
use crate::files;
use crate::graph::descriptions::{Descriptions, PackedDescriptions};
use crate::graph::hierarchy::Hierarchy;
use crate::graph::ordinal::{Ordinal as _, PassageOrdinal};
use crate::graph::packed::{PassageGraph, back_to_back, text_at};
use crate::graph::resolution::Resolution;
use crate::store::Networks;
use crate::workspace::sections::Sections;

/// The name of the file: a digest of the database's address.
const NAME_DIGITS: usize = 16;
const EXTENSION: &str = "structure";
const LEVELS_EXTENSION: &str = "levels";
/// Bytes of a passage's key and first version.
const PASSAGE_BYTES: usize = size_of::<Key>() + size_of::<i64>();

/// The subject of a copy.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Origin {
    format: i64,
    version: i64,
    source: String,
}

impl Origin {
    fn of(state: &IndexState) -> Self {
        Self { format: GRAPH_FORMAT, version: state.version, source: state.source.clone() }
    }
}

/// Where copies of the structure of one database are kept.
#[derive(Debug, Clone)]
pub(super) struct Copies {
    path: PathBuf,
}

impl Copies {
    /// Returns the place for a database in `folder`, which is created if missing.
    pub(super) fn of(target: &Target, folder: &Path) -> Result<Self> {
        files::make_folder(folder)?;
        let place = format!("{}\n{}", target.shown(), target.database.as_deref().unwrap_or_default());
        let name = &blake3::hash(place.as_bytes()).to_hex()[..NAME_DIGITS];
        Ok(Self { path: folder.join(name).with_extension(EXTENSION) })
    }

    /// Returns the structure and lexicon of the version of `state`; none without a complete copy.
    pub(super) fn read(&self, state: &IndexState) -> Option<(Structure, Lexicon)> {
        let sections = Sections::read(&self.path).ok()?;
        let origin: Origin = serde_json::from_slice(section(&sections, "copy.origin")?).ok()?;
        if origin != Origin::of(state) {
            return None;
        }
        let read = self::read(&sections);
        if read.is_none() {
            tracing::warn!(path = %self.path.display(), "the copy of the structure is damaged and will be rebuilt");
        }
        read
    }

    /// Keeps a copy.
    pub(super) fn write(&self, state: &IndexState, structure: &Structure, lexicon: &Lexicon) -> Result<()> {
        in_place(&self.path, |path| self::write_file(path, state, structure, lexicon))
    }

    /// Returns the levels over the structure of the version of `state`; none without a complete copy.
    pub(super) fn read_levels(&self, state: &IndexState, structure: &Structure) -> Option<Levels> {
        let path = self.path.with_extension(LEVELS_EXTENSION);
        let sections = Sections::read(&path).ok()?;
        let origin: Origin = serde_json::from_slice(section(&sections, "copy.origin")?).ok()?;
        if origin != Origin::of(state) {
            return None;
        }
        let read = levels(&sections).filter(|levels| levels.check(structure).is_ok());
        if read.is_none() {
            tracing::warn!(path = %path.display(), "the copy of the hierarchy is damaged and will be rebuilt");
        }
        read
    }

    /// Keeps a copy of levels.
    pub(super) fn write_levels(&self, state: &IndexState, levels: &Levels) -> Result<()> {
        in_place(&self.path.with_extension(LEVELS_EXTENSION), |path| write_levels(path, state, levels))
    }
}

/// Writes a file under another name, then moves it into place: several programs may keep copies in one folder.
fn in_place(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let kind = path.extension().unwrap_or_default().to_string_lossy();
    let own = path.with_extension(format!("{kind}.{}.new", std::process::id()));
    write(&own)?;
    files::rename_own(&own, path)
}

/// Arrays of each part of levels are distinguished by the prefix of their names.
const LEVEL_PARTS: [&str; 3] = ["h.", "r.", "d."];

fn write_levels(path: &Path, state: &IndexState, levels: &Levels) -> Result<()> {
    let origin = serde_json::to_vec(&Origin::of(state)).map_err(|error| Error::Internal(error.to_string()))?;
    let descriptions = levels.descriptions.as_ref().map(PackedDescriptions::sections).unwrap_or_default();
    let of_parts = [levels.hierarchy.sections(), levels.resolution.sections(), descriptions];
    let named = LEVEL_PARTS.into_iter().zip(of_parts);
    let named = named.flat_map(|(part, arrays)| {
        arrays.into_iter().map(move |(name, bytes)| (format!("{part}{name}"), bytes)).collect::<Vec<_>>()
    });
    let mut parts: Vec<(String, &[u8])> = named.collect();
    parts.push(("copy.origin".to_owned(), &origin));
    whole_file::write(path, &parts.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect::<Vec<_>>())
}

fn levels(sections: &Sections) -> Option<Levels> {
    if !whole_file::is_whole(sections) {
        return None;
    }
    let [hierarchy, resolution, descriptions] =
        LEVEL_PARTS.map(|part| move |name: &str| section(sections, &format!("{part}{name}")));
    Some(Levels {
        hierarchy: Hierarchy::from_sections(hierarchy).ok()?.to_packed(),
        resolution: Resolution::from_sections(resolution).ok()?.to_packed(),
        descriptions: Descriptions::from_sections(descriptions).ok().map(|it| it.to_packed()),
        networks: Networks::default(),
    })
}

fn write_file(path: &Path, state: &IndexState, structure: &Structure, lexicon: &Lexicon) -> Result<()> {
    let internal = |error: serde_json::Error| Error::Internal(error.to_string());
    let origin = serde_json::to_vec(&Origin::of(state)).map_err(internal)?;
    let documents = serde_json::to_vec(&structure.documents).map_err(internal)?;
    let passages: Vec<u8> =
        structure.passages.iter().flat_map(|(key, since)| key.iter().copied().chain(since.to_le_bytes())).collect();
    let mut terms: Vec<(&String, &(u32, u32))> = lexicon.terms.iter().collect();
    terms.sort_unstable();
    let counts: Vec<u32> = terms.iter().flat_map(|(_, counts)| [counts.0, counts.1]).collect();
    let (term_ends, term_bytes) = back_to_back(&terms.iter().map(|it| it.0).collect::<Vec<_>>());
    let mut parts = structure.graph.sections();
    parts.extend([
        ("copy.origin", origin.as_slice()),
        ("copy.documents", &documents),
        ("copy.passages", &passages),
        ("copy.incoming-ids", structure.incoming.ids.as_flattened()),
        ("copy.incoming-ends", bytemuck::cast_slice(&structure.incoming.ends)),
        ("copy.incoming", &structure.incoming.bytes),
        ("copy.outgoing-ids", structure.outgoing.ids.as_flattened()),
        ("copy.outgoing-ends", bytemuck::cast_slice(&structure.outgoing.ends)),
        ("copy.outgoing", &structure.outgoing.bytes),
        ("copy.outgoing-passages", bytemuck::cast_slice(&structure.outgoing_passages)),
        ("copy.term-ends", bytemuck::cast_slice(&term_ends)),
        ("copy.terms", &term_bytes),
        ("copy.term-counts", bytemuck::cast_slice(&counts)),
    ]);
    whole_file::write(path, &parts)
}

fn read(sections: &Sections) -> Option<(Structure, Lexicon)> {
    let graph = PassageGraph::from_sections(|name| section(sections, name)).ok()?;
    if !whole_file::is_whole(sections) {
        return None;
    }
    let numbers = |name| Some(bytemuck::try_cast_slice::<u8, u32>(section(sections, name)?).ok()?.to_vec());
    let keys = |name| Some(section(sections, name)?.as_chunks().0.to_vec());
    let texts = |ids, ends, bytes| {
        Some(Texts { ids: keys(ids)?, ends: numbers(ends)?, bytes: section(sections, bytes)?.to_vec() })
    };
    let incoming = texts("copy.incoming-ids", "copy.incoming-ends", "copy.incoming")?;
    let outgoing = texts("copy.outgoing-ids", "copy.outgoing-ends", "copy.outgoing")?;
    graph.check(outgoing.ends.len()).ok()?;
    let passage = |bytes: &[u8]| {
        let (key, since) = bytes.split_at(size_of::<Key>());
        Some((key.try_into().ok()?, i64::from_le_bytes(since.try_into().ok()?)))
    };
    let passages = section(sections, "copy.passages")?.chunks_exact(PASSAGE_BYTES).map(passage);
    let passages = passages.collect::<Option<Vec<(Key, i64)>>>()?;
    let ordinals = PassageOrdinal::first(passages.len());
    let numbered: FxHashMap<Key, PassageOrdinal> = passages.iter().map(|it| it.0).zip(ordinals).collect();
    let structure = Structure {
        graph: graph.to_packed(),
        documents: serde_json::from_slice(section(sections, "copy.documents")?).ok()?,
        passages,
        numbers: numbered,
        incoming,
        outgoing,
        outgoing_passages: numbers("copy.outgoing-passages")?.into_iter().map(PassageOrdinal).collect(),
    };
    let (ends, bytes) = (numbers("copy.term-ends")?, section(sections, "copy.terms")?);
    let counts = numbers("copy.term-counts")?;
    let term = |(counts, term): (&[u32], u32)| (text_at(&ends, bytes, term).to_owned(), (counts[0], counts[1]));
    let terms = counts.chunks_exact(2).zip(0..).map(term).collect();
    Some((structure, Lexicon { terms, ..Lexicon::default() }))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::graph::hierarchy::PackedHierarchy;

    fn state(version: i64) -> IndexState {
        IndexState::of_notes(version, "")
    }

    #[test]
    fn a_copy_of_another_version_or_with_a_changed_byte_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let copies = Copies::of(&Target::parse("bolt://host").unwrap(), folder.path()).unwrap();
        assert!(copies.read(&state(1)).is_none());
        let graph = crate::graph::elements::Elements::default().pack();
        let structure = Structure { graph, ..Structure::default() };
        let lexicon = Lexicon { terms: [("mill".to_owned(), (3, 5))].into_iter().collect(), ..Lexicon::default() };
        copies.write(&state(1), &structure, &lexicon).unwrap();
        let (read, words) = copies.read(&state(1)).expect("a copy");
        assert!(read.graph == structure.graph && words.terms == lexicon.terms);
        assert!(copies.read(&state(2)).is_none());
        let whole = fs::read(&copies.path).unwrap();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0xff;
            fs::write(&copies.path, &changed).unwrap();
            // Only the padding between two sections may change.
            let read = copies.read(&state(1));
            assert!(
                read.is_none_or(|(read, words)| read.graph == structure.graph && words.terms == lexicon.terms),
                "{at}"
            );
        }
    }

    #[test]
    fn a_copy_of_levels_is_whole_and_of_its_version_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let copies = Copies::of(&Target::parse("bolt://host").unwrap(), folder.path()).unwrap();
        let structure = Structure { graph: crate::graph::elements::Elements::default().pack(), ..Structure::default() };
        assert!(copies.read_levels(&state(1), &structure).is_none());
        let (graph, hierarchy) = (structure.graph.view(), PackedHierarchy::without_relations(0));
        let descriptions = PackedDescriptions::by_rule(&graph, &hierarchy.view());
        for descriptions in [None, Some(descriptions)] {
            let levels =
                Levels { hierarchy: hierarchy.clone(), descriptions: descriptions.clone(), ..Levels::default() };
            copies.write_levels(&state(1), &levels).unwrap();
            let read = copies.read_levels(&state(1), &structure).expect("a copy");
            assert!(read.hierarchy == hierarchy && read.descriptions == descriptions);
            assert!(copies.read_levels(&state(2), &structure).is_none());
        }
        let path = copies.path.with_extension(LEVELS_EXTENSION);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0xff;
            fs::write(&path, &changed).unwrap();
            // Only the padding between two sections may change.
            let read = copies.read_levels(&state(1), &structure);
            assert!(read.is_none_or(|it| it.hierarchy == hierarchy), "{at}");
        }
    }
}
