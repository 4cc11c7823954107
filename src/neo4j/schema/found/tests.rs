//! What is understood of statements and of a database's schema, compared with hand-written ones.

use super::super::all_due;
use super::*;

const DIMENSION: usize = 256;

/// Makes an index differ from what it should be.
type Spoil = fn(&mut Index);

fn texts(items: &[&str]) -> Vec<String> {
    items.iter().map(|it| (*it).to_owned()).collect()
}

/// Returns the complete schema.
fn whole() -> Schema {
    let mut schema = Schema::default();
    for due in all_due(DIMENSION) {
        let (labels, properties) = (texts(&[due.label]), texts(&due.properties));
        let is_unique = due.purpose == Purpose::Unique;
        let name = due.name.to_owned();
        if is_unique {
            let (name, labels, properties) = (name.clone(), labels.clone(), properties.clone());
            schema.constraints.push(Constraint { name, is_unique, labels, properties });
        }
        schema.indexes.push(Index {
            constraint: is_unique.then(|| name.clone()),
            name,
            kind: due.purpose.index_type().to_owned(),
            labels,
            properties,
            state: "ONLINE".to_owned(),
            dimension: (due.purpose == Purpose::Vector).then_some(256),
            similarity: (due.purpose == Purpose::Vector).then(|| "COSINE".to_owned()),
            analyzer: (due.purpose == Purpose::Text).then(|| "english".to_owned()),
        });
    }
    schema
}

fn constraint(name: &str, label: &str, properties: &[&str]) -> Constraint {
    let (labels, properties) = (texts(&[label]), texts(properties));
    Constraint { name: name.to_owned(), is_unique: true, labels, properties }
}

fn index<'a>(schema: &'a mut Schema, name: &str) -> &'a mut Index {
    schema.indexes.iter_mut().find(|it| it.name == name).unwrap()
}

#[test]
fn every_kind_of_nodes_is_found_by_its_id() {
    let due = all_due(0);
    for kind in Kind::ALL.into_iter().filter(|kind| kind.ends().is_none()) {
        let finds = |due: &Due| due.label == kind.key_label() && due.properties[0] == "id";
        assert!(due.iter().any(finds), "{kind:?}");
    }
}

#[test]
fn statements_say_what_they_make() {
    let due = all_due(DIMENSION);
    let of = |name: &str| {
        let due = due.iter().find(|it| it.name == name).unwrap();
        (due.purpose, due.label, due.properties.clone())
    };
    assert_eq!(of("cairn_own"), (Purpose::Unique, "_Cairn", vec!["id", "cairnSince"]));
    assert_eq!(of("cairn_passage_id"), (Purpose::Value, "Passage", vec!["id"]));
    assert_eq!(of("cairn_leads_to_text"), (Purpose::Text, "LEADS_TO", vec!["question", "keywords"]));
    assert_eq!(of("cairn_passage_embedding"), (Purpose::Vector, "Passage", vec!["embedding"]));
}

#[test]
fn a_complete_schema_lacks_nothing_and_has_no_conflict() {
    let (schema, due) = (whole(), all_due(DIMENSION));
    assert!(schema.missing(&due, DIMENSION).is_empty() && schema.unready(&due, DIMENSION).is_empty());
    assert!(schema.spoiled(&due, DIMENSION).is_empty());
    assert_eq!(schema.conflicts(&due), Vec::<String>::new());
}

#[test]
fn an_index_is_ours_by_what_it_covers_and_not_by_its_name() {
    let due = all_due(DIMENSION);
    let mut other = whole();
    index(&mut other, "cairn_passage_text").labels = texts(&["Person"]);
    assert_eq!(other.missing(&due, DIMENSION), ["cairn_passage_text"]);
    let outdated = Drops { constraints: Vec::new(), indexes: texts(&["cairn_passage_text"]) };
    assert_eq!((other.outdated(&due), other.conflicts(&due)), (outdated, Vec::new()));
    let mut other = whole();
    index(&mut other, "cairn_passage_text").name = "passage_text".to_owned();
    assert_eq!(other.missing(&due, DIMENSION), ["cairn_passage_text"]);
    assert_eq!(other.conflicts(&due), ["`passage_text` of Passage(title, text, keywords)"]);
    // An index that is found by what it covers may have any name.
    let mut other = whole();
    index(&mut other, "cairn_passage_title").name = "mine".to_owned();
    assert!(other.missing(&due, DIMENSION).is_empty() && other.conflicts(&due).is_empty());
    assert!(other.unready(&due, DIMENSION).is_empty());
}

#[test]
fn an_index_that_does_not_do_its_job_is_created_again() {
    let due = all_due(DIMENSION);
    let spoil: [(&str, Spoil); 4] = [
        ("cairn_passage_embedding", |it| it.dimension = Some(3)),
        ("cairn_passage_embedding", |it| it.similarity = Some("EUCLIDEAN".to_owned())),
        ("cairn_incoming_text", |it| it.analyzer = Some("standard-no-stop-words".to_owned())),
        ("cairn_incoming_text", |it| it.state = "FAILED".to_owned()),
    ];
    for (name, spoil) in spoil {
        let mut schema = whole();
        spoil(index(&mut schema, name));
        assert_eq!(schema.missing(&due, DIMENSION), [name]);
        assert_eq!(schema.spoiled(&due, DIMENSION), [name]);
        assert_eq!(schema.conflicts(&due), Vec::<String>::new());
    }
    // The index of a constraint that a killed server did not finish.
    let mut schema = whole();
    schema.constraints.retain(|it| it.name != "cairn_own");
    index(&mut schema, "cairn_own").constraint = None;
    assert_eq!(schema.spoiled(&due, DIMENSION), ["cairn_own"]);
    assert_eq!(schema.conflicts(&due), Vec::<String>::new());
}

#[test]
fn only_constraints_that_may_refuse_our_writes_are_conflicts() {
    let conflicts = |constraint: Constraint| {
        let mut schema = whole();
        schema.constraints.push(constraint);
        !schema.conflicts(&all_due(DIMENSION)).is_empty()
    };
    for (label, properties, expect) in [
        ("Passage", &["title"][..], true),
        ("Question", &["name"], true),
        ("Incoming", &["embedding"], true),
        ("Outgoing", &["embedding"], false),
        ("LEADS_TO", &["question", "keywords"], true),
        ("Document", &["id"], true),
        ("LEADS_TO", &["id"], false),
        ("Unit", &["cairnSince"], true),
        ("Passage", &["myNumber"], false),
        ("Passage", &["title", "myNumber"], false),
        ("Passage", &["id", "cairnSince", "title"], false),
        ("Person", &["title"], false),
        ("Publisher", &["name"], false),
    ] {
        assert_eq!(conflicts(constraint("mine", label, properties)), expect, "{label} {properties:?}");
    }
    let exists = Constraint { is_unique: false, ..constraint("mine", "Passage", &["myNumber"]) };
    assert!(conflicts(exists));
}

#[test]
fn what_is_dropped_has_a_name_of_ours_and_is_due_no_more() {
    let due = all_due(DIMENSION);
    let mut schema = whole();
    assert_eq!(schema.outdated(&due), Drops::default());
    schema.constraints.push(constraint("cairn_unit_key", "Unit", &["id", "cairnSince"]));
    schema.constraints.push(constraint("one_title", "Passage", &["title"]));
    let text = index(&mut schema, "cairn_passage_text").clone();
    schema.indexes.push(Index { name: "passage_text".to_owned(), ..text.clone() });
    index(&mut schema, "cairn_passage_text").properties = texts(&["text", "keywords"]);
    let drops = Drops { constraints: texts(&["cairn_unit_key"]), indexes: texts(&["cairn_passage_text"]) };
    assert_eq!(schema.outdated(&due), drops);
    let all = schema.all_of_ours();
    assert_eq!(all.constraints, ["cairn_own", "cairn_unit_key"]);
    assert!(all.indexes.len() == due.len() - 1 && !all.indexes.contains(&"passage_text".to_owned()), "{all:?}");
}
