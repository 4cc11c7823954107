//! Hierarchies of documents that nobody would write.

use super::super::{Hierarchy, HierarchyPreset};
use super::*;
use crate::domain::Span;
use crate::graph::mentions::{NamedPassage, pack_mentions};
use crate::graph::packed::PackedGraph;
use crate::graph::vectors::QuantizedVectors;

/// A document: its title, and passages of which each line is a sentence.
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
    let (mut graph, go_on) = (PackedGraph::default(), Cancellation::default());
    pack_mentions(&documents, &mut graph, &go_on).unwrap();
    let mut vectors = QuantizedVectors::new(4);
    for sentence in 0..graph.sentence_passage.len() {
        vectors.push(&[1.0, (sentence % 7) as f32, (sentence % 11) as f32, (sentence % 3) as f32]);
    }
    let made = pack_hierarchy(graph.view(), &documents, &vectors.view(), &preset.options(), &go_on).unwrap();
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
fn a_clique_is_one_community_that_is_not_parted() {
    // Every name shares a sentence with every other, in lists that are just short enough.
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

/// Names in such scripts are told by titles alone, and short texts of them relate none yet.
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
    pack_mentions(&documents, &mut graph, &stop).unwrap();
    stop.cancel();
    let made = pack_hierarchy(graph.view(), &documents, &Vectors::default(), &HierarchyOptions::default(), &stop);
    assert!(matches!(made, Err(crate::error::Error::Cancelled)));
}
