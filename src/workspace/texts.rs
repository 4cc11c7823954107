//! `texts.bin`: the texts of passages, documents and questions, mapped; read only when shown.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::parts::{DocumentPart, MetadataPart, PassagePart, QuestionPart, QuestionParts, QuestionRun};
use super::records::{NO_SEAL, Seal};
use super::sections::{self, BUFFER_BYTES, Contents, Gather, Sections};
use super::stamp::Stamp;
use super::version_files::HeldFile;
use crate::domain::{DocumentId, Metadata, PassageId, QuestionId, QuestionKind, QuestionOrigin, Span};
use crate::error::{Error, Result};
use crate::graph::duplicates::Bands;
use crate::graph::ordinal::{
    self, DocumentOrdinal, IncomingOrdinal, Ordinal, Ordinals, OutgoingOrdinal, PassageOrdinal, SentenceOrdinal,
};
use crate::store::{DocumentText, PassageText};

/// The contents to write, each in the order of its ordinals.
#[derive(Debug, Clone, Copy)]
pub(super) struct Texts<'a> {
    pub(super) documents: &'a [DocumentPart<'a>],
    /// For each document, the first that it is a near-duplicate of; itself if there is none before it.
    pub(super) originals: &'a [DocumentOrdinal],
    /// By what near-duplicates of each are found, for the next version.
    pub(super) bands: &'a [Bands],
    /// What the records say of each document, for the next version.
    pub(super) seals: &'a [Option<Seal>],
    pub(super) passages: &'a [PassagePart<'a>],
    pub(super) incoming: &'a QuestionParts<'a>,
    pub(super) outgoing: &'a QuestionParts<'a>,
    /// The passage of each out-coming question.
    pub(super) outgoing_passages: &'a [PassageOrdinal],
}

/// How much of each there must be.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextCounts {
    pub(super) documents: usize,
    pub(super) passages: usize,
    pub(super) sentences: usize,
    pub(super) incoming: usize,
    pub(super) outgoing: usize,
}

/// A document without a title has this in front of nothing; one with a title has the other in front of it.
const UNTITLED: &str = "-";
const TITLED: &str = "+";
/// The metadata of a document that has none.
const NO_METADATA: &str = "{}";

/// What is written of each item, read where it is: there may be millions.
struct Gathered<'a> {
    bytes: usize,
    gather: Box<Gather<'a>>,
}

impl<'a> Gathered<'a> {
    /// The ids of items.
    fn ids<T>(items: &'a [T], id: impl Fn(&'a T) -> &'a [u8; 16] + 'a) -> Self {
        let gather = move |file: &mut dyn Write| write_each(file, items.iter().map(&id));
        Self { bytes: size_of::<[u8; 16]>() * items.len(), gather: Box::new(gather) }
    }

    /// Where the text of each item ends, and the texts back to back.
    fn texts<T>(items: &'a [T], text: impl Fn(&'a T) -> &'a str + Copy + 'a) -> [Self; 2] {
        let ends = move |file: &mut dyn Write| {
            let end = |end: &mut u64, item| {
                *end += text(item).len() as u64;
                Some(end.to_ne_bytes())
            };
            write_each(file, items.iter().scan(0, end))
        };
        let bytes = items.iter().map(|item| text(item).len()).sum();
        let texts = move |file: &mut dyn Write| write_each(file, items.iter().map(text));
        [
            Self { bytes: size_of::<u64>() * items.len(), gather: Box::new(ends) },
            Self { bytes, gather: Box::new(texts) },
        ]
    }

    /// The ids of questions.
    fn question_ids(questions: &'a QuestionParts<'a>) -> Self {
        let gather = move |file: &mut dyn Write| write_each(file, questions.ids());
        Self { bytes: size_of::<[u8; 16]>() * questions.len(), gather: Box::new(gather) }
    }

    /// Where the text of each question ends, and the texts back to back.
    fn question_texts(questions: &'a QuestionParts<'a>) -> [Self; 2] {
        let lengths = questions.lengths();
        let bytes = lengths.iter().map(|length| *length as usize).sum();
        let ends = move |file: &mut dyn Write| {
            let end = |end: &mut u64, length: &u32| {
                *end += u64::from(*length);
                Some(end.to_ne_bytes())
            };
            write_each(file, lengths.iter().scan(0, end))
        };
        let texts = move |file: &mut dyn Write| write_each(file, questions.texts());
        [
            Self { bytes: size_of::<u64>() * questions.len(), gather: Box::new(ends) },
            Self { bytes, gather: Box::new(texts) },
        ]
    }

    fn contents(&self) -> Contents<'_> {
        Contents::Gathered(self.bytes, self.gather.as_ref())
    }
}

/// Writes items back to back, many at once: a call for each of millions takes longer than copying it.
fn write_each(file: &mut dyn Write, items: impl Iterator<Item = impl AsRef<[u8]>>) -> io::Result<()> {
    let mut waiting = Vec::with_capacity(BUFFER_BYTES);
    for item in items {
        let item = item.as_ref();
        if waiting.len() + item.len() > BUFFER_BYTES {
            file.write_all(&waiting)?;
            waiting.clear();
        }
        if item.len() > BUFFER_BYTES {
            file.write_all(item)?;
        } else {
            waiting.extend_from_slice(item);
        }
    }
    file.write_all(&waiting)
}

/// Writes `texts.bin`.
pub(super) fn write(path: &Path, texts: &Texts<'_>) -> Result<Stamp> {
    let Texts { documents, originals, bands, seals, passages, incoming, outgoing, outgoing_passages } = *texts;
    let seals: Vec<Seal> = seals.iter().map(|seal| seal.unwrap_or(NO_SEAL)).collect();
    let titles: Vec<String> = documents.iter().map(|it| marked_title(it.title)).collect();
    let metadata: Vec<Cow<'_, str>> = documents.iter().map(|it| metadata_json(it.metadata)).collect::<Result<_>>()?;
    let columns = [
        Gathered::texts(documents, |it| it.source_id),
        Gathered::texts(&titles, String::as_str),
        Gathered::texts(documents, |it| it.uri),
        Gathered::texts(documents, |it| it.media_type),
        Gathered::texts(&metadata, |it| it),
        Gathered::texts(passages, |it| it.section.unwrap_or_default()),
        Gathered::texts(passages, |it| it.text),
        Gathered::question_texts(incoming),
        Gathered::question_texts(outgoing),
    ];
    let ids = [
        Gathered::ids(documents, |it| it.id.as_bytes()),
        Gathered::ids(passages, |it| it.id.as_bytes()),
        Gathered::question_ids(incoming),
        Gathered::question_ids(outgoing),
    ];
    let spans: Vec<Span> = passages.iter().map(|it| it.span).collect();
    let sentences: Vec<Span> = passages.iter().flat_map(|it| it.sentences).copied().collect();
    let places = [places(passages, |it| it.page), places(passages, |it| it.line), places(passages, |it| it.column)];
    let origins = [incoming, outgoing].map(QuestionParts::origins);
    let mut parts = vec![
        (ORIGINALS, Contents::Bytes(bytemuck::cast_slice(originals))),
        (BANDS, Contents::Bytes(bytemuck::cast_slice(bands))),
        (SEALS, Contents::Bytes(bytemuck::cast_slice(&seals))),
        (SPANS, Contents::Bytes(bytemuck::cast_slice(&spans))),
        (SENTENCES, Contents::Bytes(bytemuck::cast_slice(&sentences))),
        (OUTGOING_PASSAGES, Contents::Bytes(bytemuck::cast_slice(outgoing_passages))),
    ];
    parts.extend(PLACES.iter().zip(&places).map(|(name, all)| (*name, Contents::Bytes(bytemuck::cast_slice(all)))));
    parts.extend(ORIGINS.iter().zip(&origins).map(|(name, codes)| (*name, Contents::Bytes(codes))));
    parts.extend(ID_NAMES.iter().zip(&ids).map(|(name, ids)| (*name, ids.contents())));
    for ((ends, texts), column) in COLUMN_NAMES.iter().zip(&columns) {
        parts.push((ends, column[0].contents()));
        parts.push((texts, column[1].contents()));
    }
    sections::write(path, &parts)
}

/// Returns a number for each passage; 0 if it has none.
fn places(passages: &[PassagePart<'_>], place: impl Fn(&PassagePart<'_>) -> Option<u32>) -> Vec<u32> {
    passages.iter().map(|it| place(it).unwrap_or_default()).collect()
}

fn marked_title(title: Option<&str>) -> String {
    title.map_or_else(|| UNTITLED.to_owned(), |title| format!("{TITLED}{title}"))
}

fn metadata_json(metadata: MetadataPart<'_>) -> Result<Cow<'_, str>> {
    match metadata {
        MetadataPart::Json(json) => Ok(Cow::Borrowed(json)),
        MetadataPart::Read(metadata) => serde_json::to_string(metadata)
            .map(Cow::Owned)
            .map_err(|error| Error::Internal(format!("metadata cannot be written: {error}"))),
    }
}

const ORIGINALS: &str = "document.originals";
const BANDS: &str = "document.bands";
const SEALS: &str = "document.seals";
const SPANS: &str = "passage.spans";
const SENTENCES: &str = "sentence.spans";
const OUTGOING_PASSAGES: &str = "outgoing.passages";
const PLACES: [&str; 3] = ["passage.pages", "passage.lines", "passage.columns"];
const ORIGINS: [&str; 2] = ["incoming.origins", "outgoing.origins"];
const ID_NAMES: [&str; 4] = ["document.ids", "passage.ids", "incoming.ids", "outgoing.ids"];
const COLUMN_NAMES: [(&str, &str); 9] = [
    ("document.source-id-ends", "document.source-ids"),
    ("document.title-ends", "document.titles"),
    ("document.uri-ends", "document.uris"),
    ("document.media-type-ends", "document.media-types"),
    ("document.metadata-ends", "document.metadata"),
    ("passage.section-ends", "passage.sections"),
    ("passage.text-ends", "passage.texts"),
    ("incoming.text-ends", "incoming.texts"),
    ("outgoing.text-ends", "outgoing.texts"),
];

/// The position of a column: ends, bytes.
type ColumnRange = (Range<usize>, Range<usize>);

/// `texts.bin`, mapped and checked.
#[derive(Debug)]
pub(crate) struct TextsFile {
    sections: Sections,
    spans: Range<usize>,
    sentences: Range<usize>,
    outgoing_passages: Range<usize>,
    /// Which documents are nearly equal; none in a file of a format that has no such part.
    originals: Option<Range<usize>>,
    /// By what near-duplicates of each document are found; like the following ones, none in a file that was written
    /// before there was such a part.
    bands: Option<Range<usize>>,
    /// What the records say of each document.
    seals: Option<Range<usize>>,
    /// Pages, lines and columns.
    places: [Option<Range<usize>>; 3],
    origins: [Range<usize>; 2],
    document_ids: Range<usize>,
    passage_ids: Range<usize>,
    incoming_ids: Range<usize>,
    outgoing_ids: Range<usize>,
    source_ids: ColumnRange,
    titles: ColumnRange,
    uris: ColumnRange,
    media_types: ColumnRange,
    metadata: ColumnRange,
    passage_sections: ColumnRange,
    passage_texts: ColumnRange,
    incoming: ColumnRange,
    outgoing: ColumnRange,
}

impl TextsFile {
    /// Opens the file, which must hold as much as `counts` says.
    pub(super) fn open(file: &Arc<HeldFile>, counts: TextCounts) -> Result<Self> {
        let TextCounts { documents, passages, sentences, incoming, outgoing } = counts;
        let sections = Sections::of(file)?;
        let file = &sections;
        let spans = array::<Span>(file, SPANS, passages)?;
        let sentences = array::<Span>(file, SENTENCES, sentences)?;
        let outgoing_passages = array::<PassageOrdinal>(file, OUTGOING_PASSAGES, outgoing)?;
        if file.items::<PassageOrdinal>(outgoing_passages.clone()).iter().any(|passage| passage.index() >= passages) {
            return Err(file.corrupt(format!("`{OUTGOING_PASSAGES}` names a passage that is not there")));
        }
        let places = each(PLACES, [passages; 3], |name, count| {
            file.range(name).map(|_| array::<u32>(file, name, count)).transpose()
        })?;
        let has_originals = file.range(ORIGINALS).is_some();
        let originals = has_originals.then(|| array::<DocumentOrdinal>(file, ORIGINALS, documents)).transpose()?;
        let named = originals.iter().flat_map(|range| file.items::<DocumentOrdinal>(range.clone()));
        if named.into_iter().any(|it| it.index() >= documents) {
            return Err(file.corrupt(format!("`{ORIGINALS}` names a document that is not there")));
        }
        let bands = file.range(BANDS).map(|_| array::<Bands>(file, BANDS, documents)).transpose()?;
        let seals = file.range(SEALS).map(|_| array::<Seal>(file, SEALS, documents)).transpose()?;
        let origins = each(ORIGINS, [incoming, outgoing], |name, count| array::<u8>(file, name, count))?;
        let mut codes = origins.iter().flat_map(|range| file.items::<u8>(range.clone()));
        if codes.any(|code| QuestionOrigin::of_code(*code).is_none()) {
            return Err(file.corrupt("a question of an origin that is not known".to_owned()));
        }
        let id_counts = [documents, passages, incoming, outgoing];
        let [document_ids, passage_ids, incoming_ids, outgoing_ids] =
            each(ID_NAMES, id_counts, |name, count| array::<[u8; 16]>(file, name, count))?;
        let (d, p) = (documents, passages);
        let [source_ids, titles, uris, media_types, metadata, passage_sections, passage_texts, incoming, outgoing] =
            each(COLUMN_NAMES, [d, d, d, d, d, p, p, incoming, outgoing], |names, count| column(file, names, count))?;
        Ok(Self {
            sections,
            spans,
            sentences,
            outgoing_passages,
            originals,
            bands,
            seals,
            places,
            origins,
            document_ids,
            passage_ids,
            incoming_ids,
            outgoing_ids,
            source_ids,
            titles,
            uris,
            media_types,
            metadata,
            passage_sections,
            passage_texts,
            incoming,
            outgoing,
        })
    }

    /// Returns the texts shown of a passage with these sentences.
    pub(crate) fn passage(&self, passage: PassageOrdinal, sentences: Ordinals<SentenceOrdinal>) -> Result<PassageText> {
        let spans = self.sections.items::<Span>(self.spans.clone());
        if passage.index() >= spans.len() {
            return Err(no("passage", passage));
        }
        let PassagePart { id, span, section, page, line, column, text, sentences, .. } =
            self.passage_part(passage, sentences);
        let (section, text, sentences) = (section.map(str::to_owned), text.to_owned(), sentences.to_vec());
        Ok(PassageText { passage: id, span, section, page, line, column, text, sentences })
    }

    /// Returns the id of a document; zeros if there is no such document.
    pub(crate) fn document_id(&self, document: DocumentOrdinal) -> DocumentId {
        DocumentId::from_bytes(self.item(&self.document_ids, document).unwrap_or_default())
    }

    /// Returns what the records said of a document, if a later version may go by it.
    pub(crate) fn seal(&self, document: DocumentOrdinal) -> Option<Seal> {
        self.item::<Seal>(self.seals.as_ref()?, document).filter(|seal| *seal != NO_SEAL)
    }

    /// Returns the title of a document.
    pub(crate) fn title(&self, document: DocumentOrdinal) -> Option<&str> {
        self.text(&self.titles, document).strip_prefix(TITLED)
    }

    /// Returns the media type of a document.
    pub(crate) fn media_type(&self, document: DocumentOrdinal) -> &str {
        self.text(&self.media_types, document)
    }

    /// Returns the text of a passage.
    pub(crate) fn passage_text(&self, passage: PassageOrdinal) -> &str {
        self.text(&self.passage_texts, passage)
    }

    /// Returns the spans of sentences in the text of their passage.
    pub(crate) fn sentences(&self, sentences: Ordinals<SentenceOrdinal>) -> impl Iterator<Item = Span> {
        self.spans_of(sentences).iter().copied()
    }

    fn spans_of(&self, sentences: Ordinals<SentenceOrdinal>) -> &[Span] {
        self.sections.items::<Span>(self.sentences.clone()).get(sentences.range()).unwrap_or_default()
    }

    /// Returns a document as the next version may have it.
    pub(crate) fn document_part(&self, document: DocumentOrdinal) -> DocumentPart<'_> {
        DocumentPart {
            id: self.document_id(document),
            source_id: self.text(&self.source_ids, document),
            title: self.title(document),
            uri: self.text(&self.uris, document),
            media_type: self.media_type(document),
            metadata: MetadataPart::Json(self.text(&self.metadata, document)),
        }
    }

    /// Returns a passage with these sentences as the next version may have it.
    pub(crate) fn passage_part(
        &self,
        passage: PassageOrdinal,
        sentences: Ordinals<SentenceOrdinal>,
    ) -> PassagePart<'_> {
        PassagePart {
            id: self.passage_id(passage),
            span: self.item(&self.spans, passage).unwrap_or(Span { start: 0, end: 0 }),
            section: Some(self.text(&self.passage_sections, passage)).filter(|section| !section.is_empty()),
            page: self.place(0, passage),
            line: self.place(1, passage),
            column: self.place(2, passage),
            text: self.passage_text(passage),
            sentences: self.spans_of(sentences),
        }
    }

    /// Returns a question, made from this sentence of its passage, as the next version may have it.
    pub(super) fn question_part(&self, kind: QuestionKind, number: usize, sentence: u32) -> QuestionPart<'_> {
        let (id, origin, text) = match kind {
            QuestionKind::Incoming => {
                let question = IncomingOrdinal::at(number);
                (self.incoming_id(question), self.incoming_origin(question), self.incoming(question))
            }
            QuestionKind::Outgoing => {
                let question = OutgoingOrdinal::at(number);
                (self.outgoing_id(question), self.outgoing_origin(question), self.outgoing(question))
            }
        };
        QuestionPart { id, origin, text, keywords: None, sentence }
    }

    /// Returns consecutive questions as the next version may have them; none if some are missing.
    pub(super) fn question_run(&self, kind: QuestionKind, run: Range<usize>) -> QuestionRun<'_> {
        let (side, ids, (ends, bytes)) = match kind {
            QuestionKind::Incoming => (0, &self.incoming_ids, &self.incoming),
            QuestionKind::Outgoing => (1, &self.outgoing_ids, &self.outgoing),
        };
        let all = self.sections.items::<u64>(ends.clone());
        let start = run.start.checked_sub(1).and_then(|before| all.get(before)).copied().unwrap_or_default();
        let ends = all.get(run.clone()).unwrap_or_default();
        let texts = start as usize..ends.last().copied().unwrap_or(start) as usize;
        QuestionRun {
            ids: self.sections.items::<[u8; 16]>(ids.clone()).get(run.clone()).unwrap_or_default(),
            origins: self.sections.items::<u8>(self.origins[side].clone()).get(run).unwrap_or_default(),
            ends,
            start,
            texts: self.sections.at(bytes.clone()).get(texts).unwrap_or_default(),
        }
    }

    /// Returns the texts shown of a document.
    pub(crate) fn document(&self, document: DocumentOrdinal) -> Result<DocumentText> {
        let id = self.item::<[u8; 16]>(&self.document_ids, document).ok_or_else(|| no("document", document))?;
        let metadata = self.metadata(document)?;
        Ok(DocumentText {
            document: DocumentId::from_bytes(id),
            source_id: self.text(&self.source_ids, document).to_owned(),
            title: self.title(document).map(str::to_owned),
            uri: self.text(&self.uris, document).to_owned(),
            media_type: self.media_type(document).to_owned(),
            metadata,
            duplicate_of: self.original(document),
        })
    }

    /// Returns the metadata of a document, if it can be read.
    pub(crate) fn metadata(&self, document: DocumentOrdinal) -> Result<Metadata> {
        let json = self.text(&self.metadata, document);
        if json == NO_METADATA {
            return Ok(Metadata::new());
        }
        serde_json::from_str(json)
            .map_err(|error| self.sections.corrupt(format!("the metadata of document {document} is damaged: {error}")))
    }

    /// Returns by what near-duplicates of a document are found.
    pub(crate) fn bands(&self, document: DocumentOrdinal) -> Option<Bands> {
        self.item(self.bands.as_ref()?, document)
    }

    /// Returns the first document that one is nearly equal to.
    fn original(&self, document: DocumentOrdinal) -> Option<DocumentId> {
        let original = self.item::<DocumentOrdinal>(self.originals.as_ref()?, document).filter(|it| *it != document)?;
        self.item::<[u8; 16]>(&self.document_ids, original).map(DocumentId::from_bytes)
    }

    /// Returns the id of a passage; zeros if there is no such passage.
    pub(super) fn passage_id(&self, passage: PassageOrdinal) -> PassageId {
        PassageId::from_bytes(self.item(&self.passage_ids, passage).unwrap_or_default())
    }

    /// Returns the id of an in-coming question; zeros if there is no such question.
    pub(crate) fn incoming_id(&self, question: IncomingOrdinal) -> QuestionId {
        QuestionId::from_bytes(self.item(&self.incoming_ids, question).unwrap_or_default())
    }

    /// Returns who wrote an in-coming question.
    pub(crate) fn incoming_origin(&self, question: IncomingOrdinal) -> QuestionOrigin {
        self.origin(0, question)
    }

    /// Returns who wrote an out-coming question.
    pub(crate) fn outgoing_origin(&self, question: OutgoingOrdinal) -> QuestionOrigin {
        self.origin(1, question)
    }

    fn origin(&self, side: usize, question: impl Ordinal) -> QuestionOrigin {
        let code = self.item::<u8>(&self.origins[side], question);
        code.and_then(QuestionOrigin::of_code).unwrap_or(QuestionOrigin::Rule)
    }

    /// Returns the id of an out-coming question; zeros if there is no such question.
    pub(crate) fn outgoing_id(&self, question: OutgoingOrdinal) -> QuestionId {
        QuestionId::from_bytes(self.item(&self.outgoing_ids, question).unwrap_or_default())
    }

    /// Returns the passage of each out-coming question.
    pub(crate) fn outgoing_passages(&self) -> ordinal::Column<'_, OutgoingOrdinal, PassageOrdinal> {
        ordinal::Column::new(self.sections.items(self.outgoing_passages.clone()))
    }

    /// Returns the text of an in-coming question.
    pub(crate) fn incoming(&self, question: IncomingOrdinal) -> &str {
        self.text(&self.incoming, question)
    }

    /// Returns the text of an out-coming question.
    pub(crate) fn outgoing(&self, question: OutgoingOrdinal) -> &str {
        self.text(&self.outgoing, question)
    }

    /// Returns the page, line or column of a passage.
    fn place(&self, which: usize, passage: PassageOrdinal) -> Option<u32> {
        self.item::<u32>(self.places.get(which)?.as_ref()?, passage).filter(|number| *number > 0)
    }

    fn item<T: bytemuck::AnyBitPattern>(&self, range: &Range<usize>, at: impl Ordinal) -> Option<T> {
        self.sections.items(range.clone()).get(at.index()).copied()
    }

    fn text(&self, (ends, bytes): &ColumnRange, at: impl Ordinal) -> &str {
        let ends = self.sections.items::<u64>(ends.clone());
        let start = at.index().checked_sub(1).map_or(Some(&0), |before| ends.get(before));
        let (Some(start), Some(end)) = (start, ends.get(at.index())) else { return "" };
        let bytes = self.sections.at(bytes.clone()).get(*start as usize..*end as usize);
        std::str::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
    }
}

/// Finds a part for each name and count.
fn each<N: Copy, T: Default, const K: usize>(
    names: [N; K],
    counts: [usize; K],
    find: impl Fn(N, usize) -> Result<T>,
) -> Result<[T; K]> {
    let mut found = std::array::from_fn(|_| T::default());
    for ((found, name), count) in found.iter_mut().zip(names).zip(counts) {
        *found = find(name, count)?;
    }
    Ok(found)
}

fn array<T: bytemuck::AnyBitPattern>(sections: &Sections, name: &str, count: usize) -> Result<Range<usize>> {
    let range = sections.array::<T>(name)?;
    let actual = sections.items::<T>(range.clone()).len();
    if actual == count {
        Ok(range)
    } else {
        Err(sections.corrupt(format!("`{name}` has {actual} items; {count} are due")))
    }
}

fn column(sections: &Sections, (ends_name, bytes_name): (&str, &str), count: usize) -> Result<ColumnRange> {
    let range = array::<u64>(sections, ends_name, count)?;
    let bytes = sections.array::<u8>(bytes_name)?;
    let ends = sections.items::<u64>(range.clone());
    if !ends.is_sorted() || ends.last().copied().unwrap_or_default() != bytes.len() as u64 {
        return Err(sections.corrupt(format!("`{ends_name}` does not bound its texts")));
    }
    let text = std::str::from_utf8(sections.at(bytes.clone())).ok();
    let is_text = |text: &str| ends.iter().all(|end| text.is_char_boundary(*end as usize));
    if text.is_some_and(is_text) {
        Ok((range, bytes))
    } else {
        Err(sections.corrupt(format!("`{bytes_name}` is not text")))
    }
}

fn no(what: &str, ordinal: impl std::fmt::Display) -> Error {
    Error::Internal(format!("there is no {what} {ordinal}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_written_back_to_back_whatever_their_size() {
        let sizes = [3, BUFFER_BYTES - 1, 0, 2, BUFFER_BYTES + 1, 5, BUFFER_BYTES, 1];
        let items = sizes.map(|size| (0..size).map(|at| (at % 251) as u8).collect::<Vec<u8>>());
        let mut written = Vec::new();
        write_each(&mut written, items.iter()).unwrap();
        assert!(written == items.concat());
    }
}
