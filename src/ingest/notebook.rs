//! Jupyter notebooks: text cells unchanged, code cells fenced with backticks. Cell outputs are left out.

use std::cell::Cell;

use serde::de::DeserializeSeed as _;
use serde_json::Value;

use super::extracted::Extracted;
use super::values::{VALUES_MAX, Values, too_many};
use crate::domain::{Metadata, Positions};

/// Parses a notebook.
#[expect(clippy::needless_pass_by_value, reason = "as all parsers of text are called")]
pub(super) fn parse(text: String) -> Result<Extracted, String> {
    let left = Cell::new(VALUES_MAX + 1);
    let mut parser = serde_json::Deserializer::from_str(&text);
    let notebook = Values { left: &left }.deserialize(&mut parser).and_then(|it| parser.end().map(|()| it));
    let notebook = notebook.map_err(|error| format!("not a notebook: {error}"))?;
    if left.get() == 0 {
        return Err(too_many());
    }
    // Before format 4, cells were on sheets.
    let sheets = notebook.get("worksheets").and_then(Value::as_array);
    let cells: Vec<&Value> = match sheets {
        Some(sheets) => sheets.iter().filter_map(|it| it.get("cells")).filter_map(Value::as_array).flatten().collect(),
        None => {
            notebook.get("cells").and_then(Value::as_array).ok_or("not a notebook: it has no cells")?.iter().collect()
        }
    };
    let language = language(&notebook);
    let mut out = String::new();
    for cell in cells {
        let source = lines(cell.get("source").or_else(|| cell.get("input")));
        if source.trim().is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push_str("\n\n");
        }
        match cell.get("cell_type").and_then(Value::as_str) {
            Some("code") => {
                let code = source.trim_end().replace("\n```", "\n ```");
                out.extend(["```", language, "\n", &code, "\n```"]);
            }
            Some("heading") => {
                let level = cell.get("level").and_then(Value::as_u64).unwrap_or(1).clamp(1, 6) as usize;
                out.extend([&*"#".repeat(level), " ", source.trim()]);
            }
            _ => out.push_str(source.trim_end()),
        }
    }
    if out.trim().is_empty() {
        return Err("no text: all its cells are empty".to_owned());
    }
    let mut metadata = Metadata::new();
    if !language.is_empty() {
        metadata.insert("code_language".to_owned(), language.to_owned());
    }
    let title = super::markdown::heading(&out).map(str::to_owned);
    Ok(Extracted { title, text: out, media_type: String::new(), metadata, positions: Positions::None })
}

fn language(notebook: &Value) -> &str {
    let names = ["/metadata/kernelspec/language", "/metadata/language_info/name"];
    let name = names.iter().find_map(|it| notebook.pointer(it)?.as_str()).unwrap_or_default();
    if name.len() <= 20 && name.chars().all(|it| it.is_ascii_alphanumeric() || "+#-".contains(it)) { name } else { "" }
}

/// Returns a text that is a string or a list of lines.
fn lines(source: Option<&Value>) -> String {
    match source {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(json: &str) -> Result<(Option<String>, String), String> {
        parse(json.to_owned()).map(|it| (it.title, it.text))
    }

    #[test]
    fn cells_of_text_and_code_follow_one_another() {
        let json = r##"{"metadata":{"kernelspec":{"language":"python"}},"cells":[
            {"cell_type":"markdown","source":["# The mill\n","It stands."]},
            {"cell_type":"code","source":"x = 1\n","outputs":[{"text":"no"}]},
            {"cell_type":"raw","source":[]}]}"##;
        let expect = "# The mill\nIt stands.\n\n```python\nx = 1\n```";
        assert_eq!(parsed(json), Ok((Some("The mill".to_owned()), expect.to_owned())));
        let old = r#"{"worksheets":[{"cells":[
            {"cell_type":"heading","level":2,"source":"A"},{"cell_type":"code","input":"y"}]}]}"#;
        assert_eq!(parsed(old), Ok((Some("A".to_owned()), "## A\n\n```\ny\n```".to_owned())));
    }

    #[test]
    fn an_invalid_notebook_is_refused_with_the_reason() {
        assert_eq!(parsed("{}").unwrap_err(), "not a notebook: it has no cells");
        assert_eq!(parsed(r#"{"cells":[]}"#).unwrap_err(), "no text: all its cells are empty");
        assert!(parsed("x").unwrap_err().starts_with("not a notebook: "));
    }
}
