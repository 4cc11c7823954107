//! Question edges: from the passage that asks to the passage that answers.

use serde::{Deserialize, Serialize};

use super::{EdgeId, Keywords, PassageId, QuestionId};

/// A directed edge of the passage graph (`HopRAG`, Eq. 1 and section 3.2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionEdge {
    /// Identity: of the two passages.
    pub id: EdgeId,
    /// The passage that raises the out-coming question.
    pub from: PassageId,
    /// The passage that answers it.
    pub to: PassageId,
    /// The out-coming question.
    pub outgoing: QuestionId,
    /// The in-coming question that it was matched with.
    pub incoming: QuestionId,
    /// The text of the in-coming question.
    pub question: String,
    /// The keywords of both questions.
    pub keywords: Keywords,
    /// SIM of the two questions, in \[0, 1\] if the cosine is not negative.
    pub similarity: f32,
}
