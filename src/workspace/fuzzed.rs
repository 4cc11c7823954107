//! Opens a single file of a version and reads all of it, for the fuzz target of index files.

use std::path::Path;
use std::sync::Arc;

use super::FileAccess;
use super::graph_file::{
    DescriptionsFile, GraphFile, HierarchyFile, MatchesFile, NamesFile, ResolutionFile, SegmentsFile,
};
use super::stamp::{Stamp, StampedFile};
use super::texts::{TextCounts, TextsFile};
use super::vectors::VectorsFile;
use super::version_files::HeldFile;
use crate::graph::descriptions::Described;
use crate::graph::ordinal::{
    CommunityOrdinal, DocumentOrdinal, EntityOrdinal, IncomingOrdinal, MentionOrdinal, Ordinal as _, Ordinals,
    OutgoingOrdinal, PassageOrdinal, RelationOrdinal, SummaryOrdinal,
};
use crate::graph::packed::text_at;
use crate::graph::segments::GONE;
use crate::store::VectorField;

/// Values of the vectors in the corpus: those of the built-in embedder.
const DIMENSION: usize = 256;

/// Opens the file `name` in `folder` as `graph.bin`, `texts.bin`, `vectors.bin`, `hierarchy.bin`, `resolution.bin`,
/// `descriptions.bin`, `matches.bin`, `segments.bin` or `names.bin`, by a number, and reads all of it; returns whether
/// it is valid for as many documents, passages, sentences, in-coming and out-coming questions as `counts` says. For
/// hierarchy, resolution and descriptions, the first number is that of entities; `resolution.bin` has documents in
/// place of passages, and `descriptions.bin` is followed by mentions, sentences, relations and communities. For
/// `names.bin`, the third is that of entities, and the fourth that of sentences. The checksum of the file is always
/// right.
pub(crate) fn open_file(kind: usize, folder: &Path, name: &str, counts: [usize; 5]) -> bool {
    let Ok(stamp) = Stamp::of(&folder.join(name)) else { return false };
    let due = StampedFile { path: name.to_owned(), stamp, blocks: None };
    let Ok(file) = HeldFile::open(folder, &due, FileAccess::Read) else { return false };
    let file = Arc::new(file);
    let [documents, passages, sentences, incoming, outgoing] = counts;
    match kind % 9 {
        0 => GraphFile::open(&file, outgoing).is_ok_and(|file| walk(&file)),
        1 => {
            let counts = TextCounts { documents, passages, sentences, incoming, outgoing };
            TextsFile::open(&file, counts).is_ok_and(|file| read(&file, counts))
        }
        3 => HierarchyFile::open(&file, documents, sentences).is_ok_and(|file| climb(&file, documents, sentences)),
        4 => ResolutionFile::open(&file, [documents, passages, sentences]).is_ok_and(|file| resolve(&file, passages)),
        5 => {
            let [entities, mentions, sentences, relations, communities] = counts;
            // They have no count of their own: as many as there are entities.
            let described = Described { entities, mentions, relations, communities, summaries: entities, sentences };
            DescriptionsFile::open(&file, described).is_ok_and(|file| describe(&file, described))
        }
        6 => MatchesFile::open(&file, incoming, outgoing).is_ok_and(|file| {
            let matches = file.matches();
            matches.matched().all(|it| it.incoming.index() < incoming && it.outgoing.index() < outgoing)
        }),
        7 => SegmentsFile::open(&file, passages, sentences).is_ok_and(|file| {
            let fields = [(file.segments().passages(), passages), (file.segments().sentences(), sentences)];
            fields.iter().all(|(field, count)| {
                let live = field.first.iter().filter(|text| **text != GONE).count() + field.second.len();
                live == *count && field.gone_terms().all(|(term, gone)| field.gone(term) == gone)
            })
        }),
        8 => NamesFile::open(&file, [documents, passages, sentences, incoming]).is_ok_and(|file| {
            let names = file.names();
            let lower =
                PassageOrdinal::first(passages).map(|it| names.lower_entity.of(names.passage_lower.of(it)).len());
            lower.sum::<usize>() == names.lower_entity.len()
        }),
        // Also as the vectors added to itself.
        _ => {
            let counts = [passages, sentences, incoming, outgoing];
            let is_read =
                |added| VectorsFile::open(&file, added, DIMENSION, counts).is_ok_and(|file| compare(&file, counts));
            [None, Some(&file)].map(is_read).contains(&true)
        }
    }
}

/// Reads the vector of every item.
fn compare(file: &VectorsFile, counts: [usize; 4]) -> bool {
    let fields = [VectorField::Passage, VectorField::Sentence, VectorField::Incoming].map(|it| file.vectors(it));
    // An earlier program kept none of out-coming questions.
    let outgoing = file.outgoing().map_or(0, |vectors| vectors.len());
    let counts = counts[..3].iter().copied().chain([outgoing]);
    fields.iter().chain([&file.outgoing()]).zip(counts).all(|(vectors, count)| {
        vectors.as_ref().is_ok_and(|vectors| {
            vectors.len() == count && (0..count as u32).all(|item| vectors.codes(item).len() == DIMENSION)
        })
    })
}

/// Follows every row and every number without checks, as a walk does.
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

/// Follows relations, communities and layers without checks, as their readers do.
fn climb(file: &HierarchyFile, entities: usize, sentences: usize) -> bool {
    let hierarchy = file.hierarchy();
    for ([from, to], _, said) in hierarchy.relations() {
        assert!(from.index() < entities && to.index() < entities);
        assert!(said.is_none_or(|said| said.index() < sentences));
    }
    for community in hierarchy.communities() {
        assert!(hierarchy.parent(community).is_none_or(|parent| parent < community));
        assert!(hierarchy.members(community).iter().all(|member| member.index() < entities));
        assert!(hierarchy.findings(community).iter().all(|finding| finding.index() < sentences));
        assert!(hierarchy.title(community).len() <= hierarchy.community_titles.len());
    }
    for summary in hierarchy.summaries() {
        let below = if hierarchy.summary_layer[summary] == 1 { entities } else { summary.index() };
        assert!(hierarchy.summarized(summary).all(|(member, _)| (member as usize) < below));
        assert!(hierarchy.sentences(summary).iter().all(|sentence| sentence.index() < sentences));
        assert!(hierarchy.summary_name(summary).len() <= hierarchy.summary_names.len());
    }
    let counts = hierarchy.counts();
    let smallest = hierarchy.smallest_communities();
    let layers = (1..=counts.layers as u32).map(|layer| hierarchy.sparsity(layer, entities));
    smallest.len() <= entities && layers.count() as u64 == counts.layers
}

/// Looks up the entity of each name in each document.
fn resolve(file: &ResolutionFile, documents: usize) -> bool {
    let resolution = file.resolution();
    let entities = resolution.entity_canonical.len();
    for entity in resolution.entity_canonical.ordinals() {
        for document in DocumentOrdinal::first(documents) {
            assert!(resolution.canonical(entity, document).index() < entities);
        }
        assert!(resolution.referents(entity).iter().all(|it| it.index() < entities));
        let _known = resolution.type_of(entity);
    }
    resolution.merges().all(|it| it.entity.index() < entities && it.beside.index() < entities)
}

/// Reads every description.
fn describe(file: &DescriptionsFile, described: Described) -> bool {
    let descriptions = file.descriptions();
    let Described { entities, mentions, relations, communities, summaries, sentences } = described;
    let texts = |it: Option<&str>| it.map_or(0, str::len);
    let mut bytes = 0;
    for entity in EntityOrdinal::first(entities) {
        let _found = descriptions.entity_origin(entity);
        bytes += texts(descriptions.entity_type(entity)) + texts(descriptions.entity_description(entity));
    }
    for relation in RelationOrdinal::first(relations) {
        let _found = descriptions.relation_origin(relation);
        bytes += texts(descriptions.relation_description(relation));
    }
    let _found: Vec<_> = MentionOrdinal::first(mentions).map(|it| descriptions.mention_origin(it)).collect();
    for community in CommunityOrdinal::first(communities) {
        let Some(report) = descriptions.report(community) else { continue };
        let _rating = descriptions.rating(report);
        for (text, cited) in descriptions.findings(report) {
            assert!(cited.iter().all(|it| it.index() < sentences));
            bytes += text.len();
        }
    }
    for aspect in SummaryOrdinal::first(summaries).flat_map(|it| descriptions.aspects(it)) {
        assert!(aspect.sentences.iter().all(|it| it.index() < sentences));
        bytes += aspect.name.len() + aspect.description.len() + texts(aspect.kind);
    }
    bytes < usize::MAX
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
