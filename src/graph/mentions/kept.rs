//! What names were found by, and what each document says of them, as a version keeps it for the next: with it the cost
//! of a change follows the change.

use super::{ByName, Names};
use crate::graph::arrays::Elsewhere;
use crate::graph::elements::rows;
use crate::graph::ordinal::{
    Column, DocumentOrdinal, EntityOrdinal, Ordinal as _, PassageOrdinal, Position, Rows, SentenceOrdinal,
};
use crate::graph::packed::back_to_back;
use crate::text::{CaseCounts, NameKind};

arrays! {
    PackedNameStatistics, NameStatistics;

    /// Hashes of the folded words of all texts, ascending.
    word: Column<Position, u64> = "word" [],
    /// How often each is written in lower case.
    word_lower: Column<Position, u32> = "word.lower" [each word],
    /// How often it is written otherwise.
    word_capitalized: Column<Position, u32> = "word.capitalized" [each word],
    /// Of these, how often inside a sentence.
    word_inside: Column<Position, u32> = "word.inside" [each word],
    /// Ends of the names in `shared_names`: those that too many documents bear by their capitals alone.
    shared_ends: Column<Position, u32> = "shared.ends" [ends shared_names],
    /// Folded names, back to back, in order.
    shared_names: Column<Position, u8> = "shared.names" [],
    /// The documents that bear each of these by their capitals: rows of `shared_document`.
    shared_bearers: Rows<Position, Position> = "shared.bearers" [rows shared_ends shared_document],
    /// Such a document, ascending in each row.
    shared_document: Column<Position, DocumentOrdinal> = "shared.document" [below documents],
    /// How it bears the name: [`name_kind`](crate::graph::packed::name_kind).
    shared_kind: Column<Position, u32> = "shared.kind" [each shared_document],
    /// Names of several words where each passage has them in lower case: rows of `lower_entity`.
    passage_lower: Rows<PassageOrdinal, Position> = "passage.lower" [rows passages lower_entity],
    /// Such a name, once for each place.
    lower_entity: Column<Position, EntityOrdinal> = "lower.entity" [below entities],
    /// Passages of which mentions were left out, ascending.
    passage_cut: Column<Position, PassageOrdinal> = "passage.cut" [below passages],
    /// Pairs of names that each document has for one entity, in the order found: rows of `link_name`.
    document_links: Rows<DocumentOrdinal, Position> = "document.links" [rows documents link_name],
    /// Such a name.
    link_name: Column<Position, EntityOrdinal> = "link.name" [below entities],
    /// The other.
    link_other: Column<Position, EntityOrdinal> = "link.other" [each link_name, below entities],
    /// Why, by the code of a [`Reason`](crate::graph::resolution::Reason).
    link_reason: Column<Position, u32> = "link.reason" [each link_name],
    /// Sentences of each document that say what a name is, in order: rows of `cue_name`.
    document_cues: Rows<DocumentOrdinal, Position> = "document.cues" [rows documents cue_name],
    /// Such a name.
    cue_name: Column<Position, EntityOrdinal> = "cue.name" [below entities],
    /// Its type, by the code of a [`NameType`](crate::text::NameType).
    cue_type: Column<Position, u32> = "cue.type" [each cue_name],
    /// The sentence.
    cue_sentence: Column<Position, SentenceOrdinal> = "cue.sentence" [each cue_name, below sentences],
}

impl PackedNameStatistics {
    /// Begins with how words are written.
    pub(super) fn of_cases(cases: &CaseCounts) -> Self {
        let (word, [word_lower, word_capitalized, word_inside]) = cases.counts();
        Self { word, word_lower, word_capitalized, word_inside, ..Self::default() }
    }

    /// Adds the names that too many documents bear by their capitals alone.
    pub(super) fn add_shared(&mut self, shared: &ByName) {
        let mut shared: Vec<(&String, &Vec<(u32, NameKind)>)> = shared.iter().collect();
        shared.sort_unstable_by_key(|it| it.0);
        (self.shared_ends, self.shared_names) = back_to_back(&shared.iter().map(|it| it.0).collect::<Vec<_>>());
        let owners = (0_u32..).zip(&shared).flat_map(|(at, (_, bearers))| bearers.iter().map(move |_| at));
        self.shared_bearers = rows(owners, shared.len());
        for (document, kind) in shared.iter().flat_map(|it| it.1) {
            self.shared_document.push(DocumentOrdinal(*document));
            self.shared_kind.push(*kind as u32);
        }
    }

    /// Takes over what documents say of names, of the same names and documents.
    pub fn take_clues(&mut self, other: Self) {
        (self.document_links, self.link_name) = (other.document_links, other.link_name);
        (self.link_other, self.link_reason) = (other.link_other, other.link_reason);
        (self.document_cues, self.cue_name) = (other.document_cues, other.cue_name);
        (self.cue_type, self.cue_sentence) = (other.cue_type, other.cue_sentence);
    }

    /// Returns how many passages had mentions left out.
    #[must_use]
    pub fn passages_cut(&self) -> u64 {
        self.passage_cut.len() as u64
    }

    /// Returns how often each entity stands in lower case.
    pub(super) fn lower_counts(&self, entities: usize) -> Vec<u32> {
        let mut counts = vec![0; entities];
        self.lower_entity.iter().for_each(|entity| counts[entity.index()] += 1);
        counts
    }
}

impl NameStatistics<'_> {
    /// Checks that the arrays belong together, and to so many documents, passages, entities and sentences.
    ///
    /// # Errors
    ///
    /// The name of an array that breaks a rule, and the rule.
    pub fn check(
        &self,
        [documents, passages, entities, sentences]: [usize; 4],
    ) -> Result<(), (&'static str, &'static str)> {
        self.check_arrays(Elsewhere { documents, passages, entities, sentences, ..Elsewhere::default() })
    }

    /// Returns how often words were written how.
    pub(super) fn cases(&self) -> CaseCounts {
        let counts = [self.word_lower.items(), self.word_capitalized.items(), self.word_inside.items()];
        CaseCounts::of_counts(self.word.items(), counts)
    }
}

impl Names {
    /// Makes names of what documents bear: what many bear by their capitals alone names none of them.
    pub(super) fn of_bearers(cases: CaseCounts, mut bearers: ByName) -> Self {
        let mut shared = ByName::default();
        bearers.retain(|name, bearers| {
            if bearers.len() > super::BY_CAPITALS_MAX {
                let by_capitals: Vec<_> = bearers.extract_if(.., |(_, kind)| *kind >= NameKind::Main).collect();
                if !by_capitals.is_empty() {
                    shared.insert(name.clone(), by_capitals);
                }
            }
            !bearers.is_empty()
        });
        let mut longest: rustc_hash::FxHashMap<String, usize> = rustc_hash::FxHashMap::default();
        for name in bearers.keys() {
            let (first, words) = (name.split(' ').next().unwrap_or_default(), name.split(' ').count());
            match longest.get_mut(first) {
                Some(most) => *most = words.max(*most),
                None => drop(longest.insert(first.to_owned(), words)),
            }
        }
        Self { cases, bearers, shared, longest }
    }
}
