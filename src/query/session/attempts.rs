//! One version per answer: a read during which another version was published is repeated.

use std::time::Duration;

use super::{Session, VERSION};
use crate::domain::DatabaseError;
use crate::error::{Error, Result};

/// How often a question is asked again because another version was published meanwhile.
pub(in crate::query) const ATTEMPTS_MAX: u32 = 4;
/// How long to wait before that, for the first time.
pub(in crate::query) const PAUSE: Duration = Duration::from_millis(50);

/// Attempts at one answer.
#[derive(Default)]
pub(in crate::query) struct Attempts(u32);

impl Attempts {
    /// Returns the result of an attempt by `session` if all of it is of one current version; none if it has to be
    /// repeated.
    ///
    /// # Errors
    ///
    /// Those of the attempt, and that versions change too often.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the attempt and nothing else.
    pub(in crate::query) async fn settled<T>(&mut self, session: &Session, done: Result<T>) -> Result<Option<T>> {
        self.0 += 1;
        session.enter(VERSION);
        let server = match done {
            Err(Error::Database { server, source: DatabaseError::Changing { .. } }) => server,
            // It may have been read while it was about to be taken away.
            Err(Error::Database { server, source: DatabaseError::Damaged { .. } }) if self.0 < ATTEMPTS_MAX => server,
            // A model is not asked again: the data read is of one version, which was current at the time.
            Ok(_) if session.caller.is_none() && !session.is_current().await? => "the server".to_owned(),
            done => return done.map(Some),
        };
        if self.0 == ATTEMPTS_MAX {
            return Err(Error::Database { server, source: DatabaseError::Changing { attempts: self.0 } });
        }
        tokio::time::sleep(PAUSE * self.0).await;
        Ok(None)
    }
}

impl Session {
    /// Returns whether the data read is of the current version.
    async fn is_current(&self) -> Result<bool> {
        match self.version.get() {
            Some(version) => Ok(self.engine.source.current().await?.version() == *version),
            None => Ok(true),
        }
    }
}
