//! Questions with their supporting documents, read from JSON Lines. Labels are used only for scoring; nothing here
//! passes them to a search.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use serde::{Deserialize, Deserializer};

use super::gold::{GoldPassage, flat};
use crate::error::{Error, Result};
use crate::files;

/// A question with the documents that support its answer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Question {
    /// Identity in its file.
    #[serde(deserialize_with = "label")]
    pub id: String,
    /// What is asked.
    pub question: String,
    /// The source ids of the documents that hold the answer, all of them needed, none twice.
    #[serde(default, deserialize_with = "labels")]
    pub supporting: Vec<String>,
    /// The passages that hold the answer, all of them needed, where a list is scored by passages; `supporting` then has
    /// a label for each.
    #[serde(default)]
    pub passages: Vec<GoldPassage>,
    /// What kind of question it is, in the words of its file.
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
    /// How many documents have to be joined.
    #[serde(default)]
    pub hops: Option<u32>,
    /// Accepted answers.
    #[serde(default, deserialize_with = "labels")]
    pub answers: Vec<String>,
    /// The weight of the question in a fit, relative to the others of its file: at least 1.
    #[serde(default = "usual_weight")]
    pub weight: u32,
}

fn usual_weight() -> u32 {
    1
}

/// Returns the questions of the file at `path`, in its order.
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be read; [`Error::Line`], with the line, for the first line that is not UTF-8, not
/// a question, without supporting documents, or has the id of an earlier one; the same if there is no question at all.
pub fn read_questions(path: &Path) -> Result<Vec<Question>> {
    let bytes = files::read(path)?;
    parse_questions(path, &bytes)
}

/// Returns the same, where questions need not say what should be found.
///
/// # Errors
///
/// As [`read_questions`], but for supporting documents.
pub fn read_asked(path: &Path) -> Result<Vec<Question>> {
    parsed(path, &files::read(path)?, |_| Ok(()))
}

/// Returns the questions in `bytes`, which were read from `path`. Empty lines and unknown fields are passed over.
///
/// # Errors
///
/// As [`read_questions`], without [`Error::Io`].
pub fn parse_questions(path: &Path, bytes: &[u8]) -> Result<Vec<Question>> {
    parsed(path, bytes, has_gold)
}

fn parsed(path: &Path, bytes: &[u8], check: fn(&Question) -> Result<(), String>) -> Result<Vec<Question>> {
    let refused = |line: usize, reason: String| Error::Line { path: path.to_owned(), line, reason };
    // Editors on some systems put a byte order mark before the first line.
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let mut questions = Vec::new();
    let mut ids = HashSet::new();
    for (line_index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line_number = line_index + 1;
        let text = std::str::from_utf8(line).map_err(|_| refused(line_number, "not UTF-8".to_owned()))?;
        if text.trim().is_empty() {
            continue;
        }
        let question = parse_line(text).and_then(|question| check(&question).map(|()| question));
        let question = question.map_err(|reason| refused(line_number, reason))?;
        if !ids.insert(question.id.clone()) {
            return Err(refused(line_number, format!("the id `{}` was used by an earlier line", question.id)));
        }
        questions.push(question);
    }
    if questions.is_empty() {
        return Err(refused(1, "the file holds no question".to_owned()));
    }
    Ok(questions)
}

fn parse_line(text: &str) -> Result<Question, String> {
    if !text.trim_start().starts_with('{') {
        return Err("not a JSON object".to_owned());
    }
    let mut question: Question = serde_json::from_str(text).map_err(|error| without_place(&error))?;
    if question.question.trim().is_empty() {
        return Err(format!("the question `{}` is empty", question.id));
    }
    if question.weight == 0 {
        return Err(format!("the weight of the question `{}` is 0: it has to be at least 1", question.id));
    }
    for gold in &mut question.passages {
        gold.texts = gold.texts.iter().map(|text| flat(text)).filter(|text| !text.is_empty()).collect();
        if gold.texts.is_empty() {
            return Err(format!("a passage of the question `{}` has no text to know it by", question.id));
        }
    }
    if !question.passages.is_empty() {
        question.supporting = question.passages.iter().zip(0..).map(|(gold, number)| gold.label(number)).collect();
    }
    let mut seen = BTreeSet::new();
    question.supporting.retain(|id| seen.insert(id.clone()));
    Ok(question)
}

fn has_gold(question: &Question) -> Result<(), String> {
    if question.supporting.is_empty() {
        return Err(format!(
            "the question `{}` has no `supporting` ids and no `passages`: nothing says what should be found",
            question.id
        ));
    }
    Ok(())
}

/// Returns the parser's message without its `at line 1`, which would contradict the line of the file.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => format!("{}, at column {}", &text[..end], error.column()),
        None => text,
    }
}

/// An id or an answer: people also write numbers and booleans.
#[derive(Deserialize)]
#[serde(untagged, expecting = "an id or answer is neither text nor number")]
enum Label {
    Text(String),
    Whole(i64),
    Number(f64),
    Truth(bool),
}

impl From<Label> for String {
    fn from(label: Label) -> Self {
        match label {
            Label::Text(text) => text,
            Label::Whole(number) => number.to_string(),
            Label::Number(number) => number.to_string(),
            Label::Truth(truth) => truth.to_string(),
        }
    }
}

fn label<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Label::deserialize(deserializer).map(String::from)
}

fn labels<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let labels: Option<Vec<Label>> = Option::deserialize(deserializer)?;
    Ok(labels.unwrap_or_default().into_iter().map(String::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &[u8]) -> Result<Vec<Question>, String> {
        parse_questions(Path::new("q.jsonl"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_line_is_a_question_and_unknown_fields_are_passed_over() {
        let text = "\u{feff}{\"id\":\"a\",\"question\":\"Who?\",\"supporting\":[\"d:1\",\"d:2\",\"d:1\"],\
                    \"type\":\"bridge\",\"hops\":2,\"answers\":[\"She\"],\"weight\":3,\"evidence\":[[1]]}\r\n\n\
                    {\"id\":7,\"question\":\"When?\",\"supporting\":[3],\"answers\":[1970,true],\"hops\":null}";
        let expect = vec![
            Question {
                id: "a".into(),
                question: "Who?".into(),
                supporting: vec!["d:1".into(), "d:2".into()],
                passages: Vec::new(),
                kind: Some("bridge".into()),
                hops: Some(2),
                answers: vec!["She".into()],
                weight: 3,
            },
            Question {
                id: "7".into(),
                question: "When?".into(),
                supporting: vec!["3".into()],
                passages: Vec::new(),
                kind: None,
                hops: None,
                answers: vec!["1970".into(), "true".into()],
                weight: 1,
            },
        ];
        assert_eq!(parse(text.as_bytes()), Ok(expect));
    }

    #[test]
    fn a_bad_line_is_named_with_its_reason() {
        let good = r#"{"id":"a","question":"Who?","supporting":["d"]}"#;
        let cases: [(&[u8], &str); 10] = [
            (b"{\"id\":", "EOF while parsing a value, at column 6"),
            (b"[]", "not a JSON object"),
            (
                br#"{"id":"b","question":"Who?","supporting":[{}]}"#,
                "an id or answer is neither text nor number, at column 45",
            ),
            (br#"{"question":"Who?","supporting":["d"]}"#, "missing field `id`, at column 38"),
            (br#"{"id":"b","supporting":["d"]}"#, "missing field `question`, at column 29"),
            (br#"{"id":"b","question":" ","supporting":["d"]}"#, "the question `b` is empty"),
            (
                br#"{"id":"b","question":"Who?"}"#,
                "the question `b` has no `supporting` ids and no `passages`: nothing says what should be found",
            ),
            (
                br#"{"id":"b","question":"Who?","supporting":["d"],"weight":0}"#,
                "the weight of the question `b` is 0: it has to be at least 1",
            ),
            (good.as_bytes(), "the id `a` was used by an earlier line"),
            (b"\xff", "not UTF-8"),
        ];
        for (line, reason) in cases {
            let text = [good.as_bytes(), b"\n\n", line].concat();
            assert_eq!(parse(&text), Err(format!("`q.jsonl`, line 3: {reason}")));
        }
    }

    #[test]
    fn a_file_without_questions_is_refused() {
        assert_eq!(parse(b"\n \n"), Err("`q.jsonl`, line 1: the file holds no question".to_owned()));
    }

    #[test]
    fn a_file_that_is_not_there_is_an_error_with_its_path() {
        let error = read_questions(Path::new("no/such/questions.jsonl")).map_err(|error| error.to_string());
        assert_eq!(error, Err("cannot read `no/such/questions.jsonl`".to_owned()));
    }
}
