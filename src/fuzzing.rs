//! What the fuzz targets under `tests/fuzz` call, and a test that replays their corpora. Built for tests and for
//! `cargo fuzz` alone; no user sees it.
//!
//! Each entry takes the bytes of an input and a folder of its own to put them into, and returns whether the program
//! accepted them. Whatever they are, it must not panic.

use std::path::Path;

use crate::chunk::{ChunkOptions, passages};
use crate::domain::{ChatError, Document, Extraction, PassageId, Usage};
use crate::embed::{Embedder as _, StaticTable};
use crate::ingest::{IngestOptions, SourceItem, read_sources};
use crate::llm::{ChatModel, ChatReply, ChatRequest, Finish, RecordedCalls, ReplyOrigin, Replying};
use crate::skill::{
    AnswerSkill, AnswerTask, AnsweredSkill, AnsweredStep, ChooseSkill, ChooseTask, CitationsSkill, CitationsTask,
    CitedSentence, ConcludeSkill, ConcludeTask, DecomposeSkill, DecomposeTask, DescribeSkill, DescribeTask,
    DigestSkill, DigestTask, EnoughSkill, EnoughTask, EntitiesSkill, EntitiesTask, EntityTypes, ExtractSkill,
    ExtractTask, FoundPassage, GenerateSkill, GenerateTask, ImagineSkill, ImagineTask, JudgeSkill, JudgeTask,
    JudgedItem, KeywordsSkill, KeywordsTask, NameSkill, NotedHeading, PickSkill, PickTask, RaisedSkill, RaisedTask,
    ReadSkill, ReadTask, ReasonSkill, ReasonTask, RefineSkill, RefineTask, RelateSkill, RelateTask, ReportSkill,
    ReportTask, RouteSkill, RouteTask, SeedSkill, SeedTask, SeekSkill, SeekTask, ShownNote, ShownPassage, Skill,
    StepShown, SummarizeSkill, SummarizeTask, SupplementSkill, SupplementTask, WebAnswerSkill, WebAnswerTask,
    generate_by_rule, perform,
};
use crate::text::KeywordQuery;
use crate::workspace::{Workspace, open_file};

/// An entry: a folder for what it writes, the bytes of an input; returns whether they were accepted.
pub type Entry = fn(&Path, &[u8]) -> bool;

/// The entries, by the names of their targets.
pub const ENTRIES: [(&str, Entry); 8] = [
    ("documents", documents),
    ("frames", frames),
    ("packed", packed),
    ("settings", settings),
    ("recordings", recordings),
    ("replies", replies),
    ("index_files", index_files),
    ("records", records),
];

/// Names of files, one for each kind.
const NAMES: [&str; 17] = [
    "a.txt", "a.md", "a.json", "a.jsonl", "a.html", "a.rst", "a.adoc", "a.org", "a.tex", "a.ipynb", "a.csv", "a.rs",
    "a.py", "a.cpp", "a.js", "a.sh", "a.sql",
];

/// Documents of each kind, the kind by the first byte: read, cut into passages, and asked questions of by rule.
#[must_use]
pub fn documents(folder: &Path, input: &[u8]) -> bool {
    let Some((kind, bytes)) = input.split_first() else { return false };
    let name = NAMES[usize::from(*kind) % NAMES.len()];
    let path = folder.join(name);
    write(&path, bytes);
    let mut documents = Vec::new();
    let read = read_sources(std::slice::from_ref(&path), &IngestOptions::default(), &mut |item| {
        if let SourceItem::Document(found) = item {
            documents.push(found.document);
        }
        Ok(())
    });
    assert!(read.is_ok(), "a document stops a run");
    for document in &documents {
        for passage in passages_of(document) {
            let span = passage.span;
            let text = document.text.get(span.start as usize..span.end as usize);
            assert_eq!(text, Some(passage.text.as_str()), "a passage is not part of its document");
            let asked = generate_by_rule(document, &passage);
            assert!(asked.iter().all(|it| it.passage == passage.id), "a question of another passage");
        }
    }
    !documents.is_empty()
}

fn passages_of(document: &Document) -> Vec<crate::domain::Passage> {
    passages(document, &ChunkOptions::default(), &|text| StaticTable.piece_count(text))
}

/// What a worker says that a document has taken over.
#[must_use]
pub fn frames(_folder: &Path, input: &[u8]) -> bool {
    crate::ingest::is_worker_output(input)
}

/// Documents and archives that our own parsers take apart, which one by the first byte.
#[must_use]
pub fn packed(_folder: &Path, input: &[u8]) -> bool {
    let Some((kind, bytes)) = input.split_first() else { return false };
    crate::ingest::reads(*kind, bytes)
}

/// A `cairn.toml`.
#[must_use]
pub fn settings(folder: &Path, input: &[u8]) -> bool {
    let path = folder.join("cairn.toml");
    write(&path, input);
    crate::config::Settings::read(Some(&path)).is_ok()
}

/// A recording of calls to models.
#[must_use]
pub fn recordings(folder: &Path, input: &[u8]) -> bool {
    let path = folder.join("calls.jsonl");
    write(&path, input);
    RecordedCalls::read(&path).is_ok()
}

/// Bytes of a server, and what a model says in them, read by every skill.
#[must_use]
pub fn replies(_folder: &Path, input: &[u8]) -> bool {
    let said = crate::llm::read_reply(input);
    let text = said.unwrap_or_else(|| String::from_utf8_lossy(input).into_owned());
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return false };
    let accepted = runtime.block_on(every_skill(&Says(text)));
    accepted > 0
}

/// Returns how many skills can use what a model says.
async fn every_skill(model: &Says) -> usize {
    let text = "Harl Mill was built by Ada Lorne in 1802. It burned down twice.";
    let document = Document::new("mill", Some("Harl Mill".to_owned()), text);
    let question = || "Who built Harl Mill?".to_owned();
    let shown = || vec![ShownPassage { name: "Harl Mill".to_owned(), text: text.to_owned() }; 2];
    let Some(passage) = passages_of(&document).into_iter().next() else { return 0 };
    let id: PassageId = passage.id;
    let found = || FoundPassage { passage: id, name: "Harl Mill".to_owned(), text: text.to_owned(), reached_by: None };
    let task = GenerateTask { name: "Harl Mill".to_owned(), passage: passage.clone() };
    let answered = generate_by_rule(&document, &passage);
    let step = || StepShown { to: id, name: "Harl Mill".to_owned(), question: question() };
    let sentence = CitedSentence { text: "Ada Lorne built it.".to_owned(), passages: vec![0, 1], web: Vec::new() };
    let used = [
        used::<GenerateSkill>(model, &task).await,
        used::<SummarizeSkill>(
            model,
            &SummarizeTask { sentences: vec![(id, 0, text.to_owned())], ..SummarizeTask::default() },
        )
        .await,
        used::<ReportSkill>(model, &ReportTask { sentences: vec![(id, 0, text.to_owned())], ..ReportTask::default() })
            .await,
        used::<ExtractSkill>(model, &ExtractTask { passage: task.clone(), types: EntityTypes::default() }).await,
        used::<NameSkill>(model, &ExtractTask { passage: task.clone(), types: EntityTypes::default() }).await,
        used::<RelateSkill>(
            model,
            &RelateTask {
                task: ExtractTask { passage: task.clone(), types: EntityTypes::default() },
                found: Extraction::default(),
            },
        )
        .await,
        used::<DescribeSkill>(
            model,
            &DescribeTask { name: "Harl Mill".to_owned(), descriptions: vec![text.to_owned()] },
        )
        .await,
        used::<AnsweredSkill>(model, &task).await,
        used::<RaisedSkill>(model, &RaisedTask { passage: task.clone(), answered }).await,
        used::<AnswerSkill>(model, &AnswerTask { question: question(), passages: shown() }).await,
        used::<PickSkill>(model, &PickTask { question: question(), passages: vec![found(), found()] }).await,
        used::<DecomposeSkill>(model, &DecomposeTask { question: question() }).await,
        used::<EntitiesSkill>(model, &EntitiesTask { question: question() }).await,
        used::<ReadSkill>(model, &ReadTask { question: question(), part: 0, passages: vec![found()] }).await,
        used::<ChooseSkill>(
            model,
            &ChooseTask { question: question(), round: 0, here: found(), steps: vec![step(), step()] },
        )
        .await,
        used::<JudgeSkill>(
            model,
            &JudgeTask { question: question(), round: 0, items: vec![JudgedItem::Passage(found()); 3] },
        )
        .await,
        used::<CitationsSkill>(
            model,
            &CitationsTask { question: question(), passages: shown(), sentences: vec![sentence] },
        )
        .await,
    ];
    let asked = AnswerTask { question: question(), passages: shown() };
    let planned = every_planning_skill(model, asked, found()).await;
    used.into_iter().chain(planned).filter(|it| *it).count()
}

/// Returns which skills of strategies that go round by round can use what a model says.
async fn every_planning_skill(model: &Says, asked: AnswerTask, found: FoundPassage) -> [bool; 12] {
    let question = || asked.question.clone();
    let note = ShownNote { about: question(), text: "Ada Lorne".to_owned(), passages: vec![0] };
    let steps = || vec![AnsweredStep { question: question(), answer: Some("Ada Lorne".to_owned()) }];
    let outline = || vec![NotedHeading { name: "Harl Mill".to_owned(), notes: vec!["Built in 1802.".to_owned()] }];
    let digest = DigestTask { question: question(), number: 0, about: question(), passages: vec![found] };
    let supplement = SupplementTask { question: question(), round: 0, steps: steps() };
    let query = KeywordQuery::of("Harl Mill fire");
    let refine = RefineTask { question: question(), number: 0, query, passages: Vec::new() };
    let seek =
        SeekTask { question: question(), round: 0, outline: outline(), missing: vec![question()], asked: Vec::new() };
    [
        used::<RouteSkill>(model, &RouteTask { question: question() }).await,
        used::<SeedSkill>(model, &SeedTask { question: question(), steps: steps() }).await,
        used::<EnoughSkill>(model, &EnoughTask { question: question(), steps: steps() }).await,
        used::<ReasonSkill>(model, &ReasonTask { question: question(), outline: outline(), thoughts: Vec::new() })
            .await,
        used::<SeekSkill>(model, &seek).await,
        used::<SupplementSkill>(model, &supplement).await,
        used::<KeywordsSkill>(model, &KeywordsTask { question: question(), number: 0 }).await,
        used::<RefineSkill>(model, &refine).await,
        used::<ImagineSkill>(model, &ImagineTask { question: question(), number: 0, passages: Vec::new() }).await,
        used::<DigestSkill>(model, &digest).await,
        used::<ConcludeSkill>(model, &ConcludeTask { asked: asked.clone(), notes: vec![note] }).await,
        used::<WebAnswerSkill>(
            model,
            &WebAnswerTask { web: asked.passages.clone(), asked: asked.clone(), notes: Vec::new() },
        )
        .await,
    ]
}

async fn used<S: Skill>(model: &Says, input: &S::Input) -> bool {
    perform::<S>(model, input).await.is_ok_and(|performed| performed.outcome.is_ok())
}

/// A model that says one thing, whatever it is asked.
struct Says(String);

impl ChatModel for Says {
    fn name(&self) -> &'static str {
        "says"
    }

    fn reply<'a>(&'a self, _request: &'a ChatRequest) -> Replying<'a> {
        let reply = ChatReply {
            text: self.0.clone(),
            finish: Finish::Stop,
            usage: Usage { input_tokens: 1, output_tokens: 1, is_estimated: true },
            model: "says".to_owned(),
            origin: ReplyOrigin::Server,
            calls: 1,
            cost: None,
        };
        Box::pin(async move { Ok::<_, ChatError>(reply) })
    }
}

/// A file of a version: which one, and how much it should hold, in the first 11 bytes; then its bytes after the format
/// number, which is always put right, so that no input is refused for its age.
#[must_use]
pub fn index_files(folder: &Path, input: &[u8]) -> bool {
    let Some((head, bytes)) = input.split_at_checked(11) else { return false };
    let count = |at: usize| usize::from(u16::from_le_bytes([head[1 + 2 * at], head[2 + 2 * at]]));
    let name = "file.bin";
    let mut bytes = bytes.to_vec();
    if let Some(format) = bytes.get_mut(8..12) {
        format.copy_from_slice(&crate::workspace::INDEX_FORMAT.to_le_bytes());
    }
    write(&folder.join(name), &bytes);
    open_file(usize::from(head[0]), folder, name, [0, 1, 2, 3, 4].map(count))
}

/// A whole `cairn.db`.
#[must_use]
pub fn records(folder: &Path, input: &[u8]) -> bool {
    for companion in ["cairn.db-wal", "cairn.db-shm", "cairn.db-journal"] {
        assert!(crate::files::remove_own(&folder.join(companion)).is_ok(), "what an earlier input left cannot go");
    }
    write(&folder.join("cairn.db"), input);
    let Ok(workspace) = Workspace::open(folder) else { return false };
    let is_open = workspace.snapshot().is_ok();
    workspace.status().is_ok() || is_open
}

fn write(path: &Path, bytes: &[u8]) {
    assert!(crate::files::write_own(path, bytes).is_ok(), "the folder of the target cannot be written");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps targets working, and checks that corpora contain both accepted and refused inputs.
    #[test]
    fn every_corpus_is_replayed_and_holds_good_and_bad_inputs() {
        let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
        for (name, entry) in ENTRIES {
            let folder = tempfile::tempdir().unwrap();
            let mut files: Vec<_> =
                std::fs::read_dir(corpora.join(name)).unwrap().map(|file| file.unwrap().path()).collect();
            files.sort();
            let accepted: Vec<bool> =
                files.iter().map(|path| entry(folder.path(), &std::fs::read(path).unwrap())).collect();
            assert!(accepted.contains(&true) && accepted.contains(&false), "{name}: {accepted:?} of {files:?}");
        }
    }

    #[test]
    fn every_entry_has_a_target_of_its_name() {
        let targets = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/fuzz_targets");
        for (name, _) in ENTRIES {
            let text = std::fs::read_to_string(targets.join(name).with_extension("rs")).unwrap();
            assert!(text.contains(&format!("fuzzing::{name}(")), "{name}");
        }
        assert_eq!(std::fs::read_dir(targets).unwrap().count(), ENTRIES.len());
    }
}
