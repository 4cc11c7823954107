//! Many concurrent questions: all are answered, over few connections.

use std::time::Duration;

use tokio::time::timeout;

use crate::support::block_on;
use crate::support::bolt::Proxy;
use crate::support::neo4j::harbor_database;

use super::answering::QUESTIONS;
use super::faults::{open, told};

/// Concurrent questions.
const AT_ONCE: usize = 64;
/// Connections that an engine may have.
const CONNECTIONS_MAX: usize = 4;

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn sixty_four_questions_at_once_are_answered_over_four_connections() {
    let Some((database, _cli)) = harbor_database() else { return };
    block_on(async {
        let proxy = Proxy::start_whole(&database.uri);
        let engine = open(&proxy.uri).await;
        let mut expected = Vec::new();
        for question in QUESTIONS {
            expected.push(told(&engine, question, None).await.unwrap());
        }
        // One connection was for the greeting.
        assert!(proxy.connections() <= CONNECTIONS_MAX + 1, "{} connections", proxy.connections());
        let asked: Vec<_> = (0..AT_ONCE)
            .map(|number| {
                let (engine, at) = (engine.clone(), number % QUESTIONS.len());
                tokio::spawn(async move { (at, told(&engine, QUESTIONS[at], None).await) })
            })
            .collect();
        for asked in asked {
            let (at, answer) = timeout(Duration::from_mins(1), asked).await.expect("none waits for ever").unwrap();
            assert_eq!(answer.unwrap(), expected[at]);
        }
        assert!(proxy.connections() <= CONNECTIONS_MAX + 1, "{} connections", proxy.connections());
    });
}
