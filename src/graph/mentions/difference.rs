//! Names and mentions by what has changed since an earlier version. The result is the same as without one.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::find::{Finder, PassageMentions};
use super::kept::{NameStatistics, PackedNameStatistics};
use super::{ByName, Mentioned, NamedDocument, NamedPassage, Names, count_cases, names_of, pack};
use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::ordinal::{
    Column, CueOrdinal, DocumentOrdinal, EntityOrdinal, Ordinal, PassageOrdinal, Position, SentenceOrdinal,
};
use crate::graph::packed::{CUES, NO_CUE, PackedGraph, PassageGraph, TextList};
use crate::graph::segments::GONE;
use crate::text::{CaseCounts, FoldedWords, NameKind, WordSieve, is_among};

/// What an earlier version has, found by the same rules.
pub struct EarlierNames<'a> {
    /// Its names and mentions.
    pub graph: PassageGraph<'a>,
    /// What they were found by.
    pub statistics: NameStatistics<'a>,
    /// For each of its passages, what it is now, ascending, whole documents at a time; or [`GONE`].
    pub passages: &'a [u32],
    /// Those that are gone, as names are found in them: their text and media type count.
    pub gone: Vec<NamedPassage<'a>>,
}

impl EarlierNames<'_> {
    /// Returns whether it saves work over a collection of so many passages. Much of a collection is better numbered
    /// block by block. Only a forged version has texts that are not in order, or one twice.
    pub(super) fn is_of_use(&self, passages: usize) -> bool {
        let staying = self.passages.iter().filter(|now| **now != GONE).count();
        let (graph, statistics) = (&self.graph, &self.statistics);
        2 * staying >= passages
            && graph.names().is_ascending()
            && TextList::of(graph.cue_ends, graph.cue_prefixes.items()).is_ascending()
            && TextList::of(statistics.shared_ends, statistics.shared_names.items()).is_ascending()
    }
}

/// A passage, and the most mentions that it may have.
type Bounded<'a> = (NamedPassage<'a>, usize);

/// What stays of an earlier version.
struct Staying {
    /// What each passage was.
    passages: Vec<Option<PassageOrdinal>>,
    /// What each document is now.
    documents: Vec<Option<DocumentOrdinal>>,
    /// What each document was.
    before: Vec<Option<DocumentOrdinal>>,
}

impl Staying {
    fn of(earlier: &EarlierNames<'_>, packed: &PackedGraph) -> Self {
        let mut passages = vec![None; packed.passage_document.len()];
        for (before, now) in earlier.graph.passages().zip(earlier.passages).filter(|(_, now)| **now != GONE) {
            passages[*now as usize] = Some(before);
        }
        let mut before = vec![None; packed.document_passages.len() - 1];
        let now = |document: DocumentOrdinal| {
            let first = earlier.graph.document_passages.of(document).next()?;
            let now = *earlier.passages.get(first.index()).filter(|now| **now != GONE)?;
            let now = packed.passage_document[now as usize];
            before[now.index()] = Some(document);
            Some(now)
        };
        let documents = earlier.graph.documents().map(now).collect();
        Self { passages, documents, before }
    }
}

/// Fills what is filled from all documents, of those that changed.
pub(super) fn pack(
    documents: &[NamedDocument<'_>],
    passages: &[Bounded<'_>],
    packed: &mut PackedGraph,
    earlier: &EarlierNames<'_>,
    cancellation: &Cancellation,
) -> Result<Mentioned> {
    let staying = Staying::of(earlier, packed);
    let added = || passages.iter().zip(&staying.passages).filter(|it| it.1.is_none()).map(|it| it.0.0);
    let (gone_cases, added_cases) =
        (count_cases(earlier.gone.iter().copied(), cancellation)?, count_cases(added(), cancellation)?);
    let mut cases = earlier.statistics.cases();
    let changed = cases.replace(&gone_cases, &added_cases);
    let words = spelled(&changed, earlier.gone.iter().copied().chain(added()));
    let mut statistics = PackedNameStatistics::of_cases(&cases);
    let Borne { names, came, went } = Borne::of(documents, cases, (&words, &staying), earlier);
    cancellation.check()?;
    let changed = words.into_iter().chain(came.iter().cloned()).chain(went);
    let found = find((passages, &staying), &names, changed, cancellation)?;
    lay_out((&names, &came), (&found, &staying), &mut statistics, earlier, packed);
    pack::finish(&names, &mut statistics, packed);
    Ok(Mentioned { origins: Vec::new(), statistics })
}

/// Returns the words of passages that have one of these hashes.
fn spelled<'a>(hashes: &FxHashSet<u64>, passages: impl Iterator<Item = NamedPassage<'a>>) -> Vec<String> {
    let mut words = FxHashSet::default();
    for passage in passages.filter(|_| !hashes.is_empty()) {
        let prose = passage.prose();
        let folded = FoldedWords::of(&prose);
        let of_hashes = (0..folded.words.len()).map(|at| folded.word(at)).filter(|word| is_among(hashes, word));
        of_hashes.for_each(|word| {
            if !words.contains(word) {
                words.insert(word.to_owned());
            }
        });
    }
    words.into_iter().collect()
}

/// The names that documents bear.
struct Borne {
    names: Names,
    /// Those that none bore before.
    came: Vec<String>,
    /// Those that none bears now.
    went: Vec<String>,
}

impl Borne {
    fn of(
        documents: &[NamedDocument<'_>],
        cases: CaseCounts,
        (words, staying): (&[String], &Staying),
        earlier: &EarlierNames<'_>,
    ) -> Self {
        let is_new = is_named_anew(documents, &cases, (words, staying));
        let new = documents.par_iter().enumerate().filter(|(number, _)| is_new[*number]);
        let new: Vec<(u32, Vec<(String, NameKind)>)> =
            new.map(|(number, document)| (number as u32, names_of(document, &cases))).collect();
        let mut bearers = ByName::default();
        let kept = |document: DocumentOrdinal| {
            let now = (*staying.documents.get(document.index())?)?;
            (!is_new[now.index()]).then_some(now.number())
        };
        let mut keep = |name: &str, rows: &mut dyn Iterator<Item = (DocumentOrdinal, u32)>| {
            let kept = rows.filter_map(|(document, kind)| Some((kept(document)?, NameKind::of_number(kind)?)));
            let kept: Vec<(u32, NameKind)> = kept.collect();
            if !kept.is_empty() {
                bearers.entry(name.to_owned()).or_default().extend(kept);
            }
        };
        let EarlierNames { graph, statistics, .. } = earlier;
        let known = graph.names();
        for entity in graph.entity_name_ends.ordinals() {
            let rows = graph.entity_bearers.of(entity).map(|it| (graph.bearer_document[it], graph.bearer_kind[it]));
            keep(known.get(entity), &mut { rows });
        }
        let all_shared = TextList::of(statistics.shared_ends, statistics.shared_names.items());
        let shared = |name: Position| all_shared.get(name);
        for name in statistics.shared_ends.ordinals() {
            let rows = statistics.shared_bearers.of(name);
            keep(shared(name), &mut rows.map(|it| (statistics.shared_document[it], statistics.shared_kind[it])));
        }
        let mut candidates: FxHashSet<String> =
            statistics.shared_ends.ordinals().map(|name| shared(name).to_owned()).collect();
        for (document, names) in new {
            for (name, kind) in names {
                candidates.insert(name.clone());
                bearers.entry(name).or_default().push((document, kind));
            }
        }
        for bearers in bearers.values_mut() {
            bearers.sort_unstable_by_key(|it| it.0);
        }
        let names = Names::of_bearers(cases, bearers);
        let was_borne =
            |name: &str| graph.entity(name).is_some_and(|entity| !graph.entity_bearers.of(entity).is_empty());
        let came = candidates.into_iter().filter(|name| names.bearers.contains_key(name) && !was_borne(name));
        let borne = graph.entity_name_ends.ordinals().filter(|entity| !graph.entity_bearers.of(*entity).is_empty());
        let went = borne.map(|entity| known.get(entity)).filter(|name| !names.bearers.contains_key(*name));
        let (came, went) = (came.collect(), went.map(str::to_owned).collect());
        Self { names, came, went }
    }
}

/// Returns which documents may bear other names than before: new ones, and those named by their capitals of which
/// words are used otherwise now.
fn is_named_anew(
    documents: &[NamedDocument<'_>],
    cases: &CaseCounts,
    (words, staying): (&[String], &Staying),
) -> Vec<bool> {
    let sieve = WordSieve::of(words.iter().cloned(), &|word| cases.frequency(word));
    let is_new = |(document, before): (&NamedDocument<'_>, &Option<DocumentOrdinal>)| {
        let Some(first) = document.passages.first().filter(|_| before.is_some()) else { return true };
        document.title.is_none() && sieve.finds(first.text)
    };
    documents.par_iter().zip(&staying.before).map(is_new).collect()
}

/// Returns the mentions of new passages, and of those that have one of `changed`; for all others none.
fn find(
    (passages, staying): (&[Bounded<'_>], &Staying),
    names: &Names,
    changed: impl Iterator<Item = String>,
    cancellation: &Cancellation,
) -> Result<Vec<Option<PassageMentions>>> {
    let sieve = WordSieve::of(changed, &|word| names.cases.frequency(word));
    let finder = Finder::new(names);
    let find = |((passage, most), before): (&Bounded<'_>, &Option<PassageOrdinal>)| {
        let is_as_before = before.is_some() && !sieve.finds(&passage.prose());
        (!is_as_before).then(|| finder.mentions(passage, *most))
    };
    let mut found = Vec::with_capacity(passages.len());
    for (passages, before) in passages.chunks(super::BLOCK).zip(staying.passages.chunks(super::BLOCK)) {
        cancellation.check()?;
        found.par_extend(passages.par_iter().zip(before).map(find));
    }
    Ok(found)
}

/// Texts of an earlier version and new ones in one order.
struct Merged<K> {
    ends: Vec<u32>,
    texts: Vec<u8>,
    /// What each text of the earlier version is now; of those that nothing needs any more, nothing.
    now: Vec<K>,
    /// The number of each new text.
    added: FxHashMap<String, K>,
}

impl<K: Ordinal> Merged<K> {
    /// Merges the texts that are needed with those that are new.
    fn of(ends: Column<'_, K, u32>, texts: &[u8], is_needed: &[bool], added: FxHashSet<String>) -> Self {
        let mut added: Vec<String> = added.into_iter().collect();
        added.sort_unstable();
        let mut merged = Self {
            ends: Vec::with_capacity(ends.len() + added.len()),
            texts: Vec::with_capacity(texts.len() + added.iter().map(String::len).sum::<usize>()),
            now: vec![K::new(GONE); ends.len()],
            added: FxHashMap::default(),
        };
        let mut added = added.into_iter().peekable();
        let known = TextList::of(ends, texts);
        for before in ends.ordinals().filter(|before| is_needed[before.index()]) {
            let text = known.get(before);
            while let Some(new) = added.next_if(|new| new.as_str() < text) {
                merged.add(new);
            }
            merged.now[before.index()] = merged.push(text);
        }
        added.for_each(|new| merged.add(new));
        merged
    }

    fn push(&mut self, text: &str) -> K {
        self.texts.extend_from_slice(text.as_bytes());
        self.ends.push(self.texts.len() as u32);
        K::at(self.ends.len() - 1)
    }

    fn add(&mut self, text: String) {
        let number = self.push(&text);
        self.added.insert(text, number);
    }
}

/// Texts of an earlier version, of which some are needed still, and others that are.
struct Needed<'a, K> {
    ends: Column<'a, K, u32>,
    texts: &'a [u8],
    /// Whether each of the earlier version is needed.
    known: Vec<bool>,
    added: FxHashSet<String>,
}

impl<'a, K: Ordinal> Needed<'a, K> {
    fn new(ends: Column<'a, K, u32>, texts: &'a [u8]) -> Self {
        Self { ends, texts, known: vec![false; ends.len()], added: FxHashSet::default() }
    }

    fn add(&mut self, text: &str) {
        match crate::graph::packed::equal_texts::<K>(&self.ends, self.texts, text).next() {
            Some(known) => self.known[known.index()] = true,
            None if self.added.contains(text) => {}
            None => drop(self.added.insert(text.to_owned())),
        }
    }

    fn merged(self) -> Merged<K> {
        Merged::of(self.ends, self.texts, &self.known, self.added)
    }
}

/// Numbers entities and cues, and lays out mentions and names in lower case: those of before, or those that were found.
fn lay_out(
    (names, came): (&Names, &[String]),
    (found, staying): (&[Option<PassageMentions>], &Staying),
    statistics: &mut PackedNameStatistics,
    earlier: &EarlierNames<'_>,
    packed: &mut PackedGraph,
) {
    let EarlierNames { graph, statistics: known, .. } = earlier;
    let mut entities = Needed::new(graph.entity_name_ends, graph.entity_names.items());
    let mut cues = Needed::new(graph.cue_ends, graph.cue_prefixes.items());
    for (found, before) in found.iter().zip(&staying.passages) {
        if let Some(found) = found {
            found.keys.iter().for_each(|key| entities.add(key));
            let around = found.mentions.iter().flat_map(|it| it.cues).flatten();
            around.for_each(|cue| cues.add(&found.cues[cue as usize]));
        } else if let Some(before) = before {
            for mention in graph.passage_mentions.of(*before) {
                entities.known[graph.mention_entity[mention].index()] = true;
                let around = graph.cues(mention).iter().filter(|cue| **cue != NO_CUE);
                around.for_each(|cue| cues.known[cue.index()] = true);
            }
            let lower = known.lower_entity.of(known.passage_lower.of(*before));
            for entity in lower {
                entities.known[entity.index()] = true;
            }
        }
    }
    let texts = graph.names();
    for entity in graph.entity_name_ends.ordinals() {
        let is_needed = &mut entities.known[entity.index()];
        *is_needed = *is_needed || names.bearers.contains_key(texts.get(entity));
    }
    for name in came {
        entities.add(name);
    }
    let mut rows = LaidOut { graph: *graph, entities: entities.merged(), cues: cues.merged(), packed, statistics };
    rows.packed.passage_mentions.push(0);
    rows.statistics.passage_lower.push(0);
    // Most stay, and lists of millions are not to be copied while they grow.
    let added: usize = found.iter().flatten().map(|it| it.mentions.len()).sum();
    let lower: usize = found.iter().flatten().map(|it| it.lower.len()).sum();
    rows.packed.mention_entity.reserve_exact(graph.mention_entity.len() + added);
    rows.packed.mention_sentence.reserve_exact(graph.mention_sentence.len() + added);
    rows.packed.mention_cues.reserve_exact(graph.mention_cues.len() + CUES * added);
    rows.statistics.lower_entity.reserve_exact(known.lower_entity.len() + lower);
    let is_cut: FxHashSet<PassageOrdinal> = known.passage_cut.items().iter().copied().collect();
    for ((found, before), passage) in found.iter().zip(&staying.passages).zip(PassageOrdinal::first(found.len())) {
        let was_cut = match (found, before) {
            (Some(found), _) => rows.add(found, passage),
            (None, Some(before)) => {
                rows.keep(*before, passage);
                let lower = known.lower_entity.of(known.passage_lower.of(*before)).iter();
                let lower = lower.map(|entity| rows.entities.now[entity.index()]);
                rows.statistics.lower_entity.extend(lower);
                is_cut.contains(before)
            }
            (None, None) => false,
        };
        if was_cut {
            rows.statistics.passage_cut.push(passage);
        }
        rows.packed.passage_mentions.push(rows.packed.mention_entity.len() as u32);
        rows.statistics.passage_lower.push(rows.statistics.lower_entity.len() as u32);
    }
    let LaidOut { entities, cues, packed, .. } = rows;
    (packed.entity_name_ends, packed.entity_names) = (entities.ends, entities.texts);
    (packed.cue_ends, packed.cue_prefixes) = (cues.ends, cues.texts);
}

/// Mentions while they are laid out.
struct LaidOut<'a, 'p> {
    graph: PassageGraph<'a>,
    entities: Merged<EntityOrdinal>,
    cues: Merged<CueOrdinal>,
    packed: &'p mut PackedGraph,
    statistics: &'p mut PackedNameStatistics,
}

impl LaidOut<'_, '_> {
    /// Adds the mentions of a passage as they were before.
    fn keep(&mut self, before: PassageOrdinal, passage: PassageOrdinal) {
        let graph = self.graph;
        let first = self.packed.passage_sentences[passage.index()];
        let sentences = graph.passage_sentences.of(before);
        let was_first = sentences.clone().next().map_or(0, Ordinal::number);
        for mention in graph.passage_mentions.of(before) {
            // Only a forged version has a mention in the sentence of another passage.
            let sentence = graph.mention_sentence[mention].number().checked_sub(was_first);
            let Some(sentence) = sentence.filter(|it| (*it as usize) < sentences.len()) else { continue };
            self.packed.mention_entity.push(self.entities.now[graph.mention_entity[mention].index()]);
            self.packed.mention_sentence.push(SentenceOrdinal(first + sentence));
            let now = |cue: &CueOrdinal| if *cue == NO_CUE { NO_CUE } else { self.cues.now[cue.index()] };
            self.packed.mention_cues.extend(graph.cues(mention).iter().map(now));
        }
    }

    /// Adds the mentions that were found in a passage; returns whether some were left out.
    fn add(&mut self, found: &PassageMentions, passage: PassageOrdinal) -> bool {
        let graph = self.graph;
        let first = self.packed.passage_sentences[passage.index()];
        let entity = |key: &String| match self.entities.added.get(key) {
            Some(added) => *added,
            None => graph.entity(key).map_or(EntityOrdinal(GONE), |before| self.entities.now[before.index()]),
        };
        let cue = |cue: &String| match self.cues.added.get(cue) {
            Some(added) => *added,
            None => graph.cue(cue).map_or(NO_CUE, |before| self.cues.now[before.index()]),
        };
        let keys: Vec<EntityOrdinal> = found.keys.iter().map(entity).collect();
        let cues: Vec<CueOrdinal> = found.cues.iter().map(cue).collect();
        let mut mentions: Vec<_> = found.mentions.iter().map(|it| (keys[it.key as usize], it)).collect();
        mentions.sort_by_key(|(entity, mention)| (*entity, mention.sentence));
        for (entity, mention) in mentions {
            self.packed.mention_entity.push(entity);
            self.packed.mention_sentence.push(SentenceOrdinal(first + mention.sentence));
            self.packed.mention_cues.extend(mention.cues.map(|cue| cue.map_or(NO_CUE, |cue| cues[cue as usize])));
        }
        self.statistics.lower_entity.extend(found.lower.iter().map(entity));
        found.is_cut
    }
}
