//! `cairn cache`: the replies of language models that an index keeps.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

use super::args::PlaceArgs;
use super::{Done, Surroundings};
use crate::domain::Usage;
use crate::error::{Error, Result};
use crate::files::{self, Readers};
use crate::llm::ChatReply;
use crate::text::counted;
use crate::workspace::{Replies, Workspace};

/// `cairn cache`.
#[derive(Debug, Subcommand)]
pub(super) enum CacheCommand {
    /// Show how many replies are kept, and what they cost.
    Stats(PlaceArgs),
    /// Write the replies to a new file, one JSON object per line, without the prompts.
    Export(CacheFileArgs),
    /// Add the replies of a file to those already kept.
    Import(CacheFileArgs),
    /// Delete all replies; the model will be asked, and paid for, again.
    Clear(CacheIndexArgs),
}

/// Which index.
#[derive(Debug, Args)]
pub(super) struct CacheIndexArgs {
    /// Folder of the index [default: `CAIRN_INDEX`, or `.cairn`].
    #[arg(long, value_name = "DIR")]
    index: Option<PathBuf>,
}

/// Which file, and which index.
#[derive(Debug, Args)]
pub(super) struct CacheFileArgs {
    /// The file.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Which index.
    #[command(flatten)]
    place: CacheIndexArgs,
}

impl CacheCommand {
    /// Returns whether JSON was asked for.
    pub(super) fn json(&self) -> bool {
        matches!(self, Self::Stats(args) if args.json)
    }
}

/// A reply in a file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// What it is found by, in hexadecimal digits.
    key: String,
    reply: ChatReply,
}

/// What is kept of one model.
#[derive(Debug, Default, Serialize)]
struct OfModel {
    model: String,
    replies: u64,
    input_tokens: u64,
    output_tokens: u64,
}

/// Runs `cairn cache`.
pub(super) fn run(command: &CacheCommand, surroundings: &Surroundings) -> Done {
    match command {
        CacheCommand::Stats(args) => stats(args, surroundings),
        CacheCommand::Export(args) => export(args, surroundings),
        CacheCommand::Import(args) => import(args, surroundings),
        CacheCommand::Clear(args) => clear(args, surroundings),
    }
}

fn workspace(asked: Option<&PathBuf>, surroundings: &Surroundings) -> Result<Workspace> {
    surroundings.workspace(surroundings.index(asked.cloned()))
}

fn stats(args: &PlaceArgs, surroundings: &Surroundings) -> Done {
    let workspace = workspace(args.index.as_ref(), surroundings)?;
    let mut models: BTreeMap<String, OfModel> = BTreeMap::new();
    let replies = workspace.kept_replies()?;
    if let Some(replies) = &replies {
        each(replies, &mut |line| {
            let model = models.entry(line.reply.model.clone()).or_default();
            let Usage { input_tokens, output_tokens, .. } = line.reply.usage;
            model.model = line.reply.model;
            model.replies += 1;
            model.input_tokens += input_tokens;
            model.output_tokens += output_tokens;
            Ok(())
        })?;
    }
    let bytes = replies.map_or(0, |replies| replies.bytes());
    let models: Vec<OfModel> = models.into_values().collect();
    let count: u64 = models.iter().map(|model| model.replies).sum();
    if args.json {
        let index = workspace.path().display().to_string();
        let value = serde_json::json!({ "index": index, "replies": count, "bytes": bytes, "models": models });
        return surroundings.print_json(&value);
    }
    let screen = &surroundings.screen;
    screen.line(format!("{}, {:.1} MB", counted(count, "reply"), bytes as f64 / 1e6))?;
    for OfModel { model, replies, input_tokens, output_tokens } in models {
        let replies = counted(replies, "reply");
        screen.line(format!("{model}: {replies}, {input_tokens} tokens read, {output_tokens} written"))?;
    }
    Ok(())
}

fn export(args: &CacheFileArgs, surroundings: &Surroundings) -> Done {
    let workspace = workspace(args.place.index.as_ref(), surroundings)?;
    let wrong = || Error::io("write", &args.file);
    let mut file = BufWriter::new(files::create_new(&args.file, Readers::Owner)?);
    let mut count = 0;
    if let Some(replies) = workspace.kept_replies()? {
        each(&replies, &mut |line| {
            let text = serde_json::to_string(&line).map_err(|error| Error::Internal(error.to_string()))?;
            count += 1;
            writeln!(file, "{text}").map_err(wrong())
        })?;
    }
    file.flush().map_err(wrong())?;
    surroundings.screen.note(format!("{} written to {}", counted(count, "reply"), args.file.display()));
    Ok(())
}

fn import(args: &CacheFileArgs, surroundings: &Surroundings) -> Done {
    let workspace = workspace(args.place.index.as_ref(), surroundings)?;
    // Read whole before anything is kept: a file with a wrong line changes nothing.
    let lines = lines(&args.file)?;
    let added = workspace.replies()?.add(lines.iter().map(|(key, reply)| (key, reply.as_str())))?;
    let there = lines.len() - added;
    surroundings.screen.note(format!("{} added, {there} already kept or repeated", counted(added, "reply")));
    Ok(())
}

fn clear(args: &CacheIndexArgs, surroundings: &Surroundings) -> Done {
    let workspace = workspace(args.index.as_ref(), surroundings)?;
    let count = workspace.kept_replies()?.map_or(Ok(0), |replies| replies.clear())?;
    surroundings.screen.note(format!("{} deleted", counted(count, "reply")));
    Ok(())
}

/// Calls `visit` with every reply that is kept, the first first.
fn each(replies: &Replies, visit: &mut dyn FnMut(Line) -> Result<()>) -> Result<()> {
    replies.for_each(&mut |key, text| {
        let unread = |error: serde_json::Error| Error::Corrupt {
            path: replies.path().to_owned(),
            reason: format!("it is not a reply: {error}"),
        };
        visit(Line {
            key: blake3::Hash::from_bytes(*key).to_hex().to_string(),
            reply: serde_json::from_str(text).map_err(unread)?,
        })
    })
}

/// Reads the replies of a file: keys, and replies as they are kept.
fn lines(path: &Path) -> Result<Vec<([u8; 32], String)>> {
    let file = files::open(path)?;
    let mut lines = Vec::new();
    for (line, number) in BufReader::new(file).lines().zip(1..) {
        let text = line.map_err(Error::io("read", path))?;
        let wrong = |reason: String| Error::Line {
            path: path.to_owned(),
            line: number,
            reason: format!("it is not a kept reply: {reason}"),
        };
        let line: Line = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let key = blake3::Hash::from_hex(&line.key).map_err(|error| wrong(error.to_string()))?;
        let reply = serde_json::to_string(&line.reply).map_err(|error| wrong(error.to_string()))?;
        lines.push((*key.as_bytes(), reply));
    }
    Ok(lines)
}
