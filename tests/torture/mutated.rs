//! Inputs that are almost valid: settings, recordings, replies, questions, weights, documents, each changed at random.

mod mutate;

use std::cell::RefCell;
use std::fs;
use std::path::Path;

use serde_json::json;

use crate::Suite;
use crate::program::{cairn, watch};
use crate::run::{Run, Tally};
use crate::support::chat::{ChatServer, Play, Reply, Thought};
use crate::support::{Cli, Random};
use crate::template::{Made, Template};

/// Documents of the index.
const NOTES: usize = 4;

pub(crate) const PART: Suite = Suite {
    name: "mutated",
    promise: "No settings, recording, reply of a model, file of questions, weights or documents, whatever its \
        contents, makes a command crash, hang or use unbounded memory.",
    run,
};

/// A kind of input: the file that it is in, the command that reads it, and valid ones to begin with.
struct Kind {
    name: &'static str,
    file: &'static str,
    args: &'static [&'static str],
    seeds: Vec<Vec<u8>>,
}

/// The settings with our server as `vllm`.
fn settings(url: &str) -> String {
    format!("[model]\nserver = \"vllm\"\nurl = \"{url}\"\n")
}

/// A model's reply to any request.
fn thought() -> Thought {
    Thought::new(|body| {
        let asked = body.to_string();
        let question = |text: &str| json!({ "question": text, "keywords": ["Heron Bridge"] });
        let text = if asked.contains("answered") {
            let raised = ["Who owned", "Who sold", "Who bought", "Who hated"].map(|it| question(&format!("{it} it?")));
            json!({ "answered": [question("Who built it?"), question("When was it built?")], "raised": raised })
        } else {
            json!({ "can_answer": true, "sentences": [{ "text": "Heron Bridge is a bridge.", "passages": [1] }] })
        };
        Reply { text: text.to_string(), tokens: (300, 40) }
    })
}

fn run(run: &Run) -> Tally {
    let template = Template::of_notes(NOTES, Made::AtOnce);
    let kinds = kinds(&template);
    let each = run.count("MUTATED", 10_000).div_ceil(kinds.len() as u64 + 1);
    let mut tally = Tally::default();
    for kind in &kinds {
        let case = |number: u64, random: &mut Random, tally: &mut Tally| {
            let folder = template.copy();
            let input = mutate::mutated(&kind.seeds, random);
            fs::write(folder.path().join(kind.file), &input).unwrap();
            let ran = watch(cairn(folder.path(), kind.args));
            judge(kind.name, number, &input, &ran, tally);
        };
        tally.add(run.each(kind.name, each, case));
    }
    tally.add(replies(run, &template, each));
    tally
}

fn judge(name: &'static str, number: u64, input: &[u8], ran: &crate::program::Ran, tally: &mut Tally) {
    tally.count(name, 1);
    tally.count(if ran.is_done() { "accepted of all these" } else { "refused of all these" }, 1);
    if let Some(fault) = ran.fault() {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{number}").replace(' ', "-"));
        fs::write(&path, input).unwrap();
        tally.offend(format!("{name} {number} (kept as {}): {fault}", path.file_name().unwrap().display()));
    }
}

thread_local! {
    /// One for each thread, because its reply belongs to one case.
    static SERVER: RefCell<Option<ChatServer>> = const { RefCell::new(None) };
}

/// Has a server send bodies that are almost those of a model.
fn replies(run: &Run, template: &Template, cases: u64) -> Tally {
    let said = crate::support::chat::said;
    let good = [
        said(r#"{"can_answer": true, "sentences": [{"text": "It is a bridge.", "passages": [1]}]}"#),
        said(r#"{"can_answer": false, "sentences": []}"#),
        said("```json\n{\"can_answer\": true, \"sentences\": [{\"text\": \"A.\", \"passages\": [1, 2]}]}\n```"),
        json!({ "error": { "message": "no", "code": 7 } }).to_string(),
    ];
    let seeds: Vec<Vec<u8>> = good.into_iter().map(String::into_bytes).collect();
    run.each("replies", cases, |number, random, tally| {
        let folder = template.copy();
        let input = mutate::mutated(&seeds, random);
        SERVER.with_borrow_mut(|server| {
            let server = server.get_or_insert_with(|| ChatServer::start([Play::Closes]));
            // The server that plays it only sends text; bytes that are not are left to the fuzz target.
            let body = String::from_utf8_lossy(&input).into_owned();
            server.play([Play::Responds([200, 200, 200, 400, 500][random.below(5)], "", body)]);
            fs::write(folder.path().join("cairn.toml"), settings(&server.url)).unwrap();
            let ask = ["ask", "Who designed Heron Bridge?", "--model", "played", "--deadline", "10"];
            let args = [&ask[..], &["--config", "cairn.toml"]].concat();
            judge("replies", number, &input, &watch(cairn(folder.path(), &args)), tally);
        });
    })
}

/// Returns a folder with files that the program wrote: recordings, kept replies, results.
fn made(template: &Template) -> Cli {
    let server = ChatServer::start([Play::Serves(thought(), 16, str::len)]);
    let made = Cli::new();
    for path in crate::program::files_below(&template.path().join("notes")) {
        let name = path.file_name().unwrap().to_str().unwrap();
        made.write(&format!("notes/{name}"), fs::read(&path).unwrap());
    }
    made.configure(settings(&server.url));
    let question = |id: usize| {
        json!({ "id": id, "question": "Who designed Heron Bridge?", "supporting": ["notes/heron-bridge.md"],
            "answers": ["Agnes Tollamy"], "type": "bridge", "hops": 2 })
    };
    made.write("questions.jsonl", format!("{}\n{}\n", question(1), question(2)));
    let index = ["index", "notes", "--embedder", "vllm:played", "--model", "played", "--record", "index.jsonl"];
    made.run(index).succeeded();
    let ask = ["ask", "Who designed Heron Bridge?", "--model", "played", "--embedder", "vllm:played"];
    made.run([&ask[..], &["--record", "ask.jsonl"]].concat()).succeeded();
    made.run(["cache", "export", "cache.jsonl"]).succeeded();
    let results = made.run(["eval", "retrieval", "--questions", "questions.jsonl", "--json"]).succeeded().stdout;
    made.write("results.json", results);
    made
}

/// Returns the kinds of inputs, with valid ones made by running the program.
fn kinds(template: &Template) -> Vec<Kind> {
    let made = made(template);
    let read = |name: &str| fs::read(made.folder().join(name)).unwrap();
    let weights = ["built_in", "model", "none"].map(|name| {
        let path = format!("src/graph/trail/weights/{name}.json");
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
    });
    let markdown = fs::read(template.path().join("notes/heron-bridge.md")).unwrap();
    let records = r#"{"id": 1, "title": "Toll Tower", "text": "Toll Tower stands.", "year": 1911, "tags": ["a"]}"#;
    let text = b"Toll Tower\n\nToll Tower stands by the river. It was built in 1911.\n".to_vec();
    vec![
        Kind {
            name: "settings",
            file: "own.toml",
            args: &["search", "bridge", "--config", "own.toml"],
            seeds: all_settings(),
        },
        Kind { name: "found settings", file: "cairn.toml", args: &["search", "bridge"], seeds: found_settings() },
        Kind {
            name: "files of questions",
            file: "questions.jsonl",
            args: &["eval", "retrieval", "--questions", "questions.jsonl", "--json"],
            seeds: vec![read("questions.jsonl")],
        },
        Kind {
            name: "recordings",
            file: "made.jsonl",
            args: &["ask", "Who designed Heron Bridge?", "--model", "vllm:played", "--replay", "made.jsonl"],
            seeds: vec![read("ask.jsonl"), read("index.jsonl")],
        },
        Kind {
            name: "kept replies",
            file: "cache.jsonl",
            args: &["cache", "import", "cache.jsonl"],
            seeds: vec![read("cache.jsonl")],
        },
        Kind {
            name: "weights",
            file: "weights.json",
            args: &["search", "Heron Bridge", "--weights", "weights.json"],
            seeds: weights.to_vec(),
        },
        Kind {
            name: "results",
            file: "results.json",
            args: &["eval", "report", "results.json", "--output", "docs"],
            seeds: vec![read("results.json")],
        },
        document("Markdown documents", "new.md", &["index", "new.md", "--index", "new"], vec![markdown]),
        document("text documents", "new.txt", &["index", "new.txt", "--index", "new"], vec![text]),
        document(
            "JSON documents",
            "new.json",
            &["index", "new.json", "--index", "new"],
            vec![records.into(), format!("[{records}, {records}]").into_bytes()],
        ),
        document(
            "JSON Lines",
            "new.jsonl",
            &["index", "new.jsonl", "--index", "new"],
            vec![format!("{records}\n{}\n", records.replace('1', "2")).into_bytes()],
        ),
    ]
}

fn document(name: &'static str, file: &'static str, args: &'static [&'static str], seeds: Vec<Vec<u8>>) -> Kind {
    Kind { name, file, args, seeds }
}

fn found_settings() -> Vec<Vec<u8>> {
    let whole = "index = \".cairn\"\nembedder = \"builtin\"\ndeadline = 2.5\nno_mmap = true\n";
    let refused = "index = \".cairn\"\n[model]\nurl = \"http://127.0.0.1:1/v1\"\n";
    vec![whole.into(), refused.into(), b"weights = \"weights.json\"\n".to_vec()]
}

fn all_settings() -> Vec<Vec<u8>> {
    let whole = "index = \".cairn\"\nembedder = \"builtin\"\ndeadline = 2.5\nmodels = \"m\"\n\
        [neo4j]\nuri = \"bolt://127.0.0.1:1\"\ndatabase = \"d\"\nuser = \"u\"\ntraversal = \"cached\"\nmemory = 64\n\
        [model]\nserver = \"vllm\"\nurl = \"http://127.0.0.1:1/v1\"\nname = \"m\"\n";
    vec![whole.into(), b"index = \".cairn\"\n".to_vec(), b"deadline = 2\n[neo4j]\npassword_file = \"p\"\n".to_vec()]
}
