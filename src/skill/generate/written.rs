//! `generate` by a model: both kinds of questions of a passage in one call, or each kind in a separate call.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{INCOMING_MAX, OUTGOING_MAX};
use crate::domain::{Keywords, Passage, PassageId, PseudoQuery, QuestionKind};
use crate::llm::prompt::{self, ANSWERED, GENERATE, RAISED};
use crate::llm::{Message, Purpose};
use crate::skill::Skill;
use crate::skill::answer::best_sentence;
use crate::skill::lenient;
use crate::text::{Word, capitalized_runs, one_line, stem, terms, tokens, words};

/// In-coming questions that a reply has to have (`HopRAG`, section 3.2).
const INCOMING_MIN: usize = 2;
/// Out-coming questions that a reply has to have.
pub const OUTGOING_MIN: usize = 4;
/// Characters of a question at most.
const QUESTION_CHARS_MAX: usize = 300;
/// Keywords of a question that are asked for.
const KEYWORDS_MAX: usize = 5;

/// A passage, and what it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenerateTask {
    /// What its document is called.
    pub name: String,
    /// The passage.
    pub passage: Passage,
}

/// A passage whose out-coming questions are asked for, and the in-coming ones that it has already. They are not shown
/// to the model; one that comes back counts for nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaisedTask {
    /// The passage.
    pub passage: GenerateTask,
    /// Its in-coming questions.
    pub answered: Vec<PseudoQuery>,
}

/// A reply with both kinds, as the schema has it.
#[derive(Debug, Deserialize)]
pub struct GenerateReply {
    answered: Vec<QuestionReply>,
    raised: Vec<QuestionReply>,
}

/// A reply with one kind, as the schema has it.
#[derive(Debug, Deserialize)]
pub struct QuestionsReply {
    questions: Vec<QuestionReply>,
}

#[derive(Debug, Deserialize)]
struct QuestionReply {
    #[serde(default, deserialize_with = "lenient::text")]
    question: String,
    /// Where there are none, those of a rule stand in.
    #[serde(default, deserialize_with = "lenient::texts")]
    keywords: Vec<String>,
}

/// The skill. It gives the in-coming questions of a passage, then its out-coming ones, as the model ordered them.
#[derive(Debug, Clone, Copy)]
pub struct GenerateSkill;

impl Skill for GenerateSkill {
    type Input = GenerateTask;
    type Reply = GenerateReply;
    type Output = Vec<PseudoQuery>;

    const NAME: &'static str = "generate";
    const SCHEMA: &'static str = include_str!("../../../schemas/llm/generate.schema.json");
    const PURPOSE: Purpose = Purpose::Index;
    const OUTPUT_TOKENS_MAX: u32 = 1_536;

    fn messages(task: &GenerateTask) -> Vec<Message> {
        messages(GENERATE, task)
    }

    fn shown(task: &GenerateTask) -> Vec<PassageId> {
        vec![task.passage.id]
    }

    fn check(task: &GenerateTask, reply: GenerateReply) -> Result<Vec<PseudoQuery>, String> {
        let mut asked = BTreeSet::new();
        let mut questions = Side::ANSWERED.checked(&task.passage, "answered", &reply.answered, &mut asked)?;
        questions.extend(Side::RAISED.checked(&task.passage, "raised", &reply.raised, &mut asked)?);
        Ok(questions)
    }
}

/// The skill for in-coming questions alone.
#[derive(Debug, Clone, Copy)]
pub struct AnsweredSkill;

impl Skill for AnsweredSkill {
    type Input = GenerateTask;
    type Reply = QuestionsReply;
    type Output = Vec<PseudoQuery>;

    const NAME: &'static str = "answered";
    const SCHEMA: &'static str = include_str!("../../../schemas/llm/questions.schema.json");
    const PURPOSE: Purpose = Purpose::Index;
    const OUTPUT_TOKENS_MAX: u32 = 1_024;

    fn messages(task: &GenerateTask) -> Vec<Message> {
        messages(ANSWERED, task)
    }

    fn shown(task: &GenerateTask) -> Vec<PassageId> {
        vec![task.passage.id]
    }

    fn check(task: &GenerateTask, reply: QuestionsReply) -> Result<Vec<PseudoQuery>, String> {
        Side::ANSWERED.checked(&task.passage, "questions", &reply.questions, &mut BTreeSet::new())
    }
}

/// The skill for out-coming questions alone.
#[derive(Debug, Clone, Copy)]
pub struct RaisedSkill;

impl Skill for RaisedSkill {
    type Input = RaisedTask;
    type Reply = QuestionsReply;
    type Output = Vec<PseudoQuery>;

    const NAME: &'static str = "raised";
    const SCHEMA: &'static str = include_str!("../../../schemas/llm/questions.schema.json");
    const PURPOSE: Purpose = Purpose::Index;
    const OUTPUT_TOKENS_MAX: u32 = 1_024;

    fn messages(task: &RaisedTask) -> Vec<Message> {
        messages(RAISED, &task.passage)
    }

    fn shown(task: &RaisedTask) -> Vec<PassageId> {
        vec![task.passage.passage.id]
    }

    fn check(task: &RaisedTask, reply: QuestionsReply) -> Result<Vec<PseudoQuery>, String> {
        let answered: BTreeSet<String> = task.answered.iter().map(|it| folded(&it.text)).collect();
        let questions =
            Side::RAISED.checked(&task.passage.passage, "questions", &reply.questions, &mut answered.clone());
        // The model was not shown them.
        let is_answered = |it: &&QuestionReply| answered.contains(&folded(&it.question));
        let repeated: Vec<&str> = reply.questions.iter().filter(is_answered).map(|it| it.question.as_str()).collect();
        questions.map_err(|why| match repeated.as_slice() {
            [] => why,
            repeated => format!("{why}; the passage answers these itself: {}", repeated.join(" ")),
        })
    }
}

fn messages(text: &str, task: &GenerateTask) -> Vec<Message> {
    let name = one_line(&task.name);
    let section = task.passage.section.as_deref().map_or_else(|| "–".to_owned(), one_line);
    let passage = task.passage.text.trim();
    let mark = prompt::mark(&[&name, &section, passage]);
    let places = [
        ("mark", mark.as_str()),
        ("name", name.as_str()),
        ("section", section.as_str()),
        ("passage", passage),
        ("answered_min", &INCOMING_MIN.to_string()),
        ("answered_max", &INCOMING_MAX.to_string()),
        ("raised_min", &OUTGOING_MIN.to_string()),
        ("raised_max", &OUTGOING_MAX.to_string()),
        ("keywords_max", &KEYWORDS_MAX.to_string()),
    ];
    prompt::messages(text, &places)
}

/// One kind of questions, and how many of them a passage has to have and may have.
struct Side {
    kind: QuestionKind,
    min: usize,
    max: usize,
}

impl Side {
    const ANSWERED: Self = Self { kind: QuestionKind::Incoming, min: INCOMING_MIN, max: INCOMING_MAX };
    const RAISED: Self = Self { kind: QuestionKind::Outgoing, min: OUTGOING_MIN, max: OUTGOING_MAX };

    /// Returns the questions of a reply's field that are not in `asked`, which they are put into.
    fn checked(
        &self,
        passage: &Passage,
        field: &str,
        replies: &[QuestionReply],
        asked: &mut BTreeSet<String>,
    ) -> Result<Vec<PseudoQuery>, String> {
        let kept: Vec<&QuestionReply> = replies.iter().filter(|it| is_new(&it.question, asked)).collect();
        if kept.len() < self.min {
            return Err(format!("`{field}` has {} different questions; at least {} are needed", kept.len(), self.min));
        }
        // More than was asked for is no fault worth a second call.
        Ok(kept.into_iter().take(self.max).map(|it| query(passage, self.kind, it)).collect())
    }
}

/// Returns whether a question has words, is no essay, and was not asked before.
fn is_new(question: &str, asked: &mut BTreeSet<String>) -> bool {
    let folded = folded(question);
    !folded.is_empty() && question.chars().count() <= QUESTION_CHARS_MAX && asked.insert(folded)
}

fn folded(question: &str) -> String {
    tokens(question).join(" ")
}

fn query(passage: &Passage, kind: QuestionKind, reply: &QuestionReply) -> PseudoQuery {
    let text = one_line(&reply.question);
    let keywords = keywords(&text, &reply.keywords);
    PseudoQuery::by_model(passage.id, kind, text.clone(), keywords, nearest_sentence(passage, &text))
}

/// Returns the sentence of a passage that shares most terms with a question.
fn nearest_sentence(passage: &Passage, question: &str) -> u32 {
    let Some(range) = best_sentence(&passage.text, question) else { return 0 };
    let after = passage.sentences.partition_point(|it| it.start as usize <= range.start);
    after.saturating_sub(1) as u32
}

/// Returns keywords in the form that an index matches: names folded whole, other words as stems. What does not occur in
/// the question is left out; where nothing is left, those of a rule stand in.
fn keywords(question: &str, given: &[String]) -> Keywords {
    let asked = format!(" {} ", tokens(question).join(" "));
    let mut kept = Vec::new();
    for keyword in given {
        let folded = tokens(keyword);
        if folded.is_empty() || !asked.contains(&format!(" {} ", folded.join(" "))) {
            continue;
        }
        if words(keyword).iter().any(Word::is_capitalized) {
            kept.push(folded.join(" "));
        } else {
            kept.extend(terms(keyword));
        }
    }
    if kept.is_empty() { keywords_by_rule(question) } else { kept.into() }
}

/// Returns the capitalized names of a question, and the stems of its other words.
fn keywords_by_rule(question: &str) -> Keywords {
    let runs = capitalized_runs(question, &|_| false);
    let named: BTreeSet<&str> = runs.iter().flat_map(|run| run.key.split(' ')).map(|it| it as &str).collect();
    let named: BTreeSet<String> = named.into_iter().map(stem).collect();
    let free = terms(question).into_iter().filter(|term| !named.contains(term));
    let all: Vec<String> = runs.iter().map(|run| run.key.clone()).chain(free).collect();
    all.into()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::chunk::{ChunkOptions, passages};
    use crate::domain::{Document, QuestionOrigin};

    fn task(text: &str) -> GenerateTask {
        let document = Document::new("mill", Some("Harl Mill".to_owned()), text);
        let passage = passages(&document, &ChunkOptions::default(), &|text| text.len()).remove(0);
        GenerateTask { name: "Harl\nMill".to_owned(), passage }
    }

    fn question(text: &str, keywords: &[&str]) -> Value {
        json!({ "question": text, "keywords": keywords })
    }

    fn reply(answered: &[Value], raised: &[Value]) -> Result<Vec<PseudoQuery>, String> {
        let reply = json!({ "answered": answered, "raised": raised });
        let reply = serde_json::from_value(reply).map_err(|error| error.to_string())?;
        GenerateSkill::check(&task("Harl Mill was built by Ada Lorne. It ground rye."), reply)
    }

    fn raised() -> Vec<Value> {
        ["Who is Ada Lorne?", "Where was Ada Lorne born?", "What is rye?", "Who owned Harl Mill later?"]
            .map(|text| question(text, &[]))
            .into()
    }

    #[test]
    fn the_prompt_says_what_is_asked_and_fences_the_passage() {
        let messages = GenerateSkill::messages(&task("Harl Mill was built by Ada Lorne."));
        let [system, user] = &messages[..] else { panic!("two messages") };
        assert!(system.text.contains("2 to 6 questions") && system.text.contains("4 to 8 questions"), "{system:?}");
        let mark = prompt::mark(&["Harl Mill", "–", "Harl Mill was built by Ada Lorne."]);
        let fenced = format!("{mark}\nDocument: Harl Mill\nSection: –\n\nHarl Mill was built by Ada Lorne.\n{mark}");
        assert_eq!(user.text, fenced);
        assert!(system.text.contains(&mark));
    }

    #[test]
    fn questions_come_with_keywords_as_an_index_matches_them_and_the_sentence_they_are_near() {
        let answered = [
            question("Who built\u{202e} Harl Mill?", &["Harl Mill", "built", "Someone Else"]),
            question("What did Harl Mill grind?", &["a word that is not there"]),
        ];
        let questions = reply(&answered, &raised()).unwrap();
        assert_eq!(questions.len(), 6);
        assert!(questions.iter().all(|it| it.origin == QuestionOrigin::Model));
        assert_eq!((questions[0].text.as_str(), questions[0].sentence), ("Who built Harl Mill?", 0));
        assert_eq!(questions[0].keywords, ["harl mill", &stem("built")].into_iter().collect());
        assert_eq!(questions[1].keywords, ["harl mill", &stem("grind")].into_iter().collect());
        let kinds: Vec<QuestionKind> = questions.iter().map(|it| it.kind).collect();
        assert_eq!((kinds[1], kinds[2]), (QuestionKind::Incoming, QuestionKind::Outgoing));
    }

    #[test]
    fn too_few_questions_are_named_and_repeated_ones_count_once() {
        let one = question("Who built Harl Mill?", &[]);
        let error = reply(&[one.clone(), one.clone()], &raised()).unwrap_err();
        assert_eq!(error, "`answered` has 1 different questions; at least 2 are needed");
        let two = [one, question("What did it grind?", &[])];
        let error = reply(&two, &raised()[..3]).unwrap_err();
        assert_eq!(error, "`raised` has 3 different questions; at least 4 are needed");
        let long = question(&"Who ".repeat(100), &[]);
        assert!(reply(&[two[0].clone(), long], &raised()).is_err());
        assert!(reply(&[two[0].clone(), question(" ? ", &[])], &raised()).is_err());
    }

    #[test]
    fn each_kind_can_be_asked_for_alone_and_what_a_passage_answers_it_does_not_raise() {
        let task = task("Harl Mill was built by Ada Lorne. It ground rye.");
        let reply = |questions: &[Value]| serde_json::from_value(json!({ "questions": questions })).unwrap();
        let two = [question("Who built Harl Mill?", &["Harl Mill"]), question("What did it grind?", &[])];
        let answered = AnsweredSkill::check(&task, reply(&two)).unwrap();
        assert!(answered.iter().all(|it| it.kind == QuestionKind::Incoming) && answered.len() == 2);
        let error = AnsweredSkill::check(&task, reply(&two[..1])).unwrap_err();
        assert_eq!(error, "`questions` has 1 different questions; at least 2 are needed");

        let task = RaisedTask { passage: task, answered };
        let raised_too = RaisedSkill::check(&task, reply(&raised())).unwrap();
        assert!(raised_too.iter().all(|it| it.kind == QuestionKind::Outgoing) && raised_too.len() == 4);
        let repeated = [&raised()[1..], &two[..1]].concat();
        let error = RaisedSkill::check(&task, reply(&repeated)).unwrap_err();
        let why = "`questions` has 3 different questions; at least 4 are needed; the passage answers these itself: ";
        assert_eq!(error, format!("{why}Who built Harl Mill?"));
    }

    #[test]
    fn a_prompt_for_one_kind_says_nothing_of_the_other() {
        let task = task("Harl Mill was built by Ada Lorne.");
        let one = AnsweredSkill::messages(&task);
        let other = RaisedSkill::messages(&RaisedTask { passage: task.clone(), answered: Vec::new() });
        assert!(one[0].text.contains("2 to 6 questions") && !one[0].text.contains("4 to 8"), "{one:?}");
        assert!(other[0].text.contains("4 to 8 questions") && !other[0].text.contains("2 to 6"), "{other:?}");
        let both = GenerateSkill::messages(&task);
        assert_eq!((&one[1], &other[1]), (&both[1], &both[1]));
    }

    #[test]
    fn more_questions_than_were_asked_for_are_left_out() {
        let many = |start: usize| -> Vec<Value> {
            (start..start + 20).map(|number| question(&format!("What is number {number}?"), &[])).collect()
        };
        let questions = reply(&many(0), &many(100)).unwrap();
        assert_eq!(questions.len(), INCOMING_MAX + OUTGOING_MAX);
    }
}
