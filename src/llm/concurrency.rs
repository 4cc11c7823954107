//! The number of concurrent calls: few at first, more as long as calls succeed, fewer after a server is overloaded.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::pace::Limits;

/// Limits concurrent calls, up to a bound. After as many successes as the limit, it doubles; after a call to an
/// overloaded server, it is halved, and from then on grows by one (slow start, then additive increase, multiplicative
/// decrease). On a server that takes calls one by one, each waits for those before it, so the limit never exceeds what
/// fits in the timeout of a call.
pub(super) struct ConcurrencyLimit {
    bound: usize,
    latency_max: Option<Duration>,
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Debug)]
struct State {
    /// How many there may be.
    allowed: usize,
    /// How many went well since that changed, and how long the slowest of them took.
    went_well: usize,
    slowest: Duration,
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
    /// As `limits` say, and at least one at once.
    pub(super) fn new(limits: &Limits) -> Self {
        let bound = limits.concurrency.max(1);
        let allowed = limits.concurrency_first.clamp(1, bound);
        let state = State { allowed, went_well: 0, slowest: Duration::ZERO, running: 0, cuts: 0 };
        Self { bound, latency_max: limits.latency_max, state: Mutex::new(state), freed: Notify::new() }
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

    /// Returns how many there may be after all that there were went well.
    #[expect(clippy::cast_sign_loss, reason = "no duration is negative")]
    fn more(&self, state: &State) -> usize {
        let more = if state.cuts == 0 { state.allowed * 2 } else { state.allowed + 1 };
        let Some(latency_max) = self.latency_max else { return more.min(self.bound) };
        // Had they been served one after the other, so many more would take so much longer.
        let one = state.slowest.div_f64(state.allowed as f64);
        let in_time = if one.is_zero() { self.bound } else { latency_max.div_duration_f64(one) as usize };
        more.min(self.bound).min(in_time.max(state.allowed))
    }
}

impl Permit<'_> {
    /// Ends the permit, and says since when its call was under way and whether it found the server with too much to do.
    pub(super) fn done(self, began: Instant, is_overload: bool) {
        let mut state = self.limit.state();
        if !is_overload {
            state.went_well += 1;
            state.slowest = state.slowest.max(began.elapsed());
            if state.went_well >= state.allowed {
                state.allowed = self.limit.more(&state);
                (state.went_well, state.slowest) = (0, Duration::ZERO);
            }
        } else if state.cuts == self.cuts {
            state.allowed = (state.allowed / 2).max(1);
            (state.went_well, state.slowest) = (0, Duration::ZERO);
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

    fn limit(concurrency: usize, concurrency_first: usize) -> ConcurrencyLimit {
        ConcurrencyLimit::new(&Limits { concurrency, concurrency_first, ..Limits::default() })
    }

    /// Takes all permits, ends them after `seconds`, and returns how many there were.
    fn all_after(limit: &ConcurrencyLimit, seconds: u64, is_overload: bool) -> usize {
        let mut taken = Vec::new();
        taken.extend(std::iter::from_fn(|| limit.try_acquire()));
        let (count, began) = (taken.len(), Instant::now() - Duration::from_secs(seconds));
        for permit in taken {
            permit.done(began, is_overload);
        }
        count
    }

    fn all(limit: &ConcurrencyLimit, is_overload: bool) -> usize {
        all_after(limit, 0, is_overload)
    }

    #[tokio::test(start_paused = true)]
    async fn there_are_few_at_first_and_more_as_long_as_all_goes_well() {
        tokio::time::advance(Duration::from_hours(1)).await;
        let limit = limit(8, 1);
        let counts: Vec<usize> = (0..5).map(|_| all(&limit, false)).collect();
        assert_eq!(counts, [1, 2, 4, 8, 8]);
        let counts: Vec<usize> = (0..3).map(|round| all(&limit, round == 0)).collect();
        assert_eq!(counts, [8, 4, 5]);
    }

    #[tokio::test(start_paused = true)]
    async fn there_are_never_so_many_that_a_server_which_takes_one_by_one_would_be_too_late() {
        tokio::time::advance(Duration::from_hours(1)).await;
        let limit = limit(8, 1);
        // Each call takes 15 s by itself, and proportionally longer with others; a minute is the limit.
        let mut counts = Vec::new();
        for _ in 0..6 {
            let allowed = limit.state().allowed;
            counts.push(all_after(&limit, 15 * allowed as u64, false));
        }
        assert_eq!(counts, [1, 2, 4, 4, 4, 4]);
        // A server that handles many calls as fast as one gets the maximum.
        let counts: Vec<usize> = (0..3).map(|_| all_after(&limit, 15, false)).collect();
        assert_eq!(counts, [4, 8, 8]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_with_too_much_to_do_gets_half_as_many_calls_and_slowly_more_again() {
        let limit = limit(8, 8);
        // All eight began before the overload was known, so they count as one sign, not as eight.
        assert_eq!(all(&limit, true), 8);
        let counts: Vec<usize> = (0..6).map(|_| all(&limit, false)).collect();
        assert_eq!(counts, [4, 5, 6, 7, 8, 8]);
        let counts: Vec<usize> = (0..5).map(|_| all(&limit, true)).collect();
        assert_eq!(counts, [8, 4, 2, 1, 1]);
    }

    #[tokio::test]
    async fn a_permit_that_is_given_up_is_there_for_the_next() {
        let limit = limit(1, 1);
        let held = limit.acquire().await;
        {
            let waiting = limit.acquire();
            tokio::pin!(waiting);
            assert!(polled(waiting.as_mut()).is_pending());
            drop(held);
            // It was given a permit, but dropped before it took it.
        }
        drop(limit.acquire().await);
        assert_eq!(limit.state().running, 0);
    }

    fn polled<F: Future>(future: std::pin::Pin<&mut F>) -> std::task::Poll<F::Output> {
        future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
    }
}
