//! `cairn export`.

use std::io::{self, BufWriter, Write as _};

use super::args::ExportArgs;
use super::{Done, Surroundings};
use crate::workspace::Workspace;

/// Runs `cairn export`.
pub(super) fn run(args: &ExportArgs, surroundings: &Surroundings) -> Done {
    let workspace = Workspace::open(surroundings.index(args.index.clone()))?;
    let lines = workspace.snapshot()?.canonical_lines()?;
    let mut out = BufWriter::new(io::stdout().lock());
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(out.flush()?)
}
