//! A server whose certificate is signed by an authority of the test: it is asked if that authority is trusted, and only
//! by its own name.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use super::asking::{QUESTION, good, indexed};
use crate::support::certificates::certificates;
use crate::support::chat::ChatServer;
use crate::support::{Cli, left_out};

/// Makes an authority and a certificate of it; reports what is left out if that is not possible.
fn signed() -> Option<TempDir> {
    let folder = TempDir::new().unwrap();
    if certificates(folder.path()).is_err() {
        left_out("it needs the command openssl");
        return None;
    }
    Some(folder)
}

/// Returns the answer with the model at `url`; `line` of the settings says whether the certificates in `ca.pem` are
/// trusted.
fn asked(cli: &Cli, url: &str, line: &str) -> Value {
    cli.configure(format!("[model]\nurl = \"{url}\"\nname = \"m\"\n{line}\n"));
    cli.json(&["ask", QUESTION, "--model", "default"])
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_server_is_asked_where_the_authority_of_its_certificate_is_named_and_only_by_its_own_name() {
    const NAMED: &str = "ca_file = \"ca.pem\"";
    let (Some(own), Some(other)) = (signed(), signed()) else { return };
    let (cli, server) = (indexed(), ChatServer::encrypted([good()], own.path()));
    let trust =
        |folder: &TempDir| cli.write(".config/cairn/ca.pem", fs::read(folder.path().join("authority.crt")).unwrap());
    let is_refused = |url: &str, line: &str| {
        let answer = asked(&cli, url, line);
        let why = answer["writing"]["degraded"].as_str().unwrap_or_default();
        assert!(answer["kind"] != "written" && why.contains("certificate"), "{url}, {line}: {answer}");
        assert!(server.asked().is_empty(), "{url}, {line}");
    };
    is_refused(&server.url, "");
    trust(&other);
    is_refused(&server.url, NAMED);
    trust(&own);
    is_refused(&server.url.replace("localhost", "127.0.0.1"), NAMED);

    let answer = asked(&cli, &server.url, NAMED);
    assert_eq!((&answer["kind"], server.asked().len()), (&Value::from("written"), 1), "{answer}");
    assert_eq!(answer["text"], "Ada Lorne built Harl Mill.");
}
