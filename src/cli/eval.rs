//! `cairn eval`.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use super::args::EvalRetrievalArgs;
use super::{Done, Failure, Surroundings, open};
use crate::error::Error;
use crate::eval::{RunLine, read_questions, retrieval as measure};
use crate::query::{Preset, SearchOptions};

/// Runs `cairn eval retrieval`.
pub(super) async fn retrieval(args: EvalRetrievalArgs, surroundings: &Surroundings) -> Done {
    let mut options = SearchOptions {
        strategy: args.strategy.parse()?,
        preset: if args.paper { Preset::Paper } else { Preset::Measured },
        n_hop: args.n_hop,
        ..SearchOptions::default()
    };
    options.check()?;
    let questions = read_questions(&args.questions)?;
    let engine = open(&surroundings.index(args.place.index), &args.models, &args.rerank, surroundings, &mut options)?;
    let (lines, report) = measure(&engine, &questions, &options).await?;
    if let Some(path) = &args.output {
        write_lines(path, &lines)?;
    }
    if args.place.json {
        return surroundings.print_json(&report);
    }
    write!(std::io::stdout(), "{}", surroundings.screen.shown(&report.table()))?;
    Ok(())
}

fn write_lines(path: &Path, lines: &[RunLine]) -> Result<(), Failure> {
    let write = || {
        let mut out = BufWriter::new(File::create(path)?);
        for line in lines {
            serde_json::to_writer(&mut out, line)?;
            out.write_all(b"\n")?;
        }
        out.flush()
    };
    write().map_err(Error::io("write", path))?;
    Ok(())
}
