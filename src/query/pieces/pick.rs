//! Picking: in one call, a language model says which of the best passages a question needs. These come first; the rest
//! keep their order, so a wrong pick costs one place.

use rustc_hash::FxHashMap;

use crate::domain::{Hit, PassageId, Pick, StopReason};
use crate::error::Result;
use crate::query::session::Session;
use crate::skill::{FoundPassage, PickSkill, PickTask, StepTaken};

/// Passages that a model is shown at most.
pub const PICK_MAX: usize = 50;
/// Default number of passages shown to a model.
pub const PICK_DEFAULT: usize = 20;

/// Has a model pick among the first `shown` of `hits`, and returns all of them with its picks in front. If the model
/// gives nothing usable, or picks none, the order stays the same; nothing is picked without a model.
///
/// # Errors
///
/// [`Error::Chat`](crate::Error::Chat) if something about the model has to be corrected.
///
/// # Cancel safety
///
/// Dropping the future loses a reply in flight, which may have been paid for.
pub(in crate::query) async fn pick(
    session: &Session,
    hits: Vec<Hit>,
    shown: usize,
) -> Result<(Vec<Hit>, Option<Pick>)> {
    let Some(caller) = session.caller() else { return Ok((hits, None)) };
    let passages = found_passages(&hits, shown.min(PICK_MAX));
    let task = PickTask { question: session.question().to_owned(), passages };
    let mut pick = Pick { model: caller.name().to_owned(), shown: task.passages.len() as u32, ..Pick::default() };
    if task.passages.is_empty() {
        return Ok((hits, Some(pick)));
    }
    match caller.perform::<PickSkill>(&task, session.calls_kept()).await? {
        Ok(places) => {
            pick.picked = places.iter().filter_map(|place| hits.get(*place)).map(|hit| hit.passage).collect();
            Ok((in_front(hits, &places), Some(pick)))
        }
        Err(why) => {
            let stop = caller.work().stop;
            pick.degraded = Some(if stop == StopReason::Finished { why.to_string() } else { stop.to_string() });
            Ok((hits, Some(pick)))
        }
    }
}

/// Returns the first `count` of `hits` as a model is shown them.
pub(in crate::query) fn found_passages(hits: &[Hit], count: usize) -> Vec<FoundPassage> {
    let names: FxHashMap<PassageId, &str> = hits.iter().map(|hit| (hit.passage, hit.name.as_str())).collect();
    let shown = hits.iter().take(count).map(|hit| FoundPassage {
        passage: hit.passage,
        name: hit.name.clone(),
        text: hit.text.clone(),
        reached_by: hit.path.last().map(|step| StepTaken {
            from: names.get(&step.from).map(|name| (*name).to_owned()),
            question: step.question.clone(),
        }),
    });
    shown.collect()
}

/// Returns hits with those of some places in front, ranked again.
fn in_front(hits: Vec<Hit>, places: &[usize]) -> Vec<Hit> {
    let mut hits: Vec<Option<Hit>> = hits.into_iter().map(Some).collect();
    let mut ordered: Vec<Hit> = places.iter().filter_map(|place| hits.get_mut(*place)?.take()).collect();
    ordered.extend(hits.into_iter().flatten());
    for (hit, rank) in ordered.iter_mut().zip(1..) {
        hit.rank = rank;
    }
    ordered
}
