//! What declarations must agree on, and the statements that follow from them.

use std::fmt::Write as _;

use neo4rs::{BoltString, BoltType};

use super::super::element::{MARKS, Place, Since};
use super::*;
use crate::workspace::tests::indexed;

/// All statements, as a reviewer reads them.
fn all_statements() -> String {
    let mut all = String::new();
    let mut add = |title: &str, text: &str| writeln!(all, "# {title}\n\n{}\n", text.trim_end()).unwrap();
    for kind in Kind::ALL {
        let Statements { write, held, mark, delete, contents } = kind.statements();
        let verbs = [("write", write), ("held", held), ("mark", mark), ("delete", delete), ("contents", contents)];
        for (verb, text) in verbs {
            add(&format!("{}: {verb}", kind.own_name()), text);
        }
    }
    add("all nodes: unkeyed", &UNKEYED_NODES);
    add("all relationships: unkeyed", &UNKEYED_RELATIONSHIPS);
    add("all nodes: nothing is left", &NOTHING_IS_LEFT);
    add("all nodes: delete", &DELETE_NODES);
    add("all: count", &OF_OURS);
    add("counts: as published", &COUNTS_AS_PUBLISHED);
    add("keys", &KEYS);
    all
}

#[test]
fn statements_are_those_that_were_reviewed() {
    let all = all_statements();
    if all.trim() != include_str!("statements.txt").trim() {
        let made = concat!(env!("CARGO_MANIFEST_DIR"), "/target/statements.txt");
        std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/target")).unwrap();
        std::fs::write(made, &all).unwrap();
        panic!("statements are not those of statements.txt; if that is meant, take those of {made} over");
    }
}

#[test]
fn nothing_but_names_is_put_into_a_statement() {
    let is_name = |name: &str| {
        !name.is_empty() && !name.starts_with(|it: char| it.is_ascii_digit()) && name.bytes().all(is_name_byte)
    };
    for kind in Kind::ALL {
        let properties = kind.properties().iter().map(|(name, _)| name);
        for name in kind.labels().iter().chain(properties) {
            assert!(is_name(name), "{name:?} of {kind:?}");
        }
    }
    assert!(!is_name("a b") && !is_name("") && !is_name("1a") && !is_name("a`"));
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[test]
fn no_two_kinds_or_properties_of_one_are_the_same() {
    let mut names = Vec::new();
    for kind in Kind::ALL {
        names.push(kind.own_name());
        let mut own: Vec<&str> = kind.properties().iter().map(|(name, _)| *name).chain(MARKS).chain(["id"]).collect();
        let count = own.len();
        own.sort_unstable();
        own.dedup();
        assert_eq!(own.len(), count, "{kind:?} has a property twice");
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Kind::ALL.len());
}

#[test]
fn relationships_are_published_after_their_ends() {
    for (at, kind) in Kind::ALL.into_iter().enumerate() {
        for end in kind.ends().into_iter().flat_map(|(from, to)| [from, to]) {
            assert!(end.ends().is_none() && Kind::ALL[..at].contains(&end), "{kind:?} comes before {end:?}");
        }
    }
}

#[test]
fn what_a_kind_is_counted_in_is_published() {
    let published = crate::domain::Counts::default().each().map(|it| it.name);
    assert!(Kind::ALL.into_iter().filter_map(Kind::counted).all(|it| published.contains(&it)));
}

#[test]
fn a_node_has_a_name_that_neo4j_browser_shows() {
    assert!(Kind::ALL.into_iter().all(|kind| kind.ends().is_some() || kind.has("name")));
}

#[test]
fn elements_are_what_their_kinds_declare() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(folder.path());
    let (snapshot, records) = (workspace.snapshot().unwrap(), workspace.records().unwrap());
    let elements = Elements::new(&snapshot, &records, kept_records(&records).unwrap()).unwrap();
    for kind in Kind::ALL {
        // A collection may lack others, depending on how similar its questions and documents are.
        let is_in_all = matches!(kind, Kind::Document | Kind::Passage | Kind::Incoming | Kind::Outgoing | Kind::Entity)
            || matches!(kind, Kind::PartOf | Kind::Next | Kind::AnsweredBy | Kind::Asks | Kind::MentionedIn)
            || matches!(kind, Kind::Names | Kind::Unit | Kind::Lexicon);
        assert!(!is_in_all || elements.count(kind) > 0, "{kind:?}");
        for number in 0..elements.count(kind) {
            let element = elements.element(kind, number).unwrap();
            assert_eq!(element.ends.is_some(), kind.ends().is_some(), "{kind:?}");
            for (name, value) in element.properties.iter() {
                assert!(kind.properties().contains(&(*name, value.kind())), "`{name}` of {kind:?}: {value:?}");
            }
        }
    }
}

/// Returns how many bytes a value is on the wire, in `PackStream`.
fn packed(value: &BoltType) -> usize {
    let sized = |bytes: usize, short: usize| match bytes {
        _ if bytes < short => 1,
        0..256 => 2,
        256..65_536 => 3,
        _ => 5,
    };
    match value {
        BoltType::Null(_) | BoltType::Boolean(_) => 1,
        BoltType::Integer(integer) => match integer.value {
            -16..128 => 1,
            -128..-16 => 2,
            -32_768..32_768 => 3,
            -2_147_483_648..2_147_483_648 => 5,
            _ => 9,
        },
        BoltType::Float(_) => 9,
        BoltType::String(text) => sized(text.value.len(), 16) + text.value.len(),
        BoltType::Bytes(bytes) => sized(bytes.value.len(), 0) + bytes.value.len(),
        BoltType::List(list) => sized(list.value.len(), 16) + list.value.iter().map(packed).sum::<usize>(),
        BoltType::Map(map) => {
            let entry = |(name, value): (&BoltString, &BoltType)| {
                sized(name.value.len(), 16) + name.value.len() + packed(value)
            };
            sized(map.value.len(), 16) + map.value.iter().map(entry).sum::<usize>()
        }
        _ => unreachable!("no row has such a value"),
    }
}

/// What a publish sends together is bounded by what rows are expected to take.
#[test]
fn a_row_is_no_larger_than_expected() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(folder.path());
    let (snapshot, records) = (workspace.snapshot().unwrap(), workspace.records().unwrap());
    let elements = Elements::new(&snapshot, &records, kept_records(&records).unwrap()).unwrap();
    for kind in Kind::ALL {
        for number in 0..elements.count(kind) {
            let element = elements.element(kind, number).unwrap();
            let ends = element.ends.map(|(from, to)| [(from, 70_000), (to, 70_000)]);
            let place = Place { key: element.key, since: 70_000, ends };
            assert!(packed(&BoltType::Map(place.into_row())) <= place.wire_bytes(), "{kind:?}");
            let (expected, since) = (element.wire_bytes(), Since { own: 70_000, from: 70_000, to: 70_000 });
            let bytes = packed(&element.into_row(kind, since));
            assert!(bytes <= expected, "{kind:?}: {bytes} bytes instead of {expected}");
        }
    }
}

/// The style of Neo4j Browser, which people load from the repository.
#[test]
fn the_style_of_the_browser_knows_every_label_and_type_and_no_other() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docker/browser/style.grass");
    let style = std::fs::read_to_string(path).unwrap();
    let selectors = |of: &str| {
        let rules = style.lines().filter_map(|line| line.split_once(" {")?.0.strip_prefix(of));
        rules.map(str::to_owned).collect::<std::collections::BTreeSet<_>>()
    };
    let (relationships, nodes): (Vec<Kind>, Vec<Kind>) = Kind::ALL.into_iter().partition(|it| it.ends().is_some());
    let labels = nodes.iter().flat_map(|kind| kind.labels()).chain(&["Index", "Publisher"]);
    assert_eq!(selectors("node."), labels.map(|it| (*it).to_owned()).collect());
    let types = relationships.iter().flat_map(|kind| kind.labels());
    assert_eq!(selectors("relationship."), types.map(|it| (*it).to_owned()).collect());
}

/// The Browser fills a circle line by line, and drops a word that is longer than the line that it would begin, even the
/// first: "Ermengarde of Tours" was captioned "of…".
#[test]
fn a_long_word_fits_into_every_circle_that_people_look_at() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docker/browser/style.grass");
    let style = std::fs::read_to_string(path).unwrap();
    let looked_at = Kind::ALL.into_iter().filter(|kind| kind.ends().is_none() && kind.key_label() != HIDDEN);
    for label in looked_at.map(Kind::name).chain(["Index"]) {
        let rule = style.lines().find(|line| line.starts_with(&format!("node.{label} {{"))).unwrap();
        let pixels = |name: &str| {
            let value = rule.split(&format!(" {name}: ")).nth(1).unwrap().split("px").next().unwrap();
            value.parse::<u32>().unwrap()
        };
        assert!(2 * pixels("diameter") >= 15 * pixels("font-size"), "{rule}");
    }
}
