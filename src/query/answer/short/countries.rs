//! Words for countries and their people.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::prose::Prose;
use crate::text::tokens;

/// Words of a country's name at most.
const WORDS_MAX: usize = 4;
/// Bytes from one country to another that is joined to it at most.
const JOINED_BYTES_MAX: usize = 40;

/// A country that a text names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Country<'a> {
    /// Its name.
    pub(super) name: &'static str,
    /// How the text says it: by its name, or by its people.
    pub(super) written: &'a str,
    /// Its position: the first byte.
    start: usize,
}

struct Entry {
    name: &'static str,
    is_people: bool,
}

static COUNTRIES: LazyLock<FxHashMap<String, Entry>> = LazyLock::new(|| {
    let lines = include_str!("countries.txt").lines().filter(|line| !line.starts_with('#'));
    let mut countries = FxHashMap::default();
    for (name, others) in lines.filter_map(|line| line.split_once(':')) {
        countries.insert(tokens(name).join(" "), Entry { name, is_people: false });
        for other in others.split_whitespace() {
            countries.insert(other.replace('_', " "), Entry { name, is_people: true });
        }
    }
    countries
});

/// Returns whether a folded name is a word for a people, or another word for a country.
pub(super) fn is_people(key: &str) -> bool {
    COUNTRIES.get(key).is_some_and(|entry| entry.is_people)
}

/// Returns the first country that a text names, preferably outside its opening parenthesis, which contains places.
pub(super) fn country<'a>(prose: &Prose<'a>) -> Option<Country<'a>> {
    let skipped = prose.parenthesis(200).unwrap_or_default();
    let outside = |at: &usize| !(skipped.0..skipped.1).contains(&prose.words[*at].start);
    (0..prose.words.len())
        .filter(outside)
        .find_map(|at| country_at(prose, at))
        .or_else(|| (0..prose.words.len()).find_map(|at| country_at(prose, at)))
}

/// Returns the states that the beginning of a text names: those of the first country and of all that are joined to it,
/// as in `German-American`. The countries of the United Kingdom are one state.
pub(super) fn states(prose: &Prose<'_>) -> Vec<&'static str> {
    let state = |country: Country<'_>| match country.name {
        "England" | "Scotland" | "Wales" => "United Kingdom",
        name => name,
    };
    let Some(first) = country(prose) else { return Vec::new() };
    let near = first.start..first.start + JOINED_BYTES_MAX;
    let joined = (0..prose.words.len()).filter(|at| near.contains(&prose.words[*at].start));
    joined.filter_map(|at| country_at(prose, at)).map(state).collect()
}

fn country_at<'a>(prose: &Prose<'a>, at: usize) -> Option<Country<'a>> {
    let first = prose.words.get(at).filter(|word| word.is_capitalized())?;
    (1..=WORDS_MAX).rev().find_map(|count| {
        let last = prose.words.get(at + count - 1)?;
        let key = (at..at + count).map(|it| prose.folded(it)).collect::<Vec<_>>().join(" ");
        let entry = COUNTRIES.get(&key)?;
        let written = prose.text.get(first.start..last.end)?;
        Some(Country { name: entry.name, written, start: first.start })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_country_is_known_by_its_name_and_by_its_people() {
        let find = |text: &'static str| country(&Prose::of(text)).map(|it| (it.name, it.written));
        assert_eq!(find("Ann (1 May 1900, Italy) was an American actor."), Some(("United States", "American")));
        assert_eq!(find("It is an island off the Republic of Ireland."), Some(("Ireland", "Republic of Ireland")));
        assert_eq!(find("It is turkish delight."), None);
        assert!(is_people("south korean") && !is_people("south korea"));
    }
}
