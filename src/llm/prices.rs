//! Prices of models: a table in a file that the user maintains. None comes with the program, because prices change.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::domain::{Cost, Usage};
use crate::error::{Error, Result};
use crate::files;

const MILLION: f64 = 1e6;

/// The price of a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Of the prompt.
    pub input: f64,
    /// Of the reply; an embedder has none.
    #[serde(default)]
    pub output: Option<f64>,
}

/// Prices by model. Missing models are unknown, not free.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Their currency.
    pub currency: String,
    /// Prices of a million tokens, by the names of models with their servers: `openai:gpt-4o-mini`.
    #[serde(default)]
    pub models: BTreeMap<String, Price>,
}

impl Prices {
    /// Reads a table.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be read, [`Error::Settings`] if it is not a table of prices.
    pub fn read(path: &Path) -> Result<Self> {
        let text = files::read_text(path)?;
        let refused = |reason: String| Error::Settings { path: path.to_owned(), reason };
        let prices: Self = toml::from_str(&text).map_err(|error| refused(error.to_string().trim_end().to_owned()))?;
        let is_price = |price: f64| price.is_finite() && price >= 0.0;
        let is_wrong = |price: &Price| !is_price(price.input) || price.output.is_some_and(|price| !is_price(price));
        match prices.models.iter().find(|(_, price)| is_wrong(price)) {
            Some((model, _)) => Err(refused(format!("`{model}` has a price that is none"))),
            None => Ok(prices),
        }
    }

    /// Returns the cost of a call to the model called `model`, if its price is known.
    #[must_use]
    pub fn cost(&self, model: &str, usage: Usage) -> Option<Cost> {
        let Price { input, output } = self.models.get(model)?;
        let written = if usage.output_tokens == 0 { 0.0 } else { usage.output_tokens as f64 * (*output)? };
        let amount = (usage.input_tokens as f64 * input + written) / MILLION;
        Some(Cost { amount, currency: self.currency.clone() })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read(text: &str) -> Result<Prices> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prices.toml");
        fs::write(&path, text).unwrap();
        Prices::read(&path)
    }

    #[test]
    fn a_price_is_of_a_million_tokens_and_an_unknown_one_is_none() {
        let prices = read("currency = \"EUR\"\n[models]\n\"a:b\" = { input = 0.5, output = 2 }").unwrap();
        let usage = Usage { input_tokens: 2_000_000, output_tokens: 1_000_000, is_estimated: false };
        assert_eq!(prices.cost("a:b", usage), Some(Cost { amount: 3.0, currency: "EUR".to_owned() }));
        assert_eq!(prices.cost("a:c", usage), None);
    }

    #[test]
    fn only_models_with_output_need_a_price_for_it() {
        let prices = read("currency = \"EUR\"\n[models]\n\"a:b\" = { input = 0.5 }").unwrap();
        let usage = Usage { input_tokens: 2_000_000, ..Usage::default() };
        assert_eq!(prices.cost("a:b", usage), Some(Cost { amount: 1.0, currency: "EUR".to_owned() }));
        assert_eq!(prices.cost("a:b", Usage { output_tokens: 1, ..usage }), None);
    }

    #[test]
    fn an_invalid_price_is_refused() {
        for text in ["", "currency = \"EUR\"\n[models]\n\"a\" = { input = -1, output = 2 }", "currency = 1", "x = 1"] {
            assert!(matches!(read(text), Err(Error::Settings { .. })), "{text}");
        }
    }
}
