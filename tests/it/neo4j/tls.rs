//! Connections that are encrypted, to a server whose certificate an authority of the test's own has signed.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::neo4j::{ENCRYPTED, require, server};
use crate::support::{Cli, CommandOutput, left_out};

use super::write_harbor;

/// Makes, in `folder`, an authority and a key and certificate for `localhost` that it has signed. Says what is left out
/// where there is no OpenSSL.
fn certificates(folder: &Path) -> Option<()> {
    fs::write(folder.join("server.ext"), "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n").unwrap();
    let key = "-newkey rsa:2048 -nodes";
    let steps = [
        format!("req -x509 {key} -keyout authority.key -out authority.crt -days 2 -subj /CN=cairn-authority"),
        format!("req -new {key} -keyout server.key -out server.csr -subj /CN=localhost"),
        "x509 -req -in server.csr -CA authority.crt -CAkey authority.key -CAcreateserial -days 2 -extfile server.ext \
         -out server.crt"
            .to_owned(),
    ];
    for step in steps {
        let why = match Command::new("openssl").args(step.split(' ')).current_dir(folder).output() {
            Ok(output) if output.status.success() => continue,
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => error.to_string(),
        };
        require(&why);
        left_out("it needs the command openssl");
        return None;
    }
    Some(())
}

#[test]
fn a_connection_is_encrypted_where_that_is_asked_for_and_to_nobody_else() {
    let home = tempfile::tempdir().unwrap();
    let certificate = home.path().join("certificates");
    fs::create_dir(&certificate).unwrap();
    if certificates(&certificate).is_none() {
        return;
    }
    let settings = format!(
        "{ENCRYPTED}\ndbms.ssl.policy.bolt.enabled=true\ndbms.ssl.policy.bolt.client_auth=NONE\n\
        dbms.ssl.policy.bolt.base_directory={}\ndbms.ssl.policy.bolt.private_key=server.key\n\
        dbms.ssl.policy.bolt.public_certificate=server.crt",
        certificate.display()
    );
    let Some(server) = server(home.path(), &settings) else { return };
    let cli = Cli::new();
    write_harbor(&cli);
    cli.json(&["index", "harbor"]);

    // Any certificate.
    let any = server.uri();
    assert!(any.starts_with("bolt+ssc://127.0.0.1:"), "{any}");
    cli.json(&["publish", "--neo4j", &any]);
    let exported = cli.run(["export", "--canonical", "--neo4j", &any]).succeeded().stdout;
    assert!(exported == cli.canonical(".cairn"));

    // None that nobody known has signed, and no connection that is not encrypted.
    let (by_address, plain) = (any.replace("bolt+ssc", "bolt+s"), any.replace("bolt+ssc", "bolt"));
    let by_name = by_address.replace("127.0.0.1", "localhost");
    let words = ["its certificate is not trusted", "hint: ", "SSL_CERT_FILE", "bolt+ssc://"];
    cli.refuses(&["publish", "--neo4j", &by_name], "input", &words);
    let words = ["ends the connection at the first word", "hint: see whether", "asks for encryption (`bolt+s://`"];
    cli.refuses(&["publish", "--neo4j", &plain], "unavailable", &words);

    // One of an authority that the user trusts, for the name that it was made for.
    let trusting = |uri: &str| {
        let mut command = cli.command(["publish", "--json", "--neo4j", uri]);
        CommandOutput::of(command.env("SSL_CERT_FILE", certificate.join("authority.crt")).output().unwrap())
    };
    let report: serde_json::Value = serde_json::from_str(&trusting(&by_name).succeeded().stdout).unwrap();
    assert_eq!((report["written"].as_u64(), report["version"].as_u64()), (Some(0), Some(1)), "{report}");
    let said = trusting(&by_address);
    let error = said.error();
    assert!(error["kind"] == "input" && said.stderr.contains("not valid for name"), "{said:#?}");
}
