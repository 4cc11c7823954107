//! Certificates that an authority of the test's own has signed, made by the command `openssl`.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Makes, in `folder`, an authority (`authority.crt`) and a key and certificate for `localhost` that it has signed
/// (`server.key`, `server.crt`).
///
/// # Errors
///
/// Why there is no OpenSSL that does.
pub(crate) fn certificates(folder: &Path) -> Result<(), String> {
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
        match Command::new("openssl").args(step.split(' ')).current_dir(folder).output() {
            Ok(output) if output.status.success() => {}
            Ok(output) => return Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(())
}
