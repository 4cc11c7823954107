//! Names and mentions over small corpora.

//! A film, its director and a town: what they are called and how they are mentioned.

use super::*;
use crate::graph::ordinal::{Ordinal as _, PassageOrdinal};
use crate::graph::packed::{CUES, CUES_BEFORE, NO_CUE};
use crate::text::sentences;

/// Passages with their sentences.
type Passages = Vec<(&'static str, Vec<Span>)>;

/// Documents: title and passages.
struct Corpus(Vec<(Option<&'static str>, Passages)>);

impl Corpus {
    fn of(documents: &[(Option<&'static str>, &[&'static str])]) -> Self {
        let split = |text: &&'static str| (*text, sentences(text).map(Span::from).collect());
        Self(documents.iter().map(|(title, passages)| (*title, passages.iter().map(split).collect())).collect())
    }

    fn pack(&self) -> PackedGraph {
        let documents: Vec<NamedDocument<'_>> = self
            .0
            .iter()
            .map(|(title, passages)| NamedDocument {
                title: *title,
                passages: passages
                    .iter()
                    .map(|(text, sentences)| NamedPassage {
                        text,
                        sentences,
                        media_type: "text/plain",
                        extraction: None,
                    })
                    .collect(),
            })
            .collect();
        let mut packed = PackedGraph::default();
        pack_mentions(&documents, &mut packed, &Cancellation::default()).unwrap();
        packed
    }
}

fn film() -> PackedGraph {
    Corpus::of(&[
        (Some("Low Tide (film)"), &["Low Tide is a film directed by Ada Quill. It won nothing."]),
        (
            Some("Ada Quill"),
            &["Ada Quill was a director. She was born in Port Aven.", "She met Ada Lund in Port Aven."],
        ),
        (Some("Port Aven"), &["Port Aven is a town."]),
    ])
    .pack()
}

#[test]
fn a_document_bears_its_title_with_and_without_the_parenthesis() {
    let packed = film();
    let graph = packed.view();
    let entity = graph.entity("low tide").expect("bare title");
    assert_eq!(*graph.bearer_document.of(graph.entity_bearers.of(entity)), [0]);
    assert!(graph.entity("low tide film").is_some());
}

#[test]
fn a_mention_keeps_the_words_around_it() {
    let packed = film();
    let graph = packed.view();
    let entity = graph.entity("ada quill").expect("a title");
    let mention = graph
        .passage_mentions
        .of(PassageOrdinal(0))
        .find(|mention| graph.mention_entity[*mention] == entity)
        .expect("the film mentions its director");
    let cues = graph.cues(mention);
    assert_eq!(cues[0], NO_CUE, "`by` is a stop word");
    assert_eq!(Some(cues[1]), graph.cue("direc"));
    assert_eq!(Some(cues[2]), graph.cue("film"));
    assert_eq!(cues[CUES_BEFORE], NO_CUE, "`It`");
}

#[test]
fn frequencies_count_documents_and_postings_count_sentences() {
    let packed = film();
    let graph = packed.view();
    let entity = graph.entity("port aven").expect("a title");
    assert_eq!(graph.entity_documents[entity], 2);
    assert_eq!(*graph.posting_passage.of(graph.entity_mentions.of(entity)), [1, 2, 3]);
}

#[test]
fn a_capitalized_run_that_no_document_bears_is_an_entity_too() {
    let packed = film();
    let graph = packed.view();
    let entity = graph.entity("ada lund").expect("a run");
    assert!(graph.entity_bearers.of(entity).is_empty());
}

#[test]
fn numbers_are_consistent() {
    let packed = film();
    assert_eq!(packed.document_passages, [0, 1, 3, 4]);
    assert_eq!(packed.passage_sentences, [0, 2, 4, 5, 6]);
    assert_eq!(packed.mention_cues.len(), packed.mention_entity.len() * CUES);
    assert_eq!(packed.entity_mentions.last().copied(), Some(packed.mention_entity.len() as u32));
    for (posting, mention) in packed.posting_mention.iter().enumerate() {
        let passage = packed.sentence_passage[packed.mention_sentence[mention.index()].index()];
        assert_eq!(packed.posting_passage[posting], passage);
    }
}

#[test]
fn a_surname_alone_refers_back_to_the_full_name() {
    let packed =
        Corpus::of(&[(None, &["The ship met Ada Quill at sea. In winter Quill sailed home. Lund stayed."])]).pack();
    let graph = packed.view();
    let sentences = |name: &str| {
        let entity = graph.entity(name).expect(name);
        graph.entity_mentions.of(entity).map(|posting| graph.mention_sentence[graph.posting_mention[posting]])
    };
    assert_eq!(sentences("ada quill").collect::<Vec<_>>(), [0, 1]);
    assert_eq!(sentences("quill").collect::<Vec<_>>(), [1]);
}

#[test]
fn a_first_sentence_may_give_another_name() {
    let packed = Corpus::of(&[(None, &["Ada Lund, also known as The Gull, was a pilot."])]).pack();
    let graph = packed.view();
    let entity = graph.entity("the gull").expect("an alias");
    assert_eq!(*graph.bearer_kind.of(graph.entity_bearers.of(entity)), [crate::graph::packed::name_kind::LEAD]);
}

#[test]
fn without_title_and_subject_a_document_is_named_by_its_capitals() {
    use crate::graph::packed::name_kind::{FIRST, MAIN};
    let text = "In the north of Harl stood a mill. Port Aven bought it; Port Aven closed it.";
    let packed = Corpus::of(&[(None, &[text])]).pack();
    let graph = packed.view();
    let kind = |name: &str| graph.bearer_kind.of(graph.entity_bearers.of(graph.entity(name).expect(name))).to_vec();
    assert_eq!((kind("port aven"), kind("harl")), (vec![MAIN], vec![FIRST]));
    let own: Vec<&str> = graph.own_entity.iter().map(|entity| graph.entity_name(*entity)).collect();
    assert_eq!(own, ["port aven"]);
    let texts = [text];
    let many = vec![(None, &texts[..]); 13];
    let packed = Corpus::of(&many).pack();
    assert!(packed.bearer_kind.is_empty(), "a name of many documents by capitals alone names none");
}

#[test]
fn a_question_may_use_a_name_in_lower_case_that_texts_capitalize() {
    use crate::graph::packed::entity_flag::LOWER_IN_QUESTION;
    let texts: &[(Option<&str>, &[&str])] = &[
        (Some("Low Tide"), &["A low tide came. At low tide they left. Low tide again."]),
        (Some("Port Aven"), &["Port Aven is a town."]),
        (Some("Of Lund"), &["Of Lund is a song."]),
    ];
    let packed = Corpus::of(texts).pack();
    let graph = packed.view();
    let lower = |name: &str| graph.entity_flags[graph.entity(name).expect(name)] & LOWER_IN_QUESTION != 0;
    assert_eq!(["port aven", "low tide", "of lund"].map(lower), [true, false, false]);
}

#[test]
fn passages_of_a_document_of_very_many_have_fewer_mentions_and_long_runs_are_no_names() {
    let names = Names::of(&[], &Cancellation::default()).unwrap();
    let finder = Finder::new(&names);
    let long = format!("it was {} and", "Aa ".repeat(100));
    let text = "it was Ada Lorne, then Bo Quill, then Cy Lund and more";
    let found = |text, most| {
        finder.mentions(&NamedPassage { text, sentences: &[], media_type: "text/plain", extraction: None }, most)
    };
    assert_eq!((found(text, 9).keys.len(), found(text, 9).is_cut), (3, false));
    assert_eq!(
        (found(text, 2).keys, found(text, 2).is_cut),
        (vec!["ada lorne".to_owned(), "bo quill".to_owned()], true)
    );
    assert!(found(&long, 9).keys.is_empty());
}

#[test]
fn a_stop_is_obeyed_while_names_are_found() {
    let stop = Cancellation::default();
    stop.cancel();
    assert!(matches!(pack_mentions(&[], &mut PackedGraph::default(), &stop), Err(crate::Error::Cancelled)));
}
