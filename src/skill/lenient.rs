//! Lenient parsing of replies in almost the right form: a number as a string, one number in place of a list, `"yes"`
//! for `true`. The meaning of a value is never guessed beyond that; meaningless values are left out.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A number: `1`, `1.0`, `"1"`, `"[1]"`.
fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => {
            let whole = || number.as_f64().filter(|it| it.fract() == 0.0 && it.abs() < 1e15).map(|it| it as i64);
            number.as_i64().or_else(whole)
        }
        Value::String(text) => {
            text.trim().trim_matches(|it: char| matches!(it, '[' | ']' | '#' | '(' | ')')).trim().parse().ok()
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Reads numbers out of a list, one number, or a text with some (`"1, 3"`).
pub(super) fn numbers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<i64>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::Array(values) => values.iter().filter_map(number).collect(),
        Value::String(text) => text.split(',').filter_map(|it| number(&Value::from(it))).collect(),
        value => number(&value).into_iter().collect(),
    })
}

/// Reads a number.
pub(super) fn one_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let value = Value::deserialize(deserializer)?;
    number(&value).ok_or_else(|| serde::de::Error::custom(format!("`{value}` is no number")))
}

/// Reads an amount, whole or not, or nothing: `8.5`, `"8.5"`.
pub(super) fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let said = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    Ok(said.filter(|amount| amount.is_finite()))
}

/// Returns the whole number from `least` to `most` that is nearest to an amount; the least where there is none.
#[expect(clippy::cast_sign_loss, reason = "both bounds are at least 0")]
pub(super) fn nearest(amount: Option<f64>, least: u8, most: u8) -> u8 {
    amount.unwrap_or(0.0).clamp(least.into(), most.max(least).into()).round() as u8
}

/// Reads a number or none: `null`, `0`, `"none"`.
pub(super) fn number_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let says_none = value.as_str().is_some_and(|it| matches!(it.trim().to_lowercase().as_str(), "" | "none" | "null"));
    if value.is_null() || says_none {
        return Ok(None);
    }
    let number = number(&value).ok_or_else(|| serde::de::Error::custom(format!("`{value}` is no number")))?;
    Ok(Some(number).filter(|number| *number != 0))
}

/// Reads yes or no: `true`, `"true"`, `"yes"`.
pub(super) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let said = value.as_str().map(|it| it.trim().to_lowercase());
    Ok(value.as_bool().or(match said.as_deref() {
        Some("true" | "yes") => Some(true),
        Some("false" | "no") => Some(false),
        _ => None,
    }))
}

/// Reads a text; a number is one, and nothing is an empty one.
pub(super) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => text,
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => String::new(),
    })
}

/// Reads texts out of a list, or the one that stands in its place.
pub(super) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let text = |value: Value| if let Value::String(text) = value { Some(text) } else { None };
    Ok(match Value::deserialize(deserializer)? {
        Value::Array(values) => values.into_iter().filter_map(text).collect(),
        value => text(value).into_iter().collect(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_means_a_number_or_yes_is_read_and_what_means_nothing_is_not() {
        let read = |value: Value| numbers(value).unwrap();
        assert_eq!(read(json!([1, "2", 3.0, "[4]", " #5 ", null, "six", 1.5, {}])), [1, 2, 3, 4, 5]);
        assert_eq!((read(json!("1, 3")), read(json!(7)), read(json!(null))), (vec![1, 3], vec![7], vec![]));
        assert_eq!(read(json!([1e300, u64::MAX])), [0i64; 0]);
        let one = |value: Value| number_or_none(value).ok();
        for none in [json!(null), json!(0), json!("none"), json!("")] {
            assert_eq!(one(none), Some(None));
        }
        assert_eq!((one(json!("2")), one(json!("two")), one(json!([]))), (Some(Some(2)), None, None));
        let much = [json!(8.5), json!(" 8.5 "), json!("inf"), json!("much"), json!(null)];
        assert_eq!(much.map(|value| amount(value).unwrap()), [Some(8.5), Some(8.5), None, None, None]);
        let says = |value: Value| flag(value).unwrap();
        assert_eq!(
            [says(json!(true)), says(json!("Yes")), says(json!("no")), says(json!("perhaps"))],
            [Some(true), Some(true), Some(false), None]
        );
    }
}
