//! Results of `layers`, with every field of their schema.

use cairn::domain::{
    CommunityId, ContextLevel, ContextShare, FoundBridge, FoundCommunity, FoundEntity, FoundRelation, LayersEntry,
    LayersFound, LayersMode, QuestionScope, WrittenFinding,
};

use super::citation;

pub(super) fn layers_found() -> LayersFound {
    LayersFound {
        mode: LayersMode::Full,
        entry: LayersEntry::Both,
        scope: QuestionScope::Subject,
        entities: vec![FoundEntity {
            name: "A".to_owned(),
            layer: 1,
            score: 0.5,
            summary: vec![WrittenFinding { text: "A did it.".to_owned(), citations: vec![citation()] }],
            sentence: Some(citation()),
        }],
        communities: vec![FoundCommunity {
            id: CommunityId::of(&[b"a"]),
            title: "A, B".to_owned(),
            level: 1,
            hits: 2,
            rating: 1.5,
            keys: vec!["A".to_owned()],
            summary: Some("A did B.".to_owned()),
            report: vec![WrittenFinding { text: "A did it.".to_owned(), citations: vec![citation()] }],
            findings: vec![citation()],
        }],
        bridges: vec![FoundBridge {
            from: "A".to_owned(),
            to: "B".to_owned(),
            paths: vec![vec!["A".to_owned(), "B".to_owned()]],
        }],
        relations: vec![FoundRelation {
            from: "A".to_owned(),
            to: "B".to_owned(),
            weight: 1.0,
            sentence: Some(citation()),
        }],
        context: vec![ContextShare { level: ContextLevel::Local, tokens_max: 9, tokens: 5, rows: 1, cut: 1 }],
    }
}
