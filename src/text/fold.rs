//! Folding: one spelling for letters that readers consider the same. It leaves case alone.

use std::borrow::Cow;

use unicode_normalization::char::{canonical_combining_class, decompose_compatible};

/// Returns `text` in compatibility decomposition without its combining marks: `Á` is `A`, `ﬁ` is `fi`.
#[must_use]
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            folded.push(c);
        } else {
            // Only marks would have to be put in order.
            decompose_compatible(c, |c| folded.extend(Some(c).filter(|c| !is_mark(*c))));
        }
    }
    Cow::Owned(folded)
}

/// Returns whether folding drops `c`. Signs that are letters of their own, as in Devanagari, have class 0 and stay.
pub(super) fn is_mark(c: char) -> bool {
    canonical_combining_class(c) != 0
}

/// Appends `word`, folded and in lower case.
pub(super) fn push_folded(word: &str, out: &mut String) {
    if word.is_ascii() {
        out.extend(word.chars().map(|c| c.to_ascii_lowercase()));
    } else {
        out.push_str(&fold(word).to_lowercase());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_drops_accents_and_keeps_ascii_as_it_is() {
        assert!(matches!(fold("Plain text"), Cow::Borrowed("Plain text")));
        assert_eq!(fold("Þórður Čapek, ﬁn"), "Þorður Capek, fin");
        assert_eq!(fold("e\u{301}"), "e");
        assert_eq!(fold("½ ㌔ 한 ộ q\u{307}\u{323}"), "1⁄2 キロ \u{1112}\u{1161}\u{11ab} o q");
    }
}
