//! Turns a record into a document: assigns its fields.

use serde_json::{Map, Value};

use super::place::Record;
use super::{ID_FIELD, IngestOptions};
use crate::domain::{Document, DocumentId, Metadata, Positions};

/// Returns the document in a record of the file `file`, or why it is not one.
pub(super) fn to_document(record: Record, file: &str, options: &IngestOptions) -> Result<Document, String> {
    let Record { fields: mut record, begins } = record;
    let (source_id, uri) = match take_id(&mut record, &options.id_field)? {
        Some(id) => (id.clone(), format!("{file}#{id}")),
        // A field that the user names is required.
        None if options.id_field != ID_FIELD => return Err(format!("no field `{}`", options.id_field)),
        None => (format!("{file}{begins}"), format!("{file}{begins}")),
    };
    let text = take_text(&mut record, &options.text_field)?;
    let title = match &options.title_field {
        Some(field) => take_title(&mut record, field)?,
        None => None,
    };
    let metadata = record.into_iter().filter_map(|(key, value)| Some((key, to_text(value)?))).collect::<Metadata>();
    Ok(Document {
        id: DocumentId::of(&[source_id.as_bytes()]),
        uri,
        source_id,
        title,
        media_type: "text/plain".to_owned(),
        text,
        positions: Positions::None,
        metadata,
    })
}

/// Takes the id. A record may lack one, but a value in its field must be an id.
fn take_id(record: &mut Map<String, Value>, field: &str) -> Result<Option<String>, String> {
    match record.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) if id.trim().is_empty() => Err(format!("field `{field}` is empty")),
        Some(Value::String(id)) => Ok(Some(id)),
        Some(Value::Number(id)) => Ok(Some(id.to_string())),
        Some(_) => Err(format!("field `{field}` is neither text nor a number")),
    }
}

fn take_text(record: &mut Map<String, Value>, field: &str) -> Result<String, String> {
    match record.remove(field) {
        Some(Value::String(text)) if text.trim().is_empty() => Err(format!("field `{field}` is empty")),
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(format!("field `{field}` is not text")),
        None => Err(format!("no field `{field}`")),
    }
}

/// Takes the title. A record may lack one, but a value in its field must be a title.
fn take_title(record: &mut Map<String, Value>, field: &str) -> Result<Option<String>, String> {
    match record.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(title)) if title.trim().is_empty() => Ok(None),
        Some(Value::String(title)) => Ok(Some(title)),
        Some(Value::Number(title)) => Ok(Some(title.to_string())),
        Some(_) => Err(format!("field `{field}` is not text")),
    }
}

/// Returns a value as it is kept in metadata: text as it is, anything else as JSON; none for `null`.
fn to_text(value: Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::Begins;
    use super::*;

    fn document(json: &str, options: &IngestOptions) -> Result<Document, String> {
        let record = Record { fields: serde_json::from_str(json).unwrap(), begins: Begins::line(3) };
        to_document(record, "notes/a.jsonl", options)
    }

    #[test]
    fn a_record_without_an_id_takes_file_and_line_unless_a_field_was_named() {
        for json in [r#"{"text":"t"}"#, r#"{"id":null,"text":"t"}"#] {
            let found = document(json, &IngestOptions::default()).unwrap();
            assert_eq!((found.source_id.as_str(), found.uri.as_str()), ("notes/a.jsonl:3", "notes/a.jsonl:3"));
        }
        let named = IngestOptions { id_field: "key".to_owned(), ..IngestOptions::default() };
        assert_eq!(document(r#"{"id":1,"text":"t"}"#, &named).unwrap_err(), "no field `key`");
    }

    #[test]
    fn the_fields_of_a_record_are_what_the_options_say() {
        let json = concat!(
            r#"{"id":7,"title":"Mill","text":"It stands.","year":1890,"open":true,"#,
            r#""tags":["a",{"b":1}],"x":null,"by":"Zoë"}"#
        );
        let found = document(json, &IngestOptions::default()).unwrap();
        assert_eq!((found.source_id.as_str(), found.title.as_deref()), ("7", Some("Mill")));
        assert_eq!((found.text.as_str(), found.uri.as_str()), ("It stands.", "notes/a.jsonl#7"));
        let expect = [("by", "Zoë"), ("open", "true"), ("tags", r#"["a",{"b":1}]"#), ("year", "1890")];
        assert_eq!(found.metadata, expect.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
        let options = IngestOptions {
            id_field: "by".to_owned(),
            title_field: None,
            text_field: "title".to_owned(),
            ..IngestOptions::default()
        };
        let found = document(json, &options).unwrap();
        assert_eq!((found.source_id.as_str(), found.title, found.text.as_str()), ("Zoë", None, "Mill"));
        assert!(found.metadata.contains_key("text") && found.metadata.contains_key("id"));
    }

    #[test]
    fn a_record_without_text_or_with_a_wrong_id_says_which_field() {
        for (json, expect) in [
            (r#"{"id":" ","text":"t"}"#, Err("field `id` is empty")),
            (r#"{"id":[1],"text":"t"}"#, Err("field `id` is neither text nor a number")),
            (r#"{"id":"a"}"#, Err("no field `text`")),
            (r#"{"id":"a","text":" \n"}"#, Err("field `text` is empty")),
            (r#"{"id":"a","text":5}"#, Err("field `text` is not text")),
            (r#"{"id":"a","text":"t","title":{}}"#, Err("field `title` is not text")),
            (r#"{"id":"a","text":"t","title":" "}"#, Ok(None)),
            (r#"{"id":"a","text":"t","title":null}"#, Ok(None)),
            (r#"{"id":"a","text":"t","title":1984}"#, Ok(Some("1984"))),
        ] {
            let found = document(json, &IngestOptions::default()).map(|it| it.title);
            assert_eq!(found, expect.map(|it| it.map(str::to_owned)).map_err(str::to_owned), "{json}");
        }
    }
}
