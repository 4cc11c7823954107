//! Opens a file of a version alone and reads all of it, for the fuzz target of index files.

use std::path::Path;
use std::sync::Arc;

use super::FileAccess;
use super::graph_file::GraphFile;
use super::stamp::{Stamp, StampedFile};
use super::texts::{TextCounts, TextsFile};
use super::vectors::VectorsFile;
use super::version_files::HeldFile;
use crate::graph::ordinal::{
    DocumentOrdinal, IncomingOrdinal, Ordinal as _, Ordinals, OutgoingOrdinal, PassageOrdinal,
};
use crate::graph::packed::text_at;
use crate::store::VectorField;

/// Values of the vectors in the corpus: those of the built-in embedder.
const DIMENSION: usize = 256;

/// Opens the file `name` in `folder` as `graph.bin`, `texts.bin` or `vectors.bin`, by a number, and reads what it
/// holds; returns whether it is one with as many documents, passages, sentences, in-coming and out-coming questions as
/// `counts` says. Its checksum is right, whatever it holds.
pub(crate) fn open_file(kind: usize, folder: &Path, name: &str, counts: [usize; 5]) -> bool {
    let Ok(stamp) = Stamp::of(&folder.join(name)) else { return false };
    let due = StampedFile { path: name.to_owned(), stamp, blocks: None };
    let Ok(file) = HeldFile::open(folder, &due, FileAccess::Read) else { return false };
    let file = Arc::new(file);
    let [documents, passages, sentences, incoming, outgoing] = counts;
    match kind % 3 {
        0 => GraphFile::open(&file, outgoing).is_ok_and(|file| walk(&file)),
        1 => {
            let counts = TextCounts { documents, passages, sentences, incoming, outgoing };
            TextsFile::open(&file, counts).is_ok_and(|file| read(&file, counts))
        }
        _ => VectorsFile::open(&file, DIMENSION, [passages, sentences, incoming, outgoing]).is_ok_and(|file| {
            let fields = [VectorField::Passage, VectorField::Sentence, VectorField::Incoming];
            let read = fields.map(|field| file.vectors(field));
            read.iter().all(|it| it.as_ref().is_ok_and(|it| it.codes.len() == it.scales.len() * DIMENSION))
        }),
    }
}

/// Follows every row and every number, as whoever walks the graph does: without looking.
fn walk(file: &GraphFile) -> bool {
    let graph = file.graph();
    for document in graph.documents() {
        for passage in graph.document_passages.of(document) {
            let sentences = graph.passage_sentences.of(passage);
            assert!(graph.sentence_passage.of(sentences).len() <= graph.sentence_count());
            for edge in graph.passage_edges.of(passage) {
                let target = graph.edge_target[edge];
                let document = graph.passage_document[target];
                assert!(graph.document_passages.of(document).len() <= graph.passage_count());
                for keyword in graph.edge_keywords.of(edge) {
                    let text = text_at(&graph.keyword_ends, &graph.keyword_texts, graph.edge_keyword[keyword]);
                    assert!(text.len() <= graph.keyword_texts.len());
                }
            }
            for mention in graph.passage_mentions.of(passage) {
                let entity = graph.mention_entity[mention];
                assert!(graph.entity_name(entity).len() <= graph.entity_names.len());
                for posting in graph.entity_mentions.of(entity) {
                    assert!(graph.posting_passage[posting].index() < graph.passage_count());
                }
            }
        }
    }
    true
}

fn read(file: &TextsFile, counts: TextCounts) -> bool {
    let is_read = |what: crate::error::Result<()>| what.is_ok();
    let documents = DocumentOrdinal::first(counts.documents).all(|it| is_read(file.document(it).map(drop)));
    let passages = PassageOrdinal::first(counts.passages)
        .all(|it| is_read(file.passage(it, Ordinals::between(0, counts.sentences as u32)).map(drop)));
    let incoming: usize = IncomingOrdinal::first(counts.incoming).map(|it| file.incoming(it).len()).sum();
    let outgoing: usize = OutgoingOrdinal::first(counts.outgoing).map(|it| file.outgoing(it).len()).sum();
    documents && passages && incoming + outgoing < usize::MAX
}
