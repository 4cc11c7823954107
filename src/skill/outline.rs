//! Notes under headings, as prompts show them.

use crate::text::one_line;

/// A heading with what was noted under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotedHeading {
    /// What the notes are about.
    pub name: String,
    /// The notes, in the order in which they were made.
    pub notes: Vec<String>,
}

/// Returns an outline as a prompt shows it.
pub(super) fn block(outline: &[NotedHeading]) -> String {
    if outline.is_empty() {
        return "Nothing was noted yet.".to_owned();
    }
    let entry = |(heading, number): (&NotedHeading, usize)| {
        let lines = heading.notes.iter().map(|note| format!("- {}", one_line(note)));
        let heading = format!("[{number}] {}", one_line(&heading.name));
        std::iter::once(heading).chain(lines).collect::<Vec<_>>().join("\n")
    };
    outline.iter().zip(1..).map(entry).collect::<Vec<_>>().join("\n\n")
}

/// Returns lines as a prompt shows them, or what is said where there are none.
pub(super) fn lines(texts: &[String], none: &str) -> String {
    if texts.is_empty() {
        return none.to_owned();
    }
    texts.iter().map(|text| format!("- {}", one_line(text))).collect::<Vec<_>>().join("\n")
}
