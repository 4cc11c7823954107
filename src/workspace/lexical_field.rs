//! An open lexical field of a version: one segment, or two, the second with later changes. The results are the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::graph_file::SegmentsFile;
use super::text_index::TextIndex;
use super::version_files::HeldFile;
use super::{ADDED_PASSAGE_TERMS, ADDED_SENTENCE_TERMS, PASSAGE_TERMS, SEGMENTS, SENTENCE_TERMS};
use crate::error::{Error, Result};
use crate::graph::segments::{FieldSegments, GONE};
use crate::store::TextField;

/// Returns the paths of a field's segments in the folder of a version.
fn folders(field: TextField) -> [&'static str; 2] {
    match field {
        TextField::Passage => [PASSAGE_TERMS, ADDED_PASSAGE_TERMS],
        TextField::Sentence => [SENTENCE_TERMS, ADDED_SENTENCE_TERMS],
    }
}

/// The files of a segment, by their names in its folder.
pub(super) type SegmentFiles = BTreeMap<PathBuf, Arc<HeldFile>>;

/// One lexical field: which texts have a term, and how often.
#[derive(Debug)]
pub(super) struct LexicalField {
    field: TextField,
    version: PathBuf,
    first: TextIndex,
    changes: Option<Changes>,
}

/// Changes since the first segment was written.
#[derive(Debug)]
struct Changes {
    segments: Arc<SegmentsFile>,
    second: TextIndex,
}

impl LexicalField {
    /// Opens a field of `count` texts in the folder of a version. `below` finds the files of a folder in it; if there
    /// are changes, `segments` says which texts are in which segment.
    pub(super) fn open(
        field: TextField,
        version: &Path,
        below: &dyn Fn(&str) -> SegmentFiles,
        segments: Option<&Arc<SegmentsFile>>,
        count: usize,
    ) -> Result<Self> {
        let [first, second] = folders(field);
        let open = |name: &str, count| TextIndex::open(&version.join(name), below(name), count);
        let version_folder = version.to_owned();
        let Some(file) = segments else {
            if !below(second).is_empty() {
                let reason = "it has recent texts, but not their numbers".to_owned();
                return Err(Error::Corrupt { path: version.join(second), reason });
            }
            return Ok(Self { field, version: version_folder, first: open(first, count)?, changes: None });
        };
        let segments = of_field(file, field);
        let (first, second) = (open(first, segments.first.len())?, open(second, segments.second.len())?);
        Ok(Self {
            field,
            version: version_folder,
            first,
            changes: Some(Changes { segments: Arc::clone(file), second }),
        })
    }

    /// Calls `visit` with the ordinal of every text that has `term`, and how often it has it, by ascending ordinal.
    pub(super) fn postings(&self, term: &str, visit: &mut dyn FnMut(u32, u32)) -> Result<()> {
        let Some(Changes { segments, second }) = &self.changes else { return self.first.postings(term, visit) };
        let segments = of_field(segments, self.field);
        let mut added = Vec::new();
        second.postings(term, &mut |text, count| added.push((segments.second[text as usize], count)))?;
        let mut added = added.into_iter().peekable();
        self.first.postings(term, &mut |text, count| {
            let text = segments.first[text as usize];
            if text == GONE {
                return;
            }
            while let Some((before, count)) = added.next_if(|it| it.0 < text) {
                visit(before, count);
            }
            visit(text, count);
        })?;
        added.for_each(|(text, count)| visit(text, count));
        Ok(())
    }

    /// Returns how many texts have `term`.
    pub(super) fn frequency(&self, term: &str) -> Result<usize> {
        let first = self.first.frequency(term)?;
        let Some(Changes { segments, second }) = &self.changes else { return Ok(first) };
        let gone = of_field(segments, self.field).gone(term) as usize;
        Ok(first.saturating_sub(gone) + second.frequency(term)?)
    }

    /// Calls `visit` with every term and how many texts have it, in the order of the terms' bytes.
    pub(super) fn each_term(&self, visit: &mut dyn FnMut(&str, u32)) -> Result<()> {
        let Some(Changes { segments, second }) = &self.changes else { return self.first.each_term(visit) };
        let segments = of_field(segments, self.field);
        let mut added = Vec::new();
        second.each_term(&mut |term, count| added.push((term.to_owned(), count)))?;
        let (mut added, mut gone) = (added.into_iter().peekable(), segments.gone_terms().peekable());
        self.first.each_term(&mut |term, count| {
            while let Some((before, count)) = added.next_if(|it| *it.0 < *term) {
                visit(&before, count);
            }
            while gone.next_if(|it| it.0 < term).is_some() {}
            let gone = gone.next_if(|it| it.0 == term).map_or(0, |it| it.1);
            let came = added.next_if(|it| it.0 == term).map_or(0, |it| it.1);
            let live = count.saturating_sub(gone) + came;
            if live > 0 {
                visit(term, live);
            }
        })?;
        added.for_each(|(term, count)| visit(&term, count));
        Ok(())
    }

    /// Reads all of it, as searches would, and counts the texts of each term.
    pub(super) fn check(&self) -> Result<()> {
        self.first.check()?;
        let Some(Changes { second, .. }) = &self.changes else { return Ok(()) };
        second.check()?;
        let mut terms = Vec::new();
        self.first.each_term(&mut |term, _| terms.push(term.to_owned()))?;
        second.each_term(&mut |term, _| terms.push(term.to_owned()))?;
        for term in terms {
            let (due, mut found) = (self.frequency(&term)?, 0);
            self.postings(&term, &mut |_, _| found += 1)?;
            if found != due {
                let reason = format!("{found} texts have `{}`, and it counts {due}", term.escape_debug());
                return Err(Error::Corrupt { path: self.version.join(SEGMENTS), reason });
            }
        }
        Ok(())
    }
}

fn of_field(file: &SegmentsFile, field: TextField) -> FieldSegments<'_> {
    match field {
        TextField::Passage => file.segments().passages(),
        TextField::Sentence => file.segments().sentences(),
    }
}
