//! Relevance: which of the passages found are relevant to a question. A language model judges them in one call; if it
//! cannot, a rule keeps those that cover nearly as much of the question as the best. At least one is always kept.

use std::cmp::Reverse;

use super::pick::found_passages;
use crate::domain::{AnsweredBy, Hit, PassageId, Verdict};
use crate::error::Result;
use crate::query::answer::relevance::{is_relevant, worths};
use crate::query::session::Session;
use crate::query::strategies::Found;
use crate::skill::{JUDGED_MAX, JudgeSkill, JudgeTask, JudgedItem};

/// Share of what speaks for the best passage that has to speak for another, by the rule.
const WORTH_SHARE_MIN: f32 = 0.6;

/// Passages with verdicts.
pub(in crate::query) struct Relevant {
    /// All of them: ordered by verdict if a model judged, and otherwise as found.
    pub(in crate::query) hits: Vec<Hit>,
    /// The relevant ones: at least one if there are any passages.
    pub(in crate::query) kept: Vec<PassageId>,
    /// The judge.
    pub(in crate::query) by: AnsweredBy,
    /// Whether any was judged relevant; if none was, the best is kept anyway.
    pub(in crate::query) is_any: bool,
}

/// Judges the first `count` passages found for `question`, in round `round`. With a `count` of 0, nothing is judged,
/// and all are kept.
///
/// # Errors
///
/// If the store cannot be read, or something about the language model has to be corrected.
///
/// # Cancel safety
///
/// Dropping the future loses a reply in flight, which may have been paid for.
pub(in crate::query) async fn judged(
    session: &Session,
    question: &str,
    round: u32,
    found: &Found,
    count: usize,
) -> Result<Relevant> {
    let hits = found.hits.clone();
    if hits.is_empty() {
        return Ok(Relevant { hits, kept: Vec::new(), by: AnsweredBy::Rule, is_any: false });
    }
    if count == 0 {
        let kept = hits.iter().map(|hit| hit.passage).collect();
        return Ok(Relevant { hits, kept, by: AnsweredBy::Rule, is_any: true });
    }
    if session.may_call() {
        let items = found_passages(&hits, count.min(JUDGED_MAX)).into_iter().map(JudgedItem::Passage).collect();
        let task = JudgeTask { question: question.to_owned(), round, items };
        if let Some(verdicts) = session.perform::<JudgeSkill>(&task).await? {
            return Ok(by_verdicts(hits, &verdicts));
        }
    }
    by_rule(found, count).await
}

/// Orders passages by verdicts. Scores stay in order: each is one of a whole number for the verdict and a fraction for
/// the place before.
pub(in crate::query) fn by_verdicts(hits: Vec<Hit>, verdicts: &[Verdict]) -> Relevant {
    let verdict = |place: usize| verdicts.get(place).copied().unwrap_or_default();
    let mut placed: Vec<(Verdict, usize, Hit)> =
        hits.into_iter().enumerate().map(|(place, hit)| (verdict(place), place, hit)).collect();
    placed.sort_by_key(|(verdict, place, _)| (Reverse(*verdict), *place));
    let kept: Vec<PassageId> =
        placed.iter().take_while(|it| it.0 != Verdict::Irrelevant).map(|it| it.2.passage).collect();
    let scored = placed.into_iter().zip(1..).map(|((verdict, place, hit), rank)| {
        let score = f32::from(verdict as u8) + 1.0 / (place + 2) as f32;
        Hit { rank, score, ..hit }
    });
    let hits: Vec<Hit> = scored.collect();
    let (is_any, best) = (!kept.is_empty(), hits.first().map(|hit| hit.passage));
    let kept = if is_any { kept } else { best.into_iter().collect() };
    Relevant { hits, kept, by: AnsweredBy::Model, is_any }
}

/// Keeps what covers nearly as much of the question as the best; the order stays.
async fn by_rule(found: &Found, count: usize) -> Result<Relevant> {
    let hits = found.hits.clone();
    let Some(ranking) = &found.ranking else {
        let kept = hits.iter().take(count).map(|hit| hit.passage).collect();
        return Ok(Relevant { hits, kept, by: AnsweredBy::Rule, is_any: true });
    };
    let (worths, is_any) = ranking.on_cpu(move |ranking| Ok((worths(ranking, count)?, is_relevant(ranking)?))).await?;
    let least = WORTH_SHARE_MIN * worths.values().copied().fold(0.0, f32::max);
    let is_kept = |hit: &&Hit| worths.get(&hit.passage).is_some_and(|worth| *worth >= least);
    let mut kept: Vec<PassageId> = hits.iter().take(count).filter(is_kept).map(|hit| hit.passage).collect();
    if kept.is_empty() {
        kept.extend(hits.first().map(|hit| hit.passage));
    }
    Ok(Relevant { hits, kept, by: AnsweredBy::Rule, is_any })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::pieces::fuse::testing::hits;

    #[test]
    fn what_is_relevant_comes_first_and_something_is_always_kept() {
        let (no, related, needed) = (Verdict::Irrelevant, Verdict::Related, Verdict::Necessary);
        let five = || hits(&[("a", 9.0), ("b", 8.0), ("c", 7.0), ("d", 6.0), ("e", 5.0)]);
        let judged = by_verdicts(five(), &[no, related, needed]);
        assert_eq!(judged.hits.iter().map(|hit| hit.name.as_str()).collect::<String>(), "cbade");
        assert!(judged.hits.is_sorted_by(|a, b| a.score > b.score && a.rank < b.rank));
        assert_eq!((judged.kept.len(), judged.is_any, judged.by), (2, true, AnsweredBy::Model));
        let none = by_verdicts(five(), &[no; 5]);
        assert_eq!((none.kept, none.is_any), (vec![five()[0].passage], false));
    }
}
