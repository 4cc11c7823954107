//! Overviews: answers without a model to questions about the whole. First the sentences that answer best, as for any
//! question, then the nearest sentence of each topic involved.

use super::Quoted;
use super::extract::Extracted;
use crate::domain::{AnswerKind, Citation, FoundCommunity, LayersFound, QuestionScope};

/// Topics that an overview has at most.
const TOPICS_MAX: usize = 5;
/// How near a sentence of a topic must be to the question, relative to the nearest of all.
const SHARE_MIN: f32 = 0.5;

/// Adds to the quotations sentences of the topics that `layers` found, if the question is about the whole. If nothing
/// relevant was found, nothing is added.
pub(super) fn with_topics(quoted: Quoted, layers: &LayersFound) -> Quoted {
    let is_nothing = quoted.sentences.kind == AnswerKind::Nothing;
    let direct = match layers.scope {
        QuestionScope::Fact => return quoted,
        QuestionScope::Subject if is_nothing => return quoted,
        QuestionScope::Subject => quoted.sentences.citations.clone(),
        QuestionScope::Collection => Vec::new(),
    };
    let topics = topics(layers, &direct);
    if topics.is_empty() {
        return quoted;
    }
    let lines = direct.iter().map(|citation| citation.quote.clone());
    let of_topics = topics.iter().map(|(topic, citation)| format!("{}: {}", topic.title, citation.quote));
    let text = lines.chain(of_topics).collect::<Vec<String>>().join("\n");
    let citations = direct.iter().chain(topics.iter().map(|it| it.1)).cloned().collect();
    Quoted { sentences: Extracted { kind: AnswerKind::Overview, text, citations }, guess: None }
}

/// Returns the topics, each with its sentence that is nearest to the question and not quoted already.
fn topics<'a>(layers: &'a LayersFound, direct: &[Citation]) -> Vec<(&'a FoundCommunity, &'a Citation)> {
    let all = layers.communities.iter().flat_map(FoundCommunity::citations);
    let least = SHARE_MIN * all.map(|finding| finding.score).fold(0.0, f32::max);
    let mut topics = Vec::new();
    for topic in &layers.communities {
        let is_new = |finding: &&Citation| !direct.iter().any(|it| overlap(it, finding));
        let new = topic.citations().filter(is_new).filter(|finding| finding.score >= least);
        // The first of equals.
        let best = new.reduce(|best, next| if next.score > best.score { next } else { best });
        if let Some(finding) = best.filter(|_| topics.len() < TOPICS_MAX) {
            topics.push((topic, finding));
        }
    }
    topics
}

fn overlap(one: &Citation, other: &Citation) -> bool {
    one.passage == other.passage && one.span.start < other.span.end && other.span.start < one.span.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{CommunityId, PassageId, Span};

    fn citation(name: &str, score: f32) -> Citation {
        Citation {
            document: name.to_owned(),
            source_id: name.to_owned(),
            uri: name.to_owned(),
            passage: PassageId::of(&[name.as_bytes()]),
            section: None,
            page: None,
            line: None,
            column: None,
            span: Span { start: 0, end: 4 },
            quote: name.to_owned(),
            score,
        }
    }

    fn topic(title: &str, findings: &[(&str, f32)]) -> FoundCommunity {
        let findings = findings.iter().map(|(name, score)| citation(name, *score)).collect();
        let title = title.to_owned();
        let (summary, report, keys) = (None, Vec::new(), Vec::new());
        FoundCommunity {
            id: CommunityId::of(&[title.as_bytes()]),
            title,
            level: 0,
            hits: 1,
            rating: 1.0,
            keys,
            summary,
            report,
            findings,
        }
    }

    fn quoted(kind: AnswerKind, names: &[&str]) -> Quoted {
        let citations: Vec<Citation> = names.iter().map(|name| citation(name, 1.0)).collect();
        Quoted { sentences: Extracted { kind, text: names.join("\n"), citations }, guess: None }
    }

    fn found(scope: QuestionScope) -> LayersFound {
        let communities = vec![
            topic("Mills", &[("a", 0.9), ("b", 0.8), ("c", 0.8)]),
            topic("Ships", &[("d", 0.1)]),
            topic("Weirs", &[("e", 0.5), ("f", 0.6)]),
        ];
        LayersFound { scope, communities, ..LayersFound::default() }
    }

    fn said(quoted: &Quoted) -> (AnswerKind, &str, usize) {
        (quoted.sentences.kind, &quoted.sentences.text, quoted.sentences.citations.len())
    }

    #[test]
    fn topics_that_are_near_follow_what_answers_best() {
        let of = |kind, names: &[&str], scope| with_topics(quoted(kind, names), &found(scope));
        let overview = of(AnswerKind::Extractive, &["a"], QuestionScope::Subject);
        assert_eq!(said(&overview), (AnswerKind::Overview, "a\nMills: b\nWeirs: f", 3));
        // Without results, there is no answer; a factual question is answered as such.
        let silent = of(AnswerKind::Nothing, &[], QuestionScope::Subject);
        assert_eq!(said(&silent), (AnswerKind::Nothing, "", 0));
        let fact = of(AnswerKind::Extractive, &["a"], QuestionScope::Fact);
        assert_eq!(said(&fact), (AnswerKind::Extractive, "a", 1));
    }

    #[test]
    fn a_collection_is_described_by_its_topics_alone() {
        let mut layers = found(QuestionScope::Collection);
        let all = layers.communities.iter_mut().flat_map(|topic| &mut topic.findings);
        all.for_each(|finding| finding.score = 1.0);
        let overview = with_topics(quoted(AnswerKind::Nothing, &[]), &layers);
        assert_eq!(said(&overview), (AnswerKind::Overview, "Mills: a\nShips: d\nWeirs: e", 3));
        layers.communities.clear();
        assert_eq!(said(&with_topics(quoted(AnswerKind::Nothing, &[]), &layers)).0, AnswerKind::Nothing);
    }
}
