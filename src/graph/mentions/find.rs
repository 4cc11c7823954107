//! The mentions in one passage, with the words around them.

use rustc_hash::FxHashMap;

use super::prose::{is_torn, named_runs};
use super::{NamedPassage, Names};
use crate::domain::Span;
use crate::graph::descriptions::origin;
use crate::graph::packed::{CUES, CUES_AFTER, CUES_BEFORE};
use crate::text::{FoldedWords, NameLookup, NameRule, cue, is_stop_word, tokens, visit_names};

/// Bytes before a mention in which words around it are looked for.
const BEFORE_BYTES: usize = 70;
/// Words of a name at most that its last word alone refers back to.
const SURNAMED_WORDS_MAX: usize = 4;
/// Characters of a name at most: a longer run of capitals is none.
const NAME_CHARS_MAX: usize = 200;
/// Bytes after it.
const AFTER_BYTES: usize = 30;

/// The mentions of one passage. Keys and cues are numbered within it.
#[derive(Debug, Default)]
pub(super) struct PassageMentions {
    /// Folded names of the entities mentioned.
    pub(super) keys: Vec<String>,
    /// Stem prefixes of the words around mentions.
    pub(super) cues: Vec<String>,
    /// The mentions, one an entity and sentence, in order.
    pub(super) mentions: Vec<Mention>,
    /// Names of several words where they stand in lower case.
    pub(super) lower: Vec<String>,
    /// Whether it has more than it may have.
    pub(super) is_cut: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Mention {
    pub(super) key: u32,
    /// The sentence, within the passage.
    pub(super) sentence: u32,
    /// Who found it: bits of [`origin`].
    pub(super) origin: u8,
    /// The words around it, nearest first before, then after.
    pub(super) cues: [Option<u32>; CUES],
}

pub(super) struct Finder<'a> {
    names: &'a Names,
}

impl<'a> Finder<'a> {
    pub(super) const fn new(names: &'a Names) -> Self {
        Self { names }
    }

    /// Returns the first `most` mentions of a passage.
    pub(super) fn mentions(&self, passage: &NamedPassage<'_>, most: usize) -> PassageMentions {
        let names = self.names;
        let text = &*passage.prose();
        let folded = FoldedWords::of(text);
        let longest = |word: &str| names.longest.get(word).copied().unwrap_or(0);
        let contains = |key: &str| names.bearers.contains_key(key);
        let single = |word: &str| !names.cases.is_mostly_lower(word);
        let lookup = NameLookup { longest: &longest, contains: &contains, single: &single, lower: &|_| false };
        let mut lower = Vec::new();
        let known = visit_names(&folded, NameRule::Text, &lookup, &mut |key| lower.push(key.to_owned()));
        lower.retain(|key| key.contains(' '));
        let known = known.into_iter().filter(|it| !text.get(it.start..it.end).is_some_and(is_torn));
        let known = known.map(|it| FoundName::by_rule(it.key, it.start, it.end));
        let runs = named_runs(text, &folded, &|word| names.cases.is_common(word));
        let runs = runs.into_iter().filter(|run| run.key.chars().nth(NAME_CHARS_MAX).is_none());
        let runs = runs.map(|run| FoundName::by_rule(run.key, run.start, run.end));
        let mut found: Vec<FoundName> = known.chain(runs).chain(by_model(passage)).collect();
        found.sort_by_key(|it| it.start);
        let mut context = Context::of(passage, folded);
        for FoundName { key, start, end, origin } in with_surnames(found) {
            if context.found.mentions.len() >= most {
                context.found.is_cut = true;
                break;
            }
            context.add(key, Span::from(start..end), origin);
        }
        context.found.lower = lower;
        context.found
    }
}

/// A name where it stands, and who found it there.
struct FoundName {
    key: String,
    start: usize,
    end: usize,
    origin: u8,
}

impl FoundName {
    const fn by_rule(key: String, start: usize, end: usize) -> Self {
        Self { key, start, end, origin: origin::RULE }
    }
}

/// Returns the names that a model found in a passage.
fn by_model<'a>(passage: &NamedPassage<'a>) -> impl Iterator<Item = FoundName> + 'a {
    let entities = passage.extraction.into_iter().flat_map(|it| &it.entities);
    entities.flat_map(|entity| {
        let name = |span: &Span| FoundName {
            key: entity.name.clone(),
            start: span.start as usize,
            end: span.end as usize,
            origin: origin::MODEL,
        };
        entity.spans.iter().map(name)
    })
}

/// Adds what a single last word refers back to: the first longer name before it that ends with the word.
fn with_surnames(found: Vec<FoundName>) -> Vec<FoundName> {
    let mut longer: FxHashMap<String, String> = FxHashMap::default();
    let mut all = Vec::with_capacity(found.len());
    for name in found {
        let FoundName { key, start, end, .. } = &name;
        let words = key.split(' ').count();
        if words == 1 {
            all.extend(longer.get(key).map(|name| FoundName::by_rule(name.clone(), *start, *end)));
        } else if words <= SURNAMED_WORDS_MAX
            && let Some((_, last)) = key.rsplit_once(' ')
        {
            longer.entry(last.to_owned()).or_insert_with(|| key.clone());
        }
        all.push(name);
    }
    all
}

/// A passage while its mentions are collected.
struct Context<'a> {
    passage: &'a NamedPassage<'a>,
    folded: FoldedWords<'a>,
    /// What each word says, once that was asked for: few stand around a mention.
    cues: Vec<Option<Cue>>,
    keys: FxHashMap<String, u32>,
    numbers: FxHashMap<String, u32>,
    found: PassageMentions,
}

/// The number of a word's cue; none for a stop word.
type Cue = Option<u32>;

impl<'a> Context<'a> {
    fn of(passage: &'a NamedPassage<'a>, folded: FoldedWords<'a>) -> Self {
        let cues = vec![None; folded.words.len()];
        let (keys, numbers, found) = (FxHashMap::default(), FxHashMap::default(), PassageMentions::default());
        Self { passage, folded, cues, keys, numbers, found }
    }

    /// Returns the cue of a word.
    fn cue(&mut self, word: usize) -> Cue {
        if let Some(cue) = self.cues[word] {
            return cue;
        }
        let written = self.folded.words[word].text;
        // One letter may fold to several words: `½` to `1⁄2`.
        let joined = (!written.is_ascii()).then(|| tokens(written).concat());
        let folded = joined.as_deref().unwrap_or_else(|| self.folded.word(word));
        let is_telling = !folded.is_empty() && !is_stop_word(folded);
        let cue = is_telling.then(|| {
            let next = self.numbers.len() as u32;
            let cues = &mut self.found.cues;
            *self.numbers.entry(cue(folded)).or_insert_with_key(|cue| {
                cues.push(cue.clone());
                next
            })
        });
        self.cues[word] = Some(cue);
        cue
    }

    /// Adds a mention unless its entity has one in the sentence already, which then both found.
    fn add(&mut self, key: String, span: Span, origin: u8) {
        let next = self.keys.len() as u32;
        let keys = &mut self.found.keys;
        let key = *self.keys.entry(key).or_insert_with_key(|key| {
            keys.push(key.clone());
            next
        });
        let sentence = self.sentence(span);
        let is_it = |mention: &&mut Mention| (mention.key, mention.sentence) == (key, sentence);
        if let Some(known) = self.found.mentions.iter_mut().find(is_it) {
            known.origin |= origin;
            return;
        }
        let cues = self.cues(span);
        self.found.mentions.push(Mention { key, sentence, origin, cues });
    }

    /// Returns the sentence that `span` begins in.
    fn sentence(&self, span: Span) -> u32 {
        let sentences = self.passage.sentences;
        let before = sentences.partition_point(|sentence| sentence.end <= span.start);
        before.min(sentences.len().saturating_sub(1)) as u32
    }

    fn cues(&mut self, span: Span) -> [Cue; CUES] {
        let (start, end) = (span.start as usize, span.end as usize);
        let mut cues = [None; CUES];
        let words = &self.folded.words;
        let before = words.partition_point(|word| word.end <= start);
        let is_near = |word: &usize| words[*word].start + BEFORE_BYTES >= start;
        let near: Vec<usize> = (0..before).rev().take_while(is_near).take(CUES_BEFORE).collect();
        let after = words.partition_point(|word| word.start < end);
        let is_after = |word: &usize| words[*word].start < end + AFTER_BYTES;
        let next: Vec<usize> = (after..words.len()).take_while(is_after).take(CUES_AFTER).collect();
        for (slot, word) in cues[..CUES_BEFORE].iter_mut().zip(near) {
            *slot = self.cue(word);
        }
        for (slot, word) in cues[CUES_BEFORE..].iter_mut().zip(next) {
            *slot = self.cue(word);
        }
        cues
    }
}
