//! Lays out mentions and names in lower case of which most are as an earlier version has them.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Names;
use super::difference::EarlierNames;
use super::find::{Mention, PassageMentions};
use super::kept::{NameStatistics, PackedNameStatistics};
use crate::graph::ordinal::{
    Column, CueOrdinal, EntityOrdinal, MentionOrdinal, Ordinal, Ordinals, PassageOrdinal, SentenceOrdinal,
};
use crate::graph::packed::{CUES, NO_CUE, PackedGraph, PassageGraph, TextList, equal_texts};
use crate::graph::segments::GONE;

/// Items of a list from which on they are copied by several threads.
const SHARED_MIN: usize = 1 << 16;

/// Mentions that were found in passages, in the order of these.
pub(super) type FoundMentions = [(PassageOrdinal, PassageMentions)];

/// Numbers entities and cues, and lays out mentions and names in lower case: those that were `found`, and for all
/// other passages those of the passage that each `was`.
pub(super) fn lay_out(
    (names, came): (&Names, &[String]),
    (found, was): (&FoundMentions, &[Option<PassageOrdinal>]),
    statistics: &mut PackedNameStatistics,
    earlier: &EarlierNames<'_>,
    packed: &mut PackedGraph,
) {
    let (graph, known) = (&earlier.graph, &earlier.statistics);
    let needs = Needs { pieces: &pieces(found, was), found, graph, known };
    let (entities, cues) = rayon::join(|| needs.entities(names, came), || needs.cues());
    let numbering = Numbering { graph, entities: &entities, cues: &cues };
    let rows: Vec<Rows> = found.iter().map(|(_, found)| numbering.rows(found)).collect();
    let laid_out = LaidOut { numbering, pieces: needs.pieces, found: &rows, known };
    let sentences = &packed.passage_sentences;
    (packed.mention_cues, (packed.mention_entity, packed.mention_sentence)) =
        rayon::join(|| laid_out.cues(), || (laid_out.entities(), laid_out.sentences(sentences)));
    packed.passage_mentions = laid_out.passage_mentions();
    (statistics.passage_lower, statistics.lower_entity) = laid_out.lower();
    statistics.passage_cut = needs.cut();
    (packed.entity_name_ends, packed.entity_names) = (entities.ends, entities.texts);
    (packed.cue_ends, packed.cue_prefixes) = (cues.ends, cues.texts);
}

/// Passages in order.
enum Piece {
    /// Those that were these, one after the other, and now begin with another.
    Kept(Ordinals<PassageOrdinal>, PassageOrdinal),
    /// One whose mentions were found, by its place among those.
    Found(usize),
}

/// Returns all passages: one that was none is among those whose mentions were found.
fn pieces(found: &FoundMentions, was: &[Option<PassageOrdinal>]) -> Vec<Piece> {
    let (mut pieces, mut searched) = (Vec::new(), found.iter().zip(0..).peekable());
    let mut run: Option<(u32, u32, PassageOrdinal)> = None;
    let kept = |(start, end, now)| Piece::Kept(Ordinals::between(start, end), now);
    for (now, was) in PassageOrdinal::first(was.len()).zip(was) {
        if let Some((_, at)) = searched.next_if(|((passage, _), _)| *passage == now) {
            pieces.extend(run.take().map(kept));
            pieces.push(Piece::Found(at));
        } else if let Some(PassageOrdinal(was)) = *was {
            match &mut run {
                Some((_, end, _)) if *end == was => *end += 1,
                _ => pieces.extend(run.replace((was, was + 1, now)).map(kept)),
            }
        }
    }
    pieces.extend(run.map(kept));
    pieces
}

/// What mentions and names in lower case need.
struct Needs<'a> {
    pieces: &'a [Piece],
    found: &'a FoundMentions,
    graph: &'a PassageGraph<'a>,
    known: &'a NameStatistics<'a>,
}

impl Needs<'_> {
    /// Returns the entities that a passage mentions or has in lower case, or whose name a document bears.
    fn entities(&self, names: &Names, came: &[String]) -> Merged<EntityOrdinal> {
        let Self { graph, known, .. } = self;
        let mut entities = Needed::new(graph.entity_name_ends, graph.entity_names.items());
        for piece in self.pieces {
            match piece {
                Piece::Found(at) => self.found[*at].1.keys.iter().for_each(|key| entities.add(key)),
                Piece::Kept(was, _) => {
                    let mentioned = graph.mention_entity.of(graph.passage_mentions.of_all(was)).iter();
                    let lower = known.lower_entity.of(known.passage_lower.of_all(was));
                    mentioned.chain(lower).for_each(|entity| entities.known[entity.index()] = true);
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
        entities.merged()
    }

    /// Returns the words around mentions.
    fn cues(&self) -> Merged<CueOrdinal> {
        let mut cues = Needed::new(self.graph.cue_ends, self.graph.cue_prefixes.items());
        for piece in self.pieces {
            match piece {
                Piece::Found(at) => {
                    let PassageMentions { mentions, cues: words, .. } = &self.found[*at].1;
                    let around = mentions.iter().flat_map(|it| it.cues).flatten();
                    around.for_each(|cue| cues.add(&words[cue as usize]));
                }
                Piece::Kept(was, _) => {
                    let around = cues_of(self.graph, self.graph.passage_mentions.of_all(was));
                    around.iter().filter(|cue| **cue != NO_CUE).for_each(|cue| cues.known[cue.index()] = true);
                }
            }
        }
        cues.merged()
    }

    /// Returns the passages of which mentions were left out.
    fn cut(&self) -> Vec<PassageOrdinal> {
        let (mut cut, was_cut) = (Vec::new(), self.known.passage_cut.items());
        for piece in self.pieces {
            match piece {
                Piece::Found(at) => {
                    let (passage, found) = &self.found[*at];
                    cut.extend(found.is_cut.then_some(*passage));
                }
                Piece::Kept(was, now) => {
                    let Range { start, end } = was.clone().range();
                    let own = was_cut.partition_point(|it| it.index() < start)
                        ..was_cut.partition_point(|it| it.index() < end);
                    cut.extend(was_cut[own].iter().map(|it| PassageOrdinal::at(it.index() - start + now.index())));
                }
            }
        }
        cut
    }
}

/// Returns the words around consecutive mentions.
fn cues_of<'a>(graph: &PassageGraph<'a>, mentions: Ordinals<MentionOrdinal>) -> &'a [CueOrdinal] {
    let Range { start, end } = mentions.range();
    graph.mention_cues.items().get(CUES * start..CUES * end).unwrap_or_default()
}

/// What was found in a passage, numbered and in order.
struct Rows {
    /// Entity, sentence within the passage, and words of each mention.
    mentions: Vec<(EntityOrdinal, u32, [CueOrdinal; CUES])>,
    lower: Vec<EntityOrdinal>,
}

/// What entities and cues of an earlier version are now, and the numbers of new ones.
struct Numbering<'a> {
    graph: &'a PassageGraph<'a>,
    entities: &'a Merged<EntityOrdinal>,
    cues: &'a Merged<CueOrdinal>,
}

impl Numbering<'_> {
    fn rows(&self, found: &PassageMentions) -> Rows {
        let Self { graph, entities, cues } = self;
        let entity = |key: &String| match entities.added.get(key) {
            Some(added) => *added,
            None => graph.entity(key).map_or(EntityOrdinal(GONE), |before| entities.now[before.index()]),
        };
        let cue = |cue: &String| match cues.added.get(cue) {
            Some(added) => *added,
            None => graph.cue(cue).map_or(NO_CUE, |before| cues.now[before.index()]),
        };
        let keys: Vec<EntityOrdinal> = found.keys.iter().map(entity).collect();
        let words: Vec<CueOrdinal> = found.cues.iter().map(cue).collect();
        let numbered = |cue: Option<u32>| cue.map_or(NO_CUE, |cue| words[cue as usize]);
        let mention = |it: &Mention| (keys[it.key as usize], it.sentence, it.cues.map(numbered));
        let mut mentions: Vec<_> = found.mentions.iter().map(mention).collect();
        mentions.sort_by_key(|(entity, sentence, _)| (*entity, *sentence));
        Rows { mentions, lower: found.lower.iter().map(entity).collect() }
    }
}

/// What is laid out, list by list.
struct LaidOut<'a> {
    numbering: Numbering<'a>,
    pieces: &'a [Piece],
    /// Of the passages whose mentions were found.
    found: &'a [Rows],
    known: &'a NameStatistics<'a>,
}

impl LaidOut<'_> {
    /// Returns how many mentions there are at most: most stay, and lists of millions are not copied while they grow.
    fn mentions_max(&self) -> usize {
        let found: usize = self.found.iter().map(|it| it.mentions.len()).sum();
        found + self.numbering.graph.mention_entity.len()
    }

    fn entities(&self) -> Vec<EntityOrdinal> {
        let Numbering { graph, entities, .. } = &self.numbering;
        let mut all = Vec::with_capacity(self.mentions_max());
        for piece in self.pieces {
            match piece {
                Piece::Found(at) => all.extend(self.found[*at].mentions.iter().map(|it| it.0)),
                Piece::Kept(was, _) => {
                    let kept = graph.mention_entity.of(graph.passage_mentions.of_all(was));
                    extend(&mut all, kept, |entity| entities.now[entity.index()]);
                }
            }
        }
        all
    }

    /// Returns the sentences of mentions; those of each passage begin in a row of `sentences`.
    fn sentences(&self, sentences: &[u32]) -> Vec<SentenceOrdinal> {
        let graph = self.numbering.graph;
        let mut all = Vec::with_capacity(self.mentions_max());
        let mut passage = 0;
        for piece in self.pieces {
            let first = sentences[passage];
            match piece {
                Piece::Found(at) => {
                    all.extend(self.found[*at].mentions.iter().map(|it| SentenceOrdinal(first + it.1)));
                    passage += 1;
                }
                Piece::Kept(was, _) => {
                    let was_first = graph.passage_sentences.of_all(was).range().start as u32;
                    let kept = graph.mention_sentence.of(graph.passage_mentions.of_all(was));
                    extend(&mut all, kept, |it| SentenceOrdinal(it.0 - was_first + first));
                    passage += was.len();
                }
            }
        }
        all
    }

    fn cues(&self) -> Vec<CueOrdinal> {
        let Numbering { graph, cues, .. } = &self.numbering;
        let now = |cue: &CueOrdinal| if *cue == NO_CUE { NO_CUE } else { cues.now[cue.index()] };
        let mut all = Vec::with_capacity(CUES * self.mentions_max());
        for piece in self.pieces {
            match piece {
                Piece::Found(at) => all.extend(self.found[*at].mentions.iter().flat_map(|it| it.2)),
                Piece::Kept(was, _) => extend(&mut all, cues_of(graph, graph.passage_mentions.of_all(was)), now),
            }
        }
        all
    }

    fn passage_mentions(&self) -> Vec<u32> {
        self.rows(|was| self.numbering.graph.passage_mentions.of(was).len(), |found| found.mentions.len())
    }

    /// Returns the names that passages have in lower case, in rows.
    fn lower(&self) -> (Vec<u32>, Vec<EntityOrdinal>) {
        let (known, now) = (self.known, &self.numbering.entities.now);
        let mut all = Vec::with_capacity(known.lower_entity.len());
        for piece in self.pieces {
            match piece {
                Piece::Found(at) => all.extend_from_slice(&self.found[*at].lower),
                Piece::Kept(was, _) => {
                    let kept = known.lower_entity.of(known.passage_lower.of_all(was));
                    extend(&mut all, kept, |entity| now[entity.index()]);
                }
            }
        }
        (self.rows(|was| known.passage_lower.of(was).len(), |found| found.lower.len()), all)
    }

    /// Returns where the items of each passage end, behind 0.
    fn rows(&self, kept: impl Fn(PassageOrdinal) -> usize, found: impl Fn(&Rows) -> usize) -> Vec<u32> {
        let (mut ends, mut end) = (vec![0], 0);
        let mut add = |count: usize| {
            end += count as u32;
            ends.push(end);
        };
        for piece in self.pieces {
            match piece {
                Piece::Found(at) => add(found(&self.found[*at])),
                Piece::Kept(was, _) => was.clone().for_each(|was| add(kept(was))),
            }
        }
        ends
    }
}

/// Adds what each of these is now.
fn extend<T: Send, S: Sync>(all: &mut Vec<T>, of: &[S], now: impl Fn(&S) -> T + Sync + Send) {
    if of.len() < SHARED_MIN { all.extend(of.iter().map(now)) } else { all.par_extend(of.par_iter().map(now)) }
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
        match equal_texts::<K>(&self.ends, self.texts, text).next() {
            Some(known) => self.known[known.index()] = true,
            None if self.added.contains(text) => {}
            None => drop(self.added.insert(text.to_owned())),
        }
    }

    fn merged(self) -> Merged<K> {
        Merged::of(self.ends, self.texts, &self.known, self.added)
    }
}
