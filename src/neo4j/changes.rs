//! What a version takes away, as it is kept in the database: readers that hold the version before need not compare all
//! that is there to go on to this one.

use neo4rs::{BoltBytes, BoltMap, BoltType};

use super::element::{Key, put};
use super::kinds::Kind;
use super::plan::Plan;
use super::state::IndexState;
use super::statement::{Statement, cypher};

/// Versions whose changes are kept.
const KEPT: i64 = 16;
/// Elements beyond which they are not kept: to read the whole structure takes no longer.
const REMOVED_MAX: usize = 200_000;
/// Bytes of an element: its kind and its key.
const REMOVED_BYTES: usize = 1 + size_of::<Key>();

/// Returns the statement that keeps what the version of `state` takes away from that of `previous`.
pub(super) fn statement(plan: &Plan, previous: &IndexState, state: &IndexState) -> Statement {
    let mut removed: Vec<u8> = Vec::new();
    for kind in Kind::ALL {
        let steps = plan.of(kind).into_iter();
        for (key, _) in steps.flat_map(|steps| steps.retire.iter().chain(&steps.marked)) {
            removed.push(kind.number());
            removed.extend_from_slice(key);
        }
    }
    let mut properties = BoltMap::with_capacity(6);
    put(&mut properties, "id", format!("change {}", state.version).into());
    put(&mut properties, "version", state.version.into());
    put(&mut properties, "name", format!("changes of version {}", state.version).into());
    put(&mut properties, "previous", previous.source.as_str().into());
    put(&mut properties, "source", state.source.as_str().into());
    if removed.len() <= REMOVED_MAX * REMOVED_BYTES {
        put(&mut properties, "removed", BoltType::Bytes(BoltBytes::new(removed.into())));
    }
    Statement::new("keep what is taken away", cypher!("write/change"))
        .with("version", state.version)
        .with("forgotten", state.version - KEPT)
        .with("properties", BoltType::Map(properties))
}

/// Returns the elements that [`statement`] wrote; none where that is no list of elements.
pub(super) fn removed(bytes: &[u8]) -> Option<Vec<(Kind, Key)>> {
    let (elements, []) = bytes.as_chunks::<REMOVED_BYTES>() else { return None };
    elements.iter().map(|it| Some((Kind::of_number(it[0])?, it[1..].try_into().ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_list_of_elements_is_none() {
        let element = [&[2][..], &[7; 16]].concat();
        assert_eq!(removed(&element), Some(vec![(Kind::Passage, [7; 16])]));
        assert_eq!(removed(&element[..9]), None);
        assert_eq!(removed(&[&[99][..], &[7; 16]].concat()), None);
    }
}
