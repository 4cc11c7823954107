//! Entities and relations from a model, combined with those of rules, over small corpora.

use rustc_hash::FxHashMap;

use super::build::merged_for_tests as merged;
use super::*;
use crate::domain::{Cancellation, ExtractedEntity, ExtractedRelation, Extraction, Span};
use crate::graph::hierarchy::{HierarchyOptions, Materials, PackedHierarchy, pack_hierarchy};
use crate::graph::mentions::{Mentioned, NamedDocument, NamedPassage, pack_mentions};
use crate::graph::packed::PackedGraph;
use crate::graph::vectors::Vectors;
use crate::text::sentences;

const MILL: &str = "Harl Mill was built by Ada Lorne. The millstones came from quarries.";
const ADA: &str = "Ada Lorne built Harl Mill.";

fn entity(text: &str, name: &str, kind: Option<&str>, description: &str) -> ExtractedEntity {
    let at = text.to_lowercase().find(name).unwrap();
    ExtractedEntity {
        name: name.to_owned(),
        kind: kind.map(str::to_owned),
        description: description.to_owned(),
        spans: vec![Span::from(at..at + name.len())],
    }
}

fn relation(ends: [u32; 2], description: &str, strength: u8, evidence: Span) -> ExtractedRelation {
    ExtractedRelation { ends, description: description.to_owned(), strength, evidence }
}

/// A model's extractions: from the passage about the mill, in which rules see only two names, and from the one about
/// its builder.
fn found() -> [Extraction; 2] {
    let stones = Span { start: 34, end: 68 };
    let of_mill = Extraction {
        entities: vec![
            entity(MILL, "harl mill", Some("place"), "A mill."),
            entity(MILL, "ada lorne", Some("person"), "She built Harl Mill."),
            entity(MILL, "millstones", Some("product"), "Stones of Harl Mill."),
            entity(MILL, "quarries", None, ""),
        ],
        relations: vec![
            relation([0, 1], "Ada Lorne built it.", 9, Span { start: 0, end: 33 }),
            relation([2, 3], "The stones came from quarries.", 5, stones),
        ],
        ..Extraction::default()
    };
    let of_ada = Extraction {
        entities: vec![
            entity(ADA, "ada lorne", Some("organization"), "She built Harl Mill."),
            entity(ADA, "harl mill", Some("place"), "A mill in Vell."),
        ],
        ..Extraction::default()
    };
    [of_mill, of_ada]
}

struct Made {
    graph: PackedGraph,
    hierarchy: PackedHierarchy,
    descriptions: Option<PackedDescriptions>,
}

fn make(found: [Option<&Extraction>; 2]) -> Made {
    let spans = [MILL, ADA].map(|text| sentences(text).map(Span::from).collect::<Vec<_>>());
    let document = |title: &'static str, text: &'static str, at: usize| NamedDocument {
        title: Some(title),
        passages: vec![NamedPassage { text, sentences: &spans[at], media_type: "text/plain", extraction: found[at] }],
    };
    let documents = [document("Harl Mill", MILL, 0), document("Ada Lorne", ADA, 1)];
    let (mut graph, stop) = (PackedGraph::default(), Cancellation::default());
    let Mentioned { origins, .. } = pack_mentions(&documents, &mut graph, None, &stop).unwrap();
    let (view, options) = (graph.view(), HierarchyOptions::default());
    let hierarchy = pack_hierarchy(view, &documents, &Vectors::default(), &options, &stop).unwrap();
    let descriptions = pack_descriptions(&view.into(), &hierarchy.view(), &documents, &origins, &stop).unwrap();
    if let Some(descriptions) = &descriptions {
        descriptions.view().check(Described::of(&view, &hierarchy.view())).unwrap();
    }
    Made { graph, hierarchy, descriptions }
}

#[test]
fn entities_of_a_model_join_those_of_rules_by_name_with_type_and_description() {
    let [of_mill, of_ada] = found();
    let made = make([Some(&of_mill), Some(&of_ada)]);
    let (graph, packed) = (made.graph.view(), made.descriptions.unwrap());
    let said = packed.view();
    let of = |name: &str| {
        let entity = graph.entity(name).expect(name);
        (said.entity_origin(entity), said.entity_type(entity), said.entity_description(entity))
    };
    assert_eq!(of("harl mill"), (Origin::Both, Some("place"), Some("A mill. A mill in Vell.")));
    // If two types are equally frequent, the first in order counts; a repeated description counts once.
    assert_eq!(of("ada lorne"), (Origin::Both, Some("organization"), Some("She built Harl Mill.")));
    assert_eq!(of("millstones"), (Origin::Model, Some("product"), Some("Stones of Harl Mill.")));
    assert_eq!(of("quarries"), (Origin::Model, None, None));
    assert_eq!(graph.entity_mentions.of(graph.entity("millstones").unwrap()).len(), 1);
}

#[test]
fn relations_of_a_model_join_those_of_rules_with_weight_and_description() {
    let [of_mill, of_ada] = found();
    let by_rule = make([None, None]);
    let made = make([Some(&of_mill), Some(&of_ada)]);
    let packed = made.descriptions.unwrap();
    let (graph, hierarchy, said) = (made.graph.view(), made.hierarchy.view(), packed.view());
    let relations: Vec<_> = hierarchy
        .relations()
        .zip(RelationOrdinal::first(hierarchy.relation_entity.len()))
        .map(|((ends, weight, sentence), at)| {
            let names = ends.map(|end| graph.entity_name(end));
            (names, weight, sentence.map(|it| it.0), said.relation_origin(at), said.relation_description(at))
        })
        .collect();
    let rule_weight = by_rule.hierarchy.relation_weight[0];
    let built = relations.iter().find(|it| it.0 == ["ada lorne", "harl mill"]).unwrap();
    assert!((built.1 - rule_weight - 0.9).abs() < 1e-6, "{relations:?}");
    assert_eq!((built.3, built.4), (Origin::Both, Some("Ada Lorne built it.")));
    let stones = relations.iter().find(|it| it.0 == ["millstones", "quarries"]).unwrap();
    assert_eq!((stones.2, stones.3, stones.4), (Some(1), Origin::Both, Some("The stones came from quarries.")));
}

#[test]
fn without_a_model_there_are_no_descriptions_and_mentions_are_those_of_rules() {
    let [of_mill, _] = found();
    let by_rule = make([None, None]);
    assert!(by_rule.descriptions.is_none());
    let made = make([Some(&of_mill), None]);
    let packed = made.descriptions.unwrap();
    let (graph, said) = (made.graph.view(), packed.view());
    for mention in graph.mention_entity.ordinals() {
        let is_by_rule = by_rule.graph.view().entity(graph.entity_name(graph.mention_entity[mention])).is_some();
        assert_eq!(said.mention_origin(mention) == Origin::Model, !is_by_rule);
    }
    // In the passage that the model did not see, everything is by rule.
    let last = graph.passages().next_back().unwrap();
    assert!(graph.passage_mentions.of(last).all(|it| said.mention_origin(it) == Origin::Rule));
}

#[test]
fn merged_descriptions_are_bounded_and_without_repetition() {
    assert_eq!(merged(&["", "A mill.", "The mill!", "A mill in Vell.", ""]), "A mill. A mill in Vell.");
    let many: Vec<String> = (0..1_000).map(|number| format!("It has {number} sails of cloth{number}.")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let all = merged(&many);
    assert!(crate::text::model_tokens(&all) <= DESCRIPTION_TOKENS_MAX + 64, "{}", all.len());
    assert_eq!(merged(&[]), "");
}

#[test]
fn arrays_that_name_nothing_or_have_another_length_are_found() {
    type Damage = fn(&mut PackedDescriptions);
    let [of_mill, of_ada] = found();
    let made = make([Some(&of_mill), Some(&of_ada)]);
    let packed = made.descriptions.unwrap();
    let broken: [(&str, Damage); 5] = [
        ("mention.origin", |it| it.mention_origin.truncate(1)),
        ("entity.origin", |it| it.entity_origin.push(1)),
        ("entity.type", |it| it.entity_type[0] = 9),
        ("relation.description-ends", |it| it.relation_description_ends[0] = 9_999),
        ("types", |it| it.types = vec![0xff]),
    ];
    for (name, damage) in broken {
        let mut packed = packed.clone();
        damage(&mut packed);
        let found = packed.view().check(Described::of(&made.graph.view(), &made.hierarchy.view())).unwrap_err().0;
        assert!(found == name || (name == "types" && found == "type.ends"), "{name}: {found}");
    }
}

#[test]
fn reports_are_found_by_community_with_the_sentences_that_findings_stand_on() {
    let made = make([None, None]);
    let (graph, hierarchy) = (made.graph.view(), made.hierarchy.view());
    let communities: Vec<CommunityOrdinal> = hierarchy.communities().collect();
    assert!(!communities.is_empty());
    let mut packed = PackedDescriptions::by_rule(&graph, &hierarchy);
    assert_eq!(packed.view().check(Described::of(&graph, &hierarchy)), Ok(()));
    let report = PackedReport {
        community: communities[0],
        title: "The mill".to_owned(),
        summary: "Ada Lorne built it.".to_owned(),
        rating: 4.0,
        findings: vec![
            ("It was built.".to_owned(), vec![SentenceOrdinal(0), SentenceOrdinal(2)]),
            ("It has stones.".to_owned(), vec![SentenceOrdinal(1)]),
        ],
    };
    pack_reports(vec![report.clone(), report.clone()], &mut packed);
    // As a later version does with the data that it takes over.
    let once = packed.clone();
    pack_reports(vec![report], &mut packed);
    assert_eq!(packed, once);
    let said = packed.view();
    assert_eq!(said.check(Described::of(&graph, &hierarchy)), Ok(()));
    let found = said.report(communities[0]).unwrap();
    assert_eq!((found.title, found.summary, said.rating(found)), ("The mill", "Ada Lorne built it.", 4.0));
    let findings: Vec<(&str, Vec<u32>)> =
        said.findings(found).map(|(text, sentences)| (text, sentences.iter().map(|it| it.0).collect())).collect();
    assert_eq!(findings, [("It was built.", vec![0, 2]), ("It has stones.", vec![1])]);
    assert_eq!(said.report(CommunityOrdinal(99)), None);
    packed.finding_sentence[0] = SentenceOrdinal(99);
    assert_eq!(packed.view().check(Described::of(&graph, &hierarchy)).map_err(|it| it.0), Err("finding.sentence"));
}

#[test]
fn aspects_are_found_by_summary_entity_in_the_order_of_the_model() {
    type Damage = fn(&mut PackedDescriptions);
    let made = make([None, None]);
    let (graph, hierarchy) = (made.graph.view(), made.hierarchy.view());
    let mut packed = PackedDescriptions::by_rule(&graph, &hierarchy);
    let aspect = |summary: u32, name: &str, kind: &str| PackedAspect {
        summary: SummaryOrdinal(summary),
        name: name.to_owned(),
        kind: kind.to_owned(),
        description: format!("About {name}."),
        sentences: vec![SentenceOrdinal(summary), SentenceOrdinal(0)],
    };
    let all = vec![aspect(2, "mills", "place"), aspect(2, "fires", ""), aspect(0, "builders", "person")];
    pack_aspects(all.clone(), &mut packed);
    // As a later version does with the data that it takes over.
    pack_aspects(all, &mut packed);
    let (said, described) = (packed.view(), Described { summaries: 3, ..Described::of(&graph, &hierarchy) });
    assert_eq!((said.check(described), said.summarized()), (Ok(()), 2));
    let of = |summary| said.aspects(SummaryOrdinal(summary)).map(|it| (it.name, it.kind)).collect::<Vec<_>>();
    assert_eq!(of(2), [("mills", Some("place")), ("fires", None)]);
    assert_eq!((of(0), of(1), of(9)), (vec![("builders", Some("person"))], vec![], vec![]));
    let fires = said.aspects(SummaryOrdinal(2)).nth(1).unwrap();
    assert_eq!((fires.description, fires.sentences), ("About fires.", &[2, 0].map(SentenceOrdinal)[..]));
    let broken: [(&str, Damage); 4] = [
        ("aspect.summary", |it| it.aspect_summary[2] = SummaryOrdinal(3)),
        ("aspect.summary", |it| it.aspect_summary.reverse()),
        ("aspect.name-ends", |it| it.aspect_name_ends[0] = 99),
        ("aspect.sentence", |it| it.aspect_sentence[0] = SentenceOrdinal(99)),
    ];
    for (name, damage) in broken {
        let mut packed = packed.clone();
        damage(&mut packed);
        assert_eq!(packed.view().check(described).map_err(|it| it.0), Err(name));
    }
}

#[test]
fn what_a_report_is_written_from_names_what_is_known_of_a_topic() {
    let [of_mill, of_ada] = found();
    let spans = [MILL, ADA].map(|text| sentences(text).map(Span::from).collect::<Vec<_>>());
    let documents =
        [("Harl Mill", MILL, &of_mill, 0), ("Ada Lorne", ADA, &of_ada, 1)].map(|(title, text, found, at)| {
            let passage =
                NamedPassage { text, sentences: &spans[at], media_type: "text/plain", extraction: Some(found) };
            NamedDocument { title: Some(title), passages: vec![passage] }
        });
    let made = make([Some(&of_mill), Some(&of_ada)]);
    let descriptions = made.descriptions.as_ref().map(PackedDescriptions::view);
    let materials = Materials::of(made.graph.view(), made.hierarchy.view(), descriptions, &documents);
    let community = made.hierarchy.view().communities().next().unwrap();
    let material = materials.about(community, &FxHashMap::default());
    let has = |rows: &[String], row: &str| rows.iter().any(|it| it == row);
    assert!(has(&material.entities, "Harl Mill (place): A mill. A mill in Vell."), "{material:?}");
    assert!(has(&material.relations, "Ada Lorne – Harl Mill: Ada Lorne built it."), "{material:?}");
    assert!(!material.sentences.is_empty() && material.parts.is_empty(), "{material:?}");
}

#[test]
fn entities_with_too_long_descriptions_are_found_and_may_be_described_again() {
    let [mut of_mill, of_ada] = found();
    assert!(all_long(&of_mill, &of_ada).is_empty());
    // Repeated text adds nothing.
    let long = |seed: usize| (0..120).map(|number| format!("word{}", seed + number)).collect::<Vec<_>>().join(" ");
    of_mill.entities[1].description = long(0);
    assert!(all_long(&of_mill, &of_ada).is_empty());
    let mut of_ada = of_ada;
    of_ada.entities[0].description = long(1_000);
    let made = make([Some(&of_mill), Some(&of_ada)]);
    let long = all_long(&of_mill, &of_ada);
    let [(ada, said)] = &long[..] else { panic!("{long:?}") };
    assert_eq!((made.graph.view().entity_name(*ada), said.len()), ("ada lorne", 2));

    let mut packed = made.descriptions.unwrap();
    let before = packed.clone();
    describe(&[], &mut packed);
    assert_eq!(packed, before);
    describe(&[(*ada, "She built mills.")], &mut packed);
    let (said, mill) = (packed.view(), made.graph.view().entity("harl mill").unwrap());
    assert_eq!(said.check(Described::of(&made.graph.view(), &made.hierarchy.view())), Ok(()));
    assert_eq!(said.entity_description(*ada), Some("She built mills."));
    assert_eq!(said.entity_description(mill), before.view().entity_description(mill));
}

/// Returns the descriptions that are too long, if a model extracted this from the notes in this file.
fn all_long(of_mill: &Extraction, of_ada: &Extraction) -> Vec<(EntityOrdinal, Vec<String>)> {
    let spans = [MILL, ADA].map(|text| sentences(text).map(Span::from).collect::<Vec<_>>());
    let documents = [("Harl Mill", MILL, of_mill, 0), ("Ada Lorne", ADA, of_ada, 1)].map(|(title, text, found, at)| {
        let passage = NamedPassage { text, sentences: &spans[at], media_type: "text/plain", extraction: Some(found) };
        NamedDocument { title: Some(title), passages: vec![passage] }
    });
    let made = make([Some(of_mill), Some(of_ada)]);
    let long = long_descriptions(&made.graph.view().into(), &documents);
    long.into_iter().map(|(entity, said)| (entity, said.into_iter().map(str::to_owned).collect())).collect()
}
