//! Questions that were read from the records: there may be millions of them, and a first run holds all.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::parts::{QuestionPart, QuestionRun};
use crate::domain::{PseudoQuery, QuestionId, QuestionKind, QuestionOrigin};

/// Questions of one block: few enough that none of its arrays is large, so that what there is need not be copied while
/// more is added.
const BLOCK: usize = 4_096;

/// Questions of both sides.
#[derive(Debug, Default)]
pub(crate) struct ReadQuestions {
    incoming: Side,
    outgoing: Side,
    keywords: Vec<Arc<str>>,
    numbers: FxHashMap<Arc<str>, u32>,
}

/// Questions of one side.
#[derive(Debug, Default)]
struct Side {
    blocks: Vec<Block>,
    count: usize,
    /// How many each passage has.
    of_passages: Vec<u32>,
}

/// Some questions, an array for each of their parts.
#[derive(Debug, Default)]
struct Block {
    ids: Vec<[u8; 16]>,
    origins: Vec<u8>,
    sentences: Vec<u32>,
    ends: Vec<u64>,
    texts: String,
    keyword_ends: Vec<u32>,
    /// By number.
    keywords: Vec<u32>,
}

/// The questions of one side that were read, passage by passage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuestionsRead<'a> {
    side: &'a Side,
    keywords: &'a [Arc<str>],
}

/// The keywords of a question, in the order of their texts.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(test, derive(PartialEq, Eq))]
pub struct KeywordsPart<'a> {
    /// Their numbers among [`ReadQuestions::keywords`].
    pub numbers: &'a [u32],
    texts: &'a [Arc<str>],
}

impl Default for QuestionsRead<'_> {
    fn default() -> Self {
        static NONE: Side = Side { blocks: Vec::new(), count: 0, of_passages: Vec::new() };
        Self { side: &NONE, keywords: &[] }
    }
}

impl<'a> KeywordsPart<'a> {
    /// Returns their texts, in order.
    pub fn texts(self) -> impl Iterator<Item = &'a str> {
        self.numbers.iter().map(move |number| &*self.texts[*number as usize])
    }
}

impl ReadQuestions {
    /// Adds those of a passage.
    pub(crate) fn push(&mut self, questions: Vec<PseudoQuery>) {
        let before = [self.incoming.count, self.outgoing.count];
        for question in questions {
            let side = match question.kind {
                QuestionKind::Incoming => &mut self.incoming,
                QuestionKind::Outgoing => &mut self.outgoing,
            };
            let number = |keyword: &str| {
                self.numbers.get(keyword).copied().unwrap_or_else(|| {
                    let (number, keyword) = (self.keywords.len() as u32, Arc::from(keyword));
                    self.keywords.push(Arc::clone(&keyword));
                    self.numbers.insert(keyword, number);
                    number
                })
            };
            side.push(&question, number);
        }
        for (side, before) in [&mut self.incoming, &mut self.outgoing].into_iter().zip(before) {
            side.of_passages.push((side.count - before) as u32);
        }
    }

    /// Returns those of one side.
    #[must_use]
    pub(crate) fn of(&self, kind: QuestionKind) -> QuestionsRead<'_> {
        let side = match kind {
            QuestionKind::Incoming => &self.incoming,
            QuestionKind::Outgoing => &self.outgoing,
        };
        QuestionsRead { side, keywords: &self.keywords }
    }

    /// Returns the distinct keywords of both sides, by number.
    #[must_use]
    pub(crate) fn keywords(&self) -> &[Arc<str>] {
        &self.keywords
    }
}

impl<'a> QuestionsRead<'a> {
    /// Returns how many there are.
    #[must_use]
    pub(crate) fn len(self) -> usize {
        self.side.count
    }

    /// Returns how many each passage has.
    #[must_use]
    pub(crate) fn of_passages(self) -> &'a [u32] {
        &self.side.of_passages
    }

    /// Returns a question.
    pub(super) fn get(self, place: usize) -> QuestionPart<'a> {
        let (block, at) = (&self.side.blocks[place / BLOCK], place % BLOCK);
        let own = |ends: &[u32]| start(ends, at) as usize..ends[at] as usize;
        QuestionPart {
            id: QuestionId::from_bytes(block.ids[at]),
            origin: QuestionOrigin::of_code(block.origins[at]).unwrap_or(QuestionOrigin::Rule),
            text: &block.texts[start(&block.ends, at) as usize..block.ends[at] as usize],
            keywords: Some(KeywordsPart { numbers: &block.keywords[own(&block.keyword_ends)], texts: self.keywords }),
            sentence: block.sentences[at],
        }
    }

    /// Returns the sentence of its passage that a question was made from.
    pub(super) fn sentence(self, place: usize) -> u32 {
        self.side.blocks[place / BLOCK].sentences[place % BLOCK]
    }

    /// Returns consecutive questions, as they lie together.
    pub(super) fn runs(self, places: Range<usize>) -> impl Iterator<Item = QuestionRun<'a>> {
        let blocks = places.start / BLOCK..places.end.div_ceil(BLOCK);
        blocks.map(move |number| {
            let (first, block) = (number * BLOCK, &self.side.blocks[number]);
            block.run(places.start.max(first) - first..places.end.min(first + BLOCK) - first)
        })
    }
}

/// Returns where an item begins, given where each ends.
fn start<N: Copy + Default>(ends: &[N], item: usize) -> N {
    item.checked_sub(1).map(|before| ends[before]).unwrap_or_default()
}

impl Block {
    fn with_room() -> Self {
        Self {
            ids: Vec::with_capacity(BLOCK),
            origins: Vec::with_capacity(BLOCK),
            sentences: Vec::with_capacity(BLOCK),
            ends: Vec::with_capacity(BLOCK),
            keyword_ends: Vec::with_capacity(BLOCK),
            ..Self::default()
        }
    }

    fn shrink(&mut self) {
        self.texts.shrink_to_fit();
        self.keywords.shrink_to_fit();
    }

    fn run(&self, own: Range<usize>) -> QuestionRun<'_> {
        let (start, ends) = (start(&self.ends, own.start), &self.ends[own.clone()]);
        let texts = start as usize..ends.last().copied().unwrap_or(start) as usize;
        let (ids, origins, texts) = (&self.ids[own.clone()], &self.origins[own], &self.texts.as_bytes()[texts]);
        QuestionRun { ids, origins, ends, start, texts }
    }
}

impl Side {
    fn push(&mut self, question: &PseudoQuery, number: impl FnMut(&str) -> u32) {
        let PseudoQuery { id, passage: _, kind: _, origin, text, keywords, sentence } = question;
        if self.count.is_multiple_of(BLOCK) {
            if let Some(full) = self.blocks.last_mut() {
                full.shrink();
            }
            self.blocks.push(Block::with_room());
        }
        let Some(block) = self.blocks.last_mut() else { return };
        block.ids.push(*id.as_bytes());
        block.origins.push(origin.code());
        block.sentences.push(*sentence);
        block.texts.push_str(text);
        block.ends.push(block.texts.len() as u64);
        block.keywords.extend(keywords.iter().map(number));
        block.keyword_ends.push(block.keywords.len() as u32);
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::PassageId;

    #[test]
    fn questions_of_many_blocks_are_found_and_lie_together_as_far_as_their_blocks() {
        let mut questions = ReadQuestions::default();
        let text = |number: usize| format!("Question {number}?");
        let question = |number: usize| PseudoQuery {
            id: QuestionId::from_bytes((number as u128).to_le_bytes()),
            passage: PassageId::from_bytes([0; 16]),
            kind: QuestionKind::Outgoing,
            origin: QuestionOrigin::Rule,
            text: text(number),
            keywords: [format!("k{}", number % 5)].into_iter().collect(),
            sentence: number as u32,
        };
        let count = 2 * BLOCK + 7;
        questions.push((0..count).map(question).collect());
        assert_eq!((questions.keywords().len(), questions.of(QuestionKind::Incoming).len()), (5, 0));
        let read = questions.of(QuestionKind::Outgoing);
        assert_eq!((read.len(), read.of_passages()), (count, &[count as u32][..]));
        for number in [0, BLOCK - 1, BLOCK, 2 * BLOCK, count - 1] {
            let part = read.get(number);
            assert_eq!((part.text, part.sentence), (&text(number)[..], number as u32));
            assert_eq!((*part.id.as_bytes(), read.sentence(number)), ((number as u128).to_le_bytes(), part.sentence));
            assert_eq!(part.keywords().collect::<Vec<_>>(), [format!("k{}", number % 5)]);
        }
        for places in [0..count, 0..0, 5..5, 3..9, BLOCK - 1..BLOCK + 1, BLOCK..2 * BLOCK, 2 * BLOCK + 1..count] {
            let runs: Vec<QuestionRun<'_>> = read.runs(places.clone()).collect();
            let texts: Vec<u8> = runs.iter().flat_map(|run| run.texts).copied().collect();
            assert_eq!(texts, places.clone().map(text).collect::<String>().into_bytes(), "{places:?}");
            assert_eq!(runs.iter().map(|run| run.ids.len()).sum::<usize>(), places.len());
            assert!(runs.iter().all(|run| run.ends.len() == run.ids.len() && run.origins.len() == run.ids.len()));
        }
    }
}
