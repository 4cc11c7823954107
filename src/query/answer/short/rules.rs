//! The rules: which fact a question asks for, and where it is read.

use std::ops::Range;

use super::countries::{Country, country, states};
use super::dates::{self, Date};
use super::prose::Prose;
use super::relations::{self, Relation};
use super::{Asked, Named};
use crate::domain::Guess;
use crate::error::Result;

/// The fact that a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Birth,
    Death,
    Release,
    BirthPlace,
    DeathPlace,
    BurialPlace,
    Country,
    Nationality,
    Name,
}

/// Which of two dates the question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Earlier,
    Later,
    /// The longer life.
    Longer,
}

/// Words that ask for the earlier of two.
const EARLIER: [&str; 6] = ["first", "earlier", "older", "oldest", "earliest", "before"];
/// Words that ask for the later of two.
const LATER: [&str; 8] = ["later", "younger", "youngest", "recently", "last", "newer", "newest", "latest"];

fn guess(text: impl Into<String>, rule: &str) -> Guess {
    Guess { text: text.into(), rule: rule.to_owned() }
}

impl Asked<'_> {
    /// Rules `dates` and `same-country`.
    pub(super) fn compared(&self, pair: &[Named; 2]) -> Result<Option<Guess>> {
        let outside = self.outside(&[&pair[0].words, &pair[1].words]);
        let chain = distinct(relations::asked(&outside));
        let mut ends = Vec::new();
        for named in pair {
            // `Which film director is younger` names directors, not films.
            let end = self.follow(named.document, &chain)?.and_then(|end| end.document);
            ends.push(self.text(end.unwrap_or(named.document))?);
        }
        let [first, second] = [&ends[0], &ends[1]].map(|text| Prose::of(text));
        if has(&outside, &["same"]) && has(&outside, &["country", "nationality", "countries", "nation"]) {
            let (first, second) = (states(&first), states(&second));
            let is_same = first.iter().any(|state| second.contains(state));
            let is_known = !first.is_empty() && !second.is_empty();
            return Ok(is_known.then(|| guess(if is_same { "yes" } else { "no" }, "same-country")));
        }
        let Some(order) = order(&outside) else { return Ok(None) };
        let is_second = match order {
            Order::Longer => lifetime(&first).zip(lifetime(&second)).map(|(a, b)| b > a),
            Order::Earlier | Order::Later => {
                let wanted = compared_date(&outside, !chain.is_empty());
                let dates = date(wanted, &first).zip(date(wanted, &second)).filter(|(a, b)| a.key != b.key);
                dates.map(|(a, b)| (b.key < a.key) == (order == Order::Earlier))
            }
        };
        Ok(is_second.map(|is_second| guess(self.written(&pair[usize::from(is_second)].words), "dates")))
    }

    /// Rules `date`, `place`, `country` and `relation`.
    pub(super) fn followed(&self) -> Result<Option<Guess>> {
        let Some(named) = self.named().into_iter().max_by_key(|named| named.words.len()) else { return Ok(None) };
        let outside = self.outside(&[&named.words]);
        if !relations::explains(&outside) {
            return Ok(None);
        }
        let Some(wanted) = wanted(&outside) else { return Ok(None) };
        let chain = self.chain(&named.words);
        if wanted == Wanted::Name {
            let end = if chain.is_empty() { None } else { self.follow(named.document, &chain)? };
            return Ok(end.and_then(|end| end.name).map(|name| guess(name, "relation")));
        }
        let Some(document) = self.follow(named.document, &chain)?.and_then(|end| end.document) else {
            return Ok(None);
        };
        let text = self.text(document)?;
        Ok(read(wanted, &Prose::of(&text)))
    }

    /// Returns the relations from a name outwards: `A's mother's father`, and `the father of the mother of A`.
    fn chain(&self, name: &Range<usize>) -> Vec<&'static Relation> {
        let before: Vec<&str> = (0..name.start).map(|at| self.word(at)).collect();
        let after: Vec<&str> = (name.end..self.question.words.len()).map(|at| self.word(at)).collect();
        let mut chain = relations::asked(&after);
        // Words of one chain, such as `paternal grandmother`, keep their order wherever they occur.
        chain.extend(relations::asked_groups(&before).into_iter().rev().flatten());
        chain
    }
}

/// Returns each relation once: `the director of A and the director of B` is one relation of two entities.
fn distinct(relations: Vec<&'static Relation>) -> Vec<&'static Relation> {
    let mut distinct: Vec<&'static Relation> = Vec::new();
    for relation in relations {
        if !distinct.iter().any(|it| std::ptr::eq(*it, relation)) {
            distinct.push(relation);
        }
    }
    distinct
}

fn has(words: &[&str], any: &[&str]) -> bool {
    words.iter().any(|word| any.contains(word))
}

fn order(words: &[&str]) -> Option<Order> {
    let earlier = has(words, &EARLIER);
    let later = has(words, &LATER);
    match (has(words, &["longer"]), earlier, later) {
        (true, _, _) => Some(Order::Longer),
        (_, true, false) => Some(Order::Earlier),
        (_, false, true) => Some(Order::Later),
        _ => None,
    }
}

/// Returns the date that a comparison is about; people are compared by birth unless the question says otherwise.
fn compared_date(words: &[&str], people: bool) -> Wanted {
    if has(words, &["died", "die", "death"]) {
        Wanted::Death
    } else if people || has(words, &["born", "older", "younger", "birth"]) {
        Wanted::Birth
    } else {
        Wanted::Release
    }
}

/// Returns the fact asked about one entity.
fn wanted(words: &[&str]) -> Option<Wanted> {
    let birth = has(words, &["born", "birth", "birthplace"]);
    let death = has(words, &["died", "die", "death"]);
    let first = words.first().copied().unwrap_or_default();
    if first == "where" || has(words, &["place", "birthplace"]) || (first == "in" && has(words, &["city"])) {
        return match (birth, death, has(words, &["burial", "buried"])) {
            (_, _, true) => Some(Wanted::BurialPlace),
            (true, false, _) => Some(Wanted::BirthPlace),
            (false, true, _) => Some(Wanted::DeathPlace),
            _ => None,
        };
    }
    if first == "when" || has(words, &["date", "year"]) {
        return match (birth, death) {
            (true, false) => Some(Wanted::Birth),
            (false, true) => Some(Wanted::Death),
            _ if has(words, &["released", "published", "release", "publication"]) => Some(Wanted::Release),
            _ => None,
        };
    }
    if has(words, &["nationality"]) {
        return Some(Wanted::Nationality);
    }
    if has(words, &["country"]) && matches!(first, "which" | "what") {
        return Some(Wanted::Country);
    }
    matches!(first, "who" | "whom").then_some(Wanted::Name)
}

fn date(wanted: Wanted, prose: &Prose<'_>) -> Option<Date> {
    match wanted {
        Wanted::Birth => dates::birth(prose),
        Wanted::Death => dates::death(prose),
        Wanted::Release => dates::first(prose),
        _ => None,
    }
}

/// Returns years lived.
fn lifetime(prose: &Prose<'_>) -> Option<i32> {
    Some(dates::death(prose)?.key.0 - dates::birth(prose)?.key.0)
}

fn read(wanted: Wanted, prose: &Prose<'_>) -> Option<Guess> {
    let shown = |start: usize, end: usize| prose.text.get(start..end).unwrap_or_default();
    let place = |date: Option<Date>, words: &[&str]| {
        let beside = date.and_then(|date| prose.place_at(date.end));
        let run = beside.or_else(|| prose.place_after(words))?;
        Some(guess(shown(run.start, run.end), "place"))
    };
    match wanted {
        Wanted::Birth | Wanted::Death | Wanted::Release => {
            date(wanted, prose).map(|date| guess(shown(date.start, date.end), "date"))
        }
        Wanted::BirthPlace => place(dates::birth(prose), &["born"]),
        Wanted::DeathPlace => place(dates::death(prose), &["died", "death"]),
        Wanted::BurialPlace => place(None, &["buried", "burial", "interred"]),
        Wanted::Country => country(prose).map(|it: Country<'_>| guess(it.name, "country")),
        Wanted::Nationality => country(prose).map(|it| guess(it.written, "country")),
        Wanted::Name => None,
    }
}
