//! Hierarchies of unusual documents.

use super::super::{Hierarchy, HierarchyPreset};
use super::*;
use crate::domain::Span;
use crate::graph::mentions::{NamedPassage, pack_mentions};
use crate::graph::packed::PackedGraph;
use crate::graph::vectors::QuantizedVectors;

/// A document: its title, and passages in which each line is a sentence.
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
    let (mut graph, go_on) = (PackedGraph::default(), Cancellation::default());
    pack_mentions(documents, &mut graph, None, &go_on).unwrap();
    let mut vectors = QuantizedVectors::new(4);
    for sentence in 0..graph.sentence_passage.len() {
        vectors.push(&[1.0, (sentence % 7) as f32, (sentence % 11) as f32, (sentence % 3) as f32]);
    }
    let earlier = earlier.map(|(graph, made)| Earlier { graph: graph.view(), hierarchy: made.view() });
    let (view, options) = (graph.view().into(), preset.options());
    let made = pack_hierarchy_after(&view, documents, &vectors.view(), (&options, earlier), &go_on).unwrap();
    assert_eq!(made.view().check(graph.entity_name_ends.len(), graph.sentence_passage.len()), Ok(()));
    (graph, made)
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
    let first = made(&in_groups(70, 0, 0), HierarchyPreset::Usual);
    assert_eq!((first.1.made[0], age(&first.1)), (2_100, [0, 0]));
    // With the same documents, everything is the same.
    let again = after(&in_groups(70, 0, 0), &first);
    assert_eq!(age(&again.1), [0, 1]);
    assert_eq!(PackedHierarchy { made: first.1.made.clone(), ..again.1.clone() }, first.1);

    // New entities join the community to which they are most related, and a cluster; all others stay where they are.
    let more = after(&in_groups(70, 0, 2), &again);
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
    let fewer = after(&in_groups(70, 30, 0), &more);
    let counts = [&fewer, &first].map(|it| it.1.view().counts().communities);
    assert_eq!((age(&fewer.1), counts[0] < counts[1]), ([34, 3], true));
    assert!(fewer.1.view().communities().all(|it| fewer.1.view().members(it).len() >= 2));
}

#[test]
fn communities_and_clusters_are_recomputed_beyond_the_drift_and_if_they_are_few() {
    let first = made(&in_groups(70, 0, 0), HierarchyPreset::Usual);
    let clean = made(&in_groups(70, 120, 0), HierarchyPreset::Usual);
    let past = after(&in_groups(70, 120, 0), &first);
    assert_eq!((age(&past.1), &past.1), ([0, 0], &clean.1));
    // Changes add up over versions.
    let near = after(&in_groups(70, 90, 0), &first);
    assert_eq!(age(&near.1), [90, 1]);
    assert_eq!(age(&after(&in_groups(70, 90, 20), &near).1), [0, 0]);
    let few = made(&in_groups(3, 0, 0), HierarchyPreset::Usual);
    assert_eq!(age(&after(&in_groups(3, 0, 1), &few).1), [0, 0]);
}
