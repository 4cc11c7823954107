//! Notes on a sub-question or an entity that was looked up: the model writes the note or, if it gives nothing usable, a
//! rule does.

use crate::domain::{AnsweredBy, Hit};
use crate::error::Result;
use crate::query::session::Session;
use crate::skill::{Digest, DigestSkill, DigestTask, digest_by_rule};

/// A note, and its author.
pub(in crate::query) type Note = (AnsweredBy, Digest);

/// The result of a look-up.
pub(in crate::query) struct Looked {
    /// What was looked up: a sub-question, or an entity.
    pub(in crate::query) text: String,
    /// The queries.
    pub(in crate::query) asked: Vec<String>,
    /// The passages found, best first.
    pub(in crate::query) hits: Vec<Hit>,
    /// Its text; none if it says nothing useful.
    pub(in crate::query) note: Option<Note>,
    /// Failed searches, and why.
    pub(in crate::query) problems: Vec<String>,
}

/// Makes a note from passages; none if they say nothing relevant, or there are none.
///
/// # Errors
///
/// [`Error::Chat`](crate::Error::Chat) if something about the model has to be corrected.
///
/// # Cancel safety
///
/// Dropping the future loses a reply in flight, which may have been paid for.
pub(in crate::query) async fn noted(session: &Session, task: &DigestTask) -> Result<Option<Note>> {
    if task.passages.is_empty() {
        return Ok(None);
    }
    Ok(match session.perform::<DigestSkill>(task).await? {
        // That the passages say nothing is a reply too.
        Some(noted) => noted.map(|digest| (AnsweredBy::Model, digest)),
        None => digest_by_rule(task).map(|digest| (AnsweredBy::Rule, digest)),
    })
}
