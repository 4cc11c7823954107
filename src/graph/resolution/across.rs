//! Names of a whole corpus that may be names of one entity, by blocks of names with equal parts.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, Hash};

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::within::Link;
use super::{Reason, company};
use crate::graph::ordinal::{EntityOrdinal, SentenceOrdinal};
use crate::graph::packed::PassageGraph;
use crate::text::{is_linking_word, is_misspelling, names_no_person, normal_form, without_honorific};

/// Names of a block at most: a larger one is of parts that say nothing, and is left out.
pub const BLOCK_MAX: usize = 64;
/// Words of a name that is compared letter by letter at most.
const WORDS_MAX: usize = 6;
/// Characters of a word that may be misspelt at least.
const MISSPELT_CHARS_MIN: usize = 5;
/// Parts of a name for which there is room at first: few have more.
const PARTS_USUAL: usize = 4;
/// Mentions of a name that are searched for a sentence with another name.
const MENTIONS_MAX: usize = 256;

/// Returns which names are spellings of one, or follow honorifics, by their words alone.
///
/// Complexity: linear in the names.
pub(super) fn spellings(graph: &PassageGraph<'_>) -> Vec<Link> {
    let entities = || graph.entity_documents.ordinals();
    let names = graph.names();
    let mut blocks: FxHashMap<Cow<'_, str>, Vec<EntityOrdinal>> = FxHashMap::default();
    for entity in entities() {
        let name = names.get(entity);
        let form = normal_form(name);
        if form != name {
            blocks.entry(form).or_default().push(entity);
        }
    }
    // Nearly all names are their own normal forms: only those that others have are looked up.
    for (form, block) in blocks.iter_mut().filter(|(form, _)| normal_form(form) == **form) {
        block.extend(graph.entities(form));
        block.sort_unstable();
    }
    let mut blocks: Vec<Vec<EntityOrdinal>> = blocks.into_values().filter(|it| it.len() <= BLOCK_MAX).collect();
    blocks.sort_unstable();
    let mut links = Vec::new();
    for block in blocks {
        links.extend(block[1..].iter().map(|other| (*other, block[0], Reason::Spelling)));
    }
    // A last name alone says too little of a whole corpus.
    links.extend(entities().filter_map(|titled| {
        let name = without_honorific(names.get(titled)).filter(|it| it.contains(' '))?;
        Some((titled, graph.entity(name)?, Reason::Honorific))
    }));
    links
}

/// Returns which names are similar and keep the same company, if no sentence names both.
///
/// Complexity: linear in the names, plus the company of similar ones.
pub(super) fn alike(graph: &PassageGraph<'_>) -> Vec<Link> {
    let (mut links, misspelt) = rayon::join(|| shortened(graph), || misspelt(graph));
    links.extend(misspelt);
    links.retain(|(one, other, _)| are_never_together(graph, *one, *other) && company::is_same(graph, *one, *other));
    links
}

/// Returns names of persons that omit or abbreviate the middle names of another, if there is only one such other.
fn shortened(graph: &PassageGraph<'_>) -> Vec<Link> {
    let names = graph.names();
    let parts = |entity| {
        let name = Some(names.get(entity)).filter(|name| is_person_like(name));
        name.and_then(|name| name.chars().next().zip(name.rsplit(' ').next())).into_iter()
    };
    let mut links = Vec::new();
    for block in blocks(graph.entity_documents.ordinals(), parts) {
        for name in &block {
            let mut whole = block.iter().filter(|it| is_short_for(names.get(*name), names.get(**it)));
            if let (Some(only), None) = (whole.next(), whole.next()) {
                links.push((*name, *only, Reason::Initials));
            }
        }
    }
    links
}

fn is_person_like(name: &str) -> bool {
    let words = name.split(' ').count();
    (2..=4).contains(&words)
        && !name.split(' ').any(|it| names_no_person(it) || is_linking_word(it) || it.contains(char::is_numeric))
}

/// Returns whether a name is another with letters for first names, or without its middle names. That they have the same
/// first letter and last word is known.
pub(super) fn is_short_for(name: &str, whole: &str) -> bool {
    let (short, long): (Vec<&str>, Vec<&str>) = (name.split(' ').collect(), whole.split(' ').collect());
    if is_letter(short[0]) {
        let given = &short[..short.len() - 1];
        let same = |(a, b): (&&str, &&str)| a.chars().next() == b.chars().next();
        let are_letters = given.iter().all(|it| is_letter(it)) && !is_letter(long[0]);
        return short.len() <= long.len() && are_letters && given.iter().zip(&long).all(same);
    }
    short.len() == 2 && long.len() > 2 && short[0] == long[0]
}

/// Returns whether a word is a single letter.
pub(super) fn is_letter(word: &str) -> bool {
    word.chars().nth(1).is_none()
}

fn misspelt(graph: &PassageGraph<'_>) -> Vec<Link> {
    let names = graph.names();
    let mut links = Vec::new();
    for block in blocks(graph.entity_documents.ordinals(), |entity| around_words(names.get(entity))) {
        for (at, one) in block.iter().enumerate() {
            let differ = |other: &EntityOrdinal| {
                let words = names.get(*one).split(' ').zip(names.get(*other).split(' '));
                words.filter(|(a, b)| a != b).all(|(a, b)| {
                    a.chars().count().max(b.chars().count()) >= MISSPELT_CHARS_MIN && is_misspelling(a, b)
                })
            };
            let others = block[at + 1..].iter().filter(|other| differ(other));
            links.extend(others.map(|other| (*other, *one, Reason::Misspelling)));
        }
    }
    links.sort_unstable();
    links.dedup();
    links
}

/// Returns the parts of a name that a misspelling of one word does not change: up to its first letter, and from its
/// ending on.
fn around_words(name: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_compared = (2..=WORDS_MAX).contains(&name.split(' ').count()) && !name.contains(char::is_numeric);
    let words = words_at(if is_compared { name } else { "" });
    words.filter(|(_, word)| word.chars().count() + 1 >= MISSPELT_CHARS_MIN).map(|(start, word)| {
        let first = word.chars().next().map_or(0, char::len_utf8);
        let ending = word.char_indices().nth_back(1).map_or(0, |it| it.0);
        (&name[..start + first], &name[start + ending..])
    })
}

/// Returns the words of a name, each with where it begins.
fn words_at(name: &str) -> impl Iterator<Item = (usize, &str)> {
    name.split(' ').scan(0, |next, word| Some((std::mem::replace(next, *next + word.len() + 1), word)))
}

/// Returns whether no sentence names both: names that one sentence distinguishes are not one entity.
fn are_never_together(graph: &PassageGraph<'_>, one: EntityOrdinal, other: EntityOrdinal) -> bool {
    let sentences = |entity| {
        let postings = graph.entity_mentions.of(entity).take(MENTIONS_MAX);
        postings.map(|posting| graph.mention_sentence[graph.posting_mention[posting]])
    };
    let of_one: FxHashSet<SentenceOrdinal> = sentences(one).collect();
    !sentences(other).any(|it| of_one.contains(&it))
}

/// Returns the names that have a part in common with others, unless these are too many, in the order of their names.
///
/// Nearly all parts are alone, so sorting hashes of them takes less than a table, and the parts are found again.
fn blocks<K: Ord + Hash, I: Iterator<Item = K>>(
    entities: impl ExactSizeIterator<Item = EntityOrdinal>,
    parts: impl Fn(EntityOrdinal) -> I,
) -> Vec<Vec<EntityOrdinal>> {
    let hash = |part: &K| FxBuildHasher.hash_one(part);
    let mut hashes = Vec::with_capacity(PARTS_USUAL * entities.len());
    for entity in entities {
        hashes.extend(parts(entity).map(|part| (hash(&part), entity)));
    }
    hashes.sort_unstable();
    let mut blocks: Vec<Vec<EntityOrdinal>> = Vec::new();
    for same in hashes.chunk_by(|a, b| a.0 == b.0).filter(|it| it.len() > 1) {
        let mut names = Vec::with_capacity(same.len());
        for one in same.chunk_by(|a, b| a.1 == b.1) {
            let (due, entity) = one[0];
            names.extend(parts(entity).filter(|part| hash(part) == due).map(|part| (part, entity)));
        }
        // Two parts may have one hash.
        names.sort_unstable();
        let of_part = names.chunk_by(|a, b| a.0 == b.0).filter(|it| (2..=BLOCK_MAX).contains(&it.len()));
        blocks.extend(of_part.map(|block| block.iter().map(|it| it.1).collect()));
    }
    blocks.sort_unstable();
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ordinal::{Ordinal as _, listed};

    #[test]
    fn names_with_one_part_are_a_block_even_where_others_have_its_hash() {
        /// A part with the hash of every other.
        #[derive(PartialEq, Eq, PartialOrd, Ord)]
        struct Part(usize);

        impl Hash for Part {
            fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
        }

        let parts: Vec<usize> = [3, 1, 2, 1, 3, 1].into_iter().chain(std::iter::repeat_n(4, BLOCK_MAX + 1)).collect();
        // The last one has two parts of its own.
        let of_entity = |entity: EntityOrdinal| match parts.get(entity.index()) {
            Some(part) => vec![Part(*part)].into_iter(),
            None => vec![Part(5), Part(6)].into_iter(),
        };
        let found = blocks(EntityOrdinal::first(parts.len() + 1), of_entity);
        assert_eq!(found, [vec![0, 4], vec![1, 3, 5]].map(|block| listed::<EntityOrdinal>(&block)));
    }

    #[test]
    fn a_name_may_be_short_for_another() {
        assert!(is_short_for("j k marr", "joan kay marr") && is_short_for("j marr", "joan kay marr"));
        assert!(is_short_for("joan marr", "joan kay marr"));
        assert!(!is_short_for("joan kay marr", "joan marr") && !is_short_for("j marr", "j k marr"));
        assert!(!is_short_for("jane marr", "joan kay marr"));
    }
}
