//! How many calls there are at one time: fewer after a server had too much to do, and slowly more again.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Lets calls pass, so many at one time: half as many after one found the server with too much to do, and one more
/// after as many as there are went well (additive increase, multiplicative decrease), from one to a bound.
pub(super) struct ConcurrencyLimit {
    bound: usize,
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Debug)]
struct State {
    /// How many there may be.
    allowed: usize,
    /// How many went well since that changed.
    went_well: usize,
    running: usize,
    /// How often it became fewer: calls that began before say nothing of how many are too many now.
    cuts: u64,
}

/// The permit of one call; it ends when it is dropped.
pub(super) struct Permit<'a> {
    limit: &'a ConcurrencyLimit,
    /// What [`State::cuts`] was when it began.
    cuts: u64,
}

impl ConcurrencyLimit {
    /// At most `bound` at one time, and at least one.
    pub(super) fn new(bound: usize) -> Self {
        let bound = bound.max(1);
        let state = State { allowed: bound, went_well: 0, running: 0, cuts: 0 };
        Self { bound, state: Mutex::new(state), freed: Notify::new() }
    }

    /// Waits for a permit.
    pub(super) async fn acquire(&self) -> Permit<'_> {
        loop {
            // Before it is looked, so that a permit that ends meanwhile is heard.
            let freed = self.freed.notified();
            if let Some(permit) = self.try_acquire() {
                return permit;
            }
            freed.await;
        }
    }

    fn try_acquire(&self) -> Option<Permit<'_>> {
        let mut state = self.state();
        if state.running >= state.allowed {
            return None;
        }
        state.running += 1;
        if state.running < state.allowed {
            self.freed.notify_one();
        }
        Some(Permit { limit: self, cuts: state.cuts })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit<'_> {
    /// Ends the permit and says whether it found the server with too much to do.
    pub(super) fn done(self, is_overload: bool) {
        let mut state = self.limit.state();
        if !is_overload {
            state.went_well += 1;
            if state.went_well >= state.allowed {
                state.allowed = (state.allowed + 1).min(self.limit.bound);
                state.went_well = 0;
            }
        } else if state.cuts == self.cuts {
            state.allowed = (state.allowed / 2).max(1);
            state.went_well = 0;
            state.cuts += 1;
            tracing::debug!(calls = state.allowed, "fewer calls at one time");
        }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.limit.state().running -= 1;
        self.limit.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes every permit there is, and says how many that were and how each ended.
    fn all(limit: &ConcurrencyLimit, is_overload: bool) -> usize {
        let mut taken = Vec::new();
        taken.extend(std::iter::from_fn(|| limit.try_acquire()));
        let count = taken.len();
        for permit in taken {
            permit.done(is_overload);
        }
        count
    }

    #[test]
    fn a_server_with_too_much_to_do_gets_half_as_many_calls_and_slowly_more_again() {
        let limit = ConcurrencyLimit::new(8);
        // All eight began before it was known: they count as one sign, not as eight.
        assert_eq!(all(&limit, true), 8);
        let counts: Vec<usize> = (0..6).map(|_| all(&limit, false)).collect();
        assert_eq!(counts, [4, 5, 6, 7, 8, 8]);
        let counts: Vec<usize> = (0..5).map(|_| all(&limit, true)).collect();
        assert_eq!(counts, [8, 4, 2, 1, 1]);
    }

    #[tokio::test]
    async fn a_permit_that_is_given_up_is_there_for_the_next() {
        let limit = ConcurrencyLimit::new(1);
        let held = limit.acquire().await;
        {
            let waiting = limit.acquire();
            tokio::pin!(waiting);
            assert!(polled(waiting.as_mut()).is_pending());
            drop(held);
            // Told of its permit, and gone before it took it.
        }
        drop(limit.acquire().await);
        assert_eq!(limit.state().running, 0);
    }

    fn polled<F: Future>(future: std::pin::Pin<&mut F>) -> std::task::Poll<F::Output> {
        future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
    }
}
