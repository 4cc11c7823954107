//! Classifies errors of the driver, and says how long to wait before a retry.

use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, ErrorKind};
use std::time::Duration;

use neo4rs::{Error as DriverError, Neo4jErrorKind};

use crate::domain::{Backoff, DatabaseError, Redactor};

/// How long to wait before a transaction is run again.
const BACKOFF: Backoff = Backoff { first: Duration::from_millis(100), max: Duration::from_secs(5) };

/// The first action on a server, which reveals whether both sides use encryption.
pub(super) const GREETING: &str = "say its version";

/// What to do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Run the whole transaction again.
    Retry,
    /// Send fewer rows at once: as many will fail again.
    Split,
    /// Nothing.
    GiveUp,
}

/// Returns what to do about an error of the driver.
pub(super) fn remedy(error: &DriverError) -> Remedy {
    match error {
        DriverError::Neo4j(refusal) => match refusal.code() {
            code if code.ends_with("OutOfMemoryError") => Remedy::Split,
            // A server that shuts down ends transactions as if requested.
            "Neo.ClientError.Transaction.Terminated" | "Neo.ClientError.Transaction.LockClientStopped" => Remedy::Retry,
            _ if refusal.kind() == Neo4jErrorKind::Transient => Remedy::Retry,
            _ => Remedy::GiveUp,
        },
        DriverError::IOError { detail } if is_untrusted(detail) => Remedy::GiveUp,
        DriverError::IOError { .. }
        | DriverError::ConnectionError
        | DriverError::ConnectionTimedOut
        | DriverError::IncompleteBoltExchange
        | DriverError::RequestIgnoredError
        | DriverError::Ignored(_)
        | DriverError::ServerUnavailableError(_) => Remedy::Retry,
        _ => Remedy::GiveUp,
    }
}

/// Returns the user's error for an error of the driver; `action` is what failed. Messages of a server pass `redactor`.
pub(super) fn meaning(
    error: &DriverError,
    action: &'static str,
    database: Option<&str>,
    redactor: &Redactor,
) -> DatabaseError {
    let reason = || redactor.redacted(error.to_string());
    match error {
        DriverError::Neo4j(refusal) => {
            let message = || redactor.redacted(refusal.message().to_owned());
            let code = || redactor.redacted(refusal.code().to_owned());
            match refusal.code() {
                "Neo.ClientError.Security.Unauthorized"
                | "Neo.ClientError.Security.AuthenticationRateLimit"
                | "Neo.ClientError.Security.CredentialsExpired" => DatabaseError::Password { reason: message() },
                "Neo.ClientError.Database.DatabaseNotFound" => {
                    DatabaseError::NoDatabase { name: database.unwrap_or_default().to_owned() }
                }
                "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase"
                | "Neo.ClientError.General.WriteOnReadOnlyAccessDatabase"
                | "Neo.ClientError.Security.Forbidden"
                | "Neo.ClientError.Statement.AccessMode" => DatabaseError::ReadOnly { reason: message() },
                code if code.ends_with("OutOfMemoryError") => DatabaseError::Memory { reason: message() },
                "Neo.TransientError.General.DatabaseUnavailable" => DatabaseError::Unreachable { reason: message() },
                name if name.starts_with("Neo.DatabaseError.") => {
                    DatabaseError::Fault { action, code: code(), message: message() }
                }
                _ => DatabaseError::Statement { action, code: code(), message: message() },
            }
        }
        DriverError::IOError { detail } if is_untrusted(detail) => {
            DatabaseError::Certificate { reason: redactor.redacted(detail.to_string()) }
        }
        DriverError::IOError { detail } if action == GREETING && is_other_speech(detail) => {
            DatabaseError::Encryption { reason: redactor.redacted(detail.to_string()) }
        }
        DriverError::AuthenticationError(_) => DatabaseError::Password { reason: reason() },
        DriverError::UrlParseError(_) | DriverError::UnsupportedScheme(_) | DriverError::InvalidDnsName(_) => {
            DatabaseError::Address { reason: reason() }
        }
        DriverError::UnsupportedVersion(..) | DriverError::ProtocolMismatch(_) => {
            DatabaseError::Unreachable { reason: format!("the server there is not Neo4j 5: {}", reason()) }
        }
        _ => DatabaseError::Unreachable { reason: reason() },
    }
}

/// Returns the encryption fault behind an error of a connection, if any.
fn encryption(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

/// Returns whether the server's certificate is not trusted: its issuer is unknown, or the system has no certificates.
fn is_untrusted(error: &io::Error) -> bool {
    matches!(encryption(error), Some(rustls::Error::InvalidCertificate(_) | rustls::Error::General(_)))
}

/// Returns whether the greeting was not understood, as if only one side used encryption.
fn is_other_speech(error: &io::Error) -> bool {
    encryption(error).is_some() || error.kind() == ErrorKind::UnexpectedEof
}

/// Returns how long to wait before a transaction is run again that was run again `retries` times.
pub(super) fn wait(retries: u32) -> Duration {
    // A hasher of the standard library is seeded by the system; this decides nothing but when.
    BACKOFF.wait(retries.saturating_add(1), RandomState::new().hash_one(retries))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_is_lost_is_tried_again_and_a_wrong_address_is_not() {
        assert_eq!(remedy(&DriverError::ConnectionTimedOut), Remedy::Retry);
        assert_eq!(remedy(&DriverError::UnsupportedScheme("x".to_owned())), Remedy::GiveUp);
        let error = DriverError::AuthenticationError("no".to_owned());
        assert!(matches!(meaning(&error, "connect", None, &Redactor::default()), DatabaseError::Password { .. }));
    }

    #[test]
    fn what_a_server_says_is_repeated_without_the_password() {
        let redactor = Redactor::of(["pass-word-1"]);
        for error in [
            DriverError::AuthenticationError("no `pass-word-1`".to_owned()),
            DriverError::IOError { detail: io::Error::other("no pass-word-1") },
            DriverError::UnsupportedScheme("pass-word-1".to_owned()),
        ] {
            let meaning = meaning(&error, "connect", None, &redactor);
            assert!(!format!("{meaning:?} {meaning}").contains("pass-word-1"), "{meaning}");
        }
    }

    #[test]
    fn an_untrusted_certificate_is_not_tried_again() {
        let of = |detail: io::Error| DriverError::IOError { detail };
        let certificate = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        let error = of(io::Error::new(ErrorKind::InvalidData, certificate));
        assert_eq!(remedy(&error), Remedy::GiveUp);
        assert!(matches!(meaning(&error, GREETING, None, &Redactor::default()), DatabaseError::Certificate { .. }));
        // Closed during the handshake, and closed later.
        let error = of(ErrorKind::UnexpectedEof.into());
        assert_eq!(remedy(&error), Remedy::Retry);
        assert!(matches!(meaning(&error, GREETING, None, &Redactor::default()), DatabaseError::Encryption { .. }));
        assert!(matches!(
            meaning(&error, "write passages", None, &Redactor::default()),
            DatabaseError::Unreachable { .. }
        ));
    }
}
