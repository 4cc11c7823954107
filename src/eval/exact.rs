//! Scores one answer: exact match and F1 as the official scripts of `SQuAD`, `HotpotQA` and 2WikiMultihopQA compute
//! them.

/// Answers that cannot be partly right.
const TRUTHS: [&str; 3] = ["yes", "no", "noanswer"];

/// What one answer scores against the accepted ones, each in \[0, 1\].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct AnswerScores {
    /// 1 where it is one of them.
    pub exact: f64,
    /// The harmonic mean of precision and recall of its words, against the best of them.
    pub f1: f64,
    /// 1 where it has all words of one of them, one after the other; a yes or no counts as the first word only.
    pub contained: f64,
}

/// Returns a text as answers are compared: in lower case, without ASCII punctuation, articles and superfluous white
/// space.
#[must_use]
pub fn normalized(text: &str) -> String {
    let lower = text.to_lowercase();
    let bare: String = lower.chars().filter(|it| !it.is_ascii_punctuation()).collect();
    let mut kept = String::with_capacity(bare.len());
    let mut rest = bare.as_str();
    while let Some(first) = rest.chars().next() {
        let is_word = first.is_alphanumeric();
        let end = rest.find(|it: char| it.is_alphanumeric() != is_word).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        kept.push_str(if matches!(part, "a" | "an" | "the") { " " } else { part });
        rest = after;
    }
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns what `answer` scores against the accepted answers `gold`: the best for each metric.
#[must_use]
pub fn answer_scores(answer: &str, gold: &[String]) -> AnswerScores {
    let answer = normalized(answer);
    let mut best = AnswerScores::default();
    for gold in gold.iter().map(|it| normalized(it)) {
        best.exact = best.exact.max(f64::from(u8::from(answer == gold)));
        best.f1 = best.f1.max(f1(&answer, &gold));
        best.contained = best.contained.max(f64::from(u8::from(contains(&answer, &gold))));
    }
    best
}

fn f1(answer: &str, gold: &str) -> f64 {
    if answer != gold && (TRUTHS.contains(&answer) || TRUTHS.contains(&gold)) {
        return 0.0;
    }
    let (answer, mut left): (Vec<&str>, Vec<&str>) = (words(answer), words(gold));
    let whole = answer.len() + left.len();
    let mut shared = 0;
    for word in answer {
        if let Some(place) = left.iter().position(|it| *it == word) {
            left.swap_remove(place);
            shared += 1;
        }
    }
    // 2PR / (P + R) with P = shared / answer and R = shared / gold, rearranged to avoid division by zero.
    if shared == 0 { 0.0 } else { 2.0 * f64::from(shared) / whole as f64 }
}

fn contains(answer: &str, gold: &str) -> bool {
    let (answer, gold) = (words(answer), words(gold));
    match gold.as_slice() {
        [] => false,
        [truth] if TRUTHS.contains(truth) => answer.first() == Some(truth),
        _ => answer.windows(gold.len()).any(|it| it == gold),
    }
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(answer: &str, gold: &str, expect: [f64; 3]) {
        let scores = answer_scores(answer, &[gold.to_owned()]);
        let actual = [scores.exact, scores.f1, scores.contained];
        for (actual, expect) in actual.into_iter().zip(expect) {
            assert!((actual - expect).abs() < 1e-9, "{answer} against {gold}: {scores:?}");
        }
    }

    #[test]
    fn answers_score_what_the_official_scripts_compute() {
        check("A-Team", "Team", [0.0, 0.0, 0.0]);
        check("an \"A\" grade", "grade", [1.0, 1.0, 1.0]);
        check("Rock - n - Roll", "Rock n Roll", [1.0, 1.0, 1.0]);
        check("Stuart Rosenberg (director)", "Stuart Rosenberg", [0.0, 0.8, 1.0]);
        check("No, they are not from the same country.", "no", [0.0, 0.0, 1.0]);
        check("It is not known.", "no", [0.0, 0.0, 0.0]);
        check("directed in November 1970", "no", [0.0, 0.0, 0.0]);
        check("“Hamlet”", "Hamlet", [0.0, 0.0, 0.0]);
        check("1844–1846", "1844-1846", [0.0, 0.0, 0.0]);
        check("Vitamin A", "Vitamin", [1.0, 1.0, 1.0]);
        check("a", "a", [1.0, 0.0, 0.0]);
        check("Beyonce\u{301}", "Beyoncé", [0.0, 0.0, 0.0]);
        check("", "x", [0.0, 0.0, 0.0]);
        check("yes", "yes", [1.0, 1.0, 1.0]);
    }

    #[test]
    fn the_best_of_several_accepted_answers_counts_for_each_metric() {
        let gold = ["John Adams", "Adams", "x"].map(str::to_owned);
        let scores = answer_scores("president Adams", &gold);
        assert!(scores.exact < 0.5 && (scores.f1 - 2.0 / 3.0).abs() < 1e-9 && scores.contained > 0.5, "{scores:?}");
        assert_eq!(answer_scores("x", &[]), AnswerScores::default());
    }

    proptest! {
        #[test]
        fn scores_lie_between_0_and_1_and_an_answer_matches_itself(answer in "\\PC{0,30}", gold in "\\PC{0,30}") {
            let scores = answer_scores(&answer, &[gold]);
            for score in [scores.exact, scores.f1, scores.contained] {
                prop_assert!((0.0..=1.0).contains(&score));
            }
            let itself = answer_scores(&answer, std::slice::from_ref(&answer));
            prop_assert!(itself.exact > 0.5);
            let has_words = !normalized(&answer).is_empty();
            prop_assert_eq!(itself.f1 > 0.5, has_words);
        }
    }
}
