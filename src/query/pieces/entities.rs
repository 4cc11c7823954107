//! Entities of a question, listed by a language model in one call, in addition to the names that rules find.

use crate::error::Result;
use crate::query::session::Session;
use crate::skill::{EntitiesSkill, EntitiesTask};

/// Returns the session with these names; unchanged if the model gives nothing usable.
///
/// # Errors
///
/// [`Error::Chat`](crate::Error::Chat) if something about the model has to be corrected.
///
/// # Cancel safety
///
/// Dropping the future loses a reply in flight, which may have been paid for.
pub(in crate::query) async fn with_entities(session: Session) -> Result<Session> {
    if !session.may_call() {
        return Ok(session);
    }
    session.enter("waiting for the language model to name");
    let names = session.perform::<EntitiesSkill>(&EntitiesTask { question: session.question().to_owned() }).await?;
    Ok(session.with_names(names.unwrap_or_default()))
}
