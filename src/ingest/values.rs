//! JSON values, limited in number: a value of one byte takes dozens of bytes in memory.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Maximum values of a record, including nested ones.
pub(super) const VALUES_MAX: usize = 262_144;

/// The reason for a record with too many values.
pub(super) fn too_many() -> String {
    format!("a record of more than {VALUES_MAX} values")
}

/// Reads a value while the limit allows it; the rest is skipped, so that the reader continues after it.
#[derive(Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) left: &'a Cell<usize>,
}

impl Values<'_> {
    fn take(self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }
}

impl<'de> DeserializeSeed<'de> for Values<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.take() { deserializer.deserialize_any(self) } else { pass_over(deserializer) }
    }
}

fn pass_over<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    deserializer.deserialize_ignored_any(IgnoredAny).map(|IgnoredAny| Value::Null)
}

impl<'de> Visitor<'de> for Values<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            if self.left.get() > 0 {
                all.push(item);
            }
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(self)?;
            if self.left.get() > 0 {
                all.insert(key, value);
            }
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str, most: usize) -> (Value, usize) {
        let left = Cell::new(most);
        let mut parser = serde_json::Deserializer::from_str(json);
        let value = Values { left: &left }.deserialize(&mut parser).unwrap();
        parser.end().unwrap();
        (value, left.get())
    }

    #[test]
    fn values_are_those_of_the_standard_parser() {
        for json in ["null", "-1", "1.5e3", "18446744073709551615", r#"{"a":[true,"x\ny",{"b":null}],"a":2}"#, "[]"] {
            assert_eq!(read(json, 100).0, serde_json::from_str::<Value>(json).unwrap(), "{json}");
        }
    }

    #[test]
    fn beyond_the_limit_nothing_is_kept_and_the_rest_is_skipped() {
        let (value, left) = read("[1,[2,3],{\"a\":4},5,6]", 4);
        assert_eq!((value.as_array().map_or(0, Vec::len) < 3, left), (true, 0));
    }
}
