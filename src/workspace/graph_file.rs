//! `graph.bin`: the packed graph, mapped.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::sections::{self, Contents, Sections};
use super::stamp::Stamp;
use super::version_files::HeldFile;
use crate::error::{Error, Result};
use crate::graph::packed::{PackedGraph, PassageGraph};

/// Writes `graph.bin`, of a graph whose edges name `outgoing` out-coming questions.
pub(super) fn write(path: &Path, graph: &PackedGraph, outgoing: usize) -> Result<Stamp> {
    graph
        .view()
        .check(outgoing)
        .map_err(|(section, rule)| Error::Internal(format!("the packed graph is wrong: `{section}` {rule}")))?;
    let parts: Vec<_> = graph.sections().into_iter().map(|(name, bytes)| (name, Contents::Bytes(bytes))).collect();
    sections::write(path, &parts)
}

/// The packed graph of a version, mapped and checked.
#[derive(Debug)]
pub(super) struct GraphFile {
    sections: Sections,
    /// Where the arrays lie, in the order in which [`PassageGraph::from_sections`] asks for them.
    ranges: Vec<Range<usize>>,
}

impl GraphFile {
    /// Opens the file, of a graph whose edges name `outgoing` out-coming questions.
    pub(super) fn open(file: &Arc<HeldFile>, outgoing: usize) -> Result<Self> {
        let sections = Sections::of(file)?;
        let ranges = RefCell::new(Vec::new());
        let asked = PassageGraph::from_sections(|name| {
            let range = sections.range(name)?;
            ranges.borrow_mut().push(range.clone());
            Some(sections.at(range))
        });
        let graph = asked.map_err(|name| sections.corrupt(format!("it has no whole section `{name}`")))?;
        graph.check(outgoing).map_err(|(section, rule)| sections.corrupt(format!("`{section}` {rule}")))?;
        Ok(Self { ranges: ranges.into_inner(), sections })
    }

    /// Returns the graph. Names were looked up when it was opened; this only borrows.
    pub(super) fn graph(&self) -> PassageGraph<'_> {
        let next = Cell::new(0);
        let section = |_: &str| Some(self.sections.at(self.ranges.get(next.replace(next.get() + 1))?.clone()));
        PassageGraph::from_sections(section).unwrap_or_default()
    }
}
