//! The parts of a compound question, each answered on its own, concurrently, as in `HANRAG`. Passages are retrieved for
//! a part, the relevant ones are kept, and its answer is read from them. The whole question is always one of the lists.

use std::collections::BTreeSet;
use std::sync::Arc;

use cairn::domain::{SubQuestionTrace, Verdict};
use cairn::query::{Finding, Found, Hybrid, Pipeline, Session, Strategy};
use cairn::skill::{
    DecomposeSkill, DecomposeTask, FoundPassage, JudgeSkill, JudgeTask, JudgedItem, ReadSkill, ReadTask,
};
use cairn::{Hit, Result};

/// Its options.
pub(super) struct Compound {
    /// Parts that are answered concurrently.
    at_once: usize,
    /// Passages that are judged for each part.
    judged: usize,
}

impl Default for Compound {
    fn default() -> Self {
        Self { at_once: 4, judged: 5 }
    }
}

impl Strategy for Compound {
    fn name(&self) -> &'static str {
        "compound"
    }

    fn find<'a>(&'a self, session: &'a Session) -> Finding<'a> {
        Box::pin(self.found(session))
    }
}

impl Compound {
    async fn found(&self, session: &Session) -> Result<Found> {
        let mut found = Found::of(session.retrieve(&Hybrid, session.top_k()).await?).await?;
        let task = DecomposeTask { question: session.question().to_owned() };
        let parts = session.perform::<DecomposeSkill>(&task).await?.unwrap_or_default();
        let parts: Vec<(u32, String)> = (0..).zip(parts.into_iter().map(|part| part.text)).collect();
        let judged = self.judged;
        let answered = move |session: Session, (number, text)| answered(session, number, text, judged);
        let answered = session.each(parts, session.at_once(self.at_once), answered).await?;
        let mut hits = Vec::new();
        for (part, relevant) in answered {
            found.ledger.asked.extend(part.asked.iter().cloned());
            found.ledger.parts.push(part);
            hits.extend(relevant);
        }
        hits.append(&mut found.hits);
        let mut seen = BTreeSet::new();
        hits.retain(|hit| seen.insert(hit.passage));
        for (hit, rank) in hits.iter_mut().zip(1..) {
            hit.rank = rank;
        }
        Ok(Found { hits, is_rearranged: true, ..found })
    }
}

/// Answers one part; returns it with its relevant passages.
async fn answered(session: Session, number: u32, text: String, judged: usize) -> Result<(SubQuestionTrace, Vec<Hit>)> {
    let hybrid = Pipeline::plain(Arc::new(Hybrid));
    let hits = session.with_top_k(judged).ask(&text, &hybrid).await?.hits;
    let relevant = relevant(&session, number, &text, hits).await?;
    let passages = relevant.iter().map(shown).collect();
    let task = ReadTask { question: text.clone(), part: number, passages };
    let answers = session.perform::<ReadSkill>(&task).await?.unwrap_or_default();
    let found = relevant.iter().map(|hit| hit.passage).collect();
    Ok((SubQuestionTrace { asked: vec![text.clone()], text, answers, found }, relevant))
}

/// Keeps the passages relevant to a part; at least one, if any was found.
async fn relevant(session: &Session, number: u32, text: &str, hits: Vec<Hit>) -> Result<Vec<Hit>> {
    let items = hits.iter().map(|hit| JudgedItem::Passage(shown(hit))).collect();
    let task = JudgeTask { question: text.to_owned(), round: number, items };
    let Some(verdicts) = session.perform::<JudgeSkill>(&task).await? else {
        return Ok(hits.into_iter().take(1).collect());
    };
    let is_relevant = |verdict: Option<&Verdict>| verdict.is_some_and(|it| *it != Verdict::Irrelevant);
    let best = hits.first().cloned();
    let kept: Vec<Hit> =
        hits.into_iter().enumerate().filter(|(at, _)| is_relevant(verdicts.get(*at))).map(|it| it.1).collect();
    Ok(if kept.is_empty() { best.into_iter().collect() } else { kept })
}

/// Returns a passage as it is shown to a model.
fn shown(hit: &Hit) -> FoundPassage {
    FoundPassage { passage: hit.passage, name: hit.name.clone(), text: hit.text.clone(), reached_by: None }
}
