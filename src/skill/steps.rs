//! The look-ups so far, as prompts show them.

use crate::text::one_line;

/// A sub-question that was looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredStep {
    /// The question.
    pub question: String,
    /// The result, if any.
    pub answer: Option<String>,
}

/// Returns steps as a prompt shows them.
pub(super) fn block(steps: &[AnsweredStep]) -> String {
    if steps.is_empty() {
        return "Nothing was looked up yet.".to_owned();
    }
    let line = |(step, number): (&AnsweredStep, usize)| {
        let answer = step.answer.as_deref().map_or_else(|| "nothing was found".to_owned(), one_line);
        format!("{number}. {}\nAnswer: {answer}", one_line(&step.question))
    };
    steps.iter().zip(1..).map(line).collect::<Vec<_>>().join("\n")
}
