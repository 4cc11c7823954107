//! A version as files for `neo4j-admin database import`: for first loads too large for a connection.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::element::{Element, Type, Value, hex};
use super::kinds::{Kind, kept_records};
use super::publish::{first_state, source_hash};
use super::source::Elements;
use crate::error::{Error, Result};
use crate::files;
use crate::store::GraphReader as _;
use crate::workspace::Workspace;

/// The separator of the values of a list: a character that no text of ours has.
const BETWEEN: char = '\u{1f}';
/// The version that is imported.
const FIRST: i64 = 1;
/// The file with the arguments of the import.
const ARGUMENTS: &str = "arguments";

/// Writes the last version of a workspace to the folder `out`, which is created if missing: one file per kind, and
/// `arguments`, which names them all for `neo4j-admin database import full`. Publishing to the database afterwards
/// creates constraints and indexes, and finds everything else done.
///
/// # Errors
///
/// As [`publish`](fn@super::publish) for a workspace that cannot be published; [`Error::Io`] if a file cannot be
/// written.
pub fn write_import_files(workspace: &Workspace, out: &Path) -> Result<()> {
    let mut writer = workspace.writer()?;
    let records = writer.records();
    let snapshot = workspace.snapshot()?;
    let manifest = records.manifest()?;
    if manifest.is_changed || snapshot.counts().without_vectors > 0 {
        return Err(Error::Unfinished { path: workspace.path().to_owned() });
    }
    files::make_folder(out)?;
    let kept = kept_records(records)?;
    let source_hash = source_hash(&snapshot, &records.documents()?, &kept);
    let elements = Elements::new(&snapshot, records, kept)?;
    let mut arguments = String::from("--multiline-fields=true --array-delimiter=U+001F --overwrite-destination=true");
    for kind in Kind::ALL {
        let name = format!("{}.csv", kind.own_name().to_lowercase().replace(' ', "_"));
        let label = kind.labels().join(":");
        let option = if kind.ends().is_some() { "relationships" } else { "nodes" };
        // Writing to a string cannot fail.
        let _written = write!(arguments, " --{option}={label}={name}");
        write_kind(&elements, kind, &out.join(name))?;
    }
    let state = first_state(source_hash, &manifest, &snapshot);
    write_index(&state.properties(), &out.join("index.csv"))?;
    arguments.push_str(" --nodes=Index:_Cairn=index.csv\n");
    files::write_own(&out.join(ARGUMENTS), arguments)
}

fn write_kind(elements: &Elements<'_>, kind: Kind, path: &Path) -> Result<()> {
    let mut file = BufWriter::new(files::create_own(path)?);
    let mut header = match kind.ends() {
        None => format!("id:ID({})", kind.name()),
        Some((from, to)) => format!(":START_ID({}),:END_ID({})", from.name(), to.name()),
    };
    header.push_str(",cairnSince:long");
    if !kind.properties().is_empty() {
        header.push_str(",cairnDigest:long");
    }
    for (name, holds) in kind.properties() {
        let _written = write!(header, ",{name}:{}", type_name(*holds));
    }
    let mut put = |line: &str| writeln!(file, "{line}").map_err(Error::io("write", path));
    put(&header)?;
    for number in 0..elements.count(kind) {
        put(&line(kind, &elements.element(kind, number)?))?;
    }
    file.flush().map_err(Error::io("write", path))
}

fn line(kind: Kind, element: &Element) -> String {
    let key = hex(&element.key);
    let mut line = match &element.ends {
        None => key,
        Some((from, to)) => format!("{},{}", hex(from), hex(to)),
    };
    let _written = write!(line, ",{FIRST}");
    if !kind.properties().is_empty() {
        let _written = write!(line, ",{}", element.properties.digest());
    }
    let values: BTreeMap<&str, &Value> = element.properties.iter().map(|(name, value)| (*name, value)).collect();
    for (name, _) in kind.properties() {
        line.push(',');
        if let Some(value) = values.get(name) {
            line.push_str(&field(value));
        }
    }
    line
}

fn write_index(properties: &[(&'static str, Value)], path: &Path) -> Result<()> {
    // The key of a node is its id without being declared as a property too.
    let column = |(name, value): &(&'static str, Value)| match *name {
        "id" => "id:ID(Index)".to_owned(),
        name => format!("{name}:{}", type_name(value.kind())),
    };
    let header: Vec<String> = properties.iter().map(column).collect();
    let values: Vec<String> = properties.iter().map(|(_, value)| field(value)).collect();
    files::write_own(path, format!("{}\n{}\n", header.join(","), values.join(",")))
}

/// Returns the name of a property's type in the header of a file.
const fn type_name(holds: Type) -> &'static str {
    match holds {
        Type::Flag => "boolean",
        Type::Integer => "long",
        Type::Float => "double",
        Type::Text => "string",
        Type::Bytes => "byte[]",
        Type::Integers => "long[]",
        Type::Texts => "string[]",
        Type::Floats => "float[]",
    }
}

fn field(value: &Value) -> String {
    match value {
        Value::Flag(flag) => flag.to_string(),
        Value::Integer(integer) => integer.to_string(),
        Value::Float(float) => float.to_string(),
        Value::Text(text) => quoted(text),
        Value::Bytes(bytes) => list(bytes.iter().map(|byte| byte.cast_signed().to_string())),
        Value::Integers(integers) => list(integers.iter().map(ToString::to_string)),
        Value::Texts(texts) => quoted(&list(texts.iter().cloned())),
        Value::Floats(floats) => list(floats.iter().map(ToString::to_string)),
    }
}

fn list(values: impl Iterator<Item = String>) -> String {
    values.collect::<Vec<_>>().join(&BETWEEN.to_string())
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_quoted_where_a_comma_or_line_could_end_it() {
        assert_eq!(field(&Value::Text("a, \"b\"\n".to_owned())), "\"a, \"\"b\"\"\n\"");
        assert_eq!(field(&Value::Texts(vec!["a".to_owned(), "b".to_owned()])), "\"a\u{1f}b\"");
        assert_eq!(field(&Value::Bytes(vec![0, 255])), "0\u{1f}-1");
    }
}
