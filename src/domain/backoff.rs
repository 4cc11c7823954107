//! How long to wait before a retry.

use std::time::Duration;

/// Doublings after which a wait no longer grows.
const DOUBLINGS_MAX: u32 = 16;

/// How long to wait before a retry: a random time up to a bound that doubles, so that callers refused together do not
/// return together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The longest wait before the second attempt; it doubles from there.
    pub first: Duration,
    /// The longest wait before any.
    pub max: Duration,
}

impl Backoff {
    /// Returns how long to wait after attempt `attempt`, from 1; `random` is drawn from all of its range.
    #[must_use]
    pub fn wait(&self, attempt: u32, random: u64) -> Duration {
        let doubled = self.first.saturating_mul(1 << attempt.saturating_sub(1).min(DOUBLINGS_MAX));
        doubled.min(self.max).mul_f64(random as f64 / u64::MAX as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound_and_are_drawn_from_all_of_it() {
        let backoff = Backoff { first: Duration::from_millis(100), max: Duration::from_secs(5) };
        assert_eq!(backoff.wait(1, u64::MAX), backoff.first);
        assert_eq!(backoff.wait(4, u64::MAX), backoff.first * 8);
        assert_eq!(backoff.wait(4, 0), Duration::ZERO);
        for attempt in [40, u32::MAX] {
            assert_eq!(backoff.wait(attempt, u64::MAX), backoff.max);
        }
    }
}
