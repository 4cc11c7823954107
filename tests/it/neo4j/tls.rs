//! Encrypted connections to a server that requires a password, and whose certificate is signed by an authority of the
//! test.

use std::fs;

use crate::support::certificates::certificates;
use crate::support::neo4j::{ENCRYPTED, PASSWORD, require, server};
use crate::support::{Cli, CommandOutput, left_out};

use super::{when_up, write_harbor};

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_server_is_reached_with_encryption_if_it_is_trusted_and_with_the_right_password() {
    let home = tempfile::tempdir().unwrap();
    let certificate = home.path().join("certificates");
    fs::create_dir(&certificate).unwrap();
    if let Err(why) = certificates(&certificate) {
        require(&why);
        left_out("it needs the command openssl");
        return;
    }
    let settings = format!(
        "{ENCRYPTED}\ndbms.security.auth_max_failed_attempts=0\n\
        dbms.ssl.policy.bolt.enabled=true\ndbms.ssl.policy.bolt.client_auth=NONE\n\
        dbms.ssl.policy.bolt.base_directory={}\ndbms.ssl.policy.bolt.private_key=server.key\n\
        dbms.ssl.policy.bolt.public_certificate=server.crt",
        certificate.display()
    );
    let file = home.path().join(PASSWORD);
    fs::write(&file, "correct-horse\n").unwrap();
    let Some(server) = server(home.path(), &settings) else { return };
    let cli = Cli::new();
    write_harbor(&cli);
    cli.json(&["index", "harbor"]);

    // Any certificate, but not any password.
    let any = server.uri();
    assert!(any.starts_with("bolt+ssc://127.0.0.1:"), "{any}");
    cli.refuses(&["publish", "--neo4j", &any], "input", &["refuses the user or the password", "hint: give them with"]);
    let mut command = cli.command(["publish", "--neo4j", &any, "-vvv"]);
    let said = CommandOutput::of(command.env("CAIRN_NEO4J_PASSWORD", "wrong-horse").output().unwrap());
    let refused = said.stderr.contains("refuses the user or the password");
    assert!(refused && !said.stderr.contains("wrong-horse"), "{said:#?}");
    let file = file.to_str().unwrap();
    let said = when_up(&|| cli.run(["publish", "--neo4j", &any, "--password-file", file, "-vvv"])).succeeded();
    assert!(!format!("{said:?}").contains("correct-horse"));
    let exported = cli.run(["export", "--canonical", "--neo4j", &any, "--password-file", file]).succeeded().stdout;
    assert!(exported == cli.canonical(".cairn"));

    // No certificate signed by an unknown authority, and no unencrypted connection.
    let (by_address, plain) = (any.replace("bolt+ssc", "bolt+s"), any.replace("bolt+ssc", "bolt"));
    let by_name = by_address.replace("127.0.0.1", "localhost");
    let words = ["its certificate is not trusted", "hint: ", "SSL_CERT_FILE", "bolt+ssc://"];
    cli.refuses(&["publish", "--neo4j", &by_name], "input", &words);
    let words = ["closes the connection at once", "hint: check that", "requires encryption (`bolt+s://`"];
    cli.refuses(&["publish", "--neo4j", &plain], "unavailable", &words);

    // A certificate of an authority that the user trusts, for the name that it was made for.
    let trusting = |uri: &str| {
        let mut command = cli.command(["publish", "--json", "--neo4j", uri, "--password-file", file]);
        CommandOutput::of(command.env("SSL_CERT_FILE", certificate.join("authority.crt")).output().unwrap())
    };
    let report: serde_json::Value = serde_json::from_str(&trusting(&by_name).succeeded().stdout).unwrap();
    assert_eq!((report["written"].as_u64(), report["version"].as_u64()), (Some(0), Some(1)), "{report}");
    let said = trusting(&by_address);
    let error = said.error();
    assert!(error["kind"] == "input" && said.stderr.contains("not valid for name"), "{said:#?}");
}
