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
        pack_mentions(&documents, &mut packed, None, &Cancellation::default()).unwrap();
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
fn a_document_has_its_title_as_a_name_with_and_without_the_parenthesis() {
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
fn a_capitalized_run_that_is_no_documents_name_is_an_entity_too() {
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
fn what_no_reader_sees_and_what_a_name_does_not_span_names_nothing() {
    let packed = Corpus::of(&[
        (Some("The Software"), &["It ends."]),
        (None, &["<!-- Ada Lund (pilot) -->\n\nHere stood a mill of Port Aven."]),
        (None, &["<!-- Ada Lund -->\n\nCo Harl is a mill, as (the \"Software\") is not."]),
    ])
    .pack();
    let graph = packed.view();
    assert_eq!(graph.entity("ada lund"), None);
    assert!(graph.entity("port aven").is_some());
    let bearers = graph.entity_bearers.of(graph.entity("co harl").expect("a subject"));
    assert_eq!(*graph.bearer_document.of(bearers), [2]);
    assert!(graph.entity_mentions.of(graph.entity("the software").expect("a title")).is_empty());
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
    let names = Names::of_bearers(CaseCounts::default(), ByName::default());
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
    let passage = NamedPassage { text: "Ada Lund", sentences: &[], media_type: "text/plain", extraction: None };
    let documents = [NamedDocument { title: None, passages: vec![passage] }];
    let found = pack_mentions(&documents, &mut PackedGraph::default(), None, &stop);
    assert!(matches!(found, Err(crate::Error::Cancelled)));
}

/// The pieces of texts and titles: few words, so that their spelling changes often.
const PIECES: &[&str] = &[
    "Harl",
    "Mill",
    "mill",
    "the",
    "Port",
    "Aven",
    "low",
    "Low",
    "tide",
    "Tide",
    "Ada",
    "Lund",
    "march",
    "March",
    "Note",
    "Élan",
    "élan",
    "12",
    "was",
    "is a",
    ". ",
    ", ",
    "\n",
    "// ",
    "of",
    "Harl\u{fdfa}",
    "harl\u{fdfa}",
    "MILL",
    "TIDE",
    "note",
    "\n## ",
    "\n---\n",
    "<!--",
    "-->",
    "`cp -a",
    "FILE`",
    "FILE",
    "the \"",
];

/// A document of a changing corpus.
#[derive(Debug, Clone, PartialEq)]
struct Changing {
    title: Option<String>,
    passages: Vec<String>,
    media_type: &'static str,
}

impl Changing {
    fn of((title, texts, kind): &(Vec<u8>, Vec<Vec<u8>>, u8)) -> Self {
        let text = |pieces: &Vec<u8>| {
            pieces.iter().map(|it| PIECES[*it as usize % PIECES.len()]).collect::<Vec<_>>().join(" ")
        };
        let media_type = if *kind % 8 == 0 { "text/x-rust" } else { "text/plain" };
        let title = (*kind % 3 == 0).then(|| text(title));
        Self { title, passages: texts.iter().map(text).collect(), media_type }
    }
}

/// All sentences of a corpus, by document and passage.
fn sentences_of(corpus: &[Changing]) -> Vec<Vec<Vec<Span>>> {
    let of = |text: &String| sentences(text).map(Span::from).collect();
    corpus.iter().map(|document| document.passages.iter().map(of).collect()).collect()
}

fn named<'a>(corpus: &'a [Changing], sentences: &'a [Vec<Vec<Span>>]) -> Vec<NamedDocument<'a>> {
    let passage = |document: &'a Changing, (text, sentences): (&'a String, &'a Vec<Span>)| NamedPassage {
        text,
        sentences,
        media_type: document.media_type,
        extraction: None,
    };
    let document = |(document, sentences): (&'a Changing, &'a Vec<Vec<Span>>)| NamedDocument {
        title: document.title.as_deref(),
        passages: document.passages.iter().zip(sentences).map(|it| passage(document, it)).collect(),
    };
    corpus.iter().zip(sentences).map(document).collect()
}

/// Packs a corpus with the results of an earlier one; `now` gives the present number of each of its documents.
fn pack_after(
    (before, packed, statistics): (&[Changing], &PackedGraph, &PackedNameStatistics),
    now: &[Option<usize>],
    corpus: &[Changing],
) -> (PackedGraph, Mentioned) {
    let firsts: Vec<u32> = corpus
        .iter()
        .scan(0, |first, document| Some(std::mem::replace(first, *first + document.passages.len() as u32)))
        .collect();
    let (mut passages, mut gone) = (Vec::new(), Vec::new());
    let split = sentences_of(before);
    for (document, now) in named(before, &split).into_iter().zip(now) {
        match now {
            Some(now) => passages.extend((0..document.passages.len() as u32).map(|it| firsts[*now] + it)),
            None => passages.extend(document.passages.iter().map(|_| crate::graph::segments::GONE)),
        }
        gone.extend(document.passages.into_iter().filter(|_| now.is_none()));
    }
    let earlier = EarlierNames { graph: packed.view(), statistics: statistics.view(), passages: &passages, gone };
    pack_corpus(corpus, Some(&earlier))
}

fn pack_corpus(corpus: &[Changing], earlier: Option<&EarlierNames<'_>>) -> (PackedGraph, Mentioned) {
    let mut packed = PackedGraph::default();
    let split = sentences_of(corpus);
    let mentioned = pack_mentions(&named(corpus, &split), &mut packed, earlier, &Cancellation::default()).unwrap();
    (packed, mentioned)
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]

    #[test]
    fn what_was_found_earlier_changes_nothing(
        pool in proptest::collection::vec(
            (
                proptest::collection::vec(0..PIECES.len() as u8, 1..3),
                proptest::collection::vec(proptest::collection::vec(0..PIECES.len() as u8, 0..14), 1..4),
                proptest::prelude::any::<u8>(),
            ),
            1..48,
        ),
        steps in proptest::collection::vec(proptest::collection::vec(proptest::prelude::any::<u8>(), 48), 1..4),
    ) {
        let pool: Vec<Changing> = pool.iter().map(Changing::of).collect();
        // Each document of the pool is present, absent, or has the text of the next one.
        let corpus_of = |step: &[u8]| -> Vec<(usize, Changing)> {
            let at = |number: usize| match step[number] % 6 {
                0 => None,
                1 => Some(pool[(number + 1) % pool.len()].clone()),
                _ => Some(pool[number].clone()),
            };
            (0..pool.len()).filter_map(|number| Some((number, at(number)?))).collect()
        };
        let mut before: Vec<(usize, Changing)> = pool.iter().cloned().enumerate().collect();
        let documents = |corpus: &[(usize, Changing)]| corpus.iter().map(|it| it.1.clone()).collect::<Vec<_>>();
        let (mut packed, mut mentioned) = pack_corpus(&documents(&before), None);
        for step in &steps {
            let now = corpus_of(step);
            let place = |it: &(usize, Changing)| now.iter().position(|other| other == it);
            let places: Vec<Option<usize>> = before.iter().map(place).collect();
            let earlier = (&documents(&before)[..], &packed, &mentioned.statistics);
            let by_change = pack_after(earlier, &places, &documents(&now));
            let anew = pack_corpus(&documents(&now), None);
            proptest::prop_assert_eq!(&by_change.0, &anew.0);
            proptest::prop_assert_eq!(&by_change.1, &anew.1);
            (packed, mentioned) = by_change;
            before = now;
        }
    }
}

#[test]
fn what_is_kept_of_names_belongs_to_a_graph() {
    let corpus = [Changing { title: None, passages: vec!["Low tide. Ada Lund".to_owned()], media_type: "text/plain" }];
    let (packed, Mentioned { statistics, .. }) = pack_corpus(&corpus, None);
    let mut statistics = statistics;
    (statistics.document_links, statistics.document_cues) = (vec![0, 0], vec![0, 0]);
    let counts = [1, 1, packed.entity_name_ends.len(), packed.sentence_passage.len()];
    assert_eq!(statistics.view().check(counts), Ok(()));
    let broken = |change: fn(&mut PackedNameStatistics)| {
        let mut statistics = statistics.clone();
        change(&mut statistics);
        statistics.view().check(counts).unwrap_err().0
    };
    assert_eq!(broken(|it| it.word_lower.push(1)), "word.lower");
    assert_eq!(broken(|it| it.passage_lower.push(7)), "passage.lower");
    assert_eq!(broken(|it| it.passage_cut.push(PassageOrdinal(1))), "passage.cut");
    assert_eq!(broken(|it| it.shared_ends.push(3)), "shared.ends");
    assert_eq!(broken(|it| it.document_links.clear()), "document.links");
    assert_eq!(broken(|it| it.cue_type.push(1)), "cue.type");
}

#[test]
fn a_name_found_by_capitals_in_too_many_documents_names_none_until_fewer_have_it() {
    let document = |text: &str| Changing { title: None, passages: vec![text.to_owned()], media_type: "text/plain" };
    let many = vec![document("In the north of Harl stood a mill. Port Aven bought it; Port Aven closed it."); 13];
    let fewer = &many[1..];
    let (all, few) = (pack_corpus(&many, None), pack_corpus(fewer, None));
    assert!(all.0.bearer_kind.is_empty() && few.0.bearer_kind.len() == 24);
    let went: Vec<Option<usize>> = (0..13).map(|it: usize| it.checked_sub(1)).collect();
    assert_eq!(pack_after((&many, &all.0, &all.1.statistics), &went, fewer), few);
    let stay: Vec<Option<usize>> = (0..12).map(|it| Some(it + 1)).collect();
    assert_eq!(pack_after((fewer, &few.0, &few.1.statistics), &stay, &many), all);
}

#[test]
fn passages_of_which_mentions_were_left_out_are_known_to_the_next_version() {
    let corpus = [Changing {
        title: None,
        passages: vec!["it was Ada Lorne, then Bo Quill".to_owned(), "it was Cy Lund".to_owned()],
        media_type: "text/plain",
    }];
    let split = sentences_of(&corpus);
    let documents = named(&corpus, &split);
    let passages: Vec<_> = documents[0].passages.iter().map(|it| (*it, 1)).collect();
    let after = |graph: &PackedGraph, statistics: &PackedNameStatistics, known: &[u32]| {
        let earlier =
            EarlierNames { graph: graph.view(), statistics: statistics.view(), passages: known, gone: Vec::new() };
        let mut packed = PackedGraph::default();
        pack_structure(&documents, &mut packed);
        let found = difference::pack(&documents, &passages, &mut packed, &earlier, &Cancellation::default());
        (packed, found.unwrap())
    };
    let nothing = pack_corpus(&[], None);
    let first = after(&nothing.0, &nothing.1.statistics, &[]);
    assert_eq!((first.1.statistics.passages_cut(), first.0.mention_entity.len()), (1, 2));
    assert_eq!(after(&first.0, &first.1.statistics, &[0, 1]), first);
    // Behind a new document, it is another passage.
    let new = Changing { title: None, passages: vec!["they met Di Holt".to_owned()], media_type: "text/plain" };
    let longer = [new, corpus[0].clone()];
    let split = sentences_of(&longer);
    let documents = named(&longer, &split);
    let passages: Vec<_> =
        documents.iter().flat_map(|it| &it.passages).zip([9, 1, 1]).map(|(it, most)| (*it, most)).collect();
    let earlier = EarlierNames {
        graph: first.0.view(),
        statistics: first.1.statistics.view(),
        passages: &[1, 2],
        gone: Vec::new(),
    };
    let mut packed = PackedGraph::default();
    pack_structure(&documents, &mut packed);
    let found = difference::pack(&documents, &passages, &mut packed, &earlier, &Cancellation::default()).unwrap();
    assert_eq!(found.statistics.passage_cut, [PassageOrdinal(1)]);
}

#[test]
fn a_forged_version_with_a_name_twice_or_a_mention_elsewhere_is_not_used() {
    let document = |text: &str| Changing { title: None, passages: vec![text.to_owned()], media_type: "text/plain" };
    let corpus = [document("They met Ada Lund. Then Ada Lund left."), document("They met Bo Quill in Harl.")];
    let (mut packed, mentioned) = pack_corpus(&corpus, None);
    let anew = packed.clone();
    let earlier =
        |packed: &PackedGraph| pack_after((&corpus, packed, &mentioned.statistics), &[Some(0), Some(1)], &corpus);
    assert_eq!(earlier(&packed).0, anew);
    let last = packed.mention_sentence.len() - 1;
    packed.mention_sentence.swap(0, last);
    assert_eq!(earlier(&packed).0, anew);
    packed.mention_sentence.swap(0, last);
    let mut forged = mentioned.clone();
    forged.statistics.passage_cut = [1, 0].map(PassageOrdinal).to_vec();
    assert_eq!(pack_after((&corpus, &packed, &forged.statistics), &[Some(0), Some(1)], &corpus).0, anew);
    let first = packed.entity_name_ends[0] as usize;
    packed.entity_name_ends = packed.entity_name_ends.iter().map(|_| first as u32).collect();
    packed.entity_names.truncate(first);
    assert_eq!(earlier(&packed).0, anew);
}
