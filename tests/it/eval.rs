//! Scores of real runs of other systems, against figures that another program computed.

use std::collections::BTreeMap;
use std::fs;

use cairn::domain::{CorpusId, Counts, IndexVersion};
use cairn::eval::{Facts, Question, Scored, read_questions, score};

use crate::support::shared_data;

#[derive(serde::Deserialize)]
struct PeerRun {
    question_id: String,
    system: String,
    ranked: Vec<String>,
}

/// recall@2, recall@5, all-gold@5, f1@5, mrr, ndcg@10, computed by a script that shares no code with the library.
#[test]
fn real_runs_score_what_another_program_computed() {
    let cases = [
        ("2wiki-hippo", "psi-rag-summary", 507, [80.62, 96.25, 91.32, 61.86, 99.28, 95.85]),
        ("2wiki-hippo", "lightrag-local", 53, [49.06, 65.09, 39.62, 41.52, 82.63, 66.38]),
        ("musique-dev", "psi-rag-keyword", 90, [53.98, 76.48, 53.33, 49.17, 83.61, 72.52]),
    ];
    for (bundle, system, count, expect) in cases {
        let Some(folder) = shared_data(bundle) else { return };
        let questions = read_questions(&folder.join("questions.jsonl")).unwrap();
        let questions: BTreeMap<&str, &Question> = questions.iter().map(|it| (it.id.as_str(), it)).collect();
        let runs = fs::read_to_string(folder.join("peer_runs.jsonl")).unwrap();
        let lines: Vec<Scored<'_>> = runs
            .lines()
            .map(|line| serde_json::from_str::<PeerRun>(line).unwrap())
            .filter(|run| run.system == system && !run.ranked.is_empty())
            .filter_map(|run| {
                let question = *questions.get(run.question_id.as_str())?;
                Some(Scored { question, ranked: run.ranked, time_ms: 0.0 })
            })
            .collect();
        assert_eq!(lines.len(), count, "{bundle} {system}");

        let report = score(&lines, facts(system));
        for (name, expect) in ["recall@2", "recall@5", "all-gold@5", "f1@5", "mrr", "ndcg@10"].into_iter().zip(expect) {
            let actual = report.metrics.get(name).unwrap();
            assert!((actual.mean - expect).abs() < 0.006, "{bundle} {system} {name}: {actual:?} is not {expect}");
            assert!(actual.low < actual.mean && actual.mean < actual.high, "{bundle} {system} {name}: {actual:?}");
        }
    }
}

fn facts(strategy: &str) -> Facts {
    Facts {
        strategy: strategy.to_owned(),
        version: IndexVersion(1),
        embedder: "none".to_owned(),
        corpus_id: CorpusId::of(&[b"a"]),
        corpus: Counts::default(),
        notes: Vec::new(),
    }
}
