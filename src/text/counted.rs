//! Numbers with a noun in the right form.

use std::fmt::Display;

/// Returns a number and a noun, as `1 passage` or `3 entities`.
///
/// The noun is a regular one, in the singular.
#[must_use]
pub(crate) fn counted(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    if count == "1" { format!("1 {noun}") } else { format!("{count} {}", plural(noun)) }
}

/// Returns the plural of a noun.
pub(crate) fn plural(noun: &str) -> String {
    noun.strip_suffix('y').map_or_else(|| format!("{noun}s"), |stem| format!("{stem}ies"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_said_in_the_singular() {
        assert_eq!(counted(1, "document"), "1 document");
        assert_eq!(counted(0_u64, "document"), "0 documents");
        assert_eq!(counted(2_usize, "entity"), "2 entities");
        assert_eq!(counted(1_u64, "entity"), "1 entity");
    }
}
