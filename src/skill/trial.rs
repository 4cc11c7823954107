//! A trial of every skill, on a few sentences: whether a model can perform it.

use super::answer::{AnswerSkill, AnswerTask, CitedSentence, ShownPassage};
use super::answer_web::{WebAnswerSkill, WebAnswerTask};
use super::choose::{ChooseSkill, ChooseTask, StepShown};
use super::citations::{CitationsSkill, CitationsTask};
use super::conclude::{ConcludeSkill, ConcludeTask, ShownNote};
use super::decompose::{DecomposeSkill, DecomposeTask};
use super::describe::{DescribeSkill, DescribeTask};
use super::digest::{DigestSkill, DigestTask};
use super::enough::{EnoughSkill, EnoughTask};
use super::entities::{EntitiesSkill, EntitiesTask};
use super::extract::{EntityTypes, ExtractSkill, ExtractTask, NameSkill, RelateSkill, RelateTask};
use super::generate::{GenerateSkill, GenerateTask};
use super::imagine::{ImagineSkill, ImagineTask};
use super::judge::{JudgeSkill, JudgeTask, JudgedItem};
use super::keywords::{KeywordsSkill, KeywordsTask, RefineSkill, RefineTask};
use super::model::{Performed, Skill, perform};
use super::outline::NotedHeading;
use super::pick::{FoundPassage, PickSkill, PickTask};
use super::prefer::{PreferSkill, PreferTask};
use super::read::{ReadSkill, ReadTask};
use super::reason::{ReasonSkill, ReasonTask};
use super::report::{ReportSkill, ReportTask};
use super::route::{RouteSkill, RouteTask};
use super::seed::{SeedSkill, SeedTask};
use super::seek::{SeekSkill, SeekTask};
use super::steps::AnsweredStep;
use super::summarize::{SummarizeSkill, SummarizeTask};
use super::supplement::{SupplementSkill, SupplementTask};
use crate::domain::{DocumentId, ExtractedEntity, Extraction, Passage, PassageId, Span, Spent};
use crate::error::Result;
use crate::llm::ChatModel;
use crate::text::KeywordQuery;

/// The result of trying a skill.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Its name.
    pub skill: &'static str,
    /// Why the model gave nothing that can be used, if so.
    pub problem: Option<String>,
    /// Its cost.
    pub spent: Spent,
}

const QUESTION: &str = "Who taught the builder of Heron Bridge?";
const BRIDGE: &str = "Heron Bridge was built by Ada Lorne in 1841. It has three arches, and carries the road to Vell.";
const BUILDER: &str = "Ada Lorne, an engineer, was born in Vell in 1801. She was taught by Tom Reed.";

/// Tries every skill once, one after the other: one call each, and a second if a reply has to be repaired or is cut.
///
/// # Errors
///
/// [`crate::Error::Chat`] for faults that the user must correct.
///
/// # Cancel safety
///
/// Dropping the future loses the call in flight, which may have been paid for, and nothing else.
pub async fn trials(model: &dyn ChatModel) -> Result<Vec<Trial>> {
    let question = || QUESTION.to_owned();
    let [bridge, builder] = [("Heron Bridge", BRIDGE), ("Ada Lorne", BUILDER)];
    let shown = [bridge, builder].map(|(name, text)| ShownPassage { name: name.to_owned(), text: text.to_owned() });
    let found = [bridge, builder].map(|(name, text)| found(name, text));
    let text = "Tom Reed taught the builder of Heron Bridge.".to_owned();
    let sentences = vec![CitedSentence { text, passages: vec![0, 1], web: Vec::new() }];
    let step = |name: &str, asks: &str| StepShown {
        to: PassageId::of(&[name.as_bytes()]),
        name: name.to_owned(),
        question: asks.to_owned(),
    };
    let steps = vec![step("Ada Lorne", "Who is Ada Lorne?"), step("Vell", "Where is Vell?")];
    let here = found[0].clone();
    let items = found.iter().cloned().map(JudgedItem::Passage).collect();
    let citations = CitationsTask { question: question(), passages: shown.to_vec(), sentences };
    let mut trials = vec![
        tried::<GenerateSkill>(model, &generated()).await?,
        tried::<SummarizeSkill>(model, &summarized()).await?,
        tried::<ReportSkill>(model, &reported()).await?,
        tried::<ExtractSkill>(model, &extracted()).await?,
        tried::<NameSkill>(model, &extracted()).await?,
        tried::<RelateSkill>(model, &related()).await?,
        tried::<DescribeSkill>(model, &described()).await?,
        tried::<AnswerSkill>(model, &AnswerTask { question: question(), passages: shown.to_vec() }).await?,
        tried::<CitationsSkill>(model, &citations).await?,
        tried::<PickSkill>(model, &PickTask { question: question(), passages: found.to_vec() }).await?,
        tried::<JudgeSkill>(model, &JudgeTask { question: question(), round: 0, items }).await?,
        tried::<ChooseSkill>(model, &ChooseTask { question: question(), round: 0, here, steps }).await?,
        tried::<DecomposeSkill>(model, &DecomposeTask { question: question() }).await?,
        tried::<ReadSkill>(model, &ReadTask { question: question(), part: 0, passages: found.to_vec() }).await?,
        tried::<EntitiesSkill>(model, &EntitiesTask { question: question() }).await?,
    ];
    let asked = AnswerTask { question: question(), passages: shown.to_vec() };
    trials.extend(planned(model, asked, &found).await?);
    Ok(trials)
}

/// Tries the skills of strategies that go round by round, and of judging two answers.
async fn planned(model: &dyn ChatModel, asked: AnswerTask, found: &[FoundPassage]) -> Result<Vec<Trial>> {
    let (question, asks, says) = (|| QUESTION.to_owned(), "Who built Heron Bridge?", "Ada Lorne built Heron Bridge.");
    let note = ShownNote { about: asks.to_owned(), text: says.to_owned(), passages: vec![0] };
    let steps = || vec![AnsweredStep { question: asks.to_owned(), answer: Some("Ada Lorne".to_owned()) }];
    let outline = || vec![NotedHeading { name: "Heron Bridge".to_owned(), notes: vec![says.to_owned()] }];
    let missing = vec!["who taught Ada Lorne".to_owned()];
    let digest = DigestTask { question: question(), number: 0, about: asks.to_owned(), passages: found.to_vec() };
    let supplement = SupplementTask { question: question(), round: 1, steps: steps() };
    let web = vec![ShownPassage { name: "Heron Bridge".to_owned(), text: "It was opened in 1843.".to_owned() }];
    let web = WebAnswerTask { asked: asked.clone(), notes: vec![note.clone()], web };
    let (first, second) = (says.to_owned(), "Tom Reed taught Ada Lorne, who built Heron Bridge.".to_owned());
    let prefer = PreferTask { question: question(), first, second };
    let (query, passages) = (KeywordQuery::of(asks), found[..1].to_vec());
    let refine = RefineTask { question: asks.to_owned(), number: 0, query, passages: passages.clone() };
    let imagine = ImagineTask { question: asks.to_owned(), number: 0, passages };
    let reason = ReasonTask { question: question(), outline: outline(), thoughts: Vec::new() };
    let seek = SeekTask { question: question(), round: 1, outline: outline(), missing, asked: vec![asks.to_owned()] };
    Ok(vec![
        tried::<RouteSkill>(model, &RouteTask { question: question() }).await?,
        tried::<SeedSkill>(model, &SeedTask { question: question(), steps: steps() }).await?,
        tried::<EnoughSkill>(model, &EnoughTask { question: question(), steps: steps() }).await?,
        tried::<ReasonSkill>(model, &reason).await?,
        tried::<SeekSkill>(model, &seek).await?,
        tried::<DigestSkill>(model, &digest).await?,
        tried::<SupplementSkill>(model, &supplement).await?,
        tried::<KeywordsSkill>(model, &KeywordsTask { question: asks.to_owned(), number: 0 }).await?,
        tried::<RefineSkill>(model, &refine).await?,
        tried::<ImagineSkill>(model, &imagine).await?,
        tried::<ConcludeSkill>(model, &ConcludeTask { asked, notes: vec![note] }).await?,
        tried::<WebAnswerSkill>(model, &web).await?,
        tried::<PreferSkill>(model, &prefer).await?,
    ])
}

async fn tried<S: Skill>(model: &dyn ChatModel, input: &S::Input) -> Result<Trial> {
    let Performed { outcome, spent } = perform::<S>(model, input).await?;
    Ok(Trial { skill: S::NAME, problem: outcome.err().map(|why| why.to_string()), spent })
}

fn found(name: &str, text: &str) -> FoundPassage {
    let passage = PassageId::of(&[name.as_bytes()]);
    FoundPassage { passage, name: name.to_owned(), text: text.to_owned(), reached_by: None }
}

fn reported() -> ReportTask {
    let SummarizeTask { members, sentences, .. } = summarized();
    let relations = vec!["Ada Lorne – Heron Bridge".to_owned()];
    ReportTask { entities: members, relations, parts: Vec::new(), sentences }
}

fn extracted() -> ExtractTask {
    ExtractTask { passage: generated(), types: EntityTypes::default() }
}

fn related() -> RelateTask {
    let entity = |name: &str| {
        let at = BRIDGE.find(name).unwrap_or_default();
        let spans = vec![Span { start: at as u32, end: (at + name.len()) as u32 }];
        ExtractedEntity { name: name.to_lowercase(), kind: None, description: String::new(), spans }
    };
    let entities = vec![entity("Heron Bridge"), entity("Ada Lorne")];
    RelateTask { task: extracted(), found: Extraction { entities, ..Extraction::default() } }
}

fn described() -> DescribeTask {
    DescribeTask { name: "Heron Bridge".to_owned(), descriptions: vec![BRIDGE.to_owned()] }
}

fn summarized() -> SummarizeTask {
    let sentence = |name: &str, text: &str| (PassageId::of(&[name.as_bytes()]), 0, text.to_owned());
    SummarizeTask {
        types: EntityTypes::default(),
        members: vec!["Heron Bridge (place)".to_owned(), "Ada Lorne (person)".to_owned()],
        sentences: vec![sentence("Heron Bridge", BRIDGE), sentence("Ada Lorne", BUILDER)],
    }
}

fn generated() -> GenerateTask {
    let passage = Passage {
        id: PassageId::of(&[b"Heron Bridge"]),
        document: DocumentId::of(&[b"Heron Bridge"]),
        ordinal: 0,
        span: Span { start: 0, end: BRIDGE.len() as u32 },
        section: None,
        page: None,
        line: None,
        column: None,
        text: BRIDGE.to_owned(),
        sentences: Vec::new(),
    };
    GenerateTask { name: "Heron Bridge".to_owned(), passage }
}
