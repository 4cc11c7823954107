//! `cairn search` and `cairn ask`.

use std::path::Path;
use std::sync::Arc;

use super::args::{AskArgs, FindArgs, ModelCallArgs, ReasonArgs, SearchArgs, SearchModelArgs};
use super::deadline::{Timed, deadline};
use super::show::Names;
use super::streamed::Streamed;
use super::{Done, Surroundings, explain, options as typed, show};
use crate::config::ModelRole;
use crate::domain::{Answer, AnswerKind, CitationCheck, Ledger};
use crate::error::{Error, Result};
use crate::graph::trail::WeightSet;
use crate::neo4j::{Questions, Target, answer_cypher, browser_link};
use crate::query::{
    AskOptions, Filter, PICK_DEFAULT, Preset, QuerySyntax, SearchOptions, StrategyKind, TrailRanker, UNCHECKED, UNMET,
    UNSEARCHED, read_calibration, read_weights,
};
use crate::setup::EngineOptions;

/// The server address for the Browser, unless a flag or a setting gives another.
const NEO4J_DEFAULT: &str = "bolt://localhost:7687";

/// How the note begins that says how far a search walked: only an explanation of what was found has it.
const WALKED: [&str; 2] = ["walk of ", "no walk"];

/// Returns for how many questions a graph in a database is opened: a strategy that needs the structure in memory counts
/// as many.
fn questions(options: &SearchOptions) -> Questions {
    if options.strategy.walks_all() { Questions::Many } else { Questions::One }
}

/// Runs `cairn search`.
pub(super) async fn search(args: SearchArgs, surroundings: &Surroundings) -> Done {
    let options = options(&args.find, &args.models, &args.call, surroundings)?;
    let mut options = SearchOptions { syntax: QuerySyntax::Search, ..options };
    let use_of = (ModelRole::Reason, questions(&options));
    let place = typed::engine(args.place.index, &args.graph, &args.models, &args.call, use_of);
    let place = EngineOptions { web_search: args.find.web_search.clone(), ..place };
    let timed = Timed::begin(options.deadline);
    let engine = timed.open(&place, surroundings, &mut options).await?;
    let result = timed.ended(engine.search(&args.query, &options).await)?;
    if args.place.json {
        timed.over(surroundings);
        return surroundings.print_json(&result);
    }
    let mut ledger = if args.explain { result.ledger.clone() } else { Ledger::default() };
    let is_walk = |note: &String| WALKED.iter().any(|begin| note.starts_with(begin));
    ledger.notes.retain(|note| !result.hits.is_empty() || !is_walk(note));
    let names = Names::of(&engine, &result.hits, &ledger).await?;
    timed.over(surroundings);
    if result.hits.is_empty() {
        surroundings.screen.note("nothing found");
    }
    show::hits(&surroundings.screen, &result.hits, &names)?;
    show::web_results(&surroundings.screen, &result.ledger.web)?;
    if args.explain {
        surroundings.screen.line("")?;
        explain::ledger(&surroundings.screen, &ledger, &names)?;
    }
    show::spellings(&surroundings.screen, &result.ledger);
    for note in result.ledger.notes.iter().filter(|note| !is_walk(note)) {
        surroundings.screen.note(format!("note: {note}"));
    }
    show::work(&surroundings.screen, &result.ledger);
    Ok(())
}

/// Runs `cairn ask`.
pub(super) async fn ask(args: AskArgs, surroundings: &Surroundings) -> Done {
    let mut search = options(&args.find, &args.models, &args.call, surroundings)?;
    let index = args.place.index.clone();
    let use_of = (ModelRole::Answer, questions(&search));
    let place = typed::engine(index, &args.graph, &args.models, &args.call, use_of);
    let place = EngineOptions { web_search: args.find.web_search.clone(), ..place };
    let timed = Timed::begin(search.deadline);
    let engine = timed.open(&place, surroundings, &mut search).await?;
    let (streamed, screen) = (Streamed::default(), &surroundings.screen);
    // Sentences that are yet to be judged are not printed before.
    let is_streamed = args.stream.or(screen.is_terminal() && !args.place.json && !args.check_citations);
    let sentences = is_streamed.then(|| streamed.sink(*screen));
    let citation_check = if args.check_citations { CitationCheck::Model } else { CitationCheck::Rule };
    let prompt_tokens_max = args.prompt_tokens;
    let options = AskOptions { search, prompt_tokens_max, citation_check, sentences, ..AskOptions::default() };
    let answer = timed.ended(engine.ask(&args.question, &options).await)?;
    if args.place.json {
        timed.over(surroundings);
        return surroundings.print_json(&answer);
    }
    let ledger = if args.explain { answer.ledger.clone() } else { Ledger::default() };
    let names = Names::of(&engine, &answer.hits, &ledger).await?;
    timed.over(surroundings);
    show::rest_of_answer(screen, &answer, &names, streamed.ended(&answer, screen)?)?;
    show::web(screen, &answer)?;
    if args.explain {
        screen.line("")?;
        explain::ledger(screen, &ledger, &names)?;
    }
    if args.cypher {
        let asked = args.graph.database.neo4j.as_deref().or(surroundings.setup.settings.neo4j.uri.as_deref());
        let uri = asked.unwrap_or(NEO4J_DEFAULT);
        let query = answer_cypher(&answer);
        screen.lines(&format!("\n{query}\n\n"))?;
        let browser = args.browser.as_deref().or(surroundings.setup.settings.neo4j.browser.as_deref());
        screen.line(browser_link(&query, browser, &Target::parse(uri)?))?;
    }
    notes(&answer, &surroundings.index(args.place.index), surroundings);
    Ok(())
}

/// Reports the source and cost of an answer on stderr.
fn notes(answer: &Answer, index: &Path, surroundings: &Surroundings) {
    let screen = &surroundings.screen;
    show::spellings(screen, &answer.ledger);
    show::work(screen, &answer.ledger);
    let is_told = |note: &&String| [UNCHECKED, UNMET, UNSEARCHED].iter().any(|begin| note.starts_with(begin));
    for note in answer.ledger.notes.iter().filter(is_told) {
        screen.note(format!("note: {note}"));
    }
    match &answer.writing {
        Some(writing) => show::writing(screen, answer, writing),
        None if answer.kind == AnswerKind::Nothing => {}
        None if answer.kind == AnswerKind::Overview => {
            screen.note("");
            let found = format!("found by `{}`; no model was asked", answer.strategy);
            screen.note(format!("an overview by rule: sentences about its topics, quoted word for word; {found}"));
        }
        None => {
            screen.note("");
            screen.note(format!("sentences quoted word for word, found by `{}`; no model was asked", answer.strategy));
        }
    }
    if answer.kind == AnswerKind::Nothing {
        let search = surroundings.next.about("search", &answer.question, "\"YOUR QUESTION\"", index);
        screen.note(format!("hint: to see the nearest passages anyway: {search}"));
    }
}

/// Converts arguments to options.
pub(super) fn options(
    args: &FindArgs,
    models: &SearchModelArgs,
    call: &ModelCallArgs,
    surroundings: &Surroundings,
) -> Result<SearchOptions> {
    let options = SearchOptions {
        calls_max: call.calls_max(),
        strategy: args.strategy.parse()?,
        layers: args.layers.options()?,
        preset: if args.paper { Preset::Paper } else { Preset::Measured },
        paper_entry: args.paper_entry.parse()?,
        top_k: args.top_k,
        n_hop: args.n_hop,
        web_searches_max: args.web_searches,
        calibration: args.calibration.as_deref().map(read_calibration).transpose()?.map(Arc::new),
        relevance_min: args.relevance_min,
        filters: args.filter.iter().map(|filter| Filter::parse(filter)).collect::<Result<_>>()?,
        weights: weights(args.weights.as_deref(), surroundings)?,
        trail_ranker: ranker(args.trail_ranker.as_deref())?,
        deadline: deadline(args.deadline.as_deref(), surroundings)?,
        ..reasoned(&args.reason, models)?
    };
    options.check()?;
    if let Some(value) = args.web_search.clone().filter(|_| options.strategy != StrategyKind::Level) {
        let reason = "only `--strategy level` searches the web".to_owned();
        return Err(Error::Option { option: "web search", value, reason });
    }
    Ok(options)
}

/// Returns options with the tasks of a language model and the reranker.
pub(super) fn reasoned(args: &ReasonArgs, models: &SearchModelArgs) -> Result<SearchOptions> {
    let mut options = SearchOptions {
        pick: args.pick.then_some(PICK_DEFAULT),
        decompose: args.decompose.as_deref().map(str::parse).transpose()?,
        reasoning: args.reason.parse()?,
        entities: args.entities,
        ..SearchOptions::default()
    };
    models.rerank().apply(&mut options)?;
    Ok(options)
}

/// Parses the final ranker of `trail`, if given.
pub(super) fn ranker(name: Option<&str>) -> Result<Option<TrailRanker>> {
    name.map(str::parse).transpose()
}

/// Reads the weights of `trail`, if a file is given or set.
pub(super) fn weights(asked: Option<&Path>, surroundings: &Surroundings) -> Result<Option<Arc<WeightSet>>> {
    let path = asked.or(surroundings.setup.settings.weights.as_deref());
    path.map(|path| read_weights(path).map(Arc::new)).transpose()
}
