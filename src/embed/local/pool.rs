//! A pool of sessions of one model: a thread takes a session, or creates one if all are in use, and returns it.

use std::sync::{Mutex, PoisonError};

use crate::error::Result;

/// Sessions that wait to be used, and how to make more. There are never more than threads that use them at once.
pub(in crate::embed) struct Pool<S> {
    idle: Mutex<Vec<S>>,
    make: Box<dyn Fn() -> Result<S> + Send + Sync>,
}

impl<S> Pool<S> {
    /// Creates the first session, so that faults of the model are known at once.
    pub(in crate::embed) fn new(make: impl Fn() -> Result<S> + Send + Sync + 'static) -> Result<Self> {
        let first = make()?;
        Ok(Self { idle: Mutex::new(vec![first]), make: Box::new(make) })
    }

    /// Returns a session to come: it is taken or made when it is first used.
    pub(in crate::embed) const fn lease(&self) -> Lease<'_, S> {
        Lease { pool: self, session: None }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<S>> {
        // A list of sessions is whole at every moment.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session in use; it goes back when this value goes.
pub(in crate::embed) struct Lease<'a, S> {
    pool: &'a Pool<S>,
    session: Option<S>,
}

impl<S> Lease<'_, S> {
    /// Returns the session.
    pub(in crate::embed) fn session(&mut self) -> Result<&mut S> {
        if self.session.is_none() {
            let idle = self.pool.idle().pop();
            self.session = Some(idle.map_or_else(|| (self.pool.make)(), Ok)?);
        }
        // Never taken: it was set above.
        self.session.as_mut().ok_or_else(|| crate::error::Error::Internal("a session that is none".to_owned()))
    }
}

impl<S> Drop for Lease<'_, S> {
    fn drop(&mut self) {
        self.pool.idle().extend(self.session.take());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn a_session_is_used_again_and_another_is_made_only_while_it_is_in_use() {
        let made = std::sync::Arc::new(AtomicU32::new(0));
        let count = std::sync::Arc::clone(&made);
        let pool = Pool::new(move || Ok(count.fetch_add(1, Ordering::Relaxed))).unwrap();
        for _ in 0..3 {
            assert_eq!(*pool.lease().session().unwrap(), 0);
        }
        let (mut first, mut second) = (pool.lease(), pool.lease());
        assert_ne!(*first.session().unwrap(), *second.session().unwrap());
        drop((first, second));
        assert_eq!(pool.idle().len(), 2);
        assert_eq!(made.load(Ordering::Relaxed), 2);
    }
}
