//! `report`: a report about a topic, a community of entities (`HiRAG`, section on `HiIndex`): a title, a summary, and
//! findings, each with the sentences that support it.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::lenient;
use super::model::Skill;
use crate::domain::{FINDINGS_MAX, PassageId, RATING_MAX, ReportFinding, TopicReport};
use crate::llm::prompt::{self, REPORT};
use crate::llm::{Message, Purpose};
use crate::text::{one_line, shortened, tokens};

/// Characters of a title at most.
const TITLE_CHARS_MAX: usize = 100;
/// Characters of a summary at most: a longer one is cut.
const SUMMARY_CHARS_MAX: usize = 800;
/// Characters of a finding at most: a longer one is cut.
const FINDING_CHARS_MAX: usize = 400;

/// The material about a topic, row by row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportTask {
    /// Its entities, each with its description.
    pub entities: Vec<String>,
    /// Relations between them.
    pub relations: Vec<String>,
    /// Reports about its parts, if it is too large to be shown completely.
    pub parts: Vec<String>,
    /// Sentences about it, which findings name by their numbers, from 1: each with its passage and its place there.
    pub sentences: Vec<(PassageId, u32, String)>,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct ReportReply {
    #[serde(default, deserialize_with = "lenient::text")]
    title: String,
    #[serde(default, deserialize_with = "lenient::text")]
    summary: String,
    #[serde(default)]
    findings: Vec<FindingReply>,
    #[serde(default, deserialize_with = "lenient::amount")]
    rating: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct FindingReply {
    #[serde(default, deserialize_with = "lenient::text")]
    text: String,
    #[serde(default, deserialize_with = "lenient::numbers")]
    sentences: Vec<i64>,
}

/// The skill. A finding that names none of the sentences that were shown is left out.
#[derive(Debug, Clone, Copy)]
pub struct ReportSkill;

impl Skill for ReportSkill {
    type Input = ReportTask;
    type Reply = ReportReply;
    type Output = TopicReport;

    const NAME: &'static str = "report";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/report.schema.json");
    const PURPOSE: Purpose = Purpose::Index;
    const OUTPUT_TOKENS_MAX: u32 = 1_024;

    fn messages(task: &ReportTask) -> Vec<Message> {
        let [entities, relations, parts] = [&task.entities, &task.relations, &task.parts].map(|rows| listed(rows));
        let sentences = numbered(&task.sentences);
        let mark = prompt::mark(&[&entities, &relations, &parts, &sentences]);
        let places = [
            ("mark", mark.as_str()),
            ("entities", entities.as_str()),
            ("relations", relations.as_str()),
            ("parts", parts.as_str()),
            ("sentences", sentences.as_str()),
            ("findings_max", &FINDINGS_MAX.to_string()),
        ];
        prompt::messages(REPORT, &places)
    }

    fn shown(task: &ReportTask) -> Vec<PassageId> {
        distinct(&task.sentences)
    }

    fn check(task: &ReportTask, reply: ReportReply) -> Result<TopicReport, String> {
        let title = one_line(&reply.title);
        if tokens(&title).is_empty() || title.chars().nth(TITLE_CHARS_MAX).is_some() {
            return Err(format!("`title` needs words, and {TITLE_CHARS_MAX} characters at most"));
        }
        let summary = cut(&reply.summary, SUMMARY_CHARS_MAX);
        if tokens(&summary).is_empty() {
            return Err("`summary` says nothing".to_owned());
        }
        let findings = reply.findings.iter().filter_map(|it| finding(task, it));
        let findings: Vec<ReportFinding> = findings.take(FINDINGS_MAX).collect();
        if findings.is_empty() {
            let count = task.sentences.len();
            return Err(format!("no finding names a sentence by its number, from 1 to {count}"));
        }
        let rating = lenient::nearest(reply.rating, 0, RATING_MAX);
        Ok(TopicReport { title, summary, findings, rating })
    }
}

fn finding(task: &ReportTask, reply: &FindingReply) -> Option<ReportFinding> {
    let text = cut(&reply.text, FINDING_CHARS_MAX);
    let sentences = cited(&task.sentences, &reply.sentences);
    let is_said = !tokens(&text).is_empty() && !sentences.is_empty();
    is_said.then_some(ReportFinding { text, sentences })
}

/// Returns the sentences that were shown with these numbers, from 1, each once.
pub(super) fn cited(shown: &[(PassageId, u32, String)], numbers: &[i64]) -> Vec<(PassageId, u32)> {
    let mut cited: Vec<(PassageId, u32)> = Vec::new();
    for number in numbers {
        let found = usize::try_from(*number).ok().and_then(|it| it.checked_sub(1)).and_then(|it| shown.get(it));
        if let Some((passage, sentence, _)) = found
            && !cited.contains(&(*passage, *sentence))
        {
            cited.push((*passage, *sentence));
        }
    }
    cited
}

/// Returns the passages of sentences, each once.
pub(super) fn distinct(sentences: &[(PassageId, u32, String)]) -> Vec<PassageId> {
    let passages: BTreeSet<PassageId> = sentences.iter().map(|it| it.0).collect();
    passages.into_iter().collect()
}

/// Returns sentences as a prompt numbers them.
pub(super) fn numbered(sentences: &[(PassageId, u32, String)]) -> String {
    let lines = (1..).zip(sentences).map(|(number, (_, _, text))| format!("{number}. {}", one_line(text)));
    lines.collect::<Vec<String>>().join("\n")
}

/// Returns a text on one line, cut.
pub(super) fn cut(said: &str, chars_max: usize) -> String {
    let line = one_line(said);
    shortened(&line, chars_max).unwrap_or(line)
}

/// Returns rows as a prompt lists them.
pub(super) fn listed(rows: &[String]) -> String {
    if rows.is_empty() {
        return "–".to_owned();
    }
    rows.iter().map(|row| format!("- {}", one_line(row))).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn task() -> ReportTask {
        let passage = |name: &str| PassageId::of(&[name.as_bytes()]);
        ReportTask {
            entities: vec!["Harl Mill (place): A\nmill.".to_owned()],
            sentences: vec![
                (passage("a"), 0, "Harl Mill was built by Ada Lorne.".to_owned()),
                (passage("b"), 2, "It burned down.".to_owned()),
            ],
            ..ReportTask::default()
        }
    }

    fn check(reply: Value) -> Result<TopicReport, String> {
        ReportSkill::check(&task(), serde_json::from_value(reply).unwrap())
    }

    #[test]
    fn findings_stand_on_sentences_that_were_shown_or_are_left_out() {
        let finding = |text: &str, sentences: Value| json!({ "text": text, "sentences": sentences });
        let findings = [
            finding("Ada Lorne built it.", json!([1, "1", 7])),
            finding("It was blue.", json!([])),
            finding("It was red.", json!([0, -1, 3])),
            finding(" ", json!([1])),
            finding("It burned.", json!("2")),
        ];
        let report = json!({ "title": "Harl\nMill", "summary": "A mill.", "findings": findings, "rating": 70 });
        let report = check(report).unwrap();
        assert_eq!((report.title.as_str(), report.rating), ("Harl Mill", 10));
        let [first, second] = &report.findings[..] else { panic!("{report:?}") };
        assert_eq!(first.sentences, [(PassageId::of(&[b"a"]), 0)]);
        assert_eq!((second.text.as_str(), &second.sentences), ("It burned.", &vec![(PassageId::of(&[b"b"]), 2)]));
    }

    #[test]
    fn a_report_without_title_summary_or_findings_is_invalid() {
        let findings = json!([{ "text": "It burned.", "sentences": [2] }]);
        let of = |title: &str, summary: &str, findings: &Value| {
            check(json!({ "title": title, "summary": summary, "findings": findings }))
        };
        assert!(of("Mill", "A mill.", &findings).is_ok());
        let long = "x".repeat(101);
        for (title, summary) in [("", "A mill."), (long.as_str(), "A mill."), ("Mill", " ")] {
            assert!(of(title, summary, &findings).is_err(), "{title}");
        }
        let error = of("Mill", "A mill.", &json!([{ "text": "It burned.", "sentences": [3] }])).unwrap_err();
        assert_eq!(error, "no finding names a sentence by its number, from 1 to 2");
    }

    #[test]
    fn the_prompt_numbers_sentences_and_lists_rows_on_one_line_each() {
        let messages = ReportSkill::messages(&task());
        let [_, user] = &messages[..] else { panic!("two messages") };
        assert!(user.text.contains("- Harl Mill (place): A mill.\n"), "{}", user.text);
        assert!(user.text.contains("\n1. Harl Mill was built by Ada Lorne.\n2. It burned down.\n"), "{}", user.text);
        assert!(user.text.contains("Parts:\n–\n"), "{}", user.text);
    }
}
