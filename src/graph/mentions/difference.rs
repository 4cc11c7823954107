//! Names and mentions by what has changed since an earlier version. The result is the same as without one.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::find::{Finder, PassageMentions};
use super::kept::{NameStatistics, PackedNameStatistics};
use super::kept_rows;
use super::{ByName, Mentioned, NamedDocument, NamedPassage, Names, count_cases, names_of, pack};
use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::ordinal::{DocumentOrdinal, Ordinal, PassageOrdinal, Position};
use crate::graph::packed::{PackedGraph, PassageGraph, TextList};
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
    /// block by block. Only a forged version has texts or passages that are not in order or there twice, or a mention
    /// in the sentence of another passage.
    pub(super) fn is_of_use(&self, passages: usize) -> bool {
        let staying = self.passages.iter().filter(|now| **now != GONE).count();
        let (graph, statistics) = (&self.graph, &self.statistics);
        let has_own = |passage| {
            let sentences = graph.passage_sentences.of(passage);
            graph.passage_mentions.of(passage).all(|it| sentences.contains(graph.mention_sentence[it]))
        };
        2 * staying >= passages
            && graph.passages().all(has_own)
            && statistics.passage_cut.items().is_sorted_by(|one, next| one < next)
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
    kept_rows::lay_out((&names, &came), (&found, &staying.passages), &mut statistics, earlier, packed);
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

/// Returns the mentions of new passages, and of those that have one of `changed`, in order.
fn find(
    (passages, staying): (&[Bounded<'_>], &Staying),
    names: &Names,
    changed: impl Iterator<Item = String>,
    cancellation: &Cancellation,
) -> Result<Vec<(PassageOrdinal, PassageMentions)>> {
    let sieve = WordSieve::of(changed, &|word| names.cases.frequency(word));
    let finder = Finder::new(names);
    let find = |number: PassageOrdinal| {
        let (passage, most) = &passages[number.index()];
        let is_as_before = staying.passages[number.index()].is_some() && !sieve.finds(&passage.prose());
        (!is_as_before).then(|| (number, finder.mentions(passage, *most)))
    };
    let mut found = Vec::new();
    for block in PassageOrdinal::first(passages.len()).collect::<Vec<_>>().chunks(super::BLOCK) {
        cancellation.check()?;
        found.par_extend(block.par_iter().filter_map(|number| find(*number)));
    }
    Ok(found)
}
