//! Other people's indexes and folders: their contents load no library, open no model except a named one, and send
//! nothing anywhere, until the user agrees.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cairn::domain::RuntimeError;
use cairn::embed::{Confirmed, EmbedderPlace, LocalPlace, OnnxEmbedder, ServerPlace};
use cairn::{Error, Workspace};
use serde_json::json;

use crate::support::chat::{ChatServer, Play};
use crate::support::forged::seal_manifest;
use crate::support::{Cli, CommandOutput, left_out};

const LIBRARY: &str = "libonnxruntime.so";
const MODEL_FILES: [&str; 5] =
    ["model.onnx", "tokenizer.json", "config.json", "special_tokens_map.json", "tokenizer_config.json"];
/// Commands that use an index.
const COMMANDS: [&[&str]; 8] = [
    &["search", "mill"],
    &["ask", "Who built the mill?"],
    &["doctor"],
    &["index", "notes"],
    &["index", "notes", "--dry-run"],
    &["index", "--re-embed"],
    &["report", "--question", "Who built the mill?"],
    &["eval", "retrieval", "--questions", "questions.jsonl"],
];

fn notes() -> Cli {
    let cli = Cli::new();
    cli.write("notes/mill.txt", "Harl Mill\n\nHarl Mill was built by Ada Lorne. It burned down twice.");
    cli.write("notes/ada.txt", "Ada Lorne\n\nAda Lorne was born in Eaststead in 1801.");
    let question = json!({ "id": "1", "question": "Who built the mill?", "supporting": ["notes/mill.txt"] });
    cli.write("questions.jsonl", question.to_string());
    cli
}

/// Writes a library that leaves a file when it is loaded, and returns the path of that file; none without a compiler.
fn plant(cli: &Cli, library: &str) -> Option<PathBuf> {
    let mark = cli.folder().join("the-library-was-loaded");
    let code = format!(
        "#include <stdio.h>\n__attribute__((constructor)) static void mark(void) {{ \
         FILE *file = fopen(\"{}\", \"w\"); if (file) fclose(file); }}",
        mark.display()
    );
    let source = cli.write("planted.c", code);
    let library = cli.write(library, "");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    if built.is_ok_and(|status| status.success()) {
        return Some(mark);
    }
    left_out("it needs a C compiler called cc");
    None
}

/// Writes the folder of a model that no runtime has to accept, and returns the name of its embedder.
fn write_model(cli: &Cli, folder: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for name in MODEL_FILES {
        let content = if name == "model.onnx" { "" } else { "{}" };
        cli.write(&format!("{folder}/{name}"), content);
        hasher.update(&(content.len() as u64).to_le_bytes()).update(content.as_bytes());
    }
    hasher.update(&4_u64.to_le_bytes()).update(b"mean");
    format!("onnx:model@{}", &hasher.finalize().to_hex()[..32])
}

/// Makes an index claim that its embedder is another one, located at `place`.
fn pin(cli: &Cli, embedder: &str, place: &serde_json::Value) {
    let records = rusqlite::Connection::open(cli.folder().join(".cairn/cairn.db")).unwrap();
    let place = place.to_string();
    let changed = records.execute("UPDATE manifest SET embedder = ?1, place = ?2", [embedder, &place]).unwrap();
    assert_eq!(changed, 1);
    seal_manifest(&records);
}

fn run_with(cli: &Cli, args: &[&str], variables: &[(&str, &str)]) -> CommandOutput {
    CommandOutput::of(cli.command(args).envs(variables.iter().copied()).output().unwrap())
}

#[test]
fn a_library_that_an_index_names_or_that_lies_beside_a_model_that_it_names_is_never_loaded() {
    let cli = notes();
    cli.run(["index", "notes"]).succeeded();
    let name = write_model(&cli, "model");
    let Some(mark) = plant(&cli, &format!("model/{LIBRARY}")) else { return };
    fs::copy(cli.folder().join("model").join(LIBRARY), cli.folder().join(LIBRARY)).unwrap();
    let folder = cli.folder().join("model");
    for place in [
        json!({ "folder": folder, "runtime": null }),
        json!({ "folder": folder, "runtime": folder.join(LIBRARY) }),
        json!({ "folder": "model", "runtime": null }),
        json!({ "folder": "model", "runtime": format!("model/{LIBRARY}") }),
        json!({ "folder": "./model" }),
        json!({ "folder": "/proc/self/cwd/model", "runtime": "/proc/self/cwd/model/libonnxruntime.so" }),
        json!({ "runtime": folder.join(LIBRARY), "folder": "/" }),
    ] {
        pin(&cli, &name, &place);
        for args in COMMANDS {
            let said = cli.run(args);
            assert!(!mark.exists(), "{place}: {args:?}: {said:#?}");
            said.has_not_panicked();
        }
    }
    // The checks above can fail: naming the library, or the model beside which it is, loads it.
    let library = folder.join(LIBRARY);
    for (args, variables) in [
        (vec!["search", "mill", "--embedder", "onnx:model"], vec![]),
        (vec!["search", "mill"], vec![("CAIRN_EMBEDDER", "onnx:model")]),
        (vec!["search", "mill", "--embedder", "onnx:model", "--onnx-runtime", library.to_str().unwrap()], vec![]),
    ] {
        let said = run_with(&cli, &args, &variables);
        assert!(mark.exists(), "{args:?}: {said:#?}");
        fs::remove_file(&mark).unwrap();
    }
}

#[test]
fn a_remembered_model_is_given_to_the_runtime_only_if_each_of_its_files_is_what_it_was() {
    let cli = notes();
    cli.run(["index", "notes"]).succeeded();
    let name = write_model(&cli, "model");
    let Some(mark) = plant(&cli, "lib/runtime.so") else { return };
    pin(&cli, &name, &json!({ "folder": cli.folder().join("model") }));
    let library = cli.folder().join("lib/runtime.so");
    let search = || run_with(&cli, &["search", "mill"], &[("CAIRN_ONNX_RUNTIME", library.to_str().unwrap())]);
    // The user's library acts as the runtime: it is loaded once the model is known to be the right one.
    let said = search();
    assert!(mark.exists(), "{said:#?}");
    fs::remove_file(&mark).unwrap();
    for (file, content) in MODEL_FILES
        .into_iter()
        .map(|file| (file, " "))
        .chain([("model.onnx", "\u{8}\u{8}"), ("1_Pooling/config.json", r#"{"pooling_mode_cls_token": true}"#)])
    {
        let path = cli.write(&format!("model/{file}"), content);
        let said = search();
        assert!(!mark.exists(), "{file}: {said:#?}");
        assert!(matches!(said.status, Some(3 | 6)), "{file}: {said:#?}");
        fs::remove_file(&path).unwrap();
        write_model(&cli, "model");
    }
    // Another model with the same name is not accepted either, wherever the settings say that it is.
    cli.configure(format!("onnx_runtime = {:?}\nembedder = {:?}", library, "onnx:../../other"));
    pin(&cli, &name, &json!({ "folder": "/nowhere" }));
    write_model(&cli, "other");
    cli.write("other/config.json", "{ }");
    let said = search();
    assert!(!mark.exists() && said.status == Some(6), "{said:#?}");
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_file_of_a_model_holds_nobody_up() {
    let cli = notes();
    cli.run(["index", "notes"]).succeeded();
    for file in MODEL_FILES {
        let name = write_model(&cli, "model");
        pin(&cli, &name, &json!({ "folder": cli.folder().join("model") }));
        let path = cli.folder().join("model").join(file);
        fs::remove_file(&path).unwrap();
        if !Command::new("mkfifo").arg(&path).status().is_ok_and(|it| it.success()) {
            return left_out("it needs mkfifo");
        }
        let said = cli.run(["search", "mill"]);
        assert!(said.status == Some(3) && said.stderr.contains(file), "{said:#?}");
        fs::remove_file(&path).unwrap();
    }
}

/// An index with vectors from a server that no setting names.
fn of_server() -> (Cli, ChatServer) {
    let (cli, server) = (notes(), ChatServer::start([Play::Embeds(32)]));
    let args = ["index", "notes", "--embedder", "server:played"];
    run_with(&cli, &args, &[("CAIRN_EMBEDDER_URL", &server.url)]).succeeded();
    (cli, server)
}

#[test]
fn a_server_that_an_index_names_is_sent_nothing_until_it_is_confirmed() {
    let (cli, server) = of_server();
    cli.write("notes/new.txt", "New Mill\n\nNew Mill was never built.");
    let (asked, canonical) = (server.asked().len(), cli.canonical(".cairn"));
    for args in COMMANDS {
        let said = run_with(&cli, args, &[("CAIRN_MODEL_KEY", "sk-canary-2f8e"), ("OPENAI_API_KEY", "sk-canary-2f8e")]);
        assert_eq!(said.status, Some(3), "{args:?}: {said:#?}");
        assert!(format!("{said:?}").contains(&server.url), "{args:?}: {said:#?}");
        assert!(format!("{said:?}").contains("model.confirmed"), "{args:?}: {said:#?}");
        assert!(!format!("{said:?}").contains("canary"), "{args:?}: {said:#?}");
        assert_eq!(server.asked().len(), asked, "{args:?}");
    }
    let words = [server.url.as_str(), "not confirmed", "CAIRN_EMBEDDER_URL", "--embedder", "cairn/cairn.toml"];
    cli.refuses(&["search", "mill"], "input", &words);
    cli.refuses(&["index", "notes"], "input", &words);
    assert_eq!(cli.canonical(".cairn"), canonical);
    // What needs no vectors works.
    assert_eq!(cli.json(&["search", "mill", "--strategy", "lexical"])["hits"][0]["name"], "Harl Mill");
    cli.run(["status"]).succeeded();
    cli.run(["path", "Harl Mill", "Ada Lorne"]).succeeded();
    assert_eq!(server.asked().len(), asked);
}

#[test]
fn a_run_says_what_later_ones_will_need() {
    let (cli, server) = (notes(), ChatServer::start([Play::Embeds(32)]));
    cli.configure(format!("[model]\nserver = \"vllm\"\nurl = {:?}", server.url));
    let args = ["index", "notes", "--embedder", "vllm:played"];
    let said = cli.run([&args[..], &["--record", "made.jsonl"]].concat()).succeeded();
    assert!(!said.stderr.contains("later commands"), "{said:#?}");
    // With only a flag, for the server's usual address, which a replay does not contact.
    cli.configure("");
    let said = cli.run([&args[..], &["--replay", "made.jsonl", "--index", "other"]].concat()).succeeded();
    let words = ["later commands ask `http://localhost:8000/v1` only if", "model.confirmed", "CAIRN_EMBEDDER_URL"];
    assert!(words.iter().all(|word| said.stderr.contains(word)), "{said:#?}");
    cli.configure("[model]\nserver = \"vllm\"");
    let said = cli.run([&args[..], &["--replay", "made.jsonl", "--index", "third"]].concat()).succeeded();
    assert!(!said.stderr.contains("later commands"), "{said:#?}");
}

#[test]
fn a_server_is_confirmed_by_the_environment_or_the_own_configuration() {
    let (cli, server) = of_server();
    let asks = |variables: &[(&str, &str)]| {
        let before = server.asked().len();
        let said = run_with(&cli, &["search", "Who built Harl Mill?", "--strategy", "dense"], variables);
        assert_eq!(said.status == Some(0), server.asked().len() > before, "{said:#?}");
        said.status == Some(0)
    };
    assert!(!asks(&[]));
    assert!(asks(&[("CAIRN_EMBEDDER_URL", &server.url)]));
    assert!(!asks(&[("CAIRN_EMBEDDER_URL", "http://127.0.0.1:1/v1")]));
    // A name alone does not confirm the address.
    assert!(!asks(&[("CAIRN_EMBEDDER", "server:played")]));
    for (settings, expect) in [
        (format!("[model]\nconfirmed = [\"http://127.0.0.1:1/v1\", \"{}\"]", server.url), true),
        (format!("[model]\nembedder_url = \"{}/\"", server.url), true),
        (format!("[model]\nurl = \"{}\"", server.url), true),
        (format!("[model]\nurl = \"{}\"\nembedder_url = \"http://127.0.0.1:1/v1\"", server.url), false),
        ("[model]\nconfirmed = [\"http://127.0.0.1\"]".to_owned(), false),
        ("[model]\nserver = \"openai\"".to_owned(), false),
    ] {
        cli.configure(&settings);
        assert_eq!(asks(&[]), expect, "{settings}");
    }
}

#[test]
fn a_server_that_is_confirmed_is_asked_and_gets_a_key_only_where_its_address_is_set() {
    let (cli, server) = of_server();
    let search = ["search", "Who built Harl Mill?", "--strategy", "dense"];
    let key = ("CAIRN_MODEL_KEY", "sk-canary-5c10");
    let heads = |variables: &[(&str, &str)]| {
        let before = server.asked().len();
        run_with(&cli, &search, &[&[key], variables].concat()).succeeded();
        let asked = server.asked();
        assert!(asked.len() > before);
        asked[before..].iter().map(|it| it.head.clone()).collect::<String>()
    };
    cli.configure(format!("[model]\nconfirmed = [\"{}\"]\nheaders = {{ x-team = \"canary-team\" }}", server.url));
    assert!(!heads(&[]).contains("canary"));
    let paid = heads(&[("CAIRN_EMBEDDER_URL", &server.url)]);
    assert!(paid.contains("sk-canary-5c10") && paid.contains("canary-team"), "{paid}");
}

/// Another person's index may name a server by its well-known name, and the key for that may be available.
#[test]
fn a_server_with_a_name_is_asked_and_paid_only_where_the_user_names_it() {
    let cli = notes();
    cli.run(["index", "notes"]).succeeded();
    let openai = json!({ "server": "openai", "url": "https://api.openai.com/v1", "model": "m" });
    let elsewhere = json!({ "server": "openai", "url": "http://127.0.0.1:1/v1", "model": "m" });
    // A graph in a database names an embedder, but no location.
    for (place, url) in [(openai, "api.openai.com"), (elsewhere, "127.0.0.1:1"), (json!(null), "api.openai.com")] {
        pin(&cli, "openai:m", &place);
        let said = run_with(&cli, &["search", "mill"], &[("OPENAI_API_KEY", "sk-canary-77d1")]);
        assert_eq!(said.status, Some(3), "{said:#?}");
        assert!(said.stderr.contains(url) && said.stderr.contains("not confirmed"), "{said:#?}");
    }
    // If a server is named in the settings, it is asked at the address there, not at the one in the index.
    let server = ChatServer::start([Play::Embeds(256)]);
    pin(&cli, "vllm:played", &json!({ "server": "vllm", "url": "http://127.0.0.1:1/v1", "model": "played" }));
    cli.configure(format!("embedder = \"vllm:played\"\n[model]\nserver = \"vllm\"\nurl = \"{}\"", server.url));
    cli.run(["search", "mill"]).succeeded();
    assert!(!server.asked().is_empty());
}

#[test]
fn a_cloned_folder_with_settings_and_an_index_runs_nothing_and_asks_nobody() {
    let (cli, server) = of_server();
    let before = server.asked().len();
    let model = write_model(&cli, "model");
    let Some(mark) = plant(&cli, &format!("model/{LIBRARY}")) else { return };
    let commands = [&COMMANDS[..], &[&["ask", "mill", "--model", "default"], &["publish"]]].concat();
    let library = cli.folder().join("model").join(LIBRARY);
    for settings in [
        "onnx_runtime = \"model/libonnxruntime.so\"\nembedder = \"onnx:model\"".to_owned(),
        "embedder = \"onnx:model\"".to_owned(),
        format!("embedder = {:?}", format!("onnx:{}", cli.folder().join("model").display())),
        "embedder = \"server:played\"".to_owned(),
        format!("[model]\nconfirmed = [{:?}]", server.url),
        format!("[model]\nembedder_url = {:?}", server.url),
        format!("[model]\nurl = {:?}\nname = \"played\"\nkey_file = \"questions.jsonl\"", server.url),
        format!("model.headers = {{ a = \"b\" }}\nonnx_runtime = {library:?}"),
        format!("[neo4j]\nuri = {:?}\npassword_file = \"questions.jsonl\"", server.url.replace("http", "bolt")),
    ] {
        cli.write("cairn.toml", &settings);
        for args in &commands {
            let said = cli.run(*args);
            assert_eq!(said.status, Some(3), "{settings}: {args:?}: {said:#?}");
            assert!(said.stderr.contains("`cairn.toml`, line ") && said.stderr.contains("--config FILE"), "{said:#?}");
        }
        assert!(!mark.exists() && server.asked().len() == before, "{settings}");
    }
    // Whoever names the file trusts it.
    pin(&cli, &model, &json!(null));
    cli.write("cairn.toml", "onnx_runtime = \"model/libonnxruntime.so\"\nembedder = \"onnx:model\"");
    let said = cli.run(["search", "mill", "--config", "cairn.toml"]);
    assert!(mark.exists(), "{said:#?}");
}

#[test]
fn a_library_call_uses_what_an_index_remembers_only_where_it_is_told_to() {
    let (cli, server) = of_server();
    let workspace = Workspace::open(cli.folder().join(".cairn")).unwrap();
    let Some(EmbedderPlace::Server(place)) = workspace.model_place().unwrap() else { panic!("a server is due") };
    assert!(matches!(place.endpoint(&Confirmed::default()), Err(Error::Unconfirmed { url, .. }) if url == server.url));
    let confirmed = Confirmed { servers: vec![server.url.clone()], ..Confirmed::default() };
    let endpoint = place.endpoint(&confirmed).unwrap();
    assert_eq!(ServerPlace::of(&endpoint), place);

    let name = write_model(&cli, "model");
    pin(&cli, &name, &json!({ "folder": cli.folder().join("model") }));
    let Some(EmbedderPlace::Local(place)) = workspace.model_place().unwrap() else { panic!("a folder is due") };
    assert_eq!(place, LocalPlace::of(&cli.folder().join("model")));
    let refused = OnnxEmbedder::open_remembered(&name, &place, &Confirmed::default()).unwrap_err();
    assert!(matches!(refused, Error::ModelGone { .. }), "{refused:?}");
    // The model is the right one; there is no runtime at the path that the caller gives.
    let runtime = Some(Path::new("no-such-library").to_owned());
    let confirmed = Confirmed { model_folder: true, runtime, ..Confirmed::default() };
    let missing = OnnxEmbedder::open_remembered(&name, &place, &confirmed).unwrap_err();
    assert!(matches!(missing, Error::Runtime { source: RuntimeError::Missing { .. } }), "{missing:?}");
    let other = OnnxEmbedder::open_remembered("onnx:other@00", &place, &confirmed).unwrap_err();
    assert!(matches!(other, Error::ModelGone { .. }), "{other:?}");
}
