//! The title of a group of entities, and the sentences that say what it is about.

use super::wording::Wording;
use crate::graph::ordinal::{EntityOrdinal, SentenceOrdinal};
use crate::graph::packed::name_kind;
use crate::text::{DAYS, MONTHS};

/// Names of a title.
const NAMES: usize = 3;
/// Characters of a name in a title.
const NAME_CHARS_MAX: usize = 100;
/// The most central entities of a group, some of which its sentences should mention.
const CENTRAL: usize = 24;
/// Mentions of each that are read.
const MENTIONS_MAX: usize = 200;
/// Maximum number of sentences about a group.
pub(super) const FINDINGS: usize = 5;
/// Best sentences among which the first of suitable length is taken.
const SENTENCES: usize = 8;
/// The share of the first sentence's gain that each further one must add.
const GAIN_MIN: f64 = 0.2;
/// Weight in a title of an entity whose name is a single word that is not the title of a document: often a first name
/// or a nationality.
const BARE_WORD: f64 = 0.1;
/// Length in characters of a self-contained sentence.
const SENTENCE_CHARS: std::ops::RangeInclusive<usize> = 12..=280;

/// An entity, and how central it is in its group.
pub(super) type Central = (EntityOrdinal, f64);

impl Wording<'_> {
    /// Returns the names of the most central entities of a group, none of which is part of another. `central` has the
    /// most central first.
    pub(super) fn title(&self, central: &[Central]) -> String {
        let mut weighed: Vec<Central> =
            central.iter().map(|(entity, weight)| (*entity, weight * self.specificity(*entity))).collect();
        weighed.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (mut names, mut folded): (Vec<String>, Vec<&str>) = (Vec::new(), Vec::new());
        for (entity, _) in weighed {
            let name = self.graph.entity_name(entity);
            if folded.iter().any(|other| shares_words(other, name)) {
                continue;
            }
            let spelling = self.spelling(entity);
            if says_nothing(name, &spelling) || spelling.chars().count() > NAME_CHARS_MAX {
                continue;
            }
            folded.push(name);
            names.push(spelling);
            if names.len() == NAMES {
                break;
            }
        }
        if let Some((first, _)) = central.first().filter(|_| names.is_empty()) {
            let name = self.spelling(*first);
            let end = name.char_indices().nth(NAME_CHARS_MAX).map_or(name.len(), |it| it.0);
            names.push(name[..end].to_owned());
        }
        names.join(", ")
    }

    /// Returns how distinctive the name of an entity is.
    fn specificity(&self, entity: EntityOrdinal) -> f64 {
        let graph = &self.graph;
        let is_title = |kind: u32| matches!(kind, name_kind::TITLE | name_kind::BARE_TITLE);
        let is_borne = graph.entity_bearers.of(entity).any(|bearer| is_title(graph.bearer_kind[bearer]));
        let is_bare = !is_borne && !graph.entity_name(entity).contains(' ');
        if is_bare { BARE_WORD } else { 1.0 }
    }

    /// Returns self-contained sentences that together mention as many central entities as possible, the one that
    /// mentions the most first: each is chosen for its gain.
    pub(super) fn findings(&self, central: &[Central]) -> Vec<SentenceOrdinal> {
        // Each sentence with the places of its entities, in order.
        let mut mentions: Vec<(SentenceOrdinal, usize)> = Vec::new();
        for (place, (entity, _)) in central.iter().take(CENTRAL).enumerate() {
            let postings = self.graph.entity_mentions.of(*entity).take(MENTIONS_MAX);
            let sentence = |posting| self.graph.mention_sentence[self.graph.posting_mention[posting]];
            mentions.extend(postings.map(|posting| (sentence(posting), place)));
        }
        mentions.sort_unstable();
        mentions.dedup();
        let mut candidates: Vec<&[(SentenceOrdinal, usize)]> = mentions.chunk_by(|a, b| a.0 == b.0).collect();
        let mut left: Vec<f64> = central.iter().take(CENTRAL).map(|it| it.1).collect();
        let (mut chosen, mut first_gain): (Vec<SentenceOrdinal>, f64) = (Vec::new(), 0.0);
        while chosen.len() < FINDINGS {
            let best = best(&candidates, &left);
            let Some((gain, sentence, at)) = best.into_iter().find(|it| self.is_new(it.1, &chosen)) else { break };
            if gain <= GAIN_MIN * first_gain {
                break;
            }
            first_gain = first_gain.max(gain);
            chosen.push(sentence);
            candidates.swap_remove(at).iter().for_each(|(_, place)| left[*place] = 0.0);
        }
        chosen
    }

    /// Returns whether a sentence is self-contained and not chosen yet.
    fn is_new(&self, sentence: SentenceOrdinal, chosen: &[SentenceOrdinal]) -> bool {
        let text = self.sentence(sentence);
        can_stand_alone(text) && chosen.iter().all(|other| self.sentence(*other) != text)
    }
}

/// Returns the sentences with the largest gains, the best first, each with its gain and its place in the list.
fn best(candidates: &[&[(SentenceOrdinal, usize)]], left: &[f64]) -> Vec<(f64, SentenceOrdinal, usize)> {
    let gain = |of: &[(SentenceOrdinal, usize)]| of.iter().map(|(_, place)| left[*place]).sum::<f64>();
    let mut ranked: Vec<(f64, SentenceOrdinal, usize)> =
        candidates.iter().enumerate().map(|(at, of)| (gain(of), of[0].0, at)).collect();
    let order =
        |a: &(f64, SentenceOrdinal, usize), b: &(f64, SentenceOrdinal, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if ranked.len() > SENTENCES {
        ranked.select_nth_unstable_by(SENTENCES, order);
        ranked.truncate(SENTENCES);
    }
    ranked.sort_unstable_by(order);
    ranked
}

/// Returns whether a name is one of the calendar, or written as no name is, so that it says nothing of a topic.
fn says_nothing(name: &str, spelling: &str) -> bool {
    let is_common =
        spelling.chars().any(char::is_lowercase) && !spelling.chars().any(|it| it.is_uppercase() || it.is_numeric());
    let is_calendar = |word: &str| MONTHS.contains(&word) || DAYS.contains(&word) || word.parse::<u32>().is_ok();
    is_common || name.split(' ').all(is_calendar)
}

/// Returns whether a sentence is self-contained: it consists of words and ends like a sentence.
fn can_stand_alone(sentence: &str) -> bool {
    let (mut count, mut letters) = (0, 0);
    for letter in sentence.chars() {
        count += 1;
        letters += usize::from(letter.is_alphabetic());
    }
    let ends = sentence.trim_end_matches(['"', '”', '\'', ')']).ends_with(['.', '!', '?', '。', '؟', '።', '।']);
    SENTENCE_CHARS.contains(&count) && ends && 10 * letters >= 6 * count && !sentence.starts_with('#')
}

/// Returns whether all words of one name are words of the other.
fn shares_words(one: &str, other: &str) -> bool {
    let (one, other): (Vec<&str>, Vec<&str>) = (one.split(' ').collect(), other.split(' ').collect());
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    short.iter().all(|word| long.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_part_of_another_adds_nothing_to_a_title() {
        assert!(shares_words("lorne", "ada lorne") && shares_words("ada lorne", "lorne"));
        assert!(!shares_words("ada lorne", "ada reed"));
    }

    #[test]
    fn months_days_years_and_words_in_lower_case_name_no_topic() {
        for (name, spelling) in [("march", "March"), ("14 december 1999", "14 December 1999"), ("princess", "princess")]
        {
            assert!(says_nothing(name, spelling), "{name}");
        }
        for (name, spelling) in
            [("march hare", "March Hare"), ("水磨", "水磨"), ("rfc 2119", "RFC 2119"), ("x11", "x11")]
        {
            assert!(!says_nothing(name, spelling), "{name}");
        }
    }

    #[test]
    fn headings_tables_and_fragments_do_not_stand_alone() {
        assert!(
            can_stand_alone("Ines Marr built Port Vane.") && can_stand_alone("艾达于1801年在东城建造了古老的水磨。")
        );
        for part in ["# Resources for Members", "GREEN 12 34 | 56 78 | 90 12.", "and so on", "# It was built by her."] {
            assert!(!can_stand_alone(part), "{part}");
        }
    }
}
