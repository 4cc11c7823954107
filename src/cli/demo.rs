//! `cairn demo`: a small collection about an invented island, indexed, and three questions that no single document
//! answers.

use std::path::{Path, PathBuf};

use super::show::Names;
use super::{Done, Surroundings, show};
use crate::domain::Ledger;
use crate::error::Result;
use crate::files;
use crate::index::{IndexOptions, Sources, index};
use crate::query::{AskOptions, QueryEngine};
use crate::skill::Performers;
use crate::text::counted;
use crate::workspace::{Workspace, WorkspaceOptions};

/// Where the demo puts its documents and its index.
const FOLDER: &str = "cairn-demo";

/// Questions of two and three hops, and one that compares.
const QUESTIONS: [&str; 3] = [
    "Who taught the engineer of Heron Bridge?",
    "Where was the man who taught Edda Varnholt's father at college born?",
    "Who was born earlier, the printer Lukas Varnholt or the shipbuilder Gideon Strake?",
];

macro_rules! harbor {
    ($($name:literal,)*) => { [$(($name, include_str!(concat!("../../examples/harbor/", $name))),)*] };
}

/// The collection, by file name.
const HARBOR: [(&str, &str); 27] = harbor![
    "agnes-tollamy.md",
    "ashlin-river.md",
    "aurel-tamsin.md",
    "brackwater.md",
    "cornelius-pellam.md",
    "edda-varnholt.md",
    "flood-of-1911.md",
    "halven-academy.md",
    "heron-bridge.md",
    "joachim-varnholt.md",
    "lukas-varnholt.md",
    "marrow-light-ship.md",
    "marrow-light.md",
    "mirela-osk.md",
    "ottilie-brandreth.md",
    "port-halven.md",
    "records.jsonl",
    "ropewalk-bridge.md",
    "sarrow.md",
    "sixteen-winters.md",
    "tarrel-observatory.md",
    "the-drowned-bell.md",
    "the-rising-water.md",
    "the-salt-ferry.md",
    "thea-carrowe.md",
    "thornholm.md",
    "tidewell-shipyard.md",
];

/// Runs `cairn demo`.
pub(super) async fn run(surroundings: &Surroundings) -> Done {
    let screen = &surroundings.screen;
    let folder = Path::new(FOLDER);
    let (documents, changed) = write_collection(folder)?;
    if changed > 0 {
        let (changed, place) = (counted(changed, "document"), documents.display());
        screen.note(format!("note: {changed} in {place} with a text that is not the demo's, left as found"));
    }
    let path = folder.join("index");
    let performers = Performers::built_in();
    let mut workspace = Workspace::open_or_create(&path, &WorkspaceOptions::of(&performers))?;
    let report = index(&mut workspace, &Sources::folder(&documents), &performers, &IndexOptions::default()).await?;
    let (counts, seconds) = (&report.counts, report.seconds);
    let questions = counted(counts.incoming + counts.outgoing, "question");
    screen.wrapped(
        &format!("Sarrow, an invented island, in {}: {}", counted(counts.documents, "document"), documents.display()),
        0,
    )?;
    let (passages, edges) = (counted(counts.passages, "passage"), counted(counts.edges, "question edge"));
    let made = format!("{passages}, {questions}, {edges}");
    screen.wrapped(&format!("Indexed into {}: {made}, {seconds:.1} s", path.display()), 0)?;
    let engine = QueryEngine::open(&workspace, performers)?;
    for question in QUESTIONS {
        let answer = engine.ask(question, &AskOptions::default()).await?;
        screen.line("")?;
        screen.line(screen.strong(format!("? {question}")))?;
        let names = Names::of(&engine, &answer.hits, &Ledger::default()).await?;
        show::answer(screen, &answer, &names)?;
    }
    screen.line("")?;
    screen.line("Sentences are quoted word for word; no language model was asked. Next:")?;
    let about = |command: &'static str, text: &str| {
        screen.line(format!("  {}", surroundings.next.about(command, text, "\"YOUR QUESTION\"", &path)))
    };
    let next =
        |command: &'static str, index: &Path| screen.line(format!("  {}", surroundings.next.command(command, index)));
    about("ask --explain", QUESTIONS[0])?;
    about("search", "paper mill")?;
    let usual = surroundings.index(None);
    next("index YOUR-FOLDER", &usual)?;
    next("ask \"YOUR QUESTION\"", &usual)?;
    Ok(())
}

/// Writes the collection into a folder inside `folder`; returns that, and how many documents are there already with
/// another text, which they keep.
fn write_collection(folder: &Path) -> Result<(PathBuf, u64)> {
    let documents = folder.join("harbor");
    files::make_own_folder(folder)?;
    files::make_own_folder(&documents)?;
    let mut changed = 0_u64;
    for (name, text) in HARBOR {
        let path = documents.join(name);
        match files::read_own(&path)? {
            None => files::write_own(&path, text)?,
            Some(there) if there == text.as_bytes() => {}
            Some(_) => changed += 1,
        }
    }
    Ok((documents, changed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_has_every_document_of_the_collection() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/harbor");
        let there = std::fs::read_dir(folder).expect("the collection").count();
        assert_eq!(there, HARBOR.len());
    }
}
