//! Borrowed texts of a version to be written, from the records or from an earlier version.

use super::read_questions::{KeywordsPart, QuestionsRead};
use super::texts::TextsFile;
use crate::domain::{
    Document, DocumentId, Metadata, Passage, PassageId, QuestionId, QuestionKind, QuestionOrigin, Span,
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
#[derive(Debug, Clone, Copy)]
#[cfg_attr(test, derive(PartialEq, Eq))]
pub struct QuestionPart<'a> {
    /// Its identity.
    pub id: QuestionId,
    /// Who wrote it.
    pub origin: QuestionOrigin,
    /// The question.
    pub text: &'a str,
    /// Its keywords, if it was read from the records.
    pub keywords: Option<KeywordsPart<'a>>,
    /// The sentence of the passage that it was made from.
    pub sentence: u32,
}

/// Questions of one side, passage by passage, where they were read and where a version has them: there may be millions.
#[derive(Debug, Clone, Default)]
pub struct QuestionParts<'a> {
    version: Option<QuestionsOfVersion<'a>>,
    /// For each, its number in the version, or, after all of that, its place among those that were read. None if all
    /// were read.
    numbers: Vec<u32>,
    read: QuestionsRead<'a>,
    /// How many of `read` are among them: the first.
    read_count: usize,
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
pub(crate) struct QuestionRun<'a> {
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
    /// Returns an empty list of questions of a version, if there is one, and of those that were `read`.
    pub(crate) fn of(version: Option<QuestionsOfVersion<'a>>, read: QuestionsRead<'a>) -> Self {
        let room = version.map_or(0, |it| it.sentences.len() + read.len());
        Self { version, numbers: Vec::with_capacity(room), read, read_count: 0 }
    }

    /// Adds those with these numbers in the version, if there is one.
    pub(crate) fn extend_taken(&mut self, numbers: impl Iterator<Item = u32>) {
        if self.version.is_some() {
            self.numbers.extend(numbers);
        }
    }

    /// Adds the next so many of those that were read.
    pub(crate) fn extend_read(&mut self, count: usize) {
        let first = self.read_count;
        self.read_count += count;
        if let Some(version) = &self.version {
            let number = |read| (version.sentences.len() + read) as u32;
            self.numbers.extend((first..self.read_count).map(number));
        }
    }

    /// Returns how many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        if self.version.is_some() { self.numbers.len() } else { self.read_count }
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the version and the number of a question there, or its place among those that were read.
    fn find(&self, place: usize) -> Result<(QuestionsOfVersion<'a>, usize), usize> {
        let Some(version) = self.version else { return Err(place) };
        let number = self.numbers[place] as usize;
        if number < version.sentences.len() { Ok((version, number)) } else { Err(number - version.sentences.len()) }
    }

    /// Returns a question.
    #[must_use]
    pub fn get(&self, place: usize) -> QuestionPart<'a> {
        match self.find(place) {
            Ok((version, number)) => version.texts.question_part(version.kind, number, version.sentences[number]),
            Err(place) => self.read.get(place),
        }
    }

    /// Returns the sentence of its passage that a question was made from.
    #[must_use]
    pub fn sentence(&self, place: usize) -> u32 {
        match self.find(place) {
            Ok((version, number)) => version.sentences[number],
            Err(place) => self.read.sentence(place),
        }
    }

    /// Returns all in order, those that lie together in one run.
    fn runs(&self) -> impl Iterator<Item = QuestionRun<'a>> {
        let (version, read) = (self.version, self.read);
        let taken = version.map_or(0, |it| it.sentences.len());
        let runs = self.numbers.chunk_by(move |number, next| *next == number + 1 && *next as usize != taken);
        let all_read = version.is_none().then_some(0..self.read_count);
        let places = runs.map(|run| run[0] as usize..run[0] as usize + run.len()).chain(all_read);
        places.flat_map(move |run| {
            let version = version.filter(|_| run.start < taken);
            let of_version = version.map(|it| it.texts.question_run(it.kind, run.clone()));
            let places = if version.is_some() { 0..0 } else { run.start - taken..run.end - taken };
            of_version.into_iter().chain(read.runs(places))
        })
    }

    /// Returns how many bytes the text of each has.
    pub(crate) fn lengths(&self) -> Vec<u32> {
        let mut lengths = Vec::with_capacity(self.len());
        for QuestionRun { start, ends, .. } in self.runs() {
            let starts = std::iter::once(&start).chain(ends);
            lengths.extend(starts.zip(ends).map(|(start, end)| (end - start) as u32));
        }
        lengths
    }

    /// Returns their texts back to back, as they lie together.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &'a [u8]> {
        self.runs().map(|run| run.texts)
    }

    /// Returns their ids back to back, as they lie together.
    pub(super) fn ids(&self) -> impl Iterator<Item = &'a [u8]> {
        self.runs().map(|run| run.ids.as_flattened())
    }

    /// Returns the codes of those who wrote them.
    pub(super) fn origins(&self) -> Vec<u8> {
        let mut origins = Vec::with_capacity(self.len());
        self.runs().for_each(|run| origins.extend_from_slice(run.origins));
        origins
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

impl<'a> QuestionPart<'a> {
    /// Returns its keywords, as far as they are known.
    pub fn keywords(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.keywords.into_iter().flat_map(KeywordsPart::texts)
    }

    /// Returns their numbers among those that were read, as far as they are known.
    #[must_use]
    pub fn keyword_numbers(&self) -> &'a [u32] {
        self.keywords.map_or(&[], |it| it.numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::PseudoQuery;
    use crate::workspace::ReadQuestions;
    use crate::workspace::tests::indexed;

    impl<'a> QuestionParts<'a> {
        /// Returns all that were read.
        pub(in crate::workspace) fn of_all(read: QuestionsRead<'a>) -> Self {
            let mut all = Self::of(None, read);
            all.extend_read(read.len());
            all
        }
    }

    fn question(kind: QuestionKind, text: &str, keywords: &[&str]) -> PseudoQuery {
        PseudoQuery {
            id: QuestionId::from_bytes([text.len() as u8; 16]),
            passage: PassageId::from_bytes([1; 16]),
            kind,
            origin: QuestionOrigin::Model,
            text: text.to_owned(),
            keywords: keywords.iter().copied().collect(),
            sentence: 3,
        }
    }

    /// Returns a question without its keywords, and these.
    fn apart(question: QuestionPart<'_>) -> (QuestionPart<'_>, Vec<&str>) {
        (QuestionPart { keywords: None, ..question }, question.keywords().collect())
    }

    #[test]
    fn questions_that_lie_together_are_those_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let last = indexed(folder.path()).last_version().unwrap();
        let texts = last.texts().unwrap();
        let sentences = [7, 8, 9];
        for kind in [QuestionKind::Incoming, QuestionKind::Outgoing] {
            let other = [QuestionKind::Outgoing, QuestionKind::Incoming][kind as usize];
            let of_passage = [("Où ?", &["où", "et"][..]), ("", &[]), ("Why?", &["why", "où"])];
            let mut read = ReadQuestions::default();
            read.push(of_passage[..2].iter().map(|(text, keywords)| question(kind, text, keywords)).collect());
            read.push(vec![question(other, "Who?", &["why"]), question(kind, of_passage[2].0, of_passage[2].1)]);
            assert_eq!((read.of(kind).of_passages(), read.of(other).of_passages()), (&[2, 1][..], &[0, 1][..]));
            assert_eq!(read.keywords().len(), 3);
            let taken = |number: usize| (texts.question_part(kind, number, sentences[number]), Vec::new());
            let read_before = |place| apart(read.of(kind).get(place));
            let version = QuestionsOfVersion { texts, kind, sentences: &sentences };
            let mut questions = QuestionParts::of(Some(version), read.of(kind));
            questions.extend_taken(1..3);
            // The numbers of the last one and of this one follow each other.
            questions.extend_read(2);
            questions.extend_taken(0..3);
            questions.extend_read(1);
            questions.extend_taken(2..3);
            let [first, second, third] = [0, 1, 2].map(read_before);
            assert_eq!((first.0.text, &first.1[..], first.0.sentence), ("Où ?", &["et", "où"][..], 3));
            assert_eq!((second.1.len(), &third.1[..]), (0, &["où", "why"][..]));
            let all_read = vec![first.clone(), second.clone(), third.clone()];
            let due = vec![taken(1), taken(2), first, second, taken(0), taken(1), taken(2), third, taken(2)];
            assert!(due.iter().filter(|it| !it.0.text.is_empty()).count() == 8);
            for (questions, due) in [(questions, due), (QuestionParts::of_all(read.of(kind)), all_read)] {
                let parts: Vec<QuestionPart<'_>> = due.iter().map(|it| it.0).collect();
                assert_eq!((0..due.len()).map(|it| apart(questions.get(it))).collect::<Vec<_>>(), due);
                let sentences: Vec<u32> = (0..due.len()).map(|it| questions.sentence(it)).collect();
                assert_eq!(sentences, parts.iter().map(|it| it.sentence).collect::<Vec<_>>());
                assert_eq!(questions.lengths(), parts.iter().map(|it| it.text.len() as u32).collect::<Vec<_>>());
                let whole: String = parts.iter().map(|it| it.text).collect();
                assert_eq!(questions.texts().collect::<Vec<_>>().concat(), whole.as_bytes());
                assert_eq!(questions.origins(), parts.iter().map(|it| it.origin.code()).collect::<Vec<_>>());
                let ids: Vec<[u8; 16]> = parts.iter().map(|it| *it.id.as_bytes()).collect();
                assert_eq!(questions.ids().collect::<Vec<_>>().concat(), ids.concat());
            }
        }
    }

    #[test]
    fn there_may_be_no_questions() {
        let folder = tempfile::tempdir().unwrap();
        let last = indexed(folder.path()).last_version().unwrap();
        let version =
            QuestionsOfVersion { texts: last.texts().unwrap(), kind: QuestionKind::Incoming, sentences: &[1; 3] };
        for questions in [QuestionParts::default(), QuestionParts::of(Some(version), QuestionsRead::default())] {
            assert!(questions.is_empty() && questions.texts().all(<[u8]>::is_empty) && questions.lengths().is_empty());
        }
    }
}
