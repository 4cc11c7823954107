//! Nodes and relationships as written and read: a key, and properties with their digest.

use std::collections::BTreeSet;

use neo4rs::{BoltBytes, BoltList, BoltMap, BoltNull, BoltString, BoltType};

use super::kinds::Kind;

/// Identity of an element: that of what it represents.
pub(super) type Key = [u8; 16];

/// A value of a property. Lists are never empty: a property that is not there says the same.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Flag(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    Integers(Vec<i64>),
    Texts(Vec<String>),
    Floats(Vec<f32>),
}

/// The type of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Flag,
    Integer,
    Float,
    Text,
    Bytes,
    Integers,
    Texts,
    Floats,
}

impl Value {
    /// Returns what kind of value it is.
    pub(super) const fn kind(&self) -> Type {
        match self {
            Self::Flag(_) => Type::Flag,
            Self::Integer(_) => Type::Integer,
            Self::Float(_) => Type::Float,
            Self::Text(_) => Type::Text,
            Self::Bytes(_) => Type::Bytes,
            Self::Integers(_) => Type::Integers,
            Self::Texts(_) => Type::Texts,
            Self::Floats(_) => Type::Floats,
        }
    }
}

/// Returns a number as a value.
pub(super) fn integer(number: u32) -> Value {
    Value::Integer(number.into())
}

/// The properties that mark an element as ours, besides its `id`: its first version, its last one, and a digest. Nobody
/// uses these names by chance.
pub(super) const MARKS: [&str; 3] = ["cairnSince", "cairnUntil", "cairnDigest"];

/// The name of the one property that is a vector.
pub(super) const EMBEDDING: &str = "embedding";
/// The name of the property with the positions of a passage and its sentences.
pub(super) const SPANS: &str = "cairnSpans";
/// The name of the property that holds the vectors of a workspace.
pub(super) const VECTORS: &str = "cairnVectors";

/// In the words around a mention: a word that says nothing.
pub(super) const NO_WORD: &str = "_";

/// Properties by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Properties(Vec<(&'static str, Value)>);

impl Properties {
    /// Adds a property; an empty list is none.
    pub(super) fn put(&mut self, name: &'static str, value: Value) {
        let is_nothing = match &value {
            Value::Bytes(bytes) => bytes.is_empty(),
            Value::Integers(integers) => integers.is_empty(),
            Value::Texts(texts) => texts.is_empty(),
            Value::Floats(floats) => floats.is_empty(),
            Value::Flag(_) | Value::Integer(_) | Value::Float(_) | Value::Text(_) => false,
        };
        if !is_nothing {
            self.0.push((name, value));
        }
    }

    pub(super) fn put_text(&mut self, name: &'static str, text: impl Into<String>) {
        self.put(name, Value::Text(text.into()));
    }

    /// Returns a number that differs if a property does.
    pub(super) fn digest(&self) -> i64 {
        digest(self.0.iter().map(|(name, value)| (*name, value)).collect())
    }

    /// Iterates over them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(&'static str, Value)> {
        self.0.iter()
    }

    /// Returns about how many bytes they are on the wire.
    fn wire_bytes(&self) -> usize {
        let bytes = |value: &Value| match value {
            Value::Flag(_) | Value::Integer(_) | Value::Float(_) => 9,
            Value::Text(text) => text.len() + 5,
            Value::Bytes(bytes) => bytes.len() + 5,
            Value::Integers(integers) => integers.len() * 5,
            Value::Texts(texts) => texts.iter().map(|text| text.len() + 5).sum(),
            Value::Floats(floats) => floats.len() * 9,
        };
        self.0.iter().map(|(name, value)| name.len() + 1 + bytes(value)).sum()
    }
}

/// Returns a number that differs if a property does, independent of order.
pub(super) fn digest(mut properties: Vec<(&str, &Value)>) -> i64 {
    properties.sort_unstable_by_key(|(name, _)| *name);
    // Hashed at once: that costs less than adding many small parts.
    let mut hashed = Vec::with_capacity(512);
    for (name, value) in properties {
        add(&mut hashed, name.as_bytes());
        add_value(&mut hashed, value);
    }
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&blake3::hash(&hashed).as_bytes()[..8]);
    i64::from_le_bytes(bytes)
}

fn add(hashed: &mut Vec<u8>, bytes: &[u8]) {
    hashed.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    hashed.extend_from_slice(bytes);
}

fn add_value(hashed: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Flag(flag) => add(hashed, &[0, u8::from(*flag)]),
        Value::Integer(integer) => add(hashed, &integer.to_le_bytes()),
        Value::Float(float) => add(hashed, &float.to_bits().to_le_bytes()),
        Value::Text(text) => add(hashed, text.as_bytes()),
        Value::Bytes(bytes) => add(hashed, bytes),
        Value::Integers(integers) => {
            hashed.extend_from_slice(&(integers.len() as u64).to_le_bytes());
            for integer in integers {
                add(hashed, &integer.to_le_bytes());
            }
        }
        Value::Texts(texts) => {
            hashed.extend_from_slice(&(texts.len() as u64).to_le_bytes());
            for text in texts {
                add(hashed, text.as_bytes());
            }
        }
        Value::Floats(floats) => add(hashed, bytemuck::cast_slice(floats)),
    }
}

/// A node or relationship of a version.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Element {
    pub(super) key: Key,
    /// The ends of a relationship.
    pub(super) ends: Option<(Key, Key)>,
    pub(super) properties: Properties,
}

/// The first version of an element and its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Since {
    pub(super) own: i64,
    pub(super) from: i64,
    pub(super) to: i64,
}

impl Element {
    /// Returns about how many bytes its row is on the wire.
    pub(super) fn wire_bytes(&self) -> usize {
        self.properties.wire_bytes() + if self.ends.is_some() { 250 } else { 220 }
    }

    /// Returns the row that writes it as an element of `kind`. Missing properties of its kind are null, which removes
    /// them.
    pub(super) fn into_row(self, kind: Kind, since: Since) -> BoltType {
        let ends = self.ends.map(|(from, to)| [(from, since.from), (to, since.to)]);
        let mut row = Place { key: self.key, since: since.own, ends }.into_row();
        let digest = (!kind.properties().is_empty()).then(|| self.properties.digest());
        let [own_since, until, own_digest] = MARKS;
        let mut properties = BoltMap::with_capacity(MARKS.len() + kind.properties().len() + 1);
        if ends.is_none() {
            put(&mut properties, "id", hex(&self.key).into());
        }
        put(&mut properties, own_since, since.own.into());
        put(&mut properties, until, BoltType::Null(BoltNull));
        put(&mut properties, own_digest, digest.into());
        for (name, _) in kind.properties() {
            put(&mut properties, name, BoltType::Null(BoltNull));
        }
        for (name, value) in self.properties.0 {
            // Vectors are set by a procedure, which keeps them in half the space.
            let map = if name == EMBEDDING { &mut row } else { &mut properties };
            put(map, name, bolt(value));
        }
        put(&mut row, "properties", BoltType::Map(properties));
        BoltType::Map(row)
    }
}

/// How an element of the database is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Of a relationship, what its ends are found by: it has no id of its own.
    pub(super) ends: Option<[(Key, i64); 2]>,
    pub(super) key: Key,
    /// Its first version.
    pub(super) since: i64,
}

impl Place {
    /// Returns about how many bytes its row is on the wire.
    pub(super) const fn wire_bytes(&self) -> usize {
        if self.ends.is_some() { 120 } else { 60 }
    }

    /// Returns a row that finds it.
    pub(super) fn into_row(self) -> BoltMap {
        let mut row = BoltMap::with_capacity(16);
        match self.ends {
            None => put(&mut row, "id", hex(&self.key).into()),
            Some([(from, from_since), (to, to_since)]) => {
                put(&mut row, "from", hex(&from).into());
                put(&mut row, "fromSince", from_since.into());
                put(&mut row, "to", hex(&to).into());
                put(&mut row, "toSince", to_since.into());
            }
        }
        put(&mut row, "since", self.since.into());
        row
    }
}

pub(super) fn put(map: &mut BoltMap, name: &str, value: BoltType) {
    map.put(BoltString::new(name), value);
}

pub(super) fn bolt(value: Value) -> BoltType {
    let list = |value: Vec<BoltType>| BoltType::List(BoltList { value });
    match value {
        Value::Flag(flag) => flag.into(),
        Value::Integer(integer) => integer.into(),
        Value::Float(float) => float.into(),
        Value::Text(text) => text.into(),
        Value::Bytes(bytes) => BoltType::Bytes(BoltBytes::new(bytes.into())),
        Value::Integers(integers) => list(integers.into_iter().map(Into::into).collect()),
        Value::Texts(texts) => list(texts.into_iter().map(Into::into).collect()),
        Value::Floats(floats) => list(floats.into_iter().map(|float| f64::from(float).into()).collect()),
    }
}

/// Returns the value in the database; none for types that are never written.
pub(super) fn unbolt(value: BoltType) -> Option<Value> {
    Some(match value {
        BoltType::Boolean(flag) => Value::Flag(flag.value),
        BoltType::Integer(integer) => Value::Integer(integer.value),
        BoltType::Float(float) => Value::Float(float.value),
        BoltType::String(text) => Value::Text(text.value),
        BoltType::Bytes(bytes) => Value::Bytes(bytes.value.to_vec()),
        BoltType::List(list) => match list.value.first() {
            None => return None,
            Some(BoltType::Integer(_)) => Value::Integers(each(list, |it| match it {
                BoltType::Integer(integer) => Some(integer.value),
                _ => None,
            })?),
            Some(BoltType::Float(_)) => Value::Floats(each(list, |it| match it {
                BoltType::Float(float) => Some(float.value as f32),
                _ => None,
            })?),
            Some(_) => Value::Texts(each(list, |it| match it {
                BoltType::String(text) => Some(text.value),
                _ => None,
            })?),
        },
        _ => return None,
    })
}

fn each<T>(list: BoltList, of: impl Fn(BoltType) -> Option<T>) -> Option<Vec<T>> {
    list.value.into_iter().map(of).collect()
}

/// Returns a key as it is in the database.
pub(super) fn hex(key: &Key) -> String {
    format!("{:032x}", u128::from_be_bytes(*key))
}

/// Digits of a key that find its element, and seldom any other.
const SHORT_DIGITS: usize = 10;

/// Returns keys as a list of their first digits. The driver sends a request of more than 8 KiB in several packets, and
/// the last of them waits 40 ms for the server to acknowledge the first; so cut, the keys of 600 passages fit into one.
///
/// Such a request may find other keys, which the caller leaves out.
pub(super) fn short<'a>(keys: impl IntoIterator<Item = &'a Key>) -> BoltType {
    // None twice, which would find everything twice.
    let digits: BTreeSet<String> = keys.into_iter().map(|key| hex(key)[..SHORT_DIGITS].to_owned()).collect();
    BoltType::List(BoltList { value: digits.into_iter().map(BoltType::from).collect() })
}

/// Returns the key that a text of the database is.
pub(super) fn unhex(text: &str) -> Option<Key> {
    let is_key = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_key.then(|| u128::from_str_radix(text, 16).ok()).flatten().map(u128::to_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn properties(values: &[(&'static str, Value)]) -> Properties {
        let mut properties = Properties::default();
        for (name, value) in values {
            properties.put(name, value.clone());
        }
        properties
    }

    #[test]
    fn a_digest_depends_on_every_property_and_on_no_order() {
        let (text, number) = (("a", Value::Text("x".to_owned())), ("b", Value::Integer(1)));
        let both = properties(&[text.clone(), number.clone()]);
        assert_eq!(both.digest(), properties(&[number.clone(), text.clone()]).digest());
        for other in [
            properties(std::slice::from_ref(&text)),
            properties(&[text.clone(), ("b", Value::Integer(2))]),
            properties(&[text.clone(), ("c", Value::Integer(1))]),
            properties(&[number, ("a", Value::Texts(vec!["x".to_owned()]))]),
        ] {
            assert_ne!(both.digest(), other.digest(), "{other:?}");
        }
        let empty = properties(&[text.clone(), ("c", Value::Texts(Vec::new()))]);
        assert_eq!(empty.digest(), properties(&[text]).digest());
    }

    #[test]
    fn a_value_comes_back_from_the_database_as_it_was() {
        for value in [
            Value::Flag(true),
            Value::Integer(-1),
            Value::Float(0.1),
            Value::Text("ä".to_owned()),
            Value::Bytes(vec![0, 255]),
            Value::Integers(vec![1, 2]),
            Value::Texts(vec!["a".to_owned()]),
            Value::Floats(vec![0.1, -0.5]),
        ] {
            assert_eq!(unbolt(bolt(value.clone())), Some(value));
        }
    }

    #[test]
    fn a_row_names_all_that_its_kind_can_have_and_nothing_else() {
        let some = properties(&[("title", Value::Text("Harl Mill".to_owned())), (EMBEDDING, Value::Floats(vec![1.0]))]);
        let element = Element { key: [7; 16], ends: None, properties: some };
        let since = Since { own: 1, from: 1, to: 1 };
        let BoltType::Map(row) = element.into_row(Kind::Passage, since) else { panic!("no map") };
        let written: BoltMap = row.get("properties").unwrap();
        let names: BTreeSet<&str> = written.value.keys().map(|name| name.value.as_str()).collect();
        let declared = Kind::Passage.properties().iter().map(|(name, _)| *name);
        let due: BTreeSet<&str> = declared.chain(MARKS).chain(["id"]).collect();
        assert_eq!(names, due);
        let is_null = |name: &str| matches!(written.value.get(name), Some(BoltType::Null(_)));
        // Missing properties are removed, and those set by a procedure come afterwards.
        assert!(is_null("section") && is_null("cairnUntil") && is_null(EMBEDDING) && !is_null("title"));
        assert!(row.get::<Vec<f64>>(EMBEDDING).is_ok());
    }

    #[test]
    fn a_key_survives_the_round_trip_through_text() {
        let key = [7; 16];
        assert_eq!(unhex(&hex(&key)), Some(key));
        assert_eq!(unhex("no"), None);
    }
}
