//! `cairn search` and `cairn ask`.

use std::path::Path;
use std::sync::Arc;

use super::args::{AskArgs, FindArgs, SearchArgs};
use super::{Done, Surroundings, explain, open, show};
use crate::domain::AnswerKind;
use crate::error::Result;
use crate::graph::trail::WeightSet;
use crate::query::{AskOptions, Filter, Preset, SearchOptions, read_weights};

/// Runs `cairn search`.
pub(super) async fn search(args: SearchArgs, surroundings: &Surroundings) -> Done {
    let options = options(&args.find)?;
    let engine = open(&surroundings.index(args.place.index))?;
    let result = engine.search(&args.query, &options).await?;
    if args.place.json {
        return surroundings.print_json(&result);
    }
    if result.hits.is_empty() {
        surroundings.screen.note("nothing found");
    }
    Ok(show::hits(&surroundings.screen, &result.hits)?)
}

/// Runs `cairn ask`.
pub(super) async fn ask(args: AskArgs, surroundings: &Surroundings) -> Done {
    let options = AskOptions { search: options(&args.find)?, ..AskOptions::default() };
    let index = surroundings.index(args.place.index);
    let engine = open(&index)?;
    let answer = engine.ask(&args.question, &options).await?;
    if args.place.json {
        return surroundings.print_json(&answer);
    }
    let screen = &surroundings.screen;
    show::answer(screen, &answer)?;
    if args.explain {
        screen.line("")?;
        explain::ledger(screen, &answer.ledger, &answer.hits)?;
    }
    if answer.kind == AnswerKind::Nothing {
        let search = surroundings.next.command(&format!("search {:?}", answer.question), &index);
        screen.note(format!("hint: the nearest passages, whatever they say: {search}"));
    } else {
        screen.note(format!("\nsentences quoted word for word, found by `{}`; no model was asked", answer.strategy));
    }
    Ok(())
}

/// Turns what was typed into options.
pub(super) fn options(args: &FindArgs) -> Result<SearchOptions> {
    let options = SearchOptions {
        strategy: args.strategy.parse()?,
        preset: if args.paper { Preset::Paper } else { Preset::Measured },
        top_k: args.top_k,
        n_hop: args.n_hop,
        filters: args.filter.iter().map(|filter| Filter::parse(filter)).collect::<Result<_>>()?,
        weights: weights(args.weights.as_deref())?,
    };
    options.check()?;
    Ok(options)
}

/// Reads the weights of `trail`, where a file is given.
pub(super) fn weights(path: Option<&Path>) -> Result<Option<Arc<WeightSet>>> {
    path.map(|path| read_weights(path).map(Arc::new)).transpose()
}
