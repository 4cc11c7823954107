//! HTML in which no text can become markup: only text from this program's source is not escaped.

use serde::Serialize;

use crate::error::{Error, Result};

/// The replacement for a character that a page cannot contain.
const REPLACEMENT: char = '\u{fffd}';

/// A piece of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Html(String);

impl Html {
    /// Appends markup.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Appends text, in an element or in an attribute between quotes.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\n' | '\t' => self.0.push(c),
                '\r' => self.0.push(' '),
                c if c.is_control() => self.0.push(REPLACEMENT),
                c => self.0.push(c),
            }
        }
        self
    }

    /// Appends text of a document: its direction is its own.
    pub(super) fn foreign(&mut self, text: &str) -> &mut Self {
        self.raw("<bdi>").text(text).raw("</bdi>")
    }

    /// Appends a number, with a comma before each three digits.
    pub(super) fn number(&mut self, number: u64) -> &mut Self {
        let digits = number.to_string();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                self.0.push(',');
            }
            self.0.push(digit);
        }
        self
    }

    /// Appends a number for a program.
    pub(super) fn plain(&mut self, number: usize) -> &mut Self {
        self.0.push_str(&number.to_string());
        self
    }

    /// Appends a value as JSON that is safe in a script element: nothing in it ends the element or a line.
    pub(super) fn json(&mut self, value: &impl Serialize) -> Result<&mut Self> {
        let text = serde_json::to_string(value).map_err(|error| Error::Internal(error.to_string()))?;
        for c in text.chars() {
            match c {
                // Only in strings do they occur, where an escape means the same.
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => self.0.extend(['\\', 'u'].into_iter().chain(hex(c))),
                c => self.0.push(c),
            }
        }
        Ok(self)
    }

    /// Returns the template with its `{{names}}` replaced by pieces, which are inserted unchanged.
    pub(super) fn filled(template: &'static str, pieces: &[(&str, &Self)]) -> Result<String> {
        let missing = |name: &str| Error::Internal(format!("the page has no part `{name}`"));
        let mut parts = template.split("{{");
        let mut page = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (name, rest) = part.split_once("}}").ok_or_else(|| missing(part))?;
            let (_, piece) = pieces.iter().find(|(it, _)| *it == name).ok_or_else(|| missing(name))?;
            page.push_str(&piece.0);
            page.push_str(rest);
        }
        Ok(page)
    }

    /// Returns the result.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns the four digits of a character as JSON escapes it.
fn hex(c: char) -> impl Iterator<Item = char> {
    let number = u32::from(c);
    [12, 8, 4, 0].into_iter().filter_map(move |shift| char::from_digit(number >> shift & 15, 16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        let mut html = Html::default();
        html.raw("<p title=\"").text("\" onclick='a()'").raw("\">").text("</p><script>\u{0}&lt;").raw("</p>");
        assert_eq!(
            html.as_str(),
            "<p title=\"&quot; onclick=&#39;a()&#39;\">&lt;/p&gt;&lt;script&gt;\u{fffd}&amp;lt;</p>"
        );
    }

    #[test]
    fn json_holds_nothing_that_ends_a_script_and_means_the_same() {
        let value = "</script><!--\u{2028}\u{2029}&\"\\";
        let mut html = Html::default();
        html.json(&value).unwrap();
        assert!(!html.as_str().contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{html:?}");
        assert_eq!(serde_json::from_str::<String>(html.as_str()).unwrap(), value);
    }

    #[test]
    fn numbers_are_read_in_threes() {
        let shown = |number| Html::default().number(number).as_str().to_owned();
        assert_eq!([shown(0), shown(999), shown(1_000), shown(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn a_template_is_filled_once_and_a_missing_part_is_an_error() {
        let (mut a, mut b) = (Html::default(), Html::default());
        a.text("{{b}}");
        b.text("x");
        assert_eq!(Html::filled("1 {{a}} 2 {{b}} 3", &[("a", &a), ("b", &b)]).unwrap(), "1 {{b}} 2 x 3");
        assert!(Html::filled("{{c}}", &[("a", &a)]).is_err());
    }
}
