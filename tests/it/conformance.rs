//! What every store that answers questions must guarantee: one set of checks, run on each. A further implementation of
//! [`GraphReader`] is one more line in one of the two tests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cairn::graph::ordinal::{DocumentOrdinal, IncomingOrdinal, Ordinal as _, OutgoingOrdinal, PassageOrdinal};
use cairn::graph::vectors::NO_ROW;
use cairn::neo4j::{DatabaseGraph, Traversal, TraversalOptions};
use cairn::store::{
    DocumentText, Follow, GraphReader, GraphSource as _, OfAll, Recognized, TextField, VectorField, Vectors, Wanted,
    terms,
};
use cairn::workspace::Snapshot;

use crate::support::neo4j::harbor_database;
use crate::support::{Cli, workspace};

use super::neo4j::write_harbor;

/// Which texts a store has loaded, and whether it can fetch others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Texts {
    All,
    /// Some, at least this many; it fetches others on request.
    Some(usize),
    /// None at all: it only has the structure.
    None,
}

/// Checks a store against the snapshot that it presents.
fn check(reader: &dyn GraphReader, kept: &Snapshot, texts: Texts) {
    let offered: BTreeSet<PassageOrdinal> = kept.graph().passages().filter(|it| reader.passage(*it).is_ok()).collect();
    let passages = kept.passage_count() as usize;
    let least = match texts {
        Texts::All => passages,
        Texts::Some(least) => least,
        Texts::None => 0,
    };
    assert!(offered.len() >= least && (texts != Texts::None || offered.is_empty()), "{} of {passages}", offered.len());
    check_structure(reader, kept);
    check_terms(reader, kept, &offered);
    check_vectors(reader, kept, &offered);
    let all: Vec<PassageOrdinal> = kept.graph().passages().collect();
    let prepared = reader.prepare(&all);
    assert_eq!(prepared.is_ok() && reader.passage(all[0]).is_ok(), texts != Texts::None);
    for passage in all.into_iter().filter(|_| texts != Texts::None) {
        assert_eq!(reader.passage(passage).unwrap(), kept.passage(passage).unwrap());
    }
    // Texts that were fetched for display do not affect what a question compares.
    check_terms(reader, kept, &offered);
}

/// The arrays are those that were published, and everything that is counted has a name.
fn check_structure(reader: &dyn GraphReader, kept: &Snapshot) {
    let (graph, counts) = (reader.graph(), reader.counts());
    for ((name, held), (_, kept)) in graph.sections().into_iter().zip(kept.graph().sections()) {
        assert!(held == kept, "the array `{name}` differs: {} and {} bytes", held.len(), kept.len());
    }
    assert_eq!((counts, reader.embedder()), (kept.counts(), kept.embedder()));
    let held = [
        (graph.document_count(), counts.documents),
        (graph.passage_count(), counts.passages),
        (graph.sentence_count(), counts.sentences),
        (graph.incoming_passage.len(), counts.incoming),
        (graph.edge_target.len(), counts.edges),
        (graph.entity_documents.len(), counts.entities),
    ];
    assert!(held.iter().all(|(held, counted)| *held as u64 == *counted), "{held:?}");
    for passage in PassageOrdinal::first(counts.passages as usize) {
        assert_eq!(reader.passage_id(passage), kept.passage_id(passage));
        let bounded = [
            graph.passage_sentences.of(passage).range().end <= graph.sentence_passage.len(),
            graph.passage_incoming.of(passage).range().end <= graph.incoming_passage.len(),
            graph.passage_edges.of(passage).range().end <= graph.edge_target.len(),
            graph.passage_mentions.of(passage).range().end <= graph.mention_entity.len(),
            graph.passage_document[passage].index() < graph.document_count(),
        ];
        assert_eq!(bounded, [true; 5], "passage {passage}");
    }
    for document in DocumentOrdinal::first(counts.documents as usize) {
        assert_eq!(reader.document(document).unwrap(), kept.document(document).unwrap());
    }
    assert!(IncomingOrdinal::first(counts.incoming as usize).all(|it| reader.incoming(it) == kept.incoming(it)));
    assert!(OutgoingOrdinal::first(counts.outgoing as usize).all(|it| reader.outgoing(it) == kept.outgoing(it)));
}

/// Postings are those of the loaded texts, counted again; frequencies are those of the whole version.
fn check_terms(reader: &dyn GraphReader, kept: &Snapshot, offered: &BTreeSet<PassageOrdinal>) {
    let mut expected: BTreeMap<(bool, String), Vec<(u32, u32)>> = BTreeMap::new();
    let graph = kept.graph();
    let mut put = |is_sentence: bool, ordinal: u32, terms: &[String]| {
        let mut counts: BTreeMap<&String, u32> = BTreeMap::new();
        for term in terms {
            *counts.entry(term).or_default() += 1;
        }
        for (term, count) in counts {
            expected.entry((is_sentence, term.clone())).or_default().push((ordinal, count));
        }
    };
    for passage in offered {
        let shown = kept.passage(*passage).unwrap();
        let document = kept.document(graph.passage_document[*passage]).unwrap();
        let title = document.title.as_deref().map(terms).unwrap_or_default();
        let mut whole = [title.clone(), title.clone()].concat();
        for (sentence, span) in graph.passage_sentences.of(*passage).zip(&shown.sentences) {
            let own = terms(&shown.text[span.start as usize..span.end as usize]);
            put(true, sentence.number(), &[&title[..], &own].concat());
            whole.extend(own);
        }
        put(false, passage.number(), &whole);
    }
    let mut count = 0;
    kept.each_term(&mut |term, in_passages, in_sentences| {
        for (field, is_sentence, due) in
            [(TextField::Passage, false, in_passages), (TextField::Sentence, true, in_sentences)]
        {
            assert_eq!(reader.frequency(field, term).unwrap(), due as usize, "{term}");
            let mut found = Vec::new();
            reader.postings(field, term, &mut |ordinal, times| found.push((ordinal, times))).unwrap();
            assert!(found.is_sorted_by(|a, b| a.0 < b.0), "{term}: {found:?}");
            let expected = expected.get(&(is_sentence, term.to_owned())).cloned().unwrap_or_default();
            assert_eq!(found, expected, "{term} in {field:?}");
        }
        count += 1;
    })
    .unwrap();
    assert!(count > 1_000, "{count} terms");
    let unknown = "no such term";
    assert_eq!(reader.frequency(TextField::Passage, unknown).unwrap(), 0);
    reader.postings(TextField::Passage, unknown, &mut |_, _| panic!("a text has no such term")).unwrap();
}

/// Every loaded vector equals that of the version; passages and sentences have vectors if their texts are loaded.
fn check_vectors(reader: &dyn GraphReader, kept: &Snapshot, offered: &BTreeSet<PassageOrdinal>) {
    let graph = kept.graph();
    for (field, items) in [
        (VectorField::Passage, graph.passage_count()),
        (VectorField::Sentence, graph.sentence_count()),
        (VectorField::Incoming, graph.incoming_passage.len()),
    ] {
        let (held, kept) = (reader.vectors(field).unwrap(), kept.vectors(field).unwrap());
        assert_eq!(held.codes.len(), held.scales.len() * held.dimension, "{field:?}");
        assert!(held.dimension == kept.dimension || held.scales.is_empty(), "{field:?}");
        assert!(held.rows.map_or(held.scales.is_empty() || held.scales.len() == items, |rows| rows.len() == items));
        for item in 0..items {
            let (vector, due) = (vector(held, item), vector(kept, item));
            let passage = match field {
                VectorField::Passage => Some(PassageOrdinal::at(item)),
                VectorField::Sentence => Some(graph.sentence_passage.items()[item]),
                // A store only needs those near the question.
                VectorField::Incoming => None,
            };
            match passage {
                Some(passage) => assert_eq!(vector, due.filter(|_| offered.contains(&passage)), "{field:?} {item}"),
                None => assert!(vector.is_none() || is_near(vector, due), "{field:?} {item}"),
            }
        }
    }
}

fn vector(vectors: Vectors<'_>, item: usize) -> Option<(f32, &[i8])> {
    let row =
        vectors.rows.map_or(Some(item), |rows| Some(rows[item] as usize).filter(|row| *row != NO_ROW as usize))?;
    Some((*vectors.scales.get(row)?, &vectors.codes[row * vectors.dimension..][..vectors.dimension]))
}

/// Returns whether two vectors are equal up to rounding: one may have been stored as floats.
fn is_near(a: Option<(f32, &[i8])>, b: Option<(f32, &[i8])>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return false };
    let value = |it: (f32, &[i8]), at: usize| it.0 * f32::from(it.1[at]);
    (0..a.1.len()).all(|at| (value(a, at) - value(b, at)).abs() < 2.0 * a.0)
}

#[test]
fn a_workspace_is_a_store() {
    let cli = Cli::new();
    write_harbor(&cli);
    cli.json(&["index", "harbor"]);
    let snapshot = workspace(&cli.folder().join(".cairn")).snapshot().unwrap();
    check(&snapshot, &snapshot, Texts::All);
}

#[test]
fn a_database_is_a_store() {
    let Some((database, cli)) = harbor_database() else { return };
    let kept = Arc::new(workspace(&cli.folder().join(".cairn")).snapshot().unwrap());
    // Only one thread may block: a store that waits for another while it fetches would wait forever.
    let runtime = tokio::runtime::Builder::new_multi_thread().max_blocking_threads(1).enable_all().build().unwrap();
    let graph = runtime.block_on(DatabaseGraph::open(&database.target(), TraversalOptions::default())).unwrap();
    let version = graph.reader().version();
    let (words, vector) = (["bridge".to_owned()], first_vector(&kept));
    let nothing = Wanted {
        words: &[],
        keywords: None,
        vector: &[],
        names: &[],
        recognize: &|_| Recognized::default(),
        filter: None,
        by_edges: true,
        follow: Follow::Names,
        of_all: OfAll::Nothing,
        scan: None,
        top_k: 10,
    };
    let few = |document: &DocumentText| document.document.as_bytes()[0] < 64;
    let excerpt = |wanted: Wanted<'_>| runtime.block_on(graph.excerpt(version, wanted)).unwrap();
    let asked = Wanted { words: &words, vector: &vector, ..nothing };
    for (name, reader, texts) in [
        ("structure", graph.reader(), Texts::None),
        ("excerpt of a question", excerpt(asked), Texts::Some(20)),
        ("excerpt behind a filter", excerpt(Wanted { filter: Some(&few), ..asked }), Texts::Some(5)),
        ("excerpt of everything", excerpt(Wanted { filter: Some(&|_| true), ..asked }), Texts::All),
        ("excerpt of nothing", excerpt(nothing), Texts::Some(0)),
    ] {
        let kept = Arc::clone(&kept);
        let checked = runtime.spawn_blocking(move || check(reader.as_ref(), &kept, texts));
        runtime.block_on(checked).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let options = TraversalOptions { traversal: Traversal::Cypher, ..TraversalOptions::default() };
    let graph = runtime.block_on(DatabaseGraph::open(&database.target(), options)).unwrap();
    for wanted in
        [asked, Wanted { filter: Some(&few), ..asked }, Wanted { follow: Follow::Questions, ..asked }, nothing]
    {
        let part = runtime.block_on(graph.excerpt(version, wanted)).unwrap();
        check_part(part.as_ref(), &kept);
    }
}

/// Checks a store that gives new numbers to a part of a version against the snapshot.
fn check_part(reader: &dyn GraphReader, kept: &Snapshot) {
    assert_eq!((reader.counts(), reader.embedder()), (kept.counts(), kept.embedder()));
    let (graph, numbers) = (reader.graph(), kept.graph().passages().map(|it| (kept.passage_id(it), it)));
    let numbers: BTreeMap<_, _> = numbers.collect();
    let passages = reader.excerpt().unwrap();
    let known: Vec<PassageOrdinal> = passages.iter().map(|it| numbers[&reader.passage_id(*it)]).collect();
    assert!(known.is_sorted(), "passages stand in the order of the index");
    for (own, known) in passages.iter().zip(known) {
        assert_eq!(reader.passage(*own).unwrap(), kept.passage(known).unwrap());
        let [held, due] = [(graph, *own), (kept.graph(), known)].map(|(graph, it)| graph.passage_document[it]);
        assert_eq!(reader.document(held).unwrap(), kept.document(due).unwrap());
        let [held, due] = [(graph, *own), (kept.graph(), known)].map(|(graph, it)| graph.passage_length[it]);
        assert_eq!(held, due);
        let (held, due) = (reader.vectors(VectorField::Passage).unwrap(), kept.vectors(VectorField::Passage).unwrap());
        assert_eq!(vector(held, own.index()), vector(due, known.index()));
    }
    for field in [TextField::Passage, TextField::Sentence] {
        assert_eq!(reader.frequency(field, "bridge").unwrap(), kept.frequency(field, "bridge").unwrap());
        assert!((reader.mean_length(field) - kept.mean_length(field)).abs() < 1e-4);
    }
}

/// Returns a vector such as a question may have.
fn first_vector(kept: &Snapshot) -> Vec<f32> {
    let vectors = kept.vectors(VectorField::Passage).unwrap();
    let codes = &vectors.codes[..vectors.dimension];
    codes.iter().map(|code| vectors.scales[0] * f32::from(*code)).collect()
}
