//! Measures the contexts that a model would read before it answers: how much of published answers they contain.
//!
//! Questions about the whole have no accepted answers. The answers of other systems take their place: the documents
//! that they seem to draw on, and their words. Both are proxies, which show what a context lacks, not how good an
//! answer from it would be; that takes a judge.

mod drawn;
mod gathered;
mod report;

pub use report::{BridgeCoverage, ContextReport, ContextRow, OverviewFigures};

use std::collections::BTreeSet;
use std::time::Instant;

use serde::Serialize;

use super::judge::AnswersOf;
use super::questions::Question;
use crate::domain::{AnswerKind, LayersMode};
use crate::error::{Error, Result};
use crate::query::{AskOptions, LAYERS_TOKENS_MAX, QueryEngine, SearchOptions, StrategyKind};
use crate::text::terms;
use drawn::Drawn;
use gathered::{Gathered, covered};
use report::Measured;

/// Passages requested from a strategy: more than a context has room for.
const TOP_K: usize = 200;
/// Separates `layers` from its mode in the name of a method.
const MODE: char = ':';

/// A strategy whose contexts are measured.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextMethod {
    /// Its name: that of a strategy, or `layers:` and a mode.
    pub name: String,
    /// How it finds passages.
    pub search: SearchOptions,
}

impl ContextMethod {
    /// Reads a name, for contexts of so many tokens.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] if there is no such strategy or mode, or no context can have so many tokens.
    pub fn parse(name: &str, tokens: usize) -> Result<Self> {
        let (strategy, mode) = name.split_once(MODE).map_or((name, None), |(strategy, mode)| (strategy, Some(mode)));
        let strategy: StrategyKind = strategy.parse()?;
        let mut search = SearchOptions { strategy, top_k: TOP_K, ..SearchOptions::default() };
        search.layers.tokens = tokens;
        if let Some(mode) = mode {
            if strategy != StrategyKind::Layers {
                let reason = "only `layers` has modes".to_owned();
                return Err(Error::Option { option: "strategy", value: name.to_owned(), reason });
            }
            search.layers.mode = mode.parse()?;
        }
        search.check()?;
        Ok(Self { name: name.to_owned(), search })
    }
}

/// An answer that a method gave, as [`read_answers`](super::read_answers) reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OverviewLine {
    /// The id of the question.
    pub question_id: String,
    /// The method.
    pub system: String,
    /// What it answered: sentences of documents.
    pub answer: String,
}

/// Asks every method the questions that systems have answered, and measures its context: passages and rows of levels,
/// whole and in order, as many as fit in `tokens`, and the quotations from these without a model.
///
/// # Errors
///
/// [`Error::Option`] for no method, one that is named twice, or a number of tokens that no context can have;
/// [`Error::Question`] if no question was answered by a system; the first error of the engine.
///
/// # Cancel safety
///
/// Dropping the future loses the measurement and nothing else.
pub async fn context(
    engine: &QueryEngine,
    questions: &[Question],
    systems: &[AnswersOf],
    methods: &[ContextMethod],
    tokens: usize,
) -> Result<(Vec<OverviewLine>, ContextReport)> {
    check(methods, tokens)?;
    let answers = |question: &Question| -> Vec<&str> {
        systems.iter().filter_map(|it| it.answers.get(&question.id)).map(String::as_str).collect()
    };
    let mut asked = Vec::new();
    for question in questions {
        let answers = answers(question);
        if !answers.is_empty() {
            let drawn = Drawn::of(engine, &answers).await?;
            asked.push(Asked { question, wanted: wanted(&question.question, &answers), drawn });
        }
    }
    if asked.is_empty() {
        return Err(Error::Question { reason: "no question has an answer in the file of answers".to_owned() });
    }
    let mut notes = vec!["words decide which documents an answer draws on, a proxy".to_owned()];
    if asked.len() < questions.len() {
        notes.push(format!("{} of {} questions have no answer", questions.len() - asked.len(), questions.len()));
    }
    let (mut lines, mut measured) = (Vec::new(), Vec::new());
    for method in methods {
        let mut of_method = Vec::with_capacity(asked.len());
        for asked in &asked {
            let (own, line) = asked.measure(engine, method, tokens).await?;
            of_method.push(own);
            lines.push(line);
        }
        measured.push(of_method);
    }
    let first = |place: usize| measured.first().filter(|_| place > 0).map(Vec::as_slice);
    let rows = methods.iter().zip(&measured).enumerate();
    let report = ContextReport {
        version: engine.version(),
        corpus_id: engine.corpus().await?,
        embedder: engine.embedder().to_owned(),
        questions: asked.len() as u64,
        systems: systems.iter().map(|it| it.name.clone()).collect(),
        tokens: tokens as u64,
        sentences: asked.iter().map(|it| it.drawn.sentences).sum(),
        sentences_placed: asked.iter().map(|it| it.drawn.placed).sum(),
        rows: rows.map(|(place, (method, own))| ContextRow::of(&method.name, own, first(place))).collect(),
        bridges: bridges(methods, &measured),
        notes,
    };
    Ok((lines, report))
}

/// A question that systems have answered.
struct Asked<'a> {
    question: &'a Question,
    /// The terms of each answer, without those of the question.
    wanted: Vec<BTreeSet<String>>,
    drawn: Drawn,
}

impl Asked<'_> {
    async fn measure(
        &self,
        engine: &QueryEngine,
        method: &ContextMethod,
        tokens: usize,
    ) -> Result<(Measured, OverviewLine)> {
        let Self { question, wanted, drawn } = self;
        let options = AskOptions { search: method.search.clone(), ..AskOptions::default() };
        let started = Instant::now();
        let answer = engine.ask(&question.question, &options).await?;
        let time_ms = started.elapsed().as_secs_f64() * 1_000.0;
        let gathered = Gathered::of(&answer, tokens);
        let said = if answer.kind == AnswerKind::Nothing { "" } else { answer.text.as_str() };
        let cited: BTreeSet<&str> = answer.citations.iter().map(|it| it.source_id.as_str()).collect();
        let measured = Measured {
            time_ms,
            documents: drawn.covered(|id| gathered.documents.contains_key(id)),
            words: mean_covered(wanted, &gathered.terms),
            diversity: gathered.diversity(),
            redundancy: gathered.redundancy(),
            tokens: gathered.tokens,
            overview_documents: drawn.covered(|id| cited.contains(id)),
            overview_words: mean_covered(wanted, &terms(said).into_iter().collect()),
            overview_length: said.split_whitespace().count(),
            levels: gathered.levels,
        };
        let (question_id, system) = (question.id.clone(), method.name.clone());
        Ok((measured, OverviewLine { question_id, system, answer: said.to_owned() }))
    }
}

/// Returns how much bridges cover, if the methods include the modes that this needs.
fn bridges(methods: &[ContextMethod], measured: &[Vec<Measured>]) -> Option<BridgeCoverage> {
    let of_mode = |mode: LayersMode| {
        let is_it = |it: &ContextMethod| it.search.strategy == StrategyKind::Layers && it.search.layers.mode == mode;
        methods.iter().position(is_it).and_then(|place| measured.get(place))
    };
    let (local, global) = (of_mode(LayersMode::Local)?, of_mode(LayersMode::Global)?);
    Some(BridgeCoverage::of(local, global, of_mode(LayersMode::Bridge)?))
}

fn check(methods: &[ContextMethod], tokens: usize) -> Result<()> {
    let refused = |option, value: String, reason: &str| Err(Error::Option { option, value, reason: reason.to_owned() });
    if !(1..=LAYERS_TOKENS_MAX).contains(&tokens) {
        return refused("number of tokens", tokens.to_string(), &format!("give one from 1 to {LAYERS_TOKENS_MAX}"));
    }
    let twice = methods.iter().enumerate().find(|(place, it)| methods[..*place].iter().any(|own| own.name == it.name));
    match (methods, twice) {
        ([], _) => refused("list of strategies", String::new(), "it needs one at least"),
        (_, Some((_, method))) => refused("list of strategies", method.name.clone(), "it is named twice"),
        _ => Ok(()),
    }
}

/// Returns the terms of each answer, without those of the question.
fn wanted(question: &str, answers: &[&str]) -> Vec<BTreeSet<String>> {
    let asked: BTreeSet<String> = terms(question).into_iter().collect();
    let of = |answer: &&str| terms(answer).into_iter().filter(|it| !asked.contains(it)).collect();
    answers.iter().map(of).collect()
}

/// Returns the mean share of the answers' terms that are among `own`.
fn mean_covered(wanted: &[BTreeSet<String>], own: &BTreeSet<String>) -> f64 {
    wanted.iter().map(|wanted| covered(wanted, own)).sum::<f64>() / wanted.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_a_strategy_or_a_mode_of_layers() {
        let search = |name: &str| ContextMethod::parse(name, 900).unwrap().search;
        let local = search("layers:no-bridge");
        assert_eq!(
            (local.strategy, local.layers.mode, local.layers.tokens),
            (StrategyKind::Layers, LayersMode::NoBridge, 900)
        );
        assert_eq!(search("layers").layers.mode, LayersMode::Full);
        for wrong in ["", "layers:", "layers:roof", "trail:local", "fastest"] {
            assert!(ContextMethod::parse(wrong, 900).is_err(), "{wrong}");
        }
        assert!(ContextMethod::parse("layers", 0).is_err());
        let methods = ["trail", "layers", "trail"].map(|name| ContextMethod::parse(name, 900).unwrap());
        assert!(check(&methods, 900).is_err() && check(&[], 900).is_err() && check(&methods[..2], 0).is_err());
        assert!(check(&methods[..2], 900).is_ok());
    }

    #[test]
    fn words_of_the_question_count_in_no_answer() {
        let wanted = wanted("What do mills do?", &["Mills grind corn.", "Mills burn."]);
        let covered = mean_covered(&wanted, &terms("corn grows by the mills").into_iter().collect());
        assert!((covered - 0.25).abs() < 1e-9, "{covered}");
    }
}
