//! Texts that are never shown: passwords and keys.

use std::fmt;

/// A text that is never shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text, for whom it is meant.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Returns `text` with every occurrence of the secret blotted out.
    pub(crate) fn blotted_from(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "[secret]") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_blotted_out_of_what_others_say() {
        let secret = Secret::new("hush");
        assert_eq!(secret.blotted_from("wrong key `hush`, hush"), "wrong key `[secret]`, [secret]");
        assert_eq!(Secret::default().blotted_from("as it is"), "as it is");
        assert!(!format!("{secret:?}").contains("hush"));
    }
}
