//! Borrowed texts of a version to be written, from the records or from an earlier version.

use super::texts::TextsFile;
use crate::domain::{
    Document, DocumentId, Keywords, Metadata, Passage, PassageId, PseudoQuery, QuestionId, QuestionKind,
    QuestionOrigin, Span,
};

/// A document.
#[derive(Debug, Clone, Copy)]
pub struct DocumentPart<'a> {
    /// Its identity.
    pub id: DocumentId,
    /// The id that its source gives it.
    pub source_id: &'a str,
    /// Its title.
    pub title: Option<&'a str>,
    /// Its source.
    pub uri: &'a str,
    /// Its media type.
    pub media_type: &'a str,
    /// Other metadata from its source.
    pub metadata: MetadataPart<'a>,
}

/// The metadata of a document.
#[derive(Debug, Clone, Copy)]
pub enum MetadataPart<'a> {
    /// As the records have it.
    Read(&'a Metadata),
    /// As a version has it.
    Json(&'a str),
}

/// A passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassagePart<'a> {
    /// Its identity.
    pub id: PassageId,
    /// Its bytes in the document's text.
    pub span: Span,
    /// The headings above it.
    pub section: Option<&'a str>,
    /// The page on which it begins.
    pub page: Option<u32>,
    /// The line on which it begins.
    pub line: Option<u32>,
    /// The column in that line.
    pub column: Option<u32>,
    /// Its text.
    pub text: &'a str,
    /// Its sentences, as spans in `text`.
    pub sentences: &'a [Span],
}

/// A question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuestionPart<'a> {
    /// Its identity.
    pub id: QuestionId,
    /// Who wrote it.
    pub origin: QuestionOrigin,
    /// The question.
    pub text: &'a str,
    /// Its keywords, if it was read from the records.
    pub keywords: Option<&'a Keywords>,
    /// The sentence of the passage that it was made from.
    pub sentence: u32,
}

/// Questions of one side, passage by passage. Those that a version has are read where it has them: there may be
/// millions.
#[derive(Debug, Clone, Default)]
pub struct QuestionParts<'a> {
    version: Option<QuestionsOfVersion<'a>>,
    /// For each, its number in the version, or, after all of that, its place among those that were read. None if all
    /// were read.
    numbers: Vec<u32>,
    read: Vec<QuestionPart<'a>>,
}

/// The questions of one side of a version.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuestionsOfVersion<'a> {
    pub(crate) texts: &'a TextsFile,
    pub(crate) kind: QuestionKind,
    /// The sentence of its passage that each was made from.
    pub(crate) sentences: &'a [u32],
}

/// Questions that lie together.
#[derive(Clone, Copy)]
enum QuestionRun<'a, 'l> {
    /// Where a version has them.
    Taken(TakenQuestions<'a>),
    /// As they were read.
    Read(&'l [QuestionPart<'a>]),
}

/// Consecutive questions of a version.
#[derive(Clone, Copy)]
pub(crate) struct TakenQuestions<'a> {
    pub(crate) ids: &'a [[u8; 16]],
    /// The codes of those who wrote them.
    pub(crate) origins: &'a [u8],
    /// Where the text of each ends, and where that of the first begins.
    pub(crate) ends: &'a [u64],
    pub(crate) start: u64,
    /// Their texts, back to back.
    pub(crate) texts: &'a [u8],
}

impl<'a> QuestionParts<'a> {
    /// Returns an empty list with room for so many, of which so many will have been read.
    pub(crate) fn with_room(version: Option<QuestionsOfVersion<'a>>, count: usize, read: usize) -> Self {
        let numbers = Vec::with_capacity(if version.is_some() { count } else { 0 });
        Self { version, numbers, read: Vec::with_capacity(read) }
    }

    /// Adds those with these numbers in the version, if there is one.
    pub(crate) fn extend_taken(&mut self, numbers: impl Iterator<Item = u32>) {
        if self.version.is_some() {
            self.numbers.extend(numbers);
        }
    }

    /// Returns how many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        if self.version.is_some() { self.numbers.len() } else { self.read.len() }
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a question.
    #[must_use]
    pub fn get(&self, place: usize) -> QuestionPart<'a> {
        let Some(version) = &self.version else { return self.read[place] };
        let number = self.numbers[place] as usize;
        match version.sentences.get(number) {
            Some(sentence) => version.texts.question_part(version.kind, number, *sentence),
            None => self.read[number - version.sentences.len()],
        }
    }

    /// Returns the sentence of its passage that a question was made from.
    #[must_use]
    pub fn sentence(&self, place: usize) -> u32 {
        let Some(version) = &self.version else { return self.read[place].sentence };
        let number = self.numbers[place] as usize;
        version.sentences.get(number).copied().unwrap_or_else(|| self.read[number - version.sentences.len()].sentence)
    }

    /// Returns all in order, those that follow each other in the version together.
    fn runs(&self) -> impl Iterator<Item = QuestionRun<'a, '_>> {
        let version = self.version;
        let taken = version.map_or(0, |it| it.sentences.len()) as u32;
        let runs = self.numbers.chunk_by(move |number, next| *next == number + 1 && *next != taken);
        let run = move |run: &[u32]| {
            let (first, end) = (run[0] as usize, run[0] as usize + run.len());
            match version.filter(|_| run[0] < taken) {
                Some(version) => QuestionRun::Taken(version.texts.question_run(version.kind, first..end)),
                None => QuestionRun::Read(&self.read[first - taken as usize..end - taken as usize]),
            }
        };
        let all_read = version.is_none().then_some(QuestionRun::Read(&self.read[..]));
        runs.map(run).chain(all_read)
    }

    /// Returns how many bytes the text of each has.
    pub(crate) fn lengths(&self) -> Vec<u32> {
        let mut lengths = Vec::with_capacity(self.len());
        for run in self.runs() {
            match run {
                QuestionRun::Taken(taken) => {
                    let starts = std::iter::once(&taken.start).chain(taken.ends);
                    lengths.extend(starts.zip(taken.ends).map(|(start, end)| (end - start) as u32));
                }
                QuestionRun::Read(read) => lengths.extend(read.iter().map(|it| it.text.len() as u32)),
            }
        }
        lengths
    }

    /// Returns their texts back to back, as they lie together.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces(|taken| taken.texts, |question| question.text.as_bytes())
    }

    /// Returns their ids back to back, as they lie together.
    pub(super) fn ids(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces(|taken| taken.ids.as_flattened(), |question| question.id.as_bytes())
    }

    fn pieces<'s>(
        &'s self,
        of_taken: fn(TakenQuestions<'a>) -> &'a [u8],
        of_read: fn(&'s QuestionPart<'a>) -> &'s [u8],
    ) -> impl Iterator<Item = &'s [u8]> {
        self.runs().flat_map(move |run| {
            let (taken, read) = match run {
                QuestionRun::Taken(taken) => (Some(of_taken(taken)), &[][..]),
                QuestionRun::Read(read) => (None, read),
            };
            taken.into_iter().chain(read.iter().map(of_read))
        })
    }

    /// Returns the codes of those who wrote them.
    pub(super) fn origins(&self) -> Vec<u8> {
        let mut origins = Vec::with_capacity(self.len());
        for run in self.runs() {
            match run {
                QuestionRun::Taken(taken) => origins.extend_from_slice(taken.origins),
                QuestionRun::Read(read) => origins.extend(read.iter().map(|it| it.origin.code())),
            }
        }
        origins
    }
}

impl<'a> Extend<QuestionPart<'a>> for QuestionParts<'a> {
    /// Adds some that were read.
    fn extend<I: IntoIterator<Item = QuestionPart<'a>>>(&mut self, questions: I) {
        let first = self.read.len();
        self.read.extend(questions);
        if let Some(version) = &self.version {
            let number = |read| (version.sentences.len() + read) as u32;
            self.numbers.extend((first..self.read.len()).map(number));
        }
    }
}

impl<'a> From<&'a Document> for DocumentPart<'a> {
    fn from(document: &'a Document) -> Self {
        let Document { id, source_id, title, uri, media_type, metadata, .. } = document;
        Self { id: *id, source_id, title: title.as_deref(), uri, media_type, metadata: MetadataPart::Read(metadata) }
    }
}

impl<'a> From<&'a Passage> for PassagePart<'a> {
    fn from(passage: &'a Passage) -> Self {
        let Passage { id, span, section, page, line, column, text, sentences, .. } = passage;
        let (id, span, section) = (*id, *span, section.as_deref());
        Self { id, span, section, page: *page, line: *line, column: *column, text, sentences }
    }
}

impl<'a> From<&'a PseudoQuery> for QuestionPart<'a> {
    fn from(question: &'a PseudoQuery) -> Self {
        let PseudoQuery { id, origin, text, keywords, sentence, .. } = question;
        Self { id: *id, origin: *origin, text, keywords: Some(keywords), sentence: *sentence }
    }
}

impl<'a> QuestionPart<'a> {
    /// Returns its keywords, as far as they are known.
    pub fn keywords(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.keywords.into_iter().flat_map(Keywords::iter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::indexed;

    #[test]
    fn questions_that_lie_together_are_those_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let last = indexed(folder.path()).last_version().unwrap();
        let texts = last.texts().unwrap();
        let sentences = [7, 8, 9];
        for kind in [QuestionKind::Incoming, QuestionKind::Outgoing] {
            let taken = |number: usize| texts.question_part(kind, number, sentences[number]);
            let read = |text| QuestionPart { text, origin: QuestionOrigin::Model, sentence: 3, ..taken(0) };
            let version = QuestionsOfVersion { texts, kind, sentences: &sentences };
            let mut questions = QuestionParts::with_room(Some(version), 9, 3);
            questions.extend_taken(1..3);
            // The numbers of the last one and of this one follow each other.
            questions.extend([read("Où ?"), read("")]);
            questions.extend_taken(0..3);
            questions.extend([read("Why?")]);
            questions.extend_taken(2..3);
            let due =
                [taken(1), taken(2), read("Où ?"), read(""), taken(0), taken(1), taken(2), read("Why?"), taken(2)];
            assert!(due.iter().filter(|it| !it.text.is_empty()).count() == 8);
            let mut all_read = QuestionParts::default();
            all_read.extend(due);
            for questions in [questions, all_read] {
                assert_eq!((0..due.len()).map(|it| questions.get(it)).collect::<Vec<_>>(), due);
                assert_eq!(
                    (0..due.len()).map(|it| questions.sentence(it)).collect::<Vec<_>>(),
                    due.map(|it| it.sentence)
                );
                assert_eq!(questions.lengths(), due.map(|it| it.text.len() as u32));
                assert_eq!(questions.texts().collect::<Vec<_>>().concat(), due.map(|it| it.text.as_bytes()).concat());
                assert_eq!(questions.origins(), due.map(|it| it.origin.code()));
                assert_eq!(questions.ids().collect::<Vec<_>>().concat(), due.map(|it| *it.id.as_bytes()).concat());
            }
        }
    }

    #[test]
    fn there_may_be_no_questions() {
        let folder = tempfile::tempdir().unwrap();
        let last = indexed(folder.path()).last_version().unwrap();
        let version =
            QuestionsOfVersion { texts: last.texts().unwrap(), kind: QuestionKind::Incoming, sentences: &[1; 3] };
        for questions in [QuestionParts::default(), QuestionParts::with_room(Some(version), 0, 0)] {
            assert!(questions.is_empty() && questions.texts().all(<[u8]>::is_empty) && questions.lengths().is_empty());
        }
    }
}
