//! Questions that have to be answered in time, whatever they wait for.

use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn::embed::{Embedder, Embeddings, StaticTable};
use cairn::{Document, Error, ErrorKind, Performers, QueryEngine, SearchOptions, Sources, Workspace};

use crate::support::{block_on, index};

/// The built-in embedder, except that it never answers.
struct Stuck(StaticTable);

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

    fn embed<'a>(&'a self, _texts: &'a [&'a str]) -> Embeddings<'a> {
        Box::pin(pending())
    }
}

#[test]
fn a_question_that_waits_too_long_says_for_what_and_lets_others_through() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let text = "Harl Mill was built by Ada Lorne.";
    index(&path, &Sources::documents([Document::new("mill", Some("Harl Mill".to_owned()), text)]));
    let performers = Performers { embedder: Arc::new(Stuck(StaticTable)), ..Performers::built_in() };
    let engine = QueryEngine::open(&Workspace::open(&path).unwrap(), performers).unwrap();
    let deadline = Duration::from_millis(50);
    let options = SearchOptions { deadline: Some(deadline), ..SearchOptions::default() };
    block_on(async {
        let began = Instant::now();
        // More than are worked on at one time: those that wait for their turn have a deadline too.
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
