//! Results from the graph, with every field.

use cairn::domain::{
    Counts, Direction, DocumentId, EntitiesShown, EntityId, EntityList, EntityShown, EntityType, FoundByModel,
    GraphPath, HierarchyCounts, IndexVersion, ListedEntity, NameMerge, NameMerges, NamePair, NameVerdict, NamesAsked,
    Origin, PassageId, PathNode, PathSentence, PathStep, PathsBy, PathsFound, RelatedEntity, RemovedDocument,
    SummaryLayer, Topic, Topics, WrittenFinding, WrittenTopic,
};

use serde_json::{Value, json};

use super::{citation, passage_id};

/// The counts of an index that lacks a vector.
pub(super) fn counts() -> Counts {
    let hierarchy = HierarchyCounts { versions: 1, changed: 1, ..HierarchyCounts::default() };
    Counts { without_vectors: 1, hierarchy, ..Counts::default() }
}

/// Paths with every kind of node and step.
pub(super) fn paths_found() -> PathsFound {
    let passage = |section: Option<&str>| PathNode::Passage {
        id: passage_id(),
        name: "A".to_owned(),
        section: section.map(str::to_owned),
    };
    let entity = PathNode::Entity { id: EntityId::of(&[b"a"]), name: "a".to_owned() };
    let document = PathNode::Document { id: DocumentId::of(&[b"a"]), name: "A".to_owned() };
    let path = GraphPath {
        nodes: vec![document, passage(Some("A › B")), passage(None), entity],
        steps: vec![
            PathStep::PartOf { direction: Direction::Backward },
            PathStep::QuestionEdge { direction: Direction::Forward, question: "Who is A?".to_owned() },
            PathStep::Mention { direction: Direction::Backward, entity: "a".to_owned() },
            PathStep::RelatesTo {
                sentence: Some(PathSentence {
                    quote: "A met B.".to_owned(),
                    passage: PassageId::of(&[b"a"]),
                    location: "a.md:3".to_owned(),
                }),
            },
        ],
    };
    PathsFound {
        from: passage(Some("A › B")),
        to: passage(Some("A › C")),
        version: IndexVersion(1),
        by: PathsBy::Both,
        length_max: 6,
        paths: vec![path],
    }
}

/// A topic within another.
fn topics() -> Topics {
    let topic = Topic {
        level: 1,
        parent: Some(0),
        title: "A, B".to_owned(),
        entities: 3,
        passages: 2,
        rating: 4.5,
        findings: vec![citation()],
        report: Some(WrittenTopic {
            title: "A and B".to_owned(),
            summary: "A is B.".to_owned(),
            rating: 4.0,
            findings: vec![WrittenFinding { text: "A is B.".to_owned(), citations: vec![citation()] }],
        }),
    };
    let layers = vec![SummaryLayer { layer: 1, summaries: 1, sparsity: 0.5 }];
    let by_model = Some(FoundByModel { entities: 2, relations: 1 });
    Topics { version: IndexVersion(1), entities: 3, relations: 2, by_model, layers, topics: vec![topic] }
}

/// One line of an export for each kind of the hierarchy.
pub(super) fn hierarchy_lines() -> [Value; 7] {
    let [a, b] = [b"a", b"b"].map(|name| EntityId::of(&[name]));
    let said = json!({ "passage": passage_id(), "sentence": 0 });
    [
        json!({ "relation": { "from": a, "to": b, "weight": 1.5, "evidence": said } }),
        json!({ "community": { "id": a, "level": 1, "parent": b, "title": "A", "entities": 2, "passages": 3,
                               "findings": [said] } }),
        json!({ "member": { "entity": a, "community": b } }),
        json!({ "summary": { "id": a, "layer": 1, "name": "A", "sentences": [said] } }),
        json!({ "membership": { "member": a, "summary": b, "weight": 0.5 } }),
        json!({ "report": { "community": a, "title": "A", "summary": "A.", "rating": 4.0,
                            "findings": [{ "text": "A.", "sentences": [said] }] } }),
        json!({ "summary_description": { "summary": a, "aspects": [
            { "name": "A", "type": "person", "description": "A.", "sentences": [said] },
        ] } }),
    ]
}

fn entity() -> ListedEntity {
    ListedEntity {
        id: EntityId::of(&[b"a"]),
        name: "A".to_owned(),
        entity_type: Some("person".to_owned()),
        aliases: vec!["b".to_owned()],
        passages: 2,
    }
}

fn merge() -> NameMerge {
    NameMerge {
        name: "b".to_owned(),
        entity: "a".to_owned(),
        with: "a".to_owned(),
        reason: "last name".to_owned(),
        document: Some("a".to_owned()),
    }
}

fn pair() -> NamePair {
    NamePair { one: "a".to_owned(), other: "b".to_owned(), verdict: NameVerdict::Apart }
}

/// An entity with a type and another name.
fn entities() -> EntityList {
    EntityList { version: IndexVersion(1), names: 2, merged: 1, entities: vec![entity()] }
}

/// Everything about it.
fn entities_shown() -> EntitiesShown {
    let of_type = EntityType { name: "person".to_owned(), origin: Origin::Rule, evidence: Some(citation()) };
    let related =
        RelatedEntity { id: EntityId::of(&[b"c"]), name: "c".to_owned(), weight: 1.0, evidence: Some(citation()) };
    let shown = EntityShown {
        listed: entity(),
        of_type: Some(of_type),
        merges: vec![merge()],
        mentions: vec![citation()],
        relations: vec![related],
        topics: vec!["A, B".to_owned()],
    };
    EntitiesShown { version: IndexVersion(1), entities: vec![shown] }
}

/// A merge, and the request for it.
fn merges() -> NameMerges {
    NameMerges { version: IndexVersion(1), merges: vec![merge()], asked: vec![pair()] }
}

/// The request that replaced the opposite one.
fn names_asked() -> NamesAsked {
    NamesAsked { pair: pair(), before: Some(NameVerdict::Same) }
}

/// A document that was removed.
fn removed() -> RemovedDocument {
    RemovedDocument { id: DocumentId::of(&[b"a"]), source_id: "a".to_owned(), uri: "notes.jsonl#a".to_owned() }
}

/// Output of the commands for entities and topics, and the record of removed documents, by schema.
pub(super) fn of_entities() -> [(&'static str, Vec<Value>); 6] {
    [
        ("remove", vec![json!({ "documents": [removed()] })]),
        ("topics", vec![json!(topics())]),
        ("entities", vec![json!(entities())]),
        ("entities-ask", vec![json!(names_asked())]),
        ("entities-merges", vec![json!(merges())]),
        ("entities-show", vec![json!(entities_shown())]),
    ]
}
