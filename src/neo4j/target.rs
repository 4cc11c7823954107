//! The address of a database, and the login.

use crate::domain::{DatabaseError, Secret};
use crate::error::{Error, Result};

/// The address of a database, and the login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The address as the driver takes it.
    address: String,
    /// Host and port, as they are shown.
    shown: String,
    /// The database; by default, the server's default.
    pub database: Option<String>,
    /// The user.
    pub user: String,
    /// The password; it may be empty.
    pub password: Secret,
}

/// Schemes, and those for the driver. A single server needs no routing, which is for clusters.
const SCHEMES: [(&str, &str); 6] = [
    ("bolt", "bolt"),
    ("bolt+s", "bolt+s"),
    ("bolt+ssc", "bolt+ssc"),
    ("neo4j", "bolt"),
    ("neo4j+s", "bolt+s"),
    ("neo4j+ssc", "bolt+ssc"),
];
/// The default port.
const PORT: u16 = 7687;
/// The default user.
const USER_DEFAULT: &str = "neo4j";

impl Target {
    /// Returns the database at `uri`, asked without a password as the usual user.
    ///
    /// # Errors
    ///
    /// [`DatabaseError::Address`] for an invalid address of a server, or one with a user or password in it.
    pub fn parse(uri: &str) -> Result<Self> {
        let (scheme, rest) = uri.split_once("://").unwrap_or(("bolt", uri));
        // A password may contain the sign too: the text after the last one is the address.
        let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
        let refused = |reason: &str| {
            let source = DatabaseError::Address { reason: reason.to_owned() };
            Err(Error::Database { server: place.to_owned(), source })
        };
        let Some((_, driver)) = SCHEMES.iter().find(|(it, _)| *it == scheme) else {
            return refused("its scheme is none of bolt, bolt+s, bolt+ssc, neo4j, neo4j+s, neo4j+ssc");
        };
        if place.len() != rest.len() {
            return refused("a user or password does not belong there: other programs could see it");
        }
        let place = place.strip_suffix('/').unwrap_or(place);
        let (host, port) = match place.rsplit_once(':') {
            // Colons inside brackets are those of an address.
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
            _ => (place, Some(PORT)),
        };
        let Some(port) = port else { return refused("the text after the host is not a port") };
        let is_plain = |it: char| it.is_alphanumeric() || "-._:[]%".contains(it);
        if host.is_empty() || !host.chars().all(is_plain) {
            return refused("it names no host");
        }
        Ok(Self {
            address: format!("{driver}://{host}:{port}"),
            shown: format!("{host}:{port}"),
            database: None,
            user: USER_DEFAULT.to_owned(),
            password: Secret::default(),
        })
    }

    /// Returns the address as the driver takes it.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Returns the host alone.
    pub(super) fn host(&self) -> &str {
        self.shown.rsplit_once(':').map_or(&self.shown, |(host, _)| host)
    }

    /// Returns host and port.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(uri: &str) -> String {
        Target::parse(uri).map_or_else(|error| format!("{:?}", std::error::Error::source(&error)), |it| it.address)
    }

    #[test]
    fn every_usual_form_of_an_address_is_taken() {
        let cases = [
            ("bolt://localhost", "bolt://localhost:7687"),
            ("localhost:7688", "bolt://localhost:7688"),
            ("neo4j+s://db.example.com/", "bolt+s://db.example.com:7687"),
            ("bolt+ssc://127.0.0.1:1", "bolt+ssc://127.0.0.1:1"),
            ("neo4j://[::1]:7000", "bolt://[::1]:7000"),
            ("neo4j://[::1]", "bolt://[::1]:7687"),
        ];
        for (uri, expect) in cases {
            assert_eq!(address(uri), expect, "{uri}");
        }
    }

    #[test]
    fn an_invalid_address_is_refused_and_a_password_in_it_is_not_repeated() {
        for uri in ["http://localhost", "bolt://", "bolt://a b", "bolt://host:port", "bolt://host:99999", ""] {
            assert!(address(uri).contains("Address"), "{uri}");
        }
        for uri in ["bolt://ann:hush@host", "bolt://ann:a@hush@host", "ann:hush/@host"] {
            let error = Target::parse(uri).expect_err("refused");
            assert!(!format!("{error:?} {error}").contains("hush"), "{error}");
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        let target = Target { password: Secret::new("hush"), ..Target::parse("host").unwrap() };
        assert!(!format!("{target:?}").contains("hush"));
    }
}
