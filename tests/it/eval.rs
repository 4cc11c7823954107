//! Scores of real runs of other systems, and verdicts on their answers, against figures that another program computed.

use std::collections::BTreeMap;
use std::fs;

use cairn::domain::{ChatError, CorpusId, Counts, IndexVersion, Usage};
use cairn::eval::{
    Contest, Facts, JudgedPair, Question, Scored, VerdictFile, VerdictLine, judge, read_answers_of, read_asked,
    read_questions, read_verdicts, score, tallied,
};
use cairn::llm::{ChatModel, ChatReply, ChatRequest, Finish, ReplyOrigin, Replying};
use cairn::skill::Criterion;
use serde_json::{Map, Value, json};

use crate::support::{assert_valid, shared_data};
use crate::topics::two_worlds;

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

type Counted = (u64, u64, u64, f64);

/// For each system that `HiRAG` was compared with: wins of `HiRAG` in both orders, wins of the other, ties, and the
/// share of single verdicts for `HiRAG`, by comprehensiveness, diversity, empowerment and overall; computed by a script
/// that shares no code with the library.
const VERDICTS: [(&str, [Counted; 4]); 5] = [
    ("fastgraphrag", [(66, 1, 0, 98.5); 4]),
    ("graphrag", [(14, 2, 50, 58.6), (29, 18, 19, 58.6), (24, 4, 38, 64.7), (24, 4, 38, 64.7)]),
    ("kag", [(63, 2, 2, 95.5), (61, 2, 4, 94.0), (63, 2, 2, 95.5), (63, 2, 2, 95.5)]),
    ("lightrag", [(17, 4, 45, 60.2), (38, 13, 15, 69.2), (22, 6, 38, 62.4), (22, 4, 40, 63.9)]),
    ("naive", [(41, 2, 24, 79.1), (51, 6, 10, 83.6), (51, 3, 13, 85.8), (48, 2, 17, 84.3)]),
];

#[test]
fn published_verdicts_tally_as_another_program_counted_them() {
    let Some(folder) = shared_data("ultradomain-mix") else { return };
    let verdicts = read_verdicts(&folder.join("verdicts.jsonl")).unwrap();
    let pairs = tallied(&verdicts);
    assert_eq!(pairs.len(), VERDICTS.len());
    for (pair, (system, expect)) in pairs.iter().zip(VERDICTS) {
        assert_eq!(
            (pair.a.as_str(), pair.b.as_str(), pair.judge.as_str(), pair.questions),
            ("hirag", system, "gpt-4o", 67)
        );
        let one_order = u64::from(["graphrag", "lightrag"].contains(&system));
        assert_eq!((pair.judged, pair.verdicts), (67 - one_order, 134 - one_order));
        for (tally, (criterion, (wins, losses, ties, share))) in
            pair.criteria.values().zip(Criterion::ALL.into_iter().zip(expect))
        {
            let counts = (tally.a_wins, tally.b_wins, tally.ties);
            assert_eq!(counts, (wins, losses, ties), "{system} {criterion:?}");
            assert!((tally.a_of_verdicts - share).abs() < 0.05, "{system} {criterion:?}: {tally:?}");
        }
    }
}

/// The judge of published verdicts: it recognizes pairs of answers, and repeats the published verdict.
struct Published(BTreeMap<(String, String), VerdictLine>);

impl ChatModel for Published {
    fn name(&self) -> &'static str {
        "gpt-4o"
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        let said = &request.messages[1].text;
        let parts: Vec<&str> = said.split(said.lines().next().unwrap()).map(str::trim).collect();
        let [first, second] = [parts[2], parts[3]].map(|part| part.split_once('\n').unwrap().1.to_owned());
        Box::pin(async move {
            let line = self.0.get(&(first, second));
            let line = line.ok_or_else(|| ChatError::Unreachable { reason: "it was never judged".to_owned() })?;
            let shown_first = if line.a_shown_first { &line.a } else { &line.b };
            let said = line.winner.iter().map(|(criterion, winner)| {
                let winner = if winner == shown_first { 1 } else { 2 };
                (criterion.name().to_owned(), json!({ "reason": line.explanation[criterion], "winner": winner }))
            });
            Ok(ChatReply {
                text: json!(said.collect::<Map<_, _>>()).to_string(),
                finish: Finish::Stop,
                usage: Usage::default(),
                model: "gpt-4o".to_owned(),
                origin: ReplyOrigin::Server,
                calls: 1,
                cost: None,
            })
        })
    }
}

#[tokio::test]
async fn a_judge_that_repeats_published_verdicts_gives_the_same_tally() {
    let Some(folder) = shared_data("ultradomain-mix") else { return };
    let verdicts = read_verdicts(&folder.join("verdicts.jsonl")).unwrap();
    let questions = read_asked(&folder.join("questions.jsonl")).unwrap();
    // The verdicts may use another name for a system than its answers do, and one verdict may be missing.
    for (system, called, missing) in [("naive", "naive", 0), ("graphrag-local", "graphrag", 1)] {
        let read = |system| read_answers_of(&folder.join("answers.jsonl"), Some(system)).unwrap();
        let contest = Contest::of(&read("hirag"), &read(system), &questions).unwrap();
        let texts: BTreeMap<&str, (&str, &str)> =
            contest.questions().iter().map(|it| (it.question_id.as_str(), (it.a.trim(), it.b.trim()))).collect();
        let known = verdicts.iter().filter(|line| line.b == called).map(|line| {
            let (a, b) = texts[line.question_id.as_str()];
            let (first, second) = if line.a_shown_first { (a, b) } else { (b, a) };
            ((first.to_owned(), second.to_owned()), line.clone())
        });
        let model = Published(known.collect());
        let report = judge(&model, &contest, &mut VerdictFile::nowhere()).await.unwrap();
        assert_eq!(report.failures.get("unreachable").map_or(0, |it| it.count), missing);
        assert_eq!((report.is_partial, report.failures.len() as u64), (missing > 0, missing));
        let expect = tallied(verdicts.iter().filter(|line| line.b == called)).remove(0);
        let words = report.pairs[0].words;
        assert_eq!(report.pairs, [JudgedPair { b: system.to_owned(), words, ..expect }]);
    }
}

#[test]
fn contexts_are_measured_by_the_documents_that_published_answers_draw_on() {
    let cli = two_worlds();
    cli.write(
        "q.jsonl",
        "{\"id\":\"1\",\"question\":\"Tell me about the mills.\"}\n{\"id\":\"2\",\"question\":\"And?\"}",
    );
    let answer = |system: &str, text: &str| json!({ "question_id": "1", "system": system, "answer": text }).to_string();
    let mills = "Harl Mill was built by Ada Lorne. Ada Lorne and Tom Reed ran Harl Mill in Eaststead.";
    // An answer that never ends is longer than a question may be.
    let endless = (0..1_500).map(|it| format!("dragon{it}")).collect::<Vec<_>>().join(" ");
    let answers = [answer("copies", mills), answer("invents", &endless)];
    cli.write("a.jsonl", answers.join("\n"));
    let args = ["eval", "context", "--questions", "q.jsonl", "--answers", "a.jsonl", "--output", "o.jsonl"];
    let strategies = ["--strategies", "lexical,layers,layers:local,layers:global,layers:bridge"];
    let report = cli.run([&args[..], &strategies, &["--json"]].concat()).succeeded();
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    assert_valid("eval-context", &report);
    assert_eq!((&report["questions"], &report["systems"]), (&json!(1), &json!(["copies", "invents"])));
    assert_eq!((&report["sentences"], &report["sentences_placed"]), (&json!(3), &json!(2)), "{report:#}");
    let row = |name: &str| report["rows"].as_array().unwrap().iter().find(|it| it["method"] == name).unwrap();
    assert_eq!(row("lexical")["documents"]["mean"], json!(100.0), "{report:#}");
    // It has everything that was copied, and nothing that was invented.
    assert_eq!(row("lexical")["words"]["mean"], json!(50.0), "{report:#}");
    assert!(row("lexical").get("words_difference").is_none() && row("layers").get("words_difference").is_some());
    assert!(report["bridges"]["bridged"].is_number(), "{report:#}");

    // Quotations can be judged.
    let written = fs::read_to_string(cli.folder().join("o.jsonl")).unwrap();
    assert_eq!(written.lines().count(), 5, "{written}");
    assert!(read_answers_of(&cli.folder().join("o.jsonl"), Some("layers:local")).unwrap().answers.contains_key("1"));
    let shown = cli.run(args).succeeded().stdout;
    assert!(shown.contains("2 of 3 sentences placed") && shown.contains("| layers:no-bridge |"), "{shown}");
    for (more, says) in [
        (["--strategies", "trail:local"], "only `layers` has modes"),
        (["--strategies", "trail,trail"], "it is named twice"),
        (["--context-tokens", "0"], "give one from 1 to"),
        (["--answers", "q.jsonl"], "q.jsonl"),
    ] {
        let args: Vec<&str> =
            args.into_iter().filter(|it| more[0] != "--answers" || !["--answers", "a.jsonl"].contains(it)).collect();
        let refused = cli.run([&args[..], &more].concat());
        assert!(refused.status != Some(0) && refused.stderr.contains(says), "{more:?}: {refused:#?}");
    }
}
