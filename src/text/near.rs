//! Suggestions for an unknown name: names with the same beginning.

use std::cmp::Reverse;

use super::words::tokens;

/// Names that are brought up.
const NEAR_MAX: usize = 5;
/// Characters that two names must begin with to be alike.
pub(crate) const ALIKE_CHARS_MIN: usize = 3;

/// Returns those of `names` that begin most like `wanted`, written as an index folds names: the most alike first, then
/// by name.
#[must_use]
pub(crate) fn near<S: AsRef<str>>(wanted: &str, names: impl IntoIterator<Item = S>) -> Vec<String> {
    let wanted = folded(wanted);
    let least = ALIKE_CHARS_MIN.min(wanted.chars().count()).max(1);
    let mut best: Vec<(Reverse<usize>, String)> = Vec::new();
    for name in names {
        let name = name.as_ref();
        let alike = wanted.chars().zip(folded(name).chars()).take_while(|(a, b)| a == b).count();
        if alike < least || best.iter().any(|it| it.1 == name) {
            continue;
        }
        best.push((Reverse(alike), name.to_owned()));
        best.sort();
        best.truncate(NEAR_MAX);
    }
    best.into_iter().map(|it| it.1).collect()
}

/// Returns a name as an index knows an entity by it: its words folded, joined by one space.
#[must_use]
pub(crate) fn folded(name: &str) -> String {
    tokens(name).join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_begin_alike_come_most_alike_first() {
        let names = ["ada lorne", "ada", "Ada Lorne", "anna", "ada l. roe", "heron"];
        assert_eq!(near("Ada Lorn", names), ["Ada Lorne", "ada lorne", "ada l. roe", "ada"]);
        assert_eq!(near("", names), [""; 0]);
        assert_eq!(near("h", names), ["heron"]);
        assert_eq!(near("hello", names), [""; 0]);
    }

    #[test]
    fn few_are_brought_up() {
        assert_eq!(near("mill", (0..20).map(|it| format!("mill {it}"))).len(), NEAR_MAX);
    }
}
