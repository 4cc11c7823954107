//! The fields of a schema: those that no value has, and objects that take any.

use serde_json::Value;

/// Returns how many objects of a schema take any field.
pub(super) fn open_objects(schema: &Value) -> usize {
    match schema {
        Value::Object(fields) => {
            let is_open = schema["type"] == "object" && !fields.contains_key("additionalProperties");
            usize::from(is_open) + fields.values().map(open_objects).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(open_objects).sum(),
        _ => 0,
    }
}

/// Returns the properties in `part` of the schema `whole` that none of `values` has. Those of another schema that it
/// refers to are not among them.
pub(super) fn unused_fields(whole: &Value, part: &Value, values: &[&Value]) -> Vec<String> {
    if let Some(name) = part["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/")) {
        return unused_fields(whole, &whole["$defs"][name], values);
    }
    let mut unused = Vec::new();
    for (name, property) in part["properties"].as_object().into_iter().flatten() {
        let inner: Vec<&Value> = values.iter().filter_map(|value| value.get(name)).collect();
        if inner.is_empty() {
            unused.push(name.clone());
        } else {
            unused.extend(unused_fields(whole, property, &inner).into_iter().map(|it| format!("{name}.{it}")));
        }
    }
    for choice in part["oneOf"].as_array().into_iter().flatten() {
        unused.extend(unused_fields(whole, choice, values));
    }
    if !part["items"].is_null() {
        let items: Vec<&Value> = values.iter().filter_map(|value| value.as_array()).flatten().collect();
        unused.extend(unused_fields(whole, &part["items"], &items));
    }
    unused
}
