//! The calls to a server that are in flight, in the order sent.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// Calls that go out within this time may reach a server in any order.
const TOGETHER: Duration = Duration::from_millis(250);

/// The calls in flight.
#[derive(Debug, Default)]
pub(super) struct CallsInFlight {
    state: Mutex<State>,
    answered: Notify,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    /// When each went out.
    under_way: BTreeMap<u64, Instant>,
    /// How many of those that are over were answered.
    answered: u64,
}

/// One of them; it is over when it is dropped.
#[derive(Debug)]
pub(super) struct CallInFlight<'a> {
    calls: &'a CallsInFlight,
    number: u64,
    began: Instant,
}

impl CallsInFlight {
    /// Begins a call.
    pub(super) fn begin(&self) -> CallInFlight<'_> {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        let began = Instant::now();
        state.under_way.insert(number, began);
        CallInFlight { calls: self, number, began }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallInFlight<'_> {
    /// Says that the call was answered.
    pub(super) fn answered(&self) {
        let mut state = self.calls.state();
        state.under_way.remove(&self.number);
        state.answered += 1;
        self.calls.answered.notify_waiters();
    }

    /// Waits until a call that went out before this one, or together with it, is answered; forever, if there is none.
    pub(super) async fn moved_on(&self) {
        loop {
            let answered = self.calls.answered.notified();
            let (ahead, count) = self.ahead();
            if ahead == 0 {
                std::future::pending::<()>().await;
            }
            answered.await;
            let (left, now) = self.ahead();
            if left < ahead && now > count {
                return;
            }
        }
    }

    /// Returns how many calls are under way that may be served before this one, and how many were answered in all.
    fn ahead(&self) -> (usize, u64) {
        let state = self.calls.state();
        let others = state.under_way.iter().filter(|(number, _)| **number != self.number);
        let ahead = others.filter(|(number, began)| **number < self.number || **began <= self.began + TOGETHER);
        (ahead.count(), state.answered)
    }
}

impl Drop for CallInFlight<'_> {
    fn drop(&mut self) {
        self.calls.state().under_way.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    /// Returns whether `call` moves on soon after `what`, and not before.
    async fn moves_on(call: &CallInFlight<'_>, what: impl FnOnce()) -> bool {
        let waiting = timeout(Duration::from_millis(20), call.moved_on());
        tokio::pin!(waiting);
        assert!(std::future::poll_fn(|cx| std::task::Poll::Ready(waiting.as_mut().poll(cx))).await.is_pending());
        what();
        waiting.await.is_ok()
    }

    #[tokio::test]
    async fn a_call_moves_on_where_one_before_it_is_answered_and_by_nothing_else() {
        let calls = CallsInFlight::default();
        let [first, second] = [calls.begin(), calls.begin()];
        std::thread::sleep(TOGETHER + Duration::from_millis(1));
        let third = calls.begin();
        assert!(!moves_on(&second, || third.answered()).await);
        assert!(moves_on(&second, || first.answered()).await);
        assert!(!moves_on(&second, || ()).await);
        // A failed call says nothing.
        let fourth = calls.begin();
        assert!(!moves_on(&fourth, || drop(second)).await);
    }

    #[tokio::test]
    async fn calls_that_go_out_together_may_be_served_in_any_order() {
        let calls = CallsInFlight::default();
        let [first, second] = [calls.begin(), calls.begin()];
        assert!(moves_on(&first, || second.answered()).await);
    }
}
