//! What declarations must agree on, and every statement that follows from them.

use std::fmt::Write as _;

use super::super::element::MARKS;
use super::*;
use crate::workspace::tests::indexed;

/// Every statement, as a reviewer reads it.
fn all_statements() -> String {
    let mut all = String::new();
    let mut add = |title: &str, text: &str| writeln!(all, "# {title}\n\n{}\n", text.trim_end()).unwrap();
    for kind in Kind::ALL {
        let Statements { write, held, mark, delete, contents } = kind.statements();
        let verbs = [("write", write), ("held", held), ("mark", mark), ("delete", delete), ("contents", contents)];
        for (verb, text) in verbs {
            add(&format!("{}: {verb}", kind.name()), text);
        }
    }
    add("all nodes: unkeyed", &UNKEYED_NODES);
    add("all relationships: unkeyed", &UNKEYED_RELATIONSHIPS);
    add("all nodes: nothing is left", &NOTHING_IS_LEFT);
    all
}

#[test]
fn statements_are_those_that_were_reviewed() {
    let all = all_statements();
    if all.trim() != include_str!("statements.txt").trim() {
        let made = concat!(env!("CARGO_MANIFEST_DIR"), "/target/statements.txt");
        std::fs::write(made, &all).unwrap();
        panic!("statements are not those of statements.txt; if that is meant, take those of {made} over");
    }
}

#[test]
fn nothing_but_names_is_put_into_a_statement() {
    let is_name = |name: &str| {
        !name.is_empty() && name.starts_with(|it: char| it.is_ascii_alphabetic()) && name.bytes().all(is_name_byte)
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
    let (mut numbers, mut names) = (Vec::new(), Vec::new());
    for kind in Kind::ALL {
        assert_eq!(Kind::of_number(kind.number()), Some(kind));
        numbers.push(kind.number());
        names.push(kind.name());
        let mut own: Vec<&str> = kind.properties().iter().map(|(name, _)| *name).chain(MARKS).chain(["id"]).collect();
        let count = own.len();
        own.sort_unstable();
        own.dedup();
        assert_eq!(own.len(), count, "{kind:?} has a property twice");
    }
    numbers.sort_unstable();
    numbers.dedup();
    names.sort_unstable();
    names.dedup();
    assert_eq!((numbers.len(), names.len()), (Kind::ALL.len(), Kind::ALL.len()));
}

/// Databases keep these: a number that meant another kind would take away what is there.
#[test]
fn numbers_stay_what_they_are() {
    let numbers = [Kind::Document, Kind::Passage, Kind::Lexicon, Kind::PartOf, Kind::Names].map(Kind::number);
    assert_eq!(numbers, [0, 2, 6, 7, 13]);
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
fn a_node_has_a_name_that_neo4j_browser_shows() {
    assert!(Kind::ALL.into_iter().all(|kind| kind.ends().is_some() || kind.has("name")));
}

#[test]
fn elements_are_what_their_kinds_declare() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(folder.path());
    let (snapshot, records) = (workspace.snapshot().unwrap(), workspace.records().unwrap());
    let source = Source::new(&snapshot, &records).unwrap();
    for kind in Kind::ALL {
        assert!(source.count(kind) > 0, "{kind:?}");
        for number in 0..source.count(kind) {
            let element = source.element(kind, number).unwrap();
            assert_eq!(element.ends.is_some(), kind.ends().is_some(), "{kind:?}");
            for (name, value) in element.properties.iter() {
                assert!(kind.properties().contains(&(*name, value.kind())), "`{name}` of {kind:?}: {value:?}");
            }
        }
    }
}
