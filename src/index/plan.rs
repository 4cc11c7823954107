//! What a run has to do: documents that are new, changed or gone, found by content.

use rustc_hash::{FxHashMap, FxHashSet};

use super::options::DocumentCounts;
use crate::domain::DocumentId;
use crate::workspace::StoredDocument;

/// What becomes of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is new.
    Added,
    /// Its content changed, or what its passages depend on.
    Changed,
    /// It is as it was.
    Unchanged,
    /// It is as it was, found under another root.
    Moved,
}

/// What is known of the index while sources are read.
pub(super) struct Plan {
    stored: FxHashMap<DocumentId, StoredDocument>,
    seen: FxHashSet<DocumentId>,
    fingerprint: String,
    pub(super) counts: DocumentCounts,
}

impl Plan {
    pub(super) fn new(stored: Vec<StoredDocument>, fingerprint: String) -> Self {
        Self {
            stored: stored.into_iter().map(|document| (document.id, document)).collect(),
            seen: FxHashSet::default(),
            fingerprint,
            counts: DocumentCounts::default(),
        }
    }

    /// Says what becomes of a document, and counts it.
    pub(super) fn judge(&mut self, id: DocumentId, root: &str, content: &[u8; 32]) -> Verdict {
        self.seen.insert(id);
        let verdict = match self.stored.get(&id) {
            None => Verdict::Added,
            Some(stored) if stored.content != *content || stored.fingerprint.as_ref() != Some(&self.fingerprint) => {
                Verdict::Changed
            }
            Some(stored) if stored.root != root => Verdict::Moved,
            Some(_) => Verdict::Unchanged,
        };
        match verdict {
            Verdict::Added => self.counts.added += 1,
            Verdict::Changed => self.counts.changed += 1,
            Verdict::Unchanged | Verdict::Moved => self.counts.unchanged += 1,
        }
        verdict
    }

    /// Returns the documents of these roots that were not seen, in order.
    pub(super) fn gone(&self, roots: &FxHashSet<String>) -> Vec<DocumentId> {
        let is_gone = |it: &&StoredDocument| roots.contains(&it.root) && !self.seen.contains(&it.id);
        let mut gone: Vec<DocumentId> = self.stored.values().filter(is_gone).map(|it| it.id).collect();
        gone.sort_unstable();
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(id: &str, root: &str) -> StoredDocument {
        StoredDocument {
            id: DocumentId::of(&[id.as_bytes()]),
            root: root.to_owned(),
            content: [1; 32],
            fingerprint: Some("f".to_owned()),
        }
    }

    #[test]
    fn a_document_is_judged_by_content_and_settings() {
        let [a, b] = ["a", "b"].map(|id| DocumentId::of(&[id.as_bytes()]));
        let mut plan = Plan::new(vec![stored("a", "r")], "f".to_owned());
        assert_eq!(plan.judge(b, "r", &[1; 32]), Verdict::Added);
        assert_eq!(plan.judge(a, "r", &[1; 32]), Verdict::Unchanged);
        assert_eq!(plan.judge(a, "s", &[1; 32]), Verdict::Moved);
        assert_eq!(plan.judge(a, "r", &[2; 32]), Verdict::Changed);
        let mut other = Plan::new(vec![stored("a", "r")], "g".to_owned());
        assert_eq!(other.judge(a, "r", &[1; 32]), Verdict::Changed);
    }

    #[test]
    fn only_documents_of_the_roots_that_were_read_can_be_gone() {
        let plan = Plan::new(vec![stored("a", "r"), stored("b", "s")], "f".to_owned());
        let roots: FxHashSet<String> = ["r".to_owned()].into_iter().collect();
        assert_eq!(plan.gone(&roots), [DocumentId::of(&[b"a"])]);
    }
}
