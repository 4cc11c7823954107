//! What a language model adds to a search, in so many calls: parts of the question that are looked for by themselves,
//! and a pick among what was found. Where it gives nothing that can be used, what the search found stands.

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::domain::{AnsweredBy, Hit, IndexVersion, Ledger, PartAnswer, PassageId, QuestionPart};
use crate::error::{Error, Result};
use crate::query::engine::QueryEngine;
use crate::query::evidence::question::checked;
use crate::query::options::{Preset, Reading, SearchOptions, StrategyKind, TrailRanker};
use crate::query::pieces::fuse::{PartList, fused};
use crate::query::pieces::pick::{PICK_DEFAULT, found_passages, pick};
use crate::query::pieces::read_by_rule;
use crate::query::session::caller::{Caller, until};
use crate::query::session::deadline::Stage;
use crate::query::strategies::{Found, Query};
use crate::skill::{DecomposeSkill, DecomposeTask, PART_ANSWERS_MAX, Part, ReadSkill, ReadTask};
use crate::text::{one_line, tokens};

/// Calls from which on `auto` takes a question apart before it lets the model pick.
const CALLS_TO_DECOMPOSE: u32 = 3;
/// Passages that are found for a part.
const PART_PASSAGES: usize = 20;
/// Passages of a part that its answer is read in.
const READ_PASSAGES: usize = 5;
/// Passages of a part that a ledger names.
const PART_PASSAGES_SHOWN: usize = 5;

impl QueryEngine {
    /// Returns options with what `auto` stands for here, and with calls kept for later: without a number of calls it
    /// asks for none, with one or two it lets the model pick, with more it takes the question apart as well.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for options that need a language model, where there is none.
    pub(in crate::query) fn planned(&self, options: &SearchOptions, kept: u32) -> Result<SearchOptions> {
        let calls_max = options.calls_max.map(|calls| calls.saturating_sub(kept));
        let mut planned = SearchOptions { calls_max, ..options.clone() };
        let is_free = options.strategy == StrategyKind::Auto && !options.asks_model();
        if let Some(calls) = calls_max.filter(|calls| *calls > 0 && is_free && self.model.is_some()) {
            planned.pick = Some(PICK_DEFAULT);
            planned.decompose = (calls >= CALLS_TO_DECOMPOSE).then_some(Reading::Model);
        }
        if planned.asks_model() && self.model.is_none() {
            return Err(Error::Option {
                option: "choice here",
                value: planned.asked_of_model().to_owned(),
                reason: "there is no language model".to_owned(),
            });
        }
        Ok(planned)
    }

    /// Returns the model as one question asks it, where `options` ask for it.
    pub(in crate::query) fn caller(&self, options: &SearchOptions, time_share: f64) -> Option<Arc<Caller>> {
        let model = self.model.as_ref().filter(|_| options.asks_model())?;
        Some(Arc::new(Caller::new(Arc::clone(model), options.calls_max, until(options, time_share))))
    }

    /// Adds to what was found for `question` what the model of `caller` does, and keeps as many passages as were asked
    /// for.
    ///
    /// # Errors
    ///
    /// [`Error::Chat`] if something about the model has to be corrected, and as [`Self::search`].
    pub(in crate::query) async fn reasoned(
        &self,
        caller: &Arc<Caller>,
        version: IndexVersion,
        hits: &mut Vec<Hit>,
        ledger: &mut Ledger,
        options: &SearchOptions,
        stage: &Stage,
    ) -> Result<()> {
        let question = ledger.asked.first().cloned().unwrap_or_default();
        if let Some(reading) = options.decompose {
            stage.enter("taking the question apart");
            let asking = Asking { engine: self, caller, options, reading, version };
            let TakenApart { parts, lists, notes } = asking.parts(&question).await?;
            ledger.notes.extend(notes);
            ledger.asked.extend(parts.iter().flat_map(|part| part.asked.iter().cloned()));
            ledger.parts = parts;
            *hits = fused(std::mem::take(hits), lists, options.preset);
        }
        if let Some(shown) = options.pick {
            stage.enter("waiting for the language model to pick");
            let (ordered, by) = pick(caller, &question, std::mem::take(hits), shown).await?;
            *hits = ordered;
            ledger.pick = Some(by);
        }
        hits.truncate(options.top_k);
        ledger.work = Some(caller.work());
        Ok(())
    }
}

/// A question that is being taken apart.
#[derive(Clone, Copy)]
struct Asking<'a> {
    engine: &'a QueryEngine,
    caller: &'a Arc<Caller>,
    options: &'a SearchOptions,
    reading: Reading,
    version: IndexVersion,
}

/// What came of one part.
struct Done {
    part: QuestionPart,
    lists: Vec<PartList>,
    notes: Vec<String>,
}

/// What came of all parts.
#[derive(Default)]
struct TakenApart {
    parts: Vec<QuestionPart>,
    lists: Vec<PartList>,
    /// What could not be looked for, and why.
    notes: Vec<String>,
}

impl Asking<'_> {
    /// Takes the question apart, and finds passages for each part as soon as the answers that it needs are there.
    async fn parts(&self, question: &str) -> Result<TakenApart> {
        let task = DecomposeTask { question: question.to_owned() };
        let Ok(parts) = self.caller.perform::<DecomposeSkill>(&task, u32::from(self.options.pick.is_some())).await?
        else {
            return Ok(TakenApart::default());
        };
        // What is one part is the question.
        if parts.len() < 2 {
            return Ok(TakenApart::default());
        }
        let mut done: Vec<Option<Done>> = parts.iter().map(|_| None).collect();
        while done.iter().any(Option::is_none) {
            let is_ready =
                |part: &usize| done[*part].is_none() && parts[*part].needs.iter().all(|it| done[*it].is_some());
            // Where calls are few, one part waits for the other, so that it is the first that are read.
            let at_once = if self.options.calls_max.is_some() { 1 } else { parts.len() };
            let ready: Vec<usize> = (0..parts.len()).filter(is_ready).take(at_once).collect();
            let mut tasks = JoinSet::new();
            for number in ready {
                let forms = forms(&parts[number], &done, self.options.preset);
                let is_needed =
                    self.options.preset == Preset::Measured && parts.iter().any(|other| other.needs.contains(&number));
                let part = PartToFind {
                    engine: self.engine.clone(),
                    caller: Arc::clone(self.caller),
                    options: part_options(self.options),
                    calls_kept: u32::from(self.options.pick.is_some()),
                    reading: is_needed.then_some(self.reading),
                    is_guessed: self.reading == Reading::Rule
                        || parts[number].needs.iter().any(|it| is_guessed(done[*it].as_ref())),
                    version: self.version,
                    number,
                };
                let text = parts[number].text.clone();
                tasks.spawn(async move { (number, part.found(text, forms).await) });
            }
            while let Some(joined) = tasks.join_next().await {
                let (number, found) = joined.map_err(|error| Error::Internal(error.to_string()))?;
                done[number] = Some(found?);
            }
        }
        let mut all = TakenApart::default();
        for Done { part, lists, notes } in done.into_iter().flatten() {
            all.parts.push(part);
            all.lists.extend(lists);
            all.notes.extend(notes);
        }
        Ok(all)
    }
}

/// Returns whether an answer of a part is one that a rule guessed.
fn is_guessed(done: Option<&Done>) -> bool {
    done.iter().flat_map(|it| &it.part.answers).any(|answer| answer.by == AnsweredBy::Rule)
}

/// Returns the texts that a part is put to the index as: one for each likely answer that it needs; none where there is
/// no answer. With the settings of the paper nothing is answered, and the places of answers are left empty.
fn forms(part: &Part, done: &[Option<Done>], preset: Preset) -> Vec<String> {
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

/// Returns how passages are found for a part: `trail` by what they say themselves, since steps are what the parts are.
fn part_options(options: &SearchOptions) -> SearchOptions {
    let by_seeds = matches!(options.strategy, StrategyKind::Auto | StrategyKind::Trail);
    SearchOptions {
        strategy: if options.strategy == StrategyKind::Hop { StrategyKind::Hybrid } else { options.strategy },
        preset: options.preset,
        top_k: PART_PASSAGES,
        n_hop: if by_seeds { Some(0) } else { options.n_hop },
        trail_ranker: if by_seeds { Some(TrailRanker::Linear) } else { options.trail_ranker },
        filters: options.filters.clone(),
        weights: options.weights.clone(),
        ..SearchOptions::default()
    }
}

/// A part that is ready to be looked for.
struct PartToFind {
    engine: QueryEngine,
    caller: Arc<Caller>,
    options: SearchOptions,
    /// Calls that are kept for what comes later.
    calls_kept: u32,
    /// Who answers it, where a later part needs that.
    reading: Option<Reading>,
    /// Whether a rule guesses answers, or guessed one that it needs.
    is_guessed: bool,
    version: IndexVersion,
    number: usize,
}

impl PartToFind {
    async fn found(self, text: String, forms: Vec<String>) -> Result<Done> {
        let mut lists = Vec::new();
        let mut guessed: Vec<PartAnswer> = Vec::new();
        let needs_guess = self.reading.is_some();
        let finish = move |query: &Query, found: &Found, hits: Vec<Hit>| {
            let guessed = if needs_guess { read_by_rule::by_rule(query, found) } else { Vec::new() };
            Ok((hits, guessed))
        };
        let mut notes = Vec::new();
        for (form, place) in forms.iter().zip(0..) {
            let stage = Stage::default();
            let finding = self.engine.find(form, &self.options, None, finish, &stage);
            match self.caller.in_time(finding).await {
                // What was published meanwhile is not mixed with what was found before.
                Some(Ok((query, ..))) if query.reader.version() != self.version => {}
                Some(Ok((_, _, (hits, answers)))) => {
                    guessed.extend(answers);
                    lists.push(PartList { form: place, is_guessed: self.is_guessed, question: form.clone(), hits });
                }
                // What was found for the whole question stands.
                Some(Err(error)) => notes.push(format!("part {} could not be looked for: {error}", self.number + 1)),
                None => {
                    notes.push(format!("part {} could not be looked for in time", self.number + 1));
                    break;
                }
            }
        }
        let found: Vec<PassageId> =
            lists.iter().flat_map(|list| &list.hits).map(|hit| hit.passage).take(PART_PASSAGES_SHOWN).collect();
        let answers = match self.reading {
            None => Vec::new(),
            Some(Reading::Rule) => guessed,
            Some(Reading::Model) => self.read(&lists).await?.unwrap_or(guessed),
        };
        let mut distinct: Vec<PartAnswer> = Vec::new();
        for answer in answers {
            if !distinct.iter().any(|it| it.text == answer.text) {
                distinct.push(answer);
            }
        }
        distinct.truncate(PART_ANSWERS_MAX);
        Ok(Done { part: QuestionPart { text, asked: forms, answers: distinct, found }, lists, notes })
    }

    /// Lets the model answer the likeliest form of the part; nothing where it cannot.
    async fn read(&self, lists: &[PartList]) -> Result<Option<Vec<PartAnswer>>> {
        let list = lists.first().filter(|list| !list.hits.is_empty() && self.caller.may_call(self.calls_kept));
        let Some(list) = list else { return Ok(None) };
        let passages = found_passages(&list.hits, READ_PASSAGES);
        let task = ReadTask { question: list.question.clone(), part: self.number as u32, passages };
        let answers = self.caller.perform::<ReadSkill>(&task, self.calls_kept).await?;
        Ok(answers.ok().filter(|answers| !answers.is_empty()))
    }
}
