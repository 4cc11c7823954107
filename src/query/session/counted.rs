//! Counts the calls of one question to servers of models: those of the language model and of a reranker together.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// See the top of this file.
#[derive(Debug)]
pub(in crate::query) struct CallCount {
    max: Option<u32>,
    /// Calls made, including those answered by a kept reply, so that repeating a question gives the same result.
    made: Mutex<u32>,
}

impl CallCount {
    /// Counts from `made` on, up to `max` if there is a limit.
    pub(in crate::query) fn after(made: u32, max: Option<u32>) -> Self {
        Self { max, made: Mutex::new(made) }
    }

    fn lock(&self) -> MutexGuard<'_, u32> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fits(&self, made: u32, calls: u32, kept: u32) -> bool {
        self.max.is_none_or(|max| made.saturating_add(calls).saturating_add(kept) <= max)
    }

    /// Counts so many calls if they fit, with `kept` reserved for later; returns whether they do.
    pub(in crate::query) fn take(&self, calls: u32, kept: u32) -> bool {
        let mut made = self.lock();
        let fits = self.fits(*made, calls, kept);
        if fits {
            *made = made.saturating_add(calls);
        }
        fits
    }

    /// Subtracts calls that were counted but not made.
    pub(in crate::query) fn give_back(&self, calls: u32) {
        let mut made = self.lock();
        *made = made.saturating_sub(calls);
    }

    /// Returns whether one more call would fit in, with `kept` left for later.
    pub(in crate::query) fn has_room(&self, kept: u32) -> bool {
        self.fits(*self.lock(), 1, kept)
    }

    /// Returns how many are left.
    pub(in crate::query) fn left(&self) -> u32 {
        self.max.map_or(u32::MAX, |max| max.saturating_sub(*self.lock()))
    }

    /// Returns how many were made.
    pub(in crate::query) fn made(&self) -> u32 {
        *self.lock()
    }

    /// Returns how many there may be; none without a limit.
    pub(in crate::query) const fn max(&self) -> Option<u32> {
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_taken_together_or_not_at_all_and_some_are_left_for_later() {
        let count = CallCount::after(1, Some(4));
        assert!(!count.take(3, 1) && count.made() == 1);
        assert!(count.take(2, 1) && !count.has_room(1) && count.has_room(0));
        count.give_back(1);
        assert_eq!((count.made(), count.left(), count.has_room(1)), (2, 2, true));
        assert!(count.take(2, 0) && !count.take(1, 0) && count.left() == 0);
        let unbounded = CallCount::after(0, None);
        assert!(unbounded.take(u32::MAX, u32::MAX) && unbounded.has_room(9) && unbounded.left() == u32::MAX);
    }
}
