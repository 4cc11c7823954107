//! The low level of `level`: several searchers look up a sub-question concurrently, and a note is made of the results.
//! If they do not answer the question, the searchers refine their queries a limited number of times, and new passages
//! are read.

use std::sync::Arc;

use super::fuse::{RankedList, by_place, interleaved};
use super::noted::{Looked, Note, noted};
use super::pick::found_passages;
use super::smaller::searched;
use crate::domain::Hit;
use crate::error::Result;
use crate::query::retrievers::Retriever;
use crate::query::retrievers::flat::Hybrid;
use crate::query::retrievers::keywords::Keywords;
use crate::query::session::Session;
use crate::query::strategies::pipeline::Pipeline;
use crate::skill::{
    DIGESTED_MAX, DigestTask, ImagineSkill, ImagineTask, KeywordsSkill, KeywordsTask, RefineSkill, RefineTask,
};
use crate::text::KeywordQuery;

/// Passages that a searcher finds for a query.
const SEARCHED: usize = 20;
/// Passages that a model is shown of what did not answer.
const SHOWN: usize = 3;
/// Maximum number of trees of keywords followed at once.
const BEAM_MAX: usize = 27;

/// A sub-question, and how far it is followed.
pub(in crate::query) struct LowLevel {
    /// Which it is, from 0.
    pub(in crate::query) number: u32,
    pub(in crate::query) text: String,
    /// How often the searchers refine.
    pub(in crate::query) depth: u32,
    /// Trees of keywords that are followed at once.
    pub(in crate::query) beam: usize,
}

/// The queries so far.
#[derive(Default)]
struct Searched {
    asked: Vec<String>,
    lists: Vec<RankedList>,
    problems: Vec<String>,
    /// Trees of keywords that may be refined.
    trees: Vec<KeywordQuery>,
    /// Trees that were searched for.
    known: Vec<KeywordQuery>,
}

impl LowLevel {
    /// Looks the question up.
    ///
    /// # Errors
    ///
    /// [`Error::Chat`](crate::Error::Chat) if something about the model has to be corrected.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses replies in flight, which may have been paid for.
    pub(in crate::query) async fn looked_up(self, session: &Session) -> Result<Looked> {
        let mut searched = Searched { asked: vec![self.text.clone()], ..Searched::default() };
        searched.search(session, &self.text, Arc::new(Hybrid)).await;
        searched.search_by_tree(session, KeywordQuery::of(&self.text)).await;
        let mut read = Vec::new();
        let mut note = self.noted(session, &searched, &mut read).await?;
        for depth in 0..self.depth {
            let is_over = note.is_some() || !session.may_call();
            if is_over || !self.refined(session, &mut searched, &read, depth).await? {
                break;
            }
            note = self.noted(session, &searched, &mut read).await?;
        }
        let Searched { asked, lists, problems, .. } = searched;
        Ok(Looked { text: self.text, asked, hits: by_place(interleaved(lists)), note, problems })
    }

    /// Makes a note from new passages; none if they say nothing relevant.
    async fn noted(&self, session: &Session, searched: &Searched, read: &mut Vec<Hit>) -> Result<Option<Note>> {
        let mut new = interleaved(searched.lists.clone());
        new.retain(|hit| read.iter().all(|it| it.passage != hit.passage));
        new.truncate(DIGESTED_MAX);
        let passages = found_passages(&new, DIGESTED_MAX);
        read.extend(new);
        let question = session.question().to_owned();
        let task = DigestTask { question, number: self.number, about: self.text.clone(), passages };
        noted(session, &task).await
    }

    /// Has the searchers refine their queries and search again; returns whether anything was searched for.
    async fn refined(&self, session: &Session, searched: &mut Searched, read: &[Hit], depth: u32) -> Result<bool> {
        let before = searched.asked.len();
        let (question, number) = (self.text.clone(), self.number);
        let shown = found_passages(read, SHOWN);
        if depth == 0 {
            let task = KeywordsTask { question: question.clone(), number };
            if let Some(tree) = session.perform::<KeywordsSkill>(&task).await? {
                // A tree of the model's takes the place of the rule's.
                let by_rule = std::mem::take(&mut searched.trees);
                searched.search_by_tree(session, tree).await;
                if searched.trees.is_empty() {
                    searched.trees = by_rule;
                }
            }
        } else {
            for query in searched.beam(self.beam) {
                let task = RefineTask { question: question.clone(), number, query, passages: shown.clone() };
                for tree in session.perform::<RefineSkill>(&task).await?.unwrap_or_default() {
                    searched.search_by_tree(session, tree).await;
                }
            }
        }
        // At first without passages, then from those found.
        let passages = if depth == 0 { Vec::new() } else { shown };
        let task = ImagineTask { question, number, passages };
        if let Some(imagined) = session.perform::<ImagineSkill>(&task).await? {
            let query = format!("{} {imagined}", self.text);
            searched.asked.push(query.clone());
            searched.search(session, &query, Arc::new(Hybrid)).await;
        }
        Ok(searched.asked.len() > before)
    }
}

impl Searched {
    /// Searches for a tree of keywords, once.
    async fn search_by_tree(&mut self, session: &Session, tree: KeywordQuery) {
        let text = tree.text();
        if text.is_empty() || self.known.contains(&tree) {
            return;
        }
        self.known.push(tree.clone());
        self.trees.push(tree.clone());
        self.asked.push(tree.to_lucene());
        self.search(session, &text, Arc::new(Keywords { query: tree })).await;
    }

    /// Searches for a text by a retriever.
    async fn search(&mut self, session: &Session, text: &str, retriever: Arc<dyn Retriever>) {
        let searching = session.without_model().with_top_k(SEARCHED);
        let strategy = Pipeline::plain(retriever);
        let question = text.to_owned();
        match searched(session, format!("`{text}`"), searching.ask(text, &strategy)).await {
            Ok(found) => self.lists.push(RankedList { form: 0, is_guessed: false, question, hits: found.hits }),
            Err(missed) => self.problems.push(missed.problem),
        }
    }

    /// Takes the trees to refine next: the last that were searched for, at most so many.
    fn beam(&mut self, width: usize) -> Vec<KeywordQuery> {
        let trees = std::mem::take(&mut self.trees);
        let count = width.min(BEAM_MAX).min(trees.len());
        trees.into_iter().rev().take(count).collect()
    }
}
