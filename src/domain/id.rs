//! Content identity: 128 bits of blake3, the same on every machine and in every store.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text that is not an id, which has 32 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an id of 32 hexadecimal digits")]
pub struct ParseIdError(String);

/// Hashes `parts` under `kind`; lengths are hashed too, so that no two lists of parts collide by concatenation.
fn digest(kind: &str, parts: &[&[u8]]) -> [u8; 16] {
    let parts = || std::iter::once(kind.as_bytes()).chain(parts.iter().copied());
    // Hashed at once: that costs less than adding small parts.
    let mut hashed = Vec::with_capacity(parts().map(|part| part.len() + 8).sum());
    for part in parts() {
        hashed.extend_from_slice(&(part.len() as u64).to_le_bytes());
        hashed.extend_from_slice(part);
    }
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&blake3::hash(&hashed).as_bytes()[..16]);
    bytes
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 16]);

        impl $name {
            /// Returns the id of what `parts` describe.
            #[must_use]
            pub fn of(parts: &[&[u8]]) -> Self {
                Self(digest($kind, parts))
            }

            /// Returns the id with these bytes.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// Returns the bytes of the id.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:032x}", u128::from_be_bytes(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                let refused = || ParseIdError(text.chars().take(64).collect());
                if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    return Err(refused());
                }
                let value = u128::from_str_radix(text, 16).map_err(|_| refused())?;
                Ok(Self(value.to_be_bytes()))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

id!(
    /// Identity of a document: of the id that its source gives it.
    DocumentId,
    "document"
);
id!(
    /// Identity of a passage: of its document, its text, and its count among equal texts of that document.
    PassageId,
    "passage"
);
id!(
    /// Identity of a pseudo-query: of its passage, its kind and its text.
    QuestionId,
    "question"
);
id!(
    /// Identity of a question edge: of the two passages that it joins.
    EdgeId,
    "edge"
);
id!(
    /// Identity of a collection, made once together with its index: the only id that does not depend on content. Edits,
    /// another embedder and a clone do not change it.
    CollectionId,
    "collection"
);
id!(
    /// Identity of a corpus as an index holds it: of its passages.
    CorpusId,
    "corpus"
);
id!(
    /// Identity of an entity: of its folded name.
    EntityId,
    "entity"
);
id!(
    /// Identity of a community: of its level and the names of its members.
    CommunityId,
    "community"
);
id!(
    /// Identity of a summary entity: of its layer, its members, and its count among those of the same members.
    SummaryId,
    "summary"
);
id!(
    /// Identity of the subject of a report: the community, the summary entity or the entity.
    SubjectId,
    "subject"
);

impl From<CommunityId> for SubjectId {
    fn from(community: CommunityId) -> Self {
        Self(community.0)
    }
}

impl From<EntityId> for SubjectId {
    fn from(entity: EntityId) -> Self {
        Self(entity.0)
    }
}

impl From<SummaryId> for SubjectId {
    fn from(summary: SummaryId) -> Self {
        Self(summary.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_the_round_trip_through_text() {
        let id = PassageId::of(&[b"a", b"b"]);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(id.to_string().len(), 32);
    }

    #[test]
    fn parts_do_not_collide_by_concatenation() {
        assert_ne!(PassageId::of(&[b"ab", b"c"]), PassageId::of(&[b"a", b"bc"]));
        assert_ne!(PassageId::of(&[b"a"]).as_bytes(), DocumentId::of(&[b"a"]).as_bytes());
    }

    #[test]
    fn an_invalid_id_is_refused() {
        for text in ["", "0", "+0000000000000000000000000000000", "g0000000000000000000000000000000"] {
            assert!(text.parse::<PassageId>().is_err(), "{text}");
        }
    }
}
