//! Dates in a text, and which of them are dates of birth, death and release.

use super::prose::Prose;
use crate::text::MONTHS;

/// Years of four digits that are dates on their own.
const YEARS: std::ops::RangeInclusive<i32> = 1_000..=2_099;
/// Words from `born` or `died` to its date at most.
const DATE_WORDS_MAX: usize = 9;
/// Bytes of a text in which the parenthesis of someone's dates opens.
const OPENING_BYTES: usize = 240;

/// A date and its position; month and day are 0 if not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Date {
    /// Year, month, day: earlier dates are smaller.
    pub(super) key: (i32, u32, u32),
    /// Its first word, by number.
    pub(super) word: usize,
    /// First byte.
    pub(super) start: usize,
    /// One past the last byte.
    pub(super) end: usize,
}

/// Returns whether a folded word is the name of a month.
pub(super) fn is_month(word: &str) -> bool {
    MONTHS.contains(&word)
}

/// Returns the dates of a text, in order: `4 June 1990`, `June 4, 1990`, `June 1990`, `1990`.
pub(super) fn dates(prose: &Prose<'_>) -> Vec<Date> {
    let mut dates = Vec::new();
    let mut at = 0;
    while at < prose.words.len() {
        let Some((key, count)) = date_at(prose, at) else {
            at += 1;
            continue;
        };
        let (first, last) = (prose.words[at], prose.words[at + count - 1]);
        dates.push(Date { key, word: at, start: first.start, end: last.end });
        at += count;
    }
    dates
}

fn date_at(prose: &Prose<'_>, at: usize) -> Option<((i32, u32, u32), usize)> {
    let month = |i: usize| MONTHS.iter().position(|it| *it == prose.folded(i)).map(|it| it as u32 + 1);
    let number = |i: usize| prose.words.get(i)?.text.parse::<i32>().ok();
    let day = |i: usize| number(i).filter(|it| (1..=31).contains(it)).map(i32::cast_unsigned);
    let old_year = |i: usize| number(i).filter(|it| (100..=2_099).contains(it));
    if let (Some(day), Some(month), Some(year)) = (day(at), month(at + 1), old_year(at + 2)) {
        return Some(((year, month, day), 3));
    }
    if let (Some(month), Some(day), Some(year)) = (month(at), day(at + 1), old_year(at + 2)) {
        return Some(((year, month, day), 3));
    }
    if let (Some(month), Some(year)) = (month(at), old_year(at + 1)) {
        return Some(((year, month, 0), 2));
    }
    let year = number(at)?;
    let is_introduced = at > 0 && ["born", "died", "d", "c", "ca", "b", "circa"].contains(&prose.folded(at - 1));
    (YEARS.contains(&year) || (is_introduced && (100..1_000).contains(&year))).then_some(((year, 0, 0), 1))
}

/// Returns the date of birth that a text about someone states.
pub(super) fn birth(prose: &Prose<'_>) -> Option<Date> {
    let dates = dates(prose);
    after_word(prose, &dates, &["born"]).or_else(|| life(prose, &dates).0)
}

/// Returns the date of death that a text about someone states.
pub(super) fn death(prose: &Prose<'_>) -> Option<Date> {
    let dates = dates(prose);
    life(prose, &dates).1.or_else(|| after_word(prose, &dates, &["died", "death", "d"]))
}

/// Returns the first date of the text: usually, the release date of a work.
pub(super) fn first(prose: &Prose<'_>) -> Option<Date> {
    dates(prose).first().copied()
}

/// Returns the date after one of `words`, in the same sentence.
pub(super) fn after_word(prose: &Prose<'_>, dates: &[Date], words: &[&str]) -> Option<Date> {
    let follows = |at: usize| {
        let near = |date: &&Date| date.word > at && date.word - at <= DATE_WORDS_MAX;
        dates.iter().find(near).filter(|date| !prose.ends_between(at, date.word)).copied()
    };
    (0..prose.words.len()).filter(|at| words.contains(&prose.folded(*at))).find_map(follows)
}

/// Returns the dates before and after the dash in the parenthesis that a text about someone opens with.
fn life(prose: &Prose<'_>, dates: &[Date]) -> (Option<Date>, Option<Date>) {
    let Some((open, close)) = prose.parenthesis(OPENING_BYTES) else { return (None, None) };
    let inside: Vec<Date> = dates.iter().filter(|it| open < it.start && it.end <= close).copied().collect();
    let dash = prose.text.get(open..close).and_then(|it| it.rfind(['–', '—', '-'])).map(|it| it + open);
    let Some(dash) = dash else { return (None, None) };
    let before = inside.iter().find(|date| date.end <= dash).copied();
    (before, inside.iter().find(|date| date.start >= dash).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: (Option<&str>, Option<&str>)) {
        let prose = Prose::of(text);
        let shown = |date: Option<Date>| date.map(|it| &text[it.start..it.end]);
        assert_eq!((shown(birth(&prose)), shown(death(&prose))), expect, "{text}");
    }

    #[test]
    fn dates_of_birth_and_death_are_read_from_a_parenthesis_or_beside_their_words() {
        check("Ann (3 May 1901 – June 4, 1990) was", (Some("3 May 1901"), Some("June 4, 1990")));
        check("Rye( born 12 June 1967) is", (Some("12 June 1967"), None));
        check("Cy (835 –) was. He died in 869.", (None, None));
        check("Cy (d. 20 March 851) was", (None, Some("20 March 851")));
        check("Di (born E. F.; March 16, 1911, X – July 1985, Y)", (Some("March 16, 1911"), Some("July 1985")));
        check("Ed was born in Rye. In 1990 he left.", (None, None));
    }

    #[test]
    fn earlier_dates_are_smaller() {
        let prose = Prose::of("In 1990, May 1990, and 4 May 1990; 12 people, 2,500 horses.");
        let keys: Vec<_> = dates(&prose).iter().map(|it| it.key).collect();
        assert_eq!(keys, [(1990, 0, 0), (1990, 5, 0), (1990, 5, 4)]);
    }
}
