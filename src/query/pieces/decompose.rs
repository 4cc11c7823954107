//! Decomposition: a language model splits the question, each part is asked as a sub-question as soon as the answers
//! that it needs are available, and a model or a rule reads the answers for later parts.

use std::sync::Arc;

use super::fuse::RankedList;
use super::pick::found_passages;
use super::read_by_rule::guesses;
use super::smaller::{Missed, searched};
use crate::domain::{AnsweredBy, Hit, PassageId, SubAnswer, SubQuestionTrace};
use crate::error::Result;
use crate::query::evidence::question::checked;
use crate::query::options::{Preset, Reading, SearchOptions, StrategyKind, TrailRanker};
use crate::query::retrievers::retriever;
use crate::query::session::Session;
use crate::query::strategies::Strategy;
use crate::query::strategies::pipeline::Pipeline;
use crate::skill::{DecomposeSkill, DecomposeTask, PART_ANSWERS_MAX, ReadSkill, ReadTask, SubQuestion};
use crate::text::{one_line, tokens};

/// Passages that are found for a part.
const PART_PASSAGES: usize = 20;
/// Passages of a part that its answer is read in.
const READ_PASSAGES: usize = 5;
/// Passages of a part that a ledger names.
const PART_PASSAGES_SHOWN: usize = 5;

/// How a question is split.
#[derive(Clone)]
pub struct Decompose {
    /// The reader of answers that later parts need.
    pub reading: Reading,
    /// With the settings of the paper, nothing is answered, and the lists of parts are interleaved.
    pub preset: Preset,
    /// What finds passages for a part.
    pub strategy: Arc<dyn Strategy>,
}

impl Decompose {
    /// Returns the settings of `options`: parts are searched for like the question, except that `trail` takes no steps,
    /// because the parts are the steps.
    #[must_use]
    pub fn of(reading: Reading, options: &SearchOptions) -> Self {
        Self { reading, preset: options.preset, strategy: Arc::new(Self::plain(options)) }
    }

    /// Returns what finds passages for a part, alone.
    #[must_use]
    pub(in crate::query) fn plain(options: &SearchOptions) -> Pipeline {
        let kind = match options.strategy {
            StrategyKind::Hop => StrategyKind::Hybrid,
            StrategyKind::Layers => StrategyKind::Trail,
            kind => kind,
        };
        let by_seeds = matches!(kind, StrategyKind::Auto | StrategyKind::Trail);
        let own = SearchOptions {
            preset: options.preset,
            n_hop: if by_seeds { Some(0) } else { options.n_hop },
            trail_ranker: if by_seeds { Some(TrailRanker::Linear) } else { options.trail_ranker },
            weights: options.weights.clone(),
            ..SearchOptions::default()
        };
        Pipeline::plain(retriever(kind, &own))
    }
}

/// The results of all parts.
#[derive(Default)]
pub(in crate::query) struct Decomposed {
    pub(in crate::query) parts: Vec<SubQuestionTrace>,
    pub(in crate::query) lists: Vec<RankedList>,
    /// Failed searches, and why.
    pub(in crate::query) notes: Vec<String>,
}

/// The result of one part.
struct Done {
    part: SubQuestionTrace,
    lists: Vec<RankedList>,
    notes: Vec<String>,
}

/// Splits the question of a session, and finds passages for each part. There are no parts if the model gives nothing
/// usable, or only one part, which is the question.
///
/// # Errors
///
/// [`Error::Chat`](crate::Error::Chat) if something about the model has to be corrected.
///
/// # Cancel safety
///
/// Dropping the future loses replies in flight, which may have been paid for.
pub(in crate::query) async fn decomposed(session: &Session, how: &Decompose) -> Result<Decomposed> {
    let task = DecomposeTask { question: session.question().to_owned() };
    let parts = session.perform::<DecomposeSkill>(&task).await?.unwrap_or_default();
    if parts.len() < 2 {
        return Ok(Decomposed::default());
    }
    let at_once = session.at_once(parts.len());
    let mut done: Vec<Option<Done>> = parts.iter().map(|_| None).collect();
    while done.iter().any(Option::is_none) {
        let is_ready = |part: &usize| done[*part].is_none() && parts[*part].needs.iter().all(|it| done[*it].is_some());
        let ready: Vec<usize> = (0..parts.len()).filter(is_ready).take(at_once).collect();
        let ready_parts = ready.iter().map(|number| ReadySubQuestion::of(*number, &parts, &done, how)).collect();
        let found = session.each(ready_parts, at_once, |session, part| part.done(session)).await?;
        for (number, found) in ready.into_iter().zip(found) {
            done[number] = Some(found);
        }
    }
    let mut all = Decomposed::default();
    for Done { part, lists, notes } in done.into_iter().flatten() {
        all.parts.push(part);
        all.lists.extend(lists);
        all.notes.extend(notes);
    }
    Ok(all)
}

/// Returns the forms in which a part is asked: one for each likely answer that it needs; none without an answer. With
/// the settings of the paper, nothing is answered, and the places of answers are left empty.
fn forms(part: &SubQuestion, done: &[Option<Done>], preset: Preset) -> Vec<String> {
    if preset == Preset::Paper {
        let text = part.filled(|_| Some("")).map(|text| one_line(&text));
        return text.filter(|text| !tokens(text).is_empty()).into_iter().collect();
    }
    let answer = |place: usize, rank: usize| {
        let answers = &done.get(place)?.as_ref()?.part.answers;
        // A second guess at one answer goes with the best of another.
        answers.get(rank).or(answers.first()).map(|answer| answer.text.as_str())
    };
    let mut forms: Vec<String> = Vec::new();
    for rank in 0..PART_ANSWERS_MAX {
        let form = part.filled(|place| answer(place, rank));
        // One that says its answer over and over may be too long to be asked.
        forms.extend(form.filter(|form| !forms.contains(form) && checked(form).is_ok()));
    }
    forms
}

/// A part that is ready to be asked.
struct ReadySubQuestion {
    number: usize,
    text: String,
    forms: Vec<String>,
    strategy: Arc<dyn Strategy>,
    /// Its reader, if a later part needs the answer.
    reading: Option<Reading>,
    /// Whether a rule guesses answers, or guessed one that it needs.
    is_guessed: bool,
}

impl ReadySubQuestion {
    fn of(number: usize, parts: &[SubQuestion], done: &[Option<Done>], how: &Decompose) -> Self {
        let part = &parts[number];
        let is_needed = how.preset == Preset::Measured && parts.iter().any(|other| other.needs.contains(&number));
        let needed = part.needs.iter().filter_map(|it| done[*it].as_ref()).flat_map(|it| &it.part.answers);
        let needs_guess = needed.into_iter().any(|answer| answer.by == AnsweredBy::Rule);
        Self {
            number,
            text: part.text.clone(),
            forms: forms(part, done, how.preset),
            strategy: Arc::clone(&how.strategy),
            reading: is_needed.then_some(how.reading),
            is_guessed: how.reading == Reading::Rule || needs_guess,
        }
    }

    async fn done(self, session: Session) -> Result<Done> {
        let searching = session.without_model().with_top_k(PART_PASSAGES);
        let (mut lists, mut guessed, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        for (form, place) in self.forms.iter().zip(0..) {
            let what = format!("part {}", self.number + 1);
            match searched(&session, what, self.search(&searching, form)).await {
                Ok((hits, answers)) => {
                    guessed.extend(answers);
                    lists.push(RankedList { form: place, is_guessed: self.is_guessed, question: form.clone(), hits });
                }
                Err(Missed { problem, is_late }) => {
                    notes.push(problem);
                    if is_late {
                        break;
                    }
                }
            }
        }
        let found: Vec<PassageId> =
            lists.iter().flat_map(|list| &list.hits).map(|hit| hit.passage).take(PART_PASSAGES_SHOWN).collect();
        let answers = match self.reading {
            None => Vec::new(),
            Some(Reading::Rule) => guessed,
            Some(Reading::Model) => self.read(&session, &lists).await?.unwrap_or(guessed),
        };
        let mut distinct: Vec<SubAnswer> = Vec::new();
        for answer in answers {
            if !distinct.iter().any(|it| it.text == answer.text) {
                distinct.push(answer);
            }
        }
        distinct.truncate(PART_ANSWERS_MAX);
        Ok(Done {
            part: SubQuestionTrace { text: self.text, asked: self.forms, answers: distinct, found },
            lists,
            notes,
        })
    }

    /// Returns the passages for one form, and a rule's guess if an answer is needed.
    async fn search(&self, session: &Session, form: &str) -> Result<(Vec<Hit>, Vec<SubAnswer>)> {
        let found = session.ask(form, self.strategy.as_ref()).await?;
        let guessed = match &found.ranking {
            Some(ranking) if self.reading.is_some() => ranking.on_cpu(|ranking| guesses(ranking, |_| true)).await?,
            _ => Vec::new(),
        };
        Ok((found.hits, guessed))
    }

    /// Has the model answer the likeliest form; none if it cannot.
    async fn read(&self, session: &Session, lists: &[RankedList]) -> Result<Option<Vec<SubAnswer>>> {
        let list = lists.first().filter(|list| !list.hits.is_empty() && session.may_call());
        let Some(list) = list else { return Ok(None) };
        let passages = found_passages(&list.hits, READ_PASSAGES);
        let task = ReadTask { question: list.question.clone(), part: self.number as u32, passages };
        Ok(session.perform::<ReadSkill>(&task).await?.filter(|answers| !answers.is_empty()))
    }
}
