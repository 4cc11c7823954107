//! Certificates signed by an authority of the test, made with `openssl`.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Makes an authority (`authority.crt`) in `folder`, and a key and a certificate for `localhost` that it has signed
/// (`server.key`, `server.crt`).
///
/// # Errors
///
/// Why OpenSSL cannot do it.
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

/// Returns a TLS configuration with the key and certificate in `folder`.
pub(crate) fn encryption(folder: &Path) -> Arc<ServerConfig> {
    let chain = CertificateDer::pem_file_iter(folder.join("server.crt")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let chain = chain.collect::<Result<Vec<_>, _>>().unwrap();
    Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap())
}
