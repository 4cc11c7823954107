//! Recorded replies of language models about the questions of a file, read from JSON Lines: the parts of a question,
//! with answers to them, and the entities that it names. Lines without either, and unknown fields, are ignored, so a
//! file of questions with their parts can be read directly.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::files;

/// A part of a question.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RecordedPart {
    /// What it asks; `#1` stands for the answer to the first.
    pub question: String,
    /// The answer that was given to it.
    #[serde(default)]
    pub answer: String,
}

/// What was said of one question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Its parts.
    pub parts: Vec<RecordedPart>,
    /// What it names.
    pub entities: Vec<String>,
}

/// What was said, by the ids of questions.
pub type RecordedReplies = BTreeMap<String, Recorded>;

#[derive(Deserialize)]
struct Line {
    #[serde(alias = "id")]
    question_id: String,
    #[serde(default, alias = "decomposition")]
    subquestions: Vec<RecordedPart>,
    #[serde(default)]
    entities: Vec<String>,
}

/// Reads what was said from files, one after the other; the first that says something of a question counts.
///
/// # Errors
///
/// [`Error::Io`] if a file cannot be read; [`Error::Line`] for a line that is not such an object.
pub fn read_recorded(paths: &[impl AsRef<Path>]) -> Result<RecordedReplies> {
    let mut replies = RecordedReplies::new();
    for path in paths.iter().map(AsRef::as_ref) {
        let text = files::read_text(path)?;
        for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
            let refused = |error: serde_json::Error| Error::Line {
                path: path.to_owned(),
                line: number,
                reason: error.to_string(),
            };
            let Line { question_id, subquestions, entities } = serde_json::from_str(line).map_err(refused)?;
            let said = replies.entry(question_id).or_default();
            if said.parts.is_empty() {
                said.parts = subquestions.into_iter().map(without_marks).collect();
            }
            if said.entities.is_empty() {
                said.entities = entities;
            }
        }
    }
    Ok(replies)
}

/// Returns a part without the placeholders that some programs append for its answer.
fn without_marks(part: RecordedPart) -> RecordedPart {
    let question = part.question.split("[ANSWER_").next().unwrap_or_default().trim().to_owned();
    RecordedPart { question, ..part }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn parts_and_names_are_read_from_several_files() {
        let folder = tempfile::tempdir().unwrap();
        let (parts, names) = (folder.path().join("parts"), folder.path().join("names"));
        let lines = [
            r#"{"question_id":"1","subquestions":[{"question":"Who? [ANSWER_1]","answer":"Ann"}],"model":"m"}"#,
            r#"{"id":"2","question":"When?","decomposition":[{"question":"a","answer":"b"},{"question":"c #1"}]}"#,
        ];
        fs::write(&parts, lines.join("\n\n")).unwrap();
        fs::write(&names, r#"{"question_id":"2","entities":["Ann Lee"]}"#).unwrap();
        let said = read_recorded(&[&parts, &names]).unwrap();
        assert_eq!(said["1"].parts, [RecordedPart { question: "Who?".to_owned(), answer: "Ann".to_owned() }]);
        assert_eq!((said["2"].parts.len(), &said["2"].entities[..]), (2, &["Ann Lee".to_owned()][..]));
        fs::write(&names, "{\"question_id\":\"2\"}\n7").unwrap();
        assert!(matches!(read_recorded(&[&names]), Err(Error::Line { line: 2, .. })));
    }
}
