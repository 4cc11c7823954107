//! Files that workers read, and files inside them: each is read as if it were in the folder, under a name such as
//! `docs.zip!a/b.html`.

use std::path::Path;
use std::sync::Arc;

use super::extracted::Part;
use super::formats::{self, Format, HEAD_BYTES, Parser};
use super::place::Place;
use super::plain;
use super::reader::{Content, Reader, parse_text};
use super::walk::extensions;
use super::worker::{File, Format as GuardedFormat, LeftOut, Piece, convert};
use crate::domain::{PAGE_END, PositionMark, Positions, Skip};
use crate::error::Result;
use crate::ingest::SourceItem;

/// Archives inside each other at most.
const ARCHIVE_DEPTH_MAX: usize = 3;

impl Reader<'_> {
    /// Lets a worker read the file that was noted last.
    pub(super) fn guarded(
        &mut self,
        root: &str,
        bytes: Vec<u8>,
        format: &'static Format,
        guarded: GuardedFormat,
    ) -> Result<()> {
        let (workers, name) = (Arc::clone(&self.workers), self.name());
        let file = File { format: guarded, name: &name, bytes, rows: self.options.rows };
        match workers.read(file, &mut |piece| self.piece(root, piece, format))? {
            Ok(()) => Ok(()),
            Err(reason) => self.unread_at(Place::File, reason),
        }
    }

    fn piece(&mut self, root: &str, piece: Piece, format: &'static Format) -> Result<()> {
        match piece {
            Piece::Document { within, extracted } => {
                self.part(root, Part { address: within, content: Ok(extracted) }, format)
            }
            Piece::Member { name, bytes } => self.member(root, &name, bytes),
            // Left out of a document that is read nevertheless.
            Piece::Left(LeftOut { name, reason }) if name.is_empty() => {
                let source = self.name();
                (self.visit)(SourceItem::Shortened(Skip { source, reason }))
            }
            Piece::Left(LeftOut { name, reason }) => {
                let file = self.name();
                let shown = inside(&file, &name);
                self.unread(file, shown, reason)
            }
        }
    }

    /// Reads a file that is inside the current one.
    fn member(&mut self, root: &str, name: &str, bytes: Vec<u8>) -> Result<()> {
        let full = inside(&self.name(), name);
        let extensions = extensions(Path::new(name));
        let head = &bytes[..bytes.len().min(HEAD_BYTES)];
        let Some(format) = formats::find(head, &extensions) else {
            *self.others.entry(extensions.into_iter().next().unwrap_or_default()).or_default() += 1;
            return Ok(());
        };
        if self.files.len() as u64 >= self.options.files_max {
            self.beyond += 1;
            return Ok(());
        }
        let outer = self.current;
        self.enter(full);
        self.depth += 1;
        let is_too_deep = matches!(format.parser, Parser::Guarded(_)) && self.depth > ARCHIVE_DEPTH_MAX;
        let read = if is_too_deep {
            let reason = format!("it is nested in more than {ARCHIVE_DEPTH_MAX} archives");
            self.unread_at(Place::File, reason)
        } else {
            self.read_file(root, Content::Bytes(bytes), format)
        };
        self.depth -= 1;
        self.current = outer;
        read
    }

    /// Returns whether the user named a program for files with this extension.
    pub(super) fn has_converter(&self, extensions: &[String]) -> bool {
        extensions.first().is_some_and(|it| self.options.converters.contains_key(it))
    }

    /// Reads a file with a program that the user named for its extension.
    pub(super) fn converted(&mut self, root: &str, path: &Path, format: &'static Format) -> Result<()> {
        let extension = extensions(path).into_iter().next().unwrap_or_default();
        let content = match (&self.options.worker, self.options.converters.get(&extension)) {
            (Some(program), Some(command)) => convert(program, command, path, self.options.document_bytes_max)
                .and_then(|bytes| parse_text(bytes, plain::parse)),
            _ => Err("its converter needs a worker program, and none was named".to_owned()),
        };
        let content = content.map(|mut extracted| {
            // Programs that turn pages into text separate them with form feeds.
            if extracted.text.contains(PAGE_END) {
                extracted.positions = pages_of(&extracted.text);
            }
            extracted
        });
        self.part(root, Part { address: String::new(), content }, format)
    }
}

/// Returns the pages of a text in which form feeds separate them.
fn pages_of(text: &str) -> Positions {
    let ends = text.match_indices(PAGE_END).map(|(at, end)| at + end.len()).filter(|at| *at < text.len());
    let starts = std::iter::once(0).chain(ends).zip(1..);
    Positions::Pages(starts.map(|(offset, number)| PositionMark { offset: offset as u32, number }).collect())
}

/// Returns the name of a file inside another. A name that begins with `#` is a part of it, such as a message.
fn inside(file: &str, name: &str) -> String {
    let sign = if name.starts_with('#') { "" } else { "!" };
    format!("{file}{sign}{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_inside_another_is_named_after_it() {
        assert_eq!(inside("c.zip", "a/b.html"), "c.zip!a/b.html");
        assert_eq!(inside("c.mbox", "#3!d.pdf"), "c.mbox#3!d.pdf");
    }

    #[test]
    fn form_feeds_separate_pages() {
        let expect = Positions::Pages(vec![(0, 1).into(), (2, 2).into(), (3, 3).into()]);
        assert_eq!(pages_of("a\x0c\x0cb\x0c"), expect);
    }
}
