//! `cairn search` and `cairn ask`.

use super::args::{AskArgs, FindArgs, SearchArgs};
use super::{Done, Surroundings, open, show};
use crate::error::Result;
use crate::query::{AskOptions, Filter, Preset, SearchOptions};

/// Runs `cairn search`.
pub(super) async fn search(args: SearchArgs, surroundings: &Surroundings) -> Done {
    let mut options = options(&args.find)?;
    let engine = open(&surroundings.index(args.place.index), &args.models, &args.rerank, surroundings, &mut options)?;
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
    let mut search = options(&args.find)?;
    let engine = open(&surroundings.index(args.place.index), &args.models, &args.rerank, surroundings, &mut search)?;
    let options = AskOptions { search, ..AskOptions::default() };
    let answer = engine.ask(&args.question, &options).await?;
    if args.place.json {
        return surroundings.print_json(&answer);
    }
    let screen = &surroundings.screen;
    show::answer(screen, &answer)?;
    if args.explain {
        screen.line("")?;
        show::ledger(screen, &answer.ledger, &answer.hits)?;
    }
    screen.note(screen.faint(&format!("\nextractive answer by {}; no language model was asked", answer.strategy)));
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
        rerank: None,
    };
    options.check()?;
    Ok(options)
}
