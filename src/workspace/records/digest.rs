//! Digests of the records. Each is kept beside its row and compared whenever the row is read: the database has no
//! checksums of its own, and a damaged text must not become a quotation.
//!
//! They cover values, not bytes in the file: equal documents have equal digests on every machine.

use super::unit::{DocumentUnit, Mark};
use super::{Manifest, migrate};
use crate::domain::{NamePair, PassageId, PositionMark, Positions, PseudoQuery, RemovedDocument, Skip, Span, Spent};

/// The first half of a blake3 hash, as in ids.
pub(super) type Digest = [u8; 16];

/// Parts of a digest's input, each with its length, so that different lists of parts give different bytes.
struct Parts(blake3::Hasher);

impl Parts {
    fn new(kind: &str) -> Self {
        let mut parts = Self(blake3::Hasher::new());
        parts.text(kind);
        parts
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    fn number(&mut self, number: u64) -> &mut Self {
        self.0.update(&number.to_le_bytes());
        self
    }

    /// A text that may be absent, which differs from an empty one.
    fn maybe(&mut self, text: Option<&str>) -> &mut Self {
        self.number(u64::from(text.is_some())).text(text.unwrap_or_default())
    }

    fn span(&mut self, span: Span) -> &mut Self {
        self.number(span.start.into()).number(span.end.into())
    }

    fn marks(&mut self, marks: &[PositionMark]) {
        self.number(marks.len() as u64);
        for mark in marks {
            self.number(mark.offset.into()).number(mark.number.into());
        }
    }

    fn finish(&self) -> Digest {
        let mut digest = Digest::default();
        let size = digest.len();
        digest.copy_from_slice(&self.0.finalize().as_bytes()[..size]);
        digest
    }
}

/// Returns the digest of a document with its passages; their questions have one for each passage, since a model may
/// write them later.
pub(super) fn document(unit: &DocumentUnit) -> Digest {
    let DocumentUnit { root, content, fingerprint: _, document, passages } = unit;
    let mut parts = Parts::new("document");
    parts.text(root).bytes(content).bytes(document.id.as_bytes()).text(&document.source_id);
    parts.maybe(document.title.as_deref()).text(&document.uri).text(&document.media_type).text(&document.text);
    parts.number(document.metadata.len() as u64);
    for (key, value) in &document.metadata {
        parts.text(key).text(value);
    }
    match &document.positions {
        // A document without has the digest that it had before there were any.
        Positions::None => {}
        Positions::Lines(marks) => parts.text("lines").marks(marks),
        Positions::Pages(marks) => parts.text("pages").marks(marks),
    }
    parts.number(passages.len() as u64);
    for passage in passages.iter().map(|it| &it.passage) {
        parts.bytes(passage.id.as_bytes()).number(passage.ordinal.into()).span(passage.span);
        parts.maybe(passage.section.as_deref()).number(passage.sentences.len() as u64);
        for sentence in &passage.sentences {
            parts.span(*sentence);
        }
    }
    parts.finish()
}

/// Returns the digest of the questions of a passage, and of what wrote them.
pub(super) fn questions(passage: PassageId, writer: Option<&str>, questions: &[PseudoQuery]) -> Digest {
    let mut parts = Parts::new("questions");
    parts.bytes(passage.as_bytes()).maybe(writer).number(questions.len() as u64);
    for PseudoQuery { id, passage: _, kind, origin, text, keywords, sentence } in questions {
        parts.bytes(id.as_bytes()).number(*kind as u64).number(origin.code().into()).number((*sentence).into());
        parts.text(text).number(keywords.len() as u64);
        for keyword in keywords.iter() {
            parts.text(keyword);
        }
    }
    parts.finish()
}

/// Returns the digest of what `writer` found in a passage, which is JSON as it is kept.
pub(super) fn extraction(passage: PassageId, writer: &str, found: &str) -> Digest {
    Parts::new("extraction").bytes(passage.as_bytes()).text(writer).text(found).finish()
}

/// Returns the digest of the types of entities that `writer` proposed, which are JSON as it is kept.
pub(super) fn entity_types(writer: &str, types: &str) -> Digest {
    Parts::new("entity types").text(writer).text(types).finish()
}

/// Returns the digest of the report that `writer` wrote about something, which is JSON as it is kept.
pub(super) fn report(about: &[u8; 16], content: &[u8; 16], writer: &str, report: &str) -> Digest {
    Parts::new("report").bytes(about).bytes(content).text(writer).text(report).finish()
}

/// Returns the digest of a unit's marker.
pub(super) fn mark(mark: &Mark<'_>) -> Digest {
    let Mark { stage, key, fingerprint, state, reason, content } = mark;
    let mut parts = Parts::new("unit");
    parts.text(stage).bytes(*key).text(fingerprint).number((*state).into()).maybe(*reason);
    parts.bytes(content.as_ref().map_or(&[], Digest::as_slice)).finish()
}

/// Returns the digest of the manifest.
pub(super) fn manifest(manifest: &Manifest, format: u32, place: Option<&str>) -> Digest {
    let Manifest { collection, embedder, dimension, chunking, is_changed, current } = manifest;
    let mut parts = Parts::new("manifest");
    parts.number(format.into()).bytes(collection.as_bytes()).text(embedder).number(*dimension as u64).maybe(place);
    parts.maybe(chunking.as_deref()).number(u64::from(*is_changed));
    parts.number(u64::from(current.is_some())).number(current.map_or(0, |version| version.0)).finish()
}

/// Returns the digest of a version's row, whose counts and files are JSON as it is kept.
pub(super) fn version(version: u64, created_at: &str, counts: &str, files: &str) -> Digest {
    Parts::new("version").number(version).text(created_at).text(counts).text(files).finish()
}

/// Returns the digest of something that a run left out.
pub(super) fn skip(skip: &Skip) -> Digest {
    Parts::new("skip").text(&skip.source).text(&skip.reason).finish()
}

/// Returns the digest of a merge or split of two names.
pub(super) fn name_pair(NamePair { one, other, verdict }: &NamePair) -> Digest {
    Parts::new("names").text(one).text(other).number(*verdict as u64).finish()
}

/// Returns the digest of a removed document.
pub(super) fn removed(RemovedDocument { id, source_id, uri }: &RemovedDocument) -> Digest {
    Parts::new("removed").bytes(id.as_bytes()).text(source_id).text(uri).finish()
}

/// Returns the digest of the cost of a model.
pub(super) fn spending(model: &str, spent: &Spent) -> Digest {
    // Calls without a reply have a row of their own.
    let Spent { calls, cached, lost: _, usage, cost } = spent;
    let mut parts = Parts::new("spending");
    parts.text(model).number(*calls).number(*cached).number(usage.input_tokens).number(usage.output_tokens);
    parts.number(u64::from(usage.is_estimated)).maybe(cost.as_ref().map(|cost| cost.currency.as_str()));
    parts.number(cost.as_ref().map_or(0, |cost| cost.amount.to_bits())).finish()
}

/// Returns whether a kept digest matches the data read; records of the format without digests have none.
pub(super) fn is_right(format: u32, kept: Option<Digest>, read: impl FnOnce() -> Digest) -> bool {
    if format == migrate::WITHOUT_DIGESTS { true } else { kept == Some(read()) }
}
