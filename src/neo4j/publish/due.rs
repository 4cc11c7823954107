//! The elements due, which the plan compares with those in the database.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::super::element::Element;
use super::super::kinds::Kind;
use super::super::plan::Due;
use super::super::published::KnownUnits;
use super::super::source::Elements;
use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::ordinal::DocumentOrdinal;

/// Returns the elements due, by kind, unless a stop is requested. Units that are `known` are not read from the records.
pub(super) fn due(
    elements: &Elements<'_>,
    known: &KnownUnits,
    stops: [&Cancellation; 2],
) -> Result<FxHashMap<Kind, Vec<Due>>> {
    let source = &elements.source;
    let of_version = |kind: Kind| -> Result<(Kind, Vec<Due>)> {
        let made = (0..source.count(kind)).into_par_iter().map(|number| due_of(source.of_version(kind, number), stops));
        Ok((kind, made.collect::<Result<_>>()?))
    };
    let mut due: Result<FxHashMap<Kind, Vec<Due>>> = Ok(FxHashMap::default());
    // Records are read by one thread, meanwhile the version by those of the pool.
    let units: Result<Vec<Due>> = rayon::in_place_scope(|scope| {
        let kinds = Kind::ALL.into_par_iter().filter(|kind| *kind != Kind::Unit);
        scope.spawn(|_| due = kinds.map(of_version).collect());
        let of_unit = |number: u32| {
            let key = *source.snapshot.document_id(DocumentOrdinal(number)).as_bytes();
            let known = elements.seals[number as usize].and_then(|seal| known.get(&(key, seal)));
            known.map_or_else(|| due_of(elements.element(Kind::Unit, number), stops), |known| Ok(*known))
        };
        (0..source.count(Kind::Unit)).map(of_unit).collect()
    });
    let mut due = due?;
    due.insert(Kind::Unit, units?);
    Ok(due)
}

fn due_of(element: Result<Element>, stops: [&Cancellation; 2]) -> Result<Due> {
    stops.into_iter().try_for_each(Cancellation::check)?;
    let element = element?;
    Ok(Due {
        key: element.key,
        digest: element.properties.digest(),
        bytes: element.wire_bytes() as u32,
        ends: element.ends,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::indexed;

    #[test]
    fn a_unit_with_the_seal_of_one_that_was_published_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = indexed(folder.path());
        let (snapshot, records) = (workspace.snapshot().unwrap(), workspace.records().unwrap());
        let mut elements = Elements::new(&snapshot, &records, Vec::new()).unwrap();
        let never = Cancellation::default();
        let units = |elements: &Elements<'_>, known: &KnownUnits| {
            due(elements, known, [&never, &never]).unwrap()[&Kind::Unit].clone()
        };
        let read = units(&elements, &KnownUnits::default());
        let published = |unit: &Due| Due { digest: !unit.digest, ..*unit };
        let known: KnownUnits = read.iter().map(|unit| ((unit.key, [7; 16]), published(unit))).collect();
        // Another embedder's vectors are published with units, and no seal says which these are.
        assert_eq!(units(&elements, &known), read);
        elements.seals = vec![Some([7; 16]), Some([8; 16])];
        assert_eq!(units(&elements, &known), [published(&read[0]), read[1]]);
    }
}
