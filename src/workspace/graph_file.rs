//! `graph.bin`, `matches.bin`, `names.bin`, `resolution.bin`, `hierarchy.bin`, `descriptions.bin` and `segments.bin`:
//! packed arrays, mapped.

use std::cell::Cell;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::sections::{self, Contents, Sections};
use super::stamp::Stamp;
use super::version_files::HeldFile;
use crate::error::{Error, Result};
use crate::graph::descriptions::{Described, Descriptions, PackedDescriptions};
use crate::graph::hierarchy::{Hierarchy, PackedHierarchy};
use crate::graph::matching::{Matches, PackedMatches};
use crate::graph::mentions::{NameStatistics, PackedNameStatistics};
use crate::graph::ordinal::{PassageOrdinal, Rows, SentenceOrdinal};
use crate::graph::packed::{PackedGraph, PassageGraph};
use crate::graph::resolution::{PackedResolution, Resolution};
use crate::graph::segments::{PackedSegments, Segments};

/// An array, and the rule that it breaks.
type Broken = (&'static str, &'static str);

/// Writes `graph.bin`, of a graph whose edges name `outgoing` out-coming questions.
pub(super) fn write(path: &Path, graph: &PassageGraph<'_>, outgoing: usize) -> Result<Stamp> {
    write_arrays(path, &graph.sections(), graph.check(outgoing))
}

/// Writes `matches.bin`, of so many in-coming and out-coming questions.
pub(super) fn write_matches(path: &Path, matches: &PackedMatches, incoming: usize, outgoing: usize) -> Result<Stamp> {
    write_arrays(path, &matches.sections(), matches.view().check(incoming, outgoing))
}

/// Writes `names.bin`, which belongs to a graph.
pub(super) fn write_names(path: &Path, names: &PackedNameStatistics, graph: &PackedGraph) -> Result<Stamp> {
    write_arrays(path, &names.sections(), names.view().check(counts_of_names(&graph.view())))
}

/// Returns how many documents, passages, entities and sentences a graph has.
pub(super) fn counts_of_names(graph: &PassageGraph<'_>) -> [usize; 4] {
    [graph.document_count(), graph.passage_count(), graph.entity_name_ends.len(), graph.sentence_count()]
}

/// Writes `hierarchy.bin`, which belongs to a graph.
pub(super) fn write_hierarchy(path: &Path, hierarchy: &PackedHierarchy, graph: &PackedGraph) -> Result<Stamp> {
    let (entities, sentences) = (graph.entity_name_ends.len(), graph.sentence_passage.len());
    write_arrays(path, &hierarchy.sections(), hierarchy.view().check(entities, sentences))
}

/// Writes `descriptions.bin`, which belongs to a graph and the hierarchy over it.
pub(super) fn write_descriptions(
    path: &Path,
    descriptions: &PackedDescriptions,
    graph: &PackedGraph,
    hierarchy: &PackedHierarchy,
) -> Result<Stamp> {
    let check = descriptions.view().check(Described::of(&graph.view(), &hierarchy.view()));
    write_arrays(path, &descriptions.sections(), check)
}

/// Writes `resolution.bin`, which belongs to a graph.
pub(super) fn write_resolution(path: &Path, resolution: &PackedResolution, graph: &PackedGraph) -> Result<Stamp> {
    let [entities, documents, sentences] = named(&graph.view());
    write_arrays(path, &resolution.sections(), resolution.view().check(entities, documents, sentences))
}

/// Writes `segments.bin`, of a version with so many passages and sentences.
pub(super) fn write_segments(
    path: &Path,
    segments: &PackedSegments,
    (passages, sentences): (usize, usize),
) -> Result<Stamp> {
    write_arrays(path, &segments.sections(), segments.view().check(passages, sentences))
}

/// Returns how many entities, documents and sentences a graph has.
pub(super) fn named(graph: &PassageGraph<'_>) -> [usize; 3] {
    [graph.entity_name_ends.len(), graph.document_count(), graph.sentence_count()]
}

fn write_arrays(path: &Path, arrays: &[(&'static str, &[u8])], check: Result<(), Broken>) -> Result<Stamp> {
    check.map_err(|(section, rule)| Error::Internal(format!("a packed array is wrong: `{section}` {rule}")))?;
    let parts: Vec<_> = arrays.iter().map(|(name, bytes)| (*name, Contents::Bytes(bytes))).collect();
    sections::write(path, &parts)
}

/// Arrays in a file. Their names are looked up when it is opened.
#[derive(Debug)]
struct Arrays {
    sections: Sections,
    /// Their positions, in the order of their names.
    ranges: Vec<Range<usize>>,
}

impl Arrays {
    /// Opens the arrays with these names. Later ones are empty where they are missing.
    fn open(file: &Arc<HeldFile>, names: &[(&str, bool)]) -> Result<Self> {
        let sections = Sections::of(file)?;
        let range = |(name, is_later): &(&str, bool)| {
            sections.range(name).or_else(|| is_later.then_some(0..0)).ok_or_else(|| missing(&sections, name))
        };
        let ranges = names.iter().map(range).collect::<Result<_>>()?;
        Ok(Self { sections, ranges })
    }

    /// Returns the arrays one after the other, whatever name is requested.
    fn in_order<'a>(&'a self) -> impl Fn(&str) -> Option<&'a [u8]> + 'a {
        let next = Cell::new(0);
        move |_| Some(self.sections.at(self.ranges.get(next.replace(next.get() + 1))?.clone()))
    }

    /// Returns the error where arrays are not whole, or break a rule.
    fn check(&self, check: Result<Result<(), Broken>, &'static str>) -> Result<()> {
        let check = check.map_err(|name| missing(&self.sections, name))?;
        check.map_err(|(section, rule)| self.sections.corrupt(format!("`{section}` {rule}")))
    }
}

fn missing(sections: &Sections, name: &str) -> Error {
    sections.corrupt(format!("section `{name}` is missing or incomplete"))
}

/// The packed graph of a version, mapped and checked.
#[derive(Debug)]
pub(super) struct GraphFile {
    arrays: Arrays,
    /// The position of the sentences of passages, which every text of a passage needs.
    passage_sentences: Range<usize>,
}

impl GraphFile {
    /// Opens the file, of a graph whose edges name `outgoing` out-coming questions.
    pub(super) fn open(file: &Arc<HeldFile>, outgoing: usize) -> Result<Self> {
        let arrays = Arrays::open(file, PassageGraph::NAMES)?;
        arrays.check(PassageGraph::from_sections(arrays.in_order()).map(|graph| graph.check(outgoing)))?;
        let name = "passage.sentences";
        let passage_sentences = arrays.sections.range(name).ok_or_else(|| missing(&arrays.sections, name))?;
        Ok(Self { arrays, passage_sentences })
    }

    /// Returns the graph; this only borrows.
    pub(super) fn graph(&self) -> PassageGraph<'_> {
        PassageGraph::from_sections(self.arrays.in_order()).unwrap_or_default()
    }

    /// Returns the sentences of passages, without looking up the rest of the graph.
    pub(super) fn passage_sentences(&self) -> Rows<'_, PassageOrdinal, SentenceOrdinal> {
        Rows::new(self.arrays.sections.items(self.passage_sentences.clone()))
    }
}

/// The matching of a version, mapped and checked.
#[derive(Debug)]
pub(super) struct MatchesFile(Arrays);

impl MatchesFile {
    /// Opens the file, which belongs to so many in-coming and out-coming questions.
    pub(super) fn open(file: &Arc<HeldFile>, incoming: usize, outgoing: usize) -> Result<Self> {
        let arrays = Arrays::open(file, Matches::NAMES)?;
        arrays.check(Matches::from_sections(arrays.in_order()).map(|matches| matches.check(incoming, outgoing)))?;
        Ok(Self(arrays))
    }

    /// Returns the matches; this only borrows.
    pub(super) fn matches(&self) -> Matches<'_> {
        Matches::from_sections(self.0.in_order()).unwrap_or_default()
    }
}

/// What the names of a version were found by, mapped and checked.
#[derive(Debug)]
pub(super) struct NamesFile(Arrays);

impl NamesFile {
    /// Opens the file, which belongs to a graph of so many documents, passages, entities and sentences.
    pub(super) fn open(file: &Arc<HeldFile>, counts: [usize; 4]) -> Result<Self> {
        let arrays = Arrays::open(file, NameStatistics::NAMES)?;
        arrays.check(NameStatistics::from_sections(arrays.in_order()).map(|names| names.check(counts)))?;
        Ok(Self(arrays))
    }

    /// Returns the statistics; this only borrows.
    pub(super) fn names(&self) -> NameStatistics<'_> {
        NameStatistics::from_sections(self.0.in_order()).unwrap_or_default()
    }
}

/// The segments of a version's lexical fields, mapped and checked.
#[derive(Debug)]
pub(super) struct SegmentsFile(Arrays);

impl SegmentsFile {
    /// Opens the file, which belongs to so many passages and sentences.
    pub(super) fn open(file: &Arc<HeldFile>, passages: usize, sentences: usize) -> Result<Self> {
        let arrays = Arrays::open(file, Segments::NAMES)?;
        arrays.check(Segments::from_sections(arrays.in_order()).map(|it| it.check(passages, sentences)))?;
        Ok(Self(arrays))
    }

    /// Returns the segments; this only borrows.
    pub(super) fn segments(&self) -> Segments<'_> {
        Segments::from_sections(self.0.in_order()).unwrap_or_default()
    }
}

/// The hierarchy of a version, mapped and checked.
#[derive(Debug)]
pub(super) struct HierarchyFile(Arrays);

impl HierarchyFile {
    /// Opens the file, which belongs to a graph of so many `entities` and `sentences`.
    pub(super) fn open(file: &Arc<HeldFile>, entities: usize, sentences: usize) -> Result<Self> {
        let arrays = Arrays::open(file, Hierarchy::NAMES)?;
        let check = |hierarchy: Hierarchy<'_>| hierarchy.check(entities, sentences);
        arrays.check(Hierarchy::from_sections(arrays.in_order()).map(check))?;
        Ok(Self(arrays))
    }

    /// Returns the hierarchy; this only borrows.
    pub(super) fn hierarchy(&self) -> Hierarchy<'_> {
        Hierarchy::from_sections(self.0.in_order()).unwrap_or_default()
    }
}

/// A model's descriptions of the entities and relations of a version, mapped and checked.
#[derive(Debug)]
pub(super) struct DescriptionsFile(Arrays);

impl DescriptionsFile {
    /// Opens the file, which describes so much.
    pub(super) fn open(file: &Arc<HeldFile>, described: Described) -> Result<Self> {
        let arrays = Arrays::open(file, Descriptions::NAMES)?;
        arrays.check(Descriptions::from_sections(arrays.in_order()).map(|it| it.check(described)))?;
        Ok(Self(arrays))
    }

    /// Returns the descriptions; this only borrows.
    pub(super) fn descriptions(&self) -> Descriptions<'_> {
        Descriptions::from_sections(self.0.in_order()).unwrap_or_default()
    }
}

/// The entities of the names of a version, mapped and checked.
#[derive(Debug)]
pub(super) struct ResolutionFile(Arrays);

impl ResolutionFile {
    /// Opens the file, which belongs to a graph of so many `entities`, `documents` and `sentences`.
    pub(super) fn open(file: &Arc<HeldFile>, [entities, documents, sentences]: [usize; 3]) -> Result<Self> {
        let arrays = Arrays::open(file, Resolution::NAMES)?;
        let check = |resolution: Resolution<'_>| resolution.check(entities, documents, sentences);
        arrays.check(Resolution::from_sections(arrays.in_order()).map(check))?;
        Ok(Self(arrays))
    }

    /// Returns the resolution; this only borrows.
    pub(super) fn resolution(&self) -> Resolution<'_> {
        Resolution::from_sections(self.0.in_order()).unwrap_or_default()
    }
}
