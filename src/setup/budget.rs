//! Parses budgets: `2.50USD`, `1e6tok`, `5000calls`.

use crate::error::{Error, Result};
use crate::llm::{Budget, Prices};

/// Returns the budget that all of `texts` say together: money in the currency of the price table.
///
/// # Errors
///
/// [`Error::Option`] for a text that is not a budget, or has a currency that the table lacks.
pub fn parse_budget(texts: &[String], prices: &Prices) -> Result<Budget> {
    let mut budget = Budget::default();
    for text in texts {
        let refused = |reason: String| Error::Option { option: "budget", value: text.clone(), reason };
        let (number, unit) = parted(text)
            .ok_or_else(|| refused("it must be a number with a unit: `2.50USD`, `1e6tok` or `5000calls`".to_owned()))?;
        let whole = || {
            // `1e6` is whole, and no number that Rust reads as such.
            format!("{number}").parse().map_err(|_| refused("this unit takes a whole number".to_owned()))
        };
        match unit {
            "call" | "calls" => budget.calls = Some(whole()?),
            "tok" | "token" | "tokens" => budget.tokens = Some(whole()?),
            unit if unit == prices.currency => budget.cost = Some(number),
            unit if prices.currency.is_empty() => {
                return Err(refused(format!("`{unit}` needs a price table (`model.prices` in your own cairn.toml)")));
            }
            _ => return Err(refused(format!("it counts calls, tok, or {} as the price table does", prices.currency))),
        }
    }
    Ok(budget)
}

/// Returns a number that is not negative, and the letters after it.
fn parted(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    // The `e` of `1e6` is not a unit, since a digit follows it.
    let unit = text.trim_end_matches(char::is_alphabetic).len();
    let (number, unit) = text.split_at(unit);
    let number: f64 = number.trim().parse().ok()?;
    (number.is_finite() && number >= 0.0 && !unit.is_empty()).then_some((number, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(texts: &[&str]) -> Result<Budget> {
        let prices = Prices { currency: "USD".to_owned(), ..Prices::default() };
        parse_budget(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(), &prices)
    }

    #[test]
    fn a_budget_is_money_tokens_and_calls() {
        let budget = said(&["2.50USD", "1e6tok", "5000 calls"]).unwrap();
        assert_eq!(budget, Budget { calls: Some(5000), tokens: Some(1_000_000), cost: Some(2.5) });
        assert_eq!(said(&[]).unwrap(), Budget::default());
        assert_eq!(said(&["0calls"]).unwrap().calls, Some(0));
    }

    #[test]
    fn an_invalid_budget_is_refused_with_the_reason() {
        for text in ["", "5", "USD", "-1calls", "1.5calls", "2EUR", "1e40tok", "infcalls", "NaNtok"] {
            assert!(matches!(said(&[text]), Err(Error::Option { option: "budget", .. })), "{text}");
        }
        let error = parse_budget(&["2USD".to_owned()], &Prices::default()).unwrap_err();
        assert!(error.to_string().contains("price table"), "{error}");
    }
}
