//! What names stand for in small collections, and what a valid file of it guarantees.

use super::*;
use crate::domain::{Cancellation, NamePair, NameVerdict, Span};
use crate::graph::mentions::{NamedDocument, NamedPassage, PackedNameStatistics, pack_mentions};
use crate::graph::packed::PackedGraph;
use crate::graph::segments::GONE;
use crate::text::sentences;

/// Names and what they stand for, in documents given by title and text.
struct Found {
    packed: PackedGraph,
    resolution: PackedResolution,
}

fn found(documents: &[(&str, &str)], asked: &[NamePair]) -> Found {
    let spans: Vec<Vec<Span>> = documents.iter().map(|(_, text)| sentences(text).map(Span::from).collect()).collect();
    let named: Vec<NamedDocument<'_>> = documents
        .iter()
        .zip(&spans)
        .map(|((title, text), sentences)| NamedDocument {
            title: Some(*title).filter(|it| !it.is_empty()),
            passages: vec![NamedPassage { text, sentences, media_type: "text/plain", extraction: None }],
        })
        .collect();
    let mut packed = PackedGraph::default();
    pack_mentions(&named, &mut packed, None, &Cancellation::default()).unwrap();
    let (resolution, _) = pack_resolution(packed.view(), &named, (asked, None), &Cancellation::default()).unwrap();
    let graph = packed.view();
    let counts = (graph.entity_name_ends.len(), graph.document_count(), graph.sentence_count());
    assert_eq!(resolution.view().check(counts.0, counts.1, counts.2), Ok(()));
    Found { packed, resolution }
}

impl Found {
    /// Returns the name of the entity that a name stands for in a document.
    fn entity(&self, name: &str, document: u32) -> &str {
        let graph = self.packed.view();
        let entity = graph.entity(name).unwrap_or_else(|| panic!("no name `{name}`"));
        graph.entity_name(self.resolution.view().canonical(entity, DocumentOrdinal(document)))
    }

    fn type_of(&self, name: &str) -> Option<NameType> {
        let entity = self.packed.view().entity(name).unwrap_or_else(|| panic!("no name `{name}`"));
        self.resolution.view().type_of(entity).map(|it| it.0)
    }

    fn reason(&self, name: &str) -> Option<Reason> {
        let graph = self.packed.view();
        self.resolution.view().merges().find(|it| graph.entity_name(it.name) == name).map(|it| it.reason)
    }
}

#[test]
fn a_last_name_stands_for_the_person_of_its_document() {
    let found = found(
        &[
            ("Ada Marlow", "Ada Marlow was a painter. Marlow showed her work in Ostby."),
            ("Marlow", "Marlow is a city. Oskar Finn lives in Marlow."),
            ("Notes", "Oskar Finn saw Marlow and Ada Marlow. Marlow greeted him."),
        ],
        &[],
    );
    assert_eq!([0, 1].map(|it| found.entity("marlow", it)), ["ada marlow", "marlow"]);
    assert_eq!([found.type_of("ada marlow"), found.type_of("ostby")], [Some(NameType::Person), None]);
}

#[test]
fn of_documents_with_one_name_each_means_its_own_and_others_that_with_which_they_share_most() {
    let found = found(
        &[
            ("Jordan Vale (architect)", "Jordan Vale drew the Heron Bridge with Mira Stenholm in Ostby."),
            ("Jordan Vale (swimmer)", "Jordan Vale won the Lunn Regatta with Petra Quist in Port Lunn."),
            ("The bridge", "The Heron Bridge was drawn by Jordan Vale and built by Mira Stenholm."),
            ("Elsewhere", "Somebody called Jordan Vale wrote a letter to Hanno Brecht."),
        ],
        &[],
    );
    let entities = [0, 1, 2, 3].map(|it| found.entity("jordan vale", it));
    assert_eq!(entities, ["jordan vale architect", "jordan vale swimmer", "jordan vale architect", "jordan vale"]);
    assert_eq!(found.reason("jordan vale"), Some(Reason::Bearer));
    assert_eq!(found.type_of("jordan vale swimmer"), Some(NameType::Person));
}

#[test]
fn letters_spellings_and_titles_stand_for_the_same_in_all_documents() {
    let found = found(
        &[
            ("Harbor Trust Union", "The Harbor Trust Union (HTU) was founded by Dr. Ines Corvin in St. Brannoc."),
            ("A strike", "The HTU called a strike in Saint Brannoc, and Ines Corvin led it."),
        ],
        &[],
    );
    assert_eq!(found.entity("htu", 1), "harbor trust union");
    assert_eq!(found.entity("st brannoc", 0), found.entity("saint brannoc", 1));
    assert_eq!(found.entity("dr ines corvin", 0), "ines corvin");
    assert_eq!(
        [found.reason("htu"), found.reason("dr ines corvin")],
        [Some(Reason::Parenthesis), Some(Reason::Honorific)]
    );
}

#[test]
fn letters_that_stand_for_different_names_are_no_name_of_either_elsewhere() {
    let found = found(
        &[
            ("Harbor Trust Union", "The Harbor Trust Union (HTU) is a union."),
            ("Halven Technical University", "The Halven Technical University (HTU) is a school."),
            ("Elsewhere", "Nobody knows what HTU means here."),
        ],
        &[],
    );
    let entities = [0, 1, 2].map(|it| found.entity("htu", it));
    assert_eq!(entities, ["harbor trust union", "halven technical university", "htu"]);
}

#[test]
fn letters_that_stand_for_one_name_elsewhere_do_not_make_another_of_it_here() {
    let found = found(
        &[
            ("Harbor Trust Union", "The Harbor Trust Union (HTU) was founded by Ines Corvin."),
            ("A hill", "The Hill Town Union met on the hill. HTU members came from Ostby."),
        ],
        &[],
    );
    assert_eq!([0, 1].map(|it| found.entity("htu", it)), ["harbor trust union", "hill town union"]);
    assert_eq!(found.entity("hill town union", 1), "hill town union");
}

#[test]
fn a_letter_stands_for_a_first_name_and_a_word_for_itself() {
    let short = |name: &str, whole: &str| super::across::is_short_for(name, whole);
    assert!(short("j marr", "joan marr") && short("j k marr", "joan kim marr") && short("joan marr", "joan kim marr"));
    assert!(
        !short("j kay marr", "joan kim marr") && !short("j marr", "j kim marr") && !short("ann marr", "ada lu marr")
    );
}

#[test]
fn a_misspelling_needs_the_same_context_and_no_sentence_with_both() {
    let company = "worked with Emil Gast at Ostby Polytechnic near Heron Bridge.";
    let (right, wrong) = (format!("Theodora Varnholt {company}"), format!("Theodora Varnhollt {company}"));
    let both = "Emil Gast met Theodora Varnholt and Theodora Varnhollt at Ostby Polytechnic near Heron Bridge.";
    let others: Vec<(String, String)> =
        (0..8).map(|it| (format!("Note {it}"), format!("Nothing {it} is said of it."))).collect();
    let with_others = |documents: &[(&str, &str)]| {
        let mut all = documents.to_vec();
        all.extend(others.iter().map(|(title, text)| (title.as_str(), text.as_str())));
        found(&all, &[])
    };
    let merged = with_others(&[("", &right), ("", &wrong)]);
    assert_eq!(merged.entity("theodora varnholt", 0), merged.entity("theodora varnhollt", 1));
    let apart = with_others(&[("", &right), ("", &wrong), ("", both)]);
    assert_ne!(apart.entity("theodora varnholt", 0), apart.entity("theodora varnhollt", 1));
    let stranger = "Theodora Varnhollt sells fish in Port Lunn to Petra Quist.";
    let apart = with_others(&[("", &right), ("", stranger)]);
    assert_ne!(apart.entity("theodora varnholt", 0), apart.entity("theodora varnhollt", 1));
}

#[test]
fn a_users_verdict_takes_precedence_over_rules() {
    let documents = [
        ("Harbor Trust Union", "The Harbor Trust Union (HTU) was founded by Ines Corvin."),
        ("Notes", "Ines Corvin, whom some call Nessa Corvo, spoke for HTU."),
    ];
    let pair = |one: &str, other: &str, verdict| NamePair { one: one.to_owned(), other: other.to_owned(), verdict };
    let asked = [
        pair("harbor trust union", "htu", NameVerdict::Apart),
        pair("ines corvin", "nessa corvo", NameVerdict::Same),
        pair("nobody", "htu", NameVerdict::Same),
    ];
    let found = found(&documents, &asked);
    assert_eq!([0, 1].map(|it| found.entity("htu", it)), ["htu", "htu"]);
    assert_eq!(found.entity("nessa corvo", 1), found.entity("ines corvin", 1));
    assert!(found.resolution.view().merges().any(|it| it.reason == Reason::Asked));
}

#[test]
fn mentions_by_entity_are_those_of_names_mapped_one_by_one() {
    let found = found(
        &[
            ("Ada Marlow", "Ada Marlow was a painter. Marlow showed her work. Dr. Ada Marlow and Marlow left Ostby."),
            ("Marlow", "Marlow is a city. Oskar Finn lives in Marlow. In Marlow he met Ada Marlow."),
        ],
        &[],
    );
    let resolution = found.resolution.view();
    let by_thing = resolved(&found.packed.view(), &resolution);
    let (names, entities) = (found.packed.view(), by_thing.view());
    for passage in names.passages() {
        let document = names.passage_document[passage];
        let mut due: Vec<_> = names
            .passage_mentions
            .of(passage)
            .map(|it| (resolution.canonical(names.mention_entity[it], document), names.mention_sentence[it]))
            .collect();
        due.sort_unstable();
        due.dedup();
        let mentions = entities.passage_mentions.of(passage);
        let is: Vec<_> = mentions.map(|it| (entities.mention_entity[it], entities.mention_sentence[it])).collect();
        assert_eq!(is, due);
    }
    for entity in entities.entity_documents.ordinals() {
        let documents =
            entities.entity_mentions.of(entity).map(|it| entities.passage_document[entities.posting_passage[it]]);
        let mut documents: Vec<_> = documents.collect();
        documents.dedup();
        assert_eq!(entities.entity_documents[entity] as usize, documents.len());
    }
    let alone = resolved(&found.packed.view(), &PackedResolution::of_names(found.packed.entity_name_ends.len()).view());
    assert_eq!((&alone.mention_entity, &alone.own_entity), (&found.packed.mention_entity, &found.packed.own_entity));
    assert_eq!(
        (&alone.bearer_document, &alone.posting_mention),
        (&found.packed.bearer_document, &found.packed.posting_mention)
    );
}

/// A name in very many documents, one that is longer than allowed, other scripts, and no text at all.
#[test]
fn hubs_long_names_other_scripts_and_empty_input_are_handled() {
    let long = "Aa".repeat(5_000);
    let hubs: Vec<(String, String)> =
        (0..40).map(|it| (format!("Hub (number {it})"), format!("Hub met Person Num{it} and {long} Hub."))).collect();
    let mut documents: Vec<(&str, &str)> = hubs.iter().map(|(title, text)| (title.as_str(), text.as_str())).collect();
    documents.push(("水磨", "水磨由艾达建造。艾达住在东城。"));
    documents.push(("الطاحونة", "بنت آدا الطاحونة عند النهر."));
    documents.push(("(HTU", "( (HTU) () (, HTU"));
    let many = found(&documents, &[]);
    assert_eq!(many.entity("hub", 7), "hub number 7");
    found(&[], &[]);
    found(&[("", "")], &[]);
}

#[test]
fn what_stands_for_nothing_or_is_out_of_order_is_found() {
    type Damage = fn(&mut PackedResolution);
    let packed = || PackedResolution {
        entity_scoped: vec![0, 0, 2, 2],
        scoped_document: [0, 1].map(DocumentOrdinal).into(),
        scoped_canonical: [0, 2].map(EntityOrdinal).into(),
        scoped_reason: vec![Reason::LastName as u32, 99],
        ..PackedResolution::of_names(3)
    };
    assert_eq!(packed().view().check(3, 2, 1), Ok(()));
    assert_eq!(packed().view().merges().count(), 1, "a code that is no reason is no merge");
    let broken: [(&str, Damage); 6] = [
        ("entity.thing", |it| it.entity_canonical = [1, 0, 2].map(EntityOrdinal).into()),
        ("entity.thing", |it| it.entity_canonical[0] = EntityOrdinal(3)),
        ("scoped.thing", |it| it.entity_canonical[2] = EntityOrdinal(1)),
        ("scoped.document", |it| it.scoped_document = [1, 0].map(DocumentOrdinal).into()),
        ("scoped.document", |it| it.scoped_document[1] = DocumentOrdinal(2)),
        ("entity.type-sentence", |it| it.entity_type_sentence[0] = SentenceOrdinal(1)),
    ];
    for (name, damage) in broken {
        let mut packed = packed();
        damage(&mut packed);
        assert_eq!(packed.view().check(3, 2, 1).map_err(|it| it.0), Err(name));
    }
}

#[test]
fn a_resolution_is_what_its_merges_say_in_any_order() {
    let found = found(
        &[
            ("Harbor Trust Union", "The Harbor Trust Union (HTU) was founded by Dr. Ines Corvin."),
            ("Halven Technical University", "The Halven Technical University (HTU) is a school. Ines Corvin led it."),
        ],
        &[],
    );
    let (entities, resolution) = (found.packed.entity_name_ends.len(), found.resolution.view());
    let mut merges: Vec<Merge> = resolution.merges().collect();
    assert!(merges.iter().any(|it| it.document.is_some()) && merges.iter().any(|it| it.document.is_none()));
    merges.reverse();
    let made = PackedResolution::of_merges(entities, merges.clone()).expect("all are there");
    let arrays = |it: &PackedResolution| {
        (it.entity_canonical.clone(), it.entity_reason.clone(), it.entity_beside.clone(), it.entity_scoped.clone())
    };
    let scoped =
        |it: &PackedResolution| (it.scoped_document.clone(), it.scoped_canonical.clone(), it.scoped_reason.clone());
    assert_eq!((arrays(&made), scoped(&made)), (arrays(&found.resolution), scoped(&found.resolution)));
    assert!(PackedResolution::of_merges(1, merges).is_none());
    assert!(Reason::ALL.into_iter().all(|it| Reason::of_name(it.name()) == Some(it)));
}

/// Titles and sentences of documents that change. What a sentence says of a name depends on the names that other
/// documents have.
const TITLES: [&str; 7] = ["", "Ada Marlow", "Marlow", "Marlow (film)", "Harbor Trust Union", "Ostby", "A Painter"];
const SENTENCES: [&str; 10] = [
    "Ada Marlow was a painter.",
    "Marlow showed her work in Ostby.",
    "The Harbor Trust Union (HTU) met in Marlow.",
    "Later HTU closed.",
    "Oskar Finn lives in Marlow.",
    "Ostby is a city in the north.",
    "He saw the film Marlow.",
    "Dr. Ada Marlow greeted J. Marlow.",
    "She met Joan Kay Marlow and Joan Marlow.",
    "nobody was there.",
];

/// A document by the numbers of its title and of the sentences of its passages.
type Numbered = (usize, Vec<Vec<usize>>);

/// The names of a corpus, what they stand for, and what its documents say of them; by what an earlier corpus came to,
/// of which `passages` says what each passage is now.
struct Resolved {
    packed: PackedGraph,
    resolution: PackedResolution,
    statistics: PackedNameStatistics,
}

fn resolved_after(documents: &[Numbered], earlier: Option<(&Resolved, &[u32])>) -> Resolved {
    let texts: Vec<Vec<String>> = documents
        .iter()
        .map(|(_, passages)| {
            let text = |it: &Vec<usize>| it.iter().map(|at| SENTENCES[*at]).collect::<Vec<_>>().join(" ");
            passages.iter().map(text).collect()
        })
        .collect();
    let spans = |text: &String| sentences(text).map(Span::from).collect::<Vec<Span>>();
    let spans: Vec<Vec<Vec<Span>>> = texts.iter().map(|it| it.iter().map(spans).collect()).collect();
    let passage = |(text, sentences)| NamedPassage { text, sentences, media_type: "text/plain", extraction: None };
    let document = |at: usize| NamedDocument {
        title: Some(TITLES[documents[at].0]).filter(|it| !it.is_empty()),
        passages: texts[at].iter().map(String::as_str).zip(spans[at].iter().map(Vec::as_slice)).map(passage).collect(),
    };
    let named: Vec<NamedDocument<'_>> = (0..documents.len()).map(document).collect();
    let (mut packed, stop) = (PackedGraph::default(), Cancellation::default());
    let mut statistics = pack_mentions(&named, &mut packed, None, &stop).unwrap().statistics;
    let earlier = earlier.map(|(earlier, passages)| EarlierClues {
        graph: earlier.packed.view(),
        statistics: earlier.statistics.view(),
        passages,
    });
    let (resolution, clues) = pack_resolution(packed.view(), &named, (&[], earlier), &stop).unwrap();
    clues.keep(&mut statistics);
    let counts =
        [documents.len(), packed.passage_document.len(), packed.entity_flags.len(), packed.sentence_passage.len()];
    assert_eq!(statistics.view().check(counts), Ok(()));
    Resolved { packed, resolution, statistics }
}

/// Returns what each passage of a corpus is in another, by the numbers that their documents have.
fn passages_now(before: &[(usize, Numbered)], now: &[(usize, Numbered)]) -> Vec<u32> {
    let mut passages = Vec::new();
    for document in before {
        let first = now.iter().position(|it| it == document).map(|at| now[..at].iter().map(|it| it.1.1.len()).sum());
        let number = |at| first.map_or(GONE, |first: usize| (first + at) as u32);
        passages.extend((0..document.1.1.len()).map(number));
    }
    passages
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]

    #[test]
    fn what_documents_said_earlier_changes_nothing(
        pool in proptest::collection::vec(
            (0..TITLES.len(), proptest::collection::vec(proptest::collection::vec(0..SENTENCES.len(), 1..5), 1..3)),
            1..12,
        ),
        steps in proptest::collection::vec(proptest::collection::vec(0_u8..5, 12), 1..4),
    ) {
        // A document is one of the pool; it is there, it is not, or it says what the one after it says.
        let corpus_of = |step: &[u8]| -> Vec<(usize, Numbered)> {
            let at = |number: usize| match step[number] {
                0 => None,
                1 => Some(pool[(number + 1) % pool.len()].clone()),
                _ => Some(pool[number].clone()),
            };
            (0..pool.len()).filter_map(|number| Some((number, at(number)?))).collect()
        };
        let documents = |corpus: &[(usize, Numbered)]| corpus.iter().map(|it| it.1.clone()).collect::<Vec<_>>();
        let mut before: Vec<(usize, Numbered)> = pool.iter().cloned().enumerate().collect();
        let mut known = resolved_after(&documents(&before), None);
        for step in &steps {
            let now = corpus_of(step);
            let passages = passages_now(&before, &now);
            let by_change = resolved_after(&documents(&now), Some((&known, &passages)));
            let anew = resolved_after(&documents(&now), None);
            proptest::prop_assert_eq!(&by_change.resolution, &anew.resolution);
            proptest::prop_assert_eq!(&by_change.statistics, &anew.statistics);
            (known, before) = (by_change, now);
        }
    }
}

#[test]
fn a_document_with_the_same_names_is_not_read_again_unless_what_is_kept_cannot_be() {
    let union = (4, vec![vec![2, 3]]);
    let painter = (0, vec![vec![0, 1]]);
    let before = resolved_after(&[union.clone(), painter.clone()], None);
    let reason = |it: &Resolved| it.statistics.link_reason.clone();
    assert!(!reason(&before).is_empty());
    // What is kept is told apart from what is read by a reason that no rule gives.
    let mut forged = resolved_after(&[union.clone(), painter.clone()], None);
    forged.statistics.link_reason.fill(Reason::Misspelling as u32);
    let after = resolved_after(&[union.clone(), painter.clone()], Some((&forged, &[0, 1])));
    assert_eq!(reason(&after), reason(&forged));
    // What cannot be is read again.
    forged.statistics.link_reason.fill(99);
    let after = resolved_after(&[union, painter], Some((&forged, &[0, 1])));
    assert_eq!((reason(&after), &after.resolution), (reason(&before), &before.resolution));
}
