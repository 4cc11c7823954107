//! Killed runs with an embedder behind a server: vectors that arrived are kept, call by call.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::support::chat::{ChatServer, Embedding, Play};
use crate::support::{Cli, Random, canonical};

/// Maximum texts of a call.
const TEXTS_MAX: usize = 4;
/// Maximum concurrent calls.
const AT_ONCE: usize = 3;
/// Runs that are killed.
const KILLS: usize = 20;
/// Documents.
const MILLS: usize = 24;
const INDEX: &[&str] = &["index", "notes", "--embedder", "vllm:played"];

/// Documents of many sentences, and settings with the server as `vllm`.
fn mills(server: &ChatServer, texts_max: usize) -> Cli {
    let cli = Cli::new();
    for number in 0..MILLS {
        let sentences = (0..12).map(|wheel| format!("Mill {number:02} had wheel {wheel} beside the old harbor. "));
        let text = format!("Mill {number:02}\n\n{}", sentences.collect::<String>());
        cli.write(&format!("notes/{number:02}.txt"), text);
    }
    name(&cli, server, texts_max);
    cli
}

fn name(cli: &Cli, server: &ChatServer, texts_max: usize) {
    let url = &server.url;
    cli.configure(format!(
        "[model]\nserver = \"vllm\"\nembedder_url = \"{url}\"\nconcurrency = {AT_ONCE}\n\
         [model.embedder]\ntexts_max = {texts_max}\n"
    ));
}

/// Returns the texts that a server was sent, except those that open the embedder.
fn sent(server: &ChatServer) -> Vec<String> {
    let texts = |body: &serde_json::Value| body["input"].as_array().unwrap().clone();
    let all = server.asked().into_iter().flat_map(|asked| texts(&asked.body));
    all.map(|text| text.as_str().unwrap().to_owned()).filter(|text| text.contains("Mill")).collect()
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_run_that_is_killed_again_and_again_sends_the_texts_of_the_calls_under_way_again_and_no_others() {
    let (whole, once) = {
        let server = ChatServer::start([Play::Embeds(16)]);
        let cli = mills(&server, TEXTS_MAX);
        cli.run(INDEX).succeeded();
        (canonical(&cli.folder().join(".cairn")), sent(&server).len())
    };
    assert!(once > 256, "too few texts to lose many: {once}");
    let (mut random, mut kills) = (Random::new(11), 0);
    while kills < KILLS {
        let slow = Embedding::new(|_, _| {
            thread::sleep(Duration::from_millis(10));
            Some(16)
        });
        let server = ChatServer::start([Play::EmbedsSome(slow)]);
        let (cli, mut own) = (mills(&server, TEXTS_MAX), 0);
        loop {
            let mut run = cli.command(INDEX).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            // Runs get longer, so that a slow machine finishes, too.
            thread::sleep(Duration::from_millis((20 + random.below(200) + own * own) as u64));
            if let Some(status) = run.try_wait().unwrap() {
                assert!(status.success(), "{status}");
                break;
            }
            run.kill().unwrap();
            run.wait().unwrap();
            own += 1;
        }
        kills += own;
        let again = sent(&server).len().saturating_sub(once);
        assert!(again <= own * AT_ONCE * TEXTS_MAX, "{again} of {once} texts were sent again after {own} kills");
        assert_eq!(canonical(&cli.folder().join(".cairn")), whole);
        // Spending is known, except for calls that were under way and those that open the embedder.
        let asked = server.asked().len();
        let counted = cli.json(&["status"])["spent"][0]["calls"].as_u64().unwrap() as usize;
        let lost_max = own * (AT_ONCE + 1);
        assert!((asked.saturating_sub(lost_max)..=asked).contains(&counted), "{counted} of {asked}, {own} kills");
    }
}

#[test]
fn titles_that_came_before_a_run_was_killed_are_not_sent_again() {
    // Replies for the probe and the titles; the requests for passages fail.
    let good = Play::Embeds(16);
    let server = ChatServer::start([good.clone(), good.clone(), Play::Silent]);
    let cli = mills(&server, 64);
    let mut run = cli.command(INDEX).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while server.asked().len() < 3 {
        assert!(run.try_wait().unwrap().is_none(), "{:?}", server.asked());
        thread::sleep(Duration::from_millis(5));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let before = sent(&server);
    assert_eq!(before[..MILLS], (0..MILLS).map(|number| format!("Mill {number:02}")).collect::<Vec<_>>());

    let whole = ChatServer::start([good]);
    name(&cli, &whole, 64);
    cli.run(INDEX).succeeded();
    let again = sent(&whole);
    assert!(again.iter().all(|text| !before[..MILLS].contains(text)), "{again:?}");
    assert_eq!(again.iter().filter(|text| before.contains(text)).count(), MILLS, "the call under way");
    let other = [INDEX, &["--index", "other"]].concat();
    cli.run(other).succeeded();
    assert_eq!(cli.canonical(".cairn"), cli.canonical("other"));
}
