//! The candidates of out-coming questions, scored.

use std::ops::Range;

use rayon::prelude::*;

use super::{EdgeQuota, MatchOptions, Matched, Questions};
use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::cells::{Cells, Looked};
use crate::graph::ordinal::{IncomingOrdinal, KeywordOrdinal, Ordinal as _, OutgoingOrdinal};
use crate::graph::packed::row;
use crate::graph::panels::CosineRoom;
use crate::graph::scan::{Wanted, first_wanted};
use crate::graph::top;
use crate::graph::vectors::{QuantizedVectors, Vectors};

/// Returns a set of 64 bits that has the bit of every keyword.
fn signature(keywords: &[KeywordOrdinal]) -> u64 {
    keywords.iter().fold(0, |bits, keyword| bits | signature_bit(*keyword))
}

const fn signature_bit(keyword: KeywordOrdinal) -> u64 {
    // The upper bits of a product by an odd number with mixed bits (Fibonacci hashing).
    1 << (keyword.0.wrapping_mul(0x9e37_79b9) >> 26)
}

/// In-coming questions by keyword.
#[derive(Default)]
pub(super) struct Postings {
    /// The questions of keyword `k`: rows of `questions`.
    starts: Vec<u32>,
    questions: Vec<IncomingOrdinal>,
}

impl Postings {
    /// Returns those of some questions, which ascend.
    pub(super) fn of(
        incoming: &Questions<'_, IncomingOrdinal>,
        some: impl IntoIterator<Item = IncomingOrdinal> + Clone,
    ) -> Self {
        let keywords = || some.clone().into_iter().flat_map(|it| incoming.keywords_of(it));
        let count = keywords().max().map_or(0, |most| most.index() + 1);
        let mut starts = vec![0; count + 1];
        keywords().for_each(|keyword| starts[keyword.index() + 1] += 1);
        (0..count).for_each(|keyword| starts[keyword + 1] += starts[keyword]);
        let total = starts.last().map_or(0, |end| *end as usize);
        let (mut next, mut questions) = (starts.clone(), vec![IncomingOrdinal(0); total]);
        for question in some {
            for keyword in incoming.keywords_of(question) {
                let place = &mut next[keyword.index()];
                questions[*place as usize] = question;
                *place += 1;
            }
        }
        Self { starts, questions }
    }

    /// Returns the questions that have a keyword, ascending.
    fn of_keyword(&self, keyword: KeywordOrdinal) -> &[IncomingOrdinal] {
        if keyword.index() + 1 < self.starts.len() { &self.questions[row(&self.starts, keyword)] } else { &[] }
    }

    /// Returns whether two questions share a keyword that at most `most` in-coming questions have.
    pub(super) fn share(&self, asked: &[KeywordOrdinal], answered: &[KeywordOrdinal], most: usize) -> bool {
        let mut shared = asked.iter().filter(|it| answered.binary_search(it).is_ok());
        shared.any(|keyword| self.of_keyword(*keyword).len() <= most)
    }

    /// Returns the keywords that more than `most` questions have, ascending.
    pub(super) fn frequent(&self, most: usize) -> Vec<KeywordOrdinal> {
        let keywords = KeywordOrdinal::first(self.starts.len() - 1);
        keywords.filter(|keyword| self.of_keyword(*keyword).len() > most).collect()
    }
}

/// Out-coming questions that look into cells together, at least and at most: every group reads its cells from memory
/// once. After a change, small groups share few cells.
const GROUP: Range<usize> = 64..16_384;
/// Groups for each thread, if they are not smaller for that.
const GROUPS_PER_THREAD: usize = 4;
/// Questions that one thread matches at a time: fewer are not worth a table of scores.
const QUESTIONS_PER_TASK: usize = 256;
/// Share by which a cosine may exceed the product of the lengths for rounding.
const MARGIN: f32 = 1e-5;

/// Which cells out-coming questions look into, by the cosine with a center.
#[derive(Clone, Copy)]
pub(super) struct Reach<'a> {
    /// The least of each question.
    pub(super) least: &'a [f32],
    /// That from which on a cell need not be examined again, if any.
    pub(super) examined: Option<&'a [f32]>,
    /// Which cells have at least the least, and the centers.
    pub(super) looked: &'a Looked,
    pub(super) centers: &'a QuantizedVectors,
}

impl<'a> Reach<'a> {
    fn of(self, question: OutgoingOrdinal) -> Range<f32> {
        let examined = self.examined.map_or(f32::INFINITY, |it| it[question.index()]);
        self.least[question.index()]..examined
    }

    /// Returns the centers of the cells, if they are known.
    fn known(self, question: OutgoingOrdinal, vectors: &'a Vectors<'a>) -> Option<impl Iterator<Item = u16> + use<'a>> {
        let is_due = move |center: &u16| {
            let cosine = || vectors.cosine(question.0, &self.centers.view(), u32::from(*center));
            self.examined.is_none_or(|examined| cosine() < examined[question.index()])
        };
        Some(self.looked.find(question.index())?.iter().copied().filter(is_due))
    }
}

/// What candidates there are, and how they are scored.
pub(super) struct Scoring<'a> {
    outgoing: &'a Questions<'a, OutgoingOrdinal>,
    incoming: &'a Questions<'a, IncomingOrdinal>,
    /// The questions that keywords bring.
    postings: &'a Postings,
    /// All that there are: they say which keywords are too frequent.
    all: &'a Postings,
    cells: &'a Cells<'a>,
    reach: Reach<'a>,
    /// The keywords of each in-coming question as a set of bits, by place in the cells.
    signatures: Vec<u64>,
    /// The length of the longest vector of these: rounding makes some longer than 1.
    longest: f32,
    options: &'a MatchOptions,
}

/// The workspace of a thread for matching groups of questions.
#[derive(Default)]
struct Room {
    /// The last out-coming question that each in-coming one was scored for by a keyword.
    last: Vec<Option<OutgoingOrdinal>>,
    /// The cells that the questions of a group look into, each with the place of the question in its group.
    visits: Vec<(u32, usize)>,
    by_cell: ByCell,
    cosines: CosineRoom,
}

/// The visits of a group, cell by cell.
#[derive(Default)]
pub(super) struct ByCell {
    /// Where the visits of each cell end.
    ends: Vec<u32>,
    places: Vec<u32>,
}

impl ByCell {
    /// Returns the cells that are visited, each with the places of the questions that do.
    pub(super) fn sorted(&mut self, visits: &[(u32, usize)]) -> impl Iterator<Item = (u32, &[u32])> {
        let Self { ends, places } = self;
        let cells = visits.iter().map(|it| it.0 as usize + 1).max().unwrap_or(0);
        ends.clear();
        ends.resize(cells + 1, 0);
        for (cell, _) in visits {
            ends[*cell as usize + 1] += 1;
        }
        for cell in 0..cells {
            ends[cell + 1] += ends[cell];
        }
        places.clear();
        places.resize(visits.len(), 0);
        for (cell, place) in visits {
            let next = &mut ends[*cell as usize];
            places[*next as usize] = *place as u32;
            *next += 1;
        }
        // Every cell now ends where the next one began.
        let (ends, places): (&[u32], &[u32]) = (ends, places);
        let start = move |cell: usize| cell.checked_sub(1).map_or(0, |before| ends[before] as usize);
        let row = move |cell: usize| (cell as u32, &places[start(cell)..ends[cell] as usize]);
        (0..cells).map(row).filter(|(_, places)| !places.is_empty())
    }
}

/// Returns the length of a vector.
fn length(vectors: &Vectors<'_>, row: u32) -> f32 {
    vectors.cosine(row, vectors, row).sqrt()
}

/// An in-coming question with its SIM.
pub(super) type Scored = (IncomingOrdinal, f32);

/// An out-coming question while its candidates are scored.
struct Asking {
    question: OutgoingOrdinal,
    /// The signature of its frequent keywords: all that a candidate shares with it that no keyword brought.
    frequent: u64,
    /// How many of them have a bit that another has, and how many keywords there are in all.
    hidden: u32,
    keyword_count: u32,
    /// The maximum Jaccard index of such a candidate.
    jaccard_max: f32,
    /// Candidates that may be kept: the best so far if only one is wanted, otherwise all, possibly with duplicates.
    kept: Vec<Scored>,
}

impl Asking {
    /// Returns the maximum Jaccard index of a candidate that no keyword brought, whose keywords have this signature: it
    /// shares only frequent keywords, and has at least as many as its signature has bits.
    fn jaccard_max_of(&self, signature: u64) -> f32 {
        let shared = signature & self.frequent;
        if shared == 0 {
            return 0.0;
        }
        let shared = shared.count_ones() + self.hidden;
        let others = signature.count_ones().saturating_sub(shared);
        shared as f32 / (self.keyword_count + others) as f32
    }
}

impl<'a> Scoring<'a> {
    /// Scores the questions of `postings`, whose second list is complete, and of `cells`.
    pub(super) fn of(
        (outgoing, incoming): (&'a Questions<'a, OutgoingOrdinal>, &'a Questions<'a, IncomingOrdinal>),
        (postings, all): (&'a Postings, &'a Postings),
        (cells, reach): (&'a Cells<'a>, Reach<'a>),
        options: &'a MatchOptions,
    ) -> Self {
        let signatures = cells.members().par_iter().map(|it| signature(incoming.keywords_of(IncomingOrdinal(*it))));
        let longest = cells.members().par_iter().map(|it| length(&incoming.vectors, *it)).reduce(|| 0.0, f32::max);
        Self { outgoing, incoming, postings, all, cells, reach, signatures: signatures.collect(), longest, options }
    }

    /// Returns the same with other candidates by keyword, and another reach.
    pub(super) fn with(self, postings: &'a Postings, reach: Reach<'a>) -> Self {
        Self { postings, reach, ..self }
    }

    /// Returns the matches of some questions, each starting from its current matches.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`](crate::Error::Cancelled) once a stop was asked for.
    pub(super) fn matches(
        &self,
        questions: &[OutgoingOrdinal],
        kept: impl Fn(OutgoingOrdinal) -> Vec<Scored> + Sync,
        cancellation: &Cancellation,
    ) -> Result<Vec<Matched>> {
        let room = || Room { last: vec![None; self.incoming.passage.len()], ..Room::default() };
        let of_group = |room: &mut Room, group: &[OutgoingOrdinal]| {
            if cancellation.is_cancelled() {
                Vec::new()
            } else {
                self.matches_of_group((group, &kept), room, cancellation)
            }
        };
        let group = self.group(questions.len());
        let groups = questions.par_chunks(group).with_min_len(QUESTIONS_PER_TASK.div_ceil(group));
        let matched = groups.map_init(room, of_group).flatten_iter().collect();
        cancellation.check()?;
        Ok(matched)
    }

    /// Returns how many of so many questions look into cells together.
    fn group(&self, questions: usize) -> usize {
        match self.options.quota {
            EdgeQuota::Best => {
                questions.div_ceil(GROUPS_PER_THREAD * rayon::current_num_threads()).clamp(GROUP.start, GROUP.end)
            }
            // All candidates are kept until a group is done.
            EdgeQuota::Split { .. } => GROUP.start,
        }
    }

    /// Returns the matches of a group of questions, question by question.
    fn matches_of_group(
        &self,
        (group, kept): (&[OutgoingOrdinal], &impl Fn(OutgoingOrdinal) -> Vec<Scored>),
        room: &mut Room,
        cancellation: &Cancellation,
    ) -> Vec<Matched> {
        let mut group: Vec<Asking> =
            group.iter().map(|question| self.by_keyword(*question, kept(*question), room)).collect();
        if !self.cells.members().is_empty() {
            self.by_vector(&mut group, room, cancellation);
        }
        let matched = group.into_iter().flat_map(|Asking { question, kept, .. }| {
            let kept = self.within_quota(question, kept).into_iter();
            kept.map(move |(incoming, similarity)| Matched { outgoing: question, incoming, similarity })
        });
        matched.collect()
    }

    /// Scores the candidates that share a keyword with a question.
    fn by_keyword(&self, question: OutgoingOrdinal, kept: Vec<Scored>, room: &mut Room) -> Asking {
        let asked = self.outgoing.keywords_of(question);
        let keyword_count = asked.len() as u32;
        let mut asking = Asking { question, frequent: 0, hidden: 0, keyword_count, jaccard_max: 0.0, kept };
        let mut frequent_count = 0;
        for keyword in asked {
            if self.all.of_keyword(*keyword).len() > self.options.keyword_frequency_max {
                frequent_count += 1;
                asking.frequent |= signature_bit(*keyword);
                continue;
            }
            for &incoming in self.postings.of_keyword(*keyword) {
                if room.last[incoming.index()].replace(question) != Some(question) {
                    let cosine = self.outgoing.vectors.cosine(question.0, &self.incoming.vectors, incoming.0);
                    self.offer(&mut asking, incoming, cosine);
                }
            }
        }
        // The rest share only frequent keywords, which bounds their Jaccard index: few are worth comparing.
        asking.hidden = frequent_count - asking.frequent.count_ones();
        asking.jaccard_max = asking.jaccard_max_of(asking.frequent);
        asking
    }

    /// Scores the candidates near the questions of a group, cell by cell, until a stop is asked for.
    fn by_vector(&self, group: &mut [Asking], room: &mut Room, cancellation: &Cancellation) {
        let Room { visits, by_cell, cosines, .. } = room;
        let vectors = &self.outgoing.vectors;
        let rows: Vec<u32> = group.iter().map(|asking| asking.question.0).collect();
        visits.clear();
        let mut unknown = Vec::new();
        for (place, asking) in group.iter().enumerate() {
            let found = visits.len();
            match self.reach.known(asking.question, vectors) {
                Some(centers) => {
                    let cells = centers.filter_map(|center| self.cells.around(center));
                    visits.extend(cells.map(|cell| (cell, place)));
                    if visits.len() > found && !self.may_find(asking) {
                        visits.truncate(found);
                    }
                }
                None => unknown.extend(self.may_find(asking).then_some(place)),
            }
        }
        let (known, of_unknown): (usize, Vec<u32>) = (visits.len(), unknown.iter().map(|place| rows[*place]).collect());
        let range = |at: usize| self.reach.of(group[unknown[at]].question);
        self.cells.within((vectors, &of_unknown), range, cosines, visits);
        visits[known..].iter_mut().for_each(|(_, at)| *at = unknown[*at]);
        for (cell, places) in by_cell.sorted(visits) {
            if cancellation.is_cancelled() {
                return;
            }
            let rows: Vec<u32> = places.iter().map(|place| rows[*place as usize]).collect();
            self.cells.visit(cell, (vectors, &rows), cosines, |row, members, cosines| {
                self.near(&mut group[places[row] as usize], members, cosines);
            });
        }
    }

    /// Returns whether a candidate by vector may be better than what a question has: not if it would have to be longer
    /// than all are.
    fn may_find(&self, asking: &Asking) -> bool {
        let least = self.least(asking);
        // Vectors are about as long as 1.
        let nearest = || length(&self.outgoing.vectors, asking.question.0) * self.longest;
        least <= 0.9 || least <= nearest() * (1.0 + MARGIN)
    }

    /// Returns the least cosine with which a candidate by vector may suffice.
    fn least(&self, asking: &Asking) -> f32 {
        self.wanted(asking).least
    }

    /// Returns which candidates by vector may suffice, by cosine, less a margin for rounding, and signature.
    fn wanted(&self, asking: &Asking) -> Wanted {
        let enough = 2.0 * self.floor(asking) - 1e-6;
        Wanted { least: enough - asking.jaccard_max, enough, bits: asking.frequent }
    }

    /// Scores candidates by vector: `places` among the members of the cells, each with its cosine.
    fn near(&self, asking: &mut Asking, places: Range<usize>, cosines: &[f32]) {
        let signatures = &self.signatures[places.clone()];
        let mut next = 0;
        // Few are worth a look, and each that is kept leaves fewer.
        while let Some(found) = first_wanted(&cosines[next..], &signatures[next..], self.wanted(asking)) {
            let (place, cosine) = (places.start + next + found, cosines[next + found]);
            next += found + 1;
            let jaccard_max = asking.jaccard_max_of(self.signatures[place]);
            if f32::midpoint(jaccard_max, cosine) >= self.floor(asking) {
                self.offer(asking, IncomingOrdinal(self.cells.members()[place]), cosine);
            }
        }
    }

    /// Returns the SIM below which nothing can be kept any more.
    fn floor(&self, asking: &Asking) -> f32 {
        match self.options.quota {
            EdgeQuota::Best => asking.kept.first().map_or(0.0, |best| best.1),
            EdgeQuota::Split { .. } => 0.0,
        }
    }

    /// Scores a candidate, unless it is of the passage that asks.
    fn offer(&self, asking: &mut Asking, incoming: IncomingOrdinal, cosine: f32) {
        if self.incoming.passage[incoming] == self.outgoing.passage[asking.question] {
            return;
        }
        let (asked, answered) = (self.outgoing.keywords_of(asking.question), self.incoming.keywords_of(incoming));
        let candidate = (incoming, f32::midpoint(jaccard(asked, answered), cosine));
        if candidate.1 <= 0.0 {
            return;
        }
        match (self.options.quota, asking.kept.first_mut()) {
            (EdgeQuota::Best, Some(best)) => {
                if top::best_first(&candidate, best).is_lt() {
                    *best = candidate;
                }
            }
            (EdgeQuota::Best, None) | (EdgeQuota::Split { .. }, _) => asking.kept.push(candidate),
        }
    }

    /// Returns those of `scored` that a question keeps by its quota, best first.
    fn within_quota(&self, question: OutgoingOrdinal, scored: Vec<Scored>) -> Vec<Scored> {
        let EdgeQuota::Split { within, across } = self.options.quota else { return scored };
        let document = self.outgoing.document[question];
        let (inside, outside): (Vec<_>, Vec<_>) =
            scored.into_iter().partition(|(it, _)| self.incoming.document[*it] == document);
        let mut kept = self.best_passages(inside, within);
        kept.extend(self.best_passages(outside, across));
        kept.sort_unstable_by(top::best_first);
        kept
    }

    /// Returns the best questions of the `count` best passages.
    fn best_passages(&self, mut scored: Vec<Scored>, count: usize) -> Vec<Scored> {
        scored.sort_unstable_by(top::best_first);
        let mut kept: Vec<Scored> = Vec::new();
        for (incoming, similarity) in scored {
            if kept.len() == count {
                break;
            }
            let passage = self.incoming.passage[incoming];
            if kept.iter().all(|(it, _)| self.incoming.passage[*it] != passage) {
                kept.push((incoming, similarity));
            }
        }
        kept
    }
}

/// Returns |A ∩ B| / |A ∪ B| of two ascending lists; 0 where both are empty.
#[must_use]
pub fn jaccard(a: &[KeywordOrdinal], b: &[KeywordOrdinal]) -> f32 {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                i += 1;
                j += 1;
            }
        }
    }
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f32 / all as f32 }
}
