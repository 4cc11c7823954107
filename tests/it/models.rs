//! Language models: every fault of a server has its type, ends in time and is not paid for twice; and what the program
//! makes of what a model says.

mod asking;
mod budgets;
mod cache;
mod citations;
mod embedders;
mod faults;
pub(crate) mod generating;
mod hostile;
mod live;
mod parts;
mod picking;
mod probing;
mod reasoning;
mod recordings;
mod secrets;
mod separate;
mod spending;
mod streaming;
mod triples;

use std::time::{Duration, Instant};

use cairn::domain::ChatError;
use cairn::llm::{Endpoint, Retries};

use crate::support::chat::{ChatServer, Play};

/// Time for a call: no fault takes longer but for trying again.
const TIMEOUT: Duration = Duration::from_millis(1_500);
const ATTEMPTS: u32 = 3;

/// Returns the model called `played` of a server, and how often it is asked.
fn played(url: &str) -> (Endpoint, Retries) {
    let retries = Retries { attempts_max: ATTEMPTS, wait_first: Duration::from_millis(1), ..Retries::default() };
    (Endpoint { timeout: TIMEOUT, ..Endpoint::at(url, "played") }, retries)
}

/// Plays each fault to `ask`, which returns the error that it meets: of the kind that is expected, after as many calls.
#[track_caller]
fn check_faults<const N: usize>(cases: [(Play, &str, u32); N], ask: impl Fn(&str) -> ChatError) {
    for (play, kind, attempts) in cases {
        let shown = format!("{play:?}").chars().take(200).collect::<String>();
        let server = ChatServer::start([play]);
        let began = Instant::now();
        let fault = ask(&server.url);
        assert_eq!(fault.kind_name(), kind, "{shown}: {fault}");
        assert_eq!(server.asked().len(), attempts as usize, "{shown}: {fault}");
        // Far beyond the time for a call, since other tests run beside this one.
        assert!(began.elapsed() < TIMEOUT * 10, "{shown}: {:?}", began.elapsed());
        assert!(!fault.to_string().contains("127.0.0.1"), "{fault}");
    }
}
