//! One lexical field: which texts have a term, and how often. One immutable segment, in which a document's number is
//! the text's ordinal; analysis and scoring happen elsewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::{MmapDirectory, RamDirectory};
use tantivy::indexer::merge_indices;
use tantivy::postings::Postings;
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::store::Compressor;
use tantivy::{
    DocSet, Index, IndexSettings, InvertedIndexReader, SegmentReader, SingleSegmentIndexWriter, TERMINATED,
    TantivyDocument, TantivyError, Term,
};

use super::contained::contained;
use super::text_files::TextFiles;
use super::version_files::HeldFile;
use crate::domain::Cancellation;
use crate::error::{Error, Result};

/// Appends the terms of a text, given by its ordinal, separated by spaces. Called once for each text, in order.
pub(crate) type TermsOf<'a> = dyn Fn(usize, &mut String) + Sync + 'a;

const FIELD: &str = "terms";
/// Sizes the first table of terms; more is taken as it is needed.
const WRITER_BYTES: usize = 8 << 20;
/// Memory for terms and postings while they are collected. Beyond it, they are compressed, and merged at the end.
const PART_BYTES: usize = 16 << 20;

/// Writes the index of `count` texts into `folder`, which must be empty.
pub(super) fn write(folder: &Path, count: usize, terms_of: &TermsOf<'_>, cancellation: &Cancellation) -> Result<()> {
    write_in_parts(folder, count, terms_of, PART_BYTES, cancellation)
}

fn write_in_parts(
    folder: &Path,
    count: usize,
    terms_of: &TermsOf<'_>,
    part_bytes: usize,
    cancellation: &Cancellation,
) -> Result<()> {
    let written = collect(count, terms_of, part_bytes, cancellation)
        .and_then(|parts| parts.map(|parts| write_segment(folder, &parts)).transpose());
    let is_whole = written.map_err(|error| match refusal_in(&error) {
        Some(source) => Error::io("write", folder)(source),
        None => Error::text_index("write")(error),
    })?;
    if is_whole.is_some() { Ok(()) } else { Err(Error::Cancelled) }
}

/// Returns the error of the system that the library made an internal error of its own, keeping only the words.
fn refusal_in(error: &TantivyError) -> Option<std::io::Error> {
    let TantivyError::InternalError(said) = error else { return None };
    // In the standard library's wording of system errors.
    let (_, code) = said.rsplit_once("(os error ")?;
    code.split_once(')')?.0.parse().ok().map(std::io::Error::from_raw_os_error)
}

/// An index of texts that follow each other, compressed and in memory.
struct PartIndex {
    files: RamDirectory,
    index: Index,
}

/// Returns the indexes of all texts, in order; none if a stop was requested.
fn collect(
    count: usize,
    terms_of: &TermsOf<'_>,
    part_bytes: usize,
    cancellation: &Cancellation,
) -> tantivy::Result<Option<Vec<PartIndex>>> {
    let (schema, field) = schema();
    let open = || -> tantivy::Result<(RamDirectory, SingleSegmentIndexWriter)> {
        let files = RamDirectory::create();
        let builder = Index::builder().schema(schema.clone()).settings(settings());
        let writer = builder.single_segment_index_writer(files.clone(), WRITER_BYTES)?;
        Ok((files, writer))
    };
    let close = |(files, writer): (RamDirectory, SingleSegmentIndexWriter)| -> tantivy::Result<PartIndex> {
        Ok(PartIndex { files, index: writer.finalize()? })
    };
    let mut parts = Vec::new();
    let mut part = open()?;
    let mut terms = String::new();
    for ordinal in 0..count {
        if cancellation.is_cancelled() {
            return Ok(None);
        }
        terms.clear();
        terms_of(ordinal, &mut terms);
        let mut document = TantivyDocument::new();
        document.add_text(field, &terms);
        part.1.add_document(document)?;
        if part.1.mem_usage() > part_bytes && ordinal + 1 < count {
            parts.push(close(std::mem::replace(&mut part, open()?))?);
        }
    }
    parts.push(close(part)?);
    Ok(Some(parts))
}

/// Writes all parts as one segment.
fn write_segment(folder: &Path, parts: &[PartIndex]) -> tantivy::Result<()> {
    let target = MmapDirectory::open(folder)?;
    if let [part] = parts {
        return part.files.persist(&target);
    }
    let indexes: Vec<Index> = parts.iter().map(|part| part.index.clone()).collect();
    merge_indices(&indexes, target)?;
    Ok(())
}

fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::None,
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    }
}

fn schema() -> (Schema, Field) {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("whitespace")
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(false);
    let mut builder = Schema::builder();
    let field = builder.add_text_field(FIELD, TextOptions::default().set_indexing_options(indexing));
    (builder.build(), field)
}

/// The index of one field, open for reading; it reads no file and takes no lock after that.
pub(super) struct TextIndex {
    path: PathBuf,
    field: Field,
    terms: Arc<InvertedIndexReader>,
    /// How many texts there are.
    count: usize,
}

impl TextIndex {
    /// Opens the index of these files of `folder`, by name, which must have `count` texts and have been checked against
    /// their checksums: the library behind it trusts what it reads.
    pub(super) fn open(folder: &Path, files: BTreeMap<PathBuf, Arc<HeldFile>>, count: usize) -> Result<Self> {
        contained(folder, || Self::open_trusted(folder, files, count))
    }

    fn open_trusted(folder: &Path, files: BTreeMap<PathBuf, Arc<HeldFile>>, count: usize) -> Result<Self> {
        let wrong = || Error::text_index("open");
        let corrupt = |reason: &str| Error::Corrupt { path: folder.to_owned(), reason: reason.to_owned() };
        let index = Index::open(TextFiles(Arc::new(files))).map_err(wrong())?;
        let field = index.schema().get_field(FIELD).map_err(|_| corrupt("it has another schema"))?;
        let segments = index.searchable_segments().map_err(wrong())?;
        let [segment] = segments.as_slice() else {
            return Err(corrupt("it does not lie in one segment"));
        };
        // A reader of the segment itself: the usual one takes a lock file, which a read-only folder does not allow.
        let reader = SegmentReader::open(segment).map_err(wrong())?;
        if reader.max_doc() as usize != count || reader.has_deletes() {
            return Err(corrupt("it holds another number of texts than its version"));
        }
        let terms = reader.inverted_index(field).map_err(wrong())?;
        Ok(Self { path: folder.to_owned(), field, terms, count })
    }

    /// Calls `visit` with the ordinal of every text that has `term`, and how often it has it, by ascending ordinal.
    pub(super) fn postings(&self, term: &str, visit: &mut dyn FnMut(u32, u32)) -> Result<()> {
        contained(&self.path, || self.postings_trusted(term, visit))
    }

    fn postings_trusted(&self, term: &str, visit: &mut dyn FnMut(u32, u32)) -> Result<()> {
        let term = Term::from_field_text(self.field, term);
        let found = self.terms.read_postings(&term, IndexRecordOption::WithFreqs);
        let Some(mut postings) = found.map_err(Error::io("read", &self.path))? else {
            return Ok(());
        };
        let mut ordinal = postings.doc();
        while ordinal != TERMINATED {
            // Visitors rely on it.
            if ordinal as usize >= self.count {
                let reason = format!("it names text {ordinal} of {}", self.count);
                return Err(Error::Corrupt { path: self.path.clone(), reason });
            }
            visit(ordinal, postings.term_freq());
            ordinal = postings.advance();
        }
        Ok(())
    }

    /// Reads all of it, as searches would.
    pub(super) fn check(&self) -> Result<()> {
        let mut terms = Vec::new();
        self.each_term(&mut |term, _| terms.push(term.to_owned()))?;
        terms.iter().try_for_each(|term| self.postings(term, &mut |_, _| {}))
    }

    /// Calls `visit` with every term and how many texts have it, in the order of the terms' bytes.
    pub(super) fn each_term(&self, visit: &mut dyn FnMut(&str, u32)) -> Result<()> {
        contained(&self.path, || {
            let mut terms = self.terms.terms().stream().map_err(Error::io("read", &self.path))?;
            while let Some((term, info)) = terms.next() {
                visit(std::str::from_utf8(term).unwrap_or_default(), info.doc_freq);
            }
            Ok(())
        })
    }

    /// Returns how many texts have `term`.
    pub(super) fn frequency(&self, term: &str) -> Result<usize> {
        contained(&self.path, || {
            let found = self.terms.doc_freq(&Term::from_field_text(self.field, term));
            found.map(|count| count as usize).map_err(Error::io("read", &self.path))
        })
    }
}

impl std::fmt::Debug for TextIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextIndex").field("path", &self.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::FileAccess;
    use super::super::stamp::{Stamp, StampedFile};
    use super::*;

    fn postings(index: &TextIndex, term: &str) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        index.postings(term, &mut |ordinal, count| found.push((ordinal, count))).unwrap();
        found
    }

    fn held(folder: &Path) -> BTreeMap<PathBuf, Arc<HeldFile>> {
        let hold = |entry: std::io::Result<std::fs::DirEntry>| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let stamp = Stamp::of(&folder.join(&name)).unwrap();
            let due = StampedFile { path: name.clone(), stamp, blocks: None };
            (PathBuf::from(name), Arc::new(HeldFile::open(folder, &due, FileAccess::Auto).unwrap()))
        };
        std::fs::read_dir(folder).unwrap().map(hold).collect()
    }

    fn index_of(folder: &Path, texts: &[String]) -> TextIndex {
        let none = Cancellation::default();
        write(folder, texts.len(), &|ordinal, terms| terms.push_str(&texts[ordinal]), &none).unwrap();
        TextIndex::open(folder, held(folder), texts.len()).unwrap()
    }

    #[test]
    fn texts_that_take_more_memory_than_a_part_may_are_one_segment_in_their_order() {
        let texts: Vec<String> = (0..200).map(|it| format!("bridg t{it} t{}", it % 7)).collect();
        let none = Cancellation::default();
        let [whole, parts] = [PART_BYTES, 0].map(|part_bytes| {
            let folder = tempfile::tempdir().unwrap();
            let terms_of = |ordinal: usize, terms: &mut String| terms.push_str(&texts[ordinal]);
            write_in_parts(folder.path(), texts.len(), &terms_of, part_bytes, &none).unwrap();
            let index = TextIndex::open(folder.path(), held(folder.path()), texts.len()).unwrap();
            let mut all = Vec::new();
            index.each_term(&mut |term, count| all.push((term.to_owned(), count))).unwrap();
            all.into_iter().map(|(term, count)| (postings(&index, &term), term, count)).collect::<Vec<_>>()
        });
        assert_eq!(whole.len(), 201);
        assert_eq!(parts, whole);
    }

    #[test]
    fn a_term_has_the_ordinals_and_counts_of_its_texts() {
        let folder = tempfile::tempdir().unwrap();
        let texts = ["bridg river bridg", "", "river", "été 東京 bridg"].map(str::to_owned);
        let index = index_of(folder.path(), &texts);
        assert_eq!(postings(&index, "bridg"), [(0, 2), (3, 1)]);
        assert_eq!(postings(&index, "river"), [(0, 1), (2, 1)]);
        assert_eq!(["river", "absent"].map(|term| index.frequency(term).unwrap()), [2, 0]);
        assert_eq!(postings(&index, "東京"), [(3, 1)]);
        let mut terms = Vec::new();
        index.each_term(&mut |term, count| terms.push((term.to_owned(), count))).unwrap();
        assert_eq!(terms, [("bridg", 2), ("river", 2), ("été", 1), ("東京", 1)].map(|it| (it.0.to_owned(), it.1)));
        for missing in ["", "absent", "bridg river", "a:b OR ("] {
            assert_eq!(postings(&index, missing), [], "{missing}");
        }
    }

    #[test]
    fn postings_beyond_one_block_are_those_of_a_scan() {
        let folder = tempfile::tempdir().unwrap();
        let texts: Vec<String> = (0..1000).map(|i| format!("a t{} {}", i % 7, "b ".repeat(i % 3))).collect();
        let index = index_of(folder.path(), &texts);
        for term in ["a", "b", "t0", "t6"] {
            let count = |text: &String| text.split_whitespace().filter(|it| *it == term).count() as u32;
            let expect: Vec<_> = texts.iter().map(count).enumerate().filter(|(_, count)| *count > 0).collect();
            let expect: Vec<_> = expect.into_iter().map(|(ordinal, count)| (ordinal as u32, count)).collect();
            assert_eq!(postings(&index, term), expect, "{term}");
        }
    }

    #[test]
    fn an_index_of_nothing_opens_and_has_no_term() {
        for texts in [vec![], vec![String::new()]] {
            let folder = tempfile::tempdir().unwrap();
            assert_eq!(postings(&index_of(folder.path(), &texts), "a"), []);
        }
    }

    #[test]
    fn refusals_of_the_system_are_distinguished_from_faults_of_the_library() {
        let said = std::io::Error::from_raw_os_error(5).to_string();
        let found = refusal_in(&TantivyError::InternalError(said)).unwrap();
        assert_eq!(found.raw_os_error(), Some(5));
        for said in ["a fault", "(os error x)", "os error 5"] {
            assert!(refusal_in(&TantivyError::InternalError(said.to_owned())).is_none(), "{said}");
        }
    }

    /// With forged checksums, any change gets here. Most changes are harmless; those on which the library panics must
    /// be errors.
    #[test]
    fn a_file_with_any_byte_changed_is_read_or_an_error() {
        let folder = tempfile::tempdir().unwrap();
        index_of(folder.path(), &["bridg river bridg", "river mill", "mill"].map(str::to_owned));
        let files = held(folder.path());
        let mut refused = 0;
        for name in files.keys() {
            let path = folder.path().join(name);
            let whole = std::fs::read(&path).unwrap();
            for at in 0..whole.len() {
                let mut changed = whole.clone();
                changed[at] ^= 0x81;
                std::fs::write(&path, &changed).unwrap();
                let read = TextIndex::open(folder.path(), held(folder.path()), 3).and_then(|index| {
                    index.frequency("river")?;
                    index.check()
                });
                refused += usize::from(read.is_err());
            }
            std::fs::write(&path, &whole).unwrap();
        }
        assert!(refused > 0);
    }

    #[test]
    fn a_text_that_the_version_does_not_have_is_never_visited() {
        let folder = tempfile::tempdir().unwrap();
        let texts = ["a".to_owned(), "a".to_owned()];
        let mut index = index_of(folder.path(), &texts);
        assert!(index.check().is_ok());
        index.count = 1;
        let mut visited = Vec::new();
        let read = index.postings("a", &mut |text, _| visited.push(text));
        assert!(matches!(read, Err(Error::Corrupt { .. })) && visited == [0]);
        assert!(index.check().is_err());
    }

    #[test]
    fn an_index_of_another_number_of_texts_is_corrupt() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 2, &|_, terms| terms.push('a'), &Cancellation::default()).unwrap();
        assert!(matches!(TextIndex::open(folder.path(), held(folder.path()), 3), Err(Error::Corrupt { .. })));
    }
}
