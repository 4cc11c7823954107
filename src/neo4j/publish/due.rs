//! The elements due, which the plan compares with those in the database.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::super::element::Element;
use super::super::kinds::Kind;
use super::super::plan::Due;
use super::super::source::Elements;
use crate::domain::Cancellation;
use crate::error::Result;

/// Returns the elements due, by kind, unless a stop is requested.
pub(super) fn due(elements: &Elements<'_>, stops: [&Cancellation; 2]) -> Result<FxHashMap<Kind, Vec<Due>>> {
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
        (0..source.count(Kind::Unit)).map(|number| due_of(elements.element(Kind::Unit, number), stops)).collect()
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
