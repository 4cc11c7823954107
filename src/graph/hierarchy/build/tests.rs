//! Hierarchies of unusual documents.

use proptest::prelude::*;

use super::super::{Hierarchy, HierarchyPreset};
use super::*;
use crate::domain::Span;
use crate::graph::hierarchy::Moved;
use crate::graph::mentions::{NamedPassage, pack_mentions};
use crate::graph::ordinal::DocumentOrdinal;
use crate::graph::packed::PackedGraph;
use crate::graph::resolution::{Merge, PackedResolution, Reason, resolved};
use crate::graph::trail::BEARERS_MAX;
use crate::graph::vectors::QuantizedVectors;

/// A document: its title, and passages in which each line is a sentence.
#[derive(Debug, Clone)]
struct Text {
    title: String,
    passages: Vec<(String, Vec<Span>)>,
}

impl Text {
    fn of(title: &str, passages: impl IntoIterator<Item = String>) -> Self {
        let cut = |text: String| {
            let mut spans = Vec::new();
            let mut start = 0;
            for line in text.split_inclusive('\n') {
                spans.push(Span { start, end: start + line.trim_end().len() as u32 });
                start += line.len() as u32;
            }
            (text, spans)
        };
        Self { title: title.to_owned(), passages: passages.into_iter().map(cut).collect() }
    }

    fn named(&self) -> NamedDocument<'_> {
        let mut passages = Vec::new();
        for (text, sentences) in &self.passages {
            passages.push(NamedPassage { text, sentences, media_type: "text/plain", extraction: None });
        }
        NamedDocument { title: Some(&self.title), passages }
    }
}

/// Makes the graph and the hierarchy of documents, and checks both; every sentence has one of a few vectors.
fn made(texts: &[Text], preset: HierarchyPreset) -> (PackedGraph, PackedHierarchy) {
    let documents: Vec<NamedDocument<'_>> = texts.iter().map(Text::named).collect();
    made_after(&documents, preset, None)
}

/// Makes them with an earlier version to start from.
fn made_after(
    documents: &[NamedDocument<'_>],
    preset: HierarchyPreset,
    earlier: Option<&(PackedGraph, PackedHierarchy)>,
) -> (PackedGraph, PackedHierarchy) {
    let graph = named(documents);
    let earlier = earlier.map(|(graph, hierarchy)| {
        let (graph, hierarchy) = (graph.view(), hierarchy.view());
        Earlier { graph, hierarchy, resolution: None, sentences: Vectors::default(), is_by_rule: true, moved: None }
    });
    let options = HierarchyOptions { kept_min: 200, ..preset.options() };
    let made = of_names(&graph.view().into(), documents, &vectors(documents), (&options, earlier));
    (graph, made)
}

fn named(documents: &[NamedDocument<'_>]) -> PackedGraph {
    let mut graph = PackedGraph::default();
    pack_mentions(documents, &mut graph, None, &Cancellation::default()).unwrap();
    graph
}

/// Returns a vector for each sentence, which depends on its text.
fn vectors(documents: &[NamedDocument<'_>]) -> QuantizedVectors {
    let mut vectors = QuantizedVectors::new(4);
    for passage in documents.iter().flat_map(|it| &it.passages) {
        for sentence in passage.sentences {
            let number = sentence.of(passage.text).bytes().map(usize::from).sum::<usize>();
            vectors.push(&[1.0, (number % 7) as f32, (number % 11) as f32, (number % 3) as f32]);
        }
    }
    vectors
}

fn of_names(
    graph: &EntityGraph<'_>,
    documents: &[NamedDocument<'_>],
    vectors: &QuantizedVectors,
    how: (&HierarchyOptions, Option<Earlier<'_>>),
) -> PackedHierarchy {
    let made = pack_hierarchy_after(graph, documents, &vectors.view(), how, &Cancellation::default()).unwrap();
    assert_eq!(made.view().check(graph.names.entity_name_ends.len(), graph.names.sentence_count()), Ok(()));
    made
}

fn titles(hierarchy: &Hierarchy<'_>) -> Vec<String> {
    hierarchy.communities().map(|it| hierarchy.title(it).to_owned()).collect()
}

fn word(number: usize) -> String {
    let letter = |at: usize| char::from(b'a' + (number / 26_usize.pow(at as u32) % 26) as u8);
    format!("Q{}{}{}{}", letter(0), letter(1), letter(2), letter(3))
}

#[test]
fn a_name_in_fifty_thousand_passages_has_a_hierarchy() {
    let passages = (0..50_000).map(|number| format!("Ada Lorne saw {} Mill.\n", word(number / 2)));
    let (graph, made) = made(&[Text::of("Ada Lorne", passages)], HierarchyPreset::Usual);
    let (graph, hierarchy) = (graph.view(), made.view());
    let hub = graph.entity("ada lorne").unwrap();
    let of_hub = hierarchy.communities().find(|it| hierarchy.members(*it).contains(&hub)).unwrap();
    assert!(hierarchy.community_passages[of_hub] >= 50_000, "{}", hierarchy.community_passages[of_hub]);
    assert!(titles(&hierarchy).iter().all(|title| !title.is_empty()) && hierarchy.counts().layers >= 1);
}

#[test]
fn a_star_of_relations_is_a_community_that_is_named_after_what_it_is_about() {
    let sentences = |passage: usize| {
        let names = (0..100).map(move |at| format!("It is {} Mill.\n", word(passage / 2 * 100 + at)));
        names.collect::<String>()
    };
    let (graph, made) = made(&[Text::of("Ada Lorne", (0..400).map(sentences))], HierarchyPreset::Usual);
    let (graph, hierarchy) = (graph.view(), made.view());
    let hub = graph.entity("ada lorne").unwrap();
    let of_hub = hierarchy.relations().filter(|(ends, ..)| ends.contains(&hub)).count();
    assert!(of_hub >= 19_000, "{of_hub}");
    assert!(titles(&hierarchy)[0].contains("Ada Lorne"), "{:?}", &titles(&hierarchy)[0]);
}

#[test]
fn a_clique_is_one_community_that_is_not_divided() {
    // Every name shares a sentence with every other, in lists just below the limit.
    let list = |start: usize, step: usize| {
        let names: Vec<String> = (0..22).map(|at| format!("{} Mill", word((start + at * step) % 120))).collect();
        format!("There are {}.\n", names.join(", "))
    };
    let passages = (0..120).map(|start| (1..60).map(|step| list(start, step)).collect::<String>());
    let (_, made) = made(&[Text::of("A list", passages)], HierarchyPreset::Usual);
    let hierarchy = made.view();
    assert!(hierarchy.counts().relations >= 120 * 119 / 2, "{:?}", hierarchy.counts());
    assert!(hierarchy.counts().levels <= 3, "{:?}", hierarchy.counts());
}

/// In such scripts, names are only recognized by titles, and short texts give no relations.
#[test]
fn scripts_without_capitals_make_a_hierarchy_that_is_whole() {
    let texts = [
        Text::of("水磨", ["水磨由艾达建造。\n艾达住在东城。\n".to_owned()]),
        Text::of("艾达", ["艾达建造了水磨。\n她卖掉了水磨。\n".to_owned()]),
        Text::of("الطاحونة", ["بنت آدا الطاحونة عند النهر.\n".to_owned()]),
        Text::of("آدا", ["تعيش آدا قرب الطاحونة.\n".to_owned()]),
    ];
    for preset in HierarchyPreset::ALL {
        let (_, made) = made(&texts, preset);
        assert!(titles(&made.view()).iter().all(|title| !title.is_empty()));
    }
}

#[test]
fn a_name_of_ten_thousand_letters_makes_no_title_longer_than_others() {
    let long = "Mühle".repeat(2_000);
    let texts = [
        Text::of(&long, [format!("{long} was built by Ada Lorne.\nAda Lorne left {long}.\n")]),
        Text::of("Ada Lorne", [format!("Ada Lorne was born at {long}.\n")]),
    ];
    for preset in HierarchyPreset::ALL {
        let (_, made) = made(&texts, preset);
        let hierarchy = made.view();
        let names = hierarchy.summaries().map(|it| hierarchy.summary_name(it).to_owned());
        for title in titles(&hierarchy).into_iter().chain(names) {
            assert!(!title.is_empty() && title.chars().count() <= 3 * 100 + 4, "{}", title.len());
        }
    }
}

#[test]
fn a_stop_ends_it() {
    let texts = [Text::of("Ada Lorne", ["Ada Lorne saw Harl Mill.\n".to_owned()])];
    let documents = [texts[0].named()];
    let (mut graph, stop) = (PackedGraph::default(), Cancellation::default());
    pack_mentions(&documents, &mut graph, None, &stop).unwrap();
    stop.cancel();
    let made = pack_hierarchy(graph.view(), &documents, &Vectors::default(), &HierarchyOptions::default(), &stop);
    assert!(matches!(made, Err(crate::error::Error::Cancelled)));
}

/// Documents in groups of thirty that are near each other, without the last `left_out`; `more` are near the first
/// group.
fn in_groups(groups: usize, left_out: usize, more: usize) -> Vec<Text> {
    let named = |number: usize| format!("{} Mill", word(number));
    let text = |number: usize| {
        let near = (1..4).map(|step| format!("It is near {}.\n", named(number / 30 * 30 + (number + step) % 30)));
        Text::of(&named(number), [near.collect::<String>()])
    };
    let new = (0..more).map(|number| {
        let title = format!("{} Weir", word(number));
        Text::of(&title, [format!("{title} is near {}.\n", named(0))])
    });
    (0..groups * 30 - left_out).map(text).chain(new).collect()
}

fn after(texts: &[Text], earlier: &(PackedGraph, PackedHierarchy)) -> (PackedGraph, PackedHierarchy) {
    let documents: Vec<NamedDocument<'_>> = texts.iter().map(Text::named).collect();
    made_after(&documents, HierarchyPreset::Usual, Some(earlier))
}

fn age(made: &PackedHierarchy) -> [u32; 2] {
    let HierarchyAge { changed, versions, .. } = HierarchyAge::of(&made.view()).unwrap();
    [changed, versions]
}

#[test]
fn communities_and_clusters_are_kept_while_little_changes() {
    let first = made(&in_groups(30, 0, 0), HierarchyPreset::Usual);
    assert_eq!((first.1.made[0], age(&first.1)), (900, [0, 0]));
    // With the same documents, everything is the same.
    let again = after(&in_groups(30, 0, 0), &first);
    assert_eq!(age(&again.1), [0, 1]);
    assert_eq!(PackedHierarchy { made: first.1.made.clone(), ..again.1.clone() }, first.1);

    // New entities join the community to which they are most related, and a cluster; all others stay where they are.
    let more = after(&in_groups(30, 0, 2), &again);
    assert_eq!(age(&more.1), [2, 2]);
    let (graph, hierarchy) = (more.0.view(), more.1.view());
    let [weir, mill] =
        ["Weir", "Mill"].map(|kind| graph.entity(&format!("{} {kind}", word(0)).to_lowercase()).unwrap());
    let smallest: std::collections::BTreeMap<_, _> = hierarchy.smallest_communities().into_iter().collect();
    assert_eq!(smallest[&weir], smallest[&mill]);
    let is_in_one = |entity: EntityOrdinal| {
        let mut on_first = hierarchy.summaries().filter(|it| hierarchy.summary_layer[*it] == 1);
        on_first.any(|it| hierarchy.summarized(it).any(|(member, _)| member == entity.0))
    };
    assert!(is_in_one(weir) && is_in_one(mill));
    assert_eq!(hierarchy.counts().communities, first.1.view().counts().communities);

    // Removed entities are in none.
    let fewer = after(&in_groups(30, 30, 0), &more);
    let counts = [&fewer, &first].map(|it| it.1.view().counts().communities);
    assert_eq!((age(&fewer.1), counts[0] < counts[1]), ([34, 3], true));
    assert!(fewer.1.view().communities().all(|it| fewer.1.view().members(it).len() >= 2));
}

#[test]
fn communities_and_clusters_are_recomputed_beyond_the_drift_and_if_they_are_few() {
    let first = made(&in_groups(30, 0, 0), HierarchyPreset::Usual);
    let clean = made(&in_groups(30, 60, 0), HierarchyPreset::Usual);
    let past = after(&in_groups(30, 60, 0), &first);
    assert_eq!((age(&past.1), &past.1), ([0, 0], &clean.1));
    // Changes add up over versions.
    let near = after(&in_groups(30, 30, 0), &first);
    assert_eq!(age(&near.1), [30, 1]);
    assert_eq!(age(&after(&in_groups(30, 30, 18), &near).1), [0, 0]);
    let few = made(&in_groups(3, 0, 0), HierarchyPreset::Usual);
    assert_eq!(age(&after(&in_groups(3, 0, 1), &few).1), [0, 0]);
}

/// A name, what it stands for, and the document in which it does, or none for all.
type Standing = (String, String, Option<usize>);

/// A change of documents, and of what names stand for.
type Change = fn(&mut Vec<Text>, &mut Vec<Standing>);

/// A value that no vector of a cluster has.
const BLACK: f32 = 1e9;

/// A version of some documents in which some names stand for others.
struct Version {
    texts: Vec<Text>,
    graph: PackedGraph,
    resolution: PackedResolution,
    vectors: QuantizedVectors,
    hierarchy: PackedHierarchy,
    is_by_rule: bool,
}

impl Version {
    /// Makes a version in which names stand for others, each in a document or everywhere, from an earlier one, of which
    /// it is known or not what became of its texts.
    fn after(texts: &[Text], merges: &[Standing], earlier: Option<(&Self, bool)>) -> Self {
        let documents: Vec<NamedDocument<'_>> = texts.iter().map(Text::named).collect();
        let graph = named(&documents);
        let merge = |(name, entity, document): &Standing| {
            let [name, entity] = [name, entity].map(|it| graph.view().entity(&it.to_lowercase()));
            let (name, entity) = name.zip(entity)?;
            let document = document.map(DocumentOrdinal::at);
            Some(Merge { name, entity, beside: entity, document, reason: Reason::Asked })
        };
        let merges = merges.iter().filter_map(merge).collect();
        let resolution = PackedResolution::of_merges(graph.entity_name_ends.len(), merges).unwrap();
        let entities = resolved(&graph.view(), &resolution.view());
        let both = EntityGraph { names: graph.view(), entities: entities.view(), resolution: Some(resolution.view()) };
        let moved = earlier.map(|(it, _)| it.moved(&graph, texts));
        let earlier = earlier.map(|(it, is_known)| Earlier {
            graph: it.graph.view(),
            hierarchy: it.hierarchy.view(),
            resolution: Some(it.resolution.view()),
            sentences: it.vectors.view(),
            is_by_rule: it.is_by_rule,
            moved: moved.as_ref().map(|it| Moved { passages: &it.0, sentences: &it.1 }).filter(|_| is_known),
        });
        let (vectors, options) = (vectors(&documents), HierarchyOptions { kept_min: 0, ..HierarchyOptions::default() });
        let hierarchy = of_names(&both, &documents, &vectors, (&options, earlier));
        Self { texts: texts.to_vec(), graph, resolution, vectors, hierarchy, is_by_rule: true }
    }

    /// Returns what its passages and sentences are in a later version.
    fn moved(&self, graph: &PackedGraph, texts: &[Text]) -> (Vec<u32>, Vec<u32>) {
        let (before, now) = (self.graph.view(), graph.view());
        let (mut passages, mut sentences) = (Vec::new(), Vec::new());
        for (text, document) in self.texts.iter().zip(before.documents()) {
            let same = texts.iter().position(|it| it.title == text.title && it.passages == text.passages);
            let same = same.map(|at| now.document_passages.of(DocumentOrdinal::at(at)));
            for (at, passage) in before.document_passages.of(document).enumerate() {
                let same = same.clone().map(|mut it| it.nth(at).unwrap());
                passages.push(same.map_or(NONE, |it| it.0));
                for (at, _) in before.passage_sentences.of(passage).enumerate() {
                    sentences.push(same.map_or(NONE, |it| now.passage_sentences.of(it).nth(at).unwrap().0));
                }
            }
        }
        (passages, sentences)
    }

    /// Replaces all words about its groups by as many signs, and all values of vectors of clusters by one.
    fn blacken(&mut self) {
        self.hierarchy.community_titles.fill(b'#');
        self.hierarchy.summary_names.fill(b'#');
        self.hierarchy.summary_vector.fill(BLACK);
    }

    /// Returns how many relations were taken from a version in which their weights were [`BLACK`].
    fn taken_relations(&self) -> usize {
        self.hierarchy.relation_weight.iter().filter(|it| it.to_bits() == BLACK.to_bits()).count()
    }

    /// Returns its relations.
    fn relations(&self) -> Vec<([EntityOrdinal; 2], u32, Option<SentenceOrdinal>)> {
        let hierarchy = self.hierarchy.view();
        hierarchy.relations().map(|(ends, weight, sentence)| (ends, weight.to_bits(), sentence)).collect()
    }

    /// Returns how many titles of communities and how many of clusters were taken from a version that was blackened.
    fn taken(&self) -> [usize; 2] {
        let hierarchy = self.hierarchy.view();
        let is_black = |title: &str| title.starts_with('#');
        let communities = hierarchy.communities().filter(|it| is_black(hierarchy.title(*it)));
        let summaries = hierarchy.summaries().filter(|it| is_black(hierarchy.summary_name(*it)));
        for summary in summaries.clone() {
            let vector = &self.hierarchy.summary_vector[summary.index() * self.vectors.dimension..];
            assert!(vector[..self.vectors.dimension].iter().all(|value| value.to_bits() == BLACK.to_bits()));
        }
        [communities.count(), summaries.count()]
    }
}

#[test]
fn kept_words_equal_recomputed_ones() {
    let mill = |number: usize| format!("{} Mill", word(number));
    let mut merges = vec![(mill(3), mill(4), None), (mill(5), mill(6), Some(40)), (mill(7), mill(8), Some(7))];
    let mut texts = in_groups(12, 0, 0);
    let add = |text: &mut Text, line: &str| {
        *text = Text::of(&text.title, [format!("{}{line}\n", text.passages[0].0)]);
    };
    texts[60..90].iter_mut().for_each(|text| add(text, "It is near Brenholt."));
    texts[95] = Text::of(&texts[95].title, [texts[95].passages[0].0.replace("It is", "# It is")]);
    texts.push(Text::of("Old Smithy", ["Nothing is said here.\n".to_owned()]));
    let mut version = Version::after(&texts, &merges, None);
    let counts = version.hierarchy.view().counts();
    let changes: [Change; 12] = [
        |_, _| (),
        // What is said of the same names is a sentence now.
        |texts, _| texts[95] = Text::of(&texts[95].title, [texts[95].passages[0].0.replace("# ", "")]),
        // A name becomes a title, and is one no longer; then that of a document stands for it.
        |texts, _| texts.push(Text::of("Brenholt", ["Nothing is said here.\n".to_owned()])),
        |texts, _| drop(texts.pop()),
        |_, merges| merges.push(("Old Smithy".to_owned(), "Brenholt".to_owned(), None)),
        // A name is mentioned once; then it has a document, which relates it to another group and to what is beside it.
        |texts, _| {
            let text = format!("{}It is far from Qaaaa Weir.\n", texts[310].passages[0].0);
            texts[310] = Text::of(&texts[310].title, [text]);
        },
        |texts, _| texts.insert(0, Text::of("Qaaaa Weir", ["Qaaaa Weir is near Qbcaa Mill.\n".to_owned()])),
        |texts, _| drop(texts.remove(200)),
        |texts, _| texts[300].title = "Qzzzz Mill".to_owned(),
        // Names stand for others in a document, everywhere, and no longer.
        |_, merges| drop(merges.remove(0)),
        |_, merges| merges[1].2 = Some(8),
        |texts, merges| merges.push((texts[250].title.clone(), texts[251].title.clone(), None)),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut texts = version.texts.clone();
        change(&mut texts, &mut merges);
        let [computed, kept] =
            [false, true].map(|is_known| Version::after(&texts, &merges, Some((&version, is_known))));
        assert!(kept.hierarchy == computed.hierarchy, "{number}");
        version.blacken();
        let kept = Version::after(&texts, &merges, Some((&version, true)));
        let [communities, summaries] = kept.taken();
        assert!(communities as u64 > counts.communities / 2, "{number}: {communities} of {}", counts.communities);
        assert!(summaries as u64 > counts.summaries / 4, "{number}: {summaries} of {}", counts.summaries);
        let is_all = communities as u64 == counts.communities && summaries as u64 == counts.summaries;
        assert_eq!(is_all, number == 0, "{number}");
        version = computed;
    }
}

/// Names that documents mention, bear, or both.
const NAMES: usize = 36;

fn name(number: usize) -> String {
    format!("{} Weir", word(number))
}

/// Returns documents of one or two passages, each with a line of its own, and sentences that mention a few names.
fn some_text() -> impl Strategy<Value = Text> {
    let sentence = prop::collection::vec(0..NAMES, 0..4);
    let passage = prop::collection::vec(sentence, 1..4);
    (0..2 * NAMES, any::<u32>(), prop::collection::vec(passage, 1..3)).prop_map(|(title, own, passages)| {
        let line = |names: &Vec<usize>| {
            format!("it is near {}\n", names.iter().map(|it| name(*it)).collect::<Vec<_>>().join(", near "))
        };
        let mut passages: Vec<String> = passages.iter().map(|it| it.iter().map(line).collect()).collect();
        passages[0].insert_str(0, &format!("this is number {own}.\n"));
        let title = if title < NAMES { name(title) } else { format!("the {own}") };
        Text::of(&title, passages)
    })
}

proptest! {
    #[test]
    fn relations_of_an_earlier_version_are_those_found_anew(
        mut texts in prop::collection::vec(some_text(), 4..20),
        edits in prop::collection::vec((0..4, any::<prop::sample::Index>(), some_text()), 1..5),
        mut standing in prop::collection::vec((0..NAMES, 0..NAMES, prop::option::of(0usize..4)), 0..4),
    ) {
        let merges = |standing: &[(usize, usize, Option<usize>)]| -> Vec<Standing> {
            let apart = standing.iter().filter(|it| it.0 < it.1);
            apart.map(|(one, other, document)| (name(*one), name(*other), *document)).collect()
        };
        let mut version = Version::after(&texts, &merges(&standing), None);
        for (what, at, text) in edits {
            match what {
                0 => texts.insert(at.index(texts.len()), text),
                1 if texts.len() > 4 => drop(texts.remove(at.index(texts.len()))),
                2 => drop(standing.pop()),
                _ => {
                    let at = at.index(texts.len());
                    texts[at] = text;
                }
            }
            let known = Version::after(&texts, &merges(&standing), Some((&version, true)));
            let anew = Version::after(&texts, &merges(&standing), None);
            prop_assert_eq!(known.relations(), anew.relations());
            version = anew;
        }
    }
}

#[test]
fn a_name_that_too_many_documents_bear_changes_relations_of_their_subjects() {
    let text = |number: usize| {
        let zeta = ["Zeta Mill", "Zeta Works"][number % 2];
        let sentences = format!("{}, also known as {zeta}, is a weir.\n{zeta} is old.\n", name(number));
        Text::of(&name(number), [sentences])
    };
    // Two names of one, so that a document with one of them changes relations in documents with the other.
    let merges = [("Zeta Works".to_owned(), "Zeta Mill".to_owned(), None)];
    let texts: Vec<Text> = (0..=BEARERS_MAX).map(text).collect();
    let both = [&texts[..BEARERS_MAX], &texts].map(|texts| Version::after(texts, &merges, None));
    let [few, many] = both.each_ref().map(Version::relations);
    assert!((0..BEARERS_MAX).all(|it| few[it].1 != many[it].1), "{few:?} {many:?}");
    let [before, after] = &both;
    assert_eq!(Version::after(&texts, &merges, Some((before, true))).relations(), many);
    assert_eq!(Version::after(&texts[..BEARERS_MAX], &merges, Some((after, true))).relations(), few);
}

#[test]
fn a_sentence_becomes_a_list_where_one_more_of_its_names_can_have_relations() {
    let all = (0..24).map(name).collect::<Vec<_>>().join(", near ");
    let list = Text::of("the list", [format!("it is near {all}\n")]);
    let bearing = (0..23).map(|number| Text::of(&name(number), ["nothing is said here\n".to_owned()]));
    let few: Vec<Text> = [list].into_iter().chain(bearing).collect();
    let again = Text::of("the last", [format!("it is near {}\n", name(23))]);
    let many: Vec<Text> = few.iter().cloned().chain([again]).collect();
    let [before, after] = [&few, &many].map(|texts| Version::after(texts, &[], None));
    assert!(before.relations().len() > 200 && after.relations().len() < 30);
    assert_eq!(Version::after(&many, &[], Some((&before, true))).relations(), after.relations());
    assert_eq!(Version::after(&few, &[], Some((&after, true))).relations(), before.relations());
}

#[test]
fn relations_are_found_anew_where_something_has_changed() {
    let mut texts = in_groups(12, 0, 0);
    let mut version = Version::after(&texts, &[], None);
    let all = version.hierarchy.relation_weight.len();
    version.hierarchy.relation_weight.fill(BLACK);
    assert_eq!(Version::after(&texts, &[], Some((&version, true))).taken_relations(), all);
    assert_eq!(Version::after(&texts, &[], Some((&version, false))).taken_relations(), 0);
    // A model had a say in them.
    version.is_by_rule = false;
    assert_eq!(Version::after(&texts, &[], Some((&version, true))).taken_relations(), 0);
    version.is_by_rule = true;
    let text = format!("{}It is far from Qaaaa Weir.\n", texts[100].passages[0].0);
    texts[100] = Text::of(&texts[100].title, [text]);
    let taken = Version::after(&texts, &[], Some((&version, true))).taken_relations();
    assert!((all / 2..all).contains(&taken), "{taken} of {all}");
}

#[test]
fn what_is_kept_of_clusters_is_computed_again_if_it_is_missing_or_incomplete() {
    let mut texts = in_groups(12, 0, 0);
    let mut version = Version::after(&texts, &[], None);
    let whole = version.hierarchy.clone();
    texts.insert(0, Text::of("Qaaaa Weir", ["Qaaaa Weir is near Qbcaa Mill.\n".to_owned()]));
    let due = Version::after(&texts, &[], Some((&version, true))).hierarchy;
    let changes: [fn(&mut PackedHierarchy); 5] = [
        |it| it.summary_vector.clear(),
        |it| it.summary_central.clear(),
        |it| it.summary_centrality.clear(),
        |it| it.summary_vector.truncate(7),
        |it| it.summary_centrality.truncate(30),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        version.hierarchy = whole.clone();
        change(&mut version.hierarchy);
        assert!(Version::after(&texts, &[], Some((&version, true))).hierarchy == due, "{number}");
    }
    // A forged file has what it says, but no more than that is wrong.
    version.hierarchy = whole;
    version.hierarchy.summary_central.fill(EntityOrdinal(NONE));
    version.hierarchy.summary_vector.fill(f32::NAN);
    assert_eq!(Version::after(&texts, &[], Some((&version, true))).hierarchy.view().counts(), due.view().counts());
}

#[test]
fn words_of_clusters_follow_the_vectors_of_sentences() {
    let (texts, merges) = (in_groups(12, 0, 0), Vec::new());
    let mut version = Version::after(&texts, &merges, None);
    // As if some had not been embedded when the words were chosen.
    let mut vectors = QuantizedVectors::new(4);
    for row in 0..version.vectors.len() as u32 {
        if row % 97 == 0 { vectors.push(&[0.0; 4]) } else { vectors.push_row(&version.vectors.view(), row) }
    }
    version.vectors = vectors;
    version.blacken();
    let [communities, summaries] = Version::after(&texts, &merges, Some((&version, true))).taken();
    let counts = version.hierarchy.view().counts();
    assert_eq!(communities as u64, counts.communities);
    assert!((1..counts.summaries).contains(&(summaries as u64)), "{summaries} of {}", counts.summaries);
}
