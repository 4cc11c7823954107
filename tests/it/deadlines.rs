//! Questions that have to be answered in time, whatever they wait for.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cairn::domain::StopReason;
use cairn::embed::{Embedder, Embeddings, StaticTable};
use cairn::query::Reading;
use cairn::{Document, Error, ErrorKind, Performers, QueryEngine, SearchOptions, Sources, Workspace};

use crate::support::thinker::{Habit, Thinker};
use crate::support::{block_on, index};

/// The built-in embedder, except that it stops answering after this many calls.
struct Stuck(StaticTable, AtomicUsize);

impl Embedder for Stuck {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    fn piece_count(&self, text: &str) -> usize {
        self.0.piece_count(text)
    }

    fn pieces_max(&self) -> usize {
        self.0.pieces_max()
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> Embeddings<'a> {
        let left = self.1.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if left.is_ok() { self.0.embed(texts) } else { Box::pin(pending()) }
    }
}

#[test]
fn a_question_that_waits_too_long_says_for_what_and_lets_others_through() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let text = "Harl Mill was built by Ada Lorne.";
    index(&path, &Sources::documents([Document::new("mill", Some("Harl Mill".to_owned()), text)]));
    let performers =
        Performers { embedder: Arc::new(Stuck(StaticTable, AtomicUsize::new(0))), ..Performers::built_in() };
    let engine = QueryEngine::open(&Workspace::open(&path).unwrap(), performers).unwrap();
    let deadline = Duration::from_millis(400);
    let options = SearchOptions { deadline: Some(deadline), ..SearchOptions::default() };
    block_on(async {
        let began = Instant::now();
        // More than are handled concurrently: those in the queue have a deadline, too.
        let asked: Vec<_> = (0..100)
            .map(|_| {
                let (engine, options) = (engine.clone(), options.clone());
                tokio::spawn(async move { engine.search("Who built Harl Mill?", &options).await })
            })
            .collect();
        let mut waited_for = Vec::new();
        for asked in asked {
            let error = asked.await.unwrap().expect_err("it is never embedded");
            assert_eq!(error.kind(), ErrorKind::Deadline);
            let Error::Deadline { action, elapsed, .. } = error else { panic!("{error}") };
            assert!(elapsed >= deadline);
            waited_for.push(action);
        }
        assert!(began.elapsed() < deadline + Duration::from_secs(1), "{:?}", began.elapsed());
        assert!(waited_for.contains(&"embedding the question"), "{waited_for:?}");
        assert!(waited_for.contains(&"waiting for its turn"), "{waited_for:?}");
        let query = engine.query("Who built Harl Mill?", &options).await;
        assert_eq!(query.err().unwrap().kind(), ErrorKind::Deadline);
    });
}

#[test]
fn parts_that_are_not_found_in_time_leave_what_was_found_for_the_question() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let text = "Harl Mill was built by Ada Lorne.";
    index(&path, &Sources::documents([Document::new("mill", Some("Harl Mill".to_owned()), text)]));
    let workspace = Workspace::open(&path).unwrap();
    let question = "Who built Harl Mill?";
    let plain = QueryEngine::open(&workspace, Performers::built_in()).unwrap();
    let expected = block_on(plain.search(question, &SearchOptions::default())).unwrap().hits;
    // Only the question is embedded.
    let embedder = Arc::new(Stuck(StaticTable, AtomicUsize::new(1)));
    let performers =
        Performers { embedder, model: Some(Arc::new(Thinker::new(Habit::Some, 0))), ..Performers::built_in() };
    let engine = QueryEngine::open(&workspace, performers).unwrap();
    let deadline = Some(Duration::from_secs(2));
    let options = SearchOptions { deadline, decompose: Some(Reading::Rule), ..SearchOptions::default() };
    let found = block_on(engine.search(question, &options)).unwrap();
    assert_eq!(found.hits, expected);
    assert!(found.ledger.notes.iter().any(|note| note.contains("not be searched for in time")), "{:?}", found.ledger);
    assert_eq!(found.ledger.work.unwrap().stop, StopReason::Deadline);
}
