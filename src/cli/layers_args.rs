//! The arguments of `--strategy layers`.

use clap::Args;

use super::args::SEARCHING;
use crate::error::Result;
use crate::query::LayersOptions;

/// What `layers` gathers.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = SEARCHING)]
pub(super) struct LayersArgs {
    /// What `layers` gathers: entities near the question (local), the communities they are in (global), the paths that
    /// join these (bridge), all but these paths (no-bridge), or all of it (full).
    #[arg(long, value_name = "MODE", default_value = "full")]
    layers: String,
    /// How `layers` enters: by the nearest `entities`, by the `passages` that `trail` finds, or by both.
    #[arg(long, value_name = "BY", default_value = "both")]
    layers_entry: String,
    /// Tokens of what `layers` gathers, passages included.
    #[arg(long, value_name = "N", default_value_t = LayersOptions::default().tokens)]
    context_tokens: usize,
}

impl LayersArgs {
    /// Returns them as options.
    ///
    /// # Errors
    ///
    /// [`Error::Option`](crate::Error::Option) for a mode or an entry that there is not.
    pub(super) fn options(&self) -> Result<LayersOptions> {
        Ok(LayersOptions {
            mode: self.layers.parse()?,
            entry: self.layers_entry.parse()?,
            tokens: self.context_tokens,
            ..LayersOptions::default()
        })
    }
}
