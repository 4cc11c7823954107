//! The arguments of `--strategy layers`.

use clap::Args;

use super::args::SEARCHING;
use crate::error::Result;
use crate::query::LayersOptions;

/// What `layers` gathers.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = SEARCHING)]
pub(super) struct LayersArgs {
    /// What `layers` gathers: entities near the question (local), their communities (global), the paths that connect
    /// these (bridge), all but these paths (no-bridge), or everything (full).
    #[arg(long, value_name = "MODE", default_value = "full")]
    layers: String,
    /// How `layers` enters: by the nearest `entities`, by the `passages` that `trail` finds, or by both.
    #[arg(long, value_name = "BY", default_value = "both")]
    layers_entry: String,
    /// Tokens of the context that `layers` gathers, passages included.
    #[arg(long, value_name = "N", default_value_t = LayersOptions::default().tokens)]
    context_tokens: usize,
}

impl LayersArgs {
    /// Returns them as options.
    ///
    /// # Errors
    ///
    /// [`Error::Option`](crate::Error::Option) for an unknown mode or entry.
    pub(super) fn options(&self) -> Result<LayersOptions> {
        Ok(LayersOptions {
            mode: self.layers.parse()?,
            entry: self.layers_entry.parse()?,
            tokens: self.context_tokens,
            ..LayersOptions::default()
        })
    }
}
