//! The network is accessed in a few files, which show everything that is ever sent.

use super::source::{Source, rust_files, tokens};
use super::{Rule, SRC, check};

/// Language models, and embedders behind servers.
const HTTP: [&str; 2] = ["src/llm/connection.rs", "src/llm/exchange.rs"];
/// Neo4j.
const BOLT: [&str; 1] = ["src/neo4j/session.rs"];
/// Downloads of models, with the feature `hub`.
const HUB: [&str; 1] = ["src/embed/hub.rs"];

fn reaches(source: &Source) -> Vec<(usize, String)> {
    let code = source.without_tests();
    let tokens = tokens(&code.code);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let named: Vec<&str> = tokens[at + 1..].iter().map(|it| it.text).take_while(|it| *it != ";").collect();
        let files: &[&str] = match token.text {
            "TcpStream" | "TcpListener" | "UdpSocket" | "UnixStream" | "ToSocketAddrs" => &[],
            "async_openai" => &HTTP,
            // Parsing an address sends nothing.
            "reqwest" if named.get(1) != Some(&"Url") => &HTTP,
            // The rest of the driver only handles values.
            "neo4rs" if named.iter().any(|it| ["Graph", "ConfigBuilder"].contains(it)) => &BOLT,
            "TextInitOptions" => &HUB,
            _ => continue,
        };
        if !files.contains(&source.path.as_str()) {
            found.push((token.line, format!("`{}` reaches the network; only {files:?} may", token.text)));
        }
    }
    found
}

#[test]
fn the_network_is_reached_in_few_files() {
    let rule: Rule = reaches;
    check(
        rule,
        &rust_files(&SRC),
        &[
            ("src/query/a.rs", "use std::net::TcpStream;"),
            ("src/llm/client.rs", "use reqwest::Client;"),
            ("src/cli/a.rs", "fn f() { reqwest::get(x) }"),
            ("src/embed/a.rs", "use async_openai::Client;"),
            ("src/neo4j/a.rs", "use neo4rs::{BoltType, Graph};"),
            ("src/embed/onnx.rs", "use fastembed::{TextEmbedding, TextInitOptions};"),
        ],
        &[
            ("src/llm/exchange.rs", "use reqwest::{Client, Response};"),
            ("src/embed/a.rs", "fn f() { reqwest::Url::parse(x) }"),
            ("src/neo4j/session.rs", "use neo4rs::{Config, ConfigBuilder, Graph};"),
            ("src/neo4j/a.rs", "use neo4rs::{BoltType, Row}; struct Graph;"),
            ("src/neo4j/a.rs", "#[cfg(test)]\nmod tests { use std::net::TcpStream; }"),
        ],
    );
}
