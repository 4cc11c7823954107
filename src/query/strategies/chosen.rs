//! Chooses the strategy that options request.

use std::sync::Arc;

use super::Strategy;
use super::auto::Auto;
use super::dual::Dual;
use super::level::Level;
use super::noise::Noise;
use super::pipeline::Pipeline;
use crate::query::options::{Reading, SearchOptions, StrategyKind};

/// Returns the strategy that `options` ask for, with its part of them.
#[must_use]
pub fn strategy(options: &SearchOptions) -> Arc<dyn Strategy> {
    match options.strategy {
        // With a number of calls that allows it, see `planned`.
        StrategyKind::Auto if is_led(options) => Arc::new(Auto::of(options)),
        StrategyKind::Dual => Arc::new(Dual::of(options)),
        StrategyKind::Level => Arc::new(Level::of(options)),
        StrategyKind::Noise => Arc::new(Noise::of(options)),
        StrategyKind::Lexical
        | StrategyKind::Dense
        | StrategyKind::Hybrid
        | StrategyKind::Hop
        | StrategyKind::Trail
        | StrategyKind::Rank
        | StrategyKind::Layers
        | StrategyKind::Auto => Arc::new(Pipeline::of(options)),
    }
}

/// Returns whether `auto` has calls for more than to pick.
fn is_led(options: &SearchOptions) -> bool {
    options.decompose == Some(Reading::Model) && options.pick.is_some() && options.calls_max.is_some()
}
